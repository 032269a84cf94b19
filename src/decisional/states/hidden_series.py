"""Hidden machines along symbols, and how they are improved: expectation and maximisation.

A hidden machine emits a symbol on each step, and may lead to several states with the same one. What symbols say of it
are the expected uses of its steps; the machine under which these are likeliest is no less likely, and steps in that
direction are lengthened while they gain. See L. Baum, T. Petrie, G. Soules and N. Weiss, A maximization technique
occurring in the statistical analysis of probabilistic functions of Markov chains, Ann. Math. Stat. 41 (1970) 164-171,
and R. Salakhutdinov and S. Roweis, Adaptive overrelaxed bound optimization methods, ICML (2003) 664-671.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from .._kernels import hidden_paths as kernels
from ..machines.belief_machine import BeliefMachine
from ..machines.mixed_states import labelled
from ..support.arrays import Bools, Floats, Ints
from ..support.executors import map_slices
from .search import Budget

# Symbols between beliefs that are kept, and of a series that is followed by one thread alone.
EVERY = 4_096
SHORT = 1 << 15
# Groups of blocks whose sums are added in order, so that threads change nothing.
GROUPS = 16
# Less gain than this, in bits for each pass, is the end; in all of the last passes.
ENOUGH = 0.02
# How much longer a step becomes after one that gained, and the longest.
LONGER, LONGEST = 1.3, 8.0
# How much more probable a step may become at once, so that powers of it are numbers.
STEEPEST = 1e30


@dataclass(frozen=True, eq=False)
class Hidden:
    """Steps (n_symbols, n_states, n_states) of a hidden machine, and what is believed at the start of a sequence."""

    steps: Floats
    home: Floats

    @property
    def n_states(self) -> int:
        return self.home.size

    @cached_property
    def turned(self) -> Floats:
        return np.ascontiguousarray(self.steps.transpose(0, 2, 1))

    def settled(self) -> Hidden:
        """The same steps from their stationary belief."""
        return Hidden(self.steps, np.array(BeliefMachine(self.steps).stationary))


@dataclass(frozen=True, eq=False)
class Expected:
    """What a series says of a hidden machine: expected uses of steps, first states, bits, symbols that cannot be."""

    uses: Floats
    starts: Floats
    log2p: float
    misses: int


class HiddenSymbols(ABC):
    """Symbols that hidden machines are improved and judged by.

    Attributes
    ----------
    n_symbols : different symbols
    """

    n_symbols: int

    @property
    @abstractmethod
    def size(self) -> int:
        """How many symbols there are."""

    @abstractmethod
    def beginning(self, n: int) -> HiddenSymbols:
        """The first symbols, about n of them."""

    @abstractmethod
    def settled(self, machine: Hidden) -> Hidden:
        """The machine with the belief from which sequences are judged."""

    @abstractmethod
    def log2p(self, machine: Hidden) -> tuple[float, int]:
        """log2-probability of the symbols that can be, and how many cannot."""

    @abstractmethod
    def expected(self, machine: Hidden) -> Expected:
        """What the symbols say of each step."""

    @abstractmethod
    def cost(self, n_states: int) -> float:
        """Operations of `expected`, about a nanosecond each."""

    def improve(self, machine: Hidden, passes: int, budget: Budget | None = None) -> Hidden:
        """Expectation and maximisation, in steps that are lengthened while they gain; the likelihood never falls."""
        seen, length, gained = self.expected(machine), 1.0, np.inf
        for _ in range(passes):
            if budget is not None and not budget.spend(self.cost(machine.n_states)):
                break
            tried = _maximised(machine, seen, length)
            found = self.expected(tried)
            if found.misses > seen.misses or found.log2p < seen.log2p:
                if length == 1.0:
                    break
                length = 1.0
                continue
            gained = found.log2p - seen.log2p
            machine, seen, length = tried, found, min(length * LONGER, LONGEST)
            if gained < ENOUGH:
                break
        return machine


@dataclass(frozen=True, eq=False)
class HiddenSeries(HiddenSymbols):
    """Numbered symbols of sequences end to end.

    Attributes
    ----------
    codes : (n,) numbers of symbols
    opens : (n,) whether a sequence begins there
    n_symbols : different symbols
    """

    codes: Ints
    opens: Bools
    n_symbols: int

    @property
    def size(self) -> int:
        return self.codes.size

    def beginning(self, n: int) -> HiddenSeries:
        return self if n >= self.size else HiddenSeries(self.codes[:n], self.opens[:n], self.n_symbols)

    def settled(self, machine: Hidden) -> Hidden:
        """The machine from its stationary belief."""
        return machine.settled()

    def cost(self, n_states: int) -> float:
        return 4.0 * self.size * (n_states**2 + 10)

    def log2p(self, machine: Hidden) -> tuple[float, int]:
        """log2-probability of the symbols that can be, and how many cannot. Cost: O(n n_states²)."""
        kept = np.empty((1, machine.n_states))
        found = kernels.forward(
            self.codes, 0, self.size, self.opens, machine.steps, machine.home, machine.home.copy(), self.size + 1, kept
        )
        return float(found[0]), int(found[1])

    def expected(self, machine: Hidden) -> Expected:
        """What the symbols say of each step. Cost: O(n n_states²): two walks that only keep a belief for each block, at
        the same time, and then the blocks, which no longer depend on each other."""
        n_blocks = -(-self.size // EVERY)
        before, after = np.empty((2, n_blocks, machine.n_states))
        ahead = np.full(machine.n_states, 1.0 / machine.n_states)
        walks = [
            partial(kernels.forward, *self._all, machine.steps, machine.home, machine.home.copy(), EVERY, before),
            partial(kernels.backward, *self._all, machine.turned, ahead, EVERY, after),
        ]
        (log2p, misses), _ = (walk() for walk in walks) if self.size < SHORT else map_slices(_called, walks)
        work = partial(self._group, machine, before, after)
        groups = [part for part in np.array_split(np.arange(n_blocks), GROUPS) if part.size]
        found = list(map(work, groups) if self.size < SHORT else map_slices(work, groups))
        uses, starts = (sum((one[k] for one in found[1:]), found[0][k]) for k in (0, 1))
        return Expected(machine.steps * uses, starts, float(log2p), int(misses))

    @property
    def _all(self) -> tuple[Ints, int, int, Bools]:
        return self.codes, 0, self.size, self.opens

    def _group(self, machine: Hidden, before: Floats, after: Floats, blocks: Ints) -> tuple[Floats, Floats]:
        uses, starts = np.zeros(machine.steps.shape), np.zeros(machine.n_states)
        for block in blocks.tolist():
            first, last = block * EVERY, min((block + 1) * EVERY, self.size)
            arrays = machine.steps, machine.turned, machine.home, before[block], after[block]
            kernels.block_uses(self.codes, first, last, self.opens, *arrays, uses, starts)
        return uses, starts


def _called(walk: Any) -> Any:
    return walk()


def _maximised(machine: Hidden, seen: Expected, length: float) -> Hidden:
    """The machine under which the expected uses are likeliest, or one further in that direction."""
    best = shares(seen.uses, machine.steps)
    if length != 1.0:
        ratio = np.divide(best, machine.steps, out=np.zeros_like(best), where=machine.steps > 0.0)
        best = shares(machine.steps * np.minimum(ratio, STEEPEST) ** length, best)
    total = seen.starts.sum()
    return Hidden(best, seen.starts / total if total > 0.0 else machine.home)


def shares(uses: Floats, otherwise: Floats) -> Floats:
    """Steps in proportion to their uses; those of a state that was never used are others."""
    total = uses.sum(axis=(0, 2), keepdims=True)
    found: Floats = np.divide(uses, total, out=otherwise.copy(), where=total > 0.0)
    return found


def softened(targets: Ints, emission: Floats, start: int | None = None, share: float = 0.2) -> Hidden:
    """A unifilar machine whose symbols may also lead anywhere, to begin with; sequences may begin in one state most."""
    n = len(targets)
    steps = (1.0 - share) * labelled(targets, emission)
    steps += share * np.repeat(emission.T[:, :, None] / n, n, axis=2) + 1e-6
    steps /= steps.sum(axis=(0, 2), keepdims=True)
    home = np.full(n, 1.0 / n)
    if start is not None:
        home *= share
        home[start] += 1.0 - share
    return Hidden(steps, home)


def known_symbols(codes: Ints, bounds: Ints, n_symbols: int) -> HiddenSeries:
    """The symbols that are known, -1 = missing; a sequence begins anew after a gap."""
    opens = np.zeros(codes.size, bool)
    opens[bounds[:-1][np.diff(bounds) > 0]] = True
    opens[1:] |= codes[:-1] < 0
    return HiddenSeries(codes[codes >= 0].astype(np.int32), opens[codes >= 0], n_symbols)
