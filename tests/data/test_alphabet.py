"""One order, one equality and one numbering of symbols, against loops, for any container, order and cutting."""

import os
import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import decisional as ds
import naive_alphabet as naive
from decisional.data.alphabet import Alphabet, Lookup, is_missing, ordered
from decisional.data.sequences import as_array, read
from decisional.observe import pairs, series
from strategies_symbols import examples

pytestmark = pytest.mark.small

numbers = st.booleans() | st.integers(-3, 12) | st.integers() | st.sampled_from([0.0, -0.0, 1.0, 2.5, -7.0, 1e300, 0.1])
atoms = numbers | st.text("ab01α", max_size=2) | st.binary(max_size=2)
groups = st.tuples(atoms) | st.tuples(numbers, atoms) | st.frozensets(atoms, max_size=3)
kinds = [numbers, st.integers(0, 9), st.integers(0, 400), st.text("01x", max_size=1), st.text(max_size=2), st.binary()]
symbol_lists = st.sampled_from([*kinds, groups, atoms | groups]).flatmap(lambda kind: st.lists(kind, min_size=1))


def machine_of(symbols):
    """A machine of one state that emits symbols, one row for each."""
    distinct = list(dict.fromkeys(symbols))
    return ds.EpsilonMachine([("A", symbol, "A", 1 / len(distinct)) for symbol in distinct])


@examples(200)
@given(symbol_lists, st.randoms())
def test_the_order_is_the_naive_one_whatever_comes_first(symbols, random):
    letters = Alphabet.of(symbols).letters
    assert list(letters) == naive.order(symbols)
    shuffled = random.sample(symbols, len(symbols))
    assert Alphabet.of([*shuffled, *symbols]).letters == letters
    assert ordered(letters[::-1]) == letters


@examples(200)
@given(symbol_lists, st.randoms())
def test_machines_data_and_pairs_have_one_alphabet(symbols, random):
    """Rows of a machine in any order, a series, its slices, and pairs: the same letters for the same symbols."""
    letters = Alphabet.of(symbols).letters
    shuffled = random.sample(symbols, len(symbols))
    data = [*shuffled, *symbols, *shuffled]
    assert machine_of(shuffled).alphabet == letters
    assert read(data, sequences=False).letters == letters
    assert series(data, 1, sequences=False, chunks=2).letters == letters
    x = np.empty(len(data), object)
    x[:] = data
    found = pairs(x, x, data)
    assert found.letters == tuple(found.outcomes) == found.alphabet == letters


@examples(100)
@given(symbol_lists, st.randoms())
def test_numbers_are_the_same_whatever_holds_the_symbols(symbols, random):
    symbols = [*symbols, *random.sample(symbols, len(symbols))]
    found = read(symbols, sequences=False)
    codes = found.lut[found.raw].tolist()
    assert [found.letters[code] for code in codes] == found.sequence(0) == symbols
    assert codes == [naive.order(symbols).index(symbol) for symbol in symbols]
    boxed = np.empty(len(symbols), object)
    boxed[:] = symbols
    forms = [tuple(symbols), iter(symbols), boxed, [boxed], np.ma.masked_array(boxed), as_array(symbols)]
    if all(isinstance(symbol, str) and len(symbol) == 1 for symbol in symbols):
        forms += ["".join(symbols), np.array(symbols)]
    for form in forms:
        other = read(form, sequences=None if isinstance(form, list) else False)
        assert other.letters == found.letters
        assert other.lut[other.raw].tolist() == codes


@examples(60)
@given(st.lists(st.integers(0, 255), min_size=1))
def test_a_new_name_in_the_same_order_changes_no_number(codes):
    forms = [codes, bytes(codes), "".join(map(chr, codes)), "".join(chr(c + 5000) for c in codes)]
    forms += [np.array(codes, kind) for kind in ("u1", "i2", ">i4", "u8", "f4")]
    forms += [np.array(codes) * 10**6 - 5, [(c, "x") for c in codes], [f"{c:03d}" for c in codes]]
    expected = read(forms[0])
    for form in forms:
        found = read(form, sequences=False)
        np.testing.assert_array_equal(found.lut[found.raw], expected.lut[expected.raw])
        assert len(found.letters) == len(set(codes))


@examples(150)
@given(symbol_lists, symbol_lists, symbol_lists)
def test_merging_is_a_union(a, b, c):
    one, two, three = map(Alphabet.of, (a, b, c))
    both, first, second = one.merge(two)
    assert both == Alphabet.of([*a, *b]) == two.merge(one)[0]
    assert both.merge(three)[0] == one.merge(two.merge(three)[0])[0] == Alphabet.of([*a, *b, *c])
    assert one.merge(one)[0] == one == one.merge(Alphabet(()))[0]
    for alphabet, places in ((one, first), (two, second)):
        assert tuple(both.letters[place] for place in places) == alphabet.letters
        assert one.merge(two)[0].places(alphabet.letters).tolist() == places.tolist()
    data = [*a, *a, *a]
    source = read(data, sequences=False)
    assert source.over(both).sequence(0) == source.sequence(0) == data


