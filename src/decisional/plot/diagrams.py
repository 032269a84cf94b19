"""Diagrams: circles of states, the curves of edges around them, the places of their labels, and their artists.

Everything is measured in one unit of length, text included.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np

from ..support.arrays import Bools, Floats
from .figures import INK, LINE, figure_of, fill, legend, new_figure, require_axes, tint
from .plane import directions, distances, join, left, length, outlines, side, within
from .wording import probability_text, symbol_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..machines import EpsilonMachine, TransitionGraph

MAX_LINES = 8  # symbols written on one edge
MAX_STATES, MAX_EDGES = 30, 100  # what is laid out with care; larger machines are drawn on a circle
LARGEST, SMALLEST, FAINT = 0.36, 0.2, 0.17  # radii: most probable, least probable, transient
SMALL = 0.9  # captions, in fonts
FONT, LEADING = 0.17, 1.1  # height of the text in layout units, and of a line of text in fonts
MARGIN = 0.08  # free space around the picture
HEAD = 0.15  # length of an arrow head
BENDS = (0.1, -0.1, 0.0, 0.22, -0.22, 0.36, -0.36, 0.5, -0.5, 0.7, -0.7)  # height of an arc over its chord
PAIRED = (0.18, 0.11, 0.26, 0.36, 0.46, 0.6)  # the same for two opposite edges
FINE = 0.05, -0.05, 0.16, -0.16, 0.29, -0.29, 0.43, -0.43, 0.6, -0.6  # between these, where there is little room


class Edge:
    """All the transitions from one state to another, which share one curve and one label.

    Attributes
    ----------
    source, target : numbers of the two states
    label : one line of text per symbol
    p : probability of going from one to the other
    curve, head : points of the line and corners of the arrow head, once routed
    place : centre of the label, once placed
    """

    curve: Floats
    head: Floats
    place: Floats | None = None

    def __init__(self, source: int, target: int, label: str, p: float) -> None:
        self.source, self.target, self.label, self.p = source, target, label, p
        self.is_loop = source == target
        # The same for an edge and its opposite.
        self.ends = min(source, target), max(source, target)

    @property
    def label_box(self) -> Floats:
        """The lower left and upper right corners of the label, once it is placed."""
        assert self.place is not None
        half = extent(self.label) / 2
        return np.array([self.place - half, self.place + half])

    @property
    def points(self) -> Floats:
        """Points of the curve and its head, and the corners of the label."""
        return join([self.curve, self.head, *([] if self.place is None else [self.label_box])])


class Diagram:
    """States and edges of a picture.

    Parameters
    ----------
    names : of the states
    p : (n,) probabilities of the states
    recurrent : (n,) whether each state comes back for ever
    edges : ordered by source and target

    Attributes
    ----------
    radius : (n,) of circles whose area is probability, down to a size that still holds a name
    xy : (n, 2) their centres, once laid out
    """

    def __init__(self, names: Iterable[Any], p: Floats, recurrent: Bools, edges: Sequence[Edge] = ()) -> None:
        self.names, self.recurrent, self.edges = list(map(str, names)), recurrent, edges
        top = p[recurrent].max(initial=0.0) or 1.0
        self.radius = np.where(recurrent, np.clip(LARGEST * np.sqrt(p / top), SMALLEST, LARGEST), FAINT)
        self.xy: Floats = np.zeros((len(p), 2))
        # Too large to look for the best curves and places of labels.
        self.crowded = len(p) > MAX_STATES or len(edges) > MAX_EDGES

    def caption(self) -> str:
        """How to read a label, by one of those that are there, and how transient states."""
        found = [edge.label.split("\n")[0] for edge in self.edges]
        # One that is not certain is told apart best from its symbol.
        example = next((label for label in found if not label.endswith("| 1")), found[0] if found else "")
        symbol, _, p = example.rpartition(" | ")
        parts = [f"{example}: the next symbol is {symbol}, with probability {p}"] if symbol else []
        if found and not symbol:
            parts = [f"{example}: the probability of going there"]
        return ";\n".join(parts + ([] if self.recurrent.all() else ["dashed: left for good"]))

    def page(self) -> Floats:
        """Return the lower left and upper right corners of states, edges and labels, with a margin."""
        reach = self.radius[:, None]
        points = join([self.xy - reach, self.xy + reach, *(edge.points for edge in self.edges)])
        return np.array([points.min(0) - MARGIN, points.max(0) + MARGIN])


def probabilities(machine: EpsilonMachine) -> Floats:
    """Return the observed probabilities of the states, or the stationary ones of an exact machine."""
    return machine.stationary if machine.weights is None else machine.weights


def machine_diagram(machine: EpsilonMachine, self_loops: bool = True) -> Diagram:
    """Return the states and edges of a machine; labels have a line for each symbol."""
    found: dict[tuple[int, int], list[tuple[str, float]]] = defaultdict(list)
    for source, column in np.argwhere(machine.targets >= 0).tolist():
        entry = symbol_text(machine.alphabet[column]), float(machine.emission[source, column])
        found[source, int(machine.targets[source, column])].append(entry)
    edges = [Edge(*ends, _label(entries), sum(p for _, p in entries)) for ends, entries in sorted(found.items())]
    edges = [edge for edge in edges if self_loops or not edge.is_loop]
    # An arrow marks the state in which whole strings begin, to which their ends lead.
    names = [f"\N{RIGHTWARDS ARROW}{name}" if k == machine.start else name for k, name in enumerate(machine.names)]
    return Diagram(names, probabilities(machine), machine.recurrent, edges)


def _label(entries: Sequence[tuple[str, float]]) -> str:
    lines = [f"{symbol} | {probability_text(p)}" for symbol, p in entries]
    if len(lines) > MAX_LINES:
        rest = [p for _, p in entries[MAX_LINES - 1 :]]
        lines[MAX_LINES - 1 :] = [f"{len(rest)} more | {probability_text(sum(rest))}"]
    return "\n".join(lines)


def graph_diagram(graph: TransitionGraph, self_loops: bool = True) -> Diagram:
    """Return the states and edges of a transition graph; labels are probabilities alone."""
    matrix = graph.matrix.tocoo()
    found = sorted(zip(matrix.row.tolist(), matrix.col.tolist(), matrix.data.tolist(), strict=True))
    edges = [Edge(i, j, probability_text(p), p) for i, j, p in found if self_loops or i != j]
    return Diagram(graph.names, graph.stationary if graph.weight is None else graph.weight, graph.recurrent, edges)


Toll = Callable[[Edge, Floats], float]


def route(diagram: Diagram, toll: Toll | None = None, closed: Iterable[Floats] = ()) -> None:
    """Give every edge its curve, avoiding states and other edges; then turn the loops to free places.

    A toll is an additional cost of an edge along a curve; loops avoid the points that are closed.
    """
    links = [edge for edge in diagram.edges if not edge.is_loop]
    groups: dict[tuple[int, int], list[Edge]] = defaultdict(list)
    for edge in links:
        groups[edge.ends].append(edge)
    bundles = sorted(groups.values(), key=lambda b: float(length(diagram.xy[b[0].source] - diagram.xy[b[0].target])))
    for edge in links:
        edge.curve = _arc(edge, diagram, _bends(groups[edge.ends])[0])
    if not diagram.crowded:
        for bundle in bundles:
            _bend(bundle, links, diagram, toll)
        closed = [*closed, *(edge.curve for edge in links)]
    busy = join(closed)
    for edge in diagram.edges:
        if edge.is_loop:
            edge.curve = _loop(edge.source, diagram, busy)
        edge.curve, edge.head = _arrow(edge.curve)


def _bends(bundle: Sequence[Edge]) -> tuple[float, ...]:
    return BENDS if len(bundle) == 1 else PAIRED


def _bend(
    bundle: Sequence[Edge],
    links: Sequence[Edge],
    diagram: Diagram,
    toll: Toll | None,
    more: tuple[float, ...] = (),
) -> None:
    """Choose the bend of an edge, or of two opposite ones: to its own left, so that these never overlap."""
    others = [edge.curve for edge in links if edge not in bundle]
    xy, radius = (np.delete(values, bundle[0].ends, axis=0) for values in (diagram.xy, diagram.radius))
    bends = _bends(bundle)
    best = np.inf
    for bend in (*bends, *more):
        curves = [_arc(edge, diagram, bend) for edge in bundle]
        cost = 2 * abs(abs(bend) - bends[0]) + 8 * max(abs(bend) - 0.36, 0)
        for edge, curve in zip(bundle, curves, strict=True):
            cost += 0.0 if toll is None else toll(edge, curve)
            cost += _burden(curve, others, xy, radius, diagram.xy.mean(0))
        if cost < best - 1e-9:
            best = cost
            for edge, curve in zip(bundle, curves, strict=True):
                edge.curve = curve


def _arc(edge: Edge, diagram: Diagram, bend: float) -> Floats:
    a, b = diagram.xy[edge.source], diagram.xy[edge.target]
    control = (a + b) / 2 + 2 * bend * left(b - a)
    t = np.linspace(0, 1, 161)[:, None]
    curve = (1 - t) ** 2 * a + 2 * t * (1 - t) * control + t**2 * b
    outside = length(curve - a) > diagram.radius[edge.source] + 0.01
    outside &= length(curve - b) > diagram.radius[edge.target] + 0.03
    return np.asarray(curve[outside])


def _burden(curve: Floats, others: Sequence[Floats], states: Floats, radius: Floats, centre: Floats) -> float:
    """Return the cost of crossing other curves, running along them, being close to states, and not bowing outwards."""
    a, b = curve[:-12:12], curve[12::12]
    c, d = join(other[:-12:12] for other in others), join(other[12::12] for other in others)
    one = side(a[:, None], b[:, None], c) * side(a[:, None], b[:, None], d)
    two = side(c, d, a[:, None]) * side(c, d, b[:, None])
    crossings = np.count_nonzero((one < 0) & (two < 0))
    ends = join(other[[0, -1]] for other in others)
    touching = np.clip(0.2 - distances(curve[[0, -1]], ends), 0, None).sum()
    beside = np.clip(0.15 - distances(a, np.concatenate([c, (c + d) / 2])), 0, None).sum()
    gap = (distances(curve[::4], states) - radius).min(1, initial=np.inf)
    cost = float(crossings + 5 * touching + 4 * beside + 3 * np.clip(0.35 - gap, 0, None).sum())
    middle = (curve[0] + curve[-1]) / 2
    bow = float((curve[len(curve) // 2] - middle) @ (middle - centre))
    return cost - 0.6 * (bow / max(float(length(middle - centre) * length(curve[-1] - curve[0])), 1e-9))


def _loop(state: int, diagram: Diagram, busy: Floats) -> Floats:
    """Return a circle beside a state, in the direction with the fewest obstacles, outwards if possible."""
    centre, radius = diagram.xy[state], diagram.radius[state]
    away = centre - (diagram.xy.max(0) + diagram.xy.min(0)) / 2
    away = away / length(away) if length(away) > 1e-6 else np.array([0.0, 1.0])
    obstacles = np.concatenate([busy, np.repeat(np.delete(diagram.xy, state, axis=0), 20, axis=0)])
    turn = np.arange(-12, 12) * np.pi / 12
    # From the smallest turn on: the first of equal costs is taken.
    candidates = directions(np.arctan2(away[1], away[0]) + turn[np.argsort(np.abs(turn), kind="stable")])
    near = np.zeros(len(candidates))
    for reach, width in ((radius + 0.2, 0.28), (radius + 0.6, 0.4)):
        near += np.count_nonzero(distances(centre + reach * candidates, obstacles) < width, axis=1)
    direction = candidates[np.argmin(0.12 * near + 1.5 * (1 - candidates @ away))]
    size, start = 0.15 + 0.25 * radius, np.arctan2(-direction[1], -direction[0])
    curve = centre + (radius + 0.7 * size) * direction + size * directions(start - np.linspace(0, 2 * np.pi, 161))
    return np.asarray(curve[length(curve - centre) > radius + 0.02])


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


def other_boxes(diagram: Diagram, edge: Edge) -> Floats:
    """(n, 2, 2) corners of the labels of other edges, where these have a place."""
    found = [other.label_box for other in diagram.edges if other is not edge and other.place is not None]
    return np.array(found).reshape(-1, 2, 2)


def labels_hit(diagram: Diagram, edge: Edge, curve: Floats) -> int:
    """How many labels of other edges a curve runs through."""
    return int(within(curve, other_boxes(diagram, edge)).any(axis=1).sum())


def reroute(diagram: Diagram) -> None:
    """Bend edges out of the labels of others, and turn loops out of them."""
    links = [edge for edge in diagram.edges if not edge.is_loop]
    for edge in [edge for edge in diagram.edges if labels_hit(diagram, edge, edge.curve)]:
        if edge.is_loop:
            boxes = outlines(other_boxes(diagram, edge), 0.1)
            edge.curve, edge.head = _arrow(_loop(edge.source, diagram, join([*(link.curve for link in links), *boxes])))
            continue
        bundle = [other for other in links if other.ends == edge.ends]
        fine = tuple(bend for bend in FINE if bend > 0.05 or len(bundle) == 1)
        _bend(bundle, links, diagram, lambda one, curve: 1.5 * labels_hit(diagram, one, curve), fine)
        for other in bundle:
            other.curve, other.head = _arrow(other.curve)


class Canvas:
    """Axes that show a page of a diagram, and nothing else.

    Parameters
    ----------
    page : (2, 2) lower left and upper right corners
    ax : where to draw; by default axes that fill a new figure in the proportions of the page
    title : of the axes

    Attributes
    ----------
    points : size of one unit of layout in points: all is laid out in it, and scaled once to the axes
    """

    def __init__(self, page: Floats, ax: Axes | None, title: str | None = None) -> None:
        if ax is None:
            inches = 0.82 * (page[1] - page[0])
            width, height = (inches * min(1.0, 9.0 / inches.max())).tolist()
            ax = new_figure(width, height, None).add_axes((0.0, 0.0, 1.0, 1.0))
        require_axes(ax)
        ax.set_xlim(page[0, 0], page[1, 0])
        ax.set_ylim(page[0, 1], page[1, 1])
        ax.set_aspect("equal")
        ax.set_axis_off()
        if title is not None:
            ax.set_title(title)
        size = 72 * figure_of(ax).get_size_inches() * ax.get_position(original=True).size
        self.ax, self.page, self.points = ax, page, float((size / (page[1] - page[0])).min())
        self._boxes: Floats = np.zeros((0, 2, 2))
        self._papers: list[str] = []

    def caption(self, text: str, below: float = 0.0) -> None:
        """Write small lines at the bottom of the page, so much above its end."""
        if not text:
            return
        x, y = float(self.page[:, 0].mean()), float(self.page[0, 1]) + below + 0.06
        style: dict[str, Any] = {"size": SMALL * FONT * self.points, "color": "#555555", "linespacing": 1.3}
        self.write(x, y, text, **style, va="bottom", gid="caption")

    def boxes(self, corners: Floats) -> None:
        """Draw rounded boxes (n_boxes, 2, 2), in pale shades of their colours with a dark border."""
        from matplotlib.colors import to_rgb
        from matplotlib.patches import FancyBboxPatch

        colours = [fill(k)[0] for k in range(len(corners))]
        self._boxes, self._papers = corners, [tint(colour) for colour in colours]
        style: dict[str, Any] = {"boxstyle": "round,pad=0,rounding_size=0.16", "lw": 0.02 * self.points}
        style |= {"gid": "box", "clip_on": False, "zorder": 0.5}
        for (low, high), colour, paper in zip(corners, colours, self._papers, strict=True):
            border = tuple(0.6 * np.array(to_rgb(colour)))
            self.ax.add_patch(FancyBboxPatch(tuple(low), *(high - low).tolist(), fc=paper, ec=border, **style))

    def edges(self, diagram: Diagram) -> None:
        """Draw curves, arrow heads and those labels that have a place."""
        from matplotlib.patches import PathPatch, Polygon
        from matplotlib.path import Path

        for edge in diagram.edges:
            line = Path(np.concatenate([edge.curve[:-1:4], edge.curve[-1:]]))
            style: dict[str, Any] = {"gid": "loop" if edge.is_loop else "edge", "clip_on": False}
            self.ax.add_patch(PathPatch(line, fill=False, ec=LINE, lw=0.02 * self.points, zorder=1, **style))
            self.ax.add_patch(Polygon(edge.head, fc=LINE, ec="none", clip_on=False, zorder=2))
        for edge in diagram.edges:
            if edge.place is not None:
                self.label(edge.place, edge.label)

    def states(self, diagram: Diagram, fills: Sequence[tuple[str, str]]) -> None:
        """Draw the states with their names, each with its colour and hatching."""
        from matplotlib.colors import to_rgb
        from matplotlib.patches import Circle

        usual: dict[str, Any] = {"ec": INK, "lw": 0.026 * self.points, "ls": "-", "gid": "recurrent"}
        faint: dict[str, Any] = {"ec": "#666666", "lw": 0.02 * self.points, "ls": (0, (3, 2)), "gid": "transient"}
        found = zip(diagram.names, diagram.xy.tolist(), diagram.radius.tolist(), diagram.recurrent, fills, strict=True)
        for name, (x, y), radius, recurrent, (colour, hatch) in found:
            outline = usual if recurrent else faint
            self.ax.add_patch(Circle((x, y), radius, fc=colour, hatch=hatch, **outline, clip_on=False, zorder=3))
            size = FONT * min(1.1, 1.6 * radius / max(extent(name)[0], 1e-9))
            luminance = np.array([0.2126, 0.7152, 0.0722]) @ np.array(to_rgb(colour)) ** 2.2
            style = {"size": size * self.points, "color": "white" if luminance < 0.3 else INK}
            # Only hatching runs through a name; a halo would cover the outline of the circle.
            halo = self._halo(colour, 0.1) if hatch else {}
            self.write(x, y, name, **style, **halo, va="center_baseline", zorder=5)

    def label(self, place: Floats, text: str, align: str = "center") -> None:
        """Write lines of text around a place, with a halo of the paper there, which keeps lines away from them."""
        inside = np.flatnonzero(within(place, self._boxes))
        halo = self._halo(self._papers[inside[-1]] if len(inside) else "white", 0.09)
        x, y = place.tolist()
        self.write(x, y, text, linespacing=LEADING, multialignment=align, **halo, zorder=4)

    def write(self, x: float, y: float, text: str, **style: Any) -> None:
        """Write text around a place, or as the style says."""
        usual: dict[str, Any] = {"ha": "center", "va": "center", "size": FONT * self.points, "color": INK}
        self.ax.text(x, y, text, **usual | style, parse_math=False)

    def _halo(self, colour: str, width: float) -> dict[str, Any]:
        from matplotlib.patheffects import withStroke

        return {"path_effects": [withStroke(linewidth=width * self.points, foreground=colour)]}

    def legend(self, fills: Mapping[str, tuple[str, str]], columns: int) -> None:
        """Draw the legend of groups at the bottom of the page."""
        at = self.page[:, 0].mean(), self.page[0, 1]
        style: dict[str, Any] = {"loc": "lower center", "bbox_to_anchor": at, "bbox_transform": self.ax.transData}
        style |= {"ncols": columns, "fontsize": FONT * self.points, "borderaxespad": 0.3}
        legend(self.ax, fills, INK, 0.015 * self.points, **style)


def with_room(page: Floats, caption: str) -> tuple[Floats, str]:
    """Return a page with room for a caption below, and the caption on lines as long as the page is wide."""
    if not caption:
        return page, caption
    width = max(float(page[1, 0] - page[0, 0]), 2.4) / SMALL
    lines: list[str] = []
    for part in caption.split("\n"):
        letters = width / float(extent(part)[0]) * len(part)
        lines += wrap(part, max(int(letters), 12))
    text = "\n".join(lines)
    lack = max(SMALL * float(extent(text)[0]) + 2 * MARGIN - float(page[1, 0] - page[0, 0]), 0.0) / 2
    low = [page[0, 0] - lack, page[0, 1] - 1.3 * SMALL * FONT * len(lines) - 0.14]
    return np.array([low, [page[1, 0] + lack, page[1, 1]]]), text


@lru_cache(maxsize=4096)
def extent(text: str) -> Floats:
    """Return width and height of some lines of text, without needing a renderer."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    lines = text.split("\n")
    font = FontProperties(size=100)
    widths = [text_to_path.get_text_width_height_descent(line, font, ismath=False)[0] for line in lines]
    return FONT * np.array([max(widths) / 100, LEADING * len(lines)])
