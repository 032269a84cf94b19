"""Coordinates of causal states: against all kernels in full, what they do not depend on, new x, evolution, refusals."""

import re
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import decisional as ds
import naive_coordinates as naive
from decisional._kernels import low_rank as kernels
from decisional.states import coordinates as module
from decisional.support.executors import alone


def wave(n: int, seed: int, noise: float = 0.1) -> np.ndarray:
    rng = np.random.default_rng(seed)
    values: np.ndarray = np.sin(0.4 * np.arange(n)) + noise * rng.normal(size=n)
    return values


@cache
def fitted(n: int = 300, seed: int = 1) -> ds.CausalStates:
    return ds.CausalStates().fit(ds.observe.delays(wave(n, seed), 2))


@given(st.integers(60, 140), st.integers(0, 1000), st.integers(1, 3), st.integers(1, 3))
@settings(max_examples=6, deadline=None)
def test_low_rank_is_that_of_all_kernels(n: int, seed: int, past: int, future: int) -> None:
    values = wave(n, seed)
    obs, new = ds.observe.delays(values, past), wave(n, seed + 1)[: 4 * past].reshape(4, past)
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {"REMAINDER": 1e-13, "FUTURE_REMAINDER": 1e-13, "FUTURE_RANK": n, "RIDGES": (1e-3,)}.items():
            patch.setattr(module, name, value)
        found = module.embedded(obs, 2, future)
    sample, z = module._with_futures(obs, future)
    fold = module.folds(obs.n)[sample.place]
    count = module.DISCOUNT ** np.arange(future)
    how = found.regression.width, found.regression.ridge, module.WIDE * np.sqrt((count**2).sum())
    own, share, others = naive.coordinates(sample.x, z * count, fold, how, 2, sample.x_scale.tame(new))
    x = obs.points[obs.x[sample.place]]
    np.testing.assert_allclose(found.at(x, fold), own, atol=1e-4)
    np.testing.assert_allclose(found.share, share, atol=1e-6)
    np.testing.assert_allclose(found.at(new), others, atol=1e-4)


@given(st.integers(0, 1000), st.sampled_from([0.1, 1.0, 5.0]))
@settings(max_examples=10, deadline=None)
def test_kernels(seed: int, width: float) -> None:
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(40, 2))
    features, pivots = module.low_rank(points, width, 40, 1e-12)
    full = naive.gaussian(points, points, width)
    np.testing.assert_allclose(features @ features.T, full, atol=1e-6)
    assert len(set(pivots.tolist())) == len(pivots)
    few, some = module.low_rank(points, width, 5, 1e-12)
    assert few.shape == (40, some.size)
    np.testing.assert_allclose((few @ few.T)[some], full[some], atol=1e-12)
    moments = full + np.eye(40)
    axes, right = np.empty((40, 40)), rng.normal(size=(40, 3))
    rotated, solved = moments.copy(), right.copy()
    kernels.principal_axes(rotated, axes)
    np.testing.assert_allclose(np.sort(np.diag(rotated)), np.linalg.eigvalsh(moments), atol=1e-10)
    np.testing.assert_allclose(axes @ np.diag(np.diag(rotated)) @ axes.T, moments, atol=1e-10)
    kernels.solve(moments.copy(), solved)
    np.testing.assert_allclose(moments @ solved, right, atol=1e-9)


def test_coordinates_have_no_unit() -> None:
    values = wave(300, 1)
    plain = fitted().coordinates(2)
    for scale, shift in ((8.0, 0.0), (1.0, 3.0), (0.037, -200.0)):
        moved = ds.CausalStates().fit(ds.observe.delays(values * scale + shift, 2)).coordinates(2)
        np.testing.assert_allclose(moved.values, plain.values, atol=1e-6)
        np.testing.assert_allclose(moved.share, plain.share, atol=1e-8)
    np.testing.assert_allclose(plain.values.mean(axis=0), 0.0, atol=0.02)
    np.testing.assert_allclose(plain.values.var(axis=0), 1.0, atol=0.05)
    obs = fitted().observations_
    z = obs.targets[obs.z, 0]
    assert (plain.values.T @ z > 0.0).all()
    assert plain.share[0] > plain.share[1] > 0.0


def test_any_number_of_threads() -> None:
    many = fitted().coordinates(2)
    with alone():
        one = fitted().coordinates(2)
        np.testing.assert_array_equal(one.values, many.values)
        evolved = one.evolve(one.values, 3)
    np.testing.assert_array_equal(evolved, many.evolve(many.values, 3))


def test_more_coordinates_add_to_the_first() -> None:
    three, two = fitted().coordinates(3, future=3), fitted().coordinates(2)
    np.testing.assert_array_equal(three.values[:, :2], two.values)


def test_new_x() -> None:
    causal = fitted()
    found = causal.coordinates(2)
    again = found.at(causal.observations_)
    assert again.shape == found.values.shape
    # Own neighbours in time count for new x.
    assert np.corrcoef(again[:, 0], found.values[:, 0])[0, 1] > 0.99
    assert np.abs(again - found.values).max() > 1e-6
    obs = causal.observations_
    np.testing.assert_array_equal(found.at(obs[10:20]), again[(obs.site >= 10) & (obs.site < 20)])
    moved = found.at(ds.observe.delays(wave(300, 2), 2))
    assert np.abs(np.hypot(*moved.T)).max() < 3.0


