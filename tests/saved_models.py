"""Models of states that an earlier version saved, and what they must say of new data when they are loaded.

`python tests/saved_models.py --write` writes them anew, which is only right after a deliberate change of the format.
"""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

import decisional as ds

FOLDER = Path(__file__).parent / "answers" / "saved_models"
EXPECTED = FOLDER / "expected.json"


def symbols(n: int, seed: int) -> Any:
    return ds.processes.even().simulate(n, rng=seed).tolist()


def cells(seed: int) -> Any:
    return ds.processes.elementary_ca(110, 20, 24, seed)


def wave(n: int, seed: int) -> Any:
    return (np.sin(0.4 * np.arange(n)) + 0.1 * np.random.default_rng(seed).normal(size=n)).round(3)


def rows(seed: int) -> Any:
    return np.random.default_rng(seed).normal(size=(60, 2)).round(3)


def up(x: Any) -> list[str]:
    return np.where(x[:, 0] > 0, "up", "down").tolist()


def pixels(seed: int) -> Any:
    return np.cumsum(np.random.default_rng(seed).integers(0, 3, (10, 10)), axis=1)


def real(seed: int) -> Any:
    return np.cumsum(np.random.default_rng(seed).normal(size=(14, 12)), axis=0).round(3)


# For each file the causal states, the utility, and new data.
MODELS: dict[str, Any] = {
    "series": lambda: (ds.observe.series(symbols(1000, 1), past=3), {}, ds.utility.zero_one()),
    "field": lambda: (ds.observe.light_cones(cells(1), 2, 2), {}, ds.utility.matching_cells()),
    "real_field": lambda: (ds.observe.light_cones(real(1), 1, 2), {}, ds.utility.squared_error()),
    "image": lambda: (
        ds.observe.image(pixels(1), "cross"),
        {"density": ds.Kernels(2.0), "match": ds.Bhattacharyya()},
        ds.utility.tolerant(1),
    ),
    "signal": lambda: (ds.observe.delays(wave(120, 1), past=1), {}, ds.utility.squared_error()),
    "pairs": lambda: (ds.observe.pairs(["a", "b", "b"] * 30, ["x", "y", "x"] * 30), {}, ds.utility.zero_one()),
    "rows": lambda: (ds.observe.pairs(rows(1), up(rows(1))), {}, ds.utility.zero_one()),
}
NEW: dict[str, Any] = {
    "series": lambda: (symbols(60, 2), None),
    "field": lambda: (cells(2), None),
    "real_field": lambda: (real(2), None),
    "image": lambda: (pixels(2), None),
    "signal": lambda: (wave(30, 2), None),
    "pairs": lambda: (["a", "b", "c"], ["x", "y", "z"]),
    "rows": lambda: (rows(2), up(rows(2))),
}


def answers(name: str) -> dict[str, Any]:
    """What a model says of new data."""
    found = ds.DecisionalStates.load(FOLDER / f"{name}.json").apply(*NEW[name]())
    columns = {
        key: [None if v != v else v for v in np.asarray(values).tolist()] for key, values in found.columns.items()
    }
    columns["decision"] = list(map(str, columns["decision"]))
    return {"n": found.n, "usual surprise": found.usual_surprise, **columns}


def write() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, make in MODELS.items():
        obs, how, utility = make()
        ds.DecisionalStates(utility).fit(ds.CausalStates(**how).fit(obs)).save(FOLDER / f"{name}.json")
    text = json.dumps({name: answers(name) for name in MODELS}, ensure_ascii=False, separators=(",", ":"))
    EXPECTED.write_text(text.replace('},"', '},\n"') + "\n")


if __name__ == "__main__":
    if sys.argv[1:] != ["--write"]:
        sys.exit("usage: python tests/saved_models.py --write")
    write()
