"""The sets Y of best predictions of K states, stored as arrays, what they are worth, and when two are equally good.

Two states have the same Y when their rows of `codes` are equal; sets of numbers have `coordinates` instead, which are
compared within a tolerance (see `decide`).
"""

from abc import abstractmethod
from collections.abc import Callable, Hashable, Iterator, Sequence, Set
from dataclasses import dataclass, replace
from itertools import chain, product
from operator import itemgetter
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from .._kernels import values as kernels
from ..support.arrays import Floats, Ints

BLOCK = 1 << 22  # entries of a block of distributions that is worked on at once


@dataclass(frozen=True, eq=False)
class Predictions(Sequence[Any]):
    """One set Y per state: `predictions[k]` is the set, `choice()` takes one prediction of each."""

    # The fields that have an entry for each state.
    _columns: ClassVar[tuple[str, ...]]

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


@dataclass(frozen=True, eq=False)
class ListedSets(Predictions):
    """Sets known by what they contain: `member` is (K, ...) booleans, `top` (K, ...) the best of each."""

    _columns = ("member", "top")
    values: Sequence[Hashable]
    member: Ints
    top: Ints

    def __len__(self) -> int:
        return len(self.member)

    @property
    def codes(self) -> Ints:
        """(K, n_bytes) the bits of what each set contains: the same for the same sets."""
        return np.packbits(self.member.reshape(len(self), -1), axis=1)


class NumericSets(Predictions):
    """Sets of numbers, which are the same within a tolerance; `precision` is that of how they were found."""

    precision: float = 0.0

    @property
    @abstractmethod
    def coordinates(self) -> Floats:
        """(K, d) numbers that tell the sets apart."""

    @property
    @abstractmethod
    def errors(self) -> Floats:
        """(K, d) their standard errors."""


@dataclass(frozen=True, eq=False)
class Finite(ListedSets):
    """Subsets of the candidates `values`: `member` is (K, n_y) booleans, `top` (K,) the best one of each."""

    def at(self, k: int) -> Any:
        return frozenset(self.values[i] for i in np.flatnonzero(self.member[k]).tolist())

    def choice(self) -> list[Any]:
        return [self.values[i] for i in self.top.tolist()]


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
        size = 1
        for cell in self.cells:
            size *= len(cell)
        return size

    def __hash__(self) -> int:
        return hash(self.cells)

    def __repr__(self) -> str:
        return " × ".join("{" + ", ".join(sorted(map(str, cell))) + "}" for cell in self.cells)


def like(value: Any) -> Callable[[Any], Any]:
    """What makes a value like this one of its cells: a tuple, text, or the only one."""
    if isinstance(value, tuple):
        return tuple
    return "".join if isinstance(value, str) else itemgetter(0)


@dataclass(frozen=True, eq=False)
class Cells(ListedSets):
    """Products of per-cell sets: `member` is (K, n_cells, n_values) booleans, `top` (K, n_cells) the best values."""

    wrap: Callable[[Any], Any] = tuple

    def at(self, k: int) -> Any:
        cells = [frozenset(self.values[i] for i in np.flatnonzero(cell).tolist()) for cell in self.member[k]]
        return CellSet(cells, self.wrap)

    def choice(self) -> list[Any]:
        return [self.wrap(tuple(self.values[i] for i in row)) for row in self.top.tolist()]


class Interval(NamedTuple):
    """All numbers from low to high; `y in interval` tells whether y is one of them."""

    low: float
    high: float

    def __contains__(self, y: object) -> bool:
        return isinstance(y, (int, float, np.number)) and bool(self.low <= y <= self.high)

    def __repr__(self) -> str:
        return f"[{self.low:g}, {self.high:g}]" if self.low < self.high else f"{{{self.low:g}}}"


@dataclass(frozen=True, eq=False)
class Intervals(NumericSets):
    """Intervals of numbers (K,), of width 0 for single ones; `top` is the best by the estimate, `spread` the standard
    error of single ones."""

    _columns = ("low", "high", "top", "spread")
    low: Floats
    high: Floats
    top: Floats
    spread: Floats

    def __len__(self) -> int:
        return self.low.size

    def at(self, k: int) -> Any:
        return Interval(float(self.low[k]), float(self.high[k]))

    @property
    def coordinates(self) -> Floats:
        return np.column_stack([self.low, self.high])

    @property
    def errors(self) -> Floats:
        return np.column_stack([self.spread, self.spread])

    def choice(self) -> list[Any]:
        values: list[Any] = self.top.tolist()
        return values


