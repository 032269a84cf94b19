"""decisional decide and watch: what to predict in each state of a machine, and events of a stream as they happen."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..support.plurals import plural
from . import results, summary
from .parser import NOT_NEGATIVE, PICTURE, SERVED, add_command, add_outputs, add_table, number, option, table_options

if TYPE_CHECKING:
    from ..data.row_stream import StreamRows
    from ..machines import EpsilonMachine
    from ..streams.event_file import EventFile
    from ..streams.live_feed import LiveFeed
    from ..streams.monitor import Monitor
    from ..streams.stream_input import StreamInput

DECIDE = """\
MODEL is a machine that `decisional symbols --json` or `signal --machine` wrote. A utility says what predicting y is
worth when z happens:

  zero-one         1 for a prediction that comes true
  squared-error    -(y - z)², for symbols that are numbers
  absolute-error   -|y - z|
  tolerant:TAU     -max(0, |y - z| - TAU)
  newsvendor:S,R   -S for each unit that is missing, -R for each that is left over
  interval-score:C minus the width of an interval that holds z in a share C, and minus 2 / (1 - C) for each unit outside
  alarm:T,M,F      -M where z > T and there was no alarm, -F where there was and z <= T
  FILE.csv         a table: the outcomes in the first row, a prediction and its utilities in each of the others

example:
  decisional decide machine.json --utility bet.csv --events data.txt --monitor monitor.json
"""
WATCH = """\
MODEL is a monitor that `decisional decide --monitor` or `signal --monitor` wrote, or a machine with --utility. Symbols
are characters, or words between spaces, commas and line ends if a symbol of the model has several characters, as the
numbers of a signal have; with --column they are those of a table, a row each, whose empty cells are gaps. Each event is
a line of JSON, given at once.

With --state the program resumes where it was saved, after each read of DATA. Feed it the symbols that it has not seen,
or all from the beginning with --skip-seen. With --out too, each event is in that file once, even after kill -9 or where
the disk was full; on standard output an event may come again, with the same position.

With --adapt, a line with "change" says that the model no longer fits, and one with "refit" that a new one is followed;
symbols that the model has not are learnt.

With --serve a page in the browser shows the stream while it is followed. To other machines, by --serve 0.0.0.0:8765, it
is shown with a token: that of the environment's DECISIONAL_TOKEN, or one that is made and told.

example:
  decisional watch monitor.json --state state.json --out events.jsonl --skip-seen < symbols.txt
  tail -f symbols.txt | decisional watch monitor.json
  tail -F -n +1 weather.csv | decisional watch monitor.json --column sky --time date --step 1h
  tail -f symbols.txt | decisional watch monitor.json --serve 8765
