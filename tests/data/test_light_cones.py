"""Light cones against dicts and loops: all dimensions, boundaries and speeds, any slicing and any executor."""

import pickle
import re
import tracemalloc
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from importlib.util import find_spec

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import naive_cones as naive
from decisional.data import keys as counting
from decisional.data import vocabularies
from decisional.machines.automata import cellular_automaton
from decisional.observe import light_cones
from decisional.processes import elementary_ca
from decisional.support import executors
from strategies_symbols import examples

BOUNDARIES = ("periodic", "open", "reflect")


class Pickled(Executor):
    """Sends work away as a cluster does: only what can be pickled arrives, and arrays come back read-only."""

    def submit(self, fn, /, *args, **kwargs):
        function, copies = pickle.loads(pickle.dumps((fn, args)))
        result, future = function(*copies), Future()
        tally, x, z = result
        assert x is z is None
        for array in (*vars(tally).values(), tally.x.keys, tally.z.keys):
            if isinstance(array, np.ndarray):
                array.flags.writeable = False
        future.set_result(result)
        return future


@st.composite
def cases(draw, axes=(1, 2, 3), max_fields=3, gaps=True):
    """Fields with room for their cones, masks for them, and the options of `light_cones`."""
    axes = draw(st.sampled_from(axes))
    speed = draw(st.integers(1, 2))
    depth = st.integers(1, {1: 4, 2: 3, 3: 2}[axes] if speed == 1 else 2)
    include_present = draw(st.booleans())
    options = {
        "past": draw(depth),
        "future": draw(depth if include_present else st.integers(2, 3 if axes == 1 and speed == 1 else 2)),
        "speed": speed,
        "boundary": draw(st.sampled_from(BOUNDARIES)),
        "include_present": include_present,
        "past_row_only": draw(st.booleans()),
        "transitions": draw(st.sampled_from([None, "time", "space"])),
        "neighbourhood": draw(st.sampled_from(["moore", "von_neumann"])),
    }
    reach = speed * (max(options["past"], options["future"]) - 1)
    least = reach + 1 if options["boundary"] == "reflect" else 2 * reach + 1
    rows = options["past"] + options["future"] - 1
    colours = draw(st.sampled_from([1, 2, 2, 3, 5]))
    low = draw(st.sampled_from([0, 0, -2, 250, 1000]))
    generator = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    fields, masks = [], []
    for _ in range(draw(st.integers(1, max_fields if axes == 1 else 2 if axes == 2 else 1))):
        sizes = [least + draw(st.integers(0, 4 - axes)) for _ in range(axes)]
        shape = rows + draw(st.integers(0, 3 if axes == 1 else 2)), *sizes
        # Few distinct rows make cones recur.
        few = generator.integers(0, colours, (2, *shape[1:]))
        field = (
            few[generator.integers(0, 2, shape[0])] if draw(st.booleans()) else generator.integers(0, colours, shape)
        )
        kind = draw(st.sampled_from([np.int64, np.int16, np.int32]))
        fields.append((field + low).astype(kind))
        masks.append(generator.random(shape) < 0.5 / field.size**0.5 if gaps and draw(st.booleans()) else None)
    return fields, masks, options


def check(obs, fields, masks, options):
    """Compare observations with the naive ones."""
    twins = [naive.as_field(f, m) for f, m in zip(fields, masks, strict=True)]
    expected = naive.observations(twins, **options)
    if obs is None:
        assert not expected
        return
    letters = tuple(sorted({value for values, _ in twins for value in values.values() if value is not None}))
    table = obs.table()
    assert obs.letters == letters
    assert obs.n == len(obs) == len(expected)
    assert obs.past == len(expected[0][0])
    words = obs.words(np.arange(table.n_x))
    assert words.shape == (table.n_x, obs.past)
    rows = [tuple(letters[code] for code in word) for word in words]
    counts, steps = naive.table(expected)
    assert rows == sorted(counts)
    outcomes = list(obs.outcomes)
    assert outcomes == sorted({z for _, z, *_ in expected})
    assert [tuple(letters[code] for code in word) for word in obs.outcome_cells] == outcomes
    assert table.n_outcomes == len(obs.outcomes) == len(outcomes)
    found = {}
    for i, x in enumerate(rows):
        part = slice(table.start[i], table.start[i + 1])
        assert (np.diff(table.outcome[part]) > 0).all()
        found[x] = {outcomes[k]: n for k, n in zip(table.outcome[part], table.count[part].tolist(), strict=True)}
    assert found == counts
    assert [rows[i] for i in obs.x] == [x for x, *_ in expected]
    assert [outcomes[k] for k in obs.z] == [z for _, z, *_ in expected]
    assert obs.site.tolist() == [site for _, _, site, *_ in expected]
    check_steps(obs, table, rows, expected, steps)
    check_field(obs, fields)


