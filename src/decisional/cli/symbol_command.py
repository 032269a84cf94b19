"""decisional symbols: the epsilon-machine of a text file."""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from . import parser, results, summary

EPILOG = """\
Each line of FILE is one series: of characters (01101...) or, if it has spaces or commas, of words. Integers in arrays
are symbols, too (.npy, .zarr, .h5, .nc; FILE.h5:/NAME is one of several), and so is a column of a table (--column).
Several files are one data set; histories cross neither lines nor files. By default the data choose how much of the past
matters; with --past N histories of N symbols are compared, as in the paper. With --whole an empty line is a string too.

example:
  decisional symbols data.txt --json machine.json --plot machine.png
  decisional symbols weather.csv --column sky --time date --past 5 --report report.html
  decisional symbols visits.csv.gz --column page --by user --time clock
  decisional symbols 2025.txt 2026.txt --past 10 --cluster local
  decisional symbols words.txt --whole --json words.json
"""
THETA = parser.number("above 0.5 and at most 1", lambda value: 0.5 < value <= 1)
FILES = {
    "json": "machine.json",
    "dot": "machine.dot",
    "plot": "machine.png",
    "report": "report.html",
    "labels": None,
    "model": None,
}
# Options that mean nothing where the data choose the past.
GIVEN = ("future", "alpha", "min_count", "theta", "chunks", "cluster", "labels", "model")
# Those that mean nothing where it is given.
AUTO = ("whole", "seconds")
# Text files of more bytes are read slice by slice, where that is possible.
LARGE = 1 << 26
# Symbols of a long series that are shown in a report.
SHOWN = 1_000_000


def add(commands: Any) -> None:
    """Add the command to the parser."""
    about = "Reconstruct the epsilon-machine of a file of symbols and print a summary."
    command = parser.add_command(commands, "symbols", run, "states and machine of a file of symbols", about, EPILOG)
    option = parser.option
    option(command, "files", "FILE", "text or array, or - for standard input", nargs="+")
    option(command, "--variable", "V", parser.VARIABLE)
    command.add_argument("--whole", action="store_true", help="series are whole strings: their begin and end count")
    option(command, "--past", "N", "length of the histories (default: auto)", parser.whole_or_auto, default="auto")
    option(command, "--seconds", "S", "end the search then, with the best machine so far", parser.POSITIVE)
    given = command.add_argument_group("only with --past N")
    option(given, "--future", "K", "symbols to predict (default: 1)", parser.integer(1))
    option(given, "--alpha", "A", "significance level of the test", parser.LEVEL)
    option(given, "--min-count", "M", "shorten the histories seen less often", parser.integer(1))
    option(given, "--theta", "T", "determinism threshold", THETA)
    option(given, "--labels", "PATH", f"save the state after each symbol{parser.LABELS}")
    option(given, "--model", "FILE", parser.MODEL)
    parser.add_table(command, "column of the symbols, name or number from 0")
    parser.add_scale(command, "symbols")
    machine = {"json": "save the machine: .json, for decide and watch", "dot": "save the machine for Graphviz"}
    parser.add_outputs(command, seed=True, **machine, plot=parser.PICTURE)


def run(arguments: argparse.Namespace) -> int:
    """Read, reconstruct, write and print."""
    for name in GIVEN:
        if arguments.past is None and getattr(arguments, name) is not None:
            raise ValueError(
                f"The option --{name.replace('_', '-')} has no meaning with --past auto, where this machine compares "
                "many lengths of the past: give --past too, such as --past 5."
            )
    for name in AUTO:
        if arguments.past is not None and getattr(arguments, name):
            raise ValueError(f"The option --{name} has no meaning with --past N: leave out one of them.")
    outputs = results.Outputs(arguments, FILES)
    series = _read(arguments)
    results.start_kernels()
    _check_lengths(series, arguments)
    from ..support.cluster import cluster

    with cluster(arguments.cluster) as executor:
        found = (_selected if arguments.past is None else _fitted)(series, arguments, executor)
        machine, causal = found.machine, found.report.get("causal")
        writers = results.machine_writers(machine)
        writers["labels"] = partial(results.save_labels, causal, executor)
        if causal is not None:
            writers["model"] = causal.save
        # Files come first: they must not depend on someone reading the summary to its end.
        written = outputs.write(writers, **(_page(arguments, series, found) if "report" in outputs.paths else {}))
        if not arguments.quiet:
            files = f" from {len(arguments.files)} files" if len(arguments.files) > 1 else ""
            gaps = f", {series.n_missing:,} missing" if series.n_missing else ""
            sizes = f"{series.n_symbols:,} symbols{files}{gaps}, alphabet {summary.shown_symbols(machine.alphabet)}"
            recurrent = int(machine.recurrent.sum())
            states = f"{machine.n_states} ({recurrent} recurrent, {machine.n_states - recurrent} transient)"
            rows = [("Data", sizes), ("Windows", found.windows), ("States", states), *found.rows]
            tables = [*summary.facts(rows), "", *summary.machine_tables(machine), ""]
            measures = summary.measures(machine, None if causal is None else causal.complexity_)
            print("\n".join([*tables, *measures]))
            results.announce(written)
    return 0


