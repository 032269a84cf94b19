"""What the data choose where nothing is given: the past of a signal, the widths for the levels of an image."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..data.signals import delays
from ..data.stores import extremes
from .kernels import Kernels

PASTS = (1, 2, 3, 5)
# Values that choose the past; all of them are used with the one that is chosen.
TRIED = 1500
# The paper's kernel width, sigma² = 1.5, and its tolerance, for 256 grey levels.
BANDWIDTH, TOLERANCE, LEVELS = 1.5**0.5, 7.0, 255.0


def best_past(
    signals: Any,
    density: Kernels | None = None,
    pasts: Sequence[int] = PASTS,
    progress: Callable[[str], None] | None = None,
) -> int:
    """The number of past values whose densities, from two thirds of the last values, predict the other third best.

    Parameters
    ----------
    signals : (n,) numbers, NaN = missing, or a list of several such arrays, of which the longest chooses
    density : how densities are estimated; by default `Kernels()`
    pasts : numbers of past values that are tried, the smallest first
    progress : called with a line of text for each of them

    Returns
    -------
    int : for `decisional.observe.delays`. Cost: that of the densities of the last 1500 values, for each of `pasts`.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> best_past(np.sin(np.arange(600) / 3) + 0.02 * rng.normal(size=600))
    5
    """
    density = Kernels() if density is None else density
    several = isinstance(signals, (list, tuple)) and len(signals) > 0 and np.ndim(signals[0]) == 1
    signal = max(signals, key=len) if several else signals
    tried = np.asarray(signal[-TRIED:], float)
    cut = tried.size * 2 // 3
    scores: dict[int, float] = {}
    for past in pasts:
        try:
            learnt, held_out = delays(tried[:cut], past), delays(tried[cut:], past)
        except ValueError:
            # No window of this length fits between the gaps, nor will a longer one.
            break
        scores[past] = density.model(learnt).score(held_out, np.asarray(held_out.points))
        if progress is not None:
            progress(f"past {past}: {scores[past]:.3f} bits per value")
    if not scores:
        raise ValueError(
            f"The 'signals' have {len(signal)} values, too few without a gap to choose the past: give more, or a past."
        )
    return max(scores, key=scores.__getitem__)


class GreyScale(NamedTuple):
    """The levels of images: their range, and the paper's widths in their unit.

    Attributes
    ----------
    low, high : the smallest and the largest level
    bandwidth : for `Kernels`, 1.22 of 256 levels
    tolerance : for `utility.tolerant`, 7 of 256 levels
    """

    low: float
    high: float
    bandwidth: float
    tolerance: float


def grey_scale(images: Any) -> GreyScale:
    """The range of an image, or of a list of images, and the kernel width and the tolerance of the paper for it.

    Integers are levels themselves; floats come in any unit, and 256 levels lie between their smallest and largest.
    Cost: one pass over the images, which may be stored on disk.

    Examples
    --------
    >>> grey_scale(np.array([[0.0, 0.5], [1.0, 0.25]])).tolerance
    0.027450980392156862
    """
    given = list(images) if isinstance(images, (list, tuple)) and np.ndim(images[0]) > 1 else [images]
    arrays = [image if hasattr(image, "dtype") else np.asarray(image) for image in given]
    low, high, _ = extremes(arrays)
    level = 1.0 if arrays[0].dtype.kind in "biu" else (high - low) / LEVELS or 1.0
    return GreyScale(low, high, level * BANDWIDTH, level * TOLERANCE)
