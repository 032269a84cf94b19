"""What decisions brought on data, and what others would have brought on the same data.

Standard errors are those of means over blocks of consecutive observations, which neighbours that are alike do not make
too small.
"""

from collections.abc import Hashable, Sequence
from math import isqrt
from typing import Any, NamedTuple

import numpy as np

from ..data.observations import CountsOnly, Observations
from ..support.arrays import Floats, Ints
from .autoregression import MOST, Autoregression
from .predictions import Optimum, Slack, exhaustive, numbered
from .solving import solve
from .utilities import Utility

# What decisions can be compared with.
RIVALS = ("fixed", "persistence", "ar", "x")
# Utilities that are computed at once.
BLOCK = 1 << 22


class Rival(NamedTuple):
    """Mean utility of other decisions on the same data, what they bring in addition, and the standard error of that.

    `differ` is the share of the observations in which they decide otherwise.
    """

    utility: float
    gain: float
    error: float
    differ: float


class _Means(NamedTuple):
    obtained: float
    best_fixed: float
    perfect: float


class Regret(_Means):
    """Mean utility per observation of following the decisions, and of what they compete with.

    It is the three numbers (obtained, best_fixed, perfect), with what else is known beside them.

    Attributes
    ----------
    obtained : of following the decisions
    best_fixed : of the best single prediction for these very data, which nobody knew before
    perfect : of a forecast that is always right
    error : standard error of `obtained`, over blocks of consecutive observations
    expected : what the decisions promised for these observations
    fixed : Rival that always makes the best single prediction of the data of `fit`; None where it was not asked for
    persistence : Rival that decides as if the last value or symbol came again; None where there is none
    ar : Rival that decides by an autoregression of the signal of `fit` with normal errors; None without a signal
    by_x : Rival that decides by P(Z|x) of each x rather than by its state, see `decide`
    """

    error: float
    expected: float
    fixed: Rival | None
    persistence: Rival | None
    ar: Rival | None
    by_x: Rival | None

    def __new__(cls, obtained: float, best_fixed: float, perfect: float, **more: Any) -> "Regret":
        made = super().__new__(cls, obtained, best_fixed, perfect)
        rest = {"error": float("nan"), "expected": float("nan")}
        vars(made).update(rest | dict.fromkeys(("fixed", "persistence", "ar", "by_x")) | more)
        return made

    @property
    def against_fixed(self) -> float:
        """What the best fixed prediction would have brought in addition; negative if the decisions did better."""
        return self.best_fixed - self.obtained

    @property
    def against_perfect(self) -> float:
        """What a perfect forecast would have brought in addition."""
        return self.perfect - self.obtained

    def rivals(self) -> dict[str, Rival]:
        """Those that there are, by what they do."""
        named = {
            "always the same": self.fixed,
            "as if the last value came again": self.persistence,
            "autoregression": self.ar,
            "by P(Z|x) of each x": self.by_x,
        }
        return {name: rival for name, rival in named.items() if rival is not None}

    def __str__(self) -> str:
        lines = [
            f"{'following the decisions':<32} {self.obtained:10.4g} ± {self.error:.2g}, promised {self.expected:.4g}"
        ]
        for name, rival in self.rivals().items():
            more = f"{rival.gain:+.3g} ± {rival.error:.2g}"
            lines.append(f"{name:<32} {rival.utility:10.4g} ({more}), otherwise in {rival.differ:.1%}")
        for name, value in (("the best fixed one, afterwards", self.best_fixed), ("a perfect forecast", self.perfect)):
            lines.append(f"{name:<32} {value:10.4g}")
        return "\n".join(lines)


def block_error(values: Floats) -> float:
    """Standard error of the mean of consecutive values, by blocks of about the square root of their number."""
    n = values.size
    size = max(isqrt(n), 1)
    starts = np.arange(0, n, size)
    if starts.size < 2:
        return float("nan")
    lengths = np.diff(np.append(starts, n))
    apart = np.add.reduceat(values, starts) - lengths * values.mean()
    return float(np.sqrt(starts.size / (starts.size - 1.0) * (apart**2).sum()) / n)


def compared(own: Floats, decided: Sequence[Any], other: Floats, instead: Sequence[Any]) -> Rival:
    """What other decisions brought, given the utilities and the decisions of both."""
    differ = sum(a != b for a, b in zip(decided, instead, strict=True)) / own.size
    return Rival(float(other.mean()), float((other - own).mean()), block_error(other - own), differ)


