"""Continuous series with known answers.

`CONTINUA` have a continuum of distributions of the next value: what forecasts are measured on. Each function returns n
values and, where it is known, the true mean and standard deviation of the next value as a function of the past (m, d),
the most recent value first. `FINITE` have few: what numbers of states are measured on.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

Truth = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]] | None
# Values that are left out at the beginning.
TRANSIENT = 200


class System(NamedTuple):
    """How many past values say all, or nearly all, about the next one; and how to make a series."""

    past: int
    make: Callable[[int, np.random.Generator], tuple[np.ndarray, Truth]]


def autoregressive(*coefficients: float) -> Callable[..., tuple[np.ndarray, Truth]]:
    a = np.array(coefficients)

    def make(n: int, rng: np.random.Generator) -> tuple[np.ndarray, Truth]:
        x = rng.normal(size=n + TRANSIENT)
        for t in range(a.size, x.size):
            x[t] += a @ x[t - a.size : t][::-1]
        return x[TRANSIENT:], lambda past: (past[:, : a.size] @ a, np.ones(len(past)))

    return make


def logistic_map(n: int, rng: np.random.Generator) -> tuple[np.ndarray, Truth]:
    """The logistic map with noise in its motion, drawn again where it would leave the interval."""
    x, v, sd = np.empty(n + TRANSIENT), 0.4, 0.03
    for t in range(x.size):
        mean, v = 3.8 * v * (1.0 - v), -1.0
        while not 0.0 < v < 1.0:
            v = mean + sd * rng.normal()
        x[t] = v
    return x[TRANSIENT:], lambda past: (3.8 * past[:, 0] * (1.0 - past[:, 0]), np.full(len(past), sd))


def arch(n: int, rng: np.random.Generator) -> tuple[np.ndarray, Truth]:
    """Noise whose variance follows the last square."""
    x = rng.normal(size=n + TRANSIENT)
    for t in range(1, x.size):
        x[t] *= np.sqrt(0.3 + 0.65 * x[t - 1] ** 2)
    return x[TRANSIENT:], lambda past: (np.zeros(len(past)), np.sqrt(0.3 + 0.65 * past[:, 0] ** 2))


def observed_map(n: int, rng: np.random.Generator) -> tuple[np.ndarray, Truth]:
    """The logistic map, seen through noise."""
    x, v = np.empty(n + TRANSIENT), rng.uniform(0.2, 0.7)
    for t in range(x.size):
        v = 3.9 * v * (1.0 - v)
        x[t] = v
    return x[TRANSIENT:] + 0.02 * rng.normal(size=n), None


def seen_flow(
    flow: Callable[[np.ndarray], np.ndarray], y: np.ndarray, every: float, n: int, rng: np.random.Generator
) -> np.ndarray:
    """The first coordinate of a flow at n times, seen through noise; ten of Runge and Kutta's steps between them."""
    h, x = every / 10.0, np.empty(n + TRANSIENT)
    for t in range(x.size):
        for _ in range(10):
            a = flow(y)
            b = flow(y + h / 2 * a)
            c = flow(y + h / 2 * b)
            y = y + h / 6 * (a + 2 * b + 2 * c + flow(y + h * c))
        x[t] = y[0]
    return x[TRANSIENT:] + 0.2 * rng.normal(size=n)


def lorenz(n: int, rng: np.random.Generator) -> tuple[np.ndarray, Truth]:
    """The first coordinate of Lorenz's system every 0.1, seen through noise."""

    def flow(y: np.ndarray) -> np.ndarray:
        return np.array([10.0 * (y[1] - y[0]), y[0] * (28.0 - y[2]) - y[1], y[0] * y[1] - 8.0 / 3.0 * y[2]])

    return seen_flow(flow, rng.normal([0.0, 0.0, 20.0]), 0.1, n, rng), None


def rossler(n: int, rng: np.random.Generator) -> tuple[np.ndarray, Truth]:
    """The first coordinate of Rössler's system every 0.5, seen through noise."""

    def flow(y: np.ndarray) -> np.ndarray:
        return np.array([-y[1] - y[2], y[0] + 0.2 * y[1], 0.2 + y[2] * (y[0] - 5.7)])

    return seen_flow(flow, np.append(rng.uniform(-5.0, 5.0, size=2), 0.1), 0.5, n, rng), None


def mackey_glass(n: int, rng: np.random.Generator) -> tuple[np.ndarray, Truth]:
    """Mackey and Glass's equation with a delay of 17, every sixth step of 1, seen through noise."""
    delay, every = 17, 6
    x = np.full((n + TRANSIENT) * every + delay + 1, 1.2)
    x[: delay + 1] += 0.1 * rng.normal(size=delay + 1)
    for t in range(delay, x.size - 1):
        x[t + 1] = x[t] + 0.2 * x[t - delay] / (1.0 + x[t - delay] ** 10) - 0.1 * x[t]
    values = x[delay + 1 + TRANSIENT * every :: every][:n]
    return values + 0.02 * rng.normal(size=n), None


CONTINUA: dict[str, System] = {
    "ar1": System(1, autoregressive(0.8)),
    "ar2": System(2, autoregressive(1.5, -0.8)),
    "logistic": System(1, logistic_map),
    "arch": System(1, arch),
    "logobs": System(2, observed_map),
    "lorenz": System(3, lorenz),
    "mackey": System(4, mackey_glass),
}


