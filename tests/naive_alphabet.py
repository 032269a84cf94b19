"""The order of symbols, and what a symbol stands for, with lists and loops: the oracle of alphabets."""

from __future__ import annotations

import math
from functools import cmp_to_key


def same(value):
    """Return a value that is written alike for all values that equal it."""
    if isinstance(value, (bool, int)) or (isinstance(value, float) and math.isfinite(value) and value == int(value)):
        return int(value)
    return tuple(same(item) for item in value) if isinstance(value, tuple) else value


def text(value):
    """Return the text of a value, that of sets in the order of their members' texts."""
    value = same(value)
    if isinstance(value, tuple):
        return f"({', '.join(text(item) for item in value)}{',' * (len(value) == 1)})"
    return f"frozenset({{{', '.join(sorted(map(text, value)))}}})" if isinstance(value, frozenset) else repr(value)


def order(symbols):
    """Return the distinct symbols: sorted if each is less or more than each other one, else by type and text."""
    distinct = []
    for symbol in symbols:
        if symbol not in distinct:
            distinct.append(symbol)
    try:
        if all(a is b or a < b or b < a for a in distinct for b in distinct):
            return sorted(distinct, key=cmp_to_key(lambda a, b: -1 if a < b else 1))
    except TypeError:
        pass
    return sorted(distinct, key=lambda symbol: (type(same(symbol)).__name__, text(symbol)))


def code(letters, symbol):
    """Return the place of the equal letter, else of the first that prints the same, else the number of letters."""
    for place, letter in enumerate(letters):
        if letter == symbol:
            return place
    printed = symbol.decode("latin-1") if isinstance(symbol, bytes) else str(symbol)
    for place, letter in enumerate(letters):
        if str(letter) == printed:
            return place
    return len(letters)