def form_of(symbols):
    """All the ways in which symbols can be given to a machine."""
    forms = [symbols, tuple(symbols)]
    if len({type(symbol) for symbol in symbols}) == 1 and isinstance(symbols[0], (bool, int, float)):
        forms += [as_array(symbols), np.ma.masked_array(as_array(symbols))]
    if all(isinstance(symbol, str) and len(symbol) == 1 for symbol in symbols):
        forms += ["".join(symbols), np.array(symbols)]
    return forms


@examples(150)
@given(symbol_lists, symbol_lists, st.lists(st.integers(0, 200), max_size=4))
def test_codes_are_the_naive_ones_for_any_container_and_cut(known, given, cuts):
    alphabet = Alphabet.of(known)
    given = [*given, *known]
    expected = [naive.code(alphabet.letters, symbol) for symbol in given]
    assert [alphabet.lookup(symbol) for symbol in given] == expected
    for form in form_of(given):
        n, code = alphabet.coder(form)
        edges = sorted({0, n, *(cut % (n + 1) for cut in cuts)})
        parts = [code(a, b) for a, b in pairwise(edges)]
        assert np.concatenate(parts).tolist() == code(0, n).tolist() == expected
        assert {part.dtype for part in parts} == {np.dtype(np.uint8 if len(alphabet) < 256 else np.int32)}
    own = np.array([naive.code(alphabet.letters, symbol) for symbol in known])
    assert list(alphabet.array[own]) == known


def test_codes_of_bytes_are_integers_or_characters():
    for letters, data in (((0, 1, 48), [0, 48, 1, 49]), (("0", "1"), [48, 49, 0, 255]), (("é", 48), [233, 48, 49])):
        expected = [naive.code(letters, b if b in letters else chr(b)) for b in data]
        for form in (bytes(data), bytearray(data), memoryview(bytes(data))):
            n, code = Alphabet(letters).coder(form)
            assert code(0, n).tolist() == expected


def test_masked_and_missing_symbols_are_unknown():
    alphabet = Alphabet((0, 1, "None", "nan"))
    _, code = alphabet.coder(np.ma.masked_array([0, 1, 0], [0, 1, 0]))
    assert code(0, 3).tolist() == [0, 4, 0]
    assert [alphabet.lookup(value) for value in (np.datetime64("NaT"), float("nan"), "None", "nan")] == [2, 3, 2, 3]
    assert Alphabet((0, 1)).lookup(None) == Alphabet((0, 1)).lookup(float("nan")) == 2
    assert Alphabet((None, "a")).lookup(None) == 0
    assert [is_missing(value) for value in (None, float("nan"), np.datetime64("NaT"), "", 0)] == [True] * 3 + [
        False
    ] * 2
    assert is_missing(7.0, 7)


def test_what_is_equal_and_what_is_not():
    assert Alphabet.of([1, True, 1.0, np.int8(1), np.float64(1)]).letters == (1,)
    assert Alphabet.of([0.0, -0.0, False]).letters == (0,)
    assert machine_of(["b", 1]).alphabet == machine_of([1, "b"]).alphabet == series([1, "b", 1], 1).letters == (1, "b")
    # An equal symbol of another type does not change the order.
    for one in (1, 1.0, True):
        assert Alphabet.of(["a", 2.5, one]).letters == (2.5, 1, "a")
    assert str(read(np.array([-0.0, 0.5, 0.5, 0.0])).letters) == str(read(np.array([0.0, 0.5, 0.5, -0.0])).letters)


def test_an_alphabet_that_is_given_keeps_its_order():
    machine = ds.EpsilonMachine([("A", 0, "A", 0.5), ("A", "b", "A", 0.5)], alphabet=["b", 0])
    assert machine.alphabet == ("b", 0)
    assert Alphabet(machine.alphabet).lookup("0") == 1
    assert Alphabet(("1", 1)).lookup(1) == 1
    assert Alphabet(("a", b"a")).lookup(b"a") == 1


def test_equal_values_of_other_types_are_no_gaps():
    day = np.datetime64("2020-01-01")
    found = read([day, day.item(), None, "x"])
    assert found.lut[found.raw].tolist() == [0, 0, -1, 1]


def test_large_integers_among_floats_stay_exact():
    assert read([2**53 + 1, 2**53, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5]).letters == (0.5, 2**53, 2**53 + 1)


def test_the_order_of_sets_does_not_depend_on_hashes():
    script = (
        "from decisional.data.alphabet import ordered;"
        "print([sorted(s) for s in ordered([frozenset(w) for w in ('ba', 'cd', 'ad', 'abc', '')])])"
    )
    shown = {
        subprocess.run(
            [sys.executable, "-c", script], env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True
        ).stdout
        for seed in "012"
    }
    assert len(shown) == 1
    assert b"['a', 'b']" in shown.pop()


def test_letters_can_be_added_to_a_lookup():
    lookup = Lookup("ab")
    assert (lookup("c"), lookup("b")) == (-1, 1)
    assert lookup.add("c") == 2
    assert (lookup("c"), lookup(b"c"), lookup.letters) == (2, 2, ["a", "b", "c"])


def test_tables_of_utility_look_values_up_in_the_same_way():
    bet = ds.utility.table([[1, 0, 5], [0, 1, 7]], y=[1, "1"], z=["0", 0, 1])
    np.testing.assert_array_equal(bet.matrix(["1", 1], [0, "0", "1"]), [[1, 0, 7], [0, 1, 5]])
