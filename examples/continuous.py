"""Continuous series: states by kernel densities, decisions for two utilities, and forecasts of held-out values.

- the logistic map x' = 3.9 x (1 - x), observed with noise of standard deviation 0.02;
- the Rössler system, x every half unit of time, in runs from different places;
- sunspots, one number a year from 1700 to 2008 (statsmodels).

The last quarter of each is held out. How many past values make x is chosen inside the first three quarters: the number
whose densities, learnt from two thirds of them, score best on the last third. Everything else is the default. Skill is
1 - MSE / MSE of persistence (the next value is the last one): 1 is perfect, 0 no better than persistence.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp
from statsmodels.datasets import sunspots

import decisional as ds

PASTS = (1, 2, 3, 5, 8)


@dataclass(frozen=True)
class Series:
    """Runs to learn from and runs to forecast; an error up to `tolerance` costs nothing."""

    learnt: Sequence[np.ndarray]
    held_out: Sequence[np.ndarray]
    tolerance: float


@dataclass(frozen=True)
class Result:
    """Numbers of states, skill on held-out data, and shares of held-out values within the tolerance."""

    past: int
    n_states: int
    n_mean: int
    n_tolerant: int
    skill: float
    skill_states: float
    within: float
    within_persistence: float


def logistic(n: int = 2000) -> Series:
    values, v = np.empty(n), 0.4
    for t in range(n):
        v = 3.9 * v * (1.0 - v)
        values[t] = v
    values += 0.02 * np.random.default_rng(1).normal(size=n)
    return Series([values[: n * 3 // 4]], [values[n * 3 // 4 :]], 0.05)


def rossler(runs: int = 16, n: int = 120) -> Series:
    """Short runs: a chaotic system forgets its start, and with it the rounding of any one computer."""

    def flow(_: float, u: np.ndarray) -> tuple[float, float, float]:
        x, y, z = u
        return -y - z, x + 0.2 * y, 0.2 + z * (x - 5.7)

    times = 30.0 + 0.5 * np.arange(n)
    starts = np.random.default_rng(2).uniform(-5.0, 5.0, size=(runs, 2))
    found = [solve_ivp(flow, (0, times[-1]), (*start, 0.1), t_eval=times, rtol=1e-7).y[0] for start in starts]
    return Series(found[: runs * 3 // 4], found[runs * 3 // 4 :], 0.5)


def yearly_sunspots() -> Series:
    values = sunspots.load().data["SUNACTIVITY"].to_numpy(float)
    n = values.size * 3 // 4
    return Series([values[:n]], [values[n:]], 15.0)


def choose_past(series: Series) -> int:
    """The number of past values with the best log score, by the learnt runs alone."""
    if len(series.learnt) > 1:
        cut = len(series.learnt) * 2 // 3
        first, last = series.learnt[:cut], series.learnt[cut:]
    else:
        cut = series.learnt[0].size * 2 // 3
        first, last = [series.learnt[0][:cut]], [series.learnt[0][cut:]]

    def score(past: int) -> float:
        return ds.CausalStates().fit(ds.observe.delays(first, past)).score(ds.observe.delays(last, past))

    return max(PASTS, key=score)


def study(series: Series) -> tuple[Result, dict[str, np.ndarray]]:
    """Forecasts of the held-out runs, and the series for a picture."""
    past = choose_past(series)
    causal = ds.CausalStates().fit(ds.observe.delays(series.learnt, past))
    mean = ds.DecisionalStates(ds.utility.squared_error()).fit(causal)
    tolerant = ds.DecisionalStates(ds.utility.tolerant(series.tolerance)).fit(causal)

    new = ds.observe.delays(series.held_out, past)
    actual, last = np.array(new.outcomes)[new.z], new.points[new.x][:, 0]
    forecast = causal.predict_proba(new) @ np.array(causal.outcomes_)
    # Where no learnt x is near, the best that is known is the mean.
    forecast = np.where(np.isnan(forecast), np.concatenate(series.learnt).mean(), forecast)

    def skill(y: np.ndarray) -> float:
        return float(1.0 - np.mean((y - actual) ** 2) / np.mean((last - actual) ** 2))

    def within(y: np.ndarray) -> float:
        return float(np.mean(np.abs(y - actual) <= series.tolerance))

    result = Result(
        past,
        causal.n_states_,
        mean.iso_prediction_.n_states,
        tolerant.iso_prediction_.n_states,
        skill(forecast),
        skill(mean.decide(new).astype(float)),
        within(tolerant.decide(new).astype(float)),
        within(last),
    )
    order = np.argsort(mean.utility_)  # states from the least to the most certain
    rank = np.append(np.argsort(order), -1)[causal.predict(new)]
    return result, {"actual": actual, "forecast": forecast, "states": rank}


AXES = {
    "logistic map": ("step after the learnt ones", "value"),
    "Rössler": ("half units of time, in the first held-out run", "x"),
    "sunspots": ("years since the first forecast", "sunspots in the year"),
}


def picture(name: str, drawn: dict[str, np.ndarray], path: Path, shown: int = 115) -> None:
    """The forecasts of held-out values; the colour is the state, from the least to the most certain one."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 2.8), layout="constrained")
    FigureCanvasAgg(figure)
    ax: Any = figure.subplots()
    t = np.arange(drawn["actual"].size)[:shown]
    ax.plot(t, drawn["actual"][:shown], color="0.7", linewidth=1.2, label="held out", zorder=1)
    dots = ax.scatter(t, drawn["forecast"][:shown], c=drawn["states"][:shown], s=16, cmap="viridis")
    ax.plot([], [], "o", color="0.3", markersize=4, label="forecast")
    bar = figure.colorbar(dots, ax=ax, ticks=[], pad=0.01)
    bar.set_label("state\nlighter = more certain", fontsize=9)
    ax.set_title(name, fontsize=11, loc="left")
    ax.set(xlabel=AXES[name][0], ylabel=AXES[name][1])
    ax.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=2, fontsize=9, frameon=False)
    ds.plot.save(figure, path)


def main(out: Path | None = None) -> dict[str, Result]:
    """Print the table; with a folder, save a picture of each series there."""
    every = {"logistic map": logistic(), "Rössler": rossler(), "sunspots": yearly_sunspots()}
    results = {}
    print(f"{'':12}       causal   iso-prediction states    skill, held-out     within tolerance")
    print(f"{'':12} past  states     mean   tolerance       P(Z|x)   states    states   persistence")
    for name, series in every.items():
        r, drawn = study(series)
        results[name] = r
        counts = f"{r.past:5} {r.n_states:7} {r.n_mean:8} {r.n_tolerant:11}"
        print(f"{name:12} {counts} {r.skill:12.2f} {r.skill_states:8.2f} {r.within:9.0%} {r.within_persistence:13.0%}")
        if out is not None:
            file = name.split()[0].lower().replace("ö", "o")
            picture(name, drawn, out / f"continuous_{file}.png")
    return results


if __name__ == "__main__":
    main(Path.cwd())
