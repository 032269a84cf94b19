"""Hourly temperatures: what the next hour brings depends on the hour, which is known in advance.

Usual temperatures of Seattle in degrees Fahrenheit, hour by hour, from June to August (vega_datasets). The last third
is held out. From the last value alone nothing tells a morning from an evening of the same temperature; with the hour as
a further input the forecast does.
"""

from pathlib import Path

import numpy as np
from vega_datasets import local_data

import decisional as ds

INPUTS = {"the last value": None, "the last value and the hour": ["hour"]}


def main(out: Path | None = None) -> dict[str, float]:
    """Print errors of forecasts; with a folder, save a picture of three days there."""
    hourly = local_data.seattle_temps().set_index("date")["temp"].loc["2010-06-15":"2010-08-15"]
    cut = len(hourly) * 2 // 3
    learnt, held_out = hourly.iloc[:cut], hourly.iloc[cut:]
    forecasts = {"persistence": held_out.to_numpy()}
    for name, inputs in INPUTS.items():
        causal = ds.CausalStates(past=1, inputs=inputs).fit(learnt)
        # The last forecast is of an hour that the data do not reach.
        forecasts[name] = causal.predict_proba(held_out) @ np.array(causal.outcomes_)
    actual = held_out.to_numpy()[1:]
    errors = {name: float(np.sqrt(np.mean((made[:-1] - actual) ** 2))) for name, made in forecasts.items()}
    print(f"forecasts of {actual.size} hours from    root mean square error")
    for name, error in errors.items():
        print(f"  {name:30} {error:10.1f} degrees")
    if out is not None:
        draw(held_out, forecasts, out)
    return errors


def draw(held_out: object, forecasts: dict[str, np.ndarray], out: Path) -> None:
    """Three days and their forecasts."""
    import matplotlib.pyplot as plt

    hours = np.arange(1, 73)
    figure, axes = plt.subplots(figsize=(8, 2.8), layout="constrained")
    axes.plot(hours, np.asarray(held_out)[hours], color="0.75", linewidth=5, label="temperature")
    for name in INPUTS:
        axes.plot(hours, forecasts[name][hours - 1], linewidth=1.2, label=f"from {name}")
    axes.set(xlabel="hours", ylabel="degrees Fahrenheit")
    axes.legend(frameon=False, ncols=3, loc="lower center", bbox_to_anchor=(0.5, 1.0))
    figure.savefig(out / "hourly.png", dpi=120)
    plt.close(figure)


if __name__ == "__main__":
    main(Path.cwd())
