"""Utilities U(y, z): what predicting y is worth when z happens.

A table, a callable or a loss; or one of those whose best predictions are known in closed form: `zero_one`,
`squared_error`, `absolute_error`, `tolerant`, `newsvendor`, `interval_score`, `matching_cells`. With candidates y all
of these are compared instead. An `alarm` has two of them.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..data.alphabet import Lookup
from ..data.fields import Outcomes
from ..data.frames import is_frame, labelled
from ..data.pairs import LARGEST
from ..support.arguments import as_table, flag, real, refusal, shown
from ..support.arrays import Floats, Ints
from .predictions import Intervals, ListedSets, Optimum, Points, Slack, exhaustive, like, mean_of, variance_of


class Utility(ABC):
    """U(y, z), with the candidates y.

    Parameters
    ----------
    y : the predictions to choose from, observed or not; by default the outcomes, or all numbers where there is a
        closed form
    """

    # The function of `ds.utility` that makes it; None for utilities that are code of the user.
    maker: str | None = None
    # The attributes that it takes by place.
    _given: tuple[str, ...] = ()
    # Whether the closed form takes sparse distributions.
    sparse = False

    def __init__(self, y: Iterable[Hashable] | None = None) -> None:
        self.y = None if y is None else listed(y, "y")
        if self.y is not None and not self.y:
            raise ValueError("The 'y' of a utility are empty; there must be a prediction to choose: give candidates.")

    def __repr__(self) -> str:
        given = [repr(np.asarray(getattr(self, name)).tolist()) for name in self._given]
        named = {name: getattr(self, name, None) for name in ("y", "z")}
        given += [f"{name}={value!r}" for name, value in named.items() if value is not None]
        return f"{self.maker or type(self).__name__.strip('_')}({', '.join(given)})"

    def bound(self, outcomes: Sequence[Any]) -> "Utility":
        """The same utility, with the outcomes of the data for those that have no names yet."""
        return self

    @abstractmethod
    def matrix(self, y: Sequence[Any], z: Sequence[Any]) -> Floats:
        """U of each prediction (row) and outcome (column)."""

    def candidates(self, outcomes: Sequence[Any]) -> Sequence[Any]:
        """The predictions that are compared where all of them are."""
        return list(outcomes) if self.y is None else self.y

    def best(self, p: Floats, outcomes: Sequence[Any], slack: Slack) -> Optimum:
        """Best predictions for distributions p (K, n_z): in closed form, or by comparing all candidates."""
        found = self.closed_form(p, outcomes, slack) if self.y is None else None
        if found is not None:
            return found
        candidates = self.candidates(outcomes)
        return exhaustive(p, self.matrix(candidates, outcomes), candidates, slack)

    def closed_form(self, p: Floats, outcomes: Sequence[Any], slack: Slack) -> Optimum | None:
        """Best predictions among all there can be, where they are known."""
        return None


class _Table(Utility):
    maker, _given = "table", ("values",)

    def __init__(self, values: Floats, y: list[Hashable] | None, z: list[Hashable] | None) -> None:
        super().__init__(y)
        self.values, self.z = values, z

    def bound(self, outcomes: Sequence[Any]) -> "_Table":
        n_y, n_z = self.values.shape
        z = list(outcomes) if self.z is None else self.z
        if len(z) != n_z:
            raise ValueError(
                f"The 'matrix' of the utility has {n_z} columns and the data have {len(z)} outcomes ({some(z)}); there "
                "must be one column for each outcome: give a column per outcome, or name them with z=[...]."
            )
        default: list[Hashable] = z if n_y == n_z else list(range(n_y))
        return _Table(self.values, default if self.y is None else self.y, z)

    def matrix(self, y: Sequence[Any], z: Sequence[Any]) -> Floats:
        if self.y is None or self.z is None:
            return self.bound(z).matrix(y, z)
        return self.values[np.ix_(_places(y, self.y, "y"), _places(z, self.z, "z"))]


def table(matrix: ArrayLike, y: Iterable[Hashable] | None = None, z: Iterable[Hashable] | None = None) -> Utility:
    """Utility given as a table: matrix[i][j] is the worth of predicting y[i] when z[j] happens.

    Parameters
    ----------
    matrix : (n_y, n_z) finite numbers; or a frame, whose index has the predictions y and whose columns the outcomes z,
        where these have names (in polars and pyarrow, a first column of text has the predictions)
    y : n_y predictions; by default the outcomes z if the table is square, else 0, 1, ...
    z : n_z outcomes; by default those of the data, in their order

    Returns
    -------
    Utility
        For `DecisionalStates`.

    Examples
    --------
    >>> table([[0, -1], [-2, 1]], z=["rain", "sun"]).matrix(["sun"], ["rain", "sun"])
    array([[-2.,  1.]])
    """
    if is_frame(matrix):
        matrix, rows, columns = labelled(matrix)
        y, z = rows if y is None else y, columns if z is None else z
    values = _checked_values(matrix)
    named = [None if names is None else listed(names, name) for name, names in (("y", y), ("z", z))]
    for axis, (name, names) in enumerate(zip("yz", named, strict=True)):
        if names is not None and (len(names) != values.shape[axis] or len(set(names)) != len(names)):
            raise ValueError(
                f"The '{name}' are {len(names)} values ({some(names)}) and the 'matrix' of the utility has shape "
                f"{values.shape}; there must be {values.shape[axis]} different ones: give one for each "
                f"{'column' if axis else 'row'}."
            )
    return _Table(values, *named)


def _checked_values(matrix: ArrayLike) -> Floats:
    rule = "it must be a table of numbers with rows of one length: give U[y][z]."
    values = as_table(matrix, "matrix", rule, float).copy()
    if values.ndim != 2 or not values.size:
        raise ValueError(
            f"The 'matrix' of the utility has shape {values.shape}; it must have a row for each prediction and a "
            "column for each outcome: give U[y][z]."
        )
    if not np.isfinite(values).all():
        i, j = np.argwhere(~np.isfinite(values))[0]
        raise ValueError(
            f"The 'matrix' of the utility has {values[i, j]} in row {i}, column {j}; every utility must be a finite "
            "number: use a large negative one for what must not happen."
        )
    return values


def _places(values: Sequence[Any], known: Sequence[Any], name: str) -> list[int]:
    """Places of values among the known ones, or of those that print the same."""
    places = list(map(Lookup(known), values))
    if -1 in places:
        missing = values[places.index(-1)]
        raise ValueError(
            f"The '{name}' of the utility are {some(known)} and {missing!r} is asked for; every value of the data "
            f"must be among them: add it to '{name}'."
        )
    return places


class _Function(Utility):
    def __init__(self, function: Callable[..., Any], y: Iterable[Hashable] | None, sign: float = 1.0) -> None:
        super().__init__(y)
        self.function, self.sign = function, sign

    def matrix(self, y: Sequence[Any], z: Sequence[Any]) -> Floats:
        rows, columns = as_array(y)[:, None], as_array(z)[None]
        shape = (len(y), len(z))
        try:
            values = np.asarray(self.function(rows, columns), float)
        except Exception as error:
            raise ValueError(
                f"The 'utility' failed on arrays of {shape[0]} predictions and {shape[1]} outcomes "
                f"({type(error).__name__}: {error}); it must work elementwise: use numpy functions, or "
                "np.vectorize."
            ) from error
        if values.shape != shape:
            raise ValueError(
                f"The 'utility' gave shape {values.shape} for arrays of shapes {rows.shape} and {columns.shape}; it "
                f"must broadcast to {shape}: compute elementwise with numpy."
            )
        if not np.isfinite(values).all():
            i, j = np.argwhere(~np.isfinite(values))[0]
            raise ValueError(
                f"The 'utility' of predicting {y[i]!r} when {z[j]!r} happens is {values[i, j]}; every utility must "
                "be a finite number: use a large negative one for what must not happen."
            )
        return self.sign * values


def as_utility(utility: Any, y: Iterable[Hashable] | None = None) -> Utility:
    """Utilities as they are; a table or a callable U(y, z) that broadcasts over arrays as a utility."""
    if isinstance(utility, Utility):
        return utility
    if isinstance(utility, type) or getattr(utility, "__module__", None) == __name__:
        remedy = f"call {getattr(utility, '__name__', 'it')}(...)"
        raise ValueError(refusal("utility", utility, "a utility, a table or a function U(y, z)", remedy))
    return _Function(utility, y) if callable(utility) else table(utility, y)


def loss(loss: Any, y: Iterable[Hashable] | None = None, z: Iterable[Hashable] | None = None) -> Utility:
    """Minus a loss: a table of losses (see `table`), or a callable L(y, z) that broadcasts over arrays."""
    if callable(loss):
        return _Function(loss, y, -1.0)
    return table(-_checked_values(loss), y, z)


class _ZeroOne(Utility):
    maker = "zero_one"

    def matrix(self, y: Sequence[Any], z: Sequence[Any]) -> Floats:
        column = {value: j for j, value in enumerate(z)}
        values = np.zeros((len(y), len(z)))
        hits = [(i, column[value]) for i, value in enumerate(y) if value in column]
        if hits:
            values[tuple(np.array(hits).T)] = 1.0
        return values

    def closed_form(self, p: Floats, outcomes: Sequence[Any], slack: Slack) -> Optimum:
        top, smooth = p.max(axis=1, keepdims=True), slack.smooth(p)
        mode = np.take_along_axis(smooth, p.argmax(axis=1)[:, None], axis=1)
        apart = slack.error(mode + smooth - (mode - smooth) ** 2)
        member = (top - p <= slack.atol + slack.level * apart) & ((p > 0.0) | (smooth > 0.0))
        sets = ListedSets(list(outcomes), member, p.argmax(axis=1))
        return Optimum(top[:, 0], slack.error(mode * (1.0 - mode))[:, 0], sets)


def zero_one(y: Iterable[Hashable] | None = None) -> Utility:
    """1 for a prediction that comes true, else 0 (section 4.1): Y are the modes."""
    return _ZeroOne(y)


class _SquaredError(Utility):
    maker = "squared_error"

    def matrix(self, y: Sequence[Any], z: Sequence[Any]) -> Floats:
        apart = numbers(y, "squared_error")[:, None] - numbers(z, "squared_error")[None]
        return -(apart**2) if apart.ndim == 2 else -(apart**2).sum(axis=2)

    def closed_form(self, p: Floats, outcomes: Sequence[Any], slack: Slack) -> Optimum:
        z = numbers(outcomes, "squared_error")
        if z.ndim == 2:
            return _means(p, z, slack)
        mean, smooth = p @ z, slack.smooth(p)
        apart = (z - mean[:, None]) ** 2
        points = Intervals(mean, mean, mean, slack.error(mean_of(smooth, apart)))
        return Optimum(-mean_of(p, apart), slack.error(variance_of(smooth, apart)), points)


def _means(p: Floats, z: Floats, slack: Slack) -> Optimum:
    """The mean vectors, for outcomes z (n_z, d)."""
    origin = z.mean(axis=0)
    z = z - origin
    mean, smooth = p @ z, slack.smooth(p)
    apart, spread = np.zeros((len(p), len(z))), np.zeros_like(mean)
    for k, column in enumerate(z.T):
        squared = (column - mean[:, [k]]) ** 2
        apart += squared
        spread[:, k] = slack.error(mean_of(smooth, squared))
    points = Points(list((mean + origin)[:, None]), list(spread[:, None]))
    return Optimum(-mean_of(p, apart), slack.error(variance_of(smooth, apart)), points)


def squared_error(y: Iterable[float] | None = None) -> Utility:
    """-(y - z)² (section 4.2): Y is the mean, or the best of the candidates y; of vectors, their squared distance."""
    return _SquaredError(y)


class _Tolerant(Utility):
    maker, _given = "tolerant", ("tolerance",)

    def __init__(self, tolerance: float, y: Iterable[Hashable] | None) -> None:
        super().__init__(y)
        self.tolerance = real(tolerance, "tau", least=0, remedy="give the error that costs nothing", of="tolerant")

    def matrix(self, y: Sequence[Any], z: Sequence[Any]) -> Floats:
        apart = np.abs(numbers(y, "tolerant", 1)[:, None] - numbers(z, "tolerant", 1)[None])
        values: Floats = -np.maximum(apart - self.tolerance, 0.0)
        return values

    def closed_form(self, p: Floats, outcomes: Sequence[Any], slack: Slack) -> Optimum:
        # The expected loss is convex: its slope rises from -1 by p(z) at z - tau and again at z + tau.
        z = numbers(outcomes, "tolerant", 1)
        bend = np.concatenate([z - self.tolerance, z + self.tolerance])
        order = np.argsort(bend, kind="stable")
        slope = np.cumsum(np.concatenate([p, p], axis=1)[:, order], axis=1) - 1.0
        doubt = slack.atol + slack.level * slack.error(np.ones(len(p)))[:, None]
        low, high, centre = _lowest(bend[order], slope, doubt, 1.0)
        cost = np.maximum(np.abs(centre[:, None] - z) - self.tolerance, 0.0)
        error = slack.error(variance_of(slack.smooth(p), cost))
        return Optimum(-mean_of(p, cost), error, Intervals(low, high, centre, np.zeros(len(p))))


def _lowest(bend: Floats, slope: Floats, doubt: Any, steepest: float) -> tuple[Floats, Floats, Floats]:
    """Where K convex functions with straight pieces are lowest: from, to, and the middle of where they surely are.

    Parameters
    ----------
    bend, slope : (m,) places where the slope changes, in order, and (K, m) the slopes that follow
    doubt : (K, 1) slopes that are no different from 0
    steepest : the last slope, up to rounding
    """
    low = bend[np.argmax(slope >= -doubt, axis=1)]
    # Rounding may leave the last slope just below what it is.
    high = bend[np.argmax(slope > np.minimum(doubt, steepest * (1.0 - 1e-9)), axis=1)]
    # Anywhere between these two the function is the same.
    ends = [bend[np.argmax(slope >= edge, axis=1)] for edge in (-1e-9 * steepest, 1e-9 * steepest)]
    return low, high, 0.5 * (ends[0] + ends[1])


def tolerant(tau: float, y: Iterable[float] | None = None) -> Utility:
    """-max(0, abs(y - z) - tau): errors up to tau cost nothing; Y is an interval of numbers."""
    return _Tolerant(tau, y)


def absolute_error(y: Iterable[float] | None = None) -> Utility:
    """-abs(y - z): Y is the interval of medians."""
    return _Tolerant(0.0, y)


class _Newsvendor(Utility):
    maker, _given = "newsvendor", ("shortage", "surplus")

    def __init__(self, shortage: float, surplus: float, y: Iterable[Hashable] | None) -> None:
        super().__init__(y)
        cost = partial(real, above=0, remedy="give what one unit of it costs", of="newsvendor")
        self.shortage, self.surplus = cost(shortage, "shortage"), cost(surplus, "surplus")

    def matrix(self, y: Sequence[Any], z: Sequence[Any]) -> Floats:
        missing = numbers(z, "newsvendor", 1)[None] - numbers(y, "newsvendor", 1)[:, None]
        values: Floats = -np.maximum(self.shortage * missing, -self.surplus * missing)
        return values

    def closed_form(self, p: Floats, outcomes: Sequence[Any], slack: Slack) -> Optimum:
        z = numbers(outcomes, "newsvendor", 1)
        doubt = slack.atol + slack.level * slack.error(np.full(len(p), self.shortage * self.surplus))[:, None]
        low, high, centre = _quantiles(p, z, self.shortage, self.surplus, doubt)
        missing = z - centre[:, None]
        cost = np.maximum(self.shortage * missing, -self.surplus * missing)
        error = slack.error(variance_of(slack.smooth(p), cost))
        return Optimum(-mean_of(p, cost), error, Intervals(low, high, centre, np.zeros(len(p))))


def _quantiles(p: Floats, z: Floats, shortage: float, surplus: float, doubt: Any) -> tuple[Floats, Floats, Floats]:
    """Quantiles of order shortage / (shortage + surplus), as `_lowest` gives them: where the expected cost is."""
    order = np.argsort(z, kind="stable")
    # The slope rises from -shortage to surplus; its variance where it is 0 is the product of both.
    slope = (shortage + surplus) * np.cumsum(p[:, order], axis=1) - shortage
    return _lowest(z[order], slope, doubt, surplus)


def newsvendor(shortage: float, surplus: float, y: Iterable[float] | None = None) -> Utility:
    """-(shortage max(z - y, 0) + surplus max(y - z, 0)): too little and too much cost differently (pinball loss).

    Y is the interval of quantiles of order shortage / (shortage + surplus).

    Parameters
    ----------
    shortage, surplus : cost of each unit that is missing, and of each that is left over
    y : candidates; by default all numbers

    Returns
    -------
    Utility
        Whose Y are the quantiles of order shortage / (shortage + surplus).

    Examples
    --------
    >>> newsvendor(3, 1).matrix([10], [8, 12])
    array([[-2., -6.]])
    """
    return _Newsvendor(shortage, surplus, y)


class _IntervalScore(Utility):
    maker, _given = "interval_score", ("coverage",)

    def __init__(self, coverage: float, y: Iterable[Hashable] | None) -> None:
        super().__init__(y)
        self.coverage = real(coverage, "coverage", above=0, below=1, remedy="try coverage=0.9", of="interval_score")

    @property
    def _steepest(self) -> float:
        """Cost of each unit that z lies outside."""
        return 2.0 / (1.0 - self.coverage)

    def matrix(self, y: Sequence[Any], z: Sequence[Any]) -> Floats:
        ends = numbers(y, "interval_score")
        if ends.shape != (len(y), 2) or (ends[:, 0] > ends[:, 1]).any():
            raise ValueError(
                f"The 'y' of interval_score are like {y[0]!r}; they must be intervals (low, high) with low <= high: "
                "give pairs of numbers, or leave 'y' out."
            )
        return -self._cost(ends[:, [0]], ends[:, [1]], numbers(z, "interval_score", 1))

    def _cost(self, low: Floats, high: Floats, z: Floats) -> Floats:
        cost: Floats = high - low + self._steepest * (np.maximum(low - z, 0.0) + np.maximum(z - high, 0.0))
        return cost

    def closed_form(self, p: Floats, outcomes: Sequence[Any], slack: Slack) -> Optimum:
        z = numbers(outcomes, "interval_score", 1)
        # The cost is that of two newsvendors, one for each end.
        rare, common = 1.0, self._steepest - 1.0
        doubt = slack.error(np.full(len(p), rare * common))[:, None]
        ends = [_quantiles(p, z, *costs, doubt) for costs in ((rare, common), (common, rare))]
        low, high = (centre[:, None] for _, _, centre in ends)
        # A standard error as the quantiles have it one to each side.
        spread = np.column_stack([0.5 * (above - below) for below, above, _ in ends])
        cost = self._cost(low, high, z)
        points = Points(list(np.stack([low, high], axis=2)), list(spread[:, None]))
        return Optimum(-mean_of(p, cost), slack.error(variance_of(slack.smooth(p), cost)), points)


def interval_score(coverage: float = 0.9, y: Iterable[tuple[float, float]] | None = None) -> Utility:
    """Minus the width of an interval y = (low, high), and minus 2 / (1 - coverage) for each unit that z lies outside.

    Y are the central quantiles: the interval that holds z with probability `coverage`, as much above as below.

    Parameters
    ----------
    coverage : between 0 and 1
    y : candidates (low, high); by default all intervals

    Returns
    -------
    Utility
        Whose Y are the central intervals.

    Examples
    --------
    >>> interval_score(0.5).matrix([(0, 2)], [1, 3])
    array([[-2., -6.]])
    """
    return _IntervalScore(coverage, y)


class _Alarm(Utility):
    maker, _given = "alarm", ("threshold", "missed", "false", "below")
    y: list[Any]

    def __init__(self, threshold: float, missed: float, false: float, below: bool, y: Iterable[Hashable]) -> None:
        super().__init__(y)
        if y is None or len(self.y) != 2 or self.y[0] == self.y[1]:
            rule = "two different names, for no alarm and for an alarm"
            raise ValueError(refusal("y", self.y, rule, "try y=('quiet', 'alarm')", of="alarm"))
        self.threshold = real(threshold, "threshold", remedy="give the value above which one should know", of="alarm")
        cost = partial(real, above=0, remedy="give what it costs", of="alarm")
        self.missed, self.false = cost(missed, "missed"), cost(false, "false")
        self.below = flag(below, "below", of="alarm")

    def matrix(self, y: Sequence[Any], z: Sequence[Any]) -> Floats:
        values = numbers(z, "alarm", 1)
        happens = values < self.threshold if self.below else values > self.threshold
        return np.where([happens, ~happens], [[-self.missed], [-self.false]], 0.0)[_places(y, self.y, "y")]


def alarm(
    threshold: float, missed: float, false: float, below: bool = False, y: Iterable[Hashable] = ("quiet", "alarm")
) -> Utility:
    """-missed if z > threshold and no alarm was given, -false if there was one and z <= threshold, else 0.

    An alarm is best where z > threshold is more likely than false / (missed + false).

    Parameters
    ----------
    threshold : z beyond it is what one should be warned of
    missed, false : cost of an alarm that is missed, and of a false one
    below : warn of z < threshold instead
    y : names of the two predictions, that of no alarm first

    Returns
    -------
    Utility
        Whose predictions are "quiet" and "alarm".

    Examples
    --------
    >>> alarm(30, missed=10, false=1).matrix(["quiet", "alarm"], [25, 35])
    array([[  0., -10.],
           [ -1.,   0.]])
    """
    return _Alarm(threshold, missed, false, below, y)


class _MatchingCells(Utility):
    maker, sparse = "matching_cells", True

    def matrix(self, y: Sequence[Any], z: Sequence[Any]) -> Floats:
        a, b = cells(y), cells(z)
        if a.shape[1] != b.shape[1]:
            raise ValueError(
                f"The 'y' of matching_cells have {a.shape[1]} cells and the outcomes {b.shape[1]}; both must have "
                "the same: give candidates like the outcomes."
            )
        values: Floats = np.zeros((len(a), len(b)))
        for column, other in zip(a.T, b.T, strict=True):
            values += column[:, None] == other
        return values

    def closed_form(self, p: Any, outcomes: Sequence[Any], slack: Slack) -> Optimum:
        values, code = np.unique(cells(outcomes), return_inverse=True)
        code = code.reshape(len(outcomes), -1)
        K = p.shape[0]
        shape = (K, code.shape[1], values.size)
        # 1 where an outcome has a value in a cell: sums over outcomes become one product.
        has = (code[:, :, None] == np.arange(values.size)).reshape(len(outcomes), -1).astype(float)
        seen = p @ has
        prior = None if slack.prior is None else slack.prior @ has
        share, smooth = seen.reshape(shape), slack.smoothed(seen, prior).reshape(shape)
        top = share.max(axis=2, keepdims=True)
        first = share.argmax(axis=2)[:, :, None]
        mode = np.take_along_axis(smooth, first, axis=2)
        apart = slack.error(mode + smooth - (mode - smooth) ** 2)
        member = (top - share <= slack.atol + slack.level * apart) & (smooth > 0.0)
        error: Floats = np.zeros(K)
        if slack.n is not None:
            chosen = (first == np.arange(values.size)).reshape(K, -1).astype(float)
            square = slack.smoothed(_squares(p, code, first[:, :, 0]), _squares_of_all(slack.prior, has, chosen))
            error = slack.error(square - mode.sum(axis=(1, 2)) ** 2)
        sets = ListedSets(values.tolist(), member, first[:, :, 0], like(outcomes[0]))
        return Optimum(top[:, :, 0].sum(axis=1), error, sets)


def _squares(p: Any, code: Ints, first: Ints) -> Floats:
    """(K,) mean square of the number of cells of an outcome, codes (n_z, n_cells), that are as those chosen."""
    from scipy.sparse import csr_array

    rows = csr_array(p)
    square = np.zeros(rows.shape[0])
    for k, (begin, end) in enumerate(pairwise(rows.indptr.tolist())):
        right = (code[rows.indices[begin:end]] == first[k]).sum(axis=1)
        square[k] = rows.data[begin:end] @ right**2.0
    return square


def _squares_of_all(prior: Floats | None, has: Floats, chosen: Floats) -> Floats | None:
    """(K,) the same for outcomes of the prior, by how often two cells have some values together."""
    if prior is None:
        return None
    together = has.T @ (has * prior[:, None])
    found: Floats = np.einsum("kc,cd,kd->k", chosen, together, chosen, optimize=True)
    return found


def matching_cells(y: Iterable[Hashable] | None = None) -> Utility:
    """Number of cells predicted right (section 6.2): Y is the product of the most frequent values of each cell."""
    return _MatchingCells(y)


def as_array(values: Sequence[Any]) -> NDArray[Any]:
    """Values as (n,), or (n, d) where they are tuples of one length; of objects where numpy has no type for them."""
    try:
        array: NDArray[Any] = np.asarray(list(values))
        if len({type(v) for v in values}) == 1 or array.dtype.kind in "biuf":
            return array
    except ValueError:
        pass
    boxed = np.empty(len(values), object)
    boxed[:] = list(values)
    return boxed


def numbers(values: Sequence[Any], name: str, most: int = 2) -> Floats:
    """Values as numbers, (n,) or (n, d)."""
    array = as_array(values)
    known = array.dtype.kind in "biuf" and array.ndim <= most
    if not known or not (np.abs(array.astype(float)) <= LARGEST).all():
        raise ValueError(
            f"The 'y' or outcomes of {name} are like {values[0]!r}; they must be finite numbers of at most {LARGEST:g}"
            f"{'' if most == 1 else ' or tuples of them'}: convert the data, or use ds.utility.table."
        )
    return array.astype(float)


def cells(values: Sequence[Any]) -> NDArray[Any]:
    """Outcomes as (n, n_cells): tuples and text have a cell for each item, other values are one cell."""
    if isinstance(values, Outcomes):
        return values.cells.reshape(len(values), -1)
    text = all(isinstance(v, str) for v in values) and len({len(v) for v in values}) == 1
    try:
        array: NDArray[Any] = np.asarray([list(v) for v in values] if text else list(values))
    except ValueError:
        array = np.empty(len(values), object)
    if array.ndim not in (1, 2) or array.dtype.kind == "O":
        raise ValueError(
            f"The outcomes of matching_cells are like {values[0]!r}; they must be values or tuples of values of one "
            "length: observe light cones, or a series with future > 1."
        )
    return array.reshape(len(values), -1)


def listed(values: Any, name: str) -> list[Any]:
    """Predictions or outcomes of a utility as a list of hashable values."""
    try:
        found = list(values)
        hash(tuple(found))
    except TypeError:
        raise TypeError(
            f"The {name!r} of a utility are {shown(values)}; they must be hashable values: give a list of numbers, "
            "strings or tuples."
        ) from None
    return found


def some(values: Sequence[Any]) -> str:
    """The first values, for a message."""
    shown = ", ".join(map(repr, list(values)[:5]))
    return shown + (", ..." if len(values) > 5 else "")
