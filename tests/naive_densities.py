"""Slow, literal versions of kernel densities, of what is observed for them and of clustering by leaders."""

from __future__ import annotations

import math
from itertools import product

import naive_states

# ---------------------------------------------------------------------------------------------- densities


def gaussian(square):
    return math.exp(-0.5 * square)


def square(a, b, sigma):
    """Squared distance of two points in units of the widths; of kinds (sigma 0) nothing or infinite."""
    if not any(sigma):
        return 0.0 if tuple(a) == tuple(b) else math.inf
    return sum(((u - v) / s) ** 2 for u, v, s in zip(a, b, sigma, strict=True))


def cut(value, cutoff):
    return value if value >= cutoff else 0.0


def sums(observed, samples, sigma, z_sigma, query, cutoff=1e-9, kernel=gaussian, joint=False):
    """Kernel sums at the samples of z for each query x: all observations (x, z), tuples, one by one."""
    found = []
    for point in query:
        row = []
        for sample in samples:
            total = 0.0
            for x, z in observed:
                near, z_near = square(x, point, sigma), square(z, sample, [z_sigma] * len(z))
                if math.isinf(z_near):
                    continue
                if joint:
                    total += cut(kernel(near + z_near), cutoff)
                else:
                    total += cut(kernel(near), cutoff) * cut(kernel(z_near), cutoff)
            row.append(total)
        found.append(row)
    return found


def densities(*arguments, **options):
    """The same, normalised over the samples."""
    return [naive_states.normalised(row) for row in sums(*arguments, **options)]


# ------------------------------------------------------------------------------------------- observations


def neighbourhood(name):
    """Offsets of a shape of the library, from words."""
    far = 1 if name in ("3x3", "cross") else 2
    around = [(i, j) for i, j in product(range(-far, far + 1), repeat=2) if (i, j) != (0, 0)]
    if name == "rounded5x5":
        around = [(i, j) for i, j in around if abs(i) + abs(j) < 4]
    if name == "cross":
        around = [(i, j) for i, j in around if 0 in (i, j)]
    return around


def mirrored(i, n):
    """Index of the pixel that is seen at i, for an image that continues mirrored without its outermost pixel."""
    return -i if i < 0 else 2 * (n - 1) - i if i >= n else i


def image(images, around, block=1, border="interior", subtract_min=True):
    """List of (x, z, site) over images, given as lists of rows of Python numbers."""
    half = block // 2
    inside = list(product(range(-half, half + 1), repeat=2))
    around = [offset for offset in around if offset not in inside]
    reach = max(max(abs(i), abs(j)) for i, j in around + inside)
    found, offset = [], 0
    for pixels in images:
        height, width = len(pixels), len(pixels[0])
        for r, c in product(range(height), range(width)):
            whole = reach <= r < height - reach and reach <= c < width - reach
            if border == "interior" and not whole:
                continue

            def at(place, r=r, c=c, pixels=pixels, height=height, width=width):
                return pixels[mirrored(r + place[0], height)][mirrored(c + place[1], width)]

            x, z = [at(place) for place in around], [at(place) for place in inside]
            low = min(x) if subtract_min else 0
            found.append((tuple(v - low for v in x), tuple(v - low for v in z), offset + r * width + c))
        offset += height * width
    return found


def delays(series, lags, future, step=1, difference=False, target=None, inputs=None):
    """List of (x, z, site, site of the successor or None) over series of rows, NaN = missing.

    `inputs` has rows for each series that are known in advance: that of the first time of z ends x.
    """
    found, offset = [], 0
    for number, rows in enumerate(series):
        values = dict(enumerate(rows))
        if difference:
            values = {t: [b - a for a, b in zip(rows[t - 1], rows[t], strict=True)] for t in range(1, len(rows))}
        here = []
        for t in range(len(rows)):
            times = [t - lag for lag in lags] + [t + step * k for k in range(1, future + 1)]
            if not all(time in values for time in times):
                continue
            x = [v for time in times[: len(lags)] for v in values[time]]
            x += [] if inputs is None else list(inputs[number][t + step])
            z = [v for time in times[len(lags) :] for k, v in enumerate(values[time]) if target in (None, k)]
            if not any(math.isnan(v) for v in x + z):
                here.append((tuple(x), tuple(z), offset + t))
        sites = {site for _, _, site in here}
        found += [(x, z, site, site + 1 if site + 1 in sites else None) for x, z, site in here]
        offset += len(rows)
    return found


# --------------------------------------------------------------------------------------------- clustering


def lead(rows, weights, threshold, order, passes=1):
    """Labels of densities: each follows the most similar leader, or leads; then the means of states are merged.

    Leaders are rows in the first pass, and the means of the states in the next ones.
    """
    p = [naive_states.normalised(row) for row in rows]
    leaders, labels = [], [None] * len(rows)
    for _ in range(passes):
        for r in order:
            nearest = [(naive_states.bhattacharyya(p[r], leader), k) for k, leader in enumerate(leaders)]
            distance, k = min(nearest, default=(math.inf, 0))
            if distance >= threshold:
                k = len(leaders)
                leaders.append(p[r])
            labels[r] = k
        labels, leaders = merge(p, weights, labels, threshold)
    return labels


def mean(p, weights, members):
    total = sum(weights[r] for r in members)
    return [sum(weights[r] * p[r][z] for r in members) / total for z in range(len(p[0]))]


def merge(p, weights, labels, threshold):
    """Merge the two most similar states into the one with the smaller number, while two of them match."""
    states = [{r for r in range(len(p)) if labels[r] == k} for k in sorted(set(labels))]
    while True:
        means = [mean(p, weights, members) for members in states]
        pairs = [(naive_states.bhattacharyya(means[a], means[b]), a, b) for a in range(len(states)) for b in range(a)]
        distance, a, b = min(pairs, default=(math.inf, 0, 0))
        if distance >= threshold:
            return [next(k for k, members in enumerate(states) if r in members) for r in range(len(p))], means
        states[b] |= states.pop(a)
