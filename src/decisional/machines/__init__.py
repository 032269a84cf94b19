"""Step 9 of the figure: states and their transitions, with symbols (the epsilon-machine) or without."""

from .epsilon import EpsilonMachine
from .graph import TransitionGraph

__all__ = ["EpsilonMachine", "TransitionGraph"]
