"""Where the states of a diagram go: recurrent ones inside and transient ones around them, or in boxes of groups."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from ..support.arrays import Bools, Floats, Ints
from .diagrams import MAX_STATES, Diagram, Edge, Toll, extent, route
from .labels import place_labels
from .plane import directions, distances, join, length, outlines, side, within

SPACING = 1.75  # distance between neighbouring states
GAIN = 1e-9  # a smaller improvement is rounding
COMPASS = directions(2 * np.pi * np.arange(8) / 8)
SIDES = np.array([(0, 1), (1, 1), (0.5, 1), (0, 0), (1, 0), (0.5, 0)], float)  # of titles, the best first
MAX_CARE = 12  # states up to which several arrangements of boxes are tried
PAD = 0.14  # between a box and what it holds
GAP = 0.9  # between boxes, so that edges and their labels find a way

Cost = Callable[[Floats], float]


class Descent:
    """A drawing that is changed little by little, where this makes it better.

    Parameters
    ----------
    xy : (n, 2) positions of the states, changed in place
    cost : what makes a drawing hard to read
    """

    def __init__(self, xy: Floats, cost: Cost) -> None:
        self.xy, self.cost, self.best = xy, cost, cost(xy)

    def is_better(self) -> bool:
        """Whether the drawing has become better by what was just changed."""
        before, cost = self.best, self.cost(self.xy)
        if cost < before - GAIN:
            self.best = cost
        return self.best < before

    def put(self, values: Floats, where: Any, new: Floats) -> None:
        """Change some values, positions or others that the cost depends on, if this is better."""
        old = values[where].copy()
        values[where] = new
        if not self.is_better():
            values[where] = old

    def move(self, parts: Iterable[Any], step: float) -> None:
        """Move one part, some states, at a time."""
        for part in parts:
            for move in step * COMPASS:
                self.xy[part] += move
                if not self.is_better():
                    self.xy[part] -= move

    def repeat(self, change: Callable[[], None], most: int) -> None:
        """Repeat a change until it makes nothing better any more."""
        for _ in range(most):
            before = self.best
            change()
            if self.best == before:
                break


def layout(diagram: Diagram) -> None:
    """Place the states: transient ones near where they lead."""
    recurrent, transient = np.flatnonzero(diagram.recurrent), np.flatnonzero(~diagram.recurrent)
    pairs = _links(edge.ends for edge in diagram.edges)
    inner = pairs[np.isin(pairs, recurrent).all(axis=1)]
    diagram.xy[recurrent] = _core(len(recurrent), np.searchsorted(recurrent, inner))
    if len(transient):
        _surround(diagram)
        if len(diagram.xy) <= MAX_STATES:
            diagram.xy = _settle(diagram.xy, _cost(pairs), transient)


def _links(ends: Iterable[tuple[int, int]]) -> Ints:
    """Return the distinct pairs of different states, in order."""
    return np.array(sorted({pair for pair in ends if pair[0] != pair[1]}), dtype=int).reshape(-1, 2)


def _core(n: int, pairs: Ints) -> Floats:
    """Return positions of states on a circle, or free ones if this is clearly better."""
    reach = SPACING / 2 / np.sin(np.pi / n) if n > 1 else 0.0
    # Two states lie side by side, more start from the top.
    xy = reach * directions((np.pi if n == 2 else np.pi / 2) - 2 * np.pi * np.arange(n) / n)
    if n <= 2 or n > MAX_STATES:
        return xy
    cost = _cost(pairs)
    descent = Descent(xy, cost)

    def swap() -> None:
        for pair in combinations(range(n), 2):
            descent.put(xy, list(pair), xy[list(pair[::-1])])

    descent.repeat(swap, 6)
    if n <= 4:
        return xy
    free = _settle(_stress(xy, pairs), cost, np.arange(n))
    return free if cost(free) < 0.85 * cost(xy) else xy


def _cost(pairs: Ints) -> Cost:
    """Return what makes a drawing hard to read: crossings, long edges, edges over states, crowded states."""
    # Only edges that share no state can cross.
    apart: Bools = ~(pairs[:, None, :, None] == pairs[None, :, None, :]).any(axis=(2, 3))

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


def _settle(xy: Floats, cost: Cost, movable: Ints) -> Floats:
    """Return the states moved one at a time, in smaller and smaller steps, around the origin."""
    descent = Descent(xy, cost)
    for step in SPACING * np.repeat(0.5 ** np.arange(-0.5, 6.0), 3):
        descent.move(movable, step)
    return np.asarray(xy - (xy.max(0) + xy.min(0)) / 2)


def _stress(xy: Floats, pairs: Ints) -> Floats:
    """Return distances on the page as close as possible to distances in the graph (stress majorisation)."""
    from scipy.sparse.csgraph import shortest_path

    n = len(xy)
    linked = np.zeros((n, n))
    linked[pairs[:, 0], pairs[:, 1]] = 1.0
    ideal = SPACING * np.minimum(shortest_path(linked, directed=False, unweighted=True), np.sqrt(n))
    weight = 1.0 / (ideal**2 + np.eye(n)) * (1 - np.eye(n))
    for _ in range(100):
        difference = xy[:, None] - xy
        pull = xy + difference * (ideal / np.maximum(length(difference), 1e-9))[..., None]
        xy = (weight[..., None] * pull).sum(1) / weight.sum(1)[:, None]
    return xy


def _surround(diagram: Diagram) -> None:
    """Place transient states on rings outside, level by level, each close to its likeliest target."""
    xy, placed = diagram.xy, diagram.recurrent.copy()
    reach = length(xy[placed]).max(initial=0.0)
    while not placed.all():
        reach += SPACING
        ready = [edge for edge in diagram.edges if placed[edge.target] and not placed[edge.source]]
        target = {edge.source: edge.target for edge in sorted(ready, key=lambda edge: (edge.p, -edge.target))}
        ends = xy[list(target.values())]
        # From the centre one looks to the left, and for what leads nowhere yet.
        heading = np.where(ends.any(axis=1), np.arctan2(ends[:, 1], ends[:, 0]), np.pi).tolist()
        wanted = sorted(zip(heading, target, strict=True)) or [(np.pi, k) for k in np.flatnonzero(~placed).tolist()]
        angles, ring = np.array([angle for angle, _ in wanted]), [state for _, state in wanted]
        gap = min(SPACING / reach, 2 * np.pi / len(ring))
        xy[ring] = reach * directions(_apart(angles, gap))
        placed[ring] = True


def _apart(angles: Floats, gap: float) -> Floats:
    """Return the angles moved as little as needed to be a gap apart all around the circle."""
    for _ in range(200):
        after = np.append(angles[1:], angles[0] + 2 * np.pi) - angles
        push = np.clip(gap - after, 0, None) / 2
        angles = angles + (np.roll(push, 1) - push)
    return angles


class Boxes:
    """Boxes of groups of the states of a diagram.

    Parameters
    ----------
    diagram : whose states they hold
    group : (n,) box of each state
    titles : text at the top or bottom of each box

    Attributes
    ----------
    members : the states of each box
    room : (n_boxes, 4) free space to the left of the states of each box, below, to the right and above
    side : (n_boxes, 2) where each title is: from 0, left, to 1, right; and 0, at the bottom, or 1, at the top
    """

    def __init__(self, diagram: Diagram, group: Ints, titles: Sequence[str]) -> None:
        self.diagram, self.group, self.titles = diagram, group, titles
        self.members = [np.flatnonzero(group == k) for k in range(len(titles))]
        self.size = np.array([extent(title) for title in titles])
        self.room = np.full((len(titles), 4), PAD)
        self.side = np.tile([0.0, 1.0], (len(titles), 1))

    def corners(self, xy: Floats) -> Floats:
        """Return the lower left and upper right corner of each box, shape (n_boxes, 2, 2)."""
        low, high = np.full(self.size.shape, np.inf), np.full(self.size.shape, -np.inf)
        np.minimum.at(low, self.group, xy - self.diagram.radius[:, None])
        np.maximum.at(high, self.group, xy + self.diagram.radius[:, None])
        low, high = low - self.room[:, :2], high + self.room[:, 2:]
        strip = self.size[:, 1] + PAD
        low[:, 1] -= np.where(self.side[:, 1] == 0, strip, 0.0)
        high[:, 1] += np.where(self.side[:, 1] == 1, strip, 0.0)
        lack = np.clip(self.size[:, 0] + 2 * PAD - (high - low)[:, 0], 0, None) / 2
        low[:, 0] -= lack
        high[:, 0] += lack
        return np.stack([low, high], axis=1)

    def titles_at(self, corners: Floats) -> Floats:
        """Return the corners of the titles, shape (n_boxes, 2, 2), in boxes given by theirs."""
        free = corners[:, 1] - corners[:, 0] - self.size - 2 * PAD
        low = corners[:, 0] + PAD + self.side * free
        return np.stack([low, low + self.size], axis=1)

    def place_titles(self) -> None:
        """Put each title in the corner of its box where fewest curves pass."""
        points = join(edge.curve[::2] for edge in self.diagram.edges)
        laid_out, costs = self.side, []
        for rank, place in enumerate(SIDES):
            self.side = np.tile(place, (len(laid_out), 1))
            near = self.titles_at(self.corners(self.diagram.xy)) + np.array([[-0.04], [0.04]])
            # What the boxes were laid out for is kept unless it is worse.
            kept = (laid_out == place).all(axis=1)
            costs.append(np.count_nonzero(within(points, near), axis=1) + 0.1 * rank - kept)
        self.side = SIDES[np.argmin(costs, axis=0)]

    def make_room(self) -> bool:
        """Let the boxes grow around the edges inside them and their labels; tell whether one had to."""
        before, group = self.room.copy(), self.group
        for k, members in enumerate(self.members):
            inner = [edge.points for edge in self.diagram.edges if group[edge.source] == group[edge.target] == k]
            if inner:
                points, xy, reach = join(inner), self.diagram.xy[members], self.diagram.radius[members, None]
                need = np.concatenate([(xy - reach).min(0) - points.min(0), points.max(0) - (xy + reach).max(0)]) + PAD
                self.room[k] = np.maximum(self.room[k], need)
        return bool((self.room > before + 0.01).any())

    def separate(self) -> None:
        """Push boxes apart until there is a gap between any two."""
        xy = self.diagram.xy
        for step in range(600):
            corners = self.corners(xy)
            lack = _lack(corners)
            depth = np.triu(lack.min(axis=2), 1)
            if depth.max(initial=0.0) <= 1e-6:
                return
            one, other = np.unravel_index(np.argmax(depth), depth.shape)
            axis = int(np.argmin(lack[one, other]))
            middle = corners.mean(axis=1)
            push = (depth[one, other] / 2 + 1e-6) * (1 if middle[other, axis] >= middle[one, axis] else -1)
            xy[self.members[one], axis] -= push
            xy[self.members[other], axis] += push
            if step > 300:
                # Boxes that push each other in circles need more space altogether.
                xy += (0.05 * (middle - middle.mean(0)))[self.group]

    def connect(self) -> None:
        """Draw the curves and place their labels; boxes grow around those inside, and move apart for this."""
        for last in (False, False, False, True):
            corners = self.corners(self.diagram.xy)
            titles = self.titles_at(corners)
            route(self.diagram, self._toll(corners, titles), [*outlines(corners, 0.05), *outlines(titles, 0.05)])
            texts = zip(titles.mean(axis=1), self.size / 2, strict=True)
            place_labels(self.diagram, texts, outlines(corners, 0.1))
            if last or not self.make_room():
                break
            self.place_titles()
            self.separate()

    def _toll(self, corners: Floats, titles: Floats) -> Toll:
        """Return the cost of a curve for the titles, and for the boxes of other states, that it passes through."""
        margin = np.array([[-0.06], [0.06]])

        def toll(edge: Edge, curve: Floats) -> float:
            inside = np.count_nonzero(within(curve[::4], corners + margin), axis=1)
            inside[self.group[[edge.source, edge.target]]] = 0
            return float(0.4 * np.count_nonzero(within(curve[::4], titles + margin)) + 0.15 * inside.sum())

        return toll


def nest(boxes: Boxes) -> None:
    """Place the states: boxes by the edges between them, then the states inside."""
    pairs, group = _links(edge.ends for edge in boxes.diagram.edges), boxes.group
    ends = np.sort(group[pairs], axis=1)
    centres = _core(len(boxes.members), _links((int(a), int(b)) for a, b in ends))
    xy = np.zeros((len(group), 2))
    for k, members in enumerate(boxes.members):
        inside = pairs[(ends == k).all(axis=1)]
        xy[members] = _core(len(members), np.searchsorted(members, inside))
    # Shapes first, so that the boxes have their sizes.
    corners = boxes.corners(xy)
    xy -= corners.mean(axis=1)[group]
    row = np.stack([np.argsort(np.argsort(centres[:, 0], kind="stable")), np.zeros(len(centres))], axis=1)
    starts = [centres, centres[:, ::-1], row] if len(xy) <= MAX_CARE else [centres]
    trials = [xy + (_stretch(start, corners[:, 1] - corners[:, 0]) * start)[group] for start in starts]
    boxes.diagram.xy = trials[0]
    if len(xy) <= MAX_STATES:
        cost, found = _boxes_cost(boxes, pairs), []
        for trial in trials:
            boxes.side[:] = SIDES[0]
            found.append((_improve(trial, boxes, cost), trial, boxes.side.copy()))
        _, boxes.diagram.xy, boxes.side[:] = min(found, key=lambda best: best[0])
    boxes.separate()


def _lack(corners: Floats) -> Floats:
    """Return how much every two boxes lack of a gap, along each axis; positive along both where they are too close."""
    low, high = corners[:, 0], corners[:, 1]
    return np.minimum(high[:, None], high) - np.maximum(low[:, None], low) + GAP


def _stretch(centres: Floats, size: Floats) -> float:
    """Return by how much to stretch the distances between boxes, given for points, so that none overlap."""
    away = np.abs(centres[:, None] - centres)
    need = (size[:, None] + size) / 2 + GAP
    stretch = (need / np.maximum(away, 1e-9)).min(axis=2)
    np.fill_diagonal(stretch, 0.0)
    return float(stretch.max(initial=0.0))


def _boxes_cost(boxes: Boxes, pairs: Ints) -> Cost:
    """Return what makes a drawing with boxes hard to read: also boxes too close or large, and edges over others."""
    plain = _cost(pairs)
    strange = (np.arange(len(boxes.titles))[:, None, None] != boxes.group[pairs]).all(axis=2)
    t = np.linspace(0.04, 0.96, 16)[:, None, None]

    def cost(xy: Floats) -> float:
        corners = boxes.corners(xy)
        near = np.triu(np.clip(_lack(corners).min(axis=2), 0, None), 1).sum()
        size = corners[:, 1] - corners[:, 0]
        page = corners[:, 1].max(0) - corners[:, 0].min(0)
        points = (1 - t) * xy[pairs[:, 0]] + t * xy[pairs[:, 1]]
        over = np.count_nonzero(within(points, corners) & strange[:, None])
        written = np.count_nonzero(within(points, boxes.titles_at(corners)).any(axis=1))
        small = 0.25 * size.prod(axis=1).sum() + 0.08 * page.prod() + 0.3 * max(page[1] - 0.8 * page[0], 0.0)
        return float(plain(xy) + 8 * near + 0.3 * over + 1.2 * written + small)

    return cost


def _improve(xy: Floats, boxes: Boxes, cost: Cost) -> float:
    """Turn and exchange boxes, then move them and their states, in place; return the cost."""
    descent, groups = Descent(xy, cost), boxes.members

    def retitle(k: int) -> None:
        for place in SIDES:
            descent.put(boxes.side, k, place)

    def turn() -> None:
        for k, members in enumerate(groups):
            for trial in _turned(xy, members, groups[:k]):
                descent.put(xy, slice(None), trial)
            retitle(k)

    descent.repeat(turn, 3)
    single = [members[[i]] for members in groups if len(members) > 1 for i in range(len(members))]
    for step in SPACING * np.repeat(0.5 ** np.arange(-1.0, 5.0), 3):
        descent.move([*groups, *single], step)
        for k in range(len(groups)):
            retitle(k)
    return cost(xy)


def _turned(xy: Floats, members: Ints, others: Sequence[Ints]) -> list[Floats]:
    """Return the positions after each exchange of a box with another, and with its inside turned or mirrored."""
    middle = xy[members].mean(0)
    trials = []
    for other in others:
        trial = xy.copy()
        shift = xy[other].mean(0) - middle
        trial[members] += shift
        trial[other] -= shift
        trials.append(trial)
    turns = [np.array([[c, -s], [s, c]]) for c, s in ((1, 0), (0, 1), (-1, 0), (0, -1))]
    mirrored = [turn @ np.diag([1, mirror]) for mirror in (1, -1) for turn in turns]
    for turn in mirrored[1:] if len(members) > 1 else []:
        trial = xy.copy()
        trial[members] = middle + (xy[members] - middle) @ turn
        trials.append(trial)
    return trials
