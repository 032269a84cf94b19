"""Changes of state along the data: the events that a user wants to hear of."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..data.frames import Index
from ..data.observations import Observations
from ..support.arrays import Floats, Ints
from ..support.plurals import plural

if TYPE_CHECKING:
    from ..machines import EpsilonMachine
    from .decisional_model import DecisionalModel


class Event(NamedTuple):
    """A change of state at a position of the data; before = -1 where nothing was known before.

    Y and U of the causal states before and after tell what to do and what it is worth.
    """

    position: int
    before: int
    after: int
    predictions_before: Any
    predictions_after: Any
    utility_before: float
    utility_after: float

    def __str__(self) -> str:
        # Adding zero turns -0.0 into 0.0.
        old, new = f"{self.utility_before + 0.0:.3g}", f"{self.utility_after + 0.0:.3g}"
        was = "" if self.before < 0 else f" (was {predictions_text(self.predictions_before)}, worth {old})"
        return f"{self.position}: {predictions_text(self.predictions_after)}, worth {new}{was}"


class Change(NamedTuple):
    """The symbol at which a machine is given up; until the Refit that follows no decision is known.

    since : where the misfit began, about
    bits : how much shorter than the machine an alternative described the symbols from there on
    """

    position: int
    since: int
    bits: float

    def __str__(self) -> str:
        since = f"since about {self.since} ({self.bits:.1f} bits)"
        return f"{self.position}: the machine no longer fits {since}: learning anew"


class Refit(NamedTuple):
    """The symbol after which there is a new machine, with new decisions; the next symbol tells the first of them.

    since : the first of the symbols that the machine was learnt from
    moved : whether only its probabilities are new
    choice : the fitted decisional states
    """

    position: int
    since: int
    moved: bool
    choice: "DecisionalModel"

    @property
    def machine(self) -> "EpsilonMachine | None":
        """The new machine, None where states of numbers are followed without one."""
        return self.choice.machine_

    def __str__(self) -> str:
        n = len(self.choice.predictions_)
        states = plural(n, "state")
        if self.moved:
            return f"{self.position}: new probabilities in the same {states}"
        if self.machine is None:
            return f"{self.position}: {states} anew, learnt from the values since {self.since}"
        return f"{self.position}: a new machine of {states}, learnt from the symbols since {self.since}"


def sorted_predictions(predictions: Any) -> list[Any]:
    """A set of predictions in order."""
    try:
        return sorted(predictions)
    except TypeError:
        return sorted(predictions, key=str)


def predictions_text(predictions: Any) -> str:
    """A set of predictions in words."""
    if not isinstance(predictions, frozenset):
        return str(predictions)
    return " or ".join(map(str, sorted_predictions(predictions)))


@dataclass(frozen=True, eq=False)
class Events(Sequence[Event]):
    """Events in the order of the data, as arrays; `events[i]` is one of them.

    Attributes
    ----------
    position : (m,) where the new state begins
    before, after : (m,) states, -1 = not known
    cause_before, cause_after : (m,) the causal states that they are made of
    predictions, utility : Y and U of each causal state
    data_index : the index of the data, or None
    """

    position: Ints
    before: Ints
    after: Ints
    cause_before: Ints
    cause_after: Ints
    predictions: Sequence[Any]
    utility: Floats
    data_index: Index | None = None

    def __len__(self) -> int:
        return self.position.size

    def __getitem__(self, i: Any) -> Any:
        columns = self.position, self.before, self.after, self.cause_before, self.cause_after
        place, before, after, old, new = (column[i] for column in columns)
        if isinstance(i, slice):
            return Events(place, before, after, old, new, self.predictions, self.utility, self.data_index)
        best, worth = (self.predictions[old], float(self.utility[old])) if old >= 0 else (None, float("nan"))
        now = self.predictions[new], worth, float(self.utility[new])
        return Event(int(place), int(before), int(after), best, *now)

    def to_frame(self) -> Any:
        """A row for each event, on the index of the data: position, states, predictions and utilities."""
        predictions = np.array([*map(predictions_text, self.predictions), None], object)
        utility = np.append(self.utility, np.nan)
        columns = {"position": self.position, "before": self.before, "after": self.after}
        for name, cause in (("before", self.cause_before), ("after", self.cause_after)):
            columns |= {f"predictions_{name}": predictions[cause], f"utility_{name}": utility[cause]}
        if self.data_index is None:
            return Index("pandas", None, len(self)).frame(columns)
        return self.data_index.frame(columns, self.position)

    def __str__(self) -> str:
        return "\n".join(map(str, self))

    def __repr__(self) -> str:
        between = f", positions {self.position[0]} to {self.position[-1]}" if len(self) else ""
        return f"Events({plural(len(self), 'change')}{between})"


@dataclass(frozen=True, eq=False)
class EventLog(Sequence[Any]):
    """Events of a monitor that adapts, in the order of the data: Event, Change and Refit.

    Attributes
    ----------
    parts : Events between the changes, and the changes, each in a list
    """

    parts: list[Sequence[Any]] = field(default_factory=list)

    def __len__(self) -> int:
        return sum(map(len, self.parts))

    def __getitem__(self, i: Any) -> Any:
        if isinstance(i, slice):
            return [self[k] for k in range(*i.indices(len(self)))]
        ends = np.cumsum([0, *map(len, self.parts)]).tolist()
        i = i + ends[-1] if i < 0 else i
        if not 0 <= i < ends[-1]:
            raise IndexError(f"event {i} of {ends[-1]}")
        part = bisect_right(ends, i) - 1
        return self.parts[part][i - ends[part]]

    def __iter__(self) -> Iterator[Any]:
        return chain.from_iterable(self.parts)

    def __str__(self) -> str:
        return "\n".join(map(str, self))

    def __repr__(self) -> str:
        kinds = Counter(type(event).__name__ for event in self)
        return f"EventLog({', '.join(f'{n} {kind}' for kind, n in sorted(kinds.items()))})"


def changes_in_sequence(cause: Ints, labels: Ints, last: int = -1) -> tuple[Ints, Ints, Ints]:
    """Places where the label of the causal state changes, with the causal states before (-1 = none yet) and after.

    Where the causal state is not known, -1, what was known last stands; `last` was known before the sequence.
    """
    known = np.flatnonzero(cause >= 0)
    after = cause[known]
    before = np.concatenate([[last], after[:-1]]).astype(np.int64)[: after.size]
    changed = (before < 0) | (labels[before] != labels[after])
    return known[changed], before[changed], after[changed]


def changes_in_observations(obs: Observations, cause: Ints, labels: Ints) -> tuple[Ints, Ints, Ints]:
    """As `changes_in_sequence`, between observations and their successors; without successors, between neighbours."""
    following = np.append(np.arange(1, obs.n), -1) if obs.successor is None else obs.successor
    start = np.flatnonzero(following >= 0)
    end = following[start]
    last = np.array(cause, np.int64)
    while (lost := (last[end] < 0) & (last[start] >= 0)).any():
        last[end[lost]] = last[start[lost]]
    before = np.full(obs.n, -1, np.int64)
    before[end] = last[start]
    found = np.append(labels, -1)
    changed = np.flatnonzero((cause >= 0) & (found[before] != found[cause]))
    changed = changed[np.argsort(obs.site[changed], kind="stable")]
    return obs.site[changed], before[changed], cause[changed]
