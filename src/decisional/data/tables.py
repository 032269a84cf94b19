"""From numbered pairs to counts over the distinct x: chunk -> combine -> finalize, with exact integers."""

from collections.abc import Iterable
from concurrent.futures import Executor

import numpy as np

from .._kernels import words as kernels
from ..support import resources
from ..support.arrays import Ints
from ..support.executors import map_slices, slices
from .observations import Steps, Table

__all__ = ["KeyCounter", "compress", "factorise", "from_ids", "merge"]


class KeyCounter:
    """A growing hash table of exact counts by 64-bit key; memory follows the number of distinct keys."""

    def __init__(self) -> None:
        self._slots = np.full(1 << 12, -1, np.int64)
        self._tally = np.zeros(1 << 12, np.int64)

    def add(self, keys: Ints, counts: Ints | None = None) -> None:
        """Count non-negative keys, once each or `counts` times."""
        counts = np.ones(1, np.int64) if counts is None else counts
        counts = np.broadcast_to(counts, keys.shape)
        while True:
            taken = kernels.count_keys(keys, counts, self._slots, self._tally)
            if taken == keys.size:
                return
            keys, counts = keys[taken:], counts[taken:]
            # Slots and counts four times as many, while the old ones and their sorted copies are still there.
            _require(80 * self._slots.size, self._slots.size)
            old_keys, old_counts = self.sorted()
            self._slots = np.full(4 * self._slots.size, -1, np.int64)
            self._tally = np.zeros(self._slots.size, np.int64)
            kernels.count_keys(old_keys, old_counts, self._slots, self._tally)

    def sorted(self) -> tuple[Ints, Ints]:
        """The distinct keys in increasing order, and their counts."""
        used = np.flatnonzero(self._slots >= 0)
        used = used[np.argsort(self._slots[used])]
        return self._slots[used], self._tally[used]


def merge(parts: Iterable[tuple[Ints, Ints]]) -> tuple[Ints, Ints]:
    """Add up counts by key: associative, commutative, exact."""
    columns = list(zip(*parts, strict=True))
    n = sum(keys.size for keys in columns[0])
    _require(64 * n, n)
    keys, counts = (np.concatenate(column) for column in columns)
    distinct, inverse = np.unique(keys, return_inverse=True)
    total = np.zeros(distinct.size, np.int64)
    np.add.at(total, inverse, counts)
    return distinct, total


def count(keys: Ints, executor: Executor | None = None) -> tuple[Ints, Ints]:
    """The distinct keys in increasing order, and how often each occurs."""
    cuts = slices(keys.size) or [(0, 0)]
    parts = list(map_slices(_count_slice, [keys[a:b] for a, b in cuts], executor))
    return parts[0] if len(parts) == 1 else merge(parts)


def _count_slice(keys: Ints) -> tuple[Ints, Ints]:
    counter = KeyCounter()
    counter.add(keys)
    return counter.sorted()


def factorise(keys: Ints, executor: Executor | None = None) -> tuple[Ints, Ints]:
    """The distinct keys in increasing order, and the number of each key among them."""
    keys = np.ascontiguousarray(keys, np.int64)
    distinct, _ = count(keys, executor)
    room = 1 << max(int(distinct.size).bit_length() + 1, 4)
    _require(16 * room + 8 * keys.size, distinct.size)
    number = np.empty(keys.size, np.int64)
    kernels.number_keys(keys, distinct, np.full(room, -1, np.int64), np.empty(room, np.int64), number)
    return distinct, number


def compress(row: Ints, n_rows: int) -> Ints:
    """Row starts of entries sorted by row."""
    return np.searchsorted(row, np.arange(n_rows + 1)).astype(np.int64)


def from_ids(
    x: Ints,
    z: Ints,
    n_x: int,
    n_outcomes: int,
    symbol: Ints | None = None,
    target: Ints | None = None,
    shared: Ints | None = None,
    executor: Executor | None = None,
) -> Table:
    """Table of observations whose x and z are numbered already; target = x after the step, -1 = none.

    Cost: O(n) hashing for n observations, and sorting of the distinct pairs.
    """
    pair, counts = count(x.astype(np.int64) * n_outcomes + z, executor)
    row, outcome = np.divmod(pair, n_outcomes)
    steps = None
    if symbol is not None and target is not None:
        moved = np.flatnonzero(target >= 0)
        n_symbols = int(symbol.max(initial=0)) + 1
        labelled, edge = factorise(x[moved].astype(np.int64) * n_symbols + symbol[moved], executor)
        key, step_counts = count(edge * n_x + target[moved], executor)
        edge, to = np.divmod(key, n_x)
        source, letter = np.divmod(labelled[edge], n_symbols)
        steps = Steps(source, letter, to, step_counts)
    shared = np.zeros(n_x, np.int64) if shared is None else shared
    return Table(compress(row, n_x), outcome, counts, n_outcomes, shared, steps)


def _require(needed: float, n: int) -> None:
    resources.require(needed, f"counts of up to {n:,} distinct keys", resources.REMEDY)
