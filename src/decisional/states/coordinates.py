"""Coordinates of causal states: where the states are a continuum, a map of it with few dimensions.

A causal state is the distribution of the future given x. It is embedded as what x lets expect of kernels of the next
few values, by a kernel ridge regression without the observation's own fold; its coordinates are the principal
components of that. One value ahead would not do: where the world is nearly deterministic, its distributions differ in
their mean alone, and several states share it. Kernels of the future are wide, so that the first coordinates tell means
apart and later ones shapes. On the coordinates an operator evolves: what is expected of them one step later, applied
again for each further step. After Brodu and Crutchfield, "Discovering causal structure with reproducing-kernel Hilbert
space epsilon-machines", Chaos 32 (2022).
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._kernels import low_rank as kernels
from ..data.observations import Observations
from ..support.arguments import as_table, integer, refusal
from ..support.arrays import Floats, Ints
from ..support.executors import map_slices, slices, workers
from .bandwidths import Sample, likeliest, sampled
from .forecasts import Forecast
from .scales import Scale, robust, scattered
from .stacking import ANSWERING, Stack, ahead, stacked

# Cross-fitting: blocks of so many consecutive observations, fewer where there are few, take turns in so many folds.
BLOCK, FOLDS = 25, 10
# Features of kernels, at most, and the remainder of a kernel that counts as none: of pasts, and of futures.
RANK, REMAINDER, FUTURE_RANK, FUTURE_REMAINDER = 200, 1e-5, 60, 1e-7
# Width of the kernels of futures, in scales of z for each value, and what a value counts against the one before.
WIDE, DISCOUNT = 4.0, 0.85
# Widths and ridges that are tried: of x, times those by which one value is the likeliest; of coordinates.
FACTORS, WIDTHS = (1.0, 2.0, 4.0, 8.0, 16.0), (0.3, 0.6, 1.2, 2.4, 4.8)
RIDGES = (1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1)
# Components with less than this share of the variance of the first are rounding; a variance of less is none.
LEAST, NOTHING = 1e-10, 1e-12


class Regression(NamedTuple):
    """A kernel ridge regression of several numbers on points, with and without each fold.

    Attributes
    ----------
    pivots, width : (r, d), (d,) centres and widths of the kernels
    features, fold : (n, r + d + 1) of the points, and (n,) their folds
    turned : (r, r) what makes features of kernels: Cholesky's factor at the pivots
    products : (FOLDS, r + d + 1, r + d + 1) of the features of each fold
    ridge : as much as so many observations
    """

    pivots: Floats
    width: Floats
    features: Floats
    fold: Ints
    turned: Floats
    products: Floats
    ridge: float

    def coefficients(self, y: Floats) -> Floats:
        """(FOLDS + 1, r + d + 1, t) of the kernels, the points and 1, for y (n, t): without each fold, and with all."""
        found, r = self.weights(y), len(self.pivots)
        for one in found:
            kernels.solve_upper(self.turned, one[:r])
        return found

    def weights(self, y: Floats) -> Floats:
        """(FOLDS + 1, r + d + 1, t) those of the features."""
        mixed = _products(self.features, y, self.fold)
        all_products, all_mixed = self.products.sum(axis=0), mixed.sum(axis=0)
        found = np.stack([*(all_mixed - mixed), all_mixed])
        diagonal = np.arange(len(all_products))
        for f, one in enumerate(found):
            a = all_products - self.products[f] if f < FOLDS else all_products.copy()
            a[diagonal, diagonal] += self.ridge
            kernels.solve(a, one)
        return found

    def crossed(self, y: Floats) -> Floats:
        """(n, t) what is expected of y at each point, without its fold."""
        weights, found = self.weights(y), np.empty_like(y)
        for f in range(FOLDS):
            own = self.fold == f
            found[own] = np.einsum("nr,rt->nt", self.features[own], weights[f])
        return found

    def at(self, points: Floats, coefficients: Floats, fold: Ints | None = None) -> Floats:
        """(m, t) what is expected at other points (m, d), without their folds where these are given."""
        out = np.empty((len(points), coefficients.shape[2]))
        fold = np.full(len(points), FOLDS) if fold is None else fold

        def rows(part: tuple[int, int]) -> None:
            own = slice(*part)
            kernels.predict(points[own], fold[own], self.pivots, self.width, coefficients, out[own])

        list(map_slices(rows, slices(len(points), workers())))
        return out


def regression(points: Floats, y: Floats, fold: Ints, widths: list[Floats]) -> Regression:
    """The regression, of several widths and ridges, with the smallest squared error of y (n, t) in folds left out."""
    found = []
    for width in widths:
        low, pivots = low_rank(points, width, RANK, REMAINDER)
        features = np.ascontiguousarray(np.column_stack([low, points, np.ones(len(points))]))
        turned = np.ascontiguousarray(low[pivots])
        parts = points[pivots], width, features, fold, turned, _products(features, features, fold)
        for ridge in RIDGES:
            one = Regression(*parts, ridge * len(points))
            found.append((float(((one.crossed(y) - y) ** 2).sum()), one))
    return min(found, key=lambda pair: pair[0])[1]


def low_rank(points: Floats, width: Any, most: int, least: float) -> tuple[Floats, Ints]:
    """(n, r) features whose products are the Gaussian kernels of points (n, d), and (r,) the pivots. Cost: O(n r²)."""
    n = len(points)
    features, pivots = np.empty((min(most, n), n)), np.zeros(min(most, n), np.int64)
    rank = kernels.pivoted(np.ascontiguousarray((points / width).T), least, features, pivots)
    return np.ascontiguousarray(features[:rank].T), pivots[:rank]


def _products(a: Floats, b: Floats, fold: Ints) -> Floats:
    out = np.empty((FOLDS, a.shape[1], b.shape[1]))
    kernels.products(a, np.ascontiguousarray(b), fold, out)
    return out


def folds(n: int) -> Ints:
    """(n,) fold of each of all observations."""
    return np.arange(n) // max(min(BLOCK, n // FOLDS), 1) % FOLDS


class Embedding(NamedTuple):
    """How x become coordinates; made by `embedded`.

    Attributes
    ----------
    x_scale : of x
    regression, coefficients : of the coordinates on x in scales
    share : (n,) of the variance of all components in each
    """

    x_scale: Scale
    regression: Regression
    coefficients: Floats
    share: Floats

    def at(self, x: NDArray[Any], fold: Ints | None = None) -> Floats:
        """(m, n) coordinates of x (m, d) in the units of the data."""
        return self.regression.at(self.x_scale.tame(x), self.coefficients, fold)


def embedded(obs: Observations, n: int, future: int) -> Embedding:
    """The embedding of observations whose x and z are numbers in n coordinates."""
    sample, z = _with_futures(obs, future)
    count = np.repeat(DISCOUNT ** np.arange(z.shape[1] // sample.dim), sample.dim)
    features, _ = low_rank(z * count, WIDE * np.sqrt((count**2).sum()), FUTURE_RANK, FUTURE_REMAINDER)
    features = features - features.mean(axis=0)
    width = likeliest(sample)[0]
    fold = folds(obs.n)[sample.place]
    found = regression(sample.x, features, fold, [factor * width for factor in FACTORS])
    mean = found.crossed(features)
    centre = mean.mean(axis=0)
    variance, axes = _principal(mean - centre)
    possible = int((variance > max(LEAST * variance[0], NOTHING)).sum())
    if n > possible:
        rule = f"at most {possible}, in which the distributions of the next {future} values differ"
        raise ValueError(refusal("n", n, rule, "give fewer", "coordinates"))
    axes = axes[:, :n] / np.sqrt(variance[:n])
    # Coordinates grow with what comes next.
    own = np.einsum("nr,rk->nk", mean - centre, axes)
    axes = axes * np.where(np.einsum("nk,n->k", own, z[:, 0]) < 0.0, -1.0, 1.0)
    coefficients = found.coefficients(np.einsum("nr,rk->nk", features, axes))
    coefficients[:, -1] -= np.einsum("r,rk->k", centre, axes)
    return Embedding(sample.x_scale, found, coefficients, variance[:n] / variance.sum())


def _principal(values: Floats) -> tuple[Floats, Floats]:
    """(r,) variances of principal components of values (n, r), the largest first, and (r, r) their axes in columns."""
    moments = _products(values, values, np.zeros(len(values), np.int64))[0] / len(values)
    axes = np.empty_like(moments)
    kernels.principal_axes(moments, axes)
    order = np.argsort(-np.diag(moments), kind="stable")
    return np.diag(moments)[order], axes[:, order]


def _with_futures(obs: Observations, future: int) -> tuple[Sample, Floats]:
    """Some observations in robust scales, and (n, future k) the next values of each in scales of z."""
    targets = obs.targets
    if targets is None:
        raise ValueError(
            "The 'z' are kinds, not numbers; coordinates are those of distributions of numbers: use states_, or code z "
            "as numbers."
        )
    sample, after = sampled(obs), obs.successor
    assert sample.z_scale is not None
    places = [sample.place]
    # Pairs have no order, and no future but z.
    for _ in range(future - 1 if after is not None else 0):
        assert after is not None
        places.append(np.where(places[-1] >= 0, after[places[-1]], -1))
    known = np.flatnonzero(np.min(places, axis=0) >= 0)
    if known.size < 2:
        raise ValueError(
            f"The 'future' is {future} and {known.size} of {obs.n} observations are followed by as many values without "
            "a gap; some must be: give a smaller one or more data."
        )
    known = known[scattered(sample.site[known], ANSWERING)]
    values = [sample.z_scale.tame(targets[obs.z[place[known]]]) for place in places]
    return sample.of(known), np.column_stack(values)


class Coordinates:
    """Coordinates of the causal states of each x; `causal.coordinates(n)` makes them.

    Nearby points have nearly the same distribution of the future. Coordinates have a mean of 0 and a variance of 1,
    the first varies most with the future, and each grows with the next value; they do not depend on the units of the
    data.

    Attributes
    ----------
    values : (n_observations, n) those of the observations of `fit`, each without the z of its own neighbourhood in the
        data; NaN for rows with a missing value
    share : (n,) how much of what x tells about the future varies along each
    """

    def __init__(self, obs: Observations, n: int, future: int, points_of: Callable[[Any], Floats], lay: Any) -> None:
        self._obs, self._points_of = obs, points_of
        self._embedding = embedded(obs, n, future)
        points = obs.points
        assert points is not None
        self._fold = folds(obs.n)
        self._own = self._embedding.at(points[obs.x].astype(float), self._fold)
        self.values: Floats = lay(self._own)
        self.share = self._embedding.share
        self._operator: _Operator | None = None
        self._stacks: dict[int, Stack] = {}

    def __repr__(self) -> str:
        share = ", ".join(f"{one:.0%}" for one in self.share)
        return f"Coordinates({len(self.values)} observations, n={self.share.size}, share {share})"

    def at(self, X: Any) -> Floats:
        """(m, n) coordinates of new x, as in `causal.predict`; NaN where a value is missing. Cost: O(m)."""
        return self._embedding.at(self._points_of(X))

    def evolve(self, values: ArrayLike, steps: int = 1) -> Floats:
        """(m, n) coordinates that are expected so many steps after some coordinates (m, n)."""
        steps = integer(steps, "steps", of="evolve")
        rule = f"it must be coordinates (m, {self.share.size}), as those of at(X): give such an array."
        given = as_table(values, "values", rule, float)
        if given.ndim != 2 or given.shape[1] != self.share.size:
            raise ValueError(f"The 'values' have shape {given.shape}; {rule}")
        return self._evolution.at(given, steps)

    def forecast(self, X: Any = None, steps: int = 1) -> Forecast:
        """The distribution of the outcome of each x by its coordinates alone, so many steps ahead.

        Coordinates evolve for all steps but one; then P(z | evolved coordinates) is made of the same kernels as that of
        `causal.forecast`, which knows x itself and does not evolve.

        Parameters
        ----------
        X : as in `causal.predict`; by default the observations of `fit`, by their `values`
        steps : how many steps ahead

        Returns
        -------
        Forecast : one for each row. Cost: for each number of steps once a few seconds, then 8,000 kernels for each
            observation.
        """
        steps = integer(steps, "steps", of="forecast")
        values = self._evolved(self.values if X is None else self.at(X), steps - 1)
        if steps not in self._stacks:
            self._stacks[steps] = self._stack(steps)
        return Forecast(self._stacks[steps], values)

    def _stack(self, steps: int) -> Stack:
        sample = ahead(self._obs, steps)
        if sample.dim != 1:
            raise ValueError(
                f"The 'z' are vectors of {sample.dim} numbers; forecasts are distributions of one number: observe with "
                "future=1, and one 'target' column."
            )
        values = self._evolved(self._own[sample.place], steps - 1, self._fold[sample.place])
        scale = robust(values)
        return stacked(sample._replace(x=scale.tame(values), x_scale=scale, shared=False))

    def _evolved(self, values: Floats, steps: int, fold: Ints | None = None) -> Floats:
        return self._evolution.at(values, steps, fold) if steps else values

    @property
    def _evolution(self) -> "_Operator":
        if self._operator is None:
            after = self._obs.successor
            if after is None:
                raise ValueError(
                    "The observations are pairs without an order; coordinates evolve along a series: forecast with "
                    "steps=1, or observe one with ds.observe.delays."
                )
            self._operator = _Operator(self._own, self._fold, after)
        return self._operator


class _Operator:
    """What is expected of coordinates later: one step, applied again and again.

    Parameters
    ----------
    values, fold, after : (n, k), (n,), (n,) coordinates, folds and successors of all observations
    """

    def __init__(self, values: Floats, fold: Ints, after: Ints) -> None:
        some = np.flatnonzero(after >= 0)
        some = some[scattered(some, ANSWERING)]
        self.next, self.next_fold = np.ascontiguousarray(values[after[some]]), fold[after[some]]
        widths = [np.full(values.shape[1], width) for width in WIDTHS]
        self.regression = regression(np.ascontiguousarray(values[some]), self.next, fold[some], widths)
        self.coefficients: list[Floats] = []

    def at(self, values: Floats, steps: int, fold: Ints | None = None) -> Floats:
        """(m, k) what is expected so many steps after coordinates (m, k), without their folds where these are given."""
        while len(self.coefficients) < steps:
            last = self.coefficients[-1:]
            y = self.regression.at(self.next, last[0], self.next_fold) if last else self.next
            self.coefficients.append(self.regression.coefficients(y))
        return self.regression.at(values, self.coefficients[steps - 1], fold)
