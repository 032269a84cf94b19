"""Regions of beliefs with the same best predictions, exactly: what a utility cuts a simplex into.

What a prediction is worth is linear in what is believed of the hidden state of a `BeliefMachine`. So each prediction is
best on a convex polytope, and the beliefs with the same set Y of best predictions, which are decided alike, are the
inside of one, or of a face where several are equally good. What the decision is worth is linear on each of them, and
convex over all.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ..data.frames import Index
from ..machines.belief_machine import BeliefMachine, Rate
from ..states.partition import Partition
from ..support.arguments import integer
from ..support.arrays import Bools, Floats, Ints, Record
from .decide import Decision, iso_utility
from .events import Events
from .predictions import ListedSets
from .utilities import Utility, as_utility

# Expected utilities that differ by no more are equal.
SAME = 1e-9
# Runs of a simulation that tell how often beliefs come, their steps, and how often a tie must come to be no chance.
RUNS, STEPS, OFTEN = 100, 1_000, 10
# Of the solver of linear programs.
PRECISE: Any = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
# Level of the test of regions that are worth the same.
TIES = 0.01
# Corners of a region, at most.
MOST_CORNERS = 4_000


class Knowledge(NamedTuple):
    """Expected utility of the best decisions, by what is known.

    Attributes
    ----------
    nothing : only how often symbols come
    past : all symbols so far, so that beliefs are followed
    error : standard error of `past`, which is a mean along simulated runs
    state : the hidden state itself
    """

    nothing: float
    past: float
    error: float
    state: float

    @property
    def value_of_past(self) -> float:
        """What it is worth to remember: beliefs instead of nothing."""
        return self.past - self.nothing

    @property
    def value_of_state(self) -> float:
        """What it would be worth to see the hidden state: a bound on the price of a better sensor."""
        return self.state - self.past


@dataclass(frozen=True, eq=False)
class BeliefRegions(Record):
    """Convex regions of the simplex of beliefs that have the same best predictions, the most frequent first.

    Those with an inside cover the simplex; faces where predictions are equally good are regions of their own where the
    process comes back to them.

    Attributes
    ----------
    machine : the BeliefMachine
    candidates : the predictions to choose from
    worth : (n_candidates, n_states) expected utility of each in each hidden state
    member : (n_regions, n_candidates) the best predictions of each region
    """

    machine: BeliefMachine
    candidates: Sequence[Hashable]
    worth: Floats
    member: Bools

    @property
    def n_regions(self) -> int:
        return len(self.member)

    @property
    def predictions(self) -> list[frozenset[Hashable]]:
        """The set Y of each region."""
        return [frozenset(self.candidates[k] for k in np.flatnonzero(row).tolist()) for row in self.member]

    @cached_property
    def has_inside(self) -> Bools:
        """(n_regions,) whether the region has as many dimensions as the simplex; else it is where others meet."""
        found: Bools = np.array([bool((self.worth[row] == self.worth[row][0]).all()) for row in self.member])
        return found

    def value(self, beliefs: Any) -> Floats:
        """(n,) what the best decision is worth at beliefs (n, n_states)."""
        best: Floats = self._worths(beliefs).max(axis=1)
        return best

    def _worths(self, beliefs: Any) -> Floats:
        """(n, n_candidates) expected utility of each candidate, added in one order however many beliefs there are."""
        beliefs = np.asarray(beliefs, float).reshape(-1, self.worth.shape[1])
        found = np.zeros((len(beliefs), len(self.worth)))
        for column, worth in zip(beliefs.T, self.worth.T, strict=True):
            found += column[:, None] * worth
        return found

    def number(self, beliefs: Any) -> Ints:
        """(n,) region of beliefs (n, n_states). Cost: O(n n_states n_candidates)."""
        worth = self._worths(beliefs)
        inner = np.flatnonzero(self.has_inside)
        found: Ints = inner[worth[:, self.member[inner].argmax(axis=1)].argmax(axis=1)]
        if inner.size < self.n_regions:
            best = worth >= worth.max(axis=1, keepdims=True) - SAME
            for k in np.flatnonzero(~self.has_inside):
                found[(best == self.member[k]).all(axis=1)] = k
        return found

    def half_spaces(self, region: int) -> Floats:
        """(m, n_states) rows a with a · b >= 0 for every belief b of a region and of its border."""
        k = integer(region, "region", least=0, most=self.n_regions - 1)
        own, others = self.worth[self.member[k]], self.worth[~self.member[k]]
        return np.concatenate([own[:1] - others, own[:1] - own[1:], own[1:] - own[:1]])

    def vertices(self, region: int) -> Floats:
        """(m, n_states) corners of a region: it is all their mixtures. Cost: that of listing them, exponential in
        n_states at worst."""
        return corners(self.half_spaces(region))

    @cached_property
    def leads(self) -> Bools:
        """(n_regions, n_symbols, n_regions) whether a symbol leads from some belief of a region into another.

        Of all beliefs there can be, whether the process comes by them or not; `DecisionalStates.graph_` has how often
        it does. Cost: a linear program for each.
        """
        found = np.zeros((self.n_regions, len(self.machine.steps), self.n_regions), bool)
        for before, symbol, after in np.ndindex(found.shape):
            step = self.machine.steps[symbol]
            level, higher = self.bounds(before)
            then = [rows @ step.T for rows in self.bounds(after)]
            rows = np.concatenate([higher, then[1], step.sum(axis=1)[None]])
            found[before, symbol, after] = deepest(rows, np.concatenate([level, then[0]]))[0] > SAME
        return found

    def bounds(self, region: int) -> tuple[Floats, Floats]:
        """Rows a with a · b = 0 in a region, and those with a · b > 0."""
        own, others = self.worth[self.member[region]], self.worth[~self.member[region]]
        return own[1:] - own[:1], own[:1] - others


def deepest(rows: Floats, level: Floats) -> tuple[float, Floats]:
    """The largest t with rows @ b >= t and level @ b = 0 at some belief b, at most 1, and b; -1 where there is none."""
    from scipy.optimize import linprog

    n = rows.shape[1]
    # Rows of zeros say nothing that a solver could scale.
    level = level[np.abs(level).max(axis=1, initial=0.0) > 0.0]
    equal = np.vstack([np.column_stack([level, np.zeros(len(level))]), np.append(np.ones(n), 0.0)])
    bounds = [(0.0, 1.0)] * n + [(-1.0, 1.0)]
    shallow = np.column_stack([-rows, np.ones(len(rows))])
    goal = np.append(np.zeros(n), -1.0)
    given = goal, shallow, np.zeros(len(rows)), equal, np.append(np.zeros(len(level)), 1.0), bounds
    found: Any = linprog(*given, method="highs", options=PRECISE)
    if not found.success:
        return -1.0, np.full(n, np.nan)
    belief = np.maximum(found.x[:-1], 0.0) / np.maximum(found.x[:-1], 0.0).sum()
    # What the solver says is true up to its tolerance only.
    return float((rows @ belief).min(initial=1.0)), belief


def corners(half_spaces: Floats) -> Floats:
    """Corners of the beliefs b with half_spaces @ b >= 0, by cutting the simplex with one after the other."""
    n = half_spaces.shape[1]
    points, tight = np.eye(n), ~np.eye(n, dtype=bool)
    for row in half_spaces:
        side = points @ row
        side[np.abs(side) <= SAME * max(float(np.abs(row).max()), SAME)] = 0.0
        tight = np.column_stack([tight, side == 0.0])
        above, below = np.flatnonzero(side > 0.0), np.flatnonzero(side < 0.0)
        # Ends of an edge share at least so many faces.
        near = tight[above].astype(float) @ tight[below].T >= n - 2
        pairs = [(i, j) for i, j in zip(above[np.nonzero(near)[0]], below[np.nonzero(near)[1]], strict=True)]
        i, j = np.array([pair for pair in pairs if _adjacent(tight, *pair)], np.int64).reshape(-1, 2).T
        share = (side[i] / (side[i] - side[j]))[:, None] if i.size else np.zeros((0, 1))
        new = (1.0 - share) * points[i] + share * points[j]
        both = tight[i] & tight[j]
        both[:, -1] = True
        points, tight = np.vstack([points[side >= 0.0], new]), np.vstack([tight[side >= 0.0], both])
        if len(points) > MOST_CORNERS:
            raise ValueError(
                f"The region has more than {MOST_CORNERS:,} corners; so many are not listed: use its 'half_spaces'."
            )
    return points[np.lexsort(points.T)]


def _adjacent(tight: Bools, i: int, j: int) -> bool:
    """Whether two corners are the ends of an edge: no other one lies on all faces that they share."""
    shared = tight[i] & tight[j]
    return int(tight[:, shared].all(axis=1).sum()) == 2


@dataclass(frozen=True, eq=False)
class BeliefCells(Record):
    """Regions, cut into slabs of equal worth where a resolution is given: the states that are decided in.

    Attributes
    ----------
    regions : BeliefRegions
    delta : width of the slabs, or None
    region, slab : (n_cells,) what each is
    probability, utility, error : (n_cells,) how often each comes, mean worth of its decision, and its standard error
    steps : (m, 3) how often one follows the other: from, to, times
    past : what following beliefs is worth, with its standard error
    """

    regions: BeliefRegions
    delta: float | None
    region: Ints
    slab: Ints
    probability: Floats
    utility: Floats
    error: Floats
    steps: Ints
    past: Rate

    @classmethod
    def of(cls, machine: BeliefMachine, utility: Any, delta: float | None) -> BeliefCells:
        """Those of a machine and a utility with finitely many predictions, by RUNS runs of STEPS beliefs."""
        candidates, worth = expected_worth(machine, utility)
        rng = np.random.default_rng(0)
        beliefs = np.concatenate([machine.beliefs(STEPS, rng) for _ in range(RUNS)])
        regions = _regions(machine, candidates, worth, beliefs)
        region, value = regions.number(beliefs), regions.value(beliefs)
        cells, cell = np.unique(np.column_stack([region, slabs(value, delta)]), axis=0, return_inverse=True)
        runs = cell.reshape(RUNS, STEPS)
        ends = np.stack([runs[:, :-1].ravel(), runs[:, 1:].ravel()], axis=1)
        pairs, times = np.unique(ends, axis=0, return_counts=True)
        count, mean, error = means(runs, value.reshape(RUNS, STEPS), len(cells))
        # Regions that the process does not come by are cells too.
        unseen = np.setdiff1d(np.arange(regions.n_regions), cells[:, 0])
        there = regions.value([deepest(*regions.bounds(k)[::-1])[1] for k in unseen])
        region, slab = np.concatenate([cells, np.column_stack([unseen, slabs(there, delta)])]).T.astype(np.int64)
        none = np.zeros(unseen.size)
        known = np.append(count / cell.size, none), np.append(mean, there), np.append(error, none)
        _, (past,), (doubt,) = means(np.zeros_like(runs), value.reshape(RUNS, STEPS), 1)
        steps = np.column_stack([pairs, times])
        return cls(regions, delta, region, slab, *known, steps, Rate(float(past), float(doubt)))

    def number(self, beliefs: Any) -> Ints:
        """(n,) cell of beliefs (n, n_states); the nearest slab of its region where the process never came."""
        region, slab = self.regions.number(beliefs), slabs(self.regions.value(beliefs), self.delta)
        found = np.empty(len(region), np.int64)
        for k in np.unique(region):
            here, own = np.flatnonzero(region == k), np.flatnonzero(self.region == k)
            place = np.searchsorted(self.slab[own], slab[here])
            left, right = own[np.maximum(place - 1, 0)], own[np.minimum(place, own.size - 1)]
            nearer = slab[here] - self.slab[left] < self.slab[right] - slab[here]
            found[here] = np.where(nearer, left, right)
        return found

    def path(self, beliefs: Floats, labels: Ints, level: float | None = None) -> BeliefPath:
        """Along beliefs (n, n_states), where cells have labels; or whether what is known is worth a level."""
        return self.path_of(self.number(beliefs), self.regions.value(beliefs), labels, level)

    def path_of(self, cell: Ints, worth: Floats, labels: Ints, level: float | None) -> BeliefPath:
        """The same where the cells, and what decisions are worth, are known."""
        return BeliefPath(labels[cell] if level is None else (worth >= level).astype(np.int64), cell, worth)

    @property
    def n_states(self) -> int:
        """Number of cells."""
        return self.region.size

    @property
    def predictions(self) -> ListedSets:
        """The sets Y of the cells."""
        member = self.regions.member[self.region]
        return ListedSets(self.regions.candidates, member.astype(np.int8), member.argmax(axis=1))

    def decision(self) -> Decision:
        """Steps 6 to 8 of the paper's figure for the cells."""
        from scipy.special import ndtri

        psi = Partition(self.region, self.probability)
        if self.delta is None:
            level = float(ndtri(1.0 - TIES / (2.0 * self.n_states)))
            upsilon = iso_utility(self.utility, np.maximum(self.error, SAME), self.probability, None, level)
        else:
            upsilon = Partition(self.slab - self.slab.min(), self.probability)
        return Decision(self.utility, self.predictions, psi, upsilon, psi & upsilon)

    def knowledge(self) -> Knowledge:
        """What decisions are worth by what is known."""
        home, worth = self.regions.machine.stationary, self.regions.worth
        return Knowledge(float((worth @ home).max()), *self.past, float(home @ worth.max(axis=0)))


