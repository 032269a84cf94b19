"""Closed classes, stationary distributions, entropies."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import naive
from decisional._kernels import components
from decisional.machines import TransitionGraph, chains
from decisional.machines.chains import Chain
from strategies import machines


def chain_of(matrix):
    """The chain of a matrix, its transitions in any order."""
    source, target = (ends[::-1] for ends in np.nonzero(matrix))
    return Chain.of_edges(len(matrix), source, target, np.asarray(matrix)[source, target])


@pytest.mark.small
def test_periodic_chain_is_solved():
    cycle = np.roll(np.eye(5), 1, axis=1)
    np.testing.assert_allclose(chains.stationary(chain_of(cycle)), 0.2, atol=1e-15)


@pytest.mark.small
def test_several_closed_classes_are_weighted_by_absorption():
    # 0 goes to {1} with 1/4, to {2, 3} with 3/4; the start is uniform over the four states.
    matrix = np.array([[0, 0.25, 0.75, 0], [0, 1, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]])
    classes = chains.closed_classes(chain_of(matrix))
    assert [members.tolist() for members in classes] == [[1], [2, 3]]
    share = 0.25 + 0.25 * 0.25
    expected = [0, share, (1 - share) / 2, (1 - share) / 2]
    np.testing.assert_allclose(chains.stationary(chain_of(matrix)), expected, atol=1e-14)
    np.testing.assert_allclose(chains.stationary(chain_of(matrix), [1, 0, 0, 0]), [0, 0.25, 0.375, 0.375], atol=1e-14)
    np.testing.assert_allclose(chains.stationary(chain_of(matrix), [0, 1, 0, 0]), [0, 1, 0, 0], atol=1e-14)


@pytest.mark.small
def test_dead_ends_are_never_closed():
    matrix = np.array([[0.0, 1.0], [0.0, 0.0]])
    assert chains.closed_classes(chain_of(matrix)) == []
    assert chains.stationary(chain_of(matrix)).tolist() == [0.0, 0.0]
    assert chains.closed_classes(chain_of(np.zeros((0, 0)))) == []


def test_large_chains_are_solved_sparsely():
    n = 900
    up = np.full(n - 1, 0.3)
    matrix = sparse.diags_array([up, np.full(n, 0.2), np.full(n - 1, 0.5)], offsets=[1, 0, -1]).tolil()
    matrix[0, 0], matrix[n - 1, n - 1] = 0.7, 0.5
    found = TransitionGraph(matrix.tocsr()).stationary
    expected = 0.6 ** np.arange(n)
    np.testing.assert_allclose(found, expected / expected.sum(), atol=1e-12)


@settings(max_examples=60, deadline=None)
@given(machines(max_states=6, dead_ends=True))
def test_classes_and_stationary_agree_with_naive(machine):
    chain = naive.edges(naive.as_dict(machine))
    assert [
        tuple(c.tolist()) for c in chains.closed_classes(Chain.of_table(machine.targets, machine.emission))
    ] == naive.closed_classes(chain)
    found = chains.stationary(Chain.of_table(machine.targets, machine.emission))
    np.testing.assert_allclose(found, chains.stationary(chain_of(machine.matrix)), atol=1e-14)
    np.testing.assert_allclose(found, machine.graph.stationary, atol=1e-14)
    assert machine.recurrent.tolist() == machine.graph.recurrent.tolist()
    if naive.closed_classes(chain):
        expected = naive.stationary(chain)
        np.testing.assert_allclose(found, [expected[i] for i in range(machine.n_states)], atol=1e-8)
        np.testing.assert_allclose(found @ machine.matrix, found, atol=1e-12)
    else:
        assert not found.any()


@pytest.mark.small
def test_entropy():
    assert chains.entropy([1.0, 0.0]) == 0.0
    assert not np.signbit(chains.entropy([1.0, 0.0]))
    np.testing.assert_allclose(chains.entropy([[0.5, 0.5], [0.25, 0.75]]), [1.0, 0.8112781244591328])
    np.testing.assert_allclose(chains.entropy([[0.5, 0.25], [0.5, 0.75]], axis=0), [1.0, 0.8112781244591328])


def test_excess_entropy_with_too_many_beliefs_bounds_its_error():
    rng = np.random.default_rng(0)
    targets = np.array([[0, 1, 2], [2, 0, 1], [1, 1, 0]])
    emission = rng.dirichlet(np.ones(3), 3)
    matrix = np.zeros((3, 3))
    np.add.at(matrix, (np.repeat(np.arange(3), 3), targets.ravel()), emission.ravel())
    stationary = chains.stationary(chain_of(matrix))
    value, error = chains.excess_entropy(targets, emission, stationary)
    loose, loose_error = chains.excess_entropy(targets, emission, stationary, atol=1e-3)
    assert error < 1e-4
    assert abs(value - loose) <= error + loose_error
    assert 0.0 <= value <= chains.entropy(stationary)


@pytest.mark.small
@pytest.mark.parametrize("n", [1, 2, 7, 90])
def test_one_closed_class_dense_or_sparse(n: int) -> None:
    generator = np.random.default_rng(n)
    matrix = np.roll(np.eye(n), 1, axis=1) + 0.1 * generator.random((n, n))
    matrix /= matrix.sum(axis=1, keepdims=True)
    found = chains.class_stationary(chain_of(matrix), np.arange(n))
    np.testing.assert_allclose(found, chains.stationary(chain_of(matrix)), atol=1e-12)
    np.testing.assert_allclose(found @ matrix, found, atol=1e-12)
    cycle = np.roll(np.eye(n), 1, axis=1)
    np.testing.assert_allclose(chains.class_stationary(chain_of(cycle), np.arange(n)), 1 / n, atol=1e-12)


@pytest.mark.small
@settings(max_examples=100, deadline=None)
@given(st.integers(1, 9), st.data())
def test_components_are_their_naive_twins(n, data):
    links = data.draw(st.lists(st.tuples(st.integers(0, n - 1), st.integers(-1, n - 1)), max_size=3 * n))
    source, target = np.array(links, np.int64).reshape(-1, 2).T
    chain = Chain.of_edges(n, source, target, np.ones(source.size))
    reached = naive.reach({i: [b for a, b in links if a == i and b >= 0] for i in range(n)})
    found = [tuple(members.tolist()) for members in chains.closed_classes(chain)]
    closed = {
        tuple(sorted(reached[i])) for i in range(n) if reached[i] and all(reached[j] == reached[i] for j in reached[i])
    }
    assert found == sorted(closed)
    ends = {i for i in range(n) if not any(j in reached[j] for j in reached[i])}
    living = {i: reached[i] - ends for i in reached if i not in ends}
    aside = {tuple(sorted(after)) for after in living.values() if all(living[j] == after for j in after)}
    assert [tuple(members.tolist()) for members in chains.closed_classes(chain, aside=True)] == sorted(aside)
    known = [(a, b) for a, b in links if b >= 0]
    both = naive.reach({i: [b for a, b in known if a == i] + [a for a, b in known if b == i] for i in range(n)})
    first = np.empty(n, np.int64)
    components.connect(*np.array(known, np.int64).reshape(-1, 2).T, first)
    assert first.tolist() == [min(both[i] | {i}) for i in range(n)]


@pytest.mark.small
def test_probabilities_that_underflow_are_solved_too():
    tiny = 1e-300
    chain = Chain.of_table(np.array([[1, 0], [2, 0], [0, -1]]), np.array([[tiny, 1.0], [tiny, 1.0], [1.0, 0.0]]))
    np.testing.assert_allclose(chains.class_stationary(chain, np.arange(3)), [1.0, 0.0, 0.0], atol=1e-15)
    assert not components.class_stationary(
        *Chain.of_edges(2, *np.eye(2, dtype=int), np.zeros(2)).arrays, np.arange(2), np.empty(2)
    )
