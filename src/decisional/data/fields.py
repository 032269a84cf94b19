"""Space-time fields: x is the past light cone of a cell, z its future cone."""

from collections.abc import Hashable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from functools import cached_property, partial, reduce
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._kernels.gather import gather
from ..support import arguments
from ..support.arrays import Ints, index_type, is_array_like, read_only
from ..support.executors import map_slices, slices
from . import cones, keys, real_cones
from .coding import Coder, Coding, Letters
from .nesting import Dependence
from .observations import Observations, Way
from .sequences import is_array
from .slices import Part, Sliced, cut_parts, in_slices
from .stores import load, stored
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
    """Observations of light cones; the source is a grid of letter codes, or of numbers, per field.

    Besides the attributes of `Observations`: `cone` and `outcome_cells`. For slices of a field, `own` = its own times.
    Those of numbers have no x and z before they are `coded`.
    """

    kind = "field"
    nested = True

    def __init__(
        self,
        grids: list[cones.Grid],
        cone: cones.LightCone,
        coding: Coding | None,
        shape: tuple[int, ...],
        labels: tuple[Any, ...] | None = None,
        own: slice = slice(None),
    ) -> None:
        self.grids, self.cone, self.coding, self.shape = grids, cone, coding, shape
        self._observed, self._own = [grid.own for grid in grids], own
        self.boundary, self.transitions = cone.boundary, cone.transitions
        self._labels = labels
        self.letters = () if coding is None else coding.letters
        self.past, self.future = (len(cells) * grids[0].variables for cells in (cone.past, cone.future))
        if isinstance(coding, Coder):
            self.past, self.future = coding.x.depth, coding.z.depth + coding.centre.depth

    @property
    def uncoded(self) -> bool:
        return self.coding is None

    @property
    def coder(self) -> Coder | None:
        return self.coding if isinstance(self.coding, Coder) else None

    def coded(self, coder: Coder) -> "Cones":
        coder.check(self.cone, self.grids[0].variables)
        found = Cones(self.grids, self.cone, coder, self.shape, self._labels, self._own)
        found.way = self.way
        return found

    def excerpt(self) -> "Cones":
        rows = [grid.shape[0] for grid in self.grids]
        runs = real_cones.runs(rows, [int(np.prod(grid.shape[1:])) for grid in self.grids])
        grids = [self.grids[i].cut(a, b) for i, a, b in runs]
        return Cones(grids, self.cone, None, self.shape)

    def __getitem__(self, rows: Any) -> Observations:
        if not self.uncoded:
            return super().__getitem__(rows)
        wanted, taken, grids = np.zeros(self.shape[0], bool), 0, []
        wanted[rows[0] if isinstance(rows, tuple) and rows[1:] == (Ellipsis,) else rows] = True
        for grid in self.grids:
            own = wanted[taken : taken + grid.extent[0]][grid.inside[0]].reshape(-1, 1, 1, 1)
            valid = np.broadcast_to(own, grid.shape) if grid.valid is None else grid.valid & own
            grids.append(replace(grid, valid=np.ascontiguousarray(valid)))
            taken += grid.extent[0]
        if not any(grid.n for grid in grids):
            raise ValueError(
                f"None of {self.n} observations is at the places that were chosen; at least one must be: choose more."
            )
        found = Cones(grids, self.cone, None, self.shape, self._labels, self._own)
        found.way = self.way
        return found

    def halves(self) -> "tuple[Cones, Cones]":
        """Observations of the first half of all times, and those of the second."""
        left = sum(grid.shape[0] for grid in self.grids) // 2
        halves: tuple[list[cones.Grid], list[cones.Grid]] = [], []
        for grid in self.grids:
            cut = min(max(left, 0), grid.shape[0])
            left -= grid.shape[0]
            for half, rows in zip(halves, ((0, cut), (cut, grid.shape[0])), strict=True):
                half += [grid.cut(*rows)] if rows[1] > rows[0] else []
        first, second = (Cones(half, self.cone, None, self.shape) for half in halves if half)
        return first, second

    @cached_property
    def n(self) -> int:
        return sum(grid.n for grid in self._observed)

    @cached_property
    def overlap(self) -> float:  # type: ignore[override]
        """How many observations share what they predict: futures overlap, and a pattern that only moves says the same
        at all times."""
        # A cell lies in as many future cones as a future cone has cells.
        return max(float(len(self.cone.future)), self._signatures.size / np.unique(self._signatures).size)

    @property
    def _known_coding(self) -> Coding:
        if self.coding is None:
            raise ValueError(
                "The x and z of a real-valued field are codes that are learnt from it, and are not known yet: fit "
                "CausalStates, and take its 'observations_'."
            )
        return self.coding

    @cached_property
    def _signatures(self) -> Ints:
        """Numbers of the patterns of all times that have a known cell."""
        found = []
        for grid in self.grids:
            own = cones.slice_signatures(grid, self._known_coding.signed)[self._own]
            found.append(own if grid.missing is None else own[~grid.missing[self._own].all(axis=(1, 2, 3))])
        return np.concatenate(found)

    def tally(self, executor: Executor | None = None) -> Tally:
        counts = self._counted(executor)
        if counts.dependence is None:
            seen = self._signatures.size, np.unique(self._signatures)
            counts = replace(counts, slices=seen[0], patterns=seen[1], dependence=self._dependence_of(None))
            self._counts = counts
        return counts

    def _dependence_of(self, kept: Ints | None) -> Dependence:
        """How far observations are independent, of all or of those with some numbers.

        Cost: O(n depth k) comparisons where the future of a cell shares cells with those of k others.
        """
        x, n_z = self._counted().x, len(self._counted().z)
        assert isinstance(x, Words)
        nesting = self._known_coding.nesting
        sub_cones = nesting.sub_cones(x)
        apart = [np.zeros(int(own.max(initial=-1)) + 1, np.int64) for own in sub_cones]
        regional: list[keys.Counted] = []
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
            regional.append(counted)
            first, taken = first + grid.n, taken + own.n
        return Dependence(nesting, tuple(apart), n_regions, reduce(keys.add, regional))

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
        chunk = partial(_count_block, self._known_coding, executor is None)
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


