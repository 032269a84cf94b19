"""Where slices run does not matter: order, errors, how many are under way; threads and processes count alike."""

import operator
import os
import threading
import time
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import nullcontext
from functools import partial
from multiprocessing import get_context

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

import decisional as ds
from decisional.data.slices import Part
from decisional.support import executors
from decisional.support.executors import alone, map_slices, reduce_slices, slices, workers
from naive_tallies import KINDS, attempt, same_decisions, same_observations, same_states
from strategies_symbols import examples

# ---------------------------------------------------------------------- data of all kinds, for any executor

RNG = np.random.default_rng(0)
SYMBOLS = ds.processes.even().simulate(4000, rng=1).astype(np.uint8)
FIELD = RNG.integers(0, 2, (40, 9))
IMAGE = RNG.integers(0, 4, (14, 11))
SIGNAL = np.cumsum(RNG.normal(size=150))
REAL_FIELD = RNG.normal(size=(60, 20)) + 2.0 * (np.indices((60, 20)).sum(axis=0) % 3)
KERNELS = ds.CausalStates(density=ds.Kernels(bandwidth=1.0))
# Data, how to observe them, and the states to find.
WORK = {
    "series": (SYMBOLS, partial(ds.observe.series, past=5, future=2), ds.CausalStates()),
    "long words": (SYMBOLS, partial(ds.observe.series, past=70), ds.CausalStates()),
    "field": (FIELD, partial(ds.observe.light_cones, past=2, future=2, transitions="time"), ds.CausalStates()),
    "real field": (REAL_FIELD, partial(ds.observe.light_cones, past=2, future=2), ds.CausalStates()),
    "image": (IMAGE, partial(ds.observe.image, neighbourhood="cross"), KERNELS),
    "signal": (SIGNAL, partial(ds.observe.delays, past=2), KERNELS),
    "pairs": (FIELD[:, 0], lambda x, **more: ds.observe.pairs(x, FIELD[:, 1], FIELD[:, 2], **more), ds.CausalStates()),
    "vectors": (IMAGE / 4, lambda x, **more: ds.observe.pairs(x[:, :2], x[:, 2], **more), KERNELS),
}
works = pytest.mark.parametrize("work", WORK)
CHUNKS = {
    "series": 700,
    "long words": 900,
    "field": 9,
    "real field": 9,
    "image": 4,
    "signal": 40,
    "pairs": 11,
    "vectors": 5,
}


def check_work(work, executor, data=None):
    """Compare counts, states and decisions with those of the whole, found without an executor."""
    given, observe, estimator = WORK[work]
    whole, sliced = observe(given), observe(given if data is None else data, chunks=CHUNKS[work])
    one, two = clone(estimator).fit(whole), clone(estimator).fit(sliced, executor=executor)
    # Real-valued fields have x and z once they are fitted.
    whole, sliced = one.observations_, two.observations_
    same_observations(whole, sliced)
    same_states(one, two)
    same_decisions(one, two)
    same_states(one, clone(estimator).fit(observe(given), executor=executor))
    values = np.arange(whole.table().n_x) + 0.5
    parts = list(map_slices(sliced.filling(values, np.nan), sliced.parts, executor))
    np.testing.assert_array_equal(np.concatenate(parts), whole.field(values[whole.x]))


@pytest.fixture(scope="module")
def pool():
    """Processes that share nothing with this one."""
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        yield pool


class Inline(Executor):
    """Works at once, and notes how many results wait to be taken."""

    def __init__(self):
        self.waiting = self.most = 0

    def submit(self, fn, /, *args, **kwargs):
        self.waiting += 1
        self.most = max(self.most, self.waiting)
        future = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        take = future.result

        def result(timeout=None):
            self.waiting -= 1
            return take(timeout)

        future.result = result
        return future


# ------------------------------------------------------------------------------------- functions of slices


def letter(k):
    return f"<{k}>"


def fail_at(bad, k):
    if k == bad:
        raise KeyError(f"slice {k}")
    return k


def cores(k):
    return workers()


@pytest.mark.small
@pytest.mark.parametrize("n", [1, 2, 3, 7, 8, 23])
@pytest.mark.parametrize("kind", ["default", "one thread", "two threads", "inline", "alone"])
def test_results_are_combined_in_order(n, kind):
    expected = "".join(map(letter, range(n)))
    pool = {"one thread": ThreadPoolExecutor(1), "two threads": ThreadPoolExecutor(2), "inline": Inline()}.get(kind)
    with alone() if kind == "alone" else pool or nullcontext():
        assert reduce_slices(letter, operator.add, range(n), pool) == expected
        assert "".join(map_slices(letter, range(n), pool)) == expected


def test_results_of_processes_are_combined_in_order(pool):
    for n in (1, 5, 8):
        expected = "".join(map(letter, range(n)))
        assert reduce_slices(letter, operator.add, range(n), pool) == expected
        assert "".join(map_slices(letter, range(n), pool)) == expected


def end_at(bad, k):
    if k == bad:
        os._exit(1)
    return letter(k)


