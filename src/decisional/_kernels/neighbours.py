"""Gaussian sums over the points near each point; see `densities.sums` for what is computed.

Points are in k-d order and cut in blocks. The queries of one block are the lanes of a tile: every source near
the tile is compared with all lanes at once, in loops of constant length that the compiler turns into vector code.
"""

import numpy as np

from . import kernel

# Queries of a tile: long enough to fill the vector units, short enough for tight boxes.
LANES = 128
# Sources compared with a tile at once: their squares stay in the first-level cache.
BATCH = 32
# Blocks that are ruled out together.
GROUP = 16

# 2^g = 1 + P1 g + ... + P6 g^6 for |g| <= 1/2, to 1e-8 and exactly at 0, and the layout of a 32-bit float.
P1, P2, P3, P4, P5, P6 = (
    np.float32(v) for v in (0.693147188, 0.240226508, 0.0555035711, 0.00961808256, 0.00133908634, 0.000154531629)
)
ZERO, HALF, ONE, BIAS, MANTISSA = (np.float32(v) for v in (0.0, 0.5, 1.0, 127.0, 1 << 23))


@kernel
def project(x, centre, axes, out):
    """out (n, m) = (x - centre) @ axes, in an order of additions that does not depend on the machine."""
    for i in range(x.shape[0]):
        for m in range(axes.shape[1]):
            total = 0.0
            for k in range(x.shape[1]):
                total += (x[i, k] - centre[k]) * axes[k, m]
            out[i, m] = total


