"""Answers to seeded inputs of every kind, to compare one version of the library with another.

`python tests/reference.py --write PATH` writes them to a file; `test_reference.py` compares.
"""

import contextlib
import gzip
import hashlib
import io
import json
import math
import os
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import decisional as ds

PATH = Path(__file__).parent / "answers" / "reference.json.gz"
# Arrays and lists with more values than this are kept as a digest and their first values.
WHOLE, FIRST = 60, 20
# What told the states of kernel densities apart by default when the answers were written.
DISTANCE = ds.Bhattacharyya(0.05)
# Names of results that a search found, and how far they may differ.
LOOSE, LOOSE_TOLERANCE = "~", 1e-5

Answer = dict[str, Any]
CASES: dict[str, Callable[[], Answer]] = {}


def case(function: Callable[[], Answer]) -> Callable[[], Answer]:
    """Register an input by the name of its function."""
    CASES[function.__name__] = function
    return function


def cases() -> Iterator[tuple[str, Callable[[], Answer]]]:
    """All names, each with a function that gives the answers in plain values."""
    for name, function in CASES.items():
        yield name, lambda function=function: plain(function())


# Answers in plain values


def plain(value: Any) -> Any:
    """A value as JSON: arrays by their kind, sets sorted, other objects as text."""
    if isinstance(value, dict):
        return {str(name): plain(item) for name, item in value.items()}
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, str):
        return value if len(value) < 2_000 else {"text": _digest(value.encode()), "first": value[:200]}
    if isinstance(value, np.ndarray):
        return _array(value)
    if isinstance(value, (frozenset, set)):
        return {"set": sorted(repr(_item(item)) for item in value)}
    if hasattr(value, "low") and hasattr(value, "high"):
        return {"low": float(value.low), "high": float(value.high)}
    if isinstance(value, (list, tuple)):
        return _sequence([_item(item) for item in value])
    return repr(value)


