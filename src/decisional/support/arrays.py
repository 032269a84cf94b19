"""Arrays that are shared without copies: read-only views, frozen records of them, compressed rows."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.integer[Any]]
Floats = NDArray[np.floating[Any]]
Bools = NDArray[np.bool_]


def index_type(size: int) -> type[np.signedinteger[Any]]:
    """The smaller type of integers that can number so many things."""
    return np.int32 if size < 1 << 31 else np.int64


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """The same array, protected against writing."""
    array = array.view()
    array.flags.writeable = False
    return array


class Record:
    """Base of the frozen dataclasses below: protects their arrays."""

    def __post_init__(self) -> None:
        for name, value in list(vars(self).items()):
            if isinstance(value, np.ndarray):
                object.__setattr__(self, name, read_only(value))


def row_sums(start: Ints, values: NDArray[Any]) -> NDArray[Any]:
    """Sums of compressed rows, in double precision for floats."""
    values = values.astype(np.float64, copy=False) if values.dtype.kind == "f" else values
    sums = np.zeros(start.size - 1, values.dtype)
    filled = np.flatnonzero(start[1:] > start[:-1])
    if filled.size:
        sums[filled] = np.add.reduceat(values, start[filled])
    return sums


def entries(start: Ints, size: Ints) -> Ints:
    """Places of the entries of compressed rows that begin at `start`, one row after the other."""
    before = np.cumsum(size) - size
    entries: Ints = np.arange(size.sum()) + np.repeat(start - before, size)
    return entries


def is_array_like(values: Any) -> bool:
    """Whether values have the shape, size and type of an array, in memory or not; those of frames are others."""
    return all(hasattr(values, name) for name in ("shape", "size", "dtype"))
