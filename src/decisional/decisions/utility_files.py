"""Utilities by name or from tables of text; machines over text as machines over numbers, which utilities may need."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Iterable
from contextlib import suppress
from pathlib import Path

from ..data.reading import read
from ..machines import EpsilonMachine
from ..support.arguments import refusal
from ..support.files import is_channel
from .utilities import (
    Utility,
    absolute_error,
    alarm,
    interval_score,
    newsvendor,
    squared_error,
    table,
    tolerant,
    zero_one,
)

NAMED = {"zero-one": zero_one, "squared-error": squared_error, "absolute-error": absolute_error}
# With numbers after the name: what makes them, what the numbers are, and an example.
WITH_NUMBERS: dict[str, tuple[Callable[..., Utility], str, str]] = {
    "tolerant": (tolerant, "TAU", "0.5"),
    "newsvendor": (newsvendor, "SHORTAGE,SURPLUS", "3,1"),
    "interval-score": (interval_score, "COVERAGE", "0.9"),
    "alarm": (alarm, "THRESHOLD,MISSED,FALSE", "30,10,1"),
}
RULES = {
    "tolerant": "end in a number of at least 0, the error that costs nothing",
    "newsvendor": "end in two numbers above 0, the cost of each unit that is missing and of each that is left over",
    "interval-score": "end in a number between 0 and 1, how often the interval is to hold the outcome",
    "alarm": "end in three numbers, the threshold and the costs of a missed and of a false alarm, both above 0",
}


def read_utility(name: str | os.PathLike[str], outcomes: Iterable[Hashable] = ()) -> Utility:
    """A utility by its name, or from a table in a file.

    Parameters
    ----------
    name : str or path
        "zero-one", "squared-error", "absolute-error"; with numbers "tolerant:TAU", "newsvendor:SHORTAGE,SURPLUS",
        "interval-score:COVERAGE", "alarm:THRESHOLD,MISSED,FALSE"; or the path of a ``.csv`` or of a pipe, with the
        outcomes in its first row, and a prediction and its utilities in each of the others.
    outcomes : iterable, optional
        Those that a table must have, or is refused.

    Returns
    -------
    Utility
        For `DecisionalStates`.

    Examples
    --------
    >>> read_utility("tolerant:0.5")
    tolerant(0.5)
    """
    if not isinstance(name, (str, os.PathLike)):
        raise TypeError(refusal("name", name, "the name of a utility or of a file", "try 'zero-one'"))
    text = os.fspath(name)
    kind, _, value = text.partition(":")
    if text in NAMED:
        return NAMED[text]()
    if kind in WITH_NUMBERS:
        make, names, example = WITH_NUMBERS[kind]
        try:
            given = [float(part) for part in value.split(",")]
            if len(given) == len(names.split(",")):
                return make(*given)
        except ValueError:
            pass
        raise ValueError(f"The utility {text!r} must {RULES[kind]}: write {kind}:{example}, for example.")
    if text.lower().endswith(".csv") or is_channel(text):
        return _table(text, outcomes)
    if Path(text).exists():
        raise ValueError(f"The utility {text!r} is a file whose name does not end in .csv: rename it.")
    known = ", ".join((*NAMED, *(f"{kind}:{names}" for kind, (_, names, _) in WITH_NUMBERS.items())))
    raise ValueError(f"The utility {text!r} is unknown: choose one of {known}, or give a table, FILE.csv.")


def _table(path: str, needed: Iterable[Hashable]) -> Utility:
    """A utility from a table: outcomes in the first row, predictions in the first column."""
    rows = read(path, "table")
    if len(rows) < 2 or len(rows[0]) < 2:
        raise ValueError(
            f"The table {path!r} has {len(rows)} rows and needs 2 at least: outcomes in the first, then a prediction "
            "and its utilities in each."
        )
    outcomes, values = rows[0][1:], []
    for place, row in enumerate(rows[1:], start=2):
        if len(row) != len(rows[0]):
            raise ValueError(
                f"Row {place} of the table {path!r} has {len(row)} cells and the first row {len(rows[0])}: give a "
                "prediction and one utility for each outcome."
            )
        values.append([_number(path, place, cell) for cell in row[1:]])
    for outcome in needed:
        if str(outcome) not in outcomes:
            raise ValueError(f"The table {path!r} has no column for the outcome {outcome!r} of the data: add it.")
    predictions = [row[0] for row in rows[1:]]
    for what, names in (("outcome", outcomes), ("prediction", predictions)):
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"The table {path!r} has the {what} {name!r} twice: give each of them once.")
    return table(values, y=predictions, z=outcomes)


def _number(path: str, place: int, cell: str) -> float:
    try:
        value = float(cell)
    except ValueError:
        value = float("nan")
    if not abs(value) < float("inf"):
        raise ValueError(f"Row {place} of the table {path!r} has {cell!r}, which is no number: correct it.")
    return value


def machine_of_numbers(machine: EpsilonMachine) -> EpsilonMachine:
    """The same machine over numbers, where its symbols are their text; each must print as it did, to be found again.

    The machine of a signal is about numbers already.

    Examples
    --------
    >>> machine_of_numbers(EpsilonMachine([("A", "2", "A", 0.5), ("A", "0.5", "A", 0.5)])).alphabet
    (0.5, 2)
    """
    if machine.levels is not None:
        return machine
    numbers = [_as_number(symbol) if isinstance(symbol, str) else symbol for symbol in machine.alphabet]
    known = machine.names, machine.weights, machine.counts
    return machine.from_arrays(machine.targets, machine.emission, numbers, *known)


def _as_number(symbol: str) -> float:
    for kind in (int, float):
        with suppress(ValueError):
            if str(kind(symbol)) == symbol and abs(kind(symbol)) < float("inf"):
                return kind(symbol)
    raise ValueError(
        f"The utility needs symbols that are plain numbers, such as 2 or 0.5, and the model has {symbol!r}: give a "
        "table, FILE.csv, or other symbols."
    )
