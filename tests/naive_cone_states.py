"""Causal states of light cones with dicts, loops and fractions: the oracle of `cone_states` and what it counts."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import comb, exp, log

from scipy.special import gammaincc

import naive_cones as naive


def rows_of(cells):
    """Return how many first cells of a cone end at each of its rows."""
    return [k for k in range(1, len(cells) + 1) if k == len(cells) or cells[k][0] != cells[k - 1][0]]


def levels_of(cells):
    """Return the places of the cells of each nested future: the centre, then more and more rows."""
    rows = [tuple(range(k)) for k in rows_of(cells)]
    centre = next(k for k, cell in enumerate(cells) if not any(cell[1:]))
    return rows if len(rows[0]) == 1 else [(centre,), *rows]


def future_at(cell, offsets, shape, boundary):
    """Return the cells of the future of a cell."""
    found = set()
    for offset in offsets:
        time, *space = naive.move(cell, offset)
        if boundary == "periodic":
            space = [c % n for c, n in zip(space, shape[1:], strict=True)]
        found.add((time, *space))
    return found


def occurrences(fields, boundary, **options):
    """Return (x, z, number of the field, cell) of all observations."""
    found = naive.observations(fields, boundary=boundary, **options)
    places = [(number, cell) for number, (_, shape) in enumerate(fields) for cell in product(*map(range, shape))]
    return [(x, z, *places[site]) for x, z, site, _, _ in found]


def independent(observed, depth, offsets, fields, boundary, unit):
    """Return sub-cone -> the sum over its occurrences of unit // (those whose futures share a cell)."""
    total = {}
    for x, _, field, cell in observed:
        own = future_at(cell, offsets, fields[field][1], boundary)
        near = sum(
            bool(own & future_at(other, offsets, fields[field][1], boundary))
            for y, _, number, other in observed
            if number == field and y[:depth] == x[:depth]
        )
        total[x[:depth]] = total.get(x[:depth], 0) + unit // near
    return total