def test_a_process_that_ends_is_told_in_a_sentence():
    """As the system ends it, where memory is scarce."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        with pytest.raises(ValueError, match="ended while they worked, most often for lack of memory: give smaller"):
            list(map_slices(partial(end_at, 2), range(5), pool))
        with pytest.raises(ValueError, match="ended while they worked"):
            reduce_slices(letter, operator.add, range(5), pool)


def test_slow_slices_keep_their_place():
    def slow(k):
        time.sleep(0.02 * (k % 3 == 0))
        return letter(k)

    with ThreadPoolExecutor(4) as pool:
        assert reduce_slices(slow, operator.add, range(13), pool) == "".join(map(letter, range(13)))


@pytest.mark.small
@examples(60)
@given(n=st.integers(1, 40))
def test_few_results_are_kept(n):
    """Results wait in a tree: their number is the logarithm of that of the parts."""
    living, most = set(), 0

    def join(a, b):
        living.difference_update([a, b])
        living.add((a[0], b[1]))
        return a[0], b[1]

    def begin(k):
        nonlocal most
        living.add((k, k + 1))
        most = max(most, len(living))
        return k, k + 1

    with alone():
        assert reduce_slices(begin, join, range(n)) == (0, n)
    assert most <= int(np.log2(n)) + 2


@pytest.mark.small
@pytest.mark.parametrize("cores", [1, 2, 3])
def test_few_slices_are_under_way(cores, monkeypatch):
    monkeypatch.setattr(executors, "workers", lambda: cores)
    inline = Inline()
    for k, result in enumerate(map_slices(letter, range(50), inline)):
        assert result == letter(k)
        assert inline.waiting <= 2 * cores
    assert inline.most == 2 * cores
    assert inline.waiting == 0


@pytest.mark.small
def test_executors_with_more_workers_are_kept_busy(monkeypatch):
    monkeypatch.setattr(executors, "workers", lambda: 1)
    inline = Inline()
    inline._max_workers = 5
    assert len(list(map_slices(letter, range(50), inline))) == 50
    assert inline.most == 10


@pytest.mark.small
@pytest.mark.parametrize("bad", [0, 5, 11])
@pytest.mark.parametrize("threads", [None, 1, 2])
def test_errors_of_slices_surface(bad, threads):
    pool = None if threads is None else ThreadPoolExecutor(threads)
    with pool or nullcontext():
        with pytest.raises(KeyError, match=f"slice {bad}"):
            list(map_slices(partial(fail_at, bad), range(12), pool))
        with pytest.raises(KeyError, match=f"slice {bad}"):
            reduce_slices(partial(fail_at, bad), operator.add, range(12), pool)


def test_errors_of_slices_surface_from_processes(pool):
    with pytest.raises(KeyError, match="slice 5"):
        reduce_slices(partial(fail_at, 5), operator.add, range(12), pool)
    assert reduce_slices(partial(fail_at, -1), operator.add, range(12), pool) == 66


def test_nothing_is_left_behind_by_an_error():
    done = []

    def note(k):
        time.sleep(0.01)
        done.append(k)
        return fail_at(0, k)

    with ThreadPoolExecutor(1) as pool:
        with pytest.raises(KeyError):
            list(map_slices(note, range(100), pool))
        assert pool.submit(letter, 7).result() == letter(7)
    assert len(done) <= 3, "what was waiting was cancelled"


# --------------------------------------------------------------------------------------------------- alone


@pytest.mark.small
def test_work_that_is_a_slice_is_not_divided_further(monkeypatch):
    monkeypatch.setattr(executors.os, "sched_getaffinity", lambda _: range(8), raising=False)
    assert workers() == 8
    with alone():
        assert workers() == 1
        with alone():
            assert workers() == 1
        assert workers() == 1
        assert slices(10**9) == [(0, 10**9)]
        seen = []
        list(map_slices(lambda k: seen.append(threading.get_ident()), range(5)))
        assert set(seen) == {threading.get_ident()}
    assert workers() == 8
    with pytest.raises(KeyError), alone():
        raise KeyError
    assert workers() == 8


def test_slices_of_reductions_are_alone_everywhere(pool):
    for executor in (None, ThreadPoolExecutor(2), pool):
        assert reduce_slices(cores, max, range(4), executor) == 1


@pytest.mark.small
@examples(100)
@given(st.integers(0, 300), st.integers(0, 12))
def test_slices_cover(n, parts):
    found = slices(n, parts)
    assert [k for a, b in found for k in range(a, b)] == list(range(n))
    assert all(b > a for a, b in found)
    assert len(found) <= max(parts, 1)


@pytest.mark.small
def test_parts_with_dask_arrays_are_told_from_others():
    array = pytest.importorskip("dask.array").zeros(5)
    assert executors._is_lazy(Part((array, None), 0, 5, 0))
    assert executors._is_lazy((1, (2, array)))
    assert not executors._is_lazy(Part((np.zeros(5), None), 0, 5, 0))
    assert not executors._is_lazy("text")


# ------------------------------------------------------------------------------------------- data, anywhere


@works
@pytest.mark.parametrize("threads", [None, 1, 2])
def test_threads_do_not_matter(work, threads):
    pool = None if threads is None else ThreadPoolExecutor(threads)
    with pool or nullcontext():
        check_work(work, pool)


@works
def test_processes_do_not_matter(work, pool):
    check_work(work, pool)


@pytest.mark.parametrize("kind", KINDS)
@examples(8)
@given(data=st.data(), chunks=st.integers(1, 12), threads=st.integers(1, 3))
def test_any_data_in_any_number_of_threads(kind, data, chunks, threads):
    observe = data.draw(KINDS[kind])
    whole = attempt(observe)
    if isinstance(whole, type):
        return
    sliced = observe(chunks=chunks)
    with ThreadPoolExecutor(threads) as pool:
        sliced.table(pool)
    same_observations(whole, sliced)


@works
@pytest.mark.parametrize("rows", [1, 7, 100])
def test_dask_arrays_without_a_cluster_are_counted_where_they_are(work, rows):
    """Chunks of the array and slices are not aligned."""
    dask = pytest.importorskip("dask.array")
    given = WORK[work][0]
    check_work(work, None, dask.from_array(given, chunks=(rows * (50 if given.size > 3000 else 1), *given.shape[1:])))
