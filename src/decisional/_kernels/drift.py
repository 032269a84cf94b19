"""Whether a machine still fits a stream: its log-loss against that of predictors that know nothing of it."""

import numpy as np

from . import kernel
from .machines import follow, single

FITS, LOST, MOVED = 0, 1, 2
RATIO, GAIN, UNIT = 0, 1, 2
SINCE, HALF, MOVED_SINCE, RUN, STATE = 0, 1, 2, 3, 4


@kernel
def _unsure(code, targets, home, stay, counts, frozen, unit, belief, chances, after):
    """Take a symbol where several states are possible, or that has no edge; return its probability.

    The counts get the shares of the states in the symbol; the belief goes on along the edges, or starts again.
    """
    n_symbols = targets.shape[1] + 1
    prior = unit / n_symbols
    p = 0.0
    for i in range(belief.size):
        chances[i] = (counts[i, code] + prior) / (counts[i, n_symbols] + unit)
        if frozen.shape[0] > 0 and code < n_symbols - 1:
            chances[i] = max(chances[i], frozen[i, code])
        p += belief[i] * chances[i]
    for i in range(belief.size):
        share = unit * belief[i] * chances[i] / p
        counts[i, code] += share
        counts[i, n_symbols] += share
    if follow(belief, chances, targets, code, after) > 0.0:
        belief[:] = after
    elif not stay:
        total = follow(home, chances, targets, code, after)
        belief[:] = after if total > 0.0 else home
    return p


@kernel
def _learn(table, row, m, code, limit):
    """Count a symbol in a row; counts that reach the limit are halved."""
    last = table.shape[2] - 1
    table[row, m, code] += 1
    table[row, m, last] += 1
    if table[row, m, last] >= limit:
        left = 0
        for a in range(last):
            table[row, m, a] >>= 1
            left += table[row, m, a]
        table[row, m, last] = left


@kernel
def _alternative(code, state, run, tables, offsets, limits, inverse, switch, contexts, weights, chances):
    """Probability of a symbol under the mixture of experts, which then learns it.

    An expert counts symbols after each word of its order, or (the last ones) in each state of the machine, and
    halves counts that reach its limit. Weights follow past performance, with a share that goes round all experts,
    so that the best may change. Orders longer than the run since the last gap sleep, and the states while unknown.
    """
    n_symbols, n_limits, n_orders = tables.shape[2] - 1, limits.size, contexts.size
    prior = 1.0 / n_symbols
    total, awake = 0.0, 0.0
    for d in range(n_orders + 1):
        place = contexts[d] if d < n_orders else state
        for m in range(n_limits):
            k = d * n_limits + m
            chances[k] = -1.0
            if place >= 0 and not run < d < n_orders:
                row = offsets[d] + place
                chances[k] = (tables[row, m, code] + prior) * inverse[tables[row, m, n_symbols]]
                total += weights[k] * chances[k]
                awake += weights[k]
                _learn(tables, row, m, code, limits[m])
    q = total / awake
    kept, even = (1.0 - switch) / q, switch / weights.size
    for k in range(weights.size):
        # Those that sleep neither gain nor lose.
        weights[k] = kept * weights[k] * (chances[k] if chances[k] >= 0.0 else q) + even
    for d in range(n_orders - 1, 0, -1):
        contexts[d] = contexts[d - 1] * n_symbols + code
    return q


@kernel
def test(
    codes, gaps, position, targets, home, policy, bound, growth, switch, counts, frozen, belief, tables, offsets,
    limits, inverse, contexts, weights, levels, marks
):  # fmt: skip
    """Compare the machine with the alternative along symbols, up to the first where it is beaten.

    All but the first nine arguments and `limits`, `offsets` are the state, changed in place, so that a stream can
    be given in chunks.

    Parameters
    ----------
    codes, gaps : (n,) columns of the alphabet, n_symbols for others; whether the symbol is missing
    position : of the first symbol in the stream
    targets, home : (n_states, n_symbols) next states, and (n_states,) the belief when nothing is known
    policy : whether the belief stays at symbols without edge, and at gaps
    bound : likelihood ratio at which the machine is given up
    growth : by which the weight of each symbol exceeds that of the one before: forgetting
    switch : share of the weights that goes round all experts at each symbol
    counts : (n_states, n_symbols + 2) uses of the symbols in each state, unknown ones and the total last
    frozen : (n_states, n_symbols) probabilities in force, or empty: then they are not tested
    belief : (n_states,)
    tables : (n_words, n_limits, n_symbols + 2) counts of the alternative; limits, offsets, contexts: of its rows
    weights : (n_experts,)
    levels : ratio against the alternative, ratio of the counts against `frozen`, weight of a symbol
    marks : where the excursion began, where it passed half the bits, where that of the counts began, symbols since
        the last gap (at most the longest order), state or -1

    Returns
    -------
    what, n : FITS, LOST or MOVED, and the symbols taken: with LOST or MOVED the last is the one that tells.

    Cost: O(orders) per symbol while the state is known, else O(n_states) in addition.
    """
    after, chances = np.empty_like(belief), np.empty_like(belief)
    experts = np.empty_like(weights)
    half = bound**0.5
    n_symbols = targets.shape[1] + 1
    state = marks[STATE] if marks[STATE] >= 0 else single(belief)
    for t in range(codes.size):
        if gaps[t]:
            if not policy[1]:
                marks[RUN] = 0
                belief[:] = home
                state = single(home)
            continue
        code = codes[t]
        unit = levels[UNIT]
        fixed = 0.0
        q = _alternative(code, state, marks[RUN], tables, offsets, limits, inverse, switch, contexts, weights, experts)
        if state >= 0 and code < n_symbols - 1 and targets[state, code] >= 0:
            p = (counts[state, code] + unit / n_symbols) / (counts[state, n_symbols] + unit)
            if frozen.shape[0] > 0:
                fixed = frozen[state, code]
            counts[state, code] += unit
            counts[state, n_symbols] += unit
            state = targets[state, code]
        else:
            if state >= 0:
                belief[:] = 0.0
                belief[state] = 1.0
            p = _unsure(code, targets, home, policy[0], counts, frozen, unit, belief, chances, after)
            state = single(belief)
        marks[RUN] = min(marks[RUN] + 1, contexts.size - 1)
        if growth > 1.0:
            levels[UNIT] = unit * growth
            if levels[UNIT] > 1e30:
                counts /= levels[UNIT]
                levels[UNIT] = 1.0
        old = levels[RATIO]
        if old <= 1.0:
            old = 1.0
            marks[SINCE] = position + t
        # Counts that forget are worse than probabilities in force that are right: neither alone may be beaten.
        levels[RATIO] = old * (q / max(p, fixed))
        if old < half <= levels[RATIO]:
            marks[HALF] = position + t
        if levels[RATIO] >= bound:
            marks[STATE] = state
            return LOST, t + 1
        if fixed > 0.0:
            if levels[GAIN] <= 1.0:
                levels[GAIN] = 1.0
                marks[MOVED_SINCE] = position + t
            levels[GAIN] *= p / fixed
            if levels[GAIN] >= bound:
                marks[STATE] = state
                return MOVED, t + 1
    marks[STATE] = state
    return FITS, codes.size
