"""Figures: what they need, their colours and legends, and how they become files and films."""

from __future__ import annotations

import os
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..decisions.decisional_model import DecisionalModel
from ..support.arguments import LARGEST, as_table, integer, real, require, shown
from ..support.files import write_bytes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..states.causal_model import CausalModel

# From light to dark, so that groups stay apart in grey print and for every kind of colour vision.
PALETTE = ("#fbe9a6", "#7cc8ee", "#e08b1a", "#009e73", "#bb5590", "#005a94", "#7a3300", "#222255")
# Of few states, in pictures and on pages: dark letters can be read on all of them.
STATE_COLOURS = (
    "#f7dc7f",
    "#7cc8ee",
    "#f0a860",
    "#6fcfab",
    "#de9fc6",
    "#a9b8f0",
    "#cfab8f",
    "#c3c9cf",
    "#e98f8f",
    "#9fdde0",
    "#c9dd7a",
    "#c8a5ee",
)
HATCHES = ("", "////", "....", "xxxx")
RECURRENT, TRANSIENT, INK, LINE = "#cfe2f3", "#f6f6f6", "#1b1b1b", "#444444"
FONT = 9  # of axes with scales
# The metadata of each format, without dates: the same machine gives the same bytes.
METADATA: dict[str, dict[str, Any]] = {"png": {}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}


def require_matplotlib() -> None:
    """Raise ImportError with the remedy if matplotlib is missing."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise ImportError("Plotting needs matplotlib: pip install 'decisional[plot]'.") from None


# Numbers of states that colours are made for.
MOST_STATES = 1 << 24


def require_fitted(choice: Any) -> None:
    """Refuse what is not a fitted DecisionalStates, or cannot be drawn as matplotlib is missing."""
    require_matplotlib()
    if not isinstance(choice, DecisionalModel) or not choice.is_fitted():
        raise ValueError(
            "The 'choice' parameter must be a fitted DecisionalStates. "
            f"Got {type(choice).__name__} instead: fit DecisionalStates(utility) first."
        )


def require_axes(ax: Any, name: str = "ax") -> None:
    """Refuse what cannot be drawn on."""
    require(ax, "set_xlim", name, "matplotlib Axes", "leave it out for a new figure")


def require_data(choice: Any, picture: str) -> CausalModel:
    """Return the causal states that were fitted to data, or refuse what has none."""
    require_fitted(choice)
    causal: CausalModel | None = choice.causal_
    if causal is None:
        raise ValueError(
            f"The 'choice' of {picture} was fitted to a machine, which has no data of its own: fit it to causal states."
        )
    return causal


def observed(values: Any, name: str, shape: tuple[int, ...], rule: str, ndim: int | None = None) -> NDArray[Any]:
    """Return the numbers that states were found in, or refuse those of another shape."""
    given = as_table(values, name, rule, float)
    if given.shape != shape or given.ndim != (ndim or given.ndim):
        raise ValueError(f"The {name!r} has shape {given.shape} and the states {shape}; {rule}")
    return given


def new_figure(width: float, height: float, layout: Literal["constrained"] | None = "constrained") -> Figure:
    """Return an empty figure of so many inches, unknown to pyplot, which shows itself in notebooks."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    from .shown import ShownFigure

    figure = ShownFigure(figsize=(width, height), layout=layout)
    FigureCanvasAgg(figure)
    return figure


def axes_or_new(ax: Axes | None, width: float, height: float) -> Axes:
    """Return the axes to draw on, by default those of a new figure of so many inches; refuse what are none."""
    if ax is None:
        ax = new_figure(width, height).subplots()
    require_axes(ax)
    return ax


