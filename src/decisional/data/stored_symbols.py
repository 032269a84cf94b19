"""Symbols that do not fit in memory: slices numbered alike, one after the other, and a sample of them."""

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..support.arrays import Ints
from ..support.executors import alone, map_slices
from ..support.progress import counted
from .alphabet import Alphabet, compact
from .sequences import NoSymbols, Symbols, check_dimensions, read
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
    for array in arrays:
        check_dimensions(array.ndim, 1 if several else 2)
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
        parts = [data for data, *_ in self._parts(0)]
        for symbols in counted(map_slices(self._read, parts), "symbols that there are", len(parts), "slices"):
            found = found.merge(symbols.alphabet)[0]
        if not found:
            raise NoSymbols(
                f"All {self.size:,} 'symbols' are missing; a series needs at least one symbol: check 'missing' and the "
                "input."
            )
        return found

    def pieces(self, ahead: int) -> Iterator[Piece]:
        """All slices in order, each with the next symbols, at most `ahead`, of the sequence it ends in.

        Cost: one pass; a few slices of a quarter of a gigabyte at most are in memory (none, for maps of bytes).
        """
        parts = self._parts(ahead)
        read = counted(self._numbered([data for data, *_ in parts]), "reading", len(parts), "slices")
        for symbols, (_, own, continues) in zip(read, parts, strict=True):
            yield Piece(symbols.raw, symbols.lut, symbols.bounds, own * self.width, continues)

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
                    found.append(array[first:last])
                offset += len(array)
        parts, n = list(self._numbered(found)), len(self.alphabet)
        # A missing symbol gets a number of its own.
        raw = np.concatenate([compact(np.where(part.lut < 0, n, part.lut), n + 1)[part.raw] for part in parts])
        bounds = np.append(0, np.cumsum(np.concatenate([np.diff(part.bounds) for part in parts])))
        return Symbols(raw, np.append(np.arange(n), -1), self.alphabet, bounds, bool((raw == n).any()), (raw.size,))

    def _parts(self, ahead: int) -> list[tuple[Any, int, bool]]:
        """The data of each slice, how many of its rows are its own, and whether it continues the one before."""
        rows = max(rows_at_once(SYMBOL_BYTES) // self.width, 1)
        ahead = ahead if self.arrays[0].ndim == 1 else 0
        return [
            (array[a : min(b + ahead, len(array))], b - a, a > 0 and array.ndim == 1)
            for array in self.arrays
            for a, b in cuts(array, 0, len(array), rows)
        ]

    def _read(self, data: Any) -> Symbols:
        with alone():
            try:
                return read(load(data), self.missing, sequences=False)
            except NoSymbols:
                n = data.size
                return Symbols(np.zeros(n, np.uint8), np.full(1, -1), Alphabet(()), np.array([0, n]), True, (n,))

    def _numbered(self, parts: list[Any]) -> Iterator[Symbols]:
        alphabet = self.alphabet
        yield from map_slices(lambda data: self._read(data).over(alphabet), parts)
