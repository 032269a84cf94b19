"""Where slices of work run: threads by default, any concurrent.futures executor, or a Dask cluster."""

import os
import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, ThreadPoolExecutor
from contextlib import closing, contextmanager, nullcontext, suppress
from contextvars import ContextVar
from dataclasses import fields, is_dataclass
from functools import partial, reduce
from itertools import islice, pairwise
from typing import Any, TypeVar
from uuid import uuid4

from .. import __version__
from .arguments import refusal
from .progress import counted, details

T = TypeVar("T")
R = TypeVar("R")

# Below this many items one slice is faster than starting threads.
SMALL = 100_000
# Arrays of more bytes are sent to a cluster beside the tasks, not within them.
LARGE = 1 << 20
# Results that are combined at once on a cluster: fewer tasks than with two.
BRANCHES = 8
# How often work is sent to a cluster whose workers die.
ATTEMPTS = 4
# Seconds that a cluster may be without a worker at work, and between two looks at it.
PATIENCE, LOOK = 60.0, 2.0

ENDED = (
    "The workers that count slices ended while they worked, most often for lack of memory: give smaller chunks, or "
    "start workers with more memory."
)

_alone: ContextVar[bool] = ContextVar("alone", default=False)


@contextmanager
def alone() -> Iterator[None]:
    """Inside, work is not divided further: it is one of many slices already."""
    token = _alone.set(True)
    try:
        with details():
            yield
    finally:
        _alone.reset(token)


