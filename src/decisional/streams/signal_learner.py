"""SignalLearner: whether values still lie where their model expects them, and learning another when they do not.

Where a value lies in its distribution, from 0 to 1, is as likely anywhere while the model is right, whatever came
before. Places are letters here; what was usual for long, in all, after each letter and in each state, is compared with
what is usual now (`_kernels.value_drift`): the model may have faults, but these must not change.
"""

from typing import Any

import numpy as np
from scipy.special import ndtri

from .._kernels import drift, value_drift
from ..data.signals import delays as observed
from ..decisions.decisional_model import DecisionalModel
from ..machines import EpsilonMachine
from ..states.causal_model import CausalModel, own_places
from ..states.signal_machine import NoLevels
from ..support.arguments import shown
from ..support.arrays import Floats, Ints
from .follower import Follower, Plan, Tracked
from .learner import Adapt, Learner, template
from .signal_followers import LevelFollower, ValueFollower, Windows

# Borders between letters: the rarest places say most.
EDGES = np.array([0.01, 0.05, 0.2, 0.35, 0.5, 0.65, 0.8, 0.95, 0.99])
PRIOR = np.diff(EDGES, prepend=0.0, append=1.0)
# The same as normal scores, in which a regression on the last letters is linear: borders, and means between them.
BORDERS = ndtri(np.concatenate([[0.0], EDGES, [1.0]]))
SCORES = -np.diff(np.exp(-0.5 * BORDERS**2)) / np.sqrt(2.0 * np.pi) / PRIOR
# What the model says of the letters is worth so many of them in all; what is usual in all, after each letter and in
# each state, and what was usual for long, in what is usual now.
TRUST, LEAN = 500.0, 20.0
# Likelihood ratio of a single value at most: a few that are rare, one after the other, are no drift.
MOST = 3.0
# Values of a machine that a test begins with.
SIMULATED = 1000
# Share of the weights that goes round at each letter, among short memories and among long ones: these must come back to
# a context as soon as those, or a fault that the model always had looks new when it is found. Lengths of the former.
SHARE, LIMITS = 1 / 2048, np.array([64.0, 512.0, 4096.0])


class PlaceTest:
    """Places of values against what was usual; see `_kernels.value_drift.test` for the state."""

    STATE = ("steady", "recent", "weights", "quick", "levels", "marks", "last", "sums", "rules")

    def __init__(self, n_states: int, adapt: Adapt) -> None:
        n_letters, n_limits = PRIOR.size, LIMITS.size
        rows, n_contexts = (n_states + 1) * (n_letters + 1), value_drift.CONTEXTS
        self._bound = 1.0 / adapt.alpha
        self.steady = np.zeros((rows, n_letters + 1))
        self.recent = np.zeros((rows, n_limits, n_letters + 1))
        self.weights = np.full(n_contexts, 1.0 / n_contexts)
        self.quick = np.full(n_contexts * n_limits, 1.0 / (n_contexts * n_limits))
        self.levels, self.marks = np.ones(1), np.zeros(2, np.int64)
        self.last = np.full(value_drift.ORDER, -1)
        self.rules = np.repeat(value_drift.NOTHING[:, None], 1 + n_limits, axis=1)
        self.sums = np.zeros((*self.rules.shape, value_drift.ORDER + 2))

    def run(self, places: Floats, before: Ints, position: int) -> tuple[int, int]:
        """Take the places of values and the states before them; what, n: see `_kernels.drift.test`."""
        letters = np.where(np.isnan(places), -1, np.searchsorted(EDGES, places))
        fixed = self._bound, MOST, PRIOR, TRUST, LEAN, SHARE, LIMITS, BORDERS, SCORES
        state = tuple(getattr(self, name) for name in self.STATE)
        n, lost = value_drift.test(letters, before.astype(np.int64), position, *fixed, *state)
        return (drift.LOST if lost else drift.FITS), int(n)

    def warm_up(self, places: Floats, before: Ints) -> None:
        """Let the test know the values that the states were learnt from."""
        bound, self._bound = self._bound, np.nan
        self.run(places, before, 0)
        self._bound, self.levels[:] = bound, 1.0
        self.marks[:] = 0
        self.gap()

    def is_possible(self) -> bool:
        """Whether a test can stand like this, as one that was read from a file must."""
        positive = self.steady, self.recent, self.weights, self.quick, self.levels, self.rules[..., -1]
        return bool(
            all(np.isfinite(values).all() and (values >= 0).all() for values in positive)
            and np.isfinite(self.sums).all()
            and np.isfinite(self.rules).all()
            and self.weights.sum() > 0
            and self.quick.sum() > 0
            and (self.marks >= 0).all()
            and ((self.last >= -1) & (self.last < PRIOR.size)).all()
        )

    def gap(self) -> None:
        """Values are missing."""
        self.last[:] = -1


