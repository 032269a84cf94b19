"""Step 9 of the figure: states and their transitions, with symbols (the epsilon-machine) or without."""

from .machines import EpsilonMachine
from .transitions import TransitionGraph

__all__ = ["EpsilonMachine", "TransitionGraph"]
