"""Climbing, literally: each machine is driven along the symbols from the beginning."""

import math


def length_of(codes, targets, log_n, share):
    """Bits of symbols along a complete machine from its first state, and a share of those of the machine."""
    uses, state = {}, 0
    for s in codes:
        uses[state, s] = uses.get((state, s), 0) + 1
        state = targets[state][s]
    total = {}
    for (k, _), c in uses.items():
        total[k] = total.get(k, 0) + c
    bits = -sum(c * math.log2(c / total[k]) for (k, _), c in uses.items())
    return bits + share * (0.5 * (len(uses) - len(total)) * log_n + len(uses) * math.log2(len(total)))


def climbed(codes, targets, moves, log_n, share, parts, behind):
    """Targets after moves, one after the other, that each shorten the description, and its length.

    A move is given up where the description of a beginning is far longer than before.
    """
    ends = [len(codes) >> k for k in reversed(range(parts))]
    symbols = len(targets[0])

    def lengths(table):
        return [length_of(codes[:end], table, log_n, share) if end else 0.0 for end in ends]

    best, since, i = lengths(targets), 0, 0
    while since < len(moves):
        one, other, to = moves[i % len(moves)]
        i, since = i + 1, since + 1
        tried = [list(row) for row in targets]
        (k, s), (m, u) = divmod(one, symbols), divmod(other, symbols)
        tried[k][s] = to if to >= 0 else targets[m][u]
        if to < 0:
            tried[m][u] = targets[k][s]
        if tried[k][s] == targets[k][s]:
            continue
        found = lengths(tried)
        if all(new <= old + behind for new, old in zip(found, best, strict=True)) and found[-1] < best[-1] - 1e-6:
            targets, best, since = tried, found, 0
    return targets, best[-1]


def permuted(drawn):
    """The states in an order drawn at random: each next one goes to any place, what was there to the end."""
    order = []
    for k, number in enumerate(drawn):
        order.append(k)
        place = number % (k + 1)
        order[k], order[place] = order[place], order[k]
    return order
