"""
Edges of a photograph
=====================

Edges are where a pixel is hard to predict from its neighbours. The photograph of a cameraman (scikit-image, every
fourth pixel of each row and column) is cut in two: states are learnt from the upper half, and the lower half is held
out. An error of up to 7 grey levels costs nothing.
"""

import matplotlib.pyplot as plt
import numpy as np
from skimage import data

import decisional as ds

STEP = 4

photograph = data.camera()[::STEP, ::STEP].astype(int)
obs = ds.observe.image(photograph)
causal = ds.CausalStates(ds.Kernels(1.5**0.5), ds.Bhattacharyya(), passes=3).fit(obs)
choice = ds.DecisionalStates(ds.utility.tolerant(7)).fit(causal)
print(f"{obs.n:,} pixels, {causal.n_states_} causal states, {choice.n_states_} decisional states")

# %%
# The paper's picture of edges
# ----------------------------
# States of the whole photograph, with the width of the paper. Dark is complex: first by all that can be told of a
# pixel, then only by what changes its best prediction.

figure, axes = plt.subplots(1, 3, figsize=(9, 3.4), layout="constrained")
ds.plot.edges(choice, photograph, axes=axes)
plt.show()

# %%
# What was learnt, and what it was worth
# --------------------------------------
# Edges have no answer to be compared with, but the prediction that they are made of has: pixels of the lower half,
# from the states of the upper one, with wider kernels, as most neighbourhoods are new. The simplest alternative is the
# median of the eight pixels around, and it is better: half a small photograph is little to learn all kinds of
# neighbourhoods from. The states find where prediction is hard; to predict, take the median. Pixels of which nothing
# similar was seen are left to the median in both.

half = photograph.shape[0] // 2
upper, lower = ds.observe.image(photograph[:half]), ds.observe.image(photograph[half:])
learnt = ds.CausalStates(ds.Kernels(6.0), ds.Bhattacharyya()).fit(upper)
guess = ds.DecisionalStates(ds.utility.tolerant(7)).fit(learnt).decide(lower, by="x").astype(float)
# Outcomes are above the darkest neighbour, which is what `subtract_min` takes away.
actual = np.array(lower.outcomes, float)[lower.z]
row, column = np.divmod(lower.site, photograph.shape[1])
pixel = photograph[half:][row, column]
darkest = pixel - actual
around = [(i, j) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0)]
median = np.median([photograph[half:][row + i, column + j] for i, j in around], axis=0)
known = np.isfinite(guess)
print(f"something similar was seen of {known.mean():.0%} of the pixels")
filled = np.where(known, guess + darkest, median)
worth = {
    "states": float(np.mean(np.abs(filled - pixel) <= 7)),
    "median of eight": float(np.mean(np.abs(median - pixel) <= 7)),
}
for name, share in worth.items():
    print(f"{name:16} {share:.1%} of the pixels of the lower half within 7 grey levels")
