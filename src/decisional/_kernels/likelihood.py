"""Likelihood of each z given its x and the other observations, by kernels of x and z, and its slope in their widths."""

import math

import numpy as np

from . import kernel

# Kernels below exp(-103) are nothing in 32 bits, and not looked at.
FAINT = 103.0


@kernel
def leave_one_out(a, b, own, z_square, z_width, dim, blind, p, slope, z_slope):
    """For each asked observation its likelihood p, and how log p follows the logarithms of the widths.

    Parameters
    ----------
    a, b : (n, d), (m, d) configurations asked and answering, in widths
    own : (n,) the answering one that is the asked one itself, -1 = none
    z_square : (n, m) squared distances of their z in standard deviations; inf = another kind
    z_width, dim : width of z in standard deviations, and its dimensions; 0 dimensions: z are equal or not
    blind : weight of what is known without x
    p, z_slope : (n,) filled in
    slope : (n, d) filled in, or (n, 1): their sum
    """
    m, d = b.shape
    weight, near, square = np.empty(m), np.empty(m), np.empty(m)
    norm = (math.sqrt(2.0 * math.pi) * z_width) ** dim
    for i in range(a.shape[0]):
        total, hit, turned, all_near, all_turned = 0.0, 0.0, 0.0, 0.0, 0.0
        for j in range(m):
            apart = 0.0
            for k in range(d):
                apart += (a[i, k] - b[j, k]) ** 2
            square[j] = apart
            weight[j] = math.exp(-0.5 * apart) if apart < 2.0 * FAINT and j != own[i] else 0.0
            scaled = z_square[i, j] / z_width**2 if dim else z_square[i, j]
            near[j] = math.exp(-0.5 * scaled) / norm if scaled < 2.0 * FAINT else 0.0
            turn = near[j] * (scaled - dim) if near[j] > 0.0 else 0.0
            total += weight[j]
            hit += weight[j] * near[j]
            turned += weight[j] * turn
            all_near += near[j]
            all_turned += turn
        total += blind
        p[i] = (hit + blind * all_near / m) / total
        scale = 1.0 / (p[i] * total) if p[i] > 1e-300 else 0.0
        z_slope[i] = scale * (turned + blind * all_turned / m) if dim else 0.0
        slope[i] = 0.0
        for j in range(m):
            if weight[j] == 0.0:
                continue
            pull = weight[j] * (near[j] - p[i]) * scale
            if slope.shape[1] == 1:
                slope[i, 0] += pull * square[j]
                continue
            for k in range(d):
                slope[i, k] += pull * (a[i, k] - b[j, k]) ** 2
