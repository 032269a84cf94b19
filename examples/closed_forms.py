"""Section 4 of the paper: two utilities whose decisional states are known, on discrete and on continuous data.

1. A prediction is worth 1 if it comes true, else 0 (in the continuum: a narrow peak instead of a delta function).
   Then E[U] = sum_x p(x) max_z p(z|x), and the best predictions are the modes.
2. The loss is the squared error. Then the best prediction is the mean of z given x, and states with the same mean
   have the same best prediction, whatever their distributions.
"""

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


def continuous(rng: np.random.Generator) -> dict[str, tuple[float, float]]:
    """Two x: z is bimodal or unimodal, with the same mean 0: one decision for squared error, two for the peak."""
    x = np.repeat([0, 1], 400)
    z = rng.normal(size=800)
    z[:200], z[200:400] = 0.2 * z[:200] - 2.0, 0.2 * z[200:400] + 2.0
    z[x == 0] -= z[x == 0].mean()
    z[x == 1] -= z[x == 1].mean()
    causal = ds.CausalStates(match="exact").fit(x, z)
    error = ds.DecisionalStates(ds.utility.squared_error()).fit(causal)

    def peak(y, z):
        return np.exp(-0.5 * ((y - z) / 0.3) ** 2)

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
    return {
        "E[U] of squared error": (error.expected_utility_, -np.mean([z[x == k].var() for k in (0, 1)])),
        "peaks of the symmetric sample": (found[0], -found[-1]),
        "number of peaks": (len(found), 2),
    }


def main() -> list[tuple[float, float]]:
    rng = np.random.default_rng(1)
    checks = [*discrete(rng).items(), *continuous(rng).items()]
    for name, (ours, formula) in checks:
        print(f"  {name:30} {ours:9.5f}   closed form {formula:9.5f}")
    return [pair for _, pair in checks]


if __name__ == "__main__":
    main()
