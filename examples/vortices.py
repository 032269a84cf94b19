"""
Vortices as causal states
=========================

A vortex street behind a disc. The field is the vorticity of a simulated stream, real numbers in two dimensions. Causal
states of its light cones are found without a word on vortices. Merged down to eight, with as many bits about the future
kept as possible, some of them are the two kinds of vortices.

Their connected regions are counted on times that were held out, and compared with those of the vorticity above a limit
that is chosen by hand.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.ndimage import label

import decisional as ds

STEPS = 48
LEAST = 16  # cells of a vortex

field = ds.processes.vortex_street((40, 120), steps=STEPS, rng=1)
learnt, held_out = field[: STEPS * 2 // 3], field[STEPS * 2 // 3 :]

# %%
# Eight states
# ------------

obs = ds.observe.light_cones(learnt, past=2, future=2, boundary="open")
causal = ds.CausalStates().fit(obs)
few = causal.coarsen(n_states=8)
kept = few.path().bits[0] / causal.path().bits[0]
print(f"{obs.n:,} cells, {causal.n_states_} causal states; 8 of them keep {kept:.0%} of the bits")
figure, axes = plt.subplots(3, 1, figsize=(8, 8.2), layout="constrained")
ds.plot.fields(few, raw=learnt, panels=["raw", "C", "states"], axes=axes)
plt.show()

# %%
# Vortices at times that were not learnt
# --------------------------------------
# States of vortices are those whose mean vorticity, where they were learnt, is above one standard deviation.

mean = obs.field(few.labels_)[1:-1]
vortices = [k for k in range(few.n_states_) if abs(learnt[1:-1][mean == k].mean()) > learnt.std()]
new = few.observe(held_out)
states = new.field(few.predict(new))[1:-1]
inside = np.zeros(field.shape[1:], bool)
inside[1:-1, 40:-1] = True  # downstream of the disc


def regions(where: np.ndarray) -> int:
    """Connected regions of at least so many cells."""
    numbered, n = label(where & inside)
    return int((np.bincount(numbered.ravel(), minlength=n + 1)[1:] >= LEAST).sum())


counts = np.array([regions(np.isin(frame, vortices)) for frame in states])
limits = np.array([regions(np.abs(frame) > learnt.std()) for frame in held_out[1:-1]])
same = float(np.mean(counts == limits))
print(f"{len(vortices)} of the 8 are states of vortices: {counts.mean():.1f} vortices at a time")
print(f"vorticity above one deviation: {limits.mean():.1f}; the same number at {same:.0%} of the times")

# %%
# What was learnt, and what it was worth
# --------------------------------------
# The states say what a vortex is, without a limit. To count vortices, a limit that is chosen with the eye on the
# picture is as good, and simpler. To forecast the vorticity of a cell at the next time, the states are much better than
# the mean but not as good as the value that is there now, which hardly changes in one step: a state is a summary.

choice = ds.DecisionalStates(ds.utility.squared_error()).fit(causal)
new = causal.observe(held_out)
now = held_out.reshape(-1)[new.site]
following = held_out.reshape(-1)[new.site + held_out[0].size]


def error(forecast: np.ndarray) -> float:
    return float(np.sqrt(np.mean((forecast - following) ** 2)))


worth = {"states": error(choice.decide(new).astype(float)), "as now": error(now), "mean": error(np.mean(learnt))}
print("root mean square error of the next vorticity, in standard deviations")
for name, wrong in worth.items():
    print(f"  {name:8} {wrong / held_out.std():.2f}")
worth |= {"same number": same, "vortices": float(counts.mean())}
