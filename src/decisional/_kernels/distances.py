"""Similarity of two distributions, one as a compressed row, one as a dense vector.

Every measure needs only the outcomes of the compressed row: the rest of the dense one contributes a closed
form. A similarity is a p-value for tests and minus the distance otherwise: larger is more alike.
"""

import math

from . import kernel

CHI_SQUARE, G_TEST, BHATTACHARYYA, VARIATIONAL, HARMONIC_MEAN, JENSEN_SHANNON = range(6)


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
        covered += b
        if metric == CHI_SQUARE:
            gap = a * dense_total - b * total
            if a + b > 0.0:
                value += gap * gap / ((a + b) * total * dense_total)
        else:
            if a > 0.0:
                value += 2.0 * a * math.log(a * n / ((a + b) * total))
            if b > 0.0:
                value += 2.0 * b * math.log(b * n / ((a + b) * dense_total))
    if metric == CHI_SQUARE:
        value += (dense_total - covered) * total / dense_total
    else:
        value += 2.0 * (dense_total - covered) * math.log(n / dense_total)
    return max(value, 0.0), support - 1


@kernel
def _log_choose(n, k):
    return math.lgamma(n + 1.0) - math.lgamma(k + 1.0) - math.lgamma(n - k + 1.0)


@kernel
def _cell_mean(c, row, n):
    """Mean of the G of one column of c counts out of n, of which `row` <= n / 2 fall in the first row.

    The counts of the first row are hypergeometric. The mean is 1 - c / n for many counts, up to 1.39 times that
    for few, and less for very few.
    """
    mean = c * row / n
    if mean > 20.0:
        return 1.0 - c / n
    first = int(max(0.0, c + row - n))
    last = int(min(c, row, mean + 10.0 * math.sqrt(mean) + 20.0))
    p = math.exp(_log_choose(c, first) + _log_choose(n - c, row - first) - _log_choose(n, row))
    log_a, log_b = math.log(mean), math.log(c - mean)
    value = 0.0
    for a in range(first, last + 1):
        b = c - a
        value += 2.0 * p * (_xlogx(a) - a * log_a + _xlogx(b) - b * log_b)
        p *= b * (row - a) / ((a + 1.0) * (n - row - b + 1.0))
    return value


@kernel
def null_inflation(outcome, count, total, dense, dense_total, dof):
    """Mean of G under the null over its asymptotic mean, given the margins; at least 1.

    Dividing G by it keeps the test honest when many outcomes were seen a few times each.
    """
    n = total + dense_total
    row = min(total, dense_total)
    mean = 0.0
    for z in range(dense.size):
        if dense[z] > 0.0:
            mean += _cell_mean(dense[z], row, n)
    for j in range(outcome.size):
        b = dense[outcome[j]]
        if b > 0.0:
            mean -= _cell_mean(b, row, n)
        if b + count[j] > 0.0:
            mean += _cell_mean(b + count[j], row, n)
    return max(1.0, mean / dof)


@kernel
def similarity(metric, checked, level, outcome, count, total, dense, dense_total, dense_support, least=0.0):
    """p-value (tests) or minus the distance (others) between count / total and dense / dense_total.

    With `checked`, a rejection (p < level) is confirmed with G over its mean under the null. A p-value that is at most
    `least` for sure may be given as -inf, which spares most of them.
    """
    if metric <= G_TEST:
        value, dof = statistic(metric, outcome, count, total, dense, dense_total, dense_support)
        g = value
        if checked and metric != G_TEST:
            g = statistic(G_TEST, outcome, count, total, dense, dense_total, dense_support)[0]
        # Chernoff's bound, even if G were 1.4 times too large, which is more than any inflation under the null.
        x = min(value, g) / 1.4
        if least > 0.0 and x > dof > 0 and x - dof - dof * math.log(x / dof) > -2.0 * math.log(least):
            return -math.inf
        p = chi2_sf(value, dof)
        if checked and p < level and dof > 0:
            p = max(p, chi2_sf(g / null_inflation(outcome, count, total, dense, dense_total, dof), dof))
        return p
    # Written as sums of terms that vanish where p = q, so that equal distributions are at distance 0.
    value = 0.0
    rest = dense_total
    for j in range(outcome.size):
        p = count[j] / total
        q = dense[outcome[j]] / dense_total
        rest -= dense[outcome[j]]
        if metric == BHATTACHARYYA:
            value += 0.5 * (math.sqrt(p) - math.sqrt(q)) ** 2
        elif metric == HARMONIC_MEAN:
            if p + q > 0.0:
                value += 0.5 * (p - q) ** 2 / (p + q)
        elif metric == JENSEN_SHANNON:
            value += (0.5 * (_xlogx(p) + _xlogx(q)) - _xlogx(0.5 * (p + q))) / math.log(2.0)
        else:
            value += abs(p - q)
    rest = max(rest, 0.0) / dense_total
    if metric == VARIATIONAL:
        return -(value + rest)
    value = max(value + 0.5 * rest, 0.0)
    return -math.sqrt(value) if metric == BHATTACHARYYA else -value
