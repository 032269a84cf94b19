"""Defects of a coupled map lattice: what does not belong to the pattern that most cells follow.

Logistic maps on a ring, coupled to their neighbours, settle into zigzags of period two with chaotic defects between
them. The zigzags are predictable and common, the defects rare: their local complexity is high.
"""

from pathlib import Path

import numpy as np

import decisional as ds


def main(out: Path | None = None) -> dict[str, float]:
    """Print how common both are; with a folder, save the picture there."""
    field = ds.processes.coupled_map_lattice(200, 200, rng=1)
    obs = ds.observe.light_cones(field, past=3, future=2)
    causal = ds.CausalStates().fit(obs)
    few = causal.coarsen(n_states=12)
    print(f"{obs.n:,} cells, {causal.n_states_} causal states, of which 12 keep {few.path().bits[0]:.1f} bits", end="")
    print(f" of {causal.path().bits[0]:.1f}")
    # A zigzag is the same two rows later.
    change = np.abs(field[2:] - field[:-2])[:-1]
    local = obs.field(causal.local_complexity_)[2:-1]
    quiet, moving = (float(local[where].mean()) for where in (change < 0.1, change > 0.5))
    print(f"local complexity {quiet:.1f} bits where the pattern repeats, {moving:.1f} where it does not")
    if out is not None:
        ds.plot.save(ds.plot.fields(few, raw=field, panels=["raw", "C", "states"]), out / "coupled_maps.png")
    return {"quiet": quiet, "moving": moving}


if __name__ == "__main__":
    main(Path.cwd())
