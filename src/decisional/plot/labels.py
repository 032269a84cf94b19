"""Sizes and places of the labels on the edges."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from .diagrams import Edge, crowded
from .geometry import Floats, directions, join, left, length

__all__ = ["FONT", "LEADING", "extent", "place_labels"]

FONT, LEADING = 0.17, 1.1  # height of the text in layout units, and of a line of text in fonts


@lru_cache(maxsize=4096)
def extent(text: str) -> Floats:
    """Return width and height of some lines of text, without needing a renderer."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    lines = text.split("\n")
    font = FontProperties(size=100)
    widths = [text_to_path.get_text_width_height_descent(line, font, ismath=False)[0] for line in lines]
    return FONT * np.array([max(widths) / 100, LEADING * len(lines)])


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
