"""The command line: summaries, files, and one sentence for every mistake."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from decisional import EpsilonMachine, __version__, cli, io

EVEN = EpsilonMachine([("A", "0", "A", 0.5), ("A", "1", "B", 0.5), ("B", "1", "A", 1.0)])


@pytest.fixture(scope="module")
def even(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("data") / "even.txt"
    path.write_text("".join(map(str, EVEN.simulate(20_000, rng=1))) + "\n")
    return path


def run(*arguments: object) -> int:
    return cli.main([str(argument) for argument in arguments])


def test_summary(even: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("symbols", even, "--past", 8) == 0
    shown, errors = capsys.readouterr()
    assert errors == ""
    assert "20,000 symbols, alphabet {0, 1}" in shown
    assert "past 8, future 1" in shown
    assert "2 recurrent" in shown
    assert "converged" in shown
    for title in ("state", "probability", "P(0)", "P(1)", "from", "symbol", "to"):
        assert title in shown
    values = {line.split()[0] + line.split()[1]: line.split()[-2] for line in shown.splitlines() if "bits" in line}
    assert float(values["Crecurrent"]) == pytest.approx(0.918, abs=0.02)
    assert shown.count("\n") < 30


def test_files_and_quiet(even: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    files = {name: tmp_path / f"machine.{name}" for name in ("json", "dot", "svg")}
    options = ["--json", files["json"], "--dot", files["dot"], "--plot", files["svg"]]
    assert run("symbols", even, "--past", 6, *options, "--quiet") == 0
    assert capsys.readouterr().out == ""
    assert EpsilonMachine.load(files["json"]).recurrent_part().is_isomorphic(EVEN, atol=0.05)
    assert files["dot"].read_text().startswith("digraph")
    assert "<svg" in files["svg"].read_text()
    assert run("symbols", even, "--past", 6, *options) == 0
    assert f"Wrote {files['svg']}" in capsys.readouterr().out


def test_options_reach_the_estimator(even: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--alpha", 0.01, "--min-count", 20, "--theta", 0.9, "--seed", 3, "--future", 2]
    assert run("symbols", even, "--past", 5, *options) == 0
    assert "past 5, future 2" in capsys.readouterr().out
    assert run("symbols", even, "--past", 5, "--theta", 7) == 2
    assert "theta" in capsys.readouterr().err


def test_words_columns_and_several_series(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    symbols = [("up", "down")[s] for s in np.asarray(EVEN.simulate(6_000, rng=2)).astype(int)]
    words, table, bare, lines = (tmp_path / f"{name}.txt" for name in ("words", "table", "bare", "lines"))
    words.write_text(" ".join(symbols))
    table.write_text("time,state\n" + "".join(f"{t},{s}\n" for t, s in enumerate(symbols)))
    bare.write_text("".join(f"{t} {s}\n" for t, s in enumerate(symbols)))
    text = "".join("01"[s == "down"] for s in symbols)
    lines.write_text("\n".join([text[:3_000], "1", text[3_000:]]))
    for arguments in ((words,), (table, "--column", "state"), (bare, "--column", "1"), (lines,)):
        assert run("symbols", *arguments, "--past", 4) == 0
    shown = capsys.readouterr().out
    assert shown.count("6,000 symbols, alphabet {down, up}") == 3
    assert "6,001 symbols" in shown


def test_standard_input(even: Path) -> None:
    command = [sys.executable, "-m", "decisional.cli", "symbols", "-", "--past", "4"]
    done = subprocess.run(command, input=even.read_bytes(), capture_output=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert b"20,000 symbols" in done.stdout


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        (None, [], "does not exist"),
        (b"", [], "has no symbols"),
        (b"0\x001", [], "NUL byte"),
        (b"0110\n", [], "has 4 symbols but --past 10 --future 1 needs at least 11: lower --past"),
        (b"0\n1\n1\n", [], "add --column 0"),
        (b"01" * 50, ["--past", "0"], "past"),
        (b"01" * 50, ["--future", "0"], "future"),
        (b"01" * 50, ["--min-count", "0"], "min_count"),
        (b"01" * 50, ["--alpha", "3"], "alpha"),
        (b"01" * 50, ["--plot", "machine.gif"], "must end in .png, .svg or .pdf"),
        (b"01" * 50, ["--json", "none/machine.json"], "--json 'none/machine.json' does not exist"),
        (b"a b\n", ["--column", "colour"], "no column 'colour'"),
    ],
)
def test_mistakes_get_one_sentence(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    content: bytes | None,
    options: list[str],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    if content is not None:
        Path("data.txt").write_bytes(content)
    assert run("symbols", "data.txt", "--past", 10, *options) == 2
    shown, errors = capsys.readouterr()
    assert shown == ""
    assert message in errors
    assert errors.count("\n") == 1
    assert "Traceback" not in errors


def test_failure_keeps_earlier_files(even: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dot = tmp_path / "machine.dot"
    dot.write_text("earlier")

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device", str(dot))

    monkeypatch.setattr(os, "fsync", fail)
    assert run("symbols", even, "--past", 4, "--dot", dot) == 2
    assert dot.read_text() == "earlier"
    assert os.listdir(tmp_path) == ["machine.dot"]


def test_interruption_and_bugs(even: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(io, "read_symbols", stop)
    assert run("symbols", even, "--past", 4) == 130

    def bug(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(io, "read_symbols", bug)
    with pytest.raises(ZeroDivisionError):
        run("symbols", even, "--past", 4)


def test_closed_pipe(even: Path, tmp_path: Path) -> None:
    target = tmp_path / "machine.dot"
    command = [
        sys.executable,
        "-m",
        "decisional.cli",
        "symbols",
        str(even),
        "--past",
        "4",
        "--dot",
        str(target),
    ]
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, timeout=60, check=False)
    finally:
        os.close(writer)
    assert done.stderr == b""
    assert done.returncode == 0
    assert target.exists()


def test_demo(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    out = tmp_path / "a" / "demo"
    assert run("demo", "--out", out) == 0
    assert sorted(os.listdir(out)) == ["even.dot", "even.json", "even.png"]
    shown = capsys.readouterr().out
    assert "2 recurrent" in shown
    for name in ("even.dot", "even.json", "even.png"):
        assert f"Wrote {out / name}" in shown
    assert json.loads((out / "even.json").read_text())


@pytest.mark.parametrize("command", [[], ["symbols"], ["demo"]])
def test_help_has_an_example(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        run(*command, "--help")
    assert stop.value.code == 0
    assert "example:\n  decisional" in capsys.readouterr().out


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        run("--version")
    assert capsys.readouterr().out == f"decisional {__version__}\n"


def test_help_is_fast_and_light() -> None:
    code = (
        "import sys; from decisional import cli\n"
        "try: cli.main(['symbols', '--help'])\n"
        "except SystemExit: pass\n"
        "assert not {'numpy', 'numba', 'scipy', 'matplotlib'} & set(sys.modules)"
    )
    begin = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL, timeout=30)
    assert time.perf_counter() - begin < 3.0
