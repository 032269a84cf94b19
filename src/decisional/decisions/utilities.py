"""Utilities U(y, z): what predicting y is worth when z happens.

A table, a callable or a loss; or one of those whose best predictions are known in closed form: `zero_one`,
`squared_error`, `absolute_error`, `tolerant`, `matching_cells`. With candidates y all of these are compared instead.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..data.alphabet import Lookup
from ..data.fields import Outcomes
from ..data.frames import is_frame, labelled
from ..data.pairs import LARGEST
from ..support.arguments import as_table, real, refusal, shown
from ..support.arrays import Floats
from .predictions import Intervals, ListedSets, Optimum, Points, Slack, exhaustive, like, mean_of


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
        return Optimum(-mean_of(p, apart), slack.error(_variance(smooth, apart)), points)


def _means(p: Floats, z: Floats, slack: Slack) -> Optimum:
    """The mean vectors, for outcomes z (n_z, d)."""
    origin = z.mean(axis=0)
    z = z - origin
    mean, smooth = p @ z, slack.smooth(p)
    apart = (z**2).sum(axis=1) - 2.0 * mean @ z.T + (mean**2).sum(axis=1, keepdims=True)
    spread = slack.error(smooth @ z**2 - 2.0 * mean * (smooth @ z) + mean**2)
    points = Points(list((mean + origin)[:, None]), list(spread[:, None]))
    return Optimum(-np.maximum(mean_of(p, apart), 0.0), slack.error(_variance(smooth, apart)), points)


def _variance(p: Floats, values: Floats) -> Floats:
    """(K,) variance of values (K, n_z) under distributions p."""
    return mean_of(p, values**2) - mean_of(p, values) ** 2


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
        bend = bend[order]
        doubt = slack.atol + slack.level * slack.error(np.ones(len(p)))[:, None]
        low = bend[np.argmax(slope >= -doubt, axis=1)]
        # Rounding may leave the last slope just below 1.
        rising = slope > np.minimum(doubt, 1.0 - 1e-9)
        high = bend[np.argmax(rising, axis=1)]
        # Anywhere between these two the expected loss is the same.
        ends = [bend[np.argmax(slope >= edge, axis=1)] for edge in (-1e-9, 1e-9)]
        centre = 0.5 * (ends[0] + ends[1])
        cost = np.maximum(np.abs(centre[:, None] - z) - self.tolerance, 0.0)
        error = slack.error(_variance(slack.smooth(p), cost))
        return Optimum(-mean_of(p, cost), error, Intervals(low, high, centre, np.zeros(len(p))))


def tolerant(tau: float, y: Iterable[float] | None = None) -> Utility:
    """-max(0, abs(y - z) - tau): errors up to tau cost nothing; Y is an interval of numbers."""
    return _Tolerant(tau, y)


def absolute_error(y: Iterable[float] | None = None) -> Utility:
    """-abs(y - z): Y is the interval of medians."""
    return _Tolerant(0.0, y)


class _MatchingCells(Utility):
    maker = "matching_cells"

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

    def closed_form(self, p: Floats, outcomes: Sequence[Any], slack: Slack) -> Optimum:
        values, code = np.unique(cells(outcomes), return_inverse=True)
        code = code.reshape(len(outcomes), -1)
        shape = (len(p), code.shape[1], values.size)
        # 1 where an outcome has a value in a cell: sums over outcomes become one product.
        has = (code[:, :, None] == np.arange(values.size)).reshape(len(outcomes), -1).astype(float)
        share, smooth = (p @ has).reshape(shape), (slack.smooth(p) @ has).reshape(shape)
        top = share.max(axis=2, keepdims=True)
        first = share.argmax(axis=2)[:, :, None]
        mode = np.take_along_axis(smooth, first, axis=2)
        apart = slack.error(mode + smooth - (mode - smooth) ** 2)
        member = (top - share <= slack.atol + slack.level * apart) & (smooth > 0.0)
        error: Floats = np.zeros(len(p))
        if slack.n is not None:
            right = (first == np.arange(values.size)).reshape(len(p), -1).astype(float) @ has.T
            error = slack.error(_variance(slack.smooth(p), right))
        sets = ListedSets(values.tolist(), member, first[:, :, 0], like(outcomes[0]))
        return Optimum(top[:, :, 0].sum(axis=1), error, sets)


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