@kernel
def _select(values, axis, order, first, last, place):
    """Hoare's selection: order[place] gets its place in order[first : last + 1] sorted by values[:, axis]."""
    while first < last:
        pivot = values[order[(first + last) // 2], axis]
        i, j = first, last
        while i <= j:
            while values[order[i], axis] < pivot:
                i += 1
            while values[order[j], axis] > pivot:
                j -= 1
            if i <= j:
                order[i], order[j] = order[j], order[i]
                i += 1
                j -= 1
        if place <= j:
            last = j
        elif place >= i:
            first = i
        else:
            return


@kernel
def split(values, cuts, order):
    """Put `order` in k-d order: each half of a range of blocks lies on one side of its most variable axis."""
    ranges = [(0, cuts.size - 1)]
    while len(ranges) > 0:
        a, b = ranges.pop()
        if b - a < 2:
            continue
        n = cuts[b] - cuts[a]
        axis = 0
        widest = -1.0
        for k in range(values.shape[1]):
            origin = values[order[cuts[a]], k]
            total = 0.0
            squares = 0.0
            for i in range(cuts[a], cuts[b]):
                v = values[order[i], k] - origin
                total += v
                squares += v * v
            variance = squares - total * total / n
            if variance > widest:
                widest = variance
                axis = k
        middle = (a + b) // 2
        _select(values, axis, order, cuts[a], cuts[b] - 1, cuts[middle])
        ranges += [(a, middle), (middle, b)]


@kernel
def _gap(low, high, other_low, other_high):
    """Squared distance of two boxes."""
    total = 0.0
    for k in range(low.size):
        gap = max(low[k] - other_high[k], other_low[k] - high[k], 0.0)
        total += gap * gap
    return total


@kernel
def _spread(low, high, other_low, other_high):
    """Upper bound of the squared distances between the points of two boxes."""
    total = 0.0
    for k in range(low.size):
        width = max(high[k] - other_low[k], other_high[k] - low[k])
        total += width * width
    return total


@kernel
def _squares(points, size, tile, squares):
    """squares[j, p] = squared distance of points[j] and lane p; dimensions are a multiple of 4."""
    squares[:size] = 0
    for k in range(0, tile.shape[0], 4):
        for j in range(size):
            for p in range(LANES):
                total = squares[j, p]
                for m in range(4):
                    step = points[j, k + m] - tile[k + m, p]
                    total += step * step
                squares[j, p] = total


@kernel
def _weigh(square, edge, high, low, real, bits, scale, weight):
    """weight[p] = 2^-(square[p] (high + low)), 0 beyond the edge; False if all are.

    `high` has few digits, so that its product is exact and the fraction keeps its precision; `real` is there to
    convert squares to its type, and `scale` is `bits` read as floats.
    """
    near = False
    for p in range(LANES):
        near |= square[p] <= edge
    if not near:
        return False
    for p in range(LANES):
        real[p] = square[p]
        power = real[p] * high
        whole = np.floor(power + HALF)
        g = np.float32((whole - power) - real[p] * low)
        series = ONE + g * (P1 + g * (P2 + g * (P3 + g * (P4 + g * (P5 + g * P6)))))
        weight[p] = series if square[p] <= edge else ZERO
        bits[p] = np.int32((BIAS - min(np.float32(whole), BIAS)) * MANTISSA)
    for p in range(LANES):
        weight[p] *= scale[p]
    return True


@kernel
def _add(points, rows, size, tile, squares, edge, high, low, start, outcome, count, real, bits, scale, weight, sums):
    """Add the weights of a batch of sources to the sums (n_z, LANES) of a tile."""
    _squares(points, size, tile, squares)
    for j in range(size):
        if _weigh(squares[j], edge, high, low, real, bits, scale, weight):
            for e in range(start[rows[j]], start[rows[j] + 1]):
                total = sums[outcome[e]]
                c = count[e]
                for p in range(LANES):
                    total[p] += c * weight[p]


@kernel
def sum_tiles(
    first, stop, cuts, coords, tile_boxes, tile_range, block, sources, places, boxes, groups, ranges, start, outcome,
    count, bound, narrow, wide, rate, out
):  # fmt: skip
    """Sums of the queries of tiles first..stop - 1, in k-d order; returns the pairs compared.

    Parameters
    ----------
    cuts, coords : queries of each tile, (n_tiles + 1,) and (n_queries, d), d a multiple of 4
    tile_boxes, tile_range : (2, n_tiles, m) and (2, n_tiles, d) bounds on the pruning axes and of the coordinates
    block, sources, places : blocks of sources, (n_blocks + 1,), their coordinates and places on the pruning axes
    boxes, groups, ranges : (2, n_blocks, m) boxes, those of every GROUP blocks, and (2, n_blocks, d) bounds
    start, outcome, count : outcomes of each source in compressed rows
    bound : scaled squared distance on the pruning axes from which no pair can be near
    narrow, wide : (1,) the largest squared distance kept, in a type that holds squares up to 65,535 and in one
        that holds all of them
    rate : (2,) kernel = 2^-(square * (rate[0] + rate[1]))
    out : (cuts[stop] - cuts[first], n_z)
    """
    d = coords.shape[1]
    tile = np.empty((d, LANES), coords.dtype)
    points = np.empty((BATCH, d), wide.dtype)
    rows = np.empty(BATCH, np.int64)
    small = np.empty((BATCH, LANES), narrow.dtype)
    large = np.empty((BATCH, LANES), wide.dtype)
    real = np.empty(LANES, rate.dtype)
    bits = np.empty(LANES, np.int32)
    scale = bits.view(np.float32)
    weight = np.empty(LANES, np.float32)
    sums = np.empty((out.shape[1], LANES))
    rest = rate[0], rate[1], start, outcome, count, real, bits, scale, weight, sums
    pairs = 0
    for t in range(first, stop):
        sums[:] = 0.0
        queries = cuts[t + 1] - cuts[t]
        for p in range(LANES):
            for k in range(d):
                tile[k, p] = coords[cuts[t] + min(p, queries - 1), k]
        near_low, near_high = tile_boxes[0, t], tile_boxes[1, t]
        for g in range(groups.shape[1]):
            if _gap(near_low, near_high, groups[0, g], groups[1, g]) > bound:
                continue
            for b in range(g * GROUP, min(g * GROUP + GROUP, block.size - 1)):
                if _gap(near_low, near_high, boxes[0, b], boxes[1, b]) > bound:
                    continue
                short = _spread(tile_range[0, t], tile_range[1, t], ranges[0, b], ranges[1, b]) < 65536.0
                size = 0
                for j in range(block[b], block[b + 1]):
                    if _gap(near_low, near_high, places[j], places[j]) <= bound:
                        points[size] = sources[j]
                        rows[size] = j
                        size += 1
                    if size == BATCH or (size > 0 and j == block[b + 1] - 1):
                        if short:
                            _add(points, rows, size, tile, small, narrow[0], *rest)
                        else:
                            _add(points, rows, size, tile, large, wide[0], *rest)
                        pairs += size * LANES
                        size = 0
        for p in range(queries):
            for z in range(out.shape[1]):
                out[cuts[t] - cuts[first] + p, z] = sums[z, p]
    return pairs


@kernel
def smear(hist, kz, first, stop, out):
    """out = hist @ kz in double precision, where row z of kz is zero outside first[z]..stop[z] - 1."""
    n_z = hist.shape[1]
    line = np.empty(kz.shape[1])
    whole = n_z - n_z % 4
    for i in range(hist.shape[0]):
        line[:] = 0.0
        # Four rows at once, added one after the other: a line that is read and written less often.
        for z in range(0, whole, 4):
            a, b = np.float64(hist[i, z]), np.float64(hist[i, z + 1])
            c, d = np.float64(hist[i, z + 2]), np.float64(hist[i, z + 3])
            if a != 0.0 or b != 0.0 or c != 0.0 or d != 0.0:
                low = min(min(first[z], first[z + 1]), min(first[z + 2], first[z + 3]))
                high = max(max(stop[z], stop[z + 1]), max(stop[z + 2], stop[z + 3]))
                for s in range(low, high):
                    two = (line[s] + a * kz[z, s]) + b * kz[z + 1, s]
                    line[s] = (two + c * kz[z + 2, s]) + d * kz[z + 3, s]
        for z in range(whole, n_z):
            h = np.float64(hist[i, z])
            if h != 0.0:
                for s in range(first[z], stop[z]):
                    line[s] += h * kz[z, s]
        for s in range(line.size):
            out[i, s] = line[s]
