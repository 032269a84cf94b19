"""Points, vectors and boxes in the plane: arrays of points have x and y on their last axis."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike

from ..support.arrays import Bools, Floats


def length(vectors: Floats) -> Floats:
    """Return the length of each vector."""
    return np.asarray(np.hypot(vectors[..., 0], vectors[..., 1]))


def distances(a: Floats, b: Floats) -> Floats:
    """Return the distance from every point of a to every point of b."""
    return length(a[:, None] - b)


def directions(angles: ArrayLike) -> Floats:
    """Return the unit vector of each angle."""
    return np.stack([np.cos(angles), np.sin(angles)], axis=-1)


def left(vector: Floats) -> Floats:
    """Return one vector turned a quarter to the left."""
    return np.array([-vector[1], vector[0]])


def side(a: Floats, b: Floats, c: Floats) -> Floats:
    """Return a number that is positive where c lies to the left of the way from a to b."""
    u, v = b - a, c - a
    return np.asarray(u[..., 0] * v[..., 1] - u[..., 1] * v[..., 0])


def join(parts: Iterable[Floats]) -> Floats:
    """Return the points of all parts, of which there may be none."""
    return np.concatenate([np.zeros((0, 2)), *parts])


def within(points: Floats, corners: Floats) -> Bools:
    """Whether each point (..., 2) lies in each box (n, 2, 2), lower left and upper right corners: shape (n, ...)."""
    shape = (len(corners), *(1,) * (points.ndim - 1), 2)
    low, high = corners[:, 0].reshape(shape), corners[:, 1].reshape(shape)
    return np.asarray(((points > low) & (points < high)).all(axis=-1))


def outlines(corners: Floats, step: float) -> list[Floats]:
    """Return points, about a step apart, along the sides of boxes (n, 2, 2)."""
    parts = []
    for low, high in corners:
        along, up = (np.linspace(a, b, 2 + int((b - a) / step)) for a, b in zip(low, high, strict=True))
        parts += [np.stack([along, np.full_like(along, y)], axis=1) for y in (low[1], high[1])]
        parts += [np.stack([np.full_like(up, x), up], axis=1) for x in (low[0], high[0])]
    return parts
