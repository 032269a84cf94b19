"""Clustering of P(Z|x) into states, step 2 of the figure: for ``CausalStates(cluster=...)``."""

from .states.aggregation import Aggregate, Connect, Within

__all__ = ["Aggregate", "Connect", "Within"]
