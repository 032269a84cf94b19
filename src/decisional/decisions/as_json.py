"""Values, sets of predictions and utilities as JSON, and back."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..data.alphabet import ordered
from .predictions import CellSet, Interval, like
from .utilities import (
    Utility,
    alarm,
    interval_score,
    matching_cells,
    newsvendor,
    squared_error,
    table,
    tolerant,
    zero_one,
)


def encode(value: Any) -> Any:
    """Return a value as JSON that `decode` turns back: sets, intervals, tuples and infinities are named.

    Raises
    ------
    TypeError
        For other values than None, booleans, numbers, strings, and arrays, lists, tuples and sets of these.
    """
    value = value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value
    if isinstance(value, list):
        return [encode(item) for item in value]
    if isinstance(value, CellSet):
        # An example tells what a prediction is made of: a tuple, text or a single value.
        return {"cells": [encode(cell)["set"] for cell in value.cells], "like": encode(next(iter(value)))}
    if isinstance(value, frozenset):
        return {"set": [encode(item) for item in ordered(value)]}
    if isinstance(value, Interval):
        return {"low": encode(value.low), "high": encode(value.high)}
    if isinstance(value, tuple):
        return {"tuple": [encode(item) for item in value]}
    if isinstance(value, float) and not np.isfinite(value):
        return {"float": str(value)}
    if value is None or type(value) in (str, int, float, bool):
        return value
    raise TypeError(
        f"The value {value!r} cannot be saved; a file holds strings, numbers, booleans, None and tuples of these: "
        "rename it before saving."
    )


def decode(value: Any) -> Any:
    """Return what `encode` was given; arrays come back as lists."""
    if isinstance(value, list):
        return [decode(item) for item in value]
    if not isinstance(value, dict):
        return value
    if "low" in value:
        return Interval(decode(value["low"]), decode(value["high"]))
    if "cells" in value:
        return CellSet([frozenset(decode(cell)) for cell in value["cells"]], like(decode(value["like"])))
    ((kind, content),) = value.items()
    kinds: dict[str, Any] = {"set": frozenset, "tuple": tuple, "float": float}
    return kinds[kind](decode(content))


def encode_utility(utility: Utility) -> dict[str, Any] | None:
    """A utility as JSON; None where it is a function, which no file holds."""
    if utility.maker is None:
        return None
    return {
        "kind": type(utility).__name__.strip("_"),
        "given": {name: encode(value) for name, value in vars(utility).items()},
    }


def decode_utility(content: dict[str, Any]) -> Utility:
    """Undo `encode_utility`."""
    given = {name: decode(value) for name, value in content["given"].items()}
    return _MAKERS[content["kind"]](**given)


# By the names that files have for them.
_MAKERS: dict[str, Callable[..., Utility]] = {
    "ZeroOne": zero_one,
    "SquaredError": squared_error,
    "MatchingCells": matching_cells,
    "Tolerant": lambda tolerance, y: tolerant(tolerance, y),
    "Newsvendor": newsvendor,
    "IntervalScore": interval_score,
    "Alarm": alarm,
    "Table": lambda values, y, z: table(values, y, z),
}
