"""Configurations that are vectors of numbers: data that hardly ever repeat exactly."""

from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

from ..support.arrays import Ints
from .numbered import Numbered
from .tally import Tally, count_of, listed, scalars, tuples, values_of
from .vocabularies import Points, Vocabulary, distinct_rows

__all__ = ["Vectors"]


class Vectors(Numbered):
    """Pairs (x, z) of vectors of numbers.

    Parameters
    ----------
    x : (n, d) numbers
    z : (n,) or (n, k) numbers; or the numbers of `outcomes`, which are no numbers themselves
    site : (n,) flat position of each observation on the grid of `shape`
    successor : (n,) index of the next observation, -1 = none; or None
    outcomes : what z can be, if these are kinds rather than numbers
    beyond : see `Numbered`

    Attributes
    ----------
    points : (n_x, d) the distinct x
    targets : (n_z, k) the distinct z, as numbers, or None; `outcomes` has them as values or tuples
    """

    letters = ()
    alphabet = None

    targets: NDArray[Any] | None

    def __init__(
        self,
        x: NDArray[Any],
        z: NDArray[Any],
        site: Ints,
        shape: tuple[int, ...],
        successor: Ints | None = None,
        outcomes: Sequence[Any] | None = None,
        beyond: int = 0,
    ) -> None:
        self.past = x.shape[1]
        self.points, number = distinct_rows(x)
        self.targets, self._single = None, z.ndim == 1
        if outcomes is None:
            self.targets, z = distinct_rows(z[:, None] if self._single else z)
            outcomes = (scalars if self._single else tuples)(Points(self.targets))
        super().__init__(number, z, outcomes, None, successor, site, shape, beyond)

    @property
    def _n_x(self) -> int:
        return len(self.points)

    def words(self, rows: Ints) -> NDArray[Any]:
        return self.points[rows]

    def tally(self) -> Tally:
        z: Vocabulary = values_of(self._outcomes) if self.targets is None else Points(self.targets)
        spell = listed if self.targets is None else scalars if self._single else tuples
        return count_of(("vectors",), Points(self.points), z, self.table(), spell)
