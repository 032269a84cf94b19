"""States of every kind of data are saved, loaded and applied to new data: bit for bit as the fitted ones."""

import json
import warnings
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import decisional as ds
from decisional.support.packing import sealed


class Case(NamedTuple):
    """Fitted causal states, new data, a utility, and the outcomes of rows."""

    causal: Any
    new: Any
    utility: Any
    z: Any = None


def even(n: int, seed: int) -> Any:
    return ds.processes.even().simulate(n, rng=seed)


def automaton(rows: int, seed: int) -> Any:
    return ds.processes.elementary_ca(110, rows, 64, seed)


def wave(n: int, seed: int, width: int = 0) -> Any:
    noise = np.random.default_rng(seed).normal(size=(n, width) if width else n)
    t = np.sin(0.3 * np.arange(n))
    return (t[:, None] if width else t) + 0.1 * noise


def pixels(seed: int) -> Any:
    smooth = np.cumsum(np.random.default_rng(seed).integers(-9, 10, (20, 20)), axis=1)
    return (smooth - smooth.min()).astype(np.uint8)


def rows(n: int, seed: int) -> tuple[Any, Any]:
    x = np.random.default_rng(seed).normal(size=(n, 2))
    return x, np.where(x[:, 0] > 0, "up", "down").tolist()


def kinds(n: int, seed: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 3, n)
    return x, x + rng.integers(0, 2, n)


def dated(n: int, seed: int) -> Any:
    import pandas as pd

    return pd.Series(wave(n, seed), pd.date_range("2024-01-01", periods=n, freq="h"))


def smooth_field(seed: int) -> Any:
    return 0.1 * np.cumsum(np.random.default_rng(seed).normal(size=(40, 30)), axis=0)


CASES: dict[str, Any] = {
    "series": lambda: Case(
        ds.CausalStates().fit(ds.observe.series(even(3000, 1), past=5)), even(300, 2), ds.utility.zero_one()
    ),
    "series of text": lambda: Case(
        ds.CausalStates(match=ds.ChiSquare(0.001)).fit(ds.observe.series("ab" * 300 + "aab" * 200, past=3, future=2)),
        "ababaabx" * 9,
        ds.utility.zero_one(),
    ),
    "long windows": lambda: Case(
        ds.CausalStates(density=ds.Counts(min_count=5)).fit(ds.observe.series(even(800, 3), past=70)),
        even(200, 4),
        ds.utility.table([[0, 0], [-3, 1]], y=["stay out", "bet"]),
    ),
    "plain series": lambda: Case(ds.CausalStates(past=4).fit(even(2000, 5)), even(200, 6), ds.utility.zero_one()),
    "field": lambda: Case(
        ds.CausalStates().fit(ds.observe.light_cones(automaton(80, 1), 3, 3)),
        automaton(30, 2),
        ds.utility.matching_cells(),
    ),
    "field with steps": lambda: Case(
        ds.CausalStates(match="exact").fit(ds.observe.light_cones(automaton(80, 1), 3, 2, transitions="time")),
        automaton(30, 2),
        ds.utility.matching_cells(),
    ),
    "sliced field": lambda: Case(
        ds.CausalStates().fit(ds.observe.light_cones(automaton(80, 1), 2, 2, chunks=30)),
        automaton(30, 2),
        ds.utility.matching_cells(),
    ),
    "real field": lambda: Case(
        ds.CausalStates().fit(ds.observe.light_cones(smooth_field(1), 2, 2, boundary="open")),
        smooth_field(2),
        ds.utility.squared_error(),
    ),
    "image": lambda: Case(
        ds.CausalStates(ds.Kernels(5.0), ds.Bhattacharyya(), passes=2).fit(
            ds.observe.image(pixels(1), neighbourhood=[[0, 1, 0], [1, 0, 1], [0, 1, 0]], border="mirror")
        ),
        pixels(2),
        ds.utility.tolerant(7),
    ),
    "signal": lambda: Case(
        ds.CausalStates().fit(ds.observe.delays(wave(250, 1), past=2)), wave(80, 2), ds.utility.squared_error()
    ),
    "sliced signal": lambda: Case(
        ds.CausalStates().fit(ds.observe.delays(wave(250, 1), past=1, chunks=100)),
        wave(80, 2),
        ds.utility.squared_error(),
    ),
    "signal of two variables": lambda: Case(
        ds.CausalStates(ds.Kernels("rule")).fit(ds.observe.delays(wave(250, 1, 2), lags=[0, 3], target=1)),
        wave(80, 2, 2),
        ds.utility.newsvendor(2.0, 1.0),
    ),
    "plain signal by the hour": lambda: Case(
        ds.CausalStates(past=1, inputs=["hour"]).fit(dated(250, 1)), dated(80, 2), ds.utility.alarm(0.5, 2.0, 1.0)
    ),
    "signal by the hour": lambda: Case(
        ds.CausalStates().fit(ds.observe.delays(dated(250, 1), past=1, inputs=["hour"])),
        dated(80, 2),
        ds.utility.interval_score(0.8),
    ),
    "rows of numbers": lambda: Case(
        ds.CausalStates().fit(*rows(200, 1)), rows(50, 2)[0], ds.utility.zero_one(), rows(50, 2)[1]
    ),
    "pairs": lambda: Case(
        ds.CausalStates().fit(*kinds(400, 1)), kinds(50, 2)[0], ds.utility.zero_one(), kinds(50, 2)[1]
    ),
}
TOLD = ("n_states_", "complexity_", "recurrent_complexity_", "unresolved_", "converged_", "warning_", "usual_surprise_")
DECIDED = ("n_states_", "complexity_", "prediction_complexity_", "utility_complexity_", "expected_utility_")


