"""Boxes around groups of states, each with a title at its top: where they are, and how they are kept apart."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .diagrams import MAX_STATES, Edge
from .geometry import Floats, Ints, directions, join
from .labels import extent
from .layout import GAIN, SPACING, Cost, core, cost_of, links

__all__ = ["Boxes", "nest", "separate", "within"]

SIDES = np.array([(0, 1), (1, 1), (0.5, 1), (0, 0), (1, 0), (0.5, 0)], float)  # of titles, the best first
MAX_CARE = 12  # states up to which several arrangements are tried
PAD = 0.14  # between a box and what it holds
GAP = 0.9  # between boxes, so that edges and their labels find a way


class Boxes:
    """Boxes of groups of states.

    Parameters
    ----------
    group : (n,) box of each state
    titles : text at the top or bottom of each box
    radius : (n,) radii of the states

    Attributes
    ----------
    room : (n_boxes, 4) free space to the left of the states of each box, below, to the right and above
    side : (n_boxes, 2) where each title is: from 0, left, to 1, right; and 0, at the bottom, or 1, at the top
    """

    def __init__(self, group: Ints, titles: Sequence[str], radius: Floats) -> None:
        self.group, self.titles, self.radius = group, list(titles), radius
        self.size = np.array([extent(title) for title in titles])
        self.room = np.full((len(titles), 4), PAD)
        self.side = np.tile([0.0, 1.0], (len(titles), 1))

    def __len__(self) -> int:
        return len(self.titles)

    def corners(self, xy: Floats) -> Floats:
        """Return the lower left and upper right corner of each box, shape (n_boxes, 2, 2)."""
        low, high = np.full((len(self), 2), np.inf), np.full((len(self), 2), -np.inf)
        np.minimum.at(low, self.group, xy - self.radius[:, None])
        np.maximum.at(high, self.group, xy + self.radius[:, None])
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

    def place_titles(self, xy: Floats, edges: Sequence[Edge]) -> None:
        """Put each title in the corner of its box where fewest curves pass."""
        points = join(edge.curve[::2] for edge in edges)
        laid_out, costs = self.side, []
        for rank, side in enumerate(SIDES):
            self.side = np.tile(side, (len(self), 1))
            near = self.titles_at(self.corners(xy)) + np.array([[-0.04], [0.04]])
            # What the boxes were laid out for is kept unless it is worse.
            kept = (laid_out == side).all(axis=1)
            costs.append(np.count_nonzero(within(points, near), axis=1) + 0.1 * rank - kept)
        self.side = SIDES[np.argmin(costs, axis=0)]

    def make_room(self, xy: Floats, edges: Sequence[Edge]) -> bool:
        """Let the boxes grow around the edges inside them and their labels; tell whether one had to."""
        before = self.room.copy()
        for k in range(len(self)):
            members = self.group == k
            parts = []
            for edge in edges:
                if members[edge.source] and members[edge.target]:
                    parts += [edge.curve, edge.head]
                    if edge.place is not None:
                        half = extent(edge.label) / 2
                        parts.append(np.array([edge.place - half, edge.place + half]))
            if parts:
                points = join(parts)
                low, high = xy[members] - self.radius[members, None], xy[members] + self.radius[members, None]
                need = np.concatenate([low.min(0) - points.min(0), points.max(0) - high.max(0)]) + PAD
                self.room[k] = np.maximum(self.room[k], need)
        return bool((self.room > before + 0.01).any())


def nest(boxes: Boxes, edges: Sequence[Edge]) -> Floats:
    """Return positions of the states: boxes by the edges between them, then the states inside."""
    pairs, group = links(edge.ends for edge in edges), boxes.group
    ends = np.sort(group[pairs], axis=1)
    centres = core(len(boxes), links((int(a), int(b)) for a, b in ends))
    xy = np.zeros((len(group), 2))
    for k in range(len(boxes)):
        members = np.flatnonzero(group == k)
        inside = pairs[(ends == k).all(axis=1)]
        xy[members] = core(len(members), np.searchsorted(members, inside))
    # Shapes first, so that the boxes have their sizes.
    corners = boxes.corners(xy)
    xy -= corners.mean(axis=1)[group]
    size = corners[:, 1] - corners[:, 0]
    if len(xy) > MAX_STATES:
        xy += (_spread(centres, size) * centres)[group]
    else:
        row = np.stack([np.argsort(np.argsort(centres[:, 0], kind="stable")), np.zeros(len(boxes))], axis=1)
        starts = [centres, centres[:, ::-1], row] if len(xy) <= MAX_CARE else [centres]
        xy = _best([xy + (_spread(start, size) * start)[group] for start in starts], boxes, _cost(boxes, pairs))
    separate(xy, boxes)
    return xy


def _best(starts: Sequence[Floats], boxes: Boxes, cost: Cost) -> Floats:
    """Return the best of what can be made of several positions, and put the titles of the boxes accordingly."""
    found = []
    for xy in starts:
        boxes.side[:] = SIDES[0]
        _turn(xy, boxes, cost)
        _descend(xy, boxes, cost)
        found.append((cost(xy), boxes.side.copy()))
    k = int(np.argmin([value for value, _ in found]))
    boxes.side[:] = found[k][1]
    return starts[k]


def separate(xy: Floats, boxes: Boxes) -> None:
    """Push boxes apart, in place, until there is a gap between any two."""
    for step in range(600):
        corners = boxes.corners(xy)
        lack = _lack(corners)
        depth = np.triu(lack.min(axis=2), 1)
        if depth.max(initial=0.0) <= 1e-6:
            return
        one, other = np.unravel_index(np.argmax(depth), depth.shape)
        axis = int(np.argmin(lack[one, other]))
        ahead = corners[other].mean(0)[axis] >= corners[one].mean(0)[axis]
        push = np.zeros(2)
        push[axis] = (depth[one, other] / 2 + 1e-6) * (1 if ahead else -1)
        xy[boxes.group == one] -= push
        xy[boxes.group == other] += push
        if step > 300:
            # Boxes that push each other in circles need more space altogether.
            middle = corners.mean(axis=1)
            xy += (0.05 * (middle - middle.mean(0)))[boxes.group]


def _lack(corners: Floats) -> Floats:
    """Return how much every two boxes lack of a gap, along each axis; positive along both where they are too close."""
    low, high = corners[:, 0], corners[:, 1]
    return np.minimum(high[:, None], high) - np.maximum(low[:, None], low) + GAP


def _spread(centres: Floats, size: Floats) -> float:
    """Return by how much to stretch the distances between boxes, given for points, so that none overlap."""
    away = np.abs(centres[:, None] - centres)
    need = (size[:, None] + size) / 2 + GAP
    stretch = (need / np.maximum(away, 1e-9)).min(axis=2)
    np.fill_diagonal(stretch, 0.0)
    return float(stretch.max(initial=0.0))


def _cost(boxes: Boxes, pairs: Ints) -> Cost:
    """Return what makes a drawing with boxes hard to read: also boxes too close or large, and edges over others."""
    plain = cost_of(pairs)
    ends = boxes.group[pairs]
    strange = (np.arange(len(boxes))[:, None, None] != ends).all(axis=2)
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


def within(points: Floats, corners: Floats) -> Ints:
    """Whether each point (..., 2) lies in each box: shape (n_boxes, ...)."""
    shape = (len(corners), *(1,) * (points.ndim - 1), 2)
    low, high = corners[:, 0].reshape(shape), corners[:, 1].reshape(shape)
    return np.asarray(((points > low) & (points < high)).all(axis=-1))


def _turn(xy: Floats, boxes: Boxes, cost: Cost) -> None:
    """Exchange boxes, and turn and mirror what is inside them, in place, as long as the drawing gets better."""
    groups = [np.flatnonzero(boxes.group == k) for k in range(len(boxes))]
    best = cost(xy)
    for _ in range(3):
        before = best
        for k, members in enumerate(groups):
            trials = []
            for other in groups[:k]:
                trial = xy.copy()
                shift = xy[other].mean(0) - xy[members].mean(0)
                trial[members] += shift
                trial[other] -= shift
                trials.append(trial)
            inside = xy[members] - xy[members].mean(0)
            for turned in _symmetries(inside)[1:] if len(members) > 1 else []:
                trial = xy.copy()
                trial[members] = xy[members].mean(0) + turned
                trials.append(trial)
            for trial in trials:
                new = cost(trial)
                if new < best - GAIN:
                    best, xy[:] = new, trial
            best = _retitle(xy, boxes, k, cost, best)
        if best == before:
            break


def _retitle(xy: Floats, boxes: Boxes, k: int, cost: Cost, best: float) -> float:
    """Try the other places for a title; return the new cost."""
    for side in SIDES:
        old = boxes.side[k].copy()
        boxes.side[k] = side
        new = cost(xy)
        if new < best - GAIN:
            best = new
        else:
            boxes.side[k] = old
    return best


def _symmetries(inside: Floats) -> list[Floats]:
    turns = [np.array([[c, -s], [s, c]]) for c, s in ((1, 0), (0, 1), (-1, 0), (0, -1))]
    return [inside @ turn @ np.diag([1, mirror]) for mirror in (1, -1) for turn in turns]


def _descend(xy: Floats, boxes: Boxes, cost: Cost) -> None:
    """Move one box or one state at a time, in place, in smaller and smaller steps."""
    groups = [np.flatnonzero(boxes.group == k) for k in range(len(boxes))]
    movable = groups + [members[[i]] for members in groups if len(members) > 1 for i in range(len(members))]
    compass = directions(2 * np.pi * np.arange(8) / 8)
    best = cost(xy)
    for step in SPACING * np.repeat(0.5 ** np.arange(-1.0, 5.0), 3):
        for members in movable:
            for move in step * compass:
                xy[members] += move
                new = cost(xy)
                if new < best - GAIN:
                    best = new
                else:
                    xy[members] -= move
        for k in range(len(boxes)):
            best = _retitle(xy, boxes, k, cost, best)
