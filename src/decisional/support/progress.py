"""What long work tells of its steps: to the logger `decisional`, and to a bar or a function where one is asked for.

A public function that may take long has a parameter `progress` and works inside `told(progress)`. Whatever it calls
says `tell(text)`, or `counted(...)` of work whose amount is known; nobody hands a listener on. Threads and workers that
do a part of the work are not listened to, so that what is told is the same wherever slices run.
"""

import logging
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, TypeVar

T = TypeVar("T")

Progress = bool | Callable[[str], Any] | None

logger = logging.getLogger("decisional")
logger.addHandler(logging.NullHandler())

# Seconds before a bar is shown, and between two looks at what it shows.
DELAY, LOOK = 0.5, 0.1
# Lines of the log for work that is counted, at most.
LINES = 100
# What a bar shows of a step, and of work whose amount is known.
PLAIN = "{desc}"
COUNTED = "{desc}: {percentage:3.0f}%|{bar}| {n_fmt} of {total_fmt} {unit} [{elapsed}<{remaining}]"


@dataclass(frozen=True)
class _Step:
    """What is told: a text, and of work that is counted how much of how much is done (total 0: not counted)."""

    text: str
    done: int = 0
    total: int = 0
    unit: str = ""
    more: str = ""

    @property
    def line(self) -> str:
        return f"{self.text}: {self.done} of {self.total} {self.unit}{self.more}" if self.total else self.text

    @property
    def is_logged(self) -> bool:
        """Whether it is one of the LINES."""
        return self.done * LINES // self.total > (self.done - 1) * LINES // self.total if self.total else True


class _Lines:
    """A function of the user that is called with a line of text at each step."""

    limit: float | None = None

    def __init__(self, function: Callable[[str], Any]) -> None:
        self._function = function

    def begin(self, step: _Step) -> None:
        """A function hears of what is done."""

    def tell(self, step: _Step) -> None:
        # Whatever it raises, perhaps to stop the work, is for the caller.
        self._function(step.line)

    def detail(self, step: _Step) -> None:
        """Details are not for it."""

    def hide(self) -> None:
        """Lines stay."""

    def close(self) -> None:
        """Nothing was opened."""


class _Bar:
    """A bar of tqdm, in a notebook or a terminal.

    All that is shown is shown by a thread of its own, so that the clock goes on during long steps, telling costs
    next to nothing, and short work neither shows a bar nor imports tqdm.
    """

    def __init__(self) -> None:
        self.limit: float | None = None
        self._begun = time.monotonic()
        self._step, self._first, self._detail = _Step(""), _Step(""), ""
        self._bar: Any = None
        self._hidden = False
        self._lock, self._ended = threading.Lock(), threading.Event()
        self._thread = threading.Thread(target=self._show, name="decisional progress", daemon=True)
        self._thread.start()

    def begin(self, step: _Step) -> None:
        with self._lock:
            self._step = self._first = step
            self._detail, self._hidden = "", False

    def tell(self, step: _Step) -> None:
        with self._lock:
            self._step, self._detail, self._hidden = step, "", False
            if not step.total:
                self._first = step

    def detail(self, step: _Step) -> None:
        with self._lock:
            self._detail = step.line

    def hide(self) -> None:
        """Leave the line of the terminal to others, until there is more to tell."""
        with self._lock:
            self._hidden = True
            if self._bar is not None:
                self._bar.clear()

    def close(self) -> None:
        self._ended.set()
        self._thread.join()

    def _show(self) -> None:
        if self._ended.wait(DELAY):
            return
        from tqdm.auto import tqdm

        # Where nothing can be shown the work goes on.
        with suppress(OSError, ValueError):
            shown = _Step("")
            while not self._ended.wait(LOOK):
                with self._lock:
                    if self._step.text and not self._hidden:
                        shown = self._paint(tqdm, shown)
            if self._bar is not None:
                self._bar.close()

    def _paint(self, tqdm: Any, shown: _Step) -> _Step:
        """Show the step; `shown` is the one with which what the bar shows began."""
        step, first, text = self._step, self._first, self._text(tqdm)
        looks, total = (COUNTED if first.total else PLAIN), first.total or None
        if self._bar is None:
            how: dict[str, Any] = {"desc": text, "total": total, "initial": first.done, "unit": first.unit}
            self._bar = tqdm(**how, bar_format=looks, leave=False, dynamic_ncols=True)
            shown = first
        bar = self._bar
        bar.set_description_str(text, refresh=False)
        if first is not shown:
            bar.bar_format, bar.unit = looks, first.unit
            bar.reset(total=total)
            bar.total, bar.n, bar.initial = total, first.done, first.done
        bar.update(step.done - bar.n)
        bar.refresh()
        return first

    def _text(self, tqdm: Any) -> str:
        step = self._step
        compiling, compiled = _compiled()
        detail = "compiling, the first time only" if compiling else self._detail
        text = f"{step.text} · {detail}" if detail else step.text
        if step.total:
            return text
        clock = tqdm.format_interval(time.monotonic() - self._begun)
        most = "" if self.limit is None else f", at most {tqdm.format_interval(self.limit + compiled - self._begun)}"
        return f"{text} [{clock}{most}]"


