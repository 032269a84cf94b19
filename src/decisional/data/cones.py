"""Observations of light cones: counted in slices of the time axis, numbered over all of them."""

from collections.abc import Hashable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from functools import cached_property, partial
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._kernels import cones as kernels
from ..support.arrays import Ints, read_only
from ..support.executors import map_slices, slices
from . import cells, geometry, ranks
from .observations import Observations, Steps, Table
from .tally import Tally, count_of
from .vocabularies import Words, pack, unpack

__all__ = ["Cones", "Outcomes"]


class Outcomes(Sequence[tuple[Hashable, ...]]):
    """The distinct future cones as tuples of letters, made when asked for."""

    def __init__(self, codes: Ints, letters: tuple[Hashable, ...]) -> None:
        self._codes, self._letters = codes, letters

    def __len__(self) -> int:
        return len(self._codes)

    @overload
    def __getitem__(self, index: int) -> tuple[Hashable, ...]: ...
    @overload
    def __getitem__(self, index: slice) -> "Outcomes": ...
    def __getitem__(self, index: int | slice) -> "tuple[Hashable, ...] | Outcomes":
        if isinstance(index, slice):
            return Outcomes(self._codes[index], self._letters)
        return tuple(self._letters[code] for code in self._codes[index])

    @property
    def cells(self) -> NDArray[Any]:
        """(n, n_cells) the letters themselves."""
        return np.array(self._letters)[self._codes]

    def __repr__(self) -> str:
        return f"Outcomes({len(self)} futures of {self._codes.shape[1]} cells)"


