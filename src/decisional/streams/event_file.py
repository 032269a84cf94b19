"""A monitor and its events on disk: each event once, whatever happens to the program.

The monitor is saved after each batch of events. Events are appended before that, so that a program that dies in between
leaves events which the saved monitor has not seen: they are cut off when it resumes.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, BinaryIO

from ..decisions.events import Change, Event, Refit, sorted_predictions
from ..decisions.predictions import Interval
from ..support.files import is_channel, sync
from .monitor import Monitor, RefusedSymbol

if TYPE_CHECKING:
    from .live_feed import LiveFeed


class EventFile:
    """Where the events of a monitor go, and the monitor is saved after them.

    Parameters
    ----------
    monitor : Monitor
        The monitor, at its beginning or as it was saved.
    out : str, optional
        The file that events are appended to, a line of JSON each; by default they go to standard output, where an event
        between two saves may come twice after an interruption.
    state : str, optional
        Where the monitor is saved, to be resumed; without it `out` is written anew.
    resumed : bool, default=False
        Whether the monitor was loaded from `state`.
    live : LiveFeed, optional
        What is told of the events when they are written, and the monitor is saved.

    Examples
    --------
    >>> import tempfile
    >>> import decisional as ds
    >>> choice = ds.DecisionalStates(ds.utility.zero_one()).fit(ds.processes.even())
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = Path(folder.name, "events.jsonl")
    >>> monitor = ds.Monitor(choice)
    >>> with EventFile(monitor, str(path), str(path.with_name("state.json"))) as file:
    ...     file.feed([0, 1, 1])
    >>> len(path.read_text().splitlines())
    3
    >>> folder.cleanup()
    """

    def __init__(
        self,
        monitor: Monitor,
        out: str | None = None,
        state: str | None = None,
        resumed: bool = False,
        live: LiveFeed | None = None,
    ) -> None:
        self.monitor, self.out, self.state, self.live = monitor, out, state, live
        self._begun = resumed
        self._failed = False
        self._file: BinaryIO | None = None
        if out is None or state is None or is_channel(out):
            return
        if resumed:
            _cut(out, monitor.position)
            if live is not None and Path(out).exists():
                live.recall(out)
        elif Path(out).exists() and Path(out).stat().st_size:
            raise ValueError(
                f"The file {out!r} has events already but the state {state!r} does not exist: move one of them, or "
                "give the state that belongs to it."
            )

    def __enter__(self) -> EventFile:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        if self._file is not None:
            self._file.close()

    def feed(
        self,
        symbols: Any,
        gap: bool = False,
        times: Sequence[str] = (),
        note: Callable[[int], None] | None = None,
    ) -> None:
        """Feed symbols to the monitor, and a missing one after them if there is a gap; write the events, and save it.

        What precedes a symbol that the monitor refuses is written and saved. After any other failure, such as a full
        disk, what is on disk is to be resumed from.

        Parameters
        ----------
        symbols : str or list
            What `Monitor.feed` takes.
        gap : bool, default=False
            Whether something was lost after them.
        times : sequence of str, optional
            The time of each symbol, which its event is written with.
        note : callable, optional
            What is called with the number of symbols taken, gap included, before the monitor is saved.

        Cost: besides that of the monitor, an fsync of each of the two files.
        """
        if self._failed:
            raise ValueError(
                "The events before these could not be written, and these must follow them: load the monitor from "
                f"the state {self.state!r}, and feed it what it has not seen."
            )
        self._failed = True
        self._open()
        begin, refused = self.monitor.position, None
        try:
            events: Any = self.monitor.feed(symbols)
        except RefusedSymbol as error:
            events, refused = error.events, error
        if gap and refused is None:
            self.monitor.gap()
        lines = "".join(event_line(event, times[event.position - begin] if times else None) + "\n" for event in events)
        self._write(lines)
        if note is not None:
            note(self.monitor.position - begin)
        if self.state is not None:
            self.monitor.save(self.state)
        if self.live is not None:
            self.live.take(events, times)
        self._failed = False
        if refused is not None:
            raise refused

    def _open(self) -> None:
        if self.state is not None and not self._begun:
            # An interruption must find both files or none.
            self.monitor.save(self.state)
        if self.out is not None and self._file is None:
            # Without a state there is nothing to go on from.
            self._file = Path(self.out).open("ab" if self.state is not None else "wb")  # noqa: SIM115
            sync(os.path.dirname(os.path.abspath(self.out)))
        self._begun = True

    def _write(self, lines: str) -> None:
        if lines and self._file is None:
            sys.stdout.write(lines)
            sys.stdout.flush()
        elif lines and self._file is not None:
            self._file.write(lines.encode())
            self._file.flush()
            # The state must not reach the disk before the events.
            if not is_channel(str(self.out)):
                os.fsync(self._file.fileno())


def event_line(event: Event | Change | Refit, time: str | None = None) -> str:
    """An event, or a change of the machine, as a line of JSON, with the time of its symbol where that is known."""
    return json.dumps(event_content(event, time), ensure_ascii=False, allow_nan=False)


def event_content(event: Event | Change | Refit, time: str | None = None) -> dict[str, Any]:
    """What `event_line` writes."""
    if isinstance(event, Change):
        content: dict[str, Any] = {"change": {"since": event.since, "bits": round(event.bits, 3)}}
    elif isinstance(event, Refit):
        content = {"refit": {"since": event.since, "moved": event.moved, "states": len(event.choice.predictions_)}}
        if event.machine is not None:
            edges = [[str(part) for part in edge[:3]] + [edge[3]] for edge in event.machine.transitions()]
            content["refit"]["transitions"] = edges
    else:
        # Adding zero turns -0.0 into 0.0.
        content = {
            "before": event.before,
            "after": event.after,
            "predictions": plain(event.predictions_after),
            "utility": event.utility_after + 0.0,
            "predictions_before": plain(event.predictions_before),
            "utility_before": None if event.before < 0 else event.utility_before + 0.0,
        }
    when = {} if time is None else {"time": time}
    return {"position": event.position, **when, **content}


def plain(predictions: Any) -> Any:
    """A set of predictions as JSON: a list, or the ends of an interval."""
    if predictions is None:
        return None
    if isinstance(predictions, Interval):
        return {"low": float(predictions.low), "high": float(predictions.high)}
    return sorted_predictions(predictions)


def _cut(path: str, position: int) -> None:
    """Cut off an incomplete last line, and the events that the saved monitor has not seen."""
    if not Path(path).exists():
        if position:
            raise ValueError(
                f"The file {path!r} of events is gone although {position} symbols were seen: put it back, or remove "
                "the state to start anew."
            )
        return
    with open(path, "r+b") as file:
        end = 0
        for line in file:
            if not line.endswith(b"\n"):
                break
            try:
                place = int(json.loads(line)["position"])
            except (ValueError, KeyError, TypeError):
                raise ValueError(f"The file {path!r} has a line that is no event: choose another.") from None
            if place >= position:
                break
            end += len(line)
        file.truncate(end)
