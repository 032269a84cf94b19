"""Trees of the prefixes of strings."""

import heapq

import numpy as np

from . import kernel


@kernel
def grow_prefixes(codes, starts, symbols, end, most, targets, counts):
    """Grow the tree of prefixes, the one that most strings begin with first; returns the number of nodes.

    codes (n,) of all strings one after the other, each closed by the symbol `end`; starts (n_strings,) where each
    begins. What follows a missing symbol, -1, is in no prefix. targets and counts (most, symbols) receive the node that
    each symbol leads to, -1 = none, the root (0) for the end, and how many strings have it there. Nodes are numbered in
    the order of their growth, parents first.
    Cost: O(symbols of the strings within the tree), and a heap of at most as many nodes as there are.
    """
    n = starts.size
    order, work = np.arange(n), np.empty(n, np.int64)
    heap = [(-n, 0, n, 0, -1, 0)]
    bucket = np.empty(symbols + 1, np.int64)
    size = 0
    while len(heap) > 0 and size < most:
        _, low, high, depth, parent, symbol = heapq.heappop(heap)
        targets[size] = -1
        counts[size] = 0
        if parent >= 0:
            targets[parent, symbol] = size
        for e in range(low, high):
            s = codes[starts[order[e]] + depth]
            if s >= 0:
                counts[size, s] += 1
        if counts[size, end] > 0:
            targets[size, end] = 0
        bucket[0] = low
        for s in range(symbols):
            bucket[s + 1] = bucket[s] + counts[size, s]
        # Strings that are not known any further come last.
        at = bucket.copy()
        for e in range(low, high):
            s = codes[starts[order[e]] + depth]
            work[at[s] - low] = order[e]
            at[s] += 1
        for e in range(low, high):
            order[e] = work[e - low]
        for s in range(symbols):
            if s != end and counts[size, s] > 0:
                heapq.heappush(heap, (-counts[size, s], bucket[s], bucket[s + 1], depth + 1, size, s))
        size += 1
    return size


@kernel
def longest_suffixes(targets, end, suffix):
    """suffix[k] = the longest other node whose prefix ends that of node k, -1 for the root (Aho and Corasick 1975).

    targets is a tree whose parents come first. Cost: O(n_nodes n_symbols), and the length of the prefixes.
    """
    n, symbols = targets.shape
    queue = np.empty(n, np.int64)
    queue[0] = 0
    suffix[0] = -1
    first, last = 0, 1
    while first < last:
        k = queue[first]
        first += 1
        for s in range(symbols):
            child = targets[k, s]
            if s == end or child < 0:
                continue
            queue[last] = child
            last += 1
            at = suffix[k]
            while at >= 0 and targets[at, s] < 0:
                at = suffix[at]
            suffix[child] = targets[at, s] if at >= 0 else 0
