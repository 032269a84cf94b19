"""Symbols of any kind: one order, one equality, and a small integer for each of them, everywhere in the library.

Two symbols are the same where Python says so: 1, 1.0, True and NumPy's scalars of them are one symbol, 1 and "1" are
two, and so are b"a" and "a". None, NaN and other values that do not equal themselves are missing. What is read along an
alphabet that is there already, such as that of a machine, may also stand for the letter that prints the same.
"""

from collections.abc import Callable, Hashable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._kernels import words as kernels
from ..support.arrays import Bools, Ints
from ..support.executors import map_slices, slices

# What the values of bytes stand for, in arrays of integers and in text.
BYTES = range(256)
CHARACTERS = tuple(map(chr, BYTES))
TEXT = (str, bytes, bytearray, memoryview)
# The end of a whole string, the last letter of its alphabet.
END = "<end>"
# Integers that are less far apart than this are numbered through a table.
TABLE = 1 << 16


def plain(symbol: Any) -> Any:
    """The Python value of a NumPy scalar, anything else as it is."""
    return symbol.item() if isinstance(symbol, np.generic) else symbol


def is_missing(value: Any, mark: Hashable = None) -> bool:
    """Whether a value is None, the mark, masked, or such that it does not equal itself: NaN, pandas.NA."""
    if value is None or value is mark or value is np.ma.masked:
        return True
    try:
        return bool(value != value or value == mark)
    except (TypeError, ValueError):
        return True


def ordered(symbols: Iterable[Any]) -> tuple[Any, ...]:
    """The distinct symbols, sorted; those that cannot all be compared by the name of their type and as text."""
    found = list(dict.fromkeys(symbols))
    try:
        found.sort()
        # Sets are compared by what they contain: that sorts only some of them.
        if all(a < b for a, b in pairwise(found)):
            return tuple(found)
    except (TypeError, ValueError):
        pass
    return tuple(sorted(found, key=lambda symbol: (_kind(symbol), _text(symbol))))


def _kind(symbol: Any) -> str:
    """Name of a type; that of whole numbers is one, for 1, 1.0 and True are one symbol."""
    return "int" if _is_whole(symbol) else type(symbol).__name__


def _text(symbol: Any) -> str:
    """What `repr` says, the same for equal symbols and whatever order a set is in."""
    if _is_whole(symbol):
        return repr(int(symbol))
    if type(symbol) is tuple:
        return "(" + ", ".join(map(_text, symbol)) + (",)" if len(symbol) == 1 else ")")
    if type(symbol) is frozenset:
        return "frozenset({" + ", ".join(sorted(map(_text, symbol))) + "})"
    return repr(symbol)


def _is_whole(symbol: Any) -> bool:
    return isinstance(symbol, int) or (isinstance(symbol, float) and symbol.is_integer())


class Lookup:
    """Numbers of letters by what is given for them: the equal one, else the first that prints the same, else `unknown`.

    Letters can be added.
    """

    def __init__(self, letters: Iterable[Hashable], unknown: int = -1) -> None:
        self.letters: list[Hashable] = []
        self.unknown = unknown
        self.exact: dict[Hashable, int] = {}
        self._printed: dict[str, int] = {}
        for letter in letters:
            self.add(letter)

    def add(self, letter: Hashable) -> int:
        """Number one more letter."""
        code = len(self.letters)
        self.letters.append(letter)
        self.exact[letter] = code
        self._printed.setdefault(str(letter), code)
        return code

    def __call__(self, value: Any) -> int:
        code = self.exact.get(value)
        if code is None:
            value = plain(value)
            text = value.decode("latin-1") if isinstance(value, bytes) else str(value)
            code = self.exact.get(value, self._printed.get(text, self.unknown))
        return code

    def byte(self, value: int) -> int:
        """Number of what a byte stands for: an integer of the alphabet, else a character."""
        code = self.exact.get(value)
        return self._printed.get(chr(value), self.unknown) if code is None else code


