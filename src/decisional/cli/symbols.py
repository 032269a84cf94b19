"""decisional symbols: the epsilon-machine of a text file."""

from __future__ import annotations

import argparse
from typing import Any

from . import summary
from .outputs import LABELS, Outputs, announce, label_writer, progress
from .parser import LEVEL, PICTURE, add_command, add_outputs, column, integer, number, whole_or_auto
from .scale import add_scale, cluster
from .series import Series, called, read_series

__all__ = ["add", "machine_writers", "needs_past"]

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
FILES = {"json": "machine.json", "dot": "machine.dot", "plot": "machine.png", "report": "report.html"}
GIVEN = ("future", "alpha", "min_count", "theta", "chunks", "cluster", "labels")


def add(commands: Any) -> None:
    """Add the command to the parser."""
    command = add_command(
        commands,
        "symbols",
        run,
        "states and machine of a file of symbols",
        "Reconstruct the epsilon-machine of a file of symbols and print a summary.",
        EPILOG,
    )
    command.add_argument("files", nargs="+", metavar="FILE", help="text or array, or - for standard input")
    command.add_argument("--column", type=column, metavar="C", help="read a table: this column, number from 0 or name")
    command.add_argument(
        "--variable", metavar="V", help="array of an HDF5, netCDF or zarr file (default: the only one)"
    )
    command.add_argument(
        "--past", type=whole_or_auto, default="auto", metavar="N", help="length of the histories (default: auto)"
    )
    given = command.add_argument_group("only with --past N")
    given.add_argument("--future", type=integer(1), metavar="K", help="symbols to predict (default: 1)")
    given.add_argument("--alpha", type=LEVEL, metavar="A", help="significance level of the test")
    given.add_argument("--min-count", type=integer(1), metavar="M", help="shorten the histories seen less often")
    given.add_argument("--theta", type=THETA, metavar="T", help="determinism threshold")
    given.add_argument("--labels", metavar="PATH", help=f"save the state after each symbol{LABELS}")
    add_scale(command, "symbols")
    add_outputs(
        command,
        seed=True,
        json="save the machine: .json, for decide and watch",
        dot="save the machine for Graphviz",
        plot=PICTURE,
    )


def needs_past(arguments: argparse.Namespace, *options: str) -> None:
    """Refuse options that mean nothing where the data choose the past."""
    for option in options:
        if arguments.past is None and getattr(arguments, option) is not None:
            name = option.replace("_", "-")
            raise ValueError(
                f"The option --{name} has no meaning with --past auto, where this machine compares many lengths of the "
                "past: give --past too, such as --past 5."
            )


def run(arguments: argparse.Namespace) -> int:
    """Read, reconstruct, write and print."""
    needs_past(arguments, *GIVEN)
    outputs = Outputs(arguments, {**FILES, "labels": None})
    series = read_series(arguments)
    if series.longest == 1 and arguments.column is None:
        raise ValueError(
            f"The longest series of {called(arguments.files)!r} has 1 symbol, which has no past: if the file has one "
            "symbol per line, add --column 0."
        )
    if arguments.past is None:
        return _finish(arguments, outputs, series, *_selected(series, arguments))
    _check_lengths(series, arguments)
    with cluster(arguments) as executor:
        return _finish(arguments, outputs, series, *_fitted(series, arguments, executor), executor)


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
    rows = [("Data", sizes), *rows]
    recurrent = int(machine.recurrent.sum())
    transient = machine.n_states - recurrent
    rows.insert(2, ("States", f"{machine.n_states} ({recurrent} recurrent, {transient} transient)"))
    causal = found.get("causal")
    writers = {**machine_writers(machine), "labels": label_writer(causal, arguments, executor)}
    # Files come first: they must not depend on someone reading the summary to its end.
    page = _report(arguments, series, machine, found) if "report" in outputs.paths else {}
    written = outputs.write(writers, **page)
    if not arguments.quiet:
        tables = [*summary.facts(rows), "", *summary.machine_tables(machine), ""]
        print("\n".join([*tables, *summary.measures(machine, None if causal is None else causal.complexity_)]))
        announce(written)
    return 0


def _selected(series: Series, arguments: argparse.Namespace) -> tuple[list[tuple[str, str]], Any, Any]:
    """The machine that the data choose."""
    import numpy as np

    from ..states import selection

    values = [np.asarray(part) if hasattr(part, "dtype") else part for part in series.values]
    chosen = selection.select(values, sequences=True, progress=progress(arguments))
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
    from .. import observe
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
    how = {"past": arguments.past, "future": arguments.future, "sequences": True}
    needed = arguments.past + arguments.future
    # Labels are for all symbols, also of series that are too short to be observed.
    data = [part for part in series.values if len(part) >= needed or arguments.labels is not None]
    windows = observe.series(data, **how, missing=series.missing, chunks=arguments.chunks)
    causal: Any = CausalModel(**options).fit(windows, executor=executor)
    rows = [
        ("Windows", f"past {arguments.past}, future {arguments.future}"),
        ("Determinism", "converged" if causal.converged_ else "did not converge"),
    ]
    return rows, causal.machine_, {"causal": causal}


def machine_writers(machine: Any) -> dict[str, Any]:
    """What writes a machine for each option."""

    def dot(path: str) -> None:
        from ..support import files as io

        io.write_text(path, machine.to_dot())

    def plot(path: str) -> None:
        from .. import plot as plotting

        plotting.save(plotting.machine(machine), path)

    return {"json": machine.save, "dot": dot, "plot": plot}


def _report(arguments: argparse.Namespace, series: Series, machine: Any, found: dict[str, Any]) -> dict[str, Any]:
    past = "auto: the data choose" if arguments.past is None else arguments.past
    asked = {"Command": "symbols", "File": ", ".join(arguments.files), "Past": past}
    page = {"title": f"Hidden states of {called(arguments.files)}", "asked": asked, "machine": machine, **found}
    from ..data.slices import Sliced

    causal = found.get("causal")
    if causal is None or not isinstance(causal.observations_, Sliced):
        return {**page, "series": series.values}
    from .. import observe
    from ..estimators.first_part import on_first_part

    page |= {"data": {"Length": series.size}}
    try:
        first = observe.series(series.beginning(), arguments.past, arguments.future, sequences=True)
    except ValueError:
        # Nothing can be observed there.
        return page
    return {**page, "causal": on_first_part(causal, first)}
