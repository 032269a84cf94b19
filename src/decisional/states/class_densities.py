"""P(Z|x) of several classes of series at once, any series of which can be left out.

Observations of all classes share their scales and widths. Kernels around what is asked are added up over blocks, those
of each class and fold, so that a series is judged by the folds that it is not in, at no further cost. Where a class has
seen nothing similar it says what all classes say together, and so nothing for or against itself.
"""

from collections import defaultdict
from typing import Any, NamedTuple, Self

import numpy as np

from .._kernels.block_sums import block_sums
from ..support.arrays import Floats, Ints
from .bandwidths import Sample, likeliest
from .scales import Scale, evenly, lattice, robust, scattered

# Observations that choose the widths, that answer, and that are asked of a series, at most.
CHOOSING, ANSWERING, ASKED = 2000, 8000, 200
# Mass of kernels at which half of what a class says counts, and share of values that are like none before.
GUARD, ODD = 0.1, 0.01


def blended(mass: Floats, near: Floats, blind: Floats, left_out: int) -> tuple[Floats, Floats]:
    """(m,) densities of all classes together and (m, k) of each, in bits, without one of the folds.

    Parameters
    ----------
    mass, near : (m, k, f) weights of what is alike in each class and fold, and the part of them with such a z
    blind : (m,) densities where nothing is known
    left_out : a fold, or -1
    """
    kept = np.arange(mass.shape[2]) != left_out
    mass, near = mass[:, :, kept].sum(axis=2), near[:, :, kept].sum(axis=2)
    together = _mixed(mass.sum(axis=1), near.sum(axis=1), blind, blind)
    each = _mixed(mass, near, together[:, None], blind[:, None])
    return np.log2(together), np.log2(each)


def _mixed(mass: Floats, near: Floats, otherwise: Floats, blind: Floats) -> Floats:
    mixed: Floats = (1.0 - ODD) * (near + GUARD * otherwise) / (mass + GUARD) + ODD * blind
    return mixed


class ClassDensities(NamedTuple):
    """Densities of one number given others.

    Attributes
    ----------
    x_scale, z_scale : in which all is
    width, z_width : (d,) of x, and of z
    x, z : (d, n) in widths, (n,) those that answer, in blocks
    start : (k * f + 1,) where each block begins
    shape : numbers of classes and of folds
    """

    x_scale: Scale
    z_scale: Scale
    width: Floats
    z_width: float
    x: Floats
    z: Floats
    start: Ints
    shape: tuple[int, int]

    @classmethod
    def of(cls, x: Floats, z: Floats, block: Ints, shape: tuple[int, int]) -> Self:
        """Of observations (n, d), (n,) in blocks, which are classes times folds. Cost: that of a choice of widths."""
        x_scale, z_scale = robust(x), robust(z[:, None])
        x, z = x_scale.tame(x), z_scale.tame(z[:, None])
        some, place = scattered(np.arange(len(z)), CHOOSING), np.arange(len(z))
        least = np.array([0.5 * lattice(z[:, 0])])
        sample = Sample(len(z), place, place, place, x, z, False, x_scale, z_scale, least).of(some)
        width, z_width = likeliest(sample, cost=0.5 * np.log(len(z)) / len(z))
        some = scattered(place, ANSWERING)
        some = some[np.argsort(block[some], kind="stable")]
        start = np.searchsorted(block[some], np.arange(shape[0] * shape[1] + 1))
        answering = np.ascontiguousarray((x[some] / width).T)
        return cls(x_scale, z_scale, width, z_width, answering, z[some, 0], start, shape)

    def bits(self, x: Floats, z: Floats, left_out: int) -> tuple[Floats, Floats]:
        """(m,) log2 densities of z in scales given x by all classes together, (m, k) by each, for some of the rows."""
        rows = evenly(len(z), ASKED)
        q, at = self.x_scale.tame(x[rows]) / self.width, self.z_scale.tame(z[rows, None])[:, 0]
        mass, near = np.empty((2, at.size, self.start.size - 1))
        block_sums(np.ascontiguousarray(q), at, self.x, self.z, self.z_width, self.start, mass, near)
        # Student's t with three degrees of freedom.
        blind = 2.0 / (np.pi * np.sqrt(3.0) * (1.0 + at * at / 3.0) ** 2)
        shape = (at.size, *self.shape)
        return blended(mass.reshape(shape), near.reshape(shape), blind, left_out)


class ClassCounts(NamedTuple):
    """Probabilities of the next symbol given a word.

    Attributes
    ----------
    counts : for each word those of the symbols that followed, (k * f,) for each block
    n_symbols : how many there are
    shape : numbers of classes and of folds
    """

    counts: dict[Any, dict[Any, Floats]]
    n_symbols: int
    shape: tuple[int, int]

    @classmethod
    def of(cls, x: list[Any], z: list[Any], block: Ints, shape: tuple[int, int]) -> Self:
        """Of n words and the symbols that follow them, in blocks. Cost: O(n)."""
        size = shape[0] * shape[1]
        counts: dict[Any, dict[Any, Floats]] = defaultdict(lambda: defaultdict(lambda: np.zeros(size)))
        for word, symbol, b in zip(x, z, block.tolist(), strict=True):
            counts[word][symbol][b] += 1.0
        # Without the functions that make new ones, which cannot be pickled.
        return cls({word: dict(found) for word, found in counts.items()}, len(set(z)), shape)

    def bits(self, x: list[Any], z: list[Any], left_out: int) -> tuple[Floats, Floats]:
        """(m,) log2 probabilities of the symbols z after words x by all classes together, and (m, k) by each."""
        none = np.zeros(self.shape[0] * self.shape[1])
        found = [self.counts.get(word, {}) for word in x]
        near = np.array([after.get(symbol, none) for after, symbol in zip(found, z, strict=True)])
        mass = np.array([sum(after.values(), none) for after in found])
        shape = (len(x), *self.shape)
        blind = np.full(len(x), 1.0 / (self.n_symbols + 1.0))
        return blended(mass.reshape(shape), near.reshape(shape), blind, left_out)
