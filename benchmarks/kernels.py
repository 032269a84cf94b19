"""Speed and memory of kernel densities: images and continuous series, from the data to decisional states.

Prints tables and writes them to benchmarks/kernels.md. Times are the best of several runs after warm-up. Images are
parts of scikit-image's camera and astronaut, with sigma² = 1.5, cut-off 1e-9 and three passes; series are a noisy
logistic map with a past of 5, 200 sample points and the automatic bandwidth. The naive method visits all pairs of
distinct x in plain compiled loops on all cores; its densities are compared with ours too.
"""

import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

import numba
import numpy as np

import decisional as ds
from decisional.decisions.utilities import Utility

SIDES = (128, 256, 512)
LENGTHS = (2_000, 10_000, 100_000)
NAIVE_SIDE, NAIVE_LENGTH = 128, 10_000
REPEATS = 3
PAST, SAMPLES, CUTOFF = 5, 200, 1e-9
IMAGE_KERNELS = ds.Kernels(bandwidth=1.5**0.5, cutoff=CUTOFF)
# Whole-program seconds of the paper's program (C++), measured on a two-core machine.
REFERENCE: dict[tuple[str, int], float] = {("camera", 128): 2.9, ("camera", 256): 38.0, ("camera", 512): 2170.0}
REFERENCE |= {("logistic", 2_000): 38.0}
HEAD = """# Kernel densities

Written by `make bench`; see `kernels.py` for what is measured. Densities include the choice of the bandwidth, and
clustering all that follows up to the causal states. The reference is the paper's program: whole runs, with 512² on a
machine that was not idle; its 256 × 256 part of camera and its series may be others.

"""


class Run(NamedTuple):
    """Seconds of each phase, and the numbers of states."""

    densities: float
    clustering: float
    decisions: float
    causal: int
    decisional: int

    @property
    def total(self) -> float:
        return self.densities + self.clustering + self.decisions


