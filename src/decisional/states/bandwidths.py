"""Widths of kernels: given, by a rule, or by cross-validation."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._kernels.likelihood import leave_one_out
from ..data.observations import CountsOnly
from ..data.pairs import LARGEST
from ..support.arguments import real, refusal
from ..support.arrays import Floats
from ..support.executors import map_slices, slices, workers
from .kernel_sums import nearest_distance, squares

# Observations that cross-validation asks about, and those that answer.
ASKED, ANSWERING = 500, 4000
# The first look is at so many times fewer of both.
COARSE = 2
# Widths that it compares first, and where it looks further, in standard deviations: a dimension of the largest
# width plays no part.
FACTORS = np.geomspace(0.02, 1.6, 8)
LEAST, MOST = 0.005, 20.0
# Weight of what is known without x, against that of an observation at x itself.
BLIND = 1e-3


def choose(
    bandwidth: Any, z_bandwidth: Any, obs: Any, progress: Callable[[str], None] | None = None
) -> tuple[Floats, float]:
    """sigma (d,) of x, and of z; 0 keeps the values of z apart.

    Parameters are those of `Kernels`; `obs` has `points` (n_x, d) and perhaps `targets` (n_z, k).
    """
    z_given = z_bandwidth
    if z_given is not None:
        z_given = real(z_bandwidth, "z_bandwidth", least=0, remedy="give one, or None", of="Kernels")
    if not isinstance(bandwidth, str):
        sigma, z_sigma = _given(bandwidth, obs.points.shape[1])
    elif bandwidth in RULES:
        sigma, z_sigma = RULES[bandwidth](obs, progress)
    else:
        kinds = f"a positive number, one for each dimension, or one of {', '.join(map(repr, RULES))}"
        raise ValueError(refusal("bandwidth", bandwidth, kinds, "choose one", of="Kernels"))
    return sigma, 0.0 if obs.targets is None else z_sigma if z_given is None else z_given


def _given(bandwidth: Any, d: int) -> tuple[Floats, float]:
    try:
        sigma = np.atleast_1d(np.asarray(bandwidth, float))
        good = np.ndim(bandwidth) < 2 and sigma.size in {1, d, d + 1} and np.asarray(bandwidth).dtype.kind != "b"
    except (TypeError, ValueError):
        good = False
    if not good or not ((sigma >= 1 / LARGEST) & (sigma <= LARGEST)).all():
        kinds = f"a positive number ({1 / LARGEST:g} to {LARGEST:g}), or one for each of the {d} dimensions of x"
        raise ValueError(refusal("bandwidth", bandwidth, kinds, "give such numbers", of="Kernels"))
    z_sigma = float(sigma[-1]) if sigma.size in (1, d + 1) else float(sigma.mean())
    return np.broadcast_to(sigma, (d,)) if sigma.size == 1 else sigma[:d], z_sigma


def _spread(values: NDArray[Any], weight: Floats) -> Floats:
    """Standard deviation of each column, 1 where it is constant."""
    values = values.astype(float)
    mean = weight @ values / weight.sum()
    spread = np.sqrt(weight @ (values - mean) ** 2 / weight.sum())
    return np.where(spread > 0, spread, 1.0)


def _spreads(obs: Any) -> tuple[Floats, float]:
    table, targets, z = obs.table(), obs.targets, 0.0
    if targets is not None:
        z = float(_spread(targets, np.bincount(table.outcome, table.count, len(targets)).astype(float)).mean())
    return _spread(obs.points, table.weight.astype(float)), z


def _nearest(obs: Any, progress: Any) -> tuple[Floats, float]:
    table = obs.table()
    joint = np.repeat(obs.points.astype(float), np.diff(table.start), axis=0)
    if obs.targets is not None:
        joint = np.column_stack([joint, obs.targets[table.outcome]])
    distance = nearest_distance(np.unique(joint, axis=0))
    width = 0.5 * distance if np.isfinite(distance) else 1.0
    return np.full(obs.points.shape[1], width), width


def _rule(obs: Any, progress: Any) -> tuple[Floats, float]:
    x, z = _spreads(obs)
    factor = obs.n ** (-1.0 / (x.size + 5.0))
    return x * factor, z * factor


def _cross_validated(obs: Any, progress: Any) -> tuple[Floats, float]:
    """Widths with the largest likelihood of z given x and the other observations.

    Integers have one width in all dimensions. Others have one for each, so that dimensions that say nothing about z
    become so wide that they do not dilute the rest.
    """
    from scipy.optimize import minimize

    task, rough = _Task(obs), _Task(obs, COARSE)
    best, chosen = -np.inf, np.zeros(task.size)
    for i, factor in enumerate(FACTORS):
        for z_factor in FACTORS if task.dim else FACTORS[:1]:
            at = np.log(np.append(np.full(task.size - 1, factor), z_factor))
            value = -rough.loss(at)[0]
            if value > best:
                best, chosen = value, at
        if progress is not None:
            progress(f"bandwidth: {i + 1} of {FACTORS.size} widths")
    low = np.log([*[LEAST] * (task.size - 1), task.z_least])
    high = np.log([*[MOST] * (task.size - 1), max(2.0, task.z_least)])
    how: Any = {"bounds": list(zip(low, high, strict=True)), "options": {"maxiter": 25, "ftol": 1e-4}}
    found = minimize(task.loss, np.clip(chosen, low, high), jac=True, method="L-BFGS-B", **how)
    if progress is not None:
        progress("bandwidth: chosen")
    return task.widths(np.exp(found.x))


RULES = {"nearest": _nearest, "rule": _rule, "cv": _cross_validated}


def _observed(obs: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """x and z of each observation."""
    try:
        return obs.x, obs.z
    except CountsOnly:
        raise ValueError(
            "The 'bandwidth' of Kernels is 'cv' and only counts were kept; cross-validation takes observations from "
            "all over the data: use 'rule', 'nearest' or a number, or fit all data at once, observed with chunks=...."
        ) from None


class _Task:
    """Minus the mean log likelihood of some z, and its gradient, at logarithms of widths in standard deviations."""

    def __init__(self, obs: Any, fewer: int = 1) -> None:
        self.x_spread, self.z_spread = _spreads(obs)
        shared = self.x_spread.size == 1
        if obs.points.dtype.kind in "iu":
            self.x_spread, shared = np.full(self.x_spread.size, np.sqrt((self.x_spread**2).mean())), True
        self.size = 2 if shared else self.x_spread.size + 1
        # Evenly spaced observations, whatever their order.
        asked, others = (
            np.unique(np.linspace(0, obs.n - 1, min(obs.n, most // fewer)).astype(np.int64))
            for most in (ASKED, ANSWERING)
        )
        self.share = others.size / obs.n
        x, z = _observed(obs)
        self.a, self.b = obs.points[x[asked]] / self.x_spread, obs.points[x[others]] / self.x_spread
        place = np.searchsorted(others, asked)
        self.own = np.where(others[np.minimum(place, others.size - 1)] == asked, place, -1)
        self.z_least, targets = LEAST, obs.targets
        self.dim = 0 if targets is None else targets.shape[1]
        if targets is None:
            self.z_square = np.where(z[asked][:, None] == z[others], 0.0, np.inf)
        else:
            self.z_square = squares(targets[z[asked]] / self.z_spread, targets[z[others]] / self.z_spread)
            # Values on a lattice have an infinite likelihood at no width: half their distance is the least.
            gaps = np.diff(np.sort(targets, axis=0), axis=0)
            gaps = gaps[gaps > 0] / self.z_spread
            self.z_least = max(LEAST, 0.5 * float(np.median(gaps)) if gaps.size else LEAST)

    def loss(self, at: Floats) -> tuple[float, Floats]:
        """The same for any number of threads: each asked observation has its own terms, added up in their order."""
        width, z_width = np.broadcast_to(np.exp(at[:-1]), self.x_spread.shape), float(np.exp(at[-1]))
        a, b = self.a / width, self.b / width
        n = len(a)
        p, z_slope, slope = np.empty(n), np.empty(n), np.empty((n, self.size - 1))

        def rows(part: tuple[int, int]) -> None:
            own = slice(*part)
            asked = a[own], b, self.own[own], self.z_square[own]
            leave_one_out(*asked, z_width, self.dim, BLIND, p[own], slope[own], z_slope[own])

        list(map_slices(rows, slices(n, workers())))
        gradient = np.append(slope.sum(axis=0), z_slope.sum()) / n
        return -float(np.log(np.maximum(p, 1e-300)).mean()), -gradient

    def widths(self, factor: Floats) -> tuple[Floats, float]:
        """Widths for all observations: more than those that answered, so that they are smaller by the rule of thumb."""
        x, z = np.broadcast_to(factor[:-1], self.x_spread.shape), float(factor[-1])
        active = float(np.minimum(1.0, 1.0 / x).sum())
        shrink = self.share ** (1.0 / (active + self.dim + 4.0))
        # Three digits, the same for any number of threads.
        sigma = [float(f"{s:.3g}") for s in self.x_spread * np.where(x < 1.0, x * shrink, x)]
        return np.array(sigma), float(f"{self.z_spread * z * shrink:.3g}")
