"""CausalStates: the scikit-learn contract, states of new data, and what is refused."""

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline

import decisional as ds


@pytest.fixture(scope="module")
def even() -> ds.CausalStates:
    symbols = ds.processes.even().simulate(20_000, rng=1)
    return ds.CausalStates().fit(ds.observe.series(symbols, past=5))


def coins(n: int, rng: int) -> tuple[np.ndarray, np.ndarray]:
    """Four x, two of them with P(z = 1) = 0.9 and two with 0.2."""
    generator = np.random.default_rng(rng)
    X = generator.integers(0, 2, (n, 2))
    return X, (generator.random(n) < np.where(X[:, 0] == 0, 0.9, 0.2)).astype(int)


def test_fitted_attributes_agree(even: ds.CausalStates) -> None:
    obs = even.observations_
    assert even.labels_.shape == (obs.n,)
    assert np.array_equal(np.bincount(even.labels_) / obs.n, even.states_.probability)
    assert even.n_states_ == even.states_.n_states == even.machine_.n_states == even.graph_.n_states
    assert np.all(np.diff(even.states_.probability) <= 0)
    assert even.local_complexity_.mean() == pytest.approx(even.complexity_, abs=1e-12)
    for state in range(even.n_states_):
        z = obs.z[even.labels_ == state]
        assert even.distributions_[state] == pytest.approx(np.bincount(z, minlength=2) / z.size)
    assert even.converged_ is True
    assert even.unresolved_ == ()
    assert even.recurrent_complexity_ == pytest.approx(0.918, abs=0.01)


def test_even_process_with_its_unsynchronised_window() -> None:
    """The paper's result: two recurrent states, and a transient one for the window of ones only."""
    symbols = ds.processes.even().simulate(100_000, rng=1)
    causal = ds.CausalStates().fit(ds.observe.series(symbols, past=10))
    assert causal.n_states_ == 3
    assert causal.machine_.recurrent.tolist() == [True, True, False]
    assert causal.machine_.recurrent_part().is_isomorphic(ds.processes.even(), atol=0.01)
    members = causal.observations_.words(np.flatnonzero(causal.states_.labels == 2))
    assert members.tolist() == [[1] * 10]
    assert causal.distributions_[2, 0] == pytest.approx(1 / 3, abs=0.03)


def test_predict_on_the_data_of_fit_gives_the_labels(even: ds.CausalStates) -> None:
    assert np.array_equal(even.predict(even.observations_), even.labels_)
    proba = even.predict_proba(even.observations_)
    assert np.array_equal(proba, even.distributions_[even.labels_])
    expected = np.log2(proba[np.arange(len(proba)), even.observations_.z]).mean()
    assert even.score(even.observations_) == pytest.approx(expected)
    assert even.score(even.observations_) == pytest.approx(-2 / 3, abs=0.1)


@settings(max_examples=40, deadline=None)
@given(st.text("ab", min_size=40, max_size=300), st.integers(1, 6), st.integers(1, 12))
def test_predict_equals_labels_with_any_back_off(text: str, past: int, least: int) -> None:
    causal = ds.CausalStates(density=ds.Counts(min_count=least)).fit(ds.observe.series(text, past=past))
    assert np.array_equal(causal.predict(causal.observations_), causal.labels_)


def test_unseen_windows_take_their_longest_seen_ending() -> None:
    causal = ds.CausalStates(density=ds.Counts(min_count=1)).fit(ds.observe.series("ab" * 200, past=3))
    state = dict(zip(("a", "b"), causal.predict(ds.observe.series("ababa", past=3)), strict=True))
    assert state["a"] != state["b"]
    new = causal.predict(ds.observe.series("bbabb?a?aba", past=3))
    #          bba        bab         abb        bb? b?a ?a? a?a ?ab
    expected = [state["a"], state["b"], state["b"], -1, state["a"], -1, state["a"], state["b"]]
    assert new.tolist() == expected
    proba = causal.predict_proba(ds.observe.series("bb?a", past=3))
    assert np.isnan(proba).all()


def test_numbers_and_their_text_are_different_symbols_but_longer_windows_are_welcome(even: ds.CausalStates) -> None:
    longer = ds.observe.series(ds.processes.even().simulate(500, rng=2), past=8)
    shorter = ds.observe.series(ds.processes.even().simulate(500, rng=2), past=5)
    assert np.array_equal(even.predict(longer), even.predict(shorter)[3:])
    with pytest.raises(ValueError, match="observe with past=5"):
        even.predict(ds.observe.series("0110", past=2))


def test_score_counts_an_unseen_outcome_as_seen_once(even: ds.CausalStates) -> None:
    one = ds.observe.series("aab" * 100, past=1)
    causal = ds.CausalStates(match="exact", constraints="none").fit(one)
    after_b = ds.observe.series("bb", past=1)
    seen = one.table().weight[1]
    assert causal.score(after_b) == pytest.approx(np.log2(1 / (seen + 1)))
    with pytest.raises(ValueError, match="same symbols"):
        causal.score(ds.observe.series("ccc", past=1))


