"""An autoregression with normal errors: what a plain forecast of a signal would decide."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from ..support.arrays import Floats
from .predictions import Slack, boxed
from .solving import solve
from .utilities import Utility

# Values of the past that are looked at, at most.
MOST = 12
# Points for each standard deviation of the errors, and standard deviations to either side.
POINTS, REACH = 16, 5
# Standard deviations that the means of forecasts with common points span, at most.
SPAN = 20.0


@dataclass(frozen=True, eq=False)
class Autoregression:
    """The next value is a constant, and the last values times their coefficients, and a normal error.

    Attributes
    ----------
    constant : float
    coefficient : (order,) of the last value, the one before, ...
    sigma : standard deviation of the errors
    mean : of the values, which stands for what is not known of the past
    """

    constant: float
    coefficient: Floats
    sigma: float
    mean: float

    @classmethod
    def fit(cls, values: Floats, most: int = MOST) -> Self | None:
        """By least squares, of the order with the smallest AIC; None where there are too few values.

        Parameters
        ----------
        values : (T,) a signal; NaN = gap, which no past crosses
        most : the largest order
        """
        most = min(most, values.size // 10)
        if values.size <= most + 1:
            return None
        rows = np.lib.stride_tricks.sliding_window_view(values, most + 1)
        rows = rows[~np.isnan(rows).any(axis=1)]
        n = len(rows)
        if n < 2 * (most + 2):
            return None
        mean, extent = float(rows.mean()), float(np.ptp(rows)) or max(float(abs(rows[0, 0])), 1.0)
        # Constant, last value, the one before, ..., and what follows: each order uses the first columns.
        columns = np.column_stack([np.ones(n), rows[:, -2::-1] - mean, rows[:, -1] - mean])
        r: Floats = np.asarray(np.linalg.qr(columns, mode="r"))
        # Where nothing is left to chance, errors are those of rounding.
        least = n * (1e-9 * extent) ** 2
        rest = np.array([max(float((r[k + 1 :, -1] ** 2).sum()), least) for k in range(most + 1)])
        order = int(np.argmin(n * np.log(rest / n) + 2.0 * np.arange(most + 1)))
        found = np.linalg.lstsq(r[: order + 1, : order + 1], r[: order + 1, -1], rcond=None)[0]
        sigma = float(np.sqrt(rest[order] / (n - order - 1)))
        return cls(float(found[0]) + mean, found[1:], sigma, mean)

    def forecast(self, past: Floats) -> Floats:
        """(n,) expected next values after (n, m) last ones, the last first; NaN = not known."""
        known = np.full((len(past), self.coefficient.size), self.mean)
        m = min(past.shape[1], self.coefficient.size)
        known[:, :m] = np.where(np.isnan(past[:, :m]), self.mean, past[:, :m])
        expected: Floats = self.constant + (known - self.mean) @ self.coefficient
        return expected

    def decide(self, past: Floats, utility: Utility, optimise: Any = None) -> Sequence[Any]:
        """The best prediction after each past, as `forecast` takes them, by the normal distribution of what follows."""
        mean, step = self.forecast(past), self.sigma / POINTS
        part = np.floor((mean - mean.min()) / (SPAN * self.sigma))
        choices = np.empty(len(mean), object)
        for k in np.unique(part):
            rows = np.flatnonzero(part == k)
            low, high = mean[rows].min() - REACH * self.sigma, mean[rows].max() + REACH * self.sigma
            points = low + step * np.arange(int(np.ceil((high - low) / step)) + 1)
            p = np.exp(-0.5 * ((points - mean[rows, None]) / self.sigma) ** 2)
            best = solve(p / p.sum(axis=1, keepdims=True), points.tolist(), utility, Slack(), None, optimise)
            choices[rows] = boxed(best.predictions.choice())
        return choices.tolist()
