"""Features of whole series: how often forests that see them name the right class.

Prints tables and writes them to benchmarks/features.md. All features go through scikit-learn's random forest as it is
by default, as in what a user would write: `make_pipeline(ds.ComplexityFeatures(),
RandomForestClassifier(random_state=0))`; they are made once for the forests of all seeds. "Complexities" are C, D, P,
V, h and U of each series on its own (shared=False); "shared" are the default, with what the training series share. The
peer is catch22 (Lubba et al. 2019), 22 features of each variable, as aeon has it. Features and forests are fitted on
the training series alone.

The data sets are those that come with aeon, with their own split; without aeon they and the peer are left out, which is
told. The simulated series are 40 for training and 120 for testing, in their own standard deviations unless their size
tells the class.
"""

import argparse
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.ensemble import RandomForestClassifier

import decisional as ds

# Seeds of the forests, and of the simulated series.
FORESTS, SEEDS = 10, (7000, 7001, 7002)
TRAINING, TESTING = 40, 120
# What the features are asked for, and sets whose test series were looked at while the features were made.
NAMED = ("GunPoint", "ItalyPowerDemand", "BasicMotions")
SEEN = ("ArrowHead", "OSULeaf", "JapaneseVowels", "PickupGestureWiimoteZ", "UnitTest")
OTHERS, LARGE = ("ACSF1",), ("OSULeaf", "JapaneseVowels")
HEAD = """# Features

Written by `benchmarks/features.py`, which says what is measured: mean accuracies of forests. The features were made by
simulated series of seeds below 10, by cross-validation inside the training series of the first three data sets, and by
the test series of those with a star.

"""
Rows = list[np.ndarray]


class Split(NamedTuple):
    """Training and test series, (variables, times) each, with their classes."""

    train: Rows
    train_y: np.ndarray
    test: Rows
    test_y: np.ndarray


def autoregression(coefficients: Any, n: int, rng: np.random.Generator) -> np.ndarray:
    a = np.atleast_1d(coefficients)
    x = rng.normal(size=n + 100)
    for t in range(a.size, x.size):
        x[t] += a @ x[t - a.size : t][::-1]
    return x[100:]


def chaos(kind: int, rng: np.random.Generator) -> np.ndarray:
    """The logistic map, or noise of the same spectrum; both seen through noise."""
    x, v = np.empty(250), rng.uniform(0.2, 0.8)
    for t in range(x.size):
        v = 3.9 * v * (1 - v)
        x[t] = v
    x = x[50:]
    if kind == 0:
        f = np.fft.rfft(x)
        f[1:-1] *= np.exp(2j * np.pi * rng.random(f.size - 2))
        x = np.fft.irfft(f, x.size)
    return x + 0.03 * rng.normal(size=x.size)


def gesture(kind: int, rng: np.random.Generator) -> np.ndarray:
    """Up, a while, and down again; one kind with a small dip after it, and a bump before."""
    t = np.linspace(0, 1, 150)
    a = rng.normal(0.27, 0.05)
    b, w = a + rng.normal(0.42, 0.05), 0.02 + 0.01 * rng.random()
    x = 1 / (1 + np.exp(-(t - a) / w)) - 1 / (1 + np.exp(-(t - b) / w))
    dip, bump = rng.uniform(0.05, 0.15), 0.08 * rng.random()
    x += kind * (bump * np.exp(-0.5 * ((t - a + 0.08) / 0.03) ** 2) - dip * np.exp(-0.5 * ((t - b - 0.1) / 0.03) ** 2))
    moved: np.ndarray = x + 0.002 * np.cumsum(rng.normal(size=150)) + 0.005 * rng.normal(size=150)
    return moved


def day(kind: int, rng: np.random.Generator) -> np.ndarray:
    """A load by the hour, whose second peak comes at another time."""
    t = np.arange(24) / 24
    x = np.sin(2 * np.pi * (t - 0.3)) + 0.6 * np.sin(4 * np.pi * (t - 0.1) + 0.5 * kind)
    x += 0.25 * kind * np.exp(-0.5 * ((t - 0.6) / 0.08) ** 2)
    load: np.ndarray = x + 0.25 * autoregression(0.6, 24, rng)
    return load


def volatility(kind: int, rng: np.random.Generator) -> np.ndarray:
    """Noise, or noise whose variance follows its last square."""
    x = rng.normal(size=300)
    for t in range(1, x.size) if kind else ():
        x[t] *= np.sqrt(0.4 + 0.6 * x[t - 1] ** 2)
    return x[100:]


def motions(kind: int, rng: np.random.Generator) -> np.ndarray:
    """Three rhythms of different size and none, in four variables."""
    f, size = (0.05, 0.08, 0.05, 0.0)[kind], (1.0, 1.1, 0.8, 0.7)[kind]
    t, phase = np.arange(100), rng.uniform(0, 2 * np.pi)
    waves = [np.sin(2 * np.pi * f * t * (1 + v % 2) + phase + v) for v in range(4)]
    return np.array([size * (w + 0.6 * autoregression(0.5, 100, rng)) + 0.3 * rng.normal() for w in waves])


