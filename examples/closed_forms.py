"""Section 4 of the paper: two utilities whose decisional states are known, on discrete and on continuous data.

1. A prediction is worth 1 if it comes true, else 0 (in the continuum: a narrow peak instead of a delta function).
   Then E[U] = sum_x p(x) max_z p(z|x), and the best predictions are the modes.
2. The loss is the squared error. Then the best prediction is the mean of z given x, and states with the same mean
   have the same best prediction, whatever their distributions.
"""

from pathlib import Path

import numpy as np

import decisional as ds


def discrete(rng: np.random.Generator) -> dict[str, tuple[float, float]]:
    """E[U] of both utilities for four x with known distributions over z = 0, 1, 2, and by the formulas."""
    p = np.array([[0.6, 0.2, 0.2], [0.6, 0.2, 0.2], [0.2, 0.2, 0.6], [0.25, 0.5, 0.25]])
    x = np.repeat(np.arange(4), 100)
    z = np.concatenate([np.repeat([0, 1, 2], np.round(100 * row).astype(int)) for row in p])
    order = rng.permutation(x.size)
    causal = ds.CausalStates(match="exact").fit(x[order], z[order])
    right = ds.DecisionalStates(ds.utility.zero_one()).fit(causal)
    error = ds.DecisionalStates(ds.utility.squared_error()).fit(causal)
    mean = p @ np.arange(3)
    variance = (p * (np.arange(3) - mean[:, None]) ** 2).sum(axis=1)
    print(f"discrete: {causal.n_states_} causal states; best predictions {[set(y) for y in right.predictions_]}")
    return {
        "E[U] of 0/1": (right.expected_utility_, p.max(axis=1).mean()),
        "E[U] of squared error": (error.expected_utility_, -variance.mean()),
    }


def peak(y, z):
    """The narrow peak: 1 where the prediction is right, less and less where it is not."""
    return np.exp(-0.5 * ((y - z) / 0.3) ** 2)


def continuous(rng: np.random.Generator, out: Path | None = None) -> dict[str, tuple[float, float]]:
    """Two x: z is bimodal or unimodal, with the same mean 0: one decision for squared error, two for the peak."""
    x = np.repeat([0, 1], 400)
    z = rng.normal(size=800)
    z[:200], z[200:400] = 0.2 * z[:200] - 2.0, 0.2 * z[200:400] + 2.0
    z[x == 0] -= z[x == 0].mean()
    z[x == 1] -= z[x == 1].mean()
    causal = ds.CausalStates(match="exact").fit(x, z)
    error = ds.DecisionalStates(ds.utility.squared_error()).fit(causal)

    modes = ds.DecisionalStates(peak, optimise=ds.utility.GlobalMaxima()).fit(causal)
    print(f"continuous: {causal.n_states_} causal states, {error.iso_prediction_.n_states} best prediction of the mean")
    print(f"            peaks {[tuple(round(y, 2) for y in modes.predictions_[k]) for k in range(2)]}")
    # The estimate of a bimodal sample has one peak that is slightly higher; a symmetric sample has two.
    symmetric = np.concatenate([z[x == 0], -z[x == 0]])
    both = ds.DecisionalStates(peak, optimise=ds.utility.GlobalMaxima()).fit(
        ds.CausalStates(match="exact").fit(np.zeros(symmetric.size), symmetric)
    )
    found = both.predictions_[0]
    print(f"            a symmetric one {tuple(round(y, 2) for y in found)}")
    if out is not None:
        picture([z[x == 0], z[x == 1]], error.predictions_, modes.predictions_, out / "closed_forms.png")
    return {
        "E[U] of squared error": (error.expected_utility_, -np.mean([z[x == k].var() for k in (0, 1)])),
        "peaks of the symmetric sample": (found[0], -found[-1]),
        "number of peaks": (len(found), 2),
    }


def picture(samples, means, modes, path: Path) -> None:
    """Both samples, the expected utility of each prediction of the peak, and the best predictions of both utilities."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 2.8), layout="constrained")
    y = np.linspace(-3.2, 3.2, 400)
    for k, ax in enumerate(figure.subplots(1, 2, sharey=True)):
        ax.hist(samples[k], np.linspace(-3.2, 3.2, 41), density=True, color="0.85", label="what followed, z")
        ax.plot(y, peak(y[:, None], samples[k]).mean(axis=1), color="#225588", label="E[U] of predicting y, the peak")
        for best, place in ((modes, ("v", "#225588", 1.12, "peak")), (means, ("s", "#d1661c", 1.24, "squared error"))):
            marker, colour, height, name = place
            at = np.array([*best[k]], float)
            ax.plot(at, np.full(at.size, height), marker, color=colour, label=f"best for the {name}")
        ax.set(title=f"x = {k}", xlabel="z, or the prediction y", ylim=(0, 1.35))
    figure.axes[0].set_ylabel("density of z, or E[U]")
    figure.axes[1].legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)
    ds.plot.save(figure, path)


def main(out: Path | None = None) -> list[tuple[float, float]]:
    """Print our values beside the formulas; with a folder, save a picture of the continuous case there."""
    rng = np.random.default_rng(1)
    checks = [*discrete(rng).items(), *continuous(rng, out).items()]
    for name, (ours, formula) in checks:
        print(f"  {name:30} {ours:9.5f}   closed form {formula:9.5f}")
    return [pair for _, pair in checks]


if __name__ == "__main__":
    main(Path.cwd())
