"""Utilities U(y, z): what predicting y is worth when z happens. As a table, a callable or a loss."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..data.alphabet import Lookup
from ..support.arrays import Floats
from .optima import Optimum, Slack, exhaustive
from .values import as_array, listed, some

__all__ = ["Utility", "as_utility", "loss", "table"]


class Utility(ABC):
    """U(y, z), with the candidates y.

    Parameters
    ----------
    y : the predictions to choose from, observed or not; by default the outcomes, or all numbers where there is a
        closed form
    """

    def __init__(self, y: Iterable[Hashable] | None = None) -> None:
        self.y = None if y is None else listed(y, "y")
        if self.y is not None and not self.y:
            raise ValueError("The 'y' of a utility are empty; there must be a prediction to choose: give candidates.")

    def __repr__(self) -> str:
        given = {name: value for name, value in vars(self).items() if value is not None}
        return f"{type(self).__name__.strip('_')}({', '.join(f'{k}={v!r}' for k, v in given.items())})"

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
        """Best predictions for distributions p (K, n_z), by comparing all candidates."""
        candidates = self.candidates(outcomes)
        return exhaustive(p, self.matrix(candidates, outcomes), candidates, slack)


class _Table(Utility):
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
    matrix : (n_y, n_z) finite numbers
    y : n_y predictions; by default the outcomes z if the table is square, else 0, 1, ...
    z : n_z outcomes; by default those of the data, in their order

    Examples
    --------
    >>> table([[0, -1], [-2, 1]], z=["rain", "sun"]).matrix(["sun"], ["rain", "sun"])
    array([[-2.,  1.]])
    """
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
    try:
        values = np.array(matrix, float)
    except (TypeError, ValueError):
        raise ValueError(
            f"The 'matrix' of the utility is {matrix!r}; it must be a table of numbers with rows of one length: "
            "give U[y][z]."
        ) from None
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
    return _Function(utility, y) if callable(utility) else table(utility, y)


def loss(loss: Any, y: Iterable[Hashable] | None = None, z: Iterable[Hashable] | None = None) -> Utility:
    """Minus a loss: a table of losses (see `table`), or a callable L(y, z) that broadcasts over arrays."""
    if callable(loss):
        return _Function(loss, y, -1.0)
    return table(-_checked_values(loss), y, z)