def check_steps(obs, table, rows, expected, steps):
    """Compare symbols, successors and counted steps with the naive ones."""
    if obs.transitions is None:
        assert obs.alphabet is obs.symbol is obs.successor is table.steps is None
        return
    assert obs.alphabet == tuple(sorted({symbol for _, symbol, _ in steps}))
    assert obs.successor.tolist() == [successor for *_, successor in expected]
    for code, (*_, symbol, successor) in zip(obs.symbol.tolist(), expected, strict=True):
        assert code == 0 if successor < 0 else obs.alphabet[code] == symbol
    part = table.steps
    found = {}
    for i, symbol, j, n in zip(part.source, part.symbol, part.target, part.count.tolist(), strict=True):
        found[rows[i], obs.alphabet[symbol], rows[j]] = n
    assert found == steps
    assert len(part.count) == len(steps)
    order = list(zip(part.source.tolist(), part.symbol.tolist(), part.target.tolist(), strict=True))
    assert order == sorted(order)


def check_field(obs, fields):
    """Values come back where they belong, NaN elsewhere."""
    if len({f.shape[1:] for f in fields}) == 1:
        assert obs.shape == (sum(len(f) for f in fields), *fields[0].shape[1:])
    else:
        assert obs.shape == (sum(f.size for f in fields),)
    values = np.arange(obs.n)
    laid = obs.field(values)
    assert laid.shape == obs.shape
    assert laid.dtype == np.float64
    flat = laid.reshape(-1)
    np.testing.assert_array_equal(np.flatnonzero(~np.isnan(flat)), obs.site)
    np.testing.assert_array_equal(flat[obs.site], values)
    twice = obs.field(np.stack([values, -values], axis=1).astype(np.float32))
    assert twice.shape == (*obs.shape, 2)
    assert twice.dtype == np.float32
    np.testing.assert_array_equal(twice[..., 1], -laid.astype(np.float32))


def observe(fields, masks, options):
    """Observe fields; None if no cone is whole, after checking the refusal."""
    data, mask = (fields, masks) if len(fields) > 1 else (fields[0], masks[0])
    try:
        return light_cones(data, mask=mask, **options)
    except ValueError as refusal:
        if not re.match("The 'mask' (has|leaves)", str(refusal)):
            raise
        return None


def same(a, b):
    """Compare two observations in everything."""
    for name in ("n", "past", "letters", "alphabet", "shape"):
        assert getattr(a, name) == getattr(b, name)
    one, other = a.table(), b.table()
    for name in ("start", "outcome", "count", "shared", "weight"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    if one.steps is not None:
        for name in ("source", "symbol", "target", "count"):
            np.testing.assert_array_equal(getattr(one.steps, name), getattr(other.steps, name))
    rows = np.arange(one.n_x)
    np.testing.assert_array_equal(a.words(rows), b.words(rows))
    np.testing.assert_array_equal(a.outcome_cells, b.outcome_cells)
    for name in ("x", "z", "site", "symbol", "successor"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name))


# --------------------------------------------------------------------------------------------------- twins


@pytest.mark.small
@examples(200, small=25)
@given(cases())
def test_cones_are_the_naive_ones(case):
    fields, masks, options = case
    check(observe(fields, masks, options), fields, masks, options)


