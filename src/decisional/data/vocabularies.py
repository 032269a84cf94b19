"""The distinct x, z or symbols of a data set, in an order that depends on them alone: what tallies count.

Two vocabularies of one kind merge into that of both data sets, whatever letters each of them has met.
"""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._kernels import key_numbers as kernels
from ..support.arrays import Ints
from . import keys
from .alphabet import Alphabet

# Codes stay below 2**62, so that no step of the arithmetic overflows 64 bits.
CODES = 1 << 62


def groups(width: int, base: int) -> list[tuple[int, int]]:
    """Ranges of the symbols of a word whose codes stay below the limit."""
    size = width if base == 1 else 1
    while size < width and base ** (size + 1) <= CODES:
        size += 1
    return [(first, min(first + size, width)) for first in range(0, width, size)]


def pack(words: Ints, base: int) -> Ints:
    """(n, .) keys of (n, width) words of letter codes: rows of keys sort as the words do."""
    ranges = groups(words.shape[1], base)
    keys = np.zeros((words.shape[0], len(ranges)), np.int64)
    for column, (first, stop) in enumerate(ranges):
        for k in range(first, stop):
            keys[:, column] *= base
            keys[:, column] += words[:, k]
    return keys


def unpack(keys: Ints, base: int, width: int, kind: Any = np.int64) -> Ints:
    """(n, width) letter codes of rows of keys."""
    words = np.empty((keys.shape[0], width), kind)
    for column, (first, stop) in enumerate(groups(width, base)):
        rest = keys[:, column].copy()
        for k in range(stop - 1, first - 1, -1):
            rest, words[:, k] = np.divmod(rest, base)
    return words


@dataclass(frozen=True, eq=False)
class Words:
    """Distinct words over some letters.

    Attributes
    ----------
    letters : what the codes of the words stand for, sorted
    width : symbols in a word
    keys : (n, .) packed words, in lexicographic order
    """

    letters: tuple[Hashable, ...]
    width: int
    keys: Ints

    def __len__(self) -> int:
        return len(self.keys)

    def words(self, rows: Any = slice(None), kind: Any = np.int64) -> Ints:
        """(n, width) letter codes."""
        return unpack(self.keys[rows], len(self.letters), self.width, kind)

    def select(self, rows: Ints) -> "Words":
        """Some of the words, in the same order."""
        return Words(self.letters, self.width, self.keys[rows])

    def over(self, letters: tuple[Hashable, ...]) -> tuple["Words", Ints]:
        """The same words over more letters, and the place of each of them."""
        if letters == self.letters:
            return self, np.arange(len(self))
        recoded = Alphabet(letters).places(self.letters)[self.words()]
        keys = pack(recoded.reshape(-1, self.width), len(letters))
        # Letters that cannot be compared with the new ones are ordered as text: their order may change.
        order = np.lexsort(keys.T[::-1])
        place = np.empty(order.size, np.int64)
        place[order] = np.arange(order.size)
        return Words(letters, self.width, keys[order]), place

    def merge(self, other: "Vocabulary") -> tuple["Words", Ints, Ints]:
        """The words of both, and the place of each word of self and of other among them. Cost: linear."""
        assert isinstance(other, Words)
        letters = self.letters
        if other.letters != letters:
            letters = Alphabet(self.letters).merge(Alphabet(other.letters))[0].letters
        (a, a_place), (b, b_place) = self.over(letters), other.over(letters)
        merged, old, new = keys.union(a.keys, b.keys)
        return Words(letters, self.width, merged), old[a_place], new[b_place]

    def first_letters(self) -> Ints:
        """(n,) code of the first letter of each word."""
        first: Ints = self.keys[:, 0] // self._tops[0]
        return first

    def shared(self) -> Ints:
        """(n,) how many first letters each word shares with the one before it. Cost: O(n log width)."""
        base, sizes = len(self.letters), self._sizes
        shared = np.zeros(len(self), np.int64)
        kernels.common_letters(self.keys, sizes, base ** np.arange(sizes[0] + 1), shared)
        return shared

    def led_to(self, source: Ints, symbol: Ints) -> Ints:
        """Rows of the words with a symbol before those of increasing rows, their last letter gone; -1 = none.

        Cost: linear in the words and in the rows.
        """
        letters = np.arange(len(self.letters), dtype=np.int64)
        at = np.searchsorted(self.keys[:, 0], letters * self._tops[0])
        target = np.empty(source.size, np.int64)
        kernels.find_led_to(self.keys, letters.size, self._tops, source, symbol, at, target)
        return target

    @property
    def _sizes(self) -> Ints:
        """Letters in each column of the keys."""
        return np.array([stop - first for first, stop in groups(self.width, len(self.letters))], np.int64)

    @property
    def _tops(self) -> Ints:
        """What the first letter of each column is multiplied by."""
        tops: Ints = len(self.letters) ** (self._sizes - 1)
        return tops


@dataclass(frozen=True, eq=False)
class Vectors:
    """Distinct vectors of numbers, (n, d), in the order of `distinct_rows`."""

    rows: NDArray[Any]
    letters: tuple[Hashable, ...] = ()

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def width(self) -> int:
        """Numbers in a vector."""
        return int(self.rows.shape[1])

    def words(self, rows: Any = slice(None)) -> NDArray[Any]:
        """(n, d) the vectors themselves."""
        vectors: NDArray[Any] = self.rows[rows]
        return vectors

    def select(self, rows: Ints) -> "Vectors":
        """Some of the vectors, in the same order."""
        return Vectors(self.rows[rows])

    def merge(self, other: "Vocabulary") -> tuple["Vectors", Ints, Ints]:
        """The vectors of both, and the place of each vector of self and of other. Cost: that of sorting."""
        assert isinstance(other, Vectors)
        rows, place = distinct_rows(np.concatenate([self.rows, other.rows]))
        return Vectors(rows), place[: len(self)], place[len(self) :]


Vocabulary = Words | Vectors


def place_in(whole: Vocabulary, part: Vocabulary) -> Ints:
    """(len(part),) place of each entry of a vocabulary in another one, -1 where it has none. Cost: that of merging."""
    merged, known, asked = whole.merge(part)
    place = np.full(len(merged), -1, np.int64)
    place[known] = np.arange(len(whole))
    found: Ints = place[asked]
    return found


def distinct_rows(rows: NDArray[Any]) -> tuple[NDArray[Any], Ints]:
    """The distinct rows of a table of numbers, in an order that depends on them alone, and the number of each row."""
    rows = np.ascontiguousarray(rows)
    if rows.dtype.kind == "f":
        rows = rows + 0.0  # -0.0 and 0.0 are one value
    if rows.shape[1] == 1:
        values, number = np.unique(rows[:, 0], return_inverse=True)
        return values[:, None], number.reshape(-1)
    whole = rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1]))).ravel()
    _, first, number = np.unique(whole, return_index=True, return_inverse=True)
    return rows[first], number.reshape(-1)
