"""Whether values still lie where a model expects them: what was usual for long against what is usual now."""

import math

import numpy as np

from . import kernel
from .drift import HALF, RATIO, SINCE

# All, after each letter, in each state, and in each state after each letter: counted.
COUNTED = 4
# After the last letters, by regression: scores, which tell of rhythms, and their sizes, which tell of calm and storm.
KINDS = 2
CONTEXTS = COUNTED + KINDS
# Letters that a regression looks back; it is solved anew whenever it has seen so many more.
ORDER, AGAIN = 8, 16
# Coefficients and spread before anything was seen: scores are independent and standard normal.
NOTHING = np.zeros((KINDS, ORDER + 2))
NOTHING[0, ORDER + 1] = 1.0
NOTHING[1, 0], NOTHING[1, ORDER + 1] = math.sqrt(2.0 / math.pi), math.sqrt(1.0 - 2.0 / math.pi)
# Of an expected size, at least.
SMALLEST = 0.1


@kernel
def _solve(sums, lean, before, rule):
    """Coefficients and spread of a score given 1 and the last scores, as if those before had been seen `lean` times."""
    n = ORDER + 1
    matrix, right = sums[:n, :n].copy(), sums[:n, n].copy()
    for i in range(n):
        for j in range(n):
            right[i] -= sums[i, j] * before[j]
    for i in range(n):
        matrix[i, i] += lean
    for i in range(n):
        for k in range(i + 1, n):
            share = matrix[k, i] / matrix[i, i]
            for j in range(i, n):
                matrix[k, j] -= share * matrix[i, j]
            right[k] -= share * right[i]
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            right[i] -= matrix[i, j] * right[j]
        right[i] /= matrix[i, i]
    left = sums[n, n]
    for i in range(n):
        rule[i] = before[i] + right[i]
    for i in range(n):
        left -= 2.0 * rule[i] * sums[i, n]
        for j in range(n):
            left += rule[i] * sums[i, j] * rule[j]
    rule[n] = math.sqrt((max(left, 0.0) + lean * before[n] ** 2) / (sums[0, 0] + lean))


@kernel
def _normal_chance(kind, rule, known, low, high):
    """Chance of a score between two borders, given 1 and the last scores or sizes."""
    mean = 0.0
    for i in range(ORDER + 1):
        mean += rule[i] * known[i]
    spread = rule[ORDER + 1]
    if kind == 1:
        mean, spread = 0.0, math.sqrt(math.pi / 2.0) * max(mean, SMALLEST)
    scale = 1.0 / (math.sqrt(2.0) * spread)
    return 0.5 * (math.erf((high - mean) * scale) - math.erf((low - mean) * scale))


@kernel
def _regressed(kind, sums, rule, known, a, borders, lean, base):
    """Chance of a letter by regression, and `lean` times by what is known before."""
    chance = _normal_chance(kind, rule, known, borders[a], borders[a + 1])
    return (sums[0, 0] * chance + lean * base) / (sums[0, 0] + lean)


@kernel
def _counted(row, a, lean, base):
    """Chance of a letter by counts, and `lean` times by what is known before."""
    return (row[a] + lean * base) / (row[row.size - 1] + lean)


@kernel
def _count(row, a, limit):
    row[a] += 1.0
    row[row.size - 1] += 1.0
    if row[row.size - 1] >= limit:
        row *= 0.5


@kernel
def _look_back(a, state, last, scores, n_rows, n_letters, rows, known):
    """Rows of the counted contexts, -1 = not known, and what the regressions see: 1, the last scores, the score."""
    n_states = n_rows // (1 + n_letters) - 1
    # A state and a letter that are not known are the last ones.
    every, here = n_states * (1 + n_letters), state * (1 + n_letters)
    rows[0] = every + n_letters
    rows[1] = every + last[0] if last[0] >= 0 else -1
    rows[2] = here + n_letters if state >= 0 else -1
    rows[3] = here + last[0] if last[0] >= 0 and state >= 0 else -1
    for i in range(ORDER + 1):
        score = scores[last[ORDER - 1 - i] if i < ORDER else a]
        known[0, 1 + i], known[1, 1 + i] = score, abs(score)


