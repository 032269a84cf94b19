"""Coordinates of causal states: what few of them keep of what is known about the future, and evolution on them.

Prints tables and writes them to benchmarks/coordinates.md. Lorenz's and Rössler's systems (systems.py), one coordinate
through noise, past 3; 2,000 values are learnt, 600 held out. "Bits kept" is the mean log2 density of held-out z given
the coordinates alone, less that of a kernel density of all z, over the same for P(Z|x), the stack behind
`causal.score`. "CRPS" is that of forecasts five steps ahead by evolution on the coordinates over that of direct ones,
`causal.forecast(X, steps=5)`: below 1 evolution is better.
"""

import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import gaussian_kde
from systems import lorenz, rossler

import decisional as ds

SYSTEMS: dict[str, Any] = {"Lorenz": lorenz, "Rössler": rossler}
TUNED, FRESH = range(1, 3), range(32_000, 32_004)
LEARNT, HELD_OUT, PAST, STEPS, NUMBERS = 2000, 600, 3, 5, (2, 3)
LARGE = 100_000
HEAD = """# Coordinates of causal states

Written by `benchmarks/coordinates.py`, which says what is measured. Mean over seeds, and the worst of them in brackets.

"""


def measured(name: str, seed: int) -> dict[int, tuple[float, float]]:
    """Share of the bits kept, and ratio of ranked probability scores, by the number of coordinates."""
    values, _ = SYSTEMS[name](LEARNT + HELD_OUT, np.random.default_rng(seed))
    learnt, new = values[:LEARNT], ds.observe.delays(values[LEARNT:], PAST)
    causal = ds.CausalStates().fit(ds.observe.delays(learnt, PAST))
    z = np.asarray(new.targets)[new.z, 0]
    blind = float(np.log2(gaussian_kde(learnt, "silverman")(z)).mean())

    def bits(forecast: Any) -> float:
        return float(forecast.log_score(z).mean()) - blind

    def crps(forecast: Any) -> float:
        # What is forecast is the z of the observation that comes so many steps later, less one.
        return float(forecast[: 1 - STEPS].crps(z[STEPS - 1 :]).mean())

    known, direct = bits(causal.forecast(new)), crps(causal.forecast(new, STEPS))
    found = {}
    for n in NUMBERS:
        map_ = causal.coordinates(n)
        found[n] = bits(map_.forecast(new)) / known, crps(map_.forecast(new, STEPS)) / direct
    print(name, seed, found, flush=True)
    return found


def table(title: str, seeds: Iterable[int]) -> list[str]:
    lines = [f"| {title} | coordinates | bits kept | CRPS, evolution over direct |", "|---" * 4 + "|"]
    for name in SYSTEMS:
        runs = [measured(name, seed) for seed in seeds]
        for n in NUMBERS:
            kept, ratio = (np.array([run[n][k] for run in runs]) for k in (0, 1))
            kept_text = f"{kept.mean():.1%} ({kept.min():.1%})"
            lines.append(f"| {name} | {n} | {kept_text} | {ratio.mean():.3f} ({ratio.max():.3f}) |")
            print(lines[-1], flush=True)
    return [*lines, ""]


def speed() -> str:
    """Seconds of the coordinates of many observations, all of them placed, and one evolution."""
    values, _ = SYSTEMS["Lorenz"](LARGE, np.random.default_rng(FRESH[0]))
    causal = ds.CausalStates().fit(ds.observe.delays(values, PAST))
    start = time.perf_counter()
    found = causal.coordinates(3)
    placed = time.perf_counter() - start
    found.evolve(found.values, STEPS)
    return f"{LARGE:,} values: three coordinates in {placed:.1f} s, evolution of all by {STEPS} steps included " + (
        f"{time.perf_counter() - start:.1f} s."
    )


def main() -> None:
    lines = [*table(f"seeds {FRESH[0]}-{FRESH[-1]}", FRESH), *table(f"tuned on {TUNED[0]}-{TUNED[-1]}", TUNED)]
    written = HEAD + "\n".join([*lines, speed(), ""])
    Path(__file__).with_suffix(".md").write_text(written)
    print(written)


if __name__ == "__main__":
    main()
