"""Symbol series: x is a window of the last `past` symbols, z the next `future` ones."""

from collections.abc import Hashable
from functools import partial
from typing import Any

import numpy as np

from . import alphabet as reading
from .observations import Observations
from .slices import Part, Sliced, check_chunks, rows_at_once
from .stores import cuts, is_stored, stored
from .windows import CODE_BITS, windows

__all__ = ["series"]

# What the work on a symbol takes, when all are labelled; more where words need several codes.
SYMBOL_BYTES = 32
LONG_WORD_BYTES = 256


def series(
    symbols: Any,
    past: int,
    future: int = 1,
    *,
    missing: Hashable = None,
    sequences: bool | None = None,
    chunks: int | None = None,
) -> Observations:
    """Observe a symbol series through windows: x = the last `past` symbols, z = the next `future` ones.

    Parameters
    ----------
    symbols : str, bytes, list of hashables, integer array, or a list of several sequences; windows cross neither
        sequences nor missing values (None, NaN, masked or `missing`). Large memory maps, and arrays of zarr, HDF5
        and Dask, are read slice by slice
    past : length of x, at least 1
    future : length of z, at least 1
    missing : one more value that marks a missing symbol
    sequences : whether a list of strings, tuples or bytes holds sequences or symbols; by default bytes are
        sequences, and the others are symbols if one has length 1 or if they repeat (at most half as many
        distinct ones as items)
    chunks : symbols in each slice (series in each slice, where these are the rows of an array), to read slice by
        slice; by default as many as take a quarter of a gigabyte, where the data are not in memory

    Returns
    -------
    Observations : one per position with a full window on both sides; the symbol of a step x -> x' is the
        first symbol of z, and the site of an observation is its last known symbol

    Examples
    --------
    >>> obs = series("0110110111", past=2)
    >>> len(obs), obs.letters
    (8, ('0', '1'))
    >>> obs.table().weight  # 10, 01, 11
    array([2, 3, 3])
    """
    for name, value in (("past", past), ("future", future)):
        if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or value < 1:
            raise ValueError(
                f"The '{name}' parameter of series must be an integer of at least 1. Got {value!r} instead."
            )
    check_chunks(chunks)
    past, future = int(past), int(future)
    several = isinstance(symbols, (list, tuple)) and len(symbols) > 0 and all(map(is_stored, symbols))
    if chunks is not None or several or is_stored(symbols):
        parts = [stored(part) for part in symbols] if several else [symbols]
        if not several:
            parts = reading.alike(reading.split(symbols, sequences)) if stored(symbols) is None else [stored(symbols)]
        return _sliced(parts, past, future, missing, chunks)
    return windows(reading.read(symbols, missing, sequences), past, future)


def _sliced(parts: list[Any], past: int, future: int, missing: Hashable, chunks: int | None) -> Sliced:
    """Windows of sequences that are read slice by slice, or of the rows of one array."""
    rows = rows_at_once(SYMBOL_BYTES if past + future <= CODE_BITS else LONG_WORD_BYTES)
    found, offset = [], 0
    for data in parts:
        before, after = (past - 1, future) if getattr(data, "ndim", 1) == 1 else (0, 0)
        size = len(data)
        length = chunks or max(rows // int(np.prod(getattr(data, "shape", (1,))[1:])), 1)
        for a, b in cuts(data, 0, size, length):
            first, last = max(a - before, 0), min(b + after, size)
            found.append(Part((data[first:last],), offset + a, offset + b, offset + first))
        offset += size
    shape = parts[0].shape if len(parts) == 1 and hasattr(parts[0], "shape") else (offset,)
    return Sliced(partial(_observe, past, future, missing), found, shape)


def _observe(past: int, future: int, missing: Hashable, part: Part) -> Observations | None:
    """Windows of a slice; None where no symbol is known."""
    try:
        return windows(reading.read(part.data[0], missing, False, part=True), past, future, may_be_none=True)
    except reading.NoSymbols:
        return None
