"""Unifilar machines judged by how short they describe a series, and the search for shorter ones.

A machine is its targets: its probabilities are the frequencies with which the series uses its edges. Three moves change
it: two states are merged, with all that determinism then demands; one edge is led to another state, or to a copy of the
one it led to; a state is split into two that share the edges leading to it.
"""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from operator import methodcaller
from typing import Any

import numpy as np
from scipy.special import gammaln

from .._kernels import description_lengths as kernels
from .._kernels import folds, seconds_compiled
from ..data.stored_symbols import Piece
from ..machines.chains import renumbered
from ..support.arrays import Bools, Floats, Ints
from ..support.executors import map_slices, slices, workers

# Operations that looking at all neighbours of a machine may cost.
MOVING = 1.5e9
# A state is split in all the ways that its most used incoming edges, at most so many, can be shared.
SPLIT_EDGES = 8
# Symbols that a machine is driven through in the time that threads take to start.
SHORT = 1 << 19
# Up to so many states all pairs are compared before two are merged.
PAIRED = 60
# A merger that loses more than this many bits is a contradiction, whatever those that it entails gain.
LIMIT = -10.0
# The sum of gains at which a merger is given up, and cells of rows that are looked at.
FLOOR = -300.0
SWEEPING = 1_000_000_000
# Operations for each symbol that a machine is driven along, and for each that it is driven along from each state that
# is believed in while it is not known; for each cell of rows in the comparison of all pairs of states, for each number
# of a table.
READ = 6.0
FOUND = 8.0
PAIR = 2.0
TABLE = 10.0
# Less than this many bits is rounding.
ROUNDING = 1e-6
# Passes after which beliefs of unknown states have settled, where starts cost more than so many bits.
SETTLED = 20
FEW = 20.0
# Targets of a machine, and how much its edges are used.
Proposal = tuple[Ints, Floats]


class Budget:
    """Operations that may still be spent, about a nanosecond each, so that answers do not depend on the computer.

    Parameters
    ----------
    operations : how many
    seconds : of this process, a guard that should never cut in; `cut` says whether it did. Compiling kernels, the first
        time that they are used on a machine, does not count
    """

    def __init__(self, operations: float = np.inf, seconds: float = np.inf) -> None:
        self.left = operations
        self.cut = False
        self._end = _clock() + seconds

    def spend(self, operations: float) -> bool:
        """Whether so many operations were left, and are now spent."""
        self.cut = self.cut or _clock() > self._end
        self.left -= operations
        return self.left >= 0 and not self.cut

    @property
    def spent(self) -> bool:
        return not self.spend(0)


def _clock() -> float:
    return time.process_time() - seconds_compiled()


@dataclass(frozen=True, eq=False)
class Candidate:
    """A machine that was considered, and how well it describes the series.

    Attributes
    ----------
    past, future : windows from which it was reconstructed; 0 for the machine of one state
    searched : whether it was then improved by the search
    how : what it was found from: "windows", "contexts" or "prefixes" that were merged, a "tree" of contexts that was
        pruned, or "tables" drawn at random
    n_states : number of states, all recurrent
    log_likelihood : log2-probability of the symbols given the machine, in bits
    description_length : bits of the symbols and of the machine, or of the tree
    targets, counts : (n_states, n_symbols) next state, -1 = none, and uses of each edge, expected ones where the state
        is not known
    start_bits, misses : bits for states that had to be found anew, and symbols that the machine could not emit
    """

    targets: Ints = field(repr=False)
    counts: Floats = field(repr=False)
    start_bits: float = field(repr=False)
    misses: int = field(repr=False)
    length: float = field(repr=False)
    past: int = 0
    future: int = 0
    searched: bool = False
    how: str = "windows"

    @property
    def n_states(self) -> int:
        return len(self.targets)

    @property
    def description_length(self) -> float:
        return self.length

    @property
    def log_likelihood(self) -> float:
        used = self.counts > 0
        return float(self.counts[used] @ np.log2(self.emission[used]))

    @property
    def emission(self) -> Floats:
        """(n_states, n_symbols) probability of each symbol; zeros for a state that is never left."""
        total: Floats = np.maximum(self.counts.sum(axis=1, keepdims=True), 1.0)
        return np.divide(self.counts, total)

    @property
    def left_out(self) -> float:
        """Bits that say which symbols each state never shows, any of so many; trees imagine all symbols everywhere."""
        if self.how == "tree":
            return 0.0
        n = self.counts.shape[1]
        shown = np.count_nonzero(self.counts > 0, axis=1)
        ways = gammaln(n + 1) - gammaln(shown + 1) - gammaln(n - shown + 1)
        return float(ways.sum() / np.log(2))

    @property
    def proposal(self) -> Proposal:
        return self.targets, self.counts

    @property
    def origin(self) -> dict[str, Any]:
        """What says where it was found."""
        return {"past": self.past, "future": self.future, "searched": self.searched, "how": self.how}

    def equals(self, other: "Candidate") -> bool:
        """Whether all numbers are the same, wherever they are from."""
        same = (self.start_bits, self.misses, self.length) == (other.start_bits, other.misses, other.length)
        return same and np.array_equal(self.targets, other.targets) and np.array_equal(self.counts, other.counts)


