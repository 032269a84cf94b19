"""States along the first part of data that were read slice by slice, where not all can be shown."""

from __future__ import annotations

from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from ..data.observations import Observations, Table
from ..data.tally import Tally
from ..data.vocabularies import place_in
from ..decisions.decisional_model import DecisionalModel
from ..states.causal_model import CausalModel
from ..support.arrays import Ints

Fitted = TypeVar("Fitted", CausalModel, DecisionalModel)


class FirstPart(Observations):
    """The first observations of many, whose x have the rows of all.

    Parameters
    ----------
    whole : all observations
    inner : the first of them, observed alike
    """

    def __init__(self, whole: Observations, inner: Observations) -> None:
        self.whole, self.inner = whole, inner
        self.shape, self.past, self.letters, self.alphabet = inner.shape, inner.past, inner.letters, inner.alphabet
        self.kind, self.future, self.source, self.overlap = inner.kind, inner.future, inner.source, whole.overlap

    @property
    def n(self) -> int:
        return self.inner.n

    @property
    def outcomes(self) -> Any:
        return self.inner.outcomes

    def table(self, executor: Any = None) -> Table:
        return self.whole.table(executor)

    def tally(self, executor: Any = None) -> Tally:
        return self.whole.tally(executor)

    @property
    def points(self) -> Any:
        return self.whole.points

    @property
    def targets(self) -> Any:
        return self.whole.targets

    def words(self, rows: Ints) -> Any:
        return self.whole.words(rows)

    @cached_property
    def x(self) -> Ints:
        found: Ints = place_in(self.whole.tally().x, self.inner.tally().x)[self.inner.x]
        return found

    @property
    def z(self) -> Ints:
        return self.inner.z

    @property
    def symbol(self) -> Ints | None:
        return self.inner.symbol

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
