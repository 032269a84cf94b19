"""decisional signal --monitor and --machine: from a table of a sensor to what follows it."""

import json

import numpy as np
import pytest

import decisional as ds
from decisional.cli.program import run as main


@pytest.fixture
def pump(tmp_path):
    """A table with a signal that moves between two levels, and where it moves."""
    rng = np.random.default_rng(4)
    load = np.cumsum(rng.random(900) < 0.03) % 2
    values = 2.0 + load + 0.15 * rng.normal(size=900)
    path = tmp_path / "pump.csv"
    path.write_text("vibration\n" + "".join(f"{value:.4f}\n" for value in values))
    return str(path), values.round(4), tmp_path


def test_a_monitor_of_causal_states(pump, capsys):
    path, values, folder = pump
    monitor = str(folder / "monitor.json")
    how = "--past", "2", "--utility", "alarm:2.5,1,1"
    assert main(["signal", path, "--column", "vibration", *how, "--monitor", monitor]) == 0
    shown = capsys.readouterr().out
    assert "alarm:2.5,1,1" in shown
    assert f"Wrote {monitor}" in shown
    causal = ds.CausalStates().fit(ds.observe.delays(values, past=2))
    expected = ds.Monitor(ds.DecisionalStates(ds.utility.alarm(2.5, missed=1, false=1)).fit(causal)).feed(values)
    assert main(["watch", monitor, path, "--column", "vibration"]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["position"] for line in lines] == [event.position for event in expected]
    assert len(lines) > 5


def test_a_machine_with_levels(pump, capsys):
    path, values, folder = pump
    machine, monitor = str(folder / "machine.json"), str(folder / "monitor.json")
    assert main(["signal", path, "--column", "vibration", "--past", "1", "--quiet", "--machine", machine]) == 0
    found = ds.EpsilonMachine.load(machine)
    assert found.levels.mean == pytest.approx([2.0, 3.0], abs=0.05)
    utility = "--utility", "alarm:2.5,1,1"
    events = "--events", path, "--column", "vibration"
    assert main(["decide", machine, *utility, *events, "--monitor", monitor]) == 0
    shown = capsys.readouterr().out
    choice = ds.DecisionalStates(ds.utility.alarm(2.5, missed=1, false=1)).fit(found)
    expected = list(map(str, choice.events(values, initial=True)))
    assert "alarm" in shown
    assert "\n".join(expected) in shown
    assert main(["watch", monitor, path, "--column", "vibration"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == len(expected)
    assert main(["watch", machine, path, "--column", "vibration", *utility, "--adapt"]) == 0


def test_what_is_refused(pump, capsys):
    path, _, folder = pump
    monitor = "--monitor", str(folder / "monitor.json")
    assert main(["signal", path, "--tau", "1", "--utility", "squared-error"]) != 0
    assert "--tau and --utility both say" in capsys.readouterr().err
    assert main(["signal", path, "--utility", "alarm:1", *monitor]) != 0
    assert "alarm:30,10,1" in capsys.readouterr().err
    assert not (folder / "monitor.json").exists()
