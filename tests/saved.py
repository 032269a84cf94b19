"""Files of an earlier version, and what they must give when they are loaded.

`python tests/saved.py --write` writes them anew, which is only right after a deliberate change of the formats.
"""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import decisional as ds
import reference

FOLDER = Path(__file__).parent / "answers" / "saved"
EXPECTED = FOLDER / "expected.json"

EVEN = [("A", 0, "A", 0.5), ("A", 1, "B", 0.5), ("B", 1, "A", 1.0)]


def even(zero: Any, one: Any) -> ds.EpsilonMachine:
    """The Even process with other symbols."""
    return ds.EpsilonMachine([(a, (zero, one)[s], b, p) for a, s, b, p in EVEN])


def choose(machine: Any, utility: Any = None, **options: Any) -> ds.DecisionalStates:
    return ds.DecisionalStates(ds.utility.zero_one() if utility is None else utility, **options).fit(machine)


def bump(y: Any, z: Any) -> Any:
    return np.exp(-(((y - z) / 0.05) ** 2))


# Machines


def transient() -> ds.EpsilonMachine:
    """States of data, the unsynchronised one too, with their weights."""
    return ds.CausalStates().fit(ds.observe.series(ds.processes.even().simulate(5_000, rng=1), past=5)).machine_


def of_bytes() -> ds.EpsilonMachine:
    symbols = "".join(map(str, ds.processes.golden_mean().simulate(3_000, rng=2))).encode()
    return ds.CausalStates().fit(ds.observe.series(symbols, past=3)).machine_


MACHINES: dict[str, Callable[[], ds.EpsilonMachine]] = {
    "even": ds.processes.even,
    "mixed": lambda: even("b", 1),
    "floats": lambda: even(0.1, 1 / 3),
    "bools": lambda: even(False, True),
    "words": lambda: ds.EpsilonMachine([("day", "sun", "day", 0.7), ("day", "näß", 3, 0.3), (3, "sun", "day", 1.0)]),
    "transient": transient,
    "bytes": of_bytes,
    "learnt": lambda: ds.epsilon_machine(ds.processes.nemo().simulate(3_000, rng=3)),
    "random": lambda: ds.processes.random_machine(12, 5, rng=4),
}


def of_machine(machine: ds.EpsilonMachine) -> dict[str, Any]:
    """What a loaded machine gives."""
    symbols = machine.simulate(300, rng=5)
    return {
        "machine": reference.machine(machine),
        "simulated": reference.named(symbols.tolist()),
        "filter": machine.filter(symbols.tolist()),
        "log2 p": machine.log_likelihood(symbols.tolist()),
        "text": repr(machine),
    }


# Monitors


def stream(n: int, seed: int, letters: tuple[Any, Any] = (0, 1), process: Any = None) -> list[Any]:
    machine = ds.processes.even() if process is None else process
    return [letters[k] for k in machine.simulate(n, rng=seed)]


def monitor(decision: Any, fed: list[Any], **options: Any) -> ds.Monitor:
    """A monitor in the middle of a stream."""
    found = ds.Monitor(decision, **options)
    found.feed(fed)
    return found


def drifted(n: int, adapt: ds.Adapt, utility: Any = None) -> ds.Monitor:
    """A monitor that has seen the Even process, then the Golden Mean."""
    symbols = stream(2_500, 6) + stream(n, 7, process=ds.processes.golden_mean())
    return monitor(choose(ds.processes.even(), utility), symbols, adapt=adapt)


