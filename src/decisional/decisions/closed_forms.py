"""Utilities whose best predictions are known in closed form; with candidates y all of these are compared instead."""

from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np

from ..support.arrays import Floats
from .optima import Optimum, Slack
from .sets import Cells, Finite, Intervals, Points
from .utilities import Utility
from .values import cells, like, numbers

__all__ = ["absolute_error", "matching_cells", "squared_error", "tolerant", "zero_one"]


class _ZeroOne(Utility):
    def matrix(self, y: Sequence[Any], z: Sequence[Any]) -> Floats:
        column = {value: j for j, value in enumerate(z)}
        values = np.zeros((len(y), len(z)))
        hits = [(i, column[value]) for i, value in enumerate(y) if value in column]
        if hits:
            values[tuple(np.array(hits).T)] = 1.0
        return values

    def best(self, p: Floats, outcomes: Sequence[Any], slack: Slack) -> Optimum:
        if self.y is not None:
            return super().best(p, outcomes, slack)
        top, smooth = p.max(axis=1, keepdims=True), slack.smooth(p)
        mode = np.take_along_axis(smooth, p.argmax(axis=1)[:, None], axis=1)
        apart = slack.error(mode + smooth - (mode - smooth) ** 2)
        member = (top - p <= slack.atol + slack.level * apart) & ((p > 0.0) | (smooth > 0.0))
        return Optimum(
            top[:, 0], slack.error(mode * (1.0 - mode))[:, 0], Finite(list(outcomes), member, p.argmax(axis=1))
        )


def zero_one(y: Iterable[Hashable] | None = None) -> Utility:
    """1 for a prediction that comes true, else 0 (section 4.1): Y are the modes."""
    return _ZeroOne(y)


class _SquaredError(Utility):
    def matrix(self, y: Sequence[Any], z: Sequence[Any]) -> Floats:
        apart = numbers(y, "squared_error")[:, None] - numbers(z, "squared_error")[None]
        return -(apart**2) if apart.ndim == 2 else -(apart**2).sum(axis=2)

    def best(self, p: Floats, outcomes: Sequence[Any], slack: Slack) -> Optimum:
        z = numbers(outcomes, "squared_error")
        if self.y is not None:
            return super().best(p, outcomes, slack)
        if z.ndim == 2:
            return _means(p, z, slack)
        mean, smooth = p @ z, slack.smooth(p)
        apart = (z - mean[:, None]) ** 2
        spread = np.einsum("kz,kz->k", p, apart)
        wide = np.einsum("kz,kz->k", smooth, apart)
        tail = np.einsum("kz,kz->k", smooth, apart**2) - wide**2
        return Optimum(-spread, slack.error(tail), Intervals(mean, mean, mean, slack.error(wide)))


def _means(p: Floats, z: Floats, slack: Slack) -> Optimum:
    """The mean vectors, for outcomes z (n_z, d)."""
    origin = z.mean(axis=0)
    z = z - origin
    mean, smooth = p @ z, slack.smooth(p)
    apart = (z**2).sum(axis=1) - 2.0 * mean @ z.T + (mean**2).sum(axis=1, keepdims=True)
    tail = np.einsum("kz,kz->k", smooth, apart**2) - np.einsum("kz,kz->k", smooth, apart) ** 2
    spread = slack.error(smooth @ z**2 - 2.0 * mean * (smooth @ z) + mean**2)
    utility = -np.maximum(np.einsum("kz,kz->k", p, apart), 0.0)
    return Optimum(utility, slack.error(tail), Points(list((mean + origin)[:, None]), list(spread[:, None])))


def squared_error(y: Iterable[float] | None = None) -> Utility:
    """-(y - z)² (section 4.2): Y is the mean, or the best of the candidates y; of vectors, their squared distance."""
    return _SquaredError(y)


