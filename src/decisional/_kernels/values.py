"""Grouping of numbers that are known up to an error."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import kernel

__all__ = ["aggregate"]

Array = NDArray[Any]


@kernel
def aggregate(order: Array, values: Array, errors: Array, weight: Array, level: float, labels: Array) -> int:
    """Put each row of values (n, d) in the group that it differs least from; return the number of groups.

    Rows are visited in the given order. A row may join a group if no coordinate differs by more than `level`
    standard errors of the difference; the centre of a group is the weighted mean of its rows. Cost: O(n groups d).
    """
    n, d = values.shape
    centre, error, mass = np.empty((n, d)), np.empty((n, d)), np.empty(n)
    groups = 0
    for i in order:
        best, least = -1, np.inf
        for g in range(groups):
            worst = 0.0
            for k in range(d):
                apart = abs(values[i, k] - centre[g, k]) - 1e-9 * (1.0 + abs(centre[g, k]))
                if apart > 0.0:
                    spread = np.sqrt(errors[i, k] ** 2 + error[g, k] ** 2)
                    worst = max(worst, apart / spread if spread > 0.0 else np.inf)
            if worst <= level and worst < least:
                best, least = g, worst
        if best < 0:
            best = groups
            groups += 1
            centre[best], error[best], mass[best] = values[i], errors[i], weight[i]
        else:
            total = mass[best] + weight[i]
            share = weight[i] / total if total > 0.0 else 0.5
            for k in range(d):
                centre[best, k] += share * (values[i, k] - centre[best, k])
                error[best, k] = np.sqrt(((1.0 - share) * error[best, k]) ** 2 + (share * errors[i, k]) ** 2)
            mass[best] = total
        labels[i] = best
    return groups
