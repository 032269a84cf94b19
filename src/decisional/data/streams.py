"""Symbols that do not fit in memory: slices numbered alike, one after the other, and a sample of them."""

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from ..support.arrays import Ints
from ..support.executors import alone, map_slices
from .alphabet import NoSymbols, Source, ordered, read
from .slices import rows_at_once
from .stores import cuts, is_stored, load, stored

__all__ = ["Piece", "Stream", "stream"]

# What reading a symbol takes, where it is no small integer already.
SYMBOL_BYTES = 32


@dataclass(frozen=True, eq=False)
class Piece:
    """A slice of numbered symbols, and some that follow it.

    Attributes
    ----------
    raw, lut, bounds : as in `Source`; codes number the letters of all data
    end : symbols of the slice itself
    continues : whether its first sequence began in the slice before
    """

    raw: Ints
    lut: Ints
    bounds: Ints
    end: int
    continues: bool


def stream(symbols: Any, missing: Hashable = None) -> "Stream | None":
    """Symbols that are better read slice by slice, as `observe.series` takes them; None for those in memory."""
    several = isinstance(symbols, (list, tuple)) and len(symbols) > 0 and all(map(is_stored, symbols))
    if not several and not is_stored(symbols):
        return None
    arrays = [stored(part) for part in (symbols if several else [symbols])]
    wrong = [array.ndim for array in arrays if array.ndim not in ((1,) if several else (1, 2))]
    if wrong:
        raise ValueError(
            f"The 'symbols' array has {wrong[0]} dimensions; a series has one, and several series of one length two: "
            "give one series at a time."
        )
    return Stream(arrays, missing)


class Stream:
    """Symbols of one array, of the rows of one (which must fit in memory one by one), or of several.

    Parameters
    ----------
    arrays : what `stores.stored` gives
    missing : one more value that marks a missing symbol
    """

    def __init__(self, arrays: list[Any], missing: Hashable = None) -> None:
        self.arrays, self.missing = arrays, missing
        self.width = int(np.prod(arrays[0].shape[1:]))
        self.rows = sum(map(len, arrays))
        self.size = self.rows * self.width
        self.shape: tuple[int, ...] = arrays[0].shape if len(arrays) == 1 else (self.rows,)

    def loaded(self) -> Any:
        """All symbols in memory, for `symbols.read`."""
        found = [load(array) for array in self.arrays]
        return found[0] if len(found) == 1 else found

    @cached_property
    def letters(self) -> tuple[Hashable, ...]:
        """The distinct symbols, sorted where they can be. Cost: one pass."""
        found: dict[Hashable, None] = {}
        for letters in map_slices(partial(_letters, self.missing), self._parts(0)):
            found.update(dict.fromkeys(letters))
        if not found:
            raise NoSymbols(
                f"All {self.size:,} 'symbols' are missing; a series needs at least one symbol: check 'missing' and the "
                "input."
            )
        return tuple(ordered(list(found)))

    def pieces(self, ahead: int) -> Iterator[Piece]:
        """All slices in order, each with the next symbols, at most `ahead`, of the sequence it ends in.

        Cost: one pass; a few slices of a quarter of a gigabyte at most are in memory (none, for maps of bytes).
        """
        yield from map_slices(partial(_piece, self.missing, self.letters), self._parts(ahead))

    def sample(self, size: int, block: int) -> Source:
        """About `size` symbols in evenly spread blocks, the first at the beginning; each block is a sequence."""
        rows = min(max(block // self.width, 1), self.rows)
        n_blocks = max(size // (rows * self.width), 1)
        found = []
        for start in np.linspace(0, self.rows - rows, n_blocks).astype(np.int64).tolist():
            offset = 0
            for array in self.arrays:
                first, last = max(start - offset, 0), min(start + rows - offset, len(array))
                if first < last:
                    found.append((array[first:last], last - first, False))
                offset += len(array)
        return self._joined(list(map_slices(partial(_piece, self.missing, self.letters), found)))

    def _joined(self, pieces: list[Piece]) -> Source:
        n = len(self.letters)
        kind = np.uint8 if n < 1 << 8 else np.uint16 if n < 1 << 16 else np.int64
        # A missing symbol gets a number of its own.
        raw = np.concatenate([np.where(piece.lut < 0, n, piece.lut).astype(kind)[piece.raw] for piece in pieces])
        lengths = np.concatenate([np.diff(piece.bounds) for piece in pieces])
        bounds = np.concatenate([[0], np.cumsum(lengths)])
        return Source(raw, np.append(np.arange(n), -1), self.letters, bounds, bool((raw == n).any()), (raw.size,))

    def _parts(self, ahead: int) -> list[tuple[Any, int, bool]]:
        """The data of each slice, how many of its rows are its own, and whether it continues the one before."""
        rows = max(rows_at_once(SYMBOL_BYTES) // self.width, 1)
        ahead = ahead if self.width == 1 and self.arrays[0].ndim == 1 else 0
        return [
            (array[a : min(b + ahead, len(array))], b - a, a > 0 and array.ndim == 1)
            for array in self.arrays
            for a, b in cuts(array, 0, len(array), rows)
        ]


def _read(missing: Hashable, data: Any) -> Source:
    with alone():
        return read(load(data), missing, sequences=False)


def _letters(missing: Hashable, part: tuple[Any, int, bool]) -> tuple[Hashable, ...]:
    try:
        return _read(missing, part[0]).letters
    except NoSymbols:
        return ()


def _piece(missing: Hashable, letters: tuple[Hashable, ...], part: tuple[Any, int, bool]) -> Piece:
    data, own, continues = part
    width = int(np.prod(data.shape[1:]))
    try:
        source = _read(missing, data)
    except NoSymbols:
        n = len(data) * width
        return Piece(np.zeros(n, np.uint8), np.full(1, -1), np.array([0, n]), own * width, continues)
    number = {letter: code for code, letter in enumerate(letters)}
    codes = np.array([*(number[letter] for letter in source.letters), -1], np.int64)
    return Piece(source.raw, codes[source.lut], source.bounds, own * width, continues)
