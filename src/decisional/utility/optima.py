"""Step 5 of the figure: the set Y of best predictions of each state, and what they are worth."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..structures import Floats, Ints
from .sets import Finite, Predictions

__all__ = ["Optimum", "Slack", "exhaustive", "in_blocks"]

BLOCK = 1 << 23  # entries of a block of distributions that is worked on at once


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


def in_blocks(p: Any, slack: Slack, best: Callable[[Floats, Slack], Optimum]) -> Optimum:
    """Apply `best` to blocks of the distributions p (K, n_z), dense or sparse, and join the results."""
    size = max(1, BLOCK // max(p.shape[1], 1))
    parts = []
    for begin in range(0, p.shape[0], size):
        rows = slice(begin, begin + size)
        block = p[rows] if isinstance(p, np.ndarray) else p[rows].toarray()
        parts.append(best(block, slack.rows(rows)))
    return parts[0].join(parts[1:])


def exhaustive(p: Floats, u: Floats, candidates: Sequence[Hashable], slack: Slack, expected: Any = None) -> Optimum:
    """Compare all candidates: u is U(y, z) as (n_y, n_z); `expected` (K, n_y) replaces the product p u^T.

    From data, a candidate y is as good as the best one, y*, if the mean of U(y*, z) - U(y, z) is within its sampling
    error and there is an outcome for which y is better. Cost: one product of (K, n_z) and (n_z, n_y), from data one
    more and (n_y*, n_y, n_z) operations for n_y* different best predictions.
    """
    value = p @ u.T if expected is None else expected
    top = np.argmax(value >= value.max(axis=1, keepdims=True) - slack.atol, axis=1)
    short = value.max(axis=1, keepdims=True) - value
    member = short <= slack.atol
    error = np.zeros(len(p))
    if slack.n is not None and expected is None:
        smooth = slack.smooth(p)
        error = slack.error(_variance(smooth, u, top))
        for y, rows in _grouped(top):
            ahead = u[y] - u
            rival = (ahead < -slack.atol).any(axis=1)
            mean = smooth[rows] @ ahead[rival].T
            variance = smooth[rows] @ (ahead[rival] ** 2).T - mean**2
            n = slack.n[rows, None]
            near = short[np.ix_(rows, rival)] <= slack.atol + slack.level * np.sqrt(np.maximum(variance, 0.0) / n)
            member[np.ix_(rows, rival)] |= near
    return Optimum(value.max(axis=1), error, Finite(candidates, member, top))


def _variance(p: Floats, u: Floats, top: Ints) -> Floats:
    """(K,) variance of U(y, z) for the prediction `top` of each state."""
    mean, square = (np.einsum("kz,kz->k", p, power[top]) for power in (u, u**2))
    variance: Floats = square - mean**2
    return variance


def _grouped(labels: Ints) -> list[tuple[int, Ints]]:
    """The distinct labels with the places where they are."""
    order = np.argsort(labels, kind="stable")
    distinct, start = np.unique(labels[order], return_index=True)
    return list(zip(distinct.tolist(), np.split(order, start[1:]), strict=True))
