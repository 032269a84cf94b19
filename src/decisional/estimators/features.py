"""Complexities as features of whole series, for classifiers."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, TransformerMixin

from ..data.frames import array_of, columns_of, is_frame, unwrapped
from ..data.series import series as symbol_series
from ..data.signals import delays
from ..decisions.decisional_model import DecisionalModel
from ..decisions.utilities import squared_error, zero_one
from ..machines import chains
from ..states.causal_model import CausalModel
from ..states.distributions import Counts
from ..states.kernels import Kernels
from ..states.state_model import refuse_ragged
from ..support.arguments import integer
from ..support.arrays import Floats

# Whole numbers and fractions are of one kind.
NUMBERS = str.maketrans("biu", "fff")
NAMES = ("C", "D", "P", "V", "h", "U")


class ComplexityFeatures(TransformerMixin, BaseEstimator):
    """From series to complexities, one row per series: C, D, P, V, h and U.

    C, D, P and V are the statistical, decisional, prediction and utility complexities in bits, h the mean entropy of z
    given the state in bits, and U the expected utility. The states of each series are those of its own data.

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

    Examples
    --------
    >>> import decisional as ds
    >>> rng = np.random.default_rng(0)
    >>> series = [ds.processes.even().simulate(2000, rng), rng.integers(0, 2, 2000)]
    >>> ComplexityFeatures(past=5).fit_transform(series)[:, 0].round(1)
    array([1.4, 0. ])
    """

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

    def fit(self, X: Any, y: Any = None) -> Self:
        """Check the series; there is nothing to learn."""
        self.n_series_in_ = len(_series(X))
        return self

    def transform(self, X: Any) -> Floats:
        """(n_series, 6) features of each series, a list of sequences or an array with one per row."""
        return np.array([self._features(series) for series in _series(X)])

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Names of the columns."""
        return np.array(NAMES, object)

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # Series of any kind and length, each of which is observed on its own.
        tags.requires_fit, tags.no_validation = False, True
        return tags

    def _features(self, series: Any) -> list[float]:
        from ..states.matching import Bhattacharyya, GTest

        integer(self.step, "step", of="ComplexityFeatures")
        distance, test = Bhattacharyya(self.threshold), GTest(self.alpha)
        for match in (distance, test):
            # Both are looked at, whichever these series need.
            match.level(1)
        how: dict[str, Any]
        if _is_numeric(series):
            values = np.asarray(series, float)
            spread = np.nanstd(values, axis=0)
            values = (values - np.nanmean(values, axis=0)) / np.where(spread > 0, spread, 1.0)
            obs: Any = delays(values, self.past, self.future, self.step)
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


def _is_numeric(series: Any) -> bool:
    """Whether a series is of numbers, some with fractions, rather than of symbols."""
    if isinstance(series, (str, bytes)):
        return False
    values = np.asarray(series)
    return values.dtype.kind == "f" and bool((values[np.isfinite(values)] % 1 != 0).any())


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
