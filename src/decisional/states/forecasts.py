"""Forecast: the distribution of z given each of some x."""

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._kernels.stacked import CUMULATIVE, DENSITY, DRAW, MOMENTS, QUANTILE
from ..support.arguments import as_table, generator, integer, real, shown
from ..support.arrays import Floats
from ..support.plurals import plural
from .stacking import Stack

# Levels whose quantiles make up the ranked probability score.
LEVELS = 200
# Values of z beyond so many scales count as that.
FARTHEST = 1e9
# Values that are drawn from each distribution.
MOST = 10**7


def _numbers(values: Any, name: str) -> Floats:
    """Values or levels that were given, as an array of floats."""
    return as_table(values, name, "it must be numbers: give one, or an array that broadcasts against the rows.", float)


class Forecast:
    """The distributions of z at some x, one for each row; `causal.forecast(X)` makes them.

    They are mixtures of normal kernels and a small part for values that are like none before, see `states.stacking`.
    Values and levels broadcast against the rows: a number or (m,) values give (m,) results, one for each row; (k, 1)
    values give (k, m) results, all values at each row. Rows of which nothing is known, such as those with a missing
    value, have NaN.

    `len(forecast)` is the number of rows m, and `forecast[rows]` the forecasts of some of them, as numpy indexes;
    `forecast[-1]` is the one of the last row.

    Cost of each method: O(m n d), with n <= 8,000 the observations that answer; memory: that of its result.

    Examples
    --------
    >>> import decisional as ds
    >>> rng = np.random.default_rng(1)
    >>> x = np.cumsum(rng.normal(size=500)) * 0.1 + np.sin(np.arange(500))
    >>> forecast = ds.CausalStates(past=3).fit(x).forecast(x)
    >>> len(forecast), forecast[-1].quantile(0.5).shape
    (500, (1,))
    >>> low, high = forecast[-1].interval(0.9)
    >>> bool(low[0] < forecast[-1].mean[0] < high[0])
    True
    """

    def __init__(self, stack: Stack, x: NDArray[Any]) -> None:
        self._stack, self._x = stack, x

    def __len__(self) -> int:
        return len(self._x)

    def __getitem__(self, rows: Any) -> "Forecast":
        return Forecast(self._stack, np.atleast_2d(self._x[rows]))

    def __repr__(self) -> str:
        return f"Forecast({plural(len(self), 'row')})"

    def pdf(self, z: ArrayLike) -> Floats:
        """Density of z, in one over its unit."""
        return self._asked(DENSITY, self._scaled(_numbers(z, "z"))) / self._unit

    def cdf(self, z: ArrayLike) -> Floats:
        """Probability of values up to z."""
        return self._asked(CUMULATIVE, self._scaled(_numbers(z, "z")))

    def quantile(self, q: ArrayLike) -> Floats:
        """The z below which a share q of the probability lies; -inf for 0 and inf for 1."""
        levels = _numbers(q, "q")
        if not ((levels >= 0.0) & (levels <= 1.0)).all():
            rule = "it must be from 0 to 1: give shares of the probability, such as 0.5."
            raise ValueError(f"The 'q' is {shown(q)}; {rule}")
        return self._in_units(self._asked(QUANTILE, levels))

    def interval(self, coverage: float = 0.9) -> tuple[Floats, Floats]:
        """(m,) lower and (m,) upper ends of central intervals that hold z with a probability of `coverage`."""
        coverage = real(coverage, "coverage", above=0, below=1, remedy="try coverage=0.9", of="interval")
        low, high = self.quantile(np.array([[0.5 - coverage / 2.0], [0.5 + coverage / 2.0]]))
        return low, high

    def sample(self, n: int = 1, rng: Any = None) -> Floats:
        """(n, m) values drawn from each distribution; `rng` is a seed or a generator of numpy."""
        n, rng = integer(n, "n", most=MOST, of="sample"), generator(rng)
        shape = (n, len(self))
        return self._in_units(self._asked(DRAW, rng.random(shape), rng.normal(size=shape)))

    def probabilities(self, values: ArrayLike) -> Floats:
        """(m, k) probabilities of being nearer to each of k different values than to the others."""
        at = _numbers(values, "values")
        if at.ndim != 1 or not at.size or np.unique(at).size != at.size or not np.isfinite(at).all():
            rule = "they must be different finite numbers: give a list of them."
            raise ValueError(f"The 'values' are {shown(values)}; {rule}")
        order = np.argsort(at)
        between = 0.5 * (at[order][1:] + at[order][:-1])
        below = np.pad(self.cdf(between[:, None]), ((1, 1), (0, 0)), constant_values=((0.0, 1.0), (0.0, 0.0)))
        below[:, np.isnan(self._x).any(axis=1)] = np.nan
        p = np.empty((len(self), at.size))
        p[:, order] = np.maximum(np.diff(below, axis=0), 0.0).T
        return p

    @property
    def mean(self) -> Floats:
        """(m,) expected values."""
        return self._in_units(self._moments[:, 0])

    @property
    def std(self) -> Floats:
        """(m,) standard deviations."""
        spread: Floats = self._moments[:, 1] * self._unit
        return spread

    def log_score(self, z: ArrayLike) -> Floats:
        """log2 of the density of z, in bits: the larger, the better the forecast was."""
        score: Floats = np.log2(self.pdf(z))
        return score

    def crps(self, z: ArrayLike) -> Floats:
        """Continuous ranked probability score of (m,) values, in the unit of z: the smaller, the better.

        Twice the mean cost of 200 quantiles, where a shortage costs its level and a surplus the rest.
        """
        level = (np.arange(LEVELS)[:, None] + 0.5) / LEVELS
        values = _numbers(z, "z")
        if values.shape not in ((), (1,), (len(self),)):
            raise ValueError(f"The 'z' has shape {values.shape}; it must be one number for each of {len(self)} rows.")
        over = np.broadcast_to(values, (len(self),)) - self.quantile(level)
        # Shares are added, since the sum of large costs may be no float.
        score: Floats = 2.0 * (np.maximum(level * over, (level - 1.0) * over) / LEVELS).sum(axis=0)
        return score

    @property
    def _unit(self) -> float:
        return float(self._stack.z_scale.scale[0])

    @cached_property
    def _moments(self) -> Floats:
        none = np.empty((len(self), 0))
        return self._stack.ask(MOMENTS, self._x, none, none)

    def _scaled(self, z: Floats) -> Floats:
        scaled: Floats = (z - self._stack.z_scale.centre[0]) / self._unit
        return np.clip(scaled, -FARTHEST, FARTHEST)

    def _in_units(self, values: Floats) -> Floats:
        found: Floats = values * self._unit + self._stack.z_scale.centre[0]
        return found

    def _asked(self, what: int, at: Floats, noise: Floats | None = None) -> Floats:
        """Answers at values or levels that broadcast against the rows."""
        try:
            shape = np.broadcast_shapes(at.shape, (len(self),))
        except ValueError:
            raise ValueError(
                f"The values have shape {at.shape} and there are {len(self)} rows; values broadcast against rows: give "
                "one number, one for each row, or (k, 1) for k values at every row."
            ) from None
        columns = np.broadcast_to(at, shape).reshape(-1, len(self)).T
        missing = np.isnan(columns)
        asked = np.ascontiguousarray(np.where(missing, 0.0, columns))
        noise = np.zeros((len(self), 0)) if noise is None else np.ascontiguousarray(noise.T)
        found = np.where(missing, np.nan, self._stack.ask(what, self._x, asked, noise))
        return found.T.reshape(shape)
