"""Monitors of signals: how soon drift is told, how often falsely, how fast values are followed.

Prints tables and writes them to benchmarks/signal_drift.md. Causal states are learnt from so many values of each
system, machines with levels from 2,000; the stream has 5,000 values more before it drifts. "Delay": values until a
Change, over the seeds, the median and the largest. "False": Changes in streams that do not drift, after which the
states are learnt anew as usual. Rules were set on the systems of TUNED and seeds below 1000; the tables are about other
systems and seeds from 31000 on. `--tuned` measures the former instead, `--scale` says how much of the streams is used.
"""

import sys
import time
from pathlib import Path

import numpy as np
from scipy.signal import lfilter

import decisional as ds

FIRST = 31_000
# Values that states are learnt from: how many models, and how long a stream without drift each of them follows.
SIZES = {500: (8, 60_000), 2000: (5, 60_000), 10_000: (2, 100_000)}
LEVELS = {2000: (3, 300_000)}


def autoregression(n, seed, phi=(0.8,), sd=1.0):
    noise = sd * np.random.default_rng(seed).normal(size=n + 500)
    return lfilter([1.0], [1.0, *(-p for p in phi)], noise)[500:]


def tent(n, seed, noise=0.05, top=0.95):
    """Tent map, observed with noise."""
    rng = np.random.default_rng(seed)
    x, found = rng.random(), np.empty(n)
    for t in range(n):
        x = 2.0 * top * min(x, 1.0 - x)
        found[t] = x
    return found + noise * rng.normal(size=n)


def regimes(n, seed, stay=0.97, sd=0.3, gap=1.0):
    rng = np.random.default_rng(seed)
    return gap * (np.cumsum(rng.random(n) > stay) % 2) + sd * rng.normal(size=n)


def even(n, seed, sd=0.2):
    return ds.processes.even().simulate(n, rng=seed) + sd * np.random.default_rng(seed + 10**6).normal(size=n)


def coin(n, seed, sd=0.2):
    rng = np.random.default_rng(seed)
    return rng.integers(0, 2, n) + sd * rng.normal(size=n)


def threshold(n, seed, sd=0.7, below=0.4, above=0.6):
    """Threshold autoregression: one rule below 0, another above."""
    noise, x = sd * np.random.default_rng(seed).normal(size=n + 100), 0.0
    found = np.empty(n + 100)
    for t, e in enumerate(noise.tolist()):
        x = (1.0 + below * x if x <= 0.0 else -0.8 + above * x) + e
        found[t] = x
    return found[100:]


def arch(n, seed, own=0.6, sd=1.0):
    """Normal values whose variance follows the square of the last one; that of all of them is sd²."""
    found, x = np.empty(n + 100), 0.0
    for t, e in enumerate(np.random.default_rng(seed).normal(size=n + 100).tolist()):
        x = e * (1.0 - own + own * x * x) ** 0.5
        found[t] = x
    return sd * found[100:]


def logistic(n, seed, noise=0.05, r=3.9):
    """Logistic map, observed with noise."""
    rng = np.random.default_rng(seed)
    x, found = 0.1 + 0.8 * rng.random(), np.empty(n)
    for t in range(n):
        x = r * x * (1.0 - x)
        found[t] = x
    return found + noise * rng.normal(size=n)


def season(n, seed, period=12.0, sd=0.3):
    rng = np.random.default_rng(seed)
    return np.sin(2 * np.pi * (np.arange(n) + rng.integers(12)) / period) + sd * rng.normal(size=n)


def three(n, seed, stay=0.95, sd=0.25):
    """Three regimes at 0, 1 and 2; each is followed by one of the others."""
    rng = np.random.default_rng(seed)
    moves = np.where(rng.random(n) > stay, rng.integers(1, 3, n), 0)
    return np.cumsum(moves) % 3 + sd * rng.normal(size=n)


def golden(n, seed, sd=0.2, p=0.5):
    symbols = ds.processes.golden_mean(p).simulate(n, rng=seed)
    return symbols + sd * np.random.default_rng(seed + 10**6).normal(size=n)


def moving(n, seed, weights=(0.8, 0.5), sd=1.0):
    """Moving average of the last noises."""
    noise = sd * np.random.default_rng(seed).normal(size=n + len(weights))
    return np.convolve(noise, [1.0, *weights], "valid")


