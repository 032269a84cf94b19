"""The reader: any file as data that `decisional.observe` takes."""

import os
import warnings
from collections.abc import Iterable, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ..support import arguments
from ..support.files import channels_kept, checked_path, file_name, is_channel, read_bytes
from ..support.progress import tell
from .datasets import MAGIC, first_bytes, is_store, open_hdf5, open_store, read_dataset, reading
from .pixels import PICTURES, is_film_folder, quantised, read_film, read_pixels
from .stores import LARGE, stored
from .tables import Columns, looks_like_table, read_rows, read_table, series_of
from .text import map_symbols, read_symbols

KINDS = ".npy, .npz, .nc, .h5, .zarr, .pbm, .pgm, .png, .jpg, .tif, .gif or a film"
NPY, ZIP, HDF5 = b"\x93NUMPY", b"PK", b"\x89HDF"
ARRAYS = (NPY, ZIP + b"\x03\x04", *MAGIC)
# How many axes an array of each kind of data has; a field has two at least.
AXES = {"symbols": 1, "signal": 1, "field": 2, "table": None, None: None}


def read(
    path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    kind: str | None = None,
    *,
    column: int | str | None = None,
    by: Columns | None = None,
    time: int | str | None = None,
    step: Any = None,
    missing: str | Iterable[str] = (),
    delimiter: str | None = None,
    decimal: str = ".",
    header: bool | None = None,
    levels: int | None = None,
    variable: str | None = None,
    key: str | None = None,
    sliced: bool = False,
    named: bool = False,
    whole: bool = False,
) -> Any:
    """Read a file: text, tables, arrays (.npy, .npz), pictures and films, HDF5, netCDF and zarr.

    Parameters
    ----------
    path : str or path
        The file, or the folder of a zarr store; ``"file.h5:/name"`` is one of its arrays, ``"-"`` standard input. Text
        may be compressed. A folder of pictures, or a list of their paths, is a film. Colours become their luminance.
    kind : {"symbols", "signal", "field", "table"}, optional
        What the data are. Symbols are text, where each line is a series of characters, or of words if it has spaces
        or commas; a column of a table; or integers along one axis. A signal is a column of numbers of a table, or
        numbers along one axis; a field, or image, has two axes at least; a table is a list of rows of text. By default
        text is symbols, a column is of numbers if it has nothing else, and arrays are as they are.
    column : int or str, optional
        Of a table (.csv, .tsv, .parquet or any text), by name or by number from 0; by default the only one.
    by : int, str or list of these, optional
        Columns of a table that tell the series each row belongs to: a user, a machine, a day.
    time : int or str, optional
        Column of a table that has times, dates or numbers, by which the rows are put in order.
    step : str or float, optional
        Time between two rows, such as ``"1h"``: longer jumps (1.5 steps) are gaps, where a series ends and another
        begins. By default the usual step, where most are alike.
    missing : str or list of str, optional
        Cells of a table where a value is missing, besides empty ones.
    delimiter : str, optional
        What is between the cells of a table; by default a tab, semicolon, bar or comma that is in every row, or white
        space.
    decimal : str, default="."
        The mark in the numbers of a table.
    header : bool, optional
        Whether the first row of a table has the names of its columns; by default, if nothing in it looks like data.
    levels : int, optional
        Number the grey levels of pictures from 0 to levels - 1, in equal ranges, as light cones need.
    variable : str, optional
        Which array of an HDF5, netCDF or zarr file; by default the only one of its kind.
    key : str, optional
        Which array of an ``.npz`` archive; by default the first.
    sliced : bool, default=False
        Leave the data in the file where that is possible, to be read slice by slice. Arrays of more than 256 MB
        always are.
    named : bool, default=False
        Also return the name of the column or of the variable.
    whole : bool, default=False
        Whether the lines of text are whole strings, of which an empty line is one too; otherwise it is none.

    Returns
    -------
    list of str, or list of lists of str
        For text of symbols, one item for each series; `decisional.observe.series` takes the list with
        ``sequences=True``. If sliced, a `MappedText`, whose ``parts`` and ``missing`` it takes.
    pandas.Series, or list of them
        For a column of a table, with the times, or the numbers of the rows, as index; several where `by`, gaps in time
        or empty lines tell several series. All functions of `decisional.observe` take them.
    array
        For all else: (n,) of a series, (time, space, ...) of a field, (height, width) of a picture. What is missing
        is NaN in a series and in floats, and masked in other arrays; a dimension called time or t comes first. Or what
        is sliced without being read, which the functions of `decisional.observe` take as well.
    tuple of these and a str
        If named.

    Warns
    -----
    UserWarning
        Where times go back, repeat, jump or are irregular, and where it is doubtful that the first row has names.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import decisional as ds
    >>> folder = tempfile.TemporaryDirectory()
    >>> file = pathlib.Path(folder.name, "even.txt")
    >>> _ = file.write_text("# two series\\n0110\\n10111\\n")
    >>> ds.read(file)
    ['0110', '10111']
    >>> _ = file.write_text("up, down, up\\n")
    >>> ds.read(file)
    [['up', 'down', 'up']]
    >>> table = pathlib.Path(folder.name, "weather.csv")
    >>> _ = table.write_text("day,sky,rain\\n2024-01-01,wet,0.5\\n2024-01-02,dry,\\n")
    >>> ds.read(table, column="sky").tolist(), ds.read(table, column="rain").tolist()
    (['wet', 'dry'], [0.5, nan])
    >>> folder.cleanup()
    """
    arguments.choice(kind, "kind", AXES)
    sliced, named = arguments.flag(sliced, "sliced"), arguments.flag(named, "named")
    whole = arguments.flag(whole, "whole")
    several: Sequence[Any] | None = path if isinstance(path, (list, tuple)) else None
    name = "" if several is not None else checked_path(cast(str, path))
    tell(f"reading {name or f'{len(cast(Sequence[Any], several))} files'}")
    if several is not None or is_film_folder(name):
        film = read_film([name] if several is None else several)
        film = film if levels is None else quantised(film, levels)
        return (film, "value") if named else film
    _check_options(column, time, decimal, header, variable, key)
    parts = {"column": column, "by": by, "time": time, "step": step, "delimiter": delimiter, "header": header}
    if not isinstance(missing, str) and not (
        isinstance(missing, (list, tuple, set, frozenset)) and all(isinstance(mark, str) for mark in missing)
    ):
        raise TypeError(arguments.refusal("missing", missing, "a string, or a list of strings", "try missing='NA'"))
    if by is not None and not isinstance(by, (int, str, list, tuple)):
        raise TypeError(arguments.refusal("by", by, "a column, or a list of columns", "name one, or give its number"))
    how = {**parts, "missing": missing or None, "decimal": None if decimal == "." else decimal}
    with channels_kept():
        if kind == "table":
            for option, value in {**how, "delimiter": None, "levels": levels, "variable": variable, "key": key}.items():
                _refuse(option, value, "other kinds than 'table'", name)
            return (read_rows(name, delimiter), "") if named else read_rows(name, delimiter)
        picture = kind is None and Path(name).suffix.lower() in PICTURES
        if kind == "field" or picture or is_array(name):
            for option, value in how.items():
                _refuse(option, value, "tables" if kind == "signal" else "text", name)
            array = _array(name, variable, key, AXES[kind], sliced)
            found: tuple[Any, str] = (
                array if levels is None else quantised(np.asarray(array), levels),
                variable or "value",
            )
            return found if named else found[0]
        _refuse("levels", levels, "pictures", name)
        _refuse("variable", variable, "netCDF, HDF5 and zarr", name)
        _refuse("key", key, ".npz archives", name)
        if kind == "signal" or any(value is not None for value in how.values()) or looks_like_table(name):
            columns = (column, *([by] if isinstance(by, (int, str)) else by or ()), time)
            table = read_table(name, delimiter, header, columns, decimal)
            series = series_of(table, column, kind, by, time, step, missing, decimal)
            found = series[0] if len(series) == 1 else series, str(series[0].name)
        else:
            found = (map_symbols(name) if sliced and not whole else None) or read_symbols(name, whole), ""
        return found if named else found[0]


