"""Steps are told to a bar, to a function and to the log; nothing is printed by default, and no result depends on it."""

import logging
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
import tqdm.auto
from numba.core import event
from numba.core.compiler_lock import global_compiler_lock

import decisional as ds
from decisional import _kernels
from decisional.support import executors, progress
from decisional.support.executors import alone, map_slices, reduce_slices
from decisional.support.progress import counted, details, hide, limit, tell, told

RNG = np.random.default_rng(1)
SYMBOLS = ds.processes.even().simulate(4_000, rng=1)
SIGNAL = np.cumsum(RNG.normal(size=100))


class FakeBar:
    """A bar that keeps what it showed: description, number and total."""

    made: list["FakeBar"]
    format_interval = staticmethod(tqdm.auto.tqdm.format_interval)

    def __init__(self, **how: Any) -> None:
        self.how, self.shown, self.n, self.total = how, [], how["initial"], how["total"]
        self.thread, self.cleared, self.closed = threading.current_thread(), 0, False
        self.made.append(self)

    def set_description_str(self, text: str, refresh: bool = True) -> None:
        self.text = text

    def reset(self, total: int | None = None) -> None:
        self.n, self.total = 0, total

    def update(self, n: int) -> None:
        self.n += n

    def refresh(self) -> None:
        self.shown.append((self.text, self.n, self.total))

    def clear(self) -> None:
        self.cleared += 1

    def close(self) -> None:
        self.closed = True


@pytest.fixture
def bars(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[FakeBar]]:
    made: list[FakeBar] = []
    monkeypatch.setattr(FakeBar, "made", made, raising=False)
    monkeypatch.setattr(tqdm.auto, "tqdm", FakeBar)
    monkeypatch.setattr(progress, "DELAY", 0.0)
    monkeypatch.setattr(progress, "LOOK", 0.001)
    yield made
    assert all(bar.closed for bar in made)


def shown(bars: list[FakeBar], wanted: Callable[[tuple[str, int, int | None]], bool]) -> None:
    """Wait until a bar has shown it."""
    end = time.monotonic() + 30
    while not any(wanted(one) for bar in bars for one in bar.shown):
        assert time.monotonic() < end, [bar.shown[-3:] for bar in bars]
        time.sleep(0.001)


# ---------------------------------------------------------------------- the mechanism


def test_lines() -> None:
    lines: list[str] = []
    with told(lines.append):
        tell("one")
        with details():
            tell("nobody hears")
        for k in counted(range(3), "two", 3, "parts", more=lambda k: f", {k}"):
            tell(f"inside {k}")
            assert list(counted("ab", "deeper", 2, "letters")) == ["a", "b"]
        tell("three")
        list(counted(range(2), "four", 5, "parts", done=3))
        assert list(counted([], "none", 0, "parts")) == []
    tell("outside")
    two = [f"two: {k + 1} of 3 parts, {k}" for k in range(3)]
    assert lines == ["one", *two, "three", "four: 4 of 5 parts", "four: 5 of 5 parts"]


def test_the_nearest_listener_is_told() -> None:
    outside: list[str] = []
    inside: list[str] = []
    with told(outside.append):
        for _ in counted(range(1), "work", 1, "parts"):
            with told(None):
                tell("a detail")
            with told(False):
                tell("a detail")
            with told(inside.append):
                tell("mine")
        tell("end")
    assert (outside, inside) == (["work: 1 of 1 parts", "end"], ["mine"])


def test_what_a_function_raises_is_for_the_caller() -> None:
    def stop(line: str) -> None:
        raise KeyError(line)

    lines: list[str] = []
    with told(lines.append):
        with pytest.raises(KeyError), told(stop):
            for _ in counted(range(2), "work", 2, "parts"):
                pass
        # Nobody is inside of the work any more.
        tell("on")
    assert lines == ["on"]


def test_work_that_is_left_is_no_longer_told_of() -> None:
    lines: list[str] = []
    with told(lines.append):
        for _ in counted(range(9), "work", 9, "parts"):
            break
        tell("on")
    assert lines == ["work: 1 of 9 parts", "on"]