@dataclass(frozen=True, eq=False)
class Points(NumericSets):
    """Finitely many points of a continuum: `points[k]` is (m_k, d), sorted, and `spread[k]` their standard errors.

    Sets of different sizes never match, so `coordinates` are padded and the size is one of them.
    """

    _columns = ("points", "spread")
    points: Sequence[Floats]
    spread: Sequence[Floats]
    precision: float = 0.0

    def __len__(self) -> int:
        return len(self.points)

    def at(self, k: int) -> Any:
        rows = self.points[k].tolist()
        return tuple(row[0] for row in rows) if self.points[k].shape[1] == 1 else tuple(map(tuple, rows))

    @property
    def coordinates(self) -> Floats:
        table = self._padded(self.points)
        table[:, -1] = [1e18 * len(part) for part in self.points]
        return table

    @property
    def errors(self) -> Floats:
        return self._padded(self.spread)

    def _padded(self, parts: Sequence[Floats]) -> Floats:
        table = np.zeros((len(parts), max(part.size for part in parts) + 1))
        for row, part in zip(table, parts, strict=True):
            row[: part.size] = part.ravel()
        return table

    def choice(self) -> list[Any]:
        return [self[k][0] for k in range(len(self))]


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
        if self.n is None or self.prior is None:
            return p
        n = self.n[:, None]
        return (p * n + self.prior) / (n + 1.0)

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

    def join(self, others: Sequence["Optimum"]) -> "Optimum":
        parts = (self, *others)
        return Optimum(
            np.concatenate([part.utility for part in parts]),
            np.concatenate([part.error for part in parts]),
            self.predictions.join([part.predictions for part in others]),
        )


def in_blocks(p: Any, slack: Slack, best: Callable[[Floats, Slack], Optimum], width: int = 0) -> Optimum:
    """Apply `best` to blocks of the distributions p (K, n_z), dense or sparse, and join the results.

    `width` is what each row needs room for, if more than n_z.
    """
    size = max(1, BLOCK // max(p.shape[1], width, 1))
    parts = []
    for begin in range(0, p.shape[0], size):
        rows = slice(begin, begin + size)
        block = p[rows] if isinstance(p, np.ndarray) else p[rows].toarray()
        parts.append(best(block, slack.rows(rows)))
    return parts[0].join(parts[1:])


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
        error = slack.error(_variance(smooth, u, top))
        if slack.level > 0.0:
            near = highest[:, None] - value <= slack.atol + slack.level * slack.error(_variances(smooth, u, top))
            member |= near & ~_dominated(u, (near & ~member).any(axis=0), slack.atol)
    return Optimum(highest, error, Finite(candidates, member, top))


def _variance(p: Floats, u: Floats, top: Ints) -> Floats:
    """(K,) variance of U(y, z) for the prediction `top` of each state."""
    mean = np.einsum("kz,kz->k", p, u[top])
    variance: Floats = np.einsum("kz,kz->k", p, (u[top] - mean[:, None]) ** 2)
    return variance


def _variances(p: Floats, u: Floats, top: Ints) -> Floats:
    """(K, n_y) variance of U(top, z) - U(y, z) for the prediction `top` of each state and all y."""
    # What is lost against the best for each outcome has the same differences, and no offset to cancel.
    lost = u - u.max(axis=0)
    mean, square = p @ lost.T, p @ (lost**2).T
    rows = np.arange(len(p))
    both = (p * lost[top]) @ lost.T
    variance: Floats = square + square[rows, top, None] - 2.0 * both - (mean - mean[rows, top, None]) ** 2
    return variance


def _dominated(u: Floats, asked: Ints, atol: float) -> Ints:
    """(n_y,) whether another prediction is never worse and somewhere better, for those asked for."""
    result = np.zeros(len(u), bool)
    kernels.dominated(np.ascontiguousarray(u), (u - u.max(axis=0)).argmax(axis=1), atol, asked, result)
    return result
