"""Machines by merging: contexts, folds, mixtures and edges led elsewhere against literal twins; known answers."""

import math
from dataclasses import replace
from itertools import islice

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import decisional as ds
import naive_merging as naive
from decisional._kernels import folds as kernels
from decisional.states import machine_selection, merging, search
from decisional.states.search import Budget, SymbolSeries

QUICK = settings(max_examples=40, deadline=None)


def series_of(sequences: list[list[int]], n_symbols: int) -> SymbolSeries:
    """Numbered sequences; a negative symbol is missing."""
    raw = np.array([s if s >= 0 else n_symbols for part in sequences for s in part], np.uint8)
    bounds = np.cumsum([0, *map(len, sequences)]).astype(np.int64)
    return SymbolSeries(raw, np.array([*range(n_symbols), -1]), bounds, n_symbols)


@st.composite
def sequences(draw, least: int = -1):
    symbols = draw(st.integers(2, 3))
    part = st.lists(st.integers(least, symbols - 1), min_size=1, max_size=60)
    return draw(st.lists(part, min_size=1, max_size=3)), symbols


@pytest.mark.small
@QUICK
@given(sequences(), st.integers(1, 30), st.sampled_from([1, 2, 4]))
def test_contexts_are_their_naive_twin(case, most, least) -> None:
    given_sequences, symbols = case
    if not any(s >= 0 for part in given_sequences for s in part):
        return
    series = series_of(given_sequences, symbols)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(merging, "LEAST", least)
        tree = merging.Contexts(series, most)
    kept = naive.contexts(given_sequences, symbols, most, least)
    assert sorted(tree.count.tolist(), reverse=True) == tree.count.tolist()
    assert tree.size == len(kept)
    if tree.size < most:
        expected = naive.longest(given_sequences, kept)
        found: dict[int, set] = {}
        for node, context in zip(tree.node.tolist(), expected, strict=True):
            found.setdefault(node, set()).add(context)
        assert all(len(contexts) == 1 for contexts in found.values())
        assert len({next(iter(c)) for c in found.values()}) == len(found)


@pytest.mark.small
@QUICK
@given(sequences(), st.integers(1, 40))
def test_the_machine_of_contexts_follows_the_series(case, most) -> None:
    """One context and a symbol tell the next context, so that walking along the machine counts what it counts."""
    given_sequences, symbols = case
    flat = [s for part in given_sequences for s in part]
    if max(flat) < 0:
        return
    tree = merging.Contexts(series_of([flat], symbols), most)
    targets, counts, suffix = tree.machine()
    assert counts.sum() <= sum(s >= 0 for s in flat)
    assert (suffix < np.arange(len(suffix))).all() or len(suffix) == 0
    assert targets.max(initial=-1) < len(targets)


@pytest.mark.small
@QUICK
@given(sequences(0), st.sampled_from([1, 5, 40]))
def test_mixtures_of_trees_are_sums_over_all_prunings(case, most) -> None:
    given_sequences, symbols = case
    tree = merging.Contexts(series_of(given_sequences, symbols), most)
    counts = tree.counts(tree.node, tree.size)
    rows, all_symbols = counts.tolist(), counts.sum(axis=0).tolist()
    suits = {
        merging.likeliest_alpha(counts),
        merging.likeliest_alpha(np.array([all_symbols]), merging.EVEN + merging.ALPHAS),
    }
    for alpha in suits:
        literal = sum(naive.row_bits(row, alpha) for row in rows)
        assert merging.row_evidence(counts, alpha) == pytest.approx(literal, abs=1e-6)
    mixed, alone = tree.gained()
    assert alone == pytest.approx(max(naive.row_bits(all_symbols, alpha) for alpha in suits), abs=1e-6)
    likeliest = max(naive.mixture(tree.parent.tolist(), rows, alpha) for alpha in suits)
    assert mixed == pytest.approx(likeliest - math.log2(len(suits)), abs=1e-6)


@pytest.mark.small
@QUICK
@given(sequences(0), st.integers(1, 9))
def test_the_best_pruning_is_the_best_of_all(case, most) -> None:
    given_sequences, symbols = case
    series = series_of(given_sequences, symbols)
    tree = merging.Contexts(series, most)
    counts, inner = tree.counts(tree.node, tree.size), np.empty(tree.size, bool)
    rows = counts.tolist()
    bits = kernels.prune(tree.parent, counts, *merging.evidence_tables(series.size, symbols, 0.5), inner)
    found = naive.prunings(tree.parent.tolist(), rows, 0.5)
    assert bits == pytest.approx(max(found)[0], abs=1e-6)
    own = frozenset(np.flatnonzero(inner).tolist())
    assert bits == pytest.approx(next(value for value, nodes in found if nodes == own), abs=1e-6)


