"""Steps 10 and 11 of the figure: complexities in bits, of the whole system and at each observation.

The complexity of a partition into states is the entropy of the state probabilities: C for causal states, and D, P
and V for the coarser ones. Its local value is -log2 of the probability of the state, and the global value is the
mean of the local ones.
"""

from typing import Any

import numpy as np

from ..support.arguments import as_table, require
from ..support.arrays import Floats
from .partition import Partition


def global_complexity(states: Partition) -> float:
    """Entropy of the state probabilities."""
    require(states, "entropy", "states", "a Partition", "use the 'states_' of fitted states")
    return states.entropy()


def local_complexity(states: Partition) -> Floats:
    """(n,) -log2 of the probability of the state of each element."""
    require(states, "local", "states", "a Partition", "use the 'states_' of fitted states")
    return states.local()


def ranks(local: Any) -> Floats:
    """Place of each local complexity among the distinct ones, 0 = the simplest; equal values share a rank.

    Values that differ by rounding are equal; NaN stays NaN. The shape is kept.

    Examples
    --------
    >>> ranks([2.5, 1.0, 7.0, 1.0])
    array([1., 0., 2., 0.])
    """
    values = as_table(local, "local", "it must be an array of numbers: give local complexities.", float)
    known = np.isfinite(values)
    place = np.full(values.shape, np.nan)
    place[known] = np.unique(np.round(values[known], 9), return_inverse=True)[1].reshape(-1)
    return place
