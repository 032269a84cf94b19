"""Large unifilar machines folded into small ones: trees of contexts, mergers with what they entail.

A machine is its `targets` (n_states, n_symbols), -1 = none, and the uses of its edges, `counts`. What a row is worth,
in bits, is read from tables: `gain[c]` for a symbol seen c times, less `cost[n]` for n symbols in all.
"""

import heapq
import math

import numpy as np

from . import kernel


@kernel
def grow_contexts(codes, before, roots, symbols, most, least, deepest, node, parent, depth, count):
    """Grow contexts to the left, the one seen most often first; node[i] = the longest one before symbol i.

    before (n,) the symbol before each in its sequence, `symbols` = none; roots (n,) what contexts begin with, numbers
    from 0, -1 = no symbol here. parent, depth, count (most,) describe the nodes, parents first; those seen less than
    `least` times, or longer than `deepest`, do not grow. Returns the number of nodes. Cost: O(n) for each length.
    """
    n = codes.size
    order, work = np.empty(n, np.int64), np.empty(n, np.int64)
    first = np.zeros(roots.max() + 2, np.int64)
    for i in range(n):
        if roots[i] >= 0:
            first[roots[i] + 1] += 1
    first = np.cumsum(first)
    at = first[:-1].copy()
    for i in range(n):
        if roots[i] >= 0:
            order[at[roots[i]]] = i
            at[roots[i]] += 1
    heap = [(-n - 1, 0, 0, 0, 0)]
    heap.pop()
    for r in range(first.size - 1):
        heapq.heappush(heap, (first[r] - first[r + 1], first[r], first[r + 1], 0, -1))
    size = 0
    bucket = np.empty(symbols + 2, np.int64)
    while len(heap) > 0 and size < most:
        seen, low, high, length, up = heapq.heappop(heap)
        parent[size], depth[size], count[size] = up, length, -seen
        for e in range(low, high):
            node[order[e]] = size
        size += 1
        if length == deepest or -seen < least:
            continue
        bucket[:] = 0
        for e in range(low, high):
            bucket[before[order[e] - length] + 1] += 1
        for s in range(symbols + 1):
            bucket[s + 1] += bucket[s]
        at = bucket[:-1].copy()
        for e in range(low, high):
            s = before[order[e] - length]
            work[at[s]] = order[e]
            at[s] += 1
        for e in range(high - low):
            order[low + e] = work[e]
        for s in range(symbols):
            if bucket[s + 1] - bucket[s] >= least:
                ends = low + bucket[s], low + bucket[s + 1]
                heapq.heappush(heap, (bucket[s] - bucket[s + 1], ends[0], ends[1], length + 1, size - 1))
    return size


@kernel
def mixed_evidence(parent, counts, gain, cost):
    """log2-probability of symbols under all prunings of trees of contexts, and under their roots alone.

    counts (n_nodes, n_symbols) are of the symbols whose longest context is the node; they are summed in place.
    """
    n = parent.size
    below = np.zeros(n)
    inner = np.zeros(n, np.bool_)
    own = np.empty(n)
    for k in range(n):
        own[k] = _worth(counts[k], gain, cost)
    mixed, alone = 0.0, 0.0
    for k in range(n - 1, -1, -1):
        value = _worth(counts[k], gain, cost)
        best = value
        if inner[k]:
            apart = below[k] + own[k]
            top = max(value, apart)
            best = top + math.log2(2.0 ** (value - top) + 2.0 ** (apart - top)) - 1.0
        if parent[k] < 0:
            mixed += best
            alone += value
        else:
            below[parent[k]] += best
            inner[parent[k]] = True
            counts[parent[k]] += counts[k]
    return mixed, alone


@kernel
def prune(parent, counts, gain, cost, inner):
    """log2-probability of symbols and of the likeliest pruning of a tree; inner[k]: whether k has extensions in it.

    Each context, and each extension of an inner one, costs a bit: whether it is inner. counts (n_nodes, n_symbols) are
    of the symbols whose longest context is the node; they are summed in place. Node 0 is the root.
    """
    n, symbols = counts.shape
    apart = np.empty(n)
    for k in range(n):
        apart[k] = _worth(counts[k], gain, cost) - 1.0 - symbols
        inner[k] = False
    best = 0.0
    for k in range(n - 1, -1, -1):
        best = _worth(counts[k], gain, cost) - 1.0
        inner[k] = apart[k] > best
        best = max(apart[k], best)
        if k > 0:
            # An extension that is a context has paid for its bit.
            apart[parent[k]] += best + 1.0
            counts[parent[k]] += counts[k]
    for k in range(1, n):
        inner[k] = inner[k] and inner[parent[k]]
    return best


