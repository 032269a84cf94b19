"""Monitor: symbols in, one at a time or in chunks; changes of decision out, as they happen."""

import math
import os
from collections.abc import Iterable, Iterator
from threading import Lock
from typing import Any

import numpy as np

from ..data.alphabet import TEXT, plain
from ..data.sequences import is_array, to_array
from ..decisions.decisional_model import DecisionalModel
from ..decisions.events import Change, Event, EventLog, Events, Refit
from ..machines import EpsilonMachine
from ..support.arguments import refusal, require, shown
from ..support.arrays import Floats
from . import saved
from .belief_follower import BeliefFollower
from .follower import BYTES, Arrivals, Follower, Plan
from .learner import Adapt, Learner, template
from .signal_followers import ValueFollower, followed, follower_of
from .signal_learner import learner_of

_CHUNK = 1 << 16  # symbols handled at once: bounds the memory beside the events


class RefusedSymbol(ValueError):
    """A symbol that the policy "raise" refuses; what came before it is done, itself and what follows is not.

    Attributes
    ----------
    symbol, position : the symbol, and its place in all that the monitor was given
    index : its place in the chunk: after `monitor.gap()` go on with `symbols[index + 1:]`
    events : Events of the chunk before it
    """

    def __init__(self, symbol: Any, position: int, index: int, gap: bool, events: Events | EventLog) -> None:
        what, rule, name = "symbol", "is impossible there; no state that the machine can be in emits it", "impossible"
        if gap:
            what, rule, name = "value", "is missing; gaps are refused", "missing"
        super().__init__(
            f"The {what} {plain(symbol)!r} at position {position} {rule}: call gap() in its place, or use "
            f"{name}='reset' or 'stay'."
        )
        self.symbol, self.position, self.index, self.events = symbol, position, index, events


