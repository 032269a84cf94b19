"""Description lengths of unifilar machines along a series, and of their neighbours in a search.

A machine is its `targets` (n_states, n_symbols), -1 = none. Its probabilities are those of the counts that the
series gives to its edges, so a machine is judged by structure alone; `logs` and `first`, log2 of its probabilities and
of the shares of its states, only tell the state at the start of a sequence, which is coded by belief.
"""

import math

import numpy as np

from . import kernel
from .components import root

# Symbols after which the state at the start of a sequence, or after an impossible symbol, is settled.
AHEAD = 64
# Up to so many symbols, those read before the state is known matter.
FEW_SYMBOLS = 5_000
# A machine that needs so many bits more than another after the first BEGINNING of many symbols is given up.
BEHIND = 30.0
BEGINNING = 1 / 16
# Paths that are less likely than the likeliest by more bits than this are given up.
HOPELESS = 50.0


@kernel
def _settle(raw, lut, begin, end, targets, logs, held, prior, believed, weight, place):
    """Follow the paths from the states that are believed in until they have met, none can go on, or the symbols end.

    held, prior (n_states,) states, the first `believed` of them, and log2 of their probabilities; weight (n_states,)
    log2-probability of each path and place (n_states,) its state, -1 = given up. Returns where the paths stop, and the
    one state where all of them are, -1 = several. After AHEAD symbols the likeliest is kept.
    """
    top = -np.inf
    for k in range(believed):
        weight[k] = prior[k]
        place[k] = held[k]
    for i in range(begin, end):
        s = lut[raw[i]]
        if s < 0:
            return i, -1
        alive = False
        for k in range(believed):
            alive = alive or (place[k] >= 0 and targets[place[k], s] >= 0)
        if not alive:
            return i, -1
        top = -np.inf
        for k in range(believed):
            if place[k] >= 0:
                weight[k] += logs[place[k], s]
                place[k] = targets[place[k], s]
                if place[k] >= 0:
                    top = max(top, weight[k])
        single = -1
        for k in range(believed):
            if place[k] >= 0 and weight[k] < top - HOPELESS:
                place[k] = -1
            if place[k] >= 0:
                single = place[k] if single in (-1, place[k]) else -2
        if single >= 0:
            return i + 1, single
        if i + 1 - begin == AHEAD:
            return i + 1, _keep_likeliest(weight, place, believed, top)
    return end, -1


@kernel
def _keep_likeliest(weight, place, believed, top):
    """Give up all paths but those to the most probable state, the lowest among equals; return it."""
    share = np.zeros(place.size)
    for k in range(believed):
        if place[k] >= 0:
            share[place[k]] += 2.0 ** (weight[k] - top)
    best = share.argmax()
    for k in range(believed):
        if place[k] != best:
            place[k] = -1
    return best


@kernel
def _begin(raw, lut, begin, end, targets, logs, held, prior, believed, weight, place, after, starts):
    """Begin anywhere, by belief: add the expected uses of edges until the state is known.

    held, prior, believed: see `_settle`; `held` and `prior` are then those of the last state. Returns where it is
    known, the state (-1 = the symbols end before, or none can go on), how many are believed in, and the bits of the
    symbols that were read.
    """
    stop, state = _settle(raw, lut, begin, end, targets, logs, held, prior, believed, weight, place)
    if stop == begin:
        return stop, state, believed, 0.0
    top = -np.inf
    for k in range(believed):
        if place[k] >= 0:
            top = max(top, weight[k])
    total = 0.0
    for k in range(believed):
        if place[k] >= 0:
            total += 2.0 ** (weight[k] - top)
    for k in range(believed):
        if place[k] >= 0:
            belief = 2.0 ** (weight[k] - top) / total
            after[place[k]] += belief
            at = held[k]
            for i in range(begin, stop):
                s = lut[raw[i]]
                starts[at, s] += belief
                at = targets[at, s]
    # Each state once, at its first path; scratch is empty again.
    left = 0
    for k in range(believed):
        if place[k] >= 0 and after[place[k]] > 0.0:
            held[left], prior[left] = place[k], math.log2(after[place[k]])
            after[place[k]] = 0.0
            left += 1
    return stop, state, left, -(top + math.log2(total))


