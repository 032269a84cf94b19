"""Hidden states that emit a symbol on each step: where the epsilon-machine is not finite, its states are beliefs.

The causal states of such a process are what can be believed of the hidden ones: points of a simplex, often infinitely
many. An observer carries a belief and moves it with each symbol, by Bayes' rule.
"""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterable
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._kernels import hidden_paths
from ..data.alphabet import Alphabet, plain
from ..support import arguments, resources
from ..support.arrays import read_only
from ..support.files import read_json, write_json
from ..support.plurals import plural
from . import chains, checks
from .epsilon_machine import EpsilonMachine, trusted_machine
from .measures import state_names
from .mixed_states import closure, labelled
from .walks import MOST, coded, refuse_ends

Array = NDArray[Any]
Names = tuple[Hashable, ...]

_JSON = "decisional.BeliefMachine"
_CHUNK = 1 << 16
# Steps of a simulation before beliefs are looked at: they have forgotten how they began.
SETTLING = 1_000
# Blocks whose means tell the error of an average along a simulation.
BLOCKS = 100
# Beliefs of a finite machine at most, and the grids on which they are the same.
MOST_BELIEFS = 20_000
COARSEST, FINEST = 0.25, 2.0**-14


class Rate(NamedTuple):
    """A number, and its standard error."""

    value: float
    error: float


