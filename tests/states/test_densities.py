"""Counts with back-off against dicts and loops."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.sparse import issparse

import naive_observe as naive
from decisional import Counts, processes
from decisional._kernels import words as kernels
from decisional.data.series import CodedWindows, RankedWindows
from decisional.observe import light_cones, pairs, series
from decisional.states.distributions import Distributions
from strategies_symbols import examples, futures, pasts, sequences


def reading_order(obs, rows):
    """Words of distinct x as tuples of symbols, the most recent one last."""
    return [tuple(obs.letters[code] for code in word[::-1]) for word in obs.words(np.asarray(rows)).tolist()]


def contexts(obs, densities):
    """The suffix that stands for each row."""
    words = reading_order(obs, densities.member)
    return [word[len(word) - depth :] for word, depth in zip(words, densities.depth.tolist(), strict=True)]


def evidence(obs, densities, row):
    entries = slice(densities.start[row], densities.start[row + 1])
    assert (np.diff(densities.outcome[entries]) > 0).all()
    z = [obs.outcomes[k] for k in densities.outcome[entries]]
    return dict(zip(z, densities.count[entries].tolist(), strict=True))


def check(obs, densities, observed, least):
    """Compare densities with the naive back-off of windows (x, z, ...)."""
    expected = naive.back_off(observed, least)
    suffixes = contexts(obs, densities)
    # One row for each suffix in use; in the order of the endings, so that a suffix stands before its extensions.
    assert suffixes == naive.by_ending({suffix for suffix, _ in expected.values()})
    words = reading_order(obs, np.arange(obs.table().n_x))
    assert [suffixes[row] for row in densities.row] == [expected[x][0] for x in words]
    counts = dict(expected.values())
    assert [evidence(obs, densities, row) for row in range(densities.n_rows)] == [counts[s] for s in suffixes]
    assert densities.total.tolist() == [sum(counts[s].values()) for s in suffixes]
    weight = {}
    for x, *_ in observed:
        naive.add(weight, expected[x][0])
    assert densities.weight.tolist() == [weight[s] for s in suffixes]
    assert densities.weight.sum() == obs.n
    assert densities.n_outcomes == len(obs.outcomes)


@pytest.mark.small
@pytest.mark.parametrize("kind", [CodedWindows, RankedWindows])
@examples(100, small=15)
@given(data=sequences(max_sequences=3, max_length=30), past=pasts, future=futures, least=st.integers(1, 40))
def test_rare_words_take_the_counts_of_their_longest_frequent_suffix(kind, data, past, future, least):
    observed = naive.windows(data, past, future)
    assume(observed)
    if future == 1:
        observed = [(x, z[0]) for x, z, *_ in observed]
    obs = kind(series(data, past, future).source, past, future)
    check(obs, Counts(min_count=least).estimate(obs), observed, least)


@pytest.mark.small
@examples(60)
@given(sequences(), pasts, futures)
def test_one_is_the_identity(data, past, future):
    assume(naive.windows(data, past, future))
    obs = series(data, past, future)
    table, densities = obs.table(), Counts(min_count=1).estimate(obs)
    for name in ("start", "outcome", "count", "weight", "n_outcomes"):
        np.testing.assert_array_equal(getattr(densities, name), getattr(table, name))
    for values in (densities.row, densities.member):
        np.testing.assert_array_equal(values, np.arange(table.n_x))
    assert densities.depth.tolist() == [past] * table.n_x
    np.testing.assert_array_equal(densities.total, densities.weight)


@pytest.mark.small
def test_thirty_is_the_default_of_series_only():
    text = "ab" * 40 + "aab" * 9
    obs = series(text, 3)
    observed = [(x, z[0]) for x, z, *_ in naive.windows([list(text)], 3, 1)]
    check(obs, Counts().estimate(obs), observed, 30)
    assert sorted(Counts().estimate(obs).depth) == [1, 2, 3, 3]
    limit = series(["ab"] * 30 + ["cb"] * 29, 1, sequences=True)
    assert contexts(limit, Counts().estimate(limit)) == [(), ("a",)]
    alone = pairs(obs.x, obs.z)
    densities = Counts().estimate(alone)
    assert densities.n_rows == obs.table().n_x
    assert densities.depth.tolist() == [1] * densities.n_rows


@pytest.mark.small
@examples(60)
@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 2)), min_size=1, max_size=60), st.integers(2, 12))
def test_rare_pairs_are_pooled_on_demand(data, least):
    x, z = zip(*data, strict=True)
    obs = pairs(x, z)
    check(obs, Counts(min_count=least).estimate(obs), [((a,), b) for a, b in data], least)


@pytest.mark.small
@pytest.mark.parametrize("value", [0, -3, 1.0, 2.5, True, "30", np.float64(3), [1]])
def test_no_min_count(value):
    obs = series("0110", 1)
    with pytest.raises(
        ValueError, match=r"'min_count' of Counts is .*; it must be an integer from 1 to [0-9]+: try min_count=1"
    ):
        Counts(min_count=value).estimate(obs)


@pytest.mark.small
def test_numpy_integers_are_integers():
    obs = series("01101001100101101001", 3)
    a, b = (Counts(min_count=least).estimate(obs) for least in (4, np.int32(4)))
    np.testing.assert_array_equal(a.count, b.count)
    assert a.n_rows < obs.table().n_x


@pytest.mark.small
def test_overlapping_observations_count_less_with_any_back_off():
    field = processes.elementary_ca(110, 120, 120, rng=0)
    obs = light_cones(field, past=3, future=3)
    rarest = int(obs.table().weight.min())
    found = [Counts(min_count=least).estimate(obs) for least in (rarest, rarest + 1)]
    assert [densities.scale for densities in found] == [1 / obs.overlap] * 2
    assert obs.overlap == 8.0
    assert found[1].depth.min() < obs.past


@pytest.mark.small
def test_probabilities_are_shares_of_the_evidence():
    obs = series("0010010100", 2, 2)
    densities = Counts(min_count=3).estimate(obs)
    assert densities.p.shape == (densities.n_rows, len(obs.outcomes))
    for row in range(densities.n_rows):
        counts = evidence(obs, densities, row)
        shares = [counts.get(z, 0) / sum(counts.values()) for z in obs.outcomes]
        np.testing.assert_array_equal(densities.p[row], shares)


def test_large_probabilities_are_sparse():
    one = np.ones(2, np.int64)
    parts = np.array([0, 1, 3]), np.array([5, 0, 1 << 23]), np.array([2, 1, 3])
    densities = Distributions(*parts, (1 << 23) + 1, one, np.arange(2), np.arange(2), one)
    assert issparse(densities.p)
    assert densities.p[[0], [5]].tolist() == [1.0]
    assert densities.p[[1, 1, 1], [0, 1 << 23, 5]].tolist() == [0.25, 0.75, 0.0]


@pytest.mark.small
def test_arrays_are_protected():
    obs = series("01101001100101101001", 3)
    for least in (1, 4):
        densities = Counts(min_count=least).estimate(obs)
        for name in ("start", "outcome", "count", "weight", "row", "member", "depth", "total"):
            with pytest.raises(ValueError, match="read-only"):
                getattr(densities, name)[0] = 5


@pytest.mark.small
def test_data_without_enough_of_anything_have_one_row():
    obs = series("0110", 2)
    densities = Counts(min_count=100).estimate(obs)
    assert densities.n_rows == 1
    assert densities.depth.tolist() == [0]
    assert evidence(obs, densities, 0) == {"0": 1, "1": 1}


@pytest.mark.small
@examples(100)
@given(
    sequences(max_sequences=1, max_symbols=3, gaps=False),
    st.integers(1, 5),
    st.integers(1, 20),
    st.lists(st.lists(st.integers(-1, 2), min_size=5, max_size=5), min_size=1, max_size=20),
)
def test_longest_common_ending(data, past, least, new):
    """Rows are found for any word; a symbol that was never seen (code -2) ends the comparison."""
    assume(naive.windows(data, past, 1))
    obs = series(data, past)
    densities = Counts(min_count=least).estimate(obs)
    padded = obs.words(densities.member)
    padded[np.arange(past) >= densities.depth[:, None]] = -1
    words = np.array([[-2 if code < 0 or code >= len(obs.letters) else code for code in word[:past]] for word in new])
    low, high, length = (np.full(len(new), -9) for _ in range(3))
    kernels.longest_suffix(words, padded, low, high, length)
    code = obs.letters.index
    known = [tuple(map(code, context)) for context in contexts(obs, densities)]
    for i, word in enumerate(words.tolist()):
        expected = naive.longest_ending(tuple(word[::-1]), known)
        assert (length[i], list(range(low[i], high[i]))) == expected
        whole = [j for j in expected[1] if len(known[j]) == length[i]]
        assert whole in ([], [low[i]])
