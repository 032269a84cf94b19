"""Complexities as features of whole series, for classifiers."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.multiclass import type_of_target

from ..data.frames import array_of, columns_of, is_frame, unwrapped
from ..data.pairs import floats
from ..data.series import series as symbol_series
from ..data.signals import delays
from ..decisions.decisional_model import DecisionalModel
from ..decisions.utilities import squared_error, zero_one
from ..machines import chains
from ..states.causal_model import CausalModel
from ..states.distributions import Counts
from ..states.kernels import Kernels
from ..states.state_model import refuse_ragged
from ..support.arguments import flag, integer, refusal
from ..support.arrays import Floats
from ..support.progress import Progress, counted, tell, told
from .class_evidence import ClassEvidence, class_evidence, standard

# Whole numbers and fractions are of one kind.
NUMBERS = str.maketrans("biu", "fff")
NAMES = ("C", "D", "P", "V", "h", "U")
LEVELS = ("level", "spread")
# Whole numbers of more different values are not symbols.
SYMBOLS = 50


class ComplexityFeatures(TransformerMixin, BaseEstimator):
    """From series to features, one row per series: complexities, and with labels what the classes say about it.

    Without labels the features are C, D, P, V, h and U of each series on its own. C, D, P and V are the statistical,
    decisional, prediction and utility complexities in bits, h the mean entropy of z given the state in bits, and U the
    expected utility. The states of each series are those of its own data; of several variables, each has its own.

    Where `fit` has labels y, the training series share models, and there are more features: the level and the spread
    of each variable, where these are numbers; the surprise of the series, its mean, standard deviation and maximum in
    bits, by models of all training series together; and for each class by how many bits per value it is ahead of the
    best other class, which is how much likelier the series is by the model of that class. There are three models of
    numbers: what to expect at each "place" of the series, after the "past" values, and after two values so far apart
    that half is forgotten between them ("slow"), all three of series in their own standard deviations; and two of
    symbols: "anyway", and after the "past". A training series is judged by other series alone: its fold is left out,
    in `transform` too. With labels that are all the same there are no leads, and with numbers to be predicted neither.

    Parameters
    ----------
    utility : U(y, z); None is squared error for numbers and 0/1 for symbols
    past, future, step : of `observe.delays` for numbers, of `observe.series` for symbols (without step)
    bandwidth : of `Kernels`, in standard deviations of each series; "nearest", "rule" or "cv"
    threshold : of the Bhattacharyya distance between densities of one state
    alpha : of the test between the counts of one state, for symbols
    delta : gap between iso-utility states and between predictions, see DecisionalStates; 0.05 by default for numbers,
        whose utilities would otherwise all differ
    passes : how often clustering visits the data
    shared : whether series with labels share models; False gives the complexities of each series on its own alone
    progress : True for a bar, or a function that is called with a line of text at each step

    Attributes
    ----------
    evidence_ : what the training series share; None without labels
    n_variables_in_ : of each series; 1 for symbols

    Notes
    -----
    Cost: about 10 ms a series of 100 to 1,000 values for the complexities, and with labels 0.5 to 2 s for each
    variable in `fit`, and up to 50 ms for each series and variable in `transform`.

    Examples
    --------
    >>> import decisional as ds
    >>> rng = np.random.default_rng(0)
    >>> series = [ds.processes.even().simulate(2000, rng), rng.integers(0, 2, 2000)]
    >>> ComplexityFeatures(past=5).fit_transform(series)[:, 0].round(1)
    array([1.4, 0. ])
    """

    # Complexities of each series on its own need no fit.
    evidence_: ClassEvidence | None = None
    n_variables_in_: int | None = None
    _axis = 1

    def __init__(
        self,
        utility: Any = None,
        past: int = 3,
        future: int = 1,
        step: int = 1,
        bandwidth: Any = "rule",
        threshold: float = 0.05,
        alpha: float = 0.01,
        delta: float | None = None,
        passes: int = 1,
        shared: bool = True,
        progress: Progress = None,
    ) -> None:
        self.utility = utility
        self.past = past
        self.future = future
        self.step = step
        self.bandwidth = bandwidth
        self.threshold = threshold
        self.alpha = alpha
        self.delta = delta
        self.passes = passes
        self.shared = shared
        self.progress = progress

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn what series share, where they have labels y (n_series,); without these there is nothing to learn."""
        series = _series(X)
        self.n_series_in_ = len(series)
        self._numeric = _are_numbers(series)
        variables, self._axis = _variables(series, self._numeric)
        self.n_variables_in_ = len(variables[0])
        self.evidence_ = None
        if flag(self.shared, "shared", of="ComplexityFeatures") and y is not None:
            labels = _labels(y, len(series))
            past, step = (
                integer(value, name, of="ComplexityFeatures")
                for name, value in (("past", self.past), ("step", self.step))
            )
            with told(self.progress):
                self.evidence_ = class_evidence(_plain(variables, self._numeric), labels, self._numeric, past, step)
        return self

    def transform(self, X: Any) -> Floats:
        """(n_series, n_features) features of each series, a list of sequences or an array with one per row.

        Series of several variables are (times, variables) or (variables, times): variables are as many in all series,
        or where times are too, the fewer ones.
        """
        series, evidence = _series(X), self.evidence_
        numeric = _are_numbers(series) if evidence is None else self._numeric
        variables, _ = _variables(series, numeric, self.n_variables_in_, self._axis)
        found = ([self._features(values, numeric) for values in one] for one in variables)
        with told(self.progress):
            own: Floats = np.array(list(counted(found, "complexities", len(variables), "series")))
            if evidence is None:
                return own.reshape(len(own), -1)
            tell("evidence of classes")
            statistics, leads = evidence.rows(_plain(variables, numeric))
        levels = [np.array([[_level(values) for values in one] for one in variables])] if numeric else []
        return np.column_stack([np.concatenate([own, *levels, statistics], axis=2).reshape(len(own), -1), leads])

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Names of the columns; those of one of several variables end with its number."""
        each, evidence = [*NAMES], self.evidence_
        leads: list[str] = []
        if evidence is not None:
            statistics, leads = evidence.names
            each += [*(LEVELS if self._numeric else ()), *statistics]
        n = self.n_variables_in_ or 1
        each = each if n == 1 else [f"{name}_{v}" for v in range(n) for name in each]
        return np.array([*each, *leads], object)

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # Series of any kind and length, each of which is observed on its own.
        tags.requires_fit, tags.no_validation = False, True
        return tags

    def _features(self, series: Any, numeric: bool) -> list[float]:
        from ..states.matching import Bhattacharyya, GTest

        integer(self.step, "step", of="ComplexityFeatures")
        distance, test = Bhattacharyya(self.threshold), GTest(self.alpha)
        for match in (distance, test):
            # Both are looked at, whichever these series need.
            match.level(1)
        how: dict[str, Any]
        if numeric:
            obs: Any = delays(standard(series), self.past, self.future, self.step)
            how = {"density": Kernels(self.bandwidth), "match": distance}
            worth, delta = squared_error() if self.utility is None else self.utility, 0.05
        else:
            obs = symbol_series(series, self.past, self.future)
            how = {"density": Counts(), "match": test}
            worth, delta = zero_one() if self.utility is None else self.utility, None
        causal = CausalModel(passes=self.passes, **how).fit(obs)
        choice = DecisionalModel(worth, delta=delta if self.delta is None else self.delta).fit(causal)
        h = causal.states_.probability @ chains.entropy(causal.distributions_)
        complexities = choice.complexity_, choice.prediction_complexity_, choice.utility_complexity_
        return [causal.complexity_, *complexities, float(h), choice.expected_utility_]


def _are_numbers(series: Sequence[Any]) -> bool:
    """Whether series are of numbers, some with fractions or very many different ones, rather than of symbols."""
    if any(isinstance(one, (str, bytes)) for one in series):
        return False
    arrays = [np.asarray(one) for one in series]
    if not all(values.dtype.kind in "iuf" for values in arrays):
        return False
    known = np.concatenate([values[np.isfinite(values)].ravel() for values in arrays])
    return bool((known % 1 != 0).any()) or np.unique(known).size > SYMBOLS


def _variables(
    series: Sequence[Any], numeric: bool, n: int | None = None, axis: int = 1
) -> tuple[list[list[Any]], int]:
    """The variables of each series of numbers, and their axis; or series of symbols as they are.

    Variables are along the axis that is as long in all series, or n where that is known; where both are, along the
    shorter one, or `axis`.
    """
    if not numeric:
        return [[one] for one in series], axis
    rule = "has values that are not numbers, and other series have: give numbers."
    arrays = [floats(one, f"X[{k}]", f"The 'X[{k}]' {rule}") for k, one in enumerate(series)]
    arrays = [values[:, None] if values.ndim == 1 else values for values in arrays]
    for k, values in enumerate(arrays):
        if values.ndim > 2:
            raise ValueError(
                f"The 'X[{k}]' has shape {values.shape}; it must have one value or one row of values for each time: "
                "reshape it to (T,) or (T, m)."
            )
    sizes = {of: {values.shape[of] for values in arrays} for of in (axis, 1 - axis)}
    known = [of for of, size in sizes.items() if (len(size) == 1 if n is None else size == {n})]
    if not known:
        found = sorted(min(sizes.values(), key=max))
        what = "the same" if n is None else f"{n}, as those of fit"
        raise ValueError(f"The 'X' has series of {found} variables; all must have {what}: select variables.")
    of = min(known, key=lambda one: min(sizes[one]))
    return [list(values.T if of else values) for values in arrays], of


def _plain(variables: list[list[Any]], numeric: bool) -> list[list[Any]]:
    """Arrays of numbers as they are, or symbols as lists of them."""
    return variables if numeric else [[_symbols(one) for one in series] for series in variables]


def _symbols(series: Any) -> list[Any]:
    values = series if isinstance(series, (str, bytes)) else np.asarray(series).tolist()
    return [tuple(row) if isinstance(row, list) else row for row in values]


def _level(values: Floats) -> tuple[float, float]:
    """Mean and standard deviation of what is known."""
    return float(np.nanmean(values)), float(np.nanstd(values))


def _labels(y: Any, n: int) -> NDArray[Any]:
    """(n,) labels of classes; all the same where y are numbers to be predicted."""
    labels = np.asarray(y)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.shape != (n,):
        raise ValueError(refusal("y", y, f"a label for each of {n} series", "give as many", of="ComplexityFeatures"))
    return np.zeros(n) if type_of_target(labels) == "continuous" else labels


def _rows(data: Any, parameter: str) -> NDArray[Any]:
    """The rows of a frame, each of them a series, whose columns must be of one kind; or the values of a series."""
    if not is_frame(data) or len(columns_of(data)) == 1:
        return array_of(data, parameter)
    kinds = {np.asarray(data[name]).dtype.kind.translate(NUMBERS) for name in columns_of(data)}
    if len(kinds) > 1:
        raise ValueError(
            f"The {parameter!r} is a frame whose columns are of several kinds; each row would be a series, of values "
            "of one kind: give a list of columns, or the groups of a groupby."
        )
    return np.column_stack([np.asarray(data[name]) for name in columns_of(data)])


def _series(X: Any) -> Sequence[Any]:
    if issparse(X):
        raise TypeError("The 'X' is a sparse matrix; ComplexityFeatures needs dense series: give X.toarray().")
    X = unwrapped(X, "X", _rows)[0]
    if not isinstance(X, (list, tuple, str, bytes)) and hasattr(X, "__array__"):
        X = np.asarray(X)
    several = (
        hasattr(X, "__getitem__")
        and hasattr(X, "__len__")
        and getattr(X, "ndim", None) != 0
        and not isinstance(X, (str, bytes))
        and len(X) > 0
    )
    if not several or not isinstance(X[0], (str, bytes, list, tuple, np.ndarray)):
        raise ValueError(
            f"The 'X' is {type(X).__name__}; ComplexityFeatures needs one or more series: give a list of sequences, "
            "or an array with one series per row."
        )
    for k, series in enumerate(X):
        refuse_ragged(series, f"X[{k}]")
    found: Sequence[Any] = X
    return found
