"""Step 5: closed forms against the search over all candidates, integrators, optimisers, and what is refused."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from scipy.sparse import csr_array

import decisional as ds
import naive_decisions as naive
from decisional import utility
from decisional._kernels import values as kernels
from decisional.decisions import decide as algorithm
from decisional.decisions import predictions as sets
from decisional.decisions import solving
from decisional.decisions.predictions import CellSet, Interval
from decisional.utility import Slack, solve

EXACT = Slack()
SMALL = st.integers(-3, 3)


@st.composite
def distributions(draw, outcomes=SMALL, max_states=3):
    """Outcomes and rational distributions over them, as dicts of fractions; ties are common."""
    z = draw(st.lists(outcomes, min_size=1, max_size=5, unique=True))
    rows = st.lists(st.integers(0, 4), min_size=len(z), max_size=len(z)).filter(any)
    counts = draw(st.lists(rows, min_size=1, max_size=max_states))
    return z, [{value: Fraction(c, sum(row)) for value, c in zip(z, row, strict=True)} for row in counts]


def as_rows(z, rows):
    return np.array([[float(row[value]) for value in z] for row in rows])


def grid(z, tau=0):
    """Candidates of all kinds: the bends of the expected utility, between them, beyond them, never observed ones."""
    bends = sorted({Fraction(v) + sign * Fraction(tau) for v in z for sign in (-1, 1)})
    between = [(a + b) / 2 for a, b in pairwise(bends)]
    return sorted({bends[0] - 1, *bends, *between, bends[-1] + 1, Fraction(1, 3)})


# ------------------------------------------------------------------------------------------- closed forms


@pytest.mark.small
@given(distributions(st.one_of(st.integers(-3, 3), st.sampled_from("abc"))))
@settings(deadline=None)
def test_modes(case):
    z, rows = case
    found = solve(as_rows(z, rows), z, utility.zero_one(), EXACT)
    unseen = [*z, "never", 99]
    listed = solve(as_rows(z, rows), z, utility.zero_one(unseen), EXACT)
    for k, row in enumerate(rows):
        best, value = naive.best(row, naive.zero_one, unseen)
        assert found.predictions[k] == listed.predictions[k] == best
        assert found.utility[k] == pytest.approx(float(value), abs=1e-12)
        assert found.predictions.choice()[k] in best
    assert listed.utility == pytest.approx(found.utility)


@pytest.mark.small
@given(distributions())
@settings(deadline=None)
def test_mean(case):
    z, rows = case
    found = solve(as_rows(z, rows), z, utility.squared_error(), EXACT)
    for k, row in enumerate(rows):
        mean = sum(mass * value for value, mass in row.items())
        candidates = {mean, *grid(z)}
        assert naive.best(row, naive.squared_error, candidates) == (
            {mean},
            naive.expected(row, naive.squared_error, mean),
        )
        assert found.predictions[k] == pytest.approx((float(mean), float(mean)), abs=1e-12)
        assert found.utility[k] == pytest.approx(float(naive.best(row, naive.squared_error, candidates)[1]), abs=1e-12)
        listed = solve(as_rows(z, [row]), z, utility.squared_error([float(y) for y in sorted(candidates)]), EXACT)
        assert listed.predictions[0] == {float(mean)}


@given(distributions(st.tuples(st.integers(-2, 2), st.integers(-2, 2))))
@settings(deadline=None)
def test_mean_of_vectors(case):
    z, rows = case
    found = solve(as_rows(z, rows), z, utility.squared_error(), EXACT)
    for k, row in enumerate(rows):
        mean = tuple(sum(mass * value[i] for value, mass in row.items()) for i in range(2))
        best, value = naive.best(row, naive.squared_error, [*z, mean])
        assert best == {mean}
        assert np.array(found.predictions[k]) == pytest.approx(np.array([mean], float), abs=1e-12)
        assert found.utility[k] == pytest.approx(float(value), abs=1e-12)


@pytest.mark.small
@given(distributions(), st.sampled_from([Fraction(0), Fraction(1, 2), Fraction(1), Fraction(5, 4), Fraction(10)]))
@settings(deadline=None)
def test_intervals(case, tau):
    z, rows = case
    kind = utility.absolute_error() if tau == 0 else utility.tolerant(float(tau))
    found = solve(as_rows(z, rows), z, kind, EXACT)
    candidates = grid(z, tau)
    listed = solve(as_rows(z, rows), z, utility.tolerant(float(tau), [float(y) for y in candidates]), EXACT)
    for k, row in enumerate(rows):
        best, value = naive.best(row, naive.tolerant(tau), candidates)
        assert found.utility[k] == pytest.approx(float(value), abs=1e-12)
        inside = found.predictions[k]
        assert {y for y in candidates if float(y) in inside} == best
        assert inside == pytest.approx((float(min(best)), float(max(best))), abs=1e-12)
        assert listed.predictions[k] == {float(y) for y in best}
        assert found.predictions.choice()[k] in inside


@pytest.mark.small
@given(distributions(st.tuples(*[st.sampled_from((0, 1, 5))] * 3)))
@settings(deadline=None)
def test_products_of_majorities(case):
    z, rows = case
    found = solve(as_rows(z, rows), z, utility.matching_cells(), EXACT)
    words = naive.all_words(z)
    listed = solve(as_rows(z, rows), z, utility.matching_cells(words), EXACT)
    for k, row in enumerate(rows):
        best, value = naive.best(row, naive.matching_cells, words)
        assert found.utility[k] == pytest.approx(float(value), abs=1e-12)
        assert {y for y in words if y in found.predictions[k]} == best
        assert set(found.predictions[k]) == best == listed.predictions[k] == found.predictions[k]
        assert len(found.predictions[k]) == len(best)
        assert found.predictions.choice()[k] in best


COSTS = st.sampled_from([Fraction(1), Fraction(3), Fraction(1, 2), Fraction(7, 3)])


@pytest.mark.small
@given(distributions(), COSTS, COSTS)
@settings(deadline=None)
def test_quantiles(case, shortage, surplus):
    z, rows = case
    worth = utility.newsvendor(float(shortage), float(surplus))
    found = solve(as_rows(z, rows), z, worth, EXACT)
    candidates = grid(z)
    listed = solve(
        as_rows(z, rows), z, utility.newsvendor(float(shortage), float(surplus), map(float, candidates)), EXACT
    )
    for k, row in enumerate(rows):
        best, value = naive.best(row, naive.newsvendor(shortage, surplus), candidates)
        assert found.utility[k] == pytest.approx(float(value), abs=1e-12)
        assert found.predictions[k] == pytest.approx((float(min(best)), float(max(best))), abs=1e-12)
        assert listed.predictions[k] == {float(y) for y in best}
        assert found.predictions.choice()[k] in found.predictions[k]


@pytest.mark.small
@given(st.integers(0, 10**6), st.sampled_from([0.0, 2.0]))
@settings(deadline=None)
def test_a_newsvendor_of_equal_costs_has_the_absolute_error(seed, level):
    p, _, n = random_case(seed)
    z = list(range(p.shape[1]))
    slack = Slack(1e-9, n, p.mean(axis=0), level)
    found, wanted = (solve(p, z, u, slack) for u in (utility.newsvendor(1, 1), utility.absolute_error()))
    assert list(found.predictions) == list(wanted.predictions)
    assert found.utility == pytest.approx(wanted.utility, abs=1e-12)
    assert found.error == pytest.approx(wanted.error, abs=1e-12)


@pytest.mark.small
@given(distributions(), st.sampled_from([Fraction(1, 2), Fraction(4, 5), Fraction(9, 10)]))
@settings(deadline=None)
def test_central_intervals(case, coverage):
    z, rows = case
    found = solve(as_rows(z, rows), z, utility.interval_score(float(coverage)), EXACT)
    candidates = [(low, high) for low in grid(z) for high in grid(z) if low <= high]
    for k, row in enumerate(rows):
        best, value = naive.best(row, naive.interval_score(coverage), candidates)
        assert found.utility[k] == pytest.approx(float(value), abs=1e-12)
        (chosen,) = found.predictions[k]
        assert found.predictions.choice()[k] == chosen
        assert -utility.interval_score(float(coverage)).matrix([chosen], z)[0] @ as_rows(z, [row])[0] == pytest.approx(
            -float(value), abs=1e-12
        )
        assert min(y for y, _ in best) <= chosen[0] <= max(y for y, _ in best)
        assert min(y for _, y in best) <= chosen[1] <= max(y for _, y in best)


@pytest.mark.small
@given(distributions(), st.sampled_from([-1, 0, 2]), COSTS, COSTS, st.booleans())
@settings(deadline=None)
def test_alarms(case, threshold, missed, false, below):
    z, rows = case
    found = solve(as_rows(z, rows), z, utility.alarm(threshold, float(missed), float(false), below), EXACT)
    for k, row in enumerate(rows):
        best, value = naive.best(row, naive.alarm(threshold, missed, false, below), ["quiet", "alarm"])
        assert found.predictions[k] == best
        assert found.utility[k] == pytest.approx(float(value), abs=1e-12)
    renamed = utility.alarm(threshold, float(missed), float(false), below, y=(False, True))
    assert solve(as_rows(z, rows), z, renamed, EXACT).predictions.choice() == [
        y == "alarm" for y in found.predictions.choice()
    ]


def test_the_spread_of_an_interval_is_that_of_quantiles():
    """Standard errors of the ends against those of many samples."""
    rng = np.random.default_rng(11)
    z = np.linspace(-4.0, 4.0, 401)
    p = np.exp(-0.5 * z**2)
    p, n = p / p.sum(), 400
    draws = rng.multinomial(n, p, 500) / n
    found = solve(draws, z.tolist(), utility.interval_score(0.8), Slack(1e-9, np.full(500, float(n)), p, 2.0))
    ends, spread = found.predictions.coordinates()
    assert spread[:, :2].mean(axis=0) == pytest.approx(ends[:, :2].std(axis=0), rel=0.15)
    assert found.error.mean() == pytest.approx(found.utility.std(), rel=0.15)


@pytest.mark.parametrize("offset", [0.0, 1e3, 1e6])
def test_sampling_errors_do_not_cancel(offset):
    """Where every outcome costs the same, however much, the error is 0, up to rounding of the cost itself."""
    z, p, n = [-1e3, 1e3], np.full((2, 2), 0.5), np.full(2, 100.0)
    slack = Slack(1e-9, n, p[0], 2.0)
    for worth in (
        utility.squared_error(),
        utility.tolerant(1.0),
        utility.newsvendor(1, 1),
        utility.interval_score(0.5),
    ):
        found = solve(p, [value + offset for value in z], worth, slack)
        assert (np.abs(found.utility) > 100).all()
        assert found.error == pytest.approx(0.0, abs=1e-9)
    vectors = solve(p, [(value + offset, 0.0) for value in z], utility.squared_error(), slack)
    assert vectors.error == pytest.approx(0.0, abs=1e-9)
    cells = solve(p, [(0, 1), (1, 1)], utility.matching_cells(), slack)
    assert cells.error == pytest.approx(0.05, abs=1e-12)
    wide = solving.solve(
        p, [value + offset for value in z], utility.squared_error(), slack, optimise=lambda v, z: offset
    )
    assert wide.error == pytest.approx(0.0, abs=1e-9)


def test_cells_of_text_and_of_single_values():
    text = solve(np.array([[0.5, 0.5, 0.0]]), ["01", "11", "00"], utility.matching_cells(), EXACT)
    assert set(text.predictions[0]) == {"01", "11"}
    assert text.predictions.choice()[0] in {"01", "11"}
    assert "01" in text.predictions[0]
    assert "00" not in text.predictions[0]
    assert repr(text.predictions[0]) == "{0, 1} × {1}"
    single = solve(np.array([[0.5, 0.5, 0.0]]), [3, 4, 5], utility.matching_cells(), EXACT)
    assert set(single.predictions[0]) == {3, 4}
    words = solve(np.array([[0.5, 0.5]]), ["rain", "sun"], utility.matching_cells(), EXACT)
    assert set(words.predictions[0]) == {"rain", "sun"}
    assert hash(CellSet([frozenset({1})])) == hash(CellSet([frozenset({1})]))
    assert (0, 1) not in CellSet([frozenset({0})])


def test_many_cells_are_never_written_out():
    rng = np.random.default_rng(0)
    z = [tuple(row) for row in rng.integers(0, 2, (50, 60)).tolist()]
    found = solve(np.full((1, 50), 0.02), z, utility.matching_cells(), EXACT)
    share = np.array(z).mean(axis=0)
    assert found.utility[0] == pytest.approx(np.maximum(share, 1 - share).sum())
    assert len(found.predictions[0]) == 2 ** int((share == 0.5).sum())


def test_intervals_know_what_they_contain():
    half = Interval(0.0, 0.5)
    assert 0.25 in half
    assert np.float64(0.5) in half
    assert 0.6 not in half
    assert "0.2" not in half
    assert repr(half) == "[0, 0.5]"
    assert repr(Interval(1.0, 1.0)) == "{1}"


# --------------------------------------------------------------------------------- candidates and sampling error


def random_case(seed, n_y=None):
    rng = np.random.default_rng(seed)
    K, n_z = rng.integers(1, 6), rng.integers(1, 6)
    n_y = rng.integers(1, 6) if n_y is None else n_y
    counts = rng.integers(0, 12, (K, n_z)) + (np.arange(n_z) == 0)
    n = counts.sum(axis=1).astype(float)
    u = rng.integers(-3, 4, (n_y, n_z)).astype(float)
    return counts / n[:, None], u, n


@pytest.mark.small
@given(st.integers(0, 10**6), st.sampled_from([0.0, 1.0, 2.6]))
@settings(deadline=None)
def test_candidates_against_the_naive_twin(seed, level):
    p, u, n = random_case(seed)
    K, n_z = p.shape
    prior = p.mean(axis=0)
    candidates, z = list(range(len(u))), list(range(n_z))
    found = sets.exhaustive(p, u, candidates, Slack(1e-9, n, prior, level))
    for k in range(K):
        row, before = dict(enumerate(p[k])), dict(enumerate(prior))
        best, value, error = naive.best_from_data(row, lambda y, z: u[y, z], candidates, n[k], before, level)
        assert found.predictions[k] == best
        assert found.utility[k] == pytest.approx(value)
        assert found.error[k] == pytest.approx(error, abs=1e-9)
    assert z == list(range(n_z))


@given(st.integers(0, 10**6))
@settings(deadline=None)
def test_closed_forms_with_sampling_error_are_the_search(seed):
    p, _, n = random_case(seed)
    z = list(range(p.shape[1]))
    slack = Slack(1e-9, n, p.mean(axis=0), 2.0)
    closed, listed = (solve(p, z, utility.zero_one(y), slack) for y in (None, z))
    assert list(closed.predictions) == list(listed.predictions)
    assert closed.error == pytest.approx(listed.error, abs=1e-9)
    mean, near = (
        solve(p, z, utility.squared_error(), slack),
        solve(p, z, utility.squared_error(np.append(z, p @ z)), slack),
    )
    for k, y in enumerate(p @ z):
        assert y in near.predictions[k]
    assert mean.utility == pytest.approx(near.utility)
    pairs = solve(p, [(value, 0) for value in z], utility.squared_error(), slack)
    assert pairs.utility == pytest.approx(mean.utility, abs=1e-9)
    assert pairs.error == pytest.approx(mean.error, abs=1e-6)
    spread, expected = (found.predictions.coordinates()[1][:, 0] for found in (pairs, mean))
    assert spread == pytest.approx(expected, abs=1e-6)


def test_offsets_do_not_hide_the_sampling_error():
    """U + f(z) has the same differences: neither a large offset nor a forbidding entry changes Y."""
    rng = np.random.default_rng(4)
    p, n = rng.dirichlet(np.ones(4), 30), np.full(30, 50.0)
    u = rng.integers(0, 5, (5, 4)).astype(float)
    slack = Slack(1e-9, n, p.mean(axis=0), 2.5)
    base = sets.exhaustive(p, u, range(5), slack).predictions
    moved = sets.exhaustive(
        p, u + np.array([1e7, -1e7, 0, 3e6]), range(5), Slack(1e-7, n, p.mean(axis=0), 2.5)
    ).predictions
    assert list(base) == list(moved)
    forbidden = np.vstack([u, np.full(4, -1e12)])
    assert list(sets.exhaustive(p, forbidden, range(6), slack).predictions) == list(base)


@given(st.integers(0, 10**6))
@settings(deadline=None)
def test_dominated(seed):
    rng = np.random.default_rng(seed)
    u = rng.integers(0, 3, (rng.integers(1, 8), rng.integers(1, 4))).astype(float)
    asked = rng.random(len(u)) < 0.8
    rows = range(len(u))
    wanted = [asked[i] and any((u[j] >= u[i]).all() and (u[j] > u[i]).any() for j in rows) for i in rows]
    out = np.zeros(len(u), bool)
    kernels.dominated(u, rng.integers(0, u.shape[1], len(u)), 1e-9, asked, out)
    assert out.tolist() == wanted


def test_blocks_are_joined(monkeypatch):
    rng = np.random.default_rng(1)
    p = rng.dirichlet(np.ones(5), 23)
    z = [-1.0, 0.0, 0.5, 2.0, 3.0]
    cells = [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0)]
    kinds = [
        (utility.zero_one(), z),
        (utility.zero_one(range(50)), z),
        (utility.squared_error(), z),
        (utility.squared_error(), cells),
        (utility.tolerant(0.3), z),
        (utility.matching_cells(), cells),
    ]
    slack = Slack(1e-9, np.arange(10.0, 33.0), p.mean(axis=0), 2.0)
    whole = [solve(p, names, kind, slack) for kind, names in kinds]
    monkeypatch.setattr(solving, "BLOCK", 10)
    for (kind, names), one in zip(kinds, whole, strict=True):
        for rows in (p, csr_array(p)):
            parts = solve(rows, names, kind, slack)
            assert parts.utility == pytest.approx(one.utility)
            assert parts.error == pytest.approx(one.error)
            assert len(parts.predictions) == 23
            if isinstance(one.predictions, sets.NumericSets):
                assert parts.predictions.coordinates()[0] == pytest.approx(one.predictions.coordinates()[0])
                assert np.array(parts.predictions.choice()) == pytest.approx(np.array(one.predictions.choice()))
            else:
                assert list(parts.predictions) == list(one.predictions)
                assert parts.predictions.choice() == one.predictions.choice()


# ------------------------------------------------------------------------------------------------- integrators


def test_exhaustive_integration_is_a_product():
    rng = np.random.default_rng(2)
    p, u = rng.dirichlet(np.ones(4), 6), rng.normal(size=(3, 4))
    table = utility.table(u)
    plain = solve(p, "abcd", table, EXACT)
    assert plain.utility == pytest.approx((p @ u.T).max(axis=1))
    given_ = solve(p, "abcd", table, EXACT, integrate=lambda q, v: q @ v.T)
    assert list(given_.predictions) == list(plain.predictions)
    assert given_.utility == pytest.approx(plain.utility)


def test_monte_carlo_converges_and_is_seeded():
    rng = np.random.default_rng(3)
    p, u = rng.dirichlet(np.ones(4), 5), rng.normal(size=(3, 4))
    error = [np.abs(utility.MonteCarlo(n, 1)(p, u) - p @ u.T).max() for n in (100, 10_000, 1_000_000)]
    assert error[0] > error[1] > error[2]
    assert error[2] < 0.01
    assert np.array_equal(utility.MonteCarlo(50, 7)(p, u), utility.MonteCarlo(50, 7)(p, u))
    assert not np.array_equal(utility.MonteCarlo(50, 7)(p, u), utility.MonteCarlo(50, 8)(p, u))
    found = solve(p, "abcd", utility.table(u), EXACT, integrate=utility.MonteCarlo(100_000, 0))
    assert found.utility == pytest.approx((p @ u.T).max(axis=1), abs=0.05)


def test_draws_add_to_the_sampling_error():
    p, z, n = np.array([[0.5, 0.5]]), [0, 1], np.array([400.0])
    slack = Slack(1e-9, n, p[0], 2.5)
    table = utility.table(np.eye(2))
    plain = solve(p, z, table, slack)
    for seed in range(20):
        found = solve(p, z, table, slack, integrate=utility.MonteCarlo(400, seed))
        assert found.predictions[0] == {0, 1}
        assert found.error[0] == pytest.approx(np.sqrt(2) * plain.error[0], rel=0.01)
    same = solve(p, z, table, slack, integrate=lambda q, u: q @ u.T)
    assert same.error == pytest.approx(plain.error)
    assert list(same.predictions) == list(plain.predictions)


def test_sample_points_integrate_densities_on_irregular_grids():
    rng = np.random.default_rng(5)
    edges = np.sort(np.concatenate([[0.0, 1.0], rng.random(4000)]))
    z, volume = (edges[1:] + edges[:-1]) / 2, np.diff(edges)
    density = 2 * z  # On [0, 1]: mean 2/3, mean of z² 1/2.
    y = np.linspace(0, 1, 31)
    exact = -(1 / 2 - 2 * y * 2 / 3 + y**2)
    u = -((y[:, None] - z) ** 2)
    assert utility.SamplePoints(volume)(density[None], u)[0] == pytest.approx(exact, abs=1e-4)
    # Without volumes the grid is taken for the measure.
    assert np.abs(utility.SamplePoints()(density[None], u)[0] - exact).max() < 0.02
    kind = utility.squared_error(y)
    found = solve(density[None], z.tolist(), kind, EXACT, integrate=utility.SamplePoints(volume))
    assert found.predictions[0] == {y[20]}
    assert found.utility[0] == pytest.approx(-1 / 18, abs=1e-4)


def test_integrators_that_are_refused():
    p, z, table = np.array([[0.5, 0.5]]), [0, 1], utility.table([[1, 0], [0, 1]])
    with pytest.raises(ValueError, match=r"'integrate' callable gave shape \(2,\).*must give finite.*\(1, 2\)"):
        solve(p, z, table, EXACT, integrate=lambda q, v: np.zeros(2))
    with pytest.raises(ValueError, match="'integrate' callable"):
        solve(p, z, table, EXACT, integrate=lambda q, v: np.full((1, 2), np.nan))
    with pytest.raises(ValueError, match="'integrate' callable"):
        solve(p, z, utility.squared_error(), EXACT, lambda q, v: np.zeros(3), utility.GlobalMaxima())
    with pytest.raises(ValueError, match="'n' of MonteCarlo is 0; it must be an integer from 1 to"):
        solve(p, z, table, EXACT, integrate=utility.MonteCarlo(0))
    for volume in ([1.0], [1.0, 0.0], [1.0, np.nan]):
        with pytest.raises(ValueError, match=r"'volume' of SamplePoints.*must be 2 positive numbers"):
            solve(p, z, table, EXACT, integrate=utility.SamplePoints(volume))


# -------------------------------------------------------------------------------------------------- optimisers


def bump(y, z):
    return np.exp(-0.5 * ((y - z) / 0.2) ** 2)


def peaks(z, *centres, heights=(1.0, 1.0)):
    p = sum(h * np.exp(-0.5 * ((z - c) / 0.4) ** 2) for c, h in zip(centres, heights, strict=False))
    return p / p.sum()


def test_all_global_maxima_are_found():
    z = np.linspace(-4, 4, 161)
    p = np.array([peaks(z, -2, 2), peaks(z, -2, 2, heights=(1.0, 1.05)), peaks(z, 1), peaks(z, 2, -2)])
    found = algorithm.decide(p, z.tolist(), np.full(4, 0.25), bump, optimise=utility.GlobalMaxima())
    assert found.predictions[0] == pytest.approx((-2, 2), abs=1e-3)
    assert found.predictions[1] == pytest.approx((2,), abs=1e-3)
    assert found.predictions[2] == pytest.approx((1,), abs=1e-3)
    assert found.iso_prediction.labels.tolist() == [0, 1, 2, 0]
    assert found.states.labels.tolist() == [0, 1, 2, 0]
    candidates = np.linspace(-4, 4, 1601)
    best = (p @ bump(candidates[:, None], z).T).max(axis=1)
    assert found.utility == pytest.approx(best, abs=1e-6)


def test_the_same_peak_of_different_distributions_is_the_same_prediction():
    """A search is precise to some digits: what it finds is compared as precisely."""
    z = np.linspace(-4, 4, 161)
    p = np.array([peaks(z, 0.3), peaks(z, 0.3) * np.exp(-((z - 0.3) ** 2)), peaks(z, 0.4)])
    p /= p.sum(axis=1, keepdims=True)
    how = {"optimise": utility.GlobalMaxima()}
    found = algorithm.decide(p, z.tolist(), np.array([0.5, 0.3, 0.2]), bump, **how)
    assert len(set(found.predictions)) == 3
    assert found.iso_prediction.labels.tolist() == [0, 0, 1]
    assert found.iso_utility.labels.tolist() == [0, 1, 0]
    sampled = algorithm.decide(p, z.tolist(), np.array([0.5, 0.3, 0.2]), bump, n=np.full(3, 1e4), **how)
    assert sampled.iso_prediction.labels.tolist() == [0, 0, 1]


@pytest.mark.parametrize("width", [0.003, 0.01, 0.03, 0.1, 0.5])
@pytest.mark.parametrize("m", [1, 2, 5, 11, 21])
@pytest.mark.parametrize("even", [True, False])
def test_narrow_peaks(width, m, even):
    """All maxima, by trying half a million predictions; p is the same for all outcomes, or random."""
    rng = np.random.default_rng(m)
    z = np.sort(rng.random(m))
    p = np.full(m, 1.0 / m) if even else rng.dirichlet(np.ones(m))
    grid = np.linspace(0.0, 1.0, 500_001)
    value = sum(q * np.exp(-0.5 * ((grid - c) / width) ** 2) for c, q in zip(z, p, strict=True))
    padded = np.concatenate([[-1.0], value, [-1.0]])
    peak = (value > padded[:-2]) & (value >= padded[2:]) & (value >= value.max() - 1e-6 * np.ptp(value))
    found = solve(
        p[None],
        z.tolist(),
        lambda y, z: np.exp(-0.5 * ((y - z) / width) ** 2),
        EXACT,
        optimise=utility.GlobalMaxima(bounds=[(0, 1)]),
    )
    assert found.predictions[0] == pytest.approx(tuple(grid[peak]), abs=2e-4)
    assert found.utility[0] == pytest.approx(value.max(), abs=1e-6)


def test_peaks_too_narrow_to_be_sure_are_warned_of():
    def narrow(y, z):
        return np.exp(-0.5 * ((y - z) / 1e-6) ** 2)

    with pytest.warns(UserWarning, match=r"peaks narrower than .*, so that 'optimise' may have missed others"):
        found = solve(np.array([[0.4, 0.6]]), [0.1, 0.9], narrow, EXACT, optimise=utility.GlobalMaxima())
    assert found.predictions[0] == pytest.approx((0.9,), abs=1e-6)
    with pytest.raises(ValueError, match="the expected utility is flat there"):
        solve(np.array([[0.4, 0.6]]), [0.1, 0.9], lambda y, z: 0.0 * (y + z), EXACT, optimise=utility.GlobalMaxima())

    def spike(y, z):
        return np.exp(-((y - z) ** 2).sum(axis=-1) / 1e-8)

    corners = [(0.0, 0.0), (1.0, 0.3), (0.2, 1.0)]
    with pytest.warns(UserWarning, match="found from outcomes only"):
        found = solve(np.array([[0.2, 0.5, 0.3]]), corners, spike, EXACT, optimise=utility.GlobalMaxima())
    assert np.array(found.predictions[0]) == pytest.approx(np.array([[1.0, 0.3]]), abs=1e-6)


def test_maxima_in_two_dimensions():
    axis = np.linspace(-3, 3, 21)
    z = [(a, b) for a in axis.tolist() for b in axis.tolist()]
    points = np.array(z)

    def cloud(*centres):
        p = sum(np.exp(-((points - c) ** 2).sum(axis=1) / 0.5) for c in centres)
        return p / p.sum()

    def near(y, z):
        return np.exp(-((y - z) ** 2).sum(axis=-1) / 0.3)

    p = np.array([cloud([1.5, 1.5], [-1.5, -0.9]), cloud([0.6, -1.2])])
    found = solve(p, z, near, EXACT, optimise=utility.GlobalMaxima())
    assert np.array(found.predictions[0]) == pytest.approx(np.array([[-1.5, -0.9], [1.5, 1.5]]), abs=1e-3)
    assert np.array(found.predictions[1]) == pytest.approx(np.array([[0.6, -1.2]]), abs=1e-3)
    mean = solve(p, z, utility.squared_error(), EXACT, optimise=utility.GlobalMaxima())
    assert np.array([y[0] for y in mean.predictions]) == pytest.approx(p @ points, abs=1e-3)


def test_an_optimiser_of_the_user():
    def search(value, outcomes):
        bounds = (min(outcomes), max(outcomes))
        return minimize_scalar(lambda y: -value(np.array([y]))[0], bounds=bounds, method="bounded").x

    p, z = np.array([[0.2, 0.3, 0.5], [0.5, 0.25, 0.25]]), [0.0, 1.0, 4.0]
    found = algorithm.decide(
        p, z, np.array([0.6, 0.4]), utility.squared_error(), optimise=search, n=np.array([60.0, 40.0])
    )
    closed = algorithm.decide(p, z, np.array([0.6, 0.4]), utility.squared_error(), n=np.array([60.0, 40.0]))
    assert [y[0] for y in found.predictions] == pytest.approx((p @ z).tolist(), abs=1e-4)
    assert found.utility == pytest.approx(closed.utility, abs=1e-6)
    unsorted = solve(p, z, bump, EXACT, optimise=lambda value, outcomes: [4.0, 0.0, 4.0])
    assert unsorted.predictions[0] == (0.0, 4.0)
    text = algorithm.decide(
        p, list("abc"), np.array([0.6, 0.4]), lambda y, z: y + 0.0 * (z == "a"), optimise=lambda *_: [1.0]
    )
    assert text.iso_prediction.n_states == 1


def test_a_range_without_width_has_one_prediction():
    found = solve(np.array([[1.0]]), [3.0], utility.squared_error(), EXACT, optimise=utility.GlobalMaxima())
    assert found.predictions[0] == (3.0,)


def test_optimisers_that_are_refused():
    p, z = np.array([[0.5, 0.5]]), [0.0, 1.0]
    for answer in ([], np.nan, [[[1.0]]]):
        with pytest.raises(ValueError, match=r"'optimise' callable gave.*at least one finite prediction: return"):
            solve(p, z, bump, EXACT, optimise=lambda value, outcomes, answer=answer: answer)
    with pytest.raises(ValueError, match=r"'bounds' of GlobalMaxima are \[\(1, 0\)\]; there must be low < high"):
        solve(p, z, bump, EXACT, optimise=utility.GlobalMaxima(bounds=[(1, 0)]))
    with pytest.raises(ValueError, match="outcomes of GlobalMaxima are like 'a'"):
        solve(p, list("ab"), bump, EXACT, optimise=utility.GlobalMaxima())


# ---------------------------------------------------------------------------------------- tables and callables


def test_tables_find_their_columns_by_name():
    bet = utility.table([[0, 0, 7], [-3, 1, 8]], y=["stay", "go"], z=["rain", "sun", "snow"])
    found = solve(np.array([[0.9, 0.1], [0.1, 0.9]]), ["sun", "rain"], bet, EXACT)
    assert list(found.predictions) == [{"go"}, {"stay"}]
    assert found.utility == pytest.approx([0.6, 0.0])
    digits = utility.table([[1, 0], [0, 1]], z=["0", "1"])
    assert digits.matrix(["1"], [1, 0]).tolist() == [[1.0, 0.0]]
    assert utility.table([[1, 2], [3, 4]]).matrix([5], [4, 5]).tolist() == [[3.0, 4.0]]
    assert utility.table([[1, 2]]).bound("ab").y == [0]
    assert utility.loss([[1, 2]], y="a", z="bc").matrix("a", "cb").tolist() == [[-2.0, -1.0]]


def test_callables_and_losses():
    z = [0, 1, 3]
    p = np.array([[0.2, 0.3, 0.5]])
    asked = utility.as_utility(lambda y, z: -np.abs(y - z), y=[0, 1, 2, 3])
    minus = utility.loss(lambda y, z: np.abs(y - z), y=[0, 1, 2, 3])
    assert asked.matrix([2], z).tolist() == minus.matrix([2], z).tolist() == [[-2.0, -1.0, -1.0]]
    assert list(solve(p, z, asked, EXACT).predictions) == [{1, 2, 3}]
    assert utility.as_utility(asked) is asked
    words = utility.as_utility(lambda y, z: (y == z).astype(float))
    assert words.matrix(["a"], ["b", "a"]).tolist() == [[0.0, 1.0]]
    assert words.matrix(["a"], ["b", 3, (1, 2)]).tolist() == [[0.0, 0.0, 0.0]]
    pairs = utility.as_utility(lambda y, z: (y == z).sum(axis=-1))
    assert pairs.matrix([(0, 1)], [(0, 0), (1, 1), (0, 1)]).tolist() == [[1.0, 1.0, 2.0]]


def one_sentence(text, *parts):
    """Parameter, value, rule and remedy in one sentence."""
    assert all(part in text for part in parts), text
    assert text.endswith(".")
    assert ": " in text or " instead." in text


@pytest.mark.parametrize(
    ("make", "parts"),
    [
        (lambda: utility.table([[1, 2], [3]]), ("'matrix'", "[[1, 2], [3]]", "rows of one length")),
        (lambda: utility.table([1, 2]), ("'matrix'", "(2,)", "row for each prediction")),
        (lambda: utility.table([[]]), ("'matrix'", "(1, 0)")),
        (lambda: utility.table([["a"]]), ("'matrix'", "table of numbers")),
        (lambda: utility.table([[1, 2], [3, np.nan]]), ("'matrix'", "nan in row 1, column 1", "finite")),
        (lambda: utility.loss([[np.inf]]), ("'matrix'", "inf", "finite")),
        (lambda: utility.table([[1, 2]], z=[0, 0]), ("'z'", "0, 0", "2 different ones", "column")),
        (lambda: utility.table([[1, 2]], y=["a", "b"]), ("'y'", "2 values", "1 different", "row")),
        (lambda: utility.tolerant(-1), ("'tau'", "-1", "at least 0")),
        (lambda: utility.tolerant("1"), ("'tau'", "'1'", "number")),
        (lambda: utility.tolerant(True), ("'tau'", "True")),
        (lambda: utility.tolerant(np.nan), ("'tau'", "nan")),
        (lambda: utility.newsvendor(0, 1), ("'shortage' of newsvendor", "0", "above 0")),
        (lambda: utility.newsvendor(1, -1), ("'surplus' of newsvendor", "-1", "above 0")),
        (lambda: utility.interval_score(90), ("'coverage'", "90", "below 1", "0.9")),
        (lambda: utility.interval_score(0.9, [(2, 1)]).matrix([(2, 1)], [0]), ("'y'", "(2, 1)", "low <= high")),
        (lambda: utility.interval_score(0.9).matrix([1.0], [0]), ("'y'", "1.0", "pairs")),
        (lambda: utility.alarm(np.nan, 1, 1), ("'threshold'", "nan", "number")),
        (lambda: utility.alarm(0, 0, 1), ("'missed'", "0", "above 0")),
        (lambda: utility.alarm(0, 1, 1, "yes"), ("'below'", "'yes'", "True")),
        (lambda: utility.alarm(0, 1, 1, y=["a"]), ("'y'", "['a']", "two different")),
        (lambda: utility.zero_one([]), ("'y'", "empty", "give candidates")),
        (lambda: utility.table([[1, 2, 3]]).bound([0, 1]), ("'matrix'", "3 columns", "2 outcomes (0, 1)", "z=[...]")),
        (lambda: utility.table([[1, 2]], z=[0, 1]).matrix([0], [2]), ("'z'", "0, 1", "2 is asked for", "add it")),
        (
            lambda: utility.as_utility(lambda y, z: y).matrix([1, 2], [0, 1, 2]),
            ("'utility'", "(2, 1)", "broadcast to (2, 3)"),
        ),
        (
            lambda: utility.as_utility(lambda y, z: 1 / 0).matrix([1], [0]),
            ("'utility'", "ZeroDivisionError", "elementwise"),
        ),
        (lambda: utility.as_utility(lambda y, z: np.log(-1.0 + 0 * (y + z))), ()),
        (
            lambda: utility.squared_error().best(np.eye(2), ["a", "b"], EXACT),
            ("squared_error", "'a'", "numbers", "table"),
        ),
        (lambda: utility.absolute_error().best(np.eye(1), [(1, 2)], EXACT), ("tolerant", "(1, 2)", "numbers")),
        (
            lambda: utility.matching_cells().best(np.eye(2), [(1,), (1, 2)], EXACT),
            ("matching_cells", "(1,)", "one length"),
        ),
        (lambda: utility.matching_cells([(1, 2)]).matrix([(1, 2)], [(1,)]), ("'y'", "2 cells", "1", "same")),
    ],
)
def test_refused_in_one_sentence(make, parts):
    if not parts:
        with np.errstate(invalid="ignore"), pytest.raises(ValueError, match="is nan; every utility must be a finite"):
            make().matrix([1], [0])
        return
    with pytest.raises(ValueError, match=r".") as caught:
        make()
    one_sentence(str(caught.value), *parts)


# --------------------------------------------------------------------------------------------------- comparing


def test_equivalent_utilities():
    for causal in (ds.processes.even(), ds.CausalStates().fit(ds.observe.series("0110111101101111" * 50, past=3))):
        u = np.array([[0.0, 0.0], [-3.0, 1.0]])
        z = list(causal.alphabet if hasattr(causal, "alphabet") else causal.outcomes_)
        bet, twice, moved = (utility.table(v, z=z) for v in (u, 2 * u + 1, u + np.array([5.0, -2.0])))
        assert utility.same_predictions(bet, twice, causal)
        assert utility.same_predictions(bet, moved, causal)
        assert not utility.same_values(bet, twice, causal)
        assert not utility.equivalent(bet, twice, causal)
        eye = utility.table(np.eye(2), z=z)
        for same in (utility.zero_one(), utility.zero_one(z), utility.matching_cells()):
            assert utility.equivalent(eye, same, causal)
            assert utility.equivalent(same, eye, causal)
        assert not utility.same_predictions(bet, utility.table(u[::-1], z=z), causal)
        assert utility.same_values(bet, utility.table(u[::-1], z=z), causal)
        assert not utility.equivalent(bet, utility.table(u[::-1], z=z), causal)


def test_sets_of_numbers_are_compared_as_sets():
    half = ds.EpsilonMachine([("A", 0, "A", 0.5), ("A", 1, "A", 0.5)])
    assert utility.same_predictions(utility.squared_error(), utility.squared_error([0.5, 1.0]), half)
    assert utility.equivalent(utility.absolute_error(), utility.tolerant(0), half)
    assert not utility.same_predictions(utility.absolute_error(), utility.absolute_error([0, 1]), half)
    assert not utility.same_predictions(utility.squared_error(), utility.absolute_error(), half)
    assert not utility.same_predictions(utility.squared_error(), utility.zero_one(), half)
    pairs = ds.CausalStates().fit([[0]] * 4, [(0, 1), (0, 1), (0, 1), (2, 1)])
    assert not utility.same_predictions(utility.matching_cells([(1, 0)]), utility.matching_cells(), pairs)
    assert utility.same_predictions(utility.matching_cells([(0, 1)]), utility.matching_cells(), pairs)
    assert utility.same_predictions(utility.squared_error(), utility.squared_error([(0.5, 1.0)]), pairs)
    assert not utility.same_predictions(utility.squared_error(), utility.squared_error([(1.0, 0.5)]), pairs)


def test_dead_ends_do_not_make_utilities_different():
    machine = ds.EpsilonMachine.from_arrays([[0, 1], [-1, -1]], [[0.5, 0.5], [0.0, 0.0]], [0, 1], weights=[0.9, 0.1])
    assert utility.equivalent(utility.zero_one(), utility.table(np.eye(2)), machine)