def means(label: Ints, value: Floats, n: int) -> tuple[Ints, Floats, Floats]:
    """How often each of n labels comes in runs (n_runs, n_steps), the mean of the values there, and its standard error,
    by how the runs differ."""
    place = np.arange(len(label))[:, None] * n + label
    times, total = (np.bincount(place.ravel(), w, len(label) * n).reshape(-1, n) for w in (None, value.ravel()))
    count = times.sum(axis=0)
    mean = total.sum(axis=0) / count
    apart = ((total - mean * times) ** 2).sum(axis=0)
    return count, mean, np.sqrt(apart * len(label) / (len(label) - 1.0)) / count


def slabs(value: Floats, delta: float | None) -> Ints:
    """Numbers of slabs of equal worth; one for all without a resolution."""
    return np.zeros(len(value), np.int64) if delta is None else np.rint(value / delta).astype(np.int64)


def expected_worth(machine: BeliefMachine, utility: Any) -> tuple[list[Hashable], Floats]:
    """The candidates, and what each is worth on average in each hidden state, (n_candidates, n_states)."""
    bound = as_utility(utility).bound(machine.alphabet)
    if bound.y is None and bound.maker != "zero_one" and type(bound).closed_form is not Utility.closed_form:
        raise ValueError(
            f"The 'utility' is {bound!r}, whose predictions are a continuum; on beliefs there must be finitely many to "
            "choose from: give candidates y=[...]."
        )
    candidates = list(bound.candidates(machine.alphabet))
    return candidates, bound.matrix(candidates, machine.alphabet) @ machine.emission.T


