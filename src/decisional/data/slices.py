"""Observations of data that are read slice by slice, counted, and forgotten."""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from ..support import arguments, resources
from ..support.arrays import Ints
from ..support.executors import alone, reduce_slices
from ..support.plurals import plural
from .observations import CountsOnly, Observations, Tallied
from .stores import cuts, is_stored, load, stored
from .tally import Tally
from .vocabularies import place_in

# Bytes that the work on one slice may take.
BUDGET = 1 << 28
# Samples for an estimate of the cost, the share of all data that they are, and observations of each at least and at
# most.
SAMPLES = 4
SHARE = 0.005
SAMPLE = (1 << 14, 1 << 15)
# Bytes of an observation in the worst case, where every x is another one (see `resources.OVERHEAD`).
WORST = 256


@dataclass(frozen=True, eq=False)
class Part:
    """A slice of the data and what its observations reach beyond it.

    Attributes
    ----------
    data : arrays of the same rows, to be read, or None
    begin, end : first row of the data's grid that belongs to the slice, and the first one after it
    offset : first row of the grid that `data` holds
    """

    data: tuple[Any, ...]
    begin: int
    end: int
    offset: int

    @property
    def own(self) -> slice:
        """The rows of the slice among those of `data`."""
        return slice(self.begin - self.offset, self.end - self.offset)


