"""decisional watch: events of a stream, as they happen."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .decision_command import add_utility, decide, refuse_unknown
from .parser import add_command
from .results import check_paths

if TYPE_CHECKING:
    from ..streams.event_file import EventFile

EPILOG = """\
MODEL is a monitor that `decisional decide --monitor` wrote, or a machine with --utility. Symbols are characters, or
words between spaces, commas and line ends if a symbol of the model has several characters. Each event is a line of
JSON, given at once.

With --state the program resumes where it was saved, after each read of standard input. Feed it the symbols that it has
not seen, or all from the beginning with --skip-seen. With --out too, each event is in that file once, even after
kill -9; on standard output an event may come again, with the same position.

With --adapt, a line with "change" says that the model no longer fits, and one with "refit" that a new one is followed;
symbols that the model has not are learnt.

example:
  decisional watch monitor.json --state state.json --out events.jsonl --skip-seen < symbols.txt
  tail -f symbols.txt | decisional watch monitor.json
"""
CHUNK = 1 << 16


def add(commands: Any) -> None:
    """Add the command to the parser."""
    about = "Follow symbols from standard input and tell when the decision changes."
    command = add_command(commands, "watch", run, "events of a stream of symbols, as they happen", about, EPILOG)
    command.add_argument("model", metavar="MODEL", help="monitor written by decide, or machine with --utility")
    add_utility(command, required=False)
    command.add_argument("--state", metavar="FILE", help="keep the monitor in a file, and resume from it")
    command.add_argument("--out", metavar="FILE", help="append the events to a file instead of standard output")
    command.add_argument("--skip-seen", action="store_true", help="the input is the whole stream: skip what was seen")
    gap = "a symbol that the model has not: stop (refuse, the default), or go on as if one was missing (gap)"
    command.add_argument("--unknown", choices=("refuse", "gap"), default="refuse", help=gap)
    window = "learn anew when the model no longer fits, from at most N of the last symbols (20000); with --utility"
    command.add_argument("--adapt", type=int, nargs="?", const=20_000, metavar="N", help=window)
    command.add_argument("--quiet", action="store_true", help="do not tell on standard error where it resumes")


def run(arguments: argparse.Namespace) -> int:
    """Follow the symbols to their end."""
    arguments.out = None if arguments.out == "-" else arguments.out
    check_paths(arguments, "state", "out")
    if arguments.skip_seen and arguments.state is None:
        raise ValueError("The option --skip-seen has no meaning without --state: give both.")
    monitor, resumed = _monitor(arguments)
    from ..streams.event_file import EventFile

    with EventFile(monitor, arguments.out, arguments.state, resumed) as file:
        if resumed and not arguments.quiet:
            print(f"decisional: resuming at symbol {monitor.position}", file=sys.stderr, flush=True)
        skip = monitor.position if arguments.skip_seen else 0
        for symbols in _symbols(monitor.machine.alphabet):
            seen = min(skip, len(symbols))
            skip -= seen
            _follow(file, symbols[seen:], arguments.unknown == "gap")
    return 0


def _monitor(arguments: argparse.Namespace) -> tuple[Any, bool]:
    """The monitor where it stood, or at the beginning."""
    from .. import Adapt, Monitor

    if arguments.model == "-":
        raise ValueError("The MODEL '-' is standard input, where the symbols come from: give the path of a file.")
    if _is_monitor(arguments.model):
        if arguments.adapt is not None:
            raise ValueError(
                f"The model {arguments.model!r} is a monitor, which adapts or not as it was saved: leave --adapt out, "
                "or give the machine and --utility."
            )
        for option in ("utility", "by", "level"):
            if getattr(arguments, option) is not None:
                raise ValueError(
                    f"The model {arguments.model!r} is a monitor, which has a utility already: leave --{option} out."
                )
        fresh = Monitor.load(arguments.model)
    elif arguments.utility is None:
        raise ValueError(f"The model {arguments.model!r} is a machine, which has no utility: give --utility.")
    else:
        choice = decide(arguments.model, arguments.utility)
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
    import json

    from ..support.files import read_bytes

    try:
        content = json.loads(read_bytes(path))
    except ValueError:
        raise ValueError(f"The file {path!r} is not JSON; a model is written by symbols or decide: check it.") from None
    kind = content.get("format") if isinstance(content, dict) else None
    if kind not in ("decisional.Monitor", "decisional.EpsilonMachine"):
        raise ValueError(f"The file {path!r} has no model: give one that symbols --json or decide --monitor wrote.")
    return bool(kind == "decisional.Monitor")


def _symbols(alphabet: tuple[Any, ...]) -> Iterator[list[str]]:
    """Symbols from standard input, as many at once as there are."""
    import codecs

    words = any(len(str(symbol)) != 1 for symbol in alphabet)
    decode = codecs.getincrementaldecoder("utf-8")().decode
    source: Any = sys.stdin.buffer
    rest = ""
    while True:
        data = source.read1(CHUNK)
        try:
            text = rest + decode(data, final=not data)
        except UnicodeDecodeError:
            raise ValueError("The standard input is not UTF-8 text: convert it first.") from None
        parts = text.replace(",", " ")
        found = parts.split() if words else list("".join(parts.split()))
        # The last word may go on.
        rest = found.pop() if words and data and found and not parts[-1].isspace() else ""
        if found:
            yield found
        if not data:
            return


def _follow(file: EventFile, symbols: list[str], gaps: bool) -> None:
    """Feed symbols; those before an unknown one are done before it is refused, unless it is learnt."""
    monitor = file.monitor
    if monitor.adapts:
        file.feed(symbols)
        return
    known = set(map(str, monitor.machine.alphabet))
    while symbols:
        n = next((place for place, symbol in enumerate(symbols) if symbol not in known), len(symbols))
        if n == 0 and not gaps:
            refuse_unknown(symbols[:1], monitor.machine, "the input", monitor.position)
        gap = n < len(symbols) and gaps
        file.feed(symbols[:n], gap)
        symbols = symbols[n + gap :]
