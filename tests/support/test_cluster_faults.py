"""Faults of a Dask cluster: one sentence within bounded time, and what was written is gone on with."""

import logging
import time
from functools import partial

import numpy as np
import pytest

import decisional as ds
from dask_processes import Processes
from decisional import cli
from decisional.data.stores import Stored
from decisional.support import cluster, executors

pytest.importorskip("distributed")

# Sockets and loops of processes that were killed are closed by the garbage collector, in Dask's own time.
pytestmark = [
    pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning"),
    pytest.mark.filterwarnings(
        "ignore:Exception ignored in.*(socket|EventLoop|Future):pytest.PytestUnraisableExceptionWarning"
    ),
]

SYMBOLS = ds.processes.even().simulate(4000, rng=1).astype(np.uint8)
LOST = "The connection to the cluster was lost: check that its scheduler runs, and try again"


def observed(path):
    np.save(path, SYMBOLS)
    return ds.observe.series(np.load(path, mmap_mode="r"), past=4, chunks=400)


@pytest.fixture
def processes():
    logging.disable(logging.CRITICAL)
    with Processes() as processes:
        yield processes
    logging.disable(logging.NOTSET)


@pytest.fixture
def client(processes):
    from distributed import Client

    processes.worker()
    with Client(processes.address, timeout=1, set_as_default=False) as client:
        yield client


def killing(processes, monkeypatch, wait):
    """The scheduler is killed before a result is waited for, the k-th one."""
    waited, result = [], executors._result

    def kill(*given):
        waited.append(given)
        if len(waited) == wait:
            processes.scheduler.kill()
        return result(*given)

    monkeypatch.setattr(executors, "_result", kill)
    return waited


def soon(begin, seconds=50):
    assert time.monotonic() - begin < seconds


# --------------------------------------------------------------------------------------------- the scheduler


@pytest.mark.parametrize("wait", [1, 2])
def test_a_scheduler_that_is_lost(wait, processes, client, monkeypatch, tmp_path):
    """Before the first slice and during the work; a client that is closed says the same."""
    waited, begin = killing(processes, monkeypatch, wait), time.monotonic()
    obs = observed(tmp_path / "symbols.npy")
    for _ in range(2):
        with pytest.raises(ConnectionError, match=LOST):
            ds.CausalStates().fit(obs, executor=client.get_executor())
    assert len(waited) >= wait
    soon(begin)
    # The observations are as they were.
    whole = ds.CausalStates().fit(ds.observe.series(SYMBOLS, past=4))
    assert ds.CausalStates().fit(obs).machine_.is_isomorphic(whole.machine_, atol=0)


def test_values_go_on_after_a_scheduler_was_lost(processes, client, monkeypatch, tmp_path):
    causal, path, told = ds.CausalStates().fit(observed(tmp_path / "symbols.npy")), tmp_path / "labels.npy", []
    killing(processes, monkeypatch, 5)
    with pytest.raises(ConnectionError, match=LOST):
        ds.write_values(causal, path, executor=client, progress=told.append)
    assert told == ["labels: 1 of 10 slices", "labels: 2 of 10 slices", "labels: 3 of 10 slices"]
    assert not path.exists()
    ds.write_values(causal, path, progress=told.append)
    assert told[3] == "labels: 3 of 10 slices were there"
    expected = ds.CausalStates().fit(ds.observe.series(SYMBOLS, past=4))
    np.testing.assert_array_equal(np.load(path)[expected.observations_.site], expected.labels_)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["labels.npy", "symbols.npy"]


def one_line(capsys, *line):
    """What a command says that fails."""
    begin = time.monotonic()
    assert cli.main([str(word) for word in line]) == 2
    soon(begin)
    shown, errors = capsys.readouterr()
    assert shown == ""
    assert errors.count("\n") == 1
    return errors