class RecentValues:
    """The last values in a ring, NaN = missing."""

    STATE = ("values",)

    def __init__(self, size: int, width: int) -> None:
        self.values, self.end = np.full((size, width), np.nan), 0

    def append(self, code: Any) -> None:
        """Keep one that is missing."""
        self.extend(np.full((1, self.values.shape[1]), np.nan), np.ones(1, bool), ())

    def extend(self, codes: Any, gaps: Ints, symbols: Any) -> None:
        """Keep values."""
        size = len(self.values)
        kept = np.asarray(codes, float).reshape(len(codes), -1)[-size:]
        self.end += len(codes)
        self.values[np.arange(self.end - len(kept), self.end) % size] = kept

    def last(self, n: int) -> Floats:
        """The last n values (n, width), or as many as there are."""
        n = min(n, self.end, len(self.values))
        found: Floats = self.values[np.arange(self.end - n, self.end) % len(self.values)]
        return found

    def count(self, n: int) -> int:
        """How many of the last n are known."""
        return int((~np.isnan(self.last(n)).any(axis=1)).sum())


class SignalLearner(Learner):
    """As `Learner`, for values: their places in the distributions of the model are tested, and new states are found.

    New machines are those of `epsilon_machine`, new causal states those of the same delays with default settings; both
    are found again from twice as many values until all that are kept were used.
    """

    _follower: ValueFollower

    def _begin(self) -> None:
        follower = self._follower
        self.test = PlaceTest(follower.machine.n_states, self.adapt)
        self.recent = RecentValues(self.adapt.memory, follower.width)

    def at_once(self, code: Any) -> bool:
        return False

    def _tested(self, codes: Any, gaps: Ints) -> tuple[int, int]:
        follower = self._follower
        self._before = follower.now()
        self._along, places, before = follower.look(codes, gaps)
        what, n = self.test.run(places, before, follower.position)
        return what, n

    def _walked(self, codes: Any, gaps: Ints) -> Tracked:
        if len(codes) < len(self._along.states):
            self._follower.go_back(self._before)
            return self._follower.walk(codes, gaps)
        return self._along

    def _learnt(self, position: int) -> tuple[Any, Any, Any] | None:
        """New states with their decisions, and the values that they were learnt from, with gaps."""
        values = self.recent.last(position + 1 - self.start)
        again = 2 * max(self.due, self.needed)
        self.due = again if again <= self.adapt.memory else 0
        try:
            choice = self._found_in(values)
        except NoLevels:
            # More values may tell.
            self.needed = self.had + self.adapt.refit_after
            return None
        except ValueError as error:
            self.needed, self.due = self.had + self.adapt.refit_after, 0
            raise ValueError(
                f"The states learnt from position {self.start} on have no decisions, and are learnt on; {error}"
            ) from error
        self.test = PlaceTest(len(choice.predictions_), self.adapt)
        warm_up(self.test, choice)
        self.change, self.refit = None, position
        codes = values if self._follower.width > 1 else values[:, 0]
        return choice, codes, np.isnan(values).any(axis=1)

    def _found_in(self, values: Floats) -> Any:
        machine, model = self._follower.machine, DecisionalModel(**self.template)
        if isinstance(machine, EpsilonMachine):
            from ..states.machine_selection import epsilon_machine

            return model.fit_learnt(epsilon_machine(values[:, 0]), self.had)
        made = machine.delays
        how = {"lags": list(made.lags), "difference": made.difference, "target": made.target}
        obs = observed(values, future=len(made.ahead), step=made.ahead[0], **how)
        return model.fit(CausalModel().fit(obs))


def warm_up(test: PlaceTest, choice: Any) -> None:
    """Let a test know where values lie: those that causal states were found in, or some that a machine makes."""
    if choice.machine_ is None:
        test.warm_up(*own_places(choice.causal_))
        return
    made = choice.machine_.simulate(SIMULATED, rng=0)
    alone = LevelFollower(choice.machine_, Plan.of(choice, "decision", None), "decision", None, "reset", "reset")
    test.warm_up(*alone.look(made, np.zeros(made.size, bool))[1:])


def learner_of(adapt: Adapt, decision: Any, follower: Follower) -> Learner:
    """The learner of symbols or values that a follower is about."""
    how = template(decision)
    if not isinstance(follower, ValueFollower):
        return Learner(adapt, how, follower)
    if isinstance(adapt, Adapt) and adapt.forget is not None:
        raise ValueError(
            f"The 'forget' of 'adapt' is {adapt.forget}; states of numbers are learnt from a window: give "
            "Adapt(window=...)."
        )
    windows = follower.machine if isinstance(follower.machine, Windows) else None
    if windows is not None and (not windows.delays.ahead or windows.labeller.z_scale is None):
        raise ValueError(
            f"The 'adapt' is {shown(adapt)} and the states are those of pairs, or of outcomes that are kinds; drift is "
            "found where the outcomes are values of the stream: fit the causal states to a signal."
        )
    learner = SignalLearner(adapt, how, follower)
    warm_up(learner.test, decision)
    return learner
