"""States along the first part of data that were read slice by slice, where not all can be shown."""

from functools import cached_property
from typing import TypeVar

import numpy as np

from ..data.alphabet import Alphabet
from ..data.observations import Observations, Tallied
from ..data.vocabularies import place_in
from ..decisions.decisional_model import DecisionalModel
from ..states.causal_model import CausalModel
from ..support.arrays import Ints

Fitted = TypeVar("Fitted", CausalModel, DecisionalModel)


class FirstPart(Tallied):
    """The first observations of many, which are numbered like all.

    Parameters
    ----------
    whole : all observations
    inner : the first of them, observed alike
    """

    def __init__(self, whole: Observations, inner: Observations) -> None:
        self.whole, self.inner = whole, inner
        self.kind, self.shape, self.source = inner.kind, inner.shape, inner.source
        self._counts, self._table = whole.tally(), whole.table()

    @property
    def n(self) -> int:
        return self.inner.n

    @cached_property
    def x(self) -> Ints:
        found: Ints = place_in(self.vocabularies[0], self.inner.vocabularies[0])[self.inner.x]
        return found

    @cached_property
    def z(self) -> Ints:
        found: Ints = place_in(self.vocabularies[1], self.inner.vocabularies[1])[self.inner.z]
        return found

    @cached_property
    def symbol(self) -> Ints | None:
        if self.alphabet is None or self.inner.alphabet is None or self.inner.symbol is None:
            return None
        found: Ints = np.append(Alphabet(self.alphabet).places(self.inner.alphabet), -1)[self.inner.symbol]
        return found

    @property
    def successor(self) -> Ints | None:
        after = self.inner.successor
        # The last one may lead to what is not shown.
        return None if after is None else np.where(after < self.n, after, -1)[: self.n]

    @property
    def site(self) -> Ints:
        return self.inner.site


def on_first_part(states: Fitted, inner: Observations) -> Fitted:
    """The same states, to be shown along the first part of the data only.

    Parameters
    ----------
    states : fitted CausalStates, or DecisionalStates of them
    inner : observations of the first part of the data, made like those that were fitted
    """
    causal = states.causal_ if isinstance(states, DecisionalModel) else states
    assert causal is not None
    return states.with_observations(FirstPart(causal.observations_, inner))
