"""Loops over the symbols of a series that a unifilar machine emits or reads."""

import math

import numpy as np

from . import kernel

RESET, STAY, RAISE = 0, 1, 2
# States that are less probable than this are given up: rounding would not tell them from impossible ones.
HOPELESS = 2.0**-50


@kernel
def sample(uniforms, accept, alias, targets, state, codes):
    """Emit one symbol per uniform number, writing column numbers in `codes`; return the last state.

    Walker's alias tables `accept`, `alias` (n_states × n_symbols) draw any emission in constant time.
    A state without edges has alias -1: the walk stops there and returns -1.
    """
    n_symbols = accept.shape[1]
    for t in range(uniforms.size):
        scaled = uniforms[t] * n_symbols
        column = int(scaled)
        code = column if scaled - column < accept[state, column] else alias[state, column]
        if code < 0:
            return -1
        codes[t] = code
        state = targets[state, code]
    return state


@kernel
def follow(belief, chances, targets, code, after):
    """Write in `after` the normalised belief that follows `code`, of chances (n_states,); return its probability."""
    after[:] = 0.0
    total = 0.0
    if code < targets.shape[1]:
        for i in range(belief.size):
            mass = belief[i] * chances[i]
            if mass > 0.0 and targets[i, code] >= 0:
                after[targets[i, code]] += mass
                total += mass
    if total > 0.0:
        after /= total
    return total


@kernel
def pass_over(belief, targets, emission, n_letters, after):
    """Write in `after` the normalised belief that follows a symbol that is missing, one of the first n_letters.

    Returns the probability that one of them comes.
    """
    after[:] = 0.0
    total = 0.0
    for i in range(belief.size):
        if belief[i] > 0.0:
            for a in range(n_letters):
                if targets[i, a] >= 0:
                    mass = belief[i] * emission[i, a]
                    after[targets[i, a]] += mass
                    total += mass
    if total > 0.0:
        after /= total
    return total


@kernel
def single(belief):
    """The only state of a belief that is not HOPELESS, or -1 when there are several or none."""
    found = -1
    for i in range(belief.size):
        if belief[i] > HOPELESS:
            if found >= 0:
                return -1
            found = i
    return found


@kernel
def _likely(belief):
    """The most probable state, the lowest number among those within 1e-12 of the highest."""
    top = belief.max()
    for i in range(belief.size):
        if belief[i] > 0.0 and belief[i] >= top - 1e-12:
            return i
    return -1


@kernel
def _mix(belief, emission, row):
    """Write in `row` the distribution of the next symbol under a belief."""
    row[:] = 0.0
    for i in range(belief.size):
        if belief[i] > 0.0:
            for a in range(row.size):
                row[a] += belief[i] * emission[i, a]


@kernel
def _step(belief, code, n_letters, targets, emission, after):
    """Write in `after` the normalised belief that follows a symbol; return its probability."""
    if code > emission.shape[1]:
        return pass_over(belief, targets, emission, n_letters, after)
    # Symbols that are not known have no target, whatever the chances.
    return follow(belief, emission[:, min(code, emission.shape[1] - 1)], targets, code, after)


@kernel
def drive(codes, n_letters, targets, emission, smooth, home, belief, policy, likely, states, mixture, counts):
    """Drive a machine with symbols: a belief until one state is left, then a plain walk.

    After the codes of symbols come that of unknown ones, and that of missing ones, which may be any of the first
    n_letters: the belief moves on by all of their edges. `targets` has last columns of -1 for both, and `smooth` one
    for the probabilities of unknown ones: it is the emission of an exact machine, and that with nothing impossible
    of an estimated one. `belief` (n_states,) is updated in place, so that a series can be given in chunks. `states[t]`
    is the state after symbol t, or -1; `mixture` (n × n_symbols, or empty) receives the next-symbol distribution where
    no single state is known; `counts` the number of uses of each edge by the plain walk. Cost: O(1) per symbol once
    synchronised, O(n_states) before, O(n_edges) for a missing one.

    Returns
    -------
    (position, log2p) : position of the impossible symbol that stopped the drive (policy RAISE) or -1, and
        the log-probability in bits of the known symbols that were not read in a single state that emits them.
    """
    n = codes.size
    after = np.empty_like(belief)
    log2p = 0.0
    state = single(belief)
    t = 0
    while t < n:
        if state >= 0:
            while t < n:
                follower = targets[state, codes[t]]
                if follower < 0:
                    break
                counts[state, codes[t]] += 1
                state = follower
                states[t] = state
                t += 1
            belief[:] = 0.0
            belief[state] = 1.0
            if t == n:
                break
        if codes[t] <= emission.shape[1]:
            chance = 0.0
            for i in range(belief.size):
                chance += belief[i] * smooth[i, codes[t]]
            if chance > 0.0:
                log2p += math.log2(chance)
        total = _step(belief, codes[t], n_letters, targets, emission, after)
        if total > 0.0:
            belief[:] = after
        elif policy == RAISE:
            return t, log2p
        elif policy == RESET:
            total = _step(home, codes[t], n_letters, targets, emission, after)
            belief[:] = after if total > 0.0 else home
        state = single(belief)
        states[t] = -1
        if total > 0.0 or policy == STAY:
            states[t] = _likely(belief) if likely and state < 0 else state
        if mixture.shape[0] > 0 and (state < 0 or states[t] < 0):
            _mix(belief, smooth, mixture[t])
        t += 1
    return -1, log2p
