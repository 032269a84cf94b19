"""Codes of the light cones of real-valued fields: as much of a past cone as tells of its future, in few nested codes.

Real numbers hardly repeat, so that cones of them cannot be counted. Future cones are therefore coded by the nearest of
a few centres, and past cones by nested ones, in one of several spaces: all of their cells, or a few linear filters that
a regression finds to matter for the future. Codes of one prefix play the part of cones that share their later rows, and
states follow from their counts as those of symbols do (`cone_states`). The space is the one whose states tell most of
the future of data that they were not made from.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from heapq import heappop, heappush
from typing import Any

import numpy as np

from .._kernels import cone_codes as kernels
from ..data.coding import Coder, Quantiser
from ..data.fields import Cones
from ..data.real_cones import Cells
from ..support.arrays import Bools, Floats, Ints
from .cone_states import states_of_cones

# Nested groups of the codes of past cones, future cones and middle cells: the last number is that of centres.
PAST, FUTURE, CENTRE = (4, 16, 64, 128, 256, 512), (16,), (8, 64)
# Places whose cones centres and filters are learnt from.
SAMPLE, ASKED = 1 << 16, 20_000
# Numbers of filters that are tried.
RANKS = (1, 2, 4, 8)
# The regression: random features, rounds until filters settle and more of them that count, and ridge constants as
# shares of the largest eigenvalue.
FEATURES, ROUNDS, KEPT, RIDGES = 300, 5, 4, (1e-6, 1e-5, 1e-4, 1e-3, 1e-2)
SEED = 20110
# Rounds of the power method and of means, and points that a node of the tree has at least for each child.
POWER, LLOYD, LEAST = 12, 25, 4


def learn_coder(obs: Any, alpha: float) -> Coder:
    """The codes of cones that tell most of the future.

    Parameters
    ----------
    obs : light cones of real numbers in memory, with no more observations than are needed
    alpha : probability of a false difference between states

    Notes
    -----
    Cost: for each space 65,000 cones are coded a few times, and all observations counted twice.
    """
    assert isinstance(obs, Cones)
    with one_thread():
        cells = Cells(obs.grids, obs.cone, SAMPLE)
        future = _FutureCodes(cells)
        scale = _variable_scale(cells)
        ranks = [rank for rank in RANKS if rank < scale[0].size]
        best = 0
        if obs.grids and sum(grid.shape[0] for grid in obs.grids) > 1 and ranks:
            best = _best_rank(obs, future, scale, ranks, alpha)
        filters: Floats = np.empty((scale[0].size, 0))
        if best:
            few = Cells(obs.grids, obs.cone, ASKED)
            filters = predictive_axes(few, future.targets(few))[:, :best]
        return future.coder(past_quantiser(cells, scale, filters))


@contextmanager
def one_thread() -> Iterator[None]:
    """Have sums of products in one order, whatever the number of threads."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        yield


class _FutureCodes:
    """Codes of future cones and of their middle cells."""

    def __init__(self, cells: Cells) -> None:
        cone, variables = cells.cone, cells.variables
        self.cells, self.variables, self.cone = cells, variables, cone
        self._future, self._middle = cells.vectors(cone.future), cells.vectors(cone.middle)
        self.scales = [spread(self._future, variables), spread(self._middle, variables)]
        self.z = quantiser(self._future, *self.scales[0], FUTURE)
        self.centre = quantiser(self._middle, *self.scales[1], CENTRE)

    def coder(self, x: Quantiser) -> Coder:
        return Coder(self.cone, self.variables, x, self.z, self.centre, self._values())

    def _values(self) -> Floats:
        """(n_z, n_centre, variables) mean of the middle cell for both codes; different in all of them."""
        whole = self.z.numbers(self._future)
        part = self.centre.numbers(self._middle)
        n, m = len(self.z.centres), len(self.centre.centres)
        both, alone = np.full((n, m, self.variables), np.nan), np.zeros((m, self.variables))
        for k in range(self.variables):
            value = self._middle[:, k]
            with np.errstate(invalid="ignore"):
                size = np.bincount(part, minlength=m)
                alone[:, k] = np.where(size, np.bincount(part, value, m) / size, value.mean() if value.size else 0.0)
                mean = np.bincount(whole * m + part, value, n * m) / np.bincount(whole * m + part, minlength=n * m)
            both[..., k] = np.where(np.isnan(mean.reshape(n, m)), alone[:, k], mean.reshape(n, m))
        return _all_different(both)

    def targets(self, cells: Cells) -> Floats:
        """(n, k) what filters of the past should tell: the code of the future, rare ones as much as others, and its
        cells."""
        future = cells.vectors(self.cone.future)
        hot = np.eye(len(self.z.centres))[self.z.numbers(future)]
        hot /= np.sqrt(hot.mean(axis=0) + 1e-9)
        shift, scale = future.mean(axis=0), future.std(axis=0)
        return np.concatenate([hot, (future - shift) / np.where(scale > 0.0, scale, 1.0)], axis=1)


