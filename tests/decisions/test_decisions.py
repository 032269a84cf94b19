"""Steps 5 to 8: the naive twin, the theorems of section 3, ties, gaps, and the examples of section 4."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import decisional as ds
import naive_decisions as naive
from decisional import utility
from decisional.decisions import decide as decisions
from decisional.decisions import decide as steps
from decisional.states.partition import Partition


@st.composite
def problems(draw, max_states=6):
    """Rational distributions over outcomes 0, 1, ..., weights of the states, and a table of integer utilities."""
    n_z = draw(st.integers(1, 4))
    n_y = draw(st.integers(1, 4))
    rows = st.lists(st.integers(0, 3), min_size=n_z, max_size=n_z).filter(any)
    counts = draw(st.lists(rows, min_size=1, max_size=max_states))
    weight = draw(st.lists(st.integers(1, 4), min_size=len(counts), max_size=len(counts)))
    u = draw(st.lists(st.lists(st.integers(-3, 3), min_size=n_z, max_size=n_z), min_size=n_y, max_size=n_y))
    return counts, weight, u


def arrays(problem):
    counts, weight, u = problem
    counts, weight = np.array(counts, float), np.array(weight, float)
    return counts / counts.sum(axis=1, keepdims=True), weight / weight.sum(), np.array(u, float)


def decide(p, weight, u, **options):
    z = list(range(p.shape[1]))
    table = utility.table(u, y=[f"y{i}" for i in range(len(u))], z=z)
    return steps.decide(p, z, weight, table, **options)


# ------------------------------------------------------------------------------------ naive twin and theorems


@pytest.mark.small
@given(problems())
@settings(deadline=None)
def test_naive_twin(problem):
    counts, weight, u = problem
    p, _, table = arrays(problem)
    # Whole numbers, for which equal masses are equal.
    found = decide(p, np.array(weight, float), table)
    rows = [{z: Fraction(c, sum(row)) for z, c in enumerate(row)} for row in counts]
    names = [f"y{i}" for i in range(len(u))]
    sets, values, *labels = naive.decide(rows, weight, lambda y, z: u[names.index(y)][z], names)
    assert list(found.predictions) == sets
    assert found.utility == pytest.approx([float(v) for v in values], abs=1e-12)
    for partition, wanted in zip((found.iso_prediction, found.iso_utility, found.states), labels, strict=True):
        assert partition.labels.tolist() == wanted
        assert partition.entropy() == pytest.approx(naive.entropy(wanted, weight), abs=1e-9)
        assert np.all(np.diff(partition.probability) <= 1e-12)


def check_order(p, weight, found):
    """Causal states refine decisional ones, these refine both others; P, V <= D <= C; global = mean of local."""
    causal = Partition(np.unique(p.round(12), axis=0, return_inverse=True)[1].reshape(-1), weight)
    psi, upsilon, omega = found.iso_prediction, found.iso_utility, found.states
    assert causal.refines(omega)
    assert omega.refines(psi)
    assert omega.refines(upsilon)
    V, P, D, C = (states.entropy() for states in (upsilon, psi, omega, causal))
    assert max(V, P) <= D + 1e-12 <= C + 2e-12
    for states in (psi, upsilon, omega):
        assert weight @ states.local() == pytest.approx(states.entropy(), abs=1e-12)


@given(problems())
@settings(deadline=None)
def test_order_of_states_and_complexities(problem):
    p, weight, u = arrays(problem)
    check_order(p, weight, decide(p, weight, u))


@given(problems(), st.sampled_from(["sin", "zero_one", "squared", "absolute", "tolerant", "cells"]))
@settings(deadline=None)
def test_order_for_other_utilities(problem, name):
    p, weight, _ = arrays(problem)
    kinds = {
        "sin": lambda y, z: np.sin(3 * y * z + y),
        "zero_one": utility.zero_one(),
        "squared": utility.squared_error(),
        "absolute": utility.absolute_error(),
        "tolerant": utility.tolerant(0.6),
        "cells": utility.matching_cells(),
    }
    z = list(range(p.shape[1]))
    outcomes = [(value % 2, value // 2) for value in z] if name == "cells" else z
    check_order(p, weight, steps.decide(p, outcomes, weight, kinds[name]))


@given(problems(), st.sampled_from([0.25, 1.0, 3.0, 1000.0]), st.integers(-5, 5))
@settings(deadline=None)
def test_affine_utilities_keep_predictions(problem, a, b):
    p, weight, u = arrays(problem)
    first, second = decide(p, weight, u), decide(p, weight, a * u + b)
    assert list(first.predictions) == list(second.predictions)
    assert first.iso_prediction.labels.tolist() == second.iso_prediction.labels.tolist()
    assert first.iso_utility.labels.tolist() == second.iso_utility.labels.tolist()
    assert second.utility == pytest.approx(a * first.utility + b)


@given(problems(), st.lists(st.integers(-5, 5), min_size=4, max_size=4), st.booleans())
@settings(deadline=None)
def test_what_depends_on_the_outcome_alone_keeps_predictions(problem, f, sampled):
    p, weight, u = arrays(problem)
    options = {"n": 20.0 * weight / weight.min()} if sampled else {}
    first, second = (decide(p, weight, v, **options) for v in (u, u + np.array(f[: p.shape[1]])))
    assert list(first.predictions) == list(second.predictions)
    assert first.iso_prediction.labels.tolist() == second.iso_prediction.labels.tolist()


@given(problems(), st.integers(0, 3), st.booleans())
@settings(deadline=None)
def test_a_dominated_prediction_changes_nothing(problem, which, sampled):
    p, weight, u = arrays(problem)
    options = {"n": 20.0 * weight / weight.min()} if sampled else {}
    worse = np.vstack([u, u[which % len(u)] - 0.125])
    first, second = decide(p, weight, u, **options), decide(p, weight, worse, **options)
    assert list(first.predictions) == list(second.predictions)
    assert first.utility == pytest.approx(second.utility, abs=1e-12)
    for name in ("iso_prediction", "iso_utility", "states"):
        assert getattr(first, name).labels.tolist() == getattr(second, name).labels.tolist()


@given(problems())
@settings(deadline=None)
def test_sampling_error_only_adds_predictions(problem):
    p, weight, u = arrays(problem)
    exact, sampled = decide(p, weight, u), decide(p, weight, u, n=20.0 * weight / weight.min())
    assert all(a <= b for a, b in zip(exact.predictions, sampled.predictions, strict=True))
    assert exact.utility == pytest.approx(sampled.utility, abs=1e-12)
    assert sampled.states.refines(sampled.iso_prediction)
    assert sampled.states.refines(sampled.iso_utility)
    given_ = decide(p, weight, u, n=20.0 * weight / weight.min(), atol=1e-9, delta=1e-9)
    assert list(given_.predictions) == list(exact.predictions)
    assert given_.states.labels.tolist() == exact.states.labels.tolist()


# --------------------------------------------------------------------------------------------- indifference


@pytest.mark.small
@given(problems(max_states=8), st.sampled_from([0.013, 0.37, 0.81, 1.7]))
@settings(deadline=None)
def test_indifference_against_the_naive_twin(problem, indifference):
    counts, weight, u = problem
    p, _, table = arrays(problem)
    found = decide(p, np.array(weight, float), table, indifference=indifference)
    rows = [{z: Fraction(c, sum(row)) for z, c in enumerate(row)} for row in counts]
    names = [f"y{i}" for i in range(len(u))]
    worth = naive.decide_alike(rows, weight, lambda y, z: u[names.index(y)][z], names, indifference)
    sets, values, *labels = worth
    assert list(found.predictions) == sets
    assert found.utility == pytest.approx([float(v) for v in values], abs=1e-12)
    for partition, wanted in zip((found.iso_prediction, found.iso_utility, found.states), labels, strict=True):
        assert partition.labels.tolist() == wanted


@given(problems(max_states=8), st.sampled_from([0.0, 0.317]), st.sampled_from([0.7321, 2.2345, 9.1]), st.integers(1, 9))
@settings(deadline=None, max_examples=300)
def test_what_own_observations_do_not_tell_against_the_naive_twin(problem, indifference, errors, times):
    counts, weight, u = problem
    p, _, table = arrays(problem)
    own = [[z for z, c in enumerate(row) for _ in range(c * times)] for row in counts]
    n = np.array([len(seen) for seen in own], float)
    how = {"n": n, "errors": errors, "indifference": indifference, "delta": 1e-9, "atol": 1e-9}
    found = decide(p, np.array(weight, float), table, **how)
    rows = [{z: Fraction(c, sum(row)) for z, c in enumerate(row)} for row in counts]
    names = [f"y{i}" for i in range(len(u))]
    worth = naive.decide_alike(rows, weight, lambda y, z: u[names.index(y)][z], names, indifference, own, errors)
    sets, values, *labels = worth
    assert list(found.predictions) == sets
    assert found.utility == pytest.approx([float(v) for v in values], abs=1e-9)
    for partition, wanted in zip((found.iso_prediction, found.iso_utility, found.states), labels, strict=True):
        assert partition.labels.tolist() == wanted


@given(problems(max_states=8), st.sampled_from([0.5, 1.0, 3.0]), st.integers(1, 30))
@settings(deadline=None)
def test_states_together_lose_no_more_than_their_observations_leave_open(problem, errors, times):
    p, weight, u = arrays(problem)
    n = times * np.array([sum(row) for row in problem[0]], float)
    best = decide(p, weight, u, n=n, delta=1e-9, atol=1e-9)
    found = decide(p, weight, u, n=n, errors=errors)
    assert best.iso_prediction.refines(found.iso_prediction)
    names = [f"y{i}" for i in range(len(u))]
    before, after = (u[[names.index(y) for y in made.predictions.choice()]] for made in (best, found))
    lost = before - after
    mean = (p * lost).sum(axis=1)
    error = np.sqrt((p * (lost - mean[:, None]) ** 2).sum(axis=1) / n)
    assert best.utility - found.utility == pytest.approx(mean, abs=1e-9)
    assert weight @ mean <= errors * np.sqrt(weight**2 @ error**2) + 1e-7


def logistic(n, seed):
    """Values of the logistic map with noise, whose next value has a continuum of distributions."""
    rng, x = np.random.default_rng(seed), np.full(n, 0.4)
    for t in range(1, n):
        x[t] = np.clip(3.8 * x[t - 1] * (1 - x[t - 1]) + 0.03 * rng.normal(), 0.001, 0.999)
    return x


@pytest.fixture(scope="module")
def kernel_states():
    values = logistic(1200, 3)
    return values, ds.CausalStates(past=1).fit(values[:800])


def test_states_of_numbers_are_decided_alike_where_their_observations_do_not_tell(kernel_states):
    values, causal = kernel_states
    worth = utility.tolerant(float(values[:800].std()))
    choice = ds.DecisionalStates(worth).fit(causal)
    apart = ds.DecisionalStates(worth, delta=1e-9, atol=1e-9).fit(causal)
    assert apart.iso_prediction_.n_states > 2 * choice.n_states_
    assert apart.iso_prediction_.refines(choice.iso_prediction_)
    choices = choice.predictions_.choice()
    for state in range(choice.n_states_):
        inside = np.flatnonzero(choice.states_.labels == state)
        assert len({choices[k] for k in inside}) == 1
    # What followed each state itself, of which the distributions are smooth pictures.
    obs = causal.observations_
    own, z = causal.states_.labels[obs.x], np.array(obs.outcomes)[obs.z]
    for k in range(causal.n_states_):
        both = worth.matrix([apart.predictions_.choice()[k], choices[k]], z[own == k].tolist())
        lost = both[0] - both[1]
        assert lost.mean() <= 2.0 * lost.std() / np.sqrt(lost.size) + 1e-3 * values.std()
    assert apart.score(values[800:]) - choice.score(values[800:]) <= 0.01 * values.std()


def test_fixed_numbers_replace_what_the_data_tell_of_states_of_numbers(kernel_states):
    values, causal = kernel_states
    worth = utility.squared_error()
    for given_number in ({"delta": 1e-9}, {"atol": 1e-9}):
        found = ds.DecisionalStates(worth, **given_number).fit(causal)
        own = causal.distributions_ @ np.array(causal.outcomes_)
        assert np.array([y.low for y in found.predictions_]) == pytest.approx(own)
    easy = ds.DecisionalStates(worth, indifference=10.0 * float(values.var())).fit(causal)
    assert easy.n_states_ == 1


NUMERIC = {
    "zero_one": utility.zero_one(),
    "squared": utility.squared_error(),
    "absolute": utility.absolute_error(),
    "tolerant": utility.tolerant(0.6),
    "newsvendor": utility.newsvendor(3, 1),
    "interval": utility.interval_score(0.8),
    "alarm": utility.alarm(1.5, 3, 1),
    "cells": utility.matching_cells(),
    "callable": utility.as_utility(lambda y, z: np.sin(3 * y * z + y)),
}


@given(problems(max_states=8), st.sampled_from(sorted(NUMERIC)), st.sampled_from([0.01, 0.3, 100.0]), st.booleans())
@settings(deadline=None)
def test_what_is_decided_alike_loses_little(problem, name, indifference, sampled):
    p, weight, _ = arrays(problem)
    n = 50.0 * weight / weight.min() if sampled else None
    z = list(range(p.shape[1]))
    outcomes = [(value % 2, value // 2) for value in z] if name == "cells" else z
    before = steps.decide(p, outcomes, weight, NUMERIC[name], n=n)
    after = steps.decide(p, outcomes, weight, NUMERIC[name], n=n, indifference=indifference)
    assert before.iso_prediction.refines(after.iso_prediction)
    assert after.states.refines(after.iso_prediction)
    choices = after.predictions.choice()
    worth = NUMERIC[name].matrix(choices, outcomes)
    # Utilities are those of the decisions.
    assert after.utility == pytest.approx(np.einsum("kz,kz->k", p, worth), abs=1e-9)
    lost = before.utility - after.utility
    assert (lost >= -1e-9).all()
    for state in range(after.iso_prediction.n_states):
        inside = np.flatnonzero(after.iso_prediction.labels == state)
        assert len({choices[k] for k in inside}) == 1
        assert all(after.predictions[k] == after.predictions[inside[0]] for k in inside)
        assert choices[inside[0]] in after.predictions[inside[0]]
    if not sampled:
        assert (lost <= indifference + 1e-8).all()
        assert before.iso_utility.refines(after.iso_utility)
        assert before.states.refines(after.states)
    if indifference == 100.0:
        assert after.states.n_states == 1


@given(problems(), st.booleans())
@settings(deadline=None)
def test_more_is_lost_only_where_the_data_tell_of_no_loss(problem, fixed):
    """From data, what is tied by sampling error is decided alike too, unless 'atol' replaces that."""
    p, weight, u = arrays(problem)
    n = 30.0 * weight / weight.min()
    how = {"atol": 1e-9} if fixed else {}
    found, best = decide(p, weight, u, n=n, indifference=0.2, **how), decide(p, weight, u, n=n, **how)
    for k, now in enumerate(found.predictions.choice()):
        assert best.utility[k] - found.utility[k] <= 0.2 + 1e-7 or (now in best.predictions[k] and not fixed)


def test_indifference_is_in_units_of_the_utility():
    """Means 0, 1 and 5; those of the first two states together are 3/8, which costs the second one (5/8)²."""
    p, z = np.array([[0.5, 0.0, 0.5, 0.0, 0.0], [0.0, 0.5, 0.0, 0.5, 0.0], [0.0, 0.0, 0.0, 0.0, 1.0]]), [-1, 0, 1, 2, 5]
    weight = np.array([0.5, 0.3, 0.2])

    def found(indifference):
        return steps.decide(p, z, weight, utility.squared_error(), indifference=indifference)

    assert found(0.39).iso_prediction.labels.tolist() == [0, 1, 2]
    merged = found(0.391)
    assert merged.iso_prediction.labels.tolist() == [0, 0, 1]
    assert np.array(list(merged.predictions)) == pytest.approx(np.array([[0.375] * 2, [0.375] * 2, [5.0] * 2]))
    # A variance of 1, and the squared distance to the common mean.
    assert merged.utility == pytest.approx([-1.0 - 9 / 64, -1.0 - 25 / 64, 0.0])
    assert merged.states.labels.tolist() == [0, 0, 1]


def test_indifference_from_data_to_events():
    symbols = ds.processes.even().simulate(20_000, rng=3)
    causal = ds.CausalStates().fit(ds.observe.series(symbols, past=6))
    bet = utility.table([[0, 0], [-3, 1]])
    sure, easy = (ds.DecisionalStates(bet, indifference=e).fit(causal) for e in (0.0, 2.0))
    assert sure.n_states_ > easy.n_states_ == 1
    assert len(sure.events()) > len(easy.events()) == 0
    assert easy.graph_.n_states == 1
    assert easy.complexity_ == 0.0
    assert set(easy.decide(causal.observations_).tolist()) == {0}
    assert easy.expected_utility_ == pytest.approx(0.0)
    assert easy.score(causal.observations_) == pytest.approx(0.0)
    zero = ds.DecisionalStates(bet, indifference=0).fit(causal)
    assert zero.states_.labels.tolist() == sure.states_.labels.tolist()
    exact = ds.DecisionalStates(utility.zero_one(), indifference=0.6).fit(ds.processes.even())
    assert (exact.n_states_, exact.predictions_[0], exact.utility_.tolist()) == (1, {1}, [0.5, 1.0])
    for wrong in (-1, None, "0", np.nan):
        with pytest.raises(ValueError, match=r"'indifference' of DecisionalStates is .*a number of at least 0"):
            ds.DecisionalStates(bet, indifference=wrong).fit(causal)


def test_a_search_is_made_for_each_state_and_each_group_only():
    p, z, weight = np.random.default_rng(2).dirichlet(np.ones(5), 12), [0.0, 1.0, 2.0, 3.0, 4.0], np.full(12, 1 / 12)
    searches = []

    def search(value, outcomes):
        searches.append(1)
        return utility.GlobalMaxima()(value, outcomes)

    found = steps.decide(p, z, weight, utility.squared_error(), optimise=search, indifference=0.3)
    assert found.iso_prediction.n_states < 12
    assert len(searches) <= 12 + found.iso_prediction.n_states


def test_indifference_with_integrators_and_searches():
    p, z = np.array([[0.5, 0.5, 0.0], [0.4, 0.6, 0.0], [0.0, 0.0, 1.0]]), [0.0, 1.0, 9.0]
    weight = np.array([0.4, 0.4, 0.2])
    tried = np.linspace(0.0, 9.0, 91)
    how = {"integrate": utility.SamplePoints()}, {"optimise": lambda value, z: tried[value(tried).argmax()]}
    for options in how:
        found = steps.decide(p, z, weight, utility.squared_error(), indifference=0.5, **options)
        assert found.iso_prediction.labels[0] == found.iso_prediction.labels[1]
        worth = utility.squared_error().matrix(found.predictions.choice(), z)
        assert found.utility == pytest.approx(np.einsum("kz,kz->k", p, worth))


# ---------------------------------------------------------------------------------------------- iso-utility


@pytest.mark.small
@given(st.lists(st.integers(-20, 20), min_size=1, max_size=12), st.sampled_from([0.0, 0.5, 1.0, 2.5]))
@settings(deadline=None)
def test_groups_by_gaps(values, delta):
    rows = np.array(values, float)[:, None]
    found = decisions.group(rows, np.zeros_like(rows), np.ones(len(rows)), delta, 0.0)
    wanted = naive.chains(values, delta)
    assert Partition(found).labels.tolist() == Partition(wanted).labels.tolist()


@pytest.mark.small
@given(st.lists(st.tuples(*[st.integers(0, 6)] * 2), min_size=1, max_size=10), st.sampled_from([0.0, 1.0, 2.0]))
@settings(deadline=None)
def test_groups_by_gaps_in_any_coordinate(values, delta):
    rows = np.array(values, float)
    found = decisions.group(rows, np.zeros_like(rows), np.ones(len(rows)), delta, 0.0)
    wanted = naive.chains(values, delta)
    assert Partition(found).labels.tolist() == Partition(wanted).labels.tolist()


def test_a_state_of_another_group_closes_no_gap():
    rows = np.array([[0.0, 0.0], [0.0, 1.0], [5.0, 0.5]])
    assert len(set(decisions.group(rows, 0 * rows, np.ones(3), 0.5, 0.0))) == 3


def test_chains_of_small_gaps_are_one_group():
    values = np.array([0.3, 0.0, 0.1, 0.2, 0.9, 1.0])
    weight = np.full(6, 1 / 6)
    found = decisions.iso_utility(values, np.zeros(6), weight, 0.11, 0.0)
    assert found.labels.tolist() == [0, 0, 0, 0, 1, 1]
    assert decisions.iso_utility(values, np.zeros(6), weight, 0.05, 0.0).n_states == 6
    # Rounding is not a gap, even with delta = 0.
    twice = np.array([0.1 + 0.2, 0.3, 0.30001])
    assert decisions.iso_utility(twice, np.zeros(3), np.ones(3), 0.0, 0.0).labels.tolist() == [0, 0, 1]


@pytest.mark.small
@given(st.integers(0, 10**6))
@settings(deadline=None)
def test_groups_by_sampling_error(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 12))
    values, errors = rng.normal(size=n), rng.choice([0.0, 0.1, 0.4], n)
    weight = rng.permutation(np.arange(1.0, n + 1))
    found = decisions.group(values[:, None], errors[:, None], weight, None, 2.0)
    assert found.tolist() == naive.aggregate(values.tolist(), errors.tolist(), weight.tolist(), 2.0)


def test_sampling_error_decides_where_delta_does_not():
    p = np.array([[0.5, 0.5], [0.52, 0.48], [0.7, 0.3]])
    weight, n = np.array([0.5, 0.3, 0.2]), np.array([500.0, 300.0, 200.0])
    assert steps.decide(p, [0, 1], weight, utility.zero_one(), n=n).iso_utility.labels.tolist() == [0, 0, 1]
    much = steps.decide(p, [0, 1], weight, utility.zero_one(), n=1000 * n)
    assert much.iso_utility.n_states == much.iso_prediction.n_states + 1 == 3
    assert steps.decide(p, [0, 1], weight, utility.zero_one(), n=n, delta=0.0).iso_utility.n_states == 3
    assert steps.decide(p, [0, 1], weight, utility.zero_one(), n=n, delta=0.25).iso_utility.n_states == 1


# ------------------------------------------------------------------------------------------------------ ties


def test_a_tie_is_a_prediction_of_its_own():
    p = np.array([[0.5, 0.5], [0.6, 0.4], [0.4, 0.6]])
    found = steps.decide(p, [0, 1], np.array([0.5, 0.3, 0.2]), utility.zero_one())
    assert list(found.predictions) == [{0, 1}, {0}, {1}]
    assert found.iso_prediction.n_states == 3
    assert found.iso_utility.labels.tolist() == [0, 1, 1]
    loose = steps.decide(p, [0, 1], np.array([0.5, 0.3, 0.2]), utility.zero_one(), atol=0.2)
    assert list(loose.predictions) == [{0, 1}] * 3
    assert loose.iso_prediction.n_states == 1
    # The choice is still the best by the estimate.
    assert loose.predictions.choice() == [0, 0, 1]
    listed = steps.decide(p, [0, 1], np.array([0.5, 0.3, 0.2]), utility.zero_one([0, 1]), atol=0.2)
    assert listed.predictions.choice() == [0, 0, 1]


def mixture(seed, chances, n):
    """Coins of several chances: x tells which coin, z is its side."""
    rng = np.random.default_rng(seed)
    x = np.arange(n) % len(chances)
    return x[:, None], (rng.random(n) < np.array(chances)[x]).astype(int)


@pytest.mark.parametrize("n", [1e3, 1e5])
def test_how_often_ties_are_found(n):
    """A fair coin is a tie within its sampling error, in all but alpha of the samples; one of 0.55 is not for long."""
    rng = np.random.default_rng(0)
    chances, weight = np.array([0.5, 0.55, 0.9]), np.full(3, 1 / 3)
    tied = told = 0
    runs = 1000
    for ones in rng.binomial(int(n), chances, (runs, 3)) / n:
        p = np.column_stack([1 - ones, ones])
        sets = steps.decide(p, [0, 1], weight, utility.zero_one(), n=np.full(3, n), alpha=0.01).predictions
        tied += sets[0] == {0, 1}
        told += sets[1] == {1}
        assert sets[2] == {1}
    assert tied >= 0.99 * runs
    if n == 1e5:
        assert told == runs


def test_ties_from_data():
    for seed in range(3):
        causal = ds.CausalStates().fit(*mixture(seed, (0.5, 0.55, 0.9), 150_000))
        choice = ds.DecisionalStates(utility.zero_one()).fit(causal)
        states = causal.states_.labels
        assert [choice.predictions_[k] for k in states] == [{0, 1}, {1}, {1}]
        assert len(set(choice.states_.labels[states].tolist())) == 3
        assert choice.iso_prediction_.labels[states].tolist() == [1, 0, 0]
    strict = ds.DecisionalStates(utility.zero_one(), atol=1e-9).fit(causal)
    assert all(len(y) == 1 for y in strict.predictions_)
    loose = ds.DecisionalStates(utility.zero_one(), atol=0.11).fit(causal)
    assert [len(loose.predictions_[k]) for k in states] == [2, 2, 1]


def test_ties_of_a_biased_coin_need_data():
    """With few observations 0.55 cannot be told from a tie."""
    causal = ds.CausalStates().fit(*mixture(1, (0.55, 0.95), 200))
    choice = ds.DecisionalStates(utility.zero_one()).fit(causal)
    assert [len(choice.predictions_[k]) for k in causal.states_.labels] == [2, 1]


# --------------------------------------------------------------------------------------- examples of section 4


@given(problems())
@settings(deadline=None)
def test_example_1(problem):
    """E_max[U] is the mean of the largest probabilities."""
    p, weight, _ = arrays(problem)
    found = steps.decide(p, list(range(p.shape[1])), weight, utility.zero_one())
    assert weight @ found.utility == pytest.approx(weight @ p.max(axis=1))
    # The same by decisional states: any maximum common to the causal states inside.
    total = 0.0
    for state in range(found.states.n_states):
        inside = np.flatnonzero(found.states.labels == state)
        y = min(frozenset.intersection(*(found.predictions[k] for k in inside)))
        total += sum(weight[k] * p[k, y] for k in inside)
    assert total == pytest.approx(weight @ found.utility)


@given(problems())
@settings(deadline=None)
def test_example_2(problem):
    """E_min[L] is the mean conditional variance, and states with one mean have one prediction."""
    p, weight, _ = arrays(problem)
    z = np.arange(p.shape[1]) - 1.5
    found = steps.decide(p, z.tolist(), weight, utility.squared_error())
    mean = p @ z
    assert -(weight @ found.utility) == pytest.approx(weight @ (p @ z**2 - mean**2), abs=1e-12)
    same = Partition(np.unique(mean.round(9), return_inverse=True)[1].reshape(-1), weight)
    assert found.iso_prediction.labels.tolist() == same.labels.tolist()


def test_examples_on_continuous_data():
    """Mixtures of Gaussians on a grid: modes for narrow peaks of utility, means and variances for squared error."""
    z = np.linspace(-5, 5, 401)

    def normal(mean, sd):
        return np.exp(-0.5 * ((z - mean) / sd) ** 2) / sd

    density = np.array([normal(0, 1), normal(1, 0.5), normal(-1.5, 0.4) + normal(1.5, 0.4), normal(0, 0.7)])
    p = density / density.sum(axis=1, keepdims=True)
    weight = np.array([0.4, 0.3, 0.2, 0.1])
    squared = steps.decide(p, z.tolist(), weight, utility.squared_error())
    variance = np.array([1.0, 0.25, 0.16 + 1.5**2, 0.49])
    assert -(weight @ squared.utility) == pytest.approx(weight @ variance, abs=1e-3)
    assert squared.iso_prediction.labels.tolist() == [0, 1, 0, 0]
    assert squared.iso_utility.n_states == squared.states.n_states == 4

    def delta(y, z):
        return np.exp(-0.5 * ((y - z) / 0.02) ** 2) / (0.02 * np.sqrt(2 * np.pi))

    peaked = steps.decide(p, z.tolist(), weight, utility.as_utility(delta, z.tolist()))
    assert [sorted(np.round(list(y), 6)) for y in peaked.predictions] == [[0], [1], [-1.5, 1.5], [0]]
    step = z[1] - z[0]
    assert weight @ peaked.utility == pytest.approx(weight @ p.max(axis=1) / step, rel=0.02)
    assert peaked.iso_prediction.labels.tolist() == [0, 1, 2, 0]
