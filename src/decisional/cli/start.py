"""A quick start of the kernels."""

from __future__ import annotations

import sys

BLAS = "scipy.linalg.cython_blas"


def start_kernels() -> None:
    """Load numba without SciPy's linear algebra.

    numba imports it with its first kernel, only to convolve faster; that takes a sixth of the time of a short command,
    and no kernel convolves.
    """
    if BLAS in sys.modules:
        return
    sys.modules[BLAS] = None  # type: ignore[assignment]
    try:
        import numba.np.arraymath  # noqa: F401
    finally:
        del sys.modules[BLAS]
