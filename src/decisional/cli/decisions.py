"""decisional decide: decisional states of a machine for a utility."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from . import summary
from .outputs import Outputs, announce, check_paths, write_json
from .parser import PICTURE, Parser, add_command, add_outputs, column, number
from .utilities import decide, refuse_unknown

__all__ = ["add", "add_utility", "event_json"]

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


def add(commands: Any) -> None:
    """Add the command to the parser."""
    about = "Group the states of a machine in which the same predictions are best and worth the same."
    command = add_command(commands, "decide", run, "what to predict, and what it is worth", about, EPILOG)
    command.add_argument("model", metavar="MODEL", help="machine written by --json, or - for standard input")
    add_utility(command, required=True)
    command.add_argument("--events", metavar="DATA", help="list the changes of decision along a file of symbols")
    command.add_argument("--column", type=column, metavar="C", help="column of DATA, number from 0 or name")
    command.add_argument("--monitor", metavar="FILE", help="save a monitor for watch: .json")
    add_outputs(
        command,
        json="save the decisions: .json",
        dot="save the graph of decisional states for Graphviz",
        plot=PICTURE,
    )


def add_utility(command: Parser, required: bool) -> None:
    """Options for the utility and for what makes an event."""
    command.add_argument("--utility", required=required, metavar="U", help="name, or table: FILE.csv")
    command.add_argument("--by", choices=BY, default=None, help="what an event is a change of (default: decision)")
    command.add_argument("--level", type=number(), metavar="L", help="events are crossings of this expected utility")


def run(arguments: argparse.Namespace) -> int:
    """Decide, write and print."""
    from ..data.text import read_symbols
    from ..support import files as io

    outputs = Outputs(arguments, FILES)
    check_paths(arguments, "monitor")
    choice = decide(arguments.model, arguments.utility)
    machine, by = choice.machine_, arguments.by or "decision"
    series: Sequence[Any] = []
    if arguments.events is not None:
        series = read_symbols(arguments.events, arguments.column)
        for sequence in series:
            refuse_unknown(sequence, machine, f"{arguments.events!r}")
    elif arguments.column is not None:
        raise ValueError("The option --column is for --events, which is not given: leave it out.")
    writers = {
        "json": lambda path: write_json(path, _content(choice, arguments)),
        "dot": lambda path: io.write_text(path, choice.graph_.to_dot()),
        "plot": lambda path: _plot(path, choice),
    }
    asked = {"Command": "decide", "Model": arguments.model, "Utility": arguments.utility}
    found = {"asked": asked, "machine": machine, "choice": choice, "series": series or None}
    written = outputs.write(writers, title=f"Decisions of {arguments.model}", **found)
    if arguments.monitor is not None:
        from ..streams.monitor import Monitor

        Monitor(choice, by=by, level=arguments.level).save(arguments.monitor)
        written.append(arguments.monitor)
    if not arguments.quiet:
        _print(choice, arguments)
        for place, sequence in enumerate(series, start=1):
            changes = choice.events(sequence, by=by, level=arguments.level, initial=True)
            which = f"series {place} of {arguments.events}" if len(series) > 1 else arguments.events
            print(f"\n{len(changes)} events in {which}, the position of each counted from 0")
            for event in changes:
                print(event)
        announce(written)
    return 0


def _plot(path: str, choice: Any) -> None:
    from .. import plot as plotting

    plotting.save(plotting.decisions(choice), path)


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
        cells = [
            f"{state['probability']:.4f}",
            predictions_text(state["predictions"]),
            f"{state['utility']:.4f}",
            names,
        ]
        table.append([f"ω{place}", *cells])
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
    if predictions is None:
        return None
    if hasattr(predictions, "low"):
        return {"low": float(predictions.low), "high": float(predictions.high)}
    try:
        return sorted(predictions)
    except TypeError:
        return sorted(predictions, key=str)


def event_json(event: Any) -> str:
    """An event as a line of JSON."""
    import json

    # Adding zero turns -0.0 into 0.0.
    content = {
        "position": event.position,
        "before": event.before,
        "after": event.after,
        "predictions": plain(event.predictions_after),
        "utility": event.utility_after + 0.0,
        "predictions_before": plain(event.predictions_before),
        "utility_before": None if event.before < 0 else event.utility_before + 0.0,
    }
    return json.dumps(content, ensure_ascii=False, allow_nan=False)
