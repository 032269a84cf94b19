"""A machine along a signal, by visiting every path of states and symbols."""

import itertools
import math


def density(value, mean, spread, background):
    """Density of a value at a level, and the part of it that is the level's own; 1 and 0 where it is missing."""
    if math.isnan(value):
        return 1.0, 0.0
    own = (1 - background) * math.exp(-(((value - mean) / spread) ** 2) / 2) / (math.sqrt(2 * math.pi) * spread)
    odd = background * 2 / (math.pi * math.sqrt(3) * (1 + value**2 / 3) ** 2)
    return own + odd, own / (own + odd)


def expected(like, targets, emission, home):
    """Likelihood of all values, expected uses of each edge, and P(symbol | all values) at each."""
    n, n_symbols = len(like), len(targets[0])
    counts = [[0.0] * n_symbols for _ in targets]
    posterior = [[0.0] * n_symbols for _ in range(n)]
    total = 0.0
    for start in range(len(targets)):
        for path in itertools.product(range(n_symbols), repeat=n):
            mass, state, edges = home[start], start, []
            for t, symbol in enumerate(path):
                mass *= emission[state][symbol] * like[t][symbol]
                if mass == 0.0:
                    break
                edges.append((state, symbol))
                state = targets[state][symbol]
            if mass == 0.0:
                continue
            total += mass
            for t, (state, symbol) in enumerate(edges):
                counts[state][symbol] += mass
                posterior[t][symbol] += mass
    return total, [[c / total for c in row] for row in counts], [[p / total for p in row] for row in posterior]
