"""CSSR: two-sample tests, homogeneous states of histories, and their determinisation."""

import math

import numpy as np

from . import kernel
from .distances import chi2_sf


@kernel
def kolmogorov(x):
    """P(K > x) of Kolmogorov's distribution: 2 sum_j (-1)^(j - 1) exp(-2 j^2 x^2)."""
    total = 0.0
    sign = 2.0
    for j in range(1, 101):
        term = math.exp(-2.0 * x * x * j * j)
        total += sign * term
        if term <= 1e-10:
            return min(max(total, 0.0), 1.0)
        sign = -sign
    # For x this small the series has not converged, and the probability is 1.
    return 1.0


@kernel
def kolmogorov_smirnov(a, n_a, b, n_b):
    """p-value of two count vectors over an ordered alphabet, with Stephens' correction for the sample sizes."""
    gap = 0.0
    below_a = 0
    below_b = 0
    for k in range(a.size):
        below_a += a[k]
        below_b += b[k]
        gap = max(gap, abs(below_a / n_a - below_b / n_b))
    root = math.sqrt(n_a / (n_a + n_b) * n_b)
    return kolmogorov((root + 0.12 + 0.11 / root) * gap)


@kernel
def chi_square(a, n_a, b, n_b):
    """p-value of Pearson's test of homogeneity of two count vectors, over the symbols that occur."""
    statistic = 0.0
    degrees = -1
    for k in range(a.size):
        both = a[k] + b[k]
        if both > 0:
            degrees += 1
            gap = a[k] / n_a - b[k] / n_b
            statistic += gap * gap / both
    if degrees < 1:
        return 1.0
    return chi2_sf(statistic * n_a * n_b, degrees)


@kernel
def _tally(first, stop, start, outcome, count, counts):
    """Counts of what followed the words of rows first..stop-1; returns their sum."""
    counts[:] = 0
    total = 0
    for j in range(start[first], start[stop]):
        counts[outcome[j]] += count[j]
        total += count[j]
    return total


@kernel
def _p_value(test, a, n_a, b, n_b):
    return kolmogorov_smirnov(a, n_a, b, n_b) if test == 0 else chi_square(a, n_a, b, n_b)


@kernel
def _best(test, counts, total, states, n_states, alpha):
    """The state whose distribution matches best, -1 if all are rejected."""
    found = -1
    largest = 0.0
    n = counts.size
    for s in range(n_states):
        if states[s, n] > 0:
            p = _p_value(test, states[s, :n], states[s, n], counts, total)
            if p >= alpha and p > largest:
                largest = p
                found = s
    return found


@kernel
def _histories(shared, past):
    """All endings of the rows by length: where each length begins, first row and mother of each ending."""
    level = np.ones(past + 2, np.int64)
    level[0] = 0
    for length in range(1, past + 1):
        n = 1
        for i in range(1, shared.size):
            if shared[i] < length:
                n += 1
        level[length + 1] = level[length] + n
    first = np.zeros(level[past + 1] + 1, np.int64)
    mother = np.full(level[past + 1], -1, np.int64)
    for length in range(1, past + 1):
        h = level[length]
        up = level[length - 1]
        mother[h] = up
        for i in range(1, shared.size):
            if shared[i] < length:
                up += shared[i] < length - 1
                h += 1
                first[h] = i
                mother[h] = up
    return level, first, mother


@kernel
def _grown(array):
    """The same rows, with room for as many more."""
    more = np.zeros((2 * array.shape[0], array.shape[1]), array.dtype)
    more[: array.shape[0]] = array
    return more