def split(name: str, learnt: int, held_out: int, seed: int) -> tuple[Any, Any, Truth]:
    """A series in two parts, one after the other, and its truth."""
    system = CONTINUA[name]
    values, truth = system.make(learnt + held_out, np.random.default_rng(seed))
    return values[:learnt], values[learnt:], truth


class Windows(NamedTuple):
    """A series, and the classes of P(Z | window): (n,) that of the window that ends at each value, and their C."""

    values: np.ndarray
    state: np.ndarray
    complexity: float


def entropy(*probabilities: float) -> float:
    """In bits."""
    p = np.array(probabilities)
    return float(-(p * np.log2(p)).sum())


def chain(rows: Any, n: int, rng: np.random.Generator) -> np.ndarray:
    """States of a Markov chain, with its rows of probabilities."""
    edges, u, state = np.cumsum(rows, axis=1), rng.random(n + TRANSIENT), np.zeros(n + TRANSIENT, int)
    for t in range(1, state.size):
        state[t] = min(int(np.searchsorted(edges[state[t - 1]], u[t])), len(edges) - 1)
    return state[TRANSIENT:]


def stationary(rows: Any) -> np.ndarray:
    """Shares of the states of a Markov chain."""
    rows = np.asarray(rows, float)
    equations = np.vstack([rows.T - np.eye(len(rows)), np.ones(len(rows))])
    return np.linalg.lstsq(equations, np.append(np.zeros(len(rows)), 1.0), rcond=None)[0]


def levels(rows: Any, at: Any, sd: float) -> Callable[[int, int, np.random.Generator], Windows]:
    """A Markov chain whose states are seen as levels with noise."""

    def make(n: int, past: int, rng: np.random.Generator) -> Windows:
        state = chain(rows, n, rng)
        return Windows(np.array(at)[state] + sd * rng.normal(size=n), state, entropy(*stationary(rows)))

    return make


def noisy_even(sd: float) -> Callable[[int, int, np.random.Generator], Windows]:
    """The Even process with noise: runs of 1 between 0 are even; a window of 1 alone does not tell where it is."""

    def make(n: int, past: int, rng: np.random.Generator) -> Windows:
        symbol, odd = np.empty(n + TRANSIENT, int), False
        for t, u in enumerate(rng.random(n + TRANSIENT)):
            symbol[t] = odd or u < 0.5
            odd = bool(symbol[t]) and not odd
        last = np.maximum.accumulate(np.where(symbol == 0, np.arange(symbol.size), -1))
        run = np.arange(symbol.size) - last
        state = np.where(run >= past, 2, run % 2)
        # P(run = k) of ones since the last 0, in windows that have one.
        known = [sum((1 / 3) * 2.0 ** -((k + 1) // 2) for k in range(past) if k % 2 == j) for j in (0, 1)]
        values = 2.0 * symbol + sd * rng.normal(size=symbol.size)
        unknown = 1.0 - sum(known)
        shares = [share for share in (*known, unknown) if share > 0.0]
        return Windows(values[TRANSIENT:], state[TRANSIENT:], entropy(*shares))

    return make


def threshold(n: int, past: int, rng: np.random.Generator) -> Windows:
    """Noise whose mean and spread follow the third that the last value lies in."""
    from scipy.stats import norm

    mean, sd, cuts = np.array([0.0, 1.0, -1.0]), np.array([0.3, 0.5, 0.4]), np.array([-0.5, 0.5])
    values, value = np.empty(n + TRANSIENT), 0.0
    for t, e in enumerate(rng.normal(size=n + TRANSIENT)):
        k = int(np.searchsorted(cuts, value))
        value = values[t] = mean[k] + sd[k] * e
    below = norm.cdf((cuts - mean[:, None]) / sd[:, None])
    rows = np.diff(np.column_stack([np.zeros(3), below, np.ones(3)]), axis=1)
    return Windows(values[TRANSIENT:], np.searchsorted(cuts, values[TRANSIENT:]), entropy(*stationary(rows)))


def alone(n: int, past: int, rng: np.random.Generator) -> Windows:
    """Noise."""
    return Windows(rng.normal(size=n), np.zeros(n, int), 0.0)


STAY, GOLDEN = [[0.95, 0.05], [0.05, 0.95]], [[0.5, 0.5], [1.0, 0.0]]
CYCLE = [[0.7, 0.3, 0.0], [0.0, 0.5, 0.5], [0.6, 0.0, 0.4]]
FINITE: dict[str, Callable[[int, int, np.random.Generator], Windows]] = {
    "two regimes": levels(STAY, (-1.0, 1.0), 0.3),
    "Golden Mean, noise 0.1": levels(GOLDEN, (1.0, -1.0), 0.1),
    "Golden Mean, noise 0.3": levels(GOLDEN, (1.0, -1.0), 0.3),
    "Even, noise 0.1": noisy_even(0.1),
    "Even, noise 0.3": noisy_even(0.3),
    "three levels": levels(CYCLE, (0.0, 1.5, 3.0), 0.25),
    "noise": alone,
    "threshold": threshold,
}
