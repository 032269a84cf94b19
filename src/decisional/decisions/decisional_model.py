"""DecisionalModel: what to predict, what it is worth, and when that changes."""

import os
from collections.abc import Hashable, Sequence
from copy import copy
from dataclasses import replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ..data.alphabet import Alphabet, is_missing
from ..data.frames import Index, aligned, index_of, unwrapped
from ..data.observations import CountsOnly, Observations
from ..data.sequences import one_sequence
from ..machines import BeliefMachine, EpsilonMachine, TransitionGraph
from ..machines.packed import hidden_json, hidden_of, machine_json, machine_of
from ..machines.walks import SURE, drive, numbers
from ..states import aggregation, matching, saved_states
from ..states.applied import Applied, apply_beliefs, apply_machine
from ..states.causal_model import CausalModel, known_states, step_machine
from ..states.partition import Partition
from ..states.state_model import StateModel, as_observations
from ..support.arguments import choice as one_of
from ..support.arguments import flag, integer, is_integer, is_number, real, refusal, some_of
from ..support.arrays import Floats, Ints
from ..support.progress import Progress, tell, told
from . import events
from .as_json import decode_utility, encode_utility
from .belief_regions import BeliefCells, BeliefRegions, Knowledge, belief_events, changes_in_beliefs
from .cross_fitting import Estimate, cross_fitted
from .decide import Decision, decide
from .predictions import Optimum, Slack, boxed, numbered
from .regret import (
    RIVALS,
    Regret,
    Rival,
    Trials,
    block_error,
    certain,
    compared,
    signal_rival,
    utilities_of,
)
from .solving import GlobalMaxima, MonteCarlo, SamplePoints, solve
from .utilities import as_utility

