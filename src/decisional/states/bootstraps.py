"""What comes back when a machine is simulated, and found again without parameters."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..machines import EpsilonMachine, walks
from ..support.arguments import generator, integer, real, require
from ..support.progress import Progress, counted, told
from .machine_selection import select
from .selected import states_told

MOST_REPLICATES = 100_000


@dataclass(frozen=True)
class Bootstrap:
    """What reconstructions of simulated series say of the uncertainty of a machine.

    Attributes
    ----------
    statistical_complexity, entropy_rate, n_states : (low, high) interval of each, at `level`
    same_topology : share of the replicates with the states and edges of the machine
    replicates : the machines
    """

    statistical_complexity: tuple[float, float]
    entropy_rate: tuple[float, float]
    n_states: tuple[float, float]
    same_topology: float
    level: float
    replicates: tuple[EpsilonMachine, ...] = field(repr=False)


def bootstrap(
    machine: EpsilonMachine,
    n_symbols: int,
    n: int = 100,
    *,
    level: float = 0.95,
    rng: Any = None,
    progress: Progress = None,
) -> Bootstrap:
    """Simulate series from a machine, reconstruct each without parameters, and see what comes back.

    Parameters
    ----------
    machine : EpsilonMachine
    n_symbols : length of each series, that of the data; of a machine of whole strings, how many strings each has
    n : number of series
    level : share of the replicates inside the intervals
    rng : seed or Generator
    progress : True for a bar, or a function that is called with a line of text after each replicate

    Cost: n selections on n_symbols symbols.

    Returns
    -------
    Bootstrap
        The machines of the replicates, and intervals for their measures.
    """
    n_symbols = integer(n_symbols, "n_symbols", most=walks.MOST, of="bootstrap")
    n = integer(n, "n", most=MOST_REPLICATES, of="bootstrap")
    level = real(level, "level", above=0, below=1, remedy="try level=0.95", of="bootstrap")
    random = generator(rng)
    remedy = "give a machine, such as ds.epsilon_machine(symbols)"
    require(machine, "recurrent_part", "machine", "an EpsilonMachine", remedy)
    truth = machine.recurrent_part()
    found = (select(truth.simulate(n_symbols, rng=random), whole=truth.start is not None).machine for _ in range(n))
    with told(progress):
        replicates = list(counted(found, "bootstrap", n, "replicates", more=lambda m: f", {states_told(m.n_states)}"))
    measures = [(m.statistical_complexity(), m.entropy_rate(), float(m.n_states)) for m in replicates]
    low, high = np.quantile(measures, [(1 - level) / 2, (1 + level) / 2], axis=0).tolist()
    same = float(np.mean([m.is_isomorphic(truth, atol=1.0) for m in replicates]))
    complexity, rate, n_states = zip(low, high, strict=True)
    return Bootstrap(complexity, rate, n_states, same, level, tuple(replicates))
