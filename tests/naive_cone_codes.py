"""Codes of cones of numbers with lists and loops: the oracle of `coding` and `cone_coder`."""

from __future__ import annotations

import math

from naive_cones import look


def nearest(point, centres):
    """Return the number of the nearest centre, the first one of equals."""
    apart = [sum((a - b) ** 2 for a, b in zip(point, centre, strict=True)) for centre in centres]
    return apart.index(min(apart))


def seen(vector, shift, scale, filters):
    """Return what is coded of a vector: itself, less a shift and by a scale, or its products with filters."""
    values = [(v - s) * c for v, s, c in zip(vector, shift, scale, strict=True)]
    if not len(filters[0]):
        return values
    return [sum(v * row[j] for v, row in zip(values, filters, strict=True)) for j in range(len(filters[0]))]


def cone_vector(fields, cell, offsets, boundary):
    """Return the cells at offsets from one, of each variable; None if one of them is missing or beyond the edges."""
    cells = [tuple(a + b for a, b in zip(cell, offset, strict=True)) for offset in offsets]
    vector = [look(field, other, boundary) for field in fields for other in cells]
    return None if None in vector else vector


def held_out_bits(label, z, new_label, new_z):
    """Return the mean of log2 p(z | label) / p(z), by counts and one more observation of each label, as all are."""
    kinds = max([*z, *new_z]) + 1
    total = len(z) + 0.5 * kinds
    share = [(z.count(k) + 0.5) / total for k in range(kinds)]
    bits = 0.0
    for own, outcome in zip(new_label, new_z, strict=True):
        same = [k for state, k in zip(label, z, strict=True) if state == own]
        p = (same.count(outcome) + share[outcome]) / (len(same) + 1)
        bits += math.log2(p / share[outcome])
    return bits / len(new_z)


def gradient_products(x, w, b, linear, bent):
    """Return the sum over rows of x of G G', G = linear + sum over the features above 0 of w_m bent_m'."""
    d, k = len(linear), len(linear[0])
    total = [[0.0] * d for _ in range(d)]
    for row in x:
        gradient = [list(line) for line in linear]
        for m in range(len(b)):
            if sum(row[i] * w[i][m] for i in range(d)) + b[m] > 0.0:
                for i in range(d):
                    for j in range(k):
                        gradient[i][j] += w[i][m] * bent[m][j]
        for i in range(d):
            for j in range(d):
                total[i][j] += sum(p * q for p, q in zip(gradient[i], gradient[j], strict=True))
    return total
