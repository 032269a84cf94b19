"""Tallies and vocabularies against dicts: merging is exact, associative and commutative, bit for bit."""

import pickle
from functools import reduce

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import decisional as ds
import naive_observe as naive
from decisional.data import alphabet, vocabularies
from decisional.data.observations import Tallied
from decisional.data.tally import Tally
from decisional.data.vocabularies import Vectors, Words, distinct_rows, pack, place_in, unpack
from naive_tallies import KINDS, added, as_dicts, attempt, equal, same_tally, seeds
from strategies_symbols import examples, sequences

kinds = pytest.mark.parametrize("kind", KINDS)


def tallies(observe, chunks):
    """Tallies of all slices."""
    return [piece.tally() for piece in observe(chunks=chunks).pieces()]


# ------------------------------------------------------------------------------------------------- merging


@pytest.mark.small
@kinds
@examples(25, small=6)
@given(data=st.data(), chunks=st.integers(1, 15))
def test_merged_tallies_are_sums_of_dicts(kind, data, chunks):
    observe = data.draw(KINDS[kind])
    whole = attempt(observe)
    if isinstance(whole, type):
        return
    parts = tallies(observe, chunks)
    merged = reduce(Tally.merge, parts)
    dicts = [as_dicts(part) for part in parts]
    assert as_dicts(merged) == (added(*(d[0] for d in dicts)), added(*(d[1] for d in dicts)))
    same_tally(whole.tally(), merged.observed())


@kinds
@examples(12)
@given(data=st.data(), chunks=st.integers(1, 15), rng=seeds)
def test_merging_is_associative_and_commutative(kind, data, chunks, rng):
    observe = data.draw(KINDS[kind])
    if isinstance(attempt(observe), type):
        return
    parts = tallies(observe, chunks)
    expected = reduce(Tally.merge, parts)
    for _ in range(3):
        left = [parts[i] for i in rng.permutation(len(parts))]
        while len(left) > 1:
            i, j = rng.choice(len(left), 2, replace=False)
            left[i] = left[i].merge(left[j])
            left.pop(j)
        same_tally(expected, left[0])


@kinds
@examples(5)
@given(data=st.data())
def test_tallies_are_the_same_elsewhere(kind, data):
    observe = data.draw(KINDS[kind])
    if isinstance(attempt(observe), type):
        return
    for tally in tallies(observe, 5):
        sent = pickle.loads(pickle.dumps(tally))
        same_tally(tally, sent)
        same_tally(tally.merge(tally), sent.merge(tally))


@pytest.mark.small
@examples(60, small=15)
@given(sequences(), st.integers(1, 4), st.integers(1, 3))
def test_tallies_of_series_are_the_naive_counts(data, past, future):
    data = [s for s in data if any(v is not None for v in s)]
    apart = [attempt(lambda s=s: ds.observe.series([s], past, future)) for s in data]
    merged = [obs.tally() for obs in apart if not isinstance(obs, type)]
    if not merged:
        return
    expected = {}
    for x, z, *_ in naive.windows(data, past, future):
        key = x[::-1], z
        expected[key] = expected.get(key, 0) + 1
    tally = reduce(Tally.merge, merged)
    assert as_dicts(tally)[0] == expected
    assert tally.n == sum(expected.values())


