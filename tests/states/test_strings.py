"""Machines of whole strings."""

import json
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import decisional as ds
import naive as naive_machines
import naive_search
import naive_strings as naive
from decisional.states.strings import whole_strings

END = ds.EpsilonMachine.END
SESSION = [
    ("in", "a", "in", 0.3),
    ("in", "b", "busy", 0.7),
    ("busy", "a", "in", 0.4),
    ("busy", "b", "busy", 0.1),
    ("busy", END, "in", 0.5),
]
STRINGS = st.lists(st.text("abc?", max_size=6), min_size=2, max_size=12).filter(lambda all: set("".join(all)) - {"?"})


@pytest.fixture
def session():
    return ds.EpsilonMachine(SESSION, start="in")


@pytest.mark.small
@settings(deadline=None)
@given(STRINGS, st.integers(1, 30))
def test_tree_of_prefixes_is_that_of_dictionaries(strings, most):
    read = whole_strings(strings, missing="?")
    targets, counts, suffix = read.series.tree(most)
    letters = {int(k): letter for letter, k in zip(read.letters, read.place, strict=True)}
    expected = naive.prefix_tree(strings)
    assert len(targets) == min(most, len(expected))
    prefix = {0: ()}
    for node in range(len(targets)):
        for code in range(read.series.end):
            if targets[node, code] >= 0:
                prefix[int(targets[node, code])] = (*prefix[node], letters[code])
    kept = {p: expected[p] for p in prefix.values()}
    assert len(kept) == len(targets)
    for node, p in prefix.items():
        found = {letters[c]: int(n) for c, n in enumerate(counts[node]) if n}
        assert found == {END if s is None else s: n for s, n in expected[p].items() if s != "?"}
        shorter = naive.longest_suffix(p, kept)
        assert (suffix[node] < 0) if shorter is None else prefix[int(suffix[node])] == shorter
    # Those that are left out are no more frequent than those that are not.
    seen = {p: sum(after.values()) for p, after in expected.items()}
    assert min(seen[p] for p in kept) >= max((seen[p] for p in expected if p not in kept), default=0)


@pytest.mark.small
@settings(deadline=None)
@given(STRINGS, st.integers(1, 4), st.integers(0, 1000))
def test_description_lengths_of_whole_strings_are_their_naive_twins(strings, n, seed):
    """The state is known at the beginning of a string; a missing symbol may have been any but the end."""
    series, random = whole_strings(strings, missing="?").series, np.random.default_rng(seed)
    targets = random.integers(0, n, (n, series.n_symbols))
    targets[:, series.end] = 0
    weights = random.integers(1, 6, targets.shape).astype(float)
    found = series.drive(targets, weights)
    counts, bits, misses = naive_search.walk([series.codes.tolist()], targets, weights, series.end, 0)
    assert found.length == pytest.approx(naive_search.length(counts, bits, misses, series.log_n))
    assert found.misses == misses


@pytest.mark.small
@settings(deadline=None)
@given(st.text("ab", max_size=8))
def test_probability_of_a_whole_string(string):
    machine = ds.EpsilonMachine(SESSION, start="in")
    assert machine.log_likelihood(string) == pytest.approx(naive.log_likelihood(machine, string))


@pytest.mark.small
def test_probabilities_of_whole_strings_sum_to_1(session):
    total = sum(2 ** session.log_likelihood("".join(word)) for n in range(13) for word in product("ab", repeat=n))
    # What is longer than 12 symbols: the probability that no end has come.
    matrix = session.matrix.copy()
    matrix[1, 0] -= 0.5
    assert total + np.linalg.matrix_power(matrix, 13)[0].sum() == pytest.approx(1.0)


def test_estimated_probabilities_sum_to_at_most_1(session):
    machine = ds.epsilon_machine(session.simulate(50, rng=1), whole=True)
    assert machine.log_likelihood("") > -np.inf
    total = sum(2 ** machine.log_likelihood("".join(word)) for n in range(12) for word in product("ab", repeat=n))
    assert 0.9 < total < 1.0