def pixels(name: str, side: int) -> np.ndarray:
    """A square of an image in grey levels 0..255; those of 128 pixels are the reference's."""
    from skimage import data
    from skimage.color import rgb2gray

    if name == "camera":
        picture, corner = data.camera(), (150, 150)
    else:
        picture, corner = np.rint(255 * rgb2gray(data.astronaut())).astype(np.uint8), (50, 150)
    if side > 128:
        corner = ((512 - side) // 2,) * 2
    return np.ascontiguousarray(picture[corner[0] : corner[0] + side, corner[1] : corner[1] + side])


def logistic(n: int) -> np.ndarray:
    values, v = np.empty(n), 0.4
    for t in range(n):
        v = 3.9 * v * (1.0 - v)
        values[t] = v
    return values + 0.02 * np.random.default_rng(1).normal(size=n)


def measure(data: np.ndarray) -> Run:
    """One run from an image or a series to decisional states."""
    times = [time.perf_counter()]

    def cluster(densities: Any, match: Any) -> np.ndarray:
        times.append(time.perf_counter())
        return ds.clustering.Aggregate(passes=3 if data.ndim == 2 else 1)(densities, match)

    density, obs, utility = _task(data)
    causal = ds.CausalStates(density=density, cluster=cluster).fit(obs)
    times.append(time.perf_counter())
    choice = ds.DecisionalStates(utility).fit(causal)
    times.append(time.perf_counter())
    return Run(*np.diff(times).tolist(), causal.n_states_, choice.n_states_)


def _task(data: np.ndarray) -> tuple[ds.Kernels, ds.Observations, Utility]:
    if data.ndim == 2:
        return IMAGE_KERNELS, ds.observe.image(data), ds.utility.tolerant(7)
    return ds.Kernels(samples=SAMPLES, cutoff=CUTOFF), ds.observe.delays(data, PAST), ds.utility.squared_error()


def best(data: np.ndarray, repeats: int) -> Run:
    """The fastest of several runs; the first one, which compiles, does not count."""
    measure(data[:64, :64] if data.ndim == 2 else data[:1000])
    return min((measure(data) for _ in range(repeats)), key=lambda run: run.total)


def peak_megabytes(name: str, size: int) -> float:
    """Peak resident memory above a warmed-up process without the data, in a process of its own."""
    # VmHWM belongs to the process alone; ru_maxrss would start from what this one had when it started the other.
    code = f"""
import sys
sys.path.insert(0, {str(Path(__file__).resolve().parent)!r})
import kernels
data = kernels.logistic({size}) if {name!r} == "logistic" else kernels.pixels({name!r}, {size})
kernels.measure(data[:64, :64] if data.ndim == 2 else data[:1000])
def kilobytes(key):
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith(key))
base = kilobytes("VmRSS")
kernels.measure(data)
print((kilobytes("VmHWM") - base) * 1024 / 1e6)
"""
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return float(out.stdout)


@numba.njit(parallel=True, cache=False)
def all_pairs(points: Any, z: Any, n_z: int, weight: Any, rate: float, largest: float) -> Any:
    """(n, n_z) sums of kernels of x over the observations with each z: all pairs, one after the other."""
    n, d = points.shape
    sums = np.zeros((n, n_z))
    for i in numba.prange(n):
        for j in range(n):
            square = 0.0
            for k in range(d):
                square += (points[i, k] - points[j, k]) ** 2
            if square <= largest:
                sums[i, z[j]] += weight[j] * np.exp(-rate * square)
    return sums


def naive(model: Any, obs: Any) -> np.ndarray:
    """Densities at the distinct x by all pairs, at the sample points of a fitted model."""
    order = np.unique(np.column_stack([obs.x, obs.z]), axis=0, return_counts=True)
    (pairs, count), targets = order, obs.targets.astype(float)
    # One point for each distinct (x, z), in units of sigma.
    points = obs.points[pairs[:, 0]] / model.sigma
    largest = -2.0 * np.log(CUTOFF)
    rows = all_pairs(points, pairs[:, 1], len(targets), count.astype(float), 0.5, largest)
    first = np.unique(pairs[:, 0], return_index=True)[1]
    kernel = np.exp(-0.5 * ((targets - model.at.astype(float).T) / model.z_sigma) ** 2)
    kernel[kernel < CUTOFF] = 0.0
    return rows[first] @ kernel


def against_naive(name: str, size: int) -> str:
    """A line that compares the densities: seconds of both, and how far they are apart."""
    data = logistic(size) if name == "logistic" else pixels(name, size)
    density, obs, _ = _task(data)
    model = density.model(obs)
    found, seconds = [], []
    for run in (model, lambda: naive(model, obs)):
        sums = run()  # compiles
        found.append(sums / sums.sum(axis=1, keepdims=True))
        times = []
        for _ in range(REPEATS):
            start = time.perf_counter()
            run()
            times.append(time.perf_counter() - start)
        seconds.append(min(times))
    apart = np.abs(found[0] - found[1]).max()
    return f"| {name} {size} | {seconds[1]:.2f} | {seconds[0]:.2f} | {seconds[1] / seconds[0]:.1f} | {apart:.0e} |"


def main() -> None:
    lines = [
        "| data | N | densities | clustering | decisions | total seconds | peak MB | states | reference |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    cases = [(name, side) for name in ("camera", "astronaut") for side in SIDES]
    cases += [("logistic", n) for n in LENGTHS]
    for name, size in cases:
        data = logistic(size) if name == "logistic" else pixels(name, size)
        run = best(data, REPEATS)
        peer = REFERENCE.get((name, size))
        reference = "" if peer is None else f"{peer:,.6g} s, {peer / run.total:.0f} x"
        n = f"{size}²" if data.ndim == 2 else f"{size:,}"
        phases = f"{run.densities:.2f} | {run.clustering:.2f} | {run.decisions:.2f} | **{run.total:.2f}**"
        states = f"{run.causal}, {run.decisional} decisional"
        lines.append(f"| {name} | {n} | {phases} | {peak_megabytes(name, size):.0f} | {states} | {reference} |")
        print(lines[-1], flush=True)
    lines += ["", "Densities by all pairs and by blocks, and the largest difference between probabilities:", ""]
    lines += ["| data | all pairs, s | ours, s | ratio | difference |", "|---|---|---|---|---|"]
    for name, size in (("camera", NAIVE_SIDE), ("astronaut", NAIVE_SIDE), ("logistic", NAIVE_LENGTH)):
        lines.append(against_naive(name, size))
        print(lines[-1], flush=True)
    Path(__file__).with_suffix(".md").write_text(HEAD + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
