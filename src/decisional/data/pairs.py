"""Any pairs (x, z), with optional symbols for the steps between them."""

from collections.abc import Hashable, Iterable, Sequence
from concurrent.futures import Executor
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..support.arguments import refusal
from ..support.arrays import Ints, read_only
from . import keys
from .alphabet import number_values
from .observations import Observations
from .sequences import as_array, to_array
from .slices import Part, Sliced, cut_parts, in_slices
from .stores import load
from .tally import Spelling, Tally, count_steps, listed, scalars, tuples, values_of
from .vocabularies import Vectors, Vocabulary, Words, distinct_rows

# Numbers whose squares are floats, and those of their inverses.
LARGEST = 1e150
# What the work on each value of a pair takes.
PAIR_BYTES = 64


def pairs(
    x: Any, z: Any, symbols: Any = None, successors: ArrayLike | None = None, chunks: int | None = None
) -> Observations:
    """Observe pairs (x, z) as they are: each distinct x is a configuration, each distinct z an outcome.

    Parameters
    ----------
    x : (n,) hashables or numbers, or (n, d) numbers: one configuration per row; an array or a list
    z : the same for the outcomes
    symbols : (n,) or (n - 1,) symbol of the step from each observation to its successor, or None
    successors : (n,) index of the next observation, -1 = none; by default the next one, if symbols are
        given
    chunks : pairs in each slice, to read slice by slice; by default as many as take a quarter of a gigabyte, where
        x or z are not in memory: large memory maps, or arrays of zarr, HDF5 or Dask

    Returns
    -------
    Observations : with `points`, for kernels, where x has numbers with fractions. Pairs with a missing x or z (None,
        NaN, masked) are left out; `site` has the places of the others

    Examples
    --------
    >>> obs = pairs(["dry", "dry", "wet"], ["sun", "rain", "rain"])
    >>> obs.letters, obs.outcomes, obs.table().count
    (('dry', 'wet'), ['rain', 'sun'], array([1, 1, 1]))
    """
    sliced = in_slices(chunks, x, z)
    if symbols is None and successors is not None:
        raise ValueError("The 'successors' are given without 'symbols'; a step needs its symbol: give both.")
    if sliced:
        return _sliced(x, z, symbols, successors, chunks)
    for name, values in (("x", x), ("z", z), ("symbols", symbols)):
        if isinstance(values, Observations):
            raise TypeError(refusal(name, values, "values, one for each pair", "give the values themselves"))
    if symbols is None and is_continuous(x):
        return vectors(x, z)
    return _not_empty(_observe(x, z, symbols, successors))


def _not_empty(found: "Pairs") -> "Pairs":
    if not found.n:
        raise ValueError(
            f"The 'x' and 'z' hold no complete pair among {found.shape[0]}; at least one must have both: check the "
            "input."
        )
    return found


def _check_lengths(z: int, x: int) -> None:
    if z != x:
        raise ValueError(f"The 'z' have {z} values and 'x' has {x}; pairs need one z for each x: check both.")


def _observe(x: Any, z: Any, symbols: Any, successors: ArrayLike | None, end: int | None = None) -> "Pairs":
    """Pairs that are counted; those from `end` on are only there to be led to."""
    x_number, letters = _number(x, "x")
    z_number, outcomes = _number(z, "z")
    n = x_number.size
    _check_lengths(z_number.size, n)
    kept = np.flatnonzero((x_number >= 0) & (z_number >= 0))
    symbol = successor = alphabet = None
    if symbols is not None:
        symbol, successor, alphabet = _steps(symbols, successors, n, kept)
    beyond = 0 if end is None else int(np.count_nonzero(kept >= end))
    # Only letters of complete pairs are rows of the table.
    number, letter = keys.number(x_number[kept], len(letters))
    values = Words(letters, 1, letter[:, None]), values_of(outcomes)
    numbers = number, z_number[kept], kept
    return Pairs("pairs", *values, listed, *numbers, (n,), alphabet, symbol, successor, beyond)


def _sliced(x: Any, z: Any, symbols: Any, successors: Any, chunks: int | None) -> Sliced:
    if successors is not None:
        raise ValueError(
            "The 'successors' are given together with 'chunks'; pairs that are read slice by slice lead to the next "
            "one: leave one of them out."
        )
    # Arrays, so that slices are read as the whole is, whatever else they hold.
    for name, values in (("x", x), ("z", z), ("symbols", () if symbols is None else symbols)):
        if (not isinstance(values, Iterable) and not hasattr(values, "shape")) or getattr(values, "ndim", None) == 0:
            raise TypeError(refusal(name, values, "values, one for each pair", "give a sequence"))
    columns = [v if v is None or hasattr(v, "shape") else _as_array(list(v)) for v in (x, z, symbols)]
    n = columns[0].shape[0]
    _check_lengths(columns[1].shape[0], n)
    row_bytes = PAIR_BYTES * int(np.prod(columns[0].shape[1:]))
    # The pair after the slice is where its last step leads to.
    parts = cut_parts([tuple(columns)], chunks, row_bytes, after=int(symbols is not None))
    numbers = symbols is None and any(is_continuous(load(part.data[0])) for part in parts)
    kinds = numbers and not any(is_continuous(load(part.data[1])) for part in parts)
    return Sliced("pairs", partial(_observe_part, numbers, kinds), parts, (n,))


