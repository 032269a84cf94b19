"""Arrays of HDF5 and netCDF files and of zarr stores: read, or left in their files until a slice is needed."""

import os
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..support.arguments import package
from ..support.files import is_channel, read_bytes
from .stores import LARGE, Stored, stored

# How classic and new netCDF files begin.
MAGIC = (b"CDF", b"\x89HDF")
# Files of which a zarr store has one at least.
MARKS = {"zarr.json", ".zgroup", ".zarray", ".zmetadata"}
TIMES = ("time", "t")
# How values are stored as smaller numbers, and what is meant where that is not said.
SCALED = {"scale_factor": 1, "add_offset": 0}


@contextmanager
def reading(path: str, otherwise: str, remedy: str) -> Iterator[None]:
    """Whatever a damaged file makes of its reader is told in one sentence."""
    try:
        yield
    except Exception as error:
        reason = (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(".")
        raise ValueError(f"The file {path!r} {otherwise} ({reason}): {remedy}.") from None


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


def open_store(path: str, variable: str | None, axes: int | None, sliced: bool) -> Any:
    """An array of a zarr store: in the store where it is large or `sliced`, and can be; otherwise in memory."""
    _require(path, store=True)
    with reading(path, "cannot be read by zarr", "check it"):
        chosen, _ = _pick(_zarr_arrays(path), variable, axes)
    if chosen is not None:
        source, names, attributes = stored(chosen), _zarr_dimensions(chosen), dict(chosen.attrs)
        if _stays(source, names, attributes, sliced):
            of_array = names and chosen.metadata.zarr_format == 2
            return _decoded(source, chosen.fill_value if of_array else _fill(attributes), axes)
    return read_dataset(path, variable, axes)


def open_hdf5(path: str, variable: str | None, axes: int | None, sliced: bool) -> Any:
    """An array of an HDF5 file, which netCDF4 files are, too: in the file where it is large or `sliced`, and can be."""
    h5py = package("h5py", f"To read {path!r} h5py must be installed", "scale")
    arrays: dict[str, Any] = {}

    def note(name: str, item: Any) -> None:
        if isinstance(item, h5py.Dataset):
            arrays[name] = item

    with reading(path, "cannot be read by h5py", "check it"):
        h5py.File(path, "r").visititems(note)
    chosen, listed = _pick(arrays, None if variable is None else variable.strip("/"), axes)
    if chosen is None:
        raise _refusal(path, listed, axes)
    names, attributes = _hdf5_dimensions(chosen), dict(chosen.attrs)
    source = _decoded(stored(chosen), _fill(attributes), axes)
    if _stays(stored(chosen), names, attributes, sliced):
        return source
    values = source.read()
    if not SCALED.keys().isdisjoint(attributes):
        scale, offset = (np.ravel(attributes.get(name, default))[0] for name, default in SCALED.items())
        values = values * scale + offset
    return np.moveaxis(values, _time_axis(names), 0)


def _stays(source: Stored, names: Iterable[str], attributes: Mapping[str, Any], sliced: bool) -> bool:
    """Whether an array stays where it is: that is asked for or it is large, and slices of its first axis will do."""
    return (sliced or source.nbytes > LARGE) and not _time_axis(names) and SCALED.keys().isdisjoint(attributes)


def _fill(attributes: Mapping[str, Any]) -> Any:
    fill = attributes.get("_FillValue", attributes.get("missing_value"))
    return None if fill is None else np.ravel(fill)[0]


def _decoded(source: Stored, fill: Any, axes: int | None) -> Stored:
    """An array without its fill value: NaN stands for it in numbers and in a series, other cells are masked."""
    if fill is None or fill != fill:
        return source
    return Stored(source.opens, fill, masked=axes != 1 and source.dtype.kind != "f")


def read_dataset(path: str, variable: str | None, axes: int | None) -> NDArray[Any]:
    """A variable, through xarray, with time first; cells that are missing are masked, numbers of a series NaN."""
    store = is_store(path)
    _require(path, store)
    with reading(path, "cannot be read by xarray", "check it"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        chosen, names = _chosen(path, variable, store, axes)
    if chosen is None:
        raise _refusal(path, names, axes)
    values: NDArray[Any] = np.moveaxis(chosen.values, _time_axis(chosen.dims), 0)
    if axes != 1 and values.dtype.kind == "f" and np.dtype(chosen.encoding.get("dtype", float)).kind in "iu":
        missing = np.isnan(values)
        values = np.where(missing, 0, values).astype(np.int64)
        return np.ma.masked_array(values, missing) if missing.any() else values
    return values


def _refusal(path: str, names: list[str], axes: int | None) -> ValueError:
    """What to say where no variable, or not the right one, was chosen."""
    listed = ", ".join(map(repr, names)) or f"none with {'one dimension' if axes == 1 else 'two dimensions'}"
    return ValueError(f"The file {path!r} has the variables {listed}: choose one with 'variable'.")


def _pick(arrays: Mapping[str, Any], variable: str | None, axes: int | None) -> tuple[Any, list[str]]:
    """The variable, by default the only one with one axis, two at least, or any; and the names of all of these."""
    least, most = (1, 1) if axes == 1 else (axes or 1, 99)
    names = [name for name, values in arrays.items() if least <= values.ndim <= most]
    if variable is None and len(names) == 1:
        variable = names[0]
    return arrays.get(variable or ""), names


def _time_axis(names: Iterable[Any]) -> int:
    """Where time is: by its name, or first."""
    return next((place for place, name in enumerate(names) if str(name).lower() in TIMES), 0)


def _hdf5_dimensions(array: Any) -> list[str]:
    scales = [(axis.label, *(scale.name for scale in axis.values())) for axis in array.dims]
    return [next((name.rsplit("/", 1)[-1] for name in names if name), "") for names in scales]


def _zarr_dimensions(array: Any) -> list[str]:
    """The names of the dimensions of a zarr array, if any: in its metadata, or among its attributes in version 2."""
    given = array.metadata.dimension_names if array.metadata.zarr_format == 3 else None
    return list(map(str, given or array.attrs.get("_ARRAY_DIMENSIONS") or ()))


def _require(path: str, store: bool) -> None:
    """Refuse what nothing installed could read."""
    if path == "-":
        raise ValueError("The standard input is netCDF, which must be read from a file: give its path instead of '-'.")
    needed = ["xarray", "zarr"] if store else ["xarray"]
    if not store and first_bytes(path)[:4] not in (b"CDF\x01", b"CDF\x02") and find_spec("h5netcdf") is None:
        needed.append("netCDF4")
    missing = [name for name in needed if find_spec(name) is None]
    if missing:
        others = "".join(f" {name}" for name in missing if name != "xarray")
        raise ImportError(
            f"To read {path!r} {' and '.join(missing)} must be installed: pip install 'decisional[xarray]'{others}."
        )


def first_bytes(path: str) -> bytes:
    """How a file begins, which tells its kind."""
    if is_channel(path):
        return read_bytes(path)[:8]
    with Path(path).open("rb") as file:
        return file.read(8)


def _chosen(path: str, variable: str | None, store: bool, axes: int | None) -> tuple[Any, list[str]]:
    """The variable, or None with the names that there are."""
    import xarray

    if store:
        arrays = _zarr_arrays(path)
        # Dimensions without names are refused by xarray.
        if "array" in arrays or not any(map(_zarr_dimensions, arrays.values())):
            return _pick({name: xarray.DataArray(values[...]) for name, values in arrays.items()}, variable, axes)
    source = _opened_store(path) if store else path
    with xarray.open_dataset(source, engine="zarr" if store else None) as data:
        found, names = _pick({str(name): values for name, values in data.data_vars.items()}, variable, axes)
        return None if found is None else found.load(), names


def _zarr_arrays(path: str) -> dict[str, Any]:
    """The arrays of a store by name; a store that is one array has it under "array"."""
    import zarr

    found: Any = zarr.open(_opened_store(path), mode="r")
    return {"array": found} if isinstance(found, zarr.Array) else dict(found.arrays())


def _opened_store(path: str) -> Any:
    """What zarr opens: a folder, or a zip file."""
    import zarr

    return path if Path(path).is_dir() else zarr.storage.ZipStore(path, mode="r")
