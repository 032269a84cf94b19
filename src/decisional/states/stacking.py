"""P(Z|x) of numbers for forecasts: a stack of kernels that know different things.

Plain kernels say what followed similar x, whatever its form. Local-linear kernels move what followed to x along the
slope there, which matters at the edges of the data and where they are sparse. Kernels of the residuals of a robust
linear model follow that where it is right. Residuals of a smooth curve, which becomes that line where nothing similar
was seen, have one form everywhere, only larger or smaller, so that few observations tell it. The weights are those that
make each z likeliest given its x and the other observations.
"""

from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._kernels import stacked as kernels
from ..data.observations import CountsOnly, Observations
from ..support.arrays import Floats, Ints
from ..support.executors import map_slices, slices, workers
from .bandwidths import ASKED, FLOOR, MOST, Sample, likeliest, sampled
from .scales import Scale, lattice, robust, scattered

# Observations that answer, at most.
ANSWERING = 8000
# Observations fewer than so many places apart do not tell about each other: in a series they are nearly the same.
APART = 6
# Mass of kernels of x at which half of what they say counts; the rest is said by the linear model.
GUARD = 0.03
# Local-linear kernels have so many times the widths of x and z of the plain ones.
FACTORS, Z_FACTORS = (1.0, 1.5, 2.5, 4.0), (0.5, 0.7, 1.0, 1.4)
# Residuals are as large as those around x and so many of the usual size; widths of x and of z that are tried.
PRIOR, SPREADS, HEIGHTS = 3.0, (0.25, 0.5, 1.0, 2.0), (0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.7)
# Residuals of lines and curves that are exact are so large, in scales.
SMALLEST = 1e-6
# Rounds of expectation and maximisation, and weights that are dropped.
ROUNDS, LEAST = 200, 0.02
# The linear model: rounds, residuals of so many scales that count less, and ridges that are tried.
REWEIGHTED, HUBER, RIDGES = 5, 3.0, (1e-6, 1e-3, 1e-2, 3e-2, 1e-1, 3e-1)
# Width of the background in scales of z: a part for values that are like none before.
ODD = 1.0


class Line(NamedTuple):
    """A robust linear model: z = intercept + x slopes, and its residuals without their own observation."""

    intercept: float
    slopes: Floats
    residuals: Floats

    def at(self, x: Floats) -> Floats:
        """(n,) what it expects at x (n, d)."""
        # Not a product of matrices: what a threaded library returns may depend on its threads.
        expected: Floats = self.intercept + np.einsum("nd,d->n", x, self.slopes)
        return expected


class SmoothCurve(NamedTuple):
    """A smooth curve around the linear model: local lines of its residuals.

    Attributes
    ----------
    smooth : (d,) widths of x, or (0,): the linear model itself
    size : (n,) sizes of what it leaves, none larger than some scales
    """

    smooth: Floats
    size: Floats


class KernelKind(NamedTuple):
    """Kernels of one kind.

    Attributes
    ----------
    y : (n,) what they are around: z, or what the linear model leaves of it
    width, z_width : (d,) of x, and that of y, in scales
    local, linear : whether slopes are taken out, and whether the linear model was
    """

    y: Floats
    width: Floats
    z_width: float
    local: bool
    linear: bool

    def own(self, x: Floats, asked: Ints, z_widths: Floats) -> tuple[Floats, Floats]:
        """(m, g) sums of kernels at the y of some observations given those apart, and (m,) their weights.

        The same for any number of threads: each of the observations has its own sums.
        """
        p, mass = np.empty((asked.size, z_widths.size)), np.empty(asked.size)
        apart = _apart(x.shape[1])

        def rows(part: tuple[int, int]) -> None:
            some = slice(*part)
            kernels.own_densities(asked[some], apart, x, self.y, self.width, self.local, z_widths, p[some], mass[some])

        list(map_slices(rows, slices(asked.size, workers())))
        return p, mass


