"""Right states of signals: how often the number of states is the true one, and what noise and outliers do to it.

Three tables. States: the eight finite systems of `systems.py`, past 1, 3 and 5: the share of exact numbers of states,
the mean adjusted Rand index with the true classes of windows, the share of complexities C within 0.05 bits of that of
the true classes of the same windows, and of their exact C. Noise: one state is right. Outliers: one value or 1 % of
them become 1e6 or -9999; how often the number of states changes, and by how much the mean forecasts of x without
outliers do, in standard deviations of the signal.

Seeds are those from `--first`: below 1000 they were used to make the rules, what is written to benchmarks/signals.md
begins at 8000. `--seeds`, `--sizes` and `--tables` run less, which is printed only.
"""

import argparse
import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

# Each process has one thread: results do not depend on it, and times of several at once are those of one.
os.environ.setdefault("NUMBA_NUM_THREADS", "1")

import numpy as np
from numpy.typing import NDArray
from systems import FINITE, entropy

import decisional as ds

FIRST, SEEDS, SIZES, PASTS = 8000, 10, (500, 2_000, 10_000), (1, 3, 5)
NEAR = 0.05
NOISE: dict[str, Callable[[np.random.Generator, int], NDArray[Any]]] = {
    "normal": lambda rng, n: rng.normal(size=n),
    "uniform": lambda rng, n: rng.random(n),
    "Cauchy": lambda rng, n: rng.standard_cauchy(n),
    "integers": lambda rng, n: rng.integers(0, 10, n).astype(float),
}
NOISE_SIZES, NOISE_PASTS, NOISE_SEEDS = (200, 500, 1_000, 3_000, 10_000), (1, 2, 3, 5, 10), 2
OUTLIERS, OUTLIER_SIZE = (1e6, -9999.0), 1_000


def fitted(values: NDArray[Any], past: int) -> ds.CausalStates:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return ds.CausalStates().fit(ds.observe.delays(values, past))


def state_case(case: tuple[str, int, int, int]) -> tuple[int, int, float, float, float]:
    """Number of states found and true, Rand index, and distances of C to that of the windows and the exact one."""
    from sklearn.metrics import adjusted_rand_score

    name, n, past, seed = case
    system = FINITE[name](n, past, np.random.default_rng(seed))
    causal = fitted(system.values, past)
    true = system.state[past - 1 : -1]
    kinds, count = np.unique(true, return_counts=True)
    own = entropy(*count / count.sum())
    found = causal.complexity_
    rand = float(adjusted_rand_score(true, causal.labels_))
    return causal.n_states_, kinds.size, rand, abs(found - own), abs(found - system.complexity)


def noise_case(case: tuple[str, int, int, int]) -> int:
    """Number of states of noise."""
    name, n, past, seed = case
    return fitted(NOISE[name](np.random.default_rng(seed), n), past).n_states_


def outlier_case(case: tuple[str, int, float, float, int]) -> tuple[bool, float]:
    """Whether the number of states changes, and the largest share of a standard deviation that forecasts do."""
    name, past, value, share, seed = case
    rng = np.random.default_rng(seed)
    clean = FINITE[name](OUTLIER_SIZE, past, rng).values
    dirty = clean.copy()
    dirty[rng.choice(clean.size, max(1, int(share * clean.size)), replace=False)] = value
    before, after = fitted(clean, past), fitted(dirty, past)
    rows = np.array([clean[t - past + 1 : t + 1][::-1] for t in range(past, clean.size, 10)])
    moved = before.forecast(rows).mean - after.forecast(rows).mean
    return before.n_states_ != after.n_states_, float(np.sqrt(np.mean(moved**2)) / clean.std())


def shares(values: Sequence[Any]) -> str:
    return f"{np.mean(values):.1%}"


def states_table(pool: Any, first: int, seeds: int, sizes: Sequence[int]) -> Iterator[str]:
    yield "| system | N | exact number | Rand index | C within 0.05 | of the exact C | numbers found that are wrong |"
    yield "|---|--:|--:|--:|--:|--:|---|"
    for n in sizes:
        everything: list[Any] = []
        for name in FINITE:
            cases = [(name, n, past, first + k) for past in PASTS for k in range(seeds)]
            found = list(pool.map(state_case, cases))
            everything += found
            wrong = [f"{a} for {b} (past {c[2]})" for c, (a, b, *_) in zip(cases, found, strict=True) if a != b]
            listed = ", ".join(f"{what}: {wrong.count(what)}" for what in dict.fromkeys(wrong))
            yield _row(name, n, found, listed)
        yield _row("all", n, everything, "")


def _row(name: str, n: int, found: Sequence[Any], listed: str) -> str:
    number, rand = [a == b for a, b, *_ in found], [r for _, _, r, *_ in found]
    near, exact = ([row[k] <= NEAR for row in found] for k in (3, 4))
    return f"| {name} | {n:,} | {shares(number)} | {np.mean(rand):.3f} | {shares(near)} | {shares(exact)} | {listed} |"


def noise_table(pool: Any, first: int, seeds: int) -> Iterator[str]:
    yield "| noise | N | runs | one state |"
    yield "|---|--:|--:|--:|"
    right: list[bool] = []
    for name in NOISE:
        for n in NOISE_SIZES:
            found = list(
                pool.map(noise_case, [(name, n, past, first + k) for past in NOISE_PASTS for k in range(seeds)])
            )
            right += [k == 1 for k in found]
            yield f"| {name} | {n:,} | {len(found)} | {sum(k == 1 for k in found)} |"
    yield f"| all | | {len(right)} | {sum(right)} |"


def outlier_table(pool: Any, first: int, seeds: int) -> Iterator[str]:
    yield "| value | share | runs | other number of states | forecasts moved, mean | at most |"
    yield "|--:|--:|--:|--:|--:|--:|"
    for value in OUTLIERS:
        for share in (0.0, 0.01):
            cases = [(name, past, value, share, first + k) for name in FINITE for past in (1, 3) for k in range(seeds)]
            other, moved = zip(*pool.map(outlier_case, cases), strict=True)
            many = "1 %" if share else "one"
            yield f"| {value:g} | {many} | {len(cases)} | {shares(other)} | {np.mean(moved):.2%} | {max(moved):.2%} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--first", type=int, default=FIRST, help="first seed")
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--tables", nargs="+", default=("states", "noise", "outliers"))
    given = parser.parse_args()
    lines = ["# States of signals", "", f"Written by `benchmarks/signals.py`; seeds from {given.first}."]
    with ProcessPoolExecutor() as pool:
        tables = {
            "states": states_table(pool, given.first, given.seeds, given.sizes),
            "noise": noise_table(pool, given.first, min(NOISE_SEEDS, given.seeds)),
            "outliers": outlier_table(pool, given.first, min(3, given.seeds)),
        }
        for name in given.tables:
            lines += ["", f"## {name.capitalize()}", ""]
            for line in tables[name]:
                lines.append(line)
                print(line, flush=True)
    everything = given.seeds >= SEEDS and tuple(given.sizes) == SIZES and len(given.tables) == len(tables)
    if given.first == FIRST and everything:
        Path(__file__).with_suffix(".md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
