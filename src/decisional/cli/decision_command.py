"""decisional decide: decisional states of a machine for a utility, by name or from a file."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from . import summary
from .parser import PICTURE, Parser, add_command, add_outputs, column, number
from .results import Outputs, announce, check_paths, save_dot, save_json
from .start import start_kernels

if TYPE_CHECKING:
    from ..machines import EpsilonMachine

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
    from ..decisions.utility_files import machine_of_numbers, read_utility
    from ..machines import EpsilonMachine

    start_kernels()
    machine = EpsilonMachine.load(path)
    worth = read_utility(text, machine.alphabet)
    if text != "zero-one" and not text.lower().endswith(".csv"):
        machine = machine_of_numbers(machine)
    return DecisionalModel(worth).fit(machine)


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
    from ..streams.event_file import plain

    states = [{**state, "predictions": plain(state["predictions"])} for state in _states(choice)]
    measures = {"C": _complexity(choice), "D": choice.complexity_, "P": choice.prediction_complexity_}
    measures |= {"V": choice.utility_complexity_, "expected_utility": choice.expected_utility_}
    return {"model": arguments.model, "utility": arguments.utility, **measures, "states": states}
