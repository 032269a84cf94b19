"""Markov chains and unifilar machines as arrays: classes, stationary distributions, entropies.

Pure functions of arrays, without machine objects. Entropies are in bits.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._kernels import components as kernels
from ..support.arrays import entries

Array = NDArray[Any]

_DENSE = 64  # systems up to this size are solved densely; beyond, sparse and free of BLAS threads
_CLOSURE = 1000  # beliefs kept for the exact solution of excess_entropy
_FRONTIER = 4096  # beliefs followed at once
_ROUGH = 512  # beliefs followed at once where some thousandths of a bit do not matter
_WORK = 3e6  # beliefs × states × symbols followed in all
ROUNDING = 1e-11  # error in bits of treating beliefs equal to 1e-12 as one


class Chain(NamedTuple):
    """Transition probabilities in compressed rows: state i goes to target[k], k = start[i]..start[i + 1] - 1.

    A target of -1 is none; a state without targets is a dead end; a target may occur twice in a row.
    """

    start: Array
    target: Array
    p: Array

    @classmethod
    def of_table(cls, targets: Array, emission: Array) -> Chain:
        """The chain of a unifilar machine, both arrays (n_states, n_symbols)."""
        n_states, n_symbols = targets.shape
        return cls(np.arange(n_states + 1) * n_symbols, targets.ravel(), emission.ravel())

    @classmethod
    def of_edges(cls, n_states: int, source: Array, target: Array, p: Array) -> Chain:
        """The chain of transitions in any order."""
        order = np.argsort(source, kind="stable")
        return cls(np.searchsorted(source[order], np.arange(n_states + 1)), target[order], p[order])

    @property
    def n_states(self) -> int:
        return self.start.size - 1

    @property
    def arrays(self) -> tuple[Array, Array, Array]:
        """What the kernels take."""
        return self.start.astype(np.int64, copy=False), self.target.astype(np.int64, copy=False), self.p

    def edges(self, states: Array) -> tuple[Array, Array, Array]:
        """Transitions from some states: place of the source among them, target, probability."""
        size = np.diff(self.start)[states]
        entry = entries(self.start[states], size)
        source = np.repeat(np.arange(states.size), size)
        known = self.target[entry] >= 0
        return source[known], self.target[entry[known]], self.p[entry[known]]


def closed_classes(chain: Chain, aside: bool = False) -> list[Array]:
    """The closed strongly connected classes of a chain: states in increasing order, classes by their smallest one.

    Dead ends belong to none; with `aside` classes may be left for states from which every path comes to a dead end.
    Cost: O(n_states + edges).
    """
    label = np.empty(chain.n_states, np.int64)
    n = kernels.closed_classes(*chain.arrays[:2], aside, label)
    order = np.argsort(label, kind="stable")
    bounds = np.searchsorted(label[order], np.arange(n + 1))
    return [order[a:b] for a, b in pairwise(bounds)]


def _solve(chain: Chain, states: Array, right: Array, closed: bool) -> Array:
    """Solve x (I - P) = right among some states; where they are `closed`, sum(x) = right[-1] is the last equation.

    There one balance equation follows from the others.
    """
    n = states.size
    place = np.full(chain.n_states, -1, np.int64)
    place[states] = np.arange(n)
    source, target, p = chain.edges(states)
    inner = place[target] >= 0
    rows, columns = np.append(np.arange(n), place[target[inner]]), np.append(np.arange(n), source[inner])
    values = np.append(np.ones(n), -p[inner])
    if closed:
        kept = rows < n - 1
        rows, columns = np.append(rows[kept], np.full(n, n - 1)), np.append(columns[kept], np.arange(n))
        values = np.append(values[kept], np.ones(n))
    if n <= _DENSE:
        system = np.zeros((n, n))
        np.add.at(system, (rows, columns), values)
        return np.linalg.solve(system, right)
    from scipy.sparse import csc_array
    from scipy.sparse.linalg import spsolve

    solution: Array = np.asarray(spsolve(csc_array((values, (rows, columns)), shape=(n, n)), right))
    return solution


def class_stationary(chain: Chain, members: Array) -> Array:
    """Stationary distribution (n_members,) within a closed class, periodic or not."""
    result = np.empty(members.size)
    if members.size > _DENSE or not kernels.class_stationary(*chain.arrays, members, result):
        result = np.clip(_solve(chain, members, np.append(np.zeros(members.size - 1), 1.0), closed=True), 0.0, None)
        result /= result.sum()
    return result


def stationary(chain: Chain, weights: ArrayLike | None = None) -> Array:
    """Stationary distribution (n_states,) of a chain: zero on transient states, and if every path leads to a dead end.

    Several closed classes are weighted by the probability of ending in each, from a first state that is distributed
    by `weights`, uniformly by default.
    """
    n = chain.n_states
    classes = closed_classes(chain)
    start = np.full(n, 1.0 / max(n, 1)) if weights is None else np.asarray(weights, dtype=np.float64)
    share = np.ones(len(classes))
    if len(classes) > 1:
        ends = _absorbed(chain, classes, start)
        share = ends if ends.sum() > 0.0 else share
    result = np.zeros(n)
    for members, part in zip(classes, share / max(share.sum(), 1e-300), strict=True):
        result[members] = part * class_stationary(chain, members)
    return result


def _absorbed(chain: Chain, classes: list[Array], start: Array) -> Array:
    """Probability of ending in each of the closed classes."""
    ends = start
    passing = np.setdiff1d(np.arange(chain.n_states), np.concatenate(classes))
    if start[passing].any():
        source, target, p = chain.edges(passing)
        visits = _solve(chain, passing, start[passing], closed=False)
        ends = start + np.bincount(target, p * visits[source], chain.n_states)
    return np.array([ends[members].sum() for members in classes])


def renumbered(targets: Array, states: Array) -> Array:
    """Targets (n_states, n_symbols) of some states, numbered in their order; -1 = none of them."""
    number = np.full(len(targets) + 1, -1, np.int64)
    number[states] = np.arange(len(states))
    result: Array = number[targets[states]]
    return result


def _xlog2x(values: Array) -> Array:
    """Return x log2 x, with 0 log 0 = 0."""
    result: Array = values * np.log2(np.where(values > 0.0, values, 1.0))
    return result


def entropy(p: ArrayLike, axis: int = -1) -> Any:
    """Shannon entropy in bits of distributions along an axis, with 0 log 0 = 0.

    Examples
    --------
    >>> float(entropy([0.5, 0.25, 0.25, 0.0]))
    1.5
    """
    return np.abs(_xlog2x(np.asarray(p, dtype=np.float64)).sum(axis=axis))


def mergeable(targets: Array) -> Array:
    """(n_states, n_states) whether a common word can send two states of a unifilar machine to the same one.

    Cost: O(n_states² n_symbols) for each symbol of the longest such word that is needed.
    """
    merges, n = np.eye(len(targets), dtype=bool), 0
    while merges.sum() > n:
        n = merges.sum()
        for ends in targets.T:
            sources = np.flatnonzero(ends >= 0)
            merges[np.ix_(sources, sources)] |= merges[np.ix_(ends[sources], ends[sources])]
    return merges


def _merging(targets: Array) -> Array:
    """Label states so that two states that a common word can merge carry the same label."""
    first = np.empty(len(targets), np.int64)
    a, b = np.nonzero(mergeable(targets))
    kernels.connect(a, b, first)
    label: Array = np.unique(first, return_inverse=True)[1]
    return label


class _Beliefs:
    """The distributions over states that an observer of the symbols can hold, and what each step loses."""

    def __init__(self, targets: Array, emission: Array) -> None:
        n, n_symbols = targets.shape
        group = _merging(targets)
        self.emission = emission
        self.groups = np.eye(group.max() + 1)[group]
        self.steps = np.zeros((n_symbols, n, n))
        i, a = np.nonzero(targets >= 0)
        self.steps[a, i, targets[i, a]] = emission[i, a]

    def bound(self, beliefs: Array) -> Array:
        """Bound what can still be lost: states of different groups are never merged."""
        within: Array = entropy(beliefs) - entropy(beliefs @ self.groups)
        within[within < 1e-14] = 0.0
        return within

    def step(self, beliefs: Array) -> tuple[Array, Array, Array, Array]:
        """Return the loss of each belief (m,), and its successors: origin, probability and belief."""
        n_symbols, n, _ = self.steps.shape
        masses = np.matmul(beliefs[None], self.steps)
        weights = beliefs[:, :, None] * self.emission
        loss = _xlog2x(masses).sum(axis=(0, 2)) - _xlog2x(weights).sum(axis=(1, 2))
        probability = masses.sum(axis=2).ravel()
        keep = np.flatnonzero(probability > 0.0)
        after = masses.reshape(-1, n)[keep] / probability[keep, None]
        origin = np.tile(np.arange(beliefs.shape[0]), n_symbols)[keep]
        return np.clip(loss, 0.0, None), origin, probability[keep], after

    def solve(self, first: Array) -> float | None:
        """Return the whole loss from a belief when the reachable beliefs are finitely many, else None."""
        number = {_keys(first[None])[0]: 0}
        frontier = first[None]
        losses: list[Array] = []
        edges: list[tuple[Array, Array, Array]] = []
        done = 0
        while frontier.shape[0]:
            loss, origin, probability, after = self.step(frontier)
            follow = np.flatnonzero((self.bound(after) > 0.0) & (after.max(axis=1) < 1.0 - 1e-12))
            keys = _keys(after[follow])
            fresh = {key: i for i, key in zip(follow[::-1], keys[::-1], strict=True) if key not in number}
            number.update({key: done + frontier.shape[0] + i for i, key in enumerate(fresh)})
            if len(number) > _CLOSURE:
                return None
            ends = np.array([number[key] for key in keys], dtype=np.intp)
            edges.append((done + origin[follow], ends, probability[follow]))
            losses.append(loss)
            done += frontier.shape[0]
            frontier = after[list(fresh.values())]
        system = np.eye(done)
        for origin, ends, probability in edges:
            np.subtract.at(system, (origin, ends), probability)
        try:
            total = float(np.linalg.solve(system, np.concatenate(losses))[0])
        except np.linalg.LinAlgError:
            return None
        highest = float(self.bound(first[None])[0])
        return max(total, 0.0) if -ROUNDING <= total <= highest + ROUNDING else None

    def follow(self, first: Array, atol: float, most: int = _FRONTIER) -> tuple[float, float]:
        """Return the loss from a belief as the middle and half-width of an interval, `atol` if possible.

        When the beliefs are more than `most`, similar ones are replaced by their mean. As the loss is a conditional
        entropy this can only raise it, and by no more than it raises the entropy of the beliefs.
        """
        beliefs = first[None]
        mass: Array = np.ones(1)
        lost = slack = work = 0.0
        coarse = 1e-12
        while True:
            bound = mass * self.bound(beliefs)
            left = float(bound.sum())
            # Past a hundredth of the slack, following the rest would not narrow the interval any more.
            if left + slack <= 2.0 * atol or left <= 0.01 * slack or work > _WORK:
                return lost + (left - slack) / 2.0, (left + slack) / 2.0
            order = np.argsort(bound, kind="stable")
            light = np.cumsum(bound[order]) <= 0.02 * max(atol - slack, 0.0)
            # What the lightest can lose counts in full, the interval reaching down to nothing lost.
            lost += float(bound[order[light]].sum())
            slack += float(bound[order[light]].sum())
            beliefs, mass = beliefs[order[~light]], mass[order[~light]]
            work += 1000.0 + mass.size * self.emission.size
            loss, origin, probability, after = self.step(beliefs)
            lost += float(mass @ loss)
            mass = mass[origin] * probability
            after, mass = after[mass > 1e-200], mass[mass > 1e-200]
            same, coarse = _same(after, np.full(mass.size, 1e-12)), max(coarse / 4.0, 1e-12)
            beliefs, mass, _ = _means(after, mass, same)
            if mass.size > most:
                bound = mass * self.bound(beliefs)
                light = bound <= np.partition(bound, -most // 2)[-most // 2]
                while (same := _same(beliefs, np.where(light, coarse, 1e-12))).max() >= most:
                    coarse *= 2.0
                beliefs, mass, raised = _means(beliefs, mass, same)
                slack += raised


def _same(beliefs: Array, grid: Array) -> Array:
    """Label rows that are equal on a grid, one step for each row, by a hash of the rounded rows."""
    odd = np.random.default_rng(0).integers(1 << 63, size=beliefs.shape[1] + 1, dtype=np.uint64) * 2 + 1
    # On square roots the cost of a merger, a Jensen-Shannon divergence, is about the squared distance.
    rounded = np.rint(np.sqrt(beliefs) / grid[:, None]).astype(np.int64).astype(np.uint64)
    hashed = (rounded * odd[:-1]).sum(axis=1) + grid.view(np.uint64) * odd[-1]
    label: Array = np.unique(hashed, return_inverse=True)[1]
    return label.ravel()


def _means(beliefs: Array, mass: Array, label: Array) -> tuple[Array, Array, float]:
    """Average the beliefs of each label; return means, masses, and by how much entropy is raised."""
    order = np.argsort(label, kind="stable")
    starts = np.searchsorted(label[order], np.arange(label.max() + 1))
    masses = np.add.reduceat(mass[order], starts)
    means = np.add.reduceat(mass[order, None] * beliefs[order], starts, axis=0) / masses[:, None]
    raised = float(masses @ entropy(means) - mass @ entropy(beliefs))
    return means, masses, max(raised, 0.0)


def _keys(beliefs: Array) -> list[bytes]:
    """Return hashable keys of beliefs, equal when they differ by rounding only."""
    return [row.tobytes() for row in np.rint(beliefs * 1e12).astype(np.int64)]


def excess_entropy(targets: Array, emission: Array, stationary: Array, atol: float = 1e-10) -> tuple[float, float]:
    """Excess entropy E = C - H[S | future] of a minimal unifilar machine without transient states, and a bound of its
    error, in bits, without enumerating words.

    The future tells the present state, except for the distinctions that are lost for ever when two possible
    states are sent to the same one. An observer starts with the stationary belief; what each step loses is
    summed over the beliefs that can be reached. When they are finitely many a linear system gives the sum;
    otherwise they are followed until what can still be lost is below `atol`, the most similar ones being
    replaced by their mean when they are too many: then the error exceeds `atol`, as in most machines with ten states
    or more and no zero probabilities. Cost: O(n_states² n_symbols) per belief, one or two seconds at most.
    """
    chain = _Beliefs(targets, emission)
    first = np.asarray(stationary, dtype=np.float64)
    loss = chain.solve(first)
    error = ROUNDING
    if loss is None:
        loss, error = chain.follow(first, atol)
    return max(float(entropy(first)) - loss, 0.0), error


def rough_excess_entropy(targets: Array, emission: Array, stationary: Array, atol: float) -> float:
    """Excess entropy as in `excess_entropy`, within about `atol` and several times as fast, without a bound."""
    loss, _ = _Beliefs(targets, emission).follow(stationary, atol, _ROUGH)
    return max(float(entropy(stationary)) - loss, 0.0)