def _regions(machine: BeliefMachine, candidates: list[Hashable], worth: Floats, beliefs: Floats) -> BeliefRegions:
    """Those with an inside, and ties that beliefs come back to, the most frequent first."""
    rows, group = np.unique(worth.round(12), axis=0, return_inverse=True)
    group, member = group.reshape(-1), []
    for k in dict.fromkeys(group.tolist()):
        others = np.delete(rows, k, axis=0)
        if not len(others) or deepest(rows[k] - others, np.zeros((0, worth.shape[1])))[0] > SAME:
            member.append(group == k)
    # What rounds to the same is the same.
    worth = worth[np.unique(group, return_index=True)[1]][group]
    value = beliefs @ worth.T
    best, times = np.unique(value >= value.max(axis=1, keepdims=True) - SAME, axis=0, return_counts=True)
    known = {row.tobytes() for row in member}
    member += [row for row, n in zip(best, times, strict=True) if n >= OFTEN and row.tobytes() not in known]
    found = BeliefRegions(machine, candidates, worth, np.array(member))
    count = np.bincount(found.number(beliefs), minlength=len(member))
    return BeliefRegions(machine, candidates, worth, found.member[np.argsort(-count, kind="stable")])


class BeliefPath(NamedTuple):
    """Along beliefs: (n,) label of what is watched, cell, and worth of the decision; label and cell -1 = nothing."""

    label: Ints
    cell: Ints
    worth: Floats

    def at(self, places: Any) -> BeliefPath:
        """Some of them."""
        return BeliefPath(self.label[places], self.cell[places], self.worth[places])


