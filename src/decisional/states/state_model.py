"""What models of states and densities have in common: parameters by name; what `fit` accepts, the refusal before it."""

from collections.abc import Sized
from inspect import signature
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ..data.observations import Observations
from ..data.pairs import pairs, vectors
from ..support.display import html_of


class NotFitted(ValueError, AttributeError):
    """A result is asked for before `fit`."""


class Parameters:
    """The parameters are the arguments of `__init__`, kept as they are given; `fit` checks them."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """All parameters by name."""
        return {name: getattr(self, name) for name in signature(type(self)).parameters}

    def __repr__(self) -> str:
        default = {name: parameter.default for name, parameter in signature(type(self)).parameters.items()}
        given = {name: value for name, value in self.get_params().items() if not _same(value, default[name])}
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in given.items())})"


def _same(a: Any, b: Any) -> bool:
    return a is b or (type(a) is type(b) and bool(np.array_equal(a, b)))


class DensityParameters(Parameters):
    """Base of density estimators: dataclasses that scikit-learn can copy and search over; equal if all parameters are.

    >>> from decisional import Kernels
    >>> Kernels(1.5).set_params(samples=100)
    Kernels(bandwidth=1.5, samples=100)
    """

    def set_params(self, **parameters: Any) -> Self:
        """Change parameters by name."""
        known = self.get_params()
        for name, value in parameters.items():
            if name not in known:
                kind = type(self).__name__
                raise ValueError(f"{kind} has no parameter {name!r}; it must be one of {', '.join(known)}: choose one.")
            setattr(self, name, value)
        return self

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        theirs = other.get_params()
        return all(_same(value, theirs[name]) for name, value in self.get_params().items())

    def __hash__(self) -> int:
        # Arrays are no keys: equal estimators have equal types at least.
        return hash(type(self))


class StateModel(Parameters):
    """Base of `CausalModel` and `DecisionalModel`."""

    # What it is to `support.display`.
    _kind: str
    # What is raised before `fit`; the estimators raise that of scikit-learn.
    _not_fitted: type[ValueError] = NotFitted

    def _repr_html_(self) -> str | None:
        return html_of(self._kind, self) if self.is_fitted() else None

    def is_fitted(self) -> bool:
        """Whether there are states."""
        return False

    def check_fitted(self) -> None:
        """Refuse a model without states."""
        if not self.is_fitted():
            raise self._not_fitted(
                f"This {type(self).__name__} instance is not fitted yet: call 'fit' before asking for its results."
            )


def as_observations(X: Any, z: Any, numbers: bool = False, fitting: bool = False) -> Observations:
    """X itself, or pairs of rows of X and outcomes z (all alike where only x matters); `numbers` for kernels."""
    if isinstance(X, Observations):
        if z is not None:
            raise ValueError("The 'z' are given together with Observations, which hold them already: leave 'z' out.")
        return X
    refuse_sparse(X)
    if (len(X) if isinstance(X, Sized) else 0) == 0:
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
    if isinstance(X, np.ndarray) and X.dtype.kind == "O" and X.ndim == 2:
        X = np.asarray(X, float)
    if numbers:
        return vectors(X, np.zeros(len(X), np.int64) if z is None and fitting else z)
    return pairs(X, np.zeros(len(X), np.int64) if z is None else z)


def refuse_sparse(X: Any) -> None:
    """Refuse sparse matrices."""
    from scipy.sparse import issparse

    if issparse(X):
        raise ValueError(
            f"The 'X' is a sparse {type(X).__name__}; sparse data are not supported, x must be rows of a dense array: "
            "use X.toarray()."
        )


def at_rows(values: NDArray[Any], obs: Observations, missing: Any) -> NDArray[Any]:
    """Values of pairs back at the places of their rows."""
    result = np.full((obs.shape[0], *values.shape[1:]), missing, values.dtype)
    result[obs.site] = values
    return result