def test_pairs_as_arrays() -> None:
    X, z = coins(4000, rng=0)
    causal = ds.CausalStates().fit(X, z)
    assert causal.n_states_ == 2
    assert causal.machine_ is None
    assert causal.graph_ is None
    assert len(set(causal.labels_[X[:, 0] == 0])) == len(set(causal.labels_[X[:, 0] == 1])) == 1
    assert causal.predict([[0, 0], [5, 5]]).tolist()[1] == -1
    assert causal.n_features_in_ == 2


def test_pairs_with_missing_values_keep_their_places() -> None:
    X, z = coins(2000, rng=1)
    X = X.astype(float)
    X[7, 1] = np.nan
    causal = ds.CausalStates().fit(X, z)
    assert causal.labels_.shape == (2000,)
    assert causal.labels_[7] == -1
    assert np.isnan(causal.local_complexity_[7])
    assert causal.predict(X)[7] == -1


def test_scikit_learn_contract() -> None:
    X, z = coins(3000, rng=2)
    causal = ds.CausalStates(match=ds.ChiSquare(0.02), theta=0.9, passes=2)
    copy = clone(causal)
    assert copy.get_params() == causal.get_params()
    assert copy.set_params(theta=0.8).theta == 0.8
    pipeline = Pipeline([("states", clone(causal))]).fit(X, z)
    assert pipeline.predict(X).shape == (3000,)
    search = GridSearchCV(ds.CausalStates(), {"match": [ds.GTest(0.01), ds.GTest(0.5)]}, cv=2).fit(X, z)
    assert np.isfinite(search.best_score_)
    fitted = causal.fit(X, z)
    again = pickle.loads(pickle.dumps(fitted))
    assert np.array_equal(again.predict(X), fitted.labels_)
    with pytest.raises(NotFittedError):
        clone(causal).predict(X)


def test_refitting_forgets_the_first_data(even: ds.CausalStates) -> None:
    causal = clone(even).fit(ds.observe.series("ab" * 100, past=2))
    first = causal.labels_
    causal.fit(ds.observe.series("abc" * 100, past=2))
    assert causal.labels_.shape != first.shape
    assert causal.n_states_ == 3


def test_results_do_not_depend_on_where_slices_run() -> None:
    symbols = ds.processes.nemo().simulate(300_000, rng=4)
    plain = ds.CausalStates().fit(ds.observe.series(symbols, past=7))
    with ThreadPoolExecutor(3) as pool:
        pooled = ds.CausalStates().fit(ds.observe.series(symbols, past=7), executor=pool)
    assert np.array_equal(plain.machine_.emission, pooled.machine_.emission)
    assert np.array_equal(plain.machine_.targets, pooled.machine_.targets)
    assert np.array_equal(plain.labels_, pooled.labels_)


def test_random_order_is_repeatable() -> None:
    symbols = ds.processes.rrxor().simulate(5000, rng=4)
    obs = ds.observe.series(symbols, past=6)
    order = ds.clustering.Aggregate(order="random", random_state=3)
    runs = [ds.CausalStates(cluster=order).fit(obs).labels_ for _ in range(2)]
    assert np.array_equal(*runs)


@pytest.mark.small
@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"theta": 0.3}, "'theta' of CausalStates is 0.3; it must be a number above 0.5 and of at most 1: try"),
        ({"theta": "high"}, "'theta' of CausalStates is 'high'"),
        ({"passes": 0}, "'passes' of CausalStates is 0; it must be an integer of at least 1: try"),
        ({"constraints": "some"}, "'constraints' of CausalStates is 'some'; it must be one of 'evidence'"),
        ({"density": 3}, "'density' of CausalStates is 3; it must be None or an estimator"),
        ({"match": "chi2"}, "'match' is 'chi2'; it must be None, 'exact'"),
        ({"cluster": "k-means"}, "'cluster' is 'k-means'; it must be 'aggregate', 'connect'"),
        ({"cluster": lambda densities, match: [0]}, "'cluster' callable must return 2 non-negative integers"),
    ],
)
def test_bad_parameters_are_refused_in_one_sentence(parameters: dict[str, object], message: str) -> None:
    obs = ds.observe.series("ab" * 50, past=2)
    with pytest.raises(ValueError, match=message) as caught:
        ds.CausalStates(**parameters).fit(obs)
    assert "\n" not in str(caught.value)


@pytest.mark.small
def test_outcomes_beside_observations_are_refused() -> None:
    with pytest.raises(ValueError, match="leave 'z' out"):
        ds.CausalStates().fit(ds.observe.series("abab", past=1), [0, 1])
