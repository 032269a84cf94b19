"""How to get the same result again: Python code, put together from the objects."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ..data.fields import Cones
from ..decisions.utilities import Utility
from ..estimators.first_part import FirstPart
from .findings import Findings

if TYPE_CHECKING:
    from ..decisions.decisional_model import DecisionalModel
    from ..states.causal_model import CausalModel

NAMES = (
    "Kernels|Counts|GTest|ChiSquare|Bhattacharyya|Variational|HarmonicMean|JensenShannon|CausalStates|DecisionalStates"
)


def python_code(found: Findings) -> str:
    """Python code that does what was done, up to the reading of the data."""
    if not found.has_states:
        return ""
    if found.causal is not None:
        source = "causal"
        text = " ".join(repr(found.causal).split()).replace("CausalModel(", "CausalStates(")
        fitted = re.sub(rf"\b({NAMES})\(", r"ds.\1(", text)
        lines = [f"obs = {_observe(found.kind, found.causal)}", f"causal = {fitted}.fit(obs)"]
    else:
        source = "machine"
        chosen = "ds.epsilon_machine(symbols)  # the symbols of the file"
        lines = ["machine = " + (chosen if found.selection is not None else 'ds.EpsilonMachine.load("machine.json")')]
    if found.choice is not None:
        lines += [
            f"utility = {_utility(found.choice.utility)}",
            f"choice = ds.DecisionalStates(utility{_options(found.choice)}).fit({source})",
        ]
    return "\n".join(["import decisional as ds", "", *lines])


def _observe(kind: str, causal: CausalModel) -> str:
    obs: Any = causal.observations_
    obs = obs.inner if isinstance(obs, FirstPart) else obs
    if kind == "series":
        future = f", future={obs.future}" if obs.future != 1 else ""
        return f"ds.observe.series(symbols, past={obs.past}{future})"
    if isinstance(obs, Cones):
        # Depths count the present row too.
        depths = f"past={obs.cone.before + 1}, future={obs.cone.after + 1}"
        return f"ds.observe.light_cones(field, {depths})  # and the options above"
    if kind == "image":
        return "ds.observe.image(pixels)  # with the options above"
    if kind == "signal":
        return f"ds.observe.delays(signal, past={obs.past})  # with the options above"
    return "ds.observe.pairs(x, z)"


def _utility(utility: object) -> str:
    if isinstance(utility, Utility) and utility.maker is not None:
        return f"ds.utility.{utility!r}"
    return "...  # U(y, z), as above"


def _options(choice: DecisionalModel) -> str:
    given = {name: choice.get_params(deep=False)[name] for name in ("integrate", "optimise", "delta", "atol")}
    return "".join(f", {name}={value!r}" for name, value in given.items() if value is not None)
