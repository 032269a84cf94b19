"""Many densities against what represents each state: Bhattacharyya coefficients from square roots of probabilities."""

import numpy as np

from . import kernel


@kernel
def roots(start, count, total, root):
    """root[e] = sqrt of the share of each entry in its row."""
    for r in range(total.size):
        for e in range(start[r], start[r + 1]):
            root[e] = np.sqrt(count[e] / total[r])


@kernel
def compare(rows, start, outcome, root, leaders, best, near):
    """For each row, the leader with the largest coefficient, and that coefficient; leaders is (n_outcomes, K).

    The inner loop runs over all leaders at once, which compilers turn into vector instructions.
    """
    alike = np.empty(leaders.shape[1], leaders.dtype)
    for i in range(rows.size):
        alike[:] = 0
        for e in range(start[rows[i]], start[rows[i] + 1]):
            value = root[e]
            line = leaders[outcome[e]]
            for k in range(alike.size):
                alike[k] += value * line[k]
        best[i] = np.argmax(alike)
        near[i] = alike[best[i]]


@kernel
def follow(rows, start, outcome, root, least, leaders, best, near, labels):
    """Label rows one after the other; those that match nothing lead from then on. Returns all leaders.

    `best` and `near` compare each row with the leaders (n_leaders, n_outcomes) before this block.
    """
    n_leaders = leaders.shape[0]
    fresh = np.zeros((64, leaders.shape[1]), leaders.dtype)
    made = 0
    for i in range(rows.size):
        label = best[i]
        top = near[i]
        for f in range(made):
            value = root.dtype.type(0.0)
            for e in range(start[rows[i]], start[rows[i] + 1]):
                value += root[e] * fresh[f, outcome[e]]
            if value > top:
                top = value
                label = n_leaders + f
        if top <= least:
            if made == fresh.shape[0]:
                fresh = np.concatenate((fresh, np.zeros_like(fresh)))
            for e in range(start[rows[i]], start[rows[i] + 1]):
                fresh[made, outcome[e]] = root[e]
            label = n_leaders + made
            made += 1
        labels[rows[i]] = label
    return np.concatenate((leaders, fresh[:made]))


@kernel
def add_rows(start, outcome, count, share, labels, sums):
    """Add the evidence of each row, times its share, to the sums (K, n_outcomes) of its state."""
    for r in range(labels.size):
        for e in range(start[r], start[r + 1]):
            sums[labels[r], outcome[e]] += np.float64(count[e]) * share[r]


@kernel
def _coefficients(line, turned, alike):
    """Coefficients of one state with the first alike.size states, whose roots are the columns of `turned`."""
    alike[:] = 0.0
    for z in range(line.size):
        value = line[z]
        if value != 0.0:
            other = turned[z]
            for k in range(alike.size):
                alike[k] += value * other[k]


@kernel
def nearest_before(first, stop, root, turned, partner, alike):
    """For each state of first..stop - 1, the most similar one before it and their coefficient, -1 without one."""
    room = np.empty(turned.shape[1])
    for s in range(first, stop):
        partner[s] = -1
        alike[s] = -1.0
        if s > 0:
            _coefficients(root[s], turned, room[:s])
            partner[s] = np.argmax(room[:s])
            alike[s] = room[partner[s]]


@kernel
def merge(least, sums, mass, root, turned, partner, alike, target):
    """Merge states while a coefficient is above `least`, the largest first; target[s] = state that s went into.

    `sums` (K, n_outcomes) and `mass` (K,) are added up, `root` and its transpose `turned` follow; `partner` and
    `alike` are what `nearest_before` found. Cost: O(K n_outcomes) for each merged state.
    """
    n = mass.size
    room = np.empty(n)
    for s in range(n):
        target[s] = s
    while True:
        a = -1
        best = least
        for s in range(n):
            if alike[s] > best:
                best = alike[s]
                a = s
        if a < 0:
            return
        b = partner[a]
        # b < a: the larger number goes into the smaller one. What is gone is like nothing.
        alike[a] = -1.0
        mass[b] += mass[a]
        sums[b] += sums[a]
        root[a] = turned[:, a] = 0.0
        root[b] = turned[:, b] = np.sqrt(sums[b] / mass[b])
        for s in range(n):
            if target[s] == a:
                target[s] = b
        _coefficients(root[b], turned, room)
        if b > 0:
            partner[b] = np.argmax(room[:b])
            alike[b] = room[partner[b]]
        for s in range(b + 1, n):
            if target[s] != s:
                continue
            value = room[s]
            if value > alike[s] or (value == alike[s] and b < partner[s]):
                partner[s] = b
                alike[s] = value
            elif alike[s] > least and (partner[s] == a or partner[s] == b):
                # Its partner has changed for the worse; among those that match nothing, none can become one.
                nearest_before(s, s + 1, root, turned, partner, alike)