def _count_block(coding: Coding, keep: bool, block: cones.Grid) -> tuple[Tally, Ints | None, Ints | None]:
    """The counts of a block, and the numbers there of the x and z of each observation, if they are asked for."""
    (x, x_words), (z, z_words) = coding.past(block), coding.future(block.own)
    own = x[: z.size]
    symbols = steps = None
    if coding.cone.transitions is not None:
        symbols, steps = cones.steps_of(coding.cone, block, x, x_words)
    coder = coding if isinstance(coding, Coder) else None
    counted = keys.count_pairs(own, z, len(z_words))
    spell = spelled if coder is None else coder.spelled
    tally = Tally("field", coding.made, x_words, z_words, *counted, spell, symbols, steps, coder=coder)
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
    past_end: int = 0,
    variables: bool = False,
) -> Observations:
    """Observe a space-time field through light cones: x = the past cone of a cell, z = its future cone.

    The past cone of depth p has the rows t, t - 1, ..., t - (p - 1) and the future cone of depth f the rows t + 1, ...,
    t + (f - 1); the row k steps away has the cells within distance speed k. With one space axis and speed 1 these are
    p^2 and f^2 - 1 cells.

    Real numbers hardly repeat: the fit learns codes of past and future cones that tell as much as they can of each
    other, see `states.cone_coder`. Outcomes are then values of the middle cell of the future's first row.

    Parameters
    ----------
    field : array of integers or of real numbers, time first and then 1, 2 or 3 space axes, or a list of several such
        arrays with the same number of axes; masked arrays and xarray DataArrays too. NaN is a missing cell. Large
        memory maps, and arrays of zarr, HDF5 and Dask, are read slice by slice
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
    past_end : how many steps before the present the past cone ends: its rows are t - past_end, ..., t - past_end -
        (past - 1). With past_end=1, future=1 and include_present=True, z is the present cell
    variables : whether the last axis of the field has several numbers of each cell, which then are real numbers

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
    past_end = arguments.integer(past_end, "past_end", 0, of=CALL)
    include_present = arguments.flag(include_present, "include_present", of=CALL)
    past_row_only = arguments.flag(past_row_only, "past_row_only", of=CALL)
    variables = arguments.flag(variables, "variables", of=CALL)
    why = None if include_present else "it starts one row after the present, so try future=2"
    future = arguments.integer(future, "future", 1 if include_present else 2, remedy=why, of=CALL)
    for name, value, known in (
        ("boundary", boundary, cones.BOUNDARIES),
        ("transitions", transitions, cones.TRANSITIONS),
        ("neighbourhood", neighbourhood, cones.NEIGHBOURHOODS),
    ):
        arguments.choice(value, name, known, CALL)
    parts, masks, shapes, real = _given_fields(field, mask, variables)
    if real:
        real_cones.refuse_steps(transitions)
    deepest = past + past_end
    _check_sizes(shapes, deepest + future - 1, speed * (max(deepest, future) - 1), boundary)
    options = neighbourhood, include_present, past_row_only, boundary, transitions, past_end
    cone = cones.light_cone(past, future, speed, _axes(shapes), *options)
    made: dict[str, Any] = {"past": past, "future": future, "speed": speed, "boundary": boundary}
    made |= {"include_present": include_present, "past_row_only": past_row_only, "transitions": transitions}
    way = Way("light_cones", {**made, "neighbourhood": neighbourhood, "past_end": past_end, "variables": variables})
    if in_slices(chunks, *parts):
        found = _sliced(parts, masks, cone, chunks, variables if real else None)
        found.way = way
        return found
    obs = _observe_real(parts, masks, cone, variables) if real else _observe_letters(parts, masks, cone)
    if not obs.n:
        raise ValueError(
            f"The {'field' if mask is None else 'mask'!r} has {_n_missing(obs.grids)} missing cells and leaves no "
            "observation; at least one needs both of its cones whole: use smaller cones or mark fewer cells."
        )
    obs.way = way
    return obs


def _given_fields(field: Any, mask: Any, variables: bool) -> tuple[list[Any], list[Any], list[tuple[int, ...]], bool]:
    """Fields as arrays, in memory or not, with their masks and their shapes in time and space; and whether their cells
    are real numbers."""
    several = isinstance(field, (list, tuple)) and len(field) > 0 and all(map(is_array, field))
    parts = list(field) if several else [field]
    masks = _masks(mask, len(parts)) if several else [mask]
    parts = [part if is_array_like(part) or cones.is_labelled(part) else cones.as_field(part) for part in parts]
    arrays = [part if is_array_like(part) else part.values for part in parts]
    real = variables or any(array.dtype.kind == "f" for array in arrays)
    for array, place in zip(arrays, _named(parts), strict=True):
        if real:
            real_cones.check_real(array, variables, place)
        else:
            cones.check_cells(array, place)
    shapes = [tuple(array.shape) for array in arrays]
    if variables and len({shape[-1] for shape in shapes}) > 1:
        raise ValueError(
            f"The 'field' list holds arrays of shapes {shapes}; with variables=True their last axes must be alike: "
            "give the same variables in all."
        )
    return parts, masks, [shape[:-1] if variables else shape for shape in shapes], real


def _named(parts: Sequence[Any]) -> list[str]:
    """What fields are called in messages."""
    return [f"'field' number {i}" for i in range(len(parts))] if len(parts) > 1 else ["'field'"]


def _n_missing(grids: Sequence[cones.Grid]) -> int:
    return sum(0 if grid.missing is None else int(np.count_nonzero(grid.missing)) for grid in grids)


def _observe_letters(parts: Sequence[Any], masks: list[Any], cone: cones.LightCone) -> Cones:
    read = list(map(cones.field_data, parts, masks, _named(parts)))
    return _observe([values for values, _ in read], cone, read[0][1] if len(read) == 1 else None)


def _observe_real(parts: Sequence[Any], masks: list[Any], cone: cones.LightCone, variables: bool) -> Cones:
    given = zip(parts, masks, _named(parts), strict=True)
    read = [real_cones.real_data(part, mask, variables, name) for part, mask, name in given]
    grids = [cones.make_real_grid(values, missing, cone) for values, missing, _ in read]
    shape = _joint_shape([values.shape[:-1] for values, _, _ in read])
    return Cones(grids, cone, None, shape, read[0][2] if len(read) == 1 else None)


def _observe(
    fields: Sequence[Any],
    cone: cones.LightCone,
    labels: tuple[Any, ...] | None = None,
    own: slice = slice(None),
    beside: tuple[int, int] = (0, 0),
) -> Cones:
    raw, letters = cones.number_letters(fields)
    grids = [cones.make_grid(data, *part, cone, *beside) for data, part in zip(fields, raw, strict=True)]
    return Cones(grids, cone, Letters(letters, cone), _joint_shape([np.shape(f) for f in fields]), labels, own)


def _joint_shape(shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """Of fields one after the other: along the time axis where their space is the same, else flat."""
    if len({s[1:] for s in shapes}) == 1:
        return sum(s[0] for s in shapes), *shapes[0][1:]
    return (sum(int(np.prod(s)) for s in shapes),)


def _sliced(
    fields: Sequence[Any], masks: list[Any], cone: cones.LightCone, chunks: int | None, variables: bool | None
) -> Sliced:
    """Cones of slices of the time axis; each slice comes with the rows that its cones reach."""
    shapes = [tuple(np.shape(field))[: -1 if variables else None] for field in fields]
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
    if variables is not None:
        row_bytes *= int(np.prod(np.shape(fields[0]))) // int(np.prod(shapes[0])) + 1
    found = cut_parts(zip(fields, masks, strict=True), chunks, row_bytes, *reach, edges)
    shape = _joint_shape(shapes)
    if variables is None:
        return Sliced("field", partial(_observe_part, cone), found, shape, sum(edges))
    return RealSlices(cone, variables, None, found, shape, (list(fields), masks, shapes))


def _observe_part(cone: cones.LightCone, part: Part) -> Cones | None:
    field, mask = part.data
    data, _ = cones.field_data(field, mask, "'field'")
    try:
        beside = max(part.own.start - cone.before, 0), max(len(data) - cone.after - part.own.stop, 0)
        return _observe([data], cone, None, part.own, beside)
    except cones.NoCells:
        return None


class RealSlices(Sliced):
    """Observations of slices of real-valued fields.

    Parameters
    ----------
    cone, variables : how they are made, see `light_cones`
    coder : of x and z, None before there is one
    parts, shape : see `Sliced`
    fields : whole fields, their masks, and their shapes without the variables
    """

    def __init__(
        self,
        cone: cones.LightCone,
        variables: bool,
        coder: Coder | None,
        parts: list[Part],
        shape: tuple[int, ...],
        fields: tuple[list[Any], list[Any], list[tuple[int, ...]]],
    ) -> None:
        super().__init__("field", partial(_observe_real_part, cone, variables, coder), parts, shape, cone.edge)
        self.cone, self._variables, self._coder, self._fields = cone, variables, coder, fields

    @property
    def uncoded(self) -> bool:
        return self._coder is None

    @property
    def coder(self) -> Coder | None:
        return self._coder

    def coded(self, coder: Coder) -> "RealSlices":
        width = self._fields[0][0].shape[-1] if self._variables else 1
        coder.check(self.cone, width)
        found = RealSlices(self.cone, self._variables, coder, self.parts, self.shape, self._fields)
        found.way = self.way
        return found

    def excerpt(self) -> Cones:
        fields, masks, shapes = self._fields
        sides = (0, 0, 0) if self.cone.boundary != "open" else self.cone.reach
        space = [int(np.prod([n - 2 * e for n, e in zip(s[:0:-1], sides[::-1], strict=False)])) for s in shapes]
        rows = [max(s[0] - self.cone.edge, 0) for s in shapes]
        grids = []
        for i, first, stop in real_cones.runs(rows, space):
            both = [a if stored(a) is None else stored(a) for a in (fields[i], masks[i])]
            data, mask = (a if a is None else load(a[first : stop + self.cone.edge]) for a in both)
            values, missing, _ = real_cones.real_data(data, mask, self._variables, "'field'")
            grids.append(cones.make_real_grid(values, missing, self.cone))
        return Cones(grids, self.cone, None, self.shape)


def _observe_real_part(cone: cones.LightCone, variables: bool, coder: Coder | None, part: Part) -> Cones | None:
    field, mask = part.data
    values, missing, _ = real_cones.real_data(field, mask, variables, "'field'")
    if missing is not None and missing.all():
        return None
    beside = max(part.own.start - cone.before, 0), max(len(values) - cone.after - part.own.stop, 0)
    grid = cones.make_real_grid(values, missing, cone, *beside)
    return Cones([grid], cone, coder, values.shape[:-1], None, part.own)


def _masks(mask: Any, n: int) -> list[Any]:
    """A mask or None for each of several fields."""
    masks = [None] * n if mask is None else mask
    if not isinstance(masks, (list, tuple)) or len(masks) != n:
        raise ValueError(
            f"The 'mask' is no list of {n} masks; several fields need one each: give a list, with None for a "
            "field that is complete."
        )
    return list(masks)


def _axes(shapes: Sequence[tuple[int, ...]]) -> int:
    """Number of space axes, the same in all fields."""
    axes = set(map(len, shapes))
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
