"""Step 5 of the figure: utilities U(y, z), the best predictions Y of each state, and what they are worth.

A utility is made by `zero_one`, `squared_error`, `absolute_error`, `tolerant`, `newsvendor`, `interval_score`,
`alarm`, `matching_cells`, `table` or `loss`, or is any callable U(y, z) that broadcasts over arrays. `MonteCarlo` and
`SamplePoints` integrate over z otherwise than by the sum over outcomes; `GlobalMaxima` searches a continuum of
predictions.
"""

from .decisions.predictions import Optimum, Slack
from .decisions.solving import (
    GlobalMaxima,
    MonteCarlo,
    SamplePoints,
    equivalent,
    same_predictions,
    same_values,
    solve,
)
from .decisions.utilities import (
    Utility,
    absolute_error,
    alarm,
    as_utility,
    interval_score,
    loss,
    matching_cells,
    newsvendor,
    squared_error,
    table,
    tolerant,
    zero_one,
)
from .decisions.utility_files import read_utility

__all__ = [
    "table",
    "zero_one",
    "squared_error",
    "absolute_error",
    "tolerant",
    "newsvendor",
    "interval_score",
    "alarm",
    "matching_cells",
    "loss",
    "read_utility",
    "MonteCarlo",
    "SamplePoints",
    "GlobalMaxima",
    "equivalent",
    "same_predictions",
    "same_values",
    "Utility",
    "as_utility",
    "Optimum",
    "Slack",
    "solve",
]
