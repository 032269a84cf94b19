"""Forecasts of continuous series: held-out bits, and what decisions made with them cost.

Prints tables and writes them to benchmarks/forecasts.md. Bits are mean log2 densities of 1,500 held-out values after
1,500 learnt ones, for the systems of systems.py and several seeds; all methods but AR see the same past. Costs are of a
newsvendor, who pays 3 for each unit that is short and 1 for each that is left over, and so orders the 75 % quantile, on
the last quarter of real series; the past is chosen in the first three by `ds.selection.best_past`. "Hourly, with hour"
knows the time of day, as `inputs=["hour"]`; its AR does not. The peers:

AR: least squares, order up to 12 by AIC, normal errors. kNN: the nearest 10 to 80 values smoothed by a normal kernel,
number and width by leave-one-out likelihood. GP: scikit-learn's Gaussian process, a width for each lag and white noise,
chosen on 400 observations. Boosting: scikit-learn's gradient-boosted trees of 11 quantiles, with density between them
and exponential tails. Kernels: the plain kernels of this library alone.
"""

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import norm
from systems import CONTINUA, split

import decisional as ds

SEEDS, LEARNT, HELD_OUT = (5000, 5001, 5002, 5003), 1500, 1500
ORDERS = 12
NEIGHBOURS, SMOOTHING = (10, 20, 40, 80), (0.3, 0.5, 0.8, 1.2)
LEVELS = np.array([0.025, *np.linspace(0.1, 0.9, 9), 0.975])
# Observations that choose the widths of the Gaussian process; all are fitted.
TRIED = 400
SHORTAGE, SURPLUS = 3.0, 1.0
PASTS = (1, 2, 3, 5, 8, 12)
QUARTERS = 3
# What is known in advance of some series with dates.
INPUTS = {"hourly, with hour": ["hour"]}
HEAD = """# Forecasts

Written by `benchmarks/forecasts.py`, which says what is measured; rules were tuned on other seeds (below 1,000) and on
the first three quarters of the real series.

"""
Rows = tuple[np.ndarray, np.ndarray]


def windows(values: np.ndarray, past: int, start: int) -> Rows:
    """Pasts, the most recent first, and the values from `start` on that follow them."""
    t = np.arange(start, len(values))
    return values[t[:, None] - 1 - np.arange(past)], values[t]


def autoregression(values: np.ndarray, learnt: int) -> tuple[np.ndarray, np.ndarray, int]:
    """Means of the values after the learnt ones, their standard deviation, and the order."""
    fits = []
    for order in range(ORDERS + 1):
        x, z = windows(values[:learnt], order, ORDERS)
        a = np.column_stack([np.ones(len(z)), x])
        b = np.linalg.lstsq(a, z, rcond=None)[0]
        variance = float(np.mean((z - a @ b) ** 2))
        fits.append((len(z) * np.log(variance) + 2 * (order + 1), order))
    order = min(fits)[1]
    x, z = windows(values[:learnt], order, order)
    a = np.column_stack([np.ones(len(z)), x])
    b = np.linalg.lstsq(a, z, rcond=None)[0]
    sd = np.sqrt(np.sum((z - a @ b) ** 2) / (len(z) - order - 1))
    x, _ = windows(values, order, learnt)
    return b[0] + x @ b[1:], np.full(len(x), sd), order


def neighbours(learnt: Rows, held_out: Rows) -> np.ndarray:
    """Densities by the nearest neighbours."""
    from scipy.spatial import cKDTree

    (x, z), (q, at) = learnt, held_out
    spread = x.std(axis=0)
    tree = cKDTree(x / spread)
    near = tree.query(x / spread, NEIGHBOURS[-1] + 1)[1][:, 1:]

    def density(near: np.ndarray, at: np.ndarray, k: int, factor: float) -> np.ndarray:
        some = z[near[:, :k]]
        width = factor * k**-0.2 * np.maximum(some.std(axis=1), 1e-3 * z.std())
        kernel: np.ndarray = norm.pdf((at[:, None] - some) / width[:, None]) / width[:, None]
        return kernel.mean(axis=1) * (1 - 1 / len(z)) + norm.pdf(at, z.mean(), z.std()) / len(z)

    choices = [(k, factor) for k in NEIGHBOURS for factor in SMOOTHING]
    k, factor = max(choices, key=lambda choice: float(np.log(density(near, z, *choice)).mean()))
    return density(tree.query(q / spread, k)[1], at, k, factor)