def _item(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _array(array: Any) -> Any:
    """Integers as a digest of their little-endian 64 bits, floats as sums, where there are many."""
    if np.ma.isMaskedArray(array):
        return {"data": _array(np.ma.getdata(array)), "mask": _array(np.ma.getmaskarray(array))}
    if array.dtype.kind in "biu":
        flat = np.ascontiguousarray(array, "<i8").ravel()
        if flat.size <= WHOLE:
            return {"ints": flat.tolist(), "shape": list(array.shape)}
        return {"sha256": _digest(flat.tobytes()), "first": flat[:FIRST].tolist(), "shape": list(array.shape)}
    if array.dtype.kind == "f":
        flat = np.asarray(array, float).ravel()
        if flat.size <= WHOLE:
            return {"floats": flat.tolist(), "shape": list(array.shape)}
        known = np.where(np.isfinite(flat), flat, 0.0)
        wave = np.cos(np.arange(flat.size) % 1_009)
        sums = [math.fsum(known), math.fsum(known**2), math.fsum(known * wave)]
        unknown = int(np.count_nonzero(~np.isfinite(flat)))
        return {"sums": sums, "unknown": unknown, "first": flat[:FIRST].tolist(), "shape": list(array.shape)}
    return _sequence(array.ravel().tolist())


def _sequence(values: list[Any]) -> Any:
    """Numbers like arrays, rows of floats too; short lists item by item, long ones as a digest of their text."""
    kinds = {type(value) for value in values}
    if values and kinds <= {int, float} and (float in kinds or all(abs(v) < 1 << 62 for v in values)):
        return _array(np.array(values))
    if values and kinds == {tuple} and {type(v) for row in values for v in row} == {float}:
        return _array(np.array(values))
    if len(values) <= WHOLE:
        return [value if isinstance(value, str) else plain(value) for value in values]
    text = [repr(value) for value in values]
    return {"items": _digest("\n".join(text).encode()), "first": text[:FIRST], "shape": [len(values)]}


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def named(values: Any) -> Any:
    """Letters, outcomes or names, with their types: text of each, or the numbers where they are floats."""
    values = [_item(value) for value in values]
    if values and {type(value) for value in values} == {float}:
        return _array(np.array(values))
    if values and isinstance(values[0], tuple) and {type(v) for row in values for v in row} == {float}:
        return _array(np.array(values))
    return _sequence([repr(value) for value in values])


def observed(obs: Any) -> Answer:
    """What is public of observations."""
    table = obs.table()
    found: Answer = {
        "n": obs.n,
        "past": obs.past,
        "letters": named(obs.letters) if getattr(obs, "letters", None) is not None else None,
        "outcomes": named(obs.outcomes),
        "alphabet": None if obs.alphabet is None else named(obs.alphabet),
        "shape": list(map(int, obs.shape)),
        "weight": table.weight,
        "start": table.start,
        "outcome": table.outcome,
        "count": table.count,
        "n_outcomes": table.n_outcomes,
        "steps": None,
    }
    if table.steps is not None:
        found["steps"] = {name: getattr(table.steps, name) for name in ("source", "symbol", "target", "count")}
    for name in ("x", "z", "symbol", "successor", "site"):
        try:
            found[name] = getattr(obs, name)
        except ValueError as error:
            found[name] = type(error).__name__
    if getattr(obs, "points", None) is None:
        found["words"] = obs.words(np.arange(min(table.n_x, 50)))
    return found


def machine(found: Any) -> Answer | None:
    """Arrays and measures of a machine."""
    if found is None:
        return None
    return {
        "targets": found.targets,
        "emission": found.emission,
        "alphabet": named(found.alphabet),
        "names": named(found.names),
        "weights": found.weights,
        "recurrent": found.recurrent,
        "stationary": found.stationary,
        "C": found.statistical_complexity(),
        "h": found.entropy_rate(),
    }


def graph(found: Any) -> Answer | None:
    if found is None:
        return None
    return {"matrix": found.matrix.toarray(), "weight": found.weight, "names": named(found.names)}


def causal(found: Any, observations: bool = True) -> Answer:
    """What is public of causal states."""
    answer = {
        "n_states": found.n_states_,
        "states": found.states_.labels,
        "probability": found.states_.probability,
        "labels": found.labels_,
        "distributions": _dense(found.distributions_),
        "outcomes": named(found.outcomes_),
        "machine": machine(found.machine_),
        "graph": graph(found.graph_),
        "C": found.complexity_,
        "recurrent C": found.recurrent_complexity_,
        "converged": found.converged_,
        "unresolved": repr([(s, a) for s, a, _ in found.unresolved_]),
        "shares": np.array([share for _, _, share in found.unresolved_], float),
        "local C": found.local_complexity_,
    }
    if observations:
        answer["observations"] = observed(found.observations_)
    return answer


def _dense(values: Any) -> Any:
    return values.toarray() if hasattr(values, "toarray") else values


def fit(obs: Any, **options: Any) -> Answer:
    return causal(ds.CausalStates(**options).fit(obs))


def counted(obs: Any, **options: Any) -> Answer:
    """Causal states where observations are read in slices: labels and counts alone."""
    found = ds.CausalStates(**options).fit(obs)
    answer = causal(found)
    kept = ("n_states", "probability", "labels", "distributions", "outcomes", "machine", "C", "observations")
    return {name: answer[name] for name in kept}


def sets(predictions: Any) -> list[Any]:
    """Sets of best predictions: values, cells or numbers."""
    return [plain(best) for best in predictions]


def happenings(events: Any) -> Answer:
    """Events, Changes and Refits in order."""
    found = list(events)
    decided = [e for e in found if isinstance(e, ds.Event)]
    return {
        "kinds": "".join(type(e).__name__[0] for e in found),
        "position": np.array([e.position for e in found], int),
        "before": np.array([e.before for e in decided], int),
        "after": np.array([e.after for e in decided], int),
        "utility before": np.array([e.utility_before for e in decided], float),
        "utility after": np.array([e.utility_after for e in decided], float),
        "predictions": [repr(plain(e.predictions_after)) for e in decided[:FIRST]],
        "text": [str(e) for e in found[:FIRST]],
        "changes": [[e.since, e.bits] for e in found if isinstance(e, ds.Change)],
        "refits": [
            {"since": e.since, "moved": e.moved, "machine": machine(e.machine), "sets": sets(e.choice.predictions_)}
            for e in found
            if isinstance(e, ds.Refit)
        ],
    }


def decisional(choice: Any, graphs: bool = True) -> Answer:
    """What is public of decisional states."""
    answer: Answer = {
        "n_states": choice.n_states_,
        "labels": choice.labels_,
        "predictions": sets(choice.predictions_),
        "utility": choice.utility_,
        "expected utility": choice.expected_utility_,
        "local utility": choice.local_utility_,
        "local D": choice.local_complexity_,
        "local P": choice.local_prediction_complexity_,
        "local V": choice.local_utility_complexity_,
        "outcomes": named(choice.outcomes_),
    }
    for kind in ("states_", "iso_prediction_", "iso_utility_"):
        answer[kind] = getattr(choice, kind).labels
        answer[kind + " probability"] = getattr(choice, kind).probability
    for kind in ("complexity_", "prediction_complexity_", "utility_complexity_"):
        answer[kind] = getattr(choice, kind)
        answer["recurrent_" + kind] = getattr(choice, "recurrent_" + kind)
    if graphs:
        for kind in ("graph_", "iso_prediction_graph_", "iso_utility_graph_"):
            answer[kind] = graph(getattr(choice, kind))
    return answer


def warned(call: Callable[[], Any]) -> tuple[Any, list[str]]:
    """What a call gives, and what it warns of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = call()
    return found, [str(w.message) for w in caught if issubclass(w.category, UserWarning)]


def even(n: int, seed: int = 1) -> Any:
    return ds.processes.even().simulate(n, rng=seed)


def text(symbols: Any) -> str:
    return "".join(map(str, np.asarray(symbols).tolist()))


def words(n: int, seed: int = 5) -> list[str]:
    return [("sun", "rain", "fog")[k] for k in ds.processes.random_machine(3, 3, rng=seed).simulate(n, rng=seed)]


# Symbol series


@case
def series_text() -> Answer:
    return {f"past {past}": fit(ds.observe.series(text(even(3_000)), past=past)) for past in (1, 3, 7)}


@case
def series_bytes() -> Answer:
    return fit(ds.observe.series(text(even(2_000, 2)).encode(), past=5))


@case
def series_numbers() -> Answer:
    symbols = ds.processes.random_machine(4, 3, rng=3).simulate(4_000, rng=3)
    kinds = {
        "uint8": symbols.astype(np.uint8),
        "negative": symbols.astype(np.int64) * 1_000_003 - 1_000_003,
        "big": symbols.astype(np.int64) + (1 << 60),
        "list": symbols.tolist(),
        "bools": symbols > 0,
        "floats": symbols.astype(float),
    }
    return {name: fit(ds.observe.series(values, past=4)) for name, values in kinds.items()}


@case
def series_mixed_values() -> Answer:
    codes = ds.processes.golden_mean().simulate(2_500, rng=4)
    kinds = {
        "mixed": [("b", 1)[k] for k in codes],
        "tuples": [((0, "x"), (1, "y"))[k] for k in codes],
        "words": words(2_500),
    }
    return {name: fit(ds.observe.series(values, past=3)) for name, values in kinds.items()}


@case
def series_several() -> Answer:
    parts = [even(n, n) for n in (700, 30, 2, 900)]
    rows = ds.processes.nemo().simulate(3_000, rng=5).reshape(30, 100)
    return {
        "arrays": fit(ds.observe.series(parts, past=4)),
        "texts": fit(ds.observe.series([text(p) for p in parts], past=4, sequences=True)),
        "lists": fit(ds.observe.series([p.tolist() for p in parts], past=6, future=2)),
        "rows": fit(ds.observe.series(rows, past=3)),
        "symbols": fit(ds.observe.series(["ab", "ba", "ab", "ab"] * 200, past=2, sequences=False)),
    }


@case
def series_gaps() -> Answer:
    symbols = even(3_000, 6).astype(int)
    lost = np.random.default_rng(6).random(3_000) < 0.02
    return {
        "none": fit(ds.observe.series([None if m else int(s) for s, m in zip(symbols, lost, strict=True)], past=4)),
        "nan": fit(ds.observe.series(np.where(lost, np.nan, symbols), past=4)),
        "masked": fit(ds.observe.series(np.ma.array(symbols, mask=lost), past=4)),
        "missing": fit(ds.observe.series(np.where(lost, 9, symbols), past=4, missing=9)),
        "text": fit(ds.observe.series(text(np.where(lost, 9, symbols)), past=4, missing="9")),
    }


@case
def series_futures() -> Answer:
    symbols = ds.processes.rrxor().simulate(6_000, rng=7)
    return {f"future {future}": fit(ds.observe.series(symbols, past=5, future=future)) for future in (1, 2, 3)}


@case
def series_long_past() -> Answer:
    symbols = even(20_000, 8)
    return {f"past {past}": fit(ds.observe.series(symbols, past=past)) for past in (10, 15, 20)}


@case
def series_ranked_windows() -> Answer:
    many = np.random.default_rng(9).integers(0, 1_000, 4_000) // 50 * 50
    return {
        "past 70": fit(ds.observe.series(even(6_000, 9), past=70)),
        "past 62": fit(ds.observe.series(even(4_000, 9), past=62, future=2)),
        "letters": fit(ds.observe.series(many, past=15)),
        "several": fit(ds.observe.series([even(900, 9), even(500, 10)], past=65)),
        "gaps": fit(ds.observe.series(np.ma.array(even(3_000, 11), mask=np.arange(3_000) % 500 == 7), past=64)),
    }


@case
def series_large_alphabet() -> Answer:
    rng = np.random.default_rng(10)
    walk = np.cumsum(rng.integers(-1, 2, 6_000)) % 300
    return {
        "walk": fit(ds.observe.series(walk, past=1)),
        "pairs": fit(ds.observe.series(rng.integers(0, 70_000, 3_000) // 1_000, past=2)),
        "sparse": fit(ds.observe.series(rng.integers(0, 40, 3_000) * (1 << 40), past=2)),
    }


@case
def series_chunks() -> Answer:
    symbols = ds.processes.nemo().simulate(8_000, rng=11)
    rows = symbols.reshape(40, 200)
    return {
        "slices": counted(ds.observe.series(symbols, past=6, chunks=900)),
        "tiny": counted(ds.observe.series(symbols[:600], past=9, future=2, chunks=7)),
        "text": counted(ds.observe.series(text(symbols), past=4, chunks=1_000)),
        "rows": counted(ds.observe.series(rows, past=3, chunks=7)),
        "several": counted(ds.observe.series([symbols[:3_000], symbols[3_000:]], past=5, chunks=700)),
        "ranked": counted(ds.observe.series(symbols[:3_000], past=66, chunks=500)),
        "words": counted(ds.observe.series(words(1_500), past=2, chunks=400)),
        "missing": counted(ds.observe.series(np.where(np.arange(2_000) % 97 == 3, 7, symbols[:2_000]), 3, missing=7)),
    }


@case
def series_memory_map() -> Answer:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "symbols.npy"
        np.save(path, even(8_000, 12))
        symbols = np.load(path, mmap_mode="r")
        return {
            "whole": fit(ds.observe.series(symbols, past=5)),
            "slices": counted(ds.observe.series(symbols, past=5, chunks=1_100)),
        }


# Estimator options


@case
def matches() -> Answer:
    obs = ds.observe.series(ds.processes.nemo().simulate(6_000, rng=13), past=5)
    found = {
        repr(match): fit(obs, match=match)
        for match in (
            None,
            ds.GTest(0.2),
            ds.GTest(0.05, family_wise=False),
            ds.ChiSquare(0.01),
            ds.ChiSquare(0.05, family_wise=False),
            ds.Bhattacharyya(0.05),
            ds.Variational(0.2),
            ds.HarmonicMean(0.01),
            ds.JensenShannon(0.01),
        )
    }
    found["exact"] = fit(ds.observe.series("0011" * 300, past=3), match="exact")
    found["exact, noisy"] = fit(obs, match="exact", density=ds.Counts(1))
    return found


@case
def match_callable() -> Answer:
    def near(a: Any, b: Any) -> bool:
        return bool(np.abs(a / a.sum() - b / b.sum()).max() < 0.15)

    obs = ds.observe.series(even(3_000, 14), past=4)
    return {"aggregate": fit(obs, match=near), "connect": fit(obs, match=near, cluster="connect")}


@case
def match_values() -> Answer:
    a, b = [30, 5, 0, 12], [22, 9, 3, 10]
    tests = {repr(test): [test.p_value(a, b), *test.statistic(a, b)] for test in (ds.GTest(), ds.ChiSquare())}
    kinds = (ds.Bhattacharyya, ds.Variational, ds.HarmonicMean, ds.JensenShannon)
    return {**tests, **{kind.__name__: kind().distance(a, b) for kind in kinds}}


@case
def clusterings() -> Answer:
    obs = ds.observe.series(ds.processes.random_machine(5, 2, rng=15).simulate(8_000, rng=15), past=6)
    how = {
        "aggregate": {"cluster": "aggregate"},
        "passes": {"passes": 3},
        "connect": {"cluster": "connect"},
        "random": {"cluster": ds.clustering.Aggregate(order="random", random_state=3)},
        "given": {"cluster": ds.clustering.Aggregate(order="given", passes=2)},
        "single": {"cluster": ds.clustering.Connect(), "match": ds.Variational(0.1)},
        "callable": {"cluster": lambda densities, match: np.arange(densities.n_rows) % 3},
    }
    return {name: fit(obs, **options) for name, options in how.items()}


@case
def constraints() -> Answer:
    found = {}
    for name, process in (("even", ds.processes.even()), ("random", ds.processes.random_machine(5, 3, rng=16))):
        obs = ds.observe.series(process.simulate(5_000, rng=16), past=5)
        for kind in ("evidence", "paper", "none"):
            found[f"{name}, {kind}"] = fit(obs, constraints=kind)
        found[f"{name}, theta"] = fit(obs, constraints="paper", theta=0.7)
    return found


@case
def counts_back_off() -> Answer:
    obs = ds.observe.series(ds.processes.butterfly().simulate(5_000, rng=17), past=4)
    return {f"min_count {least}": fit(obs, density=ds.Counts(least)) for least in (1, 5, 30, 400)}


@case
def partial_fits() -> Answer:
    symbols = even(6_000, 18)
    part = ds.CausalStates()
    for begin in range(0, 6_000, 1_500):
        part.partial_fit(ds.observe.series(symbols[begin : begin + 1_500], past=5))
    names = ("n_states", "probability", "distributions", "machine", "C")
    found = {}
    for name, states in (("partial", part), ("merged", _merged(symbols))):
        found[name] = {key: causal_counts(states)[key] for key in names}
    field = ds.processes.elementary_ca(54, 60, 80, rng=18)
    cones = ds.CausalStates(match="exact").fit(ds.observe.light_cones(field[:40], 2, 2))
    cones.merge(ds.CausalStates().fit(ds.observe.light_cones(field[40:], 2, 2)))
    rng = np.random.default_rng(18)
    x = rng.integers(0, 6, (2, 400))
    pairs = ds.CausalStates().partial_fit(x[0], x[0] // 2).partial_fit(x[1], x[1] // 2 + rng.integers(0, 2, 400))
    for name, states in (("cones", cones), ("pairs", pairs)):
        found[name] = {key: causal_counts(states)[key] for key in names}
    found["predict"] = {"labels": part.predict(ds.observe.series(even(300, 19), past=5))}
    return found


def _merged(symbols: Any) -> Any:
    first, second = (ds.CausalStates().fit(ds.observe.series(s, past=5)) for s in (symbols[:2_000], symbols[2_000:]))
    return first.merge(second)


def causal_counts(found: Any) -> Answer:
    """Of causal states that know counts alone."""
    return {
        "n_states": found.n_states_,
        "probability": found.states_.probability,
        "distributions": found.distributions_,
        "machine": machine(found.machine_),
        "C": found.complexity_,
    }


@case
def predicting() -> Answer:
    causal = ds.CausalStates().fit(ds.observe.series(text(even(4_000, 20)), past=5))
    new = ds.observe.series(text(even(600, 21)), past=5)
    foreign = ds.observe.series("0110211011x01101", past=5)
    rows = np.random.default_rng(20).integers(0, 3, (500, 2))
    by_row = ds.CausalStates().fit(rows, rows.sum(axis=1) % 3)
    unseen = np.array([[0, 1], [2, 2], [5, 0], [1, 1]])
    return {
        "labels": causal.predict(new),
        "p": causal.predict_proba(new),
        "score": causal.score(new),
        "foreign": causal.predict(foreign),
        "longer": causal.predict(ds.observe.series(text(even(600, 21)), past=8)),
        "rows": by_row.predict(unseen),
        "rows p": by_row.predict_proba(unseen),
        "rows score": by_row.score(rows[:50], rows[:50].sum(axis=1) % 3),
    }


# Fields


@case
def cones_one_dimension() -> Answer:
    field = ds.processes.elementary_ca(110, 60, 60, rng=22)
    found = {}
    for boundary in ("periodic", "open", "reflect"):
        found[boundary] = fit(ds.observe.light_cones(field, past=3, future=2, boundary=boundary), match="exact")
    found["test"] = fit(ds.observe.light_cones(field, past=2, future=3), match=ds.GTest())
    found["speed"] = fit(ds.observe.light_cones(field, past=2, future=2, speed=2), match=ds.GTest())
    present = ds.observe.light_cones(field, past=2, future=1, include_present=True)
    found["present"] = fit(present, match=ds.GTest())
    found["row"] = fit(ds.observe.light_cones(field, past=3, future=2, past_row_only=True), match="exact")
    return found


@case
def cones_transitions() -> Answer:
    field = ds.processes.elementary_ca(54, 50, 60, rng=23)
    found = {}
    for way in ("time", "space"):
        for boundary in ("periodic", "open"):
            obs = ds.observe.light_cones(field, past=2, future=2, transitions=way, boundary=boundary)
            found[f"{way}, {boundary}"] = fit(obs, match=ds.GTest())
    obs = ds.observe.light_cones(field, past=2, future=2, transitions="time", include_present=True)
    found["present"] = fit(obs, match=ds.GTest(), constraints="paper")
    return found


@case
def cones_more_dimensions() -> Answer:
    plane = ds.processes.game_of_life((16, 18), 14, rng=24)
    cyclic = ds.processes.cyclic_automaton((14, 14), 10, colours=5, rng=24)
    space = np.random.default_rng(24).integers(0, 2, (6, 6, 5, 7))
    found = {}
    for shape in ("moore", "von_neumann"):
        found[f"life, {shape}"] = fit(ds.observe.light_cones(plane, 2, 2, neighbourhood=shape), match="exact")
    folded = ds.observe.light_cones(cyclic, 1, 2, neighbourhood="von_neumann", boundary="reflect")
    found["cyclic"] = fit(folded, match=ds.GTest())
    found["exact"] = fit(ds.observe.light_cones(cyclic, 1, 2, neighbourhood="von_neumann"), match="exact")
    found["space"] = fit(ds.observe.light_cones(space, 1, 2, neighbourhood="von_neumann"), match=ds.GTest())
    found["exact space"] = fit(ds.observe.light_cones(space, 1, 2, neighbourhood="von_neumann"), match="exact")
    opened = ds.observe.light_cones(space, 1, 2, boundary="open", transitions="time")
    found["open space"] = fit(opened, match=ds.GTest())
    return found


@case
def cones_masks() -> Answer:
    field = ds.processes.directed_percolation(40, 60, 0.7, rng=25)
    mask = np.random.default_rng(25).random(field.shape) < 0.01
    other = ds.processes.directed_percolation(40, 30, 0.7, rng=26)
    narrow = ds.processes.directed_percolation(24, 30, 0.7, rng=27)
    cone = ds.observe.light_cones
    return {
        "mask": fit(cone(field, 2, 2, mask=mask), match=ds.GTest()),
        "column": fit(cone(field, 2, 2, mask=np.arange(40) == 5, boundary="open"), match=ds.GTest()),
        "masked": fit(cone(np.ma.array(field, mask=mask), 2, 2, transitions="time"), match=ds.GTest()),
        "several": fit(cone([field, other], 2, 2), match=ds.GTest()),
        "widths": fit(cone([other, narrow], 2, 2, boundary="open"), match=ds.GTest()),
        "masks": fit(cone([field, other], 2, 2, mask=[mask, None]), match=ds.GTest()),
    }


@case
def cones_chunks() -> Answer:
    field = ds.processes.cellular_automaton(1_599, 40, 70, colours=3, rng=28)
    mask = np.random.default_rng(28).random(field.shape) < 0.01
    cone = ds.observe.light_cones
    found = {
        "slices": counted(cone(field, 2, 2, chunks=9), match=ds.GTest()),
        "one": counted(cone(field[:20], 3, 2, chunks=1), match=ds.GTest()),
        "mask": counted(cone(field, 2, 2, mask=mask, chunks=13, boundary="open"), match=ds.GTest()),
        "time": counted(cone(field, 2, 2, transitions="time", chunks=11), match=ds.GTest()),
        "space": counted(cone(field, 2, 2, transitions="space", chunks=11, boundary="reflect"), match=ds.GTest()),
        "several": counted(cone([field, field[::-1].copy()], 2, 2, chunks=16), match=ds.GTest()),
    }
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "field.npy"
        np.save(path, field)
        found["map"] = counted(cone(np.load(path, mmap_mode="r"), 2, 2, chunks=20), match=ds.GTest())
    return found


@case
def cones_predict() -> Answer:
    field = ds.processes.elementary_ca(110, 80, 80, rng=29)
    causal = ds.CausalStates(match="exact").fit(ds.observe.light_cones(field, 3, 2))
    new = ds.observe.light_cones(ds.processes.elementary_ca(110, 40, 30, rng=30), 3, 2)
    return {
        "labels": causal.predict(new),
        "score": causal.score(new),
        "field": causal.observations_.field(causal.labels_),
        "ranks": ds.complexity.ranks(causal.local_complexity_),
    }


@case
def defect_cones_back_off() -> Answer:
    # Evidence of cones that overlap is scaled down, where rare cones take the counts of others too.
    field = ds.processes.directed_percolation(60, 80, 0.7, rng=31)
    obs = ds.observe.light_cones(field, past=3, future=3)
    return fit(obs, density=ds.Counts(min_count=20))


# Numbers


def picture(seed: int = 32, size: int = 18) -> Any:
    rng = np.random.default_rng(seed)
    i, j = np.mgrid[:size, :size]
    return (60 + 3 * j + 90 * ((i - 8) ** 2 + (j - 9) ** 2 < 25) + rng.integers(0, 4, (size, size))).astype(np.uint8)


@case
def images() -> Answer:
    pixels, density = picture(), ds.Kernels(8.0)
    table = [[0, 1, 0], [1, 0, 1], [0, 0, 0]]
    kinds = {
        "rounded": ds.observe.image(pixels),
        "cross": ds.observe.image(pixels, "cross", border="mirror"),
        "no shift": ds.observe.image(pixels, "3x3", subtract_min=False),
        "table": ds.observe.image(pixels, table, border="mirror"),
        "several": ds.observe.image([pixels, picture(33, 15)], "3x3"),
        "floats": ds.observe.image(pixels / 7.0, "3x3"),
        "chunks": ds.observe.image(pixels, "3x3", chunks=5),
        "mirror chunks": ds.observe.image(pixels, "5x5", border="mirror", chunks=4),
    }
    found: Answer = {name: fit(obs, density=density, match=DISTANCE) for name, obs in kinds.items()}
    found["block"] = observed(ds.observe.image(pixels, "5x5", block=3))
    return found


def wave(n: int, seed: int = 34) -> Any:
    return np.sin(np.arange(n) / 3.0) + 0.1 * np.random.default_rng(seed).normal(size=n)


@case
def delays() -> Answer:
    signal = wave(500)
    gaps = np.where(np.arange(500) % 120 == 60, np.nan, signal)
    two = np.column_stack([signal, np.roll(signal, 2) ** 2])
    kinds = {
        "values": ds.observe.delays(signal, past=2),
        "gaps": ds.observe.delays(gaps, past=2),
        "lags": ds.observe.delays(signal, lags=[0, 3, 5]),
        "step": ds.observe.delays(signal, past=2, step=2),
        "difference": ds.observe.delays(signal, past=2, difference=True),
        "vectors": ds.observe.delays(two, past=1, target=0),
        "several": ds.observe.delays([signal[:200], signal[200:]], past=2),
        "chunks": ds.observe.delays(signal, past=2, chunks=90),
        "gaps, chunks": ds.observe.delays(gaps, past=2, chunks=64),
    }
    density = ds.Kernels(0.2)
    found: Answer = {name: fit(obs, density=density, match=DISTANCE) for name, obs in kinds.items()}
    both = ds.observe.delays(two, past=2, future=2)
    found["futures"] = {**observed(both), "points": both.points}
    return found


@case
def kernels() -> Answer:
    obs = ds.observe.delays(wave(300, 35), past=2)
    how = {
        "number": ds.Kernels(0.3),
        "dimensions": ds.Kernels([0.2, 0.4]),
        "z": ds.Kernels(0.3, z_bandwidth=0.1),
        "nearest": ds.Kernels("nearest"),
        "rule": ds.Kernels("rule"),
        "joint": ds.Kernels(0.3, joint=True, cutoff=1e-4),
        "callable": ds.Kernels(0.3, kernel=lambda d2: np.maximum(1.0 - d2 / 9.0, 0.0)),
        "grid": ds.Kernels(0.3, samples=50),
        "points": ds.Kernels(0.3, samples=np.linspace(-1, 1, 21)),
        "quantiles": ds.Kernels(0.3, samples="quantiles"),
        "random": ds.Kernels(0.3, samples="random", random_state=1),
    }
    found: Answer = {}
    for name, density in how.items():
        states = ds.CausalStates(density=density, match=DISTANCE).fit(obs)
        new = ds.observe.delays(wave(80, 36), past=2)
        found[name] = {**causal(states, False), "predict": states.predict(new), "score": states.score(new)}
        found[name]["p"] = states.predict_proba(new)
    found["connect"] = fit(obs, density=ds.Kernels(0.3), cluster="connect", match=ds.Variational(0.1))
    found["passes"] = fit(obs, density=ds.Kernels(0.3), passes=3, match=ds.JensenShannon(0.05))
    return found


@case
def kernels_delta() -> Answer:
    rng = np.random.default_rng(37)
    x = np.round(rng.random(800) * 8) / 4
    obs = ds.observe.pairs(x, (x + rng.integers(0, 2, 800) > 1).astype(int))
    return {
        "delta": fit(obs, density=ds.Kernels(kernel="delta"), match=ds.GTest()),
        "kinds": fit(obs, density=ds.Kernels(0.1, z_bandwidth=0), match=DISTANCE),
    }


# Pairs


@case
def pairs() -> Answer:
    rng = np.random.default_rng(38)
    sky = rng.integers(0, 4, 900)
    names = np.array(["dry", "wet", "fog", "ice"])[sky].tolist()
    after = np.array(["sun", "rain"])[(sky + rng.integers(0, 3, 900)) % 2].tolist()
    holes = [None if k % 50 == 3 else name for k, name in enumerate(names)]
    rows = rng.integers(0, 3, (900, 2))
    kinds = {
        "words": ds.observe.pairs(names, after),
        "missing": ds.observe.pairs(holes, after),
        "masked": ds.observe.pairs(np.ma.array(sky, mask=sky == 3), sky // 2),
        "rows": ds.observe.pairs(rows, rows.sum(axis=1) % 2),
        "z rows": ds.observe.pairs(sky, rows),
        "tuples": ds.observe.pairs([(k, "x") for k in sky.tolist()], after),
        "mixed": ds.observe.pairs([("a", 1, None, (2,))[k] for k in sky.tolist()], after),
        "symbols": ds.observe.pairs(names, after, symbols=after),
        "steps": ds.observe.pairs(names, after, symbols=after[:-1]),
        "successors": ds.observe.pairs(sky, sky // 2, sky % 2, np.where(np.arange(900) < 899, np.arange(900) + 1, 0)),
        "chunks": ds.observe.pairs(names, after, chunks=130),
        "symbols, chunks": ds.observe.pairs(names, after, symbols=after, chunks=130),
        "rows, chunks": ds.observe.pairs(rows, rows.sum(axis=1) % 2, chunks=200),
    }
    return {name: fit(obs) for name, obs in kinds.items()}


@case
def pairs_of_numbers() -> Answer:
    rng = np.random.default_rng(39)
    x = rng.random((250, 2))
    kinds = {
        "numbers": ds.observe.pairs(x, x.sum(axis=1) + 0.1 * rng.normal(size=250)),
        "kinds": ds.observe.pairs(x[:, 0], np.where(x[:, 0] > 0.5, "high", "low")),
        "missing": ds.observe.pairs(np.where(x > 0.98, np.nan, x), (x[:, 0] > 0.4).astype(int)),
        "chunks": ds.observe.pairs(x, (x[:, 0] > 0.4).astype(int), chunks=60),
    }
    return {name: fit(obs, density=ds.Kernels(0.15), match=DISTANCE) for name, obs in kinds.items()}


# Machines


@case
def processes() -> Answer:
    found = {}
    # Those that the catalogue had when the answers were written.
    for name, process in list(ds.processes.catalogue.items())[:15]:
        known = process()
        simulated = known.simulate(300, rng=40)
        found[name] = {"machine": machine(known), "simulated": simulated, "E": known.excess_entropy()}
    found["random"] = machine(ds.processes.random_machine(7, 4, rng=40))
    return found


@case
def machine_measures() -> Answer:
    known = ds.EpsilonMachine(
        [
            ("start", "a", "left", 0.25),
            ("start", "b", "right", 0.75),
            ("left", "a", "left", 0.5),
            ("left", "b", "right", 0.5),
            ("right", "b", "again", 1.0),
            ("again", "a", "left", 0.4),
            ("again", "b", "right", 0.6),
        ]
    )
    symbols = known.simulate(400, rng=41, start="start")
    wrong = text(symbols)[:50] + "aabbxab?bb" + text(symbols)[50:120]
    E, error = known.excess_entropy(with_error=True)
    seen = ds.epsilon_machine(text(symbols))
    return {
        "machine": machine(known),
        "E": E,
        "error": error < 1e-9,
        "simulated": text(symbols),
        "filter": known.filter(symbols),
        "started": known.filter(text(symbols), start="start"),
        "reset": known.filter(wrong),
        "stay": known.filter(wrong, impossible="stay"),
        "likely": known.filter(wrong, unsynchronised="likely"),
        "p": known.predict_proba(wrong),
        "log2 p": [known.log_likelihood(text(symbols)), known.log_likelihood(text(symbols), start="start")],
        "impossible": known.log_likelihood("aaaxa"),
        "recurrent part": machine(known.recurrent_part()),
        "minimal": machine(known.minimise()),
        "coarse": machine(known.minimise(atol=0.2)),
        "same": [known.is_isomorphic(known.minimise()), seen.is_isomorphic(known.recurrent_part(), atol=0.1)],
        "repr": repr(known),
        "transitions": repr(known.transitions()),
        "graph": graph(known.graph),
        "loops": graph(known.graph.without_self_loops()),
    }


@case
def machine_formats() -> Answer:
    found: Answer = {}
    learnt = ds.CausalStates().fit(ds.observe.series(even(3_000, 42), past=5)).machine_
    for name, known in (("even", ds.processes.even()), ("learnt", learnt), ("nrps", ds.processes.nrps())):
        net = known.to_networkx()
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "machine.json"
            known.save(path)
            content = json.loads(path.read_text())
            twin = ds.EpsilonMachine.load(path)
        found[name] = {
            "dot": known.to_dot(),
            "graph dot": known.graph.to_dot(),
            "nodes": repr([(node, sorted(data)) for node, data in net.nodes(data=True)]),
            "edges": repr([(a, b, k, sorted(data)) for a, b, k, data in net.edges(keys=True, data=True)]),
            "keys": sorted(content),
            "json": {key: content[key] for key in ("format", "version", "alphabet", "names")},
            "targets": np.array(content["targets"]),
            "emission": np.array(content["emission"]),
            "loaded": machine(twin),
            "repr": repr(known),
        }
    return found


@case
def transition_graph() -> Answer:
    found = ds.TransitionGraph([[0.5, 0.5, 0], [0.25, 0, 0.75], [0, 0, 1]], weight=[0.2, 0.3, 0.5], names="abc")
    counts = ds.TransitionGraph.from_counts([0, 0, 1, 2], [1, 0, 2, 0], [3, 1, 2, 2], 3)
    return {
        "graph": graph(found),
        "counts": graph(counts),
        "recurrent": found.recurrent,
        "stationary": counts.stationary,
        "dot": found.to_dot(),
        "repr": repr(counts),
    }


def learnt(symbols: Any, **options: Any) -> Answer:
    found, told = warned(lambda: ds.epsilon_machine(symbols, **options))
    E, error = found.excess_entropy(with_error=True)
    # Where the beliefs are too many, rounding decides which of them are taken together.
    return {**(machine(found) or {}), "E" if error < 1e-10 else f"E{LOOSE}": E, "warnings": told}


@case
def epsilon_machines() -> Answer:
    found = {}
    for name in ("even", "golden_mean", "nemo", "rrxor", "butterfly", "noisy_period_2", "coin"):
        for seed in (43, 44):
            symbols = ds.processes.catalogue[name]().simulate(2_000, rng=seed)
            found[f"{name}, {seed}"] = learnt(symbols)
    return found


@case
def epsilon_machines_random() -> Answer:
    found = {}
    for states, letters, seed in ((2, 2, 45), (3, 3, 46), (5, 2, 47), (6, 4, 48)):
        symbols = ds.processes.random_machine(states, letters, rng=seed).simulate(4_000, rng=seed)
        found[f"{states} states"] = learnt(symbols)
    return found


@case
def epsilon_machines_of_kinds() -> Answer:
    symbols = even(2_000, 49)
    return {
        "text": learnt(text(symbols)),
        "mixed": learnt([("b", 1)[k] for k in symbols]),
        "several": learnt([symbols[:900], symbols[900:]]),
        "gaps": learnt([None if k % 300 == 5 else int(s) for k, s in enumerate(symbols)]),
        "limits": learnt(symbols, max_past=3, max_future=1),
        "short": learnt(text(symbols)[:60]),
        "one": learnt("a" * 50),
        "words": learnt(words(2_000)),
        "missing": learnt(text(symbols)[:800] + "?" + text(symbols)[800:], missing="?"),
    }


@case
def selection() -> Answer:
    found = {}
    for name in ("even", "nemo"):
        said: list[str] = []
        chosen = ds.selection.select(ds.processes.catalogue[name]().simulate(1_500, rng=50), progress=said.append)
        rival = chosen.rival
        found[name] = {
            "windows": np.array([[c.past, c.future, c.searched, c.n_states] for c in chosen.candidates]),
            "lengths": np.array([c.description_length for c in chosen.candidates]),
            "log likelihoods": np.array([c.log_likelihood for c in chosen.candidates]),
            "why": chosen.why,
            "warning": chosen.warning,
            "rival": None if rival is None else machine(chosen.machine_of(rival)),
            "by past": np.array([[past, c.n_states] for past, c in chosen.by_past().items()]),
            "machine": machine(chosen.machine),
            "n": chosen.n_symbols,
            "said": said,
        }
    return found


@case
def bootstrap() -> Answer:
    found = ds.selection.bootstrap(ds.processes.golden_mean(), 500, n=4, rng=51)
    names = ("statistical_complexity", "entropy_rate", "n_states", "same_topology", "level")
    return {name: getattr(found, name) for name in names}


@case
def cssr() -> Answer:
    symbols = even(5_000, 52)
    return {
        "even": machine(ds.baselines.cssr(symbols, past=4)),
        "chi2": machine(ds.baselines.cssr(symbols, past=5, alpha=0.01, test="chi2")),
        "words": machine(ds.baselines.cssr(words(3_000), past=2)),
        "several": machine(ds.baselines.cssr([symbols[:2_000], symbols[2_000:]], past=3)),
        "long": machine(ds.baselines.cssr(symbols[:400], past=8)),
    }


# Decisions


def bet() -> Any:
    return ds.utility.table([[0, 0], [-3, 1]])


@case
def utilities_of_symbols() -> Answer:
    causal = ds.CausalStates().fit(ds.observe.series(ds.processes.nemo().simulate(6_000, rng=53), past=5))
    kinds = {
        "table": bet(),
        "names": ds.utility.table([[0, 1], [0.4, 0.4], [1, 0]], y=["in", ("a", 1), "out"], z=[0, 1]),
        "list": [[1, 0], [0, 2]],
        "loss": ds.utility.loss([[0, 1], [2, 0]]),
        "loss function": ds.utility.loss(lambda y, z: np.abs(y - z) ** 1.5),
        "zero one": ds.utility.zero_one(),
        "zero one of": ds.utility.zero_one(y=[1, 7]),
        "squared": ds.utility.squared_error(),
        "squared of": ds.utility.squared_error(y=[0, 0.25, 0.5]),
        "absolute": ds.utility.absolute_error(),
        "tolerant": ds.utility.tolerant(0.25),
        "tolerant of": ds.utility.tolerant(0.25, y=[0.2, 0.8]),
        "cells": ds.utility.matching_cells(),
        "callable": lambda y, z: np.where(y == z, 1.0 + z, -0.5),
    }
    found: Answer = {name: decisional(ds.DecisionalStates(u).fit(causal)) for name, u in kinds.items()}
    found["delta"] = decisional(ds.DecisionalStates(ds.utility.squared_error(), delta=0.3).fit(causal))
    found["atol"] = decisional(ds.DecisionalStates(ds.utility.zero_one(), atol=0.5, delta=0.0).fit(causal))
    return found


@case
def integrators() -> Answer:
    causal = ds.CausalStates().fit(ds.observe.series(ds.processes.random_machine(4, 3, rng=54).simulate(4_000, 54), 3))
    how = {
        "draws": {"integrate": ds.utility.MonteCarlo(2_000, random_state=1)},
        "volumes": {"integrate": ds.utility.SamplePoints([1.0, 2.0, 0.5])},
        "points": {"integrate": ds.utility.SamplePoints()},
        "callable": {"integrate": lambda p, u: (p**2 / (p**2).sum(axis=1, keepdims=True)) @ u.T},
        "optimiser": {"optimise": lambda value, outcomes: np.array([0.0, 1.0])},
    }
    u = ds.utility.squared_error(y=[0, 0.5, 1, 2])
    return {name: decisional(ds.DecisionalStates(u, **options).fit(causal)) for name, options in how.items()}


@case
def global_maxima() -> Answer:
    known = ds.EpsilonMachine([("A", 0.25, "B", 0.5), ("A", 0.75, "A", 0.5), ("B", 0.75, "A", 1.0)])

    def bump(y: Any, z: Any) -> Any:
        return np.exp(-(((y - z) / 0.05) ** 2))

    choice = ds.DecisionalStates(bump, optimise=ds.utility.GlobalMaxima(bounds=[(0, 1)])).fit(known)
    found = [np.array(best, float) for best in choice.predictions_]
    answer = {"n_states": choice.n_states_, "labels": choice.labels_, "expected~": choice.expected_utility_}
    return {**answer, "points~": found, "utility~": choice.utility_}


@case
def utilities_compared() -> Answer:
    known, data = ds.processes.nemo(), ds.CausalStates().fit(ds.observe.series(even(3_000, 55), past=4))
    pair = bet(), ds.utility.table([[0, 0], [-6, 2]])
    found = {}
    for name, states in (("theory", known), ("data", data)):
        for compare in (ds.utility.same_predictions, ds.utility.same_values, ds.utility.equivalent):
            found[f"{name}, {compare.__name__}"] = [compare(*pair, states), compare(pair[0], pair[0], states)]
    return found


@case
def decisions_of_machines() -> Answer:
    kinds = {"zero one": ds.utility.zero_one(), "bet": bet(), "absolute": ds.utility.absolute_error()}
    processes = {"even": ds.processes.even(), "nemo": ds.processes.nemo(), "coin": ds.processes.coin()}
    found = {}
    for process, known in processes.items():
        for name, u in kinds.items():
            choice = ds.DecisionalStates(u).fit(known)
            symbols = text(known.simulate(200, rng=56))
            found[f"{process}, {name}"] = {
                **decisional(choice),
                "decide": named(choice.decide(symbols + "?01")),
                "predict": choice.predict(symbols),
                "regret": list(choice.regret(symbols)),
                "score": choice.score(symbols),
                "events": happenings(choice.events(symbols)),
            }
    return found


@case
def decisions_of_series() -> Answer:
    train, test = even(5_000, 57), even(700, 58)
    causal = ds.CausalStates().fit(ds.observe.series(train, past=6))
    choice = ds.DecisionalStates(bet()).fit(causal)
    new = ds.observe.series(test, past=6)
    regret = choice.regret(new)
    inner = ds.DecisionalStates(ds.utility.zero_one()).fit(ds.observe.series(train, past=3))
    return {
        "choice": decisional(choice),
        "events": happenings(choice.events()),
        "prediction": happenings(choice.events(new, by="prediction", initial=True)),
        "utility": happenings(choice.events(new, by="utility")),
        "level": happenings(choice.events(new, level=0.5)),
        "symbols": happenings(choice.events(text(test), initial=True)),
        "decide": named(choice.decide(new)),
        "unseen": named(choice.decide("0011x0110?1")),
        "predict": choice.predict(new),
        "regret": [*regret, regret.against_fixed, regret.against_perfect],
        "symbols regret": list(choice.regret(text(test))),
        "score": choice.score(new),
        "first": decisional(inner),
        "inner": causal_counts(inner.causal_states()),
    }


@case
def decisions_of_pairs() -> Answer:
    rng = np.random.default_rng(59)
    x = rng.integers(0, 5, (700, 2))
    z = (x.sum(axis=1) + rng.integers(0, 2, 700)) % 4
    causal = ds.CausalStates().fit(x, z)
    found = {}
    new = np.array([[0, 0], [4, 4], [9, 9], [2, 3]])
    kinds = {
        "zero one": ds.utility.zero_one(),
        "squared": ds.utility.squared_error(),
        "tolerant": ds.utility.tolerant(1),
    }
    for name, u in kinds.items():
        choice = ds.DecisionalStates(u).fit(causal)
        found[name] = {
            **decisional(choice),
            "decide": named(choice.decide(new)),
            "predict": choice.predict(new),
            "regret": list(choice.regret(x[:100], z[:100])),
        }
    choice = ds.DecisionalStates(ds.utility.zero_one()).fit(x, z)
    found["first"] = {**decisional(choice), "inner": causal_counts(choice.causal_states())}
    return found


@case
def decisions_of_fields() -> Answer:
    field = ds.processes.elementary_ca(110, 50, 50, rng=60)
    found = {}
    for name, options in (("exact", {"match": "exact"}), ("test", {"match": ds.GTest()})):
        causal = ds.CausalStates(**options).fit(ds.observe.light_cones(field, 3, 2, transitions="time"))
        new = ds.observe.light_cones(ds.processes.elementary_ca(110, 40, 30, rng=61), 3, 2)
        choice = ds.DecisionalStates(ds.utility.matching_cells()).fit(causal)
        found[name] = {
            **decisional(choice),
            "events": happenings(choice.events()),
            "regret": list(choice.regret(new)),
        }
    return found


@case
def decisions_of_numbers() -> Answer:
    causal = ds.CausalStates(density=ds.Kernels(0.25), match=DISTANCE).fit(ds.observe.delays(wave(300, 62), past=2))
    new = ds.observe.delays(wave(60, 63), past=2)
    found = {}
    kinds = {
        "squared": ds.utility.squared_error(),
        "absolute": ds.utility.absolute_error(),
        "tolerant": ds.utility.tolerant(0.2),
    }
    for name, u in kinds.items():
        choice = ds.DecisionalStates(u, delta=0.1).fit(causal)
        found[name] = {
            **decisional(choice),
            "decide": named(choice.decide(new)),
            "predict": choice.predict(new),
            "regret": list(choice.regret(new)),
        }
    return found


# Streams


def standing(monitor: Any) -> Answer:
    """Where a monitor stands; the belief as its file tells it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "monitor.json"
        monitor.save(path)
        content = json.loads(path.read_text())
    return {
        "position": monitor.position,
        "state": monitor.state,
        "decision": monitor.decision,
        "predictions": monitor.predictions,
        "utility": monitor.utility,
        "belief": np.array(content["belief"], float),
        "version": 2 if "drift" in content else 1,  # the number that told it in the first two formats
        "repr": repr(monitor),
        "machine": machine(monitor.machine),
    }


@case
def monitors() -> Answer:
    choice = ds.DecisionalStates(bet()).fit(ds.processes.even())
    symbols = text(even(400, 64))
    strange = [*map(int, symbols[:40]), None, 7, 0, 1, 0, math.nan, *map(int, symbols[40:80])]
    found = {}
    for name, options in {
        "plain": {},
        "prediction": {"by": "prediction"},
        "utility": {"by": "utility"},
        "level": {"level": 0.5},
        "stay": {"impossible": "stay", "missing": "stay"},
    }.items():
        monitor = ds.Monitor(choice, **options)
        fed = happenings(monitor.feed(symbols))
        found[name] = {"fed": fed, "strange": happenings(monitor.feed(strange)), "then": standing(monitor)}
        monitor.gap()
        found[name]["pushed"] = happenings(e for e in map(monitor.push, [1, 1, 1]) if e is not None)
        found[name]["now"] = standing(monitor)
        found[name]["watched"] = happenings(monitor.watch(b"0110101"))
    refusing = ds.Monitor(choice, impossible="raise", missing="raise")
    try:
        refusing.feed("0110x11")
    except ValueError as error:
        found["refused"] = {"text": str(error), "then": standing(refusing)}
    mixed = ds.EpsilonMachine([("A", "b", "A", 0.5), ("A", 1, "B", 0.5), ("B", 1, "A", 1.0)])
    monitor = ds.Monitor(ds.DecisionalStates(ds.utility.zero_one()).fit(mixed))
    found["mixed"] = {"fed": happenings(monitor.feed(["b", 1, 1, "1", "b", 2])), "then": standing(monitor)}
    return found


def drifting(*processes: Any, n: int = 2_500) -> Any:
    return np.concatenate([process.simulate(n, rng=k) for k, process in enumerate(processes)])


@case
def monitors_that_adapt() -> Answer:
    processes = ds.processes.even(), ds.processes.golden_mean(), ds.processes.even(0.3)
    symbols = drifting(*processes)
    choice = ds.DecisionalStates(ds.utility.zero_one()).fit(processes[0])
    found = {}
    for adapt in (ds.Adapt(), ds.Adapt(window=1_000), ds.Adapt(forget=1_000, refit_after=500), ds.Adapt(alpha=1e-4)):
        monitor = ds.Monitor(choice, adapt=adapt)
        first = happenings(monitor.feed(symbols[:2_600]))
        middle = standing(monitor)
        found[repr(adapt)] = {"first": first, "middle": middle, "rest": happenings(monitor.feed(symbols[2_600:]))}
        found[repr(adapt)]["then"] = standing(monitor)
    strange = symbols[:4_200].tolist()
    strange[100] = strange[2_700] = None
    strange[3_000:3_000] = [2, 2, 0, 2] * 20
    monitor = ds.Monitor(choice, adapt=ds.Adapt(refit_after=500))
    found["strange"] = {"events": happenings(monitor.feed(strange)), "then": standing(monitor)}
    return found


# Whole programs


@case
def features() -> Answer:
    rng = np.random.default_rng(65)
    symbols = [even(800, 65), rng.integers(0, 2, 800), ds.processes.nemo().simulate(700, rng=66)]
    waves = [wave(120, 67), rng.normal(size=120)]
    u = ds.utility.absolute_error()
    return {
        "symbols": ds.ComplexityFeatures(past=4).fit_transform(symbols),
        "text": ds.ComplexityFeatures(utility=bet(), past=3).fit_transform([text(s) for s in symbols]),
        "absolute": ds.ComplexityFeatures(u, past=1, bandwidth=0.4, delta=0.2).fit_transform(np.array(waves)),
        "names": list(ds.ComplexityFeatures().get_feature_names_out()),
    }


@case
def written_values() -> Answer:
    symbols, field = even(3_000, 68), ds.processes.elementary_ca(54, 40, 50, rng=68)
    kinds = {
        "series": ds.CausalStates().fit(ds.observe.series(symbols, past=4)),
        "slices": ds.CausalStates().fit(ds.observe.series(symbols, past=4, chunks=700)),
        "cones": ds.CausalStates(match="exact").fit(ds.observe.light_cones(field, 2, 2, chunks=13)),
        "delays": ds.CausalStates(ds.Kernels(0.3), DISTANCE).fit(ds.observe.delays(wave(200, 68), 2, chunks=60)),
        "image": ds.CausalStates(ds.Kernels(8.0), DISTANCE).fit(ds.observe.image(picture(), "3x3", chunks=5)),
    }
    choices = {"bet": bet(), "cells": ds.utility.matching_cells()}
    found: Answer = {}
    with tempfile.TemporaryDirectory() as folder:

        def written(states: Any, values: str) -> Any:
            said: list[str] = []
            ds.write_values(states, f"{folder}/values.npy", values, progress=said.append)
            array = np.load(f"{folder}/values.npy")
            return {"dtype": array.dtype.str, "values": array, "said": said}

        for name, states in kinds.items():
            found[name] = {values: written(states, values) for values in ("labels", "local_complexity")}
        for name, source in (("bet", "slices"), ("cells", "cones")):
            choice = ds.DecisionalStates(choices[name]).fit(kinds[source])
            names = ("labels", "iso_prediction", "iso_utility", "local_complexity", "local_prediction_complexity")
            names += ("local_utility_complexity", "local_utility")
            found[name] = {values: written(choice, values) for values in names}
        found["left"] = sorted(os.listdir(folder))
    return found


def shell(*arguments: object, given: str | None = None) -> Answer:
    """Run a command in the working folder; its exit code and what it prints."""
    from decisional.cli import main

    out, errors, stdin = io.StringIO(), io.StringIO(), sys.stdin
    if given is not None:
        sys.stdin = io.TextIOWrapper(io.BytesIO(given.encode()))
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
            code = main([str(argument) for argument in arguments])
    finally:
        sys.stdin = stdin
    return {"code": code, "out": out.getvalue().splitlines(), "errors": errors.getvalue().splitlines()}


@contextlib.contextmanager
def work_folder() -> Iterator[Path]:
    """A folder with data, as the working folder."""
    here = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            Path("even.txt").write_text(text(even(3_000, 69)) + "\n")
            Path("words.txt").write_text("day,sky\n" + "".join(f"{k},{w}\n" for k, w in enumerate(words(800))))
            Path("bet.csv").write_text("U,0,1\nstay out,0,0\nbet on 1,-3,1\n")
            Path("alphabet").write_text("01\n")
            np.save("field.npy", ds.processes.elementary_ca(110, 40, 50, rng=69))
            np.save("image.npy", picture())
            Path("wave.csv").write_text("".join(f"{value}\n" for value in wave(150, 69).tolist()))
            yield Path(folder)
        finally:
            os.chdir(here)


def document(path: str) -> Any:
    """A JSON file in plain values."""

    def nested(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: nested(item) for key, item in value.items()}
        if isinstance(value, list):
            flat = np.array(value) if value and not any(isinstance(v, (dict, str)) for v in value) else None
            return flat if flat is not None and flat.dtype.kind in "bif" else [nested(item) for item in value]
        return value

    return nested(json.loads(Path(path).read_text()))


@case
def command_symbols() -> Answer:
    with work_folder():
        return {
            "past": shell("symbols", "even.txt", "--past", 6, "--json", "a.json", "--dot", "a.dot"),
            "json": document("a.json"),
            "dot": Path("a.dot").read_text(),
            "free": shell("symbols", "even.txt"),
            "column": shell("symbols", "words.txt", "--column", "sky", "--past", 2, "--future", 2),
            "chunks": shell("symbols", "even.txt", "--past", 4, "--chunks", 500, "--alpha", 0.001),
            "options": shell("symbols", "even.txt", "--past", 5, "--min-count", 20, "--theta", 0.9),
            "wrong": shell("symbols", "nothing.txt"),
            "theta": shell("symbols", "even.txt", "--past", 5, "--theta", 7),
        }


@case
def command_data() -> Answer:
    with work_folder():
        found = {
            "field": shell("field", "field.npy", "--past", 3, "--future", 2, "--match", "exact", "--labels", "f.npy"),
            "image": shell("image", "image.npy", "--tau", 7, "--labels", "i.npy"),
            "simulate": shell("simulate", "golden_mean", "--param", "p=0.3", "--seed", 1, "-n", 200),
            "cssr": shell("cssr", "alphabet", "even.txt", 4, "-s", 0.001),
            "help": shell("simulate", "nothing"),
        }
        for name in ("f.npy", "i.npy"):
            found[name] = np.load(name)
        for name in ("results", "info", "inf.dot", "state_series"):
            found[name] = Path(f"even.txt_{name}").read_text()
        return found


@case
def command_decisions() -> Answer:
    with work_folder():
        ds.EpsilonMachine([("A", "0", "A", 0.5), ("A", "1", "B", 0.5), ("B", "1", "A", 1.0)]).save("m.json")
        recent = text(even(60, 70))
        Path("recent.txt").write_text(recent)
        keep = "watch", "monitor.json", "--state", "s.json", "--out", "e.jsonl"
        found = {
            "decide": shell("decide", "m.json", "--utility", "bet.csv", "--monitor", "monitor.json"),
            "events": shell("decide", "m.json", "--utility", "bet.csv", "--events", "recent.txt"),
            "level": shell("decide", "m.json", "--utility", "zero-one", "--by", "utility", "--events", "recent.txt"),
            "tolerant": shell("decide", "m.json", "--utility", "tolerant:0.2"),
            "monitor": document("monitor.json"),
            "watch": shell("watch", "monitor.json", given=recent),
            "state": shell(*keep, given=recent[:30]),
            "again": shell(
                "watch", "monitor.json", "--state", "s.json", "--out", "e.jsonl", "--skip-seen", given=recent
            ),
            "unknown": shell("watch", "monitor.json", "--unknown", "gap", given="01?101"),
            "refused": shell("watch", "monitor.json", given="01?101"),
        }
        return {**found, "lines": Path("e.jsonl").read_text().splitlines()}


# The file


def load(path: Path = PATH) -> dict[str, Any]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        content: dict[str, Any] = json.load(file)
    return content


def write(path: Path) -> None:
    content = {}
    for name, function in cases():
        begin = time.perf_counter()
        content[name] = function()
        print(f"{name}: {time.perf_counter() - begin:.2f} s", flush=True)
    data = json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(data, 9, mtime=0))
    print(f"{len(content)} inputs, {path.stat().st_size:,} bytes")


