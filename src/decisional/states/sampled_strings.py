"""Hidden machines of whole strings by sampling: many that are probable, given the strings, rather than the likeliest.

Where there are more states than strings can tell, the likeliest machine is too sure of what it saw. Here the states
along all strings are drawn given a machine, and then a machine given the uses of its steps, in turn (Gibbs sampling);
the average over machines of such a chain foretells better than any of them. Rows of a machine come from a symmetrical
Dirichlet distribution, of the density that makes the uses likeliest. See C. Shibata and R. Yoshinaka, Marginalizing
out transition probabilities for several subclasses of PFAs, ICGI, JMLR W&CP 21 (2012) 259-263, and S. Scott, Bayesian
methods for hidden Markov models, J. Am. Stat. Assoc. 97 (2002) 337-351.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

from .._kernels import hidden_prefixes as kernels
from ..support.arrays import Floats
from .hidden_search import drawn
from .hidden_series import Hidden
from .hidden_strings import HiddenStrings, KeptBack, StringSearch, forward, lean, with_any
from .search import Budget

# Imagined uses of each step that are tried.
DENSITIES = (0.1, 0.05, 0.02, 0.01, 0.005, 0.002)
# States of machines that are drawn at random, and symbols for each at least.
STATES, SYMBOLS = 40, 100
# Strings that a chain begins with, steps of a stretch of it at most, and machines of it that are averaged.
BEGUN = 20_000
LONGEST = 600
# Steps along all strings that a chain needs at least: a shorter one tells of where it began.
FEWEST = 50
# Chains of each kind from machines drawn at random, at most.
PAIRS = 3
AVERAGED = 16
# Steps of a chain before its machines are averaged: a share of those along all strings.
BEFORE = 0.3
SEED = 20_121

# Rows of weights to rows that sum to 1.
Rows = Callable[[Floats], Floats]


@dataclass(frozen=True, eq=False)
class Paths:
    """Uses of steps (n_symbols, n_states, n_states) along drawn paths, and of states at the end and the beginning."""

    uses: Floats
    last: Floats
    starts: Floats


# A machine of such uses.
Made = Callable[[Paths, Rows], Hidden]


def paths(series: HiddenStrings, machine: Hidden, rng: np.random.Generator) -> Paths:
    """The states along each string, drawn given the string and the machine. Cost: O(n_nodes n_states²)."""
    k, turned = machine.n_states, with_any(machine.turned)
    uses = np.zeros((series.n_symbols + 1, k, k))
    last, starts = np.zeros((2, k))
    for tree in series.trees:
        ends, beliefs, _, _ = forward(tree, machine)
        uniform = rng.random(int(tree.through.sum()))
        kernels.sample_paths(tree.parent, tree.symbol, tree.leaf, beliefs, turned, ends, uniform, uses, last, starts)
    # A missing symbol is each symbol as much as it is likely there.
    found, unknown = uses[:-1], uses[-1]
    if unknown.any():
        letters = machine.steps[:-1]
        total = letters.sum(axis=0)
        found[:-1] += unknown * np.divide(letters, total, out=np.zeros_like(letters), where=total > 0.0)
    return Paths(found, last, starts)


def likeliest_density(rows: Floats) -> float:
    """That of DENSITIES under which rows of counts (n_rows, n_kinds) are likeliest. Cost: O(n_rows n_kinds)."""
    n, total = rows.shape[1], rows.sum(axis=1)

    def evidence(density: float) -> float:
        seen = rows[rows > 0.0]
        whole = gammaln(n * density) - gammaln(total + n * density)
        return float((gammaln(seen + density) - gammaln(density)).sum() + whole.sum())

    return max(DENSITIES, key=evidence)


def mean(weights: Floats) -> Floats:
    found: Floats = weights / weights.sum(axis=1, keepdims=True)
    return found


def at_random(rng: np.random.Generator) -> Rows:
    """Rows drawn from the Dirichlet distributions of such weights."""
    return lambda weights: mean(rng.standard_gamma(weights) + 1e-300)


def stepwise(seen: Paths, rows: Rows) -> Hidden:
    """The machine whose symbol and next state come together."""
    n_symbols, k, _ = seen.uses.shape
    inner = seen.uses[:-1].transpose(1, 0, 2).reshape(k, -1)
    counts = np.concatenate([inner, seen.last[:, None]], axis=1)
    found = rows(counts + likeliest_density(counts))
    steps = np.zeros(seen.uses.shape)
    steps[:-1] = found[:, :-1].reshape(k, n_symbols - 1, k).transpose(1, 0, 2)
    steps[-1, :, 0] = found[:, -1]
    return Hidden(np.ascontiguousarray(steps), _home(seen, rows))


def apart(seen: Paths, rows: Rows) -> Hidden:
    """The machine whose symbol says nothing of the next state, given the one before: a hidden Markov chain."""
    symbols, moves = seen.uses[:-1].sum(axis=2).T, seen.uses.sum(axis=0) - seen.uses[-1]
    ending = np.stack([seen.last, moves.sum(axis=1)], axis=1)
    emission, transition, end = (rows(counts + likeliest_density(counts)) for counts in (symbols, moves, ending))
    steps = np.zeros(seen.uses.shape)
    steps[:-1] = (emission * end[:, 1:]).T[:, :, None] * transition
    steps[-1, :, 0] = end[:, 0]
    return Hidden(np.ascontiguousarray(steps), _home(seen, rows))


def _home(seen: Paths, rows: Rows) -> Floats:
    starts = seen.starts[None]
    found: Floats = rows(starts + likeliest_density(starts))[0]
    return found


@dataclass(frozen=True, eq=False)
class SampledMachines(KeptBack):
    """Machines that were sampled in turn: the last, with which the chain can go on, and what they say on average.

    Attributes
    ----------
    machines : those that are averaged
    made : `stepwise` or `apart`
    rng : what the chain goes on with
    """

    machines: list[Hidden]
    made: Made
    rng: np.random.Generator

    def on_all(self, series: HiddenStrings, budget: Budget) -> list[Hidden]:
        """Machines of the chain as it goes on along all strings."""
        along = stretch(series, self.machine, self.made, self.rng, budget, budget.left / 2, len(self.machines))
        return along[1] or self.machines


def sampled(search: StringSearch, known: KeptBack, operations: float) -> Iterator[SampledMachines]:
    """A chain from the best machine that is known, and from others drawn at random that foretell better.

    Parameters
    ----------
    search : the strings, and those that are kept back
    known : a machine that foretells them
    operations : that all chains may take; each takes a third of them at most
    """
    rng, budget, each = np.random.default_rng(SEED), Budget(operations), operations / 3
    n, best = min(STATES, search.learnt.size // SYMBOLS), known.total
    for one in chain(search, known.machine, stepwise, rng.spawn(1)[0], budget, each):
        yield one
        best = max(best, one.total)
    for _ in range(PAIRS if n > 1 else 0):
        found: list[SampledMachines] = []
        for made in (stepwise, apart):
            if budget.left > each / 2:
                machine = drawn(search.series.n_symbols, n, rng)
                found += chain(search, machine, made, rng.spawn(1)[0], budget, min(each, budget.left))
        better = [one for one in found if one.total > best]
        yield from better
        if not better:
            return


def chain(
    search: StringSearch, machine: Hidden, made: Made, rng: np.random.Generator, budget: Budget, operations: float
) -> Iterator[SampledMachines]:
    """A chain along the strings that are learnt from, of some to begin with; none where that is too dear."""
    if operations / 2 < FEWEST * sampling_cost(search.learnt, machine.n_states):
        return
    few = search.learnt.spread(BEGUN / search.learnt.n_strings)
    end = budget.left - operations
    machine, _ = stretch(few, lean(machine), made, rng, budget, operations / 2, 0)
    machine, found = stretch(search.learnt, machine, made, rng, budget, budget.left - end, AVERAGED)
    if found:
        bits = np.array([search.held.string_bits(one) for one in found])
        most = bits.max(axis=0)
        yield SampledMachines(machine, np.log2((2.0 ** (bits - most)).mean(axis=0)) + most, found, made, rng)


def stretch(
    series: HiddenStrings,
    machine: Hidden,
    made: Made,
    rng: np.random.Generator,
    budget: Budget,
    operations: float,
    n: int,
) -> tuple[Hidden, list[Hidden]]:
    """The last machine of a stretch of a chain, and n of the later ones, evenly spread, each as its mean."""
    cost = sampling_cost(series, machine.n_states)
    length = int(min(operations / cost, LONGEST))
    first = int(BEFORE * length)
    kept = set(np.linspace(first, length - 1, n).astype(int).tolist()) if n and length > first else set()
    found = []
    budget.spend(length * cost)
    for step in range(length):
        seen = paths(series, machine, rng)
        if step in kept:
            found.append(made(seen, mean))
        machine = made(seen, at_random(rng))
    return machine, found


def sampling_cost(series: HiddenStrings, n_states: int) -> float:
    """Operations of a step of a chain, about a nanosecond each."""
    along = 0.23 * series.n_nodes * (n_states**2 + 30) + series.size * (1.3 * n_states + 20)
    return along + 30.0 * series.n_symbols * n_states**2