# Before the first symbol.
NOTHING = BeliefPath(np.array([-1]), np.array([-1]), np.array([np.nan]))


class BeliefChanges(NamedTuple):
    """Places along beliefs where the label changes, and what was and is there."""

    place: Ints
    before: BeliefPath
    after: BeliefPath

    def later(self) -> BeliefChanges:
        """Without the first, before which there was nothing."""
        kept = self.before.cell >= 0
        return BeliefChanges(self.place[kept], self.before.at(kept), self.after.at(kept))


def changes_in_beliefs(path: BeliefPath, last: BeliefPath = NOTHING) -> BeliefChanges:
    """Where the label changes; `last` was known before the path."""
    before = BeliefPath(*(np.append(old, new[:-1]) for old, new in zip(last, path, strict=True)))
    before = before.at(slice(path.cell.size))
    place = np.flatnonzero((before.cell < 0) | (before.label != path.label))
    return BeliefChanges(place, before.at(place), path.at(place))


def belief_events(changes: BeliefChanges, predictions: Sequence[Any], index: Index | None = None) -> Events:
    """Changes as events, which are worth what the beliefs at both sides of each are."""
    place, before, after = changes
    sides, cells = np.arange(place.size), np.concatenate([before.cell, after.cell]).tolist()
    best, worth = [predictions[k] if k >= 0 else None for k in cells], np.concatenate([before.worth, after.worth])
    old = np.where(before.cell >= 0, sides, -1)
    return Events(place, before.label, after.label, old, place.size + sides, best, worth, index)
