"""Unifilar machines judged by how short they describe a series, and the search for shorter ones.

A machine is its targets: its probabilities are the frequencies with which the series uses its edges. Three moves change
it: two states are merged, with all that determinism then demands; one edge is led to another state, or to a copy of the
one it led to; a state is split into two that share the edges leading to it.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from operator import methodcaller

import numpy as np

from .._kernels import description_lengths as kernels
from ..data.stored_symbols import Piece
from ..machines.chains import renumbered
from ..support.arrays import Bools, Floats, Ints
from ..support.executors import map_slices, slices, workers

# A machine with more states is not searched from: no neighbour of it is the answer.
MOST_STATES = 60
# A state is split in all the ways that its most used incoming edges, at most so many, can be shared.
SPLIT_EDGES = 8
# Symbols that a machine is driven through in the time that threads take to start.
SHORT = 1 << 19
# Less than this many bits is rounding.
ROUNDING = 1e-6


@dataclass(frozen=True, eq=False)
class Candidate:
    """A machine that was considered, and how well it describes the series.

    Attributes
    ----------
    past, future : windows from which it was reconstructed; 0 for the machine of one state
    searched : whether it was then improved by the search
    n_states : number of states, all recurrent
    log_likelihood : log2-probability of the symbols given the machine, in bits
    description_length : bits of the symbols and of the machine
    targets, counts : (n_states, n_symbols) next state, -1 = none, and uses of each edge
    starts, misses : how often the state had to be found anew, and symbols that the machine could not emit
    """

    targets: Ints = field(repr=False)
    counts: Floats = field(repr=False)
    starts: int = field(repr=False)
    misses: int = field(repr=False)
    length: float = field(repr=False)
    past: int = 0
    future: int = 0
    searched: bool = False

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
    def proposal(self) -> tuple[Ints, Floats]:
        return self.targets, self.emission

    def equals(self, other: "Candidate") -> bool:
        """Whether all numbers are the same, wherever they are from."""
        same = (self.starts, self.misses, self.length) == (other.starts, other.misses, other.length)
        return same and np.array_equal(self.targets, other.targets) and np.array_equal(self.counts, other.counts)


class StoredSeries:
    """Numbered symbols that come slice by slice, and judge machines by how short these describe them.

    Parameters
    ----------
    pieces : gives all slices in order (see `data.stored_symbols.Piece`), each with the next `ahead` symbols
    size, n_symbols : symbols in all, and different ones
    """

    def __init__(self, pieces: Callable[[int], Iterable[Piece]], size: int, n_symbols: int) -> None:
        self.pieces, self.size, self.n_symbols = pieces, size, n_symbols
        self.log_n = float(np.log2(max(size, 2)))

    def drive(self, targets: Ints, emission: Floats) -> Candidate:
        """The machine with the uses of its edges; states and edges that the series never uses are dropped.

        `emission` only helps to find the state at the start of a sequence. Cost: one pass.
        """
        return self.drive_all([(targets, emission)])[0]

    def drive_all(self, machines: list[tuple[Ints, Floats]]) -> list[Candidate]:
        """Several machines, (targets, emission); each state is carried over the borders of slices.

        Cost: one pass in which machines share the cores, about 6 ns for each symbol and machine; memory: a few slices.
        """
        walks = [_Walk(*machine) for machine in machines]
        for piece in self.pieces(kernels.AHEAD):
            list(map_slices(methodcaller("follow", piece), walks))
        return [self._along(walk) for walk in walks]

    def _along(self, walk: "_Walk") -> Candidate:
        counts = walk.counts
        targets = np.where(counts > 0, walk.targets, -1)
        # A state where the series ends may be reached and never left.
        used = np.union1d(np.flatnonzero(counts.any(axis=1)), targets[targets >= 0])
        length = kernels.description_length(counts, walk.starts, walk.misses, self.log_n)
        return Candidate(renumbered(targets, used), counts[used], walk.starts, walk.misses, length)

    def merge(self, machine: Candidate) -> Candidate:
        """Merge two states, with what determinism then demands, while that shortens the description.

        The most profitable pair goes first. Cost: O(n_states^3 n_symbols) for each merger, and no pass over the data:
        the counts of merged states are sums.
        """
        while machine.n_states > 1:
            known = machine.targets, machine.counts, machine.starts, machine.misses
            length, into = best_merger(*known, self.log_n)
            if length >= machine.length:
                break
            labels = np.unique(into, return_inverse=True)[1]
            counts = np.zeros((int(labels.max()) + 1, self.n_symbols))
            np.add.at(counts, labels, machine.counts)
            targets = np.full(counts.shape, -1, np.int64)
            state, symbol = np.nonzero(machine.targets >= 0)
            targets[labels[state], symbol] = labels[machine.targets[state, symbol]]
            machine = replace(machine, targets=targets, counts=counts, length=length)
        return machine


def best_merger(targets: Ints, counts: Floats, starts: int, misses: int, log_n: float) -> tuple[float, Ints]:
    """The shortest description with two states merged, and the lowest state that each then goes together with."""
    n = len(targets)
    lengths, into = np.full((n, n), np.inf), np.empty(n, np.int64)
    kernels.merge_lengths(targets, counts, starts, misses, log_n, lengths)
    i, j = np.unravel_index(lengths.argmin(), lengths.shape)
    kernels.merged_labels(targets, i, j, into, np.empty_like(targets))
    return float(lengths[i, j]), into


class _Walk:
    """A machine on its way through slices: its state, and the uses of its edges so far."""

    def __init__(self, targets: Ints, emission: Floats) -> None:
        self.targets, self.logs = np.ascontiguousarray(targets, np.int64), _logs(emission)
        self.counts = np.zeros(self.targets.shape)
        self.state, self.starts, self.misses = -1, 0, 0

    def follow(self, piece: Piece) -> None:
        state = self.state if piece.continues else -1
        symbols = piece.raw, piece.lut, piece.bounds, piece.end
        starts, misses, self.state = kernels.walk(*symbols, self.targets, self.logs, piece.end, state, self.counts)
        self.starts += starts
        self.misses += misses


class SymbolSeries(StoredSeries):
    """Numbered symbols in memory (raw, lut, bounds: see `data.sequences.Symbols`), on which machines are improved."""

    def __init__(self, raw: Ints, lut: Ints, bounds: Ints, n_symbols: int) -> None:
        super().__init__(lambda ahead: [Piece(raw, lut, bounds, raw.size, False)], raw.size, n_symbols)
        self.symbols = raw, lut, bounds

    def beginning(self, most: int) -> "SymbolSeries":
        """The first symbols, at most so many."""
        raw, lut, bounds = self.symbols
        if raw.size <= most:
            return self
        return SymbolSeries(raw[:most], lut, np.append(bounds[bounds < most], most), self.n_symbols)

    def improve(self, machine: Candidate) -> Candidate:
        """Make the best of the moves, and merge, while that shortens the description.

        States are split only where no single edge led elsewhere helps. Cost: one pass for each of about
        n_states (n_states + 1) n_symbols neighbours, or 2**SPLIT_EDGES for each state, on all cores, for each move.
        """
        while machine.n_states <= MOST_STATES:
            for moves in (_retargets, _splits):
                better = self.merge(self.drive(*self._best_move(machine, *moves(machine))))
                if better.length < machine.length - ROUNDING:
                    break
            else:
                break
            machine = better
        return machine

    def _best_move(
        self, machine: Candidate, copied: Ints, copies: Bools, edges: Ints, ends: Ints
    ) -> tuple[Ints, Floats]:
        """Targets and probabilities after the best of some moves, see `_kernels.description_lengths.move_lengths`."""
        targets = np.concatenate([machine.targets, np.full((1, self.n_symbols), -1)])
        emission = np.concatenate([machine.emission, np.zeros((1, self.n_symbols))])

        def chunk(part: tuple[int, int]) -> Floats:
            lengths = np.empty(part[1] - part[0])
            own = slice(*part)
            moves = copied[own], copies[own], edges[own], ends[own]
            kernels.move_lengths(*self.symbols, targets, _logs(emission), *moves, self.log_n, machine.length, lengths)
            return lengths

        n = copied.size
        # Threads take longer to start than few walks along few symbols.
        parts = slices(n, min(workers(), n) if n * self.size > SHORT else 1)
        m = int(np.concatenate(list(map_slices(chunk, parts))).argmin())
        if copies[m]:
            targets[-1], emission[-1] = targets[copied[m]], emission[copied[m]]
        targets.ravel()[edges[m]] = ends[m]
        return targets, emission


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


def _logs(emission: Floats) -> Floats:
    return np.log2(np.maximum(emission, 1e-12))
