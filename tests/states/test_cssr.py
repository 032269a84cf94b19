"""CSSR: its tests against formulas, its states against dictionaries, its results against those of the C++ program."""

import csv
import math
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from scipy import special, stats

from decisional import EpsilonMachine, processes
from decisional._kernels import splitting
from decisional.observe import series
from decisional.states.cssr import cssr

DATA = Path(__file__).parents[1] / "answers"
PROCESSES = {
    "even": processes.even(),
    "golden_mean": processes.golden_mean(),
    "coin": processes.coin(),
    "biased_coin_0.7": processes.biased_coin(0.7),
    "period_3_001": processes.periodic("001"),
    "noisy_period_2": processes.noisy_period_2(),
    "rrxor": processes.rrxor(),
    "nemo": processes.nemo(),
    "butterfly": processes.butterfly(),
}


def golden(name):
    with open(DATA / name, newline="") as file:
        return list(csv.DictReader(file))


# ------------------------------------------------------------------------------------------------ tests


def naive_ks(a, b):
    """p-value from the definition, for counts over an ordered alphabet."""
    n, m = sum(a), sum(b)
    gap = max(abs(sum(a[: k + 1]) / n - sum(b[: k + 1]) / m) for k in range(len(a)))
    root = math.sqrt(n * m / (n + m))
    x = (root + 0.12 + 0.11 / root) * gap
    if x < 0.04:
        return 1.0
    return 2 * sum((-1) ** (j - 1) * math.exp(-2 * j * j * x * x) for j in range(1, 400))


@pytest.mark.small
def test_ks_follows_the_formula():
    rng = np.random.default_rng(0)
    for _ in range(200):
        a, b = (rng.integers(0, 50, size=rng.integers(2, 6), endpoint=True) for _ in range(2))
        a, b = a[: b.size] + 1, b[: a.size] + 1
        p = splitting.kolmogorov_smirnov(a, a.sum(), b, b.sum())
        assert p == pytest.approx(naive_ks(a.tolist(), b.tolist()), abs=1e-9)


@pytest.mark.small
def test_kolmogorov_distribution():
    for x in (0.0, 0.01, 0.2, 0.5, 0.8284, 1.0, 1.9495, 3.0, 10.0):
        assert splitting.kolmogorov(x) == pytest.approx(special.kolmogorov(x), abs=1e-9)


@pytest.mark.small
def test_chi_square_is_the_textbook_test():
    rng = np.random.default_rng(1)
    for _ in range(200):
        k = int(rng.integers(2, 7))
        a, b = rng.integers(0, 60, size=k) + 1, rng.integers(0, 9, size=k)
        b[0] += 1
        a[b == 3] = b[b == 3] = 0
        used = a + b > 0
        if used.sum() < 2 or not a.sum() or not b.sum():
            continue
        expected = stats.chi2_contingency(np.array([a, b])[:, used], correction=False).pvalue
        assert splitting.chi_square(a, a.sum(), b, b.sum()) == pytest.approx(expected, rel=1e-8)


@pytest.mark.small
def test_one_symbol_is_no_evidence():
    a = np.array([5, 0])
    assert splitting.chi_square(a, 5, a, 5) == 1.0
    assert splitting.kolmogorov_smirnov(a, 5, a, 5) == 1.0


# ----------------------------------------------------------------------------------- homogeneous states


def naive_states(text, past, alpha):
    """States of the histories of `past` and `past` - 1 symbols, with dictionaries of words."""
    letters = sorted(set(text))
    counts = {}
    for i in range(past, len(text)):
        for k in range(past + 1):
            counts.setdefault(text[i - k : i], Counter())[text[i]] += 1
    vector = {word: [seen[a] for a in letters] for word, seen in counts.items()}
    states = [[""]]

    def evidence(words):
        return [sum(column) for column in zip(*(vector[w] for w in words), strict=True)]

    def home(word):
        return next((s for s in states if word in s), None)

    for length in range(1, past + 1):
        for word in sorted((w for w in vector if len(w) == length), key=lambda w: w[::-1]):
            mother = home(word[1:])
            if mother is not None and naive_ks(evidence(mother), vector[word]) >= alpha:
                mother.append(word)
                continue
            found = [(naive_ks(evidence(s), vector[word]), -i) for i, s in enumerate(states) if s]
            if found and max(found)[0] >= alpha:
                states[-max(found)[1]].append(word)
                continue
            states.append([word])
            ancestor = word[1:]
            while home(ancestor) is not None and (ancestor or length == 1):
                home(ancestor).remove(ancestor)
                ancestor = ancestor[1:]
    return {frozenset(w for w in s if len(w) >= past - 1) for s in states} - {frozenset()}


