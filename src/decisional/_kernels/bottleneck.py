"""The path from many states to one that loses least information about the outcomes, over compressed rows."""

import math

import numpy as np

from . import kernel


@kernel
def _x_log_x(x):
    return x * math.log2(x) if x > 0.0 else 0.0


@kernel
def _lost(row, total, outcome, mass, other):
    """Bits that are lost where a state, whose masses are in `row`, is merged with another of some total mass."""
    lost = _x_log_x(total + other) - _x_log_x(total) - _x_log_x(other)
    for e in range(outcome.size):
        here = row[outcome[e]]
        if here > 0.0:
            lost -= _x_log_x(here + mass[e]) - _x_log_x(here) - _x_log_x(mass[e])
    return max(lost, 0.0)


@kernel
def _spread(outcome, mass, row):
    for e in range(outcome.size):
        row[outcome[e]] += mass[e]


@kernel
def _nearest(lost, a, live):
    """The state before a that it loses least with, the first one among equals; -1 = none."""
    best = -1
    for b in range(a):
        if live[b] and (best < 0 or lost[a, b] < lost[a, best]):
            best = b
    return best


@kernel
def _gathered(first, last, outcome, mass, row, end):
    """Write the sums of two states at the end of the pool, given as ranges of it; returns the new end."""
    for part in (first, last):
        _spread(outcome[part[0] : part[1]], mass[part[0] : part[1]], row)
    for part in (first, last):
        for e in range(part[0], part[1]):
            z = outcome[e]
            if row[z] > 0.0:
                outcome[end], mass[end] = z, row[z]
                row[z] = 0.0
                end += 1
    return end


@kernel
def merge_path(start, outcome, mass, n_outcomes, merges, worth, total):
    """merges[k] = the state that is merged at each step, and the one before it that it goes into.

    outcome and mass have the rows of all states and as much room again; worth (n_steps + 1,) gets the sum of m log m
    over states and outcomes, less that over states alone, before each step.
    """
    n = start.size - 1
    row = np.zeros(n_outcomes)
    ranges = np.empty((n, 2), np.int64)
    lost, live, best = np.zeros((n, n)), np.ones(n, np.bool_), np.full(n, -1, np.int64)
    value = 0.0
    for a in range(n):
        ranges[a, 0], ranges[a, 1] = start[a], start[a + 1]
        value -= _x_log_x(total[a])
        for e in range(start[a], start[a + 1]):
            value += _x_log_x(mass[e])
        _spread(outcome[start[a] : start[a + 1]], mass[start[a] : start[a + 1]], row)
        for b in range(a):
            lost[a, b] = _lost(row, total[a], outcome[start[b] : start[b + 1]], mass[start[b] : start[b + 1]], total[b])
        row[outcome[start[a] : start[a + 1]]] = 0.0
        best[a] = _nearest(lost, a, live)
    end = start[n]
    for step in range(n - 1):
        worth[step] = value
        gone = -1
        for a in range(n):
            if live[a] and best[a] >= 0 and (gone < 0 or lost[a, best[a]] < lost[gone, best[gone]]):
                gone = a
        kept = best[gone]
        value -= lost[gone, kept]
        merges[step, 0], merges[step, 1] = gone, kept
        live[gone] = False
        if end + ranges[gone, 1] - ranges[gone, 0] + ranges[kept, 1] - ranges[kept, 0] > outcome.size:
            end = _packed(ranges, live, gone, outcome, mass)
        first = end
        end = _gathered(ranges[kept], ranges[gone], outcome, mass, row, end)
        ranges[kept, 0], ranges[kept, 1] = first, end
        total[kept] += total[gone]
        _spread(outcome[first:end], mass[first:end], row)
        for b in range(n):
            if live[b] and b != kept:
                own = slice(ranges[b, 0], ranges[b, 1])
                lost[max(b, kept), min(b, kept)] = _lost(row, total[kept], outcome[own], mass[own], total[b])
        row[outcome[first:end]] = 0.0
        for a in range(kept, n):
            if live[a] and (a == kept or best[a] in (gone, kept)):
                best[a] = _nearest(lost, a, live)
            elif live[a] and lost[a, kept] < lost[a, best[a]]:
                best[a] = kept
    worth[n - 1] = value


@kernel
def _packed(ranges, live, gone, outcome, mass):
    """Move the rows of live states, and of one that is about to go, to the beginning; returns the end of them."""
    outcomes, masses = outcome.copy(), mass.copy()
    end = 0
    for a in range(live.size):
        if live[a] or a == gone:
            size = ranges[a, 1] - ranges[a, 0]
            outcome[end : end + size] = outcomes[ranges[a, 0] : ranges[a, 1]]
            mass[end : end + size] = masses[ranges[a, 0] : ranges[a, 1]]
            ranges[a, 0], ranges[a, 1] = end, end + size
            end += size
    return end
