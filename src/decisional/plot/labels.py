"""Where the labels of edges go: beside their own line or on it, away from other lines, labels and states."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ..support.arrays import Floats
from .diagrams import Diagram, Edge, extent, labels_hit, reroute, route
from .plane import directions, join, left, length

CLEAR = 0.03  # free space around a label
NEAR = 0.14  # lines of others at this distance could be taken for its own
BUSY = 14  # edges from which on labels may as well lie on their lines, which tells best whose they are
ALONG = (0.5, 0.45, 0.55, 0.38, 0.62, 0.3, 0.7, 0.22, 0.78, 0.34, 0.66, 0.26, 0.74, 0.18, 0.82)
TURNS = (0.0, 0.2, -0.2, 0.4, -0.4, 0.7, -0.7, 1.0, -1.0, 1.4, -1.4)
SWEEPS, ROUNDS, SPREADS = 4, 4, 3
USUAL = 0.85  # width of a label for which states are placed
SPREAD = 1.12  # by how much a diagram grows in which labels have no place


class Choice:
    """The places that the label of an edge can have.

    Parameters
    ----------
    edge : whose label it is
    diagram : where the states are
    strangers : (n, 2) points of other lines, with their arrow heads
    texts : other texts, by their centres and half their sizes

    Attributes
    ----------
    places : (n_places, 2) their centres
    cost : (n_places,) what each covers, without other labels
    half : (2,) half the size of the label, with some space around
    """

    def __init__(
        self, edge: Edge, diagram: Diagram, strangers: Floats, texts: Iterable[tuple[Floats, Floats]] = ()
    ) -> None:
        self.edge, self.half = edge, extent(edge.label) / 2 + CLEAR
        busy = len(diagram.edges) >= BUSY
        found = _around_loop(edge, self.half, diagram.xy) if edge.is_loop else _along_curve(edge, self.half, busy)
        self.places = np.array([place for place, _ in found])
        self.cost = np.array([cost for _, cost in found])
        if not diagram.crowded:
            self._weigh(diagram, strangers, texts)

    def _weigh(self, diagram: Diagram, strangers: Floats, texts: Iterable[tuple[Floats, Floats]]) -> None:
        gap, own = self.gaps(strangers), self.gaps(self.edge.curve[::3])
        self.cost += 0.1 * (gap < 0.02).sum(axis=1) + 1.5 * (gap < 0.02).any(axis=1) + 0.015 * (gap < NEAR).sum(axis=1)
        self.cost += 0.02 * (own <= 0).sum(axis=1)
        # A label belongs to the line that is nearest.
        nearest = gap.min(axis=1, initial=np.inf)
        self.cost += 0.6 * ((nearest < NEAR) & (nearest <= own.min(axis=1)))
        self.cost += 0.4 * (self.gaps(self.edge.head) < 0.02).sum(axis=1)
        self.cost += 12.0 * (self.gaps(diagram.xy) < diagram.radius + CLEAR).sum(axis=1)
        for centre, size in texts:
            self.cost += self.overlap(centre, size)

    def gaps(self, points: Floats) -> Floats:
        """(n_places, n) how far each point is from the label at each place, 0 inside."""
        near = np.abs(points - self.places.mean(axis=0)) < np.ptp(self.places, axis=0) / 2 + self.half + 1.0
        points = points[near.all(axis=1)] if len(points) > 100 else points
        return length(np.clip(np.abs(points - self.places[:, None]) - self.half, 0, None))

    def overlap(self, centre: Floats, half: Floats) -> Floats:
        """(n_places,) the cost of lying over another text."""
        room = np.clip(self.half + half + 0.08 - np.abs(self.places - centre), 0, None)
        over = (np.abs(self.places - centre) < self.half + half).all(axis=1)
        return np.asarray(6.0 * room.prod(axis=1) / (2 * self.half).prod() + 5.0 * over)

    def settle(self, others: Iterable[Choice]) -> float:
        """Take the best place beside other labels; return its cost."""
        cost = self.cost.copy()
        for other in others:
            if other is not self and other.edge.place is not None:
                cost += self.overlap(other.edge.place, other.half)
        # The first of those that are as good.
        best = int(np.flatnonzero(cost <= cost.min() + 1e-9)[0])
        self.edge.place = self.places[best]
        return float(cost[best])


def place_labels(diagram: Diagram, texts: Iterable[tuple[Floats, Floats]] = (), lines: Iterable[Floats] = ()) -> float:
    """Put each label beside or on its edge, where it covers least; return what is covered in all.

    Other texts, given by their centres and half their sizes, and points of other lines are not to be covered either.
    """
    edges, texts, lines = diagram.edges, list(texts), list(lines)
    drawn = [join([edge.curve[::3], edge.head]) for edge in edges]
    choices = []
    for k, edge in enumerate(edges):
        edge.place = None
        choices.append(Choice(edge, diagram, join([*drawn[:k], *drawn[k + 1 :], *lines]), texts))
    # Loops and short edges have the least choice.
    choices.sort(key=lambda choice: (not choice.edge.is_loop, len(choice.edge.curve)))
    total = np.inf
    for _ in range(1 if diagram.crowded else SWEEPS):
        before, total = total, sum(choice.settle(choices) for choice in choices)
        if abs(before - total) < 1e-9:
            break
    return float(total)


def arrange(diagram: Diagram) -> None:
    """Draw the curves and place their labels; while lines run through labels of others, bend them, or spread all."""
    best, kept = (np.inf, np.inf), Drawing(diagram)
    diagram.xy = diagram.xy * _stretch(diagram)
    for _ in range(1 if diagram.crowded else SPREADS):
        route(diagram)
        for _ in range(1 if diagram.crowded else ROUNDS):
            cost = place_labels(diagram)
            found = clashes(diagram), cost
            if found < best:
                best, kept = found, Drawing(diagram)
            if not found[0]:
                return
            reroute(diagram)
        diagram.xy = SPREAD * diagram.xy
    kept.restore(diagram)


def _stretch(diagram: Diagram) -> float:
    """By how much states stand further apart where labels are long."""
    widths = [float(extent(edge.label)[0]) for edge in diagram.edges if not edge.is_loop]
    return float(np.clip(1 + 0.5 * (np.mean(widths or [0.0]) - USUAL), 1.0, 1.6))


class Drawing:
    """The states, lines and labels of a diagram as they are now."""

    def __init__(self, diagram: Diagram) -> None:
        self.xy = diagram.xy
        self.edges = [vars(edge).copy() for edge in diagram.edges]

    def restore(self, diagram: Diagram) -> None:
        """Draw them again as they were."""
        diagram.xy = self.xy
        for edge, kept in zip(diagram.edges, self.edges, strict=True):
            vars(edge).update(kept)


def clashes(diagram: Diagram) -> int:
    """How often a line runs through the label of another, or a label lies over another one or over a state."""
    lines = sum(labels_hit(diagram, edge, edge.curve) for edge in diagram.edges)
    boxes = np.array([edge.label_box for edge in diagram.edges]).reshape(-1, 2, 2)
    over = (boxes[:, None, 0] < boxes[:, 1]) & (boxes[:, 0] < boxes[:, None, 1])
    away = np.clip(np.maximum(boxes[:, :1] - diagram.xy, diagram.xy - boxes[:, 1:]), 0, None)
    return lines + int(np.triu(over.all(axis=2), 1).sum() + (length(away) < diagram.radius).sum())


def _around_loop(edge: Edge, half: Floats, xy: Floats) -> list[tuple[Floats, float]]:
    """Return places for the label of a loop, around its tip, with their cost."""
    centre, tip = edge.curve.mean(0), edge.curve[len(edge.curve) // 2]
    away = tip - xy[edge.source]
    size = float(length(tip - centre)) + CLEAR
    found = []
    for turn in TURNS:
        ray = np.arange(0.0, 4.0, 0.02)[:, None] * directions(np.arctan2(away[1], away[0]) + turn)
        clear = length(np.clip(np.abs(ray) - half, 0, None)) >= size
        found.append((centre + ray[np.argmax(clear)], 0.1 * abs(turn)))
    return found


def _along_curve(edge: Edge, half: Floats, busy: bool) -> list[tuple[Floats, float]]:
    """Return places for the label of an edge, on both sides and on the curve, with their cost."""
    curve = edge.curve
    bow = np.sign((curve[len(curve) // 2] - curve[0]) @ left(curve[-1] - curve[0])) or 1.0
    found = []
    for t in ALONG:
        k = int(t * (len(curve) - 1))
        along = curve[min(k + 2, len(curve) - 1)] - curve[max(k - 2, 0)]
        normal = left(along) / max(float(length(along)), 1e-9)
        for toward, extra in ((bow, 0.0), (-bow, 0.15), (0.0, 0.1 if busy else 0.45)):
            shift = toward * normal
            # At this distance the box of the label just clears the line.
            clearance = float(np.abs(shift) @ half) + 0.02
            found.append((curve[k] + shift * clearance, 1.5 * abs(t - 0.5) + extra))
    return found