@kernel
def _only_end(targets, state, letters):
    """Where all edges of a state with one of the first `letters` lead, -1 = not to one state."""
    end = -1
    for s in range(letters):
        if targets[state, s] >= 0:
            if end >= 0 and end != targets[state, s]:
                return -1
            end = targets[state, s]
    return end


@kernel
def _pass_over(targets, logs, letters, held, prior, believed, place, after):
    """Write in held and prior what is believed of the state after a symbol that is missing, one of the first `letters`.

    Returns how many states are believed in, 0 = no such symbol can come; see `_settle`. Cost: O(letters) for each.
    """
    total, left = 0.0, 0
    for k in range(believed):
        for s in range(letters):
            end = targets[held[k], s]
            if end >= 0:
                mass = 2.0 ** (prior[k] + logs[held[k], s])
                if after[end] == 0.0:
                    place[left] = end
                    left += 1
                after[end] += mass
                total += mass
    kept = 0
    for k in range(left):
        if after[place[k]] > total * 2.0**-HOPELESS:
            held[kept], prior[kept] = place[k], math.log2(after[place[k]] / total)
            kept += 1
        after[place[k]] = 0.0
    return kept


@kernel
def begin_anew(first, held, prior):
    """Believe in all states, as where a sequence begins; returns how many they are."""
    for k in range(first.size):
        held[k], prior[k] = k, first[k]
    return first.size


@kernel
def walk(
    raw, lut, bounds, begin, end, letters, targets, logs, first, limit, state, held, prior, believed, uses, bits, states
):
    """Count the uses of each edge along the symbols from `begin` to `end`, from a state, -1 = unknown.

    first (n_states,) is log2 of what is believed of the state where a sequence begins; held, prior (n_states,) the
    states, the first `believed` of them, and log2 of what is believed where it is unknown. A symbol that is missing,
    one of the first `letters`, moves that on. `uses` are those where the state is known, and expected ones where it is
    not, two arrays, and `bits` those of the symbols before the state was known, so far: sums of slices are those of the
    whole. What follows `end` is only looked at to find a state. states[i], if there are any, is the state before symbol
    i where it is known.

    Returns these bits, how many symbols were impossible, the last state, how many are believed in, how many symbols
    after `end` are counted already, and how many were read before the state was known, from each state that was
    believed in; gives up when impossible ones are more than `limit`.
    Cost: O(1) for each symbol, O(believed) until the state is known.
    """
    counts, starts = uses
    misses, i, unknown = 0, begin, 0
    weight, place = np.empty(targets.shape[0]), np.empty(targets.shape[0], np.int64)
    after = np.zeros(targets.shape[0])
    for q in range(bounds.size - 1):
        if q > 0:
            state, believed = -1, begin_anew(first, held, prior)
        i = max(i, bounds[q])
        last = min(bounds[q + 1], end)
        while i < last:
            s = lut[raw[i]]
            if state >= 0 and s >= 0 and targets[state, s] >= 0:
                if states.size:
                    states[i] = state
                counts[state, s] += 1.0
                state = targets[state, s]
                i += 1
                continue
            if s < 0:
                i += 1
                only = _only_end(targets, state, letters) if state >= 0 else -1
                if only >= 0:
                    state = only
                    continue
                if state >= 0:
                    held[0], prior[0], believed = state, 0.0, 1
                believed = _pass_over(targets, logs, letters, held, prior, believed, place, after)
                unknown += believed
                state = held[0] if believed == 1 else -1
                if believed == 0:
                    believed = begin_anew(first, held, prior)
                continue
            if state >= 0:
                misses += 1
                believed = begin_anew(first, held, prior)
            if misses > limit:
                return bits, misses, state, believed, 0, unknown
            at, paths = i, believed
            i, state, believed, more = _begin(
                raw, lut, i, bounds[q + 1], targets, logs, held, prior, believed, weight, place, after, starts
            )
            bits += more
            unknown += paths * (i - at + 1)
            if state < 0 and i < bounds[q + 1] and lut[raw[i]] >= 0:
                misses += 1
                # What only those do not emit that are believed in is read by all, what none does is passed over.
                i += int(i == at and (targets[:, lut[raw[i]]] < 0).all())
                believed = begin_anew(first, held, prior)
    return bits, misses, state, believed, max(i - end, 0), unknown


