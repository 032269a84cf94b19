"""Whether values still lie where a model expects them: what was usual for long against what is usual now."""

import numpy as np

from . import kernel
from .drift import HALF, RATIO, SINCE

LAST = 2
# All, after each letter, in each state, and in each state after each letter.
CONTEXTS = 4


@kernel
def _mix(weights, chances, share):
    """Probability by experts, of which those with chances below 0 sleep; their weights follow their success."""
    total, awake = 0.0, 0.0
    for k in range(weights.size):
        if chances[k] >= 0.0:
            total += weights[k] * chances[k]
            awake += weights[k]
    found = total / awake
    for k in range(weights.size):
        gain = chances[k] / found if chances[k] >= 0.0 else 1.0
        weights[k] = (1.0 - share) * weights[k] * gain + share / weights.size
    return found


@kernel
def test(
    letters,
    states,
    position,
    bound,
    most,
    prior,
    trust,
    lean,
    share,
    limits,
    steady,
    recent,
    weights,
    quick,
    levels,
    marks,
):
    """Compare short memories with a long one along letters, up to the first where the long one is beaten.

    Parameters
    ----------
    letters : (n,) where each value lay in its distribution, -1 = not known
    states : (n,) state before it, -1 = not known
    position : of the first value in the stream
    bound, most : likelihood ratio at which the model is given up, and what a single letter adds to it at most
    prior : (n_letters,) what the model says of the letters, worth `trust` letters in the long memory of all
    lean : letters that what is usual in all is worth after each letter and in each state, and what was usual for long
        in short memories
    share : of the weights that goes round at each letter, among long and among short memories
    limits : (n_limits,) letters at which the counts of short memories are halved

    The state, changed in place, so that a stream can be given in chunks:

    steady : ((n_states + 1) (n_letters + 1), n_letters + 1) counts of letters in each state after each letter, in all
        of them where one is the last; their total last
    recent : the same for each limit, halved
    weights, quick : (4,) and (4 n_limits,) of these contexts
    levels : ratio of short memories to the long one
    marks : where a tenth of the bits was passed, where half of them was, the last letter or -1

    Returns
    -------
    n : the letters taken, and whether the last of them is where the model is given up.
    """
    n_letters = prior.size
    n_states = steady.shape[0] // (1 + n_letters) - 1
    rows = np.empty(CONTEXTS, np.int64)
    slow, fast = np.empty(CONTEXTS), np.empty(quick.size)
    begun, half = bound**0.1, bound**0.5
    for t in range(letters.size):
        a = letters[t]
        if a < 0:
            marks[LAST] = -1
            continue
        # A state and a letter that are not known are the last ones.
        before = marks[LAST] if marks[LAST] >= 0 else n_letters
        now = states[t] if states[t] >= 0 else n_states
        rows[0] = n_states * (1 + n_letters) + n_letters
        rows[1] = n_states * (1 + n_letters) + before if marks[LAST] >= 0 else -1
        rows[2] = now * (1 + n_letters) + n_letters if states[t] >= 0 else -1
        rows[3] = now * (1 + n_letters) + before if marks[LAST] >= 0 and states[t] >= 0 else -1
        for c in range(CONTEXTS):
            slow[c] = -1.0
            if rows[c] >= 0:
                row, worth = steady[rows[c]], trust if c == 0 else lean
                slow[c] = (row[a] + worth * (prior[a] if c == 0 else slow[0])) / (row[n_letters] + worth)
        p = _mix(weights, slow, share)
        for c in range(CONTEXTS):
            for m in range(limits.size):
                k = c * limits.size + m
                fast[k] = -1.0
                if rows[c] >= 0:
                    short = recent[rows[c], m]
                    fast[k] = (short[a] + lean * p) / (short[n_letters] + lean)
                    short[a] += 1.0
                    short[n_letters] += 1.0
                    if short[n_letters] >= limits[m]:
                        short *= 0.5
        q = _mix(quick, fast, share)
        for c in range(CONTEXTS):
            if rows[c] >= 0:
                steady[rows[c], a] += 1.0
                steady[rows[c], n_letters] += 1.0
        marks[LAST] = a
        old = levels[RATIO]
        old = max(old, 1.0)
        if old <= begun:
            marks[SINCE] = position + t
        levels[RATIO] = old * min(q / p, most)
        if old < half <= levels[RATIO]:
            marks[HALF] = position + t
        if levels[RATIO] >= bound:
            return t + 1, True
    return letters.size, False
