"""Sequences of symbols of any kind, read as one array of small integers with an alphabet."""

import os
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..support.arguments import flag
from ..support.arrays import Ints
from .alphabet import Alphabet, alphabet_of, boxed, distinct
from .frames import Index, unwrapped

# Characters of a text that is a series rather than the name of a symbol.
LONG = 20
# Symbols that are looked at at once for letters that have not appeared.
APPEARING = 1 << 16
# Endings that no series of symbols has by chance.
FILES = (".csv", ".tsv", ".txt", ".npy", ".npz", ".parquet", ".gz", ".json", ".h5", ".zarr")


class NoSymbols(ValueError):
    """No symbol is known."""


class NotSymbols(ValueError):
    """Numbers that hardly repeat: a signal, values (n,) of sequences with their bounds, NaN where missing."""

    def __init__(self, message: str, values: NDArray[Any], bounds: Ints) -> None:
        super().__init__(message)
        self.values, self.bounds = values, bounds


@dataclass(frozen=True, eq=False)
class Symbols:
    """Symbols of one or several sequences, end to end.

    Attributes
    ----------
    raw : (size,) unsigned integers as they came, where possible without a copy
    lut : code of each raw value, -1 = missing; codes number the `letters`
    alphabet : the distinct symbols, in order
    bounds : (n_sequences + 1,) where each sequence begins, and the end of the last
    has_gaps : whether a symbol is missing
    shape : shape of the data, (size,) unless they came as a two-dimensional array
    """

    raw: Ints
    lut: Ints
    alphabet: Alphabet
    bounds: Ints
    has_gaps: bool
    shape: tuple[int, ...]

    @property
    def letters(self) -> tuple[Hashable, ...]:
        """The distinct symbols, in order."""
        return self.alphabet.letters

    def sequence(self, k: int) -> list[Hashable]:
        """The symbols of one sequence again, None where they are missing."""
        codes = self.lut[self.raw[self.bounds[k] : self.bounds[k + 1]]]
        letters = *self.letters, None
        return [letters[code] for code in codes.tolist()]

    def over(self, alphabet: Alphabet) -> "Symbols":
        """The same numbered by another alphabet, that has all of the letters."""
        codes = np.append(alphabet.places(self.letters), -1)
        return replace(self, lut=codes[self.lut], alphabet=alphabet)

    @property
    def appearance(self) -> Ints:
        """(n_letters,) place of each letter in the order in which they first appear; those that do not come last.

        What is decided in this order does not depend on the letters' names. Cost: one pass at most.
        """
        order, seen = list[int](), np.zeros(len(self.letters) + 1, bool)
        seen[-1] = True
        for begin in range(0, self.raw.size, APPEARING):
            codes = self.lut[self.raw[begin : begin + APPEARING]]
            new, first = np.unique(np.where(seen[codes], -1, codes), return_index=True)
            order += [int(code) for code in new[np.argsort(first)] if code >= 0]
            seen[new] = True
            if seen.all():
                break
        place: Ints = np.argsort(order + np.flatnonzero(~seen).tolist())
        return place

    def around(self, begin: int, end: int, width: int) -> tuple[Ints, Ints, Ints, int, int]:
        """All that holds the words that end at begin..end-1: raw, lut, bounds, and begin and end in them."""
        first = max(begin - width + 1, 0)
        bounds = np.unique(np.clip(self.bounds, first, end)) - first
        return self.raw[first:end], self.lut, bounds, begin - first, end - first


def read(symbols: Any, missing: Hashable = None, sequences: bool | None = None, part: bool = False) -> Symbols:
    """Number the symbols of one or several sequences. Truth values and whole floats are integers.

    Parameters
    ----------
    symbols : str, bytes, list of hashables, array, or a list of several of these
    missing : a value that marks a missing symbol, besides None and NaN
    sequences : whether a list of strings, tuples or bytes holds sequences (True) or symbols (False); by
        default bytes are sequences, and the others are symbols if one has length 1 or if they repeat (at
        most half as many distinct ones as items)
    part : whether there are more symbols elsewhere, so that these need not repeat

    Cost: one pass; no copy of a uint8 array, one byte per symbol for other small alphabets.
    """
    symbols, sequences, _ = unpacked(symbols, sequences)
    flat, lengths, shape = _flat(symbols, sequences)
    bounds = np.cumsum([0, *lengths], dtype=np.int64)
    if bounds[-1] == 0:
        raise NoSymbols("The 'symbols' are empty; a series needs at least one symbol: check the input.")
    if isinstance(flat, (bytes, bytearray)) and isinstance(missing, bytes):
        missing = missing.decode("latin-1")
    if isinstance(flat, (list, tuple)):
        flat = as_array(flat)
    if isinstance(flat, np.ndarray) and flat.dtype.kind == "b":
        flat = flat.view(np.uint8)
    raw, values = distinct(flat)
    if isinstance(flat, np.ndarray) and flat.dtype.kind == "M" and not part and 2 * len(values) > raw.size:
        raise ValueError(
            f"The 'symbols' are times with {len(values)} different values in {raw.size}; a symbol must repeat to be "
            "counted: give the column of what happens at these times."
        )
    if isinstance(flat, np.ndarray) and flat.dtype.kind == "f":
        if not part:
            _refuse_signal(values, flat, bounds, missing)
        values = _float_symbols(values)
    alphabet, lut, has_gaps = alphabet_of(raw, values, missing)
    if not alphabet:
        raise NoSymbols(
            f"All {raw.size} 'symbols' are missing; a series needs at least one symbol: check 'missing' and the input."
        )
    return Symbols(raw, lut, alphabet, bounds, has_gaps, shape or (raw.size,))


