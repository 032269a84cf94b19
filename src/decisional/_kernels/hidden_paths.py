"""Paths through hidden states that emit a symbol on each step: what is believed of them along numbered symbols.

`steps` (n_symbols, n_states, n_states) are P(symbol, next state | state), and `turned` the same with the states
exchanged, so that inner loops run along memory. A sequence begins where `opens` says so, with the belief `home`.
Beliefs are scaled to sum to 1 at every symbol.
"""

import math

import numpy as np

from . import kernel

# Products of probabilities are taken to their logarithm before they leave the range of numbers.
SMALL = 1e-150
# Paths that are less likely say nothing of the steps: shares of them would be no numbers.
TINY = 1e-250


@kernel
def advance(belief, step, after):
    """Write in `after` the belief that follows a symbol of matrix `step`; return the symbol's probability."""
    n = belief.size
    whole = n - n % 2
    # Two rows at a time, which spares memory.
    for j in range(n):
        after[j] = 0.0
    for i in range(0, whole, 2):
        one, other = belief[i], belief[i + 1]
        for j in range(n):
            after[j] += one * step[i, j] + other * step[i + 1, j]
    for i in range(whole, n):
        for j in range(n):
            after[j] += belief[i] * step[i, j]
    total = 0.0
    for j in range(n):
        total += after[j]
    if total > 0.0:
        scale = 1.0 / total
        for j in range(n):
            after[j] *= scale
    return total


@kernel
def forward(codes, first, last, opens, steps, home, belief, every, kept):
    """Drive a belief through symbols first..last - 1, in place; return their log2-probability and how many cannot be.

    opens[t] tells whether a sequence begins at symbol t. kept[k] receives the belief before symbol k * every. A symbol
    that cannot be is left out of the probability, and what is believed begins anew after it.
    """
    after = np.empty_like(belief)
    log2p, product, misses = 0.0, 1.0, 0
    for t in range(first, last):
        if opens[t]:
            belief[:] = home
        if t % every == 0:
            kept[t // every] = belief
        chance = advance(belief, steps[codes[t]], after)
        if chance > 0.0:
            belief[:] = after
            product *= chance
            if product < SMALL:
                log2p += math.log2(product)
                product = 1.0
        else:
            belief[:] = home
            misses += 1
    return log2p + math.log2(product), misses


@kernel
def backward(codes, first, last, opens, turned, ahead, every, kept):
    """Drive what symbols say of the state before them from last - 1 back to first, in place, up to a factor.

    opens[t] tells whether a sequence begins at symbol t, so that what comes later says nothing of those before. kept[k]
    receives what the symbols from the k-th block's end on say, that of the block itself not included.
    """
    before = np.empty_like(ahead)
    for t in range(last - 1, first - 1, -1):
        if t + 1 < opens.size and opens[t + 1]:
            ahead[:] = 1.0 / ahead.size
        if (t + 1) % every == 0 or t == last - 1:
            kept[t // every] = ahead
        total = advance(ahead, turned[codes[t]], before)
        if total > 0.0:
            ahead[:] = before
        else:
            ahead[:] = 1.0 / ahead.size


@kernel
def block_uses(codes, first, last, opens, steps, turned, home, belief, ahead, uses, starts):
    """Add to `uses` and `starts` what a block of symbols says of steps and of first states.

    uses (n_symbols, n_states, n_states) are to be multiplied by `steps`: expected uses of each step are their product.
    belief, ahead : before the first and after the last symbol of the block
    """
    n, size = home.size, last - first
    # The last row is what the symbols of another sequence say: nothing.
    later = np.empty((size + 2, n))
    follower = np.empty(size, np.int64)
    factor = np.empty(size)
    later[size] = ahead
    later[size + 1] = 1.0 / n
    for t in range(last - 1, first - 1, -1):
        k = t - first
        follower[k] = size + 1 if t + 1 < opens.size and opens[t + 1] else k + 1
        factor[k] = advance(later[follower[k]], turned[codes[t]], later[k])
        if factor[k] <= 0.0:
            later[k] = 1.0 / n
    now = belief.copy()
    after = np.empty(n)
    for t in range(first, last):
        k = t - first
        if opens[t]:
            now[:] = home
        both = 0.0
        for i in range(n):
            both += now[i] * later[k, i]
        if opens[t] and both > 0.0:
            for i in range(n):
                starts[i] += now[i] * later[k, i] / both
        chance = advance(now, steps[codes[t]], after)
        if chance <= 0.0:
            now[:] = home
            continue
        weight = both * factor[k]
        if weight > TINY:
            use, ahead_of = uses[codes[t]], later[follower[k]]
            for i in range(n):
                share = now[i] / weight
                for j in range(n):
                    use[i, j] += share * ahead_of[j]
        now[:] = after


@kernel
def follow(codes, steps, home, belief, impossible, beliefs, chances):
    """beliefs[t] after symbol t, chances[t] its probability; return how many were followed.

    `belief` is updated in place, so that a series can be given in chunks. After a symbol that cannot be, whose chance
    is 0, what is believed begins anew if `impossible` is 0 and stays if it is 1; the walk ends before it if it is 2.
    """
    after = np.empty_like(belief)
    for t in range(codes.size):
        chances[t] = advance(belief, steps[codes[t]], after)
        if chances[t] > 0.0:
            belief[:] = after
        elif impossible == 0:
            belief[:] = home
        elif impossible == 2:
            return t
        beliefs[t] = belief
    return codes.size


@kernel
def emit(uniforms, bounds, state, codes):
    """Emit a symbol for each uniform number; return the last state.

    bounds (n_states, n_symbols * n_states) : probabilities of the steps of each state, cumulated
    """
    n = bounds.shape[0]
    for t in range(uniforms.size):
        step = min(np.searchsorted(bounds[state], uniforms[t], side="right"), bounds.shape[1] - 1)
        codes[t], state = step // n, step % n
    return state
