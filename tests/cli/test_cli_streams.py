"""Standard input and output as files, interruptions, and results that are whole or not there."""

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
