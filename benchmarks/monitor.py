"""Symbols per second of the monitor, one at a time and in chunks, next to batch filtering; and streams that drift.

Prints a table and writes it to benchmarks/monitor.md. Times are the best of several runs after warm-up; the column
"x filter" is the ratio to `machine.filter` over the same symbols in the same run, and is what to compare between
machines. Two more tables are for `adapt`: changes told of stationary processes, by machines that are exact or fitted,
which must be none where the machine is right; and how soon changes are told, and machines right, after a change.
"""

import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import decisional as ds

N = 1_000_000
CHUNK = 10_000
PUSHED = 100_000  # of the symbols, one at a time
ASKED = {"one at a time": 1e5, "in chunks": 1e6, "in chunks, adapt": 3e6}
STATIONARY = 10  # times N symbols of each process
FITTED = (1_000, 10_000)
REPEATS = 10  # streams of each kind, fewer where N is small


def best(run: Callable[[], object], repeats: int = 5) -> float:
    """Seconds of the fastest run."""
    run()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times)


def push(decision: ds.DecisionalStates, symbols: list[Any], adapt: ds.Adapt | None = None) -> int:
    monitor = ds.Monitor(decision, adapt=adapt)
    return sum(monitor.push(symbol) is not None for symbol in symbols)


def feed(decision: ds.DecisionalStates, symbols: Any, adapt: ds.Adapt | None = None) -> int:
    monitor = ds.Monitor(decision, adapt=adapt)
    return sum(len(monitor.feed(symbols[lo : lo + CHUNK])) for lo in range(0, len(symbols), CHUNK))


def streams() -> dict[str, tuple[ds.EpsilonMachine, Any]]:
    """Machines and symbols: arrays, lists, gaps, and states that never get known."""
    even = ds.processes.even()
    symbols = even.simulate(N, rng=1)
    gaps = symbols.astype(float)
    gaps[::100] = np.nan
    # No word tells the two states apart: the belief is updated at every symbol.
    rows = [("A", 0, "A", 0.5), ("A", 1, "B", 0.5), ("B", 0, "B", 0.5), ("B", 1, "A", 0.5)]
    hidden = ds.EpsilonMachine(rows)
    large = ds.processes.random_machine(100, 4, rng=1)
    return {
        "Even, array": (even, symbols),
        "Even, list": (even, symbols.tolist()),
        "Even, text": (even, "".join(map(str, symbols.tolist()))),
        "Even, floats, 1 % gaps": (even, gaps),
        "100 states, array": (large, large.simulate(N, rng=1)),
        "never synchronised, array": (hidden, hidden.simulate(N, rng=1)),
    }


def turns(machine: ds.EpsilonMachine, symbols: Any, adapt: ds.Adapt) -> list[Any]:
    """What a monitor tells beside decisions."""
    monitor = ds.Monitor(ds.DecisionalStates(ds.utility.zero_one()).fit(machine), adapt=adapt)
    found: list[Any] = []
    for lo in range(0, len(symbols), 1 << 20):
        found += [part[0] for part in monitor.feed(symbols[lo : lo + (1 << 20)]).parts if isinstance(part, list)]
    return found


