"""What estimators accept: observations, or arrays of x and z."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.observations import Observations
from ..data.pairs import pairs, vectors

__all__ = ["as_observations", "at_rows", "points_of"]


def as_observations(X: Any, z: Any, numbers: bool = False, fitting: bool = False) -> Observations:
    """X itself, or pairs of rows of X and outcomes z (all alike where only x matters); `numbers` for kernels."""
    if isinstance(X, Observations):
        if z is not None:
            raise ValueError("The 'z' are given together with Observations, which hold them already: leave 'z' out.")
        return X
    if hasattr(X, "toarray"):
        raise ValueError(
            f"The 'X' is a sparse {type(X).__name__}; sparse data are not supported, x must be rows of a dense array: "
            "use X.toarray()."
        )
    if not hasattr(X, "__len__") or len(X) == 0:
        raise ValueError(
            f"The 'X' is {type(X).__name__} of 0 sample(s) while a minimum of 1 is required: give one row for each "
            "observation."
        )
    if np.iscomplexobj(X):
        raise ValueError(f"Complex data not supported: the 'X' is {type(X).__name__} of them; give real numbers.")
    if len(np.shape(X)) == 2 and 0 in np.shape(X):
        raise ValueError(
            f"The 'X' has 0 feature(s) (shape={np.shape(X)}) while a minimum of 1 is required: give one column or more."
        )
    if getattr(getattr(X, "dtype", None), "kind", "") == "O" and len(np.shape(X)) == 2:
        X = np.asarray(X, float)
    if numbers:
        return vectors(X, np.zeros(len(X), np.int64) if z is None and fitting else z)
    return pairs(X, np.zeros(len(X), np.int64) if z is None else z)


def points_of(obs: Observations, d: int) -> NDArray[Any]:
    """(n_x, d) the distinct x as vectors of numbers."""
    points = getattr(obs, "points", None)
    if points is None:
        points = np.array([obs.letters[k] for k in obs.words(np.arange(obs.table().n_x))[:, 0]])
        points = points.reshape(len(points), -1)
    if points.dtype.kind not in "biuf" or points.shape[1] != d:
        raise ValueError(
            f"The 'X' have {points.shape[1]} columns of type {points.dtype} and those of fit {d}; new x must be "
            "numbers of the same dimension: give the same columns."
        )
    return points


def at_rows(values: NDArray[Any], obs: Observations, missing: Any) -> NDArray[Any]:
    """Values of pairs back at the places of their rows."""
    result = np.full((obs.shape[0], *values.shape[1:]), missing, values.dtype)
    result[obs.site] = values
    return result
