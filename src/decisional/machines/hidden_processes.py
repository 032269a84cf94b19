"""Processes whose hidden states are few and whose causal states are not: exact `BeliefMachine`s."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..support import arguments
from .belief_machine import BeliefMachine


def _inside(name: str, value: float) -> float:
    """A probability that leaves both possible, or ValueError."""
    return arguments.real(value, name, above=0, below=1, remedy="choose a probability, such as 0.1", of="the process")


def mess3(x: float = 0.05, a: float = 0.85) -> BeliefMachine:
    """Three states that each prefer a symbol of their own; what can be believed of them is a fractal.

    Parameters
    ----------
    x : probability of each of the two other states after a step, below 1/2
    a : probability that a state shows its own symbol

    Returns
    -------
    BeliefMachine
        Three hidden states over three symbols.
    """
    x = arguments.real(x, "x", above=0, below=0.5, remedy="try x=0.05", of="the process")
    a = _inside("a", a)
    shown = np.full((3, 3), (1.0 - a) / 2.0) + np.eye(3) * (a - (1.0 - a) / 2.0)
    moved = np.full((3, 3), x) + np.eye(3) * (1.0 - 3.0 * x)
    return BeliefMachine([moved * shown[:, symbol] for symbol in range(3)])


def simple_nonunifilar(p: float = 0.5, q: float = 0.5) -> BeliefMachine:
    """Two states, of which only the second ever shows a 1, when it is left; p and q are the chances to leave them.

    The causal states count the 0 since the last 1 (Crutchfield 1994, Marzen and Crutchfield 2015).
    """
    p, q = _inside("p", p), _inside("q", q)
    return BeliefMachine([[[1.0 - p, p], [0.0, 1.0 - q]], [[0.0, 0.0], [q, 0.0]]])


def misread(machine: Any, p: float = 0.05) -> BeliefMachine:
    """A machine watched by a sensor that reads another symbol than the one emitted, each alike, with probability p."""
    p = _inside("p", p)
    if not isinstance(machine, BeliefMachine):
        machine = BeliefMachine.of(machine)
    n = len(machine.alphabet)
    if n < 2:
        rule = "a machine of at least 2 symbols"
        raise ValueError(arguments.refusal("machine", machine, rule, "a sensor can only misread if there are others"))
    others = (machine.matrix - machine.steps) / (n - 1)
    return BeliefMachine((1.0 - p) * machine.steps + p * others, machine.alphabet, machine.names)


def random_hidden(n_states: int, n_symbols: int = 2, rng: Any = None) -> BeliefMachine:
    """Steps drawn from a Dirichlet distribution that leaves some of them much likelier than others."""
    k = arguments.integer(n_states, "n_states", most=1000)
    n = arguments.integer(n_symbols, "n_symbols", most=1000)
    steps = arguments.generator(rng).dirichlet(np.full(n * k, 0.5), k).reshape(k, n, k)
    return BeliefMachine(steps.transpose(1, 0, 2))
