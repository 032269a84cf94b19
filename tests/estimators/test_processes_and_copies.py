"""Fitted objects in other processes and threads, pickled and copied: they do there what they do here."""

import copy
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import joblib
import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV, TimeSeriesSplit, cross_val_score

import decisional as ds

SYMBOLS = ds.processes.even().simulate(2000, rng=1)
NEW = ds.processes.even().simulate(200, rng=2)
WAVE = np.sin(np.arange(120) / 3)
FIELD = np.random.default_rng(0).integers(0, 2, (16, 10))
BET = ds.utility.table([[0, 0], [-3, 1]])
WAYS: dict[str, Callable[[Any], Any]] = {
    "pickle": lambda thing: pickle.loads(pickle.dumps(thing)),
    "copy": copy.deepcopy,
}
ways = pytest.mark.parametrize("way", WAYS)


def difference(y: Any, z: Any) -> Any:
    return -np.abs(np.asarray(y) - z)


OBSERVED: dict[str, Callable[[], Any]] = {
    "series": lambda: ds.observe.series(SYMBOLS, past=4),
    "text": lambda: ds.observe.series("0110111" * 100, past=3),
    "chunks": lambda: ds.observe.series(SYMBOLS, past=4, chunks=600),
    "chosen": lambda: ds.observe.series(SYMBOLS, past=4)[:900],
    "light cones": lambda: ds.observe.light_cones(FIELD, 2, 2, transitions="time"),
    "image": lambda: ds.observe.image(FIELD, neighbourhood="cross"),
    "delays": lambda: ds.observe.delays(WAVE, past=2),
    "pairs": lambda: ds.observe.pairs(SYMBOLS[:-1], SYMBOLS[1:]),
}
UTILITIES = {
    "table": ds.utility.table([[0, 0], [-3, 1]]),
    "named table": ds.utility.table([[0, 0], [-3, 1]], y=["no", "yes"], z=[0, 1]),
    "loss": ds.utility.loss([[0, 1], [1, 0]]),
    "loss of numbers": ds.utility.loss(np.hypot),
    "function": difference,
    "zero_one": ds.utility.zero_one(),
    "squared_error": ds.utility.squared_error(),
    "squared_error of some": ds.utility.squared_error([0, 1]),
    "absolute_error": ds.utility.absolute_error(),
    "tolerant": ds.utility.tolerant(0.5),
}


@pytest.fixture(scope="module")
def causal() -> Any:
    return ds.CausalStates().fit(ds.observe.series(SYMBOLS, past=4))


@pytest.fixture(scope="module")
def choice(causal: Any) -> Any:
    return ds.DecisionalStates(BET).fit(causal)


# ------------------------------------------------------------------------------------------ pickles and copies


@ways
@pytest.mark.parametrize("kind", OBSERVED)
def test_observations_and_their_causal_states(kind: str, way: str) -> None:
    obs = OBSERVED[kind]()
    fresh = WAYS[way](obs)
    fitted = ds.CausalStates().fit(obs)
    for other in (ds.CausalStates().fit(fresh), WAYS[way](fitted)):
        assert other.observations_.n == obs.n
        for name in ("x", "z", "site"):
            np.testing.assert_array_equal(getattr(other.observations_, name), getattr(obs, name))
        np.testing.assert_array_equal(other.labels_, fitted.labels_)
        np.testing.assert_array_equal(other.distributions_, fitted.distributions_)
        np.testing.assert_array_equal(other.predict(obs), fitted.predict(fresh))
        assert other.score(obs) == fitted.score(obs)
        assert (other.machine_ is None) == (fitted.machine_ is None)


@ways
@pytest.mark.parametrize("name", UTILITIES)
def test_utilities_and_their_decisional_states(name: str, way: str, causal: Any) -> None:
    fitted = ds.DecisionalStates(UTILITIES[name]).fit(causal)
    fitted.events()  # what is derived on the way travels too
    for other in (ds.DecisionalStates(WAYS[way](UTILITIES[name])).fit(causal), WAYS[way](fitted)):
        np.testing.assert_array_equal(other.labels_, fitted.labels_)
        np.testing.assert_array_equal(other.utility_, fitted.utility_)
        np.testing.assert_array_equal(other.decide(NEW), fitted.decide(NEW))
        assert list(other.predictions_) == list(fitted.predictions_)
        np.testing.assert_array_equal(other.events(NEW).position, fitted.events(NEW).position)
        assert other.regret(NEW) == fitted.regret(NEW)


@ways
def test_matching_cells(way: str) -> None:
    fitted = ds.DecisionalStates(ds.utility.matching_cells()).fit(ds.CausalStates().fit(OBSERVED["light cones"]()))
    other = WAYS[way](fitted)
    np.testing.assert_array_equal(other.labels_, fitted.labels_)
    np.testing.assert_array_equal(other.utility_, fitted.utility_)


