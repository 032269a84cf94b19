"""What the data choose: the machine of a series without parameters, how much past matters, the widths of an image."""

from .states.belief_search import BeliefSelection, belief_machine, select_beliefs
from .states.bootstraps import Bootstrap, bootstrap
from .states.defaults import GreyScale, grey_scale
from .states.hidden_search import BeliefCandidate
from .states.machine_selection import best_window, epsilon_machine, select
from .states.pasts import best_past
from .states.search import Candidate
from .states.selected import Selection
from .states.uncertainty import MeasureIntervals, intervals

__all__ = [
    "BeliefCandidate",
    "BeliefSelection",
    "Bootstrap",
    "Candidate",
    "GreyScale",
    "MeasureIntervals",
    "Selection",
    "belief_machine",
    "best_past",
    "best_window",
    "bootstrap",
    "epsilon_machine",
    "grey_scale",
    "intervals",
    "select",
    "select_beliefs",
]
