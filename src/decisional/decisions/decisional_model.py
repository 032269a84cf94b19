"""DecisionalModel: what to predict, what it is worth, and when that changes."""

from collections.abc import Hashable, Sequence
from copy import copy
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from ..data.alphabet import Alphabet, is_missing
from ..data.frames import index_of
from ..data.observations import Observations
from ..machines import EpsilonMachine, TransitionGraph
from ..states import aggregation, matching
from ..states.causal_model import CausalModel
from ..states.partition import Partition
from ..states.state_model import StateModel, as_observations
from ..support.arguments import choice as one_of
from ..support.arguments import is_number, real, refusal
from ..support.arrays import Floats, Ints
from . import events
from .decide import decide
from .predictions import Slack
from .solving import solve
from .utilities import as_utility

# Level of the test of ties between decisions, where no test found the states.
TIES = 0.01


class Regret(NamedTuple):
    """Mean utility per observation of following the decisions, and of what they compete with.

    `best_fixed` is the best single prediction for these very data, `perfect` a forecast that is always right.
    """

    obtained: float
    best_fixed: float
    perfect: float

    @property
    def against_fixed(self) -> float:
        """What the best fixed prediction would have brought in addition; negative if the decisions did better."""
        return self.best_fixed - self.obtained

    @property
    def against_perfect(self) -> float:
        """What a perfect forecast would have brought in addition."""
        return self.perfect - self.obtained


