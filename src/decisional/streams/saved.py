"""Monitors as JSON files, and back: nothing is lost at a restart."""

import os
from dataclasses import asdict
from typing import Any

import numpy as np

from ..decisions.as_json import decode, decode_utility, encode, encode_utility
from ..decisions.events import Change
from ..decisions.predictions import CellSet, Interval
from ..machines import EpsilonMachine
from ..machines.levels import Levels
from ..support.arguments import choice as one_of
from ..support.arguments import is_number, shown
from ..support.files import read_json, write_json
from ..support.packing import is_whole, pack, sealed, unpack
from .belief_follower import BeliefFollower, cells_of
from .follower import MACHINE, OPTIONS, Follower, Plan
from .learner import Adapt, Learner, Recent
from .signal_followers import ValueFollower, WindowFollower, Windows, follower_of
from .signal_learner import RecentValues, SignalLearner

FORMAT = "decisional.Monitor"
# Symbols or values that a character of a file can stand for at most: deflate packs about a thousand bytes into one.
RATIO = 400
# What the best predictions of a state can be: one of several, or of a continuum.
SETS = (frozenset, tuple, CellSet, Interval)
_NOW = ("belief", "position", "state", "last")
_LEARNER = ("start", "needed", "due", "had", "refit")

# What a test of values kept before it looked back further than one of them: such a test begins anew.
EARLIER = {"steady", "recent", "weights", "quick", "levels", "marks"}


def write(
    follower: Follower, learner: Learner | None, path: str | os.PathLike[str], source: dict[str, Any] | None = None
) -> None:
    """Write the parts of a monitor as they stand, and what is told of its source."""
    follower.settle()
    content = {"format": FORMAT, "version": 3, **follower.model()}
    content |= {name: encode(getattr(follower, name)) for name in _NOW}
    if isinstance(follower, WindowFollower):
        content["tail"] = pack(follower.tail)
    if isinstance(follower, BeliefFollower):
        content["worth"] = encode(follower.worth)
    if learner is not None:
        content["drift"] = _learner_json(learner)
    if source is not None:
        content["source"] = source
    write_json(path, sealed(content))


def read(
    path: str | os.PathLike[str], template: dict[str, Any] | None
) -> tuple[Follower, Learner | None, dict[str, Any] | None]:
    """The parts of a monitor from a file; anything that `write` did not write is refused with a sentence."""
    content = read_json(path, FORMAT, 3, (*OPTIONS, *Plan._fields, *_NOW))
    # Files of the first two versions have no digest: what they say is all that can be looked at.
    if content["version"] > 2 and not is_whole(content):
        raise ValueError(f"The file '{path}' is corrupt, its digest differs from what it says: save the monitor again.")
    try:
        follower, source = _follower(content), content.get("source")
        _require(source is None or isinstance(source, dict), "source", source)
        return follower, _learner(content["drift"], follower, template) if "drift" in content else None, source
    except Exception as error:  # whatever damaged content makes of the constructors
        reason = error if isinstance(error, ValueError) and str(error).endswith(".") else f"{type(error).__name__}."
        raise ValueError(f"The file '{path}' is corrupt, save the monitor again: {reason}") from None


def _machine(content: dict[str, Any]) -> Any:
    """What is followed."""
    if "windows" in content:
        return Windows.from_json(content["windows"], decode(content["windows"]["outcomes"]))
    if "beliefs" in content:
        return cells_of(content["beliefs"])
    arrays = {name: decode(content["machine"][name]) for name in MACHINE}
    machine = EpsilonMachine.from_arrays(**arrays, start=content["machine"].get("start"))
    if "levels" in content["machine"]:
        vars(machine)["levels"] = Levels.from_json(content["machine"]["levels"], len(machine.alphabet))
    return machine


def _follower(content: dict[str, Any]) -> Follower:
    machine = _machine(content)
    labels, predictions, utility, home = (decode(content[name]) for name in Plan._fields)
    n = machine.n_states
    _whole(labels, "labels", 0, max(n, 2))
    plan = Plan(np.array(labels, np.int64), predictions, np.array(utility, float), np.array(home, float))
    options = {name: decode(content[name]) for name in OPTIONS}
    one_of(options["by"], "by", ("decision", "prediction", "utility"))
    _require(options["level"] is None or is_number(options["level"]), "level", options["level"])
    follower = follower_of(machine, plan, *(options[name] for name in OPTIONS))
    follower.belief = np.array(content["belief"], np.float64)
    if isinstance(follower, WindowFollower):
        follower.tail = unpack(content["tail"], follower.tail)
    if isinstance(follower, BeliefFollower):
        follower.worth = decode(content["worth"])
    now = content["position"], content["state"], content["last"]
    _whole(now[:1], "position", 0)
    _whole(now[1:], "state and last", -1, n)
    follower.position, follower.state, follower.last = now
    hidden = follower.machine.n_states
    beliefs = ("home", plan.home), ("belief", follower.belief)
    for name, values in (("utility", plan.utility), *beliefs):
        size = n if name == "utility" else hidden
        _require(values.shape == (size,) and bool(np.isfinite(values).all()), name, values.tolist())
    for name, values in beliefs:
        _require(bool((values >= 0).all() and np.isclose(values.sum(), 1.0)), name, values.tolist())
    # A new machine, and one of whole strings, is known to be in a state before its first decision is told.
    new = ("drift" in content or follower.state == getattr(machine, "start", None)) and follower.last < 0
    sure = isinstance(follower, WindowFollower) or new or follower.state in (-1, follower.last)
    _require(len(labels) == n and sure, "state", now)
    _require(follower.last < 0 or follower.position > 0, "position", now)
    _require(len(predictions) == n and all(isinstance(y, SETS) for y in predictions), "predictions", predictions)
    return follower


