"""Cells of space-time cones as numbers.

Grids have four axes, time and three of space; axes that the data lack have length one.
"""

from . import kernel


@kernel
def pad_cells(raw, lut, a_index, b_index, w_index, cells):
    """cells[t, a, b, w] = lut of the raw value at (t, a_index[a], b_index[b], w_index[w])."""
    for t in range(cells.shape[0]):
        for a in range(cells.shape[1]):
            for b in range(cells.shape[2]):
                row = raw[t, a_index[a], b_index[b]]
                out = cells[t, a, b]
                for w in range(out.size):
                    out[w] = lut[row[w_index[w]]]


@kernel
def code_cells(cells, offsets, base, codes):
    """Numbers in the given base whose digits are the cells at `offsets` (n, 4), the first most significant.

    offsets >= 0 count from the corner of `cells`; the inner loop runs over adjacent cells of a row that is in
    cache, which compilers turn into vector instructions.
    """
    width = codes.shape[3]
    for t in range(codes.shape[0]):
        for a in range(codes.shape[1]):
            for b in range(codes.shape[2]):
                out = codes[t, a, b]
                out[:] = 0
                for k in range(offsets.shape[0]):
                    first = offsets[k, 3]
                    row = cells[t + offsets[k, 0], a + offsets[k, 1], b + offsets[k, 2], first : first + width]
                    for w in range(width):
                        out[w] = out[w] * base + row[w]


@kernel
def sign_slices(cells, window, signature):
    """A number for each time that only depends on the cells up to a translation along the last axis.

    It is the sum over all runs of `window` adjacent cells (around the ring) of a hash of the run, the product of two
    rolling codes; no number leaves 63 bits.
    """
    one, other = 2147483647, 2147483629
    top_one, top_other = 1, 1
    for _ in range(window):
        top_one, top_other = top_one * 48271 % one, top_other * 69621 % other
    width = cells.shape[3]
    for t in range(cells.shape[0]):
        total = 0
        for a in range(cells.shape[1]):
            for b in range(cells.shape[2]):
                row = cells[t, a, b]
                code_one, code_other = 0, 0
                for w in range(window):
                    cell = int(row[w % width]) + 1
                    code_one, code_other = (code_one * 48271 + cell) % one, (code_other * 69621 + cell) % other
                for w in range(width):
                    total = (total + code_one * code_other) & 0x3FFFFFFFFFFFFFFF
                    ahead = w + window
                    ahead -= width if ahead >= width else 0
                    left, cell = int(row[w]) + 1, int(row[ahead]) + 1
                    code_one = (code_one * 48271 + cell + (one - left) * top_one) % one
                    code_other = (code_other * 69621 + cell + (other - left) * top_other) % other
        signature[t] = total