def utilities_of(
    utility: Utility, choices: Sequence[Any], choice: Ints, outcomes: Sequence[Any], outcome: Ints
) -> Floats:
    """(n,) what each prediction was worth: numbers of predictions among `choices`, and of outcomes among `outcomes`."""
    if len(choices) * len(outcomes) <= BLOCK:
        return utility.matrix(choices, outcomes)[choice, outcome]
    found = np.empty(choice.size)
    for begin in range(0, choice.size, 256):
        part = slice(begin, begin + 256)
        y, row = numbered(choice[part].tolist())
        z, column = numbered(outcome[part].tolist())
        found[part] = utility.matrix([choices[k] for k in y], [outcomes[k] for k in z])[row, column]
    return found


class Trials(NamedTuple):
    """Observations in which something was decided, in their order.

    Attributes
    ----------
    cause, number : (n,) causal state (-1: unknown), and what happened, by its number among the outcomes
    outcomes : what can happen
    last : the n symbols before it, where a machine follows symbols
    observations : those that were decided in, where there are any
    """

    cause: Ints
    number: Ints
    outcomes: Sequence[Hashable]
    last: Sequence[Any] | None = None
    observations: Observations | None = None

    def before(self) -> tuple[Sequence[Any] | None, Floats | None]:
        """The n last values or symbols, and (n, m) the last values of a signal, the last first; None: unknown."""
        return (self.last, None) if self.observations is None else last_values(self.observations)


def last_values(obs: Observations) -> tuple[Sequence[Any] | None, Floats | None]:
    """What came last before each outcome, as `Trials.before` tells it."""
    if obs.kind == "series" and obs.future == 1:
        word = obs.words(np.arange(obs.table().n_x))[:, 0]
        letters = [obs.letters[k] for k in word.tolist()]
        return [letters[k] for k in obs.x.tolist()], None
    found = signal_of(obs)
    if found is None:
        return None, None
    values, place = found
    past = np.stack([values[place - lag] for lag in range(MOST)], axis=1)
    return past[:, 0].tolist(), past


def signal_of(obs: Observations) -> tuple[Floats, Ints] | None:
    """The values of a signal, with gaps of NaN, and the place of the last one before each outcome.

    None where the outcome is not the value that comes next: it must be the same column of each successor's x.
    """
    if obs.kind != "signal" or obs.future != 1 or obs.successor is None:
        return None
    assert obs.points is not None
    # Inputs that are known in advance are no values of the signal.
    x, z = obs.points[obs.x][:, : obs.past - obs.known], np.array(obs.outcomes, float)[obs.z]
    start = np.flatnonzero(obs.successor >= 0)
    end = obs.successor[start]
    same = [c for c in range(x.shape[1]) if start.size and np.array_equal(x[end, c], z[start])]
    if not same or not np.array_equal(end, start + 1):
        return None
    first, lags = same[0], 1
    while first + lags < x.shape[1] and np.array_equal(x[end, first + lags], x[start, first + lags - 1]):
        lags += 1
    # Each run begins with a gap and what is known of the past of its first observation.
    begins = np.setdiff1d(np.arange(obs.n), end)
    place = np.arange(obs.n) + (MOST + lags) * (np.searchsorted(begins, np.arange(obs.n), side="right")) - 1
    values = np.full(obs.n + (MOST + lags) * begins.size, np.nan)
    values[place + 1] = z
    for lag in range(lags):
        values[place[begins] - lag] = x[begins, first + lag]
    return values, place


def certain(utility: Utility, values: Sequence[Any], known: Sequence[Any], optimise: Any) -> tuple[Floats, list[Any]]:
    """Utility and best prediction where it is certain which of the values comes; they are the first of the `known`."""
    alone = utility.y is not None or type(utility).closed_form is not Utility.closed_form

    def best(begin: int, end: int) -> Optimum:
        part = values[begin:end]
        if optimise is not None:
            return solve(np.eye(end - begin, len(known), begin), known, utility, Slack(), None, optimise)
        if alone:
            # No other value matters.
            return solve(np.eye(end - begin), part, utility, Slack())
        candidates = utility.candidates(known)
        worth = utility.matrix(candidates, part)
        return exhaustive(worth.T, worth, candidates, Slack(), worth.T)

    size = 256 if alone else max(1, BLOCK // len(known))
    found = [best(begin, min(begin + size, len(values))) for begin in range(0, len(values), size)]
    choices = [y for part in found for y in part.predictions.choice()]
    return np.concatenate([part.utility for part in found]), choices


def signal_rival(obs: Observations) -> Autoregression | None:
    """The autoregression of a signal that was fitted, where there is one in memory."""
    try:
        found = signal_of(obs)
    except CountsOnly:
        return None
    return None if found is None else Autoregression.fit(found[0])
