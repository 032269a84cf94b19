"""decisional decide: decisional states of a machine for a utility, by name or from a file."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import summary
from .parser import PICTURE, Parser, add_command, add_outputs, column, finite, number
from .results import Outputs, announce, check_paths, save_dot, save_json
from .start import start_kernels

if TYPE_CHECKING:
    from ..machines import EpsilonMachine

__all__ = ["add", "add_utility", "decide", "plain", "refuse_unknown"]

EPILOG = """\
MODEL is a machine that `decisional symbols --json` wrote. A utility says what predicting y is worth when z happens:

  zero-one         1 for a prediction that comes true
  squared-error    -(y - z)², for symbols that are numbers
  absolute-error   -|y - z|
  tolerant:TAU     -max(0, |y - z| - TAU)
  FILE.csv         a table: the outcomes in the first row, a prediction and its utilities in each of the others

example:
  decisional decide machine.json --utility bet.csv --events data.txt --monitor monitor.json
"""
FILES = {"json": "decisions.json", "dot": "decisions.dot", "plot": "decisions.png", "report": "report.html"}
BY = ("decision", "prediction", "utility")
NAMES = ("zero-one", "squared-error", "absolute-error")


def add(commands: Any) -> None:
    """Add the command to the parser."""
    about = "Group the states of a machine in which the same predictions are best and worth the same."
    command = add_command(commands, "decide", run, "what to predict, and what it is worth", about, EPILOG)
    command.add_argument("model", metavar="MODEL", help="machine written by --json, or - for standard input")
    add_utility(command, required=True)
    command.add_argument("--events", metavar="DATA", help="list the changes of decision along a file of symbols")
    command.add_argument("--column", type=column, metavar="C", help="column of DATA, number from 0 or name")
    command.add_argument("--monitor", metavar="FILE", help="save a monitor for watch: .json")
    graph = "save the graph of decisional states for Graphviz"
    add_outputs(command, json="save the decisions: .json", dot=graph, plot=PICTURE)


def add_utility(command: Parser, required: bool) -> None:
    """Options for the utility and for what makes an event."""
    command.add_argument("--utility", required=required, metavar="U", help="name, or table: FILE.csv")
    command.add_argument("--by", choices=BY, default=None, help="what an event is a change of (default: decision)")
    command.add_argument("--level", type=number(), metavar="L", help="events are crossings of this expected utility")


def run(arguments: argparse.Namespace) -> int:
    """Decide, write and print."""
    outputs = Outputs(arguments, FILES)
    check_paths(arguments, "monitor")
    choice = decide(arguments.model, arguments.utility)
    series = _events_data(arguments, choice.machine_)
    writers: dict[str, Callable[[str], None]] = {
        "json": lambda path: save_json(path, _content(choice, arguments)),
        "dot": partial(save_dot, choice.graph_),
        "plot": lambda path: _plot(path, choice),
    }
    asked = {"Command": "decide", "Model": arguments.model, "Utility": arguments.utility}
    found = {"asked": asked, "machine": choice.machine_, "choice": choice, "series": series or None}
    written = outputs.write(writers, title=f"Decisions of {arguments.model}", **found)
    how = {"by": arguments.by or "decision", "level": arguments.level}
    if arguments.monitor is not None:
        from .. import Monitor

        Monitor(choice, **how).save(arguments.monitor)
        written.append(arguments.monitor)
    if not arguments.quiet:
        _print(choice, arguments)
        for place, sequence in enumerate(series, start=1):
            changes = choice.events(sequence, **how, initial=True)
            which = f"series {place} of {arguments.events}" if len(series) > 1 else arguments.events
            print(f"\n{len(changes)} events in {which}, the position of each counted from 0")
            for event in changes:
                print(event)
        announce(written)
    return 0


def _events_data(arguments: argparse.Namespace, machine: EpsilonMachine) -> Sequence[Any]:
    """The series of --events, whose symbols the machine knows; none where it is not given."""
    if arguments.events is None:
        if arguments.column is not None:
            raise ValueError("The option --column is for --events, which is not given: leave it out.")
        return []
    from ..data.text import read_symbols

    series = read_symbols(arguments.events, arguments.column)
    for sequence in series:
        refuse_unknown(sequence, machine, f"{arguments.events!r}")
    return series


def _plot(path: str, choice: Any) -> None:
    from .. import plot

    plot.save(plot.decisions(choice), path)


def decide(path: str, text: str) -> Any:
    """Decisional states of the machine in a file, for a utility by name or in a file."""
    from ..decisions.decisional_model import DecisionalModel
    from ..machines import EpsilonMachine

    start_kernels()
    machine = EpsilonMachine.load(path)
    worth = _utility(text)
    if text.lower().endswith(".csv"):
        missing = [symbol for symbol in machine.alphabet if str(symbol) not in worth.z]
        if missing:
            raise ValueError(f"The table {text!r} has no column for the outcome {missing[0]!r} of the model: add it.")
    elif text != "zero-one":
        machine = _numeric(machine, text)
    return DecisionalModel(worth).fit(machine)


def _utility(text: str) -> Any:
    from .. import utility

    name, _, value = text.partition(":")
    named = {"zero-one": utility.zero_one, "squared-error": utility.squared_error}
    named["absolute-error"] = utility.absolute_error
    if text in named:
        return named[text]()
    if name == "tolerant":
        try:
            return utility.tolerant(float(value))
        except ValueError:
            raise ValueError(
                f"The utility {text!r} must end in a number of at least 0, the error that costs nothing: write "
                "tolerant:0.5, for example."
            ) from None
    if text.lower().endswith(".csv"):
        return _table(text)
    if Path(text).exists():
        raise ValueError(f"The utility {text!r} is a file whose name does not end in .csv: rename it.")
    known = ", ".join((*named, "tolerant:TAU"))
    raise ValueError(f"The utility {text!r} is unknown: choose one of {known}, or give a table, FILE.csv.")


def _table(path: str) -> Any:
    """A utility from a table: outcomes in the first row, predictions in the first column."""
    from .. import read, utility

    rows = read(path, "table")
    if len(rows) < 2 or len(rows[0]) < 2:
        raise ValueError(
            f"The table {path!r} has {len(rows)} rows and needs 2 at least: outcomes in the first, then a prediction "
            "and its utilities in each."
        )
    outcomes, values = rows[0][1:], []
    for place, row in enumerate(rows[1:], start=2):
        if len(row) != len(rows[0]):
            raise ValueError(
                f"Row {place} of the table {path!r} has {len(row)} cells and the first row {len(rows[0])}: give a "
                "prediction and one utility for each outcome."
            )
        values.append([_cell(path, place, cell) for cell in row[1:]])
    predictions = [row[0] for row in rows[1:]]
    for what, names in (("outcome", outcomes), ("prediction", predictions)):
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise ValueError(f"The table {path!r} has the {what} {twice!r} twice: give each of them once.")
    return utility.table(values, y=predictions, z=outcomes)


def _cell(path: str, place: int, cell: str) -> float:
    value = finite(cell)
    if value is None:
        raise ValueError(f"Row {place} of the table {path!r} has {cell!r}, which is no number: correct it.")
    return value


def _numeric(machine: EpsilonMachine, name: str) -> EpsilonMachine:
    """The same machine over numbers, as files have text; each must print as it did, to be found again."""
    numbers: list[Any] = []
    for symbol in machine.alphabet:
        found = [symbol] if not isinstance(symbol, str) else [k(symbol) for k in (int, float) if _prints_as(k, symbol)]
        if not found:
            raise ValueError(
                f"The utility {name} needs symbols that are plain numbers, such as 2 or 0.5, and the model has "
                f"{symbol!r}: give a table, FILE.csv, or other symbols."
            )
        numbers.append(found[0])
    return machine.from_arrays(machine.targets, machine.emission, numbers, machine.names, machine.weights)


def _prints_as(kind: Any, text: str) -> bool:
    try:
        return str(kind(text)) == text and abs(kind(text)) < float("inf")
    except ValueError:
        return False


def refuse_unknown(symbols: Sequence[Any], machine: EpsilonMachine, name: str, begin: int = 0) -> None:
    """Refuse symbols that the model has never seen."""
    known = set(map(str, machine.alphabet))
    strange = next((place for place, symbol in enumerate(symbols) if str(symbol) not in known), None)
    if strange is not None:
        raise ValueError(
            f"The symbol {symbols[strange]!r} at position {begin + strange} of {name} is unknown to the model, whose "
            f"symbols are {summary.shown_symbols(machine.alphabet)}: check that the data are of the same kind."
        )


def _states(choice: Any) -> list[dict[str, Any]]:
    """One entry for each decisional state, the most probable first."""
    import numpy as np

    labels, weight = choice.states_.labels, choice.states_.probability
    causal = choice.machine_.weights if choice.machine_.weights is not None else choice.machine_.stationary
    found = []
    for state in range(choice.n_states_):
        members = np.flatnonzero(labels == state)
        # Utilities inside a decisional state are the same as far as the data tell.
        share = causal[members] if causal[members].any() else np.ones(members.size)
        worth = float(np.average(choice.utility_[members], weights=share))
        best = choice.predictions_[int(members[np.argmax(share)])]
        names = [choice.machine_.names[i] for i in members]
        found.append({"probability": float(weight[state]), "predictions": best, "utility": worth, "causal": names})
    return found


def _print(choice: Any, arguments: argparse.Namespace) -> None:
    from ..decisions.events import predictions_text

    machine = choice.machine_
    sizes = f"{machine.n_states} states, symbols {summary.shown_symbols(machine.alphabet)}"
    rows = [("Model", f"{arguments.model}: {sizes}"), ("Utility", arguments.utility)]
    table = [["state", "probability", "predict", "worth", "causal states"]]
    for place, state in enumerate(_states(choice)):
        names = ", ".join(map(summary.symbol_text, state["causal"][:12])) + (", ..." if state["causal"][12:] else "")
        best = predictions_text(state["predictions"])
        table.append([f"ω{place}", f"{state['probability']:.4f}", best, f"{state['utility']:.4f}", names])
    lines = [*summary.facts(rows), "", *summary.align(table[:41], len(table) - 41, "states"), ""]
    print("\n".join([*lines, *summary.decisions(choice, _complexity(choice))]))


def _complexity(choice: Any) -> float:
    """C over all causal states, as the others are."""
    from ..machines.chains import entropy

    machine = choice.machine_
    return float(entropy(machine.stationary if machine.weights is None else machine.weights))


def _content(choice: Any, arguments: argparse.Namespace) -> dict[str, Any]:
    states = [{**state, "predictions": plain(state["predictions"])} for state in _states(choice)]
    measures = {"C": _complexity(choice), "D": choice.complexity_, "P": choice.prediction_complexity_}
    measures |= {"V": choice.utility_complexity_, "expected_utility": choice.expected_utility_}
    return {"model": arguments.model, "utility": arguments.utility, **measures, "states": states}


def plain(predictions: Any) -> Any:
    """A set of predictions as JSON: a list, or the ends of an interval."""
    from ..decisions.predictions import Interval

    if predictions is None:
        return None
    if isinstance(predictions, Interval):
        return {"low": float(predictions.low), "high": float(predictions.high)}
    try:
        return sorted(predictions)
    except TypeError:
        return sorted(predictions, key=str)