def observed():
    """Observations of many kinds, no two of which can be counted together."""
    see, pairs = ds.observe, ds.observe.pairs
    field, cube = np.eye(5, dtype=int), np.zeros((3, 5, 5), int)
    return {
        "series 2 1": see.series("0110101", 2),
        "series 3 1": see.series("0110101", 3),
        "series 2 2": see.series("0110101", 2, 2),
        "pairs (x of 1, z kinds, without steps)": pairs("ab", "xy"),
        "pairs (x of 1, z kinds, with steps)": pairs("ab", "xy", "uv"),
        "vectors (x of 1, z numbers, without steps)": pairs([0.5, 1.5], [0.5, 1.5]),
        "vectors (x of 1, z numbers, with steps)": see.delays(np.sin(np.arange(9)), past=1),
        "vectors (x of 2, z numbers, without steps)": pairs([[0.5, 1.5], [1.5, 2]], [0.5, 1.5]),
        "vectors (x of 1, z vectors of 1, without steps)": pairs([0.5, 1.5], [[0.5], [1.5]]),
        "vectors (x of 1, z vectors of 2, without steps)": pairs([0.5, 1.5], [[0.5, 1], [1.5, 1]]),
        "vectors (x of 1, z kinds, without steps)": pairs([0.5, 1.5], ["a", "b"]),
        "vectors (x of 8, z numbers, without steps)": see.image(np.arange(16).reshape(4, 4), "3x3"),
        "light cones 1 3 periodic None": see.light_cones(field, 1, 2),
        "light cones 1 3 periodic time": see.light_cones(field, 1, 2, transitions="time"),
        "light cones 1 3 open None": see.light_cones(field, 1, 2, boundary="open"),
        "light cones 10 9 periodic None": see.light_cones(cube, 2, 2),
        "light cones 6 5 periodic None": see.light_cones(cube, 2, 2, neighbourhood="von_neumann"),
    }


@pytest.mark.small
def test_other_kinds_are_refused_with_the_names_of_both():
    found = {name: obs.tally() for name, obs in observed().items()}
    for mine, tally in found.items():
        for yours, other in found.items():
            if mine == yours:
                assert tally.merge(other).n == 2 * tally.n
                continue
            with pytest.raises(ValueError, match="made alike") as refusal:
                tally.merge(other)
            message = str(refusal.value)
            same = mine.split()[0] == yours.split()[0] and mine.split()[0] in ("pairs", "vectors")
            names = [name if same else name.split(" (")[0] for name in (mine, yours)]
            assert f"of {names[1]} and these of {names[0]};" in message
            assert message.count(". ") == 0
            assert message.endswith("observe both with the same parameters.")


def test_other_kinds_are_refused_by_estimators():
    one, two = (ds.CausalStates().partial_fit(ds.observe.series("0110101" * 9, past)) for past in (2, 3))
    before = one.n_states_
    with pytest.raises(ValueError, match="of series 3 1 and these of series 2 1"):
        one.merge(two)
    assert one.n_states_ == before
    with pytest.raises(ValueError, match="of pairs and these of series 2 1"):
        one.partial_fit(ds.observe.pairs("ab", "xy"))


@pytest.mark.small
def test_counts_without_observations_are_refused():
    piece = next(ds.observe.series("ab", 5, chunks=9).pieces())
    with pytest.raises(ValueError, match="no observation in the counts"):
        Tallied(piece.tally())


@pytest.mark.small
@pytest.mark.parametrize("name", ["x", "z", "symbol", "successor", "site"])
def test_what_counts_do_not_tell_is_refused(name):
    obs = Tallied(ds.observe.series("0110101", 2).tally())
    assert obs.shape == (5,)
    with pytest.raises(ValueError, match=f"The '{name}' of each observation is not known"):
        getattr(obs, name)


# -------------------------------------------------------------------------------------------- vocabularies

LETTERS = st.lists(st.integers(0, 30) | st.sampled_from(["a", "b", (1,), b"c"]), min_size=1, max_size=5, unique=True)


@st.composite
def vocabulary(draw, width):
    """Words over sorted letters, and the set of them."""
    letters = alphabet.ordered(draw(LETTERS))
    words = draw(st.sets(st.tuples(*[st.integers(0, len(letters) - 1)] * width), max_size=8))
    codes = np.array(sorted(words), np.int64).reshape(-1, width)
    return Words(letters, width, pack(codes, len(letters))), {tuple(letters[c] for c in word) for word in words}


