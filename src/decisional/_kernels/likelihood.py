"""Likelihood of each z given its x and the other observations, by kernels of x and z, and its slope in their widths."""

import math

import numpy as np

from . import kernel

# Sums are kept in so many parts, which the compiler turns into vector code: answering observations come in such groups.
LANES = 8
# Squared distances beyond this have no weight worth the name; products of two such weights are still normal floats,
# while processors take many times as long for smaller ones.
FARTHEST = 400.0
# 2^g for |g| <= 1/2, to 1e-11; a number that rounds what is added to it to integers; the exponent of a float.
P1, P2, P3, P4, P5, P6, P7, P8 = (math.log(2.0) ** k / math.factorial(k) for k in range(1, 9))
HALF_BITS = 0.5 / math.log(2.0)
MAGIC = 1.5 * 2.0**52
MAGIC_BITS = int(np.array(MAGIC).view(np.int64))
BIAS, MANTISSA = 1023, 52


@kernel
def exponentials(square, raised, bits, out):
    """out = exp(-square / 2); `raised` is there to be worked in, and `bits` is it, read as integers."""
    for j in range(square.size):
        power = min(square[j], FARTHEST) * HALF_BITS
        raised[j] = power + MAGIC
        g = (raised[j] - MAGIC) - power
        out[j] = 1.0 + g * (P1 + g * (P2 + g * (P3 + g * (P4 + g * (P5 + g * (P6 + g * (P7 + g * P8)))))))
    for j in range(square.size):
        bits[j] = (BIAS - (bits[j] - MAGIC_BITS)) << MANTISSA
    for j in range(square.size):
        out[j] *= raised[j]


@kernel
def leave_one_out(a, b, own, z_square, z_width, dim, blind, ignorance, floor, p, slope, z_slope):
    """For each asked observation its likelihood p, and how log(p + floor) follows the logarithms of the widths.

    p = (sum of w k + blind ignorance mean of k) / (sum of w + blind), over all answering ones but the asked one itself:
    w are kernels of x, k those of z.

    Parameters
    ----------
    a, b : (n, d), (d, m) configurations asked and answering, in widths; m is a multiple of LANES
    own : (n,) the answering one that is the asked one itself, -1 = none
    z_square : (n, m) squared distances of their z in scales; inf = another kind, or nobody
    z_width, dim : width of z in scales, and its dimensions; 0 dimensions: z are equal or not
    blind, ignorance : weight of what is known without x, and what it is worth
    p, z_slope : (n,) filled in
    slope : (n, d) filled in, or (n, 1): their sum; (n, 0): not wanted
    """
    d, m = b.shape
    weight, near, square, scaled, raised = np.empty(m), np.empty(m), np.empty(m), np.empty(m), np.empty(m)
    bits = raised.view(np.int64)
    parts = np.empty((5, LANES))
    norm = (math.sqrt(2.0 * math.pi) * z_width) ** dim
    narrow = 1.0 / z_width**2 if dim else 1.0
    for i in range(a.shape[0]):
        square[:] = 0.0
        for k in range(d):
            for j in range(m):
                step = a[i, k] - b[k, j]
                square[j] += step * step
        exponentials(square, raised, bits, weight)
        others = 0
        for j in range(m):
            scaled[j] = z_square[i, j] * narrow
            others += z_square[i, j] >= 0.0
        exponentials(scaled, raised, bits, near)
        for j in range(m):
            # Nobody answers where the square is negative; another kind is not near.
            there = z_square[i, j] >= 0.0
            weight[j] = weight[j] if there else 0.0
            near[j] = near[j] / norm if there and scaled[j] < FARTHEST else 0.0
        if own[i] >= 0:
            weight[own[i]], near[own[i]] = 0.0, 0.0
            others -= 1
        parts[:] = 0.0
        for j in range(0, m, LANES):
            for e in range(LANES):
                turn = near[j + e] * (min(scaled[j + e], FARTHEST) - dim)
                parts[0, e] += weight[j + e]
                parts[1, e] += weight[j + e] * near[j + e]
                parts[2, e] += weight[j + e] * turn
                parts[3, e] += near[j + e]
                parts[4, e] += turn
        total = parts[0].sum() + blind
        share = blind * ignorance / max(others, 1)
        p[i] = (parts[1].sum() + share * parts[3].sum()) / total
        scale = 1.0 / ((p[i] + floor) * total)
        z_slope[i] = scale * (parts[2].sum() + share * parts[4].sum()) if dim else 0.0
        if slope.shape[1] == 0:
            continue
        for j in range(m):
            weight[j] *= (near[j] - p[i]) * scale
        slope[i] = 0.0
        for k in range(d):
            parts[0] = 0.0
            for j in range(0, m, LANES):
                for e in range(LANES):
                    step = a[i, k] - b[k, j + e]
                    parts[0, e] += weight[j + e] * step * step
            slope[i, k if slope.shape[1] > 1 else 0] += parts[0].sum()
