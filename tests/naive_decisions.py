"""Slow, literal versions of steps 5 to 8 and of events: dicts, loops, and fractions where exactness helps."""

import math
from fractions import Fraction
from itertools import combinations, product

# ------------------------------------------------------------------------------------------------ utilities
# A distribution is a dict outcome -> probability; a utility a function of (y, z).


def zero_one(y, z):
    return Fraction(int(y == z))


def squared_error(y, z):
    if isinstance(z, tuple):
        return -sum((Fraction(a) - Fraction(b)) ** 2 for a, b in zip(y, z, strict=True))
    return -((Fraction(y) - Fraction(z)) ** 2)


def absolute_error(y, z):
    return -abs(Fraction(y) - Fraction(z))


def tolerant(tau):
    return lambda y, z: -max(Fraction(0), abs(Fraction(y) - Fraction(z)) - Fraction(tau))


def newsvendor(shortage, surplus):
    return lambda y, z: -(shortage * max(z - y, 0) + surplus * max(y - z, 0))


def interval_score(coverage):
    def score(y, z):
        low, high = y
        return -(high - low) - 2 / (1 - coverage) * (max(low - z, 0) + max(z - high, 0))

    return score


def alarm(threshold, missed, false, below=False):
    def cost(y, z):
        happens = z < threshold if below else z > threshold
        return -missed if happens and y == "quiet" else -false if y == "alarm" and not happens else 0

    return cost


def matching_cells(y, z):
    return Fraction(sum(a == b for a, b in zip(y, z, strict=True)))


def expected(p, u, y):
    return sum((mass * u(y, z) for z, mass in p.items()), Fraction(0))


def best(p, u, candidates, atol=0):
    """The set Y and its utility."""
    value = {y: expected(p, u, y) for y in candidates}
    top = max(value.values())
    return {y for y in value if value[y] >= top - atol}, top


def all_words(outcomes):
    """All candidates for tuples: one value per cell, of those that occur anywhere."""
    letters = sorted({value for word in outcomes for value in word})
    return list(product(letters, repeat=len(next(iter(outcomes)))))


# -------------------------------------------------------------------------------------------- sampling error


def smooth(p, n, prior):
    return {z: (p[z] * n + prior[z]) / (n + 1) for z in p}


def spread(p, values):
    """Standard deviation of one value; values and p are dicts by outcome."""
    mean = sum(p[z] * values[z] for z in p)
    return math.sqrt(sum(p[z] * (values[z] - mean) ** 2 for z in p))


def best_from_data(p, u, candidates, n, prior, level, atol=1e-9):
    """Y, its utility and its standard error, where p is known from n observations."""
    value = {y: sum(p[z] * u(y, z) for z in p) for y in candidates}
    highest = max(value.values())
    first = next(y for y in candidates if value[y] >= highest - atol)
    q = smooth(p, n, prior)
    found = set()
    for y in candidates:
        lead = {z: u(first, z) - u(y, z) for z in p}
        within = highest - value[y] <= atol + level * spread(q, lead) / math.sqrt(n)
        beaten = any(dominates(u, other, y, p, atol) for other in candidates)
        if highest - value[y] <= atol or (within and not beaten):
            found.add(y)
    return found, highest, spread(q, {z: u(first, z) for z in p}) / math.sqrt(n)


def dominates(u, a, b, outcomes, atol):
    lead = [u(a, z) - u(b, z) for z in outcomes]
    return min(lead) >= -atol and max(lead) > atol


def aggregate(values, errors, weight, level):
    """Labels of numbers: the most probable first, each joins the group that it differs least from."""
    groups, labels = [], {}
    for i in sorted(range(len(values)), key=lambda i: -weight[i]):
        choices = []
        for g, (centre, error, _) in enumerate(groups):
            apart = max(0.0, abs(values[i] - centre) - 1e-9 * (1 + abs(centre)))
            both = math.sqrt(errors[i] ** 2 + error**2)
            far = apart / both if both > 0 else (0.0 if apart == 0 else math.inf)
            if far <= level:
                choices.append((far, g))
        if not choices:
            labels[i] = len(groups)
            groups.append((values[i], errors[i], weight[i]))
            continue
        _, g = min(choices)
        centre, error, mass = groups[g]
        share = weight[i] / (mass + weight[i])
        error = math.sqrt(((1 - share) * error) ** 2 + (share * errors[i]) ** 2)
        groups[g] = (centre + share * (values[i] - centre), error, mass + weight[i])
        labels[i] = g
    return [labels[i] for i in range(len(values))]


# ------------------------------------------------------------------------------------------------ partitions


def canonical(keys, weight):
    """Labels by decreasing probability, equal ones by first appearance."""
    mass = {}
    for key, w in zip(keys, weight, strict=True):
        mass[key] = mass.get(key, 0) + w
    order = sorted(mass, key=lambda key: -mass[key])
    return [order.index(key) for key in keys]


