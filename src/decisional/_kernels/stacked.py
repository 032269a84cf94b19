"""Mixtures of normal kernels around what each x lets expect: their densities at own z, and in bins, at any z."""

import math

import numpy as np

from . import kernel
from .likelihood import exponentials

# Weights below this share of the largest have no part in slopes, nor in bins.
FAINT = 1e-9
# Bins of z in a width, how many at most, and how many widths away a kernel still counts.
FINE, MOST_BINS, FAR = 16, 1 << 15, 7.0
# What is asked of a mixture.
DENSITY, CUMULATIVE, QUANTILE, MOMENTS, DRAW = range(5)
# Steps to a quantile, and how exact it is, in scales.
TURNS, EXACT = 200, 1e-12
# Local slopes: widths count up to so many scales, and no ridge is smaller.
WIDE, RIDGE = 3.0, 1e-6
SQRT2, SQRT2PI, SQRT3 = math.sqrt(2.0), math.sqrt(2.0 * math.pi), math.sqrt(3.0)
# Normal probabilities below places, so many to a unit and a little beyond what counts, and densities there.
PLACES, MIDDLE = 64, 64 * 8
_PLACE = [(i - MIDDLE) / PLACES for i in range(2 * MIDDLE + 1)]
BELOW = np.array([0.5 * math.erfc(-u / SQRT2) for u in _PLACE])
BELL = np.array([math.exp(-0.5 * u * u) / SQRT2PI for u in _PLACE])


@kernel
def _weigh(q, first, stop, x, width, weight, square, raised):
    """Kernels of all x (d, n) around q, but 0 from `first` to `stop`; returns their sum."""
    d, n = x.shape
    square[:] = 0.0
    for k in range(d):
        narrow = 1.0 / width[k]
        for j in range(n):
            step = (q[k] - x[k, j]) * narrow
            square[j] += step * step
    exponentials(square, raised, raised.view(np.int64), weight)
    weight[first:stop] = 0.0
    total = 0.0
    for j in range(n):
        total += weight[j]
    return total


@kernel
def _solve(a, b):
    """b becomes the solution of a s = b, for a positive definite matrix, by Cholesky's factors in its lower half."""
    d = b.size
    for i in range(d):
        for k in range(i + 1):
            s = a[i, k]
            for e in range(k):
                s -= a[i, e] * a[k, e]
            a[i, k] = math.sqrt(max(s, 1e-300)) if i == k else s / a[k, k]
    for i in range(d):
        for k in range(i):
            b[i] -= a[i, k] * b[k]
        b[i] /= a[i, i]
    for i in range(d - 1, -1, -1):
        for k in range(i + 1, d):
            b[i] -= a[k, i] * b[k]
        b[i] /= a[i, i]


@kernel
def _straighten(q, x, y, width, weight, total, centre):
    """Move each y along the slope around q to what it would be at q: a weighted ridge regression.

    Returns their mean there.
    """
    d, n = x.shape
    mean, mixed, square = np.zeros(d), np.zeros(d), np.zeros((d, d))
    step, height, squares = np.empty(d), 0.0, 0.0
    least = FAINT * weight.max()
    for j in range(n):
        w = weight[j]
        if w <= least:
            continue
        squares += w * w
        height += w * y[j]
        for k in range(d):
            step[k] = x[k, j] - q[k]
            mean[k] += w * step[k]
            mixed[k] += w * step[k] * y[j]
            for e in range(k + 1):
                square[k, e] += w * step[k] * step[e]
    # The fewer neighbours there are for each slope, the stronger the ridge.
    leverage = min((d + 1.0) * squares / max(total * total, 1e-300), 1e6)
    for k in range(d):
        mean[k] /= total
        mixed[k] = mixed[k] / total - mean[k] * height / total
        for e in range(k + 1):
            square[k, e] = square[k, e] / total - mean[k] * mean[e]
        square[k, k] += min(width[k], WIDE) ** 2 * leverage + RIDGE
    _solve(square, mixed)
    there = height / total
    for k in range(d):
        there -= mixed[k] * mean[k]
    centre[:] = y
    for k in range(d):
        for j in range(n):
            centre[j] -= mixed[k] * (x[k, j] - q[k])
    return there


