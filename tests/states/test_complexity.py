"""Complexities of the whole system and at each observation."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive_states
from decisional.states.partition import Partition, global_complexity, local_complexity

pytestmark = pytest.mark.small
QUICK = settings(max_examples=60, deadline=None)


@st.composite
def weighted_labels(draw):
    n = draw(st.integers(1, 12))
    labels = draw(st.lists(st.integers(0, 5), min_size=n, max_size=n))
    weight = draw(st.lists(st.integers(1, 50), min_size=n, max_size=n))
    return np.array(labels), np.array(weight)


@QUICK
@given(weighted_labels())
def test_global_is_the_mean_of_local(data):
    labels, weight = data
    states = Partition(labels, weight)
    # One observation for each unit of weight.
    x = np.repeat(np.arange(labels.size), weight)
    local = local_complexity(states)[x]
    mass = [sum(weight[labels == label]) / weight.sum() for label in set(labels.tolist())]
    assert global_complexity(states) == pytest.approx(naive_states.entropy(mass), abs=1e-12)
    assert local.mean() == pytest.approx(global_complexity(states), abs=1e-12)
    for i in range(labels.size):
        p = weight[labels == labels[i]].sum() / weight.sum()
        np.testing.assert_allclose(local[x == i], -math.log2(p), atol=1e-12)


def test_known_complexities():
    states = Partition(np.array([3, 3, 1, 0]), np.array([2, 2, 2, 2]))
    assert global_complexity(states) == 1.5
    assert local_complexity(states)[[0, 3, 2]].tolist() == [1.0, 2.0, 2.0]
    assert math.copysign(1.0, global_complexity(Partition(np.zeros(3, int)))) == 1.0


def test_states_without_mass():
    states = Partition(np.array([0, 1, 2]), np.array([4, 0, 0]))
    assert global_complexity(states) == 0.0
    assert local_complexity(states)[[0, 1]].tolist() == [0.0, math.inf]
