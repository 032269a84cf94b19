"""How sure the measures of a machine are that was found in symbols: machines drawn from a posterior over both their
states and their probabilities.

A chain of Metropolis and Hastings walks over machines: an edge is led elsewhere, a state is split, or two states are
merged with what determinism then demands. A move is accepted by its change of description length, each bit of which
counts as `BIT` of a bit: the code of a machine is a strict prior, under which states that are true and not yet worth
their description would have next to no probability. Given its states, the probabilities of a machine have the posterior
of Jeffreys: a Dirichlet distribution of the uses of its edges and a half each.
"""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._kernels import description_lengths as kernels
from ..machines.chains import Chain, stationary
from ..machines.epsilon_machine import trusted_machine
from ..support.arguments import generator, integer, real
from ..support.arrays import Floats, Ints
from .machine_selection import _read, select
from .search import Candidate, SymbolSeries

# Chosen on the tuning seeds of benchmarks/intervals.py.
BIT = 0.4
# States of a machine at most.
MOST_STATES = 60
# Moves between two machines that are kept.
MOVES = 20
# Machines that are drawn at most.
MOST = 10**6
# Error in bits of E in each draw: far below what sampling leaves open.
PRECISION = 5e-3


@dataclass(frozen=True)
class MeasureIntervals:
    """Where measures of the process lie, with the probability `level`, as (low, high).

    Attributes
    ----------
    statistical_complexity, entropy_rate, excess_entropy : C, h and E in bits
    n_states : numbers of recurrent states
    level : probability
    n_symbols : symbols that they were estimated from
    """

    statistical_complexity: tuple[float, float]
    entropy_rate: tuple[float, float]
    excess_entropy: tuple[float, float]
    n_states: tuple[int, int]
    level: float
    n_symbols: int


def intervals(
    symbols: Any,
    level: float = 0.9,
    n: int = 100,
    *,
    missing: Hashable = None,
    sequences: bool | None = None,
    rng: Any = 0,
) -> MeasureIntervals:
    """Intervals for C, h, E and the number of states of the process that symbols are from.

    Parameters
    ----------
    symbols, missing, sequences : as for `decisional.epsilon_machine`
    level : float
        Probability of each interval.
    n : int
        Machines that are drawn.
    rng : None, int, or numpy Generator

    Returns
    -------
    MeasureIntervals
        Their coverage on random machines is in benchmarks/intervals.md. It is that of machines near the chosen one:
        where the search for that one missed the process by far, so do the intervals. Cost: that of `epsilon_machine`,
        20 n passes over the symbols, and n times that of E.

    Examples
    --------
    >>> import decisional as ds
    >>> found = intervals(ds.processes.even().simulate(3_000, rng=1))
    >>> low, high = found.entropy_rate
    >>> low < 2 / 3 < high, found.n_states[0]
    (True, 2)
    """
    level = real(level, "level", above=0, below=1, remedy="try level=0.9", of="intervals")
    n = integer(n, "n", least=10, most=MOST, remedy="try n=100", of="intervals")
    random = generator(rng)
    machine = select(symbols, missing=missing, sequences=sequences).chosen
    source, _ = _read(symbols, missing, sequences)
    series = SymbolSeries(source.raw, source.lut, source.bounds, len(source.letters))
    machine = series.drive(*machine.proposal)
    drawn = []
    for _ in range(n):
        for _ in range(MOVES):
            machine = moved(machine, series, random)
        drawn.append((*_measures(machine, random), machine.n_states))
    ends = [(1.0 - level) / 2.0, (1.0 + level) / 2.0]
    complexity, rate, excess = np.quantile([row[:3] for row in drawn], ends, axis=0).T.tolist()
    low, high = np.quantile([row[3] for row in drawn], ends, method="inverted_cdf").tolist()
    n_symbols = int((series.codes >= 0).sum())
    return MeasureIntervals(tuple(complexity), tuple(rate), tuple(excess), (int(low), int(high)), level, n_symbols)


def moved(machine: Candidate, series: SymbolSeries, random: np.random.Generator) -> Candidate:
    """The machine after one step of the chain: another one, or the same where the move was not accepted."""
    move = (_led_elsewhere, _split, _merged)[random.integers(3)]
    proposed = move(machine, random)
    if proposed is None:
        return machine
    targets, emission, wanted, ratio = proposed
    other = series.drive(targets, emission)
    if other.n_states > MOST_STATES or not other.counts.any():
        return machine
    # States that the series never uses are gone, and then the way back is another.
    gain = machine.length - other.length + (ratio if other.n_states == wanted else 0.0)
    return other if np.log2(random.random()) < BIT * gain else machine


Proposed = tuple[Ints, Floats, int, float]


def _led_elsewhere(machine: Candidate, random: np.random.Generator) -> Proposed | None:
    """One edge leads to another state. Proposals are targets, probabilities to find the first state by, the number of
    states, and log2 of the ratio of the chances of the way back and of the way there."""
    if machine.n_states == 1:
        return None
    targets = machine.targets.copy()
    edge = random.choice(np.flatnonzero(targets >= 0))
    end = random.integers(machine.n_states - 1)
    targets.flat[edge] = end + (end >= targets.flat[edge])
    return targets, machine.emission, machine.n_states, 0.0


def _split(machine: Candidate, random: np.random.Generator) -> Proposed:
    """The edges that lead to a state, its own included, are shared between it and a copy."""
    n = machine.n_states
    state = int(random.integers(n))
    targets = np.concatenate([machine.targets, machine.targets[[state]]])
    edges = np.flatnonzero(targets.ravel() == state)
    targets.flat[edges[random.random(edges.size) < 0.5]] = n
    emission = np.concatenate([machine.emission, machine.emission[[state]]])
    return targets, emission, n + 1, edges.size - np.log2(n + 1)


def _merged(machine: Candidate, random: np.random.Generator) -> Proposed | None:
    """Two states are one, and all that determinism then demands."""
    n = machine.n_states
    if n == 1:
        return None
    i, j = np.sort(random.choice(n, 2, replace=False))
    into = np.empty(n, np.int64)
    kernels.merged_labels(machine.targets, i, j, into, np.empty_like(machine.targets))
    labels = np.unique(into, return_inverse=True)[1]
    counts: Floats = np.zeros((int(labels.max()) + 1, machine.counts.shape[1]))
    np.add.at(counts, labels, machine.counts)
    targets = np.full(counts.shape, -1, np.int64)
    state, symbol = np.nonzero(machine.targets >= 0)
    targets[labels[state], symbol] = labels[machine.targets[state, symbol]]
    edges = int(np.isin(machine.targets, (i, j)).sum())
    return targets, counts / np.maximum(counts.sum(axis=1, keepdims=True), 1.0), n - 1, np.log2(n) - edges


def _measures(machine: Candidate, random: np.random.Generator) -> tuple[float, float, float]:
    """C, h and E with probabilities from their posterior."""
    edges = machine.targets >= 0
    shares: Floats = np.where(edges, random.standard_gamma(np.where(edges, machine.counts + 0.5, 1.0)), 0.0)
    emission = shares / np.maximum(shares.sum(axis=1, keepdims=True), 1e-300)
    home = stationary(Chain.of_table(machine.targets, emission))
    found = trusted_machine(machine.targets, emission, tuple(range(emission.shape[1])), home if home.any() else None)
    return found.statistical_complexity(), found.entropy_rate(), float(found.excess_entropy(PRECISION))
