"""Step 5 of the figure: Y and U of each distribution, whatever the utility, integrator and optimiser.

An integrator is any callable of (p, u), distributions (K, n_z) and utilities (n_y, n_z), that returns the expected
utilities (K, n_y). An optimiser is any callable of (value, outcomes) that returns the best predictions of one
state, `value` being its expected utility as a function of an array of predictions.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..support.arguments import as_table, generator, integer, real, shown
from ..support.arrays import Floats
from .predictions import Optimum, Points, Slack, exhaustive, in_blocks
from .utilities import Utility, as_array, as_utility, numbers

PRECISION = 1e-5  # of predictions found by a search, as a share of the range of the outcomes


@dataclass(frozen=True)
class MonteCarlo:
    """Mean utility over n outcomes drawn from each distribution; the same draws for all predictions.

    Where the distributions are exact, `delta` and `atol` tell what differs by more than the noise of the draws.
    """

    n: int = 10_000
    random_state: Any = None

    def __call__(self, p: Floats, u: Floats) -> Floats:
        integer(self.n, "n", remedy="try n=10000", of="MonteCarlo")
        rng = generator(self.random_state, "random_state")
        draws: Floats = rng.multinomial(self.n, p / p.sum(axis=1, keepdims=True)) / self.n
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
    """All global maxima over a box of predictions, by simplicial homology (scipy's shgo).

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
        from scipy.optimize import shgo

        z = numbers(outcomes, "GlobalMaxima")
        z = z.reshape(len(z), -1)
        if self.bounds is None and (z == z[0]).all():
            return z[:1]
        rule = f"there must be low < high for each of the {z.shape[1]} dimensions of z: give the range of predictions."
        given = np.column_stack([z.min(axis=0), z.max(axis=0)]) if self.bounds is None else self.bounds
        bounds = as_table(given, "bounds", rule, float)
        if bounds.shape != (z.shape[1], 2) or not (bounds[:, 0] < bounds[:, 1]).all():
            raise ValueError(f"The 'bounds' of GlobalMaxima are {shown(self.bounds)}; {rule}")
        integer(self.n, "n", remedy="try n=128", of="GlobalMaxima")
        real(self.rtol, "rtol", least=0, remedy="try rtol=1e-6", of="GlobalMaxima")

        def depth(y: Floats) -> float:
            return -float(value(y[None])[0])

        found: Any = shgo(depth, bounds, n=self.n, sampling_method="sobol")  # type: ignore[arg-type]
        if not found.success:
            raise ValueError(
                f"The 'optimise' search found no maximum among {self.n} starting points ({found.message}); "
                "the expected utility may be flat: use a larger n, or candidates y=[...]."
            )
        points, heights = np.atleast_2d(found.xl), -np.asarray(found.funl)
        sample = value(z)
        near = self.rtol * max(float(np.ptp(np.append(sample, heights))), 1e-300)
        return _distinct(points[heights >= heights.max() - near], bounds)


def _distinct(points: Floats, bounds: Floats) -> Floats:
    """Sorted points without those that are the same up to the precision of a search."""
    points = points[np.lexsort(points.T[::-1])]
    close = 1e-4 * (bounds[:, 1] - bounds[:, 0])
    kept: list[Floats] = []
    for point in points:
        if not any((np.abs(point - other) <= close).all() for other in kept):
            kept.append(point)
    return np.array(kept)


def _checked(integrate: Callable[[Floats, Floats], Any], p: Floats, u: Floats) -> Floats:
    """What an integrator of the user gives, if it has the right form."""
    rule = f"it must give finite numbers of shape {(len(p), len(u))}: one for each distribution and prediction."
    expected = as_table(integrate(p, u), "integrate", rule, float)
    if expected.shape != (len(p), len(u)) or not np.isfinite(expected).all():
        raise ValueError(
            f"The 'integrate' callable gave shape {expected.shape} for {len(p)} distributions and {len(u)} "
            f"predictions; {rule}"
        )
    return expected


def _integrated(utility: Utility, integrate: Callable[[Floats, Floats], Any]) -> Callable[..., Optimum]:
    """Step 5 with an integrator of the user: all candidates are compared."""

    def best(p: Floats, outcomes: Sequence[Any], slack: Slack) -> Optimum:
        candidates = utility.candidates(outcomes)
        u = utility.matrix(candidates, outcomes)
        expected = _checked(integrate, p, u)
        if isinstance(integrate, MonteCarlo) and slack.n is not None:
            # Draws from a sample add their own error.
            slack = replace(slack, n=1.0 / (1.0 / slack.n + 1.0 / integrate.n))
        return exhaustive(p, u, candidates, slack, expected)

    return best


def _optimised(utility: Utility, optimise: Callable[..., Any], integrate: Any = None) -> Callable[..., Optimum]:
    """Step 5 with an optimiser over a continuum of predictions."""
    expected = (lambda p, u: p @ u.T) if integrate is None else integrate

    def best(p: Floats, outcomes: Sequence[Any], slack: Slack) -> Optimum:
        value, error = np.empty(len(p)), np.zeros(len(p))
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
                u = utility.matrix(_listed(found[height.argmax()][None]), outcomes)[0]
                error[k] = np.sqrt(max(float(row[0] @ u**2 - (row[0] @ u) ** 2), 0.0) / slack.n[k])
        extent = np.concatenate(points)
        if as_array(outcomes).dtype.kind in "biuf":
            extent = numbers(outcomes, "optimise").reshape(len(outcomes), -1)
        precision = PRECISION * float(np.ptp(extent, axis=0).max())
        return Optimum(value, error, Points(points, [np.zeros_like(part) for part in points], precision))

    return best


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
    """
    utility = as_utility(utility).bound(outcomes)
    best = utility.best
    if optimise is not None:
        best = _optimised(utility, optimise, integrate)
    elif integrate is not None:
        best = _integrated(utility, integrate)
    return in_blocks(p, slack, lambda block, part: best(block, outcomes, part), len(utility.y or ()))
