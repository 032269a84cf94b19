"""The curves and arrow heads of edges, around states and other edges, and the places of their labels."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence

import numpy as np

from ..support.arrays import Floats
from .diagrams import Edge, crowded, directions, distances, extent, join, left, length, side

Toll = Callable[[Edge, Floats], float]

HEAD = 0.15  # length of an arrow head
BENDS = (0.1, -0.1, 0.0, 0.22, -0.22, 0.36, -0.36, 0.5, -0.5, 0.7, -0.7)  # height of an arc over its chord
PAIRED = (0.18, 0.11, 0.26, 0.36, 0.46, 0.6)  # the same for two opposite edges


def route(
    edges: Sequence[Edge], xy: Floats, radius: Floats, toll: Toll | None = None, closed: Floats | None = None
) -> None:
    """Give every edge its curve, avoiding states and other edges; then turn the loops to free places.

    A toll is an additional cost of an edge along a curve; loops avoid the points that are closed.
    """
    links = [edge for edge in edges if not edge.is_loop]
    groups: dict[tuple[int, int], list[Edge]] = defaultdict(list)
    for edge in links:
        groups[edge.ends].append(edge)
    bundles = sorted(groups.values(), key=lambda b: float(length(xy[b[0].source] - xy[b[0].target])))
    for bundle in bundles:
        for edge in bundle:
            edge.curve = _arc(edge, xy, radius, _bends(bundle)[0])
    busy = np.zeros((0, 2)) if closed is None else closed
    if not crowded(edges, len(xy)):
        for bundle in bundles:
            _bend(bundle, links, xy, radius, toll)
        busy = np.concatenate([busy, join(edge.curve for edge in links)])
    for edge in edges:
        if edge.is_loop:
            edge.curve = _loop(edge.source, xy, radius, busy)
        edge.curve, edge.head = _arrow(edge.curve)


def _bends(bundle: Sequence[Edge]) -> tuple[float, ...]:
    return BENDS if len(bundle) == 1 else PAIRED


def _bend(bundle: Sequence[Edge], links: Sequence[Edge], xy: Floats, radius: Floats, toll: Toll | None) -> None:
    """Choose the bend of an edge, or of two opposite ones: to its own left, so that these never overlap."""
    others = [edge.curve for edge in links if edge not in bundle]
    rest = np.delete(np.arange(len(xy)), bundle[0].ends)
    bends = _bends(bundle)
    best = np.inf
    for bend in bends:
        curves = [_arc(edge, xy, radius, bend) for edge in bundle]
        cost = 2 * abs(abs(bend) - bends[0]) + 8 * max(abs(bend) - 0.36, 0)
        for edge, curve in zip(bundle, curves, strict=True):
            cost += 0.0 if toll is None else toll(edge, curve)
            cost += _obstruction(curve, others, xy[rest], radius[rest]) - 0.6 * _outward(curve, xy)
        if cost < best - 1e-9:
            best = cost
            for edge, curve in zip(bundle, curves, strict=True):
                edge.curve = curve


def _arc(edge: Edge, xy: Floats, radius: Floats, bend: float) -> Floats:
    a, b = xy[edge.source], xy[edge.target]
    control = (a + b) / 2 + 2 * bend * left(b - a)
    t = np.linspace(0, 1, 161)[:, None]
    curve = (1 - t) ** 2 * a + 2 * t * (1 - t) * control + t**2 * b
    outside = length(curve - a) > radius[edge.source] + 0.01
    outside &= length(curve - b) > radius[edge.target] + 0.03
    return np.asarray(curve[outside])


def _obstruction(curve: Floats, others: Sequence[Floats], states: Floats, radius: Floats) -> float:
    """Return the cost of crossing the other curves, of running along them, and of closeness to states."""
    a, b = curve[:-12:12], curve[12::12]
    c, d = join(other[:-12:12] for other in others), join(other[12::12] for other in others)
    one = side(a[:, None], b[:, None], c) * side(a[:, None], b[:, None], d)
    two = side(c, d, a[:, None]) * side(c, d, b[:, None])
    crossings = np.count_nonzero((one < 0) & (two < 0))
    ends = join(other[[0, -1]] for other in others)
    touching = np.clip(0.2 - distances(curve[[0, -1]], ends), 0, None).sum()
    beside = np.clip(0.15 - distances(a, np.concatenate([c, (c + d) / 2])), 0, None).sum()
    gap = (distances(curve[::4], states) - radius).min(1, initial=np.inf)
    return float(crossings + 5 * touching + 4 * beside + 3 * np.clip(0.35 - gap, 0, None).sum())


def _outward(curve: Floats, xy: Floats) -> float:
    """Return how far the curve bows away from the centre of the picture, relative to its length."""
    middle = (curve[0] + curve[-1]) / 2
    away = middle - xy.mean(0)
    bow = float((curve[len(curve) // 2] - middle) @ away)
    return bow / max(float(length(away) * length(curve[-1] - curve[0])), 1e-9)


def _loop(state: int, xy: Floats, radius: Floats, busy: Floats) -> Floats:
    direction = _free_direction(state, xy, radius, busy)
    size = 0.15 + 0.25 * radius[state]
    centre = xy[state] + (radius[state] + 0.7 * size) * direction
    start = np.arctan2(-direction[1], -direction[0])
    curve = centre + size * directions(start - np.linspace(0, 2 * np.pi, 161))
    return np.asarray(curve[length(curve - xy[state]) > radius[state] + 0.02])


def _free_direction(state: int, xy: Floats, radius: Floats, busy: Floats) -> Floats:
    """Return the direction from a state with the fewest obstacles, outwards if possible."""
    away = xy[state] - (xy.max(0) + xy.min(0)) / 2
    away = away / length(away) if length(away) > 1e-6 else np.array([0.0, 1.0])
    obstacles = np.concatenate([busy, np.repeat(np.delete(xy, state, axis=0), 20, axis=0)])
    turn = np.arange(-12, 12) * np.pi / 12
    # From the smallest turn on: the first of equal costs is taken.
    heading = np.arctan2(away[1], away[0]) + turn[np.argsort(np.abs(turn), kind="stable")]
    candidates = directions(heading)
    near = np.zeros(len(candidates))
    for reach, width in ((radius[state] + 0.2, 0.28), (radius[state] + 0.6, 0.4)):
        near += np.count_nonzero(distances(xy[state] + reach * candidates, obstacles) < width, axis=1)
    return np.asarray(candidates[np.argmin(0.08 * near + 1.5 * (1 - candidates @ away))])


def _arrow(curve: Floats) -> tuple[Floats, Floats]:
    """Shorten a curve to the base of its arrow head; return it and the head."""
    tip = curve[-1]
    far = np.flatnonzero(length(curve - tip) >= HEAD)
    last = int(far[-1]) if len(far) else 0
    along = (tip - curve[last]) * (HEAD / max(float(length(tip - curve[last])), 1e-9))
    base = tip - along
    across = 0.36 * left(along)
    notch = base + 0.2 * along
    head = np.array([tip, base + across, notch, base - across])
    return np.concatenate([curve[: last + 1], notch[None]]), head


def place_labels(
    edges: Sequence[Edge],
    xy: Floats,
    radius: Floats,
    texts: Sequence[tuple[Floats, Floats]] = (),
    lines: Floats | None = None,
) -> None:
    """Put each label beside or on its edge, where it covers least.

    Other texts, given by their centres and half their sizes, and points of other lines are not to be covered either.
    """
    samples = join(edge.curve[::3] for edge in edges)
    owner = np.repeat(np.arange(len(edges)), [len(edge.curve[::3]) for edge in edges])
    heads = join(edge.head for edge in edges)
    taken = list(texts)
    # Loops and short edges have the least choice.
    order = sorted(range(len(edges)), key=lambda i: (not edges[i].is_loop, len(edges[i].curve), i))
    for i in order:
        edge, own, strangers = edges[i], samples[owner == i], samples[owner != i]
        if lines is not None:
            strangers = np.concatenate([strangers, lines])
        half = extent(edge.label) / 2 + 0.03
        candidates = _around_loop(edge, half, xy) if edge.is_loop else _along_curve(edge, half)
        if crowded(edges, len(xy)):
            candidates = candidates[:1]
        best, chosen = np.inf, candidates[0][0]
        for place, cost in candidates:
            cost += 0.15 * _inside(strangers, place, half + 0.02) + 0.02 * _inside(own, place, half)
            cost += 0.02 * _inside(strangers, place, half + 0.14)
            cost += 0.3 * _inside(heads, place, half + 0.02)
            near = np.clip(np.abs(xy - place) - half, 0, None)
            cost += 3.0 * np.count_nonzero(length(near) < radius + 0.03)
            for other, size in taken:
                overlap = np.clip(half + size + 0.08 - np.abs(place - other), 0, None)
                cost += 6.0 * float(np.prod(overlap)) / float(np.prod(2 * half))
            if cost < best - 1e-9:
                best, chosen = cost, place
        edge.place = chosen
        taken.append((chosen, half))


def _inside(points: Floats, place: Floats, half: Floats) -> int:
    return int(np.count_nonzero((np.abs(points - place) < half).all(axis=1)))


def _around_loop(edge: Edge, half: Floats, xy: Floats) -> list[tuple[Floats, float]]:
    """Return places for the label of a loop, around its tip, with their cost."""
    centre, tip = edge.curve.mean(0), edge.curve[len(edge.curve) // 2]
    away = tip - xy[edge.source]
    size = float(length(tip - centre)) + 0.03
    found = []
    for turn in (0.0, 0.2, -0.2, 0.4, -0.4, 0.7, -0.7, 1.0, -1.0):
        ray = np.arange(0.0, 4.0, 0.02)[:, None] * directions(np.arctan2(away[1], away[0]) + turn)
        clear = length(np.clip(np.abs(ray) - half, 0, None)) >= size
        found.append((centre + ray[np.argmax(clear)], 0.1 * abs(turn)))
    return found


def _along_curve(edge: Edge, half: Floats) -> list[tuple[Floats, float]]:
    """Return places for the label of an edge, on both sides and on the curve, with their cost."""
    curve = edge.curve
    bow = np.sign((curve[len(curve) // 2] - curve[0]) @ left(curve[-1] - curve[0])) or 1.0
    found = []
    for t in (0.5, 0.45, 0.55, 0.38, 0.62, 0.3, 0.7, 0.22, 0.78):
        k = int(t * (len(curve) - 1))
        along = curve[min(k + 2, len(curve) - 1)] - curve[max(k - 2, 0)]
        normal = left(along) / max(float(length(along)), 1e-9)
        for toward, extra in ((bow, 0.0), (-bow, 0.15), (0.0, 0.45)):
            shift = toward * normal
            # At this distance the box of the label just clears the line.
            clearance = float(np.abs(shift) @ half) + 0.02
            found.append((curve[k] + shift * clearance, 1.5 * abs(t - 0.5) + extra))
    return found
