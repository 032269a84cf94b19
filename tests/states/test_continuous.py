"""Known answers for continuous series and images, the reference's pictures, and scikit-learn's own checks."""

from pathlib import Path

import numpy as np
import pytest
from scipy.signal import lfilter
from scipy.stats import spearmanr
from sklearn.utils.estimator_checks import parametrize_with_checks

import decisional as ds

GOLDEN = Path(__file__).parents[1] / "answers" / "golden"


def autoregressive(n, a=0.8, seed=0):
    return lfilter([1], [1, -a], np.random.default_rng(seed).normal(size=n))


def moments(causal, X):
    """Predictive mean and variance at each row of X."""
    p, z = causal.predict_proba(X), np.array(causal.outcomes_)
    mean = p @ z
    return mean, p @ z**2 - mean**2


# ------------------------------------------------------------------------------------------ known answers


def test_a_gaussian_autoregression_is_predicted():
    # N = 1e5 by default widths; noise of variance 1.
    causal = ds.CausalStates().fit(ds.observe.delays(autoregressive(100_000), 1))
    X = np.linspace(-3, 3, 200)[:, None]  # 1.8 standard deviations each way
    mean, variance = moments(causal, X)
    assert np.abs(mean - 0.8 * X[:, 0]).max() < 0.05
    assert np.abs(variance - 1).mean() < 0.05
    assert abs(variance.mean() - 1) < 0.05
    # A continuum is cut into as many states as 16,384 observations tell apart.
    assert 10 < causal.n_states_ < 40
    # Squared error: the conditional mean of each state, and that of each x.
    choice = ds.DecisionalStates(ds.utility.squared_error()).fit(causal)
    assert np.abs(choice.decide(X, by="x").astype(float) - 0.8 * X[:, 0]).max() < 0.05
    assert np.abs(choice.decide(X).astype(float) - 0.8 * X[:, 0]).mean() < 0.15
    means = causal.distributions_ @ np.array(causal.outcomes_)
    assert np.allclose([next(iter(y)) for y in choice.predictions_], means)


def test_lags_that_do_not_matter_do_no_harm():
    series = autoregressive(8_000)
    short, long = (ds.CausalStates(density=ds.Kernels(samples=100)).fit(ds.observe.delays(series, k)) for k in (1, 4))
    X = ds.observe.delays(autoregressive(2000, seed=1), 4).points
    X = X[np.abs(X[:, 0]) < 3]
    mean, variance = moments(long, X)
    assert np.sqrt(np.mean((mean - 0.8 * X[:, 0]) ** 2)) < 0.08
    assert abs(variance.mean() - 1) < 0.1
    assert long.n_states_ < 3 * short.n_states_ + 20


def test_few_observations_are_not_biased():
    # Sums over the values of z themselves, of which there are fewer than 512, would lean to where many are.
    obs = ds.observe.delays(autoregressive(400), 1)
    causal = ds.CausalStates(density=ds.Kernels(0.4)).fit(obs)
    X = np.linspace(-2, 2, 20)[:, None]
    weight = np.exp(-0.5 * ((X - obs.points[obs.x, 0]) / 0.4) ** 2)
    regression = weight @ np.array(obs.outcomes)[obs.z] / weight.sum(axis=1)
    assert np.abs(moments(causal, X)[0] - regression).max() < 0.02


def regimes(n, seed=0):
    """A level of -1 or 1 that switches every 200 steps on average, in noise."""
    rng = np.random.default_rng(seed)
    level = np.where(np.cumsum(rng.random(n) < 0.005) % 2, 1.0, -1.0)
    return level, level + 0.4 * rng.normal(size=n)


def test_two_regimes_are_found():
    level, series = regimes(6000)
    obs = ds.observe.delays(series, 3)
    truth = (level[obs.site] > 0).astype(int)

    def agreement(labels):
        return max((labels == truth).mean(), (labels == 1 - truth).mean())

    # By evidence, and by a coarse distance: two states hold nearly everything.
    for match in (None, ds.Bhattacharyya(0.5)):
        causal = ds.CausalStates(match=match).fit(obs)
        assert causal.states_.probability[:2].sum() > 0.95
        assert agreement(causal.labels_) > 0.9
    # Or fine causal states, and a utility that asks which side comes next.
    fine = ds.CausalStates(match=ds.Bhattacharyya(0.05)).fit(obs)
    side = ds.DecisionalStates(lambda y, z: np.asarray(y * np.sign(z), float), optimise=None).fit(fine)
    best = np.array([max(y) for y in side.predictions_])
    assert agreement((best[fine.labels_] > 0).astype(int)) > 0.9


