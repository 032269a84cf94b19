"""P(Z|x) by kernels, for data that hardly ever repeat exactly.

The density at a sample point s of z is sum_i Kx(x_i, x) Kz(z_i, s), normalised over the sample points. With the
Gaussian kernel of width sigma, exp(-d^2 / (2 sigma^2)), a kernel of x and z jointly is the product of the two.
"""

from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.observations import Observations
from ..data.pairs import LARGEST
from ..data.tally import Table
from ..support import resources
from ..support.arguments import as_table, flag, generator, integer, real, refusal, result_of
from ..support.arrays import Floats, Ints
from ..support.progress import Progress, check_progress, told
from ..support.resources import available as _free_memory
from . import bandwidths
from .bandwidths import Widths
from .distributions import Distributions
from .forecasts import Forecast
from .kernel_sums import kernel_sums, squares
from .scales import Scale
from .stacking import Stack, stack_of
from .state_model import DensityParameters

# Values of z that are all sample points; more are sampled on a grid.
ALL = 512
GRID = 200
MOST = 10**9
# Bins of z in a bandwidth, where z has more values than that: cubic interpolation is then exact to 1e-7.
FINE = 24
# All values are sample points where each was seen so often on average.
REPEATED = 4
# Rows of sums that are compressed at once.
ROWS = 1 << 12
# Cut-offs above this are those of the joint kernel itself.
FAINT = 1e-6
# Contributions below this share of the largest of a row are dropped.
TINY = 1e-9


@dataclass(eq=False, repr=False)
class Kernels(DensityParameters):
    """Kernel density estimate of P(Z|x).

    Parameters
    ----------
    bandwidth : sigma of the Gaussian kernel (the paper's h is 2 sigma²): a number, for x and z alike; one number for
        each dimension of x, or of x and then z; or a rule: "nearest" (half the mean distance to the nearest point, the
        paper's default), "rule" (Scott's rule of thumb) or "cv" (largest likelihood of each z given its x and all other
        observations; the default)
    z_bandwidth : sigma for z, where it is not that of x; 0 keeps the values of z apart
    kernel : "gaussian", "delta" (equal values only, which is counting), or a callable of squared scaled distances with
        K(0) = 1
    joint : whether the kernel acts on the distances in x and z together rather than on each of them; the Gaussian one
        is the same either way, up to what is cut off
    cutoff : kernel values below it are dropped
    samples : sample points of z: None (all values, where they are at most 512 that repeat or are evenly spaced, else
        200 on a grid), a number of points on a grid, an array of points, or "quantiles" or "random" for 200 of the
        values of the data. Expectations are sums over the sample points: where these are not evenly spaced, they lean
        towards where many are
    random_state : seed for samples="random"
    progress : True for a bar, or a function that is called with a line of text now and then
    """

    bandwidth: Any = "cv"
    z_bandwidth: float | None = None
    kernel: Any = "gaussian"
    joint: bool = False
    cutoff: float = 1e-9
    samples: Any = None
    random_state: Any = None
    progress: Progress = None

    def estimate(self, obs: Observations, executor: Executor | None = None) -> Distributions:
        """Densities at the distinct x; see `KernelModel.estimate`."""
        return self.model(obs).estimate(obs, executor)

    def check(self, obs: Observations) -> None:
        """Refuse parameters that are none, and observations whose x are no numbers; widths are checked as chosen."""
        if obs.points is None:
            raise ValueError(
                f"The 'density' is Kernels and the observations are {type(obs).__name__}; kernels need x as numbers: "
                "observe with ds.observe.delays, image or pairs of numbers, or use ds.Counts()."
            )
        if not (callable(self.kernel) or (isinstance(self.kernel, str) and self.kernel in ("gaussian", "delta"))):
            rule = "'gaussian', 'delta' or a callable of squared distances"
            raise ValueError(refusal("kernel", self.kernel, rule, "choose one", of="Kernels"))
        real(self.cutoff, "cutoff", above=0, below=1, remedy="try cutoff=1e-9", of="Kernels")
        flag(self.joint, "joint", of="Kernels")
        check_progress(self.progress)
        if self.z_bandwidth is not None:
            how: Any = {"remedy": "give one, or None", "of": "Kernels"}
            width = real(self.z_bandwidth, "z_bandwidth", least=0, most=LARGEST, **how)
            if 0 < width < 1 / LARGEST:
                rule = f"0, or a number from {1 / LARGEST:g} to {LARGEST:g}"
                raise ValueError(refusal("z_bandwidth", self.z_bandwidth, rule, **how))

    def model(self, obs: Observations) -> "KernelModel":
        """The estimate as a function of x: widths and sample points chosen."""
        self.check(obs)
        assert obs.points is not None
        if isinstance(self.kernel, str) and self.kernel == "delta":
            return KernelModel(self, obs, np.ones(obs.points.shape[1]), 0.0, list(obs.outcomes), obs.targets)
        with told(self.progress):
            widths = bandwidths.choose(self.bandwidth, self.z_bandwidth, obs)
        return self.with_widths(obs, widths)

    def with_widths(self, obs: Observations, widths: Widths) -> "KernelModel":
        """The estimate with widths that were chosen: sample points of z."""
        sigma, z_sigma, x_scale, z_scale = widths
        samples, at = _samples(self.samples, obs, widths, self.random_state)
        chosen = isinstance(self.bandwidth, str) and self.z_bandwidth is None
        if chosen and np.any(z_sigma) and at is not None and at.size > 1 and at.shape[1] == 1:
            # No value of z may fall between the points of a line.
            z_sigma = max(z_sigma, 0.5 * float(np.diff(np.sort(at[:, 0])).max()))
        return KernelModel(self, obs, sigma, z_sigma, samples, at, x_scale, z_scale)