@kernel
def homogenise(start, outcome, count, shared, past, n_symbols, alpha, test, state, short):
    """Give each row (a word of `past` symbols, sorted by endings) a state with one next-symbol distribution.

    Histories are visited by length. One that does not match its mother's state joins the best other state, or
    opens a new one; then its ancestors, mixtures as it shows, are taken out of their states.
    Fills state (n_rows) and short: the state of each distinct ending of past - 1 symbols, -1 where it was taken
    out. Returns the number of states opened.
    """
    n_rows = state.size
    level, first, mother = _histories(shared, past)
    owner = np.full(mother.size, -1, np.int64)
    counts = np.zeros(n_symbols, np.int64)
    # The counts of each state, and their sum in the last column.
    states = np.zeros((16, n_symbols + 1), np.int64)
    states[0, n_symbols] = _tally(0, n_rows, start, outcome, count, states[0, :n_symbols])
    owner[0] = 0
    n_states = 1
    for length in range(1, past + 1):
        for h in range(level[length], level[length + 1]):
            stop = first[h + 1] if h + 1 < level[length + 1] else n_rows
            total = _tally(first[h], stop, start, outcome, count, counts)
            s = owner[mother[h]]
            if s < 0 or _p_value(test, states[s, :n_symbols], states[s, n_symbols], counts, total) < alpha:
                s = _best(test, counts, total, states, n_states, alpha)
            opens = s < 0
            if opens:
                if n_states == states.shape[0]:
                    states = _grown(states)
                s = n_states
                n_states += 1
            owner[h] = s
            states[s, :n_symbols] += counts
            states[s, n_symbols] += total
            # The empty history is an ancestor of the single symbols only, as in the program.
            up = mother[h]
            k = length - 1
            while opens and owner[up] >= 0 and (k > 0 or length == 1):
                stop = first[up + 1] if up + 1 < level[k + 1] else n_rows
                states[owner[up], n_symbols] -= _tally(first[up], stop, start, outcome, count, counts)
                states[owner[up], :n_symbols] -= counts
                owner[up] = -1
                if k == 0:
                    break
                up = mother[up]
                k -= 1
    state[:] = owner[level[past] :]
    short[:] = owner[level[past - 1] : level[past]]
    return n_states


@kernel
def _lists(label, head, tail, after):
    """Lists of the items of each state, in order: head and tail of each list, and what comes after an item."""
    head[:] = -1
    tail[:] = -1
    after[:] = -1
    for i in range(label.size):
        s = label[i]
        if s >= 0:
            if head[s] < 0:
                head[s] = i
            else:
                after[tail[s]] = i
            tail[s] = i


@kernel
def _split(label, word, target, weight, head, tail, after, s, a, mass, child, n_states):
    """Move the items of state s to new states by the state they go to on symbol a, those that go where most do
    excepted; returns the number of states. `mass` is zero before and after."""
    stays = -1
    differ = False
    i = head[s]
    while i >= 0:
        t = target[word[i], a]
        t = label[t] if t >= 0 else -1
        child[i] = t
        if t >= 0:
            mass[t] += weight[i]
            differ |= stays >= 0 and t != stays
            if stays < 0 or mass[t] > mass[stays]:
                stays = t
        i = after[i]
    i = head[s]
    while i >= 0:
        if child[i] >= 0:
            mass[child[i]] = 0
        i = after[i]
    if not differ:
        return n_states
    # From here on mass[t] < 0 holds the new state of the items that go to t; both kinds of lists keep their order.
    old = n_states
    i = head[s]
    head[s] = -1
    while i >= 0:
        following = after[i]
        t = child[i]
        if t >= 0 and t != stays:
            if mass[t] == 0:
                mass[t] = -1 - n_states
                head[n_states] = -1
                n_states += 1
            label[i] = -1 - mass[t]
        home = label[i]
        after[i] = -1
        if head[home] < 0:
            head[home] = i
        else:
            after[tail[home]] = i
        tail[home] = i
        i = following
    for new in range(old, n_states):
        mass[child[head[new]]] = 0
    return n_states


@kernel
def determinise(label, word, target, weight, n_states):
    """Split states until all items of a state go to one state on each symbol; returns the number of states.

    Item i has the state label[i] (-1 = removed) and the word word[i]; target[w, a] is the item that follows
    word w on symbol a, -1 = none. Items whose successor is not known stay with the majority by weight.
    """
    head = np.empty(label.size + 1, np.int64)
    tail = np.empty(label.size + 1, np.int64)
    after = np.empty(label.size, np.int64)
    mass = np.zeros(label.size + 1, np.int64)
    child = np.empty(label.size, np.int64)
    _lists(label, head, tail, after)
    before = -1
    while n_states != before:
        before = n_states
        s = 0
        while s < n_states:
            if head[s] != tail[s]:
                for a in range(target.shape[1]):
                    n_states = _split(label, word, target, weight, head, tail, after, s, a, mass, child, n_states)
            s += 1
    return n_states


@kernel
def dead_ends(start, source, degree, dead):
    """Mark the states from which every path ends: those without a successor (degree 0) that is not marked.

    source[start[t]..start[t + 1] - 1] are the states that lead to state t; degree counts the ways out.
    """
    stack = np.empty(degree.size, np.int64)
    top = 0
    for s in range(degree.size):
        if degree[s] == 0:
            dead[s] = True
            stack[top] = s
            top += 1
    while top > 0:
        top -= 1
        t = stack[top]
        for j in range(start[t], start[t + 1]):
            s = source[j]
            degree[s] -= 1
            if degree[s] == 0:
                dead[s] = True
                stack[top] = s
                top += 1
