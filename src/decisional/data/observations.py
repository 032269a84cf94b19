"""The data that flow between the stages: frozen dataclasses of read-only arrays."""

from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..support.arrays import Ints, Record, read_only, row_sums

__all__ = ["CountsOnly", "Observations", "Steps", "Table"]


@dataclass(frozen=True, eq=False)
class Steps(Record):
    """Counted transitions x -> x' between rows: parallel arrays, one entry per (source, symbol, target)."""

    source: Ints
    symbol: Ints
    target: Ints
    count: Ints

    def select(self, kept: Ints) -> "Steps":
        """Some of the transitions, by a mask or by their places."""
        return Steps(self.source[kept], self.symbol[kept], self.target[kept], self.count[kept])

    def relabel(self, rows: Ints) -> "Steps":
        """The same transitions between rows[source] and rows[target], equal ones added up.

        Cost: O(m log m) for m entries.
        """
        n = int(rows.max(initial=-1)) + 1
        symbols = int(self.symbol.max(initial=-1)) + 1
        key = (rows[self.source].astype(np.int64) * symbols + self.symbol) * n + rows[self.target]
        key, inverse = np.unique(key, return_inverse=True)
        count = np.bincount(inverse, weights=self.count, minlength=key.size).astype(np.int64)
        pair, target = np.divmod(key, max(n, 1))
        source, symbol = np.divmod(pair, max(symbols, 1))
        return Steps(source, symbol, target, count)


@dataclass(frozen=True, eq=False)
class Table(Record):
    """Counts of z over the distinct x, sorted by their endings, in compressed rows.

    Attributes
    ----------
    start : (n_x + 1,) row i holds the entries start[i]..start[i + 1] - 1
    outcome : (m,) number of the outcome z, increasing within a row
    count : (m,) how often it followed x
    n_outcomes : number of possible z
    shared : (n_x,) how many of its last symbols x shares with the x before it
    steps : transitions between distinct x, or None without symbols; in a series the last window before a gap
        or an end counts too, if it leads to an x that is a row
    """

    start: Ints
    outcome: Ints
    count: Ints
    n_outcomes: int
    shared: Ints
    steps: Steps | None

    @cached_property
    def weight(self) -> Ints:
        """(n_x,) how often each x was observed."""
        return read_only(row_sums(self.start, self.count))

    @property
    def n_x(self) -> int:
        return self.start.size - 1


class CountsOnly(ValueError):
    """What is asked for belongs to each observation, and only counts were kept."""


class Observations(ABC):
    """Pairs (x, z) with their distinct values numbered, made when asked for where the data are large.

    A configuration x is a word of `past` symbols (one symbol for pairs). Subclasses keep their source
    and give any slice of it; everything else follows from the methods below.

    Attributes
    ----------
    n : number of observations
    past : symbols in a configuration x
    letters : the values a symbol of x can take; code k in a word means letters[k]
    outcomes : the values z can take; outcome number k means outcomes[k]
    alphabet : the symbols of the steps x -> x', or None
    shape : shape of the data's grid
    has_suffixes : whether x is a word in time, so that its endings are configurations too
    overlap : how many observations share each piece of their outcomes: so much less do they count as evidence
    """

    has_suffixes: bool = False
    overlap: float = 1.0
    past: int
    letters: tuple[Hashable, ...]
    alphabet: tuple[Hashable, ...] | None
    shape: tuple[int, ...]

    @property
    @abstractmethod
    def n(self) -> int: ...

    def __len__(self) -> int:
        return self.n

    @property
    @abstractmethod
    def outcomes(self) -> Sequence[Any]: ...

    @abstractmethod
    def table(self, executor: Executor | None = None) -> Table:
        """Counts over the distinct x; computed once and kept."""

    @property
    @abstractmethod
    def x(self) -> Ints:
        """(n,) row of each observation's x in the table."""

    @property
    @abstractmethod
    def z(self) -> Ints:
        """(n,) outcome number of each observation."""

    @property
    @abstractmethod
    def symbol(self) -> Ints | None:
        """(n,) code of the symbol of the step to the successor, or None."""

    @property
    @abstractmethod
    def successor(self) -> Ints | None:
        """(n,) index of the next observation, -1 where there is none; or None."""

    @property
    @abstractmethod
    def site(self) -> Ints:
        """(n,) flat position of each observation on the data's grid."""

    @abstractmethod
    def words(self, rows: Ints) -> Ints:
        """(len(rows), past) symbol codes of distinct x, most recent first."""

    def tally(self) -> Any:
        """The counts of `table` by values that mean the same in all data: see `observe.tallies.Tally`."""
        raise TypeError(
            f"The observations are {type(self).__name__}, which do not say how to merge their counts; those of "
            "ds.observe do: use one of its functions, or define 'tally'."
        )

    def field(self, values: ArrayLike) -> NDArray[Any]:
        """Put one value per observation back on the data's grid; NaN where there is no observation.

        Parameters
        ----------
        values : (n,) or (n, k)

        Returns
        -------
        array of shape `shape` (+ (k,)); integers become floats, to have room for NaN.
        """
        values = np.asarray(values)
        if values.shape[:1] != (self.n,):
            raise ValueError(
                f"The 'values' have {values.shape[0] if values.ndim else 0} entries; there are {self.n} "
                "observations: give one value per observation."
            )
        dtype = np.result_type(values.dtype, np.float32) if values.dtype.kind in "biu" else values.dtype
        grid = np.full((int(np.prod(self.shape)), *values.shape[1:]), np.nan, dtype)
        grid[self.site] = values
        return grid.reshape(*self.shape, *values.shape[1:])
