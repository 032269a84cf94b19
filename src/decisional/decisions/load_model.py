"""Whatever model is in a file."""

import os

from ..machines import EpsilonMachine
from ..states import saved_states
from ..states.causal_model import CausalModel
from ..support.files import file_name, saved_format
from .decisional_model import DecisionalModel


def load_model(path: str | os.PathLike[str]) -> CausalModel | DecisionalModel | EpsilonMachine:
    """The causal states, decisional states or machine that a file has; anything else is refused with a ValueError."""
    kind = saved_format(path)
    if kind == saved_states.FORMAT:
        decided = saved_states.kind_of(path) == "decisional"
        return DecisionalModel.load(path) if decided else CausalModel.load(path)
    if kind == "decisional.EpsilonMachine":
        return EpsilonMachine.load(path)
    what = "no model of the library" if kind is None else f"the format {kind!r}"
    raise ValueError(
        f"The {file_name(path)} has {what}; it must be states, by save() or --model, or a machine, by --json: check "
        "the path."
    )
