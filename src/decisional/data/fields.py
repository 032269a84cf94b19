"""Space-time fields: x is the past light cone of a cell, z its future cone."""

from collections.abc import Hashable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from functools import cached_property, partial
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._kernels.gather import gather
from ..support import arguments
from ..support.arrays import Ints, index_type, is_array_like, read_only
from ..support.executors import map_slices, slices
from . import cones, keys
from .nesting import Dependence
from .observations import Observations
from .sequences import is_array
from .slices import Part, Sliced, cut_parts, in_slices
from .tally import Tally, merge_all, symbol_names
from .vocabularies import Words

CALL = "light_cones"
# What the work on a cell takes while it is counted.
CELL_BYTES = 64


class Outcomes(Sequence[tuple[Hashable, ...]]):
    """The distinct future cones as tuples of letters, made when asked for."""

    def __init__(self, codes: Ints, letters: tuple[Hashable, ...]) -> None:
        self.codes, self._letters = codes, letters

    def __len__(self) -> int:
        return len(self.codes)

    @overload
    def __getitem__(self, index: int) -> tuple[Hashable, ...]: ...
    @overload
    def __getitem__(self, index: slice) -> "Outcomes": ...
    def __getitem__(self, index: int | slice) -> "tuple[Hashable, ...] | Outcomes":
        if isinstance(index, slice):
            return Outcomes(self.codes[index], self._letters)
        return tuple(self._letters[code] for code in self.codes[index])

    @property
    def cells(self) -> NDArray[Any]:
        """(n, n_cells) the letters themselves."""
        return np.array(self._letters)[self.codes]

    def __repr__(self) -> str:
        return f"Outcomes({len(self)} futures of {self.codes.shape[1]} cells)"


def spelled(z: Words) -> Outcomes:
    """Outcomes as tuples of letters."""
    return Outcomes(read_only(z.words(kind=np.min_scalar_type(len(z.letters) - 1))), z.letters)


