"""Windows of symbols: coded in 64 bits where they fit, ranked where they do not."""

from abc import abstractmethod
from collections.abc import Sequence
from concurrent.futures import Executor
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._kernels import words as kernels
from ..support.arrays import Ints, read_only
from ..support.executors import map_slices, slices
from . import alphabet as reading
from . import tables
from .observations import Observations, Steps, Table
from .tally import Tally, count_of, values_of
from .vocabularies import Words, pack

__all__ = ["CODE_BITS", "CodedWindows", "RankedWindows", "Windows", "windows"]

# Words are counted in a plain array up to this many codes, and in a hash table beyond; both exact.
DENSE = 1 << 24
BLOCK = 1 << 18
# Codes stay below 2**62, so that no step of the arithmetic overflows 64 bits.
CODE_BITS = 62
# What `Source.around` gives, to send to an executor.
Slice = tuple[Ints, Ints, Ints, int, int]


def windows(source: reading.Source, past: int, future: int, may_be_none: bool = False) -> "Windows":
    """Windows of symbols that are numbered already."""
    bits = (past + future) * np.log2(len(source.letters))
    found = (CodedWindows if bits < CODE_BITS else RankedWindows)(source, past, future)
    if found.n == 0 and not may_be_none:
        longest = int(np.diff(source.bounds).max())
        raise ValueError(
            f"The 'symbols' hold no window of past + future = {past + future} symbols in a row (the longest "
            f"sequence has {longest}, gaps included); at least one must fit: use a shorter past or more data."
        )
    return found


class Windows(Observations):
    """What both kinds of windows share: the source, and where each observation stands in it."""

    has_suffixes = True

    def __init__(self, source: reading.Source, past: int, future: int) -> None:
        self.source, self.past, self.future = source, past, future
        self.letters = source.letters
        self.alphabet = source.letters
        self.shape = source.shape

    @cached_property
    def n(self) -> int:
        width = self.past + self.future
        if self.source.has_gaps:
            return int(kernels.count_runs(self.source.raw, self.source.lut, self.source.bounds, width))
        return int(np.maximum(np.diff(self.source.bounds) - width + 1, 0).sum())

    @cached_property
    def outcomes(self) -> Sequence[Any]:
        return spelled(self._outcome_vocabulary())

    def _outcome_vocabulary(self) -> Words:
        words = self._outcome_words if self.future > 1 else np.arange(len(self.letters))[:, None]
        return Words(self.letters, self.future, pack(words, len(self.letters)))

    def tally(self) -> Tally:
        kind = "series", self.past, self.future
        if not self.n:
            # Its letters still count.
            none = np.empty(0, np.int64)
            x, z = (Words(self.letters, width, pack(none.reshape(0, width), len(self.letters))) for width in kind[1:])
            return Tally(kind, x, values_of(self.letters) if self.future == 1 else z, none, none, spelled)
        table = self.table()
        x = Words(self.letters, self.past, self._x_keys())
        # Steps follow from the words: those to an x that another slice has seen too.
        return count_of(kind, x, self._outcome_vocabulary(), table, spelled, own_steps=False)

    @abstractmethod
    def _x_keys(self) -> Ints:
        """(n_x, .) packed words of the rows."""

    @property
    @abstractmethod
    def _outcome_words(self) -> Ints:
        """(n_outcomes, future) symbol codes of each z, first one first."""

    @property
    def site(self) -> Ints:
        return read_only(self._ends - self.future)

    @cached_property
    def _ends(self) -> Ints:
        """(n,) position of the last symbol of each observation's z."""
        return self._scan()[1]

    def _scan(self, width: int | None = None, base: int = 0) -> tuple[Ints, Ints]:
        """Codes (in the given base; without meaning for base 0) and last positions of all words, in order."""
        width = self.past + self.future if width is None else width
        source = self.source

        def chunk(part: tuple[int, int]) -> tuple[Ints, Ints]:
            codes, ends = np.empty(part[1] - part[0], np.int64), np.empty(part[1] - part[0], np.int64)
            top = base ** (width - 1)
            n = kernels.code_words(source.raw, source.lut, source.bounds, *part, width, base, top, codes, ends)
            return codes[codes.size - n :], ends[ends.size - n :]

        parts = list(map_slices(chunk, slices(source.raw.size)))
        codes, ends = (np.concatenate(column) for column in zip(*parts, strict=True))
        return codes, read_only(ends)

    @cached_property
    def symbol(self) -> Ints:
        return read_only(self.source.lut[self.source.raw[self.site + 1]])

    @cached_property
    def successor(self) -> Ints:
        # A window has two symbols or more: the next one ends just after it, or a gap or a bound lies between.
        follows = np.append(np.diff(self._ends) == 1, False)
        return read_only(np.where(follows, np.arange(1, follows.size + 1), -1))


