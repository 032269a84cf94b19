"""Step 5 of the figure: the set Y of best predictions of each state, and what they are worth."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._kernels import values as kernels
from ..support.arrays import Floats, Ints
from .sets import Finite, Predictions

__all__ = ["Optimum", "Slack", "exhaustive", "in_blocks"]

BLOCK = 1 << 22  # entries of a block of distributions that is worked on at once


@dataclass(frozen=True, eq=False)
class Slack:
    """When two expected utilities count as equal.

    Attributes
    ----------
    atol : difference that never counts
    n : (K,) observations behind each distribution, or None: the distributions are exact
    prior : (n_z,) distribution of one more observation, so that outcomes not seen yet are not held impossible
    level : how many standard errors do not count
    """

    atol: float = 1e-9
    n: Floats | None = None
    prior: Floats | None = None
    level: float = 0.0

    def rows(self, part: slice) -> "Slack":
        """The same for some of the states."""
        return self if self.n is None else replace(self, n=self.n[part])

    def smooth(self, p: Floats) -> Floats:
        """Distributions with one more observation, drawn from the prior."""
        if self.n is None or self.prior is None:
            return p
        n = self.n[:, None]
        return (p * n + self.prior) / (n + 1.0)

    def error(self, variance: Floats) -> Floats:
        """Standard error of means over the observations of each state, given the variance of one."""
        if self.n is None:
            return np.zeros_like(variance)
        n = self.n.reshape(-1, *(1,) * (variance.ndim - 1))
        return np.sqrt(np.maximum(variance, 0.0) / n)


@dataclass(frozen=True, eq=False)
class Optimum:
    """What is best in each of K states.

    Attributes
    ----------
    utility : (K,) the largest expected utility
    error : (K,) its standard error, 0 where the distributions are exact
    predictions : the K sets Y that reach it
    """

    utility: Floats
    error: Floats
    predictions: Predictions

    def join(self, others: Sequence["Optimum"]) -> "Optimum":
        parts = (self, *others)
        return Optimum(
            np.concatenate([part.utility for part in parts]),
            np.concatenate([part.error for part in parts]),
            self.predictions.join([part.predictions for part in others]),
        )


def in_blocks(p: Any, slack: Slack, best: Callable[[Floats, Slack], Optimum], width: int = 0) -> Optimum:
    """Apply `best` to blocks of the distributions p (K, n_z), dense or sparse, and join the results.

    `width` is what each row needs room for, if more than n_z.
    """
    size = max(1, BLOCK // max(p.shape[1], width, 1))
    parts = []
    for begin in range(0, p.shape[0], size):
        rows = slice(begin, begin + size)
        block = p[rows] if isinstance(p, np.ndarray) else p[rows].toarray()
        parts.append(best(block, slack.rows(rows)))
    return parts[0].join(parts[1:])


def exhaustive(p: Floats, u: Floats, candidates: Sequence[Hashable], slack: Slack, expected: Any = None) -> Optimum:
    """Compare all candidates: u is U(y, z) as (n_y, n_z); `expected` (K, n_y) replaces the product p u^T.

    From data, a candidate y is as good as the best one, y*, if the mean of U(y*, z) - U(y, z) is within its sampling
    error and no other candidate dominates y: is never worse, and better for some outcome. Cost: one product of
    (K, n_z) and (n_z, n_y), from data three more.
    """
    value = p @ u.T if expected is None else expected
    highest = value.max(axis=1)
    member = value >= highest[:, None] - slack.atol
    top = (value >= highest[:, None] - min(slack.atol, 1e-9)).argmax(axis=1)
    error: Floats = np.zeros(len(p))
    if slack.n is not None:
        smooth = slack.smooth(p)
        error = slack.error(_variance(smooth, u, top))
        if slack.level > 0.0:
            near = highest[:, None] - value <= slack.atol + slack.level * slack.error(_variances(smooth, u, top))
            member |= near & ~_dominated(u, (near & ~member).any(axis=0), slack.atol)
    return Optimum(highest, error, Finite(candidates, member, top))


def _variance(p: Floats, u: Floats, top: Ints) -> Floats:
    """(K,) variance of U(y, z) for the prediction `top` of each state."""
    mean = np.einsum("kz,kz->k", p, u[top])
    variance: Floats = np.einsum("kz,kz->k", p, (u[top] - mean[:, None]) ** 2)
    return variance


def _variances(p: Floats, u: Floats, top: Ints) -> Floats:
    """(K, n_y) variance of U(top, z) - U(y, z) for the prediction `top` of each state and all y."""
    # What is lost against the best for each outcome has the same differences, and no offset to cancel.
    lost = u - u.max(axis=0)
    mean, square = p @ lost.T, p @ (lost**2).T
    rows = np.arange(len(p))
    both = (p * lost[top]) @ lost.T
    variance: Floats = square + square[rows, top, None] - 2.0 * both - (mean - mean[rows, top, None]) ** 2
    return variance


def _dominated(u: Floats, asked: Ints, atol: float) -> Ints:
    """(n_y,) whether another prediction is never worse and somewhere better, for those asked for."""
    result = np.zeros(len(u), bool)
    kernels.dominated(np.ascontiguousarray(u), (u - u.max(axis=0)).argmax(axis=1), atol, asked, result)
    return result
