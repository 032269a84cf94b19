"""Step 5 of the figure: Y and U of each distribution, whatever the utility, integrator and optimiser; and when two
utilities come to the same (section 3.5 of the paper).

An integrator is any callable of (p, u), distributions (K, n_z) and utilities (n_y, n_z), that returns the expected
utilities (K, n_y). An optimiser is any callable of (value, outcomes) that returns the best predictions of one
state, `value` being its expected utility as a function of an array of predictions.
"""

import warnings
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..machines import EpsilonMachine
from ..states.causal_model import CausalModel
from ..support.arguments import as_table, generator, integer, real, result_of, shown
from ..support.arrays import Floats
from .predictions import Interval, Optimum, Points, Slack, exhaustive, variance_of
from .utilities import Utility, as_array, as_utility, numbers

FEW = 32  # outcomes that a search in several dimensions starts from
MOST = 10**9  # points of an integral or of a search
BLOCK = 1 << 22  # entries of a block of distributions that is worked on at once
PRECISION = 1e-5  # of predictions found by a search, as a share of the range of the outcomes


@dataclass(frozen=True)
class MonteCarlo:
    """Mean utility over n outcomes drawn from each distribution; the same draws for all predictions.

    Where the distributions are exact, `delta` and `atol` tell what differs by more than the noise of the draws.
    """

    n: int = 10_000
    random_state: Any = None

    def __call__(self, p: Floats, u: Floats) -> Floats:
        n = integer(self.n, "n", most=MOST, remedy="try n=10000", of="MonteCarlo")
        rng = generator(self.random_state, "random_state")
        draws: Floats = rng.multinomial(n, p / p.sum(axis=1, keepdims=True)) / n
        return draws @ u.T


@dataclass(frozen=True)
class SamplePoints:
    """Densities known at sample points: each stands for the volume around it.

    Parameters
    ----------
    volume : (n_z,) volume that belongs to each outcome; by default all are alike
    """

    volume: ArrayLike | None = None

    def __call__(self, p: Floats, u: Floats) -> Floats:
        rule = f"it must be {p.shape[1]} positive numbers, one for each outcome: give the width of its cell."
        given = np.ones(p.shape[1]) if self.volume is None else self.volume
        volume = as_table(given, "volume", rule, float)
        if volume.shape != (p.shape[1],) or not (volume > 0).all():
            raise ValueError(f"The 'volume' of SamplePoints has shape {volume.shape}; {rule}")
        mass = p * volume
        expected: Floats = (mass / mass.sum(axis=1, keepdims=True)) @ u.T
        return expected


@dataclass(frozen=True)
class GlobalMaxima:
    """All global maxima over a box of predictions.

    In one dimension the box is looked at on 64 n places, evenly and ever closer to the outcomes, where narrow utilities
    have their peaks, and each local maximum is refined. In more dimensions by simplicial homology (scipy's shgo), and
    from the best outcomes. Where a peak is as narrow as the places are far apart, others may have been missed, which is
    warned of.

    Parameters
    ----------
    bounds : (low, high) for each dimension of y, default the range of the outcomes
    n : points that the search starts from, a power of 2; more find narrower peaks
    rtol : maxima that differ by no more than this share of the range of values are equally good
    """

    bounds: Sequence[tuple[float, float]] | None = None
    n: int = 128
    rtol: float = 1e-6

    def __call__(self, value: Callable[[Floats], Floats], outcomes: Sequence[Any]) -> Floats:
        z = numbers(outcomes, "GlobalMaxima")
        z = z.reshape(len(z), -1)
        if self.bounds is None and (z == z[0]).all():
            return z[:1]
        rule = f"there must be low < high for each of the {z.shape[1]} dimensions of z: give the range of predictions."
        given = np.column_stack([z.min(axis=0), z.max(axis=0)]) if self.bounds is None else self.bounds
        bounds = as_table(given, "bounds", rule, float)
        if bounds.shape != (z.shape[1], 2) or not (bounds[:, 0] < bounds[:, 1]).all():
            raise ValueError(f"The 'bounds' of GlobalMaxima are {shown(self.bounds)}; {rule}")
        n = integer(self.n, "n", most=MOST, remedy="try n=128", of="GlobalMaxima")
        real(self.rtol, "rtol", least=0, most=1, remedy="try rtol=1e-6", of="GlobalMaxima")

        inside = z[((z >= bounds[:, 0]) & (z <= bounds[:, 1])).all(axis=1)]
        search = _on_a_line if len(bounds) == 1 else _in_a_box
        points, heights = search(value, bounds, inside, n)
        near = self.rtol * max(float(np.ptp(np.append(value(z), heights))), 1e-300)
        points = points[heights >= heights.max() - near]
        # Some are the same up to the precision of the search.
        close = 1e-4 * (bounds[:, 1] - bounds[:, 0])
        kept: list[Floats] = []
        for point in points[np.lexsort(points.T[::-1])]:
            if not any((np.abs(point - other) <= close).all() for other in kept):
                kept.append(point)
        return np.array(kept)


