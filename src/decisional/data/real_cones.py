"""Fields of real numbers: reading them, and the cones that codes are learnt from.

What is learnt must not depend on how a field is cut into slices, nor on how space is turned or mirrored: all choices
are by time, and by the distance from the middle of space.
"""

from collections.abc import Sequence
from functools import cached_property
from itertools import permutations, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._kernels import cone_codes as kernels
from ..support import arguments
from ..support.arrays import Bools, Floats, Ints
from . import cones

# Observations that codes are chosen by; above, those of runs of so many times, at least two.
MOST = 1 << 20
RUN = 16
GOLDEN = (5.0**0.5 - 1.0) / 2.0
# Times among those that vectors are taken from, at least.
TIMES = 64


def real_data(field: Any, mask: Any, variables: bool, place: str) -> tuple[NDArray[Any], Any, tuple[Any, ...] | None]:
    """Numbers (time, ..., variables) of a field, those that are missing 0; where they are, or None; and the class,
    dimensions and coordinates of a DataArray, or None."""
    labels = None
    if cones.is_labelled(field):
        dims = tuple(field.dims)[: -1 if variables else None]
        coords = {name: c for name, c in field.coords.items() if not variables or field.dims[-1] not in c.dims}
        labels = type(field), dims, coords
        field = field.values
    hidden = np.ma.getmaskarray(field) if np.ma.isMA(field) else np.False_
    values = np.asarray(np.ma.getdata(field))
    values = values if values.dtype in (np.float32, np.float64) else values.astype(np.float64)
    values, hidden = (values, hidden) if variables else (values[..., None], np.asarray(hidden)[..., None])
    unknown = np.isnan(values)
    if np.isinf(values).any():
        raise ValueError(f"The {place} has infinite cells; numbers must be finite, or NaN where missing: mend them.")
    missing = (unknown | hidden).any(axis=-1)
    if mask is not None:
        missing = missing | cones.broadcast_mask(mask, values.shape[:-1], place)
    if not missing.any():
        return values, None, labels
    return np.where(missing[..., None], values.dtype.type(0), values), missing, labels


def runs(rows: Sequence[int], cells: Sequence[int]) -> list[tuple[int, int, int]]:
    """Field, first and last row but one, of some rows of fields with so many rows of so many cells."""
    total = sum(n * size for n, size in zip(rows, cells, strict=True))
    if total <= MOST:
        return [(i, 0, n) for i, n in enumerate(rows)]
    found = []
    for i, n in enumerate(rows):
        taken = min(max(MOST * n // total, 4), n)
        length = max(min(RUN, taken // 2), 1)
        begins = np.linspace(0, n - length, max(taken // length, 1)).astype(np.int64)
        found += [(i, int(a), int(a) + length) for a in begins]
    return found


class Cells:
    """The cells of cones at some places of grids, as vectors.

    Parameters
    ----------
    grids : of numbers
    cone : whose cells they are
    most : places that are taken, about
    """

    def __init__(self, grids: Sequence[cones.Grid], cone: cones.LightCone, most: int) -> None:
        self._grids, self.cone = grids, cone
        n = sum(int(np.prod(grid.shape)) for grid in grids)
        self._places = [_scattered(grid, cone.axes, most * int(np.prod(grid.shape)) / max(n, 1)) for grid in grids]

    @property
    def variables(self) -> int:
        """Numbers in a cell."""
        return self._grids[0].variables

    def vectors(self, offsets: Ints) -> Floats:
        """(n, d) numbers at some offsets (d / variables, 4) from each place, those of the first variable first."""
        found = []
        for grid, places in zip(self._grids, self._places, strict=True):
            every = cones.stacked(offsets, grid)
            vectors = np.empty((len(places), len(every)))
            kernels.fill_vectors(grid.cells, every, places, vectors)
            found.append(vectors)
        return np.concatenate(found)

    @property
    def held(self) -> Bools:
        """(n,) a quarter of the places, those at every fourth time that there are any at."""
        times = [np.unique(places[:, 0], return_inverse=True)[1].reshape(-1) for places in self._places]
        first = np.cumsum([0, *(int(t.max(initial=-1)) + 1 for t in times)])
        held: Bools = np.concatenate([t + k for t, k in zip(times, first, strict=False)]) % 4 == 3
        return held

    @cached_property
    def turns(self) -> Ints:
        """(n_turns, d) where the cells of a past cone come to lie as space is mirrored and its axes are exchanged."""
        cone, axes = self.cone, self.cone.axes
        cells = cone.past - np.array([0, *cone.reach])
        place = {tuple(cell): k for k, cell in enumerate(cells.tolist())}
        found = []
        for order, signs in product(permutations(range(axes)), product((1, -1), repeat=axes)):
            turned = cells.copy()
            turned[:, 4 - axes :] = cells[:, 4 - axes :][:, list(order)] * signs
            one = np.array([place[tuple(cell)] for cell in turned.tolist()])
            found.append(np.concatenate([one + k * len(cells) for k in range(self._grids[0].variables)]))
        return np.array(found)


def _scattered(grid: cones.Grid, axes: int, most: float) -> Ints:
    """(n, 4) about so many places of a grid: all places at some times, or a lattice around the middle of space."""
    times, space = grid.shape[0], int(np.prod(grid.shape[1:]))
    step = max(int(np.ceil((space * min(times, TIMES) / max(most, 1.0)) ** (1.0 / axes))), 1)
    kept: Bools = np.ones(grid.shape[1:], bool)
    for axis in range(3 - axes, 3):
        ring = np.abs(2 * (grid.corner[axis + 1] + np.arange(grid.shape[axis + 1])) - (grid.extent[axis + 1] - 1)) // 2
        kept &= (ring % step == step // 2).reshape([-1 if k == axis else 1 for k in range(3)])
    rows = min(max(int(most / max(int(kept.sum()), 1)), 1), times)
    chosen = np.sort(np.argsort(np.mod(np.arange(times) * GOLDEN, 1.0), kind="stable")[:rows])
    valid = kept[None] if grid.valid is None else grid.valid[chosen] & kept
    places = np.argwhere(np.broadcast_to(valid, (rows, *kept.shape)))
    places[:, 0] = chosen[places[:, 0]]
    return places


def check_real(values: Any, variables: bool, place: str) -> None:
    """Whether an array of numbers, in memory or not, can be a field."""
    axes = len(values.shape) - 1 - variables
    if values.size == 0:
        raise ValueError(f"The {place} has shape {values.shape}; it must have cells: check the input.")
    if values.dtype.kind not in "fbiu":
        rule = "its cells must be real numbers: convert them"
        raise ValueError(f"The {place} has cells of type {values.dtype}; {rule}.")
    if axes < 1:
        more = " besides the variables" if variables else ""
        raise ValueError(
            f"The {place} has {len(values.shape)} axes; a field has time and at least one space axis{more}: use "
            "ds.observe.delays for a series of numbers."
        )
    if axes > 3:
        raise ValueError(
            f"The {place} has {axes} space axes; light cones have 1, 2 or 3: take a slice of the field, or give "
            "variables=True if the last axis has several numbers of each cell."
        )


def refuse_steps(transitions: Any) -> None:
    """Numbers have no symbols."""
    if transitions is not None:
        rule = "None for a real-valued field, whose cells are no symbols"
        raise ValueError(arguments.refusal("transitions", transitions, rule, "leave it out", of="light_cones"))
