"""Nothing silently wrong: random inputs to every public call, damaged files, known tables, relations, faults.

Prints how many inputs were tried and what was found, by part, and each finding in one line that can be run again
(`python benchmarks/campaign.py --line "..."`); writes benchmarks/campaign.md. An input must end in a result, or in a
ValueError or TypeError (OSError for files) of one sentence that was raised by the library itself and names the
parameter or the file. All else is a finding: other exceptions, sentences of NumPy or pandas, warnings that are not the
library's, more than 20 seconds, NaN where there can be none, a result from what cannot be meant, a result that differs
from what is known of the input. Exit status 1 where something was found.

Parts: api (every public call, valid and invalid arguments), files (damaged models, tables, arrays, pictures), relations
(what must not change a result), shell (tables of known content through `ds.read` and the command line, and commands
with any options), faults (threads, processes, interruptions, pipes, devices, folders).
"""

import argparse
import contextlib
import copy
import csv
import faulthandler
import gzip
import inspect
import io
import json
import multiprocessing
import os
import pickle
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import types
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

os.environ.setdefault("MPLBACKEND", "Agg")

import numpy as np
from campaign_values import GIVEN_RIGHT, JUNK, SELVES, USED, VALUES, Values

import decisional as ds
from decisional.cli import main as command_line
from decisional.decisions.regret import Regret
from decisional.states.coarsening import BitsPath
from decisional.states.forecasts import Forecast

LIBRARY = str(Path(ds.__file__).parent)
SECONDS = 20
# The share of each part in all inputs.
SHARES = {"api": 0.5, "files": 0.15, "relations": 0.12, "shell": 0.2, "faults": 0.03}
# One in so many commands is a process of its own.
PROCESSES = 25
MEMORY = 8 << 30
KNOWN = "symbols renamed, states by tests"


# What is found


@dataclass
class Found:
    """Inputs tried, and what came of them."""

    part: str
    tried: int = 0
    refused: int = 0
    known: int = 0
    findings: list[tuple[str, str]] = field(default_factory=list)  # what, and the line that shows it

    def add(self, other: "Found") -> "Found":
        self.tried, self.refused, self.known = (
            getattr(self, name) + getattr(other, name) for name in ("tried", "refused", "known")
        )
        self.findings += other.findings
        return self


class Wrong(Exception):
    """A result that is not what it must be."""


class Known(Exception):
    """A relation that is known not to hold always."""


class Hang(BaseException):
    """An input took too long."""


@contextlib.contextmanager
def limited(line: str) -> Iterator[None]:
    """Raise Hang after some seconds; where even that does not end a kernel, end the process and tell the line."""

    def late(*_: Any) -> None:
        raise Hang

    def stop() -> None:
        print(f"the process hangs: {line}", file=sys.__stderr__, flush=True)
        os._exit(3)

    watch = threading.Timer(10 * SECONDS, stop)
    watch.daemon = True
    watch.start()
    alarmed = threading.current_thread() is threading.main_thread()
    if alarmed:
        # Of the processor: others may use it, too.
        signal.signal(signal.SIGPROF, late)
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        yield
    finally:
        if alarmed:
            signal.setitimer(signal.ITIMER_PROF, 0)
        watch.cancel()


def attempt(found: Found, line: str, run: Callable[[], Any], named: Callable[[str], bool] = lambda text: True) -> None:
    """Try one input: what it comes to is counted, and is a finding if it may not be so.

    Parameters
    ----------
    found : what was found so far
    line : shows the input
    run : tries it and looks at the result: raises Wrong where it is not right
    named : whether the text of a refusal names what is refused
    """
    found.tried += 1
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            with limited(line):
                run()
        except Known:
            found.known += 1
        except Wrong as error:
            found.findings.append((f"silent: {error}", line))
        except Hang:
            found.findings.append((f"more than {SECONDS} s", line))
        except (ValueError, TypeError, OSError, ImportError) as error:
            found.refused += 1
            unclear = why_unclear(error, named)
            if unclear:
                found.findings.append((f"unclear ({unclear}): {type(error).__name__}: {_short(error)}", line))
        except Exception as error:
            found.findings.append((f"traceback: {type(error).__name__}: {_short(error)}", line))
    for warning in told:
        # Those of the library are told of the line that called it.
        ours = warning.filename.startswith((LIBRARY, "<string>")) and warning.category is UserWarning
        if not ours and "campaign" not in warning.filename and warning.category is not ResourceWarning:
            found.findings.append((f"warning: {warning.category.__name__}: {_short(warning.message)}", line))


def _short(error: Any) -> str:
    return " ".join(str(error).split())[:200]


def why_unclear(error: Exception, named: Callable[[str], bool]) -> str | None:
    """Why the sentence of a refusal would not help its reader; None where it does."""
    text = str(error)
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        # What the system says, of a file that it names.
        return None
    frames = traceback.extract_tb(error.__traceback__)
    if frames[-1].name == "broken":
        # A function of the user may fail as it likes.
        return None
    if not frames[-1].filename.startswith(LIBRARY):
        return f"raised in {Path(frames[-1].filename).name}"
    if "\n" in text:
        return "several lines"
    if not text.endswith((".", "?")):
        return "no sentence"
    return None if named(text) else "names nothing that was given"


def no_nan(value: Any, where: str) -> None:
    """Refuse NaN in numbers of a result."""
    if isinstance(value, (float, np.floating)) and value != value:
        raise Wrong(f"{where} is NaN")
    if isinstance(value, np.ndarray) and value.dtype.kind == "f" and np.isnan(value).any():
        raise Wrong(f"{where} has NaN")


def must(holds: Any, what: str) -> None:
    if not holds:
        raise Wrong(what)


def looked_at(result: Any, name: str) -> None:
    """What holds for results of each kind, whatever they came from."""
    if name not in MAY_BE_NAN:
        no_nan(result, name)
    if isinstance(result, ds.EpsilonMachine):
        # A state that data end in has no way out.
        total = result.emission.sum(axis=1)
        must((np.isclose(total, 1) | (total == 0)).all(), "emissions of a state do not sum to 1")
        total = result.stationary.sum()
        must(abs(total - 1) < 1e-6 or not result.recurrent.any(), "the stationary distribution does not sum to 1")
        must(0 <= result.entropy_rate() <= np.log2(len(result.alphabet)) + 1e-9, "entropy rate out of its limits")
    if isinstance(result, ds.CausalStates) and result.is_fitted():
        must(result.n_states_ >= 1, "no state")
        no_nan(result.distributions_, "distributions_")
        must(-1e-9 <= result.complexity_ <= np.log2(result.n_states_) + 1e-9, "complexity out of its limits")
    if isinstance(result, ds.DecisionalStates) and result.is_fitted():
        must(result.n_states_ >= 1, "no state")
        no_nan(result.utility_, "utility_")
    if isinstance(result, ds.Partition):
        must(result.labels.min(initial=0) >= -1, "labels below -1")


# Values of monitors that know nothing yet, of places and x that were not observed, and of data with gaps.
MAY_BE_NAN = {
    *("Monitor.utility", "read", "Observations.field", "write_values", "utility.as_utility", "complexity.ranks"),
    *("CausalStates.predict_proba", "CausalStates.in_order", "observe.calendar", "Regret.error"),
    *(f"Forecast.{name}" for name in dir(Forecast)),
}


# Data by number: `text(7)` is the same series in every run


PROCESSES_OF_TEXT = ("even", "golden_mean", "nemo", "biased_coin", "periodic", "rip")


def text(s: int, n: int | None = None) -> str:
    """A series of characters."""
    rng = np.random.default_rng(s)
    machine = getattr(ds.processes, PROCESSES_OF_TEXT[s % len(PROCESSES_OF_TEXT)])()
    return "".join(map(str, machine.simulate(int(rng.integers(30, 400)) if n is None else n, rng=s)))


