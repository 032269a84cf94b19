"""Literal twins of beliefs over hidden states: sums over all paths."""

from itertools import product
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
