"""Symbol series: x is a window of the last `past` symbols, z the next `future` ones.

Windows are coded in 64 bits where they fit, ranked where they do not.
"""

from collections.abc import Hashable, Sequence
from concurrent.futures import Executor
from functools import cached_property, partial, reduce
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from .._kernels import words as kernels
from ..support import arguments
from ..support.arrays import Ints, read_only
from ..support.executors import map_slices, slices
from . import keys
from . import sequences as reading
from .observations import Observations, Way
from .slices import Part, Sliced, cut_parts, in_slices
from .stores import is_stored, stored
from .tally import Table, Tally, count_steps, tabulate, values_of
from .vocabularies import Words, pack

# What the work on a symbol takes, when all are labelled; more where words need several codes.
SYMBOL_BYTES = 32
LONG_WORD_BYTES = 256
# Words are counted in a plain array up to this many codes, and in a hash table beyond; both exact.
DENSE = 1 << 24
BLOCK = 1 << 18
LONGEST = 1 << 40
# Codes stay below 2**62, so that no step of the arithmetic overflows 64 bits.
CODE_BITS = 62
# What `Source.around` gives, to send to an executor.
Slice = tuple[Ints, Ints, Ints, int, int]


def series(
    symbols: Any,
    past: int,
    future: int = 1,
    *,
    missing: Hashable = None,
    sequences: bool | None = None,
    chunks: int | None = None,
) -> Observations:
    """Observe a symbol series through windows: x = the last `past` symbols, z = the next `future` ones.

    Parameters
    ----------
    symbols : str, bytes, list of hashables, integer array, a series of pandas, polars or pyarrow; or several sequences
        in a list, a dict or the groups of a `groupby`. Windows cross neither sequences nor missing values (None, NaN,
        masked or `missing`). Large memory maps, and arrays of zarr, HDF5
        and Dask, are read slice by slice
    past : length of x, at least 1
    future : length of z, at least 1
    missing : one more value that marks a missing symbol
    sequences : whether a list of strings, tuples or bytes holds sequences or symbols; by default bytes are
        sequences, and the others are symbols if one has length 1 or if they repeat (at most half as many
        distinct ones as items)
    chunks : symbols in each slice (series in each slice, where these are the rows of an array), to read slice by
        slice; by default as many as take a quarter of a gigabyte, where the data are not in memory

    Returns
    -------
    Observations : one per position with a full window on both sides; the symbol of a step x -> x' is the
        first symbol of z, and the site of an observation is its last known symbol

    Examples
    --------
    >>> obs = series("0110110111", past=2)
    >>> len(obs), obs.letters
    (8, ('0', '1'))
    >>> obs.table().weight  # 10, 01, 11
    array([2, 3, 3])
    """
    past, future = (arguments.integer(n, name, of="series") for n, name in ((past, "past"), (future, "future")))
    way = Way("series", {"past": past, "future": future})
    symbols, sequences, index = reading.unpacked(symbols, sequences)
    several = isinstance(symbols, (list, tuple)) and len(symbols) > 0 and all(map(is_stored, symbols))
    if in_slices(chunks, symbols) or several:
        parts = [stored(part) for part in (symbols if several else [symbols])]
        if parts[0] is None:
            parts = reading.alike(reading.split(symbols, sequences))
        slices = _sliced(parts, past, future, missing, chunks)
        slices.index, slices.way = index, way
        return slices
    found = windows(reading.read(symbols, missing, sequences), past, future)
    found.index, found.way = index, way
    return found


def _sliced(parts: list[Any], past: int, future: int, missing: Hashable, chunks: int | None) -> Sliced:
    """Windows of sequences that are read slice by slice, or of the rows of one array."""
    row_bytes = SYMBOL_BYTES if past + future <= CODE_BITS else LONG_WORD_BYTES
    shape = np.shape(parts[0]) if len(parts) == 1 and not isinstance(parts[0], (str, bytes, bytearray)) else ()
    # The numbers of longer windows would not fit the kernels; others are refused where no slice has one.
    _check_length(past + future, max(LONGEST, *map(len, parts)))
    if len(shape) > 1:
        # Windows stay within the rows of an array.
        found = cut_parts([(parts[0],)], chunks, row_bytes * int(np.prod(shape[1:])))
    else:
        found = cut_parts(((part,) for part in parts), chunks, row_bytes, past - 1, future)
        shape = (sum(map(len, parts)),)
    return Sliced("series", partial(_observe, past, future, missing), found, shape)


