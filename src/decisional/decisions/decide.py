"""Steps 5 to 8 of the paper's figure: from causal states and a utility to decisional states.

The elements are causal states. Sets Y of candidates are the same or not; numbers (utilities, and predictions in a
continuum) are the same if no gap larger than delta lies between them, or within their sampling error.
"""

from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np

from .._kernels import values as kernels
from ..states.partition import Partition
from ..support.arrays import Floats, Ints
from .indifference import Losses, decide_alike
from .predictions import ListedSets, NumericSets, Predictions, Slack
from .solving import solve
from .utilities import Utility


@dataclass(frozen=True)
class Decision:
    """Steps 5 to 8 of the figure, for K causal states.

    Attributes
    ----------
    utility : (K,) expected utility of the best predictions of each
    predictions : the K sets Y
    iso_prediction, iso_utility, states : partitions of the causal states; the last one is decisional
    """

    utility: Floats
    predictions: Predictions
    iso_prediction: Partition
    iso_utility: Partition
    states: Partition


def decide(
    p: Any,
    outcomes: Any,
    probability: Floats,
    utility: Utility,
    *,
    integrate: Any = None,
    optimise: Any = None,
    delta: float | None = None,
    atol: float | None = None,
    indifference: float = 0.0,
    errors: float = 0.0,
    n: Floats | None = None,
    alpha: float = 0.01,
) -> Decision:
    """From causal states and a utility to decisional states.

    Parameters
    ----------
    p : (K, n_z) P(Z|state), dense or sparse, over the `outcomes`
    probability : (K,) of the states
    utility, integrate, optimise : U, Integ and Argmax of the figure
    delta, atol : gap between groups of numbers, and difference of expected utilities that does not count; None
        takes sampling error where `n` is known, with `alpha` the chance of a false alarm, and 1e-9 where it is not
    indifference : what a state may lose where it is decided like others, and gap between utilities that are the same
    errors : how many standard errors all states together may lose where they are decided alike, by the observations
        of each; 0 where only ties are the same
    n : (K,) observations behind each distribution, or None: they are exact

    Returns
    -------
    Decision
        Predictions and utility of each causal state, and the partitions of steps 6 to 8.
    """
    from scipy.special import ndtri

    K = p.shape[0]
    level = 0.0 if n is None else float(ndtri(1.0 - alpha / (2.0 * K)))
    if n is None and delta is None:
        delta = 1e-9
    # 5. Best predictions of each state, and what they are worth.
    prior = np.asarray(probability @ p)
    # States that are decided alike within their errors need no sets of ties for that.
    ties = level if errors == 0.0 else 0.0
    slack = Slack(1e-9 if atol is None else atol, n, prior, ties if atol is None else 0.0)
    best = solve(p, outcomes, utility, slack, integrate, optimise)
    # 6. - 8. The same predictions, the same value, both.
    psi = iso_prediction(best.predictions, probability, delta, ties)
    if indifference == 0.0 and errors == 0.0:
        upsilon = iso_utility(best.utility, best.error, probability, delta, level)
        return Decision(best.utility, best.predictions, psi, upsilon, psi & upsilon)
    # Where K states lose so many of their own standard errors each, they lose at most 'errors' of the whole together.
    how = best.predictions.choice(), indifference, errors / sqrt(K), n, integrate, optimise
    alike = decide_alike(Losses(p, outcomes, utility.bound(outcomes), *how), best, psi)
    # By what is best: a state that follows others must not thereby be worth something else than before.
    if indifference == 0.0:
        upsilon = iso_utility(best.utility, best.error, probability, delta, level)
    else:
        gap = None if delta is None else max(delta, indifference)
        upsilon = Partition(chained(best.utility, best.error, indifference, gap, level), probability)
    return Decision(alike.utility, alike.predictions, alike.groups, upsilon, alike.groups & upsilon)


def iso_prediction(predictions: Predictions, weight: Floats, delta: float | None, level: float) -> Partition:
    """C2: states with the same set Y of best predictions; parameters as in `group`."""
    if isinstance(predictions, NumericSets):
        values, errors = predictions.coordinates()
        gap = None if delta is None else max(delta, predictions.precision)
        return Partition(group(values, np.hypot(errors, predictions.precision), weight, gap, level), weight)
    assert isinstance(predictions, ListedSets)
    bits = np.packbits(predictions.member.reshape(len(predictions), -1), axis=1)
    rows = bits.view(np.dtype((np.void, bits.shape[1]))).ravel()
    return Partition(np.unique(rows, return_inverse=True)[1].reshape(-1), weight)


def iso_utility(utility: Floats, error: Floats, weight: Floats, delta: float | None, level: float) -> Partition:
    """C3: states whose best predictions are worth the same; parameters as in `group`."""
    return Partition(group(utility[:, None], error[:, None], weight, delta, level), weight)


def chained(values: Floats, errors: Floats, indifference: float, delta: float | None, level: float) -> Ints:
    """Labels of numbers (n,) that are linked by gaps of at most delta; None: the indifference and `level` errors."""
    if delta is not None:
        return group(values[:, None], errors[:, None], np.ones(len(values)), delta, level)
    order = np.argsort(values, kind="stable")
    labels = np.empty(len(values), np.int64)
    doubt = level * np.hypot(errors[order][1:], errors[order][:-1])
    labels[order] = np.concatenate([[0], np.cumsum(np.diff(values[order]) > indifference + doubt)])
    return labels


def group(values: Floats, errors: Floats, weight: Floats, delta: float | None, level: float) -> Ints:
    """Labels of rows of numbers (n, d), with their standard errors and the probability of each row, that are the same.

    They are cut where their sorted values lie further apart than delta, in any coordinate; None groups those that
    differ by no more than `level` standard errors, the most probable first. Cost: O(n log n), O(n groups) for None.
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
