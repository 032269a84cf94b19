"""Causal states of kernel densities by evidence: a difference is real if it shows in what was not used to see it.

P(Z|x) is estimated at each observation from others that are not its neighbours in time (cross-fitting). Small groups
of similar densities are merged for as long as the z of their own members, each counted once, do not tell them apart. A
group whose members lie mostly among those of others is the border between these, and no state. Of several widths, those
whose states predict the z of other folds as well as the best do; of these the one with the fewest states is taken.
"""

from copy import copy
from typing import Any, Literal, NamedTuple

import numpy as np

from ..data.observations import Observations
from ..support.arrays import Floats, Ints
from ..support.executors import alone, map_slices
from ..support.progress import counted, told
from .bandwidths import ANSWERING, Sample, choose, likeliest, sampled
from .distributions import Distributions
from .kernel_sums import kernel_sums, squares
from .kernels import KernelModel, Kernels
from .labelling import Densities, Labeller, nearest
from .scales import scattered, tell_outside

# Cross-fitting: blocks of so many consecutive observations take turns in so many folds.
BLOCK, FOLDS = 10, 10
# Values of z that densities are known at, and bins of z for each of them.
POINTS, FINE = 64, 4
# Differences finer than so many scales of z are no evidence: the narrower kernels are, the more of them are chance.
BLUR = 0.3
# Groups at most, observations in each on average, and rows that are grouped by their distances.
GROUPS, MEMBERS, COMPARED = 60, 20, 700
# A state has at least so many observations.
FEWEST = 3
# Beyond so many observations the level of the tests falls with this power of their number: the data choose the groups,
# and the more there are, the more differences are found among them by chance, while real ones show ever more clearly.
CHOSEN, POWER = 500, 1.5
# Logarithm of a p-value that groups of folds do not reach by chance.
CERTAIN = -14.0
# Log likelihood ratios of single observations are cut off there.
SURPRISE = 3.0
# The share of the kernel mass around its members that a state must hold, and how many members are asked.
SUPPORT, ASKED, ASKED_OF_EACH = 0.75, 600, 30
# A border that tells more about other observations than so many standard errors is none.
WORTH = 3.0
# Widths are as good as the best within so many standard errors of their held-out score: half a one where observations
# are few, up to that of a single state where they are many; within still more there is doubt.
CLOSE, ALONE, DOUBT = 0.5, 2.0, 2.5
# Rounds of merging and of settling, at most.
ROUNDS, TURNS = 8, 5
# Narrower widths that are tried too, of dimensions that play a part: bias cannot be undone later, and variance can.
FACTORS, WIDE = (1.0, 0.7, 0.5), 3.0
# Kernel mass of others near half of the observations that is too little.
NEIGHBOURS = 2.0
TINY, IMPOSSIBLE = 1e-12, 1e-300


class BinnedOutcomes(NamedTuple):
    """The z of a sample: bins, what they look like through the kernel of z, and classes for tests of counts.

    Attributes
    ----------
    bin : (n,) bin of each z
    kernel : (n_bins, n_points) weights of the points of each bin, which add up to 1
    blurred : the same, as far as states are told apart by it
    at, point : (n_points, k) the points in scales, k = 0 for kinds; and (n,) that nearest to each z
    group, n_groups : (n,) class of each z among a few that are about equally frequent
    """

    bin: Ints
    kernel: Floats
    blurred: Floats
    at: Floats
    point: Ints
    group: Ints
    n_groups: int


def outcomes_of(sample: Sample, width: float) -> BinnedOutcomes:
    """Bins of the z of a sample, for a kernel of some width in scales."""
    n = len(sample.x)
    n_groups = int(np.clip(round(n**0.4 / 2), 4, 16))
    if sample.dim == 0:
        return _kinds(sample.z, n_groups)
    if sample.dim == 1:
        return _numbers(sample.z[:, 0], width, n_groups)
    return _vectors(sample.z, sample.site, width, n_groups)


def _kinds(z: Ints, n_groups: int) -> BinnedOutcomes:
    kinds, number, count = np.unique(z, return_inverse=True, return_counts=True)
    rank = np.empty(kinds.size, np.int64)
    rank[np.argsort(-count, kind="stable")] = np.arange(kinds.size)
    group = np.minimum(rank, n_groups - 1)[number]
    apart = np.eye(kinds.size)
    return BinnedOutcomes(number, apart, apart, np.empty((kinds.size, 0)), number, group, min(n_groups, kinds.size))