def words(s: int) -> list[str]:
    return [("sun", "light rain", "2", "é, ü")[int(c)] for c in text(s)]


def ints(s: int) -> Any:
    return np.array(list(map(int, text(s))), ("u1", "i8", "i2", "u4")[s % 4]) * (s % 3 + 1)


def gaps(s: int) -> list[Any]:
    rng = np.random.default_rng(s)
    return [None if rng.random() < 0.03 else int(c) for c in text(s)]


def several(s: int) -> list[str]:
    return [text(s), text(s + 1), text(s + 6)]


def numbers(s: int) -> Any:
    """A signal."""
    rng = np.random.default_rng(s)
    n = int(rng.integers(20, 150))
    return np.cumsum(rng.normal(size=n)) * 0.3 + np.sin(np.arange(n)) if s % 2 else rng.normal(size=n)


def plane(s: int) -> Any:
    """A field."""
    return ds.processes.elementary_ca((110, 54, 90, 18)[s % 4], 12 + s % 9, 12 + s % 7, rng=s)


def pixels(s: int) -> Any:
    rng = np.random.default_rng(s)
    y, x = np.mgrid[: 9 + s % 8, : 10 + s % 7]
    return (np.hypot(x - 5, y - 5) * 20 + rng.integers(0, 30, x.shape)).astype("u1" if s % 2 else float)


def pairs(s: int) -> Any:
    rng = np.random.default_rng(s)
    x = rng.integers(0, 4, int(rng.integers(20, 200)))
    return ds.observe.pairs(x, (x + (rng.random(x.size) < 0.2)) % 3)


def obs(s: int) -> Any:
    """Observations of any kind."""
    kinds = (
        lambda: ds.observe.series(text(s), 1 + s % 4),
        lambda: ds.observe.series(several(s), 2, future=2, sequences=True),
        lambda: ds.observe.light_cones(plane(s), 2, 2),
        lambda: ds.observe.delays(numbers(s), past=1 + s % 2),
        lambda: ds.observe.image(pixels(s)),
        lambda: pairs(s),
        lambda: ds.observe.series(text(s), 2, chunks=50),
    )
    return kinds[s % len(kinds)]()


@cache
def _causal(s: int) -> Any:
    return ds.CausalStates().fit(ds.observe.series(text(s), 2) if s % 3 else obs(s))


def causal(s: int) -> Any:
    return copy.deepcopy(_causal(s % 40))


@cache
def _choice(s: int) -> Any:
    states = _causal(s)
    if states.observations_.targets is not None:
        return ds.DecisionalStates(ds.utility.squared_error()).fit(states)
    return ds.DecisionalStates(ds.utility.zero_one()).fit(states)


def choice(s: int) -> Any:
    return copy.deepcopy(_choice(s % 40))


@cache
def machine(s: int) -> Any:
    """A machine: known, random, or of data."""
    if s % 3 == 0:
        return ds.processes.random_machine(1 + s % 5, 2 + s % 3, rng=s)
    return getattr(ds.processes, list(ds.processes.catalogue)[s % len(ds.processes.catalogue)])()


@cache
def forecast(s: int) -> Any:
    return ds.CausalStates(past=1 + s % 2).fit(numbers(s)).forecast(numbers(s), 1 + s % 3)


def monitor(s: int) -> Any:
    adapt = ds.Adapt(window=200, refit_after=50) if s % 3 == 0 else None
    found = ds.Monitor(ds.DecisionalStates(ds.utility.zero_one()).fit(ds.processes.even()), adapt=adapt)
    found.feed(text(6 * s, 40)[: s % 40])
    return found


@cache
def selected(s: int) -> Any:
    return ds.selection.select(text(s % 6, 300))


def pandas(s: int) -> Any:
    import pandas as pd

    kinds: tuple[Callable[[], Any], ...] = (
        lambda: pd.Series(words(s)),
        lambda: pd.Series(ints(s), index=pd.date_range("2024-01-01", periods=len(ints(s)), freq="h")),
        lambda: pd.Series(gaps(s), dtype="Int64"),
        lambda: pd.Series(words(s), dtype="category"),
        lambda: pd.Series(words(s), dtype="string"),
        lambda: pd.Series(numbers(s)),
        lambda: pd.Series(numbers(s)).astype("Float64"),
    )
    return kinds[s % len(kinds)]()


def frame(s: int) -> Any:
    import pandas as pd

    return pd.DataFrame({"a": numbers(s), "b": numbers(s)[::-1]}).iloc[:, : 1 + s % 2]


def polars(s: int) -> Any:
    import polars as pl

    return pl.Series("p", (words(s), ints(s), gaps(s), numbers(s))[s % 4])


def broken(*_: Any) -> Any:
    """A function of the user that fails."""
    raise ValueError("The function of the user fails.")


def axes(s: int) -> Any:
    import matplotlib.pyplot as plt

    plt.close("all")
    return plt.subplots(1, 1 + s % 3)[1]


# Calls


# Parameters whose default takes long.
ALWAYS = {"selection.bootstrap.n"}
# What public calls return, whose methods are public too.
RESULTS = (Forecast, BitsPath, Regret)


def public_calls() -> dict[str, Any]:
    """Every public function, class and method of the library, by name, without those that are inherited from others."""
    found: dict[str, Any] = {}
    for name in dir(ds):
        value = getattr(ds, name)
        if isinstance(value, types.ModuleType):
            found |= {f"{name}.{inner}": getattr(value, inner) for inner in dir(value) if inner[0] != "_"}
        else:
            found[name] = value
    found = {name: value for name, value in found.items() if callable(value)}
    for made in [*(value for value in found.values() if inspect.isclass(value)), *RESULTS]:
        for name in dir(made):
            method = getattr(made, name)
            if name[0] != "_" and callable(method) and getattr(method, "__module__", "").startswith("decisional"):
                found[f"{made.__name__}.{name}"] = method
    return found


def properties() -> list[str]:
    """Every public attribute that a class computes."""
    public = [value for value in public_calls().values() if inspect.isclass(value)]
    classes = [value for value in [*public, *RESULTS] if value.__name__ in SELVES]
    kinds = (property, types.MemberDescriptorType)
    return [
        f"{made.__name__}.{name}"
        for made in dict.fromkeys(classes)
        for name in dir(made)
        if name[0] != "_"
        and (
            isinstance(inspect.getattr_static(made, name), kinds) or hasattr(inspect.getattr_static(made, name), "func")
        )
    ]


def parameters(name: str, call: Any) -> dict[str, inspect.Parameter]:
    """The parameters of a public call, but for `self`."""
    found = dict(inspect.signature(call).parameters)
    found.pop("self", None)
    return {key: one for key, one in found.items() if one.kind not in (one.VAR_KEYWORD, one.VAR_POSITIONAL)}


def values_of(call: str, parameter: str) -> Values | None:
    """What may be given for a parameter: of this call, of its last name, or of any."""
    for name in (f"{call}.{parameter}", f"{call.rpartition('.')[2]}.{parameter}", parameter):
        if name in VALUES:
            return VALUES[name]
    return None


def uncovered() -> list[str]:
    """Public calls that this campaign would not try, or not with all of their parameters."""
    found = []
    for name, call in public_calls().items():
        if name in GIVEN_RIGHT:
            continue
        owner = name.rpartition(".")[0]
        is_method = owner and owner[0].isupper()
        if is_method and owner not in SELVES:
            found.append(f"{name}: nothing in SELVES has it")
        found += [f"{name}: no values for {key!r}" for key in parameters(name, call) if values_of(name, key) is None]
    return found


NAMESPACE: dict[str, Any] = {}


