"""The part of a Monitor that adapts: between the symbols, changes of machine."""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from .._kernels.drift import FITS, LOST
from ..decisions.events import Change, Refit
from ..machines import walks
from ..support.arrays import Ints
from .learning import Drift

if TYPE_CHECKING:
    from ..estimators import DecisionalStates

__all__ = ["Following"]


class Following(ABC):
    """Follow symbols with a machine, give it up and learn another; the Monitor knows how to follow.

    There is at most one event per symbol: a Change or a Refit takes the place of an Event, and as no decision is known
    then, the next symbol whose state is known makes one.
    """

    by: str
    level: float | None
    impossible: str
    missing: str
    position: int
    state: int
    _last: int
    _belief: Any
    _home: Any
    _drift: Drift | None

    @abstractmethod
    def _set(self, *model: Any) -> None: ...

    @abstractmethod
    def _model(self) -> dict[str, Any]: ...

    @abstractmethod
    def _drive(self, codes: Ints, gaps: Ints) -> Ints: ...

    @abstractmethod
    def _arrive(self, states: Ints) -> tuple[Ints, Ints, Ints]: ...

    @abstractmethod
    def _listed(self, found: list[tuple[Ints, Ints, Ints]]) -> Any: ...

    @property
    def _stay(self) -> tuple[bool, bool]:
        return self.impossible == "stay", self.missing == "stay"

    @property
    def adapts(self) -> bool:
        """Whether the machine may change."""
        return self._drift is not None

    @property
    def learning(self) -> bool:
        """Whether the machine was given up and no new one is learnt yet; nothing is decided then."""
        return self._drift is not None and self._drift.change is not None

    def _take(self, codes: Ints, gaps: Ints, letter: Any) -> tuple[int, list[Any]]:
        """Take symbols up to the first Change or Refit; return their number and parts of Happenings."""
        drift = self._drift
        assert drift is not None
        if self.learning:
            drift.keep(codes, gaps, letter)
            self.position += codes.size
            learnt = drift.learn(self.position - 1) if codes.size and drift.had >= drift.needed else None
            return codes.size, [] if learnt is None else [[self._relearnt(*learnt)]]
        what, m = drift.test.run(codes, gaps, self.position)
        drift.keep(codes[:m], gaps[:m], letter)
        better = None
        if what == FITS and m and 0 < drift.due <= drift.had:
            better = drift.learn(self.position + m - 1)
        fits = m - (what != FITS or better is not None)
        parts: list[Any] = [self._listed([self._arrive(self._drive(codes[:fits], gaps[:fits]))])]
        if better is not None:
            self.position += 1
            parts.append([self._relearnt(*better)])
        elif what != FITS:
            parts.append([self._tell(what, codes[fits:m], gaps[fits:m])])
        return m, parts

    def _tell(self, what: int, code: Ints, gap: Ints) -> Change | Refit:
        """Take the symbol at which the machine, or its probabilities, are given up."""
        assert self._drift is not None
        if what == LOST:
            change = self._drift.lose(self.position)
            self.position, self.state, self._last = self.position + 1, -1, -1
            return change
        self._arrive(self._drive(code, gap))
        since, choice = self._drift.move()
        self._replace(choice)
        return Refit(self.position - 1, since, True, choice)

    def _relearnt(self, choice: DecisionalStates, codes: Ints, gaps: Ints) -> Refit:
        """Go on with a new machine, in the state to which the symbols it was learnt from lead."""
        assert self._drift is not None
        self._replace(choice)
        self._belief, self.state = self._home.copy(), -1
        if self.missing == "raise" and gaps.any():
            codes = codes[np.flatnonzero(gaps)[-1] + 1 :]
            gaps = np.zeros(codes.size, bool)
        states = self._drive(codes, gaps)
        self.state = int(states[-1]) if states.size else -1
        return Refit(self.position - 1, self._drift.start, False, choice)

    def _replace(self, choice: DecisionalStates) -> None:
        assert self._drift is not None
        if self._drift.origin is None:
            # What no file can hold is never compared with one either.
            with suppress(TypeError):
                self._drift.origin = self._model()
        options = self.by, self.level, self.impossible, self.missing
        machine, labels = self._drift.test.machine, choice.event_labels(self.by, self.level)
        self._set(machine, labels, [*choice.predictions_], choice.utility_, walks.prior(machine), *options)
        self._last = -1
