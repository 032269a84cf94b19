"""Streams that drift: whether a machine still fits, and learning another when it does not.

The machine is compared by log-loss with predictors that do not know it. Let p be the probability that the machine gave
to a symbol, with its probabilities re-estimated all along, and q that of a mixture of Markov orders and of the states
of the machine, with short memories. While the machine is right, the product of q/p from any symbol on is a martingale:
it ever exceeds 1/alpha with a chance of at most alpha. The largest of these products (CUSUM) is what is watched.
"""

from .following import Following
from .learning import Drift
from .options import Adapt

__all__ = ["Adapt", "Drift", "Following"]
