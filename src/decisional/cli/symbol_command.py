"""decisional symbols: the epsilon-machine of a text file."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import summary
from .parser import (
    LABELS,
    LEVEL,
    PICTURE,
    VARIABLE,
    add_command,
    add_outputs,
    add_scale,
    column,
    integer,
    is_sliced,
    number,
    whole_or_auto,
)
from .results import Outputs, announce, called, label_writer, machine_writers, progress
from .start import start_kernels

EPILOG = """\
Each line of FILE is one series: of characters (01101...) or, if it has spaces or commas, of words. Integers in arrays
are symbols, too (.npy, .zarr, .h5, .nc; FILE.h5:/NAME is one of several). Several files are one data set; histories
cross neither lines nor files. By default the data choose how much of the past matters; with --past N histories of N
symbols are compared, as in the paper.

example:
  decisional symbols data.txt --json machine.json --plot machine.png
  decisional symbols weather.csv --column sky --past 5 --report report.html
  decisional symbols 2025.txt 2026.txt --past 10 --cluster local
"""
THETA = number("above 0.5 and at most 1", lambda value: 0.5 < value <= 1)
FILES = {"json": "machine.json", "dot": "machine.dot", "plot": "machine.png", "report": "report.html", "labels": None}
# Options that mean nothing where the data choose the past.
GIVEN = ("future", "alpha", "min_count", "theta", "chunks", "cluster", "labels")
# Text files of more bytes are read slice by slice, where that is possible.
LARGE = 1 << 26
# Symbols of a long series that are shown in a report.
SHOWN = 1_000_000


def add(commands: Any) -> None:
    """Add the command to the parser."""
    about = "Reconstruct the epsilon-machine of a file of symbols and print a summary."
    command = add_command(commands, "symbols", run, "states and machine of a file of symbols", about, EPILOG)
    command.add_argument("files", nargs="+", metavar="FILE", help="text or array, or - for standard input")
    command.add_argument("--column", type=column, metavar="C", help="read a table: this column, number from 0 or name")
    command.add_argument("--variable", metavar="V", help=VARIABLE)
    past = "length of the histories (default: auto)"
    command.add_argument("--past", type=whole_or_auto, default="auto", metavar="N", help=past)
    given = command.add_argument_group("only with --past N")
    given.add_argument("--future", type=integer(1), metavar="K", help="symbols to predict (default: 1)")
    given.add_argument("--alpha", type=LEVEL, metavar="A", help="significance level of the test")
    given.add_argument("--min-count", type=integer(1), metavar="M", help="shorten the histories seen less often")
    given.add_argument("--theta", type=THETA, metavar="T", help="determinism threshold")
    given.add_argument("--labels", metavar="PATH", help=f"save the state after each symbol{LABELS}")
    add_scale(command, "symbols")
    machine = {"json": "save the machine: .json, for decide and watch", "dot": "save the machine for Graphviz"}
    add_outputs(command, seed=True, **machine, plot=PICTURE)


def run(arguments: argparse.Namespace) -> int:
    """Read, reconstruct, write and print."""
    _refuse_given(arguments)
    outputs = Outputs(arguments, FILES)
    series = _read(arguments)
    start_kernels()
    if series.longest == 1 and arguments.column is None:
        raise ValueError(
            f"The longest series of {called(arguments.files)!r} has 1 symbol, which has no past: if the file has one "
            "symbol per line, add --column 0."
        )
    if arguments.past is None:
        return _finish(arguments, outputs, series, *_selected(series, arguments))
    _check_lengths(series, arguments)
    from ..support.cluster import cluster

    with cluster(arguments.cluster) as executor:
        return _finish(arguments, outputs, series, *_fitted(series, arguments, executor), executor)


def _refuse_given(arguments: argparse.Namespace) -> None:
    for option in GIVEN:
        if arguments.past is None and getattr(arguments, option) is not None:
            name = option.replace("_", "-")
            raise ValueError(
                f"The option --{name} has no meaning with --past auto, where this machine compares many lengths of the "
                "past: give --past too, such as --past 5."
            )


@dataclass(frozen=True)
class Series:
    """Series of one or several files.

    Attributes
    ----------
    values : the series, or parts of files that hold them
    missing : what stands between series inside a part, or None
    n_symbols, n_series, longest : sizes
    """

    values: list[Any]
    missing: str | None
    n_symbols: int
    n_series: int
    longest: int

    @classmethod
    def of(cls, values: list[Any]) -> Series:
        """Series in memory, or arrays."""
        lengths = list(map(len, values))
        return cls(values, None, sum(lengths), len(values), max(lengths))

    @property
    def size(self) -> str:
        """The size in words."""
        return f"{self.n_symbols:,} symbols" + (f" in {self.n_series:,} series" if self.n_series > 1 else "")

    def beginning(self) -> list[Any]:
        """The first symbols, in memory."""
        from ..data.stores import load

        found: list[Any] = []
        left = SHOWN
        for part in self.values:
            head = load(part[:left])
            found += head.decode("ascii").split() if isinstance(head, bytes) else [head]
            left -= len(head)
            if left <= 0:
                break
        return found


def _read(arguments: argparse.Namespace) -> Series:
    """The series of all files."""
    from ..data.reading import is_array, read
    from ..data.text import MappedText

    files = arguments.files
    sizes = [Path(path).stat().st_size for path in files if Path(path).is_file()]
    large = sum(sizes) > LARGE and arguments.past is not None and "-" not in files
    how = "symbols", arguments.column, arguments.variable, None
    found = [read(path, *how, is_sliced(arguments) or (large and not is_array(path))) for path in files]
    arrays = [hasattr(item, "dtype") for item in found]
    if any(arrays):
        return _arrays(arguments, found, arrays)
    texts = [item for item in found if isinstance(item, MappedText)]
    series = _mapped(arguments, texts) if texts and len(texts) == len(found) else None
    if series is None and texts:
        found = [read(path, *how) for path in files]
    return series or Series.of([part for item in found for part in item])


def _mapped(arguments: argparse.Namespace, texts: list[Any]) -> Series | None:
    """Text that is left in its files; None where it must be read for the labels."""
    missing = next((text.missing for text in texts if text.missing is not None), None)
    n_series = sum(text.n_series for text in texts)
    if missing is not None and arguments.labels is not None:
        # Labels have no place for what stands between the series.
        if not is_sliced(arguments):
            return None
        raise ValueError(
            f"The labels of {n_series:,} lines cannot be written slice by slice: leave out --chunks and --cluster, or "
            "--labels."
        )
    values = [part for text in texts for part in text.parts]
    return Series(values, missing, sum(t.n_symbols for t in texts), n_series, max(t.longest for t in texts))


def _arrays(arguments: argparse.Namespace, found: list[Any], arrays: list[bool]) -> Series:
    if not all(arrays):
        path = arguments.files[arrays.index(False)]
        raise ValueError(f"The file {path!r} is text and others are arrays: give files of one kind.")
    for path, array in zip(arguments.files, found, strict=True):
        if array.ndim != 1 or array.dtype.kind not in "biuf" or not len(array):
            raise ValueError(
                f"The array {path!r} has shape {tuple(array.shape)} and type {array.dtype}; symbols are integers along "
                "one axis: give such an array."
            )
    return Series.of(found)


def _selected(series: Series, arguments: argparse.Namespace) -> tuple[list[tuple[str, str]], Any, dict[str, Any]]:
    """The machine that the data choose."""
    from ..data.stores import load
    from ..states.machine_selection import select

    chosen = select(list(map(load, series.values)), sequences=True, progress=progress(arguments))
    best = chosen.chosen
    rows = [
        ("Windows", f"past {best.past}, future {best.future}, chosen among {len(chosen.candidates)} machines"),
        ("Why", chosen.why),
        *([] if chosen.warning is None else [("Caution", chosen.warning)]),
    ]
    return rows, chosen.machine, {"selection": chosen}


def _check_lengths(series: Series, arguments: argparse.Namespace) -> None:
    arguments.future = 1 if arguments.future is None else arguments.future
    needed = arguments.past + arguments.future
    if series.longest < needed:
        raise ValueError(
            f"The longest series of {called(arguments.files)!r} has {series.longest} symbols but --past "
            f"{arguments.past} --future {arguments.future} needs at least {needed}: lower --past or give longer series."
        )


def _fitted(
    series: Series, arguments: argparse.Namespace, executor: Any
) -> tuple[list[tuple[str, str]], Any, dict[str, Any]]:
    """The machine of histories of one length."""
    from ..data.series import series as observe
    from ..states.causal_model import CausalModel
    from ..states.counts import Counts
    from ..states.matching import GTest

    options: dict[str, Any] = {"random_state": arguments.seed}
    if arguments.alpha is not None:
        options["match"] = GTest(arguments.alpha)
    if arguments.min_count is not None:
        options["density"] = Counts(min_count=arguments.min_count)
    if arguments.theta is not None:
        options["theta"] = arguments.theta
    past, future = arguments.past, arguments.future
    # Labels are for all symbols, also of series that are too short to be observed.
    data = [part for part in series.values if len(part) >= past + future or arguments.labels is not None]
    how = {"sequences": True, "missing": series.missing, "chunks": arguments.chunks}
    causal: Any = CausalModel(**options).fit(observe(data, past, future, **how), executor=executor)
    rows = [
        ("Windows", f"past {past}, future {future}"),
        ("Determinism", "converged" if causal.converged_ else "did not converge"),
    ]
    return rows, causal.machine_, {"causal": causal}


def _finish(
    arguments: argparse.Namespace,
    outputs: Outputs,
    series: Series,
    rows: list[tuple[str, str]],
    machine: Any,
    found: dict[str, Any],
    executor: Any = None,
) -> int:
    """Write the files and print the summary."""
    files = f" from {len(arguments.files)} files" if len(arguments.files) > 1 else ""
    sizes = f"{series.n_symbols:,} symbols{files}, alphabet {summary.shown_symbols(machine.alphabet)}"
    recurrent = int(machine.recurrent.sum())
    states = f"{machine.n_states} ({recurrent} recurrent, {machine.n_states - recurrent} transient)"
    rows = [("Data", sizes), rows[0], ("States", states), *rows[1:]]
    causal = found.get("causal")
    writers: dict[str, Callable[[str], None]] = machine_writers(machine)
    writers["labels"] = label_writer(causal, arguments, executor)
    # Files come first: they must not depend on someone reading the summary to its end.
    page = _page(arguments, series, machine, found) if "report" in outputs.paths else {}
    written = outputs.write(writers, **page)
    if not arguments.quiet:
        tables = [*summary.facts(rows), "", *summary.machine_tables(machine), ""]
        print("\n".join([*tables, *summary.measures(machine, None if causal is None else causal.complexity_)]))
        announce(written)
    return 0


def _page(arguments: argparse.Namespace, series: Series, machine: Any, found: dict[str, Any]) -> dict[str, Any]:
    """What the report tells."""
    from .. import observe
    from ..data.slices import Sliced
    from ..estimators.first_part import on_first_part

    past = "auto: the data choose" if arguments.past is None else arguments.past
    asked = {"Command": "symbols", "File": ", ".join(arguments.files), "Past": past}
    page = {"title": f"Hidden states of {called(arguments.files)}", "asked": asked, "machine": machine, **found}
    causal = found.get("causal")
    if causal is None or not isinstance(causal.observations_, Sliced):
        return {**page, "series": series.values}
    page |= {"data": {"Length": series.size}}
    try:
        first = observe.series(series.beginning(), arguments.past, arguments.future, sequences=True)
    except ValueError:
        # Nothing can be observed there.
        return page
    return {**page, "causal": on_first_part(causal, first)}