def namespace() -> dict[str, Any]:
    """What lines are read with."""
    import datetime
    import decimal
    import fractions

    from decisional.states import bandwidths

    if not NAMESPACE:
        NAMESPACE.update(globals(), datetime=datetime, decimal=decimal, fractions=fractions, bandwidths=bandwidths)
        NAMESPACE["POOL"] = ThreadPoolExecutor(2)
    return NAMESPACE


def one(rng: np.random.Generator, values: Any) -> Any:
    return values[int(rng.integers(len(values)))]


def api_input(found: Found, rng: np.random.Generator) -> None:
    """One call of the library, or a look at one attribute."""
    calls = public_calls()
    attributes = properties()
    s = int(rng.integers(1000))
    if rng.random() < 0.05:
        name = one(rng, attributes)
        owner, _, attribute = name.partition(".")
        line = f"{one(rng, SELVES[owner])}.{attribute}".format(s=s)
        attempt(found, line, lambda: look_at_attribute(line, name))
        return
    name = one(rng, list(calls))
    if name in GIVEN_RIGHT:
        line = GIVEN_RIGHT[name].format(s=s)
        attempt(found, line, lambda: looked_at(eval(line, namespace()), name))
        return
    line, junk = call_line(name, calls[name], rng, s)

    def run() -> None:
        result = eval(line, namespace())
        if isinstance(result, Iterator):
            result = list(result)
        for key, text in junk.items():
            value = eval(text, namespace())
            values = values_of(name, key)
            default = parameters(name, calls[name])[key].default
            if values is not None and value is not default and values.refuses(value):
                raise Wrong(f"{key}={text} is taken for {values.kind}")
        looked_at(result, name)

    attempt(found, line, run, names_something)


def look_at_attribute(line: str, name: str) -> None:
    """What is not there, as before `fit`, is told as Python does."""
    try:
        looked_at(eval(line, namespace()), name)
    except AttributeError as error:
        must("has no attribute" in str(error) or str(error).endswith("."), str(error))


def names_something(text: str) -> bool:
    """Whether a sentence names a parameter, of this call or of what it is made of, a file, or what was not fitted."""
    keys = {name.rpartition(".")[2] for name in VALUES} | {
        "path",
        "file",
        "table",
        "fitted",
        "function",
        "observations",
    }
    return any(re.search(rf"\b{key}\b", text) for key in keys)


def call_line(name: str, call: Any, rng: np.random.Generator, s: int) -> tuple[str, dict[str, str]]:
    """A line that calls, and the arguments in it that are not right, perhaps."""
    owner, _, method = name.rpartition(".")
    is_method = owner and owner[0].isupper()
    given: dict[str, str] = {}
    junk: dict[str, str] = {}
    known = parameters(name, call)
    for key, parameter in known.items():
        if parameter.default is parameter.empty or f"{name}.{key}" in ALWAYS or rng.random() < 0.3:
            values = values_of(name, key)
            assert values is not None
            given[key] = one(rng, values.good).format(s=s)
    if known and rng.random() < 0.6:
        for key in rng.choice(list(known), 1 + (rng.random() < 0.1)):
            value = one(rng, JUNK).format(s=s)
            # What a function that is told of progress raises is for the caller, as it is.
            if key != "progress" or not callable(eval(value, namespace())):
                junk[key] = given[key] = value
    before = one(rng, SELVES[owner]).format(s=s) if is_method else f"ds.{owner}" if owner else "ds"
    line = f"{before}.{method}({', '.join(f'{key}={value}' for key, value in given.items())})"
    return USED.get(name, "{call}").format(call=line, s=s), junk


# Damaged files


def write_files() -> None:
    """Files of each kind, in the folder in which the campaign runs."""
    import pandas as pd
    from PIL import Image

    rows = ["time,b,c"] + [
        f"2024-01-{1 + k // 24:02d} {k % 24:02d}:00,{'wet' if k % 3 else 'dry'},{k % 7}.5" for k in range(200)
    ]
    Path("in.csv").write_text("\n".join(rows) + "\n")
    Path("in.csv.gz").write_bytes(gzip.compress("\n".join(rows).encode(), mtime=0))
    Path("in.txt").write_text("# two\n" + text(1, 200) + "\n" + text(7, 90) + "\n")
    Path("utility.csv").write_text("y,0,1\nstay,0,0\ngo,-3,1\n")
    np.save("in.npy", np.arange(200) % 3)
    np.savez("in.npz", a=plane(1), b=pixels(1))
    Image.fromarray(pixels(1)).save("in.png")
    Image.fromarray(pixels(1)).save("in.tif")
    Image.fromarray(pixels(1)).save("in.jpg")
    Image.fromarray(pixels(1)).save("in.gif", save_all=True, append_images=[Image.fromarray(pixels(1)[::-1])])
    Path("in.pgm").write_bytes(b"P5\n5 4\n255\n" + bytes(range(20)))
    pd.DataFrame({"a": words(1), "b": np.arange(len(words(1)))}).to_parquet("in.parquet")
    machine(1).save("in.json")
    ds.CausalStates().fit(ds.observe.series(text(0, 2000), 3)).machine_.save("states.json")
    monitor(7).save("monitor.json")
    ds.processes.mess3().save("belief.json")
    monitor(3).save("adapt.json")


def same_rows(path: str) -> Callable[[Any], None]:
    """Look whether what was read is what the intact file says."""
    intact = ds.read(path, column=None if path.endswith(".txt") else "b")

    def check(result: Any) -> None:
        must(list(result) == list(intact), "a damaged file gives other data")

    return check


def is_sane(result: Any) -> None:
    looked_at(result, "EpsilonMachine.load")


def is_monitor_of(path: str) -> Callable[[Any], None]:
    """Look whether a monitor that was loaded is the one that was saved."""
    intact = json.loads(Path(path).read_text())

    def check(result: Any) -> None:
        result.save("again.json")
        must(json.loads(Path("again.json").read_text()) == intact, "another monitor than was saved")

    return check


def anything(result: Any) -> None:
    """Look at nothing: a damaged byte may be another symbol, pixel or number."""


# How each file is read, and what holds for a result of a damaged one.
READERS: dict[str, list[tuple[str, Callable[[str], Callable[[Any], None]]]]] = {
    "in.json": [("ds.EpsilonMachine.load({path!r})", lambda path: is_sane)],
    "states.json": [("ds.EpsilonMachine.load({path!r})", lambda path: is_sane)],
    "monitor.json": [("ds.Monitor.load({path!r})", is_monitor_of)],
    "adapt.json": [("ds.Monitor.load({path!r})", is_monitor_of)],
    "in.csv": [
        ("ds.read({path!r}, column='b', time='time')", lambda path: anything),
        ("ds.read({path!r}, column='c')", lambda path: anything),
        ("ds.read({path!r}, 'table')", lambda path: anything),
    ],
    "in.csv.gz": [("ds.read({path!r}, column='b')", same_rows)],
    "in.txt": [("ds.read({path!r})", lambda path: anything), ("ds.read({path!r}, sliced=True)", lambda path: anything)],
    "utility.csv": [("ds.utility.read_utility({path!r}, [0, 1])", lambda path: anything)],
    "in.npy": [("ds.read({path!r})", lambda path: anything), ("ds.read({path!r}, sliced=True)", lambda path: anything)],
    "in.npz": [("ds.read({path!r})", lambda path: anything), ("ds.read({path!r}, key='b')", lambda path: anything)],
    **{f"in.{kind}": [("ds.read({path!r})", lambda path: anything)] for kind in ("png", "jpg", "gif", "tif", "pgm")},
    "in.parquet": [
        ("ds.read({path!r}, column='a')", lambda path: anything),
        ("ds.read({path!r}, column='b')", lambda path: anything),
    ],
}