class Stack(NamedTuple):
    """P(Z|x) as a mixture of normal kernels at any x; made by `stacked`.

    Attributes
    ----------
    x_scale, z_scale : scales of x and z, in which all else is
    x : (d, n) answering observations
    line : the linear model
    curve : the smooth curve
    parts : kinds of kernels; the last one, residuals of the curve over their size, answers for what the others do not
        know
    least : smallest width of z
    share : (p,) their weights, which add up to 1 with that of the background
    background : share of values that are like none before
    score : mean log2 density of z given x and the other observations, in bits, in the units of the data
    """

    x_scale: Scale
    z_scale: Scale
    x: Floats
    line: Line
    curve: SmoothCurve
    parts: tuple[KernelKind, ...]
    least: float
    share: Floats
    background: float
    score: float

    def ask(self, what: int, x: NDArray[Any], at: Floats, noise: Floats) -> Floats:
        """Answers of `_kernels.stacked.evaluate` in scales, for x (m, d) in the units of the data."""
        out = np.empty((len(x), 2 if what == kernels.MOMENTS else at.shape[1]))
        q = self.x_scale.tame(x)
        line, parts = self.line.at(q), self.parts
        y, width = np.stack([part.y for part in parts]), np.stack([part.width for part in parts])
        local, linear = (np.array([getattr(part, name) for part in parts]) for name in ("local", "linear"))
        curve, back = (self.line.residuals, self.curve.size, self.curve.smooth), np.array([self.background, ODD])
        z_width, usual = np.array([part.z_width for part in parts]), np.array([PRIOR, curve[1].mean(), self.least])
        how = self.x, y, width, local, linear, self.share, GUARD, z_width, curve, usual, back

        def rows(part: tuple[int, int]) -> None:
            some = slice(*part)
            kernels.evaluate(what, q[some], line[some], *how, at[some], noise[some], out[some])

        list(map_slices(rows, slices(len(x), workers())))
        return out


def stack_of(obs: Observations, steps: int = 1) -> Stack:
    """The stack of observations whose x and z are numbers, for the outcome so many steps ahead."""
    targets = obs.targets
    if targets is None or targets.shape[1] > 1:
        what = "kinds" if targets is None else f"vectors of {targets.shape[1]} numbers"
        remedy = "use predict_proba(X)" if targets is None else "observe with future=1, and one 'target' column"
        raise ValueError(f"The 'z' are {what}; forecasts are distributions of one number: {remedy}.")
    try:
        _ = obs.x
    except CountsOnly:
        raise ValueError(
            "Only counts of the observations were kept; forecasts take observations from all over the data: fit all "
            "data at once, observed with chunks=... where they are large."
        ) from None
    return stacked(ahead(obs, steps))


def ahead(obs: Observations, steps: int) -> Sample:
    """Some observations in robust scales, each with the outcome so many steps ahead."""
    sample = sampled(obs)
    if steps == 1:
        return sample
    after = obs.successor
    if after is None:
        raise ValueError(
            f"The 'steps' are {steps} and pairs have no order; a forecast of several steps follows a series: use "
            "steps=1, or observe one with ds.observe.delays."
        )
    place = sample.place
    for _ in range(steps - 1):
        place = np.where(place >= 0, after[place], -1)
    kept, targets = place >= 0, obs.targets
    assert targets is not None
    if not kept.any():
        raise ValueError(
            f"The 'steps' are {steps} and none of {obs.n} observations is followed by as many without a gap; some "
            "must be: give fewer steps or more data."
        )
    values = targets[obs.z[place[kept]]]
    scale = robust(values)
    z = scale.tame(values)
    return sample.of(kept)._replace(z=z, z_scale=scale, least=np.array([0.5 * lattice(z[:, 0])]))


