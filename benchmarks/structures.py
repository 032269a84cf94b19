"""How often `ds.epsilon_machine` finds the machine of what symbols look like: noise, long memory, gaps, many letters.

Each source has a known machine: right is the same states and edges, or a description that is not longer than that of
the true machine. Prints a table with the bits above the truth and the CPU time and, when all of it was run, writes it
to benchmarks/structures.md. Rules were tuned on seeds below 1000; these are 20000 and on. `--scale 0.3` runs a part.
"""

import argparse
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

import decisional as ds
from decisional.data import sequences as reading
from decisional.machines.isomorphism import isomorphic
from decisional.states import machine_selection as selection
from decisional.states.hidden_search import judged as hidden_judged
from decisional.states.hidden_series import Hidden, known_symbols
from decisional.states.search import SymbolSeries

FIRST = 20000
MISSING = -9
# A source: symbols, and the targets and weights of the edges of its machine.
Source = tuple[np.ndarray, np.ndarray, np.ndarray]


def of_machine(machine: ds.EpsilonMachine, n: int, rng: np.random.Generator) -> Source:
    return np.asarray(machine.simulate(n, rng=rng)).astype(int), machine.targets, machine.emission


def noisy_period(seed: int, n: int, period: int, letters: int) -> Source:
    """A random word that comes again and again; one symbol in twenty is another one."""
    rng = np.random.default_rng([11, period, letters, seed])
    while True:
        word = rng.integers(0, letters, period)
        parts = [d for d in range(1, period) if period % d == 0]
        if not any(np.array_equal(np.tile(word[:d], period // d), word) for d in parts):
            break
    symbols = np.tile(word, n // period + 1)[:n]
    wrong = rng.random(n) < 0.05
    symbols[wrong] = (symbols[wrong] + rng.integers(1, letters, wrong.sum())) % letters
    targets = np.tile((np.arange(1, period + 1) % period)[:, None], letters)
    return symbols, targets, np.ones(targets.shape)


def any_period(seed: int, n: int) -> Source:
    rng = np.random.default_rng([10, seed])
    return noisy_period(seed, n, int(rng.integers(2, 61)), int(rng.integers(2, 27)))


def lagged(seed: int, n: int, lag: int = 8) -> Source:
    """Each symbol is the one `lag` before, or one time in ten the other one."""
    rng = np.random.default_rng([12, seed])
    symbols, flip = rng.integers(0, 2, n), rng.random(n) < 0.1
    for i in range(lag, n):
        symbols[i] = symbols[i - lag] ^ flip[i]
    states = np.arange(1 << lag)
    targets = np.stack([(states << 1 | b) & ((1 << lag) - 1) for b in (0, 1)], axis=1)
    return symbols, targets, np.ones(targets.shape)


def markov(seed: int, n: int, order: int = 8) -> Source:
    """A Markov chain of order 8 with random probabilities."""
    rng = np.random.default_rng([13, seed])
    p, uniform, state = rng.random(1 << order), rng.random(n), 0
    symbols = np.empty(n, int)
    for i in range(n):
        symbols[i] = uniform[i] < p[state]
        state = (state << 1 | symbols[i]) & ((1 << order) - 1)
    states = np.arange(1 << order)
    targets = np.stack([(states << 1 | b) & ((1 << order) - 1) for b in (0, 1)], axis=1)
    return symbols, targets, np.ones(targets.shape)


def coins(seed: int, n: int) -> Source:
    """Two coins in turn, of 0.45 and 0.55."""
    rows = [(0, 0, 1, 0.55), (0, 1, 1, 0.45), (1, 0, 0, 0.45), (1, 1, 0, 0.55)]
    return of_machine(ds.EpsilonMachine(rows), n, np.random.default_rng([19, seed]))


def minimal(machine: ds.EpsilonMachine) -> bool:
    return machine.recurrent_part().n_states == machine.n_states == machine.minimise(0.05).n_states


def permutation(seed: int, n: int, least: int = 2, most: int = 6) -> Source:
    """A machine of 2 to 6 states, or others, whose symbols permute them: no finite past tells the state."""
    rng = np.random.default_rng([14, seed])
    while True:
        states, letters = int(rng.integers(least, most + 1)), int(rng.integers(2, 4))
        targets = np.stack([rng.permutation(states) for _ in range(letters)], axis=1)
        emission = rng.dirichlet(np.ones(letters), states)
        machine = ds.EpsilonMachine.from_arrays(targets, emission, range(letters))
        if emission.min() >= 0.1 and minimal(machine):
            return of_machine(machine, n, rng)


def rare_edge(seed: int, n: int) -> Source:
    """A random machine of 2 to 6 states with one edge of probability 0.01."""
    rng = np.random.default_rng([15, seed])
    while True:
        drawn = ds.processes.random_machine(int(rng.integers(2, 7)), int(rng.integers(2, 4)), rng)
        emission = drawn.emission.copy()
        rows = np.flatnonzero((emission > 0).sum(axis=1) > 1)
        if rows.size == 0:
            continue
        k = rng.choice(rows)
        a = rng.choice(np.flatnonzero(emission[k]))
        emission[k, a] = 0.0
        emission[k] *= 0.99 / emission[k].sum()
        emission[k, a] = 0.01
        machine = ds.EpsilonMachine.from_arrays(drawn.targets, emission, drawn.alphabet)
        if minimal(machine):
            return of_machine(machine, n, rng)


def random(seed: int, n: int, least: int, most: int, letters: int) -> Source:
    rng = np.random.default_rng([16, least, seed])
    states, symbols = int(rng.integers(least, most + 1)), int(rng.integers(2, letters + 1))
    return of_machine(ds.processes.random_machine(states, symbols, rng), n, rng)


def many_letters(seed: int, n: int, states: int = 30, letters: int = 26) -> Source:
    """A random machine over many letters, of which each state uses some often."""
    rng = np.random.default_rng([17, letters, seed])
    targets = rng.integers(0, states, (states, letters))
    emission = rng.dirichlet(np.full(letters, 0.15), states)
    machine = ds.EpsilonMachine.from_arrays(targets, emission, range(letters))
    return of_machine(machine, n, rng)


def small(seed: int, n: int) -> Source:
    return random(seed, n, 2, 6, 3)


def large(seed: int, n: int) -> Source:
    return random(seed, n, 13, 20, 4)


def holes(seed: int, n: int) -> Source:
    """One of 8 processes with 2 to 30 % of the symbols missing."""
    names = ["even", "golden_mean", "nemo", "rip", "rrxor", "perturbed_coin", "nrps", "restricted_golden_mean"]
    rng = np.random.default_rng([18, seed])
    symbols, *machine = of_machine(ds.processes.catalogue[names[seed % 8]](), n, rng)
    symbols[rng.random(n) < (0.02, 0.1, 0.2, 0.3)[seed // 8 % 4]] = MISSING
    return symbols, *machine


def period_13(seed: int, n: int) -> Source:
    return noisy_period(seed, n, 13, 2)


def period_40(seed: int, n: int) -> Source:
    return noisy_period(seed, n, 40, 2)


def letters_26(seed: int, n: int) -> Source:
    return noisy_period(seed, n, 40, 26)


# What is measured, on how many symbols, and how often.
RUNS: list[tuple[str, Callable[[int, int], Source], int, int]] = [
    ("period 13, 5 % noise", period_13, 30_000, 10),
    ("period 40, 5 % noise", period_40, 30_000, 10),
    ("period 40, 26 letters, 5 % noise", letters_26, 20_000, 10),
    ("periods 2-60, 2-26 letters, 5 % noise", any_period, 30_000, 40),
    ("lag 8", lagged, 30_000, 5),
    ("Markov order 8", markov, 100_000, 5),
    ("coins of 0.45 and 0.55 in turn", coins, 10_000, 16),
    ("permutations, 2 to 6 states", permutation, 100_000, 40),
    ("an edge of 1 %, 2 to 6 states", rare_edge, 100_000, 40),
    ("random machines, 2 to 6 states", small, 1_000, 100),
    ("random machines, 13 to 20 states", large, 1_000_000, 10),
    ("gaps of 2 to 30 %, 8 processes", holes, 20_000, 32),
]


def hidden_length(read: Any, steps: np.ndarray) -> float:
    """Description length of the hidden states of a source, their probabilities improved."""
    series = known_symbols(read.lut[read.raw].astype(int), read.bounds, len(read.letters))
    home = np.full(steps.shape[1], 1.0 / steps.shape[1])
    improved = series.improve(Hidden(np.ascontiguousarray(steps), home), 100)
    return hidden_judged(improved, series).description_length


def judged(run: Callable[[int, int], Any], seed: int, n: int) -> tuple[bool, bool, float, float, bool, bool]:
    """Whether the machine is right, or not longer; bits above the truth, per cent; CPU seconds; whether it warns.

    At last whether the search was ended by time or work.

    Where the source has no finite machine (no targets) none is right, but one may be as short as the hidden states of
    the source (weights), if these are known.
    """
    symbols, targets, weights = run(seed, n)
    begin = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = selection.select(symbols, missing=MISSING)
        warned, cut = found.warning is not None, found.cut or found.bounded
    seconds = time.process_time() - begin
    read: Any = reading.read(symbols, MISSING)
    if targets is None:
        above = np.inf if weights is None else 100.0 * (found.chosen.length / hidden_length(read, weights) - 1.0)
        return False, bool(above <= 0), above, seconds, warned, cut
    series = SymbolSeries(read.raw, read.lut, read.bounds, len(read.letters))
    columns = [int(str(a)) for a in read.letters]
    true = series.settle(series.drive(targets[:, columns], weights[:, columns]))
    nothing = np.zeros(found.chosen.targets.shape), np.zeros(true.targets.shape)
    right = isomorphic(found.chosen.targets, nothing[0], true.targets, nothing[1], 1.0)
    above = 100.0 * (found.chosen.length / true.length - 1.0)
    return right, right or above <= 0, above, seconds, warned, cut


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", type=float, default=1.0, help="share of the runs to do")
    parser.add_argument("--first", type=int, default=FIRST, help="first seed")
    parser.add_argument("--workers", type=int, default=2, help="processes")
    given = parser.parse_args()
    lines = [
        "| what | N | right | right or shorter | bits above the truth | CPU s, mean (most) | warned: right, wrong |",
        "|---|--:|--:|--:|--:|--:|--:|",
    ]
    with ProcessPoolExecutor(given.workers) as pool:
        for name, run, n, times in RUNS:
            times = max(1, int(given.scale * times))
            rows = list(pool.map(judged, [run] * times, range(given.first, given.first + times), [n] * times))
            right, good, above, seconds, warned, _ = map(np.array, zip(*rows, strict=True))
            told = f"{warned[good].sum()} of {good.sum()}, {warned[~good].sum()} of {(~good).sum()}"
            lines.append(
                f"| {name} | {n:.0e} | {right.sum()}/{times} | {good.sum()}/{times} | {above.mean():.2f} % "
                f"| {seconds.mean():.2f} ({seconds.max():.2f}) | {told} |"
            )
            print(lines[-1], flush=True)
    if given.scale < 1:
        return
    head = f"# Noise, memory, gaps, letters\n\nWritten by `benchmarks/structures.py`, seeds {given.first} and on.\n\n"
    Path(__file__).with_suffix(".md").write_text(head + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
