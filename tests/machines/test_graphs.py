"""Machines and transition graphs: theorems, naive twins and refusals."""

import copy
import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import naive
from decisional import processes
from decisional.machines import EpsilonMachine, TransitionGraph
from strategies import machines

EVEN = [("A", "0", "A", 0.5), ("A", "1", "B", 0.5), ("B", "1", "A", 1.0)]
QUICK = settings(max_examples=60, deadline=None)


def home_of(machine):
    return dict(enumerate(machine.stationary.tolist()))


def renumbered(machine, order, alphabet=None):
    """Return the machine with its states in another order."""
    number = np.argsort(order)
    targets = np.where(machine.targets >= 0, number[machine.targets], -1)[order]
    return EpsilonMachine.from_arrays(targets, machine.emission[order], alphabet or machine.alphabet)


def split_states(machine, seed):
    """Return a machine of the same process, each state doubled and targets drawn among the copies."""
    n = machine.n_states
    copies = np.random.default_rng(seed).integers(0, 2, size=(2 * n, len(machine.alphabet))) * n
    targets = np.tile(machine.targets, (2, 1))
    targets = np.where(targets >= 0, targets + copies, -1)
    return EpsilonMachine.from_arrays(targets, np.tile(machine.emission, (2, 1)), machine.alphabet)


# ----------------------------------------------------------------------------------------------- construction


@pytest.mark.small
def test_numbering_and_columns():
    machine = EpsilonMachine([("B", 1, "A", 1), ("A", 1, "B", 0.5), ("A", 0, "A", 0.5), ("A", 2, "B", 0.0)])
    assert machine.names == ("B", "A")
    assert machine.alphabet == (0, 1)
    assert machine.targets.tolist() == [[-1, 1], [1, 0]]
    assert machine.emission.tolist() == [[0, 1], [0.5, 0.5]]
    assert machine.matrix.tolist() == [[0, 1], [0.5, 0.5]]
    assert machine.weights is None
    np.testing.assert_allclose(machine.stationary, [1 / 3, 2 / 3])
    assert EpsilonMachine([("x", (1, 2), "x", 0.5), ("x", "a", "x", 0.5)]).alphabet == ("a", (1, 2))
    given_order = EpsilonMachine(EVEN, alphabet="102")
    assert given_order.alphabet == ("1", "0", "2")
    assert given_order.emission[:, 2].tolist() == [0.0, 0.0]
    assert EpsilonMachine([(np.int64(0), np.str_("a"), np.int64(0), np.float64(1))]).names == (0,)