class DecisionalModel(StateModel):
    """Group causal states by their best predictions and what these are worth, given a utility.

    `ds.DecisionalStates` is this with the contract of scikit-learn.

    Parameters
    ----------
    utility : U(y, z): one of `ds.utility`, a table U[y][z], or a callable that broadcasts over arrays
    integrate : how to integrate over z: None (the sum over outcomes), `ds.utility.MonteCarlo(n)`,
        `ds.utility.SamplePoints(volume)` or a callable, see `decisions.solving`
    optimise : how to find the best predictions: None (closed form, or all candidates),
        `ds.utility.GlobalMaxima()` for a continuum, or a callable
    delta : gap between iso-utility states (and between predictions, where these are numbers): values further apart
        are different. None: where they differ by more than their sampling error
    atol : predictions whose expected utilities differ by no more are equally good. None: by no more than the
        sampling error of the difference

    Notes
    -----
    Without `delta` and `atol`, data decide as they did for the causal states: if these were matched by a test, at
    its level alpha, two utilities are the same until the data tell them apart. A fair coin is then a tie although
    its frequencies are never exactly 1/2. Where no test was made (theory, `match="exact"`, distances), both are 1e-9.

    Attributes
    ----------
    iso_prediction_, iso_utility_, states_ : Partition of the causal states; the last one is decisional
    predictions_, utility_ : Y and U of each causal state
    n_states_ : number of decisional states
    labels_ : (n,) decisional state of each observation (of each causal state where a machine was fitted)
    expected_utility_ : E[U], the mean utility of following the decisions
    complexity_, prediction_complexity_, utility_complexity_ : D, P and V in bits, over all states
    recurrent_complexity_, recurrent_prediction_complexity_, recurrent_utility_complexity_ : over recurrent states
    local_complexity_, local_prediction_complexity_, local_utility_complexity_ : (n,) D, P and V at each observation
    graph_, iso_prediction_graph_, iso_utility_graph_ : TransitionGraph between the states, or None without steps
    state_groups_ : what `ds.plot.machine(machine, groups=self)` writes for each causal state
    causal_ : the CausalStates, or None for a machine
    machine_ : the EpsilonMachine, or None

    Examples
    --------
    >>> import decisional as ds
    >>> choice = ds.DecisionalStates(ds.utility.zero_one()).fit(ds.processes.even())
    >>> [sorted(y) for y in choice.predictions_], choice.utility_.tolist()
    ([[0, 1], [1]], [0.5, 1.0])
    >>> round(choice.expected_utility_, 4)
    0.6667
    """

    _kind = "decisional states"
    # Of the causal states that are found on the way.
    _causal_model: type[CausalModel] = CausalModel

    def __init__(
        self,
        utility: Any,
        integrate: Any = None,
        optimise: Any = None,
        delta: float | None = None,
        atol: float | None = None,
    ) -> None:
        self.utility = utility
        self.integrate = integrate
        self.optimise = optimise
        self.delta = delta
        self.atol = atol

    def fit(self, X: Any, z: Any = None) -> Self:
        """Find the decisional states.

        Parameters
        ----------
        X : fitted CausalStates (causal states first: the usual way, shared by any number of utilities); an
            EpsilonMachine; or Observations, or an array with outcomes z (decisional states first: the best
            predictions of each distinct x, see `causal_states`)
        z : (n,) outcomes, with arrays only
        """
        self._check_parameters()
        if isinstance(X, EpsilonMachine):
            return self._settle(None, X, *_exact(X))
        causal = X
        if not isinstance(X, CausalModel):
            if z is None:
                _with_outcomes(X, z)
            # A state for each distinct x.
            causal = self._causal_model(cluster=aggregation.distinct, constraints="none").fit(X, z)
        given = causal, causal.machine_, causal.distributions_, causal.outcomes_, causal.states_.probability
        if not isinstance(causal.match_, matching.TwoSampleTest):
            return self._settle(*given)
        obs = causal.observations_
        return self._settle(*given, causal.states_.probability * (obs.n / obs.overlap), causal.match_.alpha)

    def fit_learnt(self, machine: EpsilonMachine, n: float) -> Self:
        """Decisional states of a machine that was learnt from n symbols: ties are judged by their sampling error."""
        self._check_parameters()
        p, outcomes, probability = _exact(machine)
        return self._settle(None, machine, p, outcomes, probability, np.maximum(n * probability, 1.0))

    def _forget(self) -> None:
        """Drop what was derived from the states."""
        for name in [name for name, value in vars(DecisionalModel).items() if isinstance(value, cached_property)]:
            self.__dict__.pop(name, None)

    def with_observations(self, obs: Observations) -> Self:
        """The same states along other observations, whose x are numbered like those of `fit`."""
        assert self.causal_ is not None
        shown = copy(self)
        shown._forget()
        shown.causal_ = self.causal_.with_observations(obs)
        return shown

    def _settle(
        self,
        causal: CausalModel | None,
        machine: EpsilonMachine | None,
        p: Any,
        outcomes: Sequence[Any],
        probability: Floats,
        n: Floats | None = None,
        alpha: float = TIES,
    ) -> Self:
        """Steps 5 to 8, and what follows; parameters as in `decide`."""
        worth = as_utility(self.utility).bound(outcomes)
        how = {"integrate": self.integrate, "optimise": self.optimise, "delta": self.delta, "atol": self.atol}
        decision = decide(p, outcomes, probability, worth, **how, n=n, alpha=alpha)
        self._forget()
        self.causal_, self.machine_, self.outcomes_ = causal, machine, outcomes
        self._utility, self._prior = worth, np.asarray(probability @ p)
        self.iso_prediction_, self.iso_utility_ = decision.iso_prediction, decision.iso_utility
        self.states_, self.n_states_ = decision.states, decision.states.n_states
        self.predictions_, self.utility_ = decision.predictions, decision.utility
        self.state_groups_ = [f"ω{k}" for k in self.states_.labels]
        self.expected_utility_ = float(probability @ self.utility_)
        self.complexity_ = self.states_.entropy()
        self.prediction_complexity_ = self.iso_prediction_.entropy()
        self.utility_complexity_ = self.iso_utility_.entropy()
        return self

    recurrent_complexity_ = cached_property(lambda self: self._recurrent(self.states_))
    recurrent_prediction_complexity_ = cached_property(lambda self: self._recurrent(self.iso_prediction_))
    recurrent_utility_complexity_ = cached_property(lambda self: self._recurrent(self.iso_utility_))
    local_complexity_ = cached_property(lambda self: self._at_observations(self.states_.local()))
    local_prediction_complexity_ = cached_property(lambda self: self._at_observations(self.iso_prediction_.local()))
    local_utility_complexity_ = cached_property(lambda self: self._at_observations(self.iso_utility_.local()))
    graph_ = cached_property(lambda self: self._graph("states_", "ω"))
    iso_prediction_graph_ = cached_property(lambda self: self._graph("iso_prediction_", "ψ"))
    iso_utility_graph_ = cached_property(lambda self: self._graph("iso_utility_", "υ"))

    @property
    def recurrent_expected_utility_(self) -> float:
        """E[U] over the recurrent states of the machine."""
        if self.machine_ is None or not self.machine_.stationary.any():
            return self.expected_utility_
        return float(self.machine_.stationary @ self.utility_)

    @cached_property
    def labels_(self) -> Ints:
        self.check_fitted()
        return self._at_observations(self.states_.labels, -1)

    @cached_property
    def local_utility_(self) -> Floats:
        """(n,) expected utility at each observation."""
        return self._at_observations(self.utility_)

    def predict(self, X: Any) -> Ints:
        """(n,) decisional state of new observations, or after each symbol where a machine was fitted; -1 = unknown."""
        found = self.causes(X)
        return np.append(self.states_.labels, -1)[found]

    def decide(self, X: Any) -> NDArray[Any]:
        """(n,) one best prediction for each of new observations; the best fixed prediction where nothing is known."""
        found = self.causes(X)
        choices = np.empty(len(self.predictions_) + 1, object)
        choices[:] = self._choices()
        return choices[found]

    def score(self, X: Any, z: Any = None) -> float:
        """Mean utility obtained on new data by following the decisions.

        Parameters
        ----------
        X : Observations; an array of x with outcomes z; or a sequence of symbols where a machine was fitted, each
            but the last predicting the next one
        """
        return self.regret(X, z).obtained

    def regret(self, X: Any, z: Any = None) -> Regret:
        """Mean utility of following the decisions on new data, of the best fixed prediction and of a perfect forecast.

        Parameters are those of `score`.
        """
        from scipy.sparse import eye_array

        cause, number, outcomes = self._trials(X, z)
        count = np.bincount(number, minlength=len(outcomes))
        happened = list(outcomes)
        distinct, choice = _numbered(self._choices())
        worth = self._utility.matrix(distinct, happened)
        obtained = worth[choice[cause], number].mean()
        # What was known to be possible can be predicted too.
        known = list(dict.fromkeys([*happened, *self.outcomes_]))
        share = np.zeros(len(known))
        share[: count.size] = count / count.sum()
        certain = eye_array(len(known), format="csr")[: count.size]
        fixed = solve(share[None], known, self._utility, Slack(), None, self.optimise).utility[0]
        right = solve(certain, known, self._utility, Slack(), None, self.optimise).utility
        perfect = share[: count.size] @ right
        return Regret(float(obtained), float(fixed), float(perfect))

    def events(
        self, X: Any = None, by: str = "decision", level: float | None = None, initial: bool = False
    ) -> events.Events:
        """Changes along the data of `fit`, or along new data.

        Parameters
        ----------
        X : Observations, or a sequence of symbols where a machine was fitted; by default the data of `fit`
        by : what changes: "decision", "prediction" (iso-prediction state) or "utility" (iso-utility state)
        level : crossings of this expected utility instead: state 1 is at or above the level, 0 below
        initial : list the first known state of each sequence too, with before = -1
        """
        labels = self.event_labels(by, level)
        if X is None and self.causal_ is None:
            raise ValueError("The 'X' of events is missing; a machine has no data of its own: give a sequence.")
        obs = self.causal_.observations_ if X is None and self.causal_ is not None else X
        causes = self.causes(obs)
        if isinstance(obs, Observations):
            place, before, after = events.changes_in_observations(obs, causes, labels)
        else:
            place, before, after = events.changes_in_sequence(causes, labels)
        kept = initial | (before >= 0)
        place, before, after = place[kept], before[kept], after[kept]
        found = np.append(labels, -1)
        index = obs.index if isinstance(obs, Observations) else index_of(obs)
        return events.Events(place, found[before], found[after], before, after, self.predictions_, self.utility_, index)

    def to_frame(self) -> Any:
        """State, decision, utility and local complexity at each place of the data of `fit`, on their index.

        See `Observations.frame`. The decision is one of the best predictions.
        """
        if self.causal_ is None:
            raise ValueError("A machine was fitted, which has no data of its own: fit causal states.")
        obs = self.causal_.observations_
        cause = self.causes(obs)
        columns = {"state": self.states_.labels, "utility": self.utility_, "local_complexity": self.states_.local()}
        choices = np.empty(len(self.predictions_), object)
        choices[:] = self._choices()[:-1]
        return obs.frame(decision=choices[cause], **{name: values[cause] for name, values in columns.items()})

    def causal_states(self, **parameters: Any) -> CausalModel:
        """Causal states inside each decisional state: distributions are compared only where decisions agree.

        The keyword parameters are those of CausalStates, with constraints="none" by default: symbols may move x from
        one decisional state to another. It is fitted to the same observations.
        """
        self.check_fitted()
        if self.causal_ is None:
            raise ValueError("A machine was fitted, which has causal states already: see 'machine_'.")
        labels = self.states_.labels[self.causal_.states_.labels]
        inner = self._causal_model(**{"constraints": "none", **parameters})
        base = aggregation.resolve(inner.cluster, inner.passes, inner.random_state)
        inner.cluster = aggregation.Within(labels, base)
        return inner.fit(self.causal_.observations_)

    @property
    def n_features_in_(self) -> int:
        """Columns of the array that was fitted."""
        self.check_fitted()
        if self.causal_ is None:
            raise AttributeError("A machine was fitted, which has no columns.")
        return self.causal_.n_features_in_

    def is_fitted(self) -> bool:
        return "states_" in vars(self)

    def _check_parameters(self) -> None:
        of = type(self).__name__
        for name, value in (("delta", self.delta), ("atol", self.atol)):
            if value is not None:
                real(value, name, least=0, remedy=f"give it, or {name}=None", of=of)
        for name, function in (("integrate", self.integrate), ("optimise", self.optimise)):
            if function is not None and not callable(function):
                raise ValueError(refusal(name, function, "None or a callable", "see ds.utility for some", of))

    def _recurrent(self, states: Partition) -> float:
        if self.machine_ is None or not self.machine_.stationary.any():
            return states.entropy()
        return Partition(states.labels, self.machine_.stationary).entropy()

    def _at_observations(self, values: NDArray[Any], missing: float = np.nan) -> NDArray[Any]:
        self.check_fitted()
        if self.causal_ is None:
            return values
        return self.causal_.at_observations(values[self.causal_.states_.labels], missing)

    def _graph(self, name: str, letter: str) -> TransitionGraph | None:
        self.check_fitted()
        states: Partition = getattr(self, name)
        source: Any = self.machine_ and self.machine_.graph
        inner: TransitionGraph | None = source if self.causal_ is None else self.causal_.graph_
        if inner is None:
            return None
        weight = inner.stationary if inner.weight is None else inner.weight
        edges = inner.matrix.tocoo()
        ends = states.labels[edges.row], states.labels[edges.col]
        names = [f"{letter}{k}" for k in range(states.n_states)]
        return TransitionGraph.from_counts(*ends, weight[edges.row] * edges.data, states.n_states, names=names)

    def causes(self, X: Any) -> Ints:
        """(n,) causal state of new observations, or after each symbol of a sequence; -1 where nothing is known."""
        self.check_fitted()
        if isinstance(X, Observations) and self.causal_ is None:
            raise ValueError("A machine was fitted, which follows symbols: give 'X' as a sequence of symbols.")
        if self._takes_symbols(X):
            assert self.machine_ is not None
            return self.machine_.filter(X)
        assert self.causal_ is not None
        if X is self.causal_.observations_:
            return self.causal_.states_.labels[X.x]
        return self.causal_.predict(X)

    def _takes_symbols(self, X: Any) -> bool:
        """Whether X is a sequence of symbols that drives the machine."""
        return not isinstance(X, Observations) and (self.causal_ is None or self.causal_.observations_.has_suffixes)

    def _trials(self, X: Any, z: Any) -> tuple[Ints, Ints, Sequence[Hashable]]:
        """Causal state and outcome number of each trial."""
        if not self._takes_symbols(X):
            obs = _with_outcomes(X, z)
            return self.causes(obs), obs.z, obs.outcomes
        if z is not None:
            raise ValueError("The 'z' are given with symbols, each of which predicts the next: leave 'z' out.")
        assert self.machine_ is not None
        cause, symbols, alphabet = self.causes(X), list(X), self.machine_.alphabet
        n, code = Alphabet(alphabet).coder(X if isinstance(X, (str, bytes, np.ndarray)) else symbols)
        # A symbol stands for the one of the alphabet that prints the same, as in `filter`.
        meant = [alphabet[k] if k < len(alphabet) else symbols[t] for t, k in enumerate(code(0, n).tolist())]
        tried = [t for t in range(1, n) if not is_missing(symbols[t])]
        if not tried:
            raise ValueError(f"The 'X' has {n} symbols; at least 2 are needed: give a longer sequence.")
        happened, number = _numbered([meant[t] for t in tried])
        return cause[np.array(tried) - 1], number, happened

    def _choices(self) -> list[Any]:
        """One best prediction for each causal state, and the best fixed one."""
        fixed = solve(self._prior[None], self.outcomes_, self._utility, Slack(), None, self.optimise)
        return [*self.predictions_.choice(), *fixed.predictions.choice()]

    def event_labels(self, by: str = "decision", level: float | None = None) -> Ints:
        """(n_causal,) what changes at an event, for each causal state; parameters as in `events`."""
        self.check_fitted()
        kinds = {"decision": self.states_, "prediction": self.iso_prediction_, "utility": self.iso_utility_}
        one_of(by, "by", kinds, of="events")
        if level is not None:
            if not is_number(level):
                raise ValueError(refusal("level", level, "a number", "give a utility", of="events"))
            return (self.utility_ >= level).astype(np.int64)
        return kinds[by].labels


