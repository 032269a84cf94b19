"""Classifying series by their complexities, as the paper recommends for EEG: a synthetic pair of classes.

Both classes are rhythms of about 10 cycles per second at 100 samples per second, with the same power and noise. In
"rest" the rhythm runs on and on; in "task" it comes in bursts. The bandwidth of the kernels is chosen for the task
itself, by cross-validated search, as section 5.2 recommends.
"""

from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import decisional as ds


def rhythm(kind: str, rng: np.random.Generator, n: int = 300) -> np.ndarray:
    """One series: a rhythm whose phase drifts, steady or in bursts, and noise."""
    phase = 2 * np.pi * np.cumsum(0.1 + 0.01 * rng.normal(size=n)) + rng.uniform(0, 2 * np.pi)
    level = np.ones(n)
    if kind == "task":
        level = 1.0 * (np.sin(2 * np.pi * np.arange(n) / 80 + rng.uniform(0, 2 * np.pi)) > 0) * np.sqrt(2)
    return level * np.sin(phase) + 0.3 * rng.normal(size=n)


def main(out: Path | None = None) -> dict[str, float]:
    """Print the mean features and the share of right answers; with a folder, save the picture there."""
    rng = np.random.default_rng(1)
    labels = np.repeat([0, 1], 15)
    series = [rhythm(("rest", "task")[k], rng) for k in labels]
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    features = ds.ComplexityFeatures(utility=ds.utility.tolerant(0.5), past=3, step=3, shared=False)
    model = make_pipeline(features, StandardScaler(), LogisticRegression())
    search = GridSearchCV(model, {"complexityfeatures__bandwidth": [0.3, 0.6]}, cv=folds).fit(series, labels)
    power = np.array([[np.std(values)] for values in series])
    by_power = cross_val_score(make_pipeline(StandardScaler(), LogisticRegression()), power, labels, cv=folds).mean()
    table = features.set_params(bandwidth=0.3).transform(series)
    means = [table[labels == k].mean(axis=0) for k in (0, 1)]
    print("mean features      " + "".join(f"{name:>8}" for name in features.get_feature_names_out()))
    for kind, row in zip(("rest", "task"), means, strict=True):
        print(f"  {kind:16} " + "".join(f"{value:8.2f}" for value in row))
    chosen = search.best_params_["complexityfeatures__bandwidth"]
    print(f"right in cross-validation: {search.best_score_:.2f} with bandwidth {chosen}, by power alone {by_power:.2f}")
    if out is not None:
        picture(series, labels, power[:, 0], table[:, 5], out / "eeg.png")
    return {"complexities": float(search.best_score_), "power": float(by_power)}


def picture(series: list[np.ndarray], labels: np.ndarray, power: np.ndarray, worth: np.ndarray, path: Path) -> None:
    """One series of each class, and all of them by power and by one of the features, the expected utility."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 3), layout="constrained")
    axes = figure.subplot_mosaic([["rest", "all"], ["task", "all"]], width_ratios=[1.6, 1])
    for k, (kind, colour, marker) in enumerate((("rest", "#2a7fb8", "o"), ("task", "#d1661c", "^"))):
        values = series[int(np.flatnonzero(labels == k)[0])]
        axes[kind].plot(np.arange(values.size) / 100, values, color=colour, linewidth=1)
        axes[kind].set(ylim=(-2.4, 2.4), ylabel=kind)
        axes["all"].plot(power[labels == k], worth[labels == k], marker, color=colour, label=kind)
    axes["rest"].set(xticklabels=[], title="one series of each class")
    axes["task"].set(xlabel="seconds")
    axes["all"].set(xlabel="standard deviation (power)", ylabel="U, expected utility", title="all 30 series")
    axes["all"].legend(frameon=False)
    ds.plot.save(figure, path)


if __name__ == "__main__":
    main(Path.cwd())
