"""Slow, literal versions of matching, clustering and determinism: dicts, loops and textbook formulas."""

import math
from collections import Counter
from itertools import product

import numpy as np
from scipy import special, stats

import naive
from decisional.data.tally import Steps
from decisional.states.determinism import MOST_MERGED, PATIENCE
from decisional.states.distributions import Distributions

# ---------------------------------------------------------------------------------------------- distances
# Two distributions are two lists of counts over the same outcomes.


def normalised(a):
    return [value / sum(a) for value in a]


def bhattacharyya(a, b):
    overlap = sum(math.sqrt(p * q) for p, q in zip(normalised(a), normalised(b), strict=True))
    return math.sqrt(max(1 - overlap, 0))


def variational(a, b):
    return sum(abs(p - q) for p, q in zip(normalised(a), normalised(b), strict=True))


def harmonic_mean(a, b):
    return 1 - sum(2 * p * q / (p + q) for p, q in zip(normalised(a), normalised(b), strict=True) if p + q > 0)


def entropy(p):
    return -sum(value * math.log2(value) for value in p if value > 0)


def jensen_shannon(a, b):
    p, q = normalised(a), normalised(b)
    return entropy([(u + v) / 2 for u, v in zip(p, q, strict=True)]) - (entropy(p) + entropy(q)) / 2


def contingency(a, b, name):
    """Statistic, degrees of freedom and p-value of the test "chi-square" or "G", from scipy."""
    table = np.array([a, b], float)
    table = table[:, table.any(axis=0)]
    kind = "log-likelihood" if name == "G" else "pearson"
    found = stats.chi2_contingency(table, correction=False, lambda_=kind)
    return found.statistic, found.dof, found.pvalue


def statistic(a, b, name):
    """The same statistic and degrees of freedom, cell by cell."""
    n, value, columns = sum(a) + sum(b), 0.0, 0
    for u, v in zip(a, b, strict=True):
        columns += u + v > 0
        for seen, total in ((u, sum(a)), (v, sum(b))):
            expected = (u + v) * total / n
            if name == "G":
                value += 2 * seen * math.log(seen / expected) if seen > 0 else 0.0
            else:
                value += (seen - expected) ** 2 / expected if expected > 0 else 0.0
    return max(value, 0.0), columns - 1


def column_mean(c, row, n):
    """Mean of the G of a column of c counts out of n, `row` of the n being drawn without replacement."""
    mean = c * row / n
    value = 0.0
    for k in range(max(0, c + row - n), min(c, row) + 1):
        g = special.xlogy(k, k / mean) + special.xlogy(c - k, (c - k) / (c - mean))
        value += 2 * float(stats.hypergeom.pmf(k, n, c, row)) * g
    return value


def inflation(a, b):
    """Mean of G given the margins over its asymptotic mean; columns with more than 20 expected are asymptotic."""
    columns = [int(u + v) for u, v in zip(a, b, strict=True) if u + v > 0]
    n, row = sum(columns), int(min(sum(a), sum(b)))
    mean = sum(1 - c / n if c * row / n > 20 else column_mean(c, row, n) for c in columns)
    return max(1.0, mean / (len(columns) - 1))


def p_value(a, b, name, checked, level):
    """p-value of a test; a rejection is confirmed with G over its mean under the null if `checked`."""
    value, dof = statistic(a, b, name)
    p = float(special.chdtrc(dof, value)) if dof else 1.0
    if checked and dof and p < level:
        value, dof = statistic(a, b, "G")
        p = max(p, float(special.chdtrc(dof, value / inflation(a, b))))
    return p


DISTANCES = {
    "Bhattacharyya": bhattacharyya,
    "Variational": variational,
    "HarmonicMean": harmonic_mean,
    "JensenShannon": jensen_shannon,
    "Exact": variational,
}


