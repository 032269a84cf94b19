"""The cells of light cones, as offsets from the present cell."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product

import numpy as np

from ..support.arrays import Ints

__all__ = ["BOUNDARIES", "LightCone", "NEIGHBOURHOODS", "TRANSITIONS", "boundary_index", "light_cone"]

BOUNDARIES = ("periodic", "open", "reflect")
NEIGHBOURHOODS = ("moore", "von_neumann")
TRANSITIONS = (None, "time", "space")

Offset = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class LightCone:
    """Offsets of the past and the future cone on a grid of time and three space axes.

    Attributes
    ----------
    past : (n_past, 4) cells of x, most recent row first, each row in the order of the array; counted from the
        corner of the smallest box that holds both cones, so never negative
    future : (n_future, 4) cells of z, the earliest row first
    before, after : rows of the box before and after the present one
    reach : (3,) cells of the box on each side of the present one, 0 along axes the data lack
    new : (n_new,) places in `past` of the cells that are not in the cone one step before, or None
    """

    past: Ints
    future: Ints
    before: int
    after: int
    reach: tuple[int, ...]
    new: Ints | None


def light_cone(
    past: int,
    future: int,
    speed: int,
    axes: int,
    neighbourhood: str,
    include_present: bool,
    past_row_only: bool,
    transitions: str | None,
) -> LightCone:
    """Cones of `past` rows up to the present one and of the rows that follow it within `future` rows of it."""
    back = range(past - 1 if past_row_only else 0, past)
    x = _cells(((-k, speed * k) for k in back), axes, neighbourhood)
    z = _cells(((k, speed * k) for k in range(0 if include_present else 1, future)), axes, neighbourhood)
    reach = speed * (max(past, future) - 1)
    sides = (*(0,) * (3 - axes), *(reach,) * axes)
    corner = np.array([past - 1, *sides])
    step = {None: None, "time": (1, 0, 0, 0), "space": (0, 0, 0, 1)}[transitions]
    new = None
    if step is not None:
        known = set(x)
        new = np.array([k for k, cell in enumerate(x) if _moved(cell, step) not in known], np.int64)
    return LightCone(np.array(x) + corner, np.array(z) + corner, past - 1, future - 1, sides, new)


def _cells(rows: Iterable[tuple[int, int]], axes: int, neighbourhood: str) -> list[Offset]:
    """Cells of each row (time, radius), within that distance of the present cell."""
    found = []
    for time, radius in rows:
        for cell in product(range(-radius, radius + 1), repeat=axes):
            if neighbourhood == "moore" or sum(map(abs, cell)) <= radius:
                found.append((time, *(0,) * (3 - axes), *cell))
    return found


def _moved(cell: Offset, step: Offset) -> Offset:
    """A cell of the cone at the end of a step, as seen from its beginning."""
    return tuple(c + s for c, s in zip(cell, step, strict=True))


def boundary_index(size: int, reach: int, boundary: str) -> Ints:
    """Which cells of an axis stand at -reach ... size + reach - 1; with open boundaries at 0 ... size - 1."""
    if boundary == "open":
        return np.arange(size)
    beyond = np.arange(-reach, size + reach)
    if boundary == "periodic":
        return beyond % size
    return np.where(beyond < size, np.abs(beyond), 2 * (size - 1) - beyond)
