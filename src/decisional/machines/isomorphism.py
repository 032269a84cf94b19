"""Unifilar machines as arrays of targets and probabilities: states of one future, machines equal but for numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def refine(targets: Array, emission: Array, atol: float) -> Array:
    """Label the states of a unifilar machine by their futures (partition refinement): 0, 1, ... as they first appear.

    Two are told apart when a probability differs by more than `atol`, or is zero in one of them only. Cost: O(n_states
    n_symbols) per round, at most n_states rounds.
    """
    n = targets.shape[0]
    label = np.full(n, -1)
    possible = targets >= 0
    for i in range(n):
        if label[i] < 0:
            near = (np.abs(emission - emission[i]) <= atol).all(axis=1) & (possible == possible[i]).all(axis=1)
            label[near & (label < 0)] = i
    n_labels = np.unique(label).size
    while True:
        signature = np.column_stack([label, np.where(possible, label[targets], -1)])
        first, inverse = np.unique(signature, axis=0, return_index=True, return_inverse=True)[1:]
        # Numbering by first member keeps the labels canonical.
        label = first[inverse.ravel()]
        if first.size == n_labels:
            return np.searchsorted(np.sort(first), label)
        n_labels = first.size


def _colours(targets: Array) -> Array:
    """Colour states by their edges, forwards and backwards, as far as this tells them apart.

    States that an isomorphism could exchange have the same colour; probabilities play no part.
    """
    edges = [(i, a, int(targets[i, a])) for i, a in np.argwhere(targets >= 0).tolist()]
    colour, n_colours = [0] * len(targets), 0
    while True:
        looks: list[list[tuple[int, int, int]]] = [[(0, 0, c)] for c in colour]
        for i, a, j in edges:
            looks[i].append((1, a, colour[j]))
            looks[j].append((2, a, colour[i]))
        keys = [tuple(sorted(look)) for look in looks]
        number = {key: c for c, key in enumerate(dict.fromkeys(keys))}
        colour = [number[key] for key in keys]
        if len(number) == n_colours:
            return np.array(colour)
        n_colours = len(number)


def isomorphic(targets: Array, emission: Array, other_targets: Array, other_emission: Array, atol: float) -> bool:
    """Tell whether two machines with the same columns are equal up to the numbering of their states.

    All arrays have shape (n_states, n_symbols). Colours shared by both machines limit the candidates; the map
    of one state settles that of all states after it, and the choices left are tried in turn.
    """
    n = targets.shape[0]
    if targets.shape != other_targets.shape:
        return False
    colours = _colours(np.concatenate([targets, np.where(other_targets >= 0, other_targets + n, -1)]))
    mine, theirs = colours[:n], colours[n:]
    if not np.array_equal(np.sort(mine), np.sort(theirs)):
        return False

    def extend(mapping: dict[int, int], i: int, j: int) -> dict[int, int] | None:
        mapping, used = dict(mapping), set(mapping.values())
        todo = [(i, j)]
        while todo:
            i, j = todo.pop()
            if i in mapping or j in used:
                if mapping.get(i) != j:
                    return None
                continue
            if mine[i] != theirs[j] or np.any(np.abs(emission[i] - other_emission[j]) > atol):
                return None
            mapping[i] = j
            used.add(j)
            edges = targets[i] >= 0
            todo.extend(zip(targets[i, edges].tolist(), other_targets[j, edges].tolist(), strict=True))
        return mapping

    maps: list[tuple[dict[int, int], int, int]] = [({}, 0, j) for j in np.flatnonzero(theirs == mine[0]).tolist()]
    while maps:
        mapping = extend(*maps.pop())
        if mapping is not None:
            i = next((i for i in range(n) if i not in mapping), n)
            if i == n:
                return True
            free = set(np.flatnonzero(theirs == mine[i]).tolist()) - set(mapping.values())
            maps += [(mapping, i, j) for j in free]
    return False
