"""Slow, literal versions of the steps of states by evidence: sums over all observations, one by one."""

from __future__ import annotations

import math

from scipy.stats import chi2, t

BLIND, BACK_OFF, ENOUGH, WIDEST = 1e-3, 0.3, 10.0, 8.0
CERTAIN = -14.0


def weight(a, b, width):
    return math.exp(-0.5 * sum(((u - v) / w) ** 2 for u, v, w in zip(a, b, width, strict=True)))


def density(x, known, kernel, prior, width, factor=1.0):
    """P(Z|x) at the points: `known` are pairs (x, bin); wider kernels where few are near."""
    near = [(weight(x, other, [factor * w for w in width]), b) for other, b in known]
    near = [(w if w >= 1e-9 else 0.0, b) for w, b in near]
    mass = sum(w for w, _ in near)
    rest, share = prior, BLIND
    if mass < ENOUGH and factor < WIDEST:
        rest, share = density(x, known, kernel, prior, width, 2.0 * factor), BACK_OFF
    return [(sum(w * kernel[b][g] for w, b in near) + share * rest[g]) / (mass + share) for g in range(len(prior))]


def cross_fitted(xs, bins, kernel, prior, width, fold):
    """Densities at each observation, from those of other folds."""
    found = []
    for x, own in zip(xs, fold, strict=True):
        known = [(other, b) for other, b, f in zip(xs, bins, fold, strict=True) if f != own]
        found.append([max(v, 1e-12) for v in density(x, known, kernel, prior, width)])
    return found


def held_out(labels, bins, points, kernel, prior, fold):
    """[observation][state]: log likelihood of the own z in each state, from members of the other folds."""
    rows = []
    for i, point in enumerate(points):
        row = []
        for state in range(max(labels) + 1):
            members = [j for j in range(len(labels)) if labels[j] == state and fold[j] != fold[i]]
            p = (sum(kernel[bins[j]][point] for j in members) + prior[point]) / (len(members) + 1.0)
            row.append(math.log(max(p, 1e-3 * prior[point])))
        rows.append(row)
    return rows


def ratios(a, b, labels, log):
    """Mean, variance of the mean and number of the log likelihood ratios of the members of a, between a and b."""
    values = [min(max(log[i][a] - log[i][b], -3.0), 3.0) for i in range(len(labels)) if labels[i] == a]
    mean = sum(values) / len(values)
    variance = sum((v - mean) ** 2 for v in values) / len(values) / max(len(values) - 1, 1) + 1e-12
    return mean, variance, len(values)


def log_p(a, b, labels, log, groups):
    """Logarithm of the p-value of two states being one, by two tests."""
    (m1, v1, n1), (m2, v2, n2) = ratios(a, b, labels, log), ratios(b, a, labels, log)
    if min(n1, n2) < 3:
        return 0.0
    dof = (v1 + v2) ** 2 / (v1**2 / max(n1 - 1, 1) + v2**2 / max(n2 - 1, 1))
    by_ratio = t.logsf((m1 + m2) / math.sqrt(v1 + v2), max(dof, 1.0))
    counts = [
        [sum(1 for s, g in zip(labels, groups, strict=True) if (s, g) == (k, c)) for c in sorted(set(groups))]
        for k in (a, b)
    ]
    g, both = 0.0, [u + v for u, v in zip(*counts, strict=True)]
    for row in counts:
        for u, column in zip(row, both, strict=True):
            if u:
                g += 2.0 * u * math.log(u * sum(both) / (column * sum(row)))
    by_counts = chi2.logsf(max(g, 0.0), max(sum(1 for column in both if column) - 1, 1))
    return min(math.log(2.0) + min(by_ratio, by_counts), 0.0)


def log_p_inside_folds(a, b, labels, log, groups, fold):
    """The same from differences inside folds: their mean, and Mantel and Haenszel's test."""
    ratio = [min(max(row[a] - row[b], -3.0), 3.0) for row in log]
    inside = {f: [[i for i, s in enumerate(labels) if s == k and fold[i] == f] for k in (a, b)] for f in set(fold)}
    mean = {f: [sum(ratio[i] for i in part) / max(len(part), 1) for part in parts] for f, parts in inside.items()}
    difference, error, free = 0.0, [0.0, 0.0], [0, 0]
    for k in range(2):
        free[k] = max(sum(max(len(parts[k]) - 1, 0) for parts in inside.values()), 1)
        spread = sum((ratio[i] - mean[f][k]) ** 2 for f, parts in inside.items() for i in parts[k]) / free[k]
        for parts in inside.values():
            if parts[0] and parts[1]:
                share = len(parts[0]) * len(parts[1]) / (len(parts[0]) + len(parts[1]))
                error[k] += share**2 / len(parts[k]) * spread
        error[k] += 1e-12
    more, variance = dict.fromkeys(groups, 0.0), dict.fromkeys(groups, 0.0)
    for f, (one, two) in inside.items():
        if one and two:
            n = len(one) + len(two)
            difference += len(one) * len(two) / n * (mean[f][0] - mean[f][1])
            for c in more:
                own, all_of_them = (sum(groups[i] == c for i in part) for part in (one, one + two))
                more[c] += own - len(one) * all_of_them / n
                variance[c] += len(one) * len(two) / (n - 1) * all_of_them / n
    dof = sum(error) ** 2 / sum(e**2 / n for e, n in zip(error, free, strict=True))
    by_ratio = t.logsf(difference / math.sqrt(sum(error)), dof)
    seen = [c for c in more if variance[c] > 0.0]
    by_counts = chi2.logsf(sum(more[c] ** 2 / variance[c] for c in seen), max(len(seen) - 1, 1))
    return min(math.log(2.0) + min(by_ratio, by_counts), 0.0)


def merged(labels, bins, points, groups, kernel, prior, fold, alpha):
    """Labels after the two most alike states were merged, again and again, until both tests tell them apart."""
    labels = list(labels)
    while len(set(labels)) > 1:
        log = held_out(labels, bins, points, kernel, prior, fold)
        live = sorted(set(labels))
        best, gone, kept = max((log_p(a, b, labels, log, groups), -a, -b) for a in live for b in live if a != b)
        least = math.log(alpha / len(live))
        inside = log_p_inside_folds(-gone, -kept, labels, log, groups, fold)
        if best < least and (best < CERTAIN or inside < least):
            break
        labels = [-kept if label == -gone else label for label in labels]
    return labels


def expected(p, log_q):
    """Number of the row of log_q with the largest expected score."""
    values = [sum(u * v for u, v in zip(p, row, strict=True)) for row in log_q]
    return max(range(len(values)), key=lambda k: (values[k], -k))
