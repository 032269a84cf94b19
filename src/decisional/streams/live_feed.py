"""LiveFeed: how a stream stands, for those who look at it while it runs.

The thread that follows the stream only notes what happened; whoever looks asks for what is new since the last look. All
that is kept has a fixed size, and nobody who looks, however slowly, is waited for.
"""

import json
import os
import secrets
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from ..decisions.events import Change, Event, EventLog, Events, Refit
from ..support.arrays import Floats, Ints
from .event_file import event_content
from .follower import Plan
from .monitor import Monitor
from .pyramid import LineBins, Pyramid

# Events, and changes of the machine, that are kept; bytes of a file of events that are looked at again.
EVENTS, DRIFTS, RECALLED = 100, 20, 1 << 18
# Positions that are noted before they are counted, those that are counted at once, and those that are recalled.
PENDING, PART, PASSED = 1 << 12, 1 << 16, 1 << 22
# Seconds that throughput is kept for, and those that it is the mean of.
MINUTE, LATELY = 60, 5


class Standing(NamedTuple):
    """How a monitor stands; see its attributes."""

    decision: int
    predictions: Any
    utility: float
    state: int
    belief: Floats
    learning: bool
    misfit: float


@dataclass(frozen=True)
class Update:
    """What is new since a mark.

    Attributes
    ----------
    mark : what to ask with for the next one
    whole : whether it is all that is known, as the mark was none of this stream
    position, time : number of symbols so far, and the time of the last where it is known
    ended : whether the stream has ended
    now, plan, names : how the monitor stands, what it does in each causal state, and how these are called
    lines : the time line, in bins that are new or have changed
    events, drifts : new events, at most the last 100, and all changes of the machine that are kept, as `event_line` has
        them
    n_events, n_drifts : how many there were in all
    bound : bits of evidence at which the machine is given up; None where it stays
    rate, rates : symbols per second in the last seconds, and in each second of the last minute
    """

    mark: str
    whole: bool
    position: int
    time: str | None
    ended: bool
    now: Standing
    plan: Plan
    names: Sequence[Any]
    lines: list[LineBins]
    events: list[dict[str, Any]]
    drifts: list[dict[str, Any]]
    n_events: int
    n_drifts: int
    bound: float | None
    rate: float
    rates: list[int]


