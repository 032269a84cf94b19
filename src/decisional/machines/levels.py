"""Levels: what the symbols of a machine look like in a signal."""

from typing import Any, NamedTuple

import numpy as np

from .._kernels import level_walks
from ..support.arrays import Floats

# Share of values that are like none before: one odd value tells nothing about the state.
BACKGROUND = 1e-3
# Values that stand for a level, at its quantiles.
POINTS = 32


class Levels(NamedTuple):
    """Normal levels of the symbols of a machine, in increasing order.

    Attributes
    ----------
    mean, spread : (n_symbols,) of the values of each symbol
    centre, scale : of all values: those many scales away from the centre belong to no level
    """

    mean: Floats
    spread: Floats
    centre: float
    scale: float

    def densities(self, values: Floats) -> tuple[Floats, Floats]:
        """(n, n_symbols) density of each value under each symbol, and the part of it that is the level's own.

        In scales, so that the densities of a signal and of the same one in other units are the same; a missing value,
        NaN, is as likely under all symbols.
        """
        like, own = np.empty((2, values.size, self.mean.size))
        mean, spread = (self.mean - self.centre) / self.scale, self.spread / self.scale
        level_walks.densities((values - self.centre) / self.scale, mean, spread, BACKGROUND, like, own)
        return like, own

    def points(self) -> Floats:
        """(n_symbols, m) values that are as likely, each, for every symbol."""
        from scipy.special import ndtri

        step = ndtri((np.arange(POINTS) + 0.5) / POINTS)
        found: Floats = self.mean[:, None] + self.spread[:, None] * step
        return found

    def as_json(self) -> dict[str, Any]:
        """All numbers, as JSON has them."""
        return {name: np.asarray(value).tolist() for name, value in self._asdict().items()}

    @classmethod
    def from_json(cls, content: Any, n: int) -> "Levels":
        """The levels of n symbols again; ValueError where they cannot be."""
        if not isinstance(content, dict) or set(content) != set(cls._fields):
            raise ValueError("the 'levels' have other names")
        mean, spread = np.array(content["mean"], float), np.array(content["spread"], float)
        found = cls(mean, spread, float(content["centre"]), float(content["scale"]))
        numbers = np.concatenate([found.mean.ravel(), found.spread.ravel(), [found.centre, found.scale]])
        right = found.mean.shape == found.spread.shape == (n,) and np.isfinite(numbers).all()
        if not right or min(*found.spread, found.scale) <= 0.0 or (np.diff(found.mean) < 0.0).any():
            raise ValueError("the 'levels' are not increasing numbers with spreads, one for each symbol")
        return found
