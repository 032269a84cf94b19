"""Hidden states: beliefs against sums over all paths, rates and finite machines against known ones, files, refusals."""

import json
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import decisional as ds
import naive_beliefs as naive

seeds = st.integers(0, 2**32 - 1)


@pytest.mark.small
@settings(deadline=None, max_examples=40)
@given(seed=seeds, codes=st.lists(st.integers(0, 1), min_size=1, max_size=6), n_states=st.integers(1, 3))
def test_beliefs_are_sums_over_all_paths(seed: int, codes: list[int], n_states: int) -> None:
    machine = ds.processes.random_hidden(n_states, 2, rng=seed)
    beliefs, ahead = machine.filter(codes), machine.predict_proba(codes)
    home = np.array(machine.stationary)
    np.testing.assert_allclose(home @ machine.matrix, home, atol=1e-12)
    for t in range(len(codes)):
        np.testing.assert_allclose(beliefs[t], naive.belief(codes[: t + 1], machine.steps, home), atol=1e-12)
        np.testing.assert_allclose(ahead[t], beliefs[t] @ machine.emission, atol=1e-12)
    assert (beliefs >= 0.0).all()
    np.testing.assert_allclose(beliefs.sum(axis=1), 1.0)
    assert machine.log_likelihood(codes) == pytest.approx(naive.log2p([codes], machine.steps, home))


def test_an_epsilon_machine_as_hidden_states_says_the_same() -> None:
    even = ds.processes.even()
    machine, symbols = ds.BeliefMachine.of(even), even.simulate(2_000, rng=1)
    assert machine.is_unifilar
    assert machine.log_likelihood(symbols) == pytest.approx(even.log_likelihood(symbols))
    np.testing.assert_allclose(machine.predict_proba(symbols), even.predict_proba(symbols))
    rate = machine.entropy_rate(100_000)
    assert abs(rate.value - 2 / 3) < 4 * rate.error + 1e-12
    assert machine.epsilon_machine().is_isomorphic(even)
    assert machine.statistical_complexity(n=50_000) == pytest.approx(even.statistical_complexity(), abs=0.01)


def test_simulated_words_have_their_probabilities() -> None:
    machine = ds.processes.mess3()
    symbols = machine.simulate(100_000, rng=2)
    assert np.array_equal(symbols, machine.simulate(100_000, rng=2))
    pairs = np.bincount(3 * symbols[:-1] + symbols[1:], minlength=9) / (symbols.size - 1)
    true = [2.0 ** naive.log2p([[a, b]], machine.steps, machine.stationary) for a in range(3) for b in range(3)]
    np.testing.assert_allclose(pairs, true, atol=0.01)


def test_causal_states_of_a_nonunifilar_source_never_end() -> None:
    machine = ds.processes.simple_nonunifilar()
    assert not machine.is_unifilar
    found = [machine.epsilon_machine(loss) for loss in (1e-2, 1e-4)]
    assert found[0].n_states < found[1].n_states
    rate = machine.entropy_rate(200_000)
    assert abs(found[1].entropy_rate() - rate.value) < 1e-3 + 4 * rate.error
    # Causal states are the numbers of 0 since the last 1, so that finer grids tell more of them apart.
    complexities = [machine.statistical_complexity(grid, n=50_000) for grid in (0.2, 0.02, 0.002)]
    assert complexities == sorted(complexities)
    with pytest.raises(ValueError, match="allow more loss"):
        ds.processes.mess3().epsilon_machine(1e-12)


def test_beliefs_of_mess3_fill_the_triangle_evenly() -> None:
    beliefs = ds.processes.mess3().beliefs(20_000, rng=3)
    np.testing.assert_allclose(beliefs.mean(axis=0), 1 / 3, atol=0.02)