class Cones(Observations):
    """Observations of light cones; the source is a grid of letter codes per field.

    Besides the attributes of `Observations`: `cone` and `outcome_cells`. For slices of a field, `own` = its own times.
    """

    kind = "field"
    nested = True

    def __init__(
        self,
        grids: list[cones.Grid],
        cone: cones.LightCone,
        letters: tuple[Hashable, ...],
        shape: tuple[int, ...],
        labels: tuple[Any, ...] | None,
        own: slice,
    ) -> None:
        self.grids, self.cone, self.letters, self.shape = grids, cone, letters, shape
        self._observed, self._own = [grid.own for grid in grids], own
        self.boundary, self.transitions = cone.boundary, cone.transitions
        self.past, self.future = len(cone.past), len(cone.future)
        self._labels = labels
        self._numbers: tuple[Ints, Ints] | None = None

    @cached_property
    def n(self) -> int:
        return sum(grid.n for grid in self._observed)

    @cached_property
    def overlap(self) -> float:  # type: ignore[override]
        """How many observations share what they predict: futures overlap, and a pattern that only moves says the same
        at all times."""
        # A cell lies in as many future cones as a future cone has cones.
        return max(float(self.future), self._signatures.size / np.unique(self._signatures).size)

    @cached_property
    def _signatures(self) -> Ints:
        """Numbers of the patterns of all times that have a known cell."""
        found = []
        for grid in self.grids:
            own = cones.slice_signatures(grid, self.letters)[self._own]
            found.append(own if grid.missing is None else own[~grid.missing[self._own].all(axis=(1, 2, 3))])
        return np.concatenate(found)

    def tally(self, executor: Executor | None = None) -> Tally:
        counts = self._counted(executor)
        if counts.dependence is None:
            seen = self._signatures.size, np.unique(self._signatures)
            counts = replace(counts, slices=seen[0], patterns=seen[1], dependence=self.dependence_of(None))
            self._counts = counts
        return counts

    def dependence_of(self, kept: Ints | None) -> Dependence:
        """How far observations are independent, of all or of those with some numbers.

        Cost: O(n depth k) comparisons where the future of a cell shares cells with those of k others.
        """
        x, n_z = self._counted().x, len(self._counted().z)
        assert isinstance(x, Words)
        nesting, sub_cones = self.cone.nesting, self.cone.nesting.sub_cones(x)
        apart = [np.zeros(int(own.max(initial=-1)) + 1, np.int64) for own in sub_cones]
        regional: keys.Counted = np.empty(0, np.int64), np.empty(0, np.int64)
        n_regions, first, taken = 1, 0, 0
        for grid, own in zip(self.grids, self._observed, strict=True):
            every, z_own = self._every_x[first : first + grid.n], self.z[taken : taken + own.n]
            if kept is not None:
                lost = np.ones(grid.n, bool)
                lost[grid.beside()[0].n + kept[(kept >= taken) & (kept < taken + own.n)] - taken] = False
                every = np.where(lost, -1, every)
            labels = grid.laid(every)
            for depth, number in zip(apart, sub_cones, strict=True):
                depth += cones.apart(grid, self.cone, labels, number)
            inside = labels[grid.first : grid.first + grid.rows]
            counted, n_regions = cones.regional(own, self.cone.axes, inside, own.laid(z_own), n_z)
            regional = keys.add(regional, counted)
            first, taken = first + grid.n, taken + own.n
        return Dependence(nesting, tuple(apart), n_regions, regional)

    def _count(self, executor: Executor | None) -> Tally:
        return self._numbered[0] if executor is None else self._number_all(executor)[0]

    @cached_property
    def _numbered(self) -> tuple[Tally, Ints, Ints]:
        return self._number_all(None)

    def _number_all(self, executor: Executor | None) -> tuple[Tally, Ints, Ints]:
        """The counts of all blocks, and x and z of each observation, which are not sent where an executor runs."""
        blocks = []
        for grid in self.grids:
            before, after = grid.beside()
            own = slices(grid.rows, len(slices(self.n))) or [(0, 0)]
            led_to = int(self.transitions == "time")
            blocks += [before, *(grid.cut(grid.first + a, grid.first + b, led_to) for a, b in own), after]
        blocks = [block for block in blocks if block.shape[0]] or blocks[:1]
        chunk = partial(_count_block, self.cone, self.letters, executor is None)
        tallies, x, z = zip(*map_slices(chunk, blocks, executor), strict=True)
        whole, x_places, z_places = merge_all(tallies)
        if executor is not None:
            return whole, whole.pairs[:0], whole.pairs[:0]
        return whole, _joined(x, x_places), _joined(z, z_places)

    @property
    def _every_x(self) -> Ints:
        """The x of all places of all grids, those that are not their own too."""
        return self._numbered[1]

    @cached_property
    def x(self) -> Ints:
        every, first, found = self._every_x, 0, []
        for grid, own in zip(self.grids, self._observed, strict=True):
            begin = first + grid.beside()[0].n
            found.append(every[begin : begin + own.n])
            first += grid.n
        return found[0] if len(found) == 1 else every if every.size == self.n else read_only(np.concatenate(found))

    @property
    def z(self) -> Ints:
        return self._numbered[2]

    @property
    def outcome_cells(self) -> Ints:
        """(n_outcomes, n_cells) letter codes of each outcome, earliest row first."""
        cells: Ints = self.outcomes.codes  # type: ignore[attr-defined]
        return cells

    @property
    def alphabet(self) -> tuple[Hashable, ...] | None:  # type: ignore[override]
        """The symbols that occur: tuples of letters, or letters where one cell is new; None without transitions."""
        symbols = None if self.transitions is None else self._counted().symbols
        return None if symbols is None else symbol_names(symbols)

    @cached_property
    def symbol(self) -> Ints | None:
        """(n,) code of the new cells of the successor, 0 where there is none."""
        successor, steps = self.successor, self._counted().steps
        if successor is None or steps is None:
            return None
        # Whatever leads to an x has the same symbol: the new cells of that.
        of_target = np.zeros(len(self._counted().x), np.int32)
        of_target[steps.target] = steps.symbol
        symbol = of_target[self.x[successor]]
        symbol[successor < 0] = 0
        return read_only(symbol)

    @cached_property
    def successor(self) -> Ints | None:
        if self.transitions is None:
            return None
        found, first = [], 0
        for grid in self._observed:
            number = grid.laid(np.arange(first, first + grid.n, dtype=index_type(self.n)))
            found.append(grid.picked(self.cone.following(number)))
            first += grid.n
        return read_only(np.concatenate(found))

    @cached_property
    def site(self) -> Ints:
        sites = np.arange(np.prod(self.shape), dtype=index_type(int(np.prod(self.shape))))
        return read_only(np.concatenate([grid.picked(place) for grid, place in self._on_fields(sites)]))

    def _on_fields(self, flat: NDArray[Any]) -> Iterator[tuple[cones.Grid, NDArray[Any]]]:
        """What a flat array for the cells of all fields has at the grid of observations of each."""
        first = 0
        for grid in self._observed:
            size = int(np.prod(grid.extent))
            yield grid, flat[first : first + size].reshape(*grid.extent, *flat.shape[1:])[grid.inside]
            first += size

    def field(self, values: ArrayLike) -> NDArray[Any] | Any:
        """Put one value per observation back on the data's grid; NaN where there is no observation.

        Parameters
        ----------
        values : (n,) or (n, k)

        Returns
        -------
        array of shape `shape` (+ (k,)); integers become floats, to have room for NaN. A DataArray with its
        coordinates if the field was one.
        """
        laid = super().field(values)
        if self._labels is None:
            return laid
        kind, dims, coords = self._labels
        return kind(laid, dims=(*dims, "value")[: laid.ndim], coords=coords)

    def _lay(self, values: NDArray[Any], grid: NDArray[Any], missing: Any) -> None:
        taken = first = 0
        for own in self._observed:
            size, part = int(np.prod(own.extent)), values[taken : taken + own.n]
            _lay_one(own, part, grid[first : first + size].reshape(*own.extent, *grid.shape[1:]), missing)
            taken, first = taken + own.n, first + size


