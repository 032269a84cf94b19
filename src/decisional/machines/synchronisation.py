"""How an observer of symbols comes to know the state of a minimal unifilar machine: orders, words, times.

Pure functions of arrays, but for the record that `EpsilonMachine` returns. `targets` has shape (n_states, n_symbols),
-1 = none; all states are recurrent, and no two have the same future.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .chains import Chain, closed_classes, mergeable

Array = NDArray[Any]

# Sets of states that an observer may hold possible, with the states in them.
MOST = 50_000
# Systems up to this size have their eigenvalues found densely.
DENSE = 400


@dataclass(frozen=True)
class Synchronisation:
    """How an observer comes to know the state, as `EpsilonMachine.synchronisation` returns it.

    Attributes
    ----------
    word : tuple of symbols or None
        The shortest word after which the state is known whatever it was before, the first one in the order of the
        alphabet; None if there is none.
    length : number of its symbols, `math.inf` if there is none
    time : mean number of symbols until the state is known for sure, `math.inf` if it may never be
    rate : lim P(not known after L symbols)^(1 / L); 0 if all are known after finitely many, 1 if some never are
    """

    word: tuple[Hashable, ...] | None
    length: float
    time: float
    rate: float


def _longest(targets: Array, within: Array) -> float:
    """Length of the longest word that keeps a pair of states apart, within some pairs (n_states, n_states); plus one,
    0 if there is no pair, and infinite if there is no longest one."""
    alive = within & ~np.eye(len(targets), dtype=bool)
    rounds = 0
    while alive.any():
        after = np.zeros_like(alive)
        for ends in targets.T:
            sources = np.flatnonzero(ends >= 0)
            i, j = np.nonzero(alive[np.ix_(sources, sources)])
            after[ends[sources[i]], ends[sources[j]]] = True
        after &= alive
        # A pair that no other leads to falls away in each round, unless all that are left are on cycles.
        if (after == alive).all():
            return math.inf
        alive = after
        rounds += 1
    return rounds


def markov_order(targets: Array) -> float:
    """The number of symbols that always tell the state. Cost: O(n_states² n_symbols) for each of them."""
    return _longest(targets, np.ones((len(targets), len(targets)), bool))


def cryptic_order(targets: Array) -> float:
    """The number of symbols after which the state is known to who knows the whole future.

    A pair of states stays in doubt for ever only if a common word can send both to the same one: otherwise the symbols
    tell them apart in the end. Cost: O(n_states² n_symbols) for each symbol.
    """
    return _longest(targets, mergeable(targets))


def synchronisation(
    targets: Array, emission: Array, stationary: Array, alphabet: tuple[Hashable, ...]
) -> Synchronisation | None:
    """Words and times of synchronisation; None if there are too many sets of possible states.

    The observer holds a set of states possible; with the state that is the true one it makes a Markov chain. Cost:
    O(n_symbols) for each of the pairs of such a set and a state in it, of which there may be 2^n_states, and a sparse
    system of them.
    """
    n, n_symbols = targets.shape
    start = frozenset(range(n))
    words: dict[frozenset[int], tuple[int, ...]] = {start: ()}
    after: dict[frozenset[int], list[frozenset[int]]] = {}
    frontier, size = [start], 0
    while frontier:
        current = frontier.pop(0)
        if len(current) == 1:
            continue
        members = np.fromiter(current, np.int64)
        size += len(current)
        if size > MOST:
            return None
        after[current] = []
        for a in range(n_symbols):
            ends = targets[members, a]
            then = frozenset(ends[ends >= 0].tolist())
            after[current].append(then)
            if then and then not in words:
                words[then] = (*words[current], a)
                frontier.append(then)
    known = [word for states, word in words.items() if len(states) == 1]
    if not known:
        return Synchronisation(None, math.inf, math.inf, 1.0)
    # Sets were found by length, and in the order of the alphabet.
    word = min(known, key=len)
    time, rate = _times(after, start, targets, emission, stationary)
    return Synchronisation(tuple(alphabet[a] for a in word), len(word), time, rate)


def _times(
    after: dict[frozenset[int], list[frozenset[int]]],
    start: frozenset[int],
    targets: Array,
    emission: Array,
    home: Array,
) -> tuple[float, float]:
    """Mean time until a single state is possible, and the rate at which the probability of more falls."""
    from scipy.sparse import csc_array, eye_array
    from scipy.sparse.linalg import eigs, spsolve

    node = {pair: k for k, pair in enumerate((states, i) for states in after for i in sorted(states))}
    n = len(node)
    # The last node is where the state is known.
    entries = [
        (k, node.get((then, int(targets[i, a])), n), emission[i, a])
        for (states, i), k in node.items()
        for a, then in enumerate(after[states])
        if targets[i, a] >= 0
    ]
    source, target, p = np.array([*entries, (n, n, 1.0)]).T
    edges = source.astype(np.int64), target.astype(np.int64), p
    if len(closed_classes(Chain.of_edges(n + 1, *edges))) > 1:
        return math.inf, 1.0
    chain = csc_array((p, edges[:2]), shape=(n + 1, n + 1))[:n, :n]
    if n == 0:
        return 0.0, 0.0
    times = np.atleast_1d(spsolve((eye_array(n) - chain).tocsc(), np.ones(n)))
    time = float(sum(home[i] * times[node[start, i]] for i in start))
    values = np.linalg.eigvals(chain.toarray()) if n <= DENSE else eigs(chain, 1, v0=np.ones(n))[0]
    rate = float(np.abs(values).max())
    # The powers of a chain without cycles vanish, their eigenvalues only up to rounding.
    return time, rate if rate > 1e-6 else 0.0
