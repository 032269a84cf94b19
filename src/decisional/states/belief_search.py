"""The hidden states behind a series, without parameters: found by splitting, merging and EM, judged by bits.

A hidden machine of K states is improved by expectation and maximisation, in steps that are lengthened while the
likelihood grows. From the best machine of K states those of K + 1 begin: each state is split, and some are drawn at
random; an epsilon-machine of the series begins one too. Steps that are hardly used are dropped where that is shorter,
and states are merged. Every machine is judged by the bits of the symbols, from the stationary belief, and those of the
machine: ½ log2 N for each dimension of what it can say, and which of its steps there are.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field, replace
from math import lgamma, log
from typing import Any

import numpy as np

from ..data.sequences import Symbols, read
from ..machines.belief_machine import BeliefMachine
from ..support.arguments import real, teller
from ..support.arrays import Floats, Ints
from .hidden_series import Hidden, HiddenSeries, HiddenSymbols, softened
from .hidden_strings import HiddenStrings, StringSearch, closed, different_sizes, lean
from .machine_selection import CERTAIN, OPERATIONS, Progress, Selection, select
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
SECONDS = 60.0
SEED = 20_111


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


def judged(machine: Hidden, series: HiddenSymbols) -> BeliefCandidate:
    """The machine on all symbols; a symbol that it holds impossible costs as in the description of a unifilar one."""
    log2p, misses = series.log2p(series.settled(machine))
    n, (n_symbols, k, _) = float(np.log2(max(series.size, 2))), machine.steps.shape
    steps = int((machine.steps > 0.0).sum())
    # Machines that differ by a change of basis say the same.
    dimensions = min(steps - k, k * k * (n_symbols - 1))
    which = (lgamma(machine.steps.size + 1) - lgamma(steps + 1) - lgamma(machine.steps.size - steps + 1)) / log(2.0)
    length = -log2p + misses * (n + np.log2(n_symbols)) + 0.5 * n * dimensions + which
    return BeliefCandidate(machine, log2p, float(length))


def pruned(machine: Hidden, series: HiddenSymbols, budget: Budget) -> Hidden:
    """The machine without the steps that are hardly used, while that is shorter."""
    best = judged(machine, series)
    for rare in (RARE, 10.0 * RARE, 100.0 * RARE):
        seen = series.expected(best.machine)
        keep = seen.uses >= rare
        keep |= seen.uses >= seen.uses.max(axis=(0, 2), keepdims=True)
        if keep.sum() == (best.machine.steps > 0.0).sum():
            continue
        uses = np.where(keep, seen.uses, 0.0)
        steps = uses / uses.sum(axis=(0, 2), keepdims=True)
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
    say : called with a line of text at each step
    """

    def __init__(self, series: HiddenSeries, budget: Budget, say: Progress) -> None:
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


@dataclass(frozen=True, eq=False)
class BeliefSelection:
    """Hidden machines that were considered for a series, beside the unifilar ones.

    Attributes
    ----------
    candidates : the hidden machines, shortest description first
    unifilar : the selection among unifilar machines, on the same scale
    alphabet : the symbols
    n_symbols : how many symbols each describes
    cut : whether the search was ended by the time that it was given
    whole : whether the sequences are whole strings, whose end is the last symbol
    """

    candidates: tuple[BeliefCandidate, ...]
    unifilar: Selection
    alphabet: tuple[Hashable, ...]
    n_symbols: int
    cut: bool
    whole: bool = False

    @property
    def machine(self) -> BeliefMachine:
        """The hidden machine of the shortest description, states by decreasing probability."""
        steps, home = self.candidates[0].machine.steps, self.candidates[0].machine.home
        order = np.argsort(-np.round(BeliefMachine(steps).stationary, 12), kind="stable")
        start = home[order] if self.whole else None
        return BeliefMachine(np.ascontiguousarray(steps[:, order][:, :, order]), self.alphabet, start=start)

    @property
    def gain(self) -> float:
        """Bits by which the hidden machine is shorter than the unifilar one; negative where it is longer."""
        return self.unifilar.chosen.description_length - self.candidates[0].description_length

    @property
    def is_finite(self) -> bool:
        """Whether a unifilar machine, an epsilon-machine of finitely many states, is to be preferred."""
        return self.gain < CERTAIN

    def __repr__(self) -> str:
        best, other = self.candidates[0], self.unifilar.chosen
        return (
            f"BeliefSelection({best.n_states} hidden states, {best.description_length:,.1f} bits; epsilon-machine of "
            f"{other.n_states}, {other.description_length:,.1f} bits, for {self.n_symbols:,} symbols)"
        )


