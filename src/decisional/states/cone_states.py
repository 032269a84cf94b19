"""Causal states of light cones by evidence: as fine as the data can tell, whatever the size of the cones.

A past cone is a row of its own where what follows it differs from what follows the cones that share its later rows;
else it is counted with these, from the deepest cones to the shallowest. Rows that no nested future tells apart are one
state. The tests are honest for sparse tables, and count overlapping futures, and what differs between regions, for what
they are worth.
"""

from collections.abc import Hashable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from .._kernels import nested_cones as kernels
from ..data import keys
from ..data.nesting import UNIT, Dependence
from ..data.observations import Observations
from ..data.tally import Table, Tally
from ..data.vocabularies import Words, pack, place_in
from ..support.arrays import Bools, Floats, Ints
from ..support.executors import map_slices, slices
from .aggregation import mixed
from .distributions import Distributions

# Share of alpha that may be false among the sub-cones of one depth that are told from their siblings.
FALSE = 0.1
# The level of each row is so many times smaller: of very many states a few may be false.
MANY = 100
# States that a row is compared with, and rounds of comparisons, at most; a round that joins fewer is the last one.
TRIES, ROUNDS, FEW = 4, 8, 0.02
# Distinct x that are looked up at once, and those whose differences are added up.
BLOCK, MANY_X = 1 << 16, 1 << 20
# Doubt: the share of observations whose cones are too rare to be told apart.
MOST = 0.5


@dataclass(frozen=True, eq=False)
class Rows:
    """Past cones that are told apart.

    Attributes
    ----------
    of_x : (n_x,) row of each distinct x
    depth : (n_rows,) how many rows of the cone it shares with all x of the row, 0 for what is left at the end
    member : (n_rows,) an x that has the sub-cone
    apart : (n_rows,) independent observations, in units of 1 / UNIT
    blind : share of observations whose x would not be told from its siblings whatever followed
    """

    of_x: Ints
    depth: Ints
    member: Ints
    apart: Ints
    blind: float


