"""Widths of kernels: given, by a rule, or by cross-validation."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..structures import Floats
from .sums import nearest_distance

__all__ = ["RULES", "choose"]

RULES = ("nearest", "rule", "cv")
# Observations that cross-validation asks about, and those that answer.
ASKED, ANSWERING = 600, 6000
# Widths that it compares, in standard deviations.
FACTORS = np.geomspace(0.02, 1.6, 12)


def choose(
    bandwidth: Any, z_bandwidth: Any, obs: Any, cutoff: float, progress: Callable[[str], None] | None = None
) -> tuple[Floats, float]:
    """sigma (d,) of x, and of z; 0 keeps the values of z apart.

    Parameters are those of `Kernels`; `obs` has `points` (n_x, d) and perhaps `targets` (n_z, k).
    """
    x, targets = obs.points, getattr(obs, "targets", None)
    z_given = _z_given(z_bandwidth, targets)
    if isinstance(bandwidth, str):
        if bandwidth not in RULES:
            raise ValueError(
                f"The 'bandwidth' parameter of Kernels must be a positive number, one for each dimension, or one of "
                f"{', '.join(map(repr, RULES))}. Got {bandwidth!r} instead."
            )
        rule = {"nearest": _nearest, "rule": _rule, "cv": _cross_validated}[bandwidth]
        sigma, z_sigma = rule(obs, cutoff, progress)
        return sigma, z_sigma if z_given is None else z_given
    sigma = np.atleast_1d(np.asarray(bandwidth, float)) if np.ndim(bandwidth) < 2 else np.empty(0)
    d, k = x.shape[1], 0 if targets is None else targets.shape[1]
    if sigma.size not in {1, d, d + 1} or not (np.isfinite(sigma) & (sigma > 0)).all():
        raise ValueError(
            f"The 'bandwidth' parameter of Kernels must be a positive number, or one for each of the {d} dimensions of "
            f"x. Got {bandwidth!r} instead."
        )
    z_sigma = 0.0 if not k else float(sigma[-1]) if sigma.size in (1, d + 1) else float(sigma.mean())
    sigma = np.broadcast_to(sigma, (d,)) if sigma.size == 1 else sigma[:d]
    return sigma, z_sigma if z_given is None else z_given


def _z_given(z_bandwidth: Any, targets: NDArray[Any] | None) -> float | None:
    if z_bandwidth is None:
        return None
    number = isinstance(z_bandwidth, (int, float, np.number)) and not isinstance(z_bandwidth, bool)
    if not number or not 0 <= z_bandwidth < np.inf:
        raise ValueError(
            f"The 'z_bandwidth' parameter of Kernels must be None or a number of at least 0. Got {z_bandwidth!r} "
            "instead."
        )
    return 0.0 if targets is None else float(z_bandwidth)


def _spread(values: NDArray[Any], weight: Floats) -> Floats:
    """Standard deviation of each column, 1 where it is constant."""
    values = values.astype(float)
    mean = weight @ values / weight.sum()
    spread = np.sqrt(weight @ (values - mean) ** 2 / weight.sum())
    return np.where(spread > 0, spread, 1.0)


def _spreads(obs: Any) -> tuple[Floats, float]:
    weight = obs.table().weight.astype(float)
    targets = getattr(obs, "targets", None)
    z = 0.0 if targets is None else float(_spread(targets, np.bincount(obs.z, minlength=len(targets))).mean())
    return _spread(obs.points, weight), z


def _nearest(obs: Any, cutoff: float, progress: Any) -> tuple[Floats, float]:
    targets = getattr(obs, "targets", None)
    pairs = np.unique(np.column_stack([obs.x, obs.z]), axis=0)
    joint = obs.points[pairs[:, 0]].astype(float)
    if targets is not None:
        joint = np.column_stack([joint, targets[pairs[:, 1]]])
    distance = nearest_distance(np.unique(joint, axis=0))
    width = 0.5 * distance if np.isfinite(distance) else 1.0
    return np.full(obs.points.shape[1], width), 0.0 if targets is None else width


def _rule(obs: Any, cutoff: float, progress: Any) -> tuple[Floats, float]:
    x, z = _spreads(obs)
    factor = obs.n ** (-1.0 / (x.size + 5.0))
    return x * factor, z * factor


def _cross_validated(obs: Any, cutoff: float, progress: Any) -> tuple[Floats, float]:
    """Widths, in standard deviations, with the largest likelihood of z given x and the other observations."""
    x_spread, z_spread = _spreads(obs)
    targets = getattr(obs, "targets", None)
    # Evenly spaced observations, whatever their order.
    asked = np.unique(np.linspace(0, obs.n - 1, min(obs.n, ASKED)).astype(np.int64))
    others = np.unique(np.linspace(0, obs.n - 1, min(obs.n, ANSWERING)).astype(np.int64))
    x = obs.points[obs.x[others]] / x_spread
    near = _squares(obs.points[obs.x[asked]] / x_spread, x)
    near[asked[:, None] == others] = np.inf
    if targets is None:
        z_square = np.where(obs.z[asked][:, None] == obs.z[others], 0.0, np.inf)
        kernels = [(0.0, (z_square == 0).astype(np.float32))]
    else:
        z = targets[obs.z] / z_spread
        z_square = _squares(z[asked], z[others])
        k = targets.shape[1]
        kernels = [(f, _gauss(z_square, f) / (np.sqrt(2 * np.pi) * f) ** k) for f in FACTORS]
    best, chosen = -np.inf, (FACTORS[-1], FACTORS[-1] if targets is not None else 0.0)
    # Fewer observations answer than there are: their optimal width is larger, by the rule of thumb.
    shrink = (others.size / obs.n) ** (1.0 / (x_spread.size + 5.0))
    for i, factor in enumerate(FACTORS):
        weight = _gauss(near, factor)
        total = weight.sum(axis=1)
        for z_factor, kernel in kernels:
            likelihood = np.einsum("ij,ij->i", weight, kernel)
            # Where nothing is near, the answer is what is known without x.
            blind = kernel.mean(axis=1)
            p = (likelihood + 1e-3 * blind) / (total + 1e-3)
            score = float(np.log(np.maximum(p, 1e-300)).mean())
            if score > best:
                best, chosen = score, (float(factor), float(z_factor))
        if progress is not None:
            progress(f"bandwidth: {i + 1} of {FACTORS.size} widths")
    return x_spread * chosen[0] * shrink, z_spread * chosen[1] * shrink


def _gauss(square: Floats, sigma: float) -> Floats:
    kernel: Floats = np.exp(np.float32(-0.5 / sigma**2) * square.astype(np.float32))
    return kernel


def _squares(a: NDArray[Any], b: NDArray[Any]) -> Floats:
    from scipy.spatial.distance import cdist

    return cdist(np.asarray(a, float), np.asarray(b, float), "sqeuclidean")
