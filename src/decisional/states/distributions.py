"""P(Z|x) estimated at each row of the data, which step 1 of the figure hands to step 2; by counting, to begin with."""

from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._kernels import words as kernels
from ..data.observations import Observations
from ..data.tally import Table
from ..support.arguments import integer
from ..support.arrays import Ints, Record, entries, read_only, row_sums
from .state_model import DensityParameters

# METHOD: below about 30 observations a window says less than its longest frequent suffix.
MIN_COUNT = 30
# Larger arrays of probabilities are sparse.
DENSE = 1 << 24


@dataclass(frozen=True, eq=False)
class Distributions(Record):
    """Step 1 of the figure: P(Z|x) estimated at each row, as evidence in counts.

    Attributes
    ----------
    start, outcome, count : evidence of each row in compressed rows, as in `Table`
    n_outcomes : number of possible z
    weight : (n_rows,) observations that belong to each row (its evidence may be larger, see `Counts`)
    row : (n_x,) row of each distinct x
    member : (n_rows,) a distinct x that ends like the row
    depth : (n_rows,) how many last symbols its x share (all of them, unless x was rare)
    samples : the values of z that the densities are known at, or None: the outcomes of the data
    kernel : (n_outcomes, n_samples) what outcomes look like at the samples, where these are others
    scale : evidence of one count, less than 1 where observations overlap
    """

    start: Ints
    outcome: Ints
    count: NDArray[Any]
    n_outcomes: int
    weight: Ints
    row: Ints
    member: Ints
    depth: Ints
    samples: Sequence[Any] | None = None
    scale: float = 1.0
    kernel: NDArray[Any] | None = None

    @classmethod
    def of_table(cls, table: Table, past: int, scale: float = 1.0) -> "Distributions":
        """Every distinct x a row, with what followed it as evidence."""
        rows = np.arange(table.n_x)
        evidence = table.start, table.outcome, table.count, table.n_outcomes
        return cls(*evidence, table.weight, rows, rows, np.full(table.n_x, past), scale=scale)

    @property
    def n_rows(self) -> int:
        return self.start.size - 1

    @cached_property
    def total(self) -> NDArray[Any]:
        """(n_rows,) evidence of each row."""
        return read_only(row_sums(self.start, self.count))

    @property
    def evidence(self) -> tuple[Ints, Ints, NDArray[Any], NDArray[Any]]:
        """Start, outcome and scaled count of the compressed rows, and their totals."""
        return self.start, self.outcome, self.count * self.scale, self.total * self.scale

    def pooled(self, group: Ints) -> "Distributions":
        """The groups of rows as rows, their evidence added up; group (n_rows,) numbers them from 0."""
        n = int(group.max()) + 1
        if n == self.n_rows:
            return self
        row = group[np.repeat(np.arange(self.n_rows), np.diff(self.start))]
        key, inverse = np.unique(row * self.n_outcomes + self.outcome, return_inverse=True)
        count = np.bincount(inverse, weights=self.count).astype(self.count.dtype)
        row, outcome = np.divmod(key, self.n_outcomes)
        start = np.searchsorted(row, np.arange(n + 1))
        weight = np.bincount(group, weights=self.weight).astype(np.int64)
        first = np.unique(group, return_index=True)[1]
        own = weight, group[self.row], self.member[first], self.depth[first]
        return Distributions(start, outcome, count, self.n_outcomes, *own, self.samples, self.scale)

    def select(self, rows: Ints) -> "Distributions":
        """Some of the rows; the x of the others belong to none of them (-1)."""
        size = np.diff(self.start)[rows]
        start = np.concatenate([[0], np.cumsum(size)])
        entry = entries(self.start[rows], size)
        number = np.full(self.n_rows, -1, np.int64)
        number[rows] = np.arange(rows.size)
        evidence = self.outcome[entry], self.count[entry], self.n_outcomes
        own = self.weight[rows], number[self.row], self.member[rows], self.depth[rows]
        return Distributions(start, *evidence, *own, self.samples, self.scale)

    @property
    def p(self) -> NDArray[Any] | Any:
        """P(Z|row), (n_rows, n_outcomes): an array, or a scipy CSR array beyond 16 million entries."""
        from scipy.sparse import csr_array

        values = self.count / np.repeat(self.total, np.diff(self.start))
        p = csr_array((values, self.outcome, self.start), shape=(self.n_rows, self.n_outcomes))
        return p.toarray() if self.n_rows * self.n_outcomes <= DENSE else p


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
        least = integer(least, "min_count", most=1 << 62, of="Counts")
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
    start, none = np.empty(used.size + 1, np.int64), np.empty(0, np.int64)
    ranges = first[used], stop[used], table.start, table.outcome, table.count, table.n_outcomes, start
    kernels.sum_ranges(*ranges, none, none)
    outcome, count = np.empty(start[-1], np.int64), np.empty(start[-1], np.int64)
    kernels.sum_ranges(*ranges, outcome, count)
    weight = np.bincount(row, weights=table.weight, minlength=used.size).astype(np.int64)
    own = weight, row, first[used], depth[used]
    return Distributions(start, outcome, count, table.n_outcomes, *own, scale=scale)