@dataclass(frozen=True, eq=False)
class ByCones:
    """States of light cones.

    Attributes
    ----------
    obs : what was counted
    rows : the past cones that are told apart
    labels : (n_x,) state of each distinct x
    row_states : (n_rows,) state of each row
    """

    obs: Observations
    rows: Rows
    labels: Ints
    row_states: Ints

    def observed(self) -> Distributions:
        """What followed each distinct x."""
        return Distributions.of_table(self.obs.table(), self.obs.past)

    def label_all(self) -> Ints:
        """States of all distinct x of the data."""
        return self.labels

    def settled(self, labels: Ints, states: Ints) -> "ByCones":
        """The same with the final states of all distinct x; that of a row is the most frequent one of its x."""
        weight, n = self.obs.table().weight, int(states.max()) + 1
        number, pair = keys.number(self.rows.of_x * n + states, self.row_states.size * n)
        mass = np.bincount(number, weights=weight)
        row, state = np.divmod(pair, n)
        best = np.lexsort((state, -mass, row))
        first = best[keys.starts(row[best])]
        row_states = np.empty(self.row_states.size, np.int64)
        row_states[row[first]] = state[first]
        return replace(self, labels=states, row_states=row_states)

    def renumbered(self, number: Ints) -> "ByCones":
        """The same states with other numbers, (n_states,); those with the same number are one."""
        return replace(self, labels=number[self.labels], row_states=number[self.row_states])

    def states_of(self, obs: Observations) -> Ints:
        """(n_x,) state of each distinct x of other observations: that of x, or of its deepest sub-cone that is a row.

        Cost: O(n_x + n_rows) for each depth and block of x.
        """
        n_x, width = obs.table().n_x, self.obs.past
        states = np.empty(n_x, np.int64)
        for begin in range(0, n_x, BLOCK):
            rows = np.arange(begin, min(begin + BLOCK, n_x))
            codes = obs.words(rows)[:, :width]
            found = np.full(rows.size, -1, np.int64)
            for known, state in self._known:
                left = np.flatnonzero(found < 0)
                asked, number = _distinct(codes[left][:, : known.width], obs.letters)
                place = place_in(known, asked)[number]
                found[left] = np.where(place >= 0, state[place], -1)
            root = np.flatnonzero(self.rows.depth == 0)
            states[rows] = np.where(found >= 0, found, self.row_states[root[0]] if root.size else self.most)
        return states

    @property
    def most(self) -> int:
        """The most frequent state."""
        return int(np.bincount(self.labels, weights=self.obs.table().weight).argmax())

    @cached_property
    def _known(self) -> list[tuple[Words, Ints]]:
        """The words that have a state, and their states: whole x, then sub-cones from the deepest to the shallowest."""
        tally = self.obs.tally()
        x, nesting = tally.x, _dependence(tally).nesting
        assert isinstance(x, Words)
        found = [(x, self.labels)]
        for depth in range(len(nesting.past), 0, -1):
            own = np.flatnonzero(self.rows.depth == depth)
            if not own.size:
                continue
            words, number = _distinct(x.words(self.rows.member[own])[:, : nesting.past[depth - 1]], x.letters)
            state = np.empty(len(words), np.int64)
            state[number] = self.row_states[own]
            found.append((words, state))
        return found

    def doubt(self) -> str | None:
        """What should be known before the states are trusted, in sentences."""
        said = []
        if self.rows.blind > MOST:
            said.append(
                f"{self.rows.blind:.0%} of the observations have past cones that are too rare to be told from others, "
                "whatever followed them; use shallower cones, or more data."
            )
        if int(self.labels.max()) > 0 and self.held_out() <= 0.0:
            said.append("The states do not predict other regions of the field better than a single one does.")
        return " ".join(said) or None

    def held_out(self) -> float:
        """Bits about the next row of cells that the states tell in each region of space, by counts of the others."""
        tally = self.obs.tally()
        dependence = _dependence(tally)
        assert isinstance(tally.z, Words)
        levels = dependence.nesting.levels(tally.z)
        pair, region = np.divmod(dependence.regional[0], dependence.n_regions)
        x, outcome = np.divmod(pair, len(tally.z))
        z, state, count = levels[min(1, len(levels) - 1)][outcome], self.labels[x], dependence.regional[1].astype(float)
        n_z, n_regions = int(z.max()) + 1, dependence.n_regions
        both, cells = keys.number(state * n_z + z, (int(state.max()) + 1) * n_z)
        here, place = keys.number(both.astype(np.int64) * n_regions + region, cells.size * n_regions)
        seen = _sums(here, count, 0)
        cell, region = np.divmod(place, n_regions)
        state, z = np.divmod(cells[cell], n_z)

        def elsewhere(kind: Ints) -> Floats:
            """What was counted of the same kind as each entry in other regions."""
            own = _sums(kind * n_regions + region, seen, (int(kind.max()) + 1) * n_regions).reshape(-1, n_regions)
            found: Floats = own.sum(axis=1)[kind] - own[kind, region]
            return found

        q = (elsewhere(z) + 0.5) / (elsewhere(np.zeros_like(z)) + 0.5 * n_z)
        p = (elsewhere(cell) + q) / (elsewhere(state) + 1.0)
        return float((seen * np.log2(p / q)).sum() / seen.sum())


def _sums(number: Ints, count: Ints | Floats, size: int) -> Floats:
    return np.bincount(number, weights=count, minlength=size).astype(float, copy=False)


def _distinct(codes: Ints, letters: tuple[Hashable, ...]) -> tuple[Words, Ints]:
    """Words of codes (n, width), and the number of each row among them."""
    packed = pack(codes, len(letters))
    rows, number = np.unique(packed, axis=0, return_inverse=True)
    return Words(letters, codes.shape[1], rows), number.reshape(-1)


def _dependence(tally: Tally) -> Dependence:
    assert tally.dependence is not None
    return tally.dependence


def states_of_cones(obs: Observations, alpha: float) -> ByCones:
    """States of light cones.

    Parameters
    ----------
    obs : light cones of fields, in memory, in slices, or their counts
    alpha : probability of a false difference

    Notes
    -----
    All follows from the counts and what `Dependence` adds to them: slices and merged counts have the same states.
    Cost: O(m depth levels) for m counts (x, z), then the counts of the rows times the states that they may belong to.
    """
    tally, table = obs.tally(), obs.table()
    assert isinstance(tally.z, Words)
    levels = np.stack(_dependence(tally).nesting.levels(tally.z))
    clumps = overdispersion(tally, levels)
    rows = told_apart(tally, table, levels, clumps, alpha)
    states = grouped(table, levels, rows, clumps, alpha)
    return ByCones(obs, rows, states[rows.of_x], states)


