"""CSSR, causal-state splitting reconstruction, of Shalizi and Shalizi (2004).

Written from the article ("Blind construction of optimal nonlinear recursive predictors for discrete
sequences", UAI 2004), with the choices it leaves open made as in the authors' program, version 0.1, where
they make sense; `cssr` lists where they differ.
"""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._kernels import splitting as kernels
from ..data import sequences as reading
from ..data.observations import Table
from ..data.series import windows
from ..machines import EpsilonMachine, chains
from ..machines.epsilon_machine import trusted_machine
from ..support.arguments import choice, integer, real
from ..support.arrays import Floats, Ints

TESTS = ("ks", "chi2")
# Closed classes with a smaller share of the windows are where the data happen to end, not where the process stays.
LEAST = 0.05


def cssr(
    symbols: Any,
    past: int,
    alpha: float = 0.001,
    test: str = "ks",
    *,
    missing: Hashable = None,
    sequences: bool | None = None,
) -> EpsilonMachine:
    """Reconstruct an epsilon-machine by splitting the states of longer and longer histories.

    All histories start in one state. By increasing length, each is tested against the state of its parent, the
    history without its oldest symbol: it stays there, or joins the state that matches it best, or opens a new
    one. Transient states are then removed, and states are split until each symbol leads to a single state.

    Parameters
    ----------
    symbols : str, bytes, list of hashables, integer array, or a list of several sequences
        As for `decisional.observe.series`.
    past : int
        Length L of the longest histories, at least 1. There must be data for all of them: with 2^(L h) above
        about N alpha, h being the entropy rate, spurious states appear by the hundred.
    alpha : float
        Significance level of each test, in (0, 1).
    test : {"ks", "chi2"}
        Two-sample test of next-symbol counts: Kolmogorov-Smirnov over the alphabet in its order, with the
        asymptotic p-value for continuous samples, or Pearson's chi-square.
    missing, sequences
        As for `decisional.observe.series`.

    Returns
    -------
    EpsilonMachine
        The recurrent states (closed classes, once states that lead nowhere but to the end of the data are
        left aside), by decreasing probability, named A, B, ...; `weights` are the shares of the windows in
        them. If they hold less than 5 % of the windows (histories so long that few are seen twice), all the
        states that are left, transient ones and dead ends included.

    Notes
    -----
    As in the program, a history that opens a state takes its ancestors out of theirs, and only histories of
    `past` and `past` - 1 symbols count for transitions, the longer ones only in states without shorter ones.
    A symbol whose target was removed as transient is dropped, and the others scaled to 1.

    Unlike the program: a rejected history joins the best match, not the first (as in the article); transient
    states are those outside closed classes, not those without a parent; where a window's successor is not
    known, it stays with the majority of its state when this is split, not with the first window; emissions
    count each window once; chi-square has one degree of freedom less than symbols, not as many; and short
    series give a machine rather than an error.

    Cost: one pass over the symbols, then O(H (S + L)) for H distinct histories and S states.

    References
    ----------
    C. R. Shalizi and K. L. Shalizi, Blind construction of optimal nonlinear recursive predictors for discrete
    sequences, in Uncertainty in Artificial Intelligence 20 (2004), pp. 504-511.

    Examples
    --------
    >>> from decisional import processes
    >>> cssr(processes.golden_mean().simulate(10_000, rng=0), past=4).n_states
    2
    """
    return cssr_histories(symbols, past, alpha, test, missing=missing, sequences=sequences)[0]


