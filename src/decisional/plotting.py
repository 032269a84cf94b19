"""Pictures of epsilon-machines, for papers and notebooks.

Everything is laid out in one unit of length, fonts and line widths included, and scaled once to the axes:
the same machine always gives the same picture, and the picture is the same at any size.
"""

from __future__ import annotations

import html
import io as buffers
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from . import io

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from .graphs import EpsilonMachine

__all__ = ["file_format", "machine", "machine_html", "machine_svg", "save"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int_]

# From light to dark, so that groups stay apart in grey print and for every kind of colour vision.
PALETTE = ("#fbe9a6", "#7cc8ee", "#e08b1a", "#009e73", "#bb5590", "#005a94", "#7a3300", "#222255")
HATCHES = ("", "////", "....", "xxxx")
RECURRENT, TRANSIENT, INK, LINE = "#cfe2f3", "#f6f6f6", "#1b1b1b", "#444444"

FONT, LEADING = 0.17, 1.1  # height of the text in layout units, and of a line of text in fonts
SPACING = 1.75  # distance between neighbouring states
HEAD = 0.15  # length of an arrow head
BENDS = (0.1, -0.1, 0.0, 0.22, -0.22, 0.36, -0.36, 0.5, -0.5, 0.7, -0.7)  # height of an arc over its chord
PAIRED = (0.18, 0.11, 0.26, 0.36, 0.46, 0.6)  # the same for two opposite edges
LARGEST, SMALLEST, FAINT = 0.36, 0.2, 0.17  # radii: most probable, least probable, transient
MAX_LINES = 8  # symbols written on one edge
MAX_STATES, MAX_EDGES = 30, 100  # what is laid out with care; larger machines are drawn on a circle


@dataclass(eq=False)
class _Edge:
    """All the transitions from one state to another: one curve, one label."""

    source: int
    target: int
    label: str
    curve: Floats = field(default_factory=lambda: np.zeros((0, 2)))
    head: Floats = field(default_factory=lambda: np.zeros((0, 2)))
    place: Floats = field(default_factory=lambda: np.zeros(2))


def machine(
    machine: EpsilonMachine,
    ax: Axes | None = None,
    groups: Sequence[object] | Any | None = None,
    *,
    edge_labels: bool = True,
    title: str | None = None,
) -> Axes:
    """Draw an epsilon-machine.

    States are circles whose area is their probability, down to a size that still holds a name; recurrent
    states are filled, transient ones small, pale and dashed.
    An edge labelled ``1 | 0.50`` emits the symbol 1 with probability 0.50.

    Parameters
    ----------
    machine : EpsilonMachine
        The machine to draw; it stays readable up to about 20 states.
    ax : matplotlib Axes, optional
        Where to draw; by default on a new figure, which is not registered with pyplot.
    groups : sequence of hashables, or object with ``state_groups_``, optional
        One group per state: states of the same group share a colour and an entry of the legend.
    edge_labels : bool, default True
        Whether to write the symbols and probabilities on the edges.
    title : str, optional
        Title of the axes.

    Returns
    -------
    matplotlib Axes
        The axes; its figure is ``axes.figure``, and `save` writes it to a file.
    """
    require_matplotlib()
    names = _group_names(groups, int(machine.n_states))
    radius = _radii(machine)
    edges = _edges(machine)
    xy = _layout(machine, edges)
    _route(edges, xy, radius)
    if edge_labels:
        _place_labels(edges, xy, radius)
    else:
        for edge in edges:
            edge.label = ""
    box = _bounds(edges, xy, radius)
    legend_height = 0.0 if names is None else _legend_height(names, box)
    box[0, 1] -= legend_height
    if ax is None:
        ax = _new_axes(box)
    points = _fit(ax, box)
    _draw_edges(ax, edges, points)
    _draw_states(ax, machine, xy, radius, names, points)
    if names is not None:
        _draw_legend(ax, names, box, points)
    if title is not None:
        ax.set_title(title)
    return ax


# Below, a parameter of the same name hides the function.
_draw = machine