def henon(n, seed, noise=0.05, a=1.4):
    """First coordinate of the Hénon map, observed with noise."""
    rng = np.random.default_rng(seed)
    x, y = 0.1 * rng.random(2)
    found = np.empty(n + 100)
    for t in range(n + 100):
        x, y = 1.0 - a * x * x + y, 0.3 * x
        found[t] = x
    return found[100:] + noise * rng.normal(size=n)


# A system, the past of its causal states (None: a machine with levels), and what it may become.
SYSTEMS = {
    "threshold AR": (
        threshold,
        1,
        {
            "level + 1 sd": lambda n, s: threshold(n, s) + 1.0,
            "spread × 1.5": lambda n, s: threshold(n, s, sd=1.05),
            "one rule": lambda n, s: autoregression(n, s, sd=1.0),
        },
    ),
    "ARCH, 0.6": (
        arch,
        1,
        {
            "level + 1 sd": lambda n, s: arch(n, s) + 1.0,
            "spread × 1.5": lambda n, s: arch(n, s, sd=1.5),
            "independent": lambda n, s: arch(n, s, own=0.0),
        },
    ),
    "logistic map, noise 0.05": (
        logistic,
        2,
        {
            "level + 0.2": lambda n, s: logistic(n, s) + 0.2,
            "noise 0.15": lambda n, s: logistic(n, s, noise=0.15),
            "r = 3.7": lambda n, s: logistic(n, s, r=3.7),
        },
    ),
    "sine of period 12, noise 0.3": (
        season,
        3,
        {
            "level + 0.5": lambda n, s: season(n, s) + 0.5,
            "noise 0.45": lambda n, s: season(n, s, sd=0.45),
            "period 9": lambda n, s: season(n, s, period=9.0),
        },
    ),
    "moving average": (
        moving,
        2,
        {
            "level + 1 sd": lambda n, s: moving(n, s) + 1.4,
            "spread × 1.5": lambda n, s: moving(n, s, sd=1.5),
            "weights -0.8, 0.5": lambda n, s: moving(n, s, weights=(-0.8, 0.5)),
        },
    ),
    "Hénon map, noise 0.05": (
        henon,
        2,
        {
            "level + 0.2": lambda n, s: henon(n, s) + 0.2,
            "noise 0.15": lambda n, s: henon(n, s, noise=0.15),
            "a = 1.25": lambda n, s: henon(n, s, a=1.25),
        },
    ),
    "three regimes": (
        three,
        None,
        {
            "level + 0.3": lambda n, s: three(n, s) + 0.3,
            "noise 0.4": lambda n, s: three(n, s, sd=0.4),
            "regimes of 5": lambda n, s: three(n, s, stay=0.8),
        },
    ),
    "Golden Mean with noise": (
        golden,
        None,
        {
            "level + 0.3": lambda n, s: golden(n, s) + 0.3,
            "noise 0.35": lambda n, s: golden(n, s, sd=0.35),
            "fair coin": coin,
        },
    ),
}
TUNED = {
    "AR(1), 0.8": (
        autoregression,
        1,
        {
            "level + 1 sd": lambda n, s: autoregression(n, s) + 1.67,
            "spread × 1.5": lambda n, s: autoregression(n, s, sd=1.5),
            "spread × 2": lambda n, s: autoregression(n, s, sd=2.0),
            "coefficient 0.3": lambda n, s: autoregression(n, s, phi=(0.3,), sd=1.5),
        },
    ),
    "AR(2)": (
        lambda n, s: autoregression(n, s, phi=(1.2, -0.5)),
        2,
        {
            "level + 1 sd": lambda n, s: autoregression(n, s, phi=(1.2, -0.5)) + 1.9,
            "spread × 1.5": lambda n, s: autoregression(n, s, phi=(1.2, -0.5), sd=1.5),
            "other coefficients": lambda n, s: autoregression(n, s, phi=(0.5, 0.2)),
        },
    ),
    "tent map, noise 0.05": (
        tent,
        1,
        {
            "level + 0.2": lambda n, s: tent(n, s) + 0.2,
            "noise 0.15": lambda n, s: tent(n, s, noise=0.15),
            "lower top": lambda n, s: tent(n, s, top=0.85),
        },
    ),
    "two regimes": (
        regimes,
        None,
        {
            "level + 0.3": lambda n, s: regimes(n, s) + 0.3,
            "noise 0.45": lambda n, s: regimes(n, s, sd=0.45),
            "regimes of 5": lambda n, s: regimes(n, s, stay=0.8),
        },
    ),
    "Even process with noise": (
        even,
        None,
        {
            "level + 0.3": lambda n, s: even(n, s) + 0.3,
            "noise 0.35": lambda n, s: even(n, s, sd=0.35),
            "fair coin": coin,
        },
    ),
}


