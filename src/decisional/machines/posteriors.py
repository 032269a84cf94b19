"""Probabilities of symbols in the states of an estimated machine, given their counts: never zero."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating]


def posterior(counts: Floats) -> tuple[Floats, Floats]:
    """P(symbol | state), (n_states, n_symbols), from counts; and (n_states,) that of a symbol that was never seen.

    A state's counts are completed by a number of imagined ones, which are distributed like the symbols in all states or
    evenly. Two rules are compared by how well they foretell each count from the others, and the better one is taken:
    as many as there are different symbols in the state, distributed as in all states (Witten and Bell 1991), and half
    a count of each symbol (Krichevsky and Trofimov 1981). The rest of 1 is for symbols that no state has shown.
    """
    total, kinds = counts.sum(axis=1, keepdims=True), (counts > 0).sum(axis=1, keepdims=True)
    symbols, n = counts.shape[1], float(counts.sum())
    shares = (counts.sum(axis=0) + 1.0 / symbols) / (n + 1.0)
    evenly = np.full(symbols, 1.0 / symbols)
    rules = [(np.maximum(kinds, 1.0), shares), (np.full(total.shape, 0.5 * symbols), evenly)]
    strength, base = max(rules, key=lambda rule: _foretold(counts, *rule))
    known = (counts + strength * base) / (total + strength)
    new = strength / (total + strength) * symbols / (n + symbols)
    return known * (1.0 - new), new[:, 0]


def _foretold(counts: Floats, strength: Floats, base: Floats) -> float:
    """log2-probability of each count given the others."""
    others = np.maximum(counts - 1.0, 0.0)
    total = np.maximum(counts.sum(axis=1, keepdims=True) - 1.0, 0.0)
    p = (others + strength * base) / (total + strength)
    return float((counts * np.log2(p)).sum())