def _on_a_line(value: Callable[[Floats], Floats], bounds: Floats, z: Floats, n: int) -> tuple[Floats, Floats]:
    """Local maxima (m, 1) between two bounds, and their heights."""
    (low, high), even = bounds[0], 64 * n
    step = (high - low) / even
    # Ever closer to each outcome, down to the rounding of the range.
    around = z[:, 0, None] + step * np.outer([-1.0, 1.0], 2.0 ** -np.arange(0, 26, 2.0)).ravel()
    y = np.unique(np.clip(np.concatenate([np.linspace(low, high, even + 1), z[:, 0], around.ravel()]), low, high))
    height = value(y[:, None])
    range_ = float(np.ptp(height))
    if range_ <= 1e-12 * max(abs(float(height[0])), 1e-300):
        raise ValueError(
            f"The 'optimise' search found no maximum among {y.size} places; the expected utility is flat there: use a "
            "larger n, or candidates y=[...]."
        )
    padded = np.concatenate([[-np.inf], height, [-np.inf]])
    top = np.flatnonzero((height >= padded[:-2]) & (height > padded[2:]))
    begin, end = y[np.maximum(top - 1, 0)], y[np.minimum(top + 1, y.size - 1)]
    if _any_narrow(value, y[top], height[top], step, range_):
        warnings.warn(
            f"The expected utility has peaks narrower than {2 * step:.2g}, so that 'optimise' may have missed others: "
            f"use GlobalMaxima(n={8 * n}), or candidates y=[...].",
            UserWarning,
            stacklevel=2,
        )
    ratio = (np.sqrt(5.0) - 1.0) / 2.0
    for _ in range(60):
        left, right = end - ratio * (end - begin), begin + ratio * (end - begin)
        better = value(left[:, None]) >= value(right[:, None])
        begin, end = np.where(better, begin, left), np.where(better, right, end)
    refined = (begin + end) / 2.0
    found = value(refined[:, None])
    # What is not smooth, or at a bound, has its maximum where it was seen.
    kept = found > height[top]
    return np.where(kept, refined, y[top])[:, None], np.maximum(found, height[top])


def _any_narrow(value: Callable[[Floats], Floats], top: Floats, height: Floats, step: float, range_: float) -> bool:
    """Whether some local maximum, one of the highest, has fallen by half of the range a step away on both sides."""
    high = height >= height.max() - 0.1 * range_
    sides = np.maximum(value(top[high, None] - step), value(top[high, None] + step))
    return bool((sides < height[high] - 0.5 * range_).any())


def _in_a_box(value: Callable[[Floats], Floats], bounds: Floats, z: Floats, n: int) -> tuple[Floats, Floats]:
    """Local maxima (m, d) in a box, and their heights."""
    from scipy.optimize import minimize, shgo

    def depth(y: Floats) -> float:
        return -float(value(y[None])[0])

    descend: Any = minimize
    found: Any = shgo(depth, bounds, n=n, sampling_method="sobol")  # type: ignore[arg-type]
    points: list[Floats] = list(np.atleast_2d(found.xl)) if found.success else []
    missed = -np.inf if not points else max(-depth(point) for point in points)
    height = value(z) if len(z) else np.zeros(0)
    starts = z[np.argsort(-height, kind="stable")[:FEW]]
    points += [descend(depth, start, bounds=bounds, method="L-BFGS-B").x for start in starts]
    if not points:
        raise ValueError(
            f"The 'optimise' search found no maximum among {n} starting points ({found.message}); "
            "the expected utility may be flat: use a larger n, or candidates y=[...]."
        )
    heights = np.array([-depth(point) for point in points])
    if heights.max() > missed + 1e-3 * max(float(np.ptp(np.append(height, heights))), 1e-300):
        warnings.warn(
            "The best predictions were found from outcomes only, so that 'optimise' may have missed others: use "
            f"GlobalMaxima(n={8 * n}), or candidates y=[...].",
            UserWarning,
            stacklevel=2,
        )
    return np.array(points), heights