@ways
def test_machines_graphs_partitions_and_selections(way: str, causal: Any, choice: Any) -> None:
    again = WAYS[way]
    for machine in (causal.machine_, ds.processes.even()):
        assert again(machine).transitions() == machine.transitions()
        np.testing.assert_array_equal(again(machine).filter(NEW), machine.filter(NEW))
        np.testing.assert_array_equal(again(machine).simulate(50, rng=3), machine.simulate(50, rng=3))
    for graph in (causal.graph_, choice.graph_):
        np.testing.assert_array_equal(again(graph).matrix.toarray(), graph.matrix.toarray())
        np.testing.assert_array_equal(again(graph).stationary, graph.stationary)
    states = again(causal.states_)
    np.testing.assert_array_equal(states.labels, causal.states_.labels)
    assert states.entropy() == causal.states_.entropy()
    selection = ds.selection.select("".join(map(str, NEW.tolist())))
    assert repr(again(selection)) == repr(selection)
    assert again(selection).machine.transitions() == selection.machine.transitions()
    events = choice.events()
    np.testing.assert_array_equal(again(events).position, events.position)
    assert again(events).to_frame().equals(events.to_frame())


@ways
@pytest.mark.parametrize("adapt", [None, ds.Adapt()], ids=["still", "adapt"])
def test_monitors_go_on_where_they_were(way: str, adapt: Any, choice: Any) -> None:
    monitor = ds.Monitor(choice, adapt=adapt)
    monitor.feed(SYMBOLS[:700])
    other = WAYS[way](monitor)
    one, two = monitor.feed(SYMBOLS[700:]), other.feed(SYMBOLS[700:])
    assert len(one) > 0
    assert repr(list(one)) == repr(list(two))
    assert monitor.position == other.position == len(SYMBOLS)


@ways
def test_features_and_counts(way: str, causal: Any) -> None:
    features = ds.ComplexityFeatures(past=2).fit([SYMBOLS[:300], NEW])
    np.testing.assert_array_equal(WAYS[way](features).transform([NEW]), features.transform([NEW]))
    counts = ds.CausalStates().partial_fit(ds.observe.series(SYMBOLS, past=4))
    assert WAYS[way](counts).machine_.transitions() == causal.machine_.transitions() == counts.machine_.transitions()


def test_what_is_no_code_of_a_module_cannot_be_pickled(causal: Any) -> None:
    """By a sentence of Python; deepcopy and joblib take it."""
    fitted = ds.DecisionalStates(lambda y, z: -abs(y - z)).fit(causal)
    with pytest.raises((pickle.PicklingError, AttributeError), match="lambda") as caught:
        pickle.dumps(fitted)
    assert "\n" not in str(caught.value)
    np.testing.assert_array_equal(copy.deepcopy(fitted).decide(NEW), fitted.decide(NEW))
    [found] = joblib.Parallel(n_jobs=1)([joblib.delayed(fitted.decide)(NEW)])
    np.testing.assert_array_equal(found, fitted.decide(NEW))


# --------------------------------------------------------------------------------------- processes and threads


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_joblib(backend: str, causal: Any, choice: Any) -> None:
    obs = ds.observe.series(NEW, past=4)
    careless = ds.DecisionalStates(lambda y, z: -abs(y - z)).fit(causal)
    work = [
        (causal.predict, obs),
        (causal.predict, NEW),
        (choice.decide, NEW),
        (careless.decide, NEW),
        (choice.predict, obs),
    ]
    found = joblib.Parallel(n_jobs=2, backend=backend)(joblib.delayed(call)(data) for call, data in work * 2)
    for result, (call, data) in zip(found, work * 2, strict=True):
        np.testing.assert_array_equal(result, call(data))


@pytest.mark.parametrize(
    "estimator", [ds.CausalStates(past=3), ds.DecisionalStates(BET, past=3)], ids=["causal", "choice"]
)
def test_scikit_learn_in_processes(estimator: Any) -> None:
    data, split = SYMBOLS[:900], TimeSeriesSplit(3)
    scores = [cross_val_score(estimator, data, cv=split, n_jobs=n, error_score="raise") for n in (None, 2)]
    np.testing.assert_array_equal(*scores)
    found = [GridSearchCV(estimator, {"past": [1, 3]}, cv=split, n_jobs=n).fit(data).cv_results_ for n in (None, 2)]
    np.testing.assert_array_equal(*(results["mean_test_score"] for results in found))


FORK = """
import multiprocessing, threading, warnings
import numpy as np, decisional as ds
warnings.simplefilter("ignore", DeprecationWarning)
symbols = ds.processes.even().simulate(300_000, rng=1)
obs = ds.observe.series(symbols, past=4)
causal = ds.CausalStates().fit(obs)
here = causal.predict(obs)
busy = threading.Thread(target=lambda: [causal.predict(ds.observe.series(symbols, past=5)) for _ in range(3)])
busy.start()
with multiprocessing.get_context("fork").Pool(2) as pool:
    for found in pool.map(causal.predict, [obs] * 3):
        assert np.array_equal(found, here)
    fits = pool.map(ds.CausalStates(past=4).fit, [symbols[:150_000]] * 2)
    assert len({fit.n_states_ for fit in fits}) == 1
busy.join()
print("done")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_fork_after_kernels_ran_in_threads() -> None:
    done = subprocess.run([sys.executable, "-c", FORK], capture_output=True, text=True, timeout=240, check=False)
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr
