"""Driving machines along series, chunk by chunk: the compiled loops with their symbols and options."""

from __future__ import annotations

from collections.abc import Iterable
from operator import index
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ..support import arguments
from .refinement import alias_tables
from .symbols import alphabet_array, coder, plain

__all__ = ["Drive", "drive", "prior", "simulate"]

Array = NDArray[Any]

_CHUNK = 1 << 16  # symbols handled at once: bounds the memory beside the result
_POLICIES = ("reset", "stay", "raise")  # in the order of the kernel's codes


class _Machine(Protocol):
    @property
    def alphabet(self) -> tuple[Any, ...]: ...
    @property
    def targets(self) -> Array: ...
    @property
    def emission(self) -> Array: ...
    @property
    def weights(self) -> Array | None: ...
    @property
    def stationary(self) -> Array: ...


class Drive(NamedTuple):
    """States after each symbol, next-symbol distributions (or empty), log-probability in bits."""

    states: Array
    mixture: Array
    log2p: float


def _draw_start(machine: _Machine, generator: np.random.Generator) -> int:
    """Draw a state from the stationary distribution."""
    if not machine.stationary.any():
        raise ValueError(
            "The 'start' is None but the machine has no recurrent state; every path leads to a dead end: "
            "estimate it from longer data."
        )
    # Drawn among the possible states only: no rounding of the sum can give a transient one.
    possible = np.flatnonzero(machine.stationary)
    bounds = np.cumsum(machine.stationary[possible])
    draw = np.searchsorted(bounds, generator.random() * bounds[-1], "right")
    return int(possible[min(int(draw), possible.size - 1)])


def simulate(machine: _Machine, n: int, rng: Any, start: int | None) -> Array:
    """Emit n symbols from a state number, or from the stationary distribution.

    Raises
    ------
    ValueError
        When n is not a non-negative integer, or the walk meets a state without edges.
    """
    from .._kernels import machines

    try:
        size = index(n)
    except TypeError:
        size = -1
    if size < 0:
        raise ValueError(f"The 'n' is {n!r}; it must be an integer of at least 0: give the number of symbols.")
    generator = arguments.generator(rng)
    if start is None:
        start = _draw_start(machine, generator)
    symbols = alphabet_array(machine.alphabet)
    accept, alias = alias_tables(machine.emission)
    result = np.empty(size, dtype=symbols.dtype)
    uniforms = np.empty(min(size, _CHUNK))
    codes = np.empty(min(size, _CHUNK), dtype=np.uint8 if symbols.size <= 256 else np.int32)
    state = start
    for lo in range(0, size, _CHUNK):
        m = min(_CHUNK, size - lo)
        generator.random(out=uniforms[:m])
        state = machines.sample(uniforms[:m], accept, alias, machine.targets, state, codes[:m])
        if state < 0:
            raise ValueError(
                f"The 'start' {start} leads to a dead end before {n} symbols; a walk must go on for ever: "
                "start from a recurrent state."
            )
        result[lo : lo + m] = symbols[codes[:m]]
    return result


def prior(machine: _Machine) -> Array:
    """Return what is believed of the state when nothing is known."""
    if machine.stationary.any():
        return np.array(machine.stationary)
    if machine.weights is not None:
        return np.array(machine.weights)
    return np.full(machine.emission.shape[0], 1.0 / machine.emission.shape[0])


def _check_options(impossible: str, unsynchronised: str) -> None:
    """Refuse options that are not among the choices."""
    for name, value, choices in (
        ("impossible", impossible, _POLICIES),
        ("unsynchronised", unsynchronised, ("unknown", "likely")),
    ):
        if value not in choices:
            raise ValueError(f"The {name!r} is {value!r}; it must be one of {', '.join(choices)}: choose one.")


def drive(
    machine: _Machine,
    symbols: Any,
    start: int | None,
    impossible: str,
    unsynchronised: str,
    mixing: bool = False,
    scoring: bool = False,
) -> Drive:
    """Drive a machine with one sequence; see `EpsilonMachine.filter`.

    With `mixing` the next-symbol distributions are filled; with `scoring` nothing is kept but the
    log-probability, which is -inf at an impossible symbol.
    """
    from .._kernels import machines

    _check_options(impossible, unsynchronised)
    if isinstance(symbols, Iterable) and not isinstance(symbols, (str, bytes, bytearray, memoryview, np.ndarray)):
        symbols = list(symbols)
    n, code = coder(symbols, machine.alphabet)
    n_states, n_symbols = machine.emission.shape
    targets = np.concatenate([machine.targets, np.full((n_states, 1), -1, dtype=np.int32)], axis=1)
    home = prior(machine)
    belief = home.copy() if start is None else np.eye(n_states)[start]
    states = np.empty(min(n, _CHUNK) if scoring else n, dtype=np.int32)
    mixture = np.full((n if mixing else 0, n_symbols), np.nan)
    counts = np.zeros((n_states, n_symbols), dtype=np.int64)
    total = 0.0
    for lo in range(0, n, _CHUNK):
        codes = code(lo, min(lo + _CHUNK, n))
        after = states[: codes.size] if scoring else states[lo : lo + codes.size]
        rows = mixture[lo : lo + codes.size]
        policy, likely = _POLICIES.index(impossible), unsynchronised == "likely"
        stop, log2p = machines.drive(
            codes, targets, machine.emission, home, belief, policy, likely, after, rows, counts
        )
        total += log2p
        if stop >= 0 and scoring:
            return Drive(states[:0], mixture, float("-inf"))
        if stop >= 0:
            raise ValueError(
                f"The symbol {plain(symbols[lo + stop])!r} at position {lo + stop} of 'symbols' is "
                "impossible there; no state that the machine can be in emits it: check the data, or use "
                "impossible='reset' or 'stay'."
            )
        if mixing:
            known = np.isnan(rows[:, 0])
            rows[known] = machine.emission[after[known]]
    if scoring:
        used = counts > 0
        total += float(counts[used] @ np.log2(machine.emission[used]))
    return Drive(states, mixture, total)
