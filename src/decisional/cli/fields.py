"""decisional field and decisional image: states of data with space."""

from __future__ import annotations

import argparse
from typing import Any

from . import summary
from .outputs import progress
from .parser import NOT_NEGATIVE, POSITIVE, add_command, integer
from .scale import cluster, is_sliced
from .states import add_state_outputs, extremes, finish, outputs_of, rows_shown, visible

__all__ = ["add"]

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
# The paper's kernel width, sigma² = 1.5, and its tolerance, for 256 grey levels.
BANDWIDTH, TAU, LEVELS = 1.5**0.5, 7.0, 255.0


def add(commands: Any) -> None:
    """Add the commands to the parser."""
    about = "Find the causal states of a space-time field through light cones."
    field = add_command(commands, "field", run_field, "states of a space-time field", about, FIELD)
    field.add_argument("files", nargs="+", metavar="FILE", help=".npy, .npz, .nc, .h5, .zarr, .pbm, .pgm or .png")
    field.add_argument("--past", type=integer(1), metavar="N", help="depth of past cones (default: 3; 2 in a plane)")
    field.add_argument(
        "--future", type=integer(1), metavar="N", help="depth of future cones (default: 3; 2 in a plane)"
    )
    borders = ("periodic", "open", "reflect")
    field.add_argument("--boundary", choices=borders, default="periodic", help="borders of space (default: periodic)")
    exact = "test: the same as far as the data tell (default); exact: equal frequencies"
    field.add_argument("--match", choices=("exact", "test"), default="test", help=exact)
    row = "x is only the oldest row of the past cone, and the present belongs to the future, as in the paper"
    field.add_argument("--row-only", action="store_true", help=row)
    about = "Find the causal states of a grey image: pixels that are hard to predict are its edges."
    image = add_command(commands, "image", run_image, "edges and states of a grey image", about, IMAGE)
    image.add_argument("files", nargs="+", metavar="FILE", help=".png, .pgm, .npy, .npz, .h5 or .zarr")
    image.add_argument("--bandwidth", type=POSITIVE, metavar="B", help="width of kernels (default: 1.22 of 256 levels)")
    image.add_argument(
        "--tau", type=NOT_NEGATIVE, metavar="T", help="error that costs nothing (default: 7 of 256 levels)"
    )
    image.add_argument("--passes", type=integer(1), default=3, metavar="N", help="visits of the pixels (default: 3)")
    for command, rows in ((field, "time steps"), (image, "rows of pixels")):
        command.add_argument("--key", metavar="K", help="array of an .npz archive (default: the first)")
        which = "array of an HDF5, netCDF or zarr file (default: the only one)"
        command.add_argument("--variable", metavar="V", help=which)
        add_state_outputs(command, "of each cell", rows)


def _read(arguments: argparse.Namespace) -> tuple[list[Any], list[Any]]:
    """The arrays of all files, of one width, and where each is missing, or None."""
    from .files import read_field

    read = [read_field(path, arguments.key, arguments.variable, is_sliced(arguments)) for path in arguments.files]
    arrays = [array for array, _ in read]
    for path, array in zip(arguments.files, arrays, strict=True):
        if array.shape[1:] != arrays[0].shape[1:]:
            raise ValueError(
                f"The arrays of {arguments.files[0]!r} and {path!r} have the shapes {arrays[0].shape} and "
                f"{array.shape}; all but the first axis must be alike: give them one by one."
            )
    return arrays, [mask for _, mask in read]


def _joined(arrays: list[Any]) -> Any:
    import numpy as np

    return np.asarray(arrays[0]) if len(arrays) == 1 else np.concatenate(arrays)


def _size(arrays: list[Any], files: int) -> tuple[str, str]:
    """The size of all arrays, and in how many files they are."""
    rows = sum(map(len, arrays))
    return " × ".join(map(str, (rows, *arrays[0].shape[1:]))), f" in {files} files" if files > 1 else ""


