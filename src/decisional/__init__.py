"""Hidden states from data, and the states that matter for a decision.

Observations are pairs (x, z): what is known now, and what comes next. `CausalStates` groups the x with
the same P(Z|x); with their labelled transitions these states are the epsilon-machine of the data.
Names are resolved on first use, so that importing the package stays fast.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .support import display

if TYPE_CHECKING:
    from . import baselines, clustering, complexity, observe, plot, processes, report, selection, utility
    from .data.observations import Observations
    from .data.reading import read
    from .decisions.events import Change, Event, Refit
    from .estimators.features import ComplexityFeatures
    from .estimators.scikit_learn import CausalStates, DecisionalStates
    from .estimators.write_values import write_values
    from .machines import BeliefMachine, EpsilonMachine, TransitionGraph
    from .states.belief_search import belief_machine
    from .states.distributions import Counts
    from .states.kernels import Kernels
    from .states.machine_selection import epsilon_machine
    from .states.matching import Bhattacharyya, ChiSquare, Evidence, GTest, HarmonicMean, JensenShannon, Variational
    from .states.mixture import Mixture
    from .states.partition import Partition
    from .streams.learner import Adapt
    from .streams.monitor import Monitor

__version__ = "0.1.0"

# Where the public names are; those of modules are their own.
_MODULES = ("baselines", "clustering", "complexity", "observe", "plot", "processes", "report", "selection", "utility")
# The rooms behind them, whose modules are named in the reference.
_ROOMS = ("cli", "data", "decisions", "estimators", "machines", "states", "streams", "support")
_NAMES = {
    "Observations": "data.observations",
    "read": "data.reading",
    "Change": "decisions.events",
    "Event": "decisions.events",
    "Refit": "decisions.events",
    "CausalStates": "estimators.scikit_learn",
    "DecisionalStates": "estimators.scikit_learn",
    "ComplexityFeatures": "estimators.features",
    "write_values": "estimators.write_values",
    "BeliefMachine": "machines",
    "EpsilonMachine": "machines",
    "TransitionGraph": "machines",
    "Counts": "states.distributions",
    "Kernels": "states.kernels",
    "Bhattacharyya": "states.matching",
    "Evidence": "states.matching",
    "ChiSquare": "states.matching",
    "GTest": "states.matching",
    "HarmonicMean": "states.matching",
    "JensenShannon": "states.matching",
    "Variational": "states.matching",
    "Mixture": "states.mixture",
    "Partition": "states.partition",
    "belief_machine": "states.belief_search",
    "epsilon_machine": "states.machine_selection",
    "Adapt": "streams.learner",
    "Monitor": "streams.monitor",
}

__all__ = [
    "epsilon_machine",
    "belief_machine",
    "selection",
    "baselines",
    "read",
    "observe",
    "clustering",
    "complexity",
    "processes",
    "utility",
    "plot",
    "report",
    "Counts",
    "Kernels",
    "CausalStates",
    "DecisionalStates",
    "Event",
    "ComplexityFeatures",
    "write_values",
    "Monitor",
    "Adapt",
    "Change",
    "Refit",
    "EpsilonMachine",
    "BeliefMachine",
    "TransitionGraph",
    "Bhattacharyya",
    "Evidence",
    "ChiSquare",
    "GTest",
    "HarmonicMean",
    "JensenShannon",
    "Variational",
    "Mixture",
    "Observations",
    "Partition",
]


display.install(
    {
        "machine": "decisional.report:machine_html",
        "causal states": "decisional.report:causal_html",
        "decisional states": "decisional.report:decisions_html",
    }
)


def __getattr__(name: str) -> Any:
    if name in _MODULES or name in _ROOMS:
        return import_module(f".{name}", __name__)
    if name not in _NAMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value = getattr(import_module(f".{_NAMES[name]}", __name__), name)
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
