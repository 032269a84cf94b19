"""Distances and tests: textbook formulas, theorems, calibration and refusals."""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats

import naive_states
from decisional._kernels import distances as kernels
from decisional.states import matching

QUICK = settings(max_examples=60, deadline=None)
DISTANCES = [matching.Bhattacharyya, matching.Variational, matching.HarmonicMean, matching.JensenShannon]
TESTS = {"chi-square": matching.ChiSquare, "G": matching.GTest}
LARGEST = {"Bhattacharyya": 1.0, "Variational": 2.0, "HarmonicMean": 1.0, "JensenShannon": 1.0}


@st.composite
def two_counts(draw, high=40, max_outcomes=8):
    """Two vectors of counts over the same outcomes; zeros and disjoint supports are common."""
    n = draw(st.integers(1, max_outcomes))
    count = st.one_of(st.just(0), st.integers(0, high))
    a, b = (draw(st.lists(count, min_size=n, max_size=n)) for _ in range(2))
    assume(sum(a) > 0 and sum(b) > 0)
    return a, b


# --------------------------------------------------------------------------------------------------- distances


@pytest.mark.small
@pytest.mark.parametrize("kind", [*DISTANCES, matching.Exact])
@QUICK
@given(two_counts())
def test_distances_are_their_formulas(kind, counts):
    a, b = counts
    expected = naive_states.DISTANCES[kind.__name__](a, b)
    # The textbook forms of 1 - overlap lose half of the digits near 0, where a square root follows.
    atol = 1e-7 if kind is matching.Bhattacharyya else 1e-12
    assert kind().distance(a, b) == pytest.approx(expected, abs=atol)


@pytest.mark.small
@pytest.mark.parametrize("kind", DISTANCES)
@QUICK
@given(counts=two_counts(), scale=st.integers(2, 1000))
def test_distances_are_symmetric_scale_free_and_zero_for_equals_only(kind, counts, scale):
    a, b = counts
    measure = kind()
    value = measure.distance(a, b)
    assert value == pytest.approx(measure.distance(b, a), abs=1e-15)
    assert measure.distance(np.multiply(a, scale), b) == pytest.approx(value, rel=1e-9, abs=1e-15)
    assert 0.0 <= value <= LARGEST[kind.__name__] + 1e-12
    assert measure.distance(a, a) == 0.0
    assert measure.distance(a, np.multiply(a, scale)) == 0.0
    proportional = all(u * sum(b) == v * sum(a) for u, v in zip(a, b, strict=True))
    assert (value == 0.0) == proportional


@pytest.mark.small
@pytest.mark.parametrize("kind", DISTANCES)
def test_disjoint_supports_are_as_far_apart_as_can_be(kind):
    assert kind().distance([3, 0, 1, 0], [0, 5, 0, 2]) == pytest.approx(LARGEST[kind.__name__], abs=1e-15)


@pytest.mark.small
def test_known_distances():
    assert matching.Bhattacharyya().distance([1, 1], [1, 0]) == pytest.approx(math.sqrt(1 - math.sqrt(0.5)))
    assert matching.Variational().distance([1, 1], [1, 0]) == 1.0
    assert matching.HarmonicMean().distance([1, 1], [1, 0]) == pytest.approx(1 / 3)
    assert matching.JensenShannon().distance([1, 1], [1, 0]) == pytest.approx(1.5 - 0.75 * math.log2(3))
    assert matching.Exact().distance([2, 1, 1], [4, 2, 2]) == 0.0


@pytest.mark.small
def test_matches_are_below_the_threshold():
    measure = matching.Variational(0.5)
    assert measure([1, 1], [3, 1]) is False  # a distance of 0.5 is not smaller
    assert matching.Variational(0.51)([1, 1], [3, 1]) is True
    assert not matching.Bhattacharyya(1.0)([1, 0], [0, 1])
    assert matching.Exact()([1, 2], [100, 200])
    assert not matching.Exact()([1, 2], [100, 201])


# ------------------------------------------------------------------------------------------------------- tests


@pytest.mark.small
@pytest.mark.parametrize("name", TESTS)
@QUICK
@given(two_counts(high=200))
def test_statistics_and_p_values_are_those_of_scipy(name, counts):
    a, b = counts
    test = TESTS[name](family_wise=False)
    value, dof = test.statistic(a, b)
    expected, expected_dof, p = naive_states.contingency(a, b, name)
    assert dof == expected_dof
    assert value == pytest.approx(expected, rel=1e-9, abs=1e-9)
    # Near G = 0 the p-value of one degree of freedom goes as 1 - sqrt(G).
    assert test.p_value(a, b) == pytest.approx(p, rel=1e-6, abs=1e-12)
    assert test.p_value(b, a) == pytest.approx(p, rel=1e-6, abs=1e-12)
    assert test.p_value(a, np.multiply(a, 7)) == pytest.approx(1.0, abs=1e-6)
    # The naive twin of the other tests is the same test.
    assert naive_states.statistic(a, b, name) == (pytest.approx(expected, rel=1e-9, abs=1e-9), dof)