@lru_cache
def case(name: str) -> Case:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found: Case = CASES[name]()
    return found


def same(a: Any, b: Any) -> None:
    a, b = (v if isinstance(v, np.ndarray) else np.asarray(v.todense() if hasattr(v, "todense") else v) for v in (a, b))
    assert a.dtype == b.dtype
    np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("name", CASES)
def test_loaded_causal_states_are_those_that_were_saved(name, tmp_path):
    causal, new, _, z = case(name)
    causal.save(tmp_path / "model.json")
    back = ds.CausalStates.load(tmp_path / "model.json")
    assert isinstance(back, ds.CausalStates)
    assert repr(back) == repr(causal)
    assert {k: getattr(back, k) for k in TOLD} == {k: getattr(causal, k) for k in TOLD}
    assert list(back.outcomes_) == list(causal.outcomes_)
    same(back.distributions_, causal.distributions_)
    same(back.states_.labels, causal.states_.labels)
    same(back.states_.probability, causal.states_.probability)
    obs, again = causal.observe(new, z), back.observe(new, z)
    same(again.site, obs.site)
    same(back.predict(again), causal.predict(obs))
    same(back.predict_proba(again), causal.predict_proba(obs))
    same(back.surprise(again), causal.surprise(obs))
    assert back.score(again) == causal.score(obs)
    # Of slices nobody knows what follows what, as machines of levels need it.
    machine = None if name == "sliced signal" else causal.machine_
    if machine is not None:
        same(back.machine_.emission, machine.emission)
        same(back.machine_.counts, machine.counts)
        assert (back.machine_.alphabet, back.machine_.names) == (machine.alphabet, machine.names)
    back.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "model.json").read_bytes()


@pytest.mark.parametrize("name", CASES)
def test_loaded_decisional_states_are_those_that_were_saved(name, tmp_path):
    causal, new, utility, z = case(name)
    choice = ds.DecisionalStates(utility).fit(causal)
    choice.save(tmp_path / "model.json")
    back = ds.DecisionalStates.load(tmp_path / "model.json")
    assert {k: getattr(back, k) for k in DECIDED} == {k: getattr(choice, k) for k in DECIDED}
    same(back.utility_, choice.utility_)
    same(back.states_.labels, choice.states_.labels)
    assert list(map(repr, back.predictions_)) == list(map(repr, choice.predictions_))
    first, second = choice.apply(new, z), back.apply(new, z)
    for name_of, values in first.columns.items():
        same(second.columns[name_of], values)
    assert second.expected_utility == first.expected_utility
    same(back.decide(second.observations), choice.decide(first.observations))
    same(back.predict(second.observations), first.decisional)
    back.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "model.json").read_bytes()