@pytest.mark.parametrize("name", ["even", "rrxor", "nemo", "golden_mean", "butterfly"])
@pytest.mark.parametrize("past", [2, 3, 5])
def test_homogeneous_states_agree_with_dictionaries(name, past):
    text = "".join(map(str, PROCESSES[name].simulate(2000, rng=past)))
    obs = series(text, past)
    table = obs.table()
    words = ["".join(obs.letters[s] for s in word[::-1]) for word in obs.words(np.arange(table.n_x))]
    endings = list(dict.fromkeys(word[1:] for word in words))
    state, short = np.empty(len(words), np.int64), np.empty(len(endings), np.int64)
    splitting.homogenise(
        table.start, table.outcome, table.count, table.shared, past, len(obs.letters), 0.01, 0, state, short
    )
    found = {}
    for word, s in zip(words + endings, [*state, *short], strict=True):
        if s >= 0:
            found.setdefault(int(s), set()).add(word)
    assert set(map(frozenset, found.values())) == naive_states(text, past, 0.01)


# ------------------------------------------------------------------------------------------- machines


@pytest.mark.parametrize("past", range(3, 10))
def test_even_process(past):
    right = sum(
        cssr(processes.even().simulate(10_000, rng=seed), past).is_isomorphic(processes.even(), atol=0.05)
        for seed in range(10)
    )
    assert right >= 9


def test_states_by_decreasing_probability():
    machine = cssr(processes.even().simulate(50_000, rng=5), 10)
    assert machine.names == ("A", "B")
    assert machine.weights == pytest.approx([2 / 3, 1 / 3], abs=0.02)
    assert machine.statistical_complexity() == pytest.approx(0.918, abs=0.01)


@pytest.mark.parametrize("test", ["ks", "chi2"])
@pytest.mark.parametrize("past", [1, 3, 6])
def test_coin_has_one_state(past, test):
    machine = cssr(processes.coin().simulate(10_000, rng=3), past, test=test)
    assert machine.n_states == 1
    assert machine.emission[0] == pytest.approx([0.5, 0.5], abs=0.02)


@pytest.mark.parametrize("test", ["ks", "chi2"])
def test_golden_mean_with_both_tests_and_short_pasts(test):
    for past in (1, 2, 4):
        machine = cssr(processes.golden_mean().simulate(10_000, rng=past), past, test=test)
        assert machine.is_isomorphic(processes.golden_mean(), atol=0.03)


def test_too_long_histories_split_without_end():
    found = [cssr(processes.even().simulate(10_000, rng=seed), 14).n_states for seed in range(10)]
    assert np.mean(found) > 50


@pytest.mark.parametrize("name", PROCESSES)
@pytest.mark.parametrize("past", [3, 8])
def test_output_is_unifilar_closed_and_emits_the_data(name, past):
    symbols = PROCESSES[name].simulate(10_000, rng=11)
    machine = cssr(symbols, past)
    assert isinstance(machine, EpsilonMachine)
    assert machine.recurrent.all()
    assert machine.emission.sum(axis=1) == pytest.approx(1.0)
    assert (np.diff(machine.weights) <= 1e-12).all()
    if machine.n_states == PROCESSES[name].n_states:
        assert np.isfinite(machine.log_likelihood(symbols))