def _lay_one(grid: cones.Grid, values: NDArray[Any], field: NDArray[Any], missing: Any) -> None:
    """Put the values of the observations of one field at their places, and what is missing at the others."""
    if grid.valid is not None or grid.shape[1:] != grid.extent[1:]:
        field[:] = missing
    rows = grid.inside[0]
    field[: rows.start], field[rows.stop :] = missing, missing
    places = field[grid.inside]
    if grid.valid is not None:
        places[grid.valid] = values
        return
    laid = values.reshape(places.shape)

    def copy(part: tuple[int, int]) -> None:
        places[slice(*part)] = laid[slice(*part)]

    list(map_slices(copy, slices(grid.shape[0], len(slices(grid.n)) or 1)))


def _count_block(
    cone: cones.LightCone, letters: tuple[Hashable, ...], keep: bool, block: cones.Grid
) -> tuple[Tally, Ints | None, Ints | None]:
    """The counts of a block, and the numbers there of the x and z of each observation, if they are asked for."""
    x, x_keys = cones.number_cones(block, cone.past, len(letters))
    z, z_keys = cones.number_cones(block.own, cone.future, len(letters))
    words = Words(letters, len(cone.past), x_keys), Words(letters, len(cone.future), z_keys)
    own = x[: z.size]
    symbols = steps = None
    if cone.transitions is not None:
        symbols, steps = cones.steps_of(cone, block, x, words[0])
    shapes = cone.past.tobytes(), cone.future.tobytes()
    made = "light cones", len(cone.past), len(cone.future), cone.boundary, cone.transitions, *shapes
    tally = Tally("field", made, *words, *keys.count_pairs(own, z, len(z_keys)), spelled, symbols, steps)
    # Rows that are led to are the first ones of the next block.
    kept = own if block.rows else x
    return tally, *((kept, z) if keep else (None, None))


def _joined(numbers: Sequence[Ints], places: list[Ints]) -> Ints:
    """Numbers of all observations in the whole, from those in each block."""
    if len(numbers) == 1:
        return read_only(numbers[0])
    ends = np.cumsum([0, *(part.size for part in numbers)])
    joined = np.empty(ends[-1], index_type(ends[-1]))

    def translate(i: int) -> None:
        gather(places[i].astype(joined.dtype), numbers[i], joined[ends[i] : ends[i + 1]])

    for _ in map_slices(translate, range(len(numbers))):
        pass
    return read_only(joined)