def belief_machine(
    symbols: Any,
    *,
    missing: Hashable = None,
    sequences: bool | None = None,
    whole: bool = False,
    seconds: float = SECONDS,
) -> BeliefMachine:
    """The hidden states behind a symbol series, where no finite epsilon-machine tells all; without parameters.

    Parameters
    ----------
    symbols, missing, sequences : one or several sequences, as for `observe.series`
    whole : whether the sequences are whole strings, as for `epsilon_machine`
    seconds : time of this process after which the best machine so far is taken; work is bounded anyway

    Returns
    -------
    BeliefMachine : states by decreasing probability; that of whole strings has a `start`. Cost: that of
        `select_beliefs`.

    Examples
    --------
    >>> import decisional as ds
    >>> sensor = ds.processes.misread(ds.processes.even(), 0.05)
    >>> belief_machine(sensor.simulate(5_000, rng=1)).n_states
    2
    """
    return select_beliefs(symbols, missing=missing, sequences=sequences, whole=whole, seconds=seconds).machine


def select_beliefs(
    symbols: Any,
    *,
    missing: Hashable = None,
    sequences: bool | None = None,
    whole: bool = False,
    seconds: float = SECONDS,
    progress: Progress | None = None,
) -> BeliefSelection:
    """Search for hidden machines and for unifilar ones, and compare all by description length.

    Parameters are those of `belief_machine`; `progress` is called with a line of text at each step. Cost: passes of
    O(n n_states²), at most OPERATIONS in all, besides `select`.
    """
    seconds = real(seconds, "seconds", above=0, remedy="try seconds=60", of="select_beliefs")
    say, budget = teller(progress), Budget(OPERATIONS, seconds)
    how: dict[str, Any] = {"missing": missing, "sequences": sequences, "seconds": seconds, "progress": progress}
    unifilar = select(symbols, whole=whole, **how)
    if unifilar.whole:
        return _select_strings(unifilar, budget, say)
    source = read(symbols, missing, sequences)
    # Ties are decided in the order in which symbols appear, so that their names change nothing.
    place = source.appearance
    series = _numbered(source, np.append(place, -1))
    search = Search(series, budget, say)
    found = search.grown()
    chosen = unifilar.chosen
    order = np.argsort(place)
    begun = softened(chosen.targets[:, order], chosen.emission[:, order])
    known = None if chosen.n_states == 1 else search.best_of(iter([begun]))
    found += [] if known is None else search.shrunk(known)
    found.sort(key=lambda c: (round(c.description_length, 2), c.n_states))
    candidates = tuple(replace(c, machine=Hidden(c.machine.steps[place], c.machine.home)) for c in found)
    return BeliefSelection(candidates, unifilar, source.letters, series.size, budget.cut)


def _select_strings(unifilar: Selection, budget: Budget, say: Progress) -> BeliefSelection:
    """Hidden machines of whole strings that foretell others best, by description length."""
    assert unifilar.data is not None
    known, place = unifilar.data
    order = np.argsort(place)
    search = StringSearch(HiddenStrings(known.codes, known.n_symbols), budget)
    begun = [(c.targets[:, order], c.counts[:, order]) for c in different_sizes(unifilar.candidates)]
    found = []
    for one in search.best(begun):
        along = judged(pruned(lean(search.on_all(one.machine)), search.series, budget), search.series)
        found.append(replace(along, machine=closed(along.machine)))
        say(f"{found[-1].n_states} hidden states: {found[-1].description_length:,.1f} bits")
    found.sort(key=lambda c: (round(c.description_length, 2), c.n_states))
    candidates = tuple(replace(c, machine=Hidden(c.machine.steps[place], c.machine.home)) for c in found)
    return BeliefSelection(candidates, unifilar, unifilar.alphabet, known.size, budget.cut, whole=True)


def _numbered(source: Symbols, place: Ints) -> HiddenSeries:
    """The symbols that are known, by their places; a sequence begins anew after a gap."""
    codes = place[source.lut][source.raw]
    opens = np.zeros(codes.size, bool)
    opens[source.bounds[:-1][np.diff(source.bounds) > 0]] = True
    opens[1:] |= codes[:-1] < 0
    return HiddenSeries(codes[codes >= 0].astype(np.int32), opens[codes >= 0], len(source.letters))
