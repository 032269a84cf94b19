"""Step 5 of the figure as one call: Y and U of each distribution, whatever the utility, integrator and optimiser."""

from collections.abc import Sequence
from typing import Any

from .integrals import integrated, optimised
from .optima import Optimum, Slack, in_blocks
from .utilities import as_utility

__all__ = ["solve"]


def solve(
    p: Any, outcomes: Sequence[Any], utility: Any, slack: Slack, integrate: Any = None, optimise: Any = None
) -> Optimum:
    """Best predictions of K distributions over the outcomes.

    Parameters
    ----------
    p : (K, n_z) distributions, dense or sparse
    outcomes : what the columns mean
    utility : U(y, z)
    slack : when two utilities count as equal
    integrate : callable of (p, u), see `integrals`; by default the sum over outcomes
    optimise : callable of (value, outcomes), see `integrals`; by default closed forms and all candidates
    """
    utility = as_utility(utility).bound(outcomes)
    best = utility.best
    if optimise is not None:
        best = optimised(utility, optimise, integrate)
    elif integrate is not None:
        best = integrated(utility, integrate)
    return in_blocks(p, slack, lambda block, part: best(block, outcomes, part), len(utility.y or ()))
