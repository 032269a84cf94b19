"""CausalStates: from observations to causal states and the epsilon-machine."""

from concurrent.futures import Executor
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from .._kernels import words as kernels
from .._kernels.gather import gather
from ..data.observations import Observations
from ..data.slices import Sliced
from ..data.tally import Tallied
from ..states import clustering, complexity, matching
from ..states import reconstruct as algorithm
from ..states.counts import Counts
from ..states.determinism import CONSTRAINTS
from ..states.kernels import Kernels
from ..support.arrays import Floats, Ints
from ..support.display import html_of
from ..support.executors import map_slices, slices
from .display import Displayed
from .inputs import as_observations, at_rows, points_of

__all__ = ["CausalStates"]

# Rows of distinct x that are looked up at once.
BLOCK = 1 << 16
UNKNOWN = -2
# What fit leaves besides the attributes that end in "_".
FITTED = ("_tally", "_result", "_kernels", "_match", "_contexts", "_by_row")


class CausalStates(Displayed):
    """Group the x with the same P(Z|x) into causal states, and link them into an epsilon-machine.

    Parameters
    ----------
    density : estimator of P(Z|x): `Counts()`, `Kernels()`; None picks by data: kernels where x has numbers
    match : when two distributions are the same: None (`GTest()` for counts, `Bhattacharyya()` for kernels), "exact",
        `ChiSquare(alpha)`, a distance such as `Variational(threshold)`, or a callable of two count vectors
    cluster : None or "aggregate", "connect", or a callable of (densities, match)
    theta : share above which the most frequent target of a (state, symbol) stands for all, in (0.5, 1]
    passes : how often "aggregate" visits the data
    random_state : seed for clusterings that visit the data at random
    constraints : what symbols do to the states: "evidence" (split where that shortens the description of the
        data, which only a series can tell), "paper" (split and merge as in section 5.5) or "none"; see `determinism`

    Attributes
    ----------
    n_states_ : number of causal states, transient ones included
    states_ : Partition of the distinct x
    labels_ : (n,) state of each observation (of each row of X for fit(X, z): -1 where a value is missing)
    distributions_ : (n_states, n_outcomes) P(Z|state); columns are `outcomes_`
    machine_ : EpsilonMachine, or None where the observations have no symbols
    graph_ : TransitionGraph of the observed transitions, or None
    complexity_ : C in bits over all states; `recurrent_complexity_` of the recurrent ones, by
        the machine's stationary distribution
    local_complexity_ : (n,) C at each observation; its mean is `complexity_`
    converged_ : whether every (state, symbol) of the machine leads to one state, up to theta
    unresolved_ : the (state, symbol, share of the most frequent target) for which it does not
    observations_ : what was fitted

    Examples
    --------
    >>> import decisional as ds
    >>> symbols = ds.processes.even().simulate(10_000, rng=1)
    >>> causal = CausalStates().fit(ds.observe.series(symbols, past=5))
    >>> causal.machine_.recurrent_part().is_isomorphic(ds.processes.even(), atol=0.05)
    True
    """

    def __init__(
        self,
        density: Any = None,
        match: Any = None,
        cluster: Any = None,
        theta: float = 0.95,
        passes: int = 1,
        random_state: Any = None,
        constraints: str = "evidence",
    ) -> None:
        self.density = density
        self.match = match
        self.cluster = cluster
        self.theta = theta
        self.passes = passes
        self.random_state = random_state
        self.constraints = constraints

    def fit(self, X: Any, z: Any = None, executor: Executor | None = None) -> Self:
        """Find the causal states of observations, or of pairs (X, z).

        Parameters
        ----------
        X : Observations; or (n, d) numbers or (n,) values, one configuration x per row
        z : (n,) outcomes, with arrays only
        executor : where slices of the data are counted: any concurrent.futures executor, default threads
        """
        self._check_parameters()
        obs = as_observations(X, z, isinstance(self.density, Kernels), fitting=True)
        if isinstance(obs, Sliced):
            obs.check_memory()
        obs.table(executor)
        self._forget()
        self._reconstruct(obs, executor)
        self._note_rows(X)
        return self

    def partial_fit(self, X: Any, z: Any = None, executor: Executor | None = None) -> Self:
        """Add the counts of more observations; the states are found when they are next asked for.

        The result is that of `fit` on all observations together, bit for bit, in whatever order these come. For
        slices of a long series or a field, the pieces of `ds.observe.series(..., chunks=...)` hold what their windows
        reach beyond them: give `obs.pieces()` one by one. Only counts are kept: `labels_` need the data.

        Parameters are those of `fit`.
        """
        self._check_parameters()
        obs = as_observations(X, z, isinstance(self.density, Kernels), fitting=True)
        obs.table(executor)
        return self._add(obs.tally(), X)

    def merge(self, other: "CausalStates") -> Self:
        """Add the counts of other causal states, of observations made alike, and keep the parameters of self."""
        return self._add(other._counts(), None)

    def _add(self, tally: Any, X: Any) -> Self:
        known = self._counts() if "_tally" in vars(self) or "observations_" in vars(self) else None
        whole = tally if known is None else known.merge(tally)
        self._forget()
        self._tally = whole
        self._note_rows(X)
        self._by_row = False
        return self

    def _counts(self) -> Any:
        if "_tally" in vars(self):
            return self._tally
        check_is_fitted(self, "states_")
        return self.observations_.tally()

    def _forget(self) -> None:
        """Drop all that was fitted."""
        for name in [name for name in vars(self) if name in FITTED or (name.endswith("_") and name[0] != "_")]:
            del self.__dict__[name]

    def __getattr__(self, name: str) -> Any:
        # After partial_fit and merge, the states are found when the first of their attributes is asked for.
        if "_tally" not in self.__dict__ or name.startswith("__") or not name.endswith("_") or "_result" in vars(self):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        self._reconstruct(Tallied(self._tally), None)
        return getattr(self, name)

    def _note_rows(self, X: Any) -> None:
        """Remember whether, and how, an array was fitted."""
        self._by_row = X is not None and not isinstance(X, Observations)
        if self._by_row and np.ndim(X) == 2:
            self.n_features_in_ = np.shape(X)[1]

    def _reconstruct(self, obs: Observations, executor: Executor | None) -> None:
        continuous = hasattr(obs, "points")
        density = self.density if self.density is not None else Kernels() if continuous else Counts()
        self._kernels = density.model(obs) if isinstance(density, Kernels) else None
        self._match = matching.resolve(self.match, "kernels" if self._kernels is not None else "counts")
        counted = self._kernels is None or self._kernels.counts
        if isinstance(self._match, matching.TwoSampleTest) and not counted:
            raise ValueError(
                f"The 'match' is {self._match!r} and the 'density' {density!r}; a test needs counts and kernel sums "
                "are none: use a distance such as ds.Bhattacharyya()."
            )
        result = algorithm.reconstruct(
            obs,
            density if self._kernels is None else self._kernels,
            self._match,
            clustering.resolve(self.cluster, self.passes, self.random_state),
            self.theta,
            self.constraints,
            executor,
        )
        self.observations_ = obs
        self._result = result
        self.states_ = result.states
        self.n_states_ = result.states.n_states
        self.distributions_ = result.distributions
        self.outcomes_ = result.outcomes
        self.machine_, self.graph_ = result.machine, result.graph
        self.unresolved_ = result.unresolved
        self.converged_ = not result.unresolved
        self.complexity_ = complexity.global_complexity(result.states)
        self.recurrent_complexity_ = (
            self.complexity_ if self.machine_ is None else self.machine_.statistical_complexity()
        )

    @cached_property
    def labels_(self) -> Ints:
        check_is_fitted(self, "states_")
        return self.at_observations(self.states_.labels, -1)

    @cached_property
    def local_complexity_(self) -> Floats:
        check_is_fitted(self, "states_")
        return self.at_observations(complexity.local_complexity(self.states_), np.nan)

    def at_observations(self, values: NDArray[Any], missing: Any) -> NDArray[Any]:
        """Values of each distinct x at each observation of `fit`, or at each row of X, `missing` where it had none."""
        x = self.observations_.x
        values = values.astype(np.int32) if values.dtype.kind == "i" else values
        result = np.empty(x.size, values.dtype)

        def fill(part: tuple[int, int]) -> None:
            gather(values, x[slice(*part)], result[slice(*part)])

        for _ in map_slices(fill, slices(x.size)):
            pass
        return at_rows(result, self.observations_, missing) if self._by_row else result

    def predict(self, X: Any) -> Ints:
        """(n,) state of each observation; in a series, that of the longest ending of its x that was seen in `fit`.

        -1 where nothing is known of x. Cost: O(n) and O(past log n_rows) for each distinct x.
        """
        check_is_fitted(self, "states_")
        obs = self._observed(X)
        states = self.states_of(obs)[obs.x]
        return states if isinstance(X, Observations) else at_rows(states, obs, -1)

    def predict_proba(self, X: Any) -> Floats:
        """(n, n_outcomes) P(Z|state) of each observation, with kernels P(Z|x) itself; NaN where the state is -1."""
        check_is_fitted(self, "states_")
        if self._kernels is not None:
            obs = self._observed(X)
            p = self._densities_at(obs)[obs.x]
            return p if isinstance(X, Observations) else at_rows(p, obs, np.nan)
        unknown = np.full((1, self.distributions_.shape[1]), np.nan)
        return np.concatenate([self.distributions_, unknown])[self.predict(X)]

    def score(self, X: Any, z: Any = None) -> float:
        """Mean of log2 p(z|state), in bits per observation, over observations with a known state.

        An outcome that never followed a state counts as seen once in one more observation. With kernels it is the
        density of z given x itself, and all observations count; see `Kernels`.
        """
        check_is_fitted(self, "states_")
        obs = self._observed(X, z)
        if self._kernels is not None:
            return self._kernels.score(self._densities_at(obs)[obs.x], obs)
        states = self.states_of(obs)[obs.x]
        column = {outcome: k for k, outcome in enumerate(self.outcomes_)}
        number = np.array([column.get(outcome, -1) for outcome in obs.outcomes])[obs.z]
        seen = self.states_.probability * self.observations_.n
        p = np.column_stack([self.distributions_, np.zeros(self.n_states_)])
        p = np.maximum(p, 1.0 / (seen[:, None] + 1.0))
        known = states >= 0
        if not known.any():
            raise ValueError(
                f"None of the {obs.n} observations has a known state; at least one must end like the data of fit: "
                "check that both use the same symbols."
            )
        return float(np.log2(p[states[known], number[known]]).mean())

    def _observed(self, X: Any, z: Any = None) -> Observations:
        """New X, or pairs with z, as `fit` read its own."""
        d = getattr(self, "n_features_in_", None)
        shape: tuple[int, ...] = () if isinstance(X, Observations) or hasattr(X, "toarray") else np.shape(X)
        if d is not None and len(shape) in (1, 2) and shape[1:] != (d,):
            given = f"X has {shape[1]} features" if len(shape) == 2 else "X has one dimension"
            raise ValueError(
                f"{given}, but CausalStates is expecting {d} features as input, those of fit. Reshape your data to (n, "
                f"{d})."
            )
        return as_observations(X, z, self._kernels is not None)

    def states_of(self, obs: Observations) -> Ints:
        """(n_x,) state of each distinct x of other observations, -1 = not known."""
        if self._kernels is not None:
            return self._nearest_states(self._densities_at(obs))
        fitted, contexts = self.observations_, self._contexts
        if obs.past < fitted.past:
            raise ValueError(
                f"The observations have a past of {obs.past} and those of fit one of {fitted.past}; x must be at "
                f"least as long: observe with past={fitted.past}."
            )
        code = {letter: k for k, letter in enumerate(fitted.letters)}
        codes = np.array([code.get(letter, UNKNOWN) for letter in obs.letters])
        n_x = obs.table().n_x
        states = np.empty(n_x, np.int64)
        for begin in range(0, n_x, BLOCK):
            rows = np.arange(begin, min(begin + BLOCK, n_x))
            words = codes[obs.words(rows)[:, : fitted.past]]
            low, high, length = (np.empty(rows.size, np.int64) for _ in range(3))
            kernels.longest_suffix(words, contexts, low, high, length)
            states[rows] = self._decide(words, low, high, length)
        return states

    def _densities_at(self, obs: Observations) -> Floats:
        """(n_x, n_outcomes) kernel estimate at each distinct x, NaN where no observation of `fit` is near."""
        assert self._kernels is not None
        sums = self._kernels(points_of(obs, self.observations_.past))
        total = sums.sum(axis=1, keepdims=True, dtype=float)
        with np.errstate(invalid="ignore"):
            p: Floats = np.where(total > 0, sums / total, np.nan)
        return p

    def _nearest_states(self, p: Floats) -> Ints:
        """State whose distribution is the nearest by the Bhattacharyya distance, -1 where there is no estimate."""
        states = np.full(len(p), -1, np.int64)
        roots = np.sqrt(self.distributions_).T
        for begin in range(0, len(p), BLOCK // 16):
            part = slice(begin, begin + BLOCK // 16)
            known = ~np.isnan(p[part, 0])
            states[part][known] = (np.sqrt(p[part][known]) @ roots).argmax(axis=1)
        return states

    def _decide(self, words: Ints, low: Ints, high: Ints, length: Ints) -> Ints:
        """State of the context that ends a word, or the most frequent one among those that share its ending."""
        contexts, row_states, weight = self._contexts, self._result.row_states, self._result.densities.weight
        past = contexts.shape[1]
        whole = (length == past) | (contexts[low, np.minimum(length, past - 1)] == -1)
        states = np.where(whole, row_states[low], -1)
        if not self.observations_.has_suffixes:
            return states
        for a, b in {(int(a), int(b)) for a, b in zip(low[~whole], high[~whole], strict=True)}:
            mass = np.bincount(row_states[a:b], weights=weight[a:b])
            states[~whole & (low == a) & (high == b)] = int(mass.argmax())
        nothing = (length == 0) & (~whole | (words[:, 0] == UNKNOWN))
        return np.where(nothing, -1, states)

    @cached_property
    def _contexts(self) -> Ints:
        """(n_rows, past) words of the fitted rows, most recent first, -1 beyond their depth."""
        densities = self._result.densities
        words = self.observations_.words(densities.member)
        words[np.arange(words.shape[1]) >= densities.depth[:, None]] = -1
        return words

    def _result_html(self) -> str:
        return html_of("causal states", self)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def _check_parameters(self) -> None:
        if not isinstance(self.theta, (int, float, np.number)) or not 0.5 < self.theta <= 1:
            raise ValueError(
                f"The 'theta' parameter of CausalStates must be a float in (0.5, 1]. Got {self.theta!r} instead."
            )
        if not isinstance(self.passes, (int, np.integer)) or self.passes < 1:
            raise ValueError(
                f"The 'passes' parameter of CausalStates must be an integer of at least 1. Got {self.passes!r} instead."
            )
        if self.constraints not in CONSTRAINTS:
            raise ValueError(
                f"The 'constraints' parameter of CausalStates must be one of {', '.join(map(repr, CONSTRAINTS))}. "
                f"Got {self.constraints!r} instead."
            )
        if self.density is not None and not hasattr(self.density, "estimate"):
            raise ValueError(
                f"The 'density' parameter of CausalStates must be None or an estimator such as ds.Counts(). "
                f"Got {self.density!r} instead."
            )
