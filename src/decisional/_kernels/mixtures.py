"""Averages of predictors along symbols: machines and a tree of contexts, with weights that follow their success.

Machines are the rows of one table: targets (n_rows, n_symbols) of rows, and counts that grow as symbols come. Each of
them foretells by two rules: imagined counts that are distributed as all symbols, as many as there are kinds of
symbols in the state, and a Dirichlet distribution. The tree of contexts has a table of slots with open addressing for
pairs (node, symbol): the node of the context that the symbol makes longer, -1 = none, and how often the symbol came
after the node. Its four predictors are two weighted averages over all prunings, and the longest context with two
discounts.
"""

import math

import numpy as np

from . import kernel

# Predictors of each machine, and of the tree.
RULES = 2
TREES = 4
# Parts of each count that longer contexts give to shorter ones.
DISCOUNTS = (0.5, 0.85)
# Contexts by which a path may grow at once.
GROWTH = 4
# Strings after which what was right is half forgotten.
STRINGS = 500.0
# log2 of odds that averages of prunings do not go beyond.
ODDS = 60.0


@kernel
def _slot(keys, key):
    """Where a key is in a table of slots, or is to be put; -1 marks free slots."""
    mask = keys.size - 1
    at = (key * 0x9E3779B1 >> 8) & mask
    while keys[at] != key and keys[at] != -1:
        at = (at + 1) & mask
    return at


@kernel
def _before(codes, i, first, end):
    """The symbol at a place before another, -1 = none; before a string is an end, unless what was there is missing."""
    if i >= first:
        return codes[i]
    return end if i == first - 1 and (i < 0 or codes[i] >= 0) else -1


@kernel
def _path(codes, i, first, end, symbols, keys, child, depth, path):
    """The nodes of the contexts before symbol i, the empty one first; returns their number, and whether there is more.

    The symbols before may make a context that is longer, but was never seen.
    """
    path[0] = 0
    n = 1
    while n <= depth:
        s = _before(codes, i - n, first, end)
        if s < 0:
            return n, False
        at = _slot(keys, path[n - 1] * symbols + s)
        if keys[at] == -1 or child[at] < 0:
            return n, True
        path[n] = child[at]
        n += 1
    return n, False


@kernel
def _tree_chances(s, symbols, alpha, keys, seen, total, kinds, odds, path, n, more, plain, mixed, chances):
    """Probabilities of symbol s by the predictors of the tree; plain and mixed (2, n + 1) keep those of each context.

    The last of them is a longer context that was never seen, if there is `more`: imagined counts are all that it has,
    and what is discounted it has from the one before.
    """
    low, high = 1.0 / symbols, 1.0 / symbols
    for k in range(n):
        node = path[k]
        at = _slot(keys, node * symbols + s)
        c = seen[at] if keys[at] != -1 else 0
        t = total[node]
        plain[0, k] = (c + alpha) / (t + alpha * symbols)
        if t > 0:
            low = (max(c - DISCOUNTS[0], 0.0) + DISCOUNTS[0] * kinds[node] * low) / t
            high = (max(c - DISCOUNTS[1], 0.0) + DISCOUNTS[1] * kinds[node] * high) / t
        plain[1, k] = low
    mixed[0, n] = 1.0 / symbols if more else plain[0, n - 1]
    mixed[1, n] = plain[1, n - 1]
    for r in range(2):
        for k in range(n - 1, -1, -1):
            stay = 1.0 / (1.0 + 2.0 ** -odds[r, path[k]])
            mixed[r, k] = stay * plain[r, k] + (1.0 - stay) * mixed[r, k + 1]
        chances[r] = mixed[r, 0]
    chances[2] = low
    chances[3] = high


@kernel
def _chances(s, symbols, alpha, machines, tree, state, path, n, more, plain, mixed, shares, out):
    """Probabilities of symbol s by all predictors: those of machines, and of the tree."""
    _, counts, totals, sorts = machines
    keys, _, seen, total, kinds, odds, _ = tree
    for m in range(state.size):
        k = state[m]
        strength = max(sorts[k], 1.0)
        out[RULES * m] = (counts[k, s] + strength * shares[s]) / (totals[k] + strength)
        out[RULES * m + 1] = (counts[k, s] + alpha) / (totals[k] + alpha * symbols)
    own = out[RULES * state.size :]
    _tree_chances(s, symbols, alpha, keys, seen, total, kinds, odds, path, n, more, plain, mixed, own)


