"""Beyond memory and beyond one process: series and fields read slice by slice, in threads and on a Dask cluster.

Prints tables and writes them to benchmarks/scale.md. Data are made once in a temporary folder (1 GB of symbols, and a
compressed field), and are in the system's cache when they are read. Each row is measured in a process of its own, from
opening the data to the causal states, the best of three for series; "x bare pass" is the ratio to one pass that only
adds up the bytes, in the same run, which is what to compare between machines. Memory is the peak of the process itself;
each worker of a cluster has its own. Clusters are started before the clock. The last table simulates storage of bounded
speed: a worker waits for its data, so that more workers than there are cores show what distribution itself costs.
"""

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

SYMBOLS = (100_000_000, 1_000_000_000)
PAST = 10
CHUNK = 1 << 24
REPEATS = 3
SIDE = 31_600
ROWS = 200
# Symbols for each worker, and symbols that its storage delivers in a second.
BOUNDED = (40_000_000, 20_000_000)
WORKERS = (1, 2, 4)
# Workers that count the series, 0 = threads.
COUNTS = (0, 1, 2)


def make_symbols(path: Path, n: int) -> None:
    import decisional as ds

    with path.open("wb") as file:
        for seed, begin in enumerate(range(0, n, 10_000_000)):
            part = ds.processes.even().simulate(min(10_000_000, n - begin), rng=seed)
            file.write(np.asarray(part).astype(np.uint8).tobytes())


def make_field(path: Path, side: int) -> None:
    import zarr

    array = zarr.create_array(str(path), shape=(side, side), chunks=(ROWS, side), dtype="u1")
    rule = np.array([110 >> k & 1 for k in range(8)], np.uint8)
    row = np.random.default_rng(1).integers(0, 2, side).astype(np.uint8)
    for begin in range(0, side, ROWS):
        block = np.empty((min(ROWS, side - begin), side), np.uint8)
        for i in range(len(block)):
            block[i] = row
            row = rule[4 * np.roll(row, 1) + 2 * row + np.roll(row, -1)]
        array[begin : begin + len(block)] = block


class Slow:
    """An array whose reading takes its time."""

    def __init__(self, path: str, n: int, rate: float) -> None:
        self.values, self.rate = np.memmap(path, np.uint8, "r", shape=(n,)), rate
        self.shape, self.dtype = self.values.shape, self.values.dtype

    def __getitem__(self, key: slice) -> Any:
        part = np.array(self.values[key])
        time.sleep(part.size / self.rate)
        return part


def peak() -> int:
    """Largest resident memory of this process so far, in MB."""
    status = dict(line.split(":") for line in Path("/proc/self/status").read_text().splitlines())
    return int(status["VmHWM"].split()[0]) // 1024


def on_cluster(workers: int, run: Callable[[Any], Any]) -> Any:
    from dask.distributed import Client, LocalCluster

    options = {"n_workers": workers, "threads_per_worker": 1, "dashboard_address": ":0"}
    with LocalCluster(**options) as cluster, Client(cluster) as client:
        client.run(warm)
        return run(client.get_executor())


def warm() -> None:
    """Load what is compiled."""
    import decisional as ds

    ds.CausalStates().fit(ds.observe.series(np.arange(10_000) % 3 % 2, PAST, chunks=3_000))


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def series(path: str, n: int, workers: int) -> list[float]:
    """Seconds, states, peak MB and seconds of a bare pass; workers = 0 for threads."""
    import decisional as ds

    def fit(executor: Any = None) -> tuple[float, int]:
        symbols = np.memmap(path, np.uint8, "r", shape=(n,))
        # A new one each time: observations keep their counts.
        runs = [ds.observe.series(symbols, PAST, chunks=CHUNK) for _ in range(REPEATS)]
        return min(timed(partial(count, obs, executor)) for obs in runs)

    def count(obs: Any, executor: Any) -> int:
        n_states: int = ds.CausalStates().fit(obs, executor=executor).n_states_
        return n_states

    warm()
    seconds, states = on_cluster(workers, fit) if workers else fit()
    megabytes = peak()
    symbols = np.memmap(path, np.uint8, "r", shape=(n,))
    bare, _ = timed(lambda: sum(int(symbols[a : a + CHUNK].sum()) for a in range(0, n, CHUNK)))
    return [seconds, states, megabytes, bare]


