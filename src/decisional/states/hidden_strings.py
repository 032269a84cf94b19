"""Hidden machines of whole strings: each begins in a state that is believed, and its end is an event.

What strings say of a machine is found along the tree of their prefixes. A search begins with a unifilar machine whose
symbols may lead anywhere; states that do alike are merged, a few at a time, and each machine is judged by strings that
it did not learn from. None need be the true one, and several may be nearly as good: see `mixture`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .._kernels import hidden_prefixes as kernels
from ..support.arrays import Floats, Ints
from .hidden_series import Expected, Hidden, HiddenSymbols, softened
from .search import Budget, Candidate, Proposal

# Cells of beliefs that machines are compared by at most: fewer strings, where there are many states.
CELLS = 1 << 23
# Prefixes that are followed at a time, about.
NODES = 1 << 17
# Every so many strings, one is not learnt from but judged by.
HELD = 10
# Passes of the first machine, of those with fewer states, and of those that are kept, on all strings.
PASSES = (14, 12, 8)
# Share of the states that are merged at once; numbers of states in a row that may be worse before the search ends, and
# bits of each string by which one may be.
MERGED = 0.13
PATIENCE = 2
LOST = 0.1
# Unifilar machines to begin with, and hidden ones that are kept, at most.
STARTS = 3
KEPT = 4
# How much of a unifilar machine may lead anywhere, to begin with.
SOFT = 0.5
# Strings that are imagined for the first part of an average, and passes to share the others.
FIRST = 2
SHARING = 200
# Imagined uses of each step, so that nothing is impossible.
IMAGINED = 1e-3


@dataclass(frozen=True, eq=False)
class PrefixTree:
    """The prefixes of strings, by their length and then by their last symbol.

    Attributes
    ----------
    parent, symbol : (n_nodes,) the prefix without its last symbol, and that symbol; -1 for the empty one
    ended : (n_nodes,) strings that are this prefix
    leaf : (n_strings,) the prefix that is each string
    strings : (n_strings,) the numbers of these strings
    """

    parent: Ints
    symbol: Ints
    ended: Floats
    leaf: Ints
    strings: Ints

    @property
    def size(self) -> int:
        return self.parent.size

    @cached_property
    def through(self) -> Floats:
        """(n_nodes,) strings that begin so."""
        found = self.ended.copy()
        kernels.add_to_parents(self.parent, found)
        return found


def prefix_tree(codes: Ints, starts: Ints, lengths: Ints, strings: Ints) -> PrefixTree:
    """The tree of the prefixes of some strings, which begin at places of `codes`; cost: O(n log n)."""
    starts, lengths = starts[strings], lengths[strings]
    at, low, width, depth = np.zeros(starts.size, np.int64), 0, 1, 0
    parents, symbols = [np.array([-1])], [np.array([-1])]
    going = np.flatnonzero(lengths > 0)
    while going.size:
        kinds, which = np.unique(codes[starts[going] + depth] * width + at[going] - low, return_inverse=True)
        parents.append(low + kinds % width)
        symbols.append(kinds // width)
        low, width, depth = low + width, kinds.size, depth + 1
        at[going] = low + which
        going = going[lengths[going] > depth]
    parent, symbol = np.concatenate(parents), np.concatenate(symbols)
    return PrefixTree(parent, symbol, np.bincount(at, minlength=parent.size).astype(float), at, strings)


class HiddenStrings(HiddenSymbols):
    """Whole strings one after the other, each closed by the last symbol.

    Parameters
    ----------
    codes : (size,) numbers of the symbols, n_symbols - 1 = the end of a string, -1 = missing
    n_symbols : different symbols, with the end

    Notes
    -----
    A missing symbol may have been any but the end, as each state has it; in trees it is one more symbol, the last.
    Where an end leads is of no matter here: strings begin as `Hidden.home` says, see `closed`.
    """

    def __init__(self, codes: Ints, n_symbols: int) -> None:
        self.codes, self.n_symbols = np.asarray(codes, np.int64), n_symbols
        self._last = np.flatnonzero(self.codes == n_symbols - 1)

    @property
    def size(self) -> int:
        return self.codes.size

    @property
    def n_strings(self) -> int:
        return self._last.size

    @cached_property
    def starts(self) -> Ints:
        """(n_strings,) where each string begins."""
        return np.append(0, self._last[:-1] + 1)

    @cached_property
    def trees(self) -> list[PrefixTree]:
        """Trees of strings that begin alike, of about NODES each: what is kept at a time does not grow with strings."""
        lengths = self._last - self.starts
        codes = np.where(self.codes < 0, self.n_symbols, self.codes)
        whole = prefix_tree(codes, self.starts, lengths, np.arange(self.n_strings))
        if whole.size <= NODES:
            return [whole]
        begins = [codes[a : a + n].tobytes() for a, n in zip(self.starts, lengths, strict=True)]
        order = np.array(sorted(range(self.n_strings), key=begins.__getitem__))
        n_parts = -(-whole.size // NODES)
        part = np.cumsum(lengths[order]) * n_parts // (lengths.sum() + 1)
        return [prefix_tree(codes, self.starts, lengths, order[part == k]) for k in np.unique(part)]

    @cached_property
    def n_nodes(self) -> int:
        return sum(tree.size for tree in self.trees)

    def chosen(self, strings: Ints) -> HiddenStrings:
        """Some of the strings, by their numbers."""
        lengths = self._last - self.starts + 1
        keep = np.zeros(self.n_strings, bool)
        keep[strings] = True
        return HiddenStrings(self.codes[np.repeat(keep, lengths)], self.n_symbols)

    def beginning(self, n: int) -> HiddenStrings:
        """Some of the strings, evenly spread, of about n symbols in all."""
        return self if n >= self.size else self.spread(n / self.size)

    def spread(self, share: float) -> HiddenStrings:
        """A share of the strings, evenly spread."""
        n = max(int(share * self.n_strings), 1)
        return self if n >= self.n_strings else self.chosen(np.arange(n) * self.n_strings // n)

    def settled(self, machine: Hidden) -> Hidden:
        return machine

    def cost(self, n_states: int) -> float:
        return 0.5 * self.n_nodes * (n_states**2 + 30)

    def string_bits(self, machine: Hidden) -> Floats:
        """(n_strings,) log2-probability of each string, -inf where it cannot be."""
        found = np.empty(self.n_strings)
        for tree in self.trees:
            _, _, chances, closing = forward(tree, machine)
            along = np.empty(tree.size)
            with np.errstate(divide="ignore"):
                kernels.log2_sums(tree.parent, np.log2(chances), along)
                found[tree.strings] = (along + np.log2(closing))[tree.leaf]
        return found

    def log2p(self, machine: Hidden) -> tuple[float, int]:
        """log2-probability of the symbols that can be, and how many cannot. Cost: O(n_nodes n_states²)."""
        found = [_known(tree, *forward(tree, machine)[2:]) for tree in self.trees]
        return sum(bits for bits, _ in found), sum(misses for _, misses in found)

    def expected(self, machine: Hidden) -> Expected:
        """What the strings say of each step. Cost: O(n_nodes n_states²); memory: two beliefs for each of NODES."""
        starts, last = np.zeros((2, machine.n_states))
        uses = np.zeros((self.n_symbols + 1, machine.n_states, machine.n_states))
        turned = with_any(machine.turned)
        bits, misses = 0.0, 0
        for tree in self.trees:
            ends, beliefs, chances, closing = forward(tree, machine)
            later = np.zeros_like(beliefs)
            after = ends, beliefs, chances, closing, later, last
            kernels.backward(tree.parent, tree.symbol, tree.ended, turned, *after)
            kernels.add_uses(tree.parent, tree.symbol, beliefs, later, uses)
            starts += machine.home * later[0]
            known = _known(tree, chances, closing)
            bits, misses = bits + known[0], misses + known[1]
        # What a missing symbol says of a step, each symbol may have said.
        uses = (uses[:-1] + uses[-1]) * machine.steps
        uses[-1] = machine.steps[-1] * np.divide(last, ends, out=np.zeros_like(last), where=ends > 0.0)[:, None]
        return Expected(uses, starts, bits, misses)


def with_any(steps: Floats) -> Floats:
    """Steps of all symbols, and of any one but the end."""
    return np.concatenate([steps, steps[:-1].sum(axis=0, keepdims=True)])


def forward(tree: PrefixTree, machine: Hidden) -> tuple[Floats, Floats, Floats, Floats]:
    """P(the string ends | state); beliefs after prefixes, and chances of their last symbols and of their end."""
    ends = machine.steps[-1].sum(axis=1)
    beliefs = np.empty((tree.size, machine.n_states))
    chances, closing = np.empty((2, tree.size))
    kernels.forward(tree.parent, tree.symbol, with_any(machine.steps), ends, machine.home, beliefs, chances, closing)
    return ends, beliefs, chances, closing


def _known(tree: PrefixTree, chances: Floats, closing: Floats) -> tuple[float, int]:
    """log2-probability of what can be, and how many symbols cannot."""
    found, missed = 0.0, 0.0
    for chance, uses in ((chances, tree.through), (closing, tree.ended)):
        can = chance > 0.0
        found += float(uses[can] @ np.log2(chance[can]))
        missed += float(uses[~can].sum())
    return found, round(missed)


def smoothed(uses: Floats, starts: Floats) -> Hidden:
    """The machine of expected uses, which holds nothing impossible."""
    steps = uses + IMAGINED
    home = starts + IMAGINED
    return Hidden(steps / steps.sum(axis=(0, 2), keepdims=True), home / home.sum())


def closed(machine: Hidden) -> Hidden:
    """The machine whose strings follow each other: an end leads to where strings begin."""
    steps = machine.steps.copy()
    steps[-1] = np.outer(steps[-1].sum(axis=1), machine.home)
    return Hidden(steps, machine.home)


def lean(machine: Hidden) -> Hidden:
    """The machine with as few steps as say the same of strings: ends lead to one state."""
    steps = machine.steps.copy()
    steps[-1] = 0.0
    steps[-1, :, 0] = machine.steps[-1].sum(axis=1)
    return Hidden(steps, machine.home)


def _entropies(rows: Floats) -> Floats:
    """Bits of counts in rows, given their frequencies."""
    with np.errstate(divide="ignore", invalid="ignore"):
        inner = np.where(rows > 0.0, rows * np.log2(rows), 0.0).sum(axis=-1)
        total = rows.sum(axis=-1)
        found: Floats = np.where(total > 0.0, total * np.log2(total), 0.0) - inner
    return found


def alike(uses: Floats, n: int) -> list[tuple[int, int]]:
    """n pairs of states, of which no two share one, whose expected steps are one distribution at the least cost."""
    k = uses.shape[1]
    rows = np.concatenate([uses[:-1].transpose(1, 0, 2).reshape(k, -1), uses[-1].sum(axis=1)[:, None]], axis=1)
    alone, costs = _entropies(rows), np.full((k, k), np.inf)
    for i in range(k):
        costs[i, i + 1 :] = _entropies(rows[i] + rows[i + 1 :]) - alone[i] - alone[i + 1 :]
    pairs: list[tuple[int, int]] = []
    for cell in np.argsort(costs, axis=None, kind="stable")[: k * (k - 1) // 2].tolist():
        pair = divmod(cell, k)
        if len(pairs) < n and not {*pair} & {state for other in pairs for state in other}:
            pairs.append(pair)
    return pairs


def joined(seen: Expected, pairs: list[tuple[int, int]]) -> Hidden:
    """The machine of expected uses with each pair of states as one."""
    k = seen.starts.size
    into = np.arange(k)
    into[[j for _, j in pairs]] = [i for i, _ in pairs]
    keep, number = np.unique(into, return_inverse=True)
    member = np.zeros((k, keep.size))
    member[np.arange(k), number] = 1.0
    return smoothed(member.T @ seen.uses @ member, seen.starts @ member)


@dataclass(frozen=True, eq=False)
class KeptBack:
    """A hidden machine that learnt from most strings, and what it says of the others.

    Attributes
    ----------
    machine : its steps
    bits : (n_held,) log2-probability of each string that it did not learn from
    """

    machine: Hidden
    bits: Floats

    @property
    def total(self) -> float:
        return float(self.bits.sum())

    def on_all(self, series: HiddenStrings, budget: Budget) -> list[Hidden]:
        """The machine when it has learnt from all strings."""
        seen = series.expected(series.improve(self.machine, PASSES[2], budget))
        return [smoothed(seen.uses, seen.starts)]


class StringSearch:
    """The search for hidden machines of whole strings.

    Parameters
    ----------
    series : the strings
    budget : operations that it may take
    """

    def __init__(self, series: HiddenStrings, budget: Budget) -> None:
        self.series, self.budget = series, budget
        numbers = np.arange(series.n_strings)
        self.held = series.chosen(numbers[::HELD])
        self.learnt = series.chosen(np.delete(numbers, np.s_[::HELD]))

    def shrunk(self, proposal: Proposal) -> Iterator[KeptBack]:
        """Machines of fewer and fewer states that a unifilar one leads to, until they foretell no better."""
        targets, counts = proposal
        share = counts.sum(axis=0) / counts.sum()
        emission = (counts + share) / (counts.sum(axis=1, keepdims=True) + 1.0)
        machine = softened(targets, emission, int(targets[:, -1].max()), SOFT)
        best, worse, passes = -np.inf, 0, PASSES[0]
        while worse <= PATIENCE:
            part = self.learnt.spread(CELLS / (machine.n_states * self.learnt.n_nodes))
            if not self.budget.spend(part.cost(machine.n_states)):
                return
            seen = part.expected(part.improve(machine, passes, self.budget))
            machine, passes = smoothed(seen.uses, seen.starts), PASSES[1]
            found = KeptBack(machine, self.held.string_bits(machine))
            yield found
            worse = 0 if found.total > best else worse + 1
            best = max(best, found.total)
            if machine.n_states == 1 or found.total < best - LOST * self.held.n_strings:
                return
            machine = joined(seen, alike(seen.uses, max(int(MERGED * machine.n_states), 1)))

    def best(self, proposals: list[Proposal]) -> list[KeptBack]:
        """The machines that foretell best. Where fewer states do better, other machines are begun with too."""
        found: list[KeptBack] = []
        for proposal in proposals[:STARTS]:
            path = list(self.shrunk(proposal))
            found += path
            if not path or max(path, key=lambda one: one.total) is path[0]:
                break
        return sorted(found, key=lambda one: -one.total)[:KEPT]


def different_sizes(candidates: tuple[Candidate, ...]) -> list[Candidate]:
    """The first candidate of each number of states, to begin with; that of one state only where there is no other."""
    first = {c.n_states: c for c in reversed(candidates)}
    kept = [first[n] for n in dict.fromkeys(c.n_states for c in candidates) if n > 1]
    return kept or list(candidates[:1])


def likeliest_shares(bits: Floats) -> Floats:
    """(n_parts,) shares of which the average gives strings, of log2-probabilities (n_parts, n_strings), most.

    A few strings that only the first part could tell are imagined beside, so that few strings decide little.
    """
    n_parts, n = bits.shape
    chances = 2.0 ** (bits - bits.max(axis=0))
    shares = np.full(n_parts, 1.0 / n_parts)
    for _ in range(SHARING):
        parts = shares[:, None] * chances
        shares = (parts / parts.sum(axis=0)).sum(axis=1) / (n + FIRST)
        shares[0] += FIRST / (n + FIRST)
    return shares
