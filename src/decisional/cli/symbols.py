"""decisional symbols: the epsilon-machine of a text file."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from . import summary
from .outputs import Outputs, announce, progress
from .parser import LEVEL, Parser, add_command, add_outputs, integer, number, whole_or_auto

__all__ = ["add", "column_of", "machine_writers", "needs_past"]

EPILOG = """\
Each line of FILE is one series: of characters (01101...) or, if it has spaces or commas, of words. By default the data
choose how much of the past matters; with --past N histories of N symbols are compared, as in the paper.

example:
  decisional symbols data.txt --json machine.json --plot machine.png
  decisional symbols weather.csv --column sky --past 5 --report report.html
"""
THETA = number("above 0.5 and at most 1", lambda value: 0.5 < value <= 1)
FILES = {"json": "machine.json", "dot": "machine.dot", "plot": "machine.png", "report": "report.html"}


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
    command.add_argument("file", metavar="FILE", help="text file, or - for standard input")
    command.add_argument("--column", metavar="C", help="read a table: this column, number from 0 or name")
    command.add_argument(
        "--past", type=whole_or_auto, default="auto", metavar="N", help="length of the histories (default: auto)"
    )
    given = command.add_argument_group("only with --past N")
    given.add_argument("--future", type=integer(1), metavar="K", help="symbols to predict (default: 1)")
    given.add_argument("--alpha", type=LEVEL, metavar="A", help="significance level of the test")
    given.add_argument("--min-count", type=integer(1), metavar="M", help="shorten the histories seen less often")
    given.add_argument("--theta", type=THETA, metavar="T", help="determinism threshold")
    _add_machine_outputs(command)


def _add_machine_outputs(command: Parser) -> None:
    add_outputs(
        command,
        json="save the machine: .json, for decide and watch",
        dot="save the machine for Graphviz",
        plot="save a picture: .png, .svg or .pdf",
    )
    command.add_argument("--seed", type=integer(0), metavar="S", help="seed of the random numbers")


def column_of(text: str | None) -> int | str | None:
    """A column by number or by name."""
    return int(text) if text is not None and text.removeprefix("-").isdecimal() else text


def needs_past(arguments: argparse.Namespace, *options: str) -> None:
    """Refuse options that mean nothing where the data choose the past."""
    for option in options:
        if arguments.past is None and getattr(arguments, option) is not None:
            name = option.replace("_", "-")
            raise ValueError(f"The option --{name} has no meaning with --past auto: give --past too, such as --past 5.")


def run(arguments: argparse.Namespace) -> int:
    """Read, reconstruct, write and print."""
    from .. import io

    needs_past(arguments, "future", "alpha", "min_count", "theta")
    outputs = Outputs(arguments, FILES)
    series = io.read_symbols(arguments.file, column_of(arguments.column))
    longest = max(map(len, series))
    if longest == 1 and arguments.column is None:
        raise ValueError(
            f"The longest series of {arguments.file!r} has 1 symbol, which has no past: if the file has one symbol per "
            "line, add --column 0."
        )
    rows, machine, found = _selected(series, arguments) if arguments.past is None else _fitted(series, arguments)
    sizes = f"{sum(map(len, series)):,} symbols, alphabet {summary.shown_symbols(machine.alphabet)}"
    rows = [("Data", sizes), *rows]
    recurrent = int(machine.recurrent.sum())
    transient = machine.n_states - recurrent
    rows.insert(2, ("States", f"{machine.n_states} ({recurrent} recurrent, {transient} transient)"))
    # Files come first: they must not depend on someone reading the summary to its end.
    written = outputs.write(machine_writers(machine), **_report(arguments, series, machine, found))
    if not arguments.quiet:
        causal = found.get("causal")
        tables = [*summary.facts(rows), "", *summary.machine_tables(machine), ""]
        print("\n".join([*tables, *summary.measures(machine, None if causal is None else causal.complexity_)]))
        announce(written)
    return 0


def _selected(series: Sequence[Any], arguments: argparse.Namespace) -> tuple[list[tuple[str, str]], Any, Any]:
    """The machine that the data choose."""
    from .. import selection

    chosen = selection.select(series, sequences=True, progress=progress(arguments))
    best = chosen.chosen
    rows = [
        ("Windows", f"past {best.past}, future {best.future}, chosen among {len(chosen.candidates)} machines"),
        ("Why", chosen.why),
        *([] if chosen.warning is None else [("Caution", chosen.warning)]),
    ]
    return rows, chosen.machine, {"selection": chosen}


def _fitted(series: Sequence[Any], arguments: argparse.Namespace) -> tuple[list[tuple[str, str]], Any, Any]:
    """The machine of histories of one length."""
    future = 1 if arguments.future is None else arguments.future
    longest, needed = max(map(len, series)), arguments.past + future
    if longest < needed:
        raise ValueError(
            f"The longest series of {arguments.file!r} has {longest} symbols but --past {arguments.past} "
            f"--future {future} needs at least {needed}: lower --past or give longer series."
        )
    from .. import observe
    from ..densities import Counts
    from ..estimators import CausalStates
    from ..matching import GTest

    options: dict[str, Any] = {"random_state": arguments.seed}
    if arguments.alpha is not None:
        options["match"] = GTest(arguments.alpha)
    if arguments.min_count is not None:
        options["density"] = Counts(min_count=arguments.min_count)
    if arguments.theta is not None:
        options["theta"] = arguments.theta
    data = [sequence for sequence in series if len(sequence) >= needed]
    windows = observe.series(data, past=arguments.past, future=future, sequences=True)
    causal: Any = CausalStates(**options).fit(windows)
    rows = [
        ("Windows", f"past {arguments.past}, future {future}"),
        ("Determinism", "converged" if causal.converged_ else "did not converge"),
    ]
    return rows, causal.machine_, {"causal": causal}


def machine_writers(machine: Any) -> dict[str, Any]:
    """What writes a machine for each option."""

    def dot(path: str) -> None:
        from .. import io

        io.write_text(path, machine.to_dot())

    def plot(path: str) -> None:
        from .. import plotting

        plotting.save(plotting.machine(machine), path)

    return {"json": machine.save, "dot": dot, "plot": plot}


def _report(arguments: argparse.Namespace, series: Sequence[Any], machine: Any, found: dict[str, Any]) -> Any:
    past = "auto: the data choose" if arguments.past is None else arguments.past
    asked = {"Command": "symbols", "File": arguments.file, "Past": past}
    title = f"Hidden states of {arguments.file}"
    return {"title": title, "asked": asked, "series": series, "machine": machine, **found}