def damaged(data: bytes, rng: np.random.Generator) -> bytes:
    """A file that was cut, changed, shortened within, lengthened or emptied."""
    kind, n = int(rng.integers(6)), len(data)
    at = int(rng.integers(n))
    if kind == 0:
        return data[:at]
    if kind == 1:
        changed = bytearray(data)
        for place in rng.integers(0, n, int(rng.integers(1, 4))):
            changed[place] ^= 1 << int(rng.integers(8))
        return bytes(changed)
    if kind == 2:
        return data[:at] + data[at + int(rng.integers(1, 50)) :]
    if kind == 3:
        return data[:at] + rng.bytes(int(rng.integers(1, 20))) + data[at:]
    if kind == 4:
        return (
            data[:at]
            + bytes(one(rng, [b"\0", b",", b"\n", b'"', b"\xff\xfe", b"1e999", b"-", b"9" * 30]))
            + data[at + 1 :]
        )
    return data[:at] + data[max(0, at - 40) :]


FIELDS = [
    None,
    True,
    -1,
    0,
    1.5,
    1e308,
    -5,
    2**70,
    "",
    "x",
    [],
    [[]],
    {},
    [None],
    [[1, 2], [3]],
    [2, -1],
    {"a": 1},
    [0.5, 0.5],
    [1e-300, 1.0],
    "A" * 40,
]


def replaced(content: Any, rng: np.random.Generator) -> Any:
    """JSON in which one value, anywhere, is another, or is not there."""
    content = copy.deepcopy(content)
    inner = content
    while True:
        keys = list(inner) if isinstance(inner, dict) else list(range(len(inner)))
        if not keys:
            return one(rng, FIELDS)
        key = one(rng, keys)
        if isinstance(inner[key], (dict, list)) and rng.random() < 0.8:
            inner = inner[key]
            continue
        if rng.random() < 0.15:
            del inner[key]
        else:
            inner[key] = one(rng, FIELDS)
        return content


def files_input(found: Found, rng: np.random.Generator) -> None:
    """One damaged file."""
    name = one(rng, list(READERS))
    reader, look = one(rng, READERS[name])
    data = Path(name).read_bytes()
    if name.endswith(".json") and rng.random() < 0.6:
        content = replaced(json.loads(data), rng)
        if "check" in content and isinstance(content, dict) and rng.random() < 0.7:
            content = with_digest(content)
        changed = json.dumps(content).encode()
        look = (lambda path: anything) if "check" in json.loads(data) else look
    else:
        changed = damaged(data, rng)
    path = "damaged" + "".join(Path(name).suffixes)
    Path(path).write_bytes(changed)
    line = reader.format(path=path)
    check = look(name)

    def run() -> None:
        result = eval(line, namespace())
        check(result)
        if isinstance(result, ds.Monitor):
            follow(result)

    shown = f"{line}  # {path} = {changed[:4000]!r}" if len(changed) <= 4000 else f"{line}  # of {name}, damaged"
    attempt(found, shown, run, lambda text: path in text)


def with_digest(content: dict[str, Any]) -> dict[str, Any]:
    """A monitor that someone wrote by hand: the digest agrees with what it says."""
    from decisional.support.packing import _digest

    content = {key: value for key, value in content.items() if key != "check"}
    return {**content, "check": _digest(content)}


def follow(found: ds.Monitor) -> None:
    """A monitor that was loaded must work."""
    found.feed("0110111101101" * 30)
    must(found.belief.min() >= 0 and abs(found.belief.sum() - 1) < 1e-6, "the belief is no distribution")
    must(-1 <= found.state < found.machine.n_states, "the state is none of the machine")


# Relations: what must not change a result


def labels(states: Any) -> list[int]:
    return np.asarray(states.labels_).tolist()


def fitted(data: Any, past: int, **how: Any) -> Any:
    return ds.CausalStates().fit(ds.observe.series(data, past, **how))


def same_states(one_fit: Any, other: Any, what: str) -> None:
    must(labels(one_fit) == labels(other), f"{what}: other labels")
    must(abs(one_fit.complexity_ - other.complexity_) < 1e-9, f"{what}: another complexity")


def renamed_series(s: int, past: int) -> None:
    """Symbols with other names, in another order."""
    data = text(s)
    other = data.translate(str.maketrans("012", "zxy" if s % 2 else "cba"))
    if labels(fitted(data, past)) != labels(fitted(other, past)):
        raise Known


def renamed_machine(s: int, past: int) -> None:
    data = text(s, 1000)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        first, second = (ds.epsilon_machine(d) for d in (data, data.translate(str.maketrans("012", "cba"))))
    back = ds.EpsilonMachine(
        [(a, str("cba".index(x)), b, p) for a, x, b, p in second.transitions()], alphabet=first.alphabet
    )
    must(first.is_isomorphic(back), "ds.epsilon_machine depends on the names of the symbols")


def renamed_field(s: int, past: int) -> None:
    field = plane(s)
    first, second = (ds.CausalStates().fit(ds.observe.light_cones(f, 2, 2)) for f in (field, 7 - field))
    if labels(first) != labels(second):
        raise Known


def kept_order(s: int, past: int) -> None:
    """Symbols with other names in the same order."""
    data = text(s)
    same_states(
        fitted(data, past), fitted(data.translate(str.maketrans("012", "xyz")), past), "names in the same order"
    )


def chunked_series(s: int, past: int) -> None:
    data, n = text(s), 8 + s % 90
    whole, cut = fitted(data, past), fitted(data, past, chunks=n)
    must(whole.n_states_ == cut.n_states_, "chunks: another number of states")
    must(abs(whole.complexity_ - cut.complexity_) < 1e-9, "chunks: another complexity")
    ds.write_values(cut, "chunks.npy", overwrite=True)
    ds.write_values(whole, "whole.npy", overwrite=True)
    must(np.array_equal(np.load("chunks.npy"), np.load("whole.npy")), "chunks: other labels")


def chunked_field(s: int, past: int) -> None:
    field = plane(s)
    whole, cut = (ds.CausalStates().fit(ds.observe.light_cones(field, 2, 2, chunks=n)) for n in (None, 4 + s % 5))
    must(whole.n_states_ == cut.n_states_ and abs(whole.complexity_ - cut.complexity_) < 1e-9, "chunks: other states")


def rolled_field(s: int, past: int) -> None:
    """Periodic space has no beginning."""
    field = plane(s)
    first, second = (ds.CausalStates().fit(ds.observe.light_cones(f, 2, 2)) for f in (field, np.roll(field, 5, axis=1)))
    must(
        first.n_states_ == second.n_states_ and abs(first.complexity_ - second.complexity_) < 1e-9,
        "rolled: other states",
    )


def in_parts(s: int, past: int) -> None:
    """Sequences at once, one after the other, and merged."""
    data = several(s)
    whole = fitted(data, past, sequences=True)
    grown = ds.CausalStates()
    for part in data:
        grown.partial_fit(ds.observe.series(part, past))
    merged = ds.CausalStates().partial_fit(ds.observe.series(data[0], past))
    merged.merge(ds.CausalStates().partial_fit(ds.observe.series(data[1:], past, sequences=True)))
    for other in (grown, merged):
        must(whole.n_states_ == other.n_states_, "partial_fit: another number of states")
        must(abs(whole.complexity_ - other.complexity_) < 1e-9, "partial_fit: another complexity")


def reordered_sequences(s: int, past: int) -> None:
    data = several(s)
    first, second = fitted(data, past, sequences=True), fitted(data[::-1], past, sequences=True)
    must(
        first.n_states_ == second.n_states_ and abs(first.complexity_ - second.complexity_) < 1e-9, "order of sequences"
    )


