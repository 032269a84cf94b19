"""
Hourly temperatures
===================

What the next hour brings depends on the hour, which is known in advance.

Usual temperatures of Seattle in degrees Fahrenheit, hour by hour, from June to August (vega_datasets). The last third
is held out. From the last value alone nothing tells a morning from an evening of the same temperature; with the hour as
a further input the forecast does.
"""

import matplotlib.pyplot as plt
import numpy as np
from vega_datasets import local_data

import decisional as ds

hourly = local_data.seattle_temps().set_index("date")["temp"].loc["2010-06-15":"2010-08-15"]
cut = len(hourly) * 2 // 3
learnt, held_out = hourly.iloc[:cut], hourly.iloc[cut:]

# %%
# With and without the hour
# -------------------------

forecasts = {"persistence": held_out.to_numpy()}
for name, inputs in {"the last value": None, "the last value and the hour": ["hour"]}.items():
    causal = ds.CausalStates(past=1, inputs=inputs).fit(learnt)
    forecasts[name] = causal.predict_proba(held_out) @ np.array(causal.outcomes_)
# The mean of each hour, where it was learnt, is a forecast that needs no model.
usual = learnt.groupby(learnt.index.hour).mean()
forecasts["the mean of each hour"] = usual[(held_out.index.hour + 1) % 24].to_numpy()

# %%
# Three days and their forecasts:

hours = np.arange(1, 73)
figure, ax = plt.subplots(figsize=(8, 3), layout="constrained")
ax.plot(hours, held_out.to_numpy()[hours], color="0.75", linewidth=5, label="temperature")
for name in ("the last value", "the last value and the hour"):
    ax.plot(hours, forecasts[name][hours - 1], linewidth=1.2, label=f"from {name}")
ax.set(xlabel="hours", ylabel="degrees Fahrenheit")
ax.legend(frameon=False, ncols=3, loc="lower center", bbox_to_anchor=(0.5, 1.0))
plt.show()

# %%
# What was learnt, and what it was worth
# --------------------------------------
# The hour is nearly all there is to know. These are usual temperatures, means of many years, and so are much easier to
# forecast than those of one year; even so the last value with the hour is better than either of them alone.

actual = held_out.to_numpy()[1:]
# The last forecast is of an hour that the data do not reach.
worth = {name: float(np.sqrt(np.mean((made[:-1] - actual) ** 2))) for name, made in forecasts.items()}
print(f"forecasts of {actual.size} hours from    root mean square error")
for name, error in worth.items():
    print(f"  {name:30} {error:10.1f} degrees")