def test_plain_series_have_rows_without_x() -> None:
    values = wave(200, 3)
    values[50] = np.nan
    found = ds.CausalStates(past=2).fit(values).coordinates(2)
    known = np.ones(200, bool)
    known[[0, 49, 50, 51]] = False
    assert not np.isnan(found.at(values)[known]).any()
    assert np.isnan(found.at(values)[~known]).all()
    # In `fit` the last row is followed by nothing.
    known[199] = False
    np.testing.assert_array_equal(~np.isnan(found.values).any(axis=1), known)
    forecast = found.forecast()
    assert len(forecast) == 200
    np.testing.assert_array_equal(~np.isnan(forecast.mean), known)


def test_the_same_distribution_is_one_point() -> None:
    rng = np.random.default_rng(0)
    x = rng.uniform(-1.0, 1.0, size=(800, 2))
    z = np.abs(x[:, 0]) + 0.05 * rng.normal(size=800)
    found = ds.CausalStates(ds.Kernels()).fit(x, z).coordinates(1)
    at = np.linspace(-0.9, 0.9, 31)
    there, mirrored, elsewhere = (
        found.at(np.column_stack([sign * at, other * np.ones(31)]))[:, 0]
        for sign, other in ((1.0, 0.5), (-1.0, 0.5), (1.0, -0.5))
    )
    assert np.abs(there - mirrored).max() < 0.25
    assert np.abs(there - elsewhere).max() < 0.25
    assert np.corrcoef(there, np.abs(at))[0, 1] > 0.98


def test_spreads_are_told_apart() -> None:
    rng = np.random.default_rng(0)
    x = rng.uniform(-1.0, 1.0, size=(1500, 1))
    z = (0.3 + (x[:, 0] > 0.0)) * rng.uniform(-1.0, 1.0, size=1500)
    found = ds.CausalStates(ds.Kernels()).fit(x, z).coordinates(1).at(np.array([[-0.8], [-0.3], [0.3], [0.8]]))[:, 0]
    assert abs(found[0] - found[1]) + abs(found[2] - found[3]) < abs(found[:2].mean() - found[2:].mean())


def test_a_circle_turns() -> None:
    values = wave(600, 1, 0.02)
    found = ds.CausalStates().fit(ds.observe.delays(values, 2)).coordinates(2)
    for steps in (1, 4):
        error = found.evolve(found.values[:-steps], steps) - found.values[steps:]
        assert np.sqrt((error**2).mean()) < 0.1
    np.testing.assert_array_equal(found.evolve(found.values[:3], 2), found.evolve(found.values, 2)[:3])


def test_forecasts() -> None:
    values = np.random.default_rng(1).normal(size=1100)
    for t in range(2, values.size):
        values[t] += 1.5 * values[t - 1] - 0.8 * values[t - 2]
    causal, new = ds.CausalStates().fit(ds.observe.delays(values[:900], 2)), ds.observe.delays(values[900:], 2)
    z = new.targets[new.z, 0]
    found = causal.coordinates(2)
    for steps in (1, 4):
        last = len(z) - steps + 1
        ours, direct = found.forecast(new, steps)[:last], causal.forecast(new, steps)[:last]
        assert ours.crps(z[steps - 1 :]).mean() < 1.05 * direct.crps(z[steps - 1 :]).mean()
        inside = (z[steps - 1 :] > ours.interval(0.8)[0]) & (z[steps - 1 :] < ours.interval(0.8)[1])
        assert 0.7 < inside.mean() < 0.9
    np.testing.assert_allclose(found.forecast().mean, found.forecast(steps=1).mean)


def test_vectors() -> None:
    rng = np.random.default_rng(1)
    z = rng.normal(size=(400, 2))
    x = z + 0.1 * rng.normal(size=(400, 2))
    found = ds.CausalStates(ds.Kernels()).fit(x, z).coordinates(2)
    expected = np.column_stack([found.at(x), np.ones(400)])
    left = z - expected @ np.linalg.lstsq(expected, z, rcond=None)[0]
    assert (left.std(axis=0) < 0.3).all()
    with pytest.raises(ValueError, match="vectors of 2 numbers; forecasts are distributions of one number"):
        found.forecast(x)


def refused(call: Any, *parts: str) -> None:
    with pytest.raises(ValueError, match=".*".join(map(re.escape, parts))):
        call()


def test_refusals() -> None:
    causal = fitted()
    refused(lambda: causal.coordinates(0), "'n'", "0", "at least 1")
    refused(lambda: causal.coordinates(200), "'n'", "200", "at most", "give fewer")
    refused(lambda: causal.coordinates(future=0), "'future'", "at least 1")
    refused(lambda: causal.coordinates(future=400), "'future' is 400", "smaller one")
    symbols = ds.CausalStates().fit(ds.observe.series("0110" * 50, past=2))
    refused(symbols.coordinates, "symbols", "numbers", "ds.Kernels()")
    rng = np.random.default_rng(0)
    kinds = ds.CausalStates(ds.Kernels()).fit(rng.normal(size=(60, 1)), ["a", "b"] * 30)
    refused(kinds.coordinates, "kinds", "numbers")
    found = causal.coordinates(2)
    refused(lambda: found.evolve(np.zeros((3, 3))), "'values'", "(3, 3)", "(m, 2)")
    refused(lambda: found.evolve(found.values, 0), "'steps'", "at least 1")
    pairs = ds.CausalStates(ds.Kernels()).fit(rng.normal(size=(100, 1)), rng.normal(size=100)).coordinates(1)
    refused(lambda: pairs.evolve(pairs.values), "without an order", "ds.observe.delays")
    refused(lambda: pairs.forecast(np.zeros((2, 1)) + 0.5, steps=2), "without an order", "steps=1")
    parts = ds.CausalStates(ds.Kernels(0.3), match=ds.Bhattacharyya()).partial_fit(ds.observe.delays(wave(100, 1), 2))
    refused(parts.coordinates, "Only counts")
    assert "n=2" in repr(found)