def gaussian_process(learnt: Rows, held_out: Rows) -> np.ndarray:
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

    (x, z), (q, at) = learnt, held_out
    centre, spread = x.mean(axis=0), x.std(axis=0)
    kernel = ConstantKernel(1.0) * RBF(np.ones(x.shape[1])) + WhiteKernel(0.1, (1e-8, 10.0))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        some = np.linspace(0, len(z) - 1, TRIED).astype(int)
        tried = GaussianProcessRegressor(kernel, normalize_y=True).fit((x[some] - centre) / spread, z[some])
        model = GaussianProcessRegressor(tried.kernel_, optimizer=None, normalize_y=True).fit((x - centre) / spread, z)
    mean, sd = model.predict((q - centre) / spread, return_std=True)
    density: np.ndarray = norm.pdf(at, mean, sd)
    return density


def boosting(learnt: Rows, held_out: Rows) -> np.ndarray:
    from sklearn.ensemble import HistGradientBoostingRegressor

    (x, z), (q, at) = learnt, held_out
    how: dict[str, Any] = {"loss": "quantile", "max_iter": 60, "learning_rate": 0.1, "random_state": 0}
    how |= {"max_leaf_nodes": 8, "min_samples_leaf": 40}
    fits = [HistGradientBoostingRegressor(quantile=level, **how).fit(x, z).predict(q) for level in LEVELS]
    quantile = np.sort(np.stack(fits, axis=1), axis=1)
    gap = np.maximum(np.diff(quantile, axis=1), 1e-3 * z.std())
    row, place = np.arange(len(at)), (quantile < at[:, None]).sum(axis=1)
    inside = np.diff(LEVELS)[np.clip(place - 1, 0, None) % (LEVELS.size - 1)]
    inside = inside / gap[row, np.clip(place - 1, 0, LEVELS.size - 2)]
    # Exponential tails as long as the outer tenth of the probability.
    low, high = quantile[:, 1] - quantile[:, 0], quantile[:, -1] - quantile[:, -2]
    tail = np.maximum(np.where(place == 0, low, high) / np.log(4.0), 1e-3 * z.std())
    beyond = np.maximum(quantile[:, 0] - at, at - quantile[:, -1]) / tail
    density = np.where((place > 0) & (place < LEVELS.size), inside, LEVELS[0] / tail * np.exp(-np.maximum(beyond, 0.0)))
    return density * (1 - 1 / len(z)) + norm.pdf(at, z.mean(), z.std()) / len(z)


def stack(learnt: Rows, held_out: Rows) -> np.ndarray:
    forecast = ds.CausalStates(ds.Kernels()).fit(*learnt).forecast(held_out[0])
    return forecast.pdf(held_out[1])


def plain(learnt: Rows, held_out: Rows) -> np.ndarray:
    chosen = ds.Kernels().model(ds.observe.pairs(*learnt))
    model = ds.Kernels([*chosen.sigma, chosen.z_sigma]).model(ds.observe.pairs(*learnt))
    return np.array([2.0 ** model.score(ds.observe.pairs(*held_out), ds.observe.pairs(*held_out).points)])


METHODS: dict[str, Callable[[Rows, Rows], np.ndarray]] = {
    "stack": stack,
    "kNN": neighbours,
    "GP": gaussian_process,
    "boosting": boosting,
    "kernels": plain,
}


def bits(name: str, seed: int) -> dict[str, float]:
    """Held-out bits of each method on one series."""
    first, second, truth = split(name, LEARNT, HELD_OUT, seed)
    values, past = np.concatenate([first, second]), CONTINUA[name].past
    learnt, held_out = windows(first, past, past), windows(values, past, LEARNT)
    found = {}
    if truth is not None:
        found["true density"] = norm.pdf(held_out[1], *truth(held_out[0]))
    mean, sd, _ = autoregression(values, LEARNT)
    found["AR"] = norm.pdf(held_out[1], mean, sd)
    found |= {method: density(learnt, held_out) for method, density in METHODS.items()}
    return {method: float(np.log2(np.maximum(density, 1e-12)).mean()) for method, density in found.items()}