def stacked(sample: Sample) -> Stack:
    """The stack of a sample whose z are numbers. Cost: that of two choices of widths, and about as much again."""
    x_scale, z_scale = sample.x_scale, sample.z_scale
    assert z_scale is not None
    inside, odd = _inside(sample)
    # Widths are those of as many observations as answer.
    sample = sample.of(inside)._replace(n=min(int(inside.sum()), ANSWERING))
    line = linear(sample.x, sample.z[:, 0])
    some = scattered(sample.site, ANSWERING)
    cost, least = 0.5 * np.log(sample.n) / sample.n, float(sample.least[0])
    spread = max(float(robust(line.residuals[:, None]).scale[0]), SMALLEST)
    rest = sample._replace(z=line.residuals[:, None] / spread, least=sample.least / spread)
    line = line._replace(residuals=line.residuals[some])
    width, height = likeliest(sample, cost=cost)
    plain = KernelKind(sample.z[some, 0], width, height, False, False)
    width, height = likeliest(rest, cost=cost)
    bent = KernelKind(line.residuals, width, height * spread, False, True)
    asked = scattered(sample.site[some], ASKED)
    trial = _Trial(np.ascontiguousarray(sample.x[some].T), asked, 1.0 / (FLOOR * sample.n))
    widths = [np.minimum(f * part.width, MOST) for part in (plain, bent) for f in FACTORS]
    curve, left = trial.curve(line.residuals, widths)
    last, fallback = trial.scaled(left, curve.size, widths, least)
    local = trial.local(plain, bent, fallback, least)
    known = [trial.guarded(part, np.array([part.z_width]), fallback)[:, 0] for part in (plain, local, bent)]
    back = (odd + 1.0) / (len(inside) + 2.0)
    density = np.stack([*known, fallback], axis=1) * (1.0 - back)
    density += back * _student(line.residuals[trial.asked])[:, None]
    share = _weights(density + trial.floor)
    kept = [k for k in range(4) if share[k] > 0.0 or k == 3]
    parts = tuple((plain, local, bent, last)[k] for k in kept)
    score = float(np.log2(density @ share).mean() - np.log2(z_scale.scale[0]))
    return Stack(x_scale, z_scale, trial.x, line, curve, parts, least, share[kept] * (1.0 - back), back, score)


