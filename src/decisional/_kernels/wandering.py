"""A chain that wanders over unifilar machines and keeps those that are probable given a series.

A machine is its `targets` (n_states, n_symbols), all of them filled: an edge that the series never uses leads anywhere
and belongs to no machine. Machines are judged by evidence: the probability of the series with the machine's own
probabilities integrated out, and that of the machine among all of its kind.
"""

import math

import numpy as np

from . import kernel
from .description_lengths import FEW_SYMBOLS, drive, drop_unlikely, learnt, merged_labels, start_bits

# Two prime numbers: what a machine is called by, modulo both.
FIRST, SECOND = 2_147_483_647, 2_147_483_629


@kernel
def evidence(counts, start_bits):
    """Bits of the symbols and of the machine, given the uses of its edges: minus log2 of P(series, machine).

    The probabilities of a state are uniform over those of its edges; how many edges it has is uniform, and which ones
    given how many; each leads to any state alike; the names of states do not matter.
    """
    n, symbols = counts.shape
    nats = -math.lgamma(n + 1.0)
    edges = 0
    for k in range(n):
        kinds = 0
        total = 0.0
        for s in range(symbols):
            if counts[k, s] > 0.0:
                kinds += 1
                total += counts[k, s]
                nats -= math.lgamma(counts[k, s] + 1.0)
        nats += math.lgamma(total + kinds) - math.lgamma(max(kinds, 1))
        nats += math.log(symbols) + math.lgamma(symbols + 1.0)
        nats -= math.lgamma(kinds + 1.0) + math.lgamma(symbols - kinds + 1.0)
        edges += kinds
    return nats / math.log(2.0) + edges * math.log2(n) + start_bits


@kernel
def counted(raw, lut, bounds, targets, weights, random):
    """Drive a machine along the series and drop the states that it never uses.

    weights (n_states, n_symbols), about how much each edge is used, tell the first state. Returns targets, uses, bits
    of the machine and the series, and the last state, -1 = unknown. Cost: a pass, two of few symbols.
    """
    uses, starts, bits, last = weights, weights, 0.0, -1
    for _ in range(2 if raw.size <= FEW_SYMBOLS else 1):
        logs, first = learnt(uses)
        uses = np.zeros(targets.shape)
        starts, bits, _, last = drive(raw, lut, bounds, raw.size, targets.shape[1], targets, logs, first, 0, uses)
    drop_unlikely(uses)
    bits = start_bits(uses, starts, bits)
    number = np.full(targets.shape[0], -1)
    n = 0
    for k in range(number.size):
        if uses[k].sum() > 0.0:
            number[k] = n
            n += 1
    kept, used = np.empty((n, targets.shape[1]), np.int64), np.empty((n, targets.shape[1]))
    for k in range(number.size):
        if number[k] >= 0:
            for s in range(targets.shape[1]):
                end = number[targets[k, s]]
                kept[number[k], s] = end if end >= 0 else random.integers(0, n)
                used[number[k], s] = uses[k, s]
    return kept, used, evidence(used, bits), number[last] if last >= 0 else -1


@kernel
def called(targets, uses, last):
    """A number that isomorphic machines share: states are renumbered as they are reached from the last one.

    Where that is unknown, and for states that are not reached, the most used one comes first.
    """
    n, symbols = targets.shape
    number, order = np.full(n, -1), np.empty(n, np.int64)
    known, done, one, two = 0, 0, 1, 1
    while known < n:
        if last < 0:
            most = -1.0
            for k in range(n):
                if number[k] < 0 and uses[k].sum() > most:
                    most, last = uses[k].sum(), k
        number[last], order[known] = known, last
        known += 1
        last = -1
        while done < known:
            k = order[done]
            done += 1
            for s in range(symbols):
                name = 0
                if uses[k, s] > 0.0:
                    end = targets[k, s]
                    if number[end] < 0:
                        number[end], order[known] = known, end
                        known += 1
                    name = number[end] + 1
                one, two = (one * 1_000_003 + name) % FIRST, (two * 999_983 + name) % SECOND
    return one * (1 << 31) + two


@kernel
def is_minimal(targets):
    """Whether no two states of a machine (-1 = no edge) have the same future whatever its probabilities are.

    States of several edges are told apart by these, so that only those of one edge can be the same. Cost: O(n_states²)
    for each symbol of the longest word that is needed.
    """
    n, symbols = targets.shape
    same = np.zeros((n, n), np.bool_)
    only = np.full(n, -1)
    for k in range(n):
        for s in range(symbols):
            if targets[k, s] >= 0:
                only[k] = s if only[k] == -1 else -2
    for i in range(n):
        for j in range(i):
            same[i, j] = same[j, i] = only[i] == only[j] and only[i] >= 0
    changed = True
    while changed:
        changed = False
        for i in range(n):
            for j in range(i):
                a, b = targets[i, only[i]], targets[j, only[j]]
                if same[i, j] and a != b and not same[a, b]:
                    same[i, j] = same[j, i] = False
                    changed = True
    return not same.any()


