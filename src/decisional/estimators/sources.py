"""What decisional states are made from: distributions and outcomes of machines, of causal states and of pairs."""

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from ..data.observations import Observations
from ..machines import EpsilonMachine
from ..states import matching
from ..support.arrays import Floats, Ints
from .causal import CausalStates
from .inputs import as_observations

__all__ = ["exact", "numbered", "sample", "with_outcomes"]


def exact(machine: EpsilonMachine) -> tuple[Floats, Sequence[Hashable], Floats]:
    """Distributions, outcomes and probabilities of the states; a dead end is taken for what is seen on average."""
    weight = machine.stationary if machine.weights is None else machine.weights
    total = machine.emission.sum(axis=1, keepdims=True)
    weight = weight if weight.any() else np.full(machine.n_states, 1.0 / machine.n_states)
    mean = weight @ machine.emission
    mean = mean / mean.sum() if mean.any() else np.full(mean.size, 1.0 / mean.size)
    p = np.where(total > 0, machine.emission, mean)
    return p / p.sum(axis=1, keepdims=True), machine.alphabet, weight


def with_outcomes(X: Any, z: Any) -> Observations:
    """Observations, or pairs of rows of X and outcomes z."""
    if z is None and not isinstance(X, Observations):
        raise ValueError(
            f"The 'z' are missing and 'X' is {type(X).__name__}; outcomes are needed to decide: give z=..., or "
            "observe a series with ds.observe.series."
        )
    return as_observations(X, z)


def sample(causal: CausalStates) -> dict[str, Any]:
    """Size of the sample behind each state, where a statistical test found the states."""
    match, obs = causal._match, causal.observations_
    if not isinstance(match, matching.TwoSampleTest):
        return {}
    return {"n": causal.states_.probability * (obs.n / obs.overlap), "alpha": match.alpha}


def numbered(values: Sequence[Any]) -> tuple[list[Any], Ints]:
    """The distinct values, and the number of each value."""
    number: dict[Any, int] = {}
    places = [number.setdefault(value, len(number)) for value in values]
    return list(number), np.array(places, np.int64)
