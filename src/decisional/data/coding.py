"""How the cells of cones become words: letters as they are, and numbers by the nearest of nested centres.

A `Coder` is learnt from some cones (`states.cone_coder`). It has no more than a few filters and centres, so that cones
of numbers are coded as they are met, and never stored.
"""

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from typing import Any

import numpy as np

from .._kernels import cone_codes as kernels
from ..support.arrays import Floats, Ints
from . import cones, keys
from .nesting import Nesting
from .vocabularies import Words, pack

# Numbers of a field in memory are told apart up to multiples of this, to find patterns that only move.
SIGNED = (1 << 31) - 19


@dataclass(frozen=True, eq=False)
class Quantiser:
    """Codes of vectors: the nearest centre, and the nested groups of centres that it belongs to.

    Attributes
    ----------
    shift, scale : (d,) what is taken from a vector, and what it is then multiplied with
    filters : (d, r) linear filters whose r sums are coded, r = 0 where it is the vector itself
    centres : (k, r) or (k, d)
    words : (k, depth) group of each centre at each level, groups inside groups; the last one has the centre alone
    """

    shift: Floats
    scale: Floats
    filters: Floats
    centres: Floats
    words: Ints

    @property
    def depth(self) -> int:
        """Letters of a word."""
        return int(self.words.shape[1])

    def seen(self, vectors: Floats) -> Floats:
        """(n, r) what is coded of vectors (n, d)."""
        values = (vectors - self.shift) * self.scale
        return np.ascontiguousarray(values @ self.filters if self.filters.shape[1] else values)

    def numbers(self, vectors: Floats) -> Ints:
        """(n,) the nearest centre to each of vectors (n, d)."""
        codes = np.empty(len(vectors), np.int64)
        kernels.code_vectors(self.seen(vectors), self.centres, codes)
        return codes

    def on_grid(self, grid: cones.Grid, offsets: Ints) -> Ints:
        """The nearest centre to the cells at some offsets from each place of a grid."""
        codes = np.empty(grid.shape, np.min_scalar_type(len(self.centres)))
        space = self.shift, self.scale, self.filters, self.centres
        kernels.code_cones(grid.cells, offsets, *space, codes)
        return codes


@dataclass(frozen=True, eq=False)
class Letters:
    """Cells that are letters: a cone is the word of them.

    Attributes
    ----------
    letters : in order; cells are codes of them
    cone : the cells of x and z
    """

    letters: tuple[Hashable, ...]
    cone: cones.LightCone

    @property
    def nesting(self) -> Nesting:
        """Of the cones inside others."""
        return self.cone.nesting

    @property
    def made(self) -> tuple[Hashable, ...]:
        """How x and z are made."""
        cone = self.cone
        shapes = cone.past.tobytes(), cone.future.tobytes()
        return "light cones", len(cone.past), len(cone.future), cone.boundary, cone.transitions, *shapes

    def past(self, block: cones.Grid) -> tuple[Ints, Words]:
        """The number of each x of a block, and the words of these numbers."""
        return self._numbered(block, self.cone.past)

    def future(self, block: cones.Grid) -> tuple[Ints, Words]:
        """The number of each z of a block, and the words of these numbers."""
        return self._numbered(block, self.cone.future)

    def _numbered(self, block: cones.Grid, offsets: Ints) -> tuple[Ints, Words]:
        number, found = cones.number_cones(block, offsets, len(self.letters))
        return number, Words(self.letters, len(offsets), found)

    def signed(self, cells: Any) -> Ints:
        """Cells as integers that do not depend on what other letters there are."""
        numbers = [int(letter) % SIGNED + 1 for letter in self.letters]  # type: ignore[call-overload]
        found: Ints = np.array(numbers, np.int32)[cells]
        return found


@dataclass(frozen=True, eq=False)
class Coder:
    """Cells that are numbers: a past cone is the word of its nested codes, a future cone those of two quantisers.

    Attributes
    ----------
    cone : the cells of x and z
    variables : numbers in a cell
    x, z, centre : quantisers of the past cone, of the future cone, and of the middle cell of its first row
    values : (n_z, n_centre, variables) mean of the middle cell for each pair of codes of z and centre
    """

    cone: cones.LightCone
    variables: int
    x: Quantiser
    z: Quantiser
    centre: Quantiser
    values: Floats

    @cached_property
    def letters(self) -> tuple[int, ...]:
        """Numbers of groups."""
        return tuple(range(max(int(part.words.max()) for part in (self.x, self.z, self.centre)) + 1))

    @property
    def nesting(self) -> Nesting:
        """Groups inside groups, and that of the middle cell beside the code of the whole future."""
        depths = tuple(range(1, self.x.depth + 1))
        single = len(self.cone.future) == 1
        return Nesting(depths, (self.z.depth,), None if single else self.z.depth, len(self.cone.future))

    @cached_property
    def made(self) -> tuple[Hashable, ...]:
        """How x and z are made, with what tells the codes of one coder from those of another."""
        digest = blake2b(digest_size=8)
        for quantiser in (self.x, self.z, self.centre):
            for part in (quantiser.shift, quantiser.scale, quantiser.filters, quantiser.centres, quantiser.words):
                digest.update(np.ascontiguousarray(part).tobytes())
        return "codes", digest.hexdigest(), *Letters((), self.cone).made, self.variables

    def check(self, cone: cones.LightCone, variables: int) -> None:
        """Refuse other cones than those that it was made for."""
        if (Letters((), cone).made, variables) != (Letters((), self.cone).made, self.variables):
            raise ValueError(
                f"The observations are light cones of {len(cone.past)} and {len(cone.future)} cells with {variables} "
                f"numbers each, and those of fit of {len(self.cone.past)} and {len(self.cone.future)} cells with "
                f"{self.variables}; both must be made alike: observe with the same parameters."
            )

    def past(self, block: cones.Grid) -> tuple[Ints, Words]:
        """As that of `Letters`."""
        return self._numbered(block, [(self.x, self.cone.past)])

    def future(self, block: cones.Grid) -> tuple[Ints, Words]:
        """As that of `Letters`."""
        return self._numbered(block, [(self.z, self.cone.future), (self.centre, self.cone.middle)])

    def _numbered(self, block: cones.Grid, parts: list[tuple[Quantiser, Ints]]) -> tuple[Ints, Words]:
        base, width, codes = len(self.letters), 0, np.zeros(1, np.int64)
        for quantiser, offsets in parts:
            own = quantiser.on_grid(block, cones.stacked(offsets, block))
            codes = codes * base**quantiser.depth + pack(quantiser.words, base)[:, 0][own]
            width += quantiser.depth
        number, found = keys.number(block.picked(codes), base**width)
        return number, Words(self.letters, width, found[:, None].astype(np.int64))

    def spelled(self, z: Words) -> list[Any]:
        """The value of the middle cell that each z stands for: a number, or a tuple of one for each variable."""
        words = z.words()
        # The last letter of a word is that of a single centre.
        values = self.values[words[:, self.z.depth - 1], words[:, -1]]
        return values[:, 0].tolist() if self.variables == 1 else list(map(tuple, values.tolist()))

    def signed(self, cells: Any) -> Ints:
        """As that of `Letters`: the bits of numbers."""
        bits = np.ascontiguousarray(cells + 0.0).view(np.dtype(f"u{cells.dtype.itemsize}"))
        found: Ints = (bits % np.asarray(SIGNED, bits.dtype) + np.asarray(1, bits.dtype)).astype(np.int32)
        return found


Coding = Letters | Coder
