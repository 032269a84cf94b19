"""The one counter: keys of a slice -> Tally, combine -> Tally.merge, finalize -> Tally.table.

A tally has all that the algorithm needs of a slice of the data, by values that mean the same in every slice. Merging is
exact, associative and commutative, and tallies are in an order that depends on the data alone: the tally of the
whole is that of its slices merged, bit for bit, in any order and for any slicing.
"""

from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from .._kernels import key_numbers as kernels
from ..support.arrays import Bools, Ints, Record, read_only, row_sums
from . import keys
from .nesting import Dependence
from .vocabularies import Vectors, Vocabulary, Words

Spelling = Callable[[Any], Sequence[Any]]


@dataclass(frozen=True, eq=False)
class Steps(Record):
    """Counted transitions x -> x' between rows: parallel arrays, one entry per (source, symbol, target)."""

    source: Ints
    symbol: Ints
    target: Ints
    count: Ints

    def select(self, kept: Ints | Bools) -> "Steps":
        """Some of the transitions, by a mask or by their places."""
        return Steps(self.source[kept], self.symbol[kept], self.target[kept], self.count[kept])

    def relabel(self, rows: Ints) -> "Steps":
        """The same transitions between rows[source] and rows[target], equal ones added up.

        Cost: O(m log m) for m entries.
        """
        n = int(rows.max(initial=-1)) + 1
        symbols = int(self.symbol.max(initial=-1)) + 1
        key = (rows[self.source].astype(np.int64) * symbols + self.symbol) * n + rows[self.target]
        key, inverse = np.unique(key, return_inverse=True)
        count = np.bincount(inverse, weights=self.count, minlength=key.size).astype(np.int64)
        pair, target = np.divmod(key, max(n, 1))
        source, symbol = np.divmod(pair, max(symbols, 1))
        return Steps(source, symbol, target, count)


@dataclass(frozen=True, eq=False)
class Table(Record):
    """Counts of z over the distinct x, sorted by their endings, in compressed rows.

    Attributes
    ----------
    start : (n_x + 1,) row i holds the entries start[i]..start[i + 1] - 1
    outcome : (m,) number of the outcome z, increasing within a row
    count : (m,) how often it followed x
    n_outcomes : number of possible z
    shared : (n_x,) how many of its last symbols x shares with the x before it
    steps : transitions between distinct x, or None without symbols; in a series the last window before a gap
        or an end counts too, if it leads to an x that is a row
    """

    start: Ints
    outcome: Ints
    count: Ints
    n_outcomes: int
    shared: Ints
    steps: Steps | None

    @cached_property
    def weight(self) -> Ints:
        """(n_x,) how often each x was observed."""
        return read_only(row_sums(self.start, self.count))

    @property
    def n_x(self) -> int:
        return self.start.size - 1


