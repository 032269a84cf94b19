"""Light cones: their cells, the grids of letter codes that they lie on, and their keys in a block of such a grid.

Grids are padded so that cones never leave them. A cone is a row of keys, each the code of as many of its cells as fit
62 bits: keys mean the same in every block, and rows of keys sort as the words of cells do.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._kernels import cone_cells as kernels
from .._kernels import cone_overlaps as overlaps
from .._kernels.gather import gather
from ..support import arguments
from ..support.arrays import Ints, index_type
from ..support.executors import map_slices, slices
from . import keys
from .alphabet import Alphabet, alphabet_of, distinct
from .nesting import UNIT, Nesting
from .tally import Steps
from .vocabularies import Words, groups

BOUNDARIES = ("periodic", "open", "reflect")
NEIGHBOURHOODS = ("moore", "von_neumann")
STEPS = {"time": (1, 0, 0, 0), "space": (0, 0, 0, 1)}
TRANSITIONS = (None, *STEPS)

WINDOW = 64  # adjacent cells that tell patterns apart
LARGEST = (1 << 62) - 1  # signature
BLOCK = 1 << 18  # cells that are looked at together: they stay in the cache
RINGS = 4  # parts of a space of one axis that are counted apart


@dataclass(frozen=True, eq=False)
class LightCone:
    """Cells of the past and the future cone on a grid of time and three space axes.

    Attributes
    ----------
    past : (n_past, 4) cells of x, most recent row first, each row in the order of the array; counted from the
        corner of the smallest box that holds both cones, so never negative
    future : (n_future, 4) cells of z, the earliest row first
    before, after : rows of the box before and after the present one
    reach : (3,) cells of the box on each side of the present one, 0 along axes the data lack
    boundary, transitions : see `light_cones`
    new : (n_new,) places in `past` of the cells that are not in the cone one step before; none without transitions
    axes : of space
    """

    past: Ints
    future: Ints
    before: int
    after: int
    reach: tuple[int, ...]
    boundary: str
    transitions: str | None
    new: Ints
    axes: int

    def following(self, numbers: Ints) -> Ints:
        """At each place of a grid of observations, the number at the one that its step leads to, -1 = nowhere."""
        after = np.empty_like(numbers)
        if self.transitions == "time":
            after[:-1], after[-1:] = numbers[1:], -1
        else:
            after[..., :-1], after[..., -1] = numbers[..., 1:], numbers[..., 0] if self.boundary == "periodic" else -1
        return after

    @property
    def nesting(self) -> Nesting:
        """The cones inside these, by their rows."""
        past, future = (
            tuple((np.flatnonzero(np.diff(cells[:, 0])) + 1).tolist()) for cells in (self.past, self.future)
        )
        ends = (*future, len(self.future))
        return Nesting((*past, len(self.past)), ends, None if ends[0] == 1 else self._centre, ends[-1])

    @property
    def _centre(self) -> int:
        """Place of the middle cell of the first row of the future."""
        first = self.future[self.future[:, 0] == self.future[0, 0]]
        return int(np.flatnonzero((first[:, 1:] == self.reach).all(axis=1))[0])

    @property
    def middle(self) -> Ints:
        """(1, 4) the middle cell of the first row of the future."""
        return self.future[self._centre : self._centre + 1]

    @property
    def edge(self) -> int:
        """Rows of a field without observations."""
        return self.before + self.after

    @property
    def halo(self) -> int:
        """Rows of observations before and after a row whose futures share cells with its own."""
        return int(np.ptp(self.future[:, 0]))

    def sharing(self, sizes: tuple[int, ...]) -> Ints:
        """(n, 4) steps to the other places of a grid of observations of such sizes whose futures share a cell."""
        steps = (self.future[:, None] - self.future[None]).reshape(-1, 4)
        if self.boundary == "periodic":
            # Around a small torus several steps lead to one place.
            steps[:, 1:] %= sizes[1:]
        steps = np.unique(steps, axis=0)
        return steps[steps.any(axis=1)]


def light_cone(
    past: int,
    future: int,
    speed: int,
    axes: int,
    neighbourhood: str,
    include_present: bool,
    past_row_only: bool,
    boundary: str,
    transitions: str | None,
    past_end: int = 0,
) -> LightCone:
    """Cones of `past` rows, the last one `past_end` rows before the present, and of the rows after the present within
    `future` rows of it."""
    past += past_end
    back = range(past - 1 if past_row_only else past_end, past)
    x = _cells(((-k, speed * k) for k in back), axes, neighbourhood)
    z = _cells(((k, speed * k) for k in range(0 if include_present else 1, future)), axes, neighbourhood)
    reach = speed * (max(past, future) - 1)
    sides = (*(0,) * (3 - axes), *(reach,) * axes)
    corner = np.array([past - 1, *sides])
    new: list[int] = []
    if transitions is not None:
        # The cells of the cone at the end of a step, as seen from its beginning.
        known, ahead = set(x), (np.array(x) + STEPS[transitions]).tolist()
        new = [k for k, cell in enumerate(ahead) if tuple(cell) not in known]
    cells = np.array(x) + corner, np.array(z) + corner
    return LightCone(*cells, past - 1, future - 1, sides, boundary, transitions, np.array(new, np.int64), axes)


def _cells(rows: Iterable[tuple[int, int]], axes: int, neighbourhood: str) -> list[tuple[int, ...]]:
    """Cells of each row (time, radius), within that distance of the present cell."""
    return [
        (time, *(0,) * (3 - axes), *cell)
        for time, radius in rows
        for cell in product(range(-radius, radius + 1), repeat=axes)
        if neighbourhood == "moore" or sum(map(abs, cell)) <= radius
    ]


class NoCells(ValueError):
    """No cell is known."""


@dataclass(frozen=True, eq=False)
class Grid:
    """Observations of one field, or of a slice of its times, with all the cells their cones reach.

    Attributes
    ----------
    cells : letter codes, or numbers, with the cells that cones reach beyond the field, in four axes
    valid : where on the grid of observations there is one, or None: everywhere
    shape : of the grid of observations, in four axes
    first, rows : of that grid, those that are its own; the others are only there to be led to, or beside these
    corner : of the grid of observations on the field
    extent : of the field, in four axes
    missing : where cells of the field are missing, or None
    variables : numbers in each cell, which lie side by side along the second axis of `cells`
    """

    cells: NDArray[Any]
    valid: NDArray[Any] | None
    shape: tuple[int, ...]
    first: int
    rows: int
    corner: tuple[int, ...]
    extent: tuple[int, ...]
    missing: NDArray[Any] | None = None
    variables: int = 1

    @property
    def n(self) -> int:
        """Number of observations."""
        return int(np.prod(self.shape)) if self.valid is None else int(np.count_nonzero(self.valid))

    @property
    def inside(self) -> tuple[slice, ...]:
        """Where the grid of observations is on the field."""
        return tuple(slice(first, first + size) for first, size in zip(self.corner, self.shape, strict=True))

    def cut(self, first: int, stop: int, led_to: int = 0) -> "Grid":
        """The rows first..stop-1 of observations, and so many more to be led to, where there are any."""
        end = min(stop + led_to, self.shape[0])
        return replace(
            self,
            cells=self.cells[first : end + len(self.cells) - self.shape[0]],
            valid=None if self.valid is None else self.valid[first:end],
            shape=(end - first, *self.shape[1:]),
            first=0,
            rows=stop - first,
            corner=(self.corner[0] + first, *self.corner[1:]),
            missing=None,
        )

    @property
    def own(self) -> "Grid":
        """The rows that are its own."""
        return self.cut(self.first, self.first + self.rows)

    def beside(self) -> tuple["Grid", "Grid"]:
        """The rows before and after its own, none of them its own."""
        ends = (0, self.first), (self.first + self.rows, self.shape[0])
        before, after = (replace(self.cut(*rows), rows=0) for rows in ends)
        return before, after

    def regions(self, axes: int) -> tuple[Ints, int]:
        """The part of space that each place of a row lies in, and their number, for so many axes of space.

        Parts lie around the middle, so that they do not change where space is mirrored or its axes are exchanged.
        """
        cuts = RINGS if axes == 1 else 2
        region: Ints = np.zeros(self.shape[1:], np.int64)
        for axis in range(3 - axes, 3):
            extent, place = self.extent[axis + 1], self.corner[axis + 1] + np.arange(self.shape[axis + 1])
            ring = np.abs(2 * place - (extent - 1)) * cuts // extent
            region = region * cuts + ring.reshape([-1 if k == axis else 1 for k in range(3)])
        return region, cuts**axes

    def laid(self, numbers: Ints) -> Ints:
        """A number for each observation on their grid, -1 where there is none."""
        if self.valid is None:
            return numbers.reshape(self.shape)
        grid = np.full(self.shape, -1, numbers.dtype)
        grid[self.valid] = numbers
        return grid

    def picked(self, grid: Ints) -> Ints:
        """What is at each observation of their grid."""
        return grid.reshape(-1) if self.valid is None else grid[self.valid]


def field_data(field: Any, mask: Any, place: str) -> tuple[Any, tuple[Any, ...] | None]:
    """The integers of a field, masked where cells are missing, and the class, dimensions and coordinates of a DataArray
    (or None); `place` names the field in messages."""
    labels = None
    if is_labelled(field):
        labels = type(field), tuple(field.dims), dict(field.coords)
        field = field.values
    values: Any = field if isinstance(field, np.ndarray) else as_field(field)
    check_cells(values, place)
    missing = np.ma.getmaskarray(values) if np.ma.is_masked(values) else np.False_
    if mask is not None:
        missing = missing | broadcast_mask(mask, values.shape, place)
    values = np.asarray(values)
    values = values.view(np.uint8) if values.dtype.kind == "b" else values
    return np.ma.MaskedArray(values, missing) if missing.any() else values, labels


def is_labelled(field: Any) -> bool:
    """Whether a field is a DataArray, or like one."""
    return all(hasattr(field, name) for name in ("dims", "coords", "values"))


def as_field(field: Any) -> NDArray[Any]:
    """A field in memory as an array."""
    rule = "its rows must have one length: give an array of integers, with time first."
    return arguments.as_table(field, "field", rule)


def broadcast_mask(mask: Any, shape: tuple[int, ...], place: str) -> NDArray[Any]:
    """A mask in the shape of its field."""
    rule = "it must say for each cell whether it is missing: give one of the field's shape."
    mask = arguments.as_table(mask, "mask", rule, bool)
    try:
        return np.broadcast_to(mask, shape)
    except ValueError:
        raise ValueError(f"The 'mask' of the {place} has shape {mask.shape} and the field {shape}; {rule}") from None


def check_cells(values: Any, place: str) -> None:
    """Whether an array, in memory or not, can be a field."""
    if values.size == 0:
        raise ValueError(f"The {place} has shape {values.shape}; it must have cells: check the input.")
    if values.dtype.kind not in "biu":
        raise ValueError(
            f"The {place} has cells of type {values.dtype}; light cones are of numbers: number the values first, "
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


def number_letters(fields: Sequence[Any]) -> tuple[list[tuple[Ints, Ints]], tuple[Hashable, ...]]:
    """Small integers for the cells of each field with the letter code of each such integer; and the letters in order.

    Cost: a pass or two over the cells; fields of wide integers are sorted.
    """
    raw = [distinct(values.reshape(-1)) for values in fields]
    found = [alphabet_of(*part)[:2] for part in raw]
    alphabet = Alphabet.of(letter for own, _ in found for letter in own.letters)
    if not alphabet:
        raise NoCells(
            f"The 'mask' leaves none of {sum(values.size for values in fields)} cells of the field; cones need cells "
            "that are known: mark fewer as missing."
        )
    kind = np.min_scalar_type(len(alphabet) - 1)
    # Missing cells count as the first letter, and are never looked at.
    luts = [np.append(alphabet.places(own.letters), 0)[lut].astype(kind) for own, lut in found]
    return [(part, lut) for (part, _), lut in zip(raw, luts, strict=True)], alphabet.letters


def make_grid(values: Any, raw: Ints, lut: Ints, cone: LightCone, before: int, after: int) -> Grid:
    """Pad the letters of one field and find where observations are; some first and last rows of them are not its own.

    Cost: one pass; one byte per padded cell for up to 256 letters, and one more per cell with missing cells.
    """
    missing = values.mask if np.ma.isMA(values) else None
    grid, index = _places(values.shape, missing, cone, before, after)
    return replace(grid, cells=_padded(raw.reshape(grid.extent), lut, index))


def make_real_grid(values: NDArray[Any], missing: Any, cone: LightCone, before: int = 0, after: int = 0) -> Grid:
    """The same for numbers (time, ..., variables), 0 where they are missing. Cost: one pass, a copy of the cells."""
    grid, index = _places(values.shape[:-1], missing, cone, before, after)
    cells = np.moveaxis(values.reshape(*grid.extent, values.shape[-1]), 4, 1)
    for axis, places in enumerate(index, 2):
        if places.size != cells.shape[axis]:
            cells = np.take(cells, places, axis=axis)
    shape = len(cells), -1, *cells.shape[3:]
    return replace(grid, cells=np.ascontiguousarray(cells).reshape(shape), variables=values.shape[-1])


def _places(sizes: tuple[int, ...], missing: Any, cone: LightCone, before: int, after: int) -> tuple[Grid, list[Ints]]:
    """Where observations of a field of some shape are, without its cells, and the places that pad the axes of space."""
    extent = (sizes[0], *(1,) * (4 - len(sizes)), *sizes[1:])
    edges = (0, 0, 0) if cone.boundary != "open" else cone.reach
    inner = (n - 2 * edge for n, edge in zip(extent[1:], edges, strict=True))
    shape = tuple(max(n, 0) for n in (extent[0] - cone.before - cone.after, *inner))
    index: list[Ints] = [np.arange(n) for n in extent[1:]]
    if cone.boundary != "open":
        how: Any = "wrap" if cone.boundary == "periodic" else "reflect"
        index = [np.pad(axis, reach, how) for axis, reach in zip(index, cone.reach, strict=True)]
    valid = None
    if missing is not None:
        missing = missing.reshape(extent)
        lost = _padded(missing.view(np.uint8), np.array([0, 1], np.uint8), index)
        offsets = np.concatenate([cone.past, cone.future])
        touched = np.empty(shape, np.min_scalar_type(len(offsets)))

        def mark(part: tuple[int, int]) -> None:
            # In base 1 a code is the number of missing cells.
            kernels.code_cells(lost[part[0] :], offsets, np.int64(1), touched[slice(*part)])

        _run(mark, touched.size, shape[0])
        valid = touched == 0
    before = min(before, shape[0])
    rows = max(shape[0] - before - after, 0)
    none = np.empty((extent[0], 0, 0, 0))
    return Grid(none, valid, shape, before, rows, (cone.before, *edges), extent, missing), index


def stacked(offsets: Ints, grid: Grid) -> Ints:
    """(n variables, 4) the offsets of the cells of all variables of a grid, those of the first one first."""
    step = np.array([0, grid.cells.shape[1] // grid.variables, 0, 0])
    return np.concatenate([offsets + k * step for k in range(grid.variables)])


def slice_signatures(grid: Grid, signed: Callable[[Any], Ints]) -> Ints:
    """(steps,) a number for each time; two times with the same pattern, moved through space, have the same.

    It depends on the cells alone, which `signed` makes integers that mean the same in all data, not on what is at
    missing cells, nor on the order of the axes of space. Cost: one pass for each of these.
    """
    apart = grid.cells.reshape(len(grid.cells), grid.variables, -1, *grid.cells.shape[2:])
    sizes = zip(apart.shape[2:], grid.extent[1:], strict=True)
    cells = apart[:, :, *(slice((c - n) // 2, (c + n) // 2) for c, n in sizes)]
    signature = np.empty(len(cells), np.int64)

    def sign(part: tuple[int, int]) -> None:
        total = np.zeros(part[1] - part[0], np.int64)
        for k in range(grid.variables):
            values = signed(cells[slice(*part), k]) ^ np.int32(k)
            if grid.missing is not None:
                values[grid.missing[slice(*part)]] = 0
            for axis in range(1, 4):
                if axis == 3 or values.shape[axis] > 1:
                    along, found = np.ascontiguousarray(np.swapaxes(values, axis, 3)), np.empty_like(total)
                    kernels.sign_slices(along, min(WINDOW, along.shape[3]), found)
                    total = (total + found) & LARGEST
        signature[slice(*part)] = total

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


def number_cones(grid: Grid, offsets: Ints, base: int) -> tuple[Ints, Ints]:
    """Number the words of cells at `offsets` from each observation, and the keys of the distinct ones.

    Cost: O(n cells) vectorised, one look-up per observation, or a radix sort where most cones differ; up to 36 bytes
    per observation.
    """

    def columns() -> Iterator[tuple[Ints, int]]:
        for first, stop in groups(len(offsets), base):
            bound = base ** (stop - first)
            codes = np.empty(grid.shape, np.int64 if bound > 1 << 32 else np.min_scalar_type(bound - 1))
            kernels.code_cells(grid.cells, offsets[first:stop], np.int64(base), codes)
            yield grid.picked(codes), bound

    return keys.number_rows(columns())


def apart(grid: Grid, cone: LightCone, labels: Ints, number: Ints) -> Ints:
    """Independent occurrences of each sub-cone at the own rows of a grid, in units of 1 / UNIT: see `Dependence`.

    labels has the x of each place, -1 = none, and number (n_x,) the sub-cone of each x.
    """
    steps, n = cone.sharing(labels.shape), int(number.max(initial=-1)) + 1
    shares = UNIT // np.maximum(np.arange(len(steps) + 2), 1)
    halo = int(steps[:, 0].max(initial=0))
    # Comparisons of small numbers are faster. The last one is that of no observation.
    most = max(n, len(steps) + 1)
    own = np.append(number, -1).astype(np.int8 if most < 1 << 7 else np.int16 if most < 1 << 15 else labels.dtype)
    rows = max(BLOCK // int(np.prod(labels.shape[1:])), 2 * halo, 1)

    def add(part: tuple[int, int]) -> Ints:
        total = np.zeros(n, np.int64)
        room = np.empty((rows + 2 * halo, *labels.shape[1:]), own.dtype)
        for first in range(grid.first + part[0], grid.first + part[1], rows):
            stop, begin = min(first + rows, grid.first + part[1]), max(first - halo, 0)
            around = labels[begin : stop + halo]
            near = room[: len(around)]
            gather(own, around.reshape(-1), near.reshape(-1))
            overlaps.add_shares(near, first - begin, stop - begin, steps, cone.boundary == "periodic", shares, total)
        return total

    parts = slices(grid.rows, len(slices(labels.size)) or 1) or [(0, 0)]
    total: Ints = sum(map_slices(add, parts))  # type: ignore[assignment]
    return total


def regional(grid: Grid, axes: int, x: Ints, z: Ints, n_z: int) -> tuple[keys.Counted, int]:
    """Counts of (x, z) in each region of space, and the number of regions; x and z are laid on the grid, -1 = none."""
    region, n = grid.regions(axes)

    def count(part: tuple[int, int]) -> keys.Counted:
        own = z[slice(*part)]
        apart = np.empty(own.shape, index_type(n_z * n))
        cells = len(own), region.size
        overlaps.part_regions(own.reshape(cells), region.reshape(-1), n, apart.reshape(cells))
        return keys.count_pairs(x[slice(*part)].reshape(-1), apart.reshape(-1), n_z * n)

    parts = slices(grid.rows, len(slices(x.size)) or 1) or [(0, 0)]
    return reduce(keys.add, map_slices(count, parts)), n


def steps_of(cone: LightCone, grid: Grid, x: Ints, words: Words) -> tuple[Words, Steps]:
    """The symbols of the steps between the cones x of a grid, and these.

    The symbol of a step is the new cells of the cone that it leads to.
    """
    n_x, base = len(words), len(words.letters)
    source = grid.laid(x)
    target = cone.following(source)
    pairs, counts = keys.count_pairs(source[: grid.rows].reshape(-1), target[: grid.rows].reshape(-1), n_x)
    source, target = np.divmod(pairs, max(n_x, 1))
    reached = np.zeros(n_x, bool)
    reached[target] = True
    number, symbols = _project(words.keys[reached], base, words.width, cone.new)
    symbol_of = np.empty(n_x, np.int64)
    symbol_of[reached] = number
    symbol = symbol_of[target]
    # Sorted by source and target already: most steps stay where they are.
    order = np.argsort(source * len(symbols) + symbol, kind="stable")
    steps = Steps(source[order], symbol[order], target[order], counts[order])
    return Words(words.letters, cone.new.size, symbols), steps


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
