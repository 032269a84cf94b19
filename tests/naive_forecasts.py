"""Densities of the stack of kernels with loops over all observations: the oracle of forecasts."""

from __future__ import annotations

import math

import numpy as np


def normal(step, width):
    return math.exp(-0.5 * (step / width) ** 2) / (math.sqrt(2 * math.pi) * width)


def weights(q, x, width, left_out=()):
    """Kernel of each x (n, d) around q; those left out have none."""
    found = [math.exp(-0.5 * sum(((a - b) / w) ** 2 for a, b, w in zip(q, row, width, strict=True))) for row in x]
    return [0.0 if j in left_out else w for j, w in enumerate(found)]


def local_line(q, x, y, width, w):
    """Intercept at q and slopes of a weighted ridge regression of y on x - q."""
    w, x, d = np.array(w), np.asarray(x) - q, len(q)
    total = w.sum()
    mean, height = w @ x / total, w @ y / total
    square = (x - mean).T @ (w[:, None] * (x - mean)) / total
    ridge = np.minimum(width, 3.0) ** 2 * min((d + 1) * (w**2).sum() / total**2, 1e6) + 1e-6
    slope = np.linalg.solve(square + np.diag(ridge), (x - mean).T @ (w * (y - height)) / total)
    return height - slope @ mean, slope


def expected(q, x, y, width, guard, left_out=()):
    """Mean of y at q by a local line, which goes to 0 where nothing is near."""
    w = weights(q, x, width, left_out)
    return local_line(q, x, y, width, w)[0] * sum(w) / (sum(w) + guard)


def own_density(i, x, y, width, z_width, local, apart):
    """Sum of the kernels of y around that of observation i, without those nearby in time, and sum of their weights."""
    w = weights(x[i], x, width, range(i - apart + 1, i + apart))
    centre = y
    if local:
        centre = y - (np.asarray(x) - x[i]) @ local_line(x[i], x, y, width, w)[1]
    return sum(a * normal(y[i] - c, z_width) for a, c in zip(w, centre, strict=True)), sum(w)


def density(stack, guard, prior, odd, q, z):
    """Density of z at q, both in scales."""
    x = stack.x.T
    line = stack.line.intercept + float(np.dot(stack.line.slopes, q))
    found, left = 0.0, 0.0
    for part, share in zip(stack.parts[:-1], stack.share[:-1], strict=True):
        w = weights(q, x, part.width)
        centre = part.y + (line if part.linear else 0.0)
        if part.local:
            centre = centre - (x - q) @ local_line(q, x, part.y, part.width, w)[1]
        total = sum(w) + guard
        found += share / total * sum(a * normal(z - c, part.z_width) for a, c in zip(w, centre, strict=True))
        left += share * guard / total
    last = stack.parts[-1]
    centre, size = line, stack.curve.size
    if stack.curve.smooth.size:
        centre += expected(q, x, stack.line.residuals, stack.curve.smooth, guard)
    w = weights(q, x, last.width)
    spread = (np.dot(w, size) + prior * size.mean()) / (sum(w) + prior)
    width = max(last.z_width * spread, stack.least)
    kernels = [normal(z - centre - e * spread, width) for e in last.y]
    t = (z - line) / odd
    student = 2 / (math.pi * math.sqrt(3) * (1 + t * t / 3) ** 2) / odd
    return found + (stack.share[-1] + left) * sum(kernels) / len(kernels) + stack.background * student
