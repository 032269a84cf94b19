"""The states of a picture: names, sizes, and which of them are transient."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .geometry import Floats

if TYPE_CHECKING:
    from ..machines import EpsilonMachine, TransitionGraph

__all__ = ["States", "graph_states", "machine_states", "probabilities", "radii"]

LARGEST, SMALLEST, FAINT = 0.36, 0.2, 0.17  # radii: most probable, least probable, transient


@dataclass(frozen=True, eq=False)
class States:
    """What is drawn of each state: its name, a circle, and whether it is recurrent."""

    names: tuple[str, ...]
    radius: Floats
    recurrent: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.names)


def machine_states(machine: EpsilonMachine) -> States:
    """Return the states of a machine."""
    radius = radii(probabilities(machine), machine.recurrent)
    return States(tuple(map(str, machine.names)), radius, machine.recurrent)


def graph_states(graph: TransitionGraph) -> States:
    """Return the states of a transition graph."""
    p = graph.stationary if graph.weight is None else graph.weight
    return States(tuple(map(str, graph.names)), radii(p, graph.recurrent), graph.recurrent)


def probabilities(machine: EpsilonMachine) -> Floats:
    """Return the observed probabilities of the states, or the stationary ones of an exact machine."""
    return machine.stationary if machine.weights is None else machine.weights


def radii(p: Floats, recurrent: NDArray[np.bool_]) -> Floats:
    """Return circles whose area is probability, down to a size that still holds a name."""
    top = p[recurrent].max(initial=0.0) or 1.0
    return np.where(recurrent, np.clip(LARGEST * np.sqrt(p / top), SMALLEST, LARGEST), FAINT)