@kernel
def _expected(q, first, stop, x, y, width, guard, work):
    """Mean of y at q by a local line; it goes to 0 where nothing is near."""
    weight, centre, square, raised = work
    total = _weigh(q, first, stop, x, width, weight, square, raised)
    return _straighten(q, x, y, width, weight, total, centre) * total / (total + guard) if total > 0.0 else 0.0


@kernel
def expected(asked, apart, x, y, width, guard, out):
    """(m,) means of y by local lines at the x of some observations, without those fewer than `apart` places away."""
    d, n = x.shape
    work, q = (np.empty(n), np.empty(n), np.empty(n), np.empty(n)), np.empty(d)
    for i in range(asked.size):
        own = asked[i]
        q[:] = x[:, own]
        out[i] = _expected(q, max(own - apart + 1, 0), own + apart, x, y, width, guard, work)


@kernel
def own_densities(asked, apart, x, y, width, local, heights, p, mass):
    """Density of the y of some observations at their x, given all others, for several widths of y.

    Those less than `apart` places away have no part: in a series they are nearly the same observation.

    Parameters
    ----------
    asked : (m,) numbers of observations
    x, y : (d, n), (n,) the observations
    width, local, heights : (d,) widths of x, whether slopes are taken out, (g,) widths of y
    p, mass : (m, g), (m,) filled in: sums of weighted kernels, and of the weights
    """
    d, n = x.shape
    weight, centre, square, raised, near = np.empty(n), y.copy(), np.empty(n), np.empty(n), np.empty(n)
    q = np.empty(d)
    for i in range(asked.size):
        own = asked[i]
        q[:] = x[:, own]
        mass[i] = _weigh(q, max(own - apart + 1, 0), own + apart, x, width, weight, square, raised)
        if local and mass[i] > 0.0:
            _straighten(q, x, y, width, weight, mass[i], centre)
        for g in range(heights.size):
            h = heights[g]
            for j in range(n):
                step = (y[own] - centre[j]) / h
                square[j] = step * step
            exponentials(square, raised, raised.view(np.int64), near)
            total = 0.0
            for j in range(n):
                total += weight[j] * near[j]
            p[i, g] = total / (SQRT2PI * h)


@kernel
def _spread(weight, total, size, prior, usual):
    """Mean size of residuals around an x: some of the usual one is added, so that it is that where nothing is near."""
    found = prior * usual
    for j in range(size.size):
        found += weight[j] * size[j]
    return found / (total + prior)


@kernel
def spreads(asked, apart, x, size, width, prior, usual, out):
    """(m,) mean size (n,) of residuals around the x of some observations, without those fewer than `apart` away."""
    d, n = x.shape
    weight, square, raised, q = np.empty(n), np.empty(n), np.empty(n), np.empty(d)
    for i in range(asked.size):
        own = asked[i]
        q[:] = x[:, own]
        total = _weigh(q, max(own - apart + 1, 0), own + apart, x, width, weight, square, raised)
        out[i] = _spread(weight, total, size, prior, usual)


@kernel
def _into_bins(centre, weight, shift, height, grid, bins):
    """Weights spread over bins around their centres; grid becomes (first place, cell, number of bins, width)."""
    least, low, high = FAINT * weight.max(), np.inf, -np.inf
    for j in range(weight.size):
        if weight[j] > least:
            low, high = min(low, centre[j]), max(high, centre[j])
    if low > high:
        grid[2] = 0
        return
    cell = max(height / FINE, (high - low) / (MOST_BINS - 2))
    number = int((high - low) / cell) + 2
    bins[:number] = 0.0
    for j in range(weight.size):
        if weight[j] > least:
            place = (centre[j] - low) / cell
            left = min(int(place), number - 2)
            bins[left + 1] += weight[j] * (place - left)
            bins[left] += weight[j] * (left + 1.0 - place)
    grid[0], grid[1], grid[2] = low + shift, cell, number
    # To be spread over two bins makes a kernel wider, by a sixth of a squared cell on average.
    grid[3] = math.sqrt(max(height * height - cell * cell / 6.0, 0.25 * height * height))