def run_field(arguments: argparse.Namespace) -> int:
    """Read, reconstruct, write and print."""
    outputs = outputs_of(arguments, "field")
    fields, masks = _read(arguments)
    for path, field in zip(arguments.files, fields, strict=True):
        if field.ndim < 2 or field.dtype.kind not in "biu":
            raise ValueError(
                f"The field {path!r} has {field.ndim} axes and cells of type {field.dtype}; light cones count "
                "integers over time and space: digitise the values first, for example with numpy.digitize, or use the "
                "command symbols or signal for a series."
            )
    from .. import observe, utility
    from ..data.slices import Sliced
    from ..data.stores import load
    from ..decisions.decisional_model import DecisionalModel
    from ..states.causal_model import CausalModel

    depth = 3 if fields[0].ndim == 2 else 2
    past = depth if arguments.past is None else arguments.past
    future = depth if arguments.future is None else arguments.future
    row = arguments.row_only
    how = {"boundary": arguments.boundary, "include_present": row, "past_row_only": row}
    match = "exact" if arguments.match == "exact" else None
    with cluster(arguments) as executor:
        mask = masks if len(masks) > 1 else masks[0]
        data = fields if len(fields) > 1 else fields[0]
        obs: Any = observe.light_cones(data, past, future, **how, mask=mask, chunks=arguments.chunks)
        causal: Any = CausalModel(match=match, random_state=arguments.seed).fit(obs, executor=executor)
        choice: Any = DecisionalModel(utility.matching_cells()).fit(causal)

        def first() -> tuple[Any, Any]:
            rows = rows_shown(fields[0], past + future)
            part, lost = load(fields[0][:rows]), None if masks[0] is None else load(masks[0][:rows])
            return observe.light_cones(part, past, future, **how, mask=lost), part

        sliced = isinstance(obs, Sliced)
        shown, raw = visible(choice, outputs, first) if sliced else (choice, _joined(fields))

        def plot(path: str) -> None:
            from .. import plot as plotting

            plotting.save(plotting.fields(shown, raw=raw), path)

        size, where = _size(fields, len(arguments.files))
        cones = f"past {past} with {obs.past} cells, future {future} with {obs.future} cells, {arguments.boundary}"
        rows = [
            ("Data", f"{size} cells (time first){where}, values {summary.shown_symbols(obs.letters)}"),
            ("Cones", cones),
            ("Matched", "by equal frequencies" if match else "by a test"),
        ]
        asked = {"Command": "field", "File": ", ".join(arguments.files), "Past": past, "Future": future}
        asked |= {"Boundary": arguments.boundary, "Match": arguments.match}
        asked |= {"Utility": "number of cells predicted right"}
        page = {"asked": asked, "choice": shown, "field": raw, "data": {"Size": size} if sliced else None}
        return finish(arguments, outputs, choice, rows, plot, executor, **page)


def run_image(arguments: argparse.Namespace) -> int:
    """Read, reconstruct, write and print."""
    outputs = outputs_of(arguments, "image")
    images, masks = _read(arguments)
    for path, pixels, mask in zip(arguments.files, images, masks, strict=True):
        if mask is not None or (is_sliced(arguments) and pixels.ndim != 2):
            what = "missing pixels" if mask is not None else f"the shape {tuple(pixels.shape)}"
            raise ValueError(f"The image {path!r} has {what}; a grey level for each pixel is needed: complete it.")
    from .. import observe, utility
    from ..data.slices import Sliced
    from ..data.stores import load
    from ..decisions.decisional_model import DecisionalModel
    from ..states.causal_model import CausalModel
    from ..states.kernels import Kernels

    obs: Any = observe.image(images if len(images) > 1 else images[0], chunks=arguments.chunks)
    low, high, _ = extremes(images)
    # Floats come in any unit: 256 levels between the smallest and the largest.
    level = 1.0 if images[0].dtype.kind in "biu" else (high - low) / LEVELS or 1.0
    bandwidth = level * BANDWIDTH if arguments.bandwidth is None else arguments.bandwidth
    tau = level * TAU if arguments.tau is None else arguments.tau
    density = Kernels(bandwidth=bandwidth, progress=progress(arguments))
    with cluster(arguments) as executor:
        estimator = CausalModel(density, passes=arguments.passes, random_state=arguments.seed)
        causal: Any = estimator.fit(obs, executor=executor)
        choice: Any = DecisionalModel(utility.tolerant(tau)).fit(causal)

        def first() -> tuple[Any, Any]:
            part = load(images[0][: rows_shown(images[0], 5)])
            return observe.image(part), part

        sliced = isinstance(obs, Sliced)
        shown, raw = visible(choice, outputs, first) if sliced else (choice, _joined(images))

        def plot(path: str) -> None:
            from .. import plot as plotting

            plotting.save(plotting.edges(shown, raw), path)

        size, where = _size(images, len(arguments.files))
        rows = [
            ("Data", f"{size} pixels{where} from {low:g} to {high:g}"),
            ("Observed", f"{obs.n:,} pixels with {obs.points.shape[1]} neighbours each"),
            ("Kernel", f"bandwidth {bandwidth:.4g}, errors up to {tau:.4g} cost nothing"),
        ]
        asked = {"Command": "image", "File": ", ".join(arguments.files)}
        asked |= {"Bandwidth": f"{bandwidth:.4g}", "Tolerance": f"{tau:.4g}"}
        page = {"asked": asked, "choice": shown, "field": raw, "data": {"Size": size} if sliced else None}
        return finish(arguments, outputs, choice, rows, plot, executor, **page)