@pytest.mark.small
@QUICK
@given(sequences(), st.integers(1, 40))
def test_contexts_without_their_latest_symbol(case, most) -> None:
    given_sequences, symbols = case
    if not any(s >= 0 for part in given_sequences for s in part):
        return
    tree = merging.Contexts(series_of(given_sequences, symbols), most)
    words: dict[int, tuple] = {0: ()}
    for i, node in enumerate(tree.node.tolist()):
        while node > 0:
            words[node] = tuple(tree.codes[i - tree.depth[node] : i].tolist())
            node = int(tree.parent[node])
    for node, shorter in enumerate(tree.shorter().tolist()):
        if shorter >= 0:
            assert words[shorter] == words[node][:-1]
        else:
            assert words[node][:-1] not in words.values()
            assert not tree.whole[node]


def test_few_symbols_tell_contexts_of_many_lengths() -> None:
    """Five contexts: in a machine that may be any, 1,000 symbols do not pay for the names of as many states."""
    rows = {(1,): 0.9, (0, 0): 0.8, (0, 1, 0): 0.15, (0, 1, 1, 0): 0.85, (1, 1, 1, 0): 0.1}
    rng, symbols = np.random.default_rng(3), [1, 1, 1]
    while len(symbols) < 1_000:
        p = next(p for word, p in rows.items() if tuple(symbols[-len(word) :]) == word)
        symbols.append(int(rng.random() < p))
    found = merging.pruned_contexts(series_of([symbols], 2))
    chosen = machine_selection.select(symbols).chosen
    assert found.length == pytest.approx(chosen.length)
    assert found.n_states == chosen.n_states
    assert chosen.how == "tree"
    # The parts of contexts are states too.
    assert found.n_states >= 5


@st.composite
def machines(draw):
    n, symbols = draw(st.integers(1, 7)), draw(st.integers(1, 3))
    row = st.lists(st.integers(-1, n - 1), min_size=symbols, max_size=symbols)
    targets = np.array(draw(st.lists(row, min_size=n, max_size=n)), np.int64)
    seed = draw(st.integers(0, 10_000))
    counts = np.where(targets >= 0, np.random.default_rng(seed).geometric(0.05, targets.shape), 0)
    return targets, counts.astype(np.int64)


@pytest.mark.small
@QUICK
@given(machines(), st.sampled_from([-10.0, -2.0, -np.inf]))
def test_folding_is_its_naive_twin(case, limit) -> None:
    targets, counts = case
    tables = merging.evidence_tables(int(counts.sum()), counts.shape[1], 0.25)
    into = np.empty(len(targets), np.int64)
    none = np.full(len(targets), -1)
    kernels.fold(targets.copy(), counts.copy(), none, *tables, 0, -np.inf, limit, 1 << 40, into)
    groups, red = naive.fold(targets.tolist(), counts.tolist(), *map(list, tables), limit)
    reached = set().union(*(groups[k] for k in red))
    for a in reached:
        for b in reached:
            assert (into[a] == into[b]) == (groups[a] == groups[b]), (a, b)


@pytest.mark.small
@QUICK
@given(machines())
def test_out_of_budget_contexts_join_their_suffix(case) -> None:
    targets, counts = case
    tables = merging.evidence_tables(int(counts.sum()), counts.shape[1], 0.25)
    into = np.empty(len(targets), np.int64)
    suffix = np.arange(len(targets)) - 1
    kernels.fold(targets.copy(), counts.copy(), suffix, *tables, 0, -np.inf, -10.0, 0, into)
    reached, todo = {0}, [0]
    while todo:
        for to in targets[todo.pop()].tolist():
            if to >= 0 and to not in reached:
                reached.add(to)
                todo.append(to)
    # Only the start is red, so all that is reached joins it.
    assert {int(into[k]) for k in reached} == {int(into[0])}


