"""Hidden machines of whole strings."""

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import decisional as ds
import naive_beliefs as naive
from decisional.states import hidden_search, hidden_strings
from decisional.states.hidden_series import Hidden
from decisional.states.hidden_strings import HiddenStrings, StringSearch, alike, closed, joined, likeliest_shares
from decisional.states.search import Budget

STRINGS = st.lists(st.lists(st.integers(0, 1), max_size=4), min_size=1, max_size=8)


def together(strings: list[list[int]], end: int) -> Any:
    """Strings one after the other, each with its end."""
    return np.array([code for string in strings for code in [*string, end]])


def machine_of(seed: int, n_symbols: int, n_states: int) -> Hidden:
    return hidden_search.drawn(n_symbols, n_states, np.random.default_rng(seed))


@pytest.mark.small
@settings(max_examples=30, deadline=None)
@given(STRINGS)
def test_prefixes_are_those_of_the_strings(strings: list[list[int]]) -> None:
    (tree,) = HiddenStrings(together(strings, 2), 3).trees
    known: dict[int, tuple[int, ...]] = {0: ()}
    for v in range(1, tree.size):
        known[v] = (*known[int(tree.parent[v])], int(tree.symbol[v]))
    assert [known[leaf] for leaf in tree.leaf.tolist()] == [tuple(string) for string in strings]
    assert len(set(known.values())) == tree.size
    assert tree.through.tolist() == [
        sum(tuple(string[: len(prefix)]) == prefix for string in strings) for prefix in known.values()
    ]
    keys = [(len(prefix), *prefix[-1:]) for prefix in known.values()]
    assert keys == sorted(keys)


@pytest.mark.small
@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), STRINGS, st.integers(1, 5), st.sampled_from([3, 1 << 17]))
def test_expected_uses_are_sums_over_all_paths(seed: int, strings: Any, n_states: int, nodes: int) -> None:
    machine = machine_of(seed, 3, n_states)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hidden_strings, "NODES", nodes)
        series = HiddenStrings(together(strings, 2), 3)
        seen = series.expected(machine)
    sequences = [[*string, 2] for string in strings]
    uses, starts = naive.expected(sequences, machine.steps, machine.home)
    np.testing.assert_allclose(seen.uses, uses, atol=1e-9)
    np.testing.assert_allclose(seen.starts, starts, atol=1e-9)
    each = [naive.log2p([codes], machine.steps, machine.home) for codes in sequences]
    np.testing.assert_allclose(series.string_bits(machine), each)
    assert seen.log2p == pytest.approx(sum(each))
    assert series.log2p(machine) == pytest.approx((sum(each), 0))


@pytest.mark.small
@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.lists(st.lists(st.integers(-1, 1), max_size=3), min_size=1, max_size=5))
def test_missing_symbols_may_have_been_any(seed: int, strings: Any) -> None:
    machine = machine_of(seed, 3, 2)
    seen = HiddenStrings(together(strings, 2), 3).expected(machine)
    uses, total = np.zeros(machine.steps.shape), 0.0
    for string in strings:
        full = [[*one, 2] for one in product(*([0, 1] if code < 0 else [code] for code in string))]
        chances = [2.0 ** naive.log2p([one], machine.steps, machine.home) for one in full]
        total += np.log2(sum(chances))
        for one, chance in zip(full, chances, strict=True):
            uses += chance / sum(chances) * naive.expected([one], machine.steps, machine.home)[0]
    np.testing.assert_allclose(seen.uses, uses, atol=1e-9)
    assert seen.log2p == pytest.approx(total)


def test_impossible_strings() -> None:
    steps = np.zeros((3, 2, 2))
    steps[0, 0, 1] = steps[2, 1, 0] = 1.0
    series = HiddenStrings(together([[0], [1], [0, 0]], 2), 3)
    machine = Hidden(steps, np.array([1.0, 0.0]))
    assert series.string_bits(machine).tolist() == [0.0, -np.inf, -np.inf]
    # The other symbol, and the end after it; the second 0, and its end.
    assert series.log2p(machine) == (0.0, 4)
    seen = series.expected(machine)
    assert seen.misses == 4
    assert np.isfinite(seen.uses).all()


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 1000), st.integers(1, 4))
def test_the_likelihood_never_falls(seed: int, n_states: int) -> None:
    strings = [np.random.default_rng([seed, k]).integers(0, 2, k % 7).tolist() for k in range(60)]
    series = HiddenStrings(together(strings, 2), 3)
    machine = machine_of(seed, 3, n_states)
    bits = [series.log2p(machine)[0]]
    for _ in range(4):
        machine = series.improve(machine, 5)
        bits.append(series.log2p(machine)[0])
    assert np.all(np.diff(bits) >= -1e-9)
    again = closed(machine)
    np.testing.assert_allclose(again.steps.sum(axis=(0, 2)), 1.0)
    np.testing.assert_allclose(series.string_bits(again), series.string_bits(machine))


