"""Observations whose x and z are numbered already: what pairs and vectors share."""

from abc import abstractmethod
from collections.abc import Sequence
from concurrent.futures import Executor
from typing import Any

import numpy as np

from ..support.arrays import Ints, read_only
from . import tables
from .observations import Observations, Table

__all__ = ["Numbered"]


class Numbered(Observations):
    """Numbers of x, z and symbols as arrays.

    Parameters
    ----------
    x, z : (n + beyond,) numbers of the distinct x, and of the `outcomes`
    outcomes : the values z can take
    symbol, successor : (n + beyond,) code of each step's symbol and index of the observation it leads to, or None
    site : (n + beyond,) flat position of each observation on the grid of `shape`
    beyond : so many last observations are only there to be led to: they belong to the next slice of the data
    """

    def __init__(
        self,
        x: Ints,
        z: Ints,
        outcomes: Sequence[Any],
        symbol: Ints | None,
        successor: Ints | None,
        site: Ints,
        shape: tuple[int, ...],
        beyond: int = 0,
    ) -> None:
        self._x, self._z, self._outcomes, self.shape = x, z, list(outcomes), shape
        self._symbol, self._successor, self._site = symbol, successor, site
        self._beyond = beyond
        self._table: Table | None = None

    @property
    def n(self) -> int:
        return self._x.size - self._beyond

    @property
    def outcomes(self) -> Sequence[Any]:
        return self._outcomes

    @property
    def x(self) -> Ints:
        return read_only(self._x[: self.n])

    @property
    def z(self) -> Ints:
        return read_only(self._z[: self.n])

    @property
    def symbol(self) -> Ints | None:
        return None if self._symbol is None else read_only(self._symbol[: self.n])

    @property
    def successor(self) -> Ints | None:
        return None if self._successor is None else read_only(self._successor[: self.n])

    @property
    def site(self) -> Ints:
        return read_only(self._site[: self.n])

    @property
    @abstractmethod
    def _n_x(self) -> int:
        """Number of distinct x, those beyond included."""

    def table(self, executor: Executor | None = None) -> Table:
        if self._table is None:
            symbol = target = None
            if self._successor is not None:
                after = self._successor[: self.n]
                target = np.where(after >= 0, self._x[after], -1)
                symbol = np.zeros(self.n, np.int64) if self._symbol is None else self._symbol[: self.n]
            sizes = self._n_x, len(self._outcomes)
            numbers = self._x[: self.n], self._z[: self.n]
            self._table = tables.from_ids(*numbers, *sizes, symbol, target, executor=executor)
        return self._table
