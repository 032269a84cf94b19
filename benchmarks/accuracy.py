"""Accuracy against peers: how often the true epsilon-machine comes back, on the same series for all.

Every process of `decisional.processes.catalogue`; a machine is right if its recurrent part is isomorphic to the truth,
probabilities within 0.1 (0.2 below 10,000 symbols). Prints a table and writes it to benchmarks/accuracy.md. The peer
emic is left out unless installed: pip install emic.
"""

import argparse
import time
import warnings
from collections.abc import Callable, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

import decisional as ds

HEAD = """\
Written by `benchmarks/accuracy.py`: how many machines come back right, on the same series for all methods. A machine is
right if its recurrent part is isomorphic to the truth, probabilities within 0.1 (0.2 below 10,000 symbols). To be read
with it: few series; the processes are among those that `decisional` was developed on; `decisional` chooses its windows,
the others are given one length for all processes, and the level 0.001 for their tests; the times are those of whatever
else the machine was doing."""

Method = Callable[[np.ndarray], ds.EpsilonMachine]


def literal(symbols: np.ndarray) -> ds.EpsilonMachine:
    """The settings of the paper's section 6.1 to the letter, with a past of 5."""
    settings = {"density": ds.Counts(min_count=1), "match": ds.ChiSquare(0.05, family_wise=False)}
    causal = ds.CausalStates(**settings, constraints="paper", theta=0.95, passes=1)
    return causal.fit(ds.observe.series(symbols, past=5)).machine_


def emic_cssr(symbols: np.ndarray) -> ds.EpsilonMachine:
    """CSSR of emic with a past of 5 and the level of CSSR's authors, as an EpsilonMachine."""
    from emic.inference import CSSR, CSSRConfig

    found = CSSR(CSSRConfig(max_history=5, significance=0.001)).infer(symbols.tolist()).machine
    rows = [(s.id, t.symbol, t.target, float(t.probability)) for s in found.states for t in s.transitions]
    return ds.EpsilonMachine(rows)


def methods() -> dict[str, Method]:
    """The methods that are installed, by name."""
    found: dict[str, Method] = {
        "decisional, no parameters": ds.epsilon_machine,
        "CSSR, L = 5": lambda symbols: ds.baselines.cssr(symbols, 5),
        "CSSR, L = 8": lambda symbols: ds.baselines.cssr(symbols, 8),
        "paper to the letter, L = 5": literal,
    }
    try:
        version = metadata.version("emic")
    except metadata.PackageNotFoundError:
        print("emic is not installed and left out: pip install emic.")
    else:
        found[f"emic {version} CSSR, L = 5"] = emic_cssr
    return found


def is_right(machine: ds.EpsilonMachine, truth: ds.EpsilonMachine, n: int) -> bool:
    atol = 0.2 if n < 10_000 else 0.1
    return bool(machine.recurrent.any()) and machine.recurrent_part().is_isomorphic(truth, atol=atol)


def measure(run: Method, truth: ds.EpsilonMachine, series: Sequence[np.ndarray]) -> tuple[list[bool], list[float]]:
    """Whether each machine is right, and the seconds it took. A method that fails with an error is wrong."""
    right, seconds = [], []
    for symbols in series:
        start = time.perf_counter()
        machine: Any = None
        try:
            machine = run(symbols)
        except Exception as error:
            print(f"  failed: {type(error).__name__}: {error}")
        seconds.append(time.perf_counter() - start)
        right.append(machine is not None and is_right(machine, truth, symbols.size))
    return right, seconds


def table(runs: dict[str, Method], n: int, seeds: int) -> list[str]:
    """One row for each process: how many machines are right."""
    lines = [f"## N = {n:,}, {seeds} series of each process", ""]
    lines += ["| process | states | " + " | ".join(runs) + " |", "|---|--:|" + "--:|" * len(runs)]
    all_right: dict[str, list[bool]] = {name: [] for name in runs}
    all_seconds: dict[str, list[float]] = {name: [] for name in runs}
    for process, make in ds.processes.catalogue.items():
        truth = make()
        series = [truth.simulate(n, rng=[seed, n]) for seed in range(seeds)]
        cells = []
        for name, run in runs.items():
            right, seconds = measure(run, truth, series)
            all_right[name] += right
            all_seconds[name] += seconds
            cells.append(f"{sum(right)}/{seeds}")
        lines.append(f"| {process} | {truth.n_states} | " + " | ".join(cells) + " |")
        print(lines[-1], flush=True)
    lines.append("| **right** | | " + " | ".join(f"**{np.mean(r):.0%}**" for r in all_right.values()) + " |")
    lines.append("| mean seconds | | " + " | ".join(f"{np.mean(s):.3f}" for s in all_seconds.values()) + " |")
    print("\n".join(lines[-2:]) + "\n", flush=True)
    return [*lines, ""]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=lambda text: int(float(text)), nargs="+", default=[10**3, 10**4, 10**5])
    parser.add_argument("--seeds", type=int, nargs="+", default=[3, 3, 1], help="series for each size, or one for all")
    options = parser.parse_args()
    seeds = options.seeds * len(options.sizes) if len(options.seeds) == 1 else options.seeds
    if len(seeds) < len(options.sizes):
        parser.error("--seeds takes one number, or one for each size")
    # Uncertainty is told by warnings: here it is measured.
    warnings.simplefilter("ignore", UserWarning)
    runs = methods()
    for run in runs.values():
        # Kernels are compiled, or found on disk, outside the times.
        run(ds.processes.even().simulate(1000, rng=0))
    lines = ["# Accuracy", "", HEAD, ""]
    for n, k in zip(options.sizes, seeds, strict=False):
        print(f"N = {n:,}: {', '.join(runs)}")
        lines += table(runs, n, k)
    Path(__file__).with_suffix(".md").write_text("\n".join(lines))


if __name__ == "__main__":
    main()
