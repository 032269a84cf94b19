"""Automata against rules applied cell by cell."""

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive_cones as naive
from decisional.machines.automata import (
    cellular_automaton,
    cyclic_automaton,
    directed_percolation,
    elementary_ca,
    game_of_life,
)
from strategies_symbols import examples

seeds = st.integers(0, 2**32 - 1)


def check(field, rule):
    """Compare the rows after the first one with the naive ones."""
    assert field.dtype == np.uint8
    cells = list(product(*map(range, field.shape[1:])))
    rows = naive.automaton({cell: int(field[0][cell]) for cell in cells}, len(field), rule)
    for row, expected in zip(field, rows, strict=True):
        assert [int(row[cell]) for cell in cells] == [expected[cell] for cell in cells]


@pytest.mark.small
@examples(100, small=20)
@given(st.data(), st.integers(2, 4), st.integers(0, 2), st.integers(1, 9), st.integers(1, 6), seeds)
def test_rules_of_any_colours_and_radius(data, colours, radius, width, steps, seed):
    radius = min(radius, 1) if colours > 2 else radius
    rule = data.draw(st.integers(0, colours**colours ** (2 * radius + 1) - 1))
    field = cellular_automaton(rule, width, steps, colours, radius, rng=seed)
    assert field.shape == (steps, width)
    assert field.max() < colours
    check(field, naive.wolfram(rule, colours, radius))


@pytest.mark.parametrize("rule", range(0, 256, 5))
def test_elementary_rules(rule):
    field = elementary_ca(rule, 40, 30, rng=rule)
    np.testing.assert_array_equal(cellular_automaton(rule, 40, 30, initial=field[0]), field)


@pytest.mark.small
@examples(60, small=12)
@given(
    st.integers(1, 5),
    st.integers(1, 5),
    st.integers(1, 4),
    st.sampled_from([2, 3, 4, 256]),
    st.integers(1, 3),
    st.sampled_from(["moore", "von_neumann"]),
    st.integers(1, 2),
    seeds,
)
def test_cyclic_automata(height, width, steps, colours, threshold, neighbourhood, radius, seed):
    options = {"neighbourhood": neighbourhood, "radius": radius}
    field = cyclic_automaton((height, width), steps, colours, threshold, seed, **options)
    assert field.shape == (steps, height, width)
    check(field, naive.cyclic(colours, threshold, neighbourhood, radius))


@pytest.mark.small
def test_colours_go_round():
    first = np.array([[255, 0], [255, 255]])
    field = cyclic_automaton((2, 2), 2, colours=256, initial=first)
    assert field[1].tolist() == [[0, 0], [255, 0]]
    check(field, naive.cyclic(256, 1, "von_neumann", 1))


@pytest.mark.small
@examples(60, small=12)
@given(st.integers(1, 6), st.integers(1, 6), st.integers(1, 5), st.sampled_from([0.0, 0.3, 0.5, 1.0]), seeds)
def test_lives(height, width, steps, density, seed):
    field = game_of_life((height, width), steps, seed, density)
    assert field.shape == (steps, height, width)
    check(field, naive.life)


@pytest.mark.small
def test_a_glider_moves():
    first = np.zeros((8, 8), int)
    first[[0, 1, 2, 2, 2], [1, 2, 0, 1, 2]] = 1
    field = game_of_life((8, 8), 33, initial=first)
    np.testing.assert_array_equal(field[4], np.roll(first, (1, 1), (0, 1)))
    np.testing.assert_array_equal(field[32], first)


@pytest.mark.small
@examples(40, small=10)
@given(st.integers(1, 9), st.integers(1, 8), seeds)
def test_activity_comes_from_a_neighbour(width, steps, seed):
    field = directed_percolation(width, steps, 0.7, seed, density=0.5)
    assert field.shape == (steps, width)
    for before, row in pairwise(field):
        reached = np.roll(before, 1) | np.roll(before, -1)
        assert (row <= reached).all()
    all_open = directed_percolation(width, steps, 1.0, seed, density=0.5)
    for before, row in pairwise(all_open):
        np.testing.assert_array_equal(row, np.roll(before, 1) | np.roll(before, -1))
    assert not directed_percolation(width, 3, 0.0, seed)[1:].any()


def test_percolation_has_its_threshold_and_its_rates():
    lasting = directed_percolation(2000, 1000, 0.70, rng=1)
    dying = directed_percolation(2000, 1000, 0.55, rng=1)
    assert 0.5 < lasting[-1].mean() < 0.9
    assert not dying[-1].any()
    parents = np.roll(lasting[:-1], 1, axis=1) + np.roll(lasting[:-1], -1, axis=1)
    assert lasting[1:][parents == 1].mean() == pytest.approx(0.7, abs=0.01)
    assert lasting[1:][parents == 2].mean() == pytest.approx(1 - 0.3**2, abs=0.01)


@pytest.mark.small
def test_seeds_repeat():
    for run in (
        lambda rng: cellular_automaton(30, 50, 3, rng=rng),
        lambda rng: cyclic_automaton((7, 8), 3, rng=rng),
        lambda rng: game_of_life((7, 8), 3, rng),
        lambda rng: directed_percolation(50, 3, 0.6, rng),
    ):
        np.testing.assert_array_equal(run(5), run(np.random.default_rng(5)))
        assert not np.array_equal(run(5), run(6))


@pytest.mark.small
@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: cellular_automaton(-1, 5, 5), "'rule' is -1; it must be an integer of at least 0"),
        (lambda: cellular_automaton(256, 5, 5), r"'rule' is 256; with 2 colours and 8 neighbourhoods .* 2 \*\* 8"),
        (lambda: cellular_automaton(1, 0, 5), "'width' is 0"),
        (lambda: cellular_automaton(1, 5, 0), "'steps' is 0"),
        (lambda: cellular_automaton(1, 5, 5, colours=1), "'colours' is 1; it must be an integer from 2 to 256"),
        (lambda: cellular_automaton(1, 5, 5, radius=-1), "'radius' is -1"),
        (lambda: cellular_automaton(1, 5, 5, radius=12), "'radius' is 12 with 2 colours"),
        (lambda: cellular_automaton(1, 5, 5, initial=[0, 1]), r"'initial' has shape \(2,\)"),
        (lambda: cellular_automaton(1, 2, 5, initial=[0, 2]), "cells from 0 to 1"),
        (lambda: cyclic_automaton(5, 5), "'shape' is 5; it must be a pair"),
        (lambda: cyclic_automaton((5, 5, 5), 5), r"'shape' is \(5, 5, 5\)"),
        (lambda: cyclic_automaton((5, 0), 5), "'shape' is 0"),
        (lambda: cyclic_automaton((5, 5), 5, threshold=0), "'threshold' is 0"),
        (lambda: cyclic_automaton((5, 5), 5, radius=0), "'radius' is 0"),
        (lambda: cyclic_automaton((5, 5), 5, neighbourhood="hex"), "'neighbourhood' is 'hex'"),
        (
            lambda: game_of_life((5, 5), 5, density=1.5),
            "'density' is 1.5; .* choose a probability, such as 0.5",
        ),
        (lambda: directed_percolation(5, 5, -0.1), "'p' is -0.1; it must be a number of at least 0 and of at most 1"),
        (lambda: directed_percolation(True, 5, 0.1), "'width' is True"),
    ],
)
def test_refusals_say_what_to_do(call, message):
    with pytest.raises(ValueError, match=message):
        call()
