"""What users read when they give what cannot be used: one sentence that names the parameter, never a raw traceback."""

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

import decisional as ds

EVEN = ds.processes.even()
SYMBOLS = EVEN.simulate(500, rng=1)
X = np.random.default_rng(0).normal(size=(40, 2))
Z = X[:, 0] + 0.1 * X[:, 1]
RAGGED = [[0, 1], [0]]


@pytest.fixture(scope="module")
def causal() -> ds.CausalStates:
    return ds.CausalStates().fit(ds.observe.series(SYMBOLS, past=3))


def fit(**parameters: Any) -> ds.CausalStates:
    return ds.CausalStates(**parameters).fit(ds.observe.series(SYMBOLS, past=3))


def kernels(**parameters: Any) -> ds.CausalStates:
    return ds.CausalStates(density=ds.Kernels(**parameters)).fit(X, Z)


def decide(causal: ds.CausalStates, utility: Any, **parameters: Any) -> ds.DecisionalStates:
    return ds.DecisionalStates(utility, **parameters).fit(causal)


def monitor() -> ds.Monitor:
    return ds.Monitor(ds.DecisionalStates(ds.utility.zero_one()).fit(EVEN))


def maxima(causal: ds.CausalStates, **parameters: Any) -> ds.DecisionalStates:
    return decide(causal, ds.utility.squared_error(), optimise=ds.utility.GlobalMaxima(**parameters))


def cones() -> ds.CausalStates:
    return ds.CausalStates().fit(ds.observe.light_cones(ds.processes.elementary_ca(90, 12, 12, rng=1), 1, 2))


@cache
def forecast() -> Any:
    return ds.CausalStates(past=1).fit(X[:, 0]).forecast(X[:, 0])


