"""P(Z|x) estimated at each row of the data: what step 1 of the figure hands to step 2."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.tally import Table
from ..support.arrays import Ints, Record, entries, read_only, row_sums


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
        return p.toarray() if self.n_rows * self.n_outcomes <= 1 << 24 else p
