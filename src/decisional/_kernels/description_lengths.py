"""Description lengths of unifilar machines along a series, and of their neighbours in a search.

A machine is its `targets` (n_states, n_symbols), -1 = none. Its probabilities are those of the counts that the
series gives to its edges, so a machine is judged by structure alone; `logs` only helps to find the state at the
start of a sequence.
"""

import math

import numpy as np

from . import kernel
from .components import root

# Symbols looked at to find the state at the start of a sequence, or after an impossible symbol.
AHEAD = 64


@kernel
def _locate(raw, lut, begin, end, targets, logs):
    """The state from which the next symbols run furthest; the most likely one of those that run as far."""
    end = min(end, begin + AHEAD)
    best = 0
    best_run = -1
    best_value = 0.0
    for first in range(targets.shape[0]):
        state = first
        value = 0.0
        i = begin
        while i < end:
            s = lut[raw[i]]
            if s < 0 or targets[state, s] < 0:
                break
            value += logs[state, s]
            state = targets[state, s]
            i += 1
        if i > best_run or (i == best_run and value > best_value):
            best = first
            best_run = i
            best_value = value
    return best


@kernel
def walk(raw, lut, bounds, end, targets, logs, limit, state, counts):
    """Count the uses of each edge along the symbols before `end`, from a state, -1 = unknown.

    What follows `end` is only looked at to find a state. Returns how often a state had to be found anew, how many
    symbols were impossible, and the last state; gives up when impossible ones are more than `limit`.
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
            if state < 0 or targets[state, s] < 0:
                misses += state >= 0
                if misses > limit:
                    return starts, misses, state
                state = _locate(raw, lut, i, bounds[q + 1], targets, logs)
                starts += 1
                if targets[state, s] < 0:
                    misses += 1
                    state = -1
                    continue
            counts[state, s] += 1
            state = targets[state, s]
    return starts, misses, state


@kernel
def description_length(counts, starts, misses, log_n):
    """Bits of the symbols and of the machine, given the uses of its edges; unused edges and states are free."""
    bits = 0.0
    states = 0
    edges = 0
    for j in range(counts.shape[0]):
        total = 0.0
        for s in range(counts.shape[1]):
            if counts[j, s] > 0:
                bits -= counts[j, s] * math.log2(counts[j, s])
                total += counts[j, s]
                edges += 1
        if total > 0:
            bits += total * math.log2(total)
            states += 1
    name = math.log2(max(states, 1))
    return bits + 0.5 * (edges - states) * log_n + (edges + starts) * name + misses * log_n


@kernel
def move_lengths(raw, lut, bounds, targets, logs, copied, copies, edges, ends, log_n, best, lengths):
    """lengths[m]: description length if the edges numbered edges[m] led to the states ends[m].

    The last row of targets and logs is free: where copies[m], it is first a copy of the state copied[m], whose own
    edges count among them. A machine that is longer than `best` may be given up (inf).
    """
    n, symbols = targets.shape[0] - 1, targets.shape[1]
    counts = np.zeros(targets.shape)
    limit = int(best / log_n)
    for m in range(lengths.size):
        moved = targets.copy()
        if copies[m]:
            moved[n], logs[n] = targets[copied[m]], logs[copied[m]]
        for e in range(edges.shape[1]):
            moved[edges[m, e] // symbols, edges[m, e] % symbols] = ends[m, e]
        counts[:] = 0.0
        starts, misses, _ = walk(raw, lut, bounds, raw.size, moved, logs, limit, -1, counts)
        lengths[m] = description_length(counts, starts, misses, log_n) if misses <= limit else np.inf


@kernel
def merged_labels(targets, i, j, labels, work):
    """Merge states i and j, and all that determinism then demands: labels[s] = lowest state merged with s.

    work (n_states, n_symbols) is scratch. Cost: O(n_states n_symbols).
    """
    n, symbols = targets.shape
    for s in range(n):
        labels[s] = s
        for a in range(symbols):
            work[s, a] = targets[s, a]
    pairs = np.empty((n * symbols + 1, 2), np.int64)
    pairs[0, 0], pairs[0, 1] = i, j
    height = 1
    while height > 0:
        height -= 1
        a, b = root(labels, pairs[height, 0]), root(labels, pairs[height, 1])
        if a == b:
            continue
        a, b = min(a, b), max(a, b)
        labels[b] = a
        for s in range(symbols):
            if work[a, s] < 0:
                work[a, s] = work[b, s]
            elif work[b, s] >= 0:
                pairs[height, 0], pairs[height, 1] = work[a, s], work[b, s]
                height += 1
    for s in range(n):
        labels[s] = root(labels, s)


@kernel
def merge_lengths(targets, counts, starts, misses, log_n, lengths):
    """lengths[i, j], i < j: description length after merging states i and j with what determinism demands."""
    n, symbols = targets.shape
    labels = np.empty(n, np.int64)
    work = np.empty((n, symbols), np.int64)
    merged = np.empty(counts.shape)
    for i in range(n):
        for j in range(i + 1, n):
            merged_labels(targets, i, j, labels, work)
            merged[:] = 0.0
            for s in range(n):
                for a in range(symbols):
                    merged[labels[s], a] += counts[s, a]
            lengths[i, j] = description_length(merged, starts, misses, log_n)