def similarity(measure, a, b, n=1):
    """What a match of the library should say of two lists of counts."""
    name = type(measure).__name__
    if name in DISTANCES:
        return -DISTANCES[name](a, b)
    kind = "G" if name == "GTest" else "chi-square"
    return p_value(a, b, kind, measure.family_wise, measure.level(n))


# --------------------------------------------------------------------------------------------- clustering
# A table is a list of rows of counts.


class Tie(Exception):
    """Two choices that differ by rounding only: what a loop decides then is no matter of right or wrong."""


def distributions(rows):
    """Rows of counts as the library holds them."""
    rows = np.asarray(rows)
    n, n_outcomes = rows.shape
    i, outcome = np.nonzero(rows)
    start = np.searchsorted(i, np.arange(n + 1))
    every = np.arange(n)
    return Distributions(start, outcome, rows[i, outcome], n_outcomes, rows.sum(axis=1), every, every, np.ones(n, int))


def first_of_best(choices, level):
    """Key of the largest value above the level, the first of exact equals; None without one."""
    best, best_value = None, level
    for key, value in choices:
        if abs(value - best_value) < 1e-9 * max(abs(value), abs(best_value)):
            raise Tie
        if value > best_value:
            best, best_value = key, value
    return best


def aggregate(rows, alike, level, order, passes=1):
    """Labels of rows: each joins the state it is most alike, or opens one; then states are merged."""
    label, states = {}, {}
    for _ in range(passes):
        for r in order:
            if r in label:
                states[label[r]].discard(r)
            live = [(s, added_up(rows, states[s])) for s in sorted(states) if states[s]]
            s = first_of_best([(s, alike(rows[r], total)) for s, total in live], level)
            if s is None:
                s = min(s for s in range(len(rows) + 1) if not states.get(s))
            label[r] = s
            states.setdefault(s, set()).add(r)
        merge(rows, states, label, alike, level)
    return [label[r] for r in range(len(rows))]


def added_up(rows, members):
    return [sum(rows[r][z] for r in members) for z in range(len(rows[0]))]


def merge(rows, states, label, alike, level):
    """Merge the two most similar states into the one with the smaller number, while two of them match."""
    while True:
        total = {s: added_up(rows, states[s]) for s in sorted(states) if states[s]}
        pairs = [((a, b), alike(total[a], total[b])) for a in total for b in total if b < a]
        best = first_of_best(pairs, level)
        if best is None:
            return
        a, b = best
        states[b] |= states[a]
        states[a] = set()
        for r in states[b]:
            label[r] = b


def components(n, linked):
    """Label of each of n elements: the smallest element that a chain of links reaches."""
    label = {}
    for i in range(n):
        if i not in label:
            todo = [i]
            while todo:
                j = todo.pop()
                label[j] = i
                todo += [k for k in range(n) if k not in label and (linked(j, k) or linked(k, j))]
    return [label[i] for i in range(n)]


def canonical(labels):
    """Labels numbered by first appearance: equal for equal partitions."""
    number = {}
    return [number.setdefault(label, len(number)) for label in np.asarray(labels).tolist()]


# ------------------------------------------------------------------------------------------- determinism
# Transitions are a dict (source, symbol, target) -> count; labels a list of one state per row.


def as_steps(moves):
    """Transitions as the library holds them, sorted by (source, symbol)."""
    keys = sorted(moves)
    columns = np.array(keys, np.int64).reshape(-1, 3).T
    return Steps(*columns, np.array([moves[key] for key in keys], np.int64))


def most_frequent(counts):
    """Key of the largest count, the lowest of equals."""
    return min(counts, key=lambda key: (-counts[key], key))


def leaving(labels, moves, group):
    """(group of source, symbol) -> {state of target: count}."""
    result = {}
    for (source, symbol, target), count in moves.items():
        counts = result.setdefault((group[source], symbol), {})
        counts[labels[target]] = counts.get(labels[target], 0) + count
    return result


