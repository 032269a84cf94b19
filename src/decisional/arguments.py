"""Reading what users give: what cannot be used gets one sentence, not an error from inside NumPy."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["as_table", "generator", "is_number", "require", "require_tolerance", "shown"]


def shown(value: Any) -> str:
    """A value as it is written in a message: cut where it is long."""
    text = " ".join(repr(value).split())
    return text if len(text) <= 80 else text[:77] + "..."


def is_number(value: Any) -> bool:
    """Whether a value is a real number; NaN is none, nor are booleans."""
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool) and value == value


def as_table(values: Any, name: str, rule: str, dtype: Any = None) -> NDArray[Any]:
    """Values as an array (of `dtype`), or ValueError: "The 'name' is ...; rule"."""
    try:
        array: NDArray[Any] = np.asarray(values, dtype)
    except (TypeError, ValueError):
        raise ValueError(f"The {name!r} is {shown(values)}; {rule}") from None
    return array


def generator(rng: Any, name: str = "rng") -> np.random.Generator:
    """The generator of random numbers that a seed stands for; a Generator is returned as it is."""
    try:
        return np.random.default_rng(rng)
    except (TypeError, ValueError):
        raise ValueError(
            f"The {name!r} is {shown(rng)}; it must be None, an integer of at least 0 or a numpy Generator: "
            f"try {name}=0."
        ) from None


def require(value: Any, attribute: str, name: str, kind: str, remedy: str) -> None:
    """Refuse a value without the attribute that makes it what it must be."""
    if isinstance(value, type) or not hasattr(value, attribute):
        raise TypeError(f"The {name!r} must be {kind}. Got {shown(value)} instead: {remedy}.")


def require_tolerance(atol: Any, name: str = "atol") -> None:
    """Refuse what is not a number of at least 0."""
    if not is_number(atol) or atol < 0:
        raise ValueError(f"The {name!r} is {shown(atol)}; it must be a number of at least 0: try {name}=1e-9.")
