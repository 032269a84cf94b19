"""The sets Y of best predictions of K states, stored as arrays, what they are worth, and when two are equally good.

Two states have the same Y when they contain the same; sets of numbers are compared within a tolerance (see `decide`).
"""

from abc import abstractmethod
from collections.abc import Callable, Hashable, Iterator, Sequence, Set
from dataclasses import dataclass, replace
from itertools import chain, product
from math import prod
from operator import itemgetter
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from .._kernels import values as kernels
from ..support.arrays import Bools, Floats, Ints


@dataclass(frozen=True, eq=False)
class Predictions(Sequence[Any]):
    """One set Y per state: `predictions[k]` is the set, `choice()` takes one prediction of each."""

    # The fields that have an entry for each state.
    _columns: ClassVar[tuple[str, ...]]

    def __len__(self) -> int:
        return len(getattr(self, self._columns[0]))

    def __getitem__(self, k: Any) -> Any:
        return [self.at(i) for i in range(len(self))[k]] if isinstance(k, slice) else self.at(range(len(self))[k])

    @abstractmethod
    def at(self, k: int) -> Any:
        """The set of one state."""

    @abstractmethod
    def choice(self) -> list[Any]:
        """One prediction of each set: the best by the estimate, the first one among equals."""

    def join(self, others: Sequence[Self]) -> Self:
        """The sets of several blocks of states, in order."""
        blocks = [[getattr(part, name) for part in (self, *others)] for name in self._columns]
        joined = [np.concatenate(b) if isinstance(b[0], np.ndarray) else list(chain(*b)) for b in blocks]
        return replace(self, **dict(zip(self._columns, joined, strict=True)))

    def taken(self, rows: Ints, narrowed: Bools) -> Self:
        """The sets of some states, in this order; only their choice where they are narrowed."""
        columns = [getattr(self, name) for name in self._columns]
        found = [c[rows] if isinstance(c, np.ndarray) else [c[k] for k in rows] for c in columns]
        return replace(self, **dict(zip(self._columns, found, strict=True)))._narrowed(narrowed)

    @abstractmethod
    def _narrowed(self, rows: Bools) -> Self:
        """The same sets, with the choice alone in some of them."""


@dataclass(frozen=True, eq=False)
class ListedSets(Predictions):
    """Sets of some of the `values`, or products of such sets, one for each cell of a prediction.

    Attributes
    ----------
    member : (K, n_values) or (K, n_cells, n_values) booleans
    top : (K,) or (K, n_cells) place of the best value
    wrap : what makes a prediction of the values of its cells; None where a prediction is a value
    """

    _columns = ("member", "top")
    values: Sequence[Hashable]
    member: Ints
    top: Ints
    wrap: Callable[[Any], Any] | None = None

    def at(self, k: int) -> Any:
        rows = np.atleast_2d(self.member[k])
        cells = [frozenset(self.values[i] for i in np.flatnonzero(row).tolist()) for row in rows]
        return cells[0] if self.wrap is None else CellSet(cells, self.wrap)

    def choice(self) -> list[Any]:
        if self.wrap is None:
            return [self.values[i] for i in self.top.tolist()]
        return [self.wrap(tuple(self.values[i] for i in row)) for row in self.top.tolist()]

    def _narrowed(self, rows: Bools) -> Self:
        top = np.arange(len(self.values)) == self.top[..., None]
        return replace(self, member=np.where(rows.reshape(-1, *(1,) * (top.ndim - 1)), top, self.member))


class CellSet(Set[Any]):
    """All the ways to choose one value per cell: a product, never written out unless iterated over.

    `wrap` makes a prediction of the values of its cells.
    """

    def __init__(self, cells: Sequence[frozenset[Hashable]], wrap: Callable[[Any], Any] = tuple) -> None:
        self.cells, self.wrap = tuple(cells), wrap

    def __contains__(self, y: object) -> bool:
        text = isinstance(y, str) and len(self.cells) > 1
        cells: Any = y if text or isinstance(y, tuple) else (y,)
        pairs = zip(cells, self.cells, strict=False)
        return len(cells) == len(self.cells) and all(value in cell for value, cell in pairs)

    def __iter__(self) -> Iterator[Any]:
        return map(self.wrap, product(*(sorted(cell, key=repr) for cell in self.cells)))

    def __len__(self) -> int:
        return prod(map(len, self.cells))

    def __hash__(self) -> int:
        return hash(self.cells)

    def __repr__(self) -> str:
        return " × ".join("{" + ", ".join(sorted(map(str, cell))) + "}" for cell in self.cells)


