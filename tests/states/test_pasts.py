"""How much past the data choose."""

import math

import numpy as np
import pandas as pd
import pytest

import decisional as ds
import naive_forecasts
from decisional.states import bandwidths, pasts, stacking


def autoregressive(seed: int, n: int, *weights: float) -> np.ndarray:
    rng = np.random.default_rng(seed)
    values, noise = np.zeros(n + 50), rng.normal(size=n + 50)
    for t in range(len(weights), n + 50):
        values[t] = noise[t] + sum(w * values[t - 1 - k] for k, w in enumerate(weights))
    return values[50:]


def test_held_out_densities_are_those_of_loops() -> None:
    obs = ds.observe.delays(autoregressive(1, 60, 0.8), past=2)
    block = np.arange(obs.n) * 6 // obs.n
    density = ds.Kernels(bandwidth=0.4)
    found = pasts.held_out(obs, block, density)
    x, z = np.asarray(obs.points)[obs.x], np.array(obs.outcomes)[obs.z]
    unit = bandwidths.sampled(obs).z_scale.scale[0]

    def normal(a: float, b: float) -> float:
        return math.exp(-0.5 * ((a - b) / 0.4) ** 2) / (math.sqrt(2 * math.pi) * 0.4)

    for i in range(obs.n):
        others = [j for j in range(obs.n) if block[j] != block[i]]
        weight = [math.exp(-0.5 * sum(((a - b) / 0.4) ** 2 for a, b in zip(x[i], x[j], strict=True))) for j in others]
        near = [normal(z[i], z[j]) for j in others]
        blind = bandwidths.BLIND * bandwidths.IGNORANCE * sum(near) / len(near)
        p = (sum(w * k for w, k in zip(weight, near, strict=True)) + blind) / (sum(weight) + bandwidths.BLIND)
        assert found[i] == pytest.approx(math.log2(p + 1 / (bandwidths.FLOOR * obs.n * unit)), abs=1e-9)


def test_held_out_densities_of_numbers_are_those_of_the_stack_of_other_blocks() -> None:
    obs = ds.observe.delays(autoregressive(2, 70, 0.8), past=2)
    block = np.arange(obs.n) * 6 // obs.n
    found = pasts.held_out(obs, block, ds.Kernels())
    sample, how = bandwidths.sampled(obs), (stacking.GUARD, stacking.PRIOR, stacking.ODD)
    unit = sample.z_scale.scale[0]
    for half in (0, 1):
        kept = np.array([i for i in range(obs.n) if block[i] % 2 != half])
        stack = stacking.stacked(sample.of(kept))
        for i in set(range(obs.n)) - set(kept):
            p = naive_forecasts.density(stack, *how, sample.x[i], sample.z[i, 0])
            # As exact as densities of forecasts are, which leave out kernels that are far.
            assert found[i] == pytest.approx(math.log2(p / unit + 1 / (bandwidths.FLOOR * obs.n * unit)), abs=3e-3)


@pytest.mark.parametrize(("weights", "past"), [((), 1), ((0.8,), 1), ((0.5, -0.6), 2), ((0.0, 0.0, 0.8), 3)])
def test_the_past_that_matters_is_chosen(weights: tuple[float, ...], past: int) -> None:
    signal = autoregressive(4, 300, *weights)
    lines: list[str] = []
    assert ds.selection.best_past(signal, pasts=[3, 1, 2], progress=lines.append) == past
    assert [line.split(" lengths, ")[0] for line in lines] == [f"how much past: {k} of 3" for k in (1, 2, 3)]


def test_the_choice_is_the_same_everywhere() -> None:
    signal = autoregressive(7, 200, 0.5, -0.6)
    density = ds.Kernels(bandwidth=0.5)
    assert ds.selection.best_past(signal, density) == 2
    # In other units, and in several series.
    assert ds.selection.best_past(1000 * signal + 7) == ds.selection.best_past(signal) == 2
    assert ds.selection.best_past([signal[:200], signal[200:]], density) == 2
    assert ds.observe.delays(signal, past="auto").past == 2
    causal = ds.CausalStates(density, past="auto").fit(signal)
    assert (causal.past_, causal.past, causal.observations_.past) == (2, "auto", 2)
    np.testing.assert_array_equal(causal.predict(signal), ds.CausalStates(density, past=2).fit(signal).predict(signal))
    # More of it is read with the past of the first.
    more = ds.CausalStates(density, past="auto").partial_fit(signal).partial_fit(np.full(30, 0.5))
    assert more.past_ == 2


