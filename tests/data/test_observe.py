"""Observations against dicts and loops, for all kinds of input, any slicing and any executor."""

import enum
import importlib
import pickle
import tracemalloc
from collections import Counter
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import naive_observe as naive
from decisional.data import keys as counting
from decisional.data import sequences as symbols
from decisional.data.series import CodedWindows, RankedWindows
from decisional.observe import pairs, series
from decisional.support import executors
from strategies_symbols import examples, futures, pasts, sequences

# The package's attribute of this name is the function.
module = importlib.import_module("decisional.data.series")


class Pickled(Executor):
    """Sends work away as a cluster does: only what can be pickled arrives, and arrays come back read-only."""

    def submit(self, fn, /, *args, **kwargs):
        function, copies = pickle.loads(pickle.dumps((fn, args)))
        result, future = function(*copies), Future()
        for array in result if isinstance(result, tuple) else (result,):
            array.flags.writeable = False
        future.set_result(result)
        return future


def observe(kind, data, past, future):
    """Observe sequences with one kind of windows; None if there is no window, after checking the refusal."""
    if naive.windows(data, past, future):
        return kind(series(data, past, future).source, past, future)
    reason = "empty" if not any(data) else "All .* missing" if {s for d in data for s in d} == {None} else "no window"
    with pytest.raises(ValueError, match=reason):
        series(data, past, future)
    return None


def as_dicts(obs, table):
    """Return the rows of a table as words in reading order, its counts and its steps as dicts."""
    rows = [tuple(obs.letters[code] for code in word[::-1]) for word in obs.words(np.arange(table.n_x)).tolist()]
    counts = {}
    for i, x in enumerate(rows):
        entries = slice(table.start[i], table.start[i + 1])
        assert (np.diff(table.outcome[entries]) > 0).all()
        z = [obs.outcomes[k] for k in table.outcome[entries]]
        counts[x] = dict(zip(z, table.count[entries].tolist(), strict=True))
    steps = {}
    if table.steps is not None:
        part = table.steps
        for i, symbol, j, n in zip(part.source, part.symbol, part.target, part.count.tolist(), strict=True):
            key = rows[i], obs.alphabet[symbol], rows[j]
            assert key not in steps
            steps[key] = n
    return rows, counts, steps


def check(obs, data, past, future):
    """Compare windows with the naive ones."""
    expected = naive.windows(data, past, future)
    letters = tuple(sorted({s for d in data for s in d if s is not None}))
    assert obs.letters == obs.alphabet == letters
    assert obs.n == len(obs) == len(expected)
    assert obs.shape == (sum(map(len, data)),)
    table = obs.table()
    rows, counts, steps = as_dicts(obs, table)
    wanted = naive.counts(expected)
    if future == 1:
        wanted = {x: {z[0]: n for z, n in row.items()} for x, row in wanted.items()}
        assert tuple(obs.outcomes) == letters
    else:
        assert list(obs.outcomes) == sorted({z for _, z, *_ in expected})
    assert table.n_outcomes == len(obs.outcomes)
    assert rows == naive.by_ending(wanted)
    assert counts == wanted
    assert table.weight.tolist() == [sum(wanted[x].values()) for x in rows]
    assert table.shared.tolist() == [0] + [naive.common_ending(a, b) for a, b in pairwise(rows)]
    assert steps == naive.steps(expected)
    assert [rows[i] for i in obs.x] == [x for x, *_ in expected]
    z = [obs.outcomes[k] for k in obs.z]
    assert z == [z[0] if future == 1 else z for _, z, *_ in expected]
    assert [letters[k] for k in obs.symbol] == [symbol for _, _, symbol, *_ in expected]
    assert obs.site.tolist() == [site for *_, site, _ in expected]
    assert obs.successor.tolist() == [successor for *_, successor in expected]


def same_table(a, b):
    for name in ("start", "outcome", "count", "shared"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name))
    assert a.n_outcomes == b.n_outcomes
    assert step_rows(a.steps) == step_rows(b.steps)


def step_rows(steps):
    columns = steps.source, steps.symbol, steps.target, steps.count
    return sorted(zip(*(column.tolist() for column in columns), strict=True))


def same(a, b):
    """Compare two observations in all but their letters."""
    assert (a.n, a.past, len(a.letters)) == (b.n, b.past, len(b.letters))
    same_table(a.table(), b.table())
    rows = np.arange(a.table().n_x)
    np.testing.assert_array_equal(a.words(rows), b.words(rows))
    for name in ("x", "z", "symbol", "site", "successor"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name))


# ------------------------------------------------------------------------------------------------- windows


@pytest.mark.small
@pytest.mark.parametrize("kind", [CodedWindows, RankedWindows])
@examples(150)
@given(data=sequences(), past=pasts, future=futures)
def test_windows_are_the_naive_ones(kind, data, past, future):
    obs = observe(kind, data, past, future)
    if obs is not None:
        check(obs, data, past, future)


@examples(60)
@given(sequences(), pasts, futures)
def test_ranked_windows_are_the_coded_ones(data, past, future):
    coded = observe(CodedWindows, data, past, future)
    if coded is not None:
        ranked = RankedWindows(coded.source, past, future)
        same(coded, ranked)
        assert list(coded.outcomes) == list(ranked.outcomes)


@examples(40)
@given(sequences(max_symbols=2, max_length=60), st.integers(62, 130), futures)
def test_long_words_are_ranked(data, past, future):
    data.append([0, 1] * 100)
    obs = series(data, past, future)
    assert isinstance(obs, RankedWindows)
    check(obs, data, past, future)


@pytest.mark.small
def test_the_kind_of_windows_follows_from_the_bits_of_a_word():
    assert isinstance(series("01" * 40, past=60), CodedWindows)
    assert isinstance(series("01" * 40, past=61), RankedWindows)
    assert isinstance(series([0] * 300, past=200, future=2), CodedWindows)
    for kind in (CodedWindows, RankedWindows):
        data = [[0, 1, 1] * 25]
        check(kind(series(data, 60).source, 60, 1), data, 60, 1)
        check(kind(series(data, 30).source, 30, 31), data, 30, 31)


