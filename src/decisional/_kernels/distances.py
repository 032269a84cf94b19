"""Similarity of two distributions, one as a compressed row, one as a dense vector.

Every measure needs only the outcomes of the compressed row: the rest of the dense one contributes a closed
form. A similarity is a p-value for tests and minus the distance otherwise: larger is more alike.
"""

import math

from . import kernel

__all__ = [
    "BHATTACHARYYA",
    "CHI_SQUARE",
    "EXACT",
    "G_TEST",
    "HARMONIC_MEAN",
    "JENSEN_SHANNON",
    "VARIATIONAL",
    "chi2_sf",
    "null_inflation",
    "similarity",
    "statistic",
]

CHI_SQUARE, G_TEST, BHATTACHARYYA, VARIATIONAL, HARMONIC_MEAN, JENSEN_SHANNON, EXACT = range(7)


@kernel
def chi2_sf(x, dof):
    """P(chi-square with dof degrees of freedom > x): the regularised upper incomplete gamma function."""
    a = 0.5 * dof
    x = 0.5 * x
    if x <= 0.0 or a <= 0.0:
        return 1.0
    scale = math.exp(a * math.log(x) - x - math.lgamma(a))
    if x < a + 1.0:
        term = 1.0 / a
        total = term
        n = a
        while term > total * 1e-16:
            n += 1.0
            term *= x / n
            total += term
        return max(0.0, 1.0 - total * scale)
    # Lentz's continued fraction.
    b = x + 1.0 - a
    c = 1e300
    d = 1.0 / b
    h = d
    for i in range(1, 10000):
        an = -i * (i - a)
        b += 2.0
        d = 1.0 / (an * d + b)
        c = b + an / c
        h *= d * c
        if abs(d * c - 1.0) < 1e-15:
            break
    return scale * h


@kernel
def _xlogx(x):
    return x * math.log(x) if x > 0.0 else 0.0


@kernel
def statistic(metric, outcome, count, total, dense, dense_total, dense_support):
    """Chi-square or G statistic of the 2 x k table, and its degrees of freedom k - 1."""
    n = total + dense_total
    support = dense_support
    value = 0.0
    covered = 0.0
    for j in range(outcome.size):
        a = count[j]
        b = dense[outcome[j]]
        if b == 0.0 and a > 0.0:
            support += 1
        if metric == CHI_SQUARE:
            covered += b
            gap = a * dense_total - b * total
            value += gap * gap / ((a + b) * total * dense_total)
        else:
            value += _xlogx(a) + _xlogx(b) - _xlogx(a + b)
    if metric == CHI_SQUARE:
        value += (dense_total - covered) * total / dense_total
    else:
        value = 2.0 * (value + _xlogx(n) - _xlogx(total) - _xlogx(dense_total))
    return max(value, 0.0), support - 1


@kernel
def _cell_inflation(c, pi):
    """Mean of the G of one column of c counts that fall in the first row with probability pi <= 1/2.

    It is 1 for many counts, up to 1.39 for few, and less for very few.
    """
    mean = c * pi
    if mean > 20.0:
        return 1.0
    p = (1.0 - pi) ** c
    value = 0.0
    last = int(min(c, mean + 10.0 * math.sqrt(mean) + 20.0))
    for a in range(last + 1):
        b = c - a
        g = 0.0
        if a > 0:
            g += a * math.log(a / mean)
        if b > 0:
            g += b * math.log(b / (c - mean))
        value += 2.0 * p * g
        p *= (c - a) / (a + 1.0) * pi / (1.0 - pi)
    return value


@kernel
def null_inflation(outcome, count, total, dense, dense_total, dof):
    """Mean of G under the null over its asymptotic mean, given the margins; at least 1.

    Dividing G by it keeps the test honest when many outcomes were seen a few times each.
    """
    n = total + dense_total
    pi = min(total, dense_total) / n
    mean = 0.0
    for z in range(dense.size):
        if dense[z] > 0.0:
            mean += (1.0 - dense[z] / n) * _cell_inflation(dense[z], pi)
    for j in range(outcome.size):
        b = dense[outcome[j]]
        c = b + count[j]
        if b > 0.0:
            mean -= (1.0 - b / n) * _cell_inflation(b, pi)
        if c > 0.0:
            mean += (1.0 - c / n) * _cell_inflation(c, pi)
    return max(1.0, mean / dof)


@kernel
def similarity(metric, checked, level, outcome, count, total, dense, dense_total, dense_support):
    """p-value (tests) or minus the distance (others) between count / total and dense / dense_total.

    With `checked`, a rejection (p < level) is confirmed with G over its mean under the null.
    """
    if metric <= G_TEST:
        value, dof = statistic(metric, outcome, count, total, dense, dense_total, dense_support)
        p = chi2_sf(value, dof)
        if checked and p < level and dof > 0:
            if metric != G_TEST:
                value, dof = statistic(G_TEST, outcome, count, total, dense, dense_total, dense_support)
            p = max(p, chi2_sf(value / null_inflation(outcome, count, total, dense, dense_total, dof), dof))
        return p
    value = 0.0
    rest = 1.0
    for j in range(outcome.size):
        p = count[j] / total
        q = dense[outcome[j]] / dense_total
        rest -= q
        if metric == BHATTACHARYYA:
            value += math.sqrt(p * q)
        elif metric == HARMONIC_MEAN:
            if p + q > 0.0:
                value += 2.0 * p * q / (p + q)
        elif metric == JENSEN_SHANNON:
            value += 0.5 * (_xlogx(p) + _xlogx(q)) - _xlogx(0.5 * (p + q))
        elif metric == VARIATIONAL:
            value += abs(p - q)
        else:
            value = max(value, abs(p - q))
    rest = max(rest, 0.0)
    if metric == BHATTACHARYYA:
        return -math.sqrt(max(1.0 - value, 0.0))
    if metric == HARMONIC_MEAN:
        return -max(1.0 - value, 0.0)
    if metric == JENSEN_SHANNON:
        return -max(value / math.log(2.0) + 0.5 * rest, 0.0)
    if metric == VARIATIONAL:
        return -(value + rest)
    return -max(value, rest)
