"""Compiled loops: arrays in, arrays out, no checks, no strings. Callers validate and allocate."""

import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from numba import config, njit
from numba.core import event

__all__ = ["is_compiling", "kernel", "seconds_compiled"]


class _Compiling(event.TimingListener):
    """How long kernels were compiled, and whether one is."""

    now = 0

    def on_start(self, event):
        self.now += 1
        super().on_start(event)

    def on_end(self, event):
        self.now -= 1
        super().on_end(event)


_compiling = _Compiling()
event.register("numba:compiler_lock", _compiling)


def seconds_compiled() -> float:
    """How long kernels have been compiled in this process so far: the first time that they are used on a machine."""
    return float(_compiling.duration) if _compiling.done else 0.0


def is_compiling() -> bool:
    """Whether a kernel is compiled at this moment."""
    return _compiling.now > 0


def kernel(function):
    """Compile a function: cached on disk where that is possible, and free of the interpreter lock, for threads."""
    try:
        compiled = njit(cache=True, nogil=True)(function)
    except RuntimeError:
        # Neither the package nor the user's folder can be written: containers, services of the system.
        try:
            with _private_folder():
                compiled = njit(cache=True, nogil=True)(function)
        except (RuntimeError, OSError):
            return njit(nogil=True)(function)
    cache = getattr(compiled, "_cache", None)  # none where compilation is switched off
    if cache is None:
        return compiled
    save = cache.save_overload

    def save_if_possible(*overload):
        # A full disk costs the time to compile again, nothing else.
        with suppress(OSError):
            save(*overload)

    cache.save_overload = save_if_possible
    return compiled


@contextmanager
def _private_folder() -> Iterator[None]:
    """Have kernels cached in a temporary folder that is this user's alone: a cache holds code."""
    folder = Path(tempfile.gettempdir(), f"decisional-{os.getuid() if hasattr(os, 'getuid') else 'cache'}")
    folder.mkdir(mode=0o700, exist_ok=True)
    found = folder.lstat()
    if hasattr(os, "getuid") and (
        not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or stat.S_IMODE(found.st_mode) & 0o077
    ):
        raise OSError(f"the folder {str(folder)!r} is not private")
    options: Any = config
    earlier, options.CACHE_DIR = options.CACHE_DIR, str(folder)
    try:
        yield
    finally:
        options.CACHE_DIR = earlier
