"""The models do without scikit-learn what the estimators do with it."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

import decisional as ds
from decisional.decisions.decisional_model import DecisionalModel
from decisional.decisions.events import Change, EventLog
from decisional.estimators.first_part import on_first_part
from decisional.states.causal_model import CausalModel
from decisional.states.state_model import NotFitted


@pytest.fixture(scope="module")
def obs():
    return ds.observe.series(ds.processes.even().simulate(3000, rng=1), past=4)


def test_a_model_and_its_estimator_agree(obs):
    model, estimator = CausalModel(theta=0.9).fit(obs), ds.CausalStates(theta=0.9).fit(obs)
    assert isinstance(estimator, CausalModel)
    assert np.array_equal(model.labels_, estimator.labels_)
    assert model.machine_.is_isomorphic(estimator.machine_)
    bet = ds.utility.table([[0, 0], [-3, 1]])
    choices = [
        kind(bet).fit(states) for kind in (DecisionalModel, ds.DecisionalStates) for states in (model, estimator)
    ]
    for choice in choices:
        assert np.array_equal(choice.labels_, choices[0].labels_)
        assert np.array_equal(choice.utility_, choices[0].utility_)
        assert (
            ds.Monitor(choice).feed("0110").position.tolist() == ds.Monitor(choices[0]).feed("0110").position.tolist()
        )


def test_causal_states_on_the_way_are_of_the_same_kind(obs):
    assert type(DecisionalModel(ds.utility.zero_one()).fit(obs).causal_) is CausalModel
    choice = ds.DecisionalStates(ds.utility.zero_one()).fit(obs)
    assert type(choice.causal_) is type(choice.causal_states()) is ds.CausalStates


@pytest.mark.parametrize("kind", [CausalModel, lambda: DecisionalModel(ds.utility.zero_one())])
def test_models_that_are_not_fitted(kind, obs):
    model = kind()
    assert not model.is_fitted()
    assert not hasattr(model, "states_")
    assert model._repr_html_() is None
    with pytest.raises(NotFitted, match=rf"This {type(model).__name__} instance is not fitted yet: call 'fit'"):
        model.predict(obs)
    with pytest.raises(NotFitted):
        _ = model.labels_
    assert model.fit(obs).is_fitted()
    assert "<" in model._repr_html_()


def test_estimators_that_are_not_fitted(obs):
    for estimator in (ds.CausalStates(), ds.DecisionalStates(ds.utility.zero_one())):
        with pytest.raises(NotFittedError):
            check_is_fitted(estimator)
        with pytest.raises(NotFittedError):
            _ = estimator.labels_
        check_is_fitted(estimator.fit(obs))
        assert not clone(estimator).is_fitted()


def test_parameters_and_what_models_show():
    model = CausalModel(ds.Counts(), theta=0.9)
    assert repr(model) == "CausalModel(density=Counts(), theta=0.9)"
    assert model.get_params()["theta"] == 0.9
    assert repr(DecisionalModel(ds.utility.tolerant(0.5))) == "DecisionalModel(utility=tolerant(0.5))"
    assert repr(ds.CausalStates(theta=0.9)) == "CausalStates(theta=0.9)"


def test_models_travel(obs):
    model = CausalModel().fit(obs)
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.labels_, model.labels_)
    assert np.array_equal(again.predict(obs), model.labels_)


def test_a_fit_that_fails_changes_nothing(obs):
    choice = DecisionalModel(ds.utility.zero_one()).fit(obs)
    labels, choice.utility = choice.labels_, ds.utility.table(np.eye(3))
    with pytest.raises(ValueError, match="3 columns"):
        choice.fit(ds.processes.even())
    assert choice.machine_ is choice.causal_.machine_
    assert choice.labels_ is labels


def test_a_machine_learnt_from_few_symbols_has_ties():
    machine = ds.EpsilonMachine([("A", 0, "A", 0.52), ("A", 1, "A", 0.48)])
    few, many = (DecisionalModel(ds.utility.zero_one()).fit_learnt(machine, n) for n in (100, 1e6))
    assert few.predictions_[0] == {0, 1}
    assert many.predictions_[0] == DecisionalModel(ds.utility.zero_one()).fit(machine).predictions_[0] == {0}


def test_events_show_what_they_are_in_one_line(obs):
    events = ds.DecisionalStates(ds.utility.zero_one()).fit(CausalModel().fit(obs)).events()
    assert repr(events) == f"Events({len(events):,} changes, positions {events.position[0]} to {events.position[-1]})"
    assert repr(events[:0]) == "Events(0 changes)"
    assert repr(EventLog([events[:2], [Change(7, 5, 9.0)]])) == "EventLog(1 Change, 2 Event)"


@pytest.mark.parametrize(
    ("utility", "code"),
    [
        (ds.utility.zero_one(), "zero_one()"),
        (ds.utility.zero_one(["a", "b"]), "zero_one(y=['a', 'b'])"),
        (ds.utility.tolerant(1), "tolerant(1.0)"),
        (ds.utility.absolute_error(), "tolerant(0.0)"),
        (ds.utility.table([[0, 1]], z=["a", "b"]), "table([[0.0, 1.0]], z=['a', 'b'])"),
    ],
)
def test_utilities_show_the_call_that_makes_them(utility, code):
    assert repr(utility) == code
    assert repr(eval(code, vars(ds.utility))) == code


def test_the_first_part_is_numbered_like_the_whole():
    """It may lack letters that occur later."""
    text = "bc" * 50 + "c" * 3 + "abc" * 200
    causal = CausalModel().fit(ds.observe.series(text, past=2, chunks=100))
    shown = on_first_part(causal, next(causal.observations_.pieces())).observations_
    assert shown.letters == shown.alphabet == tuple(shown.outcomes) == tuple("abc")
    words = ["".join(shown.letters[code] for code in reversed(word)) for word in shown.words(shown.x).tolist()]
    assert words == [text[k : k + 2] for k in range(shown.n)]
    assert [shown.outcomes[k] for k in shown.z] == [shown.alphabet[k] for k in shown.symbol] == list(text[2:101])