TABLE = ds.utility.table([[0, 1], [0, 1], [2, 0]], y=["in", ("a", 1), None])
MONITORS: dict[str, Callable[[], ds.Monitor]] = {
    "plain": lambda: monitor(choose(ds.processes.even()), stream(200, 8)),
    "fresh": lambda: ds.Monitor(choose(ds.processes.nemo())),
    "unsynchronised": lambda: monitor(choose(ds.processes.even()), [0, 1, None, 1, 1]),
    "options": lambda: monitor(
        choose(ds.processes.even(), ds.utility.table([[0, 0], [-3, 1]])),
        stream(50, 9),
        level=0.5,
        impossible="stay",
        missing="stay",
    ),
    "refusing": lambda: monitor(
        choose(ds.processes.even()), stream(50, 9), by="utility", impossible="raise", missing="raise"
    ),
    "infinite level": lambda: monitor(choose(ds.processes.even()), stream(20, 9), level=float("inf")),
    "mixed": lambda: monitor(choose(even("b", 1)), stream(40, 10, ("b", 1))),
    "tuples": lambda: monitor(choose(even((0, "x"), (1, "y"))), stream(40, 11, ((0, "x"), (1, "y")))),
    "table": lambda: monitor(choose(even(0.5, 1.5), TABLE), stream(40, 12, (0.5, 1.5)), by="prediction"),
    "interval": lambda: monitor(choose(even(0.1, 1 / 3), ds.utility.absolute_error()), stream(40, 13, (0.1, 1 / 3))),
    "squared": lambda: monitor(choose(ds.processes.even(), ds.utility.squared_error()), stream(40, 13)),
    "tolerant": lambda: monitor(choose(ds.processes.even(), ds.utility.tolerant(0.2)), stream(40, 13)),
    "cells": lambda: monitor(
        choose(even((0, 1), (1, 1)), ds.utility.matching_cells()), stream(40, 14, ((0, 1), (1, 1)))
    ),
    "text cells": lambda: monitor(choose(even("ab", "bb"), ds.utility.matching_cells()), stream(40, 15, ("ab", "bb"))),
    "points": lambda: monitor(
        choose(even(0.25, 0.75), bump, optimise=ds.utility.GlobalMaxima(bounds=[(0, 1)])),
        stream(40, 16, (0.25, 0.75)),
    ),
    "from data": lambda: monitor(choose(ds.CausalStates().fit(ds.observe.series(stream(4_000, 17), past=5))), [1, 1]),
    "adapting": lambda: drifted(0, ds.Adapt()),
    "learning": lambda: drifted(300, ds.Adapt()),
    "relearnt": lambda: drifted(2_500, ds.Adapt()),
    "window": lambda: drifted(1_500, ds.Adapt(window=1_000, alpha=1e-6)),
    "forgetting": lambda: drifted(2_500, ds.Adapt(forget=1_000, refit_after=500)),
    "adapting table": lambda: drifted(2_500, ds.Adapt(window=2_000), ds.utility.table([[0, 0], [-3, 1]])),
    "adapting loss": lambda: drifted(2_500, ds.Adapt(window=2_000), ds.utility.loss([[0, 1], [2, 0]])),
    "adapting absolute": lambda: drifted(2_500, ds.Adapt(window=2_000), ds.utility.absolute_error()),
    "adapting squared": lambda: drifted(2_500, ds.Adapt(window=2_000), ds.utility.squared_error(y=[0, 0.5, 1])),
}


def of_monitor(monitor: ds.Monitor) -> dict[str, Any]:
    """What a loaded monitor gives when the stream goes on."""
    before = reference.standing(monitor)
    letters = monitor.machine.alphabet
    odd = [letters[k] for k in (1, 0, 1, 1, 0, 1, 1, 1, 1, 0)]
    if monitor.impossible != "raise":
        # What adapts would learn the foreign symbol, for which a table has no column.
        odd += [*([] if monitor.adapts else ["?"]), None, *[letters[1]] * 3, letters[0]]
    fed = [letters[k] for k in ds.processes.even().simulate(300, rng=18)]
    answer = {
        "before": before,
        "options": repr((monitor.by, monitor.level, monitor.impossible, monitor.missing)),
        "adapts": [monitor.adapts, monitor.learning],
    }
    if monitor.impossible == "raise":
        monitor.gap()
    answer["odd"] = reference.happenings(monitor.feed(odd))
    answer["then"] = reference.standing(monitor)
    if monitor.impossible == "raise":
        monitor.gap()
    answer["even"] = reference.happenings(monitor.feed(fed))
    if monitor.adapts:
        symbols = [letters[k] for k in ds.processes.noisy_period_2().simulate(3_000, rng=19)]
        answer["period"] = reference.happenings(monitor.feed(symbols))
    answer["after"] = reference.standing(monitor)
    return answer


def files() -> dict[str, tuple[Callable[[Any], Any], Callable[[Any], dict[str, Any]]]]:
    """How each file is loaded, and what is asked of it, by the name of the file."""
    found: dict[str, Any] = {}
    for name in MACHINES:
        found[f"machine_{name}.json".replace(" ", "_")] = ds.EpsilonMachine.load, of_machine
    for name in MONITORS:
        found[f"monitor_{name}.json".replace(" ", "_")] = ds.Monitor.load, of_monitor
    return found


def answers(name: str) -> Any:
    """What a file gives, in plain values."""
    load, ask = files()[name]
    return reference.plain(ask(load(FOLDER / name)))


def write() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, make in MACHINES.items():
        make().save(FOLDER / f"machine_{name}.json".replace(" ", "_"))
    for name, make_monitor in MONITORS.items():
        make_monitor().save(FOLDER / f"monitor_{name}.json".replace(" ", "_"))
    expected = {name: answers(name) for name in files()}
    EXPECTED.write_text(json.dumps(expected, ensure_ascii=False, separators=(",", ":")) + "\n")
    print(f"{len(expected)} files, {sum(path.stat().st_size for path in FOLDER.iterdir()):,} bytes")


if __name__ == "__main__":
    if sys.argv[1:] != ["--write"]:
        sys.exit("usage: python tests/saved.py --write")
    write()
