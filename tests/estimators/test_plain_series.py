"""Estimators with a past on plain series: the same as on observations, also by scikit-learn's splits and searches."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, KFold, TimeSeriesSplit, cross_val_score

import decisional as ds

SYMBOLS = ds.processes.even().simulate(1500, rng=1)
NEW = ds.processes.even().simulate(300, rng=2)
TEXT = "".join(map(str, SYMBOLS.tolist()))
WAVE = np.sin(np.arange(200) / 3)
BET = ds.utility.table([[0, 0], [-3, 1]])
SPLIT = TimeSeriesSplit(3)
DATES = pd.date_range("2024", periods=len(SYMBOLS), freq="h")
# The same symbols as any container.
PLAIN = {
    "array": np.asarray,
    "bytes": lambda symbols: symbols.astype(np.int8),
    "column": lambda symbols: symbols[:, None],
    "list": lambda symbols: symbols.tolist(),
    "letters": lambda symbols: list("".join(map(str, symbols.tolist()))),
    "pandas": lambda symbols: pd.Series(symbols, index=DATES[: len(symbols)]),
    "categories": lambda symbols: pd.Series([f"{s}" for s in symbols], dtype="category"),
}
plain = pytest.mark.parametrize("kind", PLAIN)


estimators = pytest.mark.parametrize(
    "estimator", [ds.CausalStates(), ds.DecisionalStates(BET)], ids=["causal", "choice"]
)


def by_hand(estimator: Any, past: int) -> list[float]:
    """Fit and score on each split, without scikit-learn and without a past."""
    observed = [[ds.observe.series(SYMBOLS[rows], past=past) for rows in both] for both in SPLIT.split(SYMBOLS)]
    return [clone(estimator).fit(train).score(test) for train, test in observed]


@plain
@estimators
def test_scores_are_those_of_a_fit_by_hand(kind: str, estimator: Any) -> None:
    data, one, three = PLAIN[kind](SYMBOLS), by_hand(estimator, 1), by_hand(estimator, 3)
    found = cross_val_score(clone(estimator).set_params(past=3), data, cv=SPLIT, error_score="raise")
    np.testing.assert_allclose(found, three, rtol=1e-12)
    search = GridSearchCV(clone(estimator), {"past": [1, 3]}, cv=SPLIT, error_score="raise").fit(data)
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], [np.mean(one), np.mean(three)], rtol=1e-12)
    assert search.best_params_ == {"past": 3}
    assert search.best_estimator_.predict(data).shape == (len(SYMBOLS),)


@estimators
@pytest.mark.parametrize("split", [SPLIT, KFold(4), KFold(3, shuffle=True, random_state=0)], ids=repr)
def test_scores_of_observations_are_those_of_their_places(estimator: Any, split: Any) -> None:
    """Counted anew, as pairs of words and symbols: no window is cut, and none is made up."""
    obs = ds.observe.series(SYMBOLS, past=3)
    places = range(2, len(SYMBOLS) - 1)
    estimator = clone(estimator)
    if isinstance(estimator, ds.CausalStates):
        estimator.set_params(constraints="none", match="exact", density=ds.Counts(min_count=1))
    expected = []
    for both in split.split(obs):
        rows = [[t for t in places if t in set(chosen.tolist())] for chosen in both]
        train, test = (([TEXT[t - 2 : t + 1] for t in part], [int(SYMBOLS[t + 1]) for t in part]) for part in rows)
        expected.append(clone(estimator).fit(*train).score(*test))
    np.testing.assert_allclose(cross_val_score(estimator, obs, cv=split, error_score="raise"), expected, rtol=1e-9)


@plain
def test_states_and_decisions_of_plain_series(kind: str) -> None:
    """Predict and decide read new data alike, with a row for each value."""
    causal = ds.CausalStates(past=5).fit(PLAIN[kind](SYMBOLS))
    choice = ds.DecisionalStates(BET).fit(causal)
    whole = ds.CausalStates().fit(ds.observe.series(SYMBOLS, past=5))
    obs = ds.observe.series(NEW, past=5)
    expected = np.full(len(NEW), -1)
    expected[obs.site] = whole.predict(obs)
    # The last one has no outcome yet.
    expected[-1] = whole.predict(ds.observe.series([*NEW, 0], past=5))[-1]
    for given in (PLAIN[kind](NEW), "".join(map(str, NEW.tolist()))):
        np.testing.assert_array_equal(causal.predict(given), expected)
        np.testing.assert_array_equal(choice.causes(given), expected)
        np.testing.assert_array_equal(choice.predict(given), np.append(choice.states_.labels, -1)[expected])
        best = np.array([*choice.predictions_.choice(), "0"], str)
        np.testing.assert_array_equal(choice.decide(given).astype(str), best[expected])
    assert choice.score(PLAIN[kind](NEW)) == ds.DecisionalStates(BET).fit(whole).score(obs)
    np.testing.assert_array_equal(choice.events(PLAIN[kind](SYMBOLS)).position, choice.events().position)


def test_states_of_observations_take_plain_series() -> None:
    obs = ds.observe.series(SYMBOLS, past=4)
    causal, same = ds.CausalStates().fit(obs), ds.CausalStates(past=4).fit(SYMBOLS)
    for given in (NEW, NEW.tolist(), [NEW[:100], NEW[100:]], "".join(map(str, NEW.tolist()))):
        np.testing.assert_array_equal(causal.predict(given), same.predict(given))
        np.testing.assert_array_equal(causal.predict_proba(given), same.predict_proba(given))
    assert causal.score(NEW) == same.score(NEW) == causal.score(ds.observe.series(NEW, past=4))
    # Nothing is known of other symbols.
    assert (causal.predict("abcdef") == -1).all()


def test_several_series_and_signals() -> None:
    two = [SYMBOLS[:700], SYMBOLS[700:]]
    choice = ds.DecisionalStates(BET, past=3).fit(two)
    obs = ds.observe.series(two, past=3)
    same = ds.DecisionalStates(BET).fit(obs)
    assert choice.expected_utility_ == same.expected_utility_
    assert choice.score(two) == same.score(obs)
    np.testing.assert_array_equal(choice.predict(two)[obs.site], same.predict(obs))
    assert (choice.predict(two)[700:702] == -1).all()
    np.testing.assert_array_equal(choice.events(two).position, same.events().position)
    signal = ds.DecisionalStates(ds.utility.squared_error(), past=2).fit(WAVE)
    delays = ds.observe.delays(WAVE, past=2)
    same = ds.DecisionalStates(ds.utility.squared_error()).fit(delays)
    assert signal.score(WAVE) == same.score(delays)
    np.testing.assert_array_equal(signal.decide(WAVE)[delays.site], same.decide(delays))


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (
            lambda: ds.DecisionalStates(BET).fit(SYMBOLS),
            "give z=..., past=5, say, for a series, or fitted CausalStates",
        ),
        (lambda: ds.DecisionalStates(BET, past=2).fit(SYMBOLS, SYMBOLS), "The 'z' are given with 'past'"),
        (lambda: ds.DecisionalStates(BET, past=0).fit(SYMBOLS), "The 'past' of CausalStates is 0"),
        (lambda: ds.DecisionalStates(BET, past=2).fit(ds.processes.even()), "must be None for EpsilonMachine"),
        (lambda: ds.DecisionalStates(BET, past=2).fit(ds.observe.series(TEXT, past=3)), "observed with past 3 and"),
        (
            lambda: ds.CausalStates(past=2).fit(ds.observe.series(TEXT, past=3)),
            "past 3 and future 1: leave them out, or",
        ),
        (lambda: ds.CausalStates(past=2).fit(ds.observe.delays(WAVE, past=2)), "'X' is a signal that was observed"),
        (lambda: ds.CausalStates().fit(ds.observe.series(TEXT, past=3)).score(TEXT, TEXT), "The 'z' are given with"),
    ],
)
def test_refusals_of_plain_series(call: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        call()
