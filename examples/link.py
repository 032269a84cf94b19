"""
Watching a stream: send now, slowly, or wait?
=============================================

A radio link delivers a packet (".") or loses it ("x"); losses come in bursts. What a slot is worth: a packet at full
rate brings 1 if it is delivered and costs 2 if it is lost, one at a low rate brings 0.4 or costs 0.3, waiting costs
nothing. States and decisions are learnt from a log; a monitor then follows the live link, and speaks only when the
advice changes. Half-way the program stops; what it saved goes on from there. The link is simulated.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib.pyplot as plt

import decisional as ds

link = ds.EpsilonMachine(
    [
        *[("good", ".", "good", 0.97), ("good", "x", "bad", 0.03)],
        *[("bad", "x", "bad", 0.7), ("bad", ".", "fading", 0.3)],
        *[("fading", ".", "good", 0.65), ("fading", "x", "bad", 0.35)],
    ]
)
log = "".join(link.simulate(20_000, rng=1))
utility = ds.utility.table([[1, -2], [0.4, -0.3], [0, 0]], y=["send", "slow", "wait"], z=[".", "x"])
choice = ds.DecisionalStates(utility).fit(ds.CausalStates().fit(ds.observe.series(log, past=5)))
print(f"{choice.n_states_} decisions, {choice.expected_utility_:.2f} per slot on average")

# %%
# The live link
# -------------

stream = "".join(link.simulate(120, rng=4))
with TemporaryDirectory() as folder:
    saved = Path(folder) / "monitor.json"
    monitor = ds.Monitor(choice)
    events = [*monitor.feed(stream[:60])]
    monitor.save(saved)  # the program stops here ...
    events += ds.Monitor.load(saved).feed(stream[60:])  # ... and another one goes on
for event in events:
    print(event)

# %%
# Bands are the advice, the line is what it is worth.

figure, ax = plt.subplots(figsize=(9, 3), layout="constrained")
ds.plot.events(choice, stream, stop=120, ax=ax)
plt.show()

# %%
# What was learnt, and what it was worth
# --------------------------------------
# A link that lost a packet is not trusted until it delivered twice. In slots that were not learnt this brings more than
# always sending, slowly or not. A rule of thumb, to send whenever the last packet came through, brings nearly as much:
# whoever knew it gains little. The larger part of what foresight could bring is got by both.

slots = "".join(link.simulate(20_000, rng=2))
result = choice.regret(slots)
print(f"new data: {result.obtained:.2f} per slot, best fixed {result.best_fixed:.2f}, foresight {result.perfect:.2f}")
pay = {"..": 1, ".x": -2}
thumb = sum(pay.get(slots[k - 1 : k + 1], 0) for k in range(5, len(slots))) / (len(slots) - 5)
print(f"sending whenever the last packet came through: {thumb:.2f} per slot")
worth = {"states": result.obtained, "fixed": result.best_fixed, "thumb": thumb, "perfect": result.perfect}
