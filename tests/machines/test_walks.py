"""Simulating and filtering: reproducible, as the naive twin, for symbols of all kinds."""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import naive
from decisional import processes
from decisional.machines import EpsilonMachine, walks
from strategies import machines_and_symbols

EVEN = [("A", "0", "A", 0.5), ("A", "1", "B", 0.5), ("B", "1", "A", 1.0)]
QUICK = settings(max_examples=60, deadline=None)


def home_of(machine):
    return dict(enumerate(machine.stationary.tolist()))


@pytest.mark.small
def test_simulate_is_reproducible_and_chunks_do_not_matter(monkeypatch):
    machine = processes.rip()
    symbols = machine.simulate(500, rng=7)
    np.testing.assert_array_equal(symbols, machine.simulate(500, rng=np.random.default_rng(7)))
    np.testing.assert_array_equal(symbols[:300], machine.simulate(300, rng=7))
    states = machine.filter(symbols)
    score = machine.log_likelihood(symbols)
    proba = machine.predict_proba(symbols)
    monkeypatch.setattr(walks, "_CHUNK", 7)
    np.testing.assert_array_equal(symbols, machine.simulate(500, rng=7))
    np.testing.assert_array_equal(states, machine.filter(symbols))
    np.testing.assert_array_equal(proba, machine.predict_proba(symbols))
    assert machine.log_likelihood(symbols) == pytest.approx(score, abs=1e-9)
    with pytest.raises(ValueError, match="9 at position 40 of"):
        machine.filter(iter([*symbols[:40].tolist(), 9]), impossible="raise")


def test_simulate_has_the_right_frequencies():
    machine = processes.butterfly(0.3)
    symbols = machine.simulate(400_000, rng=0)
    expected = machine.stationary @ machine.emission
    np.testing.assert_allclose(np.bincount(symbols, minlength=8) / symbols.size, expected, atol=5e-3)
    assert -machine.log_likelihood(symbols) / symbols.size == pytest.approx(machine.entropy_rate(), abs=5e-3)
    first = [int(machine.simulate(1, rng=seed)[0]) for seed in range(2000)]
    np.testing.assert_allclose(np.bincount(first, minlength=8) / 2000, expected, atol=0.05)


@pytest.mark.small
def test_simulate_types_and_refusals():
    def sample(*symbols):
        return EpsilonMachine([("A", s, "A", 1 / len(symbols)) for s in symbols]).simulate(9, rng=1)

    assert sample(0, 1).dtype == np.uint8
    assert sample(-1, 1).dtype == np.int64
    assert sample("a", "bc").dtype.kind == "U"
    assert sample(0.5, 1.5).dtype == np.float64
    assert sample("a", 1).dtype == object
    assert set(sample((0, 1), (1, 0))) <= {(0, 1), (1, 0)}
    assert set(sample(*range(300))) <= set(range(300))
    machine = EpsilonMachine(EVEN)
    assert machine.simulate(0).shape == (0,)
    assert machine.simulate(3, start="B")[0] == "1"
    for wrong in (-1, 2.5, "x"):
        with pytest.raises(ValueError, match="'n' is"):
            machine.simulate(wrong)
    for wrong in (2, -1, "C"):
        with pytest.raises(ValueError, match="'start' is"):
            machine.simulate(3, start=wrong)


@settings(max_examples=100, deadline=None)
@given(
    machines_and_symbols(dead_ends=True),
    st.sampled_from(["reset", "stay", "raise"]),
    st.sampled_from(["unknown", "likely"]),
    st.booleans(),
)
def test_filter_agrees_with_naive(case, impossible, unsynchronised, started):
    machine, symbols = case
    assume(machine.recurrent.any())
    twin, home = naive.as_dict(machine), home_of(machine)
    start = machine.n_states - 1 if started else None
    try:
        states, beliefs = naive.filter(twin, home, symbols, start, impossible, unsynchronised)
    except ValueError:
        with pytest.raises(ValueError, match="impossible there"):
            machine.filter(symbols, start, impossible, unsynchronised)
        return
    assert machine.filter(symbols, start, impossible, unsynchronised).tolist() == states
    found = machine.predict_proba(symbols, start, impossible)
    expected = naive.predict_proba(twin, beliefs, machine.alphabet)
    np.testing.assert_allclose(found, np.reshape(expected, found.shape), atol=1e-12)


@QUICK
@given(machines_and_symbols(), st.booleans())
def test_log_likelihood_agrees_with_naive(case, started):
    machine, symbols = case
    start = 0 if started else None
    expected = naive.log_likelihood(naive.as_dict(machine), home_of(machine), symbols, start)
    assert machine.log_likelihood(symbols, start) == pytest.approx(expected, abs=1e-9)