def machine(labels, moves, n_symbols):
    """targets, emission and share as nested lists."""
    n = max(labels) + 1
    targets = [[-1] * n_symbols for _ in range(n)]
    emission = [[0.0] * n_symbols for _ in range(n)]
    share = [[0.0] * n_symbols for _ in range(n)]
    for (state, symbol), counts in leaving(labels, moves, labels).items():
        targets[state][symbol] = most_frequent(counts)
        emission[state][symbol] = float(sum(counts.values()))
        share[state][symbol] = max(counts.values()) / sum(counts.values())
    for row in emission:
        row[:] = [value / sum(row) if sum(row) else 0.0 for value in row]
    return targets, emission, share


def doubtful_pairs(share, theta):
    return {(s, a) for s, row in enumerate(share) for a, part in enumerate(row) if 0 < part <= theta and part < 1}


def split(labels, moves, targets, doubtful, n_symbols):
    """Rows of a state part where they go to different states on one of its doubtful symbols."""
    rows = leaving(labels, moves, range(len(labels)))
    keys = []
    for r, state in enumerate(labels):
        where = []
        for a in range(n_symbols):
            counts = rows.get((r, a), {targets[state][a]: 1})
            where.append(most_frequent(counts) if (state, a) in doubtful else -1)
        keys.append((state, *where))
    number = {key: i for i, key in enumerate(sorted(set(keys)))}
    return [number[key] for key in keys]


def recurrent(targets, emission, mass):
    """States of the closed class of largest mass, in increasing order, or None."""
    chain = naive.edges(
        {
            i: {a: (targets[i][a], p) for a, p in enumerate(row) if p > 0 and targets[i][a] >= 0}
            for i, row in enumerate(emission)
        }
    )
    classes = naive.closed_classes(chain)
    return list(max(classes, key=lambda c: (sum(mass[i] for i in c), -c[0]))) if classes else None


def refinements(labels, moves, n_symbols, theta, weight=None):
    """All labels, from the given ones (numbered by value) to those where no split is called for."""
    values = sorted(set(labels))
    found = [[values.index(label) for label in labels]]
    while True:
        labels = found[-1]
        targets, emission, share = machine(labels, moves, n_symbols)
        doubtful = doubtful_pairs(share, theta)
        if weight is not None:
            mass = [sum(w for w, label in zip(weight, labels, strict=True) if label == s) for s in range(len(targets))]
            states = recurrent(targets, emission, mass)
            doubtful = {(s, a) for s, a in doubtful if states is None or s in states}
        finer = split(labels, moves, targets, doubtful, n_symbols)
        if max(finer) == max(labels):
            return found
        found.append(finer)


def merge_successors(moves, n_rows, theta):
    """Rows that one row reaches by one symbol are one group, unless a share is at most 1 - theta."""
    total = {}
    for (source, symbol, _), count in moves.items():
        total[source, symbol] = total.get((source, symbol), 0) + count
    kept = {key for key, count in moves.items() if count > (1 - theta) * total[key[:2]]}
    together = {(t, u) for s, a, t in kept for r, b, u in kept if (s, a) == (r, b)}
    return components(n_rows, lambda i, j: (i, j) in together)


# ----------------------------------------------------------------------------------------------- beliefs


def belief_after(word, targets, emission, prior):
    """Belief over the states after a word, first symbol first; an impossible symbol leaves the prior."""
    belief = list(prior)
    for s in word:
        after = [0.0] * len(prior)
        for j, mass in enumerate(belief):
            if mass * emission[j][s] > 0:
                after[targets[j][s]] += mass * emission[j][s]
        belief = [value / sum(after) for value in after] if sum(after) > 0 else list(prior)
    return belief


