"""Compiled loops: arrays in, arrays out, no checks, no strings. Callers validate and allocate."""

from numba import njit

__all__ = ["kernel"]

# One place for the options of every kernel: cached on disk, and free of the interpreter lock so that
# slices run in threads.
kernel = njit(cache=True, nogil=True)
