"""The search: description lengths against a literal twin, mergers, and that every move pays."""

import itertools
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import decisional as ds
import naive_search as naive
from decisional._kernels import description_lengths as kernels
from decisional.states import search
from decisional.states.search import SPLIT_EDGES, Candidate, SymbolSeries

QUICK = settings(max_examples=30, deadline=None)


def series_of(sequences: list[list[int]], n_symbols: int) -> SymbolSeries:
    """Numbered sequences; a negative symbol is missing."""
    raw = np.array([s if s >= 0 else n_symbols for part in sequences for s in part], np.uint8)
    bounds = np.cumsum([0, *map(len, sequences)]).astype(np.int64)
    return SymbolSeries(raw, np.array([*range(n_symbols), -1]), bounds, n_symbols)


@st.composite
def machines_and_sequences(draw):
    n, symbols = draw(st.integers(1, 5)), draw(st.integers(1, 3))
    targets = np.array(
        draw(st.lists(st.lists(st.integers(-1, n - 1), min_size=symbols, max_size=symbols), min_size=n, max_size=n))
    )
    part = st.lists(st.integers(-1, symbols - 1), min_size=1, max_size=40)
    seed = draw(st.integers(0, 1000))
    weights = np.where(targets >= 0, np.random.default_rng(seed).integers(1, 6, targets.shape), 0.0)
    return targets, weights, draw(st.lists(part, min_size=1, max_size=4)), symbols


@pytest.mark.small
@QUICK
@given(machines_and_sequences())
def test_drive_is_its_naive_twin(case) -> None:
    targets, weights, sequences, symbols = case
    series = series_of(sequences, symbols)
    counts, bits, misses = naive.walk(sequences, targets, weights)
    found = series.drive(targets, weights)
    assert found.misses == misses
    assert found.start_bits == pytest.approx(bits, abs=1e-9)
    used = sorted({state for state, _ in counts} | {int(targets[state][s]) for state, s in counts})
    expected = np.zeros((len(used), symbols))
    for (state, s), count in counts.items():
        expected[used.index(state), s] = count
    assert found.counts == pytest.approx(expected)
    assert found.length == pytest.approx(naive.length(counts, bits, misses, series.log_n))
    for i, state in enumerate(used):
        for s in range(symbols):
            target = targets[state][s] if (state, s) in counts else -1
            assert found.targets[i, s] == (used.index(target) if target >= 0 else -1)


@pytest.mark.small
@QUICK
@given(machines_and_sequences(), st.data())
def test_merging_closes_under_determinism(case, data) -> None:
    targets, _, _, symbols = case
    n = len(targets)
    i, j = data.draw(st.integers(0, n - 1)), data.draw(st.integers(0, n - 1))
    labels = np.empty(n, np.int64)
    kernels.merged_labels(targets, i, j, labels, np.empty_like(targets))
    together = {frozenset((a,)) for a in range(n)}

    def block(a: int) -> frozenset[int]:
        return next(b for b in together if a in b)

    todo = [(i, j)]
    while todo:
        a, b = map(block, todo.pop())
        if a != b:
            together -= {a, b}
            together.add(a | b)
        for s in range(symbols):
            ends = sorted({int(targets[k][s]) for k in a | b if targets[k][s] >= 0})
            todo += [(ends[0], end) for end in ends[1:] if block(ends[0]) != block(end)]
    assert {frozenset(np.flatnonzero(labels == v).tolist()) for v in labels} == together
    assert all(labels[min(group)] == min(group) for group in together)


@pytest.mark.small
@QUICK
@given(machines_and_sequences())
def test_mergers_and_moves_only_shorten(case) -> None:
    targets, weights, sequences, symbols = case
    series = series_of(sequences, symbols)
    machine = series.drive(targets, weights)
    if machine.n_states == 0:
        return
    merged = series.merge(machine)
    assert merged.length <= machine.length
    assert merged.counts.sum() == pytest.approx(machine.counts.sum())
    improved = series.improve(merged)
    assert improved.length <= merged.length


def test_a_wrong_edge_and_a_missing_state_are_found() -> None:
    even = ds.processes.even()
    symbols = even.simulate(20_000, rng=3)
    series = SymbolSeries(symbols, np.arange(2), np.array([0, symbols.size]), 2)
    true = series.drive(even.targets, even.emission)
    coin = series.drive(np.zeros((1, 2), int), np.full((1, 2), 0.5))
    assert coin.length > true.length + 1000
    found = series.improve(coin)
    assert found.n_states == 2
    assert found.length == pytest.approx(true.length, abs=5)
    wrong = series.drive(np.array([[0, 1], [1, 0]]), np.full((2, 2), 0.5))
    assert series.improve(wrong).length == pytest.approx(true.length, abs=5)


