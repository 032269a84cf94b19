"""Vectors of numbers as codes: the number of the nearest of some centres.

Sums are in a fixed order, in double precision. What is smallest is half the squared length of a centre less its product
with the vector: the same centre as by distance, with half the work.
"""

import math

import numpy as np

from . import kernel

# Vectors that are compared with a centre at once: they stay in the cache.
SIDE = 64


@kernel
def _half_squares(centres):
    """(k,) half the squared lengths of centres (k, d)."""
    half = np.zeros(centres.shape[0])
    for j in range(half.size):
        for value in centres[j]:
            half[j] += 0.5 * value * value
    return half


@kernel
def _nearest(seen, n, centres, half, score, least, best):
    """best[w] = the centre nearest to seen[:, w], for the first n of them; the first one of equals."""
    least[:n] = math.inf
    for j in range(centres.shape[0]):
        score[:n] = half[j]
        for k in range(centres.shape[1]):
            weight, row = centres[j, k], seen[k]
            for w in range(n):
                score[w] -= weight * row[w]
        for w in range(n):
            if score[w] < least[w]:
                least[w] = score[w]
                best[w] = j


@kernel
def code_vectors(points, centres, codes):
    """codes[i] = the centre (k, d) that is nearest to points[i] (d,)."""
    half, seen = _half_squares(centres), np.empty((points.shape[1], SIDE))
    score, least, best = np.empty(SIDE), np.empty(SIDE), np.zeros(SIDE, np.int64)
    for first in range(0, points.shape[0], SIDE):
        n = min(SIDE, points.shape[0] - first)
        for w in range(n):
            seen[:, w] = points[first + w]
        _nearest(seen, n, centres, half, score, least, best)
        codes[first : first + n] = best[:n]


@kernel
def code_cones(cells, offsets, shift, scale, filters, centres, codes):
    """codes = those of the cells at `offsets` (d, 4) from each place, less `shift` (d,), times `scale` (d,).

    Where there are filters (d, r), it is those of the r sums of the products with them. offsets >= 0 count from the
    corner of `cells`; inner loops run over adjacent cells of a row.
    """
    d, r = offsets.shape[0], filters.shape[1]
    half, seen, value = _half_squares(centres), np.empty((r if r else d, SIDE)), np.empty(SIDE)
    score, least, best = np.empty(SIDE), np.empty(SIDE), np.zeros(SIDE, np.int64)
    for t in range(codes.shape[0]):
        for a in range(codes.shape[1]):
            for b in range(codes.shape[2]):
                for first in range(0, codes.shape[3], SIDE):
                    n = min(SIDE, codes.shape[3] - first)
                    if r:
                        seen[:] = 0.0
                    for k in range(d):
                        row = cells[t + offsets[k, 0], a + offsets[k, 1], b + offsets[k, 2], first + offsets[k, 3] :]
                        for w in range(n):
                            value[w] = (row[w] - shift[k]) * scale[k]
                        if r:
                            for j in range(r):
                                out, weight = seen[j], filters[k, j]
                                for w in range(n):
                                    out[w] += value[w] * weight
                        else:
                            seen[k] = value
                    _nearest(seen, n, centres, half, score, least, best)
                    for w in range(n):
                        codes[t, a, b, first + w] = best[w]


@kernel
def widest_axis(points, rounds, axis):
    """The mean of points (n, d), returned, and the axis (d,) along which they spread most, by the power method.

    It begins at the point that is furthest away, which does not depend on the order of points and of columns.
    """
    n, d = points.shape
    mean, spread = np.zeros(d), np.zeros(d)
    for i in range(n):
        for k in range(d):
            mean[k] += points[i, k]
    mean /= n
    furthest = 0.0
    axis[:] = 0.0
    for i in range(n):
        apart = 0.0
        for k in range(d):
            apart += (points[i, k] - mean[k]) ** 2
        if apart > furthest:
            furthest = apart
            axis[:] = (points[i] - mean) / math.sqrt(apart)
    for _ in range(rounds):
        spread[:] = 0.0
        for i in range(n):
            along = 0.0
            for k in range(d):
                along += (points[i, k] - mean[k]) * axis[k]
            for k in range(d):
                spread[k] += along * (points[i, k] - mean[k])
        length = math.sqrt((spread * spread).sum())
        if length == 0.0:
            break
        axis[:] = spread / length
    return mean


@kernel
def add_means(points, label, centres):
    """centres (k, d) = the means of the points (n, d) of each label; one without points stays as it was."""
    size, total = np.zeros(centres.shape[0]), np.zeros(centres.shape)
    for i in range(points.shape[0]):
        size[label[i]] += 1.0
        for k in range(points.shape[1]):
            total[label[i], k] += points[i, k]
    for j in range(size.size):
        if size[j] > 0.0:
            centres[j] = total[j] / size[j]


@kernel
def fill_vectors(cells, offsets, places, vectors):
    """vectors[i, k] = the cell at offsets[k] (d, 4) from places[i] (n, 4)."""
    for i in range(places.shape[0]):
        t, a, b, w = places[i]
        for k in range(offsets.shape[0]):
            vectors[i, k] = cells[t + offsets[k, 0], a + offsets[k, 1], b + offsets[k, 2], w + offsets[k, 3]]
