"""Machines proposed by merging: a large machine of contexts, folded by evidence, then by description length.

1. Contexts that are seen often are states.
2. Fold: states are merged, with all that determinism then demands, while that makes the data more probable under rows
   of unknown probabilities; no single merger may contradict the data strongly, whatever the others gain.
3. Shorten: states are merged while that shortens the description.
4. Retarget: each edge is led to the state from which the symbols that followed it are likeliest, while that shortens.

Contexts may also stay as they are: `pruned_contexts` has the tree of them that describes the symbols shortest.
"""

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from scipy.special import gammaln

from .._kernels import folds as kernels
from ..support.arrays import Bools, Floats, Ints
from .search import LIMIT, ROUNDING, Budget, Candidate, Proposal, SymbolSeries, beliefs

# Contexts to begin with: few are folded at once, many remember longer.
SIZES = (100, 400, 1_500, 6_000)
# Cells of the table of a large machine.
CELLS = 4_000_000
# Contexts grow to this length, where they were seen so often.
DEEPEST = 64
LEAST = 4
# Rows are drawn from a symmetric Dirichlet distribution: the likeliest of these.
ALPHAS = (0.5, 0.25, 0.1, 0.05, 0.02, 0.01)
# Further ones, where a machine is compared with more contexts: many symbols that are about as frequent.
EVEN = (2.0, 10.0, 1_000.0)
# Imagined counts of each symbol where a tree is pruned, unless others suit: half of one (Krichevsky and Trofimov).
HALF = 0.5
# The sum of gains at which a trial is given up.
FLOOR = -100.0
# A state whose edges lose more than this many bits elsewhere is not removed.
REMOVED = 2_000.0
# How often what followed an edge is looked at, and how far.
USES = (10, 200)
AHEAD = 48
# Machines with more states are not retargeted.
RETARGETED = 400
# Shares of the edges of a large machine that are led elsewhere at random, in turn, and how often in vain.
SHAKEN = (0.1, 0.03)
SHAKES = 8
# Uses of edges that may be noise, to those of the most used edge of their state.
RARE = (0.1, 0.3, 1.0)
# Periods up to here are looked for, in so many symbols; at most so many are tried, if what they match is more than so
# many standard deviations beyond chance.
PERIODS = 512
PERIODIC = 1 << 16
TRIED = 3
BEYOND = 5.0
# Operations for each symbol in a context that is grown.
GROWN = 10.0
# What a proposal may cost: cells of rows in folding, and steps along paths in retargeting.
FOLDING = 400_000_000
FOLLOWING = 20_000_000


def evidence_tables(n: int, symbols: int, alpha: float) -> tuple[Floats, Floats]:
    """gain[c] and cost[n] of rows from a symmetric Dirichlet distribution: their log2-probability is the sum."""
    seen = np.arange(n)
    gain, cost = (np.concatenate([[0.0], np.cumsum(np.log2(seen + a))]) for a in (alpha, alpha * symbols))
    return gain, cost


def likeliest_alpha(counts: Ints, alphas: tuple[float, ...] = ALPHAS) -> float:
    """The parameter under which rows of counts are most probable."""
    return max(alphas, key=lambda alpha: row_evidence(counts, alpha))


def row_evidence(counts: Ints, alpha: float) -> float:
    """log2-probability of rows of counts from a symmetric Dirichlet distribution."""
    used, totals, many = counts[counts > 0], counts.sum(axis=1), alpha * counts.shape[1]
    symbols = float((gammaln(used + alpha) - gammaln(alpha)).sum())
    return (symbols - float((gammaln(totals + many) - gammaln(many)).sum())) / math.log(2)