class StoredSeries:
    """Numbered symbols that come slice by slice, and judge machines by how short these describe them.

    Parameters
    ----------
    pieces : gives all slices in order (see `data.stored_symbols.Piece`), each with the next `ahead` symbols
    size, n_symbols : symbols in all, and different ones
    budget : what driving and merging machines is charged to; they end where it is spent
    """

    def __init__(
        self, pieces: Callable[[int], Iterable[Piece]], size: int, n_symbols: int, budget: Budget | None = None
    ) -> None:
        self.pieces, self.size, self.n_symbols = pieces, size, n_symbols
        self.budget = budget or Budget()
        self.log_n = float(np.log2(max(size, 2)))

    @property
    def n_letters(self) -> int:
        """The symbols, the first ones, that a missing one may have been."""
        return self.n_symbols

    def drive(self, targets: Ints, weights: Floats) -> Candidate:
        """The machine with the uses of its edges; states and edges that the series never uses are dropped.

        `weights`, how much each edge is used, only tell the state at the start of a sequence. Cost: one pass.
        """
        return self.drive_all([(targets, weights)])[0]

    def drive_all(self, machines: list[Proposal]) -> list[Candidate]:
        """Several machines; each state is carried over the borders of slices.

        Cost: one pass in which machines share the cores, about 6 ns for each symbol and machine; memory: a few slices.
        """
        walks = [self._walk(*machine) for machine in machines]
        for piece in self.pieces(kernels.AHEAD):
            list(map_slices(methodcaller("follow", piece), walks))
        for walk in walks:
            self._charge(walk)
        return [self._along(walk) for walk in walks]

    def _charge(self, walk: "Walk") -> None:
        """Charge what a machine was driven along the whole series for."""
        self.budget.spend(READ * self.size + FOUND * walk.unknown)

    def _walk(self, targets: Ints, weights: Floats) -> "Walk":
        """A machine at the beginning of the series."""
        return Walk(targets, weights, self.n_letters)

    def fit(self, proposal: Proposal) -> Candidate:
        """The machine along the series, its states merged where that is shorter, beliefs of unknown states settled."""
        return self.settle(self.merge(self.settle(self.drive(*proposal))))

    def settle(self, machine: Candidate) -> Candidate:
        """Drive a machine again with what its own uses say of unknown states, while that shortens the description.

        Cost: a pass for each time, at most SETTLED; none where few of many states are unknown.
        """
        few = machine.start_bits <= FEW and self.size > kernels.FEW_SYMBOLS
        for _ in range(0 if few else SETTLED):
            if self.budget.spent:
                break
            again = self.drive(*machine.proposal)
            if again.length > machine.length - ROUNDING:
                break
            machine = again
        return machine

    def _along(self, walk: "Walk") -> Candidate:
        counts = walk.counts + walk.starts
        kernels.drop_unlikely(counts)
        start_bits = kernels.start_bits(counts, walk.starts, walk.bits)
        targets = np.where(counts > 0, walk.targets, -1)
        # A state where the series ends may be reached and never left.
        used = np.union1d(np.flatnonzero(counts.any(axis=1)), targets[targets >= 0])
        length = kernels.description_length(counts, start_bits, walk.misses, self.log_n)
        return Candidate(renumbered(targets, used), counts[used], start_bits, walk.misses, length)

    def merge(self, machine: Candidate) -> Candidate:
        """Merge two states, with what determinism then demands, while that shortens the description.

        The most profitable pair goes first; of more than PAIRED states each is merged with its best partner, the rarest
        first, unless that contradicts the data somewhere by more than -LIMIT bits. Cost: O(n_states^3 n_symbols) for
        each merger, at most SWEEPING, and no pass over the data: the counts of merged states are sums.
        """
        while machine.n_states > PAIRED and not self.budget.spent:
            into, operations = best_partners(machine.targets, machine.counts, self.log_n)
            self.budget.spend(operations)
            merged = self._merged(machine, into)
            if merged.length >= machine.length:
                break
            machine = merged
        while 1 < machine.n_states <= PAIRED and self.budget.spend(self._pairing(machine.n_states)):
            known = machine.targets, machine.counts, machine.start_bits, machine.misses
            length, into = best_merger(*known, self.log_n)
            if length >= machine.length:
                break
            machine = self._merged(machine, into)
        return machine

    def _pairing(self, n_states: int) -> float:
        """Operations of comparing all pairs of states."""
        return PAIR * n_states**3 * self.n_symbols

    def _merged(self, machine: Candidate, into: Ints) -> Candidate:
        """The machine whose states are merged with those that they go into."""
        labels = np.unique(into, return_inverse=True)[1]
        n = int(labels.max()) + 1
        counts = np.zeros((n, self.n_symbols))
        np.add.at(counts, labels, machine.counts)
        targets = np.full(counts.shape, -1, np.int64)
        state, symbol = np.nonzero(machine.targets >= 0)
        targets[labels[state], symbol] = labels[machine.targets[state, symbol]]
        # Starts are taken to cost in proportion to the length of a state's name.
        start_bits = machine.start_bits * np.log2(n) / np.log2(max(machine.n_states, 2))
        length = kernels.description_length(counts, start_bits, machine.misses, self.log_n)
        return replace(machine, targets=targets, counts=counts, start_bits=start_bits, length=length)


