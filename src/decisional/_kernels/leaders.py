"""Many densities against what represents each state: Bhattacharyya coefficients from square roots of probabilities."""

import numpy as np

from . import kernel

__all__ = ["add_rows", "compare", "follow", "roots"]


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
        top = 0
        for k in range(1, alike.size):
            if alike[k] > alike[top]:
                top = k
        best[i] = top
        near[i] = alike[top]


@kernel
def follow(rows, start, outcome, root, least, n_leaders, best, near, fresh, made, labels):
    """Label rows one after the other; those that match nothing lead from then on.

    `best` and `near` compare each row with the n_leaders leaders before this block, `fresh` (room, n_outcomes)
    receives the new ones, `made` of which are there already. Returns the rows done, fewer than all when there is no
    room, and the number of new leaders.
    """
    for i in range(rows.size):
        label = best[i]
        top = near[i]
        for f in range(made):
            value = np.float32(0.0)
            for e in range(start[rows[i]], start[rows[i] + 1]):
                value += root[e] * fresh[f, outcome[e]]
            if value > top:
                top = value
                label = n_leaders + f
        if top <= least:
            if made == fresh.shape[0]:
                return i, made
            for e in range(start[rows[i]], start[rows[i] + 1]):
                fresh[made, outcome[e]] = root[e]
            label = n_leaders + made
            made += 1
        labels[rows[i]] = label
    return rows.size, made


@kernel
def add_rows(start, outcome, count, weight, labels, sums):
    """Add the evidence of each row, times its weight, to the sums (K, n_outcomes) of its state."""
    for r in range(labels.size):
        for e in range(start[r], start[r + 1]):
            sums[labels[r], outcome[e]] += np.float64(count[e]) * weight[r]