# How to integrate and to optimise, as files know it.
PARTS = {kind.__name__: kind for kind in (MonteCarlo, SamplePoints, GlobalMaxima)}
# Level of the test of ties between decisions, where no test found the states.
TIES = 0.01
# Standard errors that states of kernel densities may lose together where they are decided alike.
TOGETHER = 1.0


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
    indifference : what a user does not care about, in units of the utility. States are decided alike where one
        prediction loses no more than this in each of them, with as few predictions as do; utilities of neighbours
        that are closer are the same. 0: only what the data do not tell apart is the same
    past, future, inputs : let `fit` take plain series, observed as those of `CausalStates`, whose distinct x are the
        states to decide on; by default it takes causal states, a machine, Observations, or pairs

    Notes
    -----
    Without `delta` and `atol`, data decide as they did for the causal states: if these were matched by a test, at
    its level alpha, two utilities are the same until the data tell them apart. A fair coin is then a tie although
    its frequencies are never exactly 1/2. Where no test was made (theory, `match="exact"`, distances), both are 1e-9.

    States of kernel densities that were told apart by evidence are decided alike where one prediction loses, on the
    observations of each of them, no more than the standard error of that loss over the root of the number of states:
    together they lose no more than one standard error. Then Y is that prediction alone, see `indifference`.

    The causal states of a BeliefMachine are beliefs, a continuum. They are decided alike in convex regions with the
    same Y, `regions_`, which stand in for causal states everywhere: how probable each is, and what its decision is
    worth on average, is told by 100,000 simulated beliefs, by `events` and `to_frame` at each belief itself. Inside a
    region the worth changes without jumps, so that iso-utility states are regions whose mean worth those beliefs do not
    tell apart; with `delta` they are slabs of that width, which cut the regions too.

    Attributes
    ----------
    iso_prediction_, iso_utility_, states_ : Partition of the causal states; the last one is decisional
    predictions_, utility_ : Y of each causal state, and U, what its decision is worth there
    n_states_ : number of decisional states
    labels_ : (n,) decisional state of each observation (of each causal state where a machine was fitted)
    expected_utility_ : E[U], the mean utility of following the decisions, as the states promise it
    honest_utility_ : the same by data that the decisions were not made from, and its standard error
    complexity_, prediction_complexity_, utility_complexity_ : D, P and V in bits, over all states
    recurrent_complexity_, recurrent_prediction_complexity_, recurrent_utility_complexity_ : over recurrent states
    local_complexity_, local_prediction_complexity_, local_utility_complexity_ : (n,) D, P and V at each observation
    graph_, iso_prediction_graph_, iso_utility_graph_ : TransitionGraph between the states, or None without steps
    state_groups_ : what `ds.plot.machine(machine, groups=self)` writes for each causal state
    causal_ : the CausalStates, or None for a machine
    machine_ : the EpsilonMachine, or None
    regions_ : the BeliefRegions that a BeliefMachine was cut into, or None
    cells_ : the BeliefCells that stand in for causal states then: regions, or slabs of them
    knowledge_ : what decisions are worth by what is known of a BeliefMachine, or None

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
    # How many symbols a machine was learnt from, None where it is exact.
    _learnt_from: float | None = None
    # Of the causal states that are found on the way.
    _causal_model: type[CausalModel] = CausalModel

    def __init__(
        self,
        utility: Any,
        integrate: Any = None,
        optimise: Any = None,
        delta: float | None = None,
        atol: float | None = None,
        indifference: float = 0.0,
        past: int | str | None = None,
        future: int = 1,
        inputs: Any = None,
    ) -> None:
        self.utility = utility
        self.integrate = integrate
        self.optimise = optimise
        self.delta = delta
        self.atol = atol
        self.indifference = indifference
        self.past = past
        self.future = future
        self.inputs = inputs

    def fit(self, X: Any, z: Any = None, progress: Progress = None) -> Self:
        """Find the decisional states.

        Parameters
        ----------
        X : fitted CausalStates (causal states first: the usual way, shared by any number of utilities); an
            EpsilonMachine, exact or estimated (its `counts` tell how well); a BeliefMachine; or Observations, an array
            with outcomes z, or with `past` one or several series (decisional states first: the best predictions of each
            distinct x, see `causal_states`)
        z : (n,) outcomes, with arrays only
        progress : True for a bar, or a function that is called with a line of text at each step

        Returns
        -------
        DecisionalStates
            The object itself, fitted.
        """
        self._check_parameters()
        with told(progress):
            return self._fit(X, z)

    def _fit(self, X: Any, z: Any) -> Self:
        for name, value in (("past", self.past), ("inputs", self.inputs)):
            if value is not None and isinstance(X, (EpsilonMachine, BeliefMachine, CausalModel)):
                rule = f"None for {type(X).__name__}, of data that were observed before"
                raise ValueError(
                    refusal(name, value, rule, "leave it out, or give a plain series", type(self).__name__)
                )
        self._learnt_from = None
        if isinstance(X, EpsilonMachine):
            return self._settle(None, X, *_exact(X)) if X.n_observed is None else self.fit_learnt(X, X.n_observed)
        if isinstance(X, BeliefMachine):
            return self._fit_beliefs(X)
        causal = X
        if not isinstance(X, CausalModel):
            if z is None and self.past is None:
                _with_outcomes(X, z)
            # A state for each distinct x.
            windows: dict[str, Any] = {"past": self.past, "future": self.future, "inputs": self.inputs}
            causal = self._causal_model(cluster=aggregation.distinct, constraints="none", **windows).fit(X, z)
        return self._decided_on(causal)

    def _decided_on(self, causal: CausalModel) -> Self:
        """Decisional states of causal ones."""
        given = causal, step_machine(causal), causal.distributions_, causal.outcomes_, causal.states_.probability
        if not isinstance(causal.match_, (matching.TwoSampleTest, matching.Evidence)):
            return self._settle(*given)
        obs, by_test = causal.observations_, causal.kernels_ is None
        n = causal.states_.probability * (obs.n / obs.overlap)
        # States of numbers differ a little everywhere; fixed numbers replace what is told by data.
        errors = 0.0 if by_test or self.delta is not None or self.atol is not None else TOGETHER
        return self._settle(*given, n, causal.match_.alpha, errors)

    def fit_learnt(self, machine: EpsilonMachine, n: float) -> Self:
        """Decisional states of a machine that was learnt from n symbols: ties are judged by their sampling error."""
        self._check_parameters()
        p, outcomes, probability = _exact(machine)
        self._learnt_from = float(n)
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
        errors: float = 0.0,
    ) -> Self:
        """Steps 5 to 8, and what follows; parameters as in `decide`."""
        worth = as_utility(self.utility).bound(outcomes)
        names = "integrate", "optimise", "delta", "atol", "indifference"
        how = {name: getattr(self, name) for name in names}
        tell(f"decisions in {len(probability):,} states")
        decision = decide(p, outcomes, probability, worth, **how, errors=errors, n=n, alpha=alpha)
        self._prior = np.asarray(probability @ p)
        return self._keep(decision, causal, machine, outcomes, probability)

    def _fit_beliefs(self, machine: BeliefMachine) -> Self:
        """Decisional states of a machine whose states are hidden."""
        for name in ("integrate", "optimise", "atol", "indifference"):
            value = getattr(self, name)
            if value:
                rule = "left out for a BeliefMachine, whose regions are exact"
                raise ValueError(refusal(name, value, rule, "leave it out", type(self).__name__))
        if self.delta is not None:
            real(self.delta, "delta", above=0, remedy="give a width, or delta=None", of=type(self).__name__)
        cells = BeliefCells.of(machine, self.utility, self.delta)
        self._prior = machine.stationary @ machine.emission
        return self._keep(cells.decision(), None, None, machine.alphabet, cells.probability, cells)

    def _keep(
        self,
        decision: Decision,
        causal: CausalModel | None,
        machine: EpsilonMachine | None,
        outcomes: Sequence[Any],
        probability: Floats,
        cells: BeliefCells | None = None,
    ) -> Self:
        """What was decided, and what follows."""
        self._forget()
        self.causal_, self.machine_, self.outcomes_ = causal, machine, outcomes
        self._utility, self.cells_ = as_utility(self.utility).bound(outcomes), cells
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
    def regions_(self) -> BeliefRegions | None:
        """The convex regions of beliefs that are decided alike, where a BeliefMachine was fitted."""
        self.check_fitted()
        return None if self.cells_ is None else self.cells_.regions

    @property
    def knowledge_(self) -> Knowledge | None:
        """What decisions are worth by what is known of a BeliefMachine: nothing, the past, or the hidden state."""
        self.check_fitted()
        return None if self.cells_ is None else self.cells_.knowledge()

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

    def decide(self, X: Any, by: str = "state") -> NDArray[Any]:
        """(n,) one best prediction for each of new observations; the best fixed prediction where nothing is known.

        Parameters
        ----------
        X : Observations, rows of x, or a sequence of symbols where a machine was fitted
        by : "state" (the decision of its decisional state) or "x" (what is best by P(Z|x) itself, which kernels
            estimate for each x, and which counts have from its causal state)

        Returns
        -------
        array
            Predictions, as the utility names them.
        """
        self.check_fitted()
        one_of(by, "by", ("state", "x"), of="decide")
        return boxed(self._decided(self._decided_in(X)) if by == "state" else self._decided_by_x(X))

    def _decided(self, cause: Ints) -> list[Any]:
        """What is done in each of some causal states."""
        choices = self._choices()
        return [choices[k] for k in cause.tolist()]

    def _decided_by_x(self, X: Any, cause: Ints | None = None) -> list[Any]:
        """What is best by P(Z|x) of each observation, whose causal states may be known."""
        if self.cells_ is not None:
            return self._decided(self.causes(X) if cause is None else cause)
        fixed, how = self._fixed.predictions.choice()[0], (Slack(), self.integrate, self.optimise)
        if self.causal_ is None or self.causal_.kernels_ is None:
            p = _exact(self.machine_)[0] if self.causal_ is None else self.causal_.distributions_  # type: ignore[arg-type]
            own = [*solve(p, self.outcomes_, self._utility, *how).predictions.choice(), fixed]
            return [own[k] for k in (self._decided_in(X) if cause is None else cause).tolist()]
        p = self.causal_.predict_proba(X)
        known = ~np.isnan(p[:, 0])
        choices = boxed([fixed] * len(p))
        if known.any():
            choices[known] = boxed(solve(p[known], self.outcomes_, self._utility, *how).predictions.choice())
        return list(choices)

    def score(self, X: Any, z: Any = None) -> float:
        """Mean utility obtained on new data by following the decisions.

        Parameters
        ----------
        X : Observations; an array of x with outcomes z; a sequence of symbols where a machine was fitted, each
            but the last predicting the next one; or series, where the causal states have a `past`

        Returns
        -------
        float
            In the unit of the utility.
        """
        return float(self._obtained(self._trials(X, z)).mean())

    def _obtained(self, trials: Trials) -> Floats:
        """(n,) what the decisions brought."""
        distinct, choice = numbered(self._choices())
        return utilities_of(self._utility, distinct, choice[trials.cause], trials.outcomes, trials.number)

    def regret(self, X: Any, z: Any = None, against: Sequence[str] | None = None) -> Regret:
        """Mean utility of following the decisions on new data, beside that of others, with standard errors.

        Parameters
        ----------
        X, z : as in `score`
        against : what to compare with: "fixed" (the best single prediction of the data of `fit`), "persistence" (as
            if the last value or symbol came again), "ar" (an autoregression of the signal of `fit`, its order up to
            12 by AIC, with normal errors), "x" (by P(Z|x) of each x, see `decide`); by default all that there are

        Returns
        -------
        Regret
            What was obtained, the best fixed prediction, a perfect forecast and the rivals; print it.
        """
        against = RIVALS if against is None else some_of(against, "against", RIVALS, of="regret")
        trials = self._trials(X, z)
        own, happened = self._obtained(trials), list(trials.outcomes)
        count = np.bincount(trials.number, minlength=len(happened))
        # What was known to be possible can be predicted too.
        known = list(dict.fromkeys([*happened, *self.outcomes_]))
        share = np.zeros(len(known))
        share[: count.size] = count / count.sum()
        fixed = solve(share[None], known, self._utility, Slack(), None, self.optimise).utility[0]
        perfect = share[: count.size] @ certain(self._utility, happened, known, self.optimise)[0]
        promised = float(np.append(self.utility_, self._fixed.utility)[trials.cause].mean())
        rivals = self._rivals(X, trials, own, against)
        more = {"error": block_error(own), "expected": promised, **rivals}
        return Regret(float(own.mean()), float(fixed), float(perfect), **more)

    def _rivals(self, X: Any, trials: Trials, own: Floats, against: Sequence[str]) -> dict[str, Rival]:
        """What others would have brought, by their names in `Regret`."""
        n, fixed = own.size, self._fixed.predictions.choice()[0]
        instead: dict[str, Sequence[Any]] = {"fixed": [fixed] * n} if "fixed" in against else {}
        last, past = trials.before() if {"persistence", "ar"} & set(against) else (None, None)
        if "persistence" in against and last is not None:
            values, number = numbered([value for value in last if not is_missing(value)])
            known = list(dict.fromkeys([*values, *self.outcomes_]))
            again = iter(number.tolist())
            best = certain(self._utility, values, known, self.optimise)[1] if values else []
            instead["persistence"] = [fixed if is_missing(value) else best[next(again)] for value in last]
        if "ar" in against and past is not None and self._utility.maker != "table":
            model = None if self.causal_ is None else signal_rival(self.causal_.observations_)
            if model is not None:
                instead["ar"] = model.decide(past, self._utility, self.optimise)
        if "x" in against:
            instead["by_x"] = self._decided_by_x(
                X if trials.observations is None else trials.observations, trials.cause
            )
        decided, found = self._decided(trials.cause), {}
        for name, choices in instead.items():
            distinct, choice = numbered(choices)
            other = utilities_of(self._utility, distinct, choice, trials.outcomes, trials.number)
            found[name] = compared(own, decided, other, choices)
        return found

    @cached_property
    def honest_utility_(self) -> Estimate | None:
        """E[U] by data that the decisions were not made from, with its standard error: see `cross_fitting`.

        `expected_utility_` is told by the same data that chose the predictions, and so is too good where these are
        few. None for machines, and where only counts were kept.
        """
        self.check_fitted()
        if self.causal_ is None:
            return None
        obs = self.causal_.observations_
        try:
            cause, number = self.causal_.states_.labels[obs.x], obs.z
        except CountsOnly:
            return None
        return cross_fitted(cause, number, obs.outcomes, self._utility, self.optimise, obs.overlap)

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

        Returns
        -------
        Events
            A sequence of `Event`, in order of position.

        Notes
        -----
        Along numbers a change counts where the new state of the decision is believed to 98 %: on the border of two
        states, where the data hardly tell which it is, the last one stands. What an event is worth, and a level, are
        those of the causal state, or of the belief itself where a BeliefMachine was fitted.
        """
        labels = self.event_labels(by, level)
        if X is None and self.causal_ is None:
            raise ValueError("The 'X' of events is missing; a machine has no data of its own: give a sequence.")
        flag(initial, "initial")
        if self.cells_ is not None:
            changes = changes_in_beliefs(self.cells_.path(self._believed(X), labels, level))
            return belief_events(changes if initial else changes.later(), self.cells_.predictions, index_of(X))
        obs = self.causal_.observations_ if X is None and self.causal_ is not None else X
        if self._takes_series(obs):
            assert self.causal_ is not None
            obs = self.causal_.observations_of(obs)
        if isinstance(obs, Observations) and self.causal_ is not None:
            causes = known_states(self.causal_, obs, labels, SURE)
            place, before, after = events.changes_in_observations(obs, causes, labels)
        else:
            place, before, after = events.changes_in_sequence(self.causes(obs), labels)
        kept = bool(initial) | (before >= 0)
        place, before, after = place[kept], before[kept], after[kept]
        found = np.append(labels, -1)
        index = obs.index if isinstance(obs, Observations) else index_of(obs)
        return events.Events(place, found[before], found[after], before, after, self.predictions_, self.utility_, index)

    def to_frame(self, X: Any = None) -> Any:
        """State, decision, utility and local complexity at each place of the data of `fit`, or of new data.

        Parameters
        ----------
        X : Observations, a series, or several in a list, a dict or the groups of a `groupby`; by default the data of
            `fit`

        Returns
        -------
        A frame on the index of the data, see `Observations.frame`. The decision is one of the best predictions. Where
        the causal state is not known the state is -1, the decision None and the others NaN.
        """
        self.check_fitted()
        if X is None and self.causal_ is None:
            raise ValueError("The 'X' of to_frame is missing; a machine has no data of its own: give a series.")
        X = self.causal_.observations_ if X is None and self.causal_ is not None else X
        # Last comes what stands where nothing is known.
        choices = np.empty(len(self.predictions_) + 1, object)
        choices[:] = [*self._choices()[:-1], None]
        found = {"utility": self.utility_, "local_complexity": self.states_.local()}
        columns = {"state": np.append(self.states_.labels, -1), "decision": choices}
        columns |= {name: np.append(values, np.nan) for name, values in found.items()}
        if isinstance(X, Observations):
            cause = self.causes(X)
            return X.frame(**{name: values[cause] for name, values in columns.items()})
        values, index = unwrapped(X, "X", aligned(dated=self.causal_ is not None and self.causal_.inputs is not None))
        several = self._takes_symbols(X) and values is not X and isinstance(values, list)
        cause = np.concatenate([self.causes(part) for part in values]) if several else self.causes(X)
        index = index or Index("pandas", None, cause.size)
        laid = {name: values[cause] for name, values in columns.items()}
        if self.cells_ is not None:
            parts = values if several else [X]
            laid["utility"] = np.concatenate([worth_along(self, part, cause) for part in parts])
        return index.frame(laid)

    def apply(self, data: Any, z: Any = None) -> Applied:
        """What the states and decisions say of new data, and what the decisions brought there.

        Parameters
        ----------
        data, z : as in `CausalStates.observe`; one or several sequences of symbols where a machine was fitted

        Returns
        -------
        Applied : state, decision, surprise and local complexity of each observation; `to_frame()` has them on the index
            of the data
        """
        self.check_fitted()
        if self.cells_ is not None:
            cells = self.cells_
            found = apply_beliefs(cells.regions.machine, data, cells.number, cells.probability)
        elif self.causal_ is None:
            assert self.machine_ is not None
            found = apply_machine(self.machine_, data)
        else:
            found = self.causal_.apply(data, z)
        obs, cause = found.observations, found.state
        found = replace(found, choices=self._choices(), groups=self.states_.labels)
        if obs.kind == "pairs" and z is None and not isinstance(data, Observations):
            # Nobody knows what happened.
            return found
        brought = self._obtained(Trials(cause, obs.z, obs.outcomes, None, obs))
        promised = float(np.append(self.utility_, self._fixed.utility)[cause].mean())
        # What cost nothing is 0, and not -0.
        return replace(found, utility=brought + 0.0, expected_utility=promised)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the states to a file, whole or not at all, without loss of precision.

        It has the utility, and the causal states or the machine that they were made of: see `CausalStates.save`. A
        utility that is a function cannot be saved.
        """
        self.check_fitted()
        saved_states.write(path, "decisional", self._content())

    def _content(self) -> dict[str, Any]:
        utility = encode_utility(as_utility(self.utility))
        if utility is None:
            raise TypeError(
                f"The 'utility' is {self.utility!r}, a function, which no file holds: give one of ds.utility or a "
                "table before saving."
            )
        if isinstance(self.integrate, MonteCarlo) and not is_integer(self.integrate.random_state):
            raise TypeError(
                f"The 'integrate' is {self.integrate!r}, whose draws would be others when it is loaded: give "
                "random_state=0, say, before saving."
            )
        names = tuple(name for name in self.get_params(deep=False) if name != "utility")
        causal, machine = self.causal_, self.machine_ if self.causal_ is None else None
        return {
            "parameters": saved_states.names_json(self, names, PARTS),
            "utility": utility,
            "causal": None if causal is None else causal._content(),
            "machine": None if machine is None else machine_json(machine),
            "learnt_from": self._learnt_from,
            **({} if self.cells_ is None else {"hidden": hidden_json(self.cells_.regions.machine)}),
        }

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read states that `save` wrote; anything else is refused with a ValueError.

        They decide on new data as the fitted ones do, bit for bit: the decisions are made anew from the causal states.
        """
        found: Self = saved_states.read(path, "decisional", cls._from_content)
        return found

    @classmethod
    def _from_content(cls, content: dict[str, Any]) -> Self:
        model = cls(decode_utility(content["utility"]), **saved_states.names_of(content["parameters"], PARTS))
        model._check_parameters()
        if content["causal"] is not None:
            return model._decided_on(cls._causal_model._from_content(content["causal"]))
        if "hidden" in content:
            return model._fit_beliefs(hidden_of(content["hidden"]))
        machine, n = machine_of(content["machine"]), content["learnt_from"]
        return model._settle(None, machine, *_exact(machine)) if n is None else model.fit_learnt(machine, n)

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
        integer(self.future, "future", of=of)
        for name, value in (("delta", self.delta), ("atol", self.atol)):
            if value is not None:
                real(value, name, least=0, remedy=f"give it, or {name}=None", of=of)
        real(self.indifference, "indifference", least=0, remedy="give a difference of utilities", of=of)
        for name, function in (("integrate", self.integrate), ("optimise", self.optimise)):
            if isinstance(function, type):
                raise ValueError(refusal(name, function, "None or a callable", f"call {function.__name__}(...)", of))
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
        names = [f"{letter}{k}" for k in range(states.n_states)]
        if self.cells_ is not None:
            before, after, times = self.cells_.steps.T
            ends = states.labels[before], states.labels[after]
            return TransitionGraph.from_counts(*ends, times, states.n_states, names=names)
        if inner is None:
            return None
        weight = inner.stationary if inner.weight is None else inner.weight
        edges = inner.matrix.tocoo()
        ends = states.labels[edges.row], states.labels[edges.col]
        return TransitionGraph.from_counts(*ends, weight[edges.row] * edges.data, states.n_states, names=names)

    def causes(self, X: Any) -> Ints:
        """(n,) causal state of new observations, or after each symbol of a sequence; -1 where nothing is known."""
        self.check_fitted()
        if isinstance(X, Observations) and self.causal_ is None:
            raise ValueError("A machine was fitted, which follows symbols: give 'X' as a sequence of symbols.")
        if self.cells_ is not None:
            return self.cells_.number(self._believed(X))
        if self._takes_symbols(X):
            assert self.machine_ is not None
            # As a monitor does, which begins again where a symbol is missing.
            return drive(self.machine_, X, self.machine_.start, "reset", "unknown", restarts=True).states
        assert self.causal_ is not None
        if X is self.causal_.observations_:
            return self.causal_.states_.labels[X.x]
        return self.causal_.predict(X)

    def _believed(self, X: Any) -> Floats:
        """(n, n_states) what is believed of the hidden state after each symbol."""
        if X is None or self.cells_ is None:
            raise ValueError("The 'X' is missing; a machine has no data of its own: give a sequence.")
        return self.cells_.regions.machine.filter(X)

    def _decided_in(self, X: Any) -> Ints:
        """The same, but the likeliest state along a signal, whose noise hardly ever leaves a single one."""
        if self.causal_ is None and self.machine_ is not None and self.machine_.levels is not None:
            return self.machine_.filter(X, unsynchronised="likely")
        return self.causes(X)

    def _takes_symbols(self, X: Any) -> bool:
        """Whether X is a sequence of symbols that drives the machine."""
        if isinstance(X, Observations) or self._takes_series(X):
            return False
        return self.causal_ is None or self.causal_.observations_.has_suffixes

    def _takes_series(self, X: Any) -> bool:
        """Whether X is a series that the causal states observe themselves, as they did in `fit`."""
        return not isinstance(X, Observations) and self.causal_ is not None and self.causal_.past is not None

    def _trials(self, X: Any, z: Any) -> Trials:
        """What was decided in, and what happened."""
        self.check_fitted()
        if not self._takes_symbols(X):
            assert self.causal_ is not None
            series = self._takes_series(X)
            obs = self.causal_.observations_of(X, z) if series else _with_outcomes(self.causal_.in_order(X), z)
            return Trials(self.causes(obs), obs.z, obs.outcomes, None, obs)
        if z is not None:
            raise ValueError("The 'z' are given with symbols, each of which predicts the next: leave 'z' out.")
        machine = self.machine_ if self.cells_ is None else self.cells_.regions.machine
        assert machine is not None
        if isinstance(machine, EpsilonMachine) and machine.levels is not None:
            return self._signal_trials(numbers(X))
        X = one_sequence(X, machine.alphabet)
        cause, symbols = self.causes(X), list(X)
        # A symbol stands for the one of the alphabet that prints the same, as in `filter`.
        meant = Alphabet(machine.alphabet).meant(X if isinstance(X, (str, bytes, np.ndarray)) else symbols)
        tried = [t for t in range(1, len(symbols)) if not is_missing(symbols[t])]
        if not tried:
            raise ValueError(f"The 'X' has {len(symbols)} symbols; at least 2 are needed: give a longer sequence.")
        happened, number = numbered([meant[t] for t in tried])
        before = np.array(tried) - 1
        return Trials(cause[before], number, happened, [meant[t] for t in before.tolist()])

    def _signal_trials(self, values: Floats) -> Trials:
        """The same along the values of a signal."""
        after = np.flatnonzero(np.isfinite(values[1:])) + 1
        if not after.size:
            raise ValueError(f"The 'X' has {values.size} values; at least 2 are needed: give a longer signal.")
        happened, number = np.unique(values[after], return_inverse=True)
        return Trials(self._decided_in(values)[after - 1], number, happened.tolist(), values[after - 1].tolist())

    @cached_property
    def _fixed(self) -> Optimum:
        """The best fixed prediction, by the data of `fit`."""
        return solve(self._prior[None], self.outcomes_, self._utility, Slack(), None, self.optimise)

    def _choices(self) -> list[Any]:
        """One best prediction for each causal state, and the best fixed one."""
        return [*self.predictions_.choice(), *self._fixed.predictions.choice()]

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


def worth_along(choice: DecisionalModel, X: Any, cause: Ints) -> Floats:
    """(n,) what the decision is worth at each place, whose causal states are known: of these, or of the belief."""
    if choice.cells_ is not None:
        return choice.cells_.regions.value(choice._believed(X))
    return np.append(choice.utility_, np.nan)[cause]


def _exact(machine: EpsilonMachine) -> tuple[Floats, Sequence[Hashable], Floats]:
    """Distributions, outcomes and probabilities of the states; a dead end is taken for what is seen on average."""
    weight = machine.stationary if machine.weights is None else machine.weights
    total = machine.emission.sum(axis=1, keepdims=True)
    weight = weight if weight.any() else np.full(machine.n_states, 1.0 / machine.n_states)
    mean = weight @ machine.emission
    mean = mean / mean.sum() if mean.any() else np.full(mean.size, 1.0 / mean.size)
    p = np.where(total > 0, machine.emission, mean)
    p = p / p.sum(axis=1, keepdims=True)
    if machine.levels is None:
        return p, machine.alphabet, weight
    # The next value of a signal, not the symbol that it belongs to.
    values = machine.levels.points()
    return np.repeat(p / values.shape[1], values.shape[1], axis=1), values.ravel().tolist(), weight


def _with_outcomes(X: Any, z: Any) -> Observations:
    """Observations, or pairs of rows of X and outcomes z."""
    if z is None and not isinstance(X, Observations):
        raise ValueError(
            f"The 'z' of 'X', {type(X).__name__}, are missing (it requires y to be passed, but the target y is None); "
            "outcomes are needed to decide: give z=..., past=5, say, for a series, or fitted CausalStates."
        )
    return as_observations(X, z)