class Monitor:
    """Follow a stream of symbols, or the values of a signal, and tell when the decision changes.

    The states are those of `machine.filter` over all symbols so far and the events those of
    `decision.events(symbols, initial=True)`, however the symbols are cut in chunks, up to the first that is `missing`.
    The first known decision is an event with before = -1; while the causal state is not known, the last known decision
    stands.

    A machine of whole strings, `epsilon_machine(strings, whole=True)`, begins in its start; after "<end>", a symbol as
    the others, it is there again, and the next string may come. After a gap the state is not known before it is told.

    Values are followed by a machine with levels, `epsilon_machine(signal)`, or by the causal states of delay vectors or
    of rows of numbers, `CausalStates(past=3).fit(signal)`. A decision is known then where its states are believed to at
    least 98 %: a value between two levels, or on the border of two states, changes no decision; and no value is
    impossible.

    Of a BeliefMachine beliefs are followed: the states are the regions of the decision, one of which is always known,
    and what an event is worth is that of the belief itself.

    Parameters
    ----------
    decision : DecisionalStates fitted on a machine, on causal states that have one, or on causal states of numbers
    by : what changes: "decision", "prediction" (iso-prediction state) or "utility" (iso-utility state)
    level : crossings of this expected utility instead: state 1 is at or above the level, 0 below
    impossible : {"reset", "stay", "raise"}, for a symbol that no possible state emits: start again from the
        stationary distribution conditioned on it, ignore it, or raise RefusedSymbol (a ValueError)
    missing : {"reset", "stay", "raise"}, for a gap (None, NaN or masked, where the alphabet has no such symbol):
        start again from the stationary distribution, ignore it, or raise RefusedSymbol. A gap counts as one position.
        In a signal, and on beliefs, "reset" goes on with what one value that was not seen may have been
    adapt : ds.Adapt, for a stream that drifts: when the machine no longer fits, a Change is told among the events,
        nothing is decided until a new machine is learnt, and that is a Refit. By default the machine stays

    Attributes
    ----------
    source : dict or None, what the program that feeds the monitor wants to be saved with it, as JSON

    Notes
    -----
    With "raise", all that precedes the refused symbol is done and the monitor stands just before it: `gap()` takes
    its place if the stream is to go on. The exception holds the events of the chunk up to there.

    Examples
    --------
    >>> import decisional as ds
    >>> monitor = Monitor(ds.DecisionalStates(ds.utility.zero_one()).fit(ds.processes.even()))
    >>> monitor.push(1), monitor.state, monitor.decision
    (None, -1, -1)
    >>> print(monitor.feed("101"))
    2: 0 or 1, worth 0.5
    3: 1, worth 1 (was 0 or 1, worth 0.5)
    """

    def __init__(
        self,
        decision: Any,
        by: str = "decision",
        level: float | None = None,
        impossible: str = "reset",
        missing: str = "reset",
        adapt: Adapt | None = None,
    ) -> None:
        fitted = isinstance(decision, DecisionalModel) and decision.is_fitted()
        machine = followed(decision) if fitted else None
        if machine is None:
            raise ValueError(
                f"The 'decision' is {shown(decision)}; a monitor follows the machine of fitted DecisionalStates: fit "
                "them on a machine, or on the causal states of a series."
            )
        follower = follower_of(machine, Plan.of(decision, by, level), by, level, impossible, missing)
        if adapt is not None and isinstance(follower, BeliefFollower):
            rule = "None for a BeliefMachine, which is not learnt anew along a stream"
            raise ValueError(refusal("adapt", adapt, rule, "fit ds.belief_machine to the last symbols now and then"))
        if adapt is not None and (not isinstance(adapt, Adapt) or impossible == "raise"):
            raise ValueError(
                f"The 'adapt' is {shown(adapt)} and 'impossible' is {impossible!r}; it must be None or a ds.Adapt, "
                "which learns from impossible symbols: use impossible='reset' or 'stay'."
            )
        self._set(follower, None if adapt is None else learner_of(adapt, decision, follower))

    def _set(self, follower: Follower, learner: Learner | None) -> None:
        self._follower, self._learner = follower, learner
        self.source: dict[str, Any] | None = None
        # A monitor may be given symbols by several threads: one chunk after the other.
        self._lock = Lock()
        self.by, self.level = follower.by, follower.level
        self.impossible, self.missing = follower.impossible, follower.missing

    @property
    def machine(self) -> EpsilonMachine | None:
        """The machine that is followed, None where causal states of numbers are, or beliefs."""
        machine = self._follower.machine
        return machine if isinstance(machine, EpsilonMachine) else None

    @property
    def alphabet(self) -> tuple[Any, ...] | None:
        """The symbols that are followed, None where values are."""
        return None if isinstance(self._follower, ValueFollower) else self._follower.machine.alphabet

    @property
    def outcomes(self) -> list[Any]:
        """What may come next: symbols, or sample points of the values."""
        return list(self._follower.outcomes)

    def predict_proba(self) -> Floats:
        """(n_outcomes,) probability of each of `outcomes`, as the states that are believed in have it."""
        with self._lock:
            return self._follower.predict_proba()

    @property
    def position(self) -> int:
        """Number of symbols so far, gaps included."""
        return self._follower.position

    @property
    def state(self) -> int:
        """Causal state after the last symbol, the region where beliefs are followed; -1 = not known."""
        return self._follower.state

    @property
    def belief(self) -> Floats:
        """(n_states,) probability of each causal state, or hidden state, after the last symbol."""
        self._follower.settle()
        return self._follower.belief.copy()

    @property
    def shares(self) -> Floats:
        """(n_plan,) probability of each state that the plan decides in, the region where beliefs are followed."""
        return self._follower.shares()

    @property
    def decision(self) -> int:
        """State of the decision (or of what `by` and `level` name) in the last known causal state, -1 = none yet."""
        return self._follower.standing()[0]

    @property
    def predictions(self) -> Any:
        """The set Y of best predictions in the last known causal state, None = none yet."""
        return self._follower.standing()[1]

    @property
    def utility(self) -> float:
        """Expected utility in the last known causal state, NaN = none yet."""
        return self._follower.standing()[2]

    @property
    def adapts(self) -> bool:
        """Whether the machine may change."""
        return self._learner is not None

    @property
    def learning(self) -> bool:
        """Whether the machine was given up and no new one is learnt yet; nothing is decided then."""
        return self._learner is not None and self._learner.learning

    @property
    def misfit(self) -> float:
        """Bits by which an alternative describes the last symbols shorter than the machine; 0 if that never changes."""
        return 0.0 if self._learner is None else self._learner.misfit

    @property
    def bound(self) -> float | None:
        """The `misfit` at which the machine is given up, log2(1/alpha); None where it may not change."""
        return None if self._learner is None else -math.log2(self._learner.adapt.alpha)

    @property
    def plan(self) -> Plan:
        """What to do in each causal state: labels, predictions, utility and what is believed when nothing is known."""
        return self._follower.plan

    def takes(self, symbol: Any) -> bool:
        """Whether a symbol of a file, as text, is known: one of the alphabet, a number of a signal, or None, a gap."""
        return self._follower.takes(symbol)

    def push(self, symbol: Any) -> Event | Change | Refit | None:
        """Take one symbol; return the event if it makes one.

        Cost: O(1) while the causal state is known, else O(n_states).
        """
        with self._lock:
            return self._push(symbol)

    def _push(self, symbol: Any) -> Event | Change | Refit | None:
        learner, follower = self._learner, self._follower
        code, gap = follower.lookup(symbol)
        if learner is not None:
            if learner.at_once(code):
                return learner.push(code)
            found = self._feed(*_readable([symbol]))
            return found[0] if len(found) else None
        state = follower.step(code)
        if state >= 0:
            return follower.arrive(state, state)
        gap = gap or follower.is_gap(code, symbol)
        refused = gap and self.missing == "raise"
        along = follower.walk(np.array([code])[: 1 - refused], np.array([gap])[: 1 - refused])
        if not along.states.size:
            raise RefusedSymbol(symbol, self.position, 0, gap, follower.events([]))
        return follower.arrive_one(along)

    def feed(self, symbols: Any) -> Events | EventLog:
        """Take a chunk of symbols: str, bytes, list or another iterable, or array; return its events.

        Cost: O(1) per symbol while the causal state is known, else O(n_states); several runs of gaps in a chunk
        cost one call of the kernel each if `missing` is not `impossible`.
        """
        symbols, mask = _readable(self._follower.read(symbols))
        with self._lock:
            return self._feed(symbols, mask)

    def _feed(self, symbols: Any, mask: Any) -> Events | EventLog:
        follower, learner, lo = self._follower, self._learner, 0
        arrivals, log = list[Arrivals](), EventLog()
        n, code = follower.coder(symbols)
        # Bytes that are no letters are characters.
        values = bytes(symbols).decode("latin-1") if isinstance(symbols, BYTES) else symbols
        while lo < n:
            size = _CHUNK if learner is None else min(_CHUNK, learner.limit or _CHUNK)
            codes, machine = code(lo, min(n, lo + size)), follower.machine
            gaps = follower.gaps(symbols, mask, lo, codes)
            end = int(gaps.argmax()) if self.missing == "raise" and gaps.any() else len(codes)
            if learner is None:
                after = follower.walk(codes[:end], gaps[:end])
                arrivals.append(follower.arrive_all(after))
                taken = after.states.size
            else:
                taken, told = learner.take(codes[:end], gaps[:end], values[lo : lo + end])
                log.parts.extend(told)
            lo, gap = lo + taken, taken == end < len(codes)
            if gap or (learner is None and taken < end):
                value = np.ma.masked if gap and mask is not None and mask[lo] else symbols[lo]
                found = follower.events(arrivals) if learner is None else log
                raise RefusedSymbol(value, self.position, lo, gap, found)
            if follower.machine is not machine:
                n, code = follower.coder(symbols)
        return follower.events(arrivals) if learner is None else log

    def watch(self, symbols: Iterable[Any]) -> Iterator[Event | Change | Refit]:
        """Yield the events of a stream as they happen: a symbol is taken when its event is asked for."""
        if isinstance(symbols, BYTES) and self.alphabet is not None:
            letters, lookup = self.alphabet, self._follower.alphabet.lookup
            coded = ((lookup.byte(value), chr(value)) for value in bytes(symbols))
            symbols = (letters[code] if code < lookup.unknown else letter for code, letter in coded)
        if not isinstance(symbols, Iterable) or getattr(symbols, "ndim", None) == 0:
            raise TypeError(refusal("symbols", symbols, "a sequence or a stream of symbols", "use push() for one"))
        for symbol in symbols:
            event = self.push(symbol)
            if event is not None:
                yield event

    def gap(self) -> None:
        """Forget the causal state, whatever `missing` says: one position for what was lost in between."""
        with self._lock:
            self._follower.forget()
            self._follower.position += 1
            if self._learner is not None:
                self._learner.gap()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the monitor as it stands to a JSON file, whole or not at all, without loss of precision.

        Symbols, names and predictions must be strings, numbers, booleans, None, or tuples of these.
        """
        with self._lock:
            saved.write(self._follower, self._learner, path, self.source)

    @classmethod
    def load(cls, path: str | os.PathLike[str], decision: Any = None) -> "Monitor":
        """Read a monitor written by `save`, which goes on where it stood; anything else is refused.

        A monitor that adapts needs the `decision` it was made with again if its utility is a function of the user.
        """
        monitor = cls.__new__(cls)
        follower, learner, source = saved.read(path, None if decision is None else template(decision))
        monitor._set(follower, learner)
        monitor.source = source
        return monitor

    def same_model(self, other: "Monitor") -> bool:
        """Whether two monitors began with the same machine, decisions and options, wherever each stands."""
        require(other, "_origin", "other", "a Monitor", "give another one")
        return self._origin() == other._origin()

    def _origin(self) -> dict[str, Any]:
        learner = self._learner
        origin = None if learner is None else learner.origin
        return {**(origin or self._follower.model()), "adapt": None if learner is None else learner.adapt}

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _lock=Lock())

    def __repr__(self) -> str:
        return f"Monitor({self._follower.machine.n_states} states, position {self.position}, decision {self.decision})"


def _readable(symbols: Any) -> tuple[Any, Any]:
    """A sequence that can be coded and indexed, and the mask where values can be masked."""
    if is_array(symbols):
        array = to_array(symbols)
        return np.ma.getdata(array), np.ma.getmaskarray(array) if np.ma.isMaskedArray(array) else None
    if not isinstance(symbols, Iterable) or isinstance(symbols, TEXT):
        return symbols, None
    values = list(symbols)
    mask = [value is np.ma.masked for value in values]
    if any(mask):
        values = [None if value is np.ma.masked else value for value in values]
    return values, np.array(mask, bool)
