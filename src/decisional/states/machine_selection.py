"""The machine of a series without parameters: candidates, a search, and the shortest description.

Every machine is judged alike: the whole series is driven through it, and its description length is the bits of the
symbols given the machine, plus the machine itself: ½ log2 N for each free probability, log2 K for each edge, log2 N for
each symbol that it holds impossible. Where the state is not known, at the start of a sequence and after a gap, symbols
are coded by what is believed of it: a missing symbol may have been any, and moves the state before it on. Candidates
come from `reconstruct` with windows of many lengths, and from `merging` where these do not tell all; the best of them
are improved by `search`. The best tree of contexts is one more, whose description is that of a tree.
"""

import math
import warnings
from collections.abc import Hashable, Iterator
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any

import numpy as np

from ..data import sequences as reading
from ..data.observations import Observations
from ..data.series import windows
from ..data.stored_symbols import Piece, stored_symbols
from ..machines import EpsilonMachine
from ..machines.chains import renumbered
from ..support.arguments import flag, integer, real
from ..support.arrays import Ints
from ..support.progress import Progress, details, limit, tell, told
from . import aggregation, matching
from .climbing import drawn_tables
from .distributions import Counts
from .doubt import doubts
from .merging import cycles, merged_contexts, pruned_contexts, shaken, unexplained
from .reconstruct import reconstruct
from .search import Budget, Candidate, Proposal, StoredSeries, SymbolSeries
from .selected import LARGE, Selection, same_machine, states_told
from .strings import merged_prefixes, whole_strings, with_missing

# Symbols on which neighbours are compared, first few, then more; the outcome is judged on all of them.
SEARCHED = (20_000, 200_000)
# Symbols of stored data that windows are counted in, and of each block of them: enough for the search, which thereby
# begins with the data themselves.
SAMPLE = 1 << 23
BLOCK = 1 << 18
# Different machines from which the search starts, if their description is at most so much longer than the best.
STARTS = 3
PROMISING = 1.1
# Operations of merging states within a reconstruction: windows end where they would be more.
RECONSTRUCTING = 4e9
# A machine of several states that so many lengths of past agree on is the plateau.
PLATEAU = 5
# Windows grow while each was seen this often on average; rarer ones say no more than their suffixes.
SEEN = 10
LONGEST = 64

# What a selection of a million symbols or less may cost, in operations of about a nanosecond, and in seconds where that
# is not kept; more symbols may cost more in proportion.
MILLION = 1e6
OPERATIONS = 2e10
SECONDS = 25.0
# Machines of more than LARGE states are compared with merged ones even where they tell all, for so many operations.
COMPARING = 4e9
# A better machine is looked for where what the symbols before tell would be chance in fewer cases than this, so many of
# few symbols, in proportion fewer of more: it costs more, and is in vain where the machine is right.
LIKELY = 0.25
FEW = 1_000
# Symbols that merged machines are proposed from, and that tell what a machine lacks.
MERGED = 1 << 20


def epsilon_machine(
    symbols: Any,
    max_past: int | None = None,
    max_future: int | None = None,
    *,
    missing: Hashable = None,
    sequences: bool | None = None,
    whole: bool = False,
    seconds: float | None = None,
    progress: Progress = None,
) -> EpsilonMachine:
    """The epsilon-machine of a symbol series or a signal, without parameters.

    Parameters
    ----------
    symbols, missing, sequences : one or several sequences, as for `observe.series`; those that it reads slice by slice
        (large memory maps, and arrays of zarr, HDF5 and Dask) need not fit in memory, see `select`. Floats that hardly
        repeat are a signal, whose values must fall into levels: see `states.signal_machine`
    max_past : longest window; by default as long as windows are seen ten times each on average. Where it is given, no
        machines are drawn at random, whose states no window tells
    max_future : longest future that windows are told apart by, default 2
    whole : whether the sequences are whole strings, such as words, sessions or sentences: each begins in one state,
        ``machine.start``, and its end is an event, the last symbol, "<end>". See `states.strings`
    seconds : time of this process after which the best machine so far is taken, which a warning then says; by default
        25 for up to a million symbols, in proportion for more. Work is bounded anyway, in operations, so that the
        answer does not depend on the computer unless that is slow
    progress : True for a bar, or a function that is called with a line of text at each step

    Returns
    -------
    EpsilonMachine : recurrent states by decreasing probability; that of a signal has `levels`, and its symbols are
        their numbers. It keeps its `counts`, and holds nothing impossible. A warning says when the data are too short
        to tell, and when the machine does not tell all.

    Examples
    --------
    >>> import decisional as ds
    >>> machine = epsilon_machine(ds.processes.nemo().simulate(10_000, rng=1))
    >>> machine.is_isomorphic(ds.processes.nemo(), atol=0.05)
    True
    """
    how: dict[str, Any] = {"missing": missing, "sequences": sequences, "whole": whole, "seconds": seconds}
    try:
        selection, signal = select(symbols, max_past, max_future, **how, progress=progress), None
    except reading.NotSymbols as numbers:
        selection, signal = None, numbers
    if signal is not None:
        from .signal_machine import signal_machine

        return signal_machine(signal.values, signal.bounds.tolist(), progress)
    assert selection is not None
    if selection.warning is not None:
        warnings.warn(selection.warning, UserWarning, stacklevel=2)
    return selection.machine