def overdispersion(tally: Tally, levels: Ints) -> Floats:
    """(n_levels,) how many observations say the same, at least 1.

    A pattern that only moves says the same at all times; and outcomes of one x may differ more between regions of space
    than independent ones would.
    """
    dependence = _dependence(tally)
    pair, region = np.divmod(dependence.regional[0], dependence.n_regions)
    x, outcome = np.divmod(pair, max(len(tally.z), 1))
    start = np.searchsorted(x, np.arange(len(tally.x) + 1))
    repeat = max(1.0, tally.slices / max(tally.patterns.size, 1))

    def compare(part: tuple[int, int]) -> Floats:
        own = start[part[0] : part[1] + 1], outcome, region, dependence.regional[1]
        return np.array([kernels.differences(*own, code, dependence.n_regions) for code in levels])

    # Parts of one size: the order of sums does not follow the number of threads.
    found = sum(map_slices(compare, slices(len(tally.x), -(-len(tally.x) // MANY_X))), np.zeros((len(levels), 2)))
    statistic, mean = found.T
    clumps: Floats = np.maximum(repeat, np.divide(statistic, mean, out=np.ones_like(mean), where=mean > 0.0))
    return clumps


def told_apart(tally: Tally, table: Table, levels: Ints, clumps: Floats, alpha: float) -> Rows:
    """Rows of past cones that differ from their siblings; the others are left to the sub-cones inside them."""
    dependence = _dependence(tally)
    assert isinstance(tally.x, Words)
    number = [np.zeros(table.n_x, np.int64), *dependence.nesting.sub_cones(tally.x)]
    of_x, is_open = np.full(table.n_x, -1, np.int64), np.ones(table.n_x, bool)
    found: list[tuple[Ints, Ints, Ints]] = []
    left, n_rows, blind = dependence.apart[-1], 0, 0.0
    for depth in range(len(number) - 1, 0, -1):
        own, inside = number[depth], number[depth - 1]
        first = np.flatnonzero(keys.starts(own))
        parent, apart = inside[first], np.minimum(left, dependence.apart[depth - 1])
        bounds = np.searchsorted(parent, np.arange(int(parent[-1]) + 2)), np.append(first, table.n_x)
        chance, weight = _against_siblings(*bounds, table, is_open, levels, clumps, apart / UNIT)
        live = (weight > 0.0) & (weight < _within(parent, weight))
        if depth == len(number) - 1:
            rare = _hopeless(parent, weight, apart / UNIT, clumps, FALSE * alpha)
            blind = float(weight[rare].sum() / weight.sum())
        alone = np.flatnonzero(live)[discoveries(chance[live], FALSE * alpha)]
        found.append((np.full(alone.size, depth), first[alone], apart[alone]))
        new = np.full(first.size, -1, np.int64)
        new[alone] = n_rows + np.arange(alone.size)
        n_rows += alone.size
        of_x = np.where(is_open, new[own], of_x)
        is_open = of_x < 0
        # What is left of a cone has at most as many independent observations as its sub-cones together.
        left = np.bincount(parent, weights=np.where(new >= 0, 0, apart)).astype(np.int64)
    if is_open.any():
        of_x[is_open] = n_rows
        found.append((np.zeros(1, np.int64), np.flatnonzero(is_open)[:1], np.maximum(left, 1)))
    depths, members, aparts = (np.concatenate(column) for column in zip(*found, strict=True))
    return Rows(of_x, depths, members, aparts, blind)


def _against_siblings(
    children: Ints, members: Ints, table: Table, is_open: Bools, levels: Ints, clumps: Floats, apart: Floats
) -> tuple[Floats, Floats]:
    """(n_sub_cones,) p-values of sub-cones against the others inside the same cone, and their open counts."""
    chance, weight = np.empty((2, members.size - 1))
    counts = table.start, table.outcome, table.count, is_open

    def compare(part: tuple[int, int]) -> None:
        own = children[part[0] : part[1] + 1]
        kernels.compare_siblings(own, members, *counts, levels, clumps, apart, chance, weight)

    list(map_slices(compare, slices(children.size - 1, len(slices(table.count.size)))))
    return chance, weight


def _within(parent: Ints, values: Floats) -> Floats:
    """(n,) the sum of values over all that have the same parent."""
    return _sums(parent, values, 0)[parent]


def _hopeless(parent: Ints, weight: Floats, apart: Floats, clumps: Floats, level: float) -> Bools:
    """Which sub-cones would not differ from their siblings even if none of their outcomes were the same."""
    n = _within(parent, weight)
    rest, others = n - weight, _within(parent, apart) - apart
    with np.errstate(divide="ignore", invalid="ignore"):
        shared = (1.0 / apart + 1.0 / others) / (1.0 / weight + 1.0 / rest) * clumps.min()
        ratio = weight * np.log(n / weight) + rest * np.log(n / rest)
        hopeless: Bools = ~(2.0 * clumps.size * np.exp(-ratio / np.maximum(shared, 1.0)) < level)
    return hopeless


def discoveries(chance: Floats, rate: float) -> Bools:
    """Which p-values are so small that at most a share `rate` of those like them is chance (Benjamini, Hochberg)."""
    ordered = np.sort(chance)
    good = np.flatnonzero(ordered <= rate * np.arange(1, chance.size + 1) / max(chance.size, 1))
    found: Bools = chance <= (ordered[good[-1]] if good.size else -1.0)
    return found


def grouped(table: Table, levels: Ints, rows: Rows, clumps: Floats, alpha: float) -> Ints:
    """(n_rows,) states: rows that no nested future tells apart, the rows with most evidence first."""
    near = min(1, len(levels) - 1)
    of_entry = np.repeat(rows.of_x, np.diff(table.start))
    counted = [_counts(of_entry, code[table.outcome], table.count) for code in levels]
    label, apart = np.arange(rows.depth.size), rows.apart
    for _ in range(ROUNDS):
        n = apart.size
        start, outcome, count = _tables(counted, n, levels)
        weight = np.add.reduceat(count, start[-1][:-1])
        share = np.bincount(outcome, weights=count) / weight.sum()
        order = np.lexsort((_marks(start[-1], outcome, count, share), -weight, -apart))
        new = np.empty(n, np.int64)
        evidence = weight, apart / UNIT, near, share, clumps, alpha / MANY, TRIES
        n_states = kernels.visit(order, start, outcome, count, *evidence, new)
        label = new[label]
        if n - n_states <= FEW * n:
            break
        counted = [_counts(new[row], z, times) for row, z, times in counted]
        together = np.zeros(n_states, np.int64)
        np.add.at(together, new, apart)
        apart = together
    return label


def _counts(row: Ints, z: Ints, count: Ints | Floats) -> tuple[Ints, Ints, Floats]:
    """The row, the outcome and the count of what occurs, in the order of both."""
    size = int(z.max()) + 1
    number, pair = keys.number(row * size + z, (int(row.max()) + 1) * size)
    return *np.divmod(pair, size), _sums(number, count, 0)


def _tables(counted: list[tuple[Ints, Ints, Floats]], n: int, levels: Ints) -> tuple[Ints, Ints, Floats]:
    """Counts of n rows for each level, one level after the other, with outcomes numbered through all of them."""
    starts, outcomes, first, base = [], [], 0, 0
    for (row, z, _), code in zip(counted, levels, strict=True):
        starts.append(first + np.searchsorted(row, np.arange(n + 1)))
        outcomes.append(base + z)
        first, base = first + row.size, base + int(code.max()) + 1
    return np.stack(starts), np.concatenate(outcomes), np.concatenate([count for _, _, count in counted])


def _marks(start: Ints, outcome: Ints, count: Floats, share: Floats) -> NDArray[np.uint64]:
    """A number for each row that neither the names nor the order of outcomes and rows change.

    Rows are told apart by their outcomes, these by their rows, and so on until no more are. Cost: O(m) each time.
    """
    outcome, count = outcome[start[0] : start[-1]], count[start[0] : start[-1]]
    row = np.repeat(np.arange(start.size - 1), np.diff(start))
    times, codes = _mixed(count.view(np.uint64)), _mixed(share.view(np.uint64))
    known = 0
    while True:
        marks: NDArray[np.uint64] = np.add.reduceat(_mixed(codes[outcome] ^ times), start[:-1] - start[0])
        n = np.unique(marks).size
        if n <= known or n == marks.size:
            return marks
        known = n
        found = np.zeros_like(codes)
        np.add.at(found, outcome, _mixed(marks[row] ^ times))
        codes = _mixed(codes ^ found)


def _mixed(codes: NDArray[np.uint64]) -> NDArray[np.uint64]:
    return mixed(codes, 0xD6E8FEB86659FD93)