# The parameter at fault, a call with the causal states of a series, and what else the message must say.
CALLS: list[tuple[str, Callable[[Any], Any], list[str]]] = [
    ("symbols", lambda c: ds.epsilon_machine([]), ["empty"]),
    ("symbols", lambda c: ds.epsilon_machine(None), ["NoneType"]),
    ("symbols", lambda c: ds.epsilon_machine(X[:, 0]), ["40 numbers", "one class", "bin the values"]),
    ("symbols", lambda c: ds.epsilon_machine(SYMBOLS[:, None]), ["500 sequences", "ravel"]),
    ("max_past", lambda c: ds.epsilon_machine(SYMBOLS, max_past="3"), ["'3'"]),
    ("progress", lambda c: ds.selection.select(SYMBOLS, progress=3), ["progress=print"]),
    ("level", lambda c: ds.selection.bootstrap(EVEN, 100, level="a"), ["'a'"]),
    ("level", lambda c: ds.selection.bootstrap(EVEN, 100, level=None), ["None"]),
    ("machine", lambda c: ds.selection.bootstrap(c, 100), ["EpsilonMachine", "CausalStates"]),
    ("rng", lambda c: ds.selection.bootstrap(EVEN, 100, n=1, rng="x"), ["'x'"]),
    ("rng", lambda c: EVEN.simulate(5, rng=-3), ["-3", "at least 0"]),
    ("rng", lambda c: ds.processes.random_machine(3, rng=1.5), ["1.5"]),
    ("rng", lambda c: ds.processes.elementary_ca(110, 5, 5, rng="x"), ["Generator"]),
    ("p", lambda c: ds.processes.coin("a"), ["'a'", "above 0 and below 1"]),
    ("p", lambda c: ds.processes.coin(None), ["None"]),
    ("word", lambda c: ds.processes.periodic(5), ["5"]),
    ("least", lambda c: ds.processes.random_machine(3, least=None), ["None"]),
    ("initial", lambda c: ds.processes.cellular_automaton(1, 5, 5, initial=RAGGED), ["shape (5,)"]),
    ("past", lambda c: ds.observe.series(SYMBOLS, 0), ["at least 1"]),
    ("symbols", lambda c: ds.observe.series("abc", 3), ["4 symbols", "shorter past"]),
    ("pixels", lambda c: ds.observe.image(RAGGED), ["[[0, 1], [0]]", "(height, width)"]),
    ("neighbourhood", lambda c: ds.observe.image(np.zeros((9, 9)), neighbourhood=RAGGED), ["odd sides"]),
    ("field", lambda c: ds.observe.light_cones(RAGGED, 2, 2), ["one length"]),
    ("field", lambda c: ds.observe.light_cones([], 2, 2), ["must have cells"]),
    ("theta", lambda c: fit(theta=0.3), ["above 0.5 and of at most 1", "0.3"]),
    ("match", lambda c: fit(match=lambda a, b: "yes"), ["'yes'", "bool"]),
    ("random_state", lambda c: fit(cluster=ds.clustering.Aggregate("random", random_state="x")), ["'x'"]),
    ("bandwidth", lambda c: kernels(bandwidth=["a", "b"]), ["positive"]),
    ("bandwidth", lambda c: kernels(bandwidth={}), ["{}"]),
    ("bandwidth", lambda c: kernels(bandwidth=RAGGED), ["dimensions of x"]),
    ("samples", lambda c: kernels(bandwidth=1, samples=["a", "b"]), ["(n, 1)"]),
    ("samples", lambda c: kernels(bandwidth=1, samples=RAGGED), ["finite"]),
    ("random_state", lambda c: kernels(bandwidth=1, samples="random", random_state="x"), ["'x'"]),
    ("z", lambda c: ds.utility.table([[1, 2]], z=5), ["hashable"]),
    ("y", lambda c: ds.utility.table([[1, 2]], y=[[1]]), ["hashable"]),
    ("y", lambda c: ds.utility.zero_one(y=5), ["5", "list"]),
    ("y", lambda c: ds.utility.zero_one(y=[[1], [0]]), ["hashable"]),
    ("y", lambda c: decide(c, ds.utility.squared_error(y=[np.nan])), ["finite"]),
    (
        "integrate",
        lambda c: decide(c, ds.utility.zero_one(), integrate=ds.utility.MonteCarlo),
        ["call MonteCarlo("],
    ),
    ("volume", lambda c: decide(c, ds.utility.zero_one(), integrate=ds.utility.SamplePoints("a")), ["positive"]),
    ("optimise", lambda c: decide(c, ds.utility.squared_error(), optimise=lambda *a: ["a"]), ["prediction"]),
    ("bounds", lambda c: maxima(c, bounds=5), ["low < high"]),
    ("bounds", lambda c: maxima(c, bounds=[(0, 1)] * 3), ["1 dimensions"]),
    ("n", lambda c: maxima(c, n="a"), ["'a'"]),
    ("rtol", lambda c: maxima(c, rtol="a"), ["'a'"]),
    ("causal", lambda c: ds.utility.equivalent([[1]], [[1]], ds.CausalStates()), ["fitted", "fit them first"]),
    ("atol", lambda c: ds.utility.equivalent(np.eye(2), np.eye(2), c, atol="a"), ["'a'"]),
    ("by", lambda c: decide(c, ds.utility.zero_one()).events(by=["decision"]), ["'decision', 'prediction'"]),
    ("transitions", lambda c: ds.EpsilonMachine(5), ["(source, symbol, target, probability)"]),
    ("alphabet", lambda c: ds.EpsilonMachine([(0, 0, 0, 1.0)], alphabet=5), ["hashable"]),
    ("alphabet", lambda c: ds.EpsilonMachine([(0, 0, 0, 1.0)], alphabet=[[0]]), ["hashable"]),
    ("names", lambda c: ds.EpsilonMachine.from_arrays([[0]], [[1.0]], "a", names=5), ["5"]),
    ("emission", lambda c: ds.EpsilonMachine.from_arrays([[0]], [["x"]], "a"), ["numbers"]),
    ("targets", lambda c: ds.EpsilonMachine.from_arrays(RAGGED, [[1.0]], "a"), ["n_states"]),
    ("weights", lambda c: ds.EpsilonMachine.from_arrays([[0]], [[1.0]], "a", weights="a"), ["non-negative"]),
    ("other", lambda c: EVEN.is_isomorphic(c), ["EpsilonMachine"]),
    ("atol", lambda c: EVEN.is_isomorphic(EVEN, atol=np.nan), ["nan"]),
    ("atol", lambda c: EVEN.minimise(-1), ["-1"]),
    ("atol", lambda c: EVEN.excess_entropy("a"), ["'a'"]),
    ("path", lambda c: EVEN.save(None), ["None", "string or a Path"]),
    ("path", lambda c: EVEN.save("/nonexistent/machine.json"), ["/nonexistent/machine.json'", "create the folder"]),
    ("path", lambda c: ds.EpsilonMachine.load("/nonexistent/machine.json"), ["does not exist"]),
    ("matrix", lambda c: ds.TransitionGraph(5), ["sums to 5"]),
    ("matrix", lambda c: ds.TransitionGraph([["a"]]), ["square"]),
    ("n_states", lambda c: ds.TransitionGraph.from_counts([0], [0], [1], "a"), ["'a'"]),
    ("target", lambda c: ds.TransitionGraph.from_counts([0], [5], [1], 1), ["from 5 to 5"]),
    ("count", lambda c: ds.TransitionGraph.from_counts([0], [0, 1], [1], 2), ["one length"]),
    ("count", lambda c: ds.TransitionGraph.from_counts([0], [0], [-1], 1), ["-1"]),
    ("labels", lambda c: ds.Partition(np.array(["a"])), ["integers"]),
    ("weight", lambda c: ds.Partition(np.array([0, 1]), np.array([-1.0, 1.0])), ["-1.0"]),
    ("other", lambda c: ds.Partition(np.array([0])).refines(None), ["a Partition"]),
    ("states", lambda c: ds.complexity.global_complexity(c), ["states_"]),
    ("local", lambda c: ds.complexity.ranks("a"), ["numbers"]),
    ("a", lambda c: ds.GTest().p_value(["x"], [1]), ["counts"]),
    ("a", lambda c: ds.GTest().p_value([1, 2], [1]), ["one length"]),
    ("X", lambda c: ds.ComplexityFeatures().fit_transform(5), ["series"]),
    ("step", lambda c: ds.ComplexityFeatures(step=None).fit_transform([SYMBOLS]), ["None"]),
    ("threshold", lambda c: ds.ComplexityFeatures(threshold=False).fit_transform([SYMBOLS]), ["False"]),
    ("X", lambda c: ds.CausalStates(past=2).fit(5), ["5", "series"]),
    ("future", lambda c: fit(future=2.5), ["2.5"]),
    ("family_wise", lambda c: fit(match=ds.GTest(family_wise=[1])), ["[1]", "True or False"]),
    ("n", lambda c: ds.GTest().similarity([1, 2], [2, 1], n=np.timedelta64(3, "h")), ["integer"]),
    ("a", lambda c: ds.GTest().p_value([10**400, 1], [1, 2]), ["counts"]),
    ("k", lambda c: ds.processes.restricted_golden_mean(10**18), ["1000000000000000000"]),
    ("n_states", lambda c: ds.processes.random_machine(10**9), ["1000000000"]),
    ("n", lambda c: EVEN.simulate(10**18), ["1000000000000000000"]),
    ("steps", lambda c: ds.processes.elementary_ca(110, 10**9, 10**9), ["fit in memory"]),
    ("window", lambda c: ds.Adapt(window=2**70), ["integer"]),
    ("n", lambda c: decide(c, ds.utility.zero_one(), integrate=ds.utility.MonteCarlo(10**18)), ["MonteCarlo"]),
    ("min_count", lambda c: fit(density=ds.Counts(2**64)), ["18446744073709551616"]),
    ("word", lambda c: ds.processes.periodic(X), ["at least one symbol"]),
    ("word", lambda c: ds.processes.periodic(pd.Series([1, None, 1, None], dtype="Int64")), ["none of them missing"]),
    ("difference", lambda c: ds.observe.delays(X[:, 0], 1, difference=X), ["True or False"]),
    ("subtract_min", lambda c: ds.observe.image(np.zeros((9, 9)), subtract_min="no"), ["True or False"]),
    ("matrix", lambda c: ds.TransitionGraph(np.zeros((2, 2, 2))), ["shape (2, 2, 2)"]),
    ("source", lambda c: ds.TransitionGraph.from_counts(np.array([1e308]), [0], [1], 1), ["state number"]),
    ("a", lambda c: ds.ChiSquare().p_value([1e300, 1], [1, 2]), ["counts"]),
    ("z_bandwidth", lambda c: kernels(z_bandwidth=1e-320), ["1e-320"]),
    ("kernel", lambda c: kernels(kernel=X), ["callable"]),
    ("missing", lambda c: ds.read("x.csv", missing=X), ["list of strings"]),
    ("path", lambda c: EVEN.save("\ud800"), ["name of characters"]),
    ("x", lambda c: ds.observe.pairs(EVEN, SYMBOLS, chunks=7), ["one for each pair"]),
    ("by", lambda c: ds.read("x.csv", by=np), ["list of columns"]),
    ("initial", lambda c: ds.processes.elementary_ca(110, 3, 3, rng=np.ones(3, complex)), ["complex"]),
    ("future", lambda c: ds.DecisionalStates(ds.utility.zero_one(), future="x").fit(EVEN), ["'x'"]),
    ("n_states", lambda c: ds.processes.random_machine(1000), ["1000 with 2 symbols", "more symbols"]),
    ("p", lambda c: ds.processes.coin(10**400), ["above 0 and below 1"]),
    ("rng", lambda c: EVEN.simulate(5, rng=np.ones(3, complex)), ["Generator"]),
    ("start", lambda c: EVEN.simulate(5, start=np.zeros(2)), ["state number"]),
    ("shape", lambda c: ds.processes.game_of_life(np.array(5), 3), ["pair"]),
    ("with_error", lambda c: EVEN.excess_entropy(with_error=X), ["True or False"]),
    ("sequences", lambda c: ds.epsilon_machine(SYMBOLS, sequences=X), ["True or False"]),
    ("initial", lambda c: decide(c, ds.utility.zero_one()).events(initial=X), ["True or False"]),
    ("progress", lambda c: kernels(progress=[]), ["progress=print"]),
    ("kernel", lambda c: kernels(bandwidth=1, kernel=ds.GTest()), ["failed", "correct the function"]),
    ("integrate", lambda c: decide(c, ds.utility.zero_one(), integrate=lambda p, u: int("x")), ["failed"]),
    ("X", lambda c: ds.CausalStates().fit([0, 1] * 20, [1, 0] * 20).predict(X[:, 0]), ["vectors of numbers"]),
    ("x", lambda c: ds.observe.pairs(ds.observe.series(SYMBOLS, 2), SYMBOLS), ["values themselves"]),
    ("block", lambda c: ds.observe.image(np.zeros((9, 9)), block=np.zeros((2, 2))), ["odd integer"]),
    ("lags", lambda c: ds.observe.delays(X[:, 0], lags=np.zeros((2, 2))), ["different integers"]),
    ("values", lambda c: c.observations_.field(ds.observe.pairs([1, 2], [1, 2])), ["one value"]),
    ("candidate", lambda c: ds.selection.select(SYMBOLS).machine_of(None), ["Candidate"]),
    ("pasts", lambda c: ds.selection.best_past(X[:, 0], pasts=5), ["list of integers"]),
    ("signals", lambda c: ds.selection.best_past(5), ["one value or one row of values for each time"]),
    ("images", lambda c: ds.selection.grey_scale("x"), ["numbers"]),
    ("other", lambda c: monitor().same_model(5), ["a Monitor"]),
    ("symbols", lambda c: list(monitor().watch(5)), ["push()"]),
    ("symbol", lambda c: monitor().push(X), ["hashable"]),
    ("lines", lambda c: ds.baselines.cssr_result(5, 2), ["list of strings"]),
    ("settings", lambda c: ds.baselines.cssr_result(["01" * 50], 2).info([1]), ["dict"]),
    ("name", lambda c: ds.baselines.cssr_result(["01" * 50], 2).dot({1}), ["string"]),
    ("name", lambda c: ds.utility.read_utility(5), ["zero-one"]),
    ("path", lambda c: ds.EpsilonMachine.load(5), ["string or a Path"]),
    ("y", lambda c: ds.utility.alarm(30, missed=10, false=1, y=None), ["None", "two different names"]),
    ("parts", lambda c: ds.observe.calendar(["2024-01-01"], 5), ["5", "'hour'"]),
    ("parts", lambda c: ds.observe.calendar(["2024-01-01"], []), ["[]", "'hour'"]),
    ("parts", lambda c: ds.observe.calendar(["2024-01-01"], ["day"]), ["'day'", "'hour'"]),
    ("parts", lambda c: ds.observe.calendar(["2024-01-01"], [np.rec.array([(1, 2.0)])]), ["one of"]),
    ("times", lambda c: ds.observe.calendar(np.array([None, 1], object), "hour"), ["a date for each value"]),
    ("inputs", lambda c: ds.observe.delays(X[:, 0], 1, inputs=["day"]), ["'day'", "'hour'"]),
    ("against", lambda c: decide(c, ds.utility.zero_one()).regret(c.observations_, against=5), ["5", "'fixed'"]),
    ("against", lambda c: decide(c, ds.utility.zero_one()).regret(c.observations_, against=["y"]), ["'y'"]),
    ("states", lambda c: ds.complexity.global_complexity(pytest.importorskip("polars").Series([1])), ["Partition"]),
    ("n_states", lambda c: c.coarsen(n_states=np.zeros(30), bits=np.zeros(30)), ["exactly one"]),
    ("bits", lambda c: c.coarsen(bits=99), ["99", "path()"]),
    ("n_states", lambda c: c.path().groups(0), ["at least 1"]),
    ("bits", lambda c: c.path().fewest(np.nan), ["nan"]),
    ("past", lambda c: fit(past=np.zeros((2, 2))), ["integer"]),
    ("target", lambda c: ds.observe.delays(X, 1, target=np.zeros((30, 30))), ["2 columns"]),
    ("lags", lambda c: ds.observe.delays(X[:, 0], lags=c.observations_), ["different integers"]),
    ("signal", lambda c: ds.observe.delays(10**400, 1), ["not numbers"]),
    ("level", lambda c: ds.Monitor(ds.DecisionalStates(ds.utility.zero_one()).fit(EVEN), level=10**400), ["a number"]),
    ("samples", lambda c: kernels(samples=10**400), ["integer"]),
    ("samples", lambda c: kernels(samples=()), ["at least 2"]),
    ("samples", lambda c: kernels(samples=5.0), ["at least 2"]),
    ("bandwidth", lambda c: kernels(bandwidth=10**400), ["positive number"]),
    ("bandwidth", lambda c: kernels(bandwidth=np.ones(2, complex)), ["positive number"]),
    ("kernel", lambda c: kernels(bandwidth=1, kernel=ds.Counts), ["number for each squared distance"]),
    ("transitions", lambda c: ds.EpsilonMachine(np.array(5)), ["(source, symbol, target, probability)"]),
    ("labels", lambda c: ds.Partition(c.observations_), ["one for each element"]),
    ("pixels", lambda c: ds.observe.image(np.ma.zeros(5), chunks=9), ["(height, width)"]),
    ("mask", lambda c: ds.observe.light_cones(np.zeros((9, 9), int), 1, 2, mask=c.observations_), ["each cell"]),
    ("field", lambda c: ds.observe.light_cones(pytest.importorskip("polars").Series([1]), 1, 2, chunks=9), ["axes"]),
    ("successors", lambda c: ds.observe.pairs(5, None, successors=[0]), ["give both"]),
    ("symbols", lambda c: ds.observe.pairs(SYMBOLS, SYMBOLS, symbols=c.observations_), ["values themselves"]),
    ("threshold", lambda c: ds.processes.cyclic_automaton((5, 5), 3, threshold=10**400), ["integer"]),
    ("shape", lambda c: ds.processes.game_of_life(RAGGED, 3), ["integer"]),
    ("density", lambda c: ds.processes.game_of_life((5, 5), 3, density=None), ["probability"]),
    ("decimal", lambda c: ds.read("x.csv", decimal=X), ["one character"]),
    ("header", lambda c: ds.read("x.csv", header=X), ["True or False"]),
    ("column", lambda c: ds.read("x.csv", column=X), ["its number"]),
    ("time", lambda c: ds.read("x.csv", time=X), ["its number"]),
    ("key", lambda c: ds.read("x.npz", key=X), ["name of an array"]),
    ("named", lambda c: ds.read("x.csv", named=X), ["True or False"]),
    ("pasts", lambda c: ds.selection.best_past(X[:, 0], pasts=np.array(5)), ["list of integers"]),
    ("X", lambda c: decide(c, ds.utility.zero_one()).score(np.ma.masked_all(5)), ["5 symbols"]),
    ("z", lambda c: forecast().pdf("x"), ["numbers"]),
    ("z", lambda c: forecast().crps(np.zeros(7)), ["(7,)", "40 rows"]),
    ("q", lambda c: forecast().quantile(RAGGED), ["numbers"]),
    ("q", lambda c: forecast().quantile(np.full(40, 2.0)), ["from 0 to 1"]),
    ("values", lambda c: forecast().probabilities([1.0, 1.0]), ["different"]),
    ("n", lambda c: forecast().sample(10**400), ["integer"]),
]

