"""decisional field, image and signal: states of fields, images and continuous series."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from . import summary
from .parser import (
    LABELS,
    NOT_NEGATIVE,
    PICTURE,
    POSITIVE,
    VARIABLE,
    Parser,
    add_command,
    add_outputs,
    add_scale,
    column,
    integer,
    is_sliced,
    whole_or_auto,
)
from .results import Outputs, announce, called, label_writer, progress, save_json

FIELD = """\
FILE has time first, then one to three space axes: an array of integers (.npy, .npz, .h5, and .nc or .zarr with xarray),
or a picture (.pbm, .pgm, .png) whose rows are the times of a line of cells. FILE.h5:/NAME is one of several arrays. A
dimension of .nc, .h5 or .zarr that is called time or t is taken for the first, wherever it is. Several files are one
data set; cones do not cross from one to the next.

example:
  decisional field rule110.npy --past 4 --future 3 --plot field.png --labels labels.npy
  decisional field 2025.zarr 2026.zarr --cluster tcp://host:8786 --labels labels.zarr
"""
IMAGE = """\
Edges are where a pixel is hard to predict from its neighbours. FILE is a grey picture (.png, .pgm) or array (.npy,
.npz, .h5, .zarr); several files of one width are one data set. The bandwidth and the tolerance are in grey levels.

example:
  decisional image photo.png --tau 7 --plot edges.png
"""
SIGNAL = """\
FILE is a table with or without names in its first row, where empty cells and NA are gaps, or an array with one axis
(.npy, .h5, .zarr, .nc), where NaN are. Several files are one data set; the past does not reach from one into the next.
By default the number of past values is the one that predicts the last third of the data best, from the rest of them.

example:
  decisional signal sunspots.csv --column number --tau 15 --plot signal.png
