"""Complexities as features: those of the estimators, one row per series, usable in a pipeline."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import decisional as ds


def ar(a, rng, n=300):
    values = np.zeros(n)
    for t in range(1, n):
        values[t] = a * values[t - 1] + rng.normal()
    return values


def test_symbols():
    series = [ds.processes.even().simulate(3000, rng=1), "01" * 500]
    found = ds.ComplexityFeatures(past=4).fit_transform(series)
    causal = ds.CausalStates().fit(ds.observe.series(series[0], past=4))
    choice = ds.DecisionalStates(ds.utility.zero_one()).fit(causal)
    p = causal.distributions_
    with np.errstate(divide="ignore", invalid="ignore"):
        h = -np.nansum(np.where(p > 0, p * np.log2(p), 0.0), axis=1)
    expected = [causal.complexity_, choice.complexity_, choice.prediction_complexity_, choice.utility_complexity_]
    assert found[0].tolist() == pytest.approx([*expected, causal.states_.probability @ h, choice.expected_utility_])
    assert found[1].tolist() == pytest.approx([1, 1, 1, 0, 0, 1], abs=1e-3)


def test_numbers_do_not_depend_on_scale():
    rng = np.random.default_rng(0)
    series = ar(0.8, rng)
    features = ds.ComplexityFeatures(utility=ds.utility.tolerant(0.5), bandwidth=0.4)
    found = features.fit_transform([series, 10 * series + 3, rng.normal(size=300)])
    assert np.allclose(found[0], found[1], atol=1e-2)
    assert found.shape == (3, 6)
    assert list(features.get_feature_names_out()) == ["C", "D", "P", "V", "h", "U"]
    c, d, p, v = found[:, :4].T
    assert (p <= d + 1e-9).all()
    assert (v <= d + 1e-9).all()
    assert (d <= c + 1e-9).all()


def test_in_a_pipeline_with_a_search():
    rng = np.random.default_rng(1)
    series = np.array([ar(a, rng, 200) for a in [0.1] * 8 + [0.95] * 8])
    labels = np.repeat([0, 1], 8)
    model = make_pipeline(ds.ComplexityFeatures(past=1), LogisticRegression())
    search = GridSearchCV(model, {"complexityfeatures__bandwidth": [0.3, 0.6]}, cv=2).fit(series, labels)
    assert search.best_score_ > 0.8


def test_clone_and_errors():
    features = ds.ComplexityFeatures(past=2, bandwidth=0.5)
    assert clone(features).get_params() == features.get_params()
    for wrong in ("0101", [], [1.0, 2.0], np.zeros(5), 3):
        with pytest.raises(ValueError, match="needs one or more series"):
            features.fit(wrong)


@parametrize_with_checks([ds.ComplexityFeatures(past=1, bandwidth=0.5)])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_checks_of_scikit_learn(estimator, check):
    check(estimator)