def unpacked(symbols: Any, sequences: bool | None = None) -> tuple[Any, bool | None, Index | None]:
    """Symbols of frames, dicts and groups as arrays; whether they are several sequences; and their index.

    What surely is a mistake is refused: the name of a file, the line end of a text that was read.
    """
    sequences = None if sequences is None else flag(sequences, "sequences")
    if isinstance(symbols, str) and sequences is None:
        _refuse_mistakes(symbols)
    found, index = unwrapped(symbols, "symbols")
    return found, True if found is not symbols and isinstance(found, list) else sequences, index


def one_sequence(symbols: Any, letters: Sequence[Hashable]) -> Any:
    """Symbols that drive a machine with some letters: those of a series of another library as an array."""
    if isinstance(symbols, str):
        if "\n" not in letters and "." not in letters:
            _refuse_mistakes(symbols)
        return symbols
    if isinstance(symbols, Mapping):
        raise TypeError(
            f"The 'symbols' are {type(symbols).__name__}; a machine follows one sequence: give one of its values."
        )
    return unwrapped(symbols, "symbols")[0]


def _refuse_mistakes(text: str) -> None:
    named = len(text) < 4096 and "\0" not in text and ("." in text or os.sep in text)
    # A folder, such as ".", is none, and may be a symbol.
    if named and os.path.exists(text) and not os.path.isdir(text):
        raise ValueError(
            f"The 'symbols' are {text!r}, the name of a file, whose characters would be the symbols: did you mean "
            f"ds.read({text!r})?"
        )
    if named and text.lower().endswith(FILES):
        raise ValueError(
            f"The 'symbols' are {text!r}, the name of a file that does not exist: check the path, and use "
            "ds.read(path)."
        )
    if text.endswith(("\n", "\r")):
        raise ValueError(
            "The 'symbols' are text that ends with a line end, which would be a symbol: use symbols.strip(), or "
            "ds.read(path), where each line is a series."
        )


def _flat(symbols: Any, sequences: bool | None) -> tuple[Any, list[int], tuple[int, ...] | None]:
    """All symbols end to end (text, a list or an array), the length of each sequence, and the shape of an array."""
    if is_array(symbols):
        array = to_array(symbols)
        check_dimensions(array.ndim)
        return array.reshape(-1), [array.shape[-1]] * (len(array) if array.ndim == 2 else 1), array.shape
    parts = split(symbols, sequences)
    return _join(parts), [len(part) for part in parts], None


def check_dimensions(n: int, most: int = 2) -> None:
    """Refuse an array that is neither a series nor, unless `most` is 1, several of one length."""
    if not 1 <= n <= most:
        raise ValueError(
            f"The 'symbols' array has {n} dimensions; a series has one, and several series of one length two: give one "
            "series at a time."
        )


def _refuse_signal(values: Sequence[Any], flat: NDArray[Any], bounds: Ints, missing: Hashable) -> None:
    """Refuse floats that hardly repeat."""
    finite = [v for v in values if v is not None and np.isfinite(v)]
    if all(v.is_integer() for v in finite) or 2 * len(finite) <= flat.size:
        return
    message = (
        f"The 'symbols' are floats with {len(finite)} distinct values in {flat.size}; a symbol must "
        "repeat to be counted: bin the values first, for example with numpy.digitize."
    )
    numbers = np.ma.filled(flat.astype(float), np.nan)
    numbers[~np.isfinite(numbers) | (numbers == missing)] = np.nan
    raise NotSymbols(message, numbers, bounds)