def test_the_machine_of_whole_strings_is_found(session):
    strings = session.simulate(3000, rng=2)
    found = ds.epsilon_machine(strings, whole=True)
    assert found.is_isomorphic(session, atol=0.05)
    assert found.alphabet == ("a", "b", END)
    assert set(found.targets[:, 2].tolist()) == {-1, found.start}
    # The number of its symbols is that of the strings, with an end each.
    assert found.n_observed == sum(map(len, strings)) + len(strings)
    assert found.counts[:, -1].sum() == 3000


def test_start_and_end_are_known(session):
    assert session.filter("ab").tolist() == [0, 1]
    assert np.allclose(session.predict_proba("b"), [[0.4, 0.1, 0.5]])
    assert session.log_likelihood("b", start="busy") == pytest.approx(np.log2(0.1 * 0.5))


def test_simulated_strings_have_the_probabilities_of_the_machine(session):
    strings = ["".join(word) for word in session.simulate(20_000, rng=3)]
    for word in ("b", "ab", "bb", "bab"):
        p = 2 ** session.log_likelihood(word)
        assert strings.count(word) / 20_000 == pytest.approx(p, abs=5 * np.sqrt(p / 20_000))
    assert session.simulate(0) == []


@settings(deadline=None, max_examples=20)
@given(st.permutations("abc"), st.integers(0, 20))
def test_names_of_symbols_change_nothing(names, seed):
    rng = np.random.default_rng(seed)
    strings = ["".join(rng.choice(list("abc"), rng.integers(0, 5), p=[0.6, 0.3, 0.1])) for _ in range(40)]
    new = dict(zip("abc", names, strict=True))
    one = ds.selection.select(strings, whole=True)
    other = ds.selection.select(["".join(new[s] for s in string) for string in strings], whole=True)
    assert one.chosen.length == pytest.approx(other.chosen.length)
    assert one.machine.start == other.machine.start
    order = [other.alphabet.index(new.get(s, s)) for s in one.alphabet]
    assert np.array_equal(one.machine.targets, other.machine.targets[:, order])


def test_strings_of_any_symbols_some_of_them_empty():
    strings = [[0, 1], [], [0, 1, 0, 1], [0, 1], []] * 20
    machine = ds.epsilon_machine(strings, whole=True)
    assert machine.alphabet == (0, 1, END)
    assert machine.log_likelihood([]) == pytest.approx(np.log2(0.4), abs=0.1)
    assert all(string.dtype == np.uint8 for string in machine.simulate(5, rng=0))


def test_saved_machines_keep_their_start(session, tmp_path):
    path = tmp_path / "machine.json"
    session.save(path)
    again = ds.EpsilonMachine.load(path)
    assert again.start == 0
    assert again.log_likelihood("ab") == session.log_likelihood("ab")
    # Files without it are those of earlier versions.
    content = json.loads(path.read_text())
    del content["start"]
    path.write_text(json.dumps(content))
    assert ds.EpsilonMachine.load(path).start is None
    path.write_text(json.dumps({**content, "start": 1}))
    with pytest.raises(ValueError, match="is corrupt"):
        ds.EpsilonMachine.load(path)


def test_other_forms_keep_the_start(session):
    assert session.minimise().start == 0
    assert session.recurrent_part().names[session.recurrent_part().start] == "in"
    assert "whole strings from in" in repr(session)


def test_bootstrap_of_whole_strings(session):
    found = ds.selection.bootstrap(session, 1000, n=3, rng=1)
    assert found.same_topology == 1.0
    assert all(machine.start is not None and machine.alphabet == session.alphabet for machine in found.replicates)


def test_dot_shows_start_and_end(session):
    lines = session.to_dot().splitlines()
    assert "  start -> 0;" in lines
    assert '  1 -> end [label="<end> | 0.5"];' in lines
    assert "start" not in ds.processes.even().to_dot()


