"""
Defects of a pattern
====================

What does not belong to the pattern that most cells follow. Logistic maps on a ring, coupled to their neighbours, settle
into zigzags of period two with chaotic defects between them. The zigzags are predictable and common, the defects rare:
their local complexity is high.
"""

import matplotlib.pyplot as plt
import numpy as np

import decisional as ds

WIDTH = 150

field = ds.processes.coupled_map_lattice(WIDTH, 150, rng=1)
obs = ds.observe.light_cones(field, past=3, future=2)
causal = ds.CausalStates().fit(obs)
few = causal.coarsen(n_states=12)
print(f"{obs.n:,} cells, {causal.n_states_} causal states, of which 12 keep {few.path().bits[0]:.1f} bits", end="")
print(f" of {causal.path().bits[0]:.1f}")

# %%
figure, axes = plt.subplots(1, 3, figsize=(9, 3.4), layout="constrained")
ds.plot.fields(few, raw=field, panels=["raw", "C", "states"], axes=axes)
plt.show()

# %%
# What was learnt, and what it was worth
# --------------------------------------
# A lattice from other random values was not learnt. By the states of the first one its cells are more complex where the
# pattern broke than where it repeated. The next value of a cell is forecast by its state, by the value now (poor:
# zigzags jump), and by that of two rows before, which knows that zigzags repeat. The states are better than both, and
# most of all at the defects, where nothing repeats.

other = ds.processes.coupled_map_lattice(WIDTH, 150, rng=2)
new = causal.observe(other)
state = causal.predict(new)
surprise = -np.log2(causal.states_.probability)[state]
following, before = (other.reshape(-1)[new.site + step * WIDTH] for step in (1, -1))
now = other.reshape(-1)[new.site]
change = np.abs(now - other.reshape(-1)[new.site - 2 * WIDTH])
quiet, moving = change < 0.1, change > 0.5
print(f"local complexity {surprise[quiet].mean():.1f} bits where the pattern repeated, ", end="")
print(f"{surprise[moving].mean():.1f} where it broke ({moving.mean():.0%} of the cells)")

choice = ds.DecisionalStates(ds.utility.squared_error()).fit(causal)
forecasts = {
    "states": choice.decide(new).astype(float),
    "as two rows before": before,
    "as now": now,
}
worth = {"quiet": float(surprise[quiet].mean()), "moving": float(surprise[moving].mean())}
print("root mean square error      all   pattern   defects")
for name, forecast in forecasts.items():
    wrong = (forecast - following) ** 2
    errors = [float(np.sqrt(part.mean())) for part in (wrong, wrong[quiet], wrong[moving])]
    print(f"  {name:20}" + "".join(f"{value:9.3f}" for value in errors))
    worth |= {name: errors[0], f"{name}, defects": errors[2]}
