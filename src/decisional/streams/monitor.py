"""Monitor: symbols in, one at a time or in chunks; changes of decision out, as they happen."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from .._kernels import machines
from .._kernels.drift import FITS
from ..data.alphabet import is_array, is_missing, to_array
from ..decisions.events import Change, Event, Events, Happenings, Refit, changes
from ..decisions.utility_formats import decode, encode
from ..machines import EpsilonMachine, walks
from ..machines.symbols import Lookup, coder, plain
from ..support.arrays import Ints
from ..support.files import read_json, write_json
from . import Adapt, Drift, Following
from .learning import template
from .saved import from_json, to_json

if TYPE_CHECKING:
    from ..estimators import DecisionalStates

__all__ = ["Monitor", "RefusedSymbol"]

_CHUNK = 1 << 16  # symbols handled at once: bounds the memory beside the events
_TEXT = (str, bytes, bytearray, memoryview)
_JSON = "decisional.Monitor"
_POLICIES = ("reset", "stay", "raise")  # in the order of the kernel's codes
_MACHINE = ("targets", "emission", "alphabet", "names", "weights")
_OPTIONS = ("by", "level", "impossible", "missing")
_TABLES = ("labels", "predictions", "utility", "home")
_NOW = ("belief", "position", "state", "last")
_NO_GAP = np.zeros(1, bool)


class RefusedSymbol(ValueError):
    """A symbol that the policy "raise" refuses; what came before it is done, itself and what follows is not.

    Attributes
    ----------
    symbol, position : the symbol, and its place in all that the monitor was given
    index : its place in the chunk: after `monitor.gap()` go on with `symbols[index + 1:]`
    events : Events of the chunk before it
    """

    def __init__(self, symbol: Any, position: int, index: int, gap: bool, events: Events | Happenings) -> None:
        what, rule, name = "symbol", "is impossible there; no state that the machine can be in emits it", "impossible"
        if gap:
            what, rule, name = "value", "is missing; gaps are refused", "missing"
        super().__init__(
            f"The {what} {plain(symbol)!r} at position {position} {rule}: call gap() in its place, or use "
            f"{name}='reset' or 'stay'."
        )
        self.symbol, self.position, self.index, self.events = symbol, position, index, events


class Monitor(Following):
    """Follow a stream of symbols and tell when the decision changes.

    The states are those of `machine.filter` over all symbols so far and the events those of
    `decision.events(symbols, initial=True)`, however the symbols are cut in chunks. The first known decision is an
    event with before = -1; while the causal state is not known, the last known decision stands.

    Parameters
    ----------
    decision : DecisionalStates fitted on a machine, or on causal states that have one
    by : what changes: "decision", "prediction" (iso-prediction state) or "utility" (iso-utility state)
    level : crossings of this expected utility instead: state 1 is at or above the level, 0 below
    impossible : {"reset", "stay", "raise"}, for a symbol that no possible state emits: start again from the
        stationary distribution conditioned on it, ignore it, or raise RefusedSymbol (a ValueError)
    missing : {"reset", "stay", "raise"}, for a gap (None, NaN or masked, where the alphabet has no such symbol):
        start again from the stationary distribution, ignore it, or raise RefusedSymbol. A gap counts as one position
    adapt : ds.Adapt, for a stream that drifts: when the machine no longer fits, a Change is told among the events,
        nothing is decided until a new machine is learnt, and that is a Refit. By default the machine stays

    Attributes
    ----------
    position : number of symbols so far, gaps included
    state : causal state after the last symbol, -1 = not known
    machine : the EpsilonMachine that is followed

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
        decision: DecisionalStates,
        by: str = "decision",
        level: float | None = None,
        impossible: str = "reset",
        missing: str = "reset",
        adapt: Adapt | None = None,
    ) -> None:
        machine = getattr(decision, "machine_", None)
        if machine is None or not hasattr(decision, "iso_prediction_"):
            raise ValueError(
                f"The 'decision' is {decision!r}; a monitor follows the machine of fitted DecisionalStates: fit them "
                "on a machine, or on the causal states of a series."
            )
        tables = decision.event_labels(by, level), [*decision.predictions_], decision.utility_, walks.prior(machine)
        self._set(machine, *tables, by, level, impossible, missing)
        self._belief = self._home.copy()
        self.position, self.state, self._last = 0, -1, -1
        self._drift: Drift | None = None
        if adapt is not None:
            if not isinstance(adapt, Adapt) or impossible == "raise":
                raise ValueError(
                    f"The 'adapt' is {adapt!r} and 'impossible' is {impossible!r}; it must be None or a ds.Adapt, "
                    "which learns from impossible symbols: use impossible='reset' or 'stay'."
                )
            self._drift = Drift(adapt, template(decision), machine, self._stay)

    def _set(
        self, machine: EpsilonMachine, labels: Any, predictions: list[Any], utility: Any, home: Any, *options: Any
    ) -> None:
        """Keep what does not change, refusing options that are not among the choices."""
        self.by, self.level, self.impossible, self.missing = options
        for name, value in (("impossible", self.impossible), ("missing", self.missing)):
            if value not in _POLICIES:
                raise ValueError(f"The {name!r} is {value!r}; it must be one of {', '.join(_POLICIES)}: choose one.")
        self.machine, self._predictions = machine, predictions
        self._policy = _POLICIES.index(self.impossible), _POLICIES.index(self.missing)
        self._labels, self._utility = np.array(labels, np.int64), np.array(utility, np.float64)
        self._home, self._unknown = np.array(home, np.float64), len(machine.alphabet)
        # A last column for unknown symbols.
        self._targets = np.pad(machine.targets, ((0, 0), (0, 1)), constant_values=-1)
        self._unused = np.empty((0, self._unknown)), np.zeros(machine.emission.shape, np.int64)
        self._lookup = Lookup(machine.alphabet)

    @property
    def decision(self) -> int:
        """State of the decision (or of what `by` and `level` name) in the last known causal state, -1 = none yet."""
        return int(self._labels[self._last]) if self._last >= 0 else -1

    @property
    def predictions(self) -> Any:
        """The set Y of best predictions in the last known causal state, None = none yet."""
        return self._predictions[self._last] if self._last >= 0 else None

    @property
    def utility(self) -> float:
        """Expected utility in the last known causal state, NaN = none yet."""
        return float(self._utility[self._last]) if self._last >= 0 else float("nan")

    def push(self, symbol: Any) -> Event | Change | Refit | None:
        """Take one symbol; return the event if it makes one.

        Cost: O(1) while the causal state is known, else O(n_states).
        """
        try:
            code, gap = self._lookup(symbol), False
        except TypeError:
            code, gap = self._unknown, symbol is np.ma.masked
            if not gap:
                raise TypeError(f"The 'symbol' is {symbol!r}; it must be hashable: give one symbol.") from None
        if self._drift is not None:
            if self.learning or code == self._unknown or self._drift.limit == 1:
                found = self._adapt([symbol], np.array([gap]))
                return found[0] if len(found) else None
            what, _ = self._drift.test.run(np.array([code], self._lookup.dtype), _NO_GAP, self.position)
            self._drift.recent.append(code)
            self._drift.had += 1
            if what != FITS:
                return self._tell(what, np.array([code], self._lookup.dtype), _NO_GAP)
        # The plain walk; the kernel knows what to do where there is no edge.
        state = self._targets.item(self.state, code) if self.state >= 0 else -1
        if state < 0:
            gap = gap or (code == self._unknown and is_missing(symbol))
            after = self._drive(np.array([code], self._lookup.dtype), np.array([gap]))
            if not after.size:
                raise RefusedSymbol(symbol, self.position, 0, gap, self._listed([]))
            state = after.item()
        self.position, self.state = self.position + 1, state
        before, old, worth = self.decision, self.predictions, self.utility
        if state >= 0:
            self._last = state
        if self.decision == before:
            return None
        return Event(self.position - 1, before, self.decision, old, self.predictions, worth, self.utility)

    def feed(self, symbols: Any) -> Events | Happenings:
        """Take a chunk of symbols: str, bytes, list or another iterable, or array; return its events.

        Cost: O(1) per symbol while the causal state is known, else O(n_states); several runs of gaps in a chunk
        cost one call of the kernel each if `missing` is not `impossible`.
        """
        symbols, mask = _readable(symbols)
        if self._drift is not None:
            return self._adapt(symbols, mask)
        n, code = coder(symbols, self.machine.alphabet)
        found: list[tuple[Ints, Ints, Ints]] = []
        for lo in range(0, n, _CHUNK):
            codes = code(lo, min(lo + _CHUNK, n))
            gaps = self._gaps(symbols, mask, lo, codes)
            after = self._drive(codes, gaps)
            found.append(self._arrive(after))
            if after.size < codes.size:
                i, gap = lo + after.size, bool(gaps[after.size])
                value = np.ma.masked if gap and mask is not None and mask[i] else symbols[i]
                raise RefusedSymbol(value, self.position, i, gap, self._listed(found))
        return self._listed(found)

    def watch(self, symbols: Iterable[Any]) -> Iterator[Event | Change | Refit]:
        """Yield the events of a stream as they happen: a symbol is taken when its event is asked for."""
        if isinstance(symbols, (bytes, bytearray, memoryview)):
            letters, byte = self.machine.alphabet, self._lookup.byte
            symbols = (letters[byte(value)] if byte(value) < self._unknown else chr(value) for value in bytes(symbols))
        for symbol in symbols:
            event = self.push(symbol)
            if event is not None:
                yield event

    def gap(self) -> None:
        """Forget the causal state, whatever `missing` says: one position for what was lost in between."""
        self._belief[:] = self._home
        self.position, self.state = self.position + 1, -1
        if self._drift is not None:
            self._drift.test.gap()
            self._drift.recent.append(-1)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the monitor as it stands to a JSON file, whole or not at all, without loss of precision.

        Symbols, names and predictions must be strings, numbers, booleans, None, or tuples of these.
        """
        self._settle()
        now = {"belief": encode(self._belief), "position": self.position, "state": self.state, "last": self._last}
        if self._drift is not None:
            now["drift"] = to_json(self._drift)
        write_json(path, {"format": _JSON, "version": 1 if self._drift is None else 2, **self._model(), **now})

    def _model(self) -> dict[str, Any]:
        """What does not change with the stream, as JSON."""
        machine = {name: encode(getattr(self.machine, name)) for name in _MACHINE}
        options = {name: encode(getattr(self, name)) for name in _OPTIONS}
        return {"machine": machine, **options, **{name: encode(getattr(self, "_" + name)) for name in _TABLES}}

    def same_model(self, other: Monitor) -> bool:
        """Whether two monitors began with the same machine, decisions and options, wherever each stands."""
        return self._origin() == other._origin()

    def _origin(self) -> dict[str, Any]:
        drift = self._drift
        model = self._model() if drift is None or drift.origin is None else drift.origin
        return {**model, "adapt": None if drift is None else drift.adapt}

    @classmethod
    def load(cls, path: str | os.PathLike[str], decision: DecisionalStates | None = None) -> Monitor:
        """Read a monitor written by `save`, which goes on where it stood; anything else is refused.

        A monitor that adapts needs the `decision` it was made with again if its utility is a function of the user.
        """
        content = read_json(path, _JSON, 2, ("machine", *_OPTIONS, *_TABLES, *_NOW))
        monitor = cls.__new__(cls)
        monitor._drift = None
        try:
            machine = EpsilonMachine.from_arrays(*(decode(content["machine"][name]) for name in _MACHINE))
            monitor._set(machine, *(decode(content[name]) for name in (*_TABLES, *_OPTIONS)))
            monitor._belief = np.array(content["belief"], np.float64)
            monitor.position, monitor.state, monitor._last = (int(content[name]) for name in _NOW[1:])
            n, tables = machine.n_states, [*(getattr(monitor, "_" + name) for name in _TABLES), monitor._belief]
            sums, places = (monitor._home.sum(), monitor._belief.sum()), (monitor.state, monitor._last)
            if {*map(len, tables)} != {n} or not np.allclose(sums, 1.0) or not {*places} <= {*range(-1, n)}:
                raise ValueError(f"its tables do not fit a machine of {n} states.")
            if "drift" in content:
                given = None if decision is None else template(decision)
                monitor._drift = from_json(content["drift"], given, machine, monitor._stay)
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"The file '{path}' is corrupt, save the monitor again: {error}") from None
        return monitor

    def __repr__(self) -> str:
        return f"Monitor({self.machine.n_states} states, position {self.position}, decision {self.decision})"

    def _settle(self) -> None:
        """Bring the belief up to date with the plain walk, which only moves the state."""
        if self.state >= 0:
            self._belief[:] = 0.0
            self._belief[self.state] = 1.0

    def _drive(self, codes: Ints, gaps: Ints) -> Ints:
        """States after each symbol, up to the first that is refused."""
        self._settle()
        states, bounds = np.empty(codes.size, np.int32), [0, codes.size][: 2 * codes.size]
        if self.impossible != self.missing:
            bounds[1:1] = (np.flatnonzero(gaps[1:] != gaps[:-1]) + 1).tolist()
        tables = self._targets, self.machine.emission, self._home, self._belief
        for begin, end in pairwise(bounds):
            how = self._policy[int(gaps[begin])], False
            stop, _ = machines.drive(codes[begin:end], *tables, *how, states[begin:end], *self._unused)
            if stop >= 0:
                return states[: begin + stop]
        return states

    def _arrive(self, states: Ints) -> tuple[Ints, Ints, Ints]:
        """Note the states after a run of symbols; return the changes."""
        place, before, after = changes(states, self._labels, self._last)
        place = place + self.position
        if states.size:
            self.position, self.state = self.position + states.size, int(states[-1])
        known = states[states >= 0]
        self._last = int(known[-1]) if known.size else self._last
        return place, before, after

    def _listed(self, found: list[tuple[Ints, Ints, Ints]]) -> Events:
        place, before, after = map(np.concatenate, zip([np.zeros(0, np.int64)] * 3, *found, strict=True))
        label = np.append(self._labels, -1)
        return Events(place, label[before], label[after], before, after, self._predictions, self._utility)

    def _adapt(self, symbols: Any, mask: Any) -> Happenings:
        """Feed a monitor that adapts, from one Change or Refit to the next."""
        drift, found, lo = self._drift, Happenings(), 0
        assert drift is not None
        n, code = coder(symbols, self.machine.alphabet)
        letter = chr if isinstance(symbols, _TEXT) and not isinstance(symbols, str) else plain
        while lo < n:
            codes = code(lo, min(n, lo + min(_CHUNK, drift.limit or _CHUNK)))
            gaps = self._gaps(symbols, mask, lo, codes)
            refused = self.missing == "raise" and bool(gaps.any())
            end = int(gaps.argmax()) if refused else codes.size
            old, place = self.machine, lo
            m, parts = self._take(codes[:end], gaps[:end], lambda i, lo=place: letter(symbols[lo + i]))
            found.parts.extend(parts)
            lo += m
            if refused and m == end:
                value = np.ma.masked if mask is not None and mask[lo] else symbols[lo]
                raise RefusedSymbol(value, self.position, lo, True, found)
            if self.machine is not old:
                n, code = coder(symbols, self.machine.alphabet)
        return found

    def _gaps(self, symbols: Any, mask: Any, lo: int, codes: Ints) -> Ints:
        """Which of the symbols from lo on are missing; masked ones get the code of unknown symbols."""
        gaps = np.zeros(codes.size, bool)
        if not isinstance(symbols, _TEXT):
            where = np.flatnonzero(codes == self._unknown)
            gaps[where] = [is_missing(symbols[lo + i]) for i in where.tolist()]
        if mask is not None:
            gaps |= mask[lo : lo + codes.size]
            codes[gaps] = self._unknown
        return gaps


def _readable(symbols: Any) -> tuple[Any, Any]:
    """A sequence that can be coded and indexed, and the mask where values can be masked."""
    if is_array(symbols):
        array = to_array(symbols)
        return np.ma.getdata(array), np.ma.getmaskarray(array) if np.ma.isMaskedArray(array) else None
    if not isinstance(symbols, Iterable) or isinstance(symbols, _TEXT):
        return symbols, None
    values = list(symbols)
    mask = [value is np.ma.masked for value in values]
    if any(mask):
        values = [None if value is np.ma.masked else value for value in values]
    return values, np.array(mask, bool)