def require_matplotlib() -> None:
    """Raise ImportError with the remedy if matplotlib is missing."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise ImportError("Plotting needs matplotlib: pip install 'decisional[plot]'.") from None


def _group_names(groups: Any, n_states: int) -> list[str] | None:
    if groups is None:
        return None
    names = [str(group) for group in getattr(groups, "state_groups_", groups)]
    if len(names) != n_states:
        raise ValueError(
            f"The 'groups' parameter must have one group for each of the {n_states} states of the machine. "
            f"Got {len(names)} groups instead."
        )
    return names


def _probability(machine: EpsilonMachine) -> Floats:
    weights = machine.stationary if machine.weights is None else machine.weights
    return np.asarray(weights, dtype=float)


def _radii(machine: EpsilonMachine) -> Floats:
    p = _probability(machine)
    recurrent = np.asarray(machine.recurrent, dtype=bool)
    top = p[recurrent].max(initial=0.0) or 1.0
    area = np.clip(LARGEST * np.sqrt(np.clip(p / top, 0.0, 1.0)), SMALLEST, LARGEST)
    return np.where(recurrent, area, FAINT)


def _number(p: float) -> str:
    """Two decimals, more where they would round to certainty or impossibility."""
    if 0 < p < 1e-6:
        return f"{p:.0e}"
    for decimals in range(2, 7):
        if round(p, decimals) not in (0.0, 1.0):
            return f"{p:.{decimals}f}"
    return f"{p:.0f}"


def _symbol(symbol: object) -> str:
    text = symbol if isinstance(symbol, str) else repr(symbol.item() if hasattr(symbol, "item") else symbol)
    return text if text.isprintable() and text.strip() else repr(text)


def _edges(machine: EpsilonMachine) -> list[_Edge]:
    stacked: dict[tuple[int, int], list[tuple[str, float]]] = {}
    for source in range(int(machine.n_states)):
        for column, symbol in enumerate(machine.alphabet):
            target = int(machine.targets[source, column])
            if target >= 0:
                entry = (_symbol(symbol), float(machine.emission[source, column]))
                stacked.setdefault((source, target), []).append(entry)
    edges = []
    for (source, target), entries in sorted(stacked.items()):
        lines = [f"{symbol} | {_number(p)}" for symbol, p in entries]
        if len(lines) > MAX_LINES:
            rest = entries[MAX_LINES - 1 :]
            lines[MAX_LINES - 1 :] = [f"{len(rest)} more | {_number(sum(p for _, p in rest))}"]
        edges.append(_Edge(source, target, "\n".join(lines)))
    return edges


# ---------------------------------------------------------------------------------------------- layout


def _layout(machine: EpsilonMachine, edges: list[_Edge]) -> Floats:
    """Positions: recurrent states inside, transient states around them near where they lead."""
    recurrent, transient = np.flatnonzero(machine.recurrent), np.flatnonzero(~np.asarray(machine.recurrent))
    xy = np.zeros((int(machine.n_states), 2))
    links = {(min(e.source, e.target), max(e.source, e.target)) for e in edges if e.source != e.target}
    pairs = np.array(sorted(links), dtype=int).reshape(-1, 2)
    inner = pairs[np.isin(pairs, recurrent).all(axis=1)]
    xy[recurrent] = _core(len(recurrent), np.searchsorted(recurrent, inner))
    if len(transient):
        _surround(machine, xy)
        if len(xy) <= MAX_STATES:
            xy = _descend_moves(xy, pairs, transient)
    return xy


def _circle(n: int) -> Floats:
    if n <= 1:
        return np.zeros((n, 2))
    reach = SPACING / 2 / np.sin(np.pi / n)
    # Two states lie side by side, more start from the top.
    angle = np.pi * (1 if n == 2 else 0.5) - 2 * np.pi * np.arange(n) / n
    return np.asarray(reach * np.column_stack([np.cos(angle), np.sin(angle)]))


def _core(n: int, pairs: Integers) -> Floats:
    xy = _circle(n)
    if n <= 2 or n > MAX_STATES:
        return xy
    xy = _descend_swaps(xy, pairs)
    if n <= 4:
        return xy
    free = _descend_moves(_stress(xy, pairs), pairs, np.arange(n))
    apart = _apart(pairs)
    return free if _cost(free, pairs, apart) < 0.85 * _cost(xy, pairs, apart) else xy


def _apart(pairs: Integers) -> NDArray[np.bool_]:
    """Which pairs of edges share no state: only these can cross."""
    return np.asarray(~(pairs[:, None, :, None] == pairs[None, :, None, :]).any(axis=(2, 3)))


def _cost(xy: Floats, pairs: Integers, apart: NDArray[np.bool_]) -> float:
    """What makes a drawing hard to read: crossings, long edges, edges over states, crowded states."""
    a, b = xy[pairs[:, 0]], xy[pairs[:, 1]]
    side = _side(a[:, None], b[:, None], a[None]) * _side(a[:, None], b[:, None], b[None])
    crossings = np.count_nonzero((side < 0) & (side.T < 0) & apart) / 2
    along = b - a
    length2 = np.maximum((along**2).sum(1), 1e-12)
    t = np.clip(((xy[:, None] - a) * along).sum(2) / length2, 0, 1)
    gap = np.hypot(*np.moveaxis(xy[:, None] - a - t[..., None] * along, 2, 0))
    np.put_along_axis(gap, pairs.T, np.inf, axis=0)
    distance = _distances(xy, xy) + 10 * SPACING * np.eye(len(xy))
    over = np.clip(1 - gap / (0.5 * SPACING), 0, None).sum()
    crowded = np.clip(1 - distance / SPACING, 0, None).sum()
    length = np.sqrt(length2) / SPACING
    return float(crossings + 4 * over + 6 * crowded + 0.5 * length.sum() + 0.1 * (length**2).sum())


def _side(a: Floats, b: Floats, c: Floats) -> Floats:
    u, v = b - a, c - a
    return np.asarray(u[..., 0] * v[..., 1] - u[..., 1] * v[..., 0])


def _descend_swaps(xy: Floats, pairs: Integers) -> Floats:
    apart = _apart(pairs)
    best = _cost(xy, pairs, apart)
    for _ in range(6):
        before = best
        for i in range(len(xy)):
            for j in range(i + 1, len(xy)):
                xy[[i, j]] = xy[[j, i]]
                cost = _cost(xy, pairs, apart)
                if cost < best - 1e-9:
                    best = cost
                else:
                    xy[[i, j]] = xy[[j, i]]
        if best >= before - 1e-9:
            break
    return xy


def _descend_moves(xy: Floats, pairs: Integers, movable: Integers) -> Floats:
    """Move one state at a time, in smaller and smaller steps, as long as the drawing gets better."""
    apart = _apart(pairs)
    best = _cost(xy, pairs, apart)
    angle = 2 * np.pi * np.arange(8) / 8
    compass = np.column_stack([np.cos(angle), np.sin(angle)])
    for step in SPACING * np.repeat(0.5 ** np.arange(-0.5, 6.0), 3):
        for i in movable:
            for move in step * compass:
                xy[i] += move
                cost = _cost(xy, pairs, apart)
                if cost < best - 1e-9:
                    best = cost
                else:
                    xy[i] -= move
    return np.asarray(xy - (xy.max(0) + xy.min(0)) / 2)


def _stress(xy: Floats, pairs: Integers) -> Floats:
    """Distances on the page as close as possible to distances in the graph (stress majorisation)."""
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
        distance = np.maximum(np.hypot(difference[..., 0], difference[..., 1]), 1e-9)
        pull = xy[None] + difference * (ideal / distance)[..., None]
        xy = (weight[..., None] * pull).sum(1) / weight.sum(1)[:, None]
    return xy


def _surround(machine: EpsilonMachine, xy: Floats) -> None:
    """Place transient states on rings outside, level by level, each close to its likeliest target."""
    placed = np.asarray(machine.recurrent, dtype=bool).copy()
    reach = np.hypot(*xy[placed].T).max(initial=0.0)
    while not placed.all():
        reach += SPACING
        wanted: dict[int, float] = {}
        for state in np.flatnonzero(~placed):
            choices = [
                (float(machine.emission[state, c]), -int(t))
                for c, t in enumerate(machine.targets[state])
                if t >= 0 and placed[t]
            ]
            if choices:
                anchor = xy[-max(choices)[1]]
                wanted[int(state)] = float(np.arctan2(anchor[1], anchor[0])) if anchor.any() else np.pi
        if not wanted:
            wanted = {int(state): np.pi for state in np.flatnonzero(~placed)}
        gap = min(SPACING / reach, 2 * np.pi / len(wanted))
        ring = sorted(wanted, key=lambda member: (wanted[member], member))
        for member, angle in zip(ring, _spread([wanted[member] for member in ring], gap), strict=True):
            xy[member] = reach * np.array([np.cos(angle), np.sin(angle)])
            placed[member] = True


def _spread(angles: list[float], gap: float) -> list[float]:
    """Angles moved as little as needed to be a gap apart all around the circle."""
    a = np.array(angles)
    for _ in range(200):
        after = np.append(a[1:], a[0] + 2 * np.pi) - a
        push = np.clip(gap - after, 0, None) / 2 if len(a) > 1 else np.zeros(1)
        a += np.roll(push, 1) - push
    return [float(angle) for angle in a]


# --------------------------------------------------------------------------------------------- routing


def _route(edges: list[_Edge], xy: Floats, radius: Floats) -> None:
    """Give every edge its curve, avoiding states and other edges; then turn the loops to free places."""
    links = [edge for edge in edges if edge.source != edge.target]
    bundles: dict[tuple[int, int], list[_Edge]] = {}
    for edge in links:
        bundles.setdefault((min(edge.source, edge.target), max(edge.source, edge.target)), []).append(edge)
    for bundle in bundles.values():
        for edge in bundle:
            edge.curve = _arc(edge, xy, radius, BENDS[0] if len(bundle) == 1 else PAIRED[0])
    busy = np.zeros((0, 2))
    if len(xy) <= MAX_STATES and len(edges) <= MAX_EDGES:
        for bundle in sorted(bundles.values(), key=lambda b: float(np.hypot(*(xy[b[0].source] - xy[b[0].target])))):
            _bend(bundle, links, xy, radius)
        busy = np.concatenate([busy, *(edge.curve for edge in links)])
    for edge in edges:
        if edge.source == edge.target:
            edge.curve = _loop(edge.source, xy, radius, busy)
        edge.curve, edge.head = _arrow(edge.curve)


def _bend(bundle: list[_Edge], links: list[_Edge], xy: Floats, radius: Floats) -> None:
    """Choose the bend of an edge, or of two opposite ones: to its own left, so that these never overlap."""
    others = [edge.curve for edge in links if edge not in bundle]
    rest = np.delete(np.arange(len(xy)), [bundle[0].source, bundle[0].target])
    bends = BENDS if len(bundle) == 1 else PAIRED
    best = np.inf
    for bend in bends:
        curves = [_arc(edge, xy, radius, bend) for edge in bundle]
        cost = 2 * abs(abs(bend) - bends[0]) + 8 * max(abs(bend) - 0.36, 0)
        for curve in curves:
            cost += _obstruction(curve, others, xy[rest], radius[rest]) - 0.6 * _outward(curve, xy)
        if cost < best - 1e-9:
            best = cost
            for edge, curve in zip(bundle, curves, strict=True):
                edge.curve = curve


def _arc(edge: _Edge, xy: Floats, radius: Floats, bend: float) -> Floats:
    a, b = xy[edge.source], xy[edge.target]
    along = b - a
    control = (a + b) / 2 + 2 * bend * np.array([-along[1], along[0]])
    t = np.linspace(0, 1, 161)[:, None]
    curve = (1 - t) ** 2 * a + 2 * t * (1 - t) * control + t**2 * b
    outside = np.hypot(*(curve - a).T) > radius[edge.source] + 0.01
    outside &= np.hypot(*(curve - b).T) > radius[edge.target] + 0.03
    return np.asarray(curve[outside])


def _obstruction(curve: Floats, others: list[Floats], states: Floats, radius: Floats) -> float:
    """Crossings with the other curves, parts that run along them, and closeness to states."""
    a, b = curve[:-12:12], curve[12::12]
    c = np.concatenate([np.zeros((0, 2)), *(other[:-12:12] for other in others)])
    d = np.concatenate([np.zeros((0, 2)), *(other[12::12] for other in others)])
    one = _side(a[:, None], b[:, None], c) * _side(a[:, None], b[:, None], d)
    two = _side(c, d, a[:, None]) * _side(c, d, b[:, None])
    crossings = np.count_nonzero((one < 0) & (two < 0))
    ends = np.concatenate([np.zeros((0, 2)), *(other[[0, -1]] for other in others)])
    touching = np.clip(0.2 - _distances(curve[[0, -1]], ends), 0, None).sum()
    beside = np.clip(0.15 - _distances(a, np.concatenate([c, (c + d) / 2])), 0, None).sum()
    gap = (_distances(curve[::4], states) - radius).min(1, initial=np.inf)
    return float(crossings + 5 * touching + 4 * beside + 3 * np.clip(0.35 - gap, 0, None).sum())


def _distances(a: Floats, b: Floats) -> Floats:
    return np.asarray(np.hypot(a[:, None, 0] - b[:, 0], a[:, None, 1] - b[:, 1]))


def _outward(curve: Floats, xy: Floats) -> float:
    """How far the curve bows away from the centre of the picture, relative to its length."""
    middle = (curve[0] + curve[-1]) / 2
    away = middle - xy.mean(0)
    bow = float((curve[len(curve) // 2] - middle) @ away)
    return bow / max(float(np.hypot(*away) * np.hypot(*(curve[-1] - curve[0]))), 1e-9)


def _loop(state: int, xy: Floats, radius: Floats, busy: Floats) -> Floats:
    away = xy[state] - (xy.max(0) + xy.min(0)) / 2
    away = away / np.hypot(*away) if np.hypot(*away) > 1e-6 else np.array([0.0, 1.0])
    obstacles = np.concatenate([busy, np.repeat(np.delete(xy, state, axis=0), 20, axis=0)])
    turn = np.arange(-12, 12) * np.pi / 12
    heading = np.arctan2(away[1], away[0]) + turn[np.argsort(np.abs(turn), kind="stable")]
    directions = np.column_stack([np.cos(heading), np.sin(heading)])
    costs = []
    for direction in directions:
        near = [
            np.count_nonzero(np.hypot(*(obstacles - xy[state] - reach * direction).T) < width)
            for reach, width in ((radius[state] + 0.2, 0.28), (radius[state] + 0.6, 0.4))
        ]
        costs.append(0.08 * sum(near) + 1.5 * (1 - float(direction @ away)))
    direction = directions[int(np.argmin(costs))]
    size = 0.15 + 0.25 * radius[state]
    start = np.arctan2(-direction[1], -direction[0])
    angle = start - np.linspace(0, 2 * np.pi, 161)
    curve = xy[state] + (radius[state] + 0.7 * size) * direction
    curve = curve + size * np.column_stack([np.cos(angle), np.sin(angle)])
    return np.asarray(curve[np.hypot(*(curve - xy[state]).T) > radius[state] + 0.02])


def _arrow(curve: Floats) -> tuple[Floats, Floats]:
    """Shorten a curve to the base of its arrow head; return it and the head."""
    tip = curve[-1]
    far = np.flatnonzero(np.hypot(*(curve - tip).T) >= HEAD)
    last = int(far[-1]) if len(far) else 0
    along = (tip - curve[last]) * (HEAD / max(float(np.hypot(*(tip - curve[last]))), 1e-9))
    base = tip - along
    across = 0.36 * np.array([-along[1], along[0]])
    notch = base + 0.2 * along
    head = np.array([tip, base + across, notch, base - across])
    return np.concatenate([curve[: last + 1], notch[None]]), head


# ---------------------------------------------------------------------------------------------- labels


@lru_cache(maxsize=4096)
def _extent(text: str, size: float = FONT) -> Floats:
    """Width and height of some lines of text, without needing a renderer."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    lines = text.split("\n")
    font = FontProperties(size=100)
    widths = [text_to_path.get_text_width_height_descent(line, font, ismath=False)[0] for line in lines]
    return size * np.array([max(widths) / 100, LEADING * len(lines)])