@pytest.mark.small
@examples(80, small=15)
@given(case=cases(), bits=st.integers(3, 7), dense=st.booleans(), hashed=st.sampled_from([1, 4, 1 << 18]))
def test_cones_of_any_size_are_ranked_exactly(case, bits, dense, hashed):
    """Short keys and small tables make small cones take the ways of large ones."""
    fields, masks, options = case
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vocabularies, "CODES", 1 << bits)
        if not dense:
            patch.setattr(counting, "ALWAYS", 0)
            patch.setattr(counting, "DENSE", 0)
            patch.setattr(counting, "PAIRS", 0)
        patch.setattr(counting, "HASHED", hashed)
        patch.setattr(counting, "SLOTS", 4)
        check(observe(fields, masks, options), fields, masks, options)


@pytest.mark.small
@examples(60, small=15)
@given(case=cases(), parts=st.integers(2, 5), bits=st.sampled_from([4, 62]))
def test_any_slicing_and_any_executor_give_the_same(case, parts, bits):
    fields, masks, options = case
    whole = observe(fields, masks, options)
    if whole is None:
        return
    with pytest.MonkeyPatch.context() as patch, ThreadPoolExecutor(2) as threads:
        patch.setattr(vocabularies, "CODES", 1 << bits)
        whole.table()
        patch.setattr(executors, "SMALL", 0)
        patch.setattr(executors, "workers", lambda: parts)
        same(whole, observe(fields, masks, options))
        for executor in (threads, Pickled()):
            sent = observe(fields, masks, options)
            sent.table(executor)
            same(whole, sent)


@pytest.mark.small
@pytest.mark.parametrize("colours", [2, 3, 7])
def test_long_words_need_several_keys(colours):
    """Cones of more than 62 bits, without any change of the limits."""
    generator = np.random.default_rng(colours)
    field = generator.integers(0, colours, (9, 13))
    field[4] = field[0]
    options = {"past": 6, "future": 2, "transitions": "time"}
    check(light_cones(field, **options), [field], [None], options)
    cube = generator.integers(0, colours, (4, 5, 5, 5))
    options = {"past": 3, "future": 2, "transitions": "space"}
    check(light_cones(cube, **options), [cube], [None], options)


def test_large_random_fields_match_unique_rows():
    """Hash tables that grow, sorts of many distinct cones, threads."""
    field = np.random.default_rng(5).integers(0, 3, (400, 500), dtype=np.uint8)
    obs = light_cones(field, 5, 2)
    padded = np.pad(field, ((0, 0), (4, 4)), mode="wrap")
    columns = [padded[4 - k : 399 - k, 4 + d : 504 + d] for k in range(5) for d in range(-k, k + 1)]
    words = np.stack(columns, axis=-1).reshape(-1, 25)
    rows, x, counts = np.unique(words, axis=0, return_inverse=True, return_counts=True)
    np.testing.assert_array_equal(obs.words(np.arange(len(rows))), rows)
    np.testing.assert_array_equal(obs.x, x.reshape(-1))
    np.testing.assert_array_equal(obs.table().weight, counts)
    assert obs.x.dtype == obs.z.dtype == np.int32


@pytest.mark.parametrize("limit", [1 << 10, 1 << 18])
def test_ranks_are_those_of_unique(limit, monkeypatch):
    monkeypatch.setattr(counting, "HASHED", limit)
    generator = np.random.default_rng(0)
    for bits in (20, 33, 61):
        keys = generator.integers(0, 1 << bits, 60_000)[generator.integers(0, 60_000, 150_000)]
        number, distinct = counting.number(keys, 1 << 62)
        expected, inverse = np.unique(keys, return_inverse=True)
        np.testing.assert_array_equal(distinct, expected)
        np.testing.assert_array_equal(number, inverse)


