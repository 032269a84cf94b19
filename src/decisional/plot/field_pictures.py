"""Fields: raw cells, local complexities, expected utility and states, side by side; and animations of them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..states.complexity import ranks
from ..support.arguments import as_table, is_number, require
from .drawing import figure_of, new_figure, require_data, require_matplotlib

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..decisions.decisional_model import DecisionalModel

__all__ = ["animate", "edges", "fields", "grey", "state_colours"]

TITLES = {
    "raw": "Raw cells",
    "C": "Local statistical complexity",
    "U": "Expected utility",
    "P": "Local iso-prediction complexity",
    "D": "Local decisional complexity",
    "V": "Local iso-utility complexity",
    "states": "Causal states",
    "decisions": "Decisional states",
}
COLOURED = ("states", "decisions")


def grey(values: Any) -> NDArray[Any]:
    """Grey levels 0..255, dark = large: 255 - floor(255.99 (v - min) / (max - min)); white where there is no value."""
    values = as_table(values, "values", "it must be an array of numbers: give a field.", float)
    known = np.isfinite(values)
    levels = np.full(values.shape, 255, np.uint8)
    if known.any():
        low, high = values[known].min(), values[known].max()
        share = (values[known] - low) / (high - low) if high > low else np.zeros(int(known.sum()))
        levels[known] = (255 - np.floor(255.99 * share)).astype(np.uint8)
    return levels


def state_colours(labels: Any) -> NDArray[Any]:
    """Colours (..., 3) of states in 0..255: common states pale, rare ones strong; white where unknown (-1 or NaN)."""
    from matplotlib.colors import hsv_to_rgb

    labels = as_table(labels, "labels", "it must be an array of integers: give labels_.", float)
    labels = np.nan_to_num(labels, nan=-1.0).astype(np.int64)
    count = np.bincount(labels[labels >= 0])
    bits = -np.log2(np.maximum(count, 1) / max(count.max(initial=0), 1))
    rare = bits / max(bits.max(initial=0.0), 1.0)
    # Steps of the golden ratio keep the hues of neighbouring numbers apart.
    hue = (0.6 + np.arange(count.size) * 0.618033988749895) % 1.0
    hsv = np.column_stack([hue, 0.12 + 0.88 * rare, 1.0 - 0.3 * rare])
    table = np.vstack([np.round(255 * hsv_to_rgb(hsv)), [[255, 255, 255]]]).astype(np.uint8)
    return np.asarray(table[labels])


def fields(
    states: Any,
    raw: Any = None,
    panels: Sequence[str] | None = None,
    frame: int | None = None,
    axes: Any = None,
) -> Figure:
    """Draw fields of fitted states side by side, as in the paper: grey, dark = complex.

    Parameters
    ----------
    states : fitted DecisionalStates, or CausalStates
    raw : the field that was observed, for the panel "raw" (1 = white)
    panels : which panels: "raw", "C", "U", "P", "D", "V", and in colour "states" and "decisions"; by default raw (if
        given), C, and for decisional states U and P
    frame : with two or three space axes, which time to show; by default the middle of those with states
    axes : matplotlib axes to draw on, one for each panel; by default a new figure

    Returns
    -------
    matplotlib Figure
    """
    require_matplotlib()
    fitted = getattr(states, "causal_", states)
    require(
        fitted, "observations_", "states", "fitted CausalStates or DecisionalStates", "fit them on observations first"
    )
    if panels is not None and (isinstance(panels, str) or not isinstance(panels, Iterable) or not list(panels)):
        raise ValueError(f"The 'panels' are {panels!r}; they must be a list among {', '.join(TITLES)}: choose some.")
    panels = _default_panels(states, raw) if panels is None else list(panels)
    times = _times(states)
    pictures = [_shown(_picture(states, raw, panel), panel in COLOURED, times, frame) for panel in panels]
    axes = _for_panels(_new_axes(len(panels), pictures[0].shape) if axes is None else axes, len(panels))
    return _draw_panels(axes, [TITLES[panel] for panel in panels], pictures)


def edges(choice: DecisionalModel, image: ArrayLike, axes: Sequence[Axes] | None = None) -> Figure:
    """Draw a grey image and where it is hard to predict, its edges: dark = complex, by rank.

    Side by side are the image, the ranks of its local statistical complexity, and those of its local iso-prediction
    complexity, which sees only what changes the best predictions.

    Parameters
    ----------
    choice : DecisionalStates
        Fitted to causal states of the image.
    image : (height, width) numbers
        The image that was observed; several of the same width one below the other.
    axes : sequence of three matplotlib Axes, optional
        Where to draw; by default on a new figure, which is not registered with pyplot.

    Returns
    -------
    matplotlib Figure
        The figure; `save` writes it to a file.
    """
    require_matplotlib()
    causal = require_data(choice, "edges")
    obs = causal.observations_
    rule = "it must be the image that was observed, an array (height, width) of numbers: give it as image=pixels."
    pixels = as_table(image, "image", rule, float)
    if pixels.ndim != 2 or pixels.shape != obs.shape:
        raise ValueError(f"The 'image' has shape {pixels.shape} and the states {obs.shape}; {rule}")
    panels = {
        "Image": grey(-pixels),
        TITLES["C"]: grey(obs.field(ranks(causal.local_complexity_))),
        TITLES["P"]: grey(obs.field(ranks(choice.local_prediction_complexity_))),
    }
    if axes is None:
        height = min(max(3.2 * pixels.shape[0] / pixels.shape[1], 1.0), 8.0)
        axes = new_figure(9.6, height + 0.3).subplots(1, len(panels))
    figure = _draw_panels(_for_panels(axes, len(panels)), list(panels), list(panels.values()))
    for ax in axes:
        ax.set_axis_off()
    return figure


def _for_panels(axes: Any, n: int) -> list[Axes]:
    """The axes that were given for n panels."""
    given = list(np.ravel(np.asarray(axes, object)))
    if len(given) != n:
        raise ValueError(f"The 'axes' are {len(given)} for {n} panels; there must be one for each: give {n}.")
    return given


def _draw_panels(axes: Sequence[Axes], titles: Sequence[str], pictures: Sequence[NDArray[np.uint8]]) -> Figure:
    """Show pictures, in grey or colour, on axes; return their figure."""
    for ax, title, picture in zip(axes, titles, pictures, strict=True):
        ax.imshow(picture, cmap="gray", vmin=0, vmax=255, interpolation="nearest")
        ax.set_title(title, fontsize=9)
        ax.set_xticks([])
        ax.set_yticks([])
    return figure_of(axes[0])


def animate(values: Any, path: str | os.PathLike[str], fps: int = 10, scale: int = 1) -> None:
    """Write a field with time first and two space axes as an animation, whole or not at all.

    Parameters
    ----------
    values : (steps, height, width) numbers, drawn in grey (dark = large), or (steps, height, width, 3) colours
    path : .gif, or .mp4 where ffmpeg is installed
    fps : frames per second
    scale : side of a cell in pixels
    """
    frames = np.asarray(values)
    if frames.ndim == 3:
        frames = grey(frames)
    if frames.ndim not in (3, 4) or not len(frames) or (frames.ndim == 4 and frames.shape[3] != 3):
        raise ValueError(
            f"The 'values' have shape {frames.shape}; an animation needs (steps, height, width), or colours with 3 "
            "values for each cell: select two space axes."
        )
    for name, value in (("fps", fps), ("scale", scale)):
        if not is_number(value) or value < 1 or (name == "scale" and value != int(value)):
            raise ValueError(f"The {name!r} is {value!r}; it must be a number of at least 1: try {name}=10.")
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(f"The 'path' is {path!r}; it must be a string or a Path: name a .gif or .mp4.")
    frames = frames.repeat(scale, axis=1).repeat(scale, axis=2)
    suffix = os.path.splitext(os.fspath(path))[1].lower()
    if suffix == ".gif":
        content = _gif(frames, fps)
    elif suffix == ".mp4":
        content = _mp4(frames, fps)
    else:
        raise ValueError(f"The 'path' is {os.fspath(path)!r}; an animation is a .gif or .mp4: change its ending.")
    from ..support.files import write_bytes

    write_bytes(path, content)


def _gif(frames: NDArray[Any], fps: int) -> bytes:
    require_matplotlib()  # which brings Pillow
    from io import BytesIO

    from PIL import Image

    images = [Image.fromarray(frame) for frame in frames]
    buffer = BytesIO()
    images[0].save(buffer, "GIF", save_all=True, append_images=images[1:], duration=round(1000 / fps), loop=0)
    return buffer.getvalue()


def _mp4(frames: NDArray[Any], fps: int) -> bytes:
    import subprocess
    import tempfile
    from pathlib import Path
    from shutil import which

    if which("ffmpeg") is None:
        raise ValueError("The 'path' ends with .mp4, which needs the program ffmpeg: install it, or write a .gif.")
    height, width = frames.shape[1] // 2 * 2, frames.shape[2] // 2 * 2  # the encoder takes even sides only
    kind = "gray" if frames.ndim == 3 else "rgb24"
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "movie.mp4"
        command = ["ffmpeg", "-loglevel", "error", "-f", "rawvideo", "-pix_fmt", kind, "-s", f"{width}x{height}"]
        command += ["-r", str(fps), "-i", "-", "-pix_fmt", "yuv420p", str(out)]
        data = np.ascontiguousarray(frames[:, :height, :width]).tobytes()
        done = subprocess.run(command, input=data, capture_output=True, check=False)
        if done.returncode:
            raise ValueError(f"The movie could not be made: {done.stderr.decode().strip()}; write a .gif instead.")
        return out.read_bytes()


def _default_panels(states: Any, raw: Any) -> list[str]:
    return [*(["raw"] if raw is not None else []), "C", *(["U", "P"] if hasattr(states, "iso_prediction_") else [])]


def _field(states: Any, panel: str) -> NDArray[Any]:
    """The values of a panel on the grid of the data."""
    causal = getattr(states, "causal_", states)
    values = {
        "C": lambda: causal.local_complexity_,
        "states": lambda: causal.labels_,
        "U": lambda: states.local_utility_,
        "P": lambda: states.local_prediction_complexity_,
        "D": lambda: states.local_complexity_,
        "V": lambda: states.local_utility_complexity_,
        "decisions": lambda: states.labels_,
    }
    if panel not in values:
        raise ValueError(f"The 'panels' have {panel!r}; they must be among {', '.join(TITLES)}: choose from these.")
    if panel not in ("C", "states") and not hasattr(states, "iso_prediction_"):
        raise ValueError(f"The panel {panel!r} needs decisional states: fit ds.DecisionalStates(utility) first.")
    return np.asarray(causal.observations_.field(values[panel]()))


def _times(states: Any) -> NDArray[Any]:
    """The times that have states."""
    known = np.isfinite(_field(states, "C"))
    if known.ndim < 2:
        raise ValueError(
            f"The states live on a grid of shape {known.shape}; fields have time and space: observe light cones."
        )
    return np.flatnonzero(known.reshape(len(known), -1).any(axis=1))


def _picture(states: Any, raw: Any, panel: str) -> NDArray[Any]:
    if panel == "raw":
        if raw is None:
            raise ValueError("The panel 'raw' needs the field that was observed: give it as raw=field.")
        rule = "it must be the field that was observed, an array of numbers: give it as raw=field."
        given, shape = as_table(raw, "raw", rule, float), _field(states, "C").shape
        if given.shape != shape:
            raise ValueError(f"The 'raw' has shape {given.shape} and the states {shape}; {rule}")
        return 255 - grey(given)
    values = _field(states, panel)
    return state_colours(values) if panel in COLOURED else grey(values)


def _shown(picture: NDArray[Any], is_colour: bool, times: NDArray[Any], frame: int | None) -> NDArray[Any]:
    """Two axes to show: the times with states against space, or one moment, the middle of a third space axis."""
    if picture.ndim - is_colour == 2:
        return picture[times[0] : times[-1] + 1]
    picture = picture[times[times.size // 2] if frame is None else frame]
    return picture if picture.ndim - is_colour == 2 else picture[len(picture) // 2]


def _new_axes(n: int, shape: tuple[int, ...]) -> Any:
    """Axes for n pictures of one shape, in a figure without white between them."""
    columns = n if n < 4 else 2
    rows = -(-n // columns)
    height = min(max(4.2 * shape[0] / shape[1], 1.0), 8.4)
    width = min(4.2, max(height * shape[1] / shape[0], 2.0))
    figure = new_figure(columns * width, (height + 0.2) * rows)
    grid = np.ravel(figure.subplots(rows, columns, squeeze=False))
    for ax in grid[n:]:
        ax.set_axis_off()
    return grid[:n]
