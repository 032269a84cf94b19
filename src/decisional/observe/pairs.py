"""Any pairs (x, z), with optional symbols for the steps between them."""

from collections.abc import Hashable, Sequence
from concurrent.futures import Executor
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..structures import Ints, Observations, Table, read_only
from . import tables
from .symbols import as_array, is_missing, to_array
from .vectors import Vectors

__all__ = ["pairs", "vectors"]


def pairs(x: Any, z: Any, symbols: Any = None, successors: ArrayLike | None = None) -> Observations:
    """Observe pairs (x, z) as they are: each distinct x is a configuration, each distinct z an outcome.

    Parameters
    ----------
    x : (n,) hashables or numbers, or (n, d) numbers: one configuration per row; an array or a list
    z : the same for the outcomes
    symbols : (n,) or (n - 1,) symbol of the step from each observation to its successor, or None
    successors : (n,) index of the next observation, -1 = none; by default the next one, if symbols are
        given

    Returns
    -------
    Observations : `Vectors`, for kernels, where x has numbers with fractions. Pairs with a missing x or z (None, NaN,
        masked) are left out; `site` has the places of the others

    Examples
    --------
    >>> obs = pairs(["dry", "dry", "wet"], ["sun", "rain", "rain"])
    >>> obs.letters, obs.outcomes, obs.table().count
    (('dry', 'wet'), ['rain', 'sun'], array([1, 1, 1]))
    """
    if symbols is None and successors is None and _is_continuous(x):
        return vectors(x, z)
    x_number, letters = _number(x, "x")
    z_number, outcomes = _number(z, "z")
    n = x_number.size
    if z_number.size != n:
        raise ValueError(
            f"The 'z' have {z_number.size} values and 'x' has {n}; pairs need one z for each x: check both."
        )
    if symbols is None and successors is not None:
        raise ValueError(
            f"The 'successors' are given for {n} pairs without 'symbols'; a step needs its symbol: give both."
        )
    kept = np.flatnonzero((x_number >= 0) & (z_number >= 0))
    if kept.size == 0:
        raise ValueError(
            f"The 'x' and 'z' hold no complete pair among {n}; at least one must have both: check the input."
        )
    symbol = successor = alphabet = None
    if symbols is not None:
        symbol, successor, alphabet = _steps(symbols, successors, n, kept)
    return Pairs(x_number[kept], z_number[kept], letters, outcomes, symbol, successor, alphabet, kept, (n,))


def _is_continuous(values: Any) -> bool:
    """Whether values are numbers, some of them with fractions."""
    if isinstance(values, (list, tuple)):
        values = _as_array(list(values))
    array = np.ma.filled(values, np.nan) if np.ma.isMA(values) and values.dtype.kind == "f" else to_array(values)
    if array.dtype.kind != "f":
        return False
    known = array[np.isfinite(array)]
    return bool((known != np.floor(known)).any())