@examples(100)
@given(sequences(), pasts, futures)
def test_dense_and_hashed_counts_agree(data, past, future):
    obs = observe(CodedWindows, data, past, future)
    assume(obs is not None)
    assume(obs.base ** (past + future) <= 1 << 18)
    size = obs.base**past, obs.base**future, None
    for dense, hashed in zip(obs._count_dense(*size), obs._count_hashed(*size), strict=True):
        np.testing.assert_array_equal(dense, hashed)


@pytest.mark.small
@pytest.mark.parametrize("kind", [CodedWindows, RankedWindows])
@examples(80)
@given(data=sequences(), past=pasts, future=futures, parts=st.integers(2, 9), block=st.integers(1, 50))
def test_any_slicing_gives_the_same(kind, data, past, future, parts, block):
    whole = observe(kind, data, past, future)
    if whole is None:
        return
    whole.table()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(executors, "SMALL", 0)
        patch.setattr(executors, "workers", lambda: parts)
        patch.setattr(module, "BLOCK", block)
        sliced = kind(series(data, past, future).source, past, future)
        same(whole, sliced)
        if kind is CodedWindows and sliced.base ** (past + future) <= 1 << 16:
            hashed = sliced._count_hashed(sliced.base**past, sliced.base**future, None)
            dense = whole._count_dense(sliced.base**past, sliced.base**future, None)
            for a, b in zip(hashed, dense, strict=True):
                np.testing.assert_array_equal(a, b)


@pytest.mark.small
@pytest.mark.parametrize("dense", [True, False])
@examples(30, small=10)
@given(data=sequences(max_symbols=3), past=st.integers(1, 6), parts=st.integers(1, 5))
def test_any_executor_gives_the_same(dense, data, past, parts):
    whole = observe(CodedWindows, data, past, 1)
    if whole is None:
        return
    count = "_count_dense" if dense else "_count_hashed"
    size = whole.base**past, whole.base
    expected = getattr(whole, count)(*size, None)
    with pytest.MonkeyPatch.context() as patch, ThreadPoolExecutor(2) as threads:
        patch.setattr(executors, "SMALL", 0)
        patch.setattr(executors, "workers", lambda: parts)
        for executor in (threads, Pickled()):
            for a, b in zip(expected, getattr(whole, count)(*size, executor), strict=True):
                np.testing.assert_array_equal(a, b)
            same_table(whole.table(), series(data, past).table(executor))
            linked = [pairs(whole.x, whole.z, whole.symbol, whole.successor) for _ in range(2)]
            same_table(linked[0].table(), linked[1].table(executor))


@examples(100)
@given(sequences(), pasts, futures)
def test_steps_are_the_successors_and_the_last_windows_that_lead_to_a_row(data, past, future):
    """A series counts every window that leads to an x seen with a whole z, whether it has a successor or not."""
    obs = observe(CodedWindows, data, past, future)
    if obs is None:
        return
    observed = naive.windows(data, past, future)
    known = naive.counts(observed)
    surplus = Counter(as_dicts(obs, obs.table())[2])
    surplus.subtract(naive.followed_steps(observed))
    last = ((x, symbol, (*x[1:], symbol)) for x, _, symbol, _, successor in observed if successor < 0)
    assert {step: n for step, n in surplus.items() if n} == Counter(step for step in last if step[2] in known)


@pytest.mark.small
@examples(60)
@given(sequences(max_sequences=3, gaps=False), pasts, futures)
def test_sequences_and_gaps_are_never_crossed(data, past, future):
    """Sequences apart, sequences joined by a missing symbol, and each sequence alone: the same windows."""
    joined = [symbol for sequence in data for symbol in (*sequence, None)][:-1]
    apart = observe(CodedWindows, data, past, future)
    if apart is None:
        return
    together = series(joined, past, future)
    rows, *dicts = as_dicts(apart, apart.table())
    assert (rows, *dicts) == as_dicts(together, together.table())
    np.testing.assert_array_equal(apart.successor, together.successor)
    alone = Counter()
    for sequence in data:
        if naive.windows([sequence], past, future):
            one = series(sequence, past, future)
            for x, row in as_dicts(one, one.table())[1].items():
                alone.update({(x, z): n for z, n in row.items()})
    assert alone == Counter({(x, z): n for x, row in dicts[0].items() for z, n in row.items()})


@pytest.mark.small
@pytest.mark.parametrize("kind", [CodedWindows, RankedWindows])
@pytest.mark.parametrize(("past", "future"), [(1, 1), (3, 1), (2, 3)])
def test_just_one_window(kind, past, future):
    data = [[0, 1, 2, 1, 0][: past + future]]
    obs = observe(kind, data, past, future)
    check(obs, data, past, future)
    assert obs.n == 1
    assert obs.successor.tolist() == [-1]
    with pytest.raises(ValueError, match=rf"past \+ future = {past + future + 1} symbols in a row \(the longest"):
        series(data, past + 1, future)


@pytest.mark.small
@pytest.mark.parametrize("kind", [CodedWindows, RankedWindows])
@pytest.mark.parametrize("past", [1, 5, 100])
def test_one_symbol(kind, past):
    data = [["a"] * 150, ["a"] * 40, ["a", None]]
    obs = observe(kind, data, past, 2)
    assert obs.letters == ("a",)
    assert obs.outcomes == ["aa"]
    assert obs.table().weight.tolist() == [obs.n]
    assert step_rows(obs.table().steps) == [(0, 0, 0, obs.n)]


@pytest.mark.small
def test_arrays_are_protected():
    for kind in (CodedWindows, RankedWindows):
        obs = kind(series("0110100110010110", 3).source, 3, 1)
        table = obs.table()
        arrays = [obs.x, obs.z, obs.symbol, obs.site, obs.successor, table.start, table.outcome, table.count]
        for array in [*arrays, table.shared, table.weight, table.steps.count]:
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 7
        assert obs.table() is table


