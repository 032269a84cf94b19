"""Expected log scores of densities by states, and the best of them."""

import numpy as np

from . import kernel


@kernel
def best_expected(p, log_q, out):
    """out[i] = the k with the largest sum over g of p[i, g] log_q[g, k], the first of equals.

    Sums are in the order of g, whatever the machine; the loop over states is the one that becomes vector code.
    """
    n_points, n_states = log_q.shape
    total = np.empty(n_states)
    for i in range(p.shape[0]):
        total[:] = 0.0
        for g in range(n_points):
            share = p[i, g]
            for k in range(n_states):
                total[k] += share * log_q[g, k]
        best = 0
        for k in range(1, n_states):
            if total[k] > total[best]:
                best = k
        out[i] = best