class Sliced(Tallied):
    """Observations of many parts.

    Parameters
    ----------
    kind : what the data are
    observe : makes the observations of a part whose data were read; None where nothing can be observed
    parts : all parts, in the order of the data
    shape : of the data's grid, which parts cut along its first axis
    edge : first and last rows of the grid without observations
    """

    def __init__(
        self,
        kind: str,
        observe: Callable[[Part], Observations | None],
        parts: list[Part],
        shape: tuple[int, ...],
        edge: int = 0,
    ) -> None:
        self.kind, self._observe, self.parts, self.shape, self._edge = kind, observe, parts, shape, edge

    def _count(self, executor: Executor | None) -> Tally:
        count = partial(_tally, self._observe)
        tally = reduce_slices(count, _merge, self.parts, executor, "counting") if self.parts else None
        if tally is None or not tally.n:
            raise ValueError(
                f"The data of shape {self.shape} hold no observation in {len(self.parts)} slices; at least one must "
                "fit: use a shorter past or more data."
            )
        return tally.observed()

    def __repr__(self) -> str:
        if self._counts is not None:
            return super().__repr__()
        n = len(self.parts)
        return f"Observations({self.kind}: {plural(n, 'slice')} of shape {self.shape}, not counted yet)"

    def cost(self) -> resources.Cost:
        """Expected memory and time of counting and of the causal states; print it.

        Rough, mostly within a factor of 3: see `resources.estimate`. Cost: that of counting 0.5 % of the data (at least
        2**16 observations and at most 2**17), at 4 places.
        """
        if not self.parts:
            return resources.Cost(0.0, 0.0, 0.0, 0)
        rest = int(np.prod(self.shape[1:]))
        total = sum(part.end - part.begin for part in self.parts)
        rows = max(int(np.clip(SHARE / SAMPLES * total * rest, *SAMPLE)) // max(rest, 1), 1)
        parts = _samples(self.parts, rows + self._edge)
        own = sum(part.end - part.begin for part in parts) / len(parts)
        return resources.estimate(partial(_tally, self._observe), _merge, parts, total / own, len(self.parts))

    def check_memory(self) -> None:
        if self._counts is None:
            resources.check(self.cost, WORST * float(np.prod(self.shape)))

    def _check_arrays(self, what: str) -> None:
        # A number for each observation, once in its part and once in the whole, and what is looked up with it.
        n = self.n if self._counts is not None else float(np.prod(self.shape))
        remedy = "use ds.write_values(...), which writes them to disk slice by slice"
        resources.require(24 * n, f"'{what}' of {n:,.0f} observations", remedy)

    def pieces(self) -> Iterator[Observations]:
        """The observations of each part, one after the other: for `partial_fit`, or to work on them in turn."""
        for part in self.parts:
            piece = _observed(self._observe, part)
            if piece is not None:
                piece.way = self.way
                yield piece

    def filling(self, values: NDArray[Any], missing: Any) -> Callable[[Part], NDArray[Any]]:
        """What lays the values of each distinct x on the grid of one part, in any process; `missing` where there is no
        observation.

        Cost: that of counting, and of merging the distinct x of the part with those of all.
        """
        return partial(values_on_grid, self._observe, self.tally().x, values, missing, self.shape[1:])

    def _unknown(self, what: str) -> NoReturn:
        raise CountsOnly(
            f"The '{what}' of each observation is not listed where data are read slice by slice; steps are only "
            "counted: follow the data with ds.Monitor, or observe them without chunks."
        )

    @property
    def x(self) -> Ints:
        self._check_arrays("x")
        return np.concatenate([_places(piece, self.tally().x) for piece in self.pieces()])

    @property
    def site(self) -> Ints:
        self._check_arrays("site")
        rest = int(np.prod(self.shape[1:]))
        pieces = ((part.offset * rest, _observed(self._observe, part)) for part in self.parts)
        return np.concatenate([piece.site + first for first, piece in pieces if piece is not None])

    @property
    def z(self) -> Ints:
        self._check_arrays("z")
        return np.concatenate([place_in(self.tally().z, piece.vocabularies[1])[piece.z] for piece in self.pieces()])


def _observed(observe: Callable[[Part], Observations | None], part: Part) -> Observations | None:
    with alone():
        return observe(replace(part, data=tuple(map(load, part.data))))


def _tally(observe: Callable[[Part], Observations | None], part: Part) -> Tally | None:
    piece = _observed(observe, part)
    return None if piece is None else piece.tally()


def _merge(a: Tally | None, b: Tally | None) -> Tally | None:
    if a is None or b is None:
        return a if b is None else b
    # Places, renumbered pairs, and the merged counts beside those of both.
    needed = 2.5 * (resources.n_bytes(a) + resources.n_bytes(b))
    resources.require(needed, f"merged counts of up to {len(a.x) + len(b.x):,} distinct x", resources.REMEDY)
    return a.merge(b)


def _samples(parts: list[Part], rows: int) -> list[Part]:
    """Samples of some rows, evenly spread."""
    at, repeats = np.unique(np.linspace(0, len(parts) - 1, SAMPLES).astype(np.int64), return_counts=True)
    found = []
    for i, n in zip(at.tolist(), repeats.tolist(), strict=True):
        own = parts[i].end - parts[i].begin
        step = max(own // n, 1)
        found += [_within(parts[i], skip, min(rows, step)) for skip in range(0, min(n * step, own), step)]
    return found


def _within(part: Part, skip: int, rows: int) -> Part:
    """Some rows of a part, with what their observations reach."""
    last = len(part.data[0]) - max(part.end - part.begin - skip - rows, 0)
    data = tuple(array if array is None else array[skip:last] for array in part.data)
    begin = part.begin + skip
    return Part(data, begin, min(begin + rows, part.end), part.offset + skip)


def _places(piece: Observations, x: Any) -> Ints:
    """The place of the x of each observation among those of all."""
    with alone():
        places: Ints = place_in(x, piece.vocabularies[0])[piece.x]
        return places


def values_on_grid(
    observe: Callable[[Part], Observations | None],
    x: Any,
    values: NDArray[Any],
    missing: Any,
    rest: tuple[int, ...],
    part: Part,
) -> NDArray[Any]:
    """(end - begin, ...) the values of the x of a part, at their places on the grid."""
    grid = np.full((part.end - part.begin, *rest), missing, values.dtype)
    piece = _observed(observe, part)
    if piece is not None and piece.n:
        shift = (part.begin - part.offset) * int(np.prod(rest))
        grid.reshape(-1)[piece.site - shift] = values[_places(piece, x)]
    return grid


def rows_at_once(row_bytes: float) -> int:
    """How many rows a slice has, where the work on a row takes so many bytes."""
    return max(int(BUDGET / max(row_bytes, 1)), 1)


def cut_parts(
    sequences: Iterable[tuple[Any, ...]],
    chunks: int | None,
    row_bytes: float,
    before: int = 0,
    after: int = 0,
    inside: tuple[int, int] = (0, 0),
) -> list[Part]:
    """Slices of sequences, each with what its observations reach.

    Parameters
    ----------
    sequences : each of one or several arrays of the same rows, or None
    chunks : rows in a slice; by default as many as may be at once
    row_bytes : that the work on a row takes
    before, after : rows that an observation reaches before and after its own
    inside : first and last rows of a sequence that have no observation: its first and last slice have them
    """
    rows = rows_at_once(row_bytes) if chunks is None else int(chunks)
    found, offset = [], 0
    for sequence in sequences:
        arrays = [array if stored(array) is None else stored(array) for array in sequence]
        size = len(arrays[0])
        first, last = inside[0], size - inside[1]
        for a, b in cuts(arrays[0], first, last, rows) if last > first else [(0, size)] if size else []:
            low, high = max(a - before, 0), min(b + after, size)
            begin, end = (0 if a == first else a), (size if b == last else b)
            data = tuple(array if array is None else array[low:high] for array in arrays)
            found.append(Part(data, offset + begin, offset + end, offset + low))
        offset += size
    return found


def in_slices(chunks: Any, *data: Any) -> bool:
    """Whether data are read slice by slice: where that is asked for, by the rows of a slice, and where it is better."""
    if chunks is not None:
        arguments.integer(chunks, "chunks", remedy="give the rows of a slice, or None")
    return chunks is not None or any(map(is_stored, data))
