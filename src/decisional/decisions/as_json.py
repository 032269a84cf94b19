"""Values, sets of predictions and utilities as JSON, and back."""

from collections.abc import Callable
from typing import Any

from ..data import json_values
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
    """Return a value, or the set of best predictions, as JSON that `decode` turns back: see `json_values.encode`."""
    return json_values.encode(value, _encoded_set)


def _encoded_set(value: Any) -> Any:
    if isinstance(value, CellSet):
        # An example tells what a prediction is made of: a tuple, text or a single value.
        return {"cells": [encode(cell)["set"] for cell in value.cells], "like": encode(next(iter(value)))}
    if isinstance(value, Interval):
        return {"low": encode(value.low), "high": encode(value.high)}
    return None


def decode(value: Any) -> Any:
    """Return what `encode` was given; arrays come back as lists."""
    return json_values.decode(value, _decoded_set)


def _decoded_set(value: dict[str, Any]) -> Any:
    if "low" in value:
        return Interval(decode(value["low"]), decode(value["high"]))
    if "cells" in value:
        return CellSet([frozenset(decode(cell)) for cell in value["cells"]], like(decode(value["like"])))
    return None


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