@kernel
def _t_density(t):
    return 2.0 / (math.pi * SQRT3 * (1.0 + t * t / 3.0) ** 2)


@kernel
def _t_cumulative(t):
    u = t / SQRT3
    return 0.5 + (u / (1.0 + u * u) + math.atan(u)) / math.pi


@kernel
def _normal(u):
    """Normal probability below u, no further than 8 from 0, by Taylor's series around a place near it: to 1e-12."""
    i = int(u * PLACES + MIDDLE + 0.5)
    t = (i - MIDDLE) / PLACES
    d = u - t
    rest = (t * t - 1.0) / 6.0 - d * t * (t * t - 3.0) / 24.0
    return BELOW[i] + BELL[i] * d * (1.0 - d * (0.5 * t - d * rest))


@kernel
def _at(z, grids, bins, sums, back, dense):
    """Density, if it is to be known, and cumulative probability at z.

    back: share, centre and width of what the background expects.
    """
    t = (z - back[1]) / back[2]
    density, below = back[0] * _t_density(t) / back[2], back[0] * _t_cumulative(t)
    for p in range(len(grids)):
        first, cell, number, h = grids[p, 0], grids[p, 1], int(grids[p, 2]), grids[p, 3]
        if number == 0:
            continue
        reach = FAR * h
        start = min(max(math.ceil((z - reach - first) / cell), 0), number)
        stop = min(max(int((z + reach - first) / cell) + 1, start), number)
        below += sums[p, start]
        here = 0.0
        for b in range(start, stop):
            if bins[p, b] > 0.0:
                u = (z - first - b * cell) / h
                if dense:
                    here += bins[p, b] * math.exp(-0.5 * u * u)
                below += bins[p, b] * _normal(u)
        density += here / (SQRT2PI * h)
    return density, below


@kernel
def _quantile(level, grids, bins, sums, back):
    """The z below which so much lies: Newton's steps between bounds."""
    if level <= 0.0 or level >= 1.0:
        return -np.inf if level <= 0.0 else np.inf
    low, high = back[1] - back[2], back[1] + back[2]
    for p in range(len(grids)):
        if grids[p, 2] > 0:
            low = min(low, grids[p, 0] - grids[p, 3])
            high = max(high, grids[p, 0] + grids[p, 1] * grids[p, 2] + grids[p, 3])
    while _at(low, grids, bins, sums, back, False)[1] > level:
        low -= high - low
    while _at(high, grids, bins, sums, back, False)[1] < level:
        high += high - low
    z = 0.5 * (low + high)
    for _ in range(TURNS):
        density, below = _at(z, grids, bins, sums, back, True)
        if below < level:
            low = z
        else:
            high = z
        new = z + (level - below) / density if density > 0.0 else low
        if not low < new < high:
            new = 0.5 * (low + high)
        if abs(new - z) <= EXACT * (1.0 + abs(z)):
            return new
        z = new
    return z


@kernel
def _moments(grids, bins, out):
    """Mean and standard deviation of the kernels: those of the background would hide what sharp ones say."""
    mean, square, total = 0.0, 0.0, 0.0
    for p in range(len(grids)):
        for b in range(int(grids[p, 2])):
            z = grids[p, 0] + b * grids[p, 1]
            total += bins[p, b]
            mean += bins[p, b] * z
            square += bins[p, b] * (z * z + grids[p, 3] ** 2)
    out[0] = mean / total
    out[1] = math.sqrt(max(square / total - out[0] ** 2, 0.0))


