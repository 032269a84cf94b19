"""A monitor that adapts as JSON, and back: nothing is lost at a restart."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..decisions.closed_forms import matching_cells, squared_error, tolerant, zero_one
from ..decisions.events import Change
from ..decisions.utilities import table
from ..decisions.utility_formats import decode, encode
from ..machines import EpsilonMachine
from .learning import Drift, Recent
from .options import Adapt

__all__ = ["from_json", "to_json"]

_NOW = ("start", "needed", "due", "had", "refit", "origin")
_TEST = ("counts", "frozen", "belief", "tables", "contexts", "weights", "levels", "marks")


def to_json(drift: Drift) -> dict[str, Any]:
    """All of it as JSON; the utility is None if it has no such form."""
    recent = drift.recent
    kept = {
        "letters": encode(recent.letters),
        "codes": _pack(recent.codes),
        "end": recent.end,
        "n_known": recent.n_known,
    }
    return {
        "adapt": asdict(drift.adapt),
        "template": _template_json(drift.template),
        "change": None if drift.change is None else list(drift.change),
        "recent": kept,
        "test": {name: _pack(getattr(drift.test, name)) for name in _TEST},
        **{name: getattr(drift, name) for name in _NOW},
    }


def from_json(
    content: dict[str, Any], template: dict[str, Any] | None, machine: EpsilonMachine, stay: tuple[bool, bool]
) -> Drift:
    """Undo `to_json`; a template, if given, goes before the one of the file."""
    known = template if template is not None else _template(content["template"])
    drift = Drift(Adapt(**content["adapt"]), known, machine, stay)
    for name in _NOW:
        setattr(drift, name, content[name])
    drift.change = None if content["change"] is None else Change(*content["change"])
    kept = content["recent"]
    recent = Recent(drift.adapt.memory, decode(kept["letters"]))
    recent.end, recent.n_known = int(kept["end"]), int(kept["n_known"])
    recent.codes = _unpack(kept["codes"], recent.codes)
    drift.recent = recent
    for name in _TEST:
        setattr(drift.test, name, _unpack(content["test"][name], getattr(drift.test, name)))
    return drift


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


def _template_json(template: dict[str, Any]) -> Any:
    """Parameters of DecisionalStates as JSON, or None where a utility or a method is only code."""
    worth = template["utility"]
    kind = type(worth).__name__.strip("_")
    if kind not in _UTILITIES or any(template[name] is not None for name in ("integrate", "optimise")):
        return None
    given = {name: encode(value) for name, value in vars(worth).items()}
    return {"kind": kind, "given": given, "delta": template["delta"], "atol": template["atol"]}


def _template(content: Any) -> dict[str, Any]:
    if content is None:
        raise ValueError("its utility is a function, which no file holds: give load the 'decision' with that utility.")
    given = {name: decode(value) for name, value in content["given"].items()}
    worth = _UTILITIES[content["kind"]](**given)
    return {"utility": worth, "integrate": None, "optimise": None, **{k: content[k] for k in ("delta", "atol")}}


_UTILITIES: dict[str, Callable[..., Any]] = {
    "ZeroOne": zero_one,
    "SquaredError": squared_error,
    "MatchingCells": matching_cells,
    "Tolerant": lambda tolerance, y: tolerant(tolerance, y),
    "Table": lambda values, y, z: table(values, y, z),
}
