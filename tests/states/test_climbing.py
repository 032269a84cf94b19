"""Machines drawn at random and improved, against literal twins; those whose states no context tells."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import decisional as ds
import naive_climbing as naive
from decisional._kernels import climbs as kernels
from decisional.states import climbing
from decisional.states.search import Budget, SymbolSeries

QUICK = settings(max_examples=40, deadline=None)


@pytest.mark.small
@QUICK
@given(
    st.integers(0, 2**32 - 1), st.integers(2, 3), st.integers(1, 4), st.integers(1, 150), st.sampled_from([1.0, 0.3])
)
def test_climbing_is_its_naive_twin(seed, n_symbols, n_states, n, share) -> None:
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, n_symbols, n, np.uint8)
    targets = rng.integers(0, n_states, (n_states, n_symbols))
    edges = targets.size
    led = [(e, e, to) for e in range(edges) for to in range(n_states)]
    exchanged = [(e, other, -1) for e in range(edges) for other in range(e)]
    moves = rng.permutation(np.array(led + exchanged))
    log_n, counts = math.log2(max(n, 2)), np.arange(n + 1)
    expected, length = naive.climbed(
        codes.tolist(), targets.tolist(), moves.tolist(), log_n, share, kernels.PARTS, kernels.BEHIND
    )
    bits = counts * np.log2(np.maximum(counts, 1))
    found, _ = kernels.climb(codes, targets, moves, bits, log_n, share, 10**9)
    assert found == pytest.approx(length, abs=1e-6)
    assert targets.tolist() == expected


def test_climbing_finds_what_no_context_tells() -> None:
    """A machine whose symbols permute the states: no finite past tells the state."""
    true = ds.EpsilonMachine(
        [(0, 0, 1, 0.2), (0, 1, 0, 0.8), (1, 0, 2, 0.5), (1, 1, 1, 0.5), (2, 0, 0, 0.9), (2, 1, 2, 0.1)]
    )
    symbols = true.simulate(30_000, rng=2)
    series = SymbolSeries(symbols, np.arange(2), np.array([0, symbols.size]), 2, Budget(1e10))
    coin = series.drive(np.zeros((1, 2), int), np.ones((1, 2)))
    found = climbing.climb(series, coin, 3e8)
    right = series.drive(true.targets, true.emission)
    assert found.length == pytest.approx(right.length, abs=1.0)
    again = climbing.climb(series, coin, 3e8)
    assert np.array_equal(found.targets, again.targets)


@pytest.mark.small
@QUICK
@given(st.integers(0, 2**32 - 1), st.integers(1, 3), st.integers(1, 5), st.integers(1, 9), st.integers(0, 60))
def test_machines_are_compared_as_by_their_naive_twin(seed, n_symbols, n_states, many, n) -> None:
    rng = np.random.default_rng(seed)
    codes, share = rng.integers(0, n_symbols, n).astype(np.uint64), rng.random()
    drawn = rng.integers(0, 1 << 16, (many, n_symbols, n_states), np.uint16)
    tables = np.empty((many, n_states, n_symbols), np.uint8)
    kernels.shuffle(drawn, tables)
    expected = [[naive.permuted(row) for row in table] for table in drawn.tolist()]
    assert tables.transpose(0, 2, 1).tolist() == expected
    lengths, counts = np.empty(many), np.arange(n + 1)
    bits = counts * np.log2(np.maximum(counts, 1))
    kernels.table_lengths(codes, tables, bits, 5.0, share, lengths)
    for table, length in zip(tables.tolist(), lengths, strict=True):
        literal = naive.length_of(codes.astype(int).tolist(), table, 5.0, share) if n else 0.0
        assert length == pytest.approx(literal, abs=1e-6)


def test_permutations_of_many_states_are_found() -> None:
    """Seven states that two symbols permute: hardly any other machine is near them, so that nothing leads there."""
    rng = np.random.default_rng(3)
    targets = np.stack([rng.permutation(7) for _ in range(2)], axis=1)
    emission = rng.dirichlet(np.ones(2), 7)
    true = ds.EpsilonMachine.from_arrays(targets, emission, range(2))
    symbols = np.asarray(true.simulate(10_000, rng=rng)).astype(int)
    series = SymbolSeries(symbols, np.arange(2), np.array([0, symbols.size]), 2, Budget(1e10))
    right = series.settle(series.drive(targets, emission))
    draws = climbing.Draws(series, 0)
    lengths = [length for length, _ in draws.permutations(2e8)]
    assert min(lengths) * symbols.size < right.length + 10.0
    assert series.budget.left > 1e10 - 3e8
