"""P(Z|x) of new data as columns of a table."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..data.alphabet import boxed
from ..machines import EpsilonMachine
from ..states.applied import Applied
from ..states.causal_model import CausalModel
from ..support.arrays import Floats
from .decisional_model import DecisionalModel

MOST_OUTCOMES = 16  # that have a column each
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


def odds(model: CausalModel | DecisionalModel | EpsilonMachine, found: Applied, data: Any) -> dict[str, Any]:
    """What is to be expected at each row of `found.to_frame()`: P(Z|x), which is that of the state.

    Parameters
    ----------
    model : which said what was found
    found : what it said
    data : of which it said so

    Returns
    -------
    dict
        Columns by name: ``P(z)`` of each outcome, of more than 16 the likeliest and its probability; of numbers the
        mean and quantiles. Nothing where the state is not known.
    """
    obs = found.observations
    if isinstance(model, DecisionalModel) and model.regions_ is not None:
        hidden = model.regions_.machine
        parts = data if isinstance(data, list) and np.ndim(data[0]) > 0 else [data]
        return _named(hidden.alphabet, np.concatenate([hidden.predict_proba(part) for part in parts]))
    states = found.state if found.ahead is None else found.ahead
    columns = {name: np.append(values, np.array([None]))[states] for name, values in _of_states(model).items()}
    if found.ahead is not None or len(obs.shape) > 1:
        return columns
    return {name: obs.laid(name, values) for name, values in columns.items()}


def _of_states(model: CausalModel | DecisionalModel | EpsilonMachine) -> dict[str, Any]:
    """What P(Z|state) tells of each state, by the names of columns."""
    states: Any = model
    if isinstance(model, DecisionalModel):
        states = model.machine_ if model.causal_ is None else model.causal_
    if isinstance(states, EpsilonMachine):
        return _named(states.alphabet, states.emission)
    p, outcomes, kernels = states.distributions_, states.outcomes_, states.kernels_
    # Outcomes may be kinds where x are numbers.
    if kernels is None or kernels.apart or np.ndim(outcomes[0]) > 0:
        return _named(outcomes, p)
    return _of_numbers(np.asarray(outcomes, float), p)


def _named(outcomes: Sequence[Any], p: Any) -> dict[str, Any]:
    """Probabilities (n, n_outcomes), dense or sparse, of each outcome, or where these are many of the likeliest."""
    if len(outcomes) <= MOST_OUTCOMES:
        table = p if isinstance(p, np.ndarray) else p.toarray()
        return {f"P({z})": column for z, column in zip(outcomes, table.T, strict=True)}
    likeliest = np.ravel(p.argmax(axis=1)).tolist()
    most = p.max(axis=1)
    chance = most if isinstance(most, np.ndarray) else most.toarray()
    return {"likeliest": boxed([outcomes[k] for k in likeliest]), "P(likeliest)": np.ravel(chance)}


def _of_numbers(z: Floats, p: Floats) -> dict[str, Any]:
    """Mean and quantiles of distributions (n_states, n_outcomes) over numbers."""
    order = np.argsort(z, kind="stable")
    sums = np.cumsum(p[:, order], axis=1)
    places = [np.minimum((sums < q * sums[:, -1:]).sum(axis=1), z.size - 1) for q in QUANTILES]
    return {"mean": p @ z, **{f"q{100 * q:02.0f}": z[order][k] for q, k in zip(QUANTILES, places, strict=True)}}
