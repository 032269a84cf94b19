"""Labeller: the state of any x of numbers, how sure it is, and how surprising what came next is.

It is a few arrays: whoever follows a stream needs no more of the data than that.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._kernels.expected_scores import expected
from ..support.arrays import Bools, Floats, Ints
from ..support.executors import map_slices, slices, workers
from ..support.packing import pack, unpack_any
from .bandwidths import BLIND
from .kernel_sums import kernel_sums, squares
from .scales import Scale

# Where the kernel mass is less than enough, wider kernels count as so many observations, up to so many times the width.
ENOUGH, BACK_OFF, WIDEST = 10.0, 0.3, 8.0
# Kernels that are narrower than so many scales know x that are further off, where wider ones have so much mass.
REACH, LEAST_NEAR = 0.5, 0.01
# Rows that are labelled at once.
ROWS = 1 << 14
# Products of less than this are not worth threads.
THREADED = 1 << 26


class Densities(NamedTuple):
    """P(Z|x) at the points of z, by kernels of the x of some observations.

    Attributes
    ----------
    x, bin : (n, d) in scales, and (n,) bin of the z of each
    width : (d,) widths of x, in scales
    kernel : (n_bins, n_points) weights of the points of each bin
    prior : (n_points,) what is known where nobody is near
    """

    x: Floats
    bin: Ints
    width: Floats
    kernel: Floats
    prior: Floats

    def at(self, x: Floats, kept: Bools | None = None) -> tuple[Floats, Floats]:
        """(m, n_points) densities at other x, in scales, and (m,) the kernel mass near them.

        `kept` says which of the observations count. Where few are near, kernels of twice the width tell what is known
        otherwise, and so on.
        """
        own = slice(None) if kept is None else np.flatnonzero(kept)
        source, bins = self.x[own], self.bin[own]
        return self._at(x, source, (np.arange(len(source) + 1), bins, np.ones(len(source))), 1.0)

    def _at(self, x: Floats, source: Floats, counts: Any, factor: float) -> tuple[Floats, Floats]:
        sums = kernel_sums(source, counts, len(self.kernel), self.width * factor, query=x, kz=self.kernel)
        # The weights of each bin add up to 1.
        mass: Floats = sums.sum(axis=1, dtype=np.float64)
        rest: Floats = np.tile(self.prior, (len(x), 1))
        weight = np.full(len(x), BLIND)
        few = np.flatnonzero(mass < ENOUGH)
        if few.size and factor < WIDEST:
            rest[few] = self._at(x[few], source, counts, 2.0 * factor)[0]
            weight[few] = BACK_OFF
        return (sums + weight[:, None] * rest) / (mass + weight)[:, None], mass

    def knows(self, x: Floats, mass: Floats) -> Bools:
        """(m,) whether observations are near x, where kernels have some mass or a little further off."""
        known: Bools = mass > 0.0
        rest = np.flatnonzero(~known)
        if rest.size:
            # Distances grow with the number of dimensions.
            reach = np.maximum(self.width, np.minimum(WIDEST * self.width, REACH)) * np.sqrt(x.shape[1])
            counts = np.arange(len(self.x) + 1), np.zeros(len(self.x), np.int64), np.ones(len(self.x))
            known[rest] = kernel_sums(self.x, counts, 1, reach, query=x[rest])[:, 0] > LEAST_NEAR
        return known


def scores(p: Floats, log_q: Floats) -> Floats:
    """(n, n_states) expected log score of each state: p (n, n_points), log_q (n_states, n_points)."""
    found = np.empty((len(p), len(log_q)))
    turned = np.ascontiguousarray(log_q.T)

    def rows(part: tuple[int, int]) -> None:
        expected(p[slice(*part)], turned, found[slice(*part)])

    parts = workers() if p.size * len(log_q) > THREADED else 1
    list(map_slices(rows, slices(len(p), parts)))
    return found


def nearest(p: Floats, log_q: Floats) -> Ints:
    """(n,) the state with the largest expected log score, the first of equals."""
    found: Ints = scores(p, log_q).argmax(axis=1)
    return found


class Looked(NamedTuple):
    """What is known at some x.

    Attributes
    ----------
    state : (m,) -1 where no observation is near
    belief : (m, n_states) how sure that is: the z of the observations near x, as evidence for each state
    p : (m, n_points) P(Z|x)
    """

    state: Ints
    belief: Floats
    p: Floats


class Labeller(NamedTuple):
    """What labels any x.

    Attributes
    ----------
    scale : of x
    densities : P(Z|x)
    tables : (n_groups, n_points) logarithms of the P(Z|x) of each group
    state : (n_groups,) state of each group: several have the same where states were merged later
    z_scale, at : scale of z, and (n_points, k) the points in scales; None and k = 0 where z are kinds
    """

    scale: Scale
    densities: Densities
    tables: Floats
    state: Ints
    z_scale: Scale | None
    at: Floats

    @property
    def n_states(self) -> int:
        return int(self.state.max()) + 1

    def as_json(self) -> dict[str, Any]:
        """All of it, exactly."""
        own = {"tables": self.tables, "state": self.state, "at": self.at, **self.densities._asdict()}
        scales = {"scale": self.scale.as_json(), "z_scale": None if self.z_scale is None else self.z_scale.as_json()}
        return {**{name: pack(array) for name, array in own.items()}, **scales}

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> "Labeller":
        """What `as_json` gave; see `fits` for whether that is possible."""
        densities = Densities(*(unpack_any(content[name]) for name in Densities._fields))
        tables, state, at = (unpack_any(content[name]) for name in ("tables", "state", "at"))
        z_scale = None if content["z_scale"] is None else Scale.from_json(content["z_scale"])
        return cls(Scale.from_json(content["scale"]), densities, tables, state, z_scale, at)

    def fits(self, d: int) -> bool:
        """Whether all parts have sizes and values by which x of d numbers can be labelled."""
        densities = self.densities
        n, n_bins, n_points = len(densities.x), *densities.kernel.shape
        numbers = (densities.x, densities.width, densities.kernel, densities.prior, self.tables, self.at)
        return bool(
            all(array.dtype == np.float64 and np.isfinite(array).all() for array in numbers)
            and densities.x.shape == (n, d)
            and all(part.shape == (d,) and not np.isnan(part).any() for part in self.scale)
            and np.isfinite(self.scale.scale).all()
            and (self.scale.scale > 0).all()
            and densities.bin.shape == (n,)
            and ((densities.bin >= 0) & (densities.bin < n_bins)).all()
            and densities.width.shape == (d,)
            and (densities.width > 0).all()
            and densities.prior.shape == (n_points,)
            and self.tables.shape == (self.state.size, n_points)
            and len(self.at) == n_points
            and self.state.min() >= 0
        )

    def label(self, points: NDArray[Any]) -> Ints:
        """State of any x (m, d), in the units of the data; -1 where no observation is near."""
        labels = np.empty(len(points), np.int64)
        for begin in range(0, len(points), ROWS):
            part = slice(begin, begin + ROWS)
            x = self.scale.tame(points[part])
            p, mass = self.densities.at(x)
            labels[part] = np.where(self.densities.knows(x, mass), self.state[nearest(p, self.tables)], -1)
        return labels

    def look(self, points: NDArray[Any]) -> Looked:
        """State of any x, belief in each state, and P(Z|x). Cost: as `label`, in memory for all x at once.

        The belief is what Bayes makes of the z of the observations near x, each weighed by its kernel: on the border
        of two states it is undecided, and away from it the surer the more observations are near.
        """
        x = self.scale.tame(points)
        p, mass = self.densities.at(x)
        score = scores(p, self.tables)
        known = self.densities.knows(x, mass)
        state = np.where(known, self.state[score.argmax(axis=1)], -1)
        weight = np.exp((mass + BACK_OFF)[:, None] * (score - score.max(axis=1, keepdims=True)))
        belief = np.zeros((len(x), self.n_states))
        for group, own in enumerate(self.state.tolist()):
            belief[:, own] += weight[:, group]
        belief /= belief.sum(axis=1, keepdims=True)
        belief[~known] = 1.0 / self.n_states
        return Looked(state, belief, p)

    def known(self, points: NDArray[Any], labels: Ints, sure: float) -> Ints:
        """(m,) state of any x where its label (n_states,) is believed at least so much, else -1. Cost: as `label`."""
        found = np.empty(len(points), np.int64)
        for begin in range(0, len(points), ROWS):
            part = slice(begin, begin + ROWS)
            found[part] = sure_states(*self.look(points[part])[:2], labels, sure)
        return found

    def places(self, p: Floats, z: Floats) -> Floats:
        """(m,) where outcomes z (m, k), in scales, lie in their distribution P(Z|x) (m, n_points), from 0 to 1.

        Of numbers it is P(Z <= z|x), of vectors the probability of all that is likelier than z.
        """
        row = np.arange(len(z))
        total = p.sum(axis=1)
        if self.at.shape[1] > 1:
            own = p[row, squares(z, self.at).argmin(axis=1)]
            found: Floats = (np.where(p > own[:, None], p, 0.0).sum(axis=1) + 0.5 * own) / total
            return found
        at = self.at[:, 0]
        # A point stands for what is nearer to it than to others.
        step = (z[:, 0] - at[0]) / (at[1] - at[0]) + 0.5
        k = np.clip(step.astype(np.int64), 0, at.size - 1)
        below = np.cumsum(p, axis=1)[row, k]
        found = (below - p[row, k] * (1.0 - np.clip(step - k, 0.0, 1.0))) / total
        return found


def sure_states(state: Ints, belief: Floats, labels: Ints, sure: float) -> Ints:
    """(m,) the states whose labels (n_states,) are believed at least so much, -1 where they are not."""
    together = np.zeros((len(belief), int(labels.max()) + 1))
    for k, label in enumerate(labels.tolist()):
        together[:, label] += belief[:, k]
    own = np.where(state >= 0, labels[state], 0)
    found: Ints = np.where((state >= 0) & (together[np.arange(len(state)), own] >= sure), state, -1)
    return found