@pytest.mark.small
@pytest.mark.parametrize("limit", [0, 1 << 22])
def test_pairs_are_counted_alike_in_groups_and_by_their_keys(limit, monkeypatch):
    monkeypatch.setattr(counting, "ALWAYS", 0)
    monkeypatch.setattr(counting, "PAIRS", 0)
    monkeypatch.setattr(counting, "DENSE", limit)
    generator = np.random.default_rng(1)
    for n_first, n_second in ((1, 1), (5, 3), (40, 300)):
        first, second = (generator.integers(-1, size, 700, dtype=np.int32) for size in (n_first, n_second))
        known = (first >= 0) & (second >= 0)
        expected = np.unique(first[known].astype(int) * n_second + second[known], return_counts=True)
        for found, right in zip(counting.count_pairs(first, second, n_second), expected, strict=True):
            np.testing.assert_array_equal(found, right)
            assert found.dtype == np.int64


# --------------------------------------------------------------------------------------- what is known exactly


def reference_row(width):
    """Return the first row of the reference program: bit 17 of the outputs of MT19937 seeded with 42."""
    generator = np.random.MT19937()
    generator._legacy_seeding(42)
    return (generator.random_raw(width) >> 17 & 1).astype(np.uint8)


@pytest.mark.parametrize("threads", [1, 3])
def test_rule_110_of_the_reference(threads, monkeypatch):
    monkeypatch.setattr(executors, "workers", lambda: threads)
    dropped, past, future, steps = 100, 4, 3, 300
    field = elementary_ca(110, 400, dropped + past + steps + future - 2, reference_row(400))
    obs = light_cones(field[dropped:], past, future, include_present=True, past_row_only=True)
    assert (obs.past, obs.future, obs.n) == (7, 9, 400 * 300)
    assert obs.table().n_x == 112
    # The present rows are those of the paper's figure: k + p - 1 ... k + p - 2 + t.
    rows = np.flatnonzero(~np.isnan(obs.field(np.zeros(obs.n))).any(axis=1)) + dropped
    assert (rows[0], rows[-1]) == (dropped + past - 1, dropped + past - 2 + steps)
    # The present cell is the first of the future, and each x leads to one value of it.
    present = obs.outcome_cells[obs.z, 0].reshape(300, 400)
    np.testing.assert_array_equal(present, field[rows])
    full = light_cones(field[dropped:], past, future)
    assert (full.past, full.future, full.table().n_x) == (16, 8, 112)
    # With a deterministic rule the oldest row says all that the whole cone does.
    assert np.unique(full.x.astype(int) * 112 + obs.x).size == 112


@pytest.mark.small
@pytest.mark.parametrize(
    ("axes", "neighbourhood", "past", "future"),
    [
        (1, "moore", 9, 8),
        (1, "von_neumann", 9, 8),
        (2, "moore", 35, 34),
        (2, "von_neumann", 19, 18),
        (3, "moore", 153, 152),
        (3, "von_neumann", 33, 32),
    ],
)
def test_numbers_of_cells(axes, neighbourhood, past, future):
    field = np.zeros((5, *(5,) * axes), bool)
    obs = light_cones(field, 3, 3, neighbourhood=neighbourhood)
    assert (obs.past, obs.future) == (past, future)
    assert light_cones(field, 3, 3, neighbourhood=neighbourhood, include_present=True).future == past
    assert obs.letters == (0,)
    assert obs.table().n_x == obs.table().n_outcomes == 1


@pytest.mark.small
def test_symbols_are_the_new_cells():
    field = np.arange(7 * 9).reshape(7, 9)
    obs = light_cones(field, 3, 2, transitions="time")
    i = obs.site.tolist().index(3 * 9 + 4)
    # The new cell itself, and the two ends of each row before it.
    assert obs.alphabet[obs.symbol[i]] == (40, 30, 32, 20, 24)
    assert obs.site[obs.successor[i]] == 4 * 9 + 4
    obs = light_cones(field, 3, 2, transitions="space")
    i = obs.site.tolist().index(3 * 9 + 4)
    assert obs.alphabet[obs.symbol[i]] == (32, 24, 16)
    obs = light_cones(field, 3, 2, transitions="space", past_row_only=True)
    assert obs.alphabet[obs.symbol[obs.site.tolist().index(3 * 9 + 4)]] == 16
    obs = light_cones(field, 2, 2, transitions="time", past_row_only=True)
    assert obs.alphabet[obs.symbol[obs.site.tolist().index(3 * 9 + 4)]] == (30, 31, 32)


