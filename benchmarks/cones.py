"""States of light cones: what they tell about cells they were not learnt from, known answers, noise, calibration.

Four tables. Bits: states from the first half of a field, and bits that they tell about the next cells of the second
half (3 cells, 5 in two dimensions), for cones that get deeper; `fall` is the largest loss of a deeper pair of cones
against a shallower one. Known: numbers of states of elementary automata, whose exact ones are known. Noise: how often
fields without structure have more than one state. Test: how often rows of counts drawn from one sparse distribution are
told apart at a level.

Seeds are those from `--first`: below 10 they were used to make the rules, what is written to benchmarks/cones.md begins
at 70000. `--seeds`, `--runs` and `--tables` run less, which is printed only.
"""

import argparse
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import decisional as ds
from decisional._kernels.sparse_tests import p_value

FIRST, SEEDS, RUNS = 70_000, 3, 200
ROWS, PLANE = ((3, 2), (4, 2), (4, 3), (5, 3), (6, 3), (8, 3)), ((1, 2), (2, 2), (3, 2))

Field = NDArray[Any]


def totalistic(code: int, colours: int, seed: int, steps: int = 500, side: int = 600) -> Field:
    """A one-dimensional automaton: the next cell follows from the sum of three."""
    table = np.array([code // colours**k % colours for k in range(3 * colours - 2)])
    field = np.empty((steps, side), np.uint8)
    field[0] = np.random.default_rng(seed).integers(0, colours, side)
    for t in range(1, steps):
        before = field[t - 1].astype(np.int64)
        field[t] = table[np.roll(before, 1) + before + np.roll(before, -1)]
    return field


def elementary(rule: int, seed: int, noise: float = 0.0) -> Field:
    """An elementary automaton after 300 rows; with noise, cells are turned over."""
    if not noise:
        return ds.processes.elementary_ca(rule, 600, 800, rng=seed)[300:]
    rng = np.random.default_rng(seed)
    table = np.array([rule >> k & 1 for k in range(8)])
    field = np.empty((500, 600), np.uint8)
    field[0] = rng.integers(0, 2, 600)
    for t in range(1, 500):
        before = field[t - 1].astype(np.int64)
        after = table[4 * np.roll(before, 1) + 2 * before + np.roll(before, -1)]
        field[t] = after ^ (rng.random(600) < noise)
    return field


def _plane(colours: int, seed: int, step: Callable[[np.random.Generator, Field, Field], Field]) -> Field:
    """100 steps of 100 x 100 cells, given the cells and their four neighbours."""
    rng = np.random.default_rng(seed)
    field = np.empty((100, 100, 100), np.uint8)
    field[0] = rng.integers(0, colours, (100, 100))
    for t in range(1, 100):
        around = np.stack([np.roll(field[t - 1], shift, axis) for axis in (0, 1) for shift in (1, -1)])
        field[t] = step(rng, field[t - 1], around)
    return field


def greenberg_hastings(colours: int, seed: int) -> Field:
    """An excitable medium: 0 rests, 1 excites its neighbours, the others recover."""

    def step(rng: np.random.Generator, cells: Field, around: Field) -> Field:
        return np.where(cells == 0, (around == 1).any(axis=0), (cells + 1) % colours)

    return _plane(colours, seed, step)


def vote(seed: int) -> Field:
    """The majority of five cells, and now and then the minority."""

    def step(rng: np.random.Generator, cells: Field, around: Field) -> Field:
        most = around.sum(axis=0) + cells > 2
        return most ^ (rng.random(cells.shape) < 0.02)

    return _plane(2, seed, step)


FIELDS: dict[str, tuple[Callable[[int], Field], Sequence[tuple[int, int]]]] = {
    "totalistic 1635, 3 colours": (lambda s: totalistic(1635, 3, s), ROWS),
    "totalistic 777, 3 colours": (lambda s: totalistic(777, 3, s), ROWS[:5]),
    "rule 22": (lambda s: elementary(22, s), ROWS),
    "rule 18": (lambda s: elementary(18, s), ROWS),
    "rule 146": (lambda s: elementary(146, s), ROWS),
    "rule 54": (lambda s: elementary(54, s), ROWS),
    "rule 110": (lambda s: elementary(110, s), ROWS),
    "game of life": (lambda s: ds.processes.game_of_life((100, 100), 100, rng=s), PLANE),
    "cyclic, 4 colours": (lambda s: ds.processes.cyclic_automaton((100, 100), 100, colours=4, rng=s), PLANE),
    "Greenberg-Hastings, 8 colours": (lambda s: greenberg_hastings(8, s), PLANE),
    "totalistic 107390, 4 colours": (lambda s: totalistic(107390, 4, s), ROWS[:5]),
    "rule 73": (lambda s: elementary(73, s), ROWS),
    "rule 126": (lambda s: elementary(126, s), ROWS),
    "rule 54, 5 % noise": (lambda s: elementary(54, s, 0.05), ROWS),
    "vote, 2 % noise": (vote, PLANE),
}
# Exact numbers of states with cones (3, 2), (3, 3) and (4, 3); None where nobody has counted.
KNOWN: dict[int, tuple[int | None, ...]] = {
    90: (1, 1, 1),
    105: (1, 1, 1),
    150: (1, 1, 1),
    60: (2, 4, 4),
    102: (2, 4, 4),
    170: (2, 2, 2),
    204: (8, 32, 32),
    30: (4, 25, 36),
    45: (None, None, 44),
    106: (None, None, 67),
}
KNOWN_CONES, KNOWN_SIZE = ((3, 2), (3, 3), (4, 3)), 2000
NOISE: dict[str, Callable[[int], Field]] = {
    f"{colours} colours, {len(shape) - 1}-D": (
        lambda s, colours=colours, shape=shape: np.random.default_rng(s).integers(0, colours, shape)
    )
    for shape in ((200, 300), (40, 40, 40))
    for colours in (2, 3, 4)
}
NOISE |= {
    f"rule {rule}": (lambda s, rule=rule: ds.processes.elementary_ca(rule, 300, 200, rng=s)) for rule in (90, 105, 150)
}
NOISE_CONES = {2: ((1, 2), (2, 2), (3, 2), (3, 3), (4, 3), (6, 3)), 3: ((1, 2), (2, 2), (3, 2), (2, 3))}
TABLES: dict[tuple[int, int], int] = {(40, 8): 60, (20, 24): 200, (44, 512): 2004, (300, 400): 600, (1000, 64): 9000}
LEVELS = (1e-2, 1e-3, 1e-4)
DRAWS = 20_000


def next_cells(field: Field) -> Field:
    """A number for the cells around each cell one step later."""
    base, after = int(field.max()) + 1, field[1:].astype(np.int64)
    near = [(0,), (1,), (-1,)] if field.ndim == 2 else [(0, 0), (1, 0), (-1, 0), (0, 1), (0, -1)]
    number = np.zeros_like(after)
    for offset in near:
        number = number * base + np.roll(after, offset, tuple(range(1, field.ndim)))
    return number


def bits(state: Field, z: Field, new_state: Field, new_z: Field) -> float:
    """What the states of new cells tell about their z, by the counts of others and one more, distributed as all are."""
    n_z = int(max(z.max(), new_z.max())) + 1
    pair, count = np.unique(state * n_z + z, return_counts=True)
    total = np.bincount(state, minlength=int(new_state.max()) + 1)
    share = np.bincount(z, minlength=n_z) + 0.5
    share /= share.sum()
    asked = new_state * n_z + new_z
    place = np.minimum(np.searchsorted(pair, asked), pair.size - 1)
    known = np.where(pair[place] == asked, count[place], 0)
    return float(np.log2((known + share[new_z]) / (total[new_state] + 1.0) / share[new_z]).mean())


def held_out(field: Field, past: int, future: int) -> tuple[float, int]:
    """Bits about the second half of a field from states of the first, and how many these are."""
    half = len(field) // 2
    causal, found = None, []
    for part in (field[:half], field[half:]):
        obs = ds.observe.light_cones(part, past, future)
        causal = ds.CausalStates().fit(obs) if causal is None else causal
        labels = obs.field(causal.predict(obs))[past - 1 : len(part) - future + 1].astype(np.int64)
        found += [labels.ravel(), next_cells(part)[past - 1 : len(part) - future + 1].ravel()]
    assert causal is not None
    return bits(*found), causal.n_states_


def fall(found: dict[tuple[int, int], float]) -> float:
    """The largest loss of deeper cones against shallower ones."""
    pairs = [(a, b) for a in found for b in found if a[0] <= b[0] and a[1] <= b[1]]
    return max(found[a] - found[b] for a, b in pairs)


def bits_table(first: int, seeds: int) -> Iterator[str]:
    yield "| field | bits (states) for cones (past, future), seed by seed | fall |"
    yield "|---|---|---|"
    for name, (make, cones) in FIELDS.items():
        runs = [{pair: held_out(make(seed), *pair) for pair in cones} for seed in range(first, first + seeds)]
        shown = "; ".join(
            f"({p}, {f}) " + ", ".join(f"{run[p, f][0]:.3f} ({run[p, f][1]})" for run in runs) for p, f in cones
        )
        worst = max(fall({pair: value for pair, (value, _) in run.items()}) for run in runs)
        yield f"| {name} | {shown} | {worst:.3f} |"


def known_table(first: int, seeds: int) -> Iterator[str]:
    yield f"| rule, {KNOWN_SIZE} × {KNOWN_SIZE} | cones | exact | found, seed by seed |"
    yield "|---|---|---|---|"
    for rule, exact in KNOWN.items():
        fields = [ds.processes.elementary_ca(rule, KNOWN_SIZE, KNOWN_SIZE, rng=s) for s in range(first, first + seeds)]
        for cones, truth in zip(KNOWN_CONES, exact, strict=True):
            found = [ds.CausalStates().fit(ds.observe.light_cones(field, *cones)).n_states_ for field in fields]
            yield f"| {rule} | {cones} | {'' if truth is None else truth} | {', '.join(map(str, found))} |"


def noise_table(first: int, runs: int) -> Iterator[str]:
    yield "| field | runs | more than one state, by cones |"
    yield "|---|---|---|"
    for name, make in NOISE.items():
        wrong: Counter[tuple[int, int]] = Counter()
        for seed in range(first, first + runs):
            field = make(seed)
            for cones in NOISE_CONES[field.ndim]:
                wrong[cones] += ds.CausalStates().fit(ds.observe.light_cones(field, *cones)).n_states_ > 1
        yield f"| {name} | {runs} | {', '.join(f'{cones}: {n}' for cones, n in wrong.items())} |"


def rejections(rng: np.random.Generator, a: int, c: int, n: int, draws: int) -> Iterator[float]:
    """p-values of a counts out of n that are spread over c outcomes, all drawn from one distribution."""
    for _ in range(draws):
        columns = np.bincount(rng.integers(0, c, n), minlength=c)
        row = rng.multivariate_hypergeometric(columns, a)
        seen, total, own = (
            columns[columns > 0].astype(float),
            columns[row > 0].astype(float),
            row[row > 0].astype(float),
        )
        rest = total - own
        ratio = (own * np.log(own / total)).sum() + (rest * np.log(np.maximum(rest, 1e-300) / total)).sum()
        ratio += a * np.log(n / a) + (n - a) * np.log(n / (n - a))
        sums = (1.0 / seen).sum(), (1.0 / seen**2).sum(), (own**2 / total).sum()
        yield p_value(float(a), float(n), float(seen.size), *sums, ratio, 1.0, 1.0)


def test_table(first: int) -> Iterator[str]:
    yield "| counts of the row, of all, outcomes | " + " | ".join(f"at {level:g}" for level in LEVELS) + " |"
    yield "|---|" + "---|" * len(LEVELS)
    for (a, c), n in TABLES.items():
        p = np.array(list(rejections(np.random.default_rng(first), a, c, n, DRAWS)))
        yield f"| {a}, {n}, {c} | " + " | ".join(f"{(p < level).mean():.2g}" for level in LEVELS) + " |"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--first", type=int, default=FIRST)
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--tables", nargs="+", default=["bits", "known", "noise", "test"])
    given = parser.parse_args(arguments)
    made = {
        "bits": ("Bits about the next cells of the second half", lambda: bits_table(given.first, given.seeds)),
        "known": ("Known numbers of states", lambda: known_table(given.first, given.seeds)),
        "noise": ("Fields without structure", lambda: noise_table(given.first, given.runs)),
        "test": ("The test under chance", lambda: test_table(given.first)),
    }
    text = ["# States of light cones", "", "Written by `benchmarks/cones.py`; see there for what is measured."]
    for name in given.tables:
        title, lines = made[name]
        text += ["", f"## {title}", ""]
        print(f"\n{title}", flush=True)
        for line in lines():
            print(line, flush=True)
            text.append(line)
    if parser.parse_args([]) == given:
        Path(__file__).with_suffix(".md").write_text("\n".join(text) + "\n")


if __name__ == "__main__":
    main()
