"""Positions of the states: recurrent ones inside, transient ones around them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from .diagrams import MAX_STATES, Edge
from .geometry import Floats, Ints, directions, distances, length, side
from .states import States

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["GAIN", "SPACING", "core", "cost_of", "layout", "links"]

SPACING = 1.75  # distance between neighbouring states
GAIN = 1e-9  # a smaller improvement is rounding

Cost = Callable[[Floats], float]


def layout(states: States, edges: Sequence[Edge]) -> Floats:
    """Return the positions of the states, shape (n_states, 2): transient ones near where they lead."""
    recurrent, transient = np.flatnonzero(states.recurrent), np.flatnonzero(~states.recurrent)
    pairs = links(edge.ends for edge in edges)
    inner = pairs[np.isin(pairs, recurrent).all(axis=1)]
    xy = np.zeros((len(states), 2))
    xy[recurrent] = core(len(recurrent), np.searchsorted(recurrent, inner))
    if len(transient):
        _surround(states, edges, xy)
        if len(xy) <= MAX_STATES:
            xy = _descend_moves(xy, cost_of(pairs), transient)
    return xy


def links(ends: Iterable[tuple[int, int]]) -> Ints:
    """Return the distinct pairs of different states, in order."""
    return np.array(sorted({pair for pair in ends if pair[0] != pair[1]}), dtype=int).reshape(-1, 2)


def core(n: int, pairs: Ints) -> Floats:
    """Place states on a circle, or freely if this is clearly better."""
    xy = _circle(n)
    if n <= 2 or n > MAX_STATES:
        return xy
    cost = cost_of(pairs)
    _descend_swaps(xy, cost)
    if n <= 4:
        return xy
    free = _descend_moves(_stress(xy, pairs), cost, np.arange(n))
    return free if cost(free) < 0.85 * cost(xy) else xy


def _circle(n: int) -> Floats:
    if n <= 1:
        return np.zeros((n, 2))
    reach = SPACING / 2 / np.sin(np.pi / n)
    # Two states lie side by side, more start from the top.
    first = np.pi if n == 2 else np.pi / 2
    return np.asarray(reach * directions(first - 2 * np.pi * np.arange(n) / n))


def cost_of(pairs: Ints) -> Cost:
    """Return what makes a drawing hard to read: crossings, long edges, edges over states, crowded states."""
    # Only edges that share no state can cross.
    apart: NDArray[np.bool_] = ~(pairs[:, None, :, None] == pairs[None, :, None, :]).any(axis=(2, 3))

    def cost(xy: Floats) -> float:
        a, b = xy[pairs[:, 0]], xy[pairs[:, 1]]
        sides = side(a[:, None], b[:, None], a) * side(a[:, None], b[:, None], b)
        crossings = np.count_nonzero((sides < 0) & (sides.T < 0) & apart) / 2
        along = b - a
        squared = np.maximum((along**2).sum(1), 1e-12)
        t = np.clip(((xy[:, None] - a) * along).sum(2) / squared, 0, 1)
        gap = length(xy[:, None] - a - t[..., None] * along)
        np.put_along_axis(gap, pairs.T, np.inf, axis=0)
        over = np.clip(1 - gap / (0.5 * SPACING), 0, None).sum()
        between = distances(xy, xy) + 10 * SPACING * np.eye(len(xy))
        crowding = np.clip(1 - between / SPACING, 0, None).sum()
        long = np.sqrt(squared) / SPACING
        return float(crossings + 4 * over + 6 * crowding + 0.5 * long.sum() + 0.1 * (long**2).sum())

    return cost


def _descend_swaps(xy: Floats, cost: Cost) -> None:
    """Exchange two states at a time, in place, as long as the drawing gets better."""
    best = cost(xy)
    for _ in range(6):
        before = best
        for pair in combinations(range(len(xy)), 2):
            one, other = list(pair), list(pair[::-1])
            xy[one] = xy[other]
            new = cost(xy)
            if new < best - GAIN:
                best = new
            else:
                xy[one] = xy[other]
        if best == before:
            break


def _descend_moves(xy: Floats, cost: Cost, movable: Ints) -> Floats:
    """Move one state at a time, in smaller and smaller steps, as long as the drawing gets better."""
    best = cost(xy)
    compass = directions(2 * np.pi * np.arange(8) / 8)
    for step in SPACING * np.repeat(0.5 ** np.arange(-0.5, 6.0), 3):
        for i in movable:
            for move in step * compass:
                xy[i] += move
                new = cost(xy)
                if new < best - GAIN:
                    best = new
                else:
                    xy[i] -= move
    return np.asarray(xy - (xy.max(0) + xy.min(0)) / 2)


def _stress(xy: Floats, pairs: Ints) -> Floats:
    """Return distances on the page as close as possible to distances in the graph (stress majorisation)."""
    n = len(xy)
    hops = np.full((n, n), float(n))
    hops[pairs[:, 0], pairs[:, 1]] = hops[pairs[:, 1], pairs[:, 0]] = 1.0
    np.fill_diagonal(hops, 0.0)
    for k in range(n):
        hops = np.minimum(hops, hops[:, k, None] + hops[k])
    ideal = SPACING * np.minimum(hops, np.sqrt(n))
    weight = 1.0 / (ideal**2 + np.eye(n)) * (1 - np.eye(n))
    for _ in range(100):
        difference = xy[:, None] - xy
        pull = xy + difference * (ideal / np.maximum(length(difference), 1e-9))[..., None]
        xy = (weight[..., None] * pull).sum(1) / weight.sum(1)[:, None]
    return xy


def _surround(states: States, edges: Sequence[Edge], xy: Floats) -> None:
    """Place transient states on rings outside, level by level, each close to its likeliest target."""
    placed = states.recurrent.copy()
    reach = length(xy[placed]).max(initial=0.0)
    while not placed.all():
        reach += SPACING
        waiting = np.flatnonzero(~placed).tolist()
        targets = ((state, _likeliest_target(edges, state, placed)) for state in waiting)
        wanted = sorted((_heading(xy[target]), state) for state, target in targets if target is not None)
        if not wanted:
            wanted = [(np.pi, state) for state in waiting]
        angles, ring = np.array([angle for angle, _ in wanted]), [state for _, state in wanted]
        gap = min(SPACING / reach, 2 * np.pi / len(ring))
        xy[ring] = reach * directions(_spread(angles, gap))
        placed[ring] = True


def _likeliest_target(edges: Sequence[Edge], state: int, placed: NDArray[np.bool_]) -> int | None:
    choices = [(-edge.p, edge.target) for edge in edges if edge.source == state and placed[edge.target]]
    return min(choices)[1] if choices else None


def _heading(point: Floats) -> float:
    """Return the angle under which a point is seen; from the centre one looks to the left."""
    return float(np.arctan2(point[1], point[0])) if point.any() else np.pi


def _spread(angles: Floats, gap: float) -> Floats:
    """Return the angles moved as little as needed to be a gap apart all around the circle."""
    for _ in range(200):
        after = np.append(angles[1:], angles[0] + 2 * np.pi) - angles
        push = np.clip(gap - after, 0, None) / 2
        angles = angles + (np.roll(push, 1) - push)
    return angles