def _numbers(z: Floats, width: float, n_groups: int) -> BinnedOutcomes:
    at = np.linspace(z.min() - width, z.max() + width, POINTS)
    step = float(at[1] - at[0])
    centre = at[0] + step * np.arange(FINE * (POINTS - 1) + 1) / FINE
    square = (centre[:, None] - at) ** 2
    kernels = _kernel(square, max(width, step)), _kernel(square, max(width, step, BLUR))
    bins = np.round((z - at[0]) * (FINE / step)).astype(np.int64)
    cuts = np.quantile(z, np.linspace(0.0, 1.0, n_groups + 1)[1:-1])
    group = np.searchsorted(cuts, z)
    point = np.round((z - at[0]) / step).astype(np.int64)
    return BinnedOutcomes(bins, *kernels, at[:, None], point, group, n_groups)


def _kernel(square: Floats, width: float) -> Floats:
    """Rows of weights that add up to 1, by squared distances."""
    kernel: Floats = np.exp(-0.5 * square / width**2) + TINY
    kernel /= kernel.sum(axis=1, keepdims=True)
    return kernel


def _vectors(z: Floats, site: Ints, width: float, n_groups: int) -> BinnedOutcomes:
    """Vectors lie in the cells around the means of clusters of some of them."""
    some = z[scattered(site, COMPARED)]
    cell = _clusters(some, POINTS, "ward")
    centre = _sums(cell, some) / np.bincount(cell)[:, None]
    square = squares(centre, centre)
    apart = np.sqrt(np.median(np.where(np.eye(len(centre), dtype=bool), np.inf, square).min(axis=1)))
    apart = apart if np.isfinite(apart) and apart > 0.0 else 1.0
    kernels = _kernel(square, max(width, apart)), _kernel(square, max(width, apart, BLUR))
    cell = squares(z, centre).argmin(axis=1)
    coarse = _clusters(centre, n_groups, "ward")
    return BinnedOutcomes(cell, *kernels, centre, cell, coarse[cell], int(coarse.max()) + 1)


def _clusters(rows: Floats, n: int, method: Literal["ward", "average"]) -> Ints:
    """At most n clusters of rows, by one of SciPy's methods."""
    from scipy.cluster.hierarchy import fcluster, linkage

    if len(rows) < 2:
        return np.zeros(len(rows), np.int64)
    found: Ints = fcluster(linkage(rows, method), n, "maxclust").astype(np.int64) - 1
    return np.unique(found, return_inverse=True)[1]


def _densities(sample: Sample, outcomes: BinnedOutcomes, width: Floats) -> Densities:
    """P(Z|x) by the x of a sample, or of as many of them as answer."""
    some = scattered(sample.site, 2 * ANSWERING)
    prior = np.bincount(outcomes.bin, minlength=len(outcomes.kernel)) / len(sample.x) @ outcomes.kernel
    return Densities(sample.x[some], outcomes.bin[some], width, outcomes.kernel, prior)


def _neighbours(densities: Densities, sample: Sample) -> Floats:
    """Kernel mass of other observations near some of the sample."""
    asked = scattered(sample.site, ASKED)
    return densities.at(sample.x[asked])[1] - np.isin(asked, scattered(sample.site, 2 * ANSWERING))


def cross_fitted(densities: Densities, sample: Sample, row: Ints) -> Floats:
    """(n_rows, n_points) densities at the distinct x of the sample, without their own observations and folds.

    row (n,) numbers the distinct x.
    """
    fold, some = folds(len(sample.x)), scattered(sample.site, 2 * ANSWERING)
    p = np.empty((len(row), densities.kernel.shape[1]))
    for f in range(FOLDS):
        own = np.flatnonzero(fold == f)
        if own.size:
            p[own] = np.maximum(densities.at(sample.x[own], fold[some] != f)[0], TINY)
    return _sums(row, p) / np.bincount(row)[:, None]


def _first(values: Ints) -> Ints:
    """The different values, in the order in which they come."""
    return values[np.sort(np.unique(values, return_index=True)[1])]