def _check_options(column: Any, time: Any, decimal: Any, header: Any, variable: Any, key: Any) -> None:
    """Refuse options of other types than `read` takes; `by`, `missing`, `step` and `delimiter` are looked at in use."""
    for name, value in (("column", column), ("time", time)):
        if value is not None and not isinstance(value, str) and not arguments.is_integer(value):
            rule = "the name of a column, or its number from 0"
            raise TypeError(arguments.refusal(name, value, rule, "name one"))
    for name, value in (("variable", variable), ("key", key)):
        if not isinstance(value, str | None):
            raise TypeError(arguments.refusal(name, value, "the name of an array, or None", "name one"))
    if not isinstance(decimal, str) or len(decimal) != 1:
        raise ValueError(arguments.refusal("decimal", decimal, "one character", "try decimal=','"))
    if header is not None:
        arguments.flag(header, "header")


def is_array(path: str) -> bool:
    """Whether a path leads to an array rather than to text or a picture."""
    file, name = _split(path)
    if name is not None or is_store(file):
        return True
    return (Path(file).is_file() or is_channel(file)) and first_bytes(file).startswith(ARRAYS)


def _refuse(name: str, value: Any, what: str, path: str) -> None:
    if value is not None:
        raise ValueError(f"The {name!r} is for {what} and {path!r} is none: leave it out.")


