"""decisional field, image and signal: states of fields, images and continuous series."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from . import parser, results, summary

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
By default the number of past values is the smallest that predicts held-out values as well as any. What the calendar
tells of the next value, its hour or month, is known in advance: with --inputs it is looked at too.

What follows new values is saved with --monitor, for watch. Where a signal moves between levels, --machine saves its
machine, for decide: it knows more than a few past values do.

example:
  decisional signal sunspots.csv --column number --tau 15 --plot signal.png
  decisional signal weather.csv --column degrees --time date --inputs hour,month
  decisional signal pump.csv --column vibration --utility alarm:2.5,2,1 --monitor monitor.json
"""
FILES = {"json": "{}.json", "plot": "{}.png", "labels": "labels.npy", "report": "report.html"}
# Places, and values of a signal, that are shown of data that were read slice by slice.
SHOWN, SHOWN_VALUES = 1_000_000, 100_000


def add(commands: Any) -> None:
    """Add the commands to the parser."""
    option, integer, add_command = parser.option, parser.integer, parser.add_command
    about = "Find the causal states of a space-time field through light cones."
    field = add_command(commands, "field", partial(run, _field), "states of a space-time field", about, FIELD)
    files = ".npy, .npz, .nc, .h5 or .zarr; pictures (frames of one film), a folder of them, .gif or a film"
    option(field, "files", "FILE", files, nargs="+")
    option(field, "--levels", "K", "number the grey levels of pictures from 0 to K - 1", integer(2))
    option(field, "--past", "N", "depth of past cones (default: 3; 2 in a plane)", integer(1))
    option(field, "--future", "N", "depth of future cones (default: 3; 2 in a plane)", integer(1))
    borders = ("periodic", "open", "reflect")
    field.add_argument("--boundary", choices=borders, default="periodic", help="borders of space (default: periodic)")
    exact = "test: the same as far as the data tell (default); exact: equal frequencies"
    field.add_argument("--match", choices=("exact", "test"), default="test", help=exact)
    row = "x is only the oldest row of the past cone, and the present belongs to the future, as in the paper"
    field.add_argument("--row-only", action="store_true", help=row)
    about = "Find the causal states of a grey image: pixels that are hard to predict are its edges."
    image = add_command(commands, "image", partial(run, _image), "edges and states of a grey image", about, IMAGE)
    option(image, "files", "FILE", ".png, .jpg, .tif, .pgm, .npy, .npz, .h5 or .zarr", nargs="+")
    option(image, "--bandwidth", "B", "width of kernels (default: 1.22 of 256 levels)", parser.POSITIVE)
    option(image, "--tau", "T", "error that costs nothing (default: 7 of 256 levels)", parser.NOT_NEGATIVE)
    option(image, "--passes", "N", "visits of the pixels (default: 3)", integer(1), default=3)
    about = "Find the causal states of a series of numbers, by kernel densities."
    signal = add_command(commands, "signal", partial(run, _signal), "states of a continuous series", about, SIGNAL)
    option(signal, "files", "FILE", "CSV or another table of text, array, or - for standard input", nargs="+")
    parser.add_table(signal, "name or number from 0 (default: the only one of numbers)")
    option(signal, "--variable", "V", parser.VARIABLE)
    option(signal, "--past", "N", "past values to look at (default: auto)", parser.whole_or_auto, default="auto")
    parts = "of the dates of --time: minute, hour, weekday, month, yearday; several with commas"
    option(signal, "--inputs", "NAMES", f"calendar parts to look at, {parts}", parser.names)
    option(signal, "--bandwidth", "B", "width of the kernel (default: the data choose)", parser.POSITIVE)
    tau = "error that costs nothing (default: squared errors, whose best prediction is the mean)"
    option(signal, "--tau", "T", tau, parser.NOT_NEGATIVE)
    option(signal, "--utility", "U", "what predictions are worth instead: a name, see decide")
    option(signal, "--monitor", "FILE", "save a monitor of new values for watch: .json")
    option(signal, "--machine", "FILE", "save the machine of a signal that moves between levels, for decide: .json")
    for command in (field, image):
        option(command, "--key", "K", "array of an .npz archive (default: the first)")
        option(command, "--variable", "V", parser.VARIABLE)
    for command, place, rows in (
        (field, "of each cell", "time steps"),
        (image, "of each cell", "rows of pixels"),
        (signal, "after each row", "rows"),
    ):
        labels = f"save the state {place}{parser.LABELS}"
        fewer = "merge states until N are left, first those that lose least about the future"
        option(command, "--states", "N", fewer, integer(1))
        json, picture = "save the summary: .json", parser.PICTURE
        parser.add_outputs(command, seed=True, json=json, plot=picture, labels=labels, model=parser.MODEL)
        parser.add_scale(command, rows)


