"""Time reversed: the epsilon-machine of a process read backwards, and both directions at once."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..support.arrays import Record
from .chains import entropy, mergeable
from .mixed_states import SAME, Closure, closure, labelled

if TYPE_CHECKING:
    from .epsilon_machine import EpsilonMachine

Array = NDArray[Any]


def is_finite(targets: Array, emission: Array) -> bool:
    """Whether a process has finitely many causal states when it is read backwards, by its minimal unifilar machine.

    It has unless two states that some word sends to the same one are both led back to themselves by another word, with
    different probabilities: then each repetition of that word makes another belief about which of them it was. This is
    the twins property of weighted automata. Around each cycle of pairs of states the log-ratios of probabilities sum
    to 0 if and only if they are differences of a potential, which is followed here. Cost: O(n_states² n_symbols).
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    n = len(targets)
    i, j = np.nonzero(mergeable(targets) & ~np.eye(n, dtype=bool))
    number = np.full((n, n), -1)
    number[i, j] = np.arange(i.size)
    pair, symbol = np.nonzero((targets[i] >= 0) & (targets[j] >= 0))
    ends = number[targets[i[pair], symbol], targets[j[pair], symbol]]
    pair, symbol, ends = (values[ends >= 0] for values in (pair, symbol, ends))
    gain = np.log2(emission[i[pair], symbol] / emission[j[pair], symbol])
    component = connected_components(
        csr_array((np.ones(pair.size), (pair, ends)), shape=(i.size, i.size)), True, "strong"
    )[1]
    inside = component[pair] == component[ends]
    after: dict[int, list[tuple[int, float]]] = {}
    for source, end, bits in zip(pair[inside].tolist(), ends[inside].tolist(), gain[inside].tolist(), strict=True):
        after.setdefault(source, []).append((end, bits))
    height: dict[int, float] = {}
    for root in after:
        todo = [] if root in height else [root]
        height.setdefault(root, 0.0)
        while todo:
            source = todo.pop()
            for end, bits in after[source]:
                if end not in height:
                    height[end] = height[source] + bits
                    todo.append(end)
                elif abs(height[source] + bits - height[end]) > 1e-8:
                    return False
    return True


def reversed_beliefs(targets: Array, emission: Array, stationary: Array, most: int, grid: float = SAME) -> Closure:
    """Beliefs over the states of a unifilar machine without transient states, given its future, as symbols are read
    backwards; those that recur are the reverse causal states.

    Reading begins where the state is known: in the long run the future tells the state it goes through, but for states
    that it has merged, so that the beliefs that recur are the same as without that knowledge, and more often finitely
    many.
    """
    forward = labelled(targets, emission)
    backward = stationary[None, None, :] * forward.transpose(0, 2, 1) / stationary[None, :, None]
    return closure(np.eye(len(targets)), backward, most, grid=grid)


