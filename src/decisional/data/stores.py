"""Arrays that are read slice by slice: memory maps, zarr, HDF5, Dask, and text files of symbols."""

import math
import os
from collections.abc import Callable, Iterable
from copy import copy
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Memory maps of fewer bytes are read as a whole.
LARGE = 1 << 28
# Values of which the smallest is looked for at once.
AT_ONCE = 1_000_000
# White space of a text as line ends.
LINES = bytes.maketrans(b"\t\v\f\r\x1c\x1d\x1e\x1f ", b"\n" * 9)


class Stored:
    """Rows of an array on disk: sliced without being read, read by `numpy.asarray`.

    It is pickled as a reference, so that each worker reads what it needs; the file must be where all of them see it.

    Parameters
    ----------
    opens : gives the whole array
    fill : what stands for missing values, None = nothing
    masked : whether values are masked where they are missing, rather than numbers with NaN there
    text : whether the values are bytes of text
    """

    def __init__(self, opens: Callable[[], Any], fill: Any = None, masked: bool = False, text: bool = False) -> None:
        self.opens, self.fill, self.masked, self.text = opens, fill, masked, text
        source = opens()
        self.dtype: Any = np.dtype(source.dtype if fill is None or masked else float)
        self.first, self.last = 0, int(source.shape[0])
        self._rest = tuple(source.shape[1:])
        chunks = getattr(source, "chunks", None)
        self.chunk = int(chunks[0]) if chunks else 1

    @property
    def shape(self) -> tuple[int, ...]:
        return (len(self), *self._rest)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        return self.size * int(self.dtype.itemsize)

    def __len__(self) -> int:
        return self.last - self.first

    def __getitem__(self, key: slice) -> "Stored":
        first, last, step = key.indices(len(self))
        if step != 1:
            raise ValueError(f"The rows of a stored array are asked for in steps of {step}; only runs can be: use 1.")
        part = copy(self)
        part.first, part.last = self.first + first, self.first + max(last, first)
        return part

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.asarray(self.read(), dtype)

    def read(self) -> NDArray[Any]:
        """The rows in memory, masked where cells are missing."""
        values: NDArray[Any] = np.asarray(self.opens()[self.first : self.last])
        if self.fill is None:
            return values
        missing = values == self.fill
        return np.ma.masked_array(values, missing) if self.masked else np.where(missing, np.nan, values)


def stored(values: Any) -> Any:
    """Values as something that is sliced without being read: a Stored or a Dask array; None if they are in memory."""
    module = type(values).__module__.split(".")[0]
    if isinstance(values, Stored) or module == "dask":
        return values
    if module == "xarray":
        return stored(values.variable._data) if values.chunks is not None else None
    if module == "h5py":
        path = Path(values.file.filename).resolve()
        # Others, such as those in memory, cannot be opened again.
        return Stored(partial(_open_hdf5, str(path), values.name)) if path.is_file() else None
    if module == "zarr" and hasattr(values, "chunks"):
        return Stored(partial(_itself, values))
    if isinstance(values, np.memmap):
        return _mapped(values)
    return None


def is_stored(values: Any) -> bool:
    """Whether values are better read slice by slice."""
    array = stored(values)
    return array is not None and (not isinstance(values, np.memmap) or values.nbytes > LARGE)


def _mapped(values: np.memmap[Any, Any]) -> Stored | None:
    root: Any = values
    while isinstance(root.base, np.memmap):
        root = root.base
    # Changes to a map in mode "c" are not in the file.
    if values.filename is None or not values.flags.c_contiguous or values.mode == "c":
        return None
    # The offset of a part of a map is that of the map itself.
    begin = values.__array_interface__["data"][0] - root.__array_interface__["data"][0]
    where = str(Path(values.filename).resolve()), values.dtype, "r", root.offset + begin, values.shape
    return Stored(partial(np.memmap, *where))


def _open_hdf5(path: str, name: str) -> Any:
    import h5py

    return h5py.File(path, "r")[name]


def _itself(array: Any) -> Any:
    return array


def text(path: str | os.PathLike[str]) -> Stored:
    """The bytes of a text file, as characters; all white space is read as line ends, a character for each."""
    return Stored(partial(np.memmap, str(Path(path).resolve()), np.uint8, "r"), text=True)


def load(values: Any) -> Any:
    """What is stored, in memory; anything else as it is."""
    if isinstance(values, Stored):
        array = values.read()
        return array.tobytes().translate(LINES) if values.text else array
    return np.asarray(values) if type(values).__module__.split(".")[0] == "dask" else values


def cuts(values: Any, begin: int, end: int, rows: int) -> list[tuple[int, int]]:
    """Cut begin..end into ranges of about `rows` rows, at the borders of the array's own chunks where these are
    small enough."""
    own = np.cumsum([0, *values.chunks[0]]) if hasattr(values, "dask") else None
    step, first = getattr(values, "chunk", 1), getattr(values, "first", 0)
    step = step if step <= rows else 1
    edges = [begin]
    while edges[-1] < end:
        most = edges[-1] + rows // step * step
        stop = (first + most) // step * step - first if own is None else int(own[own <= most][-1])
        edges.append(min(stop if stop > edges[-1] else most, end))
    return list(pairwise(edges))


def has_missing(values: Any) -> bool:
    """Whether cells of an array are masked, or could be where it is stored."""
    return values.masked if isinstance(values, Stored) else bool(np.ma.is_masked(values))


def first_rows(values: Any, places: int, least: int) -> Any:
    """So many of the first rows of an array, in memory, that they have about `places` values, and `least` rows."""
    row = max(int(values.size) // max(len(values), 1), 1)
    return load(values[: max(places // row, least)])


def extremes(arrays: Iterable[Any]) -> tuple[float, float, int]:
    """The smallest and the largest number of arrays, and how many are missing; those on disk are read in slices."""
    low, high, missing = np.inf, -np.inf, 0
    for array in arrays:
        row = max(int(array.size) // max(len(array), 1), 1)
        for a, b in cuts(array, 0, len(array), max(AT_ONCE // row, 1)):
            values = np.asarray(array[a:b])
            known = values[np.isfinite(values)]
            if known.size:
                low, high = min(low, known.min()), max(high, known.max())
            missing += values.size - known.size
    return float(low), float(high), missing
