"""Second moments of processes of numbers: autocovariance and power spectrum."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def _moments(targets: Array, emission: Array, stationary: Array, values: Array) -> tuple[Array, Array, Array, float]:
    """The matrix T of states, the row a and the column b with Cov(X_0, X_k) = a T^(k - 1) b, and the variance."""
    n = len(targets)
    deviation = values - stationary @ emission @ values
    i, s = np.nonzero(targets >= 0)
    matrix, weighted = np.zeros((2, n, n))
    np.add.at(matrix, (i, targets[i, s]), emission[i, s])
    np.add.at(weighted, (i, targets[i, s]), emission[i, s] * deviation[s])
    return matrix, stationary @ weighted, emission @ deviation, float(stationary @ emission @ deviation**2)


def autocovariance(targets: Array, emission: Array, stationary: Array, values: Array, n: int) -> Array:
    """Cov(X_0, X_k) for k = 0..n, shape (n + 1,). Cost: O(n n_states²)."""
    matrix, row, column, variance = _moments(targets, emission, stationary, values)
    found = [variance]
    for _ in range(n):
        found.append(float(row @ column))
        row = row @ matrix
    return np.array(found)


def power_spectrum(targets: Array, emission: Array, stationary: Array, values: Array, frequencies: Array) -> Array:
    """The continuous part of sum_k Cov(X_0, X_k) exp(-2 pi i f k) over all k, at frequencies f in cycles per symbol.

    What never fades, the lines of periodic chains, is left out. Cost: O(n_states³) for each frequency.
    """
    matrix, row, column, variance = _moments(targets, emission, stationary, values)
    lasting = _lasting(matrix)
    fading = matrix - matrix @ lasting
    # The part of the variance in the lines, Cov at a multiple of the period in the long run.
    never = float(row @ np.linalg.matrix_power(matrix, _period(matrix) - 1) @ lasting @ column)
    column = column - lasting @ column
    unit, angle = np.eye(len(matrix)), np.exp(2j * np.pi * frequencies)
    found = [(row @ np.linalg.solve(z * unit - fading, column)).real for z in angle]
    return np.maximum(variance - never + 2.0 * np.array(found), 0.0)


def _period(matrix: Array) -> int:
    """A common multiple of the periods of the closed classes of a chain without transient states."""
    level = np.full(len(matrix), -1)
    result = 1
    for root in range(len(matrix)):
        if level[root] >= 0:
            continue
        level[root], todo, period = 0, [root], 0
        while todo:
            i = todo.pop()
            for j in np.flatnonzero(matrix[i]).tolist():
                if level[j] < 0:
                    level[j] = level[i] + 1
                    todo.append(j)
                period = np.gcd(period, abs(int(level[i]) + 1 - int(level[j])))
        result = int(np.lcm(result, max(int(period), 1)))
    return result


def _lasting(matrix: Array) -> Array:
    """The projector on what a chain without transient states never forgets: the limit of its powers by periods."""
    power = np.linalg.matrix_power(matrix, _period(matrix))
    for _ in range(64):
        then = power @ power
        if np.abs(then - power).max() < 1e-15:
            break
        power = then / then.sum(axis=1, keepdims=True)
    return power
