"""A test of one row of counts against another, honest where most outcomes were seen a few times.

Pearson's statistic, given both rows' totals and those of the outcomes, with its exact mean, variance and third cumulant
under exchange of observations, and the gamma law with these (Pearson's type III).
"""

import math

from . import kernel
from .distances import chi2_sf


@kernel
def variance(a, n, c, inverse):
    """Of the statistic: a of n counts are in the row, over c outcomes; `inverse` is the sum of 1 / their totals."""
    b = n - a
    rows = (n * (1.0 / a + 1.0 / b) - 4.0) / (n - 2.0)
    columns = (n * inverse - c * c) / (n - 2.0)
    evenly = ((n - 2.0) / (n - 1.0) - rows) * ((c - 1.0) * (n - c) / (n - 1.0) - columns)
    return 2.0 * n / (n - 3.0) * evenly + n * n / (n - 1.0) * rows * columns


@kernel
def third_cumulant(a, n, c, inverse, square):
    """Of the statistic; `square` is the sum of 1 / total^2. From its factorial moments, in closed form; n >= 6."""
    w = a * (n - a)
    g = (a - 1.0) * (n - a - 1.0)
    n2 = n * n
    n3, n4 = n2 * n, n2 * n2
    both = (48.0 * n - 120.0) * w * w + (-16.0 * n3 + 30.0 * n2 + 10.0 * n) * w
    both += n * (n4 + n3 - 9.0 * n2 + 11.0 * n - 4.0)
    alone = (-56.0 * n - 52.0) * w + 11.0 * n3 + 23.0 * n2 + 10.0 * n - 8.0
    squares = 120.0 * w * w - (30.0 * n2 + 90.0 * n) * w + n4 + 16.0 * n3 + 11.0 * n2 - 4.0 * n
    cubic = (28.0 * n2 - 124.0 * n + 120.0) * w * w + (-11.0 * n4 + 52.0 * n3 - 71.0 * n2 + 30.0 * n) * w
    cubic += n2 * (n4 - 5.0 * n3 + 9.0 * n2 - 7.0 * n + 2.0)
    quadratic = (-12.0 * n2 + 16.0 * n + 20.0) * w + 3.0 * n2 * (n - 1.0) ** 2
    linear = (-2.0 * n2 - 20.0 * n - 14.0) * w + 7.0 * n3 + 8.0 * n2 - 19.0 * n + 4.0
    constant = -(n + 5.0) * w + 3.0 * n2 - 3.0 * n
    value = -3.0 * n4 * (n - 1.0) * both * inverse * c + 2.0 * n4 * n * (n - 1.0) * g * alone * inverse
    value += n4 * n * (n - 1.0) ** 2 * squares * square + 2.0 * n3 * cubic * c * c * c
    value += -6.0 * n4 * g * quadratic * c * c - 4.0 * n4 * n * g * linear * c + 8.0 * n4 * n2 * g * constant
    return value / (w * w * (n - 1.0) ** 3 * (n - 2.0) * (n - 3.0) * (n - 4.0) * (n - 5.0))


@kernel
def p_value(a, n, c, inverse, square, overlap, ratio, clumps, least):
    """Chance that a row of counts differs so much from the rest, or more.

    Parameters: a of n counts are in the row, over c outcomes; sums of 1 / total and 1 / total^2 of these; `overlap`,
    the sum of count^2 / total, and `ratio`, half of G, over the row's own outcomes; so many counts come in one clump.
    It is never below c exp(-G / 2), the chance of so extreme a small sample. A p-value that is at least `least` for
    sure may be given as 1.
    """
    b = n - a
    if c < 2.0 or n < 6.0 or b <= 0.0:
        return 1.0
    sure = c * math.exp(-ratio / clumps)
    if sure >= least:
        return 1.0
    spread = variance(a, n, c, inverse)
    mean = (c - 1.0) * n / (n - 1.0)
    if spread <= 1e-9 * mean:
        return 1.0
    # What is never negative is at least as skew as a gamma law that begins at 0.
    skew = max(third_cumulant(a, n, c, inverse, square), 2.0 * spread * spread / mean)
    value = n * n / (a * b) * (overlap - a * a / n) / clumps
    shape = 4.0 * spread**3 / skew**2
    return max(sure, chi2_sf(2.0 * (shape + (value - mean) * 2.0 * spread / skew), 2.0 * shape))
