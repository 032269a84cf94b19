"""Where results go: checked before the work, written after it, each file whole or not at all."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TextIO, cast

from ..support.plurals import plural

# Results that are text and can go to standard output, as "-".
TEXTS = ("json", "dot")
# What some results need.
NEEDED = {"plot": "matplotlib", "report": "decisional.report"}
# How files of --labels may end; those of other commands are arrays.
LABELS = {
    "decide": (".csv",),
    "predict": (".csv", ".npy"),
    "symbols": (".npy", ".zarr", ".csv"),
    "signal": (".npy", ".zarr", ".csv"),
}
# Commands whose output goes on for as long as their input does, or is their result.
WITHOUT_BAR = ("watch", "simulate")
BLAS = "scipy.linalg.cython_blas"


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
                _check(option, given, arguments.name)
                self.paths[option] = given
            elif arguments.out is not None and name is not None and _available(option):
                self.paths[option] = os.path.join(arguments.out, name)
        if len(set(map(os.path.abspath, self.paths.values()))) < len(self.paths):
            raise ValueError("Two results have the same file: give each of them its own.")
        # Nothing else may come between the lines of a result.
        arguments.quiet = arguments.quiet or "-" in self.paths.values()

    def write(self, writers: Mapping[str, Callable[[str], None]], **report: Any) -> list[str]:
        """Write what was asked for, the report last; return the paths."""
        from ..support.progress import tell

        if self.arguments.out is not None:
            Path(self.arguments.out).mkdir(parents=True, exist_ok=True)
        for option, path in self.paths.items():
            if option != "report":
                tell(f"writing {option}")
            if path == "-":
                from tempfile import TemporaryDirectory

                with TemporaryDirectory() as folder:
                    file = Path(folder, "result")
                    writers[option](str(file))
                    sys.stdout.write(file.read_text(encoding="utf-8"))
            elif option != "report":
                writers[option](path)
        if "report" in self.paths:
            tell("writing report")
            from .. import report as page

            command, seed = self.arguments.command, getattr(self.arguments, "seed", None)
            page.write(self.paths["report"], command=command, seed=seed, **report)
        return list(self.paths.values())


def _check(option: str, path: str, command: str) -> None:
    """Refuse a result that could not be made, or written."""
    if option == "plot":
        from .. import plot

        plot.require_matplotlib()
        plot.file_format(path)
    kinds = LABELS.get(command, (".npy", ".zarr"))
    if option == "labels" and not path.endswith(kinds):
        raise ValueError(f"The file of --labels must end in {' or '.join(kinds)}. Got {path!r} instead.")
    if option == "report" and not path.lower().endswith((".html", ".htm")):
        raise ValueError(f"The file of --report must end in .html. Got {path!r} instead.")
    if option == "report" and not _available(option):
        raise ImportError("This installation has no reports: install decisional again.")
    if option == "labels" and os.path.isdir(path):
        check_folder(path, "--labels")
    elif path != "-" or option not in TEXTS:
        check_path(path, f"--{option}")


def _available(option: str) -> bool:
    return option not in NEEDED or find_spec(NEEDED[option]) is not None


def check_paths(arguments: argparse.Namespace, *options: str) -> None:
    """Refuse files of options that could not be written, where these are given."""
    for option in options:
        if getattr(arguments, option) is not None:
            check_path(getattr(arguments, option), f"--{option}")


def check_path(path: str, option: str) -> None:
    """Refuse a file that could not be written, before the work rather than after it."""
    if path == "-":
        raise ValueError(f"The {option} '-' stands for standard output, where this cannot go: give the path of a file.")
    from ..support.files import is_channel

    if is_channel(path):
        if not os.access(path, os.W_OK):
            raise ValueError(f"The {option} {path!r} may not be written by this user: choose another.")
        return
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


def save_json(content: Mapping[str, Any], path: str) -> None:
    """Write results as JSON, with the version that made them."""
    from .. import __version__
    from ..support.files import write_json

    write_json(path, {"decisional": __version__, **content})


def save_dot(graph: Any, path: str) -> None:
    """Write a machine, or a graph of states, for Graphviz."""
    from ..support.files import write_text

    write_text(path, graph.to_dot())


def save_plot(draw: Callable[[Any], Any], path: str) -> None:
    """Write the picture that a function of `ds.plot` draws."""
    from .. import plot

    plot.save(draw(plot), path)


def save_labels(causal: Any, executor: Any, path: str) -> None:
    """Write the state at each place of the data, slice by slice; in a table with the index of the data."""
    if path.endswith(".csv"):
        save_table(causal.to_frame(), path)
        return
    from .. import write_values

    write_values(causal, path, executor=executor)


def save_table(frame: Any, path: str) -> None:
    """Write a frame as CSV; rows without an index are counted."""
    from ..support.files import write_text

    named = any(frame.index.names)
    levels = [name or "position" for name in frame.index.names]
    write_text(path, frame.to_csv(index_label=levels if named else "position"))


def machine_writers(machine: Any) -> dict[str, Callable[[str], None]]:
    """What writes a machine for each option."""
    draw = partial(save_plot, lambda plot: plot.machine(machine))
    return {"json": machine.save, "dot": partial(save_dot, machine), "plot": draw}


def announce(paths: list[str]) -> None:
    """Tell which files were written."""
    if paths:
        print("".join(f"\nWrote {path}" for path in paths))


def called(files: list[str]) -> str:
    """One or several files in a title."""
    more = len(files) - 1
    return files[0] + (f" and {plural(more, 'more file')}" if more else "")


class BesideBar:
    """Standard output that takes the bar away before something is written to the same terminal."""

    def __init__(self, stream: TextIO, hide: Callable[[], None]) -> None:
        self._stream, self._hide = stream, hide

    def write(self, text: str) -> int:
        self._hide()
        return self._stream.write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def bar(arguments: argparse.Namespace) -> Iterator[None]:
    """Inside, a bar on standard error shows the step and the time, unless nobody would see it or is to."""
    out = sys.stdout
    if getattr(arguments, "quiet", False) or arguments.name in WITHOUT_BAR or not sys.stderr.isatty():
        yield
        return
    from ..support.progress import hide, told

    try:
        if out.isatty():
            sys.stdout = cast(TextIO, BesideBar(out, hide))
        with told(True):
            yield
    finally:
        sys.stdout = out


def start_kernels() -> None:
    """Load numba without SciPy's linear algebra.

    numba imports it with its first kernel, only to convolve faster; that takes a sixth of the time of a short command,
    and no kernel convolves.
    """
    if BLAS in sys.modules:
        return
    sys.modules[BLAS] = None  # type: ignore[assignment]
    try:
        import numba.np.arraymath  # noqa: F401
    finally:
        del sys.modules[BLAS]
