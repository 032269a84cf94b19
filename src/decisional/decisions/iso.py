"""Steps 6 to 8 of the figure: iso-prediction and iso-utility states, and decisional states, their meet.

The elements are causal states. Sets Y of candidates are the same or not; numbers (utilities, and predictions in a
continuum) are the same if no gap larger than delta lies between them, or within their sampling error.
"""

from typing import Any

import numpy as np

from .._kernels import values as kernels
from ..states.partition import Partition
from ..support.arrays import Floats, Ints

__all__ = ["group", "iso_prediction", "iso_utility"]


def iso_prediction(predictions: Any, weight: Floats, delta: float | None, level: float) -> Partition:
    """C2: states with the same set Y of best predictions; parameters as in `group`."""
    if predictions.codes is None:
        errors, precision = predictions.errors, predictions.precision
        gap = None if delta is None else max(delta, precision)
        return Partition(group(predictions.coordinates, np.hypot(errors, precision), weight, gap, level), weight)
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
    delta : gap between groups: they are cut where their sorted values lie further apart, in any coordinate; None
        groups values that differ by no more than `level` standard errors, the most probable first
    level : number of standard errors

    Cost: O(n log n) with delta, O(n groups) without.
    """
    labels = np.zeros(len(values), np.int64)
    if delta is None:
        order = np.argsort(-weight, kind="stable")
        values, errors, weight = (np.ascontiguousarray(a, float) for a in (values, errors, weight))
        kernels.aggregate(order, values, errors, weight, level, labels)
        return labels
    # Rounding is not a gap.
    least = delta + 1e-12 * np.abs(values).max(axis=0, initial=0.0)
    groups = 0
    # A cut in one coordinate may open gaps in the others.
    while groups < (groups := int(labels.max(initial=-1)) + 1):
        for column, gap in zip(values.T, least, strict=True):
            order = np.lexsort((column, labels))
            cut = (np.diff(column[order]) > gap) | (np.diff(labels[order]) > 0)
            labels[order] = np.concatenate([[0], np.cumsum(cut)])
    return labels