def select(
    symbols: Any,
    max_past: int | None = None,
    max_future: int | None = None,
    *,
    missing: Hashable = None,
    sequences: bool | None = None,
    whole: bool = False,
    seconds: float | None = None,
    progress: Progress = None,
) -> Selection:
    """Reconstruct with windows of many lengths, search from the best, and compare all by description length.

    Parameters are those of `epsilon_machine`.

    Cost: linear in the number of symbols; about 40 reconstructions, then a search on at most 200,000 symbols. Where the
    best machine does not tell all, others are merged from contexts of at most 2**20 symbols, see `states.merging`. All
    this is bounded by OPERATIONS, whatever the computer; `seconds` of this process are a guard beside. Of stored
    data only a sample of 2**23 symbols in evenly spread blocks is kept: windows are counted there. All symbols are then
    driven through each different machine that was found, so that lengths, counts and probabilities are those of all
    data: two minutes for 10**9 symbols on two busy cores, and 0.1 GB (0.7 GB where windows outgrow 62 bits).

    Returns
    -------
    Selection
        The candidates, the chosen machine, why it was chosen, and what speaks against trusting it.
    """
    max_past, max_future = (
        value if value is None else integer(value, name, remedy="give one, or None", of="select")
        for name, value in (("max_past", max_past), ("max_future", max_future))
    )
    if seconds is not None:
        seconds = real(seconds, "seconds", above=0, remedy="try seconds=30", of="select")
    if flag(whole, "whole"):
        for name, value in (("max_past", max_past), ("max_future", max_future)):
            if value is not None:
                raise ValueError(
                    f"The {name!r} is {value} with whole=True; machines of whole strings are found without windows: "
                    "leave it out."
                )
    with told(progress):
        if whole:
            return _select_strings(symbols, missing, sequences, seconds)
        return _select_series(symbols, max_past, max_future, missing, sequences, seconds)


def _budget(size: int, seconds: float | None) -> Budget:
    """What the selection for so many symbols may cost."""
    many = max(size / MILLION, 1.0)
    seconds = SECONDS * many if seconds is None else seconds
    limit(seconds)
    return Budget(OPERATIONS * many, seconds)


