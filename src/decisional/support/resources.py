"""What a run needs, before it runs: memory that there is, and rough estimates from a sample."""

import math
import os
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from .executors import workers
from .plurals import plural

# Bytes that the table and the states take at their peak, for each byte of the counts they are made from (measured: 5 to
# 7), and seconds for each distinct pair.
OVERHEAD = 6.5
FINISH = 4e-6
# Log-odds of what always happens.
SURE = 14.0
# Allocations of fewer bytes are not worth asking the system about.
SMALL = 1 << 22
# An estimate is rough: what exceeds this share of the memory gets a warning, and so many times the memory is refused.
WORRYING = 0.5
HOPELESS = 2.0
REMEDY = "use a shorter past or future, or fewer letters"


class TooLarge(MemoryError, ValueError):
    """What was asked for does not fit in memory."""


@dataclass(frozen=True)
class Cost:
    """What counting and the causal states are expected to take.

    Attributes
    ----------
    memory : bytes at the peak, besides the slices that are being read
    seconds : with the present number of workers
    distinct : number of distinct x
    slices : how many are read
    """

    memory: float
    seconds: float
    distinct: float
    slices: int

    def __str__(self) -> str:
        return (
            f"about {size(self.memory)} and {self.seconds:,.1f} s for {self.distinct:,.0f} distinct x in "
            f"{plural(self.slices, 'slice')}"
        )


def size(n_bytes: float) -> str:
    """Bytes in words."""
    return f"{n_bytes / 1e9:,.1f} GB" if n_bytes >= 5e7 or n_bytes <= 0 else f"{n_bytes / 1e6:,.3g} MB"


def available() -> float:
    """Bytes that can be had: the least that the system, the control group and the address space leave.

    All there are where the system does not say which are free, infinity where it says nothing.
    """
    return max(min(_system(), _control_group(), _address_space()), 0.0)


def require(needed: float, what: str, remedy: str, free: float | None = None) -> None:
    """Refuse what needs more bytes than there are, "The {what} need ...: {remedy}": MemoryError (and ValueError).

    `free` is by default `available()`, which is asked where it matters.
    """
    if free is None:
        free = available() if needed > SMALL else math.inf
    if needed > free:
        figures = f"{needed / 1e9:,.1f} GB and {free / 1e9:,.1f} GB are free"
        raise TooLarge(f"The {what} need up to {figures}; they must fit in memory: {remedy}.")


def estimate(
    count: Callable[[Any], Any], merge: Callable[[Any, Any], Any], parts: Sequence[Any], scale: float, slices: int
) -> Cost:
    """Count a few samples and extrapolate to all data.

    Parameters
    ----------
    count, merge : make the counts of a sample (see `data.tally.Tally`) or None, and put two together
    parts : samples of about the same size, from all over the data
    scale : observations of all data for each of a sample
    slices : in which all data are counted

    How many x and pairs are distinct is known for one sample, for two and for four, and goes on as `_Growth` says, up
    to the words that there can be. Mostly within a factor of 2, at worst of 3, where the data are alike all over; a
    process that changes elsewhere can need more, and memory below some megabytes is not looked at closely. Seconds are
    rougher: up to 4 times what long runs take, and up to 20 times for those of a second, since small samples are slower
    to count than large slices. Cost: that of counting the samples.
    """
    tallies, took = [], []
    for part in parts:
        began = time.perf_counter()
        tallies.append(count(part))
        took.append(time.perf_counter() - began)
    level = [tally for tally in tallies if tally is not None and tally.n]
    # The first one may compile.
    counting = min(took, default=0.0)
    if not level:
        return Cost(0.0, scale * counting / workers(), 0.0, slices)
    found = _doubled(level, merge)
    whole, n = found[-1][0], scale * sum(tally.n for tally in level) / len(level)
    began = time.perf_counter()
    merge(*found[-2] if len(found) > 1 else (whole, whole))
    merging = (time.perf_counter() - began) / (2 * whole.pairs.size)
    x = _Growth([sum(len(t.x) for t in group) / len(group) for group in found], min(n, _words(whole.x)))
    pairs = _Growth([sum(t.pairs.size for t in group) / len(group) for group in found], n)
    distinct = x.at(scale)
    n_pairs = min(max(pairs.at(scale), distinct), distinct * _words(whole.z))
    # Slices are merged two by two, each time half as many.
    merged = sum(
        slices / 2**k * pairs.at(max(scale / slices, 1.0) * 2**k) for k in range(max(slices - 1, 0).bit_length())
    )
    seconds = scale * counting / workers() + merging * merged + FINISH * n_pairs
    memory = OVERHEAD * n_bytes(whole) * n_pairs / whole.pairs.size
    return Cost(memory, seconds, distinct, slices)


def _doubled(level: list[Any], merge: Callable[[Any, Any], Any]) -> list[list[Any]]:
    """Counts of single samples, of two together, of four ..., as far as they go."""
    level = level[: 1 << (len(level).bit_length() - 1)]
    found = [level]
    while len(level) > 1:
        level = [merge(a, b) for a, b in zip(level[::2], level[1::2], strict=True)]
        found.append(level)
    return found


