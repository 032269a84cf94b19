"""What decisions are worth by data that they were not made from: each part of the data is decided by the others.

States are those that all data told apart; only their distributions are estimated anew. So this corrects for predictions
that are best by chance, and not for states that are.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..support.arrays import Floats, Ints
from .predictions import Slack, numbered
from .regret import block_error, utilities_of
from .solving import solve
from .utilities import Utility

# Parts of the data, and consecutive observations that stay together.
FOLDS, TOGETHER = 10, 10
# Outcomes that stand for more of them, where these are numbers.
VALUES = 512
# States times outcomes, beyond which nothing is estimated.
LARGEST = 1 << 24


class Estimate(NamedTuple):
    """A mean utility and its standard error, over blocks of consecutive observations.

    The error is that of what happens, given the decisions: where these hang on few data there is more.
    """

    value: float
    error: float


def cross_fitted(
    state: Ints, number: Ints, outcomes: Sequence[Any], utility: Utility, optimise: Any = None, overlap: float = 1.0
) -> Estimate | None:
    """Mean utility of the decisions of each part of the data by the distributions of the others.

    Parameters
    ----------
    state, number : (n,) state of each observation (-1: unknown), and outcome, by its number among the `outcomes`
    utility, optimise : U, and Argmax of the figure
    overlap : how many observations share each piece of their outcomes, which must not be in two parts

    Returns
    -------
    None where there are too few observations to be parted, or more states and outcomes than are looked at
    """
    n, together = state.size, max(TOGETHER, int(np.ceil(overlap)))
    values, value = few_values(outcomes, number)
    K, m = int(state.max(initial=-1)) + 2, len(values)
    if n < 2 * together or K * m > LARGEST:
        return None
    fold = np.arange(n) // together % FOLDS
    # Unknown states are decided like everything.
    cell = (state % K) * m + value
    total = np.bincount(cell, minlength=K * m).reshape(K, m)
    found = np.zeros(n)
    for k in range(FOLDS):
        part = fold == k
        if not part.any():
            continue
        rest = (total - np.bincount(cell[part], minlength=K * m).reshape(K, m)).astype(float)
        everything = rest.sum(axis=0)
        rest[rest.sum(axis=1) == 0.0] = everything
        rest[-1] = everything
        p = rest / rest.sum(axis=1, keepdims=True)
        used, place = np.unique(state[part] % K, return_inverse=True)
        choices, choice = numbered(solve(p[used], values, utility, Slack(), None, optimise).predictions.choice())
        found[part] = utilities_of(utility, choices, choice[place.reshape(-1)], outcomes, number[part])
    return Estimate(float(found.mean()), block_error(found))


def few_values(outcomes: Sequence[Any], number: Ints) -> tuple[Sequence[Any], Ints]:
    """Outcomes, and the number of each observation's; few that are about equally frequent for many single numbers."""
    values = np.array(outcomes) if len(outcomes) > VALUES else np.empty(0)
    if values.ndim != 1 or values.dtype.kind not in "iuf" or not values.size:
        return outcomes, number
    order = np.argsort(values, kind="stable")
    count = np.bincount(number, minlength=values.size)[order]
    group = np.minimum((np.cumsum(count) - 1) * VALUES // max(number.size, 1), VALUES - 1)
    group = np.unique(group, return_inverse=True)[1].reshape(-1)
    mean: Floats = np.bincount(group, count * values[order]) / np.maximum(np.bincount(group, count), 1)
    place = np.empty(values.size, np.int64)
    place[order] = group
    return mean.tolist(), place[number]
