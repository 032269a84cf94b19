"""Follower: a machine along a stream of symbols, what is believed of its state, and the decision that stands."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from .._kernels import machines
from ..decisions.events import Event, Events, changes_in_sequence
from ..machines import EpsilonMachine, walks
from ..support.arrays import Floats, Ints

POLICIES = ("reset", "stay", "raise")  # in the order of the kernel's codes
# Where the label changes, and the causal states before and after.
Arrivals = tuple[Ints, Ints, Ints]


@dataclass(frozen=True, eq=False)
class Plan:
    """What to do in each causal state of a machine.

    Attributes
    ----------
    labels : (n_states,) state of the decision, or of what else is watched
    predictions : the sets Y of best predictions
    utility : (n_states,) what they are worth
    home : (n_states,) what is believed of the state when nothing is known
    """

    labels: Ints
    predictions: Sequence[Any]
    utility: Floats
    home: Floats

    @classmethod
    def of(cls, choice: Any, machine: EpsilonMachine, by: str, level: float | None) -> "Plan":
        """That of fitted DecisionalStates."""
        labels = np.array(choice.event_labels(by, level), np.int64)
        utility = np.array(choice.utility_, np.float64)
        return cls(labels, [*choice.predictions_], utility, walks.prior(machine))


class Follower:
    """Follow symbols by their codes; the last code, len(alphabet), is that of symbols that are not known.

    Attributes
    ----------
    machine, plan : what is followed, and what to do
    position : number of symbols so far, gaps included
    state : causal state after the last symbol, -1 = not known
    last : the last causal state that was known, -1 = none yet
    belief : (n_states,) probability of each state; behind while the state is known, see `settle`
    code_type : of the codes, so that the kernels are compiled once
    """

    def __init__(self, machine: EpsilonMachine, plan: Plan, impossible: str, missing: str) -> None:
        self.impossible, self.missing = impossible, missing
        self._policy = POLICIES.index(impossible), POLICIES.index(missing)
        self.position = 0
        self.adopt(machine, plan)
        self.forget()

    def adopt(self, machine: EpsilonMachine, plan: Plan) -> None:
        """Go on with another machine; no decision is known then."""
        self.machine, self.plan, self.last = machine, plan, -1
        # A last column for unknown symbols.
        self._targets = np.pad(machine.targets, ((0, 0), (0, 1)), constant_values=-1)
        self.code_type: type[np.integer[Any]] = np.uint8 if len(machine.alphabet) < 256 else np.int32
        self._unused = np.empty((0, len(machine.alphabet))), np.zeros(machine.emission.shape, np.int64)

    def forget(self) -> None:
        """Nothing is known of the state."""
        self.belief, self.state = self.plan.home.copy(), -1

    def settle(self) -> None:
        """Bring the belief up to date with the plain walk, which only moves the state."""
        if self.state >= 0:
            self.belief[:] = 0.0
            self.belief[self.state] = 1.0

    @property
    def stay(self) -> tuple[bool, bool]:
        """Whether the state stays at impossible symbols, and at gaps."""
        return self.impossible == "stay", self.missing == "stay"

    @property
    def decision(self) -> int:
        """Label of the last known causal state, -1 = none yet."""
        return int(self.plan.labels[self.last]) if self.last >= 0 else -1

    @property
    def predictions(self) -> Any:
        """Best predictions in the last known causal state, None = none yet."""
        return self.plan.predictions[self.last] if self.last >= 0 else None

    @property
    def utility(self) -> float:
        """What they are worth, NaN = none yet."""
        return float(self.plan.utility[self.last]) if self.last >= 0 else float("nan")

    def step(self, code: int) -> int:
        """State after one more symbol by the plain walk, -1 where the kernel must tell. Cost: O(1)."""
        return int(self._targets.item(self.state, code)) if self.state >= 0 else -1

    def walk(self, codes: Ints, gaps: Ints) -> Ints:
        """States after each symbol, up to the first that is refused; the belief goes along."""
        self.settle()
        states, bounds = np.empty(codes.size, np.int32), [0, codes.size][: 2 * codes.size]
        if self.impossible != self.missing:
            bounds[1:1] = (np.flatnonzero(gaps[1:] != gaps[:-1]) + 1).tolist()
        tables = self._targets, self.machine.emission, self.plan.home, self.belief
        for begin, end in pairwise(bounds):
            how = self._policy[int(gaps[begin])], False
            stop, _ = machines.drive(codes[begin:end], *tables, *how, states[begin:end], *self._unused)
            if stop >= 0:
                return states[: begin + stop]
        return states

    def arrive(self, state: int) -> Event | None:
        """Note the state after one symbol; return the event if the decision changes."""
        before, old, worth = self.decision, self.predictions, self.utility
        self.position, self.state = self.position + 1, state
        if state >= 0:
            self.last = state
        if self.decision == before:
            return None
        return Event(self.position - 1, before, self.decision, old, self.predictions, worth, self.utility)

    def arrive_all(self, states: Ints) -> Arrivals:
        """Note the states after a run of symbols; return the changes."""
        place, before, after = changes_in_sequence(states, self.plan.labels, self.last)
        place = place + self.position
        if states.size:
            self.position, self.state = self.position + states.size, int(states[-1])
        known = states[states >= 0]
        self.last = int(known[-1]) if known.size else self.last
        return place, before, after

    def events(self, arrivals: list[Arrivals]) -> Events:
        """Changes as events."""
        place, before, after = map(np.concatenate, zip([np.zeros(0, np.int64)] * 3, *arrivals, strict=True))
        label = np.append(self.plan.labels, -1)
        return Events(place, label[before], label[after], before, after, self.plan.predictions, self.plan.utility)
