"""Follower: a machine along a stream of symbols, what is believed of its state, and the decision that stands."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from .._kernels import machines
from ..data.alphabet import Alphabet, is_missing
from ..data.sequences import one_sequence
from ..decisions.as_json import encode
from ..decisions.events import Event, Events, changes_in_sequence
from ..machines import walks
from ..support.arguments import choice as one_of
from ..support.arguments import shown
from ..support.arrays import Floats, Ints

POLICIES = ("reset", "stay", "raise")  # in the order of the kernel's codes
BYTES = (bytes, bytearray, memoryview)
# What makes a machine, and how it is followed.
MACHINE = ("targets", "emission", "alphabet", "names", "weights")
OPTIONS = ("by", "level", "impossible", "missing")
# Where the label changes, and the causal states before and after.
Arrivals = tuple[Ints, Ints, Ints]


class Tracked(NamedTuple):
    """Causal states along a stream, -1 = not known, those that are known well enough to decide on, and of beliefs what
    their decisions are worth."""

    states: Ints
    known: Ints
    worth: Floats | None = None


class Plan(NamedTuple):
    """What to do in each causal state of a machine.

    Attributes
    ----------
    labels : (n_states,) state of the decision, or of what else is watched
    predictions : the sets Y of best predictions
    utility : (n_states,) what they are worth
    home : (n_states,) what is believed of the state, or of the hidden one, when nothing is known
    """

    labels: Ints
    predictions: Sequence[Any]
    utility: Floats
    home: Floats

    @classmethod
    def of(cls, choice: Any, by: str, level: float | None) -> "Plan":
        """That of fitted DecisionalStates."""
        labels = np.array(choice.event_labels(by, level), np.int64)
        if choice.regions_ is not None:
            home = choice.regions_.machine.home
        else:
            home = choice.causal_.states_.probability if choice.machine_ is None else walks.prior(choice.machine_)
        return cls(labels, [*choice.predictions_], np.array(choice.utility_, float), np.array(home))


class Follower:
    """Follow symbols by their codes; the last code, len(alphabet), is that of symbols that are not known.

    Attributes
    ----------
    by, level, impossible, missing : as `Monitor` has them
    machine, alphabet, plan : what is followed, and what to do
    position : number of symbols so far, gaps included
    state : causal state after the last symbol, -1 = not known
    last : the last causal state that was known well enough to decide, -1 = none yet
    belief : (n_states,) probability of each state; behind while the state is known, see `settle`
    """

    machine: Any
    alphabet: Any
    state: int

    def __init__(self, machine: Any, plan: Plan, by: str, level: float | None, impossible: str, missing: str) -> None:
        self.by, self.level = by, level
        self.impossible = one_of(impossible, "impossible", POLICIES)
        self.missing = one_of(missing, "missing", POLICIES)
        self.position = 0
        self.adopt(machine, plan)
        self.begin()

    def adopt(self, machine: Any, plan: Plan) -> None:
        """Go on with another machine; no decision is known then."""
        self.machine, self.plan, self.last = machine, plan, -1
        self.alphabet = Alphabet(machine.alphabet)
        # A last column for unknown symbols.
        self._targets = np.pad(machine.targets, ((0, 0), (0, 1)), constant_values=-1)
        self._foretold = walks.foretold(machine)
        self._unused = np.empty((0, len(machine.alphabet))), np.zeros(machine.emission.shape, np.int64)
        self._known = frozenset(map(str, machine.alphabet))

    def model(self) -> dict[str, Any]:
        """What does not change with the stream, as JSON."""
        machine = {name: encode(getattr(self.machine, name)) for name in MACHINE}
        if self.machine.levels is not None:
            machine["levels"] = self.machine.levels.as_json()
        if self.machine.start is not None:
            machine["start"] = self.machine.start
        return {"machine": machine, **self._how()}

    def _how(self) -> dict[str, Any]:
        options = {name: encode(getattr(self, name)) for name in OPTIONS}
        return {**options, **{name: encode(part) for name, part in self.plan._asdict().items()}}

    @property
    def outcomes(self) -> Sequence[Any]:
        """What may come next."""
        return list(self.machine.alphabet)

    def predict_proba(self) -> Floats:
        """(n_outcomes,) probability of each of them."""
        self.settle()
        found: Floats = self.belief @ self.machine.emission
        return found

    def shares(self) -> Floats:
        """(n,) probability of each state of the plan."""
        self.settle()
        return self.belief.copy()

    def begin(self) -> None:
        """Nothing has come yet: whole strings begin in one state, of other streams nothing is known."""
        self.forget()
        if self.machine.start is not None:
            self.state = self.machine.start
            self.settle()

    def forget(self) -> None:
        """Nothing is known of the state."""
        self.belief, self.state = self.plan.home.copy(), -1

    def settle(self) -> None:
        """Bring the belief up to date with the plain walk, which only moves the state."""
        if self.state >= 0:
            self.belief[:] = 0.0
            self.belief[self.state] = 1.0

    def standing(self) -> tuple[int, Any, float]:
        """Label, best predictions and their worth in the last known causal state; -1, None and NaN = none yet."""
        k, plan = self.last, self.plan
        return (int(plan.labels[k]), plan.predictions[k], float(plan.utility[k])) if k >= 0 else (-1, None, np.nan)

    def step(self, code: int) -> int:
        """State after one more symbol by the plain walk, -1 where the kernel must tell. Cost: O(1)."""
        return int(self._targets.item(self.state, code)) if self.state >= 0 else -1

    def lookup(self, symbol: Any) -> tuple[Any, bool]:
        """Code of one symbol, and whether it is missing, as far as that is seen at once."""
        try:
            return self.alphabet.lookup(symbol), False
        except TypeError:
            if symbol is np.ma.masked:
                return len(self.alphabet), True
            raise TypeError(f"The 'symbol' is {shown(symbol)}; it must be hashable: give one symbol.") from None

    def is_gap(self, code: Any, symbol: Any) -> bool:
        """Whether a symbol that is not known is missing."""
        return bool(code == len(self.alphabet)) and is_missing(symbol)

    def read(self, symbols: Any) -> Any:
        """A chunk of symbols, in a form that can be coded."""
        return one_sequence(symbols, self.machine.alphabet)

    def coder(self, symbols: Any) -> tuple[int, Callable[[int, int], Any]]:
        """Number of symbols, and a function that gives the codes from one of them up to another."""
        n, code = self.alphabet.coder(symbols)
        return n, code

    def gaps(self, symbols: Any, mask: Any, lo: int, codes: Any) -> Ints:
        """Which of the symbols from lo on are missing; masked ones get the code of unknown symbols."""
        gaps: Ints = self.alphabet.gaps(symbols, codes, lo)
        if mask is not None:
            gaps |= mask[lo : lo + codes.size]
            codes[gaps] = len(self.alphabet)
        return gaps

    def takes(self, symbol: Any) -> bool:
        """Whether a symbol of a file, as text, is one that the machine knows, or missing."""
        return symbol is None or (isinstance(symbol, str) and symbol in self._known)

    def walk(self, codes: Ints, gaps: Ints) -> Tracked:
        """States after each symbol, up to the first that is refused; the belief goes along."""
        self.settle()
        states, bounds = np.empty(codes.size, np.int32), [0, codes.size][: 2 * codes.size]
        if self.impossible != self.missing:
            bounds[1:1] = (np.flatnonzero(gaps[1:] != gaps[:-1]) + 1).tolist()
        n_letters = len(self.alphabet)
        tables = self._targets, self.machine.emission, self._foretold, self.plan.home, self.belief
        for begin, end in pairwise(bounds):
            how = POLICIES.index(self.missing if gaps[begin] else self.impossible), False
            stop, _ = machines.drive(codes[begin:end], n_letters, *tables, *how, states[begin:end], *self._unused)
            if stop >= 0:
                return Tracked(states[: begin + stop], states[: begin + stop])
        return Tracked(states, states)

    def arrive(self, state: int, known: int) -> Event | None:
        """Note the state after one symbol; return the event if the decision changes."""
        before, old, worth = self.standing()
        self.position, self.state = self.position + 1, state
        if known >= 0:
            self.last = known
        after, new, gain = self.standing()
        return None if after == before else Event(self.position - 1, before, after, old, new, worth, gain)

    def arrive_one(self, along: Tracked) -> Event | None:
        """The same for what the kernel told of one symbol."""
        return self.arrive(along.states.item(), along.known.item())

    def arrive_all(self, along: Tracked) -> Arrivals:
        """Note the states after a run of symbols; return the changes."""
        states, known, _ = along
        place, before, after = changes_in_sequence(known, self.plan.labels, self.last)
        place = place + self.position
        if states.size:
            self.position, self.state = self.position + states.size, int(states[-1])
        known = known[known >= 0]
        self.last = int(known[-1]) if known.size else self.last
        return place, before, after

    def events(self, arrivals: list[Arrivals]) -> Events:
        """Changes as events."""
        place, before, after = map(np.concatenate, zip([np.zeros(0, np.int64)] * 3, *arrivals, strict=True))
        label = np.append(self.plan.labels, -1)
        return Events(place, label[before], label[after], before, after, self.plan.predictions, self.plan.utility)