# --------------------------------------------------------------------------------------------------- input

CODES = [0, 1, 1, 0, 1, None, 1, 1, 0, 0, 1, 0, 1, 1, 1, 0, 2, 0, 1, 1, 0, 2, 2, None, None, 0, 1, 0, 1]
WHOLE = [code for code in CODES if code is not None]


class Series:
    """What pandas and others offer."""

    def __init__(self, values):
        self.values = values

    def to_numpy(self):
        return np.array(self.values)


class NotAvailable:
    """As pandas.NA: neither equal to itself nor different from itself."""

    def __eq__(self, other):
        return self

    __ne__ = __eq__

    def __hash__(self):
        return 1

    def __bool__(self):
        raise TypeError("boolean value of NA is ambiguous")


class Weather(enum.Enum):
    DRY = 0
    WET = 1
    SNOW = 2


class Level(enum.IntEnum):
    LOW = 0
    MIDDLE = 1
    HIGH = 2


def relabelled(codes, letters, missing=None):
    return [missing if code is None else letters[code] for code in codes]


def memory_map(tmp_path, dtype):
    path = tmp_path / "symbols"
    np.array(WHOLE, dtype).tofile(path)
    return np.memmap(path, dtype, mode="r")


WITHOUT_GAPS = {
    "str": ("".join(map(str, WHOLE)), ("0", "1", "2")),
    "bytes": ("".join(map(str, WHOLE)).encode(), ("0", "1", "2")),
    "bytearray": (bytearray(WHOLE), ("\x00", "\x01", "\x02")),
    "list of str": (list("".join(map(str, WHOLE))), ("0", "1", "2")),
    "tuple of int": (tuple(WHOLE), (0, 1, 2)),
    "generator": ((code for code in WHOLE), (0, 1, 2)),
    "NumPy integers": ([np.int16(code) for code in WHOLE], (0, 1, 2)),
    "integers of both": ([np.uint8(code) if i % 2 else code for i, code in enumerate(WHOLE)], (0, 1, 2)),
    "NumPy str": ([np.str_(code) for code in WHOLE], ("0", "1", "2")),
    "array of str": (np.array(list(map(str, WHOLE))), ("0", "1", "2")),
    "object array": (np.array([*relabelled(WHOLE, [2.5, "a", (1,)]), None], object)[:-1], (2.5, "a", (1,))),
    "floats": ([float(code) for code in WHOLE], (0, 1, 2)),
    "half floats": (np.array(WHOLE, np.float16) / 2, (0.0, 0.5, 1.0)),
    "big-endian": (np.array(relabelled(WHOLE, [-7, 0, 7]), ">i4"), (-7, 0, 7)),
    "every other": (np.repeat(np.array(WHOLE, np.uint8), 2)[::2], (0, 1, 2)),
    "far apart": (np.array(relabelled(WHOLE, [-(2**62), 0, 2**62])), (-(2**62), 0, 2**62)),
    "unsigned 64": (np.array(WHOLE, np.uint64) + np.uint64(2**63), (2**63, 2**63 + 1, 2**63 + 2)),
    "beyond 64": (relabelled(WHOLE, [-(2**70), 2**70, 2**70 + 1]), (-(2**70), 2**70, 2**70 + 1)),
    "around 64": (relabelled(WHOLE, [-1, 2**63, 2**63 + 1]), (-1, 2**63, 2**63 + 1)),
    "all of int8": (np.array(relabelled(WHOLE, [-128, 0, 127]), np.int8), (-128, 0, 127)),
    "all of int16": (np.array(relabelled(WHOLE, [-(2**15), 0, 2**15 - 1]), np.int16), (-(2**15), 0, 2**15 - 1)),
    "tuples": (relabelled(WHOLE, [(0, 0), (0, 1), (1, 0)]), ((0, 0), (0, 1), (1, 0))),
    "fractions": (relabelled(WHOLE, [Fraction(n, 3) for n in (1, 2, 3)]), tuple(Fraction(n, 3) for n in (1, 2, 3))),
    "words": (relabelled(WHOLE, ["dry", "snow", "wet"]), ("dry", "snow", "wet")),
    "NUL": (relabelled(WHOLE, ["a", "a\0", "b"]), ("a", "a\0", "b")),
    "Greek": ("".join(relabelled(WHOLE, "αβω")), ("α", "β", "ω")),
    "latin": ("".join(relabelled(WHOLE, "aéü")), ("a", "é", "ü")),
    "emoji": ("".join(relabelled(WHOLE, "a\ud800😀")), ("a", "\ud800", "😀")),
    "bytes above 127": (bytes(relabelled(WHOLE, [7, 128, 255])), ("\x07", "\x80", "\xff")),
    "enumeration": (relabelled(WHOLE, [Weather.DRY, Weather.SNOW, Weather.WET]), None),
    "integer enumeration": (relabelled(WHOLE, list(Level)), tuple(Level)),
    "incomparable": (relabelled(WHOLE, [2.5, 3, "a"]), None),
    "array-like": (Series(WHOLE), (0, 1, 2)),
    "list of one array-like": ([Series(WHOLE)], (0, 1, 2)),
    "one row": (np.array([WHOLE]), (0, 1, 2)),
    "one list": ([WHOLE], (0, 1, 2)),
    "one string": (["".join(map(str, WHOLE))], ("0", "1", "2")),
    "datetimes": (np.array(WHOLE, "datetime64[D]"), None),
    "complex": (np.array(WHOLE) * 1j, None),
}  # fmt: skip


