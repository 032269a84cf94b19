"""Machines as a part of other files, with whatever symbols they have."""

from typing import Any

from ..data.json_values import decode, encode
from ..support.packing import pack, unpack_any
from .belief_machine import BeliefMachine
from .epsilon_machine import EpsilonMachine
from .levels import Levels

ARRAYS = ("targets", "emission", "weights", "counts")


def machine_json(machine: EpsilonMachine) -> dict[str, Any]:
    """All of a machine, exactly."""
    arrays = {name: getattr(machine, name) for name in ARRAYS}
    return {
        **{name: None if array is None else pack(array) for name, array in arrays.items()},
        "alphabet": encode(list(machine.alphabet)),
        "names": encode(list(machine.names)),
        "levels": None if machine.levels is None else machine.levels.as_json(),
        "smoothed": machine.smoothed,
        "start": machine.start,
    }


def machine_of(content: dict[str, Any]) -> EpsilonMachine:
    """What `machine_json` was given; ValueError where it is no machine."""
    arrays = {name: None if content[name] is None else unpack_any(content[name]) for name in ARRAYS}
    names = {name: decode(content[name]) for name in ("alphabet", "names")}
    machine = EpsilonMachine.from_arrays(**arrays, **names, start=content["start"])  # type: ignore[arg-type]
    vars(machine)["smoothed"] = bool(content["smoothed"])
    if content["levels"] is not None:
        vars(machine)["levels"] = Levels.from_json(content["levels"], len(machine.alphabet))
    return machine


def hidden_json(machine: BeliefMachine) -> dict[str, Any]:
    """All of a machine of hidden states, exactly."""
    return {
        "steps": pack(machine.steps),
        "alphabet": encode(list(machine.alphabet)),
        "names": encode(list(machine.names)),
        "start": None if machine.start is None else pack(machine.start),
    }


def hidden_of(content: dict[str, Any]) -> BeliefMachine:
    """What `hidden_json` was given; ValueError where it is no machine."""
    start = None if content["start"] is None else unpack_any(content["start"])
    names = decode(content["alphabet"]), decode(content["names"])
    return BeliefMachine(unpack_any(content["steps"]), *names, start)
