"""Sums of Gaussian kernels over the distinct x, exact within the cut-off: the engine of kernel densities."""

import math
from concurrent.futures import Executor
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._kernels import neighbours as kernels
from ..support.arrays import Floats, Ints, entries
from ..support.executors import map_slices, slices, workers
from ..support.progress import counted

# Axes on which far blocks are ruled out: the first principal ones hold most of the variance, and each further
# one would be cut less often.
AXES = 4
# Rows that the principal axes are taken from.
SAMPLE = 1 << 15
# Parts of the work for each core: dense regions take longer than others.
PARTS = 32
# The exponent of a 32-bit float ends here.
SMALLEST = 1e-37


class _Scale(NamedTuple):
    """How coordinates are compared: integers as they are where one width allows it, otherwise floats over sigma.

    Attributes
    ----------
    offset, divisor : (d,) coordinate = (x - offset) / divisor
    edges : narrow, wide (1,) the largest squared distance kept, and rate (2,): kernel = 2^-(square * (rate[0] +
        rate[1])), the first of few digits; see `_kernels.neighbours.sum_tiles`
    """

    offset: NDArray[Any]
    divisor: NDArray[Any] | None
    edges: tuple[NDArray[Any], NDArray[Any], NDArray[Any]]

    def coordinates(self, x: NDArray[Any]) -> NDArray[Any]:
        """(n, d) coordinates, with columns of zeros up to a multiple of 4 for the compiled loops."""
        n, d = x.shape
        coords = np.zeros((n, -(-d // 4) * 4), np.int16 if self.divisor is None else np.float64)
        if self.divisor is None:
            np.subtract(x, self.offset, out=coords[:, :d], casting="unsafe", dtype=np.int64)
        else:
            np.divide(x - self.offset, self.divisor, out=coords[:, :d])
        return coords


class _Blocks(NamedTuple):
    """Points in k-d order, in blocks of nearby ones.

    Attributes
    ----------
    order : (n,) rows in k-d order
    cuts : (n_blocks + 1,) the blocks are order[cuts[b] : cuts[b + 1]]
    coords, places : (n, d) coordinates and (n, m) places on the pruning axes, in that order
    ranges, boxes : (2, n_blocks, d) and (2, n_blocks, m) their bounds in each block
    groups : (2, n_groups, m) bounds of GROUP blocks
    """

    order: Ints
    cuts: Ints
    coords: NDArray[Any]
    places: Floats
    ranges: Floats
    boxes: Floats
    groups: Floats


def kernel_sums(
    x: NDArray[Any],
    counts: tuple[Ints, Ints, NDArray[Any]],
    n_z: int,
    sigma: ArrayLike,
    cutoff: float = 1e-9,
    executor: Executor | None = None,
    query: NDArray[Any] | None = None,
    kz: Floats | None = None,
) -> NDArray[np.float32]:
    """Weighted histograms of z around each point: h[i, z] = sum_j K(q_i, x_j) count_j(z).

    K(a, b) = exp(-sum_k (a_k - b_k)^2 / (2 sigma_k^2)), and 0 where that is below `cutoff`. The sums contain the
    term of the point itself, K = 1: for leave-one-out sums of an observation (x_i, z) subtract 1 from h[i, z],
    or count_i(z) to leave out all its copies; what is left below 1e-6 of the row's sum is rounding.

    Parameters
    ----------
    x : (n, d) distinct configurations, integers or finite floats
    counts : outcomes z of each x in compressed rows: start (n + 1,), outcome (m,) in 0..n_z-1 and count (m,)
    n_z : number of possible z
    sigma : number or (d,) widths
    cutoff : in (0, 1]; 1 keeps equal points only
    executor : runs the parts of the work; default: one thread per core
    query : (m, d) points to take the sums at; default: x itself
    kz : (n_z, n_s) kernel of z at sample points; given, the result is the sums times it

    Returns (n, n_z) or (m, n_z) float32 (n_s columns with `kz`), summed in float64 and within 1e-6 of the sum of the
    row; the same for any executor. Cost: O(n log n) to cut the points in blocks on their first principal axes, then the
    pairs of near blocks, 1.5-15 times the pairs within the cut-off; integers with one sigma are compared in 16 bits, at
    twice the speed of floats. Memory beside the result: 10-30 times n d bytes, and n_z KiB for each thread.
    """
    asked = x if query is None else query
    out = np.zeros((asked.shape[0], n_z if kz is None else kz.shape[1]), np.float32)
    if not out.size or not x.size:
        return out
    widths = np.broadcast_to(np.asarray(sigma, np.float64), x.shape[1:])
    scale = _scale(x, asked, widths, max(cutoff, SMALLEST))
    blocks, tiles, bound = _blocks(scale, x, query)
    start = counts[0].astype(np.int64, copy=False)
    size = np.diff(start)[blocks.order]
    entry = entries(start[blocks.order], size)
    evidence = np.concatenate([[0], np.cumsum(size)]), counts[1][entry].astype(np.int64), counts[2][entry].astype(float)
    chunk = partial(_chunk, scale, tiles, blocks, evidence, bound, n_z, kz)
    n = tiles.cuts.size - 1
    parts = slices(n, min(n, PARTS * workers()))
    found = counted(map_slices(chunk, parts, executor), "kernel sums", len(parts), "parts")
    for (first, stop), sums in zip(parts, found, strict=True):
        out[tiles.order[tiles.cuts[first] : tiles.cuts[stop]]] = sums
    return out


def smooth(hist: NDArray[Any], kz: Floats) -> NDArray[np.float32]:
    """Apply the kernel of z to sums: hist @ kz, (n, n_z) x (n_z, n_s) -> (n, n_s) float32, summed in float64.

    Cost: what is not zero in each row of hist, times what is not zero in its row of kz.
    """
    matrix = np.ascontiguousarray(kz, np.float64)
    near = matrix != 0.0
    first = near.argmax(axis=1)
    stop = np.where(near.any(axis=1), near.shape[1] - near[:, ::-1].argmax(axis=1), 0)
    out = np.empty((hist.shape[0], matrix.shape[1]), np.float32)
    kernels.smear(hist, matrix, first, stop, out)
    return out


def squares(a: NDArray[Any], b: NDArray[Any]) -> Floats:
    """(n, m) squared distances between two sets of points."""
    from scipy.spatial.distance import cdist

    return cdist(np.asarray(a, float), np.asarray(b, float), "sqeuclidean")


def nearest_distance(x: ArrayLike, sample: int = 1024) -> float:
    """Mean distance of the distinct points x (n, d) to the nearest other one; NaN for a single point.

    Among more points than `sample` the mean is over as many evenly spaced ones. Cost: O(n log n) for a k-d tree, and
    for each point of the sample a search whose cost grows with d up to O(n).
    """
    from scipy.spatial import cKDTree

    points = np.asarray(x, np.float64)
    n = points.shape[0]
    if n < 2:
        return math.nan
    asked = points[np.unique(np.linspace(0, n - 1, min(n, sample)).astype(np.int64))]
    tree = cKDTree(points, leafsize=64, balanced_tree=False)
    distance, _ = tree.query(asked, k=2, workers=workers())
    return float(np.asarray(distance)[:, 1].mean())


def _scale(x: NDArray[Any], query: NDArray[Any], sigma: Floats, cutoff: float) -> _Scale:
    low = np.minimum(x.min(0), query.min(0))
    if x.dtype.kind in "iu" and query.dtype.kind in "iu" and (sigma == sigma[:1]).all():
        spread = np.maximum(x.max(0), query.max(0)).astype(np.float64) - low
        twice = 2.0 * float(sigma[0]) ** 2
        limit = -twice * math.log(cutoff)
        if spread.max(initial=0) < 32768 and (spread**2).sum() < 2.0**31 and limit < 60000:
            kept = int(limit)
            # The logarithm may round to the wrong side of a distance whose kernel is the cut-off itself.
            kept += math.exp(-(kept + 1) / twice) >= cutoff
            kept -= math.exp(-kept / twice) < cutoff
            power = 1.0 / (twice * math.log(2.0))
            fraction, exponent = math.frexp(power)
            digits = 24 - kept.bit_length()
            high = math.ldexp(math.floor(math.ldexp(fraction, digits)), exponent - digits)
            rate = np.array([high, power - high], np.float32)
            return _Scale(low.astype(np.int64), None, (np.array([kept], np.uint16), np.array([kept], np.int32), rate))
    edge = np.array([-2.0 * math.log(cutoff)])
    return _Scale(low.astype(np.float64), sigma, (edge, edge, np.array([0.5 / math.log(2.0), 0.0])))


def _blocks(scale: _Scale, x: NDArray[Any], query: NDArray[Any] | None) -> tuple[_Blocks, _Blocks, float]:
    """Blocks of the sources and of the queries, and the squared distance from which blocks are far apart."""
    coords = scale.coordinates(x)
    some = coords[:: -(-coords.shape[0] // SAMPLE)].astype(np.float64)
    centre = some.mean(0)
    some -= centre
    # einsum, not a product of matrices: what a threaded library returns may depend on its threads.
    _, axes = np.linalg.eigh(np.einsum("ni,nj->ij", some, some))
    axes = np.ascontiguousarray(axes[:, ::-1][:, :AXES])
    blocks = _cut(coords, centre, axes)
    tiles = blocks if query is None else _cut(scale.coordinates(query), centre, axes)
    far = max(float(part.ranges.max()) for part in (blocks, tiles))
    rounding = 64.0 * float(np.finfo(np.float64).eps) * coords.shape[1] * far
    return blocks, tiles, (math.sqrt(float(scale.edges[1][0])) * (1 + 1e-12) + rounding) ** 2


def _cut(coords: NDArray[Any], centre: Floats, axes: Floats) -> _Blocks:
    n = coords.shape[0]
    places = np.empty((n, axes.shape[1]))
    kernels.project(coords, centre, axes, places)
    number = -(-n // kernels.LANES)
    cuts = np.arange(number + 1, dtype=np.int64) * n // number
    order = np.arange(n)
    kernels.split(places, cuts, order)
    coords, places = coords[order], places[order]
    ranges, boxes = _bounds(coords, coords, cuts[:-1]).astype(np.float64), _bounds(places, places, cuts[:-1])
    groups = _bounds(boxes[0], boxes[1], np.arange(0, number, kernels.GROUP))
    return _Blocks(order, cuts, coords, places, ranges, boxes, groups)


def _bounds(low: NDArray[Any], high: NDArray[Any], first: Ints) -> NDArray[Any]:
    return np.stack([np.minimum.reduceat(low, first), np.maximum.reduceat(high, first)])


def _chunk(
    scale: _Scale,
    tiles: _Blocks,
    blocks: _Blocks,
    counts: tuple[Ints, Ints, Floats],
    bound: float,
    n_z: int,
    kz: Floats | None,
    part: tuple[int, int],
) -> NDArray[np.float32]:
    out = np.empty((int(tiles.cuts[part[1]] - tiles.cuts[part[0]]), n_z), np.float32)
    asked = tiles.cuts, tiles.coords, tiles.boxes, tiles.ranges
    known = blocks.cuts, blocks.coords, blocks.places, blocks.boxes, blocks.groups, blocks.ranges
    kernels.sum_tiles(*part, *asked, *known, *counts, bound, *scale.edges, out)
    return out if kz is None else smooth(out, kz)