class _Growth:
    """A number that is known for samples of size 1, 2, 4 ..., and how it goes on.

    A doubling multiplies it by 2**b; the log-odds of b fall by the same amount with each doubling (none: a power law).
    """

    def __init__(self, known: list[float], most: float) -> None:
        self.known, self.most = known, most
        odds = [_log_odds(math.log2(max(b, 1) / max(a, 1))) for a, b in pairwise(known)] or [SURE]
        self.odds, self.fall = odds[-1], min(odds[-1] - odds[-2], 0.0) if len(odds) > 1 else 0.0
        if self.odds > 2:
            # While few repeat, twice the data make at most twice as many repeat: more is chance.
            self.fall = max(self.fall, -math.log(2))

    def at(self, scale: float) -> float:
        """The number for so many samples."""
        doublings = math.log2(max(scale, 1.0)) - (len(self.known) - 1)
        if doublings <= 0:
            return self.known[int(doublings + len(self.known) - 1)]
        powers = [
            1 / (1 + math.exp(min(-self.odds - k * self.fall, 700.0))) for k in range(1, math.ceil(doublings) + 1)
        ]
        powers[-1] *= doublings - (len(powers) - 1)
        return float(min(self.known[-1] * 2.0 ** min(sum(powers), 100.0), self.most))


def _log_odds(b: float) -> float:
    b = min(max(b, math.exp(-SURE)), 1 - math.exp(-SURE))
    return math.log(b / (1 - b))


def _words(vocabulary: Any) -> float:
    """How many words there can be; vectors of numbers are not bounded."""
    if not vocabulary.letters:
        return math.inf
    bits = vocabulary.width * math.log2(len(vocabulary.letters))
    return 2.0**bits if bits < 100 else math.inf


def n_bytes(tally: Any) -> int:
    """Bytes of the arrays of counts."""
    inside = [*vars(tally).values()]
    for part in (tally.x, tally.z, tally.steps):
        inside += [] if part is None else vars(part).values()
    if tally.dependence is not None:
        inside += [*tally.dependence.apart, *tally.dependence.regional]
    return sum(int(array.nbytes) for array in inside if type(array).__module__ == "numpy" and array.shape)


def check(cost: Callable[[], Cost], most: float) -> None:
    """Warn where the memory may not suffice, and refuse where it clearly cannot.

    `cost` is asked only if `most`, the bytes of the worst case, is worth it.
    """
    free = available()
    if most <= WORRYING * free:
        return
    expected = cost()
    if expected.memory > HOPELESS * free:
        require(expected.memory, f"counts of about {expected.distinct:,.0f} distinct x", REMEDY, free)
    if expected.memory > WORRYING * free:
        warnings.warn(
            f"The observations are expected to take {expected}, and {size(free)} are free; if that does not suffice, "
            f"{REMEDY}.",
            UserWarning,
            stacklevel=4,
        )


def _system() -> float:
    try:
        with open("/proc/meminfo") as file:
            return 1024.0 * next(int(line.split()[1]) for line in file if line.startswith("MemAvailable"))
    except (OSError, StopIteration):
        pass
    try:
        return float(os.sysconf("SC_PHYS_PAGES")) * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return math.inf


def _control_group(root: Path = Path("/sys/fs/cgroup"), member: Path = Path("/proc/self/cgroup")) -> float:
    """What the memory limits of the control groups (version 1 or 2) of this process leave; caches can be dropped."""
    try:
        lines = [line.split(":", 2) for line in member.read_text().splitlines()]
    except OSError:
        return math.inf
    free = math.inf
    for _, controllers, path in (line for line in lines if len(line) == 3):
        if controllers and "memory" not in controllers.split(","):
            continue
        top = root / "memory" if controllers else root
        names = ("limit_in_bytes", "usage_in_bytes") if controllers else ("max", "current")
        folder = top / path.strip("/")
        for place in (folder, *folder.parents):
            if place.is_relative_to(top):
                free = min(free, _left(place, *names))
    return free


def _left(folder: Path, limit: str, used: str) -> float:
    try:
        allowed, taken = (float((folder / f"memory.{name}").read_text()) for name in (limit, used))
        stat = dict(line.split()[:2] for line in (folder / "memory.stat").read_text().splitlines())
    except (OSError, ValueError):
        # No limit ("max"), or no such file.
        return math.inf
    prefix = "total_" if "total_inactive_file" in stat else ""
    return allowed - taken + sum(float(stat.get(f"{prefix}{kind}_file", 0)) for kind in ("inactive", "active"))


def _address_space() -> float:
    """What the limit of this process's address space (`ulimit -v`) leaves."""
    try:
        import resource

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        if limit == resource.RLIM_INFINITY:
            return math.inf
        with open("/proc/self/statm") as file:
            return float(limit) - int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except (ImportError, OSError, ValueError):
        return math.inf
