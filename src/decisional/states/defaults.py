"""The widths for the levels of an image, where nothing is given."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..data.stores import extremes
from ..support.arguments import as_table, shown
from ..support.arrays import is_array_like

# The paper's kernel width, sigma² = 1.5, and its tolerance, for 256 grey levels.
BANDWIDTH, TOLERANCE, LEVELS = 1.5**0.5, 7.0, 255.0


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
    several = isinstance(images, (list, tuple)) and len(images) > 0 and np.ndim(images[0]) > 1
    given = list(images) if several else [images]
    rule = "it must be grey levels, (height, width), or a list of such: give an array of numbers."
    arrays = [image if is_array_like(image) else as_table(image, "images", rule) for image in given]
    if any(image.ndim < 1 or image.dtype.kind not in "biuf" or not image.size for image in arrays):
        raise ValueError(f"The 'images' are {shown(images)}; {rule}")
    low, high, _ = extremes(arrays)
    level = 1.0 if arrays[0].dtype.kind in "biu" else (high - low) / LEVELS or 1.0
    return GreyScale(low, high, level * BANDWIDTH, level * TOLERANCE)