@kernel
def _grown(targets, uses, state):
    """The machine with a copy of a state, to which nothing leads yet."""
    n, symbols = targets.shape
    more, weights = np.empty((n + 1, symbols), np.int64), np.empty((n + 1, symbols))
    more[:n], weights[:n] = targets, uses
    more[n], weights[n] = targets[state], uses[state]
    return more, weights


@kernel
def _led_elsewhere(targets, uses, random):
    """One edge or two lead anywhere."""
    moved = targets.copy()
    for _ in range(random.integers(1, 3)):
        edge = random.integers(0, targets.size)
        moved[edge // targets.shape[1], edge % targets.shape[1]] = random.integers(0, targets.shape[0])
    return moved, uses


@kernel
def _led_to_a_copy(targets, uses, random):
    """One edge leads to a new state that behaves like its target."""
    edge = random.integers(0, targets.size)
    k, s = edge // targets.shape[1], edge % targets.shape[1]
    moved, weights = _grown(targets, uses, targets[k, s])
    moved[k, s] = targets.shape[0]
    return moved, weights


@kernel
def _split(targets, uses, random):
    """The edges that lead to a state, its own included, are shared between it and a copy."""
    state = random.integers(0, targets.shape[0])
    moved, weights = _grown(targets, uses, state)
    for k in range(moved.shape[0]):
        for s in range(moved.shape[1]):
            if moved[k, s] == state and random.random() < 0.5:
                moved[k, s] = targets.shape[0]
    return moved, weights


@kernel
def _merged(targets, uses, random):
    """Two states are one, and all that determinism then demands of edges in use."""
    n, symbols = targets.shape
    i, j = random.integers(0, n), random.integers(0, n - 1)
    j += j >= i
    labels, number = np.empty(n, np.int64), np.full(n, -1)
    used = np.where(uses > 0.0, targets, -1)
    merged_labels(used, min(i, j), max(i, j), labels, np.empty_like(used))
    left = 0
    for k in range(n):
        if labels[k] == k:
            number[k] = left
            left += 1
    moved, weights = np.full((left, symbols), -1), np.zeros((left, symbols))
    for k in range(n):
        for s in range(symbols):
            weights[number[labels[k]], s] += uses[k, s]
            if used[k, s] >= 0:
                moved[number[labels[k]], s] = number[labels[used[k, s]]]
    for k in range(left):
        for s in range(symbols):
            if moved[k, s] < 0:
                moved[k, s] = random.integers(0, left)
    return moved, weights


@kernel
def moved(targets, uses, most, random):
    """The machine after a random move, of at most so many states, with about the uses of its edges."""
    n = targets.shape[0]
    kind = random.random()
    if kind < 0.35 and n > 1:
        return _led_elsewhere(targets, uses, random)
    if kind < 0.55 and n < most:
        return _led_to_a_copy(targets, uses, random)
    if (kind < 0.75 or n == 1) and n < most:
        return _split(targets, uses, random)
    return _merged(targets, uses, random)


@kernel
def wander(raw, lut, bounds, targets, uses, heat, slack, random, bits, names, sizes, tables, counts):
    """Wander from a machine, a move for each `heat`, and keep different machines.

    A move that costs b bits is made with probability 2^(-b / heat). Kept are machines within `slack` bits of the best
    so far, made or not: bits, names and sizes (m,), tables and counts (m, most states, n_symbols), -1 = no edge; once
    all places are taken, the worst gives way. Returns how many. Cost: that of `counted` for each move.
    """
    targets, uses, here, last = counted(raw, lut, bounds, targets, uses, random)
    other, weights, cost, best = targets, uses, here, here
    seen = {0}
    kept = 0
    for i in range(heat.size):
        name = called(other, weights, last)
        if cost < best + slack and name not in seen:
            seen.add(name)
            best = min(best, cost)
            place = kept if kept < bits.size else bits.argmax()
            if kept < bits.size or cost < bits[place]:
                n = other.shape[0]
                bits[place], names[place], sizes[place] = cost, name, n
                tables[place, :n], counts[place, :n] = np.where(weights > 0.0, other, -1), weights
                kept = max(kept, place + 1)
        other, weights = moved(targets, uses, tables.shape[1], random)
        other, weights, cost, last = counted(raw, lut, bounds, other, weights, random)
        if cost <= here or random.random() < 2.0 ** ((here - cost) / heat[i]):
            targets, uses, here = other, weights, cost
    return kept