@pytest.mark.parametrize("share", [0.02, 0.1, 0.3])
def test_the_machine_of_strings_with_gaps_is_found(session, share):
    rng = np.random.default_rng(3)
    strings = [[None if rng.random() < share else s for s in string] for string in session.simulate(5000, rng=1)]
    machine = ds.epsilon_machine(strings, whole=True)
    # Ends are never missing, and yet no more frequent than they are.
    assert machine.is_isomorphic(session, atol=0.03)
    for string in ("b", "ab", "bab", "babb"):
        assert machine.log_likelihood(string) == pytest.approx(session.log_likelihood(string), abs=0.2)


@pytest.mark.small
@settings(deadline=None)
@given(st.lists(st.sampled_from(["a", "b", None]), max_size=6))
def test_probability_of_a_string_with_gaps(string):
    """What is missing may have been any symbol, but not the end; what is known is foretold by all before."""
    machine = ds.EpsilonMachine(SESSION, start="in")
    home = {0: 1.0}
    bits, _ = naive_machines.filled(naive_machines.as_dict(machine), home, [*string, END], "ab")
    assert machine.log_likelihood(string) == pytest.approx(bits)
    assert machine.log_likelihood(string) == pytest.approx(
        ds.BeliefMachine(
            [[[0.3, 0], [0.4, 0]], [[0, 0.7], [0, 0.1]], [[0, 0], [0.5, 0]]], ["a", "b", END], start=[1, 0]
        ).log_likelihood(string)
    )


def test_a_marked_gap_is_a_missing_symbol(session):
    strings = ["".join(string) for string in session.simulate(300, rng=2)]
    marked = [string[:2] + "?" + string[3:] if len(string) > 2 else string for string in strings]
    listed = [[None if symbol == "?" else symbol for symbol in string] for string in marked]
    one, other = ds.epsilon_machine(marked, whole=True, missing="?"), ds.epsilon_machine(listed, whole=True)
    assert np.array_equal(one.counts, other.counts)


def test_refusals(session):
    with pytest.raises(ValueError, match="one sequence"):
        ds.epsilon_machine("abab", whole=True)
    with pytest.raises(ValueError, match="one sequence, which is too few"):
        ds.epsilon_machine(["abab"], whole=True)
    for name in ("max_past", "max_future"):
        with pytest.raises(ValueError, match=f"The '{name}' is 2 with whole=True"):
            ds.epsilon_machine(["ab", "b"], **{name: 2}, whole=True)
    with pytest.raises(ValueError, match="stands for the end"):
        ds.epsilon_machine([["a", END], ["b"]], whole=True)
    for machine in (session, ds.BeliefMachine([np.eye(1) / 2, np.eye(1) / 2], ["a", END], start=[1])):
        with pytest.raises(ValueError, match="stands for the end"):
            machine.log_likelihood(["a", END])
        for several in (["aa", "a"], [["a"], ["a"]], [np.array(["a"])], np.array(["aa", "a"]), [b"a", b"aa"], [("a",)]):
            with pytest.raises(ValueError, match="are several strings, such as"):
                machine.log_likelihood(several)
    # Words that are unknown are no strings of letters.
    assert session.log_likelihood(["a", "xy"]) == -np.inf
    with pytest.raises(ValueError, match="must be True or False"):
        ds.epsilon_machine(["ab", "b"], whole="yes")
    with pytest.raises(ValueError, match="The 'start' is"):
        ds.EpsilonMachine(SESSION, start="out")
    with pytest.raises(ValueError, match="must lead to the 'start'"):
        ds.EpsilonMachine(SESSION, start="busy")
    with pytest.raises(ValueError, match="whole strings end with"):
        ds.EpsilonMachine([("A", 0, "A", 1)], start="A")
    endless = ds.EpsilonMachine([("A", 0, "B", 0.5), ("A", END, "A", 0.5), ("B", 0, "B", 1)], start="A")
    with pytest.raises(ValueError, match="never end"):
        endless.simulate(3)