def _require(holds: bool, name: str, value: Any) -> None:
    if not holds:
        raise ValueError(f"its {name!r} is {shown(value)}, which no monitor has.")


def _whole(values: Any, name: str, least: int, below: int = 1 << 62) -> None:
    """Refuse what is no integer, or not within its limits."""
    _require(all(type(value) is int and least <= value < below for value in values), name, values)


def _learner_json(learner: Learner) -> dict[str, Any]:
    recent, how = learner.recent, learner.template
    # There is none where a utility or a method is only code.
    template = encode_utility(how["utility"])
    if template is not None:
        code = any(how.get(name) is not None for name in ("integrate", "optimise"))
        template = None if code else {**template, **{name: how[name] for name in ("delta", "atol")}}
        if template is not None and how["indifference"]:
            template["indifference"] = how["indifference"]
    if isinstance(recent, RecentValues):
        kept = {"values": pack(recent.values), "end": recent.end}
    else:
        kept = {"letters": encode(recent.letters), "codes": pack(recent.codes)}
        kept |= {"end": recent.end, "n_known": recent.n_known}
    return {
        "adapt": asdict(learner.adapt),
        "template": template,
        "change": None if learner.change is None else list(learner.change),
        "recent": kept,
        "test": {name: pack(getattr(learner.test, name)) for name in learner.test.STATE},
        **{name: getattr(learner, name) for name in _LEARNER},
        "origin": learner.origin,
    }


def _recent(kept: dict[str, Any], size: int) -> Recent:
    recent = Recent(size, decode(kept["letters"]))
    _whole([kept["n_known"]], "n_known", 0, len(recent.letters) + 1)
    recent.end, recent.n_known = kept["end"], kept["n_known"]
    recent.codes = unpack(kept["codes"], recent.codes)
    _require(bool(((recent.codes >= -1) & (recent.codes < len(recent.letters))).all()), "codes", "outside the letters")
    return recent


def _learner(content: dict[str, Any], follower: Follower, template: dict[str, Any] | None) -> Learner:
    if template is None:
        how = content["template"]
        if how is None:
            raise ValueError(
                "its utility is a function, which no file holds: give load the 'decision' with that utility."
            )
        for name in ("delta", "atol"):
            _require(how[name] is None or (is_number(how[name]) and how[name] >= 0), name, how[name])
        template = {"utility": decode_utility(how), "delta": how["delta"], "atol": how["atol"]}
        template["indifference"] = how.get("indifference", 0.0)
    adapt, kept = Adapt(**content["adapt"]), content["recent"]
    # Before the memory is taken that a damaged number asks for.
    values = isinstance(follower, ValueFollower)
    _require(adapt.memory <= RATIO * len(kept["values" if values else "codes"]["data"]), "adapt", content["adapt"])
    learner = (SignalLearner if values else Learner)(adapt, template, follower)
    learner.origin = content["origin"]
    _require(learner.origin is None or isinstance(learner.origin, dict), "origin", learner.origin)
    _whole([content[name] for name in _LEARNER[:-1]], "start, needed, due and had", 0)
    _whole([content["refit"]], "refit", -1)
    for name in _LEARNER:
        setattr(learner, name, content[name])
    if content["change"] is not None:
        learner.change = Change(*content["change"])
        _whole(learner.change[:2], "change", 0)
        _require(is_number(learner.change.bits), "change", learner.change)
    _whole([kept["end"]], "end", 0)
    if isinstance(learner, SignalLearner):
        learner.recent.end = kept["end"]
        learner.recent.values = unpack(kept["values"], learner.recent.values)
        _require(not np.isinf(learner.recent.values).any(), "values", "not finite")
    else:
        learner.recent = _recent(kept, adapt.memory)
    if content["test"].keys() != EARLIER:
        for name in learner.test.STATE:
            setattr(learner.test, name, unpack(content["test"][name], getattr(learner.test, name)))
    _require(learner.test.is_possible(), "test", "a state of the drift test")
    return learner