def field(path: str, side: int, workers: int) -> list[float]:
    """The same for a field."""
    import zarr

    import decisional as ds

    array = zarr.open_array(path, mode="r")
    ds.CausalStates().fit(ds.observe.light_cones(array[:50, :100], 3, 2, chunks=20))
    obs = ds.observe.light_cones(array, past=3, future=2, chunks=min(ROWS, side))
    seconds, states = timed(lambda: ds.CausalStates().fit(obs).n_states_)
    megabytes = peak()
    bare, _ = timed(lambda: sum(int(array[a : a + ROWS].sum()) for a in range(0, side, ROWS)))
    return [seconds, states, megabytes, bare]


def labels(path: str, n: int, workers: int) -> list[float]:
    """Seconds to write the labels, after the states were found."""
    import decisional as ds

    warm()
    obs = ds.observe.series(np.memmap(path, np.uint8, "r", shape=(n,)), PAST, chunks=1 << 22)
    causal = ds.CausalStates().fit(obs)
    with tempfile.TemporaryDirectory(dir=Path(path).parent) as folder:
        out = Path(folder) / "labels.npy"
        seconds, _ = timed(lambda: ds.write_values(causal, out))
    return [seconds, causal.n_states_, peak(), 0.0]


def bounded(path: str, n: int, workers: int) -> list[float]:
    """Each worker has n symbols, on storage that keeps it waiting."""
    import decisional as ds
    from decisional.data.stores import Stored

    def fit(executor: Any) -> tuple[float, int]:
        slow = Stored(partial(Slow, path, n * workers, BOUNDED[1]))
        obs = ds.observe.series(slow, PAST, chunks=n // 10)
        return timed(lambda: ds.CausalStates().fit(obs, executor=executor).n_states_)

    warm()
    seconds, states = on_cluster(workers, fit)
    return [seconds, states, peak(), n / BOUNDED[1]]


KINDS = {"series": series, "field": field, "labels": labels, "bounded": bounded}


def measure(kind: str, path: Path, size: int, workers: int = 0) -> list[float]:
    """One row, in a process of its own."""
    command = [sys.executable, __file__, kind, str(path), str(size), str(workers), json.dumps([PAST, ROWS, BOUNDED])]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr)
    found: list[float] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    lines: list[str] = []

    def add(line: str) -> None:
        lines.append(line)
        print(line, flush=True)

    with tempfile.TemporaryDirectory() as folder:
        symbols, cells = Path(folder) / "symbols.bin", Path(folder) / "field.zarr"
        make_symbols(symbols, max(*SYMBOLS, max(WORKERS) * BOUNDED[0]))
        make_field(cells, SIDE)
        add("| what | size | where | seconds | ns each | x bare pass | peak MB | states |")
        add("|---|---|---|---|---|---|---|---|")
        times: dict[tuple[str, int, int], float] = {}
        rows = [("series", symbols, n, workers) for n in SYMBOLS for workers in COUNTS]
        rows += [("field", cells, SIDE, 0), ("labels", symbols, SYMBOLS[0], 0)]
        for kind, path, size, workers in rows:
            seconds, states, megabytes, bare = measure(kind, path, size, workers)
            n = size**2 if kind == "field" else size
            where = f"{workers} Dask worker{'s' * (workers > 1)}" if workers else "threads"
            times[kind, size, workers] = seconds
            ratio = f"{seconds / bare:.1f}" if bare else ""
            add(
                f"| {kind} | {n:.0e} | {where} | {seconds:.2f} | {1e9 * seconds / n:.1f} | {ratio} | {megabytes:.0f} "
                f"| {states:.0f} |"
            )
        add("")
        few, many = min(SYMBOLS), max(SYMBOLS)
        if 1 in COUNTS:
            one, two = (times["series", many, workers] for workers in (1, 2))
            add(f"Two workers against one, {many:.0e} symbols: {one / two:.2f} times as fast.")
        here, there = (times["series", few, workers] for workers in (0, 2))
        add(f"Two workers against two threads, {few:.0e} symbols: {there / here:.2f} times the time.")
        add("")
        add("| workers | symbols | seconds | the wait alone |")
        add("|---|---|---|---|")
        for workers in WORKERS:
            seconds, _, _, wait = measure("bounded", symbols, BOUNDED[0], workers)
            add(f"| {workers} | {BOUNDED[0] * workers:.1e} | {seconds:.2f} | {wait:.2f} |")
    head = "# Scale\n\nWritten by `make bench`; see `scale.py` for what is measured.\n\n"
    Path(__file__).with_suffix(".md").write_text(head + "\n".join(lines) + "\n")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        PAST, ROWS, BOUNDED = json.loads(sys.argv[5])
        print(json.dumps(KINDS[sys.argv[1]](sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))))
    else:
        main()
