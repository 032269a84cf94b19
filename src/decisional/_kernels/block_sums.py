"""Kernels of x and z around some observations, added up over blocks of others."""

import math

import numpy as np

from . import kernel
from .likelihood import exponentials


@kernel
def block_sums(q, at, x, z, z_width, start, mass, near):
    """Sums of the kernels of x around each q, and of their products with those of z, over blocks of observations.

    Parameters
    ----------
    q, at : (m, d), (m,) x in widths and z of those that are asked
    x, z : (d, n), (n,) those that answer, block after block
    z_width : width of z
    start : (b + 1,) where each block begins, and the last one ends
    mass, near : (m, b) filled in
    """
    d, n = x.shape
    weight, kernels, square, raised = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    bits = raised.view(np.int64)
    norm = 1.0 / (math.sqrt(2.0 * math.pi) * z_width)
    for i in range(at.size):
        square[:] = 0.0
        for k in range(d):
            for j in range(n):
                step = q[i, k] - x[k, j]
                square[j] += step * step
        exponentials(square, raised, bits, weight)
        for j in range(n):
            step = (at[i] - z[j]) / z_width
            square[j] = step * step
        exponentials(square, raised, bits, kernels)
        for b in range(start.size - 1):
            total, both = 0.0, 0.0
            for j in range(start[b], start[b + 1]):
                total += weight[j]
                both += weight[j] * kernels[j]
            mass[i, b], near[i, b] = total, both * norm
