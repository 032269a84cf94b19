"""Observations as JSON, and back: what a model of states needs of the data that it was made from.

Of words, such as those of symbols and of light cones, these are the counts. Kernels need each observation: where x are
vectors of numbers, all of them are kept.
"""

from typing import Any

from ..support.arguments import shown
from ..support.packing import pack, unpack_any
from . import fields, series
from .coding import Coder, Quantiser
from .cones import LightCone
from .images import image
from .json_values import decode, encode
from .nesting import Dependence, Nesting
from .observations import CountsOnly, Delays, Observations, Tallied, Way
from .pairs import Pairs, pairs
from .signals import delays
from .tally import Spelling, Steps, Tally, listed, scalars, tuples
from .vocabularies import Vectors, Vocabulary, Words

# By the names that files have for them; the outcomes of codes are spelled by their coder.
SPELLINGS: dict[str, Spelling] = {
    "letters": listed,
    "numbers": scalars,
    "vectors": tuples,
    "windows": series.spelled,
    "cones": fields.spelled,
}
KINDS = ("series", "field", "image", "signal", "pairs")
NUMBERS = "biuf"
FUNCTIONS: dict[str, Any] = {
    "series": series.series,
    "light_cones": fields.light_cones,
    "image": image,
    "delays": delays,
    "pairs": pairs,
}


def observe_again(way: Way, data: Any) -> Observations:
    """Other data observed in a way that is known."""
    found: Observations = FUNCTIONS[way.function](data, **way.given)
    return found


def observations_json(obs: Observations) -> dict[str, Any]:
    """Observations, as far as a model needs them."""
    made = None if obs.delays is None else [list(obs.delays[0]), list(obs.delays[1]), *obs.delays[2:]]
    about = {"kind": obs.kind, "shape": list(obs.shape), "known": obs.known, "delays": made}
    about["way"] = None if obs.way is None else [obs.way.function, encode_given(obs.way.given)]
    tally = obs.tally()
    each = _each(obs) if isinstance(tally.x, Vectors) else None
    if each is not None:
        values = {"x": _vocabulary(tally.x), "z": _vocabulary(tally.z), "spelled": _name(tally)}
        return {**about, **values, "each": {name: _packed(array) for name, array in each.items()}}
    return {**about, "counts": _tally(tally)}


def encode_given(given: dict[str, Any]) -> dict[str, Any]:
    """Parameters by name."""
    return {name: encode(value) for name, value in given.items()}


def decode_given(content: dict[str, Any]) -> dict[str, Any]:
    """Undo `encode_given`."""
    return {name: decode(value) for name, value in content.items()}


def observations_of(content: dict[str, Any]) -> Observations:
    """What `observations_json` was given; ValueError where the parts do not fit together."""
    require(content["kind"] in KINDS, "kind", content["kind"])
    shape = tuple(content["shape"])
    found: Observations
    if "each" in content:
        found = _pairs(content, shape)
    else:
        found = Tallied(_tally_of(content["counts"]), whole=True)
        require(found.kind == content["kind"], "kind", content["kind"])
        found.shape = shape
    found.known = content["known"]
    if content["delays"] is not None:
        lags, ahead, *rest = content["delays"]
        found.delays = Delays(tuple(lags), tuple(ahead), *rest)
    if content["way"] is not None:
        function, given = content["way"]
        require(function in FUNCTIONS, "way", function)
        found.way = Way(function, decode_given(given))
    return found


def require(holds: Any, name: str, value: Any) -> None:
    """Refuse a part of a file that no model has."""
    if not holds:
        raise ValueError(f"its {name!r} is {shown(value)}, which no model has.")


def _each(obs: Observations) -> dict[str, Any] | None:
    """x, z, site and successor of each observation; None where only counts are known."""
    try:
        found: dict[str, Any] = {"x": obs.x, "z": obs.z, "site": obs.site}
    except CountsOnly:
        return None
    try:
        found["successor"] = obs.successor
    except CountsOnly:
        found["successor"] = None
    return found


def _pairs(content: dict[str, Any], shape: tuple[int, ...]) -> Pairs:
    x, z = _vocabulary_of(content["x"]), _vocabulary_of(content["z"])
    each = {name: _unpacked(array) for name, array in content["each"].items()}
    n = len(each["x"])
    for name, below in (("x", len(x)), ("z", len(z)), ("site", None), ("successor", n)):
        numbers = each[name]
        if numbers is not None:
            require(numbers.shape == (n,) and numbers.dtype.kind == "i" and n > 0, name, numbers.shape)
            least = -1 if name == "successor" else 0
            require(numbers.min() >= least and (below is None or numbers.max() < below), name, "beyond its limits")
    spell = SPELLINGS[content["spelled"]]
    numbers = each["x"], each["z"], each["site"]
    return Pairs(content["kind"], x, z, spell, *numbers, shape, None, None, each["successor"])


def _name(tally: Tally) -> str:
    """What a file calls the way in which outcomes are spelled."""
    if tally.coder is not None:
        return "codes"
    return next(name for name, spell in SPELLINGS.items() if spell is tally.spell)


def _packed(array: Any) -> Any:
    return None if array is None else pack(array)


def _unpacked(content: Any) -> Any:
    return None if content is None else unpack_any(content, NUMBERS)


def _vocabulary(values: Vocabulary) -> dict[str, Any]:
    if isinstance(values, Vectors):
        return {"rows": pack(values.rows)}
    return {"letters": encode(list(values.letters)), "width": values.width, "keys": pack(values.keys)}


