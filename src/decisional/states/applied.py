"""Applied: what states say of new data, one value for each observation."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..data.alphabet import Alphabet, boxed
from ..data.frames import Index
from ..data.observations import Observations
from ..data.series import series
from ..machines import BeliefMachine, EpsilonMachine
from ..support.arrays import Floats, Ints
from ..support.plurals import plural
from .kernel_sums import squares
from .kernels import KernelModel, outcome_numbers
from .reconstruct import Reconstruction

# What the axes of fields and images are called in tables.
AXES, IMAGE_AXES = ("time", "x", "y", "z"), ("row", "column")
# Simulated symbols that tell how much those of hidden states usually surprise.
USUAL = 100_000
# Outcomes that are compared with the sample points at once.
BLOCK = 1 << 14


@dataclass(frozen=True, eq=False, repr=False)
class Applied:
    """What a model of states says of new data.

    Attributes
    ----------
    observations : the new data, observed as those of `fit` were
    state : (n,) causal state of each observation, -1 where nothing is known of its x
    surprise : (n,) -log2 P(z|state), in bits; NaN where the state is not known
    complexity : (n_causal,) -log2 P(state) of each state, in bits, by the data of `fit`
    usual_surprise : mean surprise of the data of `fit`
    ahead : (N,) causal state at each place of a series or signal, the last ones among them, of which nobody knows yet
        what follows; None for other data
    choices : one best prediction for each causal state, and last the best fixed one; None without a utility
    groups : (n_causal,) decisional state of each causal state; None without a utility
    utility : (n,) what the decisions brought; None without a utility
    expected_utility : what the states promised for these decisions; None without a utility
    """

    observations: Observations
    state: Ints
    surprise: Floats
    complexity: Floats
    usual_surprise: float
    ahead: Ints | None = None
    choices: Sequence[Any] | None = None
    groups: Ints | None = None
    utility: Floats | None = None
    expected_utility: float | None = None

    @property
    def local_complexity(self) -> Floats:
        """(n,) -log2 P(state) of each observation, in bits; NaN where the state is not known."""
        return np.append(self.complexity, np.nan)[self.state]

    @property
    def decision(self) -> Any:
        """(n,) one best prediction for each observation, the best fixed one where its state is not known."""
        return self._of_states(self.state).get("decision")

    @property
    def decisional(self) -> Any:
        """(n,) decisional state of each observation, -1 where it is not known."""
        return self._of_states(self.state).get("decisional_state")

    def _of_states(self, state: Ints) -> dict[str, Any]:
        """What follows from causal states, by name."""
        found: dict[str, Any] = {"state": state}
        if self.choices is not None and self.groups is not None:
            found["decisional_state"] = np.append(self.groups, -1)[state]
            found["decision"] = boxed(self.choices)[state]
        return {**found, "local_complexity": np.append(self.complexity, np.nan)[state]}

    def __repr__(self) -> str:
        bits = f"surprise {self.mean_surprise:.4g} bits, usually {self.usual_surprise:.4g}"
        size = f"{plural(self.n, 'observation')}, {plural(self.n_states, 'state')}"
        return f"Applied({size}, {self.unseen:.2%} unseen, {bits})"

    @property
    def n(self) -> int:
        """Number of observations."""
        return int(self.state.size)

    @property
    def n_states(self) -> int:
        """How many causal states occur."""
        return int(np.unique(self.state[self.state >= 0]).size)

    @property
    def unseen(self) -> float:
        """Share of observations whose state is not known."""
        return float(np.mean(self.state < 0))

    @property
    def mean_surprise(self) -> float:
        """Mean surprise of the observations whose state is known; NaN where none is."""
        known = self.surprise[~np.isnan(self.surprise)]
        return float(known.mean()) if known.size else float("nan")

    @property
    def columns(self) -> dict[str, Any]:
        """What is known of each observation, by name."""
        return {**self._of_states(self.state), **self._of_outcomes}

    @property
    def _of_outcomes(self) -> dict[str, Any]:
        brought = {} if self.utility is None else {"utility": self.utility}
        return {"surprise": self.surprise, **brought}

    def to_frame(self) -> Any:
        """`columns` as a frame.

        A row for each place of a series, a signal or rows of x, on their index (see `Observations.frame`), with the
        state and the decision at the last places too; for each observation of a field or image, with its position.

        Returns
        -------
        pandas.DataFrame
            Or a frame of the library that the data came with.
        """
        obs = self.observations
        if self.ahead is not None:
            outcomes = {name: obs.laid(name, values) for name, values in self._of_outcomes.items()}
            known = self._of_states(self.ahead)
            if "decision" in known:
                # Where there is no x, nothing is decided.
                known["decision"] = np.where(self.ahead < 0, obs.laid("decision", self.decision), known["decision"])
            return (obs.index or Index("pandas", None, obs.shape[0])).frame({**known, **outcomes})
        if len(obs.shape) == 1:
            return obs.frame(**self.columns)
        axes = (AXES if obs.kind == "field" else IMAGE_AXES)[: len(obs.shape)]
        place = dict(zip(axes, np.unravel_index(obs.site, obs.shape), strict=True))
        frame = Index("pandas", None, self.n).frame({**place, **self.columns})
        return frame.set_index(list(place))

    def on_grid(self) -> Any:
        """State, local complexity and surprise on the grid of the data, along one more axis; NaN where there is no
        observation.

        Returns
        -------
        array of float
            Of the shape of the data, and one more axis of three.
        """
        return self.observations.field(np.column_stack([self.state, self.local_complexity, self.surprise]))


def apply_machine(machine: EpsilonMachine, data: Any) -> Applied:
    """What a machine says of the symbols of one or several sequences: its state after each, and the one that follows.

    A symbol that no state lets expect counts as seen once in one more observation; of an exact machine it surprises
    without limit.
    """
    if machine.levels is not None:
        raise ValueError(
            "The machine is that of a signal with levels, which is followed value by value: use machine.filter(values),"
            " ds.Monitor, or the command watch."
        )
    obs = series(data, past=1)
    ahead: Ints = np.concatenate([machine.filter(part) for part in _sequences(data)]).astype(np.int64)
    states = ahead[obs.site]
    weight = machine.stationary if machine.weights is None else machine.weights
    known, bits = states >= 0, np.full(obs.n, np.nan)
    column = Alphabet(machine.alphabet).lookup
    number = np.array([column(outcome) for outcome in obs.outcomes])[obs.z]
    table = np.column_stack([machine.emission, np.zeros(machine.n_states)])
    least = np.zeros(machine.n_states) if machine.n_observed is None else 1.0 / (machine.n_observed * weight + 1.0)
    with np.errstate(divide="ignore"):
        bits[known] = -np.log2(np.maximum(table[states, number], least[states])[known]) + 0.0
        return Applied(obs, states, bits, -np.log2(weight) + 0.0, machine.entropy_rate(), ahead)


def apply_beliefs(machine: BeliefMachine, data: Any, number: Callable[[Floats], Ints], probability: Floats) -> Applied:
    """The same of hidden states, whose beliefs are in states that `number` tells; these have so much probability."""
    obs = series(data, past=1)
    beliefs = np.concatenate([machine.filter(part) for part in _sequences(data)])
    ahead = number(beliefs)
    column = Alphabet(machine.alphabet).lookup
    symbol = np.array([column(outcome) for outcome in obs.outcomes])[obs.z]
    chance = np.column_stack([beliefs @ machine.emission, np.zeros(len(beliefs))])[obs.site, symbol]
    with np.errstate(divide="ignore"):
        bits = -np.log2(chance) + 0.0, -np.log2(probability) + 0.0
    return Applied(obs, ahead[obs.site], *bits, machine.entropy_rate(USUAL).value, ahead)


def _sequences(data: Any) -> Any:
    """The sequences of symbols that there are."""
    several = isinstance(data, (list, tuple)) and len(data) > 0 and np.ndim(data[0]) > 0
    return data if several else [data]


def surprises(found: Reconstruction, obs: Observations, states: Ints) -> Floats:
    """(n,) -log2 P(z|state) of observations in some states, NaN where the state is -1."""
    number = outcome_places(found, obs)[obs.z]
    bits = np.full(obs.n, np.nan)
    known = states >= 0
    bits[known] = _bits(found, states[known], number[known])
    return bits


def usual_surprise(found: Reconstruction) -> float:
    """Mean surprise of the data that states were found in, by their counts."""
    obs = found.observations
    table, place = obs.table(), outcome_places(found, obs)
    state = np.repeat(found.states.labels, np.diff(table.start))
    return float(np.average(_bits(found, state, place[table.outcome]), weights=table.count))


def _bits(found: Reconstruction, states: Ints, columns: Ints) -> Floats:
    """An outcome that never followed a state counts as seen once in one more observation."""
    seen = found.states.probability * found.observations.n
    p = np.maximum(_entries(found.distributions, states, columns), 1.0 / (seen[states] + 1.0))
    bits: Floats = -np.log2(p) + 0.0
    return bits


def outcome_places(found: Reconstruction, obs: Observations) -> Ints:
    """(n_outcomes,) the column of P(Z|state) that each outcome of observations belongs to, -1 where it has none.

    Numbers belong to the nearest sample point of kernel densities.
    """
    density = found.density
    if isinstance(density, KernelModel) and not density.apart and density.at is not None:
        return _nearest(outcome_numbers(obs, density.at.shape[1]), density.at)
    column = {outcome: k for k, outcome in enumerate(found.outcomes)}
    return np.array([column.get(outcome, -1) for outcome in obs.outcomes], np.int64)


def _nearest(z: Any, at: Any) -> Ints:
    """(n,) the nearest of some points (m, k) to each of z (n, k), the first of equals."""
    found = np.empty(len(z), np.int64)
    for begin in range(0, len(z), BLOCK):
        part = slice(begin, begin + BLOCK)
        found[part] = squares(z[part], at).argmin(axis=1)
    return found


def _entries(p: Any, rows: Ints, columns: Ints) -> Floats:
    """Single entries of an array, dense or sparse; 0 where the column is -1."""
    if isinstance(p, np.ndarray):
        dense: Floats = np.where(columns >= 0, p[rows, columns], 0.0)
        return dense
    p.sort_indices()
    key = np.repeat(np.arange(p.shape[0]), np.diff(p.indptr)) * p.shape[1] + p.indices
    asked = rows * p.shape[1] + columns
    place = np.minimum(np.searchsorted(key, asked), key.size - 1)
    return np.where((columns >= 0) & (key[place] == asked), p.data[place], 0.0)
