"""Forecasts: distributions of z at any x, against loops, theory and what changes nothing."""

import math

import numpy as np
import pytest

import decisional as ds
import naive_forecasts as naive
from decisional._kernels import stacked as kernels
from decisional.states import stacking
from decisional.states.forecasts import Forecast
from decisional.states.scales import robust
from decisional.states.stacking import KernelKind, Line, SmoothCurve, Stack, stack_of


def made_up(seed, n=25, d=2, smooth=True, least=0.0, back=0.02):
    """A stack of random numbers, in scales that are units."""
    rng = np.random.default_rng(seed)
    x, y, r = rng.normal(size=(n, d)), rng.normal(size=n), 0.5 * rng.normal(size=n)
    unit = robust(np.zeros((2, 1)))
    line = Line(0.1, rng.normal(size=d), r)
    curve = SmoothCurve(np.full(d, 0.8) if smooth else np.empty(0), np.abs(r))
    parts = (
        KernelKind(y, np.array([0.5, 1.5])[:d], 0.3, False, False),
        KernelKind(r, np.array([0.9, 0.7])[:d], 0.2, True, True),
        KernelKind(rng.normal(size=n), np.array([0.6, 2.0])[:d], 0.4, False, True),
    )
    wide = unit._replace(low=np.full(d, -9.0), high=np.full(d, 9.0), centre=np.zeros(d), scale=np.ones(d))
    share = np.array([0.3, 0.5, 0.2]) * (1 - back)
    return Stack(wide, unit, np.ascontiguousarray(x.T), line, curve, parts, least, share, back, 0.0)


def autoregressive(n, seed, a=0.8):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n + 100)
    for t in range(1, x.size):
        x[t] += a * x[t - 1]
    return x[100:]


def test_normal_probabilities_from_a_table():
    places = np.concatenate([np.linspace(-7.9, 7.9, 2_001), np.arange(-7, 8) + 0.5 / kernels.PLACES])
    exact = [0.5 * math.erfc(-u / math.sqrt(2.0)) for u in places]
    assert np.array([kernels._normal(u) for u in places]) == pytest.approx(np.array(exact), rel=0.0, abs=1e-12)


@pytest.fixture(scope="module")
def causal():
    return ds.CausalStates(past=1).fit(autoregressive(1200, 1))


@pytest.mark.small
@pytest.mark.parametrize(("seed", "smooth", "least"), [(1, True, 0.0), (2, False, 0.0), (3, True, 0.6)])
def test_density_is_that_of_loops(seed, smooth, least):
    stack = made_up(seed, smooth=smooth, least=least)
    rng = np.random.default_rng(seed)
    # Amid the others, at their edge, and far from all.
    x = np.concatenate([rng.normal(size=(4, 2)), [[2.5, -2.5], [8.0, 8.0]]])
    z = rng.normal(size=6)
    expected = [
        naive.density(stack, stacking.GUARD, stacking.PRIOR, stacking.ODD, *pair) for pair in zip(x, z, strict=True)
    ]
    assert Forecast(stack, x).pdf(z) == pytest.approx(expected, rel=2e-3, abs=1e-6)


@pytest.mark.small
def test_where_no_kernel_reaches():
    stack = made_up(1, smooth=False)
    narrow = [part._replace(width=part.width / 100) for part in stack.parts[:-1]]
    stack = stack._replace(parts=(*narrow, stack.parts[-1]))
    forecast = Forecast(stack, np.array([[8.5, 8.5]]))
    alone = Forecast(
        stack._replace(parts=stack.parts[-1:], share=np.array([1 - stack.background])), np.array([[8.5, 8.5]])
    )
    assert forecast.pdf([[-1.0], [5.0]]) == pytest.approx(alone.pdf([[-1.0], [5.0]]))
    assert forecast.quantile(0.3) == pytest.approx(alone.quantile(0.3))
    assert forecast.sample(5, rng=1) == pytest.approx(alone.sample(5, rng=1))


@pytest.mark.small
@pytest.mark.parametrize("local", [True, False])
def test_likelihood_of_others_is_that_of_loops(local):
    rng = np.random.default_rng(5)
    x, y, width = rng.normal(size=(40, 2)), rng.normal(size=40), np.array([0.7, 1.1])
    part, asked = KernelKind(y, width, 0.3, local, False), np.array([0, 7, 39])
    p, mass = part.own(np.ascontiguousarray(x.T), asked, np.array([0.3, 0.5]))
    for k, i in enumerate(asked):
        for g, z_width in enumerate((0.3, 0.5)):
            expected = naive.own_density(i, x, y, width, z_width, local, 3)
            assert (p[k, g], mass[k]) == pytest.approx(expected, rel=1e-6)
    means = stacking._expected(np.ascontiguousarray(x.T), asked, y, width)
    loops = [naive.expected(x[i], x, y, width, stacking.GUARD, range(i - 2, i + 3)) for i in asked]
    assert means == pytest.approx(loops, rel=1e-6)


