"""Measures of machines: known values, brute force, and identities that hold for every process."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import naive
import naive_measures
from decisional import EpsilonMachine, processes
from strategies import machines

MANY = settings(max_examples=60, deadline=None)
SMALL = {"max_states": 3, "max_symbols": 2}


def literal(machine):
    """The causal states of a machine as a dict, their stationary probabilities, and the alphabet."""
    minimal, mass = machine._process()
    return naive.as_dict(minimal), dict(enumerate(mass.tolist())), minimal.alphabet


def words(alphabet, longest):
    return [word for length in range(longest + 1) for word in product(alphabet, repeat=length)]


# Markov order, cryptic order, C⁻, kept from our own answers: sofic gives the same R and C⁻ (benchmarks/measures.md),
# the enumerations below check the rule of both orders.
KNOWN = {
    "coin": (0, 0, 0.0),
    "golden_mean": (1, 1, 0.918295834054),
    "even": (math.inf, 0, 0.918295834054),
    "odd": (math.inf, 1, 1.521928094887),
    "noisy_period_2": (math.inf, 0, 1.0),
    "periodic": (2, 0, 2.0),
    "z1r": (3, 0, 1.584962500721),
    "nemo": (math.inf, math.inf, 1.5),
    "nrps": (5, 3, 2.657268229617),
    "irreversible": (1, 1, 1.5),
    "rk_golden_mean": (3, 2, 2.251629167388),
    "alternating_biased_coins": (math.inf, 0, 1.0),
    "restricted_golden_mean": (2, 2, 1.5),
}


@pytest.mark.parametrize("name", KNOWN)
def test_known_values(name):
    machine = processes.catalogue[name]()
    order, cryptic, reverse = KNOWN[name]
    assert (machine.markov_order(), machine.cryptic_order()) == (order, cryptic)
    assert machine.reverse().statistical_complexity() == pytest.approx(reverse, abs=1e-9)


@pytest.mark.parametrize(("order", "cryptic"), [(1, 1), (4, 1), (4, 3), (6, 6)])
def test_orders_can_be_chosen(order, cryptic):
    machine = processes.rk_golden_mean(order, cryptic)
    assert (machine.markov_order(), machine.cryptic_order()) == (order, cryptic)


def test_entropy_rates_of_the_new_processes():
    assert processes.tent_map().entropy_rate() == pytest.approx(math.log2(1.7692923542386314), abs=1e-12)
    assert processes.multiples(2).is_isomorphic(processes.even(), atol=0.0)
    assert processes.multiples(1).is_isomorphic(processes.coin(), atol=0.0)
    # The free energy of a chain of spins gives its entropy: h = d(T log λ)/dT.
    step = 1e-4

    def free(t):
        root = math.sqrt(math.sinh(0.3 / t) ** 2 + math.exp(-4.0 / t))
        return t * math.log(math.exp(1.0 / t) * (math.cosh(0.3 / t) + root))

    slope = (free(1.3 + step) - free(1.3 - step)) / (2 * step)
    assert processes.ising(1.0, 0.3, 1.3).entropy_rate() == pytest.approx(slope / math.log(2.0), abs=1e-7)
    urns = processes.ehrenfest(4)
    np.testing.assert_allclose(urns.stationary, np.array([1, 4, 6, 4, 1]) / 16, atol=1e-12)


@pytest.mark.parametrize("name", processes.catalogue)
def test_two_formulas_for_excess_entropy(name):
    machine = processes.catalogue[name]()
    both = machine.bidirectional()
    assert both.excess_entropy == pytest.approx(machine.excess_entropy(), abs=1e-9)
    assert both.forward_crypticity == pytest.approx(machine.crypticity(), abs=1e-9)
    assert both.reverse_crypticity == pytest.approx(machine.reverse().crypticity(), abs=1e-9)
    assert machine.reverse().reverse().is_isomorphic(machine, atol=1e-9)


@MANY
@given(machines(**SMALL))
def test_orders_by_enumeration(machine):
    assume(machine.recurrent.any())
    states, _, alphabet = literal(machine)
    assert machine.markov_order() == naive_measures.markov_order(states, alphabet)
    assert machine.cryptic_order() == naive_measures.cryptic_order(states, alphabet)


@MANY
@given(machines(**SMALL))
def test_orders_are_where_entropies_meet_their_line(machine):
    """H(L) meets E + h L at the Markov order, H(L, S_L) at the cryptic order, and not before."""
    assume(machine.recurrent.any())
    curves, rate = machine.block_entropies(12), machine.entropy_rate()
    line = machine.excess_entropy() + rate * curves.length
    for curve, order in ((curves.entropy, machine.markov_order()), (curves.with_state, machine.cryptic_order())):
        # One curve comes from below, the other from above.
        gap = np.abs(line - curve)
        assert ((line >= curve - 1e-9) if curve is curves.entropy else (line <= curve + 1e-9)).all()
        if order <= 12:
            assert gap[int(order) :].max() < 1e-8
        # Probabilities are multiples of 1/24 or more: what is left at short lengths is no rounding.
        assert gap[: int(min(order, 3))].min(initial=1.0) > 1e-9


@MANY
@given(machines(max_states=4, max_symbols=3), st.integers(0, 4))
def test_block_entropies_by_enumeration(machine, n):
    assume(machine.recurrent.any())
    states, home, alphabet = literal(machine)
    found = machine.block_entropies(n)
    expected = naive.block_entropies(states, home, alphabet, n)
    np.testing.assert_allclose(found.entropy, expected, atol=1e-9)
    lengths = range(n + 1)
    with_state = [naive_measures.with_state(states, home, alphabet, length) for length in lengths]
    np.testing.assert_allclose(found.with_state, with_state, atol=1e-9)
    np.testing.assert_allclose(found.rate[1:], np.diff(expected), atol=1e-9)
    np.testing.assert_allclose(found.excess, found.entropy - found.length * found.rate, atol=1e-12)


def test_too_many_words_are_refused(monkeypatch):
    monkeypatch.setattr("decisional.machines.measures.BELIEFS", 100)
    machine = EpsilonMachine.from_arrays([[0, 1], [2, 0], [1, 1]], [[0.5, 0.5], [0.3, 0.7], [0.6, 0.4]], [0, 1])
    assert machine.block_entropies(5).entropy.shape == (6,)
    with pytest.raises(ValueError, match=r"'n' is 30; it must be at most \d+ for this machine"):
        machine.block_entropies(30)
    with pytest.raises(ValueError, match="'n'"):
        machine.block_entropies(-1)


@MANY
@given(machines(**SMALL))
def test_reversed_words(machine):
    """The reverse machine emits each word as often as the machine emits it backwards."""
    assume(machine.recurrent.any())
    try:
        reverse = machine.reverse(most=300)
    except ValueError:
        # Infinitely many reverse states.
        assume(False)
    for word in words(machine.alphabet, 5):
        ours, theirs = machine.log_likelihood(word[::-1]), reverse.log_likelihood(word)
        assert 2.0**ours == pytest.approx(2.0**theirs, abs=1e-9)
    assert reverse.minimise().n_states == reverse.n_states
    assert reverse.recurrent.all()
    assert (np.diff(reverse.stationary) <= 1e-9).all()


@MANY
@given(machines(**SMALL))
def test_finitely_many_reverse_states_or_not(machine):
    """Where they are infinitely many, ever finer beliefs make ever more of them."""
    assume(machine.recurrent.any())
    try:
        n = machine.reverse().n_states
    except ValueError:
        n = math.inf
    try:
        counts = [machine.reverse(atol=10.0**-digits, most=2_000).n_states for digits in (3, 7, 11)]
    except ValueError:
        counts = [0, 1, 2]
    assert counts[-1] == n if math.isfinite(n) else counts[0] < counts[1] < counts[2]


@MANY
@given(machines(**SMALL))
def test_bidirectional_identities(machine):
    assume(machine.recurrent.any())
    try:
        both = machine.bidirectional(most=300)
    except ValueError:
        assume(False)
    E, rate = machine.excess_entropy(), machine.entropy_rate()
    assert both.joint.sum() == pytest.approx(1.0, abs=1e-9)
    np.testing.assert_allclose(both.joint.sum(axis=0), both.reverse.stationary, atol=1e-9)
    assert both.excess_entropy == pytest.approx(E, abs=1e-8)
    assert both.bound_information + both.ephemeral_information == pytest.approx(rate, abs=1e-9)
    assert both.bound_information + both.enigmatic_information + both.elusive_information == pytest.approx(E, abs=1e-8)
    assert both.crypticity == pytest.approx(both.forward_crypticity + both.oracular_information, abs=1e-9)
    assert both.irreversibility == pytest.approx(both.forward_crypticity - both.reverse_crypticity, abs=1e-9)
    leaving = {}
    for source, _, target, p in both.transitions():
        assert p > 0.0
        assert {source, target} <= set(both.states)
        leaving[source] = leaving.get(source, 0.0) + p
    assert sorted(leaving) == sorted(both.states)
    assert all(total == pytest.approx(1.0, abs=1e-9) for total in leaving.values())


@pytest.mark.parametrize("name", ["golden_mean", "perturbed_coin", "ising", "irreversible", "restricted_golden_mean"])
def test_parts_of_a_symbol_by_words(name):
    """A process of Markov order R is one of order R backwards: R symbols on each side are all that matters."""
    machine = processes.catalogue[name]()
    states, home, alphabet = literal(machine)
    r = int(machine.markov_order())
    chance = {word: naive_measures.word_probability(states, home, word) for word in product(alphabet, repeat=2 * r + 1)}

    def entropy(places):
        total = {}
        for word, p in chance.items():
            key = tuple(word[i] for i in places)
            total[key] = total.get(key, 0.0) + p
        return naive_measures.entropy(total.values())

    past, now, future = list(range(r)), [r], list(range(r + 1, 2 * r + 1))
    both = machine.bidirectional()
    unseen = entropy(past + now + future) - entropy(past + future)
    assert both.ephemeral_information == pytest.approx(unseen, abs=1e-9)
    assert both.predicted_information == pytest.approx(entropy(now) + entropy(past) - entropy(past + now), abs=1e-9)
    elusive = entropy(past + now) + entropy(now + future) - entropy(now) - entropy(past + now + future)
    assert both.elusive_information == pytest.approx(elusive, abs=1e-9)


def test_infinitely_many_reverse_states_are_refused():
    # Both states merge on 2, and repeat 0 with different probabilities before that.
    machine = EpsilonMachine(
        [("A", 0, "A", 0.5), ("A", 1, "B", 0.25), ("A", 2, "A", 0.25), ("B", 0, "B", 0.25), ("B", 2, "A", 0.75)]
    )
    with pytest.raises(ValueError, match="'atol' is None; it must be a number, as the reversed process has infinitely"):
        machine.reverse()
    with pytest.raises(ValueError, match="'most' is 10; it must be enough for all states of the reversed process"):
        machine.reverse(atol=1e-9, most=10)
    with pytest.raises(ValueError, match="'most'"):
        machine.bidirectional(most=0)
    with pytest.raises(ValueError, match="'atol'"):
        machine.bidirectional(atol=0.0)
    near, rough = machine.bidirectional(atol=1e-9), machine.bidirectional(atol=1e-4)
    assert near.excess_entropy == pytest.approx(machine.excess_entropy(), abs=1e-6)
    assert near.reverse.n_states > rough.reverse.n_states


@MANY
@given(machines(max_states=3, max_symbols=2))
def test_mixed_states_by_enumeration(machine):
    assume(machine.recurrent.any())
    try:
        mixed = machine.mixed_states(most=40)
    except ValueError:
        assume(False)
    states, home, alphabet = literal(machine)
    expected = naive_measures.beliefs(states, home, alphabet, 200)
    assert {tuple(np.round(row, 9) + 0.0) for row in mixed.beliefs} == expected
    for word in words(machine.alphabet, 5):
        ours, theirs = machine.log_likelihood(word), mixed.machine.log_likelihood(word, start=0)
        assert 2.0**ours == pytest.approx(2.0**theirs, abs=1e-9)
    assert mixed.causal.n_states == mixed.beliefs.shape[1]


def test_infinitely_many_mixed_states():
    machine = processes.alternating_biased_coins()
    with pytest.raises(ValueError, match="'most' is 20; it must be enough for all beliefs"):
        machine.mixed_states(most=20)
    coarse = machine.mixed_states(atol=1e-3)
    assert coarse.machine.entropy_rate() == pytest.approx(machine.entropy_rate(), abs=1e-2)
    assert coarse.machine.n_states < 100
    with pytest.raises(ValueError, match="'atol'"):
        machine.mixed_states(atol=0.0)


@MANY
@given(machines(max_states=4, max_symbols=2))
def test_synchronisation_by_enumeration(machine):
    assume(machine.recurrent.any())
    states, home, alphabet = literal(machine)
    found = machine.synchronisation()
    word, time, left = naive_measures.synchronisation(states, home, alphabet)
    assert found.word == word
    assert found.length == (math.inf if word is None else len(word))
    # Chains that take very long have not shown their time after so many rounds.
    assume(left[-1] < 1e-12 or left[-1] > 0.1)
    if left[-1] < 1e-12:
        assert found.time == pytest.approx(time, rel=1e-9)
        long = max((k for k, p in enumerate(left) if p > 1e-200), default=0)
        slope = (left[long] / left[long // 2]) ** (1.0 / max(long - long // 2, 1)) if long > 100 else 0.0
        assert found.rate == pytest.approx(slope, abs=0.02) if long > 100 else found.rate < 0.4
    elif word is None:
        assert (found.time, found.rate) == (math.inf, 1.0)


def test_too_many_sets_are_refused(monkeypatch):
    monkeypatch.setattr("decisional.machines.synchronisation.MOST", 5)
    with pytest.raises(ValueError, match="more than 5 sets"):
        processes.rrxor().synchronisation()


@MANY
@given(machines(**SMALL), machines(**SMALL))
def test_when_relative_entropy_is_infinite(machine, other):
    assume(machine.recurrent.any() and other.recurrent.any())
    rate = machine.relative_entropy_rate(other)
    fails = naive_measures.can_fail(literal(machine)[0], literal(other)[0], machine.alphabet)
    assert math.isinf(rate) == fails
    assert rate >= 0.0
    assert machine.relative_entropy_rate(machine) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("seed", range(8))
def test_relative_entropy_of_long_series(seed):
    machine = processes.random_machine(3, 2, rng=seed)
    edges = np.random.default_rng(seed).dirichlet([4.0, 4.0], size=4)
    other = EpsilonMachine.from_arrays([[0, 1], [2, 3], [0, 2], [3, 0]], edges, [0, 1])
    symbols = machine.simulate(200_000, rng=seed)
    estimate = (machine.log_likelihood(symbols) - other.log_likelihood(symbols)) / symbols.size
    assert machine.relative_entropy_rate(other) == pytest.approx(estimate, abs=0.02)


@pytest.mark.small
def test_relative_entropy_of_known_processes():
    coin, golden = processes.coin(), processes.golden_mean()
    biased = processes.coin(0.7)
    kl = 0.5 * math.log2(0.5 / 0.3) + 0.5 * math.log2(0.5 / 0.7)
    assert coin.relative_entropy_rate(biased) == pytest.approx(kl, abs=1e-12)
    assert golden.relative_entropy_rate(coin) == pytest.approx(1.0 - golden.entropy_rate(), abs=1e-12)
    assert coin.relative_entropy_rate(golden) == math.inf
    # A machine that is never synchronised: the phase that fits better counts.
    turns = processes.alternating_biased_coins(0.75, 0.25)
    assert turns.relative_entropy_rate(turns) == pytest.approx(0.0, abs=1e-12)
    assert turns.relative_entropy_rate(coin) == pytest.approx(1.0 - turns.entropy_rate(), abs=1e-12)
    text = EpsilonMachine([("A", "0", "A", 0.5), ("A", "2", "A", 0.5)])
    assert coin.relative_entropy_rate(text) == math.inf
    with pytest.raises(TypeError, match="'other' must be an EpsilonMachine"):
        coin.relative_entropy_rate("coin")


@MANY
@given(machines(**SMALL))
def test_autocovariance_by_enumeration(machine):
    assume(machine.recurrent.any())
    states, home, alphabet = literal(machine)
    expected = [naive_measures.autocovariance(states, home, alphabet, lag) for lag in range(5)]
    np.testing.assert_allclose(machine.autocovariance(4), expected, atol=1e-9)


@pytest.mark.parametrize("name", ["golden_mean", "even", "rip", "ising", "ehrenfest", "tent_map"])
def test_power_spectrum_is_the_transform_of_what_fades(name):
    machine = processes.catalogue[name]()
    lags = machine.autocovariance(1000)
    frequencies = np.linspace(0.0, 0.5, 7)
    series = lags[0] + 2.0 * np.cos(2 * np.pi * np.outer(frequencies, np.arange(1, 1001))) @ lags[1:]
    np.testing.assert_allclose(machine.power_spectrum(frequencies), series, atol=1e-8)


def test_lines_are_left_out():
    grid = (np.arange(512) + 0.5) / 512
    assert processes.periodic("0011").power_spectrum(grid).max() < 1e-9
    # A coin at every other place: the mean of the places differs, which is a line, the coin itself is white.
    machine = processes.noisy_period_2()
    np.testing.assert_allclose(machine.power_spectrum(grid), 0.125, atol=1e-9)


@pytest.mark.small
def test_values_of_symbols():
    words = EpsilonMachine([("A", "low", "A", 0.5), ("A", "top", "A", 0.5)])
    np.testing.assert_allclose(words.autocovariance(1, values=[-1, 1]), [1.0, 0.0], atol=1e-12)
    with pytest.raises(ValueError, match=r"'values' is .*; it must be one number for each of the 2 symbols"):
        words.autocovariance(1)
    with pytest.raises(ValueError, match="'values'"):
        words.power_spectrum([0.1], values=[1, 2, 3])
    with pytest.raises(ValueError, match="'frequencies'"):
        words.power_spectrum([[0.1]], values=[1, 2])


@pytest.mark.small
def test_machines_that_end_have_no_measures():
    ends = EpsilonMachine.from_arrays([[1, 1], [-1, -1]], [[0.5, 0.5], [0, 0]], [0, 1])
    assert ends.crypticity() == ends.excess_entropy() == 0.0
    for measure in ("markov_order", "cryptic_order", "reverse", "bidirectional", "mixed_states", "synchronisation"):
        with pytest.raises(ValueError, match="0 recurrent states out of 2"):
            getattr(ends, measure)()


def test_states_that_do_not_matter_do_not_count():
    """Transient states, and states of equal futures, change no measure of the process."""
    even = processes.even()
    rows = [("start", 1, "A", 1.0), ("A", 0, "A", 0.5), ("A", 1, "B", 0.5), ("B", 1, "C", 1.0)]
    doubled = EpsilonMachine([*rows, ("C", 0, "C", 0.5), ("C", 1, "D", 0.5), ("D", 1, "A", 1.0)])
    assert doubled.n_states == 5
    assert doubled.crypticity() == pytest.approx(0.0, abs=1e-9)
    assert doubled.synchronisation().word == even.synchronisation().word
    assert doubled.reverse().is_isomorphic(even.reverse(), atol=1e-9)
    assert doubled.relative_entropy_rate(even) == pytest.approx(0.0, abs=1e-12)