@kernel
def _learn_tree(codes, i, first, end, symbols, tree, depth, path, n, plain, mixed):
    """The contexts before symbol i have been followed by it; the path grows."""
    keys, child, seen, total, kinds, odds, sizes = tree
    s = codes[i]
    for r in range(2):
        for k in range(n):
            gained = math.log2(plain[r, k]) - math.log2(mixed[r, k + 1])
            odds[r, path[k]] = min(max(odds[r, path[k]] + gained, -ODDS), ODDS)
    grown = 0
    while n <= depth and grown < GROWTH:
        longer = _before(codes, i - n, first, end)
        # Slots are kept half empty at least.
        if longer < 0 or sizes[0] == total.size or 2 * sizes[1] + 4 * depth > keys.size:
            break
        key = path[n - 1] * symbols + longer
        at = _slot(keys, key)
        if keys[at] == -1:
            keys[at] = key
            sizes[1] += 1
        child[at] = sizes[0]
        path[n] = sizes[0]
        sizes[0] += 1
        n += 1
        grown += 1
    for k in range(n):
        key = path[k] * symbols + s
        at = _slot(keys, key)
        if keys[at] == -1:
            if 2 * sizes[1] + 2 > keys.size:
                continue
            keys[at] = key
            sizes[1] += 1
        if seen[at] == 0:
            kinds[path[k]] += 1
        seen[at] += 1
        total[path[k]] += 1


@kernel
def _share_of(overall, shares):
    whole = overall.sum() + 1.0
    for s in range(shares.size):
        shares[s] = (overall[s] + 1.0 / shares.size) / whole


@kernel
def follow(
    codes, skip, learns, end, alpha, share, depth, begin, home, weight, machines, tree, overall, state, table, bits
):
    """Average predictors along symbols: bits[i] = log2-probability of symbol i given those before; -1 = unknown.

    The first `skip` symbols are only what was before.
    home and weight (n_predictors,) are the weights to which a share comes back after each symbol, and those now; where
    `end` is a symbol, all begins anew after it, and home learns which predictors strings need. begin (n_machines,) are
    the rows where machines begin. table (n - skip + 1, n_symbols), or empty, receives the probabilities of all symbols
    before each of them comes, and after the last.
    Everything changes in place if `learns`, else state and weight only. Cost: O(n_predictors + depth) for each symbol,
    n_symbols times that with a table.
    """
    targets, counts, totals, sorts = machines
    symbols = targets.shape[1]
    n_all = weight.size
    chances, shares = np.empty(n_all), np.empty(symbols)
    path = np.empty(depth + GROWTH + 2, np.int64)
    plain, mixed = np.empty((2, depth + GROWTH + 2)), np.empty((2, depth + GROWTH + 2))
    _share_of(overall, shares)
    first = 0
    for i in range(skip, codes.size + 1):
        n, more = _path(codes, i, first, end, symbols, tree[0], tree[1], depth, path)
        if table.shape[0] > 0:
            for s in range(symbols):
                _chances(s, symbols, alpha, machines, tree, state, path, n, more, plain, mixed, shares, chances)
                table[i - skip, s] = weight @ chances
        if i == codes.size:
            break
        s = codes[i]
        if s < 0:
            bits[i] = 0.0
            state[:] = begin
            first = i + 1
            continue
        _chances(s, symbols, alpha, machines, tree, state, path, n, more, plain, mixed, shares, chances)
        p = weight @ chances
        bits[i] = math.log2(p)
        for m in range(n_all):
            weight[m] = (1.0 - share) * weight[m] * chances[m] / p + share * home[m]
        if learns:
            _learn_tree(codes, i, first, end, symbols, tree, depth, path, n, plain, mixed)
            overall[s] += 1.0
            _share_of(overall, shares)
        for m in range(state.size):
            k = state[m]
            if learns:
                sorts[k] += counts[k, s] == 0.0
                counts[k, s] += 1.0
                totals[k] += 1.0
            state[m] = targets[k, s]
        if s == end:
            if learns:
                for m in range(n_all):
                    home[m] += (weight[m] - home[m]) / (min(overall[end], STRINGS) + n_all)
            weight[:] = home
            state[:] = begin
            first = i + 1
