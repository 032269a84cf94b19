"""Coordinates of causal states with all kernels in full: no low rank, no features, no regression but its definition."""

import numpy as np


def gaussian(a: np.ndarray, b: np.ndarray, width: np.ndarray | float) -> np.ndarray:
    return np.exp(-0.5 * (((a[:, None] - b[None]) / width) ** 2).sum(axis=2))


def kernel(a: np.ndarray, b: np.ndarray, width: np.ndarray) -> np.ndarray:
    """That of x: Gaussian, and linear ones, which let lines go free."""
    return gaussian(a, b, width) + a @ b.T + 1.0


def smoother(a: np.ndarray, x: np.ndarray, width: np.ndarray, ridge: float) -> np.ndarray:
    """(m, n) weights of each observation in what is expected at a."""
    return np.linalg.solve(kernel(x, x, width) + ridge * np.eye(len(x)), kernel(x, a, width)).T


def coordinates(
    x: np.ndarray, future: np.ndarray, fold: np.ndarray, how: tuple[np.ndarray, float, float], n: int, new: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(n_observations, n) coordinates, each without its fold, their shares of the variance, and those of new x.

    `how` has the widths of x, the ridge, and the width of kernels of futures.
    """
    width, ridge, wide = how
    size = len(x)
    expect = np.zeros((size, size))
    for f in np.unique(fold):
        own, rest = np.flatnonzero(fold == f), np.flatnonzero(fold != f)
        expect[np.ix_(own, rest)] = smoother(x[own], x[rest], width, ridge)
    centre = np.eye(size) - 1.0 / size
    states = centre @ expect @ centre
    alike = gaussian(future, future, wide)
    value, vector = np.linalg.eigh(states @ alike @ states.T)
    value, vector = value[::-1], vector[:, ::-1]
    sign = np.where(vector[:, :n].T @ future[:, 0] < 0.0, -1.0, 1.0)
    own = vector[:, :n] * sign * np.sqrt(size)
    there = smoother(new, x, width, ridge) @ centre - (expect @ centre).mean(axis=0)
    others = there @ alike @ states.T @ own / value[:n]
    return own, value[:n] / value.sum(), others