def by_threads(s: int, past: int) -> None:
    observed = ds.observe.series(text(s), past)
    alone = ds.CausalStates().fit(observed)
    same_states(
        alone, ds.CausalStates().fit(ds.observe.series(text(s), past), executor=namespace()["POOL"]), "executor"
    )
    found = list(namespace()["POOL"].map(lambda _: labels(fitted(text(s), past)), range(3)))
    must(all(one_found == labels(alone) for one_found in found), "threads: other labels")


def same_containers(s: int, past: int) -> None:
    """A series is the same in whatever it comes."""
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    letters = list(text(s))
    first = fitted(letters, past, sequences=False)
    forms = (
        "".join(letters),
        "".join(letters).encode(),
        tuple(letters),
        np.array(letters),
        np.array(letters, object),
        pd.Series(letters),
        pd.Series(letters, dtype="category"),
        pd.Series(letters, dtype="string"),
        pl.Series(letters),
        pl.Series(letters, dtype=pl.Categorical),
        pa.array(letters),
        pd.DataFrame({"a": letters}),
        pl.DataFrame({"a": letters}),
        iter(letters),
    )
    for form in forms:
        same_states(first, fitted(form, past), type(form).__module__ + " " + type(form).__name__)
    whole = [int(c) for c in letters]
    numbered = fitted(whole, past)
    for form in (
        np.array(whole, "u1"),
        np.array(whole, float),
        pd.Series(whole, dtype="Int64"),
        pl.Series(whole),
        pd.Series(whole, dtype="int8"),
    ):
        same_states(numbered, fitted(form, past), f"integers as {type(form).__name__} {form.dtype}")


def same_signals(s: int, past: int) -> None:
    import pandas as pd
    import polars as pl

    data = numbers(s)
    first = ds.CausalStates().fit(ds.observe.delays(data, past=1))
    for form in (
        data.tolist(),
        pd.Series(data),
        pl.Series(data),
        pd.DataFrame({"a": data}),
        data[:, None],
        pd.Series(data).astype("Float64"),
    ):
        same_states(first, ds.CausalStates().fit(ds.observe.delays(form, past=1)), type(form).__name__)


def saved_machine(s: int, past: int) -> None:
    found = machine(s)
    found.save("relation.json")
    again = ds.EpsilonMachine.load("relation.json")
    must(again.transitions() == found.transitions() and again.alphabet == found.alphabet, "saved: another machine")


def pickled(s: int, past: int) -> None:
    states, decided = causal(s), choice(s)
    for fit in (states, decided):
        again = pickle.loads(pickle.dumps(fit))
        must(labels(again) == labels(fit), "pickle: other labels")
    must(copy.deepcopy(states).n_states_ == states.n_states_, "copy: other states")


def predicted(s: int, past: int) -> None:
    """What was fitted is predicted as it was labelled."""
    states = causal(s)
    if states.kernels_ is not None:
        # There the state of the nearest density is predicted.
        return
    known = states.predict(states.observations_)
    must(np.asarray(known).tolist() == labels(states), "predict: other labels than fit's")
    must(np.allclose(states.predict_proba(states.observations_).sum(axis=1), 1), "probabilities do not sum to 1")


def streamed(s: int, past: int) -> None:
    """A monitor's events are those of the whole series, however it is cut, saved, loaded and pickled on the way."""
    data, rng = text(6 * s, 200), np.random.default_rng(s)
    decided = ds.DecisionalStates(ds.utility.table([[0, 0], [-3, 1]])).fit(ds.processes.even())
    whole = list(map(repr, decided.events([int(c) for c in data], initial=True)))
    follower, found, lo = ds.Monitor(decided), [], 0
    while lo < len(data):
        hi = lo + int(rng.integers(1, 40))
        kind = int(rng.integers(4))
        if kind == 0:
            follower.save("stream.json")
            follower = ds.Monitor.load("stream.json")
        elif kind == 1:
            follower = pickle.loads(pickle.dumps(follower))
        found += list(follower.feed(data[lo:hi])) if kind != 2 else list(follower.watch(data[lo:hi]))
        lo = hi
    must(list(map(repr, found)) == whole, "a stream: other events than the whole series")


def adapted(s: int, past: int) -> None:
    """A monitor that adapts tells the same however its stream is cut, and where it is saved."""
    data = text(6 * s, 400) + text(6 * s + 2, 600)
    decided = ds.DecisionalStates(ds.utility.zero_one()).fit(ds.processes.even())
    how = ds.Adapt(window=300, refit_after=100)
    first, second = ds.Monitor(decided, adapt=how), ds.Monitor(decided, adapt=how)
    told = [str(event) for event in first.feed(data)]
    other, step = [], 1 + s % 97
    for lo in range(0, len(data), step):
        other += [str(event) for event in second.feed(data[lo : lo + step])]
        if lo % (5 * step) == 0:
            second.save("adapted.json")
            second = ds.Monitor.load("adapted.json")
    must(told == other, "a stream that adapts: other events")


def scaled_utility(s: int, past: int) -> None:
    """Utilities may be in any unit, and predictions in any order."""
    states, rng = fitted(text(6 * s), past), np.random.default_rng(s)
    table = rng.integers(-5, 6, (3, 2)).astype(float)
    first = ds.DecisionalStates(ds.utility.table(table)).fit(states)
    second = ds.DecisionalStates(ds.utility.table(table * 4)).fit(states)
    third = ds.DecisionalStates(ds.utility.table(table[::-1], y=[2, 1, 0])).fit(states)
    must(labels(first) == labels(second), "a utility times 4: other decisional states")
    must(labels(first) == labels(third) and np.allclose(first.utility_, third.utility_), "predictions in another order")


def refined(s: int, past: int) -> None:
    """Decisional states are unions of causal states, and refine their two parts."""
    decided = ds.DecisionalStates(ds.utility.zero_one()).fit(fitted(text(s), past))
    must(
        decided.complexity_ <= decided.causal_.complexity_ + 1e-9, "decisional states are more complex than causal ones"
    )


def framed(s: int, past: int) -> None:
    """Results come back on the index of the data."""
    import pandas as pd

    data = pd.Series(list(text(s)), index=pd.date_range("2024-01-01", periods=len(text(s)), freq="h"))
    states = fitted(data, past)
    table = states.to_frame()
    must(table.index.equals(data.index) or table.index.isin(data.index).all(), "another index")
    column = table.iloc[:, 0]
    at = states.observations_.site
    must(np.array_equal(column.loc[data.index[at]].to_numpy(), states.labels_), "labels at other rows")


def simulated(s: int, past: int) -> None:
    found = machine(s)
    must(np.array_equal(found.simulate(50, rng=s), found.simulate(50, rng=s)), "another simulation of the same seed")
    must(found.log_likelihood(found.simulate(50, rng=s)) > -np.inf, "a machine holds impossible what it said")
    must(found.minimise().is_isomorphic(found.minimise().minimise()), "minimise twice")


def read_slices(s: int, past: int) -> None:
    Path("lines.txt").write_text("\n".join(several(s)) + "\n")
    mapped = ds.read("lines.txt", sliced=True)
    first = fitted(ds.read("lines.txt"), past, sequences=True)
    second = fitted(mapped.parts, past, sequences=True, missing=mapped.missing)
    must(first.n_states_ == second.n_states_ and abs(first.complexity_ - second.complexity_) < 1e-9, "text in slices")


RELATIONS = (
    renamed_series,
    renamed_machine,
    renamed_field,
    kept_order,
    chunked_series,
    chunked_field,
    rolled_field,
    in_parts,
    reordered_sequences,
    by_threads,
    same_containers,
    same_signals,
    saved_machine,
    pickled,
    predicted,
    streamed,
    adapted,
    scaled_utility,
    refined,
    framed,
    simulated,
    read_slices,
)


def relations_input(found: Found, rng: np.random.Generator) -> None:
    """One relation, on one input."""
    relation, s, past = one(rng, RELATIONS), int(rng.integers(1, 10_000)), int(rng.integers(1, 4))
    attempt(found, f"{relation.__name__}({s}, {past})", lambda: relation(s, past))


