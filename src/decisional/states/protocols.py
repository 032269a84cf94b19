"""The functional inputs of the paper's figure, as types. Any object that fits can take their place."""

from concurrent.futures import Executor
from typing import Any, Protocol, runtime_checkable

from numpy.typing import NDArray

from ..data.observations import Observations
from ..support.arrays import Ints
from .distributions import Distributions

__all__ = ["Clustering", "DensityEstimator", "Match", "Measure"]


@runtime_checkable
class DensityEstimator(Protocol):
    """PDE: estimates P(Z|x) at each distinct x."""

    def estimate(self, obs: Observations, executor: Executor | None = None) -> Distributions: ...


class Match(Protocol):
    """Compares two distributions, given as counts over the outcomes.

    A negative or False answer means that they differ; otherwise larger is more alike.
    """

    def __call__(self, a: NDArray[Any], b: NDArray[Any], /) -> float | bool: ...


@runtime_checkable
class Measure(Protocol):
    """A match with a compiled similarity (see `_kernels.distances`): match if similarity > level(n)."""

    @property
    def metric(self) -> int: ...

    @property
    def checked(self) -> bool:
        """Whether rejections are confirmed with the mean of G under the null."""

    def level(self, n: int) -> float:
        """Similarity above which two distributions match, when n of them are compared."""


class Clustering(Protocol):
    """C1: labels the rows so that rows with matching distributions are together."""

    def __call__(self, densities: Distributions, match: Any, /) -> Ints: ...
