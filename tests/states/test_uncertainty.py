"""Intervals of measures, the chain of machines behind them, and decisions on machines that were estimated."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import decisional as ds
from decisional._kernels import wandering
from decisional.data import sequences as reading
from decisional.states import uncertainty
from decisional.states.search import SymbolSeries


def series_of(symbols):
    source = reading.read(symbols, None, None)
    return SymbolSeries(source.raw, source.lut, source.bounds, len(source.letters))


@pytest.fixture(scope="module")
def found():
    """A machine of three states along its series."""
    true = ds.processes.random_machine(3, 2, rng=4)
    series = series_of(true.simulate(500, rng=1))
    return series.drive(true.targets, true.emission), series


@pytest.mark.parametrize("move", ["_led_elsewhere", "_led_to_a_copy", "_split", "_merged"])
def test_moves_make_machines(found, move):
    machine, _ = found
    random = np.random.default_rng(0)
    n = machine.n_states
    targets = np.where(machine.targets >= 0, machine.targets, 0).astype(np.int64)
    for _ in range(50):
        moved, weights = getattr(wandering, move)(targets, machine.counts, random)
        assert moved.shape == weights.shape
        assert moved.min() >= 0
        assert moved.max() < len(moved)
        if move in ("_led_to_a_copy", "_split"):
            # Where a copy was made, both have the edges that the state had, up to the copy.
            assert len(moved) == n + 1
            assert (np.where(moved[:n] == n, targets, moved[:n]) == targets).all()
        elif move == "_merged":
            assert len(moved) < n
            assert weights.sum() == pytest.approx(machine.counts.sum())
        else:
            assert (moved != targets).sum() <= 2


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 4), st.integers(1, 3), st.integers(0, 1000))
def test_evidence(n_states, n_symbols, seed):
    """As by foretelling one use after the other, and by counting tables."""
    random = np.random.default_rng(seed)
    counts = random.integers(0, 5, (n_states, n_symbols)).astype(float)
    counts[:, 0] += 1.0
    assert wandering.evidence(counts, 2.5) == pytest.approx(naive_evidence(counts) + 2.5)


def test_machines_are_called_alike_if_they_are_isomorphic():
    random = np.random.default_rng(3)
    names = set()
    for _ in range(100):
        targets, order = random.integers(0, 4, (4, 2)), random.permutation(4)
        uses = random.random((4, 2)) * (random.random((4, 2)) < [[1.0, 0.6]])
        other = np.empty_like(targets)
        other[order] = order[targets]
        last = int(random.integers(4))
        name = wandering.called(targets, uses, last)
        assert name == wandering.called(other, uses[np.argsort(order)], int(order[last]))
        names.add(name)
    assert len(names) > 90


@settings(max_examples=100, deadline=None)
@given(st.integers(1, 5), st.integers(1, 2), st.integers(0, 10_000))
def test_minimal_whatever_the_probabilities(n_states, n_symbols, seed):
    """As by merging the states of a machine with probabilities that are all different."""
    random = np.random.default_rng(seed)
    edges = random.random((n_states, n_symbols)) < 0.6
    edges[:, 0] |= ~edges.any(axis=1)
    targets = np.where(edges, random.integers(0, n_states, edges.shape), -1)
    shares = np.where(edges, random.exponential(size=edges.shape), 0.0)
    machine = ds.EpsilonMachine.from_arrays(targets, shares / shares.sum(axis=1, keepdims=True), range(n_symbols))
    assert wandering.is_minimal(targets) == (machine.minimise().n_states == n_states)


@pytest.mark.parametrize("seed", [0, 1])
def test_the_posterior_is_that_of_all_machines(seed):
    """Of few states, by trying every table along a short series."""
    series = series_of(ds.processes.golden_mean(0.6).simulate(60, rng=seed))
    one = series.drive(np.zeros((1, 2), np.int64), np.ones((1, 2)))
    met = uncertainty.posterior(series, [one], np.random.default_rng(0))
    assert sum(m.weight for m in met) == pytest.approx(1.0)
    small = np.array([m.bits for m in met if len(m.targets) <= 2])
    every = np.unique(np.round(all_evidences(series, 2), 6))
    # Machines that differ in how the first symbols are read have nearly the same evidence.
    near = every[every < every[0] + 8.0]
    assert (np.abs(near[:, None] - small).min(axis=1) < 0.1).all()
    assert abs(every[0] - small.min()) < 0.1


def naive_evidence(counts):
    """Bits: which edges, where they lead, and each use foretold by those before and one of each edge."""
    n, symbols = counts.shape
    bits = -math.log2(math.factorial(n))
    for row in counts:
        used = row[row > 0].astype(int)
        bits += math.log2(symbols * math.comb(symbols, used.size)) + used.size * math.log2(n)
        seen = np.ones(used.size)
        for edge, uses in enumerate(used):
            for _ in range(uses):
                bits -= math.log2(seen[edge] / seen.sum())
                seen[edge] += 1.0
    return bits


def all_evidences(series, n_states):
    """Bits of all machines of at most so many states that are minimal and connected."""
    found = []
    for n in range(1, n_states + 1):
        for ends in itertools.product(range(n), repeat=n * series.n_symbols):
            targets = np.array(ends).reshape(n, -1)
            machine = series.settle(series.drive(targets, np.ones(targets.shape)))
            if machine.n_states == n and uncertainty._is_machine(machine.targets, 1):
                found.append(wandering.evidence(machine.counts, machine.start_bits))
    return found


def test_intervals_have_the_truth_and_shrink():
    true = ds.processes.golden_mean()
    few, many = (ds.selection.intervals(true.simulate(n, rng=3), n=40) for n in (500, 20_000))
    for found in (few, many):
        assert found.n_states[0] <= 2 <= found.n_states[1]
        for name in ("statistical_complexity", "entropy_rate", "excess_entropy"):
            low, high = getattr(found, name)
            assert low <= getattr(true, name)() <= high
    assert np.diff(many.entropy_rate) < np.diff(few.entropy_rate)
    assert (few.n_symbols, many.n_symbols) == (500, 20_000)
    assert ds.selection.intervals(true.simulate(500, rng=3), n=40) == few
    narrow = ds.selection.intervals(true.simulate(500, rng=3), level=0.3, n=40)
    assert np.diff(narrow.entropy_rate) < np.diff(few.entropy_rate)


@pytest.mark.parametrize("wrong", [{"level": 1.0}, {"level": 0}, {"n": 9}])
def test_refusals(wrong):
    with pytest.raises(ValueError, match=f"'{next(iter(wrong))}' of intervals"):
        ds.selection.intervals("0110" * 50, **wrong)


@pytest.mark.parametrize("name", ["coin", "golden_mean", "even"])
def test_ties_of_estimated_machines(name):
    """As in the truth, though no estimated probability is one half exactly; 0.55 is another thing."""
    true = ds.processes.catalogue[name]()
    machine = ds.epsilon_machine(true.simulate(10_000, rng=5))
    exact = ds.EpsilonMachine.from_arrays(machine.targets, machine.emission, machine.alphabet)
    truth, found, before = (ds.DecisionalStates(ds.utility.zero_one()).fit(m) for m in (true, machine, exact))
    assert {0, 1} in truth.predictions_
    assert sorted(map(sorted, found.predictions_)) == sorted(map(sorted, truth.predictions_))
    assert {0, 1} not in before.predictions_
    biased = ds.epsilon_machine(ds.processes.coin(0.55).simulate(10_000, rng=5))
    assert ds.DecisionalStates(ds.utility.zero_one()).fit(biased).predictions_[0] == {1}


def test_machines_know_what_they_were_estimated_from(tmp_path):
    symbols = ds.processes.even().simulate(2_000, rng=1)
    machine = ds.epsilon_machine(symbols)
    causal = ds.CausalStates().fit(ds.observe.series(symbols, past=5))
    assert machine.n_observed == pytest.approx(2_000, abs=5)
    assert causal.machine_.n_observed == pytest.approx(1_995)
    # Windows that are in the recurrent states.
    assert 1_000 < ds.baselines.cssr(symbols, 3).n_observed < 1_997
    assert machine.recurrent_part().n_observed == machine.minimise().n_observed == machine.n_observed
    machine.save(tmp_path / "m.json")
    assert ds.EpsilonMachine.load(tmp_path / "m.json").n_observed == machine.n_observed
    assert ds.processes.even().n_observed is None
    with pytest.raises(ValueError, match="The 'counts' have shape"):
        ds.EpsilonMachine.from_arrays([[0]], [[1.0]], [0], counts=[[-1]])
