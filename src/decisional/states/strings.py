"""Machines of whole strings: each begins in one state, and its end is an event.

Strings are one series in which an end follows each of them, and leads from any state to the start. After a symbol that
is missing the state is what is believed of it, until symbols tell or the string ends. All else is as for other series:
a large machine, here the tree of the prefixes of the strings up to what is missing, is folded by evidence, and then by
description length, see `merging`.
"""

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from .._kernels import prefixes as kernels
from ..data import sequences as reading
from ..data.alphabet import END
from ..data.stored_symbols import Piece
from ..machines.mixed_states import labelled
from ..support.arrays import Floats, Ints
from .hidden_series import Hidden
from .hidden_strings import HiddenStrings
from .merging import CELLS, RETARGETED, completed, folded, retarget, shorten
from .search import Budget, Candidate, SymbolSeries, Walk

# Prefixes to begin with: few are folded at once, many tell strings apart for longer.
TREES = (2_000, 20_000, 100_000)
# Passes after which the uses of edges by missing symbols have settled.
SETTLING = 20


class StringSeries(SymbolSeries):
    """Whole strings one after the other, each closed by the last symbol, which leads to the start.

    Parameters
    ----------
    codes : (size,) numbers of the symbols, n_symbols - 1 = the end of a string, -1 = missing
    n_symbols : different symbols, with the end
    budget : see `SymbolSeries`
    """

    def __init__(self, codes: Ints, n_symbols: int, budget: Budget | None = None) -> None:
        # The last of the numbers is that of missing symbols, -1.
        all_at_once = codes, np.append(np.arange(n_symbols), -1), np.array([0, codes.size])
        super().__init__(*all_at_once, n_symbols, budget)
        # The series goes on from the start, so that its first state is known.
        self.pieces = lambda ahead: [Piece(*all_at_once, codes.size, True)]
        self.fixed = n_symbols - 1
        # What is before a string tells nothing of it.
        self.bounds = np.append(self.starts, codes.size)

    @cached_property
    def n_runs(self) -> int:
        """Unknown states: those after gaps, and the first, which is coded as one."""
        return 1 + int(np.count_nonzero(self.codes < 0))

    @property
    def end(self) -> int:
        """The number of the end."""
        return self.n_symbols - 1

    @property
    def n_letters(self) -> int:
        """All but the end, which is never missing."""
        return self.end

    @cached_property
    def starts(self) -> Ints:
        """(n_strings,) where each string begins."""
        return np.append(0, np.flatnonzero(self.codes == self.end)[:-1] + 1)

    def beginning(self, most: int) -> "StringSeries":
        """The first strings, of at most so many symbols, but one."""
        if self.size <= most:
            return self
        ends = np.append(self.starts[1:], self.size)
        last = max(int(np.searchsorted(ends, most, "right")) - 1, 0)
        return StringSeries(self.codes[: ends[last]], self.n_symbols, self.budget)

    def _walk(self, targets: Ints, weights: Floats) -> Walk:
        walk = super()._walk(targets, weights)
        walk.state = int(targets[0, self.end])
        return walk

    def _along(self, walk: Walk) -> Candidate:
        # Any state may turn out to be one in which strings end.
        along = super()._along(walk)
        ends = along.targets[:, self.end]
        targets = along.targets.copy()
        targets[:, self.end] = ends[ends >= 0][0]
        return replace(along, targets=targets)

    def tree(self, most: int) -> tuple[Ints, Ints, Ints]:
        """Targets and counts of the tree of prefixes, those of most strings, and the longest suffix of each of them.

        Cost: one pass; memory: that of the table.
        """
        targets, counts = (np.empty((most, self.n_symbols), np.int64) for _ in range(2))
        n = kernels.grow_prefixes(self.codes, self.starts, self.n_symbols, self.end, most, targets, counts)
        suffix = np.empty(n, np.int64)
        kernels.longest_suffixes(targets[:n], self.end, suffix)
        return targets[:n], counts[:n], suffix


def merged_prefixes(series: StringSeries) -> Iterator[Candidate]:
    """Machines by merging prefixes, few at first, and the machine of one state; cost: see TREES, and `merging`."""
    one = np.zeros((1, series.n_symbols), np.int64)
    yield series.drive(one, np.ones(one.shape))
    done = -1
    for most in TREES:
        targets, counts, suffix = series.tree(min(most, max(CELLS // series.n_symbols, 50)))
        series.budget.spend(20.0 * series.size)
        if series.budget.spent or len(targets) == done:
            return
        done = len(targets)
        large, uses = folded(targets, counts, suffix, 0, series.budget)
        large[:, series.end] = 0
        machine = series.drive(*completed(large, uses))
        yield replace(machine, how="prefixes", searched=True)
        for first, second in ((shorten, retarget), (retarget, shorten)):
            found = second(series, first(series, machine))
            yield replace(found, how="prefixes", searched=True)
            if series.budget.spent or machine.n_states > RETARGETED:
                break


def with_missing(series: StringSeries, machine: Candidate) -> Candidate:
    """The machine with the expected uses of its edges by missing symbols too: any but the end, which is never missing.

    Cost: none where no symbol is missing; else that of EM along the tree of prefixes.
    """
    if not (series.codes < 0).any():
        return machine
    strings, home = HiddenStrings(series.codes, series.n_symbols), np.zeros(machine.n_states)
    home[machine.targets[:, series.end].max()] = 1.0
    known = strings.improve(Hidden(labelled(machine.targets, machine.emission), home), SETTLING)
    return replace(machine, counts=strings.expected(known).uses.sum(axis=2).T)


@dataclass(frozen=True)
class WholeStrings:
    """Whole strings that were read.

    Attributes
    ----------
    series : the strings, their symbols numbered in the order in which they appear, so that names change nothing
    letters : the symbols in their own order, and the end
    place : (n_letters,) number in the series of each letter
    """

    series: StringSeries
    letters: tuple[Hashable, ...]
    place: Ints


def whole_strings(symbols: Any, missing: Hashable = None, sequences: bool | None = None) -> WholeStrings:
    """Read whole strings; ValueError where they are not several."""
    source = reading.read(symbols, missing, True if sequences is None else sequences)
    if len(source.bounds) < 3:
        raise ValueError(
            "The 'symbols' are one sequence, which is too few for whole strings, of which each begins and ends: give a "
            "list of two or more, or leave out 'whole'."
        )
    if END in source.letters:
        raise ValueError(f"The 'symbols' have {END!r}, which stands for the end of a string: give it another name.")
    n = len(source.letters)
    codes = np.append(source.appearance, -1)[source.lut[source.raw]].astype(np.int64)
    joined = np.insert(codes, source.bounds[1:], n)
    place = np.append(source.appearance, n)
    return WholeStrings(StringSeries(joined, n + 1), (*source.letters, END), place)