def cssr_histories(
    symbols: Any,
    past: int,
    alpha: float = 0.001,
    test: str = "ks",
    *,
    missing: Hashable = None,
    sequences: bool | None = None,
) -> tuple[EpsilonMachine, list[list[tuple[Hashable, ...]]]]:
    """The machine of `cssr`, and the histories in each of its states.

    Parameters are those of `cssr`.

    Returns
    -------
    EpsilonMachine
    list of lists of tuples
        For each state its histories of `past` - 1 symbols, then those of `past` symbols, the oldest symbol first.

    Examples
    --------
    >>> machine, histories = cssr_histories("01" * 50, past=2)
    >>> histories
    [[('0',), ('1', '0')], [('1',), ('0', '1')]]
    """
    past = integer(past, "past", of="cssr")
    alpha = real(alpha, "alpha", above=0, below=1, remedy="try alpha=0.001", of="cssr")
    choice(test, "test", TESTS, of="cssr")
    source = reading.read(symbols, missing, sequences)
    observed = windows(source, past, 1)
    table = observed.table()
    histories = _homogenise(table, past, len(source.letters), alpha, TESTS.index(test))
    histories = _numbered(histories, _recurrent(histories))
    histories = _determinise(histories)
    histories = _numbered(histories, _recurrent(histories))
    machine, number = _machine(histories, source.letters)
    words = observed.words(np.arange(table.n_x))[:, ::-1]
    return machine, _listed(number[histories.label], histories, words, source.letters)


@dataclass(frozen=True)
class _Histories:
    """Histories of past - 1 symbols (m of them), then those of past symbols: the rows of the table.

    Attributes
    ----------
    label : (m + n_x,) state of each, -1 = removed
    word : (m + n_x,) number of its ending of past - 1 symbols
    weight : (m + n_x,) how often it was seen
    target : (m, n_symbols) the history that follows an ending on a symbol, -1 = none
    table : what followed the rows
    """

    label: Ints
    word: Ints
    weight: Ints
    target: Ints
    table: Table

    def relabel(self, label: Ints) -> "_Histories":
        return _Histories(label, self.word, self.weight, self.target, self.table)


def _homogenise(table: Table, past: int, n_symbols: int, alpha: float, test: int) -> _Histories:
    """Histories in states that each have one next-symbol distribution."""
    new = table.shared < past - 1
    ending = np.cumsum(new) - int(new[0])
    m, n = int(ending[-1]) + 1, table.n_x
    label = np.empty(m + n, np.int64)
    kernels.homogenise(
        table.start,
        table.outcome,
        table.count,
        table.shared,
        past,
        n_symbols,
        alpha,
        test,
        label[m:],
        label[:m],
    )
    if past == 1:
        # The empty history leads nowhere in particular.
        label[0] = -1
    # The successor of a window is that of its last past - 1 symbols: all windows with these share it.
    target = np.full((m, n_symbols), -1, np.int32)
    assert table.steps is not None
    target[ending[table.steps.source], table.steps.symbol] = m + table.steps.target
    weight = np.bincount(ending, weights=table.weight).astype(np.int64)
    word = np.concatenate([np.arange(m), ending])
    return _Histories(label, word, np.concatenate([weight, table.weight]), target, table)


def _numbered(histories: _Histories, kept: Ints) -> _Histories:
    """The histories of the kept states, these numbered from 0."""
    number = np.full(int(histories.label.max()) + 2, -1, np.int64)
    number[kept] = np.arange(kept.size)
    return histories.relabel(number[histories.label])


def _recurrent(histories: _Histories) -> Ints:
    """States in closed classes of the graph of states, as their histories lead from one to another."""
    label, m = histories.label, histories.target.shape[0]
    states = np.unique(label[label >= 0])
    if states.size <= 1:
        return states
    # Windows forget their oldest symbol at each step, so that an unsynchronised one can follow a synchronised
    # one: only the shorter histories, which keep all their symbols, tell where a state leads.
    n = int(states[-1]) + 1
    has_short = np.zeros(n + 1, bool)
    has_short[label[:m]] = True
    leads = label >= 0
    leads[m:] &= ~has_short[label[m:]]
    source, symbol = np.nonzero(histories.target[histories.word[leads]] >= 0)
    source = np.flatnonzero(leads)[source]
    target = label[histories.target[histories.word[source], symbol]]
    mass = np.bincount(label[label >= 0], weights=histories.weight[label >= 0]).astype(float)
    return _closed(label[source[target >= 0]], target[target >= 0], states, mass)


