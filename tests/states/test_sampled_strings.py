"""Hidden machines of whole strings by sampling: paths against a literal twin, and averages that foretell better."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import decisional as ds
import naive_beliefs as naive
from decisional.states import hidden_strings, sampled_strings
from decisional.states.hidden_search import drawn
from decisional.states.hidden_series import Hidden
from decisional.states.hidden_strings import HiddenStrings, KeptBack, StringSearch, lean
from decisional.states.sampled_strings import apart, at_random, likeliest_density, mean, paths, sampled, stepwise
from decisional.states.search import Budget

STRINGS = st.lists(st.lists(st.integers(0, 1), max_size=5), min_size=1, max_size=8)


def together(strings: list[list[int]]) -> Any:
    """Strings one after the other, each with its end, 2."""
    return np.array([code for string in strings for code in [*string, 2]])


def machine_of(seed: int, n_states: int) -> Hidden:
    return lean(drawn(3, n_states, np.random.default_rng(seed)))


@pytest.mark.small
@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), STRINGS, st.integers(1, 5))
def test_paths_are_drawn_as_literally(seed: int, strings: Any, n_states: int) -> None:
    machine = machine_of(seed, n_states)
    found = paths(HiddenStrings(together(strings), 3), machine, np.random.default_rng(seed))
    rng = np.random.default_rng(seed)
    uses, last, starts = np.zeros(machine.steps.shape), np.zeros(n_states), np.zeros(n_states)
    for string in strings:
        states = naive.path(string, machine.steps, machine.home, rng.random(len(string) + 1))
        for code, before, after in zip(string, states, states[1:], strict=False):
            uses[code, before, after] += 1
        starts[states[0]] += 1
        last[states[-1]] += 1
    assert np.array_equal(found.uses, uses)
    assert np.array_equal(found.last, last)
    assert np.array_equal(found.starts, starts)


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 4))
def test_drawn_uses_are_those_that_are_expected(seed: int, n_states: int) -> None:
    """With missing symbols too, and in several trees."""
    machine, rng = machine_of(seed, n_states), np.random.default_rng(seed)
    strings = [rng.integers(-1, 2, rng.integers(0, 5)).tolist() for _ in range(12)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hidden_strings, "NODES", 9)
        series = HiddenStrings(together(strings), 3)
        drawn_uses = [paths(series, machine, rng) for _ in range(3000)]
        seen = series.expected(machine)
    # Of so many draws of at most 48 steps, each a number between 0 and 1.
    error = 5.0 * np.sqrt(0.25 * 48 / 3000)
    np.testing.assert_allclose(np.mean([one.uses[:-1] for one in drawn_uses], axis=0), seen.uses[:-1], atol=error)
    np.testing.assert_allclose(np.mean([one.starts for one in drawn_uses], axis=0), seen.starts, atol=error)
    np.testing.assert_allclose(np.mean([one.last for one in drawn_uses], axis=0), seen.uses[-1].sum(axis=1), atol=error)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000), STRINGS, st.integers(1, 4))
def test_machines_of_uses(seed: int, strings: Any, n_states: int) -> None:
    rng = np.random.default_rng(seed)
    seen = paths(HiddenStrings(together(strings), 3), machine_of(seed, n_states), rng)
    for made in (stepwise, apart):
        for rows in (mean, at_random(rng)):
            machine = made(seen, rows)
            np.testing.assert_allclose(machine.steps.sum(axis=(0, 2)), 1.0)
            assert machine.home.sum() == pytest.approx(1.0)
            assert not machine.steps[-1, :, 1:].any()
    # The symbol says nothing of the next state.
    steps = apart(seen, mean).steps[:-1]
    both = steps.sum(axis=2)[:, :, None] * steps.sum(axis=0) / steps.sum(axis=(0, 2))[None, :, None]
    np.testing.assert_allclose(steps, both, atol=1e-12)


def test_the_density_is_the_likeliest() -> None:
    rng = np.random.default_rng(1)
    for density in (0.1, 0.01, 0.002):
        rows = rng.multinomial(400, rng.dirichlet(np.full(50, density)), size=1)
        rows = np.concatenate(
            [rng.multinomial(400, rng.dirichlet(np.full(50, density)), 1) for _ in range(300)] + [rows]
        )
        assert likeliest_density(rows.astype(float)) == density


def test_chains_foretell_strings_and_repeat() -> None:
    """Averages are better than the machines that are averaged, and the same for the same strings."""
    rng = np.random.default_rng(3)
    text = np.asarray(ds.processes.random_hidden(4, 2, rng=rng).simulate(12_000, rng=rng)).astype(int)
    strings = [part.tolist() for part in np.split(text, np.sort(rng.integers(1, text.size, 2000)))]
    series = HiddenStrings(together(strings), 3)
    search, machine = StringSearch(series, Budget(1e9)), machine_of(1, 2)
    known = KeptBack(machine, search.held.string_bits(machine))
    found = list(sampled(search, known, 4e8))
    assert found[0].made is stepwise
    assert found[0].total > known.total
    for one in found:
        assert one.total > np.mean([search.held.string_bits(machine).sum() for machine in one.machines])
        assert one is found[0] or one.total > found[0].total
    for one, other in zip(found, sampled(search, known, 4e8), strict=True):
        assert np.array_equal(one.bits, other.bits)
    assert len(found[0].on_all(series, Budget(1e8))) == sampled_strings.AVERAGED
    # Too little to go on with: as they are.
    assert found[0].on_all(series, Budget(0)) is found[0].machines
    assert list(sampled(search, known, 0.0)) == []


def test_random_machines_take_part_where_they_foretell_better() -> None:
    """From a machine of one state no chain finds that symbols come twice."""
    rng = np.random.default_rng(5)
    strings = [np.repeat(rng.integers(0, 2, n), 2).tolist() for n in rng.integers(0, 4, 1500)]
    search, machine = StringSearch(HiddenStrings(together(strings), 3), Budget(1e9)), machine_of(1, 1)
    found = list(sampled(search, KeptBack(machine, search.held.string_bits(machine)), 4e8))
    assert len(found) > 1
    assert found[0].machine.n_states == 1
    assert all(one.machine.n_states > 1 for one in found[1:])
    assert found[1].total > found[0].total + 100
