"""A monitor on causal states of numbers: the states of the batch, borders, gaps, vectors, files, commands."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import decisional as ds
from decisional.machines.walks import SURE
from strategies_symbols import examples


def wave(n, seed, m=1):
    rng = np.random.default_rng(seed)
    t = np.arange(n)
    found = np.column_stack([np.sin(0.2 * t + k) for k in range(m)]) + 0.2 * rng.normal(size=(n, m))
    return found[:, 0] if m == 1 else found


# How a signal is observed.
KINDS = {
    "past 1": {"past": 1},
    "past 3": {"past": 3},
    "lags": {"lags": [0, 2, 5]},
    "steps": {"past": 2, "step": 2, "future": 2},
    "differences": {"past": 2, "difference": True},
    "vectors": {"past": 1},
    "one of two": {"past": 2, "target": 1},
}


def width(kind):
    return 2 if kind in ("vectors", "one of two") else 1


@pytest.fixture(scope="module")
def choices():
    found = {}
    for kind, how in KINDS.items():
        causal = ds.CausalStates().fit(ds.observe.delays(wave(500, 1, width(kind)), **how))
        vector = isinstance(causal.outcomes_[0], tuple)
        utility = ds.utility.zero_one() if vector else ds.utility.squared_error()
        found[kind] = ds.DecisionalStates(utility).fit(causal)
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_push_and_feed_have_the_states_of_the_batch(choices, kind):
    choice, m = choices[kind], width(kind)

    @examples(30, 30)
    @given(st.integers(0, 2**32 - 1), st.integers(1, 40), st.integers(0, 3))
    def check(seed, n, n_cuts):
        rng = np.random.default_rng(seed)
        values = wave(n, seed, m) * rng.choice([0.5, 1.0, 3.0])
        values[rng.random(n) < 0.05] = np.nan
        pushed, fed = ds.Monitor(choice), ds.Monitor(choice)
        one, many, states = [], [], []
        for value in values:
            event = pushed.push(value)
            states.append(pushed.state)
            one += [] if event is None else [str(event)]
        for part in np.split(values, np.sort(rng.integers(0, n + 1, n_cuts))):
            many += list(map(str, fed.feed(part)))
        assert one == many
        assert np.allclose(pushed.belief, fed.belief)
        assert pushed.belief.sum() == pytest.approx(1.0)
        assert pushed.predict_proba().sum() == pytest.approx(1.0)
        assert len(pushed.outcomes) == pushed.predict_proba().size
        # Values that come after the last one are needed for the batch to observe it.
        made = choice.causal_.observations_.delays
        longer = np.concatenate([values, np.zeros((max(made.ahead), *values.shape[1:]))])
        expected = np.full(n, -1)
        try:
            obs = ds.observe.delays(longer, **KINDS[kind])
        except ValueError:
            obs = None
        if obs is not None:
            expected[obs.site] = choice.causal_.predict(obs)
        whole = _whole_ahead(values, made)
        assert (np.array(states)[whole] == expected[whole]).all()
        if obs is not None and whole.all():
            assert one == list(map(str, choice.events(obs, initial=True)))

    check()


def _whole_ahead(values, made):
    """Which places are observed by the batch if by anybody: those whose z is not missing."""
    missing = np.isnan(values).reshape(len(values), -1).any(axis=1)
    missing = np.append(missing, np.zeros(max(made.ahead), bool))
    reach = range(1 - made.difference, max(made.ahead) + 1)
    return ~np.any([missing[k : k + len(values)] for k in reach if k], axis=0)


def test_borders_change_nothing(choices):
    choice = choices["past 1"]
    monitor = ds.Monitor(choice, by="prediction")
    grid = np.linspace(-1.5, 1.5, 301)
    looked = choice.causal_.labeller_.look(grid[:, None])
    together = np.zeros((301, choice.iso_prediction_.n_states))
    for k, label in enumerate(choice.iso_prediction_.labels.tolist()):
        together[:, label] += looked.belief[:, k]
    decided = []
    for value in grid:
        monitor.push(value)
        decided.append(monitor.decision)
    sure = together.max(axis=1) >= SURE
    assert 0 < np.count_nonzero(~sure) < 150
    changes = np.flatnonzero(np.diff(decided)) + 1
    assert changes.size
    assert sure[changes].all()
    assert (np.array(decided)[sure] == together.argmax(axis=1)[sure]).all()


def test_missing_values(choices):
    choice, values = choices["past 3"], wave(60, 5)
    holes = values.copy()
    holes[[20, 21, 40]] = np.nan
    reset, stay = ds.Monitor(choice), ds.Monitor(choice, missing="stay")
    states = []
    for value in holes:
        reset.push(value)
        states.append(reset.state)
    assert [k for k in range(60) if states[k] < 0] == [0, 1, 20, 21, 22, 23, 40, 41, 42]
    stay.feed(holes)
    plain = ds.Monitor(choice)
    plain.feed(values[np.isfinite(holes)])
    assert (stay.state, stay.position, plain.position) == (plain.state, 60, 57)
    refusing = ds.Monitor(choice, missing="raise")
    with pytest.raises(ValueError, match="is missing; gaps are refused"):
        refusing.feed(holes)
    assert refusing.position == 20
    refusing.gap()
    refusing.feed(holes[22:40])
    with pytest.raises(ValueError, match="is missing"):
        refusing.push(None)


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_keeps_where_it_stood(choices, kind, tmp_path):
    values = wave(120, 7, width(kind))
    values[50] = np.nan
    whole = list(map(str, ds.Monitor(choices[kind]).feed(values)))
    for cut in (0, 1, 2, 51, 119):
        first = ds.Monitor(choices[kind])
        events = list(map(str, first.feed(values[:cut])))
        first.save(tmp_path / "monitor.json")
        second = ds.Monitor.load(tmp_path / "monitor.json")
        assert second.same_model(first)
        assert [*events, *map(str, second.feed(values[cut:]))] == whole
        assert second.outcomes == first.outcomes


def test_a_damaged_file_is_refused(choices, tmp_path):
    import json

    from decisional.support.packing import sealed

    ds.Monitor(choices["past 3"]).save(tmp_path / "whole.json")
    content = json.loads((tmp_path / "whole.json").read_text())
    content.pop("check")
    for name, value in (("width", content["windows"]["prior"]), ("state", content["windows"]["bin"]), ("scale", None)):
        damaged = {**content, "windows": {**content["windows"], name: value}}
        (tmp_path / "damaged.json").write_text(json.dumps(sealed(damaged)))
        with pytest.raises(ValueError, match="is corrupt"):
            ds.Monitor.load(tmp_path / "damaged.json")


def test_rows_of_numbers_are_followed():
    rng = np.random.default_rng(3)
    x = rng.normal(size=(600, 2))
    causal = ds.CausalStates().fit(x, np.where(x[:, 0] > 0, "up", "down").tolist())
    monitor = ds.Monitor(ds.DecisionalStates(ds.utility.zero_one()).fit(causal))
    monitor.feed(np.array([[2.0, 0.0], [-2.0, 0.0]]))
    assert monitor.predictions == frozenset({"down"})
    assert dict(zip(monitor.outcomes, monitor.predict_proba(), strict=True))["down"] > 0.9
    with pytest.raises(ValueError, match=r"must have shape \(n, 2\)"):
        monitor.feed([1.0, 2.0])
    with pytest.raises(TypeError, match="give 2 values"):
        monitor.push("up")


def test_what_cannot_be_followed_is_refused():
    dates = np.tile(np.arange(24.0), 20)
    known = ds.observe.delays(wave(480, 2), past=1, inputs=dates)
    with pytest.raises(ValueError, match="known in advance"):
        ds.Monitor(ds.DecisionalStates(ds.utility.squared_error()).fit(ds.CausalStates().fit(known)))
    image = ds.CausalStates().fit(ds.observe.image(np.random.default_rng(0).random((20, 20))))
    with pytest.raises(ValueError, match=r"of the kind .image."):
        ds.Monitor(ds.DecisionalStates(ds.utility.squared_error()).fit(image))


def test_watch_follows_states_of_numbers(choices, tmp_path):
    values = wave(200, 11).round(4)
    ds.Monitor(choices["past 3"]).save(tmp_path / "model.json")
    events = list(ds.Monitor(choices["past 3"]).feed(values))
    table = tmp_path / "sensor.csv"
    table.write_text("level\n" + "".join(f"{value}\n" for value in values))

    def watch(*options, text=""):
        command = [sys.executable, "-m", "decisional", "watch", str(tmp_path / "model.json"), *options]
        return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout

    plain = watch(text="\n".join(map(str, values)) + "\n")
    assert len(plain.splitlines()) == len(events) > 3
    assert watch(str(table), "--column", "level") == plain
    state = "--state", str(tmp_path / "state.json"), "--quiet"
    first = watch(*state, text="\n".join(map(str, values[:90])) + "\n")
    second = watch(*state, text="\n".join(map(str, values[90:])) + "\n")
    assert first + second == plain