def _select_series(
    symbols: Any,
    max_past: int | None,
    max_future: int | None,
    missing: Hashable,
    sequences: bool | None,
    seconds: float | None,
) -> Selection:
    """Machines of series that go on, by windows, merging and search."""
    source, stored = _read(symbols, missing, sequences)
    # Ties are decided in the order in which symbols appear, so that their names change nothing.
    place = np.append(source.appearance, -1)
    source = replace(source, lut=place[source.lut])
    budget = _budget(source.raw.size if stored is None else stored.size, seconds)
    series = SymbolSeries(source.raw, source.lut, source.bounds, len(source.letters), budget)
    given = list(_reconstructions(source, series, max_past, max_future or 2))
    whole: StoredSeries = series
    found = [candidate for candidate, _ in given]
    if stored is not None:
        whole = StoredSeries(partial(_renumbered, stored, place), stored.size, len(source.letters))
        found = _on_all(given, whole)
    # What is drawn at random may remember more than a past that is bounded.
    for propose in (_merged, _shaken, _searches, _drawn) if max_past is None else (_merged, _shaken, _searches):
        found.sort(key=lambda c: c.length)
        found += propose(found, series, whole)
    # What is believed of the first state is to follow from the machine, not from how it was found.
    least = min(c.length for c in found)
    found = [replace(whole.drive(*c.proposal), **c.origin) if c.length < least + 1.0 else c for c in found]
    found += _pruned(found, series, whole)
    # Of equal machines the one from the shortest windows comes first.
    found.sort(key=lambda c: (round(c.length, 2), c.searched, c.past, c.future))
    rest, chance = doubts(series.beginning(MERGED), found[0])
    candidates = tuple(replace(c, targets=c.targets[:, place[:-1]], counts=c.counts[:, place[:-1]]) for c in found)
    known = round(float(candidates[0].counts.sum())), rest, budget.cut, chance, budget.left < 0
    series.budget = Budget()
    return Selection(candidates, source.letters, *known, data=(series, place[:-1]))


def _select_strings(symbols: Any, missing: Hashable, sequences: bool | None, seconds: float | None) -> Selection:
    """Machines of whole strings, by merging their prefixes."""
    strings = whole_strings(symbols, missing, sequences)
    strings.series.budget = budget = _budget(strings.series.size, seconds)
    found = []
    for candidate in merged_prefixes(strings.series):
        tell(f"{candidate.how}: {states_told(candidate.n_states)}, {candidate.length:,.1f} bits")
        found.append(candidate)
    found.sort(key=lambda c: (round(c.length, 2), c.searched))
    rest = unexplained(strings.series.beginning(MERGED), found[0])
    found[0] = with_missing(strings.series, found[0])
    place = strings.place
    candidates = tuple(replace(c, targets=c.targets[:, place], counts=c.counts[:, place]) for c in found)
    known = strings.series.size, rest, budget.cut, 1.0, budget.left < 0
    strings.series.budget = Budget()
    return Selection(candidates, strings.letters, *known, whole=True, data=(strings.series, place))


def best_window(
    symbols: Any, *, missing: Hashable = None, sequences: bool | None = None, progress: Progress = None
) -> int:
    """The length of the windows whose machine describes a symbol series shortest, by the rule of `epsilon_machine`.

    Parameters
    ----------
    symbols, missing, sequences : as for `decisional.observe.series`
    progress : True for a bar, or a function that is called with a line of text for each length

    Returns
    -------
    int : for `decisional.observe.series`, which chooses it itself with past="auto". Cost: linear in the number of
        symbols, about 20 reconstructions; of stored data those of a sample.

    Examples
    --------
    >>> import decisional as ds
    >>> best_window(ds.processes.golden_mean().simulate(5000, rng=1))
    1
    """
    source, _ = _read(symbols, missing, sequences)
    source = replace(source, lut=np.append(source.appearance, -1)[source.lut])
    series = SymbolSeries(source.raw, source.lut, source.bounds, len(source.letters))
    with told(progress):
        found = [candidate for candidate, _ in _reconstructions(source, series, None, 1)]
    least = min(candidate.length for candidate in found)
    return max(next(candidate.past for candidate in found if candidate.length < least + 1.0), 1)


def _read(symbols: Any, missing: Hashable, sequences: bool | None) -> tuple[reading.Symbols, Any]:
    """Symbols in memory, a sample of them where they are stored and many; and those that are stored, or None."""
    data = stored_symbols(symbols, missing)
    stored = data if data is not None and data.size > SAMPLE else None
    if stored is None:
        source = reading.read(symbols if data is None else data.loaded(), missing, sequences)
    else:
        source = stored.sample(SAMPLE, BLOCK)
    shape = source.shape if stored is None else stored.shape
    if len(shape) == 2 and shape[0] > 1 and shape[1] < 2:
        raise ValueError(
            f"The 'symbols' are {shape[0]} sequences of at most one symbol; a machine is found from symbols that "
            "follow each other: give one column, such as frame['name'], or array.ravel()."
        )
    return source, stored


