"""The machine of a signal whose values fall into classes: levels and machine by one description length.

A value is not read as the symbol whose level is nearest: a few that are misread would break forbidden words and make
states. It enters with its likelihood under each level, through the machine (forward-backward), and the uses of edges
and the levels follow from that (expectation and maximisation). Machines are proposed by `machine_selection.select`
from readings of the signal, with the marginal levels alone and through Markov chains of several orders, which undo most
of the noise; then edges are led elsewhere, dropped, and states merged, as long as the description gets shorter. It is
that of the values themselves: their bits, ½ log2 n for each free probability and each number of a level, and log2 K for
each edge.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise
from typing import NamedTuple

import numpy as np

from .._kernels import level_walks
from ..data.observations import CountsOnly, Observations
from ..data.signals import delays
from ..machines.epsilon_machine import EpsilonMachine, trusted_machine
from ..machines.levels import Levels
from ..support.arrays import Floats, Ints
from ..support.progress import Progress, details, tell, told
from ..support.resources import TooLarge
from .evidence import as_good
from .forecasts import Forecast
from .machine_selection import select
from .scales import robust
from .selected import CERTAIN
from .stacking import stack_of

# Levels at most, and states of Markov chains through which the signal is read.
MOST_LEVELS, MOST_CONTEXTS = 8, 32
# Values that are too few, and values on which machines are compared; all of them make the chosen one.
LEAST, SEARCHED = 40, 5_000
# Machines of each reading that are tried, and those from which the search starts; their states at most.
READ, STARTS, MOST_STATES = 4, 3, 16
# Steps of expectation and maximisation: until a machine is judged, and while neighbours are compared; bits that are
# not worth another one.
STEPS, FEW_STEPS, ENOUGH = 30, 6, 0.01
# Uses of an edge below which the machine is tried without it.
RARE = (1.0, 3.0, 8.0)
# A neighbour that is so many bits worse after few steps is given up; a gain must be larger than this.
HOPELESS, GAIN = 30.0, 1.0
# Smallest spread of a level, in scales; counts that each edge of a Markov chain has from the beginning.
NARROWEST, PRIOR = 1e-3, 0.3
# Past values that densities see which a machine is compared with, observations for each of them that are needed, and
# bits for each value and standard errors by which densities must be better.
PASTS, FEWEST, CONTINUUM, ERRORS = (1, 3), 20, 0.01, 2.0


class Followed(NamedTuple):
    """A machine with levels along a signal.

    Attributes
    ----------
    targets, emission : (n_states, n_symbols)
    levels : of the symbols
    counts, posterior : expected uses of each edge, and (n, n_symbols) P(symbol | signal)
    length : bits of the description
    """

    targets: Ints
    emission: Floats
    levels: Levels
    counts: Floats
    posterior: Floats
    length: float

    @property
    def n_states(self) -> int:
        return len(self.targets)


class SignalValues:
    """Values that judge machines by how short these describe them.

    Parameters
    ----------
    values : (n,) of all sequences, NaN where missing
    bounds : where each sequence begins, and the end of the last
    """

    def __init__(self, values: Floats, bounds: Sequence[int]) -> None:
        self.values, self.bounds = values, bounds
        self.n = int(np.isfinite(values).sum())
        scale = robust(values[np.isfinite(values)][:, None])
        self.centre, self.scale = float(scale.centre[0]), float(scale.scale[0])

    def beginning(self, size: int) -> "SignalValues":
        """The first values; the same levels have the same scale."""
        if self.values.size <= size:
            return self
        part = SignalValues(self.values[:size], [b for b in self.bounds if b < size] + [size])
        part.centre, part.scale = self.centre, self.scale
        return part

    def follow(self, targets: Ints, emission: Floats, levels: Levels, steps: int = STEPS) -> Followed:
        """The machine with its likeliest probabilities and levels. Cost: a pass there and back for each step."""
        k = len(targets)
        home = np.full(k, 1.0 / k)
        scale, before = np.empty(self.values.size), np.empty((self.values.size, k))
        posterior, old = np.empty((self.values.size, targets.shape[1])), -np.inf
        for step in range(steps):
            like, own = levels.densities(self.values)
            counts, bits = np.zeros(targets.shape), 0.0
            for begin, end in pairwise(self.bounds):
                part = slice(begin, end)
                tables = like[part], targets, emission
                bits += level_walks.forward(*tables, home, home.copy(), scale[part], before[part])
                level_walks.backward(*tables, scale[part], before[part], counts, posterior[part])
            if bits - old < ENOUGH or step == steps - 1:
                break
            old = bits
            total = counts.sum(axis=1)
            emission = np.where(total[:, None] > 1e-9, counts / np.maximum(total, 1e-300)[:, None], emission)
            home = (total + 1e-6) / (total + 1e-6).sum()
            levels = self._levels(levels, posterior, own)
        edges = int(np.count_nonzero(targets >= 0))
        numbers = edges - k + 2 * levels.mean.size
        length = -bits + 0.5 * np.log2(max(self.n, 2)) * numbers + (edges + len(self.bounds) - 1) * np.log2(k)
        return Followed(targets, emission, levels, counts, posterior, float(length))

    def log_densities(self, machine: Followed) -> Floats:
        """(n,) log2 density of each value given those before it, in the units of the data; NaN where missing."""
        like, scale = machine.levels.densities(self.values)[0], np.empty(self.values.size)
        home, none = machine.counts.sum(axis=1) / machine.counts.sum(), np.empty((0, machine.n_states))
        for begin, end in pairwise(self.bounds):
            tables = like[begin:end], machine.targets, machine.emission
            level_walks.forward(*tables, home, home.copy(), scale[begin:end], none)
        log = np.log2(np.maximum(scale, 1e-300)) - np.log2(self.scale)
        return np.where(np.isfinite(self.values), log, np.nan)

    def _levels(self, levels: Levels, posterior: Floats, own: Floats) -> Levels:
        sums = np.empty((3, levels.mean.size))
        level_walks.level_sums((self.values - self.centre) / self.scale, posterior, own, sums)
        weight = np.maximum(sums[0], 1e-9)
        mean, spread = sums[1] / weight, np.sqrt(sums[2] / weight + NARROWEST**2)
        return levels._replace(mean=self.centre + self.scale * mean, spread=self.scale * spread)

    def marginal(self, n: int) -> Followed:
        """The machine of one state with n levels, in increasing order."""
        values = np.sort(self.values[np.isfinite(self.values)])
        inner = values[np.abs(values - self.centre) < 8.0 * self.scale]
        values = inner if inner.size > n else values
        # Lloyd's algorithm from quantiles.
        centre = np.quantile(values, (np.arange(n) + 0.5) / n)
        for _ in range(STEPS):
            cuts = np.searchsorted(values, 0.5 * (centre[1:] + centre[:-1]))
            parts = np.split(values, cuts)
            centre = np.array([part.mean() if part.size else c for part, c in zip(parts, centre, strict=True)])
        parts = np.split(values, np.searchsorted(values, 0.5 * (centre[1:] + centre[:-1])))
        spread = np.array([max(part.std() if part.size else 0.0, 0.05 * self.scale) for part in parts])
        levels = Levels(centre, spread, self.centre, self.scale)
        one = self.follow(np.zeros((1, n), np.int64), np.full((1, n), 1.0 / n), levels, 4 * STEPS)
        order = np.argsort(one.levels.mean, kind="stable")
        levels = one.levels._replace(mean=one.levels.mean[order], spread=one.levels.spread[order])
        return self.follow(one.targets, one.emission[:, order], levels, 2)

    def pruned(self, machine: Followed) -> Followed:
        """The machine without edges that are hardly used, where that is shorter."""
        for rare in RARE:
            less = _without_rare(machine, rare)
            if less is not None and not np.array_equal(less[0], machine.targets):
                tried = self.follow(*less, machine.levels)
                machine = tried if tried.length < machine.length else machine
        return machine

    def improved(self, machine: Followed) -> Followed:
        """Go to the best neighbour as long as that is shorter."""
        while True:
            best = None
            for targets, emission in _neighbours(machine):
                tried = self.follow(targets, emission, machine.levels, FEW_STEPS)
                if tried.length < machine.length + HOPELESS and (best is None or tried.length < best.length):
                    best = tried
            if best is None:
                return machine
            best = self.pruned(self.follow(best.targets, best.emission, best.levels))
            if best.length > machine.length - GAIN:
                return machine
            machine = best

    def simplified(self, machine: Followed) -> Followed:
        """Merge states whose difference is in doubt."""
        while True:
            pairs = combinations(range(machine.n_states), 2)
            tried = [self.follow(*merged(machine.targets, machine.counts, a, b), machine.levels) for a, b in pairs]
            best = min(tried, key=lambda one: one.length, default=None)
            if best is None or best.length > machine.length + CERTAIN:
                return machine
            machine = self.pruned(best)


def _without_rare(machine: Followed, rare: float) -> tuple[Ints, Floats] | None:
    """Without edges that are used less often, and what cannot be reached or left then; None where nothing is left."""
    targets = np.where(machine.counts >= rare, machine.targets, -1)
    kept = np.arange(len(targets))
    while kept.size:
        targets = np.where(np.isin(targets, kept), targets, -1)
        left = np.intersect1d(kept[(targets[kept] >= 0).any(axis=1)], targets[kept])
        if left.size == kept.size:
            break
        kept = left
    if not kept.size:
        return None
    number = np.full(len(targets) + 1, -1)
    number[kept] = np.arange(kept.size)
    targets = number[targets[kept]]
    emission = np.where(targets >= 0, np.maximum(machine.emission[kept], 1e-9), 0.0)
    return targets, emission / emission.sum(axis=1, keepdims=True)


def _neighbours(machine: Followed) -> Iterator[tuple[Ints, Floats]]:
    """Machines with two states merged, or one edge led elsewhere."""
    k = machine.n_states
    for a, b in combinations(range(k), 2):
        yield merged(machine.targets, machine.counts, a, b)
    for i, s in np.argwhere(machine.targets >= 0).tolist():
        for j in range(k):
            if j != machine.targets[i, s]:
                targets = machine.targets.copy()
                targets[i, s] = j
                yield targets, machine.emission


def merged(targets: Ints, counts: Floats, a: int, b: int) -> tuple[Ints, Floats]:
    """Targets and emission with two states merged, and all that determinism then demands."""
    label = np.arange(len(targets))
    label[label == b] = a
    while True:
        for s in range(targets.shape[1]):
            there = targets[:, s] >= 0
            pairs = np.unique(np.stack([label[there], label[targets[there, s]]], axis=1), axis=0)
            twice = np.flatnonzero(pairs[1:, 0] == pairs[:-1, 0])
            if twice.size:
                low, high = sorted(pairs[twice[0] : twice[0] + 2, 1].tolist())
                label[label == high] = low
                break
        else:
            break
    label = np.unique(label, return_inverse=True)[1]
    total, ends = np.zeros((label.max() + 1, targets.shape[1])), np.full((label.max() + 1, targets.shape[1]), -1)
    np.add.at(total, label, np.maximum(counts, 1e-3) * (targets >= 0))
    source, symbol = np.nonzero(targets >= 0)
    ends[label[source], symbol] = label[targets[source, symbol]]
    return ends, total / total.sum(axis=1, keepdims=True)


def _chain(order: int, symbols: Ints, n: int) -> tuple[Ints, Floats]:
    """The Markov chain of an order whose states are words of symbols, as often as these follow each other."""
    word = np.arange(n**order)
    targets = np.stack([(word * n + s) % n**order for s in range(n)], axis=1)
    counts = np.full(targets.shape, PRIOR)
    past = np.sum([np.roll(symbols, k + 1) * n**k for k in range(order)], axis=0)
    np.add.at(counts, (past[order:], symbols[order:]), 1.0)
    return targets, counts / counts.sum(axis=1, keepdims=True)


def _proposals(signal: SignalValues, marginal: Followed) -> Iterator[tuple[Ints, Floats]]:
    """Machines of symbols as the signal is read by its levels alone, and through Markov chains."""
    n, gap = marginal.levels.mean.size, np.isnan(signal.values)
    plain = marginal.posterior.argmax(axis=1)
    readings = [plain]
    order = 1
    while n**order <= MOST_CONTEXTS:
        chain = signal.follow(*_chain(order, plain, n), marginal.levels, STEPS // 2)
        yield chain.targets, chain.emission
        readings.append(chain.posterior.argmax(axis=1))
        order += 1
    for reading in {reading.tobytes(): reading for reading in readings}.values():
        parts = [np.where(gap, -1, reading)[b:e] for b, e in pairwise(signal.bounds)]
        if max(map(len, parts)) < 2:
            continue
        with details():
            found = select(parts, max_past=order, missing=-1, sequences=True)
        column = np.array([int(str(letter)) for letter in found.alphabet])
        for candidate in found.candidates[:READ]:
            targets, emission = np.full((candidate.n_states, n), -1), np.zeros((candidate.n_states, n))
            targets[:, column], emission[:, column] = candidate.targets, candidate.emission
            emission = np.where(targets >= 0, np.maximum(emission, 1e-3), 0.0)
            if candidate.n_states <= MOST_STATES and (targets >= 0).any(axis=1).all():
                yield targets, emission / emission.sum(axis=1, keepdims=True)


def _with_levels(signal: SignalValues, marginal: Followed) -> Followed:
    """The shortest machine that is found with as many levels as the marginal has."""
    found, seen = [marginal], set()
    for targets, emission in _proposals(signal, marginal):
        if (key := (targets.shape, targets.tobytes())) not in seen:
            seen.add(key)
            found.append(signal.pruned(signal.follow(targets, emission, marginal.levels)))
    found.sort(key=lambda one: one.length)
    small = [one for one in found[:STARTS] if one.n_states <= MOST_STATES // 2]
    return min([*map(signal.improved, small), found[0]], key=lambda one: one.length)


class NoLevels(ValueError):
    """A signal whose values fall into no classes, as far as they tell."""


def signal_machine(values: Floats, bounds: Sequence[int], progress: Progress = None) -> EpsilonMachine:
    """The machine of a signal, with its levels; refused where values do not fall into classes.

    Parameters
    ----------
    values : (n,) numbers of all sequences, NaN where missing
    bounds : where each sequence begins, and the end of the last
    progress : True for a bar, or a function that is called with a line of text at each step

    Cost: some hundred passes over the first 5,000 values, and 30 over all of them.
    """
    whole = SignalValues(values, bounds)
    if whole.n < LEAST:
        raise NoLevels(
            f"The 'symbols' are {whole.n} numbers that hardly repeat; levels are found in at least {LEAST} values of a "
            "signal: give more, or bin the values first."
        )
    with told(progress):
        return _machine(_best_levels(whole))


def _best_levels(whole: SignalValues) -> Followed:
    """The levels and the machine of the shortest description."""
    signal = whole.beginning(SEARCHED)
    marginals = [signal.marginal(n) for n in range(1, MOST_LEVELS + 1)]
    usual = int(np.argmin([one.length for one in marginals])) + 1
    tried = [marginals[0]]
    for n in sorted({2, 3, max(usual - 1, 2), max(usual, 2), min(usual + 1, MOST_LEVELS)}):
        tried.append(_with_levels(signal, marginals[n - 1]))
        tell(f"{n} levels: {tried[-1].n_states} states, {tried[-1].length:,.1f} bits")
    best = signal.simplified(min(tried, key=lambda one: one.length))
    _refuse_continuum(signal, best)
    if whole is not signal:
        return whole.pruned(whole.follow(best.targets, best.emission, best.levels))
    return best


def _machine(found: Followed) -> EpsilonMachine:
    """States by decreasing probability, symbols by increasing level."""
    order = np.argsort(found.levels.mean, kind="stable")
    share = found.counts.sum(axis=1) / found.counts.sum()
    states = np.argsort(-share, kind="stable")
    number = np.append(np.argsort(states), -1)
    targets = number[found.targets[states][:, order]]
    levels = found.levels._replace(mean=found.levels.mean[order], spread=found.levels.spread[order])
    names = tuple(range(order.size))
    emission, counts = (table[states][:, order] for table in (found.emission, found.counts))
    machine = trusted_machine(targets, emission, names, share[states], levels=levels, counts=counts)
    return machine.recurrent_part()


def _refuse_continuum(signal: SignalValues, best: Followed) -> None:
    """Where densities of the next value say more about it than the best machine of levels does, there is no machine."""
    if best.levels.mean.size == 1:
        raise NoLevels(
            f"The 'symbols' are {signal.n:,} numbers that fall into one class; a machine has levels between which a "
            "signal moves: use ds.CausalStates for a continuum, or bin the values first."
        )
    cut = signal.values.size * 2 // 3
    first = signal.beginning(cut)
    learnt = first.follow(best.targets, best.emission, best.levels)
    machine = signal.log_densities(learnt)[cut:]
    for past in PASTS:
        density = _log_densities(signal, cut, past)
        more = (density - machine)[np.isfinite(density)]
        if more.size and more.mean() > CONTINUUM and not as_good(more, ERRORS):
            raise NoLevels(
                f"The 'symbols' are {signal.n:,} numbers, and their next value follows from the last {past} better, by "
                f"{more.mean():.2f} bits, than from any machine of levels; this is a continuum: use ds.CausalStates, "
                "or bin the values first."
            )


def _log_densities(signal: SignalValues, cut: int, past: int) -> Floats:
    """(n - cut,) log2 density of the values from there on, by the stack of those before; NaN where unknown."""
    found = np.full(signal.values.size - cut, np.nan)
    parts = [signal.values[b : min(e, cut)] for b, e in pairwise(signal.bounds) if min(e, cut) - b > past]
    if not parts:
        return found
    obs = delays(parts, past)
    if obs.n < FEWEST * past:
        return found
    rows, place = [], []
    for begin, end in pairwise(signal.bounds):
        for t in range(max(begin + past, cut), end):
            rows.append(signal.values[t - past : t][::-1])
            place.append(t)
    x, z = np.array(rows).reshape(-1, past), signal.values[place]
    known = np.isfinite(x).all(axis=1) & np.isfinite(z)
    if known.any():
        density = Forecast(stack_of(obs), x[known]).pdf(z[known])
        found[np.array(place)[known] - cut] = np.log2(np.maximum(density, 1e-300))
    return found


def machine_of_levels(obs: Observations) -> EpsilonMachine | None:
    """The machine of the signal that was observed, or None where its values fall into no levels, or are vectors.

    None, too, of what is not at hand: where only counts were kept, or all values do not fit in memory.
    """
    made = obs.delays
    if made is None or made.width > 1 or made.difference or 0 not in made.lags or len(made.ahead) > 1:
        return None
    try:
        site, order = np.unique(obs.site, return_index=True)
        x, z = obs.x[order], obs.z[order]
    except (CountsOnly, TooLarge):
        return None
    points, targets = obs.points, obs.targets
    assert points is not None
    assert targets is not None
    values = np.full(int(site[-1]) + made.ahead[0] + 1, np.nan)
    values[site + made.ahead[0]] = targets[z, 0]
    values[site] = points[x, made.lags.index(0)]
    # Series that touch end to end are cut where no observation leads on.
    ends = np.flatnonzero(np.append(np.diff(site) != 1, True))
    starts = np.append(0, ends[:-1] + 1)
    parts = [values[site[a] : site[b] + made.ahead[0] + 1] for a, b in zip(starts, ends, strict=True)]
    bounds = np.cumsum([0, *map(len, parts)]).tolist()
    try:
        return signal_machine(np.concatenate(parts), bounds)
    except NoLevels:
        return None