class Task(NamedTuple):
    """What a command does with its data."""

    data: list[Any]  # the array of each file
    observe: Callable[[Any, int | None], Any]  # observations of data, and of the rows in each slice
    states: Any  # a model of causal states, not yet fitted
    utility: Any  # what predictions are worth
    shown: tuple[int, int]  # values of data that are too large to be shown, and rows more than a past and a future
    plot: Callable[[Any, Any, Any], Any]  # a picture by `ds.plot` of decisional states and the data
    rows: Callable[[Any, Any], list[tuple[str, str]]]  # first lines of the summary: of observations and causal states
    asked: dict[str, Any]  # settings, for the report
    sizes: dict[str, str]  # of the data, for the report
    write: Callable[[Any], list[str]] = lambda choice: []  # other files, made of decisional states


def run(task_of: Callable[[argparse.Namespace], Task], arguments: argparse.Namespace) -> int:
    """Read, reconstruct, decide, write and print."""
    name, files = arguments.name, arguments.files
    defaults = {option: file.format(name) for option, file in FILES.items()}
    outputs = results.Outputs(arguments, {**defaults, "model": None})
    task = task_of(arguments)
    import numpy as np

    from ..data.slices import Sliced
    from ..decisions.decisional_model import DecisionalModel
    from ..support.cluster import cluster

    # A file may hold several series.
    several = len(task.data) > 1
    obs = task.observe(task.data if several else task.data[0], arguments.chunks)
    sliced = isinstance(obs, Sliced)
    with cluster(arguments.cluster) as executor:
        causal = task.states.fit(obs, executor=executor)
        if arguments.states is not None:
            causal = causal.coarsen(n_states=arguments.states)
        choice: Any = DecisionalModel(task.utility).fit(causal)
        shown, values = choice, None
        if not sliced:
            values = np.concatenate(task.data) if several else np.asarray(task.data[0])
        elif {"plot", "report"} & outputs.paths.keys():
            shown, values = _first_part(choice, task)
        writers: dict[str, Callable[[str], None]] = {
            "json": lambda path: results.save_json(_json(choice, files), path),
            "plot": partial(results.save_plot, lambda plot: task.plot(plot, shown, values)),
            "labels": partial(results.save_labels, causal, executor),
            "model": choice.save,
        }
        asked = {"Command": name, "File": ", ".join(files), **task.asked}
        kind, sizes = ("series", task.sizes) if name == "signal" else ("field", task.sizes if sliced else None)
        page = {"asked": asked, "choice": shown, kind: values, "data": sizes}
        written = outputs.write(writers, title=f"Hidden states of {results.called(files)}", **page)
        written += task.write(choice)
        if not arguments.quiet:
            print("\n".join(summary.states(choice, task.rows(obs, causal))))
            results.announce(written)
    return 0


def _first_part(choice: Any, task: Task) -> tuple[Any, Any]:
    """The states along the first part of data that were read in slices, and that part."""
    from ..data.stores import first_rows
    from ..estimators.first_part import on_first_part

    try:
        data = first_rows(task.data[0], *task.shown)
        first = task.observe(data, None)
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
        "causal_states": causal.n_states_,
        "decisional_states": choice.n_states_,
        "iso_prediction_states": choice.iso_prediction_.n_states,
        "iso_utility_states": choice.iso_utility_.n_states,
        "probability": causal.states_.probability.tolist(),
        **summary.decisions_json(choice, causal.complexity_),
    }