def test_gaps_and_what_cannot_come() -> None:
    machine = ds.BeliefMachine.of(ds.processes.golden_mean())
    beliefs = machine.filter([1, None, None, 0, 7])
    np.testing.assert_allclose(beliefs[1], beliefs[0] @ machine.matrix)
    np.testing.assert_allclose(beliefs[2], beliefs[1] @ machine.matrix)
    # What is not in the alphabet cannot come: nothing is known then.
    np.testing.assert_allclose(beliefs[4], machine.stationary)
    assert machine.log_likelihood([1, 1]) == -np.inf
    assert machine.log_likelihood([None]) == 0.0
    # After a 1 comes a 0, so that the next one is again a 1 half of the time.
    assert machine.log_likelihood([1, None, 1]) == pytest.approx(machine.log_likelihood([1]) - 1.0)
    with pytest.raises(ValueError, match="The symbol 7 at position 1 of 'symbols' is not in the alphabet"):
        machine.log_likelihood([0, 7])


@settings(deadline=None, max_examples=40)
@given(seed=seeds, codes=st.lists(st.integers(0, 1) | st.none(), min_size=1, max_size=6))
def test_gaps_are_sums_over_what_they_may_have_been(seed: int, codes: list[int | None]) -> None:
    machine = ds.processes.random_hidden(3, 2, rng=seed)
    words = list(product(*([code] if code is not None else (0, 1) for code in codes)))
    weights = np.array([2.0 ** naive.log2p([list(word)], machine.steps, machine.stationary) for word in words])
    beliefs = np.array([naive.belief(list(word), machine.steps, machine.stationary) for word in words])
    assert machine.log_likelihood(codes) == pytest.approx(np.log2(weights.sum()), abs=1e-9)
    np.testing.assert_allclose(machine.filter(codes)[-1], weights @ beliefs / weights.sum(), atol=1e-12)


def test_a_sensor_that_misreads() -> None:
    machine = ds.processes.misread(ds.processes.golden_mean(), 0.1)
    assert machine.emission[:, 1] == pytest.approx(0.9 * np.array([0.5, 0.0]) + 0.1 * np.array([0.5, 1.0]))
    again = ds.processes.misread(machine, 0.2)
    np.testing.assert_allclose(again.matrix, machine.matrix)
    with pytest.raises(ValueError, match="at least 2 symbols"):
        ds.processes.misread(ds.BeliefMachine([[[1.0]]]))


def test_saved_machines_are_the_same(tmp_path: Path) -> None:
    machine = ds.BeliefMachine(ds.processes.mess3().steps, ["a", "b", "c"], ["x", "y", "z"])
    machine.save(tmp_path / "machine.json")
    again = ds.BeliefMachine.load(tmp_path / "machine.json")
    assert np.array_equal(again.steps, machine.steps)
    assert (again.alphabet, again.names) == (machine.alphabet, machine.names)
    content = json.loads((tmp_path / "machine.json").read_text())
    content["steps"][0][0][0] = 7.0
    (tmp_path / "machine.json").write_text(json.dumps(content))
    with pytest.raises(ValueError, match="save the machine again"):
        ds.BeliefMachine.load(tmp_path / "machine.json")
    with pytest.raises(TypeError, match="rename it before saving"):
        ds.BeliefMachine([[[1.0]]], [("a", 1)]).save(tmp_path / "other.json")