@QUICK
@given(
    machines_and_symbols(max_length=5, dead_ends=True, max_states=4),
    st.lists(st.integers(0, 5), max_size=3),
    st.booleans(),
)
def test_missing_symbols_may_have_been_any(case, gaps, started):
    machine, symbols = case
    assume(machine.recurrent.any())
    symbols = [None if t in gaps else symbol for t, symbol in enumerate(symbols[:6])]
    start = machine.n_states - 1 if started else None
    bits, belief = naive.filled(naive.as_dict(machine), home_of(machine), symbols, machine.alphabet, start)
    assert machine.log_likelihood(symbols, start) == pytest.approx(bits, abs=1e-9)
    if symbols and bits > -math.inf:
        expected = np.zeros(machine.n_states)
        expected[list(belief)] = list(belief.values())
        np.testing.assert_allclose(
            machine.predict_proba(symbols, start)[-1], expected @ machine.emission, rtol=1e-9, atol=1e-12
        )
        known = int(expected.argmax()) if np.count_nonzero(expected) == 1 else -1
        assert machine.filter(symbols, start)[-1] == known


@pytest.mark.small
def test_a_gap_costs_nothing_and_keeps_the_phase():
    machine = EpsilonMachine([("A", 0, "B", 1), ("B", 1, "A", 1)])
    forms = ([0, None, 0, None, None, 1], [0, math.nan, 0, math.nan, math.nan, 1])
    forms += (np.array(forms[1]), np.ma.masked_equal([0, 9, 0, 9, 9, 1], 9), [0, np.ma.masked, 0, None, None, 1])
    for form in forms:
        assert machine.filter(form).tolist() == [1, 0, 1, 0, 1, 0]
        assert machine.filter(form, impossible="raise").tolist() == [1, 0, 1, 0, 1, 0]
        assert machine.log_likelihood(form) == -1.0
        assert machine.predict_proba(form)[:, 0].tolist() == [0, 1, 0, 1, 0, 1]
    assert machine.log_likelihood([0, None, 1]) == -math.inf
    # Where None is a symbol it is not missing.
    spoken = EpsilonMachine([("A", 0, "A", 0.5), ("A", None, "A", 0.5)])
    assert spoken.log_likelihood([None, None]) == -2.0
    wide = EpsilonMachine([(k, k, (k + 1) % 255, 1) for k in range(255)])
    assert wide.filter([250, None, None, None, None, None, 1]).tolist() == [251, 252, 253, 254, 0, 1, 2]


@pytest.mark.small
def test_filter_by_hand():
    even = EpsilonMachine(EVEN)
    assert even.filter("11011").tolist() == [-1, -1, 0, 1, 0]
    assert even.filter("11011", unsynchronised="likely").tolist() == [0, 0, 0, 1, 0]
    assert even.filter("11", start="B").tolist() == [0, 1]
    # A single 1 between 0 is impossible.
    assert even.filter("0101").tolist() == [0, 1, 0, 1]
    assert even.filter("0101", impossible="stay").tolist() == [0, 1, 1, 0]
    assert even.filter("01x1").tolist() == [0, 1, -1, -1]
    assert even.filter("01x1", impossible="stay").tolist() == [0, 1, 1, 0]
    with pytest.raises(ValueError, match="symbol '0' at position 2 of 'symbols' is impossible"):
        even.filter("010", impossible="raise")
    np.testing.assert_allclose(even.predict_proba("1"), [[0.25, 0.75]])
    np.testing.assert_allclose(even.predict_proba("0x"), [[0.5, 0.5], [1 / 3, 2 / 3]])
    assert even.log_likelihood("010") == -math.inf
    assert even.log_likelihood("") == 0.0
    for name in ("impossible", "unsynchronised"):
        with pytest.raises(ValueError, match=f"The '{name}' is 'other'; it must be one of"):
            even.filter("0", **{name: "other"})


@pytest.mark.small
def test_symbols_of_all_kinds():
    word = "0110111100"
    expected = EpsilonMachine(EVEN).filter(word).tolist()
    numbers = [int(letter) for letter in word]
    forms = [word, word.encode(), list(word), tuple(numbers), np.array(list(word)), np.array(numbers)]
    forms.insert(0, np.array([letter.encode() for letter in word]))
    forms += [np.array(numbers, dtype=t) for t in (np.uint8, np.int8, np.int16, float, bool, object)]
    forms += [bytes(numbers), bytearray(numbers), iter(numbers)]
    assert processes.even().filter(iter(numbers)).tolist() == expected
    for form in forms[:-1]:
        assert processes.even().filter(form).tolist() == expected
    for form in forms[:7]:
        assert EpsilonMachine(EVEN).filter(form).tolist() == expected
    greek = EpsilonMachine([("A", "α", "A", 0.5), ("A", "β", "B", 0.5), ("B", "β", "A", 1)])
    assert greek.filter(word.replace("0", "α").replace("1", "β")).tolist() == expected
    wide = EpsilonMachine([("A", -5, "A", 0.5), ("A", 10**6, "B", 0.5), ("B", 10**6, "A", 1)])
    assert wide.filter(np.where(np.array(numbers) == 0, -5, 10**6)).tolist() == expected
    many = EpsilonMachine([(0, a, 0, 1 / 300) for a in range(300)])
    assert many.log_likelihood(np.arange(300)) == pytest.approx(-300 * math.log2(300))
    assert many.log_likelihood([300]) == -math.inf
    with pytest.raises(ValueError, match="'symbols' have 2 dimensions"):
        processes.even().filter(np.zeros((2, 2), dtype=int))
    for wrong in (5, [[0], [1]]):
        with pytest.raises(TypeError, match="sequence of hashable values"):
            processes.even().filter(wrong)
