"""Symbols of any kind as column numbers, and back."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Lookup", "alphabet_array", "coder", "order", "plain"]

Array = NDArray[Any]

_TABLE = 1 << 16  # integers below this are coded through a table


def plain(value: Any) -> Any:
    """Return the Python value of a numpy scalar, anything else as it is."""
    return value.item() if isinstance(value, np.generic) else value


def order(symbols: Iterable[Hashable]) -> tuple[Hashable, ...]:
    """Return the distinct symbols sorted, or in order of appearance when they cannot be compared."""
    distinct: list[Any] = list(dict.fromkeys(symbols))
    try:
        return tuple(sorted(distinct))
    except TypeError:
        return tuple(distinct)


def alphabet_array(alphabet: Sequence[Hashable]) -> Array:
    """Return the symbols as an array: uint8 for integers 0..255, the natural type otherwise.

    Symbols of mixed types, or that numpy would change, make an array of objects.
    """
    kinds = {type(symbol) for symbol in alphabet}
    if kinds == {int} and all(0 <= symbol <= 255 for symbol in alphabet):  # type: ignore[operator]
        return np.array(alphabet, dtype=np.uint8)
    if len(kinds) == 1 and kinds <= {bool, int, float, str}:
        natural = np.array(alphabet)
        if natural.tolist() == list(alphabet):
            return natural
    boxed = np.empty(len(alphabet), dtype=object)
    boxed[:] = alphabet
    return boxed


class Lookup:
    """Column of a symbol: the symbol equal to it, else the one that prints the same, else n_symbols."""

    def __init__(self, alphabet: Sequence[Hashable]) -> None:
        self.exact = {symbol: column for column, symbol in enumerate(alphabet)}
        self.printed = {str(symbol): column for column, symbol in reversed(list(enumerate(alphabet)))}
        self.unknown = len(alphabet)
        self.dtype = np.uint8 if self.unknown < 256 else np.int32

    def __call__(self, value: Any) -> int:
        value = plain(value)
        column = self.exact.get(value)
        if column is None:
            text = value.decode("latin-1") if isinstance(value, bytes) else str(value)
            column = self.printed.get(text, self.unknown)
        return column

    def byte(self, value: int) -> int:
        column = self.exact.get(value)
        return self.printed.get(chr(value), self.unknown) if column is None else column

    def array(self, values: Iterable[Any]) -> Array:
        return np.array([self(value) for value in values], dtype=self.dtype)


def _integers(lookup: Lookup, values: Array) -> Callable[[int, int], Array]:
    """Code integers through a table when they are small, by their distinct values otherwise."""
    size = 256 if values.dtype.itemsize == 1 else _TABLE
    table = np.full(size, lookup.unknown, dtype=lookup.dtype)
    for symbol in lookup.exact:
        try:
            value = int(str(symbol)) if isinstance(symbol, str) else symbol
        except ValueError:
            continue
        if isinstance(value, (int, float)) and 0 <= value < size and int(value) == value:
            table[int(value)] = lookup(int(value))
    general = _distinct(lookup, values)

    def code(lo: int, hi: int) -> Array:
        part = values[lo:hi]
        if values.dtype == np.uint8 or (part.size and part.min() >= 0 and part.max() < size):
            return table[part]
        return general(lo, hi)

    return code


def _distinct(lookup: Lookup, values: Array) -> Callable[[int, int], Array]:
    """Code any numpy array by looking up its distinct values."""

    def code(lo: int, hi: int) -> Array:
        distinct, inverse = np.unique(values[lo:hi], return_inverse=True)
        return lookup.array(distinct.tolist())[inverse]

    return code


def _text(lookup: Lookup, text: str) -> Callable[[int, int], Array]:
    """Code the characters of a string through a table, or by distinct characters beyond Latin-1."""
    table = lookup.array(map(chr, range(256)))

    def code(lo: int, hi: int) -> Array:
        part = text[lo:hi]
        try:
            return table[np.frombuffer(part.encode("latin-1"), dtype=np.uint8)]
        except UnicodeEncodeError:
            points = np.frombuffer(part.encode("utf-32-le", "surrogatepass"), dtype="<u4")
            distinct, inverse = np.unique(points, return_inverse=True)
            return lookup.array(map(chr, distinct.tolist()))[inverse]

    return code


def coder(symbols: Any, alphabet: Sequence[Hashable]) -> tuple[int, Callable[[int, int], Array]]:
    """Prepare the coding of one sequence: its length, and a function that codes the slice lo:hi.

    Codes are column numbers of the alphabet, len(alphabet) for other symbols; a symbol that is not in the
    alphabet as it is stands for the one that prints the same. Types: uint8 below 256 symbols, else int32.

    Raises
    ------
    TypeError
        When the symbols are not a sequence of hashable values.
    ValueError
        When they have several dimensions.
    """
    lookup = Lookup(alphabet)
    if isinstance(symbols, np.ma.MaskedArray):
        n, known = coder(symbols.data, alphabet)
        masked = np.ma.getmaskarray(symbols)
        return n, lambda lo, hi: np.where(masked[lo:hi], lookup.dtype(lookup.unknown), known(lo, hi))
    if isinstance(symbols, str):
        return len(symbols), _text(lookup, symbols)
    if isinstance(symbols, (bytes, bytearray, memoryview)):
        table = np.array([lookup.byte(value) for value in range(256)], dtype=lookup.dtype)
        raw = np.frombuffer(symbols, dtype=np.uint8)
        return raw.size, lambda lo, hi: table[raw[lo:hi]]
    if isinstance(symbols, np.ndarray):
        if symbols.ndim != 1:
            raise ValueError(
                f"The 'symbols' have {symbols.ndim} dimensions; one sequence has 1: give one row at a time."
            )
        if symbols.dtype.kind in "iu":
            return symbols.size, _integers(lookup, symbols)
        if symbols.dtype.kind in "bfUS":
            return symbols.size, _distinct(lookup, symbols)
    try:
        values = list(symbols)
        for value in values:
            hash(value)
    except TypeError:
        raise TypeError(
            f"The 'symbols' are {type(symbols).__name__}; they must be a sequence of hashable values: give a "
            "string, bytes, a list or a one-dimensional array."
        ) from None
    return len(values), lambda lo, hi: lookup.array(values[lo:hi])