def _renumbered(stored: Any, place: Ints, ahead: int) -> Iterator[Piece]:
    """The slices of stored symbols, whose codes are renumbered."""
    return (replace(piece, lut=place[piece.lut]) for piece in stored.pieces(ahead))


def _on_all(given: list[tuple[Candidate, Proposal]], whole: StoredSeries) -> list[Candidate]:
    """Candidates from a sample along all symbols; those that differ by no more than probabilities are driven once."""
    different: list[Proposal] = []
    place = []
    for _, proposal in given:
        same = (i for i, other in enumerate(different) if same_machine(other, proposal))
        place.append(next(same, len(different)))
        if place[-1] == len(different):
            different.append(proposal)
    tell(f"{whole.size:,} symbols through {len(different)} machines")
    along = [whole.settle(whole.merge(whole.settle(machine))) for machine in whole.drive_all(different)]
    return [replace(along[i], past=c.past, future=c.future) for (c, _), i in zip(given, place, strict=True)]


def _windows(source: reading.Symbols, max_past: int | None, max_future: int) -> Iterator[Observations]:
    """Windows of increasing past, as long as they are seen often enough."""
    for past in range(1, (max_past or LONGEST) + 1):
        for future in range(1, min(max_future, LONGEST) + 1):
            seen = windows(source, past, future, may_be_none=True)
            if not seen.n:
                return
            yield seen
        if max_past is None and seen.table().n_x * SEEN > seen.n:
            return


def _reconstructions(
    source: reading.Symbols, series: SymbolSeries, max_past: int | None, max_future: int
) -> Iterator[tuple[Candidate, Proposal]]:
    """One state, then machines from longer and longer windows, merged where that is shorter, until they level out."""
    n = series.n_symbols
    one = np.zeros((1, n), np.int64), np.full((1, n), 1.0 / n)
    best, known = series.drive(*one), 1
    yield best, one
    for seen in _windows(source, max_past, max_future):
        if best.n_states > 1 and seen.past > best.past + PLATEAU:
            return
        # A longer past has up to n times as many states, and merging these takes their fourth power.
        if n * min(n * known, seen.table().n_x) ** 4 > RECONSTRUCTING:
            return
        with details():
            result = reconstruct(seen, Counts(), matching.GTest(), aggregation.Aggregate(), ordered=True)
        if result.machine is None or not result.machine.recurrent.any():
            continue
        part = _recurrent(result.machine)
        along = replace(series.fit(part), past=seen.past, future=seen.future)
        tell(f"past {seen.past}, future {seen.future}: {states_told(along.n_states)}, {along.length:,.1f} bits")
        if along.length < best.length - 1.0:
            best = along
        yield along, part
        known = len(part[0])


def _recurrent(machine: EpsilonMachine) -> Proposal:
    """All recurrent states of a machine, in one class or several, by decreasing probability."""
    states = np.flatnonzero(machine.recurrent)
    # Rounding makes ties of equal probabilities, which keep their order.
    states = states[np.argsort(-np.round(machine.stationary[states], 12), kind="stable")]
    return renumbered(machine.targets, states), machine.stationary[states, None] * machine.emission[states]


def _searches(found: list[Candidate], series: SymbolSeries, whole: StoredSeries) -> Iterator[Candidate]:
    """The best different machines, improved on the beginning of the series and judged on the whole of it.

    Once COMPARING operations are spent, no more of them than until the best tells all.
    """
    best, part, enough = found[0], series.beginning(MERGED), series.budget.left - COMPARING
    begun: list[Proposal] = []
    for start in found:
        proposal = start.proposal
        far = start.length > PROMISING * best.length
        if len(begun) == STARTS or far or any(same_machine(proposal, other) for other in begun):
            continue
        begun.append(proposal)
        along = _searched(start, series, whole)
        best = min(best, along, key=lambda one: one.length)
        if along is not start:
            yield along
        if series.budget.left < enough and unexplained(part, best) <= 0:
            return