def test_same_result_for_text_integers_and_sequences():
    symbols = processes.even().simulate(4000, rng=2)
    text = "".join(map(str, symbols))
    assert cssr(text, 4).is_isomorphic(cssr(symbols, 4), atol=1e-12)
    halves = cssr([symbols[:2000], symbols[2000:]], 4)
    gap = cssr(text[:2000] + "." + text[2000:], 4, missing=".")
    assert halves.is_isomorphic(gap, atol=1e-12)


# ---------------------------------------------------------------------------------------- golden numbers


def unlikely(k, n, other_k, other_n):
    """Whether two shares differ beyond sampling error."""
    table = [[k, n - k], [other_k, other_n - other_k]]
    return stats.fisher_exact(table).pvalue < 0.001


@pytest.mark.parametrize("length", [8, 10, 11, 12, 13])
def test_share_right_on_the_even_process_is_that_of_the_program(length):
    row = next(r for r in golden("even_grid.csv") if r["N"] == "1e4" and r["L"] == str(length))
    trials, theirs = int(row["trials"]), round(float(row["cssr_share_right"]) * int(row["trials"]))
    found = np.array([cssr(processes.even().simulate(10_000, rng=seed), length).n_states for seed in range(50)])
    assert not unlikely(int((found == 2).sum()), found.size, theirs, trials)


@pytest.mark.parametrize("length", [14, 15, 16])
def test_number_of_spurious_states_is_that_of_the_program(length):
    row = next(r for r in golden("even_grid.csv") if r["N"] == "1e4" and r["L"] == str(length))
    found = [cssr(processes.even().simulate(10_000, rng=seed), length).n_states for seed in range(20)]
    assert np.mean(found) == pytest.approx(float(row["cssr_mean_states"]), rel=0.3)


@pytest.mark.parametrize("name", PROCESSES)
def test_share_right_on_other_processes_is_that_of_the_program(name):
    ours = theirs = trials = 0
    for row in golden("cssr_accuracy.csv"):
        if row["process"] == name:
            n, past = int(float(row["N"])), int(row["L"])
            found = [cssr(PROCESSES[name].simulate(n, rng=seed), past).n_states for seed in range(5)]
            ours += found.count(PROCESSES[name].n_states)
            theirs += int(row["cssr_right"])
            trials += 5
    assert trials == 40
    assert not unlikely(ours, trials, theirs, trials)


# ----------------------------------------------------------------------------------------------- limits


@pytest.mark.small
def test_a_series_that_never_comes_back():
    machine = cssr("01", 1)
    assert machine.n_states == 1
    assert not machine.recurrent.any()


def test_where_the_data_end_is_no_recurrent_class():
    # Almost every window of 30 symbols is seen once: the last few that come back are not the process.
    assert cssr(processes.even().simulate(10_000, rng=0), 30).n_states > 5000


@pytest.mark.small
def test_one_symbol():
    machine = cssr("aaaaaaaa", 2)
    assert machine.n_states == 1
    assert machine.entropy_rate() == 0.0


@pytest.mark.small
def test_the_end_of_the_data_is_left_aside():
    machine = cssr("01" * 500 + "2", 2)
    assert machine.n_states == 2
    assert machine.recurrent.all()


@pytest.mark.small
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"past": 0}, "'past' of cssr is 0; it must be an integer of at least 1"),
        ({"past": 1.5}, "is 1.5; it must be an integer"),
        ({"past": True}, "is True; it must be an integer"),
        ({"past": 2, "alpha": 0.0}, "'alpha' of cssr is 0.0; it must be a number above 0 and below 1"),
        ({"past": 2, "alpha": 1}, "is 1; it must be a number above 0 and below 1: try alpha=0.001"),
        ({"past": 2, "alpha": "low"}, "is 'low'; it must be a number"),
        ({"past": 2, "alpha": float("nan")}, "is nan; it must be a number"),
        ({"past": 2, "test": "g"}, "'test' of cssr is 'g'; it must be one of 'ks', 'chi2'"),
        ({"past": 6}, "use a shorter past or more data"),
    ],
)
def test_errors(arguments, message):
    with pytest.raises(ValueError, match=message):
        cssr("010011", **arguments)