@pytest.mark.small
@pytest.mark.parametrize("name", WITHOUT_GAPS)
def test_kinds_of_symbols(name):
    data, letters = WITHOUT_GAPS[name]
    obs = series(data, 2, 2)
    same(obs, series(np.array(WHOLE), 2, 2))
    if letters is not None:
        assert obs.letters == letters
        assert [type(a) for a in obs.letters] == [type(a) for a in letters]


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32", "int64", "uint64", "float32", ">u2"])
def test_kinds_of_arrays_and_memory_maps(tmp_path, dtype):
    expected = series(WHOLE, 3)
    for array in (np.array(WHOLE, dtype), memory_map(tmp_path, dtype), np.array([WHOLE], dtype).T[:, 0]):
        obs = series(array, 3)
        same(obs, expected)
        assert obs.letters == (0, 1, 2)
        assert all(type(letter) is int for letter in obs.letters)


@pytest.mark.small
def test_bytes_are_not_copied():
    for data in (np.array(WHOLE, np.uint8), np.array(WHOLE, bool), np.frombuffer(b"0110", np.uint8)):
        assert np.shares_memory(series(data, 1).source.raw, data)


@pytest.mark.small
@pytest.mark.parametrize(
    "data", [np.array([0, 1, 1, 0, 1], bool), [False, True, True, False, True], [0, True, 1, 0, 1]]
)
def test_truth_values_are_0_and_1(data):
    obs = series(data, 1)
    same(obs, series([0, 1, 1, 0, 1], 1))
    assert repr(obs.letters) == "(0, 1)"


FLAGS = [code is None for code in CODES]
FILLED = [7 if code is None else code for code in CODES]
WITH_GAPS = {
    "None": (CODES, None),
    "NaN in a list": (relabelled(CODES, [0, 1, 2], float("nan")), None),
    "NaN in an array": (np.array(relabelled(CODES, [0, 1, 2], np.nan), np.float32), None),
    "objects": (np.array(relabelled(CODES, ["0", "1", "2"]), object), None),
    "NaN among words": (relabelled(CODES, ["0", "1", "2"], float("nan")), None),
    "not available": (relabelled(CODES, ["0", "1", "2"], NotAvailable()), None),
    "mark": (FILLED, 7),
    "mark in an array": (np.array(FILLED, np.int8), 7),
    "mark in bytes": ("".join(map(str, FILLED)).encode(), "7"),
    "mark as bytes": ("".join(map(str, FILLED)).encode(), b"7"),
    "mark in text": ("".join(relabelled(CODES, "αβγ", "-")), "-"),
    "NaT": (np.array(relabelled(CODES, [0, 1, 2], "NaT"), "datetime64[D]"), None),
    "tuple": (relabelled(CODES, [(0,), (1,), (2,)], ()), ()),
    "masked": (np.ma.masked_array(np.array(FILLED), FLAGS), None),
    "masked bytes": (np.ma.masked_array(np.array(FILLED, np.uint8), FLAGS), None),
    "masked floats": (np.ma.masked_array(np.array(FILLED, float), FLAGS), None),
    "masked by a value": (np.ma.masked_equal(FILLED, 7), None),
    "masked str": (np.ma.masked_array(list(map(str, FILLED)), FLAGS), None),
    "masked row": (np.ma.masked_array([FILLED], [FLAGS]), None),
    "list of one masked": ([np.ma.masked_array(FILLED, FLAGS)], None),
    "array-like with NaN": (Series(relabelled(CODES, [0, 1, 2], np.nan)), None),
}


@pytest.mark.small
@pytest.mark.parametrize("name", WITH_GAPS)
def test_kinds_of_missing_symbols(name):
    data, missing = WITH_GAPS[name]
    expected = series(CODES, 2)
    check(expected, [CODES], 2, 1)
    obs = series(data, 2, missing=missing)
    same(obs, expected)
    assert obs.source.has_gaps
    assert not series(WHOLE, 2, missing=missing).source.has_gaps


@pytest.mark.small
def test_masked_floats_are_whole_numbers_too():
    assert repr(series(np.ma.masked_array([1.0, 2.0, 9.5, 1.0], [0, 0, 1, 0]), 1).letters) == "(1, 2)"
    assert repr(series(np.ma.masked_array([True, False, True], [0, 0, 0]), 1).letters) == "(0, 1)"


@pytest.mark.small
def test_mark_is_compared_by_value_and_the_others_still_hold():
    obs = series([0, 1, None, float("nan"), -1, 0, 1, 1, 1.0], 1, missing=-1)
    assert obs.letters == (0, 1)
    assert obs.site.tolist() == [0, 5, 6, 7]


THREE = [[0, 1, 1, 0], [1, 1, 0, 1], [0, 1, 0, 0]]
SEVERAL = {
    "lists": THREE,
    "tuples": [tuple(row) for row in THREE],
    "a tuple of lists": tuple(THREE),
    "arrays": [np.array(row) for row in THREE],
    "arrays of different kinds": [np.array(THREE[0], np.int8), np.array(THREE[1], bool), np.array(THREE[2], np.uint64)],
    "arrays that have no common integers": [np.array(row, d) for row, d in zip(THREE, ["i8", "u8", "i8"], strict=True)],
    "floats": [np.array(row, float) for row in THREE],
    "arrays and lists": [np.array(THREE[0]), *THREE[1:]],
    "array-likes": [Series(row) for row in THREE],
    "two dimensions": np.array(THREE),
    "columns": np.array(THREE, np.uint8, order="F"),
    "two-dimensional floats": np.array(THREE, float),
    "strings": ["".join(map(str, row)) for row in THREE],
    "bytes": [bytes(row) for row in THREE],
    "arrays of str": [np.array(list(map(str, row))) for row in THREE],
    "masked": [np.ma.masked_array(row, [0] * 4) for row in THREE],
    "object array": np.array(THREE, object),
    "empty ones": [[], THREE[0], [], [], *THREE[1:], []],
    "empty arrays": [np.array([]), *(np.array(row) for row in THREE)],
}  # fmt: skip


