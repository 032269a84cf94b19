"""Hidden machines: EM against sums over all paths, the likelihood that never falls, and known numbers of states."""

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import decisional as ds
import naive_beliefs as naive
from decisional.data.sequences import read
from decisional.states import hidden_search, hidden_series
from decisional.states.hidden_search import judged, merged, split
from decisional.states.hidden_series import Hidden, HiddenSeries, known_symbols
from decisional.support.executors import alone

seeds = st.integers(0, 2**32 - 1)


def machine_of(seed: int, n_symbols: int, n_states: int) -> Hidden:
    return hidden_search.drawn(n_symbols, n_states, np.random.default_rng(seed))


def series_of(sequences: list[list[int]], n_symbols: int) -> HiddenSeries:
    codes = np.array([code for part in sequences for code in part], np.int32)
    opens = np.zeros(codes.size, bool)
    opens[np.cumsum([0, *map(len, sequences[:-1])])] = True
    return HiddenSeries(codes, opens, n_symbols)


words = st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=5), min_size=1, max_size=3)


@pytest.mark.small
@settings(deadline=None, max_examples=30)
@given(seed=seeds, sequences=words, n_states=st.integers(1, 3), every=st.integers(1, 4))
def test_expected_uses_are_sums_over_all_paths(seed: int, sequences: Any, n_states: int, every: int) -> None:
    machine, series = machine_of(seed, 3, n_states), series_of(sequences, 3)
    uses, starts = naive.expected(sequences, machine.steps, machine.home)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hidden_series, "EVERY", every)
        found = series.expected(machine)
    np.testing.assert_allclose(found.uses, uses, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found.starts, starts, rtol=1e-9, atol=1e-12)
    assert found.log2p == pytest.approx(naive.log2p(sequences, machine.steps, machine.home))
    assert series.log2p(machine) == (pytest.approx(found.log2p), 0)


@pytest.mark.small
@settings(deadline=None, max_examples=20)
@given(seed=seeds, sequences=words, n_states=st.integers(1, 3))
def test_a_pass_is_that_of_sums_over_all_paths(seed: int, sequences: Any, n_states: int) -> None:
    machine, series = machine_of(seed, 3, n_states), series_of(sequences, 3)
    steps, home = naive.maximised(sequences, machine.steps, machine.home)
    found = series.improve(machine, 1)
    np.testing.assert_allclose(found.steps, steps, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found.home, home, rtol=1e-9, atol=1e-12)


@settings(deadline=None, max_examples=20)
@given(seed=seeds, n_states=st.integers(2, 4))
def test_the_likelihood_never_falls(seed: int, n_states: int) -> None:
    rng = np.random.default_rng(seed)
    series = series_of([rng.integers(0, 2, 300).tolist(), (np.arange(100) % 2).tolist()], 2)
    machine, before = machine_of(seed, 2, n_states), -np.inf
    for _ in range(8):
        after, misses = series.log2p(machine)
        assert after >= before - 1e-9
        assert misses == 0
        machine, before = series.improve(machine, 1), after
        np.testing.assert_allclose(machine.steps.sum(axis=(0, 2)), 1.0)


def test_threads_and_blocks_change_nothing() -> None:
    codes = np.random.default_rng(1).integers(0, 3, 3 * hidden_series.SHORT).astype(np.int32)
    series, machine = HiddenSeries(codes, np.arange(codes.size) % 1000 == 0, 3), machine_of(2, 3, 4)
    found = series.expected(machine)
    with alone():
        again = series.expected(machine)
    assert np.array_equal(found.uses, again.uses)
    assert np.array_equal(found.starts, again.starts)
    assert (found.log2p, found.misses) == (again.log2p, again.misses)
    assert found.uses.sum() == pytest.approx(codes.size)


@pytest.mark.small
@settings(deadline=None, max_examples=30)
@given(seed=seeds, n_states=st.integers(1, 4))
def test_split_and_merged_states_are_distributions(seed: int, n_states: int) -> None:
    machine, rng = machine_of(seed, 2, n_states), np.random.default_rng(seed)
    state = int(rng.integers(n_states))
    more = split(machine, state, rng)
    assert more.n_states == n_states + 1
    np.testing.assert_allclose(more.steps.sum(axis=(0, 2)), 1.0)
    fewer = merged(more, np.ones(n_states + 1), (state, n_states))
    assert fewer.n_states == n_states
    np.testing.assert_allclose(fewer.steps.sum(axis=(0, 2)), 1.0)
    assert fewer.home.sum() == pytest.approx(1.0)


