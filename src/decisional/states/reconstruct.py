"""The paper's figure "Decisional state reconstruction algorithm", steps 1-4 and 9: from data to causal states.

Steps 5-8 are `decisions.decide`; steps 10 and 11 are one line each on the result: see `complexity`.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from .._kernels import words as kernels
from .._kernels.gather import gather
from ..data.observations import Observations
from ..data.tally import Steps
from ..machines import EpsilonMachine, TransitionGraph
from ..machines.chains import renumbered
from ..machines.epsilon_machine import trusted_machine
from ..support.arrays import Floats, Ints
from ..support.executors import map_slices, slices
from ..support.progress import tell
from . import aggregation, determinism
from .cone_states import ByCones
from .distributions import Distributions
from .evidence import ByEvidence
from .neutral import Neutral, places
from .partition import Partition

# Rows of distinct x that are looked up at once.
BLOCK = 1 << 16
UNKNOWN = -2


@runtime_checkable
class DensityEstimator(Protocol):
    """PDE of the figure: estimates P(Z|x) at each distinct x."""

    def estimate(self, obs: Observations, executor: Executor | None = None) -> Distributions: ...


# C1 of the figure: labels the rows so that rows with matching distributions are together.
Clustering = Callable[[Distributions, Any], Ints]


@dataclass(frozen=True)
class Reconstruction:
    """What the figure leads to.

    Attributes
    ----------
    observations, density, match : what it was made of, and how
    densities : P(Z|x) at each row, and the row of each distinct x
    states : partition of the distinct x into causal states
    row_states : (n_rows,) the state of each row
    distributions : (n_states, n_outcomes) P(Z|state), sparse beyond 16 million entries
    outcomes : what its columns mean
    machine : the epsilon-machine, or None without symbols
    steps : counted transitions between the states, or None
    graph : their probabilities, or None
    unresolved : (state, symbol, share) left ambiguous
    evidence : what labels other x, where states were found by evidence
    """

    observations: Observations
    density: DensityEstimator
    match: Any
    densities: Distributions
    states: Partition
    row_states: Ints
    distributions: Any
    outcomes: Sequence[Any]
    machine: EpsilonMachine | None
    steps: Steps | None
    unresolved: tuple[tuple[int, Any, float], ...]
    evidence: ByEvidence | ByCones | None = None

    @cached_property
    def graph(self) -> TransitionGraph | None:
        if self.steps is None:
            return None
        counted = self.steps.source, self.steps.target, self.steps.count
        return TransitionGraph.from_counts(*counted, self.states.n_states)

    def coarsened(self, group: Ints) -> "Reconstruction":
        """Coarser states, which have no machine: group (n_states,) numbers them."""
        from scipy.sparse import csr_array

        states = Partition(group[self.states.labels], self.states.weight)
        number = np.empty(self.states.n_states, np.int64)
        number[self.states.labels] = states.labels
        shares = self.states.probability, (number, np.arange(number.size))
        mass = csr_array(shares, (states.n_states, number.size)) @ self.distributions
        return replace(
            self,
            states=states,
            row_states=number[self.row_states],
            distributions=aggregation.normalised(mass),
            machine=None,
            steps=None if self.steps is None else self.steps.relabel(number),
            unresolved=(),
            evidence=None if self.evidence is None else self.evidence.renumbered(number),
        )

    @cached_property
    def labels(self) -> Ints:
        return self.at_observations(self.states.labels)

    @cached_property
    def local_complexity(self) -> Floats:
        return self.at_observations(self.states.local())

    def at_observations(self, values: NDArray[Any]) -> NDArray[Any]:
        """Values of each distinct x at each observation."""
        x = self.observations.x
        values = values.astype(np.int32) if values.dtype.kind == "i" else values
        result = np.empty(x.size, values.dtype)

        def fill(part: tuple[int, int]) -> None:
            gather(values, x[slice(*part)], result[slice(*part)])

        list(map_slices(fill, slices(x.size)))
        return result

    @cached_property
    def contexts(self) -> Ints:
        """(n_rows, past) words of the fitted rows, most recent first, -1 beyond their depth."""
        densities = self.densities
        words = self.observations.words(densities.member)
        words[np.arange(words.shape[1]) >= densities.depth[:, None]] = -1
        return words

    def states_of_words(self, obs: Observations) -> Ints:
        """(n_x,) state of each distinct x of other observations, -1 = not known."""
        fitted = self.observations
        if obs.points is not None:
            raise ValueError(
                "The 'X' are vectors of numbers and those of fit are symbols, which must be met again to be known: "
                "give symbols, or fit with density=ds.Kernels()."
            )
        if obs.past < fitted.past:
            raise ValueError(
                f"The observations have a past of {obs.past} and those of fit one of {fitted.past}; x must be at "
                f"least as long: observe with past={fitted.past}."
            )
        if isinstance(self.evidence, ByCones):
            return self.evidence.states_of(obs)
        code = {letter: k for k, letter in enumerate(fitted.letters)}
        codes = np.array([code.get(letter, UNKNOWN) for letter in obs.letters])
        n_x = obs.table().n_x
        states = np.empty(n_x, np.int64)
        for begin in range(0, n_x, BLOCK):
            rows = np.arange(begin, min(begin + BLOCK, n_x))
            words = codes[obs.words(rows)[:, : fitted.past]]
            low, high, length = (np.empty(rows.size, np.int64) for _ in range(3))
            kernels.longest_suffix(words, self.contexts, low, high, length)
            states[rows] = self._states_of_endings(words, low, high, length)
        return states

    def _states_of_endings(self, words: Ints, low: Ints, high: Ints, length: Ints) -> Ints:
        """State of the context that ends a word, or the most frequent one among those that share its ending."""
        contexts, row_states, weight = self.contexts, self.row_states, self.densities.weight
        past = contexts.shape[1]
        whole = (length == past) | (contexts[low, np.minimum(length, past - 1)] == -1)
        states = np.where(whole, row_states[low], -1)
        if not self.observations.has_suffixes:
            return states
        for a, b in {(int(a), int(b)) for a, b in zip(low[~whole], high[~whole], strict=True)}:
            mass = np.bincount(row_states[a:b], weights=weight[a:b])
            states[~whole & (low == a) & (high == b)] = int(mass.argmax())
        nothing = (length == 0) & (~whole | (words[:, 0] == UNKNOWN))
        return np.where(nothing, -1, states)


def reconstruct(
    obs: Observations,
    density: DensityEstimator,
    match: Any,
    cluster: Clustering,
    theta: float = 0.95,
    constraints: str = "evidence",
    executor: Executor | None = None,
    evidence: ByEvidence | ByCones | None = None,
    ordered: bool = False,
) -> Reconstruction:
    """From observations to causal states and the epsilon-machine.

    The functional inputs are those of the figure: `density` estimates P(Z|x), `match` compares two of them,
    `cluster` groups them; `theta` and `constraints` say how symbols refine the groups (see `determinism`). Where the
    states were found by `evidence`, nothing is compared. Ties are decided by counts (see `neutral`), or, if letters are
    `ordered` already by what does not depend on their names, by their order.
    """
    # 1. Density estimates at each distinct x.
    table = obs.table(executor)
    tell(f"densities of {table.n_x:,} x")
    densities = density.estimate(obs, executor) if evidence is None else evidence.observed()
    steps = None if table.steps is None else table.steps.relabel(densities.row)

    # Ties, and sums of rounded numbers, are to come out alike whatever the names of symbols; states of cones do.
    ordered = ordered or (isinstance(evidence, ByCones) and steps is None)
    neutral = None if ordered else Neutral.of(obs, densities)

    # 2. Cluster them into causal states.
    group: Ints = np.arange(densities.n_rows)
    if constraints == "paper" and steps is not None:
        group = determinism.merge_successors(steps, densities.n_rows, theta)
    tell(f"grouping {densities.n_rows:,} densities")
    labels = _clustered(cluster, match, densities, group, neutral) if evidence is None else evidence.label_all()

    # 3. Refine the states with the symbols.
    unifilar = None
    if steps is not None and obs.alphabet is not None:
        tell("symbols refine the states")
        contexts = (obs.words(densities.member), densities.depth) if obs.has_suffixes else None
        # The symbols of steps in fields are patterns, not letters.
        named = neutral if obs.has_suffixes else None
        unifilar = _unifilar(labels, steps, len(obs.alphabet), densities.weight, theta, constraints, contexts, named)
        labels = unifilar.labels
    place = labels[densities.row] if evidence is not None else None
    if neutral is not None:
        place = neutral.rows[densities.row]
    states = Partition(labels[densities.row], table.weight, place)
    row_states = np.empty(densities.n_rows, np.int64)
    row_states[densities.row] = states.labels

    # 4. Average the distributions within each state.
    if densities.samples is None:
        distributions = aggregation.average(states.labels, Distributions.of_table(table, obs.past))
    else:
        distributions = aggregation.average(row_states, densities)

    # 9. Transition graphs.
    machine = None
    unresolved: tuple[tuple[int, Any, float], ...] = ()
    between = None if steps is None else steps.relabel(row_states)
    if unifilar is not None and obs.alphabet is not None:
        number = np.empty(states.n_states, np.int64)
        number[unifilar.labels] = row_states
        order = np.argsort(number)
        targets, emission = renumbered(unifilar.targets, order), unifilar.emission[order]
        counts = obs.n / obs.overlap * states.probability[:, None] * emission
        machine = trusted_machine(targets, emission, obs.alphabet, states.probability, counts=counts)
        unresolved = tuple((int(number[s]), obs.alphabet[a], p) for s, a, p in unifilar.unresolved)
    outcomes = obs.outcomes if densities.samples is None else densities.samples
    if evidence is not None:
        evidence = evidence.settled(labels, row_states)
    found = densities, states, row_states, distributions, outcomes, machine, between, unresolved
    return Reconstruction(obs, density, match, *found, evidence)


def _clustered(cluster: Clustering, match: Any, rows: Distributions, group: Ints, neutral: Neutral | None) -> Ints:
    """(n_rows,) labels by a clustering of groups of rows, which sees them in an order that names do not change."""
    n = int(group.max()) + 1
    by_count = isinstance(cluster, aggregation.Aggregate) and cluster.order == "count"
    if neutral is None or not by_count:
        return _check_labels(cluster(rows.pooled(group), match), n)[group]
    ordered, order = neutral.densities(rows), np.argsort(neutral.rows)
    _, first, inverse = np.unique(group[order], return_index=True, return_inverse=True)
    number = places(np.argsort(first))[inverse]
    labels: Ints = _check_labels(cluster(ordered.pooled(number), match), n)[number][neutral.rows]
    return labels


def _unifilar(
    labels: Ints,
    steps: Steps,
    n_symbols: int,
    weight: Ints,
    theta: float,
    constraints: str,
    contexts: tuple[Ints, Ints] | None,
    neutral: Neutral | None,
) -> determinism.Unifilar:
    """States refined with the symbols, see `determinism.reconcile`, in an order that names do not change."""
    if neutral is None:
        return determinism.reconcile(labels, steps, n_symbols, weight, theta, constraints, contexts)
    order = np.argsort(neutral.rows)
    if contexts is not None:
        contexts = neutral.words(contexts[0]), contexts[1][order]
    rows = labels[order], neutral.steps(steps), n_symbols, weight[order]
    return neutral.given_back(determinism.reconcile(*rows, theta, constraints, contexts))


def _check_labels(answer: Any, n: int) -> Ints:
    labels: Ints = np.asarray(answer)
    if labels.shape != (n,) or labels.dtype.kind not in "iu" or (n and labels.min() < 0):
        raise ValueError(
            f"The 'cluster' callable must return {n} non-negative integers, one label for each distribution. "
            f"Got an array of shape {labels.shape} and type {labels.dtype} instead."
        )
    return labels