class Contexts:
    """A tree of the contexts of symbols, grown where they are seen most often.

    Parameters
    ----------
    series : the symbols
    most : contexts at most
    roots : (n,) what contexts begin with, -1 = not looked at; by default the empty context

    Attributes
    ----------
    node : (n,) number of the longest context before each symbol, -1 = not looked at
    parent, depth, count : of each context; that of which it is the extension (-1 = none), its length, how often seen
    """

    def __init__(self, series: SymbolSeries, most: int, roots: Ints | None = None) -> None:
        self.codes, self.bounds, self.symbols = series.codes, series.bounds, series.n_symbols
        start = np.zeros(self.codes.size, bool)
        start[self.bounds[:-1][np.diff(self.bounds) > 0]] = True
        before = np.full(self.codes.size, self.symbols, np.int64)
        before[1:] = np.where(start[1:] | (self.codes[:-1] < 0), self.symbols, self.codes[:-1])
        self.before = before
        if roots is None:
            roots = np.where(self.codes >= 0, 0, -1)
        self.roots = roots
        most = max(most, int(roots.max(initial=0)) + 1)
        self.node = np.full(self.codes.size, -1, np.int64)
        tree = tuple(np.empty(most, np.int64) for _ in range(3))
        self.size = kernels.grow_contexts(
            self.codes, before, roots, self.symbols, most, LEAST, DEEPEST, self.node, *tree
        )
        self.parent, self.depth, self.count = (part[: self.size] for part in tree)
        series.budget.spend(GROWN * (int(self.count.sum()) + self.codes.size))
        self.full = self.size == most

    def counts(self, node: Ints, n: int) -> Ints:
        """(n, n_symbols) how often each symbol comes after each node."""
        known = node >= 0
        cell = node[known] * self.symbols + self.codes[known]
        return np.bincount(cell, minlength=n * self.symbols).reshape(n, self.symbols)

    def gained(self) -> tuple[float, float]:
        """log2-probability of the symbols under a mixture of all prunings of the tree, and under its roots alone.

        Each under rows of the parameter that suits it: where there are many symbols, deep contexts show few of them. To
        say which of two parameters it is takes the mixture a bit.
        """
        counts = self.counts(self.node, self.size)
        alone = self.counts(self.roots, int(self.roots.max(initial=0)) + 1)
        suits = {likeliest_alpha(counts), likeliest_alpha(alone, EVEN + ALPHAS)}
        tables = [evidence_tables(self.codes.size, self.symbols, alpha) for alpha in sorted(suits)]
        mixed, roots = zip(*(kernels.mixed_evidence(self.parent, counts.copy(), *each) for each in tables), strict=True)
        return max(mixed) - math.log2(len(tables)), max(roots)

    @property
    def whole(self) -> Bools:
        """(size,) whether all parts of a context are there too: it was seen more often than the last one."""
        found: Bools = self.count > (int(self.count[-1]) if self.full else 0)
        return found

    def longest(self, kept: Bools) -> Ints:
        """(n,) number of the longest context before each symbol that is kept, -1 = not looked at."""
        stands = np.arange(self.size)
        for k in range(1, self.size):
            if not kept[k]:
                stands[k] = stands[self.parent[k]]
        return np.where(self.node >= 0, stands[self.node], -1)

    def shorter(self) -> Ints:
        """(size,) number of each context without its latest symbol, 0 for the shortest, -1 where that is not there."""
        seen = np.full(self.size, -1)
        seen[self.node[self.node >= 0]] = np.flatnonzero(self.node >= 0)
        found, longer = np.zeros(self.size, np.int64), {}
        for k in range(self.size - 1, 0, -1):
            seen[self.parent[k]] = max(seen[self.parent[k]], seen[k])
        for k in range(1, self.size):
            symbol = int(self.codes[seen[k] - self.depth[k]])
            longer[int(self.parent[k]), symbol] = k
            if self.depth[k] > 1:
                found[k] = longer.get((int(found[self.parent[k]]), symbol), -1)
        return found

    def machine(self, kept: Bools | None = None) -> tuple[Ints, Ints, Ints]:
        """Targets and counts of the machine whose states are the longest contexts, and the suffix of each state.

        Of the contexts those are kept that are `whole`, or some of them: with each of them its own parts are
        kept too, so that one context and a symbol tell the next. A context that is cut short by the beginning of a
        sequence says less than it seems, and is not counted unless nearly all are cut.
        """
        node = self.longest(self.whole if kept is None else kept)
        begins = np.flatnonzero(self.before == self.symbols)
        since = np.arange(self.codes.size) - begins[np.searchsorted(begins, np.arange(self.codes.size), "right") - 1]
        cut = (self.depth[node] == since) & (begins[0] < np.arange(self.codes.size)) & (node >= 0)
        cut[: begins[1] if begins.size > 1 else cut.size] = False
        counted = np.where(cut, -1, node) if cut.sum() < 0.8 * (node >= 0).sum() else node
        used, counted = np.unique(counted, return_inverse=True)
        counted = counted - int(used[0] < 0)
        used = used[used >= 0]
        number = np.full(self.size, -1, np.int64)
        number[used] = np.arange(used.size)
        targets = np.full((used.size, self.symbols), -1, np.int64)
        here = np.flatnonzero((counted[:-1] >= 0) & (self.before[1:] < self.symbols) & (node[1:] >= 0))
        targets[counted[here], self.codes[here]] = number[node[here + 1]]
        suffix = self.parent[used].copy()
        while ((suffix >= 0) & (number[suffix] < 0)).any():
            suffix = np.where((suffix >= 0) & (number[suffix] < 0), self.parent[suffix], suffix)
        suffix = np.where(suffix >= 0, number[suffix], -1)
        return targets, self.counts(counted, used.size), suffix


