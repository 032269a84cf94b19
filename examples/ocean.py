"""Sea-surface temperatures of the tropics: regions of the ocean by what follows in them.

54 months of temperatures (OSTIA, in the package iris-sample-data), without land. What is predicted are deviations from
the mean of each place; the states are regions that warm or cool alike.
"""

from importlib.util import find_spec
from pathlib import Path

import netCDF4
import numpy as np
from matplotlib.figure import Figure

import decisional as ds


def temperatures() -> np.ma.MaskedArray:
    """(months, 18, 432) degrees, masked on land."""
    found = find_spec("iris_sample_data")
    assert found is not None
    assert found.origin is not None
    with netCDF4.Dataset(Path(found.origin).parent / "sample_data" / "ostia_monthly.nc") as data:
        # South comes first.
        return np.ma.masked_invalid(data["surface_temperature"][:, ::-1])


def main(out: Path | None = None) -> dict[str, float]:
    """Print the states; with a folder, save the picture there."""
    field = temperatures()
    unusual = field - field.mean(axis=0)
    obs = ds.observe.light_cones(np.asarray(unusual.filled(0.0), float), 2, 2, boundary="open", mask=unusual.mask)
    causal = ds.CausalStates().fit(obs)
    few = causal.coarsen(n_states=min(6, causal.n_states_))
    print(f"{obs.n:,} cells of {field.size:,}, {causal.n_states_} causal states, C = {causal.complexity_:.1f} bits")
    values = unusual.filled(np.nan).reshape(-1)[obs.site]
    for state in range(few.n_states_):
        own = few.labels_ == state
        print(f"  state {state}: {own.mean():4.0%} of the cells, {values[own].mean():+.1f} degrees from the mean")
    if out is not None:
        axes = Figure(figsize=(9, 2.2), layout="constrained").subplots(3, 1)
        ds.plot.save(ds.plot.fields(few, unusual.filled(np.nan), ["raw", "C", "states"], 20, axes), out / "ocean.png")
    return {"states": float(causal.n_states_)}


if __name__ == "__main__":
    main(Path.cwd())
