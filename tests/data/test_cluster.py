"""A real cluster of two worker processes: the same results, bit for bit, even where a worker is killed."""

import logging
import operator
import os
import signal
import threading
import time
from contextlib import contextmanager
from functools import partial

import numpy as np
import pytest
from sklearn.base import clone

from decisional.data.stores import stored
from decisional.support import executors
from decisional.support.executors import map_slices, reduce_slices, workers
from naive_tallies import same_decisions, same_observations, same_states
from test_executors import CHUNKS, WORK, check_work, fail_at, letter, works

pytest.importorskip("distributed")

# Sockets and loops of workers that were killed are closed by the garbage collector, in Dask's own time.
pytestmark = [
    pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning"),
    pytest.mark.filterwarnings(
        "ignore:Exception ignored in.*(socket|EventLoop|Future):pytest.PytestUnraisableExceptionWarning"
    ),
]


@contextmanager
def two_workers():
    from distributed import Client, LocalCluster

    how = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": logging.CRITICAL}
    with LocalCluster(processes=True, **how) as cluster, Client(cluster) as client:
        client.wait_for_workers(2, timeout=180)
        yield client


@pytest.fixture(scope="module")
def client():
    with two_workers() as client:
        yield client


@pytest.fixture
def mortal():
    """A cluster of its own for each test that kills a worker: a nanny does not always bring up another."""
    with two_workers() as client:
        yield client


@pytest.fixture(params=["client", "executor"])
def executor(request, client):
    client.wait_for_workers(2, timeout=180)
    if request.param == "client":
        yield client
    else:
        with client.get_executor() as pool:
            yield pool


# ------------------------------------------------------------------------------------- functions of slices


def cores(k):
    return workers()


def process(k):
    time.sleep(0.05)
    return {os.getpid()}


@pytest.mark.parametrize("n", [1, 2, 7])
def test_results_are_combined_in_order(n, executor):
    expected = "".join(map(letter, range(n)))
    assert reduce_slices(letter, operator.add, range(n), executor) == expected
    assert "".join(map_slices(letter, range(n), executor)) == expected


def test_both_workers_work_and_their_slices_are_not_divided_further(client, executor):
    pids = set(client.run(os.getpid).values())
    assert reduce_slices(process, operator.or_, range(8), executor) == pids
    assert set().union(*map_slices(process, range(8), executor)) == pids
    assert reduce_slices(cores, max, range(4), executor) == 1
    assert set(map_slices(cores, range(4), executor)) == {1}


def test_errors_of_slices_surface(executor):
    with pytest.raises(KeyError, match="slice 5"):
        reduce_slices(partial(fail_at, 5), operator.add, range(12), executor)
    with pytest.raises(KeyError, match="slice 5"):
        list(map_slices(partial(fail_at, 5), range(12), executor))


def test_few_slices_are_under_way(client, monkeypatch):
    sent = []
    compute = client.compute
    monkeypatch.setattr(client, "compute", lambda work: sent.append(work) or compute(work))
    for k, result in enumerate(map_slices(letter, range(20), client)):
        assert result == letter(k)
        assert len(sent) - k <= 4
    assert len(sent) == 20


# ---------------------------------------------------------------------------------------------------- data


@works
def test_a_cluster_does_not_matter(work, executor):
    check_work(work, executor)


@pytest.mark.parametrize("work", ["series", "image"])
def test_large_arrays_travel_beside_the_tasks(work, client, monkeypatch):
    monkeypatch.setattr(executors, "LARGE", 0)
    scattered = []
    scatter = client.scatter
    monkeypatch.setattr(client, "scatter", lambda data, **how: scattered.append(data) or scatter(data, **how))
    check_work(work, client)
    assert any(isinstance(data, np.ndarray) for data in scattered)


@works
@pytest.mark.parametrize(("rows", "persisted"), [(5, True), (7, False)])
def test_dask_arrays_are_counted_where_they_are(work, rows, persisted, client):
    """Chunks of the array and slices are not aligned."""
    dask = pytest.importorskip("dask.array")
    values = WORK[work][0]
    array = dask.from_array(values, chunks=(rows * (100 if len(values) > 1000 else 1), *values.shape[1:]))
    array = array.persist() if persisted else array
    check_work(work, client, array)


def test_persisted_arrays_need_no_executor(client):
    dask = pytest.importorskip("dask.array")
    check_work("series", None, dask.from_array(WORK["series"][0], chunks=333).persist())


