"""How to get the same result again: the command, the version, and the same in Python."""

from __future__ import annotations

import re

import numpy as np

from .. import __version__
from ..data.windows import Windows
from ..estimators.first_part import FirstPart
from .findings import Findings
from .markup import Html, definitions, element, section

__all__ = ["reproduce_section", "snippet"]

NAMES = (
    "Kernels|Counts|GTest|ChiSquare|Bhattacharyya|Variational|HarmonicMean|JensenShannon|CausalStates|DecisionalStates"
)
UTILITIES = {
    "ZeroOne": "zero_one",
    "SquaredError": "squared_error",
    "AbsoluteError": "absolute_error",
    "Tolerant": "tolerant",
    "MatchingCells": "matching_cells",
    "Table": "table",
}


def reproduce_section(found: Findings, command: str, seed: object, code: str | None) -> Html:
    """Return the command, version, seed and code of a report."""
    entries: list[tuple[object, object]] = [
        ("Version", f"decisional {__version__}"),
        ("Seed", "none was used" if seed is None else seed),
    ]
    parts = [
        element("p", "The same data, command and version give the same result."),
        element("pre", element("code", command), tabindex="0"),
    ]
    parts.append(definitions(entries))
    text = snippet(found) if code is None else code
    if text:
        parts += [element("p", "Or in Python:"), element("pre", element("code", text), tabindex="0")]
    return section("reproduce", "How to reproduce this", *parts)


def snippet(found: Findings) -> str:
    """Return Python code that does what was done, up to the reading of the data."""
    if not found.has_states:
        return ""
    lines = ["import decisional as ds", ""]
    if found.causal is None:
        source = "machine"
        lines.append(
            "machine = ds.epsilon_machine(symbols)  # the symbols of the file"
            if found.selection is not None
            else 'machine = ds.EpsilonMachine.load("machine.json")'
        )
    else:
        source = "causal"
        lines += [f"obs = {_observe(found)}", f"causal = {_named(repr(found.causal))}.fit(obs)"]
    if found.choice is not None:
        lines += [
            f"utility = {_utility(found.choice.utility)}",
            f"choice = ds.DecisionalStates(utility{_options(found.choice)}).fit({source})",
        ]
    return "\n".join(lines)


def _observe(found: Findings) -> str:
    assert found.causal is not None
    obs = found.causal.observations_
    obs = obs.inner if isinstance(obs, FirstPart) else obs
    if isinstance(obs, Windows):
        future = f", future={obs.future}" if obs.future != 1 else ""
        return f"ds.observe.series(symbols, past={obs.past}{future})"
    cone = getattr(obs, "cone", None)
    if cone is not None:
        # Depths count the present row too.
        return (
            f"ds.observe.light_cones(field, past={cone.before + 1}, future={cone.after + 1})  # and the options above"
        )
    if found.kind == "image":
        return "ds.observe.image(pixels)  # with the options above"
    if found.kind == "signal":
        return f"ds.observe.delays(signal, past={obs.past})  # with the options above"
    return "ds.observe.pairs(x, z)"


def _named(text: str) -> str:
    return re.sub(rf"\b({NAMES})\(", r"ds.\1(", " ".join(text.split()))


def _utility(utility: object) -> str:
    name = type(utility).__name__.strip("_")
    if name not in UTILITIES:
        return "...  # U(y, z), as above"
    given = {key: value for key, value in vars(utility).items() if value is not None}
    if name == "Table":
        given = {"": given.pop("values"), **given}
    shown = (f"{key}={_literal(value)}" if key else _literal(value) for key, value in given.items())
    return f"ds.utility.{UTILITIES[name]}({', '.join(shown)})"


def _literal(value: object) -> str:
    return repr(value.tolist() if isinstance(value, np.ndarray) else value)


def _options(choice: object) -> str:
    names = ("integrate", "optimise", "delta", "atol")
    return "".join(f", {name}={getattr(choice, name)!r}" for name in names if getattr(choice, name) is not None)