def naive_neighbours(machine: Candidate) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Each edge led to each state or to a copy of its target; each state's incoming edges shared with a copy of it."""
    n = machine.n_states
    for state, s in np.argwhere(machine.targets >= 0).tolist():
        for target in range(n + 1):
            targets, weights = with_copy(machine, int(machine.targets[state, s]))
            targets[state, s] = target
            # The copy is there only where an edge leads to it: a sequence could begin in it.
            yield (targets, weights) if target == n else (targets[:n], weights[:n])
    for state in range(n):
        targets, weights = with_copy(machine, state)
        incoming = np.argwhere(targets == state).tolist()
        if len(incoming) <= SPLIT_EDGES:
            for led in itertools.product((state, n), repeat=len(incoming)):
                for (source, s), target in zip(incoming, led, strict=True):
                    targets[source, s] = target
                yield targets.copy(), weights


def with_copy(machine: Candidate, state: int) -> tuple[np.ndarray, np.ndarray]:
    return tuple(np.vstack([part, part[state]]) for part in (machine.targets, machine.counts))


@pytest.mark.small
@QUICK
@given(machines_and_sequences())
def test_no_neighbour_of_what_the_search_ends_at_is_shorter(case) -> None:
    targets, weights, sequences, symbols = case
    series = series_of(sequences, symbols)
    found = series.drive(targets, weights)
    if found.n_states == 0:
        return
    found = series.improve(found)
    for other in naive_neighbours(found):
        assert naive.length(*naive.walk(sequences, *other), series.log_n) > found.length - 1e-5


@pytest.mark.small
def test_a_state_is_split_where_no_single_edge_led_elsewhere_helps() -> None:
    """Two coins in turn, nearly the same: every symbol leads to the other, so all edges must change at once."""
    coins = ds.EpsilonMachine([(0, 0, 1, 0.55), (0, 1, 1, 0.45), (1, 0, 0, 0.45), (1, 1, 0, 0.55)])
    symbols = coins.simulate(2000, rng=1)
    series = series_of([symbols.tolist()], 2)
    one = series.settle(series.drive(np.zeros((1, 2), int), np.full((1, 2), 0.5)))
    edges = [series.drive(*other) for other in naive_neighbours(one)][:4]
    assert min(neighbour.length for neighbour in edges) >= one.length
    found = series.improve(one)
    assert found.targets.tolist() == [[1, 1], [0, 0]]
    assert found.length < one.length - 5


def test_alternating_states_are_split_at_once() -> None:
    """States 0 and 2 send each other to and fro: no single edge of the merged state tells them apart."""
    rows = [(0, 0, 1, 0.14), (0, 1, 2, 0.57), (0, 2, 2, 0.29), (1, 0, 0, 0.36), (1, 1, 1, 0.64)]
    rows += [(2, 0, 1, 0.10), (2, 1, 0, 0.75), (2, 2, 0, 0.15)]
    machine = ds.EpsilonMachine(rows)
    symbols = machine.simulate(20_000, rng=1)
    series = SymbolSeries(symbols, np.arange(3), np.array([0, symbols.size]), 3)
    merged = series.drive(np.array([[1, 0, 0], [0, 1, -1]]), np.array([[0.1, 0.7, 0.2], [0.4, 0.6, 0.0]]))
    found = series.improve(merged)
    assert found.n_states == 3
    assert found.length < merged.length - 100


def test_moves_that_are_far_behind_are_given_up_and_others_are_not() -> None:
    """On many symbols the lengths of moves are those of the machines driven, or inf where these are longer."""
    nemo = ds.processes.nemo()
    symbols = np.asarray(nemo.simulate(12_000, rng=4)).astype(np.uint8)
    series = SymbolSeries(symbols, np.arange(2), np.array([0, symbols.size]), 2)
    true = series.drive(nemo.targets, nemo.emission)
    copied, copies, edges, ends = search._retargets(true)
    targets, weights = (
        np.concatenate([own, np.full((1, 2), rest)]) for own, rest in zip(true.proposal, (-1, 0.0), strict=True)
    )
    known = search.beliefs(weights)
    lengths = np.empty(copied.size)
    moves = copied, copies, edges, ends
    kernels.move_lengths(*series.symbols, 2, targets, *known, *moves, series.log_n, true.length, lengths)
    assert np.isinf(lengths).any()
    assert np.isfinite(lengths).any()
    for m, length in enumerate(lengths):
        moved, uses = with_copy(true, int(copied[m]))
        moved.ravel()[edges[m]] = ends[m]
        n = true.n_states + int(copies[m])
        driven = series.drive(moved[:n], uses[:n]).length
        assert driven > true.length if np.isinf(length) else length == pytest.approx(driven, abs=1.0)


def test_driving_and_merging_are_charged() -> None:
    symbols = np.asarray(ds.processes.even().simulate(2_000, rng=5)).astype(np.uint8)
    budget = search.Budget(1e9)
    series = SymbolSeries(symbols, np.arange(2), np.array([0, symbols.size]), 2, budget)
    machine = series.drive(np.array([[0, 1], [1, 0]]), np.full((2, 2), 0.5))
    assert 1e9 - budget.left >= search.READ * symbols.size
    assert series.beginning(100).budget is budget
    left = budget.left
    merged = series.merge(machine)
    assert budget.left < left
    budget.spend(2e9)
    assert series.merge(machine) is machine
    assert series.settle(merged) is merged
