"""Naive twin of `decisional.states.search`: how long the description of a series by a machine is."""

import math

import numpy as np

from decisional._kernels.description_lengths import AHEAD, HOPELESS


def chance(weights: np.ndarray, state: int, s: int) -> float:
    return max(weights[state][s] / max(weights[state].sum(), 1e-300), 1e-12)


def start_of(
    future: list[int], targets: np.ndarray, weights: np.ndarray, before: dict[int, float]
) -> tuple[dict, int, dict[int, float], float]:
    """Expected uses of edges from an unknown state, symbols until it is known, beliefs then, and their bits."""
    paths = {first: (p, [first]) for first, p in before.items()}
    n = 0
    while n < len(future) and future[n] >= 0:
        s, after = future[n], {}
        for first, (p, path) in paths.items():
            here = path[-1]
            if targets[here][s] >= 0:
                after[first] = (p * chance(weights, here, s), [*path, int(targets[here][s])])
        if not after:
            break
        n += 1
        top = max(p for p, _ in after.values())
        paths = {first: (p, path) for first, (p, path) in after.items() if p >= top * 2.0**-HOPELESS}
        ends = {path[-1] for _, path in paths.values()}
        if len(ends) > 1 and n == AHEAD:
            share = {end: sum(p for p, path in paths.values() if path[-1] == end) for end in sorted(ends)}
            likeliest = max(share, key=lambda end: share[end])
            paths = {first: (p, path) for first, (p, path) in paths.items() if path[-1] == likeliest}
            ends = {likeliest}
        if len(ends) == 1:
            break
    if n == 0:
        return {}, 0, before, 0.0
    mass = sum(p for p, _ in paths.values())
    counts: dict[tuple[int, int], float] = {}
    last: dict[int, float] = {}
    for p, path in paths.values():
        last[path[-1]] = last.get(path[-1], 0.0) + p / mass
        for here, s in zip(path, future[:n], strict=False):
            counts[here, s] = counts.get((here, s), 0.0) + p / mass
    return counts, n, last, -math.log2(mass)


def gap(belief: dict[int, float], targets: np.ndarray, weights: np.ndarray, letters: int) -> dict[int, float]:
    """What is believed of the state after a missing symbol, one of the first letters; {} where none can come."""
    after: dict[int, float] = {}
    for state, p in belief.items():
        for s in range(letters):
            if targets[state][s] >= 0:
                end = int(targets[state][s])
                after[end] = after.get(end, 0.0) + p * chance(weights, state, s)
    total = sum(after.values())
    return {end: p / total for end, p in after.items() if p > total * 2.0**-HOPELESS}


def walk(
    sequences: list[list[int]],
    targets: np.ndarray,
    weights: np.ndarray,
    letters: int | None = None,
    begins: int | None = None,
) -> tuple[dict, float, int]:
    """Uses of each edge, bits of the starts, impossible symbols.

    A missing symbol is one of the first letters; sequences begin in a state, if it is known.
    """
    counts: dict[tuple[int, int], float] = {}
    starts: dict[tuple[int, int], float] = {}
    bits, misses = 0.0, 0
    share = np.maximum(weights.sum(axis=1) / max(weights.sum(), 1e-300), 1e-12)
    home = dict(enumerate(share.tolist()))
    for part in sequences:
        belief, i = home if begins is None else {begins: 1.0}, 0
        while i < len(part):
            s, known = part[i], len(belief) == 1 and belief is not home
            if s < 0:
                belief = gap(belief, targets, weights, letters or targets.shape[1]) or home
                i += 1
            elif known and targets[min(belief)][s] >= 0:
                (state,) = belief
                counts[state, s] = counts.get((state, s), 0) + 1
                belief, i = {int(targets[state][s]): 1.0}, i + 1
            elif known:
                misses, belief = misses + 1, home
            else:
                more, n, belief, cost = start_of(part[i:], targets, weights, belief)
                bits += cost
                for edge, uses in more.items():
                    counts[edge] = counts.get(edge, 0) + uses
                    starts[edge] = starts.get(edge, 0) + uses
                i += n
                if len(belief) > 1 or not n:
                    stuck = i < len(part) and part[i] >= 0
                    if stuck:
                        misses += 1
                        i += n == 0 and (targets[:, part[i]] < 0).all()
                        belief = home
    most = {s: max(uses for (_, other), uses in counts.items() if other == s) for _, s in counts}
    kept = {edge: uses for edge, uses in counts.items() if uses >= 0.5 * min(1.0, most[edge[1]]) - 1e-9}
    # The symbols of starts are coded by what was known before, and not once more by their expected uses.
    for edge in kept.keys() & starts.keys():
        total = sum(uses for (state, _), uses in kept.items() if state == edge[0])
        bits += starts[edge] * math.log2(kept[edge] / total)
    return kept, bits, misses


def length(counts: dict, start_bits: float, misses: int, log_n: float) -> float:
    total: dict[int, float] = {}
    for (state, _), count in counts.items():
        total[state] = total.get(state, 0) + count
    bits = -sum(count * math.log2(count / total[state]) for (state, _), count in counts.items())
    name = math.log2(max(len(total), 1))
    return bits + 0.5 * (len(counts) - len(total)) * log_n + len(counts) * name + start_bits + misses * log_n
