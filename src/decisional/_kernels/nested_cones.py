"""Sub-cones against their siblings, rows of counts against states, and how much regions of a field differ.

Counts are compressed rows; code[l, z] numbers what the nested future l is in the outcome z.
"""

import math

import numpy as np

from . import kernel
from .sparse_tests import p_value


@kernel
def _gather(first, stop, start, outcome, count, is_open, code, sums, seen):
    """Add up the counts of the open x first..stop-1 by code; returns how many codes were seen first, and all counts."""
    n = 0
    total = 0.0
    for x in range(first, stop):
        if is_open[x]:
            for i in range(start[x], start[x + 1]):
                z = code[outcome[i]]
                if sums[z] == 0.0:
                    seen[n] = z
                    n += 1
                sums[z] += count[i]
                total += count[i]
    return n, total


@kernel
def compare_siblings(children, members, start, outcome, count, is_open, codes, clumps, apart, chance, weight):
    """chance[c] = p-value of the open counts of sub-cone c against those of the others inside the same cone.

    Cone k holds the sub-cones children[k]..children[k + 1] - 1, and these the x members[c]..members[c + 1] - 1. clumps
    (n_levels,) and apart (n_sub_cones,) say how far observations are independent; weight gets the open counts.
    """
    size = 0
    for level in range(codes.shape[0]):
        size = max(size, codes[level].max() + 1)
    total, own = np.zeros(size), np.zeros(size)
    seen, mine = np.empty(size, np.int64), np.empty(size, np.int64)
    for k in range(children.size - 1):
        chance[children[k] : children[k + 1]] = 1.0
        all_apart = 0.0
        for child in range(children[k], children[k + 1]):
            all_apart += apart[child]
        for level in range(codes.shape[0]):
            code = codes[level]
            c, n = _gather(
                members[children[k]], members[children[k + 1]], start, outcome, count, is_open, code, total, seen
            )
            inverse, square = 0.0, 0.0
            for j in range(c):
                inverse += 1.0 / total[seen[j]]
                square += 1.0 / total[seen[j]] ** 2
            for child in range(children[k], children[k + 1]):
                m, a = _gather(members[child], members[child + 1], start, outcome, count, is_open, code, own, mine)
                weight[child] = a
                b = n - a
                overlap = 0.0
                ratio = 0.0
                for j in range(m):
                    here, both = own[mine[j]], total[mine[j]]
                    overlap += here * here / both
                    ratio += here * math.log(here / both)
                    if both > here:
                        ratio += (both - here) * math.log((both - here) / both)
                    own[mine[j]] = 0.0
                others = all_apart - apart[child]
                if a > 0.0 and b > 0.0 and apart[child] > 0.0 and others > 0.0:
                    ratio += a * math.log(n / a) + b * math.log(n / b)
                    clump = clumps[level] * (1.0 / apart[child] + 1.0 / others) / (1.0 / a + 1.0 / b)
                    p = p_value(a, n, float(c), inverse, square, overlap, ratio, max(clump, 1.0), 1.0)
                    chance[child] = min(chance[child], p * codes.shape[0])
            for j in range(c):
                total[seen[j]] = 0.0


@kernel
def _slot(keys, key):
    """Where a key is in a table of slots, or would be; -1 = free."""
    mask = keys.size - 1
    h = ((key & 0xFFFFFFFF) * 0x3C6EF35F + (key >> 32) * 0x2545F491) & 0x7FFFFFFFFFFFFFFF
    place = (h ^ (h >> 31)) & mask
    while keys[place] >= 0 and keys[place] != key:
        place = (place + 1) & mask
    return place


@kernel
def _rejected(row, state, start, outcome, count, n, apart, clumps, n_outcomes, alpha, keys, counts, states, sums):
    """Whether any nested future of a row differs from those of a state: see `visit`."""
    a, b = n[row], states[state, 0]
    both = a + b
    shared = (1.0 / apart[row] + 1.0 / states[state, 1]) / (1.0 / a + 1.0 / b)
    n_levels = start.shape[0]
    for level in range(n_levels):
        c, inverse, square = sums[state, level, 0], sums[state, level, 1], sums[state, level, 2]
        overlap = 0.0
        ratio = a * math.log(both / a) + b * math.log(both / b)
        for i in range(start[level, row], start[level, row + 1]):
            here = count[i]
            there = counts[_slot(keys, state * n_outcomes + outcome[i])]
            total = here + there
            overlap += here * here / total
            inverse += 1.0 / total
            square += 1.0 / total**2
            ratio += here * math.log(here / total)
            if there > 0.0:
                inverse -= 1.0 / there
                square -= 1.0 / there**2
                ratio += there * math.log(there / total)
            else:
                c += 1.0
        least = alpha / n_levels
        p = p_value(a, both, c, inverse, square, overlap, ratio, max(shared * clumps[level], 1.0), least)
        if p < least:
            return True
    return False


@kernel
def _add_gains(entries, weight, outcome, count, lists, holder, gain, score):
    """Add what the states that hold a row's outcomes make of it to their scores."""
    for i in range(entries[0], entries[1]):
        z, times = outcome[i], weight * count[i]
        states, gains = holder[lists[z, 0] : lists[z, 1]], gain[lists[z, 0] : lists[z, 1]]
        for e in range(states.size):
            score[states[e]] += times * gains[e]