def _place_labels(edges: list[_Edge], xy: Floats, radius: Floats) -> None:
    """Put each label beside or on its edge, where it covers least."""
    samples = np.concatenate([np.zeros((0, 2)), *(edge.curve[::3] for edge in edges)])
    owner = np.repeat(np.arange(len(edges)), [len(edge.curve[::3]) for edge in edges])
    heads = np.concatenate([np.zeros((0, 2)), *(edge.head for edge in edges)])
    taken: list[tuple[Floats, Floats]] = []
    most = 99 if len(xy) <= MAX_STATES and len(edges) <= MAX_EDGES else 1
    order = sorted(range(len(edges)), key=lambda i: (edges[i].source != edges[i].target, len(edges[i].curve), i))
    for i in order:
        half = _extent(edges[i].label) / 2 + 0.03
        strangers, own = samples[owner != i], samples[owner == i]
        best = np.inf
        for place, cost in _candidates(edges[i], half, xy)[:most]:
            cost += 0.15 * _inside(strangers, place, half + 0.02) + 0.02 * _inside(own, place, half)
            cost += 0.02 * _inside(strangers, place, half + 0.14)
            cost += 0.3 * _inside(heads, place, half + 0.02)
            near = np.clip(np.abs(xy - place) - half, 0, None)
            cost += 3.0 * np.count_nonzero(np.hypot(*near.T) < radius + 0.03)
            for other, size in taken:
                overlap = np.clip(half + size + 0.08 - np.abs(place - other), 0, None)
                cost += 6.0 * float(np.prod(overlap)) / float(np.prod(2 * half))
            if cost < best - 1e-9:
                best, edges[i].place = cost, place
        taken.append((edges[i].place, half))


