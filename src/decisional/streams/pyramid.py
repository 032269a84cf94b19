"""Pyramid: the time line of a stream of any length, in memory that does not grow.

Positions are counted in bins of 1, 4, 16, ... of them, and of each width the last bins are kept: the latest positions
one by one, all of a long stream in wide bins.
"""

from typing import NamedTuple

import numpy as np

from ..support.arrays import Floats, Ints

# Bins of each width, how much wider each is than the one before, and widths: 256 bins of 4 ** 16 hold 1e12 positions.
BINS, FACTOR, WIDTHS = 256, 4, 17
# Labels that are told apart; then the columns for all others, and for positions where nothing is known.
KINDS = 32
OTHER, NONE = KINDS, KINDS + 1
# Columns after those: what was worth how much, summed, and changes.
WORTH, CHANGED = KINDS + 2, KINDS + 3
COLUMNS = KINDS + 4


class LineBins(NamedTuple):
    """Bins of one width, in their order.

    Attributes
    ----------
    width : positions in a bin
    number : (n,) bins; bin k is about the positions from k * width on
    table : (n, COLUMNS) of each bin, the positions with each label, the sum of what they are worth, and changes
    """

    width: int
    number: Ints
    table: Floats


class Pyramid:
    """Bins of all widths.

    Attributes
    ----------
    begin, end : the first position, and the one after the last
    """

    def __init__(self, position: int = 0) -> None:
        self.begin = self.end = position
        # Sums of integers are exact in floats.
        self._table = np.zeros((WIDTHS, BINS, COLUMNS))
        self._number = np.full((WIDTHS, BINS), -1)

    def add(self, labels: Ints, worth: Floats, changed: Ints) -> None:
        """Take positions: their labels (n,), -1 = not known, what each is worth, and whether it brought a change.

        Cost: O(n) for one pass, and one over the last of them for each width that is narrow beside n.
        """
        n, first = labels.size, self.end
        if not n:
            return
        self.end += n
        kinds = np.where(labels < 0, NONE, np.minimum(labels, OTHER))
        gains = np.where(labels < 0, 0.0, worth)
        block, low = None, 0
        for level in range(WIDTHS):
            width = FACTOR**level
            if block is None:
                low = max((self.end - 1) // width - BINS + 1, first // width)
                begin = max(low * width, first)
                part = slice(begin - first, None)
                counted = _counted(np.arange(begin, self.end) // width - low, kinds[part], gains[part], changed[part])
                self._write(level, low, counted)
                # Wider bins are sums of these where they hold all.
                block = counted if begin == first else None
            else:
                block, low = _wider(block, low)
                self._write(level, low, block)

    def _write(self, level: int, low: int, block: Floats) -> None:
        bins = low + np.arange(len(block))
        slots = bins % BINS
        fresh = slots[self._number[level, slots] != bins]
        self._table[level, fresh] = 0.0
        self._number[level, slots] = bins
        self._table[level, slots] += block

    def since(self, position: int) -> list[LineBins]:
        """Copies of the bins that have positions from `position` on, of the widths that are needed to show all.

        Bins of a width that was not needed up to that position are all there.
        """
        found, known = [], self._needed(position)
        for level in range(self._needed(self.end)):
            width = FACTOR**level
            slots = np.flatnonzero(self._number[level] >= (position // width if level < known else 0))
            slots = slots[np.argsort(self._number[level, slots])]
            found.append(LineBins(width, self._number[level, slots], self._table[level, slots]))
        return found

    def _needed(self, end: int) -> int:
        """How many widths it takes for the bins to hold all positions up to the end."""
        numbers = ((end - 1) // FACTOR**level - self.begin // FACTOR**level for level in range(WIDTHS))
        return next((level + 1 for level, number in enumerate(numbers) if number < BINS), WIDTHS)


def _counted(bins: Ints, kinds: Ints, gains: Floats, changed: Ints) -> Floats:
    """(n_bins, COLUMNS) of positions in bins."""
    n = int(bins[-1]) + 1
    table = np.empty((n, COLUMNS))
    table[:, :WORTH] = np.bincount(bins * WORTH + kinds, minlength=n * WORTH).reshape(n, WORTH)
    table[:, WORTH] = np.bincount(bins, gains, n)
    table[:, CHANGED] = np.bincount(bins, changed, n)
    return table


def _wider(block: Floats, low: int) -> tuple[Floats, int]:
    """Bins of the next width, and the number of the first."""
    number = (low + np.arange(len(block))) // FACTOR
    first = np.flatnonzero(np.diff(number, prepend=-1))
    found: Floats = np.add.reduceat(block, first)
    return found, int(number[0])
