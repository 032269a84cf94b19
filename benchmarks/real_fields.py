"""Causal states of real-valued fields: known states found again, noise, speed.

States: adjusted Rand index of the states of an automaton with normal noise against those of the clean field, with the
same cones (past 4, future 3; 450 x 400 cells); and of a latent automaton with continuous emission against its levels,
with cones whose past ends before the present. Noise: how often fields without structure have more than one state.
Speed: CPU seconds of a fit, and of labelling and counting by known codes, for cones of a plane.

Seeds are those from `--first`: below 1000 they were used to make the rule, what is written to benchmarks/real_fields.md
begins at 20000. `--field` and `--truth` name two .npy files of a field of one's own with known states, cells x steps,
observed like the latent automaton.
"""

import argparse
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import adjusted_rand_score

import decisional as ds

FIRST, SEEDS, RUNS = 20_000, 5, 20
STEPS, WIDTH = 600, 400
SIDE = 100
RULES, NOISES, LATENT = (54, 110), (0.2, 0.4), (0.5, 0.8)
SHAPES = (200, 150), (30, 30, 30)
BEFORE = {"past": 2, "future": 1, "include_present": True, "past_end": 1}


def noisy(rule: int, noise: float, seed: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """An automaton with normal noise after a quarter of its steps, and the clean one."""
    clean = ds.processes.elementary_ca(rule, WIDTH, STEPS, rng=seed)[STEPS // 4 :]
    return clean + noise * np.random.default_rng(seed + 1).normal(size=clean.shape), clean


def latent(seed: int, noise: float, steps: int = 200, width: int = 100) -> tuple[NDArray[Any], NDArray[Any]]:
    """Cells that are normal around one of 7 levels, a wave of a weighted sum of eight cells before; and the levels."""
    rng = np.random.default_rng(seed)
    field, level = np.zeros((2, steps + 50, width))
    field[:2] = rng.normal(size=(2, width))
    for t in range(2, steps + 50):
        near = np.mean([np.roll(field[t - 1], k) for k in range(-1, 2)], axis=0)
        far = np.mean([np.roll(field[t - 2], k) for k in range(-2, 3)], axis=0)
        level[t] = np.round(3.0 * np.sin(1.1 * (near - far) + 0.6))
        field[t] = level[t] + noise * rng.normal(size=width)
    return field[50:], level[50:]


def found_again(field: NDArray[Any], truth: NDArray[Any], **cones: Any) -> tuple[float, int]:
    """Adjusted Rand index of the states of a field against a label of each cell, and their number."""
    obs = ds.observe.light_cones(field, **cones)
    causal = ds.CausalStates().fit(obs)
    return float(adjusted_rand_score(truth.reshape(-1)[obs.site], causal.labels_)), causal.n_states_


def states(first: int, seeds: int) -> Iterator[str]:
    yield f"| field | ARI, seeds {first}-{first + seeds - 1} | states |"
    yield "|---|---|---|"
    for rule in RULES:
        for noise in NOISES:
            rows = []
            for seed in range(first, first + seeds):
                field, clean = noisy(rule, noise, seed)
                exact = ds.CausalStates().fit(ds.observe.light_cones(clean, past=4, future=3))
                label = np.nan_to_num(exact.observations_.field(exact.labels_), nan=-1.0)
                rows.append(found_again(field, label, past=4, future=3))
            yield _row(f"rule {rule}, noise {noise}", rows)
    for noise in LATENT:
        rows = [found_again(*latent(seed, noise), **BEFORE) for seed in range(first, first + seeds)]
        yield _row(f"7 latent levels, noise {noise}", rows)


def _row(name: str, rows: list[tuple[float, int]]) -> str:
    return f"| {name} | {' '.join(f'{ari:.3f}' for ari, _ in rows)} | {' '.join(str(n) for _, n in rows)} |"


def structureless(first: int, runs: int) -> Iterator[str]:
    for shape in SHAPES:
        more = 0
        for seed in range(first, first + runs):
            field = np.random.default_rng(seed).normal(size=shape)
            more += ds.CausalStates().fit(ds.observe.light_cones(field, past=2, future=2)).n_states_ > 1
        yield f"- noise {' x '.join(map(str, shape))}: more than one state in {more} of {runs}"


def waves(steps: int, side: int, seed: int) -> NDArray[Any]:
    """Noisy waves that cross in a plane."""
    t, y, x = np.ogrid[:steps, :side, :side]
    wave = np.sin(0.2 * x + 0.3 * t) + np.sin(0.15 * y - 0.2 * t) * np.cos(0.1 * x)
    return (wave + 0.3 * np.random.default_rng(seed).normal(size=wave.shape)).astype(np.float32)


def speed(seed: int, times: int) -> Iterator[str]:
    field = waves(SIDE, SIDE, seed)
    begin = time.process_time()
    causal = ds.CausalStates().fit(ds.observe.light_cones(field, past=3, future=2))
    yield f"- fit of {field.size:.0e} cells: {time.process_time() - begin:.1f} CPU s, {causal.n_states_} states"
    large = np.tile(field, (times, 1, 1))
    obs = ds.observe.light_cones(large, past=3, future=2, chunks=50).coded(causal.observations_.coder)
    begin = time.process_time()
    obs.tally()
    taken = time.process_time() - begin
    filters = causal.observations_.coder.x.filters.shape[1] or "all cells"
    each = f"{taken:.1f} CPU s, {taken / large.size * 1e6:.2f} us each"
    yield f"- {large.size:.0e} cells coded (filters: {filters}) and counted: {each}"


def main(given: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--first", type=int, default=FIRST)
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--times", type=int, default=10, help="how often the field of a million cells is repeated")
    parser.add_argument("--field", type=Path)
    parser.add_argument("--truth", type=Path)
    asked = parser.parse_args(given)
    lines = ["# Real-valued fields", "", "## States", ""]
    for more in (states(asked.first, asked.seeds), ["", "## Noise", ""], structureless(asked.first, asked.runs)):
        lines += _said(more)
    lines += _said(["", "## Speed", "", *speed(asked.first, asked.times)])
    if asked.field is not None and asked.truth is not None:
        ari, n = found_again(np.load(asked.field).T, np.load(asked.truth).T, **BEFORE)
        print(f"{asked.field}: ARI {ari:.3f}, {n} states")
    if asked.first >= FIRST and asked.seeds == SEEDS:
        Path(__file__).with_suffix(".md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def _said(lines: Any) -> list[str]:
    """The lines, printed as they come."""
    found = []
    for line in lines:
        print(line, flush=True)
        found.append(line)
    return found


if __name__ == "__main__":
    main()