def expected_counts(words, follow, targets, emission, prior):
    """counts[state][symbol], log2-likelihood and misses for words with their followers {symbol: count}."""
    counts = np.zeros(np.shape(emission))
    bits = misses = 0.0
    for word, followers in zip(words, follow, strict=True):
        belief = belief_after(word, targets, emission, prior)
        for s, count in followers.items():
            joint = [mass * emission[j][s] for j, mass in enumerate(belief)]
            if sum(joint) <= 0:
                misses += count
                continue
            bits += count * math.log2(sum(joint))
            for j, part in enumerate(joint):
                counts[j, s] += count * part / sum(joint)
    return counts, bits, misses


def inside(targets, emission, states):
    """The machine restricted to some states, renumbered, and its stationary distribution."""
    number = {s: i for i, s in enumerate(states)}
    targets = [[number.get(t, -1) for t in targets[s]] for s in states]
    emission = [list(emission[s]) for s in states]
    chain = naive.edges(
        {i: {a: (targets[i][a], p) for a, p in enumerate(row) if p > 0} for i, row in enumerate(emission)}
    )
    prior = naive.stationary(chain)
    return targets, emission, [prior[i] for i in range(len(states))]


def description(words, follow, targets, emission, states):
    """Description length in bits of what followed the words, and the expected counts of the recurrent states."""
    inner, kept, prior = inside(targets, emission, states)
    counts, bits, misses = expected_counts(words, follow, inner, kept, prior)
    edges = sum(p > 0 for row in emission for p in row)
    free = sum(p > 0 for row in kept for p in row) - len(states)
    log_n = math.log2(max(sum(sum(f.values()) for f in follow), 2))
    return -bits + edges * math.log2(len(targets)) + (free / 2 + misses) * log_n, counts


def describe(words, follow, labels, moves, n_symbols, weight, rounds):
    """Shortest description over rounds of re-estimation: (length, targets, emission)."""
    targets, emission, _ = machine(labels, moves, n_symbols)
    mass = [sum(w for w, label in zip(weight, labels, strict=True) if label == s) for s in range(len(targets))]
    best = (math.inf, targets, emission)
    for _ in range(rounds):
        states = recurrent(targets, emission, mass)
        if states is None:
            return best
        length, counts = description(words, follow, targets, emission, states)
        if length > best[0] - 0.01:
            return best
        best = (length, targets, emission)
        counts[counts < 1 - 1e-9] = 0
        if not counts.any(axis=1).all():
            return best
        targets, emission = [list(row) for row in targets], [list(row) for row in emission]
        for i, s in enumerate(states):
            emission[s] = [float(value) for value in counts[i] / counts[i].sum()]
            targets[s] = [t if p > 0 else -1 for t, p in zip(targets[s], emission[s], strict=True)]
    return best


def evidence(words, follow, labels, moves, n_symbols, weight, theta, rounds, strays):
    """Every refinement with its description, as (labels, (length, targets, emission)), the shortest first.

    Fewer strays are passed over while the shortest one holds symbols impossible that were seen.
    """
    found = []

    def best():
        return min(found, key=lambda each: each[1][0])

    def nothing_impossible():
        labels, (_, targets, emission) = best()
        mass = [sum(w for w, label in zip(weight, labels, strict=True) if label == s) for s in range(len(targets))]
        states = recurrent(targets, emission, mass)
        return states is None or expected_counts(words, follow, *inside(targets, emission, states))[2] == 0

    for stray in strays:
        for finer in refinements(labels, moves, n_symbols, 1 - stray * (1 - theta), weight):
            found.append((finer, describe(words, follow, finer, moves, n_symbols, weight, rounds)))
            late = not any(each is best() for each in found[-1 - PATIENCE :])
            if late and nothing_impossible():
                break
        if nothing_impossible():
            break
    found = [each for i, each in enumerate(found) if each[0] not in [other for other, _ in found[:i]]]
    found.sort(key=lambda each: each[1][0])
    if len(found) > 1:
        best = found[0]
        for coarser in coarsenings(canonical_numbers(labels), moves):
            described = describe(words, follow, coarser, moves, n_symbols, weight, rounds)
            gap = fit(described, coarser, weight) - fit(best[1], best[0], weight)
            if described[0] < best[1][0] and gap < -1.0:
                best = coarser, described
        found = [best, *(each for each in found if each[0] != best[0])]
    return found


