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
    """The endings of the rows, for each length up to `past`: the first row of each and that after the last, mothers."""
    first, mother = [np.array([0, shared.size])], [np.full(1, -1)]
    before = np.zeros(shared.size, np.int64)
    for length in range(1, past + 1):
        new = shared < length
        new[0] = True
        rows = np.flatnonzero(new)
        first.append(np.append(rows, shared.size))
        mother.append(before[rows])
        before = np.cumsum(new) - 1
    return first, mother


@kernel
def homogenise(start, outcome, count, shared, past, n_symbols, alpha, test, state, short):
    """Give each row (a word of `past` symbols, sorted by endings) a state with one next-symbol distribution.

    Histories are visited by length. One that does not match its mother's state joins the best other state, or
    opens a new one; then its ancestors, mixtures as it shows, are taken out of their states.
    Fills state (n_rows) and short: the state of each distinct ending of past - 1 symbols, -1 where it was taken
    out. Returns the number of states opened.
    """
    first, mother = _histories(shared, past)
    owner = [np.full(ending.size, -1) for ending in mother]
    counts = np.zeros(n_symbols, np.int64)
    # The counts of each state, and their sum in the last column.
    states = np.zeros((16, n_symbols + 1), np.int64)
    states[0, n_symbols] = _tally(0, state.size, start, outcome, count, states[0, :n_symbols])
    owner[0][0] = 0
    n_states = 1
    for length in range(1, past + 1):
        for h in range(owner[length].size):
            total = _tally(first[length][h], first[length][h + 1], start, outcome, count, counts)
            up = mother[length][h]
            s = owner[length - 1][up]
            if s < 0 or _p_value(test, states[s, :n_symbols], states[s, n_symbols], counts, total) < alpha:
                s = _best(test, counts, total, states, n_states, alpha)
            opens = s < 0
            if opens:
                if n_states == states.shape[0]:
                    states = np.concatenate((states, np.zeros_like(states)))
                s = n_states
                n_states += 1
            owner[length][h] = s
            states[s, :n_symbols] += counts
            states[s, n_symbols] += total
            # The empty history is an ancestor of the single symbols only, as in the program.
            k = length - 1
            while opens and k >= min(length - 1, 1) and owner[k][up] >= 0:
                mixed = states[owner[k][up]]
                mixed[n_symbols] -= _tally(first[k][up], first[k][up + 1], start, outcome, count, counts)
                mixed[:n_symbols] -= counts
                owner[k][up] = -1
                up = mother[k][up]
                k -= 1
    state[:] = owner[past]
    short[:] = owner[past - 1]
    return n_states


@kernel
def _group(label, some, items, s, new, n_states, begin, stop):
    """Put items from begin[s] on by their states, s and then new..n_states - 1, in order: begin[t] to stop[t] - 1."""
    stop[s], stop[new:n_states] = 0, 0
    for i in some:
        stop[label[i]] += 1
    end = begin[s] + stop[s]
    stop[s] = begin[s]
    for t in range(new, n_states):
        begin[t] = end
        end += stop[t]
        stop[t] = begin[t]
    for i in some:
        items[stop[label[i]]] = i
        stop[label[i]] += 1


@kernel
def _split(label, word, target, weight, items, begin, stop, s, a, mass, child, n_states):
    """Move the items of state s to new states by the state they go to on symbol a, those that go where most do
    excepted; returns the number of states. `mass` is zero before and after."""
    mine = items[begin[s] : stop[s]]
    stays = -1
    differ = False
    for i in mine:
        t = target[word[i], a]
        t = child[i] = label[t] if t >= 0 else -1
        if t >= 0:
            mass[t] += weight[i]
            differ |= stays >= 0 and t != stays
            if stays < 0 or mass[t] > mass[stays]:
                stays = t
    for i in mine:
        mass[child[i]] = 0
    new = n_states
    if differ:
        # From here on mass[t] is the new state of the items that go to t.
        for i in mine:
            t = child[i]
            if t >= 0 and t != stays:
                if mass[t] == 0:
                    mass[t] = n_states
                    n_states += 1
                label[i] = mass[t]
        _group(label, mine.copy(), items, s, new, n_states, begin, stop)
        for t in range(new, n_states):
            mass[child[items[begin[t]]]] = 0
    return n_states


@kernel
def determinise(label, word, target, weight, n_states):
    """Split states until all items of a state go to one state on each symbol; returns the number of states.

    Item i has the state label[i] (-1 = removed) and the word word[i]; target[w, a] is the item that follows
    word w on symbol a, -1 = none. Items whose successor is not known stay with the majority by weight.
    """
    # The last place is that of no state, -1.
    begin, stop, mass = np.zeros((3, label.size + 1), np.int64)
    items, child = np.empty((2, label.size), np.int64)
    _group(label, np.arange(label.size), items, -1, 0, n_states, begin, stop)
    before = -1
    while n_states != before:
        before = n_states
        s = 0
        while s < n_states:
            if stop[s] - begin[s] > 1:
                for a in range(target.shape[1]):
                    n_states = _split(label, word, target, weight, items, begin, stop, s, a, mass, child, n_states)
            s += 1
    return n_states