def test_a_bar(bars: list[FakeBar]) -> None:
    with told(True):
        tell("first")
        shown(bars, lambda one: one[0].startswith("first [00:0") and one[2] is None)
        with details():
            tell("more of it")
        shown(bars, lambda one: one[0].startswith("first · more of it ["))
        limit(90)
        shown(bars, lambda one: one[0].endswith(", at most 01:30]") or one[0].endswith(", at most 01:31]"))
        for k in counted(range(4), "second", 40, "parts", done=10):
            shown(bars, lambda one, k=k: one == ("second", 11 + k, 40))  # type: ignore[misc]
            tell("inside")
            shown(bars, lambda one, k=k: one == ("second · inside", 11 + k, 40))  # type: ignore[misc]
        with told(True):
            tell("third")
            shown(bars, lambda one: one[0].startswith("third [") and one[2] is None)
    (bar,) = bars
    assert bar.thread is not threading.current_thread()
    assert not bar.thread.is_alive()
    assert bar.how["leave"] is False


def test_a_bar_tells_that_kernels_are_compiled(bars: list[FakeBar], monkeypatch: pytest.MonkeyPatch) -> None:
    before = _kernels.seconds_compiled()
    with told(True):
        tell("searching")
        limit(60)
        monkeypatch.setattr(_kernels, "is_compiling", lambda: True)
        shown(bars, lambda one: one[0].startswith("searching · compiling, the first time only ["))
        monkeypatch.setattr(_kernels, "seconds_compiled", lambda: before + 30)
        shown(bars, lambda one: one[0].endswith((", at most 01:30]", ", at most 01:31]")))


def test_compiling_is_noticed() -> None:
    noticed, before = [], _kernels.seconds_compiled()
    listening = event.RecordingListener()
    assert not _kernels.is_compiling()
    with event.install_listener("numba:compiler_lock", listening), global_compiler_lock:
        noticed.append(_kernels.is_compiling())
    assert noticed == [True]
    assert len(listening.buffer) == 2
    assert not _kernels.is_compiling()
    assert _kernels.seconds_compiled() > before


def test_a_bar_makes_room(bars: list[FakeBar]) -> None:
    with told(True):
        tell("before")
        shown(bars, lambda one: one[0].startswith("before"))
        hide()
        (bar,) = bars
        bar.shown.clear()
        time.sleep(0.02)
        assert (bar.cleared, bar.shown) == (1, [])
        tell("after")
        shown(bars, lambda one: one[0].startswith("after"))
    hide()


def test_short_work_shows_no_bar(bars: list[FakeBar], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "DELAY", 60.0)
    begin = time.monotonic()
    with told(True):
        tell("soon over")
    assert bars == []
    assert time.monotonic() - begin < 10


def test_an_error_ends_the_bar(bars: list[FakeBar]) -> None:
    @told(True)
    def work() -> None:
        tell("work")
        shown(bars, lambda one: one[0].startswith("work"))
        raise KeyError

    with pytest.raises(KeyError):
        work()
    assert [bar.closed for bar in bars] == [True]


def test_a_real_bar(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "DELAY", 0.0)
    monkeypatch.setattr(progress, "LOOK", 0.01)
    with told(True):
        tell("the first step")
        time.sleep(0.2)
        for _ in counted(range(4), "the second", 4, "slices"):
            time.sleep(0.1)
    out, err = capsys.readouterr()
    assert out == ""
    assert "the first step [00:00]" in err
    assert "50%" in err
    assert "2 of 4 slices [00:00<00:0" in err
    # Nothing is left on the line.
    assert err.split("\r")[-1].strip() == ""


