"""Symbols per second of the monitor, one at a time and in chunks, next to batch filtering.

Prints a table and writes it to benchmarks/monitor.md. Times are the best of several runs after warm-up; the column
"x filter" is the ratio to `machine.filter` over the same symbols in the same run, and is what to compare between
machines.
"""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import decisional as ds

N = 1_000_000
CHUNK = 10_000
PUSHED = 100_000  # of the symbols, one at a time
ASKED = {"one at a time": 1e5, "in chunks": 1e6}


def best(run: Callable[[], object], repeats: int = 5) -> float:
    """Seconds of the fastest run."""
    run()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times)


def push(decision: ds.DecisionalStates, symbols: list[Any]) -> int:
    monitor = ds.Monitor(decision)
    return sum(monitor.push(symbol) is not None for symbol in symbols)


def feed(decision: ds.DecisionalStates, symbols: Any) -> int:
    monitor = ds.Monitor(decision)
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
    Path(__file__).with_suffix(".md").write_text(head + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
