"""Mergeable counts: chunk -> Tally, combine -> Tally.merge, finalize -> Tallied observations.

A tally has all that the algorithm needs of a slice of the data, by values that mean the same in every slice. Merging is
exact, associative and commutative, and tallies are in an order that depends on the data alone: the tally of the
whole is that of its slices merged, bit for bit, in any order and for any slicing.
"""

from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from .._kernels import cones as kernels
from ..support.arrays import Ints
from . import tables
from .observations import CountsOnly, Observations, Steps, Table
from .vocabularies import Points, Vocabulary, Words, pack, place_in

__all__ = ["Tallied", "Tally", "count_of", "listed", "scalars", "tuples", "values_of"]

Spelling = Callable[[Any], Sequence[Any]]
# Words that are compared with their neighbours at once.
BLOCK = 1 << 16


@dataclass(frozen=True, eq=False)
class Tally:
    """Counts of pairs (x, z) and of the steps x -> x'.

    Attributes
    ----------
    kind : how x and z were made; tallies of one kind can be merged
    x, z : the distinct values; some x may only be led to
    pairs, counts : x * len(z) + z of the pairs that occur, increasing, and how often
    spell : makes `outcomes` of z
    symbols, steps : the symbols of the steps and these, or None: there are none, or they follow from the words
    slices, patterns : in fields, how many slices of time there are, and the distinct numbers of their patterns
    """

    kind: tuple[Hashable, ...]
    x: Any
    z: Any
    pairs: Ints
    counts: Ints
    spell: Spelling
    symbols: Words | None = None
    steps: Steps | None = None
    slices: int = 0
    patterns: Ints = field(default_factory=lambda: np.empty(0, np.int64))

    def merge(self, other: "Tally") -> "Tally":
        """Counts of both. Cost: linear in the distinct pairs (n log n where x are numbers)."""
        one, two = (self.kind, other.kind) if self.kind != other.kind else (self._made, other._made)
        if one != two:
            raise ValueError(
                f"The 'other' counts are of {_called(two)} and these of {_called(one)}; only "
                "observations made alike can be counted together: observe both with the same parameters."
            )
        x, x_a, x_b = self.x.merge(other.x)
        z, z_a, z_b = self.z.merge(other.z)
        counts = _add(self._renumbered(x_a, z_a, len(z)), other._renumbered(x_b, z_b, len(z)))
        symbols, steps = self._merged_steps(other, x_a, x_b)
        patterns = np.union1d(self.patterns, other.patterns)
        slices = self.slices + other.slices
        return Tally(self.kind, x, z, *counts, self.spell, symbols, steps, slices, patterns)

    @property
    def _made(self) -> tuple[Hashable, ...]:
        """What else must be the same in tallies of one kind."""
        numbers = "numbers" if self.spell is scalars else f"vectors of {self.z.width}"
        z = numbers if isinstance(self.z, Points) else "kinds"
        steps = "without steps" if self.steps is None else "with steps"
        return self.kind[0], f"(x of {self.x.width}, z {z}, {steps})"

    def _renumbered(self, x: Ints, z: Ints, n_z: int) -> tuple[Ints, Ints]:
        """Pairs and counts with other numbers of x and z."""
        pairs = np.empty_like(self.pairs)
        kernels.renumber_pairs(self.pairs, x, z, n_z, pairs)
        order = slice(None) if (np.diff(pairs) > 0).all() else np.argsort(pairs)
        return pairs[order], self.counts[order]

    def _merged_steps(self, other: "Tally", x_a: Ints, x_b: Ints) -> tuple[Words | None, Steps | None]:
        a, b = self.steps, other.steps
        if a is None or b is None:
            return None, None
        symbols, s_a, s_b = None, np.zeros(1, np.int64), np.zeros(1, np.int64)
        if self.symbols is not None and other.symbols is not None:
            symbols, s_a, s_b = self.symbols.merge(other.symbols)
        columns = [
            np.concatenate([x_b[b.target], x_a[a.target]]),
            np.concatenate([s_b[b.symbol], s_a[a.symbol]]),
            np.concatenate([x_b[b.source], x_a[a.source]]),
        ]
        count = np.concatenate([b.count, a.count])
        order = np.lexsort(columns)
        columns = [column[order] for column in columns]
        new = np.ones(order.size, bool)
        new[1:] = np.any([column[1:] != column[:-1] for column in columns], axis=0)
        total = np.add.reduceat(count[order], np.flatnonzero(new)) if order.size else count
        target, symbol, source = (column[new] for column in columns)
        return symbols, Steps(source, symbol, target, total)

    @property
    def n(self) -> int:
        """Number of observations."""
        return int(self.counts.sum())

    @cached_property
    def weight(self) -> Ints:
        """(n_x,) how often each x was observed."""
        weight = np.zeros(len(self.x), np.int64)
        np.add.at(weight, self.pairs // max(len(self.z), 1), self.counts)
        return weight

    def observed(self) -> "Tally":
        """Without the x that are only led to."""
        if self.weight.all():
            return self
        kept = np.flatnonzero(self.weight)
        number = np.full(len(self.x), -1, np.int64)
        number[kept] = np.arange(kept.size)
        pairs, counts = self._renumbered(number, np.arange(len(self.z)), len(self.z))
        steps = self.steps
        if steps is not None:
            inside = steps.select((number[steps.source] >= 0) & (number[steps.target] >= 0))
            steps = Steps(number[inside.source], inside.symbol, number[inside.target], inside.count)
        return replace(self, x=self.x.select(kept), pairs=pairs, counts=counts, steps=steps)


def _called(kind: tuple[Hashable, ...]) -> str:
    return " ".join(str(part) for part in kind if not isinstance(part, bytes))


def _add(a: tuple[Ints, Ints], b: tuple[Ints, Ints]) -> tuple[Ints, Ints]:
    """Counts by increasing key, added up."""
    keys, counts = (np.empty(a[0].size + b[0].size, np.int64) for _ in range(2))
    n = kernels.add_sorted(*a, *b, keys, counts)
    return keys[:n].copy(), counts[:n].copy()


def count_of(
    kind: tuple[Hashable, ...],
    x: Vocabulary,
    z: Vocabulary,
    table: Table,
    spell: Spelling,
    symbols: Words | None = None,
    own_steps: bool = True,
) -> Tally:
    """The tally of a table whose rows are `x` and whose outcomes are `z`."""
    row = np.repeat(np.arange(table.n_x), np.diff(table.start))
    steps = table.steps if own_steps else None
    return Tally(kind, x, z, row * len(z) + table.outcome, table.count, spell, symbols, steps)


def values_of(values: Sequence[Hashable]) -> Words:
    """Single values as words of one letter."""
    return Words(tuple(values), 1, np.arange(len(values))[:, None])


def listed(z: Words) -> list[Any]:
    """Outcomes that are single letters."""
    return [z.letters[code] for code in z.keys[:, 0].tolist()]


def scalars(z: Points) -> list[Any]:
    """Outcomes that are numbers."""
    found: list[Any] = z.rows[:, 0].tolist()
    return found


def tuples(z: Points) -> list[Any]:
    """Outcomes that are vectors."""
    return list(map(tuple, z.rows.tolist()))


class Tallied(Observations):
    """Observations of which only the counts are known."""

    def __init__(self, tally: Tally, shape: tuple[int, ...] | None = None) -> None:
        self._counted = tally.observed()
        if not self._counted.n:
            raise ValueError(
                "There is no observation in the counts; at least one must fit the data: use a shorter past or more "
                "data."
            )
        self.shape = (self._counted.n,) if shape is None else shape
        self._table: Table | None = None

    @property
    def letters(self) -> tuple[Hashable, ...]:  # type: ignore[override]
        letters: tuple[Hashable, ...] = self._counted.x.letters
        return letters

    @property
    def past(self) -> int:  # type: ignore[override]
        return int(self._counted.x.width)

    @property
    def future(self) -> int:
        return int(self._counted.z.width)

    @property
    def has_suffixes(self) -> bool:  # type: ignore[override]
        return self._counted.kind[0] == "series"

    @cached_property
    def alphabet(self) -> tuple[Hashable, ...] | None:  # type: ignore[override]
        symbols = self._counted.symbols
        return tuple(symbol_names(symbols)) if symbols is not None else self.letters if self.has_suffixes else None

    @property
    def overlap(self) -> float:  # type: ignore[override]
        """See `Cones.overlap`."""
        tally = self._counted
        return max(float(self.future), tally.slices / tally.patterns.size) if tally.slices else 1.0

    @property
    def points(self) -> NDArray[Any]:
        """See `Vectors`; there are none where x are words."""
        if not isinstance(self._counted.x, Points):
            raise AttributeError("The x are no vectors.")
        return self._counted.x.rows

    @property
    def targets(self) -> NDArray[Any] | None:
        return self._counted.z.rows if isinstance(self._counted.z, Points) else None

    def tally(self) -> Tally:
        return self._counted

    @property
    def n(self) -> int:
        return self._counted.n

    @cached_property
    def outcomes(self) -> Sequence[Any]:
        return self._counted.spell(self._counted.z)

    def words(self, rows: Ints) -> Any:
        return self._counted.x.words(rows)

    def table(self, executor: Executor | None = None) -> Table:
        if self._table is None:
            tally = self._counted
            n_x, n_z = len(tally.x), len(tally.z)
            row, outcome = np.divmod(tally.pairs, n_z)
            start = tables.compress(row, n_x)
            shared = np.zeros(n_x, np.int64)
            steps = tally.steps
            if self.has_suffixes:
                shared = self._shared()
                steps = self._shifts(row, tally.z.words()[:, 0][outcome], tally.counts)
            self._table = Table(start, outcome, tally.counts, n_z, shared, steps)
        return self._table

    def _shared(self) -> Ints:
        """How many of its last symbols each word shares with the one before it."""
        n = len(self._counted.x)
        shared = np.zeros(n, np.int64)
        for begin in range(1, n, BLOCK):
            words = self._counted.x.words(slice(begin - 1, min(begin + BLOCK, n)))
            same = np.logical_and.accumulate(words[1:] == words[:-1], axis=1)
            shared[begin : begin + len(same)] = same.sum(axis=1)
        return shared

    def _shifts(self, row: Ints, symbol: Ints, counts: Ints) -> Steps:
        """Each x with the first symbol of its z leads to one x', which is a row if it was seen with a whole z."""
        base = len(self.letters)
        edge, inverse = np.unique(row * base + symbol, return_inverse=True)
        total = np.zeros(edge.size, np.int64)
        np.add.at(total, inverse, counts)
        row, symbol = np.divmod(edge, base)
        keys = np.empty((edge.size, self._counted.x.keys.shape[1]), np.int64)
        for begin in range(0, edge.size, BLOCK):
            part = slice(begin, begin + BLOCK)
            keys[part] = pack(np.column_stack([symbol[part], self._counted.x.words(row[part])[:, :-1]]), base)
        target = self._rows(keys)
        seen = target >= 0
        return Steps(row[seen], symbol[seen], target[seen], total[seen])

    def _rows(self, keys: Ints) -> Ints:
        """Rows of packed words, -1 for those that are not there."""
        x = self._counted.x
        distinct, inverse = np.unique(keys, axis=0, return_inverse=True)
        return place_in(x, Words(x.letters, x.width, distinct))[inverse.reshape(-1)]

    def _unknown(self, what: str) -> NoReturn:
        raise CountsOnly(
            f"The '{what}' of each observation is not known, only counts were kept; labels need the data: use "
            "predict(obs), or observe all data at once, with chunks=..., and fit."
        )

    @property
    def x(self) -> Ints:
        self._unknown("x")

    @property
    def z(self) -> Ints:
        self._unknown("z")

    @property
    def symbol(self) -> Ints | None:
        self._unknown("symbol")

    @property
    def successor(self) -> Ints | None:
        self._unknown("successor")

    @property
    def site(self) -> Ints:
        self._unknown("site")


def symbol_names(symbols: Words) -> list[Hashable]:
    """Symbols of steps: letters where they are words of one letter, else tuples."""
    words = [tuple(symbols.letters[code] for code in word) for word in symbols.words().tolist()]
    return [word[0] for word in words] if symbols.width == 1 else list(words)
