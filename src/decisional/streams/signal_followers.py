"""Followers of numbers: a machine with levels, or the causal states of delay vectors.

A decision stands until another one is believed enough: a value between two levels, or on the border of two states,
changes nothing.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from .._kernels import level_walks
from ..data.frames import array_of, is_frame
from ..data.observations import Delays
from ..decisions.as_json import encode
from ..decisions.belief_regions import BeliefCells
from ..machines import walks
from ..states.labelling import ROWS, Labeller, sure_states
from ..support.arguments import refusal, shown
from ..support.arrays import Floats, Ints
from ..support.packing import pack, unpack_any
from .belief_follower import BeliefFollower
from .follower import Follower, Tracked


class ValueFollower(Follower, ABC):
    """Follow numbers: the codes are the values themselves, (n,) or (n, width), NaN where one is missing."""

    width = 1

    def settle(self) -> None:
        """The belief is never behind."""

    def step(self, code: Any) -> int:
        return -1

    def lookup(self, symbol: Any) -> tuple[Any, bool]:
        value = np.full(self.width, np.nan)
        if symbol is not None and symbol is not np.ma.masked:
            try:
                value[:] = np.ma.filled(np.ma.asarray(symbol, float), np.nan)
            except (TypeError, ValueError):
                what = "one value" if self.width == 1 else f"{self.width} values"
                raise TypeError(f"The 'symbol' is {shown(symbol)}; a signal has numbers: give {what}.") from None
        value[~np.isfinite(value)] = np.nan
        return value if self.width > 1 else value[0], bool(np.isnan(value).any())

    def is_gap(self, code: Any, symbol: Any) -> bool:
        return False

    def read(self, symbols: Any) -> Any:
        rule = "numbers: the monitor is that of a signal"
        try:
            found = (
                array_of(symbols, "symbols")
                if is_frame(symbols)
                else np.ma.filled(np.ma.asarray(_listed(symbols), float), np.nan)
            )
            values = np.asarray(found, float)
        except (TypeError, ValueError):
            remedy = "give a list or an array of its values"
            raise ValueError(refusal("symbols", symbols, rule, remedy)) from None
        wanted = "(n,)" if self.width == 1 else f"(n, {self.width})"
        if self.width == 1 and values.ndim == 2 and values.shape[1] == 1:
            values = values[:, 0]
        elif self.width > 1 and not values.size:
            values = values.reshape(0, self.width)
        if values.shape[1:] != (() if self.width == 1 else (self.width,)) or not values.ndim:
            raise ValueError(
                f"The 'symbols' have shape {values.shape}; the values of this signal must have shape {wanted}: give "
                "those that the states were fitted to."
            )
        return np.where(np.isfinite(values), values, np.nan)

    def coder(self, symbols: Any) -> tuple[int, Callable[[int, int], Any]]:
        values = self.read(symbols)
        return len(values), lambda lo, hi: values[lo:hi]

    def gaps(self, symbols: Any, mask: Any, lo: int, codes: Any) -> Ints:
        gaps: Ints = np.isnan(codes).reshape(len(codes), -1).any(axis=1)
        return gaps

    def takes(self, symbol: Any) -> bool:
        try:
            return symbol is None or (isinstance(symbol, str) and isinstance(float(symbol), float))
        except ValueError:
            return False

    def walk(self, codes: Any, gaps: Ints) -> Tracked:
        return self.look(codes, gaps, placing=False)[0]

    def look(self, codes: Any, gaps: Ints, placing: bool = True) -> tuple[Tracked, Floats, Ints]:
        """States after each value, and where it lay in its distribution and the state before it.

        Missing values change nothing where they are to be ignored, and lie nowhere, NaN; without `placing` all do.
        """
        values = np.asarray(codes, float)
        seen = np.flatnonzero(~gaps) if self.missing == "stay" else np.arange(len(values))
        states, known, places, before = self._look(values[seen], placing)
        # Those that are ignored leave the state as it was.
        row = np.cumsum(np.isin(np.arange(len(values)), seen))
        lay, came = np.full(len(values), np.nan), np.full(len(values), -1)
        lay[seen], came[seen] = places, before
        return Tracked(np.append(self.state, states)[row], np.append(-1, known)[row]), lay, came

    @abstractmethod
    def _look(self, values: Floats, placing: bool) -> tuple[Ints, Ints, Floats, Ints]:
        """States after each value, those that are known well, places of the values and states before them."""

    def now(self) -> Any:
        """What changes with the values, to `go_back` to."""
        return self.belief.copy()

    def go_back(self, now: Any) -> None:
        self.belief = now


class LevelFollower(ValueFollower):
    """Follow a machine with levels: a state is known where the belief in it is large."""

    def _look(self, values: Floats, placing: bool) -> tuple[Ints, Ints, Floats, Ints]:
        from scipy.special import ndtr

        machine, levels = self.machine, self.machine.levels
        assert levels is not None
        beliefs = np.empty((values.size + 1, machine.n_states))
        tables = levels.densities(values)[0], machine.targets, machine.emission, self.plan.home
        level_walks.forward(*tables, self.belief, np.empty(values.size), beliefs[:-1])
        beliefs[-1] = self.belief
        states, places = walks.known_states(beliefs), np.full(values.size, np.nan)
        if placing:
            chance = beliefs[:-1] @ machine.emission
            below = ndtr((values[:, None] - levels.mean) / levels.spread)
            places = (chance * below).sum(axis=1) / chance.sum(axis=1)
        return states[1:], states[1:], places, states[:-1]


class Windows(NamedTuple):
    """Causal states of delay vectors, as far as a stream needs them.

    Attributes
    ----------
    labeller : what labels any x
    delays : how x and z are made of values; without `ahead` z are not in the stream
    p, outcomes : (n_states, n_outcomes) P(Z|state)
    """

    labeller: Labeller
    delays: Delays
    p: Floats
    outcomes: Sequence[Any]

    @property
    def n_states(self) -> int:
        return len(self.p)

    @property
    def start(self) -> int | None:
        """The state before the first value: not known."""
        return None

    def as_json(self) -> dict[str, Any]:
        """All of it, exactly."""
        lags, ahead, *rest = self.delays
        made = {"delays": [list(lags), list(ahead), *rest], "outcomes": encode(list(self.outcomes))}
        return {**self.labeller.as_json(), "p": pack(self.p), **made}

    @classmethod
    def from_json(cls, content: dict[str, Any], outcomes: Sequence[Any]) -> "Windows":
        """The same again; ValueError where the parts do not fit together."""
        lags, ahead, *rest = content["delays"]
        delays = Delays(tuple(lags), tuple(ahead), *rest)
        found = cls(Labeller.from_json(content), delays, unpack_any(content["p"]), outcomes)
        if not found.fits():
            raise ValueError("its 'windows' do not fit together")
        return found

    def fits(self) -> bool:
        """Whether all parts have sizes and values that a monitor can go on with."""
        delays = self.delays
        return bool(
            self.labeller.fits(len(delays.lags) * delays.width)
            and min(delays.lags) >= 0
            and self.p.dtype == np.float64
            and np.isfinite(self.p).all()
            and self.labeller.n_states == self.n_states
            and self.p.shape[1] == len(self.outcomes)
        )


class WindowFollower(ValueFollower):
    """Follow the causal states of delay vectors; a decision is known where the belief in its states is large."""

    def adopt(self, machine: Any, plan: Any) -> None:
        self.machine, self.plan, self.last, self.alphabet = machine, plan, -1, None
        self.width = machine.delays.width

    def model(self) -> dict[str, Any]:
        return {"windows": self.machine.as_json(), **self._how()}

    @property
    def outcomes(self) -> Sequence[Any]:
        return list(self.machine.outcomes)

    def predict_proba(self) -> Floats:
        found: Floats = self.belief @ self.machine.p
        return found

    def forget(self) -> None:
        super().forget()
        delays = self.machine.delays
        # Enough values for the next x, and for the one that the next value follows.
        span = max(delays.lags) + delays.difference + max(delays.ahead, default=0)
        self.tail = np.full((span, self.width), np.nan)

    def now(self) -> Any:
        return self.belief.copy(), self.tail.copy()

    def go_back(self, now: Any) -> None:
        self.belief, self.tail = now

    def _look(self, values: Floats, placing: bool) -> tuple[Ints, Ints, Floats, Ints]:
        delays, labeller = self.machine.delays, self.machine.labeller
        n, ahead = len(values), max(delays.ahead, default=0)
        placing = placing and ahead > 0 and labeller.z_scale is not None
        series = np.concatenate([self.tail, values.reshape(n, self.width)])
        self.tail = series[n:].copy()
        used = np.diff(series, axis=0) if delays.difference else series
        # The x of the values before, too, as far as a value to come completes their z.
        at = np.arange(max(delays.lags), len(used))
        x = used[at[:, None] - np.array(delays.lags)].reshape(at.size, -1)
        whole = np.flatnonzero(~np.isnan(x).any(axis=1))
        states, known = np.full((2, at.size), -1)
        lay, belief = np.full(at.size, np.nan), self.plan.home
        z = self._outcomes(used, at) if placing else np.empty((0, 0))
        for begin in range(0, whole.size, ROWS):
            part = whole[begin : begin + ROWS]
            found = labeller.look(x[part])
            states[part] = found.state
            known[part] = sure_states(found.state, found.belief, self.plan.labels, walks.SURE)
            if part[-1] == at.size - 1:
                belief = found.belief[-1]
            if placing:
                there = np.flatnonzero(~np.isnan(z[part]).any(axis=1))
                lay[part[there]] = labeller.places(found.p[there], z[part[there]])
        if n:
            self.belief = belief.copy()
        came = at.size - ahead
        return states[ahead:], known[ahead:], lay[:came], states[:came] if placing else np.full(n, -1)

    def _outcomes(self, used: Floats, at: Ints) -> Floats:
        """(n, k) what followed the x that end at some places, in scales; NaN where it is missing or to come."""
        delays, z_scale = self.machine.delays, self.machine.labeller.z_scale
        goal = used if delays.target is None else used[:, [delays.target]]
        later = np.pad(goal, ((0, max(delays.ahead)), (0, 0)), constant_values=np.nan)
        z = later[at[:, None] + np.array(delays.ahead)].reshape(at.size, -1)
        tamed: Floats = z_scale.tame(z)
        return tamed


def _listed(symbols: Any) -> Any:
    """What numpy reads: generators and None among values too."""
    if hasattr(symbols, "__array__") or isinstance(symbols, (str, bytes)) or not hasattr(symbols, "__iter__"):
        return symbols
    return [np.nan if value is None or value is np.ma.masked else value for value in symbols]


def followed(choice: Any) -> Any:
    """What fitted DecisionalStates can be followed by: a machine, Windows, cells of beliefs, or None."""
    causal = choice.causal_
    if choice.regions_ is not None:
        return choice.cells_
    if choice.machine_ is not None or causal is None or causal.labeller_ is None:
        return choice.machine_
    obs = causal.observations_
    delays = Delays((0,), (), False, obs.past, None) if obs.kind == "pairs" else obs.delays
    if delays is None or obs.known:
        what = "that are known in advance" if obs.known else f"of the kind {obs.kind!r}, or of which counts were kept"
        raise ValueError(
            f"The 'decision' is that of x with numbers {what}; a monitor sees values one after the other: fit the "
            "causal states to the whole signal, without 'inputs'."
        )
    return Windows(causal.labeller_, delays, np.array(causal.distributions_), list(causal.outcomes_))


def follower_of(machine: Any, *how: Any) -> Follower:
    """The follower of symbols or values that a machine or Windows are about; parameters as `Follower` has them."""
    if isinstance(machine, Windows):
        return WindowFollower(machine, *how)
    if isinstance(machine, BeliefCells):
        return BeliefFollower(machine, *how)
    return Follower(machine, *how) if machine.levels is None else LevelFollower(machine, *how)