def decided(signal, past):
    """Decisions on the states of a signal."""
    worth = ds.utility.alarm(float(np.quantile(signal, 0.8)), missed=3, false=1)
    if past is None:
        return ds.DecisionalStates(worth).fit(ds.epsilon_machine(signal))
    return ds.DecisionalStates(worth).fit(ds.CausalStates().fit(ds.observe.delays(signal, past=past)))


def delay(choice, before, after):
    """Values after the drift until it is told, None if it is not; and Changes before."""
    monitor = ds.Monitor(choice, adapt=ds.Adapt())
    early = [event for event in monitor.feed(before) if isinstance(event, ds.Change)]
    for begin in range(0, after.size, 500):
        for event in monitor.feed(after[begin : begin + 500]):
            if isinstance(event, ds.Change):
                return event.position - before.size, len(early)
    return None, len(early)


def measure(name, learnt, scale, systems):
    """A row for each drift, and the false alarms of the system in how many values."""
    make, past, drifts = systems[name]
    models, steady = (LEVELS if past is None else SIZES)[learnt]
    rows, false, values = [], 0, 0
    told = {what: [] for what in drifts}
    for seed in range(FIRST, FIRST + models):
        choice = decided(make(learnt, seed), past)
        stream = make(max(int(steady * scale), 1000), seed + 500)
        monitor = ds.Monitor(choice, adapt=ds.Adapt())
        false += sum(isinstance(event, ds.Change) for event in monitor.feed(stream))
        values += stream.size
        for what, other in drifts.items():
            told[what].append(delay(choice, make(5000, seed + 1000), other(20_000, seed + 2000))[0])
    for what, found in told.items():
        known = sorted(value for value in found if value is not None)
        text = f"{int(np.median(known))} / {known[-1]}" if known else "-"
        rows.append(f"| {name} | {learnt:,} | {what} | {len(known)} of {len(found)} | {text} |")
        print(rows[-1], flush=True)
    return rows, f"| {name} | {learnt:,} | {false} in {values:,} |"


def speed():
    """Values in a second of one core, in chunks of 1e5, and with Adapt."""
    lines = []
    for name, learnt in (("AR(1), 0.8", 2000), ("AR(2)", 2000), ("two regimes", 2000)):
        make, past, _ = TUNED[name]
        choice, stream = decided(make(learnt, FIRST), past), make(301_000, FIRST + 500)
        rates = []
        for adapt in (None, ds.Adapt()):
            monitor = ds.Monitor(choice, adapt=adapt)
            monitor.feed(stream[:1000])
            start = time.process_time()
            for begin in range(1000, stream.size, 100_000):
                monitor.feed(stream[begin : begin + 100_000])
            rates.append((stream.size - 1000) / (time.process_time() - start))
        lines.append(f"| {name} | {rates[0]:,.0f} | {rates[1]:,.0f} |")
        print(lines[-1], flush=True)
    return lines


def main():
    scale = float(sys.argv[sys.argv.index("--scale") + 1]) if "--scale" in sys.argv else 1.0
    systems = TUNED if "--tuned" in sys.argv else SYSTEMS
    rows, false = [], []
    for name, (_, past, _) in systems.items():
        for learnt in LEVELS if past is None else SIZES:
            found, row = measure(name, learnt, scale, systems)
            rows += found
            false.append(row)
            print(row, flush=True)
    head = "# Monitors of signals\n\nWritten by `make bench`; see `signal_drift.py` for what is measured.\n\n"
    parts = [
        ["| system | learnt from | drift | told | delay, median / largest |", "|---" * 5 + "|", *rows, ""],
        ["| system | learnt from | false alarms |", "|---" * 3 + "|", *false, ""],
        ["| system | values per CPU second | with Adapt |", "|---" * 3 + "|", *speed()],
    ]
    Path(__file__).with_suffix(".md").write_text(head + "\n".join(line for part in parts for line in part) + "\n")


if __name__ == "__main__":
    main()