def region_of(cell, shape):
    """Return the part of space that a cell lies in, by how far it is from the middle along each axis."""
    cuts = 4 if len(shape) == 2 else 2
    return tuple(int(abs(2 * c - (n - 1)) * cuts // n) for c, n in zip(cell[1:], shape[1:], strict=True))


def tables_of(total, columns):
    """Yield all rows of counts with a total, given those of the columns, and in how many ways each comes about."""
    if not columns:
        if total == 0:
            yield (), 1
        return
    for first in range(min(total, columns[0]) + 1):
        for rest, ways in tables_of(total - first, columns[1:]):
            yield (first, *rest), ways * comb(columns[0], first)


def statistic(row, columns):
    """Return Pearson's statistic of a row of counts against the rest of the columns."""
    n, a = sum(columns), sum(row)
    overlap = sum(Fraction(k * k, t) for k, t in zip(row, columns, strict=True))
    return Fraction(n * n, a * (n - a)) * (overlap - Fraction(a * a, n))


def cumulants(a, columns):
    """Return the mean, the variance and the third cumulant of the statistic over all tables."""
    every = [(statistic(row, columns), ways) for row, ways in tables_of(a, tuple(columns))]
    total = sum(ways for _, ways in every)
    mean = sum(value * ways for value, ways in every) / total
    return mean, *(sum((value - mean) ** k * ways for value, ways in every) / total for k in (2, 3))


def x_log_x(x, total):
    return x * log(x / total) if x else 0.0


def chance(row, columns, clumps, moments):
    """Return the p-value of a row of counts (dict) against all of them (dict)."""
    a, n, c = sum(row.values()), sum(columns.values()), len(columns)
    b = n - a
    if c < 2 or n < 6 or b == 0:
        return 1.0
    half = sum(x_log_x(row.get(z, 0), t) + x_log_x(t - row.get(z, 0), t) for z, t in columns.items())
    half += a * log(n / a) + b * log(n / b)
    sure = c * exp(-half / clumps)
    mean, spread, skew = moments(a, list(columns.values()))
    if sure >= 1.0 or spread <= 1e-9 * mean:
        return 1.0
    skew = max(skew, 2.0 * spread**2 / mean)
    overlap = sum(k * k / columns[z] for z, k in row.items())
    value = n * n / (a * b) * (overlap - a * a / n) / clumps
    shape = 4.0 * spread**3 / skew**2
    return max(sure, float(gammaincc(shape, max(shape + (value - mean) * 2.0 * spread / skew, 0.0))))


def added(rows):
    """Return the sum of dicts of counts."""
    total = {}
    for row in rows:
        for z, k in row.items():
            total[z] = total.get(z, 0) + k
    return total


def coarse(row, places):
    """Return a dict of counts of words by some of their places."""
    found = {}
    for z, k in row.items():
        short = tuple(z[i] for i in places)
        found[short] = found.get(short, 0) + k
    return found


def clump(level, a, b, a_apart, b_apart):
    return max(level * (1 / a_apart + 1 / b_apart) / (1 / a + 1 / b), 1.0)


def discoveries(chances, rate):
    """Return which of a dict of p-values are discoveries (Benjamini, Hochberg)."""
    ordered = sorted(chances.values())
    good = [p for k, p in enumerate(ordered, 1) if p <= rate * k / len(ordered)]
    return {key for key, p in chances.items() if good and p <= good[-1]}


def told_apart(counts, depths, levels, apart, clumps, rate, moments):
    """Return x -> its row, a word that it begins with.

    counts: x -> {z: how often}; depths: cells of each sub-cone; apart: for each depth sub-cone -> independent
    occurrences; clumps: for each level.
    """
    left, row_of = dict(counts), {}
    pool = dict(apart[-1])
    for k in range(len(depths) - 1, -1, -1):
        size, above = depths[k], depths[k - 1] if k else 0
        pool = {child: min(n, apart[k][child]) for child, n in pool.items()}
        own = {}
        for x, row in left.items():
            own[x[:size]] = added([own.get(x[:size], {}), row])
        chances = {}
        for child, row in own.items():
            siblings = [c for c in own if c[:above] == child[:above]]
            if len(siblings) < 2:
                continue
            total = added(own[c] for c in siblings)
            a, n = sum(row.values()), sum(total.values())
            others = sum(pool[c] for c in siblings) - pool[child]
            p = 1.0
            for places, level in zip(levels, clumps, strict=True):
                worth = clump(level, a, n - a, pool[child], others)
                p = min(p, len(levels) * chance(coarse(row, places), coarse(total, places), worth, moments))
            chances[child] = p
        found = discoveries(chances, rate)
        row_of.update({x: x[:size] for x in left if x[:size] in found})
        left = {x: row for x, row in left.items() if x[:size] not in found}
        rest = {}
        for child, n in pool.items():
            if child not in found:
                rest[child[:above]] = rest.get(child[:above], 0) + n
        pool = rest
    row_of.update(dict.fromkeys(left, ()))
    return row_of


def visit(order, rows, apart, share, near, clumps, alpha, tries, moments):
    """Return the state of each row: rows[r][level] are dicts of counts, share[level] the distribution of all."""
    label, states = {}, []
    last = len(clumps) - 1

    def likelihood(r, state, level):
        n = sum(state["counts"][level].values())
        return sum(
            k * log((state["counts"][level].get(z, 0) + share[level][z]) / (n + 1.0)) for z, k in rows[r][level].items()
        )

    def differs(r, state):
        a, b = sum(rows[r][last].values()), sum(state["counts"][last].values())
        for level in range(last + 1):
            both = added([rows[r][level], state["counts"][level]])
            worth = clump(clumps[level], a, b, apart[r], state["apart"])
            if chance(rows[r][level], both, worth, moments) < alpha / (last + 1):
                return True
        return False

    for r in order:
        candidates = [s for s, state in enumerate(states) if set(state["counts"][near]) & set(rows[r][near])]
        score = {}
        for s in candidates:
            score[s] = likelihood(r, states[s], last)
            if near < last:
                score[s] = 0.5 * (score[s] + likelihood(r, states[s], near))
        own = None
        for _ in range(min(tries, len(candidates))):
            best = max(score.values())
            s = min(s for s, value in score.items() if value >= best - 1e-9 * sum(rows[r][last].values()))
            del score[s]
            if not differs(r, states[s]):
                own = s
                break
        if own is None:
            own = len(states)
            states.append({"counts": [{} for _ in clumps], "apart": 0.0})
        label[r] = own
        states[own]["apart"] += apart[r]
        states[own]["counts"] = [added(pair) for pair in zip(states[own]["counts"], rows[r], strict=True)]
    return label


def differences(regional):
    """Return Pearson's statistic of outcomes against regions within each x, and its mean: x -> {(z, region): k}."""
    value = mean = 0.0
    for cells in regional.values():
        z, r = {}, {}
        for (outcome, region), k in cells.items():
            z[outcome] = z.get(outcome, 0) + k
            r[region] = r.get(region, 0) + k
        n = sum(z.values())
        if n > 1:
            expected = {(a, b): z[a] * r[b] / n for a in z for b in r}
            value += sum((cells.get(place, 0) - e) ** 2 / e for place, e in expected.items())
            mean += (len(z) - 1) * (len(r) - 1) * n / (n - 1)
    return value, mean
