"""Series of symbols of any kind as one array of small integers: raw values, and a code for each value."""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._kernels import words as kernels
from ..support.arrays import Ints
from ..support.executors import map_slices, slices

__all__ = ["NoSymbols", "Source", "alike", "as_array", "is_array", "is_missing", "ordered", "read", "split", "to_array"]


class NoSymbols(ValueError):
    """No symbol is known."""


@dataclass(frozen=True, eq=False)
class Source:
    """Symbols of one or several sequences, end to end.

    Attributes
    ----------
    raw : (size,) unsigned integers as they came, where possible without a copy
    lut : code of each raw value, -1 = missing; codes number `letters`
    letters : the distinct symbols, sorted where they can be
    bounds : (n_sequences + 1,) where each sequence begins, and the end of the last
    has_gaps : whether a symbol is missing
    shape : shape of the data, (size,) unless they came as a two-dimensional array
    """

    raw: Ints
    lut: Ints
    letters: tuple[Hashable, ...]
    bounds: Ints
    has_gaps: bool
    shape: tuple[int, ...]

    def around(self, begin: int, end: int, width: int) -> tuple[Ints, Ints, Ints, int, int]:
        """All that holds the words that end at begin..end-1: raw, lut, bounds, and begin and end in them."""
        first = max(begin - width + 1, 0)
        bounds = np.unique(np.clip(self.bounds, first, end)) - first
        return self.raw[first:end], self.lut, bounds, begin - first, end - first


