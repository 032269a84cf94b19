"""Merging, literally: contexts as words, trees as nested lists, mergers as sets of states."""

import math


def pieces(sequences):
    """Sequences without gaps."""
    for part in sequences:
        piece = []
        for s in [*part, -1]:
            if s >= 0:
                piece.append(s)
            else:
                yield piece
                piece = []


def contexts(sequences, symbols, most, least, deepest=64):
    """Words by decreasing count, each an extension to the left of one that is kept; at most so many."""

    def seen(word):
        return sum(
            tuple(piece[i - len(word) : i]) == word for piece in pieces(sequences) for i in range(len(word), len(piece))
        )

    kept, waiting = [], [((), seen(()))]
    while waiting and len(kept) < most:
        best = max(waiting, key=lambda one: one[1])
        waiting.remove(best)
        kept.append(best)
        word, count = best
        if len(word) < deepest and count >= least:
            more = [((s, *word), seen((s, *word))) for s in range(symbols)]
            waiting += [one for one in more if one[1] >= least]
    return dict(kept)


def longest(sequences, kept):
    """The longest of the words before each symbol, None where the symbol is missing."""
    found = []
    for part in sequences:
        for i, s in enumerate(part):
            if s < 0:
                found.append(None)
                continue
            word = ()
            while i - len(word) > 0 and (part[i - len(word) - 1], *word) in kept:
                word = (part[i - len(word) - 1], *word)
            found.append(word)
    return found


def row_bits(row, alpha):
    """log2-probability of a sequence with these counts under unknown probabilities."""
    bits, n = 0.0, 0
    for count in row:
        for c in range(count):
            bits += math.log2((c + alpha) / (n + alpha * len(row)))
            n += 1
    return bits


def mixture(parent, rows, alpha, k=0):
    """log2 of the mean over prunings of the tree below k: at each inner node, all at once or each child apart."""
    children = [c for c, up in enumerate(parent) if up == k and c != k]

    def total(node):
        below = [total(c) for c, up in enumerate(parent) if up == node and c != node]
        return [sum(column) for column in zip(rows[node], *below, strict=True)]

    alone = row_bits(total(k), alpha)
    if not children:
        return alone
    apart = row_bits(rows[k], alpha) + sum(mixture(parent, rows, alpha, c) for c in children)
    top = max(alone, apart)
    return top + math.log2(2 ** (alone - top) + 2 ** (apart - top)) - 1


def prunings(parent, rows, alpha, k=0):
    """All prunings of the tree below k: log2-probability of its symbols less its bits, and the nodes that are inner."""
    children = [c for c, up in enumerate(parent) if up == k and c != k]

    def total(node):
        below = [total(c) for c, up in enumerate(parent) if up == node and c != node]
        return [sum(column) for column in zip(rows[node], *below, strict=True)]

    found = [(row_bits(total(k), alpha) - 1, frozenset())]
    apart = [(row_bits(rows[k], alpha) - 1 - (len(rows[k]) - len(children)), frozenset([k]))]
    for child in children:
        below = prunings(parent, rows, alpha, child)
        apart = [(bits + more, inner | deeper) for bits, inner in apart for more, deeper in below]
    return found + apart


def fold(targets, counts, gain, cost, limit):
    """Red-blue merging from state 0: the set that each state is in, and the red states, one of each set."""
    n, symbols = len(targets), len(targets[0])
    groups = {k: frozenset([k]) for k in range(n)}

    def row(group):
        return [sum(counts[k][s] for k in group) for s in range(symbols)]

    def worth(group):
        return sum(gain[c] for c in row(group)) - cost[sum(row(group))]

    def uses(group):
        return sum(row(group))

    def leads(group, s):
        return [targets[k][s] for k in sorted(group) if targets[k][s] >= 0]

    def merged(groups, a, b):
        groups, todo, gained = dict(groups), [(a, b)], 0.0
        while todo:
            a, b = todo.pop()
            if groups[a] == groups[b]:
                continue
            both = groups[a] | groups[b]
            more = worth(both) - worth(groups[a]) - worth(groups[b])
            if more < limit:
                return -math.inf, groups
            gained += more
            for s in range(symbols):
                ends = leads(groups[a], s)[:1] + leads(groups[b], s)[:1]
                if len(ends) == 2:
                    todo.append((ends[0], ends[1]))
            for k in both:
                groups[k] = both
        return gained, groups

    red = [0]
    while True:
        blues = []
        for r in red:
            for s in range(symbols):
                for end in leads(groups[r], s)[:1]:
                    if all(groups[end] != groups[q] for q in red):
                        blues.append(end)
        if not blues:
            return groups, red
        blue = max(blues, key=lambda k: uses(groups[k]))
        trials = [(*merged(groups, r, blue), r) for r in red]
        best = max(trials, key=lambda one: one[0])
        if best[0] > 1e-9:
            groups = best[1]
            red = [r for i, r in enumerate(red) if all(groups[r] != groups[q] for q in red[:i])]
        else:
            red.append(blue)


def elsewhere(sequences, targets, counts, states, ahead):
    """For each edge (state, symbol): its uses, and the bits gained along what followed if it led to each state."""
    n, symbols = len(targets), len(targets[0])
    used = [sum(row[s] for row in counts) for s in range(symbols)]
    share = [(u + 0.5) / (sum(used) + 0.5 * symbols) for u in used]
    smooth = [[row[s] + share[s] for s in range(symbols)] for row in counts]
    logs = [[math.log2(v / sum(row)) for v in row] for row in smooth]

    def bits(state, future):
        total = 0.0
        for s in future:
            total += logs[state][s]
            state = targets[state][s]
        return total

    found, place = {}, 0
    for part in sequences:
        for i, s in enumerate(part):
            state = states[place + i]
            if state >= 0 and i + 1 < len(part):
                future = part[i + 1 : i + 1 + ahead]
                uses, gains = found.get((state, s), (0, [0.0] * n))
                taken = bits(targets[state][s], future)
                found[state, s] = uses + 1, [g + bits(u, future) - taken for u, g in enumerate(gains)]
        place += len(part)
    return found
