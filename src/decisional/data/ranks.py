"""Cones of a slice of a field -> numbers of the distinct ones and their counts; slices -> the whole.

A cone is a row of keys, each the code of as many of its cells as fit 62 bits. Keys mean the same in every slice,
and rows of keys sort as the words of cells do.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._kernels import cones as kernels
from .._kernels import words
from ..support.arrays import Ints
from .geometry import LightCone
from .vocabularies import groups

__all__ = ["Counted", "Part", "combine", "count_part", "project"]

# Distinct codes are found in a plain array if at most ALWAYS or DENSE (for enough data) are possible, else in a
# growing hash table if at most HASHED occur (beyond, it leaves the cache), else by sorting. All are exact. Pairs are
# counted in a plain array up to PAIRS.
ALWAYS = 1 << 16
DENSE = 1 << 22
PAIRS = 1 << 25
HASHED = 1 << 18
SLOTS = 1 << 12


@dataclass(frozen=True, eq=False)
class Part:
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


@dataclass(frozen=True, eq=False)
class Counted:
    """Distinct cones and their counts.

    Attributes
    ----------
    x_keys, z_keys : (n_x, .) and (n_z, .) rows of keys, sorted
    pairs, counts : x * n_z + z of the pairs that occur, sorted, and how often
    steps, step_counts : x * n_x + x' of the steps that occur, sorted, and how often; or None
    x, z : numbers of each observation in order, or None if they were not asked for
    """

    x_keys: Ints
    z_keys: Ints
    pairs: Ints
    counts: Ints
    steps: Ints | None = None
    step_counts: Ints | None = None
    x: Ints | None = None
    z: Ints | None = None


def count_part(cone: LightCone, base: int, wrap: bool, transitions: str | None, keep: bool, part: Part) -> Counted:
    """Count the cones of one part; wrap = the last axis is a ring.

    Cost: O(n cells) vectorised, one look-up per observation, or a radix sort where most cones differ; up to 36 bytes
    per observation.
    """
    core = (part.rows, *part.shape[1:])
    valid = None if part.valid is None else part.valid[: part.rows]
    x, x_keys = _number(part.cells, cone.past, base, part.shape, part.valid)
    z, z_keys = _number(part.cells, cone.future, base, core, valid)
    inside = x[: z.size]
    pairs, counts = _count_pairs(inside, z, z_keys.shape[0])
    steps = step_counts = None
    if transitions is not None:
        source, target = _step_ends(x, part, wrap, transitions)
        steps, step_counts = _count_pairs(source, target, x_keys.shape[0])
    if not keep:
        return Counted(x_keys, z_keys, pairs, counts, steps, step_counts)
    return Counted(x_keys, z_keys, pairs, counts, steps, step_counts, inside, z)


def _number(
    cells: Ints, offsets: Ints, base: int, shape: tuple[int, ...], valid: NDArray[Any] | None
) -> tuple[Ints, Ints]:
    """Number the words of cells at `offsets`, and the keys of the distinct ones."""

    def pieces() -> Iterator[tuple[Ints, int]]:
        for first, stop in groups(len(offsets), base):
            bound = base ** (stop - first)
            codes = np.empty(shape, _code_type(bound))
            kernels.code_cells(cells, offsets[first:stop], np.int64(base), codes)
            yield codes.reshape(-1) if valid is None else codes[valid], bound

    return _chain(pieces())


def _chain(pieces: Iterator[tuple[Ints, int]]) -> tuple[Ints, Ints]:
    """Number the rows of several columns of codes, each with its bound, and the distinct rows."""
    number, distinct = _rank(*next(pieces))
    keys = distinct[:, None]
    for codes, bound in pieces:
        own, distinct = _rank(codes, bound)
        joint = number.astype(np.int64)
        joint *= distinct.size
        joint += own
        number, pair = _rank(joint, keys.shape[0] * distinct.size)
        before, last = np.divmod(pair, distinct.size)
        keys = np.column_stack([keys[before], distinct[last]])
    return number, keys


def _code_type(bound: int) -> Any:
    return next((kind for kind in (np.uint8, np.uint16, np.uint32) if bound <= 1 << 8 * kind().itemsize), np.int64)


def project(keys: Ints, base: int, n_cells: int, chosen: Ints) -> tuple[Ints, Ints]:
    """Number the words of some of the cells of rows of keys, and the keys of the distinct ones."""
    place = [
        (column, stop - 1 - k) for column, (first, stop) in enumerate(groups(n_cells, base)) for k in range(first, stop)
    ]

    def pieces() -> Iterator[tuple[Ints, int]]:
        for first, stop in groups(chosen.size, base):
            codes = np.zeros(keys.shape[0], np.int64)
            for k in chosen[first:stop]:
                column, power = place[k]
                codes = codes * base + keys[:, column] // base**power % base
            yield codes, base ** (stop - first)

    return _chain(pieces())


def _rank(codes: Ints, bound: int) -> tuple[Ints, Ints]:
    """Number of each code among the distinct ones, which are sorted; codes are below `bound`."""
    number = np.empty(codes.size, np.int32 if codes.size < 1 << 31 else np.int64)
    if bound <= max(ALWAYS, min(DENSE, 4 * codes.size)):
        seen = np.zeros(bound, np.uint8)
        words.mark_values(codes, seen)
        distinct = np.flatnonzero(seen)
        lut = np.empty(bound, number.dtype)
        lut[distinct] = np.arange(distinct.size)
        kernels.translate(codes, lut, number)
        return number, distinct
    found = _hash(codes, number)
    return (number, found if found is not None else _sort(codes, number))


def _hash(codes: Ints, number: Ints) -> Ints | None:
    """Number codes through a growing hash table; None if too many are distinct."""
    met = np.empty(min(HASHED, codes.size), np.int64)
    slots = np.full((SLOTS, 2), -1, np.int64)
    done = n = 0
    while True:
        done, n = kernels.number_keys(codes, done, slots, met, n, number)
        if done == codes.size:
            break
        if n == met.size:
            return None
        slots = np.full((4 * slots.shape[0], 2), -1, np.int64)
        kernels.insert_keys(met[:n], slots)
    order = np.argsort(met[:n])
    rank = np.empty(n, number.dtype)
    rank[order] = np.arange(n)
    kernels.translate(number, rank, number)
    return met[order]


def _sort(codes: Ints, number: Ints) -> Ints:
    """Number codes by a radix sort."""
    keys = codes.astype(np.int64)
    places = np.arange(codes.size, dtype=number.dtype)
    next_keys, next_places = np.empty_like(keys), np.empty_like(places)
    for shift in range(0, int(keys.max(initial=0)).bit_length(), 8):
        if kernels.sort_digit(keys, places, shift, np.zeros(256, np.int64), next_keys, next_places):
            keys, next_keys = next_keys, keys
            places, next_places = next_places, places
    del next_keys, next_places
    n = kernels.number_sorted(keys, places, number)
    return keys[:n].copy()


def _step_ends(x: Ints, part: Part, wrap: bool, transitions: str) -> tuple[Ints, Ints]:
    """Where each step comes from and leads to, -1 = nowhere."""
    grid = x
    if part.valid is not None:
        grid = np.full(part.valid.shape, -1, x.dtype)
        grid[part.valid] = x
    grid = grid.reshape(part.shape)
    if transitions == "time":
        return grid[:-1].reshape(-1), grid[1:].reshape(-1)
    if wrap:
        return grid.reshape(-1), np.roll(grid, -1, axis=-1).reshape(-1)
    return grid[..., :-1].reshape(-1), grid[..., 1:].reshape(-1)


def _count_pairs(first: Ints, second: Ints, n_second: int) -> tuple[Ints, Ints]:
    """first * n_second + second of the pairs that occur, sorted, and how often; a number -1 is none."""
    bound = (int(first.max(initial=-1)) + 1) * n_second
    if bound <= max(ALWAYS, min(PAIRS, 4 * first.size)):
        table = np.zeros(bound, np.uint32 if first.size < 1 << 32 else np.int64)
        kernels.tally_pairs(first, second, np.int64(n_second), table)
        pairs = np.flatnonzero(table)
        return pairs, table[pairs].astype(np.int64)
    joint = first.astype(np.int64)
    joint *= n_second
    joint += second
    if first.min() < 0 or second.min() < 0:
        joint = joint[(first >= 0) & (second >= 0)]
    number, pairs = _rank(joint, bound)
    counts = np.zeros(pairs.size, np.int64)
    kernels.tally(number, counts)
    return pairs, counts


def combine(parts: list[Counted]) -> tuple[Counted, list[Ints], list[Ints]]:
    """Counts of the whole, and the numbers there of the x and of the z of each part.

    Cost: linear in the distinct cones and pairs of the parts.
    """
    x_keys, x_places = _union([part.x_keys for part in parts])
    z_keys, z_places = _union([part.z_keys for part in parts])
    if len(parts) == 1:
        return parts[0], x_places, z_places
    n_x, n_z = x_keys.shape[0], z_keys.shape[0]
    pairs, steps = [], []
    for part, x, z in zip(parts, x_places, z_places, strict=True):
        # Places increase, so that renumbered pairs stay sorted.
        kernels.renumber_pairs(part.pairs, x, z, n_z, own := np.empty_like(part.pairs))
        pairs.append((own, part.counts))
        if part.steps is not None and part.step_counts is not None:
            kernels.renumber_pairs(part.steps, x, x, n_x, own := np.empty_like(part.steps))
            steps.append((own, part.step_counts))
    whole = Counted(x_keys, z_keys, *reduce(_add, pairs), *(reduce(_add, steps) if steps else (None, None)))
    return whole, x_places, z_places


def _union(lists: list[Ints]) -> tuple[Ints, list[Ints]]:
    """All rows of keys, sorted, and the place of each list's rows among them."""
    whole, places = lists[0], [np.arange(lists[0].shape[0])]
    for rows in lists[1:]:
        room = whole.shape[0] + rows.shape[0]
        merged = np.empty((room, whole.shape[1]), np.int64)
        old, new = np.empty(whole.shape[0], np.int64), np.empty(rows.shape[0], np.int64)
        n = kernels.merge_rows(whole, rows, merged, old, new)
        whole, places = merged[:n], [*(old[place] for place in places), new]
    return whole, places


def _add(a: tuple[Ints, Ints], b: tuple[Ints, Ints]) -> tuple[Ints, Ints]:
    """Counts by key, added up."""
    keys, counts = (np.empty(a[0].size + b[0].size, np.int64) for _ in range(2))
    n = kernels.add_sorted(*a, *b, keys, counts)
    return keys[:n], counts[:n]
