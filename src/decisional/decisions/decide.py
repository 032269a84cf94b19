"""Steps 5 to 8 of the paper's figure: from causal states and a utility to decisional states."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..states.partition import Partition
from ..support.arrays import Floats
from . import iso
from .optima import Slack
from .sets import Predictions
from .solving import solve
from .utilities import Utility

__all__ = ["Decision", "decide"]


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
    n : (K,) observations behind each distribution, or None: they are exact
    """
    from scipy.special import ndtri

    K = p.shape[0]
    level = 0.0 if n is None else float(ndtri(1.0 - alpha / (2.0 * K)))
    if n is None and delta is None:
        delta = 1e-9
    # 5. Best predictions of each state, and what they are worth.
    prior = np.asarray(probability @ p)
    slack = Slack(1e-9 if atol is None else atol, n, prior, level if atol is None else 0.0)
    best = solve(p, outcomes, utility, slack, integrate, optimise)
    # 6. - 8. The same predictions, the same value, both.
    psi = iso.iso_prediction(best.predictions, probability, delta, level)
    upsilon = iso.iso_utility(best.utility, best.error, probability, delta, level)
    return Decision(best.utility, best.predictions, psi, upsilon, psi & upsilon)
