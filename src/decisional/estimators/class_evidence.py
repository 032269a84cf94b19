"""What models that series share say about each of them: how surprising it is, and which class it speaks for.

Three models of numbers say what is to be expected at a place of the series, after its last values, and after two values
so far apart that half is forgotten between them; each knows the place too, whose width the data choose. Two of
symbols say what is to be expected anyway, and after the last symbols. A series is never judged by itself: those of its
fold have no say, also when it is seen again.
"""

import hashlib
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ..states.class_densities import ClassCounts, ClassDensities
from ..support.arrays import Floats, Ints
from ..support.executors import map_slices, slices, workers
from ..support.progress import counted

# Folds, at most: of a training series nine tenths of the others tell.
FOLDS = 10
# Autocorrelation at which half is forgotten, and the longest distance, as a share of the shortest series.
FORGOTTEN, LONGEST = 0.5, 0.25
STATISTICS = ("surprise", "surprise_sd", "surprise_max")

Observed = tuple[Any, Any]


class Look(NamedTuple):
    """One way to look at a variable: its name, how a series becomes x and z, and what is expected of these."""

    name: str
    observe: Callable[[Any], Observed]
    model: ClassDensities | ClassCounts


class ClassEvidence(NamedTuple):
    """What series of some classes have shown.

    Attributes
    ----------
    looks : for each variable, the same ways to look at it
    classes : (k,) their labels
    folds : of the series that were learnt, by their content
    """

    looks: list[list[Look]]
    classes: list[Any]
    folds: dict[bytes, int]

    @property
    def names(self) -> tuple[list[str], list[str]]:
        """Of the statistics of each variable, and of the leads of the classes."""
        looks = [look.name for look in self.looks[0]]
        classes = self.classes if len(self.classes) > 1 else []
        statistics = [f"{statistic}_{look}" for look in looks for statistic in STATISTICS]
        return statistics, [f"lead_{look}_{label}" for look in looks for label in classes]

    def rows(self, series: list[list[Any]]) -> tuple[Floats, Floats]:
        """(n, variables, s) statistics and (n, l) leads of series, each of them a list of its variables.

        The same for any number of threads: each series has its own sums.
        """

        def some(part: tuple[int, int]) -> list[tuple[Floats, Floats]]:
            return [self._row(one) for one in series[slice(*part)]]

        found = [row for part in map_slices(some, slices(len(series), workers())) for row in part]
        return np.array([row[0] for row in found]), np.array([row[1] for row in found])

    def _row(self, series: list[Any]) -> tuple[Floats, Floats]:
        left_out = self.folds.get(_content(series), -1)
        statistics = np.zeros((len(self.looks), len(self.looks[0]), len(STATISTICS)))
        evidence = np.zeros((len(self.looks[0]), len(self.classes)))
        for v, (values, looks) in enumerate(zip(series, self.looks, strict=True)):
            for k, look in enumerate(looks):
                x, z = look.observe(values)
                if len(z):
                    together, each = look.model.bits(x, z, left_out)
                    statistics[v, k] = -together.mean(), together.std(), -together.min()
                    evidence[k] += each.mean(axis=0)
        return statistics.reshape(len(self.looks), -1), leads(evidence).ravel()


def leads(evidence: Floats) -> Floats:
    """(m, k) how far each of k classes is ahead of the best other one; (m, 0) of a single class."""
    k = evidence.shape[1]
    if k == 1:
        return evidence[:, :0]
    others = np.where(np.eye(k, dtype=bool), -np.inf, evidence[:, None, :]).max(axis=2)
    ahead: Floats = evidence - others
    return ahead


def class_evidence(series: list[list[Any]], labels: Any, numeric: bool, past: int, step: int) -> ClassEvidence:
    """Learn from series, lists of their variables, with their labels (n,).

    Cost: that of a choice of widths for each look and variable, 0.3 to 0.6 s of one core.
    """
    classes, kind = np.unique(np.asarray(labels), return_inverse=True)
    contents = [_content(one) for one in series]
    folds, n_folds = _folds(contents, kind)
    block = kind * n_folds + np.array([folds[content] for content in contents])
    shape = (classes.size, n_folds)

    def looks_at(values: Any) -> list[Look]:
        alone = {"anyway": partial(words, past=0), "past": partial(words, past=past)}
        ways = _ways(values, past, step) if numeric else alone
        return [Look(name, way, _learn(way, values, block, shape, numeric)) for name, way in ways.items()]

    found = map(looks_at, zip(*series, strict=True))
    looks = list(counted(found, "models of classes", len(series[0]), "variables"))
    return ClassEvidence(looks, classes.tolist(), folds)


