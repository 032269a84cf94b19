"""The data that flow between the stages: frozen dataclasses of read-only arrays."""

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..support.arrays import Bools, Ints, Record, read_only, row_sums

if TYPE_CHECKING:
    from .sequences import Symbols
    from .tally import Tally


@dataclass(frozen=True, eq=False)
class Steps(Record):
    """Counted transitions x -> x' between rows: parallel arrays, one entry per (source, symbol, target)."""

    source: Ints
    symbol: Ints
    target: Ints
    count: Ints

    def select(self, kept: Ints | Bools) -> "Steps":
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

    A configuration x is a word of `past` letters (one letter for pairs), or a vector of `past` numbers.

    Attributes
    ----------
    kind : what the data are: "series", "field", "image", "signal" or "pairs"
    past, future : symbols, cells or numbers in x and in z
    letters : the values a symbol of x can take; code k in a word means letters[k]. () where x are vectors
    alphabet : the symbols of the steps x -> x', or None
    shape : shape of the data's grid
    overlap : how many observations share each piece of their outcomes: so much less do they count as evidence
    source : the numbered symbols of a series in memory, or None
    """

    kind: str
    past: int
    future: int
    letters: tuple[Hashable, ...]
    alphabet: tuple[Hashable, ...] | None
    shape: tuple[int, ...]
    overlap: float = 1.0
    source: "Symbols | None" = None

    @property
    @abstractmethod
    def n(self) -> int:
        """Number of observations."""

    @property
    @abstractmethod
    def outcomes(self) -> Sequence[Any]:
        """The values z can take; outcome number k means outcomes[k]."""

    @abstractmethod
    def tally(self, executor: Executor | None = None) -> "Tally":
        """Counts by values that mean the same in all data: those of several observations can be merged."""

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
    def words(self, rows: Ints) -> NDArray[Any]:
        """(len(rows), past) symbol codes of distinct x, most recent first; or their numbers, where x are vectors."""

    @property
    @abstractmethod
    def points(self) -> NDArray[Any] | None:
        """(n_x, past) the distinct x as vectors of numbers, or None where they are words."""

    @property
    @abstractmethod
    def targets(self) -> NDArray[Any] | None:
        """(n_outcomes, future) the distinct z as vectors of numbers, or None where they are kinds."""

    @property
    def has_suffixes(self) -> bool:
        """Whether x is a word in time, so that its endings are configurations too."""
        return self.kind == "series"

    def pieces(self) -> "Iterator[Observations]":
        """The observations of each slice of data that are read slice by slice; else all of them."""
        yield self

    def check_memory(self) -> None:  # noqa: B027
        """Warn where the counts of data that are read slice by slice may not fit, and refuse where they cannot."""

    def __len__(self) -> int:
        return self.n

    def __repr__(self) -> str:
        about = f"past {self.past}, future {self.future}, {_number_of(len(self.letters), 'letter')}"
        if not self.letters:
            about = f"x of {_number_of(self.past, 'number')}, z of {self.future}"
        return f"Observations({self.kind}: {_number_of(self.n, 'pair')}, {about})"

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


def _number_of(n: int, what: str) -> str:
    return f"{n:,} {what}{'' if n == 1 else 's'}"
