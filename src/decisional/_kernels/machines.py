"""Loops over the symbols of a series that a unifilar machine emits or reads."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import kernel

Array = NDArray[Any]

RESET, STAY, RAISE = 0, 1, 2


@kernel
def sample(uniforms: Array, accept: Array, alias: Array, targets: Array, state: int, codes: Array) -> int:
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
def _update(belief: Array, emission: Array, targets: Array, code: int, after: Array) -> float:
    """Write in `after` the normalised belief that follows `code`; return the probability of `code`."""
    after[:] = 0.0
    if code >= emission.shape[1]:
        return 0.0
    total = 0.0
    for i in range(belief.size):
        mass = belief[i] * emission[i, code]
        if mass > 0.0:
            after[targets[i, code]] += mass
            total += mass
    if total > 0.0:
        for i in range(belief.size):
            after[i] /= total
    return total


@kernel
def single(belief: Array) -> int:
    """Return the only possible state of a belief, or -1 when there are several or none."""
    found = -1
    for i in range(belief.size):
        if belief[i] > 0.0:
            if found >= 0:
                return -1
            found = i
    return found


@kernel
def _likely(belief: Array) -> int:
    """Return the most probable state, the lowest number among those within 1e-12 of the highest."""
    top = belief.max()
    for i in range(belief.size):
        if belief[i] > 0.0 and belief[i] >= top - 1e-12:
            return i
    return -1


@kernel
def _mix(belief: Array, emission: Array, row: Array) -> None:
    """Write in `row` the distribution of the next symbol under a belief."""
    row[:] = 0.0
    for i in range(belief.size):
        if belief[i] > 0.0:
            for a in range(row.size):
                row[a] += belief[i] * emission[i, a]


@kernel
def drive(
    codes: Array,
    targets: Array,
    emission: Array,
    home: Array,
    belief: Array,
    policy: int,
    likely: bool,
    states: Array,
    mixture: Array,
    counts: Array,
) -> tuple[int, float]:
    """Drive a machine with symbols: a belief until one state is left, then a plain walk.

    `targets` has a last column of -1 for unknown symbols; `belief` (n_states,) is updated in place, so that
    a series can be given in chunks. `states[t]` is the state after symbol t, or -1; `mixture` (n × n_symbols,
    or empty) receives the next-symbol distribution where no single state is known; `counts` the number of
    uses of each edge by the plain walk. Cost: O(1) per symbol once synchronised, O(n_states) before.

    Returns
    -------
    (position, log2p) : position of the impossible symbol that stopped the drive (policy RAISE) or -1, and
        the log-probability in bits of the symbols read before a single state was known.
    """
    n = codes.size
    after = np.empty_like(belief)
    mixing = mixture.shape[0] > 0
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
        total = _update(belief, emission, targets, codes[t], after)
        if total > 0.0:
            belief[:] = after
            log2p += math.log2(total)
        elif policy == RAISE:
            return t, log2p
        elif policy == RESET:
            total = _update(home, emission, targets, codes[t], after)
            belief[:] = after if total > 0.0 else home
        state = single(belief)
        if total > 0.0 or policy == STAY:
            states[t] = _likely(belief) if likely and state < 0 else state
        else:
            states[t] = -1
        if mixing and (state < 0 or states[t] < 0):
            _mix(belief, emission, mixture[t])
        t += 1
    return -1, log2p