def unexplained(series: SymbolSeries, machine: Candidate, most: int = 2_000) -> float:
    """Bits that the symbols before tell of the next one beyond the state: the description that a machine lacks.

    Each state is the root of a tree of contexts; where the state is all there is to know, no tree is likelier than its
    root. Cost: O(n depth) for n symbols; below -10 by chance in no machine, above 10 in one of a thousand right ones.
    """
    roots = series.states(machine)
    mixed, alone = Contexts(series, most + machine.n_states, roots).gained()
    return mixed - alone


def completed(targets: Ints, counts: Floats) -> Proposal:
    """A machine whose missing edges lead where their symbol leads most often, or where their state does.

    Whichever tells better where the edges lead that it has, the most used ones of each symbol or state left aside.
    """
    known = targets >= 0
    by_symbol = np.broadcast_to(_most_frequent(targets.T, counts.T), targets.shape)
    by_state = np.broadcast_to(_most_frequent(targets, counts)[:, None], targets.shape)
    symbol_right = np.count_nonzero(known & (targets == by_symbol)) - np.count_nonzero(known.any(axis=0))
    state_right = np.count_nonzero(known & (targets == by_state)) - np.count_nonzero(known.any(axis=1))
    return np.where(known, targets, by_symbol if symbol_right >= state_right else by_state), counts


def _most_frequent(targets: Ints, counts: Floats) -> Ints:
    """(n_rows,) the most used target in each row, the lowest among equals; 0 where there is none."""
    rows, n = len(targets), int(targets.max(initial=0)) + 1
    row, column = np.nonzero(targets >= 0)
    uses = np.bincount(row * n + targets[row, column], weights=counts[row, column] + 1e-9, minlength=rows * n)
    most: Ints = uses.reshape(rows, n).argmax(axis=1)
    return most


def quotient(targets: Ints, counts: Ints, into: Ints, start: int) -> Proposal:
    """The machine of merged states, those that can be reached; rows were summed by the merging."""
    reached, todo = {int(into[start])}, [int(into[start])]
    while todo:
        k = todo.pop()
        for to in set(into[targets[k][targets[k] >= 0]].tolist()) - reached:
            reached.add(to)
            todo.append(to)
    states = np.array(sorted(reached))
    number = np.full(len(targets) + 1, -1, np.int64)
    number[states] = np.arange(states.size)
    ends = targets[states]
    return np.where(ends >= 0, number[into[ends]], -1), counts[states].astype(float)


def folded(targets: Ints, counts: Ints, suffix: Ints, start: int, budget: Budget, limit: float = LIMIT) -> Proposal:
    """A large machine merged by evidence, see `_kernels.folds.fold`."""
    n, symbols = int(counts.sum()), counts.shape[1]
    tables = evidence_tables(n, symbols, likeliest_alpha(counts))
    targets, counts, into = targets.copy(), counts.copy(), np.empty(len(targets), np.int64)
    most = int(min(FOLDING, max(budget.left, 0)))
    left = kernels.fold(targets, counts, suffix, *tables, start, FLOOR, limit, most, into)
    budget.spend(most - left)
    return quotient(targets, counts, into, start)