@dataclass(frozen=True, eq=False)
class Tally:
    """Counts of pairs (x, z) and of the steps x -> x'.

    Attributes
    ----------
    kind : what the data are, see `Observations`
    made : how x and z were made; tallies made alike can be merged
    x, z : the distinct values; some x may only be led to
    pairs, counts : x * len(z) + z of the pairs that occur, increasing, and how often
    spell : makes `outcomes` of z
    symbols, steps : the symbols of the steps and these, sorted, or None: there are none, or they follow from the words
    slices, patterns : in fields, how many slices of time there are, and the distinct numbers of their patterns
    dependence : in fields, how far observations are independent, where that was counted
    coder : in real-valued fields, what made the codes that x and z are
    """

    kind: str
    made: tuple[Hashable, ...]
    x: Vocabulary
    z: Vocabulary
    pairs: Ints
    counts: Ints
    spell: Spelling
    symbols: Words | None = None
    steps: Steps | None = None
    slices: int = 0
    patterns: Ints = field(default_factory=lambda: np.empty(0, np.int64))
    dependence: Dependence | None = None
    coder: Any = None

    def merge(self, other: "Tally") -> "Tally":
        """Counts of both. Cost: linear in the distinct pairs (n log n where x are numbers)."""
        return self.join(other)[0]

    def join(self, other: "Tally") -> tuple["Tally", tuple[Ints, Ints], tuple[Ints, Ints]]:
        """Counts of both, and the places there of the x, and of the z, of self and of other."""
        one, two = (self.made, other.made) if self.made != other.made else (self._alike, other._alike)
        if one != two:
            raise ValueError(
                f"The 'other' counts are of {_called(two)} and these of {_called(one)}; only "
                "observations made alike can be counted together: observe both with the same parameters."
            )
        x, x_a, x_b = self.x.merge(other.x)
        z, z_a, z_b = self.z.merge(other.z)
        counts = keys.add(self._renumbered(x_a, z_a, len(z)), other._renumbered(x_b, z_b, len(z)))
        steps = self._merged_steps(other, x_a, x_b)
        kind = self.kind if self.kind == other.kind else "pairs"
        seen = self.slices + other.slices, np.union1d(self.patterns, other.patterns)
        both = None
        if self.dependence is not None and other.dependence is not None:
            both = self._moved(x, x_a, z_a, len(z)).added(other._moved(x, x_b, z_b, len(z)))
        found = kind, self.made, x, z, *counts, self.spell, *steps, *seen, both, self.coder
        return Tally(*found), (x_a, x_b), (z_a, z_b)

    def _moved(self, x: Vocabulary, x_place: Ints, z_place: Ints, n_z: int) -> Dependence:
        assert self.dependence is not None
        assert isinstance(self.x, Words)
        assert isinstance(x, Words)
        return self.dependence.moved(self.x, x, x_place, z_place, n_z)

    @property
    def _alike(self) -> tuple[Hashable, ...]:
        """What else must be the same in tallies that were made alike."""
        numbers = "numbers" if self.spell is scalars else f"vectors of {self.z.width}"
        z = numbers if isinstance(self.z, Vectors) else "kinds"
        steps = "without steps" if self.steps is None else "with steps"
        return self.made[0], f"(x of {self.x.width}, z {z}, {steps})"

    def _renumbered(self, x: Ints, z: Ints, n_z: int) -> keys.Counted:
        """Pairs and counts with other numbers of x and z."""
        pairs = np.empty_like(self.pairs)
        kernels.renumber_pairs(self.pairs, x, z, n_z, pairs)
        order = slice(None) if (np.diff(pairs) > 0).all() else np.argsort(pairs)
        return pairs[order], self.counts[order]

    def _merged_steps(self, other: "Tally", x_a: Ints, x_b: Ints) -> tuple[Words | None, Steps | None]:
        if self.steps is None or other.steps is None:
            return None, None
        symbols: Words | None = None
        s_a = s_b = np.zeros(1, self.pairs.dtype)
        if self.symbols is not None and other.symbols is not None:
            symbols, s_a, s_b = self.symbols.merge(other.symbols)
        rows, count = keys.add(_step_rows(self.steps, x_a, s_a), _step_rows(other.steps, x_b, s_b))
        source, symbol, target = np.ascontiguousarray(rows.T)
        return symbols, Steps(source, symbol, target, count)

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
        x, dependence = self.x.select(kept), self.dependence
        if dependence is not None:
            dependence = self._moved(x, number, np.arange(len(self.z)), len(self.z))
        return replace(self, x=x, pairs=pairs, counts=counts, steps=steps, dependence=dependence)

    def table(self) -> Table:
        """Counts over the distinct x. Cost: linear in the distinct pairs."""
        row, outcome = np.divmod(self.pairs, max(len(self.z), 1))
        if self.kind != "series":
            return tabulate(row, outcome, self.counts, len(self.x), len(self.z), self.steps)
        assert isinstance(self.x, Words)
        assert isinstance(self.z, Words)
        steps = _shifts(self.x, row, self.z.first_letters()[outcome], self.counts)
        return tabulate(row, outcome, self.counts, len(self.x), len(self.z), steps, self.x.shared())


