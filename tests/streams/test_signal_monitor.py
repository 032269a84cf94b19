"""A monitor on the values of a signal: the states of the batch, one event for each change, gaps, files, commands."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import decisional as ds
from decisional.machines.epsilon_machine import trusted_machine
from decisional.machines.levels import Levels
from strategies_symbols import examples


def regimes(n, seed, stay=0.98, sd=0.3):
    """Two regimes at 0 and 1 that last, and the signal."""
    rng = np.random.default_rng(seed)
    regime = np.cumsum(rng.random(n) > stay) % 2
    return regime, regime + sd * rng.normal(size=n)


def watched(machine):
    return ds.DecisionalStates(ds.utility.alarm(0.5, missed=1, false=1)).fit(machine)


@pytest.fixture(scope="module")
def choice():
    return watched(ds.epsilon_machine(regimes(2000, 1)[1]))


@st.composite
def signals(draw):
    """A machine with levels, a signal with gaps, and where it is cut."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    k, m, n = draw(st.integers(1, 4)), draw(st.integers(1, 3)), draw(st.integers(1, 40))
    targets, emission = rng.integers(0, k, (k, m)), rng.dirichlet(np.ones(m), k)
    levels = Levels(np.sort(rng.normal(size=m)), rng.random(m) + 0.1, 0.0, 1.0)
    machine = trusted_machine(targets, emission, tuple(range(m)), None, levels=levels)
    values = rng.normal(size=n)
    values[rng.random(n) < 0.1] = np.nan
    return machine, values, np.sort(rng.integers(0, n + 1, draw(st.integers(0, 3)))).tolist()


@examples(200)
@given(signals(), st.sampled_from(["reset", "stay"]))
def test_push_and_feed_have_the_states_of_the_batch(case, missing):
    machine, values, cuts = case
    choice = ds.DecisionalStates(ds.utility.squared_error()).fit(machine)
    pushed, fed = (ds.Monitor(choice, missing=missing) for _ in range(2))
    one, many, states = [], [], []
    for value in values.tolist():
        event = pushed.push(value)
        states.append(pushed.state)
        one += [event] if event is not None else []
    for part in np.split(values, cuts):
        many += list(fed.feed(part))
    # By their text: nothing is worth NaN, which equals nothing.
    assert list(map(str, one)) == list(map(str, many))
    assert np.allclose(pushed.belief, fed.belief)
    if missing == "reset":
        assert states == machine.filter(values).tolist()
        assert list(map(str, one)) == list(map(str, choice.events(values, initial=True)))
    else:
        known = machine.filter(values[np.isfinite(values)]).tolist()
        assert [s for s, v in zip(states, values, strict=True) if np.isfinite(v)] == known


def test_one_event_for_each_change(choice):
    right = wrong = 0
    for seed in range(7000, 7010):
        regime, values = regimes(3000, seed)
        monitor = ds.Monitor(choice)
        at = [event.position for event in monitor.feed(values) if event.before >= 0]
        change = np.flatnonzero(np.diff(regime)) + 1
        # Regimes that last no more than a few values are hidden by the noise.
        lasting = change[np.diff(np.append(change, 3000)) > 8]
        told = [sum(0 <= p - c < 8 for p in at) for c in lasting]
        right += told.count(1)
        wrong += len(told) - told.count(1)
    assert right / (right + wrong) > 0.9


def test_a_file_keeps_where_it_stood(choice, tmp_path):
    values = regimes(500, 7020)[1]
    values[[40, 41, 300]] = np.nan
    whole = list(ds.Monitor(choice).feed(values))
    for cut in (0, 1, 41, 250, 499):
        first = ds.Monitor(choice)
        events = list(first.feed(values[:cut]))
        first.save(tmp_path / "monitor.json")
        second = ds.Monitor.load(tmp_path / "monitor.json")
        assert second.same_model(first)
        assert list(map(str, [*events, *second.feed(values[cut:])])) == list(map(str, whole))


def test_what_a_monitor_of_a_signal_refuses(choice):
    monitor = ds.Monitor(choice, missing="raise")
    with pytest.raises(TypeError, match="a signal has numbers"):
        monitor.push("high")
    with pytest.raises(ValueError, match="is missing; gaps are refused"):
        monitor.feed([0.1, None, 0.2])
    assert monitor.position == 1
    with pytest.raises(ValueError, match="numbers: the monitor is that of a signal"):
        monitor.feed(["low", "high"])
    with pytest.raises(ValueError, match="states of numbers are learnt from a window"):
        ds.Monitor(choice, adapt=ds.Adapt(forget=1000))


def test_watch_follows_numbers(choice, tmp_path):
    values = regimes(400, 7021)[1].round(4)
    ds.Monitor(choice).save(tmp_path / "model.json")
    events = list(ds.Monitor(choice).feed(values))

    def watch(*options, text=""):
        command = [sys.executable, "-m", "decisional", "watch", str(tmp_path / "model.json"), *options]
        return subprocess.run(command, input=text, capture_output=True, text=True, check=False)

    plain = watch(text="\n".join(map(str, values)) + "\n")
    assert plain.returncode == 0, plain.stderr
    assert len(plain.stdout.splitlines()) == len(events)
    table = tmp_path / "sensor.csv"
    table.write_text("place,level\n" + "".join(f"a,{value}\n" for value in values))
    assert watch(str(table), "--column", "level").stdout == plain.stdout
    refused = watch(text="0.1 high 0.2")
    assert refused.returncode != 0
    assert "'high' at position 1 of the input is no number" in refused.stderr
