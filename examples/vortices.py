"""Vortices as causal states: a vortex street behind a disc.

The field is the vorticity of a simulated stream, real numbers in two dimensions. Causal states of its light cones are
found without a word on vortices. Merged down to eight, with as many bits about the future kept as possible, some of
them are the two kinds of vortices. Their connected regions are counted and compared with those of the vorticity above
a limit that is chosen by hand.
"""

from pathlib import Path

import numpy as np
from scipy.ndimage import label

import decisional as ds

LEAST = 20  # cells of a vortex


def regions(where: np.ndarray) -> int:
    """Connected regions of at least so many cells."""
    numbered, n = label(where)
    return int((np.bincount(numbered.ravel(), minlength=n + 1)[1:] >= LEAST).sum())


def main(out: Path | None = None) -> dict[str, float]:
    """Print how many vortices there are; with a folder, save the pictures there."""
    field = ds.processes.vortex_street((48, 144), steps=60, rng=1)
    obs = ds.observe.light_cones(field, past=2, future=2, boundary="open")
    causal = ds.CausalStates().fit(obs)
    few = causal.coarsen(n_states=8)
    kept = few.path().bits[0] / causal.path().bits[0]
    print(f"{obs.n:,} cells, {causal.n_states_} causal states; 8 of them keep {kept:.0%} of the bits")

    states = obs.field(few.labels_)[1:-1]
    vorticity, inside = field[1:-1], np.zeros(field.shape[1:], bool)
    inside[1:-1, 48:-1] = True  # downstream of the disc
    spread = field.std()
    vortices = [k for k in range(8) if abs(vorticity[states == k].mean()) > spread]
    counts = np.array([regions(np.isin(frame, vortices) & inside) for frame in states])
    limits = np.array([regions((np.abs(frame) > spread) & inside) for frame in vorticity])
    print(f"{len(vortices)} of the 8 are states of vortices: {counts.mean():.1f} vortices at a time")
    same = np.mean(counts == limits)
    print(f"vorticity above one deviation: {limits.mean():.1f}; the same number at {same:.0%} of the times")
    if out is not None:
        panels = ds.plot.fields(few, raw=field, panels=["raw", "C", "states"], frame=30)
        ds.plot.save(panels, out / "vortices.png")
    return {"states": float(counts.mean()), "limit": float(limits.mean())}


if __name__ == "__main__":
    main(Path.cwd())