def test_each_thread_has_its_own(bars: list[FakeBar]) -> None:
    ready = threading.Barrier(2)

    def work(name: str) -> list[str]:
        lines: list[str] = []
        with told(lines.append):
            ready.wait(timeout=30)
            list(counted(range(3), name, 3, "parts"))
            ready.wait(timeout=30)
        with told(True):
            tell(name)
            shown(bars, lambda one: one[0].startswith(name))
            ready.wait(timeout=30)
        return lines

    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(work, ["one", "two"]))
    assert found == [[f"{name}: {k} of 3 parts" for k in (1, 2, 3)] for name in ("one", "two")]
    assert len(bars) == 2


@pytest.mark.parametrize("cores", [1, 2])
def test_slices_are_not_listened_to(cores: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executors, "workers", lambda: cores)

    def chunk(k: int) -> int:
        with alone():
            tell("inside a slice")
            return k

    lines: list[str] = []
    with told(lines.append):
        assert list(map_slices(chunk, range(3))) == [0, 1, 2]
        assert reduce_slices(chunk, int.__add__, range(4), what="adding") == 6
    assert lines == [f"adding: {k} of 4 slices" for k in (1, 2, 3, 4)]


def test_what_progress_may_be() -> None:
    for wrong in (1, "bar", [], np.True_):
        with pytest.raises(TypeError, match=r"'progress' is .* try progress=True or progress=print\.$"), told(wrong):  # type: ignore[arg-type]
            pass


# ---------------------------------------------------------------------- the log


def test_the_log(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "decisional"):
        tell("one")
        with details():
            tell("a detail")
        list(counted(range(1000), "two", 1000, "parts"))
    lines = [record.getMessage() for record in caplog.records]
    # No more than a hundred of them, the last one too.
    assert lines == ["one", *(f"two: {k} of 1000 parts" for k in range(10, 1001, 10))]
    assert {(record.name, record.levelno) for record in caplog.records} == {("decisional", logging.INFO)}
    caplog.clear()
    with caplog.at_level(logging.DEBUG, "decisional"), details():
        tell("a detail")
    assert [(record.levelno, record.getMessage()) for record in caplog.records] == [(logging.DEBUG, "a detail")]


def test_nothing_is_printed_by_default() -> None:
    program = """
import decisional as ds, logging, sys
symbols = ds.processes.even().simulate(2_000, rng=1)
ds.selection.select(symbols)
ds.CausalStates().fit(ds.observe.series(symbols, past=3, chunks=100))
assert logging.getLogger("decisional").handlers and "tqdm" not in sys.modules
"""
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (answer.returncode, answer.stdout, answer.stderr) == (0, "", "")


# ---------------------------------------------------------------------- the calls that may take long

FLIPS = ds.processes.misread(ds.processes.even(), 0.05).simulate(600, rng=1)
LEVELS = np.where(SYMBOLS[:100], 1.0, 5.0) + 0.1 * RNG.normal(size=100)
SERIES = [SYMBOLS[:300], SYMBOLS[300:600]]
NUMBERS = [SIGNAL[:40], SIGNAL[40:80], -SIGNAL[:40], -SIGNAL[40:80]]


def fitted(p: Any) -> Any:
    return ds.CausalStates(past=3).fit(SYMBOLS, progress=p).states_.labels


def fitted_in_slices(p: Any) -> Any:
    return ds.CausalStates().fit(ds.observe.series(SYMBOLS, 3, chunks=1_000), progress=p).states_.labels


def added(p: Any) -> Any:
    return ds.CausalStates(past=3).partial_fit(SYMBOLS, progress=p)._counts().n


def decided(p: Any) -> Any:
    return ds.DecisionalStates(ds.utility.zero_one(), past=3).fit(SYMBOLS, progress=p).states_.labels


def summed(p: Any) -> Any:
    return ds.Kernels(1.0, progress=p).estimate(ds.observe.delays(SIGNAL, 2)).count


def simulated(p: Any) -> Any:
    return ds.selection.bootstrap(ds.processes.even(), 300, 2, rng=1, progress=p).n_states


def classes(p: Any) -> Any:
    return ds.ComplexityFeatures(progress=p).fit_transform(NUMBERS, [0, 0, 1, 1])


