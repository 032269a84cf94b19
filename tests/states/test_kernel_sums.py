"""Kernel sums against loops over all pairs: integers, floats, borders of the cut-off, queries and executors."""

import math
import pickle
from concurrent.futures import Executor, Future, ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive_kernels as naive
from decisional.states import kernel_sums as module
from decisional.states.kernel_sums import kernel_sums, nearest_distance, smooth
from decisional.support.progress import told
from strategies_symbols import examples

CUTOFF = 1e-9
WIDTHS = st.sampled_from([0.3, 0.7, 1.0, math.sqrt(1.5), 3.0, 40.0])


class Pickled(Executor):
    """Sends work away as a cluster does: only what can be pickled arrives, and arrays come back read-only."""

    def submit(self, fn, /, *args, **kwargs):
        function, copies = pickle.loads(pickle.dumps((fn, args)))
        result, future = function(*copies), Future()
        result.flags.writeable = False
        future.set_result(result)
        return future


def compressed(points, counts):
    """Counts x -> {z: how often} as compressed rows."""
    entries = [(z, c) for x in points for z, c in sorted(counts[x].items())]
    start = np.cumsum([0] + [len(counts[x]) for x in points])
    return start, np.array([z for z, _ in entries], int), np.array([c for _, c in entries], int)


def agree(sums, expected):
    """Equal to 1e-6 of the sum of the row."""
    expected = np.array(expected).reshape(sums.shape)
    assert sums.dtype == np.float32
    assert (np.abs(sums - expected) <= 1e-6 * expected.sum(1, keepdims=True)).all()


@st.composite
def cases(draw, values, max_size=12):
    """Observations of points with copies and near copies, widths, and other points to ask at."""
    d = draw(st.integers(1, 6))
    point = st.tuples(*[values] * d)
    base = draw(st.lists(point, min_size=1, max_size=max_size))
    observed = draw(st.lists(st.tuples(st.sampled_from(base), st.integers(0, 3)), min_size=1, max_size=max_size))
    sigma = [draw(WIDTHS)] * d if draw(st.booleans()) else draw(st.lists(WIDTHS, min_size=d, max_size=d))
    query = draw(st.lists(st.one_of(point, st.sampled_from(base)), max_size=4))
    return observed, sigma, query


def compare(observed, sigma, query, dtype):
    points, counts = naive.table(observed)
    x, rows = np.array(points, dtype), compressed(points, counts)
    agree(kernel_sums(x, rows, 4, sigma), naive.kernel_sums(observed, 4, sigma, CUTOFF, points))
    asked = np.array(query, dtype).reshape(len(query), x.shape[1])
    agree(kernel_sums(x, rows, 4, sigma, query=asked), naive.kernel_sums(observed, 4, sigma, CUTOFF, query))


@pytest.mark.small
@given(cases(st.one_of(st.integers(0, 9), st.integers(0, 255))), st.sampled_from([np.uint8, np.int16, np.int64]))
@examples(300, 12)
def test_integers_are_summed_as_pair_by_pair(case, dtype):
    compare(*case, dtype)


@pytest.mark.small
@given(cases(st.one_of(st.integers(-30_000, 30_000), st.integers(0, 200))))
@examples(200, 8)
def test_wide_integers_do_not_wrap(case):
    compare(*case, np.int32)


@pytest.mark.small
@given(cases(st.integers(-400, 400).map(lambda v: v / 16 + 0.001)))
@examples(300, 12)
def test_floats_are_summed_as_pair_by_pair(case):
    compare(*case, np.float64)


@pytest.mark.small
@given(st.integers(1, 40), st.sampled_from([1.0, 1.5, 2.0, 7.0]))
@examples(60, 10)
def test_the_cutoff_itself_is_kept(limit, variance):
    # The kernel at the squared distance `limit` is the cut-off; one more is beyond it.
    sigma, cutoff = math.sqrt(variance), math.exp(-limit / (2 * math.sqrt(variance) ** 2))
    x = np.array([[1] * ones + [0] * (41 - ones) for ones in (0, limit, limit + 1)])
    sums = kernel_sums(x, (np.arange(4), np.arange(3), np.ones(3)), 3, sigma, cutoff)
    assert sums[0, 0] == 1
    assert sums[0, 1] == pytest.approx(cutoff, rel=1e-6)
    assert sums[0, 2] == 0


@pytest.mark.small
def test_the_image_setting_keeps_squares_up_to_62():
    x = np.zeros((3, 20), np.uint8)
    x[1, :14], x[1, 14:17] = 2, [2, 1, 1]  # 15 * 4 + 2 = 62
    x[2, :15], x[2, 15:18] = 2, 1  # 15 * 4 + 3 = 63
    sums = kernel_sums(x, (np.arange(4), np.arange(3), np.ones(3)), 3, math.sqrt(1.5))
    assert sums[0, 1] == pytest.approx(math.exp(-62 / 3), rel=1e-6)
    assert sums[0, 2] == 0