"""
FILES = {"json": "decisions.json", "dot": "decisions.dot", "plot": "decisions.png", "report": "report.html"}
BY = ("decision", "prediction", "utility")


def add(commands: Any) -> None:
    """Add the commands to the parser."""
    about = "Group the states of a machine in which the same predictions are best and worth the same."
    decide = add_command(commands, "decide", run_decide, "what to predict, and what it is worth", about, DECIDE)
    option(decide, "model", "MODEL", "machine written by --json, or - for standard input")
    about = "Follow symbols as they come and tell when the decision changes."
    watch = add_command(commands, "watch", run_watch, "events of a stream of symbols, as they happen", about, WATCH)
    option(watch, "model", "MODEL", "monitor written by decide, or machine with --utility")
    option(watch, "data", "DATA", "file or pipe of symbols (default: -, standard input)", nargs="?", default="-")
    for command in (decide, watch):
        option(command, "--utility", "U", "name, or table: FILE.csv", required=command is decide)
        command.add_argument("--by", choices=BY, help="what an event is a change of (default: decision)")
        text = "difference of utilities that does not matter: states are decided alike where no more is lost"
        option(command, "--indifference", "E", text, NOT_NEGATIVE)
        option(command, "--level", "L", "events are crossings of this expected utility", number())
    option(decide, "--events", "DATA", "list the changes of decision along a file of symbols")
    add_table(decide, "column of DATA, name or number from 0", by="--series-by")
    option(decide, "--labels", "FILE", "save the decision after each symbol of DATA, with the index of its rows: .csv")
    option(decide, "--monitor", "FILE", "save a monitor for watch: .json")
    graph = "save the graph of decisional states for Graphviz"
    add_outputs(decide, json="save the decisions: .json", dot=graph, plot=PICTURE)
    add_table(watch, "column of DATA, name or number from 0", by="--series-by")
    option(watch, "--state", "FILE", "keep the monitor in a file, and resume from it")
    option(watch, "--out", "FILE", "append the events to a file instead of standard output")
    watch.add_argument("--skip-seen", action="store_true", help="the input is the whole stream: skip what was seen")
    gap = "a symbol that the model has not: stop (refuse, the default), or go on as if one was missing (gap)"
    watch.add_argument("--unknown", choices=("refuse", "gap"), default="refuse", help=gap)
    window = "learn anew when the model no longer fits, from at most N of the last symbols (20000); with --utility"
    option(watch, "--adapt", "N", window, int, nargs="?", const=20_000)
    served = "show a live page in the browser: only on this machine (port 8765), unless HOST says otherwise"
    option(watch, "--serve", "[HOST:]PORT", served, SERVED, nargs="?", const=("127.0.0.1", 8765))
    watch.add_argument("--stay", action="store_true", help="keep the page after the end of DATA, until Ctrl-C")
    watch.add_argument("--quiet", action="store_true", help="do not tell on standard error where it resumes")


def run_decide(arguments: argparse.Namespace) -> int:
    """Decide, write and print."""
    outputs = results.Outputs(arguments, {**FILES, "labels": None})
    results.check_paths(arguments, "monitor")
    choice = _decided(arguments)
    series, states = _events_data(arguments, choice.machine_), _states(choice)
    writers: dict[str, Callable[[str], None]] = {
        "json": lambda path: results.save_json(_content(choice, states, arguments), path),
        "dot": partial(results.save_dot, choice.graph_),
        "plot": partial(results.save_plot, lambda plot: plot.decisions(choice)),
        "labels": lambda path: results.save_table(choice.to_frame(_several(series)), path),
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
        print("\n".join(_summary(choice, states, arguments)))
        for place, sequence in enumerate(series, start=1):
            which = f"series {place} of {arguments.events}" if len(series) > 1 else arguments.events
            print("\n".join(_told(choice.events(sequence, **how, initial=True), sequence, which)))
        results.announce(written)
    return 0


def _several(series: Sequence[Any]) -> Any:
    """Series of a table as they are; those of text, which could be symbols, by number."""
    return series if hasattr(series[0], "index") and hasattr(series[0], "iloc") else dict(enumerate(series))


def _told(changes: Any, sequence: Any, which: str) -> list[str]:
    """Events in words: each with the group and the time of its row where a table has them, else with its position."""
    names = getattr(getattr(sequence, "index", None), "names", ())
    counted = plural(len(changes), "event")
    if not any(names):
        return ["", f"{counted} in {which}, the position of each counted from 0", *map(str, changes)]
    lines = ["", f"{counted} in {which}, the {' and '.join(name or 'row' for name in names)} of each"]
    for event in changes:
        label = sequence.index[event.position]
        row = ", ".join(map(str, label)) if isinstance(label, tuple) else str(label)
        lines.append(f"{row}: {str(event).partition(': ')[2]}")
    return lines


def _decided(arguments: argparse.Namespace) -> Any:
    """Decisional states of the machine in a file, for a utility by name or in a file."""
    from ..decisions.decisional_model import DecisionalModel
    from ..decisions.utility_files import NAMED, WITH_NUMBERS, machine_of_numbers, read_utility
    from ..machines import EpsilonMachine

    results.start_kernels()
    machine, name = EpsilonMachine.load(arguments.model), arguments.utility
    worth = read_utility(name, machine.alphabet)
    if name != "zero-one" and name.partition(":")[0] in (*NAMED, *WITH_NUMBERS):
        machine = machine_of_numbers(machine)
    return DecisionalModel(worth, indifference=arguments.indifference or 0.0).fit(machine)


def _events_data(arguments: argparse.Namespace, machine: EpsilonMachine) -> Sequence[Any]:
    """The series of --events, whose symbols the machine knows; none where it is not given."""
    if arguments.events is None:
        for name, value in {**table_options(arguments), "labels": arguments.labels}.items():
            if value not in (None, (), "."):
                option = "series-by" if name == "by" else name
                raise ValueError(f"The option --{option} is for --events, which is not given: leave it out.")
        return []
    from ..data.frames import is_native
    from ..data.reading import read

    if machine.levels is not None:
        found = read(arguments.events, "signal", **table_options(arguments))
        return found if isinstance(found, list) else [found]
    series = read(arguments.events, "symbols", **table_options(arguments))
    series = [series] if is_native(series) else series
    for sequence in series:
        _refuse_unknown(list(sequence), machine, f"{arguments.events!r}")
    return list(series)


def _refuse_unknown(symbols: Sequence[Any], machine: EpsilonMachine, name: str, begin: int = 0) -> None:
    """Refuse symbols that the model has never seen."""
    from ..data.alphabet import is_missing

    known = set(map(str, machine.alphabet))
    unknown = (place for place, symbol in enumerate(symbols) if str(symbol) not in known and not is_missing(symbol))
    strange = next(unknown, None)
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


def _summary(choice: Any, states: list[dict[str, Any]], arguments: argparse.Namespace) -> list[str]:
    from ..decisions.events import predictions_text

    machine = choice.machine_
    counted = plural(machine.n_states, "state")
    sizes = f"{counted}, symbols {summary.shown_symbols(machine.alphabet)}"
    rows = [("Model", f"{arguments.model}: {sizes}"), ("Utility", arguments.utility)]
    table = [["state", "probability", "predict", "worth", "causal states"]]
    for place, state in enumerate(states):
        names = ", ".join(map(summary.symbol_text, state["causal"][:12])) + (", ..." if state["causal"][12:] else "")
        best = predictions_text(state["predictions"])
        table.append([f"ω{place}", f"{state['probability']:.4f}", best, f"{state['utility']:z.4f}", names])
    common = summary.align(table[:41], len(table) - 41, "states")
    return [*summary.facts(rows), "", *common, "", *summary.decisions(choice, _complexity(choice))]


def _complexity(choice: Any) -> float:
    """C over all causal states, as the others are."""
    from ..machines.chains import entropy

    machine = choice.machine_
    return float(entropy(machine.stationary if machine.weights is None else machine.weights))


def _content(choice: Any, states: list[dict[str, Any]], arguments: argparse.Namespace) -> dict[str, Any]:
    from ..streams.event_file import plain

    shown = [{**state, "predictions": plain(state["predictions"])} for state in states]
    measures = summary.decisions_json(choice, _complexity(choice))
    return {"model": arguments.model, "utility": arguments.utility, **measures, "states": shown}


def run_watch(arguments: argparse.Namespace) -> int:
    """Follow the symbols to their end."""
    arguments.out = None if arguments.out == "-" else arguments.out
    results.check_paths(arguments, "state", "out")
    _check_watch(arguments)
    monitor, resumed = _monitor(arguments)
    from ..streams.event_file import EventFile
    from ..streams.stream_input import StreamInput

    how = {"skip_seen": arguments.skip_seen, "goes_on": arguments.state is not None}
    source = StreamInput(monitor, arguments.data, _table(arguments), **how)
    with _shown(monitor, arguments) as feed, EventFile(monitor, arguments.out, arguments.state, resumed, feed) as file:
        if resumed and not arguments.quiet:
            print(f"decisional: resuming at symbol {monitor.position}", file=sys.stderr, flush=True)
        for rows in source:
            _follow(file, source, rows, arguments.unknown == "gap")
        if feed is not None:
            _stay(feed, arguments.stay)
    return 0


@contextmanager
def _shown(monitor: Monitor, arguments: argparse.Namespace) -> Iterator[LiveFeed | None]:
    """The feed of a live page, which is served meanwhile; None where there is none."""
    if arguments.serve is None:
        yield None
        return
    from ..streams.live_feed import LiveFeed
    from .live_page import LivePage

    feed, (host, port) = LiveFeed(monitor), arguments.serve
    with LivePage(feed, host, port, f"Stream of {arguments.model}", (monitor.by, monitor.level)) as page:
        print(f"decisional: live page at {page.address}", file=sys.stderr, flush=True)
        yield feed


def _stay(feed: LiveFeed, forever: bool) -> None:
    """Let viewers see the end, and the page stay if it shall."""
    from .live_page import PACE

    feed.end()
    time.sleep(2 * PACE)
    while forever:
        time.sleep(1.0)


def _check_watch(arguments: argparse.Namespace) -> None:
    """Refuse options that cannot be meant together."""
    from ..support.files import is_channel

    if arguments.skip_seen and arguments.state is None:
        raise ValueError("The option --skip-seen has no meaning without --state: give both.")
    if arguments.stay and arguments.serve is None:
        raise ValueError("The option --stay has no meaning without --serve: give both.")
    if arguments.model == arguments.data == "-":
        raise ValueError("The MODEL '-' is standard input, where the symbols come from: give the path of a file.")
    if arguments.groups is not None:
        raise ValueError(
            "The option --series-by tells several series and a monitor follows one: select the rows of each with grep "
            "or awk, and run watch on them with a --state and an --out of their own."
        )
    if arguments.state is not None and is_channel(arguments.state):
        raise ValueError(f"The --state {arguments.state!r} is a pipe or device, which keeps nothing: give a file.")
    files = [os.path.realpath(path) for path in (arguments.data, arguments.state, arguments.out) if path is not None]
    if len(set(files)) < len(files):
        raise ValueError("Two of DATA, --state and --out are the same file: give each of them its own.")


def _table(arguments: argparse.Namespace) -> dict[str, Any] | None:
    """What is told of a table; None where nothing is."""
    given = table_options(arguments)
    # Symbols have no decimal mark.
    for name in ("by", "decimal"):
        del given[name]
    return given if any(value not in (None, ()) for value in given.values()) else None


def _monitor(arguments: argparse.Namespace) -> tuple[Any, bool]:
    """The monitor where it stood, or at the beginning."""
    from .. import Adapt, Monitor

    if _is_monitor(arguments.model):
        if arguments.adapt is not None:
            raise ValueError(
                f"The model {arguments.model!r} is a monitor, which adapts or not as it was saved: leave --adapt out, "
                "or give the machine and --utility."
            )
        for option in ("utility", "by", "level", "indifference"):
            if getattr(arguments, option) is not None:
                raise ValueError(
                    f"The model {arguments.model!r} is a monitor, which has a utility already: leave --{option} out."
                )
        fresh = Monitor.load(arguments.model)
    elif arguments.utility is None:
        raise ValueError(f"The model {arguments.model!r} is a machine, which has no utility: give --utility.")
    else:
        choice = _decided(arguments)
        adapt = None if arguments.adapt is None else Adapt(window=arguments.adapt)
        fresh = Monitor(choice, by=arguments.by or "decision", level=arguments.level, adapt=adapt)
    if arguments.state is None or not Path(arguments.state).exists():
        return fresh, False
    saved = Monitor.load(arguments.state)
    if not saved.same_model(fresh):
        raise ValueError(
            f"The state {arguments.state!r} was saved with another model than {arguments.model!r}: remove it to start "
            "anew, or give the model it belongs to."
        )
    return saved, True


def _is_monitor(path: str) -> bool:
    """Whether a file has a monitor rather than a machine; anything else is refused."""
    from ..support.files import saved_format

    kind = saved_format(path)
    if kind not in ("decisional.Monitor", "decisional.EpsilonMachine"):
        raise ValueError(f"The file {path!r} has no model: give one that symbols --json or decide --monitor wrote.")
    return bool(kind == "decisional.Monitor")


def _follow(file: EventFile, source: StreamInput, rows: StreamRows, gaps: bool) -> None:
    """Feed symbols; those before an unknown one are done before it is refused, unless it is learnt."""
    from ..data.row_stream import CUT

    monitor = file.monitor
    while rows.symbols:
        stops = (symbol is CUT if monitor.adapts else not monitor.takes(symbol) for symbol in rows.symbols)
        n = next((place for place, stop in enumerate(stops) if stop), len(rows.symbols))
        gap = n < len(rows.symbols) and (gaps or rows.symbols[n] is CUT)
        if n == 0 and not gap:
            if monitor.machine is None or monitor.alphabet is None:
                raise ValueError(
                    f"The value {rows.symbols[0]!r} at position {monitor.position} of the input is no number, and the "
                    "model follows a signal: check the column, or give --unknown gap."
                )
            _refuse_unknown(rows.symbols[:1], monitor.machine, "the input", monitor.position)
        file.feed(rows.symbols[:n], gap, rows.times[:n], partial(source.note, rows))
        rows = rows.part(n + gap)
