"""What pictures say of decisions: short texts of the sets Y and of utilities."""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from .edges import symbol_text
from .geometry import Floats

if TYPE_CHECKING:
    from ..estimators import DecisionalStates
    from ..states.partition import Partition

__all__ = [
    "causal_names",
    "causal_probabilities",
    "decision_texts",
    "mean_utility",
    "prediction_text",
    "require_fitted",
    "set_texts",
    "worth",
]

MAX_VALUES, MAX_LETTERS = 3, 24  # of a set Y


def require_fitted(choice: Any) -> None:
    """Refuse what is not a fitted DecisionalStates."""
    if not hasattr(choice, "iso_prediction_"):
        raise ValueError(
            "The 'choice' parameter must be a fitted DecisionalStates. "
            f"Got {type(choice).__name__} instead: fit DecisionalStates(utility) first."
        )


def causal_probabilities(choice: DecisionalStates) -> Floats:
    """Return the probability of each causal state."""
    weight = choice.iso_utility_.weight
    assert weight is not None
    return np.asarray(weight)


def causal_names(choice: DecisionalStates) -> list[str]:
    """Return the names of the causal states, which are numbers without a machine."""
    names = range(len(choice.utility_)) if choice.machine_ is None else choice.machine_.names
    return list(map(str, names))


def prediction_text(predictions: Any) -> str:
    """Write a set Y, abbreviated where it is long.

    Examples
    --------
    >>> prediction_text(frozenset("a")), prediction_text(frozenset([10, 9])), prediction_text(frozenset(range(8)))
    ('a', '9 or 10', '0, 1 or 6 more')
    """
    if isinstance(predictions, frozenset) or type(predictions) is tuple:
        numbers = all(isinstance(y, Real) for y in predictions)
        values = sorted(predictions) if numbers else sorted(predictions, key=str)
        words = [_short(_value(y)) for y in values[:MAX_VALUES]]
        if len(values) > MAX_VALUES:
            words = [*words[: MAX_VALUES - 1], f"{len(values) - MAX_VALUES + 1} more"]
        return " or ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
    if hasattr(predictions, "low"):
        low, high = f"{predictions.low:.4g}", f"{predictions.high:.4g}"
        return low if low == high else f"{low} to {high}"
    if hasattr(predictions, "cells") and len(predictions) == 1:
        return _short(_value(next(iter(predictions))))
    return _short(str(predictions))


def worth(utility: float) -> str:
    """Write a utility with three digits.

    Examples
    --------
    >>> worth(2 / 3), worth(-0.0)
    ('0.667', '0')
    """
    return f"{utility + 0.0:.3g}"


def mean_utility(choice: DecisionalStates, states: Partition) -> Floats:
    """Return the mean utility of each state of a partition of the causal states."""
    weight = causal_probabilities(choice)
    # States that are never visited have a mean too.
    weight = np.maximum(weight, 1e-12 * max(float(weight.max(initial=0.0)), 1e-300))
    mass = np.bincount(states.labels, weight, states.n_states)
    return np.asarray(np.bincount(states.labels, weight * choice.utility_, states.n_states) / mass)


def set_texts(choice: DecisionalStates, states: Partition) -> list[str]:
    """Return the set Y of each state of a partition: that of its most probable causal state."""
    order = np.lexsort((-causal_probabilities(choice), states.labels))
    first = order[np.searchsorted(states.labels[order], np.arange(states.n_states))]
    return [prediction_text(choice.predictions_[k]) for k in first.tolist()]


def decision_texts(choice: DecisionalStates) -> list[str]:
    """Return what to predict in each decisional state, and what this is worth."""
    sets, values = set_texts(choice, choice.states_), mean_utility(choice, choice.states_)
    return [f"ω{k}: predict {y}, worth {worth(u)}" for k, (y, u) in enumerate(zip(sets, values, strict=True))]


def _value(y: Any) -> str:
    if isinstance(y, (float, np.floating)):
        return f"{y:.4g}"
    if isinstance(y, tuple):
        return "(" + ", ".join(map(_value, y)) + ")"
    return symbol_text(y if isinstance(y, str) else str(y))


def _short(text: str) -> str:
    return text if len(text) <= MAX_LETTERS else text[: MAX_LETTERS - 1] + "…"
