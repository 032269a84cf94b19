"""Cells of space-time cones as numbers, and the distinct numbers among many: exact for cones of any size.

Grids have four axes, time and three of space; axes that the data lack have length one.
"""

import numpy as np

from . import kernel
from .words import hash_key

__all__ = [
    "add_sorted",
    "code_cells",
    "insert_keys",
    "mark_touched",
    "merge_rows",
    "number_keys",
    "number_sorted",
    "pad_cells",
    "renumber_pairs",
    "sign_slices",
    "sort_digit",
    "tally",
    "tally_pairs",
    "translate",
]


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
def mark_touched(missing, offsets, touched):
    """touched |= missing at any of the offsets."""
    width = touched.shape[3]
    for t in range(touched.shape[0]):
        for a in range(touched.shape[1]):
            for b in range(touched.shape[2]):
                out = touched[t, a, b]
                for k in range(offsets.shape[0]):
                    first = offsets[k, 3]
                    row = missing[t + offsets[k, 0], a + offsets[k, 1], b + offsets[k, 2], first : first + width]
                    for w in range(width):
                        out[w] |= row[w]


@kernel
def translate(codes, lut, out):
    """out[i] = lut[codes[i]]; out may be codes itself."""
    for i in range(codes.size):
        out[i] = lut[codes[i]]


@kernel
def insert_keys(keys, slots):
    """Enter distinct keys into a hash table of (key, number) slots, number -1 = free."""
    mask = slots.shape[0] - 1
    for i in range(keys.size):
        h = hash_key(keys[i], mask)
        while slots[h, 1] >= 0:
            h = (h + 1) & mask
        slots[h, 0] = keys[i]
        slots[h, 1] = i


@kernel
def number_keys(keys, begin, slots, distinct, n, out):
    """Number keys[begin:] in order of appearance, n of them being known; (keys done, distinct keys).

    Stops early when the table is half full, or `distinct` is.
    """
    mask = slots.shape[0] - 1
    last = np.int64(-1)
    number = np.int64(0)
    for i in range(begin, keys.size):
        key = np.int64(keys[i])
        if key != last:
            h = hash_key(key, mask)
            while slots[h, 1] >= 0 and slots[h, 0] != key:
                h = (h + 1) & mask
            if slots[h, 1] < 0:
                if 2 * n > mask or n == distinct.size:
                    return i, n
                slots[h, 0] = key
                slots[h, 1] = n
                distinct[n] = key
                n += 1
            last = key
            number = slots[h, 1]
        out[i] = number
    return keys.size, n


@kernel
def sort_digit(keys, places, shift, room, next_keys, next_places):
    """One stable pass of a radix sort by the bits shift..shift+7; room has 256 zeros.

    Returns False, and does nothing, if all keys agree in these bits.
    """
    for i in range(keys.size):
        room[(keys[i] >> shift) & 255] += 1
    if room[(keys[0] >> shift) & 255] == keys.size:
        return False
    total = 0
    for d in range(256):
        n = room[d]
        room[d] = total
        total += n
    for i in range(keys.size):
        d = (keys[i] >> shift) & 255
        next_keys[room[d]] = keys[i]
        next_places[room[d]] = places[i]
        room[d] += 1
    return True


@kernel
def number_sorted(keys, places, out):
    """Number sorted keys: out[places[i]] = number of keys[i]; keys[:n] become the distinct ones; returns n."""
    n = 0
    last = keys[0]
    for i in range(keys.size):
        if keys[i] != last:
            last = keys[i]
            n += 1
            keys[n] = last
        out[places[i]] = n
    return n + 1


@kernel
def tally(numbers, counts):
    """counts[number] += 1."""
    for i in range(numbers.size):
        counts[numbers[i]] += 1


@kernel
def tally_pairs(first, second, n_second, counts):
    """counts[first * n_second + second] += 1, where both are numbers (-1 = none)."""
    for i in range(first.size):
        if first[i] >= 0 and second[i] >= 0:
            counts[first[i] * n_second + second[i]] += 1


@kernel
def renumber_pairs(pairs, first, second, n_second, out):
    """out = first[a] * n_second + second[b] for pairs a * second.size + b; it may be pairs itself."""
    for i in range(pairs.size):
        a = pairs[i] // second.size
        out[i] = first[a] * n_second + second[pairs[i] - a * second.size]


@kernel
def merge_rows(a, b, merged, place_a, place_b):
    """Union of two lists of distinct rows in lexicographic order, and where each row went; returns its size."""
    i = 0
    j = 0
    n = 0
    while i < a.shape[0] or j < b.shape[0]:
        order = 0
        if i == a.shape[0]:
            order = 1
        elif j == b.shape[0]:
            order = -1
        else:
            for k in range(a.shape[1]):
                if a[i, k] != b[j, k]:
                    order = -1 if a[i, k] < b[j, k] else 1
                    break
        source = b[j] if order > 0 else a[i]
        for k in range(a.shape[1]):
            merged[n, k] = source[k]
        if order <= 0:
            place_a[i] = n
            i += 1
        if order >= 0:
            place_b[j] = n
            j += 1
        n += 1
    return n


@kernel
def add_sorted(a, a_counts, b, b_counts, keys, counts):
    """Union of two increasing lists of keys, their counts added up; returns its size."""
    i = 0
    j = 0
    n = 0
    while i < a.size or j < b.size:
        from_a = j == b.size or (i < a.size and a[i] <= b[j])
        key = a[i] if from_a else b[j]
        total = 0
        if from_a:
            total += a_counts[i]
            i += 1
        if j < b.size and b[j] == key:
            total += b_counts[j]
            j += 1
        keys[n] = key
        counts[n] = total
        n += 1
    return n


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
