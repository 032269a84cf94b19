"""Causal states as JSON files, and back: what was found, exactly, and as much of the data as new x are compared with.

Nothing in a file is code: models with functions of the user in them are refused.
"""

import os
from collections.abc import Callable
from dataclasses import fields
from typing import Any

import numpy as np

from ..data.json_values import decode, encode
from ..data.observations import Observations
from ..data.saved_observations import (
    NUMBERS,
    observations_json,
    observations_of,
    require,
    steps_json,
    steps_of,
)
from ..machines.packed import machine_json, machine_of
from ..support.arguments import shown
from ..support.arrays import Ints
from ..support.files import read_json, write_json
from ..support.packing import is_whole, pack, sealed, unpack_any
from . import aggregation, matching
from .bandwidths import sampled
from .cone_states import ByCones, Rows
from .distributions import Counts, Distributions
from .evidence import ByEvidence
from .kernels import KernelModel, Kernels
from .labelling import Labeller
from .partition import Partition
from .reconstruct import Reconstruction
from .scales import Scale

Classes = dict[str, Any]
FORMAT, VERSION = "decisional.States", 1
# What a parameter of a model can be besides plain values: objects of these classes, or one of these functions.
CLASSES: Classes = {
    kind.__name__: kind
    for kind in (
        Counts,
        Kernels,
        matching.GTest,
        matching.ChiSquare,
        matching.Bhattacharyya,
        matching.Variational,
        matching.HarmonicMean,
        matching.JensenShannon,
        matching.Exact,
        matching.Evidence,
        aggregation.Aggregate,
        aggregation.Connect,
    )
}
DISTINCT = "distinct"


def write(path: str | os.PathLike[str], model: str, content: dict[str, Any]) -> None:
    """Write a model of a kind, whole or not at all."""
    write_json(path, sealed({"format": FORMAT, "version": VERSION, "model": model, **content}))


def read(path: str | os.PathLike[str], model: str, made: Callable[[dict[str, Any]], Any]) -> Any:
    """What is made of the content of a file; anything that `write` did not write is refused with a sentence."""
    content = read_json(path, FORMAT, VERSION, ("model", "check"))
    if not is_whole(content):
        raise ValueError(f"The file '{path}' is corrupt, its digest differs from what it says: save the model again.")
    if content["model"] != model:
        raise ValueError(
            f"The file '{path}' has {content['model']} states and {model} ones are asked for: load it by "
            f"{'CausalStates' if content['model'] == 'causal' else 'DecisionalStates'}.load(path)."
        )
    try:
        return made(content)
    except Exception as error:  # whatever damaged content makes of the constructors
        reason = error if isinstance(error, ValueError) and str(error).endswith(".") else f"{type(error).__name__}."
        raise ValueError(f"The file '{path}' is corrupt, save the model again: {reason}") from None


def kind_of(path: str | os.PathLike[str]) -> str:
    """Whether a file has causal or decisional states."""
    return str(read_json(path, FORMAT, VERSION, ("model",))["model"])


def parameter_json(value: Any, name: str, of: str, more: Classes | None = None) -> Any:
    """A parameter of a model; one that is code is refused. `more` are further classes by name."""
    if value is aggregation.distinct:
        return {"class": DISTINCT}
    kind = type(value).__name__
    if {**CLASSES, **(more or {})}.get(kind) is type(value):
        # What tells how far the work is belongs to the session.
        given = {part.name: getattr(value, part.name) for part in fields(value) if part.name != "progress"}
        return {"class": kind, "given": {part: parameter_json(v, part, kind) for part, v in given.items()}}
    try:
        return encode(value)
    except TypeError:
        raise TypeError(
            f"The {name!r} of {of} is {shown(value)}, which no file holds; a model that is saved has plain values and "
            "the library's own parts: use one of these, or keep the model in memory."
        ) from None


