"""Configurations that are vectors of numbers: data that hardly ever repeat exactly."""

from collections.abc import Sequence
from concurrent.futures import Executor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..structures import Ints, Observations, Table, read_only
from . import tables

__all__ = ["Vectors", "distinct_rows"]


def distinct_rows(rows: NDArray[Any]) -> tuple[NDArray[Any], Ints]:
    """The distinct rows of a table of numbers, in an order that depends on them alone, and the number of each row."""
    rows = np.ascontiguousarray(rows)
    if rows.dtype.kind == "f":
        rows = rows + 0.0  # -0.0 and 0.0 are one value
    if rows.shape[1] == 1:
        values, number = np.unique(rows[:, 0], return_inverse=True)
        return values[:, None], number.reshape(-1)
    whole = rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1]))).ravel()
    _, first, number = np.unique(whole, return_index=True, return_inverse=True)
    return rows[first], number.reshape(-1)


class Vectors(Observations):
    """Pairs (x, z) of vectors of numbers.

    Parameters
    ----------
    x : (n, d) numbers
    z : (n,) or (n, k) numbers; or the numbers of `outcomes`, which are no numbers themselves
    site : (n,) flat position of each observation on the grid of `shape`
    successor : (n,) index of the next observation, -1 = none; or None
    outcomes : what z can be, if these are kinds rather than numbers

    Attributes
    ----------
    points : (n_x, d) the distinct x
    targets : (n_z, k) the distinct z, as numbers, or None; `outcomes` has them as values or tuples
    """

    letters = ()
    alphabet = None

    targets: NDArray[Any] | None

    def __init__(
        self,
        x: NDArray[Any],
        z: NDArray[Any],
        site: Ints,
        shape: tuple[int, ...],
        successor: Ints | None = None,
        outcomes: Sequence[Any] | None = None,
    ) -> None:
        self.past, self.shape = x.shape[1], shape
        self.points, self._x = distinct_rows(x)
        if outcomes is not None:
            self.targets, self._z, self._outcomes = None, z, list(outcomes)
        else:
            self.targets, self._z = distinct_rows(z.reshape(len(z), -1))
            values = self.targets.tolist()
            self._outcomes = [v[0] for v in values] if z.ndim == 1 else list(map(tuple, values))
        self._site, self._successor = site, successor
        self._table: Table | None = None

    @property
    def n(self) -> int:
        return self._x.size

    @property
    def outcomes(self) -> Sequence[Any]:
        return self._outcomes

    @property
    def x(self) -> Ints:
        return read_only(self._x)

    @property
    def z(self) -> Ints:
        return read_only(self._z)

    @property
    def symbol(self) -> Ints | None:
        return None

    @property
    def successor(self) -> Ints | None:
        return None if self._successor is None else read_only(self._successor)

    @property
    def site(self) -> Ints:
        return read_only(self._site)

    def words(self, rows: Ints) -> NDArray[Any]:
        return self.points[rows]

    def table(self, executor: Executor | None = None) -> Table:
        if self._table is None:
            after = self._successor
            target = None if after is None else np.where(after >= 0, self._x[after], -1)
            symbol = None if after is None else np.zeros(self.n, np.int64)
            n_x, n_z = len(self.points), len(self._outcomes)
            self._table = tables.from_ids(self._x, self._z, n_x, n_z, symbol, target, executor=executor)
        return self._table
