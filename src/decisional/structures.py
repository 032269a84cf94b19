"""The data that flow between the stages: frozen dataclasses of read-only arrays."""

from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .arguments import as_table, require

__all__ = ["CountsOnly", "Distributions", "Ints", "Floats", "Observations", "Partition", "Steps", "Table", "read_only"]

# What an array holds, for the reader; NumPy's own type parameters do not survive its arithmetic.
Ints = NDArray[Any]
Floats = NDArray[Any]


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """The same array, protected against writing."""
    array = array.view()
    array.flags.writeable = False
    return array


class _Record:
    """Base of the frozen dataclasses below: protects their arrays."""

    def __post_init__(self) -> None:
        for name, value in list(vars(self).items()):
            if isinstance(value, np.ndarray):
                object.__setattr__(self, name, read_only(value))


@dataclass(frozen=True, eq=False)
class Steps(_Record):
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
class Table(_Record):
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


def row_sums(start: Ints, values: NDArray[Any]) -> NDArray[Any]:
    """Sums of compressed rows, in double precision for floats."""
    values = values.astype(np.float64, copy=False) if values.dtype.kind == "f" else values
    sums = np.zeros(start.size - 1, values.dtype)
    filled = np.flatnonzero(start[1:] > start[:-1])
    if filled.size:
        sums[filled] = np.add.reduceat(values, start[filled])
    return sums


def _entries(start: Ints, size: Ints) -> Ints:
    """Places of the entries of compressed rows that begin at `start`, one row after the other."""
    before = np.cumsum(size) - size
    entries: Ints = np.arange(size.sum()) + np.repeat(start - before, size)
    return entries


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


@dataclass(frozen=True, eq=False)
class Distributions(_Record):
    """Step 1 of the figure: P(Z|x) estimated at each row, as evidence in counts.

    Attributes
    ----------
    start, outcome, count : evidence of each row in compressed rows, as in `Table`
    n_outcomes : number of possible z
    weight : (n_rows,) observations that belong to each row (its evidence may be larger, see `Counts`)
    row : (n_x,) row of each distinct x
    member : (n_rows,) a distinct x that ends like the row
    depth : (n_rows,) how many last symbols its x share (all of them, unless x was rare)
    samples : the values of z that the densities are known at, or None: the outcomes of the data
    scale : evidence of one count, less than 1 where observations overlap
    """

    start: Ints
    outcome: Ints
    count: NDArray[Any]
    n_outcomes: int
    weight: Ints
    row: Ints
    member: Ints
    depth: Ints
    samples: Sequence[Any] | None = None
    scale: float = 1.0

    @property
    def n_rows(self) -> int:
        return self.start.size - 1

    @cached_property
    def total(self) -> NDArray[Any]:
        """(n_rows,) evidence of each row."""
        return read_only(row_sums(self.start, self.count))

    def select(self, rows: Ints) -> "Distributions":
        """Some of the rows; the x of the others belong to none of them (-1)."""
        size = np.diff(self.start)[rows]
        start = np.concatenate([[0], np.cumsum(size)])
        entry = _entries(self.start[rows], size)
        number = np.full(self.n_rows, -1, np.int64)
        number[rows] = np.arange(rows.size)
        evidence = self.outcome[entry], self.count[entry], self.n_outcomes
        own = self.weight[rows], number[self.row], self.member[rows], self.depth[rows]
        return Distributions(start, *evidence, *own, self.samples, self.scale)

    @property
    def p(self) -> NDArray[Any] | Any:
        """P(Z|row), (n_rows, n_outcomes): an array, or a scipy CSR array beyond 16 million entries."""
        from scipy.sparse import csr_array

        values = self.count / np.repeat(self.total, np.diff(self.start))
        p = csr_array((values, self.outcome, self.start), shape=(self.n_rows, self.n_outcomes))
        return p.toarray() if self.n_rows * self.n_outcomes <= 1 << 24 else p


@dataclass(frozen=True, eq=False)
class Partition:
    """States of n elements: canonical labels, by decreasing probability.

    Parameters
    ----------
    labels : (n,) integers; any values, renumbered on construction; -1 stays: no state is known
    weight : (n,) mass of each element, default 1; ties are broken by first appearance
    """

    labels: Ints
    weight: NDArray[Any] | None = None
    probability: Floats = field(init=False)

    def __post_init__(self) -> None:
        labels = np.asarray(self.labels)
        if labels.size and labels.dtype.kind not in "biu":
            raise ValueError(
                f"The 'labels' of a Partition are of type {labels.dtype}; they must be integers, -1 for no state: "
                "number the states, for example with np.unique(..., return_inverse=True)."
            )
        known = labels >= 0
        rule = "there must be a non-negative number for each element: give one-dimensional arrays of one length."
        weight = np.ones(labels.size) if self.weight is None else np.array(as_table(self.weight, "weight", rule, float))
        if labels.ndim != 1 or weight.shape != labels.shape:
            raise ValueError(
                f"The 'labels' of a Partition have shape {labels.shape} and the 'weight' has {weight.shape}; there "
                "must be one label and one weight for each element: give one-dimensional arrays of one length."
            )
        if not (weight >= 0).all():
            raise ValueError(f"The 'weight' of a Partition has {weight[~(weight >= 0)][0]}; {rule}")
        _, first, inverse = np.unique(labels[known], return_index=True, return_inverse=True)
        mass = np.bincount(inverse, weights=weight[known], minlength=first.size)
        total = mass.sum()
        # Sums of equal weights may differ by rounding.
        order = np.lexsort((first, -np.round(mass / total if total else mass, 12)))
        rank = np.empty(order.size, np.int64)
        rank[order] = np.arange(order.size)
        canonical = np.full(labels.size, -1, np.int64)
        canonical[known] = rank[inverse]
        object.__setattr__(self, "labels", read_only(canonical))
        object.__setattr__(self, "weight", None if self.weight is None else read_only(weight))
        object.__setattr__(self, "probability", read_only(mass[order] / total if total else mass[order]))

    @property
    def n_states(self) -> int:
        return int(self.probability.size)

    def entropy(self) -> float:
        """Entropy of the state probabilities, in bits."""
        p = self.probability[self.probability > 0]
        return float(-(p @ np.log2(p))) + 0.0

    def local(self) -> Floats:
        """(n,) -log2 of the probability of each element's state, in bits; NaN where no state is known."""
        with np.errstate(divide="ignore"):
            bits = np.append(-np.log2(self.probability), np.nan)
        return bits[self.labels] + 0.0

    def refines(self, other: "Partition") -> bool:
        """True if every state of self lies inside one state of other; elements without a state do not count."""
        self._check_same_elements(other)
        known = self.labels >= 0
        key = self.labels[known] * (other.n_states + 1) + other.labels[known]
        return bool((other.labels[known] >= 0).all() and np.unique(key).size == self.n_states)

    def __and__(self, other: "Partition") -> "Partition":
        """The meet: elements are together where they are together in both; the weights are those of self."""
        self._check_same_elements(other)
        known = (self.labels >= 0) & (other.labels >= 0)
        labels = np.where(known, self.labels * (other.n_states + 1) + other.labels, -1)
        return Partition(labels, self.weight)

    def _check_same_elements(self, other: "Partition") -> None:
        require(other, "probability", "other", "a Partition", "compare partitions of one data set")
        if self.labels.shape != other.labels.shape:
            raise ValueError(
                f"The 'other' partition has {other.labels.size} elements and this one {self.labels.size}; "
                "they must describe the same elements: compare partitions of one data set."
            )