def elsewhere(series: SymbolSeries, machine: Candidate) -> tuple[Ints, Floats]:
    """The used edges of a machine, and (n_edges, n_states) bits gained if each led to each of the states.

    Judged by the symbols that followed some of its uses; the edge where it leads gains 0.
    """
    n, symbols = machine.targets.shape
    uses = machine.counts.ravel()
    used = np.flatnonzero((uses > 0) & (np.arange(uses.size) % symbols != series.fixed))
    used = used[np.argsort(-uses[used], kind="stable")][: CELLS // n]
    number = np.full(n * symbols, -1, np.int64)
    number[used] = np.arange(used.size)
    most = int(np.clip(FOLLOWING / (used.size * n * 8), *USES))
    gains, looked = np.zeros((used.size, n)), np.zeros(used.size, np.int64)
    targets, counts = completed(machine.targets, machine.counts)
    smooth = counts + (counts.sum(axis=0) + 0.5) / (counts.sum() + 0.5 * symbols)
    states = series.states_of(targets, smooth)
    logs, _ = beliefs(smooth)
    known = np.ascontiguousarray(targets), logs, number.reshape(n, symbols)
    steps = kernels.follow_edges(*series.symbols, states, *known, most, AHEAD, gains, looked)
    series.budget.spend(10 * steps)
    gains *= (uses[used] / np.maximum(looked, 1))[:, None]
    return used, gains


def retarget(series: SymbolSeries, machine: Candidate) -> Candidate:
    """Lead edges where what follows them is likeliest: all at once, or half of them, ..., while that shortens."""
    while machine.n_states <= RETARGETED and not series.budget.spent:
        edges, gains = elsewhere(series, machine)
        best = gains.max(axis=1)
        order = np.argsort(-best, kind="stable")
        order = order[best[order] > 1.0]
        shorter = None
        while order.size and shorter is None:
            shorter = _led(series, machine, edges[order], gains[order].argmax(axis=1))
            order = order[: order.size // 2]
        shorter = shorter or _one_less(series, machine, edges, gains) or _straight(series, machine)
        if shorter is None:
            break
        machine = shorten(series, shorter)
    return machine


def _led(series: SymbolSeries, machine: Candidate, edges: Ints, ends: Ints) -> Candidate | None:
    """The machine whose edges lead to other ends, if that is shorter."""
    targets = machine.targets.copy()
    targets.ravel()[edges] = ends
    other = series.drive(*completed(targets, machine.counts))
    return other if other.length < machine.length - ROUNDING else None


def _one_less(series: SymbolSeries, machine: Candidate, edges: Ints, gains: Floats) -> Candidate | None:
    """The machine without one of its states, if that is shorter: what led to it leads where it is next likeliest.

    Rare states are tried first. Cost: a pass for each state.
    """
    if machine.n_states == 1:
        return None
    ends = machine.targets.ravel()[edges]
    gains = np.where(ends[:, None] == np.arange(machine.n_states), -np.inf, gains)
    best = gains.argmax(axis=1)
    for state in np.argsort(machine.counts.sum(axis=1), kind="stable"):
        lost = ends == state
        if -gains.max(axis=1)[lost].sum() > REMOVED or series.budget.spent:
            continue
        other = _led(series, machine, edges[lost], best[lost])
        if other is not None:
            return other
    return None


def _straight(series: SymbolSeries, machine: Candidate) -> Candidate | None:
    """The machine whose rare edges, or all, lead where their state leads most often, if that is shorter.

    A symbol that is noise tells nothing of the state, but rare ones are too few to say so each for itself.
    """
    most = machine.counts.max(axis=1, keepdims=True)
    ends = np.broadcast_to(_most_frequent(machine.targets, machine.counts)[:, None], machine.targets.shape)
    for share in RARE:
        edges = np.flatnonzero((machine.targets >= 0) & (machine.targets != ends) & (machine.counts <= share * most))
        other = _led(series, machine, edges, ends.ravel()[edges]) if edges.size else None
        if other is not None:
            return other
    return None


def shorten(series: SymbolSeries, machine: Candidate) -> Candidate:
    """Merge states while that shortens the description."""
    return series.merge(machine)


def periods(series: SymbolSeries) -> list[int]:
    """Lags at which symbols repeat most often, the shortest of those that cannot be told apart; none by chance.

    Cost: a comparison for each of PERIODS lags and PERIODIC symbols.
    """
    codes = series.codes[:PERIODIC].astype(np.int32)
    number = (np.searchsorted(series.bounds, np.arange(codes.size), "right") + 1).astype(np.int32)
    rates, pairs = np.zeros((2, min(PERIODS, codes.size // 20) + 1))
    for lag in range(1, rates.size):
        both = (codes[lag:] >= 0) & (codes[:-lag] >= 0) & (number[lag:] == number[:-lag])
        pairs[lag] = np.count_nonzero(both)
        rates[lag] = np.count_nonzero(both & (codes[lag:] == codes[:-lag])) / max(pairs[lag], 1.0)
    seen = np.bincount(codes[codes >= 0])
    chance = float((seen**2).sum()) / max(float(seen.sum()) ** 2, 1.0)
    error = np.sqrt(np.maximum(rates * (1.0 - rates), 1e-4) / np.maximum(pairs, 1.0))
    good = rates - chance > BEYOND * np.sqrt(max(chance * (1.0 - chance), 1e-4) / np.maximum(pairs, 1.0))
    found: list[int] = []
    while good.any() and len(found) < TRIED:
        best = int(np.where(good, rates, -1.0).argmax())
        lag = int(np.flatnonzero(good & (rates >= rates[best] - BEYOND * error[best]))[0])
        found.append(lag)
        good[lag::lag] = False
    return [lag for lag in found if lag > 1]


def cycles(series: SymbolSeries) -> Iterator[Candidate]:
    """Machines whose state is the phase of a period, whatever the symbols, and what is shorter near them."""
    for period in periods(series):
        if period * series.n_symbols > CELLS or series.budget.spent:
            return
        phase, known = np.arange(series.size) % period, series.codes >= 0
        counts = np.bincount(
            phase[known] * series.n_symbols + series.codes[known], minlength=period * series.n_symbols
        ).reshape(period, series.n_symbols)
        targets = np.tile((np.arange(1, period + 1) % period)[:, None], series.n_symbols)
        machine = series.settle(series.drive(targets, counts.astype(float)))
        found = retarget(series, series.merge(machine))
        yield replace(found, how="cycles", searched=True)


def shaken(series: SymbolSeries, machine: Candidate) -> Iterator[Candidate]:
    """Machines near one: some of its edges are led elsewhere at random, then all where what follows them is likeliest.

    Each begins with the shortest so far, until SHAKES in a row are no shorter. Where many letters make most states of
    contexts alike, this leads to machines that no merging finds. Cost: a retargeting for each, see FOLLOWING.
    """
    rng, vain = np.random.default_rng(0), 0
    while vain < SHAKES and 1 < machine.n_states <= RETARGETED and not series.budget.spent:
        targets = machine.targets.copy()
        edges = np.flatnonzero((targets >= 0) & (np.arange(series.n_symbols) != series.fixed))
        some = rng.permutation(edges)[: max(int(SHAKEN[vain % len(SHAKEN)] * edges.size), 2)]
        targets.ravel()[some] = rng.integers(0, machine.n_states, some.size)
        other = series.drive(*completed(targets, machine.counts))
        found = replace(shorten(series, retarget(series, other)), how="shaken", searched=True)
        yield found
        vain = 0 if found.length < machine.length - ROUNDING else vain + 1
        machine = min(machine, found, key=lambda one: one.length)


def merged_contexts(series: SymbolSeries) -> Iterator[Candidate]:
    """Machines by merging contexts, few at first; cost: see SIZES, FOLDING, FOLLOWING."""
    done = -1
    for most in SIZES:
        size = min(most, max(CELLS // series.n_symbols, 50))
        tree = Contexts(series, size)
        if series.budget.spent or tree.size == done:
            return
        done = tree.size
        targets, counts, suffix = tree.machine()
        if not len(targets):
            return
        start = int(counts.sum(axis=1).argmax())
        large = folded(targets, counts, suffix, start, series.budget)
        machine = series.drive(*completed(*large))
        for first, second in ((shorten, retarget), (retarget, shorten)):
            found = second(series, first(series, machine))
            yield replace(found, how="contexts", searched=True)
            if series.budget.spent or machine.n_states > RETARGETED:
                break


def pruned_contexts(series: SymbolSeries) -> Candidate:
    """The machine of the contexts that describe a series shortest: of all prunings of a large tree the best.

    Its `length` is that of the tree, a bit for each context that says whether it has extensions, and of the symbols
    under rows of unknown probabilities, of the parameter that suits them: many even letters must not pay for each. So
    that one context and a symbol tell the next, the parts of contexts become states too: they are as long as it takes,
    and say of the next symbol what the contexts say that they extend. Cost: O(n depth) for n symbols.
    """
    tree = Contexts(series, min(SIZES[-1], max(CELLS // series.n_symbols, 50)))
    counts = tree.counts(tree.longest(tree.whole), tree.size)
    suits = {HALF, likeliest_alpha(counts), likeliest_alpha(counts.sum(axis=0, keepdims=True), EVEN + ALPHAS)}
    series.budget.spend(GROWN * counts.size * len(suits))
    bits, inner = max((_pruned(tree, counts, alpha) for alpha in sorted(suits)), key=lambda one: one[0])
    shorter = tree.shorter()
    for k in np.argsort(-tree.depth, kind="stable"):
        if inner[k] and shorter[k] >= 0:
            inner[shorter[k]] = True
    kept = inner[tree.parent] & tree.whole
    kept[0] = True
    targets, counts, _ = tree.machine(kept)
    machine = series.settle(series.drive(targets, counts.astype(float)))
    return replace(machine, length=math.log2(len(suits)) - bits, how="tree", searched=True)


def _pruned(tree: Contexts, counts: Ints, alpha: float) -> tuple[float, Bools]:
    """log2-probability of symbols and of the likeliest pruning of a tree, and which contexts have extensions in it."""
    inner = np.empty(tree.size, np.bool_)
    tables = evidence_tables(tree.codes.size, tree.symbols, alpha)
    return kernels.prune(tree.parent, counts.copy(), *tables, inner), inner
