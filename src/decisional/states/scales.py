"""Robust scales: what a typical difference between numbers is, however far some of them lie from the rest."""

import sys
import warnings
from types import FrameType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..support.arrays import Floats
from ..support.packing import pack, unpack_any

# Quartiles of a normal distribution are so many standard deviations apart; its mean deviation is one over the other.
QUARTILES, DEVIATION = 1.349, 1.2533
# A distance of quartiles below this share of the mean deviation says that most values are equal.
EQUAL = 0.05
# Values further than so many scales outside the quartiles count as that border.
REACH = 6.0
# Observations that tell the scale.
ASKED = 1 << 17
GOLDEN = 0.5 * (5.0**0.5 - 1.0)


class Scale(NamedTuple):
    """Location, scale and borders of columns of numbers.

    Attributes
    ----------
    centre, scale : (d,) median, and robust standard deviation, 1 where all values are equal
    low, high : (d,) the borders, `REACH` scales outside the quartiles
    """

    centre: Floats
    scale: Floats
    low: Floats
    high: Floats

    def as_json(self) -> list[Any]:
        """All of it, exactly."""
        return [pack(part) for part in self]

    @classmethod
    def from_json(cls, content: list[Any]) -> "Scale":
        """What `as_json` gave."""
        return cls(*map(unpack_any, content))

    def bound(self, values: NDArray[Any]) -> NDArray[Any]:
        """Values outside the borders moved there."""
        return np.clip(values, self.low, self.high) if self.outside(values).any() else values

    def tame(self, values: NDArray[Any]) -> Floats:
        """Values in scales from the centre, those outside the borders moved there."""
        tamed: Floats = (np.clip(values, self.low, self.high) - self.centre) / self.scale
        return tamed

    def outside(self, values: NDArray[Any]) -> NDArray[Any]:
        """(n, d) which values lie outside the borders."""
        return (values < self.low) | (values > self.high)

    def unbounded(self) -> "Scale":
        """The same without borders."""
        return self._replace(low=np.full(self.low.size, -np.inf), high=np.full(self.high.size, np.inf))

    def one(self) -> "Scale":
        """One scale for all columns, where these have one unit."""
        shared = np.full(self.scale.size, np.sqrt((self.scale**2).mean()))
        return self._replace(scale=shared)


def robust(values: NDArray[Any]) -> Scale:
    """The scale of columns (n, d): the distance of their quartiles, or where most are equal the mean deviation."""
    few = np.asarray(values[evenly(len(values), ASKED)], float)
    q = np.quantile(few, [0.02, 0.25, 0.5, 0.75, 0.98], axis=0)
    scale = (q[3] - q[1]) / QUARTILES
    deviation = np.abs(np.clip(few, q[0], q[4]) - q[2]).mean(axis=0) * DEVIATION
    scale = np.where(scale > EQUAL * deviation, scale, deviation)
    # Fewer than one in fifty may differ from the rest.
    spread = np.where(scale > 0.0, scale, np.abs(few - q[2]).mean(axis=0) * DEVIATION)
    scale = np.where(spread > 0.0, spread, 1.0)
    return Scale(q[2], scale, q[1] - REACH * scale, q[3] + REACH * scale)


def tell_outside(obs: Any, x_scale: Scale, z_scale: Scale | None) -> None:
    """Warn of values that lie far from the rest, and count as the border of it."""
    table = obs.table()
    parts = [("x", obs.points, table.weight, x_scale)]
    if z_scale is not None:
        parts.insert(0, ("z", obs.targets, np.bincount(table.outcome, table.count), z_scale))
    said, furthest = [], 0.0
    for name, values, weight, scale in parts:
        outside = scale.outside(values)
        if outside.any():
            said.append(f"{int(weight[outside.any(axis=1)].sum())} of {obs.n} {name}")
            away = np.where(outside, np.abs(values - scale.centre) / scale.scale, 0.0)
            furthest = furthest or float(values.flat[int(away.argmax())])
    if said:
        warnings.warn(
            f"Values far from the rest, such as {furthest:g}, are in {' and '.join(said)}; they count as the border, "
            f"{REACH:g} robust deviations outside the quartiles: if they stand for missing values, make them NaN (in "
            f"files missing='{furthest:g}').",
            stacklevel=_outside_package(),
        )


def _outside_package() -> int:
    """Level of the stack that called the library."""
    frame: FrameType | None = sys._getframe(1)
    level = 1
    while frame is not None and frame.f_globals.get("__name__", "").split(".")[0] == __name__.split(".")[0]:
        frame = frame.f_back
        level += 1
    return level


def lattice(values: NDArray[Any]) -> float:
    """Distance of rounded values (n,), 0 where most of them differ."""
    different = np.unique(values)
    if different.size < 2 or different.size >= values.size / 2:
        return 0.0
    return float(np.median(np.diff(different)))


def scattered(site: NDArray[Any], most: int) -> NDArray[np.int64]:
    """At most so many of the observations at some sites (n,): those that come first in a fixed order of sites.

    Multiples of the golden ratio modulo 1 fill the sites evenly, and what is missing here or there changes no more than
    itself.
    """
    if site.size <= most:
        return np.arange(site.size)
    order = np.argsort(np.mod(site * GOLDEN, 1.0), kind="stable")
    return np.sort(order[:most])


def evenly(n: int, most: int) -> NDArray[np.int64]:
    """At most so many of n places, evenly spaced."""
    return np.unique(np.linspace(0, n - 1, min(n, most)).astype(np.int64))