@pytest.mark.small
def test_one_distribution_in_all_its_forms():
    stack, x = made_up(4), np.array([[0.2, -0.4], [1.0, 1.0]])
    forecast = Forecast(stack, x)
    grid = np.linspace(-60, 60, 6001)
    density = forecast.pdf(grid[:, None])
    cell = grid[1] - grid[0]
    assert density.shape == (6001, 2)
    assert density.sum(axis=0) * cell == pytest.approx(1, abs=1e-4)
    middle = np.cumsum(density, axis=0) * cell - 0.5 * cell * density
    assert np.abs(forecast.cdf(grid[:, None]) - middle).max() < 1e-4
    levels = np.array([[1e-6], [0.1], [0.5], [0.99]])
    assert forecast.cdf(forecast.quantile(levels)) == pytest.approx(np.broadcast_to(levels, (4, 2)), abs=1e-9)
    assert np.array_equal(forecast.quantile(np.array([[0.0], [1.0]])), [[-np.inf] * 2, [np.inf] * 2])
    low, high = forecast.interval(0.8)
    assert forecast.cdf(high) - forecast.cdf(low) == pytest.approx(0.8)
    assert np.array_equal(forecast.cdf([-np.inf, np.inf]), [0.0, 1.0])
    p = forecast.probabilities([3.0, -1.0, 0.0])
    assert p.sum(axis=1) == pytest.approx(1)
    assert p[:, 1] == pytest.approx(forecast.cdf(-0.5))


def test_moments_samples_and_scores():
    stack, x = made_up(4, back=1e-9), np.array([[0.2, -0.4], [1.0, 1.0]])
    forecast = Forecast(stack, x)
    grid, cell = np.linspace(-20, 20, 8001), 0.005
    density = forecast.pdf(grid[:, None])
    mean = grid @ density * cell / (density.sum(axis=0) * cell)
    std = np.sqrt(((grid[:, None] - mean) ** 2 * density).sum(axis=0) / density.sum(axis=0))
    assert forecast.mean == pytest.approx(mean, abs=1e-3)
    assert forecast.std == pytest.approx(std, abs=1e-3)
    drawn = forecast.sample(40_000, rng=1)
    assert drawn.shape == (40_000, 2)
    assert np.array_equal(drawn, forecast.sample(40_000, rng=1))
    # Kolmogorov and Smirnov's distance.
    assert np.abs(forecast.cdf(np.sort(drawn, axis=0)) - np.arange(40_000)[:, None] / 40_000).max() < 0.01
    z = np.array([0.3, -0.2])
    step = (grid[:, None] >= z).astype(float)
    assert forecast.crps(z) == pytest.approx(((forecast.cdf(grid[:, None]) - step) ** 2).sum(axis=0) * cell, rel=0.01)
    assert forecast.log_score(z) == pytest.approx(np.log2(forecast.pdf(z)))


@pytest.mark.small
def test_background_is_drawn_too():
    stack = made_up(4)._replace(background=1.0, share=np.zeros(3))
    drawn = Forecast(stack, np.zeros((1, 2))).sample(200, rng=1)[:, 0]
    assert np.abs(np.quantile(drawn, [0.25, 0.75]) - stack.line.intercept) == pytest.approx(0.765, abs=0.25)


@pytest.mark.small
def test_rows_of_a_forecast():
    forecast = Forecast(made_up(4), np.array([[0.2, -0.4], [np.nan, 1.0], [1.0, 1.0]]))
    assert (len(forecast), len(forecast[1:]), len(forecast[-1])) == (3, 2, 1)
    assert repr(forecast[-1]) == "Forecast(1 row)"
    assert np.isnan(forecast.mean).tolist() == [False, True, False]
    assert np.isnan(forecast.pdf([np.nan, 0.0, 0.0])).tolist() == [True, True, False]
    assert np.isnan(forecast.probabilities([0.0, 1.0])).all(axis=1).tolist() == [False, True, False]
    assert forecast[-1].pdf(0.3) == pytest.approx(forecast.pdf(0.3)[-1:])
    assert forecast[[2, 0]].mean == pytest.approx(forecast.mean[[2, 0]])
    with pytest.raises(ValueError, match=r"shape \(2,\) and there are 3 rows"):
        forecast.pdf([0.0, 1.0])
    with pytest.raises(ValueError, match=r"'q' is 1\.5; it must be from 0 to 1"):
        forecast.quantile(1.5)
    with pytest.raises(ValueError, match="'coverage'"):
        forecast.interval(90)


