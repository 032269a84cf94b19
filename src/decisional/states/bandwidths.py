"""Widths of kernels: given, by a rule, or by cross-validation."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._kernels.likelihood import LANES, leave_one_out
from ..data.observations import CountsOnly
from ..data.pairs import LARGEST
from ..support.arguments import refusal
from ..support.arrays import Floats, Ints
from ..support.executors import map_slices, slices, workers
from ..support.progress import counted, tell
from .kernel_sums import nearest_distance, squares
from .scales import ASKED as ASKED_OF_SCALES
from .scales import Scale, evenly, lattice, robust, scattered

# Observations that are looked at, those of them that cross-validation asks about, and those that answer.
SAMPLED, ASKED, ANSWERING = 1 << 14, 500, 4000
# The first look is at so many times fewer of both, where there are more than a few.
COARSE, FEW = 2, 400
# Widths that are compared first, in scales, and bounds of where to look further: a dimension of the largest width plays
# no part.
WIDTHS, Z_WIDTHS = (0.05, 0.12, 0.3, 0.7, 1.6, 5.0), (0.03, 0.08, 0.2, 0.5)
LEAST, MOST, STEPS = 0.01, 20.0, 25
# Where few dimensions may matter all start wide, and each is narrowed that gains so many nats.
WIDEST, NARROW, GAIN = 5.0, 0.5, 2e-3
# Weight of what is known without x, against that of an observation at x itself, and its worth: not to know costs.
BLIND, IGNORANCE = 1e-3, 0.1
# Any z has a density of one over so many times n scales.
FLOOR = 20.0


class Widths(NamedTuple):
    """Widths of kernels, and where the data choose them the robust scales by which they did.

    Attributes
    ----------
    sigma : (d,) of x
    z_sigma : of z, (k,) where z are vectors; 0 keeps the values of z apart
    x_scale, z_scale : of x, and of z unless these are kinds
    """

    sigma: Floats
    z_sigma: Any
    x_scale: Scale | None = None
    z_scale: Scale | None = None


def choose(bandwidth: Any, z_bandwidth: Any, obs: Any) -> Widths:
    """Widths that are given, or by a rule.

    Parameters are those of `Kernels`; `obs` has `points` (n_x, d) and perhaps `targets` (n_z, k).
    """
    if not isinstance(bandwidth, str):
        found = Widths(*_given(bandwidth, obs.points.shape[1]))
    elif bandwidth in RULES:
        found = RULES[bandwidth](obs)
    else:
        kinds = f"a positive number, one for each dimension, or one of {', '.join(map(repr, RULES))}"
        raise ValueError(refusal("bandwidth", bandwidth, kinds, "choose one", of="Kernels"))
    z_sigma = 0.0 if obs.targets is None else found.z_sigma if z_bandwidth is None else float(z_bandwidth)
    return found._replace(z_sigma=z_sigma)


def _given(bandwidth: Any, d: int) -> tuple[Floats, float]:
    try:
        given = np.asarray(bandwidth)
        good = given.ndim < 2 and given.size in {1, d, d + 1} and given.dtype.kind in "iufO"
        sigma = np.atleast_1d(given.astype(float)) if good else np.zeros(1)
    except (TypeError, ValueError, OverflowError):
        good = False
    if not good or not ((sigma >= 1 / LARGEST) & (sigma <= LARGEST)).all():
        kinds = f"a positive number ({1 / LARGEST:g} to {LARGEST:g}), or one for each of the {d} dimensions of x"
        raise ValueError(refusal("bandwidth", bandwidth, kinds, "give such numbers", of="Kernels"))
    z_sigma = float(sigma[-1]) if sigma.size in (1, d + 1) else float(sigma.mean())
    return np.broadcast_to(sigma, (d,)) if sigma.size == 1 else sigma[:d], z_sigma


def _spreads(obs: Any) -> tuple[Floats, float]:
    table, targets, z = obs.table(), obs.targets, 0.0
    if targets is not None:
        z = float(_spread(targets, np.bincount(table.outcome, table.count, len(targets)).astype(float)).mean())
    return _spread(obs.points, table.weight.astype(float)), z


def _spread(values: NDArray[Any], weight: Floats) -> Floats:
    """Standard deviation of each column, 1 where it is constant."""
    values = values.astype(float)
    mean = weight @ values / weight.sum()
    spread = np.sqrt(weight @ (values - mean) ** 2 / weight.sum())
    return np.where(spread > 0, spread, 1.0)


def _nearest(obs: Any) -> Widths:
    table = obs.table()
    joint = np.repeat(obs.points.astype(float), np.diff(table.start), axis=0)
    if obs.targets is not None:
        joint = np.column_stack([joint, obs.targets[table.outcome]])
    distance = nearest_distance(np.unique(joint, axis=0))
    width = 0.5 * distance if np.isfinite(distance) else 1.0
    return Widths(np.full(obs.points.shape[1], width), width)


def _rule(obs: Any) -> Widths:
    x, z = _spreads(obs)
    factor = obs.n ** (-1.0 / (x.size + 5.0))
    return Widths(x * factor, z * factor)


def _cross_validated(obs: Any) -> Widths:
    """Widths with the largest likelihood of z given x and the other observations.

    Integers have one width in all dimensions. Others have one for each, so that dimensions that say nothing about z
    become so wide that they do not dilute the rest.
    """
    sample = sampled(obs)
    width, z_width = likeliest(sample)
    return sample.in_units(width, z_width)


RULES = {"nearest": _nearest, "rule": _rule, "cv": _cross_validated}


class Sample(NamedTuple):
    """Some of the observations, evenly spaced, in robust scales: see `scales`.

    Attributes
    ----------
    n : number of all observations
    place, site, row : (m,) which of them these are, where they are in the data, and their distinct x
    x : (m, d) configurations
    z : (m, k) outcomes, or (m,) their numbers where they are kinds
    shared : whether all dimensions of x have one unit, and `likeliest` gives them one width
    x_scale, z_scale : of x, and of z, None for kinds
    least : (k,) smallest width of z: half the distance of rounded values
    """

    n: int
    place: Ints
    site: Ints
    row: Ints
    x: Floats
    z: NDArray[Any]
    shared: bool
    x_scale: Scale
    z_scale: Scale | None
    least: Floats

    @property
    def dim(self) -> int:
        return 0 if self.z_scale is None else self.z.shape[1]

    def of(self, kept: NDArray[Any]) -> "Sample":
        """Some of these observations."""
        place, site, row = self.place[kept], self.site[kept], self.row[kept]
        return self._replace(place=place, site=site, row=row, x=self.x[kept], z=self.z[kept])

    def in_units(self, width: Floats, z_width: float) -> Widths:
        """Widths in the units of the data."""
        z: Any = 0.0 if self.z_scale is None else z_width * self.z_scale.scale
        z = float(z[0]) if self.dim == 1 else z
        return Widths(width * self.x_scale.scale, z, self.x_scale, self.z_scale)


def sampled(obs: Any, kinds: bool = False, most: int = SAMPLED) -> Sample:
    """Some observations in robust scales; `kinds` keeps the values of z apart. Cost: O(n)."""
    try:
        x, z = obs.x, obs.z
    except CountsOnly:
        raise ValueError(
            "Only counts of the observations were kept; states by evidence and the bandwidth 'cv' take observations "
            "from all over the data: use a bandwidth 'rule', 'nearest' or a number with a distance such as "
            "match=ds.Bhattacharyya(), or fit all data at once, observed with chunks=...."
        ) from None
    place, asked = evenly(obs.n, most), evenly(obs.n, ASKED_OF_SCALES)
    shared = obs.points.dtype.kind in "iu"
    x_scale = robust(obs.points[x[asked]])
    # Levels are bounded as they are.
    x_scale = x_scale.one().unbounded() if shared else x_scale
    z_scale, outcome, least = None, z[place], np.zeros(0)
    if obs.targets is not None and not kinds:
        z_scale = robust(obs.targets[z[asked]])
        z_scale = z_scale.unbounded() if shared else z_scale
        outcome = z_scale.tame(obs.targets[z[place]])
        least = np.array([0.5 * lattice(column) for column in outcome.T])
    own = x_scale.tame(obs.points[x[place]])
    return Sample(obs.n, place, obs.site[place], x[place], own, outcome, shared, x_scale, z_scale, least)


def likeliest(sample: Sample, shared: bool = False, cost: float = 0.0) -> tuple[Floats, float]:
    """Widths of x (d,) and z, in scales, by the likelihood of each z given its x and the other observations.

    Parameters
    ----------
    sample : the observations
    shared : whether all dimensions have one width
    cost : nats for each dimension that plays a part
    """
    from scipy.optimize import minimize

    task, rough = _Task(sample, shared, cost), _Task(sample, shared, cost, COARSE)

    def best_of(width: float) -> tuple[float, float, float]:
        z_widths = Z_WIDTHS[: None if sample.dim else 1]
        return min((rough.loss(task.at(width, z), False)[0], width, z) for z in z_widths)

    _, width, z_width = min(counted(map(best_of, WIDTHS), "bandwidth", len(WIDTHS), "widths"))
    tell("bandwidth: on from the best width")
    starts = [task.at(width, z_width)]
    if task.size > 2:
        starts.append(_one_by_one(rough, task.at(WIDEST, z_width)))
    low, high = np.log(task.bounds).T
    how: Any = {"bounds": list(zip(low, high, strict=True)), "options": {"maxiter": STEPS, "ftol": 1e-4}}
    runs = [minimize(task.loss, np.clip(at, low, high), jac=True, method="L-BFGS-B", **how) for at in starts]
    return task.widths(np.exp(min(runs, key=lambda run: float(run.fun)).x))


def _one_by_one(task: "_Task", at: Floats) -> Floats:
    """A start where few dimensions matter: all are wide, then one after the other is narrowed while that gains."""
    old, free = task.loss(at, False)[0], set(range(at.size - 1))
    while free:
        tries = [(task.loss(np.where(np.arange(at.size) == k, np.log(NARROW), at), False)[0], k) for k in sorted(free)]
        value, k = min(tries)
        if value >= old - GAIN:
            break
        at = np.where(np.arange(at.size) == k, np.log(NARROW), at)
        old = value
        free.remove(k)
    return at


class _Task:
    """Minus the mean log likelihood of some z, and its gradient, at logarithms of widths in scales."""

    def __init__(self, sample: Sample, shared: bool, cost: float, fewer: int = 1) -> None:
        n, self.dim, self.cost = len(sample.x), sample.dim, cost
        self.d = sample.x.shape[1]
        self.size = 2 if shared or sample.shared else self.d + 1
        most, answering = (most // fewer if n > FEW else most for most in (ASKED, ANSWERING))
        asked, others = scattered(sample.site, most), scattered(sample.site, answering)
        self.share, self.n = others.size / sample.n, sample.n
        self.a = sample.x[asked]
        self.b = np.zeros((self.d, -(-others.size // LANES) * LANES))
        self.b[:, : others.size] = sample.x[others].T
        place = np.searchsorted(others, asked)
        self.own = np.where(others[np.minimum(place, others.size - 1)] == asked, place, -1)
        self.z_square = np.full((asked.size, self.b.shape[1]), -1.0)
        if self.dim:
            self.z_square[:, : others.size] = squares(sample.z[asked], sample.z[others])
        else:
            self.z_square[:, : others.size] = np.where(sample.z[asked][:, None] == sample.z[others], 0.0, np.inf)
        z_least = max([LEAST, *sample.least])
        self.bounds = [(LEAST, MOST)] * (self.size - 1) + [(z_least, max(2.0, z_least))]

    def at(self, width: float, z_width: float) -> Floats:
        """Logarithms of widths that are the same in all dimensions."""
        at: Floats = np.log(np.append(np.full(self.size - 1, width), z_width))
        return at

    def loss(self, at: Floats, slopes: bool = True) -> tuple[float, Floats]:
        """The same for any number of threads: each asked observation has its own terms, added up in their order."""
        width, z_width = np.broadcast_to(np.exp(at[:-1]), self.d), float(np.exp(at[-1]))
        a, b = self.a / width, self.b / width[:, None]
        n = len(a)
        p, z_slope, slope = np.empty(n), np.empty(n), np.empty((n, self.size - 1 if slopes else 0))
        # One odd z costs a bounded amount.
        floor = 1.0 / (FLOOR * self.n)

        def rows(part: tuple[int, int]) -> None:
            own = slice(*part)
            asked = a[own], b, self.own[own], self.z_square[own], z_width, self.dim, BLIND, IGNORANCE, floor
            leave_one_out(*asked, p[own], slope[own], z_slope[own])

        list(map_slices(rows, slices(n, workers())))
        # A dimension plays a part as far as it is narrow.
        active = 1.0 / (1.0 + width**2)
        value = -float(np.log(p + floor).mean()) + self.cost * float(active.sum())
        if not slopes:
            return value, slope[0]
        gradient = -np.append(slope.sum(axis=0), z_slope.sum()) / n
        costs = -2.0 * self.cost * width**2 * active**2
        gradient[:-1] += costs if self.size == self.d + 1 else costs.sum()
        return value, gradient

    def widths(self, factor: Floats) -> tuple[Floats, float]:
        """Widths for all observations: more than those that answered, so that they are smaller by the rule of thumb."""
        x, z = np.broadcast_to(factor[:-1], self.d), float(factor[-1])
        active = float(np.minimum(1.0, 1.0 / x).sum())
        shrink = self.share ** (1.0 / (active + self.dim + 4.0))
        # Three digits, the same for any number of threads.
        width = [float(f"{w:.3g}") for w in np.where(x < 1.0, x * shrink, x)]
        return np.array(width), float(f"{max(z * shrink, self.bounds[-1][0]):.3g}")