class CodedWindows(Windows):
    """Windows whose word of past + future symbols fits a 64-bit code."""

    def __init__(self, source: reading.Source, past: int, future: int) -> None:
        super().__init__(source, past, future)
        self.base = len(source.letters)
        self._table: Table | None = None

    def table(self, executor: Executor | None = None) -> Table:
        if self._table is None:
            self._table = self._count(executor)
        return self._table

    def _count(self, executor: Executor | None) -> Table:
        """Cost: one pass over the symbols, then O(distinct words)."""
        n_x, n_z = self.base**self.past, self.base**self.future
        dense = n_x * n_z <= max(1 << 16, min(DENSE, self.source.raw.size))
        count = self._count_dense if dense else self._count_hashed
        x, z, counts = count(n_x, n_z, executor)
        codes, row = _runs(x)
        self._codes = codes
        shared = np.zeros(codes.size, np.int64)
        kernels.common_digits(codes, self.base ** np.arange(self.past + 1, dtype=np.int64), shared)
        steps = self._steps(row, z % self.base, counts)
        start = tables.compress(row, codes.size)
        self._z_codes, number = self._number_outcomes(z)
        order = np.lexsort((number, row)) if self.future > 1 else slice(None)
        return Table(start, number[order], counts[order], self._z_codes.size, shared, steps)

    def _steps(self, row: Ints, symbol: Ints, counts: Ints) -> Steps:
        """Each x with the first symbol of its z leads to one x', which is a row if it was seen with a whole z."""
        if self.future > 1:
            edge, inverse = np.unique(row * self.base + symbol, return_inverse=True)
            counts = np.bincount(inverse, weights=counts).astype(np.int64)
            row, symbol = np.divmod(edge, self.base)
        target = self._rows(self._codes[row] // self.base + symbol * self.base ** (self.past - 1))
        seen = target >= 0
        return Steps(row[seen], symbol[seen], target[seen], counts[seen])

    def _count_dense(self, n_x: int, n_z: int, executor: Executor | None) -> tuple[Ints, Ints, Ints]:
        kind: Any = np.uint32 if self.n < 1 << 32 else np.int64
        chunk = partial(_count_slice, self.past + self.future, self.base, kind)
        total: Ints = np.zeros(n_x * n_z, kind)
        for counts in map_slices(chunk, self._slices(), executor):
            total += counts
        by_x = np.ascontiguousarray(total.reshape(n_z, n_x).T).ravel()
        keys = np.flatnonzero(by_x)
        return *np.divmod(keys, n_z), by_x[keys].astype(np.int64)

    def _count_hashed(self, n_x: int, n_z: int, executor: Executor | None) -> tuple[Ints, Ints, Ints]:
        chunk = partial(_hash_slice, self.past + self.future, self.base)
        keys, counts = tables.merge(map_slices(chunk, self._slices(), executor))
        z, x = np.divmod(keys, n_x)
        order = np.lexsort((z, x))
        return x[order], z[order], counts[order]

    def _slices(self) -> list[Slice]:
        width = self.past + self.future
        return [self.source.around(*part, width) for part in slices(self.source.raw.size)]

    def _number_outcomes(self, z: Ints) -> tuple[Ints, Ints]:
        """Codes of the outcomes in the order of their words, first symbol first; and the number of each z."""
        if self.future == 1:
            return np.arange(self.base), z
        codes, inverse = np.unique(z, return_inverse=True)
        words = _digits(codes, self.base, self.future)
        order = np.lexsort(words.T)
        rank = np.empty(order.size, np.int64)
        rank[order] = np.arange(order.size)
        return codes[order], rank[inverse]

    @property
    def _outcome_words(self) -> Ints:
        self.table()
        return _digits(self._z_codes, self.base, self.future)[:, ::-1]

    def _rows(self, x: Ints) -> Ints:
        """Rows of x codes in the table, -1 for those that are not there."""
        size = self.base**self.past
        if size <= max(4 * x.size, 1 << 16):
            lookup = np.full(size, -1, np.int64)
            lookup[self._codes] = np.arange(self._codes.size)
            return lookup[x]
        row = np.minimum(np.searchsorted(self._codes, x), self._codes.size - 1)
        return np.where(self._codes[row] == x, row, -1)

    @cached_property
    def x(self) -> Ints:
        self.table()
        codes, _ = self._scan(base=self.base)
        return read_only(self._rows(codes % self.base**self.past))

    @cached_property
    def z(self) -> Ints:
        self.table()
        z = self._scan(base=self.base)[0] // self.base**self.past
        if self.future == 1:
            return read_only(z)
        order = np.argsort(self._z_codes)
        return read_only(order[np.searchsorted(self._z_codes, z, sorter=order)])

    def words(self, rows: Ints) -> Ints:
        self.table()
        return _digits(self._codes[rows], self.base, self.past)

    def _x_keys(self) -> Ints:
        return self._codes[:, None]


class RankedWindows(Windows):
    """Windows of any length over any alphabet, re-coded exactly to ranks by doubling.

    The rank of a word of 2 k symbols is the rank of the pair (rank of its last k, rank of its first k), so
    ranks sort by the endings of words, as codes do.
    """

    def table(self, executor: Executor | None = None) -> Table:
        return self._ranked[0]

    @cached_property
    def _ranked(self) -> tuple[Table, Ints, Ints, Ints, Ints]:
        """Table, x, z, and a position that ends each distinct x and each distinct z.

        Cost: O(n log(past)) and a few arrays of n integers.
        """
        site = self.site
        rank = self._rank(self.past)
        number, x_end = _number(rank, site)
        x, target = number[rank[site]], number[rank[site + 1]]
        del rank, number
        z, z_end = self._number_outcomes()
        n_z = z_end.size if self.future > 1 else len(self.letters)
        shared = np.zeros(x_end.size, np.int64)
        kernels.common_symbols(self.source.raw, self.source.lut, x_end, self.past, shared)
        table = tables.from_ids(x, z, x_end.size, n_z, self.symbol, target, shared)
        return table, read_only(x), read_only(z), x_end, z_end

    def _number_outcomes(self) -> tuple[Ints, Ints]:
        """Numbers of the outcomes in the order of their words, first symbol first; and an end of each."""
        if self.future == 1:
            return self.symbol, np.empty(0, np.int64)
        rank = self._rank(self.future)
        number, end = _number(rank, self._ends)
        words = np.empty((end.size, self.future), np.int64)
        kernels.gather_words(self.source.raw, self.source.lut, end, words)
        order = np.lexsort(words.T)
        place = np.empty(order.size, np.int64)
        place[order] = np.arange(order.size)
        return place[number[rank[self._ends]]], end[order]

    def _rank(self, width: int) -> Ints:
        """At each position, the rank of the word of `width` symbols that ends there.

        Words that would cross a bound or a gap get a meaningless rank: it is never asked for.
        """
        base = len(self.letters)
        step = min(width, max(1, int(30 / np.log2(max(base, 2)))))
        codes, ends = self._scan(step, base)
        rank = np.zeros(self.source.raw.size, np.int64)
        rank[ends] = tables.factorise(codes)[1]
        del codes, ends
        while step < width:
            ahead = min(step, width - step)
            rank[ahead:] = tables.factorise(rank[ahead:] * (int(rank.max()) + 1) + rank[:-ahead])[1]
            step += ahead
        return rank

    @property
    def _outcome_words(self) -> Ints:
        words = np.empty((self._ranked[4].size, self.future), np.int64)
        kernels.gather_words(self.source.raw, self.source.lut, self._ranked[4], words)
        return words[:, ::-1]

    @property
    def x(self) -> Ints:
        return self._ranked[1]

    @property
    def z(self) -> Ints:
        return self._ranked[2]

    def words(self, rows: Ints) -> Ints:
        words = np.empty((rows.size, self.past), np.int64)
        kernels.gather_words(self.source.raw, self.source.lut, self._ranked[3][rows], words)
        return words

    def _x_keys(self) -> Ints:
        n, base = self._ranked[3].size, len(self.letters)
        parts = [pack(self.words(np.arange(n)[begin : begin + BLOCK]), base) for begin in range(0, n, BLOCK)]
        return np.concatenate(parts) if parts else pack(np.empty((0, self.past), np.int64), base)


def spelled(z: Words) -> Sequence[Any]:
    """Outcomes as letters, as strings where letters are characters, else as tuples."""
    if z.width == 1:
        return z.letters
    text = all(isinstance(v, str) and len(v) == 1 for v in z.letters)
    words = ([z.letters[s] for s in word] for word in z.words())
    return ["".join(map(str, word)) if text else tuple(word) for word in words]


def _count_slice(width: int, base: int, kind: Any, part: Slice) -> NDArray[Any]:
    """How often each word ends in a slice, by its code."""
    counts = np.zeros(base**width, kind)
    kernels.count_words(*part, width, base, base ** (width - 1), counts)
    return counts


def _hash_slice(width: int, base: int, part: Slice) -> tuple[Ints, Ints]:
    """The codes of the words that end in a slice, and how often each occurs."""
    raw, lut, bounds, first, last = part
    counter = tables.KeyCounter()
    codes, ends = np.empty(BLOCK, np.int64), np.empty(BLOCK, np.int64)
    for begin in range(first, last, BLOCK):
        end = min(begin + BLOCK, last)
        n = kernels.code_words(raw, lut, bounds, begin, end, width, base, base ** (width - 1), codes, ends)
        counter.add(codes[BLOCK - n :])
    return counter.sorted()


def _number(rank: Ints, at: Ints) -> tuple[Ints, Ints]:
    """The number of each rank among those of positions `at`, -1 = not one of them; and a position of each."""
    seen = np.zeros(int(rank.max()) + 1, bool)
    seen[rank[at]] = True
    number = np.where(seen, np.cumsum(seen) - 1, -1)
    position = np.empty(int(seen.sum()), np.int64)
    position[number[rank[at]]] = at
    return number, position


def _runs(values: Ints) -> tuple[Ints, Ints]:
    """Distinct values of a sorted array, and the number of each entry among them."""
    new = np.empty(values.size, bool)
    new[:1] = True
    np.not_equal(values[1:], values[:-1], out=new[1:])
    return values[new], np.cumsum(new) - 1


def _digits(codes: Ints, base: int, width: int) -> Ints:
    """(n, width) digits of codes, the most significant first: the most recent symbol of a word first."""
    digits = np.empty((codes.size, width), np.int64)
    rest = codes.copy()
    for k in range(width - 1, -1, -1):
        rest, digits[:, k] = np.divmod(rest, base)
    return digits
