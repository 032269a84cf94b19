"""Complete machines along symbols without gaps: how short they describe these, drawn at random and moved edge by edge.

A machine is its `targets` (n_states, n_symbols); it begins in its first state. bits[c] = c log2 c, for whole counts.
"""

import math

import numpy as np

from . import kernel

# A machine that is described so many bits longer than the best, after a part of the symbols, is given up.
BEHIND = 20.0
# Parts after which that is looked at: the last PARTS halves of the symbols.
PARTS = 5


@kernel
def _length(counts, bits, log_n, share):
    """`description_length` of whole counts, with bits[c] = c log2 c; of the machine itself only a share counts."""
    length, states, edges = 0.0, 0, 0
    for k in range(counts.shape[0]):
        total = 0
        for s in range(counts.shape[1]):
            c = counts[k, s]
            if c > 0:
                length -= bits[c]
                total += c
                edges += 1
        length += bits[total]
        states += total > 0
    return length + share * (0.5 * (edges - states) * log_n + edges * math.log2(max(states, 1)))


@kernel
def shuffle(drawn, tables):
    """Let the symbols of machines (n, n_states, n_symbols) permute the states, by numbers drawn at random.

    drawn (n, n_symbols, n_states), any whole numbers from 0 that are large compared with n_states.
    """
    for t in range(tables.shape[0]):
        for s in range(tables.shape[2]):
            for k in range(tables.shape[1]):
                other = drawn[t, s, k] % (k + 1)
                tables[t, k, s] = tables[t, other, s]
                tables[t, other, s] = k


@kernel
def table_lengths(codes, tables, bits, log_n, share, lengths):
    """Bits of the symbols and a share of those of each of some machines (n, n_states, n_symbols).

    Four machines are followed at once, as each step waits for the last one of its own.
    """
    n, states, symbols = tables.shape
    counts, rows = np.empty((4, states, symbols), np.int32), np.empty((4, states * symbols), np.uint64)
    for first in range(0, n, 4):
        for j in range(4):
            table = tables[min(first + j, n - 1)]
            for k in range(states):
                for s in range(symbols):
                    rows[j, k * symbols + s] = np.uint64(table[k, s] * symbols)
        counts[:] = 0
        uses_a, uses_b, uses_c, uses_d = counts[0].ravel(), counts[1].ravel(), counts[2].ravel(), counts[3].ravel()
        rows_a, rows_b, rows_c, rows_d = rows[0], rows[1], rows[2], rows[3]
        a = b = c = d = np.uint64(0)
        for s in codes:
            a, b, c, d = a + s, b + s, c + s, d + s
            uses_a[a] += 1
            uses_b[b] += 1
            uses_c[c] += 1
            uses_d[d] += 1
            a, b, c, d = rows_a[a], rows_b[b], rows_c[c], rows_d[d]
        for j in range(min(4, n - first)):
            lengths[first + j] = _length(counts[j], bits, log_n, share)


@kernel
def _along(codes, next_row, counts, bits, log_n, share, best, lengths):
    """Description length of a complete machine from its first state along symbols without gaps.

    next_row (n_states n_symbols,) is n_symbols times the target of each edge. best (PARTS,) are the lengths of the best
    machine after n / 16, n / 8, ..., n symbols, and lengths those of this one, as far as it was followed. Returns the
    length, inf = given up, and the symbols that were read.
    """
    uses = counts.ravel()
    uses[:] = 0
    row, begin = np.uint64(0), 0
    for part in range(PARTS):
        end = codes.size >> (PARTS - 1 - part)
        for i in range(begin, end):
            edge = row + codes[i]
            uses[edge] += 1
            row = next_row[edge]
        begin = end
        lengths[part] = _length(counts, bits, log_n, share)
        if lengths[part] > best[part] + BEHIND:
            return np.inf, end
    return lengths[PARTS - 1], codes.size


@kernel
def uses_along(codes, targets):
    """(n_states, n_symbols) uses of the edges of a complete machine from its first state, by symbols without gaps."""
    counts, state = np.zeros(targets.shape), 0
    for i in range(codes.size):
        counts[state, codes[i]] += 1.0
        state = targets[state, codes[i]]
    return counts


@kernel
def climb(codes, targets, moves, bits, log_n, share, most):
    """Make moves, in the given order, again and again while one shortens the description of a complete machine.

    moves (n, 3) of states and symbols: (edge, edge, target) leads an edge, state n_symbols + symbol, elsewhere;
    (edge, other edge, -1) exchanges the targets of two. bits[c] = c log2 c. Changes targets; returns the length, and
    how many symbols were read, about `most`. Of the bits of the machine a `share` counts: symbols that are a part of
    more are to tell what pays for all of them.
    """
    symbols = targets.shape[1]
    counts, next_row = np.empty(targets.shape, np.int32), (targets.ravel() * symbols).astype(np.uint64)
    known, lengths = np.full(PARTS, np.inf), np.empty(PARTS)
    best, read = _along(codes, next_row, counts, bits, log_n, share, known, lengths)
    known[:] = lengths
    i, since = 0, 0
    while since < len(moves) and read < most:
        one, other, to = moves[i % len(moves)]
        i += 1
        since += 1
        old, old_other = next_row[one], next_row[other]
        next_row[one] = np.uint64(to * symbols) if to >= 0 else old_other
        if to < 0:
            next_row[other] = old
        if next_row[one] == old:
            continue
        length, more = _along(codes, next_row, counts, bits, log_n, share, known, lengths)
        read += more + 2 * targets.size
        if length < best - 1e-6:
            best, since = length, 0
            known[:] = lengths
        else:
            next_row[other], next_row[one] = old_other, old
    for edge in range(next_row.size):
        targets[edge // symbols, edge % symbols] = next_row[edge] // np.uint64(symbols)
    return best, read
