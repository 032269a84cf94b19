"""Real-valued fields: our states beside those of clustered cones, which is what DisCo does.

The fields of real_fields.py with known states: elementary automata with normal noise, and a latent automaton with
continuous emission. The rival clusters past cones by k-means, with weights that decay with depth, and future cones by
k-means, and merges clusters of pasts whose counts of futures a G-test does not tell apart. Several numbers of clusters
are tried; the best is shown, as if it were known.

Prints a table. `--seeds` says how many fields of each kind, the first of which is `--first`; `--field` and `--truth`
are those of real_fields.py.
"""

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import real_fields
from scipy.cluster.vq import kmeans2
from sklearn.metrics import adjusted_rand_score

import decisional as ds

FIRST, SEEDS = 20_000, 3
CLUSTERS, FUTURES = (8, 16, 32, 64), 8
DECAY = 0.5
# Steps and radii of the rows of past and future cones.
Rows = tuple[tuple[int, int], ...]
CONES: Rows = ((0, 0), (-1, 1), (-2, 2), (-3, 3))
AHEAD: Rows = ((1, 1), (2, 2))
BEFORE: Rows = ((-1, 1), (-2, 2))
PRESENT: Rows = ((0, 0),)


def cells(field: np.ndarray, rows: Rows, times: slice, decay: float = 0.0) -> np.ndarray:
    """(n, cells) the cells of such rows around each cell at these times, those further away weighted less."""
    found = [
        np.roll(field, -d, 1)[times.start + step : times.stop + step] * np.exp(-decay * abs(step))
        for step, radius in rows
        for d in range(-radius, radius + 1)
    ]
    return np.stack(found, -1).reshape(-1, len(found))


def clustered(field: np.ndarray, truth: np.ndarray, past: Rows, future: Rows, seed: int) -> float:
    """Adjusted Rand index of the states of clustered cones, with the best of several numbers of clusters."""
    times = slice(-min(step for step, _ in past), len(field) - max(step for step, _ in future))
    z = kmeans2(cells(field, future, times), FUTURES, minit="++", seed=seed)[1]
    found = []
    for k in CLUSTERS:
        x = kmeans2(cells(field, past, times, DECAY), k, minit="++", seed=seed)[1]
        states = ds.CausalStates(match=ds.GTest()).fit(ds.observe.pairs(x, z)).labels_
        found.append(float(adjusted_rand_score(truth[times].reshape(-1), states)))
    return max(found)


def compared(first: int, seeds: int) -> Iterator[tuple[str, list[tuple[float, float]]]]:
    """For each kind of field, the index of our states and that of the rival, seed by seed."""
    for rule in real_fields.RULES:
        for noise in real_fields.NOISES:
            rows = []
            for seed in range(first, first + seeds):
                field, label = real_fields.labelled(rule, noise, seed)
                ours = real_fields.found_again(field, label, past=4, future=3)[0]
                rows.append((ours, clustered(field, label, CONES, AHEAD, seed)))
            yield f"rule {rule}, noise {noise}", rows
    for noise in real_fields.LATENT:
        fields = [(real_fields.latent(seed, noise), seed) for seed in range(first, first + seeds)]
        yield f"7 latent levels, noise {noise}", [both(*field, seed) for field, seed in fields]


def both(field: np.ndarray, truth: np.ndarray, seed: int) -> tuple[float, float]:
    """The two indices where the present cell is predicted."""
    ours = real_fields.found_again(field, truth, **real_fields.BEFORE)[0]
    return ours, clustered(field, truth, BEFORE, PRESENT, seed)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--first", type=int, default=FIRST)
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--field", type=Path)
    parser.add_argument("--truth", type=Path)
    given = parser.parse_args(arguments)
    print("| field | adjusted Rand index, ours | clustered cones, best of several numbers |\n|---|---|---|")
    for name, rows in compared(given.first, given.seeds):
        shown = (", ".join(f"{value:.2f}" for value in values) for values in zip(*rows, strict=True))
        print(f"| {name} | {' | '.join(shown)} |", flush=True)
    if given.field is not None:
        found = both(np.load(given.field).T, np.load(given.truth).T, given.first)
        print(f"| {given.field.name} | {found[0]:.2f} | {found[1]:.2f} |")


if __name__ == "__main__":
    main()