@kernel
def _worth(row, gain, cost):
    total = 0
    value = 0.0
    for s in range(row.size):
        if row[s] > 0:
            total += row[s]
            value += gain[row[s]]
    return value - cost[total]


@kernel
def _find(into, i):
    # Without shortcuts, which could not be undone.
    while into[i] != i:
        i = into[i]
    return i


@kernel
def _merge(targets, counts, total, worth, into, i, j, gain, cost, floor, limit, stack, log, old, led):
    """Merge states i and j, and all that determinism then demands, until the sum of gains or a single one is too low.

    What is done is kept in log, old and led, for `_undo`. Returns the gain (-inf where given up), mergers, new targets.
    """
    height = 1
    stack[0, 0], stack[0, 1] = i, j
    gained = 0.0
    mergers, new = 0, 0
    while height > 0:
        height -= 1
        a, b = _find(into, stack[height, 0]), _find(into, stack[height, 1])
        if a == b:
            continue
        if total[b] > total[a] or (total[b] == total[a] and b < a):
            a, b = b, a
        into[b] = a
        log[mergers, 0], log[mergers, 1] = a, b
        old[mergers] = worth[a]
        mergers += 1
        value = -cost[total[a] + total[b]]
        for s in range(targets.shape[1]):
            counts[a, s] += counts[b, s]
            if counts[a, s] > 0:
                value += gain[counts[a, s]]
            if targets[b, s] >= 0:
                if targets[a, s] < 0:
                    targets[a, s] = targets[b, s]
                    led[new, 0], led[new, 1] = a, s
                    new += 1
                else:
                    stack[height, 0], stack[height, 1] = targets[a, s], targets[b, s]
                    height += 1
        more = value - worth[a] - worth[b]
        gained += more
        total[a] += total[b]
        worth[a] = value
        if gained < floor or more < limit:
            return -np.inf, mergers, new
    return gained, mergers, new


@kernel
def _undo(targets, counts, total, worth, into, mergers, new, log, old, led):
    for k in range(new):
        targets[led[k, 0], led[k, 1]] = -1
    for k in range(mergers - 1, -1, -1):
        a, b = log[k, 0], log[k, 1]
        into[b] = b
        total[a] -= total[b]
        worth[a] = old[k]
        for s in range(targets.shape[1]):
            counts[a, s] -= counts[b, s]


@kernel
def _scratch(targets, counts, gain, cost):
    n, symbols = targets.shape
    total, worth = np.empty(n, np.int64), np.empty(n)
    for k in range(n):
        total[k] = counts[k].sum()
        worth[k] = _worth(counts[k], gain, cost)
    stack, led = np.empty((n * symbols + 1, 2), np.int32), np.empty((n * symbols + 1, 2), np.int32)
    return total, worth, stack, np.empty((n + 1, 2), np.int32), np.empty(n + 1), led


@kernel
def _next_blue(targets, total, into, red, n_red, is_red):
    """The most used successor of the red states, -1 = all are red; the first among equals."""
    blue, most = -1, -1
    for r in range(n_red):
        for s in range(targets.shape[1]):
            if targets[red[r], s] >= 0:
                k = _find(into, targets[red[r], s])
                if not is_red[k] and total[k] > most:
                    blue, most = k, total[k]
    return blue


@kernel
def _partner(targets, counts, total, worth, into, blue, red, n_red, gain, cost, floor, limit, left, scratch):
    """The red state that gains most when it is merged with the blue one, -1 = none; the gain, the operations left."""
    stack, log, old, led = scratch
    # Less is rounding.
    best, to = 1e-9, -1
    symbols = targets.shape[1]
    for r in range(n_red):
        a = red[r]
        alone = -cost[total[a] + total[blue]] - worth[a] - worth[blue]
        for s in range(symbols):
            c = counts[a, s] + counts[blue, s]
            if c > 0:
                alone += gain[c]
        left -= symbols
        if alone < limit:
            continue
        gained, mergers, new = _merge(
            targets, counts, total, worth, into, a, blue, gain, cost, floor, limit, stack, log, old, led
        )
        _undo(targets, counts, total, worth, into, mergers, new, log, old, led)
        left -= 3 * mergers * symbols
        if gained > best:
            best, to = gained, a
    return to, left


@kernel
def _behind(into, suffix, is_red, blue, red):
    """The red state of the longest suffix of a context, the first red one where there is none."""
    k = suffix[blue]
    while k >= 0:
        if is_red[_find(into, k)]:
            return _find(into, k)
        k = suffix[k]
    return red[0]