def fitted(machine: ds.EpsilonMachine, n: int) -> ds.EpsilonMachine:
    """The machine learnt from n symbols."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ds.epsilon_machine(machine.simulate(n, rng=1))


def repeats() -> int:
    """Streams of each kind that drift."""
    return max(1, min(REPEATS, N // 100_000))


def processes() -> dict[str, ds.EpsilonMachine]:
    """Processes that do not change."""
    p = ds.processes
    known = {"even": p.even(), "golden mean": p.golden_mean(), "nemo": p.nemo(), "rrxor": p.rrxor(), "coin": p.coin()}
    known |= {
        "4 states, 2 symbols": p.random_machine(4, 2, rng=1),
        "8 states, 3 symbols": p.random_machine(8, 3, rng=2),
    }
    return known


def stationary() -> list[str]:
    """Changes told of processes that do not change."""
    n = STATIONARY * N
    lines = [
        "| process | machine | symbols | right machine | changes, window | changes, forget |",
        "|---|---|--:|---|--:|--:|",
    ]
    for name, process in processes().items():
        symbols = process.simulate(n, rng=0)
        for kind, machine in [("exact", process), *((f"from {m:.0e}", fitted(process, m)) for m in FITTED)]:
            told = [turns(machine, symbols, adapt) for adapt in (ds.Adapt(), ds.Adapt(forget=20_000))]
            counts = [str(sum(isinstance(e, ds.Change) for e in found)) for found in told]
            right = "yes" if machine.is_isomorphic(process, atol=1.0) else "no"
            lines.append("| " + " | ".join([name, kind, f"{n:.0e}", right, *counts]) + " |")
            print(lines[-1], flush=True)
    return lines


def drifts() -> dict[str, tuple[ds.EpsilonMachine, ...]]:
    """Processes that follow each other."""
    p = ds.processes
    return {
        "Even, Golden Mean, Even": (p.even(), p.golden_mean(), p.even()),
        "Even, 0.5 to 0.3": (p.even(), p.even(0.3)),
        "coin, Even": (p.coin(), p.even()),
        "Golden Mean, noisy period 2": (p.golden_mean(), p.noisy_period_2()),
        "coin, RRXOR": (p.coin(), p.rrxor()),
        "Nemo, RRXOR, Nemo": (p.nemo(), p.rrxor(), p.nemo()),
        "Even, 8 states of 3 symbols": (p.even(), p.random_machine(8, 3, rng=2)),
    }


def drifting() -> list[str]:
    """How soon changes are told, and whether the machines that follow are right, at first and in the end."""
    n = min(20_000, max(5_000, N // 50))
    lines = [
        "| change | told after, median | most | refit after | right at first | in the end |",
        "|---|--:|--:|--:|--:|--:|",
    ]
    for name, parts in drifts().items():
        told, learnt, first, last = [], [], [], []
        for seed in range(repeats()):
            symbols = np.concatenate([part.simulate(n, rng=10 * seed + i) for i, part in enumerate(parts)])
            found = turns(parts[0], symbols, ds.Adapt())
            for k in range(1, len(parts)):
                here = [event for event in found if n * k <= event.position < n * (k + 1)]
                machines = [event for event in here if isinstance(event, ds.Refit)]
                told.append(here[0].position - n * k)
                learnt.append(machines[0].position - n * k)
                first.append(machines[0].machine.is_isomorphic(parts[k], atol=0.1))
                last.append(machines[-1].machine.is_isomorphic(parts[k], atol=0.1))
        row = [f"{np.median(told):.0f}", f"{max(told)}", f"{np.median(learnt):.0f}"]
        row += [f"{sum(right)} of {len(right)}" for right in (first, last)]
        lines.append("| " + " | ".join([name, *row]) + " |")
        print(lines[-1], flush=True)
    return lines


def main() -> None:
    lines = [
        "| stream | how | symbols per second | x filter | asked | events per symbol |",
        "|---|---|--:|--:|--:|--:|",
    ]
    print("\n".join(lines))
    for name, (machine, symbols) in streams().items():
        decision = ds.DecisionalStates(ds.utility.zero_one()).fit(machine)
        some = list(symbols[:PUSHED])
        n = len(symbols)
        filtering = best(lambda m=machine, s=symbols: m.filter(s)) / n
        rows = [
            ("one at a time", best(lambda d=decision, s=some: push(d, s)) / len(some)),
            ("in chunks", best(lambda d=decision, s=symbols: feed(d, s)) / n),
            ("one at a time, adapt", best(lambda d=decision, s=some: push(d, s, ds.Adapt()), 2) / len(some)),
            ("in chunks, adapt", best(lambda d=decision, s=symbols: feed(d, s, ds.Adapt()), 2) / n),
            ("batch filter", filtering),
        ]
        share = f"{feed(decision, symbols) / n:.2f}"
        for how, seconds in rows:
            asked = f"{ASKED[how]:.0e}" if how in ASKED else ""
            row = name, how, f"{1 / seconds:.1e}", f"{seconds / filtering:.1f}", asked, share
            lines.append("| " + " | ".join(row) + " |")
            print(lines[-1], flush=True)
    head = (
        f"# Monitor\n\nWritten by `make bench`; see `monitor.py` for what is measured. {N:.0e} symbols, "
        f"chunks of {CHUNK:.0e}.\n\n"
    )
    tables = "\n".join(lines), "\n".join(stationary()), "\n".join(drifting())
    heads = "", "\n\n## Streams that do not drift\n\n", f"\n\n## Streams that drift\n\n{repeats()} streams each.\n\n"
    text = "".join(title + table for title, table in zip(heads, tables, strict=True))
    Path(__file__).with_suffix(".md").write_text(head + text + "\n")


if __name__ == "__main__":
    main()