def _split(path: str) -> tuple[str, str | None]:
    """The file and the name of an array in it, of FILE:/NAME."""
    file, mark, name = path.rpartition(":/")
    return (file, name.strip("/")) if mark and Path(file).exists() and not Path(path).exists() else (path, None)


def _array(path: str, variable: str | None, key: str | None, axes: int | None, sliced: bool) -> Any:
    """An array with time first, in memory or left in its file."""
    file, name = _split(path)
    if name is not None and variable is not None:
        raise ValueError(f"The array of {path!r} is named twice, and by 'variable' {variable!r}: leave one out.")
    variable = variable if name is None else name
    if is_store(file):
        return open_store(file, variable, axes, sliced)
    if Path(file).is_dir():
        raise ValueError(f"The path {path!r} is a folder and no zarr store: give the path of a field, {KINDS}.")
    data = read_bytes(file) if is_channel(file) or not os.access(file, os.R_OK) else None
    begin = data[:8] if data is not None else first_bytes(file)
    if not begin:
        raise ValueError(f"The file {path!r} is empty: give one with data.")
    large = data is None and (sliced or Path(file).stat().st_size > LARGE)
    if data is not None and begin.startswith(MAGIC):
        raise ValueError(f"The {file_name(file)} has netCDF or HDF5, which cannot be read from a pipe: save it first.")
    if begin.startswith(HDF5) and (large or name is not None or file.lower().endswith((".h5", ".hdf5"))):
        return open_hdf5(file, variable, axes, sliced)
    if begin.startswith(MAGIC):
        return read_dataset(file, variable, axes)
    _refuse("variable", variable, "netCDF, HDF5 and zarr", file)
    if not begin.startswith(ZIP):
        _refuse("key", key, ".npz archives", path)
    if begin.startswith(NPY) and large:
        array = _load(path, path, "r")
        found = stored(array)
        return array if found is None else found
    data = read_bytes(path) if data is None else data
    if begin.startswith(NPY):
        return _load(path, BytesIO(data))
    if begin.startswith(ZIP):
        return _archive(path, data, key)
    pixels = read_pixels(path, data)
    if pixels is None:
        raise ValueError(f"The file {path!r} is of no kind that is known: give {KINDS}.")
    return pixels


def _load(path: str, source: Any, mode: Any = None) -> NDArray[Any]:
    """The array of an .npy file, as a memory map if a mode is given."""
    with reading(path, "is no complete array of numbers", "save it again"), warnings.catch_warnings():
        # Names of types that nobody writes any more.
        warnings.simplefilter("ignore", DeprecationWarning)
        array: NDArray[Any] = np.load(source, mmap_mode=mode, allow_pickle=False)
    return array


def _archive(path: str, data: bytes, key: str | None) -> NDArray[Any]:
    broken = reading(path, "is no complete .npz archive", "save it again")
    with broken, np.load(BytesIO(data), allow_pickle=False) as archive:
        names = list(archive.files)
        wanted = key if key is not None or not names else names[0]
        found: Any = archive[wanted] if wanted in names else None
    if found is None:
        has = f"has {', '.join(map(repr, names))}" if names else "has no array"
        raise ValueError(f"The archive {path!r} {has}, and {key or 'the first'!r} is asked for: choose another 'key'.")
    if not isinstance(found, np.ndarray):
        raise ValueError(f"The archive {path!r} holds {names[0]!r}, which is no array: give an .npz file.")
    return found