def _inside(points: Floats, place: Floats, half: Floats) -> int:
    return int(np.count_nonzero((np.abs(points - place) < half).all(axis=1)))


def _candidates(edge: _Edge, half: Floats, xy: Floats) -> list[tuple[Floats, float]]:
    """Places for a label with their cost: loops at the tip, other edges on both sides and on the curve."""
    curve = edge.curve
    if edge.source == edge.target:
        centre = curve.mean(0)
        away = curve[len(curve) // 2] - xy[edge.source]
        size = float(np.hypot(*(curve[len(curve) // 2] - centre))) + 0.03
        found = []
        for turn in (0.0, 0.2, -0.2, 0.4, -0.4, 0.7, -0.7, 1.0, -1.0):
            angle = np.arctan2(away[1], away[0]) + turn
            ray = np.arange(0.0, 4.0, 0.02)[:, None] * np.array([np.cos(angle), np.sin(angle)])
            clear = np.hypot(*np.clip(np.abs(ray) - half, 0, None).T) >= size
            found.append((centre + ray[int(np.argmax(clear))], 0.1 * abs(turn)))
        return found
    found = []
    chord = curve[-1] - curve[0]
    left = np.array([-chord[1], chord[0]])
    bow = np.sign((curve[len(curve) // 2] - curve[0]) @ left) or 1.0
    for t in (0.5, 0.45, 0.55, 0.38, 0.62, 0.3, 0.7, 0.22, 0.78):
        k = int(t * (len(curve) - 1))
        along = curve[min(k + 2, len(curve) - 1)] - curve[max(k - 2, 0)]
        normal = np.array([-along[1], along[0]]) / max(float(np.hypot(*along)), 1e-9)
        for side, extra in ((bow, 0.0), (-bow, 0.15), (0.0, 0.45)):
            shift = side * normal
            found.append((curve[k] + shift * (_support(shift, half) + 0.02), 1.5 * abs(t - 0.5) + extra))
    return found


def _support(direction: Floats, half: Floats) -> float:
    """Distance at which a box of these half sizes just clears a line across this direction."""
    return float(np.abs(direction) @ half)


# --------------------------------------------------------------------------------------------- drawing


def _bounds(edges: list[_Edge], xy: Floats, radius: Floats) -> Floats:
    low, high = [xy - radius[:, None]], [xy + radius[:, None]]
    for edge in edges:
        low += [edge.curve, edge.head]
        high += [edge.curve, edge.head]
        if edge.label:
            half = _extent(edge.label) / 2
            low.append(edge.place[None] - half)
            high.append(edge.place[None] + half)
    return np.array([np.concatenate(low).min(0) - 0.08, np.concatenate(high).max(0) + 0.08])


def _new_axes(box: Floats) -> Axes:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    inches = 0.82 * (box[1] - box[0])
    figure = Figure(figsize=tuple(inches * min(1.0, 9.0 / inches.max())))
    FigureCanvasAgg(figure)
    return figure.add_axes((0.0, 0.0, 1.0, 1.0))


def _fit(ax: Axes, box: Floats) -> float:
    """Set the limits and return the size of one unit in points."""
    ax.set_xlim(box[0, 0], box[1, 0])
    ax.set_ylim(box[0, 1], box[1, 1])
    ax.set_aspect("equal")
    ax.set_axis_off()
    figure = ax.get_figure(root=True)
    assert figure is not None
    position = ax.get_position(original=True)
    size = np.array(figure.get_size_inches()) * 72 * np.array([position.width, position.height])
    return float((size / (box[1] - box[0])).min())


def _draw_edges(ax: Axes, edges: list[_Edge], points: float) -> None:
    from matplotlib.patches import PathPatch, Polygon
    from matplotlib.path import Path as Curve
    from matplotlib.patheffects import withStroke

    for edge in edges:
        line = Curve(np.concatenate([edge.curve[:-1:4], edge.curve[-1:]]))
        loop = "loop" if edge.source == edge.target else "edge"
        ax.add_patch(PathPatch(line, fill=False, ec=LINE, lw=0.02 * points, gid=loop, clip_on=False, zorder=1))
        ax.add_patch(Polygon(edge.head, fc=LINE, ec="none", clip_on=False, zorder=2))
    for edge in edges:
        if edge.label:
            ax.text(
                float(edge.place[0]),
                float(edge.place[1]),
                edge.label,
                size=FONT * points,
                color=INK,
                ha="center",
                va="center",
                linespacing=LEADING,
                parse_math=False,
                path_effects=[withStroke(linewidth=0.09 * points, foreground="white")],
                zorder=4,
            )


def _draw_states(
    ax: Axes, machine: EpsilonMachine, xy: Floats, radius: Floats, names: list[str] | None, points: float
) -> None:
    from matplotlib.patches import Circle
    from matplotlib.patheffects import withStroke

    styles = {} if names is None else _styles(names)
    for state in range(int(machine.n_states)):
        recurrent = bool(machine.recurrent[state])
        colour, hatch = (RECURRENT if recurrent else TRANSIENT, "") if names is None else styles[names[state]]
        circle = Circle(
            tuple(xy[state]),
            radius[state],
            fc=colour,
            ec=INK if recurrent else "#666666",
            hatch=hatch,
            lw=(0.026 if recurrent else 0.02) * points,
            ls="-" if recurrent else (0, (3, 2)),
            gid="recurrent" if recurrent else "transient",
            clip_on=False,
            zorder=3,
        )
        ax.add_patch(circle)
        name = str(machine.names[state])
        size = FONT * 1.1 * min(1.0, 1.6 * radius[state] / float(_extent(name, 1.1 * FONT)[0] + 1e-9))
        ink = "white" if _luminance(colour) < 0.3 else INK
        ax.text(
            float(xy[state, 0]),
            float(xy[state, 1]),
            name,
            size=size * points,
            color=ink,
            ha="center",
            va="center_baseline",
            path_effects=[withStroke(linewidth=0.1 * points, foreground=colour)],
            parse_math=False,
            zorder=5,
        )


def _luminance(colour: str) -> float:
    from matplotlib.colors import to_rgb

    return float(np.array([0.2126, 0.7152, 0.0722]) @ np.array(to_rgb(colour)) ** 2.2)


def _styles(names: list[str]) -> dict[str, tuple[str, str]]:
    k = len(PALETTE)
    return {name: (PALETTE[i % k], HATCHES[i // k % len(HATCHES)]) for i, name in enumerate(dict.fromkeys(names))}


def _legend_columns(names: list[str], box: Floats) -> int:
    widest = max(float(_extent(name)[0]) for name in names) + 4.5 * FONT
    return max(1, min(len(set(names)), int((box[1, 0] - box[0, 0]) / widest)))


def _legend_height(names: list[str], box: Floats) -> float:
    rows = -(-len(set(names)) // _legend_columns(names, box))
    return 1.5 * FONT * rows + 2 * FONT


def _draw_legend(ax: Axes, names: list[str], box: Floats, points: float) -> None:
    from matplotlib.patches import Patch

    entries = [
        Patch(
            fc=colour,
            ec=INK,
            hatch=hatch,
            lw=0.015 * points,
            label=f" {name}" if name.startswith("_") else name,
        )
        # Matplotlib leaves out labels that begin with an underscore.
        for name, (colour, hatch) in _styles(names).items()
    ]
    legend = ax.legend(
        handles=entries,
        loc="lower center",
        bbox_to_anchor=((box[0, 0] + box[1, 0]) / 2, box[0, 1]),
        bbox_transform=ax.transData,
        ncols=_legend_columns(names, box),
        fontsize=FONT * points,
        frameon=False,
        borderaxespad=0.3,
    )
    for text in legend.get_texts():
        text.set_parse_math(False)


# ------------------------------------------------------------------------------------ files, notebooks


def save(figure: Figure | Axes, path: str | os.PathLike[str]) -> None:
    """Write a picture to a file, all at once; the suffix of the path gives the format.

    Parameters
    ----------
    figure : matplotlib Figure or Axes
        What to save; for axes, their whole figure.
    path : str or path
        A path ending in ``.png``, ``.svg`` or ``.pdf``.
    """
    io.write_bytes(path, _render(figure, file_format(path)))


def file_format(path: str | os.PathLike[str]) -> str:
    """Return the format that the suffix of a path stands for, or refuse it.

    Examples
    --------
    >>> file_format("machine.PDF")
    'pdf'
    """
    suffix = Path(path).suffix.lower().removeprefix(".")
    if suffix not in ("png", "svg", "pdf"):
        raise ValueError(f"The 'path' of a picture must end in .png, .svg or .pdf. Got {str(path)!r} instead.")
    return suffix


def _render(figure: Figure | Axes, suffix: str) -> bytes:
    import matplotlib
    from matplotlib.figure import Figure

    whole = figure if isinstance(figure, Figure) else figure.get_figure(root=True)
    assert whole is not None
    # No dates and no random identifiers: the same machine gives the same bytes.
    metadata: dict[str, Any] = {"png": {}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}[suffix]
    data = buffers.BytesIO()
    with matplotlib.rc_context({"svg.hashsalt": "decisional"}):
        whole.savefig(data, format=suffix, dpi=200, bbox_inches="tight", pad_inches=0.02, metadata=metadata)
    return data.getvalue()


def machine_svg(machine: EpsilonMachine, groups: Sequence[object] | Any | None = None) -> str:
    """Draw an epsilon-machine as SVG text.

    Parameters
    ----------
    machine : EpsilonMachine
        The machine to draw.
    groups : sequence of hashables, or object with ``state_groups_``, optional
        As in `decisional.plot.machine`.

    Returns
    -------
    str
        A complete SVG document.
    """
    return _render(_draw(machine, groups=groups), "svg").decode("utf-8")


def machine_html(machine: EpsilonMachine) -> str:
    """Show an epsilon-machine in a notebook: its picture and a table of its states.

    Parameters
    ----------
    machine : EpsilonMachine
        The machine to show; beyond 30 states there is no picture, and the table is cut.

    Returns
    -------
    str
        HTML. Without matplotlib it is the table alone.
    """
    picture = ""
    if machine.n_states <= MAX_STATES:
        try:
            svg = machine_svg(machine)
            picture = f'<div style="max-width: 40em">{svg[svg.index("<svg") :]}</div>'
        except ImportError:
            pass
    symbols = list(machine.alphabet)[:8]
    head = ["state", "probability", *(f"P({_symbol(symbol)})" for symbol in symbols)]
    probability = _probability(machine)
    rows = []
    for state in range(min(int(machine.n_states), MAX_STATES)):
        name = f"{machine.names[state]}" + ("" if machine.recurrent[state] else " (transient)")
        cells = [f"{p:.4f}" for p in (probability[state], *machine.emission[state, : len(symbols)])]
        rows.append([name, *cells])
    note = f"{machine.n_states} states, C = {machine.statistical_complexity():.4f} bits, "
    note += f"h = {machine.entropy_rate():.4f} bits per symbol"
    if machine.n_states > MAX_STATES:
        note += f"; the first {MAX_STATES} are listed"
    return f"<div>{picture}{_table(head, rows, note)}</div>"


def _table(head: list[str], rows: list[list[str]], caption: str) -> str:
    def row(tag: str, cells: list[str]) -> str:
        return "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells) + "</tr>"

    body = "".join(row("td", cells) for cells in rows)
    caption = f"<caption>{html.escape(caption)}</caption>"
    return f"<table>{caption}<thead>{row('th', head)}</thead><tbody>{body}</tbody></table>"
