"""CausalModel: from observations to causal states and the epsilon-machine."""

import os
from collections.abc import Sequence
from concurrent.futures import Executor
from copy import copy
from dataclasses import replace
from operator import attrgetter
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ..data.calendars import calendar
from ..data.frames import is_frame, reordered, variables_of
from ..data.observations import Observations, Tallied, Way
from ..data.saved_observations import observe_again
from ..data.slices import Sliced
from ..machines import EpsilonMachine, TransitionGraph
from ..support.arguments import choice, integer, real, refusal, shown
from ..support.arrays import Floats, Ints
from ..support.executors import check_executor
from ..support.progress import Progress, tell, told
from . import aggregation, matching, saved_states
from .applied import Applied, surprises, usual_surprise
from .coarsening import BitsPath, bits_path
from .cone_coder import learn_coder
from .cone_states import states_of_cones
from .coordinates import Coordinates
from .determinism import CONSTRAINTS
from .distributions import Counts
from .evidence import ByEvidence, states_of
from .forecasts import Forecast
from .kernels import KernelModel, Kernels
from .labelling import Labeller
from .machine_selection import best_window
from .partition import Partition
from .pasts import best_past
from .reconstruct import DensityEstimator, Reconstruction, reconstruct
from .signal_machine import machine_of_levels
from .state_model import (
    PlainSeries,
    StateModel,
    as_observations,
    at_rows,
    observed_series,
    plain_series,
    refuse_ragged,
    refuse_sparse,
    signal_ahead,
)

# Rows of densities that are compared with the states at once.
BLOCK = 1 << 12


def _tell_counting(obs: Observations) -> None:
    """Tell that observations in memory are counted; slices tell of themselves."""
    if not isinstance(obs, Sliced):
        tell("counting")


def _result(path: str) -> Any:
    """A property of a model: some of what it found."""
    return property(attrgetter(f"_found.{path}"))