def test_applied_agrees_with_its_parts():
    causal, new, utility, _ = case("series")
    choice = ds.DecisionalStates(utility).fit(causal)
    found = choice.apply(new)
    obs = ds.observe.series(new, past=5)
    same(found.state, causal.predict(obs))
    assert found.mean_surprise == -causal.score(obs)
    assert found.utility.mean() == choice.score(obs)
    literal = [-np.log2(causal.distributions_[s, list(causal.outcomes_).index(obs.outcomes[k])]) for s, k in
               zip(found.state, obs.z, strict=True)]  # fmt: skip
    np.testing.assert_allclose(found.surprise, literal)
    np.testing.assert_allclose(found.local_complexity, -np.log2(causal.states_.probability[found.state]))
    # The data of fit are as surprising as usual.
    assert causal.surprise(causal.observations_).mean() == pytest.approx(causal.usual_surprise_)
    frame = found.to_frame()
    assert frame.shape[0] == 300
    assert frame.state[3] == -1
    assert frame.state[4] == found.state[0]


@pytest.mark.parametrize("name", ["series", "plain series", "signal", "signal by the hour", "signal of two variables"])
def test_the_last_values_have_a_state_and_a_decision(name):
    causal, new, utility, _ = case(name)
    found = ds.DecisionalStates(utility).fit(causal).apply(new)
    frame = found.to_frame()
    assert found.ahead is not None
    assert len(frame) == len(new)
    assert frame.state.iloc[-1] == found.ahead[-1] >= 0
    assert frame.decision.iloc[-1] is not None
    assert np.isnan(frame.surprise.iloc[-1])
    # What comes later changes nothing that was known before.
    shorter = causal.apply(new[:60])
    same(shorter.ahead, found.ahead[:60])
    same(found.state, causal.predict(found.observations))
    same(frame.surprise.to_numpy()[found.observations.site], found.surprise)


def test_symbols_that_print_the_same_are_meant():
    causal, new, _, _ = case("series")
    text = "".join(map(str, new.tolist()))
    same(causal.apply(text).state, causal.apply(new).state)


def test_unseen_x_and_outcomes():
    causal = ds.CausalStates().fit(["a", "b"] * 50, ["x", "y"] * 50)
    found = causal.apply(["a", "c", "a"], ["x", "x", "never"])
    assert found.state.tolist() == causal.predict(["a", "c", "a"]).tolist()
    assert found.unseen == pytest.approx(1 / 3)
    assert found.surprise[0] == 0.0
    assert np.isnan(found.surprise[1])
    assert found.surprise[2] == pytest.approx(np.log2(51))
    told = ds.DecisionalStates(ds.utility.zero_one()).fit(causal).apply(["a", "c"])
    assert told.decision.tolist() == ["x", "x"]
    assert told.utility is None


def test_more_data_are_added_to_loaded_counts(tmp_path):
    first, second = even(1000, 1), even(1000, 2)
    whole = ds.CausalStates().fit(ds.observe.series([first, second], past=3))
    ds.CausalStates().fit(ds.observe.series(first, past=3)).save(tmp_path / "model.json")
    back = ds.CausalStates.load(tmp_path / "model.json").partial_fit(ds.observe.series(second, past=3))
    same(back.distributions_, whole.distributions_)
    back.save(tmp_path / "more.json")
    assert ds.CausalStates.load(tmp_path / "more.json").apply(even(50, 3)).n == 47


def test_slices_that_were_counted_one_by_one_are_saved(tmp_path):
    pieces = ds.CausalStates()
    for piece in ds.observe.light_cones(automaton(80, 1), 2, 2, chunks=30).pieces():
        pieces.partial_fit(piece)
    pieces.save(tmp_path / "model.json")
    back = ds.CausalStates.load(tmp_path / "model.json")
    same(back.apply(automaton(30, 2)).state, case("sliced field").causal.apply(automaton(30, 2)).state)
    merged = ds.CausalStates().merge(pieces).merge(back)
    assert merged.apply(automaton(30, 2)).n == 62 * 30


def test_a_machine_is_saved_with_its_decisions(tmp_path):
    for machine in (ds.processes.even(), ds.epsilon_machine(even(3000, 1))):
        choice = ds.DecisionalStates(ds.utility.zero_one()).fit(machine)
        choice.save(tmp_path / "model.json")
        back = ds.DecisionalStates.load(tmp_path / "model.json")
        assert list(back.predictions_) == list(choice.predictions_)
        same(back.machine_.emission, machine.emission)
        found, again = choice.apply([[0, 1, 1, 0, 1], even(100, 2)]), back.apply([[0, 1, 1, 0, 1], even(100, 2)])
        for name, values in found.columns.items():
            same(again.columns[name], values)
        assert found.n == 4 + 99
        assert found.state[0] >= 0
    exact = ds.DecisionalStates(ds.utility.zero_one()).fit(ds.processes.even()).apply([0, 1, 0])
    assert exact.surprise.tolist() == [1.0, np.inf]