PLOTS: list[tuple[str, Callable[[Any], Any], list[str]]] = [
    ("machine", lambda c: ds.plot.machine(c), ["EpsilonMachine"]),
    ("groups", lambda c: ds.plot.machine(EVEN, groups=5), ["2 states"]),
    ("machine", lambda c: ds.plot.machine_html(5), ["5"]),
    ("ax", lambda c: ds.plot.machine(EVEN, ax=5), ["matplotlib Axes"]),
    ("ax", lambda c: ds.plot.events(decide(c, ds.utility.zero_one()), ax=[]), ["matplotlib Axes"]),
    ("axes", lambda c: ds.plot.selection(ds.selection.select(SYMBOLS), axes=[1, 2]), ["matplotlib Axes"]),
    ("labels", lambda c: ds.plot.state_colours(["1e300"]), ["integers"]),
    ("values", lambda c: ds.plot.grey(np.ones((2, 2), complex)), ["1.+0.j"]),
    ("choice", lambda c: ds.report.decisions_html(5), ["fitted DecisionalStates"]),
    ("causal", lambda c: ds.report.causal_html(None), ["must be fitted"]),
    ("machine", lambda c: ds.report.page(title="a", asked={}, command="b", machine=5), ["EpsilonMachine"]),
    ("states", lambda c: ds.plot.fields(None), ["fitted"]),
    ("selection", lambda c: ds.plot.selection(EVEN), ["select"]),
    ("figure", lambda c: ds.plot.save(None, "a.png"), ["matplotlib"]),
    ("path", lambda c: ds.plot.save(ds.plot.machine(EVEN), None), ["None"]),
    ("fps", lambda c: ds.plot.animate(np.zeros((2, 3, 3)), "a.gif", fps=0), ["at least 1"]),
    ("scale", lambda c: ds.plot.animate(np.zeros((2, 3, 3)), "a.gif", scale="a"), ["'a'"]),
    ("values", lambda c: ds.plot.grey("a"), ["numbers"]),
    ("values", lambda c: ds.plot.animate(c.observations_, "a.gif"), ["(steps, height, width)"]),
    ("field", lambda c: ds.report.page(title="a", asked={}, command="b", field=()), ["its cells"]),
    ("field", lambda c: ds.report.page(title="a", asked={}, command="b", field=np.nan), ["its cells"]),
    ("warnings", lambda c: ds.report.page(title="a", asked={}, command="b", warnings=np.array(5)), ["list"]),
    ("panels", lambda c: ds.plot.fields(cones(), panels=5), ["5", "'raw'"]),
    ("panels", lambda c: ds.plot.fields(cones(), panels=["W"]), ["'W'", "'raw'"]),
]