class CausalModel(StateModel):
    """Group the x with the same P(Z|x) into causal states, and link them into an epsilon-machine.

    `ds.CausalStates` is this with the contract of scikit-learn.

    Parameters
    ----------
    density : estimator of P(Z|x): `Counts()`, `Kernels()`; None picks by data: kernels where x has numbers
    match : when two distributions are the same: None (`GTest()` for counts, `Evidence()` for light cones and kernels;
        where `cluster` is given `GTest()`, and `Bhattacharyya()` for kernels), "exact", `ChiSquare(alpha)`, a distance
        such as `Variational(threshold)`, or a callable of two count vectors
    cluster : None or "aggregate", "connect", or a callable of (densities, match)
    theta : share above which the most frequent target of a (state, symbol) stands for all, in (0.5, 1]
    passes : how often "aggregate" visits the data
    random_state : seed for clusterings that visit the data at random
    constraints : what symbols do to the states: "evidence" (split where that shortens the description of the
        data, which only a series can tell), "paper" (split and merge as in section 5.5) or "none"; see `determinism`
    past, future : let `fit`, `predict` and `score` take plain series, observed through windows of so many values; by
        default they take Observations, or pairs. past="auto": the data of `fit` choose, see `selection.best_past` for
        numbers and `selection.best_window` for symbols
    inputs : names of calendar parts, such as ["hour", "month"], of plain series of numbers whose index has dates; see
        `observe.delays`

    Attributes
    ----------
    n_states_ : number of causal states, transient ones included
    states_ : Partition of the distinct x
    labels_ : (n,) state of each observation (of each row of X for fit(X, z): -1 where a value is missing)
    distributions_ : (n_states, n_outcomes) P(Z|state); columns are `outcomes_`. Of counts, a scipy CSR array beyond
        16 million entries
    machine_ : EpsilonMachine; of a signal whose values fall into levels that of `epsilon_machine(signal)`, with states
        of its own, found when it is first asked for; None for a continuum, for a signal that does not fit in
        memory, and where there are no steps
    graph_ : TransitionGraph of the observed transitions, or None
    complexity_ : C in bits over all states; `recurrent_complexity_` of the recurrent ones, by
        the machine's stationary distribution
    local_complexity_ : (n,) C at each observation; its mean is `complexity_`
    converged_ : whether every (state, symbol) of the machine leads to one state, up to theta
    unresolved_ : the (state, symbol, share of the most frequent target) for which it does not
    observations_ : what was fitted
    past_ : number of values of plain series that x is made of, as it was given or chosen
    warning_ : what should be known before states by evidence are trusted, None if there is nothing
    match_, kernels_ : the match that was used, and the kernel estimate with its bandwidths, None for counts

    Examples
    --------
    >>> import decisional as ds
    >>> symbols = ds.processes.even().simulate(10_000, rng=1)
    >>> causal = ds.CausalStates().fit(ds.observe.series(symbols, past=5))
    >>> causal.machine_.recurrent_part().is_isomorphic(ds.processes.even(), atol=0.05)
    True
    """

    _kind = "causal states"
    # Counts of partial_fit and merge, and what was found; the latter is made of the former when it is asked for.
    _tally: Any = None
    _fitted: Reconstruction | None = None
    # Whether values belong to the rows of an array rather than to observations.
    _by_row = False
    # Columns of the array that was fitted, if one was, and their names.
    n_features_in_: int
    # How the data were observed, as far as that is known.
    _way: Way | None = None
    # The machine of a signal, once it was asked for.
    _levels: EpsilonMachine | None
    # How much past plain series were observed with.
    past_: int
    feature_names_in_: NDArray[Any]

    def __init__(
        self,
        density: Any = None,
        match: Any = None,
        cluster: Any = None,
        theta: float = 0.95,
        passes: int = 1,
        random_state: Any = None,
        constraints: str = "evidence",
        past: int | str | None = None,
        future: int = 1,
        inputs: Any = None,
    ) -> None:
        self.density, self.match, self.cluster = density, match, cluster
        self.theta, self.constraints = theta, constraints
        self.passes, self.random_state = passes, random_state
        self.past, self.future, self.inputs = past, future, inputs

    def fit(self, X: Any, z: Any = None, executor: Executor | None = None, progress: Progress = None) -> Self:
        """Find the causal states of observations, or of pairs (X, z).

        Parameters
        ----------
        X : Observations; (n, d) numbers or (n,) values, one configuration x per row; or, with `past`, one or several
            series of symbols or of numbers, whose windows are observed
        z : (n,) outcomes, with rows of configurations only
        executor : where slices of the data are counted: any concurrent.futures executor, default threads
        progress : True for a bar, or a function that is called with a line of text at each step

        Returns
        -------
        CausalStates
            The object itself, fitted.
        """
        check_executor(executor)
        with told(progress):
            obs = self._coded(self._given(X, z))
            obs.check_memory()
            _tell_counting(obs)
            obs.table(executor)
            self._tally, self._fitted = None, None
            vars(self).pop("_levels", None)
            self._by_row = not isinstance(X, Observations)
            self._fitted, self._way = self._found_in(obs, executor), obs.way
        self._note_columns(X)
        return self

    def partial_fit(self, X: Any, z: Any = None, executor: Executor | None = None, progress: Progress = None) -> Self:
        """Add the counts of more observations; the states are found when they are next asked for.

        The result is that of `fit` on all observations together, bit for bit, in whatever order these come. For
        slices of a long series or a field, the pieces of `ds.observe.series(..., chunks=...)` hold what their windows
        reach beyond them: give `obs.pieces()` one by one. Only counts are kept: `labels_` need the data. Codes of
        real-valued fields are those of the first observations.

        Parameters are those of `fit`.

        Returns
        -------
        CausalStates
            The object itself.
        """
        more = self.is_fitted()
        given = self._given(X, z, self._names() if more else (), more)
        self._way = self._way if more else given.way
        with told(progress):
            obs = self._coded(given, self._counts().coder if more else None)
            _tell_counting(obs)
            tally = obs.tally(executor)
        return self._add(tally, X)

    def merge(self, other: "CausalModel") -> Self:
        """Add the counts of other causal states, of observations made alike, and keep the parameters of self."""
        self._way = self._way if self.is_fitted() else other._way
        return self._add(other._counts(), None)

    def _add(self, tally: Any, X: Any) -> Self:
        first = not self.is_fitted()
        self._tally = tally if first else self._counts().merge(tally)
        self._fitted, self._by_row = None, False
        if first and X is not None:
            self._note_columns(X)
        return self

    def _coded(self, obs: Observations, coder: Any = None) -> Observations:
        """Observations of a real-valued field by codes, which are learnt unless they are known; others as they are."""
        if not obs.uncoded:
            return obs
        alpha = self.match.alpha if isinstance(self.match, matching.TwoSampleTest | matching.Evidence) else None
        tell("codes of real values")
        return obs.coded(learn_coder(obs.excerpt(), alpha or matching.Evidence().alpha) if coder is None else coder)

    def _names(self) -> Sequence[str]:
        """The columns of the frame that was fitted, if it was one."""
        found: Sequence[str] = vars(self).get("feature_names_in_", ())
        return found

    def in_order(self, X: Any) -> Any:
        """New rows of x with their columns in the order of `fit`, where both are frames; other data as they are."""
        names = self._names()
        return reordered(X, names, "X") if len(names) and is_frame(X) and self.past is None else X

    def _counts(self) -> Any:
        return self._found.observations.tally() if self._tally is None else self._tally

    def _note_columns(self, X: Any) -> None:
        """Remember the columns of an array that was fitted."""
        for name in ("n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)
        if isinstance(X, Observations):
            return
        names = variables_of(X, "X", self.inputs is not None)
        if names and all(isinstance(name, str) for name in names):
            self.feature_names_in_ = np.array(names, object)
        # Several series may have several lengths, and so no shape.
        if (is_frame(X) or self.past is None or isinstance(X, np.ndarray)) and np.ndim(X) == 2:
            self.n_features_in_ = len(names) or np.shape(X)[1]

    def _found_in(self, obs: Observations, executor: Executor | None) -> Reconstruction:
        """Causal states of observations."""
        density = self.density
        if density is None:
            density = Counts() if obs.points is None else Kernels()
        kind = "counts"
        if density == Counts() and self.cluster is None and obs.nested:
            kind = "cones"
        if isinstance(density, Kernels):
            gaussian = isinstance(density.kernel, str) and density.kernel == "gaussian"
            kind = "kernels" if self.cluster is None and gaussian else "pairs"
        match = matching.resolve(self.match, kind)
        evidence: Any = None
        if isinstance(match, matching.Evidence) and kind == "cones":
            tell("states of light cones")
            evidence = states_of_cones(obs, match.alpha)
        elif isinstance(match, matching.Evidence):
            evidence = states_of(obs, density, match.alpha)
            density = evidence.model
        elif isinstance(density, Kernels):
            density = density.model(obs)
        if isinstance(match, matching.TwoSampleTest) and isinstance(density, KernelModel) and not density.counts:
            raise ValueError(
                f"The 'match' is {match!r} and the 'density' {density!r}; a test needs counts and kernel sums "
                "are none: use a distance such as ds.Bhattacharyya()."
            )
        cluster = aggregation.resolve(self.cluster, self.passes, self.random_state)
        return reconstruct(obs, density, match, cluster, self.theta, self.constraints, executor, evidence)

    def is_fitted(self) -> bool:
        return self._fitted is not None or self._tally is not None

    @property
    def _found(self) -> Reconstruction:
        self.check_fitted()
        if self._fitted is None:
            counted = Tallied(self._tally)
            counted.way = self._way
            self._fitted = self._found_in(counted, None)
        return self._fitted

    observations_: Observations = _result("observations")
    match_: Any = _result("match")
    states_: Partition = _result("states")
    n_states_: int = _result("states.n_states")
    distributions_: Any = _result("distributions")
    outcomes_: Sequence[Any] = _result("outcomes")
    graph_: TransitionGraph | None = _result("graph")
    unresolved_: tuple[tuple[int, Any, float], ...] = _result("unresolved")

    @property
    def machine_(self) -> EpsilonMachine | None:
        """The machine of the states, or, of a signal that moves between levels, that of `epsilon_machine(signal)`."""
        found = self._found
        if found.machine is None and self.labeller_ is not None and found.observations.delays is not None:
            if "_levels" not in vars(self):
                self._levels = machine_of_levels(found.observations)
            return self._levels
        return found.machine

    @property
    def kernels_(self) -> KernelModel | None:
        density = self._found.density
        return density if isinstance(density, KernelModel) else None

    @property
    def labeller_(self) -> Labeller | None:
        """What labels any x of numbers, where states were found by evidence."""
        evidence = self._found.evidence
        return evidence.labeller if isinstance(evidence, ByEvidence) else None

    @property
    def warning_(self) -> str | None:
        evidence = self._found.evidence
        return None if evidence is None else evidence.doubt()

    @property
    def labels_(self) -> Ints:
        return self._at_rows(self._found.labels, -1)

    @property
    def local_complexity_(self) -> Floats:
        return self._at_rows(self._found.local_complexity, np.nan)

    @property
    def converged_(self) -> bool:
        return not self.unresolved_

    @property
    def complexity_(self) -> float:
        return self.states_.entropy()

    @property
    def recurrent_complexity_(self) -> float:
        machine = self._found.machine
        return self.complexity_ if machine is None else machine.statistical_complexity()

    def path(self) -> BitsPath:
        """How many bits about the future fewer states keep: see `coarsening.bits_path`."""
        return bits_path(self.distributions_, self.states_.probability)

    def coarsen(self, n_states: int | None = None, bits: float | None = None) -> Self:
        """Fewer states, which keep as much information about the future as so many can.

        Parameters
        ----------
        n_states : how many are left, at most
        bits : as few as keep so many bits about z, of those that all of them have

        Returns
        -------
        The same model with coarser states, fitted to the same data; it has no machine, since coarse states need not be
        deterministic. Cost: O(K m) for K states whose distributions have m entries that are not 0.

        Examples
        --------
        >>> import decisional as ds
        >>> causal = ds.CausalStates().fit(ds.observe.series("0010111" * 300, past=3))
        >>> causal.n_states_, causal.coarsen(n_states=2).n_states_
        (7, 2)
        """
        if n_states is not None and bits is None:
            groups = self.path().groups(n_states)
        elif bits is not None and n_states is None:
            path = self.path()
            groups = path.groups(path.fewest(bits))
        else:
            raise ValueError(
                f"The 'n_states' is {shown(n_states)} and 'bits' {shown(bits)}; exactly one must be given: choose one."
            )
        coarse = copy(self)
        coarse._tally, coarse._fitted = None, self._found.coarsened(groups)
        return coarse

    def at_observations(self, values: NDArray[Any], missing: Any) -> NDArray[Any]:
        """Values of each distinct x at each observation of `fit`, or at each row of X, `missing` where it had none."""
        return self._at_rows(self._found.at_observations(values), missing)

    def _at_rows(self, values: NDArray[Any], missing: Any) -> NDArray[Any]:
        return at_rows(values, self.observations_, missing) if self._by_row else values

    def with_observations(self, obs: Observations) -> Self:
        """The same states along other observations, whose x are numbered like those of `fit`."""
        shown = copy(self)
        shown._fitted = replace(self._found, observations=obs)
        return shown

    def predict(self, X: Any) -> Ints:
        """(n,) state of each observation; in a series, that of the longest ending of its x that was seen in `fit`.

        Light cones have the state of the deepest cone inside them that is known. -1 where nothing is known of x.
        Cost: O(n) and O(past log n_rows) for each distinct x.
        """
        obs, own = self._observed(X, ahead=True)
        if self.labeller_ is not None:
            states = self.labeller_.label(self._points_of(obs))[obs.x]
        elif self.kernels_ is None:
            states = self._found.states_of_words(obs)[obs.x]
        else:
            states = self._nearest_states(self.kernels_.probabilities(self._points_of(obs)))[obs.x]
        return states if own is None else at_rows(states, obs, -1)[own]

    def predict_proba(self, X: Any) -> Any:
        """(n, n_outcomes) P(Z|state) of each observation, with kernels P(Z|x) itself; NaN where the state is -1.

        Where the widths of kernels were left to the data, it is the probability that z is nearest to each of
        `outcomes_`, by `forecast`.

        Returns
        -------
        array of float
            One row for each observation; sparse where `distributions_` is.
        """
        if self.kernels_ is not None and self.kernels_.by_data:
            return self.forecast(X).probabilities(self.outcomes_)
        if self.kernels_ is not None:
            obs, own = self._observed(X, ahead=True)
            p = self.kernels_.probabilities(self._points_of(obs))[obs.x]
            return p if own is None else at_rows(p, obs, np.nan)[own]
        unknown, states = np.full((1, self.distributions_.shape[1]), np.nan), self.predict(X)
        if isinstance(self.distributions_, np.ndarray):
            return np.concatenate([self.distributions_, unknown])[states]
        from scipy.sparse import csr_array, vstack

        return vstack([self.distributions_, csr_array(unknown)], "csr")[states]

    def forecast(self, X: Any, steps: int = 1) -> Forecast:
        """The distribution of the outcome of each observation, from P(Z|x) itself, by kernels and a linear model.

        Parameters
        ----------
        X : as in `predict`: Observations, rows of x, or, with `past`, series, whose last row is the forecast of what
            follows their last value
        steps : how many steps ahead: the outcome of the observation that follows so many steps later, less one

        Returns
        -------
        Forecast : pdf, cdf, quantile, interval, sample, mean, std of each observation, or of each row of X; NaN where
            it has none. Cost: for each number of steps once about 1 s, then 8,000 kernels for each observation.
        """
        steps = integer(steps, "steps", of="forecast")
        return Forecast(self._numbers("forecasts").stack(steps), self._rows_of(X))

    def coordinates(self, n: int = 2, future: int | None = None) -> Coordinates:
        """A map of the causal states of numbers where these are a continuum, with few dimensions.

        Parameters
        ----------
        n : how many coordinates
        future : how many of the next values they tell about, by default n + 1; pairs have no order, and one

        Returns
        -------
        Coordinates : `values` of the observations of `fit`, `at(X)` of new ones, `evolve` and `forecast` on them.
            Cost: a few seconds, of at most 8,000 observations, and O(N).

        Examples
        --------
        >>> import decisional as ds
        >>> rng = np.random.default_rng(1)
        >>> x = np.sin(0.3 * np.arange(400)) + 0.05 * rng.normal(size=400)
        >>> causal = ds.CausalStates(past=3).fit(x)
        >>> circle = causal.coordinates(2)
        >>> circle.values.shape, circle.at(x[-10:]).shape
        ((400, 2), (10, 2))
        """
        n = integer(n, "n", of="coordinates")
        future = n + 1 if future is None else integer(future, "future", remedy="leave it out", of="coordinates")
        obs = self._numbers("coordinates").obs
        return Coordinates(obs, n, future, self._rows_of, lambda values: self._at_rows(values, np.nan))

    def _numbers(self, what: str) -> KernelModel:
        """The kernels of x and z, or a refusal where these are symbols."""
        if self.kernels_ is None:
            raise ValueError(
                f"The states are those of symbols, whose outcomes are kinds; {what} are those of distributions of "
                "numbers: use predict_proba(X), or density=ds.Kernels() where the symbols are numbers."
            )
        return self.kernels_

    def _rows_of(self, X: Any) -> Floats:
        """(m, d) the x of each observation or row of X, NaN where it has none."""
        obs, own = self._observed(X, ahead=True)
        x = self._points_of(obs)[obs.x].astype(float)
        return x if own is None else at_rows(x, obs, np.nan)[own]

    def to_frame(self) -> Any:
        """The state and the local complexity at each place of the data, on their index: see `Observations.frame`."""
        found = self._found
        return self.observations_.frame(state=found.labels, local_complexity=found.local_complexity)

    def score(self, X: Any, z: Any = None) -> float:
        """Mean of log2 p(z|state), in bits per observation, over observations with a known state.

        An outcome that never followed a state counts as seen once in one more observation. With kernels it is the
        density of z given x itself, and all observations count; see `Kernels`.
        """
        obs, _ = self._observed(X, z)
        if self.kernels_ is not None:
            return self.kernels_.score(obs, self._points_of(obs))
        found = surprises(self._found, obs, self._found.states_of_words(obs)[obs.x])
        known = ~np.isnan(found)
        if not known.any():
            raise ValueError(
                f"None of the {obs.n} observations has a known state; at least one must end like the data of fit: "
                "check that both use the same symbols."
            )
        return -float(found[known].mean())

    def surprise(self, X: Any, z: Any = None) -> Floats:
        """(n,) -log2 P(z|state) of each observation, in bits: how little its state let expect what followed.

        An outcome that never followed a state counts as in `score`; one of numbers is the nearest of `outcomes_`. NaN
        where the state is not known. Parameters are those of `score`.

        Returns
        -------
        array of float
            NaN where the state is not known.
        """
        obs, _ = self._observed(X, z)
        return surprises(self._found, obs, self.predict(obs))

    @property
    def usual_surprise_(self) -> float:
        """Mean of `surprise` over the data of `fit`, in bits: what new data that are like them have too."""
        return usual_surprise(self._found)

    def observe(self, data: Any, z: Any = None) -> Observations:
        """New data, such as `ds.read` gives, observed as those of `fit` were.

        Parameters
        ----------
        data : one or several series, signals, fields or images, as `fit` or the function of `ds.observe` took them;
            rows of x where pairs were fitted
        z : (n,) outcomes, with rows only

        Returns
        -------
        Observations
            With the past, future and options of those of `fit`.
        """
        self.check_fitted()
        fitted = self.observations_
        if isinstance(data, Observations) or self.past is not None or fitted.has_suffixes or fitted.kind == "pairs":
            return self.observations_of(data, z)
        _refuse_outcomes(z)
        return self._as_fitted(observe_again(self._known_way(), data))

    def _known_way(self) -> Way:
        """How the data were observed, where others can be observed alike."""
        if self._way is None or (self.observations_.known and not self._way.given["inputs"]):
            why = "with inputs that are numbers" if self._way is not None else "in a way that is not known"
            raise ValueError(
                f"The data of fit were observed {why}; new ones cannot be observed alike: give 'data' as Observations, "
                "made by the same function of ds.observe."
            )
        return self._way

    def _ahead(self, data: Any) -> tuple[Observations, Any]:
        """New series or signals that go on, so that their last values are observed too, and which places are theirs."""
        if self.past is not None or self.observations_.has_suffixes:
            return self._observed(data, ahead=True)
        return signal_ahead(data, self._known_way())

    def apply(self, data: Any, z: Any = None) -> Applied:
        """What the states say of new data: state, surprise and local complexity of each observation.

        Parameters are those of `observe`.

        Returns
        -------
        Applied
            `columns` by name, `to_frame()` on the index of the data, `on_grid()` on their grid.

        Examples
        --------
        >>> import decisional as ds
        >>> causal = ds.CausalStates().fit(ds.observe.series("0110" * 500, past=3))
        >>> today = causal.apply("0110" * 20 + "1111")
        >>> today.n, round(today.unseen, 3), today.surprise[:3].tolist()
        (81, 0.0, [0.0, 0.0, 0.0])
        """
        obs, ahead = self.observe(data, z), None
        if isinstance(data, Observations) or isinstance(obs, Sliced) or obs.kind not in ("series", "signal"):
            state = self.predict(obs)
        else:
            longer, own = self._ahead(data)
            ahead = at_rows(self.predict(longer), longer, -1)[own]
            state = ahead[obs.site]
        told = not (obs.kind == "pairs" and z is None and not isinstance(data, Observations))
        surprise = surprises(self._found, obs, state) if told else np.full(obs.n, np.nan)
        return Applied(obs, state, surprise, -np.log2(self.states_.probability) + 0.0, self.usual_surprise_, ahead)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the states to a file, whole or not at all, without loss of precision.

        It has the parameters, how the data were observed, and what new data are compared with: counts where x are
        symbols, cones or codes, and all observations where x are numbers, as kernels need them. No index and no names
        of files are in it. `load` reads it again, and `decisional predict` applies it to a file.
        """
        self.check_fitted()
        saved_states.write(path, "causal", self._content())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read states that `save` wrote; anything else is refused with a ValueError.

        They label, predict, score and decide new data as the fitted ones do, bit for bit. Of symbols and fields only
        counts are kept: what belongs to each observation of `fit`, such as `labels_`, is refused.
        """
        found: Self = saved_states.read(path, "causal", cls._from_content)
        return found

    def _content(self) -> dict[str, Any]:
        """All that `save` writes, as JSON."""
        own: dict[str, Any] = {"parameters": saved_states.names_json(self, tuple(self.get_params(deep=False)))}
        noted = {name: vars(self).get(name) for name in ("past_", "n_features_in_")}
        noted["feature_names_in_"] = list(self._names()) or None
        return {**own, **noted, "by_row": self._by_row, "found": saved_states.found_json(self._found)}

    @classmethod
    def _from_content(cls, content: dict[str, Any]) -> Self:
        """The states of such content."""
        model = cls(**saved_states.names_of(content["parameters"]))
        model._fitted, model._by_row = saved_states.found_of(content["found"]), bool(content["by_row"])
        model._way = model._fitted.observations.way
        for name in ("past_", "n_features_in_"):
            if content[name] is not None:
                setattr(model, name, integer(content[name], name))
        if content["feature_names_in_"] is not None:
            model.feature_names_in_ = np.array(content["feature_names_in_"], object)
        return model

    def observations_of(self, X: Any, z: Any = None) -> Observations:
        """New data observed as those of `fit` were; parameters are those of `score`."""
        obs: Observations = self._observed(X, z)[0]
        return obs

    def _observed(self, X: Any, z: Any = None, ahead: bool = False) -> tuple[Observations, Any]:
        """New data as `fit` read its own; and, unless they are Observations, which places of them are rows of X."""
        self.check_fitted()
        if isinstance(X, Observations):
            return self._as_fitted(as_observations(X, z)), None
        refuse_sparse(X)
        fitted = self.observations_
        if self.past is not None or fitted.has_suffixes:
            _refuse_outcomes(z)
            past, future = (fitted.past, fitted.future) if self.past is None else (self.past_, self.future)
            plain = plain_series(X, fitted.kind == "signal", self.inputs, self._names())
            return observed_series(plain, past, future, self.inputs, ahead, fitted.letters)
        d, shape = vars(self).get("n_features_in_"), refuse_ragged(X, "X")
        if d is not None and len(shape) in (1, 2) and shape[1:] != (d,):
            given = f"X has {shape[1]} features" if len(shape) == 2 else "X has one dimension"
            raise ValueError(
                f"{given}, but {type(self).__name__} is expecting {d} features as input, those of fit. Reshape your "
                f"data to (n, {d})."
            )
        return as_observations(self.in_order(X), z, self.kernels_ is not None), slice(None)

    def _as_fitted(self, obs: Observations) -> Observations:
        """Observations of a field by the codes of that of `fit`, where both are of real numbers."""
        coder = self.observations_.coder
        if obs.uncoded and coder is None:
            raise ValueError(
                f"The 'X' are observations of a real-valued field and those of fit of a {self.observations_.kind} of "
                "symbols; both must be of one kind: observe a field of integers."
            )
        if coder is not None and obs.coder is None and not obs.uncoded:
            raise ValueError(
                f"The 'X' are observations of a {obs.kind} of symbols and those of fit of a real-valued field; both "
                "must be of one kind: observe a field of real numbers."
            )
        return self._coded(obs, coder)

    def _points_of(self, obs: Observations) -> NDArray[Any]:
        """(n_x, d) the distinct x as vectors of numbers."""
        points, d = obs.points, self.observations_.past
        if points is None:
            points = np.array([obs.letters[k] for k in obs.words(np.arange(obs.table().n_x))[:, 0]])
            points = points.reshape(len(points), -1)
        if points.dtype.kind not in "biuf" or points.shape[1] != d:
            raise ValueError(
                f"The 'X' have {points.shape[1]} columns of type {points.dtype} and those of fit {d}; new x must be "
                "numbers of the same dimension: give the same columns."
            )
        return points

    def _nearest_states(self, p: Floats) -> Ints:
        """State whose distribution is the nearest by the Bhattacharyya distance, -1 where there is no estimate."""
        states = np.full(len(p), -1, np.int64)
        roots = np.sqrt(self.distributions_).T
        for begin in range(0, len(p), BLOCK):
            part = slice(begin, begin + BLOCK)
            known = ~np.isnan(p[part, 0])
            states[part][known] = (np.sqrt(p[part][known]) @ roots).argmax(axis=1)
        return states

    def _given(self, X: Any, z: Any, names: Sequence[str] = (), more: bool = False) -> Observations:
        """What is to be fitted, once the parameters are checked.

        `names` tell the order of columns; `more` of what was fitted has the past of the first.
        """
        of = type(self).__name__
        real(self.theta, "theta", above=0.5, most=1, remedy="try theta=0.95", of=of)
        integer(self.passes, "passes", of=of)
        integer(self.future, "future", of=of)
        if self.past is not None and not self._is_auto():
            self._given_past()
        choice(self.constraints, "constraints", CONSTRAINTS, of=of)
        wrong = isinstance(self.density, type) or not isinstance(self.density, DensityEstimator)
        if self.density is not None and wrong:
            rule = "None or an estimator of P(Z|x)"
            raise ValueError(refusal("density", self.density, rule, "try density=ds.Counts()", of))
        plain_data = self.past is not None and not isinstance(X, Observations)
        if self.inputs is not None and not plain_data:
            rule = f"None for {type(X).__name__}" + (" without 'past'" if self.past is None else "")
            remedy = (
                "give a plain series and its 'past', or Observations by ds.observe.delays(signal, past, inputs=...)"
            )
            raise ValueError(refusal("inputs", self.inputs, rule, remedy, of))
        if self.past is not None and isinstance(X, Observations):
            self._refuse_other_windows(X)
            self.past_ = X.past
        if not plain_data:
            X = self.in_order(X) if len(names) else X
            return as_observations(X, z, isinstance(self.density, Kernels), fitting=True)
        _refuse_outcomes(z)
        numbers = True if isinstance(self.density, Kernels) else None
        plain = plain_series(X, numbers, self.inputs, names)
        past = self.past_ if more and self._is_auto() else self._chosen_past(plain)
        obs = observed_series(plain, past, self.future, self.inputs)[0]
        self.past_ = past
        return obs

    def _is_auto(self) -> bool:
        return isinstance(self.past, str) and self.past == "auto"

    def _given_past(self) -> int:
        of = type(self).__name__
        return integer(self.past, "past", remedy="try past='auto', or None for Observations", of=of)

    def _chosen_past(self, plain: PlainSeries) -> int:
        """The past, as it is given or as the data choose it."""
        if not self._is_auto():
            return self._given_past()
        if not plain.numbers:
            return best_window(plain.parts, sequences=True)
        known = plain.dates and [calendar(dates, self.inputs) for dates in plain.dates]
        density = self.density if isinstance(self.density, Kernels) else None
        return best_past(plain.parts, density, future=self.future, inputs=known)

    def _refuse_other_windows(self, obs: Observations) -> None:
        """Refuse observations of other windows than those that are asked for; "auto" takes those that were chosen."""
        if not obs.has_suffixes or (obs.past if self._is_auto() else self.past, self.future) != (obs.past, obs.future):
            raise ValueError(
                f"The 'past' is {self.past} and the 'future' {self.future}, and 'X' is a {obs.kind} that was observed "
                f"with past {obs.past} and future {obs.future}: leave them out, or give the plain series."
            )


def _refuse_outcomes(z: Any) -> None:
    if z is not None:
        raise ValueError(
            "The 'z' are given with 'past', by which a series has its own outcomes: leave one of them out."
        )


def step_machine(causal: CausalModel) -> EpsilonMachine | None:
    """The machine whose states are those of fitted causal states, or None where the observations have no symbols."""
    return causal._found.machine


def own_places(causal: CausalModel) -> tuple[Floats, Ints]:
    """See `ByEvidence.own_places`, of states that were found by evidence."""
    evidence = causal._found.evidence
    assert isinstance(evidence, ByEvidence)
    return evidence.own_places()


def known_states(causal: CausalModel, obs: Observations, labels: Ints, sure: float) -> Ints:
    """(n,) state of each observation where the label (n_states,) of its state is believed so much, else -1.

    States of counts are known or not; those of numbers have borders, where the data hardly tell one from another.
    """
    if causal.labeller_ is None:
        return causal.states_.labels[obs.x] if obs is causal.observations_ else causal.predict(obs)
    return causal.labeller_.known(causal._points_of(obs), labels, sure)[obs.x]
