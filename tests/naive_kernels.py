"""Kernel sums with loops over all pairs: the oracle of kernel densities."""

from __future__ import annotations

import math


def kernel(a, b, sigma, cutoff):
    """Gaussian kernel of two points, 0 below the cut-off."""
    if all(width == sigma[0] for width in sigma):
        # One width: the squared distance of integers is exact, and so is the border.
        exponent = sum((u - v) ** 2 for u, v in zip(a, b, strict=True)) / (2 * sigma[0] ** 2)
    else:
        exponent = sum((u - v) ** 2 / (2 * width**2) for u, v, width in zip(a, b, sigma, strict=True))
    value = math.exp(-exponent)
    return value if value >= cutoff else 0.0


def table(observed):
    """Return the distinct x of pairs (x, z) in sorted order, and x -> {z: how often}."""
    counts = {}
    for x, z in observed:
        row = counts.setdefault(x, {})
        row[z] = row.get(z, 0) + 1
    return sorted(counts), counts


def kernel_sums(observed, n_z, sigma, cutoff, query):
    """Return for each query point the weighted histogram of z over all observations, one by one."""
    sums = []
    for point in query:
        row = [0.0] * n_z
        for x, z in observed:
            row[z] += kernel(point, x, sigma, cutoff)
        sums.append(row)
    return sums


def nearest_distance(points):
    """Return the mean distance of distinct points to the nearest other one."""
    nearest = []
    for i, a in enumerate(points):
        nearest.append(min(math.dist(a, b) for j, b in enumerate(points) if j != i))
    return sum(nearest) / len(nearest)


def class_densities(q, at, x, z, kind, fold, width, z_width, left_out, guard, odd):
    """Densities of z at q, in scales, by all classes together and by each, without the observations of a fold."""
    blind = 2 / (math.pi * math.sqrt(3) * (1 + at**2 / 3) ** 2)

    def mixed(some, otherwise):
        weight = [
            math.exp(-0.5 * sum(((a - b) / w) ** 2 for a, b, w in zip(q, x[j], width, strict=True))) for j in some
        ]
        near = [math.exp(-0.5 * ((at - z[j]) / z_width) ** 2) / (math.sqrt(2 * math.pi) * z_width) for j in some]
        both = sum(a * b for a, b in zip(weight, near, strict=True))
        return (1 - odd) * (both + guard * otherwise) / (sum(weight) + guard) + odd * blind

    kept = [j for j in range(len(z)) if fold[j] != left_out]
    together = mixed(kept, blind)
    return together, [mixed([j for j in kept if kind[j] == k], together) for k in range(max(kind) + 1)]
