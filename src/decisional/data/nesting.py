"""How light cones are nested, and how far the observations of a field are independent of each other.

A past cone holds those of fewer rows, and a future cone its centre, its first row, and so on. Futures of neighbouring
cells share cells, and regions of a field may differ: what that does to the evidence is counted beside the counts of
(x, z), in integers that add up over slices.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from .._kernels import key_numbers as kernels
from ..support.arrays import Ints
from . import keys
from .vocabularies import Words

# One independent observation.
UNIT = 1 << 20


class Nesting(NamedTuple):
    """Which cells of the words x and z make up the cones inside them.

    Attributes
    ----------
    past : how many first cells of x each of its sub-cones has, x itself the last
    future : how many first cells of z each of its rows ends at
    centre : place of the middle cell of the first row of z, None where there is nothing beside it
    cells : of the field that z is made of
    """

    past: tuple[int, ...]
    future: tuple[int, ...]
    centre: int | None
    cells: int

    def sub_cones(self, x: Words) -> list[Ints]:
        """For each depth, (n_x,) the number of the sub-cone of each x, in the order of the x."""
        return _prefixes(x, self.past)

    def levels(self, z: Words) -> list[Ints]:
        """For each nested future, (n_z,) the number of what it is in each z: the centre if there is more in its row."""
        rows = _prefixes(z, self.future)
        if self.centre is None:
            return rows
        middle = z.words(kind=np.min_scalar_type(len(z.letters)))[:, self.centre]
        return [np.unique(middle, return_inverse=True)[1], *rows]


def _prefixes(words: Words, sizes: tuple[int, ...]) -> list[Ints]:
    shared = words.shared()
    return [np.cumsum((shared < size) | (np.arange(shared.size) == 0)) - 1 for size in sizes]


@dataclass(frozen=True, eq=False)
class Dependence:
    """What counts of (x, z) do not tell about the dependence of observations.

    Attributes
    ----------
    nesting : of the cones
    apart : for each depth, (n_sub_cones,) the sum over the occurrences of a sub-cone of 1 / k, in units of 1 / UNIT, k
        being the number of occurrences, itself among them, whose futures share a cell with its own. So many at least
        share none at all
    n_regions : parts of space that are counted apart
    regional : (x * n_z + z) * n_regions + region of what occurs, increasing, and how often
    """

    nesting: Nesting
    apart: tuple[Ints, ...]
    n_regions: int
    regional: keys.Counted

    def moved(self, old: Words, new: Words, x: Ints, z: Ints, n_z: int) -> "Dependence":
        """The same for another vocabulary: x (n_old,) and z are the new places of both, -1 = gone."""
        kept = np.flatnonzero(x >= 0)
        apart = []
        for before, after, value in zip(
            self.nesting.sub_cones(old), self.nesting.sub_cones(new), self.apart, strict=True
        ):
            found = np.zeros(int(after[-1]) + 1 if after.size else 0, np.int64)
            found[after[x[kept]]] = value[before[kept]]
            apart.append(found)
        pair, region = np.divmod(self.regional[0], self.n_regions)
        kernels.renumber_pairs(pair, x, z, n_z, pair)
        key = pair * self.n_regions + region
        order = slice(None) if (np.diff(key) > 0).all() else np.argsort(key)
        return Dependence(self.nesting, tuple(apart), self.n_regions, (key[order], self.regional[1][order]))

    def added(self, other: "Dependence") -> "Dependence":
        """That of both, for the same vocabulary."""
        apart = tuple(a + b for a, b in zip(self.apart, other.apart, strict=True))
        return Dependence(self.nesting, apart, self.n_regions, keys.add(self.regional, other.regional))