class _Trial(NamedTuple):
    """Observations (d, n), those of them that are asked, and a density that any z has."""

    x: Floats
    asked: Ints
    floor: float

    def cost(self, width: Floats) -> float:
        """Nats that dimensions cost which play a part."""
        m = self.asked.size
        return float(0.5 * np.log(m) / m * (1.0 / (1.0 + width**2)).sum())

    def curve(self, residuals: Floats, widths: list[Floats]) -> tuple[SmoothCurve, Floats]:
        """The smooth curve that leaves the likeliest residuals, each without its own observation, and these."""
        found = []
        for width in (np.empty(0), *widths):
            left = residuals[self.asked] - _expected(self.x, self.asked, residuals, width)
            size = max(float(np.abs(left).mean()), SMALLEST)
            likelihoods = [float(np.log(p / size + self.floor).mean()) for p in _others(left / size)]
            found.append((max(likelihoods) - self.cost(width), width))
        smooth = max(found, key=lambda one: one[0])[1]
        left = residuals - _expected(self.x, np.arange(residuals.size), residuals, smooth)
        return SmoothCurve(smooth, _sizes(left)), left

    def scaled(self, residuals: Floats, size: Floats, widths: list[Floats], least: float) -> tuple[KernelKind, Floats]:
        """Residuals over their size at x, and the densities of those asked."""
        asked, found = self.asked, []
        for width in (*(np.full(len(self.x), w) for w in (MOST, *SPREADS)), *widths):
            spread = _spreads(self.x, asked, size, width)
            densities = zip(HEIGHTS, _others(residuals[asked] / spread), strict=True)
            likelihoods = [(float(np.log(p / spread + self.floor).mean()), h) for h, p in densities]
            value, h = max(likelihoods)
            found.append((value - self.cost(width), h, width))
        _, h, width = max(found, key=lambda one: one[0])
        spread = _spreads(self.x, np.arange(residuals.size), size, width)
        e = residuals / spread
        # More of them answer than have chosen the width.
        h *= float((asked.size / residuals.size) ** 0.2)
        last = KernelKind(_drawn_in(e, h), width, h, False, True)
        near = _alike(e[asked], last.y, np.maximum(h, least / spread[asked])[:, None])
        near[np.arange(asked.size), asked] = 0.0
        return last, near.sum(axis=1) / max(residuals.size - 1, 1) / spread[asked]

    def local(self, plain: KernelKind, bent: KernelKind, fallback: Floats, least: float) -> KernelKind:
        """The likeliest local-linear kernels: of z or of the residuals, as wide as others or wider."""
        found: list[tuple[float, KernelKind]] = []
        for y, base in ((plain, plain), (bent, plain), (bent, bent)):
            heights = np.array([g * base.z_width for g in Z_FACTORS if g * base.z_width >= least])
            heights = heights if heights.size else np.array([least])
            for factor in FACTORS:
                part = KernelKind(y.y, np.minimum(factor * base.width, MOST), 1.0, True, y.linear)
                values = np.log(self.guarded(part, heights, fallback) + self.floor).mean(axis=0)
                found += [(float(v), part._replace(z_width=float(h))) for v, h in zip(values, heights, strict=True)]
        return max(found, key=lambda pair: pair[0])[1]

    def guarded(self, part: KernelKind, z_widths: Floats, fallback: Floats) -> Floats:
        """(m, g) densities, with the fallback for what the kernels do not know."""
        p, mass = part.own(self.x, self.asked, z_widths)
        found: Floats = (p + GUARD * fallback[:, None]) / (mass + GUARD)[:, None]
        return found


def _sizes(residuals: Floats) -> Floats:
    """Sizes of residuals, none larger than some scales, nor nothing."""
    return np.clip(np.abs(residuals), SMALLEST, max(HUBER * float(robust(residuals[:, None]).scale[0]), SMALLEST))


def _others(values: Floats) -> list[Floats]:
    """(m,) densities of some numbers given the others, for each of several widths."""
    n = values.size
    itself = np.eye(n, dtype=bool)
    near = (np.where(itself, 0.0, _alike(values, _drawn_in(values, h), h)) for h in HEIGHTS)
    return [p.sum(axis=1) / max(n - 1, 1) for p in near]


def _drawn_in(values: Floats, width: float) -> Floats:
    """Numbers drawn together so that kernels around them have the variance of the numbers themselves."""
    mean, variance = values.mean(), max(values.var(), 1e-300)
    drawn: Floats = mean + (values - mean) / np.sqrt(1.0 + width**2 / variance)
    return drawn


def _expected(x: Floats, asked: Ints, y: Floats, width: Floats) -> Floats:
    """(m,) means of y that local lines let expect of some observations, given those apart."""
    out, apart = np.zeros(asked.size), _apart(y.size)

    def rows(part: tuple[int, int]) -> None:
        some = slice(*part)
        kernels.expected(asked[some], apart, x, y, width, GUARD, out[some])

    if width.size:
        list(map_slices(rows, slices(asked.size, workers())))
    return out


def _spreads(x: Floats, asked: Ints, size: Floats, width: Floats) -> Floats:
    """(m,) sizes of residuals that some observations let expect around them."""
    out, usual, apart = np.empty(asked.size), float(size.mean()), _apart(size.size)

    def rows(part: tuple[int, int]) -> None:
        some = slice(*part)
        kernels.spreads(asked[some], apart, x, size, width, PRIOR, usual, out[some])

    list(map_slices(rows, slices(asked.size, workers())))
    return out