def test_coarse_states_are_saved(tmp_path):
    for name in ("field", "signal"):
        coarse = case(name).causal.coarsen(n_states=2)
        coarse.save(tmp_path / "model.json")
        back = ds.CausalStates.load(tmp_path / "model.json")
        same(back.apply(case(name).new).state, coarse.apply(case(name).new).state)


def test_what_needs_the_data_is_refused(tmp_path):
    for name in ("series", "field"):
        case(name).causal.save(tmp_path / "model.json")
        back = ds.CausalStates.load(tmp_path / "model.json")
        for what in ("labels_", "local_complexity_"):
            with pytest.raises(ValueError, match="only counts were kept"):
                getattr(back, what)
    case("signal").causal.save(tmp_path / "model.json")
    back = ds.CausalStates.load(tmp_path / "model.json")
    same(back.labels_, case("signal").causal.labels_)
    new = case("signal").causal.observe(case("signal").new)
    same(back.forecast(new, 2).mean, case("signal").causal.forecast(new, 2).mean)


def test_code_is_not_saved(tmp_path):
    obs = ds.observe.series(even(500, 1), past=2)
    with pytest.raises(TypeError, match=r"The 'match' of CausalStates is .*which no file holds"):
        ds.CausalStates(match=lambda a, b: True).fit(obs).save(tmp_path / "model.json")
    worth = ds.DecisionalStates(lambda y, z: -abs(y - z)).fit(obs)
    with pytest.raises(TypeError, match="a function, which no file holds"):
        worth.save(tmp_path / "model.json")
    with pytest.raises(ValueError, match="not fitted yet"):
        ds.CausalStates().save(tmp_path / "model.json")
    assert not (tmp_path / "model.json").exists()
    # A state for each distinct x is the library's own.
    direct = ds.DecisionalStates(ds.utility.zero_one(), past=3).fit(even(500, 1))
    direct.save(tmp_path / "model.json")
    back = ds.DecisionalStates.load(tmp_path / "model.json")
    same(back.decide(even(50, 2)), direct.decide(even(50, 2)))


def test_ways_to_integrate_and_to_optimise_are_saved(tmp_path):
    causal, new, _, _ = case("signal")
    for how in (
        {"integrate": ds.utility.MonteCarlo(200, 1)},
        {"integrate": ds.utility.SamplePoints()},
        {"optimise": ds.utility.GlobalMaxima([(-2.0, 2.0)], 16)},
        {"delta": 0.1, "atol": 0.01},
        {"indifference": 0.05},
    ):
        choice = ds.DecisionalStates(ds.utility.tolerant(0.1), **how).fit(causal)
        choice.save(tmp_path / "model.json")
        back = ds.DecisionalStates.load(tmp_path / "model.json")
        assert back.get_params(deep=False).keys() == choice.get_params(deep=False).keys()
        same(back.utility_, choice.utility_)
        same(back.decide(back.causal_.observe(new)), choice.decide(causal.observe(new)))
    random = ds.DecisionalStates(ds.utility.tolerant(0.1), integrate=ds.utility.MonteCarlo(200)).fit(causal)
    with pytest.raises(TypeError, match="whose draws would be others"):
        random.save(tmp_path / "model.json")


LETTERS = st.one_of(
    st.integers(-3, 3),
    st.booleans(),
    st.sampled_from(["a", "b", "long word", "", "ü", "\U0001f600"]),
    st.sampled_from([0.5, -0.0, 1e300]),
    st.tuples(st.integers(0, 1), st.sampled_from("ab")),
)


