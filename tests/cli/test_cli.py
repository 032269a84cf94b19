"""The command line: summaries, files, and one sentence for every mistake."""

import json
import os
import re
import shutil
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from decisional import DecisionalStates, EpsilonMachine, Monitor, __version__, cli, processes, utility
from decisional.data import reading

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
    command = [sys.executable, "-m", "decisional", "symbols", "-", "--past", "4"]
    done = subprocess.run(command, input=even.read_bytes(), capture_output=True, timeout=240, check=False)
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
        (b"01" * 50, ["--min-count", "0"], "--min-count"),
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

    monkeypatch.setattr(reading, "read_symbols", stop)
    assert run("symbols", even, "--past", 4) == 130

    def bug(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(reading, "read_symbols", bug)
    with pytest.raises(ZeroDivisionError):
        run("symbols", even, "--past", 4)


def test_closed_pipe(even: Path, tmp_path: Path) -> None:
    target = tmp_path / "machine.dot"
    command = [
        sys.executable,
        "-m",
        "decisional",
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
        done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, timeout=240, check=False)
    finally:
        os.close(writer)
    assert done.stderr == b""
    assert done.returncode == 0
    assert target.exists()


def test_demo(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    out = tmp_path / "a" / "demo"
    assert run("demo", "--out", out) == 0
    names = ["decisions.png", "even.dot", "even.json", "even.png", "report.html", "rule110.png"]
    assert sorted(os.listdir(out)) == names
    shown = capsys.readouterr().out
    assert "2 recurrent" in shown
    assert "bet in B only" in shown
    for name in names:
        assert f"Wrote {out / name}" in shown
    assert json.loads((out / "even.json").read_text())


COMMANDS = ("symbols", "field", "image", "signal", "decide", "watch", "predict", "simulate", "demo", "cssr")


@pytest.mark.parametrize("command", [[], *([name] for name in COMMANDS)])
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
        "try: cli.main(sys.argv[1:])\n"
        "except SystemExit: pass\n"
        "assert not {'numpy', 'numba', 'scipy', 'matplotlib'} & set(sys.modules)"
    )
    for command in ([], *([name] for name in COMMANDS)):
        # Other programs may keep the machine busy: the best of several counts.
        assert min(_seconds([sys.executable, "-c", code, *command, "--help"]) for _ in range(3)) < 0.5


HEAVY = (
    "sklearn",
    "scipy.stats",
    "scipy.optimize",
    "pandas",
    "matplotlib",
    "asyncio",
    "distributed",
    "xarray",
    "jinja2",
)


@pytest.mark.parametrize(
    "line",
    ["symbols even.txt --past 10", "symbols even.txt", "decide machine.json --utility zero-one", "simulate even -n 9"],
)
def test_commands_import_what_they_use(line: str, even: Path, tmp_path: Path) -> None:
    (tmp_path / "even.txt").write_bytes(even.read_bytes())
    processes.even().save(tmp_path / "machine.json")
    code = (
        "import sys; from decisional import cli\n"
        "assert cli.main(sys.argv[1:]) == 0\n"
        f"found = [name for name in {HEAVY} if name in sys.modules]\n"
        "assert not found, found"
    )
    subprocess.run([sys.executable, "-c", code, *line.split()], check=True, cwd=tmp_path, stdout=subprocess.DEVNULL)


def test_wrong_arguments_are_refused_without_numpy() -> None:
    code = (
        "import sys; from decisional import cli\n"
        "assert cli.main(sys.argv[1:]) == 2\n"
        "assert not {'numpy', 'numba', 'scipy'} & set(sys.modules)"
    )
    for line in (
        "symbols even.txt --past 0",
        "symbols",
        "luck",
        "symbols even.txt --json none/x",
        "watch x --skip-seen",
    ):
        subprocess.run([sys.executable, "-c", code, *line.split()], check=True, stderr=subprocess.DEVNULL)


def _seconds(command: list[str]) -> float:
    begin = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, timeout=180)
    return time.perf_counter() - begin


# ------------------------------------------------------------------------------------------------ symbols


