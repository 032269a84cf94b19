"""decisional field and decisional image: states of data with space."""

from __future__ import annotations

import argparse
from typing import Any

from . import summary
from .outputs import Outputs, announce, progress, write_json
from .parser import NOT_NEGATIVE, POSITIVE, add_command, add_outputs, integer

__all__ = ["add", "save_states", "states_json", "states_table"]

FIELD = """\
FILE has time first, then one to three space axes: an array of integers (.npy, .npz, and .nc or .zarr with xarray), or a
picture (.pbm, .pgm, .png) whose rows are the times of a line of cells.

example:
  decisional field rule110.npy --past 4 --future 3 --plot field.png --states states.npy
"""
IMAGE = """\
Edges are where a pixel is hard to predict from its neighbours. FILE is a grey picture (.png, .pgm) or array (.npy).
The bandwidth and the tolerance are in grey levels.

example:
  decisional image photo.png --tau 7 --plot edges.png
"""
FILES = {"json": "{}.json", "plot": "{}.png", "states": "states.npy", "report": "report.html"}
# The paper's kernel width, sigma² = 1.5, and its tolerance, for 256 grey levels.
BANDWIDTH, TAU, LEVELS = 1.5**0.5, 7.0, 255.0


def add(commands: Any) -> None:
    """Add the commands to the parser."""
    about = "Find the causal states of a space-time field through light cones."
    field = add_command(commands, "field", run_field, "states of a space-time field", about, FIELD)
    field.add_argument("file", metavar="FILE", help=".npy, .npz, .nc, .zarr, .pbm, .pgm or .png")
    field.add_argument("--key", metavar="K", help="array of an .npz archive (default: the first)")
    field.add_argument("--variable", metavar="V", help="variable of a netCDF or zarr file (default: the only one)")
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
    image.add_argument("file", metavar="FILE", help=".png, .pgm, .npy or .npz")
    image.add_argument("--key", metavar="K", help="array of an .npz archive (default: the first)")
    image.add_argument("--bandwidth", type=POSITIVE, metavar="B", help="width of kernels (default: 1.22 of 256 levels)")
    image.add_argument(
        "--tau", type=NOT_NEGATIVE, metavar="T", help="error that costs nothing (default: 7 of 256 levels)"
    )
    image.add_argument("--passes", type=integer(1), default=3, metavar="N", help="visits of the pixels (default: 3)")
    for command in (field, image):
        add_outputs(
            command,
            json="save the summary: .json",
            plot="save a picture: .png, .svg or .pdf",
            states="save the state of each cell, -1 = none: .npy",
        )
        command.add_argument("--seed", type=integer(0), metavar="S", help="seed of the random numbers")


def _outputs(arguments: argparse.Namespace, name: str) -> Outputs:
    return Outputs(arguments, {option: file.format(name) for option, file in FILES.items()})


def run_field(arguments: argparse.Namespace) -> int:
    """Read, reconstruct, write and print."""
    from .files import read_field

    outputs = _outputs(arguments, "field")
    field, mask = read_field(arguments.file, arguments.key, arguments.variable)
    if field.ndim < 2 or field.dtype.kind not in "biu":
        raise ValueError(
            f"The field {arguments.file!r} has {field.ndim} axes and cells of type {field.dtype}; light cones count "
            "integers over time and space: digitise the values first, for example with numpy.digitize, or use the "
            "command symbols or signal for a series."
        )
    from .. import observe, utility
    from ..estimators import CausalStates, DecisionalStates

    depth = 3 if field.ndim == 2 else 2
    past = depth if arguments.past is None else arguments.past
    future = depth if arguments.future is None else arguments.future
    row = arguments.row_only
    how = {"boundary": arguments.boundary, "include_present": row, "past_row_only": row, "mask": mask}
    obs = observe.light_cones(field, past, future, **how)
    match = "exact" if arguments.match == "exact" else None
    causal: Any = CausalStates(match=match, random_state=arguments.seed).fit(obs)
    choice: Any = DecisionalStates(utility.matching_cells()).fit(causal)

    def plot(path: str) -> None:
        from .. import plotting

        plotting.save(plotting.fields(choice, raw=field), path)

    size = " × ".join(map(str, field.shape))
    rows = [
        ("Data", f"{size} cells (time first), values {summary.shown_symbols(obs.letters)}"),
        ("Cones", f"past {past} with {obs.past} cells, future {future} with {obs.future} cells, {arguments.boundary}"),
        ("Matched", "by equal frequencies" if match else "by a test"),
    ]
    asked = {"Command": "field", "File": arguments.file, "Past": past, "Future": future, "Boundary": arguments.boundary}
    asked |= {"Match": arguments.match, "Utility": "number of cells predicted right"}
    return _finish(arguments, outputs, choice, rows, plot, asked, field=field)


