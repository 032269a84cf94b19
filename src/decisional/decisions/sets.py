"""The sets Y of best predictions of K states, stored as arrays: one class for each shape a set can have.

Two states have the same Y when their rows of `codes` are equal; sets of numbers have `coordinates` instead, with
their standard `errors` and the `precision` of how they were found, and are compared within a tolerance (see
`decisions`).
"""

from abc import abstractmethod
from collections.abc import Callable, Hashable, Iterator, Sequence, Set
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from ..support.arrays import Floats, Ints

__all__ = ["CellSet", "Cells", "Finite", "Interval", "Intervals", "Points", "Predictions"]


class Predictions(Sequence[Any]):
    """One set Y per state: `predictions[k]` is the set, `choice()` takes one prediction of each."""

    codes: Ints | None = None
    coordinates: Floats | None = None
    errors: Floats | None = None
    precision: float = 0.0

    def __getitem__(self, k: Any) -> Any:
        return [self.at(i) for i in range(len(self))[k]] if isinstance(k, slice) else self.at(range(len(self))[k])

    @abstractmethod
    def at(self, k: int) -> Any:
        """The set of one state."""

    @abstractmethod
    def choice(self) -> list[Any]:
        """One prediction of each set: the best by the estimate, the first one among equals."""

    @abstractmethod
    def join(self, others: Sequence[Any]) -> "Predictions":
        """The sets of several blocks of states, in order."""


class _Listed(Predictions):
    """Sets known by the bits of what they contain."""

    member: Ints

    def __len__(self) -> int:
        return len(self.member)

    @property
    def codes(self) -> Ints:  # type: ignore[override]
        return np.packbits(self.member.reshape(len(self), -1), axis=1)


@dataclass(frozen=True, eq=False)
class Finite(_Listed):
    """Subsets of a list of candidates: `member` is (K, n_y) booleans, `top` (K,) the best one of each."""

    candidates: Sequence[Hashable]
    member: Ints
    top: Ints

    def at(self, k: int) -> Any:
        return frozenset(self.candidates[i] for i in np.flatnonzero(self.member[k]).tolist())

    def choice(self) -> list[Any]:
        return [self.candidates[i] for i in self.top.tolist()]

    def join(self, others: Sequence[Any]) -> "Finite":
        return Finite(self.candidates, *_joined((self, *others), "member", "top"))


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


@dataclass(frozen=True, eq=False)
class Cells(_Listed):
    """Products of per-cell sets: `member` is (K, n_cells, n_values) booleans, `top` (K, n_cells) the best values."""

    values: Sequence[Hashable]
    member: Ints
    top: Ints
    wrap: Callable[[Any], Any] = tuple

    def at(self, k: int) -> Any:
        cells = [frozenset(self.values[i] for i in np.flatnonzero(cell).tolist()) for cell in self.member[k]]
        return CellSet(cells, self.wrap)

    def choice(self) -> list[Any]:
        return [self.wrap(tuple(self.values[i] for i in row)) for row in self.top.tolist()]

    def join(self, others: Sequence[Any]) -> "Cells":
        member, top = _joined((self, *others), "member", "top")
        return Cells(self.values, member, top, self.wrap)


class Interval(NamedTuple):
    """All numbers from low to high; `y in interval` tells whether y is one of them."""

    low: float
    high: float

    def __contains__(self, y: object) -> bool:
        return isinstance(y, (int, float, np.number)) and bool(self.low <= y <= self.high)

    def __repr__(self) -> str:
        return f"[{self.low:g}, {self.high:g}]" if self.low < self.high else f"{{{self.low:g}}}"


@dataclass(frozen=True, eq=False)
class Intervals(Predictions):
    """Intervals of numbers (K,), of width 0 for single ones; `top` is the best by the estimate, `spread` the standard
    error of single ones."""

    low: Floats
    high: Floats
    top: Floats
    spread: Floats

    def __len__(self) -> int:
        return self.low.size

    def at(self, k: int) -> Any:
        return Interval(float(self.low[k]), float(self.high[k]))

    @property
    def coordinates(self) -> Floats:  # type: ignore[override]
        return np.column_stack([self.low, self.high])

    @property
    def errors(self) -> Floats:  # type: ignore[override]
        return np.column_stack([self.spread, self.spread])

    def choice(self) -> list[Any]:
        values: list[Any] = self.top.tolist()
        return values

    def join(self, others: Sequence[Any]) -> "Intervals":
        return Intervals(*_joined((self, *others), "low", "high", "top", "spread"))


@dataclass(frozen=True, eq=False)
class Points(Predictions):
    """Finitely many points of a continuum: `points[k]` is (m_k, d), sorted, and `spread[k]` their standard errors.

    Sets of different sizes never match, so `coordinates` are padded and the size is one of them.
    """

    points: Sequence[Floats]
    spread: Sequence[Floats]
    precision: float = 0.0

    def __len__(self) -> int:
        return len(self.points)

    def at(self, k: int) -> Any:
        rows = self.points[k].tolist()
        return tuple(row[0] for row in rows) if self.points[k].shape[1] == 1 else tuple(map(tuple, rows))

    @property
    def coordinates(self) -> Floats:  # type: ignore[override]
        table = self._padded(self.points)
        table[:, -1] = [1e18 * len(part) for part in self.points]
        return table

    @property
    def errors(self) -> Floats:  # type: ignore[override]
        return self._padded(self.spread)

    def _padded(self, parts: Sequence[Floats]) -> Floats:
        table = np.zeros((len(parts), max(part.size for part in parts) + 1))
        for row, part in zip(table, parts, strict=True):
            row[: part.size] = part.ravel()
        return table

    def choice(self) -> list[Any]:
        return [self[k][0] for k in range(len(self))]

    def join(self, others: Sequence[Any]) -> "Points":
        parts = (self, *others)
        points, spread = ([row for part in parts for row in getattr(part, name)] for name in ("points", "spread"))
        return Points(points, spread, self.precision)


def _joined(parts: Sequence[Any], *names: str) -> list[Any]:
    return [np.concatenate([getattr(part, name) for part in parts]) for name in names]
