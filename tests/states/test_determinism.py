"""Symbol constraints: splits, refinements, beliefs and descriptions against loops, and exact machines."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

import decisional as ds
import naive_states
from decisional import processes
from decisional._kernels import beliefs as kernels
from decisional.machines import EpsilonMachine, chains
from decisional.states import determinism
from decisional.states.partition import Partition
from strategies import unifilar_arrays

QUICK = settings(max_examples=60, deadline=None)
THETAS = st.sampled_from([0.55, 0.7, 0.8, 0.95, 1.0])


@st.composite
def labelled_moves(draw, max_rows=8, n_symbols=2):
    """Labels of rows, and transitions between the rows; small counts make ties and every kind of share."""
    n = draw(st.integers(1, max_rows))
    labels = draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
    move = st.tuples(st.integers(0, n - 1), st.integers(0, n_symbols - 1), st.integers(0, n - 1))
    moves = draw(st.dictionaries(move, st.integers(1, 20), max_size=4 * n))
    return labels, moves


@st.composite
def symbol_series(draw):
    """Symbols of a random machine, long enough for some structure in their windows."""
    targets, emission = draw(unifilar_arrays(max_states=4, max_symbols=2))
    machine = EpsilonMachine.from_arrays(targets, emission, range(emission.shape[1]))
    return machine.simulate(draw(st.integers(20, 120)), rng=draw(st.integers(0, 99))).tolist()


def numbered(labels):
    """Labels 0, 1, ... in the order of their values."""
    return np.unique(labels, return_inverse=True)[1]


def as_contexts(words):
    return np.array([word[::-1] for word in words]), np.array([len(word) for word in words])


def compressed(follow):
    """start, symbol and count of the followers of each word."""
    start = np.cumsum([0, *map(len, follow)])
    pairs = [pair for each in follow for pair in sorted(each.items())]
    symbol, count = np.array(pairs, np.int64).reshape(-1, 2).T
    return start, symbol, count.astype(float)


def one_step_labels(follow, n_symbols):
    """Label windows by the exact distribution of the next symbol."""
    total = [sum(each.values()) for each in follow]
    p = [tuple(round(each.get(s, 0) / n, 3) for s in range(n_symbols)) for each, n in zip(follow, total, strict=True)]
    return np.array([sorted(set(p)).index(row) for row in p]), np.array(total)


# ------------------------------------------------------------------------------------------------ refinement


@pytest.mark.small
@QUICK
@given(labelled_moves())
def test_most_frequent_targets(data):
    labels, moves = numbered(data[0]), data[1]
    found = determinism._machine(labels, naive_states.as_steps(moves), 3)
    targets, emission, share = naive_states.machine(labels.tolist(), moves, 3)
    assert found.targets.tolist() == targets
    np.testing.assert_allclose(found.emission, emission, rtol=1e-14)
    np.testing.assert_allclose(found.share, share, rtol=1e-14)


@pytest.mark.small
def test_the_lowest_of_equally_frequent_targets():
    steps = naive_states.as_steps({(0, 0, 1): 5, (0, 0, 2): 5, (0, 1, 2): 3, (0, 1, 0): 3})
    found = determinism._machine(np.array([1, 0, 2]), steps, 2)
    assert found.targets.tolist() == [[-1, -1], [0, 1], [-1, -1]]
    assert found.share[1].tolist() == [0.5, 0.5]


@pytest.mark.small
@QUICK
@given(data=labelled_moves(), chosen=st.sets(st.tuples(st.integers(0, 3), st.integers(0, 1))))
def test_a_split_parts_rows_by_their_targets(data, chosen):
    labels, moves = numbered(data[0]), data[1]
    targets = naive_states.machine(labels.tolist(), moves, 2)[0]
    chosen = {(s, a) for s, a in chosen if s < len(targets) and targets[s][a] >= 0}
    doubtful = np.zeros((len(targets), 2), bool)
    doubtful[[s for s, _ in chosen], [a for _, a in chosen]] = True
    found = determinism._split(labels, naive_states.as_steps(moves), np.array(targets), doubtful)
    assert found.tolist() == naive_states.split(labels.tolist(), moves, targets, chosen, 2)


@pytest.mark.small
def test_rows_with_equally_frequent_targets_go_to_the_lowest():
    moves = {(0, 0, 2): 5, (0, 0, 3): 5, (1, 0, 2): 10}
    found = determinism.reconcile(np.array([0, 0, 1, 2]), naive_states.as_steps(moves), 1, np.ones(4), 0.95, "paper")
    assert found.labels.tolist() == [0, 0, 1, 2]
    assert found.unresolved == ((0, 0, 0.75),)


@pytest.mark.small
def test_targets_of_one_state_count_together():
    # Row 0 goes to rows 2 and 3, of one state, more often than to row 4, and so does row 1.
    moves = {(0, 0, 2): 3, (0, 0, 3): 3, (0, 0, 4): 4, (1, 0, 2): 6, (1, 0, 4): 4}
    steps = naive_states.as_steps(moves)
    found = determinism.reconcile(np.array([0, 0, 1, 1, 2]), steps, 1, np.ones(5), 0.95, "paper")
    assert found.labels.tolist() == [0, 0, 1, 1, 2]
    assert found.unresolved == ((0, 0, 0.6),)


@pytest.mark.small
def test_a_share_of_theta_does_not_stand_for_all():
    steps = naive_states.as_steps({(0, 0, 0): 4, (0, 0, 1): 1, (1, 0, 0): 5})
    for theta, unresolved in ((0.79, ()), (0.8, ((0, 0, 0.8),)), (1.0, ((0, 0, 0.8),))):
        assert determinism.reconcile(np.array([0, 1]), steps, 1, np.ones(2), theta, "none").unresolved == unresolved


@pytest.mark.small
@QUICK
@given(data=labelled_moves(), theta=THETAS, weighted=st.booleans())
def test_refinements_are_their_naive_twins_and_only_split(data, theta, weighted):
    labels, moves = numbered(data[0]), data[1]
    weight = np.arange(1, labels.size + 1) if weighted else None
    found = [c.labels for c in determinism._refinements(labels, naive_states.as_steps(moves), 2, theta, weight)]
    expected = naive_states.refinements(labels.tolist(), moves, 2, theta, weight)
    assert [each.tolist() for each in found] == expected
    assert len(found) <= labels.size
    for coarse, fine in pairwise(found):
        assert Partition(fine).refines(Partition(coarse))
        assert fine.max() > coarse.max()


@pytest.mark.small
def test_refinement_with_weights_stops_in_time(monkeypatch):
    # A chain of 9 rows, all in one state but the last: each round splits one row off the end.
    moves = {(i, 0, i + 1): 1 for i in range(8)} | {(8, 0, 0): 1}
    steps, labels, weight = naive_states.as_steps(moves), np.array([0] * 8 + [1]), np.ones(9)
    assert [c.labels.max() for c in determinism._refinements(labels, steps, 1, 0.95, weight)] == list(range(1, 9))
    monkeypatch.setattr(determinism, "MORE_STATES", 3)
    assert [c.labels.max() for c in determinism._refinements(labels, steps, 1, 0.95, weight)] == [1, 2, 3, 4]


@pytest.mark.small
@QUICK
@given(data=labelled_moves(), theta=THETAS)
def test_paper_mode_lists_all_that_it_leaves_ambiguous(data, theta):
    labels, moves = data
    steps = naive_states.as_steps(moves)
    found = determinism.reconcile(np.array(labels), steps, 2, np.ones(len(labels)), theta, "paper")
    assert Partition(found.labels).refines(Partition(np.array(labels)))
    targets, emission, share = naive_states.machine(found.labels.tolist(), moves, 2)
    assert found.targets.tolist() == targets
    np.testing.assert_allclose(found.emission, emission, rtol=1e-14)
    doubtful = naive_states.doubtful_pairs(share, theta)
    assert {(s, a): pytest.approx(part) for s, a, part in found.unresolved} == {
        (s, a): share[s][a] for s, a in doubtful
    }
    for s, a in doubtful:
        # What is left cannot be split: every row of the state has the same most frequent target.
        ends = naive_states.leaving(found.labels.tolist(), moves, range(len(labels)))
        rows = [r for r in range(len(labels)) if found.labels[r] == s and (r, a) in ends]
        assert {naive_states.most_frequent(ends[r, a]) for r in rows} == {targets[s][a]}


@pytest.mark.small
@QUICK
@given(data=labelled_moves(), theta=THETAS, constraints=st.sampled_from(["none", "evidence"]))
def test_none_and_no_windows_leave_the_states_alone(data, theta, constraints):
    labels, moves = data
    # Clustering may leave numbers out: they are closed up, in order.
    gaps = np.array(labels) * 3 + 2
    found = determinism.reconcile(gaps, naive_states.as_steps(moves), 2, np.ones(len(labels)), theta, constraints)
    assert found.labels.tolist() == numbered(labels).tolist()
    targets, _, share = naive_states.machine(found.labels.tolist(), moves, 2)
    assert found.targets.tolist() == targets
    assert {(s, a) for s, a, _ in found.unresolved} == naive_states.doubtful_pairs(share, theta)


@pytest.mark.small
@QUICK
@given(data=labelled_moves(), theta=THETAS)
def test_merge_successors_is_its_naive_twin(data, theta):
    labels, moves = data
    found = determinism.merge_successors(naive_states.as_steps(moves), len(labels), theta)
    expected = naive_states.merge_successors(moves, len(labels), theta)
    assert naive_states.canonical(found) == naive_states.canonical(expected)


@pytest.mark.small
def test_merge_successors_leaves_strays_out():
    steps = naive_states.as_steps({(0, 0, 1): 60, (0, 0, 2): 39, (0, 0, 3): 1, (0, 1, 3): 5})
    assert naive_states.canonical(determinism.merge_successors(steps, 4, 0.95)) == [0, 1, 1, 2]
    assert naive_states.canonical(determinism.merge_successors(steps, 4, 0.995)) == [0, 1, 1, 1]
    assert naive_states.canonical(determinism.merge_successors(steps, 4, 0.55)) == [0, 1, 2, 3]


# --------------------------------------------------------------------------------------------------- beliefs


@pytest.mark.small
@QUICK
@given(
    arrays=unifilar_arrays(),
    words=st.lists(st.lists(st.integers(0, 2), max_size=6), min_size=1, max_size=5),
    data=st.data(),
)
def test_beliefs_are_forward_filtering(arrays, words, data):
    targets, emission = arrays
    n, n_symbols = emission.shape
    targets = np.where(emission > 0, targets, -1)
    prior = np.array(data.draw(st.lists(st.integers(0, 5), min_size=n, max_size=n).filter(any)), float)
    prior /= prior.sum()
    words = [[s % n_symbols for s in word] for word in words]
    follow = [data.draw(st.dictionaries(st.integers(0, n_symbols - 1), st.integers(1, 9))) for _ in words]
    longest = max(map(len, words)) + 1
    # Most recent first, with something else beyond the depth.
    padded = np.array([word[::-1] + [0] * (longest - len(word)) for word in words])
    depth = np.array([len(word) for word in words])

    expected, bits, misses = naive_states.expected_counts(words, follow, targets, emission, prior)
    counts = np.zeros(emission.shape)
    found = kernels.expected_counts(padded, depth, *compressed(follow), targets, emission, prior, counts)
    np.testing.assert_allclose(counts, expected, atol=1e-12)
    assert found == (pytest.approx(bits, abs=1e-9), misses)

    for sure in (0.6, 0.95, 1.0):
        after = [naive_states.belief_after(word, targets, emission, prior) for word in words]
        assume(all(abs(p - sure) > 1e-9 or p == sure == 1.0 for belief in after for p in belief))
        state = np.empty(len(words), np.int64)
        kernels.final_states(padded, depth, targets, emission, prior, sure, state)
        assert state.tolist() == [max([j for j, p in enumerate(b) if p >= sure], default=-1) for b in after]


@pytest.mark.small
def test_an_impossible_word_says_nothing():
    even = processes.even()
    targets, emission, prior = np.array(even.targets), np.array(even.emission), np.array(even.stationary)
    # 0 1 0 cannot happen; the 1 that follows it could.
    words, depth = np.array([[0, 1, 0], [1, 0, 1]]), np.array([3, 3])
    state = np.empty(2, np.int64)
    kernels.final_states(words, depth, targets, emission, prior, 0.95, state)
    assert state.tolist() == [-1, even.targets[np.flatnonzero(even.emission[:, 0])[0], 1]]
    counts = np.zeros((2, 2))
    forced = np.array([[1.0, 0.0], [1.0, 0.0]])
    start, symbol, count = compressed([{1: 7}, {}])
    bits, misses = kernels.expected_counts(words, depth, start, symbol, count, targets, forced, prior, counts)
    assert (bits, misses, counts.sum()) == (0.0, 7.0, 0.0)


# --------------------------------------------------------------------------------------------- descriptions


@pytest.mark.small
@settings(max_examples=15, deadline=None)
@given(symbols=symbol_series(), past=st.integers(1, 3), data=st.data())
def test_description_lengths_are_their_naive_twins(symbols, past, data):
    words, moves, follow = naive_states.seen_windows(symbols, past)
    labels = numbered(data.draw(st.lists(st.integers(0, 3), min_size=len(words), max_size=len(words))))
    weight = np.array([sum(each.values()) for each in follow])
    steps = naive_states.as_steps(moves)
    # What follows the last window of all has no window to lead to: it is no transition.
    follow = [{s: c for (i, s, _), c in moves.items() if i == row} for row in range(len(words))]
    found = determinism._Data(as_contexts(words), steps, 2, weight).describe(determinism._machine(labels, steps, 2))
    length, targets, emission = naive_states.describe(
        words, follow, labels.tolist(), moves, 2, weight, determinism.ROUNDS
    )
    assert found.length == pytest.approx(length, rel=1e-7)
    assert found.targets.tolist() == targets
    np.testing.assert_allclose(found.emission, emission, atol=1e-6)


@pytest.mark.small
def test_what_the_machine_holds_impossible_is_paid_for():
    words, moves, _ = naive_states.seen_windows([0, 0, 0, 1, 0, 0, 0, 0, 1, 0], 1)
    steps = naive_states.as_steps(moves)
    always = determinism._Candidate(np.array([0, 0]), np.array([[0, -1]]), np.array([[1.0, 0.0]]), np.ones((1, 2)))
    data = determinism._Data(as_contexts(words), steps, 2, np.array([7, 2]))
    # Two of nine symbols are a miss; the machine itself has one edge to its only state, and nothing to choose.
    assert data.describe(always).length == pytest.approx(2 * math.log2(9))


@pytest.mark.small
@settings(max_examples=15, deadline=None)
@given(
    symbols=symbol_series(),
    past=st.integers(1, 3),
    given_labels=st.none() | st.lists(st.integers(0, 3), min_size=8, max_size=8),
)
# A pair that stays ambiguous, and a machine some state of which no window tells.
@example(symbols=[0, 0, 1, 0, 1, 0, 0, 1, 0, 1, 1, 1, 1, 1, 1], past=2, given_labels=[1, 2, 0, 1])
@example(symbols=[0, 1, 1, 0, 0, 1, 1, 0, 1, 0, 1, 1, 0, 1, 0, 0], past=3, given_labels=[2, 3, 0, 2, 0, 1])
def test_evidence_takes_the_shortest_description(symbols, past, given_labels):
    words, moves, follow = naive_states.seen_windows(symbols, past)
    assume(moves)
    labels, weight = one_step_labels(follow, 2)
    if given_labels is not None:
        labels = numbered(given_labels[: len(words)])
    follow = [{s: c for (i, s, _), c in moves.items() if i == row} for row in range(len(words))]
    steps = naive_states.as_steps(moves)
    found = determinism.reconcile(labels, steps, 2, weight, contexts=as_contexts(words))
    rounds, strays = determinism.ROUNDS, determinism.STRAYS
    try:
        candidates = naive_states.evidence(words, follow, labels.tolist(), moves, 2, weight, 0.95, rounds, strays)
        assume(len(candidates) == 1 or candidates[1][1][0] > candidates[0][1][0] + 1e-6)
        expected, (_, *described) = naive_states.merge_recurrent(
            words, follow, candidates[0][0], moves, candidates[0][1], 2, weight, rounds
        )
    except naive_states.Tie:
        assume(False)
    labels, targets, emission, ambiguous = naive_states.place(words, follow, expected, moves, described, weight, 0.95)
    assert found.labels.tolist() == labels
    assert found.targets.tolist() == targets
    np.testing.assert_allclose(found.emission, emission, atol=1e-6)
    assert {(s, a): pytest.approx(share) for s, a, share in found.unresolved} == ambiguous


# --------------------------------------------------------------------------------------------- exact machines

# A window length from which the windows tell the states well enough.
EXACT = [
    ("coin", 2),
    ("golden_mean", 1),
    ("golden_mean", 4),
    ("even", 3),
    ("even", 6),
    ("even", 10),
    ("odd", 5),
    ("odd", 8),
    ("noisy_period_2", 4),
    ("perturbed_coin", 3),
    ("periodic", 3),
    ("z1r", 4),
    ("rip", 8),
    ("nemo", 5),
    ("nemo", 8),
    ("nrps", 6),
    ("rrxor", 8),
    ("restricted_golden_mean", 4),
]


@pytest.mark.parametrize(("name", "length"), EXACT)
def test_exact_counts_give_the_exact_machine(name, length):
    process = processes.catalogue[name]()
    n_symbols = len(process.alphabet)
    words, moves, follow = naive_states.exact_windows(process, length, 10**8)
    labels, weight = one_step_labels(follow, n_symbols)
    steps = naive_states.as_steps(moves)
    found = determinism.reconcile(labels, steps, n_symbols, weight, contexts=as_contexts(words))
    mass = np.bincount(found.labels, weights=weight)
    machine = EpsilonMachine.from_arrays(found.targets, found.emission, process.alphabet, weights=mass)
    assert machine.recurrent_part().is_isomorphic(process, atol=1e-5)
    assert found.unresolved == ()
    # The recurrent states are made of windows that tell the state.
    state = np.empty(len(words), np.int64)
    arrays = np.array(process.targets), np.array(process.emission), np.array(process.stationary)
    kernels.final_states(as_contexts(words)[0], np.full(len(words), length), *arrays, 0.95, state)
    told = [set(state[found.labels == s].tolist()) for s in np.flatnonzero(machine.recurrent)]
    assert sorted(told, key=min) == [{s} for s in range(process.n_states)]


@pytest.mark.small
@pytest.mark.parametrize("length", [3, 10])
def test_unsynchronised_windows_of_the_even_process_are_transient(length):
    process = processes.even()
    words, moves, follow = naive_states.exact_windows(process, length, 10**6)
    labels, weight = one_step_labels(follow, 2)
    found = determinism.reconcile(labels, naive_states.as_steps(moves), 2, weight, contexts=as_contexts(words))
    machine = EpsilonMachine.from_arrays(found.targets, found.emission, (0, 1))
    assert machine.recurrent.sum() == 2
    assert machine.recurrent_part().is_isomorphic(process, atol=1e-4)
    assert found.unresolved == ()
    ones = words.index((1,) * length)
    assert not machine.recurrent[found.labels[ones]]
    assert (found.labels == found.labels[ones]).sum() == 1


@pytest.mark.small
def test_paper_mode_pays_for_unsynchronised_windows():
    # The same windows, split to the end: the mixture 1^L counts its way through the states (METHOD 3.3).
    process = processes.even()
    _, moves, follow = naive_states.exact_windows(process, 6, 10**6)
    labels, weight = one_step_labels(follow, 2)
    found = determinism.reconcile(labels, naive_states.as_steps(moves), 2, weight, constraints="paper")
    assert found.unresolved == ()
    assert found.labels.max() + 1 > 3


@pytest.mark.parametrize("constraints", determinism.CONSTRAINTS)
def test_symbols_without_rhyme_or_reason_end_unresolved(constraints):
    rng = np.random.default_rng(3)
    moves = {}
    for source, symbol, target in zip(*rng.integers(0, [[40], [3], [40]], size=(3, 4000)).tolist(), strict=True):
        moves[source, symbol, target] = moves.get((source, symbol, target), 0) + 1
    labels = rng.integers(0, 5, size=40)
    steps = naive_states.as_steps(moves)
    found = determinism.reconcile(labels, steps, 3, np.full(40, 100), constraints=constraints)
    assert len(found.unresolved) > 0
    assert all(0 < share <= 0.95 for _, _, share in found.unresolved)
    assert Partition(found.labels).refines(Partition(labels))


@pytest.mark.small
def test_nothing_seen_is_nothing_resolved():
    steps = naive_states.as_steps({})
    windows = np.array([[0, 1]]), np.array([2])
    for constraints in determinism.CONSTRAINTS:
        found = determinism.reconcile(np.array([7]), steps, 2, np.array([1]), 0.95, constraints, windows)
        assert found.labels.tolist() == [0]
        assert found.targets.tolist() == [[-1, -1]]
        assert found.emission.tolist() == [[0.0, 0.0]]
        assert found.unresolved == ()


@pytest.mark.small
def test_the_closed_class_of_largest_mass():
    targets = np.array([[1, 2], [1, -1], [3, -1], [2, -1], [-1, -1]])
    emission = np.array([[0.5, 0.5], [1, 0], [1, 0], [1, 0], [0, 0]])
    assert determinism._recurrent(targets, emission, np.array([9, 3, 1, 1, 9])).tolist() == [1]
    assert determinism._recurrent(targets, emission, np.array([9, 1, 1, 1, 9])).tolist() == [2, 3]
    assert determinism._recurrent(targets, emission, np.array([9, 2, 1, 1, 9])).tolist() == [1]
    assert determinism._recurrent(targets[4:], emission[4:], np.array([1.0])) is None
    chain = chains.Chain.of_table(targets, emission)
    np.testing.assert_allclose(chains.class_stationary(chain, np.array([2, 3])), 0.5)


def test_the_only_way_out_of_a_long_cycle_is_no_stray():
    """Of the 29 zeros of a cycle, one in 28 leads on: less than 1 - theta, but without it nothing else happens."""
    cycle = ds.processes.periodic("0" * 29 + "1")
    for past in (22, 29, 35):
        causal = ds.CausalStates().fit(ds.observe.series(cycle.simulate(6000, rng=1), past=past))
        assert causal.machine_.recurrent_part().n_states == min(past + 1, 30)