class _Tolerant(Utility):
    def __init__(self, tolerance: float, y: Iterable[Hashable] | None) -> None:
        super().__init__(y)
        if isinstance(tolerance, bool) or not isinstance(tolerance, (int, float, np.number)) or not tolerance >= 0:
            raise ValueError(
                f"The 'tau' of tolerant is {tolerance!r}; it must be a number of at least 0: give the error that "
                "costs nothing."
            )
        self.tolerance = float(tolerance)

    def matrix(self, y: Sequence[Any], z: Sequence[Any]) -> Floats:
        apart = np.abs(numbers(y, "tolerant", 1)[:, None] - numbers(z, "tolerant", 1)[None])
        values: Floats = -np.maximum(apart - self.tolerance, 0.0)
        return values

    def best(self, p: Floats, outcomes: Sequence[Any], slack: Slack) -> Optimum:
        if self.y is not None:
            return super().best(p, outcomes, slack)
        # The expected loss is convex: its slope rises from -1 by p(z) at z - tau and again at z + tau.
        z = numbers(outcomes, "tolerant", 1)
        bend = np.concatenate([z - self.tolerance, z + self.tolerance])
        order = np.argsort(bend, kind="stable")
        slope = np.cumsum(np.concatenate([p, p], axis=1)[:, order], axis=1) - 1.0
        bend = bend[order]
        doubt = slack.atol + slack.level * slack.error(np.ones(len(p)))[:, None]
        low = bend[np.argmax(slope >= -doubt, axis=1)]
        # Rounding may leave the last slope just below 1.
        rising = slope > np.minimum(doubt, 1.0 - 1e-9)
        high = bend[np.argmax(rising, axis=1)]
        # Anywhere between these two the expected loss is the same.
        ends = [bend[np.argmax(slope >= edge, axis=1)] for edge in (-1e-9, 1e-9)]
        centre = 0.5 * (ends[0] + ends[1])
        cost = np.maximum(np.abs(centre[:, None] - z) - self.tolerance, 0.0)
        mean, smooth = np.einsum("kz,kz->k", p, cost), slack.smooth(p)
        variance = np.einsum("kz,kz->k", smooth, cost**2) - np.einsum("kz,kz->k", smooth, cost) ** 2
        return Optimum(-mean, slack.error(variance), Intervals(low, high, centre, np.zeros(len(p))))


def tolerant(tau: float, y: Iterable[float] | None = None) -> Utility:
    """-max(0, abs(y - z) - tau): errors up to tau cost nothing; Y is an interval of numbers."""
    return _Tolerant(tau, y)


def absolute_error(y: Iterable[float] | None = None) -> Utility:
    """-abs(y - z): Y is the interval of medians."""
    return _Tolerant(0.0, y)


class _MatchingCells(Utility):
    def matrix(self, y: Sequence[Any], z: Sequence[Any]) -> Floats:
        a, b = cells(y), cells(z)
        if a.shape[1] != b.shape[1]:
            raise ValueError(
                f"The 'y' of matching_cells have {a.shape[1]} cells and the outcomes {b.shape[1]}; both must have "
                "the same: give candidates like the outcomes."
            )
        values: Floats = np.zeros((len(a), len(b)))
        for column, other in zip(a.T, b.T, strict=True):
            values += column[:, None] == other
        return values

    def best(self, p: Floats, outcomes: Sequence[Any], slack: Slack) -> Optimum:
        if self.y is not None:
            return super().best(p, outcomes, slack)
        values, code = np.unique(cells(outcomes), return_inverse=True)
        code = code.reshape(len(outcomes), -1)
        shape = (len(p), code.shape[1], values.size)
        # 1 where an outcome has a value in a cell: sums over outcomes become one product.
        has = (code[:, :, None] == np.arange(values.size)).reshape(len(outcomes), -1).astype(float)
        share, smooth = (p @ has).reshape(shape), (slack.smooth(p) @ has).reshape(shape)
        top = share.max(axis=2, keepdims=True)
        first = share.argmax(axis=2)[:, :, None]
        mode = np.take_along_axis(smooth, first, axis=2)
        apart = slack.error(mode + smooth - (mode - smooth) ** 2)
        member = (top - share <= slack.atol + slack.level * apart) & (smooth > 0.0)
        error: Floats = np.zeros(len(p))
        if slack.n is not None:
            right = (first == np.arange(values.size)).reshape(len(p), -1).astype(float) @ has.T
            q = slack.smooth(p)
            error = slack.error(np.einsum("kz,kz->k", q, right**2) - np.einsum("kz,kz->k", q, right) ** 2)
        sets = Cells(values.tolist(), member, first[:, :, 0], like(outcomes[0]))
        return Optimum(top[:, :, 0].sum(axis=1), error, sets)


def matching_cells(y: Iterable[Hashable] | None = None) -> Utility:
    """Number of cells predicted right (section 6.2): Y is the product of the most frequent values of each cell."""
    return _MatchingCells(y)
