"""The machine of a signal: against all paths, on signals with known machines, and where there is none."""

import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import decisional as ds
import naive_levels as naive
from decisional._kernels import level_walks
from decisional.machines.levels import BACKGROUND, Levels
from decisional.states import signal_machine
from decisional.support import resources
from strategies_symbols import examples


@st.composite
def machines(draw):
    """Targets, emission and likelihoods of a few values, of a machine that lacks some edges."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    k, m, n = draw(st.integers(1, 3)), draw(st.integers(1, 3)), draw(st.integers(1, 5))
    targets = rng.integers(0, k, (k, m))
    targets[rng.random((k, m)) < 0.2] = -1
    targets[(targets < 0).all(axis=1), 0] = 0
    emission = np.where(targets >= 0, rng.random((k, m)) + 0.05, 0.0)
    return targets, emission / emission.sum(axis=1, keepdims=True), rng.random((n, m)) + 0.01, rng.dirichlet(np.ones(k))


@examples(60)
@given(machines())
def test_expected_uses_are_those_of_all_paths(case):
    targets, emission, like, home = case
    n, k = len(like), len(targets)
    scale, before, posterior, counts = np.empty(n), np.empty((n, k)), np.empty(like.shape), np.zeros(targets.shape)
    bits = level_walks.forward(like, targets, emission, home, home.copy(), scale, before)
    level_walks.backward(like, targets, emission, scale, before, counts, posterior)
    total, uses, shares = naive.expected(like.tolist(), targets.tolist(), emission.tolist(), home.tolist())
    assert bits == pytest.approx(math.log2(total))
    assert np.allclose(counts, uses)
    assert np.allclose(posterior, shares)


def test_densities_of_levels():
    levels = Levels(np.array([-1.0, 2.0]), np.array([0.5, 1.5]), 1.0, 2.0)
    values = np.array([0.3, -40.0, np.nan, 5.0])
    like, own = levels.densities(values)
    for t, value in enumerate((values - 1.0) / 2.0):
        for s, (mean, spread) in enumerate(((-1.0, 0.25), (0.5, 0.75))):
            found = naive.density(float(value), mean, spread, BACKGROUND)
            assert (like[t, s], own[t, s]) == pytest.approx(found)
    # As likely, each, and with the mean of the level.
    assert np.allclose(levels.points().mean(axis=1), levels.mean)


def seen(process, seed, sd=0.3, n=2000, high=1.0):
    rng = np.random.default_rng(seed)
    return high * process.simulate(n, rng=rng) + sd * rng.normal(size=n)


@pytest.mark.parametrize(("name", "sd"), [("even", 0.1), ("even", 0.3), ("golden_mean", 0.3), ("nemo", 0.3)])
def test_the_machine_behind_noise(name, sd):
    truth = getattr(ds.processes, name)()
    machine = ds.epsilon_machine(seen(truth, 7000, sd))
    assert machine.is_isomorphic(truth, atol=0.1)
    assert np.allclose(machine.levels.mean, [0, 1], atol=0.05)
    assert np.allclose(machine.levels.spread, sd, atol=0.05)


def test_units_gaps_outliers_and_several_signals():
    truth = ds.processes.golden_mean()
    values = seen(truth, 7001)
    machine = ds.epsilon_machine(values)
    moved = ds.epsilon_machine(8.0 * values - 64.0)
    assert moved.is_isomorphic(machine, atol=1e-6)
    assert np.allclose(moved.levels.mean, 8.0 * machine.levels.mean - 64.0)
    holes = values.copy()
    holes[::17], holes[5] = np.nan, -9999.0
    several = ds.epsilon_machine([holes[:700], holes[700:]])
    assert several.is_isomorphic(truth, atol=0.1)


@pytest.mark.parametrize(
    ("values", "why"),
    [
        (np.random.default_rng(7002).normal(size=800), "fall into one class"),
        (np.sin(0.37 * np.arange(600)) + 0.05 * np.random.default_rng(7003).normal(size=600), "continuum"),
        (np.cumsum(np.random.default_rng(7004).normal(size=800)), "continuum"),
    ],
)
def test_a_continuum_is_refused(values, why):
    with pytest.raises(ValueError, match=re.escape(why)) as told:
        ds.epsilon_machine(values)
    assert "ds.CausalStates" in str(told.value)


def test_few_values_are_refused():
    with pytest.raises(ValueError, match="are 5 numbers that hardly repeat; levels are found in at least 40"):
        ds.epsilon_machine(np.random.default_rng(0).normal(size=5))


def test_a_machine_of_levels_follows_values(tmp_path):
    truth = ds.processes.even()
    rng = np.random.default_rng(7005)
    symbols = truth.simulate(2000, rng=rng)
    values = 2.0 * symbols + 0.3 * rng.normal(size=2000)
    machine = ds.epsilon_machine(values)
    states, true = machine.filter(values), truth.filter(symbols)
    known = (states >= 0) & (true >= 0)
    assert known.mean() > 0.98
    assert np.mean(states[known] == true[known]) > 0.995
    assert machine.predict_proba(values).shape == (2000, 2)
    # What a gap hides is not made up: after it the state is not known at once.
    hidden = values.copy()
    hidden[1000:1003] = np.nan
    assert (machine.filter(hidden)[1000:1003] == -1).any()
    again = machine.simulate(20_000, rng=1)
    assert again.mean() == pytest.approx(values.mean(), abs=0.05)
    assert machine.log_likelihood(again) / 20_000 == pytest.approx(machine.log_likelihood(values) / 2000, abs=0.05)
    machine.save(tmp_path / "machine.json")
    loaded = ds.EpsilonMachine.load(tmp_path / "machine.json")
    assert np.array_equal(loaded.filter(values), states)
    assert np.array_equal(loaded.recurrent_part().minimise().levels.mean, machine.levels.mean)
    text = (tmp_path / "machine.json").read_text()
    (tmp_path / "machine.json").write_text(text.replace('"scale": ', '"scale": -'))
    with pytest.raises(ValueError, match="corrupt"):
        ds.EpsilonMachine.load(tmp_path / "machine.json")


def test_decisions_are_about_values():
    truth = ds.processes.golden_mean()
    values = seen(truth, 7006, high=10.0)
    machine = ds.epsilon_machine(values)
    choice = ds.DecisionalStates(ds.utility.alarm(5.0, missed=1, false=1.5)).fit(machine)
    # After a high value the next one is low, otherwise either: the alarm is not worth it.
    assert set(choice.decide(values)) == {"quiet"}
    choice = ds.DecisionalStates(ds.utility.alarm(5.0, missed=3, false=1)).fit(machine)
    assert choice.n_states_ == 2
    made = choice.decide(values)
    assert np.mean((made[:-1] == "quiet") == (values[:-1] > 5.0)) > 0.99
    regret = choice.regret(values)
    assert regret.obtained == pytest.approx(choice.expected_utility_, abs=0.05)
    mean = ds.DecisionalStates(ds.utility.squared_error()).fit(machine)
    assert sorted(mean.predictions_.choice()) == pytest.approx([0.0, 5.0], abs=0.4)


def test_edges_that_are_hardly_used_go():
    found = signal_machine.merged(np.array([[0, 1], [2, 0], [0, 1]]), np.ones((3, 2)), 0, 2)
    assert found[0].tolist() == [[0, 1], [0, 0]]
    signal = signal_machine.SignalValues(seen(ds.processes.golden_mean(), 7007), [0, 2000])
    levels = signal.marginal(2).levels
    chain = signal.follow(*signal_machine._chain(1, signal.marginal(2).posterior.argmax(axis=1), 2), levels)
    assert signal.pruned(chain).targets.tolist() == [[0, 1], [0, -1]]


def test_a_signal_that_does_not_fit_in_memory_has_no_machine(monkeypatch):
    signal = seen(ds.processes.golden_mean(), 7008)[:400]
    causal = ds.CausalStates().fit(ds.observe.delays(signal, past=1, chunks=100))
    monkeypatch.setattr(resources, "SMALL", 0)
    monkeypatch.setattr(resources, "available", lambda: 4000.0)
    with pytest.raises(MemoryError, match="must fit in memory"):
        _ = causal.observations_.x
    assert causal.machine_ is None
