"""Space-time fields of any integers as grids of small letter codes, padded so that cones never leave them."""

from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._kernels import cones as kernels
from .._kernels import words
from ..support import arguments
from ..support.arrays import Ints
from ..support.executors import map_slices, slices
from .geometry import LightCone, boundary_index

__all__ = ["Data", "Grid", "NoCells", "check_cells", "field_data", "make_grid", "number_letters", "slice_signatures"]

WINDOW = 64  # adjacent cells that tell patterns apart
SIGNED = (1 << 31) - 19  # letters are told apart up to multiples of this


class NoCells(ValueError):
    """No cell is known."""


@dataclass(frozen=True, eq=False)
class Data:
    """One field as it came: integers, where cells are missing (or None), and the class, dimensions and
    coordinates of an xarray DataArray (or None)."""

    values: Ints
    missing: NDArray[Any] | None
    labels: tuple[Any, ...] | None

    @property
    def extent(self) -> tuple[int, ...]:
        """Length of the time axis and of three space axes, 1 where the data have none."""
        shape = self.values.shape
        return (shape[0], *(1,) * (4 - len(shape)), *shape[1:])


@dataclass(frozen=True, eq=False)
class Grid:
    """One field, ready for cones.

    Attributes
    ----------
    cells : letter codes with the cells that cones reach beyond the field, in four axes
    valid : where on the grid of observations there is one, or None: everywhere
    shape : of the grid of observations, in four axes
    corner : of the grid of observations on the field
    extent : of the field, in four axes
    missing : where cells of the field are missing, or None
    """

    cells: Ints
    valid: NDArray[Any] | None
    shape: tuple[int, ...]
    corner: tuple[int, ...]
    extent: tuple[int, ...]
    missing: NDArray[Any] | None = None

    @property
    def n(self) -> int:
        """Number of observations."""
        return int(np.prod(self.shape)) if self.valid is None else int(np.count_nonzero(self.valid))

    def without_last(self, rows: int) -> "Grid":
        """The same without the last rows of observations."""
        if not rows:
            return self
        kept = max(self.shape[0] - rows, 0)
        valid = None if self.valid is None else self.valid[:kept]
        return replace(self, valid=valid, shape=(kept, *self.shape[1:]))


def field_data(field: Any, mask: Any, place: str) -> Data:
    """Check one field and its mask; `place` names it in messages."""
    labels = None
    if hasattr(field, "dims") and hasattr(field, "coords") and hasattr(field, "values"):
        labels = type(field), tuple(field.dims), dict(field.coords)
        field = field.values
    rule = "its rows must have one length: give an array of integers, with time first."
    values: Any = field if isinstance(field, np.ndarray) else arguments.as_table(field, "field", rule)
    check_cells(values, place)
    missing = np.ma.getmaskarray(values) if np.ma.is_masked(values) else None
    if mask is not None:
        mask = np.asarray(mask, bool)
        try:
            mask = np.broadcast_to(mask, values.shape)
        except ValueError:
            raise ValueError(
                f"The 'mask' of the {place} has shape {mask.shape} and the field {values.shape}; it must say for "
                "each cell whether it is missing: give one of the field's shape."
            ) from None
        if mask.any():
            missing = mask if missing is None else missing | mask
    values = np.asarray(values)
    return Data(values.view(np.uint8) if values.dtype.kind == "b" else values, missing, labels)


def check_cells(values: Any, place: str) -> None:
    """Whether an array, in memory or not, can be a field."""
    if values.size == 0:
        raise ValueError(f"The {place} has shape {values.shape}; it must have cells: check the input.")
    if values.dtype.kind == "f":
        raise ValueError(
            f"The {place} has cells of type {values.dtype}; light cones count integers: use ds.observe.delays for "
            "continuous values, or digitise them with np.digitize (and give missing cells as 'mask')."
        )
    if values.dtype.kind not in "biu":
        raise ValueError(
            f"The {place} has cells of type {values.dtype}; light cones count integers: number the values first, "
            "for example with np.unique(..., return_inverse=True)."
        )
    if values.ndim < 2:
        raise ValueError(
            f"The {place} has {values.ndim} axes; a field has time and at least one space axis: use "
            "ds.observe.series for a series of symbols."
        )
    if values.ndim > 4:
        raise ValueError(
            f"The {place} has {values.ndim - 1} space axes; light cones have 1, 2 or 3: take a slice of the field."
        )


