"""Where slices of work run: threads by default, or any concurrent.futures executor."""

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from itertools import pairwise
from typing import TypeVar

__all__ = ["map_slices", "slices", "workers"]

T = TypeVar("T")
R = TypeVar("R")

# Below this many items one slice is faster than starting threads.
SMALL = 100_000


def workers() -> int:
    """Cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def slices(n: int, parts: int | None = None) -> list[tuple[int, int]]:
    """Cut range(n) into `parts` (default: one per core, one in all for small n) non-empty ranges."""
    parts = parts if parts is not None else (workers() if n > SMALL else 1)
    cuts = [n * i // parts for i in range(parts + 1)]
    return [(a, b) for a, b in pairwise(cuts) if b > a]


def map_slices(chunk: Callable[[T], R], parts: Iterable[T], executor: Executor | None = None) -> Iterator[R]:
    """Yield chunk(part) for each part, in order, computed by the executor (default: threads)."""
    parts = list(parts)
    if executor is not None:
        yield from executor.map(chunk, parts)
    elif len(parts) <= 1:
        yield from map(chunk, parts)
    else:
        with ThreadPoolExecutor(len(parts)) as pool:
            yield from pool.map(chunk, parts)