def _compiled() -> tuple[bool, float]:
    """Whether kernels are compiled now, and for how many seconds they were; they are loaded by whoever needs them."""
    kernels = sys.modules.get("decisional._kernels")
    return (False, 0.0) if kernels is None else (kernels.is_compiling(), kernels.seconds_compiled())


_listener: ContextVar[_Bar | _Lines | None] = ContextVar("listener", default=None)
# How many pieces of work that tell of themselves are around this one.
_depth: ContextVar[int] = ContextVar("depth", default=0)


def check_progress(progress: Any) -> None:
    """Refuse what nobody can be told by."""
    if progress is not None and not isinstance(progress, bool) and not callable(progress):
        # Commands that only say how they are called need no NumPy.
        from .arguments import refusal

        rule = "True for a bar, False, or a function of a line of text"
        raise TypeError(refusal("progress", progress, rule, "try progress=True or progress=print"))


@contextmanager
def told(progress: Progress) -> Iterator[None]:
    """Inside, steps are told to a bar (True) or to a function; with None or False to whom they are told outside."""
    check_progress(progress)
    outside = _listener.get()
    if progress is None or progress is False or (progress is True and isinstance(outside, _Bar)):
        before = None if outside is None else outside.limit
        try:
            yield
        finally:
            if outside is not None:
                outside.limit = before
        return
    listener = _Bar() if progress is True else _Lines(progress)
    depth, token = _depth.set(0), _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)
        _depth.reset(depth)
        listener.close()


@contextmanager
def details() -> Iterator[None]:
    """Inside, steps are details of the one under way: bars show them behind it, and they are logged for debugging."""
    token = _depth.set(_depth.get() + 1)
    try:
        yield
    finally:
        _depth.reset(token)


def tell(text: str) -> None:
    """Tell what is done now, or what was found."""
    _pass_on(_Step(text))


def limit(seconds: float) -> None:
    """Tell how long this may take at most, without compiling, until the function that was given `progress` ends."""
    listener = _listener.get()
    if listener is not None and not _depth.get():
        listener.limit = time.monotonic() + seconds - _compiled()[1]


def counted(
    results: Iterable[T], what: str, total: int, unit: str, done: int = 0, more: Callable[[T], str] | None = None
) -> Generator[T, None, None]:
    """Results as they come, each told as "what: 3 of 7 unit"; steps on the way to them, and between, are details.

    Parameters
    ----------
    done : how many were there before
    more : what is told of a result behind its number
    """
    depth = _depth.get()
    listener = None if depth else _listener.get()
    if listener is not None:
        listener.begin(_Step(what, done, total, unit))
    _depth.set(depth + 1)
    try:
        for number, result in enumerate(results, done + 1):
            _pass_on(_Step(what, number, total, unit, "" if more is None else more(result)), depth)
            yield result
    finally:
        _depth.set(depth)


def hide() -> None:
    """Take the bar away, if there is one, where something else is to be printed; the next step brings it back."""
    listener = _listener.get()
    if listener is not None:
        listener.hide()


def _pass_on(told: _Step, depth: int | None = None) -> None:
    depth = _depth.get() if depth is None else depth
    level, listener = logging.DEBUG if depth else logging.INFO, _listener.get()
    if told.is_logged and logger.isEnabledFor(level):
        logger.log(level, "%s", told.line)
    if listener is not None:
        (listener.detail if depth else listener.tell)(told)