def _closed(source: Ints, target: Ints, states: Ints, mass: Floats) -> Ints:
    """States in closed classes, dead ends left aside; all the states if these classes have next to no mass."""
    # The last windows of the data may lead nowhere: otherwise every state that leads to them would be transient.
    n = int(states[-1]) + 1
    degree, dead = np.bincount(source, minlength=n), np.zeros(n, bool)
    order = np.argsort(target, kind="stable")
    start = np.searchsorted(target[order], np.arange(n + 1))
    kernels.dead_ends(start, source[order], degree, dead)
    lives = ~dead[source] & ~dead[target]
    classes = chains.closed_classes(chains.Chain.of_edges(n, source[lives], target[lives], np.ones(lives.sum())))
    closed: Ints = np.sort(np.concatenate(classes)) if classes else states[:0]
    return closed if mass[closed].sum() >= LEAST * mass.sum() else states


def _determinise(histories: _Histories) -> _Histories:
    """Split the states by their successors."""
    label = histories.label.copy()
    n_states = int(label.max()) + 1
    kernels.determinise(label, histories.word, histories.target, histories.weight, n_states)
    return histories.relabel(label)


def _counts(histories: _Histories, n_states: int, n_symbols: int) -> tuple[Floats, Floats]:
    """Next-symbol counts of the windows in each state, of the shorter histories where it has no window; and
    how many windows each state has."""
    m = histories.target.shape[0]
    label, table = histories.label, histories.table
    row = np.repeat(np.arange(table.n_x), np.diff(table.start))

    def tally(state: Ints) -> Floats:
        seen = state >= 0
        key = state[seen] * n_symbols + table.outcome[seen]
        counts = np.bincount(key, weights=table.count[seen], minlength=n_states * n_symbols)
        return counts.astype(float).reshape(n_states, n_symbols)

    counts = tally(label[m:][row])
    mass = counts.sum(axis=1)
    if not mass.all():
        counts[mass == 0.0] = tally(label[histories.word[m:]][row])[mass == 0.0]
    return counts, mass


def _listed(
    label: Ints, histories: _Histories, words: Ints, letters: tuple[Hashable, ...]
) -> list[list[tuple[Hashable, ...]]]:
    """The histories of each state as symbols, shorter ones first, each length in the order of the alphabet."""
    m = histories.target.shape[0]
    first = np.unique(histories.word[m:], return_index=True)[1]
    whole = [*map(tuple, words[first, 1:].tolist()), *map(tuple, words.tolist())]
    found: list[list[tuple[int, ...]]] = [[] for _ in range(int(label.max(initial=-1)) + 1)]
    for state, word in zip(label.tolist(), whole, strict=True):
        if state >= 0:
            found[state].append(word)
    ordered = (sorted(state, key=lambda word: (len(word), word)) for state in found)
    return [[tuple(letters[code] for code in word) for word in state] for state in ordered]


def _machine(histories: _Histories, letters: tuple[Hashable, ...]) -> tuple[EpsilonMachine, Ints]:
    """The machine of states that are unifilar, its closed classes alone if there are any; and the number in it of each
    state, -1 = left out."""
    label = histories.label
    n, n_symbols = int(label.max()) + 1, len(letters)
    known = np.flatnonzero(label >= 0)
    item, symbol = np.nonzero(histories.target[histories.word[known]] >= 0)
    item = known[item]
    after = label[histories.target[histories.word[item], symbol]]
    targets = np.full((n, n_symbols), -1, np.int64)
    targets[label[item][after >= 0], symbol[after >= 0]] = after[after >= 0]
    counts, mass = _counts(histories, n, n_symbols)
    counts[targets < 0] = 0.0
    source, symbol = np.nonzero(counts)
    kept = _closed(source, targets[source, symbol], np.arange(n), mass)
    kept = kept[np.argsort(-mass[kept], kind="stable")]
    number = np.full(n + 1, -1, np.int64)
    number[kept] = np.arange(kept.size)
    targets, counts, mass = number[targets[kept]], counts[kept], mass[kept]
    counts[targets < 0] = 0.0
    emission = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1.0)
    return trusted_machine(targets, emission, letters, mass if mass.any() else None), number
