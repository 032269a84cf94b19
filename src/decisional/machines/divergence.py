"""How far one process is from another."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .chains import Chain, class_stationary, closed_classes

Array = NDArray[Any]


def relative_entropy_rate(
    targets: Array, emission: Array, stationary: Array, other_targets: Array, other_emission: Array
) -> float:
    """lim D(P(X_0 ... X_L-1) || Q(X_0 ... X_L-1)) / L in bits per symbol, of unifilar machines without transient states
    and with the same columns; infinite if Q cannot emit what P does.

    As P emits symbols they drive each state of Q. A state of Q goes on for ever only in a closed class of the pairs of
    states in which it can emit whatever P may; such a class has all the states of P (of one closed class), so that some
    state of Q can always begin there, and the class that loses least decides. Cost: O(n_states n_other n_symbols),
    and a linear system for each class.
    """
    n, n_symbols = targets.shape
    m = len(other_targets)
    pair = np.where(
        targets[:, None] >= 0,
        np.where(other_targets[None] >= 0, targets[:, None] * m + other_targets[None], n * m),
        -1,
    )
    # The last state is where Q has failed.
    ends = np.concatenate([pair.reshape(-1, n_symbols), np.full((1, n_symbols), n * m)])
    p = np.concatenate([np.repeat(emission, m, axis=0), np.full((1, n_symbols), 1.0 / n_symbols)])
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = emission[:, None] * np.log2(emission[:, None] / other_emission[None])
    cost = np.where(targets[:, None] >= 0, terms, 0.0).sum(axis=2).ravel()
    chain = Chain.of_table(ends, p)
    best = np.full(n, math.inf)
    for members in closed_classes(chain):
        if members[-1] < n * m:
            rate = max(float(class_stationary(chain, members) @ cost[members]), 0.0)
            states = members // m
            best[states] = np.minimum(best[states], rate)
    return float(stationary @ best)
