"""How much of the past of a signal matters: as much as makes values likelier that were held out.

Every length of the past is judged on the same values, block by block of time: the density of each is estimated from
other blocks alone, by the stack of kernels that makes forecasts where that applies.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial, reduce
from typing import Any

import numpy as np

from .._kernels.likelihood import LANES, leave_one_out
from ..data.observations import Observations
from ..data.signals import Signal, delays, read_signal
from ..data.stores import load
from ..support.arguments import integer, refusal, require
from ..support.arrays import Bools, Floats, Ints
from ..support.progress import Progress, check_progress, counted, told
from . import bandwidths
from .forecasts import Forecast
from .kernel_sums import squares
from .kernels import Kernels
from .scales import evenly
from .stacking import stacked

PASTS = (1, 2, 3, 5, 8, 12)
# Values that choose; blocks of time that they are cut into, and so many of them in a block at least.
TRIED, BLOCKS, LEAST = 2000, 20, 4
# A past is too long where it leaves less than this share of the observations.
LEFT = 0.5


def best_past(
    signals: Any,
    density: Kernels | None = None,
    pasts: Sequence[int] = PASTS,
    progress: Progress = None,
    *,
    future: int = 1,
    step: int = 1,
    difference: bool = False,
    target: int | str | None = None,
    inputs: Any = None,
) -> int:
    """The smallest number of past values that predicts held-out values as well as any, as far as the data tell.

    The log density of each z is estimated from other blocks of time than its own, for each of `pasts` on the same
    values, as forecasts are: see `CausalStates.forecast`. Of those within one standard error of the best, by the
    differences in each block, the smallest is chosen.

    Parameters
    ----------
    signals, future, step, difference, target, inputs : as for `decisional.observe.delays`
    density : how densities are estimated; by default `Kernels()`. Where its widths are given, or z are vectors, its
        own kernels judge rather than the stack of forecasts
    pasts : numbers of past values that are tried
    progress : True for a bar, or a function that is called with a line of text for each of them

    Returns
    -------
    int : for `decisional.observe.delays`, which chooses it itself with past="auto". Cost: O(n^2 past) for each past,
        with n <= 2,000 values from all over the data that choose; about 10 s of one core for 2,000, 3 s for 500.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> best_past(rng.normal(size=200))
    1
    """
    density = Kernels() if density is None else density
    require(density, "model", "density", "Kernels", "try density=ds.Kernels()")
    if not isinstance(pasts, (list, tuple, range, np.ndarray)) or getattr(pasts, "ndim", 1) != 1:
        raise TypeError(refusal("pasts", pasts, "a list of integers", "try pasts=[1, 2, 3]"))
    tried = sorted({integer(past, "pasts", of="best_past") for past in pasts})
    check_progress(progress)
    cut = _stretches(read_signal(signals, inputs, target, parameter="signals"))
    how: dict[str, Any] = {"future": future, "step": step, "difference": difference}
    observe = partial(delays, cut.series, **how, target=cut.target, inputs=cut.known)
    seen = _observed(observe, tried)
    n = seen[0].n if seen else 0
    if n < 2 * LEAST:
        total = sum(map(len, cut.series))
        raise ValueError(
            f"The 'signals' have {total} values, too few without a gap to choose the past: give more than {2 * LEAST}, "
            "or a past."
        )
    density.check(seen[0])
    block = np.arange(n) * min(BLOCKS, n // LEAST) // n
    found = (held_out(obs, block, density) for obs in seen)
    with told(progress):
        what = "how much past", len(seen), "lengths"
        scores = list(counted(found, *what, more=lambda score: f", {score.mean():.3f} bits per value"))
    # A value more must make all of them likelier by a nat, as a parameter does that says nothing.
    worth = np.array(scores) - 1.0 / (np.log(2.0) * n) * np.array(tried[: len(scores)])[:, None]
    return tried[_fewest(worth, block)]


def held_out(obs: Observations, block: Ints, density: Kernels) -> Floats:
    """(n,) log2 of the density of each z given its x, by the observations of other blocks.

    The only place where the choice knows how densities are estimated: another estimate may stand here. Where z are
    numbers and the data choose the widths it is the stack of kernels by which forecasts and decisions are made, of
    every second block for those between. Else it is that of plain kernels, of all other blocks, with widths that every
    second block has chosen, or given ones.
    """
    sample = bandwidths.sampled(obs, most=obs.n)
    found = np.empty(obs.n)
    for half in (0, 1):
        asked = block % 2 == half
        if _chooses(density) and sample.dim == 1:
            found[asked] = _forecast(sample, asked, obs)
            continue
        width, z_width = _widths(sample, np.flatnonzero(~asked), obs, density)
        for own in range(half, int(block[-1]) + 1, 2):
            found[block == own] = _densities(sample, block == own, width, z_width)
    # Any z has some density: one odd value costs a bounded amount.
    log: Floats = np.log2(found + 1.0 / (bandwidths.FLOOR * obs.n))
    return log if sample.z_scale is None else log - np.log2(sample.z_scale.scale).sum()


def _forecast(sample: bandwidths.Sample, asked: Bools, obs: Observations) -> Floats:
    """(n_asked,) density of z in scales, as the stack of the observations that are not asked forecasts it."""
    stack, points, targets = stacked(sample.of(~asked)), obs.points, obs.targets
    assert points is not None
    assert targets is not None
    # Not z as they are in the sample, where odd ones are moved to the border: these would be likely there.
    density: Floats = Forecast(stack, points[obs.x[asked]]).pdf(targets[obs.z[asked], 0]) * stack.z_scale.scale[0]
    return density


def _chooses(density: Kernels) -> bool:
    """Whether the data choose the widths."""
    return density.z_bandwidth is None and isinstance(density.bandwidth, str) and density.bandwidth == "cv"


def _widths(sample: bandwidths.Sample, rows: Ints, obs: Observations, density: Kernels) -> tuple[Floats, float]:
    """Widths of x and z in scales, as some of the observations, or the parameters, choose them for all."""
    if _chooses(density):
        return bandwidths.likeliest(sample.of(rows))
    given = bandwidths.choose(density.bandwidth, density.z_bandwidth, obs)
    z_scale = np.ones(1) if sample.z_scale is None else sample.z_scale.scale
    return given.sigma / sample.x_scale.scale, max(float(np.mean(given.z_sigma / z_scale)), bandwidths.LEAST)


def _densities(sample: bandwidths.Sample, asked: Bools, width: Floats, z_width: float) -> Floats:
    """(n_asked,) density of z in scales, by the observations that are not asked."""
    a, b = sample.x[asked] / width, (sample.x[~asked] / width).T
    n, m = len(a), b.shape[1]
    more = -m % LANES
    z_square = np.pad(squares(sample.z[asked], sample.z[~asked]), ((0, 0), (0, more)), constant_values=-1.0)
    p, slope, z_slope = np.empty(n), np.empty((n, 0)), np.empty(n)
    nobody, known = np.full(n, -1), (bandwidths.BLIND, bandwidths.IGNORANCE, 1.0 / (bandwidths.FLOOR * sample.n))
    points = np.ascontiguousarray(np.pad(b, ((0, 0), (0, more))))
    leave_one_out(a, points, nobody, z_square, z_width, sample.dim, *known, p, slope, z_slope)
    return p


def _fewest(scores: Floats, block: Ints) -> int:
    """The first row of (n_pasts, n) scores that is within one standard error of the best, by blocks."""
    size = np.bincount(block)
    best = scores[scores.mean(axis=1).argmax()]
    for k, score in enumerate(scores):
        lost = np.bincount(block, best - score) / size
        if lost.mean() <= lost.std(ddof=1) / np.sqrt(size.size):
            return k
    raise AssertionError("The best is as good as itself.")


def _observed(observe: Callable[[int], Observations], pasts: Sequence[int]) -> list[Observations]:
    """Observations of longer and longer pasts at the same times, as long as gaps leave enough of them."""
    found: list[Observations] = []
    for past in pasts:
        try:
            obs = observe(past)
        except ValueError:
            # No window of this length fits between the gaps, nor will a longer one.
            break
        if found and obs.n < LEFT * found[0].n:
            break
        found.append(obs)
    if not found:
        return []
    common = reduce(np.intersect1d, [obs.site for obs in found])
    return [obs[common] for obs in found]


def _stretches(signal: Signal) -> Signal:
    """Stretches from all over the series, in memory, where these have more values than can choose."""
    total, length = sum(len(part) for part in signal.series), TRIED // BLOCKS
    kept = [(k, slice(0, len(part))) for k, part in enumerate(signal.series)]
    if total > TRIED:
        kept = [(k, slice(a, a + length)) for k, part in enumerate(signal.series) for a in range(0, len(part), length)]
        kept = [kept[i] for i in evenly(len(kept), max(TRIED * len(kept) // total, 1))]
    series = [load(signal.series[k][part]) for k, part in kept]
    known = None if signal.known is None else [load(signal.known[k][part]) for k, part in kept]
    return replace(signal, series=series, known=known, index=None)
