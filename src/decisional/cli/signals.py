"""decisional signal: states of a continuous series."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from . import summary
from .fields import save_states, states_json, states_table
from .outputs import Outputs, announce, progress, write_json
from .parser import NOT_NEGATIVE, POSITIVE, add_command, add_outputs, integer, whole_or_auto
from .symbols import column_of

__all__ = ["add"]

EPILOG = """\
FILE is a table with or without names in its first row; empty cells and NA are gaps. By default the number of past
values is the one that predicts the last third of the data best, from the rest of them.

example:
  decisional signal sunspots.csv --column number --tau 15 --plot signal.png
"""
FILES = {"json": "signal.json", "plot": "signal.png", "states": "states.npy", "report": "report.html"}
PASTS = (1, 2, 3, 5)
# Values that choose the past; all of them are used with the one that is chosen.
TRIED = 1500


def add(commands: Any) -> None:
    """Add the command to the parser."""
    about = "Find the causal states of a series of numbers, by kernel densities."
    command = add_command(commands, "signal", run, "states of a continuous series", about, EPILOG)
    command.add_argument("file", metavar="FILE", help="CSV or another table of text, or - for standard input")
    command.add_argument("--column", metavar="C", help="number from 0 or name (default: the only one of numbers)")
    command.add_argument(
        "--past", type=whole_or_auto, default="auto", metavar="N", help="past values to look at (default: auto)"
    )
    command.add_argument(
        "--bandwidth", type=POSITIVE, metavar="B", help="width of the kernel (default: the data choose)"
    )
    tau = "error that costs nothing (default: squared errors, whose best prediction is the mean)"
    command.add_argument("--tau", type=NOT_NEGATIVE, metavar="T", help=tau)
    add_outputs(
        command,
        json="save the summary: .json",
        plot="save a picture: .png, .svg or .pdf",
        states="save the state after each row, -1 = none: .npy",
    )
    command.add_argument("--seed", type=integer(0), metavar="S", help="seed of the random numbers")


def run(arguments: argparse.Namespace) -> int:
    """Read, reconstruct, write and print."""
    from .files import read_column

    outputs = Outputs(arguments, FILES)
    signal, name = read_column(arguments.file, column_of(arguments.column))
    from .. import observe, utility
    from ..densities import Kernels
    from ..estimators import CausalStates, DecisionalStates

    worth = utility.squared_error() if arguments.tau is None else utility.tolerant(arguments.tau)
    say = progress(arguments)
    density = Kernels("cv" if arguments.bandwidth is None else arguments.bandwidth, progress=say)
    past = _best_past(signal, density, say) if arguments.past is None else arguments.past
    obs = observe.delays(signal, past)
    causal: Any = CausalStates(density, random_state=arguments.seed).fit(obs)
    choice: Any = DecisionalStates(worth).fit(causal)
    gaps = int((signal != signal).sum())
    how = "chosen by the data" if arguments.past is None else "given"
    widths = ", ".join(f"{width:.4g}" for width in causal._kernels.sigma)
    cost = "squared errors" if arguments.tau is None else f"errors up to {arguments.tau:g} cost nothing"
    rows = [
        ("Data", f"{signal.size:,} rows of column {name!r}, {gaps} without a value"),
        ("Past", f"{past} values, {how}"),
        ("Kernel", f"bandwidth {widths}"),
        ("Utility", cost),
        ("States", f"{causal.n_states_} causal, {choice.n_states_} decisional"),
    ]

    def plot(path: str) -> None:
        from .pictures import save_signal

        save_signal(path, signal, choice, name)

    writers = {
        "json": lambda path: write_json(path, states_json(choice, arguments.file)),
        "plot": plot,
        "states": lambda path: save_states(path, causal),
    }
    asked = {"Command": "signal", "File": arguments.file, "Column": name, "Past": f"{past}, {how}", "Utility": cost}
    given = {"asked": asked, "series": signal, "causal": causal, "choice": choice}
    written = outputs.write(writers, title=f"Hidden states of {arguments.file}", **given)
    if not arguments.quiet:
        lines = [*summary.facts(rows), "", *states_table(causal), ""]
        print("\n".join([*lines, *summary.decisions(choice, causal.complexity_)]))
        announce(written)
    return 0


def _best_past(signal: Any, density: Any, say: Callable[[str], None] | None) -> int:
    """The past whose densities, from two thirds of the last values, predict the other third best."""
    from .. import observe
    from ..estimators import CausalStates

    tried = signal[-TRIED:]
    cut = tried.size * 2 // 3
    scores: dict[int, float] = {}
    for past in PASTS:
        try:
            learnt, held_out = observe.delays(tried[:cut], past), observe.delays(tried[cut:], past)
        except ValueError:
            # No window of this length fits between the gaps, nor will a longer one.
            break
        scores[past] = CausalStates(density).fit(learnt).score(held_out)
        if say is not None:
            say(f"past {past}: {scores[past]:.3f} bits per value")
    if not scores:
        raise ValueError(
            f"The signal has {signal.size} values, too few without a gap to choose the past: give more, or --past 1."
        )
    return max(scores, key=scores.__getitem__)
