"""What an observer who does not know the state can believe: distributions over states, and how symbols change them.

Pure functions of arrays, but for the records that `EpsilonMachine` returns. A process is given by its labelled matrices
`steps` of shape (n_symbols, n_states, n_states): P(symbol, next state | state). Entropies are in bits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..support.arrays import Record
from .chains import entropy

if TYPE_CHECKING:
    from .epsilon_machine import EpsilonMachine

Array = NDArray[Any]

# Probabilities that differ by less are the same belief.
SAME = 1e-12


@dataclass(frozen=True, eq=False)
class MixedStates(Record):
    """The mixed-state presentation of a process, as `EpsilonMachine.mixed_states` returns it.

    Attributes
    ----------
    machine : EpsilonMachine
        Its states are beliefs, numbered from 0, the belief before the first symbol. The transient ones are those of an
        observer who is not synchronised yet.
    beliefs : array of shape (machine.n_states, n_states)
        P(causal state | belief).
    causal : EpsilonMachine
        The causal states that the columns of `beliefs` stand for.
    """

    machine: EpsilonMachine
    beliefs: Array
    causal: EpsilonMachine


@dataclass(frozen=True, eq=False)
class BlockEntropies(Record):
    """Entropies of words of L symbols, as `EpsilonMachine.block_entropies` returns them: arrays of shape (n + 1,).

    Attributes
    ----------
    length : L = 0, 1, ..., n
    entropy : H(L) = H[X_0 ... X_L-1]
    rate : h(L) = H(L) - H(L - 1), which falls to h; log2 of the number of symbols for L = 0
    excess : E(L) = H(L) - L h(L), which rises to E
    with_state : H[X_0 ... X_L-1, S_L], of the word and the state that it leads to; meets the line E + h L at the
        cryptic order, as H(L) does at the Markov order
    """

    length: Array
    entropy: Array
    rate: Array
    excess: Array
    with_state: Array


class Closure(NamedTuple):
    """Beliefs (m, n_states) that can be reached, their successors and symbol probabilities (m, n_symbols).

    A successor of -1 cannot be, or was not followed. `complete` tells whether all were.
    """

    beliefs: Array
    targets: Array
    emission: Array
    complete: bool


def labelled(targets: Array, emission: Array) -> Array:
    """The matrices (n_symbols, n_states, n_states) of a unifilar machine."""
    n, n_symbols = targets.shape
    steps = np.zeros((n_symbols, n, n))
    i, a = np.nonzero(targets >= 0)
    steps[a, i, targets[i, a]] = emission[i, a]
    return steps


def closure(first: Array, steps: Array, most: int, depth: int | None = None, grid: float = SAME) -> Closure:
    """The beliefs that words lead to, each once, by numbers of symbols.

    Parameters
    ----------
    first : (m, n_states) beliefs to begin with
    steps : (n_symbols, n_states, n_states)
    most : beliefs to follow at most
    depth : symbols to follow at most, by default any number
    grid : probabilities that round to the same multiple of it are the same; a belief that is one state but for `grid`
        is that state

    Cost: O(n_states² n_symbols) for each belief.
    """
    number: dict[bytes, int] = {}
    frontier = first[_fresh(number, _keys(first, grid))[1]]
    beliefs: list[Array] = [frontier]
    targets: list[Array] = []
    emission: list[Array] = []
    n_symbols, rounds = len(steps), 0
    while len(frontier) and rounds != depth and len(number) <= most:
        mass = np.matmul(frontier[None], steps).transpose(1, 0, 2)
        probability = mass.sum(axis=2)
        row, symbol = np.nonzero(probability > 0.0)
        after = mass[row, symbol] / probability[row, symbol, None]
        after = np.where(after.max(axis=1, keepdims=True) >= 1.0 - grid, np.rint(after), after)
        ends, fresh = _fresh(number, _keys(after, grid))
        targets.append(np.full(probability.shape, -1, np.int64))
        targets[-1][row, symbol] = ends
        emission.append(probability)
        frontier = after[fresh]
        beliefs.append(frontier)
        rounds += 1
    rest = len(frontier)
    targets.append(np.full((rest, n_symbols), -1, np.int64))
    emission.append(frontier @ steps.sum(axis=2).T)
    return Closure(np.concatenate(beliefs), np.concatenate(targets), np.concatenate(emission), rest == 0)


def _fresh(number: dict[bytes, int], keys: list[bytes]) -> tuple[Array, list[int]]:
    """Number the keys; return their numbers, and the places of those that are new."""
    ends, fresh = [], []
    for place, key in enumerate(keys):
        if key not in number:
            number[key] = len(number)
            fresh.append(place)
        ends.append(number[key])
    return np.array(ends, np.int64), fresh


def _keys(beliefs: Array, grid: float) -> list[bytes]:
    return [row.tobytes() for row in np.rint(beliefs / grid).astype(np.int64)]


def block_entropies(first: Array, steps: Array, n: int, most: int) -> tuple[BlockEntropies, int]:
    """Entropies of words of up to n symbols, from a first belief (n_states,), and the lengths that were reached.

    Cost: O(n_states² n_symbols) for each belief that words of n symbols can lead to, and n times their number; at most
    `most` beliefs, so that fewer than n lengths may be reached.
    """
    known = closure(first[None], steps, most, n)
    symbols, states = entropy(known.emission), entropy(known.beliefs)
    mass: Array = np.zeros(len(symbols))
    mass[0] = 1.0
    unknown = [float(mass @ states)]
    rates: list[float] = []
    row, symbol = np.nonzero(known.targets >= 0)
    followed = (known.targets >= 0).any(axis=1)
    for _ in range(n):
        if mass[~followed].any():
            break
        rates.append(float(mass @ symbols))
        mass = np.bincount(known.targets[row, symbol], mass[row] * known.emission[row, symbol], mass.size)
        unknown.append(float(mass @ states))
    total = np.append(0.0, np.cumsum(rates))
    length = np.arange(total.size)
    rate = np.append(np.log2(len(steps)), rates)
    return BlockEntropies(length, total, rate, total - length * rate, total + np.array(unknown)), total.size - 1
