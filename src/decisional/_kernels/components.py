"""What hangs together in a graph: connected elements, closed classes of a chain and the shares of their states."""

import numpy as np

from . import kernel


@kernel
def root(parent, i):
    """The representative of i in a forest of merged elements."""
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i


@kernel
def connect(a, b, parent):
    """parent[i] = the smallest element that links a[k], b[k] connect with i."""
    for i in range(parent.size):
        parent[i] = i
    for k in range(a.size):
        i, j = root(parent, a[k]), root(parent, b[k])
        parent[max(i, j)] = min(i, j)
    for i in range(parent.size):
        parent[i] = root(parent, i)


@kernel
def _strong_components(start, target, component, order):
    """component[i] = number of the strongly connected component of state i (Tarjan 1972); returns how many.

    Components are numbered, and states put in order, after all that can be reached from them.
    """
    n = component.size
    component[:] = -1
    seen = np.full(n, -1, np.int64)
    low, path, waiting = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
    edge = start[:-1].copy()
    n_seen, n_waiting, n_done, n_components = 0, 0, 0, 0
    for first in range(n):
        depth = 0 if seen[first] < 0 else -1
        path[0] = first
        while depth >= 0:
            i = path[depth]
            if seen[i] < 0:
                seen[i] = low[i] = n_seen
                n_seen += 1
                waiting[n_waiting] = i
                n_waiting += 1
            if edge[i] < start[i + 1]:
                j = target[edge[i]]
                if j >= 0 and seen[j] < 0:
                    depth += 1
                    path[depth] = j
                    continue
                if j >= 0 and component[j] < 0:
                    low[i] = min(low[i], low[j])
                edge[i] += 1
                continue
            while low[i] == seen[i] and component[i] < 0:
                n_waiting -= 1
                order[n_done] = waiting[n_waiting]
                component[order[n_done]] = n_components
                n_done += 1
            n_components += low[i] == seen[i]
            depth -= 1
    return n_components


@kernel
def closed_classes(start, target, aside, label):
    """label[i] = number of the closed class of state i, by their smallest states, -1 outside; returns how many.

    Row i of the chain holds the targets start[i]..start[i + 1] - 1, -1 = none. A state that leads nowhere is in no
    closed class; with `aside`, a class is also closed if all that leaves it comes to an end. Cost: O(states + edges).
    """
    order = np.empty(label.size, np.int64)
    n_components = _strong_components(start, target, label, order)
    stays, leaves = np.zeros(n_components, np.bool_), np.zeros(n_components, np.bool_)
    for i in order:
        for j in target[start[i] : start[i + 1]]:
            if j >= 0 and label[j] == label[i]:
                stays[label[i]] = True
            elif j >= 0 and (not aside or stays[label[j]] or leaves[label[j]]):
                leaves[label[i]] = True
    number = np.full(n_components, -1, np.int64)
    n = 0
    for i in range(label.size):
        c = label[i]
        if stays[c] and not leaves[c] and number[c] < 0:
            number[c] = n
            n += 1
        label[i] = number[c]
    return n


@kernel
def class_stationary(start, target, p, members, result):
    """Fill the stationary distribution within a closed class, rows as in `closed_classes`; whether that worked.

    States are taken out one by one (Grassmann, Taksar and Heyman 1985): no difference is taken, so that all digits
    are right, whatever the probabilities, unless they underflow. Cost: O(members^3).
    """
    n = members.size
    place = np.empty(start.size - 1, np.int64)
    for i in range(n):
        place[members[i]] = i
    matrix = np.zeros((n, n))
    for i in range(n):
        for e in range(start[members[i]], start[members[i] + 1]):
            if target[e] >= 0:
                matrix[i, place[target[e]]] += p[e]
    for k in range(n - 1, 0, -1):
        leaving = matrix[k, :k].sum()
        if not leaving > 0.0:
            return False
        for i in range(k):
            matrix[i, k] /= leaving
            for j in range(k):
                matrix[i, j] += matrix[i, k] * matrix[k, j]
    result[:] = 0.0
    result[0] = 1.0
    for k in range(1, n):
        for i in range(k):
            result[k] += result[i] * matrix[i, k]
    result /= result.sum()
    return True
