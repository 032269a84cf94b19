"""Changes of state along the data: the events that a user wants to hear of."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .structures import Floats, Ints, Observations

__all__ = ["Event", "Events", "along", "changes", "predictions_text"]


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


def predictions_text(predictions: Any) -> str:
    """A set of predictions in words."""
    if not isinstance(predictions, frozenset):
        return str(predictions)
    try:
        ordered: list[Any] = sorted(predictions)
    except TypeError:
        ordered = sorted(predictions, key=str)
    return " or ".join(map(str, ordered))


@dataclass(frozen=True, eq=False)
class Events(Sequence[Event]):
    """Events in the order of the data, as arrays; `events[i]` is one of them.

    Attributes
    ----------
    position : (m,) where the new state begins
    before, after : (m,) states, -1 = not known
    cause_before, cause_after : (m,) the causal states that they are made of
    predictions, utility : Y and U of each causal state
    """

    position: Ints
    before: Ints
    after: Ints
    cause_before: Ints
    cause_after: Ints
    predictions: Sequence[Any]
    utility: Floats

    def __len__(self) -> int:
        return self.position.size

    def __getitem__(self, i: Any) -> Any:
        if isinstance(i, slice):
            where = self.position[i], self.before[i], self.after[i]
            return Events(*where, self.cause_before[i], self.cause_after[i], self.predictions, self.utility)
        old, new = int(self.cause_before[i]), int(self.cause_after[i])
        known = old >= 0
        return Event(
            int(self.position[i]),
            int(self.before[i]),
            int(self.after[i]),
            self.predictions[old] if known else None,
            self.predictions[new],
            float(self.utility[old]) if known else float("nan"),
            float(self.utility[new]),
        )

    def __iter__(self) -> Iterator[Event]:
        return (self[i] for i in range(len(self)))

    def __str__(self) -> str:
        return "\n".join(map(str, self))


def changes(cause: Ints, labels: Ints, last: int = -1) -> tuple[Ints, Ints, Ints]:
    """Places of a sequence where the label of the causal state changes, with the causal states before and after.

    Parameters
    ----------
    cause : (n,) causal states in order, -1 = not known: what was known last stands
    labels : (n_causal,) label of each causal state
    last : what was known before the sequence

    Returns
    -------
    place, before, after : (m,) each; before = -1 at the first state that is known
    """
    known = np.flatnonzero(cause >= 0)
    after = cause[known]
    before = np.concatenate([[last], after[:-1]]).astype(np.int64)[: after.size]
    changed = (before < 0) | (labels[before] != labels[after])
    return known[changed], before[changed], after[changed]


def along(obs: Observations, cause: Ints, labels: Ints, initial: bool = False) -> tuple[Ints, Ints, Ints]:
    """Changes between observations and their successors; without successors, between neighbours.

    Parameters
    ----------
    cause : (n,) causal state of each observation, -1 = not known: what was known last stands
    labels : (n_causal,) label of each causal state
    initial : list the first known state of each sequence too, with before = -1

    Returns
    -------
    place, before, after : (m,) each, in the order of the data
    """
    following = obs.successor
    if following is None:
        following = np.append(np.arange(1, obs.n), -1)
    start = np.flatnonzero(following >= 0)
    end = following[start]
    last = np.array(cause, np.int64)
    while True:
        lost = (last[end] < 0) & (last[start] >= 0)
        if not lost.any():
            break
        last[end[lost]] = last[start[lost]]
    before = np.full(obs.n, -1, np.int64)
    before[end] = last[start]
    found = np.append(labels, -1)
    changed = np.flatnonzero((cause >= 0) & (found[before] != found[cause]) & (initial | (before >= 0)))
    order = np.argsort(obs.site[changed], kind="stable")
    changed = changed[order]
    return obs.site[changed], before[changed], cause[changed]