def merge_all(tallies: Sequence[Tally]) -> tuple[Tally, list[Ints], list[Ints]]:
    """Counts of all, and the places there of the x, and of the z, of each."""
    whole = tallies[0]
    x_places: list[Ints] = [np.arange(len(whole.x))]
    z_places: list[Ints] = [np.arange(len(whole.z))]
    for tally in tallies[1:]:
        whole, x, z = whole.join(tally)
        x_places = [*(x[0][place] for place in x_places), x[1]]
        z_places = [*(z[0][place] for place in z_places), z[1]]
    return whole, x_places, z_places


def _called(made: tuple[Hashable, ...]) -> str:
    return " ".join(str(part) for part in made if not isinstance(part, bytes))


def _step_rows(steps: Steps, x: Ints, symbol: Ints) -> keys.Counted:
    """(m, 3) source, symbol and target with other numbers, in lexicographic order, and the counts."""
    rows = np.column_stack([x[steps.source], symbol[steps.symbol], x[steps.target]])
    if (np.diff(x) > 0).all() and (np.diff(symbol) > 0).all():
        return rows, steps.count
    order = np.lexsort(rows.T[::-1])
    return rows[order], steps.count[order]


def _shifts(x: Words, row: Ints, symbol: Ints, counts: Ints) -> Steps:
    """Steps of a series: each x with the first symbol of its z leads to one x', a row if it was seen with a whole z."""
    first = np.flatnonzero(keys.starts(row, symbol))
    source, symbol = row[first], symbol[first]
    count = np.add.reduceat(counts, first) if first.size else counts
    target = x.led_to(source, symbol)
    steps = Steps(source, symbol, target, count)
    return steps.select(target >= 0)


def tabulate(
    row: Ints, outcome: Ints, counts: Ints, n_x: int, n_z: int, steps: Steps | None, shared: Ints | None = None
) -> Table:
    """The table of counted pairs, sorted by row and outcome."""
    start = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=n_x))])
    return Table(start, outcome, counts, n_z, np.zeros(n_x, np.int64) if shared is None else shared, steps)


def count_steps(
    source: Ints, symbol: Ints, target: Ints, n_x: int, n_symbols: int, executor: Executor | None = None
) -> Steps:
    """Steps between numbered x, sorted; target -1 = nowhere. Cost: that of numbering the pairs (source, symbol)."""
    moved = np.flatnonzero(target >= 0)
    edge, labelled = keys.number(source[moved].astype(np.int64) * n_symbols + symbol[moved], n_x * n_symbols)
    pairs, counts = keys.count_slices(edge, target[moved], n_x, executor)
    edge, to = np.divmod(pairs, max(n_x, 1))
    return Steps(*np.divmod(labelled[edge], max(n_symbols, 1)), to, counts)


def values_of(values: Sequence[Hashable]) -> Words:
    """Single values as words of one letter."""
    return Words(tuple(values), 1, np.arange(len(values))[:, None])


def listed(z: Words) -> list[Any]:
    """Outcomes that are single letters."""
    return [z.letters[code] for code in z.keys[:, 0].tolist()]


def scalars(z: Vectors) -> list[Any]:
    """Outcomes that are numbers."""
    found: list[Any] = z.rows[:, 0].tolist()
    return found


def tuples(z: Vectors) -> list[Any]:
    """Outcomes that are vectors."""
    return list(map(tuple, z.rows.tolist()))


def symbol_names(symbols: Words) -> tuple[Hashable, ...]:
    """Symbols of steps: letters where they are words of one letter, else tuples."""
    words = (tuple(symbols.letters[code] for code in word) for word in symbols.words().tolist())
    return tuple(word[0] if symbols.width == 1 else word for word in words)