def _checked(integrate: Callable[[Floats, Floats], Any], p: Floats, u: Floats) -> Floats:
    """What an integrator of the user gives, if it has the right form."""
    rule = f"it must give finite numbers of shape {(len(p), len(u))}: one for each distribution and prediction."
    expected = as_table(result_of(integrate, "integrate", p, u), "integrate", rule, float)
    if expected.shape != (len(p), len(u)) or not np.isfinite(expected).all():
        raise ValueError(
            f"The 'integrate' callable gave shape {expected.shape} for {len(p)} distributions and {len(u)} "
            f"predictions; {rule}"
        )
    return expected


def _integrated(p: Floats, outcomes: Sequence[Any], utility: Utility, slack: Slack, integrate: Any) -> Optimum:
    """Step 5 with an integrator of the user: all candidates are compared."""
    candidates = utility.candidates(outcomes)
    u = utility.matrix(candidates, outcomes)
    expected = _checked(integrate, p, u)
    if isinstance(integrate, MonteCarlo) and slack.n is not None:
        # Draws from a sample add their own error.
        slack = replace(slack, n=1.0 / (1.0 / slack.n + 1.0 / integrate.n))
    return exhaustive(p, u, candidates, slack, expected)


def _optimised(
    p: Floats, outcomes: Sequence[Any], utility: Utility, slack: Slack, integrate: Any, optimise: Callable[..., Any]
) -> Optimum:
    """Step 5 with an optimiser over a continuum of predictions."""
    expected = (lambda p, u: p @ u.T) if integrate is None else integrate
    value, error = np.zeros((2, len(p)))
    points: list[Floats] = []
    for k in range(len(p)):
        row = p[k : k + 1]

        def worth(y: Floats, row: Floats = row) -> Floats:
            values: Floats = _checked(expected, row, utility.matrix(_listed(y), outcomes))[0]
            return values

        found = _found(optimise(worth, outcomes))
        height = worth(found)
        value[k] = height.max()
        points.append(found)
        if slack.n is not None:
            u = utility.matrix(_listed(found[height.argmax()][None]), outcomes)
            error[k] = np.sqrt(variance_of(row, u)[0] / slack.n[k])
    extent = np.concatenate(points)
    if as_array(outcomes).dtype.kind in "biuf":
        extent = numbers(outcomes, "optimise").reshape(len(outcomes), -1)
    precision = PRECISION * float(np.ptp(extent, axis=0).max())
    return Optimum(value, error, Points(points, [np.zeros_like(part) for part in points], precision))


def _found(answer: Any) -> Floats:
    """What an optimiser gives, as sorted rows (m, d)."""
    rule = "it must give at least one finite prediction: return numbers, or one row of numbers for each prediction."
    points = as_table(answer, "optimise", rule, float)
    if points.ndim > 2 or not points.size or not np.isfinite(points).all():
        raise ValueError(f"The 'optimise' callable gave {answer!r}; {rule}")
    points = points.reshape(len(points), -1) if points.ndim else points.reshape(1, 1)
    return np.unique(points, axis=0)


def _listed(y: Floats) -> list[Any]:
    """Rows of numbers as predictions: numbers, or tuples of numbers."""
    rows = np.asarray(y, float).reshape(len(y), -1)
    return [row[0] for row in rows.tolist()] if rows.shape[1] == 1 else [tuple(row) for row in rows.tolist()]


