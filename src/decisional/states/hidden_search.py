"""Hidden states behind a series: machines whose symbols may lead to several states, by splitting, merging and EM.

A hidden machine of K states is improved by expectation and maximisation, in steps that are lengthened while the
likelihood grows. From the best machine of K states those of K + 1 begin: each state is split, and some are drawn at
random; an epsilon-machine of the series begins one too. Steps that are hardly used are dropped where that is shorter,
and states are merged. Every machine is judged by the bits of the symbols, from the stationary belief, and those of the
machine: ½ log2 N for each dimension of what it can say, and which of its steps there are.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import lgamma, log

import numpy as np

from ..support.arrays import Floats
from ..support.progress import tell
from .hidden_series import Hidden, HiddenSeries, HiddenSymbols, shares
from .search import Budget

# Symbols on which starts are compared, first, and on which machines are improved at most.
COMPARED = 20_000
IMPROVED = 1 << 20
# Passes of starts, of the best of them, and of a machine that is judged; how many of the best go on.
PASSES = (15, 60, 400)
BEST = 3
# Machines drawn at random for each number of states, and states that are split.
DRAWN = 4
SPLIT = 6
# Numbers of states in a row that may be no shorter before the search ends.
PATIENCE = 2
# Expected uses below which a step may be an accident.
RARE = 1.0
SEED = 20_111


@dataclass(frozen=True, eq=False)
class BeliefCandidate:
    """A hidden machine that was considered, and how well it describes the series.

    Attributes
    ----------
    machine : its steps
    log_likelihood : log2-probability of the symbols, from the stationary belief, in bits
    description_length : bits of the symbols and of the machine
    dimensions : how many numbers say what the machine can say
    """

    machine: Hidden = field(repr=False)
    log_likelihood: float
    description_length: float
    dimensions: int

    @property
    def n_states(self) -> int:
        return self.machine.n_states


def judged(machine: Hidden, series: HiddenSymbols) -> BeliefCandidate:
    """The machine on all symbols; a symbol that it holds impossible costs as in the description of a unifilar one."""
    log2p, misses = series.log2p(series.settled(machine))
    n, (n_symbols, k, _) = float(np.log2(max(series.size, 2))), machine.steps.shape
    steps = int((machine.steps > 0.0).sum())
    # Machines that differ by a change of basis say the same.
    dimensions = min(steps - k, k * k * (n_symbols - 1))
    which = (lgamma(machine.steps.size + 1) - lgamma(steps + 1) - lgamma(machine.steps.size - steps + 1)) / log(2.0)
    length = -log2p + misses * (n + np.log2(n_symbols)) + 0.5 * n * dimensions + which
    return BeliefCandidate(machine, log2p, float(length), dimensions)


def pruned(machine: Hidden, series: HiddenSymbols, budget: Budget) -> Hidden:
    """The machine without the steps that are hardly used, while that is shorter."""
    best = judged(machine, series)
    for rare in (RARE, 10.0 * RARE, 100.0 * RARE):
        seen = series.expected(best.machine)
        keep = seen.uses >= rare
        keep |= seen.uses >= seen.uses.max(axis=(0, 2), keepdims=True)
        if keep.sum() == (best.machine.steps > 0.0).sum():
            continue
        steps = shares(np.where(keep, seen.uses, 0.0), best.machine.steps)
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


class Search:
    """The search for hidden machines of a series.

    Parameters
    ----------
    series : the symbols
    budget : operations that it may take
    """

    def __init__(self, series: HiddenSeries, budget: Budget) -> None:
        self.series, self.budget = series, budget
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
            tell(f"{best.n_states} hidden states: {best.description_length:,.1f} bits")
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
            tell(f"{best.n_states} hidden states by merging: {best.description_length:,.1f} bits")
            found.append(best)
        return found