def best_partners(targets: Ints, counts: Floats, log_n: float) -> tuple[Ints, float]:
    """The state that each is best merged with, by description length, and what determinism then demands.

    Also the operations that this took.
    """
    uses = np.rint(counts).astype(np.int64)
    tables = length_tables(int(uses.sum()), log_n, int(np.count_nonzero(uses)), len(uses))
    into = np.empty(len(uses), np.int64)
    _, left = folds.sweep(targets.copy(), uses, *tables, FLOOR, LIMIT, SWEEPING, into)
    return into, SWEEPING - left + TABLE * len(tables[0])


def length_tables(n: int, log_n: float, edges: int, states: int) -> tuple[Floats, Floats]:
    """Bits that c uses of an edge save, and n uses of a state cost, in a description; see `_kernels.folds`.

    Each state less shortens the names of all edges.
    """
    seen = np.arange(n + 1.0)
    bits = seen * np.log2(np.maximum(seen, 1.0))
    gain, cost = bits - 0.5 * log_n - np.log2(states), bits - 0.5 * log_n + edges / states / np.log(2)
    gain[0] = cost[0] = 0.0
    return gain, cost


def best_merger(targets: Ints, counts: Floats, start_bits: float, misses: int, log_n: float) -> tuple[float, Ints]:
    """The shortest description with two states merged, and the lowest state that each then goes together with."""
    n = len(targets)
    lengths, into = np.full((n, n), np.inf), np.empty(n, np.int64)
    kernels.merge_lengths(targets, counts, start_bits, misses, log_n, lengths)
    i, j = np.unravel_index(lengths.argmin(), lengths.shape)
    kernels.merged_labels(targets, i, j, into, np.empty_like(targets))
    return float(lengths[i, j]), into


