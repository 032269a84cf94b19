"""Fewer states: those are merged first that lose the least information about the future (information bottleneck)."""

from typing import NamedTuple

import numpy as np

from ..support.arguments import integer, real
from ..support.arrays import Floats, Ints


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


def bits_path(p: Floats, probability: Floats) -> BitsPath:
    """Merge the two states that lose least, again and again.

    Parameters
    ----------
    p : (K, n_z) P(Z|state)
    probability : (K,) of the states

    Notes
    -----
    Merging a and b loses (p_a + p_b) times the weighted Jensen-Shannon divergence of their distributions: what their
    difference told about z. Cost: O(K² n_z + K³).
    """
    n = len(p)
    mass = p * probability[:, None]
    worth = _x_log_x(mass).sum(axis=1) - _x_log_x(mass.sum(axis=1))
    lost = np.full((n, n), np.inf)
    for a in range(n):
        lost[a, :a] = _losses(mass, worth, a, np.arange(a))
    merges, bits = np.zeros((n - 1, 2), np.int64), np.empty(n)
    # What all states together know is nothing.
    whole = mass.sum(axis=0)
    nothing = float(_x_log_x(whole).sum() - _x_log_x(whole.sum()))
    live = np.ones(n, bool)
    for step in range(n):
        bits[step] = max(float(worth[live].sum()) - nothing, 0.0)
        if step == n - 1:
            break
        gone, kept = divmod(int(lost.argmin()), n)
        merges[step] = gone, kept
        live[gone] = False
        mass[kept] += mass[gone]
        worth[kept] = _x_log_x(mass[kept]).sum() - _x_log_x(mass[kept].sum())
        lost[gone] = lost[:, gone] = np.inf
        others = np.flatnonzero(live)
        change = _losses(mass, worth, kept, others)
        below = others < kept
        lost[kept, others[below]] = change[below]
        lost[others[others > kept], kept] = change[others > kept]
    return BitsPath(np.arange(n, 0, -1), bits, merges)


def _losses(mass: Floats, worth: Floats, a: int, others: Ints) -> Floats:
    """Bits that are lost where state a is merged with each of others."""
    both = mass[a] + mass[others]
    lost: Floats = worth[a] + worth[others] - (_x_log_x(both).sum(axis=1) - _x_log_x(both.sum(axis=1)))
    return np.maximum(lost, 0.0)


def _x_log_x(x: Floats) -> Floats:
    found: Floats = x * np.log2(np.maximum(x, 1e-300))
    return found