@dataclass(frozen=True)
class Alphabet:
    """Distinct symbols, numbered.

    Attributes
    ----------
    letters : the symbols; the number of each is its place. `Alphabet.of` puts any symbols in order
    """

    letters: tuple[Hashable, ...]

    @classmethod
    def of(cls, symbols: Iterable[Hashable]) -> "Alphabet":
        """The alphabet of some symbols: the same for any order and repetition of them."""
        return cls(ordered(map(plain, symbols)))

    def __len__(self) -> int:
        return len(self.letters)

    @cached_property
    def lookup(self) -> Lookup:
        """Number of any symbol; len(alphabet) if it is unknown."""
        return Lookup(self.letters, len(self))

    @property
    def dtype(self) -> Any:
        """The type of codes: one byte where it has room for those of unknown and of missing symbols too."""
        return np.uint8 if len(self) < 255 else np.int32

    def places(self, letters: Iterable[Hashable]) -> Ints:
        """Numbers of letters, -1 for those that equal none."""
        code = dict(zip(self.letters, range(len(self)), strict=True))
        return np.array([code.get(letter, -1) for letter in letters], np.int64)

    def merge(self, other: "Alphabet") -> tuple["Alphabet", Ints, Ints]:
        """The alphabet of both, and the numbers of the letters of each in it."""
        if self.letters == other.letters:
            return self, np.arange(len(self)), np.arange(len(self))
        both = Alphabet(ordered((*self.letters, *other.letters)))
        return both, both.places(self.letters), both.places(other.letters)

    @cached_property
    def array(self) -> NDArray[Any]:
        """The letters as an array: uint8 for integers 0..255, else their natural type, or objects."""
        kinds = set(map(type, self.letters))
        if kinds == {int} and all(0 <= letter <= 255 for letter in self.letters):  # type: ignore[operator]
            return np.array(self.letters, np.uint8)
        if len(kinds) == 1 and kinds <= {bool, int, float, str}:
            natural = np.array(self.letters)
            if natural.tolist() == list(self.letters):
                return natural
        return boxed(self.letters)

    def coder(self, symbols: Any) -> tuple[int, Callable[[int, int], Ints]]:
        """Prepare the coding of one sequence: its length, and a function that gives the codes of the slice lo:hi.

        Codes are those of `lookup`, in one byte below 255 letters; masked symbols are unknown. In bytes, each may stand
        for an integer or for a character.

        Raises
        ------
        TypeError
            When the symbols are not a sequence of hashable values.
        ValueError
            When they have several dimensions.
        """
        if isinstance(symbols, np.ma.MaskedArray):
            n, known = self.coder(symbols.data)
            masked = np.ma.getmaskarray(symbols)
            return n, lambda lo, hi: np.where(masked[lo:hi], self.dtype(len(self)), known(lo, hi))
        if isinstance(symbols, (bytes, bytearray, memoryview)):
            raw = np.frombuffer(symbols, np.uint8)
            return raw.size, lambda lo, hi: self._of_bytes[raw[lo:hi]]
        if isinstance(symbols, np.ndarray) and symbols.ndim != 1:
            raise ValueError(
                f"The 'symbols' have {symbols.ndim} dimensions; one sequence has 1: give one row at a time."
            )
        if isinstance(symbols, str) or (isinstance(symbols, np.ndarray) and symbols.dtype.kind in "biufUS"):
            return len(symbols), lambda lo, hi: self._codes(symbols[lo:hi])
        try:
            values = list(symbols)
            hash(tuple(values))
        except TypeError:
            raise TypeError(
                f"The 'symbols' are {type(symbols).__name__}; they must be a sequence of hashable values: give a "
                "string, bytes, a list or a one-dimensional array."
            ) from None
        return len(values), lambda lo, hi: np.array(list(map(self.lookup, values[lo:hi])), self.dtype)

    def gaps(self, symbols: Any, codes: Ints, lo: int = 0) -> Bools:
        """Which symbols from lo on, that have these codes, are missing: unknown ones that are None, NaN or masked.

        Cost: that of the unknown ones.
        """
        found = np.zeros(codes.size, bool)
        if not isinstance(symbols, TEXT):
            where = np.flatnonzero(codes == len(self))
            found[where] = [is_missing(symbols[lo + i]) for i in where.tolist()]
        return found

    def coder_with_gaps(self, symbols: Any) -> tuple[int, Callable[[int, int], Ints]]:
        """As `coder`, with codes of their own for symbols that are missing: len(alphabet) + 1."""
        n, code = self.coder(symbols)

        def with_gaps(lo: int, hi: int) -> Ints:
            codes = code(lo, hi)
            codes[self.gaps(symbols, codes, lo)] = len(self) + 1
            return codes

        return n, with_gaps

    def meant(self, symbols: Any) -> list[Any]:
        """The letters that the symbols of one sequence stand for; those that are unknown as they are."""
        n, code = self.coder(symbols)
        return [
            self.letters[k] if k < len(self) else symbol for symbol, k in zip(symbols, code(0, n).tolist(), strict=True)
        ]

    @cached_property
    def _of_integers(self) -> Ints:
        """Codes of the integers below TABLE."""
        table = np.full(TABLE, len(self), self.dtype)
        for letter in (*self.letters, *map(str, self.letters)):
            with suppress(TypeError, ValueError, OverflowError):
                if 0 <= (value := int(letter)) < TABLE:  # type: ignore[call-overload]
                    table[value] = self.lookup(value)
        return table

    @cached_property
    def _of_characters(self) -> Ints:
        """Codes of the first 256 characters."""
        return np.array(list(map(self.lookup, CHARACTERS)), self.dtype)

    @cached_property
    def _of_bytes(self) -> Ints:
        """Codes of bytes, each an integer of the alphabet or a character."""
        return np.array(list(map(self.lookup.byte, BYTES)), self.dtype)

    def _codes(self, values: Any) -> Ints:
        """Codes of text, or of an array."""
        if not isinstance(values, str) and values.dtype.kind in "iu" and _fits_table(values):
            table, raw = self._of_integers, values
        else:
            raw, meaning = distinct(values)
            if meaning is CHARACTERS:
                table = self._of_characters
            else:
                seen = _seen(raw) if isinstance(meaning, range) else np.arange(len(meaning))
                table = np.full(len(meaning), len(self), self.dtype)
                table[seen] = [self.lookup(meaning[v]) for v in seen.tolist()]
        codes: Ints = table[raw]
        return codes


