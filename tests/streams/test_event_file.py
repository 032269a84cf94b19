"""Events of a monitor on disk, once each."""

import errno
import json
import os
from pathlib import Path

import pytest

import decisional as ds
from decisional.streams.event_file import EventFile

EVEN = ds.processes.even()
SYMBOLS = EVEN.simulate(300, rng=1).tolist()


def monitor() -> ds.Monitor:
    return ds.Monitor(ds.DecisionalStates(ds.utility.zero_one()).fit(EVEN))


def positions(path: Path) -> list[int]:
    return [json.loads(line)["position"] for line in path.read_text().splitlines()]


def test_events_are_there_once_after_an_interruption(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out, state = tmp_path / "events.jsonl", tmp_path / "state.json"
    expected = [event.position for event in monitor().feed(SYMBOLS)]
    save = ds.Monitor.save

    def fail(self: ds.Monitor, path: str) -> None:
        # The worst moment: events are written, the state is not.
        if self.position > 100:
            raise KeyboardInterrupt
        save(self, path)

    with monkeypatch.context() as patched:
        patched.setattr(ds.Monitor, "save", fail)
        with EventFile(monitor(), str(out), str(state)) as file:
            file.feed(SYMBOLS[:100])
            with pytest.raises(KeyboardInterrupt):
                file.feed(SYMBOLS[100:200])
    assert max(positions(out)) >= 100
    saved = ds.Monitor.load(state)
    assert saved.position == 100
    with out.open("a") as events:
        events.write('{"posi')
    with EventFile(saved, str(out), str(state), resumed=True) as file:
        file.feed(SYMBOLS[100:])
    assert positions(out) == expected
    with pytest.raises(ValueError, match="has events already"):
        EventFile(monitor(), str(out), str(tmp_path / "other.json"))


def test_gaps_and_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    with EventFile(monitor()) as file:
        file.feed(SYMBOLS[:10], gap=True)
    assert file.monitor.position == 11
    assert len(capsys.readouterr().out.splitlines()) == len(monitor().feed(SYMBOLS[:10]))


@pytest.mark.parametrize("fails", ["events", "state"])
@pytest.mark.parametrize("written", [0, 1, 100, 101, 5000])
def test_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fails: str, written: int) -> None:
    out, state = tmp_path / "events.jsonl", tmp_path / "state.json"
    expected = [event.position for event in monitor().feed(SYMBOLS)]
    with EventFile(monitor(), str(out), str(state)) as file:
        file.feed(SYMBOLS[:50])
        full = OSError(errno.ENOSPC, "No space left on device")

        def fail(*given: str) -> None:
            # As much as there is room for is written.
            with out.open("a") as events:
                events.write(given[0][:written] if fails == "events" else "")
            raise full

        with monkeypatch.context() as patched:
            patched.setattr(*((file, "_write") if fails == "events" else (os, "replace")), fail)
            with pytest.raises(OSError, match="No space left"):
                file.feed(SYMBOLS[50:200])
        # What follows cannot be told after events that are lost.
        with pytest.raises(ValueError, match="could not be written"):
            file.feed(SYMBOLS[200:])
    assert sorted(os.listdir(tmp_path)) == ["events.jsonl", "state.json"]
    saved = ds.Monitor.load(state)
    assert saved.position == 50
    with EventFile(saved, str(out), str(state), resumed=True) as file:
        file.feed(SYMBOLS[50:])
    assert positions(out) == expected


def test_times_notes_and_refused_symbols(tmp_path: Path) -> None:
    out, state = tmp_path / "events.jsonl", tmp_path / "state.json"
    watched = ds.Monitor(ds.DecisionalStates(ds.utility.zero_one()).fit(EVEN), missing="raise")
    taken: list[int] = []
    with EventFile(watched, str(out), str(state)) as file:
        with pytest.raises(ValueError, match="is missing"):
            file.feed([0, 1, 1, None, 0], times=list("abcde"), note=taken.append)
        assert ds.Monitor.load(state).position == 3
        file.feed([], gap=True, note=taken.append)
        file.feed([0, 1], times=["f", "g"], note=taken.append)
    assert taken == [3, 1, 2]
    lines = [json.loads(line) for line in out.read_text().splitlines()]
    assert [(line["position"], line["time"]) for line in lines] == [(0, "a"), (1, "b"), (2, "c"), (5, "g")]


def test_a_source_is_saved_with_the_monitor(tmp_path: Path) -> None:
    watched, path = monitor(), tmp_path / "monitor.json"
    watched.source = {"file": "sky.csv", "names": ["a", "é"]}
    watched.feed("0110")
    watched.save(path)
    assert ds.Monitor.load(path).source == watched.source
    assert ds.Monitor.load(path).same_model(monitor())
    content = json.loads(path.read_text())
    content["source"]["file"] = "other.csv"
    path.write_text(json.dumps(content))
    with pytest.raises(ValueError, match="digest differs"):
        ds.Monitor.load(path)