@pytest.mark.small
def test_empty_and_single():
    nothing = np.zeros(1, int), np.zeros(0, int), np.zeros(0, int)
    assert kernel_sums(np.zeros((0, 3)), nothing, 2, 1.0).shape == (0, 2)
    assert (kernel_sums(np.zeros((0, 3)), nothing, 2, 1.0, query=np.zeros((5, 3))) == np.zeros((5, 2))).all()
    one = np.array([0, 2]), np.array([0, 2]), np.array([5, 7])
    assert kernel_sums(np.array([[4, 4]]), one, 3, 1.0).tolist() == [[5, 0, 7]]
    assert kernel_sums(np.array([[4.5, 4]]), one, 3, 1.0).tolist() == [[5, 0, 7]]
    assert kernel_sums(np.array([[4, 4]]), one, 3, 1.0, query=np.zeros((0, 2))).shape == (0, 3)
    assert math.isnan(nearest_distance([[1.0, 2.0]]))


@pytest.mark.small
def test_a_cutoff_of_one_counts_equal_points():
    x = np.array([[0.1], [0.2], [0.3]])
    counts = np.array([0, 1, 2, 4]), np.array([0, 1, 0, 1]), np.array([1, 2, 3, 4])
    assert kernel_sums(x, counts, 2, 1.0, cutoff=1.0).tolist() == [[1, 0], [0, 2], [3, 4]]


def clouds(seed, n, d, dtype):
    """Dense and sparse clusters: several blocks, some of them far apart, some wide."""
    rng = np.random.default_rng(seed)
    centre = rng.normal(0, 60, (8, d))[rng.integers(0, 8, n)]
    x = centre + rng.normal(0, 1, (n, d)) * rng.choice([0.5, 2, 30], (n, 1))
    x = np.unique(x.round().astype(dtype) if np.dtype(dtype).kind == "i" else x.astype(dtype), axis=0)
    size = rng.integers(1, 4, len(x))
    start = np.concatenate([[0], np.cumsum(size)])
    return x, (start, rng.integers(0, 50, start[-1]), rng.integers(1, 9, start[-1]))


def by_matrix(x, counts, n_z, sigma, query):
    squares = sum((query[:, None, k].astype(float) - x[None, :, k]) ** 2 for k in range(x.shape[1])) / sigma**2
    weights = np.where(squares <= -2 * math.log(CUTOFF), np.exp(-squares / 2), 0.0)
    start, outcome, count = counts
    dense = np.zeros((len(x), n_z))
    np.add.at(dense, (np.repeat(np.arange(len(x)), np.diff(start)), outcome), count)
    return weights @ dense


@pytest.mark.parametrize("dtype", [np.int32, np.float32, np.float64])
@pytest.mark.parametrize("d", [1, 2, 5, 9, 20, 30])
def test_many_blocks(dtype, d):
    x, counts = clouds(d, 3000, d, dtype)
    asked = (clouds(d + 100, 500, d, dtype)[0] + x[:1]).astype(dtype)
    for query in (None, asked):
        sums = kernel_sums(x, counts, 50, 2.7, query=query)
        agree(sums, by_matrix(x, counts, 50, 2.7, x if query is None else query))


@pytest.mark.parametrize("dtype", [np.int16, np.float64])
def test_the_result_does_not_depend_on_the_executor(dtype, monkeypatch):
    x, counts = clouds(1, 2000, 6, dtype)
    lines = []
    with told(lines.append):
        expected = kernel_sums(x, counts, 50, 3.0)
    assert lines[-1] == f"kernel sums: {len(lines)} of {len(lines)} parts"
    assert (kernel_sums(x, counts, 50, 3.0, executor=Pickled()) == expected).all()
    with ThreadPoolExecutor(5) as pool:
        assert (kernel_sums(x, counts, 50, 3.0, executor=pool) == expected).all()
    monkeypatch.setattr(module, "workers", lambda: 1)
    monkeypatch.setattr(module, "PARTS", 3)
    assert (kernel_sums(x, counts, 50, 3.0) == expected).all()


def test_far_from_the_origin():
    x, counts = clouds(2, 1000, 3, np.float64)
    moved = x + 1e6
    agree(kernel_sums(moved, counts, 50, 2.0), by_matrix(moved - 1e6, counts, 50, 2.0, moved - 1e6))


@pytest.mark.small
@given(st.lists(st.tuples(st.integers(-9, 9), st.integers(-9, 9)), min_size=2, max_size=20, unique=True))
@examples(50)
def test_nearest_distance(points):
    assert nearest_distance(points) == pytest.approx(naive.nearest_distance(points))


def test_nearest_distance_of_many_takes_a_sample():
    x = np.random.default_rng(3).normal(size=(5000, 2))
    assert nearest_distance(x, 500) == pytest.approx(nearest_distance(x, 5000), rel=0.1)
    assert nearest_distance(x, 500) == nearest_distance(x, 500)


@pytest.mark.small
def test_smooth_is_a_product():
    rng = np.random.default_rng(4)
    hist, kz = rng.random((10, 5), np.float32), rng.random((5, 7))
    assert np.allclose(smooth(hist, kz), hist @ kz, rtol=1e-6)
    assert smooth(hist[:0], kz).shape == (0, 7)
