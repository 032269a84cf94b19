"""Unifilar machines as arrays of targets and probabilities: states of one future, machines equal but for numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def refine(targets: Array, emission: Array, atol: float) -> Array:
    """Label the states of a unifilar machine by their futures (partition refinement).

    Parameters
    ----------
    targets, emission : arrays of shape (n_states, n_symbols)
        Next state (-1 = none) and probability of each symbol.
    atol : float
        States are told apart when a probability differs by more than this, or is zero in one of them only.

    Returns
    -------
    int array of shape (n_states,)
        Labels 0, 1, ... in order of first appearance. Cost: O(n_states n_symbols) per round, at most
        n_states rounds.
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


def _colours(targets: Array) -> list[int]:
    """Colour states by their edges, forwards and backwards, as far as this tells them apart.

    States that an isomorphism could exchange have the same colour; probabilities play no part.
    """
    n = targets.shape[0]
    edges = [(int(i), int(a), int(targets[i, a])) for i, a in np.argwhere(targets >= 0)]
    colour = [0] * n
    n_colours = 0
    while True:
        away: list[list[tuple[int, int]]] = [[] for _ in range(n)]
        back: list[list[tuple[int, int]]] = [[] for _ in range(n)]
        for i, a, j in edges:
            away[i].append((a, colour[j]))
            back[j].append((a, colour[i]))
        looks = [(colour[i], tuple(sorted(away[i])), tuple(sorted(back[i]))) for i in range(n)]
        number = {look: rank for rank, look in enumerate(sorted(set(looks)))}
        colour = [number[look] for look in looks]
        if len(number) == n_colours:
            return colour
        n_colours = len(number)


def isomorphic(targets: Array, emission: Array, other_targets: Array, other_emission: Array, atol: float) -> bool:
    """Tell whether two machines with the same columns are equal up to the numbering of their states.

    All arrays have shape (n_states, n_symbols). Colours shared by both machines limit the candidates; the map
    of one state settles that of all states after it, and the choices left are tried in turn.
    """
    n = targets.shape[0]
    if targets.shape != other_targets.shape:
        return False
    shifted = np.where(other_targets >= 0, other_targets + n, -1)
    colour = np.array(_colours(np.concatenate([targets, shifted])), dtype=np.intp)
    if not np.array_equal(np.sort(colour[:n]), np.sort(colour[n:])):
        return False

    places: dict[int, list[int]] = {}
    for j, shade in enumerate(colour[n:].tolist()):
        places.setdefault(shade, []).append(j)

    def extend(mapping: dict[int, int], i: int, j: int) -> dict[int, int] | None:
        mapping, used = dict(mapping), set(mapping.values())
        todo = [(i, j)]
        while todo:
            i, j = todo.pop()
            if i in mapping or j in used:
                if mapping.get(i) != j:
                    return None
                continue
            if colour[i] != colour[n + j] or np.any(np.abs(emission[i] - other_emission[j]) > atol):
                return None
            mapping[i] = j
            used.add(j)
            edges = targets[i] >= 0
            todo.extend(zip(targets[i, edges].tolist(), other_targets[j, edges].tolist(), strict=True))
        return mapping

    def options(mapping: dict[int, int]) -> Iterator[dict[int, int] | None]:
        i = next(i for i in range(n) if i not in mapping)
        used = set(mapping.values())
        return (extend(mapping, i, j) for j in places[int(colour[i])] if j not in used)

    stack = [options({})]
    while stack:
        mapping = next(stack[-1], {})
        if mapping is None:
            continue
        if len(mapping) == n:
            return True
        if mapping:
            stack.append(options(mapping))
        else:
            stack.pop()
    return False
