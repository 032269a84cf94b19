"""
Regions of the ocean
====================

Sea-surface temperatures of the tropics: regions of the ocean by what follows in them.

54 months of temperatures (OSTIA, in the package iris-sample-data), without land. What is predicted are deviations from
the mean of each place in the first 36 months; the states are regions that warm or cool alike. The other months are held
out.
"""

from importlib.util import find_spec
from pathlib import Path

import matplotlib.pyplot as plt
import netCDF4
import numpy as np

import decisional as ds

MONTHS = 36

found = find_spec("iris_sample_data")
with netCDF4.Dataset(Path(found.origin).parent / "sample_data" / "ostia_monthly.nc") as data:
    # (months, 18, 432) degrees, masked on land; south comes first.
    temperatures = np.ma.masked_invalid(data["surface_temperature"][:, ::-1])
unusual = temperatures - temperatures[:MONTHS].mean(axis=0)
values = np.asarray(unusual.filled(0.0), float)

# %%
# States
# ------

obs = ds.observe.light_cones(values[:MONTHS], 2, 2, boundary="open", mask=unusual.mask[:MONTHS])
causal = ds.CausalStates().fit(obs)
few = causal.coarsen(n_states=min(6, causal.n_states_))
print(f"{obs.n:,} cells, {causal.n_states_} causal states, C = {causal.complexity_:.1f} bits")
now = values.reshape(-1)[obs.site]
for state in range(few.n_states_):
    own = few.labels_ == state
    print(f"  state {state}: {own.mean():4.0%} of the cells, {now[own].mean():+.1f} degrees from the mean")

# %%
figure, axes = plt.subplots(3, 1, figsize=(9, 2.6), layout="constrained")
shown = unusual[:MONTHS].filled(np.nan)
ds.plot.fields(few, raw=shown, panels=["raw", "C", "states"], frame=min(20, len(shown) - 1), axes=axes)
plt.show()

# %%
# What was learnt, and what it was worth
# --------------------------------------
# The states are regions of warm and of cool water, among them the tongue along the equator in the Pacific that makes
# El Niño. The temperature of the next month of each place is forecast better from the state, which sees the neighbours
# and the month before, than as it is now or as it was a year before.

choice = ds.DecisionalStates(ds.utility.squared_error()).fit(causal)
new = ds.observe.light_cones(values[MONTHS:], 2, 2, boundary="open", mask=unusual.mask[MONTHS:])
later = values[MONTHS:].reshape(-1)
following = later[new.site + values[0].size]
year_before = values[MONTHS - 12 :].reshape(-1)[new.site + values[0].size]
forecasts = {
    "states": choice.decide(new).astype(float),
    "as now": later[new.site],
    "as a year before": year_before,
    "mean": np.zeros(new.n),
}
worth = {name: float(np.sqrt(np.mean((made - following) ** 2))) for name, made in forecasts.items()}
print(f"root mean square error in {values.shape[0] - MONTHS} months that were held out")
for name, error in worth.items():
    print(f"  {name:18} {error:.2f} degrees")