@pytest.mark.small
@pytest.mark.parametrize("name", SEVERAL)
def test_several_sequences(name):
    obs = series(SEVERAL[name], 2)
    expected = series(THREE, 2)
    check(expected, THREE, 2, 1)
    same(obs, expected)


@pytest.mark.small
def test_masks_of_several_sequences_are_kept():
    data = [[0, 1, None, 0, 1, 1], [None, 1, 0, 1, 1, None]]
    flags = [[code is None for code in row] for row in data]
    filled = [[1 if code is None else code for code in row] for row in data]
    expected = series(data, 1)
    check(expected, data, 1, 1)
    same(series(np.ma.masked_array(filled, flags), 1), expected)
    same(series([np.ma.masked_array(*row) for row in zip(filled, flags, strict=True)], 1), expected)
    same(series([np.ma.masked_array(filled[0], flags[0]), data[1]], 1), expected)


@pytest.mark.small
def test_large_integers_of_several_arrays_stay_exact():
    obs = series([np.array([-1, 5, -1]), np.array([2**63, 2**63 + 1, 2**63], np.uint64)], 1)
    assert obs.letters == (-1, 5, 2**63, 2**63 + 1)


@pytest.mark.small
def test_two_dimensions_keep_their_shape():
    obs = series(np.array(THREE), 2)
    assert obs.shape == (3, 4)
    field = obs.field(np.arange(obs.n))
    nan = np.nan
    np.testing.assert_array_equal(field, [[nan, 0, 1, nan], [nan, 2, 3, nan], [nan, 4, 5, nan]])


@pytest.mark.small
def test_strings_are_sequences_or_symbols():
    assert series(["0110", "1001"], 1).letters == ("0", "1")
    assert series(["up", "down", "up", "up"], 1).letters == ("down", "up")
    assert series(["up", "down", "up"], 1).letters == tuple("dnopuw")
    assert series(["up", "down", "up"], 1, sequences=False).letters == ("down", "up")
    assert series(["up", "down", "up", "up"], 1, sequences=True).letters == tuple("dnopuw")
    assert series(["a", "bc", "de"], 1).letters == ("a", "bc", "de")
    assert series([(0, 1), (1, 1)], 1).letters == (0, 1)
    assert series([(0, 1), (1, 1)], 1, sequences=False).letters == ((0, 1), (1, 1))
    assert series([(0, 1), (1, 1), (0, 1), (0, 1)], 1).letters == ((0, 1), (1, 1))
    assert series([b"ab", b"ab"], 1).letters == ("a", "b")
    assert series([b"ab", b"ab"], 1, sequences=False).letters == (b"ab",)
    assert series([0, 1, 1], 1, sequences=True).n == 2


@pytest.mark.small
def test_letters_that_cannot_be_sorted_have_an_order_of_their_own():
    letters = [1, "b", None, 2.5, "a", (1, 2), frozenset(), 1 + 2j]
    forwards, backwards = series(letters * 2, 1), series(letters[::-1] * 2, 1)
    assert forwards.letters == backwards.letters
    assert set(forwards.letters) == set(letters) - {None}
    data = relabelled(WHOLE, [2, "1", (0,)])
    shown = [series(data, 2).letters.index(symbol) for symbol in data]
    same(series(data, 2), series(shown, 2))


@pytest.mark.parametrize(("size", "raw"), [(256, np.uint8), (257, np.uint16), (65_536, np.uint16), (65_537, np.int64)])
def test_alphabets_of_any_size(size, raw):
    rng = np.random.default_rng(0)
    codes = np.concatenate([rng.permutation(size), rng.permutation(size)[:500]])
    for data in (codes, codes * 1000 - 7, [f"{code:06d}" for code in codes], codes.astype(float)):
        obs = series(data, 2, sequences=False)
        assert obs.source.raw.dtype == raw
        assert len(obs.letters) == size
        np.testing.assert_array_equal(obs.words(obs.x)[:, ::-1], np.column_stack([codes[:-2], codes[1:-1]]))
        np.testing.assert_array_equal(obs.z, codes[2:])
        assert obs.table().n_outcomes == size
    same(obs, RankedWindows(obs.source, 2, 1))


@examples(60)
@given(st.lists(st.text(max_size=2) | st.binary(max_size=2) | st.integers() | st.floats() | st.none(), min_size=2))
def test_any_hashable_is_a_symbol(data):
    """Symbols are the same where Python says so; a tuple among them keeps strings from being sequences."""
    data = [*data, (1,), None, (1,), (1,)]
    observed = naive.windows([[None if symbol != symbol else symbol for symbol in data]], 1, 1)
    obs = series(iter(data), 1)
    assert [(obs.letters[i],) for i in obs.words(obs.x)[:, 0]] == [x for x, *_ in observed]
    assert [(obs.outcomes[i],) for i in obs.z] == [z for _, z, *_ in observed]
    assert len(set(obs.letters)) == len(obs.letters)


# -------------------------------------------------------------------------------------------------- errors

