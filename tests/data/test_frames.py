"""Series and frames of other libraries at the doors: the same results, on their index, or a refusal."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

import decisional as ds

SYMBOLS = np.random.default_rng(0).choice(list("ab"), 300)
HOURS = pd.date_range("2024-01-01", periods=300, freq="h")
EVEN = ds.processes.even()
FRAME = pd.DataFrame({"user": np.repeat([1, 2, 3], 100), "status": SYMBOLS, "time": HOURS})


def native() -> dict[str, Any]:
    pl, pa = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    series = pd.Series(SYMBOLS, index=HOURS, name="status")
    return {
        "pandas": series,
        "one column": series.to_frame(),
        "categories": series.astype("category"),
        "strings": series.astype("string"),
        "index": pd.Index(SYMBOLS),
        "polars": pl.Series(SYMBOLS.tolist()),
        "polars frame": pl.DataFrame({"status": SYMBOLS.tolist()}),
        "arrow": pa.array(SYMBOLS.tolist()),
        "arrow chunks": pa.chunked_array([SYMBOLS[:100].tolist(), SYMBOLS[100:].tolist()]),
        "arrow table": pa.table({"status": SYMBOLS.tolist()}),
    }


def test_a_series_of_any_library_is_its_values() -> None:
    expected = ds.observe.series(SYMBOLS, past=3)
    for name, data in native().items():
        obs = ds.observe.series(data, past=3)
        assert obs.letters == expected.letters, name
        np.testing.assert_array_equal(obs.table().count, expected.table().count)
        np.testing.assert_array_equal(obs.x, expected.x)
        assert ds.epsilon_machine(data).is_isomorphic(ds.epsilon_machine(SYMBOLS), atol=1e-12), name


@pytest.mark.parametrize("dtype", ["Int64", "float64", "object"])
def test_missing_values(dtype: str) -> None:
    symbols = [1, None, 2, 1, 2, 1, 2, 2, 1] * 5
    obs = ds.observe.series(pd.Series(symbols, dtype=dtype), past=1)
    assert obs.letters == (1, 2)
    np.testing.assert_array_equal(obs.site, ds.observe.series(symbols, past=1).site)
    assert ds.observe.series(pd.Series([True, None, False, True] * 5, dtype="boolean"), 1).letters == (False, True)


def test_groups_are_sequences() -> None:
    parts = [SYMBOLS[:100], SYMBOLS[100:200], SYMBOLS[200:]]
    expected = ds.observe.series(parts, past=2)
    groups = FRAME.groupby("user")["status"]
    for data in (groups, list(groups), dict(list(groups)), [part for _, part in groups]):
        obs = ds.observe.series(data, past=2)
        np.testing.assert_array_equal(obs.x, expected.x)
        assert ds.epsilon_machine(data).n_states == ds.epsilon_machine(parts).n_states
    assert ds.observe.series(groups, past=2).frame(x=expected.x).index.tolist()[100] == (2, 100)
    assert ds.observe.series({"a": "0110", "b": "1011"}, past=1).n == ds.observe.series(["0110", "1011"], 1).n


def test_several_variables() -> None:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.normal(size=(100, 2)), columns=["force", "vibration"], index=HOURS[:100])
    expected = ds.observe.delays(frame.to_numpy(), past=2, target=1)
    pl = pytest.importorskip("polars")
    for data in (frame, pl.from_pandas(frame.reset_index(drop=True))):
        obs = ds.observe.delays(data, past=2, target="vibration")
        np.testing.assert_array_equal(obs.points, expected.points)
        np.testing.assert_array_equal(obs.targets, expected.targets)
    np.testing.assert_array_equal(
        ds.observe.delays({"a": frame, "b": frame}, 2).points, ds.observe.delays([frame.to_numpy()] * 2, 2).points
    )
    with pytest.raises(ValueError, match=r"The 'target' is 'vib' .*\('force', 'vibration'\)"):
        ds.observe.delays(frame, 2, target="vib")


@pytest.mark.parametrize(
    ("data", "kind", "said"),
    [
        (FRAME, ValueError, r"frame of 3 columns \('user', 'status', 'time'\); one series is meant: give one column"),
        ({"a": 1}, TypeError, "is a dict that has 1 for 'a'"),
        ({}, TypeError, "is a dict that is empty"),
        ({"a", "b"}, TypeError, "is a set, which has no order"),
        ("0110\n", ValueError, "ends with a line end, which would be a symbol"),
        (__file__, ValueError, r"the name of a file, .*: did you mean ds.read\("),
    ],
)
def test_what_cannot_be_meant_is_refused(data: Any, kind: type[Exception], said: str) -> None:
    for call in (ds.epsilon_machine, lambda symbols: ds.observe.series(symbols, past=2)):
        with pytest.raises(kind, match=said):
            call(data)


def test_results_are_on_the_index() -> None:
    series = pd.Series(ds.processes.even().simulate(500, rng=1), index=pd.date_range("2024", periods=500, freq="h"))
    causal = ds.CausalStates().fit(ds.observe.series(series, past=4))
    frame = causal.to_frame()
    assert frame.index.equals(series.index)
    sites = causal.observations_.site
    np.testing.assert_array_equal(frame["state"].to_numpy()[sites], causal.labels_)
    assert (frame["state"].drop(series.index[sites]) == -1).all()
    choice = ds.DecisionalStates(ds.utility.zero_one()).fit(causal)
    decided = choice.to_frame()
    np.testing.assert_array_equal(decided["state"].to_numpy()[sites], choice.labels_)
    np.testing.assert_array_equal(decided["decision"].to_numpy()[sites], choice.decide(causal.observations_))
    events = choice.events()
    told = events.to_frame()
    assert told.index.equals(series.index[events.position])
    assert told["after"].tolist() == events.after.tolist()
    assert told["utility_after"].tolist() == [event.utility_after for event in events]
    plain = choice.events(series.to_numpy()[:50]).to_frame()
    assert plain["position"].tolist() == choice.events(series.to_numpy()[:50]).position.tolist()
    pl = pytest.importorskip("polars")
    other = ds.CausalStates().fit(ds.observe.series(pl.Series(series.to_list()), past=4)).to_frame()
    assert isinstance(other, pl.DataFrame)
    assert other["state"].to_list() == frame["state"].tolist()
    with pytest.raises(ValueError, match="a frame has one row for each place of a series"):
        ds.CausalStates().fit(ds.observe.light_cones(np.zeros((9, 9), int), 2, 2)).to_frame()
    with pytest.raises(ValueError, match="'y' has shape"):
        causal.observations_.frame(y=[1, 2])


def test_utilities_of_frames() -> None:
    expected = ds.utility.table([[0, 0], [-3, 1]], y=["out", "bet"], z=[0, 1])
    frame = pd.DataFrame([[0, 0], [1, -3]], index=["out", "bet"], columns=[1, 0])
    pl = pytest.importorskip("polars")
    for given in (frame, pl.DataFrame({"y": ["out", "bet"], "1": [0, 1], "0": [0, -3]})):
        found = ds.DecisionalStates(ds.utility.table(given)).fit(ds.processes.even())
        wanted = ds.DecisionalStates(expected).fit(ds.processes.even())
        assert list(found.predictions_) == list(wanted.predictions_)
        np.testing.assert_allclose(found.utility_, wanted.utility_)
    assert repr(ds.utility.table(pd.DataFrame([[0, 0], [-3, 1]]))) == repr(ds.utility.table([[0, 0], [-3, 1]]))


def test_columns_are_found_by_name() -> None:
    rng = np.random.default_rng(1)
    X = pd.DataFrame(rng.normal(size=(200, 2)), columns=["a", "b"])
    causal = ds.CausalStates(density=ds.Kernels(0.5)).fit(X, (X.a > 0).astype(int))
    assert causal.feature_names_in_.tolist() == ["a", "b"]
    np.testing.assert_array_equal(causal.predict(X[["b", "a"]]), causal.predict(X))
    with pytest.raises(ValueError, match="a frame with no column 'b'"):
        causal.predict(X.rename(columns={"b": "c"}))


def test_chosen_observations_are_those_of_the_part() -> None:
    symbols = ds.processes.even().simulate(2000, rng=0)
    chosen, part = ds.observe.series(symbols, past=4)[:1000], ds.observe.series(symbols[:1001], past=4)
    for name in ("x", "z", "site", "symbol", "successor"):
        np.testing.assert_array_equal(getattr(chosen, name), getattr(part, name))
    np.testing.assert_array_equal(chosen.table().count, part.table().count)
    np.testing.assert_array_equal(chosen.table().steps.count, part.table().steps.count)
    field = np.random.default_rng(0).integers(0, 2, (30, 20))
    cones = ds.observe.light_cones(field, 2, 2, transitions="time")
    rows = cones[[5, 6, 7]]
    assert rows.n == 60
    assert set((rows.site // 20).tolist()) == {5, 6, 7}
    assert rows.successor.max() < rows.n
    np.testing.assert_array_equal(cones.z[np.isin(cones.site, rows.site)], rows.z)
    with pytest.raises(ValueError, match="None of"):
        cones[:1]
    with pytest.raises(TypeError, match="as a whole"):
        list(cones)


def test_estimators_take_plain_series() -> None:
    from sklearn.model_selection import GridSearchCV, TimeSeriesSplit, cross_val_score

    symbols = ds.processes.even().simulate(2000, rng=1)
    obs = ds.observe.series(symbols, past=4)
    causal, same = ds.CausalStates(past=4).fit(symbols), ds.CausalStates().fit(obs)
    np.testing.assert_array_equal(causal.labels_[obs.site], same.labels_)
    assert causal.score(symbols) == same.score(obs)
    states = causal.predict(symbols)
    np.testing.assert_array_equal(states[obs.site], same.predict(obs))
    # The last symbol has a past, and a state.
    assert states[-1] >= 0
    assert (states[:3] == -1).all()
    np.testing.assert_array_equal(causal.predict([symbols[:50], symbols[50:90]]).shape, (90,))
    scores = cross_val_score(ds.CausalStates(past=4), symbols, cv=TimeSeriesSplit(3))
    assert np.isfinite(scores).all()
    assert (scores < 0).all()
    np.testing.assert_allclose(cross_val_score(ds.CausalStates(), obs, cv=TimeSeriesSplit(3)), scores, atol=0.05)
    for data in (symbols, symbols[:, None], pd.Series(symbols)):
        search = GridSearchCV(ds.CausalStates(past=1), {"past": [1, 4]}, cv=TimeSeriesSplit(3)).fit(data)
        assert search.best_params_ == {"past": 4}
    wave = np.sin(np.arange(300) / 3)
    signal = ds.CausalStates(past=2, density=ds.Kernels(0.1)).fit(wave)
    delays = ds.observe.delays(wave, past=2)
    np.testing.assert_array_equal(signal.predict(wave)[delays.site], signal.predict(delays))
    assert signal.predict(wave)[-1] >= 0
    assert np.isfinite(signal.predict_proba(wave)[1:]).all()


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: ds.CausalStates().fit(SYMBOLS), "The 'z' of 'X', ndarray, are missing"),
        (lambda: ds.CausalStates(past=2).fit(SYMBOLS, SYMBOLS), "The 'z' are given with 'past'"),
        (lambda: ds.CausalStates(past=0).fit(SYMBOLS), "The 'past' of CausalStates is 0"),
        (lambda: ds.CausalStates(density=ds.Counts, past=2).fit(SYMBOLS), "The 'density' of CausalStates is <class"),
    ],
)
def test_refusals_of_estimators(call: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        call()


def force() -> pd.DataFrame:
    rng = np.random.default_rng(3)
    return pd.DataFrame({"force": rng.normal(size=120), "vibration": rng.normal(size=120) * 3})


def test_columns_are_found_by_name_everywhere() -> None:
    frame = force()
    turned = frame[["vibration", "force"]]
    alike = ds.observe.delays([frame, frame], 2, target="vibration")
    for parts in ([frame, turned], {"a": frame, "b": turned}):
        obs = ds.observe.delays(parts, 2, target="vibration")
        np.testing.assert_array_equal(obs.points, alike.points)
        np.testing.assert_array_equal(obs.targets, alike.targets)
    numbered = frame.set_axis([1, 0], axis=1)
    np.testing.assert_array_equal(ds.observe.delays([numbered, numbered[[0, 1]]], 2).points, alike.points)
    groups = frame.assign(day=np.repeat([1, 2], 60)).groupby("day")[["force", "vibration"]]
    assert ds.observe.delays(groups, 2, target="vibration").targets.shape == (116, 1)
    moving = ds.CausalStates(past=2, density=ds.Kernels(0.5)).fit(frame)
    np.testing.assert_array_equal(moving.predict(turned), moving.predict(frame))
    np.testing.assert_array_equal(moving.fit([frame, frame]).predict([turned]), moving.predict(frame))
    whole, z = frame.round().astype(int), (frame["force"] > 0).astype(int)
    causal = ds.CausalStates().partial_fit(whole, z).partial_fit(whole[["vibration", "force"]], z)
    twice = ds.CausalStates().fit(pd.concat([whole, whole]), pd.concat([z, z]))
    np.testing.assert_array_equal(causal.states_.labels, twice.states_.labels)
    choice = ds.DecisionalStates(ds.utility.zero_one()).fit(twice)
    assert choice.score(whole[["vibration", "force"]], z) == choice.score(whole, z)
    with pytest.raises(ValueError, match="a frame with no column 'force'"):
        ds.observe.delays([frame, frame.rename(columns={"force": "f"})], 2)
    with pytest.raises(ValueError, match="The frame has 2 columns 'a'"):
        ds.observe.delays(pd.DataFrame(np.zeros((9, 2)), columns=["a", "a"]), 2)


def test_series_of_several_lengths() -> None:
    parts = [FRAME["status"][:70], FRAME["status"][70:]]
    causal = ds.CausalStates(past=2).fit(parts)
    np.testing.assert_array_equal(causal.labels_, ds.CausalStates(past=2).fit([p.tolist() for p in parts]).labels_)
    assert causal.to_frame().index.equals(FRAME.index)
    one = ds.CausalStates(past=2).fit(FRAME[["status"]])
    np.testing.assert_array_equal(one.labels_, ds.CausalStates(past=2).fit(FRAME["status"]).labels_)
    features = ds.ComplexityFeatures(past=2)
    expected = features.fit_transform([part.tolist() for part in parts])
    groups = FRAME["status"].groupby(np.repeat([0, 1], [70, 230]))
    for data in (parts, dict(enumerate(parts)), groups):
        np.testing.assert_array_equal(features.fit_transform(data), expected)
    wave = pd.Series(np.sin(np.arange(200) / 3))
    arrays = [wave.to_numpy(), wave[:50].to_numpy()]
    assert ds.selection.best_past({"a": wave, "b": wave[:50]}) == ds.selection.best_past(arrays)


def test_machines_follow_one_series() -> None:
    machine = ds.processes.even()
    choice = ds.DecisionalStates(ds.utility.zero_one()).fit(machine)
    series = pd.Series([0, 1, 1, 0, 1], index=HOURS[:5])
    expected = machine.filter([0, 1, 1, 0, 1])
    for data in (series, series.to_frame(), series.astype("category"), series.astype("Int64")):
        np.testing.assert_array_equal(machine.filter(data), expected)
        assert ds.Monitor(choice).feed(data).position.tolist() == choice.events(data, initial=True).position.tolist()
    refused = [
        (FRAME, "a frame of 3 columns"),
        ({"a": 1}, "are dict; a machine follows one sequence"),
        (__file__, "the name of a file"),
        ("0110\n", "ends with a line end"),
        ([series, series], "they must be a sequence of hashable values"),
    ]
    for data, said in refused:
        for call in (machine.filter, machine.log_likelihood, choice.predict, choice.score, ds.Monitor(choice).feed):
            with pytest.raises((ValueError, TypeError), match=said):
                call(data)
    lines = ds.EpsilonMachine.from_arrays([[0, 0]], [[0.5, 0.5]], ["a", "\n"])
    assert lines.filter("aa\n").tolist() == [0, 0, 0]


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: ds.CausalStates(past=2).fit(__file__), "the name of a file"),
        (lambda: ds.CausalStates(past=2).fit(None), "The 'X' is None; it must be a series"),
        (lambda: ds.epsilon_machine("wether.csv"), "the name of a file that does not exist"),
        (lambda: ds.epsilon_machine(FRAME["time"]), "are times with 300 different values"),
        (lambda: ds.observe.delays(FRAME["time"], 2), "values that are not numbers"),
        (lambda: ds.epsilon_machine(["0110" * 9] * 2), "2 times the same text of 36 characters"),
        (lambda: ds.ComplexityFeatures().fit(FRAME), "columns are of several kinds"),
        (lambda: ds.selection.best_past(FRAME), "The 'signals' is a frame whose column 'status'"),
        (lambda: ds.selection.best_past(SYMBOLS), "The 'signals' is ndarray of values that are not numbers"),
        (lambda: ds.read([]), "The 'path' is an empty list"),
        (lambda: ds.DecisionalStates(ds.utility.zero_one(), ds.utility.MonteCarlo).fit(EVEN), "'integrate' of Deci"),
        (lambda: ds.DecisionalStates(ds.utility.zero_one(), None, ds.utility.GlobalMaxima).fit(EVEN), "'optimise' of"),
    ],
)
def test_mistakes_are_refused_at_every_door(call: Any, said: str) -> None:
    with pytest.raises((ValueError, TypeError), match=said) as caught:
        call()
    assert "\n" not in str(caught.value)


def test_a_table_of_utilities_that_was_read_without_an_index() -> None:
    frame = pd.DataFrame({"U": ["out", "bet"], "0": [0, -3], "1": [0, 1]})
    assert repr(ds.utility.table(frame)) == repr(ds.utility.table(frame.set_index("U")))


def test_decisions_of_new_series_are_on_their_index() -> None:
    machine = ds.processes.even()
    choice = ds.DecisionalStates(ds.utility.zero_one()).fit(machine)
    series = pd.Series([1, 0, None, 1, 0, 1], index=HOURS[:6], dtype="Int64")
    frame = choice.to_frame(series)
    assert frame.index.equals(series.index)
    assert frame["state"].tolist() == choice.predict(series).tolist()
    known = frame["state"] >= 0
    assert known.tolist() == [False, True, False, False, True, True]
    assert frame["decision"][known].tolist() == [0, 0, 1]
    assert frame["decision"][~known].isna().all()
    assert np.array_equal(frame["utility"].isna(), ~known)
    parts = {"a": series, "b": series[1:]}
    both = choice.to_frame(parts)
    assert both.index.tolist() == [("a", hour) for hour in HOURS[:6]] + [("b", hour) for hour in HOURS[1:6]]
    assert both["state"].tolist() == [*choice.predict(series), *choice.predict(series[1:])]
    assert choice.to_frame("0110")["state"].tolist() == choice.predict("0110").tolist()
    with pytest.raises(ValueError, match="The 'X' of to_frame is missing"):
        choice.to_frame()
    wave = pd.Series(np.sin(np.arange(60) / 3), index=HOURS[:60])
    causal = ds.CausalStates(past=2, density=ds.Kernels(0.1)).fit(wave)
    signal = ds.DecisionalStates(ds.utility.squared_error()).fit(causal)
    again = signal.to_frame(wave)
    assert again["state"].iloc[-1] >= 0
    assert again[1:-1].equals(signal.to_frame()[1:-1])
    sliced = ds.CausalStates().fit(ds.observe.series(FRAME["status"].set_axis(HOURS), past=2, chunks=50)).to_frame()
    assert sliced.index.equals(HOURS)