def solve(
    p: Any, outcomes: Sequence[Any], utility: Any, slack: Slack, integrate: Any = None, optimise: Any = None
) -> Optimum:
    """Best predictions of K distributions over the outcomes.

    Parameters
    ----------
    p : (K, n_z) distributions, dense or sparse
    outcomes : what the columns mean
    utility : U(y, z)
    slack : when two utilities count as equal
    integrate : callable of (p, u), see above; by default the sum over outcomes
    optimise : callable of (value, outcomes), see above; by default closed forms and all candidates

    Returns
    -------
    Optimum
        The sets Y and the expected utility of each distribution.
    """
    bound = as_utility(utility).bound(outcomes)

    def best(p: Any, slack: Slack) -> Optimum:
        if optimise is not None:
            return _optimised(p, outcomes, bound, slack, integrate, optimise)
        if integrate is not None:
            return _integrated(p, outcomes, bound, slack, integrate)
        return bound.best(p, outcomes, slack)

    if not isinstance(p, np.ndarray) and bound.sparse and bound.y is None and optimise is None and integrate is None:
        return best(p, slack)
    size = max(1, BLOCK // max(p.shape[1], len(bound.y or ()), 1))
    rows = [slice(begin, begin + size) for begin in range(0, p.shape[0], size)]
    parts = [best(p[r] if isinstance(p, np.ndarray) else p[r].toarray(), slack.rows(r)) for r in rows]
    worth, error = (np.concatenate([getattr(part, name) for part in parts]) for name in ("utility", "error"))
    return Optimum(worth, error, parts[0].predictions.join([part.predictions for part in parts[1:]]))


def same_predictions(u1: Any, u2: Any, causal: Any, atol: float = 1e-9) -> bool:
    """Whether two utilities lead to the same sets Y of best predictions in every causal state.

    Parameters
    ----------
    u1, u2 : utilities, tables or callables
    causal : fitted CausalStates, or an EpsilonMachine
    atol : expected utilities that differ by no more are equal

    Returns
    -------
    bool
        True if all sets are the same.
    """
    a, b = _optima(u1, u2, causal, atol)
    return all(_same(y1, y2, atol) for y1, y2 in zip(a.predictions, b.predictions, strict=True))


def same_values(u1: Any, u2: Any, causal: Any, atol: float = 1e-9) -> bool:
    """Whether the best predictions of every causal state are worth the same; parameters as `same_predictions`."""
    a, b = _optima(u1, u2, causal, atol)
    return bool((np.abs(a.utility - b.utility) <= atol).all())


def equivalent(u1: Any, u2: Any, causal: Any, atol: float = 1e-9) -> bool:
    """Whether two utilities are functionally equivalent: same best predictions and values in every causal state.

    Then they have the same decisional states; parameters as `same_predictions`.
    """
    return same_predictions(u1, u2, causal, atol) and same_values(u1, u2, causal, atol)


def _optima(u1: Any, u2: Any, causal: Any, atol: float) -> tuple[Optimum, Optimum]:
    real(atol, "atol", least=0, remedy="try atol=1e-9")
    p: Floats
    outcomes: Sequence[Any]
    if isinstance(causal, EpsilonMachine):
        p, outcomes = causal.emission, causal.alphabet
    elif isinstance(causal, CausalModel) and causal.is_fitted():
        p, outcomes = causal.distributions_, causal.outcomes_
    else:
        kind = "fitted CausalStates or an EpsilonMachine"
        raise TypeError(f"The 'causal' must be {kind}. Got {shown(causal)} instead: fit them first.")
    # After a dead end nothing follows.
    p = p[p.sum(axis=1) > 0.0]
    slack = Slack(atol)
    return solve(p, outcomes, u1, slack), solve(p, outcomes, u2, slack)


def _same(a: Any, b: Any, atol: float) -> bool:
    """Equality of sets, within rounding for numbers: {0.5} and [0.5, 0.5] are the same, {0, 1} and [0, 1] are not."""
    if isinstance(a, Set) and isinstance(b, Set):
        return a == b
    # An interval of some width is never a list of points.
    wide = [isinstance(values, Interval) and values.low < values.high for values in (a, b)]
    if wide[0] != wide[1]:
        return False
    try:
        x, y = (np.unique(np.array(list(values), float), axis=0) for values in (a, b))
    except (TypeError, ValueError):
        return bool(a == b)
    return x.shape == y.shape and bool(np.allclose(x, y, rtol=0.0, atol=max(atol, 1e-9)))
