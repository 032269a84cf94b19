"""Complexities as features: those of the estimators, one row per series, usable in a pipeline."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
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


def labelled(n, rng, length=80):
    """AR series of two classes."""
    labels = np.arange(n) % 2
    return [ar((0.1, 0.9)[k], rng, length) for k in labels], labels


def test_labels_add_what_series_share():
    rng = np.random.default_rng(2)
    series, labels = labelled(20, rng)
    features = ds.ComplexityFeatures(past=1)
    own = features.fit_transform(series)
    assert own.shape == (20, 6)
    found = features.fit_transform(series, np.array(["slow", "fast"])[1 - labels])
    names = list(features.get_feature_names_out())
    assert found.shape == (20, len(names))
    assert len(set(names)) == len(names)
    np.testing.assert_array_equal(found[:, :6], own)
    assert names[6:11] == ["level", "spread", "surprise_place", "surprise_sd_place", "surprise_max_place"]
    np.testing.assert_allclose(found[:, 6], [np.mean(one) for one in series])
    assert names[-2:] == ["lead_slow_fast", "lead_slow_slow"]
    # Two classes: one leads by as much as the other is behind.
    np.testing.assert_allclose(found[:, -2], -found[:, -1])
    new, right = labelled(40, rng)
    lead = features.transform(new)[:, names.index("lead_past_fast")]
    assert np.mean((lead > 0) == (right == 0)) > 0.85
    np.testing.assert_array_equal(ds.ComplexityFeatures(past=1, shared=False).fit_transform(series, labels), own)


def test_series_are_not_judged_by_themselves():
    """Leads of random labels are as often wrong as right, where those of series that judge themselves are right."""
    rng = np.random.default_rng(3)
    right, without_folds = [], []
    for _ in range(3):
        series, labels = [rng.normal(size=30) for _ in range(60)], rng.permutation(60) % 2
        features = ds.ComplexityFeatures(past=1).fit(series, labels)
        leads = [features.transform(series)[:, -1]]
        features.evidence_.folds.clear()
        leads.append(features.transform(series)[:, -1])
        for found, lead in zip((right, without_folds), leads, strict=True):
            found.append(np.mean((lead > 0) == labels))
    assert 0.35 < np.mean(right) < 0.65
    assert np.mean(without_folds) > 0.8


def test_random_labels_are_not_learnt():
    rng = np.random.default_rng(4)
    series, labels = [rng.normal(size=30) for _ in range(90)], rng.permutation(90) % 2
    model = make_pipeline(ds.ComplexityFeatures(past=1), RandomForestClassifier(50, random_state=0))
    assert 0.3 < cross_val_score(model, series, labels, cv=3).mean() < 0.7


def test_the_same_series_again_has_the_same_fold():
    rng = np.random.default_rng(5)
    series, labels = labelled(12, rng)
    features = ds.ComplexityFeatures(past=1)
    first = features.fit_transform(series, labels)
    np.testing.assert_array_equal(features.transform(series[::-1])[::-1], first)
    twice = features.fit([*series, *series], np.append(labels, 1 - labels))
    assert len(twice.evidence_.folds) == 12


def test_labelled_numbers_do_not_depend_on_scale():
    rng = np.random.default_rng(6)
    features = ds.ComplexityFeatures(past=2).fit(*labelled(20, rng))
    new = ar(0.8, rng, 80)
    found = features.transform([new, 1000 * new - 7])
    known = [not name.startswith(("level", "spread")) for name in features.get_feature_names_out()]
    np.testing.assert_allclose(found[0, known], found[1, known], rtol=1e-6, atol=1e-6)


def test_labelled_symbols():
    rng = np.random.default_rng(7)
    machines, labels = (ds.processes.even(), ds.processes.golden_mean()), np.arange(30) % 2
    series = ["".join(map(str, machines[k].simulate(150, rng=rng))) for k in labels]
    model = make_pipeline(ds.ComplexityFeatures(past=2), RandomForestClassifier(50, random_state=0))
    assert model.fit(series[:16], labels[:16]).score(series[16:], labels[16:]) == 1.0
    names = list(model[0].get_feature_names_out())
    assert names[6:] == [
        *(f"{what}_{look}" for look in ("anyway", "past") for what in ("surprise", "surprise_sd", "surprise_max")),
        *(f"lead_{look}_{k}" for look in ("anyway", "past") for k in (0, 1)),
    ]
    # Symbols that were never seen speak for nobody.
    assert np.abs(model[0].transform(["xyz" * 9])[0, -4:]).max() < 1e-12


def test_variables():
    rng = np.random.default_rng(8)
    labels = np.arange(12) % 3
    series = np.array([[ar(0.3 * k, rng, 60), rng.normal(size=60)] for k in labels])
    features = ds.ComplexityFeatures(past=1)
    found = features.fit_transform(series, labels)
    names = list(features.get_feature_names_out())
    assert found.shape == (12, len(names))
    assert names.index("C_1") == 17
    assert sum(name.startswith("lead") for name in names) == 9
    np.testing.assert_array_equal(features.fit_transform(list(series.transpose(0, 2, 1)), labels), found)
    both = [ds.ComplexityFeatures(past=1).fit_transform(series[:, v]) for v in (0, 1)]
    np.testing.assert_array_equal(ds.ComplexityFeatures(past=1).fit_transform(series), np.column_stack(both))
    with pytest.raises(ValueError, match=r"The 'X' has series of \[1\] variables; all must have 2"):
        features.transform(series[:, 0])
    with pytest.raises(ValueError, match=r"The 'X' has series of \[2, 3\] variables; all must have the same"):
        features.fit([series[0], series[1, [0, 1, 1], :50]])
    # A series may be shorter than it has variables.
    short = [series[0, [0, 1, 0, 1]], series[1, [0, 1, 0, 1], :3]]
    features = ds.ComplexityFeatures(past=1).fit(short)
    assert features.transform(short).shape == (2, 24)
    # Where there are as many times, the axis is that of fit.
    square = series[2, [0, 1, 0, 1], :4]
    np.testing.assert_array_equal(
        features.transform([square, series[2, [0, 1, 0, 1]]])[0], features.transform([square])[0]
    )
    with pytest.raises(ValueError, match=r"has shape \(2, 3, 60\)"):
        features.fit(rng.normal(size=(4, 2, 3, 60)))


def test_labels_of_other_kinds():
    rng = np.random.default_rng(9)
    series, _ = labelled(12, rng, 40)
    features = ds.ComplexityFeatures(past=1)
    for y in (np.ones(12), rng.normal(size=12), rng.normal(size=(12, 1))):
        found = features.fit_transform(series, y)
        assert found.shape == (12, 17)
        assert not any(name.startswith("lead") for name in features.get_feature_names_out())
    for y in ([0, 1], np.zeros((12, 2)), 5):
        with pytest.raises(ValueError, match="a label for each of 12 series"):
            features.fit(series, y)
    with pytest.raises(ValueError, match="The 'shared' of ComplexityFeatures is 2"):
        ds.ComplexityFeatures(shared=2).fit(series, np.ones(12))
    with pytest.raises(ValueError, match=r"The 'X\[1\]' has infinite values"):
        features.fit([series[0], np.append(series[1], np.inf)], [0, 1])


def test_whole_numbers_of_many_values_and_gaps():
    rng = np.random.default_rng(10)
    series, labels = labelled(12, rng, 60)
    counts = [np.round(100 * one) for one in series]
    features = ds.ComplexityFeatures(past=1).fit(counts, labels)
    assert "level" in features.get_feature_names_out()
    gaps = [np.where(np.arange(one.size) == 20, np.nan, one) for one in series]
    found = features.fit_transform([*gaps, np.full(60, 0.5)], [*labels, 1])
    assert np.isfinite(found).all()


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