def _check_lengths(series: Series, arguments: argparse.Namespace) -> None:
    name = results.called(arguments.files)
    if series.longest == 1 and arguments.column is None and not arguments.whole:
        raise ValueError(
            f"The longest series of {name!r} has 1 symbol, which has no past: if the file has one symbol per line, add "
            "--column 0."
        )
    if arguments.past is None:
        return
    arguments.future = 1 if arguments.future is None else arguments.future
    needed = arguments.past + arguments.future
    if series.longest < needed:
        raise ValueError(
            f"The longest series of {name!r} has {series.longest} symbols but --past {arguments.past} --future "
            f"{arguments.future} needs at least {needed}: lower --past or give longer series."
        )


class Series(NamedTuple):
    """Series of one or several files."""

    values: list[Any]  # the series, or parts of files that hold them
    missing: str | None  # what stands between series inside a part
    n_symbols: int
    n_series: int
    longest: int
    n_missing: int = 0  # of cells of a table, among the symbols

    @classmethod
    def of(cls, values: list[Any]) -> Series:
        """Series in memory, or arrays."""
        lengths = list(map(len, values))
        missing = sum(int(part.isna().sum()) for part in values if hasattr(part, "isna"))
        return cls(values, None, sum(lengths), len(values), max(lengths), missing)

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
    from ..data.frames import is_native
    from ..data.reading import is_array, read
    from ..data.text import MappedText

    files = arguments.files
    sizes = [Path(path).stat().st_size for path in files if Path(path).is_file()]
    large = sum(sizes) > LARGE and arguments.past is not None and "-" not in files
    how = {"kind": "symbols", "variable": arguments.variable, **parser.table_options(arguments)}
    sliced = parser.is_sliced(arguments)
    how["whole"] = arguments.whole
    found = [read(path, **how, sliced=sliced or (large and not is_array(path))) for path in files]
    found = [[item] if is_native(item) else item for item in found]
    arrays = [hasattr(item, "dtype") for item in found]
    if any(arrays):
        return _arrays(arguments, found, arrays)
    texts = [item for item in found if isinstance(item, MappedText)]
    series = _mapped(arguments, texts) if texts and len(texts) == len(found) else None
    if series is None and texts:
        found = [read(path, **how) for path in files]
    return series or Series.of([part for item in found for part in item])


def _mapped(arguments: argparse.Namespace, texts: list[Any]) -> Series | None:
    """Text that is left in its files; None where it must be read for the labels."""
    missing = next((text.missing for text in texts if text.missing is not None), None)
    n_series = sum(text.n_series for text in texts)
    if missing is not None and arguments.labels is not None:
        # Labels have no place for what stands between the series.
        if not parser.is_sliced(arguments):
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


class Found(NamedTuple):
    """A machine, and what is to be said of it."""

    machine: Any
    windows: str  # how much of the past and of the future matters
    rows: list[tuple[str, str]]  # of the summary
    report: dict[str, Any]  # what it was found with


def _selected(series: Series, arguments: argparse.Namespace, executor: None) -> Found:
    """The machine that the data choose."""
    from ..data.stores import load
    from ..states.machine_selection import select

    how: dict[str, Any] = {"whole": arguments.whole, "seconds": arguments.seconds}
    chosen = select(list(map(load, series.values)), sequences=True, **how)
    best, machine = chosen.chosen, chosen.machine
    windows = f"past {best.past}, future {best.future}, chosen among {len(chosen.candidates)} machines"
    if machine.start is not None:
        windows = f"{series.n_series:,} whole strings, which begin in state {machine.names[machine.start]}"
    caution = [] if chosen.warning is None else [("Caution", chosen.warning)]
    return Found(machine, windows, [("Why", chosen.why), *caution], {"selection": chosen})


def _fitted(series: Series, arguments: argparse.Namespace, executor: Any) -> Found:
    """The machine of histories of one length."""
    from ..data.series import series as observe
    from ..states.causal_model import CausalModel
    from ..states.distributions import Counts
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
    rows = [("Determinism", "converged" if causal.converged_ else "did not converge")]
    return Found(causal.machine_, f"past {past}, future {future}", rows, {"causal": causal})


def _page(arguments: argparse.Namespace, series: Series, found: Found) -> dict[str, Any]:
    """What the report tells."""
    from .. import observe
    from ..data.slices import Sliced
    from ..estimators.first_part import on_first_part

    past = "auto: the data choose" if arguments.past is None else arguments.past
    asked = {"Command": "symbols", "File": ", ".join(arguments.files), "Past": past}
    title = f"Hidden states of {results.called(arguments.files)}"
    page = {"title": title, "asked": asked, "machine": found.machine, **found.report}
    causal = found.report.get("causal")
    if causal is None or not isinstance(causal.observations_, Sliced):
        return {**page, "series": series.values}
    several = f" in {series.n_series:,} series" if series.n_series > 1 else ""
    page |= {"data": {"Length": f"{series.n_symbols:,} symbols{several}"}}
    try:
        first = observe.series(series.beginning(), arguments.past, arguments.future, sequences=True)
    except ValueError:
        # Nothing can be observed there.
        return page
    return {**page, "causal": on_first_part(causal, first)}