def _searched(start: Candidate, series: SymbolSeries, whole: StoredSeries) -> Candidate:
    """A machine improved on the beginning of the series and judged on the whole of it, if that is shorter.

    One whose neighbours are too many to be looked at is left as it is.
    """
    if not series.beginning(SEARCHED[0]).may_move(start):
        return start
    along, searched = start, None
    for part in map(series.beginning, SEARCHED):
        again = part.fit(along.proposal)
        # On the same symbols the same machine is where the search ended.
        along = again if part is searched and again.equals(along) else part.improve(again)
        searched = part
    along = whole.fit(along.proposal)
    begun_from = f"past {start.past}" if start.how == "windows" else start.how
    tell(f"search from {begun_from}: {states_told(along.n_states)}, {along.length:,.1f} bits")
    return replace(along, **start.origin | {"searched": True}) if along.length < start.length - 1e-6 else start


def _merged(found: list[Candidate], series: SymbolSeries, whole: StoredSeries) -> Iterator[Candidate]:
    """Machines by merging contexts, where the best one is large or does not tell all."""
    part = series.beginning(MERGED)
    proposed = chain(cycles(part), merged_contexts(part))
    yield from _judged(proposed, found[0], LARGE, part, whole)


def _shaken(found: list[Candidate], series: SymbolSeries, whole: StoredSeries) -> Iterator[Candidate]:
    """Machines near the best one, where that is large or does not tell all, for COMPARING operations."""
    part, best = series.beginning(MERGED), found[0]
    enough = part.budget.left - COMPARING
    if best.n_states <= LARGE and unexplained(part, best) <= 0:
        return
    for proposal in shaken(part, best):
        along = proposal if part is whole else replace(whole.fit(proposal.proposal), **proposal.origin)
        tell(f"{along.how}: {states_told(along.n_states)}, {along.length:,.1f} bits")
        yield along
        if part.budget.left < enough:
            return


def _drawn(found: list[Candidate], series: SymbolSeries, whole: StoredSeries) -> Iterator[Candidate]:
    """Small machines drawn at random, where there are few symbols: no context need tell their state.

    More of them where contexts might tell more than the state.
    """
    part, best = series.beginning(MERGED), found[0]
    rest, chance = doubts(part, best)
    lacking = rest > 0 or chance < LIKELY * min(FEW / max(part.size, 1), 1.0)
    for proposal in drawn_tables(part, best, lacking):
        along = proposal if part is whole else replace(whole.fit(proposal.proposal), **proposal.origin)
        tell(f"{proposal.how}: {states_told(along.n_states)}, {along.length:,.1f} bits")
        yield along
        if along.length < best.length - 1e-6:
            best = _searched(along, series, whole)
            yield best


def _pruned(found: list[Candidate], series: SymbolSeries, whole: StoredSeries) -> Iterator[Candidate]:
    """The machine of the best tree of contexts, if that is shorter than the best so far.

    A tree costs about a bit for each context, far less than the edges of a machine that may be any, and rows of few
    symbols less than ½ log2 N. It has no names of states, while log2 K! bits of a machine only say how its K states
    are numbered: these are not counted against it.
    """
    if series is not whole or series.size > MERGED or series.budget.spent:
        return
    tree, best = pruned_contexts(series), min(found, key=lambda one: one.length)
    tell(f"tree: {states_told(tree.n_states)}, {tree.length:,.1f} bits")
    if tree.length < best.length - math.lgamma(best.n_states + 1) / math.log(2):
        yield tree


def _judged(
    proposed: Iterator[Candidate],
    best: Candidate,
    small: float,
    part: SymbolSeries,
    whole: StoredSeries,
) -> Iterator[Candidate]:
    """Proposals on the whole series, until the best tells all and is small, or COMPARING operations are spent."""
    enough, lacking = part.budget.left - COMPARING, unexplained(part, best)
    if lacking <= 0 and best.n_states <= small:
        return
    for proposal in proposed:
        along = proposal if part is whole else whole.fit(proposal.proposal)
        tell(f"{proposal.how}: {states_told(along.n_states)}, {along.length:,.1f} bits")
        yield replace(along, **proposal.origin)
        if along.length < best.length:
            best, lacking = along, unexplained(part, along)
        if lacking <= 0 and (best.n_states <= small or part.budget.left < enough):
            return
