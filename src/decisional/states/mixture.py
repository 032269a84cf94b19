"""The best forecast rather than one machine: an average over machines and contexts, by their success.

A machine that is chosen for a short description need not be the one that foretells best, and none may be the true
one. Here all of them foretell, those that were candidates of a selection, larger ones that were merged less, and a
tree of all contexts; each is believed as much as it was right on the symbols before. Of whole strings hidden machines
foretell too, see `hidden_strings` and `sampled_strings`: as much as they were right on strings that they did not learn
from. See M. Herbster and M. Warmuth, Tracking the best expert, Machine Learning 32 (1998) 151-178, and F. Willems, Y.
Shtarkov and T. Tjalkens, The context-tree weighting method, IEEE Trans. Inf. Theory 41 (1995) 653-664.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sized
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .._kernels import hidden_paths
from .._kernels import mixtures as kernels
from ..data.alphabet import TEXT
from ..data.sequences import is_array, split
from ..machines.belief_machine import BeliefMachine
from ..machines.walks import coded, refuse_ends
from ..support.arguments import flag, real, require
from ..support.arrays import Floats, Ints
from .hidden_series import Hidden
from .hidden_strings import HiddenStrings, KeptBack, StringSearch, closed, different_sizes, likeliest_shares, with_any
from .merging import CELLS, SIZES, Contexts, completed, folded
from .sampled_strings import sampled
from .search import LIMIT, Budget, Candidate, Proposal, SymbolSeries
from .strings import TREES, StringSeries

if TYPE_CHECKING:
    from .selected import Selection

# Weight that comes back to all after each symbol; most of it to context-tree weighting, whose contexts were not chosen
# by the symbols that it foretells; to the others at most so much, and half of that after HALF symbols: fewer do not
# tell which of them are right.
SHARE = 0.02
OTHERS = 0.3
HALF = 1_000
# Candidates of the selection that take part, and what the other machines may cost.
CANDIDATES = 8
OPERATIONS = 5e9
# Mergers that lose more bits are contradictions: less is merged by the second.
LIMITS = (LIMIT, -3.0)
# Symbols of the longest contexts, and contexts at most.
DEPTH = 20
NODES = 1 << 20
# Imagined counts of each symbol, half of one where there are few, and so many in all where there are not.
FEW_SYMBOLS = 4
IMAGINED = 2.0
# What stands for a missing symbol.
MISSING = -2
# A larger number of states and symbols is not averaged over.
ROWS = 20_000
# What hidden machines may cost for each second: the search, chains of them, and learning from all strings; seconds, and
# symbols of strings below which it is less.
SEARCHING, SAMPLING, LEARNING = 6e8, 2e8, 2e8
SECONDS, FEW_OF_STRINGS = 40.0, 1e5
# A smaller share is none.
LEAST = 0.02


class Mixture:
    """The average over machines and contexts whose weights follow their success: for the best forecast.

    Parameters
    ----------
    selection : Selection
        What `ds.selection.select` found; ``selection.predictor()`` is the same.
    seconds : float
        About how long hidden machines of whole strings are looked for, counted in operations; more find better ones.

    Attributes
    ----------
    alphabet : tuple
        The symbols, in column order; the last one is the end where the sequences are whole strings.
    n_observed : int
        Symbols that were learnt from.
    n_predictors : int
        How many are averaged over.
    weights : array of shape (n_predictors,)
        How much each of them is believed now: two rules for each machine, the smallest description first, then four for
        the contexts.
    belief_machines : tuple of BeliefMachine
        Hidden machines of whole strings that take part; none for other sequences.
    shares : array of shape (1 + number of belief machines,)
        How much the average over the predictors, and each of these machines, is believed before a string.

    Notes
    -----
    It learns along the symbols of the selection, and then stays as it is, however much is asked; `update` lets it learn
    more. Of whole strings every tenth is kept back, to tell how much hidden machines are to be believed; the
    steps of these stay as they are in `update`. Nothing is impossible, not even
    symbols that were never seen; missing ones (None, NaN) cost nothing, and machines and contexts begin anew then.
    Cost: about 2 µs for each symbol, and n_symbols times that for distributions; memory: at most 0.2 GB, and that of
    the machines.

    Examples
    --------
    >>> import decisional as ds
    >>> even = ds.processes.even()
    >>> forecast = ds.selection.select(even.simulate(2000, rng=1)).predictor()
    >>> bits = -forecast.log_likelihood(even.simulate(2000, rng=2)) / 2000
    >>> bool(bits < even.entropy_rate() + 0.02)
    True
    """

    def __init__(self, selection: Selection, *, seconds: float = SECONDS) -> None:
        seconds = real(seconds, "seconds", above=0, remedy="try seconds=40", of="Mixture")
        remedy = "give what ds.selection.select(symbols) returns"
        require(selection, "machine_of", "selection", "a Selection", remedy)
        if selection.data is None:
            raise ValueError(f"The 'selection' has no data to learn from: {remedy}.")
        series, place = selection.data
        self.alphabet, self._whole = selection.alphabet, selection.whole
        n = len(self.alphabet)
        self._end = n - 1 if self._whole else -1
        self._alpha = 0.5 if n <= FEW_SYMBOLS + self._whole else IMAGINED / n
        machines = [c.proposal for c in selection.candidates[:CANDIDATES]]
        machines += [(t[:, place], c[:, place]) for t, c in _large(series, Budget(OPERATIONS))]
        self._make(_different(machines), series.size)
        self._hidden: list[Hidden] = []
        self.shares: Floats = np.ones(1)
        # The symbols as they are numbered in the alphabet, with a gap where a sequence begins.
        number = np.append(np.argsort(place), -1)
        if self._whole:
            self._learn_strings(series, place, selection.candidates, seconds)
        else:
            self._follow(np.insert(number[series.codes], series.bounds[1:-1], -1), learns=True)

    def _learn_strings(
        self, series: SymbolSeries, place: Ints, candidates: tuple[Candidate, ...], seconds: float
    ) -> None:
        """Learn from most strings, believe hidden machines by the others, and learn from these too."""
        number = np.argsort(place)
        seconds *= min(series.size / FEW_OF_STRINGS, 1.0)
        # Symbols are numbered as they appear, so that their names change nothing.
        search = StringSearch(HiddenStrings(series.codes, series.n_symbols), Budget(SEARCHING * seconds))
        self._follow(number[search.learnt.codes], learns=True)
        alone = np.add.reduceat(self._follow(number[search.held.codes]), search.held.starts)
        self._follow(number[search.held.codes], learns=True)
        found: list[KeptBack] = []
        found += search.best([(c.targets[:, number], c.counts[:, number]) for c in different_sizes(candidates)])
        left = SAMPLING * seconds + max(search.budget.left, 0.0) / 2
        found += sampled(search, found[0], left) if found else []
        shares = likeliest_shares(np.array([alone, *(one.bits for one in found)]))
        found = [one for one, share in zip(found, shares[1:], strict=True) if share >= LEAST]
        shares = likeliest_shares(np.array([alone, *(one.bits for one in found)]))
        each, budget = [shares[:1]], Budget(LEARNING * seconds)
        # Those that are believed most may learn longest.
        for k in np.argsort(-shares[1:], kind="stable").tolist():
            machines = found[k].on_all(search.series, budget)
            self._hidden += [_named(closed(machine), place) for machine in machines]
            each.append(np.full(len(machines), shares[k + 1] / len(machines)))
        self.shares = np.concatenate(each)
        self._judged = search.held.n_strings

    def _make(self, machines: list[Proposal], size: int) -> None:
        """Predictors that have seen nothing yet."""
        n, n_rows = len(self.alphabet), sum(len(targets) for targets, _ in machines)
        rows = np.empty((n_rows, n), np.int64)
        self._begin = np.empty(len(machines), np.int64)
        low = 0
        for m, (targets, counts) in enumerate(machines):
            rows[low : low + len(targets)] = completed(targets, counts)[0] + low
            first = int(targets[0, -1]) if self._whole else int(counts.sum(axis=1).argmax())
            self._begin[m] = low + first
            low += len(targets)
        self._machines = rows, np.zeros(rows.shape), np.zeros(n_rows), np.zeros(n_rows)
        nodes = min(max(8 * size, 1 << 12), NODES)
        slots = 1 << int(np.ceil(np.log2(5 * nodes)))
        keys, children = np.full(slots, -1, np.int64), np.full(slots, -1, np.int32)
        sizes = np.array([1, 0])
        numbers = (np.zeros(nodes, np.int64) for _ in range(2))
        self._tree = keys, children, np.zeros(slots, np.int32), *numbers, np.zeros((2, nodes)), sizes
        self._overall = np.zeros(n)
        self.n_predictors = kernels.RULES * len(machines) + kernels.TREES
        others = OTHERS * size / (size + HALF)
        self._home = np.full(self.n_predictors, others / (self.n_predictors - 1))
        self._home[kernels.RULES * len(machines)] = 1.0 - others
        self.weights = self._home.copy()
        self._state, self._tail = self._begin.copy(), np.zeros(0, np.int64)

    def _follow(self, codes: Ints, learns: bool = False, table: Floats | None = None) -> Floats:
        """Bits of symbols by machines and contexts, which learn from them or not; those that are known only."""
        before = self._tail if learns else np.zeros(0, np.int64)
        codes = self._up_to_gaps(codes) if learns and self._whole else codes
        joined, bits = np.concatenate([before, codes]), np.zeros(before.size + codes.size)
        along = (self.weights, self._state) if learns else (self.weights.copy(), self._begin.copy())
        rules = self._end, self._alpha, SHARE, DEPTH, self._begin, self._home
        kernels.follow(
            joined,
            before.size,
            learns,
            *rules,
            along[0],
            self._machines,
            self._tree,
            self._overall,
            along[1],
            np.empty((0, len(self.alphabet))) if table is None else table,
            bits,
        )
        if learns and not self._whole:
            self._tail = joined[-DEPTH:]
        return bits[before.size :]

    def _up_to_gaps(self, codes: Ints) -> Ints:
        """Whole strings up to what is missing: machines are not in a state that is known after it."""
        gaps, ends = np.cumsum(codes < 0), np.flatnonzero(codes == self._end)
        strings = np.searchsorted(ends, np.arange(codes.size))
        return np.where(gaps > np.append(0, gaps[ends])[strings], -1, codes)

    def _average(self, codes: Ints, learns: bool = False, table: Floats | None = None) -> float:
        """Bits of symbols by machines, contexts and hidden machines; `table` receives the chances of what comes next.

        How much each is believed follows its success along the symbols, a whole string if there are hidden machines.
        """
        # What is learnt ends at a gap, what is foretold does not.
        to_the_end = learns and self._whole and bool((codes < 0).any())
        bits = [self._follow(codes, learns and not to_the_end, table)]
        if to_the_end:
            self._follow(codes, learns=True)
        tables = [table]
        for machine in self._hidden:
            beliefs, chances = np.empty((codes.size, machine.n_states)), np.empty(codes.size)
            # After a gap the string goes on, whatever was there.
            known = np.where(codes < 0, len(self.alphabet), codes), with_any(machine.steps)
            hidden_paths.follow(*known, machine.home, machine.home.copy(), 0, beliefs, chances)
            bits.append(np.where(codes < 0, 0.0, np.log2(chances)))
            tables.append(np.vstack([machine.home, beliefs]) @ machine.steps.sum(axis=2).T)
        along = np.cumsum(np.insert(np.array(bits), 0, 0.0, axis=1), axis=1)
        parts = self.shares[:, None] * 2.0 ** (along - along.max(axis=0))
        total = parts.sum(axis=0)
        if table is not None:
            table[:] = sum((part / total)[:, None] * one for part, one in zip(parts, tables, strict=True))
        if learns and self._hidden:
            self._judged += 1
            self.shares += (parts[:, -1] / total[-1] - self.shares) / min(self._judged, kernels.STRINGS)
        return float(np.log2(total[-1]) + along.max(axis=0)[-1])

    @property
    def belief_machines(self) -> tuple[BeliefMachine, ...]:
        """Hidden machines that take part: an end leads to where strings begin."""
        return tuple(BeliefMachine(machine.steps, self.alphabet, start=machine.home) for machine in self._hidden)

    @property
    def n_observed(self) -> int:
        """Symbols that were learnt from."""
        return int(self._overall.sum())

    def _new(self, codes: Ints, learns: bool) -> Floats:
        """(n,) probability that a symbol was never seen, before each of some; see I. Good, Biometrika 40 (1953) 237.

        As often as symbols that were seen once only, and hardly ever where there are none of these.
        """
        n, once = float(self.n_observed), float((self._overall == 1.0).sum())
        if not learns:
            return np.full(codes.size, (once + 1.0 / (n + 2.0)) / (n + 2.0))
        known = codes >= 0
        order = np.argsort(codes, kind="stable")
        first = np.searchsorted(codes[order], codes[order])
        seen = np.empty(codes.size)
        seen[order] = np.arange(codes.size) - first
        seen[known] += self._overall[codes[known]]
        seen[~known] = -1.0
        change = (seen == 0.0).astype(float) - (seen == 1.0)
        before, single = n + np.cumsum(known) - known, once + np.cumsum(change) - change
        new: Floats = (single + 1.0 / (before + 2.0)) / (before + 2.0)
        return new

    def _codes(self, symbols: Any) -> Ints:
        """Numbers of one sequence, -1 for unknown symbols and -2 for those that are missing."""
        _, n, code = coded(symbols, self.alphabet, self._whole)
        codes, unknown = np.asarray(code(0, n), np.int64), len(self.alphabet)
        return np.where(codes < unknown, codes, unknown - 1 - codes)

    def _bits(self, codes: Ints, learns: bool) -> float:
        if self._whole:
            refuse_ends(codes, self.alphabet)
            codes = np.append(codes, self._end)
        new = self._new(codes, learns)
        mass = np.where(codes >= 0, 1.0 - new, np.where(codes == MISSING, 1.0, new))
        return self._average(codes, learns) + float(np.log2(mass).sum())

    def log_likelihood(self, symbols: Any) -> float:
        """Return the log-probability of one sequence in bits; with its end, where sequences are whole strings.

        The sequence begins anew. Weights follow the success along it, and nothing is learnt. Cost: O(n).
        """
        return self._bits(self._codes(symbols), learns=False)

    def predict_proba(self, symbols: Any, *, first: bool = False) -> NDArray[np.float64]:
        """Return P(next symbol | symbols up to each position), shape (n, n_symbols), columns as in `alphabet`.

        With `first` a row for the first symbol stands before the others, shape (n + 1, n_symbols): of whole strings
        ``predict_proba("", first=True)`` tells how they begin. What is missing to 1 is for symbols that were never
        seen. Cost: O(n n_symbols).
        """
        codes = self._codes(symbols)
        table = np.empty((codes.size + 1, len(self.alphabet)))
        self._average(codes, table=table)
        known: Floats = 1.0 - self._new(np.append(codes, 0), learns=False)[:, None]
        chances: NDArray[np.float64] = table * known
        return chances if flag(first, "first") else chances[1:]

    def update(self, symbols: Any) -> float:
        """Learn from symbols that go on where the last ones ended, or from a list of whole strings.

        Returns their log-probability in bits, each given those before, before it was learnt from. Cost: O(n).
        """
        if not self._whole:
            return self._bits(self._codes(symbols), learns=True)
        text = isinstance(symbols, TEXT)
        given = list(symbols) if isinstance(symbols, Iterable) and not text and not is_array(symbols) else symbols
        # No strings are not one that is empty.
        strings = [] if not text and isinstance(given, Sized) and not len(given) else split(given, True)
        return float(sum(self._bits(self._codes(string), learns=True) for string in strings))

    def __repr__(self) -> str:
        return f"Mixture({self.n_predictors} predictors, {len(self.alphabet)} symbols, learnt from {self.n_observed:,})"


def _large(series: SymbolSeries, budget: Budget) -> Iterator[Proposal]:
    """Machines of contexts, or of prefixes, that were merged by evidence alone."""
    done = -1
    for most in TREES if isinstance(series, StringSeries) else SIZES:
        size = min(most, max(CELLS // series.n_symbols, 50))
        if isinstance(series, StringSeries):
            targets, counts, suffix = series.tree(size)
            start = 0
        else:
            targets, counts, suffix = Contexts(series, size).machine()
            start = int(counts.sum(axis=1).argmax()) if len(counts) else 0
        if budget.spent or len(targets) in (0, done):
            return
        done = len(targets)
        for limit in LIMITS:
            ends, uses = folded(targets, counts, suffix, start, budget, limit)
            if isinstance(series, StringSeries):
                ends[:, series.end] = 0
            if ends.size <= ROWS * series.n_symbols:
                yield ends, uses


def _named(machine: Hidden, place: Ints) -> Hidden:
    """The machine with its symbols in the order of the alphabet."""
    return Hidden(np.ascontiguousarray(machine.steps[place]), machine.home)


def _different(machines: list[Proposal]) -> list[Proposal]:
    """Machines without those that are there already, by the uses of their edges."""
    kept: dict[tuple[int, ...], Proposal] = {}
    for targets, counts in machines:
        uses = np.sort(np.rint(counts.sum(axis=1)).astype(np.int64))
        kept.setdefault((len(targets), *uses.tolist()), (targets, counts))
    return list(kept.values())
