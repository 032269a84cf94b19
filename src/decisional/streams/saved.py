"""Monitors as JSON files, and back: nothing is lost at a restart."""

import base64
import os
import zlib
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..decisions.as_json import decode, decode_utility, encode, encode_utility
from ..decisions.events import Change
from ..machines import EpsilonMachine
from ..support.files import read_json, write_json
from .follower import MACHINE, OPTIONS, Follower, Plan
from .learner import Adapt, Learner, Recent

FORMAT = "decisional.Monitor"
_NOW = ("belief", "position", "state", "last")
_LEARNER = ("start", "needed", "due", "had", "refit")
_TEST = ("counts", "frozen", "belief", "tables", "contexts", "weights", "levels", "marks")


def write(follower: Follower, learner: Learner | None, path: str | os.PathLike[str]) -> None:
    """Write the parts of a monitor as they stand."""
    follower.settle()
    content = {"format": FORMAT, "version": 1 if learner is None else 2, **follower.model()}
    content |= {name: encode(getattr(follower, name)) for name in _NOW}
    if learner is not None:
        content["drift"] = _learner_json(learner)
    write_json(path, content)


def read(path: str | os.PathLike[str], template: dict[str, Any] | None) -> tuple[Follower, Learner | None]:
    """The parts of a monitor from a file; anything that `write` did not write is refused with a sentence."""
    content = read_json(path, FORMAT, 2, ("machine", *OPTIONS, *Plan._fields, *_NOW))
    try:
        follower = _follower(content)
        return follower, _learner(content["drift"], follower, template) if "drift" in content else None
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"The file '{path}' is corrupt, save the monitor again: {error}") from None


def _follower(content: dict[str, Any]) -> Follower:
    machine = EpsilonMachine.from_arrays(*(decode(content["machine"][name]) for name in MACHINE))
    labels, predictions, utility, home = (decode(content[name]) for name in Plan._fields)
    plan = Plan(np.array(labels, np.int64), predictions, np.array(utility, float), np.array(home, float))
    follower, n = Follower(machine, plan, *(decode(content[name]) for name in OPTIONS)), machine.n_states
    follower.belief = np.array(content["belief"], np.float64)
    follower.position, follower.state, follower.last = (int(content[name]) for name in _NOW[1:])
    sizes = {*map(len, (*plan, follower.belief))}
    sums, places = (plan.home.sum(), follower.belief.sum()), {follower.state, follower.last}
    if sizes != {n} or not np.allclose(sums, 1.0) or not places <= {*range(-1, n)}:
        raise ValueError(f"its tables do not fit a machine of {n} states.")
    return follower


def _learner_json(learner: Learner) -> dict[str, Any]:
    recent, how = learner.recent, learner.template
    # There is none where a utility or a method is only code.
    template = encode_utility(how["utility"])
    if template is not None:
        code = any(how.get(name) is not None for name in ("integrate", "optimise"))
        template = None if code else {**template, "delta": how["delta"], "atol": how["atol"]}
    kept = {"letters": encode(recent.letters), "codes": _pack(recent.codes)}
    return {
        "adapt": asdict(learner.adapt),
        "template": template,
        "change": None if learner.change is None else list(learner.change),
        "recent": {**kept, "end": recent.end, "n_known": recent.n_known},
        "test": {name: _pack(getattr(learner.test, name)) for name in _TEST},
        **{name: getattr(learner, name) for name in _LEARNER},
        "origin": learner.origin,
    }


def _learner(content: dict[str, Any], follower: Follower, template: dict[str, Any] | None) -> Learner:
    if template is None:
        how = content["template"]
        if how is None:
            raise ValueError(
                "its utility is a function, which no file holds: give load the 'decision' with that utility."
            )
        template = {"utility": decode_utility(how), "delta": how["delta"], "atol": how["atol"]}
    learner = Learner(Adapt(**content["adapt"]), template, follower)
    learner.origin = content["origin"]
    for name in _LEARNER:
        setattr(learner, name, content[name])
    learner.change = None if content["change"] is None else Change(*content["change"])
    kept = content["recent"]
    learner.recent = recent = Recent(learner.adapt.memory, decode(kept["letters"]))
    recent.end, recent.n_known = int(kept["end"]), int(kept["n_known"])
    recent.codes = _unpack(kept["codes"], recent.codes)
    for name in _TEST:
        setattr(learner.test, name, _unpack(content["test"][name], getattr(learner.test, name)))
    return learner


def _pack(array: NDArray[Any]) -> dict[str, Any]:
    """An array as JSON, exactly: tables of numbers as text would be long."""
    data = base64.b64encode(zlib.compress(np.ascontiguousarray(array).tobytes(), 1)).decode("ascii")
    return {"type": array.dtype.str, "shape": list(array.shape), "data": data}


def _unpack(content: dict[str, Any], like: NDArray[Any]) -> NDArray[Any]:
    """Undo `_pack`; an array that is not like the one whose place it takes is refused."""
    if (content["type"], content["shape"]) != (like.dtype.str, list(like.shape)):
        raise ValueError(f"an array has shape {content['shape']} in place of {list(like.shape)}.")
    data = zlib.decompress(base64.b64decode(content["data"]))
    return np.frombuffer(data, like.dtype).reshape(like.shape).copy()
