"""Checking the tables of a machine: rows (source, symbol, target, p), or targets and probabilities."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..data.alphabet import END, ordered, plain
from ..support.arguments import as_table, integer, shown
from ..support.arrays import read_only

Array = NDArray[Any]
Names = tuple[Hashable, ...]

_TOLERANCE = 1e-9  # on the sum of the probabilities that leave a state


def _read_row(row: Any, number: int) -> tuple[Hashable, Hashable, Hashable, float]:
    """Return one row as plain values, or raise ValueError."""
    try:
        source, symbol, target, p = (plain(value) for value in row)
        hash((source, symbol, target))
        return source, symbol, target, float(p)
    except (TypeError, ValueError):
        raise ValueError(
            f"Row {number} of 'transitions' is {shown(row)}; a row must be (source, symbol, target, probability) "
            "with hashable names: correct it."
        ) from None


def checked_names(values: Iterable[Hashable], parameter: str) -> Names:
    """Return distinct hashable names as a tuple of plain values, or raise ValueError."""
    try:
        names = tuple(plain(value) for value in values)
        hash(names)
    except TypeError:
        raise TypeError(
            f"The {parameter!r} are {shown(values)}; they must be a sequence of hashable values: give a list of "
            "strings or numbers."
        ) from None
    if len(set(names)) < len(names):
        twice = next(name for i, name in enumerate(names) if name in names[:i])
        raise ValueError(f"The {parameter!r} have {twice!r} twice; they must be distinct: remove one.")
    return names


def check_storable(parameter: str, values: Names) -> None:
    """Raise TypeError unless a JSON file holds the values without loss."""
    for value in values:
        if type(value) not in (str, int, float, bool) or value in (np.inf, -np.inf) or value != value:
            raise TypeError(
                f"The {parameter!r} contain {value!r}; a file can only hold strings, integers, "
                "finite floats and booleans: rename it before saving."
            )


def read_rows(transitions: Iterable[Any], alphabet: Iterable[Hashable] | None) -> tuple[Array, Array, Names, Names]:
    """Turn rows (source, symbol, target, p) into targets, emission, alphabet and names, or raise ValueError.

    States are numbered in order of first appearance as a source; rows of probability zero are dropped.
    """
    try:
        given = list(transitions)
    except TypeError:
        raise TypeError(
            f"The 'transitions' are {shown(transitions)}; they must be rows (source, symbol, target, probability): "
            "give a list of them."
        ) from None
    rows = [_read_row(row, number) for number, row in enumerate(given)]
    if not rows:
        raise ValueError("The 'transitions' are empty; a machine needs at least one row: add its transitions.")
    state = {source: i for i, source in enumerate(dict.fromkeys(row[0] for row in rows))}
    kept = [row for row in rows if row[3] != 0.0]
    symbols = ordered(row[1] for row in kept) if alphabet is None else checked_names(alphabet, "alphabet")
    column = {symbol: a for a, symbol in enumerate(symbols)}
    targets = np.full((len(state), len(symbols)), -1, dtype=np.int32)
    emission = np.zeros((len(state), len(symbols)))
    for source, symbol, target, p in kept:
        if not 0.0 < p <= 1.0 + _TOLERANCE:
            raise ValueError(
                f"The probability of symbol {symbol!r} in state {source!r} is {p}; a probability must be "
                "between 0 and 1: correct this row of 'transitions'."
            )
        if symbol not in column:
            raise ValueError(
                f"The symbol {symbol!r} of state {source!r} is not in the 'alphabet' {symbols}; every symbol "
                "must be: add it to the alphabet or remove the row."
            )
        if target not in state:
            raise ValueError(
                f"The target {target!r} of state {source!r} is never a source; every state needs its own "
                "rows: add them or correct the name."
            )
        i, a = state[source], column[symbol]
        if targets[i, a] >= 0:
            raise ValueError(
                f"The symbol {symbol!r} of state {source!r} appears twice; a symbol must lead to a single "
                "state: merge or remove one of these rows of 'transitions'."
            )
        targets[i, a], emission[i, a] = state[target], p
    _check_sums(emission, tuple(state), dead_ends=False)
    return targets, emission, symbols, tuple(state)


def checked_arrays(
    targets: ArrayLike, emission: ArrayLike, alphabet: Iterable[Hashable], names: Iterable[Hashable] | None
) -> tuple[Array, Array, Names, Names]:
    """Targets, emission, alphabet and names of a machine that may have dead ends, or ValueError."""
    rule = "it must be numbers, n_states × n_symbols: give one row per state and one column per symbol."
    ends, p = as_table(targets, "targets", rule), as_table(emission, "emission", rule, np.float64)
    n_states, n_symbols = p.shape if p.ndim == 2 else (0, 0)
    symbols = checked_names(alphabet, "alphabet")
    labels = checked_names(range(n_states) if names is None else names, "names")
    if n_states < 1 or len(symbols) != n_symbols or len(labels) != n_states:
        raise ValueError(
            f"The 'emission' has shape {p.shape} with {len(labels)} names and {len(symbols)} "
            "symbols; it must be n_states × n_symbols: give one row per state and one column per symbol."
        )
    if ends.shape != p.shape or ends.dtype.kind not in "iu":
        raise ValueError(
            f"The 'targets' have shape {ends.shape} and type {ends.dtype}, 'emission' has shape {p.shape}; "
            "both must be n_states × n_symbols, the targets integers: give one row per state and one column "
            "per symbol."
        )
    leads = f"a symbol of positive probability must lead to a state between 0 and {n_states - 1}"
    for parameter, values, wrong, rule in (
        ("emission", p, ~(np.isfinite(p) & (p >= 0.0)), "a probability must be between 0 and 1"),
        ("targets", ends, (p > 0.0) & ((ends < 0) | (ends >= n_states)), leads),
    ):
        if wrong.any():
            i, a = np.argwhere(wrong)[0]
            raise ValueError(
                f"The {parameter!r} of state {labels[i]!r}, column {a}, is {values[i, a]}; {rule}: correct it."
            )
    _check_sums(p, labels, dead_ends=True)
    return ends, p, symbols, labels


def _check_sums(emission: Array, names: Names, dead_ends: bool) -> None:
    total = emission.sum(axis=1)
    wrong = (np.abs(total - 1.0) > _TOLERANCE) & ~(dead_ends & (total == 0.0))
    if wrong.any():
        i = int(wrong.argmax())
        raise ValueError(
            f"The 'transitions' of state {names[i]!r} sum to {total[i]:.12g}; the probabilities leaving a "
            "state must sum to 1: check its rows."
        )


def normalised(values: Array, rounding: float) -> Array:
    """A read-only copy whose rows sum to 1, or to 0.

    Rows that do already, within rounding, stay bit for bit the same, so that saving and loading changes nothing.
    """
    rows = np.array(values, dtype=np.float64)
    total = rows.sum(axis=-1, keepdims=True)
    exact = (np.abs(total - 1.0) <= rounding) | (total <= 0.0)
    return read_only(np.where(exact, rows, rows / np.where(exact, 1.0, total)))


def checked_weights(weights: ArrayLike | None, n_states: int, parameter: str = "weights") -> Array | None:
    """The observed probabilities of the states, normalised, or None; or ValueError."""
    if weights is None:
        return None
    each = f"for each of the {n_states} states"
    rule = f"there must be one non-negative number {each}, not all zero: give the observed probability of each state."
    w = as_table(weights, parameter, rule, np.float64)
    if w.shape != (n_states,) or not (np.isfinite(w) & (w >= 0.0)).all() or not w.sum() > 0.0:
        raise ValueError(f"The {parameter!r} are {w.tolist() if w.size < 20 else w.shape}; {rule}")
    return normalised(w, 1e-12)


def checked_counts(counts: ArrayLike, emission: Array) -> Array:
    """Counts of the edges of a machine, or ValueError."""
    rule = "it must be numbers, n_states × n_symbols: give one row per state and one column per symbol."
    found = as_table(counts, "counts", rule, np.float64)
    if found.shape != emission.shape or not np.isfinite(found).all() or (found < 0).any():
        raise ValueError(
            f"The 'counts' have shape {found.shape}; they must be numbers of at least 0, one for each of "
            f"{emission.shape}: give one row per state and one column per symbol."
        )
    return read_only(found)


def checked_start(start: int, targets: Array, alphabet: Names) -> int:
    """The state in which whole strings begin, or ValueError."""
    state = integer(start, "start", 0, len(targets) - 1, remedy="give the number of a state")
    if alphabet[-1] != END:
        raise ValueError(
            f"The 'start' is {state} but the last symbol of the 'alphabet' is {alphabet[-1]!r}; whole strings end with "
            f"{END!r}: add it, with its probabilities."
        )
    ends = targets[:, -1]
    if (ends < 0).all() or not np.isin(ends, (-1, state)).all():
        raise ValueError(
            f"The symbol {END!r} leads to the states {np.unique(ends[ends >= 0]).tolist()}; it must lead to the "
            f"'start', {state}, where the next string begins: correct its rows."
        )
    return state