def test_some_of_the_strings() -> None:
    strings = [[k % 2] * (k % 5) for k in range(40)]
    series = HiddenStrings(together(strings, 2), 3)
    assert series.chosen(np.array([1, 4])).codes.tolist() == together([strings[1], strings[4]], 2).tolist()
    half = series.beginning(series.size // 2)
    assert half.n_strings == 20
    assert half.codes.tolist() == together(strings[::2], 2).tolist()
    assert series.beginning(series.size) is series
    search = StringSearch(series, Budget())
    assert search.held.codes.tolist() == together(strings[::10], 2).tolist()
    assert search.learnt.n_strings == 36


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 1000), st.integers(2, 5))
def test_copies_of_a_state_are_joined_without_loss(seed: int, n_states: int) -> None:
    known = machine_of(seed, 3, n_states)
    strings = [np.random.default_rng([seed, k]).integers(0, 2, k % 6).tolist() for k in range(40)]
    series = HiddenStrings(together(strings, 2), 3)
    # The first state comes twice.
    index = np.append(np.arange(n_states), 0)
    steps, home = known.steps[:, index][:, :, index], known.home[index]
    steps[:, :, [0, n_states]] *= 0.5
    home[[0, n_states]] *= 0.5
    seen = series.expected(Hidden(steps, home))
    assert alike(seen.uses, 1) == [(0, n_states)]
    once, twice = joined(seen, [(0, n_states)]), series.expected(known)
    assert once.n_states == n_states
    expected = twice.uses + hidden_strings.IMAGINED
    np.testing.assert_allclose(once.steps, expected / expected.sum(axis=(0, 2), keepdims=True), atol=1e-9)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 1000))
def test_shares_are_the_likeliest(seed: int) -> None:
    bits = np.log2(np.random.default_rng(seed).uniform(0.01, 1.0, (2, 50)))
    shares = likeliest_shares(bits)
    assert shares.sum() == pytest.approx(1.0)

    def likelihood(first: float) -> float:
        average = first * 2.0 ** bits[0] + (1.0 - first) * 2.0 ** bits[1]
        return float(np.log(average).sum() + hidden_strings.FIRST * np.log(first))

    assert likelihood(shares[0]) >= max(map(likelihood, np.linspace(0.01, 1.0, 100))) - 1e-3


def hidden_process() -> tuple[Any, Any]:
    """Two coins that are thrown until they are lost; which of them it is, is not seen."""
    steps = np.zeros((3, 2, 2))
    for coin, heads in enumerate((0.75, 0.25)):
        for side, chance in enumerate((heads, 1.0 - heads)):
            steps[side, coin] = 0.96 * chance * np.where(np.arange(2) == coin, 0.97, 0.03)
        steps[2, coin] = 0.04 * np.array([0.5, 0.5])
    machine = ds.BeliefMachine(steps, ("h", "t", "<end>"))
    return machine, np.array([0.5, 0.5])


@pytest.fixture(scope="module")
def coins() -> Any:
    machine, _ = hidden_process()
    text = "".join(" " if symbol == "<end>" else symbol for symbol in machine.simulate(100_000, rng=1))
    return text.split(" ")[1:-1]


@pytest.fixture(scope="module")
def forecast(coins: Any) -> ds.Mixture:
    return ds.selection.select(coins[:3000], whole=True).predictor(seconds=8)


def test_hidden_states_of_strings_foretell_better(coins: Any, forecast: ds.Mixture) -> None:
    machine, home = hidden_process()
    new = coins[3000:]
    series = HiddenStrings(together([["ht".index(s) for s in string] for string in new], 2), 3)
    truth = series.string_bits(Hidden(machine.steps, home)).mean()
    assert forecast.shares[1:].sum() > 0.5
    assert forecast.shares.sum() == pytest.approx(1.0)
    found = np.mean([forecast.log_likelihood(string) for string in new])
    assert found > truth - 0.02
    assert [one.alphabet for one in forecast.belief_machines] == [("h", "t", "<end>")] * (forecast.shares.size - 1)


def test_probabilities_of_what_comes_next_are_those_of_strings(forecast: ds.Mixture) -> None:
    table = forecast.predict_proba("htt")
    known = forecast.log_likelihood("htt") - np.log2(table[-1, 2])
    assert forecast.log_likelihood("htth") - np.log2(forecast.predict_proba("htth")[-1, 2]) == pytest.approx(
        known + np.log2(table[-1, 0])
    )
    assert np.all(table > 0.0)
    assert np.all(table.sum(axis=1) < 1.0)
    assert np.isfinite(forecast.log_likelihood("hxt"))


def test_names_of_symbols_change_nothing(coins: Any) -> None:
    some = coins[:600]
    one = ds.selection.select(some, whole=True).predictor(seconds=10)
    other = ds.selection.select([string.replace("h", "z").replace("t", "a") for string in some], whole=True).predictor(
        seconds=10
    )
    assert one.log_likelihood("hhth") == pytest.approx(other.log_likelihood("zzaz"), abs=1e-9)
    np.testing.assert_allclose(one.shares, other.shares, atol=1e-9)


def test_shares_follow_success(coins: Any) -> None:
    forecast = ds.selection.select(coins[:600], whole=True).predictor(seconds=10)
    before = forecast.shares.copy()
    frozen = [forecast.log_likelihood(string) for string in coins[600:610]]
    assert np.array_equal(forecast.shares, before)
    assert forecast.update(coins[600:610]) == pytest.approx(sum(frozen), abs=1.0)
    assert forecast.shares.sum() == pytest.approx(1.0)
    assert forecast.shares.size == 1 or not np.array_equal(forecast.shares, before)


def test_the_belief_machine_of_whole_strings(coins: Any) -> None:
    found = ds.selection.select_beliefs(coins[:3000], whole=True)
    assert found.machine.n_states == 2
    assert not found.is_finite
    machine, home = hidden_process()
    known = ds.BeliefMachine(machine.steps, machine.alphabet, start=home)
    for string in ("", "hh", "hhhhtttt"):
        assert found.machine.log_likelihood(string) == pytest.approx(known.log_likelihood(string), abs=0.3)
    assert found.machine.alphabet == known.alphabet
    assert ds.belief_machine(coins[:300], whole=True).start is not None
