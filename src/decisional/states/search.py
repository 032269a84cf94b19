"""Unifilar machines judged by how short they describe a series, and the search for shorter ones.

A machine is its targets: its probabilities are the frequencies with which the series uses its edges. Three moves change
it: two states are merged, with all that determinism then demands; one edge is led to another state, or to a copy of the
one it led to; a state is split into two that share the edges leading to it.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from operator import methodcaller

import numpy as np

from .._kernels import search as kernels
from ..data.stored_symbols import Piece
from ..machines.chains import renumbered
from ..support.arrays import Floats, Ints
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
            for move in (self._best_retarget, self._best_split):
                better = self.merge(self.drive(*move(machine)))
                if better.length < machine.length - ROUNDING:
                    break
            else:
                break
            machine = better
        return machine

    def _best_retarget(self, machine: Candidate) -> tuple[Ints, Floats]:
        """Lead one edge elsewhere, or to a new state (the last) that behaves like its target."""
        targets, emission = self._with_room(machine)
        edges = np.flatnonzero(machine.targets >= 0)

        def chunk(part: tuple[int, int]) -> Floats:
            lengths = np.empty((part[1] - part[0], machine.n_states + 1))
            own = targets.copy(), _logs(emission), edges[slice(*part)]
            kernels.retarget_lengths(*self.symbols, *own, self.log_n, machine.length, lengths)
            return lengths

        parts = self._parts(edges.size, edges.size * machine.n_states)
        lengths = np.concatenate(list(map_slices(chunk, parts)))
        e, target = np.unravel_index(lengths.argmin(), lengths.shape)
        state, symbol = divmod(int(edges[e]), self.n_symbols)
        old = targets[state, symbol]
        targets[-1], emission[-1] = targets[old], emission[old]
        targets[state, symbol] = target
        return targets, emission

    def _best_split(self, machine: Candidate) -> tuple[Ints, Floats]:
        """Share the edges that lead to one state, its own included, between the state and a copy of it."""
        targets, emission = self._with_room(machine)

        def edges_to(state: int) -> Ints:
            copied = targets.copy()
            copied[-1] = targets[state]
            edges = np.flatnonzero(copied == state)
            weight = machine.counts.ravel()[edges % machine.counts.size]
            return edges[np.argsort(-weight, kind="stable")][:SPLIT_EDGES]

        def chunk(part: tuple[int, int]) -> list[tuple[float, int, int]]:
            best = []
            for state in range(*part):
                lengths = np.empty(1 << shared[state].size)
                own = targets.copy(), _logs(emission), state, shared[state]
                kernels.split_lengths(*self.symbols, *own, self.log_n, machine.length, lengths)
                best.append((float(lengths.min()), state, int(lengths.argmin())))
            return best

        shared = [edges_to(state) for state in range(machine.n_states)]
        parts = self._parts(machine.n_states, sum(1 << edges.size for edges in shared))
        _, state, code = min(found for part in map_slices(chunk, parts) for found in part)
        edges = shared[state]
        targets[-1], emission[-1] = targets[state], emission[state]
        targets.ravel()[edges[(code >> np.arange(edges.size)) & 1 == 1]] = machine.n_states
        return targets, emission

    def _parts(self, n: int, walks: int) -> list[tuple[int, int]]:
        """Slices of n tasks, one for each core where so many walks take longer than to start threads."""
        return slices(n, min(workers(), n) if walks * self.size > SHORT else 1)

    def _with_room(self, machine: Candidate) -> tuple[Ints, Floats]:
        """Targets and probabilities with a row for one more state."""
        targets = np.concatenate([machine.targets, np.full((1, self.n_symbols), -1)])
        return targets, np.concatenate([machine.emission, np.zeros((1, self.n_symbols))])


def _logs(emission: Floats) -> Floats:
    return np.log2(np.maximum(emission, 1e-12))
