"""Occurrences of the same cone whose futures share cells.

Grids have four axes, time and three of space, as in `cone_cells`.
"""

import numpy as np

from . import kernel


@kernel
def _add_same(own, other, near):
    """near[w] += 1 where both are the same: a loop that compilers turn into vector instructions."""
    for w in range(near.size):
        near[w] += own[w] == other[w]


@kernel
def add_shares(labels, first, stop, steps, ring, shares, total):
    """total[label] += shares[k] at each place of the rows first..stop-1, k places of the same label being near it.

    It counts as one of them; the others are at `steps` (n, 4) from it, around the ring or torus if space is one. A
    label below 0 is none.
    """
    rows, depth, height, width = labels.shape
    near = np.empty(width, labels.dtype)
    for t in range(first, stop):
        for a in range(depth):
            for b in range(height):
                own = labels[t, a, b]
                near[:] = 1
                for k in range(steps.shape[0]):
                    row = t + steps[k, 0]
                    a_other, b_other, shift = a + steps[k, 1], b + steps[k, 2], steps[k, 3]
                    if ring:
                        a_other, b_other, shift = a_other % depth, b_other % height, shift % width
                    if not (0 <= row < rows and 0 <= a_other < depth and 0 <= b_other < height):
                        continue
                    other = labels[row, a_other, b_other]
                    low, high = max(0, -shift), max(min(width, width - shift), 0)
                    _add_same(own[low:high], other[low + shift : high + shift], near[low:high])
                    if ring:
                        _add_same(own[high:], other[:shift], near[high:])
                for w in range(width):
                    if own[w] >= 0:
                        total[own[w]] += shares[near[w]]


@kernel
def part_regions(z, region, n, apart):
    """apart[t, p] = a number for the outcome and the region at place p; -1 where there is no outcome."""
    for t in range(z.shape[0]):
        for p in range(z.shape[1]):
            apart[t, p] = z[t, p] * n + region[p] if z[t, p] >= 0 else -1