@kernel
def _likeliest(score, tolerance):
    """The state with the best score; of those that are equal up to rounding, the first; -1 if none has any."""
    best = -math.inf
    for state in range(score.size):
        best = max(best, score[state])
    if best == -math.inf:
        return -1
    state = 0
    while score[state] < best - tolerance:
        state += 1
    return state


@kernel
def _join(row, own, start, outcome, count, share, keys, counts, spot, sums, near, lists, holder, gain):
    """Add the counts of a row to a state, and the state to the lists of its outcomes."""
    last = start.shape[0] - 1
    for level in range(start.shape[0]):
        for i in range(start[level, row], start[level, row + 1]):
            z = outcome[i]
            place = _slot(keys, own * share.size + z)
            before = counts[place]
            if keys[place] < 0:
                keys[place] = own * share.size + z
                spot[place] = lists[z, 1]
                holder[lists[z, 1]] = own
                lists[z, 1] += level in (near, last)
                sums[own, level, 0] += 1.0
            else:
                sums[own, level, 1] -= 1.0 / before
                sums[own, level, 2] -= 1.0 / before**2
            counts[place] = before + count[i]
            sums[own, level, 1] += 1.0 / counts[place]
            sums[own, level, 2] += 1.0 / counts[place] ** 2
            gain[spot[place]] = math.log1p(counts[place] / share[z])


@kernel
def visit(order, start, outcome, count, n, apart, near, share, clumps, alpha, tries, label):
    """label[r] = the state that each row joins, the likeliest one that no nested future tells it from, or a new one.

    Rows are visited in `order`; start (n_levels, n_rows + 1) has the rows of each level in outcome and count, whose
    outcomes are numbered through all levels. Candidates share an outcome of the level `near`; the likeliest `tries` of
    them are tested at level alpha, by the mean of their log likelihoods for the last level and for the near one, with
    one more observation of each state, distributed as all are: `share`. n and apart (n_rows,) count the rows'
    observations, and those that are independent. Returns the number of states.
    """
    n_rows, last = order.size, start.shape[0] - 1
    size = 16
    while size < 2 * outcome.size + 2:
        size *= 2
    keys, counts, spot = np.full(size, -1, np.int64), np.zeros(size), np.zeros(size, np.int64)
    # Observations, independent ones; and for each level outcomes, and sums of 1 / count and 1 / count^2.
    states, sums = np.zeros((n_rows, 2)), np.zeros((n_rows, last + 1, 3))
    # The states that hold each outcome, from lists[z, 0] to lists[z, 1], and how much likelier it is there.
    lists, holder, gain = np.zeros((share.size, 2), np.int64), np.empty(outcome.size, np.uint32), np.empty(outcome.size)
    for i in range(outcome.size):
        lists[outcome[i], 0] += 1
    lists[:, 0] = np.cumsum(lists[:, 0]) - lists[:, 0]
    lists[:, 1] = lists[:, 0]
    score, logarithm = np.empty(n_rows), np.empty(n_rows)
    n_states = 0
    for r in order:
        weight = 0.5 if near < last else 1.0
        scores = score[:n_states]
        scores[:] = 0.0
        # What holds a whole future of the row holds its near one too.
        for level in range(near, last + 1, max(last - near, 1)):
            _add_gains(start[level, r : r + 2], weight, outcome, count, lists, holder, gain, scores)
        for state in range(n_states):
            # A state that holds an outcome of the row has gained something.
            scores[state] = scores[state] - n[r] * logarithm[state] if scores[state] > 0.0 else -math.inf
        own = -1
        for _ in range(tries):
            state = _likeliest(scores, 1e-9 * n[r])
            if state < 0:
                break
            scores[state] = -math.inf
            rows = (start, outcome, count, n, apart, clumps, share.size, alpha)
            if not _rejected(r, state, *rows, keys, counts, states, sums):
                own = state
                break
        if own < 0:
            own = n_states
            n_states += 1
        label[r] = own
        states[own, 0] += n[r]
        states[own, 1] += apart[r]
        logarithm[own] = math.log(states[own, 0] + 1.0)
        _join(r, own, start, outcome, count, share, keys, counts, spot, sums, near, lists, holder, gain)
    return n_states


@kernel
def differences(start, outcome, region, count, code, n_regions):
    """Pearson's statistic of outcomes against regions within each x, and its exact mean, both added up over the x.

    Entries of x are start[x]..start[x + 1] - 1, one for each outcome and region.
    """
    size = code.max() + 1
    cells, outcomes, regions = np.zeros((size, n_regions)), np.zeros(size), np.zeros(n_regions)
    seen = np.empty(size, np.int64)
    statistic = 0.0
    mean = 0.0
    for x in range(start.size - 1):
        c = 0
        n = 0.0
        for i in range(start[x], start[x + 1]):
            z = code[outcome[i]]
            if outcomes[z] == 0.0:
                seen[c] = z
                c += 1
            cells[z, region[i]] += count[i]
            outcomes[z] += count[i]
            regions[region[i]] += count[i]
            n += count[i]
        held = 0
        for r in range(n_regions):
            held += regions[r] > 0.0
        square = 0.0
        for j in range(c):
            for r in range(n_regions):
                if cells[seen[j], r] > 0.0:
                    square += cells[seen[j], r] ** 2 / (outcomes[seen[j]] * regions[r])
        if n > 1.0:
            statistic += n * (square - 1.0)
            mean += (held - 1.0) * (c - 1.0) * n / (n - 1.0)
        for j in range(c):
            cells[seen[j]] = 0.0
            outcomes[seen[j]] = 0.0
        regions[:] = 0.0
    return statistic, mean
