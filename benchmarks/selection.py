"""How often `ds.epsilon_machine` finds the true machine, without parameters: isomorphic, not only as many states.

Known processes, the same with random probabilities, random machines, noise, and a source with infinitely many causal
states. Prints a table and, when all of it was run, writes it to benchmarks/selection.md. All series are seeded;
`--scale 0.1` runs a tenth.
"""

import argparse
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np

import decisional as ds
from decisional.states import machine_selection as selection

# Fifteen processes, with the number of probabilities that are drawn from 0.2 ... 0.8.
FREE = dict.fromkeys(list(ds.processes.catalogue)[:15], 1) | {"periodic": 0, "rrxor": 2, "rip": 2, "nemo": 2, "nrps": 2}


def known(seed: int, n: int) -> bool:
    """A process of the catalogue with its default parameters."""
    name = sorted(FREE)[seed % len(FREE)]
    true = ds.processes.catalogue[name]()
    return selection.select(true.simulate(n, rng=seed)).machine.is_isomorphic(true, atol=0.2)


def parametric(seed: int, n: int) -> bool:
    """A process of the catalogue with random probabilities."""
    name = sorted(FREE)[seed % len(FREE)]
    rng = np.random.default_rng([1, seed])
    values = rng.uniform(0.2, 0.8, FREE[name]).tolist()
    make = ds.processes.catalogue[name]
    true = make(p=values[0]) if name == "restricted_golden_mean" else make(*values)
    return selection.select(true.simulate(n, rng=rng)).machine.is_isomorphic(true, atol=0.2)


def random(seed: int, n: int, least: int, most: int) -> bool:
    """A random machine of `least` to `most` states and 2 or 3 symbols."""
    rng = np.random.default_rng([2, least, seed])
    true = ds.processes.random_machine(int(rng.integers(least, most + 1)), int(rng.integers(2, 4)), rng)
    return selection.select(true.simulate(n, rng=rng)).machine.is_isomorphic(true, atol=0.2)


def small(seed: int, n: int) -> bool:
    return random(seed, n, 2, 6)


def large(seed: int, n: int) -> bool:
    return random(seed, n, 7, 12)


def noise(seed: int, n: int) -> bool:
    """Independent symbols, 2 to 26 of them: one state."""
    rng = np.random.default_rng([3, seed])
    return selection.select(rng.integers(0, int(rng.integers(2, 27)), n)).machine.n_states == 1


def infinite(seed: int, n: int) -> bool:
    """The simple non-unifilar source: entropy rate within 0.005 bits of 0.677867."""
    stay = np.random.default_rng([4, seed]).random(n) < 0.5
    symbols, hidden = np.ones(n, np.uint8), 0
    for i, here in enumerate(stay.tolist()):
        if hidden == 0:
            hidden = int(not here)
        elif not here:
            symbols[i], hidden = 0, 0
    return abs(selection.select(symbols).machine.entropy_rate() - 0.677867) < 0.005


# What is measured, on how many symbols, how often, and the share that is asked for.
RUNS: list[tuple[str, Callable[[int, int], bool], int, int, float]] = [
    ("known processes", known, 1_000, 300, 0.85),
    ("known processes", known, 10_000, 300, 0.98),
    ("known processes", known, 100_000, 300, 0.99),
    ("the same, probabilities 0.2 ... 0.8", parametric, 100_000, 150, 0.95),
    ("random machines, 2 to 6 states", small, 10_000, 200, 0.90),
    ("random machines, 2 to 6 states", small, 100_000, 200, 0.97),
    ("random machines, 7 to 12 states", large, 1_000_000, 50, 0.85),
    ("independent symbols, one state", noise, 1_000, 200, 0.98),
    ("independent symbols, one state", noise, 10_000, 200, 0.98),
    ("independent symbols, one state", noise, 100_000, 200, 0.98),
    ("independent symbols, one state", noise, 1_000_000, 20, 0.98),
    ("infinitely many states, entropy rate", infinite, 1_000_000, 2, 1.0),
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", type=float, default=1.0, help="share of the runs to do")
    scale = parser.parse_args().scale
    lines = ["| what | N | right | share | asked | seconds each |", "|---|--:|--:|--:|--:|--:|"]
    with ProcessPoolExecutor(2) as pool:
        for name, run, n, times, asked in RUNS:
            times = max(1, int(scale * times))
            start = time.perf_counter()
            right = sum(pool.map(run, range(times), [n] * times))
            seconds = 2 * (time.perf_counter() - start) / times
            lines.append(f"| {name} | {n:.0e} | {right}/{times} | {right / times:.1%} | {asked:.0%} | {seconds:.2f} |")
            print(lines[-1], flush=True)
    if scale < 1:
        return
    head = "# Without parameters\n\nWritten by `benchmarks/selection.py`: how often `ds.epsilon_machine` is right.\n\n"
    Path(__file__).with_suffix(".md").write_text(head + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
