"""Symbols, outcomes and other single values as JSON, and back."""

import base64
from collections.abc import Callable
from typing import Any

import numpy as np

from .alphabet import ordered


def encode(value: Any, special: Callable[[Any], Any] | None = None) -> Any:
    """Return a value as JSON that `decode` turns back: sets, tuples, bytes and infinities are named.

    Parameters
    ----------
    special : gives the JSON of values of further kinds, a dict of several entries, and None for others

    Raises
    ------
    TypeError
        For other values than None, booleans, numbers, strings, bytes, and arrays, lists, tuples and sets of these.
    """
    value = value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value
    if isinstance(value, list):
        return [encode(item, special) for item in value]
    known = None if special is None else special(value)
    if known is not None:
        return known
    if isinstance(value, frozenset):
        return {"set": [encode(item, special) for item in ordered(value)]}
    if isinstance(value, tuple):
        return {"tuple": [encode(item, special) for item in value]}
    if isinstance(value, float) and not np.isfinite(value):
        return {"float": str(value)}
    if isinstance(value, bytes):
        return {"bytes": base64.b64encode(value).decode("ascii")}
    if value is None or type(value) in (str, int, float, bool):
        return value
    raise TypeError(
        f"The value {value!r} cannot be saved; a file holds strings, numbers, booleans, None and tuples of these: "
        "rename it before saving."
    )


def decode(value: Any, special: Callable[[dict[str, Any]], Any] | None = None) -> Any:
    """Return what `encode` was given; arrays come back as lists."""
    if isinstance(value, list):
        return [decode(item, special) for item in value]
    if not isinstance(value, dict):
        return value
    known = None if special is None else special(value)
    if known is not None:
        return known
    ((kind, content),) = value.items()
    if kind == "bytes":
        return base64.b64decode(content, validate=True)
    kinds: dict[str, Any] = {"set": frozenset, "tuple": tuple, "float": float}
    return kinds[kind](decode(content, special))