def _folds(contents: list[bytes], kind: Ints) -> tuple[dict[bytes, int], int]:
    """The fold of each series: those of a class take turns, and the same series has one fold."""
    first: dict[bytes, int] = {}
    for content, k in zip(contents, kind.tolist(), strict=True):
        first.setdefault(content, k)
    different = np.array(list(first.values()))
    # Each fold leaves out some of every class, as far as there are two, so that none has more to say than another.
    n_folds = int(np.clip(np.bincount(different, minlength=1).min(), 2, FOLDS))
    turn: dict[int, int] = {}
    found = {}
    for content, k in first.items():
        turn[k] = turn.get(k, -1) + 1
        found[content] = turn[k] % n_folds
    return found, n_folds


def _learn(
    way: Callable[[Any], Observed], values: Iterable[Any], block: Ints, shape: tuple[int, int], numeric: bool
) -> Any:
    observed = [way(one) for one in values]
    own = np.repeat(block, [len(z) for _, z in observed])
    if numeric:
        x, z = (np.concatenate([part[k] for part in observed]) for k in (0, 1))
        return ClassDensities.of(x, z, own, shape)
    return ClassCounts.of([x for xs, _ in observed for x in xs], [z for _, zs in observed for z in zs], own, shape)


def _ways(values: Iterable[Floats], past: int, step: int) -> dict[str, Callable[[Any], Observed]]:
    """The looks at numbers that some of the series are long enough for."""
    values = list(values)
    pasts = {"place": (0, 1), "past": (past, step), "slow": (2, memory(values))}
    ways = {name: partial(windows, past=p, step=s) for name, (p, s) in pasts.items()}
    return {name: way for name, way in ways.items() if any(len(way(one)[1]) > 1 for one in values)}


def memory(values: list[Floats]) -> int:
    """The first distance in time at which series have forgotten half, in the mean of their autocorrelations."""
    most = max(int(LONGEST * min(map(len, values))), 1)
    series = [np.nan_to_num(standard(one)) for one in values]
    for step in range(1, most):
        if np.mean([(one[step:] * one[:-step]).mean() for one in series]) < FORGOTTEN:
            return step
    return most


def standard(values: Floats) -> Floats:
    """A series in its own standard deviations from its mean; a constant one is 0."""
    known = values[~np.isnan(values)]
    if not known.size:
        return values
    spread = known.std()
    scaled: Floats = (values - known.mean()) / (spread if spread > 0.0 else 1.0)
    return scaled


def windows(values: Floats, past: int, step: int) -> tuple[Floats, Floats]:
    """x (n, past + 1) and z (n,) of a series in standard deviations.

    x are the last value, the last change, the change of changes and so on, which are far less alike than the values
    of a smooth series, and the place, from 0 to 1; z is the next change, or the value where there is no past.
    """
    s = standard(values)
    t = np.arange(past * step, s.size)
    x = s[t[:, None] - step * np.arange(1, past + 1)]
    for order in range(1, past):
        x[:, order:] = x[:, order - 1 : -1] - x[:, order:]
    z = s[t] - s[t - step] if past else s[t]
    x = np.column_stack([x, t / max(s.size - 1, 1)])
    whole = ~(np.isnan(x).any(axis=1) | np.isnan(z))
    return x[whole], z[whole]


def words(symbols: list[Any], past: int) -> tuple[list[Any], list[Any]]:
    """Words of a series of symbols, and what follows them."""
    steps = range(past, len(symbols))
    return [tuple(symbols[t - past : t]) for t in steps], [symbols[t] for t in steps]


def _content(series: list[Any]) -> bytes:
    parts = (one.tobytes() if isinstance(one, np.ndarray) else repr(one).encode() for one in series)
    return hashlib.blake2b(b"|".join(parts), digest_size=16).digest()