class Cones(Observations):
    """Observations of light cones; the source is a grid of letter codes per field.

    Besides the attributes of `Observations`: `outcome_cells`, and `future` = number of cells in z. For slices of a
    field, `own` = its own times, and `beyond` = last rows of observations that are only there to be led to.
    """

    def __init__(
        self,
        grids: list[cells.Grid],
        cone: geometry.LightCone,
        letters: tuple[Hashable, ...],
        shape: tuple[int, ...],
        boundary: str,
        transitions: str | None,
        labels: tuple[Any, ...] | None,
        own: slice = slice(None),
        beyond: int = 0,
    ) -> None:
        self.grids, self.cone, self.letters, self.shape = grids, cone, letters, shape
        self._observed = [grid.without_last(beyond) for grid in grids]
        self._own, self._beyond = own, beyond
        self.boundary, self.transitions = boundary, transitions
        self.past, self.future = len(cone.past), len(cone.future)
        self._labels = labels
        self._whole: ranks.Counted | None = None
        self._table: Table | None = None
        self._numbers: dict[str, Ints] = {}

    @cached_property
    def n(self) -> int:
        return sum(grid.n for grid in self._observed)

    @cached_property
    def overlap(self) -> float:  # type: ignore[override]
        """How many observations share what they predict: futures overlap, and a pattern that only moves says the same
        at all times."""
        # A cell lies in as many future cones as a future cone has cells.
        return max(float(self.future), self._signatures.size / np.unique(self._signatures).size)

    @cached_property
    def _signatures(self) -> Ints:
        """Numbers of the patterns of all times that have a known cell."""
        found = []
        for grid in self.grids:
            own = cells.slice_signatures(grid, self.letters)[self._own]
            found.append(own if grid.missing is None else own[~grid.missing[self._own].all(axis=(1, 2, 3))])
        return np.concatenate(found)

    def tally(self) -> Tally:
        cone, base = self.cone, self.letters
        table = self.table()
        shapes = cone.past.tobytes(), cone.future.tobytes()
        kind = "light cones", self.past, self.future, self.boundary, self.transitions, *shapes
        x = Words(base, self.past, self._counted.x_keys)
        z = Words(base, self.future, self._counted.z_keys)
        symbols = None
        if cone.new is not None:
            symbols = Words(base, cone.new.size, pack(self._symbols[0], len(base)))
        whole = count_of(kind, x, z, table, spelled, symbols)
        return replace(whole, slices=self._signatures.size, patterns=np.unique(self._signatures))

    def table(self, executor: Executor | None = None) -> Table:
        if self._table is None:
            whole = self._count(executor, keep=executor is None)
            row, outcome = np.divmod(whole.pairs, whole.z_keys.shape[0])
            n_x, n_z = whole.x_keys.shape[0], whole.z_keys.shape[0]
            start = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=n_x))])
            shared = np.zeros(n_x, np.int64)
            self._table = Table(start, outcome, whole.counts, n_z, shared, self._steps(whole))
        return self._table

    def _steps(self, whole: ranks.Counted) -> Steps | None:
        if whole.steps is None or whole.step_counts is None:
            return None
        source, target = np.divmod(whole.steps, whole.x_keys.shape[0])
        symbol = self._symbols[1][target]
        order = np.lexsort((target, symbol, source))
        return Steps(source[order], symbol[order], target[order], whole.step_counts[order])

    def _count(self, executor: Executor | None, keep: bool) -> ranks.Counted:
        """Count all parts, wherever the executor runs; with `keep`, note x and z of each observation too."""
        options = self.boundary == "periodic", self.transitions, keep
        chunk = partial(ranks.count_part, self.cone, len(self.letters), *options)
        parts = list(map_slices(chunk, list(self._parts()), executor))
        self._whole, *places = ranks.combine(parts)
        if keep:
            self._numbers["x"] = _joined([part.x for part in parts], places[0])
            self._numbers["z"] = _joined([part.z for part in parts], places[1])
        return self._whole

    def _parts(self) -> Iterator[ranks.Part]:
        cone, n_slices = self.cone, len(slices(self.n))
        for grid in self.grids:
            for first, stop in slices(max(grid.shape[0] - self._beyond, 0), n_slices) or [(0, 0)]:
                end = min(stop + (self.transitions == "time"), grid.shape[0])
                valid = None if grid.valid is None else grid.valid[first:end]
                reached = grid.cells[first : end + cone.before + cone.after]
                yield ranks.Part(reached, valid, (end - first, *grid.shape[1:]), stop - first)

    @property
    def _counted(self) -> ranks.Counted:
        if self._whole is None:
            self.table()
        assert self._whole is not None
        return self._whole

    def _number(self, name: str) -> Ints:
        if not self._numbers:
            self._count(None, keep=True)
        return read_only(self._numbers[name])

    @property
    def x(self) -> Ints:
        return self._number("x")

    @property
    def z(self) -> Ints:
        return self._number("z")

    def words(self, rows: Ints) -> Ints:
        return unpack(self._counted.x_keys[rows], len(self.letters), self.past)

    @cached_property
    def outcome_cells(self) -> Ints:
        """(n_outcomes, n_cells) letter codes of each outcome, earliest row first."""
        kind = self.grids[0].cells.dtype
        return read_only(unpack(self._counted.z_keys, len(self.letters), self.future, kind))

    @property
    def outcomes(self) -> Outcomes:
        return Outcomes(self.outcome_cells, self.letters)

    @cached_property
    def _symbols(self) -> tuple[Ints, Ints]:
        """Letter codes of each symbol, and the symbol of the steps that lead to each x (0 where none does)."""
        whole = self._counted
        n_x = whole.x_keys.shape[0]
        assert self.cone.new is not None
        assert whole.steps is not None
        reached = np.zeros(n_x, bool)
        reached[whole.steps % n_x] = True
        base, new = len(self.letters), self.cone.new
        number, keys = ranks.project(whole.x_keys[reached], base, self.past, new)
        symbol = np.zeros(n_x, np.int64)
        symbol[reached] = number
        return unpack(keys, base, new.size), symbol

    @property
    def alphabet(self) -> tuple[Hashable, ...] | None:  # type: ignore[override]
        """The symbols that occur: tuples of letters, or letters where one cell is new; None without transitions."""
        if self.transitions is None:
            return None
        words = (tuple(self.letters[code] for code in word) for word in self._symbols[0])
        return tuple(word[0] if len(word) == 1 else word for word in words)

    @cached_property
    def symbol(self) -> Ints | None:
        """(n,) code of the new cells of the successor, 0 where there is none."""
        successor = self.successor
        if successor is None:
            return None
        symbol = self._symbols[1].astype(np.int32)[self.x[successor]]
        symbol[successor < 0] = 0
        return read_only(symbol)

    @cached_property
    def successor(self) -> Ints | None:
        if self.transitions is None:
            return None
        return read_only(np.concatenate(list(self._successors())))

    def _successors(self) -> Iterator[Ints]:
        kind = np.int32 if self.n < 1 << 31 else np.int64
        first = 0
        for grid in self._observed:
            number = np.full(grid.shape, -1, kind)
            valid = ... if grid.valid is None else grid.valid
            number[valid] = np.arange(first, first + grid.n, dtype=kind).reshape(number[valid].shape)
            after = np.full_like(number, -1)
            if self.transitions == "time":
                after[:-1] = number[1:]
            else:
                after[..., :-1] = number[..., 1:]
                if self.boundary == "periodic":
                    after[..., -1] = number[..., 0]
            yield after[valid].reshape(-1)
            first += grid.n

    @cached_property
    def site(self) -> Ints:
        return read_only(np.concatenate(list(self._sites())))

    def _sites(self) -> Iterator[Ints]:
        size = int(np.prod(self.shape))
        kind = np.int32 if size < 1 << 31 else np.int64
        first = 0
        for grid in self._observed:
            place: Ints = np.array(first, kind)
            for axis in range(4):
                along = np.arange(grid.shape[axis]) + grid.corner[axis]
                stride = int(np.prod(grid.extent[axis + 1 :]))
                place = place + (along * stride).astype(kind).reshape(-1, *(1,) * (3 - axis))
            yield place.reshape(-1) if grid.valid is None else place[grid.valid]
            first += int(np.prod(grid.extent))

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
        values = np.asarray(values)
        if values.shape[:1] != (self.n,) or any(grid.valid is not None for grid in self._observed):
            laid = super().field(values)
        else:
            laid = self._laid(values)
        if self._labels is None:
            return laid
        kind, dims, coords = self._labels
        return kind(laid, dims=(*dims, "value")[: laid.ndim], coords=coords)

    def _laid(self, values: NDArray[Any]) -> NDArray[Any]:
        """The same without missing cells: whole blocks at once."""
        dtype = np.result_type(values.dtype, np.float32) if values.dtype.kind in "biu" else values.dtype
        rest = values.shape[1:]
        flat = np.empty((int(np.prod(self.shape)), *rest), dtype)
        first = taken = 0
        for grid in self._observed:
            size = int(np.prod(grid.extent))
            block = flat[first : first + size].reshape(*grid.extent, *rest)
            inside: tuple[slice, ...] = ()
            for a, n in zip(grid.corner, grid.shape, strict=True):
                block[*inside, :a] = block[*inside, a + n :] = np.nan
                inside = *inside, slice(a, a + n)
            block[inside] = values[taken : taken + grid.n].reshape(*grid.shape, *rest)
            first, taken = first + size, taken + grid.n
        return flat.reshape(*self.shape, *rest)


def spelled(z: Words) -> Outcomes:
    """Outcomes as tuples of letters."""
    return Outcomes(z.words(), z.letters)


def _joined(numbers: list[Ints | None], places: list[Ints]) -> Ints:
    """Numbers of all observations in the whole, from those in each part."""
    if len(numbers) == 1 and numbers[0] is not None:
        return numbers[0]
    known = [part for part in numbers if part is not None]
    ends = np.cumsum([0, *(part.size for part in known)])
    joined = np.empty(ends[-1], np.int32 if ends[-1] < 1 << 31 else np.int64)

    def translate(i: int) -> None:
        kernels.translate(known[i], places[i].astype(joined.dtype), joined[ends[i] : ends[i + 1]])

    for _ in map_slices(translate, range(len(known))):
        pass
    return joined
