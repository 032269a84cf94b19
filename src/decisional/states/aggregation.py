"""Steps 2 and 4 of the figure: group rows with matching distributions, and average them.

`Aggregate` is the paper's first algorithm, O(K n) for n rows and K states; `Connect` its second, single link,
O(n^2) and free of any order. Both only see `Distributions`; any callable with their signature can replace them.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._kernels import clusters as kernels
from .._kernels import leaders as leading
from .._kernels.components import connect
from ..support.arguments import choice, integer, refusal, shown
from ..support.arrays import Floats, Ints
from ..support.executors import map_slices, slices, workers
from .distributions import DENSE, Distributions
from .matching import Bhattacharyya, Exact, Measure

MULTIPLIERS = (0xD6E8FEB86659FD93, 0xA0761D6478BD642F)
BLOCK = 1 << 13  # rows that are compared with the same leaders
PARTS = 8  # of the comparison of states for each core: the later ones take longer
FINEST = 1e-4  # square of a distance below which 32-bit floats are too coarse


@dataclass(frozen=True)
class Aggregate:
    """Give each row to the state it matches best, or to a new state; then merge states that match.

    Kernel densities, which are many, are compared with what represents each state at the beginning of a pass (its
    first row in the first pass, then its mean), in blocks of rows and in threads.

    Parameters
    ----------
    order : how rows are visited: "count" (most evidence first), "random" (needs `random_state` to be
        repeatable) or "given"
    passes : times that all rows are visited; from the second on each row leaves its state before it is
        compared, so that no evidence counts twice
    random_state : seed for order="random"
    """

    order: str = "count"
    passes: int = 1
    random_state: Any = None

    def __call__(self, densities: Distributions, match: Any) -> Ints:
        """(n_rows,) labels. Cost: O(passes (K m + K^2 n_outcomes)) for m counts in all."""
        passes = integer(self.passes, "passes", of="Aggregate")
        order = self._order(densities)
        if isinstance(match, Exact) and densities.count.dtype.kind in "iu":
            return _equal(densities, order)
        group = _aggregate if isinstance(match, Measure) else _aggregate_by_callable
        if densities.samples is not None and isinstance(match, Bhattacharyya):
            group = _lead
        return group(densities, match, order, passes)

    def _order(self, densities: Distributions) -> Ints:
        choice(self.order, "order", ("count", "random", "given"), of="Aggregate")
        if self.order == "count":
            return np.argsort(-densities.total, kind="stable")
        if self.order == "given":
            return np.arange(densities.n_rows)
        from sklearn.utils import check_random_state

        try:
            shuffler = check_random_state(self.random_state)
        except ValueError:
            rule = "None, an integer of at least 0 or a RandomState"
            raise ValueError(refusal("random_state", self.random_state, rule, "try random_state=0")) from None
        return np.asarray(shuffler.permutation(densities.n_rows))


@dataclass(frozen=True)
class Connect:
    """Connected components of the graph of matching rows: single link, order-free."""

    def __call__(self, densities: Distributions, match: Any) -> Ints:
        """(n_rows,) labels. Cost: O(n_rows^2) comparisons."""
        n = densities.n_rows
        parent = np.empty(n, np.int64)
        if isinstance(match, Measure):
            kernels.connect_rows(*densities.evidence, densities.n_outcomes, *match.compiled(n), parent)
            while (parent != parent[parent]).any():
                parent = parent[parent]
            return parent
        rows = [_dense(densities, i) for i in range(n)]
        pairs = [(i, j) for i in range(n) for j in range(i) if _answer(match(rows[i], rows[j])) >= 0]
        i, j = np.array(pairs, np.int64).reshape(-1, 2).T
        connect(i, j, parent)
        return parent


def resolve(cluster: Any, passes: int, random_state: Any) -> Any:
    """The clustering for a `cluster=` argument: None or "aggregate", "connect", or any callable."""
    if cluster is None or (isinstance(cluster, str) and cluster == "aggregate"):
        return Aggregate(passes=passes, random_state=random_state)
    if isinstance(cluster, str) and cluster == "connect":
        return Connect()
    if callable(cluster) and not isinstance(cluster, type):
        return cluster
    rule = "'aggregate', 'connect' or a callable of densities and match"
    raise ValueError(refusal("cluster", cluster, rule, "choose one"))


def distinct(densities: Distributions, match: Any) -> Ints:
    """Every distribution a state of its own: (n_rows,) labels."""
    return np.arange(densities.n_rows)


class Within:
    """A clustering inside given groups: labels (n_x,) of the distinct x, and the clustering of each group."""

    def __init__(self, labels: Ints, base: Any) -> None:
        self.labels, self.base = labels, base

    def __call__(self, densities: Distributions, match: Any) -> Ints:
        group = np.empty(densities.n_rows, np.int64)
        group[densities.row] = self.labels
        found, n = np.empty(densities.n_rows, np.int64), 0
        for k in np.unique(group):
            rows = np.flatnonzero(group == k)
            inside = self.base(densities.select(rows), match)
            found[rows] = n + inside
            n += int(inside.max()) + 1
        return found


def average(labels: Ints, rows: Distributions) -> Any:
    """P(Z|state), (n_states, n_outcomes): the evidence of the rows of each state added up, and normalised.

    Each row has the weight of its own observations: kernel sums themselves would count what is near x too. A scipy CSR
    array beyond 16 million entries of counts.
    """
    if rows.kernel is None and (int(labels.max(initial=-1)) + 1) * rows.n_outcomes > DENSE:
        return _sparse_average(labels, rows)
    mean = _sums(labels, rows)
    if rows.kernel is not None:
        # Cubics may leave sums just below zero.
        mean = np.maximum(np.einsum("kz,zs->ks", mean, rows.kernel), 0.0)
    mean /= mean.sum(axis=1, keepdims=True)
    return mean


def _sparse_average(labels: Ints, rows: Distributions) -> Any:
    from scipy.sparse import csr_array

    size = np.diff(rows.start)
    share = rows.count * np.repeat(rows.weight / rows.total, size)
    shape = int(labels.max()) + 1, rows.n_outcomes
    return normalised(csr_array((share, (np.repeat(labels, size), rows.outcome)), shape))


def normalised(mass: Any) -> Any:
    """Rows of masses, dense or sparse, over their sums."""
    if isinstance(mass, np.ndarray):
        return mass / mass.sum(axis=1, keepdims=True)
    mass.data /= np.repeat(mass.sum(axis=1), np.diff(mass.indptr))
    return mass


def _sums(labels: Ints, rows: Distributions) -> Floats:
    total = np.zeros((int(labels.max(initial=-1)) + 1, rows.n_outcomes))
    leading.add_rows(rows.start, rows.outcome, rows.count, rows.weight / rows.total, labels, total)
    return total


def _aggregate(densities: Distributions, match: Measure, order: Ints, passes: int) -> Ints:
    rows, how = densities.evidence, match.compiled(densities.n_rows)
    labels = np.full(densities.n_rows, -1, np.int64)
    dense, total, support = np.zeros((4, densities.n_outcomes)), np.zeros(4), np.zeros(4, np.int64)
    n = 0
    for _ in range(passes):
        before = labels.copy()
        dense, total, support, n = kernels.visit_rows(order, *rows, *how, dense, total, support, n, labels)
        target = np.empty(n, np.int64)
        kernels.merge_states(*how, dense[:n], total[:n], support[:n], target)
        labels = target[labels]
        gone = np.flatnonzero(target != np.arange(n))
        dense[gone], total[gone], support[gone] = 0.0, 0.0, 0
        if (labels == before).all():
            break
    return labels


def _equal(densities: Distributions, visits: Ints) -> Ints:
    """Rows with the same distribution: the same counts up to a common factor, numbered as they are visited.

    Cost: O(m) for m counts, and sorting.
    """
    start, count = densities.start, densities.count
    size = np.diff(start)
    reduced = count // np.repeat(np.gcd.reduceat(count, start[:-1]), size)
    # The rows are told apart by two sums of random functions of their entries.
    key = (densities.outcome.astype(np.uint64) << np.uint64(32)) ^ reduced.astype(np.uint64)
    one, other = (np.add.reduceat(mixed(key, multiplier), start[:-1]) for multiplier in MULTIPLIERS)
    order = np.lexsort((other, one))
    new = (one[order][1:] != one[order][:-1]) | (other[order][1:] != other[order][:-1])
    labels = np.empty(size.size, np.int64)
    labels[order] = np.concatenate([[0], np.cumsum(new)])
    first = np.unique(labels[visits], return_index=True)[1]
    rank = np.empty(first.size, np.int64)
    rank[np.argsort(first)] = np.arange(first.size)
    renumbered: Ints = rank[labels]
    return renumbered


def mixed(key: NDArray[Any], multiplier: int) -> NDArray[Any]:
    """Unsigned 64-bit integers that look like drawn at random, the same for the same key."""
    code: NDArray[Any] = (key + np.uint64(1)) * np.uint64(multiplier)
    code ^= code >> np.uint64(32)
    code *= np.uint64(0x9E3779B97F4A7C15)
    code ^= code >> np.uint64(29)
    return code


def _lead(densities: Distributions, match: Any, order: Ints, passes: int) -> Ints:
    """Aggregate kernel densities by the Bhattacharyya distance. Cost: O(passes K (m + K n_outcomes)), in threads."""
    # The distance is sqrt(1 - a.b) for the vectors a and b of square roots of the probabilities.
    square = match.level(densities.n_rows) ** 2
    real = np.float32 if square > FINEST else np.float64
    least = 1.0 - square
    root: Floats = np.empty(densities.count.size, real)
    leading.roots(densities.start, densities.count, densities.total, root)
    rows = densities.start, densities.outcome, root
    leaders = np.empty((0, densities.n_outcomes), real)
    labels = np.full(densities.n_rows, -1, np.int64)
    for _ in range(passes):
        before = labels.copy()
        for begin in range(0, order.size, BLOCK):
            leaders = _follow(order[begin : begin + BLOCK], rows, leaders, real(least), labels)
        labels = np.unique(labels, return_inverse=True)[1]
        total = _sums(labels, densities)
        mass = total.sum(axis=1)
        kept, labels = np.unique(_merged(total, mass, least)[labels], return_inverse=True)
        leaders = np.sqrt(total[kept] / mass[kept, None]).astype(real)
        if (labels == before).all():
            break
    return labels


def _merged(total: Floats, mass: Floats, least: float) -> Ints:
    """Merge matching states, whose evidence is added up in `total` and `mass`; (K,) the state that each went into."""
    root = np.sqrt(total / mass[:, None])
    turned = np.ascontiguousarray(root.T)
    partner, target = np.empty(mass.size, np.int64), np.empty(mass.size, np.int64)
    alike = np.empty(mass.size)

    def compare(cut: tuple[int, int]) -> None:
        leading.nearest_before(*cut, root, turned, partner, alike)

    list(map_slices(compare, slices(mass.size, PARTS * workers())))
    leading.merge(least, total, mass, root, turned, partner, alike, target)
    return target


def _follow(block: Ints, rows: tuple[Ints, Ints, Floats], leaders: Floats, least: Any, labels: Ints) -> Floats:
    """Label a block of rows one after the other; those that match no leader become one. Returns the leaders."""
    best, near = np.zeros(block.size, np.int64), np.full(block.size, -1.0, leaders.dtype)
    if len(leaders):
        turned = np.ascontiguousarray(leaders.T)

        def compare(cut: tuple[int, int]) -> None:
            part = slice(*cut)
            leading.compare(block[part], *rows, turned, best[part], near[part])

        list(map_slices(compare, slices(block.size, workers())))
    grown: Floats = leading.follow(block, *rows, least, leaders, best, near, labels)
    return grown


def _dense(densities: Distributions, i: int) -> NDArray[Any]:
    row = np.zeros(densities.n_outcomes)
    entries = slice(densities.start[i], densities.start[i + 1])
    row[densities.outcome[entries]] = densities.count[entries]
    return row


def _answer(value: Any) -> float:
    """A user's answer as a similarity: False, negative or NaN is no match."""
    if isinstance(value, (bool, np.bool_)):
        return 1.0 if value else -1.0
    if not isinstance(value, (int, float, np.number)):
        raise ValueError(
            f"The 'match' callable gave {shown(value)}; it must tell whether two vectors of counts match: return a "
            "bool, or a number that is negative where they do not."
        )
    return float(value) if value >= 0 else -1.0