@kernel
def _draw(level, noise, grids, bins, sums, back):
    """A value: the kernel at this level of all weights, and normal noise of its width."""
    for p in range(len(grids)):
        number = int(grids[p, 2])
        whole = sums[p, number]
        if level < whole:
            b = np.searchsorted(sums[p, 1 : number + 1], level, side="right")
            return grids[p, 0] + min(b, number - 1) * grids[p, 1] + noise * grids[p, 3]
        level -= whole
    # The background: levels of Student's t with three degrees of freedom.
    level = min(max(level / back[0], 1e-12), 1.0 - 1e-12)
    none = np.zeros((0, 4)), np.zeros((0, 1)), np.zeros((0, 1))
    return _quantile(level, none[0], none[1], none[2], np.array([1.0, back[1], back[2]]))


@kernel
def _fill(q, line, x, ys, widths, local, linear, share, guard, z_width, curve, usual, work, grids, bins, sums):
    """The mixture at q in bins: what some kernels do not know goes to the last ones, which are the same everywhere."""
    weight, centre, square, raised = work
    rest, size, smooth = curve
    n, left, last = x.shape[1], 0.0, len(ys) - 1
    shift = _expected(q, 0, 0, x, rest, smooth, guard, work) if smooth.size else 0.0
    for p in range(last + 1):
        total, height = _weigh(q, 0, 0, x, widths[p], weight, square, raised), z_width[p]
        if p < last:
            factor = share[p] / (total + guard)
            left += guard * factor
            weight *= factor
            centre[:] = ys[p]
            if local[p] and total > 0.0:
                _straighten(q, x, ys[p], widths[p], weight, max(weight.sum(), 1e-300), centre)
        else:
            spread = _spread(weight, total, size, usual[0], usual[1])
            centre[:] = ys[p] * spread + shift
            height = max(height * spread, usual[2])
            weight[:] = (share[p] + left) / n
        _into_bins(centre, weight, line if linear[p] else 0.0, height, grids[p], bins[p])
        sums[p, 0] = 0.0
        for b in range(int(grids[p, 2])):
            sums[p, b + 1] = sums[p, b] + bins[p, b]


@kernel
def evaluate(
    what, queries, lines, x, ys, widths, local, linear, share, guard, z_width, curve, usual, back, at, noise, out
):
    """What is asked of the mixtures at some x.

    Parameters
    ----------
    what : DENSITY, CUMULATIVE, QUANTILE, MOMENTS or DRAW
    queries, lines : (m, d) configurations, and (m,) what the linear part expects there
    x, ys : (d, n) answering observations, and (p, n) what each kind of kernels is around; for the last kind residuals
        over their usual size at their x
    widths, local, linear, share : (p, d), (p,) of each kind: widths of x; whether slopes are taken out, whether the
        linear part was; their weights, which add up to 1 with that of the background
    guard : mass of kernels of x at which half is known
    z_width : (p,) widths of z
    curve : (n,) residuals of the linear part, (n,) sizes of what a smooth curve leaves of them, and (d,) or (0,) widths
        of x of that curve
    usual : how many residuals of the usual size count with those at x, that size, and the smallest width of z
    back : share and width of the background
    at, noise : (m, k) values of z or levels, and normal numbers where values are drawn
    out : (m, k) filled in; (m, 2) for the mean and the standard deviation
    """
    n, parts = x.shape[1], len(ys)
    work = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    grids, bins, sums = np.zeros((parts, 4)), np.empty((parts, MOST_BINS)), np.empty((parts, MOST_BINS + 1))
    inside = np.array([back[0], 0.0, back[1]])
    for i in range(len(queries)):
        if np.isnan(lines[i]):
            out[i] = np.nan
            continue
        inside[1] = lines[i]
        how = widths, local, linear, share, guard, z_width, curve, usual
        _fill(queries[i], lines[i], x, ys, *how, work, grids, bins, sums)
        if what == MOMENTS:
            _moments(grids, bins, out[i])
            continue
        for k in range(at.shape[1]):
            if what == QUANTILE:
                out[i, k] = _quantile(at[i, k], grids, bins, sums, inside)
            elif what == DRAW:
                out[i, k] = _draw(at[i, k], noise[i, k], grids, bins, sums, inside)
            else:
                density, below = _at(at[i, k], grids, bins, sums, inside, what == DENSITY)
                out[i, k] = density if what == DENSITY else min(below, 1.0)
