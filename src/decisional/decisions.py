"""Steps 6 to 8 of the figure: iso-prediction and iso-utility states, and decisional states, their meet.

The elements are causal states. Sets Y of candidates are the same or not; numbers (utilities, and predictions in a
continuum) are the same if no gap larger than delta lies between them, or within their sampling error.
"""

from typing import Any

import numpy as np

from ._kernels import values as kernels
from .structures import Floats, Ints, Partition

__all__ = ["group", "iso_prediction", "iso_utility"]


def iso_prediction(predictions: Any, weight: Floats, delta: float | None, level: float) -> Partition:
    """C2: states with the same set Y of best predictions; parameters as in `group`."""
    if predictions.codes is None:
        return Partition(group(predictions.coordinates, predictions.errors, weight, delta, level), weight)
    codes = np.ascontiguousarray(predictions.codes)
    rows = codes.view(np.dtype((np.void, codes.shape[1]))).ravel()
    return Partition(np.unique(rows, return_inverse=True)[1].reshape(-1), weight)


def iso_utility(utility: Floats, error: Floats, weight: Floats, delta: float | None, level: float) -> Partition:
    """C3: states whose best predictions are worth the same; parameters as in `group`."""
    return Partition(group(utility[:, None], error[:, None], weight, delta, level), weight)


def group(values: Floats, errors: Floats, weight: Floats, delta: float | None, level: float) -> Ints:
    """Labels of rows of numbers (n, d) that are the same.

    Parameters
    ----------
    values, errors : (n, d) numbers and their standard errors
    weight : (n,) probability of each row
    delta : gap between groups: sorted values are cut where they lie further apart, in any coordinate; None groups
        values that differ by no more than `level` standard errors, the most probable first
    level : number of standard errors

    Cost: O(n log n) with delta, O(n groups) without.
    """
    labels = np.zeros(len(values), np.int64)
    if delta is None:
        order = np.argsort(-weight, kind="stable")
        values, errors, weight = (np.ascontiguousarray(a, float) for a in (values, errors, weight))
        kernels.aggregate(order, values, errors, weight, level, labels)
        return labels
    for column in values.T:
        order = np.argsort(column, kind="stable")
        # Rounding is not a gap.
        gap = np.diff(column[order]) > delta + 1e-12 * np.abs(column).max(initial=0.0)
        rank = np.empty_like(labels)
        rank[order] = np.concatenate([[0], np.cumsum(gap)])
        labels = np.unique(labels * len(values) + rank, return_inverse=True)[1].reshape(-1)
    return labels