# Tables of known content, and commands


LETTERS = (
    "dry",
    "wet",
    "light rain",
    "a, b",
    "x;y",
    'say "no"',
    "é",
    "北",
    "0",
    "1",
    "yes",
    "no",
    "-",
    "nan",
    "None",
    "A|B",
    "1.5",
    "#1",
    "2024-01-01",
    "it's",
)


@dataclass
class KnownTable:
    """A table that was made from known columns: how it is to be read, and what must come back."""

    data: bytes
    file: str
    how: dict[str, Any]
    truth: list[list[Any]]  # the series, None where a cell is missing


def known_table(rng: np.random.Generator) -> KnownTable:
    """A table with random columns, marks, quotes, line ends, gaps, encodings and names, in or out of order."""
    n = int(rng.integers(8, 60))
    numeric = rng.random() < 0.25
    chosen = rng.permutation(len(LETTERS))[: int(rng.integers(2, 5))]
    decimal = "," if numeric and rng.random() < 0.3 else "."
    if numeric:
        values: list[Any] = [round(float(v), 3) for v in rng.normal(0, 100, n)]
        cells = [f"{v}".replace(".", decimal) for v in values]
    else:
        values = [LETTERS[int(k)] for k in rng.choice(chosen, n)]
        cells = list(values)
    if rng.random() < 0.3:
        for place in np.flatnonzero(rng.random(n) < 0.1):
            values[place], cells[place] = None, ""
    # The other columns: times, groups, words and numbers that must not be taken for the values.
    columns = {
        "value": cells,
        "time": [
            str(np.datetime64("2024-01-01T00:00:00") + np.timedelta64(h, "h")).replace("T", " ") for h in range(n)
        ],
        "user": [one(rng, ["ann", "bob"]) for _ in range(n)],
        "temp": [f"{t:.1f}".replace(".", decimal) for t in rng.normal(10, 5, n)],
        "note": [one(rng, ["", "ok", "a, b; c", 'the "big" one']) for _ in range(n)],
    }
    names = ["value", *rng.permutation(["time", "user", "temp", "note"])[: int(rng.integers(0, 5))]]
    names = [str(name) for name in rng.permutation(names)]
    how: dict[str, Any] = {"column": "value", "kind": "signal" if numeric else "symbols"}
    rows = [[columns[name][k] for name in names] for k in range(n)]
    if "time" in names and rng.random() < 0.6:
        how["time"] = "time"
        if rng.random() < 0.5:
            rows = [rows[int(k)] for k in rng.permutation(n)]
    truth = [values]
    if "user" in names and rng.random() < 0.5:
        how["by"] = "user"
        truth = [
            [value for value, one_user in zip(values, columns["user"], strict=True) if one_user == user]
            for user in ("ann", "bob")
        ]
    return dressed(names, rows, how, truth, decimal, rng)