@kernel
def description_length(counts, start_bits, misses, log_n):
    """Bits of the symbols and of the machine, given the uses of its edges; unused edges and states are free."""
    bits = 0.0
    states = 0
    edges = 0
    for j in range(counts.shape[0]):
        total = 0.0
        for s in range(counts.shape[1]):
            if counts[j, s] > 0:
                bits -= counts[j, s] * math.log2(counts[j, s])
                total += counts[j, s]
                edges += 1
        if total > 0:
            bits += total * math.log2(total)
            states += 1
    name = math.log2(max(states, 1))
    return bits + 0.5 * (edges - states) * log_n + edges * name + start_bits + misses * log_n


@kernel
def drop_unlikely(counts):
    """Forget edges that no sequence is likeliest to take: used less than half a time, and half the most used one.

    Of each symbol one edge remains. Rounding decides nothing.
    """
    for s in range(counts.shape[1]):
        most = 0.0
        for j in range(counts.shape[0]):
            most = max(most, counts[j, s])
        for j in range(counts.shape[0]):
            if counts[j, s] < 0.5 * min(1.0, most) - 1e-9:
                counts[j, s] = 0.0


@kernel
def learnt(counts):
    """log2 of the probabilities of symbols and of the shares of states, where edges have been used so much."""
    logs, first = np.empty(counts.shape), np.empty(counts.shape[0])
    whole = counts.sum()
    for k in range(first.size):
        total = counts[k].sum()
        first[k] = math.log2(max(total / max(whole, 1e-300), 1e-12))
        for s in range(counts.shape[1]):
            logs[k, s] = math.log2(max(counts[k, s] / max(total, 1e-300), 1e-12))
    return logs, first


@kernel
def drive(raw, lut, bounds, end, letters, targets, logs, first, limit, counts):
    """Count the uses of each edge along the symbols up to `end`, expected ones where the state is not known.

    Returns expected uses alone, bits of the symbols before the state was known, impossible symbols and the last state.
    """
    counts[:] = 0.0
    held, prior, starts = np.empty(first.size, np.int64), np.empty(first.size), np.zeros(counts.shape)
    believed = begin_anew(first, held, prior)
    along = raw, lut, bounds, 0, end, letters, targets, logs, first, limit, -1, held, prior, believed
    bits, misses, state, _, _, _ = walk(*along, (counts, starts), 0.0, np.empty(0, np.int64))
    counts += starts
    return starts, bits, misses, state


@kernel
def start_bits(counts, starts, bits):
    """What unknown states cost: the bits of symbols before the state was known, without those of their expected uses.

    These are part of the counts, as if the state had been known.
    """
    for k in range(counts.shape[0]):
        total = counts[k].sum()
        for s in range(counts.shape[1]):
            if counts[k, s] > 0.0 and starts[k, s] > 0.0:
                bits += starts[k, s] * math.log2(counts[k, s] / total)
    return bits


@kernel
def _bits(raw, lut, bounds, end, letters, targets, logs, first, limit, log_n, counts):
    """Bits of the symbols up to `end`, without those of the machine; counts is scratch."""
    starts, bits, misses, _ = drive(raw, lut, bounds, end, letters, targets, logs, first, limit, counts)
    bits = start_bits(counts, starts, bits) + misses * log_n
    for j in range(counts.shape[0]):
        total = 0.0
        for s in range(counts.shape[1]):
            if counts[j, s] > 0:
                bits -= counts[j, s] * math.log2(counts[j, s])
                total += counts[j, s]
        if total > 0:
            bits += total * math.log2(total)
    return bits


