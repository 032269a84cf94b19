"""What a unifilar machine knows after reading a word from an unknown state: its belief over the states."""

import math

import numpy as np

from . import kernel

__all__ = ["expected_counts", "final_states"]


@kernel
def _read(word, depth, targets, emission, prior, belief, scratch):
    """Belief after the last `depth` symbols (word is most recent first), starting from the prior.

    Returns the state if there is only one left, else -1 (and the belief in `belief`).
    """
    n = prior.size
    for j in range(n):
        belief[j] = prior[j]
    only = 0 if n == 1 else -1
    for k in range(depth - 1, -1, -1):
        s = word[k]
        if only >= 0 and emission[only, s] > 0.0:
            only = targets[only, s]
            continue
        total = 0.0
        left = 0
        for j in range(n):
            scratch[j] = 0.0
        if only < 0:
            for j in range(n):
                if belief[j] > 0.0 and emission[j, s] > 0.0:
                    mass = belief[j] * emission[j, s]
                    left += scratch[targets[j, s]] == 0.0
                    only = targets[j, s]
                    scratch[only] += mass
                    total += mass
        if left != 1:
            only = -1
        for j in range(n):
            # A word that the machine cannot make starts again from the prior.
            belief[j] = scratch[j] / total if total > 0.0 else prior[j]
    if only >= 0:
        for j in range(n):
            belief[j] = 0.0
        belief[only] = 1.0
    return only


@kernel
def expected_counts(words, depth, start, symbol, count, targets, emission, prior, counts):
    """Share out what followed each word among the states: counts[state, symbol].

    start, symbol, count: compressed counts of the symbol after each word. Returns the log2-likelihood of
    those symbols, and how many of them the machine holds impossible.
    """
    n = prior.size
    belief = np.empty(n)
    scratch = np.empty(n)
    logs = np.zeros(emission.shape)
    for j in range(n):
        for s in range(emission.shape[1]):
            if emission[j, s] > 0.0:
                logs[j, s] = math.log2(emission[j, s])
    bits = 0.0
    misses = 0.0
    for i in range(depth.size):
        if start[i] == start[i + 1]:
            continue
        only = _read(words[i], depth[i], targets, emission, prior, belief, scratch)
        for m in range(start[i], start[i + 1]):
            s = symbol[m]
            if only >= 0 and emission[only, s] > 0.0:
                bits += count[m] * logs[only, s]
                counts[only, s] += count[m]
                continue
            p = 0.0
            for j in range(n):
                p += belief[j] * emission[j, s]
            if p <= 0.0:
                misses += count[m]
                continue
            bits += count[m] * math.log2(p)
            for j in range(n):
                counts[j, s] += count[m] * belief[j] * emission[j, s] / p
    return bits, misses


@kernel
def final_states(words, depth, targets, emission, prior, sure, state):
    """state[i] = the state after word i if the belief in it exceeds `sure`, else -1."""
    n = prior.size
    belief = np.empty(n)
    scratch = np.empty(n)
    for i in range(depth.size):
        _read(words[i], depth[i], targets, emission, prior, belief, scratch)
        state[i] = -1
        for j in range(n):
            if belief[j] > sure:
                state[i] = j