def check(causal: ds.CausalStates, parameter: str, call: Callable[[Any], Any], says: list[str]) -> None:
    with pytest.raises((ValueError, TypeError, OSError)) as caught:
        call(causal)
    message = str(caught.value)
    assert f"'{parameter}'" in message
    assert all(fragment in message for fragment in says), message
    # One sentence, or the two of scikit-learn, on one line.
    assert re.fullmatch(r"(The|All|Row|There) [^\n]*\.", message), message
    # Ours, not from inside a library.
    assert Path(caught.traceback[-1].path).is_relative_to(Path(ds.__file__).parent)
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


@pytest.mark.parametrize(("parameter", "call", "says"), CALLS)
def test_messages(causal: ds.CausalStates, parameter: str, call: Callable[[Any], Any], says: list[str]) -> None:
    check(causal, parameter, call, says)


@pytest.mark.parametrize(("parameter", "call", "says"), PLOTS)
def test_messages_of_plots(
    causal: ds.CausalStates, parameter: str, call: Callable[[Any], Any], says: list[str]
) -> None:
    pytest.importorskip("matplotlib")
    check(causal, parameter, call, says)


def test_folders_are_no_files(tmp_path: Path) -> None:
    for call in (EVEN.save, ds.EpsilonMachine.load, ds.Monitor.load):
        with pytest.raises(IsADirectoryError, match=r"'path' '.*' is a folder: give the path of a file"):
            call(tmp_path)


