"""Predictions and outcomes as arrays."""

from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..support.arguments import shown
from ..support.arrays import Floats

__all__ = ["as_array", "cells", "like", "numbers", "some"]


def as_array(values: Sequence[Any]) -> NDArray[Any]:
    """Values as (n,), or (n, d) where they are tuples of one length; of objects where numpy has no type for them."""
    try:
        array: NDArray[Any] = np.asarray(list(values))
        if len({type(v) for v in values}) == 1 or array.dtype.kind in "biuf":
            return array
    except ValueError:
        pass
    boxed = np.empty(len(values), object)
    boxed[:] = list(values)
    return boxed


def numbers(values: Sequence[Any], name: str, most: int = 2) -> Floats:
    """Values as numbers, (n,) or (n, d)."""
    array = as_array(values)
    if array.dtype.kind not in "biuf" or array.ndim > most or not np.isfinite(array).all():
        raise ValueError(
            f"The 'y' or outcomes of {name} are like {values[0]!r}; they must be finite numbers"
            f"{'' if most == 1 else ' or tuples of numbers'}: convert the data, or use ds.utility.table."
        )
    return array.astype(float)


def cells(values: Sequence[Any]) -> NDArray[Any]:
    """Outcomes as (n, n_cells): tuples and text have a cell for each item, other values are one cell."""
    listed = getattr(values, "cells", None)
    if listed is None:
        text = all(isinstance(v, str) for v in values) and len({len(v) for v in values}) == 1
        listed = [list(v) for v in values] if text else list(values)
    try:
        array: NDArray[Any] = np.asarray(listed)
    except ValueError:
        array = np.empty(len(values), object)
    if array.ndim not in (1, 2) or array.dtype.kind == "O":
        raise ValueError(
            f"The outcomes of matching_cells are like {values[0]!r}; they must be values or tuples of values of one "
            "length: observe light cones, or a series with future > 1."
        )
    return array.reshape(len(values), -1)


def like(value: Any) -> Callable[[Any], Any]:
    """What makes a value like this one of its cells: a tuple, text, or the only one."""
    if isinstance(value, tuple):
        return tuple
    return "".join if isinstance(value, str) else itemgetter(0)


def listed(values: Any, name: str) -> list[Any]:
    """Predictions or outcomes of a utility as a list of hashable values."""
    try:
        found = list(values)
        hash(tuple(found))
    except TypeError:
        raise TypeError(
            f"The {name!r} of a utility are {shown(values)}; they must be hashable values: give a list of numbers, "
            "strings or tuples."
        ) from None
    return found


def some(values: Sequence[Any]) -> str:
    """The first values, for a message."""
    shown = ", ".join(map(repr, list(values)[:5]))
    return shown + (", ..." if len(values) > 5 else "")
