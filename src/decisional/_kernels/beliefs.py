"""What a unifilar machine knows after reading a word from an unknown state: its belief over the states."""

import math

import numpy as np

from . import kernel


@kernel
def _room(n):
    """States and belief of `_read`, those after one more symbol, and the place of each state among them."""
    return np.empty(n, np.int64), np.empty(n), np.empty(n, np.int64), np.empty(n), np.full(n, -1, np.int64)


@kernel
def _know_nothing(prior, states, belief):
    states[:] = np.arange(prior.size)
    belief[:] = prior
    return prior.size


@kernel
def _read(word, depth, targets, emission, prior, room):
    """Read the last `depth` symbols of a word (most recent first), starting from the prior.

    Fills the first n states of `room` and their belief, those that are possible, and returns n. Cost: what is left
    shrinks fast, so about twice the number of states.
    """
    states, belief, next_states, next_belief, place = room
    n = _know_nothing(prior, states, belief)
    for k in range(depth - 1, -1, -1):
        s = word[k]
        m = 0
        total = 0.0
        for i in range(n):
            mass = belief[i] * emission[states[i], s]
            if mass > 0.0:
                target = targets[states[i], s]
                if place[target] < 0:
                    place[target] = m
                    next_states[m] = target
                    next_belief[m] = 0.0
                    m += 1
                next_belief[place[target]] += mass
                total += mass
        for i in range(m):
            place[next_states[i]] = -1
            states[i] = next_states[i]
            belief[i] = next_belief[i] / total
        # A word that the machine cannot make starts again from the prior.
        n = m if m > 0 else _know_nothing(prior, states, belief)
    return n


@kernel
def expected_counts(words, depth, start, symbol, count, targets, emission, prior, counts):
    """Share out what followed each word among the states: counts[state, symbol].

    start, symbol, count: compressed counts of the symbol after each word. Returns the log2-likelihood of
    those symbols, and how many of them the machine holds impossible.
    """
    room = _room(prior.size)
    states, belief = room[:2]
    bits = 0.0
    misses = 0.0
    for i in range(depth.size):
        if start[i] == start[i + 1]:
            continue
        n = _read(words[i], depth[i], targets, emission, prior, room)
        for m in range(start[i], start[i + 1]):
            s = symbol[m]
            p = 0.0
            for j in range(n):
                p += belief[j] * emission[states[j], s]
            if p <= 0.0:
                misses += count[m]
                continue
            bits += count[m] * math.log2(p)
            for j in range(n):
                counts[states[j], s] += count[m] * belief[j] * emission[states[j], s] / p
    return bits, misses


@kernel
def final_states(words, depth, targets, emission, prior, sure, state):
    """state[i] = the state after word i if the belief in it is at least `sure` > 1/2, else -1."""
    room = _room(prior.size)
    states, belief = room[:2]
    for i in range(depth.size):
        n = _read(words[i], depth[i], targets, emission, prior, room)
        state[i] = -1
        for j in range(n):
            if belief[j] >= sure:
                state[i] = states[j]
