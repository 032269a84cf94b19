"""Thin scikit-learn estimators over `algorithm`."""

from .causal import CausalStates
from .decisional import DecisionalStates, Regret

__all__ = ["CausalStates", "DecisionalStates", "Regret"]