class BeliefMachine:
    """Hidden states that emit a symbol on each step, and may lead to several states with the same symbol.

    Parameters
    ----------
    steps : array of shape (n_symbols, n_states, n_states)
        P(symbol, next state | state): those of a state sum to 1.
    alphabet : n_symbols symbols, optional
        In the order of `steps`; 0, 1, ... by default.
    names : n_states names, optional
        A, B, ... by default.
    start : array of shape (n_states,), optional
        What is believed where a whole string begins; the last symbol is then the end of a string, which leads there.
        Probabilities, forecasts and simulations are those of whole strings.

    Attributes
    ----------
    steps, alphabet, names, start : as above; the arrays are read-only

    Examples
    --------
    A coin of two kinds, whose kind is never seen:

    >>> steps = [[[0.72, 0.08], [0.02, 0.18]], [[0.18, 0.02], [0.08, 0.72]]]
    >>> machine = BeliefMachine(steps)
    >>> machine
    BeliefMachine(2 hidden states, 2 symbols)
    >>> machine.filter("000").round(3).tolist()
    [[0.74, 0.26], [0.835, 0.165], [0.862, 0.138]]
    """

    steps: Array
    alphabet: Names
    names: Names
    start: Array | None

    def __init__(
        self,
        steps: ArrayLike,
        alphabet: Iterable[Hashable] | None = None,
        names: Iterable[Hashable] | None = None,
        start: ArrayLike | None = None,
    ) -> None:
        rule = "it must be numbers, n_symbols × n_states × n_states: give a square matrix for each symbol."
        given = arguments.as_table(steps, "steps", rule, np.float64)
        if given.ndim != 3 or given.shape[1] != given.shape[2] or 0 in given.shape:
            raise ValueError(f"The 'steps' have shape {given.shape}; {rule}")
        if not (np.isfinite(given) & (given >= 0.0)).all():
            wrong = given[~(np.isfinite(given) & (given >= 0.0))][0]
            raise ValueError(f"The 'steps' have {wrong}; a probability must be between 0 and 1: correct it.")
        total = given.sum(axis=(0, 2))
        if (np.abs(total - 1.0) > 1e-9).any():
            state = int(np.abs(total - 1.0).argmax())
            raise ValueError(
                f"The 'steps' of state {state} sum to {total[state]:.12g}; the probabilities that leave a state must "
                "sum to 1: divide them by their sum."
            )
        n_symbols, n_states = given.shape[:2]
        symbols = checks.checked_names(range(n_symbols) if alphabet is None else alphabet, "alphabet")
        labels = checks.checked_names(state_names(n_states) if names is None else names, "names")
        for parameter, found, n in (("alphabet", symbols, n_symbols), ("names", labels, n_states)):
            if len(found) != n:
                raise ValueError(f"The {parameter!r} are {len(found)}; 'steps' has {n} of them: give one for each.")
        found, begin = given / total[None, :, None], None
        if start is not None:
            begin = read_only(_checked_start(start, n_states))
            found[-1] = np.outer(found[-1].sum(axis=1), begin)
        vars(self).update(steps=read_only(found), alphabet=symbols, names=labels, start=begin)

    @classmethod
    def of(cls, machine: EpsilonMachine) -> BeliefMachine:
        """The same process as an epsilon-machine, whose recurrent states are the hidden ones."""
        arguments.require(
            machine, "recurrent_part", "machine", "an EpsilonMachine", "give one, such as ds.processes.even()"
        )
        part = machine.recurrent_part()
        return cls(labelled(part.targets, part.emission), part.alphabet, part.names)

    @property
    def n_states(self) -> int:
        return len(self.names)

    @cached_property
    def stationary(self) -> Array:
        """P(state) in the long run, which is believed when nothing is known, shape (n_states,)."""
        source, target = np.nonzero(self.matrix)
        chain = chains.Chain.of_edges(self.n_states, source, target, self.matrix[source, target])
        return read_only(chains.stationary(chain))

    @cached_property
    def matrix(self) -> Array:
        """P(next state | state), shape (n_states, n_states)."""
        return read_only(self.steps.sum(axis=0))

    @cached_property
    def emission(self) -> Array:
        """P(symbol | state), shape (n_states, n_symbols)."""
        return read_only(self.steps.sum(axis=2).T.copy())

    @cached_property
    def with_gaps(self) -> Array:
        """The steps of two more symbols: one that never comes, and one that may be any but the end of a string."""
        any_symbol = self.steps if self.start is None else self.steps[:-1]
        added = np.zeros((1, *self.steps.shape[1:])), any_symbol.sum(axis=0)[None]
        return read_only(np.concatenate([self.steps, *added]))

    @property
    def is_unifilar(self) -> bool:
        """Whether each symbol leads from a state to a single one, so that this is an `EpsilonMachine`."""
        return bool(((self.steps > 0.0).sum(axis=2) <= 1).all())

    def filter(self, symbols: Any) -> Array:
        """Return what is believed of the hidden state after each symbol, shape (n, n_states).

        One sequence, from the stationary distribution; whole strings begin with `start`. A symbol that is missing
        (None, NaN or masked) may have been any, but the end of a string. After a symbol that cannot come, such as one
        that is not in the alphabet, what is believed begins anew.
        """
        return self._along(symbols, self.home)[0]

    def predict_proba(self, symbols: Any) -> Array:
        """Return P(next symbol | symbols up to each position), shape (n, n_symbols)."""
        found: Array = self.filter(symbols) @ self.emission
        return found

    def log_likelihood(self, symbols: Any) -> float:
        """Return the log-probability of one sequence in bits, -inf if it cannot be. Cost: O(n n_states²).

        Missing symbols cost nothing, and those that are not in the alphabet are refused. Where there is a `start` it is
        the log-probability of the whole string, with its end.
        """
        symbols, n, code = coded(symbols, self.alphabet, self.start is not None)
        unknown = np.flatnonzero(code(0, n) == len(self.alphabet))
        if unknown.size:
            raise ValueError(
                f"The symbol {plain(symbols[unknown[0]])!r} at position {unknown[0]} of 'symbols' is not in the "
                f"alphabet {arguments.shown(self.alphabet)}; what it costs is not known: leave it out, or give None."
            )
        beliefs, chances = self._along(symbols, self.home)
        if self.start is not None:
            refuse_ends(code(0, n), self.alphabet)
            last = beliefs[-1] if len(beliefs) else self.start
            chances = np.append(chances, last @ self.emission[:, -1])
        return float(np.log2(chances).sum()) if (chances > 0.0).all() else -np.inf

    @property
    def home(self) -> Array:
        """What is believed before the first symbol, shape (n_states,)."""
        return self.stationary if self.start is None else self.start

    def _along(self, symbols: Any, begin: Array) -> tuple[Array, Array]:
        """Beliefs (n, n_states) after each symbol, and the probability of each given those before, 1 if missing."""
        _, n, code = coded(symbols, self.alphabet, self.start is not None)
        resources.require(8 * n * (self.n_states + 1), f"beliefs after {n:,} symbols", "follow fewer at a time")
        beliefs, chances = np.empty((n, self.n_states)), np.empty(n)
        home, belief, unknown = np.array(self.home), np.array(begin), len(self.alphabet)
        steps = np.array(self.with_gaps)
        for lo in range(0, n, _CHUNK):
            codes = np.asarray(code(lo, min(lo + _CHUNK, n)), np.int64)
            part = slice(lo, lo + codes.size)
            hidden_paths.follow(codes, steps, home, belief, 0, beliefs[part], chances[part])
            gone = codes > unknown
            chances[part][gone] = chances[part][gone] > 0.0
        return beliefs, chances

    def simulate(self, n: int, rng: Any = None) -> Any:
        """Emit n symbols, or a list of n whole strings where there is a `start`; the same seed gives the same ones.

        Cost: O(log n_states) for each symbol.

        Returns
        -------
        array, or list of lists
            The symbols, or the whole strings.
        """
        size = arguments.integer(n, "n", least=0, most=MOST, remedy="give the number of symbols")
        generator = arguments.generator(rng)
        if self.start is None:
            return self._emitted(size, generator, self._drawn(generator))[0]
        if self.stationary @ self.emission[:, -1] <= 0.0:
            raise ValueError("The strings of this machine never end; each must, to be whole: leave out 'start'.")
        found, rest, state = list[Array](), Alphabet(self.alphabet).array[:0], self._drawn(generator)
        while len(found) < size:
            symbols, state = self._emitted(_CHUNK, generator, state)
            rest = np.concatenate([rest, symbols])
            *whole, rest = np.split(rest, np.flatnonzero(rest == Alphabet(self.alphabet).array[-1]) + 1)
            found += [string[:-1] for string in whole]
        return found[:size]

    def _drawn(self, generator: np.random.Generator) -> int:
        """A state that a sequence may begin in."""
        found = int(np.searchsorted(np.cumsum(self.home), generator.random() * self.home.sum(), "right"))
        return min(found, self.n_states - 1)

    def _emitted(self, size: int, generator: np.random.Generator, state: int) -> tuple[Array, int]:
        """Symbols one after the other from a state, and the last one."""
        symbols = Alphabet(self.alphabet).array
        resources.require(size * symbols.itemsize, f"'n' = {size:,} symbols", "simulate fewer at a time")
        bounds = np.cumsum(self.steps.transpose(1, 0, 2).reshape(self.n_states, -1), axis=1)
        bounds /= bounds[:, -1:]
        result = np.empty(size, symbols.dtype)
        codes = np.empty(min(size, _CHUNK), np.int64)
        for lo in range(0, size, _CHUNK):
            m = min(_CHUNK, size - lo)
            state = hidden_paths.emit(generator.random(m), bounds, state, codes[:m])
            result[lo : lo + m] = symbols[codes[:m]]
        return result, state

    def beliefs(self, n: int = 10_000, rng: Any = None) -> Array:
        """Return beliefs that the process leads to, its causal states, as often as they come, shape (n, n_states)."""
        size = arguments.integer(n, "n", least=1, most=MOST, remedy="try n=10_000")
        generator = arguments.generator(rng)
        symbols, _ = self._emitted(size + SETTLING, generator, self._drawn(generator))
        return self._along(symbols, self.stationary)[0][SETTLING:]

    def entropy_rate(self, n: int = 1_000_000, rng: Any = 0) -> Rate:
        """Return h in bits per symbol, with its standard error: the mean entropy of the next symbol along n beliefs.

        Cost: O(n n_states²), in chunks.
        """
        size = arguments.integer(n, "n", least=BLOCKS, most=MOST, remedy="try n=1_000_000")
        generator = arguments.generator(rng)
        means = [
            float(np.mean(chains.entropy(self.beliefs(max(size // BLOCKS, 1), generator) @ self.emission)))
            for _ in range(BLOCKS)
        ]
        return Rate(float(np.mean(means)), float(np.std(means, ddof=1) / np.sqrt(BLOCKS)))

    def statistical_complexity(self, resolution: float = 0.01, n: int = 1_000_000, rng: Any = 0) -> float:
        """Return the entropy in bits of the beliefs, those that are the same up to `resolution` being one.

        Where the epsilon-machine is not finite this grows as the resolution gets finer: by its slope against
        -log2(resolution), the dimension of the set of causal states.
        """
        grid = arguments.real(resolution, "resolution", above=0, most=1, remedy="try resolution=0.01")
        cells = np.rint(self.beliefs(n, rng) / grid).astype(np.int64)
        count = np.unique(cells, axis=0, return_counts=True)[1]
        return float(chains.entropy(count / count.sum()))

    def epsilon_machine(self, loss: float = 1e-3) -> EpsilonMachine:
        """Return a finite epsilon-machine that loses at most `loss` bits per symbol: its states are cells of beliefs.

        Beliefs are rounded to coarse grids, then to finer ones, until their machine foretells so well. Cost: a walk of
        100,000 symbols and O(n_states² n_symbols) for each belief, of each grid.
        """
        most = arguments.real(loss, "loss", above=0, remedy="try loss=1e-3")
        generator = arguments.generator(0)
        symbols, _ = self._emitted(100_000, generator, self._drawn(generator))
        best = float(np.log2(self._along(symbols, self.stationary)[1]).sum())
        grid = COARSEST
        while grid >= FINEST:
            found = closure(self.stationary[None], self.steps, MOST_BELIEFS, grid=grid)
            if not found.complete:
                break
            finite = trusted_machine(found.targets, found.emission, self.alphabet, None).recurrent_part().minimise()
            if best - finite.log_likelihood(symbols) <= most * symbols.size:
                return finite
            grid /= 2.0
        raise ValueError(
            f"The 'loss' is {loss}; a machine of at most {MOST_BELIEFS:,} states loses more: allow more loss."
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the machine as a JSON file, whole or not at all, without loss of precision."""
        for parameter, values in (("alphabet", self.alphabet), ("names", self.names)):
            checks.check_storable(parameter, values)
        content = {"format": _JSON, "version": 1, "alphabet": list(self.alphabet), "names": list(self.names)}
        if self.start is not None:
            content["start"] = self.start.tolist()
        write_json(path, {**content, "steps": self.steps.tolist()})

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> BeliefMachine:
        """Read a machine written by `save`; anything else is refused with a ValueError."""
        content = read_json(path, _JSON, 1, ("steps", "alphabet", "names"))
        try:
            return cls(content["steps"], content["alphabet"], content["names"], content.get("start"))
        except (TypeError, ValueError) as error:
            raise ValueError(f"The file '{path}' is corrupt, save the machine again: {error}") from None

    def __repr__(self) -> str:
        whole = "" if self.start is None else ", whole strings"
        return f"BeliefMachine({plural(self.n_states, 'hidden state')}, {plural(len(self.alphabet), 'symbol')}{whole})"


def _checked_start(start: ArrayLike, n_states: int) -> Array:
    """A distribution over the states; ValueError for anything else."""
    rule = "it must be the probability of each state, which sum to 1: give one for each."
    given = arguments.as_table(start, "start", rule, np.float64)
    if given.shape != (n_states,) or not (given >= 0.0).all() or abs(given.sum() - 1.0) > 1e-9:
        raise ValueError(f"The 'start' is {arguments.shown(given.tolist())}; {rule}")
    found: Array = given / given.sum()
    return found