@kernel
def _regress(kind, known, lean, limits, sums, rules):
    """Take 1, the last scores and the score, or sizes; solve for the rules of long and short memories now and then."""
    for m in range(sums.shape[0]):
        for i in range(known.size):
            for j in range(known.size):
                sums[m, i, j] += known[i] * known[j]
        if m > 0 and sums[m, 0, 0] >= limits[m - 1]:
            sums[m] *= 0.5
    if sums[0, 0, 0] % AGAIN == 0:
        _solve(sums[0], lean, NOTHING[kind], rules[0])
        for m in range(1, sums.shape[0]):
            _solve(sums[m], lean, rules[0], rules[m])


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
    borders,
    scores,
    steady,
    recent,
    weights,
    quick,
    levels,
    marks,
    last,
    sums,
    rules,
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
    borders, scores : (n_letters + 1,) and (n_letters,) where letters lie and their means, as normal scores

    The state, changed in place, so that a stream can be given in chunks:

    steady : ((n_states + 1) (n_letters + 1), n_letters + 1) counts of letters in each state after each letter, in all
        of them where one is the last; their total last
    recent : the same for each limit, halved
    weights, quick : (CONTEXTS,) and (CONTEXTS n_limits,) of the contexts
    levels : ratio of short memories to the long one
    marks : where a tenth of the bits was passed, where half of them was
    last : (ORDER,) the last letters, the latest first, -1 = not known
    sums : (KINDS, 1 + n_limits, ORDER + 2, ORDER + 2) products of 1, the last scores and the score, long memory first
    rules : (KINDS, 1 + n_limits, ORDER + 2) their regressions: coefficients and spread

    Returns
    -------
    n : the letters taken, and whether the last of them is where the model is given up.
    """
    rows, known = np.empty(COUNTED, np.int64), np.ones((KINDS, ORDER + 2))
    slow, fast = np.empty(CONTEXTS), np.empty(quick.size)
    begun, half = bound**0.1, bound**0.5
    for t in range(letters.size):
        a = letters[t]
        if a < 0:
            last[:] = -1
            continue
        _look_back(a, states[t], last, scores, steady.shape[0], prior.size, rows, known)
        linear = last[ORDER - 1] >= 0
        for c in range(COUNTED):
            slow[c] = -1.0
            if rows[c] >= 0:
                worth, base = (trust, prior[a]) if c == 0 else (lean, slow[0])
                slow[c] = _counted(steady[rows[c]], a, worth, base)
        for kind in range(KINDS):
            now = sums[kind, 0], rules[kind, 0], known[kind]
            slow[COUNTED + kind] = _regressed(kind, *now, a, borders, lean, slow[0]) if linear else -1.0
        p = _mix(weights, slow, share)
        for k in range(fast.size):
            c, m = divmod(k, limits.size)
            kind = c - COUNTED
            fast[k] = -1.0
            if c < COUNTED and rows[c] >= 0:
                fast[k] = _counted(recent[rows[c], m], a, lean, p)
                _count(recent[rows[c], m], a, limits[m])
            elif c >= COUNTED and linear:
                now = sums[kind, 1 + m], rules[kind, 1 + m], known[kind]
                fast[k] = _regressed(kind, *now, a, borders, lean, p)
        q = _mix(quick, fast, share)
        for c in range(COUNTED):
            if rows[c] >= 0:
                _count(steady[rows[c]], a, np.inf)
        for kind in range(KINDS if linear else 0):
            _regress(kind, known[kind], lean, limits, sums[kind], rules[kind])
        last[1:] = last[:-1].copy()
        last[0] = a
        old = max(levels[RATIO], 1.0)
        if old <= begun:
            marks[SINCE] = position + t
        levels[RATIO] = old * min(q / p, most)
        if old < half <= levels[RATIO]:
            marks[HALF] = position + t
        if levels[RATIO] >= bound:
            return t + 1, True
    return letters.size, False