@pytest.mark.small
@pytest.mark.parametrize("name", TESTS)
@QUICK
@given(counts=two_counts(high=60), alpha=st.floats(1e-6, 0.5))
def test_rejections_are_confirmed_with_the_mean_under_the_null(name, counts, alpha):
    a, b = counts
    test = TESTS[name](alpha)
    expected = naive_states.similarity(test, a, b)
    plain = TESTS[name](alpha, family_wise=False)
    p = plain.p_value(a, b)
    assume(abs(p - alpha) > 1e-9)
    found = test.p_value(a, b)
    assert found == pytest.approx(expected, rel=1e-7, abs=1e-14)
    assert found == p if p > alpha else found >= p
    assert test(a, b) == (found > alpha)


def test_chi2_sf_is_that_of_scipy():
    dof = np.concatenate([np.arange(1, 41), np.arange(43, 500, 19), [500]])
    x = np.concatenate([[0.0, 1e-9, 1e-3], np.geomspace(0.01, 2000, 120)])
    for k in dof:
        x_near = np.concatenate([x, k + np.linspace(-0.9, 3.1, 9)])
        found = np.array([kernels.chi2_sf(value, k) for value in x_near])
        expected = stats.chi2.sf(x_near, k)
        ordinary = expected > 1e-300
        assert ordinary.sum() > 60
        np.testing.assert_allclose(found[ordinary], expected[ordinary], rtol=1e-10)
        np.testing.assert_allclose(found[~ordinary], 0.0, atol=1e-299)


@pytest.mark.small
def test_chi2_sf_at_its_ends():
    assert kernels.chi2_sf(0.0, 3) == 1.0
    assert kernels.chi2_sf(5.0, 0) == 1.0
    assert kernels.chi2_sf(3.841458820694124, 1) == pytest.approx(0.05, rel=1e-12)
    assert kernels.chi2_sf(60.0, 2) == pytest.approx(math.exp(-30.0), rel=1e-12, abs=0)
    assert kernels.chi2_sf(1200.0, 2) == pytest.approx(math.exp(-600.0), rel=1e-12, abs=0)


SPARSE = [
    ([3, 0, 1, 0, 1], [1, 2, 0, 1, 1]),
    ([30, 0], [95, 5]),
    ([2, 1, 0, 3, 1, 0, 0, 2], [9, 4, 1, 7, 2, 3, 1, 5]),
    (list(range(12)), [11 - i for i in range(12)]),
    ([1] * 20, [1] * 20),
    ([5, 5], [900, 80]),
]


@pytest.mark.parametrize(("a", "b"), SPARSE)
def test_null_inflation_is_the_mean_of_g_under_the_null(a, b):
    columns = np.add(a, b)
    rng = np.random.default_rng(5)
    draws = rng.multivariate_hypergeometric(columns, sum(a), size=20_000).astype(float)
    g = np.zeros(len(draws))
    for counts, total in ((draws, sum(a)), (columns - draws, sum(b))):
        expected = columns * total / columns.sum()
        g += 2 * (counts * np.log(np.where(counts > 0, counts, 1) / expected)).sum(axis=1)
    mean, error = g.mean(), g.std() / math.sqrt(g.size)
    dof = (columns > 0).sum() - 1
    row, dense = np.array(a, float), np.array(b, float)
    found = kernels.null_inflation(np.arange(row.size), row, row.sum(), dense, dense.sum(), dof)
    # Columns with more than 20 expected counts are taken as many, which leaves out about one percent.
    assert abs(found - max(mean / dof, 1.0)) < 4 * error / dof + 0.01
    assert found == pytest.approx(naive_states.inflation(a, b), rel=1e-9)


CALIBRATION = [(k, sizes) for k in (2, 4, 10, 26, 100, 300) for sizes in ((30, 100), (100, 100), (30, 3000))]


@pytest.mark.parametrize(("k", "sizes"), CALIBRATION)
def test_few_false_rejections_even_in_sparse_tables(k, sizes):
    rng = np.random.default_rng([k, *sizes])
    for p in (np.full(k, 1 / k), rng.dirichlet(np.ones(k))):
        a, b = (rng.multinomial(n, p, size=1500).astype(float) for n in sizes)
        for test in (matching.GTest(0.01), matching.ChiSquare(0.01)):
            rejected = np.mean([not test(u, v) for u, v in zip(a, b, strict=True)])
            assert rejected < 0.02, (test, p[:3])


