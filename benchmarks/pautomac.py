"""Whole strings: how near the probabilities of `ds.epsilon_machine(strings, whole=True)` are to the true ones.

    python benchmarks/pautomac.py DIR

DIR has problems of the PAutomaC competition (S. Verwer, R. Eyraud and C. de la Higuera, Machine Learning 96 (2014)
129-154), which are for research use and not part of this project: files N.pautomac.train, N.pautomac.test and
N.pautomac_solution.txt. The score of a model is 2 to the cross entropy of the true and its own probabilities of the
test strings, both normalised over them; the gap is its distance from the score of the truth. Machines learn from the
training strings alone, without parameters. Prints the gap of one machine and of the mixture (`selection.predictor()`)
with the CPU seconds of each problem, their geometric means, and the same for problems whose machine explains what can
be predicted: those that are deterministic, as far as the data tell. `--problems 7,9` runs some.
"""

import argparse
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

import decisional as ds

# A machine that leaves less than this many bits unexplained for each string tells all.
TELLS_ALL = 0.002


def strings(path: Path) -> list[np.ndarray]:
    """The strings of a file, whose first line has their number and that of the symbols."""
    with path.open() as lines:
        next(lines)
        return [np.array(line.split()[1:], np.int64) for line in lines]


def gap(truth: np.ndarray, bits: np.ndarray) -> float:
    """Score of log2-probabilities of strings above that of the true probabilities."""
    p, q = truth / truth.sum(), 2.0 ** (bits - bits.max())
    q = np.maximum(q / q.sum(), 1e-300)
    known = p > 0
    return float(2.0 ** -(p @ np.log2(q)) - 2.0 ** -(p[known] @ np.log2(p[known])))


def problem(folder: Path, number: int, effort: float) -> dict[str, Any]:
    """States, gaps, CPU seconds, bits that are not explained in each string, and hidden machines of the mixture."""
    train, test = (strings(folder / f"{number}.pautomac.{part}") for part in ("train", "test"))
    truth = np.loadtxt(folder / f"{number}.pautomac_solution.txt")[1:]
    begin = time.process_time()
    selection = ds.selection.select(train, whole=True)
    machine = selection.machine
    one = gap(truth, np.array([machine.log_likelihood(string) for string in test]))
    middle = time.process_time()
    mixture = selection.predictor(seconds=effort)
    many = gap(truth, np.array([mixture.log_likelihood(string) for string in test]))
    seconds = middle - begin, time.process_time() - middle
    rest = max(selection.unexplained, 0.0) / len(train)
    return {
        "states": machine.n_states,
        "machine": one,
        "mixture": many,
        "s": seconds[0],
        "s2": seconds[1],
        "rest": rest,
        "hidden": told([hidden.n_states for hidden in mixture.belief_machines]),
        "share": 1.0 - float(mixture.shares[0]),
    }


def told(states: list[int]) -> str:
    """Numbers of states, as in 12 + 16 × 40."""
    return " + ".join(f"{n} × {k}" if n > 1 else f"{k}" for k, n in Counter(states).items()) or "none"


def mean(values: list[float]) -> float:
    """Geometric mean."""
    return float(np.exp(np.mean(np.log(np.maximum(values, 1e-9)))))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--problems", default="")
    parser.add_argument("--seconds", type=float, default=40.0, help="of the search for hidden machines, about")
    given = parser.parse_args()
    numbers = sorted(int(path.name.split(".")[0]) for path in given.folder.glob("*.pautomac.train"))
    chosen = [int(n) for n in given.problems.split(",") if n] or numbers
    ds.epsilon_machine(["ab", "b", "abb"] * 5, whole=True)  # compiles
    titles = ["problem", "states", "gap, one machine", "mixture", "CPU s", "mixture"]
    titles += ["bits unexplained in a string", "hidden states", "their share"]
    print(f"| {' | '.join(titles)} |\n|{'---|' * len(titles)}", flush=True)
    rows = []
    for number in chosen:
        row = problem(given.folder, number, given.seconds)
        rows.append(row)
        gaps = " | ".join(f"{row[key]:.4f}" for key in ("machine", "mixture"))
        times = f"{row['s']:.1f} | {row['s2']:.1f} | {row['rest']:.4f} | {row['hidden']} | {row['share']:.2f}"
        print(f"| {number} | {row['states']} | {gaps} | {times} |", flush=True)
    for name, kept in (("all", rows), ("deterministic", [row for row in rows if row["rest"] < TELLS_ALL])):
        if kept:
            means = [mean([row[key] for row in kept]) for key in ("machine", "mixture")]
            print(f"| geometric mean of {len(kept)}, {name} | | {' | '.join(f'{m:.4f}' for m in means)} | | | | | |")


if __name__ == "__main__":
    main()