CALLS: dict[str, tuple[Callable[[Any], Any], str]] = {
    "epsilon_machine": (lambda p: ds.epsilon_machine(SYMBOLS, progress=p).targets, "past 1, future 1: 2 states, "),
    "signal": (lambda p: ds.epsilon_machine(LEVELS, progress=p).targets, "2 levels: "),
    "select": (lambda p: ds.selection.select(SYMBOLS, progress=p).machine.targets, "past 2, future 1: "),
    "strings": (lambda p: ds.selection.select(["0110", "01"] * 50, whole=True, progress=p).chosen.length, "prefixes"),
    "best_window": (lambda p: ds.selection.best_window(SYMBOLS, progress=p), "past 1, future 1: "),
    "best_past": (lambda p: ds.selection.best_past(SIGNAL[:80], pasts=[1, 2], progress=p), "how much past: 2 of 2"),
    "bootstrap": (simulated, "bootstrap: 2 of 2 replicates, "),
    "belief_machine": (lambda p: ds.belief_machine(FLIPS, progress=p).n_states, "2 hidden states: "),
    "fit": (fitted, "symbols refine the states"),
    "fit in slices": (fitted_in_slices, "counting: 4 of 4 slices"),
    "fit of a signal": (lambda p: ds.CausalStates(past=2).fit(SIGNAL, progress=p).labels_, "bandwidth: 6 of 6 widths"),
    "partial_fit": (added, "counting"),
    "decide": (decided, "decisions in "),
    "kernels": (summed, "kernel sums: "),
    "features": (lambda p: ds.ComplexityFeatures(progress=p).fit_transform(SERIES), "complexities: 2 of 2 series"),
    "features of classes": (classes, "models of classes: 1 of 1 variables"),
}


@pytest.mark.filterwarnings("ignore:.*:UserWarning")
@pytest.mark.parametrize("name", CALLS)
def test_long_calls(name: str, bars: list[FakeBar], caplog: pytest.LogCaptureFixture) -> None:
    call, wanted = CALLS[name]
    lines: list[str] = []
    expected = call(None)
    with caplog.at_level(logging.INFO, "decisional"):
        np.testing.assert_array_equal(call(lines.append), expected)
    assert any(line.startswith(wanted) for line in lines), lines
    logged = [record.getMessage() for record in caplog.records]
    assert set(logged) <= set(lines)
    assert any(line.startswith(wanted) for line in logged), logged
    np.testing.assert_array_equal(call(True), expected)
    np.testing.assert_array_equal(call(False), expected)
    assert len(bars) <= 2
    with pytest.raises(TypeError, match="'progress'"):
        call(3)


def test_slices_of_dask_are_counted() -> None:
    array = pytest.importorskip("dask.array")
    data, lines = array.from_array(SYMBOLS, chunks=1_000), []
    causal = ds.CausalStates().fit(ds.observe.series(data, past=3, chunks=1_000), progress=lines.append)
    assert lines[:4] == [f"counting: {k} of 4 slices" for k in (1, 2, 3, 4)]
    whole = ds.CausalStates().fit(ds.observe.series(SYMBOLS, past=3))
    np.testing.assert_array_equal(causal.states_.labels, whole.states_.labels)


def _slow(k: int) -> int:
    time.sleep(0.05)
    return k


def test_slices_on_a_cluster_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    distributed = pytest.importorskip("distributed")
    monkeypatch.setattr(executors, "LOOK", 0.1)
    times: list[float] = []
    lines: list[str] = []

    def note(line: str) -> None:
        lines.append(line)
        times.append(time.monotonic())

    how = {"n_workers": 1, "threads_per_worker": 1, "processes": False, "dashboard_address": None}
    here = distributed.LocalCluster(**how)
    with here, distributed.Client(here, set_as_default=False) as client, told(note):
        assert reduce_slices(_slow, int.__add__, range(20), client, "adding") == 190
    assert lines == [f"adding: {k} of 20 slices" for k in range(1, 21)]
    # They are told of while others are under way.
    assert times[-1] - times[0] > 0.2