def read(symbols: Any, missing: Hashable = None, sequences: bool | None = None, part: bool = False) -> Source:
    """Number the symbols of one or several sequences.

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
    flat: Any
    shape: tuple[int, ...] | None = None
    if isinstance(symbols, (str, bytes, bytearray)):
        flat, lengths = symbols, [len(symbols)]
    elif is_array(symbols):
        array = to_array(symbols)
        if array.ndim not in (1, 2):
            raise ValueError(
                f"The 'symbols' array has {array.ndim} dimensions; a series has one, and several series of "
                "one length two: give one series at a time."
            )
        shape = array.shape
        flat, lengths = array.reshape(-1), [shape[-1]] * (shape[0] if len(shape) == 2 else 1)
    else:
        parts = split(symbols, sequences)
        flat, lengths = parts[0] if len(parts) == 1 else _join(parts), [len(part) for part in parts]
    bounds = np.cumsum([0, *lengths], dtype=np.int64)
    if bounds[-1] == 0:
        raise NoSymbols("The 'symbols' are empty; a series needs at least one symbol: check the input.")
    if isinstance(flat, (bytes, bytearray)) and isinstance(missing, bytes):
        missing = missing.decode("latin-1")
    raw, values = _raw(flat, part)
    lut, letters, has_gaps = _letters(raw, values, missing)
    return Source(raw, lut, letters, bounds, has_gaps, shape or (raw.size,))


def is_array(values: Any) -> bool:
    """Whether values are an array of NumPy, pandas or another library."""
    return hasattr(values, "to_numpy") or (hasattr(values, "__array__") and not isinstance(values, np.generic))


def to_array(values: Any) -> NDArray[Any]:
    """A NumPy array, masked if it was."""
    if isinstance(values, np.ma.MaskedArray):
        return values
    return np.asarray(values if hasattr(values, "__array__") or not hasattr(values, "to_numpy") else values.to_numpy())


def is_missing(value: Any, mark: Hashable = None) -> bool:
    """Whether a value is None, the mark, or such that it does not equal itself: NaN, pandas.NA."""
    if value is None or value is mark:
        return True
    try:
        return bool(value != value or value == mark)
    except (TypeError, ValueError):
        return True


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
            sequences = 2 * len(_hashables(items)[1]) > len(items)
        if sequences:
            return items
    return [items]


def alike(parts: list[Any]) -> list[Any]:
    """Sequences in the kind they share: slices of them are then read as the whole is."""
    one = {str} if isinstance(parts[0], str) else {bytes, bytearray}
    if {type(part) for part in parts} <= one or (len(parts) == 1 and isinstance(parts[0], np.ndarray)):
        return parts
    flat = parts[0] if len(parts) == 1 else _join(parts)
    flat = flat if isinstance(flat, np.ndarray) else as_array(flat)
    ends = np.cumsum([len(part) for part in parts]).tolist()
    return [flat[end - len(part) : end] for part, end in zip(parts, ends, strict=True)]


def _join(parts: Sequence[Any]) -> Any:
    """Several sequences end to end, in the kind they share."""
    if all(isinstance(p, str) for p in parts):
        return "".join(parts)
    if all(isinstance(p, (bytes, bytearray)) for p in parts):
        return b"".join(parts)
    # Signed and unsigned 64-bit integers have no common integer type: they go through Python's integers.
    integers = all(isinstance(p, np.ndarray) and p.dtype.kind in "biu" for p in parts)
    if integers and np.result_type(*{p.dtype for p in parts}).kind != "f":
        return np.ma.concatenate(parts) if any(map(np.ma.isMaskedArray, parts)) else np.concatenate(parts)
    return [symbol for part in parts for symbol in (part.tolist() if isinstance(part, np.ndarray) else part)]


def _raw(flat: Any, part: bool = False) -> tuple[Ints, Any]:
    """Unsigned integers, and what each of them stands for: a sequence, or a function of it."""
    if isinstance(flat, str):
        if flat.isascii():
            return np.frombuffer(flat.encode("ascii"), np.uint8), _character
        codes = np.frombuffer(flat.encode("utf-32-le", "surrogatepass"), np.uint32)
        points, raw = np.unique(codes, return_inverse=True)
        return _compact(raw, points.size), [chr(c) for c in points]
    if isinstance(flat, (bytes, bytearray)):
        return np.frombuffer(flat, np.uint8), _character
    if not isinstance(flat, np.ndarray):
        flat = as_array(flat)
    if flat.dtype.kind == "b":
        flat = flat.view(np.uint8)
    if np.ma.isMaskedArray(flat):
        if flat.dtype.kind != "f":
            return _hashables(flat.tolist(None))
        flat = flat.filled(np.nan)
    if flat.dtype == np.uint8:
        return flat, int
    if flat.dtype.kind in "iu":
        low, high = int(flat.min()), int(flat.max())
        if high - low < 1 << 16:
            wide = np.subtract(flat, flat.dtype.type(low))
            return _compact(wide, high - low + 1), lambda value: low + int(value)
    if flat.dtype.kind == "f":
        return _floats(flat, part)
    if flat.dtype.kind == "O":
        return _hashables(flat.tolist())
    points, raw = np.unique(flat, return_inverse=True)
    return _compact(raw, points.size), points.tolist()


def _character(value: int) -> str:
    return chr(value)


def as_array(items: Sequence[Any]) -> NDArray[Any]:
    """A list as an array without changing its values: numbers as such, anything else as objects."""
    types = set(map(type, items))
    numeric = {t for t in types if t in (bool, int, float) or issubclass(t, (np.number, np.bool_))}
    kinds = {np.dtype(t).kind if t in numeric else "O" for t in types}
    wanted = "biu" if kinds <= set("biu") else "f" if kinds <= set("biuf") else ""
    if wanted:
        array = np.asarray(items)
        if array.dtype.kind in wanted:
            return array
    array = np.empty(len(items), object)
    array[:] = items
    return array


def _floats(flat: NDArray[Any], part: bool) -> tuple[Ints, Any]:
    """Floats that stand for symbols; NaN is missing."""
    points, raw = np.unique(flat, return_inverse=True)
    finite = points[np.isfinite(points)]
    integral = bool((finite == np.round(finite)).all())
    if not integral and not part and 2 * finite.size > flat.size:
        raise ValueError(
            f"The 'symbols' are floats with {finite.size} distinct values in {flat.size}; a symbol must "
            "repeat to be counted: bin the values first, for example with numpy.digitize."
        )
    return _compact(raw, points.size), [int(v) if integral and np.isfinite(v) else float(v) for v in points]


def _hashables(items: list[Any]) -> tuple[Ints, list[Any]]:
    number: dict[Any, int] = {}
    try:
        raw = np.fromiter((number.setdefault(v, len(number)) for v in items), np.int64, len(items))
    except TypeError as error:
        raise TypeError(
            f"The 'symbols' hold a value that cannot be a symbol ({error}); symbols must be hashable: use "
            "strings, numbers or tuples, or give a list of sequences only."
        ) from None
    return _compact(raw, len(number)), list(number)


def _compact(raw: Ints, size: int) -> Ints:
    return raw.astype(np.uint8 if size <= 1 << 8 else np.uint16 if size <= 1 << 16 else np.int64, copy=False)


def _letters(raw: Ints, values: Any, missing: Hashable) -> tuple[Ints, tuple[Hashable, ...], bool]:
    """Number the raw values that occur by the order of the symbols they stand for; whether some are missing."""
    seen = _seen(raw)
    symbols = [values(int(v)) if callable(values) else values[v] for v in seen]
    symbols = [s.item() if isinstance(s, np.generic) else s for s in symbols]
    keep = [i for i, s in enumerate(symbols) if not is_missing(s, missing)]
    if not keep:
        raise NoSymbols(
            f"All {raw.size} 'symbols' are missing; a series needs at least one symbol: check 'missing' and the input."
        )
    place = {symbols[i]: i for i in keep}
    keep = [place[symbol] for symbol in ordered(list(place))]
    lut = np.full(int(seen[-1]) + 1, -1, np.int64)
    lut[seen[keep]] = np.arange(len(keep))
    return lut, tuple(symbols[i] for i in keep), len(keep) < len(seen)


def ordered(values: list[Any]) -> list[Any]:
    """Distinct values sorted; those that cannot be compared with each other by type and as text."""
    try:
        return sorted(values)
    except TypeError:
        return sorted(values, key=lambda v: (type(v).__name__, repr(v)))


def _seen(raw: Ints) -> Ints:
    """The distinct raw values, in increasing order."""
    if raw.dtype.itemsize > 2:
        return np.unique(raw)
    parts = slices(raw.size)
    marks = np.zeros((len(parts), 1 << 8 * raw.dtype.itemsize), np.uint8)

    def mark(part: tuple[int, tuple[int, int]]) -> None:
        kernels.mark_values(raw[slice(*part[1])], marks[part[0]])

    for _ in map_slices(mark, list(enumerate(parts))):
        pass
    return np.flatnonzero(marks.any(axis=0))
