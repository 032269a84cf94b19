"""Keys, non-negative integers that stand for words: numbered, counted and added up, exactly.

Distinct keys are found in a plain array where few are possible, in a hash table where few occur, else by sorting.
"""

from collections.abc import Iterator
from concurrent.futures import Executor
from functools import partial, reduce

import numpy as np

from .._kernels import key_numbers as kernels
from .._kernels import words
from .._kernels.gather import gather
from ..support import resources
from ..support.arrays import Bools, Ints, index_type
from ..support.executors import map_slices, slices

# A plain array is used if at most ALWAYS or DENSE (for enough data) keys are possible, a hash table if at most HASHED
# occur, or one in REPEATED: beyond, it leaves the cache too often. Pairs are counted in a plain array up to PAIRS.
ALWAYS = 1 << 16
DENSE = 1 << 22
PAIRS = 1 << 25
HASHED = 1 << 18
REPEATED = 8
SLOTS = 1 << 12

# Increasing keys, or rows of them, and how often each occurs.
Counted = tuple[Ints, Ints]


def number(keys: Ints, bound: int) -> tuple[Ints, Ints]:
    """The number of each key among the distinct ones, and these, increasing; keys are below `bound`.

    Cost: one look-up per key, or a radix sort where most keys differ.
    """
    found: Ints = np.empty(keys.size, index_type(keys.size))
    distinct: Ints
    if bound <= max(ALWAYS, min(DENSE, 4 * keys.size)):
        seen = np.zeros(bound, np.uint8)
        words.mark_values(keys, seen)
        distinct = np.flatnonzero(seen)
        lut = np.empty(bound, found.dtype)
        lut[distinct] = np.arange(distinct.size)
        gather(lut, keys, found)
        return found, distinct
    table = KeyTable(min(max(HASHED, keys.size // REPEATED), keys.size))
    if not table.number(keys, found):
        distinct, place = _sorted(keys)
        n = kernels.number_sorted(distinct, place, found) if keys.size else 0
        return found, distinct[:n].copy()
    distinct, order = _sorted(table.keys)
    rank = np.empty(order.size, found.dtype)
    rank[order] = np.arange(order.size)
    gather(rank, found, found)
    return found, distinct


def number_rows(columns: Iterator[tuple[Ints, int]]) -> tuple[Ints, Ints]:
    """Number the rows of several columns of keys, each with its bound, and the distinct rows in lexicographic order."""
    found, distinct = number(*next(columns))
    rows = distinct[:, None]
    for keys, bound in columns:
        own, distinct = number(keys, bound)
        joint = found.astype(np.int64)
        joint *= distinct.size
        joint += own
        found, pair = number(joint, rows.shape[0] * distinct.size)
        before, last = np.divmod(pair, distinct.size)
        rows = np.column_stack([rows[before], distinct[last]])
    return found, rows


class KeyTable:
    """Keys numbered in the order they appear in, by a growing hash table; memory follows the distinct keys.

    Parameters
    ----------
    most : distinct keys that it takes, default any number
    """

    def __init__(self, most: int | None = None) -> None:
        self._most = most
        self.n = 0
        self.slots = np.full((SLOTS, 2), -1, np.int64)
        self._keys = np.empty(self._room, np.int64)

    @property
    def _room(self) -> int:
        """Distinct keys that half of the slots are enough for."""
        half = self.slots.shape[0] // 2
        return half if self._most is None else min(half, self._most)

    @property
    def keys(self) -> Ints:
        """(n,) the distinct keys."""
        return self._keys[: self.n]

    def number(self, keys: Ints, out: Ints) -> bool:
        """out[i] = the number of keys[i]; False where there are too many distinct ones."""
        done = 0
        while True:
            done, self.n = kernels.number_keys(keys, done, self.slots, self._keys, self.n, out)
            if done == keys.size or self.n == self._most:
                return bool(done == keys.size)
            # Slots four times as many, while the old ones and their keys are still there.
            _require(80 * self.slots.shape[0], self.slots.shape[0])
            self.slots = np.full((4 * self.slots.shape[0], 2), -1, np.int64)
            kernels.insert_keys(self.keys, self.slots)
            self._keys = np.concatenate([self.keys, np.empty(self._room - self.n, np.int64)])


class KeyCounter:
    """Counts of keys that come bit by bit; memory follows the distinct ones."""

    def __init__(self) -> None:
        self.table = KeyTable()
        self._counts = np.zeros(SLOTS, np.int64)

    def add(self, keys: Ints) -> None:
        """Count more keys."""
        self.table.number(keys, found := np.empty(keys.size, np.int64))
        if self.table.n > self._counts.size:
            more = np.zeros(max(self.table.n, 2 * self._counts.size) - self._counts.size, np.int64)
            self._counts = np.concatenate([self._counts, more])
        kernels.tally(found, self._counts)

    def counted(self) -> Counted:
        """The distinct keys, increasing, and their counts."""
        keys, order = _sorted(self.table.keys)
        return keys, self._counts[order]


def _sorted(keys: Ints) -> tuple[Ints, Ints]:
    """The keys in increasing order, and the place of each before: a radix sort."""
    keys = keys.astype(np.int64)
    places = np.arange(keys.size, dtype=index_type(keys.size))
    next_keys, next_places = np.empty_like(keys), np.empty_like(places)
    for shift in range(0, int(keys.max(initial=0)).bit_length(), 8):
        if kernels.sort_digit(keys, places, shift, np.zeros(256, np.int64), next_keys, next_places):
            keys, next_keys = next_keys, keys
            places, next_places = next_places, places
    return keys, places


def count_pairs(first: Ints, second: Ints, n_second: int) -> Counted:
    """first * n_second + second of the pairs that occur, increasing, and how often; a number -1 is none."""
    bound = (int(first.max(initial=-1)) + 1) * n_second
    if bound <= max(ALWAYS, min(PAIRS, 4 * first.size)):
        table = np.zeros(bound, np.uint32 if first.size < 1 << 32 else np.int64)
        kernels.tally_pairs(first, second, np.int64(n_second), table)
        seen = np.flatnonzero(table)
        return seen, table[seen].astype(np.int64)
    if n_second <= DENSE:
        return _count_groups(first, second, bound // n_second, n_second)
    joint = first.astype(np.int64)
    joint *= n_second
    joint += second
    if first.min() < 0 or second.min() < 0:
        joint = joint[(first >= 0) & (second >= 0)]
    found, pairs = number(joint, bound)
    counts = np.zeros(pairs.size, np.int64)
    kernels.tally(found, counts)
    return pairs, counts


def _count_groups(first: Ints, second: Ints, n_first: int, n_second: int) -> Counted:
    """The same by the seconds of each first: two passes, which the first ones are scattered in, and no sort of all."""
    stop = np.zeros(n_first, np.int64)
    grouped, counts = np.empty((2, first.size), index_type(first.size))
    kernels.group_pairs(first, second, stop, grouped)
    n = kernels.count_groups(grouped, stop, np.zeros(n_second, counts.dtype), counts)
    pairs = np.repeat(np.arange(n_first) * n_second, np.diff(stop, prepend=0))
    pairs += grouped[:n]
    return pairs, counts[:n].astype(np.int64)


def count_slices(first: Ints, second: Ints, n_second: int, executor: Executor | None = None) -> Counted:
    """The same in slices, wherever the executor runs."""
    parts = [(first[a:b], second[a:b]) for a, b in slices(first.size) or [(0, 0)]]
    return reduce(add, map_slices(partial(_count_slice, n_second), parts, executor))


def _count_slice(n_second: int, part: tuple[Ints, Ints]) -> Counted:
    return count_pairs(*part, n_second)


def add(a: Counted, b: Counted) -> Counted:
    """Counts by keys, or rows of keys, in order, added up: associative, commutative, exact. Cost: linear."""
    size = len(a[0]) + len(b[0])
    _require(32 * size, size)
    if a[0].ndim == 1:
        keys, counts = np.empty(size, np.int64), np.empty(size, np.int64)
        n = kernels.add_sorted(*a, *b, keys, counts)
        return keys[:n].copy(), counts[:n].copy()
    merged, a_place, b_place = union(a[0], b[0])
    counts = np.zeros(len(merged), np.int64)
    counts[a_place] = a[1]
    counts[b_place] += b[1]
    return merged, counts


def union(a: Ints, b: Ints) -> tuple[Ints, Ints, Ints]:
    """All rows of two lists of distinct rows in lexicographic order, and the place of each row of a and of b."""
    merged = np.empty((len(a) + len(b), a.shape[1]), np.int64)
    a_place, b_place = np.empty(len(a), np.int64), np.empty(len(b), np.int64)
    n = kernels.merge_rows(a, b, merged, a_place, b_place)
    return merged[:n].copy(), a_place, b_place


def starts(*columns: Ints) -> Bools:
    """Where the rows of sorted columns differ from the one before."""
    new = np.ones(columns[0].size, bool)
    new[1:] = columns[0][1:] != columns[0][:-1]
    for column in columns[1:]:
        new[1:] |= column[1:] != column[:-1]
    return new


def _require(needed: float, n: int) -> None:
    resources.require(needed, f"counts of up to {n:,} distinct keys", resources.REMEDY)
