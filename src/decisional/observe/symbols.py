"""Series of symbols of any kind as one array of small integers: raw values, and a code for each value."""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._kernels import words as kernels
from ..executors import map_slices, slices
from ..structures import Ints

__all__ = ["Source", "read"]


@dataclass(frozen=True)
class Source:
    """Symbols of one or several sequences, end to end.

    Attributes
    ----------
    raw : (size,) unsigned integers as they came, where possible without a copy
    lut : code of each raw value, -1 = missing; codes number `letters`
    letters : the distinct symbols, sorted where they can be
    bounds : (n_sequences + 1,) where each sequence begins, and the end of the last
    """

    raw: Ints
    lut: Ints
    letters: tuple[Hashable, ...]
    bounds: Ints

    @property
    def has_gaps(self) -> bool:
        return bool((self.lut < 0).any())


def read(symbols: Any, missing: Hashable = None, sequences: bool | None = None) -> Source:
    """Number the symbols of one or several sequences.

    Parameters
    ----------
    symbols : str, bytes, list of hashables, array, or a list of several of these
    missing : a value that marks a missing symbol, besides None and NaN
    sequences : whether a list of strings or tuples holds sequences (True) or symbols (False); by default
        they are symbols if they repeat (at most half as many distinct ones as items)

    Cost: one pass; no copy of a uint8 array, one byte per symbol for other small alphabets.
    """
    parts = _split(symbols, sequences)
    flat = parts[0] if len(parts) == 1 else _join(parts)
    bounds = np.cumsum([0, *(len(part) for part in parts)]).astype(np.int64)
    if bounds[-1] == 0:
        raise ValueError("The 'symbols' are empty; a series needs at least one symbol: check the input.")
    raw, values = _raw(flat)
    return _letters(raw, values, missing, bounds)


def _split(symbols: Any, sequences: bool | None) -> list[Any]:
    """The sequences in `symbols`."""
    if isinstance(symbols, (str, bytes, bytearray)):
        return [symbols]
    if hasattr(symbols, "__array__") or hasattr(symbols, "to_numpy"):
        array = np.ma.asanyarray(symbols) if np.ma.isMaskedArray(symbols) else np.asarray(symbols)
        if array.ndim > 2 or array.ndim == 0:
            raise ValueError(
                f"The 'symbols' array has {array.ndim} dimensions; a series has one, and several series of "
                "one length two: use ds.observe.light_cones for fields."
            )
        return list(array) if array.ndim == 2 else [array]
    if not isinstance(symbols, Iterable):
        raise TypeError(
            f"The 'symbols' are a {type(symbols).__name__}; a series is a str, bytes, a list of hashables, "
            "an integer array, or a list of these: convert the data first."
        )
    items = list(symbols)
    if items and all(isinstance(v, (list, bytes, bytearray, np.ndarray)) or hasattr(v, "to_numpy") for v in items):
        return [np.asarray(v) if hasattr(v, "to_numpy") else v for v in items]
    if items and all(isinstance(v, (str, tuple)) for v in items):
        if sequences is None:
            sequences = all(len(v) != 1 for v in items) and 2 * len(set(items)) > len(items)
        if sequences:
            return items
    return [items]


def _join(parts: Sequence[Any]) -> Any:
    """Several sequences end to end, in the kind they share."""
    if all(isinstance(p, str) for p in parts):
        return "".join(parts)
    if all(isinstance(p, (bytes, bytearray)) for p in parts):
        return b"".join(parts)
    if all(isinstance(p, np.ndarray) and p.dtype.kind in "biu" for p in parts):
        return np.concatenate(parts)
    return [symbol for part in parts for symbol in (part.tolist() if isinstance(part, np.ndarray) else part)]


def _raw(flat: Any) -> tuple[Ints, Any]:
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
        flat = _array(flat)
    if np.ma.isMaskedArray(flat):
        flat = np.ma.filled(flat.astype(object), None)
    if flat.dtype.kind == "b":
        flat = flat.view(np.uint8)
    if flat.dtype == np.uint8:
        return flat, int
    if flat.dtype.kind in "iu":
        low, high = int(flat.min()), int(flat.max())
        if high - low < 1 << 16:
            wide = np.subtract(flat, flat.dtype.type(low), dtype=flat.dtype)
            return _compact(wide, high - low + 1), lambda value: low + int(value)
    if flat.dtype.kind == "f":
        return _floats(flat)
    if flat.dtype.kind == "O":
        return _hashables(flat.tolist())
    points, raw = np.unique(flat, return_inverse=True)
    return _compact(raw, points.size), points.tolist()


def _character(value: int) -> str:
    return chr(value)


def _array(items: list[Any]) -> NDArray[Any]:
    """A list as an array without changing its values: a mixed list stays a list of objects."""
    kinds = set(map(type, items))
    plain = kinds <= {int, bool} or kinds <= {float} or kinds <= {float, int} or kinds <= {str}
    if plain or all(issubclass(kind, np.generic) for kind in kinds):
        array = np.asarray(items)
        if array.dtype.kind in "biufU":
            return array
    array = np.empty(len(items), object)
    array[:] = items
    return array


def _floats(flat: NDArray[Any]) -> tuple[Ints, Any]:
    """Floats that stand for symbols; NaN is missing."""
    points, raw = np.unique(flat, return_inverse=True)
    finite = points[np.isfinite(points)]
    integral = bool((finite == np.round(finite)).all())
    if not integral and 2 * finite.size > flat.size:
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


def _letters(raw: Ints, values: Any, missing: Hashable, bounds: Ints) -> Source:
    """Number the raw values that occur by the order of the symbols they stand for."""
    seen = _seen(raw)
    symbols = [values(int(v)) if callable(values) else values[v] for v in seen]
    marks = (None, missing)
    keep = [i for i, s in enumerate(symbols) if not any(s is m or s == m for m in marks) and s == s]
    if not keep:
        raise ValueError(
            f"All {raw.size} 'symbols' are missing; a series needs at least one symbol: check 'missing' and the input."
        )
    # Symbols that cannot be compared with each other keep the order in which they appear.
    try:
        keep.sort(key=lambda i: symbols[i])
    except TypeError:
        keep.sort(key=lambda i: (type(symbols[i]).__name__, repr(symbols[i])))
    lut = np.full(int(seen[-1]) + 1, -1, np.int64)
    lut[seen[keep]] = np.arange(len(keep))
    return Source(raw, lut, tuple(symbols[i] for i in keep), bounds)


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
