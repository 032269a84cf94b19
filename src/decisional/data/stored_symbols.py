"""Symbols that do not fit in memory: slices numbered alike, one after the other, and a sample of them."""

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from ..support.arrays import Ints
from ..support.executors import alone, map_slices
from .alphabet import Alphabet
from .sequences import NoSymbols, Symbols, read
from .slices import rows_at_once
from .stores import cuts, is_stored, load, stored

# What reading a symbol takes, where it is no small integer already.
SYMBOL_BYTES = 32


@dataclass(frozen=True, eq=False)
class Piece:
    """A slice of numbered symbols, and some that follow it.

    Attributes
    ----------
    raw, lut, bounds : as in `Symbols`; codes number the letters of all data
    end : symbols of the slice itself
    continues : whether its first sequence began in the slice before
    """

    raw: Ints
    lut: Ints
    bounds: Ints
    end: int
    continues: bool


def stored_symbols(symbols: Any, missing: Hashable = None) -> "StoredSymbols | None":
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
    return StoredSymbols(arrays, missing)


class StoredSymbols:
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
        """All symbols in memory, for `sequences.read`."""
        found = [load(array) for array in self.arrays]
        return found[0] if len(found) == 1 else found

    @cached_property
    def alphabet(self) -> Alphabet:
        """The distinct symbols. Cost: one pass."""
        found = Alphabet(())
        for alphabet in map_slices(partial(_alphabet, self.missing), self._parts(0)):
            found = found.merge(alphabet)[0]
        if not found:
            raise NoSymbols(
                f"All {self.size:,} 'symbols' are missing; a series needs at least one symbol: check 'missing' and the "
                "input."
            )
        return found

    @property
    def letters(self) -> tuple[Hashable, ...]:
        """The distinct symbols, in order."""
        return self.alphabet.letters

    def pieces(self, ahead: int) -> Iterator[Piece]:
        """All slices in order, each with the next symbols, at most `ahead`, of the sequence it ends in.

        Cost: one pass; a few slices of a quarter of a gigabyte at most are in memory (none, for maps of bytes).
        """
        yield from map_slices(partial(_piece, self.missing, self.alphabet), self._parts(ahead))

    def sample(self, size: int, block: int) -> Symbols:
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
        return self._joined(list(map_slices(partial(_piece, self.missing, self.alphabet), found)))

    def _joined(self, pieces: list[Piece]) -> Symbols:
        n = len(self.alphabet)
        kind = np.uint8 if n < 1 << 8 else np.uint16 if n < 1 << 16 else np.int64
        # A missing symbol gets a number of its own.
        raw = np.concatenate([np.where(piece.lut < 0, n, piece.lut).astype(kind)[piece.raw] for piece in pieces])
        lengths = np.concatenate([np.diff(piece.bounds) for piece in pieces])
        bounds = np.concatenate([[0], np.cumsum(lengths)])
        return Symbols(raw, np.append(np.arange(n), -1), self.alphabet, bounds, bool((raw == n).any()), (raw.size,))

    def _parts(self, ahead: int) -> list[tuple[Any, int, bool]]:
        """The data of each slice, how many of its rows are its own, and whether it continues the one before."""
        rows = max(rows_at_once(SYMBOL_BYTES) // self.width, 1)
        ahead = ahead if self.width == 1 and self.arrays[0].ndim == 1 else 0
        return [
            (array[a : min(b + ahead, len(array))], b - a, a > 0 and array.ndim == 1)
            for array in self.arrays
            for a, b in cuts(array, 0, len(array), rows)
        ]


def _read(missing: Hashable, part: tuple[Any, int, bool]) -> Symbols | None:
    """Symbols of a slice; None where all are missing."""
    with alone():
        try:
            return read(load(part[0]), missing, sequences=False)
        except NoSymbols:
            return None


def _alphabet(missing: Hashable, part: tuple[Any, int, bool]) -> Alphabet:
    symbols = _read(missing, part)
    return Alphabet(()) if symbols is None else symbols.alphabet


def _piece(missing: Hashable, alphabet: Alphabet, part: tuple[Any, int, bool]) -> Piece:
    data, own, continues = part
    width = int(np.prod(data.shape[1:]))
    symbols = _read(missing, part)
    if symbols is None:
        n = len(data) * width
        return Piece(np.zeros(n, np.uint8), np.full(1, -1), np.array([0, n]), own * width, continues)
    symbols = symbols.over(alphabet)
    return Piece(symbols.raw, symbols.lut, symbols.bounds, own * width, continues)