def _vocabulary_of(content: dict[str, Any]) -> Vocabulary:
    if "rows" in content:
        rows = unpack_any(content["rows"], NUMBERS)
        require(rows.ndim == 2 and rows.shape[1] > 0, "rows", rows.shape)
        return Vectors(rows)
    return _words(content)


def _words(content: dict[str, Any]) -> Words:
    found = Words(tuple(decode(content["letters"])), content["width"], unpack_any(content["keys"]))
    require(found.keys.ndim == 2 and found.keys.dtype.kind == "i", "keys", found.keys.shape)
    require(len(set(found.letters)) == len(found.letters) and type(found.width) is int, "letters", found.letters)
    return found


def _tally(tally: Tally) -> dict[str, Any]:
    """All counts."""
    steps, dependence = tally.steps, tally.dependence
    return {
        "kind": tally.kind,
        "made": encode(tally.made),
        "x": _vocabulary(tally.x),
        "z": _vocabulary(tally.z),
        "pairs": pack(tally.pairs),
        "counts": pack(tally.counts),
        "spelled": _name(tally),
        "symbols": None if tally.symbols is None else _vocabulary(tally.symbols),
        "steps": None if steps is None else steps_json(steps),
        "slices": tally.slices,
        "patterns": pack(tally.patterns),
        "dependence": None if dependence is None else _dependence(dependence),
        "coder": None if tally.coder is None else _coder(tally.coder),
    }


def _tally_of(content: dict[str, Any]) -> Tally:
    coder = None if content["coder"] is None else _coder_of(content["coder"])
    x, z = _vocabulary_of(content["x"]), _vocabulary_of(content["z"])
    pairs, counts = unpack_any(content["pairs"]), unpack_any(content["counts"])
    require(pairs.shape == counts.shape and pairs.ndim == 1 and pairs.size > 0, "pairs", pairs.shape)
    require(pairs.min() >= 0 and pairs.max() < len(x) * len(z), "pairs", "beyond its limits")
    return Tally(
        content["kind"],
        decode(content["made"]),
        x,
        z,
        pairs,
        counts,
        SPELLINGS[content["spelled"]] if coder is None else coder.spelled,
        None if content["symbols"] is None else _words(content["symbols"]),
        None if content["steps"] is None else steps_of(content["steps"], len(x)),
        content["slices"],
        unpack_any(content["patterns"]),
        None if content["dependence"] is None else _dependence_of(content["dependence"]),
        coder,
    )


def steps_json(steps: Steps) -> list[Any]:
    """Counted transitions."""
    return [pack(part) for part in (steps.source, steps.symbol, steps.target, steps.count)]


def steps_of(content: list[Any], n: int) -> Steps:
    """Undo `steps_json`, for transitions between n rows."""
    source, symbol, target, count = map(unpack_any, content)
    require(source.shape == symbol.shape == target.shape == count.shape, "steps", source.shape)
    for ends in (source, target):
        require(not ends.size or (ends.min() >= 0 and ends.max() < n), "steps", "beyond their limits")
    return Steps(source, symbol, target, count)


def _dependence(dependence: Dependence) -> dict[str, Any]:
    past, future, centre, cells = dependence.nesting
    return {
        "nesting": [list(past), list(future), centre, cells],
        "apart": [pack(part) for part in dependence.apart],
        "n_regions": dependence.n_regions,
        "regional": [pack(part) for part in dependence.regional],
    }


def _dependence_of(content: dict[str, Any]) -> Dependence:
    past, future, centre, cells = content["nesting"]
    where, count = map(unpack_any, content["regional"])
    apart = tuple(map(unpack_any, content["apart"]))
    require(len(apart) == len(past) and where.shape == count.shape, "dependence", len(apart))
    return Dependence(Nesting(tuple(past), tuple(future), centre, cells), apart, content["n_regions"], (where, count))


def _coder(coder: Coder) -> dict[str, Any]:
    cone = coder.cone
    cells = {name: pack(getattr(cone, name)) for name in ("past", "future", "new")}
    about = {name: getattr(cone, name) for name in ("before", "after", "boundary", "transitions", "axes")}
    quantisers = {name: _quantiser(getattr(coder, name)) for name in ("x", "z", "centre")}
    made = {"variables": coder.variables, "values": pack(coder.values)}
    return {"cone": {**cells, **about, "reach": list(cone.reach)}, **made, **quantisers}


def _quantiser(quantiser: Quantiser) -> dict[str, Any]:
    return {name: pack(array) for name, array in vars(quantiser).items()}


def _coder_of(content: dict[str, Any]) -> Coder:
    given = content["cone"]
    cells: dict[str, Any] = {name: unpack_any(given[name]) for name in ("past", "future", "new")}
    about = {name: given[name] for name in ("before", "after", "boundary", "transitions", "axes")}
    cone = LightCone(**cells, **about, reach=tuple(given["reach"]))
    require(cone.past.shape[1:] == cone.future.shape[1:] == (4,), "cone", cone.past.shape)
    x, z, centre = [
        Quantiser(**{name: unpack_any(array) for name, array in content[part].items()}) for part in ("x", "z", "centre")
    ]
    values = unpack_any(content["values"])
    require(values.shape == (len(z.centres), len(centre.centres), content["variables"]), "values", values.shape)
    return Coder(cone, content["variables"], x, z, centre, values)