@pytest.mark.parametrize("name", ["labels_", "graph_"])
def test_unfitted(name: str) -> None:
    with pytest.raises(NotFittedError, match="not fitted yet"):
        getattr(ds.DecisionalStates(ds.utility.zero_one()), name)


def test_unfitted_by_x() -> None:
    with pytest.raises(NotFittedError, match="not fitted yet"):
        ds.DecisionalStates(ds.utility.zero_one()).decide(SYMBOLS, by="x")


def test_images_in_frames() -> None:
    pandas = pytest.importorskip("pandas")
    assert ds.selection.grey_scale(pandas.DataFrame(X)) == ds.selection.grey_scale(X)


SMALL: list[Callable[[Any], Any]] = [
    lambda n: ds.observe.series(SYMBOLS, n, chunks=n).table().n_x,
    lambda n: ds.processes.elementary_ca(n, 20, 20, rng=1).sum(),
    lambda n: ds.selection.select(SYMBOLS, max_past=n, max_future=n).machine.n_states,
    lambda n: ds.Monitor(ds.DecisionalStates(ds.utility.zero_one()).fit(EVEN), adapt=ds.Adapt(n, refit_after=n)).feed(
        SYMBOLS
    ),
]


@pytest.mark.parametrize("call", SMALL)
def test_small_integers_of_numpy(call: Callable[[Any], Any]) -> None:
    assert str(call(np.int8(11))) == str(call(11))


def test_small_positions() -> None:
    pytest.importorskip("matplotlib")
    shown = ds.plot.events(ds.DecisionalStates(ds.utility.zero_one()).fit(EVEN), SYMBOLS, start=np.int8(3))
    assert shown is not None


def test_ranks_of_large_values() -> None:
    assert ds.complexity.ranks([1.1e308, 1e308, 0.1 + 0.2, 0.3]).tolist() == [2.0, 1.0, 0.0, 0.0]


def test_score_of_a_large_value() -> None:
    # Made before errors are raised: kernels of what is far away underflow.
    made = forecast()
    with np.errstate(all="raise"):
        np.testing.assert_allclose(made.crps(1e308), 1e308)


def test_groups_of_more_states_than_there_are(causal: ds.CausalStates) -> None:
    path = causal.path()
    assert path.groups(causal.n_states_ + 1).tolist() == list(range(causal.n_states_))
