"""P(Z|x) by counting."""

from concurrent.futures import Executor
from dataclasses import dataclass

import numpy as np

from .._kernels import words as kernels
from ..data.observations import Observations
from ..data.tally import Table
from ..support.arguments import integer
from ..support.arrays import Ints
from .distributions import Distributions
from .state_model import DensityParameters

# METHOD: below about 30 observations a window says less than its longest frequent suffix.
MIN_COUNT = 30


@dataclass(eq=False, repr=False)
class Counts(DensityParameters):
    """Counts of z after each distinct x.

    Parameters
    ----------
    min_count : a word x seen less often takes the counts of its longest suffix seen at least this often,
        and shares them with all rare words of that suffix; 1 = every x for itself. None: 30 for series,
        1 for pairs, whose x have no suffixes.
    """

    min_count: int | None = None

    def estimate(self, obs: Observations, executor: Executor | None = None) -> Distributions:
        """Cost: that of `obs.table`, then O(distinct x)."""
        least = self.min_count if self.min_count is not None else MIN_COUNT if obs.has_suffixes else 1
        least = integer(least, "min_count", of="Counts")
        table, scale = obs.table(executor), 1.0 / obs.overlap
        if (table.weight >= least).all():
            return Distributions.of_table(table, obs.past, scale)
        return _backed_off(table, obs.past, least, scale)


def _backed_off(table: Table, past: int, least: int, scale: float) -> Distributions:
    """Rows are the longest suffixes seen at least `least` times, with all that followed them as evidence."""
    n = table.n_x
    first, stop, depth, parent = (np.empty(2 * n, np.int64) for _ in range(4))
    total = np.zeros(2 * n, np.int64)
    size = kernels.suffix_tree(table.shared, table.weight, past, first, stop, depth, parent, total)
    node = np.empty(n, np.int64)
    kernels.back_off(total[:size], parent[:size], least, node)
    used = np.unique(node)
    used = used[np.lexsort((depth[used], first[used]))]
    number = np.empty(size, np.int64)
    number[used] = np.arange(used.size)
    row = number[node]
    start, outcome, count = _sums(table, first[used], stop[used])
    weight = np.bincount(row, weights=table.weight, minlength=used.size).astype(np.int64)
    own = weight, row, first[used], depth[used]
    return Distributions(start, outcome, count, table.n_outcomes, *own, scale=scale)


def _sums(table: Table, first: Ints, stop: Ints) -> tuple[Ints, Ints, Ints]:
    start = np.empty(first.size + 1, np.int64)
    none = np.empty(0, np.int64)
    ranges = first, stop, table.start, table.outcome, table.count, table.n_outcomes, start
    kernels.sum_ranges(*ranges, none, none)
    outcome, count = np.empty(int(start[-1]), np.int64), np.empty(int(start[-1]), np.int64)
    kernels.sum_ranges(*ranges, outcome, count)
    return start, outcome, count
