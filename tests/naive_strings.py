"""Whole strings, literally: their tree of prefixes, and their probabilities."""

from math import inf, log2


def prefix_tree(strings):
    """Counts of what follows each prefix: a symbol, None for the end, "?" for what is not known."""
    tree = {}
    for string in strings:
        for n in range(len(string) + 1):
            after = tree.setdefault(tuple(string[:n]), {})
            what = string[n] if n < len(string) else None
            after[what] = after.get(what, 0) + 1
            if what == "?":
                break
    return tree


def longest_suffix(prefix, tree):
    """The longest proper suffix of a prefix that is a prefix too; None for the empty one."""
    return next((prefix[n:] for n in range(1, len(prefix) + 1) if prefix[n:] in tree), None)


def log_likelihood(machine, string):
    """log2-probability of a whole string under an exact machine, along its only path."""
    state, bits = machine.start, 0.0
    for symbol in [*string, machine.END]:
        column = machine.alphabet.index(symbol)
        if machine.emission[state, column] == 0.0:
            return -inf
        bits += log2(machine.emission[state, column])
        state = machine.targets[state, column]
    return bits
