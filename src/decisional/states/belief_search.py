"""The hidden states behind a series, without parameters, beside the epsilon-machine of it: the shorter description.

Hidden machines are found by `hidden_search`, and judged on the scale of `machine_selection`.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..data.sequences import read
from ..machines.belief_machine import BeliefMachine
from ..support.arguments import real
from ..support.progress import Progress, limit, tell, told
from .hidden_search import BeliefCandidate, Search, judged, pruned
from .hidden_series import Hidden, known_symbols, softened
from .hidden_strings import HiddenStrings, StringSearch, closed, different_sizes, lean
from .machine_selection import OPERATIONS, select
from .search import Budget
from .selected import CERTAIN, Selection

SECONDS = 60.0
# Bits of the symbols that each dimension of a hidden machine is to save, and each of its states: by chance it is less
# than one for each dimension.
DIMENSION, STATE = 3.0, 5.0


@dataclass(frozen=True, eq=False)
class BeliefSelection:
    """Hidden machines that were considered for a series, beside the unifilar ones.

    Attributes
    ----------
    candidates : the hidden machines, shortest description first
    unifilar : the selection among unifilar machines, on the same scale
    alphabet : the symbols
    n_symbols : how many symbols each describes
    cut : whether the search was ended by the time that it was given
    whole : whether the sequences are whole strings, whose end is the last symbol
    """

    candidates: tuple[BeliefCandidate, ...]
    unifilar: Selection
    alphabet: tuple[Hashable, ...]
    n_symbols: int
    cut: bool
    whole: bool = False

    @property
    def chosen(self) -> BeliefCandidate:
        """The hidden machine that is taken: of a series, with all states that are no chance.

        A state that is weak saves less than it takes to describe it, ½ log2 N bits for each dimension, and still
        foretells better. Of whole strings that of the shortest description, as strings that were kept back choose them.
        """
        if self.whole:
            return self.candidates[0]
        n = 0.5 * float(np.log2(max(self.n_symbols, 2)))
        cost = [c.description_length - (n - DIMENSION) * c.dimensions + STATE * c.n_states for c in self.candidates]
        return self.candidates[int(np.argmin(np.round(cost, 2)))]

    @property
    def machine(self) -> BeliefMachine:
        """The hidden machine that is chosen, states by decreasing probability."""
        steps, home = self.chosen.machine.steps, self.chosen.machine.home
        order = np.argsort(-np.round(BeliefMachine(steps).stationary, 12), kind="stable")
        start = home[order] if self.whole else None
        return BeliefMachine(np.ascontiguousarray(steps[:, order][:, :, order]), self.alphabet, start=start)

    @property
    def gain(self) -> float:
        """Bits by which the shortest hidden machine is shorter than the unifilar one; negative where it is longer."""
        return self.unifilar.chosen.description_length - self.candidates[0].description_length

    @property
    def is_finite(self) -> bool:
        """Whether a unifilar machine, an epsilon-machine of finitely many states, is to be preferred."""
        return self.gain < CERTAIN

    def __repr__(self) -> str:
        best, other = self.chosen, self.unifilar.chosen
        return (
            f"BeliefSelection({best.n_states} hidden states, {best.description_length:,.1f} bits; epsilon-machine of "
            f"{other.n_states}, {other.description_length:,.1f} bits, for {self.n_symbols:,} symbols)"
        )


def belief_machine(
    symbols: Any,
    *,
    missing: Hashable = None,
    sequences: bool | None = None,
    whole: bool = False,
    seconds: float = SECONDS,
    progress: Progress = None,
) -> BeliefMachine:
    """The hidden states behind a symbol series, where no finite epsilon-machine tells all; without parameters.

    Parameters
    ----------
    symbols, missing, sequences : one or several sequences, as for `observe.series`
    whole : whether the sequences are whole strings, as for `epsilon_machine`
    seconds : time of this process after which the best machine so far is taken; work is bounded anyway
    progress : True for a bar, or a function that is called with a line of text at each step

    Returns
    -------
    BeliefMachine : states by decreasing probability; that of whole strings has a `start`. Cost: that of
        `select_beliefs`.

    Examples
    --------
    >>> import decisional as ds
    >>> sensor = ds.processes.misread(ds.processes.even(), 0.05)
    >>> belief_machine(sensor.simulate(5_000, rng=1)).n_states
    2
    """
    how: dict[str, Any] = {"missing": missing, "sequences": sequences, "whole": whole, "seconds": seconds}
    return select_beliefs(symbols, **how, progress=progress).machine


def select_beliefs(
    symbols: Any,
    *,
    missing: Hashable = None,
    sequences: bool | None = None,
    whole: bool = False,
    seconds: float = SECONDS,
    progress: Progress = None,
) -> BeliefSelection:
    """Search for hidden machines and for unifilar ones, and compare all by description length.

    Parameters are those of `belief_machine`. Cost: passes of O(n n_states²), at most OPERATIONS in all, besides
    `select`.

    Returns
    -------
    BeliefSelection
        The hidden machines, the rival among unifilar ones, and what is gained.
    """
    seconds = real(seconds, "seconds", above=0, remedy="try seconds=60", of="select_beliefs")
    budget = Budget(OPERATIONS, seconds)
    with told(progress):
        unifilar = select(symbols, missing=missing, sequences=sequences, whole=whole, seconds=seconds)
        limit(seconds)
        if unifilar.whole:
            return _select_strings(unifilar, budget)
        return _select_series(unifilar, budget, symbols, missing, sequences)


def _select_series(
    unifilar: Selection, budget: Budget, symbols: Any, missing: Hashable, sequences: bool | None
) -> BeliefSelection:
    """Hidden machines of a series, by description length."""
    source = read(symbols, missing, sequences)
    # Ties are decided in the order in which symbols appear, so that their names change nothing.
    place = source.appearance
    codes = np.append(place, -1)[source.lut][source.raw]
    series = known_symbols(codes, source.bounds, len(source.letters))
    search = Search(series, budget)
    found = search.grown()
    chosen = unifilar.chosen
    order = np.argsort(place)
    begun = softened(chosen.targets[:, order], chosen.emission[:, order])
    known = None if chosen.n_states == 1 else search.best_of(iter([begun]))
    found += [] if known is None else search.shrunk(known)
    found.sort(key=lambda c: (round(c.description_length, 2), c.n_states))
    candidates = tuple(replace(c, machine=Hidden(c.machine.steps[place], c.machine.home)) for c in found)
    return BeliefSelection(candidates, unifilar, source.letters, series.size, budget.cut)


def _select_strings(unifilar: Selection, budget: Budget) -> BeliefSelection:
    """Hidden machines of whole strings that foretell others best, by description length."""
    assert unifilar.data is not None
    known, place = unifilar.data
    order = np.argsort(place)
    search = StringSearch(HiddenStrings(known.codes, known.n_symbols), budget)
    begun = [(c.targets[:, order], c.counts[:, order]) for c in different_sizes(unifilar.candidates)]
    found = []
    for one in search.best(begun):
        (machine,) = one.on_all(search.series, budget)
        along = judged(pruned(lean(machine), search.series, budget), search.series)
        found.append(replace(along, machine=closed(along.machine)))
        tell(f"{found[-1].n_states} hidden states: {found[-1].description_length:,.1f} bits")
    found.sort(key=lambda c: (round(c.description_length, 2), c.n_states))
    candidates = tuple(replace(c, machine=Hidden(c.machine.steps[place], c.machine.home)) for c in found)
    return BeliefSelection(candidates, unifilar, unifilar.alphabet, known.size, budget.cut, whole=True)
