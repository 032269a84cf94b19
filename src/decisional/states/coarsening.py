"""Fewer states: those are merged first that lose the least information about the future (information bottleneck)."""

from typing import Any, NamedTuple

import numpy as np

from .._kernels import bottleneck as kernels
from ..support.arguments import integer, real
from ..support.arrays import Floats, Ints, row_sums


class BitsPath(NamedTuple):
    """How many bits about the future are kept by fewer and fewer states.

    Attributes
    ----------
    n_states : (K,) K, K - 1, ..., 1
    bits : (K,) mutual information of state and outcome, for so many states
    merges : (K - 1, 2) the state that is merged at each step, and the one that it goes into
    """

    n_states: Ints
    bits: Floats
    merges: Ints

    def groups(self, n_states: int) -> Ints:
        """(K,) the group of each of the K states, where so many are left."""
        left = min(integer(n_states, "n_states"), len(self.n_states))
        target = np.arange(len(self.n_states))
        for gone, kept in self.merges[: len(self.n_states) - left].tolist():
            target[target == gone] = kept
        return np.unique(target, return_inverse=True)[1]

    def fewest(self, bits: float) -> int:
        """The smallest number of states that keeps so many bits."""
        # Rounding is no loss.
        least = real(bits, "bits", most=float(self.bits[0]) + 1e-9, remedy="see path().bits") - 1e-9
        return int(self.n_states[self.bits >= least].min())


def bits_path(p: Any, probability: Floats) -> BitsPath:
    """Merge the two states that lose least, again and again.

    Parameters
    ----------
    p : (K, n_z) P(Z|state), dense or sparse
    probability : (K,) of the states

    Notes
    -----
    Merging a and b loses (p_a + p_b) times the weighted Jensen-Shannon divergence of their distributions: what their
    difference told about z. Cost: O(K m) for m entries of p that are not 0, and O(K²) memory.
    """
    from scipy.sparse import csr_array

    rows = csr_array(p)
    rows.sort_indices()
    n = rows.shape[0]
    mass = rows.data * np.repeat(probability, np.diff(rows.indptr))
    total = row_sums(rows.indptr, mass)
    whole = np.bincount(rows.indices, weights=mass)
    # What all states together know is nothing.
    nothing = float(_x_log_x(whole).sum() - _x_log_x(total.sum()))
    room = [np.concatenate([part, np.zeros_like(part)]) for part in (rows.indices.astype(np.int64), mass)]
    merges, worth = np.zeros((n - 1, 2), np.int64), np.empty(n)
    kernels.merge_path(rows.indptr.astype(np.int64), *room, rows.shape[1], merges, worth, total)
    return BitsPath(np.arange(n, 0, -1), np.maximum(worth - nothing, 0.0), merges)


def _x_log_x(x: Any) -> Any:
    return x * np.log2(np.maximum(x, 1e-300))