def _fits_table(values: Ints) -> bool:
    if values.dtype.kind == "u" and values.dtype.itemsize <= 2:
        return True
    return bool(values.size and values.min() >= 0 and values.max() < TABLE)


def distinct(values: Any, name: str = "symbols") -> tuple[Ints, Sequence[Any]]:
    """Small unsigned integers for text or for a one-dimensional array, and the value that each of them stands for.

    Not all of the values need occur. Cost: one pass, without a copy of one-byte data; others than integers that are
    close to each other, text and hashable objects are sorted.
    """
    if isinstance(values, (str, bytes, bytearray)):
        return _characters(values)
    if np.ma.isMaskedArray(values):
        return _masked(values, name)
    kind = values.dtype.kind
    if values.dtype == np.uint8:
        return values, BYTES
    if kind == "b":
        return values.view(np.uint8), (False, True)
    if kind == "O":
        return _hashables(values.tolist(), name)
    if kind in "iu" and values.size:
        low, high = int(values.min()), int(values.max())
        if high - low < TABLE:
            return compact(np.subtract(values, values.dtype.type(low)), high - low + 1), range(low, high + 1)
    points, raw = np.unique(values, return_inverse=True)
    if kind == "f":
        points += 0  # -0.0 is 0.0
    return compact(raw, points.size), points.tolist()