class Walk:
    """A machine on its way through slices: its state, or what is believed of it, and the uses of its edges so far.

    Parameters
    ----------
    targets, weights : the machine, and how much its edges are used
    letters : the symbols, the first ones, that a missing one may have been
    """

    def __init__(self, targets: Ints, weights: Floats, letters: int) -> None:
        self.targets, self.known, self.letters = np.ascontiguousarray(targets, np.int64), beliefs(weights), letters
        self.counts = np.zeros(self.targets.shape)
        n = len(targets)
        self.held, self.prior = np.arange(n), self.known[1].copy()
        self.starts, self.bits = np.zeros(self.targets.shape), 0.0
        self.state, self.believed, self.misses, self.ahead, self.unknown = -1, n, 0, 0, 0

    def follow(self, piece: Piece, states: Ints | None = None) -> None:
        """Go on through a slice; writes the state before each symbol in `states`, if given, where it is known."""
        if not piece.continues:
            self.state, self.ahead = -1, 0
            self.believed = kernels.begin_anew(self.known[1], self.held, self.prior)
        symbols = piece.raw, piece.lut, piece.bounds, self.ahead, piece.end, self.letters
        before = piece.end, self.state, self.held, self.prior, self.believed
        to = (self.counts, self.starts), self.bits, np.empty(0, np.int64) if states is None else states
        found = kernels.walk(*symbols, self.targets, *self.known, *before, *to)
        self.bits, misses, self.state, self.believed, self.ahead, unknown = found
        self.misses += misses
        self.unknown += unknown


class SymbolSeries(StoredSeries):
    """Numbered symbols in memory (raw, lut, bounds: see `data.sequences.Symbols`), on which machines are improved."""

    # The symbol whose edges are not led elsewhere.
    fixed = -1

    def __init__(self, raw: Ints, lut: Ints, bounds: Ints, n_symbols: int, budget: Budget | None = None) -> None:
        super().__init__(self._whole, raw.size, n_symbols, budget)
        self.symbols = raw, lut, bounds
        self.bounds = bounds

    def _whole(self, ahead: int) -> list[Piece]:
        """The only slice, whatever it needs of the next one."""
        return [Piece(*self.symbols, self.size, False)]

    @cached_property
    def codes(self) -> Ints:
        """(size,) number of each symbol, -1 = missing."""
        raw, lut, _ = self.symbols
        return np.asarray(lut, np.int64)[raw]

    @cached_property
    def n_runs(self) -> int:
        """Sequences and gaps after which the state is not known."""
        return int(len(self.bounds) + np.count_nonzero(self.codes < 0))

    def cost(self, n_states: int) -> float:
        """Operations of driving a machine along the series."""
        unknown = self.n_runs * min(kernels.AHEAD, self.size / self.n_runs)
        return READ * self.size + FOUND * unknown * n_states

    def states(self, machine: Candidate) -> Ints:
        """(size,) state of a machine before each symbol, -1 where it is not known."""
        return self.states_of(machine.targets, machine.counts)

    def states_of(self, targets: Ints, weights: Floats) -> Ints:
        """(size,) state before each symbol of the machine of some targets, whose edges are used so much."""
        found = np.full(self.size, -1, np.int64)
        walk = self._walk(targets, weights)
        for piece in self.pieces(kernels.AHEAD):
            walk.follow(piece, found)
        self._charge(walk)
        return found

    def beginning(self, most: int) -> "SymbolSeries":
        """The first symbols, at most so many."""
        raw, lut, bounds = self.symbols
        if raw.size <= most:
            return self
        part = raw[:most], lut, np.append(bounds[bounds < most], most)
        return SymbolSeries(*part, self.n_symbols, self.budget)

    def improve(self, machine: Candidate) -> Candidate:
        """Make the best of the moves, and merge, while that shortens the description.

        States are split only where no single edge led elsewhere helps. Cost: one pass for each of about
        n_states (n_states + 1) n_symbols neighbours, or 2**SPLIT_EDGES for each state, on all cores, for each move;
        none that would cost more than MOVING operations, or than the budget has.
        """
        while True:
            for moves in (_retargets, _splits):
                neighbours = moves(machine)
                cost = neighbours[0].size * self.cost(machine.n_states)
                if cost > MOVING or not self.budget.spend(cost):
                    return machine
                better = self.fit(self._best_move(machine, *neighbours))
                if better.length < machine.length - ROUNDING:
                    break
            else:
                break
            machine = better
        return machine

    def may_move(self, machine: Candidate) -> bool:
        """Whether looking at all neighbours of a machine costs no more than MOVING operations."""
        edges = np.count_nonzero(machine.targets >= 0)
        return bool(edges * machine.n_states * self.cost(machine.n_states) <= MOVING)

    def _best_move(self, machine: Candidate, copied: Ints, copies: Bools, edges: Ints, ends: Ints) -> Proposal:
        """The machine after the best of some moves, see `_kernels.description_lengths.move_lengths`."""
        targets = np.concatenate([machine.targets, np.full((1, self.n_symbols), -1)])
        weights = np.concatenate([machine.counts, np.zeros((1, self.n_symbols))])

        def chunk(part: tuple[int, int]) -> Floats:
            lengths = np.empty(part[1] - part[0])
            own = slice(*part)
            moves = copied[own], copies[own], edges[own], ends[own]
            along = *self.symbols, self.n_letters, targets, *beliefs(weights)
            kernels.move_lengths(*along, *moves, self.log_n, machine.length, lengths)
            return lengths

        n = copied.size
        # Threads take longer to start than few walks along few symbols.
        parts = slices(n, min(workers(), n) if n * self.size > SHORT else 1)
        m = int(np.concatenate(list(map_slices(chunk, parts))).argmin())
        if copies[m]:
            targets[-1], weights[-1] = targets[copied[m]], weights[copied[m]]
        targets.ravel()[edges[m]] = ends[m]
        return targets, weights