def chains(values, delta):
    """Group of each row of numbers: rows are linked in a group as long as no coordinate has a gap above delta."""
    rows = [value if isinstance(value, tuple) else (value,) for value in values]
    groups = [list(range(len(rows)))]
    while True:
        finer = [part for group in groups for part in cut(rows, group, delta)]
        if len(finer) == len(groups):
            return [next(g for g, group in enumerate(groups) if i in group) for i in range(len(rows))]
        groups = finer


def cut(rows, group, delta):
    """Two parts of a group, at its first gap, or the whole."""
    for k in range(len(rows[0])):
        order = sorted(group, key=lambda i: rows[i][k])
        for place in range(1, len(order)):
            if rows[order[place]][k] - rows[order[place - 1]][k] > delta:
                return [order[:place], order[place:]]
    return [group]


def entropy(labels, weight):
    total = sum(weight)
    mass = {}
    for label, w in zip(labels, weight, strict=True):
        mass[label] = mass.get(label, 0) + w
    return sum(-float(w / total) * math.log2(w / total) for w in mass.values() if w > 0)


def decide(distributions, weight, u, candidates, delta=0):
    """Y, U and the labels of iso-prediction, iso-utility and decisional states, for exact distributions."""
    pairs = [best(p, u, candidates) for p in distributions]
    psi = canonical([frozenset(y) for y, _ in pairs], weight)
    upsilon = canonical(chains([value for _, value in pairs], delta), weight)
    omega = canonical(list(zip(psi, upsilon, strict=True)), weight)
    return [y for y, _ in pairs], [value for _, value in pairs], psi, upsilon, omega


def decide_alike(distributions, weight, u, candidates, indifference, own=None, errors=0):
    """Y, U and labels of iso-prediction, iso-utility and decisional states where a user does not care for a loss.

    With the outcomes that each state saw, `own`, a loss that these do not tell does not count either.
    """
    pairs = [best(p, u, candidates) for p in distributions]
    psi = canonical([frozenset(y) for y, _ in pairs], weight)
    members = {c: [k for k in range(len(psi)) if psi[k] == c] for c in sorted(set(psi))}

    def first(p):
        return next(y for y in candidates if y in best(p, u, candidates)[0])

    def loss(k, y):
        return pairs[k][1] - expected(distributions[k], u, y)

    def told(k, y):
        """Standard error of what y lost on the outcomes of a state against its best."""
        if own is None:
            return 0
        lost = [u(first(distributions[k]), z) - u(y, z) for z in own[k]]
        mean = sum(lost) / len(lost)
        return math.sqrt(sum((value - mean) ** 2 for value in lost) / len(lost) / len(lost))

    def fits(c, y):
        each = errors / math.sqrt(len(distributions))
        return all(loss(k, y) <= max(indifference, each * told(k, y)) for k in members[c])

    def pooled(classes):
        states = [k for c in classes for k in members[c]]
        total = sum(weight[k] for k in states)
        return {z: sum(weight[k] * distributions[k][z] for k in states) / total for z in distributions[0]}

    best_of = {c: first(distributions[max(states, key=lambda k: (weight[k], -k))]) for c, states in members.items()}
    both = [first(pooled(two)) for two in combinations(members, 2)] if len(members) > 2 else []
    tried = list(dict.fromkeys([*best_of.values(), *both]))
    serves = {y: {c for c in members if y == best_of[c] or fits(c, y)} for y in tried}
    left, taken = set(members), []
    while left:
        y = max(tried, key=lambda y: sum(weight[k] for c in serves[y] & left for k in members[c]))
        taken.append(y)
        left -= serves[y]
    follows = {}
    for c, states in members.items():
        serving = [y for y in taken if c in serves[y]]
        follows[c] = min(serving, key=lambda y: sum(weight[k] * loss(k, y) for k in states))
    group = dict(follows)
    for y in follows.values():
        classes = [c for c in members if follows[c] == y]
        common = best_of[classes[0]] if len(classes) == 1 else first(pooled(classes))
        if all(fits(c, common) for c in classes):
            group.update(dict.fromkeys(classes, common))
    group = [group[c] for c in psi]
    sets = []
    for k, y in enumerate(group):
        alone = len({psi[j] for j in range(len(psi)) if group[j] == y}) == 1
        sets.append(pairs[k][0] if alone else {y})
    values = [value - loss(k, group[k]) for k, (_, value) in enumerate(pairs)]
    together = canonical(group, weight)
    upsilon = canonical(chains([value for _, value in pairs], indifference), weight)
    return sets, values, together, upsilon, canonical(list(zip(together, upsilon, strict=True)), weight)


# ---------------------------------------------------------------------------------------------------- events


def events(causes, labels, positions=None, initial=False):
    """(position, cause before, cause after) of each change of label; unknown causes (-1) are passed over."""
    found, last = [], -1
    for i, cause in enumerate(causes):
        if cause < 0:
            continue
        if (last < 0 and initial) or (last >= 0 and labels[last] != labels[cause]):
            found.append((i if positions is None else positions[i], last, cause))
        last = cause
    return found