ORDERS = ((0.6, -0.4), (0.6, -0.1), (0.3, 0.2))
SIMULATED: dict[str, tuple[int, Callable[[int, np.random.Generator], np.ndarray]]] = {
    "AR(1), 0.45 or 0.7": (2, lambda kind, rng: autoregression((0.45, 0.7)[kind], 200, rng)),
    "AR(2), three kinds": (3, lambda kind, rng: autoregression(ORDERS[kind], 150, rng)),
    "chaos or its spectrum": (2, chaos),
    "gestures": (2, gesture),
    "days": (2, day),
    "volatility": (2, volatility),
    "motions, 4 variables": (4, motions),
}


def simulated(name: str, seed: int) -> Split:
    kinds, make = SIMULATED[name]
    rng = np.random.default_rng(seed)

    def some(n: int) -> tuple[Rows, np.ndarray]:
        y = rng.permutation(np.arange(n) % kinds)
        series = [np.atleast_2d(make(kind, rng)) for kind in y]
        return [x if len(x) > 1 else (x - x.mean()) / x.std() for x in series], y

    return Split(*some(TRAINING), *some(TESTING))


def real(name: str) -> Split:
    """A data set that comes with aeon."""
    import aeon.datasets

    folder = Path(aeon.datasets.__file__).parent / "data" / name
    parts = [aeon.datasets.load_from_ts_file(str(folder / f"{name}_{part}.ts")) for part in ("TRAIN", "TEST")]
    return Split(list(parts[0][0]), parts[0][1], list(parts[1][0]), parts[1][1])


def peer() -> Any:
    """The features of catch22, or None where aeon is not there."""
    try:
        from aeon.transformations.collection.feature_based import Catch22
    except ImportError:
        return None
    return Catch22(replace_nans=True)


def methods() -> dict[str, Any]:
    own = {"complexities": ds.ComplexityFeatures(shared=False), "shared": ds.ComplexityFeatures()}
    found = peer()
    return own if found is None else {"catch22": found} | own


def accuracies(split: Split, features: Any) -> tuple[np.ndarray, float]:
    """Of forests of several seeds, and the seconds that the features of all series took."""
    start = time.perf_counter()
    with warnings.catch_warnings():
        # Of the peer.
        warnings.simplefilter("ignore")
        x = np.asarray(features.fit_transform(split.train, split.train_y))
        new = np.asarray(features.transform(split.test))
    seconds = time.perf_counter() - start
    forests = [RandomForestClassifier(random_state=seed).fit(x, split.train_y) for seed in range(FORESTS)]
    return np.array([forest.score(new, split.test_y) for forest in forests]), seconds


def real_table(names: list[str]) -> list[str]:
    """Accuracies on data sets, their spread over forests, and seconds."""
    tried = methods()
    head = " | ".join(f"{name}, of {FORESTS} forests" for name in tried)
    lines = [f"| data set | series, variables × length, classes | {head} | shared, random_state=0 | seconds |"]
    lines.append("|---|---|" + "---|" * (len(tried) + 2))
    for name in names:
        split = real(name)
        found = {method: accuracies(split, features) for method, features in tried.items()}
        cells = [f"{a.mean():.3f} ({a.min():.3f} to {a.max():.3f})" for a, _ in found.values()]
        sizes = " × ".join(map(str, split.train[0].shape))
        what = f"{len(split.train)} + {len(split.test)}, {sizes}, {len(set(split.train_y))}"
        own = f"{found['shared'][0][0]:.3f} | {found['shared'][1]:.1f}"
        lines.append(f"| {name}{'*' if name in SEEN else ''} | {what} | {' | '.join(cells)} | {own} |")
        print(lines[-1], flush=True)
    return lines


def simulated_table() -> list[str]:
    """Mean accuracies on simulated series over seeds."""
    tried = methods()
    lines = [f"| simulated | {' | '.join(tried)} |", "|---|" + "---|" * len(tried)]
    for name in SIMULATED:
        splits = [simulated(name, seed) for seed in SEEDS]
        means = [[accuracies(split, features)[0].mean() for split in splits] for features in tried.values()]
        cells = [f"{np.mean(m):.3f} ± {np.std(m) / max(len(m) - 1, 1) ** 0.5:.3f}" for m in means]
        lines.append(f"| {name} | {' | '.join(cells)} |")
        print(lines[-1], flush=True)
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--all", action="store_true", help="the large data sets too")
    everything = parser.parse_args().all
    if peer() is None:
        tables = [["aeon is not installed: data sets and catch22 are left out (pip install 'decisional[aeon]')."]]
        print(tables[0][0])
    else:
        small = [*NAMED, *(name for name in SEEN if name not in LARGE)]
        tables = [real_table([*NAMED, *SEEN, *OTHERS] if everything else small)]
    tables.append(simulated_table())
    text = HEAD + "\n\n".join("\n".join(lines) for lines in tables) + "\n"
    Path(__file__).with_suffix(".md").write_text(text)


if __name__ == "__main__":
    main()
