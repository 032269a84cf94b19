"""Step 3 of the figure: symbol constraints, so that (state, symbol) leads to one state.

States are refined by splitting: rows that go to different states on the same symbol are told apart, unless one
target has a share above theta. Short windows make this dangerous: a window that does not yet tell the state
(unsynchronised: 1111 in the Even process) is a mixture of states, and splitting on its account invents states.
So a split is kept only if it shortens the description of the data: the symbols that followed every window, as
predicted by the recurrent machine from that window alone, plus the machine itself.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._kernels import beliefs as kernels
from .._kernels.components import connect
from .._kernels.description_lengths import description_length
from ..data.tally import Steps
from ..machines import chains
from ..support.arrays import Bools, Floats, Ints
from .search import best_merger

CONSTRAINTS = ("evidence", "paper", "none")
# Refinement ends at this many states more than clustering found: no data describe such machines shorter.
MORE_STATES = 250
# What theta passes over as strays may be the only way out of a state, as in a long cycle: as long as the best machine
# holds symbols impossible that were seen, refinement goes on with ten and a hundred times fewer strays.
STRAYS = (1.0, 0.1, 0.01)
# Refinement also ends when so many in a row are longer than the best, which holds nothing impossible that was seen.
PATIENCE = 3
# States that are also tried merged by their symbols, pair after pair.
MOST_MERGED = 20
# Re-estimation of the recurrent machine; each round is one pass over the distinct windows.
ROUNDS = 10


@dataclass(frozen=True)
class Unifilar:
    """States of the rows with one target per (state, symbol).

    Attributes
    ----------
    labels : (n_rows,) state of each row
    targets : (n_states, n_symbols) state that follows, -1 = none
    emission : (n_states, n_symbols) probability of the symbol
    unresolved : (state, symbol, share) where the most frequent target has no share above theta, although
        the windows it leads to are synchronised
    """

    labels: Ints
    targets: Ints
    emission: Floats
    unresolved: tuple[tuple[int, int, float], ...]


@dataclass(frozen=True, eq=False)
class _Candidate:
    labels: Ints
    targets: Ints
    emission: Floats
    share: Floats
    length: float = np.inf
    fit: float = np.inf
    misses: float = 0.0
    # Of the recurrent part, once it is described.
    recurrent: Ints | None = None
    prior: Any = None
    counts: Any = None


def merge_successors(steps: Steps, n_rows: int, theta: float) -> Ints:
    """The paper's merge step: rows reached from one row by one symbol are one group, strays (a share of at
    most 1 - theta) excepted. Returns (n_rows,) group numbers."""
    symbols = int(steps.symbol.max(initial=-1)) + 1
    pair = np.unique(steps.source * symbols + steps.symbol, return_inverse=True)[1]
    kept = np.flatnonzero(steps.count > (1 - theta) * np.bincount(pair, weights=steps.count)[pair])
    kept = kept[np.argsort(pair[kept], kind="stable")]
    same = pair[kept][1:] == pair[kept][:-1]
    a, b = steps.target[kept][:-1][same], steps.target[kept][1:][same]
    first = np.empty(n_rows, np.int64)
    connect(a, b, first)
    return np.unique(first, return_inverse=True)[1]


def reconcile(
    labels: Ints,
    steps: Steps,
    n_symbols: int,
    weight: Ints,
    theta: float = 0.95,
    constraints: str = "evidence",
    contexts: tuple[Ints, Ints] | None = None,
) -> Unifilar:
    """Refine the states of rows until (state, symbol) leads to one state, as far as the data back it.

    Parameters
    ----------
    labels : (n_rows,) states found by clustering
    steps : counted transitions between rows, sorted by (source, symbol), as `Steps.relabel` returns them
    n_symbols : size of the alphabet
    weight : (n_rows,) observations of each row
    theta : share above which the most frequent target stands for all, in (0.5, 1]
    constraints : "evidence": of all refinements, the one with the shortest description, its recurrent part
        re-estimated from what the windows say of the state; "paper": split to the end, plain counts;
        "none": no split, the most frequent target
    contexts : the rows as words in time, for "evidence": (n_rows, past) symbols, most recent first, and (n_rows,) how
        many of them count; without them there is no evidence, and no split

    Returns
    -------
    Unifilar. Refinement only ever splits, so it ends after at most n_rows rounds.

    Cost: O(rounds (m log m + n_rows past K)) for m transitions and K states.
    """
    labels = np.unique(labels, return_inverse=True)[1]
    if constraints == "paper":
        *_, last = _refinements(labels, steps, n_symbols, theta)
        return _result(last, theta)
    if constraints == "none" or contexts is None:
        return _result(_machine(labels, steps, n_symbols), theta)
    data = _Data(contexts, steps, n_symbols, weight)
    candidates: list[_Candidate] = []
    for stray in STRAYS:
        sure = 1.0 - stray * (1.0 - theta)
        for refinement in _refinements(labels, steps, n_symbols, sure, weight):
            candidates.append(data.describe(refinement))
            best = min(candidates, key=lambda c: c.length)
            if best.misses == 0 and candidates[-1 - PATIENCE :].count(best) == 0:
                break
        if best.misses == 0:
            break
    if len(candidates) > 1:
        for coarser in map(data.describe, _coarsenings(candidates[0], steps, n_symbols)):
            # With the same machine, windows that do not tell the state are better off in states of their own.
            if coarser.length < best.length and coarser.fit < best.fit - 1.0:
                best = coarser
    return data.place(data.merge(best), theta)


def _refinements(
    labels: Ints, steps: Steps, n_symbols: int, theta: float, weight: Ints | None = None
) -> Iterator[_Candidate]:
    """The states as they are, then split once, twice, ... until no split is called for.

    Given the weight of the rows, only recurrent states are split (transient ones are mixtures: windows that do
    not tell the state), up to MORE_STATES.
    """
    most = np.inf if weight is None else labels.max(initial=0) + 1 + MORE_STATES
    while True:
        candidate = _machine(labels, steps, n_symbols)
        yield candidate
        doubtful = _doubtful(candidate.share, theta)
        if weight is not None:
            found = _recurrent(candidate.targets, candidate.emission, np.bincount(labels, weights=weight).astype(float))
            if found is not None:
                doubtful[np.setdiff1d(np.arange(len(doubtful)), found)] = False
        finer = _split(labels, steps, candidate.targets, doubtful)
        if finer.max(initial=-1) == labels.max(initial=-1) or finer.max() >= most:
            return
        labels = finer


def _coarsenings(candidate: _Candidate, steps: Steps, n_symbols: int) -> Iterator[_Candidate]:
    """States merged one pair after the other, the most similar by the symbols that follow first.

    Clustering may put windows of one state together with an unsynchronised one that looks alike; with both of them
    in the right state most of its windows still tell where it leads.
    """
    labels = candidate.labels
    n = candidate.targets.shape[0]
    counts = np.zeros((n, n_symbols))
    np.add.at(counts, (labels[steps.source], steps.symbol), steps.count)
    alive = np.arange(min(n, MOST_MERGED))
    while alive.size > 1:
        mine = counts[alive]
        lost = _bits(mine[:, None] + mine) - _bits(mine)[:, None] - _bits(mine)
        lost[np.tril_indices(alive.size)] = np.inf
        i, j = np.unravel_index(lost.argmin(), lost.shape)
        counts[alive[i]] += counts[alive[j]]
        labels = np.where(labels == alive[j], alive[i], labels)
        alive = np.delete(alive, j)
        yield _machine(np.unique(labels, return_inverse=True)[1], steps, n_symbols)


def _bits(counts: Floats) -> Floats:
    """Bits of counted symbols by their own frequencies, along the last axis."""
    total = np.maximum(counts.sum(axis=-1, keepdims=True), 1)
    return np.asarray(-(counts * np.log2(np.where(counts > 0, counts / total, 1.0))).sum(axis=-1))


def _machine(labels: Ints, steps: Steps, n_symbols: int) -> _Candidate:
    """Most frequent target of each (state, symbol), the lowest one of equals; its share; symbol frequencies."""
    n = int(labels.max(initial=-1)) + 1
    between = steps.relabel(labels)
    seen = np.zeros((n, n_symbols))
    np.add.at(seen, (between.source, between.symbol), between.count)
    order = np.lexsort((-between.target, between.count))
    place = between.source[order], between.symbol[order]
    targets = np.full((n, n_symbols), -1, np.int64)
    targets[place] = between.target[order]
    largest = np.zeros((n, n_symbols))
    largest[place] = between.count[order]
    emission = seen / np.maximum(seen.sum(axis=1, keepdims=True), 1)
    return _Candidate(labels, targets, emission, largest / np.maximum(seen, 1))


def _doubtful(share: Floats, theta: float) -> Bools:
    """(n_states, n_symbols) where a symbol was seen and its most frequent target does not stand for all."""
    return (share > 0.0) & (share <= theta) & (share < 1.0)


def _split(labels: Ints, steps: Steps, targets: Ints, doubtful: Bools) -> Ints:
    """Tell apart rows whose most frequent target differs on a doubtful symbol of their state."""
    finer = labels
    n = targets.shape[0] + 1
    for a in np.flatnonzero(doubtful.any(axis=0)):
        chosen = steps.symbol == a
        key, move = np.unique(steps.source[chosen] * n + labels[steps.target[chosen]], return_inverse=True)
        source, target = np.divmod(key, n)
        count = np.bincount(move, weights=steps.count[chosen])
        order = np.lexsort((-target, count))
        # A row that was never followed by the symbol goes with the majority of its state.
        leads_to = targets[labels, a]
        leads_to[source[order]] = target[order]
        key = finer * n + np.where(doubtful[labels, a], leads_to, -1) + 1
        finer = np.unique(key, return_inverse=True)[1]
    return finer


class _Data:
    """What is described: the symbols that followed each window."""

    def __init__(self, contexts: tuple[Ints, Ints], steps: Steps, n_symbols: int, weight: Ints) -> None:
        self.contexts, self.steps, self.weight = contexts, steps, weight
        pair = steps.source * n_symbols + steps.symbol
        key, first = np.unique(pair, return_index=True)
        self.count = np.add.reduceat(steps.count, first).astype(float) if first.size else np.empty(0)
        self.row, self.symbol = np.divmod(key, n_symbols)
        self.start = np.searchsorted(self.row, np.arange(weight.size + 1))
        self.log_n = np.log2(max(float(self.count.sum()), 2.0))

    def describe(self, candidate: _Candidate) -> _Candidate:
        """The candidate with its recurrent part re-estimated, and its description length in bits.

        Each round shares out the counts after every window by what the window says of the state. Edges that
        keep less than one count are dropped: they came from windows taken for synchronised.
        """
        targets, emission = candidate.targets, candidate.emission
        mass = np.bincount(candidate.labels, weights=self.weight, minlength=targets.shape[0]).astype(float)
        best = candidate
        states = _recurrent(targets, emission, mass)
        for _ in range(ROUNDS):
            if states is None:
                break
            prior = chains.class_stationary(chains.Chain.of_table(targets, emission), states)
            counts = np.zeros((states.size, emission.shape[1]))
            inner = chains.renumbered(targets, states)
            followers = self.start, self.symbol, self.count
            machine = inner, emission[states], prior
            bits, misses = kernels.expected_counts(*self.contexts, *followers, *machine, counts)
            # Every edge names its target; every recurrent state has its free probabilities.
            structure = (emission > 0).sum() * np.log2(targets.shape[0])
            free = int((inner >= 0).sum()) - states.size
            fit = -bits + (0.5 * free + misses) * self.log_n
            length = fit + structure
            # Less than a hundredth of a bit is rounding: equal descriptions keep the earlier, coarser one.
            if length > best.length - 0.01:
                break
            found = length, fit, misses, states, prior, counts.copy()
            best = _Candidate(candidate.labels, targets, emission, candidate.share, *found)
            counts[counts < 1.0 - 1e-9] = 0.0
            if not counts.any(axis=1).all():
                break
            emission = emission.copy()
            emission[states] = counts / counts.sum(axis=1, keepdims=True)
            if (counts[inner >= 0] == 0.0).any():
                targets = np.where(emission > 0.0, targets, -1)
                states = _recurrent(targets, emission, mass)
        return best

    def merge(self, best: _Candidate) -> _Candidate:
        """Merge recurrent states, with what determinism then demands, while that shortens the description.

        The pair is chosen by the counts shared out among the states, and the merger then judged like any candidate.
        """
        while best.recurrent is not None and best.recurrent.size > 1:
            states, counts = best.recurrent, best.counts
            inner = chains.renumbered(best.targets, states)
            length, into = best_merger(inner, counts, 0, 0, self.log_n)
            if length >= description_length(counts, 0, 0, self.log_n):
                break
            labels = np.arange(best.targets.shape[0])
            labels[states] = states[into]
            labels = np.unique(labels[best.labels], return_inverse=True)[1]
            merged = self.describe(_machine(labels, self.steps, inner.shape[1]))
            if merged.length >= best.length:
                break
            best = merged
        return best

    def place(self, candidate: _Candidate, theta: float) -> Unifilar:
        """Give each window that tells the state to that state, and say which pairs stay ambiguous between them.

        Clustering alone misplaces windows by chance: one whose counts look like a mixture, for example. A window
        keeps its own state only where its counts speak for it by more than the log2 N bits that naming it costs.
        """
        labels, states = candidate.labels, candidate.recurrent
        if states is None:
            return _result(candidate, theta)
        inner = chains.renumbered(candidate.targets, states)
        state = np.empty(labels.size, np.int64)
        kernels.final_states(*self.contexts, inner, candidate.emission[states], candidate.prior, theta, state)
        told = np.where(state >= 0, states[state], labels)
        loss = self._bits(told, candidate.emission) - self._bits(labels, candidate.emission)
        placed = np.where(loss <= self.log_n, told, labels)
        if np.isin(states, placed).all():
            labels = placed
        kept, labels = np.unique(labels, return_inverse=True)
        final = _machine(labels, self.steps, inner.shape[1])
        mine = np.searchsorted(kept, states)
        final.targets[mine] = np.append(mine, -1)[inner]
        final.emission[mine] = candidate.emission[states]
        telling = (state[self.steps.target] >= 0) & (state[self.steps.source] >= 0)
        share = _machine(labels, self.steps.select(telling), inner.shape[1]).share
        where = np.zeros(final.targets.shape, bool)
        where[mine] = (inner >= 0) & _doubtful(share, theta)[mine]
        return Unifilar(labels, final.targets, final.emission, _listed(share, where))

    def _bits(self, labels: Ints, emission: Floats) -> Floats:
        """(n_rows,) bits of what followed each row, by the probabilities of its state."""
        p = np.maximum(emission[labels[self.row], self.symbol], 2.0**-self.log_n)
        return np.bincount(self.row, weights=-self.count * np.log2(p), minlength=labels.size).astype(float)


def _recurrent(targets: Ints, emission: Floats, mass: Floats) -> Ints | None:
    """States of the closed class of largest mass."""
    classes = chains.closed_classes(chains.Chain.of_table(targets, emission))
    return max(classes, key=lambda c: (mass[c].sum(), -c[0]), default=None)


def _result(candidate: _Candidate, theta: float) -> Unifilar:
    """The candidate, and the (state, symbol) pairs that stay ambiguous."""
    unresolved = _listed(candidate.share, _doubtful(candidate.share, theta))
    return Unifilar(candidate.labels, candidate.targets, candidate.emission, unresolved)


def _listed(share: Floats, where: Bools) -> tuple[tuple[int, int, float], ...]:
    return tuple((int(s), int(a), float(share[s, a])) for s, a in np.argwhere(where))
