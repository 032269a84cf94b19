"""
Sunspots, El Niño and CO2
=========================

Three real series of numbers (statsmodels): sunspots of each year from 1700 on, the temperature of the sea in the
region of El Niño for each month from 1950 on, and the monthly change of CO2 on Mauna Loa. How much of the past is
looked at and how wide kernels are is left to the data. The last quarter of each series is held out.
"""

import matplotlib.pyplot as plt
import numpy as np
from statsmodels.datasets import co2, elnino, sunspots

import decisional as ds

SERIES = 3

carbon = co2.load_pandas().data["co2"].resample("MS").mean().interpolate().to_numpy(float)
series = {
    "sunspots of a year": sunspots.load_pandas().data["SUNACTIVITY"].to_numpy(float),
    "El Niño, degrees": elnino.load_pandas().data.set_index("YEAR").to_numpy(float).ravel(),
    "change of CO2, ppm": np.diff(carbon),
}

# %%
# Forecasts one step ahead
# ------------------------
# A forecast follows the state, or P(Z|x) of each x itself. Skill is 1 - MSE / MSE of persistence, the forecast that
# the last value comes again: 1 is perfect, 0 no better. The autoregression has its order by AIC.

worth, drawn = {}, {}
print(f"{'skill, held out':20} past  states   by state   by x   autoregression")
for name, values in list(series.items())[:SERIES]:
    cut = values.size * 3 // 4
    causal = ds.CausalStates(past="auto").fit(values[:cut])
    choice = ds.DecisionalStates(ds.utility.squared_error()).fit(causal)
    result = choice.regret(values[cut:])
    rivals = {"states": result.obtained, "x": result.by_x.utility, "ar": result.ar.utility}
    worth[name] = {rival: 1.0 - utility / result.persistence.utility for rival, utility in rivals.items()}
    skills = [worth[name][rival] for rival in rivals]
    print(f"{name:20} {causal.past_:4} {causal.n_states_:7} " + "{:10.2f} {:6.2f} {:16.2f}".format(*skills))
    new = causal.observe(values[cut:])
    drawn[name] = values[cut:], new.site + 1, choice.decide(new, by="x").astype(float)

# %%
figure, axes = plt.subplots(SERIES, 1, figsize=(8, 2.2 * SERIES), layout="constrained", squeeze=False)
for ax, (name, (values, site, forecast)) in zip(axes[:, 0], drawn.items(), strict=True):
    shown = site < 120
    ax.plot(values[:120], color="0.7", linewidth=3, label="held out")
    ax.plot(site[shown], forecast[shown], ".-", color="#225588", linewidth=0.8, markersize=4, label="forecast, by x")
    ax.set(ylabel=name)
axes[0, 0].legend(frameon=False, ncols=2, loc="lower right", bbox_to_anchor=(1.0, 1.0))
axes[-1, 0].set(xlabel="years (first), months (others) since the first held-out value")
plt.show()

# %%
# What was learnt, and what it was worth
# --------------------------------------
# Few years tell few states apart, and the mean of a state is a coarse forecast: for sunspots no better than the last
# value. P(Z|x) of each x follows much better. The simplest alternative, an autoregression, is as good or better where
# the series is nearly a line of its past (sunspots) and a little worse on the other two; what it lacks are the states,
# and a distribution that is not a bell.
