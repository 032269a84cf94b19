"""Arrays that stay in their files until a slice of them is needed: .npy, zarr, HDF5 and netCDF4."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from .datasets import dimension_names, first_line, is_store, opened_store, pick, refuse_names, time_axis

__all__ = ["Decoded", "is_array", "map_npy", "open_hdf5", "open_store", "split_name"]

ARRAYS = (b"\x93NUMPY", b"PK\x03\x04", b"CDF", b"\x89HDF")
# How values are stored as smaller numbers, and what is meant where that is not said.
SCALED = {"scale_factor": 1, "add_offset": 0}


@dataclass(frozen=True)
class Decoded:
    """An array in which a fill value stands for missing ones.

    Parameters
    ----------
    source : what is read
    fill : the fill value
    missing : whether to give where values are missing, rather than the values themselves, with NaN there
    """

    source: Any
    fill: Any
    missing: bool

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.source.shape)

    @property
    def chunks(self) -> Any:
        return self.source.chunks

    @property
    def dtype(self) -> Any:
        return bool if self.missing else float

    def __getattr__(self, name: str) -> Any:
        # Where it is stored.
        if name not in ("file", "name", "store", "path"):
            raise AttributeError(name)
        return getattr(self.source, name)

    def __getitem__(self, key: Any) -> Any:
        import numpy as np

        values = np.asarray(self.source[key])
        return values == self.fill if self.missing else np.where(values == self.fill, np.nan, values)


def _decoded(opens: Callable[[], Any], fill: Any, missing: bool) -> Decoded:
    return Decoded(opens(), fill, missing)


def split_name(path: str) -> tuple[str, str | None]:
    """The file and the name of an array in it, of FILE:/NAME."""
    file, mark, name = path.rpartition(":/")
    return (file, name.strip("/")) if mark and Path(file).exists() and not Path(path).exists() else (path, None)


def is_array(path: str) -> bool:
    """Whether a path leads to an array rather than to text."""
    file, name = split_name(path)
    if name is not None or is_store(file):
        return True
    if not Path(file).is_file():
        return False
    with Path(file).open("rb") as content:
        return content.read(8).startswith(ARRAYS)


def map_npy(path: str) -> Any:
    """An .npy file as a memory map."""
    import numpy as np

    from ..data.stores import stored

    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except Exception as error:  # whatever a damaged file makes of the reader
        raise ValueError(f"The file {path!r} is no complete array of numbers ({error}): save it again.") from None
    found = stored(array)
    return array if found is None else found


def open_store(path: str, variable: str | None, axes: int, sliced: bool) -> tuple[Any, Any] | None:
    """An array of a zarr store that is not read yet, and where it is missing; None: better read at once."""
    import zarr

    from ..data.stores import stored

    try:
        found: Any = zarr.open(opened_store(path), mode="r")
        arrays = {"array": found} if hasattr(found, "shape") else dict(found.arrays())
        chosen, _ = pick(arrays, variable, axes)
    except Exception as error:  # whatever a damaged store makes of the reader
        raise ValueError(f"The file {path!r} cannot be read by zarr ({first_line(error)}): check it.") from None
    if chosen is None:
        return None
    names = dimension_names(chosen)
    attributes = dict(chosen.attrs)
    fill = attributes.get("_FillValue", attributes.get("missing_value"))
    if names is not None and getattr(chosen.metadata, "zarr_format", 3) == 2:
        fill = chosen.fill_value
    return _lazy(stored(chosen), partial(_same, chosen), names, attributes, fill, axes, sliced)


def _same(array: Any) -> Any:
    return array


def open_hdf5(path: str, variable: str | None, axes: int, sliced: bool) -> tuple[Any, Any]:
    """An array of an HDF5 file, which netCDF4 files are, too, and where it is missing; read if it is small."""
    try:
        import h5py
    except ImportError:
        raise ImportError(f"To read {path!r} h5py must be installed: pip install 'decisional[scale]'.") from None
    import numpy as np

    from ..data.stores import stored

    arrays: dict[str, Any] = {}

    def note(name: str, item: Any) -> None:
        if isinstance(item, h5py.Dataset):
            arrays[name] = item

    try:
        file = h5py.File(path, "r")
        file.visititems(note)
    except Exception as error:  # whatever a damaged file makes of the reader
        raise ValueError(f"The file {path!r} cannot be read by h5py ({first_line(error)}): check it.") from None
    chosen, names = pick(arrays, None if variable is None else variable.strip("/"), axes)
    if chosen is None:
        raise refuse_names(path, names, axes)
    attributes = dict(chosen.attrs)
    fill = attributes.get("_FillValue", attributes.get("missing_value"))
    fill = None if fill is None else np.ravel(fill)[0]
    source = stored(chosen)
    found = _lazy(source, source._open, dimension_names(chosen), attributes, fill, axes, sliced)
    if found is None:
        values, mask = _parts(source, source._open, fill, axes)
        time = time_axis(dimension_names(chosen) or ())
        scale, offset = (np.ravel(attributes.get(name, default))[0] for name, default in SCALED.items())
        values = np.asarray(values) if SCALED.keys().isdisjoint(attributes) else np.asarray(values) * scale + offset
        return np.moveaxis(values, time, 0), None if mask is None else np.moveaxis(np.asarray(mask), time, 0)
    return found


def _lazy(
    source: Any, opens: Callable[[], Any], names: Any, attributes: Any, fill: Any, axes: int, sliced: bool
) -> tuple[Any, Any] | None:
    """The array and its mask in slices of the first axis, where that is possible and asked for, or the array large."""
    from ..data.stores import LARGE

    small = not sliced and source.nbytes <= LARGE
    if small or time_axis(names or ()) or not SCALED.keys().isdisjoint(attributes):
        return None
    return _parts(source, opens, fill, axes)


def _parts(source: Any, opens: Callable[[], Any], fill: Any, axes: int) -> tuple[Any, Any]:
    """Values and mask of what has a fill value: a series has NaN in its place."""
    from ..data.stores import Stored

    if fill is None or fill != fill:
        return source, None
    if axes == 1 or source.dtype.kind == "f":
        return Stored(partial(_decoded, opens, fill, False)), None
    return source, Stored(partial(_decoded, opens, fill, True))
