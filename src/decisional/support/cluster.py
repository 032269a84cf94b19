"""Dask clusters that count slices: one on this machine, or that of a scheduler."""

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

from .executors import check_workers, workers

# Seconds that a scheduler has to answer, and local workers to end.
ANSWER, END = 8, 5


@contextmanager
def cluster(where: str | None) -> Iterator[Any]:
    """What runs the work: an executor of a cluster, which is closed in the end.

    Parameters
    ----------
    where : "local" (a worker process on each core), the address of a Dask scheduler, such as "tcp://host:8786", or None
        for threads, where the executor is None

    Yields
    ------
    Executor
        For `executor=`, until the block ends.
    """
    if where is None:
        yield None
        return
    if find_spec("distributed") is None:
        raise ImportError("A cluster needs Dask, which is not installed: pip install 'decisional[scale]'.")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        before = logging.root.manager.disable
        # All that is worth a word is said below, in one sentence.
        logging.disable(logging.CRITICAL)
        try:
            with _local() if where == "local" else _remote(where) as client:
                yield client.get_executor()
        finally:
            logging.disable(before)


@contextmanager
def _local() -> Iterator[Any]:
    """A cluster of single-threaded processes, one for each core."""
    from distributed import Client, LocalCluster
    from distributed.gc import disable_gc_diagnosis

    how = {"n_workers": workers(), "threads_per_worker": 1, "dashboard_address": ":0"}
    here = None
    try:
        with _without_interrupts():
            here = LocalCluster(**how, silence_logs=logging.CRITICAL)
        # Its callbacks, which are called often, swallow an interruption that arrives inside of them.
        disable_gc_diagnosis(force=True)
        with Client(here) as client:
            yield client
    finally:
        if here is not None:
            here.close(timeout=END)


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """Processes that are started inside do not see Ctrl-C, of which they would complain; we see it at the end."""
    import signal
    import threading
    from multiprocessing import resource_tracker

    if not hasattr(signal, "pthread_sigmask") or threading.current_thread() is not threading.main_thread():
        yield
        return
    # It unblocks the signal where it starts.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        # Taken here: on its own it might arrive inside a callback, which swallows it.
        interrupted = signal.SIGINT in signal.sigpending() and signal.sigwait({signal.SIGINT})
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    if interrupted:
        raise KeyboardInterrupt


async def _answers(address: str) -> bool:
    """Whether a scheduler is there; a client would wait for long where something else is."""
    import asyncio

    from distributed.core import rpc

    try:
        async with asyncio.timeout(ANSWER), rpc(address, timeout=ANSWER) as scheduler:
            return str((await scheduler.identity())["type"]) == "Scheduler"
    except Exception:  # whatever another server's answer makes of the reader
        return False


@contextmanager
def _remote(address: str) -> Iterator[Any]:
    """The cluster of a scheduler that runs already; it goes on afterwards."""
    import asyncio

    from distributed import Client

    if not asyncio.run(_answers(address)):
        raise ValueError(
            f"The scheduler at {address!r} does not answer: check that 'dask scheduler' runs there, or use "
            "a local cluster."
        )
    with Client(address, timeout=ANSWER, set_as_default=False) as client:
        try:
            client.wait_for_workers(1, timeout=ANSWER)
        except TimeoutError:
            raise ValueError(
                f"The scheduler at {address!r} has no workers: start some with 'dask worker {address}'."
            ) from None
        check_workers(client)
        yield client