def _apart(n: int) -> int:
    return min(APART, 1 + n // 20)


def _alike(a: Floats, b: Floats, width: Any) -> Floats:
    """(m, n) normal kernels between two sets of numbers."""
    density: Floats = np.exp(-0.5 * ((a[:, None] - b) / width) ** 2) / (np.sqrt(2.0 * np.pi) * width)
    return density


def _inside(sample: Sample) -> tuple[NDArray[np.bool_], int]:
    """Which observations have all values between the borders, and how many have their z outside."""
    assert sample.z_scale is not None
    x = (np.abs(sample.x) < _border(sample.x_scale, sample.x)).all(axis=1)
    z = (np.abs(sample.z) < _border(sample.z_scale, sample.z)).all(axis=1)
    inside = x & z
    # Where most are outside there are no borders worth the name.
    return (inside, int((~z).sum())) if inside.sum() >= max(len(z) / 2, 2) else (np.ones(len(z), bool), 0)


def _border(scale: Scale, values: Floats) -> Floats:
    edge = np.where(values < 0.0, scale.centre - scale.low, scale.high - scale.centre) / scale.scale
    border: Floats = edge * (1.0 - 1e-9)
    return border


def linear(x: Floats, z: Floats) -> Line:
    """Huber's regression with the ridge whose residuals, each without its own observation, are the smallest."""
    lines = [_ridge(x, z, ridge) for ridge in RIDGES]
    sizes = [_size(line.residuals) for line in lines]
    return lines[int(np.argmin(sizes))]


def _size(residuals: Floats) -> float:
    """A robust size: squares that become lines beyond some scales."""
    limit = HUBER * float(robust(residuals[:, None]).scale[0])
    r = np.abs(residuals)
    return float(np.where(r < limit, r * r, limit * (2.0 * r - limit)).mean())


def _ridge(x: Floats, z: Floats, ridge: float) -> Line:
    n, d = x.shape
    a = np.column_stack([np.ones(n), x])
    penalty = ridge * n * np.eye(d + 1)
    penalty[0, 0] = 1e-12 * n
    weight = np.ones(n)
    for _ in range(REWEIGHTED):
        gram = np.einsum("ni,n,nj->ij", a, weight, a) + penalty
        b = np.linalg.solve(gram, np.einsum("ni,n->i", a, weight * z))
        r = z - np.einsum("ni,i->n", a, b)
        limit = HUBER * float(robust(r[:, None]).scale[0])
        weight = np.minimum(1.0, limit / np.maximum(np.abs(r), 1e-300))
    leverage = np.einsum("ni,ij,nj->n", a, np.linalg.inv(gram), a) * weight
    return Line(float(b[0]), b[1:], r / (1.0 - np.minimum(leverage, 0.9)))


def _weights(density: Floats) -> Floats:
    """Weights (p,) of the mixture of densities (m, p) that is the likeliest, where each but the last has its cost."""
    m, p = density.shape
    cost = 0.5 * np.log(m) / m
    found = []
    for others in (chosen for k in range(p) for chosen in combinations(range(p - 1), k)):
        chosen = [*others, p - 1]
        some = density[:, chosen]
        share = np.full(len(chosen), 1.0 / len(chosen))
        for _ in range(ROUNDS):
            share = (some * share / (some @ share)[:, None]).mean(axis=0)
        share = np.where(share < LEAST, 0.0, share)
        share /= share.sum()
        weights = np.zeros(p)
        weights[chosen] = share
        found.append((float(np.log(some @ share).mean()) - cost * len(others), weights))
    return max(found, key=lambda one: one[0])[1]


def _student(residuals: Floats) -> Floats:
    """Density of the background: Student's t with three degrees of freedom around the linear model."""
    t = residuals / ODD
    density: Floats = 2.0 / (np.pi * np.sqrt(3.0) * (1.0 + t * t / 3.0) ** 2) / ODD
    return density
