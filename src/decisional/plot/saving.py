"""Pictures and films as files."""

from __future__ import annotations

import os
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..support.arguments import integer, real, require, shown
from ..support.files import write_bytes
from .drawing import figure_of, require_matplotlib
from .field_pictures import grey

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# The metadata of each format, without dates: the same machine gives the same bytes.
METADATA: dict[str, dict[str, Any]] = {"png": {}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}


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
    """Return the format that the suffix of a path stands for, or refuse it.

    Examples
    --------
    >>> file_format("machine.PDF")
    'pdf'
    """
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
    # Identifiers in SVG are random without a salt.
    with matplotlib.rc_context({"svg.hashsalt": "decisional"}):
        figure_of(figure).savefig(
            data, format=suffix, dpi=200, bbox_inches="tight", pad_inches=0.02, metadata=METADATA[suffix]
        )
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
    frames = np.asarray(values)
    if frames.ndim == 3:
        frames = grey(frames)
    if frames.ndim not in (3, 4) or not len(frames) or (frames.ndim == 4 and frames.shape[3] != 3):
        raise ValueError(
            f"The 'values' have shape {frames.shape}; an animation needs (steps, height, width), or colours with 3 "
            "values for each cell: select two space axes."
        )
    fps, scale = real(fps, "fps", least=1, remedy="try fps=10"), integer(scale, "scale", remedy="try scale=10")
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