def light_cones(
    field: Any,
    past: int,
    future: int,
    speed: int = 1,
    boundary: str = "periodic",
    include_present: bool = False,
    past_row_only: bool = False,
    transitions: str | None = None,
    mask: Any = None,
    neighbourhood: str = "moore",
    chunks: int | None = None,
) -> Observations:
    """Observe a space-time field through light cones: x = the past cone of a cell, z = its future cone.

    The past cone of depth p has the rows t, t - 1, ..., t - (p - 1) and the future cone of depth f the rows t + 1, ...,
    t + (f - 1); the row k steps away has the cells within distance speed k. With one space axis and speed 1 these are
    p^2 and f^2 - 1 cells.

    Parameters
    ----------
    field : integer array, time first and then 1, 2 or 3 space axes, or a list of several such arrays with the same
        number of axes; masked arrays and xarray DataArrays too. Large memory maps, and arrays of zarr, HDF5 and Dask,
        are read slice by slice
    past, future : depths of the cones; past >= 1, future >= 2 (>= 1 with `include_present`)
    speed : cells that a signal travels in one step, at least 1
    boundary : "periodic" (space is a ring or a torus), "open" (no observation where a cone leaves the field) or
        "reflect" (mirrored at the outermost cells, which are not repeated, like mode="reflect" of numpy.pad)
    include_present : whether the present cell is part of the future cone too
    past_row_only : whether x is only the oldest row of the past cone, from which a deterministic automaton makes the
        others
    transitions : None; "time": steps lead to the same cell one row later; "space": to the next cell along the last
        axis. The symbol of a step is the cells of x' that are not in x, in the order of `words`
    mask : where cells are missing, in the field's shape (or one that broadcasts to it); a list of masks for a list of
        fields. Observations that need a missing cell are left out
    neighbourhood : "moore" (distance = largest difference along a space axis: cones are pyramids) or "von_neumann"
        (distance = sum of the differences: their sections are diamonds); the same with one space axis
    chunks : time steps in each slice, to read slice by slice; by default as many as take a quarter of a gigabyte,
        where the field is not in memory

    Returns
    -------
    Observations : in the order of the cells. Cost: O(n cells of a cone), vectorised, and one look-up per observation;
        up to 40 bytes per cell of the field, or of a slice, while counting, 1 byte after it
        and 4 for each of x and z.

    Examples
    --------
    >>> field = np.array([[0, 1, 1, 0, 1], [1, 1, 0, 1, 1], [0, 1, 1, 1, 0]])
    >>> obs = light_cones(field, past=1, future=2)
    >>> obs.shape, obs.n, obs.past, obs.letters
    ((3, 5), 10, 1, (0, 1))
    >>> obs.outcomes[0], obs.table().weight
    ((0, 0, 1), array([3, 7]))
    """
    past, speed = arguments.integer(past, "past", of=CALL), arguments.integer(speed, "speed", of=CALL)
    include_present = arguments.flag(include_present, "include_present", of=CALL)
    past_row_only = arguments.flag(past_row_only, "past_row_only", of=CALL)
    why = None if include_present else "it starts one row after the present, so try future=2"
    future = arguments.integer(future, "future", 1 if include_present else 2, remedy=why, of=CALL)
    for name, value, known in (
        ("boundary", boundary, cones.BOUNDARIES),
        ("transitions", transitions, cones.TRANSITIONS),
        ("neighbourhood", neighbourhood, cones.NEIGHBOURHOODS),
    ):
        arguments.choice(value, name, known, CALL)
    several = isinstance(field, (list, tuple)) and len(field) > 0 and all(map(is_array, field))
    parts = list(field) if several else [field]
    masks = _masks(mask, len(parts)) if several else [mask]
    places = [f"'field' number {i}" for i in range(len(parts))] if several else ["'field'"]
    sliced = in_slices(chunks, *parts)
    labels = None
    if sliced:
        parts = [part if is_array_like(part) else cones.as_field(part) for part in parts]
        for part, place in zip(parts, places, strict=True):
            cones.check_cells(part, place)
    else:
        read = list(map(cones.field_data, parts, masks, places))
        parts = [values for values, _ in read]
        labels = read[0][1] if len(read) == 1 else None
    _check_sizes([part.shape for part in parts], past + future - 1, speed * (max(past, future) - 1), boundary)
    options = neighbourhood, include_present, past_row_only, boundary, transitions
    cone = cones.light_cone(past, future, speed, _axes(parts), *options)
    if sliced:
        return _sliced(parts, masks, cone, chunks)
    obs = _observe(parts, cone, labels)
    if not obs.n:
        raise ValueError(
            f"The 'mask' has {sum(map(np.ma.count_masked, parts))} missing cells and leaves no observation; at least "
            "one needs both of its cones whole: use smaller cones or mark fewer cells."
        )
    return obs


