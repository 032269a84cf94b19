"""Low-rank Gaussian kernels: features by pivots, ridge regressions on them, principal axes of what they say.

Plain loops, each sum in one order: the same numbers on any number of threads.
"""

import math

import numpy as np

from . import kernel

# Turns of all pairs of axes, and off-diagonal elements, as shares of the whole, that count as none.
TURNS, NONE = 60, 1e-30


@kernel
def pivoted(points, least, features, pivots):
    """Cholesky's factor of the kernels exp(-|a - b|² / 2) of all points, largest remainder first; returns its rank.

    Parameters
    ----------
    points : (d, n) in widths
    least : remainder of a point that counts as none
    features : (most, n) filled in: kernels are about features.T @ features
    pivots : (most,) filled in: the points that tell the others
    """
    d, n = points.shape
    rest, square = np.ones(n), np.empty(n)
    for r in range(len(pivots)):
        p = rest.argmax()
        if rest[p] <= least:
            return r
        square[:] = 0.0
        for k in range(d):
            at = points[k, p]
            for i in range(n):
                step = points[k, i] - at
                square[i] += step * step
        own = features[r]
        for i in range(n):
            own[i] = math.exp(-0.5 * square[i])
        for c in range(r):
            other, share = features[c], features[c, p]
            for i in range(n):
                own[i] -= share * other[i]
        root = 1.0 / math.sqrt(rest[p])
        for i in range(n):
            own[i] *= root
            rest[i] = max(rest[i] - own[i] * own[i], 0.0)
        rest[p] = 0.0
        pivots[r] = p
    return len(pivots)


@kernel
def products(a, b, fold, out):
    """out[f] = the sum of outer products of a (n, r) and b (n, t) over the rows of each fold."""
    out[:] = 0.0
    for i in range(len(a)):
        sums = out[fold[i]]
        for k in range(a.shape[1]):
            share = a[i, k]
            for e in range(b.shape[1]):
                sums[k, e] += share * b[i, e]


@kernel
def solve(a, b):
    """b (r, t) becomes the solution of a s = b, a positive definite, whose lower half becomes Cholesky's factor."""
    for i in range(len(a)):
        for k in range(i + 1):
            s = a[i, k]
            for e in range(k):
                s -= a[i, e] * a[k, e]
            a[i, k] = math.sqrt(max(s, 1e-300)) if i == k else s / a[k, k]
    for i in range(len(a)):
        for k in range(i):
            b[i] -= a[i, k] * b[k]
        b[i] /= a[i, i]
    solve_upper(a, b)


@kernel
def solve_upper(a, b):
    """b (r, t) becomes the solution of a.T s = b, for the lower half of a."""
    for i in range(len(a) - 1, -1, -1):
        for k in range(i + 1, len(a)):
            b[i] -= a[k, i] * b[k]
        b[i] /= a[i, i]


@kernel
def predict(queries, fold, pivots, width, coefficients, out):
    """Kernels around the pivots, then the query itself and 1, times the coefficients of the fold of each query.

    Parameters
    ----------
    queries : (m, d); fold : (m,)
    pivots, width : (r, d), (d,)
    coefficients : (folds, r + d + 1, t)
    out : (m, t) filled in
    """
    r, d = pivots.shape
    for i in range(len(queries)):
        c = coefficients[fold[i]]
        out[i] = c[r + d]
        for k in range(d):
            out[i] += queries[i, k] * c[r + k]
        for p in range(r):
            square = 0.0
            for k in range(d):
                step = (queries[i, k] - pivots[p, k]) / width[k]
                square += step * step
            near = math.exp(-0.5 * square)
            for t in range(out.shape[1]):
                out[i, t] += near * c[p, t]


@kernel
def principal_axes(a, axes):
    """Jacobi's rotations: the diagonal of the symmetric a becomes its eigenvalues, columns of `axes` their vectors."""
    n = len(a)
    axes[:] = np.eye(n)
    whole = max((a * a).sum(), 1e-300)
    for _ in range(TURNS):
        rest = 0.0
        for p in range(n):
            for q in range(p):
                rest += a[p, q] * a[p, q]
        if rest <= NONE * whole:
            return
        for p in range(n):
            for q in range(p + 1, n):
                if a[p, q] == 0.0:
                    continue
                angle = 0.5 * math.atan2(2.0 * a[p, q], a[q, q] - a[p, p])
                c, s = math.cos(angle), math.sin(angle)
                for k in range(n):
                    a[k, p], a[k, q] = c * a[k, p] - s * a[k, q], s * a[k, p] + c * a[k, q]
                for k in range(n):
                    a[p, k], a[q, k] = c * a[p, k] - s * a[q, k], s * a[p, k] + c * a[q, k]
                for k in range(n):
                    axes[k, p], axes[k, q] = c * axes[k, p] - s * axes[k, q], s * axes[k, p] + c * axes[k, q]