def _all_different(values: Floats) -> Floats:
    """The same vectors (..., d), moved by as little as can be where two are equal."""
    rows = values.reshape(-1, values.shape[-1]).copy()
    seen = set()
    for row in rows:
        while tuple(row) in seen:
            row[0] = np.nextafter(row[0], np.inf)
        seen.add(tuple(row))
    return rows.reshape(values.shape)


def spread(vectors: Floats, variables: int) -> tuple[Floats, Floats]:
    """(d,) the mean of each number of vectors, and one over the spread of its variable."""
    shift = vectors.mean(axis=0) if len(vectors) else np.zeros(vectors.shape[1])
    apart = np.sqrt(((vectors - shift) ** 2).reshape(len(vectors), variables, -1).mean(axis=(0, 2)))
    return shift, np.repeat(1.0 / np.where(apart > 0.0, apart, 1.0), vectors.shape[1] // variables)


def _variable_scale(cells: Cells) -> tuple[Floats, Floats]:
    return spread(cells.vectors(cells.cone.past), cells.variables)


def past_quantiser(cells: Cells, scale: tuple[Floats, Floats], filters: Floats) -> Quantiser:
    """Nested codes of past cones in the space of some filters."""
    return quantiser(cells.vectors(cells.cone.past), *scale, PAST, filters)


def _best_rank(obs: Cones, future: _FutureCodes, scale: Any, ranks: list[int], alpha: float) -> int:
    """How many filters tell most of the second half of the data, made from the first; 0 = all cells are better."""
    halves = obs.halves()
    cells = Cells(halves[0].grids, obs.cone, SAMPLE)
    few = Cells(halves[0].grids, obs.cone, ASKED)
    axes = predictive_axes(few, future.targets(few))
    bits = {}
    for rank in (0, *ranks):
        coder = future.coder(past_quantiser(cells, scale, axes[:, :rank]))
        fitted, other = (half.coded(coder) for half in halves)
        states = states_of_cones(fitted, alpha)
        labels = states.label_all()[fitted.x], states.states_of(other)[other.x]
        z = [half.vocabularies[1].words()[:, 0][half.z] for half in (fitted, other)]
        bits[rank] = held_out_bits(labels[0], z[0], labels[1], z[1])
    return max(bits, key=lambda rank: bits[rank])


def held_out_bits(label: Ints, z: Ints, new_label: Ints, new_z: Ints) -> float:
    """Bits about each of new z that its label tells, by counts of other data and one more of each label."""
    n_z, n = max(int(z.max()), int(new_z.max())) + 1, max(int(label.max()), int(new_label.max())) + 1
    q = np.bincount(z, minlength=n_z) + 0.5
    q /= q.sum()
    both = np.bincount(label * n_z + z, minlength=n * n_z).reshape(n, n_z)
    seen = np.bincount(new_label * n_z + new_z, minlength=n * n_z).reshape(n, n_z)
    gain = np.log2((both + q) / (both.sum(axis=1, keepdims=True) + 1.0) / q)
    return float((seen * gain).sum() / seen.sum())


def predictive_axes(cells: Cells, targets: Floats) -> Floats:
    """(d, d) linear filters of past cones, less their means and by their variables' spreads, those that matter most
    for the targets (n, k) first.

    A ridge regression on random features max(0, w x + b); w is drawn along the root of the mean outer product of the
    gradients of the last round (Radhakrishnan et al. 2024: recursive feature machines). Each w comes with all its
    mirror images and turns, so that the filters turn with space.
    """
    scale = _variable_scale(cells)
    past = (cells.vectors(cells.cone.past) - scale[0]) * scale[1]
    own = past.std(axis=0)
    own = np.where(own > 0.0, own, 1.0)
    x, y = past / own, targets - targets.mean(axis=0)
    rng, turns, d = np.random.default_rng(SEED), cells.turns, past.shape[1]
    root, axes = np.eye(d), np.eye(d)
    total: Floats = np.zeros((d, d))
    for k in range(ROUNDS + KEPT - 1):
        draws = rng.normal(size=(d, max(FEATURES // len(turns), 1))) * np.sqrt(2.0 / d)
        w = root @ np.concatenate([draws[turn] for turn in turns], axis=1)
        b = np.tile(rng.uniform(-1.5, 1.5, draws.shape[1]), len(turns))
        gradients = sum_of_gradients(x, y, w, b, cells.held)
        # The last rounds together are less a matter of chance than each of them.
        total = gradients + (total if k >= ROUNDS else 0.0)
        value, vector = np.linalg.eigh(total)
        value = np.sqrt(np.maximum(value, 0.0))
        root = (vector * value) @ vector.T
        size = np.sqrt((root**2).sum() / d)
        root = root / size if size > 0.0 else np.eye(d)
        axes = (vector * value)[:, ::-1]
    return axes / own[:, None]


def sum_of_gradients(x: Floats, y: Floats, w: Floats, b: Floats, held: Bools) -> Floats:
    """(d, d) sum of the outer products of the gradients of a ridge regression of y (n, k) on x (n, d) and on features
    of x; the places that are `held` choose the ridge.

    The gradient at a place is L + W D F, D telling which features are above 0 there. Cost: O(n m^2) for m features.
    """
    d = x.shape[1]
    fitted = ~held if held.any() else held | True
    held = held if held.any() else fitted
    folded = x @ w + b
    h = np.concatenate([np.ones((len(x), 1)), x, np.maximum(folded, 0.0)], axis=1)
    n = np.count_nonzero(fitted)
    value, vector = np.linalg.eigh(h[fitted].T @ h[fitted] / n)
    value, along = np.maximum(value, 0.0), vector.T @ (h[fitted].T @ y[fitted] / n)
    seen = h[held] @ vector
    ridges = [ridge * value[-1] for ridge in RIDGES]
    errors = [((y[held] - seen @ (along / (value + ridge)[:, None])) ** 2).mean() for ridge in ridges]
    weight = vector @ (along / (value + ridges[int(np.argmin(errors))])[:, None])
    return gradient_products(folded > 0.0, w, weight[1 : d + 1], weight[d + 1 :])


def gradient_products(above: Bools, w: Floats, linear: Floats, bent: Floats) -> Floats:
    """(d, d) sum over places of G G', G = linear (d, k) and w[:, m] bent[m]' for each feature m above 0 there."""
    on = above.astype(float)
    mixed = linear @ (bent * on.sum(axis=0)[:, None]).T @ w.T
    total: Floats = len(on) * linear @ linear.T + mixed + mixed.T + w @ ((on.T @ on) * (bent @ bent.T)) @ w.T
    return total


def quantiser(
    vectors: Floats, shift: Floats, scale: Floats, sizes: tuple[int, ...], filters: Floats | None = None
) -> Quantiser:
    """Nested centres of vectors (n, d), less a shift, by a scale, and through filters (d, r) if there are any."""
    filters = np.empty((vectors.shape[1], 0)) if filters is None else np.ascontiguousarray(filters)
    space = Quantiser(shift, scale, filters, np.empty((0, 0)), np.empty((0, 0), np.int64))
    centres = means(space.seen(vectors), sizes[-1])
    return replace(space, centres=centres, words=nested(centres, sizes))


def nested(centres: Floats, sizes: tuple[int, ...]) -> Ints:
    """(k, depth) group of each centre, for so many groups at each level, by Ward's tree of the centres; the last level
    has them alone."""
    from scipy.cluster.hierarchy import cut_tree, ward

    alone = np.arange(len(centres))
    if len(centres) < 2:
        return np.zeros((1, len(sizes)), np.int64)
    tree = ward(centres)
    levels = [cut_tree(tree, [min(size, len(centres))])[:, 0] for size in sizes[:-1]]
    return np.stack([*levels, alone], axis=1)


def means(points: Floats, k: int) -> Floats:
    """(at most k, d) means of groups of points (n, d).

    The group that spreads most is cut in two, across its widest axis, until there are k; then Lloyd's rounds.
    """
    label = _cut(points, min(k, max(len(points) // LEAST, 1)))
    centres = np.zeros((int(label.max(initial=0)) + 1, points.shape[1]))
    for _ in range(LLOYD):
        before = label.copy()
        kernels.add_means(points, label, centres)
        kernels.code_vectors(points, centres, label)
        if (label == before).all():
            break
    return centres


def _cut(points: Floats, k: int) -> Ints:
    """(n,) groups of points, at most k."""
    label, members = np.zeros(len(points), np.int64), [np.arange(len(points))]
    waiting = [(-np.inf, 0)]
    axis = np.empty(points.shape[1])
    while waiting and len(members) < k:
        _, widest = heappop(waiting)
        own = members[widest]
        mean = kernels.widest_axis(points[own], POWER, axis)
        above = ((points[own] - mean) * axis).sum(axis=1) > 0.0
        if not above.any():
            continue
        members[widest], new = own[~above], own[above]
        members.append(new)
        label[new] = len(members) - 1
        for group in (widest, len(members) - 1):
            part = points[members[group]]
            heappush(waiting, (-float(((part - part.mean(axis=0)) ** 2).sum()), group))
    return label