def _observe(past: int, future: int, missing: Hashable, part: Part) -> Observations | None:
    """Windows of a slice; None where no symbol is known."""
    try:
        return windows(reading.read(part.data[0], missing, False, part=True), past, future, may_be_none=True)
    except reading.NoSymbols:
        return None


def windows(source: reading.Symbols, past: int, future: int, may_be_none: bool = False) -> "SymbolWindows":
    """Windows of symbols that are numbered already."""
    if not may_be_none:
        _check_length(past + future, int(np.diff(source.bounds).max()))
    bits = (past + future) * np.log2(len(source.letters))
    found = (CodedWindows if bits < CODE_BITS else RankedWindows)(source, past, future)
    if found.n == 0 and not may_be_none:
        _check_length(past + future, int(np.diff(source.bounds).max()), fits=False)
    return found


def _check_length(width: int, longest: int, fits: bool = True) -> None:
    """Refuse windows that are longer than each sequence, or that gaps leave no room for."""
    if not fits or width > longest:
        raise ValueError(
            f"The 'symbols' hold no window of past + future = {width} symbols in a row (the longest sequence has "
            f"{longest}, gaps included); at least one must fit: use a shorter past or more data."
        )


class SymbolWindows(Observations):
    """What both kinds of windows share: the source, and where each observation stands in it."""

    kind = "series"
    source: reading.Symbols

    def __init__(self, source: reading.Symbols, past: int, future: int) -> None:
        self.source, self.past, self.future, self._width = source, past, future, past + future
        self.letters = self.alphabet = source.letters
        self.base, self.shape = len(source.letters), source.shape

    @cached_property
    def n(self) -> int:
        source = self.source
        if not source.has_gaps:
            return int(np.maximum(np.diff(source.bounds) - self._width + 1, 0).sum())
        # In base 0 the code of a word is its first symbol.
        counts = np.zeros(self.base, np.int64)
        kernels.scan_words(*source.around(0, source.raw.size, self._width), self._width, 0, 0, counts, None, None)
        return int(counts.sum())

    @cached_property
    def outcomes(self) -> Sequence[Any]:
        return self.letters if self.future == 1 else super().outcomes

    def _tally(self, x: Words, z: Words, pairs: Ints, counts: Ints) -> Tally:
        # Steps follow from the words: those to an x that another slice has seen too.
        return Tally("series", ("series", self.past, self.future), x, z, pairs, counts, spelled)

    @property
    def site(self) -> Ints:
        return read_only(self._ends - self.future)

    @cached_property
    def _ends(self) -> Ints:
        """(n,) position of the last symbol of each observation's z."""
        return read_only(self._scan(self._width)[1])

    def _scan(self, width: int, base: int = 0) -> tuple[Ints, Ints]:
        """Codes (in the given base; without meaning for base 0) and last positions of all words, in order."""
        source = self.source

        def chunk(part: tuple[int, int]) -> tuple[Ints, Ints]:
            codes, ends = np.empty((2, part[1] - part[0]), np.int64)
            how = width, base, base ** (width - 1), None
            n = kernels.scan_words(source.raw, source.lut, source.bounds, *part, *how, codes, ends)
            return codes[n:], ends[n:]

        codes, ends = zip(*map_slices(chunk, slices(source.raw.size)), strict=True)
        return np.concatenate(codes), np.concatenate(ends)

    @cached_property
    def symbol(self) -> Ints:
        return read_only(self.source.lut[self.source.raw[self.site + 1]])

    @cached_property
    def successor(self) -> Ints:
        # A window has two symbols or more: the next one ends just after it, or a gap or a bound lies between.
        follows = np.append(np.diff(self._ends) == 1, False)
        return read_only(np.where(follows, np.arange(1, follows.size + 1), -1))


