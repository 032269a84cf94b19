"""Measures of machines by enumeration of words, sets and pairs, with dicts and loops."""

from __future__ import annotations

import math
from itertools import product

import naive

# A machine is a dict state -> {symbol: (target, probability)}; `home` is its stationary distribution.


def drive(machine, state, word):
    """The state that a word leads to, None if it cannot come."""
    for symbol in word:
        if symbol not in machine[state]:
            return None
        state = machine[state][symbol][0]
    return state


def after(machine, word):
    """The states that a word may lead to."""
    return {drive(machine, state, word) for state in machine} - {None}


def markov_order(machine, alphabet):
    """The smallest length at which every word leads to one state; a pair of states lasts no longer than there are
    pairs, unless for ever."""
    longest = len(machine) * (len(machine) - 1) // 2 + 1
    for length in range(longest + 1):
        if all(len(after(machine, word)) <= 1 for word in product(alphabet, repeat=length)):
            return length
    return math.inf


def cryptic_order(machine, alphabet):
    """The smallest k after which no two states can be told apart only by what comes before: no word of k symbols leads
    to two states that a further word sends to the same one."""
    longest = len(machine) * (len(machine) - 1) // 2 + 1
    further = [word for length in range(longest + 1) for word in product(alphabet, repeat=length)]

    def merge(i, j):
        ends = ((drive(machine, i, word), drive(machine, j, word)) for word in further)
        return any(a is not None and a == b for a, b in ends)

    lost = {(i, j) for i in machine for j in machine if i < j and merge(i, j)}
    for k in range(longest + 1):
        met = (after(machine, word) for word in product(alphabet, repeat=k))
        if not any((i, j) in lost for states in met for i in states for j in states):
            return k
    return math.inf


def word_probability(machine, home, word):
    return 2.0 ** naive.log_likelihood(machine, home, word)


def entropy(chances):
    return -sum(p * math.log2(p) for p in chances if p > 0)


def with_state(machine, home, alphabet, length):
    """H[X_0 ... X_L-1, S_L] by enumeration."""
    chances = []
    for word in product(alphabet, repeat=length):
        p, belief = 1.0, home
        for symbol in word:
            total, belief = naive.update(machine, belief, symbol)
            p *= total
        chances += [p * q for q in belief.values()]
    return entropy(chances)


def synchronisation(machine, home, alphabet, rounds=4000):
    """The shortest word that tells the state, the mean time until it is known, and P(not known) at half and at all of
    the rounds."""
    word = None
    for length in range(2 ** len(machine)):
        # A shortest word visits each set of states at most once; sets are few here.
        words = (word for word in product(alphabet, repeat=length) if len(after(machine, word)) == 1)
        word = next(words, None)
        if word is not None or length >= 8:
            break
    masses = {frozenset(machine): dict(home)}
    time, left = 0.0, []
    for _ in range(rounds):
        masses = {states: mass for states, mass in masses.items() if len(states) > 1}
        left.append(sum(sum(mass.values()) for mass in masses.values()))
        time += left[-1]
        then = {}
        for states, mass in masses.items():
            for symbol in alphabet:
                to = frozenset(machine[i][symbol][0] for i in states if symbol in machine[i])
                row = then.setdefault(to, {})
                for i, p in mass.items():
                    if symbol in machine[i]:
                        j, q = machine[i][symbol]
                        row[j] = row.get(j, 0.0) + p * q
        masses = then
    return word, time, left


def beliefs(machine, home, alphabet, longest):
    """The beliefs that words of up to so many symbols lead to, rounded."""
    found, todo = set(), [({i: p for i, p in home.items() if p > 0}, 0)]
    while todo:
        belief, length = todo.pop(0)
        key = tuple(round(belief.get(i, 0.0), 9) for i in machine)
        if key in found:
            continue
        found.add(key)
        if length < longest:
            steps = (naive.update(machine, belief, symbol) for symbol in alphabet)
            todo += [(then, length + 1) for total, then in steps if total > 0]
    return found


def can_fail(machine, other, alphabet):
    """Whether one machine can emit a word that the other cannot, by all pairs of its state and the other's states."""
    seen, todo = set(), [(i, frozenset(other)) for i in machine]
    while todo:
        state, possible = todo.pop()
        if (state, possible) in seen:
            continue
        seen.add((state, possible))
        if not possible:
            return True
        for symbol, (target, _) in machine[state].items():
            todo.append((target, frozenset(other[j][symbol][0] for j in possible if symbol in other[j])))
    return False


def autocovariance(machine, home, alphabet, lag):
    """Cov(X_0, X_lag) by enumeration of words; symbols are numbers."""
    mean = sum(p * sum(symbol * q for symbol, (_, q) in machine[i].items()) for i, p in home.items())
    return sum(
        word_probability(machine, home, word) * (word[0] - mean) * (word[-1] - mean)
        for word in product(alphabet, repeat=lag + 1)
    )