def divided(ax: Axes, n: int, columns: int) -> list[Axes]:
    """Return so many axes inside others, which keep nothing but their place; row by row from the top."""
    require_axes(ax)
    ax.set_axis_off()
    rows = -(-n // columns)
    # Titles of two lines, or numbers, stand above each row.
    points = 72 * ax.get_window_extent().height / figure_of(ax).dpi
    beside, above = 0.03, min(40.0 / points, 0.5 / rows)
    width, height = (1 - beside * (columns - 1)) / columns, (1 - above * (rows - 1)) / rows
    corners = [(k % columns * (width + beside), 1 - height - k // columns * (height + above)) for k in range(n)]
    return [ax.inset_axes((x, y, width, height)) for x, y in corners]


def given_panels(axes: Any, ax: Axes | None, n: int, columns: int, rule: str) -> list[Axes] | None:
    """Return the axes that were given for several panels: one for each, or one that is divided; None = a new figure."""
    if ax is not None and axes is not None:
        raise ValueError("Both 'ax' and 'axes' are given; a picture has one place: give one of them.")
    if ax is not None:
        return divided(ax, n, columns)
    if axes is None:
        return None
    found = list(np.ravel(np.asarray(axes, object)))
    for one in found:
        require_axes(one, "axes")
    if len(found) != n:
        raise ValueError(f"The 'axes' are {len(found)} for {n} panels; {rule}")
    return found


def figure_of(drawn: Figure | Axes) -> Figure:
    """Return the outermost figure of axes, or of a figure."""
    return drawn.figure.figure


def plain_axes(ax: Axes, xlabel: str, ylabel: str) -> None:
    """Name two axes, in small letters and without a frame."""
    ax.set_xlabel(xlabel, fontsize=FONT, color=INK)
    ax.set_ylabel(ylabel, fontsize=FONT, color=INK)
    ax.tick_params(labelsize=FONT, colors=INK)
    ax.spines[["top", "right"]].set_visible(False)


def legend(ax: Axes, fills: Mapping[str, tuple[str, str]], ec: str, lw: float, **style: Any) -> None:
    """Draw a legend of colours with their hatchings."""
    from matplotlib.patches import Patch

    # Matplotlib leaves out labels that begin with an underscore.
    labels = [f" {label}" if label.startswith("_") else label for label in fills]
    found = zip(labels, fills.values(), strict=True)
    handles = [Patch(fc=colour, ec=ec, hatch=hatch, lw=lw, label=label) for label, (colour, hatch) in found]
    for text in ax.legend(handles=handles, frameon=False, **style).get_texts():
        text.set_parse_math(False)


def fill(k: int) -> tuple[str, str]:
    """Return the colour and hatching of group number k."""
    return PALETTE[k % len(PALETTE)], HATCHES[k // len(PALETTE) % len(HATCHES)]


def state_colour(k: int) -> str:
    """Return the colour of state number k, on which dark letters can be read."""
    return STATE_COLOURS[k] if k < len(STATE_COLOURS) else f"hsl({(k * 137.508) % 360:.0f} 60% 76%)"


def tint(colour: str, share: float = 0.28) -> str:
    """Return a pale shade of a colour, as paper behind other things."""
    from matplotlib.colors import to_hex, to_rgb

    red, green, blue = (share * part + 1 - share for part in to_rgb(colour))
    return str(to_hex((red, green, blue)))


def grey(values: ArrayLike) -> NDArray[np.uint8]:
    """Grey levels 0..255, dark = large: 255 - floor(255.99 (v - min) / (max - min)); white where there is no value."""
    table = as_table(values, "values", "it must be an array of numbers: give a field.", float)
    known = np.isfinite(table)
    levels = np.full(table.shape, 255, np.uint8)
    if known.any():
        given = table[known]
        # The range of the largest numbers is none.
        given = given / 4 if np.abs(given).max() > LARGEST / 2 else given
        low, high = given.min(), given.max()
        share = (given - low) / (high - low) if high > low else np.zeros(given.size)
        levels[known] = (255 - np.floor(255.99 * share)).astype(np.uint8)
    return levels


def state_colours(labels: ArrayLike) -> NDArray[np.uint8]:
    """Colours (..., 3) of states in 0..255: common states pale, rare ones strong; white where unknown (-1 or NaN)."""
    rule = "it must be an array of integers from -1 on: give labels_."
    given = as_table(labels, "labels", rule, float)
    known = given[~np.isnan(given)]
    # There is a colour for each number up to the largest.
    if known.size and (known.min() < -1 or known.max() >= MOST_STATES or (known % 1 != 0).any()):
        raise ValueError(f"The 'labels' are {shown(labels)}; {rule}")
    state = np.nan_to_num(given, nan=-1.0).astype(np.int64)
    table = np.vstack([rarity_colours(np.bincount(state[state >= 0])), np.full((1, 3), 255, np.uint8)])
    return np.asarray(table[state])


def rarity_colours(count: NDArray[Any]) -> NDArray[np.uint8]:
    """Colours (n, 3) of states that occur so often: common states pale, rare ones strong."""
    from matplotlib.colors import hsv_to_rgb

    bits = -np.log2(np.maximum(count, 1) / max(count.max(initial=0), 1))
    rare = bits / max(bits.max(initial=0.0), 1.0)
    # Steps of the golden ratio keep the hues of neighbouring numbers apart.
    hue = (0.6 + np.arange(count.size) * 0.618033988749895) % 1.0
    hsv = np.column_stack([hue, 0.12 + 0.88 * rare, 1.0 - 0.3 * rare])
    return np.asarray(np.round(255 * hsv_to_rgb(hsv)).astype(np.uint8))


def save(figure: Figure | Axes, path: str | os.PathLike[str]) -> None:
    """Write a picture to a file, all at once; the suffix of the path gives the format.

    Parameters
    ----------
    figure : matplotlib Figure or Axes
        What to save; for axes, their whole figure.
    path : str or path
        A path ending in ``.png``, ``.svg`` or ``.pdf``.
    """
    write_bytes(path, render(figure, file_format(path)))


def file_format(path: str | os.PathLike[str]) -> str:
    """Return the format that the suffix of a path stands for, or refuse it."""
    return _ending(path, "a picture", tuple(METADATA))


def _ending(path: str | os.PathLike[str], what: str, known: tuple[str, ...]) -> str:
    """The ending of a path in small letters, which must be one of those known."""
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(f"The 'path' is {shown(path)}; it must be a string or a Path: name the file.")
    suffix = Path(path).suffix.lower().removeprefix(".")
    if suffix not in known:
        *some, last = (f".{name}" for name in known)
        raise ValueError(f"The 'path' is {str(path)!r}; {what} must end in {', '.join(some)} or {last}: rename it.")
    return suffix


def render(figure: Figure | Axes, suffix: str) -> bytes:
    """Return the bytes of a picture in a format that `file_format` knows."""
    import matplotlib

    require(figure, "figure", "figure", "a matplotlib Figure or Axes", "give what a function of ds.plot returns")
    data = BytesIO()
    style: dict[str, Any] = {"dpi": 200, "bbox_inches": "tight", "pad_inches": 0.02, "metadata": METADATA[suffix]}
    # Identifiers in SVG are random without a salt.
    with matplotlib.rc_context({"svg.hashsalt": "decisional"}):
        figure_of(figure).savefig(data, format=suffix, **style)
    return data.getvalue()


def animate(values: ArrayLike, path: str | os.PathLike[str], fps: float = 10, scale: int = 1) -> None:
    """Write a field with time first and two space axes as an animation, whole or not at all.

    Parameters
    ----------
    values : (steps, height, width) numbers, drawn in grey (dark = large), or (steps, height, width, 3) colours
    path : .gif, or .mp4 where ffmpeg is installed
    fps : frames per second
    scale : side of a cell in pixels
    """
    rule = "an animation needs (steps, height, width) numbers: give such an array."
    frames = as_table(values, "values", rule)
    if frames.ndim == 3:
        frames = grey(frames)
    if frames.ndim not in (3, 4) or not len(frames) or (frames.ndim == 4 and frames.shape[3] != 3):
        raise ValueError(
            f"The 'values' have shape {frames.shape}; an animation needs (steps, height, width), or colours with 3 "
            "values for each cell: select two space axes."
        )
    fps = real(fps, "fps", least=1, remedy="try fps=10")
    scale = integer(scale, "scale", most=1000, remedy="try scale=10")
    make = {"gif": _gif, "mp4": _mp4}[_ending(path, "an animation", ("gif", "mp4"))]
    frames = frames.repeat(scale, axis=1).repeat(scale, axis=2)
    write_bytes(path, make(frames, fps))


def _gif(frames: NDArray[np.uint8], fps: float) -> bytes:
    require_matplotlib()  # which brings Pillow
    from PIL import Image

    images = [Image.fromarray(frame) for frame in frames]
    buffer = BytesIO()
    images[0].save(buffer, "GIF", save_all=True, append_images=images[1:], duration=round(1000 / fps), loop=0)
    return buffer.getvalue()


def _mp4(frames: NDArray[np.uint8], fps: float) -> bytes:
    import subprocess
    import tempfile
    from shutil import which

    if which("ffmpeg") is None:
        raise ValueError("The 'path' ends with .mp4, which needs the program ffmpeg: install it, or write a .gif.")
    height, width = frames.shape[1] // 2 * 2, frames.shape[2] // 2 * 2  # the encoder takes even sides only
    kind = "gray" if frames.ndim == 3 else "rgb24"
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "movie.mp4"
        command = ["ffmpeg", "-loglevel", "error", "-f", "rawvideo", "-pix_fmt", kind, "-s", f"{width}x{height}"]
        command += ["-r", f"{fps:g}", "-i", "-", "-pix_fmt", "yuv420p", str(out)]
        data = np.ascontiguousarray(frames[:, :height, :width]).tobytes()
        done = subprocess.run(command, input=data, capture_output=True, check=False)
        if done.returncode:
            raise ValueError(f"The movie could not be made: {done.stderr.decode().strip()}; write a .gif instead.")
        return out.read_bytes()