def like(value: Any) -> Callable[[Any], Any]:
    """What makes a value like this one of its cells: a tuple, text, or the only one."""
    if isinstance(value, tuple):
        return tuple
    return "".join if isinstance(value, str) else itemgetter(0)


class Interval(NamedTuple):
    """All numbers from low to high; `y in interval` tells whether y is one of them."""

    low: float
    high: float

    def __contains__(self, y: object) -> bool:
        return isinstance(y, (int, float, np.number)) and bool(self.low <= y <= self.high)

    def __repr__(self) -> str:
        return f"[{self.low:g}, {self.high:g}]" if self.low < self.high else f"{{{self.low:g}}}"


class NumericSets(Predictions):
    """Sets of numbers, which are the same within a tolerance; `precision` is that of how they were found."""

    precision: float = 0.0

    @abstractmethod
    def coordinates(self) -> tuple[Floats, Floats]:
        """(K, d) numbers that tell the sets apart, and their standard errors."""


@dataclass(frozen=True, eq=False)
class Intervals(NumericSets):
    """Intervals of numbers (K,), of width 0 for single ones; `top` is the best by the estimate, `spread` the standard
    error of single ones."""

    _columns = ("low", "high", "top", "spread")
    low: Floats
    high: Floats
    top: Floats
    spread: Floats

    def at(self, k: int) -> Any:
        return Interval(float(self.low[k]), float(self.high[k]))

    def coordinates(self) -> tuple[Floats, Floats]:
        return np.column_stack([self.low, self.high]), np.column_stack([self.spread, self.spread])

    def choice(self) -> list[Any]:
        values: list[Any] = self.top.tolist()
        return values

    def _narrowed(self, rows: Bools) -> Self:
        low, high = (np.where(rows, self.top, ends) for ends in (self.low, self.high))
        return replace(self, low=low, high=high)


@dataclass(frozen=True, eq=False)
class Points(NumericSets):
    """Finitely many points of a continuum: `points[k]` is (m_k, d), sorted, and `spread[k]` their standard errors."""

    _columns = ("points", "spread")
    points: Sequence[Floats]
    spread: Sequence[Floats]
    precision: float = 0.0

    def at(self, k: int) -> Any:
        rows = self.points[k].tolist()
        return tuple(row[0] for row in rows) if self.points[k].shape[1] == 1 else tuple(map(tuple, rows))

    def coordinates(self) -> tuple[Floats, Floats]:
        table, errors = np.zeros((2, len(self), max(part.size for part in self.points) + 1))
        for k, (part, spread) in enumerate(zip(self.points, self.spread, strict=True)):
            table[k, : part.size], errors[k, : part.size] = part.ravel(), spread.ravel()
            # Sets of different sizes never match.
            table[k, -1] = 1e18 * len(part)
        return table, errors

    def choice(self) -> list[Any]:
        return [self[k][0] for k in range(len(self))]

    def _narrowed(self, rows: Bools) -> Self:
        parts = [[p[:1] if one else p for p, one in zip(c, rows, strict=True)] for c in (self.points, self.spread)]
        return replace(self, points=parts[0], spread=parts[1])