def _observe_part(numbers: bool, kinds: bool, part: Part) -> Observations | None:
    """Vectors or pairs of a slice, as all others are; `kinds` = z are no numbers with fractions."""
    x, z, symbols = part.data
    if numbers:
        return vectors(x, z, kinds)
    if symbols is not None and len(symbols) < len(x) - 1:
        symbols = [*symbols, *[None] * (len(x) - len(symbols))]
    return _observe(x, z, symbols, None, part.own.stop)


def is_continuous(values: Any) -> bool:
    """Whether values are numbers, some of them with fractions."""
    if isinstance(values, (list, tuple)):
        values = _as_array(list(values))
    array = np.ma.filled(values, np.nan) if np.ma.isMA(values) and values.dtype.kind == "f" else to_array(values)
    if array.dtype.kind != "f":
        return False
    known = array[np.isfinite(array)]
    return bool((known != np.floor(known)).any())


def vectors(x: Any, z: Any = None, kinds: bool | None = None) -> "Pairs":
    """Pairs whose x are vectors of numbers; z are numbers if some have fractions, else kinds.

    Without z only x matter. There may be no complete pair where `kinds` says what z are.
    """
    points = _floats(x, "x")
    if points.ndim not in (1, 2) or 0 in points.shape[1:]:
        raise ValueError(
            f"The 'x' have shape {points.shape}; they must be one value or one row of numbers per pair: reshape them "
            "to (n,) or (n, d)."
        )
    points = points.reshape(len(points), -1)
    target: NDArray[Any]
    outcomes: Sequence[Any] | None = None
    if z is None:
        target, outcomes, known = np.zeros(len(points), np.int64), (0,), np.ones(len(points), bool)
    elif not kinds if kinds is not None else is_continuous(z):
        target = _floats(z, "z")
        known = np.isfinite(target.reshape(len(target), -1)).all(axis=1)
    else:
        target, outcomes = _number(z, "z")
        known = target >= 0
    _check_lengths(len(target), len(points))
    kept = np.flatnonzero(known & np.isfinite(points).all(axis=1))
    found = vector_pairs("pairs", points[kept], target[kept], kept, (len(points),), outcomes)
    return found if z is None or kinds is not None else _not_empty(found)


def _floats(values: Any, name: str) -> NDArray[Any]:
    kind = f"The '{name}' are {type(values).__name__} of values that are not real numbers"
    return floats(values, name, f"{kind}; kernels need numbers: use ds.Counts() for others.")


def floats(values: Any, name: str, refused: str) -> NDArray[Any]:
    """Values as floats, NaN where they are missing; `refused` is said of values that are no real numbers."""
    try:
        # Times would become nanoseconds.
        if np.iscomplexobj(values) or getattr(getattr(values, "dtype", None), "kind", "O") in "mM":
            raise TypeError
        array: NDArray[Any] = np.asarray(values, float)
        if np.ma.isMA(values):
            array = np.ma.filled(np.ma.asarray(values, float), np.nan)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(refused) from None
    largest = float(np.abs(array).max(initial=0.0, where=~np.isnan(array)))
    if largest > LARGEST or 0 < largest < 1 / LARGEST:
        what = "infinite values" if np.isinf(largest) else f"values of up to {largest:g}, whose squares no float holds"
        raise ValueError(
            f"The {name!r} has {what}; values must be finite and between {1 / LARGEST:g} and {LARGEST:g}, or NaN where "
            "they are missing: rescale or replace them."
        )
    return array


def _steps(symbols: Any, successors: ArrayLike | None, n: int, kept: Ints) -> tuple[Ints, Ints, tuple[Hashable, ...]]:
    """Symbol codes and successors of the pairs that are kept."""
    code, alphabet = _number(symbols, "symbols")
    if code.size == n - 1:
        code = np.append(code, -1)
    if code.size != n:
        raise ValueError(
            f"The 'symbols' have {code.size} values for {n} pairs; there must be one for each pair or for each "
            f"step between them: give {n} or {n - 1}."
        )
    following = np.append(np.arange(1, n), -1) if successors is None else np.asarray(successors)
    if following.shape != (n,) or following.dtype.kind not in "iu" or following.min() < -1 or following.max() >= n:
        raise ValueError(
            f"The 'successors' must be {n} indices from -1 (none) to {n - 1}, one for each pair. "
            f"Got an array of shape {following.shape} and type {following.dtype} instead."
        )
    place = np.full(n + 1, -1, np.int64)
    place[kept] = np.arange(kept.size)
    following, code = place[following[kept]], code[kept]
    return np.maximum(code, 0), np.where(code >= 0, following, -1), alphabet