def run_image(arguments: argparse.Namespace) -> int:
    """Read, reconstruct, write and print."""
    from .files import grey_image

    outputs = _outputs(arguments, "image")
    pixels = grey_image(arguments.file, arguments.key)
    from .. import observe, utility
    from ..densities import Kernels
    from ..estimators import CausalStates, DecisionalStates

    obs = observe.image(pixels)
    # Floats come in any unit: 256 levels between the smallest and the largest.
    level = 1.0 if pixels.dtype.kind in "biu" else float(pixels.max() - pixels.min()) / LEVELS or 1.0
    bandwidth = level * BANDWIDTH if arguments.bandwidth is None else arguments.bandwidth
    tau = level * TAU if arguments.tau is None else arguments.tau
    tolerant = utility.tolerant(tau)
    density = Kernels(bandwidth=bandwidth, progress=progress(arguments))
    causal: Any = CausalStates(density, passes=arguments.passes, random_state=arguments.seed).fit(obs)
    choice: Any = DecisionalStates(tolerant).fit(causal)

    def plot(path: str) -> None:
        from .pictures import save_edges

        save_edges(path, pixels, choice)

    rows = [
        ("Data", f"{pixels.shape[0]} × {pixels.shape[1]} pixels from {pixels.min():g} to {pixels.max():g}"),
        ("Observed", f"{obs.n:,} pixels with {obs.points.shape[1]} neighbours each"),
        ("Kernel", f"bandwidth {bandwidth:.4g}, errors up to {tau:.4g} cost nothing"),
    ]
    asked = {"Command": "image", "File": arguments.file, "Bandwidth": f"{bandwidth:.4g}", "Tolerance": f"{tau:.4g}"}
    return _finish(arguments, outputs, choice, rows, plot, asked, field=pixels)


def _finish(
    arguments: argparse.Namespace, outputs: Outputs, choice: Any, rows: Any, plot: Any, asked: Any, field: Any
) -> int:
    causal = choice.causal_
    rows = [*rows, ("States", f"{causal.n_states_} causal, {choice.n_states_} decisional")]
    writers = {
        "json": lambda path: write_json(path, states_json(choice, arguments.file)),
        "plot": plot,
        "states": lambda path: save_states(path, causal),
    }
    title = f"Hidden states of {arguments.file}"
    given = {"asked": asked, "field": field, "causal": causal, "choice": choice}
    written = outputs.write(writers, title=title, **given)
    if not arguments.quiet:
        lines = [*summary.facts(rows), "", *states_table(causal), ""]
        print("\n".join([*lines, *summary.decisions(choice, causal.complexity_)]))
        announce(written)
    return 0


def states_table(causal: Any, most: int = 10) -> list[str]:
    """The most common states with their local complexity."""
    import numpy as np

    probability = causal.states_.probability
    rows = [["state", "probability", "local C"]]
    for state, p in enumerate(probability[:most].tolist()):
        rows.append([str(state), f"{p:.4f}", f"{-np.log2(p):.2f} bits"])
    return summary.align(rows, len(probability) - most, "states")


def save_states(path: str, causal: Any) -> None:
    """Write the state at each place of the data, -1 where there is none."""
    from io import BytesIO

    import numpy as np

    from .. import io

    grid = np.nan_to_num(np.asarray(causal.observations_.field(causal.labels_.astype(float))), nan=-1.0)
    buffer = BytesIO()
    np.save(buffer, grid.astype(np.int32))
    io.write_bytes(path, buffer.getvalue())


def states_json(choice: Any, file: str) -> dict[str, Any]:
    """The summary as JSON."""
    causal = choice.causal_
    return {
        "file": file,
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
