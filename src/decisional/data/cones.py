"""Light cones: their cells, the grids of letter codes that they lie on, and their keys in a block of such a grid.

Grids are padded so that cones never leave them. A cone is a row of keys, each the code of as many of its cells as fit
62 bits: keys mean the same in every block, and rows of keys sort as the words of cells do.
"""

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._kernels import cones as kernels
from .._kernels import words
from ..support import arguments
from ..support.arrays import Ints
from ..support.executors import map_slices, slices
from . import keys
from .observations import Steps
from .vocabularies import Words, groups

BOUNDARIES = ("periodic", "open", "reflect")
NEIGHBOURHOODS = ("moore", "von_neumann")
TRANSITIONS = (None, "time", "space")

WINDOW = 64  # adjacent cells that tell patterns apart
SIGNED = (1 << 31) - 19  # letters are told apart up to multiples of this


@dataclass(frozen=True, eq=False)
class LightCone:
    """tuple[int, ...]s of the past and the future cone on a grid of time and three space axes.

    Attributes
    ----------
    past : (n_past, 4) cells of x, most recent row first, each row in the order of the array; counted from the
        corner of the smallest box that holds both cones, so never negative
    future : (n_future, 4) cells of z, the earliest row first
    before, after : rows of the box before and after the present one
    reach : (3,) cells of the box on each side of the present one, 0 along axes the data lack
    new : (n_new,) places in `past` of the cells that are not in the cone one step before, or None
    """

    past: Ints
    future: Ints
    before: int
    after: int
    reach: tuple[int, ...]
    new: Ints | None


def light_cone(
    past: int,
    future: int,
    speed: int,
    axes: int,
    neighbourhood: str,
    include_present: bool,
    past_row_only: bool,
    transitions: str | None,
) -> LightCone:
    """Cones of `past` rows up to the present one and of the rows that follow it within `future` rows of it."""
    back = range(past - 1 if past_row_only else 0, past)
    x = _cells(((-k, speed * k) for k in back), axes, neighbourhood)
    z = _cells(((k, speed * k) for k in range(0 if include_present else 1, future)), axes, neighbourhood)
    reach = speed * (max(past, future) - 1)
    sides = (*(0,) * (3 - axes), *(reach,) * axes)
    corner = np.array([past - 1, *sides])
    step = {None: None, "time": (1, 0, 0, 0), "space": (0, 0, 0, 1)}[transitions]
    new = None
    if step is not None:
        known = set(x)
        new = np.array([k for k, cell in enumerate(x) if _moved(cell, step) not in known], np.int64)
    return LightCone(np.array(x) + corner, np.array(z) + corner, past - 1, future - 1, sides, new)


def _cells(rows: Iterable[tuple[int, int]], axes: int, neighbourhood: str) -> list[tuple[int, ...]]:
    """Cells of each row (time, radius), within that distance of the present cell."""
    found = []
    for time, radius in rows:
        for cell in product(range(-radius, radius + 1), repeat=axes):
            if neighbourhood == "moore" or sum(map(abs, cell)) <= radius:
                found.append((time, *(0,) * (3 - axes), *cell))
    return found


def _moved(cell: tuple[int, ...], step: tuple[int, ...]) -> tuple[int, ...]:
    """A cell of the cone at the end of a step, as seen from its beginning."""
    return tuple(c + s for c, s in zip(cell, step, strict=True))


def boundary_index(size: int, reach: int, boundary: str) -> Ints:
    """Which cells of an axis stand at -reach ... size + reach - 1; with open boundaries at 0 ... size - 1."""
    if boundary == "open":
        return np.arange(size)
    beyond = np.arange(-reach, size + reach)
    if boundary == "periodic":
        return beyond % size
    return np.where(beyond < size, np.abs(beyond), 2 * (size - 1) - beyond)


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
        mask = broadcast_mask(mask, values.shape, place)
        if mask.any():
            missing = mask if missing is None else missing | mask
    values = np.asarray(values)
    return Data(values.view(np.uint8) if values.dtype.kind == "b" else values, missing, labels)


