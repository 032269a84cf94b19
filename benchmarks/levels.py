"""Machines of signals: how often they are the true ones, which signals are refused, and events of a monitor.

Machines: Even and Golden Mean with symbols at 0 and 1 and normal noise, 2,000 values; the share that is isomorphic to
the truth. Continua: the systems of systems.py without levels, and noise; the share that is refused. Events: two
regimes at 0 and 1 that a machine was found in, 3,000 new values; changes of regime with just one event before the next
change, those that the monitor did not tell or told more than once, and events too many. Short regimes are hidden by the
noise, and count as changes all the same. Speed: values that a monitor takes in a second, and memory over 10**7 of them.

Seeds below 1000 were used to make the rules; what is written to benchmarks/levels.md begins at 33000.
"""

import resource
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from systems import CONTINUA

import decisional as ds

FIRST, SEEDS, N = 33_000, 20, 2000
# Signals that events are counted in.
WATCHED = 100
NOISES, PROCESSES = (0.1, 0.3), ("even", "golden_mean")
REFUSED = 3
# Spread of the noise, and probability to stay.
REGIMES = ((0.1, 0.98), (0.2, 0.98), (0.3, 0.98), (0.3, 0.99))
LONG, AT_ONCE = 10**7, 10**6


def found(values: np.ndarray) -> Any:
    """The machine, or None where there is none."""
    try:
        return ds.epsilon_machine(values)
    except ValueError:
        return None


def machines() -> list[str]:
    lines = ["| process | noise | right machines |", "|---|--:|--:|"]
    for name in PROCESSES:
        truth = getattr(ds.processes, name)()
        for sd in NOISES:
            right = 0
            for seed in range(FIRST, FIRST + SEEDS):
                rng = np.random.default_rng(seed)
                machine = found(truth.simulate(N, rng=rng) + sd * rng.normal(size=N))
                right += machine is not None and machine.is_isomorphic(truth, atol=0.1)
            lines.append(f"| {name} | {sd:g} | {right} of {SEEDS} |")
            print(lines[-1], flush=True)
    return lines


def continua() -> list[str]:
    lines = ["| continuum | refused |", "|---|--:|"]
    kinds = {name: system.make for name, system in CONTINUA.items()}
    kinds |= {"noise": lambda n, rng: (rng.normal(size=n), None)}
    for name, make in kinds.items():
        seeds = range(FIRST, FIRST + REFUSED)
        refused = sum(found(make(N, np.random.default_rng(seed))[0]) is None for seed in seeds)
        lines.append(f"| {name} | {refused} of {REFUSED} |")
        print(lines[-1], flush=True)
    return lines


def regimes(n: int, seed: int, sd: float, stay: float) -> tuple[np.ndarray, np.ndarray]:
    """Two regimes at 0 and 1, and the signal."""
    rng = np.random.default_rng(seed)
    regime = np.cumsum(rng.random(n) > stay) % 2
    return regime, regime + sd * rng.normal(size=n)


def watched(sd: float, stay: float) -> Any:
    machine = ds.epsilon_machine(regimes(N, FIRST, sd, stay)[1])
    return ds.DecisionalStates(ds.utility.alarm(0.5, missed=1, false=1)).fit(machine)


def events() -> list[str]:
    lines = ["| noise | stays | changes | one event | none | events too many |", "|--:|--:|--:|--:|--:|--:|"]
    for sd, stay in REGIMES:
        choice, told = watched(sd, stay), list[int]()
        for seed in range(FIRST + 100, FIRST + 100 + WATCHED):
            regime, values = regimes(3000, seed, sd, stay)
            at = [event.position for event in ds.Monitor(choice).feed(values) if event.before >= 0]
            change = np.flatnonzero(np.diff(regime)) + 1
            told += np.histogram(at, [*change, 3000])[0].tolist()
        one, many = np.mean(np.array(told) == 1), int(np.maximum(np.array(told) - 1, 0).sum())
        lines.append(f"| {sd:g} | {stay:g} | {len(told)} | {one:.1%} | {told.count(0)} | {many} |")
        print(lines[-1], flush=True)
    return lines


def speed() -> list[str]:
    monitor, values = ds.Monitor(watched(0.2, 0.98)), regimes(AT_ONCE, 5, 0.2, 0.98)[1]
    monitor.feed(values[:1000])
    before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.perf_counter()
    for _ in range(LONG // AT_ONCE):
        monitor.feed(values)
    seconds, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    text = (
        f"{LONG:,} values: {LONG / seconds:,.0f} in a second, {(after - before) / 1024:.0f} MB more than before them."
    )
    print(text)
    return [text]


def main() -> None:
    lines = ["# Machines of signals", "", f"Written by `benchmarks/levels.py`; seeds from {FIRST}."]
    for table in (machines, continua, events, speed):
        lines += ["", *table()]
    Path(__file__).with_suffix(".md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    sys.exit(main())
