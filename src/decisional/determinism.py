"""Step 3 of the figure: symbol constraints, so that (state, symbol) leads to one state.

States are refined by splitting: rows that go to different states on the same symbol are told apart, unless one
target has a share above theta. Short windows make this dangerous: a window that does not yet tell the state
(unsynchronised: 1111 in the Even process) is a mixture of states, and splitting on its account invents states.
So a split is kept only if it shortens the description of the data: the symbols that followed every window, as
predicted by the recurrent machine from that window alone, plus the machine itself.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from . import chains
from ._kernels import beliefs as kernels
from .structures import Floats, Ints, Steps

__all__ = ["CONSTRAINTS", "Unifilar", "Windows", "merge_successors", "reconcile"]

CONSTRAINTS = ("evidence", "paper", "none")
# Refinement ends at this many states more than clustering found: no data describe such machines shorter.
MORE_STATES = 250
# Without windows to predict from, a split needs a majority at most this large (METHOD 3.5).
CLEAR_MINORITY = 0.7
# Re-estimation of the recurrent machine; each round is one pass over the distinct windows.
ROUNDS = 10


@dataclass(frozen=True)
class Windows:
    """Distinct words in time, and what followed them: words (n_rows, past), most recent first, and depth."""

    words: Ints
    depth: Ints


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


@dataclass(frozen=True)
class _Candidate:
    labels: Ints
    targets: Ints
    emission: Floats
    share: Floats
    length: float = np.inf
    recurrent: Ints | None = None


def merge_successors(steps: Steps, n_rows: int, theta: float) -> Ints:
    """The paper's merge step: rows reached from one row by one symbol are one group, strays (a share of at
    most 1 - theta) excepted. Returns (n_rows,) group numbers."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    pair, total = _totals(steps)
    kept = np.flatnonzero(steps.count > (1 - theta) * total[pair])
    kept = kept[np.argsort(pair[kept], kind="stable")]
    same = pair[kept][1:] == pair[kept][:-1]
    a, b = steps.target[kept][:-1][same], steps.target[kept][1:][same]
    graph = coo_array((np.ones(a.size), (a, b)), shape=(n_rows, n_rows))
    return np.asarray(connected_components(graph, directed=False)[1], np.int64)


