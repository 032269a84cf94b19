"""Words of a symbol series: their codes, their counts, and what their endings share.

A word of `width` symbols is coded with its most recent symbol as the most significant digit, so codes
sort by their endings and all the words with a given suffix are a range. Series are scanned backwards:
that gives this order with one multiplication per symbol and no division.
"""

import numpy as np

from . import kernel


@kernel
def _warm_up(raw, lut, first, last, width, base):
    """Scan back from `last` (exclusive) to the first complete word: (its start, its code), or (-1, 0)."""
    code = 0
    run = 0
    i = last - 1
    while i >= first:
        s = lut[raw[i]]
        if s < 0:
            code = 0
            run = 0
        else:
            code = code * base + s
            run += 1
            if run == width:
                return i, code
        i -= 1
    return -1, 0


@kernel
def scan_words(raw, lut, bounds, begin, end, width, base, top, table, codes, ends):
    """The words that end at positions begin..end-1, none across a bound or a missing symbol (lut < 0).

    Adds them to table[code], and fills codes and ends (last positions) from their back, in order, where these are not
    None; returns the place of the first one there. top = base ** (width - 1).
    """
    n = 0
    if codes is not None:
        n = codes.size
    q = np.searchsorted(bounds, end - 1, side="right") - 1
    while q >= 0 and bounds[q + 1] > begin:
        first = max(bounds[q], begin - width + 1)
        last = min(bounds[q + 1], end)
        while last - first >= width:
            i, code = _warm_up(raw, lut, first, last, width, base)
            if i < 0:
                break
            while True:
                if table is not None:
                    table[code] += 1
                if codes is not None:
                    n -= 1
                    codes[n] = code
                    ends[n] = i + width - 1
                i -= 1
                if i < first:
                    break
                s = lut[raw[i]]
                if s < 0:
                    break
                code = (code - lut[raw[i + width]] * top) * base + s
            last = i
        q -= 1
    return n


@kernel
def gather_words(raw, lut, ends, words):
    """words[i, k] = the symbol k steps before position ends[i]."""
    for i in range(ends.size):
        for k in range(words.shape[1]):
            words[i, k] = lut[raw[ends[i] - k]]


@kernel
def common_symbols(raw, lut, ends, width, shared):
    """shared[i] = length of the common ending, below `width`, of the words at ends[i] and ends[i - 1]."""
    for i in range(1, ends.size):
        k = 0
        while k < width and lut[raw[ends[i] - k]] == lut[raw[ends[i - 1] - k]]:
            k += 1
        shared[i] = k


@kernel
def _attach(child, node, parent, total):
    parent[child] = node
    total[node] += total[child]


@kernel
def suffix_tree(shared, weight, width, first, stop, depth, parent, total):
    """Tree of the branching suffixes of words sorted by their endings.

    Nodes 0..n-1 are the words, node n is the empty suffix, the others are common suffixes; node i covers
    the words first[i]..stop[i]-1, is depth[i] symbols long and was seen total[i] times. The arrays have
    room for 2 n nodes and total starts at zero. Returns the number of nodes.
    """
    n = shared.size
    stack = np.empty(n + 1, np.int64)
    stack[0] = n
    top = 0
    first[n] = 0
    stop[n] = n
    depth[n] = 0
    parent[n] = -1
    size = n + 1
    for i in range(n):
        first[i] = i
        stop[i] = i + 1
        depth[i] = width
        total[i] = weight[i]
        node = i
        d = shared[i + 1] if i + 1 < n else 0
        while top > 0 and depth[stack[top]] > d:
            _attach(node, stack[top], parent, total)
            node = stack[top]
            stop[node] = i + 1
            top -= 1
        if depth[stack[top]] < d:
            first[size] = first[node]
            depth[size] = d
            top += 1
            stack[top] = size
            size += 1
        _attach(node, stack[top], parent, total)
    return size


@kernel
def longest_suffix(words, contexts, low, high, length):
    """For each word, the range of rows of `contexts` that share its longest ending.

    Both hold symbol codes, most recent first; the rows of `contexts` are sorted, a context shorter than
    the row is padded with -1. A context that is wholly an ending of the word stands first in its range.
    """
    for i in range(words.shape[0]):
        lo = 0
        hi = contexts.shape[0]
        k = 0
        while k < words.shape[1]:
            s = words[i, k]
            a = lo
            b = hi
            while a < b:
                m = (a + b) // 2
                if contexts[m, k] < s:
                    a = m + 1
                else:
                    b = m
            start = a
            b = hi
            while a < b:
                m = (a + b) // 2
                if contexts[m, k] <= s:
                    a = m + 1
                else:
                    b = m
            if start == a:
                break
            lo = start
            hi = a
            k += 1
        low[i] = lo
        high[i] = hi
        length[i] = k


@kernel
def mark_values(raw, seen):
    """seen[v] = 1 for every value v of raw."""
    for i in range(raw.size):
        seen[raw[i]] = 1


@kernel
def back_off(total, parent, least, node):
    """node[i] = the lowest ancestor of word i, or itself, that was seen at least `least` times."""
    for i in range(node.size):
        k = i
        while total[k] < least and parent[k] >= 0:
            k = parent[k]
        node[i] = k


@kernel
def sum_ranges(first, stop, start, outcome, count, n_outcomes, range_start, range_outcome, range_count):
    """Compressed sums of the rows first[i]..stop[i]-1 of a compressed table.

    Fills range_start (n + 1); also the outcomes and counts if there is room for any.
    """
    dense = np.zeros(n_outcomes, np.int64)
    met = np.empty(n_outcomes, np.int64)
    m = 0
    for i in range(first.size):
        range_start[i] = m
        n = 0
        for j in range(start[first[i]], start[stop[i]]):
            if dense[outcome[j]] == 0:
                met[n] = outcome[j]
                n += 1
            dense[outcome[j]] += count[j]
        if stop[i] - first[i] > 1:
            met[:n].sort()
        for z in met[:n]:
            if range_outcome.size > 0:
                range_outcome[m] = z
                range_count[m] = dense[z]
            m += 1
            dense[z] = 0
    range_start[first.size] = m