"""
FILES = {"json": "{}.json", "plot": "{}.png", "labels": "labels.npy", "report": "report.html"}
# Places, and values of a signal, that are shown of data that were read slice by slice.
SHOWN, SHOWN_VALUES = 1_000_000, 100_000


def add(commands: Any) -> None:
    """Add the commands to the parser."""
    about = "Find the causal states of a space-time field through light cones."
    field = add_command(commands, "field", partial(run, _field), "states of a space-time field", about, FIELD)
    field.add_argument("files", nargs="+", metavar="FILE", help=".npy, .npz, .nc, .h5, .zarr, .pbm, .pgm or .png")
    depth = "(default: 3; 2 in a plane)"
    field.add_argument("--past", type=integer(1), metavar="N", help=f"depth of past cones {depth}")
    field.add_argument("--future", type=integer(1), metavar="N", help=f"depth of future cones {depth}")
    borders = ("periodic", "open", "reflect")
    field.add_argument("--boundary", choices=borders, default="periodic", help="borders of space (default: periodic)")
    exact = "test: the same as far as the data tell (default); exact: equal frequencies"
    field.add_argument("--match", choices=("exact", "test"), default="test", help=exact)
    row = "x is only the oldest row of the past cone, and the present belongs to the future, as in the paper"
    field.add_argument("--row-only", action="store_true", help=row)
    about = "Find the causal states of a grey image: pixels that are hard to predict are its edges."
    image = add_command(commands, "image", partial(run, _image), "edges and states of a grey image", about, IMAGE)
    image.add_argument("files", nargs="+", metavar="FILE", help=".png, .pgm, .npy, .npz, .h5 or .zarr")
    image.add_argument("--bandwidth", type=POSITIVE, metavar="B", help="width of kernels (default: 1.22 of 256 levels)")
    free = "error that costs nothing (default: "
    image.add_argument("--tau", type=NOT_NEGATIVE, metavar="T", help=f"{free}7 of 256 levels)")
    image.add_argument("--passes", type=integer(1), default=3, metavar="N", help="visits of the pixels (default: 3)")
    about = "Find the causal states of a series of numbers, by kernel densities."
    signal = add_command(commands, "signal", partial(run, _signal), "states of a continuous series", about, SIGNAL)
    what = "CSV or another table of text, array, or - for standard input"
    signal.add_argument("files", nargs="+", metavar="FILE", help=what)
    which = "number from 0 or name (default: the only one of numbers)"
    signal.add_argument("--column", type=column, metavar="C", help=which)
    signal.add_argument("--variable", metavar="V", help=VARIABLE)
    past = "past values to look at (default: auto)"
    signal.add_argument("--past", type=whole_or_auto, default="auto", metavar="N", help=past)
    width = "width of the kernel (default: the data choose)"
    signal.add_argument("--bandwidth", type=POSITIVE, metavar="B", help=width)
    tau = f"{free}squared errors, whose best prediction is the mean)"
    signal.add_argument("--tau", type=NOT_NEGATIVE, metavar="T", help=tau)
    for command in (field, image):
        command.add_argument("--key", metavar="K", help="array of an .npz archive (default: the first)")
        command.add_argument("--variable", metavar="V", help=VARIABLE)
    for command, states, rows in (
        (field, "of each cell", "time steps"),
        (image, "of each cell", "rows of pixels"),
        (signal, "after each row", "rows"),
    ):
        _add_outputs(command, states, rows)


def _add_outputs(command: Parser, states: str, rows: str) -> None:
    files = {"json": "save the summary: .json", "plot": PICTURE}
    add_outputs(command, seed=True, **files, labels=f"save the state {states}{LABELS}")
    add_scale(command, rows)


@dataclass(frozen=True)
class Task:
    """What a command does with its data.

    Attributes
    ----------
    data : the array of each file
    observe : function of data and of the rows in each slice; returns observations
    states : a model of causal states, not yet fitted
    utility : what predictions are worth
    first : function of an array that returns its first part, in memory
    plot : function of decisional states and the data; returns a picture
    rows : function of the fitted causal states; returns the first lines of the summary
    asked : settings, for the report
    shown_as : what the report calls the data
    sizes : their size, for the report
    """

    data: list[Any]
    observe: Callable[[Any, int | None], Any]
    states: Any
    utility: Any
    first: Callable[[Any], Any]
    plot: Callable[[Any, Any], Any]
    rows: Callable[[Any], list[tuple[str, str]]]
    asked: dict[str, Any]
    shown_as: str
    sizes: dict[str, str]


def run(plan_of: Callable[[argparse.Namespace], Task], arguments: argparse.Namespace) -> int:
    """Read, reconstruct, decide, write and print."""
    name = arguments.name
    outputs = Outputs(arguments, {option: file.format(name) for option, file in FILES.items()})
    plan = plan_of(arguments)
    from ..data.slices import Sliced
    from ..decisions.decisional_model import DecisionalModel
    from ..support.cluster import cluster

    obs = plan.observe(_alone(plan.data), arguments.chunks)
    with cluster(arguments.cluster) as executor:
        causal = plan.states.fit(obs, executor=executor)
        choice: Any = DecisionalModel(plan.utility).fit(causal)
        sliced = isinstance(obs, Sliced)
        shown, values = _first_part(choice, plan, outputs) if sliced else (choice, _joined(plan.data))
        writers: dict[str, Callable[[str], None]] = {
            "json": lambda path: save_json(path, _json(choice, arguments.files)),
            "plot": lambda path: _plots().save(plan.plot(shown, values), path),
            "labels": label_writer(causal, arguments, executor),
        }
        asked = {"Command": name, "File": ", ".join(arguments.files), **plan.asked}
        page = {"asked": asked, "choice": shown, plan.shown_as: values}
        page |= {"data": plan.sizes if sliced or plan.shown_as == "series" else None}
        written = outputs.write(writers, title=f"Hidden states of {called(arguments.files)}", **page)
        if not arguments.quiet:
            print("\n".join(summary.states(choice, plan.rows(causal))))
            announce(written)
    return 0


def _plots() -> Any:
    from .. import plot

    return plot


def _alone(data: list[Any]) -> Any:
    return data if len(data) > 1 else data[0]


def _joined(data: list[Any]) -> Any:
    import numpy as np

    return np.asarray(data[0]) if len(data) == 1 else np.concatenate(data)


def _first_part(choice: Any, plan: Task, outputs: Outputs) -> tuple[Any, Any]:
    """The states along the first part of data that were read in slices, and that part."""
    from ..estimators.first_part import on_first_part

    if not {"plot", "report"} & outputs.paths.keys():
        return choice, None
    try:
        data = plan.first(plan.data[0])
        first = plan.observe(data, None)
    except ValueError:
        # Nothing can be observed there.
        first, data = next(choice.causal_.observations_.pieces()), None
    return on_first_part(choice, first), data


def _json(choice: Any, files: list[str]) -> dict[str, Any]:
    """The summary as JSON."""
    causal = choice.causal_
    return {
        **({"file": files[0]} if len(files) == 1 else {"files": files}),
        "observations": int(causal.observations_.n),
        "causal_states": int(causal.n_states_),
        "decisional_states": int(choice.n_states_),
        "iso_prediction_states": int(choice.iso_prediction_.n_states),
        "iso_utility_states": int(choice.iso_utility_.n_states),
        "probability": causal.states_.probability.tolist(),
        "C": causal.complexity_,
        "D": choice.complexity_,
        "P": choice.prediction_complexity_,
        "V": choice.utility_complexity_,
        "expected_utility": choice.expected_utility_,
    }


def _arrays(arguments: argparse.Namespace) -> list[Any]:
    """The arrays of all files, of one width."""
    from .. import read

    how = "field", None, arguments.variable, arguments.key, is_sliced(arguments)
    arrays = [read(path, *how) for path in arguments.files]
    for path, array in zip(arguments.files, arrays, strict=True):
        if array.shape[1:] != arrays[0].shape[1:]:
            raise ValueError(
                f"The arrays of {arguments.files[0]!r} and {path!r} have the shapes {arrays[0].shape} and "
                f"{array.shape}; all but the first axis must be alike: give them one by one."
            )
    return arrays


def _size(arrays: list[Any]) -> str:
    """The size of all arrays together."""
    return " × ".join(map(str, (sum(map(len, arrays)), *arrays[0].shape[1:])))


def _in_files(files: list[str]) -> str:
    return f" in {len(files)} files" if len(files) > 1 else ""


def _field(arguments: argparse.Namespace) -> Task:
    fields = _arrays(arguments)
    for path, field in zip(arguments.files, fields, strict=True):
        if field.ndim < 2 or field.dtype.kind not in "biu":
            raise ValueError(
                f"The field {path!r} has {field.ndim} axes and cells of type {field.dtype}; light cones count "
                "integers over time and space: digitise the values first, for example with numpy.digitize, or use the "
                "command symbols or signal for a series."
            )
    from .. import observe, utility
    from ..data.stores import first_rows
    from ..states.causal_model import CausalModel

    depth = 3 if fields[0].ndim == 2 else 2
    past = depth if arguments.past is None else arguments.past
    future = depth if arguments.future is None else arguments.future
    row, exact, border = arguments.row_only, arguments.match == "exact", arguments.boundary
    how = {"boundary": border, "include_present": row, "past_row_only": row}
    size = _size(fields)

    def rows(causal: Any) -> list[tuple[str, str]]:
        obs = causal.observations_
        values = summary.shown_symbols(obs.letters)
        return [
            ("Data", f"{size} cells (time first){_in_files(arguments.files)}, values {values}"),
            ("Cones", f"past {past} with {obs.past} cells, future {future} with {obs.future} cells, {border}"),
            ("Matched", "by equal frequencies" if exact else "by a test"),
        ]

    asked = {"Past": past, "Future": future, "Boundary": border, "Match": arguments.match}
    return Task(
        fields,
        lambda data, chunks: observe.light_cones(data, past, future, **how, chunks=chunks),
        CausalModel(match="exact" if exact else None, random_state=arguments.seed),
        utility.matching_cells(),
        lambda field: first_rows(field, SHOWN, past + future),
        lambda choice, field: _plots().fields(choice, raw=field),
        rows,
        {**asked, "Utility": "number of cells predicted right"},
        "field",
        {"Size": size},
    )


def _image(arguments: argparse.Namespace) -> Task:
    images = _arrays(arguments)
    from .. import Kernels, observe, selection, utility
    from ..data.stores import first_rows, has_missing
    from ..states.causal_model import CausalModel

    for path, pixels in zip(arguments.files, images, strict=True):
        if has_missing(pixels) or (is_sliced(arguments) and pixels.ndim != 2):
            what = "missing pixels" if has_missing(pixels) else f"the shape {tuple(pixels.shape)}"
            raise ValueError(f"The image {path!r} has {what}; a grey level for each pixel is needed: complete it.")
    scale = selection.grey_scale(images)
    bandwidth = scale.bandwidth if arguments.bandwidth is None else arguments.bandwidth
    tau = scale.tolerance if arguments.tau is None else arguments.tau
    size = _size(images)

    def rows(causal: Any) -> list[tuple[str, str]]:
        obs = causal.observations_
        return [
            ("Data", f"{size} pixels{_in_files(arguments.files)} from {scale.low:g} to {scale.high:g}"),
            ("Observed", f"{obs.n:,} pixels with {obs.points.shape[1]} neighbours each"),
            ("Kernel", f"bandwidth {bandwidth:.4g}, errors up to {tau:.4g} cost nothing"),
        ]

    density = Kernels(bandwidth=bandwidth, progress=progress(arguments))
    return Task(
        images,
        lambda data, chunks: observe.image(data, chunks=chunks),
        CausalModel(density, passes=arguments.passes, random_state=arguments.seed),
        utility.tolerant(tau),
        lambda image: first_rows(image, SHOWN, 5),
        lambda choice, image: _plots().edges(choice, image),
        rows,
        {"Bandwidth": f"{bandwidth:.4g}", "Tolerance": f"{tau:.4g}"},
        "field",
        {"Size": size},
    )


def _signals(arguments: argparse.Namespace) -> tuple[list[Any], str]:
    """The series of all files, and what they are called."""
    from .. import read

    how = "signal", arguments.column, arguments.variable, None, is_sliced(arguments), True
    signals, names = zip(*(read(path, *how) for path in arguments.files), strict=True)
    for path, signal in zip(arguments.files, signals, strict=True):
        if signal.ndim != 1 or signal.dtype.kind not in "biuf" or not len(signal):
            raise ValueError(
                f"The array {path!r} has shape {tuple(signal.shape)} and type {signal.dtype}; a signal has numbers "
                "along one axis: give such an array."
            )
    return list(signals), names[0]


def _signal(arguments: argparse.Namespace) -> Task:
    signals, name = _signals(arguments)
    from .. import Kernels, observe, selection, utility
    from ..data.stores import extremes, first_rows
    from ..states.causal_model import CausalModel

    say, tau = progress(arguments), arguments.tau
    density = Kernels("cv" if arguments.bandwidth is None else arguments.bandwidth, progress=say)
    past = selection.best_past(signals, density, progress=say) if arguments.past is None else arguments.past
    how = "chosen by the data" if arguments.past is None else "given"
    cost = "squared errors" if tau is None else f"errors up to {tau:g} cost nothing"
    n, gaps = sum(map(len, signals)), extremes(signals)[2]

    def rows(causal: Any) -> list[tuple[str, str]]:
        files = _in_files(arguments.files)
        return [
            ("Data", f"{n:,} rows of column {name!r}{files}, {gaps} without a value"),
            ("Past", f"{past} values, {how}"),
            ("Kernel", f"bandwidth {', '.join(f'{width:.4g}' for width in causal.kernels_.sigma)}"),
            ("Utility", cost),
        ]

    return Task(
        signals,
        lambda data, chunks: observe.delays(data, past, chunks=chunks),
        CausalModel(density, random_state=arguments.seed),
        utility.squared_error() if tau is None else utility.tolerant(tau),
        lambda signal: first_rows(signal, SHOWN_VALUES, 1),
        lambda choice, signal: _plots().signal(choice, signal, name),
        rows,
        {"Column": name, "Past": f"{past}, {how}", "Utility": cost},
        "series",
        {"Length": f"{n:,} values"},
    )
