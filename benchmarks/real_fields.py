"""Causal states of real-valued fields: known states found again, noise, speed.

States: adjusted Rand index of the states of an automaton with normal noise against those of the clean field, with the
same cones (past 4, future 3; 450 x 400 cells); and of a latent automaton with continuous emission against its levels,
with cones whose past ends before the present. Noise: how often fields without structure have more than one state.
Speed: seconds of a fit of a million cells of a plane, and of a fit and the labels of many more, read from a file.

Seeds are those from `--first`: below 1000 they were used to make the rule, what is written to benchmarks/real_fields.md
begins at 72000. `--field` and `--truth` name two .npy files of a field of one's own with known states, cells x steps,
observed like the latent automaton.
"""

import argparse
import resource
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import adjusted_rand_score

import decisional as ds

FIRST, SEEDS, RUNS = 72_000, 5, 20
STEPS, WIDTH = 600, 400
SIDE, SLICE = 100, 200
RULES, NOISES, LATENT = (54, 110), (0.2, 0.4), (0.5, 0.8)
SHAPES = (200, 150), (30, 30, 30)
BEFORE = {"past": 2, "future": 1, "include_present": True, "past_end": 1}


def labelled(rule: int, noise: float, seed: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """An automaton with normal noise after a quarter of its steps, and the states of the clean one, -1 = none."""
    clean = ds.processes.elementary_ca(rule, WIDTH, STEPS, rng=seed)[STEPS // 4 :]
    exact = ds.CausalStates().fit(ds.observe.light_cones(clean, past=4, future=3))
    label = np.nan_to_num(exact.observations_.field(exact.labels_), nan=-1.0)
    return clean + noise * np.random.default_rng(seed + 1).normal(size=clean.shape), label


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
            fields = [labelled(rule, noise, seed) for seed in range(first, first + seeds)]
            rows = [found_again(*field, past=4, future=3) for field in fields]
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


def waves(first: int, steps: int, side: int, seed: int) -> NDArray[Any]:
    """Noisy waves that cross in a plane, from a time on."""
    t, y, x = np.ogrid[first : first + steps, :side, :side]
    wave = np.sin(0.2 * x + 0.3 * t) + np.sin(0.15 * y - 0.2 * t) * np.cos(0.1 * x)
    return (wave + 0.3 * np.random.default_rng((seed, first)).normal(size=wave.shape)).astype(np.float32)


def speed(seed: int, times: int) -> Iterator[str]:
    begin = time.process_time(), time.perf_counter()
    field = waves(0, SIDE, SIDE, seed)
    causal = ds.CausalStates().fit(ds.observe.light_cones(field, past=3, future=2))
    yield f"- fit of {field.size:.0e} cells: {_taken(*begin)}, {causal.n_states_} states"
    with TemporaryDirectory() as folder:
        path = Path(folder, "field.npy")
        large = np.lib.format.open_memmap(path, "w+", np.float32, (times * SIDE, SIDE, SIDE))
        for first in range(0, len(large), SIDE):
            large[first : first + SIDE] = waves(first, SIDE, SIDE, seed)
        large.flush()
        begin = time.process_time(), time.perf_counter()
        obs = ds.observe.light_cones(np.load(path, mmap_mode="r"), past=3, future=2, chunks=SLICE)
        causal = ds.CausalStates().fit(obs)
        yield f"- fit of {large.size:.0e} cells of a file in slices: {_taken(*begin)}, {causal.n_states_} states"
        begin = time.process_time(), time.perf_counter()
        ds.write_values(causal, Path(folder, "labels.npy"))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
        yield f"- their labels, written to a file: {_taken(*begin)}; {peak} MB at most in all, mapped files included"


def _taken(cpu: float, wall: float) -> str:
    return f"{time.process_time() - cpu:.1f} CPU s, {time.perf_counter() - wall:.1f} s"


def main(given: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--first", type=int, default=FIRST)
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--times", type=int, default=10, help="millions of cells that are read from a file")
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