@pytest.mark.small
@pytest.mark.parametrize("copied", [False, True])
def test_arrays_cannot_be_changed(copied):
    machine = EpsilonMachine(EVEN)
    machine = copy.deepcopy(machine) if copied else machine
    for name in ("targets", "emission", "matrix", "stationary", "recurrent"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(machine, name)[0] = 0
    with pytest.raises(AttributeError, match="read-only"):
        machine.names = ("x", "y")
    with pytest.raises(AttributeError, match="TransitionGraph cannot be changed"):
        machine.graph.weight = None


@pytest.mark.small
@pytest.mark.parametrize(
    ("rows", "alphabet", "message"),
    [
        (
            [("A", 0, "A", 0.5), ("A", 1, "A", 0.4)],
            None,
            "'transitions' of state 'A' sum to 0.9; .* sum to 1",
        ),
        ([("A", 0, "A", -0.5), ("A", 1, "A", 1.5)], None, "symbol 0 in state 'A' is -0.5"),
        ([("A", 0, "A", math.nan)], None, "is nan; a probability must be between 0 and 1"),
        ([("A", 0, "A", math.inf)], None, "is inf; a probability"),
        ([("A", 0, "A", 0.5), ("A", 0, "A", 0.5)], None, "symbol 0 of state 'A' appears twice"),
        ([("A", 0, "B", 1.0)], None, "target 'B' of state 'A' is never a source"),
        ([("A", 0, "A", 1.0)], [1], "symbol 0 of state 'A' is not in the 'alphabet'"),
        ([("A", 0, "A", 1.0)], [0, 1, 0], "'alphabet' have 0 twice"),
        ([], None, "'transitions' are empty"),
        ([("A", 0, "A")], None, "Row 0 of 'transitions' is .* must be \\(source, symbol"),
        ([("A", 0, "A", 1.0), ("A", 1, "A", "x")], None, "Row 1 of 'transitions'"),
        ([("A", [0], "A", 1.0)], None, "Row 0 of 'transitions'"),
        ([7], None, "Row 0 of 'transitions' is 7"),
    ],
)
def test_wrong_rows_are_refused(rows, alphabet, message):
    with pytest.raises(ValueError, match=message) as caught:
        EpsilonMachine(rows, alphabet)
    assert "\n" not in str(caught.value)


@pytest.mark.small
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([[0, 0]], [[0.5, 0.6]], "ab"), "'transitions' of state 0 sum to 1.1"),
        (([[0, 1]], [[0.5, 0.5]], "ab"), "'targets' of state 0, column 1, is 1"),
        (([[0, -1]], [[0.5, 0.5]], "ab"), "column 1, is -1"),
        (([[0, 0]], [[0.5, 0.5]], "abc"), "3 symbols; it must be n_states"),
        (([[0, 0]], [[0.5, 0.5]], "ab", ["x", "y"]), "2 names"),
        (([[0, 0, 0]], [[0.5, 0.5]], "ab"), "'targets' have shape \\(1, 3\\)"),
        (([[0.0, 0.0]], [[0.5, 0.5]], "ab"), "the targets integers"),
        (([[0, 0]], [[math.nan, 1]], "ab"), "'emission' of state 0, column 0, is nan"),
        (([[0, 0]], [[-0.5, 1.5]], "ab"), "column 0, is -0.5"),
        (([0], [1.0], "a"), "'emission' has shape"),
        (([[0, 0]], [[0.5, 0.5]], "ab", None, [1, 2]), "'weights' are .* one non-negative number"),
        (([[0, 0]], [[0.5, 0.5]], "ab", None, [0]), "not all zero"),
        (([[0, 0]] * 2, [[0.5, 0.5]] * 2, "ab", [1, 1]), "'names' have 1 twice"),
    ],
)
def test_wrong_arrays_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        EpsilonMachine.from_arrays(*arguments)


@pytest.mark.small
def test_sums_within_tolerance_are_normalised():
    machine = EpsilonMachine([("A", 0, "A", 1 / 3), ("A", 1, "A", 2 / 3 + 4e-10)])
    assert machine.emission.sum() == pytest.approx(1.0, abs=1e-15)


@pytest.mark.small
def test_dead_ends_of_estimated_machines():
    machine = EpsilonMachine.from_arrays([[0, 1], [-1, -1]], [[0.5, 0.5], [0, 0]], "ab", weights=[3, 1])
    assert machine.recurrent.tolist() == [False, False]
    assert not machine.stationary.any()
    assert machine.weights.tolist() == [0.75, 0.25]
    assert machine.excess_entropy(with_error=True) == (0.0, 0.0)
    with pytest.raises(ValueError, match="0 recurrent states"):
        machine.recurrent_part()
    with pytest.raises(ValueError, match="no recurrent state"):
        machine.simulate(3)
    with pytest.raises(ValueError, match="leads to a dead end"):
        machine.simulate(1000, rng=0, start=0)
    assert machine.filter("ab").tolist() == [0, 1]
    assert machine.predict_proba("ab").tolist() == [[0.5, 0.5], [0, 0]]
    assert machine.log_likelihood("ba") == -math.inf
    uniform = EpsilonMachine.from_arrays([[0, 1], [-1, -1]], [[0.5, 0.5], [0, 0]], "ab")
    assert uniform.log_likelihood("b") == pytest.approx(-2)


# ------------------------------------------------------------------------------------------------- quantities


@QUICK
@given(machines())
def test_inequalities(machine):
    complexity, rate = machine.statistical_complexity(), machine.entropy_rate()
    value, error = machine.excess_entropy(atol=1e-4, with_error=True)
    assert -1e-12 <= rate <= math.log2(len(machine.alphabet)) + 1e-9
    assert 0.0 <= value <= complexity + error + 1e-9
    assert complexity <= math.log2(machine.n_states) + 1e-9


@settings(max_examples=40, deadline=None)
@given(machines(max_states=4, max_symbols=2))
def test_excess_entropy_lies_between_the_bounds_of_enumeration(machine):
    value, error = machine.excess_entropy(atol=1e-8, with_error=True)
    twin = naive.as_dict(machine)
    low, high = naive.excess_entropy(twin, home_of(machine), machine.alphabet, machine.entropy_rate(), 8)
    assert low - error - 1e-8 <= value <= high + error + 1e-8


