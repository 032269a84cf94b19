"""The paper's figure "Decisional state reconstruction algorithm".

`reconstruct` is steps 1-4 and 9 (data to causal states), `decide` steps 5-8 (causal to decisional states).
Steps 10 and 11 are one line each on the result: see `complexity`.
"""

from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtri

from . import clustering, decisions, determinism
from .graphs import EpsilonMachine, TransitionGraph
from .structures import Distributions, Floats, Ints, Observations, Partition
from .utility import Slack, Utility, solve
from .utility.sets import Predictions

__all__ = ["Decision", "Reconstruction", "decide", "reconstruct", "state_names"]


@dataclass(frozen=True)
class Reconstruction:
    """What the figure leads to.

    Attributes
    ----------
    densities : P(Z|x) at each row, and the row of each distinct x
    states : partition of the distinct x into causal states
    row_states : (n_rows,) the state of each row
    distributions : (n_states, n_outcomes) P(Z|state)
    outcomes : what its columns mean
    machine : the epsilon-machine, or None without symbols
    graph : transitions between the states, or None
    unresolved : (state, symbol, share) left ambiguous
    """

    densities: Distributions
    states: Partition
    row_states: Ints
    distributions: Floats
    outcomes: Sequence[Any]
    machine: EpsilonMachine | None
    graph: TransitionGraph | None
    unresolved: tuple[tuple[int, Any, float], ...]


def reconstruct(
    obs: Observations,
    density: Any,
    match: Any,
    cluster: Any,
    theta: float = 0.95,
    constraints: str = "evidence",
    executor: Executor | None = None,
) -> Reconstruction:
    """From observations to causal states and the epsilon-machine.

    The functional inputs are those of the figure: `density` estimates P(Z|x), `match` compares two of them,
    `cluster` groups them; `theta` and `constraints` say how symbols refine the groups (see `determinism`).
    """
    # 1. Density estimates at each distinct x.
    densities = density.estimate(obs, executor)
    table = obs.table(executor)
    steps = None if table.steps is None else table.steps.relabel(densities.row)

    # 2. Cluster them into causal states.
    group = np.arange(densities.n_rows)
    if constraints == "paper" and steps is not None:
        group = determinism.merge_successors(steps, densities.n_rows, theta)
    labels = _check_labels(cluster(_merged(densities, group), match), int(group.max()) + 1)[group]

    # 3. Refine the states with the symbols.
    unifilar = None
    if steps is not None and obs.alphabet is not None:
        windows = None
        if obs.has_suffixes:
            windows = determinism.Windows(obs.words(densities.member), densities.depth)
        n_symbols = len(obs.alphabet)
        unifilar = determinism.reconcile(labels, steps, n_symbols, densities.weight, theta, constraints, windows)
        labels = unifilar.labels
    states = Partition(labels[densities.row], table.weight)
    row_states = np.empty(densities.n_rows, np.int64)
    row_states[densities.row] = states.labels

    # 4. Average the distributions within each state.
    if densities.samples is None:
        rows = np.repeat(np.arange(table.n_x), np.diff(table.start))
        distributions = clustering.average(states.labels, rows, table.outcome, table.count, table.n_outcomes)
    else:
        distributions = clustering.average_densities(row_states, densities)

    # 9. Transition graphs.
    machine = graph = None
    unresolved: tuple[tuple[int, Any, float], ...] = ()
    if steps is not None:
        between = steps.relabel(row_states)
        graph = TransitionGraph.from_counts(between.source, between.target, between.count, states.n_states)
    if unifilar is not None and obs.alphabet is not None:
        machine = _machine(unifilar, row_states, states, obs.alphabet)
        first = np.unique(unifilar.labels, return_index=True)[1]
        unresolved = tuple((int(row_states[first[s]]), obs.alphabet[a], p) for s, a, p in unifilar.unresolved)
    outcomes = obs.outcomes if densities.samples is None else densities.samples
    return Reconstruction(densities, states, row_states, distributions, outcomes, machine, graph, unresolved)


def _machine(
    unifilar: determinism.Unifilar, row_states: Ints, states: Partition, alphabet: tuple[Any, ...]
) -> EpsilonMachine:
    """The machine with its states in canonical order."""
    n = states.n_states
    # Row of the unifilar arrays for each canonical state.
    place = np.empty(n, np.int64)
    place[row_states] = unifilar.labels
    number = np.empty(n + 1, np.int64)
    number[place], number[-1] = np.arange(n), -1
    return EpsilonMachine.from_arrays(
        number[unifilar.targets[place]],
        unifilar.emission[place],
        alphabet,
        names=state_names(n),
        weights=states.probability,
    )


def state_names(n: int) -> tuple[str, ...]:
    """A, B, ..., Z, then S26, S27, ..."""
    return tuple(chr(65 + i) if i < 26 else f"S{i}" for i in range(n))


def _check_labels(answer: Any, n: int) -> Ints:
    labels: Ints = np.asarray(answer)
    if labels.shape != (n,) or labels.dtype.kind not in "iu" or (n and labels.min() < 0):
        raise ValueError(
            f"The 'cluster' callable must return {n} non-negative integers, one label for each distribution. "
            f"Got an array of shape {labels.shape} and type {labels.dtype} instead."
        )
    return labels


def _merged(densities: Distributions, group: Ints) -> Distributions:
    """Distributions of groups of rows: their evidence added up."""
    n = int(group.max()) + 1
    if n == densities.n_rows:
        return densities
    row = group[np.repeat(np.arange(densities.n_rows), np.diff(densities.start))]
    key, inverse = np.unique(row * densities.n_outcomes + densities.outcome, return_inverse=True)
    count = np.bincount(inverse, weights=densities.count).astype(densities.count.dtype)
    row, outcome = np.divmod(key, densities.n_outcomes)
    start = np.searchsorted(row, np.arange(n + 1))
    weight = np.bincount(group, weights=densities.weight).astype(np.int64)
    first = np.unique(group, return_index=True)[1]
    return Distributions(
        start,
        outcome,
        count,
        densities.n_outcomes,
        weight,
        group[densities.row],
        densities.member[first],
        densities.depth[first],
        densities.samples,
        densities.scale,
    )


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
    K = p.shape[0]
    level = 0.0 if n is None else float(ndtri(1.0 - alpha / (2.0 * K)))
    if n is None and delta is None:
        delta = 1e-9
    # 5. Best predictions of each state, and what they are worth.
    prior = np.asarray(probability @ p)
    slack = Slack(1e-9 if atol is None else atol, n, prior, level if atol is None else 0.0)
    best = solve(p, outcomes, utility, slack, integrate, optimise)
    # 6. - 8. The same predictions, the same value, both.
    psi = decisions.iso_prediction(best.predictions, probability, delta, level)
    upsilon = decisions.iso_utility(best.utility, best.error, probability, delta, level)
    return Decision(best.utility, best.predictions, psi, upsilon, psi & upsilon)
