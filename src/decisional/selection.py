"""What the data choose: the machine of a series without parameters, the past of a signal, the widths of an image."""

from .states.defaults import GreyScale, best_past, grey_scale
from .states.machine_selection import Bootstrap, Selection, bootstrap, epsilon_machine, select
from .states.search import Candidate

__all__ = [
    "Bootstrap",
    "Candidate",
    "GreyScale",
    "Selection",
    "best_past",
    "bootstrap",
    "epsilon_machine",
    "grey_scale",
    "select",
]
