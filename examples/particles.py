"""Particles of a cellular automaton, found without being told what they look like.

Rule 110 soon settles into a periodic background in which particles move and collide. The causal states of its light
cones are computed for every cell. States of the background are common; those of particles and collisions are rare, so
that their local complexity, -log2 of the probability of the state, is high. No pattern is searched for. The utility of
a prediction is the number of cells of the next two rows, 8 in all, that it gets right.
"""

from pathlib import Path

import numpy as np

import decisional as ds


def main(out: Path | None = None) -> dict[str, float]:
    """Print the states and how well they predict; with a folder, save the picture there."""
    field = ds.processes.elementary_ca(110, width=300, steps=400, rng=3)[200:]  # the first 200 rows are a transient
    obs = ds.observe.light_cones(field, past=4, future=3)
    causal = ds.CausalStates(match="exact").fit(obs)
    choice = ds.DecisionalStates(ds.utility.matching_cells()).fit(causal)

    local, utility = causal.local_complexity_, choice.utility_[causal.labels_]
    rare = local > 6.0  # states with a probability below 1/64
    print(f"{obs.n:,} cells, {causal.n_states_} causal states, C = {causal.complexity_:.2f} bits")
    for name, where in (("background", ~rare), ("particles", rare)):
        states = np.unique(causal.labels_[where]).size
        print(f"  {name:10}  {where.mean():4.0%} of the cells, {states:3} states, ", end="")
        print(f"{utility[where].mean():.2f} of 8 cells predicted right")
    if out is not None:
        ds.plot.save(ds.plot.fields(choice, raw=field, panels=["raw", "C"]), out / "particles.png")
    return {"background": float(utility[~rare].mean()), "particles": float(utility[rare].mean())}


if __name__ == "__main__":
    main(Path.cwd())
