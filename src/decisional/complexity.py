"""Steps 10 and 11 of the figure: complexities in bits, of the whole system and at each observation.

The complexity of a partition into states is the entropy of the state probabilities: C for causal states, and D, P
and V for the coarser ones. Its local value is -log2 of the probability of the state, and the global value is the
mean of the local ones.
"""

from .structures import Floats, Partition

__all__ = ["global_complexity", "local_complexity"]


def global_complexity(states: Partition) -> float:
    """Entropy of the state probabilities."""
    return states.entropy()


def local_complexity(states: Partition) -> Floats:
    """(n,) -log2 of the probability of the state of each element."""
    return states.local()
