"""Cellular automata on rings and tori: the first row of each field is given, the others are filled in."""

import numpy as np

from . import kernel


@kernel
def run_table(field, table, colours, radius):
    """Rows of a one-dimensional automaton; table[code] of the cells -radius..radius, leftmost most significant."""
    width = field.shape[1]
    top = table.size // colours
    for t in range(1, field.shape[0]):
        row = field[t - 1]
        code = np.int64(0)
        for i in range(-radius, radius):
            code = code * colours + row[i % width]
        for i in range(width):
            code = (code % top) * colours + row[(i + radius) % width]
            field[t, i] = table[code]


@kernel
def run_cyclic(field, colours, threshold, offsets):
    """A cell takes the next colour where at least `threshold` of the cells at `offsets` (n, 2) have it."""
    height, width = field.shape[1], field.shape[2]
    for t in range(1, field.shape[0]):
        for a in range(height):
            for b in range(width):
                after = (np.int64(field[t - 1, a, b]) + 1) % colours
                n = 0
                for k in range(offsets.shape[0]):
                    n += field[t - 1, (a + offsets[k, 0]) % height, (b + offsets[k, 1]) % width] == after
                field[t, a, b] = after if n >= threshold else field[t - 1, a, b]


@kernel
def run_life(field):
    """Conway's rule: a cell is alive with three neighbours alive, or with two if it was."""
    height, width = field.shape[1], field.shape[2]
    sums = np.empty(width, np.int64)
    for t in range(1, field.shape[0]):
        for a in range(height):
            above, row, below = field[t - 1, a - 1], field[t - 1, a], field[t - 1, (a + 1) % height]
            for b in range(width):
                sums[b] = np.int64(above[b]) + row[b] + below[b]
            for b in range(width):
                n = sums[b - 1] + sums[b] + sums[(b + 1) % width] - row[b]
                field[t, a, b] = n == 3 or (n == 2 and row[b] == 1)
