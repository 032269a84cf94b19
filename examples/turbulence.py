"""
Turbulence that decays
======================

States of vortices, threads and background. A random flow in two dimensions decays, like vortices merge, and their
number falls. Regions of the states of vortices, the causal states with the strongest mean vorticity, are counted over
time, beside those of the vorticity above a limit; then in another flow, which the states do not know.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.ndimage import label

import decisional as ds

STEPS = 50

field = ds.processes.decaying_turbulence(64, steps=STEPS, rng=2, spacing=0.3)
obs = ds.observe.light_cones(field, past=2, future=2)
causal = ds.CausalStates().fit(obs)
few = causal.coarsen(n_states=8)
kept = few.path().bits[0] / causal.path().bits[0]
print(f"{obs.n:,} cells, {causal.n_states_} causal states; 8 of them keep {kept:.0%} of the bits")

figure, axes = plt.subplots(1, 3, figsize=(9, 3.3), layout="constrained")
ds.plot.fields(few, raw=field, panels=["raw", "C", "states"], frame=STEPS // 2, axes=axes)
plt.show()

# %%
# Vortices of another flow
# ------------------------
# States of vortices are those whose mean vorticity, where they were learnt, is above one standard deviation.

spread = field.std()
known = obs.field(few.labels_)[1:-1]
strong = [k for k in range(few.n_states_) if abs(field[1:-1][known == k].mean()) > spread]


def regions(where: np.ndarray) -> int:
    """Connected regions of at least 12 cells."""
    numbered, n = label(where)
    return int((np.bincount(numbered.ravel(), minlength=n + 1)[1:] >= 12).sum())


other = ds.processes.decaying_turbulence(64, steps=STEPS, rng=3, spacing=0.3)
new = few.observe(other)
states = new.field(few.predict(new))[1:-1]
counts = np.array([regions(np.isin(frame, strong)) for frame in states])
limits = np.array([regions(np.abs(frame) > spread) for frame in other[1:-1]])

figure, ax = plt.subplots(figsize=(8, 2.8), layout="constrained")
ax.plot(counts, color="#d1661c", label="by states of the first flow")
ax.plot(limits, color="0.6", label="by a limit of the vorticity")
ax.set(xlabel="time", ylabel="vortices", ylim=(0, None))
ax.legend(frameon=False)
plt.show()

# %%
# What was learnt, and what it was worth
# --------------------------------------
# States that were learnt in one flow find the vortices of another, and see their number fall. A limit of the vorticity
# finds nearly the same: for counting alone it is the simpler tool. The states add the rims and threads between
# vortices, as the picture shows, and need no limit for those.

agreement = float(np.corrcoef(counts, limits)[0, 1])
worth = {"states": counts, "limit": limits, "agreement": agreement}
for name in ("states", "limit"):
    print(f"{name:8} {worth[name][:10].mean():.1f} vortices at first, {worth[name][-10:].mean():.1f} at last")
print(f"correlation of both over time, in the flow that was held out: {agreement:.2f}")
