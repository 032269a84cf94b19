"""
An alarm for a machine with three regimes
=========================================

A pump runs idle, under load, or strained; strain leads to a peak of vibration now and then. Vibration is measured
through noise. A peak that comes without an alarm costs twenty times as much as an alarm for nothing. The pump is
simulated, so that its regimes are known; the alarm is not told of them.
"""

import matplotlib.pyplot as plt
import numpy as np

import decisional as ds

N = 3000
LIMIT = 6.0

rng = np.random.default_rng(3)
moves = np.array([[0.97, 0.03, 0.0], [0.02, 0.95, 0.03], [0.0, 0.10, 0.90]])
levels, spreads = np.array([1.0, 3.0, 5.0]), np.array([0.2, 0.4, 0.9])


def run(n: int) -> np.ndarray:
    """Vibration of n moments."""
    regime = [0]
    for _ in range(n - 1):
        regime.append(int(rng.choice(3, p=moves[regime[-1]])))
    return levels[regime] + spreads[regime] * rng.standard_normal(n)


learnt, held_out = run(N), run(N)

# %%
# States and the alarm
# --------------------
# An alarm is best where a peak above the limit is likelier than 1 in 21.

causal = ds.CausalStates(past=2).fit(learnt)
choice = ds.DecisionalStates(ds.utility.alarm(LIMIT, missed=20, false=1)).fit(causal)
print(f"{causal.n_states_} causal states, {choice.n_states_} decisional states")
for best, value, share in zip(choice.predictions_, choice.utility_, causal.states_.probability, strict=True):
    print(f"  {share:4.0%} of the time: {' or '.join(sorted(best)):6} worth {value:+.2f}")

# %%
# What the alarm said in a stretch that was not learnt:

new = causal.observe(held_out)
said = choice.decide(new) == "alarm"
figure, ax = plt.subplots(figsize=(9, 3), layout="constrained")
first, last = 0, 400
ax.plot(held_out[first:last], color="0.6", linewidth=0.9)
site = new.site + 1
peaks = np.flatnonzero(held_out[first:last] > LIMIT)
ax.plot(peaks, held_out[peaks], "o", color="#b04020", markersize=4, label="peak")
alarms = site[said & (site < last)]
ax.vlines(alarms, 0, 1, transform=ax.get_xaxis_transform(), color="#f0a860", alpha=0.4, linewidth=1.2, label="alarm")
ax.axhline(LIMIT, color="0.3", linewidth=0.8, linestyle=":")
ax.set(xlabel="moment", ylabel="vibration", xlim=(first, last))
ax.legend(frameon=False, ncols=2, loc="lower right", bbox_to_anchor=(1.0, 1.0))
plt.show()

# %%
# What was learnt, and what it was worth
# --------------------------------------
# The states part the strained regime from the others well enough to decide. The simplest alternative is an alarm when
# the last value was above a lower limit, the best of all such limits where the states were learnt. It costs only a
# little more: with one regime of danger and one number to see it by, a limit that is well chosen is hard to beat. What
# the states save is to choose it, and they say what the alarm is worth.

peak = held_out[site[site < N]] > LIMIT


def cost(alarm: np.ndarray, followed: np.ndarray) -> float:
    return float(np.mean(np.where(alarm, ~followed * 1.0, followed * 20.0)))


limits = np.linspace(1.0, 7.0, 61)
best = min(limits, key=lambda limit: cost(learnt[1:-1] > limit, learnt[2:] > LIMIT))
worth = {
    "states": cost(said[site < N], peak),
    "best limit": cost(held_out[site[site < N] - 1] > best, peak),
    "never": cost(np.zeros(peak.size, bool), peak),
    "always": cost(np.ones(peak.size, bool), peak),
}
for name, paid in worth.items():
    print(f"{name:12} costs {paid:.3f} a moment")
