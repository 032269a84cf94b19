"""Step 1 of the figure: from observations to P(Z|x) at each distinct x, by counts or by kernels."""

from .counts import Counts
from .kernels import Kernels

__all__ = ["Counts", "Kernels"]