@pytest.mark.parametrize("way", ["zarr", "hdf5"])
def test_workers_read_files_themselves(way, client, tmp_path):
    from test_stores import WAYS

    values, observe, estimator = WORK["field"]
    sliced = observe(WAYS[way](tmp_path / "values", values))
    same_states(clone(estimator).fit(observe(values)), clone(estimator).fit(sliced, executor=client))


# ------------------------------------------------------------------------------------------- killed workers


def open_slowly(opens, marks, pause):
    """Map a file, after a while and a note of who does."""
    (marks / f"{os.getpid()}-{time.monotonic_ns()}").touch()
    time.sleep(pause)
    return opens()


def sum_slowly(marks, pause, part):
    (marks / f"{os.getpid()}-{time.monotonic_ns()}").touch()
    time.sleep(pause)
    return int(part[0].sum())


class Killer:
    """Kills a worker that is at its second slice."""

    def __init__(self, client, marks):
        client.wait_for_workers(2, timeout=180)
        self.pids, self.marks, self.killed = sorted(client.run(os.getpid).values()), marks, None
        self.thread = threading.Thread(target=self.run)

    def run(self):
        until = time.monotonic() + 120
        while time.monotonic() < until and self.killed is None:
            for pid in self.pids:
                if len(list(self.marks.glob(f"{pid}-*"))) >= 2:
                    os.kill(pid, signal.SIGKILL)
                    self.killed = pid
                    self.at = time.monotonic_ns()
                    return
            time.sleep(0.01)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *error):
        self.thread.join()

    def check(self):
        """The worker died in the middle: others began slices after that."""
        assert self.killed is not None
        began = [(int(pid), int(when)) for pid, when in (mark.name.split("-") for mark in self.marks.iterdir())]
        assert any(when > self.at for _, when in began)
        assert not any(when > self.at for pid, when in began if pid == self.killed)


@pytest.mark.parametrize("work", ["series", "field"])
def test_a_killed_worker_does_not_matter(work, mortal, tmp_path):
    values, observe, estimator = WORK[work]
    np.save(tmp_path / "values.npy", values)
    marks = tmp_path / "marks"
    source = stored(np.load(tmp_path / "values.npy", mmap_mode="r"))
    opens = source.opens
    marks.mkdir()
    source.opens = partial(open_slowly, opens, marks, 0.15)
    sliced = observe(source, chunks=CHUNKS[work] // 2)
    with Killer(mortal, marks) as killer:
        found = clone(estimator).fit(sliced, executor=mortal)
    killer.check()
    source.opens = opens
    whole = clone(estimator).fit(observe(values))
    same_states(whole, found, labels=False)
    same_decisions(whole, found, labels=False)
    same_observations(whole.observations_, observe(source, chunks=CHUNKS[work] // 2))


@pytest.mark.parametrize("way", ["reduce", "map"])
def test_data_that_a_killed_worker_held_are_sent_again(way, mortal, tmp_path, monkeypatch):
    """Dask cannot recover what was scattered."""
    monkeypatch.setattr(executors, "LARGE", 0)
    parts = [(np.full(1000, k),) for k in range(10)]
    work = partial(sum_slowly, tmp_path, 0.15)
    with Killer(mortal, tmp_path) as killer:
        if way == "reduce":
            assert reduce_slices(work, operator.add, parts, mortal) == 45_000
        else:
            assert list(map_slices(work, parts, mortal)) == [1000 * k for k in range(10)]
    killer.check()


def test_values_are_written_though_a_worker_is_killed(mortal, tmp_path):
    values, observe, _ = WORK["series"]
    np.save(tmp_path / "values.npy", values)
    marks = tmp_path / "marks"
    marks.mkdir()
    source = stored(np.load(tmp_path / "values.npy", mmap_mode="r"))
    sliced, whole = observe(source, chunks=350), observe(values)
    numbers = np.arange(sliced.table().n_x) + 0.5
    for part in sliced.parts:
        part.data[0].opens = partial(open_slowly, source.opens, marks, 0.15)
    with Killer(mortal, marks) as killer:
        found = np.concatenate(list(map_slices(sliced.filling(numbers, np.nan), sliced.parts, mortal)))
    killer.check()
    np.testing.assert_array_equal(found, whole.field(numbers[whole.x]))