def _observe(
    fields: Sequence[Any],
    cone: cones.LightCone,
    labels: tuple[Any, ...] | None,
    own: slice = slice(None),
    beside: tuple[int, int] = (0, 0),
) -> Cones:
    raw, letters = cones.number_letters(fields)
    grids = [cones.make_grid(data, *part, cone, *beside) for data, part in zip(fields, raw, strict=True)]
    return Cones(grids, cone, letters, _joint_shape(fields), labels, own)


def _joint_shape(fields: Sequence[Any]) -> tuple[int, ...]:
    """Of fields one after the other: along the time axis where their space is the same, else flat."""
    shapes = [tuple(np.shape(field)) for field in fields]
    if len({s[1:] for s in shapes}) == 1:
        return sum(s[0] for s in shapes), *shapes[0][1:]
    return (sum(int(np.prod(s)) for s in shapes),)


def _sliced(fields: Sequence[Any], masks: list[Any], cone: cones.LightCone, chunks: int | None) -> Sliced:
    """Cones of slices of the time axis; each slice comes with the rows that its cones reach."""
    shapes = [tuple(np.shape(field)) for field in fields]
    if len({s[1:] for s in shapes}) > 1:
        raise ValueError(
            f"The 'field' list holds arrays of shapes {shapes}; fields that are read slice by slice must have the same "
            "space: observe them apart, and merge the causal states."
        )
    row_bytes = CELL_BYTES * int(np.prod(shapes[0][1:]))
    # Masks are sliced as the fields are.
    for i, (mask, shape) in enumerate(zip(masks, shapes, strict=True)):
        masks[i] = mask if mask is None or np.shape(mask) == shape else cones.broadcast_mask(mask, shape, "'field'")
    # The row after the slice is where its last steps lead to; futures overlap with those of rows before and after it.
    edges, halo = (cone.before, cone.after), cone.halo
    reach = cone.before + halo, cone.after + max(halo, cone.transitions == "time")
    found = cut_parts(zip(fields, masks, strict=True), chunks, row_bytes, *reach, edges)
    return Sliced("field", partial(_observe_part, cone), found, _joint_shape(fields), sum(edges))


def _observe_part(cone: cones.LightCone, part: Part) -> Cones | None:
    field, mask = part.data
    data, _ = cones.field_data(field, mask, "'field'")
    try:
        beside = max(part.own.start - cone.before, 0), max(len(data) - cone.after - part.own.stop, 0)
        return _observe([data], cone, None, part.own, beside)
    except cones.NoCells:
        return None


def _masks(mask: Any, n: int) -> list[Any]:
    """A mask or None for each of several fields."""
    masks = [None] * n if mask is None else mask
    if not isinstance(masks, (list, tuple)) or len(masks) != n:
        raise ValueError(
            f"The 'mask' is no list of {n} masks; several fields need one each: give a list, with None for a "
            "field that is complete."
        )
    return list(masks)


def _axes(fields: Sequence[Any]) -> int:
    """Number of space axes, the same in all fields."""
    axes = {np.ndim(field) for field in fields}
    if len(axes) > 1:
        raise ValueError(
            f"The 'field' list holds arrays of {' and '.join(map(str, sorted(axes)))} axes; all fields must have the "
            "same number: observe them apart."
        )
    return int(axes.pop()) - 1


def _check_sizes(shapes: list[tuple[int, ...]], rows: int, reach: int, boundary: str) -> None:
    """Cones of so many rows must fit the time axis of one field at least, and the space axes of each."""
    longest = max(shape[0] for shape in shapes)
    if longest < rows:
        raise ValueError(
            f"The 'field' has {longest} rows in time; the past and the future cone together need {rows}: use shallower "
            "cones or a longer field."
        )
    need = reach + 1 if boundary == "reflect" else 2 * reach + 1
    for shape in shapes:
        if min(shape[1:]) < need:
            raise ValueError(
                f"The 'field' has {min(shape[1:])} cells along a space axis of its shape {shape}; cones that reach "
                f"{reach} cells to each side need {need} with boundary={boundary!r}: use shallower cones, a "
                "smaller speed or a wider field."
            )