def parameter_of(content: Any, more: Classes | None = None) -> Any:
    """Undo `parameter_json`."""
    if isinstance(content, dict) and "class" in content:
        if content["class"] == DISTINCT:
            return aggregation.distinct
        given = {name: parameter_of(value) for name, value in content["given"].items()}
        return {**CLASSES, **(more or {})}[content["class"]](**given)
    return decode(content)


def found_json(found: Reconstruction) -> dict[str, Any]:
    """What was found, and of which observations."""
    rows, p = found.densities, found.distributions
    steps, evidence = found.steps, found.evidence
    own = {"row": rows.row, "member": rows.member, "depth": rows.depth, "weight": rows.weight}
    sparse = None if isinstance(p, np.ndarray) else [pack(part) for part in (p.data, p.indices, p.indptr)]
    return {
        "observations": observations_json(found.observations),
        "density": _density(found.density),
        "match": parameter_json(found.match, "match", "the states"),
        "rows": {**{name: pack(array) for name, array in own.items()}, "scale": rows.scale},
        "labels": pack(found.states.labels),
        "weight": None if found.states.weight is None else pack(found.states.weight),
        "row_states": pack(found.row_states),
        "distributions": pack(p) if sparse is None else {"sparse": sparse, "shape": list(p.shape)},
        "machine": None if found.machine is None else machine_json(found.machine),
        "steps": None if steps is None else steps_json(steps),
        "unresolved": encode([list(entry) for entry in found.unresolved]),
        "evidence": None if evidence is None else _evidence(evidence),
    }


def found_of(content: dict[str, Any]) -> Reconstruction:
    """What `found_json` was given; ValueError where the parts do not fit together."""
    obs = observations_of(content["observations"])
    density = _density_of(content["density"], obs)
    labels, row_states = unpack_any(content["labels"]), unpack_any(content["row_states"])
    weight = None if content["weight"] is None else unpack_any(content["weight"])
    # The states are in their final order already.
    states = Partition(labels, weight, labels)
    distributions = _probabilities(content["distributions"])
    samples = density.samples if isinstance(density, KernelModel) else None
    outcomes = obs.outcomes if samples is None else samples
    n, n_x = states.n_states, len(obs.vocabularies[0])
    require(np.array_equal(states.labels, labels) and labels.shape == (n_x,) and n > 0, "labels", labels.shape)
    require(distributions.shape == (n, len(outcomes)), "distributions", distributions.shape)
    rows = _rows(content["rows"], len(outcomes), samples)
    require(row_states.shape == (rows.n_rows,) and rows.row.shape == (n_x,), "row_states", row_states.shape)
    require(_below(row_states, n) and _below(rows.row, rows.n_rows) and _below(rows.member, n_x), "rows", n)
    machine = None if content["machine"] is None else machine_of(content["machine"])
    require(machine is None or machine.n_states == n, "machine", machine)
    steps = None if content["steps"] is None else steps_of(content["steps"], n)
    unresolved = tuple(tuple(entry) for entry in decode(content["unresolved"]))
    evidence = None if content["evidence"] is None else _evidence_of(content["evidence"], obs, density, n)
    found = rows, states, row_states, distributions, outcomes, machine, steps, unresolved
    return Reconstruction(obs, density, parameter_of(content["match"]), *found, evidence)


def _below(numbers: Ints, n: int) -> bool:
    return bool(numbers.size and numbers.min() >= 0 and numbers.max() < n)


def _probabilities(content: dict[str, Any]) -> Any:
    if "sparse" not in content:
        return unpack_any(content)
    from scipy.sparse import csr_array

    return csr_array(tuple(map(unpack_any, content["sparse"])), shape=tuple(content["shape"]))


def _rows(content: dict[str, Any], n_outcomes: int, samples: Any) -> Distributions:
    """The rows, by which other words are found; what followed each of them is told by its state."""
    row, member, depth, weight = (unpack_any(content[name]) for name in ("row", "member", "depth", "weight"))
    require(member.shape == depth.shape == weight.shape and member.ndim == 1, "rows", member.shape)
    none = np.empty(0, np.int64)
    evidence = np.zeros(member.size + 1, np.int64), none, none, n_outcomes
    return Distributions(*evidence, weight, row, member, depth, samples, content["scale"])


