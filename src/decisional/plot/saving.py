"""Pictures as files."""

from __future__ import annotations

import os
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..support.arguments import require
from ..support.files import write_bytes
from .drawing import figure_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["file_format", "render", "save"]

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
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(f"The 'path' is {path!r}; it must be a string or a Path: name the file, such as 'machine.png'.")
    suffix = Path(path).suffix.lower().removeprefix(".")
    if suffix not in METADATA:
        raise ValueError(f"The 'path' of a picture must end in .png, .svg or .pdf. Got {str(path)!r} instead.")
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
