"""Where results go: checked before the work, written after it, each file whole or not at all."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

__all__ = [
    "LABELS",
    "Outputs",
    "announce",
    "check_folder",
    "check_path",
    "check_paths",
    "label_writer",
    "progress",
    "write_json",
]

# Results that are text and can go to standard output, as "-".
TEXTS = ("json", "dot")
LABELS = ", -1 = none: .npy or .zarr; the same command goes on after an interruption"


class Outputs:
    """The files that a command was asked for.

    Parameters
    ----------
    arguments : those of the command, with `out` and the options below
    defaults : the name of each option's file inside `--out`, None where it is not written there
    """

    def __init__(self, arguments: argparse.Namespace, defaults: Mapping[str, str | None]) -> None:
        self.arguments = arguments
        self.paths: dict[str, str] = {}
        if arguments.out is not None:
            check_folder(arguments.out)
        for option, name in defaults.items():
            given = getattr(arguments, option)
            if given is not None:
                _require(option, given)
                if option == "labels" and os.path.isdir(given):
                    check_folder(given, "--labels")
                elif given != "-" or option not in TEXTS:
                    check_path(given, f"--{option}")
                self.paths[option] = given
            elif arguments.out is not None and name is not None and _available(option):
                self.paths[option] = os.path.join(arguments.out, name)
        if len(set(map(os.path.abspath, self.paths.values()))) < len(self.paths):
            raise ValueError("Two results have the same file: give each of them its own.")
        # Nothing else may come between the lines of a result.
        arguments.quiet = arguments.quiet or "-" in self.paths.values()

    def write(self, writers: Mapping[str, Callable[[str], None]], **report: Any) -> list[str]:
        """Write what was asked for, the report last; return the paths."""
        if self.arguments.out is not None:
            Path(self.arguments.out).mkdir(parents=True, exist_ok=True)
        for option, path in self.paths.items():
            if option != "report":
                _write(writers[option], path)
        if "report" in self.paths:
            from .. import report as page

            command, seed = self.arguments.command, getattr(self.arguments, "seed", None)
            page.write(self.paths["report"], command=command, seed=seed, **report)
        return list(self.paths.values())


def _write(writer: Callable[[str], None], path: str) -> None:
    """Write a file, or the same to standard output."""
    if path != "-":
        writer(path)
        return
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        file = Path(folder, "result")
        writer(str(file))
        sys.stdout.write(file.read_text(encoding="utf-8"))


def check_paths(arguments: argparse.Namespace, *options: str) -> None:
    """Refuse files of options that could not be written, where these are given."""
    for option in options:
        if getattr(arguments, option) is not None:
            check_path(getattr(arguments, option), f"--{option}")


def check_path(path: str, option: str) -> None:
    """Refuse a file that could not be written, before the work rather than after it."""
    if path == "-":
        raise ValueError(f"The {option} '-' stands for standard output, where this cannot go: give the path of a file.")
    folder = Path(path).absolute().parent
    if not folder.is_dir():
        raise ValueError(f"The folder of {option} {path!r} does not exist: create it first.")
    if Path(path).is_dir():
        raise ValueError(f"The path of {option} {path!r} is a folder: give the path of a file.")
    if not os.access(folder, os.W_OK):
        raise ValueError(f"The folder of {option} {path!r} may not be written by this user: choose another.")


def check_folder(path: str, option: str = "--out") -> None:
    """Refuse a folder that could not be made or written to."""
    folder = Path(path).absolute()
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    if not folder.is_dir():
        raise ValueError(f"The {option} {path!r} cannot be a folder, as {str(folder)!r} is a file: choose another.")
    if not os.access(folder, os.W_OK):
        raise ValueError(f"The {option} {path!r} may not be written by this user: choose another folder.")


def _require(option: str, path: str) -> None:
    if option == "plot":
        from .. import plot as plotting

        plotting.require_matplotlib()
        plotting.file_format(path)
    if option == "labels" and not path.endswith((".npy", ".zarr")):
        raise ValueError(f"The file of --labels must end in .npy or .zarr. Got {path!r} instead.")
    if option == "report" and not path.lower().endswith((".html", ".htm")):
        raise ValueError(f"The file of --report must end in .html. Got {path!r} instead.")
    if option == "report" and not _available(option):
        raise ImportError("This installation has no reports: install decisional again.")


def _available(option: str) -> bool:
    needed = {"plot": "matplotlib", "report": "decisional.report"}
    return option not in needed or find_spec(needed[option]) is not None


def write_json(path: str, content: Mapping[str, Any]) -> None:
    """Write results as JSON, whole or not at all."""
    import json

    from .. import __version__
    from ..support import files as io

    whole = {"decisional": __version__, **content}
    io.write_text(path, json.dumps(whole, ensure_ascii=False, allow_nan=False, indent=1) + "\n")


def announce(paths: list[str]) -> None:
    """Tell which files were written."""
    if paths:
        print("".join(f"\nWrote {path}" for path in paths))


def progress(arguments: argparse.Namespace) -> Callable[[str], None] | None:
    """What prints a line of progress on standard error; None where nobody would read it."""
    if arguments.quiet or not sys.stderr.isatty():
        return None
    return lambda text: print(text, file=sys.stderr, flush=True)


def label_writer(causal: Any, arguments: argparse.Namespace, executor: Any) -> Callable[[str], None]:
    """What writes the state at each place of the data, slice by slice."""

    def write(path: str) -> None:
        from ..estimators.write_values import write_values

        write_values(causal, path, executor=executor, progress=progress(arguments))

    return write
