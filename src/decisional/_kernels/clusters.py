"""Clustering of compressed rows of counts by similarity; see `clustering.py` for what is computed."""

import numpy as np

from . import kernel
from .components import root
from .distances import G_TEST, similarity


@kernel
def _left(before, count):
    """What is left without `count`; a rest below a billionth of it is rounding."""
    after = before - count
    return after if after > 1e-9 * count else 0.0


@kernel
def _add(outcome, count, leave, state, dense, support):
    for j in range(outcome.size):
        z = outcome[j]
        before = dense[state, z]
        after = _left(before, count[j]) if leave else before + count[j]
        dense[state, z] = after
        support[state] += int(after > 0.0) - int(before > 0.0)


@kernel
def visit_rows(order, start, outcome, count, total, metric, checked, level, dense, dense_total, support, n, labels):
    """Give each row of `order` to the state it matches best, or to a new one.

    dense (capacity, n_outcomes), dense_total and support describe the first n states; a row that has a
    label leaves its state first. Returns these three, which may have grown, and the number of states.
    """
    # No similarity is larger: rows of little evidence match the first state, and are many in large data.
    perfect = 1.0 if metric <= G_TEST else 0.0
    for i in range(order.size):
        r = order[i]
        z = outcome[start[r] : start[r + 1]]
        c = count[start[r] : start[r + 1]]
        if labels[r] >= 0:
            _add(z, c, True, labels[r], dense, support)
            dense_total[labels[r]] = _left(dense_total[labels[r]], total[r])
        best, best_value, empty = -1, level, n
        for s in range(n):
            if best_value >= perfect:
                break
            if dense_total[s] <= 0.0:
                empty = min(empty, s)
                continue
            # A state that cannot match better than the best so far needs no p-value.
            least = best_value if metric == G_TEST else level
            value = similarity(metric, checked, level, z, c, total[r], dense[s], dense_total[s], support[s], least)
            if value > best_value:
                best, best_value = s, value
        if best < 0:
            best = empty
            if best == dense.shape[0]:
                dense = np.concatenate((dense, np.zeros_like(dense)))
                dense_total = np.concatenate((dense_total, np.zeros_like(dense_total)))
                support = np.concatenate((support, np.zeros_like(support)))
            n = max(n, best + 1)
        labels[r] = best
        _add(z, c, False, best, dense, support)
        dense_total[best] += total[r]
    return dense, dense_total, support, n


@kernel
def _compare(i, j, metric, checked, level, everything, dense, total, support):
    """Similarity of two dense states, the one with fewer counts as the row; -inf if they do not match for sure."""
    if total[i] > total[j]:
        i, j = j, i
    return similarity(metric, checked, level, everything, dense[i], total[i], dense[j], total[j], support[j], level)


@kernel
def merge_states(metric, checked, level, dense, total, support, target):
    """Merge states while two of them match, most similar pair first; target[s] = state that s went into.

    Empty states (of total 0) stay as they are.
    """
    n = total.size
    everything = np.arange(dense.shape[1])
    alike = np.full((n, n), -np.inf)
    for s in range(n):
        target[s] = s
        for t in range(s):
            if total[s] > 0.0 and total[t] > 0.0:
                alike[s, t] = _compare(s, t, metric, checked, level, everything, dense, total, support)
    while True:
        best, a, b = level, -1, -1
        for s in range(n):
            for t in range(s):
                if alike[s, t] > best:
                    best, a, b = alike[s, t], s, t
        if a < 0:
            return
        # b < a: the larger number goes into the smaller one.
        _add(everything, dense[a], False, b, dense, support)
        total[b] += total[a]
        for s in range(n):
            if target[s] == a:
                target[s] = b
            alike[max(s, a), min(s, a)] = -np.inf
        for s in range(n):
            if s != b and target[s] == s and total[s] > 0.0:
                value = _compare(s, b, metric, checked, level, everything, dense, total, support)
                alike[max(s, b), min(s, b)] = value


@kernel
def connect_rows(start, outcome, count, total, n_outcomes, metric, checked, level, parent):
    """Connected components of the graph of matching rows, as a forest in `parent`."""
    dense = np.zeros(n_outcomes)
    for i in range(parent.size):
        parent[i] = i
    for i in range(parent.size):
        for j in range(start[i], start[i + 1]):
            dense[outcome[j]] = count[j]
        for r in range(i):
            a = root(parent, i)
            b = root(parent, r)
            if a == b:
                continue
            z = outcome[start[r] : start[r + 1]]
            c = count[start[r] : start[r + 1]]
            support = start[i + 1] - start[i]
            if similarity(metric, checked, level, z, c, total[r], dense, total[i], support) > level:
                parent[max(a, b)] = min(a, b)
        for j in range(start[i], start[i + 1]):
            dense[outcome[j]] = 0.0