NO_SERIES = {
    "empty text": ("", ValueError, "The 'symbols' are empty; a series needs at least one symbol: check the input."),
    "empty list": ([], ValueError, "are empty"),
    "empty array": (np.array([]), ValueError, "are empty"),
    "no rows": (np.empty((0, 4), int), ValueError, "are empty"),
    "empty rows": (np.empty((4, 0), int), ValueError, "are empty"),
    "empty lists": ([[], []], ValueError, "are empty"),
    "all missing": ([None, None, None], ValueError, "All 3 'symbols' are missing; .* check 'missing'"),
    "all NaN": (np.full(4, np.nan), ValueError, "All 4 'symbols' are missing"),
    "all masked": (np.ma.masked_all(4, int), ValueError, "All 4 'symbols' are missing"),
    "too short": ("01", ValueError, r"no window of past \+ future = 3 symbols in a row \(the longest sequence has 2"),
    "too short each": ([[0, 1], [1, 0], [0]], ValueError, "longest sequence has 2, gaps included"),
    "too many gaps": ([0, 1, None, 1, 0, None], ValueError, "longest sequence has 6, gaps included"),
    "three dimensions": (np.zeros((2, 2, 2), int), ValueError, "has 3 dimensions; .*one series at a time"),
    "no dimension": (np.array(1), ValueError, "has 0 dimensions"),
    "list of fields": ([np.zeros((2, 2), int)] * 2, ValueError, "list holds an array of 2 dimensions"),
    "list of scalars": ([np.array(1)] * 5, ValueError, "list holds an array of 0 dimensions"),
    "continuous": (np.linspace(0, 1, 50), ValueError, "floats with 50 distinct values in 50; .* numpy.digitize"),
    "continuous list": ([0.5, 0.25, 0.125], ValueError, "bin the values first"),
    "masked continuous": (np.ma.masked_array(np.linspace(0, 1, 50), [False] * 50), ValueError, "bin the values first"),
    "sets": ([{1}, {2}], TypeError, r"cannot be counted \(.*unhashable.*\); values must be hashable"),
    "lists and numbers": ([[0, 1], 1], TypeError, "give a list of sequences only"),
    "tuples of lists": ([([0], 1), ([1], 0)], TypeError, "values must be hashable"),
    "number": (5, TypeError, "The 'symbols' are of type int; a series is a str, bytes"),
    "NumPy number": (np.float64(5), TypeError, "The 'symbols' are of type float64; a series is"),
    "nothing": (None, TypeError, "The 'symbols' are of type NoneType"),
}


@pytest.mark.small
@pytest.mark.parametrize("name", NO_SERIES)
def test_no_series(name):
    data, error, text = NO_SERIES[name]
    with pytest.raises(error, match=text) as caught:
        series(data, 2)
    assert "\n" not in str(caught.value)
    assert str(caught.value).endswith(".")


@pytest.mark.small
@pytest.mark.parametrize("name", ["past", "future"])
@pytest.mark.parametrize("value", [0, -1, 1.5, 2.0, True, "3", None, np.bool_(True), [1]])
def test_no_length(name, value):
    with pytest.raises(ValueError, match=f"The '{name}' of series is .*; it must be an integer of at least 1: "):
        series("0110", **{"past": 1, "future": 1, name: value})


@pytest.mark.small
@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int64])
def test_numpy_lengths(kind):
    obs = series([0, 1] * 150, kind(120), kind(100))
    same(obs, series([0, 1] * 150, 120, 100))
    assert type(obs.past) is int


# --------------------------------------------------------------------------------------------------- pairs


@st.composite
def linked_pairs(draw):
    n = draw(st.integers(1, 40))
    columns = [draw(st.lists(st.sampled_from([0, 1, 2, None]), min_size=n, max_size=n)) for _ in range(3)]
    return *columns, draw(st.lists(st.integers(-1, n - 1), min_size=n, max_size=n))


def naive_pairs(x, z, symbols, successors):
    """Counts and steps of pairs with missing values."""
    counts, steps = {}, {}
    for a, b in zip(x, z, strict=True):
        if a is not None and b is not None:
            naive.add(counts.setdefault((a,), {}), b)
    for i, j in enumerate(successors):
        if j >= 0 and None not in (x[i], z[i], x[j], z[j], symbols[i]):
            naive.add(steps, ((x[i],), symbols[i], (x[j],)))
    return counts, steps


@pytest.mark.small
@examples(150)
@given(linked_pairs(), st.booleans())
def test_pairs_are_counted_as_they_are(columns, given_successors):
    x, z, symbols_, successors = columns
    n = len(x)
    complete = [i for i in range(n) if x[i] is not None and z[i] is not None]
    if not complete:
        with pytest.raises(ValueError, match=f"no complete pair among {n}"):
            pairs(x, z)
        return
    if given_successors:
        obs = pairs(x, z, symbols_, successors)
    else:
        successors = [*range(1, n), -1]
        obs = pairs(x, z, symbols_[:-1], None)
    rows, counts, steps = as_dicts(obs, obs.table())
    assert (counts, steps) == naive_pairs(x, z, symbols_, successors)
    assert rows == sorted(rows)
    assert obs.site.tolist() == complete
    assert (obs.n, obs.past, obs.shape, obs.has_suffixes) == (len(complete), 1, (n,), False)
    assert [rows[i][0] for i in obs.x] == [x[i] for i in complete]
    assert [obs.outcomes[k] for k in obs.z] == [z[i] for i in complete]
    for i, symbol, successor in zip(complete, obs.symbol, obs.successor, strict=True):
        j = successors[i]
        if j >= 0 and j in complete and symbols_[i] is not None:
            assert complete[successor] == j
            assert obs.alphabet[symbol] == symbols_[i]
        else:
            assert successor == -1
    assert obs.table().shared.tolist() == [0] * len(rows)
    alone = pairs(x, z)
    assert alone.symbol is alone.successor is alone.alphabet is alone.table().steps is None
    assert as_dicts(alone, alone.table())[1] == counts


@pytest.mark.small
def test_symbols_of_every_pair_or_of_every_step():
    x, z = [0, 1, 0, 1], [5, 6, 5, 5]
    short, long = pairs(x, z, ["a", "b", "a"]), pairs(x, z, ["a", "b", "a", "c"])
    assert short.successor.tolist() == long.successor.tolist() == [1, 2, 3, -1]
    assert step_rows(short.table().steps) == step_rows(long.table().steps) == [(0, 0, 1, 2), (1, 1, 0, 1)]
    assert (short.alphabet, long.alphabet) == (("a", "b"), ("a", "b", "c"))
    single = pairs([3], [4], symbols=[])
    assert step_rows(single.table().steps) == []
    assert single.successor.tolist() == [-1]


