"""How symbols, numbers, outcomes, sets Y and utilities are written, in pictures and on pages."""

from __future__ import annotations

import math
import re
from collections.abc import Hashable, Sequence
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from ..decisions.predictions import CellSet, Interval
from ..support.arrays import Floats
from ..support.plurals import plural

if TYPE_CHECKING:
    from ..decisions.decisional_model import DecisionalModel
    from ..states.partition import Partition

MAX_VALUES, MAX_LETTERS = 3, 24  # of a set Y, and of an outcome
MINUS = re.compile(r"(?<![\w.-])-(?=\d)")
CELLS = re.compile(r"\(([\d−]+(?:, [\d−]+)+)\)")


def probability_text(p: float) -> str:
    """Write a probability with two decimals, more where they would round to certainty or impossibility."""
    if 0 < p < 1e-6:
        return f"{p:.0e}"
    for decimals in range(2, 7):
        if round(p, decimals) not in (0.0, 1.0):
            return f"{p:.{decimals}f}"
    return f"{p:.0f}"


def share(p: float) -> str:
    """Write a probability with three decimals, or how small it is: 0.500, 4e-05, 0."""
    return f"{p:.3f}" if p >= 0.0005 else f"{p:.0e}" if p > 0 else "0"


def number(value: float) -> str:
    """Write a number with three digits, and no more than that of what is almost nothing."""
    if value != 0 and abs(value) < 1e-6:
        return "≈ 0"
    text = f"{value + 0.0:,.0f}" if abs(value) >= 1000 else f"{value + 0.0:.3g}"
    return typeset(text)


def numbers(values: Sequence[float]) -> list[str]:
    """Write the numbers of a column with the same decimals, of which the largest has three digits."""
    size = max((abs(value) for value in values), default=0.0)
    if size < 1e-4 or size >= 1000 or all(value == round(value) for value in values):
        return [number(value) for value in values]
    places = max(2 - math.floor(math.log10(size)), 0)
    return [typeset(f"{value:.{places}f}") if round(value, places) else number(value) for value in values]


def typeset(text: str) -> str:
    """Write minus signs as such, and cells one after the other without brackets."""
    return CELLS.sub(lambda found: found[1].replace(",", ""), MINUS.sub("−", text))


def there_are(n: int, word: str) -> str:
    """Write that there are so many."""
    return f"There {'is' if n == 1 else 'are'} {plural(n, word)}"


def bits(value: float) -> str:
    """Write bits with three decimals; what rounds to nothing has no sign."""
    return f"{round(value, 3) + 0.0:.3f} bits"


def symbol_text(symbol: Hashable) -> str:
    """Write a symbol, in quotes where it would not be seen."""
    text = symbol if isinstance(symbol, str) else repr(symbol)
    return text if text.isprintable() and text.strip() else repr(text)


def outcome_text(outcome: Any) -> str:
    """Write an outcome: a symbol, a number, or several of them."""
    if isinstance(outcome, tuple):
        return " ".join(map(outcome_text, outcome))
    if isinstance(outcome, (float, np.floating)):
        return f"{outcome:.3g}"
    return _short(symbol_text(str(outcome)))


def causal_probabilities(choice: DecisionalModel) -> Floats:
    """Return the probability of each causal state."""
    weight = choice.iso_utility_.weight
    assert weight is not None
    return np.asarray(weight)


def prediction_text(predictions: Any) -> str:
    """Write a set Y, abbreviated where it is long."""
    if isinstance(predictions, Interval):
        low, high = f"{predictions.low:.4g}", f"{predictions.high:.4g}"
        return low if low == high else f"{low} to {high}"
    if isinstance(predictions, CellSet) and len(predictions) == 1:
        return _short(_value(next(iter(predictions))))
    if not isinstance(predictions, frozenset) and type(predictions) is not tuple:
        return _short(str(predictions))
    numbers = all(isinstance(y, Real) for y in predictions)
    values = sorted(predictions) if numbers else sorted(predictions, key=str)
    words = [_short(_value(y)) for y in values[:MAX_VALUES]]
    if len(values) > MAX_VALUES:
        words = [*words[: MAX_VALUES - 1], f"{len(values) - MAX_VALUES + 1} more"]
    return " or ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def worth(utility: float) -> str:
    """Write a utility with three digits; nothing has no sign."""
    return f"{round(utility, 12) + 0.0:.3g}"


def mean_utility(choice: DecisionalModel, states: Partition) -> Floats:
    """Return the mean utility of each state of a partition of the causal states."""
    weight = causal_probabilities(choice)
    # States that are never visited have a mean too.
    weight = np.maximum(weight, 1e-12 * max(float(weight.max(initial=0.0)), 1e-300))
    mass = np.bincount(states.labels, weight, states.n_states)
    return np.asarray(np.bincount(states.labels, weight * choice.utility_, states.n_states) / mass)


def set_texts(choice: DecisionalModel, states: Partition) -> list[str]:
    """Return the set Y of each state of a partition: that of its most probable causal state."""
    order = np.lexsort((-causal_probabilities(choice), states.labels))
    first = order[np.searchsorted(states.labels[order], np.arange(states.n_states))]
    return [prediction_text(choice.predictions_[k]) for k in first.tolist()]


def decision_texts(choice: DecisionalModel) -> list[str]:
    """Return what to predict in each decisional state, and what this is worth."""
    sets, values = set_texts(choice, choice.states_), mean_utility(choice, choice.states_)
    return [f"ω{k}: predict {y}, worth {worth(u)}" for k, (y, u) in enumerate(zip(sets, values, strict=True))]


def _value(y: Any) -> str:
    if isinstance(y, (float, np.floating)):
        return f"{y:.4g}"
    if isinstance(y, tuple):
        return "(" + ", ".join(map(_value, y)) + ")"
    return symbol_text(str(y))


def _short(text: str) -> str:
    return text if len(text) <= MAX_LETTERS else text[: MAX_LETTERS - 1] + "…"
