"""Standard input and output as files, interruptions, and results that are whole or not there."""

import io
import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from decisional import EpsilonMachine, cli, processes
from interruption import listening

COMMAND = [sys.executable, "-m", "decisional"]


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    Path("even.txt").write_text("".join(map(str, processes.even().simulate(3000, rng=1).tolist())))
    assert cli.main(["symbols", "even.txt", "--json", "machine.json", "--quiet"]) == 0
    return "machine.json"


def feed(monkeypatch: pytest.MonkeyPatch, path: str) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(Path(path).read_bytes())))


def test_results_on_standard_output(
    model: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    before = sorted(os.listdir())
    assert cli.main(["symbols", "even.txt", "--json", "-"]) == 0
    assert json.loads(capsys.readouterr().out) == json.loads(Path(model).read_text())
    assert cli.main(["symbols", "even.txt", "--dot", "-"]) == 0
    assert capsys.readouterr().out.startswith("digraph")
    assert cli.main(["decide", model, "--utility", "zero-one", "--json", "-"]) == 0
    assert len(json.loads(capsys.readouterr().out)["states"]) == 2
    feed(monkeypatch, model)
    assert cli.main(["decide", "-", "--utility", "zero-one"]) == 0
    assert "E[U]" in capsys.readouterr().out
    assert cli.main(["simulate", "even", "-n", "5", "--seed", "1", "--out", "-"]) == 0
    assert len(capsys.readouterr().out) == 6
    feed(monkeypatch, "even.txt")
    assert cli.main(["watch", model, "--utility", "zero-one", "--out", "-"]) == 0
    assert json.loads(capsys.readouterr().out.splitlines()[0])["before"] == -1
    assert sorted(os.listdir()) == before


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("symbols even.txt --json - --dot -", "the same file"),
        ("symbols even.txt --plot -", "must end in .png"),
        ("symbols even.txt --report -", "must end in .html"),
        ("decide machine.json --utility zero-one --monitor -", "stands for standard output"),
        ("simulate even --json -", "stands for standard output"),
        ("watch - --utility zero-one", "where the symbols come from"),
        ("watch machine.json --utility zero-one --state -", "stands for standard output"),
        ("cssr even.txt - 3", "gives no name"),
        ("decide - --utility zero-one", "The standard input has format None; it must be 'decisional.EpsilonMachine'"),
    ],
)
def test_what_cannot_be_streamed(
    line: str, message: str, model: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = sorted(os.listdir())
    feed(monkeypatch, "even.txt")
    capsys.readouterr()
    assert cli.main(line.split()) == 2
    shown, errors = capsys.readouterr()
    assert (shown, errors.count("\n")) == ("", 1)
    assert message in errors
    assert sorted(os.listdir()) == before


def test_folders_without_permission(
    model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # The superuser may write everywhere.
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    for option in ("--out", "--json"):
        assert cli.main(["symbols", "even.txt", option, str(tmp_path / "new")]) == 2
        assert "may not be written by this user" in capsys.readouterr().err
    assert not (tmp_path / "new").exists()


def test_long_alphabets_are_not_shown_whole(model: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["cssr", "even.txt", "even.txt", "3"]) == 2
    assert len(capsys.readouterr().err) < 150


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
@pytest.mark.parametrize("line", ["symbols long.txt --out out", "field field.npy --past 5 --future 4 --out out"])
def test_interruption(line: str, tmp_path: Path) -> None:
    (tmp_path / "long.txt").write_text("".join(np.random.default_rng(1).choice(list("abcd"), 3_000_000)))
    np.save(tmp_path / "field.npy", np.random.default_rng(1).integers(0, 2, (3000, 3000), dtype=np.uint8))
    program = subprocess.Popen(
        [*COMMAND, *line.split()], cwd=tmp_path, stderr=subprocess.PIPE, stdout=subprocess.PIPE, preexec_fn=listening
    )
    time.sleep(1.5)
    program.send_signal(signal.SIGINT)
    shown, errors = program.communicate(timeout=240)
    assert (program.returncode, shown, errors) == (130, b"", b"")
    assert sorted(os.listdir(tmp_path)) == ["field.npy", "long.txt"]


def test_interruption_of_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> object:
        raise KeyboardInterrupt

    monkeypatch.delitem(sys.modules, "decisional.cli.program", raising=False)
    monkeypatch.setattr("builtins.__import__", interrupted)
    status = cli.main([])
    monkeypatch.undo()
    assert status == 130


@pytest.mark.skipif(os.name == "nt", reason="pipes of POSIX")
def test_closed_pipe(model: str) -> None:
    program = subprocess.Popen([*COMMAND, "simulate", "even", "-n", "300000"], stdout=subprocess.PIPE, stderr=-1)
    assert program.stdout is not None
    assert program.stderr is not None
    program.stdout.read(5)
    program.stdout.close()
    assert program.wait(60) == 0
    assert program.stderr.read() == b""
    program.stderr.close()


def test_machine_from_a_pipe_is_the_same(model: str, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert cli.main(["symbols", "even.txt", "--json", "-"]) == 0
    Path("copy.json").write_text(capsys.readouterr().out)
    assert EpsilonMachine.load("copy.json").is_isomorphic(EpsilonMachine.load(model), atol=1e-12)


TABLE = "day,sky\n" + "".join(f"{k},{'dry' if k % 3 else 'wet'}\n" for k in range(60))
INPUTS = [
    ("symbols PIPE --past 2", "even.txt", "pipe"),
    ("symbols PIPE --past 2 --chunks 500", "even.txt", "pipe"),
    ("symbols PIPE --column sky --past 2", "table.csv", "pipe.csv"),
    ("symbols PIPE --past 2", "one.csv", "pipe.csv"),
    ("symbols PIPE --past 2", "symbols.npy", "pipe"),
    ("field PIPE --past 2 --future 2", "field.npy", "pipe"),
    ("field PIPE --past 2 --future 2 --chunks 9", "field.npz", "pipe"),
    ("image PIPE --passes 1", "grey.pgm", "pipe"),
    ("signal PIPE --column day --past 1 --bandwidth 3", "table.csv", "pipe.csv"),
    ("decide PIPE --utility zero-one", "machine.json", "pipe"),
    ("decide machine.json --utility PIPE", "bet.csv", "pipe"),
    ("decide machine.json --utility zero-one --events PIPE", "even.txt", "pipe"),
    ("watch PIPE even.txt --utility zero-one", "machine.json", "pipe"),
    ("watch machine.json PIPE --utility zero-one", "even.txt", "pipe"),
    ("cssr alphabet PIPE 3 --out results", "even.txt", "even.txt"),
]


@pytest.mark.skipif(os.name == "nt", reason="pipes of POSIX")
@pytest.mark.parametrize(("line", "source", "pipe"), INPUTS, ids=[line[0] for line in INPUTS])
def test_pipes_are_files(
    model: str, line: str, source: str, pipe: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rng = np.random.default_rng(1)
    Path("table.csv").write_text(TABLE)
    Path("one.csv").write_text("sky\n" + "dry\nwet\nwet\n" * 20)
    Path("bet.csv").write_text("U,0,1\nout,0,0\nbet,-3,1\n")
    Path("alphabet").write_text("01\n")
    np.save("symbols.npy", rng.integers(0, 2, 300))
    np.save("field.npy", rng.integers(0, 2, (30, 30)))
    np.savez("field.npz", a=rng.integers(0, 2, (30, 30)))
    Path("grey.pgm").write_bytes(b"P5 12 12 255\n" + rng.integers(0, 256, 144, np.uint8).tobytes())
    capsys.readouterr()
    assert cli.main(line.replace("PIPE", source).split()) == 0
    expected = capsys.readouterr().out
    (tmp_path / "pipes").mkdir()
    path = tmp_path / "pipes" / pipe
    os.mkfifo(path)
    with ThreadPoolExecutor(1) as pool:
        written = pool.submit(path.write_bytes, Path(source).read_bytes())
        assert cli.main(line.replace("PIPE", str(path)).split()) == 0
        assert written.result() > 0
    shown, told = capsys.readouterr()
    # A long name may be written in two lines.
    assert shown.replace(str(path), source).split() == expected.split()
    assert "Traceback" not in told
    # What a pipe said is kept for one command only.
    with ThreadPoolExecutor(1) as pool:
        pool.submit(path.write_bytes, b"")
        assert cli.main(line.replace("PIPE", str(path)).split()) in (0, 2)
    assert capsys.readouterr().out != shown


@pytest.mark.skipif(os.name == "nt", reason="pipes of POSIX")
def test_pipes_without_names_or_places(model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    os.mkfifo("pipe")
    with ThreadPoolExecutor(1) as pool:
        pool.submit(Path("pipe").write_bytes, b"\x89HDF\r\n\x1a\n rest")
        assert cli.main(["field", "pipe"]) == 2
    assert "cannot be read from a pipe: save it first" in capsys.readouterr().err
    assert cli.main(["cssr", "even.txt", "pipe", "3"]) == 2
    assert "gives no name to the result files: give the path of a file, or --out" in capsys.readouterr().err


READERS = [
    "symbols -",
    "field -",
    "image -",
    "signal -",
    "decide - --utility zero-one",
    "decide machine.json --utility -",
]
READERS += [
    "decide machine.json --utility zero-one --events -",
    "watch machine.json --utility zero-one",
    "watch - even.txt",
]


@pytest.mark.parametrize("line", READERS)
def test_closed_standard_input(
    model: str, line: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    before = sorted(os.listdir())
    capsys.readouterr()
    assert cli.main(line.split()) == 2
    shown, told = capsys.readouterr()
    assert shown == ""
    assert told.startswith("decisional: The standard input is closed: give the path of a file")
    assert told.count("\n") == 1
    assert sorted(os.listdir()) == before


PRINTING = ["symbols even.txt", "symbols even.txt --json -", "decide machine.json --utility zero-one", "simulate even"]
PRINTING += ["watch machine.json even.txt --utility zero-one", "demo", "--help"]


@pytest.mark.parametrize("line", PRINTING)
def test_closed_standard_output(
    model: str, line: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = sorted(os.listdir())
    capsys.readouterr()
    with monkeypatch.context() as patched:
        patched.setattr(sys, "stdout", None)
        assert cli.main(line.split()) == 2
        assert sys.stdout is None
    assert capsys.readouterr() == (
        "",
        "decisional: The standard output is closed: leave it open, or write to files, with --quiet.\n",
    )
    assert sorted(os.listdir()) == before


def test_quiet_commands_need_no_standard_streams(model: str) -> None:
    # A file must not get the number of a stream that is closed, and what is written there.
    for line in (
        "symbols even.txt --json copy.json --quiet",
        "watch machine.json even.txt --utility zero-one --out e.jsonl",
    ):
        shell = f'"$0" -m decisional {line} <&- >&- 2>&-'
        assert subprocess.run(["sh", "-c", shell, sys.executable], timeout=240).returncode == 0
    assert Path("copy.json").read_bytes() == Path(model).read_bytes()
    assert all(json.loads(line) for line in Path("e.jsonl").read_text().splitlines())
    shell = '"$0" -m decisional symbols none.txt 2>&-'
    ended = subprocess.run(["sh", "-c", shell, sys.executable], timeout=240, capture_output=True)
    assert (ended.returncode, ended.stdout) == (2, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a full device of Linux")
def test_full_devices(model: str, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert cli.main(["symbols", "even.txt", "--json", "/dev/full", "--quiet"]) == 2
    told = "decisional: There is no room to write (No space left on device): make room, and run the command again.\n"
    assert capsys.readouterr().err == told
    shell = '"$0" -m decisional simulate even > /dev/full'
    ended = subprocess.run(["sh", "-c", shell, sys.executable], timeout=240, capture_output=True)
    assert (ended.returncode, ended.stderr.decode()) == (2, told)


def test_names_that_are_called_like_options(model: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("named.csv").write_text("time,step\n1,a\n2,b\n")
    capsys.readouterr()
    for options, said in (
        ("--column setp", "has no column 'setp': did you mean 'step'."),
        ("--column step --time tim", "has no column 'tim' for --time: did you mean 'time'."),
        ("", "has 2 columns ('time', 'step'); a series is one of them: choose it with --column."),
        ("--column step --delimiter ,,", "The --delimiter is ',,'"),
    ):
        assert cli.main(["symbols", "named.csv", *options.split()]) == 2
        assert said in capsys.readouterr().err
