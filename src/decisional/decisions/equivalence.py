"""When two utilities come to the same (section 3.5 of the paper)."""

from collections.abc import Sequence, Set
from typing import Any

import numpy as np

from ..machines import EpsilonMachine
from ..states.causal_model import CausalModel
from ..support.arguments import real, shown
from ..support.arrays import Floats
from .predictions import Interval, Optimum, Slack
from .solving import solve


def same_predictions(u1: Any, u2: Any, causal: Any, atol: float = 1e-9) -> bool:
    """Whether two utilities lead to the same sets Y of best predictions in every causal state.

    Parameters
    ----------
    u1, u2 : utilities, tables or callables
    causal : fitted CausalStates, or an EpsilonMachine
    atol : expected utilities that differ by no more are equal
    """
    a, b = _optima(u1, u2, causal, atol)
    return all(_same(y1, y2, atol) for y1, y2 in zip(a.predictions, b.predictions, strict=True))


def same_values(u1: Any, u2: Any, causal: Any, atol: float = 1e-9) -> bool:
    """Whether the best predictions of every causal state are worth the same; parameters as `same_predictions`."""
    a, b = _optima(u1, u2, causal, atol)
    return bool((np.abs(a.utility - b.utility) <= atol).all())


def equivalent(u1: Any, u2: Any, causal: Any, atol: float = 1e-9) -> bool:
    """Whether two utilities are functionally equivalent: same best predictions and values in every causal state.

    Then they have the same decisional states; parameters as `same_predictions`.
    """
    return same_predictions(u1, u2, causal, atol) and same_values(u1, u2, causal, atol)


def _optima(u1: Any, u2: Any, causal: Any, atol: float) -> tuple[Optimum, Optimum]:
    real(atol, "atol", least=0, remedy="try atol=1e-9")
    p: Floats
    outcomes: Sequence[Any]
    if isinstance(causal, EpsilonMachine):
        p, outcomes = causal.emission, causal.alphabet
    elif isinstance(causal, CausalModel) and causal.is_fitted():
        p, outcomes = causal.distributions_, causal.outcomes_
    else:
        kind = "fitted CausalStates or an EpsilonMachine"
        raise TypeError(f"The 'causal' must be {kind}. Got {shown(causal)} instead: fit them first.")
    # After a dead end nothing follows.
    p = p[p.sum(axis=1) > 0.0]
    slack = Slack(atol)
    return solve(p, outcomes, u1, slack), solve(p, outcomes, u2, slack)


def _same(a: Any, b: Any, atol: float) -> bool:
    """Equality of sets, within rounding for numbers: {0.5} and [0.5, 0.5] are the same, {0, 1} and [0, 1] are not."""
    if isinstance(a, Set) and isinstance(b, Set):
        return a == b
    if _is_wide(a) != _is_wide(b):
        return False
    try:
        x, y = (np.unique(np.array(list(values), float), axis=0) for values in (a, b))
    except (TypeError, ValueError):
        return bool(a == b)
    return x.shape == y.shape and bool(np.allclose(x, y, rtol=0.0, atol=max(atol, 1e-9)))


def _is_wide(values: Any) -> bool:
    return isinstance(values, Interval) and values.low < values.high