def _arrays(arguments: argparse.Namespace) -> tuple[list[Any], str]:
    """The arrays of all files, of one width, and the size of all together."""
    from .. import read
    from ..data.pixels import is_picture

    how = {"variable": arguments.variable, "key": arguments.key, "sliced": parser.is_sliced(arguments)}
    how |= {"levels": getattr(arguments, "levels", None)}
    files: list[Any] = arguments.files
    if arguments.name == "field" and len(files) > 1 and all(is_picture(path) for path in files):
        # Frames of one film.
        files = [files]
    arrays = [read(path, "field", **how) for path in files]
    for path, array in zip(files, arrays, strict=True):
        if array.shape[1:] != arrays[0].shape[1:]:
            raise ValueError(
                f"The arrays of {arguments.files[0]!r} and {path!r} have the shapes {arrays[0].shape} and "
                f"{array.shape}; all but the first axis must be alike: give them one by one."
            )
    return arrays, " × ".join(map(str, (sum(map(len, arrays)), *arrays[0].shape[1:])))


def _in_files(files: list[str]) -> str:
    return f" in {len(files)} files" if len(files) > 1 else ""


def _cells(obs: Any, which: int) -> str:
    """How many cells cones of symbols have; those of numbers are known by their codes."""
    return "" if obs.uncoded else f" with {(obs.past, obs.future)[which]} cells"


def _field(arguments: argparse.Namespace) -> Task:
    fields, size = _arrays(arguments)
    # The frames of a film are one field: the first tells its name.
    for path, field in zip(arguments.files, fields, strict=False):
        if field.ndim < 2 or field.dtype.kind not in "biuf":
            raise ValueError(
                f"The field {path!r} has {field.ndim} axes and cells of type {field.dtype}; light cones are of numbers "
                "over time and space: number the values first, or use the command symbols or signal for a series."
            )
    from .. import observe, utility
    from ..states.causal_model import CausalModel

    depth = 3 if fields[0].ndim == 2 else 2
    past = depth if arguments.past is None else arguments.past
    future = depth if arguments.future is None else arguments.future
    row, exact, border = arguments.row_only, arguments.match == "exact", arguments.boundary
    real = any(field.dtype.kind == "f" for field in fields)
    how = {"boundary": border, "include_present": row, "past_row_only": row}
    cells = f"{size} cells (time first){_in_files(arguments.files)}"

    asked = {"Past": past, "Future": future, "Boundary": border, "Match": arguments.match}
    return Task(
        fields,
        lambda data, chunks: observe.light_cones(data, past, future, **how, chunks=chunks),
        CausalModel(match="exact" if exact else None, random_state=arguments.seed),
        utility.squared_error() if real else utility.matching_cells(),
        (SHOWN, past + future),
        lambda plot, choice, field: plot.fields(choice, raw=field),
        lambda obs, causal: [
            ("Data", f"{cells}, {'real numbers' if real else f'values {summary.shown_symbols(obs.letters)}'}"),
            ("Cones", f"past {past}{_cells(obs, 0)}, future {future}{_cells(obs, 1)}, {border}"),
            ("Matched", "by equal frequencies" if exact else "by a test"),
        ],
        {**asked, "Utility": "minus the squared error" if real else "number of cells predicted right"},
        {"Size": size},
    )


def _image(arguments: argparse.Namespace) -> Task:
    images, size = _arrays(arguments)
    from .. import Bhattacharyya, Kernels, observe, selection, utility
    from ..data.stores import has_missing
    from ..states.causal_model import CausalModel

    for path, pixels in zip(arguments.files, images, strict=True):
        if has_missing(pixels) or (parser.is_sliced(arguments) and pixels.ndim != 2):
            what = "missing pixels" if has_missing(pixels) else f"the shape {tuple(pixels.shape)}"
            raise ValueError(f"The image {path!r} has {what}; a grey level for each pixel is needed: complete it.")
    scale = selection.grey_scale(images)
    bandwidth = scale.bandwidth if arguments.bandwidth is None else arguments.bandwidth
    tau = scale.tolerance if arguments.tau is None else arguments.tau

    density = Kernels(bandwidth=bandwidth)
    return Task(
        images,
        lambda data, chunks: observe.image(data, chunks=chunks),
        # The paper's setting, like the widths.
        CausalModel(density, Bhattacharyya(), passes=arguments.passes, random_state=arguments.seed),
        utility.tolerant(tau),
        (SHOWN, 5),
        lambda plot, choice, image: plot.edges(choice, image),
        lambda obs, causal: [
            ("Data", f"{size} pixels{_in_files(arguments.files)} from {scale.low:g} to {scale.high:g}"),
            ("Observed", f"{obs.n:,} pixels with {obs.points.shape[1]} neighbours each"),
            ("Kernel", f"bandwidth {bandwidth:.4g}, errors up to {tau:.4g} cost nothing"),
        ],
        {"Bandwidth": f"{bandwidth:.4g}", "Tolerance": f"{tau:.4g}"},
        {"Size": size},
    )