@kernel
def move_lengths(raw, lut, bounds, letters, targets, logs, first, copied, copies, edges, ends, log_n, best, lengths):
    """lengths[m]: description length if the edges numbered edges[m] led to the states ends[m].

    The last row of targets, logs and first is free: where copies[m], it is first a copy of the state copied[m], whose
    own edges count among them. Of few symbols much depends on the first: they are read again with what the machine then
    is. Of many, the first tell which machines are far behind. A machine that is longer than `best` may be given up
    (inf).
    """
    n, symbols = targets.shape[0] - 1, targets.shape[1]
    counts = np.zeros(targets.shape)
    limit = int(best / log_n)
    few = raw.size <= FEW_SYMBOLS
    begun = 0 if few else int(raw.size * BEGINNING)
    enough = np.inf
    if not few:
        read = logs[:n], first[:n]
        enough = BEHIND + _bits(raw, lut, bounds, begun, letters, targets[:n], *read, limit, log_n, counts)
    for m in range(lengths.size):
        moved = targets.copy()
        last = n + copies[m]
        if copies[m]:
            moved[n], logs[n], first[n] = targets[copied[m]], logs[copied[m]], first[copied[m]]
        for e in range(edges.shape[1]):
            moved[edges[m, e] // symbols, edges[m, e] % symbols] = ends[m, e]
        read = logs[:last], first[:last]
        if not few and _bits(raw, lut, bounds, begun, letters, moved[:last], *read, limit, log_n, counts) > enough:
            lengths[m] = np.inf
            continue
        along = raw, lut, bounds, raw.size, letters, moved[:last]
        starts, bits, misses, _ = drive(*along, read[0], read[1], limit, counts)
        if few and misses <= limit:
            read = learnt(counts[:last])
            starts, bits, misses, _ = drive(*along, read[0], read[1], limit, counts)
        drop_unlikely(counts)
        bits = start_bits(counts, starts, bits)
        lengths[m] = description_length(counts, bits, misses, log_n) if misses <= limit else np.inf


@kernel
def merged_labels(targets, i, j, labels, work):
    """Merge states i and j, and all that determinism then demands: labels[s] = lowest state merged with s.

    work (n_states, n_symbols) is scratch. Cost: O(n_states n_symbols).
    """
    n, symbols = targets.shape
    for s in range(n):
        labels[s] = s
        for a in range(symbols):
            work[s, a] = targets[s, a]
    pairs = np.empty((n * symbols + 1, 2), np.int64)
    pairs[0, 0], pairs[0, 1] = i, j
    height = 1
    while height > 0:
        height -= 1
        a, b = root(labels, pairs[height, 0]), root(labels, pairs[height, 1])
        if a == b:
            continue
        a, b = min(a, b), max(a, b)
        labels[b] = a
        for s in range(symbols):
            if work[a, s] < 0:
                work[a, s] = work[b, s]
            elif work[b, s] >= 0:
                pairs[height, 0], pairs[height, 1] = work[a, s], work[b, s]
                height += 1
    for s in range(n):
        labels[s] = root(labels, s)


@kernel
def merge_lengths(targets, counts, start_bits, misses, log_n, lengths):
    """lengths[i, j], i < j: description length after merging states i and j with what determinism demands.

    Starts are taken to cost in proportion to the length of a state's name.
    """
    n, symbols = targets.shape
    labels = np.empty(n, np.int64)
    work = np.empty((n, symbols), np.int64)
    merged = np.empty(counts.shape)
    for i in range(n):
        for j in range(i + 1, n):
            merged_labels(targets, i, j, labels, work)
            merged[:] = 0.0
            left = 0
            for s in range(n):
                left += labels[s] == s
                for a in range(symbols):
                    merged[labels[s], a] += counts[s, a]
            starts = start_bits * math.log2(left) / math.log2(n)
            lengths[i, j] = description_length(merged, starts, misses, log_n)