class CodedWindows(SymbolWindows):
    """Windows whose word of past + future symbols fits a 64-bit code."""

    def _count(self, executor: Executor | None) -> Tally:
        """Cost: one pass over the symbols, then O(distinct words)."""
        n_x, n_z = self.base**self.past, self.base**self.future
        dense = n_x * n_z <= max(1 << 16, min(DENSE, self.source.raw.size))
        x, z_code, counts = (self._count_dense if dense else self._count_hashed)(n_x, n_z, executor)
        new = keys.starts(x)
        codes, row = x[new], np.cumsum(new) - 1
        z, outcome = self._number_outcomes(z_code)
        pairs = row * len(z) + outcome
        if self.future > 1:
            order = np.argsort(pairs)
            pairs, counts = pairs[order], counts[order]
        return self._tally(Words(self.letters, self.past, codes[:, None]), z, pairs, counts)

    def _count_dense(self, n_x: int, n_z: int, executor: Executor | None) -> tuple[Ints, Ints, Ints]:
        """Codes of x and of z, the pairs being sorted, and how often they occur."""
        kind: Any = np.uint32 if self.n < 1 << 32 else np.int64
        chunk = partial(_count_slice, self._width, self.base, kind)
        total: Ints = np.zeros(n_x * n_z, kind)
        for counts in map_slices(chunk, self._slices(), executor):
            total += counts
        by_x = np.ascontiguousarray(total.reshape(n_z, n_x).T).ravel()
        pairs = np.flatnonzero(by_x)
        return *np.divmod(pairs, n_z), by_x[pairs].astype(np.int64)

    def _count_hashed(self, n_x: int, n_z: int, executor: Executor | None) -> tuple[Ints, Ints, Ints]:
        chunk = partial(_hash_slice, self._width, self.base)
        found, counts = reduce(keys.add, map_slices(chunk, self._slices(), executor))
        z, x = np.divmod(found, n_x)
        # Sorted by z already.
        order = np.argsort(x, kind="stable")
        return x[order], z[order], counts[order]

    def _slices(self) -> list[Slice]:
        return [self.source.around(*part, self._width) for part in slices(self.source.raw.size)]

    def _number_outcomes(self, codes: Ints) -> tuple[Words, Ints]:
        """The distinct outcomes in the order of their words, first symbol first; and the number of each code."""
        if self.future == 1:
            return values_of(self.letters), codes
        distinct, inverse = np.unique(codes, return_inverse=True)
        number, words = keys.number(self._reversed(distinct), self.base**self.future)
        return Words(self.letters, self.future, words[:, None]), number[inverse]

    def _reversed(self, codes: Ints) -> Ints:
        """Codes of the words of z read the other way round."""
        found, rest = np.zeros_like(codes), codes
        for _ in range(self.future):
            rest, digit = np.divmod(rest, self.base)
            found = found * self.base + digit
        return found

    @cached_property
    def x(self) -> Ints:
        """Cost: one pass, and a look-up or a binary search for each observation."""
        known = cast(Words, self._counted().x).keys[:, 0]
        size = self.base**self.past
        codes = self._scan(self._width, self.base)[0] % size
        if size > max(4 * codes.size, 1 << 16):
            return read_only(np.searchsorted(known, codes))
        row = np.empty(size, np.int64)
        row[known] = np.arange(known.size)
        return read_only(row[codes])

    @cached_property
    def z(self) -> Ints:
        codes = self._scan(self._width, self.base)[0] // self.base**self.past
        known = cast(Words, self._counted().z).keys[:, 0]
        return read_only(codes if self.future == 1 else np.searchsorted(known, self._reversed(codes)))