ROWS = [[1, 0], [0, 2], [1, 0], [0, 1]]
TWO_COLUMNS = {
    "lists": ROWS,
    "tuples": [tuple(row) for row in ROWS],
    "array": np.array(ROWS, np.uint8),
    "floats": np.array(ROWS, float),
    "list of arrays": [np.array(row) for row in ROWS],
    "array-like": Series(ROWS),
    "masked": np.ma.masked_array(ROWS, np.zeros((4, 2))),
}


@pytest.mark.small
@pytest.mark.parametrize("name", TWO_COLUMNS)
def test_pairs_of_rows(name):
    obs = pairs(TWO_COLUMNS[name], ["a", "b", "b", "b"])
    assert obs.letters == ((0, 1), (0, 2), (1, 0))
    assert obs.x.tolist() == [2, 1, 2, 0]
    assert obs.words(np.arange(3)).tolist() == [[0], [1], [2]]
    assert obs.table().count.tolist() == [1, 1, 1, 1]
    assert obs.table().start.tolist() == [0, 1, 2, 4]
    assert pairs(obs.x, TWO_COLUMNS[name]).outcomes == list(obs.letters)


@pytest.mark.small
@pytest.mark.parametrize(
    "x",
    [
        [[0, 1], [np.nan, 1], [0, 1]],
        np.array([[0, 1], [0, np.nan], [0, 1]]),
        np.ma.masked_array([[0, 1], [9, 1], [0, 1]], [[0, 0], [1, 0], [0, 0]]),
        np.ma.masked_array([3, 4, 3], [0, 1, 0]),
        np.ma.masked_array(["a", "b", "a"], [0, 1, 0]),
        np.array([3, np.nan, 3]),
        [3, None, 3],
        ["a", float("nan"), "a"],
        ["a", NotAvailable(), "a"],
        np.array(["a", None, "a"], object),
    ],
)
def test_missing_pairs_are_left_out(x):
    obs = pairs(x, [1, 2, 3], [0, 0, 0])
    assert obs.site.tolist() == [0, 2]
    assert obs.x.tolist() == [0, 0]
    assert obs.successor.tolist() == [-1, -1]
    assert pairs([1, 2, 3], x).site.tolist() == [0, 2]
    np.testing.assert_array_equal(obs.field([5, 6]), [5, np.nan, 6])


@pytest.mark.small
def test_values_of_pairs_stay_what_they_are():
    assert pairs([2**63, -1, 2**63 + 1], [0, 0, 0]).letters == (-1, 2**63, 2**63 + 1)
    assert pairs(["a\0", "a", "b"], [0, 0, 0]).letters == ("a", "a\0", "b")
    assert pairs("abb", [0, 0, 0]).letters == ("a", "b")
    assert pairs(["a", 1, (2, 3)], [0, 0, 0]).letters == (1, "a", (2, 3))
    assert repr(pairs([np.int8(1), "a"], [0, 0]).letters) == "(1, 'a')"
    assert repr(pairs(np.array([True, False]), np.array([0.5, 1.5])).outcomes) == "[0.5, 1.5]"


NO_PAIRS = {
    "lengths": (([0, 1], [0]), ValueError, "The 'z' have 1 values and 'x' has 2; pairs need one z for each x"),
    "successors alone": (([0, 1], [0, 1], None, [1, -1]), ValueError, "'successors' are given without 'symbols'"),
    "nothing": (([], []), ValueError, "no complete pair among 0"),
    "no pair": (([None, 1], [1, None]), ValueError, "no complete pair among 2"),
    "symbols": (([0, 1, 1], [0, 1, 1], [0]), ValueError, "The 'symbols' have 1 values for 3 pairs; .* give 3 or 2"),
    "successors": (([0, 1], [0, 1], [0, 1], [1, 2]), ValueError, r"must be 2 indices from -1 \(none\) to 1"),
    "negative": (([0, 1], [0, 1], [0, 1], [-2, 0]), ValueError, "must be 2 indices"),
    "fractional": (([0, 1], [0, 1], [0, 1], [0.0, 1.0]), ValueError, "type float64 instead"),
    "few": (([0, 1], [0, 1], [0, 1], [1]), ValueError, r"shape \(1,\)"),
    "cube": ((np.zeros((2, 2, 2)), [0, 1]), ValueError, r"The 'x' have shape \(2, 2, 2\)"),
    "number": (([0, 1], 5), ValueError, r"The 'z' have shape \(\); they must be one value"),
    "rows of words": ((np.array([["a", "b"]]), [0]), ValueError, "one row of numbers per pair"),
    "unhashable": (([{1}, {2}], [0, 1]), TypeError, "The 'x' hold a value that cannot be counted .*; values must be"),
    "ragged": (([0, 1], [[1, 2], [1]]), TypeError, "The 'z' hold a value that cannot be counted"),
    "unhashable symbols": (([0, 1], [0, 1], [[], {}]), TypeError, "The 'symbols' hold a value"),
}


@pytest.mark.small
@pytest.mark.parametrize("name", NO_PAIRS)
def test_no_pairs(name):
    arguments, error, text = NO_PAIRS[name]
    with pytest.raises(error, match=text) as caught:
        pairs(*arguments)
    assert "\n" not in str(caught.value)
    assert str(caught.value).endswith(".")


# --------------------------------------------------------------------------------------------------- field


@pytest.mark.small
@examples(60)
@given(sequences(max_sequences=3, max_length=15), st.integers(1, 3), st.integers(0, 3))
def test_field_puts_values_back(data, past, columns):
    obs = observe(CodedWindows, data, past, 1)
    if obs is None:
        return
    rng = np.random.default_rng(obs.n)
    for values in (rng.normal(size=obs.n), rng.normal(size=(obs.n, columns)).astype(np.float32)):
        field = obs.field(values)
        assert field.shape == (*obs.shape, *values.shape[1:])
        assert field.dtype == values.dtype
        np.testing.assert_array_equal(field[obs.site], values)
        np.testing.assert_array_equal(np.isnan(np.delete(field, obs.site, axis=0)), True)