@dataclass(frozen=True, eq=False)
class KernelModel:
    """Kernel sums at any x: `model(query)` is (m, n_samples), by default at the distinct x of the observations.

    Attributes
    ----------
    how, obs : the parameters, and the observations that the model was made from
    sigma, z_sigma : (d,) widths of x, and that of z, (k,) for vectors, 0 where its values are kept apart
    samples, at : the sample points of z as values, and as (n_samples, k) numbers, None where they are kinds
    x_scale, z_scale : robust scales, whose borders bound x and z; None where widths were given
    """

    how: Kernels
    obs: Observations
    sigma: Floats
    z_sigma: Any
    samples: Sequence[Any]
    at: Any
    x_scale: Scale | None = None
    z_scale: Scale | None = None
    _stacks: dict[int, Stack] = field(default_factory=dict)

    @property
    def apart(self) -> bool:
        """Whether the values of z are kept apart."""
        return not np.any(self.z_sigma)

    @property
    def targets(self) -> Any:
        """(n_z, k) the distinct z as numbers, within borders."""
        targets = self.obs.targets
        return targets if self.z_scale is None or targets is None else self.z_scale.bound(targets)

    @property
    def by_data(self) -> bool:
        """Whether x and z are numbers whose widths were left to the data: then `stack` says more than the kernels."""
        how, points = self.how, self.obs.points
        numbers = points is not None and points.dtype.kind == "f" and self.at is not None and self.at.shape[1] == 1
        named = [v if isinstance(v, str) else None for v in (how.bandwidth, how.kernel)]
        return numbers and named == ["cv", "gaussian"] and how.z_bandwidth is None and not how.joint

    def stack(self, steps: int = 1) -> Stack:
        """P(Z|x) for forecasts of so many steps ahead; made once."""
        if steps not in self._stacks:
            self._stacks[steps] = stack_of(self.obs, steps)
        return self._stacks[steps]

    @property
    def counts(self) -> bool:
        """Whether the sums are counts."""
        return isinstance(self.how.kernel, str) and self.how.kernel == "delta"

    def __call__(self, query: NDArray[Any] | None = None, executor: Executor | None = None) -> Floats:
        table, points, how = self.obs.table(executor), self.obs.points, self.how
        assert points is not None
        if self.x_scale is not None:
            points, query = self.x_scale.bound(points), None if query is None else self.x_scale.bound(query)
        _check_memory(len(points if query is None else query), len(self.samples))
        if callable(how.kernel) or (how.joint and not self.counts and how.cutoff > FAINT):
            return self._by_callable(points, table, points if query is None else query)
        cutoff = 1.0 if self.counts else how.cutoff
        counts, n_z, kz = self._z((table.start, table.outcome, table.count))
        with told(how.progress):
            sums = kernel_sums(points, counts, n_z, self.sigma, cutoff, executor, query, kz)
        # Values of z spread over bins by cubics may leave sums just below zero.
        return np.maximum(sums, 0.0, out=sums)

    def estimate(self, obs: Observations, executor: Executor | None = None) -> Distributions:
        """Densities at the distinct x of the observations that the model was made from.

        Cost: that of `kernel_sums`; memory: 8 bytes for each x and sample point that is near one of its z.
        """
        table = obs.table(executor)
        start, outcome, count = _compressed(self(None, executor))
        empty = np.count_nonzero(start[1:] == start[:-1])
        if empty:
            raise ValueError(
                f"The 'samples' of Kernels are {len(self.samples)} points, none of which is near the z of {empty} of "
                f"the {table.n_x} x; with a width of {self.z_sigma:.3g} for z there must be one: give more samples or "
                "a larger z_bandwidth."
            )
        rows, depth = np.arange(table.n_x), np.full(table.n_x, obs.past)
        return Distributions(start, outcome, count, len(self.samples), table.weight, rows, rows, depth, self.samples)

    def observed(self) -> Distributions:
        """What followed each distinct x itself, to be seen through the kernel of z only."""
        table = self.obs.table()
        counts, n_z, kernel = self._z((table.start, table.outcome, table.count))
        rows, depth = np.arange(table.n_x), np.full(table.n_x, self.obs.past)
        start, outcome, count = counts
        own = table.weight, rows, rows, depth, self.samples
        return Distributions(start, outcome, count, n_z, *own, kernel=kernel)

    def probabilities(self, query: NDArray[Any]) -> Floats:
        """(m, n_samples) P(samples|x) at other x, NaN where no observation is near."""
        sums = self(query)
        with np.errstate(invalid="ignore"):
            p: Floats = sums / sums.sum(axis=1, keepdims=True, dtype=float)
        return p

    def score(self, obs: Observations, points: NDArray[Any]) -> float:
        """Mean log2 of the density of each observed z, in bits per observation; points (n_x, d) are the distinct x.

        Between sample points on a line the density is interpolated; otherwise z counts as the sample nearest to it.
        An x with nothing near, or a z without density, counts as one in a million. Where the widths were left to the
        data, it is the density of `stack`.
        """
        if self.by_data:
            return float(Forecast(self.stack(), points[obs.x]).log_score(outcome_numbers(obs, 1)[obs.z, 0]).mean())
        p = self.probabilities(points)[obs.x]
        row = np.arange(len(p))
        if self.apart:
            column = {value: k for k, value in enumerate(self.samples)}
            place = np.array([column.get(value, -1) for value in obs.outcomes])[obs.z]
            found = np.where(place >= 0, p[row, place], 0.0)
        else:
            z = outcome_numbers(obs, self.at.shape[1])[obs.z]
            if self.at.shape[1] == 1 and len(self.at) > 1:
                found = self._density(p, z[:, 0])
            else:
                found = p[row, squares(z, self.at).argmin(axis=1)]
        return float(np.log2(np.maximum(np.nan_to_num(found), 1e-6)).mean())

    def _density(self, p: Floats, z: Floats) -> Floats:
        """(n,) density at z, a line between sample points and a Gaussian beyond them."""
        order, row = np.argsort(self.at[:, 0]), np.arange(len(p))
        at = self.at[order, 0]
        gap = np.diff(at)
        length = 0.5 * (np.append(gap, gap[-1]) + np.insert(gap, 0, gap[0]))
        right = np.clip(np.searchsorted(at, z), 1, at.size - 1)
        share = np.clip((z - at[right - 1]) / gap[right - 1], 0.0, 1.0)
        height = p[row, order[right - 1]] * (1.0 - share) + p[row, order[right]] * share
        beyond = np.maximum(0.0, np.maximum(at[0] - z, z - at[-1])) / self.z_sigma
        density: Floats = height * np.exp(-0.5 * beyond**2) / (p[:, order] @ length)
        return density

    def _z(self, counts: Any) -> tuple[Any, int, Floats | None]:
        """Outcomes of each x as bins of z, their number, and the kernel between bins and sample points."""
        n_z = len(self.obs.outcomes)
        targets = self.targets
        if self.apart:
            return counts, n_z, None
        if targets.shape[1] > 1 or n_z <= max(ALL, FINE * (width := float(np.ptp(targets)) / self.z_sigma)):
            return counts, n_z, self._z_kernel(targets)
        start, outcome, count = counts
        low, step = float(targets.min()), self.z_sigma / FINE
        # Each value is spread over the four bins around it, so that cubics of the bins keep their values.
        bins = np.arange(int(np.ceil(width * FINE)) + 4)
        place = (targets[outcome, 0] - low) / step + 1.0
        base = np.minimum(place.astype(np.int64), bins.size - 3)
        f = place - base
        a, b, c = f + 1.0, f - 1.0, f - 2.0
        share = -f * b * c / 6, a * b * c / 2, -a * f * c / 2, a * f * b / 6
        spread = np.stack([count * s for s in share], axis=1).ravel()
        near = (base[:, None] + np.arange(-1, 3)).ravel()
        return (4 * start, near, spread), bins.size, self._z_kernel((low + (bins - 1.0) * step)[:, None])

    def _z_kernel(self, z: NDArray[Any]) -> Floats:
        square = self._z_squares(z)
        kernel = _gaussian(square)
        kernel[kernel < self.how.cutoff] = 0.0
        if self.z_scale is not None:
            # Values beyond the borders may be far from all sample points: they count as the nearest one.
            far = np.flatnonzero(~kernel.any(axis=1))
            kernel[far, square[far].argmin(axis=1)] = 1.0
        return kernel

    def _z_squares(self, z: NDArray[Any]) -> Floats:
        return squares(z / self.z_sigma, self.at / self.z_sigma)

    def _by_callable(self, points: NDArray[Any], table: Table, query: NDArray[Any]) -> Floats:
        """Any kernel, in blocks of all pairs."""
        kernel, targets = self.how.kernel if callable(self.how.kernel) else _gaussian, self.targets
        owner = np.repeat(np.arange(len(points)), np.diff(table.start))
        if targets is None or self.apart:
            z_square = np.where(np.eye(len(self.samples), dtype=bool), 0.0, np.inf)
        else:
            z_square = self._z_squares(targets)

        def weigh(square: Floats) -> Floats:
            rule = "it must give a number for each squared distance: use numpy functions."
            weight = as_table(result_of(kernel, "kernel", square), "kernel", rule, float)
            if weight.shape != square.shape:
                raise ValueError(f"The 'kernel' gave shape {weight.shape} for {square.shape} squared distances; {rule}")
            return np.where(np.isfinite(square) & (weight >= self.how.cutoff), weight, 0.0)

        block = max(1, (1 << 22) // max(len(owner), 1))
        out = np.zeros((len(query), len(self.samples)), np.float32)
        spread = None if self.how.joint else weigh(z_square)[table.outcome] * table.count[:, None]
        for begin in range(0, len(query), block):
            square = squares(query[begin : begin + block] / self.sigma, points / self.sigma)
            if spread is not None:
                out[begin : begin + block] = weigh(square)[:, owner] @ spread
                continue
            for s in range(len(self.samples)):
                out[begin : begin + block, s] = weigh(square[:, owner] + z_square[table.outcome, s]) @ table.count
        return out


def _compressed(sums: Floats) -> tuple[Ints, Ints, Floats]:
    """Compressed rows of what is not negligible."""
    n = len(sums)
    size = np.empty(n, np.int64)
    blocks = [slice(i, i + ROWS) for i in range(0, n, ROWS)]
    least = TINY * sums.max(axis=1, keepdims=True, initial=0.0)
    for block in blocks:
        size[block] = np.count_nonzero(sums[block] > least[block], axis=1)
    start = np.concatenate([[0], np.cumsum(size)])
    outcome, count = np.empty(start[-1], np.int32), np.empty(start[-1], sums.dtype)
    for block in blocks:
        kept = sums[block] > least[block]
        entries = slice(start[block.start], start[min(block.stop, n)])
        outcome[entries], count[entries] = np.nonzero(kept)[1], sums[block][kept]
    return start, outcome, count


def _gaussian(square: Floats) -> Floats:
    kernel: Floats = np.exp(-0.5 * square)
    return kernel


def outcome_numbers(obs: Any, k: int) -> NDArray[Any]:
    """(n_z, k) the outcomes as numbers."""
    targets = obs.targets
    values = np.asarray(list(obs.outcomes)) if targets is None else targets
    values = values.reshape(len(values), -1)
    if values.dtype.kind not in "biuf" or values.shape[1] != k:
        raise ValueError(
            f"The 'z' have {values.shape[1]} columns of type {values.dtype} and those of fit {k} of numbers; new z "
            "must be of the same kind: give the same columns."
        )
    return values


def _check_memory(n: int, n_samples: int) -> None:
    """Refuse what cannot fit: sums in 4 bytes, and up to 12 more for what is kept of them."""
    remedy = "give fewer samples, such as samples=200 with a z_bandwidth above 0, or fewer x"
    what = f"densities of {n} x at {n_samples} sample points of z"
    resources.require(16.0 * n * n_samples, what, remedy, _free_memory())


def _are_all_samples(n: int, targets: NDArray[Any]) -> bool:
    """Whether all values of z can be sample points: few, and as dense as z can be, or repeated like kinds."""
    if len(targets) > ALL or len(targets) < 3 or targets.shape[1] > 1 or targets.dtype.kind in "iu":
        return len(targets) <= ALL
    gaps = np.diff(np.sort(targets[:, 0]))
    steps = gaps / gaps.min()
    even = steps.sum() <= 4 * ALL and np.abs(steps - np.round(steps)).max() < 1e-3
    return bool(even or n >= REPEATED * len(targets))


def _samples(samples: Any, obs: Any, widths: Widths, random_state: Any) -> tuple[list[Any], NDArray[Any] | None]:
    """The sample points as values, and as rows of numbers."""
    targets = obs.targets
    if targets is None or not np.any(widths.z_sigma):
        return list(obs.outcomes), targets
    inside: NDArray[Any] = np.ones(len(targets), bool)
    if widths.z_scale is not None:
        inside = np.logical_not(widths.z_scale.outside(targets).any(axis=1))
    if samples is None and _are_all_samples(obs.n, targets[inside]):
        return [obs.outcomes[k] for k in np.flatnonzero(inside)], targets[inside]
    return _some_samples(samples, obs, targets, inside, random_state)


def _some_samples(
    samples: Any, obs: Any, targets: NDArray[Any], inside: NDArray[Any], random_state: Any
) -> tuple[list[Any], NDArray[Any]]:
    """Sample points that are not all values of z; those outside their borders are none."""
    if isinstance(samples, str):
        if samples not in ("quantiles", "random"):
            rule = "None, a number, an array, 'quantiles' or 'random'"
            raise ValueError(refusal("samples", samples, rule, "choose one", of="Kernels"))
        if samples == "quantiles" and targets.shape[1] == 1:
            order = np.sort(targets[obs.z[inside[obs.z]], 0])
            at = np.unique(order[np.linspace(0, order.size - 1, GRID).astype(np.int64)])[:, None]
        else:
            rng = generator(random_state, "random_state")
            known = targets[inside]
            at = known[np.sort(rng.choice(len(known), min(GRID, len(known)), replace=False))]
    elif samples is None or isinstance(samples, (int, np.integer)):
        n = GRID if samples is None else integer(samples, "samples", 2, MOST, f"try samples={GRID}", "Kernels")
        _check_memory(len(obs.points), n)
        known = targets[inside]
        if targets.shape[1] > 1:
            at = known[np.linspace(0, len(known) - 1, min(n, len(known))).astype(np.int64)]
        else:
            at = np.linspace(known.min(), known.max(), n if np.ptp(known) > 0 else 1)[:, None]
    else:
        k = targets.shape[1]
        rule = f"they must be at least 2 different finite points with the {k} dimensions of z: give (n, {k})."
        at = np.atleast_1d(as_table(samples, "samples", rule, float))
        at = at.reshape(len(at), -1) if at.size else at.reshape(0, 1)
        if at.shape[1] != k or len(at) < 2 or not np.isfinite(at).all() or len(np.unique(at, axis=0)) != len(at):
            raise ValueError(f"The 'samples' of Kernels have shape {np.shape(samples)}; {rule}")
    values = at.tolist()
    return ([v[0] for v in values] if targets.shape[1] == 1 else list(map(tuple, values))), at
