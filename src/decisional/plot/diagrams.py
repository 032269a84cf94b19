"""The edges of a picture: all transitions between two states share one curve and one label."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from .geometry import Floats
from .wording import probability_text, symbol_text

if TYPE_CHECKING:
    from ..machines import EpsilonMachine, TransitionGraph

__all__ = ["MAX_STATES", "Edge", "crowded", "graph_edges", "read_edges"]

MAX_LINES = 8  # symbols written on one edge
MAX_STATES, MAX_EDGES = 30, 100  # what is laid out with care; larger machines are drawn on a circle


@dataclass(eq=False)
class Edge:
    """All the transitions from one state to another.

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


def read_edges(machine: EpsilonMachine) -> list[Edge]:
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
