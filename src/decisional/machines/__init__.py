"""Step 9 of the figure: states and their transitions, with symbols (the epsilon-machine) or without."""

from typing import TYPE_CHECKING

from ..support.rooms import modules_of
from .belief_machine import BeliefMachine
from .epsilon_machine import EpsilonMachine
from .transition_graph import TransitionGraph

__all__ = ["BeliefMachine", "EpsilonMachine", "TransitionGraph"]

if not TYPE_CHECKING:
    __getattr__ = modules_of(__name__)
