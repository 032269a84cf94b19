"""Whether machines that lack states are doubted, and right ones are not."""

from dataclasses import replace

import numpy as np

import decisional as ds
from decisional.states import doubt, machine_selection, merging
from decisional.states.search import Budget, Candidate, SymbolSeries


def series_of(symbols: np.ndarray) -> SymbolSeries:
    n = int(symbols.max()) + 1
    return SymbolSeries(symbols.astype(np.uint8), np.arange(n), np.array([0, symbols.size]), n)


def one_state(series: SymbolSeries) -> Candidate:
    return series.drive(np.zeros((1, series.n_symbols), np.int64), np.ones((1, series.n_symbols)))


def test_chance_is_small_where_states_are_missing() -> None:
    even = np.asarray(ds.processes.even().simulate(2_000, rng=1)).astype(int)
    series = series_of(even)
    bits, chance = doubt.doubts(series, one_state(series))
    assert chance < 1e-6
    assert bits == merging.unexplained(series, one_state(series))


def test_chance_is_honest() -> None:
    generator = np.random.default_rng(3)
    found = []
    for _ in range(40):
        series = series_of(generator.integers(0, 3, 600))
        found.append(doubt.doubts(series, one_state(series))[1])
    assert min(found) > 0.001
    assert sum(chance < 0.1 for chance in found) <= 10


def test_noisy_periods_are_cycles() -> None:
    generator = np.random.default_rng(4)
    symbols = np.resize(generator.integers(0, 4, 23), 6_000)
    wrong = generator.random(symbols.size) < 0.05
    symbols[wrong] = generator.integers(0, 4, wrong.sum())
    assert merging.periods(series_of(symbols))[0] == 23
    assert merging.periods(series_of(generator.integers(0, 4, 6_000))) == []
    holed = np.where(generator.random(symbols.size) < 0.1, -1, symbols)
    gaps = SymbolSeries((holed + 1).astype(np.uint8), np.arange(-1, 4), np.array([0, 3_000, holed.size]), 4)
    assert merging.periods(gaps)[0] == 23


def chosen(symbols: np.ndarray) -> tuple[SymbolSeries, Candidate]:
    return series_of(symbols), machine_selection.select(symbols).chosen


def test_hidden_states_are_shorter_where_no_finite_machine_is_right() -> None:
    series, machine = chosen(np.asarray(ds.processes.mess3().simulate(6_000, rng=2)).astype(int))
    assert doubt.hidden_gain(series, machine, 1.0) > 10.0
    warned = machine_selection.select(series.codes).warning
    assert warned is not None
    assert "ds.belief_machine" in warned


def test_hidden_states_are_not_looked_for_in_vain() -> None:
    for process in (ds.processes.even(), ds.processes.nemo(), ds.processes.coin()):
        series, machine = chosen(np.asarray(process.simulate(3_000, rng=1)).astype(int))
        assert doubt.hidden_gain(series, machine, 1.0) <= 0.0
    series.budget = Budget(0)
    series.budget.spend(1)
    assert doubt.hidden_gain(series, machine, 0.0) == 0.0


def test_a_large_machine_that_one_proposal_led_to_is_doubted() -> None:
    symbols = np.resize(np.random.default_rng(5).integers(0, 2, 11), 4_000)
    symbols[np.random.default_rng(6).random(4_000) < 0.02] ^= 1
    found = machine_selection.select(symbols)
    assert found.chosen.n_states == 11
    assert found.agreeing > 1
    assert found.warning is None
    best, rival = found.chosen, found.rival
    once = replace(found, candidates=(best, rival))
    assert once.agreeing == 1
    assert once.warning is not None
    assert once.warning.startswith("Proposals disagree")
    assert once.warning in once.why
