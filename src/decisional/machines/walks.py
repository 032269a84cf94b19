"""Driving machines along series, chunk by chunk: the compiled loops with their symbols and options."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._kernels import level_walks, machines
from ..data.alphabet import TEXT, Alphabet, plain
from ..data.frames import array_of, is_frame
from ..data.sequences import check_dimensions, one_sequence
from ..support import arguments, resources

if TYPE_CHECKING:
    from .epsilon_machine import EpsilonMachine
    from .levels import Levels

Array = NDArray[Any]
Names = tuple[Hashable, ...]

MOST = 1 << 36  # symbols of a simulation
_CHUNK = 1 << 16  # symbols handled at once: bounds the memory beside the result
_POLICIES = ("reset", "stay", "raise")  # in the order of the kernel's codes
SURE = 0.97  # belief in a state that is taken as known, along a signal


class Drive(NamedTuple):
    """States after each symbol, next-symbol distributions (or empty), log-probability in bits."""

    states: Array
    mixture: Array
    log2p: float


def _draw_start(machine: EpsilonMachine, generator: np.random.Generator) -> int:
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


def alias_tables(emission: Array) -> tuple[Array, Array]:
    """Walker's alias tables, which draw a symbol of any state in constant time, shaped like `emission`.

    Of a uniformly drawn column, keep it with probability `accept`, else take `alias`; the alias of dead ends is -1.
    """
    n_symbols = emission.shape[1]
    accept = np.zeros(emission.shape)
    alias = np.full(emission.shape, -1, dtype=np.int32)
    for state in np.flatnonzero(emission.any(axis=1)):
        scaled = emission[state] * n_symbols
        small = [a for a in range(n_symbols) if scaled[a] < 1.0]
        large = [a for a in range(n_symbols) if scaled[a] >= 1.0]
        while small and large:
            low, high = small.pop(), large[-1]
            accept[state, low], alias[state, low] = scaled[low], high
            scaled[high] -= 1.0 - scaled[low]
            if scaled[high] < 1.0:
                small.append(large.pop())
        accept[state, small + large] = 1.0
        alias[state, small + large] = small + large
    return accept, alias


def simulate(machine: EpsilonMachine, n: int, rng: Any, start: int | None) -> Array:
    """Emit n symbols from a state number, or from the stationary distribution."""
    size = arguments.integer(n, "n", least=0, most=MOST, remedy="give the number of symbols")
    generator = arguments.generator(rng)
    if start is None:
        start = _draw_start(machine, generator)
    symbols = Alphabet(machine.alphabet).array
    resources.require(size * symbols.itemsize, f"'n' = {size:,} symbols", "simulate fewer at a time")
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
    if machine.levels is not None:
        level = np.searchsorted(symbols, result)
        return machine.levels.mean[level] + machine.levels.spread[level] * generator.normal(size=size)
    return result


def simulate_strings(machine: EpsilonMachine, n: int, rng: Any) -> list[Array]:
    """Emit n whole strings, each without its end."""
    size = arguments.integer(n, "n", least=0, most=MOST, remedy="give the number of strings")
    generator = arguments.generator(rng)
    ending = float(machine.stationary @ machine.emission[:, -1])
    if not ending > 0.0:
        raise ValueError("The machine has strings that never end: give every state a way to the end.")
    symbols = Alphabet(machine.alphabet[:-1]).array
    resources.require(int(size / ending) * symbols.itemsize, f"'n' = {size:,} strings", "simulate fewer at a time")
    accept, alias = alias_tables(machine.emission)
    state, end = int(machine.start or 0), symbols.size
    strings: list[Array] = []
    rest = np.zeros(0, np.int32)
    while len(strings) < size:
        codes = np.empty(min(_CHUNK, int((size - len(strings)) / ending) + 64), np.int32)
        state = machines.sample(generator.random(codes.size), accept, alias, machine.targets, state, codes)
        codes = np.concatenate([rest, codes])
        *whole, rest = np.split(codes, np.flatnonzero(codes == end) + 1)
        strings += [symbols[string[:-1]] for string in whole]
    return strings[:size]


def prior(machine: EpsilonMachine) -> Array:
    """What is believed of the state when nothing is known."""
    if machine.stationary.any():
        return np.array(machine.stationary)
    return np.full(machine.n_states, 1.0 / machine.n_states) if machine.weights is None else np.array(machine.weights)


def coded(symbols: Any, letters: Names, whole: bool = False) -> tuple[Any, int, Callable[[int, int], Array]]:
    """One sequence along an alphabet: its symbols, their number, and a function that gives the codes of a slice.

    Unknown symbols are len(letters), those that are missing one more. Where it is a whole string, several are refused.
    """
    symbols = one_sequence(symbols, letters)
    if isinstance(symbols, Iterable) and not isinstance(symbols, (*TEXT, np.ndarray)):
        symbols = [None if symbol is np.ma.masked else symbol for symbol in symbols]
    if whole and not isinstance(symbols, TEXT):
        _refuse_several(symbols, Alphabet(letters))
    return symbols, *Alphabet(letters).coder_with_gaps(symbols)


def _refuse_several(symbols: Any, alphabet: Alphabet) -> None:
    """Refuse a list of strings: of sequences, or of text that is no symbol although all of its parts are."""
    if isinstance(symbols, np.ndarray):
        symbols = symbols.tolist() if symbols.dtype.kind in "OUS" and symbols.ndim == 1 else []
    for item in symbols if isinstance(symbols, list) else []:
        several = isinstance(item, (list, np.ndarray))
        if isinstance(item, (*TEXT, tuple)) and alphabet.lookup(item) == len(alphabet):
            n, code = alphabet.coder(item)
            several = bool((code(0, n) < len(alphabet)).all())
        if several:
            raise ValueError(
                f"The 'symbols' are several strings, such as {arguments.shown(item)}; one is followed at a time: give "
                "each of them, as in [machine.log_likelihood(string) for string in strings]."
            )


def refuse_ends(codes: Array, letters: Names) -> None:
    """Refuse a whole string that has the last letter, the end."""
    if (codes == len(letters) - 1).any():
        raise ValueError(
            f"The 'symbols' have {letters[-1]!r}, which stands for the end of a string and is added to each: leave it "
            "out."
        )


def foretold(machine: EpsilonMachine) -> Array:
    """(n_states, n_symbols + 1) what each state foretells, the last column for symbols that were never seen."""
    return np.column_stack([machine.posterior, machine.unseen])


def numbers(values: Any) -> Array:
    """(n,) floats of one signal, NaN where missing."""
    try:
        found = array_of(values, "symbols") if is_frame(values) else np.ma.filled(np.ma.asarray(values, float), np.nan)
        array = np.asarray(found, float)
    except (TypeError, ValueError):
        rule = "numbers: the machine is that of a signal"
        raise ValueError(arguments.refusal("symbols", values, rule, "give a list or an array of its values")) from None
    check_dimensions(array.ndim, 1)
    return np.where(np.isfinite(array), array, np.nan)


def known_states(beliefs: Array) -> Array:
    """(n,) the state that each belief (n, n_states) is sure of, -1 = none."""
    best = beliefs.argmax(axis=1).astype(np.int32)
    return np.where(beliefs[np.arange(best.size), best] >= SURE, best, np.int32(-1))


def _along_signal(machine: EpsilonMachine, levels: Levels, values: Array, start: int | None, likely: bool) -> Drive:
    """The same along values: each is likely under some symbols more than under others."""
    n_states, home = machine.n_states, prior(machine)
    belief = home.copy() if start is None else np.eye(n_states)[start]
    beliefs = np.empty((values.size + 1, n_states))
    log2p, scale = 0.0, np.empty(values.size)
    for lo in range(0, values.size, _CHUNK):
        part = slice(lo, lo + _CHUNK)
        like = levels.densities(values[part])[0]
        log2p += level_walks.forward(like, machine.targets, machine.emission, home, belief, scale[part], beliefs[part])
    beliefs[-1] = belief
    states = beliefs[1:].argmax(axis=1).astype(np.int32) if likely else known_states(beliefs[1:])
    log2p -= np.count_nonzero(np.isfinite(values)) * float(np.log2(levels.scale))
    return Drive(states, beliefs[1:] @ machine.emission, log2p)


def drive(
    machine: EpsilonMachine,
    symbols: Any,
    start: int | None,
    impossible: str,
    unsynchronised: str,
    mixing: bool = False,
    scoring: bool = False,
    restarts: bool = False,
) -> Drive:
    """Drive a machine with one sequence; see `EpsilonMachine.filter`.

    With `mixing` the next-symbol distributions are filled; with `scoring` nothing is kept but the
    log-probability, which is -inf at an impossible symbol.
    """
    policy = _POLICIES.index(arguments.choice(impossible, "impossible", _POLICIES))
    likely = arguments.choice(unsynchronised, "unsynchronised", ("unknown", "likely")) == "likely"
    if machine.levels is not None:
        return _along_signal(machine, machine.levels, numbers(symbols), start, likely)
    whole = machine.start is not None
    symbols, n, code = coded(symbols, machine.alphabet, whole)
    n_states, n_symbols = machine.emission.shape
    targets = np.concatenate([machine.targets, np.full((n_states, 2), -1, dtype=np.int32)], axis=1)
    # The end of a whole string is never missing.
    n_letters = n_symbols - whole
    home = prior(machine)
    belief = home.copy() if start is None else np.eye(n_states)[start]
    states = np.empty(min(n, _CHUNK) if scoring else n, dtype=np.int32)
    mixture = np.full((n if mixing else 0, n_symbols), np.nan)
    # Of a smoothed machine nothing is impossible, so that a likelihood goes on after what it has not seen.
    smooth = foretold(machine)
    if scoring and machine.smoothed:
        policy = _POLICIES.index("reset")
    counts = np.zeros((n_states, n_symbols), dtype=np.int64)
    total = 0.0
    for lo in range(0, n, _CHUNK):
        codes = code(lo, min(lo + _CHUNK, n))
        if restarts:
            # What is missing is as if unknown, after which the machine begins again.
            codes = np.minimum(codes, len(machine.alphabet))
        if whole and scoring:
            refuse_ends(codes, machine.alphabet)
        after = states[: codes.size] if scoring else states[lo : lo + codes.size]
        rows = mixture[lo : lo + codes.size]
        stop, log2p = machines.drive(
            codes, n_letters, targets, machine.emission, smooth, home, belief, policy, likely, after, rows, counts
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
            rows[known] = machine.posterior[after[known]]
    if scoring:
        used = counts > 0
        total += float(counts[used] @ np.log2(machine.posterior[used]))
        if whole:
            ending = float(belief @ machine.posterior[:, -1])
            total += float(np.log2(ending)) if ending > 0.0 else float("-inf")
    return Drive(states, mixture, total)