def test_the_plain_test_is_off_where_the_corrected_one_is_not():
    rng = np.random.default_rng(0)
    a, b = rng.multinomial(100, np.full(50, 0.02), size=(2, 400)).astype(float)
    plain, corrected = matching.GTest(0.01, family_wise=False), matching.GTest(0.01)
    assert np.mean([not plain(u, v) for u, v in zip(a, b, strict=True)]) > 0.05
    assert np.mean([not corrected(u, v) for u, v in zip(a, b, strict=True)]) < 0.02


def test_differences_are_found():
    rng = np.random.default_rng(1)
    a, b = rng.multinomial(200, [0.5, 0.5], size=300), rng.multinomial(200, [0.75, 0.25], size=300)
    for test in (matching.GTest(0.01), matching.ChiSquare(0.01)):
        assert np.mean([test(u, v) for u, v in zip(a, b, strict=True)]) < 0.05


@pytest.mark.small
def test_family_wise_divides_the_level():
    assert matching.GTest(0.01).level(50) == pytest.approx(0.0002)
    assert matching.GTest(0.01).level(0) == 0.01
    assert matching.GTest(0.01, family_wise=False).level(50) == 0.01
    assert matching.ChiSquare(0.05).level(5) == pytest.approx(0.01)
    assert matching.GTest().checked
    assert not matching.GTest(family_wise=False).checked
    assert matching.Bhattacharyya(0.2).level(50) == -0.2


# ----------------------------------------------------------------------------------------------------- kernels


@pytest.mark.small
@pytest.mark.parametrize("metric", range(6))
@QUICK
@given(counts=two_counts(), checked=st.booleans())
def test_a_compressed_row_is_as_good_as_a_dense_one(metric, counts, checked):
    row, dense = (np.array(part, float) for part in counts)
    outcome = np.flatnonzero(row)
    support = int((dense > 0).sum())
    rest = row.sum(), dense, dense.sum(), support
    whole = kernels.similarity(metric, checked, 0.3, np.arange(row.size), row, *rest)
    compressed = kernels.similarity(metric, checked, 0.3, outcome, row[outcome], *rest)
    assert compressed == pytest.approx(whole, rel=1e-9, abs=1e-9)
    turned = kernels.similarity(
        metric, checked, 0.3, np.arange(row.size), dense, dense.sum(), row, row.sum(), int((row > 0).sum())
    )
    assert turned == pytest.approx(whole, rel=1e-9, abs=1e-9)


# ---------------------------------------------------------------------------------------------------- refusals


@pytest.mark.small
@pytest.mark.parametrize("alpha", [0.0, 1.0, -0.1, 2, math.nan, "0.05", None, True])
@pytest.mark.parametrize("kind", TESTS.values())
def test_wrong_alpha_is_refused(kind, alpha):
    message = rf"^The 'alpha' of {kind.__name__} is .*; it must be a number above 0 and below 1: try alpha=0.01\.$"
    with pytest.raises(ValueError, match=message):
        kind(alpha)([1, 2], [2, 1])


@pytest.mark.small
@pytest.mark.parametrize("threshold", [0.0, -1, math.nan, "0.05", None, 1.5, math.inf])
def test_wrong_threshold_is_refused(threshold):
    message = (
        r"^The 'threshold' of JensenShannon is .*; it must be a number above 0 and at most 1, the largest distance: "
        r"try threshold=0\.05\.$"
    )
    with pytest.raises(ValueError, match=message):
        matching.JensenShannon(threshold).level(1)


@pytest.mark.small
@pytest.mark.parametrize(
    ("a", "b", "message"),
    [
        ([1, 2], [1, 2, 3], r"one length. Got shapes \(2,\) and \(3,\): give the counts of the same outcomes"),
        ([[1, 2]], [[1, 2]], "two finite non-negative vectors"),
        ([1, -1], [1, 1], "two finite non-negative vectors"),
        ([1, math.nan], [1, 1], "two finite non-negative vectors"),
        ([0, 0], [1, 1], "are all zero; a distribution needs at least one count"),
        ([], [], "are all zero"),
    ],
)
def test_wrong_counts_are_refused(a, b, message):
    for measure in (matching.GTest(), matching.Variational()):
        with pytest.raises(ValueError, match=message):
            measure.similarity(a, b)
    with pytest.raises(ValueError, match=message):
        matching.ChiSquare().statistic(a, b)


@pytest.mark.small
def test_resolve():
    assert matching.resolve(None) == matching.GTest()
    assert matching.resolve("exact") == matching.Exact()
    given_match = matching.Bhattacharyya(0.1)
    assert matching.resolve(given_match) is given_match
    assert matching.resolve(max) is max


@pytest.mark.small
@pytest.mark.parametrize("match", ["chi", 0.05, matching.GTest])
def test_wrong_match_is_refused(match):
    with pytest.raises(ValueError, match=r"^The 'match' is .*; it must be None, 'exact', .*: choose one\.$"):
        matching.resolve(match)
