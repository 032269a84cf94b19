"""Machines driven through a series that comes slice by slice: the state is carried over the borders."""

from . import kernel
from .search import _locate

__all__ = ["walk_on"]


@kernel
def walk_on(raw, lut, bounds, end, targets, logs, state, counts):
    """Count the uses of each edge along the symbols before `end`, as `search.walk` does, from a state, -1 = unknown.

    What follows `end` is only looked at to find a state. Returns how often a state had to be found anew, how many
    symbols were impossible, and the last state.
    """
    starts = 0
    misses = 0
    for q in range(bounds.size - 1):
        if q > 0:
            state = -1
        for i in range(bounds[q], min(bounds[q + 1], end)):
            s = lut[raw[i]]
            if s < 0:
                state = -1
                continue
            if state >= 0 and targets[state, s] < 0:
                misses += 1
                state = -1
            if state < 0:
                state = _locate(raw, lut, i, bounds[q + 1], targets, logs)
                starts += 1
                if targets[state, s] < 0:
                    misses += 1
                    state = -1
                    continue
            counts[state, s] += 1
            state = targets[state, s]
    return starts, misses, state
