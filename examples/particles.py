"""
Particles in an automaton
=========================

Particles of a cellular automaton, found without being told what they look like.

Rule 110 soon settles into a periodic background in which particles move and collide. The causal states of its light
cones are computed for every cell. States of the background are common; those of particles and collisions are rare, so
that their local complexity, -log2 of the probability of the state, is high. No pattern is searched for. The utility of
a prediction is the number of cells of the next two rows, 8 in all, that it gets right. There are no data to read: the
automaton is the data.
"""

import matplotlib.pyplot as plt
import numpy as np

import decisional as ds

WIDTH = 300

field = ds.processes.elementary_ca(110, width=WIDTH, steps=400, rng=3)[200:]  # the first 200 rows are a transient
obs = ds.observe.light_cones(field, past=4, future=3)
causal = ds.CausalStates(match="exact").fit(obs)
choice = ds.DecisionalStates(ds.utility.matching_cells()).fit(causal)

# %%
# Rare states
# -----------
# Those with a probability below 1/64 are called particles here.

local, utility = causal.local_complexity_, choice.utility_[causal.labels_]
rare = local > 6.0
print(f"{obs.n:,} cells, {causal.n_states_} causal states, C = {causal.complexity_:.2f} bits")
for name, where in (("background", ~rare), ("particles", rare)):
    states = np.unique(causal.labels_[where]).size
    print(f"  {name:10}  {where.mean():4.0%} of the cells, {states:3} states, ", end="")
    print(f"{utility[where].mean():.2f} of 8 cells predicted right")

# %%
figure, axes = plt.subplots(1, 2, figsize=(9, 3.5), layout="constrained")
ds.plot.fields(choice, raw=field, panels=["raw", "C"], axes=axes)
plt.show()

# %%
# What was learnt, and what it was worth
# --------------------------------------
# Another run of the automaton, from another random row, is new to the states. It has more particles, which are harder
# to predict: fewer cells are right than where the states were learnt, but no fewer than with states learnt from this
# run itself. The simplest alternative is to say the same cells every time. Where the particles are is known to the eye,
# too: what the states add is a number for each cell, and no hand that says what to look for.

new = ds.observe.light_cones(ds.processes.elementary_ca(110, width=WIDTH, steps=400, rng=4)[200:], past=4, future=3)
own = ds.DecisionalStates(ds.utility.matching_cells()).fit(ds.CausalStates(match="exact").fit(new))
result = choice.regret(new)
worth = {
    "states, where learnt": choice.expected_utility_,
    "states, another run": result.obtained,
    "learnt from that run": own.expected_utility_,
    "always the same": result.best_fixed,
}
for name, cells in worth.items():
    print(f"{name:24} {cells:.2f} of 8 cells right")
share = float(np.mean(local[np.unique(causal.labels_, return_index=True)[1]][causal.predict(new)] > 6.0))
print(f"particles are {share:.0%} of the cells of the other run")