def broadcast_mask(mask: Any, shape: tuple[int, ...], place: str) -> NDArray[Any]:
    """A mask in the shape of its field."""
    mask = np.asarray(mask, bool)
    try:
        return np.broadcast_to(mask, shape)
    except ValueError:
        raise ValueError(
            f"The 'mask' of the {place} has shape {mask.shape} and the field {shape}; it must say for each cell "
            "whether it is missing: give one of the field's shape."
        ) from None


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
    raw: list[Ints] = []
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


@dataclass(frozen=True, eq=False)
class Block:
    """A slice of a grid of observations, with all the cells its cones reach.

    Attributes
    ----------
    cells : letter codes
    valid : where there is an observation, or None: everywhere
    shape : of the grid of observations, with the row after the slice where steps lead there
    rows : number of rows of the slice itself
    """

    cells: Ints
    valid: NDArray[Any] | None
    shape: tuple[int, ...]
    rows: int


def number_cones(block: Block, offsets: Ints, base: int, beyond: bool = False) -> tuple[Ints, Ints]:
    """Number the words of cells at `offsets`, and the keys of the distinct ones; `beyond` = in the row after it too.

    Cost: O(n cells) vectorised, one look-up per observation, or a radix sort where most cones differ; up to 36 bytes
    per observation.
    """
    shape = block.shape if beyond else (block.rows, *block.shape[1:])
    valid = None if block.valid is None else block.valid[: shape[0]]

    def columns() -> Iterator[tuple[Ints, int]]:
        for first, stop in groups(len(offsets), base):
            bound = base ** (stop - first)
            codes = np.empty(shape, _code_type(bound))
            kernels.code_cells(block.cells, offsets[first:stop], np.int64(base), codes)
            yield codes.reshape(-1) if valid is None else codes[valid], bound

    return keys.number_rows(columns())


def _code_type(bound: int) -> Any:
    return next((kind for kind in (np.uint8, np.uint16, np.uint32) if bound <= 1 << 8 * kind().itemsize), np.int64)


def steps_of(block: Block, x: Ints, words: Words, new: Ints, wrap: bool, transitions: str) -> tuple[Words, Steps]:
    """The symbols of the steps between the cones x of a block, and these; wrap = the last axis is a ring.

    The symbol of a step is the cells `new` of the cone that it leads to.
    """
    n_x, base = len(words), len(words.letters)
    source, target = _step_ends(block, x, wrap, transitions)
    pairs, counts = keys.count_pairs(source, target, n_x)
    source, target = np.divmod(pairs, max(n_x, 1))
    reached = np.zeros(n_x, bool)
    reached[target] = True
    number, symbols = _project(words.keys[reached], base, words.width, new)
    symbol_of = np.empty(n_x, np.int64)
    symbol_of[reached] = number
    symbol = symbol_of[target]
    # Sorted by source and target already: most steps stay where they are.
    order = np.argsort(source * len(symbols) + symbol, kind="stable")
    steps = Steps(source[order], symbol[order], target[order], counts[order])
    return Words(words.letters, new.size, symbols), steps


def _project(rows: Ints, base: int, n_cells: int, chosen: Ints) -> tuple[Ints, Ints]:
    """Number the words of some of the cells of rows of keys, and the keys of the distinct ones."""
    place = [
        (column, stop - 1 - k) for column, (first, stop) in enumerate(groups(n_cells, base)) for k in range(first, stop)
    ]

    def columns() -> Iterator[tuple[Ints, int]]:
        for first, stop in groups(chosen.size, base):
            codes = np.zeros(rows.shape[0], np.int64)
            for k in chosen[first:stop]:
                column, power = place[k]
                codes = codes * base + rows[:, column] // base**power % base
            yield codes, base ** (stop - first)

    return keys.number_rows(columns())


def _step_ends(block: Block, x: Ints, wrap: bool, transitions: str) -> tuple[Ints, Ints]:
    """Where each step comes from and leads to, -1 = nowhere."""
    grid = x
    if block.valid is not None:
        grid = np.full(block.valid.shape, -1, x.dtype)
        grid[block.valid] = x
    grid = grid.reshape(block.shape)
    if transitions == "time":
        return grid[:-1].reshape(-1), grid[1:].reshape(-1)
    if wrap:
        return grid.reshape(-1), np.roll(grid, -1, axis=-1).reshape(-1)
    return grid[..., :-1].reshape(-1), grid[..., 1:].reshape(-1)