class RankedWindows(SymbolWindows):
    """Windows of any length over any alphabet, re-coded exactly to ranks by doubling.

    The rank of a word of 2 k symbols is the rank of the pair (rank of its last k, rank of its first k), so
    ranks sort by the endings of words, as codes do.
    """

    def table(self, executor: Executor | None = None) -> Table:
        # The words themselves are not needed: their memory would follow the past.
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
        n_x, n_z = x_end.size, z_end.size if self.future > 1 else self.base
        shared = np.zeros(n_x, np.int64)
        kernels.common_symbols(self.source.raw, self.source.lut, x_end, self.past, shared)
        pairs, counts = keys.count_slices(x, z, n_z)
        steps = count_steps(x, self.symbol, target, n_x, self.base)
        table = tabulate(*np.divmod(pairs, n_z), counts, n_x, n_z, steps, shared)
        return table, read_only(x), read_only(z), x_end, z_end

    def _number_outcomes(self) -> tuple[Ints, Ints]:
        """Numbers of the outcomes in the order of their words, first symbol first; and an end of each."""
        if self.future == 1:
            return self.symbol, np.empty(0, np.int64)
        rank = self._rank(self.future)
        number, end = _number(rank, self._ends)
        order = np.lexsort(self._gathered(end, self.future).T)
        place = np.empty(order.size, np.int64)
        place[order] = np.arange(order.size)
        return place[number[rank[self._ends]]], end[order]

    def _rank(self, width: int) -> Ints:
        """At each position, the rank of the word of `width` symbols that ends there.

        Words that would cross a bound or a gap get a meaningless rank: it is never asked for.
        """
        step = min(width, max(1, int(30 / np.log2(max(self.base, 2)))))
        codes, ends = self._scan(step, self.base)
        rank = np.zeros(self.source.raw.size, np.int64)
        rank[ends] = keys.number(codes, self.base**step)[0]
        del codes, ends
        while step < width:
            ahead = min(step, width - step)
            n = int(rank.max()) + 1
            rank[ahead:] = keys.number(rank[ahead:] * n + rank[:-ahead], n * n)[0]
            step += ahead
        return rank

    @property
    def x(self) -> Ints:
        return self._ranked[1]

    @property
    def z(self) -> Ints:
        return self._ranked[2]

    def words(self, rows: Ints) -> Ints:
        return self._gathered(self._ranked[3][rows], self.past)

    def _gathered(self, ends: Ints, width: int) -> Ints:
        """(n, width) symbol codes of the words that end at some positions, the last one first."""
        words = np.empty((ends.size, width), np.int64)
        kernels.gather_words(self.source.raw, self.source.lut, ends, words)
        return words

    def _count(self, executor: Executor | None) -> Tally:
        x_end: Ints = np.empty(0, np.int64)
        z_end, counted = x_end, (x_end, x_end)
        if self.n:
            table, _, _, x_end, z_end = self._ranked
            row = np.repeat(np.arange(table.n_x), np.diff(table.start))
            counted = row * table.n_outcomes + table.outcome, table.count
        parts = [x_end[a : a + BLOCK] for a in range(0, x_end.size, BLOCK)] or [x_end]
        packed = [pack(self._gathered(part, self.past), self.base) for part in parts]
        x = Words(self.letters, self.past, np.concatenate(packed))
        z = values_of(self.letters)
        if self.future > 1:
            z = Words(self.letters, self.future, pack(self._gathered(z_end, self.future)[:, ::-1], self.base))
        return self._tally(x, z, *counted)


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
    kernels.scan_words(*part, width, base, base ** (width - 1), counts, None, None)
    return counts


def _hash_slice(width: int, base: int, part: Slice) -> tuple[Ints, Ints]:
    """The codes of the words that end in a slice, and how often each occurs."""
    raw, lut, bounds, first, last = part
    counter = keys.KeyCounter()
    how = width, base, base ** (width - 1), None
    codes, ends = np.empty((2, BLOCK), np.int64)
    for begin in range(first, last, BLOCK):
        n = kernels.scan_words(raw, lut, bounds, begin, min(begin + BLOCK, last), *how, codes, ends)
        counter.add(codes[n:])
    return counter.counted()


def _number(rank: Ints, at: Ints) -> tuple[Ints, Ints]:
    """The number of each rank among those of positions `at`, -1 = not one of them; and a position of each."""
    seen = np.zeros(int(rank.max()) + 1, bool)
    seen[rank[at]] = True
    number = np.where(seen, np.cumsum(seen) - 1, -1)
    position = np.empty(int(seen.sum()), np.int64)
    position[number[rank[at]]] = at
    return number, position
