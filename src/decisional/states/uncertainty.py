"""How sure the measures of a machine are that was found in symbols: machines drawn from a posterior over both their
states and their probabilities.

Of a machine with K states and given edges, the probabilities are uniform before the series is seen, and so is where
each edge leads: both are integrated out exactly, which gives the evidence of each machine, see
`_kernels.wandering.evidence`. Chains wander over machines, from the best candidates of the selection and from tables
drawn at random, and heat up now and then to leave where they are. They only collect: each machine that was met has
the weight of its evidence, however often it was met, if all its states are recurrent and different. Given its edges
the probabilities of a machine have a Dirichlet distribution, of the uses of its edges and one each.
"""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._kernels import wandering as kernels
from ..machines.chains import Chain, closed_classes, entropy, rough_excess_entropy, stationary
from ..support.arguments import generator, integer, real
from ..support.arrays import Floats, Ints
from .machine_selection import _read, select
from .search import Candidate, Proposal, SymbolSeries

# Chains begin at so many candidates, and at random tables of so many states.
CANDIDATES = 3
TABLES = (1, 4, 4, 5, 5, 6, 7, 9)
# Moves of a chain, at most and at least, and symbols that all of them read.
MOVES = 6_000
FEWEST = 50
READ = 200_000_000
# Bits that a move may lose are divided by the heat, which falls to 1 in so many moves, and stays there as long.
HEAT = 4.0
COOLING = 200
# States that a machine may have more than the one where the chain begins.
MORE = 16
# Machines that need so many bits more than the best are forgotten.
SLACK = 15.0
# Cells of all tables that a chain keeps, and tables at most.
CELLS = 2_000_000
KEPT = 2_000
# Machines that are drawn at most.
MOST = 10**6
# Error in bits of E in each draw: far below what sampling leaves open.
PRECISION = 2e-3


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
        Equally many of the machines that are drawn lie below and above. Their coverage on random machines is in
        benchmarks/intervals.md. They hold for processes that some machine of few states generates: where none was met
        that is near the process, they are off as the machines are. Cost: that of `epsilon_machine`, 66,000 passes
        over the symbols or as many as read 200,000,000, at least 550; and n times that of E.

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
    candidates = select(symbols, missing=missing, sequences=sequences).candidates
    source, _ = _read(symbols, missing, sequences)
    series = SymbolSeries(source.raw, source.lut, source.bounds, len(source.letters))
    machines = posterior(series, candidates, random)
    # Evenly spaced places among the weights: as often as they are probable, up to one draw.
    places = np.searchsorted(np.cumsum([m.weight for m in machines]), (np.arange(n) + random.random()) / n)
    drawn = np.array([_measures(machines[i], random) for i in np.minimum(places, len(machines) - 1)])
    ends = [0.5 * (1.0 - level), 0.5 * (1.0 + level)]
    # The process is as likely to be anywhere between two draws.
    complexity, rate, excess = np.quantile(drawn[:, :3], ends, axis=0, method="weibull").T.tolist()
    low, high = np.quantile(drawn[:, 3], ends, method="inverted_cdf").tolist()
    n_symbols = int((series.codes >= 0).sum())
    return MeasureIntervals(tuple(complexity), tuple(rate), tuple(excess), (int(low), int(high)), level, n_symbols)


@dataclass(frozen=True, eq=False)
class Probable:
    """A machine that is probable given a series.

    Attributes
    ----------
    weight : its probability among all that were met
    bits : minus log2 of the probability of the series and the machine
    targets, counts : (n_states, n_symbols) next state, -1 = none, and uses of each edge
    """

    weight: float
    bits: float
    targets: Ints
    counts: Floats


def posterior(series: SymbolSeries, candidates: Sequence[Candidate], random: np.random.Generator) -> list[Probable]:
    """Different machines that chains meet, most probable first; among them that of one state."""
    starts = list(_starts(series, candidates, random))
    moves = int(np.clip(READ / (max(series.size, 1) * len(starts)), FEWEST, MOVES))
    # From the heat to 1 and to where it would be cold, which is 1 too.
    heat = np.maximum(HEAT ** (1.0 - np.arange(moves) % (2 * COOLING) / COOLING), 1.0)
    met: dict[int, tuple[float, Ints, Floats]] = {}
    for start in starts:
        for name, machine in _met(series, start, heat, random):
            if name not in met or machine[0] < met[name][0]:
                met[name] = machine
    found = sorted(
        (m for m in met.values() if _is_machine(m[1], len(series.bounds) - 1)), key=lambda machine: machine[0]
    )
    bits = np.array([machine[0] for machine in found])
    weights = 2.0 ** (bits[0] - bits)
    return [Probable(w, *machine) for w, machine in zip((weights / weights.sum()).tolist(), found, strict=True)]


def _is_machine(targets: Ints, sequences: int) -> bool:
    """Whether states are different, and all recurrent, as those of stationary processes, one for each sequence."""
    recurrent = closed_classes(Chain.of_table(targets, targets))
    connected = len(recurrent) <= sequences and sum(states.size for states in recurrent) == len(targets)
    return connected and bool(kernels.is_minimal(targets))


def _starts(series: SymbolSeries, candidates: Sequence[Candidate], random: np.random.Generator) -> Iterator[Proposal]:
    """Tables where chains begin, all of their targets filled, and uses of edges."""
    different = {round(c.length, 3): c for c in reversed(candidates)}
    for length in sorted(different)[:CANDIDATES]:
        targets, counts = different[length].proposal
        anywhere = random.integers(0, len(targets), targets.shape)
        yield np.where(targets >= 0, targets, anywhere), np.ascontiguousarray(counts, np.float64)
    for n in TABLES:
        yield random.integers(0, n, (n, series.n_symbols)), np.ones((n, series.n_symbols))


def _met(
    series: SymbolSeries, start: Proposal, heat: Floats, random: np.random.Generator
) -> Iterator[tuple[int, tuple[float, Ints, Floats]]]:
    """Names of the machines that one chain keeps, with bits, targets and counts."""
    most = len(start[0]) + MORE
    room = int(np.clip(CELLS // (most * series.n_symbols), 10, KEPT))
    shape = room, most, series.n_symbols
    bits, names, sizes = np.empty(room), np.empty(room, np.int64), np.empty(room, np.int64)
    tables, counts = np.empty(shape, np.int64), np.empty(shape)
    # Of one type, whatever the symbols were, so that the chain is compiled once.
    raw = np.where(series.codes < 0, series.n_symbols, series.codes)
    lut = np.append(np.arange(series.n_symbols), -1)
    kept = kernels.wander(raw, lut, series.bounds, *start, heat, SLACK, random, bits, names, sizes, tables, counts)
    for i in range(kept):
        yield int(names[i]), (float(bits[i]), tables[i, : sizes[i]].copy(), counts[i, : sizes[i]].copy())


def _measures(machine: Probable, random: np.random.Generator) -> tuple[float, float, float, int]:
    """C, h, E and the number of states, with probabilities from their posterior."""
    edges = machine.targets >= 0
    shares: Floats = np.where(edges, random.standard_gamma(machine.counts + 1.0), 0.0)
    emission = shares / np.maximum(shares.sum(axis=1, keepdims=True), 1e-300)
    home = stationary(Chain.of_table(machine.targets, emission), machine.counts.sum(axis=1) / machine.counts.sum())
    excess = rough_excess_entropy(machine.targets, emission, home, PRECISION)
    return float(entropy(home)), float(home @ entropy(emission)), excess, len(home)
