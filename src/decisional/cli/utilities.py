"""Models and utilities, by name or from files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import summary
from .parser import finite

if TYPE_CHECKING:
    from ..machines import EpsilonMachine

__all__ = ["decide", "is_monitor", "refuse_unknown"]

NAMES = ("zero-one", "squared-error", "absolute-error")


def is_monitor(path: str) -> bool:
    """Whether a file has a monitor rather than a machine; anything else is refused."""
    import json

    from ..support import files as io

    try:
        content = json.loads(io.read_bytes(path))
    except ValueError:
        raise ValueError(f"The file {path!r} is not JSON; a model is written by symbols or decide: check it.") from None
    kind = content.get("format") if isinstance(content, dict) else None
    if kind not in ("decisional.Monitor", "decisional.EpsilonMachine"):
        raise ValueError(f"The file {path!r} has no model: give one that symbols --json or decide --monitor wrote.")
    return bool(kind == "decisional.Monitor")


def decide(path: str, text: str) -> Any:
    """Decisional states of the machine in a file, for a utility by name or in a file."""
    from ..decisions.decisional_model import DecisionalModel
    from ..machines import EpsilonMachine

    with _at(path) as file:
        if is_monitor(file):
            raise ValueError(f"The model {path!r} is a monitor: give the machine, which symbols --json wrote.")
        machine = EpsilonMachine.load(file)
    worth = _utility(text)
    if text.lower().endswith(".csv"):
        missing = [symbol for symbol in machine.alphabet if str(symbol) not in worth.z]
        if missing:
            raise ValueError(f"The table {text!r} has no column for the outcome {missing[0]!r} of the model: add it.")
    elif text != "zero-one":
        machine = _numeric(machine, text)
    return DecisionalModel(worth).fit(machine)


@contextmanager
def _at(path: str) -> Iterator[str]:
    """The path of a model; standard input, which can be read only once, is kept in a file for a while."""
    if path != "-":
        yield path
        return
    from tempfile import TemporaryDirectory

    from ..support import files as io

    with TemporaryDirectory() as folder:
        file = Path(folder, "model.json")
        file.write_bytes(io.read_bytes(path))
        try:
            yield str(file)
        except ValueError as error:
            raise ValueError(str(error).replace(str(file), path)) from None


def _utility(text: str) -> Any:
    from .. import utility

    name, _, value = text.partition(":")
    if text in NAMES:
        return getattr(utility, text.replace("-", "_"))()
    if name == "tolerant":
        try:
            return utility.tolerant(float(value))
        except ValueError:
            raise ValueError(
                f"The utility {text!r} must end in a number of at least 0, the error that costs nothing: write "
                "tolerant:0.5, for example."
            ) from None
    if text.lower().endswith(".csv"):
        return _table(text)
    if Path(text).exists():
        raise ValueError(f"The utility {text!r} is a file whose name does not end in .csv: rename it.")
    known = ", ".join((*NAMES, "tolerant:TAU"))
    raise ValueError(f"The utility {text!r} is unknown: choose one of {known}, or give a table, FILE.csv.")


def _table(path: str) -> Any:
    """A utility from a table: outcomes in the first row, predictions in the first column."""
    from .. import utility
    from ..support import files as io
    from .files import rows_of

    rows = rows_of(io.read_text(path))
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
        values.append([_cell(path, place, cell) for cell in row[1:]])
    predictions = [row[0] for row in rows[1:]]
    for what, names in (("outcome", outcomes), ("prediction", predictions)):
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise ValueError(f"The table {path!r} has the {what} {twice!r} twice: give each of them once.")
    return utility.table(values, y=predictions, z=outcomes)


def _cell(path: str, place: int, cell: str) -> float:
    value = finite(cell)
    if value is None:
        raise ValueError(f"Row {place} of the table {path!r} has {cell!r}, which is no number: correct it.")
    return value


def _numeric(machine: EpsilonMachine, name: str) -> EpsilonMachine:
    """The same machine over numbers, as files have text; each must print as it did, to be found again."""
    numbers: list[Any] = []
    for symbol in machine.alphabet:
        if not isinstance(symbol, str):
            numbers.append(symbol)
            continue
        found = [kind(symbol) for kind in (int, float) if _prints_as(kind, symbol)]
        if not found:
            raise ValueError(
                f"The utility {name} needs symbols that are plain numbers, such as 2 or 0.5, and the model has "
                f"{symbol!r}: give a table, FILE.csv, or other symbols."
            )
        numbers.append(found[0])
    tables = machine.targets, machine.emission
    return machine.from_arrays(*tables, numbers, machine.names, machine.weights)


def _prints_as(kind: Any, text: str) -> bool:
    try:
        return str(kind(text)) == text and abs(kind(text)) < float("inf")
    except ValueError:
        return False


def refuse_unknown(symbols: Sequence[Any], machine: EpsilonMachine, name: str, begin: int = 0) -> None:
    """Refuse symbols that the model has never seen."""
    known = set(map(str, machine.alphabet))
    strange = next((place for place, symbol in enumerate(symbols) if str(symbol) not in known), None)
    if strange is not None:
        raise ValueError(
            f"The symbol {symbols[strange]!r} at position {begin + strange} of {name} is unknown to the model, whose "
            f"symbols are {summary.shown_symbols(machine.alphabet)}: check that the data are of the same kind."
        )
