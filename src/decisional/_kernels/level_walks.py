"""A unifilar machine along a signal: each value is likely under some symbols more than under others."""

import math

import numpy as np

from . import kernel

MOST = 1e200


@kernel
def densities(values, mean, spread, background, like, own):
    """Densities of values (n,) under each symbol (n, n_symbols), and the part of them that is its level's own.

    A level is normal, with a share of Student's t with 3 degrees of freedom around 0 for values that are like none
    before. A missing value, NaN, is as likely under all symbols.
    """
    for t in range(values.size):
        v = values[t]
        odd = background * 2.0 / (math.pi * math.sqrt(3.0) * (1.0 + v * v / 3.0) ** 2)
        for s in range(mean.size):
            if math.isnan(v):
                like[t, s], own[t, s] = 1.0, 0.0
                continue
            step = (v - mean[s]) / spread[s]
            near = (1.0 - background) * math.exp(-0.5 * step * step) / (math.sqrt(2.0 * math.pi) * spread[s])
            like[t, s] = near + odd
            own[t, s] = near / (near + odd)


@kernel
def level_sums(values, posterior, own, sums):
    """Weight, sum and sum of squares (3, n_symbols) of the values of each level; squares around its own mean."""
    sums[:] = 0.0
    for t in range(values.size):
        if not math.isnan(values[t]):
            for s in range(sums.shape[1]):
                weight = posterior[t, s] * own[t, s]
                sums[0, s] += weight
                sums[1, s] += weight * values[t]
    for t in range(values.size):
        if not math.isnan(values[t]):
            for s in range(sums.shape[1]):
                step = values[t] - sums[1, s] / max(sums[0, s], 1e-300)
                sums[2, s] += posterior[t, s] * own[t, s] * step * step


@kernel
def forward(like, targets, emission, home, belief, scale, before):
    """Follow a signal from the belief, which goes along; return the log2-likelihood of its values.

    Parameters
    ----------
    like : (n, n_symbols) likelihood of each value under each symbol, none of a row all 0
    targets, emission : (n_states, n_symbols) of the machine
    home : (n_states,) what is believed where a value is impossible in all states that are
    belief : (n_states,) before the first value; after the last one
    scale : (n,) filled in: likelihood of each value given those before it
    before : (n, n_states) filled in: belief before each value; (0, n_states): not wanted
    """
    n_states, n_symbols = targets.shape
    after = np.empty(n_states)
    bits = 0.0
    for t in range(like.shape[0]):
        if before.shape[0]:
            before[t] = belief
        for _ in range(2):
            after[:] = 0.0
            total = 0.0
            for i in range(n_states):
                if belief[i] > 0.0:
                    for s in range(n_symbols):
                        mass = belief[i] * emission[i, s] * like[t, s]
                        if mass > 0.0:
                            after[targets[i, s]] += mass
                            total += mass
            if total > 0.0:
                break
            belief[:] = home
            if before.shape[0]:
                before[t] = belief
        scale[t] = total
        bits += math.log2(total) if total > 0.0 else 0.0
        for i in range(n_states):
            belief[i] = after[i] / total if total > 0.0 else home[i]
    return bits


@kernel
def backward(like, targets, emission, scale, before, counts, posterior):
    """Expected uses of each edge, added to counts (n_states, n_symbols), and P(symbol | all values) (n, n_symbols)."""
    n_states, n_symbols = targets.shape
    ahead, beta = np.ones(n_states), np.empty(n_states)
    posterior[:] = 0.0
    for t in range(like.shape[0] - 1, -1, -1):
        for i in range(n_states):
            beta[i] = 0.0
            for s in range(n_symbols):
                if emission[i, s] > 0.0 and scale[t] > 0.0:
                    mass = emission[i, s] * like[t, s] * ahead[targets[i, s]] / scale[t]
                    beta[i] += mass
                    counts[i, s] += before[t, i] * mass
                    posterior[t, s] += before[t, i] * mass
        for i in range(n_states):
            # A state that cannot be there may be much likelier by what follows: it must not become infinite.
            ahead[i] = min(beta[i], MOST)
