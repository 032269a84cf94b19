"""What lets scikit-learn copy a density estimator and search over its parameters."""

from dataclasses import fields
from typing import Any, Self

import numpy as np

__all__ = ["Parameters"]


class Parameters:
    """Base of dataclasses with `get_params` and `set_params`; equal if all parameters are.

    >>> from decisional import Kernels
    >>> Kernels(1.5).set_params(samples=100)
    Kernels(bandwidth=1.5, samples=100)
    """

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """All parameters by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]

    def set_params(self, **parameters: Any) -> Self:
        """Change parameters by name."""
        known = self.get_params()
        for name, value in parameters.items():
            if name not in known:
                raise ValueError(
                    f"{type(self).__name__} has no parameter {name!r}; it must be one of {', '.join(known)}: choose "
                    "one."
                )
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

    def __repr__(self) -> str:
        changed = [f for f in fields(self) if not _same(getattr(self, f.name), f.default)]  # type: ignore[arg-type]
        return f"{type(self).__name__}({', '.join(f'{f.name}={getattr(self, f.name)!r}' for f in changed)})"


def _same(a: Any, b: Any) -> bool:
    if a is b:
        return True
    return type(a) is type(b) and bool(np.array_equal(a, b))
