"""Fields of netCDF files and zarr stores, through xarray."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "MAGIC",
    "dimension_names",
    "first_line",
    "is_store",
    "opened_store",
    "pick",
    "read_dataset",
    "refuse_names",
    "require",
    "time_axis",
]

# How classic and new netCDF files begin.
MAGIC = (b"CDF", b"\x89HDF")
# Files of which a zarr store has one at least.
MARKS = {"zarr.json", ".zgroup", ".zarray", ".zmetadata"}
TIMES = ("time", "t")


def is_store(path: str) -> bool:
    """Whether a path is a zarr store: a folder, or the zip file of one."""
    from zipfile import BadZipFile, ZipFile

    if Path(path).is_dir():
        return Path(path).suffix == ".zarr" or not MARKS.isdisjoint(os.listdir(path))
    if path == "-" or not path.lower().endswith(".zip"):
        return False
    try:
        with ZipFile(path) as archive:
            return not MARKS.isdisjoint(archive.namelist())
    except (BadZipFile, OSError):
        return False


def read_dataset(path: str, variable: str | None, axes: int = 2) -> tuple[NDArray[Any], Any]:
    """A variable with time first, and where it is missing, or None; what is missing from a series is NaN."""
    import numpy as np

    store = is_store(path)
    require(path, store)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            chosen, names = _chosen(path, variable, store, axes)
    except Exception as error:  # whatever a damaged file makes of the reader
        raise ValueError(f"The file {path!r} cannot be read by xarray ({first_line(error)}): check it.") from None
    if chosen is None:
        raise refuse_names(path, names, axes)
    values: Any = np.moveaxis(chosen.values, time_axis(chosen.dims), 0)
    if axes > 1 and values.dtype.kind == "f" and np.dtype(chosen.encoding.get("dtype", float)).kind in "iu":
        missing = np.isnan(values)
        return np.where(missing, 0, values).astype(np.int64), missing if missing.any() else None
    return values, None


def refuse_names(path: str, names: list[str], axes: int) -> ValueError:
    """What to say where no variable, or not the right one, was chosen."""
    listed = ", ".join(map(repr, names)) or f"none with {'two dimensions' if axes > 1 else 'one dimension'}"
    return ValueError(f"The file {path!r} has the variables {listed}: choose one with --variable.")


def time_axis(names: Iterable[Any]) -> int:
    """Where time is: by its name, or first."""
    return next((place for place, name in enumerate(names) if str(name).lower() in TIMES), 0)


def dimension_names(array: Any) -> list[str] | None:
    """The names of the dimensions of a zarr or HDF5 array, or None."""
    if hasattr(array, "dims"):
        scales = [(axis.label, *(scale.name for scale in axis.values())) for axis in array.dims]
        return [next((name.rsplit("/", 1)[-1] for name in names if name), "") for names in scales]
    found = getattr(array.metadata, "dimension_names", None) or array.attrs.get("_ARRAY_DIMENSIONS")
    return None if not found else list(map(str, found))


def require(path: str, store: bool) -> None:
    """Refuse what nothing installed could read."""
    if path == "-":
        raise ValueError("The standard input is netCDF, which must be read from a file: give its path instead of '-'.")
    needed = ["xarray", "zarr"] if store else ["xarray"]
    if not store and _begin(path) not in (b"CDF\x01", b"CDF\x02") and find_spec("h5netcdf") is None:
        needed.append("netCDF4")
    missing = [name for name in needed if find_spec(name) is None]
    if missing:
        others = "".join(f" {name}" for name in missing if name != "xarray")
        raise ImportError(
            f"To read {path!r} {' and '.join(missing)} must be installed: pip install 'decisional[xarray]'{others}."
        )


def _begin(path: str) -> bytes:
    with Path(path).open("rb") as file:
        return file.read(4)


def _chosen(path: str, variable: str | None, store: bool, axes: int) -> tuple[Any, list[str]]:
    """The variable, or None with the names that there are."""
    import xarray

    if store:
        arrays = _unnamed(path)
        if arrays is not None:
            return pick(arrays, variable, axes)
    source = opened_store(path) if store else path
    with xarray.open_dataset(source, engine="zarr" if store else None) as data:
        found, names = pick({str(name): values for name, values in data.data_vars.items()}, variable, axes)
        return None if found is None else found.load(), names


def pick(arrays: dict[str, Any], variable: str | None, axes: int) -> tuple[Any, list[str]]:
    """The variable, by default the only one with so many axes, or None; and the names of those that have them."""
    names = [name for name, values in arrays.items() if (values.ndim >= axes if axes > 1 else values.ndim == 1)]
    if variable is None and len(names) == 1:
        variable = names[0]
    return arrays.get(variable or ""), names


def opened_store(path: str) -> Any:
    """What zarr opens: a folder, or a zip file."""
    import zarr

    return path if Path(path).is_dir() else zarr.storage.ZipStore(path, mode="r")


def _unnamed(path: str) -> dict[str, Any] | None:
    """The arrays of a store whose dimensions have no names, which xarray refuses; None where they have."""
    import xarray
    import zarr

    found: Any = zarr.open(opened_store(path), mode="r")
    arrays = {"array": found} if hasattr(found, "shape") else dict(found.arrays())
    if "array" not in arrays and any(dimension_names(values) for values in arrays.values()):
        return None
    return {name: xarray.DataArray(values[...]) for name, values in arrays.items()}


def first_line(error: Exception) -> str:
    """The beginning of a message, without its full stop."""
    return (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(".")