def _float_symbols(values: Sequence[Any]) -> list[Any]:
    """Floats that stand for symbols: integers if all of them are whole."""
    known = [v is not None and np.isfinite(v) for v in values]
    whole = all(v.is_integer() for v, there in zip(values, known, strict=True) if there)
    return [int(v) if whole and there else v for v, there in zip(values, known, strict=True)]


def is_array(values: Any) -> bool:
    """Whether values are an array of NumPy, pandas or another library."""
    return hasattr(values, "to_numpy") or (hasattr(values, "__array__") and not isinstance(values, np.generic))


def to_array(values: Any) -> NDArray[Any]:
    """A NumPy array, masked if it was."""
    if isinstance(values, np.ma.MaskedArray):
        return values
    return np.asarray(values if hasattr(values, "__array__") or not hasattr(values, "to_numpy") else values.to_numpy())


def as_array(items: Sequence[Any]) -> NDArray[Any]:
    """A list as an array without changing its values: numbers as such, anything else as objects."""
    types = set(map(type, items))
    numeric = {t for t in types if t in (bool, int, float) or issubclass(t, (np.number, np.bool_))}
    kinds = {np.dtype(t).kind if t in numeric else "O" for t in types}
    wanted = "biu" if kinds <= set("biu") else "f" if kinds <= set("biuf") else ""
    # Floats hold integers up to 2**53.
    if wanted == "biu" or (wanted and all(abs(int(v)) <= 1 << 53 for v in items if isinstance(v, (int, np.integer)))):
        array = np.asarray(items)
        if array.dtype.kind in wanted:
            return array
    return boxed(items)


def split(symbols: Any, sequences: bool | None) -> list[Any]:
    """The sequences in a list or another iterable; a single one where there are no several."""
    if isinstance(symbols, (str, bytes, bytearray)):
        return [symbols]
    if is_array(symbols):
        return [to_array(symbols)]
    if not isinstance(symbols, Iterable):
        raise TypeError(
            f"The 'symbols' are of type {type(symbols).__name__}; a series is a str, bytes, a list of hashables, "
            "an integer array, or a list of these: convert the data first."
        )
    items = list(symbols)
    if not items:
        return [items]
    if sequences is not False and all(isinstance(v, (list, bytes, bytearray)) or is_array(v) for v in items):
        parts = [to_array(v) if is_array(v) else v for v in items]
        wrong = [v.ndim for v in parts if isinstance(v, np.ndarray) and v.ndim != 1]
        if wrong:
            raise ValueError(
                f"The 'symbols' list holds an array of {wrong[0]} dimensions; each sequence in a list has one: "
                "give its rows one by one."
            )
        return parts
    if all(isinstance(v, (str, tuple)) for v in items):
        if sequences is None and all(len(v) != 1 for v in items):
            different = len(distinct(boxed(items))[1])
            if different == 1 < len(items) and isinstance(items[0], str) and len(items[0]) >= LONG:
                raise ValueError(
                    f"The 'symbols' are {len(items)} times the same text of {len(items[0])} characters, which may be "
                    "one symbol or a series of its own: say sequences=True for series, or False for symbols."
                )
            sequences = 2 * different > len(items)
        if sequences:
            return items
    return [items]


def alike(parts: list[Any]) -> list[Any]:
    """Sequences in the kind they share: slices of them are then read as the whole is."""
    one = {str} if isinstance(parts[0], str) else {bytes, bytearray}
    if {type(part) for part in parts} <= one or (len(parts) == 1 and isinstance(parts[0], np.ndarray)):
        return parts
    flat = _join(parts)
    flat = flat if isinstance(flat, np.ndarray) else as_array(flat)
    ends = np.cumsum([len(part) for part in parts]).tolist()
    return [flat[end - len(part) : end] for part, end in zip(parts, ends, strict=True)]


def _join(parts: Sequence[Any]) -> Any:
    """Several sequences end to end, in the kind they share."""
    if len(parts) == 1:
        return parts[0]
    if all(isinstance(p, str) for p in parts):
        return "".join(parts)
    if all(isinstance(p, (bytes, bytearray)) for p in parts):
        return b"".join(parts)
    # Signed and unsigned 64-bit integers have no common integer type: they go through Python's integers.
    integers = all(isinstance(p, np.ndarray) and p.dtype.kind in "biu" for p in parts)
    if integers and np.result_type(*{p.dtype for p in parts}).kind != "f":
        return np.ma.concatenate(parts) if any(map(np.ma.isMaskedArray, parts)) else np.concatenate(parts)
    return [symbol for part in parts for symbol in (part.tolist() if isinstance(part, np.ndarray) else part)]
