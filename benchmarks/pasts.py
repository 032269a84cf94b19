"""Which past is chosen for signals and symbols, over seeds: a choice is worth little that depends on the seed.

`ds.selection.best_past` beside the plain rule: widths from the first two thirds, the past with the largest likelihood
of the last third. `ds.selection.best_window` for symbols. Prints a table and, when all of it was run, writes it to
benchmarks/pasts.md. Seeds are 5000 and above: none of them was used to make the rule. `--seeds 2` runs two of each.
"""

import argparse
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import decisional as ds

FIRST, SIZES, LENGTHS = 5000, (500,), (1000, 10_000)
PASTS = (1, 2, 3, 5, 8)
ALL = 20
Series = Callable[[np.random.Generator, int], NDArray[Any]]


def autoregressive(*weights: float) -> Series:
    """A weighted sum of the last values and noise."""

    def series(rng: np.random.Generator, n: int) -> NDArray[np.float64]:
        values, noise = np.zeros(n + 100), rng.normal(size=n + 100)
        for t in range(len(weights), n + 100):
            values[t] = noise[t] + sum(w * values[t - 1 - k] for k, w in enumerate(weights))
        return values[100:]

    return series


def logistic(within: float, seen: float) -> Series:
    """The logistic map with noise in the map and in what is seen of it."""

    def series(rng: np.random.Generator, n: int) -> NDArray[np.float64]:
        values = np.empty(n)
        value = rng.uniform(0.1, 0.9)
        for t in range(n):
            value = np.clip(3.9 * value * (1 - value) + within * rng.normal(), 1e-3, 1 - 1e-3)
            values[t] = value + seen * rng.normal()
        return values

    return series


def symbols(process: Callable[[], ds.EpsilonMachine]) -> Series:
    """A series of a known process."""
    return lambda rng, n: np.asarray(process().simulate(n, rng=rng))


def noisy(process: Callable[[], ds.EpsilonMachine]) -> Series:
    """Symbols 0 and 1 with noise."""
    return lambda rng, n: np.asarray(process().simulate(n, rng=rng), float) + 0.2 * rng.normal(size=n)


SIGNALS: dict[str, tuple[Series, str]] = {
    "white noise": (lambda rng, n: rng.normal(size=n), "1"),
    "Cauchy noise": (lambda rng, n: rng.standard_cauchy(size=n), "1"),
    "AR(1), 0.8": (autoregressive(0.8), "1"),
    "AR(2), 0.5 and -0.6": (autoregressive(0.5, -0.6), "2"),
    "logistic map, noise within": (logistic(0.02, 0.0), "1"),
    "logistic map, noise outside": (logistic(0.0, 0.03), "more than 1"),
    "Golden Mean with noise": (noisy(ds.processes.golden_mean), "1"),
    "Even with noise": (noisy(ds.processes.even), "more than 1"),
    "season of 12 with noise": (
        lambda rng, n: np.sin(2 * np.pi * np.arange(n) / 12) + 0.3 * rng.normal(size=n),
        "many",
    ),
}
SYMBOLS: dict[str, tuple[Series, str]] = {
    "coin": (symbols(ds.processes.coin), "1"),
    "Golden Mean": (symbols(ds.processes.golden_mean), "1"),
    "Even": (symbols(ds.processes.even), "more than 1"),
    "Nemo": (symbols(ds.processes.nemo), "more than 1"),
}


def last_third(signal: NDArray[np.float64]) -> int:
    """The past with the largest likelihood of the last third, given the first two."""
    cut = signal.size * 2 // 3
    scores = {}
    for past in PASTS:
        learnt, held_out = ds.observe.delays(signal[:cut], past), ds.observe.delays(signal[cut:], past)
        points = held_out.points
        assert points is not None
        scores[past] = ds.Kernels().model(learnt).score(held_out, points)
    return max(scores, key=scores.__getitem__)


def counted(choose: Callable[[Any], int], make: Series, n: int, seeds: int) -> str:
    """How often each past is chosen."""
    found = Counter(choose(make(np.random.default_rng(FIRST + k), n)) for k in range(seeds))
    return ", ".join(f"{past}: {times}" for past, times in sorted(found.items()))


def main() -> None:
    """Print the tables and write them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=ALL, help="series of each kind")
    seeds = parser.parse_args().seeds
    lines = [
        "# The past that the data choose",
        "",
        f"Written by `benchmarks/pasts.py`: {seeds} seeds from {FIRST}.",
        "",
    ]
    lines += ["| signal | N | past needed | last third: past: times | best_past: past: times |"]
    lines += ["|---|--:|---|---|---|"]
    for name, (make, truth) in SIGNALS.items():
        for n in SIZES:
            found = [counted(choose, make, n, seeds) for choose in (last_third, ds.selection.best_past)]
            lines.append(f"| {name} | {n:,} | {truth} | {' | '.join(found)} |")
            print(lines[-1], flush=True)
    lines += ["", "| symbols | N | past needed | best_window: past: times |", "|---|--:|---|---|"]
    for name, (make, truth) in SYMBOLS.items():
        for n in LENGTHS:
            lines.append(f"| {name} | {n:,} | {truth} | {counted(ds.selection.best_window, make, n, seeds)} |")
            print(lines[-1], flush=True)
    if seeds >= ALL:
        Path(__file__).with_suffix(".md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