class Throughput:
    """Symbols in each second of the last minute."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock, self._begin = clock, clock()
        self._counts = deque([0], MINUTE + 1)
        self._second = 0

    def note(self, n: int) -> None:
        """Count symbols that come now."""
        self._move()
        self._counts[-1] += n

    def rates(self) -> tuple[float, list[int]]:
        """Symbols per second lately, and those of each second that has passed, the last ones."""
        self._move()
        passed = self._clock() - self._begin
        whole = list(self._counts)[:-1]
        if not whole:
            return self._counts[-1] / max(passed, 0.1), []
        return sum(whole[-LATELY:]) / min(LATELY, len(whole)), whole

    def _move(self) -> None:
        """Begin a count for each second that has passed."""
        second = int(self._clock() - self._begin)
        self._counts.extend([0] * min(second - self._second, MINUTE + 1))
        self._second = second


class LiveFeed:
    """What is to be seen of a monitor: by the thread that feeds it `take`, by any other `since`.

    Parameters
    ----------
    monitor : Monitor
        Which is fed by one thread.
    clock : callable
        Seconds.

    Examples
    --------
    >>> import decisional as ds
    >>> monitor = ds.Monitor(ds.DecisionalStates(ds.utility.zero_one()).fit(ds.processes.even()))
    >>> feed = LiveFeed(monitor)
    >>> feed.take(monitor.feed("0110"))
    >>> first = feed.since(None)
    >>> first.position, first.n_events, len(feed.since(first.mark).events)
    (4, 3, 0)
    """

    def __init__(self, monitor: Monitor, clock: Callable[[], float] = time.monotonic) -> None:
        self._monitor, self._lock = monitor, Lock()
        self._run = secrets.token_hex(4)
        self._line, self._throughput = Pyramid(monitor.position), Throughput(clock)
        self._events: deque[dict[str, Any]] = deque(maxlen=EVENTS)
        self._drifts: deque[dict[str, Any]] = deque(maxlen=DRIFTS)
        self._pending: list[tuple[Ints, Ints, Floats]] = []
        self._time: str | None = None
        self._n_events = self._n_drifts = 0
        self._ended = False
        # What stands where the counted part ends.
        self._label, self._worth = monitor.decision, monitor.utility
        self._note()

    def _note(self) -> None:
        monitor = self._monitor
        standing = monitor.decision, monitor.predictions, monitor.utility, monitor.state, monitor.shares
        self._now = Standing(*standing, monitor.learning, monitor.misfit)
        self._position, self._plan = monitor.position, monitor.plan
        machine = monitor.machine
        self._names: Sequence[Any] = range(len(self._plan.labels)) if machine is None else machine.names

    @property
    def position(self) -> int:
        """Number of symbols so far."""
        return self._position

    @property
    def ended(self) -> bool:
        """Whether the stream has ended."""
        return self._ended

    def take(self, events: Any, times: Sequence[str] = ()) -> None:
        """Note the events of symbols that the monitor was just fed with, and how it stands.

        Parameters
        ----------
        events : what `Monitor.feed` returned, or a list of events
        times : the time of each of the symbols, where it is known

        Cost: that of the last 100 events, and now and then a pass over the symbols since the last one.
        """
        parts, begin = events.parts if isinstance(events, EventLog) else [events], self._position

        def told(some: Iterable[Event | Change | Refit]) -> list[dict[str, Any]]:
            return [_light(event_content(one, times[one.position - begin] if times else None)) for one in some]

        last = told(events[-EVENTS:])
        # Changes of the machine are rare, and none of them is passed over.
        rare = told(one for part in parts if not isinstance(part, Events) for one in part if not isinstance(one, Event))
        with self._lock:
            self._note()
            self._throughput.note(self._position - begin)
            self._time = times[-1] if times else self._time
            self._tell(last, rare, len(events))
            self._pending += [_arrays(part) for part in parts if len(part)]
            if self._position - self._line.end >= PENDING:
                self._count(self._position)

    def recall(self, path: str | os.PathLike[str]) -> None:
        """Begin with the last events in a file that `EventFile` wrote before the monitor was loaded.

        Parameters
        ----------
        path : the file, with events before the position of the monitor only
        """
        with open(path, "rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(size - RECALLED, 0))
            lines = file.read().splitlines()[size > RECALLED :]
        told = [json.loads(line) for line in lines]
        if not told:
            return
        with self._lock:
            told = [_light(content) for content in told]
            self._tell(told, [content for content in told if "after" not in content], len(told))
            self._time = told[-1].get("time")
            self._line = Pyramid(max(told[0]["position"], self._position - PASSED))
            self._label, self._worth = -1, np.nan
            place = [content["position"] for content in told]
            after = [content.get("after", -1) for content in told]
            worth = [content.get("utility", np.nan) for content in told]
            self._pending.append((np.array(place), np.array(after), np.array(worth, float)))

    def end(self) -> None:
        """Note that the stream has ended."""
        self._ended = True

    def since(self, mark: str | None) -> Update:
        """What is new since a mark; all that is known where there is none, or it is of another stream.

        Cost: a copy of what is new, of at most about 1 MB, while which the stream can not be noted.
        """
        run, _, place = (mark or "").partition("-")
        seen = int(place) if run == self._run and place.isdecimal() else -1
        with self._lock:
            self._count(self._position)
            whole = not 0 <= seen <= self._position
            seen = 0 if whole else seen
            events = [content for content in self._events if content["position"] >= seen]
            rate, rates = self._throughput.rates()
            return Update(
                mark=f"{self._run}-{self._position}",
                whole=whole,
                position=self._position,
                time=self._time,
                ended=self._ended,
                now=self._now,
                plan=self._plan,
                names=self._names,
                lines=self._line.since(seen),
                events=events,
                drifts=list(self._drifts),
                n_events=self._n_events,
                n_drifts=self._n_drifts,
                bound=self._monitor.bound,
                rate=rate,
                rates=rates,
            )

    def _tell(self, told: list[dict[str, Any]], drifts: list[dict[str, Any]], n: int) -> None:
        """Keep the last of n events, changes of the machine among them."""
        self._events.extend(told)
        self._drifts.extend(drifts)
        self._n_events += n - len(drifts)
        self._n_drifts += len(drifts)

    def _count(self, end: int) -> None:
        """Count what is pending up to a position."""
        line = self._line
        parts = zip((np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0)), *self._pending, strict=True)
        place, label, worth = map(np.concatenate, parts)
        self._pending.clear()
        label, worth = np.append(self._label, label).astype(np.int64), np.append(self._worth, worth)
        while line.end < end:
            at = np.arange(line.end, min(end, line.end + PART))
            stands = np.searchsorted(place, at, "right")
            line.add(label[stands], worth[stands], np.append(-1, place)[stands] == at)
        self._label, self._worth = int(label[-1]), float(worth[-1])


def _arrays(part: Sequence[Any]) -> tuple[Ints, Ints, Floats]:
    """Positions of events, labels and what they are worth from there on; -1 and NaN where the machine changes."""
    if isinstance(part, Events):
        return part.position, part.after, part.utility[part.cause_after]
    known = [(one.after, one.utility_after) if isinstance(one, Event) else (-1, np.nan) for one in part]
    label, worth = zip(*known, strict=True)
    return np.array([one.position for one in part]), np.array(label), np.array(worth)


def _light(content: dict[str, Any]) -> dict[str, Any]:
    """An event without what may be large: the transitions of a new machine."""
    if "refit" in content:
        kept = {name: value for name, value in content["refit"].items() if name != "transitions"}
        return {**content, "refit": kept}
    return content