def _signal(arguments: argparse.Namespace) -> Task:
    from .. import read

    reading = {"variable": arguments.variable, "sliced": parser.is_sliced(arguments), "named": True}
    reading |= parser.table_options(arguments)
    found = [(path, *read(path, "signal", **reading)) for path in arguments.files]
    # A table may hold several series.
    of_file = [(path, part) for path, values, _ in found for part in (values if isinstance(values, list) else [values])]
    signals = [part for _, part in of_file]
    for path, signal in of_file:
        if signal.ndim != 1 or signal.dtype.kind not in "biuf" or not len(signal):
            raise ValueError(
                f"The array {path!r} has shape {tuple(signal.shape)} and type {signal.dtype}; a signal has numbers "
                "along one axis: give such an array."
            )
    name = found[0][2]
    from .. import Kernels, observe, selection, utility
    from ..data.stores import extremes
    from ..states.causal_model import CausalModel

    results.check_paths(arguments, "monitor", "machine")
    tau = arguments.tau
    density = Kernels("cv" if arguments.bandwidth is None else arguments.bandwidth)
    inputs = arguments.inputs or None
    cost = "squared errors" if tau is None else f"errors up to {tau:g} cost nothing"
    worth = utility.squared_error() if tau is None else utility.tolerant(tau)
    if arguments.utility is not None:
        cost, worth = arguments.utility, _utility(arguments)
    past = arguments.past
    if past is None:
        past = selection.best_past(signals, density, inputs=inputs)
    how = "chosen by the data" if arguments.past is None else "given"
    called = ", ".join(inputs or ())
    n, gaps = sum(map(len, signals)), extremes(signals)[2]

    return Task(
        signals,
        lambda data, chunks: observe.delays(data, past, chunks=chunks, inputs=inputs),
        CausalModel(density, random_state=arguments.seed),
        worth,
        (SHOWN_VALUES, 1),
        lambda plot, choice, signal: plot.signal(choice, signal, name),
        lambda obs, causal: [
            ("Data", f"{n:,} rows of column {name!r}{_in_files(arguments.files)}, {gaps} without a value"),
            ("Past", f"{past} values, {how}"),
            *([("Inputs", called)] if inputs else []),
            ("Kernel", f"bandwidth {', '.join(f'{width:.4g}' for width in causal.kernels_.sigma)}"),
            ("Utility", cost),
        ],
        {"Column": name, "Past": f"{past}, {how}", **({"Inputs": called} if inputs else {}), "Utility": cost},
        {"Length": f"{n:,} values"},
        partial(_live, arguments, signals),
    )


def _utility(arguments: argparse.Namespace) -> Any:
    """What --utility names."""
    from ..decisions.utility_files import read_utility

    if arguments.tau is not None:
        raise ValueError("The options --tau and --utility both say what predictions are worth: leave one out.")
    return read_utility(arguments.utility)


def _live(arguments: argparse.Namespace, signals: list[Any], choice: Any) -> list[str]:
    """Write what follows new values: the monitor of the states, and the machine of the signal."""
    written = []
    if arguments.monitor is not None:
        from .. import Monitor

        Monitor(choice).save(arguments.monitor)
        written.append(arguments.monitor)
    if arguments.machine is not None:
        from .. import epsilon_machine

        epsilon_machine(signals if len(signals) > 1 else signals[0]).save(arguments.machine)
        written.append(arguments.machine)
    return written