@pytest.mark.small
@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"steps": [[1.0]]}, "'steps' have shape"),
        ({"steps": [[[0.5]]]}, "sum to 0.5"),
        ({"steps": [[[-0.5]], [[1.5]]]}, "between 0 and 1"),
        ({"steps": [[[1.0]]], "alphabet": "ab"}, "'alphabet' are 2"),
        ({"steps": [[[1.0]]], "names": "ab"}, "'names' are 2"),
        ({"steps": "no"}, "'steps' is 'no'"),
    ],
)
def test_refusals_are_one_sentence(given: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        ds.BeliefMachine(**given)


@pytest.mark.parametrize("arrival", [False, True])
def test_hidden_markov_models_of_hmmlearn_give_the_same_likelihood(arrival: bool) -> None:
    hmm, rng = pytest.importorskip("hmmlearn.hmm"), np.random.default_rng(4)
    moved, shown = rng.dirichlet(np.ones(4), 4), rng.dirichlet(np.ones(3), 4)
    # The symbol is emitted by the state that is left, or by the one that is reached.
    steps = [moved * (column[None] if arrival else column[:, None]) for column in shown.T]
    machine = ds.BeliefMachine(steps)
    other = hmm.CategoricalHMM(4, n_features=3)
    other.startprob_, other.transmat_, other.emissionprob_ = machine.stationary, moved, shown
    symbols = machine.simulate(5_000, rng=1)
    assert machine.log_likelihood(symbols) == pytest.approx(other.score(symbols[:, None]) / np.log(2.0), rel=1e-9)
    # Given all symbols, the last state is what is believed of it: before its symbol was emitted, or after.
    before = machine.filter(symbols)[-2] * shown[:, symbols[-1]]
    believed = machine.filter(symbols)[-1] if arrival else before / before.sum()
    np.testing.assert_allclose(believed, other.predict_proba(symbols[:, None])[-1], rtol=1e-6)


def two_coins() -> ds.BeliefMachine:
    """Strings of heads and tails of a coin that is one of two."""
    steps = np.zeros((3, 2, 2))
    for coin, heads in enumerate((0.9, 0.2)):
        for side, chance in enumerate((heads, 1.0 - heads)):
            steps[side, coin] = 0.8 * chance * np.where(np.arange(2) == coin, 0.9, 0.1)
        steps[2, coin, 0] = 0.2
    return ds.BeliefMachine(steps, ("h", "t", "<end>"), start=[0.3, 0.7])


def test_whole_strings_have_probabilities_that_sum_to_1() -> None:
    machine = two_coins()
    assert repr(machine) == "BeliefMachine(2 hidden states, 3 symbols, whole strings)"
    assert machine.start is not None
    for codes in ([], [0], [1, 0, 0]):
        string = ["ht"[code] for code in codes]
        exact = naive.log2p([[*codes, 2]], machine.steps, machine.start)
        assert machine.log_likelihood(string) == pytest.approx(exact)
    total = sum(2.0 ** machine.log_likelihood(list(one)) for n in range(8) for one in product("ht", repeat=n))
    assert total == pytest.approx(1.0 - 0.8**8)
    # An end leads to where strings begin.
    np.testing.assert_allclose(machine.filter(["h", "<end>"])[-1], machine.start)


def test_a_gap_in_a_string_may_have_been_any_symbol() -> None:
    machine = two_coins()
    both = [machine.filter(["h", one, "t"])[-1] for one in "ht"]
    weights = 2.0 ** np.array([machine.log_likelihood(["h", one, "t"]) for one in "ht"])
    expected = weights @ both / weights.sum()
    np.testing.assert_allclose(machine.filter(["h", None, "t"])[-1], expected)


def test_simulated_strings_have_their_probabilities(tmp_path: Path) -> None:
    machine = two_coins()
    strings = ["".join(string) for string in machine.simulate(20_000, rng=1)]
    assert len(strings) == 20_000
    for string in ("", "h", "tt"):
        assert strings.count(string) / 20_000 == pytest.approx(2.0 ** machine.log_likelihood(list(string)), abs=0.01)
    machine.save(tmp_path / "coins.json")
    again = ds.BeliefMachine.load(tmp_path / "coins.json")
    assert again.log_likelihood("ht") == machine.log_likelihood("ht")
    assert machine.entropy_rate(20_000).value > 0.0
    assert machine.simulate(0) == []


def test_starts_that_are_refused() -> None:
    for start in ([0.5, 0.6], [1.0], [-0.5, 1.5]):
        with pytest.raises(ValueError, match="The 'start' is"):
            ds.BeliefMachine(two_coins().steps, start=start)
    steps = two_coins().steps.copy()
    steps[:2] /= 0.8
    steps[2] = 0.0
    with pytest.raises(ValueError, match="never end"):
        ds.BeliefMachine(steps, start=[0.5, 0.5]).simulate(1)
