"""Intervals of measures, the chain of machines behind them, and decisions on machines that were estimated."""

import numpy as np
import pytest

import decisional as ds
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


def test_moves_make_machines(found):
    machine, _ = found
    random = np.random.default_rng(0)
    for move in (uncertainty._led_elsewhere, uncertainty._split, uncertainty._merged):
        for _ in range(50):
            targets, emission, wanted, ratio = move(machine, random)
            assert targets.shape == emission.shape
            assert targets.min() >= -1
            assert targets.max() < len(targets)
            assert np.isfinite(ratio)
            if move is not uncertainty._merged:
                assert len(targets) == wanted
                # Only where edges lead has changed, not whether there are any.
                assert ((targets[: machine.n_states] >= 0) == (machine.targets >= 0)).all()


def test_the_ways_there_and_back_are_as_likely(found):
    """Splitting a state and merging the two again: by the chances of both moves, counted."""
    machine, series = found
    random = np.random.default_rng(1)
    tried = 0
    while tried < 20:
        targets, emission, wanted, there = uncertainty._split(machine, random)
        split = series.drive(targets, emission)
        if split.n_states != wanted:
            continue
        tried += 1
        backs = [uncertainty._merged(split, random) for _ in range(200)]
        again = [ratio for back, _, n, ratio in backs if len(back) == machine.n_states == n]
        assert any(abs(ratio + there) < 1e-12 for ratio in again)


def test_a_move_that_shortens_the_description_is_always_accepted(found):
    _, series = found
    random = np.random.default_rng(2)
    machine = series.drive(np.zeros((1, 2), np.int64), np.full((1, 2), 0.5))
    lengths = []
    for _ in range(400):
        machine = uncertainty.moved(machine, series, random)
        lengths.append(machine.length)
    # From one state the chain finds its way to descriptions as short as that of the machine.
    assert min(lengths) < found[0].length + 15.0


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
    assert causal.machine_.n_observed == 1_995
    # Windows that are in the recurrent states.
    assert 1_000 < ds.baselines.cssr(symbols, 3).n_observed < 1_997
    assert machine.recurrent_part().n_observed == machine.minimise().n_observed == machine.n_observed
    machine.save(tmp_path / "m.json")
    assert ds.EpsilonMachine.load(tmp_path / "m.json").n_observed == machine.n_observed
    assert ds.processes.even().n_observed is None
    with pytest.raises(ValueError, match="'n_observed' is -1"):
        ds.EpsilonMachine.from_arrays([[0]], [[1.0]], [0], n_observed=-1)
