"""Hypothesis strategies for symbol sequences."""

from __future__ import annotations

import os

from hypothesis import settings
from hypothesis import strategies as st

# Kernels run as plain Python when numba is off: fewer examples then.
COMPILED = not os.environ.get("NUMBA_DISABLE_JIT")


def examples(n, small=40):
    """Return settings of n examples, or fewer without compiled kernels."""
    return settings(max_examples=n if COMPILED else small, deadline=None)


@st.composite
def sequences(draw, max_sequences=4, max_length=40, max_symbols=4, gaps=True):
    """Several sequences of the symbols 0, 1, ... and None; repeated stretches make windows recur."""
    symbol = st.integers(0, draw(st.integers(0, max_symbols - 1)))
    if gaps and draw(st.booleans()):
        symbol = st.one_of(symbol, symbol, symbol, symbol, st.none())
    stretch = st.sampled_from([0, 0, max_length // 3, max_length // 2]).flatmap(
        lambda least: st.lists(symbol, min_size=least, max_size=max_length)
    )
    found = []
    for _ in range(draw(st.integers(1, max_sequences))):
        found.append(draw(stretch) * draw(st.sampled_from([1, 1, 2, 3])) + draw(stretch))
    return found


pasts = st.integers(1, 12) | st.integers(1, 3)
futures = st.integers(1, 4) | st.just(1)
