"""Space-time fields: x is the past light cone of a cell, z its future cone."""

from functools import partial
from typing import Any

import numpy as np

from . import cells, geometry
from .alphabet import is_array
from .cones import Cones
from .observations import Observations
from .slices import Part, Sliced, check_chunks, rows_at_once
from .stores import cuts, is_stored, stored

__all__ = ["light_cones"]

# What the work on a cell takes while it is counted.
CELL_BYTES = 64


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
    Observations : `Cones` (or `Sliced`), in the order of the cells. Cost: O(n cells of a cone), vectorised, and one
        look-up per observation; up to 40 bytes per cell of the field, or of a slice, while counting, 1 byte after it
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
    _check(past, future, speed, boundary, include_present, transitions, neighbourhood)
    check_chunks(chunks)
    several = isinstance(field, (list, tuple)) and len(field) > 0 and all(map(is_array, field))
    parts = list(field) if several else [field]
    masks = _masks(mask, len(parts)) if several else [mask]
    places = [f"'field' number {i}" for i in range(len(parts))] if several else ["'field'"]
    sliced = chunks is not None or any(map(is_stored, parts))
    fields = []
    if sliced:
        parts = [part if hasattr(part, "shape") else np.asarray(part) for part in parts]
        for part, place in zip(parts, places, strict=True):
            cells.check_cells(part, place)
    else:
        fields = [cells.field_data(*part) for part in zip(parts, masks, places, strict=True)]
        parts = [data.values for data in fields]
    options = int(speed), _axes(parts), neighbourhood, bool(include_present), bool(past_row_only), transitions
    cone = geometry.light_cone(int(past), int(future), *options)
    _check_sizes([part.shape for part in parts], cone, boundary)
    if sliced:
        return _sliced(parts, masks, cone, boundary, transitions, chunks)
    found = _observe(fields, cone, boundary, transitions)
    if not found.n:
        raise ValueError(
            f"The 'mask' has {sum(int(d.missing.sum()) for d in fields if d.missing is not None)} missing cells and "
            "leaves no observation; at least one needs both of its cones whole: use smaller cones or mark fewer cells."
        )
    return found


def _observe(
    fields: list[cells.Data],
    cone: geometry.LightCone,
    boundary: str,
    transitions: str | None,
    own: slice = slice(None),
    beyond: int = 0,
) -> Cones:
    raw, lut, letters = cells.number_letters(fields)
    grids = [cells.make_grid(data, part, lut, cone, boundary) for data, part in zip(fields, raw, strict=True)]
    labels = fields[0].labels if len(fields) == 1 else None
    shape = _joint_shape([data.values.shape for data in fields])
    return Cones(grids, cone, letters, shape, boundary, transitions, labels, own, beyond)


def _joint_shape(shapes: list[tuple[int, ...]]) -> tuple[int, ...]:
    """Of fields one after the other: along the time axis where their space is the same, else flat."""
    if len({s[1:] for s in shapes}) == 1:
        return sum(s[0] for s in shapes), *shapes[0][1:]
    return (sum(int(np.prod(s)) for s in shapes),)


def _sliced(
    fields: list[Any],
    masks: list[Any],
    cone: geometry.LightCone,
    boundary: str,
    transitions: str | None,
    chunks: int | None,
) -> Sliced:
    """Cones of slices of the time axis; each slice comes with the rows that its cones reach."""
    shapes = [tuple(np.shape(field)) for field in fields]
    if len({s[1:] for s in shapes}) > 1:
        raise ValueError(
            f"The 'field' list holds arrays of shapes {shapes}; fields that are read slice by slice must have the same "
            "space: observe them apart, and merge the causal states."
        )
    found, offset = [], 0
    for field, mask in zip(fields, masks, strict=True):
        data = stored(field) if stored(field) is not None else field
        steps = len(data)
        rows = chunks or rows_at_once(CELL_BYTES * int(np.prod(shapes[0][1:])))
        first, last = cone.before, steps - cone.after
        for a, b in cuts(data, first, last, rows) if last > first else [(0, steps)]:
            # The row after the slice is where its last steps lead to.
            beyond = int(transitions == "time" and b < last)
            low, high = max(a - cone.before, 0), min(b + cone.after + beyond, steps)
            begin, end = (0 if a == first else a), (steps if b == last else b)
            lost = mask if np.ndim(mask) < len(shapes[0]) or len(mask) != steps else mask[low:high]
            more = slice(begin - low, end - low), beyond
            found.append(Part((data[low:high], lost), offset + begin, offset + end, offset + low, more))
        offset += steps
    return Sliced(partial(_observe_part, cone, boundary, transitions), found, _joint_shape(shapes))


def _observe_part(cone: geometry.LightCone, boundary: str, transitions: str | None, part: Part) -> Cones | None:
    field, mask = part.data
    data = cells.field_data(field, mask, "'field'")
    try:
        return _observe([data], cone, boundary, transitions, *part.more)
    except cells.NoCells:
        return None


def _check(
    past: Any, future: Any, speed: Any, boundary: Any, include_present: bool, transitions: Any, neighbourhood: Any
) -> None:
    for name, value, least in (
        ("past", past, 1),
        ("future", future, 1 if include_present else 2),
        ("speed", speed, 1),
    ):
        if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or value < least:
            why = " (the future starts one row after the present)" if least == 2 else ""
            raise ValueError(
                f"The '{name}' parameter of light_cones must be an integer of at least {least}{why}. "
                f"Got {value!r} instead."
            )
    for name, value, known in (
        ("boundary", boundary, geometry.BOUNDARIES),
        ("transitions", transitions, geometry.TRANSITIONS),
        ("neighbourhood", neighbourhood, geometry.NEIGHBOURHOODS),
    ):
        if not (value is None or isinstance(value, str)) or value not in known:
            *others, last = map(repr, known)
            raise ValueError(
                f"The '{name}' parameter of light_cones must be {', '.join(others)} or {last}. Got {value!r} instead."
            )


def _masks(mask: Any, n: int) -> list[Any]:
    """A mask or None for each of several fields."""
    masks = [None] * n if mask is None else mask
    if not isinstance(masks, (list, tuple)) or len(masks) != n:
        raise ValueError(
            f"The 'mask' is no list of {n} masks; several fields need one each: give a list, with None for a "
            "field that is complete."
        )
    return list(masks)


def _axes(fields: list[Any]) -> int:
    """Number of space axes, the same in all fields."""
    axes = {np.ndim(field) for field in fields}
    if len(axes) > 1:
        raise ValueError(
            f"The 'field' list holds arrays of {' and '.join(map(str, sorted(axes)))} axes; all fields must have the "
            "same number: observe them apart."
        )
    return int(axes.pop()) - 1


def _check_sizes(shapes: list[tuple[int, ...]], cone: geometry.LightCone, boundary: str) -> None:
    """A cone must fit the time axis of one field at least, and the space axes of each."""
    rows, reach = cone.before + cone.after + 1, cone.reach[-1]
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
                f"{reach} cells to each side need {need} with boundary={boundary!r}: use shallower cones, a smaller "
                "speed or a wider field."
            )