@pytest.mark.small
def test_types_of_fields():
    obs = series("0110", 1)
    for kind in (bool, np.int8, np.uint16, np.int32, np.int64, np.uint64, np.float16, float, complex):
        field = obs.field(np.array([1, 0, 1], kind))
        assert field.dtype.kind == ("c" if kind is complex else "f")
        assert field[:3].tolist() == [1, 0, 1]
        assert np.isnan(field[3])
    # The largest 32-bit integers and all labels below 2**53 survive.
    assert obs.field([2**53, 1, 2]).tolist()[0] == 2**53
    assert obs.field(np.array([2**31 - 1, 1, 2], np.int32)).tolist()[0] == 2**31 - 1


@pytest.mark.small
@pytest.mark.parametrize(("values", "size"), [([1.0, 2.0], 2), (5.0, 0), ([], 0), (np.zeros((4, 3)), 4)])
def test_no_field(values, size):
    with pytest.raises(ValueError, match=f"The 'values' have {size} entries; there are 3 observations"):
        series("0110", 1).field(values)


# -------------------------------------------------------------------------------------------------- tables


@pytest.mark.small
@examples(40)
@given(st.lists(st.lists(st.integers(0, 2**62) | st.integers(0, 5), max_size=30), min_size=1, max_size=8), st.randoms())
def test_counts_of_keys_merge_in_any_order(parts, random):
    expected = sorted(Counter(key for part in parts for key in part).items())
    counted = []
    for part in parts:
        counter = counting.KeyCounter()
        counter.add(np.array(part, np.int64))
        counted.append(counter.counted())
    random.shuffle(counted)
    while len(counted) > 1:
        # Merge any two of them: associative and commutative.
        pair = [counted.pop(random.randrange(len(counted))) for _ in range(2)]
        counted.append(counting.add(*pair))
    keys, counts = counted[0]
    assert list(zip(keys.tolist(), counts.tolist(), strict=True)) == expected
    together = counting.KeyCounter()
    together.add(np.repeat(keys, counts))
    together.add(keys[:1])
    assert together.counted()[1].sum() == counts.sum() + min(keys.size, 1)


@pytest.mark.small
def test_the_counter_grows():
    rng = np.random.default_rng(0)
    keys = rng.integers(0, 2**63 - 1, 6000)
    counter = counting.KeyCounter()
    for part in (keys, keys[:100], keys[::-1]):
        counter.add(part)
    distinct, counts = counter.counted()
    np.testing.assert_array_equal(distinct, np.unique(keys))
    assert dict(zip(distinct.tolist(), counts.tolist(), strict=True)) == Counter([*keys, *keys[:100], *keys])
    weight = np.arange(distinct.size)
    np.testing.assert_array_equal(counting.add((distinct, weight), (distinct[:0], weight[:0])), [distinct, weight])
    np.testing.assert_array_equal(counting.add((distinct, weight), (distinct, weight)), [distinct, 2 * weight])


def test_keys_that_differ_in_a_few_bits_are_spread():
    """No pattern of keys may make the table degenerate: here most bits are the same."""
    n = 1 << 15
    for shift in range(0, 47, 3):
        keys = np.arange(n, dtype=np.int64) << shift
        counter = counting.KeyCounter()
        counter.add(keys)
        used = np.flatnonzero(counter.table.slots[:, 1] >= 0)
        runs = np.split(used, np.flatnonzero(np.diff(used) > 1) + 1)
        assert max(map(len, runs)) < 2000
        np.testing.assert_array_equal(counter.counted()[0], keys)


@pytest.mark.small
@examples(60)
@given(st.lists(st.integers(0, 2**62) | st.integers(0, 9), max_size=60))
def test_numbers_of_keys(keys):
    number, distinct = counting.number(np.array(keys, np.int64), 2**62 + 1)
    assert distinct.tolist() == sorted(set(keys))
    assert distinct[number].tolist() == keys


@pytest.mark.small
@pytest.mark.parametrize("n", [0, 1, 2, 7, 100])
@pytest.mark.parametrize("parts", [1, 2, 3, 10])
def test_slices_cover_everything_once(n, parts):
    cuts = executors.slices(n, parts)
    assert [i for a, b in cuts for i in range(a, b)] == list(range(n))
    assert len(cuts) == min(n, parts)
    assert all(b > a for a, b in cuts)


@pytest.mark.small
def test_source_around_holds_the_words_that_end_in_a_range():
    source = symbols.read([[0, 1, 1], [], [1, 0, 0, 1, 1], [0]])
    for begin in range(9):
        for end in range(begin + 1, 10):
            for width in (1, 2, 4):
                raw, _, bounds, a, b = source.around(begin, end, width)
                first = max(begin - width + 1, 0)
                np.testing.assert_array_equal(raw, source.raw[first:end])
                assert (a, b) == (begin - first, end - first)
                inner = [cut - first for cut in (3, 8) if first < cut < end]
                assert bounds.tolist() == [0, *inner, end - first]


# -------------------------------------------------------------------------------------------------- memory


def peak(work):
    """Bytes that were in use at once, at most, above those before: in one thread, so that they are always the same."""
    tracemalloc.start()
    try:
        with executors.alone():
            work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("past", [10, 25])
def test_counting_takes_little_memory(past):
    data = np.random.default_rng(0).integers(0, 2, 2_000_000, dtype=np.uint8)
    # The second half is periodic, so that most windows of 25 symbols recur.
    data[100_000:] = np.arange(1_900_000) % 7 == 0
    series(data[:200_000], past).table()
    assert peak(lambda: series(data, past).table()) < 12 * data.size


def test_memory_does_not_follow_the_past():
    data = np.random.default_rng(0).integers(0, 2, 200_000, dtype=np.uint8)
    series(data, 100).table()
    short, long = (peak(lambda past=past: series(data, past).table()) for past in (100, 1000))
    assert long < 1.1 * short
    assert long < 1000 * data.size / 4