def vectors(x: Any, z: Any = None) -> Vectors:
    """Pairs whose x are vectors of numbers; z are numbers if some have fractions, else kinds.

    Without z only x matter, and there may be none.
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
    elif _is_continuous(z):
        target = _floats(z, "z")
        known = np.isfinite(target.reshape(len(target), -1)).all(axis=1)
    else:
        target, outcomes = _number(z, "z")
        known = target >= 0
    if len(target) != len(points):
        raise ValueError(
            f"The 'z' have {len(target)} values and 'x' has {len(points)}; pairs need one z for each x: check both."
        )
    kept = np.flatnonzero(known & np.isfinite(points).all(axis=1))
    if kept.size == 0 and z is not None:
        raise ValueError(
            f"The 'x' and 'z' hold no complete pair among {len(points)}; at least one must have both: check the input."
        )
    return Vectors(points[kept], target[kept], kept, (len(points),), outcomes=outcomes)


def _floats(values: Any, name: str) -> NDArray[Any]:
    """Values as floats, NaN where they are missing."""
    try:
        if np.iscomplexobj(values):
            raise TypeError
        array: NDArray[Any] = np.asarray(values, float)
        if np.ma.isMA(values):
            array = np.ma.filled(np.ma.asarray(values, float), np.nan)
    except (TypeError, ValueError):
        raise ValueError(
            f"The '{name}' are {type(values).__name__} of values that are not real numbers; kernels need numbers: use "
            "ds.Counts() for others."
        ) from None
    if np.isinf(array).any():
        raise ValueError(
            f"The '{name}' have infinite values; they must be finite, or NaN where they are missing: replace them."
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
    """Number the distinct values in sorted order where they can be sorted; -1 = missing."""
    array = _as_array(list(values)) if isinstance(values, (str, list, tuple)) else to_array(values)
    if array.ndim != 1 and (array.ndim != 2 or array.dtype.kind not in "biuf"):
        raise ValueError(
            f"The '{name}' have shape {array.shape}; they must be one value or one row of numbers per pair: "
            "reshape them to (n,) or (n, d)."
        )
    if array.dtype.kind == "O":
        return _number_objects(array.tolist(), name)
    missing: Any = np.ma.getmaskarray(array)
    array = np.asarray(array)
    if array.dtype.kind == "f":
        missing = missing | np.isnan(array)
    if array.ndim == 2:
        missing = missing.any(axis=1)
    distinct, inverse = np.unique(array[~missing], axis=0 if array.ndim == 2 else None, return_inverse=True)
    letters = tuple(map(tuple, distinct.tolist())) if array.ndim == 2 else tuple(distinct.tolist())
    number = np.full(len(array), -1, np.int64)
    number[~missing] = inverse.reshape(-1)
    return number, letters


def _as_array(values: list[Any]) -> NDArray[Any]:
    """Lists of numbers, or of equal rows of numbers, as numeric arrays; anything else as objects."""
    if values and all(isinstance(v, (list, np.ndarray)) for v in values):
        with suppress(ValueError):
            array = np.asarray(values)
            if array.dtype.kind in "biuf":
                return array
    return as_array(values)


def _number_objects(values: list[Any], name: str) -> tuple[Ints, tuple[Hashable, ...]]:
    values = [None if is_missing(v) else v.item() if isinstance(v, np.generic) else v for v in values]
    try:
        distinct = list(dict.fromkeys(v for v in values if v is not None))
    except TypeError as error:
        raise TypeError(
            f"The '{name}' hold a value that cannot be counted ({error}); values must be hashable: use strings, "
            "numbers or tuples."
        ) from None
    try:
        distinct.sort()
    except TypeError:
        distinct.sort(key=lambda v: (type(v).__name__, repr(v)))
    number = {v: i for i, v in enumerate(distinct)}
    return np.array([-1 if v is None else number[v] for v in values], np.int64), tuple(distinct)


class Pairs(Observations):
    """Observations that are numbered already: words of one letter."""

    def __init__(
        self,
        x: Ints,
        z: Ints,
        letters: tuple[Hashable, ...],
        outcomes: Sequence[Any],
        symbol: Ints | None,
        successor: Ints | None,
        alphabet: tuple[Hashable, ...] | None,
        site: Ints,
        shape: tuple[int, ...],
    ) -> None:
        self.past = 1
        self.letters, self.alphabet, self.shape = letters, alphabet, shape
        self._outcomes = list(outcomes)
        # Only letters of complete pairs are rows of the table.
        self._letter, self._x = np.unique(x, return_inverse=True)
        self._z, self._symbol, self._successor, self._site = z, symbol, successor, site
        self._table: Table | None = None

    @property
    def n(self) -> int:
        return self._x.size

    @property
    def outcomes(self) -> Sequence[Any]:
        return self._outcomes

    @property
    def x(self) -> Ints:
        return read_only(self._x)

    @property
    def z(self) -> Ints:
        return read_only(self._z)

    @property
    def symbol(self) -> Ints | None:
        return None if self._symbol is None else read_only(self._symbol)

    @property
    def successor(self) -> Ints | None:
        return None if self._successor is None else read_only(self._successor)

    @property
    def site(self) -> Ints:
        return read_only(self._site)

    def words(self, rows: Ints) -> Ints:
        return self._letter[rows][:, None]

    def table(self, executor: Executor | None = None) -> Table:
        if self._table is None:
            n_x, n_z = self._letter.size, len(self._outcomes)
            after = self._successor
            target = None if after is None else np.where(after >= 0, self._x[after], -1)
            self._table = tables.from_ids(self._x, self._z, n_x, n_z, self._symbol, target, executor=executor)
        return self._table