@settings(deadline=None, max_examples=30)
@given(st.lists(LETTERS, min_size=6, max_size=40), st.integers(1, 3), st.integers(1, 2))
def test_symbols_of_any_kind_come_back(symbols, past, future):
    # Floats are symbols where they repeat.
    symbols = symbols + symbols
    causal = ds.CausalStates().fit(ds.observe.series(symbols, past=past, future=future, sequences=False))
    with TemporaryDirectory() as folder:
        causal.save(f"{folder}/model.json")
        back = ds.CausalStates.load(f"{folder}/model.json")
        back.save(f"{folder}/again.json")
        assert Path(folder, "again.json").read_bytes() == Path(folder, "model.json").read_bytes()
    assert list(map(repr, back.outcomes_)) == list(map(repr, causal.outcomes_))
    assert list(map(repr, back.observations_.letters)) == list(map(repr, causal.observations_.letters))
    same(back.distributions_, causal.distributions_)
    obs = ds.observe.series(symbols[::-1], past=past, future=future, sequences=False)
    same(back.predict(obs), causal.predict(obs))
    same(back.surprise(obs), causal.surprise(obs))


def test_inputs_of_numbers_are_refused_in_one_sentence():
    causal = ds.CausalStates().fit(ds.observe.delays(wave(100, 1), past=1, inputs=np.tile(np.arange(10.0), 10)))
    with pytest.raises(ValueError, match=r"observed with inputs that are numbers; .*give 'data' as Observations"):
        causal.observe(wave(50, 2))


@pytest.mark.parametrize("name", ["series", "real field", "signal", "image"])
def test_damaged_files_are_refused(name, tmp_path):
    path = tmp_path / "model.json"
    case(name).causal.save(path)
    whole = path.read_bytes()
    rng = np.random.default_rng(5)
    for cut in (0, 1, 50, len(whole) // 2, len(whole) - 3):
        path.write_bytes(whole[:cut])
        with pytest.raises(ValueError, match=r"The file '.*model.json' is not JSON"):
            ds.CausalStates.load(path)
    for place in rng.integers(0, len(whole) - 2, 40).tolist():
        garbled = bytearray(whole)
        garbled[place] ^= 1 << int(rng.integers(0, 7))
        path.write_bytes(garbled)
        try:
            back = ds.CausalStates.load(path)
        except ValueError as error:
            assert str(error).startswith("The file '"), error  # noqa: PT017
            assert str(error).endswith("."), error  # noqa: PT017
        else:
            # White space between the parts may differ.
            assert json.loads(bytes(garbled)) == json.loads(whole)
            same(back.distributions_, case(name).causal.distributions_)


@pytest.mark.parametrize("name", ["series", "field", "real field", "signal", "image", "pairs"])
def test_parts_that_do_not_fit_together_are_refused(name, tmp_path):
    path = tmp_path / "model.json"
    case(name).causal.save(path)
    content = json.loads(path.read_text())
    content.pop("check")
    found = content["found"]
    for part in ("labels", "row_states", "distributions", "observations", "density", "rows"):
        for value in (None, {}, found["steps"] and found["steps"][0], found["rows"]["row"], 3):
            if value == found[part]:
                continue
            damaged = {**content, "found": {**found, part: value}}
            path.write_text(json.dumps(sealed(damaged)))
            try:
                ds.CausalStates.load(path)
            except ValueError as error:
                assert "is corrupt" in str(error)  # noqa: PT017
            else:
                # Every x a row of its own: one may stand for the other.
                assert part in ("labels", "row_states")


def test_other_files_are_refused(tmp_path):
    path = tmp_path / "model.json"
    case("series").causal.save(path)
    with pytest.raises(ValueError, match=r"has causal states and decisional ones are asked for: .*CausalStates.load"):
        ds.DecisionalStates.load(path)
    with pytest.raises(ValueError, match=r"has format 'decisional.States'; it must be 'decisional.EpsilonMachine'"):
        ds.EpsilonMachine.load(path)
    content = json.loads(path.read_text())
    for version, said in ((2, "newer than 1"), (0, "positive integer"), ("1", "positive integer")):
        path.write_text(json.dumps({**content, "version": version}))
        with pytest.raises(ValueError, match=said):
            ds.CausalStates.load(path)
    ds.processes.even().save(path)
    with pytest.raises(ValueError, match=r"has format 'decisional.EpsilonMachine'; it must be 'decisional.States'"):
        ds.CausalStates.load(path)
    np.save(tmp_path / "array.npy", np.arange(3))
    with pytest.raises(ValueError, match="is not JSON"):
        ds.CausalStates.load(tmp_path / "array.npy")
    with pytest.raises(FileNotFoundError, match="does not exist"):
        ds.CausalStates.load(tmp_path / "none.json")