def test_weights_maximise_the_likelihood():
    rng = np.random.default_rng(1)
    kind = rng.random(600) < 0.6
    density = np.where(kind[:, None], [1.0, 0.1, 0.999], [0.1, 1.0, 0.1]) * rng.uniform(0.5, 1.5, (600, 1))
    share = stacking._weights(density)
    # The first says hardly more than the last, and is not worth its cost.
    assert share[0] == 0.0
    assert share.sum() == pytest.approx(1)
    assert share[1] == pytest.approx(0.4, abs=0.1)
    best = np.log(density @ share).mean()
    for k in (1, 2):
        assert np.log(density @ (0.99 * share + 0.01 * np.eye(3)[k])).mean() < best


def test_known_process(causal):
    held_out = autoregressive(1000, 2)
    x, z = held_out[:-1], held_out[1:]
    forecast = causal.forecast(held_out)[:-1]
    true = -0.5 * np.log2(2 * np.pi) - 0.5 * (z - 0.8 * x) ** 2 / np.log(2)
    assert forecast.log_score(z).mean() > true.mean() - 0.03
    assert np.abs(forecast.mean - 0.8 * x).mean() < 0.1
    low, high = forecast.interval(0.9)
    assert 0.87 < np.mean((low < z) & (z < high)) < 0.93
    # Three steps ahead, of which the last values of the data say the future.
    far = causal.forecast(held_out, steps=3)
    assert np.abs(far.mean - 0.8**3 * held_out).mean() < 0.2
    assert far.std.mean() == pytest.approx(np.sqrt(1 + 0.8**2 + 0.8**4), rel=0.1)
    assert (
        far.log_score(np.append(held_out[3:], [np.nan] * 3))[:-3].mean()
        > causal.forecast(held_out, 9).log_score(np.append(held_out[3:], [np.nan] * 3))[:-3].mean()
    )


def test_several_steps_follow_the_successors():
    values = autoregressive(400, 3)
    values[200] = np.nan
    obs = ds.observe.delays([values, autoregressive(100, 4)], past=2)
    sample = stacking.ahead(obs, 3)
    z = sample.z[:, 0] * sample.z_scale.scale[0] + sample.z_scale.centre[0]
    site = obs.site[sample.place]
    both = np.concatenate([values, autoregressive(100, 4)])
    assert z == pytest.approx(np.clip(both[site + 3], sample.z_scale.low, sample.z_scale.high))
    # No outcome behind a gap, nor in the other series.
    assert not np.isin(site, [197, 198, 199, 200, 397, 398, 399]).any()
    assert {196, 202, 396} <= set(site)


def test_beyond_the_data_a_line_goes_on(causal):
    forecast = causal.forecast(np.array([9.0, -9.0]))
    assert forecast.mean == pytest.approx([7.2, -7.2], abs=0.6)


def test_newest_value_has_a_forecast():
    values = autoregressive(300, 5)
    causal = ds.CausalStates(past=2).fit(values)
    forecast = causal.forecast(values)
    assert len(forecast) == 300
    assert np.isnan(forecast.mean).tolist() == [True] + [False] * 299
    rows = ds.CausalStates(ds.Kernels()).fit(ds.observe.delays(values, 2)).forecast(values[-1:-3:-1][None])
    assert rows.quantile(0.3) == pytest.approx(forecast[-1].quantile(0.3))
    observed = causal.forecast(ds.observe.delays(values, 2))
    assert observed.mean == pytest.approx(forecast.mean[1:-1])


def test_score_and_probabilities_are_those_of_the_forecast(causal):
    held_out = autoregressive(200, 6)
    forecast = causal.forecast(held_out)
    assert causal.score(held_out) == pytest.approx(forecast.log_score(np.append(held_out[1:], np.nan))[:-1].mean())
    p, at = causal.predict_proba(held_out), np.array(causal.outcomes_)
    assert p.sum(axis=1) == pytest.approx(1)
    assert p @ at == pytest.approx(forecast.mean, abs=0.05)
    given = ds.CausalStates(ds.Kernels(0.5), past=1).fit(autoregressive(1200, 1))
    assert given.score(held_out) != pytest.approx(causal.score(held_out), abs=1e-3)
    assert given.forecast(held_out).mean == pytest.approx(forecast.mean)


@pytest.mark.parametrize(("factor", "shift"), [(1e-3, 0.0), (8.0, -100.0), (1e5, 3e5)])
def test_units_change_nothing(factor, shift):
    values = autoregressive(400, 7)
    stack, other = (stack_of(ds.observe.delays(v, 2)) for v in (values, factor * values + shift))
    x = np.random.default_rng(1).normal(size=(20, 2))
    a, b = Forecast(stack, x), Forecast(other, factor * x + shift)
    assert b.quantile(0.8) == pytest.approx(factor * a.quantile(0.8) + shift, rel=1e-6)
    assert other.score == pytest.approx(stack.score - np.log2(factor), abs=1e-6)


