"""Kernels run wherever the package is: the cache of compiled code may be in no folder of it, or nowhere."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import decisional

PROGRAM = """
import numpy as np
from decisional._kernels.values import *  # noqa
import decisional as ds
print(ds.processes.even().simulate(5, rng=1).tolist(), ds.__file__)
"""


@pytest.mark.skipif(os.name == "nt", reason="folders of POSIX")
@pytest.mark.parametrize("temporary", [True, False])
def test_no_folder_can_be_written(tmp_path: Path, temporary: bool) -> None:
    package = tmp_path / "installed" / "decisional"
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(Path(decisional.__file__).parent, package, ignore=ignored)
    # A file in place of the folder stops every user, the administrator too.
    (package / "_kernels" / "__pycache__").touch()
    folder = tmp_path / "temporary"
    folder.mkdir()
    if not temporary:
        (folder / f"decisional-{os.getuid()}").touch()
    environment = {"PATH": os.environ["PATH"], "HOME": os.devnull, "TMPDIR": str(folder)}
    environment["PYTHONPATH"] = str(package.parent)
    command = [sys.executable, "-B", "-c", PROGRAM]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr
    assert str(package) in done.stdout
    found = list(folder.rglob("*.nbi"))
    assert bool(found) == temporary
    if temporary:
        assert (folder / f"decisional-{os.getuid()}").stat().st_mode & 0o077 == 0