def _exact(machine: EpsilonMachine) -> tuple[Floats, Sequence[Hashable], Floats]:
    """Distributions, outcomes and probabilities of the states; a dead end is taken for what is seen on average."""
    weight = machine.stationary if machine.weights is None else machine.weights
    total = machine.emission.sum(axis=1, keepdims=True)
    weight = weight if weight.any() else np.full(machine.n_states, 1.0 / machine.n_states)
    mean = weight @ machine.emission
    mean = mean / mean.sum() if mean.any() else np.full(mean.size, 1.0 / mean.size)
    p = np.where(total > 0, machine.emission, mean)
    return p / p.sum(axis=1, keepdims=True), machine.alphabet, weight


def _with_outcomes(X: Any, z: Any) -> Observations:
    """Observations, or pairs of rows of X and outcomes z."""
    if z is None and not isinstance(X, Observations):
        raise ValueError(
            f"The 'z' are missing and 'X' is {type(X).__name__}; outcomes are needed to decide: give z=..., or "
            "observe a series with ds.observe.series."
        )
    return as_observations(X, z)


def _numbered(values: Sequence[Any]) -> tuple[list[Any], Ints]:
    """The distinct values, and the number of each value."""
    number: dict[Any, int] = {}
    places = [number.setdefault(value, len(number)) for value in values]
    return list(number), np.array(places, np.int64)
