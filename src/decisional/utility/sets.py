"""The sets Y of best predictions of K states, stored as arrays: one class for each shape a set can have.

Two states have the same Y when their rows of `codes` are equal; sets of numbers have `coordinates` instead, with
their standard `errors`, and are compared within a tolerance (see `decisions`).
"""

from abc import abstractmethod
from collections.abc import Hashable, Iterator, Sequence, Set
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from ..structures import Floats, Ints

__all__ = ["CellSet", "Cells", "Finite", "Interval", "Intervals", "Points", "Predictions"]


class Predictions(Sequence[Any]):
    """One set Y per state: `predictions[k]` is the set, `choice()` takes one prediction of each."""

    codes: Ints | None = None
    coordinates: Floats | None = None
    errors: Floats | None = None

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

    def __getitem__(self, k: Any) -> Any:
        return frozenset(self.candidates[i] for i in np.flatnonzero(self.member[k]).tolist())

    def choice(self) -> list[Any]:
        return [self.candidates[i] for i in self.top.tolist()]

    def join(self, others: Sequence[Any]) -> "Finite":
        return Finite(self.candidates, *_joined((self, *others), "member", "top"))


class CellSet(Set[tuple[Hashable, ...]]):
    """All the ways to choose one value per cell: a product, never written out unless iterated over."""

    def __init__(self, cells: Sequence[frozenset[Hashable]]) -> None:
        self.cells = tuple(cells)

    def __contains__(self, y: object) -> bool:
        cells = y if isinstance(y, tuple) else (y,)
        pairs = zip(cells, self.cells, strict=False)
        return len(cells) == len(self.cells) and all(value in cell for value, cell in pairs)

    def __iter__(self) -> Iterator[tuple[Hashable, ...]]:
        return product(*(sorted(cell, key=repr) for cell in self.cells))

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

    def __getitem__(self, k: Any) -> Any:
        return CellSet([frozenset(self.values[i] for i in np.flatnonzero(cell).tolist()) for cell in self.member[k]])

    def choice(self) -> list[Any]:
        return [tuple(self.values[i] for i in row) for row in self.top.tolist()]

    def join(self, others: Sequence[Any]) -> "Cells":
        return Cells(self.values, *_joined((self, *others), "member", "top"))


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

    def __getitem__(self, k: Any) -> Any:
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
    """Finitely many points of a continuum: `points[k]` is (m_k, d), sorted.

    Sets of different sizes never match, so `coordinates` are padded and the size is one of them.
    """

    points: Sequence[Floats]

    def __len__(self) -> int:
        return len(self.points)

    def __getitem__(self, k: Any) -> Any:
        rows = self.points[k].tolist()
        return tuple(row[0] for row in rows) if self.points[k].shape[1] == 1 else tuple(map(tuple, rows))

    @property
    def coordinates(self) -> Floats:  # type: ignore[override]
        width = max(part.size for part in self.points) + 1
        table = np.zeros((len(self), width))
        for row, part in zip(table, self.points, strict=True):
            row[: part.size], row[-1] = part.ravel(), 1e18 * len(part)
        return table

    @property
    def errors(self) -> Floats:  # type: ignore[override]
        return np.zeros_like(self.coordinates)

    def choice(self) -> list[Any]:
        return [self[k][0] for k in range(len(self))]

    def join(self, others: Sequence[Any]) -> "Points":
        return Points([points for part in (self, *others) for points in part.points])


def _joined(parts: Sequence[Any], *names: str) -> list[Any]:
    return [np.concatenate([getattr(part, name) for part in parts]) for name in names]