def test_two_copies_of_a_state_merge_without_loss() -> None:
    machine = machine_of(3, 2, 2)
    index = [0, 1, 1]
    steps = machine.steps[:, index][:, :, index]
    steps[:, :, 1:] /= 2.0
    series = series_of([np.random.default_rng(0).integers(0, 2, 500).tolist()], 2)
    twice = Hidden(np.ascontiguousarray(steps), machine.home[index] / [1, 2, 2])
    assert series.log2p(twice)[0] == pytest.approx(series.log2p(machine)[0])
    assert series.log2p(merged(twice, np.ones(3), (1, 2)))[0] == pytest.approx(series.log2p(machine)[0])


@pytest.mark.parametrize(
    ("process", "n_states", "n"),
    [
        (ds.processes.misread(ds.processes.even(), 0.05), 2, 10_000),
        (ds.processes.simple_nonunifilar(), 2, 20_000),
        (ds.processes.mess3(), 3, 6_000),
    ],
)
def test_hidden_states_of_known_processes(process: Any, n_states: int, n: int) -> None:
    symbols, fresh = process.simulate(n, rng=1), process.simulate(50_000, rng=2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        found = ds.selection.select_beliefs(symbols)
    assert found.machine.n_states == n_states
    assert not found.is_finite
    lost = process.log_likelihood(fresh) - found.machine.log_likelihood(fresh)
    assert lost < 4e-3 * fresh.size
    assert lost < 0.5 * (process.log_likelihood(fresh) - found.unifilar.machine.log_likelihood(fresh))


@pytest.mark.parametrize("name", ["coin", "golden_mean", "even", "nemo"])
def test_finite_machines_win_ties(name: str) -> None:
    found = ds.selection.select_beliefs(ds.processes.catalogue[name]().simulate(5_000, rng=3))
    assert found.is_finite
    assert "bits, for 5,000 symbols" in repr(found)


def test_a_weak_state_is_taken_though_its_description_is_longer() -> None:
    """½ log2 N bits for each dimension are asked of a description, and three of what is no chance."""
    found = ds.selection.select_beliefs(ds.processes.golden_mean().simulate(2_000, rng=3))
    known = found.candidates[0]
    more = replace(known, machine=machine_of(1, 2, known.n_states + 1), dimensions=known.dimensions + 4)
    # Four dimensions cost 21.9 bits in a description, and are to be worth 12, and five for the state.
    for longer, taken in ((4.8, True), (5.1, False)):
        more = replace(more, description_length=known.description_length + longer)
        picture = replace(found, candidates=(known, more))
        assert picture.chosen is (more if taken else known)
        assert picture.machine.n_states == picture.chosen.n_states
        assert picture.gain == found.gain
        assert replace(picture, whole=True).chosen is known


def test_renaming_symbols_changes_nothing() -> None:
    symbols = ds.processes.misread(ds.processes.even(), 0.1).simulate(3_000, rng=5)
    found, other = (ds.belief_machine(given) for given in (symbols, 1 - symbols))
    assert np.array_equal(found.steps, other.steps[::-1])


def test_gaps_and_several_sequences_begin_anew() -> None:
    symbols = ds.processes.misread(ds.processes.even(), 0.05).simulate(4_000, rng=6)
    parts = [symbols[:2_000], symbols[2_000:]]
    gap = [*symbols[:2_000].tolist(), None, *symbols[2_000:].tolist()]
    sources = [read(given) for given in (parts, gap)]
    series = [known_symbols(one.lut.astype(int)[one.raw], one.bounds, 2) for one in sources]
    assert np.array_equal(series[0].codes, series[1].codes)
    assert np.array_equal(series[0].opens, series[1].opens)
    # The unifilar machine, of which one of the starts is made, is told by the gap how long it was.
    np.testing.assert_allclose(ds.belief_machine(parts).steps, ds.belief_machine(gap).steps, atol=1e-4)


def test_a_longer_description_is_that_of_more_states() -> None:
    symbols = ds.processes.coin().simulate(2_000, rng=7)
    series = HiddenSeries(symbols.astype(np.int32), np.arange(2_000) == 0, 2)
    one = judged(Hidden(np.full((2, 1, 1), 0.5), np.ones(1)), series)
    assert one.description_length == pytest.approx(2_000 + 0.5 * np.log2(2_000))
    assert judged(machine_of(1, 2, 3), series).description_length > one.description_length