def _aggregate_by_callable(densities: Distributions, match: Any, order: Ints, passes: int) -> Ints:
    """The same with a user's match: a loop in Python."""
    labels = np.full(densities.n_rows, -1, np.int64)
    states: list[NDArray[Any]] = []
    for _ in range(passes):
        for r in order:
            row = _dense(densities, r)
            if labels[r] >= 0:
                rest = states[labels[r]] - row
                states[labels[r]] = np.where(rest > 1e-9 * row, rest, 0.0)
            alike = [(_answer(match(row, state)), -s) for s, state in enumerate(states) if state.any()]
            value, best = max(alike, default=(-1.0, 0))
            empty = next((s for s, state in enumerate(states) if not state.any()), len(states))
            labels[r] = s = -best if value >= 0 else empty
            if s == len(states):
                states.append(np.zeros_like(row))
            states[s] = states[s] + row
        _merge_by_callable(states, match, labels)
    return labels


def _merge_by_callable(states: list[NDArray[Any]], match: Any, labels: Ints) -> None:
    while True:
        live = [s for s in range(len(states)) if states[s].any()]
        alike = [(_answer(match(states[a], states[b])), -a, -b) for a in live for b in live if b < a]
        value, a, b = max(alike, default=(-1.0, 0, 0))
        if value < 0:
            return
        states[-b] = states[-b] + states[-a]
        states[-a] = np.zeros_like(states[-a])
        labels[labels == -a] = -b