def test_the_data_choose_the_past(even: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("symbols", even, "--json", tmp_path / "machine.json") == 0
    shown, errors = capsys.readouterr()
    assert errors == ""
    assert "2 states, found from windows of" in shown
    assert "2 (2 recurrent, 0 transient)" in shown
    assert "Caution" not in shown
    assert EpsilonMachine.load(tmp_path / "machine.json").is_isomorphic(EVEN, atol=0.05)


def test_too_little_data_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "short.txt"
    path.write_text("".join(map(str, EVEN.simulate(40, rng=4))))
    assert run("symbols", path) == 0
    assert "more data would tell" in " ".join(capsys.readouterr().out.split())


def test_a_folder_of_results(even: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    out = tmp_path / "new" / "results"
    assert run("symbols", even, "--past", 5, "--out", out, "--dot", tmp_path / "other.dot", "--quiet") == 0
    assert sorted(os.listdir(out)) == ["machine.json", "machine.png", "report.html"]
    assert (tmp_path / "other.dot").exists()
    page = (out / "report.html").read_text()
    assert "decisional symbols" in page
    assert str(even) in page


def test_progress_only_on_a_terminal(even: Path) -> None:
    """A bar with the step and the time, which leaves nothing behind and does not mix with what is printed."""
    for more, expected in (([], True), (["--quiet"], False)):
        shown = on_terminal("symbols", even, *more, stdout=subprocess.DEVNULL)
        # Later steps are seen as long as they take, some not at all.
        assert ("\rreading " in shown) == expected
        assert shown.split("\r")[-1].strip() == ""
    both = on_terminal("symbols", even)
    assert "\rreading " in both
    # The summary begins on a line of its own.
    lines = [line.split("\r")[-1] for line in both.replace("\r\n", "\n").split("\n")]
    assert any(re.match(r"Data +20,000 symbols", line) for line in lines), lines


@pytest.mark.parametrize("shell", ["bash", "zsh", "tcsh"])
def test_completion(shell: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("shtab")
    with pytest.raises(SystemExit) as left:
        run("--print-completion", shell)
    assert left.value.code == 0
    script, errors = capsys.readouterr()
    assert errors == ""
    # That of tcsh knows the commands, not their options.
    for word in ("symbols", "predict", *(() if shell == "tcsh" else ("--past", "--labels"))):
        assert word in script
    if shutil.which(shell) is not None:
        path = tmp_path / "completion"
        path.write_text(script)
        subprocess.run([shell, "-n", path], check=True, timeout=60)


def test_bash_completes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("shtab")
    if shutil.which("bash") is None:
        pytest.skip("there is no bash")
    with pytest.raises(SystemExit):
        run("--print-completion", "bash")
    path = tmp_path / "completion"
    path.write_text(capsys.readouterr().out)
    asked = f"source {path}; COMP_WORDS=(decisional sym); COMP_CWORD=1; "
    asked += '$(complete -p decisional | sed "s/.*-F \\([^ ]*\\).*/\\1/") decisional sym decisional; '
    asked += 'echo "${COMPREPLY[@]}"'
    found = subprocess.run(["bash", "-c", asked], capture_output=True, text=True, check=True, timeout=60)
    assert found.stdout.split() == ["symbols"]


def test_completion_that_is_not_installed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setitem(sys.modules, "shtab", None)
    assert run("--print-completion", "bash") == 2
    assert capsys.readouterr().err == (
        "decisional: Completion needs shtab, which is not installed: pip install 'decisional[completion]'.\n"
    )


def on_terminal(*arguments: object, **streams: Any) -> str:
    """What a command shows on a terminal, where the bar comes at once."""
    pty, termios = pytest.importorskip("pty"), pytest.importorskip("termios")
    program = "import sys; from decisional.support import progress; progress.DELAY, progress.LOOK = 0, 1e-3; "
    program += "from decisional.cli import main; sys.exit(main(sys.argv[1:]))"
    command = [sys.executable, "-c", program, *map(str, arguments)]
    leader, terminal = pty.openpty()
    termios.tcsetwinsize(terminal, (40, 120))
    found: list[bytes] = []
    reader = threading.Thread(target=_drain, args=(leader, found))
    reader.start()
    try:
        subprocess.run(command, **{"stdout": terminal, "stderr": terminal, **streams}, timeout=240, check=True)
    finally:
        os.close(terminal)
        reader.join()
        os.close(leader)
    return b"".join(found).decode()


def _drain(leader: int, found: list[bytes]) -> None:
    # A terminal that was closed is an error for who reads.
    with suppress(OSError):
        while part := os.read(leader, 1 << 12):
            found.append(part)


# ------------------------------------------------------------------------------------------------ fields


@pytest.fixture(scope="module")
def rule(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A field in all the formats that are read."""
    folder = tmp_path_factory.mktemp("fields")
    field = processes.elementary_ca(110, 61, 90, 1)[40:]
    np.save(folder / "field.npy", field)
    np.savez(folder / "field.npz", other=1 - field, field=field)
    height, width = field.shape
    (folder / "field.pbm").write_bytes(b"P4 61 50\n" + np.packbits(field, axis=1).tobytes())
    rows = "\n".join("".join(map(str, row)) for row in field.tolist())
    (folder / "plain.pbm").write_text(f"P1\n# a comment\n{width} {height}\n{rows}\n")
    (folder / "field.pgm").write_bytes(b"P5\n61 50\n255\n" + (field * 255).tobytes())
    grey = "\n".join(" ".join(map(str, row)) for row in (field * 7).tolist())
    (folder / "plain.pgm").write_text(f"P2 {width} {height} 300\n{grey}\n")
    return folder


def states(path: Path, *options: object) -> np.ndarray:
    out = path.parent / "states.npy"
    assert run("field", path, "--labels", out, "--match", "exact", "--quiet", *options) == 0
    return np.load(out)


def test_fields_of_all_formats(rule: Path) -> None:
    expected = states(rule / "field.npy")
    assert expected.shape == (50, 61)
    assert (expected[0] == -1).all()
    assert expected.max() > 3
    for name in ("field.pbm", "plain.pbm", "field.pgm", "plain.pgm"):
        np.testing.assert_array_equal(states(rule / name), expected)
    np.testing.assert_array_equal(states(rule / "field.npz", "--key", "field"), expected)
    assert states(rule / "field.npz").shape == expected.shape


def test_fields_as_pictures(rule: Path) -> None:
    image = pytest.importorskip("PIL.Image")
    field = np.load(rule / "field.npy")
    expected = states(rule / "field.npy")
    image.fromarray(field * 255).save(rule / "grey.png")
    image.fromarray(np.dstack([field * 255] * 3 + [np.full_like(field, 255)])).save(rule / "rgba.png")
    image.fromarray(field * 255).convert("1").save(rule / "bits.png")
    for name in ("grey.png", "rgba.png", "bits.png"):
        np.testing.assert_array_equal(states(rule / name), expected)


def test_fields_from_netcdf(rule: Path) -> None:
    xarray = pytest.importorskip("xarray")
    field = np.load(rule / "field.npy").astype(np.int32)
    data = xarray.Dataset(
        {"cells": (("time", "x"), field), "twice": (("time", "x"), 2 * field), "one": ("x", field[0])}
    )
    data["masked"] = data["cells"].where(data["x"] != 3)
    data.to_netcdf(rule / "field.nc", encoding={"masked": {"dtype": "int16", "_FillValue": -9}})
    expected = states(rule / "field.npy")
    for name in ("cells", "twice"):
        np.testing.assert_array_equal(states(rule / "field.nc", "--variable", name), expected)
    masked = states(rule / "field.nc", "--variable", "masked")
    assert (masked[:, 3] == -1).all()
    assert (masked[5, 20:] >= 0).all()
    data[["cells"]].to_netcdf(rule / "single.nc")
    np.testing.assert_array_equal(states(rule / "single.nc"), expected)


def test_options_of_fields(rule: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--past", 2, "--future", 2, "--boundary", "open", "--match", "exact", "--row-only"]
    assert run("field", rule / "field.npy", *options) == 0
    shown = capsys.readouterr().out
    assert "past 2 with 3 cells, future 2 with 4 cells, open" in shown
    assert "by equal frequencies" in shown
    np.save(rule / "plane.npy", np.random.default_rng(1).integers(0, 2, (12, 9, 9)))
    assert run("field", rule / "plane.npy") == 0
    assert "past 2 with 10 cells, future 2 with 9 cells" in capsys.readouterr().out


def test_field_results(rule: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    assert run("field", rule / "field.npy", "--out", tmp_path, "--quiet") == 0
    assert sorted(os.listdir(tmp_path)) == ["field.json", "field.png", "labels.npy", "report.html"]
    content = json.loads((tmp_path / "field.json").read_text())
    assert content["causal_states"] == len(content["probability"]) == np.load(tmp_path / "labels.npy").max() + 1


def test_images(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    row, column = np.mgrid[:24, :24]
    pixels = 60 + column + 90 * ((row - 12) ** 2 + (column - 10) ** 2 < 40)
    levels = np.rint(pixels + np.random.default_rng(1).normal(0, 1.5, pixels.shape)).astype(np.uint8)
    (tmp_path / "disc.pgm").write_bytes(b"P5 24 24 255\n" + levels.tobytes())
    np.save(tmp_path / "disc.npy", levels)
    np.save(tmp_path / "floats.npy", levels / 255.0)
    assert run("image", tmp_path / "disc.pgm", "--out", tmp_path / "out") == 0
    assert sorted(os.listdir(tmp_path / "out")) == ["image.json", "image.png", "labels.npy", "report.html"]
    shown = capsys.readouterr().out
    assert "400 pixels with 20 neighbours each" in shown
    assert "bandwidth 1.225, errors up to 7 cost nothing" in shown
    found = np.load(tmp_path / "out" / "labels.npy")
    assert found.shape == (24, 24)
    for name, options in (("disc.npy", []), ("floats.npy", ["--bandwidth", 1.5**0.5 / 255, "--tau", 7 / 255])):
        again = tmp_path / f"{name}.states.npy"
        assert run("image", tmp_path / name, "--labels", again, "--passes", 3, *options, "--quiet") == 0
        assert (np.load(again) == found).mean() > 0.95


def test_signals_by_group(tmp_path: Path) -> None:
    """All series of a table are observed, not the first one only."""
    values = np.random.default_rng(1).normal(size=60)
    table, labels = tmp_path / "table.csv", tmp_path / "labels.csv"
    table.write_text("who,v\n" + "".join(f"{'ab'[k % 2]},{value:.4f}\n" for k, value in enumerate(values)))
    assert run("signal", table, "--column", "v", "--by", "who", "--past", 1, "--labels", labels, "--quiet") == 0
    rows = [line.split(",") for line in labels.read_text().splitlines()[1:]]
    assert [row[0] for row in rows] == ["a"] * 30 + ["b"] * 30
    # The last value of each has no outcome.
    assert [int(row[2]) >= 0 for row in rows] == ([True] * 29 + [False]) * 2


def test_signals(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    rng = np.random.default_rng(1)
    values = np.where(np.cumsum(rng.random(300) < 0.1) % 2, 1.0, -1.0) + 0.1 * rng.normal(size=300)
    cells = [f"{value:.5f}" for value in values]
    cells[50], cells[51] = "", "NA"
    table, bare = tmp_path / "table.csv", tmp_path / "bare.txt"
    table.write_text("day;level;place\n" + "".join(f"d{k};{cell};here\n" for k, cell in enumerate(cells)))
    bare.write_text("# two columns\n" + "".join(f"{k} {cell or 'nan'}\n" for k, cell in enumerate(cells)))
    expected = tmp_path / "states.npy"
    assert run("signal", table, "--past", 2, "--labels", expected, "--quiet") == 0
    found = np.load(expected)
    assert found.shape == (300,)
    assert (found[[0, 50, 51, 52, 299]] == -1).all()
    assert found[10] >= 0
    again = tmp_path / "again.npy"
    for name in ("level", "1", "-2"):
        assert run("signal", table, "--column", name, "--past", 2, "--labels", again, "--quiet") == 0
        np.testing.assert_array_equal(np.load(again), found)
    assert run("signal", bare, "--column", 1, "--past", 2, "--labels", again, "--quiet") == 0
    np.testing.assert_array_equal(np.load(again), found)
    assert run("signal", table, "--tau", 0.3, "--bandwidth", 0.2, "--out", tmp_path / "out") == 0
    shown = capsys.readouterr().out
    assert "chosen by the data" in shown
    assert "300 rows of column 'level', 2 without a value" in shown
    assert sorted(os.listdir(tmp_path / "out")) == ["labels.npy", "report.html", "signal.json", "signal.png"]


def test_signals_by_the_calendar(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(1)
    hours = np.datetime64("2024-01-01T00") + np.arange(200)
    level = np.where(np.arange(200) % 24 < 12, -1.0, 1.0) + 0.1 * rng.normal(size=200)
    rows = [f"{hour},{value:.3f}\n" for hour, value in zip(hours, level, strict=True)]
    table = tmp_path / "hourly.csv"
    # Ten hours are missing: there are two series, and both are looked at.
    table.write_text("date,level\n" + "".join(rows[:120] + rows[130:]))
    options = "--column", "level", "--time", "date", "--inputs", "hour, weekday", "--bandwidth", 0.2
    assert run("signal", table, *options, "--out", tmp_path / "out") == 0
    said = capsys.readouterr()
    assert "Inputs       hour, weekday" in said.out
    assert "jump once" in said.err
    assert json.loads((tmp_path / "out" / "signal.json").read_text())["observations"] == 119 + 69
    page = (tmp_path / "out" / "report.html").read_text()
    assert "hour, weekday" in page
    assert "ds.observe.delays(signal, past=1, inputs=...)" in page
    found = np.load(tmp_path / "out" / "labels.npy")
    assert found.shape == (190,)
    assert np.flatnonzero(found == -1).tolist() == [119, 189]
    # The same slice by slice.
    again = tmp_path / "again.npy"
    assert run("signal", table, *options, "--past", 1, "--chunks", 33, "--labels", again, "--quiet") == 0
    np.testing.assert_array_equal(np.load(again), found)


# ------------------------------------------------------------------------------------------------ decisions


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model") / "machine.json"
    EVEN.save(path)
    (path.parent / "bet.csv").write_text("U,0,1\nstay out,0,0\nbet on 1,-3,1\n")
    return path


def test_nothing_has_no_sign(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "little.csv").write_text("U,0,1\nwait,-1e-6,-1e-6\n")
    assert run("decide", model, "--utility", tmp_path / "little.csv") == 0
    assert "-0.0" not in capsys.readouterr().out


def test_decide(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    (tmp_path / "data.txt").write_text("01101\n0001\n")
    monitor, out = tmp_path / "monitor.json", tmp_path / "out"
    options = ["--events", tmp_path / "data.txt", "--monitor", monitor, "--out", out]
    assert run("decide", model, "--utility", model.parent / "bet.csv", *options) == 0
    shown = capsys.readouterr().out
    assert "ω0     0.6667       stay out  0.0000  A" in shown
    assert "expected utility                    0.3333" in shown
    for letter in "CDPV":
        assert f"\n{letter}  " in shown
    expected = DecisionalStates(utility.table([[0, 0], [-3, 1]], ["stay out", "bet on 1"])).fit(EVEN)
    assert str(expected.events("01101", initial=True)) in shown
    assert "2 events in series 2" in shown
    assert sorted(os.listdir(out)) == ["decisions.dot", "decisions.json", "decisions.png", "report.html"]
    content = json.loads((out / "decisions.json").read_text())
    assert [state["predictions"] for state in content["states"]] == [["stay out"], ["bet on 1"]]
    assert Monitor.load(monitor).feed("01").after.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("name", "worth"),
    [
        ("zero-one", 2 / 3),
        ("squared-error", -1 / 6),
        ("absolute-error", -1 / 3),
        ("tolerant:0.5", 0),
        ("newsvendor:3,1", -1 / 3),
        ("alarm:0.5,10,1", -1 / 3),
    ],
)
def test_utilities_by_name(model: Path, capsys: pytest.CaptureFixture[str], name: str, worth: float) -> None:
    assert run("decide", model, "--utility", name) == 0
    line = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("E[U]"))
    assert float(line.split()[-1]) == pytest.approx(worth, abs=1e-4)


def test_decisions_of_a_table(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    symbols = ["0", "1", "", "1", "1", "0", "1", "1"]
    rows = [f"2024-01-01 {2 * hour:02}:00:00,u,{symbol}" for hour, symbol in enumerate(symbols)]
    table, out = tmp_path / "data.csv", tmp_path / "decisions.csv"
    table.write_text("\n".join(["time,user,state", *rows]) + "\n")
    how = ["--utility", "zero-one", "--events", table, "--column", "state", "--labels", out]
    assert run("decide", model, *how, "--time", "time") == 0
    shown = capsys.readouterr().out
    choice = DecisionalStates(utility.zero_one()).fit(EpsilonMachine.load(model))
    expected = choice.predict([symbol or None for symbol in symbols])
    lines = out.read_text().splitlines()
    assert lines[0] == "time,state,decision,utility,local_complexity"
    assert [line.split(",")[:2] for line in lines[1:]] == [
        [f"2024-01-01 {2 * hour:02}:00:00", str(state)] for hour, state in enumerate(expected)
    ]
    assert f"events in {table}, the time of each\n2024-01-01 00:00:00: " in shown
    assert run("decide", model, *how, "--series-by", "user") == 0
    assert "the user and row of each\nu, 0: " in capsys.readouterr().out
    assert out.read_text().startswith("user,position,state,")
    text = tmp_path / "data.txt"
    text.write_text("01101\n10\n")
    assert run("decide", model, "--utility", "zero-one", "--events", text, "--labels", out, "--quiet") == 0
    found = [int(line.split(",")[1]) for line in out.read_text().splitlines()[1:]]
    assert found == [*choice.predict("01101"), *choice.predict("10")]


def test_events_by_level(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "data.txt").write_text("0110\n")
    options = ["--events", tmp_path / "data.txt", "--level", 0.7, "--by", "utility"]
    assert run("decide", model, "--utility", "zero-one", *options) == 0
    assert "3 events" in capsys.readouterr().out


def test_simulate(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("simulate", "golden_mean", "-n", 500, "--seed", 3, "--param", "p=0.2") == 0
    shown = capsys.readouterr().out
    assert shown == "".join(map(str, processes.golden_mean(0.2).simulate(500, rng=3).tolist())) + "\n"
    out, exact = tmp_path / "out.txt", tmp_path / "exact.json"
    assert run("simulate", "periodic", "-n", 6, "--param", "word=abc", "--out", out, "--json", exact) == 0
    assert capsys.readouterr().out == ""
    assert out.read_text().strip() in ("abcabc", "bcabca", "cabcab")
    assert EpsilonMachine.load(exact).n_states == 3
    assert run("simulate", "restricted_golden_mean", "-n", 9, "--param", "k=3") == 0


def test_every_process_is_in_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        run("simulate", "--help")
    shown = " ".join(capsys.readouterr().out.split())
    assert ", ".join(processes.catalogue) in shown


def test_cssr_files(even: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = even.read_text().strip()
    Path("alphabet").write_text("1 0\n")
    Path("data").write_text(f"{text[:5000]}\n{text[5000:]}\n")
    assert run("cssr", "alphabet", "data", 4, "-s", 0.01, "-ch", "--json", "machine.json", "--quiet") == 0
    assert sorted(os.listdir()) == [
        "alphabet", "data", "data_inf.dot", "data_info", "data_results", "data_state_series", "machine.json"
    ]  # fmt: skip
    assert EpsilonMachine.load("machine.json").is_isomorphic(EVEN, atol=0.05)
    blocks = Path("data_results").read_text().split("\n\n")
    assert blocks[-1] == ""
    first = blocks[0].splitlines()
    assert first[0] == "State number: 0"
    assert first[1:-3] == sorted(first[1:-3], key=lambda word: (len(word), ["10".index(c) for c in word]))
    assert {len(word) for word in first[1:-3]} == {3, 4}
    assert first[-3].startswith("distribution: P(1) = 0.49")
    assert first[-2] == "transitions: T(1) = 1\tT(0) = 0\t"
    assert first[-1].startswith("P(state): 0.66")
    assert blocks[1].splitlines()[-2] == "transitions: T(1) = 0\tT(0) = NULL\t"
    info = dict(line.split(": ") for line in Path("data_info").read_text().splitlines())
    assert info["Significance Level"] == "0.01"
    assert info["Multiline Mode"] == "false"
    assert info["Chi-squared test used"] == "true"
    assert info["Number of Inferred States"] == "2"
    assert float(info["Statistical Complexity"]) == pytest.approx(0.918, abs=0.02)
    assert float(info["Entropy Rate"]) == pytest.approx(0.667, abs=0.02)
    for name in ("Relative Entropy", "Relative Entropy Rate", "Variation"):
        assert 0 <= float(info[name]) < 0.05
    dot = Path("data_inf.dot").read_text().splitlines()
    assert dot[0] == "digraph data {"
    assert dot[1:6] == [
        'size = "6,8.5";', 'ratio = "fill";', "node [shape = circle];", "node [fontsize = 24];", "edge [fontsize = 24];"
    ]  # fmt: skip
    assert dot[6].startswith('0 -> 1 [label = "1: 0.49')
    assert dot[8] == '1 -> 0 [label = "1: 1        "];'
    assert dot[-1] == "}"
    walk = Path("data_state_series").read_text().split(";")
    assert len(walk) == len(text) + 1
    assert walk[:2] == ["?", "?"]
    after = EVEN.filter(text).tolist()
    assert [s for s, t in zip(walk, after, strict=False) if s != "?" and t >= 0 and int(s) != t] == []


def test_cssr_lines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "ab").write_text("ab")
    (tmp_path / "lines.txt").write_text("abababababab\nbababababa\n\nababababab\n")
    assert run("cssr", tmp_path / "ab", tmp_path / "lines.txt", 2, "-m", "--out", tmp_path / "out") == 0
    assert "Multiline Mode: true" in capsys.readouterr().out
    walks = (tmp_path / "out" / "lines.txt_state_series").read_text().split("\n")
    assert [walk.count(";") for walk in walks] == [12, 10, 10]
    assert f'digraph "{tmp_path}/lines.txt" {{' in (tmp_path / "out" / "lines.txt_inf.dot").read_text()
    assert sorted(os.listdir(tmp_path)) == ["ab", "lines.txt", "out"]


def test_whole_strings(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, saved = tmp_path / "words.txt", tmp_path / "words.json"
    path.write_text("ab\nabab\nab\nababab\n" * 20)
    assert run("symbols", path, "--whole", "--json", saved) == 0
    machine = EpsilonMachine.load(saved)
    assert machine.start is not None
    first = machine.names[machine.start]
    assert f"80 whole strings, which begin in state {first}" in capsys.readouterr().out
    # Every string begins with a.
    assert machine.emission[machine.start].tolist() == [1.0, 0.0, 0.0]
    assert run("symbols", path, "--whole", "--past", 2) == 2
    assert "--whole has no meaning with --past N" in capsys.readouterr().err
    assert run("symbols", path, "--seconds", 5, "--past", 2) == 2
    assert "--seconds has no meaning with --past N" in capsys.readouterr().err
    assert run("symbols", path, "--seconds", 0) == 2
    assert "--seconds must be a number above 0" in capsys.readouterr().err


@pytest.mark.parametrize("words", [False, True])
def test_an_empty_line_is_an_empty_string(tmp_path: Path, capsys: pytest.CaptureFixture[str], words: bool) -> None:
    path, saved = tmp_path / "words.txt", tmp_path / "words.json"
    lines = "a b\n\n# none\na,\n  \n" if words else "ab\n\n# none\na\n  \n"
    path.write_text(lines * 20)
    assert run("symbols", path, "--whole", "--seconds", 5, "--json", saved, "--report", tmp_path / "page.html") == 0
    assert "80 whole strings" in capsys.readouterr().out
    machine = EpsilonMachine.load(saved)
    assert 2 ** machine.log_likelihood("") == pytest.approx(0.5, abs=0.02)
    strings = reading.read(path, whole=True)
    assert len(strings) == 80
    assert strings[:4] == ([["a", "b"], [], ["a"], []] if words else ["ab", "", "a", ""])
    assert len(reading.read(path)) == 40