def _density(density: Any) -> dict[str, Any]:
    if not isinstance(density, KernelModel):
        return {"how": parameter_json(density, "density", "the states")}
    scales = {"x_scale": density.x_scale, "z_scale": density.z_scale}
    return {
        "how": parameter_json(density.how, "density", "the states"),
        "sigma": pack(np.asarray(density.sigma, float)),
        "z_sigma": pack(np.asarray(density.z_sigma, float)),
        "samples": encode(list(density.samples)),
        "at": None if density.at is None else pack(density.at),
        **{name: None if scale is None else scale.as_json() for name, scale in scales.items()},
    }


def _density_of(content: dict[str, Any], obs: Observations) -> Any:
    how = parameter_of(content["how"])
    if "sigma" not in content:
        require(isinstance(how, Counts), "density", how)
        return how
    require(isinstance(how, Kernels) and obs.points is not None, "density", how)
    sigma, z_sigma = unpack_any(content["sigma"]), unpack_any(content["z_sigma"])
    require(sigma.shape == (obs.past,), "sigma", sigma.shape)
    at = None if content["at"] is None else unpack_any(content["at"], NUMBERS)
    x_scale, z_scale = (
        None if content[name] is None else Scale.from_json(content[name]) for name in ("x_scale", "z_scale")
    )
    z_width = z_sigma if z_sigma.ndim else float(z_sigma)
    return KernelModel(how, obs, sigma, z_width, decode(content["samples"]), at, x_scale, z_scale)


def _evidence(evidence: ByEvidence | ByCones) -> dict[str, Any]:
    if isinstance(evidence, ByCones):
        rows = {name: pack(getattr(evidence.rows, name)) for name in ("of_x", "depth", "member", "apart")}
        own = {"labels": pack(evidence.labels), "row_states": pack(evidence.row_states)}
        return {"cones": {**rows, "blind": evidence.rows.blind}, **own}
    arrays = {name: pack(getattr(evidence, name)) for name in ("labels", "score", "alone")}
    return {"labeller": evidence.labeller.as_json(), **arrays}


def _evidence_of(content: dict[str, Any], obs: Observations, density: Any, n: int) -> ByEvidence | ByCones:
    labels = unpack_any(content["labels"])
    require(_below(labels, n), "evidence", labels.shape)
    if "cones" in content:
        given = content["cones"]
        of_x, depth, member, apart = (unpack_any(given[name]) for name in ("of_x", "depth", "member", "apart"))
        row_states = unpack_any(content["row_states"])
        require(depth.shape == member.shape == row_states.shape and _below(row_states, n), "cones", depth.shape)
        require(labels.shape == of_x.shape == (obs.table().n_x,), "cones", of_x.shape)
        return ByCones(obs, Rows(of_x, depth, member, apart, given["blind"]), labels, row_states)
    labeller = Labeller.from_json(content["labeller"])
    require(labeller.fits(obs.past) and _below(labeller.state, n), "labeller", labeller.state)
    kinds = density.how.z_bandwidth is not None and density.how.z_bandwidth == 0
    sample = sampled(obs, kinds)
    require(labels.shape == (len(sample.x),), "evidence", labels.shape)
    return ByEvidence(density, sample, labeller, labels, unpack_any(content["score"]), unpack_any(content["alone"]))


def names_json(model: Any, names: tuple[str, ...], more: Classes | None = None) -> dict[str, Any]:
    """Parameters of a model by name."""
    return {name: parameter_json(getattr(model, name), name, type(model).__name__, more) for name in names}


def names_of(content: dict[str, Any], more: Classes | None = None) -> dict[str, Any]:
    """Undo `names_json`."""
    return {name: parameter_of(value, more) for name, value in content.items()}
