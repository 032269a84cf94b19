"""DecisionalStates: exact values, what can be fitted, new data, and the scikit-learn contract."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import decisional as ds
import naive_decisions as naive
from decisional import utility
from decisional.states.partition import Partition
from strategies import machines

EXACT = json.loads((Path(__file__).parents[1] / "answers" / "exact.json").read_text())
TABLE = {name: kinds for name, kinds in EXACT["decisional"].items() if name != "note"}
# 1 = sunny, 0 = rain: rows are predictions 0 and 1.
WEATHER = [[0, -1], [-2, 1]]


def utilities(kinds):
    """The utilities of the exact table, by name; outcomes may be text or numbers."""
    both = {"zero_one": utility.zero_one(), "weather": utility.table(WEATHER, y=[0, 1], z=[0, 1])}
    return {name: both[name] for name in kinds}


def machine_of(name):
    return ds.EpsilonMachine([(a, int(s), b, p) for a, s, b, p in EXACT["processes"][name]["rows"]])


@pytest.fixture(scope="module")
def even():
    return ds.CausalStates().fit(ds.observe.series(ds.processes.even().simulate(20_000, rng=1), past=5))


def coins(n, rng):
    """Four x, with P(z = 1) = 0.9, 0.85, 0.2 and 0.5."""
    generator = np.random.default_rng(rng)
    X = generator.integers(0, 2, (n, 2))
    chance = np.array([[0.9, 0.85], [0.2, 0.5]])[X[:, 0], X[:, 1]]
    return X, (generator.random(n) < chance).astype(int)


# ---------------------------------------------------------------------------------------------- exact values


@pytest.mark.small
@pytest.mark.parametrize("name", list(TABLE))
def test_exact_table(name):
    for kind, u in utilities(TABLE[name]).items():
        found, wanted = ds.DecisionalStates(u).fit(machine_of(name)), TABLE[name][kind]
        assert found.utility_complexity_ == pytest.approx(wanted["V"], abs=1e-6)
        assert found.prediction_complexity_ == pytest.approx(wanted["P"], abs=1e-6)
        assert found.complexity_ == pytest.approx(wanted["D"], abs=1e-6)
        assert found.expected_utility_ == pytest.approx(wanted["EU"], abs=1e-6)
        assert found.recurrent_complexity_ == pytest.approx(wanted["D"], abs=1e-6)
        assert found.recurrent_prediction_complexity_ == pytest.approx(wanted["P"], abs=1e-6)
        assert found.recurrent_utility_complexity_ == pytest.approx(wanted["V"], abs=1e-6)
        assert found.recurrent_expected_utility_ == pytest.approx(wanted["EU"], abs=1e-6)


@pytest.mark.parametrize("name", list(TABLE))
def test_exact_table_from_a_million_symbols(name):
    symbols = machine_of(name).simulate(1_000_000, rng=1)
    causal = ds.CausalStates().fit(ds.observe.series(symbols, past=10))
    for kind, u in utilities(TABLE[name]).items():
        found, wanted = ds.DecisionalStates(u).fit(causal), TABLE[name][kind]
        assert found.recurrent_utility_complexity_ == pytest.approx(wanted["V"], abs=0.02)
        assert found.recurrent_prediction_complexity_ == pytest.approx(wanted["P"], abs=0.02)
        assert found.recurrent_complexity_ == pytest.approx(wanted["D"], abs=0.02)
        assert found.recurrent_expected_utility_ == pytest.approx(wanted["EU"], abs=0.02)


# ------------------------------------------------------------------------------------------ what can be fitted


def check_fitted(choice, probability):
    psi, upsilon, omega = choice.iso_prediction_, choice.iso_utility_, choice.states_
    assert omega.refines(psi)
    assert omega.refines(upsilon)
    assert choice.n_states_ == omega.n_states == len(set(choice.state_groups_))
    assert choice.complexity_ == pytest.approx(omega.entropy())
    assert choice.prediction_complexity_ == pytest.approx(psi.entropy())
    assert choice.utility_complexity_ == pytest.approx(upsilon.entropy())
    C = Partition(np.arange(len(probability)), probability).entropy()
    assert max(choice.prediction_complexity_, choice.utility_complexity_) <= choice.complexity_ + 1e-9 <= C + 2e-9
    assert choice.expected_utility_ == pytest.approx(probability @ choice.utility_)
    assert len(choice.predictions_) == len(choice.utility_) == len(probability)


def test_fit_on_causal_states(even):
    choice = ds.DecisionalStates(utility.zero_one()).fit(even)
    check_fitted(choice, even.states_.probability)
    assert choice.causal_ is even
    assert choice.machine_ is even.machine_
    assert choice.labels_.tolist() == choice.states_.labels[even.labels_].tolist()
    for local, total in (
        (choice.local_complexity_, choice.complexity_),
        (choice.local_prediction_complexity_, choice.prediction_complexity_),
        (choice.local_utility_complexity_, choice.utility_complexity_),
        (choice.local_utility_, choice.expected_utility_),
    ):
        assert local.shape == (even.observations_.n,)
        assert local.mean() == pytest.approx(total, abs=1e-9)
    for graph, states in (
        (choice.graph_, choice.states_),
        (choice.iso_prediction_graph_, choice.iso_prediction_),
        (choice.iso_utility_graph_, choice.iso_utility_),
    ):
        labels = states.labels[even.labels_]
        moves = np.zeros((states.n_states,) * 2)
        np.add.at(moves, (labels[:-1], labels[1:]), 1)
        assert graph.matrix.toarray() == pytest.approx(moves / moves.sum(axis=1, keepdims=True), abs=2e-3)


def test_several_utilities_on_one_set_of_causal_states(even):
    before = even.labels_.copy(), even.distributions_.copy()
    kinds = [utility.zero_one(), WEATHER, utility.squared_error(), lambda y, z: -np.abs(y - z), np.eye(2)]
    found = [ds.DecisionalStates(u).fit(even) for u in kinds]
    assert all(choice.causal_ is even for choice in found)
    assert np.array_equal(even.labels_, before[0])
    assert np.array_equal(even.distributions_, before[1])
    assert found[0].utility_ == pytest.approx(found[4].utility_)
    assert [found[0].predictions_[k] for k in range(even.n_states_)] == list(found[4].predictions_)
    for choice in found:
        check_fitted(choice, even.states_.probability)


@pytest.mark.small
@given(machines(max_states=4, dead_ends=True))
@settings(deadline=None)
def test_fit_on_any_machine(machine):
    weight = machine.stationary if machine.weights is None else machine.weights
    weight = weight if weight.any() else np.full(machine.n_states, 1 / machine.n_states)
    choice = ds.DecisionalStates(utility.zero_one()).fit(machine)
    assert choice.causal_ is None
    assert choice.machine_ is machine
    check_fitted(choice, weight)
    live = machine.emission.sum(axis=1) > 0
    assert choice.utility_[live] == pytest.approx(machine.emission[live].max(axis=1))
    for k in np.flatnonzero(live):
        top = machine.emission[k].max()
        assert choice.predictions_[k] == {z for z, p in enumerate(machine.emission[k]) if top - p <= 1e-9}
    mean = weight @ machine.emission
    assert choice.utility_[~live] == pytest.approx(np.full((~live).sum(), mean.max() / mean.sum()))
    assert choice.labels_.tolist() == choice.states_.labels.tolist()
    assert choice.local_complexity_.tolist() == choice.states_.local().tolist()


def test_fit_on_a_machine_with_transient_states_dead_ends_and_weights():
    machine = ds.EpsilonMachine.from_arrays(
        [[1, 0], [0, 1], [0, 3], [-1, -1]],
        [[0.5, 0.5], [0.1, 0.9], [0.5, 0.5], [0.0, 0.0]],
        [0, 1],
        weights=[0.4, 0.3, 0.2, 0.1],
    )
    choice = ds.DecisionalStates(utility.zero_one()).fit(machine)
    check_fitted(choice, machine.weights)
    assert list(choice.predictions_) == [{0, 1}, {1}, {0, 1}, {1}]
    assert choice.utility_ == pytest.approx([0.5, 0.9, 0.5, 0.57 / 0.9])
    assert choice.states_.labels.tolist() == [0, 1, 0, 2]
    assert choice.iso_prediction_.labels.tolist() == [0, 1, 0, 1]
    # In the long run only the first two states count.
    home = machine.stationary
    assert choice.recurrent_expected_utility_ == pytest.approx(home[:2] @ [0.5, 0.9])
    assert choice.recurrent_complexity_ == pytest.approx(naive.entropy([0, 1], home[:2].tolist()))
    assert choice.recurrent_complexity_ < choice.complexity_
    assert choice.graph_.n_states == 3


@pytest.mark.parametrize("weights", [None, [0.0, 1.0]])
def test_machines_that_end(weights):
    machine = ds.EpsilonMachine.from_arrays([[1, 1], [-1, -1]], [[0.4, 0.6], [0.0, 0.0]], [0, 1], weights=weights)
    choice = ds.DecisionalStates(utility.zero_one()).fit(machine)
    assert choice.utility_[0] == pytest.approx(0.6)
    assert np.isfinite(choice.utility_).all()


def test_decisional_states_first(even):
    obs = even.observations_
    first = ds.DecisionalStates(utility.zero_one()).fit(obs)
    assert first.causal_.n_states_ == obs.table().n_x
    check_fitted(first, first.causal_.states_.probability)
    inner = first.causal_states(constraints="none")
    decisional = Partition(first.states_.labels[first.causal_.states_.labels], obs.table().weight)
    assert inner.states_.refines(decisional)
    assert inner.n_states_ >= first.n_states_
    direct = ds.DecisionalStates(utility.zero_one()).fit(even)
    assert first.expected_utility_ == pytest.approx(direct.expected_utility_, abs=0.01)


def test_fit_on_rows():
    X, z = coins(4000, 1)
    choice = ds.DecisionalStates(utility.zero_one()).fit(X, z)
    causal = ds.CausalStates().fit(X, z)
    later = ds.DecisionalStates(utility.zero_one()).fit(causal)
    for found in (choice, later):
        sets = {tuple(x): found.predictions_[found.causal_.labels_[i]] for i, x in enumerate(X)}
        assert sets == {(0, 0): {1}, (0, 1): {1}, (1, 0): {0}, (1, 1): {0, 1}}
        assert found.labels_.shape == (4000,)
        assert found.graph_ is None
        assert found.recurrent_complexity_ == found.complexity_
        assert found.recurrent_expected_utility_ == found.expected_utility_


def test_exact_matches_have_no_sampling_error():
    X, z = coins(4000, 1)
    causal = ds.CausalStates(match="exact").fit(X, z)
    choice = ds.DecisionalStates(utility.zero_one()).fit(causal)
    assert all(len(y) == 1 for y in choice.predictions_)
    assert choice.iso_utility_.n_states == 4


def test_other_outcomes(even):
    pairs = ds.CausalStates().fit(ds.observe.series(ds.processes.even().simulate(5000, rng=1), past=3, future=2))
    choice = ds.DecisionalStates(utility.matching_cells()).fit(pairs)
    assert all(len(y) == 2 for y in choice.decide(pairs.observations_))
    assert choice.score(pairs.observations_) == pytest.approx(choice.expected_utility_, abs=0.02)
    text = ds.CausalStates().fit(ds.observe.series("0110111101100110" * 200, past=3, future=2))
    words = ds.DecisionalStates(utility.matching_cells()).fit(text)
    assert set(words.decide(text.observations_)) <= {"00", "01", "10", "11"}
    assert words.score(text.observations_) == pytest.approx(words.expected_utility_, abs=1e-9)


# ------------------------------------------------------------------------------------------------- new data


def test_new_data(even):
    choice = ds.DecisionalStates(WEATHER).fit(even)
    obs = ds.observe.series(ds.processes.even().simulate(3000, rng=7), past=5)
    states = even.predict(obs)
    assert choice.predict(obs).tolist() == choice.states_.labels[states].tolist()
    decided = choice.decide(obs)
    assert all(y in choice.predictions_[k] for y, k in zip(decided, states, strict=True))
    z = [obs.outcomes[k] for k in obs.z]
    u = {(y, o): WEATHER[y][o] for y in (0, 1) for o in (0, 1)}
    regret = choice.regret(obs)
    assert regret.obtained == pytest.approx(np.mean([u[y, o] for y, o in zip(decided, z, strict=True)]))
    assert regret.best_fixed == pytest.approx(max(np.mean([u[y, o] for o in z]) for y in (0, 1)))
    assert regret.perfect == pytest.approx(np.mean([max(u[y, o] for y in (0, 1)) for o in z]))
    assert choice.score(obs) == regret.obtained
    assert regret.against_fixed == pytest.approx(regret.best_fixed - regret.obtained)
    assert regret.against_perfect == pytest.approx(regret.perfect - regret.obtained)
    assert regret.against_perfect > 0


def test_new_rows():
    choice = ds.DecisionalStates(utility.zero_one()).fit(ds.CausalStates().fit(*coins(4000, 1)))
    X, z = coins(500, 2)
    decided = choice.decide(X)
    assert choice.score(X, z) == pytest.approx(np.mean(decided == z))
    fixed = max(np.mean(z == 0), np.mean(z == 1))
    assert choice.regret(X, z) == pytest.approx((np.mean(decided == z), fixed, 1.0))
    # Nothing is known of this row: the best fixed prediction stands in.
    assert choice.predict([[7, 7]]).tolist() == [-1]
    assert choice.decide([[7, 7]]).tolist() == [1]


def test_new_symbols_for_a_machine():
    machine = machine_of("golden_mean")
    choice = ds.DecisionalStates(utility.zero_one()).fit(machine)
    symbols = machine.simulate(500, rng=3).tolist()
    states = machine.filter(symbols)
    assert choice.predict(symbols).tolist() == np.append(choice.states_.labels, -1)[states].tolist()
    decided = choice.decide(symbols)
    assert choice.score(symbols) == pytest.approx(np.mean(decided[:-1] == symbols[1:]))
    assert choice.regret(symbols).perfect == 1.0
    with pytest.raises(ValueError, match="1 symbols; at least 2 are needed"):
        choice.score([0])
    with pytest.raises(ValueError, match=r"'z' are given with symbols.*leave 'z' out"):
        choice.score([0, 1], [1, 0])
    with pytest.raises(ValueError, match="A machine was fitted"):
        choice.causal_states()


@given(st.integers(0, 1000))
@settings(deadline=None, max_examples=20)
def test_following_decisions_is_best_on_their_own_data(seed):
    """No other map from causal states to predictions earns more on the data of fit."""
    X, z = coins(200, seed)
    causal = ds.CausalStates().fit(X, z)
    u = np.random.default_rng(seed).integers(-3, 4, (3, 2)).astype(float)
    choice = ds.DecisionalStates(utility.table(u)).fit(causal)
    regret = choice.regret(X, z)
    assert regret.obtained == pytest.approx(choice.expected_utility_)
    assert regret.best_fixed <= regret.obtained + 1e-9 <= regret.perfect + 2e-9


# ------------------------------------------------------------------------------------------ estimator contract


def test_clone_and_parameters():
    u = utility.tolerant(0.5)
    choice = ds.DecisionalStates(u, delta=0.1, atol=0.2, integrate=utility.MonteCarlo(10), optimise=None)
    copy = clone(choice)
    assert copy is not choice
    assert copy.get_params()["delta"] == 0.1
    names = {"utility", "integrate", "optimise", "delta", "atol", "indifference", "past", "future", "inputs"}
    assert set(choice.get_params()) == names
    assert choice.get_params()["utility"] is u
    assert copy.set_params(delta=None).delta is None
    assert "DecisionalStates" in repr(choice)


def test_refitting_forgets(even):
    names = [
        "labels_",
        "local_complexity_",
        "local_prediction_complexity_",
        "local_utility_complexity_",
        "local_utility_",
        "graph_",
        "iso_prediction_graph_",
        "iso_utility_graph_",
    ]
    choice = ds.DecisionalStates(utility.zero_one()).fit(even)
    before = {name: getattr(choice, name) for name in names}
    choice.fit(machine_of("golden_mean"))
    fresh = ds.DecisionalStates(utility.zero_one()).fit(machine_of("golden_mean"))
    for name in names:
        assert getattr(choice, name) is not before[name]
    assert choice.labels_.tolist() == fresh.labels_.tolist()
    assert choice.causal_ is None


def test_nothing_works_before_fit():
    choice = ds.DecisionalStates(utility.zero_one())
    for ask in (
        lambda: choice.labels_,
        lambda: choice.graph_,
        lambda: choice.events(),
        lambda: choice.causal_states(),
        lambda: choice.score([0, 1]),
    ):
        with pytest.raises((NotFittedError, AttributeError)):
            ask()
    with pytest.raises(NotFittedError):
        choice.fit(ds.CausalStates())


@pytest.mark.parametrize(
    ("name", "value", "rule"),
    [
        ("delta", -1.0, "a number of at least 0"),
        ("delta", "a", "a number of at least 0"),
        ("delta", np.nan, "a number of at least 0"),
        ("atol", -1e-9, "a number of at least 0"),
        ("atol", True, "a number of at least 0"),
        ("atol", np.inf, "a number of at least 0"),
        ("integrate", 3, "None or a callable"),
        ("optimise", "shgo", "None or a callable"),
    ],
)
def test_parameters_that_are_refused(name, value, rule):
    with pytest.raises(ValueError, match=f"'{name}' of DecisionalStates is {value!r}; it must be {rule}: "):
        ds.DecisionalStates(utility.zero_one(), **{name: value}).fit(machine_of("even"))


@pytest.mark.parametrize(
    ("u", "message"),
    [
        ([[1, 2, 3], [4, 5, 6]], "3 columns and the data have 2 outcomes"),
        ([[1, 2], [3]], "rows of one length"),
        ([[1, np.nan], [0, 0]], "nan in row 0, column 1"),
        (utility.table([[1, 2]], z=[0, 5]), "1 is asked for"),
        (lambda y, z: np.zeros(3), "must broadcast"),
        (lambda y, z: np.zeros(y.shape) + z.nothing, "AttributeError"),
        (lambda y, z: 0.0 * (y + z) + np.inf, "finite"),
    ],
)
def test_utilities_that_are_refused(u, message):
    with np.errstate(invalid="ignore"), pytest.raises(ValueError, match=message):
        ds.DecisionalStates(u).fit(machine_of("even"))


def test_numbers_are_needed_for_errors():
    machine = ds.EpsilonMachine([("A", "rain", "A", 0.5), ("A", "sun", "A", 0.5)])
    for u in (utility.squared_error(), utility.absolute_error()):
        with pytest.raises(ValueError, match=r"are like 'rain'; they must be finite numbers.*ds\.utility\.table"):
            ds.DecisionalStates(u).fit(machine)


# -------------------------------------------------------------------------------------------------- to be mended


def test_regret_knows_all_candidates():
    coin = ds.EpsilonMachine([("A", 0, "A", 0.5), ("A", 1, "A", 0.5)])
    regret = ds.DecisionalStates(lambda y, z: y + 0.0 * z).fit(coin).regret([0, 0, 0, 0])
    assert regret.obtained <= regret.best_fixed <= regret.perfect


def test_text_stands_for_symbols():
    choice = ds.DecisionalStates(utility.zero_one()).fit(machine_of("golden_mean"))
    assert choice.score("0100101000") == choice.score([0, 1, 0, 0, 1, 0, 1, 0, 0, 0])


@pytest.mark.parametrize("name", ["predict", "decide"])
def test_not_fitted(name):
    with pytest.raises(NotFittedError):
        getattr(ds.DecisionalStates(utility.zero_one()), name)([0, 1])


def test_outcomes_are_needed():
    for X in ("010101", [[0], [1]]):
        with pytest.raises(ValueError, match="'z'"):
            ds.DecisionalStates(utility.zero_one()).fit(X)


def test_causal_states_inside_refine_by_default():
    for seed in range(20, 30):
        obs = ds.observe.series(ds.processes.rip().simulate(3000, rng=seed), past=4)
        first = ds.DecisionalStates(utility.zero_one()).fit(obs)
        decisional = Partition(first.states_.labels[first.causal_.states_.labels], obs.table().weight)
        assert first.causal_states().states_.refines(decisional)