@pytest.mark.small
@examples(40, small=10)
@given(cases(axes=(1, 2), max_fields=1, gaps=False))
def test_boundaries_are_those_of_pad(case):
    """An open field that was padded is a periodic or a reflected one."""
    (field, *_), _, options = case
    assume(options["boundary"] != "open")
    options["transitions"] = None
    reach = options["speed"] * (max(options["past"], options["future"]) - 1)
    mode = "wrap" if options["boundary"] == "periodic" else "reflect"
    padded = np.pad(field, [(0, 0), *[(reach, reach)] * (field.ndim - 1)], mode=mode)
    whole, inner = light_cones(field, **options), light_cones(padded, **{**options, "boundary": "open"})
    for name in ("x", "z", "outcome_cells"):
        np.testing.assert_array_equal(getattr(whole, name), getattr(inner, name))


# ----------------------------------------------------------------------------------------------------- input


@pytest.mark.small
def test_any_integers():
    base = np.random.default_rng(1).integers(0, 3, (6, 8))
    expected = light_cones(base, 2, 2)
    for kind in (np.uint8, np.int8, np.uint16, np.int32, np.uint64):
        same(expected, light_cones(base.astype(kind), 2, 2))
    same(expected, light_cones(base.tolist(), 2, 2))
    same(expected, light_cones(np.asfortranarray(base), 2, 2))
    for values in ([-128, 0, 127], [0, 1 << 40, 1 << 62], [-5, 70_000, 70_001], [0, 255, 256], [-(1 << 62), 0, 3]):
        obs = light_cones(np.array(values)[base], 2, 2)
        assert obs.letters == tuple(values)
        np.testing.assert_array_equal(obs.x, expected.x)
        np.testing.assert_array_equal(obs.outcome_cells, expected.outcome_cells)
    large = np.array([3, (1 << 64) - 2, (1 << 64) - 1], np.uint64)
    assert light_cones(large[base], 2, 2).letters == tuple(large.tolist())
    assert light_cones(large[1:][base % 2], 2, 2).letters == tuple(large[1:].tolist())
    mixed = light_cones([base.astype(np.uint8), base + 300], 2, 2)
    assert mixed.letters == (0, 1, 2, 300, 301, 302)
    wide = light_cones([base.astype(np.uint8), base + (1 << 40)], 2, 2)
    np.testing.assert_array_equal(mixed.x, wide.x)
    few = light_cones(np.array([-100, 0, 100], np.int8)[base], 2, 2)
    assert few.letters == (-100, 0, 100)
    np.testing.assert_array_equal(few.x, expected.x)


@pytest.mark.small
def test_many_letters():
    field = np.random.default_rng(2).permutation(70_000)[: 20 * 30].reshape(20, 30)
    obs = light_cones(field, 3, 2)
    options = {"past": 3, "future": 2}
    check(obs, [field], [None], options)
    assert obs.outcome_cells.dtype == np.uint16


@pytest.mark.small
def test_masks_of_all_kinds():
    generator = np.random.default_rng(3)
    field = generator.integers(0, 3, (8, 9))
    mask = generator.random((8, 9)) < 0.05
    other = generator.random((8, 9)) < 0.05
    expected = light_cones(field, 2, 2, mask=mask | other)
    check(expected, [field], [mask | other], {"past": 2, "future": 2})
    masked = np.ma.MaskedArray(field, mask)
    same(expected, light_cones(masked, 2, 2, mask=other))
    # What stands in a missing cell does not matter.
    same(expected, light_cones(np.where(mask | other, 1 << 50, field), 2, 2, mask=mask | other))
    column = np.zeros(9, bool)
    column[4] = True
    same(light_cones(field, 2, 2, mask=column), light_cones(field, 2, 2, mask=np.broadcast_to(column, (8, 9))))
    same(light_cones(field, 2, 2), light_cones(np.ma.MaskedArray(field), 2, 2, mask=np.zeros((8, 9), bool)))