def _number(values: Any, name: str) -> tuple[Ints, tuple[Hashable, ...]]:
    """Number the distinct values in order; -1 = missing."""
    array = _as_array(list(values)) if isinstance(values, (str, list, tuple)) else to_array(values)
    if array.ndim != 1 and (array.ndim != 2 or array.dtype.kind not in "biuf"):
        raise ValueError(
            f"The '{name}' have shape {array.shape}; they must be one value or one row of numbers per pair: "
            "reshape them to (n,) or (n, d)."
        )
    return number_values(array, name)


def _as_array(values: list[Any]) -> NDArray[Any]:
    """Lists of numbers, or of equal rows of numbers, as numeric arrays; anything else as objects."""
    if values and all(isinstance(v, (list, np.ndarray)) for v in values):
        with suppress(ValueError):
            array = np.asarray(values)
            if array.dtype.kind in "biuf":
                return array
    return as_array(values)


class Pairs(Observations):
    """Pairs whose x and z are numbered: values, or vectors of numbers.

    Parameters
    ----------
    kind : what the data are
    values, outcome_values : the distinct x and z
    spell : makes `outcomes` of the distinct z
    x, z : (n + beyond,) their number in each pair
    site : (n + beyond,) flat position of each pair on the grid of `shape`
    alphabet, symbol : the symbols of the steps, and (n + beyond,) the code of that of each pair; or None
    successor : (n + beyond,) index of the pair that each leads to, -1 = none; or None
    beyond : so many last pairs are only there to be led to: they belong to the next slice of the data
    """

    def __init__(
        self,
        kind: str,
        values: Vocabulary,
        outcome_values: Vocabulary,
        spell: Spelling,
        x: Ints,
        z: Ints,
        site: Ints,
        shape: tuple[int, ...],
        alphabet: tuple[Hashable, ...] | None = None,
        symbol: Ints | None = None,
        successor: Ints | None = None,
        beyond: int = 0,
    ) -> None:
        self.kind, self._values, self._outcome_values, self._spell = kind, values, outcome_values, spell
        self.past, self.future, self.letters = values.width, outcome_values.width, values.letters
        self.shape, self.alphabet, self._led_to, self.n = shape, alphabet, x, x.size - beyond
        self.x, self.z, self.site = (read_only(array[: self.n]) for array in (x, z, site))
        self.symbol, self.successor = (
            array if array is None else read_only(array[: self.n]) for array in (symbol, successor)
        )

    def _count(self, executor: Executor | None) -> Tally:
        """Cost: that of numbering the pairs, once more for steps."""
        symbols = None if self.alphabet is None else values_of(self.alphabet)
        steps = None
        pairs, counts = keys.count_slices(self.x, self.z, len(self._outcome_values), executor)
        if self.successor is not None:
            target = np.where(self.successor >= 0, self._led_to[self.successor], -1)
            symbol = np.zeros(self.n, np.int64) if self.symbol is None else self.symbol
            n_symbols = 1 if symbols is None else len(symbols)
            steps = count_steps(self.x, symbol, target, len(self._values), n_symbols, executor)
        made = ("vectors",) if isinstance(self._values, Vectors) else ("pairs",)
        return Tally(self.kind, made, self._values, self._outcome_values, pairs, counts, self._spell, symbols, steps)


def vector_pairs(
    kind: str,
    x: NDArray[Any],
    z: NDArray[Any],
    site: Ints,
    shape: tuple[int, ...],
    outcomes: Sequence[Hashable] | None = None,
    successor: Ints | None = None,
    beyond: int = 0,
) -> Pairs:
    """Pairs whose x are vectors of numbers, which hardly ever repeat exactly.

    Parameters
    ----------
    x : (n, d) numbers
    z : (n,) or (n, k) numbers; or the numbers of `outcomes`, which are no numbers themselves
    kind, site, shape, successor, beyond : see `Pairs`
    """
    rows, number = distinct_rows(x)
    outcome_values: Vocabulary
    spell: Spelling = listed
    if outcomes is not None:
        outcome_values = values_of(outcomes)
    else:
        spell = scalars if z.ndim == 1 else tuples
        targets, z = distinct_rows(z[:, None] if z.ndim == 1 else z)
        outcome_values = Vectors(targets)
    return Pairs(kind, Vectors(rows), outcome_values, spell, number, z, site, shape, None, None, successor, beyond)


def stacked(windows: Iterable[tuple[NDArray[Any], NDArray[Any], Ints]], sizes: Iterable[int]) -> Any:
    """x, z (numbers, where it has one column) and site of the windows of several data sets, one after the other."""
    x, z, site = zip(*windows, strict=True)
    before = np.cumsum([0, *sizes])
    outcomes = np.concatenate(z)
    places = np.concatenate([own + first for own, first in zip(site, before[:-1], strict=True)])
    return np.concatenate(x), outcomes[:, 0] if outcomes.shape[1] == 1 else outcomes, places
