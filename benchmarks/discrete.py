"""Speed and memory of the discrete core: Even process, from a one-byte array to its epsilon-machine.

Prints a table and writes it to benchmarks/discrete.md. Times are the best of several runs after warm-up; the
column "x counting" is the ratio to one bare pass that counts words (`_kernels.words.scan_words` on all cores),
measured in the same run, and is what to compare between machines.
"""

import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import decisional as ds
from decisional.data.series import CodedWindows

# Whole-program seconds of the paper's program and of CSSR (both C++, -O3), measured on a two-core machine.
PEERS = {(1_000_000, 10): (0.25, 0.09), (10_000_000, 10): (2.55, 0.88), (10_000_000, 20): (8.7, 32.0)}
SIZES = (100_000, 1_000_000, 10_000_000)
PASTS = (3, 10, 20)


def best(run: Callable[[], object], repeats: int = 7) -> float:
    """Seconds of the fastest run."""
    run()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times)


def fit(symbols: np.ndarray, past: int) -> ds.CausalStates:
    return ds.CausalStates().fit(ds.observe.series(symbols, past=past))


def count(symbols: np.ndarray, past: int) -> None:
    """The bare counting pass."""
    windows = ds.observe.series(symbols, past=past)
    assert isinstance(windows, CodedWindows)
    windows._count_dense(2**past, 2, None)


def peak_bytes(n: int, past: int) -> float:
    """Peak resident memory above the input, in bytes per symbol, in a process of its own."""
    code = f"""
        import threading, time, numpy as np, decisional as ds
        def fit(x): return ds.CausalStates().fit(ds.observe.series(x, past={past}))
        def resident(): return int(open("/proc/self/statm").read().split()[1]) * 4096
        fit(ds.processes.even().simulate(300_000, rng=1))
        x = ds.processes.even().simulate({n}, rng=1)
        base, peak, done = resident(), 0, False
        def watch():
            global peak
            while not done:
                peak = max(peak, resident())
                time.sleep(0.0005)
        watcher = threading.Thread(target=watch)
        watcher.start()
        fit(x)
        done = True
        watcher.join()
        print((peak - base) / {n})
    """
    out = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True)
    return float(out.stdout)


def start_up() -> list[str]:
    """Seconds to import, and to the first result in a second process, which finds the kernels on disk."""
    code = """
        import time; start = time.perf_counter()
        import decisional as ds; loaded = time.perf_counter()
        ds.CausalStates().fit(ds.observe.series("0110111" * 1000, past=3)); done = time.perf_counter()
        print(loaded - start, done - loaded)
    """
    runs = [
        subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True).stdout
        for _ in range(4)
    ]
    load, first = np.array([run.split() for run in runs], float).min(axis=0)
    return [f"- `import decisional`: {load:.3f} s", f"- first reconstruction in a new process: {first:.2f} s"]


def main() -> None:
    lines = [
        "| N | L | seconds | ns per symbol | x counting | states | reference program | CSSR |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for n in SIZES:
        symbols = ds.processes.even().simulate(n, rng=1)
        for past in PASTS:
            seconds = best(lambda x=symbols, p=past: fit(x, p))
            alone = best(lambda x=symbols, p=past: count(x, p))
            machine = fit(symbols, past).machine_
            peers = [f"{p} s, {p / seconds:.0f} x" for p in PEERS.get((n, past), ())] or ["", ""]
            states = f"{machine.recurrent.sum()} + {(~machine.recurrent).sum()} transient"
            row = f"{n:.0e}", past, f"{seconds:.4f}", f"{1e9 * seconds / n:.2f}", f"{seconds / alone:.1f}", states
            lines.append("| " + " | ".join(map(str, [*row, *peers])) + " |")
            print(lines[-1], flush=True)
    lines += ["", "Peak memory above the input, N = 1e7:"]
    lines += [f"- L = {past}: {peak_bytes(10_000_000, past):.2f} bytes per symbol" for past in PASTS]
    lines += ["", "Start-up:", *start_up()]
    text = "\n".join(lines)
    print(text)
    head = "# Discrete core\n\nWritten by `make bench`; see `discrete.py` for what is measured.\n\n"
    Path(__file__).with_suffix(".md").write_text(head + text + "\n")


if __name__ == "__main__":
    main()
