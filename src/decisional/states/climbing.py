"""Small machines drawn at random and improved: for those whose state no context tells.

Where symbols permute the states no finite past tells which one it is, and no part of a machine is right before all of
it is. There are few such machines of few states: as many as possible are drawn and compared on few symbols, the best of
them on more. Others are improved edge by edge.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from math import factorial

import numpy as np

from .._kernels import climbs as kernels
from ..support.arrays import Ints
from .merging import completed, retarget, shorten
from .search import Candidate, SymbolSeries

# States of machines drawn at random; symbols they are improved on at first (one or the other) and then; how many then.
DRAWN = 7
MOST_CLIMBED = 12
CLIMBED = (5_000, 20_000, 60_000)
KEPT = 3
# Permutations are compared on so many symbols, and where there are few of them on more, for so large a share of the
# operations; one in AGAIN on MORE times as many, and so on up to CLIMBED[1]. DRAWS are drawn for each one that there
# is, if so large a share of the operations suffices.
SCREENED = 150
FEW_SCREENING = 0.05
AGAIN = 8
MORE = 4
DRAWS = 3
SCREENING = 0.25
# Share of the operations after which no other machines are drawn.
DRAWING = 0.6
# Operations for machines drawn at random, for each symbol from LEAST up to CLIMBED[0] of them; few at first, and only
# where there are not more different symbols and states than this.
CLIMBING = (6e4, 6e5, 3e6)
LEAST = 1_000
MOST_CLIMBING = 4e9
FEW_SYMBOLS = 4
FEW_STATES = 30
# Operations for each symbol that a machine is driven along, and that one of many is.
READ = 3.0
COMPARED = 1.2
# A length, in bits for each symbol, and the targets.
Found = tuple[float, Ints]


def drawn_tables(series: SymbolSeries, begin: Candidate, lacking: bool) -> Iterator[Candidate]:
    """Small machines by climbing, where there are few symbols, as long as that shortens; cost: see CLIMBING.

    If the machine to begin with is `lacking`, it is tried longer in any case.
    """
    for seed, operations in enumerate(CLIMBING if series.n_symbols <= FEW_SYMBOLS else ()):
        if series.budget.spent or begin.n_states > FEW_STATES:
            return
        symbols = min(max(series.size, LEAST), CLIMBED[0])
        found = climb(series, begin, min(operations * symbols, MOST_CLIMBING), seed)
        yield found
        if found.length > begin.length - 1.0 and not lacking:
            return
        begin, lacking = min(begin, found, key=lambda one: one.length), False


@cache
def _leads(n: int, symbols: int) -> Ints:
    """Moves of `_kernels.climbs.climb` that lead one edge elsewhere."""
    edge, to = np.divmod(np.arange(n * symbols * n), n)
    return np.stack([edge, edge, to], axis=1)


@cache
def _exchanges(n: int, symbols: int) -> Ints:
    """Moves that exchange where two states go on a symbol: permutations remain such."""
    i, j = np.triu_indices(n, 1)
    one, other = (np.add.outer(k * symbols, np.arange(symbols)).ravel() for k in (i, j))
    return np.stack([one, other, np.full(one.size, -1)], axis=1)


@cache
def _all_moves(n: int, symbols: int) -> Ints:
    return np.concatenate([_leads(n, symbols), _exchanges(n, symbols)])


class Draws:
    """Machines drawn at random for a series, and how short these describe its beginning; gaps are passed over.

    Parameters
    ----------
    series : the symbols, whose budget is charged
    seed : other draws for another one
    """

    def __init__(self, series: SymbolSeries, seed: int) -> None:
        self.codes = series.codes[series.codes >= 0].astype(np.uint64)
        self.rng, self.budget = np.random.default_rng(seed), series.budget
        self.log_n, self.n_symbols = series.log_n, series.n_symbols
        seen = np.arange(CLIMBED[2] + 1.0)
        self.bits = seen * np.log2(np.maximum(seen, 1.0))

    def improved(self, targets: Ints, n: int, moves: Ints) -> Found:
        """A machine after moves, in an order drawn at random, that describe the first n symbols shorter."""
        part = self.codes[:n]
        order, share = self.rng.permutation(moves), part.size / max(self.codes.size, 1)
        most = int(max(self.budget.left, 1) / READ)
        length, read = kernels.climb(part, targets, order, self.bits, self.log_n, share, most)
        self.budget.spend(READ * read)
        return length / max(part.size, 1), targets

    def permutations(self, operations: float) -> list[Found]:
        """The best machine of each number of states whose symbols permute these, of as many as may be compared.

        Cost: half of the operations for all of them on SCREENED symbols, the rest for fewer on more.
        """
        found: list[Found] = []
        least = COMPARED * min(SCREENED, self.codes.size)
        left = int(0.5 * operations / max(least, 1.0))
        for n in range(2, MOST_CLIMBED + 1):
            # Each may begin in any state; else the states may be called otherwise.
            many = min(DRAWS * n * factorial(n) ** (self.n_symbols - 1), left)
            if many == 0 or self.budget.spent:
                break
            left -= many
            drawn = self.rng.integers(0, 1 << 16, (many, self.n_symbols, n), np.uint16)
            tables = np.empty((many, n, self.n_symbols), np.uint8)
            kernels.shuffle(drawn, tables)
            found.append(self._best(tables, int(FEW_SCREENING * operations / (COMPARED * many))))
        return found

    def _best(self, tables: Ints, symbols: int) -> Found:
        """The one that is shortest on CLIMBED[1] symbols, of those that were on fewer, first on so many or more."""
        symbols = max(symbols, SCREENED)
        while True:
            part = self.codes[: min(symbols, CLIMBED[1])]
            lengths = np.empty(len(tables))
            share = part.size / max(self.codes.size, 1)
            kernels.table_lengths(part, tables, self.bits, self.log_n, share, lengths)
            self.budget.spend(COMPARED * part.size * len(tables))
            if part.size < symbols:
                least = int(lengths.argmin())
                return float(lengths[least]) / max(part.size, 1), tables[least].astype(np.int64)
            tables = tables[np.argsort(lengths, kind="stable")[: max(len(tables) // AGAIN, KEPT)]]
            symbols *= MORE

    def others(self, until: float) -> list[Found]:
        """Machines of any edges, improved one by one until no more operations are left than that."""
        found: list[Found] = []
        while self.budget.left > until and not self.budget.spent:
            n = int(self.rng.integers(2, DRAWN + 1))
            table = self.rng.integers(0, n, (n, self.n_symbols))
            found.append(self.improved(table, CLIMBED[int(self.rng.integers(2))], _leads(*table.shape)))
        return found

    def changed(self, targets: Ints) -> Ints:
        """A machine with perhaps a copy of one of its states, of which two edges are led elsewhere at random."""
        extra = int(self.rng.integers(2)) if len(targets) < MOST_CLIMBED else 0
        copied = np.append(np.arange(len(targets)), self.rng.integers(0, len(targets), extra))
        targets = targets[copied]
        for _ in range(2):
            state, symbol, end = self.rng.integers([len(targets), self.n_symbols, len(targets)])
            targets[state, symbol] = end
        return targets


def climb(series: SymbolSeries, begin: Candidate, operations: float, seed: int = 0) -> Candidate:
    """Small machines drawn at random: permutations are compared, others improved edge by edge.

    Those that are best on few symbols are improved on more. Then two edges at a time of the best, and of the machine to
    begin with, are led elsewhere at random. The draws are always the same. Cost: at most `operations`.
    """
    draws, budget = Draws(series, seed), series.budget
    limit = budget.left - operations
    starts: list[Ints] = []
    for found in (draws.permutations(SCREENING * operations), draws.others(limit + (1.0 - DRAWING) * operations)):
        starts += [targets for _, targets in sorted(found, key=lambda one: one[0])[:KEPT]]
    if begin.n_states <= MOST_CLIMBED or not starts:
        starts.append(completed(begin.targets, begin.counts)[0].copy())
    best = min(
        (draws.improved(one.copy(), CLIMBED[2], _all_moves(*one.shape)) for one in starts), key=lambda one: one[0]
    )
    while budget.left > limit and not budget.spent:
        targets = draws.changed(best[1])
        best = min(best, draws.improved(targets, CLIMBED[2], _all_moves(*targets.shape)), key=lambda one: one[0])
    # What is believed of the first state must be right, where no later symbol tells.
    uses = kernels.uses_along(draws.codes[: CLIMBED[2]], best[1])
    machine = shorten(series, series.settle(series.drive(best[1], uses)))
    return replace(retarget(series, machine), how="tables", searched=True)
