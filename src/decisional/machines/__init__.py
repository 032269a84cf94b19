"""Step 9 of the figure: states and their transitions, with symbols (the epsilon-machine) or without."""

from .belief_machine import BeliefMachine
from .epsilon_machine import EpsilonMachine
from .transition_graph import TransitionGraph

__all__ = ["BeliefMachine", "EpsilonMachine", "TransitionGraph"]
