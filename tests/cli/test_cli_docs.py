"""The commands of the guides to the command line and to monitoring run as written, in order."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE = DOCS / "cli.md"
FILES = {
    "cli.md": (
        "machine.json",
        "report.html",
        "decisions.png",
        "events.jsonl",
        "states.npy",
        "labels.zarr",
        "cluster.json",
        "wave",
        "today_states.csv",
        "today_field.npy",
        "demo",
    ),
    "monitoring.md": ("machine.json", "monitor.json", "state.json", "events.jsonl"),
}
BLOCK = re.compile(r"```sh\n(.*?)```", re.DOTALL)


@pytest.mark.parametrize("page", FILES)
def test_commands_run(page: str, tmp_path: Path) -> None:
    for needed in ("matplotlib", "distributed", "zarr"):
        pytest.importorskip(needed)
    blocks = BLOCK.findall((DOCS / page).read_text())
    assert len(blocks) > (8 if page == "cli.md" else 1)
    (tmp_path / "bin").mkdir()
    work = tmp_path / "work"
    work.mkdir()
    # The programs of this very interpreter, however it was started.
    for name, command in (("decisional", f"{sys.executable} -m decisional"), ("python", sys.executable)):
        program = tmp_path / "bin" / name
        program.write_text(f'#!/bin/sh\nexec {command} "$@"\n')
        program.chmod(0o755)
    environment = {**os.environ, "PATH": f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}"}
    script = "set -e\n" + "\n".join(blocks)
    how = {"cwd": work, "env": environment, "capture_output": True, "text": True}
    done = subprocess.run(["sh", "-c", script], timeout=300, check=False, **how)
    assert done.returncode == 0, done.stderr
    for name in FILES[page]:
        assert (work / name).exists()
    assert done.stderr.startswith("decisional: resuming at symbol 1000")
    assert done.stderr.count("\n") == 1


def test_commands_on_the_tables_of_the_guide(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (DOCS / "tables.md").read_text()
    monkeypatch.chdir(tmp_path)
    # The first block makes the tables.
    exec(re.findall(r"```python\n(.*?)```", text, re.DOTALL)[0], {})
    lines = BLOCK.findall(text)[0].splitlines()
    told = []
    for line in lines:
        command = [sys.executable, "-m", *shlex.split(line)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
        assert done.returncode == 0, done.stderr
        told += done.stderr.splitlines()
    assert [line for line in told if "jump once" not in line] == []
    assert len(told) == 3
    assert Path("states.csv").read_text().splitlines()[:2] == ["date,state,local_complexity", "2024-01-01 00:00:00,-1,"]


def test_every_command_is_shown() -> None:
    from test_cli import COMMANDS

    text = "\n".join(BLOCK.findall(PAGE.read_text()))
    for name in COMMANDS:
        assert f"decisional {name} " in text
