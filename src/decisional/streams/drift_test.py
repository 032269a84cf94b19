"""The test on log-loss: a machine against predictors that know nothing of it.

The machine is compared by log-loss with predictors that do not know it. Let p be the probability that the machine gave
to a symbol, with its probabilities re-estimated all along, and q that of a mixture of Markov orders and of the states
of the machine, with short memories. While the machine is right, the product of q/p from any symbol on is a martingale:
it ever exceeds 1/alpha with a chance of at most alpha. The largest of these products (CUSUM) is what is watched.
"""

import numpy as np

from .._kernels import drift as kernels
from ..machines import EpsilonMachine, walks
from ..support.arrays import Floats, Ints
from .adapt import Adapt

# The alternative: its longest order, the cells of its longest table, its memories in visits of a word, and the share
# of its weights that goes round at each symbol.
ORDER, CELLS = 4, 100_000
LIMITS = (64, 2048)
SWITCH = 1 / 2048
# States that the fit hardly saw are trusted as if they had been seen so often.
SEEN = 8.0


class DriftTest:
    """A machine against the alternative along a stream; see `_kernels.drift.test` for the state.

    Parameters
    ----------
    n : number of symbols that the probabilities of the machine are worth
    stay : whether the state stays at impossible symbols, and at gaps
    """

    def __init__(self, machine: EpsilonMachine, n: float, adapt: Adapt, stay: tuple[bool, bool]) -> None:
        n_states, n_symbols = machine.emission.shape
        orders = [d for d in range(ORDER + 1) if d == 0 or (n_symbols + 1) ** (d + 1) <= CELLS]
        self.machine = machine
        home, growth = walks.prior(machine), 1.0 if adapt.forget is None else 2.0 ** (1.0 / adapt.forget)
        options = stay, 1.0 / adapt.alpha, growth, SWITCH
        self._fixed = machine.targets.astype(np.int64), home, *options
        offsets = np.cumsum([0, *((n_symbols + 1) ** d for d in orders)])
        self._experts = offsets, np.array(LIMITS), 1.0 / (1.0 + np.arange(max(LIMITS) + 1))
        n_experts = (len(orders) + 1) * len(LIMITS)
        self.counts = self._initial(n)
        self.frozen = np.empty((0, n_symbols))
        self.belief = home.copy()
        self.tables = np.zeros((int(offsets[-1]) + n_states, len(LIMITS), n_symbols + 2), np.int32)
        self.contexts = np.zeros(len(orders), np.int64)
        self.weights = np.full(n_experts, 1.0 / n_experts)
        self.levels = np.ones(3)
        self.marks = np.array([0, 0, 0, 0, -1])
        if adapt.forget is not None:
            self.frozen = machine.emission.copy()

    def run(self, codes: Ints, gaps: Ints, position: int) -> tuple[int, int]:
        """Take symbols from a position on; see `_kernels.drift.test`."""
        state = self.counts, self.frozen, self.belief, self.tables, *self._experts, self.contexts, self.weights
        what, n = kernels.test(codes, gaps, position, *self._fixed, *state, self.levels, self.marks)
        return int(what), int(n)

    def warm_up(self, codes: Ints, gaps: Ints, n: float, position: int) -> None:
        """Let the alternative know the symbols that the machine was learnt from, and find the state."""
        fixed = self._fixed
        self._fixed = *fixed[:3], np.nan, *fixed[4:]  # a bound that nothing reaches
        self.run(codes, gaps, position - codes.size)
        self._fixed = fixed
        self.counts[:], self.levels[:] = self._initial(n), 1.0

    def gap(self) -> None:
        """Forget the state: symbols are missing."""
        self.belief[:] = self._fixed[1]
        self.marks[kernels.RUN], self.marks[kernels.STATE] = 0, -1

    def move(self) -> float:
        """Put the present probabilities in force; return the number of symbols that they are worth."""
        old, total = self.machine, self.counts[:, -1]
        used = np.where(old.targets >= 0, self.counts[:, :-2], 0.0)
        seen = used.sum(axis=1, keepdims=True)
        emission = np.divide(used, seen, out=old.emission.copy(), where=seen > 0)
        weights = total / total.sum()
        self.machine = EpsilonMachine.from_arrays(old.targets, emission, old.alphabet, old.names, weights)
        self._fixed = self._fixed[0], walks.prior(self.machine), *self._fixed[2:]
        self.frozen, self.levels[kernels.GAIN] = self.machine.emission.copy(), 1.0
        return float(total.sum() / self.levels[kernels.UNIT])

    def _initial(self, n: float) -> Floats:
        machine = self.machine
        weight = machine.stationary if machine.weights is None else machine.weights
        seen = np.maximum(n * weight, SEEN)[:, None] * machine.emission
        return np.concatenate([seen, np.zeros((len(seen), 1)), seen.sum(axis=1, keepdims=True)], axis=1)
