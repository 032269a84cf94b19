"""decisional signal: states of a continuous series."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from .outputs import progress
from .parser import NOT_NEGATIVE, POSITIVE, add_command, column, whole_or_auto
from .scale import cluster, is_sliced
from .states import add_state_outputs, extremes, finish, outputs_of, visible

__all__ = ["add"]

EPILOG = """\
FILE is a table with or without names in its first row, where empty cells and NA are gaps, or an array with one axis
(.npy, .h5, .zarr, .nc), where NaN are. Several files are one data set; the past does not reach from one into the next.
By default the number of past values is the one that predicts the last third of the data best, from the rest of them.

example:
  decisional signal sunspots.csv --column number --tau 15 --plot signal.png
"""
PASTS = (1, 2, 3, 5)
# Values that are shown of data that were read in slices.
SHOWN = 100_000
# Values that choose the past; all of them are used with the one that is chosen.
TRIED = 1500


def add(commands: Any) -> None:
    """Add the command to the parser."""
    about = "Find the causal states of a series of numbers, by kernel densities."
    command = add_command(commands, "signal", run, "states of a continuous series", about, EPILOG)
    what = "CSV or another table of text, array, or - for standard input"
    command.add_argument("files", nargs="+", metavar="FILE", help=what)
    which = "number from 0 or name (default: the only one of numbers)"
    command.add_argument("--column", type=column, metavar="C", help=which)
    command.add_argument(
        "--variable", metavar="V", help="array of an HDF5, netCDF or zarr file (default: the only one)"
    )
    command.add_argument(
        "--past", type=whole_or_auto, default="auto", metavar="N", help="past values to look at (default: auto)"
    )
    command.add_argument(
        "--bandwidth", type=POSITIVE, metavar="B", help="width of the kernel (default: the data choose)"
    )
    tau = "error that costs nothing (default: squared errors, whose best prediction is the mean)"
    command.add_argument("--tau", type=NOT_NEGATIVE, metavar="T", help=tau)
    add_state_outputs(command, "after each row", "rows")


def _read(arguments: argparse.Namespace) -> tuple[list[Any], str]:
    """The series of all files, and what they are called."""
    from .arrays import is_array
    from .files import read_column, read_field

    signals, names = [], []
    for path in arguments.files:
        if not is_array(path):
            if arguments.variable is not None:
                raise ValueError(f"The option --variable is for arrays and {path!r} is a table: leave it out.")
            signal, name = read_column(path, arguments.column)
        elif arguments.column is not None:
            raise ValueError(f"The option --column is for tables and {path!r} is an array: leave it out.")
        else:
            name = arguments.variable or "value"
            signal, _ = read_field(path, None, arguments.variable, is_sliced(arguments), axes=1)
            if signal.ndim != 1 or signal.dtype.kind not in "biuf" or not len(signal):
                raise ValueError(
                    f"The array {path!r} has shape {tuple(signal.shape)} and type {signal.dtype}; a signal has numbers "
                    "along one axis: give such an array."
                )
        signals.append(signal)
        names.append(name)
    return signals, names[0]


def run(arguments: argparse.Namespace) -> int:
    """Read, reconstruct, write and print."""
    outputs = outputs_of(arguments, "signal")
    signals, name = _read(arguments)
    from .. import observe, utility
    from ..data.slices import Sliced
    from ..data.stores import load
    from ..decisions.decisional_model import DecisionalModel
    from ..states.causal_model import CausalModel
    from ..states.kernels import Kernels

    worth = utility.squared_error() if arguments.tau is None else utility.tolerant(arguments.tau)
    say = progress(arguments)
    density = Kernels("cv" if arguments.bandwidth is None else arguments.bandwidth, progress=say)
    past = _best_past(signals, density, say) if arguments.past is None else arguments.past
    obs = observe.delays(signals if len(signals) > 1 else signals[0], past, chunks=arguments.chunks)
    gaps = extremes(signals)[2]
    with cluster(arguments) as executor:
        causal: Any = CausalModel(density, random_state=arguments.seed).fit(obs, executor=executor)
        choice: Any = DecisionalModel(worth).fit(causal)

        def first() -> tuple[Any, Any]:
            part = load(signals[0][:SHOWN])
            return observe.delays(part, past), part

        sliced = isinstance(obs, Sliced)
        shown, series = visible(choice, outputs, first) if sliced else (choice, _joined(signals))
        how = "chosen by the data" if arguments.past is None else "given"
        widths = ", ".join(f"{width:.4g}" for width in causal.kernels_.sigma)
        cost = "squared errors" if arguments.tau is None else f"errors up to {arguments.tau:g} cost nothing"
        n, files = sum(map(len, signals)), f" in {len(signals)} files" if len(signals) > 1 else ""
        rows = [
            ("Data", f"{n:,} rows of column {name!r}{files}, {gaps} without a value"),
            ("Past", f"{past} values, {how}"),
            ("Kernel", f"bandwidth {widths}"),
            ("Utility", cost),
        ]

        def plot(path: str) -> None:
            from .. import plot as plotting

            # The number of a column is no name.
            figure = plotting.signal(shown, series, name="value" if name.isdecimal() else name)
            plotting.save(figure, path)

        asked = {"Command": "signal", "File": ", ".join(arguments.files), "Column": name}
        asked |= {"Past": f"{past}, {how}", "Utility": cost}
        page = {"asked": asked, "choice": shown, "series": series, "data": {"Length": f"{n:,} values"}}
        return finish(arguments, outputs, choice, rows, plot, executor, **page)


def _joined(signals: list[Any]) -> Any:
    import numpy as np

    return signals[0] if len(signals) == 1 else np.concatenate(signals)


def _best_past(signals: list[Any], density: Any, say: Callable[[str], None] | None) -> int:
    """The past whose densities, from two thirds of the last values, predict the other third best."""
    import numpy as np

    from .. import observe
    from ..states.causal_model import CausalModel

    signal = max(signals, key=len)
    tried = np.asarray(signal[-TRIED:], float)
    cut = tried.size * 2 // 3
    scores: dict[int, float] = {}
    for past in PASTS:
        try:
            learnt, held_out = observe.delays(tried[:cut], past), observe.delays(tried[cut:], past)
        except ValueError:
            # No window of this length fits between the gaps, nor will a longer one.
            break
        scores[past] = CausalModel(density).fit(learnt).score(held_out)
        if say is not None:
            say(f"past {past}: {scores[past]:.3f} bits per value")
    if not scores:
        raise ValueError(
            f"The signal has {len(signal)} values, too few without a gap to choose the past: give more, or --past 1."
        )
    return max(scores, key=scores.__getitem__)
