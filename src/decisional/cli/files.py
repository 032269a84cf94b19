"""Fields, images and columns of numbers from files."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .arrays import map_npy, open_hdf5, open_store, split_name
from .datasets import MAGIC, is_store, read_dataset, require
from .parser import finite

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["read_column", "read_field", "rows_of"]

KINDS = ".npy, .npz, .nc, .h5, .zarr, .pbm, .pgm or .png"
# Arrays of more bytes stay in their files.
LARGE = 1 << 28
MISSING = {"", "na", "n/a", "nan", "null", "none", "?"}
NETPBM = (b"P1", b"P2", b"P4", b"P5")
COLOUR = (b"P3", b"P6")
PNG = b"\x89PNG"


def read_field(
    path: str, key: str | None, variable: str | None, sliced: bool = False, axes: int = 2
) -> tuple[Any, Any]:
    """Read an array with time first and where cells are missing, or None; `sliced`, or large: leave it in the file."""
    file, name = split_name(path)
    if name is not None and variable is not None:
        raise ValueError(f"The array of {path!r} is named twice, and by --variable {variable!r}: leave one out.")
    variable = variable if name is None else name
    if is_store(file):
        require(file, store=True)
        return open_store(file, variable, axes, sliced) or read_dataset(file, variable, axes)
    if Path(file).is_dir():
        raise ValueError(f"The path {path!r} is a folder and no zarr store: give the path of a field, {KINDS}.")
    data = _content(file) if file == "-" else None
    begin = data[:8] if data is not None else _begin(file)
    large = file != "-" and (sliced or Path(file).stat().st_size > LARGE)
    if begin.startswith(b"\x89HDF") and (large or name is not None or file.lower().endswith((".h5", ".hdf5"))):
        return open_hdf5(file, variable, axes, sliced)
    if begin.startswith(MAGIC):
        return read_dataset(file, variable, axes)
    if variable is not None:
        raise ValueError(f"The option --variable is for netCDF, HDF5 and zarr and {file!r} is none: leave it out.")
    if begin.startswith(b"\x93NUMPY") and large:
        if key is not None:
            raise _keyless(path)
        return map_npy(path), None
    return _grid(path, _content(path) if data is None else data, key), None


def _begin(path: str) -> bytes:
    """The first bytes of a file."""
    from ..support import files as io

    if not Path(path).is_file() or not os.access(path, os.R_OK):
        io.read_bytes(path)
    with Path(path).open("rb") as file:
        begin = file.read(8)
    if not begin:
        raise ValueError(f"The file {path!r} is empty: give one with data.")
    return begin


def _grid(path: str, data: bytes, key: str | None) -> NDArray[Any]:
    """An array, one of an archive, or a picture."""
    if data.startswith(b"PK"):
        return _archive(path, data, key)
    if key is not None:
        raise _keyless(path)
    return _array(path, data) if data.startswith(b"\x93NUMPY") else _pixels(path, data)


def _keyless(path: str) -> ValueError:
    return ValueError(f"The option --key is for .npz archives and {path!r} is none: leave it out.")


def _content(path: str) -> bytes:
    from ..support import files as io

    data = io.read_bytes(path)
    if not data:
        raise ValueError(f"The file {path!r} is empty: give one with data.")
    return data


def _array(path: str, data: bytes) -> NDArray[Any]:
    from io import BytesIO

    import numpy as np

    try:
        array: NDArray[Any] = np.load(BytesIO(data), allow_pickle=False)
    except Exception as error:  # whatever a damaged file makes of the reader
        raise ValueError(f"The file {path!r} is no complete array of numbers ({error}): save it again.") from None
    return array


def _archive(path: str, data: bytes, key: str | None) -> NDArray[Any]:
    from io import BytesIO

    import numpy as np

    try:
        with np.load(BytesIO(data), allow_pickle=False) as archive:
            names = list(archive.files)
            found: NDArray[Any] | None = None
            if names and (key is None or key in names):
                found = archive[names[0] if key is None else key]
    except Exception as error:  # whatever a damaged file makes of the reader
        raise ValueError(f"The file {path!r} is no complete .npz archive ({error}): save it again.") from None
    if found is not None and not isinstance(found, np.ndarray):
        raise ValueError(f"The archive {path!r} holds {names[0]!r}, which is no array: give an .npz file.")
    if found is None:
        has = f"has {', '.join(map(repr, names))}" if names else "has no array"
        raise ValueError(f"The archive {path!r} {has}, and {key or 'the first'!r} is asked for: choose another --key.")
    return found


def _pixels(path: str, data: bytes) -> NDArray[Any]:
    """Grey levels of a netpbm or PNG file; 1 = black in a bitmap."""
    if data.startswith(NETPBM):
        return _netpbm(path, data)
    if data.startswith(COLOUR):
        raise _coloured(path)
    if not data.startswith(PNG):
        raise ValueError(f"The file {path!r} is of no kind that is known: give {KINDS}.")
    return _png(path, data)


def _coloured(path: str) -> ValueError:
    return ValueError(
        f"The image {path!r} is in colour and one number per pixel is needed: make it grey first, for example with "
        f"python -c \"from PIL import Image; Image.open({path!r}).convert('L').save('grey.png')\"."
    )


def _png(path: str, data: bytes) -> NDArray[Any]:
    from io import BytesIO

    import numpy as np

    try:
        from PIL import Image
    except ImportError:
        raise ImportError(f"To read {path!r} Pillow is needed: pip install 'decisional[plot]'.") from None
    try:
        with Image.open(BytesIO(data)) as picture:
            mode = picture.mode
            pixels: NDArray[Any] = np.array(picture if mode[0] in "1LIF" else picture.convert("RGBA"))
    except Exception:  # whatever a damaged file makes of the reader
        raise ValueError(f"The file {path!r} is no complete image: save it again.") from None
    if pixels.ndim == 3 and mode == "LA":
        pixels = pixels[..., [0, 0, 0, 1]]
    if pixels.ndim == 3:
        # Programs that draw save grey pictures with all channels, too.
        if (pixels[..., :3] != pixels[..., :1]).any() or (pixels[..., 3] != 255).any():
            raise _coloured(path)
        pixels = pixels[..., 0]
    return pixels


def _netpbm(path: str, data: bytes) -> NDArray[Any]:
    import re

    import numpy as np

    bitmap, raw = data[:2] in (b"P1", b"P4"), data[:2] in (b"P4", b"P5")
    space = rb"(?:\s|#[^\n]*\n)+"
    header = re.match(rb"P\d" + (space + rb"(\d+)") * (2 if bitmap else 3) + (rb"\s" if raw else rb""), data)
    broken = ValueError(f"The file {path!r} is no complete {'PBM' if bitmap else 'PGM'} image: save it again.")
    if header is None:
        raise broken
    width, height, *levels = map(int, header.groups())
    body = data[header.end() :]
    count = width * height
    values: NDArray[Any] = np.empty(0, np.int64)
    try:
        if raw and bitmap:
            bits = np.unpackbits(np.frombuffer(body, np.uint8)[: height * -(-width // 8)].reshape(height, -1), axis=1)
            values = bits[:, :width].ravel()
        elif raw:
            kind: Any = np.dtype(np.uint8) if levels[0] < 256 else np.dtype(">u2")
            values = np.frombuffer(body[: count * kind.itemsize], kind).astype(np.int64)
        else:
            text = re.sub(rb"#[^\n]*", b" ", body)
            # The digits of a plain bitmap need no space between them.
            values = np.array(list(text.translate(None, b" \t\r\n")) if bitmap else text.split(), np.int64)
            values = values - ord("0") if bitmap else values
    except (ValueError, OverflowError):
        raise broken from None
    if values.size != count or not count or values.min() < 0 or values.max() > (1 if bitmap else levels[0]):
        raise broken
    return values.reshape(height, width).astype(np.uint8 if bitmap or levels[0] < 256 else np.int64)


def rows_of(text: str) -> list[list[str]]:
    """The cells of a table: between commas, semicolons or tabs, else between white space; without comments."""
    import csv

    lines = [line for line in text.split("\n") if line.strip() and not line.startswith("#")]
    mark = next((mark for mark in ",;\t" if lines and mark in lines[0]), None)
    if mark is None:
        return [line.split() for line in lines]
    return [[cell.strip() for cell in row] for row in csv.reader(lines, delimiter=mark)]


def read_column(path: str, column: int | str | None) -> tuple[NDArray[Any], str]:
    """A column of numbers, NaN where they are missing, and its name; by default the only numeric one."""
    import numpy as np

    from ..support import files as io

    rows = rows_of(io.read_text(path))
    if not rows:
        raise ValueError(f"The file {path!r} has no rows: give a table of numbers.")
    width = len(rows[0])
    for number, row in enumerate(rows, start=1):
        if len(row) != width:
            raise ValueError(
                f"Row {number} of {path!r} has {len(row)} columns and the first one {width}: complete the row."
            )
    first = rows[0]
    headed = all(_number(cell) is None for cell in first) and any(cell.lower() not in MISSING for cell in first)
    names = first if headed else [str(place) for place in range(width)]
    columns = list(zip(*rows[headed:], strict=True)) or [()] * width
    place = _place(path, column, names, columns)
    values = [_number(cell) for cell in columns[place]]
    for number, (cell, value) in enumerate(zip(columns[place], values, strict=True), start=1 + headed):
        if value is None:
            raise ValueError(
                f"Row {number} of {path!r} has {cell!r} in column {names[place]!r}, which is no number: correct it, "
                "leave it empty where a value is missing, or choose another --column."
            )
    array = np.array(values, float)
    if not np.isfinite(array).any():
        raise ValueError(f"The column {names[place]!r} of {path!r} has no number: choose another --column.")
    return array, names[place]


def _place(path: str, column: int | str | None, names: list[str], columns: list[tuple[str, ...]]) -> int:
    """Where a column is; by default the only one of numbers."""
    if isinstance(column, str) and column in names:
        return names.index(column)
    if isinstance(column, int) and -len(names) <= column < len(names):
        return column
    if column is not None:
        listed = ", ".join(names[:20])
        raise ValueError(f"The file {path!r} has no column {column!r}: choose one of {listed} (numbers count from 0).")
    numeric = [k for k, cells in enumerate(columns) if any(_is_number(c) for c in cells) and _all_numbers(cells)]
    if len(numeric) == 1 or len(names) == 1:
        return numeric[0] if numeric else 0
    found = ", ".join(names[k] for k in numeric) or "none"
    raise ValueError(f"The file {path!r} has {len(numeric)} columns of numbers ({found}): choose one with --column.")


def _number(cell: str) -> float | None:
    """The number in a cell, NaN = missing, None = something else."""
    if cell.lower() in MISSING:
        return float("nan")
    return finite(cell)


def _is_number(cell: str) -> bool:
    value = _number(cell)
    return value is not None and value == value


def _all_numbers(cells: tuple[str, ...]) -> bool:
    return all(_number(cell) is not None for cell in cells)
