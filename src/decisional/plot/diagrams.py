"""The parts of a diagram: circles of states, edges with their labels, and the plane that they lie in.

Everything is measured in one unit of length, text included. Arrays of points have x and y on their last axis.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..support.arrays import Floats
from .wording import probability_text, symbol_text

if TYPE_CHECKING:
    from ..machines import EpsilonMachine, TransitionGraph

MAX_LINES = 8  # symbols written on one edge
MAX_STATES, MAX_EDGES = 30, 100  # what is laid out with care; larger machines are drawn on a circle
LARGEST, SMALLEST, FAINT = 0.36, 0.2, 0.17  # radii: most probable, least probable, transient
FONT, LEADING = 0.17, 1.1  # height of the text in layout units, and of a line of text in fonts


@dataclass(frozen=True, eq=False)
class States:
    """What is drawn of each state: its name, a circle, and whether it is recurrent."""

    names: tuple[str, ...]
    radius: Floats
    recurrent: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.names)


def machine_states(machine: EpsilonMachine) -> States:
    """Return the states of a machine."""
    radius = radii(probabilities(machine), machine.recurrent)
    return States(tuple(map(str, machine.names)), radius, machine.recurrent)


def graph_states(graph: TransitionGraph) -> States:
    """Return the states of a transition graph."""
    p = graph.stationary if graph.weight is None else graph.weight
    return States(tuple(map(str, graph.names)), radii(p, graph.recurrent), graph.recurrent)


def probabilities(machine: EpsilonMachine) -> Floats:
    """Return the observed probabilities of the states, or the stationary ones of an exact machine."""
    return machine.stationary if machine.weights is None else machine.weights


def radii(p: Floats, recurrent: NDArray[np.bool_]) -> Floats:
    """Return circles whose area is probability, down to a size that still holds a name."""
    top = p[recurrent].max(initial=0.0) or 1.0
    return np.where(recurrent, np.clip(LARGEST * np.sqrt(p / top), SMALLEST, LARGEST), FAINT)


@dataclass(eq=False)
class Edge:
    """All the transitions from one state to another, which share one curve and one label.

    Attributes
    ----------
    source, target : numbers of the two states
    label : one line of text per symbol
    p : probability of going from one to the other
    curve, head : points of the line and corners of the arrow head, once routed
    place : centre of the label, once placed
    halo : colour of what lies behind the label
    """

    source: int
    target: int
    label: str
    p: float
    curve: Floats = field(init=False, repr=False)
    head: Floats = field(init=False, repr=False)
    place: Floats | None = None
    halo: str = "white"

    @property
    def is_loop(self) -> bool:
        """Whether the edge leads back to its own state."""
        return self.source == self.target

    @property
    def ends(self) -> tuple[int, int]:
        """The two states in increasing order, the same for an edge and its opposite."""
        return min(self.source, self.target), max(self.source, self.target)

    @property
    def points(self) -> Floats:
        """Points of the curve and its head, and the corners of the label."""
        parts = [self.curve, self.head]
        if self.place is not None:
            half = extent(self.label) / 2
            parts.append(np.array([self.place - half, self.place + half]))
        return np.concatenate(parts)


def machine_edges(machine: EpsilonMachine) -> list[Edge]:
    """Return the edges of a machine, ordered by source and target, with the text of their labels."""
    stacked: dict[tuple[int, int], list[tuple[str, float]]] = defaultdict(list)
    for source in range(machine.n_states):
        for column, symbol in enumerate(machine.alphabet):
            target = int(machine.targets[source, column])
            if target >= 0:
                stacked[source, target].append((symbol_text(symbol), float(machine.emission[source, column])))
    return [Edge(*ends, _label(entries), sum(p for _, p in entries)) for ends, entries in sorted(stacked.items())]


def graph_edges(graph: TransitionGraph) -> list[Edge]:
    """Return the edges of a transition graph, ordered by source and target, with the text of their labels."""
    found = graph.matrix.tocoo()
    edges = sorted(zip(found.row.tolist(), found.col.tolist(), found.data.tolist(), strict=True))
    return [Edge(source, target, probability_text(p), p) for source, target, p in edges]


def _label(entries: Sequence[tuple[str, float]]) -> str:
    lines = [f"{symbol} | {probability_text(p)}" for symbol, p in entries]
    if len(lines) > MAX_LINES:
        rest = [p for _, p in entries[MAX_LINES - 1 :]]
        lines[MAX_LINES - 1 :] = [f"{len(rest)} more | {probability_text(sum(rest))}"]
    return "\n".join(lines)


def crowded(edges: Sequence[Edge], n_states: int) -> bool:
    """Whether a machine is too large to look for the best curves and places of labels."""
    return n_states > MAX_STATES or len(edges) > MAX_EDGES


@lru_cache(maxsize=4096)
def extent(text: str) -> Floats:
    """Return width and height of some lines of text, without needing a renderer."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    lines = text.split("\n")
    font = FontProperties(size=100)
    widths = [text_to_path.get_text_width_height_descent(line, font, ismath=False)[0] for line in lines]
    return FONT * np.array([max(widths) / 100, LEADING * len(lines)])


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


def within(points: Floats, corners: Floats) -> NDArray[np.bool_]:
    """Whether each point (..., 2) lies in each box (n, 2, 2), lower left and upper right corners: shape (n, ...)."""
    shape = (len(corners), *(1,) * (points.ndim - 1), 2)
    low, high = corners[:, 0].reshape(shape), corners[:, 1].reshape(shape)
    return np.asarray(((points > low) & (points < high)).all(axis=-1))


def outlines(corners: Floats, step: float) -> Floats:
    """Return points, about a step apart, along the sides of boxes (n, 2, 2)."""
    parts = []
    for low, high in corners:
        along, up = (np.linspace(a, b, 2 + int((b - a) / step)) for a, b in zip(low, high, strict=True))
        parts += [np.stack([along, np.full_like(along, y)], axis=1) for y in (low[1], high[1])]
        parts += [np.stack([np.full_like(up, x), up], axis=1) for x in (low[0], high[0])]
    return join(parts)