def workers() -> int:
    """Cores this process may use; one for work that is a slice already."""
    if _alone.get():
        return 1
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def slices(n: int, parts: int | None = None) -> list[tuple[int, int]]:
    """Cut range(n) into `parts` (default: one per core, one in all for small n) non-empty ranges."""
    parts = max(parts, 1) if parts is not None else (workers() if n > SMALL else 1)
    cuts = [n * i // parts for i in range(parts + 1)]
    return [(a, b) for a, b in pairwise(cuts) if b > a]


def map_slices(chunk: Callable[[T], R], parts: Iterable[T], executor: Executor | None = None) -> Iterator[R]:
    """Yield chunk(part) for each part, in order, computed by the executor (default: threads).

    At most twice as many parts as there are workers are under way or wait to be taken.
    """
    parts = list(parts)
    client = _client(executor)
    if client is not None:
        yield from _on_cluster(client, chunk, parts)
    elif executor is None and (len(parts) <= 1 or workers() == 1):
        yield from map(chunk, parts)
    else:
        with nullcontext(executor) if executor is not None else _threads(workers()) as pool:
            yield from _in_pool(pool, chunk, parts)


# Pools of so many threads that nobody uses: to start threads takes longer than many a slice.
_idle: dict[int, list[ThreadPoolExecutor]] = defaultdict(list)
if hasattr(os, "register_at_fork"):
    # Threads do not live on in a child.
    os.register_at_fork(after_in_child=_idle.clear)


@contextmanager
def _threads(n: int) -> Iterator[ThreadPoolExecutor]:
    """A pool of n threads, nobody else's inside: slices that are cut into slices themselves would wait for ever."""
    try:
        pool = _idle[n].pop()
    except IndexError:
        pool = ThreadPoolExecutor(n)
    try:
        yield pool
    except BaseException:
        # What is under way ends first.
        pool.shutdown()
        raise
    _idle[n].append(pool)


def _in_pool(pool: Executor, chunk: Callable[[T], R], parts: list[T]) -> Iterator[R]:
    waiting: deque[Future[R]] = deque()
    most = 2 * max(workers(), getattr(pool, "_max_workers", 1))
    try:
        for part in parts:
            waiting.append(_submitted(pool, chunk, part))
            if len(waiting) >= most:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    except BrokenExecutor:
        raise ValueError(ENDED) from None
    finally:
        # Nobody waits for the rest after an error, or where no more results are asked for.
        for future in waiting:
            future.cancel()


def _submitted(pool: Executor, chunk: Callable[[T], R], part: T) -> "Future[R]":
    try:
        return pool.submit(chunk, part)
    except BrokenExecutor:
        raise
    except RuntimeError as error:
        rule = f"an executor that takes work ({error})"
        raise ValueError(refusal("executor", pool, rule, "give one that was not shut down")) from None


def reduce_slices(
    chunk: Callable[[T], R],
    combine: Callable[[R, R], R],
    parts: Iterable[T],
    executor: Executor | None = None,
    what: str = "work",
) -> R:
    """All chunk(part) combined, an operation that must be associative: neighbours first, in a tree.

    `what` is done is told with the number of slices: see `progress`.

    On a Dask cluster, and for parts that hold Dask arrays, the tree grows where the data are, and only its root
    travels. Elsewhere no more results are kept than the logarithm of the number of parts, and those under way.
    """
    parts = list(parts)
    client = _client(executor)
    if client is not None or (executor is None and any(_is_lazy(part) for part in parts)):
        return _tree(client, partial(_call_alone, chunk), combine, parts, what)
    done: list[tuple[int, R]] = []
    for result in counted(map_slices(partial(_call_alone, chunk), parts, executor), what, len(parts), "slices"):
        size = 1
        while done and done[-1][0] == size:
            result, size = combine(done.pop()[1], result), 2 * size
        done.append((size, result))
    _, total = done.pop()
    while done:
        total = combine(done.pop()[1], total)
    return total


def _call_alone(chunk: Callable[[T], R], part: T) -> R:
    with alone():
        return chunk(part)


def check_executor(executor: Any) -> None:
    """Refuse what takes no work."""
    if executor is not None and (isinstance(executor, type) or not hasattr(executor, "submit")):
        rule = "None, a concurrent.futures executor or a Dask client"
        raise TypeError(refusal("executor", executor, rule, "leave it out for threads"))


def _client(executor: Any) -> Any:
    """The Dask client of an executor, or of itself; None for others."""
    check_executor(executor)
    client = getattr(executor, "_client", executor)
    return client if hasattr(client, "scatter") and hasattr(client, "compute") else None


def _is_lazy(part: Any) -> bool:
    """Whether a part holds a Dask array."""
    inside = part if isinstance(part, tuple) else vars(part).values() if is_dataclass(part) else ()
    return any(hasattr(field, "__dask_graph__") or (isinstance(field, tuple) and _is_lazy(field)) for field in inside)


def check_workers(client: Any) -> None:
    """Refuse a cluster without workers, or with workers that cannot do the work of this version."""
    with _one_sentence(client):
        where = client.scheduler.address
        # A task lets clusters start workers that do so as there is work.
        _result(client, client.submit(len, (), pure=False))
        # A lambda travels as it is: a function of this module would need the package there.
        found = client.run(lambda: __import__("decisional").__version__, on_error="return").values()
    if any(isinstance(version, ImportError) for version in found):
        raise ImportError(f"The workers at {where!r} have no decisional: install version {__version__} there.")
    # A worker that ended meanwhile has no version, and no work either.
    others = sorted({version for version in found if isinstance(version, str)} - {__version__})
    if others:
        raise ValueError(
            f"The workers at {where!r} have decisional {', '.join(others)} and this is {__version__}: install the same "
            "version there."
        )


@contextmanager
def _one_sentence(client: Any) -> Iterator[None]:
    """Faults of the cluster itself in the words of the house; errors of the work are left as they are."""
    from distributed import KilledWorker
    from distributed.comm.core import CommClosedError

    try:
        yield
    except KilledWorker:
        raise ValueError(ENDED) from None
    except Exception as error:
        # A client without a scheduler fails in many ways.
        if client.status == "running" and not isinstance(error, (CancelledError, CommClosedError)):
            raise
        raise ConnectionError(
            "The connection to the cluster was lost: check that its scheduler runs, and try again with a new client."
        ) from None


def _result(client: Any, future: Any, look: Callable[[], Any] = lambda: None) -> Any:
    """What becomes of a future; it is not waited for where nobody works on it, nor will. Meanwhile one may `look`."""
    worked = time.monotonic()
    while not future.done():
        with suppress(TimeoutError):
            return future.result(timeout=LOOK)
        look()
        # Paused workers take nothing new.
        if client.run_on_scheduler(
            lambda dask_scheduler: any(
                w.executing or w.status.name == "running" for w in dask_scheduler.workers.values()
            )
        ):
            worked = time.monotonic()
        elif time.monotonic() - worked > PATIENCE:
            raise ValueError(
                f"The scheduler at {client.scheduler.address!r} has no workers that take work: start some, with more "
                "memory if those that are there are paused."
            )
    return future.result()


def _tree(client: Any, chunk: Callable[[T], R], combine: Callable[[R, R], R], parts: list[T], what: str) -> R:
    from dask.delayed import delayed

    run = delayed(chunk, pure=False, traverse=False)
    join = delayed(partial(reduce, combine), pure=False, traverse=False)

    def grow(name: str) -> Any:
        level = [run(_sent(client, part), dask_key_name=f"{name}-{i}") for i, part in enumerate(parts)]
        while len(level) > 1:
            level = [join(level[i : i + BRANCHES]) for i in range(0, len(level), BRANCHES)]
        return level[0]

    total: R
    if client is None:
        total = _computed(grow, what, len(parts))
        return total
    check_workers(client)
    with _one_sentence(client):
        total = _persistent(partial(_computed_on_cluster, client, grow, what, len(parts)))
    return total


def _computed_on_cluster(client: Any, grow: Callable[[str], Any], what: str, n: int) -> Any:
    """The root of a tree, while it is told how many of its n slices are done."""
    name, told = _name(), 0

    def look() -> None:
        nonlocal told
        left = client.run_on_scheduler(
            lambda dask_scheduler, name: sum(
                str(key).startswith(name) and task.state in ("waiting", "queued", "no-worker", "processing")
                for key, task in dask_scheduler.tasks.items()
            ),
            name=name,
        )
        # There are none before they arrive, either.
        told += len(list(islice(done, max(n - left - told, 0) if left else 0)))

    with closing(counted(range(n), what, n, "slices")) as done:
        result = _result(client, client.compute(grow(name)), look)
        deque(done, maxlen=0)
    return result


def _name() -> str:
    """A name for tasks that are counted."""
    return f"decisional-slice-{uuid4().hex}"


def _computed(grow: Callable[[str], Any], what: str, n: int) -> Any:
    """The root of a tree by the scheduler of Dask that there is, where n slices are counted if it runs here."""
    from dask.callbacks import Callback

    name, done = _name(), counted(range(n), what, n, "slices")
    with closing(done), Callback(posttask=lambda key, *_: next(done, None) if str(key).startswith(name) else None):
        return grow(name).compute()


def _on_cluster(client: Any, chunk: Callable[[T], R], parts: list[T]) -> Iterator[R]:
    """Results in order; what all tasks share goes to each worker once."""
    from dask.delayed import delayed

    run = delayed(_call_alone, pure=False, traverse=False)

    def share() -> Any:
        return _scatter(client, chunk, broadcast=True)

    def send(function: Any, part: T) -> Any:
        return client.compute(run(function, _sent(client, part)))

    def take() -> R:
        part, future = waiting.popleft()
        try:
            result: R = _result(client, future)
        except CancelledError:
            result = _persistent(lambda: _result(client, send(share(), part)))
        return result

    def results() -> Iterator[R]:
        function = share()
        for part in parts:
            waiting.append((part, send(function, part)))
            if len(waiting) >= 2 and len(waiting) >= 2 * sum(client.nthreads().values()):
                yield take()
        while waiting:
            yield take()

    waiting = deque[tuple[T, Any]]()
    check_workers(client)
    with _one_sentence(client):
        yield from results()


def _persistent(work: Callable[[], R], lost: type[Exception] = CancelledError) -> R:
    """Work is done again from the start where arrays that were sent to a worker were lost with it."""
    for attempt in range(1, ATTEMPTS):
        try:
            return work()
        except lost:
            time.sleep(0.1 * attempt)
    return work()


def _scatter(client: Any, data: Any, **how: Any) -> Any:
    """Send data to a worker, to another one where it dies meanwhile: connections that break are OSErrors."""
    return _persistent(lambda: client.scatter(data, hash=False, **how), OSError)


def _sent(client: Any, part: Any) -> Any:
    """A part whose large arrays go to the workers beside the task, if there is a client: Dask puts them back."""
    if client is None:
        return part
    if type(part) is tuple:
        return tuple(_sent(client, field) for field in part)
    if is_dataclass(part):
        from dask.delayed import delayed

        # It is made again where it is needed: not all versions of Dask find arrays that were sent within one.
        make = delayed(type(part), pure=False, traverse=False)
        return make(*(_sent(client, getattr(part, field.name)) for field in fields(part)))
    if type(part).__module__ == "numpy" and getattr(part, "nbytes", 0) > LARGE:
        return _scatter(client, part)
    return part