def test_a_command_whose_scheduler_is_lost(processes, monkeypatch, tmp_path, capsys):
    processes.worker()
    monkeypatch.setattr(cluster, "ANSWER", 2)
    np.save(tmp_path / "symbols.npy", SYMBOLS)
    line = ["symbols", tmp_path / "symbols.npy", "--past", 4, "--chunks", 400, "--labels", tmp_path / "labels.npy"]
    killing(processes, monkeypatch, 7)
    assert one_line(capsys, *line, "--cluster", processes.address).startswith(f"decisional: {LOST}")
    assert not (tmp_path / "labels.npy").exists()
    assert "does not answer: check that 'dask scheduler'" in one_line(capsys, *line, "--cluster", processes.address)
    assert cli.main([*map(str, line), "--quiet"]) == 0
    assert sorted(file.name for file in tmp_path.iterdir()) == ["labels.npy", "symbols.npy"]


# ------------------------------------------------------------------------------------------------ the workers

MISSING = """raise ModuleNotFoundError("No module named 'decisional'", name="decisional")"""


@pytest.mark.parametrize(
    ("content", "error", "said"),
    [
        (MISSING, ImportError, f"have no decisional: install version {ds.__version__} there"),
        ('__version__ = "0.0.7"', ValueError, f"have decisional 0.0.7 and this is {ds.__version__}: install the same"),
    ],
)
def test_workers_that_cannot_do_the_work(content, error, said, processes, tmp_path, capsys):
    from distributed import Client

    (tmp_path / "other" / "decisional").mkdir(parents=True)
    (tmp_path / "other" / "decisional" / "__init__.py").write_text(content)
    obs, labels = observed(tmp_path / "symbols.npy"), tmp_path / "labels.npy"
    processes.worker(first_on_path=tmp_path / "other")
    with Client(processes.address, set_as_default=False) as client:
        with pytest.raises(error, match=said):
            ds.CausalStates().fit(obs, executor=client)
        with pytest.raises(error, match=said):
            ds.write_values(ds.CausalStates().fit(obs), labels, executor=client)
    assert not labels.exists()
    line = ["symbols", tmp_path / "symbols.npy", "--past", 4, "--cluster", processes.address]
    assert said in one_line(capsys, *line)


@pytest.mark.parametrize("memory", [None, "50MB"])
def test_a_cluster_where_nobody_takes_work(memory, processes, monkeypatch, tmp_path):
    """No worker, or one that is paused as its memory is full."""
    from distributed import Client

    monkeypatch.setattr(executors, "PATIENCE", 0.5)
    monkeypatch.setattr(executors, "LOOK", 0.2)
    if memory:
        processes.worker(memory=memory)
    begin, obs = time.monotonic(), observed(tmp_path / "symbols.npy")
    said = "has no workers that take work: start some, with more memory"
    with Client(processes.address, set_as_default=False) as client, pytest.raises(ValueError, match=said):
        ds.CausalStates().fit(obs, executor=client)
    soon(begin)


def open_hungrily(path):
    """Map a file, with more memory than there is."""
    hoard = [np.ones(4_000_000) for _ in range(20)]
    time.sleep(2)
    assert len(hoard)
    return np.load(path, mmap_mode="r")


def test_workers_without_enough_memory(tmp_path):
    """Dask kills them, and gives up after the second one."""
    import dask
    from distributed import Client, LocalCluster

    how = {"n_workers": 1, "threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": logging.CRITICAL}
    np.save(tmp_path / "symbols.npy", SYMBOLS)
    source = Stored(partial(np.load, tmp_path / "symbols.npy", mmap_mode="r"))
    obs = ds.observe.series(source, past=4, chunks=2000)
    for part in obs.parts:
        part.data[0].opens = partial(open_hungrily, tmp_path / "symbols.npy")
    enough = dask.config.set({"distributed.scheduler.allowed-failures": 1})
    with enough, LocalCluster(memory_limit="350MB", **how) as workers, Client(workers) as client:
        begin = time.monotonic()
        with pytest.raises(ValueError, match="ended while they worked, most often for lack of memory: give smaller"):
            ds.CausalStates().fit(obs, executor=client)
        soon(begin, 120)