@pytest.mark.small
@pytest.mark.parametrize("name", ["even", "golden_mean", "rip", "nemo", "odd"])
def test_excess_entropy_of_processes_by_enumeration(name):
    machine = processes.catalogue[name](p=0.4)
    twin, length = naive.as_dict(machine), 12
    low, high = naive.excess_entropy(twin, home_of(machine), machine.alphabet, machine.entropy_rate(), length)
    assert low - 1e-9 <= machine.excess_entropy() <= high + 1e-9
    assert high - low < 0.1


@QUICK
@given(machines(), st.integers(0, 99))
def test_minimise_undoes_splitting(machine, seed):
    minimal = machine.minimise()
    split = split_states(machine, seed)
    again = split.minimise()
    assert again.is_isomorphic(minimal)
    assert again.n_states <= machine.n_states
    assert minimal.minimise().n_states == minimal.n_states
    one_class = len({tuple(c) for c in naive.closed_classes(naive.edges(naive.as_dict(machine)))}) == 1
    assume(one_class)
    word = machine.simulate(20, rng=seed)
    for other in (minimal, split, again):
        assert other.entropy_rate() == pytest.approx(machine.entropy_rate(), abs=1e-9)
    for other in (minimal, again):
        assert other.log_likelihood(word) == pytest.approx(machine.log_likelihood(word), abs=1e-7)
        found, error = other.excess_entropy(atol=1e-3, with_error=True)
        value, other_error = machine.excess_entropy(atol=1e-3, with_error=True)
        assert abs(found - value) <= error + other_error + 1e-8


@pytest.mark.small
def test_minimise_merges_within_tolerance_and_keeps_weights():
    machine = EpsilonMachine.from_arrays(
        [[1, 0], [0, 1]], [[0.5, 0.5], [0.5 + 1e-10, 0.5 - 1e-10]], "ab", ["x", "y"], [0.25, 0.75]
    )
    merged = machine.minimise()
    assert merged.names == ("x",)
    assert merged.weights.tolist() == [1.0]
    assert machine.minimise(atol=1e-12) is machine


@pytest.mark.small
def test_recurrent_part():
    rows = [("t", 0, "a", 0.3), ("t", 1, "b", 0.7), ("a", 0, "a", 1), ("b", 0, "b", 0.5), ("b", 1, "c", 0.5)]
    machine = EpsilonMachine([*rows, ("c", 1, "d", 1), ("d", 0, "b", 0.5), ("d", 1, "d", 0.5)])
    assert machine.recurrent.tolist() == [False, True, True, True, True]
    part = machine.recurrent_part()
    assert part.names == ("b", "d", "c")
    assert part.recurrent.all()
    np.testing.assert_allclose(part.stationary, [0.4, 0.4, 0.2])
    coin = EpsilonMachine([("t", 0, "h", 1), ("h", 0, "h", 0.5), ("h", 1, "h", 0.5)])
    assert coin.recurrent_part().names == ("h",)
    assert coin.statistical_complexity() == 0
    assert coin.entropy_rate() == 1


@pytest.mark.small
def test_mixtures_of_processes_share_their_name():
    rows = [("A", 0, "A", 0.9), ("A", 1, "A", 0.1), ("B", 0, "B", 0.2), ("B", 1, "B", 0.8)]
    machine = EpsilonMachine(rows)
    assert machine.statistical_complexity() == pytest.approx(1)
    assert machine.excess_entropy() == pytest.approx(1)
    weighted = EpsilonMachine.from_arrays(machine.targets, machine.emission, [0, 1], weights=[0.25, 0.75])
    np.testing.assert_allclose(weighted.stationary, [0.25, 0.75])


# ------------------------------------------------------------------------------------------------ isomorphism