def logistic(n, seed=0):
    rng = np.random.default_rng(seed)
    x = np.full(n, 0.4)
    for t in range(1, n):
        x[t] = np.clip(3.9 * x[t - 1] * (1 - x[t - 1]) + 0.02 * rng.normal(), 0.001, 0.999)
    return x


def test_the_default_width_is_as_good_as_the_best_number():
    seen, new = ds.observe.delays(logistic(2000), 2), ds.observe.delays(logistic(2000, 1), 2)
    found = {
        b: ds.CausalStates(density=ds.Kernels(b)).fit(seen) for b in ("nearest", "rule", "cv", 0.01, 0.03, 0.1, 0.3)
    }
    score = {b: causal.score(new) for b, causal in found.items()}
    assert score["cv"] > max(value for b, value in score.items() if b != "cv") - 0.05
    # Gaussian noise of 0.02 leaves 3.6 bits at best.
    assert 3.3 < score["cv"] < 3.65
    # Evidence tells about as many states apart whatever the widths; a distance follows them. The reference's rule gives
    # 1,498 states for such a series.
    assert all(10 < found[b].n_states_ < 40 for b in ("nearest", "rule", "cv"))
    by_distance = {
        b: ds.CausalStates(density=ds.Kernels(b), match=ds.Bhattacharyya(0.05)).fit(seen).n_states_
        for b in ("nearest", "rule", "cv")
    }
    assert by_distance["rule"] < 100 < by_distance["cv"] < 800 < by_distance["nearest"]


# ------------------------------------------------------------------------------------ the paper's pictures


@pytest.mark.parametrize(("name", "least", "least_prediction"), [("astro128", 0.9, 0.9), ("camera128", 0.8, 0.8)])
def test_ranks_are_those_of_the_reference(name, least, least_prediction):
    image = pytest.importorskip("PIL.Image")
    pixels, statistical, prediction = (
        np.asarray(image.open(GOLDEN / f"{name}_{part}.png").convert("L"))
        for part in ("input", "statistical_rank", "prediction_rank")
    )
    obs = ds.observe.image(pixels)
    how = {"density": ds.Kernels(bandwidth=1.5**0.5), "match": ds.Bhattacharyya(0.05), "passes": 3}
    causal = ds.CausalStates(**how).fit(obs)
    inside = slice(2, -2), slice(2, -2)

    def correlation(local, golden):
        return spearmanr(-obs.field(local)[inside].ravel(), golden[inside].ravel()).statistic

    assert correlation(causal.local_complexity_, statistical) > least
    choice = ds.DecisionalStates(ds.utility.tolerant(7)).fit(causal)
    assert correlation(choice.local_prediction_complexity_, prediction) > least_prediction


@pytest.mark.parametrize("name", ["astro128", "camera128"])
def test_states_by_evidence_rank_pixels_as_the_reference_does(name):
    image = pytest.importorskip("PIL.Image")
    pixels, statistical = (
        np.asarray(image.open(GOLDEN / f"{name}_{part}.png").convert("L")) for part in ("input", "statistical_rank")
    )
    obs = ds.observe.image(pixels)
    inside = slice(2, -2), slice(2, -2)
    local = obs.field(ds.CausalStates().fit(obs).local_complexity_)[inside]
    assert spearmanr(-local.ravel(), statistical[inside].ravel()).statistic > 0.75


# ------------------------------------------------------------------------------------ scikit-learn's checks

REASONS = {
    "check_fit_score_takes_y": "the second argument is z, the paper's name of what is predicted",
    "check_n_features_in_after_fitting": "it gives y= by name; columns are checked, see test_new_x_are_refused",
    "check_fit1d": "an X of one dimension is a list of configurations, such as strings",
}


@parametrize_with_checks(
    [ds.CausalStates(), ds.CausalStates(density=ds.Kernels()), ds.DecisionalStates(ds.utility.zero_one())],
    expected_failed_checks=lambda estimator: REASONS,
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_checks_of_scikit_learn(estimator, check):
    check(estimator)