def real_series() -> dict[str, Any]:
    """Eight series that come with statsmodels and vega_datasets; the one of an input in `INPUTS` has dates."""
    import statsmodels.api as sm
    from vega_datasets import data

    weather = data("seattle-weather")
    co2 = sm.datasets.co2.load_pandas().data["co2"].interpolate().to_numpy()
    months = sm.datasets.elnino.load_pandas().data.iloc[:, 1:].to_numpy(float).ravel()
    hourly = data("seattle-temps").set_index("date")["temp"].iloc[:2000]
    return {
        "sunspots": sm.datasets.sunspots.load_pandas().data["SUNACTIVITY"].to_numpy(float),
        "nile": sm.datasets.nile.load_pandas().data["volume"].to_numpy(float),
        "elnino": months[np.isfinite(months)],
        "inflation": sm.datasets.macrodata.load_pandas().data["infl"].to_numpy(float),
        "co2": np.diff(co2)[-1200:],
        "temp_max": weather["temp_max"].to_numpy(float),
        "wind": weather["wind"].to_numpy(float),
        "hourly": hourly.to_numpy(float),
        "hourly, with hour": hourly,
    }


def cost(order: np.ndarray, demand: np.ndarray) -> np.ndarray:
    over: np.ndarray = demand - order
    return np.where(over > 0, SHORTAGE * over, -SURPLUS * over)


def newsvendor(series: Any, inputs: list[str] | None = None) -> tuple[int, int, float, float, float, float]:
    """Order of AR and our past; cost of AR, ours over it less one, its standard error, and bits ahead of AR."""
    values = np.asarray(series, float)
    learnt = len(values) * QUARTERS // 4
    mean, sd, order = autoregression(values, learnt)
    level, demand, first = SHORTAGE / (SHORTAGE + SURPLUS), values[learnt:], series[:learnt]
    known = None if inputs is None else ds.observe.calendar(first, inputs)
    past = ds.selection.best_past(values[:learnt], pasts=PASTS, inputs=known)
    fitted = ds.CausalStates(ds.Kernels(), past=past, inputs=inputs).fit(first)
    forecast = fitted.forecast(series)[learnt - 1 : -1]
    theirs = cost(norm.ppf(level, mean, sd), demand)
    more = cost(forecast.quantile(level), demand) - theirs
    error = more.std(ddof=1) / np.sqrt(len(more))
    ahead = forecast.log_score(demand).mean() - np.log2(norm.pdf(demand, mean, sd)).mean()
    return order, past, theirs.mean(), more.mean() / theirs.mean(), error / theirs.mean(), float(ahead)


def bits_table() -> list[str]:
    names = ["true density", "AR", *METHODS]
    lines = ["| bits | " + " | ".join(names) + " |", "|---" * (len(names) + 1) + "|"]
    ahead = []
    for system in CONTINUA:
        runs = [bits(system, seed) for seed in SEEDS]
        mean = {name: float(np.mean([run[name] for run in runs])) for name in runs[0]}
        ahead.append(
            mean["stack"] - max(value for name, value in mean.items() if name not in ("stack", "true density"))
        )
        lines.append(
            f"| {system} | " + " | ".join(f"{mean[name]:.3f}" if name in mean else "" for name in names) + " |"
        )
        print(lines[-1], f"{ahead[-1]:+.3f}", flush=True)
    lines.append(
        f"\nMeans over seeds {', '.join(map(str, SEEDS))}. The stack is ahead of the best peer by "
        f"{', '.join(f'{value:+.3f} ({name})' for name, value in zip(CONTINUA, ahead, strict=True))} bits.\n"
    )
    return lines


def newsvendor_table() -> list[str]:
    lines = [
        "| newsvendor | n | AR order | cost of AR | past | ours | standard error | bits ahead |",
        "|---" * 8 + "|",
    ]
    below, series = [], real_series()
    for name, values in series.items():
        order, past, theirs, more, error, gain = newsvendor(values, INPUTS.get(name))
        below += [name] if more <= error else []
        shares = f"{100 * more:+.1f} % | {100 * error:.1f} %"
        row = f"| {name} | {len(values)} | {order} | {theirs:.4g} | {past} | {shares} | {gain:+.3f} |"
        lines.append(row)
        print(row, flush=True)
    lines.append(f"\nNot above AR by more than one standard error: {len(below)} of {len(series)} rows.\n")
    return lines


def tables() -> str:
    return "\n".join([*bits_table(), *newsvendor_table()])


def main() -> None:
    written = HEAD + tables()
    Path(__file__).with_suffix(".md").write_text(written)
    print(written)


if __name__ == "__main__":
    main()
