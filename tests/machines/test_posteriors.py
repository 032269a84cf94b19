"""Probabilities that are never zero: against a literal twin, what likelihoods and forecasts make of them, files."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import decisional as ds
import naive
from decisional.machines.epsilon_machine import trusted_machine
from decisional.machines.posteriors import posterior

QUICK = settings(max_examples=60, deadline=None)


@st.composite
def tables(draw):
    n, symbols = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    row = st.lists(st.integers(0, 30), min_size=symbols, max_size=symbols).filter(any)
    return np.array(draw(st.lists(row, min_size=n, max_size=n)), float)


@pytest.mark.small
@QUICK
@given(tables())
def test_posteriors_are_their_naive_twin(counts) -> None:
    known, new = posterior(counts)
    expected, expected_new = naive.posterior(counts.tolist())
    assert known == pytest.approx(np.array(expected))
    assert new == pytest.approx(np.array(expected_new))
    assert known.min() > 0.0
    assert new.min() > 0.0
    assert known.sum(axis=1) + new == pytest.approx(np.ones(len(counts)))


@pytest.mark.small
@QUICK
@given(tables(), st.lists(st.integers(0, 5) | st.none(), max_size=12), st.integers(0, 1000))
def test_likelihoods_of_estimated_machines_are_their_naive_twin(counts, symbols, seed) -> None:
    targets = np.random.default_rng(seed).integers(0, len(counts), counts.shape)
    targets = np.where(counts > 0, targets, -1)
    emission = counts / counts.sum(axis=1, keepdims=True)
    machine = trusted_machine(
        targets, emission, tuple(range(counts.shape[1])), counts.sum(axis=1), counts=counts, smoothed=True
    )
    found = machine.log_likelihood(symbols)
    assert math.isfinite(found)
    assert found == pytest.approx(naive.smooth_log_likelihood(machine, symbols), abs=1e-9)


def test_the_unseen_is_improbable_and_not_impossible() -> None:
    symbols = ds.processes.golden_mean().simulate(5_000, rng=1)
    machine = ds.epsilon_machine(symbols)
    exact = ds.processes.golden_mean()
    assert exact.counts is None
    assert np.array_equal(exact.posterior, exact.emission)
    forbidden = [0, 0] if exact.log_likelihood([0, 0]) == -math.inf else [1, 1]
    assert exact.log_likelihood(forbidden) == -math.inf
    assert -20 < machine.log_likelihood(forbidden) < -8
    assert -math.inf < machine.log_likelihood([0, 1, 7, 1, 1]) < machine.log_likelihood([0, 1, 1, 1])
    proba = machine.predict_proba([1, 0, 1, 1])
    assert proba.min() > 0
    assert proba.sum(axis=1) == pytest.approx(np.ones(4), abs=1e-3)
    # What is known of the states does not change.
    same = ds.EpsilonMachine(machine.transitions())
    assert machine.filter(symbols).tolist() == same.filter(symbols).tolist()
    fresh = exact.simulate(5_000, rng=2)
    assert machine.log_likelihood(fresh) == pytest.approx(exact.log_likelihood(fresh), abs=10)


def test_counts_are_kept(tmp_path: Path) -> None:
    machine = ds.epsilon_machine(ds.processes.even().simulate(1_000, rng=1))
    assert machine.counts is not None
    assert machine.counts.sum() == pytest.approx(1_000)
    machine.save(tmp_path / "a.json")
    again = ds.EpsilonMachine.load(tmp_path / "a.json")
    assert np.array_equal(again.counts, machine.counts)
    assert again.log_likelihood("0010") == machine.log_likelihood("0010")
    assert machine.recurrent_part().counts.sum() == pytest.approx(machine.counts.sum())
    assert machine.minimise(1.0).counts.sum() == pytest.approx(machine.counts.sum())
    content = json.loads((tmp_path / "a.json").read_text())
    content["counts"][0][0] = -1.0
    (tmp_path / "b.json").write_text(json.dumps(content))
    with pytest.raises(ValueError, match=r"corrupt.*'counts'"):
        ds.EpsilonMachine.load(tmp_path / "b.json")