def test_a_season_needs_no_past_where_it_is_known() -> None:
    rng = np.random.default_rng(1)
    hours = pd.date_range("2024-01-01", periods=480, freq="h")
    season = pd.Series(3 * np.sin(2 * np.pi * hours.hour / 24) + rng.normal(size=480), index=hours)
    assert ds.selection.best_past(season, pasts=[1, 3]) == 3
    assert ds.selection.best_past(season, pasts=[1, 3], inputs="hour") == 1


@pytest.mark.small
def test_long_series_choose_by_stretches() -> None:
    signal = np.arange(9000.0)
    cut = pasts._stretches(pasts.read_signal([signal, signal[:50]], [-signal, -signal[:50]]))
    assert len(cut.series) == pasts.BLOCKS
    assert sum(map(len, cut.series)) <= pasts.TRIED
    assert cut.series[0][0] == 0
    assert len(cut.series[-1]) == 50
    for values, known in zip(cut.series, cut.known, strict=True):
        np.testing.assert_array_equal(values, -known)
        np.testing.assert_array_equal(np.diff(values[:, 0]), 1.0)


@pytest.mark.small
def test_gaps_that_leave_no_window() -> None:
    gaps = np.where(np.arange(90) % 3 == 2, np.nan, 1.0 + np.arange(90) % 7)
    assert ds.selection.best_past(gaps, ds.Kernels(bandwidth=0.5)) == 1
    with pytest.raises(ValueError, match="'signals' have 2 values, too few"):
        ds.selection.best_past([1.0, 2.0])
    with pytest.raises(ValueError, match="'pasts' of best_past is 0"):
        ds.selection.best_past(gaps, pasts=[0])
    with pytest.raises(TypeError, match="'pasts' is 3"):
        ds.selection.best_past(gaps, pasts=3)
    with pytest.raises(TypeError, match="'density' must be Kernels"):
        ds.selection.best_past(gaps, ds.Counts())
    with pytest.raises(TypeError, match="'progress'"):
        ds.selection.best_past(gaps, progress=1)


@pytest.mark.parametrize(("process", "past"), [("coin", 1), ("golden_mean", 1), ("even", 3)])
def test_windows_of_symbols(process: str, past: int) -> None:
    symbols = ds.processes.catalogue[process]().simulate(3000, rng=1)
    lines: list[str] = []
    assert ds.selection.best_window(symbols, progress=lines.append) == past
    assert lines[0].startswith("past 1, future 1: ")
    assert ds.observe.series(symbols, past="auto").past == past
    assert ds.CausalStates(past="auto").fit(symbols).past_ == past
    # Windows that were chosen already are taken as they are.
    causal = ds.CausalStates(past="auto").fit(ds.observe.series(symbols, past=past + 1))
    assert causal.past_ == past + 1
    assert causal.predict(symbols[:50]).shape == (50,)
    assert ds.DecisionalStates(ds.utility.zero_one(), past="auto").fit(symbols).causal_.past_ == past
    # The machine of these windows is the shortest one before the search.
    lengths = {k: c.length for k, c in ds.selection.select(symbols, max_future=1).by_past().items()}
    good = [k for k, length in lengths.items() if length < min(lengths.values()) + 1.0]
    assert max(good[0], 1) == past


@pytest.mark.small
def test_other_words_than_auto_are_refused() -> None:
    for call in (
        lambda: ds.observe.delays(np.arange(9.0), past="all"),
        lambda: ds.observe.series("0101", past="all"),
        lambda: ds.CausalStates(past="all").fit("0101"),
    ):
        with pytest.raises(ValueError, match=r"The 'past'.* is 'all'; it must be an integer"):
            call()
    with pytest.raises(ValueError, match="exactly one"):
        ds.observe.delays(np.arange(9.0), past="auto", lags=[0])
