"""Steps 5 to 8 of the figure: utilities, best predictions, decisional states and the events between them.

- `utilities`: U(y, z) as a table, a callable, a loss or in closed form
- `predictions`: the sets Y of best predictions, and when two predictions are equally good
- `solving`: Y and U of each distribution, with integrators and optimisers, and when two utilities come to the same
- `decide`: iso-prediction, iso-utility and decisional states
- `indifference`: states that are decided alike, by what a user does not care about
- `regret`: what decisions brought on data, beside what others would have brought
- `autoregression`: one of these others
- `cross_fitting`: what decisions are worth by data that they were not made from
- `decisional_model`: all of it on causal states, a machine or data
- `events`: changes of state along the data
- `as_json`: values, predictions and utilities in files
"""

from typing import TYPE_CHECKING

from ..support.rooms import modules_of

if not TYPE_CHECKING:
    __getattr__ = modules_of(__name__)