@dataclass(frozen=True, eq=False)
class BidirectionalMachine(Record):
    """Causal states of both directions of time together, as `EpsilonMachine.bidirectional` returns them.

    S⁺ is what the past tells about the future, S⁻ what the future tells about the past. Entropies are in bits.

    Attributes
    ----------
    forward, reverse : EpsilonMachine
        The causal states of the process, and of the process read backwards.
    joint : array of shape (forward.n_states, reverse.n_states)
        P(S⁺ = i, S⁻ = j), both at the same time.

    References
    ----------
    C. J. Ellison, J. R. Mahoney, J. P. Crutchfield, Prediction, retrodiction, and the amount of information stored in
    the present, J. Stat. Phys. 136 (2009) 1005-1034. R. G. James, C. J. Ellison, J. P. Crutchfield, Anatomy of a bit:
    information in a time series observation, Chaos 21 (2011) 037109.

    Examples
    --------
    >>> from decisional import processes
    >>> both = processes.rip().bidirectional()
    >>> [round(bits, 4) for bits in (both.forward_complexity, both.reverse_complexity, both.complexity)]
    [1.5219, 1.8464, 2.1219]
    """

    forward: EpsilonMachine
    reverse: EpsilonMachine
    joint: Array

    @property
    def states(self) -> list[tuple[Hashable, Hashable]]:
        """The pairs of names of states that occur together."""
        return [(self.forward.names[i], self.reverse.names[j]) for i, j in np.argwhere(self.joint > 0.0)]

    @cached_property
    def _step(self) -> Array:
        """P(S⁺ before, symbol, S⁻ after), (n_forward, n_symbols, n_reverse)."""
        home = self.joint.sum(axis=1)
        after = self.joint / home[:, None]
        weight = home[:, None] * self.forward.emission
        step: Array = weight[:, :, None] * after[self.forward.targets]
        return step

    def transitions(self) -> list[tuple[tuple[Hashable, Hashable], Hashable, tuple[Hashable, Hashable], float]]:
        """The rows (source, symbol, target, probability) of the machine whose states are the pairs."""
        rows = []
        names, others = self.forward.names, self.reverse.names
        for i, a, j in np.argwhere(self._step > 0.0):
            before, then = int(self.reverse.targets[j, a]), int(self.forward.targets[i, a])
            p = float(self._step[i, a, j] / self.joint[i, before])
            rows.append(((names[i], others[before]), self.forward.alphabet[a], (names[then], others[j]), p))
        return rows

    def _entropy(self, *axes: int) -> float:
        """Entropy of some of S⁺ before, symbol, S⁻ after."""
        out = tuple(axis for axis in range(3) if axis not in axes)
        return float(entropy(self._step.sum(axis=out).ravel()))

    @property
    def forward_complexity(self) -> float:
        """C⁺ = H[S⁺]."""
        return float(entropy(self.joint.sum(axis=1)))

    @property
    def reverse_complexity(self) -> float:
        """C⁻ = H[S⁻]."""
        return float(entropy(self.joint.sum(axis=0)))

    @property
    def complexity(self) -> float:
        """C± = H[S⁺, S⁻]."""
        return float(entropy(self.joint.ravel()))

    @property
    def excess_entropy(self) -> float:
        """E = I[S⁺; S⁻]."""
        return self.forward_complexity + self.reverse_complexity - self.complexity

    @property
    def forward_crypticity(self) -> float:
        """χ⁺ = H[S⁺ | S⁻] = C⁺ - E: what must be remembered and is never seen."""
        return self.complexity - self.reverse_complexity

    @property
    def reverse_crypticity(self) -> float:
        """χ⁻ = H[S⁻ | S⁺] = C⁻ - E: what only an oracle can know of the future, the oracular information of the reverse
        states as a presentation of the process. Forward states are functions of the past, and theirs is 0."""
        return self.complexity - self.forward_complexity

    @property
    def oracular_information(self) -> float:
        """I[S⁻; future | past] = χ⁻, what the reverse states know of the future and the past does not tell (R. G. James
        et al., Many roads to synchrony, Phys. Rev. E 89 (2014) 042135)."""
        return self.reverse_crypticity

    @property
    def crypticity(self) -> float:
        """χ = C± - E = χ⁺ + χ⁻."""
        return self.complexity - self.excess_entropy

    @property
    def irreversibility(self) -> float:
        """Ξ = C⁺ - C⁻."""
        return self.forward_complexity - self.reverse_complexity

    @property
    def predicted_information(self) -> float:
        """ρ = I[X; past]: what the past tells of a symbol."""
        return self._entropy(1) + self._entropy(0) - self._entropy(0, 1)

    @property
    def ephemeral_information(self) -> float:
        """r = H[X | past, future]: what neither tells."""
        return self._entropy(0, 1, 2) - self._entropy(0, 2)

    @property
    def bound_information(self) -> float:
        """b = I[X; future | past] = h - r: what the past does not tell and the future remembers."""
        return self._entropy(0, 1) - self._entropy(0) - self.ephemeral_information

    @property
    def enigmatic_information(self) -> float:
        """q = I[X; past; future] = ρ - b; may be negative."""
        return self.predicted_information - self.bound_information

    @property
    def elusive_information(self) -> float:
        """σ = I[past; future | X]: what goes from past to future around a symbol; E = b + q + σ."""
        return self._entropy(0, 1) + self._entropy(1, 2) - self._entropy(1) - self._entropy(0, 1, 2)
