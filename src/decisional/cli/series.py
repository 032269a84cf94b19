"""Series of symbols from files, in memory or left where they are."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .arrays import is_array
from .scale import is_sliced

__all__ = ["Series", "called", "read_series"]

# Text files of more bytes are read slice by slice, where that is possible.
LARGE = 1 << 26
# Symbols of a long series that are shown in a report.
SHOWN = 1_000_000


@dataclass(frozen=True)
class Series:
    """Series of one or several files.

    Attributes
    ----------
    values : the series, or parts of files that hold them
    missing : what stands between series inside a part, or None
    n_symbols, n_series, longest : sizes
    """

    values: list[Any]
    missing: str | None
    n_symbols: int
    n_series: int
    longest: int

    @property
    def size(self) -> str:
        """The size in words."""
        return f"{self.n_symbols:,} symbols" + (f" in {self.n_series:,} series" if self.n_series > 1 else "")

    def beginning(self) -> list[Any]:
        """The first symbols, in memory."""
        from ..data.stores import load

        found: list[Any] = []
        left = SHOWN
        for part in self.values:
            head = load(part[:left])
            found += head.decode("ascii").split() if isinstance(head, bytes) else [head]
            left -= len(head)
            if left <= 0:
                break
        return found


def called(files: list[str]) -> str:
    """One or several files in a title."""
    more = len(files) - 1
    return files[0] + (f" and {more} more file{'s' if more > 1 else ''}" if more else "")


def read_series(arguments: argparse.Namespace) -> Series:
    """The series of all files of the command `symbols`."""
    arrays = [is_array(path) for path in arguments.files]
    if any(arrays):
        return _arrays(arguments, arrays)
    if arguments.variable is not None:
        raise ValueError(
            f"The option --variable is for netCDF, HDF5 and zarr and {arguments.files[0]!r} is none: leave it out."
        )
    return _mapped(arguments) or _texts(arguments)


def _texts(arguments: argparse.Namespace) -> Series:
    from ..data.text import read_symbols

    values = [part for path in arguments.files for part in read_symbols(path, arguments.column)]
    lengths = list(map(len, values))
    return Series(values, None, sum(lengths), len(values), max(lengths))


def _mapped(arguments: argparse.Namespace) -> Series | None:
    """Text that is left in its files; None where it is small, or has words."""
    if arguments.past is None or arguments.column is not None or "-" in arguments.files:
        return None
    large = sum(Path(path).stat().st_size for path in arguments.files if Path(path).is_file()) > LARGE
    if not large and not is_sliced(arguments):
        return None
    from ..data.text import map_symbols

    found = [map_symbols(path) for path in arguments.files]
    texts = [text for text in found if text is not None]
    if len(texts) < len(found):
        return None
    missing = next((text.missing for text in texts if text.missing is not None), None)
    n_series = sum(text.n_series for text in texts)
    if missing is not None and arguments.labels is not None:
        # Labels have no place for what stands between the series.
        if not is_sliced(arguments):
            return None
        raise ValueError(
            f"The labels of {n_series:,} lines cannot be written slice by slice: leave out --chunks and --cluster, or "
            "--labels."
        )
    values = [part for text in texts for part in text.parts]
    return Series(values, missing, sum(t.n_symbols for t in texts), n_series, max(t.longest for t in texts))


def _arrays(arguments: argparse.Namespace, arrays: list[bool]) -> Series:
    from .files import read_field

    if arguments.column is not None:
        raise ValueError(f"The option --column is for text and {arguments.files[0]!r} is none: leave it out.")
    if not all(arrays):
        path = arguments.files[arrays.index(False)]
        raise ValueError(f"The file {path!r} is text and others are arrays: give files of one kind.")
    values = []
    for path in arguments.files:
        array, _ = read_field(path, None, arguments.variable, is_sliced(arguments), axes=1)
        if array.ndim != 1 or array.dtype.kind not in "biuf" or not len(array):
            raise ValueError(
                f"The array {path!r} has shape {tuple(array.shape)} and type {array.dtype}; symbols are integers along "
                "one axis: give such an array."
            )
        values.append(array)
    lengths = list(map(len, values))
    return Series(values, None, sum(lengths), len(values), max(lengths))
