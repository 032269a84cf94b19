"""The paper's figure "Decisional state reconstruction algorithm", steps 1-4 and 9: from data to causal states.

Steps 5-8 are `decisions.decide`; steps 10 and 11 are one line each on the result: see `complexity`.
"""

from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..data.observations import Observations, Steps
from ..machines import EpsilonMachine, TransitionGraph
from ..machines.epsilon import trusted_machine
from ..support.arrays import Floats, Ints
from . import clustering, determinism
from .distributions import Distributions
from .partition import Partition

__all__ = ["Reconstruction", "reconstruct", "state_names"]


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
    steps : counted transitions between the states, or None
    graph : their probabilities, or None
    unresolved : (state, symbol, share) left ambiguous
    """

    densities: Distributions
    states: Partition
    row_states: Ints
    distributions: Floats
    outcomes: Sequence[Any]
    machine: EpsilonMachine | None
    steps: Steps | None
    unresolved: tuple[tuple[int, Any, float], ...]

    @cached_property
    def graph(self) -> TransitionGraph | None:
        if self.steps is None:
            return None
        counted = self.steps.source, self.steps.target, self.steps.count
        return TransitionGraph.from_counts(*counted, self.states.n_states)


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
    machine = None
    unresolved: tuple[tuple[int, Any, float], ...] = ()
    between = None if steps is None else steps.relabel(row_states)
    if unifilar is not None and obs.alphabet is not None:
        machine = _machine(unifilar, row_states, states, obs.alphabet)
        first = np.unique(unifilar.labels, return_index=True)[1]
        unresolved = tuple((int(row_states[first[s]]), obs.alphabet[a], p) for s, a, p in unifilar.unresolved)
    outcomes = obs.outcomes if densities.samples is None else densities.samples
    return Reconstruction(densities, states, row_states, distributions, outcomes, machine, between, unresolved)


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
    targets, emission = number[unifilar.targets[place]], unifilar.emission[place]
    return trusted_machine(targets, emission, alphabet, state_names(n), states.probability)


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