def _characters(text: str | bytes | bytearray) -> tuple[Ints, Sequence[str]]:
    if not isinstance(text, str):
        return np.frombuffer(text, np.uint8), CHARACTERS
    try:
        return np.frombuffer(text.encode("latin-1"), np.uint8), CHARACTERS
    except UnicodeEncodeError:
        points, raw = np.unique(np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4"), return_inverse=True)
        return compact(raw, points.size), list(map(chr, points.tolist()))


def _masked(values: Any, name: str) -> tuple[Ints, Sequence[Any]]:
    """The masked get an integer after all others, which stands for None."""
    known = ~np.ma.getmaskarray(values)
    some, meaning = distinct(np.ma.getdata(values)[known], name)
    raw = np.full(values.size, len(meaning))
    raw[known] = some
    return compact(raw, len(meaning) + 1), [*meaning, None]


def _hashables(items: list[Any], name: str) -> tuple[Ints, list[Any]]:
    code: dict[Any, int] = {}
    try:
        raw = np.fromiter((code.setdefault(v, len(code)) for v in items), np.int64, len(items))
    except TypeError as error:
        raise TypeError(
            f"The {name!r} hold a value that cannot be counted ({error}); values must be hashable: use strings, "
            f"numbers or tuples{', or give a list of sequences only' if name == 'symbols' else ''}."
        ) from None
    return compact(raw, len(code)), list(code)


def compact(raw: Ints, size: int) -> Ints:
    """Integers below `size` in as few bytes as they need."""
    return raw.astype(np.uint8 if size <= 1 << 8 else np.uint16 if size <= 1 << 16 else np.int64, copy=False)


def boxed(values: Sequence[Any]) -> NDArray[Any]:
    """Values in an array of objects."""
    array = np.empty(len(values), object)
    array[:] = values
    return array


def alphabet_of(raw: Ints, values: Sequence[Any], missing: Hashable = None) -> tuple[Alphabet, Ints, bool]:
    """The alphabet of what `distinct` gives, the code of each integer (-1 = missing), and whether some are missing."""
    seen = _seen(raw)
    symbols = {v: plain(values[v]) for v in seen.tolist()}
    known = {v: symbol for v, symbol in symbols.items() if not is_missing(symbol, missing)}
    alphabet = Alphabet(ordered(known.values()))
    lut = np.full(int(seen[-1]) + 1 if seen.size else 1, -1, np.int64)
    lut[list(known)] = alphabet.places(known.values())
    return alphabet, lut, len(known) < len(symbols)


def number_values(values: NDArray[Any], name: str) -> tuple[Ints, tuple[Hashable, ...]]:
    """Numbers of values, or of rows of numbers, -1 = missing; and the letters, tuples for rows.

    The values stay what they are: 1.0 and True do not become 1.
    """
    raw, meaning = distinct(values, name) if values.ndim == 1 else _rows(values)
    alphabet, lut, _ = alphabet_of(raw, meaning)
    return lut[raw], alphabet.letters


def _rows(values: NDArray[Any]) -> tuple[Ints, Sequence[Any]]:
    """`distinct` for rows of numbers: one that misses any is missing."""
    missing: Any = np.ma.getmaskarray(values).any(axis=1)
    rows = np.asarray(values)
    if rows.dtype.kind == "f":
        missing, rows = missing | np.isnan(rows).any(axis=1), rows + 0.0
    points, some = np.unique(rows[~missing], axis=0, return_inverse=True)
    raw = np.full(len(rows), len(points))
    raw[~missing] = some.reshape(-1)
    return raw, [*map(tuple, points.tolist()), None]


def _seen(raw: Ints) -> Ints:
    """The distinct integers, in increasing order."""
    if raw.dtype.itemsize > 2:
        return np.unique(raw)
    parts = slices(raw.size)
    marks = np.zeros((len(parts), 1 << 8 * raw.dtype.itemsize), np.uint8)
    list(map_slices(lambda k: kernels.mark_values(raw[slice(*parts[k])], marks[k]), range(len(parts))))
    return np.flatnonzero(marks.any(axis=0))