@settings(max_examples=100, deadline=None)
@given(machines(max_states=7, dead_ends=True), st.randoms(use_true_random=False))
def test_isomorphic_under_any_permutation(machine, random):
    order = list(range(machine.n_states))
    random.shuffle(order)
    other = renumbered(machine, np.array(order), [str(symbol) for symbol in machine.alphabet])
    assert machine.is_isomorphic(other)
    assert other.is_isomorphic(machine, atol=0.0)
    bent = np.array(other.emission)
    row = next((i for i in order if np.count_nonzero(bent[i]) > 1), None)
    if row is not None:
        a, b = np.flatnonzero(bent[row])[:2]
        bent[row, a], bent[row, b] = bent[row, a] - 1e-3, bent[row, b] + 1e-3
        assert not machine.is_isomorphic(EpsilonMachine.from_arrays(other.targets, bent, other.alphabet))


@pytest.mark.small
def test_not_isomorphic():
    assert not processes.even().is_isomorphic(processes.golden_mean())
    assert not processes.even().is_isomorphic(processes.odd())
    assert not processes.coin().is_isomorphic(processes.periodic("01"))
    assert not processes.coin().is_isomorphic(EpsilonMachine([("A", "a", "A", 0.5), ("A", "b", "A", 0.5)]))
    assert processes.even(0.5).is_isomorphic(processes.even(0.5 + 1e-7))
    assert not processes.even(0.5).is_isomorphic(processes.even(0.5 + 1e-5))
    assert processes.even(0.5).is_isomorphic(processes.even(0.6), atol=0.2)
    # The same rows, but cycles of 2 + 4 states against 3 + 3.
    two_four = [(i, 0, j, 1) for i, j in enumerate([1, 0, 3, 4, 5, 2])]
    three_three = [(i, 0, j, 1) for i, j in enumerate([1, 2, 0, 4, 5, 3])]
    assert not EpsilonMachine(two_four).is_isomorphic(EpsilonMachine(three_three))
    mixed = EpsilonMachine([("A", 0, "A", 0.5), ("A", "0", "A", 0.5)])
    assert mixed.is_isomorphic(mixed)


@pytest.mark.small
def test_isomorphism_backtracks():
    # Equal topology; which cycle carries which probabilities is found only by trying.
    def cycles(probabilities):
        rows = []
        for c, ps in enumerate(probabilities):
            for i, p in enumerate(ps):
                after = (c, (i + 1) % len(ps))
                rows += [((c, i), 0, after, p), ((c, i), 1, after, 1 - p)]
        return EpsilonMachine(rows)

    first = cycles([(0.2, 0.3), (0.2, 0.4), (0.2, 0.3)])
    assert first.is_isomorphic(cycles([(0.4, 0.2), (0.3, 0.2), (0.2, 0.3)]))
    assert not first.is_isomorphic(cycles([(0.4, 0.2), (0.4, 0.2), (0.2, 0.3)]))


# ----------------------------------------------------------------------------------------------- plain graphs


@pytest.mark.small
def test_transition_graph_from_counts():
    graph = TransitionGraph.from_counts([0, 0, 1, 0], [1, 0, 0, 1], [2, 5, 3, 3], 3)
    np.testing.assert_allclose(graph.matrix.toarray(), [[0.5, 0.5, 0], [1, 0, 0], [0, 0, 0]])
    np.testing.assert_allclose(graph.weight, [10 / 13, 3 / 13, 0])
    np.testing.assert_allclose(graph.stationary, [2 / 3, 1 / 3, 0])
    assert graph.recurrent.tolist() == [True, True, False]
    assert graph.names == (0, 1, 2)
    assert repr(graph) == "TransitionGraph(3 states, 3 edges)"
    changes = graph.without_self_loops()
    np.testing.assert_allclose(changes.matrix.toarray(), [[0, 1, 0], [1, 0, 0], [0, 0, 0]])
    np.testing.assert_array_equal(changes.weight, graph.weight)
    lonely = TransitionGraph([[1.0, 0.0], [0.5, 0.5]], names="ab").without_self_loops()
    assert not lonely.recurrent.any()
    assert lonely.weight is None
    assert lonely.names == ("a", "b")


@pytest.mark.small
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([[0.5, 0.4], [0, 1]],), "Row 0 of 'matrix' sums to 0.9"),
        (([[1, 0], [1.5, -0.5]],), "Row 1 of 'matrix' sums to 1; its probabilities must be non-negative"),
        (([[1, 0]],), "'matrix' has shape \\(1, 2\\)"),
        (([[1.0]], [0.5, 0.5]), "'weight' are"),
        (([[1.0]], None, "ab"), "2 names"),
    ],
)
def test_wrong_graphs_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        TransitionGraph(*arguments)
