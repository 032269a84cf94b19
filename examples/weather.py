"""
When to put the equipment out
=============================

The paper's first example on real weather: keep the equipment in, or set it up outside?

Daily weather of Seattle, 2012 to 2015 (vega_datasets). A day without measurable precipitation (precipitation = 0) is
called "sun", any other day "rain", whatever its kind in the table (sun, fog, drizzle, rain or snow). The utility is
that of section 1 of the paper: out in the sun +1, in during rain 0, in on a sunny day -1 (a missed chance), out in the
rain -2 (damage). States are learnt from 2012 to 2014; 2015 is decided day by day from the days before.
"""

import matplotlib.pyplot as plt
import numpy as np
from vega_datasets import local_data

import decisional as ds

PAST = 3

days = local_data.seattle_weather()
weather = np.where(days["precipitation"] > 0, "rain", "sun")
is_test = days["date"].dt.year == 2015
train, test = weather[~is_test], weather[is_test]
utility = ds.utility.table([[0, -1], [-2, 1]], y=["in", "out"], z=["rain", "sun"])

# %%
# States and decisions
# --------------------
# A causal state is all that the last days tell about the next one. Its best prediction is what to do.

causal = ds.CausalStates().fit(ds.observe.series(train, past=PAST))
choice = ds.DecisionalStates(utility).fit(causal)
print(f"{causal.n_states_} causal states, {choice.n_states_} decisional states from {train.size} days:")
for k in range(causal.n_states_):
    what = " or ".join(sorted(choice.predictions_[k]))
    sun = causal.distributions_[k, 1]
    print(f"  {causal.machine_.names[k]}: P(sun) = {sun:.2f}; best: {what}, worth {choice.utility_[k]:+.2f} a day")

# %%
# The year that was held out
# --------------------------
# Each day of 2015 is decided from the days before it, the last ones of 2014 included.

series = np.concatenate([train[-PAST:], test])
year = ds.observe.series(series, past=PAST)
result = choice.regret(year)


def mean_utility(predictions: np.ndarray) -> float:
    table = utility.matrix(["in", "out"], ["rain", "sun"])
    return float(table[(predictions == "out").astype(int), (test == "sun").astype(int)].mean())


worth = {
    "following the decisional states": result.obtained,
    "always in": mean_utility(np.repeat("in", test.size)),
    "always out": mean_utility(np.repeat("out", test.size)),
    "as if yesterday's weather lasted": mean_utility(np.where(series[PAST - 1 : -1] == "sun", "out", "in")),
    "a perfect forecast": result.perfect,
}
print("\nMean utility per day of 2015:")
for name, mean in worth.items():
    print(f"  {name:34} {mean:+.3f}")

# %%
# When the advice changes
# -----------------------
# An event is known after its last observed day, for the day that follows.


def advice(event: ds.Event) -> str:
    new = event.predictions_after
    what = "either will do: the data do not tell" if len(new) == 2 else f"set it up {next(iter(new))}side"
    what = what.replace("set it up inside", "bring it inside")
    return f"{what} (worth {event.utility_after:+.2f} a day, was {event.utility_before:+.2f})"


dates = days["date"][is_test].reset_index(drop=True)
print("\nWhat changed in May 2015 (the advice of a morning, from the days before):")
for event in choice.events(year):
    date = dates.get(event.position - PAST + 1)
    if date is not None and date.month == 5:
        print(f"  {date:%a %d %b}  {advice(event)}")

# %%
# April to June: bands are the advice, the line is what it is worth, dots are days on which it rained.

shown = np.flatnonzero(dates.dt.month.isin([4, 5, 6]))
figure, ax = plt.subplots(figsize=(9, 3), layout="constrained")
ds.plot.events(choice, year, shown[0] + PAST - 1, shown[-1] + PAST, ax=ax)  # the advice is for the day after
rain = shown[series[shown + PAST] == "rain"]
ax.plot(rain + PAST - 1, np.full(rain.size, 0.08), "o", color="#225588", markersize=3.5)
firsts = shown[dates[shown].dt.day.isin([1, 15])]
ax.set_xticks(firsts + PAST - 1, [f"{dates[k]:%d %b}" for k in firsts])
ax.set(xlabel="day of 2015; dots: it rained", ylabel="expected utility of the day")
plt.show()

# %%
# What was learnt, and what it was worth
# --------------------------------------
# After a rainy day the equipment stays in; after two dry days it goes out; after the first dry day the data do not tell
# which is better. That is worth much more than any fixed choice, and just as much as taking yesterday's weather for
# today's, which here is the same policy: whoever has that rule of thumb gains nothing in utility, but now knows that no
# longer look at the last days would do better. What is missing to a perfect forecast is not in the last days' weather.

simple = worth["as if yesterday's weather lasted"]
print(f"2015, a day: {result.obtained:+.3f} by the states, {simple:+.3f} by yesterday's weather")
