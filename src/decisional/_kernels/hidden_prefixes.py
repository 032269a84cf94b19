"""What strings say of hidden states, along the tree of their prefixes, so that what many begin with is followed once.

Nodes are numbered by their length, the root first, and then by their last symbol: `parent` and `symbol` (n_nodes,),
-1 for the root. `steps` (n_symbols, n_states, n_states) are P(symbol, next state | state), `turned` the same with the
states exchanged, `ends` (n_states,) P(the string ends | state). Beliefs are scaled to sum to 1 at every node.
"""

import numpy as np

from . import kernel


@kernel
def add_product(row, matrix, out):
    """Add row @ matrix to `out`; four rows of the matrix at a time, which spares memory."""
    n, m = row.size, out.size
    whole = n - n % 4
    for i in range(0, whole, 4):
        a, b, c, d = row[i], row[i + 1], row[i + 2], row[i + 3]
        if a + b + c + d > 0.0:
            for j in range(m):
                out[j] += (a * matrix[i, j] + b * matrix[i + 1, j]) + (c * matrix[i + 2, j] + d * matrix[i + 3, j])
    for i in range(whole, n):
        a = row[i]
        for j in range(m):
            out[j] += a * matrix[i, j]


@kernel
def forward(parent, symbol, steps, ends, home, beliefs, chances, closing):
    """beliefs (n_nodes, n_states) after each prefix, chances[v] of its last symbol, closing[v] that it is the string.

    What follows a symbol that cannot be is believed as little as that: nothing.
    """
    n, k = beliefs.shape
    for v in range(n):
        now = beliefs[v]
        if v == 0:
            now[:] = home
            chances[0] = 1.0
        else:
            now[:] = 0.0
            add_product(beliefs[parent[v]], steps[symbol[v]], now)
            chances[v] = now.sum()
            if chances[v] > 0.0:
                scale = 1.0 / chances[v]
                for j in range(k):
                    now[j] *= scale
        closing[v] = 0.0
        for j in range(k):
            closing[v] += now[j] * ends[j]


@kernel
def backward(parent, symbol, ended, turned, ends, beliefs, chances, closing, later, last):
    """Add to later[v] what the strings through a prefix say of the state after it, and to `last` where they end.

    ended[v] are the strings that are prefix v; later is 0 to begin with. The sum over states of beliefs[v] and
    later[v] before it was divided by chances[v], which is done here, is the number of strings through v.
    """
    n, k = beliefs.shape
    for v in range(n - 1, -1, -1):
        here = later[v]
        if ended[v] > 0 and closing[v] > 0.0:
            share = ended[v] / closing[v]
            for i in range(k):
                here[i] += share * ends[i]
                last[i] += share * beliefs[v, i] * ends[i]
        if v > 0 and chances[v] > 0.0:
            scale = 1.0 / chances[v]
            for i in range(k):
                here[i] *= scale
            add_product(here, turned[symbol[v]], later[parent[v]])


@kernel
def add_uses(parent, symbol, beliefs, later, uses):
    """Add to uses (n_symbols, n_states, n_states) what the strings say of steps, to be multiplied by these.

    Four nodes with the same last symbol at a time, which spares memory.
    """
    n, k = beliefs.shape
    v = 1
    while v < n:
        use = uses[symbol[v]]
        if v + 3 < n and symbol[v + 3] == symbol[v + 2] == symbol[v + 1] == symbol[v]:
            p, q, r, s = parent[v], parent[v + 1], parent[v + 2], parent[v + 3]
            for i in range(k):
                a, b, c, d = beliefs[p, i], beliefs[q, i], beliefs[r, i], beliefs[s, i]
                if a + b + c + d > 0.0:
                    for j in range(k):
                        use[i, j] += (a * later[v, j] + b * later[v + 1, j]) + (
                            c * later[v + 2, j] + d * later[v + 3, j]
                        )
            v += 4
        else:
            for i in range(k):
                a = beliefs[parent[v], i]
                for j in range(k):
                    use[i, j] += a * later[v, j]
            v += 1


@kernel
def log2_sums(parent, log2_chances, along):
    """along[v] = sum of the log2-probabilities of the symbols of prefix v."""
    along[0] = 0.0
    for v in range(1, along.size):
        along[v] = along[parent[v]] + log2_chances[v]


@kernel
def add_to_parents(parent, values):
    """Add the values of nodes to those of their parents, the longest prefixes first."""
    for v in range(values.size - 1, 0, -1):
        values[parent[v]] += values[v]


@kernel
def sample_paths(parent, symbol, leaf, beliefs, turned, ends, uniform, uses, last, starts):
    """Draw the states along each string, given it: add the steps to uses (n_symbols, n_states, n_states), and what
    strings ended in and began with to `last` and `starts`.

    leaf (n_strings,) are the prefixes that are strings; `uniform` has a number for each of their states, from their
    ends. Cost: O(n_states) for each of them.
    """
    k = ends.size
    sums, drawn = np.empty(k), 0
    for v in leaf:
        total = 0.0
        for i in range(k):
            total += beliefs[v, i] * ends[i]
            sums[i] = total
        state = min(np.searchsorted(sums, uniform[drawn] * total, side="right"), k - 1)
        drawn += 1
        last[state] += 1.0
        while parent[v] >= 0:
            before, row = beliefs[parent[v]], turned[symbol[v], state]
            total = 0.0
            for i in range(k):
                total += before[i] * row[i]
                sums[i] = total
            come = min(np.searchsorted(sums, uniform[drawn] * total, side="right"), k - 1)
            drawn += 1
            uses[symbol[v], come, state] += 1.0
            state, v = come, parent[v]
        starts[state] += 1.0
