"""
From the shell: last years' model, this year's file
===================================================

Nothing but commands and files. The highest temperature of each day in Seattle (vega_datasets): states are learnt from
the file of 2012 to 2014 and saved; the file of 2015 comes later, and the model is applied to it. The commands run here
from Python; what follows the ``$`` can be typed.
"""

import os
import shlex
from tempfile import TemporaryDirectory

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from vega_datasets import data

import decisional as ds
from decisional.cli import main

folder = TemporaryDirectory()
weather = data.seattle_weather()[["date", "temp_max"]]
for name, years in (("old", (2012, 2013, 2014)), ("new", (2015,))):
    weather[weather["date"].dt.year.isin(years)].to_csv(f"{folder.name}/{name}.csv", index=False)


def shell(line: str) -> None:
    """Run a command in the folder of the files."""
    print("$", line)
    before = os.getcwd()
    os.chdir(folder.name)
    try:
        assert main(shlex.split(line)[1:]) == 0
    finally:
        os.chdir(before)


shell("decisional signal old.csv --column temp_max --time date --model model.json")

# %%
# A year later
# ------------
# States, what comes next, local complexity and surprise of each day of the new file:

shell("decisional predict model.json new.csv --column temp_max --time date --labels states.csv")
states = pd.read_csv(f"{folder.name}/states.csv", index_col="date", parse_dates=True)
print(states[["state", "local_complexity", "surprise", "mean", "q05", "q95"]].iloc[7:11].round(2))

# %%
# What each day lets expect of the next, and what came:

actual = weather.set_index("date")["temp_max"]["2015"]
ahead = states[["mean", "q05", "q25", "q75", "q95"]].shift(1)
fig, ax = plt.subplots(figsize=(9, 3), layout="constrained")
for low, high, shade in (("q05", "q95", "#dbe9f4"), ("q25", "q75", "#9cc3e2")):
    ax.fill_between(
        ahead.index, ahead[low], ahead[high], step="mid", color=shade, label=f"{int(low[1:])} % to {int(high[1:])} %"
    )
ax.plot(actual.index, actual, color="#d1661c", linewidth=0.9, label="what came")
ax.margins(x=0)
ax.set_ylabel("highest temperature, °C")
ax.legend(ncols=3, loc="lower left", bbox_to_anchor=(0, 1), frameon=False)
plt.show()

# %%
# What was learnt, and what it was worth
# --------------------------------------
# The intervals hold in a year that the model has not seen: nine days in ten come within the 90 % that the day before
# let expect. The simplest alternative, that a day is like the one before, has no intervals, but is a little better as
# a single number: seven states are coarse. P(Z|x) of each x, which the same file tells in Python, is better than both.

known = ahead["mean"].notna()
mean = weather[weather["date"].dt.year < 2015]["temp_max"].mean()
causal = ds.DecisionalStates.load(f"{folder.name}/model.json").causal_
observed = causal.observe(actual)
finer = observed.frame(mean=causal.forecast(observed).mean)["mean"].shift(1)
forecasts = {
    "states": ahead["mean"],
    "each x": finer,
    "as the day before": actual.shift(1),
    "mean of the old file": mean,
}
worth = {name: float(np.sqrt(((actual - one)[known] ** 2).mean())) for name, one in forecasts.items()}
for name, error in worth.items():
    print(f"{name:22} {error:.2f} degrees, root mean square error in 2015")
worth["inside"] = float(actual.between(ahead["q05"], ahead["q95"])[known].mean())
print(f"{worth['inside']:.0%} of the days of 2015 within the 90 % of the day before")
folder.cleanup()