def dressed(
    names: list[str],
    rows: list[list[str]],
    how: dict[str, Any],
    truth: list[list[Any]],
    decimal: str,
    rng: np.random.Generator,
) -> KnownTable:
    """Write a table in one of the ways in which tables are written."""
    mark = one(rng, [",", ",", ";", "\t", "|"] if decimal == "." else [";", "\t", "|"])
    ends = one(rng, ["\n", "\n", "\r\n"])
    header = rng.random() < 0.7
    quoting = one(rng, [csv.QUOTE_MINIMAL, csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
    if len(names) == 1 and any(re.search(r"[,;|\t ]", cell) for row in rows for cell in row):
        # Without quotes nobody can tell that these are no marks between cells.
        quoting = csv.QUOTE_ALL
    out = io.StringIO()
    writer = csv.writer(out, delimiter=mark, lineterminator=ends, quoting=quoting)
    writer.writerows([names, *rows] if header else rows)
    text = out.getvalue()
    if rng.random() < 0.2:
        text = f"# made by the campaign{ends}" + text
    if rng.random() < 0.1:
        text = text.rstrip("\r\n")
    if not header:
        how |= {key: names.index(how[key]) for key in ("column", "time", "by") if key in how}
        if rng.random() < 0.7:
            how["header"] = False
    elif rng.random() < 0.2:
        how |= {key: names.index(how[key]) for key in ("column", "time", "by") if key in how}
        if rng.random() < 0.5:
            how["header"] = True
    if rng.random() < 0.2:
        how["delimiter"] = mark
    if decimal == ",":
        how["decimal"] = ","
    data = text.encode(one(rng, ["utf-8", "utf-8", "utf-8-sig", "utf-16"]))
    file = one(rng, ["known.csv", "known.txt", "known.tsv"])
    if rng.random() < 0.2:
        data, file = gzip.compress(data, mtime=0), file + ".gz"
    return KnownTable(data, file, how, truth)


def flat(series: Any) -> list[Any]:
    """The values of series, one after the other, None where one is missing."""
    parts = series if isinstance(series, list) else [series]
    return [None if value is None or value != value else value for part in parts for value in list(part)]


def takes_for_names(told: list[Any]) -> bool:
    """Whether it was told that the first row is taken for names, as it may be where all of its cells are words."""
    return any("is taken for the names of its columns" in str(warning.message) for warning in told)


def is_without_one(result: list[Any], expected: list[Any]) -> bool:
    return any(result == expected[:row] + expected[row + 1 :] for row in range(len(expected)))


def table_input(found: Found, rng: np.random.Generator) -> None:
    """A table of known content through `ds.read`."""
    table = known_table(rng)
    Path(table.file).write_bytes(table.data)
    expected = [value for part in table.truth for value in part]
    line = f"ds.read({table.file!r}, {', '.join(f'{k}={v!r}' for k, v in table.how.items())})"

    def run() -> None:
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            result = flat(eval(line, namespace()))
        for warning in told:
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
        must(
            result == expected or (takes_for_names(told) and is_without_one(result, expected)),
            f"{len(result)} values are not the {len(expected)} that were written: {result[:6]} for {expected[:6]}",
        )

    attempt(found, f"{line}  # {table.file} = {table.data!r}", run, lambda text: True)


OPTIONS_OF = {
    "column": "--column",
    "time": "--time",
    "by": "--by",
    "delimiter": "--delimiter",
    "decimal": "--decimal",
}


def table_command(found: Found, rng: np.random.Generator) -> None:
    """A table of known content through `decisional symbols` or `signal`: the letters of the machine, the labels."""
    table = known_table(rng)
    Path(table.file).write_bytes(table.data)
    name = table.how["kind"]
    argv = [name, table.file, "--past", "1", "--quiet", "--labels", "known_labels.csv"]
    for key, option in OPTIONS_OF.items():
        if key in table.how:
            argv += [option, str(table.how[key])]
    if "header" in table.how:
        argv += ["--header", "yes" if table.how["header"] else "no"]
    argv += ["--json", "known.json"] if name == "symbols" else []
    for file in ("known.json", "known_labels.csv"):
        Path(file).unlink(missing_ok=True)
    values = [value for part in table.truth for value in part]

    def look() -> None:
        import pandas as pd

        rows = pd.read_csv("known_labels.csv")
        must(len(rows) == len(values), f"{len(rows)} labels of {len(values)} rows")
        if name == "symbols":
            letters = set(json.loads(Path("known.json").read_text())["alphabet"])
            must(
                letters <= {v for v in values if v is not None}, f"letters {sorted(letters)} that are not in the column"
            )

    run_command(found, argv, rng, f"  # {table.file} = {table.data!r}", look)


WORDS_OF_COMMANDS = ["", "9" * 30, "\udc80"]
WORDS_OF_COMMANDS += """
x -1 0 1 2 1.5 nan inf 1e999 auto - -- in.csv in.txt in.npy in.png in.json monitor.json nowhere/x.json out.json
out.png out.html out.npy out.csv /dev/null . b time c zero-one utility.csv even é tolerant:x tolerant:nan
squared-error p=0.3 p=x p=2 local decision
""".split()  # noqa: SIM905
BEGINNINGS = """
symbols in.txt
symbols in.csv --column b
symbols in.npy
symbols -
signal in.csv --column c
signal in.npy
field in.npz
field in.png --levels 2
image in.png
image in.npz --key b
decide in.json --utility zero-one
decide states.json --utility utility.csv --events in.txt
watch monitor.json
watch in.json --utility zero-one
watch monitor.json --state state.json --out events.jsonl
simulate even -n 50
cssr in.txt in.txt 2 --out cssr
symbols

""".split("\n")[1:]  # noqa: SIM905


@cache
def options() -> dict[str, list[str]]:
    """The options of each command, as the parser has them."""
    from decisional.cli.program import parser

    commands = next(action for action in parser()._actions if isinstance(action, argparse._SubParsersAction))
    skipped = {"--cluster", "--help", "-h"}
    return {
        name: [o for action in one_of._actions for o in action.option_strings if o not in skipped]
        for name, one_of in commands.choices.items()
    }


def random_command(found: Found, rng: np.random.Generator) -> None:
    """A command with any options, right or wrong."""
    argv = one(rng, BEGINNINGS).split()
    known = options().get(argv[0] if argv else "", ["--version"])
    for _ in range(int(rng.integers(0, 4))):
        argv.append(one(rng, known))
        if rng.random() < 0.8:
            argv.append(one(rng, WORDS_OF_COMMANDS))
    if argv and rng.random() < 0.3:
        argv[int(rng.integers(len(argv)))] = one(rng, WORDS_OF_COMMANDS)
    for file in ("state.json", "events.jsonl"):
        Path(file).unlink(missing_ok=True)
    run_command(found, argv, rng, "", lambda: None)


def run_command(found: Found, argv: list[str], rng: np.random.Generator, more: str, look: Callable[[], None]) -> None:
    """Run a command, here or as a process: it must end with 0, or with 2 and one sentence on standard error."""
    given = rng.bytes(20) if rng.random() < 0.1 else text(6 * int(rng.integers(50)), 60).encode()
    here = rng.random() > 1 / PROCESSES and "\udc80" not in argv

    def run() -> None:
        status, said = (in_process if here else as_process)(argv, given)
        lines = [line for line in said.splitlines() if line]
        if "Traceback" in said:
            raise Wrong(f"traceback on the command line: {lines[-1]}")
        must(status in (0, 2), f"exit status {status}: {said[-200:]}")
        must(all(line.startswith("decisional: ") for line in lines), f"lines that are not ours: {lines[:1]}")
        must(status == 0 or len(lines) >= 1, "refused without a sentence")
        must(status == 0 or lines[-1].endswith((".", ">")), f"no sentence: {lines[-1:]}")
        if status == 0:
            look()
        else:
            found.refused += 1

    command = " ".join(json.dumps(word, ensure_ascii=True) for word in argv)
    attempt(found, f"{'here' if here else 'process'}: decisional {command} < {given!r}{more}", run)


def in_process(argv: list[str], given: bytes) -> tuple[int, str]:
    """Exit status and standard error of a command that runs in this process."""
    stdin, out, err = io.TextIOWrapper(io.BytesIO(given)), io.TextIOWrapper(io.BytesIO()), io.StringIO()
    before = sys.stdin
    sys.stdin = stdin
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                status: Any = command_line(argv)
            except SystemExit as leave:
                status = leave.code or 0
    finally:
        sys.stdin = before
    return int(status), err.getvalue()


def as_process(argv: list[str], given: bytes) -> tuple[int, str]:
    words = [word.encode("utf-8", "surrogateescape") for word in argv]
    done = subprocess.run([sys.executable, "-m", "decisional", *words], input=given, capture_output=True, check=False)
    return done.returncode, done.stderr.decode(errors="replace")


def shell_input(found: Found, rng: np.random.Generator) -> None:
    """One table of known content, or one command."""
    one(rng, [table_input, table_input, table_input, table_command, random_command])(found, rng)


# Faults


def by_several_threads(s: int) -> None:
    """A monitor that is fed by several threads at once loses no symbol."""
    follower, data = ds.Monitor(ds.DecisionalStates(ds.utility.zero_one()).fit(ds.processes.even())), text(6 * s, 300)
    threads = [
        threading.Thread(target=lambda: [follower.feed(data[lo : lo + 7]) for lo in range(0, 300, 7)]) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    must(follower.position == 4 * 300, f"{follower.position} symbols of {4 * 300}")


def interrupted_save(s: int) -> None:
    """A save that fails leaves the earlier file as it was, and no other."""
    Path("kept").mkdir(exist_ok=True)
    path = f"kept/{s}.json"
    machine(1).save(path)
    before = Path(path).read_bytes()
    replace, at = os.replace, ("replace", "fsync")[s % 2]
    real = getattr(os, at)

    def fail(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    setattr(os, at, fail)
    try:
        machine(2).save(path)
    except OSError:
        pass
    finally:
        setattr(os, at, real)
    must(Path(path).read_bytes() == before, "a save that failed changed the file")
    must(os.replace is replace and not list(Path("kept").glob(f".{s}.json*")), "a save that failed left a file")


def odd_paths(s: int) -> None:
    """Folders, devices, pipes, links that lead nowhere, names that are too long."""
    Path("folder").mkdir(exist_ok=True)
    for name, target in (("loop", "loop"), ("nowhere", "absent/file")):
        if not os.path.islink(name):
            os.symlink(target, name)
    path = ("folder", "/dev/full", "loop", "nowhere", "a" * 300, "in.txt/x", "folder/", "")[s % 8]
    calls: tuple[Callable[[], Any], ...] = (
        lambda: machine(1).save(path),
        lambda: monitor(1).save(path),
        lambda: ds.read(path),
        lambda: ds.EpsilonMachine.load(path),
        lambda: ds.Monitor.load(path),
        lambda: ds.report.write(path, title="a", asked={}, command="b", machine=machine(1)),
        lambda: ds.write_values(causal(1), path),
        lambda: ds.plot.save(ds.plot.machine(machine(1)), path),
        lambda: ds.plot.animate(np.zeros((3, 4, 5), np.uint8), path),
        lambda: ds.utility.read_utility(path, [0, 1]),
    )
    call = s // 8 % len(calls)
    # What is read from this device has no end.
    if path != "/dev/full" or call not in (2, 3, 4, 9):
        calls[call]()


def pipes(s: int) -> None:
    """A named pipe is read to its end."""
    for name in ("pipe", "pipe.csv"):
        Path(name).unlink(missing_ok=True)
        os.mkfifo(name)
    name, data = (
        ("pipe", text(s) + "\n") if s % 2 else ("pipe.csv", "a,b\n" + "\n".join(f"{k},{k % 2}" for k in range(30)))
    )

    def write() -> None:
        with contextlib.suppress(BrokenPipeError), open(name, "w") as file:
            file.write(data)

    thread = threading.Thread(target=write, daemon=True)
    thread.start()
    found = ds.read(name) if s % 2 else ds.read(name, column="b")
    thread.join(5)
    if s % 2:
        must(list(found) == [data.strip()], "another text came out of a pipe than went in")
    else:
        must(list(found) == [k % 2 for k in range(30)], "another column came out of a pipe than went in")


def lost_executor(s: int) -> None:
    """An executor that was shut down, or whose work fails."""
    pool = ThreadPoolExecutor(1)
    pool.shutdown()
    ds.CausalStates().fit(ds.observe.series(text(s), 2), executor=pool)


def closed_streams(s: int) -> None:
    """A command whose standard input or output is closed, or a full device."""
    how = ("<&-", ">&-", "2>&-", ">/dev/full", "</dev/null", "| true")[s % 6]
    what = (
        "symbols in.txt --past 2",
        "watch monitor.json < in.txt",
        "simulate even -n 100",
        "symbols -",
        "decide in.json --utility zero-one",
    )[s // 6 % 5]
    command = f"{sys.executable} -m decisional {what} {how}"
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command], capture_output=True, input=text(0, 50).encode(), check=False
    )
    must(b"Traceback" not in done.stderr, f"traceback: {done.stderr.splitlines()[-1:]}")
    must(done.returncode in (0, 2), f"exit status {done.returncode}: {done.stderr[-200:]!r}")


def killed_watch(s: int) -> None:
    """`watch` that is killed anywhere goes on without a lost or repeated event."""
    data = text(6 * s, 3000)
    whole = [json.dumps(json.loads(line)["position"]) for line in watched(data, "whole", None)]
    for name in ("cut.state", "cut.out"):
        Path(name).unlink(missing_ok=True)
    watched(data, "cut", 0.25 + s % 20 / 40)
    found = [json.dumps(json.loads(line)["position"]) for line in watched(data, "cut", None)]
    must(found == whole, f"{len(found)} events of {len(whole)} after kill -9")


def watched(data: str, name: str, seconds: float | None) -> list[str]:
    """Events in the file of a `watch` that reads symbols slowly, killed after some seconds."""
    if name == "whole":
        for file in ("whole.state", "whole.out"):
            Path(file).unlink(missing_ok=True)
    command = [
        sys.executable,
        "-m",
        "decisional",
        "watch",
        "monitor0.json",
        "--state",
        f"{name}.state",
        "--out",
        f"{name}.out",
        "--skip-seen",
        "--quiet",
    ]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdin is not None
    begin = time.perf_counter()
    with contextlib.suppress(BrokenPipeError):
        for lo in range(0, len(data), 300):
            process.stdin.write(data[lo : lo + 300].encode())
            process.stdin.flush()
            if seconds is not None:
                time.sleep(0.05)
                if time.perf_counter() - begin > seconds:
                    process.kill()
                    break
        process.stdin.close()
    process.wait()
    return Path(f"{name}.out").read_text().splitlines() if Path(f"{name}.out").exists() else []


def no_cache(s: int) -> None:
    """Kernels where their cache cannot be written, and where there is no home."""
    code = f"import decisional as ds; print(ds.CausalStates().fit(ds.observe.series({text(s)!r}, 2)).n_states_)"
    environment = {**os.environ, "NUMBA_CACHE_DIR": ("/proc/none", "/dev/null/x")[s % 2], "HOME": "/nonexistent"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, check=False, text=True)
    must(done.returncode == 0, f"without a cache: {done.stderr.splitlines()[-1:]}")
    must(int(done.stdout) == fitted(text(s), 2).n_states_, "without a cache: another number of states")


# How often each is tried: processes take their time.
FAULTS: tuple[tuple[Callable[[int], None], int], ...] = (
    (by_several_threads, 20),
    (interrupted_save, 30),
    (odd_paths, 150),
    (pipes, 40),
    (lost_executor, 10),
    (closed_streams, 12),
    (killed_watch, 2),
    (no_cache, 1),
)


def faults_input(found: Found, rng: np.random.Generator) -> None:
    """One fault."""
    shares = np.array([share for _, share in FAULTS], float)
    fault, s = FAULTS[int(rng.choice(len(FAULTS), p=shares / shares.sum()))][0], int(rng.integers(1, 10_000))
    if fault is killed_watch and not Path("monitor0.json").exists():
        ds.Monitor(ds.DecisionalStates(ds.utility.zero_one()).fit(ds.processes.even())).save("monitor0.json")
    attempt(found, f"{fault.__name__}({s})", lambda: fault(s))


# The campaign


INPUTS = {
    "api": api_input,
    "files": files_input,
    "relations": relations_input,
    "shell": shell_input,
    "faults": faults_input,
}


def run_slice(part: str, seed: int, start: int, stop: int) -> Found:
    """Inputs of a part by number, in a folder of their own."""
    faulthandler.enable()
    found, before = Found(part), os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                write_files()
            for number in range(start, stop):
                INPUTS[part](found, np.random.default_rng([seed, list(INPUTS).index(part), number]))
        finally:
            os.chdir(before)
    return found


def campaign(inputs: int, seed: int, parts: list[str], jobs: int) -> dict[str, Found]:
    """What is found in each part."""
    total = sum(SHARES[part] for part in parts)
    sizes = {part: max(1, round(inputs * SHARES[part] / total)) for part in parts}
    cuts = [(part, seed, lo, min(n, lo + 250)) for part, n in sizes.items() for lo in range(0, n, 250)]
    found = {part: Found(part) for part in parts}
    if jobs == 1:
        for cut in cuts:
            found[cut[0]].add(run_slice(*cut))
        return found
    with ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn"), initializer=limit_memory) as pool:
        for cut, future in [(cut, pool.submit(run_slice, *cut)) for cut in cuts]:
            try:
                found[cut[0]].add(future.result())
            except BrokenProcessPool:
                found[cut[0]].findings.append(("more than 200 s, or killed", f"among the inputs {cut}"))
    return found


def limit_memory() -> None:
    """An input that asks for all memory there is must not stop the machine."""
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def table(found: dict[str, Found]) -> list[str]:
    """Rows of inputs and findings by part."""
    kinds = ("silent", "traceback", "unclear", "warning", "more than")
    rows = [
        "| part | inputs | refused with a sentence | silent | tracebacks | unclear | warnings | hangs | known |",
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    whole = Found("all")
    for part in found.values():
        whole.add(part)
    for part in [*found.values(), whole]:
        counts = Counter(next(kind for kind in kinds if what.startswith(kind)) for what, _ in part.findings)
        numbers_of_part = [part.tried, part.refused, *(counts[kind] for kind in kinds), part.known]
        rows.append(f"| {part.part} | {' | '.join(f'{n:,}' for n in numbers_of_part)} |")
    return rows


def main() -> int:
    """Run the campaign, print and write what was found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--inputs", type=int, default=20_000, help="how many inputs are tried (default: 20000)")
    parser.add_argument("--seed", type=int, default=1, help="of the random numbers (default: 1)")
    parser.add_argument("--part", choices=list(INPUTS), action="append", help="only this part")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes (default: one on each core)")
    parser.add_argument("--line", help="run one line of a finding and show what comes of it")
    given = parser.parse_args()
    if given.line is not None:
        print(repr(eval(given.line, namespace())))
        return 0
    begin = time.perf_counter()
    found = campaign(given.inputs, given.seed, given.part or list(INPUTS), given.jobs)
    seconds = time.perf_counter() - begin
    rows = table(found)
    print("\n".join(rows))
    for part in found.values():
        for what, line in part.findings:
            print(f"{part.part}: {what}: {line}")
    if given.part is None:
        write_page(rows, found, given, seconds)
    return int(any(part.findings for part in found.values()))


def write_page(rows: list[str], found: dict[str, Found], given: argparse.Namespace, seconds: float) -> None:
    known = found["relations"].known
    text = f"""# Campaign

Written by `make bench`; see `campaign.py` for what is tried, and for what counts as a finding. Seed {given.seed},
{len(public_calls())} public calls and {len(properties())} attributes, {seconds / 60:.0f} minutes on {given.jobs} cores.

{chr(10).join(rows)}

Known: in {known} inputs {KNOWN}, were others. Everything else that must not change a result did not.
"""
    (Path(__file__).parent / "campaign.md").write_text(text)


if __name__ == "__main__":
    sys.exit(main())
