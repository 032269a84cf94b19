"""States of the elements of a data set: who is together, how probable each state is, and their complexities.

Steps 10 and 11 of the figure: the complexity of a partition into states is the entropy of their probabilities, in bits:
C for causal states, and D, P and V for the coarser ones. Its local value is -log2 of the probability of the state, and
the global value is the mean of the local ones.
"""

from dataclasses import InitVar, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..machines.chains import entropy
from ..support.arguments import as_table, refusal
from ..support.arrays import Floats, Ints, read_only


@dataclass(frozen=True, eq=False)
class Partition:
    """States of n elements: canonical labels, by decreasing probability.

    Parameters
    ----------
    labels : (n,) integers; any values, renumbered on construction; -1 stays: no state is known
    weight : (n,) mass of each element, default 1; ties are broken by first appearance
    place : (n,) place of each element in the order of appearance, default as they are given
    """

    labels: Ints
    weight: NDArray[Any] | None = None
    place: InitVar[Ints | None] = None
    probability: Floats = field(init=False)

    def __post_init__(self, place: Ints | None) -> None:
        labels = as_table(self.labels, "labels", "they must be integers, one for each element: give an array.")
        if labels.size and labels.dtype.kind not in "biu":
            raise ValueError(
                f"The 'labels' of a Partition are of type {labels.dtype}; they must be integers, -1 for no state: "
                "number the states, for example with np.unique(..., return_inverse=True)."
            )
        known = labels >= 0
        rule = "there must be a non-negative number for each element: give one-dimensional arrays of one length."
        weight = np.ones(labels.size) if self.weight is None else np.array(as_table(self.weight, "weight", rule, float))
        if labels.ndim != 1 or weight.shape != labels.shape:
            raise ValueError(
                f"The 'labels' of a Partition have shape {labels.shape} and the 'weight' has {weight.shape}; there "
                "must be one label and one weight for each element: give one-dimensional arrays of one length."
            )
        if not (weight >= 0).all():
            raise ValueError(f"The 'weight' of a Partition has {weight[~(weight >= 0)][0]}; {rule}")
        _, first, inverse = np.unique(labels[known], return_index=True, return_inverse=True)
        mass = np.bincount(inverse, weights=weight[known], minlength=first.size)
        total = mass.sum()
        if place is not None:
            rule = "there must be an integer for each element: give one, or None for the order as it is."
            places = as_table(place, "place", rule, np.int64)
            if places.shape != labels.shape:
                raise ValueError(f"The 'place' of a Partition has shape {places.shape}; {rule}")
            first = np.full(first.size, np.iinfo(np.int64).max)
            np.minimum.at(first, inverse, places[known])
        # Sums of equal weights may differ by rounding.
        order = np.lexsort((first, -np.round(mass / total if total else mass, 12)))
        rank = np.empty(order.size, np.int64)
        rank[order] = np.arange(order.size)
        canonical = np.full(labels.size, -1, np.int64)
        canonical[known] = rank[inverse]
        object.__setattr__(self, "labels", read_only(canonical))
        object.__setattr__(self, "weight", None if self.weight is None else read_only(weight))
        object.__setattr__(self, "probability", read_only(mass[order] / total if total else mass[order]))

    @property
    def n_states(self) -> int:
        return int(self.probability.size)

    def entropy(self) -> float:
        """Entropy of the state probabilities, in bits."""
        return float(entropy(self.probability))

    def local(self) -> Floats:
        """(n,) -log2 of the probability of each element's state, in bits; NaN where no state is known."""
        with np.errstate(divide="ignore"):
            bits = np.append(-np.log2(self.probability), np.nan)
        return bits[self.labels] + 0.0

    def refines(self, other: "Partition") -> bool:
        """True if every state of self lies inside one state of other; elements without a state do not count."""
        self._check_same_elements(other)
        known = self.labels >= 0
        key = self.labels[known] * (other.n_states + 1) + other.labels[known]
        return bool((other.labels[known] >= 0).all() and np.unique(key).size == self.n_states)

    def __and__(self, other: "Partition") -> "Partition":
        """The meet: elements are together where they are together in both; the weights are those of self."""
        self._check_same_elements(other)
        known = (self.labels >= 0) & (other.labels >= 0)
        labels = np.where(known, self.labels * (other.n_states + 1) + other.labels, -1)
        return Partition(labels, self.weight)

    def _check_same_elements(self, other: "Partition") -> None:
        if not isinstance(other, Partition):
            raise TypeError(refusal("other", other, "a Partition", "compare partitions of one data set"))
        if self.labels.shape != other.labels.shape:
            raise ValueError(
                f"The 'other' partition has {other.labels.size} elements and this one {self.labels.size}; "
                "they must describe the same elements: compare partitions of one data set."
            )


def _checked(states: Any) -> Partition:
    """A partition; whatever else has an entropy is refused."""
    if not isinstance(states, Partition):
        raise TypeError(refusal("states", states, "a Partition", "use the 'states_' of fitted states"))
    return states


def global_complexity(states: Partition) -> float:
    """Entropy of the state probabilities."""
    return _checked(states).entropy()


def local_complexity(states: Partition) -> Floats:
    """(n,) -log2 of the probability of the state of each element."""
    return _checked(states).local()


def ranks(local: Any) -> Floats:
    """Place of each local complexity among the distinct ones, 0 = the simplest; equal values share a rank.

    Values that differ by rounding are equal; NaN stays NaN. The shape is kept.

    Examples
    --------
    >>> ranks([2.5, 1.0, 7.0, 1.0])
    array([1., 0., 2., 0.])
    """
    values = as_table(local, "local", "it must be an array of numbers: give local complexities.", float)
    known = np.isfinite(values)
    place = np.full(values.shape, np.nan)
    found = values[known]
    # Larger ones have no such digits.
    small = np.abs(found) < 1e6
    found[small] = np.round(found[small], 9)
    place[known] = np.unique(found, return_inverse=True)[1].reshape(-1)
    return place
