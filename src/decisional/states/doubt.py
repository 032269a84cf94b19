"""Whether a machine may lack states: a test that sees less than would pay for a longer description.

Given its state nothing before should tell of the next symbol. Each state is the root of a tree of contexts, and each of
these is compared with the rest of the one that it extends. The least probable difference is judged by its chance times
the number of comparisons.
"""

import numpy as np

from ..support.arrays import Floats, Ints
from .matching import GTest
from .merging import Contexts
from .search import Candidate, SymbolSeries

# Contexts of a state that are looked at, all states together, and how often these and their rest must have been seen.
CONTEXTS = 2_000
SEEN = 10
# The most different ones, whose chance is computed with care.
CAREFUL = 20


def doubts(series: SymbolSeries, machine: Candidate) -> tuple[float, float]:
    """What `merging.unexplained` gives, and how probable such a dependence is by chance.

    That is, the chance of symbols that depend so much on what was before the state, if the state were all there is to
    know. Cost: O(n depth) for n symbols, then O(CONTEXTS n_symbols).
    """
    tree = Contexts(series, CONTEXTS + machine.n_states, series.states(machine))
    mixed, alone = tree.gained()
    return mixed - alone, _chance(tree)


def _chance(tree: Contexts) -> float:
    counts = tree.counts(tree.node, tree.size)
    for k in range(tree.size - 1, -1, -1):
        if tree.parent[k] >= 0:
            counts[tree.parent[k]] += counts[k]
    inner = np.flatnonzero(tree.parent >= 0)
    some = counts[inner]
    rest = counts[tree.parent[inner]] - some
    often = (some.sum(axis=1) >= SEEN) & (rest.sum(axis=1) >= SEEN)
    some, rest = some[often], rest[often]
    test, n = GTest(), len(some)
    if n == 0:
        return 1.0
    # Statistics over their degrees of freedom find those that may be the least probable.
    kinds = np.count_nonzero(some + rest, axis=1) - 1
    doubtful = np.argsort(-(_ratio(some, rest) - kinds) / np.sqrt(np.maximum(kinds, 1)), kind="stable")[:CAREFUL]
    least = min(test.similarity(some[k], rest[k], n) for k in doubtful)
    return min(least * n, 1.0)


def _ratio(some: Ints, rest: Ints) -> Floats:
    """(n,) G of each pair of rows of counts."""

    def bits(counts: Ints) -> Floats:
        value: Floats = (counts * np.log(np.maximum(counts, 1))).sum(axis=1)
        return value

    def split(counts: Ints) -> Floats:
        return bits(counts) - bits(counts.sum(axis=1, keepdims=True))

    return 2.0 * (split(some) + split(rest) - split(some + rest))