def _sums(labels: Ints, values: Floats) -> Floats:
    """Sums of the rows of values with each label; every label occurs."""
    order = np.argsort(labels, kind="stable")
    first = np.searchsorted(labels[order], np.arange(int(labels.max()) + 1))
    found: Floats = np.add.reduceat(values[order], first, axis=0)
    return found


def folds(n: int) -> Ints:
    """(n,) fold of each observation."""
    return (np.arange(n) // BLOCK) % FOLDS


class _Grouping:
    """States of the distinct x of a sample at given widths.

    Parameters
    ----------
    sample, outcomes : the observations
    width : (d,) widths of x, in scales
    alpha : probability of a false difference
    """

    def __init__(self, sample: Sample, outcomes: BinnedOutcomes, width: Floats, alpha: float) -> None:
        self.sample, self.outcomes, self.alpha = sample, outcomes, alpha
        self.densities = _densities(sample, outcomes, width)
        rows, self.row = np.unique(sample.row, return_inverse=True)
        self.p = cross_fitted(self.densities, sample, self.row)
        self.fold = folds(len(sample.x))
        self.labels: Ints = np.zeros(rows.size, np.int64)
        # The best held-out score on the way, against which borders are judged.
        self.best = self.score()

    def single(self) -> "_Grouping":
        """All x in one state."""
        found = copy(self)
        found.labels = np.zeros_like(self.labels)
        return found

    def find(self) -> "_Grouping":
        """Group, merge, settle and fold back borders, until nothing changes."""
        self.labels = self._groups()
        for _ in range(ROUNDS):
            before = self.labels
            self.labels = merged(self.own, self.outcomes, self.fold, self.alpha)[self.labels]
            self._settle()
            self._fold_back()
            if np.array_equal(self.labels, before):
                break
        return self

    @property
    def own(self) -> Ints:
        """(n,) state of each observation."""
        return self.labels[self.row]

    @property
    def n_states(self) -> int:
        return int(self.labels.max()) + 1

    def score(self) -> Floats:
        """(n,) log likelihood of each z in the state of its x, from the other folds."""
        held = HeldOut(self.own, self.outcomes, self.fold)
        return held.log[np.arange(self.row.size), self.own]

    def tables(self) -> Floats:
        """(n_states, n_points) logarithms of the mean P(Z|x) of each state, with one more observation from all states.

        Not those of the z of its members: densities that kernels have blurred would look like broad states then.
        """
        mass = _sums(self.labels, self.p * np.bincount(self.row)[:, None])
        n = np.bincount(self.own)[:, None]
        log: Floats = np.log(np.maximum((mass + self.densities.prior) / (n + 1.0), TINY))
        return log

    def _groups(self) -> Ints:
        """Small groups of similar densities."""
        n = min(GROUPS, len(self.sample.x) // MEMBERS)
        if n < 2:
            return np.zeros(len(self.p), np.int64)
        some = _first(self.row[scattered(self.sample.site, COMPARED)])
        # Groups are as wide where x are frequent as where they are rare: Ward's would be about equally frequent, and
        # what is rare in a continuum would not show.
        group = _clusters(np.sqrt(self.p[some]), n, "average")
        mean = _sums(group, self.p[some]) + self.densities.prior
        log = np.log(np.maximum(mean / mean.sum(axis=1, keepdims=True), TINY))
        return np.unique(nearest(self.p, log), return_inverse=True)[1]

    def _settle(self) -> None:
        """Give each x to the state that it is expected to be scored best by."""
        for _ in range(TURNS):
            before = self.labels
            self.labels = np.unique(nearest(self.p, self.tables()), return_inverse=True)[1]
            if np.array_equal(self.labels, before):
                break

    def _fold_back(self) -> None:
        """Give the x of borders between states to these, unless that tells less about the z of other folds.

        In a continuum each state lies between others.
        """
        while self.n_states > 1:
            support, tables = self._support(), self.tables()
            log = HeldOut(self.own, self.outcomes, self.fold).log
            score = log[np.arange(len(log)), self.own]
            if score.mean() > self.best.mean():
                self.best = score
            for border in np.argsort(support, kind="stable").tolist():
                if support[border] >= SUPPORT:
                    return
                labels = self._without(border, tables)
                if as_good(self.best - log[np.arange(len(log)), labels[self.row]], WORTH):
                    self.labels = np.unique(labels, return_inverse=True)[1]
                    self._settle()
                    break
            else:
                return

    def _without(self, state: int, tables: Floats) -> Ints:
        """Labels where the x of one state are given to the others."""
        others = np.flatnonzero(np.arange(len(tables)) != state)
        inner = np.flatnonzero(self.labels == state)
        labels = self.labels.copy()
        labels[inner] = others[nearest(self.p[inner], tables[others])]
        return labels

    def _support(self) -> Floats:
        """(n_states,) mean share of the kernel mass around members of a state that lies in the state itself."""
        x, site, own = self.sample.x, self.sample.site, self.own
        first = np.concatenate([np.flatnonzero(own == k)[:ASKED_OF_EACH] for k in range(self.n_states)])
        asked, answering = np.union1d(scattered(site, ASKED), first), scattered(site, ANSWERING)
        counts = np.arange(answering.size + 1), own[answering], np.ones(answering.size)
        mass = kernel_sums(x[answering], counts, self.n_states, self.densities.width, query=x[asked]).astype(float)
        mass[np.arange(asked.size), own[asked]] -= np.isin(asked, answering)
        inside = np.maximum(mass[np.arange(asked.size), own[asked]], 0.0) / np.maximum(mass.sum(axis=1), 1e-9)
        total = np.bincount(own[asked], weights=inside, minlength=self.n_states)
        return total / np.bincount(own[asked], minlength=self.n_states)


class HeldOut:
    """Log likelihood of each z in each state, from the members of the other folds; kept up to date while states merge.

    Parameters
    ----------
    own : (n,) state of each observation
    outcomes, fold : their z and (n,) folds

    Attributes
    ----------
    log : (n, n_states)
    """

    def __init__(self, own: Ints, outcomes: BinnedOutcomes, fold: Ints) -> None:
        from scipy.sparse import csr_array

        k, cell = int(own.max()) + 1, fold * (int(own.max()) + 1) + own
        shape = FOLDS * k, outcomes.kernel.shape[0]
        count = csr_array((np.ones(own.size), (cell, outcomes.bin)), shape)
        self.mass = (count @ outcomes.blurred).reshape(FOLDS, k, -1)
        self.size = np.bincount(cell, minlength=FOLDS * k).reshape(FOLDS, k).astype(float)
        self.fold, self.point, self.prior = fold, outcomes.point, self.mass.sum(axis=(0, 1)) / own.size
        self.log = np.stack([self._column(s) for s in range(k)], axis=1)

    def _column(self, state: int) -> Floats:
        mass, size = self.mass[:, state], self.size[:, state]
        rest = (mass.sum(axis=0) - mass + self.prior) / (size.sum() - size + 1.0)[:, None]
        found: Floats = np.log(np.maximum(rest[self.fold, self.point], 1e-3 * self.prior[self.point]))
        return found

    def merge(self, gone: int, kept: int) -> None:
        """Add one state to another."""
        self.mass[:, kept] += self.mass[:, gone]
        self.size[:, kept] += self.size[:, gone]
        self.log[:, kept] = self._column(kept)


def merged(own: Ints, outcomes: BinnedOutcomes, fold: Ints, alpha: float) -> Ints:
    """(n_states,) the state that each goes into: the two most alike merge while tests do not tell them apart."""
    pairs = _Pairs(own, outcomes, HeldOut(own, outcomes, fold))
    target = np.arange(pairs.live.size)
    log_p = np.array([pairs.log_p(a) for a in range(target.size)])
    while pairs.live.sum() > 1:
        gone, kept = divmod(int(log_p.argmax()), target.size)
        best, least = log_p[gone, kept], np.log(alpha / pairs.live.sum())
        if best < least and (best < CERTAIN or pairs.log_p_inside_folds(gone, kept) < least):
            break
        target[target == gone] = kept
        pairs.merge(gone, kept)
        log_p[gone] = log_p[:, gone] = -np.inf
        log_p[kept] = log_p[:, kept] = pairs.log_p(kept)
    return np.unique(target, return_inverse=True)[1]


class _Pairs:
    """Two tests of each pair of states, each by the z of their own members.

    The likelihood ratio: a member's z is likelier in its own state, by the members of other folds (Welch's test, one
    side). The counts: classes of z are as frequent in both states (G-test). Means and variances of the ratios stand in
    `mean` and `error`, (n_states, n_states): those of members of a, between a and b.
    """

    def __init__(self, own: Ints, outcomes: BinnedOutcomes, held: HeldOut) -> None:
        k = int(own.max()) + 1
        self.held, self.live, self.group, self.state = held, np.ones(k, bool), outcomes.group, own.copy()
        self.members = np.split(np.argsort(own, kind="stable"), np.cumsum(np.bincount(own))[:-1])
        count = np.bincount(own * outcomes.n_groups + outcomes.group, minlength=k * outcomes.n_groups)
        self.count = count.reshape(k, -1).astype(float)
        self.mean, self.error = np.zeros((k, k)), np.ones((k, k))
        for b in range(k):
            self._compare(b)

    @property
    def n(self) -> Floats:
        n: Floats = self.count.sum(axis=1)
        return n

    def _compare(self, b: int) -> None:
        """Ratios of the members of all states between their own and b."""
        log, n = self.held.log, np.maximum(self.n, 1.0)
        ratio = np.clip(log[np.arange(len(log)), self.state] - log[:, b], -SURPRISE, SURPRISE)
        mean = np.bincount(self.state, ratio, n.size) / n
        spread = np.bincount(self.state, (ratio - mean[self.state]) ** 2, n.size) / n
        self.mean[:, b], self.error[:, b] = mean, spread / np.maximum(n - 1.0, 1.0) + TINY

    def merge(self, gone: int, kept: int) -> None:
        """Add one state to another."""
        self.members[kept] = np.concatenate([self.members[kept], self.members[gone]])
        self.state[self.members[gone]] = kept
        self.live[gone] = False
        self.count[kept] += self.count[gone]
        self.held.merge(gone, kept)
        own = self.members[kept]
        ratio = np.clip(self.held.log[own, kept][:, None] - self.held.log[own], -SURPRISE, SURPRISE)
        self.mean[kept], self.error[kept] = ratio.mean(axis=0), ratio.var(axis=0) / max(own.size - 1, 1) + TINY
        self._compare(kept)

    def log_p(self, a: int) -> Floats:
        """(n_states,) logarithms of the p-values of a state against all others; -inf where there is none."""
        n, error = self.n, self.error[a] + self.error[:, a]
        own, other = np.maximum(n[a] - 1.0, 1.0), np.maximum(n - 1.0, 1.0)
        dof = error**2 / (self.error[a] ** 2 / own + self.error[:, a] ** 2 / other)
        ratio = _log_t((self.mean[a] + self.mean[:, a]) / np.sqrt(error), np.maximum(dof, 1.0))
        both = self.count[a] + self.count
        g = (_x_log_x(self.count[a]) + _x_log_x(self.count) - _x_log_x(both)).sum(axis=1)
        g -= _x_log_x(n[a]) + _x_log_x(n) - _x_log_x(n[a] + n)
        counts = _log_chi2(np.maximum(2.0 * g, 0.0), np.maximum((both > 0).sum(axis=1) - 1, 1))
        p = np.minimum(np.log(2.0) + np.minimum(ratio, counts), 0.0)
        p = np.where(np.minimum(n[a], n) < FEWEST, 0.0, p)
        p = np.where(self.live & (np.arange(n.size) != a), p, -np.inf)
        return p

    def log_p_inside_folds(self, a: int, b: int) -> float:
        """Logarithm of the p-value of two states where members are compared with those of their own fold only.

        Which state an x is in follows from the z of other folds, which a fold with unusual z lacks: groups may be
        folds. Inside a fold all x lack the same. The ratio is then the mean difference inside folds, and the counts
        those of Mantel and Haenszel's test.
        """
        own = [self.members[k] for k in (a, b)]
        fold = [self.held.fold[k] for k in own]
        count = np.stack([self._by_fold(f, self.group[k]) for f, k in zip(fold, own, strict=True)])
        n = count.sum(axis=2)
        both, free = np.maximum(n.sum(axis=0), 1.0), np.maximum(n.sum(axis=1) - np.count_nonzero(n, axis=1), 1.0)
        ratio = [np.clip(self.held.log[k, a] - self.held.log[k, b], -SURPRISE, SURPRISE) for k in own]
        mean = np.stack([np.bincount(f, r, FOLDS) for f, r in zip(fold, ratio, strict=True)]) / np.maximum(n, 1.0)
        spread = np.array([((r - m[f]) ** 2).sum() for f, r, m in zip(fold, ratio, mean, strict=True)]) / free
        weight = n[0] * n[1] / both
        error = (weight**2 / np.maximum(n, 1.0)).sum(axis=1) * spread + TINY
        dof = float(error.sum() ** 2 / (error**2 / free).sum())
        ratios = float(_log_t((weight * (mean[0] - mean[1])).sum() / np.sqrt(error.sum()), dof))
        share = count.sum(axis=0) / both[:, None]
        more = (count[0] - n[0][:, None] * share).sum(axis=0)
        variance = ((n[0] * n[1] / np.maximum(both - 1.0, 1.0))[:, None] * share).sum(axis=0)
        seen = variance > 0.0
        counts = float(_log_chi2((more[seen] ** 2 / variance[seen]).sum(), max(int(np.count_nonzero(seen)) - 1, 1)))
        return min(float(np.log(2.0)) + min(ratios, counts), 0.0)

    def _by_fold(self, fold: Ints, group: Ints) -> Floats:
        """(FOLDS, n_groups) how many of each class are in each fold."""
        k = self.count.shape[1]
        return np.bincount(fold * k + group, minlength=FOLDS * k).reshape(FOLDS, k).astype(float)


def _log_t(t: Any, dof: Any) -> Any:
    """Logarithm of the probability of a larger Student's t; what is nearly impossible is all the same."""
    from scipy.special import stdtr

    return np.log(np.maximum(stdtr(dof, -t), IMPOSSIBLE))


def _log_chi2(x: Any, dof: Any) -> Any:
    """The same of a larger chi-square."""
    from scipy.special import chdtrc

    return np.log(np.maximum(chdtrc(dof, x), IMPOSSIBLE))


def _x_log_x(x: Any) -> Any:
    return x * np.log(np.maximum(x, 1e-300))


class ByEvidence(NamedTuple):
    """States by evidence.

    Attributes
    ----------
    model : the kernel density of z given x
    sample : the observations that were looked at
    labeller : what labels any x
    labels : (n,) state of each observation of the sample
    score, alone : (n,) held-out log likelihood of the z of each, in its state and in a single one
    """

    model: KernelModel
    sample: Sample
    labeller: Labeller
    labels: Ints
    score: Floats
    alone: Floats

    @property
    def n_states(self) -> int:
        return self.labeller.n_states

    def observed(self) -> Distributions:
        """What followed each distinct x."""
        return self.model.observed()

    def own_places(self) -> tuple[Floats, Ints]:
        """Where the z of the sample lie in their distributions, made without them, and the states of their x.

        In the order of sites; NaN and -1 stand where sites are missing.
        """
        row = np.unique(self.sample.row, return_inverse=True)[1]
        p = cross_fitted(self.labeller.densities, self.sample, row)[row]
        order = np.argsort(self.sample.site, kind="stable")
        places, gaps = self.labeller.places(p, self.sample.z)[order], np.diff(self.sample.site[order]) > 1
        at = np.arange(order.size) + np.append(0, np.cumsum(gaps))
        lay, states = np.full(at[-1] + 1, np.nan), np.full(at[-1] + 1, -1)
        lay[at], states[at] = places, self.labels[order]
        return lay, states

    def label_all(self) -> Ints:
        """States of all distinct x of the data; those of the sample were found without their own z."""
        points: Any = self.model.obs.points
        labels = np.full(len(points), -1, np.int64)
        labels[self.sample.row] = self.labels
        rest = np.flatnonzero(labels < 0)
        labels[rest] = self.labeller.label(points[rest])
        # Where nobody is near, x is like all others.
        labels[labels < 0] = int(np.bincount(self.labels).argmax())
        return labels

    def settled(self, labels: Ints, states: Ints) -> "ByEvidence":
        """The same with the final numbers, (n_x,), of the states that all distinct x have."""
        number = np.empty(self.n_states, np.int64)
        number[labels] = states
        return self.renumbered(number)

    def renumbered(self, number: Ints) -> "ByEvidence":
        """The same states with other numbers, (n_states,); those with the same number are one."""
        labeller = self.labeller._replace(state=number[self.labeller.state])
        return self._replace(labeller=labeller, labels=number[self.labels])

    def doubt(self) -> str | None:
        """What should be known before the states are trusted, in sentences."""
        said = []
        few = int(np.bincount(self.labels).min())
        if len(self.labels) < 2 * MEMBERS:
            said.append(f"{len(self.labels)} observations are too few to tell states apart.")
        near = float(np.median(_neighbours(self.labeller.densities, self.sample)))
        if near < NEIGHBOURS:
            d = self.sample.x.shape[1]
            said.append(
                f"There is too little data for x of {d} {'number' if d == 1 else 'numbers'}: half of the observations "
                f"have less than {near:.1f} others near them; use a shorter past, or more data."
            )
        if self.n_states > 1 and few < MEMBERS:
            said.append(f"The rarest of {self.n_states} states hangs on {few} observations.")
        if self.n_states > 1 and as_good(self.score - self.alone, DOUBT):
            said.append("The states hardly predict other observations better than a single one does.")
        return " ".join(said) or None


def states_of(obs: Observations, density: Kernels, alpha: float) -> ByEvidence:
    """States of observations, and the kernel density of their z given x.

    Parameters
    ----------
    obs : observations whose x are numbers
    density : how wide kernels are: given, by a rule, or by the likelihood, where narrower ones are tried too
    alpha : probability of a false difference
    """
    density.check(obs)
    with told(density.progress):
        return _found_in(obs, density, alpha)


def _found_in(obs: Observations, density: Kernels, alpha: float) -> ByEvidence:
    kinds = density.z_bandwidth is not None and density.z_bandwidth == 0
    sample = sampled(obs, kinds)
    tell_outside(obs, sample.x_scale, sample.z_scale)
    if isinstance(density.bandwidth, str) and density.bandwidth == "cv":
        # Pixels close by say more than those further off: columns of one unit need not have one width.
        apart = sample._replace(shared=False)
        own = [likeliest(apart)]
        if sample.x.shape[1] > 1:
            own.append(likeliest(apart, shared=True))
        tried = [np.where(width < WIDE, width * factor, width) for width, _ in own for factor in FACTORS]
        widths = sample.in_units(*own[0])
        if density.z_bandwidth is not None:
            widths = widths._replace(z_sigma=float(density.z_bandwidth))
    else:
        widths = choose(density.bandwidth, density.z_bandwidth, obs)
        tried = [widths.sigma / sample.x_scale.scale]
    z_width = 1.0 if sample.z_scale is None else float(np.mean(widths.z_sigma / sample.z_scale.scale))
    return find(density.with_widths(obs, widths), sample, tried, z_width, alpha)


def find(
    model: KernelModel,
    sample: Sample,
    widths: list[Floats],
    z_width: float,
    alpha: float,
) -> ByEvidence:
    """States of a sample: of several widths of x, the fewest states whose held-out score is that of the best.

    Parameters
    ----------
    model : the kernel density of all observations
    sample : some of them
    widths, z_width : (d,) widths of x that are tried, and that of z, in scales
    alpha : probability of a false difference
    """
    outcomes = outcomes_of(sample, z_width)
    alpha *= min(1.0, CHOSEN / len(sample.x)) ** POWER
    tried: list[_Grouping] = []

    def group(width: Floats) -> _Grouping:
        with alone():
            return _Grouping(sample, outcomes, width, alpha).find()

    tried += counted(map_slices(group, widths), "states", len(widths), "widths")
    # One state is always among what is compared.
    tried.append(tried[0].single())
    scores = [grouping.score() for grouping in tried]
    best = max(scores, key=lambda score: float(score.mean()))
    close = min(CLOSE * max(1.0, len(sample.x) / CHOSEN), ALONE)
    enough = [close] * len(widths) + [ALONE]
    good = [k for k, score in enumerate(scores) if as_good(best - score, enough[k])]
    chosen = min(good, key=lambda k: (tried[k].n_states, -scores[k].mean()))
    found = tried[chosen]
    known = found.densities, found.tables(), np.arange(found.n_states), sample.z_scale, outcomes.at
    return ByEvidence(model, sample, Labeller(sample.x_scale, *known), found.own, scores[chosen], scores[-1])


def as_good(lost: Floats, errors: float = 1.0) -> bool:
    """Whether a mean loss is within so many standard errors, by blocks of consecutive observations."""
    block = np.add.reduceat(lost, np.arange(0, lost.size, BLOCK))
    return bool(lost.mean() <= errors * block.std() * np.sqrt(block.size) / lost.size + TINY)