def test_threads_change_nothing(monkeypatch):
    values, found = autoregressive(300, 8), []
    for n in (1, 3):
        for module in ("stacking", "bandwidths"):
            monkeypatch.setattr(f"decisional.states.{module}.workers", lambda n=n: n)
        monkeypatch.setattr("decisional.support.executors.workers", lambda n=n: n)
        stack = stack_of(ds.observe.delays(values, 2))
        x = np.random.default_rng(1).normal(size=(30, 2))
        found.append([stack.share.tolist(), stack.score, Forecast(stack, x).quantile(0.7).tolist()])
    assert found[0] == found[1]


@pytest.mark.parametrize("odd", [-9999.0, 1e6])
def test_fill_values_hardly_matter(odd):
    values = autoregressive(800, 9)
    spoilt = values.copy()
    spoilt[np.random.default_rng(1).choice(800, 8, replace=False)] = odd
    x = np.linspace(-3, 3, 13)[:, None]
    a, b = (Forecast(stack_of(ds.observe.delays(v, 1)), x) for v in (values, spoilt))
    for level in (0.25, 0.5, 0.75):
        assert np.abs(a.quantile(level) - b.quantile(level)).max() < 0.1 * values.std()
    assert np.abs(a.quantile(0.5) - b.quantile(0.5)).mean() < 0.02 * values.std()


@pytest.mark.parametrize("n", [3, 4, 7, 15])
def test_few_observations_have_a_forecast(n):
    values = np.random.default_rng(n).normal(size=n)
    forecast = Forecast(stack_of(ds.observe.delays(values, 1)), values[:, None])
    assert np.isfinite(forecast.mean).all()
    assert np.isfinite(forecast.log_score(100.0)).all()


def test_constant_and_rounded_values():
    constant = Forecast(stack_of(ds.observe.delays(np.full(50, 2.5), 1)), np.array([[2.5]]))
    assert constant.mean == pytest.approx([2.5], abs=1e-6)
    rounded = np.round(autoregressive(500, 3))
    stack = stack_of(ds.observe.delays(rounded, 1))
    assert all(part.z_width >= 0.49 * stack.least for part in stack.parts[:-1])


def test_what_has_no_forecast():
    symbols = ds.CausalStates(past=2).fit("0110110111011")
    with pytest.raises(ValueError, match=r"density=ds.Kernels\(\)"):
        symbols.forecast("0110")
    x = np.random.default_rng(1).normal(size=(60, 2))
    kinds = ds.CausalStates(ds.Kernels()).fit(x, np.where(x[:, 0] > 0, "up", "down"))
    with pytest.raises(ValueError, match="'z' are kinds"):
        kinds.forecast(x)
    vectors = ds.CausalStates(ds.Kernels(0.5), past=2, future=2).fit(x[:, 0])
    with pytest.raises(ValueError, match=r"vectors of 2 numbers.*future=1"):
        vectors.forecast(x[:, 0])
    pairs = ds.CausalStates(ds.Kernels()).fit(x, x[:, 0] + x[:, 1])
    assert len(pairs.forecast(x)) == 60
    with pytest.raises(ValueError, match="pairs have no order"):
        pairs.forecast(x, steps=2)
    with pytest.raises(ValueError, match="'steps'"):
        pairs.forecast(x, steps=0)
    series = ds.CausalStates(ds.Kernels(0.5), past=2).fit(x[:9, 0])
    with pytest.raises(ValueError, match="none of 7 observations is followed by as many"):
        series.forecast(x[:, 0], steps=30)
    counted = ds.CausalStates(ds.Kernels(0.5), ds.Bhattacharyya(), past=2).partial_fit(x[:, 0])
    with pytest.raises(ValueError, match="Only counts"):
        counted.forecast(x[:, 0])


def test_levels_of_the_background():
    t = np.array([0.0, 1.0, -2.5, 40.0])
    from scipy.stats import t as student

    assert [kernels._t_cumulative(v) for v in t] == pytest.approx(student.cdf(t, 3))
    assert [kernels._t_density(v) for v in t] == pytest.approx(student.pdf(t, 3))


def test_exact_laws():
    for values in (np.arange(100.0) * 0.5, np.sin(np.arange(300) / 7)):
        forecast = Forecast(stack_of(ds.observe.delays(values[:-1], 2)), values[-2:-4:-1][None])
        assert forecast.mean == pytest.approx(values[-1:], abs=1e-3)
