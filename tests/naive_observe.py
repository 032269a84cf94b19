"""Windows, counts and back-off with dicts and loops: the oracle of observations and densities.

Words are tuples of symbols in reading order, the most recent one last; None is a missing symbol.
"""

from __future__ import annotations


def windows(sequences, past, future):
    """Return the (x, z, symbol, site, successor) of several sequences that stand end to end."""
    found = []
    index = {}
    offset = 0
    for number, sequence in enumerate(sequences):
        for now in range(past - 1, len(sequence) - future):
            word = tuple(sequence[now + 1 - past : now + 1 + future])
            if not any(symbol is None for symbol in word):
                index[number, now] = len(found)
                found.append((number, now, offset + now, word))
        offset += len(sequence)
    return [
        (word[:past], word[past:], word[past], site, index.get((number, now + 1), -1))
        for number, now, site, word in found
    ]


def counts(observed):
    """Return x -> {z: how often}."""
    table = {}
    for x, z, *_ in observed:
        add(table.setdefault(x, {}), z)
    return table


def add(tally, key, n=1):
    """Count a key."""
    tally[key] = tally.get(key, 0) + n


def steps(observed):
    """Return (x, symbol, x') -> how often, over all windows of a series that lead to an x with a whole z."""
    known = counts(observed)
    tally = {}
    for x, _, symbol, _, _ in observed:
        target = (*x[1:], symbol)
        if target in known:
            add(tally, (x, symbol, target))
    return tally


def followed_steps(observed):
    """Return (x, symbol, x') -> how often, over the observations that have a successor."""
    tally = {}
    for x, _, symbol, _, successor in observed:
        if successor >= 0:
            add(tally, (x, symbol, observed[successor][0]))
    return tally


def by_ending(words):
    """Return words in the order of their last symbols, then of the ones before, and so on."""
    return sorted(words, key=lambda word: word[::-1])


def common_ending(a, b):
    """Return how many last symbols two words share."""
    length = 0
    while length < min(len(a), len(b)) and a[-1 - length] == b[-1 - length]:
        length += 1
    return length


def back_off(observed, least):
    """Return x -> (its longest suffix seen at least `least` times, {z: count} over the windows that end so).

    The empty suffix is the last resort, however short the data.
    """
    result = {}
    for x in {x for x, *_ in observed}:
        for length in range(len(x), -1, -1):
            suffix = x[len(x) - length :]
            evidence = {}
            for other, z, *_ in observed:
                if common_ending(other, suffix) == length:
                    add(evidence, z)
            if sum(evidence.values()) >= least or length == 0:
                result[x] = suffix, evidence
                break
    return result


def longest_ending(word, contexts):
    """Return the length of the longest ending that a word shares with a context, and which contexts share it."""
    shared = [common_ending(word, context) for context in contexts]
    return max(shared), [i for i, length in enumerate(shared) if length == max(shared)]


def canonical(labels, weight):
    """Return labels renumbered by decreasing mass, then by first appearance; negative ones become -1."""
    mass = {}
    for label, w in zip(labels, weight, strict=True):
        if label >= 0:
            add(mass, label, w)
    order = sorted(mass, key=lambda label: (-mass[label], labels.index(label)))
    return [order.index(label) if label >= 0 else -1 for label in labels], [mass[label] for label in order]
