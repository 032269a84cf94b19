"""decisional watch: events at once, and once each, whatever happens to the program."""

import io
import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from decisional import DecisionalStates, EpsilonMachine, Monitor, cli, utility
from interruption import listening

EVEN = EpsilonMachine([("A", "0", "A", 0.5), ("A", "1", "B", 0.5), ("B", "1", "A", 1.0)])
WORDS = EpsilonMachine([("A", "off", "A", 0.5), ("A", "on", "B", 0.5), ("B", "on", "A", 1.0)])


SKY = ["--column", "sky", "--time", "date", "--step", "1h"]


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


def test_options_between_arguments(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("-text").write_text(symbols(300))
    told = []
    for arguments in (
        ["machine.json", "./-text", "--utility", "zero-one"],
        ["machine.json", "--utility", "zero-one", "./-text"],
        ["--utility", "zero-one", "--", "machine.json", "-text"],
    ):
        assert cli.main(["watch", *arguments]) == 0
        told.append(capsys.readouterr().out)
    assert told[0]
    assert told[0] == told[1] == told[2]


def test_words_may_be_cut_anywhere(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    from decisional.streams import stream_input as watching

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


def sky(n: int, seed: int = 1) -> tuple[str, list[str | None]]:
    """A table with quotes, an empty cell and a jump in time, and its symbols; None for what is missing."""
    words = WORDS.simulate(n, rng=seed).tolist()
    words[n // 4] = None
    hours = pd.date_range("2024-01-01", periods=2 * n, freq="h")
    times = [*hours[: n // 2], *hours[n // 2 + 9 : n + 9]]
    lines = [f'"here, or there",{time},{word or ""}' for time, word in zip(times, words, strict=True)]
    return "place,date,sky\r\n" + "\r\n".join(lines) + "\r\n", [*words[: n // 2], None, *words[n // 2 :]]


def test_columns_of_tables(monkeypatch: pytest.MonkeyPatch, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from decisional.streams import stream_input

    text, words = sky(100)
    expected = choice(WORDS).events(words, initial=True).position.tolist()
    rows = text.splitlines()[1:]
    rows.insert(50, "")
    for size in (1, 7, 1 << 16):
        monkeypatch.setattr(stream_input, "CHUNK", size)
        assert watch(monkeypatch, text, "words.json", *SKY) == 0
        shown, told = capsys.readouterr()
        assert positions(shown) == expected
        assert told.count("\n") == 1
        assert "jump at '2024-01-03 11:00:00' in line 52" in told
        for line in shown.splitlines():
            event = json.loads(line)
            assert event["time"] == rows[event["position"]].split(",")[2]
    Path("sky.csv").write_text(text)
    for how in (["--column", "sky"], ["--column", "2", "--delimiter", ","], ["--column", "-1", "--missing", "none"]):
        assert watch(monkeypatch, "", "words.json", "sky.csv", *how) == 0
        shown, told = capsys.readouterr()
        # Without --time nothing tells the jump.
        assert positions(shown) == choice(WORDS).events(words[:50] + words[51:], initial=True).position.tolist()
        assert ("is taken for the names" in told) is (how[1] != "sky")


@pytest.mark.parametrize("options", [SKY, ["--column", "sky"]])
def test_tables_are_resumed(monkeypatch: pytest.MonkeyPatch, folder: Path, options: list[str]) -> None:
    lines = sky(60)[0].splitlines(keepends=True)
    files = ["--state", "state.json", "--out", "events.jsonl", "--quiet"]
    assert watch(monkeypatch, "".join(lines), "words.json", *options, "--out", "whole.jsonl") == 0
    expected = Path("whole.jsonl").read_bytes()
    for edges in ((0, 2, 3, 16, 31, 32, 61), (0, 40, 61)):
        for name in ("state.json", "events.jsonl"):
            Path(name).unlink(missing_ok=True)
        for begin, end in pairwise(edges):
            # With the names again, or without.
            names = lines[0] if begin % 2 else ""
            assert watch(monkeypatch, names + "".join(lines[begin:end]), "words.json", *options, *files) == 0
        assert Path("events.jsonl").read_bytes() == expected
        assert watch(monkeypatch, "".join(lines), "words.json", *options, *files, "--skip-seen") == 0
        assert Path("events.jsonl").read_bytes() == expected


def test_a_line_that_grows(monkeypatch: pytest.MonkeyPatch, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text, words = sky(40)
    how = ["words.json", "sky.csv", *SKY, "--state", "state.json", "--out", "events.jsonl", "--skip-seen"]
    for end in (300, 301, 700, 1500, len(text)):
        Path("sky.csv").write_text(text[:end], newline="")
        assert watch(monkeypatch, "", *how) == 0
    assert "The last line of the file 'sky.csv' has no line end" in capsys.readouterr().err
    assert positions(Path("events.jsonl").read_text()) == choice(WORDS).events(words, initial=True).position.tolist()


def test_what_is_told_of_tables(
    monkeypatch: pytest.MonkeyPatch, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "time,sky\n1,off\n2,on\n1,on\n1,off\n"
    assert watch(monkeypatch, text, "words.json", "--column", "sky", "--time", "time") == 0
    told = capsys.readouterr().err
    assert "go back at '1' in line 4" in told
    assert "repeat at '1' in line 5" in told
    files = ["words.json", "--column", "sky", "--state", "state.json"]
    # What precedes a row that is refused is done.
    assert watch(monkeypatch, text + "3\n4,on\n", *files) == 2
    assert "Line 6 of the standard input has 1 cells" in capsys.readouterr().err
    assert Monitor.load("state.json").position == 4
    for arguments, said in (
        (["words.json", "--state", "state.json"], "was fed with a table before"),
        (["words.json", "--state", "state.json", "--column", "time"], "not those that were followed before"),
        (["words.json", "--column", "Sky"], "no column 'Sky': did you mean 'sky'."),
        (["words.json", "--column", "sky", "--time", "tiem"], "no column 'tiem' for --time: did you mean 'time'."),
        (["words.json", "--column", "sky", "--series-by", "time"], "select the rows of each"),
        (["words.json", "--column", "sky", "--step", "1"], "--step is for --time, which is not given"),
        (["words.json", "--delimiter", ","], "has 2 columns ('time', 'sky')"),
    ):
        assert watch(monkeypatch, text, *arguments) == 2
        shown, told = capsys.readouterr()
        assert shown == ""
        assert said in told


def test_rotated_streams(monkeypatch: pytest.MonkeyPatch, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text, _ = sky(60)
    lines = text.splitlines(keepends=True)
    files = ["words.json", "sky.csv", "--column", "sky", "--state", "state.json", "--out", "events.jsonl"]
    Path("sky.csv").write_text("".join(lines[:40]), newline="")
    assert watch(monkeypatch, "", *files) == 0
    before = Path("state.json").read_bytes(), Path("events.jsonl").read_bytes()
    other = sky(60, seed=2)[0]
    for now, said in (
        ("".join(lines[:20]), "has 19 symbols and 39 were seen, which must come first"),
        (lines[0] + "".join(lines[40:]), "has 21 symbols and 39 were seen"),
        (other, "begins with other symbols than the 39 that were seen"),
        ("", "has 0 symbols and 39 were seen"),
    ):
        Path("sky.csv").write_text(now, newline="")
        assert watch(monkeypatch, "", *files, "--skip-seen") == 2
        assert said in capsys.readouterr().err
        assert (Path("state.json").read_bytes(), Path("events.jsonl").read_bytes()) == before
    # The new file alone goes on where the old one ended.
    Path("sky.csv").write_text(lines[0] + "".join(lines[40:]), newline="")
    assert watch(monkeypatch, "", *files) == 0
    assert watch(monkeypatch, text, "words.json", "--column", "sky", "--out", "whole.jsonl") == 0
    assert Path("whole.jsonl").read_bytes() == Path("events.jsonl").read_bytes()
    plain = ["monitor.json", "--state", "plain.json", "--skip-seen"]
    assert watch(monkeypatch, "011011", *plain) == 0
    assert watch(monkeypatch, "011", *plain) == 2
    assert "has 3 symbols and 6 were seen" in capsys.readouterr().err
    assert watch(monkeypatch, "0110001", *plain) == 2
    assert "begins with other symbols" in capsys.readouterr().err
    assert watch(monkeypatch, "0110111", *plain) == 0


@pytest.mark.skipif(os.name == "nt", reason="limits of POSIX")
def test_full_disk(monkeypatch: pytest.MonkeyPatch, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import resource

    text, _ = sky(2_000)
    Path("sky.csv").write_text(text, newline="")
    how = ["words.json", "sky.csv", *SKY, "--quiet"]
    files = ["--state", "state.json", "--out", "events.jsonl", "--skip-seen"]
    assert watch(monkeypatch, "", *how, "--out", "whole.jsonl") == 0
    expected = Path("whole.jsonl").read_bytes()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    # Room for some events of the first rows, for more of them, for no state, and for a state and no event.
    for room in (20_000, len(expected) // 2, 100, 2_000):
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, hard))
        try:
            status = watch(monkeypatch, "", *how, *files)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        assert status == 2
        assert "There is no room to write (File too large): make room" in capsys.readouterr().err
        assert Path("events.jsonl").stat().st_size <= max(room, len(expected) // 2)
    assert Path("events.jsonl").stat().st_size > 0
    assert watch(monkeypatch, "", *how, *files) == 0
    assert Path("events.jsonl").read_bytes() == expected
    assert [path.name for path in folder.iterdir() if path.name.startswith(".")] == []


def test_kill_9_on_a_table(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    text, words = sky(1_500)
    arguments = ["words.json", *SKY, "--skip-seen", "--state", "state.json", "--out", "events.jsonl"]
    command = [sys.executable, "-m", "decisional", "watch", *arguments]
    rng = np.random.default_rng(1)
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0) as process:
        assert process.stdin is not None
        at, state = 1_000, Path("state.json")
        process.stdin.write(text[:at].encode())
        begin = time.monotonic()
        while not state.exists() or not Monitor.load(state).position:
            assert time.monotonic() - begin < 180
            time.sleep(0.002)
        for size in rng.integers(1, 400, 60).tolist():
            process.stdin.write(text[at : at + size].encode())
            at += size
            time.sleep(float(rng.exponential(0.002)))
        process.send_signal(signal.SIGKILL)
    assert 0 < Monitor.load(state).position < len(words)
    assert watch(monkeypatch, text, *arguments) == 0
    assert positions(Path("events.jsonl").read_text()) == choice(WORDS).events(words, initial=True).position.tolist()


@pytest.mark.skipif(os.name == "nt", reason="pipes of POSIX")
def test_pipes_and_same_files(
    monkeypatch: pytest.MonkeyPatch, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = symbols(200)
    expected = choice().events(text, initial=True).position.tolist()
    os.mkfifo("in")
    os.mkfifo("out")
    with ThreadPoolExecutor(2) as pool:
        pool.submit(Path("in").write_text, text)
        read = pool.submit(Path("out").read_text)
        assert watch(monkeypatch, "", "monitor.json", "in", "--out", "out", "--state", "state.json") == 0
        assert positions(read.result()) == expected
    for arguments, said in (
        (["--state", "in"], "is a pipe or device"),
        (["data.txt", "--out", "data.txt"], "are the same file"),
        (["--state", "s", "--out", "s"], "are the same file"),
    ):
        assert watch(monkeypatch, text, "monitor.json", *arguments) == 2
        assert said in capsys.readouterr().err