def _retargets(machine: Candidate) -> tuple[Ints, Bools, Ints, Ints]:
    """Lead one edge elsewhere, or to a new state (the last) that behaves like its target."""
    n = machine.n_states
    edges = np.repeat(np.flatnonzero(machine.targets >= 0), n)
    old = machine.targets.ravel()[edges]
    ends = np.tile(np.arange(n), edges.size // n)
    ends += ends >= old
    return old, ends == n, edges[:, None], ends[:, None]


def _splits(machine: Candidate) -> tuple[Ints, Bools, Ints, Ints]:
    """Share the edges that lead to one state, its own included, between the state and a copy of it."""
    copied, edges, ends = [], [], []
    for state in np.unique(machine.targets[machine.targets >= 0]):
        shared = np.flatnonzero(np.vstack([machine.targets, machine.targets[state]]) == state)
        used = np.vstack([machine.counts, machine.counts[state]]).ravel()[shared]
        shared = shared[np.argsort(-used, kind="stable")][:SPLIT_EDGES]
        # Fewer edges are repeated, so that all moves have as many.
        place = np.arange(SPLIT_EDGES) % shared.size
        apart = np.arange(1 << shared.size)[:, None] >> place & 1
        copied.append(np.full(len(apart), state))
        edges.append(np.tile(shared[place], (len(apart), 1)))
        ends.append(np.where(apart, machine.n_states, state))
    each = np.concatenate(copied)
    return each, np.ones(each.size, bool), np.concatenate(edges), np.concatenate(ends)


def beliefs(weights: Floats) -> tuple[Floats, Floats]:
    """log2 of the probabilities of symbols and of the shares of states, where edges have been used so much.

    An edge or a state of which nothing is known is not impossible.
    """
    logs, first = kernels.learnt(np.ascontiguousarray(weights, np.float64))
    return logs, first
