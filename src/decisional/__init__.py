"""Hidden states from data, and the states that matter for a decision.

Observations are pairs (x, z): what is known now, and what comes next. `CausalStates` groups the x with
the same P(Z|x); with their labelled transitions these states are the epsilon-machine of the data.
Names are resolved on first use, so that importing the package stays fast.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import baselines, clustering, complexity, observe, processes, report, selection, utility
    from . import plotting as plot
    from .densities import Counts, Kernels
    from .drift import Adapt
    from .estimators import CausalStates, DecisionalStates
    from .events import Change, Event, Refit
    from .features import ComplexityFeatures
    from .graphs import EpsilonMachine, TransitionGraph
    from .matching import Bhattacharyya, ChiSquare, GTest, HarmonicMean, JensenShannon, Variational
    from .monitor import Monitor
    from .selection import epsilon_machine
    from .structures import Observations, Partition
    from .writing import write_values

__version__ = "0.1.0"

_MODULES = {
    "baselines": "baselines",
    "clustering": "clustering",
    "complexity": "complexity",
    "observe": "observe",
    "processes": "processes",
    "plot": "plotting",
    "report": "report",
    "selection": "selection",
    "utility": "utility",
}
_NAMES = {
    "Counts": "densities",
    "Kernels": "densities",
    "Adapt": "drift",
    "CausalStates": "estimators",
    "DecisionalStates": "estimators",
    "Change": "events",
    "Event": "events",
    "Refit": "events",
    "ComplexityFeatures": "features",
    "EpsilonMachine": "graphs",
    "TransitionGraph": "graphs",
    "Bhattacharyya": "matching",
    "ChiSquare": "matching",
    "GTest": "matching",
    "HarmonicMean": "matching",
    "JensenShannon": "matching",
    "Variational": "matching",
    "Monitor": "monitor",
    "epsilon_machine": "selection",
    "Observations": "structures",
    "Partition": "structures",
    "write_values": "writing",
}

__all__ = [
    "epsilon_machine",
    "selection",
    "baselines",
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
    "TransitionGraph",
    "Bhattacharyya",
    "ChiSquare",
    "GTest",
    "HarmonicMean",
    "JensenShannon",
    "Variational",
    "Observations",
    "Partition",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        value: Any = import_module(f".{_MODULES[name]}", __name__)
    elif name in _NAMES:
        value = getattr(import_module(f".{_NAMES[name]}", __name__), name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
