"""Command line: the states of a file of symbols, and a demonstration."""

# Heavy modules are imported inside the commands, so that --help answers at once.
from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import __version__

if TYPE_CHECKING:
    from .graphs import EpsilonMachine

__all__ = ["main"]

_SYMBOLS = """\
Each line of FILE is one series: of characters (01101...) or, if it has spaces or commas, of words.

example:
  decisional symbols data.txt --past 10 --plot machine.pdf --json machine.json
"""
_DEMO = """\
Simulates 100,000 symbols of the Even process, where ones come in even numbers, and recovers its two states.

example:
  decisional demo --out demo
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    argv : sequence of str, optional
        The arguments; by default those of the program.

    Returns
    -------
    int
        Exit status: 0 if all went well, 2 for bad input, 130 when interrupted.
    """
    arguments = _parser().parse_args(argv)
    try:
        status = int(arguments.run(arguments))
        sys.stdout.flush()
        return status
    except BrokenPipeError:
        # The reader, such as `head`, has had enough; Python must not complain again when it closes.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return 130
    except (ValueError, TypeError, OSError, ImportError) as error:
        print(f"decisional: {_sentence(error)}", file=sys.stderr)
        return 2


def _sentence(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"The path {error.filename!r} cannot be used ({error.strerror}): choose another."
    return " ".join(str(error).split())


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="decisional",
        description="Hidden states from data: causal states and epsilon-machines.",
        epilog="example:\n  decisional symbols data.txt --past 10\n  decisional demo",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"decisional {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    _add_symbols(commands)
    _add_demo(commands)
    return parser


def _add_symbols(commands: Any) -> None:
    command = commands.add_parser(
        "symbols",
        help="states and machine of a file of symbols",
        description="Reconstruct the epsilon-machine of a file of symbols and print a summary.",
        epilog=_SYMBOLS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_argument("file", metavar="FILE", help="text file, or - for standard input")
    command.add_argument("--past", type=int, required=True, metavar="L", help="length of the histories")
    command.add_argument("--future", type=int, default=1, metavar="K", help="symbols to predict (default: 1)")
    command.add_argument("--column", metavar="C", help="read a table: this column, number from 0 or name")
    command.add_argument("--alpha", type=float, metavar="A", help="significance level of the test")
    command.add_argument("--min-count", type=int, metavar="M", help="shorten the histories seen less often")
    command.add_argument("--theta", type=float, metavar="T", help="determinism threshold")
    command.add_argument("--json", metavar="FILE", help="save the machine as JSON")
    command.add_argument("--dot", metavar="FILE", help="save the machine for Graphviz")
    command.add_argument("--plot", metavar="FILE", help="save a picture: .png, .svg or .pdf")
    command.add_argument("--seed", type=int, metavar="S", help="seed of the random numbers")
    command.add_argument("--quiet", action="store_true", help="print no summary")
    command.set_defaults(run=_symbols)


def _add_demo(commands: Any) -> None:
    command = commands.add_parser(
        "demo",
        help="reconstruct the Even process from a simulation",
        description="Reconstruct a known process from a simulation, with its picture.",
        epilog=_DEMO,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_argument("--out", default="demo", metavar="DIR", help="folder for the files (default: demo)")
    command.set_defaults(run=_demo)


def _symbols(arguments: argparse.Namespace) -> int:
    from . import io

    _check_outputs(arguments)
    column = arguments.column
    if column is not None and column.removeprefix("-").isdecimal():
        column = int(column)
    series = io.read_symbols(arguments.file, column)
    _check_lengths(series, arguments)
    causal = _fit(series, arguments)
    # Files come first: they must not depend on someone reading the summary to its end.
    written = _write(causal.machine_, arguments.json, arguments.dot, arguments.plot)
    if not arguments.quiet:
        print(_summary(causal, sum(map(len, series)), arguments.past, arguments.future))
        if written:
            _announce(written)
    return 0


def _announce(paths: list[str]) -> None:
    print("".join(f"\nWrote {path}" for path in paths))


def _check_outputs(arguments: argparse.Namespace) -> None:
    """Refuse bad outputs before the work, not after it."""
    if arguments.plot is not None:
        from . import plotting

        plotting.require_matplotlib()
        plotting.file_format(arguments.plot)
    for option in ("json", "dot", "plot"):
        path = getattr(arguments, option)
        if path is not None and not Path(path).absolute().parent.is_dir():
            raise ValueError(f"The folder of --{option} {path!r} does not exist: create it first.")


def _check_lengths(series: Sequence[Sequence[str]], arguments: argparse.Namespace) -> None:
    longest, needed = max(map(len, series)), arguments.past + arguments.future
    if longest < needed:
        advice = "lower --past or give longer series"
        if longest == 1 and arguments.column is None:
            advice = "if the file has one symbol per line, add --column 0"
        raise ValueError(
            f"The longest series of {arguments.file!r} has {longest} symbols but --past {arguments.past} "
            f"--future {arguments.future} needs at least {needed}: {advice}."
        )


def _fit(series: Sequence[Any], arguments: argparse.Namespace) -> Any:
    from . import observe
    from .densities import Counts
    from .estimators import CausalStates
    from .matching import GTest

    options: dict[str, Any] = {"random_state": arguments.seed}
    if arguments.alpha is not None:
        options["match"] = GTest(arguments.alpha)
    if arguments.min_count is not None:
        options["density"] = Counts(min_count=arguments.min_count)
    if arguments.theta is not None:
        options["theta"] = arguments.theta
    needed = arguments.past + arguments.future
    data = [sequence for sequence in series if len(sequence) >= needed]
    windows = observe.series(data, past=arguments.past, future=arguments.future, sequences=True)
    return CausalStates(**options).fit(windows)


def _write(machine: EpsilonMachine, json: str | None, dot: str | None, plot: str | None) -> list[str]:
    from . import io

    if json is not None:
        machine.save(json)
    if dot is not None:
        io.write_text(dot, machine.to_dot())
    if plot is not None:
        from . import plotting

        plotting.save(plotting.machine(machine), plot)
    return [path for path in (json, dot, plot) if path is not None]


def _demo(arguments: argparse.Namespace) -> int:
    from . import observe, processes
    from .estimators import CausalStates

    out = Path(arguments.out)
    out.mkdir(parents=True, exist_ok=True)
    symbols = processes.even().simulate(100_000, rng=1)
    causal: Any = CausalStates().fit(observe.series(symbols, past=10))
    written = _write(causal.machine_, *(str(out / f"even.{suffix}") for suffix in ("json", "dot", "png")))
    print("The Even process: its two states A and B have probabilities 2/3 and 1/3,")
    print("C = 0.9183 bits and h = 0.6667 bits per symbol. From a simulation we get:\n")
    print(_summary(causal, len(symbols), 10, 1))
    _announce(written)
    return 0


def _summary(causal: Any, n_symbols: int, past: int, future: int) -> str:
    """The result as text: sizes, states, transitions of the recurrent part, complexities."""
    machine = causal.machine_
    recurrent = int(machine.recurrent.sum())
    shown = ", ".join(_text(symbol) for symbol in machine.alphabet[:16])
    more = "" if len(machine.alphabet) <= 16 else f", ... ({len(machine.alphabet)} symbols)"
    lines = [
        f"Data         {n_symbols:,} symbols, alphabet {{{shown}{more}}}",
        f"Windows      past {past}, future {future}",
        f"States       {machine.n_states} ({recurrent} recurrent, {machine.n_states - recurrent} transient)",
        f"Determinism  {'converged' if causal.converged_ else 'did not converge'}",
        "",
        *_state_table(machine),
        "",
        *_transition_table(machine),
        "",
        f"C  statistical complexity, all states  {causal.complexity_:8.4f} bits",
        f"C  recurrent states only               {causal.recurrent_complexity_:8.4f} bits",
        f"h  entropy rate                        {machine.entropy_rate():8.4f} bits per symbol",
        f"E  excess entropy                      {machine.excess_entropy():8.4f} bits",
    ]
    return "\n".join(lines)


def _text(symbol: object) -> str:
    text = str(symbol)
    return text if text.strip() and text.isprintable() else repr(symbol)


def _state_table(machine: EpsilonMachine, most: int = 40) -> list[str]:
    probability = machine.stationary if machine.weights is None else machine.weights
    symbols = machine.alphabet[:8]
    rows = [["state", "probability", "", *(f"P({_text(symbol)})" for symbol in symbols)]]
    for state in range(min(machine.n_states, most)):
        kind = "recurrent" if machine.recurrent[state] else "transient"
        chances = (f"{p:.4f}" for p in machine.emission[state, : len(symbols)])
        rows.append([_text(machine.names[state]), f"{probability[state]:.4f}", kind, *chances])
    return _align(rows, machine.n_states - most, "states")


def _transition_table(machine: EpsilonMachine, most: int = 40) -> list[str]:
    rows = [["from", "symbol", "to", "probability"]]
    # Little data may end before any state recurs; then there is nothing better to show than all states.
    states = machine.recurrent.nonzero()[0] if machine.recurrent.any() else range(machine.n_states)
    for state in states:
        targets = machine.targets[state]
        for column in (targets >= 0).nonzero()[0]:
            names = [machine.names[state], machine.alphabet[column], machine.names[targets[column]]]
            rows.append([*map(_text, names), f"{machine.emission[state, column]:.4f}"])
    return _align(rows[: most + 1], len(rows) - 1 - most, "transitions")


def _align(rows: list[list[str]], left_out: int, what: str) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return [*lines, f"... and {left_out} more {what}"] if left_out > 0 else lines


if __name__ == "__main__":
    sys.exit(main())
