"""How often intervals for C, h, E and the number of states contain the truth, and how often ties of estimated machines
are found.

Random machines of 2 to 6 states and 2 or 3 symbols, intervals at 90 %; then five processes and four utilities at 10,000
symbols. Prints tables and writes them to benchmarks/intervals.md. Rules were chosen on seeds below 1000.
"""

import argparse
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import decisional as ds

FIRST = 50_000
PROCESSES = ("coin", "golden_mean", "even", "rrxor", "nemo")
UTILITIES = {
    "zero_one": ds.utility.zero_one(),
    "bet": ds.utility.table([[1, -1], [-1, 1]], y=["no", "yes"], z=[0, 1]),
    "bet or stay": ds.utility.table([[1, 0], [0, 1], [0.5, 0.5]], y=["no", "yes", "stay"], z=[0, 1]),
    "absolute_error": ds.utility.absolute_error(),
}


def covered(seed: int, n: int) -> tuple[list[bool], bool]:
    """Whether each of the four intervals has the truth, and whether the machine was found."""
    rng = np.random.default_rng([9, seed])
    true = ds.processes.random_machine(int(rng.integers(2, 7)), int(rng.integers(2, 4)), rng)
    symbols = true.simulate(n, rng=rng)
    found = ds.selection.intervals(symbols)
    truth = true.statistical_complexity(), true.entropy_rate(), true.excess_entropy(1e-6), true.n_states
    ends = found.statistical_complexity, found.entropy_rate, found.excess_entropy, found.n_states
    right = ds.epsilon_machine(symbols).is_isomorphic(true, atol=1.0)
    return [low <= value <= high for value, (low, high) in zip(truth, ends, strict=True)], right


def same_set(a: Any, b: Any) -> bool:
    """Whether two sets of best predictions are the same, intervals up to rounding."""
    if hasattr(a, "low"):
        return bool(np.allclose((a.low, a.high), (b.low, b.high)))
    return set(a) == set(b)


def is_tie(best: Any) -> bool:
    """Whether several predictions are best."""
    return bool(best.low < best.high) if hasattr(best, "low") else len(best) > 1


def ties(seeds: range, n: int = 10_000) -> list[str]:
    """Ties found of the true ones, other sets that are right, and regret, for machines that were found."""
    counts = np.zeros(4, int)
    regret = np.zeros(2)
    for name in PROCESSES:
        true = ds.processes.catalogue[name]()
        for seed in seeds:
            machine, new = ds.epsilon_machine(true.simulate(n, rng=[7, seed])), true.simulate(5_000, rng=[8, seed])
            if not machine.is_isomorphic(true, atol=0.1):
                continue
            met = zip(true.filter(new[:300]).tolist(), machine.filter(new[:300]).tolist(), strict=True)
            pairs = {(i, j) for i, j in met if i >= 0 and j >= 0}
            exact = ds.EpsilonMachine.from_arrays(machine.targets, machine.emission, machine.alphabet)
            for utility in UTILITIES.values():
                truth, found, before = (ds.DecisionalStates(utility).fit(m) for m in (true, machine, exact))
                for i, j in pairs:
                    tie = is_tie(truth.predictions_[i])
                    counts[0 if tie else 2] += same_set(truth.predictions_[i], found.predictions_[j])
                    counts[1 if tie else 3] += 1
                regret += [truth.expected_utility_ - choice.score(new) for choice in (before, found)]
    told = sum(
        same_set(*(ds.DecisionalStates(u).fit(m).predictions_[0] for m in (biased, ds.processes.coin(0.55))))
        for u in UTILITIES.values()
        for biased in (ds.epsilon_machine(ds.processes.coin(0.55).simulate(n, rng=[9, seed])) for seed in seeds)
    )
    runs = len(seeds) * len(PROCESSES) * len(UTILITIES)
    return [
        "| what | result |",
        "|---|--:|",
        f"| true ties found as ties | {counts[0]} of {counts[1]} |",
        f"| other sets of best predictions right | {counts[2]} of {counts[3]} |",
        f"| p = 0.55 told from 0.5 | {told} of {len(seeds) * len(UTILITIES)} |",
        f"| mean regret, probabilities taken as exact | {regret[0] / runs:.6f} |",
        f"| mean regret, by sampling error | {regret[1] / runs:.6f} |",
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--machines", type=int, nargs=2, default=(200, 200), help="at N = 1e3 and 1e4")
    parser.add_argument("--seeds", type=int, default=20, help="series of each process for ties")
    parser.add_argument("--first", type=int, default=FIRST, help="first seed")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    lines = [f"# Coverage of intervals at 90 %, seeds from {options.first}", ""]
    lines += [
        "| N | machines | C | h | E | states | machine found | CPU seconds each |",
        "|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for n, count in zip((1_000, 10_000), options.machines, strict=True):
        start = time.process_time()
        rows = [covered(seed, n) for seed in range(options.first, options.first + count)]
        shares = np.mean([[*inside, right] for inside, right in rows], axis=0) if rows else np.full(5, np.nan)
        each = (time.process_time() - start) / max(count, 1)
        cells = " | ".join(f"{share:.1%}" for share in shares)
        lines.append(f"| {n:,} | {count} | {cells} | {each:.1f} |")
        print(lines[-1], flush=True)
    lines += ["", "## Ties of estimated machines, 10,000 symbols", ""]
    lines += ties(range(options.first, options.first + options.seeds))
    print("\n".join(lines[-7:]))
    Path(__file__).with_suffix(".md").write_text("\n".join([*lines, ""]))


if __name__ == "__main__":
    main()
