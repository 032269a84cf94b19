"""The average over machines and contexts."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import decisional as ds
import naive_mixture as naive
from decisional._kernels import mixtures as kernels

END = ds.EpsilonMachine.END


def compiled(machines, codes, skip, learns, alpha, share, depth, end, symbols, made=None):
    """The kernel on small arrays: bits, the table of what comes next, and all that it knows."""
    if made is None:
        rows = np.concatenate([t + sum(len(u) for u, _ in machines[:m]) for m, (t, _) in enumerate(machines)])
        begin = np.array([f + sum(len(u) for u, _ in machines[:m]) for m, (_, f) in enumerate(machines)])
        table = rows, np.zeros(rows.shape), np.zeros(len(rows)), np.zeros(len(rows))
        keys, children, seen = np.full(4096, -1), np.full(4096, -1, np.int32), np.zeros(4096, np.int32)
        tree = (
            keys,
            children,
            seen,
            np.zeros(1024, np.int64),
            np.zeros(1024, np.int64),
            np.zeros((2, 1024)),
            np.array([1, 0]),
        )
        n = 2 * len(machines) + 4
        made = begin, np.full(n, 1 / n), np.full(n, 1 / n), table, tree, np.zeros(symbols), begin.copy()
    begin, home, weight, table, tree, overall, state = made
    bits, after = np.zeros(codes.size), np.zeros((codes.size - skip + 1, symbols))
    rules = end, alpha, share, depth
    kernels.follow(codes, skip, learns, *rules, begin, home, weight, table, tree, overall, state, after, bits)
    return bits, after, made


@pytest.mark.small
@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.booleans(), st.integers(1, 6))
def test_as_literally(seed, whole, depth):
    rng = np.random.default_rng(seed)
    symbols = int(rng.integers(2, 4))
    machines = []
    for _ in range(rng.integers(1, 4)):
        n = int(rng.integers(1, 4))
        machines.append((rng.integers(0, n, (n, symbols)), int(rng.integers(n))))
    end = symbols - 1 if whole else -1
    codes = rng.integers(-1, symbols, 40)
    known = 0.5, 0.02, depth, end, symbols
    twin = naive.Average([(t.tolist(), f) for t, f in machines], symbols, 0.5, 0.02, depth, end)
    expected, tables = [], []
    for k, code in enumerate(codes.tolist()):
        tables.append([twin.probability(s) for s in range(symbols)])
        expected.append(twin.follow(code, learns=k < 30))
    bits, after, made = compiled(machines, codes[:30], 0, True, *known)
    assert np.allclose(bits, expected[:30])
    # What was learnt so far is what was before; nothing is learnt any more.
    before = np.concatenate([codes[:30], codes[30:]])
    if not whole and -1 not in codes:
        more, later, _ = compiled(machines, before, 30, False, *known, made=made)
        assert np.allclose(more[30:], expected[30:])
        assert np.allclose(later[:-1], tables[30:])
    assert np.allclose(after[:-1], tables[:30])
    assert np.allclose(after.sum(axis=1), 1.0)


@pytest.fixture(scope="module")
def even():
    return ds.selection.select(ds.processes.even().simulate(3000, rng=1)).predictor()


def test_probabilities_are_those_of_the_likelihood(even):
    symbols = ds.processes.even().simulate(50, rng=2)
    chances = even.predict_proba(symbols)
    known = np.log2(chances[np.arange(49), symbols[1:]]).sum()
    first = even.log_likelihood(symbols[:1])
    assert even.log_likelihood(symbols) == pytest.approx(first + known)
    assert np.all(chances > 0)
    assert np.all(chances.sum(axis=1) < 1)


def test_nothing_is_impossible(even):
    assert np.isfinite(even.log_likelihood([0, 1, 0, 1, 0]))
    assert np.isfinite(even.log_likelihood([0, "never seen", 1]))
    assert even.log_likelihood([0, 7, 1]) < even.log_likelihood([0, 0, 1])
    assert even.predict_proba([]).shape == (0, 2)


def test_missing_symbols_cost_nothing(even):
    assert even.log_likelihood([None]) == even.log_likelihood([float("nan")] * 3) == 0.0
    # They are not symbols that were never seen.
    assert even.log_likelihood([1, None]) == even.log_likelihood([1])
    assert even.log_likelihood([1, 7]) < even.log_likelihood([1]) - 9


def test_asking_changes_nothing_and_learning_does(even):
    again = ds.selection.select(ds.processes.even().simulate(3000, rng=1)).predictor()
    symbols = np.tile([0, 0, 1], 200)
    frozen = again.log_likelihood(symbols)
    assert frozen == again.log_likelihood(symbols) == even.log_likelihood(symbols)
    assert again.update(symbols) > frozen
    assert again.log_likelihood(symbols) > frozen + 100
    assert again.n_observed == 3600


def test_learning_in_parts_is_learning_at_once():
    selection = ds.selection.select(ds.processes.even().simulate(1000, rng=1))
    one, parts = selection.predictor(), selection.predictor()
    symbols = ds.processes.golden_mean().simulate(100, rng=2)
    assert sum(map(parts.update, np.split(symbols, [30, 31, 80]))) == pytest.approx(one.update(symbols))


def test_as_good_as_the_machine():
    machine = ds.processes.nemo()
    forecast = ds.selection.select(machine.simulate(20_000, rng=3)).predictor()
    assert -forecast.log_likelihood(machine.simulate(20_000, rng=4)) / 20_000 < machine.entropy_rate() + 0.01
    assert forecast.weights.sum() == pytest.approx(1.0)
    assert repr(forecast).startswith(f"Mixture({forecast.n_predictors} predictors, 2 symbols")


def test_whole_strings():
    rows = [("A", "a", "A", 0.3), ("A", "b", "B", 0.7), ("B", "a", "A", 0.5), ("B", END, "A", 0.5)]
    machine = ds.EpsilonMachine(rows, start="A")
    strings = ["".join(string) for string in machine.simulate(3000, rng=1)]
    forecast = ds.selection.select(strings, whole=True).predictor()
    for string in ("b", "ab", "bab"):
        assert forecast.log_likelihood(string) == pytest.approx(machine.log_likelihood(string), abs=0.15)
    assert forecast.predict_proba("b")[0, 2] == pytest.approx(0.5, abs=0.05)
    assert forecast.update(["ab", "b"]) == pytest.approx(np.log2(0.3 * 0.7 * 0.5 * 0.7 * 0.5), abs=0.3)


def test_whole_strings_with_gaps():
    rows = [("A", "a", "A", 0.3), ("A", "b", "B", 0.7), ("B", "a", "A", 0.5), ("B", END, "A", 0.5)]
    machine = ds.EpsilonMachine(rows, start="A")
    rng = np.random.default_rng(1)
    strings = [[None if rng.random() < 0.1 else s for s in string] for string in machine.simulate(3000, rng=1)]
    forecast = ds.selection.select(strings, whole=True).predictor()
    for string in ("b", "ab", "bab"):
        assert forecast.log_likelihood(string) == pytest.approx(machine.log_likelihood(string), abs=0.2)
    # What was before a gap is still remembered by hidden machines: an end follows b, or a gap before it.
    assert forecast.predict_proba(["b", None, "b"])[-1, 2] == pytest.approx(0.5, abs=0.1)
    for string in (["b", None, "b"], ["a", None, "b"], [None, "b"]):
        bits = forecast.log_likelihood(string)
        assert bits == pytest.approx(machine.log_likelihood(string), abs=0.3)
        # What is learnt ends at the gap; what is foretold does not.
        assert forecast.update([string]) == pytest.approx(bits, abs=1e-6)
    assert np.isfinite(forecast.update([["a", None, "b"], [None]]))


def test_no_strings_are_not_an_empty_one():
    forecast = ds.selection.select(["ab", "a", "abab", ""] * 10, whole=True).predictor()
    n = forecast.n_observed
    assert forecast.update([]) == forecast.update(np.array([])) == forecast.update(iter([])) == 0.0
    assert forecast.n_observed == n
    assert forecast.update([""]) < 0.0
    assert forecast.update("") < 0.0
    assert forecast.n_observed == n + 2


def test_the_first_symbol_of_a_string():
    forecast = ds.selection.select(["ab", "a", "abab", ""] * 10, whole=True).predictor()
    first = forecast.predict_proba("", first=True)
    assert first.shape == (1, 3)
    assert np.log2(first[0, 2]) == pytest.approx(forecast.log_likelihood(""))
    both = forecast.predict_proba("ab", first=True)
    np.testing.assert_array_equal(both, np.vstack([first, forecast.predict_proba("ab")]))
    chain = np.log2(both[[0, 1, 2], [0, 1, 2]]).sum()
    assert chain == pytest.approx(forecast.log_likelihood("ab"))


def test_refusals():
    whole = ds.selection.select(["ab", "a", "abab"] * 10, whole=True).predictor()
    for refused in (lambda: whole.update([["a", END]]), lambda: whole.log_likelihood(["a", END])):
        with pytest.raises(ValueError, match="stands for the end of a string"):
            refused()
    with pytest.raises(ValueError, match="are several strings"):
        whole.log_likelihood(["ab", "a"])
    with pytest.raises(TypeError, match="'symbols' are of type int"):
        whole.update(5)
    with pytest.raises(ValueError, match="'first' is"):
        whole.predict_proba("a", first=2)
    with pytest.raises(ValueError, match="'seconds' of Mixture is 0"):
        ds.selection.select("0101").predictor(seconds=0)
    with pytest.raises(TypeError, match="must be a Selection"):
        ds.Mixture("0101")
