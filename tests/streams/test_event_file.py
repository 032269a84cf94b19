"""Events of a monitor on disk, once each."""

import json
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
