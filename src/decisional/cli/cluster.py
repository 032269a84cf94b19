"""Data beyond memory and beyond one machine: slices, and the cluster that counts them."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

from .parser import Parser, integer

__all__ = ["add_scale", "cluster", "is_sliced"]

# Seconds that a scheduler has to answer, and local workers to end.
ANSWER, END = 8, 5
ADDRESS = re.compile(r"(?:[a-z]+://)?(?:[^\s/:]+|\[[0-9a-fA-F:.]+\]):\d{1,5}/?")


def add_scale(command: Parser, rows: str) -> None:
    """Options for large data, `rows` being what a slice has."""
    group = command.add_argument_group("large data")
    chunks = f"read slice by slice, with so many {rows} in each (large files always are)"
    group.add_argument("--chunks", type=integer(1), metavar="N", help=chunks)
    where = "count on a cluster: local (a worker process on each core) or the address of a Dask scheduler"
    group.add_argument("--cluster", type=_where, metavar="WHERE", help=f"{where}, such as tcp://host:8786")


def _where(text: str) -> str:
    if text != "local" and ADDRESS.fullmatch(text) is None:
        rule = "must be 'local' or the address of a Dask scheduler, such as tcp://host:8786"
        raise argparse.ArgumentTypeError(f"{rule}. Got {text!r} instead")
    return text


def is_sliced(arguments: argparse.Namespace) -> bool:
    """Whether slices were asked for: workers read their own part of a file."""
    return arguments.chunks is not None or arguments.cluster is not None


@contextmanager
def cluster(arguments: argparse.Namespace) -> Iterator[Any]:
    """What runs the work, an executor of the cluster or None: threads; the cluster is closed in the end."""
    where = arguments.cluster
    if where is None:
        yield None
        return
    if find_spec("distributed") is None:
        raise ImportError("The option --cluster needs Dask, which is not installed: pip install 'decisional[scale]'.")
    import logging
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        before = logging.root.manager.disable
        # All that is worth a word is said below, in one sentence.
        logging.disable(logging.CRITICAL)
        try:
            with _local() if where == "local" else _remote(where) as client:
                yield from _working(client)
        finally:
            logging.disable(before)


def _working(client: Any) -> Iterator[Any]:
    from concurrent.futures import CancelledError

    from distributed import KilledWorker

    try:
        yield client.get_executor()
    except KilledWorker:
        raise ValueError(
            "The workers of the cluster ended while they worked, most often for lack of memory: give a smaller "
            "--chunks, or start workers with more memory."
        ) from None
    except CancelledError:
        raise ValueError(
            "The connection to the cluster was lost while it worked: check that its scheduler runs, and try again."
        ) from None


@contextmanager
def _local() -> Iterator[Any]:
    """A cluster of single-threaded processes, one for each core."""
    import logging

    from distributed import Client, LocalCluster
    from distributed.gc import disable_gc_diagnosis

    from ..support.executors import workers

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
    from importlib.metadata import version

    from distributed import Client

    from .. import __version__

    if not asyncio.run(_answers(address)):
        raise ValueError(
            f"The scheduler of --cluster {address!r} does not answer: check that 'dask scheduler' runs there, or use "
            "--cluster local."
        )
    with Client(address, timeout=ANSWER, set_as_default=False) as client:
        try:
            client.wait_for_workers(1, timeout=ANSWER)
            versions = set(client.run(version, "decisional").values())
        except TimeoutError:
            raise ValueError(
                f"The scheduler of --cluster {address!r} has no workers: start some with 'dask worker {address}'."
            ) from None
        except ImportError:
            raise ImportError(
                f"The workers of --cluster {address!r} have no decisional: install version {__version__} there."
            ) from None
        if versions != {__version__}:
            found = ", ".join(sorted(versions))
            raise ValueError(
                f"The workers of --cluster {address!r} have decisional {found} and this is {__version__}: install the "
                "same version there."
            )
        yield client