def number_letters(fields: list[Data]) -> tuple[list[Ints], Ints, tuple[Hashable, ...]]:
    """Small raw integers of each field, the letter code of each raw value, and the letters in increasing order.

    Cost: a pass or two over the cells; fields of wide integers are sorted.
    """
    known = [d.values.reshape(-1) if d.missing is None else d.values[~d.missing] for d in fields]
    ranges = [(int(v.min()), int(v.max())) for v in known if v.size]
    if not ranges:
        raise NoCells(
            f"The 'mask' leaves none of {sum(d.values.size for d in fields)} cells of the field; cones need cells "
            "that are known: mark fewer as missing."
        )
    low, high = min(a for a, _ in ranges), max(b for _, b in ranges)
    if high - low >= 1 << 16:
        return _sorted_letters(fields, known)
    if all(d.values.dtype == np.uint8 for d in fields):
        low, high = 0, 255
    seen = np.zeros(high - low + 1, np.uint8)
    raw = []
    for data, part in zip(fields, known, strict=True):
        words.mark_values(_above(part, low, high), seen)
        raw.append(_above(data.values, low, high))
    letters = np.flatnonzero(seen)
    # Missing cells may hold any value: what is no letter counts as the first, and is never looked at.
    lut = np.zeros(1 << 8 * max(part.dtype.itemsize for part in raw), _unsigned(letters.size))
    lut[letters] = np.arange(letters.size)
    return raw, lut, tuple(low + int(v) for v in letters)


def _above(values: Ints, low: int, high: int) -> Ints:
    """values - low, in one or two bytes; values outside the range wrap."""
    if values.dtype == np.uint8 and low == 0:
        return values
    kind = np.uint8 if high - low < 1 << 8 else np.uint16
    # Small types cannot hold every difference, but wrapping gives the right one.
    wide = values if values.dtype.itemsize > 1 else values.astype(np.int16)
    above: Ints = np.subtract(wide, np.array(low).astype(wide.dtype)).astype(kind)
    return above


def _sorted_letters(fields: list[Data], known: list[Ints]) -> tuple[list[Ints], Ints, tuple[Hashable, ...]]:
    distinct = [np.unique(part).tolist() for part in known]
    letters = sorted(set().union(*distinct))
    number = {letter: code for code, letter in enumerate(letters)}
    raw = []
    for data, own in zip(fields, distinct, strict=True):
        order = np.array([number[letter] for letter in own] or [0], np.int64)
        points = np.array(own, data.values.dtype)
        place = np.minimum(np.searchsorted(points, data.values), max(len(own) - 1, 0))
        raw.append(order[place])
    return raw, np.arange(len(letters)).astype(_unsigned(len(letters))), tuple(letters)


def _unsigned(size: int) -> Any:
    return np.uint8 if size <= 1 << 8 else np.uint16 if size <= 1 << 16 else np.uint32


def make_grid(data: Data, raw: Ints, lut: Ints, cone: LightCone, boundary: str) -> Grid:
    """Pad the letters of one field and find where observations are.

    Cost: one pass; one byte per padded cell for up to 256 letters, and one more per cell with missing cells.
    """
    extent = data.extent
    edges = (0, 0, 0) if boundary != "open" else cone.reach
    shape = (
        max(extent[0] - cone.before - cone.after, 0),
        *(max(size - 2 * edge, 0) for size, edge in zip(extent[1:], edges, strict=True)),
    )
    index = [boundary_index(size, edge, boundary) for size, edge in zip(extent[1:], cone.reach, strict=True)]
    cells = _padded(raw.reshape(extent), lut, index)
    valid = missing = None
    if data.missing is not None:
        missing = data.missing.reshape(extent)
        lost = _padded(missing.view(np.uint8), np.array([0, 1], np.uint8), index)
        touched = np.zeros(shape, np.uint8)
        offsets = np.concatenate([cone.past, cone.future])

        def mark(part: tuple[int, int]) -> None:
            kernels.mark_touched(lost[part[0] :], offsets, touched[part[0] : part[1]])

        _run(mark, touched.size, shape[0])
        valid = touched == 0
    return Grid(cells, valid, shape, (cone.before, *edges), extent, missing)


def slice_signatures(grid: Grid, letters: tuple[Hashable, ...]) -> Ints:
    """(steps,) a number for each time; two times with the same pattern, moved along the last axis, have the same.

    It depends on the cells alone, not on what other letters the grid has, or on what is at missing cells.
    Cost: one pass.
    """
    numbers = np.array([int(letter) % SIGNED + 1 for letter in letters], np.int32)  # type: ignore[call-overload]
    inner = tuple(slice((c - n) // 2, (c + n) // 2) for c, n in zip(grid.cells.shape[1:], grid.extent[1:], strict=True))
    cells = grid.cells[:, *inner]
    signature = np.empty(len(cells), np.int64)

    def sign(part: tuple[int, int]) -> None:
        values = numbers[cells[slice(*part)]]
        if grid.missing is not None:
            values[grid.missing[slice(*part)]] = 0
        kernels.sign_slices(values, min(WINDOW, cells.shape[3]), signature[slice(*part)])

    _run(sign, cells.size, len(cells))
    return signature


def _padded(raw: Ints, lut: Ints, index: list[Ints]) -> Ints:
    cells = np.empty((raw.shape[0], *(i.size for i in index)), lut.dtype)

    def pad(part: tuple[int, int]) -> None:
        kernels.pad_cells(raw[slice(*part)], lut, index[0], index[1], index[2], cells[slice(*part)])

    _run(pad, cells.size, raw.shape[0])
    return cells


def _run(work: Any, size: int, rows: int) -> None:
    """Do the work on slices of the time axis."""
    for _ in map_slices(work, slices(rows, len(slices(size)) or 1)):
        pass