@dataclass(frozen=True, eq=False)
class Slack:
    """When two expected utilities count as equal.

    Attributes
    ----------
    atol : difference that never counts
    n : (K,) observations behind each distribution, or None: the distributions are exact
    prior : (n_z,) distribution of one more observation, so that outcomes not seen yet are not held impossible
    level : how many standard errors do not count
    """

    atol: float = 1e-9
    n: Floats | None = None
    prior: Floats | None = None
    level: float = 0.0

    def rows(self, part: slice) -> "Slack":
        """The same for some of the states."""
        return self if self.n is None else replace(self, n=self.n[part])

    def smooth(self, p: Floats) -> Floats:
        """Distributions with one more observation, drawn from the prior."""
        return self.smoothed(p, self.prior)

    def smoothed(self, means: Floats, prior: Floats | None) -> Floats:
        """Means over the observations of each state, (K,) or (K, m), with one more, whose means are given."""
        if self.n is None or prior is None:
            return means
        n = self.n.reshape(-1, *(1,) * (means.ndim - 1))
        found: Floats = (means * n + prior) / (n + 1.0)
        return found

    def error(self, variance: Floats) -> Floats:
        """Standard error of means over the observations of each state, given the variance of one."""
        if self.n is None:
            return np.zeros_like(variance)
        n = self.n.reshape(-1, *(1,) * (variance.ndim - 1))
        return np.sqrt(np.maximum(variance, 0.0) / n)


@dataclass(frozen=True, eq=False)
class Optimum:
    """What is best in each of K states.

    Attributes
    ----------
    utility : (K,) the largest expected utility
    error : (K,) its standard error, 0 where the distributions are exact
    predictions : the K sets Y that reach it
    """

    utility: Floats
    error: Floats
    predictions: Predictions


def exhaustive(p: Floats, u: Floats, candidates: Sequence[Hashable], slack: Slack, expected: Any = None) -> Optimum:
    """Compare all candidates: u is U(y, z) as (n_y, n_z); `expected` (K, n_y) replaces the product p u^T.

    From data, a candidate y is as good as the best one, y*, if the mean of U(y*, z) - U(y, z) is within its sampling
    error and no other candidate dominates y: is never worse, and better for some outcome. Cost: one product of
    (K, n_z) and (n_z, n_y), from data three more.
    """
    value = p @ u.T if expected is None else expected
    highest = value.max(axis=1)
    member = value >= highest[:, None] - slack.atol
    top = (value >= highest[:, None] - min(slack.atol, 1e-9)).argmax(axis=1)
    error: Floats = np.zeros(len(p))
    if slack.n is not None:
        smooth = slack.smooth(p)
        error = slack.error(variance_of(smooth, u[top]))
        if slack.level > 0.0:
            near = highest[:, None] - value <= slack.atol + slack.level * slack.error(variances(smooth, u, u[top]))
            dominated, asked = np.zeros(len(u), bool), (near & ~member).any(axis=0)
            best = (u - u.max(axis=0)).argmax(axis=1)
            kernels.dominated(np.ascontiguousarray(u), best, slack.atol, asked, dominated)
            member |= near & ~dominated
    return Optimum(highest, error, ListedSets(candidates, member, top))


def mean_of(p: Floats, values: Floats) -> Floats:
    """(K,) mean of values (K, n_z) under distributions p."""
    mean: Floats = np.einsum("kz,kz->k", p, values)
    return mean


def variance_of(p: Floats, values: Floats) -> Floats:
    """(K,) variance of values (K, n_z) under distributions p."""
    # The mean of the squares less the square of the mean would be rounding alone where values lie far from 0.
    return mean_of(p, (values - mean_of(p, values)[:, None]) ** 2)


def variances(p: Floats, u: Floats, own: Floats) -> Floats:
    """(K, n_y) variance of U(own, z) - U(y, z) for all y, rows of u (n_y, n_z), and the utilities `own` (K, n_z)."""
    # What is lost against the best for each outcome has the same differences, and no offset to cancel.
    best = u.max(axis=0)
    lost, own = u - best, own - best
    mean, square = p @ lost.T, p @ (lost**2).T
    both = (p * own) @ lost.T
    found: Floats = square + mean_of(p, own**2)[:, None] - 2.0 * both - (mean - mean_of(p, own)[:, None]) ** 2
    return found


def numbered(values: Sequence[Any]) -> tuple[list[Any], Ints]:
    """The distinct values, and the number of each value."""
    number: dict[Any, int] = {}
    places = [number.setdefault(value, len(number)) for value in values]
    return list(number), np.array(places, np.int64)


def boxed(values: Sequence[Any]) -> NDArray[Any]:
    """Values, tuples among them, as an array of objects."""
    array = np.empty(len(values), object)
    array[:] = list(values)
    return array
