"""Whether a machine may lack states: tests that see less than would pay for a longer description.

Given its state nothing before should tell of the next symbol. Each state is the root of a tree of contexts, and each of
these is compared with the rest of the one that it extends. The least probable difference is judged by its chance times
the number of comparisons.

Where symbols do not tell the next state, no finite machine is right, and contexts tell little more than the states of a
good approximation; hidden states then describe the series shorter.
"""

import numpy as np

from ..support.arrays import Floats, Ints
from ..support.progress import details
from .hidden_search import PASSES, Search, split
from .hidden_series import Hidden, HiddenSeries, known_symbols, softened
from .matching import GTest
from .merging import Contexts
from .search import Budget, Candidate, SymbolSeries

# Contexts of a state that are looked at, all states together, and how often these and their rest must have been seen.
CONTEXTS = 2_000
SEEN = 10
# The most different ones, whose chance is computed with care.
CAREFUL = 20
# Symbols that hidden states are looked for in, and what that may cost.
HIDDEN = 20_000
OPERATIONS = 2e9
# They are looked for where a machine of at most so many states, whose edges may then lead elsewhere too at so small a
# share of their uses, becomes likelier by so many bits for each symbol; of larger ones where contexts say so at this
# chance.
SMALL = 6
LEAK = 0.05
LIKELIER = 3.0
CHANCE = 0.2


def doubts(series: SymbolSeries, machine: Candidate) -> tuple[float, float]:
    """What `merging.unexplained` gives, and how probable such a dependence is by chance.

    That is, the chance of symbols that depend so much on what was before the state, if the state were all there is to
    know. Cost: O(n depth) for n symbols, then O(CONTEXTS n_symbols).
    """
    tree = Contexts(series, CONTEXTS + machine.n_states, series.states(machine))
    mixed, alone = tree.gained()
    return mixed - alone, _chance(tree)


def hidden_gain(series: SymbolSeries, machine: Candidate, chance: float) -> float:
    """Bits by which hidden states describe the beginning of a series shorter than a machine; 0 where none are likely.

    `chance` is that of `doubts`. Cost: some passes over HIDDEN symbols, OPERATIONS at most; none if no more may be
    spent on the series.
    """
    part = series.beginning(HIDDEN)
    if series.budget.spent:
        return 0.0
    along = part.drive(*machine.proposal)
    symbols = known_symbols(part.codes, part.bounds, part.n_symbols)
    likely = chance < CHANCE
    if along.n_states <= SMALL:
        likely = _likelier(symbols, along) > LIKELIER * part.n_symbols
    if not likely:
        return 0.0
    with details():
        found = Search(symbols, Budget(OPERATIONS)).grown()
    # The description of a tree is shorter than that of the same machine.
    saved = series.drive(*machine.proposal).length - machine.length if machine.how == "tree" else 0.0
    return along.length - saved - min(one.description_length for one in found)


def _likelier(symbols: HiddenSeries, machine: Candidate) -> float:
    """Bits that symbols become likelier where edges may lead elsewhere, and a state is two."""
    rng = np.random.default_rng(0)
    begun = softened(machine.targets, machine.emission, share=LEAK)
    often = int(machine.counts.sum(axis=1).argmax())
    known = machine.log_likelihood - machine.start_bits

    def bits(start: Hidden) -> float:
        return symbols.log2p(symbols.improve(start, PASSES[0]))[0]

    return max(bits(begun), bits(split(begun, often, rng))) - known


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
