"""Whether the names of symbols change what is found: `ds.CausalStates`, `ds.epsilon_machine` and `ds.baselines.cssr`.

Noise, random machines, noisy words, several short sequences and series with gaps, each once more with its symbols
exchanged or called otherwise. The states must hold the same observations, and the machines be the same but for the
names. Prints a table and, when all of it was run, writes it to benchmarks/renaming.md. `--cases 100` runs fewer.
"""

import argparse
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import decisional as ds

FIRST = 50000
CASES = 2_000


def drawn(seed: int) -> tuple[list[np.ndarray], Any, int]:
    """Sequences, the other name of each symbol, a length of past."""
    rng = np.random.default_rng([61, seed])
    k, n, kind = int(rng.integers(2, 8)), int(rng.choice([20, 60, 200, 600, 2000])), seed % 5
    if kind == 1:
        machine = ds.processes.random_machine(int(rng.integers(2, 7)), k, rng)
        symbols = np.asarray(machine.simulate(n, rng=rng)).astype(int)
    elif kind == 2:
        symbols = np.resize(rng.integers(0, k, int(rng.integers(2, 12))), n)
        wrong = rng.random(n) < rng.choice([0.0, 0.1])
        symbols[wrong] = rng.integers(0, k, wrong.sum())
    else:
        symbols = rng.integers(0, k, n)
    parts = np.split(symbols, np.sort(rng.integers(1, n, 3))) if kind == 3 else [symbols]
    names: Any = rng.permutation(k) if seed % 2 else np.array(list("qwertzu"))[rng.permutation(7)[:k]]
    return [part for part in parts if part.size], names, int(rng.integers(1, 5))


def together(labels: Any, others: Any) -> bool:
    pairs = set(zip(np.ravel(labels).tolist(), np.ravel(others).tolist(), strict=True))
    return len(pairs) == len({a for a, _ in pairs}) == len({b for _, b in pairs})


def same_machine(one: ds.EpsilonMachine, other: ds.EpsilonMachine, names: Any) -> bool:
    old = {name: code for code, name in enumerate(names.tolist())}
    rows = [(a, old[x], b, p) for a, x, b, p in other.transitions()]
    return one.is_isomorphic(ds.EpsilonMachine(rows, alphabet=one.alphabet), atol=1e-9)


def states(data: Any, past: int) -> Any:
    return ds.CausalStates().fit(ds.observe.series(data, past, sequences=True)).labels_


def machine(data: Any, past: int) -> Any:
    return ds.epsilon_machine(data, sequences=True)


def split(data: Any, past: int) -> Any:
    return ds.baselines.cssr(data, past, sequences=True)


CALLS: dict[str, Callable[[Any, int], Any]] = {
    "ds.CausalStates": states,
    "ds.epsilon_machine": machine,
    "ds.baselines.cssr": split,
}


def answer(call: Callable[[Any, int], Any], data: Any, past: int) -> Any:
    """What a call gives, or the kind of error, which must be the same too."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return call(data, past)
        except ValueError as error:
            return type(error)


def unchanged(call: Callable[[Any, int], Any], seed: int) -> bool:
    parts, names, past = drawn(seed)
    one, other = (answer(call, data, past) for data in (parts, [names[part] for part in parts]))
    if isinstance(one, type) or isinstance(other, type):
        return one is other
    return same_machine(one, other, names) if isinstance(one, ds.EpsilonMachine) else together(one, other)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=CASES, help="how many series")
    parser.add_argument("--first", type=int, default=FIRST, help="first seed")
    given = parser.parse_args()
    lines = ["| call | the same | others |", "|---|--:|---|"]
    for name, call in CALLS.items():
        seeds = range(given.first, given.first + given.cases)
        others = [seed for seed in seeds if not unchanged(call, seed)]
        shown = ", ".join(map(str, others[:10])) or "none"
        lines.append(f"| `{name}` | {given.cases - len(others):,} of {given.cases:,} | {shown} |")
        print(lines[-1], flush=True)
    if given.cases < CASES:
        return
    head = f"# Other names\n\nWritten by `benchmarks/renaming.py`, seeds {given.first} and on.\n\n"
    Path(__file__).with_suffix(".md").write_text(head + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