def differences(found: Any, expected: Any, at: str = "", tolerance: float = 1e-12) -> list[str]:
    """Places where answers differ: integers and text at all, floats by more than the tolerance."""
    if at.endswith(LOOSE):
        tolerance = LOOSE_TOLERANCE
    if isinstance(expected, float) and isinstance(found, float):
        same = math.isclose(found, expected, rel_tol=tolerance, abs_tol=tolerance)
        same = same or found == expected or (math.isnan(found) and math.isnan(expected))
        return [] if same else [f"{at}: {found!r} instead of {expected!r}"]
    if type(found) is not type(expected):
        return [f"{at}: {found!r} instead of {expected!r}"]
    if isinstance(expected, dict):
        wrong = [f"{at}/{key}: only in one of them" for key in found.keys() ^ expected.keys()]
        for key in [key for key in expected if key in found]:
            wrong += differences(found[key], expected[key], f"{at}/{key}", tolerance)
        return wrong
    if isinstance(expected, list):
        if len(found) != len(expected):
            return [f"{at}: {len(found)} items instead of {len(expected)}"]
        pairs = enumerate(zip(found, expected, strict=True))
        return [line for k, pair in pairs for line in differences(*pair, f"{at}[{k}]", tolerance)]
    return [] if found == expected else [f"{at}: {found!r} instead of {expected!r}"]


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] != "--write":
        sys.exit("usage: python tests/reference.py --write PATH")
    write(Path(sys.argv[2]))
