"""Many densities against what represents each state: Bhattacharyya coefficients from square roots of probabilities."""

import numpy as np

from . import kernel

__all__ = ["add_rows", "compare", "follow", "merge", "roots"]


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


@kernel
def _rooted(sums, root):
    total = sums.sum()
    for z in range(sums.size):
        root[z] = np.sqrt(sums[z] / total)


@kernel
def _coefficient(a, b):
    value = np.float32(0.0)
    for z in range(a.size):
        value += a[z] * b[z]
    return value


@kernel
def merge(sums, least, root, target):
    """Merge states while two of them match, most similar pair first; target[s] = state that s went into.

    `sums` (K, n_outcomes) is added up in place, and `root` (K, n_outcomes) receives what represents each state.
    Cost: O(K^2 n_outcomes), and O(K^2) for each merger.
    """
    n = sums.shape[0]
    for s in range(n):
        target[s] = s
        _rooted(sums[s], root[s])
    # The best partner of each state among those before it.
    partner, near = np.zeros(n, np.int64), np.full(n, np.float32(-1.0))
    for s in range(n):
        for t in range(s):
            value = _coefficient(root[s], root[t])
            if value > near[s]:
                partner[s], near[s] = t, value
    while True:
        a = 0
        for s in range(1, n):
            if near[s] > near[a]:
                a = s
        if n == 0 or near[a] <= least:
            return
        b = partner[a]
        sums[b] += sums[a]
        _rooted(sums[b], root[b])
        near[a] = np.float32(-1.0)
        for s in range(n):
            if target[s] == a:
                target[s] = b
        for s in range(n):
            if target[s] != s:
                continue
            if s == b or partner[s] == a or partner[s] == b:
                near[s] = np.float32(-1.0)
                for t in range(s):
                    if target[t] == t:
                        value = _coefficient(root[s], root[t])
                        if value > near[s]:
                            partner[s], near[s] = t, value
            elif s > b:
                value = _coefficient(root[s], root[b])
                if value > near[s]:
                    partner[s], near[s] = b, value
