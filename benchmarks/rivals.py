"""Real-valued fields: our states beside those of clustered cones, which is what DisCo does.

An elementary automaton with normal noise; the true states are those of the clean field. The rival clusters past cones
by k-means, with weights that decay with depth, and future cones by k-means, and merges clusters of pasts whose counts
of futures a G-test does not tell apart. Several numbers of clusters are tried; the best is shown, as if it were known.

Prints a table. `--seeds` says how many fields of each kind, the first of which is `--first`.
"""

import argparse
from collections.abc import Sequence

import numpy as np
from scipy.cluster.vq import kmeans2
from sklearn.metrics import adjusted_rand_score

import decisional as ds

KINDS = ((54, 0.2), (54, 0.4), (110, 0.2), (110, 0.4))
CLUSTERS = (8, 16, 32)
DECAY = 0.5


def noisy(rule: int, noise: float, seed: int, shape: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """A field with noise, and the clean one."""
    clean = ds.processes.elementary_ca(rule, shape[1], shape[0] + 100, rng=seed)[100:]
    return clean + noise * np.random.default_rng(seed).normal(size=clean.shape), clean


def clustered(field: np.ndarray, k: int, seed: int) -> np.ndarray:
    """States of the rows 2 to -2 by clusters of cones of past 3 and future 2."""
    rows = slice(2, len(field) - 1)
    past = [
        np.roll(field, d, 1)[2 - t : len(field) - 1 - t] * np.exp(-DECAY * t)
        for t in range(3)
        for d in range(-t, t + 1)
    ]
    future = [np.roll(field, d, 1)[rows.start + 1 :] for d in (-1, 0, 1)]
    codes = [
        kmeans2(np.stack(cells, -1).reshape(-1, len(cells)), n, minit="++", seed=seed)[1]
        for cells, n in ((past, k), (future, 8))
    ]
    return ds.CausalStates(match=ds.GTest()).fit(ds.observe.pairs(*codes)).labels_


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--first", type=int, default=20000)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--shape", type=int, nargs=2, default=(300, 300))
    given = parser.parse_args(arguments)
    print("| rule, noise | adjusted Rand index, ours | clustered cones, best of several numbers |")
    print("|---|---|---|")
    for rule, noise in KINDS:
        found: list[list[float]] = [[], []]
        for seed in range(given.first, given.first + given.seeds):
            field, clean = noisy(rule, noise, seed, given.shape)
            exact = ds.CausalStates().fit(ds.observe.light_cones(clean, 3, 2)).labels_
            ours = ds.CausalStates().fit(ds.observe.light_cones(field, 3, 2)).labels_
            found[0].append(adjusted_rand_score(exact, ours))
            found[1].append(max(adjusted_rand_score(exact, clustered(field, k, seed)) for k in CLUSTERS))
        shown = (", ".join(f"{value:.2f}" for value in values) for values in found)
        print(f"| {rule}, {noise} | {' | '.join(shown)} |", flush=True)


if __name__ == "__main__":
    main()
