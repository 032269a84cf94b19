"""How often `ds.epsilon_machine` warns of machines that are wrong, and of those that are right.

Right is the same states and edges as those of the source; wrong is a longer description than that of its machine, or
than that of its hidden states where it has no finite machine, or any if these are not known. Between them are other
machines that are shorter: there are too few symbols to tell the source from them. Cut are those whose search was ended
by the work that it may take; they are not counted elsewhere unless they are wrong. Series are short for their source,
or the source is more than can be found. Prints a table and, when all of it was run, writes it to benchmarks/doubts.md.
Rules were tuned on seeds below 1000; these are 53000 and on. `--scale 0.3` runs a part.
"""

import argparse
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import hard_inputs
import numpy as np
import structures
from selection import FREE
from structures import Source, judged

import decisional as ds

FIRST = 53000


def known(seed: int, n: int) -> Source:
    """A process of the catalogue."""
    name = sorted(FREE)[seed % len(FREE)]
    return structures.of_machine(ds.processes.catalogue[name](), n, np.random.default_rng([51, seed]))


def independent(seed: int, n: int) -> Source:
    rng = np.random.default_rng([52, seed])
    letters = int(rng.integers(2, 27))
    return rng.integers(0, letters, n), np.zeros((1, letters), int), np.ones((1, letters))


def medium(seed: int, n: int) -> Source:
    return structures.random(seed, n, 7, 12, 3)


def letters_300(seed: int, n: int) -> Source:
    return structures.many_letters(seed, n, letters=300)


def order_12(seed: int, n: int) -> Source:
    return structures.markov(seed, n, 12)


def long_lag(seed: int, n: int) -> Source:
    return structures.lagged(seed, n, 11)


def noisy_even(seed: int, n: int) -> Any:
    return hard_inputs.hidden(seed, n), None, ds.processes.misread(ds.processes.even(), 0.1).steps


def mess3(seed: int, n: int) -> Any:
    return hard_inputs.mess3(seed, n), None, ds.processes.mess3().steps


def hidden_machine(seed: int, n: int) -> Any:
    """Three hidden states drawn at random."""
    rng = np.random.default_rng([55, seed])
    machine = ds.processes.random_hidden(3, int(rng.integers(2, 4)), rng=rng)
    return np.asarray(machine.simulate(n, rng=rng)).astype(int), None, machine.steps


def many_permutations(seed: int, n: int) -> Source:
    return structures.permutation(seed, n, 6, 9)


def dna(seed: int, n: int) -> Any:
    return hard_inputs.dna(seed, n), None, None


def text(seed: int, n: int) -> Any:
    """A stretch of the documentation."""
    words = hard_inputs.text(seed, 400_000)
    begin = int(np.random.default_rng([54, seed]).integers(0, len(words) - n))
    return words[begin : begin + n], None, None


# What is measured, on how many symbols, and how often.
RUNS: list[tuple[str, Callable[[int, int], Any], int, int]] = [
    ("known processes", known, 1_000, 45),
    ("known processes", known, 3_000, 45),
    ("known processes", known, 30_000, 45),
    ("independent symbols", independent, 3_000, 40),
    ("random machines, 2 to 6 states", structures.small, 300, 60),
    ("random machines, 2 to 6 states", structures.small, 1_000, 60),
    ("random machines, 2 to 6 states", structures.small, 10_000, 40),
    ("random machines, 7 to 12 states", medium, 3_000, 40),
    ("random machines, 7 to 12 states", medium, 30_000, 20),
    ("random machines, 13 to 20 states", structures.large, 10_000, 20),
    ("permutations, 2 to 6 states", structures.permutation, 3_000, 40),
    ("permutations, 2 to 6 states", structures.permutation, 30_000, 20),
    ("permutations, 6 to 9 states", many_permutations, 10_000, 20),
    ("an edge of 1 %, 2 to 6 states", structures.rare_edge, 10_000, 40),
    ("periods 2-60, 2-26 letters, 5 % noise", structures.any_period, 2_000, 20),
    ("gaps of 2 to 30 %, 8 processes", structures.holes, 3_000, 32),
    ("lag 8", structures.lagged, 10_000, 5),
    ("lag 11", long_lag, 100_000, 3),
    ("Markov order 8", structures.markov, 100_000, 3),
    ("Markov order 12", order_12, 300_000, 2),
    ("30 states, 26 letters", structures.many_letters, 10_000, 10),
    ("30 states, 300 letters", letters_300, 100_000, 2),
    ("noisy Even", noisy_even, 10_000, 10),
    ("noisy Even", noisy_even, 100_000, 5),
    ("Mess3", mess3, 10_000, 10),
    ("Mess3", mess3, 100_000, 5),
    ("random hidden states", hidden_machine, 10_000, 20),
    ("like DNA", dna, 100_000, 4),
    ("text", text, 30_000, 5),
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", type=float, default=1.0, help="share of the runs to do")
    parser.add_argument("--first", type=int, default=FIRST, help="first seed")
    parser.add_argument("--workers", type=int, default=1, help="processes")
    given = parser.parse_args()
    lines = [
        "| what | N | warned: right | shorter | wrong | cut | CPU s, mean (most) |",
        "|---|--:|--:|--:|--:|--:|--:|",
    ]
    every: list[tuple[bool, bool, bool, bool]] = []
    with ProcessPoolExecutor(given.workers) as pool:
        for name, run, n, times in RUNS:
            times = max(1, int(given.scale * times))
            rows = list(pool.map(judged, [run] * times, range(given.first, given.first + times), [n] * times))
            right, good, _, seconds, warned, cut = map(np.array, zip(*rows, strict=True))
            every += zip(right.tolist(), good.tolist(), warned.tolist(), cut.tolist(), strict=True)
            told = _told(right, good, warned, cut)
            lines.append(f"| {name} | {n:.0e} | {told} | {seconds.mean():.2f} ({seconds.max():.2f}) |")
            print(lines[-1], flush=True)
    lines.append(f"| all | | {_told(*map(np.array, zip(*every, strict=True)))} | |")
    print(lines[-1], flush=True)
    if given.scale < 1:
        return
    head = f"# Doubts\n\nWritten by `benchmarks/doubts.py`, seeds {given.first} and on.\n\n"
    Path(__file__).with_suffix(".md").write_text(head + "\n".join(lines) + "\n")


def _told(right: Any, good: Any, warned: Any, cut: Any) -> str:
    kinds = right & ~cut, good & ~right & ~cut, ~good, good & cut
    return " | ".join(f"{warned[kind].sum()} of {kind.sum()}" for kind in kinds)


if __name__ == "__main__":
    main()