@kernel
def fold(targets, counts, suffix, gain, cost, start, floor, limit, budget, into):
    """Red-blue merging from a start state: into[k] = the state that k was merged with. Changes targets and counts.

    The most used successor of the red states joins the red one with which it gains most, if the sum of all that follows
    is positive and no single merger in it loses more than -limit bits; else it turns red. When `budget` operations
    (cells of rows) are spent, contexts join the red state of their suffix, as if they had not been grown. Returns the
    operations left.
    """
    n = targets.shape[0]
    total, worth, stack, log, old, led = _scratch(targets, counts, gain, cost)
    red, is_red = np.empty(n, np.int64), np.zeros(n, np.bool_)
    red[0], is_red[start], n_red = start, True, 1
    for k in range(n):
        into[k] = k
    left = budget
    while True:
        blue = _next_blue(targets, total, into, red, n_red, is_red)
        left -= n_red * targets.shape[1]
        if blue < 0:
            break
        if left > 0:
            scratch = stack, log, old, led
            to, left = _partner(
                targets, counts, total, worth, into, blue, red, n_red, gain, cost, floor, limit, left, scratch
            )
        else:
            to = _behind(into, suffix, is_red, blue, red)
        if to < 0:
            red[n_red], is_red[blue] = blue, True
            n_red += 1
            continue
        _merge(targets, counts, total, worth, into, to, blue, gain, cost, -np.inf, -np.inf, stack, log, old, led)
        # Red states may have been merged too.
        kept = 0
        for r in range(n_red):
            is_red[red[r]] = False
        for r in range(n_red):
            a = _find(into, red[r])
            if not is_red[a]:
                red[kept], is_red[a] = a, True
                kept += 1
        n_red = kept
    for k in range(n):
        into[k] = _find(into, k)
    return left


@kernel
def sweep(targets, counts, gain, cost, floor, limit, budget, into):
    """Merge each state with its best partner where that gains, the rarest state first; changes targets and counts.

    Returns the number of mergers and the operations left.
    """
    n, symbols = targets.shape
    total, worth, stack, log, old, led = _scratch(targets, counts, gain, cost)
    order = np.argsort(total, kind="mergesort")
    for k in range(n):
        into[k] = k
    found, left = 0, budget
    for i in order:
        if into[i] != i:
            continue
        best, to = 1e-6, -1
        for j in range(n):
            if into[j] != j or j == i or left < 0:
                continue
            gained, mergers, new = _merge(
                targets, counts, total, worth, into, i, j, gain, cost, floor, limit, stack, log, old, led
            )
            _undo(targets, counts, total, worth, into, mergers, new, log, old, led)
            left -= 3 * mergers * symbols
            if gained > best:
                best, to = gained, j
        if to >= 0:
            _merge(targets, counts, total, worth, into, i, to, gain, cost, -np.inf, -np.inf, stack, log, old, led)
            found += 1
    for k in range(n):
        into[k] = _find(into, k)
    return found, left


@kernel
def follow_edges(raw, lut, bounds, states, targets, logs, number, most, ahead, gains, uses):
    """gains[e, u]: bits by which what followed edge e is likelier if it had led to state u; uses[e] times looked at.

    states (n,) before each symbol, -1 = unknown. number (n_states, n_symbols) of the edges that are asked for, -1 =
    not; each at most `most` times, with the `ahead` symbols that followed. All edges must lead somewhere. A path is
    followed until it meets the one that was taken. Returns the number of steps made.
    """
    n = targets.shape[0]
    taken, steps = np.empty(ahead, np.int64), 0
    for q in range(bounds.size - 1):
        for i in range(bounds[q] + 1, bounds[q + 1]):
            before = lut[raw[i - 1]]
            if states[i - 1] < 0 or before < 0 or lut[raw[i]] < 0:
                continue
            e = number[states[i - 1], before]
            if e < 0 or uses[e] >= most:
                continue
            uses[e] += 1
            end = min(bounds[q + 1], i + ahead)
            at = targets[states[i - 1], before]
            for j in range(i, end):
                if lut[raw[j]] < 0:
                    end = j
                    break
                taken[j - i] = at
                at = targets[at, lut[raw[j]]]
            for u in range(n):
                at, j = u, i
                while j < end and at != taken[j - i]:
                    s = lut[raw[j]]
                    gains[e, u] += logs[at, s] - logs[taken[j - i], s]
                    at = targets[at, s]
                    j += 1
                steps += j - i + 1
    return steps