def fit(described, labels, weight):
    """Description length without the edges: what the symbols, the free probabilities and the misses cost."""
    length, targets, emission = described
    return length - sum(p > 0 for row in emission for p in row) * math.log2(len(targets))


def coarsenings(labels, moves):
    """Labels after merging states pair after pair, the one first that makes their symbols least longer."""
    counts = {}
    for (row, symbol, _), count in moves.items():
        counts.setdefault(labels[row], Counter())[symbol] += count
    alive = sorted(set(labels))[:MOST_MERGED]

    def bits(counter):
        total = sum(counter.values())
        return -sum(c * math.log2(c / total) for c in counter.values())

    while len(alive) > 1:
        states = {s: counts.get(s, Counter()) for s in alive}
        lost = sorted(
            (bits(states[i] + states[j]) - bits(states[i]) - bits(states[j]), i, j)
            for i in alive
            for j in alive
            if i < j
        )
        if len(lost) > 1 and lost[1][0] < lost[0][0] + 1e-9:
            raise Tie
        _, i, j = lost[0]
        counts[i] = states[i] + states[j]
        labels = [i if label == j else label for label in labels]
        alive.remove(j)
        yield canonical_numbers(labels)


def closed_merger(targets, i, j):
    """Blocks of states after merging i and j and all that determinism demands: lowest state of each state's block."""
    block = {s: frozenset([s]) for s in range(len(targets))}
    todo = [(i, j)]
    while todo:
        a, b = (block[s] for s in todo.pop())
        both = a | b
        for s in both:
            block[s] = both
        for symbol in range(len(targets[0])):
            ends = [targets[s][symbol] for s in both if targets[s][symbol] >= 0]
            todo += [(ends[0], end) for end in ends if block[end] != block[ends[0]]]
    return [min(block[s]) for s in range(len(targets))]


def counted_length(counts, log_n):
    """Description length of a machine by the uses of its edges, counts[state][symbol]."""
    rows = [[c for c in row if c > 0] for row in counts]
    rows = [row for row in rows if row]
    edges = sum(map(len, rows))
    bits = -sum(c * math.log2(c / sum(row)) for row in rows for c in row)
    return bits + (edges - len(rows)) / 2 * log_n + edges * math.log2(max(len(rows), 1))


def merge_recurrent(words, follow, labels, moves, described, n_symbols, weight, rounds):
    """Merge recurrent states while that shortens the description: (labels, (length, targets, emission))."""
    log_n = math.log2(max(sum(moves.values()), 2))
    while True:
        _, targets, emission = described
        mass = [sum(w for w, label in zip(weight, labels, strict=True) if label == s) for s in range(len(targets))]
        states = recurrent(targets, emission, mass)
        if states is None or described[0] == math.inf:
            return labels, described
        inner, kept, prior = inside(targets, emission, states)
        counts = expected_counts(words, follow, inner, kept, prior)[0]
        options = []
        for i in range(len(states)):
            for j in range(i + 1, len(states)):
                into = closed_merger(inner, i, j)
                summed = np.zeros(counts.shape)
                np.add.at(summed, into, counts)
                options.append((counted_length(summed, log_n), into))
        if not options:
            return labels, described
        options.sort(key=lambda option: option[0])
        if options[0][0] >= counted_length(counts, log_n):
            return labels, described
        if len(options) > 1 and options[1][0] < options[0][0] + 1e-6 and options[1][1] != options[0][1]:
            raise Tie
        into = {s: states[options[0][1][i]] for i, s in enumerate(states)}
        finer = canonical_numbers([into.get(label, label) for label in labels])
        merged = describe(words, follow, finer, moves, n_symbols, weight, rounds)
        if merged[0] >= described[0]:
            return labels, described
        labels, described = finer, merged