@pytest.mark.small
@QUICK
@given(machines())
def test_sweeping_closes_under_determinism(case) -> None:
    targets, counts = case
    log_n = math.log2(max(int(counts.sum()), 2))
    into, _ = search.best_partners(targets, counts.astype(float), log_n)
    for k in range(len(targets)):
        assert into[into[k]] == into[k]
        for s in range(targets.shape[1]):
            ends = {int(into[t]) for t in targets[into == into[k], s] if t >= 0}
            assert len(ends) <= 1


@pytest.mark.small
@QUICK
@given(sequences(0), st.data())
def test_gains_of_edges_led_elsewhere_are_their_naive_twin(case, data) -> None:
    given_sequences, symbols = case
    n = data.draw(st.integers(1, 4))
    row = st.lists(st.integers(0, n - 1), min_size=symbols, max_size=symbols)
    targets = np.array(data.draw(st.lists(row, min_size=n, max_size=n)), np.int64)
    series = series_of(given_sequences, symbols)
    machine = series.drive(targets, np.ones(targets.shape))
    edges, gains = merging.elsewhere(series, machine)
    full, counts = merging.completed(machine.targets, machine.counts)
    smooth = counts + (counts.sum(axis=0) + 0.5) / (counts.sum() + 0.5 * symbols)
    states = series.states(replace(machine, targets=full, counts=smooth))
    expected = naive.elsewhere(given_sequences, full.tolist(), machine.counts.tolist(), states.tolist(), merging.AHEAD)
    for e, row_of_gains in zip(edges.tolist(), gains, strict=True):
        uses, by_target = expected.get((e // symbols, e % symbols), (0, [0.0] * machine.n_states))
        if 0 < uses <= merging.USES[0]:
            scale = machine.counts.ravel()[e] / uses
            assert row_of_gains == pytest.approx([scale * g for g in by_target], abs=1e-6)


def noisy_period(period: int, letters: int, n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng([period, letters, seed])
    word = np.append(np.arange(period - 1) * 7 // 3 % letters, letters - 1)
    symbols = np.tile(word, n // period + 1)[:n]
    wrong = rng.random(n) < 0.05
    symbols[wrong] = (symbols[wrong] + rng.integers(1, letters, wrong.sum())) % letters
    return symbols, np.tile((np.arange(1, period + 1) % period)[:, None], letters)


@pytest.mark.parametrize(("period", "letters"), [(13, 2), (17, 3)])
def test_noisy_periods_are_found(period: int, letters: int) -> None:
    symbols, targets = noisy_period(period, letters, 30_000, 1)
    picture = machine_selection.select(symbols)
    true = ds.EpsilonMachine.from_arrays(targets, np.full(targets.shape, 1 / letters), range(letters))
    assert picture.machine.is_isomorphic(true, atol=1.0)
    assert picture.unexplained < 0


def test_what_a_machine_lacks_is_told() -> None:
    """The state of the right machine is all there is to know; a wrong one leaves something to the symbols before."""
    for name in ("even", "nemo", "rrxor"):
        true = ds.processes.catalogue[name]()
        symbols = true.simulate(20_000, rng=5)
        series = SymbolSeries(symbols, np.arange(2), np.array([0, symbols.size]), 2)
        right = series.drive(true.targets, true.emission)
        coin = series.drive(np.zeros((1, 2), int), np.ones((1, 2)))
        assert merging.unexplained(series, right) < 0
        assert merging.unexplained(series, coin) > 100


def test_shaking_finds_what_merging_does_not() -> None:
    """Thirty states over 26 letters: most contexts are seen too rarely to tell them."""
    rng = np.random.default_rng(5)
    targets, emission = rng.integers(0, 30, (30, 26)), rng.dirichlet(np.full(26, 0.15), 30)
    symbols = np.asarray(ds.EpsilonMachine.from_arrays(targets, emission, range(26)).simulate(10_000, rng=rng))
    series = SymbolSeries(symbols.astype(int), np.arange(26), np.array([0, symbols.size]), 26, Budget(2e10))
    right = series.settle(series.drive(targets, emission))
    merged = min(islice(merging.merged_contexts(series), 4), key=lambda one: one.length)
    found = list(merging.shaken(series, merged))
    best = min(found, key=lambda one: one.length)
    assert merged.length > right.length + 100.0
    assert best.length < right.length + 10.0
    # It ends where the last ones are no shorter.
    assert min(one.length for one in found[-merging.SHAKES :]) >= best.length
    assert {one.how for one in found} == {"shaken"}
    assert np.array_equal(next(merging.shaken(series, merged)).targets, found[0].targets)
