"""Hidden states behind a series: machines whose symbols may lead to several states, by splitting, merging and EM.

A hidden machine of K states is improved by expectation and maximisation, in steps that are lengthened while the
likelihood grows. From the best machine of K states those of K + 1 begin: each state is split, and some are drawn at
random; an epsilon-machine of the series begins one too. Steps that are hardly used are dropped where that is shorter,
and states are merged. Every machine is judged by the bits of the symbols, from the stationary belief, and those of the
machine: ½ log2 N for each dimension of what it can say, and which of its steps there are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property, partial
from math import lgamma, log
from typing import Any

import numpy as np

from .._kernels import hidden_paths as kernels
from ..machines.belief_machine import BeliefMachine
from ..machines.mixed_states import labelled
from ..support.arrays import Bools, Floats, Ints
from ..support.executors import map_slices
from .search import Budget

# Symbols between beliefs that are kept, and of a series that is followed by one thread alone.
EVERY = 4_096
SHORT = 1 << 15
# Groups of blocks whose sums are added in order, so that threads change nothing.
GROUPS = 16
# Symbols on which starts are compared, first, and on which machines are improved at most.
COMPARED = 20_000
IMPROVED = 1 << 20
# Passes of starts, of the best of them, and of a machine that is judged; how many of the best go on.
PASSES = (15, 60, 400)
BEST = 3
# Less gain than this, in bits for each pass, is the end; in all of the last passes.
ENOUGH = 0.02
# Machines drawn at random for each number of states, and states that are split.
DRAWN = 4
SPLIT = 6
# Numbers of states in a row that may be no shorter before the search ends.
PATIENCE = 2
# How much longer a step becomes after one that gained, and the longest.
LONGER, LONGEST = 1.3, 8.0
# How much more probable a step may become at once, so that powers of it are numbers.
STEEPEST = 1e30
# Expected uses below which a step may be an accident.
RARE = 1.0
SEED = 20_111


@dataclass(frozen=True, eq=False)
class Hidden:
    """Steps (n_symbols, n_states, n_states) of a hidden machine, and what is believed at the start of a sequence."""

    steps: Floats
    home: Floats

    @property
    def n_states(self) -> int:
        return self.home.size

    @cached_property
    def turned(self) -> Floats:
        return np.ascontiguousarray(self.steps.transpose(0, 2, 1))

    def settled(self) -> Hidden:
        """The same steps from their stationary belief."""
        return Hidden(self.steps, np.array(BeliefMachine(self.steps).stationary))


@dataclass(frozen=True, eq=False)
class Expected:
    """What a series says of a hidden machine: expected uses of steps, first states, bits, symbols that cannot be."""

    uses: Floats
    starts: Floats
    log2p: float
    misses: int


@dataclass(frozen=True, eq=False)
class HiddenSeries:
    """Numbered symbols of sequences end to end.

    Attributes
    ----------
    codes : (n,) numbers of symbols
    opens : (n,) whether a sequence begins there
    n_symbols : different symbols
    """

    codes: Ints
    opens: Bools
    n_symbols: int

    @property
    def size(self) -> int:
        return self.codes.size

    def beginning(self, n: int) -> HiddenSeries:
        return self if n >= self.size else HiddenSeries(self.codes[:n], self.opens[:n], self.n_symbols)

    def log2p(self, machine: Hidden) -> tuple[float, int]:
        """log2-probability of the symbols that can be, and how many cannot. Cost: O(n n_states²)."""
        kept = np.empty((1, machine.n_states))
        found = kernels.forward(
            self.codes, 0, self.size, self.opens, machine.steps, machine.home, machine.home.copy(), self.size + 1, kept
        )
        return float(found[0]), int(found[1])

    def expected(self, machine: Hidden) -> Expected:
        """What the symbols say of each step. Cost: O(n n_states²): two walks that only keep a belief for each block, at
        the same time, and then the blocks, which no longer depend on each other."""
        n_blocks = -(-self.size // EVERY)
        before, after = np.empty((2, n_blocks, machine.n_states))
        ahead = np.full(machine.n_states, 1.0 / machine.n_states)
        walks = [
            partial(kernels.forward, *self._all, machine.steps, machine.home, machine.home.copy(), EVERY, before),
            partial(kernels.backward, *self._all, machine.turned, ahead, EVERY, after),
        ]
        (log2p, misses), _ = (walk() for walk in walks) if self.size < SHORT else map_slices(_called, walks)
        work = partial(self._group, machine, before, after)
        groups = [part for part in np.array_split(np.arange(n_blocks), GROUPS) if part.size]
        found = list(map(work, groups) if self.size < SHORT else map_slices(work, groups))
        uses, starts = (sum((one[k] for one in found[1:]), found[0][k]) for k in (0, 1))
        return Expected(machine.steps * uses, starts, float(log2p), int(misses))

    @property
    def _all(self) -> tuple[Ints, int, int, Bools]:
        return self.codes, 0, self.size, self.opens

    def _group(self, machine: Hidden, before: Floats, after: Floats, blocks: Ints) -> tuple[Floats, Floats]:
        uses, starts = np.zeros(machine.steps.shape), np.zeros(machine.n_states)
        for block in blocks.tolist():
            first, last = block * EVERY, min((block + 1) * EVERY, self.size)
            arrays = machine.steps, machine.turned, machine.home, before[block], after[block]
            kernels.block_uses(self.codes, first, last, self.opens, *arrays, uses, starts)
        return uses, starts

    def improve(self, machine: Hidden, passes: int, budget: Budget | None = None) -> Hidden:
        """Expectation and maximisation, in steps that are lengthened while they gain; the likelihood never falls."""
        seen, length, gained = self.expected(machine), 1.0, np.inf
        for _ in range(passes):
            if budget is not None and not budget.spend(4.0 * self.size * (machine.n_states**2 + 10)):
                break
            tried = _maximised(machine, seen, length)
            found = self.expected(tried)
            if found.misses > seen.misses or found.log2p < seen.log2p:
                if length == 1.0:
                    break
                length = 1.0
                continue
            gained = found.log2p - seen.log2p
            machine, seen, length = tried, found, min(length * LONGER, LONGEST)
            if gained < ENOUGH:
                break
        return machine


def _called(walk: Any) -> Any:
    return walk()


def _maximised(machine: Hidden, seen: Expected, length: float) -> Hidden:
    """The machine under which the expected uses are likeliest, or one further in that direction."""
    best = _shares(seen.uses, machine.steps)
    if length != 1.0:
        ratio = np.divide(best, machine.steps, out=np.zeros_like(best), where=machine.steps > 0.0)
        best = _shares(machine.steps * np.minimum(ratio, STEEPEST) ** length, best)
    return Hidden(best, seen.starts / seen.starts.sum())


def _shares(uses: Floats, otherwise: Floats) -> Floats:
    """Steps in proportion to their uses; those of a state that was never used are others."""
    total = uses.sum(axis=(0, 2), keepdims=True)
    shares: Floats = np.divide(uses, total, out=otherwise.copy(), where=total > 0.0)
    return shares


@dataclass(frozen=True, eq=False)
class BeliefCandidate:
    """A hidden machine that was considered, and how well it describes the series.

    Attributes
    ----------
    machine : its steps
    log_likelihood : log2-probability of the symbols, from the stationary belief, in bits
    description_length : bits of the symbols and of the machine
    """

    machine: Hidden = field(repr=False)
    log_likelihood: float
    description_length: float

    @property
    def n_states(self) -> int:
        return self.machine.n_states


def judged(machine: Hidden, series: HiddenSeries) -> BeliefCandidate:
    """The machine on all symbols; a symbol that it holds impossible costs as in the description of a unifilar one."""
    log2p, misses = series.log2p(machine.settled())
    n, (n_symbols, k, _) = float(np.log2(max(series.size, 2))), machine.steps.shape
    steps = int((machine.steps > 0.0).sum())
    # Machines that differ by a change of basis say the same.
    dimensions = min(steps - k, k * k * (n_symbols - 1))
    which = (lgamma(machine.steps.size + 1) - lgamma(steps + 1) - lgamma(machine.steps.size - steps + 1)) / log(2.0)
    length = -log2p + misses * (n + np.log2(n_symbols)) + 0.5 * n * dimensions + which
    return BeliefCandidate(machine, log2p, float(length))


def pruned(machine: Hidden, series: HiddenSeries, budget: Budget) -> Hidden:
    """The machine without the steps that are hardly used, while that is shorter."""
    best = judged(machine, series)
    for rare in (RARE, 10.0 * RARE, 100.0 * RARE):
        seen = series.expected(best.machine)
        keep = seen.uses >= rare
        keep |= seen.uses >= seen.uses.max(axis=(0, 2), keepdims=True)
        if keep.sum() == (best.machine.steps > 0.0).sum():
            continue
        steps = _shares(np.where(keep, seen.uses, 0.0), best.machine.steps)
        tried = judged(series.improve(Hidden(steps, best.machine.home), PASSES[0], budget), series)
        if tried.description_length < best.description_length:
            best = tried
    return best.machine


def split(machine: Hidden, state: int, rng: np.random.Generator) -> Hidden:
    """The machine with one state twice, which differ a little at random."""
    index = np.append(np.arange(machine.n_states), state)
    steps = machine.steps[:, index][:, :, index]
    n = index.size
    share = rng.uniform(0.2, 0.8, (machine.steps.shape[0], n))
    steps[:, :, state] *= share
    steps[:, :, -1] *= 1.0 - share
    for copy in (state, n - 1):
        steps[:, copy] *= np.exp(0.5 * rng.normal(size=steps[:, copy].shape))
    steps /= steps.sum(axis=(0, 2), keepdims=True)
    home = machine.home[index]
    home[[state, -1]] *= 0.5
    return Hidden(steps, home)


def merged(machine: Hidden, weight: Floats, pair: tuple[int, int]) -> Hidden:
    """The machine with two states as one: a mean of what leaves them, and the sum of what leads to them."""
    i, j = pair
    keep = np.delete(np.arange(machine.n_states), j)
    steps = machine.steps.copy()
    share = np.array([weight[i], weight[j]]) + 1e-12
    steps[:, i] = (share[0] * steps[:, i] + share[1] * steps[:, j]) / share.sum()
    steps[:, :, i] += steps[:, :, j]
    home = machine.home.copy()
    home[i] += home[j]
    return Hidden(np.ascontiguousarray(steps[:, keep][:, :, keep]), home[keep])


def drawn(n_symbols: int, n_states: int, rng: np.random.Generator) -> Hidden:
    """A machine drawn at random."""
    steps = rng.dirichlet(np.full(n_symbols * n_states, 0.5), n_states) + 1e-6
    steps = (steps / steps.sum(axis=1, keepdims=True)).reshape(n_states, n_symbols, n_states)
    return Hidden(np.ascontiguousarray(steps.transpose(1, 0, 2)), np.full(n_states, 1.0 / n_states))


def softened(targets: Ints, emission: Floats, share: float = 0.2) -> Hidden:
    """A unifilar machine whose symbols may also lead anywhere, to begin with."""
    n = len(targets)
    steps = (1.0 - share) * labelled(targets, emission)
    steps += share * np.repeat(emission.T[:, :, None] / n, n, axis=2) + 1e-6
    steps /= steps.sum(axis=(0, 2), keepdims=True)
    return Hidden(steps, np.full(n, 1.0 / n))


class Search:
    """The search for hidden machines of a series.

    Parameters
    ----------
    series : the symbols
    budget : operations that it may take
    say : called with a line of text at each step
    """

    def __init__(self, series: HiddenSeries, budget: Budget, say: Callable[[str], None]) -> None:
        self.series, self.budget, self.say = series, budget, say
        self.few, self.many = series.beginning(COMPARED), series.beginning(IMPROVED)
        self.rng = np.random.default_rng(SEED)

    def best_of(self, starts: Iterator[Hidden]) -> BeliefCandidate | None:
        """The best of several machines after EM: of all on a few symbols, then of the best of them on all."""
        found: list[Hidden] = []
        for start in starts:
            if self.budget.spent:
                break
            found.append(self.few.improve(start, PASSES[0], self.budget))
        again = [self.few.improve(one, PASSES[1], self.budget) for one in self._likeliest(found)[:BEST]]
        last = [
            self.many.improve(one, PASSES[2], self.budget)
            for one in self._likeliest(again)[: 1 if self.few is self.many else 2]
        ]
        ends = [judged(pruned(one, self.many, self.budget), self.series) for one in last]
        return min(ends, key=lambda end: end.description_length, default=None)

    def _likeliest(self, machines: list[Hidden]) -> list[Hidden]:
        return sorted(machines, key=lambda one: -self.few.log2p(one)[0])

    def starts(self, known: BeliefCandidate) -> Iterator[Hidden]:
        """Machines with one state more: states of the best one split, the likeliest first, and others drawn."""
        weight = known.machine.settled().home
        for state in np.argsort(-weight, kind="stable")[:SPLIT].tolist():
            yield split(known.machine, state, self.rng)
        for _ in range(DRAWN):
            yield drawn(self.series.n_symbols, known.n_states + 1, self.rng)

    def fewer(self, known: BeliefCandidate) -> Iterator[Hidden]:
        """Machines with one state less: the pairs whose merger costs least on a few symbols."""
        weight, n = known.machine.settled().home, known.n_states
        pairs = [(i, j) for i in range(n) for j in range(i + 1, n)]
        tried = [merged(known.machine, weight, pair) for pair in pairs]
        bits = [-self.few.log2p(one)[0] for one in tried]
        yield from (tried[k] for k in np.argsort(bits, kind="stable")[:BEST])

    def grown(self) -> list[BeliefCandidate]:
        """The best machines of one state, two, ... until more are no shorter."""
        count = np.bincount(self.series.codes, minlength=self.series.n_symbols)
        alone = Hidden((count / count.sum())[:, None, None], np.ones(1))
        found, worse = [judged(alone, self.series)], 0
        while worse < PATIENCE and not self.budget.spent:
            best = self.best_of(self.starts(found[-1]))
            if best is None:
                break
            self.say(f"{best.n_states} hidden states: {best.description_length:,.1f} bits")
            worse = worse + 1 if best.description_length >= min(c.description_length for c in found) else 0
            found.append(best)
        return found

    def shrunk(self, known: BeliefCandidate) -> list[BeliefCandidate]:
        """The machines of fewer and fewer states that a large one leads to, while they are shorter."""
        found = [known]
        while found[-1].n_states > 1 and not self.budget.spent:
            best = self.best_of(self.fewer(found[-1]))
            if best is None or best.description_length >= found[-1].description_length:
                break
            self.say(f"{best.n_states} hidden states by merging: {best.description_length:,.1f} bits")
            found.append(best)
        return found


def hidden_series(codes: Ints, bounds: Ints, n_symbols: int) -> HiddenSeries:
    """The symbols that are known, -1 = missing; a sequence begins anew after a gap."""
    opens = np.zeros(codes.size, bool)
    opens[bounds[:-1][np.diff(bounds) > 0]] = True
    opens[1:] |= codes[:-1] < 0
    return HiddenSeries(codes[codes >= 0].astype(np.int32), opens[codes >= 0], n_symbols)