def canonical_numbers(labels):
    """Labels 0, 1, ... in the order of their values."""
    number = {label: i for i, label in enumerate(sorted(set(labels)))}
    return [number[label] for label in labels]


def place(words, follow, labels, moves, described, weight, theta):
    """Labels, targets, emission and ambiguous pairs, windows with a sure state being given to that state.

    A window keeps its label where the sure state would make what followed it longer by more than log2 N bits.
    """
    targets, emission = described
    n_symbols = len(emission[0])
    mass = [sum(w for w, label in zip(weight, labels, strict=True) if label == s) for s in range(len(targets))]
    states = recurrent(targets, emission, mass)
    if states is None:
        share = machine(labels, moves, n_symbols)[2]
        return labels, targets, emission, {(s, a): share[s][a] for s, a in doubtful_pairs(share, theta)}
    log_n = math.log2(max(sum(sum(f.values()) for f in follow), 2))

    def bits(state, followers):
        return sum(-count * math.log2(max(emission[state][s], 2**-log_n)) for s, count in followers.items())

    inner, kept, prior = inside(targets, emission, states)
    beliefs = [belief_after(word, inner, kept, prior) for word in words]
    sure = [max(belief) >= theta for belief in beliefs]
    placed = list(labels)
    for i, belief in enumerate(beliefs):
        told = states[belief.index(max(belief))]
        if sure[i] and bits(told, follow[i]) - bits(labels[i], follow[i]) <= log_n:
            placed[i] = told
    if set(states) <= set(placed):
        labels = placed
    values = sorted(set(labels))
    labels = [values.index(label) for label in labels]
    final, chances, _ = machine(labels, moves, n_symbols)
    for i, s in enumerate(states):
        final[values.index(s)] = [values.index(states[t]) if t >= 0 else -1 for t in inner[i]]
        chances[values.index(s)] = kept[i]
    share = machine(labels, {m: c for m, c in moves.items() if sure[m[0]] and sure[m[2]]}, n_symbols)[2]
    mine = {values.index(s) for s in states}
    pairs = {(s, a) for s, a in doubtful_pairs(share, theta) if s in mine and final[s][a] >= 0}
    return labels, final, chances, {(s, a): share[s][a] for s, a in pairs}


# ------------------------------------------------------------------------------------------------ windows


def exact_windows(process, length, n):
    """Expected counts of the windows of a machine in a series of n: words (first symbol first), moves, followers.

    Windows are enumerated with their exact probabilities; counts are rounded to integers.
    """
    exact = naive.as_dict(process)
    home = dict(enumerate(process.stationary.tolist()))
    symbols = range(len(process.alphabet))

    def expected(word):
        return round(n * 2.0 ** naive.log_likelihood(exact, home, [process.alphabet[s] for s in word]))

    words = [word for word in product(symbols, repeat=length) if expected(word) > 0]
    number = {word: i for i, word in enumerate(words)}
    follow = [{s: expected((*word, s)) for s in symbols if expected((*word, s)) > 0} for word in words]
    return words, moves_of(words, number, follow), follow


def moves_of(words, number, follow):
    """Transitions between windows: each follower pushes the oldest symbol out."""
    return {
        (i, s, number[(*word, s)[1:]]): count
        for i, word in enumerate(words)
        for s, count in follow[i].items()
        if (*word, s)[1:] in number
    }


def seen_windows(symbols, length):
    """Windows of a list of symbol numbers: words, moves and followers, as for `exact_windows`."""
    follow = {}
    for i in range(len(symbols) - length):
        word, s = tuple(symbols[i : i + length]), symbols[i + length]
        follow.setdefault(word, {})
        follow[word][s] = follow[word].get(s, 0) + 1
    words = sorted(follow, key=lambda word: word[::-1])
    number = {word: i for i, word in enumerate(words)}
    return words, moves_of(words, number, [follow[word] for word in words]), [follow[word] for word in words]
