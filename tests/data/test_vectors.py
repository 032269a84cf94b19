"""Images, delay vectors and continuous pairs against loops."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import decisional as ds
import naive_densities as naive
from decisional.data.images import NEIGHBOURHOODS
from strategies_symbols import examples

pytestmark = pytest.mark.small
TYPES = ["uint8", "uint16", "int8", "int16", "int64", "uint64", "bool", "float32", "float64"]


def as_list(obs):
    """(x, z, site) of each observation, as Python numbers."""
    z = [value if isinstance(value, tuple) else (value,) for value in obs.outcomes]
    points = list(map(tuple, obs.points.tolist()))
    return [(points[i], z[k], s) for i, k, s in zip(obs.x, obs.z, obs.site, strict=True)]


def check_table(obs, found):
    """The table counts each (x, z) as often as it was observed."""
    table = obs.table()
    z = [value if isinstance(value, tuple) else (value,) for value in obs.outcomes]
    counted = {}
    for i, x in enumerate(map(tuple, obs.points.tolist())):
        for e in range(table.start[i], table.start[i + 1]):
            counted[x, z[table.outcome[e]]] = table.count[e]
    expected = {}
    for x, value, *_ in found:
        expected[x, value] = expected.get((x, value), 0) + 1
    assert counted == expected
    assert len({x for x, *_ in found}) == len(obs.points)


# -------------------------------------------------------------------------------------------------- images


@st.composite
def grey_images(draw):
    """Images of one type with values over its whole range, some of them repeated."""
    dtype = np.dtype(draw(st.sampled_from(TYPES)))
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        values = st.one_of(
            st.integers(max(info.min, -3), 3), st.integers(max(info.min, -(2**40)), min(info.max, 2**40))
        )
    elif dtype.kind == "b":
        values = st.booleans()
    else:
        values = st.integers(-800, 800).map(lambda v: v / 8)
    images = []
    for _ in range(draw(st.integers(1, 3))):
        height, width = draw(st.integers(5, 7)), draw(st.integers(5, 7))
        cells = draw(st.lists(values, min_size=height * width, max_size=height * width))
        images.append(np.array(cells, dtype).reshape(height, width))
    return images


@given(
    grey_images(),
    st.sampled_from(sorted(NEIGHBOURHOODS)),
    st.sampled_from(["interior", "mirror"]),
    st.booleans(),
    st.sampled_from([1, 1, 3]),
)
@examples(150, 30)
def test_neighbourhoods_are_those_of_loops(images, shape, border, subtract_min, block):
    around = naive.neighbourhood(shape)
    assume(block == 1 or shape in ("5x5", "rounded5x5"))
    obs = ds.observe.image(images, shape, subtract_min, border, block)
    plain = [[[float(v) if im.dtype.kind == "f" else int(v) for v in row] for row in im] for im in images]
    expected = naive.image(plain, around, block, border, subtract_min)
    assert as_list(obs) == expected
    check_table(obs, expected)
    same = len({im.shape[1] for im in images}) == 1
    assert obs.shape == ((sum(map(len, images)), images[0].shape[1]) if same else (sum(im.size for im in images),))
    assert obs.successor is None


@given(st.lists(st.booleans(), min_size=15, max_size=15))
@examples(60, 20)
def test_own_neighbourhoods(cells):
    table = np.array(cells).reshape(3, 5)
    around = [(i - 1, j - 2) for i, j in np.argwhere(table).tolist() if (i, j) != (1, 2)]
    pixels = np.arange(49).reshape(7, 7) ** 2 % 17
    if not around:
        with pytest.raises(ValueError, match="leaves no pixel"):
            ds.observe.image(pixels, table)
        return
    assert as_list(ds.observe.image(pixels, table)) == naive.image([pixels.tolist()], around)


def test_a_dark_pixel_is_negative_and_nothing_wraps():
    for dtype in ("uint8", "int8", "uint16", "int16", "uint64", "bool"):
        high = 1 if dtype == "bool" else np.iinfo(dtype).max
        low = 0 if dtype == "bool" else np.iinfo(dtype).min
        if dtype == "uint64":
            high = 1 << 53
        pixels = np.full((3, 3), high, dtype)
        pixels[1, 1] = low
        obs = ds.observe.image(pixels, "3x3")
        assert obs.outcomes == [int(low) - int(high)]
        assert obs.points.tolist() == [[0] * 8]
        pixels[:] = low
        pixels[0, 0] = high
        assert ds.observe.image(pixels, "3x3").points.max() == int(high) - int(low)


def test_nested_lists_are_one_image():
    rows = [[1, 2, 3], [4, 5, 6], [7, 8, 9]]
    assert as_list(ds.observe.image(rows, "cross")) == as_list(ds.observe.image(np.array(rows), "cross"))


def test_field_puts_values_back():
    pixels = np.arange(42).reshape(6, 7)
    obs = ds.observe.image(pixels)
    field = obs.field(pixels.ravel()[obs.site])
    assert (field[2:-2, 2:-2] == pixels[2:-2, 2:-2]).all()
    assert np.isnan(field).sum() == 42 - 6


@pytest.mark.parametrize(
    ("pixels", "options", "reason"),
    [
        (np.zeros((9, 9, 3)), {}, "colour.*rgb2gray"),
        (np.zeros((9, 9, 4)), {}, "colour"),
        ([np.zeros((9, 9, 3))], {}, "colour"),
        (np.zeros((9, 9, 9)), {}, "list of images"),
        (np.zeros(9), {}, "table of numbers"),
        ([], {}, "empty list"),
        (np.array([["a"]]), {}, "table of numbers"),
        (np.full((9, 9), np.nan), {}, "not finite"),
        (np.zeros((4, 9)), {}, "at least 5 × 5"),
        (np.zeros((2, 9)), {"border": "mirror"}, "at least 3 × 3"),
        (np.zeros((9, 9)), {"border": "wrap"}, "'interior', 'mirror'"),
        (np.zeros((9, 9)), {"neighbourhood": "7x7"}, "rounded5x5"),
        (np.zeros((9, 9)), {"neighbourhood": np.ones((2, 3))}, "odd sides"),
        (np.zeros((9, 9)), {"neighbourhood": [[0, 2, 0]]}, "0 and 1"),
        (np.zeros((9, 9)), {"block": 2}, "odd integer"),
        (np.zeros((9, 9)), {"block": True}, "odd integer"),
        (np.zeros((9, 9)), {"block": 5}, "leaves no pixel"),
    ],
)
def test_images_are_refused_in_one_sentence(pixels, options, reason):
    with pytest.raises(ValueError, match=reason) as error:
        ds.observe.image(pixels, **options)
    assert "\n" not in str(error.value)


# -------------------------------------------------------------------------------------------------- delays


@st.composite
def signals(draw):
    width = draw(st.integers(1, 3))
    value = st.one_of(st.integers(-8, 8).map(lambda v: v / 4), st.integers(-8, 8).map(float), st.just(math.nan))
    row = st.lists(value, min_size=width, max_size=width)
    return draw(st.lists(st.lists(row, min_size=0, max_size=20), min_size=1, max_size=3)), width


@given(signals(), st.integers(1, 3), st.integers(1, 3), st.integers(1, 3), st.booleans(), st.booleans(), st.data())
@examples(300, 60)
def test_delays_are_those_of_loops(signal, past, future, step, difference, given_lags, data):
    series, width = signal
    lags = data.draw(st.lists(st.integers(0, 5), min_size=1, max_size=3, unique=True)) if given_lags else None
    target = data.draw(st.sampled_from([None, *range(width)]))
    at = lags if given_lags else [step * k for k in range(past)]
    value = st.one_of(st.integers(-4, 4).map(float), st.just(math.nan))
    known = data.draw(st.none() | st.tuples(*(st.lists(value, min_size=len(r), max_size=len(r)) for r in series)))
    inputs = None if known is None else [[(v, -v) for v in column] for column in known]
    expected = naive.delays(series, at, future, step, difference, target, inputs)
    arrays = [np.array(rows, float).reshape(len(rows), width) for rows in series]
    options = {"future": future, "step": step, "difference": difference, "target": target}
    options["inputs"] = inputs and [np.array(rows, float).reshape(len(rows), 2) for rows in inputs]
    options |= {"lags": lags} if given_lags else {"past": past}
    if not expected:
        with pytest.raises(ValueError, match="without a gap"):
            ds.observe.delays(arrays, **options)
        return
    obs = ds.observe.delays(arrays, **options)
    assert as_list(obs) == [found[:3] for found in expected]
    check_table(obs, expected)
    site = obs.site.tolist()
    assert [site[k] if k >= 0 else None for k in obs.successor] == [after for *_, after in expected]
    assert obs.shape == (sum(map(len, series)),)
    assert obs.known == (0 if known is None else 2)
    # Steps between the distinct x are counted along the successors.
    steps = obs.table().steps
    assert steps.count.sum() == sum(after is not None for *_, after in expected)


def test_one_series_in_any_form():
    values = [0.0, 0.5, 1.5, 3.0, np.nan, 1.0, 2.0, 4.0]
    expected = as_list(ds.observe.delays(values, 2))
    assert len(expected) == 3
    for form in (tuple(values), np.array(values), np.array(values)[:, None], [np.array(values)]):
        assert as_list(ds.observe.delays(form, 2)) == expected
    masked = np.ma.array(np.nan_to_num(values), mask=np.isnan(values))
    assert as_list(ds.observe.delays(masked, 2)) == expected


@pytest.mark.parametrize(
    ("signal", "options", "reason"),
    [
        (np.arange(5.0), {}, "exactly one"),
        (np.arange(5.0), {"past": 1, "lags": [0]}, "exactly one"),
        (np.arange(5.0), {"past": 0}, "'past' is 0"),
        (np.arange(5.0), {"past": 1, "future": 0}, "'future' is 0"),
        (np.arange(5.0), {"past": 1, "step": 1.5}, "'step' is 1.5"),
        (np.arange(5.0), {"lags": [-1]}, "different integers"),
        (np.arange(5.0), {"lags": [1, 1]}, "different integers"),
        (np.arange(5.0), {"past": 1, "target": 1}, "1 columns"),
        (np.ones((5, 3)), {"past": 1, "target": 1.5}, "3 columns"),
        (np.arange(5.0), {"past": 5}, "no 6 values in a row"),
        (np.full(9, np.nan), {"past": 1}, "no 2 values in a row"),
        ([], {"past": 1}, "no 2 values in a row"),
        ([np.inf, 1.0, 2.0], {"past": 1}, "infinite"),
        (list("abc"), {"past": 1}, "ds.observe.series"),
        (np.array([1j, 2.0, 3.0]), {"past": 1}, "not numbers"),
        (np.zeros((2, 2, 2)), {"past": 1}, "one row of values"),
        ([np.zeros((4, 2)), np.zeros((4, 3))], {"past": 1}, r"\[2, 3\] columns"),
        (np.arange(5.0), {"past": 1, "inputs": np.arange(4.0)}, "'inputs' have 4 rows and the 'signal' 5"),
        ([np.arange(5.0)] * 2, {"past": 1, "inputs": np.arange(5.0)}, "each must have inputs of its own"),
        ([np.arange(5.0)] * 2, {"past": 1, "inputs": [np.arange(5.0)]}, "'inputs' have 1 series and the 'signal' 2"),
        ([np.arange(5.0)] * 2, {"past": 1, "inputs": [np.arange(5.0), np.arange(4.0)]}, "4 rows of series 1"),
        (
            [np.arange(5.0)] * 2,
            {"past": 1, "inputs": [np.arange(5.0), np.ones((5, 2))]},
            r"'inputs' has series of \[1, 2\] columns",
        ),
        (np.arange(5.0), {"past": 1, "inputs": [None, "a", 1, 2, 3]}, "code others as numbers"),
        (np.arange(5.0), {"past": 1, "inputs": ["hour"]}, "ndarray without dates"),
        (np.arange(5.0), {"past": 1, "inputs": ["hours"]}, "it must be one of 'minute', 'hour'"),
        (np.arange(5.0), {"past": 1, "inputs": np.full(5, np.nan)}, "with inputs where z begins"),
    ],
)
def test_signals_are_refused_in_one_sentence(signal, options, reason):
    with pytest.raises(ValueError, match=reason):
        ds.observe.delays(signal, **options)


# --------------------------------------------------------------------------------------------------- pairs


def test_pairs_with_fractions_are_vectors():
    x = np.array([[0.5, 1], [np.nan, 1], [0.5, 1], [2, 3]])
    obs = ds.observe.pairs(x, [0.25, 1.0, 1.0, np.nan])
    assert as_list(obs) == [((0.5, 1.0), (0.25,), 0), ((0.5, 1.0), (1.0,), 2)]
    assert obs.shape == (4,)
    kinds = ds.observe.pairs(x, ["a", "b", None, "a"])
    assert kinds.targets is None
    assert kinds.outcomes == ["a", "b"]
    assert kinds.site.tolist() == [0, 3]
    assert ds.observe.pairs([0.5, -0.0, 0.0], [1, 2, 2]).points.tolist() == [[0.0], [0.5]]
    vector = ds.observe.pairs([0.5, 1.0], [[0.5, 1.0], [2.0, 3.0]])
    assert sorted(vector.outcomes) == [(0.5, 1.0), (2.0, 3.0)]


@pytest.mark.parametrize(
    ("x", "z", "reason"),
    [
        ([0.5, np.inf], [1, 2], "'x' has infinite"),
        ([0.5, 1.5], [1.5, -np.inf], "'z' has infinite"),
        ([0.5, np.nan], [np.nan, 1.5], "no complete pair"),
        ([0.5, 1.5], [1.5], "one z for each x"),
        (np.full((2, 2, 2), 0.5), [1, 2], "reshape"),
    ],
)
def test_pairs_are_refused_in_one_sentence(x, z, reason):
    with pytest.raises(ValueError, match=reason):
        ds.observe.pairs(x, z)
