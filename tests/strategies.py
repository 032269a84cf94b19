"""Hypothesis strategies for the objects of the library."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from decisional.machines import EpsilonMachine


@st.composite
def unifilar_arrays(draw, max_states=5, max_symbols=3, dead_ends=False):
    """Targets and emission of a random unifilar machine; probabilities are multiples of 1/(at most 24)."""
    n = draw(st.integers(1, max_states))
    n_symbols = draw(st.integers(1, max_symbols))
    targets = np.array(
        draw(st.lists(st.integers(0, n - 1), min_size=n * n_symbols, max_size=n * n_symbols)), dtype=int
    ).reshape(n, n_symbols)
    weights = np.array(
        draw(st.lists(st.integers(0, 8), min_size=n * n_symbols, max_size=n * n_symbols)), dtype=float
    ).reshape(n, n_symbols)
    empty = ~weights.any(axis=1)
    if dead_ends:
        weights[empty & (np.arange(n) == 0)] = 1.0
    else:
        weights[empty] = 1.0
    total = weights.sum(axis=1, keepdims=True)
    return targets, np.divide(weights, total, out=np.zeros_like(weights), where=total > 0)


@st.composite
def machines(draw, max_states=5, max_symbols=3, dead_ends=False):
    """Random unifilar machines: transient states and several closed classes are common."""
    targets, emission = draw(unifilar_arrays(max_states, max_symbols, dead_ends))
    return EpsilonMachine.from_arrays(targets, emission, range(emission.shape[1]))


@st.composite
def machines_and_symbols(draw, max_length=30, **options):
    """A machine and symbols: mostly its own, then any, one of them foreign to its alphabet."""
    machine = draw(machines(**options))
    n = draw(st.integers(0, max_length))
    own = machine.simulate(n, rng=draw(st.integers(0, 1000))).tolist() if machine.recurrent.any() else []
    other = draw(st.lists(st.integers(0, len(machine.alphabet)), max_size=6))
    return machine, own + other
