"""Grouping of numbers that are known up to an error, and rows of numbers that others dominate."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import kernel

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


@kernel
def dominated(u: Array, where: Array, atol: float, asked: Array, out: Array) -> None:
    """Tell which of the rows asked for another row of u (n, m) dominates: nowhere worse, and better somewhere.

    `where` (n,) is the column to look at first: choose one where few rows are as good, and most pairs end there.
    Cost: O(n asked) then, O(n asked m) at worst.
    """
    n, m = u.shape
    for i in range(n):
        if not asked[i]:
            continue
        for j in range(n):
            better = False
            if u[j, where[i]] >= u[i, where[i]] - atol:
                for k in range(m):
                    ahead = u[j, k] - u[i, k]
                    if ahead < -atol:
                        better = False
                        break
                    better |= ahead > atol
            if better:
                out[i] = True
                break
