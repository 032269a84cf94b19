"""States by evidence against loops over all observations, and on systems with known states."""

import re
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score

import decisional as ds
import naive_evidence as naive
from decisional.states import evidence
from decisional.states.bandwidths import sampled
from decisional.states.labelling import nearest
from decisional.states.scales import robust, scattered
from decisional.support import executors
from strategies_symbols import examples


@st.composite
def samples(draw, z="numbers", most=45):
    """A small sample with some equal x."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, d = draw(st.integers(12, most)), draw(st.integers(1, 3))
    x = rng.normal(size=(n, d)).round(draw(st.sampled_from([0, 1, 6]))) + 0.25
    if z == "kinds":
        return sampled(ds.observe.pairs(x, rng.choice(list("abc"), n).tolist()))
    outcome = np.sign(x[:, 0]) + 0.3 * rng.normal(size=n)
    if z == "vectors":
        outcome = np.column_stack([outcome, rng.normal(size=n)])
    return sampled(ds.observe.pairs(x, outcome))


def pieces(sample, width=0.4):
    outcomes = evidence.outcomes_of(sample, width)
    densities = evidence._densities(sample, outcomes, np.full(sample.x.shape[1], width))
    return outcomes, densities, evidence.folds(len(sample.x))


# ---------------------------------------------------------------------------------------------- the steps


@pytest.mark.parametrize("z", ["numbers", "kinds", "vectors"])
def test_outcomes_are_seen_through_a_kernel(z):
    @given(samples(z))
    @examples(20, 5)
    def check(sample):
        outcomes, densities, _ = pieces(sample)
        n = len(sample.x)
        assert np.allclose(outcomes.kernel.sum(axis=1), 1.0)
        assert outcomes.bin.shape == outcomes.point.shape == outcomes.group.shape == (n,)
        assert 0 <= outcomes.group.min() <= outcomes.group.max() < outcomes.n_groups <= 16
        assert np.allclose(densities.prior, outcomes.kernel[outcomes.bin].mean(axis=0))
        # A z lies where its own bin is seen best, or half-way to the next point.
        seen = outcomes.kernel[outcomes.bin]
        assert (seen[np.arange(n), outcomes.point] >= 0.9 * seen.max(axis=1)).all()

    check()


@pytest.mark.small
@given(samples(most=30), st.sampled_from([0.1, 0.4, 1.5]))
@examples(25, 3)
def test_densities_are_cross_fitted(sample, width):
    outcomes, densities, fold = pieces(sample, width)
    rows, row = np.unique(sample.row, return_inverse=True)
    expected = naive.cross_fitted(
        sample.x.tolist(),
        outcomes.bin.tolist(),
        outcomes.kernel.tolist(),
        densities.prior.tolist(),
        densities.width.tolist(),
        fold.tolist(),
    )
    mean = np.array([np.mean([expected[i] for i in np.flatnonzero(row == k)], axis=0) for k in range(rows.size)])
    assert np.abs(evidence.cross_fitted(densities, sample, row) - mean).max() < 1e-5


@pytest.mark.small
@given(samples(), st.data())
@examples(40, 5)
def test_states_merge_until_they_are_told_apart(sample, data):
    outcomes, _densities, fold = pieces(sample)
    k = data.draw(st.integers(1, 6))
    own = np.append(np.arange(k), data.draw(st.lists(st.integers(0, k - 1), min_size=len(fold), max_size=len(fold))))
    own = np.unique(own[-len(fold) :], return_inverse=True)[1]
    alpha = data.draw(st.sampled_from([0.01, 0.3, 0.9]))
    prior = outcomes.blurred[outcomes.bin].mean(axis=0)
    lists = [a.tolist() for a in (own, outcomes.bin, outcomes.point, outcomes.group, outcomes.blurred, prior)]
    labels, bins, points, groups, kernel, prior = lists
    log = naive.held_out(labels, bins, points, kernel, prior, fold.tolist())
    held = evidence.HeldOut(own, outcomes, fold)
    assert np.allclose(held.log, log)
    pairs = evidence._Pairs(own, outcomes, held)
    for a in range(own.max() + 1):
        expected = [naive.log_p(a, b, labels, log, groups) if a != b else -np.inf for b in range(own.max() + 1)]
        assert np.allclose(pairs.log_p(a), expected, atol=1e-6)
        for b in range(a):
            expected = naive.log_p_inside_folds(a, b, labels, log, groups, fold.tolist())
            assert np.isclose(pairs.log_p_inside_folds(a, b), expected, atol=1e-6)
    expected = naive.merged(labels, bins, points, groups, kernel, prior, fold.tolist(), alpha)
    found = evidence.merged(own, outcomes, fold, alpha)[own]
    assert adjusted_rand_score(found, expected) == 1.0


def test_folds_that_differ_are_no_states():
    """A fold with unusual z is unusual to all others, and no x in it is unlike another."""
    rng = np.random.default_rng(3)
    unusual = 0.4 * (evidence.folds(1000) == 4)
    sample = sampled(ds.observe.pairs(rng.normal(size=(1000, 1)), unusual + rng.normal(size=1000)))
    outcomes, _densities, fold = pieces(sample)
    own = (fold == 4).astype(int)
    pairs = evidence._Pairs(own, outcomes, evidence.HeldOut(own, outcomes, fold))
    assert pairs.log_p(0)[1] < np.log(0.005)
    assert pairs.log_p_inside_folds(0, 1) == 0.0
    assert evidence.merged(own, outcomes, fold, 0.01).tolist() == [0, 0]


@pytest.mark.small
@given(st.integers(0, 2**32 - 1))
@examples(30, 5)
def test_states_are_those_of_the_best_expected_score(seed):
    rng = np.random.default_rng(seed)
    p, q = rng.dirichlet(np.ones(5), 20), np.log(rng.dirichlet(np.ones(5), int(rng.integers(1, 6))))
    assert nearest(p, q).tolist() == [naive.expected(row, q.tolist()) for row in p.tolist()]


# ------------------------------------------------------------------------------------------ known answers


def regimes(n, seed=0, stay=0.95):
    """A level of -1 or 1 in noise: two states, the last level."""
    rng = np.random.default_rng(seed)
    level = np.where(np.cumsum(rng.random(n) > stay) % 2, 1.0, -1.0)
    return level, level + 0.3 * rng.normal(size=n)


def noisy(machine, n, noise, seed):
    rng = np.random.default_rng(seed)
    return 2.0 * np.array(machine.simulate(n, rng=rng)) - 1.0 + noise * rng.normal(size=n)


@pytest.mark.parametrize("past", [1, 3, 8])
@pytest.mark.parametrize("draw", ["normal", "uniform", "standard_cauchy", "integers"])
@pytest.mark.filterwarnings("ignore:Values far from the rest")
def test_noise_is_one_state(draw, past):
    rng = np.random.default_rng(past)
    values = rng.integers(0, 9, 600).astype(float) if draw == "integers" else getattr(rng, draw)(size=600)
    causal = ds.CausalStates().fit(ds.observe.delays(values, past))
    assert causal.n_states_ == 1
    assert causal.complexity_ == 0
    assert isinstance(causal.match_, ds.Evidence)


def test_two_regimes_are_two_states():
    level, series = regimes(1500)
    for past in (1, 4):
        obs = ds.observe.delays(series, past)
        causal = ds.CausalStates().fit(obs)
        assert causal.n_states_ == 2
        assert adjusted_rand_score(causal.labels_, level[obs.site]) > 0.97
        assert abs(causal.complexity_ - 1) < 0.05
        assert causal.warning_ is None
        means = causal.distributions_ @ np.array(causal.outcomes_)
        assert np.abs(np.sort(means) - [-0.9, 0.9]).max() < 0.1


def test_windows_of_the_even_process():
    # A window that is all ones, of one or more, is a state of its own.
    series = noisy(ds.processes.even(), 2000, 0.1, 5)
    assert [ds.CausalStates().fit(ds.observe.delays(series, past)).n_states_ for past in (1, 3)] == [2, 3]


def test_pixels_that_say_nothing_do_not_blur_a_picture():
    # Each row is a chain of two levels: a pixel hangs on those to its left and right, and on no other of the 20.
    rng = np.random.default_rng(1)
    first, turns = rng.integers(0, 2, (64, 1)), rng.random((64, 63)) > 0.9
    level = np.cumsum(np.hstack([first, turns]), axis=1) % 2
    pixels = np.rint(90 + 60 * level + rng.normal(0, 4, level.shape)).astype(int)
    causal = ds.CausalStates().fit(ds.observe.image(pixels, subtract_min=False))
    sides = level[2:-2, 1:-3] + level[2:-2, 3:-1]
    assert causal.n_states_ == 3
    # With one width for all neighbours it is 0.9.
    assert adjusted_rand_score(causal.labels_, sides.ravel()) > 0.98
    noise = rng.integers(0, 256, (64, 64))
    assert ds.CausalStates().fit(ds.observe.image(noise, subtract_min=False)).n_states_ == 1


def test_the_old_default_is_there_by_name():
    obs = ds.observe.delays(regimes(500)[1], 2)
    old = ds.CausalStates(match=ds.Bhattacharyya(0.05)).fit(obs)
    assert old.n_states_ > 2
    assert old.warning_ is None
    # A clustering compares densities in pairs.
    given = ds.CausalStates(cluster="aggregate").fit(obs)
    assert isinstance(given.match_, ds.Bhattacharyya)
    assert np.array_equal(given.labels_, old.labels_)


@pytest.mark.filterwarnings("ignore:Values far from the rest")
def test_states_do_not_follow_units_order_or_threads(monkeypatch):
    rng = np.random.default_rng(3)
    x = rng.normal(size=(800, 3))
    z = np.where(x[:, 1] > 0, 1.0, -1.0) * (1 + (x[:, 0] > 0.5)) + 0.3 * rng.normal(size=800)
    labels = ds.CausalStates().fit(x, z).labels_
    assert labels.max() == 2 or labels.max() == 3
    moved = ds.CausalStates().fit(x * [8.0, 0.25, 1024.0] + [0.0, 4.0, -2.0], 4.0 * z - 64.0).labels_
    assert np.mean(moved == labels) > 0.995
    assert np.mean(ds.CausalStates().fit(x[:, [2, 0, 1]], z).labels_ == labels) > 0.995
    monkeypatch.setattr(executors, "workers", lambda: 1)
    assert np.array_equal(ds.CausalStates().fit(x, z).labels_, labels)


def test_slices_give_the_states_of_the_whole():
    series = regimes(3000)[1]
    whole = ds.CausalStates().fit(ds.observe.delays(series, 2))
    parts = ds.CausalStates().fit(ds.observe.delays(series, 2, chunks=700))
    assert parts.n_states_ == whole.n_states_ == 2
    assert np.array_equal(parts.labels_, whole.labels_)
    assert np.array_equal(parts.distributions_, whole.distributions_)


def test_more_than_the_sample_is_labelled(monkeypatch):
    level, series = regimes(6000)
    obs = ds.observe.delays(series, 2)
    monkeypatch.setattr("decisional.states.bandwidths.SAMPLED", 1000)
    monkeypatch.setattr("decisional.states.evidence.sampled", lambda obs, kinds: sampled(obs, kinds, most=1000))
    causal = ds.CausalStates().fit(obs)
    assert causal.n_states_ == 2
    assert adjusted_rand_score(causal.labels_, level[obs.site]) > 0.95


def test_new_x_have_states_too():
    level, series = regimes(2000)
    causal = ds.CausalStates().fit(ds.observe.delays(series[:1500], 2))
    new = ds.observe.delays(series[1500:], 2)
    found = causal.predict(new)
    assert adjusted_rand_score(found, level[1500:][new.site]) > 0.95
    # Far away in a direction where nothing is known, nothing is told.
    narrow = ds.CausalStates(density=ds.Kernels(0.05)).fit(np.linspace(0, 1, 300)[:, None], np.linspace(0, 1, 300))
    assert narrow.predict([[0.5]])[0] >= 0


def test_kinds_and_vectors_of_z():
    rng = np.random.default_rng(5)
    x = rng.uniform(-2, 2, (900, 2))
    up = x[:, 0] > 0.3
    kinds = np.where(rng.random(900) < np.where(up, 0.9, 0.2), "wet", "dry").tolist()
    assert ds.CausalStates().fit(x, kinds).n_states_ == 2
    vectors = np.column_stack([np.where(up, 2.0, -2.0), np.zeros(900)]) + 0.5 * rng.normal(size=(900, 2))
    causal = ds.CausalStates().fit(x, vectors)
    assert causal.n_states_ == 2
    assert adjusted_rand_score(causal.labels_, up) > 0.95
    alone = ds.CausalStates().fit(x, np.random.default_rng(0).normal(size=(900, 2)))
    assert alone.n_states_ == 1


# ------------------------------------------------------------------------------------------ values far out


@pytest.mark.parametrize("value", [1e6, -9999.0])
def test_a_fill_value_changes_nothing_and_is_told(value):
    series = regimes(1000)[1]
    clean = ds.CausalStates().fit(ds.observe.delays(series, 2))
    dirty = series.copy()
    dirty[[100, 500, 700]] = value
    told = re.escape(f"such as {value:g}, are in 3 of 998 z and 6 of 998 x; they count as the border")
    with pytest.warns(UserWarning, match=told):
        causal = ds.CausalStates().fit(ds.observe.delays(dirty, 2))
    assert causal.n_states_ == clean.n_states_ == 2
    touched = np.isin(np.arange(998), [k + j for k in (99, 499, 699) for j in (-1, 0, 1)])
    assert np.mean(causal.labels_[~touched] == clean.labels_[~touched]) > 0.99


def test_vectors_of_z_beyond_all_sample_points_have_a_distribution():
    rng = np.random.default_rng(6)
    x = rng.uniform(-2, 2, (400, 1))
    z = rng.normal(size=(400, 2))
    far = x[:, 0] > 1.5
    z[far] += 1e6
    with pytest.warns(UserWarning, match="Values far from the rest"):
        causal = ds.CausalStates().fit(x, z)
    assert causal.n_states_ > 1
    np.testing.assert_allclose(causal.distributions_.sum(axis=1), 1.0)


def test_scales_are_robust():
    rng = np.random.default_rng(0)
    values = rng.normal(2.0, 3.0, (2000, 1))
    scale = robust(values)
    assert abs(scale.scale[0] - 3) < 0.3
    assert abs(scale.centre[0] - 2) < 0.3
    values[:20] = 1e9
    assert abs(robust(values).scale[0] - scale.scale[0]) < 0.1
    assert robust(values).tame(values).max() < 7.5
    # Rain: most values are equal.
    rain = np.where(rng.random((500, 1)) < 0.1, rng.exponential(size=(500, 1)), 0.0)
    assert 0.01 < robust(rain).scale[0] < 1
    assert robust(np.zeros((5, 2))).scale.tolist() == [1.0, 1.0]


# -------------------------------------------------------------------------------------------------- doubt


def test_doubt_is_told():
    rng = np.random.default_rng(7)
    few = ds.CausalStates().fit(rng.normal(size=(25, 1)), rng.normal(size=25))
    assert "25 observations are too few" in few.warning_
    deep = ds.CausalStates(density=ds.Kernels(0.05)).fit(rng.normal(size=(300, 6)), rng.normal(size=300))
    assert "too little data for x of 6 numbers" in deep.warning_
    found = evidence.states_of(ds.observe.delays(regimes(400)[1], 1), ds.Kernels(), 0.01)
    assert "hardly predict" not in (found.doubt() or "")
    assert "hardly predict" in found._replace(alone=found.score + rng.normal(size=found.score.size)).doubt()


def test_refusals():
    obs = ds.observe.delays(regimes(300)[1], 2)
    with pytest.raises(ValueError, match="'alpha' of Evidence is 2"):
        ds.CausalStates(match=ds.Evidence(2)).fit(obs)
    with pytest.raises(ValueError, match="'match' is Evidence"):
        ds.CausalStates(match=ds.Evidence()).fit(ds.observe.series("0110" * 50, past=2))
    with pytest.raises(ValueError, match="'match' is Evidence"):
        ds.CausalStates(match=ds.Evidence(), cluster="connect").fit(obs)


def test_nothing_is_told_of_clean_data():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ds.CausalStates().fit(ds.observe.delays(regimes(400)[1], 1))


def test_x_between_learnt_ones_have_states():
    # Kernels of motion without noise are narrow: most new x lie further off than these reach.
    t = np.concatenate([np.arange(0, 60, 0.35), np.arange(200, 260, 0.35)])
    seen, new = np.sin(t), np.sin(np.arange(100, 160, 0.35))
    causal = ds.CausalStates().fit(ds.observe.delays(seen, 2))
    assert (causal.predict(ds.observe.delays(new, 2)) >= 0).all()
    assert causal.predict(np.array([[1e3, -1e3]])) == [-1]


def test_a_lost_observation_changes_little_of_a_sample():
    site = np.arange(1000)
    some = set(site[scattered(site, 300)])
    assert len(some) == 300
    less = np.delete(site, 417)
    assert len(some - {417} - set(less[scattered(less, 300)])) == 0
    # Evenly: no third of the sites has much more than a third of them.
    assert max(np.bincount(np.array(sorted(some)) // 334)) <= 102
    assert np.array_equal(scattered(site[:20], 20), np.arange(20))
