"""Space-time fields of cellular automata, deterministic and stochastic, on rings and tori.

Each function returns a uint8 field, time first, whose first row is the initial one.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._kernels import cellular_steps as kernels
from ..support import resources
from ..support.arguments import as_table, choice, generator, integer, real, shown

# Neighbourhoods in a rule's table.
LARGEST_TABLE = 1 << 24
# Cells that some computer holds.
MOST = 1 << 36


def cellular_automaton(
    rule: int,
    width: int,
    steps: int,
    colours: int = 2,
    radius: int = 1,
    rng: Any = None,
    initial: ArrayLike | None = None,
) -> NDArray[Any]:
    """Run a one-dimensional cellular automaton of any number of colours and any radius on a ring of cells.

    Parameters
    ----------
    rule : int
        Wolfram's number of the rule, from 0 to colours ** (colours ** (2 radius + 1)) - 1: the digit of order i in base
        `colours` is what follows the neighbourhood that is i in that base, its leftmost cell first.
    width, steps : int
        Number of cells and of rows.
    colours, radius : int
        Colours of a cell (2 to 256), and how far its neighbourhood reaches on each side (at least 0).
    rng : None, int, or numpy Generator
        Seed of a first row of independent uniform cells.
    initial : array of shape (width,), optional
        That row itself.

    Returns
    -------
    uint8 array of shape (steps, width). Cost: O(width steps).

    Examples
    --------
    >>> cellular_automaton(90, 5, 3, initial=[0, 0, 1, 0, 0])
    array([[0, 0, 1, 0, 0],
           [0, 1, 0, 1, 0],
           [1, 0, 0, 0, 1]], dtype=uint8)
    """
    colours = integer(colours, "colours", 2, 256)
    radius = integer(radius, "radius", 0, 1000)
    if (2 * radius + 1) * np.log2(colours) > np.log2(LARGEST_TABLE):
        raise ValueError(
            f"The 'radius' is {radius!r} with {colours} colours; a rule's table of colours ** (2 radius + 1) "
            f"neighbourhoods may have {LARGEST_TABLE}: use a smaller radius or fewer colours."
        )
    # The largest rule has as many digits as there are neighbourhoods: too many to write out.
    table = _digits(integer(rule, "rule", 0), colours, colours ** (2 * radius + 1))
    field = _field((integer(width, "width", most=MOST),), steps, colours, rng, initial)
    kernels.run_table(field, table, colours, radius)
    return field


def elementary_ca(rule: int, width: int, steps: int, rng: Any = None) -> NDArray[Any]:
    """Run an elementary cellular automaton on a ring of cells.

    Parameters
    ----------
    rule : int
        Wolfram's number of the rule, 0 to 255.
    width, steps : int
        Number of cells and of rows; the first row is the initial one.
    rng : None, int, numpy Generator, or array of shape (width,)
        Seed of a first row of independent fair cells, or that row itself.

    Returns
    -------
    uint8 array of shape (steps, width)
    """
    rule = integer(rule, "rule", 0, 255)
    initial = rng if isinstance(rng, (np.ndarray, list, tuple)) else None
    return cellular_automaton(rule, width, steps, rng=rng if initial is None else None, initial=initial)


def _digits(rule: int, colours: int, size: int) -> NDArray[Any]:
    table = np.zeros(size, np.uint8)
    rest, i = rule, 0
    while rest and i < size:
        rest, table[i] = divmod(rest, colours)
        i += 1
    if rest:
        raise ValueError(
            f"The 'rule' is {rule}; with {colours} colours and {size} neighbourhoods it must be below "
            f"{colours} ** {size}: choose a smaller one, or more colours or a larger radius."
        )
    return table


def cyclic_automaton(
    shape: Sequence[int],
    steps: int,
    colours: int = 14,
    threshold: int = 1,
    rng: Any = None,
    neighbourhood: str = "von_neumann",
    radius: int = 1,
    initial: ArrayLike | None = None,
) -> NDArray[Any]:
    """Run Griffeath's cyclic automaton on a torus: from noise over droplets to spirals.

    A cell of colour c takes colour c + 1 (after the last, the first) where at least `threshold` of its neighbours have
    that colour.

    Parameters
    ----------
    shape : (height, width)
    steps : int
        Number of frames.
    colours, threshold : int
    rng : None, int, or numpy Generator
        Seed of a first frame of independent uniform cells.
    neighbourhood : "von_neumann" or "moore"
        Cells within distance `radius`, by the sum or by the largest of the differences along the two axes.
    radius : int
    initial : array of shape (height, width), optional
        The first frame itself.

    Returns
    -------
    uint8 array of shape (steps, height, width). Cost: O(cells neighbours).
    """
    colours, threshold = integer(colours, "colours", 2, 256), integer(threshold, "threshold", most=MOST)
    radius = integer(radius, "radius", most=1000)
    choice(neighbourhood, "neighbourhood", ("von_neumann", "moore"))
    near = np.argwhere(np.ones((2 * radius + 1, 2 * radius + 1))) - radius
    distance = np.abs(near).max(axis=1) if neighbourhood == "moore" else np.abs(near).sum(axis=1)
    field = _field(_plane(shape), steps, colours, rng, initial)
    kernels.run_cyclic(field, colours, threshold, near[(distance > 0) & (distance <= radius)])
    return field


def game_of_life(
    shape: Sequence[int], steps: int, rng: Any = None, density: float = 0.5, initial: ArrayLike | None = None
) -> NDArray[Any]:
    """Run Conway's game of life on a torus.

    Parameters
    ----------
    shape : (height, width)
    steps : int
        Number of frames.
    rng : None, int, or numpy Generator
        Seed of a first frame of independent cells.
    density : float
        Probability that a cell of the first frame is alive.
    initial : array of shape (height, width), optional
        The first frame itself.

    Returns
    -------
    uint8 array of shape (steps, height, width), 1 = alive

    Examples
    --------
    >>> blinker = np.zeros((5, 5), int)
    >>> blinker[2, 1:4] = 1
    >>> game_of_life((5, 5), 2, initial=blinker)[1].nonzero()
    (array([1, 2, 3]), array([2, 2, 2]))
    """
    field = _field(_plane(shape), steps, 2, rng, initial, _probability(density, "density"))
    kernels.run_life(field)
    return field


def directed_percolation(
    width: int, steps: int, p: float, rng: Any = None, density: float = 1.0, initial: ArrayLike | None = None
) -> NDArray[Any]:
    """Run directed bond percolation on a ring: activity spreads at random, dies out below p = 0.6447 and lasts above.

    A site is active if the bond to its left or to its right neighbour of the row before is open, each with probability
    p, and that neighbour was active. With an even width, sites of the two parities do not meet.

    Parameters
    ----------
    width, steps : int
        Number of sites and of rows.
    p : float
        Probability that a bond is open.
    rng : None, int, or numpy Generator
    density : float
        Probability that a site of the first row is active.
    initial : array of shape (width,), optional
        The first row itself.

    Returns
    -------
    uint8 array of shape (steps, width), 1 = active
    """
    width = integer(width, "width", most=MOST)
    p, random = _probability(p, "p"), generator(rng)
    field = _field((width,), steps, 2, random, initial, _probability(density, "density"))
    ring = np.arange(-1, width + 1) % width
    for t in range(1, len(field)):
        left, right = random.random((2, width)) < p
        row = field[t - 1, ring]
        field[t] = (left & row[:-2]) | (right & row[2:])
    return field


def _probability(value: Any, name: str) -> float:
    return real(value, name, least=0, most=1, remedy="choose a probability, such as 0.5")


def _plane(shape: Any) -> tuple[int, int]:
    listed = isinstance(shape, (tuple, list)) or (isinstance(shape, np.ndarray) and shape.ndim == 1)
    sizes = tuple(shape) if listed else ()
    if len(sizes) != 2:
        raise ValueError(f"The 'shape' is {shown(shape)}; it must be a pair (height, width): give two integers.")
    return integer(sizes[0], "shape", most=MOST), integer(sizes[1], "shape", most=MOST)


def _field(
    size: tuple[int, ...], steps: int, colours: int, rng: Any, initial: ArrayLike | None, density: float | None = None
) -> NDArray[Any]:
    """A field whose first row is given or drawn."""
    shape = integer(steps, "steps", most=MOST), *size
    resources.require(prod(shape), f"{' × '.join(map(str, shape))} cells", "use fewer 'steps' or less space")
    field = np.empty(shape, np.uint8)
    if initial is not None:
        rule = f"it must have shape {size} and cells from 0 to {colours - 1}: correct it."
        first = as_table(initial, "initial", rule)
        if first.dtype.kind not in "biuf":
            raise ValueError(f"The first row 'initial' is of type {first.dtype}; {rule}")
        if first.shape != size or not np.isin(first, np.arange(colours)).all():
            raise ValueError(f"The first row 'initial' has shape {first.shape}; {rule}")
        field[0] = first
    elif density is not None:
        field[0] = generator(rng).random(size) < density
    else:
        field[0] = generator(rng).integers(0, colours, size, dtype=np.uint8)
    return field
