"""Literal twins of beliefs over hidden states: sums over all paths."""

from itertools import combinations, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def paths(codes: list[int], steps: Array, home: Array) -> list[tuple[tuple[int, ...], float]]:
    """All paths of hidden states through a word, the first before its first symbol, with P(path, word)."""
    found = []
    for path in product(range(home.size), repeat=len(codes) + 1):
        p = float(home[path[0]])
        for code, now, after in zip(codes, path, path[1:], strict=False):
            p *= float(steps[code, now, after])
        found.append((path, p))
    return found


def belief(codes: list[int], steps: Array, home: Array) -> Array:
    """P(state after a word | word)."""
    mass = np.zeros(home.size)
    for path, p in paths(codes, steps, home):
        mass[path[-1]] += p
    return mass / mass.sum()


def log2p(sequences: list[list[int]], steps: Array, home: Array) -> float:
    """log2-probability of several sequences."""
    return float(sum(np.log2(sum(p for _, p in paths(codes, steps, home))) for codes in sequences))


def expected(sequences: list[list[int]], steps: Array, home: Array) -> tuple[Array, Array]:
    """Expected uses of each step, and expected first states."""
    uses, starts = np.zeros(steps.shape), np.zeros(home.size)
    for codes in sequences:
        found = paths(codes, steps, home)
        total = sum(p for _, p in found)
        for path, p in found:
            starts[path[0]] += p / total
            for code, now, after in zip(codes, path, path[1:], strict=False):
                uses[code, now, after] += p / total
    return uses, starts


def maximised(sequences: list[list[int]], steps: Array, home: Array) -> tuple[Array, Array]:
    """One pass of expectation and maximisation: steps and first states in proportion to their expected uses."""
    uses, starts = expected(sequences, steps, home)
    found = steps.copy()
    for state in range(home.size):
        if uses[:, state].sum() > 0.0:
            found[:, state] = uses[:, state] / uses[:, state].sum()
    return found, starts / starts.sum()


def worth(table: Array, steps: Array, belief: Array) -> Array:
    """Expected utility of each prediction, U[y][z], by what is believed of the hidden state."""
    found = np.zeros(len(table))
    for y, row in enumerate(table):
        for z, value in enumerate(row):
            for now, probability in enumerate(belief):
                found[y] += value * probability * steps[z, now].sum()
    return found


def best(table: Array, steps: Array, belief: Array) -> frozenset[int]:
    """The set Y of best predictions."""
    found = worth(table, steps, belief)
    return frozenset(np.flatnonzero(found >= found.max() - 1e-9).tolist())


def after(steps: Array, belief: Array, symbol: int) -> Array:
    """What is believed after one more symbol, by Bayes' rule."""
    mass = np.array([sum(belief[i] * steps[symbol, i, j] for i in range(belief.size)) for j in range(belief.size)])
    return mass / mass.sum()


def corners(half_spaces: Array) -> Array:
    """Beliefs with half_spaces @ b >= 0 in which as many bounds are tight as tell a single one: all choices tried."""
    n = half_spaces.shape[1]
    bounds = np.concatenate([np.eye(n), half_spaces])
    found: list[Array] = []
    for chosen in combinations(range(len(bounds)), n - 1):
        system = np.vstack([np.ones(n), bounds[list(chosen)]])
        if np.linalg.matrix_rank(system, tol=1e-9) < n:
            continue
        point = np.linalg.solve(system, np.eye(n)[0])
        if (bounds @ point >= -1e-9).all() and not any(np.allclose(point, other, atol=1e-7) for other in found):
            found.append(point)
    return np.array(found)


def path(codes, steps, home, uniform):
    """States before each symbol of a whole string and at its end, drawn given the string, from the end on."""
    ends = steps[-1].sum(axis=1)
    beliefs = [np.asarray(home, float)]
    for code in codes:
        belief = beliefs[-1] @ steps[code]
        beliefs.append(belief / belief.sum())
    states = []
    weights = beliefs[-1] * ends
    for place in range(len(codes), -1, -1):
        sums = np.cumsum(weights)
        states.append(int(np.count_nonzero(sums <= uniform[len(codes) - place] * sums[-1])))
        if place:
            weights = beliefs[place - 1] * steps[codes[place - 1]][:, states[-1]]
    return states[::-1]
