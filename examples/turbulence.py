"""Decaying turbulence: states of vortices, threads and background.

A random flow in two dimensions decays, like vortices merge, and their number falls. Regions of the states of vortices,
the causal states with the strongest mean vorticity, are counted over time, beside those of the vorticity above a limit.
"""

from pathlib import Path

import numpy as np
from scipy.ndimage import label

import decisional as ds


def regions(where: np.ndarray) -> int:
    """Connected regions of at least 12 cells."""
    numbered, n = label(where)
    return int((np.bincount(numbered.ravel(), minlength=n + 1)[1:] >= 12).sum())


def main(out: Path | None = None) -> dict[str, float]:
    """Print the numbers of vortices; with a folder, save the picture there."""
    field = ds.processes.decaying_turbulence(64, steps=80, rng=2, spacing=0.2)
    obs = ds.observe.light_cones(field, past=2, future=2)
    causal = ds.CausalStates().fit(obs)
    few = causal.coarsen(n_states=8)
    kept = few.path().bits[0] / causal.path().bits[0]
    print(f"{obs.n:,} cells, {causal.n_states_} causal states; 8 of them keep {kept:.0%} of the bits")

    states, vorticity = obs.field(few.labels_)[1:-1], field[1:-1]
    spread = field.std()
    strong = [k for k in range(8) if abs(vorticity[states == k].mean()) > spread]
    counts = np.array([regions(np.isin(frame, strong)) for frame in states])
    limits = np.array([regions(np.abs(frame) > spread) for frame in vorticity])
    for name, number in (("states", counts), ("vorticity above one deviation", limits)):
        print(f"{name}: {number[:20].mean():.1f} vortices at first, {number[-20:].mean():.1f} at last")
    print(f"correlation of both over time {np.corrcoef(counts, limits)[0, 1]:.2f}")
    if out is not None:
        ds.plot.save(ds.plot.fields(few, raw=field, panels=["raw", "C", "states"], frame=40), out / "turbulence.png")
    return {"states": float(counts.mean()), "limit": float(limits.mean())}


if __name__ == "__main__":
    main(Path.cwd())
