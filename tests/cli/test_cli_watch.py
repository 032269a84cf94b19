"""decisional watch: events at once, and once each, whatever happens to the program."""

import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from decisional import DecisionalStates, EpsilonMachine, Monitor, cli, utility
from interruption import listening

EVEN = EpsilonMachine([("A", "0", "A", 0.5), ("A", "1", "B", 0.5), ("B", "1", "A", 1.0)])
WORDS = EpsilonMachine([("A", "off", "A", 0.5), ("A", "on", "B", 0.5), ("B", "on", "A", 1.0)])


def choice(machine: EpsilonMachine = EVEN) -> DecisionalStates:
    return DecisionalStates(utility.zero_one()).fit(machine)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    EVEN.save("machine.json")
    Monitor(choice()).save("monitor.json")
    Monitor(choice(WORDS)).save("words.json")
    return tmp_path


def watch(monkeypatch: pytest.MonkeyPatch, text: str, *arguments: str) -> int:
    """Run the command on a text, in this process."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    return cli.main(["watch", *arguments])


def positions(text: str) -> list[int]:
    return [json.loads(line)["position"] for line in text.splitlines()]


def symbols(n: int, seed: int = 1) -> str:
    return "".join(EVEN.simulate(n, rng=seed).tolist())


def test_events_of_a_text(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    text = symbols(300)
    expected = choice().events(text, initial=True).position.tolist()
    spaced = "\n".join(", ".join(text[k : k + 7]) for k in range(0, 300, 7))
    for given, arguments in (
        (text, ["monitor.json"]),
        (spaced, ["monitor.json"]),
        (text, ["machine.json", "--utility", "zero-one"]),
    ):
        assert watch(monkeypatch, given, *arguments) == 0
        assert positions(capsys.readouterr().out) == expected
    assert sorted(os.listdir()) == ["machine.json", "monitor.json", "words.json"]
    first = json.loads(_first(text, folder, monkeypatch, capsys))
    assert set(first) == {
        "position", "before", "after", "predictions", "utility", "predictions_before", "utility_before"
    }  # fmt: skip
    assert first["before"] == -1
    assert first["predictions_before"] is None


def _first(text: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> str:
    watch(monkeypatch, text, "monitor.json")
    return capsys.readouterr().out.splitlines()[0]


def test_words_may_be_cut_anywhere(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    from decisional.cli import decision_commands as watching

    text = " ".join(WORDS.simulate(200, rng=2).tolist())
    expected = choice(WORDS).events(text.split(), initial=True).position.tolist()
    for size in (1, 2, 3, 1000):
        monkeypatch.setattr(watching, "CHUNK", size)
        assert watch(monkeypatch, text, "words.json", "--out", "events.jsonl") == 0
        assert positions(Path("events.jsonl").read_text()) == expected


def test_unknown_symbols(monkeypatch: pytest.MonkeyPatch, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert watch(monkeypatch, "011x011", "monitor.json", "--state", "state.json") == 2
    shown, errors = capsys.readouterr()
    assert positions(shown) == [0, 1, 2]
    assert "'x'" in errors
    assert Monitor.load("state.json").position == 3
    assert watch(monkeypatch, "011x011", "monitor.json", "--unknown", "gap") == 0
    monitor = Monitor(choice())
    expected = [*monitor.feed("011").position.tolist()]
    monitor.gap()
    assert positions(capsys.readouterr().out) == [*expected, *monitor.feed("011").position.tolist()]


def test_resuming(monkeypatch: pytest.MonkeyPatch, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = symbols(500)
    expected = choice().events(text, initial=True).position.tolist()
    files = ["--state", "state.json", "--out", "events.jsonl"]
    for begin, end in ((0, 123), (123, 124), (124, 500)):
        assert watch(monkeypatch, text[begin:end], "monitor.json", *files) == 0
    assert positions(Path("events.jsonl").read_text()) == expected
    assert "resuming at symbol 124" in capsys.readouterr().err
    # The whole stream again brings nothing new.
    assert watch(monkeypatch, text, "monitor.json", *files, "--skip-seen", "--quiet") == 0
    assert positions(Path("events.jsonl").read_text()) == expected
    assert capsys.readouterr() == ("", "")


def test_what_the_state_has_not_seen_is_cut_off(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    text = symbols(200)
    files = ["monitor.json", "--state", "state.json", "--out", "events.jsonl", "--skip-seen", "--quiet"]
    assert watch(monkeypatch, text, *files) == 0
    expected = Path("events.jsonl").read_bytes()
    Path("state.json").unlink()
    Path("events.jsonl").unlink()
    assert watch(monkeypatch, text[:80], *files) == 0
    state, half = Path("state.json").read_bytes(), Path("events.jsonl").read_bytes()
    for lost in (len(half), len(half) + 1, (len(half) + len(expected)) // 2, len(expected) - 1, len(expected)):
        Path("state.json").write_bytes(state)
        Path("events.jsonl").write_bytes(expected[:lost])
        assert watch(monkeypatch, text, *files) == 0
        assert Path("events.jsonl").read_bytes() == expected


def interrupted(command: list[str], text: str, rng: np.random.Generator) -> int:
    """Feed a text in pieces to a program that is killed on the way; return how far it had been saved."""
    state = Path("state.json")
    seen = Monitor.load(state).position if state.exists() else 0
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0) as process:
        assert process.stdin is not None
        at = seen + 20
        process.stdin.write(text[:at].encode())
        begin = time.monotonic()
        while not state.exists() or Monitor.load(state).position == seen:
            assert time.monotonic() - begin < 180
            time.sleep(0.002)
        for _ in range(int(rng.integers(1, 40))):
            piece = int(rng.integers(1, 30))
            process.stdin.write(text[at : at + piece].encode())
            at += piece
            time.sleep(float(rng.exponential(0.001)))
        process.send_signal(signal.SIGKILL)
    return Monitor.load(state).position


@pytest.mark.parametrize("seed", range(2))
def test_kill_9(folder: Path, seed: int) -> None:
    rng = np.random.default_rng(seed)
    text = symbols(6_000, seed)
    files = ["monitor.json", "--state", "state.json", "--out", "events.jsonl", "--skip-seen"]
    command = [sys.executable, "-m", "decisional", "watch", *files]
    saved = [interrupted(command, text, rng) for _ in range(4)]
    assert 0 < saved[0] < saved[1] < saved[2] < saved[3] < len(text)
    subprocess.run(command, input=text.encode(), stderr=subprocess.DEVNULL, timeout=240, check=True)
    assert positions(Path("events.jsonl").read_text()) == choice().events(text, initial=True).position.tolist()
    whole = [*command[:4], "monitor.json", "--out", "whole.jsonl"]
    subprocess.run(whole, input=text.encode(), timeout=240, check=True)
    assert Path("whole.jsonl").read_bytes() == Path("events.jsonl").read_bytes()


def test_failing_between_event_and_state(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    text = symbols(60)
    files = ["monitor.json", "--state", "state.json", "--out", "events.jsonl", "--skip-seen", "--quiet"]
    save = Monitor.save

    def fail(self: Monitor, path: str) -> None:
        # The worst moment: events are written, the state is not.
        if self.position:
            raise KeyboardInterrupt
        save(self, path)

    with monkeypatch.context() as patched:
        patched.setattr(Monitor, "save", fail)
        assert watch(patched, text[:30], *files) == 130
    assert Path("events.jsonl").stat().st_size > 0
    assert Monitor.load("state.json").position == 0
    assert watch(monkeypatch, text, *files) == 0
    assert positions(Path("events.jsonl").read_text()) == choice().events(text, initial=True).position.tolist()


def test_events_come_at_once(folder: Path) -> None:
    command = [sys.executable, "-m", "decisional", "watch", "monitor.json"]
    how = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "bufsize": 0, "preexec_fn": listening}
    with subprocess.Popen(command, **how) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for place, symbol in enumerate("011"):
            process.stdin.write(symbol.encode())
            assert json.loads(process.stdout.readline())["position"] == place
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=180) == 130
