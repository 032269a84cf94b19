"""Checks of what users give, one for each kind of argument: what cannot be used gets one sentence.

The sentence names the parameter, the value, the rule and the remedy: "The 'past' of series is 0; it must be an integer
of at least 1: try past=1." Checks stand at the public door only; what the library made itself is not checked again.
"""

from collections.abc import Callable, Hashable, Iterable
from contextlib import suppress
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

LARGEST = float(np.finfo(float).max)


def shown(value: Any) -> str:
    """A value as it is written in a message: cut where it is long."""
    text = " ".join(repr(value).split())
    return text if len(text) <= 80 else text[:77] + "..."


def refusal(name: str, value: Any, rule: str, remedy: str, of: str = "") -> str:
    """The sentence of a refused argument; `of` is what it is a parameter of, where its name alone does not tell."""
    return f"The {name!r}{of and ' of ' + of} is {shown(value)}; it must be {rule}: {remedy}."


def is_integer(value: Any) -> bool:
    """Whether a value is a whole number by its type; booleans are none, nor are lengths of time."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, (bool, np.timedelta64))


def is_number(value: Any) -> bool:
    """Whether a value is a real number; NaN is none, nor are booleans, nor whole numbers that no float holds."""
    if is_integer(value):
        return abs(int(value)) <= LARGEST
    return isinstance(value, (float, np.floating)) and bool(value == value)


def integer(
    value: Any, name: str, least: int = 1, most: int | None = None, remedy: str | None = None, of: str = ""
) -> int:
    """A whole number between two limits, or ValueError."""
    if is_integer(value) and least <= value and (most is None or value <= most):
        return int(value)
    limits = f"of at least {least}" if most is None else f"from {least} to {most}"
    raise ValueError(refusal(name, value, f"an integer {limits}", remedy or f"try {name}={least}", of))


def real(
    value: Any,
    name: str,
    least: float | None = None,
    above: float | None = None,
    most: float | None = None,
    below: float | None = None,
    remedy: str = "give such a number",
    of: str = "",
) -> float:
    """A finite number within limits, of which `above` and `below` are not allowed themselves, or ValueError."""
    limits = {"of at least": least, "above": above, "of at most": most, "below": below}
    words = " and ".join(f"{word} {limit:g}" for word, limit in limits.items() if limit is not None)
    if is_number(value):
        # Whole numbers of any size are compared exactly.
        number = int(value) if is_integer(value) else float(value)
        inside = (least is None or number >= least) and (above is None or number > above) and abs(number) <= LARGEST
        if inside and (most is None or number <= most) and (below is None or number < below):
            return float(number)
    raise ValueError(refusal(name, value, f"a number {words}".strip(), remedy, of))


def flag(value: Any, name: str, of: str = "") -> bool:
    """True or False, or ValueError; 0 and 1 stand for them."""
    if isinstance(value, (bool, np.bool_)) or (is_integer(value) and value in (0, 1)):
        return bool(value)
    raise ValueError(refusal(name, value, "True or False", f"try {name}=True", of))


def result_of(function: Callable[..., Any], name: str, *given: Any) -> Any:
    """What a function of the user gives; where it fails, the sentence names the parameter it was given as."""
    try:
        return function(*given)
    except Exception as error:
        if isinstance(error, ValueError) and str(error).endswith("."):
            # A sentence already.
            raise
        why = shown(" ".join(str(error).split()))
        raise ValueError(f"The {name!r} failed ({type(error).__name__}: {why}): correct the function.") from error


def choice(value: Any, name: str, choices: Iterable[Hashable], of: str = "") -> Any:
    """One of some values, or ValueError."""
    known = list(choices)
    # Arrays and records cannot be compared with a name.
    with suppress(TypeError, ValueError):
        hash(value)
        if value in known:
            return value
    raise ValueError(refusal(name, value, f"one of {', '.join(map(repr, known))}", "choose one", of))


def some_of(values: Any, name: str, known: Iterable[Hashable], least: int = 0, of: str = "") -> list[Any]:
    """Some of some values, at least so many of them, or ValueError; a single name stands for itself."""
    allowed = list(known)
    given = [values] if isinstance(values, str) else values
    if not isinstance(given, (list, tuple)) or len(given) < least:
        rule = f"a list of {f'at least {least}' if least else 'some'} of {', '.join(map(repr, allowed))}"
        raise ValueError(refusal(name, values, rule, f"try {name}={allowed[:1]}", of))
    return [choice(value, name, allowed, of) for value in given]


def as_table(values: Any, name: str, rule: str, dtype: Any = None) -> NDArray[Any]:
    """Values as an array (of `dtype`), or ValueError: "The 'name' is ...; rule"."""
    try:
        # Numbers that an integer cannot hold are refused, not cut.
        with np.errstate(invalid="raise", over="raise"):
            array: NDArray[Any] = np.asarray(values, dtype if not np.iscomplexobj(values) else None)
    except (TypeError, ValueError, ArithmeticError):
        raise ValueError(f"The {name!r} is {shown(values)}; {rule}") from None
    if dtype is not None and array.dtype.kind == "c":
        raise ValueError(f"The {name!r} is {shown(values)}; {rule}")
    return array


def generator(rng: Any, name: str = "rng") -> np.random.Generator:
    """The generator of random numbers that a seed stands for; a Generator is returned as it is."""
    try:
        if np.iscomplexobj(rng):
            raise TypeError
        return np.random.default_rng(rng)
    except (TypeError, ValueError):
        rule = "None, an integer of at least 0 or a numpy Generator"
        raise ValueError(refusal(name, rng, rule, f"try {name}=0")) from None


def package(name: str, sentence: str, extra: str, otherwise: str = "") -> Any:
    """A package that comes with an extra, imported, or ImportError: "sentence: pip install ..."."""
    try:
        return import_module(name)
    except ImportError:
        raise ImportError(f"{sentence}: pip install 'decisional[{extra}]'{otherwise}.") from None


def require(value: Any, attribute: str, name: str, kind: str, remedy: str) -> None:
    """Refuse a value without the attribute that makes it what it must be."""
    if isinstance(value, type) or not hasattr(value, attribute):
        raise TypeError(f"The {name!r} must be {kind}. Got {shown(value)} instead: {remedy}.")