@pytest.mark.small
def test_fields_too_short_for_a_cone_have_no_observation():
    fields = [np.eye(5, 7, dtype=int)[:2], np.eye(6, 7, dtype=int), np.eye(5, 7, dtype=int)[:1]]
    options = {"past": 2, "future": 2, "transitions": "time"}
    check(light_cones(fields, **options), fields, [None] * 3, options)


@pytest.mark.small
def test_outcomes_are_a_sequence():
    obs = light_cones(np.random.default_rng(4).integers(5, 7, (9, 9)), 1, 2)
    outcomes = obs.outcomes
    assert outcomes[0] == (5, 5, 5)
    assert outcomes[-1] == (7 - 1,) * 3
    assert list(outcomes[1:3]) == [outcomes[1], outcomes[2]]
    assert list(outcomes) == [outcomes[k] for k in range(len(outcomes))]
    assert (6, 6, 6) in outcomes
    assert repr(outcomes) == "Outcomes(8 futures of 3 cells)"
    assert [hash(z) for z in outcomes]


@pytest.mark.small
def test_arrays_are_protected_and_kept():
    obs = light_cones(np.eye(6, dtype=int), 2, 2, transitions="time")
    assert obs.table() is obs.table()
    for name in ("x", "z", "site", "symbol", "successor", "outcome_cells"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(obs, name)[...] = 0
    assert not obs.has_suffixes
    same(obs, pickle.loads(pickle.dumps(obs)))


class Labelled:
    """As much of xarray's DataArray as is used."""

    def __init__(self, values, coords=None, dims=None):
        self.values, self.coords, self.dims = np.asarray(values), coords or {}, dims

    def __array__(self, dtype=None, copy=None):
        return np.array(self.values, dtype)


def labelled_arrays():
    found = [Labelled]
    if find_spec("xarray"):
        found.append(__import__("xarray").DataArray)
    return found


@pytest.mark.small
@pytest.mark.parametrize("kind", labelled_arrays())
def test_labelled_arrays_keep_their_coordinates(kind):
    values = np.random.default_rng(6).integers(0, 2, (6, 7))
    coords = {"year": np.arange(2000, 2006), "km": np.linspace(0, 3, 7)}
    field = kind(values, coords=coords, dims=("year", "km"))
    plain, obs = light_cones(values, 2, 2), light_cones(field, 2, 2)
    same(plain, obs)
    back = obs.field(obs.x)
    assert isinstance(back, kind)
    assert back.dims == ("year", "km")
    np.testing.assert_array_equal(back.values, plain.field(plain.x))
    for name, along in coords.items():
        np.testing.assert_array_equal(back.coords[name], along)
    two = obs.field(np.stack([obs.x, obs.z], axis=1))
    assert two.dims == ("year", "km", "value")
    assert two.values.shape == (6, 7, 2)
    several = light_cones([field, field], 2, 2)
    assert isinstance(several.field(several.x), np.ndarray)
    mask = values.astype(bool) & False
    mask[2, 3] = True
    assert isinstance(light_cones(field, 2, 2, mask=mask).field(np.zeros(light_cones(field, 2, 2, mask=mask).n)), kind)


# ---------------------------------------------------------------------------------------------------- errors


@pytest.mark.small
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"field": np.full((9, 9), np.inf)}, "'field' has infinite cells"),
        (
            {"field": np.zeros((9, 9)), "transitions": "time"},
            "'transitions' .* is 'time'; .* None for a real-valued field",
        ),
        ({"past_end": -1}, "'past_end' .* is -1"),
        ({"field": np.full((9, 9), "a")}, "'field' has cells of type <U1; .* np.unique"),
        ({"field": np.zeros(9, int)}, "'field' has 1 axes; .* ds.observe.series"),
        ({"field": 3}, "'field' has 0 axes"),
        ({"field": np.zeros((2,) * 5, int)}, "'field' has 4 space axes; light cones have 1, 2 or 3"),
        ({"field": np.zeros((0, 9), int)}, r"'field' has shape \(0, 9\); it must have cells"),
        ({"field": np.zeros((4, 9), int), "past": 3, "future": 3}, "has 4 rows in time; .* need 5"),
        ({"field": np.zeros((9, 4), int), "past": 3}, r"has 4 cells .* reach 2 .* need 5 with boundary='periodic'"),
        ({"field": np.zeros((9, 9, 4), int), "past": 3, "boundary": "open"}, r"shape \(9, 9, 4\).* need 5 .*'open'"),
        ({"field": np.zeros((9, 2), int), "past": 3, "boundary": "reflect"}, "need 3 with boundary='reflect'"),
        ({"past": 0}, "'past' of light_cones is 0; it must be an integer of at least 1"),
        ({"past": 1.0}, "'past' of light_cones is 1.0"),
        ({"past": True}, "'past' of light_cones is True"),
        ({"future": 1}, "'future' of light_cones is 1; .* at least 2: it starts one row after the present"),
        ({"future": 0, "include_present": True}, "'future' of light_cones is 0; .* at least 1"),
        ({"speed": 0}, "'speed' of light_cones is 0; .* at least 1"),
        ({"boundary": "closed"}, "'boundary' .* is 'closed'; it must be one of 'periodic', 'open', 'reflect'"),
        ({"boundary": None}, "'boundary' .* is None"),
        ({"transitions": "both"}, "'transitions' .* is 'both'; it must be one of None, 'time', 'space'"),
        ({"transitions": []}, r"'transitions' .* is \[\]"),
        ({"neighbourhood": "hex"}, "'neighbourhood' .* is 'hex'; it must be one of 'moore', 'von_neumann'"),
        ({"field": [np.zeros((9, 9), int), np.zeros((9, 9, 9), int)]}, "arrays of 2 and 3 axes; .* observe them apart"),
        ({"field": [np.zeros((9, 9), int), np.zeros((9, 2), int)]}, "need 3 with boundary='periodic'"),
        ({"mask": np.ones((9, 9), bool)}, "'mask' leaves none of 81 cells"),
        ({"mask": np.arange(81).reshape(9, 9) % 2 == 0}, "'mask' has 41 missing cells and leaves no observation"),
        ({"mask": np.ones((3, 2), bool)}, r"'mask' of the 'field' has shape \(3, 2\) and the field \(9, 9\)"),
        ({"field": [np.zeros((9, 9), int)] * 2, "mask": np.zeros((9, 9), bool)}, "'mask' is no list of 2 masks"),
    ],
)
def test_refusals_say_what_to_do(change, message):
    arguments = {"field": np.zeros((9, 9), int), "past": 2, "future": 2, **change}
    with pytest.raises(ValueError, match=message) as caught:
        light_cones(**arguments)
    assert str(caught.value).endswith(".")


@pytest.mark.small
def test_values_of_a_wrong_length_are_refused():
    obs = light_cones(np.zeros((5, 5), int), 2, 2)
    with pytest.raises(ValueError, match="'values' have 3 entries; there are 15 observations"):
        obs.field([1, 2, 3])


@pytest.mark.small
def test_just_one_observation():
    field = np.arange(12).reshape(4, 3)
    obs = light_cones(field[:3], 2, 2, boundary="open", transitions="time")
    assert obs.n == 1
    assert obs.successor.tolist() == [-1]
    assert obs.alphabet == ()
    assert obs.table().steps.count.size == 0
    options = {"past": 2, "future": 2, "boundary": "open", "transitions": "time"}
    check(light_cones(field, **options), [field], [None], options)


def test_memory_follows_the_cells():
    """Cones of 49 cells: N x cells would take 49 bytes per cell and more."""
    field = cellular_automaton(110, 1000, 1000, rng=1)
    light_cones(field[:20], 7, 2).table()
    tracemalloc.start()
    obs = light_cones(field, 7, 2)
    obs.table()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 40 * field.size
