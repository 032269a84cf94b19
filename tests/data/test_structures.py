"""Partitions: canonical labels, entropies, and the theorems of refinement; steps between groups."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive_observe as naive
from decisional.data.tally import Steps, Table
from decisional.states.partition import Partition
from decisional.support.arrays import read_only
from strategies_symbols import examples

pytestmark = pytest.mark.small

labels = st.lists(st.integers(0, 4) | st.integers(-1, 9), max_size=30)


@st.composite
def partitions(draw, n_partitions=1, unknown=True, weighted=None):
    """Partitions of the same elements with the same weights."""
    n = draw(st.integers(0, 25))
    label = st.integers(-1 if unknown else 0, draw(st.integers(0, 5)))
    weight = None
    if draw(st.booleans()) if weighted is None else weighted:
        weight = draw(st.lists(st.integers(1, 9), min_size=n, max_size=n))
    found = [Partition(draw(st.lists(label, min_size=n, max_size=n)), weight) for _ in range(n_partitions)]
    return found[0] if n_partitions == 1 else found


def masses(partition):
    return [1.0] * partition.labels.size if partition.weight is None else partition.weight.tolist()


def groups(partition):
    """State -> the set of its elements."""
    found = {}
    for i, label in enumerate(partition.labels.tolist()):
        if label >= 0:
            found.setdefault(label, set()).add(i)
    return found


@examples(150)
@given(labels, st.data())
def test_labels_are_canonical(given_labels, data):
    n = len(given_labels)
    weight = data.draw(st.none() | st.lists(st.integers(1, 4), min_size=n, max_size=n))
    partition = Partition(np.array(given_labels, int), weight)
    expected, mass = naive.canonical(given_labels, [1] * n if weight is None else weight)
    assert partition.labels.tolist() == expected
    assert partition.probability.tolist() == [m / sum(mass) for m in mass]
    assert partition.n_states == len(mass)
    again = Partition(partition.labels, partition.weight)
    np.testing.assert_array_equal(again.labels, partition.labels)
    np.testing.assert_array_equal(again.probability, partition.probability)


def test_ties_are_broken_by_first_appearance():
    assert Partition([7, 3, 7, 3, 5, 5, 1]).labels.tolist() == [0, 1, 0, 1, 2, 2, 3]
    assert Partition([7, 3, 5], [1, 1, 1.5]).labels.tolist() == [1, 2, 0]
    assert Partition([3, -1, -1, -1, 9, 9]).labels.tolist() == [1, -1, -1, -1, 0, 0]
    assert Partition([3, -1, 9], [1, 5, 1]).probability.tolist() == [0.5, 0.5]


@examples(100)
@given(partitions())
def test_entropy_is_the_mean_of_the_local_values(partition):
    weight = np.array(masses(partition))
    known = partition.labels >= 0
    local = partition.local()
    assert local.shape == partition.labels.shape
    assert np.isnan(local).tolist() == (~known).tolist()
    total = math.fsum(weight[known])
    mass = {label: sum(weight[i] for i in members) for label, members in groups(partition).items()}
    for i in np.flatnonzero(known):
        assert local[i] == pytest.approx(-math.log2(mass[partition.labels[i]] / total), abs=1e-12)
        assert math.copysign(1, local[i]) == 1
    entropy = partition.entropy()
    assert entropy == pytest.approx(-sum(m / total * math.log2(m / total) for m in mass.values()), abs=1e-12)
    assert 0 <= entropy <= math.log2(max(partition.n_states, 1)) + 1e-12
    assert math.copysign(1, entropy) == 1
    if known.any():
        assert entropy == pytest.approx(np.average(local[known], weights=weight[known]), abs=1e-12)


@examples(200)
@given(partitions(2))
def test_refines_is_inclusion_of_states(both):
    a, b = both
    for fine, coarse in ((a, b), (b, a), (a, a), (a & b, a), (a & b, b)):
        inside = [any(members <= other for other in groups(coarse).values()) for members in groups(fine).values()]
        assert fine.refines(coarse) == all(inside)


@examples(200)
@given(partitions(3))
def test_the_meet_is_the_coarsest_common_refinement(three):
    a, b, c = three
    meet = a & b
    assert meet.refines(a)
    assert meet.refines(b)
    if c.refines(a) and c.refines(b):
        assert c.refines(meet)
    expected = {frozenset(p & q) for p in groups(a).values() for q in groups(b).values()} - {frozenset()}
    assert {frozenset(members) for members in groups(meet).values()} == expected
    assert masses(meet) == masses(a)
    np.testing.assert_array_equal((b & a).labels, meet.labels)
    np.testing.assert_array_equal((a & b & c).labels, (a & (b & c)).labels)
    np.testing.assert_array_equal((a & a).labels, a.labels)


@examples(100)
@given(partitions(2, unknown=False))
def test_refinement_adds_entropy(both):
    a, b = both
    meet = a & b
    assert meet.entropy() >= max(a.entropy(), b.entropy()) - 1e-12
    assert meet.entropy() <= a.entropy() + b.entropy() + 1e-12
    assert (meet.local() >= np.maximum(a.local(), b.local()) - 1e-12).all()
    # Canonical labels: partitions that refine each other are the same.
    if a.refines(b) and b.refines(a):
        assert a.labels.tolist() == b.labels.tolist()


def test_elements_without_a_state():
    a, nothing = Partition([0, 1, -1]), Partition([-1, -1, -1])
    assert (a & nothing).labels.tolist() == [-1, -1, -1]
    assert nothing.refines(a)
    assert not a.refines(nothing)
    assert Partition([0, -1, -1]).refines(a)
    assert not a.refines(Partition([0, -1, 1]))
    assert nothing.n_states == 0
    assert nothing.entropy() == 0.0
    assert np.isnan(nothing.local()).all()


def test_states_without_mass():
    partition = Partition([0, 1, 1], [2, 0, 0])
    assert partition.probability.tolist() == [1.0, 0.0]
    assert partition.entropy() == 0.0
    assert partition.local().tolist() == [0.0, math.inf, math.inf]
    assert Partition([0, 1], [0, 0]).probability.tolist() == [0.0, 0.0]


def test_arrays_are_protected_and_independent_of_what_was_given():
    given_labels, weight = np.array([0, 0, 1]), np.array([1.0, 2.0, 3.0])
    partition = Partition(given_labels, weight)
    for array in (partition.labels, partition.weight, partition.probability):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    given_labels[0], weight[0] = 5, 50.0
    assert partition.labels.tolist() == [0, 0, 1]
    assert partition.weight.tolist() == [1, 2, 3]
    with pytest.raises(AttributeError):
        partition.labels = given_labels


def test_partitions_are_equal_only_to_themselves():
    a, b = Partition([0, 1]), Partition([0, 1])
    assert a != b
    assert len({a, b, a}) == 2


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        (([0, 1], [1.0]), r"'labels' of a Partition have shape \(2,\) and the 'weight' has \(1,\)"),
        (([[0, 1]],), r"have shape \(1, 2\)"),
        ((3,), r"have shape \(\)"),
    ],
)
def test_no_partition(wrong, text):
    with pytest.raises(ValueError, match=text):
        Partition(*wrong)


def test_other_elements_are_refused():
    a, b = Partition([0, 1]), Partition([0, 1, 1])
    for work in (a.refines, a.__and__):
        with pytest.raises(ValueError, match="'other' partition has 3 elements and this one 2"):
            work(b)


@examples(100)
@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 2), st.integers(0, 5), st.integers(1, 9)), max_size=30),
    st.lists(st.integers(0, 3), min_size=6, max_size=6),
)
def test_steps_between_groups_add_up(entries, rows):
    columns = np.array(entries, np.int64).reshape(-1, 4).T
    found = Steps(*columns).relabel(np.array(rows))
    expected = {}
    for source, symbol, target, count in entries:
        naive.add(expected, (rows[source], symbol, rows[target]), count)
    keys = list(zip(found.source.tolist(), found.symbol.tolist(), found.target.tolist(), strict=True))
    assert dict(zip(keys, found.count.tolist(), strict=True)) == expected
    assert all(a < b for a, b in pairwise(keys))


def test_records_protect_their_arrays():
    array = np.arange(3)
    table = Table(array, array, array, 3, array, Steps(array, array, array, array))
    for protected in (table.start, table.count, table.weight, table.steps.count, read_only(array)):
        with pytest.raises(ValueError, match="read-only"):
            protected[0] = 1
    array[0] = 1
    assert table.n_x == 2
