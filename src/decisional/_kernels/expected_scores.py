"""Expected log scores of densities by states."""

from . import kernel


@kernel
def expected(p, log_q, out):
    """out[i, k] = sum over g of p[i, g] log_q[g, k].

    Sums are in the order of g, whatever the machine; the loop over states is the one that becomes vector code.
    """
    n_points, n_states = log_q.shape
    for i in range(p.shape[0]):
        for k in range(n_states):
            out[i, k] = 0.0
        for g in range(n_points):
            share = p[i, g]
            for k in range(n_states):
                out[i, k] += share * log_q[g, k]