def spelt(words):
    return [tuple(words.letters[code] for code in word) for word in words.words().tolist()]


@pytest.mark.small
@examples(150, small=40)
@given(data=st.data(), width=st.integers(1, 4), bits=st.sampled_from([3, 5, 62]))
def test_words_merge_like_sets(data, width, bits):
    with pytest.MonkeyPatch.context() as patch:
        # Few bits make short words take several keys.
        patch.setattr(vocabularies, "CODES", 1 << bits)
        (a, mine), (b, yours) = data.draw(vocabulary(width)), data.draw(vocabulary(width))
        both, a_place, b_place = a.merge(b)
        assert set(both.letters) == {*a.letters, *b.letters}
        found = spelt(both)
        assert set(found) == mine | yours
        assert len(found) == len(mine | yours)
        assert both.words().tolist() == sorted(both.words().tolist())
        assert [found[i] for i in a_place] == spelt(a)
        assert [found[i] for i in b_place] == spelt(b)
        place = place_in(a, b)
        assert [-1 if word not in mine else spelt(a).index(word) for word in spelt(b)] == place.tolist()
        kept = np.arange(0, len(both), 2)
        assert spelt(both.select(kept)) == found[::2]


@pytest.mark.small
@examples(100, small=30)
@given(st.integers(1, 9), st.integers(1, 80), seeds)
def test_packed_words_sort_as_words_do(base, width, rng):
    words = rng.integers(0, base, (20, width))
    keys = pack(words, base)
    equal(unpack(keys, base, width), words)
    assert keys.min() >= 0
    assert np.lexsort(keys.T[::-1]).tolist() == np.lexsort(words.T[::-1]).tolist()


@pytest.mark.small
@examples(100, small=30)
@given(st.integers(1, 3), st.sampled_from([np.int16, np.int64, float, np.uint8]), seeds)
def test_points_merge_like_sets(width, kind, rng):
    a, b = (Vectors(distinct_rows((rng.integers(0, 3, (n, width)) - (kind is float)).astype(kind))[0]) for n in (9, 6))
    both, a_place, b_place = a.merge(b)
    rows = list(map(tuple, both.rows.tolist()))
    assert set(rows) == set(map(tuple, a.rows.tolist())) | set(map(tuple, b.rows.tolist()))
    assert len(set(rows)) == len(rows)
    equal(both.rows[a_place], a.rows)
    equal(both.rows[b_place], b.rows)
    equal(both.rows, b.merge(a)[0].rows)
    equal(place_in(both, a), a_place)
    equal(place_in(a, both)[a_place], np.arange(len(a)))


@pytest.mark.small
def test_zeros_of_both_signs_are_one_value():
    rows, number = distinct_rows(np.array([[0.0, 1.0], [-0.0, 1.0], [1.0, -0.0], [1.0, 0.0]]))
    assert len(rows) == 2
    assert number[0] == number[1] != number[2] == number[3]
    whole = ds.observe.pairs(np.array([0.0, -0.0, 0.5]), np.array([0.5, 0.5, -0.0]))
    parts = [ds.observe.pairs(np.array([v, 0.5]), np.array([0.5, -0.0])) for v in (0.0, -0.0)]
    assert len(whole.points) == len(parts[0].tally().merge(parts[1].tally()).x) == 2


@pytest.mark.small
@pytest.mark.parametrize("past", [5, 31, 40, 70])
def test_letters_that_come_later_change_no_word(past):
    """More letters make the keys of long words take more columns."""
    rng = np.random.default_rng(past)
    parts = [np.tile(rng.integers(0, base, past + 3), 2) for base in (2, 7, 1, 4)]
    whole = ds.observe.series(parts, past, 2)
    merged = reduce(Tally.merge, [ds.observe.series([part], past, 2).tally() for part in parts])
    same_tally(whole.tally(), merged)
    assert merged.x.words().max() == len(whole.letters) - 1
