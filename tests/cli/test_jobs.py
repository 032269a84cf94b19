"""The twelve jobs of the guide: shell and notebook print what the page shows, tell and find the same."""

import contextlib
import glob
import io
import json
import re
import shlex
import subprocess
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import decisional as ds
from decisional import cli

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "jobs.md").read_text()
BLOCK = re.compile(r"```(python|console)\n(.*?)```(?:\n+```text\n(.*?)```)?", re.DOTALL)
Names = dict[str, Any]


def same_machine(path: str) -> Callable[[Names], None]:
    def check(names: Names) -> None:
        shell, notebook = ds.EpsilonMachine.load(path), names["machine"]
        assert shell.alphabet == tuple(map(str, notebook.alphabet))
        np.testing.assert_array_equal(shell.targets, notebook.targets)
        np.testing.assert_allclose(shell.emission, notebook.emission, rtol=1e-12)

    return check


def same_states(*paths: str) -> Callable[[Names], None]:
    def check(names: Names) -> None:
        for path in paths:
            shell = json.loads(Path(path).read_text())
            assert shell["observations"] == names["causal"].observations_.n
            np.testing.assert_allclose(shell["probability"], names["causal"].states_.probability, rtol=1e-12)

    return check


def same_labels(path: str, name: str) -> Callable[[Names], None]:
    def check(names: Names) -> None:
        frame = names[name]
        shell = pd.read_csv(path, index_col=0, parse_dates=True)
        pd.testing.assert_frame_equal(shell, frame, check_dtype=False, check_freq=False, check_index_type=False)

    return check


# What is compared after each job.
SAME = [
    *map(same_machine, ("weather.json", "sensor.json", "clicks.json")),
    same_states("level.json"),
    *map(same_machine, ("tickets.json", "log.json", "machines.json")),
    same_labels("states.csv", "states"),
    *map(same_states, ("photo.json", "film.json")),
    same_states("frames.json", "folder.json"),
    same_labels("decisions.csv", "decided"),
]


def shell(line: str) -> tuple[str, list[str]]:
    """What a command prints, and what it tells on standard error."""
    words = shlex.split(line)
    if words[0] != "decisional":
        done = subprocess.run(["sh", "-c", line], capture_output=True, text=True, timeout=60, check=True)
        return done.stdout, []
    words = [file for word in words[1:] for file in (sorted(glob.glob(word)) if "*" in word else [word])]
    printed, told = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(told):
        assert cli.main(words) == 0, told.getvalue()
    return printed.getvalue(), told.getvalue().splitlines()


def notebook(code: str, names: Names) -> tuple[str, list[str]]:
    """What code prints, and its warnings."""
    printed = io.StringIO()
    with warnings.catch_warnings(record=True) as told, contextlib.redirect_stdout(printed):
        warnings.simplefilter("always")
        exec(compile(code, "jobs.md", "exec"), names)
    return printed.getvalue(), [f"decisional: {warning.message}" for warning in told]


def check_console(block: str) -> list[str]:
    """Run the commands of a transcript, which must print what it shows; return what they tell."""
    all_told = []
    for part in block.removeprefix("$ ").split("\n$ "):
        line, _, shown = part.partition("\n")
        printed, told = shell(line)
        pattern = re.escape(shown.removesuffix("\n")).replace(re.escape("\n...\n"), r"\n(?:.*\n)+?")
        pattern = re.sub(r"\\\n\\\.\\\.\\\.$", r"\\n(?:.*\\n?)+", pattern)
        assert re.fullmatch(pattern, "\n".join([*told, printed]).removesuffix("\n")), f"{line}\n{told}\n{printed}"
        all_told += told
    return all_told


def test_shell_and_notebook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("PIL")
    pytest.importorskip("pyarrow")
    monkeypatch.chdir(tmp_path)
    (_, imports, _), *jobs, (_, files, _) = BLOCK.findall(PAGE)
    names: Names = {}
    notebook(imports + files, names)
    assert len(jobs) == 2 * len(SAME) == 24
    for check, (left, commands, _), (right, code, shown) in zip(SAME, jobs[::2], jobs[1::2], strict=True):
        assert (left, right) == ("console", "python")
        told = check_console(commands)
        printed, warned = notebook(code, names)
        assert printed == shown
        assert warned == told
        check(names)


def test_each_job_takes_one_or_two_lines() -> None:
    for kind, text, _ in BLOCK.findall(PAGE)[1:-1]:
        lines = text.splitlines()
        if kind == "console":
            assert 1 <= sum(line.startswith("$ decisional ") for line in lines) <= 2
        else:
            assert 1 <= len([line for line in lines if not line.startswith(("print(", "sensor = "))]) <= 2