def reconcile(
    labels: Ints,
    steps: Steps,
    n_symbols: int,
    weight: Ints,
    theta: float = 0.95,
    constraints: str = "evidence",
    windows: Windows | None = None,
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
    windows : the rows as words, for "evidence"; without them splits need a majority of at most 0.7

    Returns
    -------
    Unifilar. Refinement only ever splits, so it ends after at most n_rows rounds.

    Cost: O(rounds (m log m + n_rows past K)) for m transitions and K states.
    """
    if constraints == "none":
        return _result(_machine(labels, steps, n_symbols), steps, theta, None)
    if constraints == "paper" or windows is None:
        sure = theta if constraints == "paper" else min(theta, CLEAR_MINORITY)
        *_, last = _refinements(labels, steps, n_symbols, sure)
        return _result(last, steps, theta, None)
    data = _Data(windows, steps, n_symbols, weight)
    refinements = _refinements(labels, steps, n_symbols, theta, weight)
    return _result(min(map(data.describe, refinements), key=lambda c: c.length), steps, theta, windows)


def _refinements(
    labels: Ints, steps: Steps, n_symbols: int, theta: float, weight: Ints | None = None
) -> Iterator[_Candidate]:
    """The states as they are, then split once, twice, ... until no split is called for.

    Given the weight of the rows, only recurrent states are split (transient ones are mixtures: windows that do
    not tell the state), up to MORE_STATES.
    """
    labels = np.unique(labels, return_inverse=True)[1]
    most = np.inf if weight is None else labels.max(initial=0) + 1 + MORE_STATES
    while True:
        candidate = _machine(labels, steps, n_symbols)
        yield candidate
        doubtful = (candidate.targets >= 0) & (candidate.share <= theta)
        if weight is not None:
            found = _recurrent(candidate.targets, candidate.emission, np.bincount(labels, weights=weight))
            if found is not None:
                doubtful[np.setdiff1d(np.arange(len(doubtful)), found[0])] = False
        finer = _split(labels, steps, candidate.targets, doubtful)
        if finer.max(initial=-1) == labels.max(initial=-1) or finer.max() >= most:
            return
        labels = finer


def _totals(steps: Steps) -> tuple[Ints, Floats]:
    """Number of the (source, symbol) pair of each transition, and how often each pair was seen."""
    symbols = int(steps.symbol.max(initial=-1)) + 1
    pair = np.unique(steps.source * symbols + steps.symbol, return_inverse=True)[1]
    return pair, np.bincount(pair, weights=steps.count)


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


def _split(labels: Ints, steps: Steps, targets: Ints, doubtful: Ints) -> Ints:
    """Tell apart rows whose most frequent target differs on a doubtful symbol of their state."""
    finer = labels
    n = targets.shape[0] + 1
    for a in np.flatnonzero(doubtful.any(axis=0)):
        chosen = steps.symbol == a
        source, target, count = steps.source[chosen], labels[steps.target[chosen]], steps.count[chosen]
        order = np.lexsort((-target, count))
        # A row that was never followed by the symbol goes with the majority of its state.
        leads_to = targets[labels, a]
        leads_to[source[order]] = target[order]
        key = finer * n + np.where(doubtful[labels, a], leads_to, -1) + 1
        finer = np.unique(key, return_inverse=True)[1]
    return finer


class _Data:
    """What is described: the symbols that followed each window."""

    def __init__(self, windows: Windows, steps: Steps, n_symbols: int, weight: Ints) -> None:
        self.windows, self.weight = windows, weight
        pair = steps.source * n_symbols + steps.symbol
        key, first = np.unique(pair, return_index=True)
        self.count = np.add.reduceat(steps.count, first).astype(float) if first.size else np.empty(0)
        row, self.symbol = np.divmod(key, n_symbols)
        self.start = np.searchsorted(row, np.arange(windows.depth.size + 1))
        self.log_n = np.log2(max(float(self.count.sum()), 2.0))

    def describe(self, candidate: _Candidate) -> _Candidate:
        """The candidate with its recurrent part re-estimated, and its description length in bits.

        Each round shares out the counts after every window by what the window says of the state. Edges that
        keep less than one count are dropped: they came from windows taken for synchronised.
        """
        targets, emission = candidate.targets, candidate.emission
        mass = np.bincount(candidate.labels, weights=self.weight, minlength=targets.shape[0])
        best = candidate
        for _ in range(ROUNDS):
            found = _recurrent(targets, emission, mass)
            if found is None:
                break
            states, prior = found
            counts = np.zeros((states.size, emission.shape[1]))
            inner = _renumber(targets[states], states, targets.shape[0])
            bits, misses = kernels.expected_counts(
                self.windows.words,
                self.windows.depth,
                self.start,
                self.symbol,
                self.count,
                inner,
                emission[states],
                prior,
                counts,
            )
            # Every edge names its target; every recurrent state has its free probabilities.
            structure = (emission > 0).sum() * np.log2(targets.shape[0])
            free = int((inner >= 0).sum()) - states.size
            length = -bits + structure + (0.5 * free + misses) * self.log_n
            # Less than a hundredth of a bit is rounding: equal descriptions keep the earlier, coarser one.
            if length > best.length - 0.01:
                break
            best = _Candidate(candidate.labels, targets, emission, candidate.share, length, states)
            counts[counts < 1.0] = 0.0
            if not counts.any(axis=1).all():
                break
            targets, emission = targets.copy(), emission.copy()
            emission[states] = counts / counts.sum(axis=1, keepdims=True)
            targets[emission == 0] = -1
        return best


def _recurrent(targets: Ints, emission: Floats, mass: Floats) -> tuple[Ints, Floats] | None:
    """States of the closed class of largest mass, and their stationary distribution."""
    n = targets.shape[0]
    matrix = np.zeros((n, n))
    source, symbol = np.nonzero(emission)
    np.add.at(matrix, (source, targets[source, symbol]), emission[source, symbol])
    classes = [c for c in chains.closed_classes(matrix) if matrix[c].any()]
    if not classes:
        return None
    states = max(classes, key=lambda c: (mass[c].sum(), -c[0]))
    return states, chains.stationary(matrix[np.ix_(states, states)])


def _renumber(targets: Ints, states: Ints, n: int) -> Ints:
    number = np.full(n + 1, -1, np.int64)
    number[states] = np.arange(states.size)
    return number[targets]


def _result(candidate: _Candidate, steps: Steps, theta: float, windows: Windows | None) -> Unifilar:
    """Say which (state, symbol) pairs stay ambiguous between windows that the machine can place."""
    labels, targets, emission = candidate.labels, candidate.targets, candidate.emission
    if windows is not None and candidate.recurrent is not None:
        states = candidate.recurrent
        mass = np.zeros(targets.shape[0])
        mass[states] = 1.0
        _, prior = _recurrent(targets, emission, mass) or (states, np.empty(0))
        state = np.empty(labels.size, np.int64)
        inner = _renumber(targets[states], states, targets.shape[0])
        kernels.final_states(windows.words, windows.depth, inner, emission[states], prior, theta, state)
        placed = (state[steps.target] >= 0) & (state[steps.source] >= 0)
        steps = Steps(*(part[placed] for part in (steps.source, steps.symbol, steps.target, steps.count)))
        share = _machine(labels, steps, targets.shape[1]).share if steps.count.size else np.ones(targets.shape)
        doubtful = np.zeros(targets.shape, bool)
        doubtful[states] = (targets[states] >= 0) & (share[states] > 0) & (share[states] <= theta)
    else:
        share = candidate.share
        doubtful = (targets >= 0) & (share <= theta)
    unresolved = tuple((int(s), int(a), float(share[s, a])) for s, a in np.argwhere(doubtful))
    return Unifilar(labels, targets, emission, unresolved)
