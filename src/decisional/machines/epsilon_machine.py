"""Step 9 of the figure: the epsilon-machine, states with one successor for each symbol they may emit."""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterable, Sequence
from functools import cached_property
from html import escape
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..data.alphabet import END
from ..support import arguments
from ..support.arrays import read_only
from ..support.display import html_of
from ..support.files import read_json, write_json
from ..support.plurals import plural
from . import chains, checks, exchange, isomorphism, walks
from .levels import Levels
from .measures import Measures, state_names
from .posteriors import posterior
from .transition_graph import TransitionGraph

Array = NDArray[Any]
Names = tuple[Hashable, ...]

_JSON = "decisional.EpsilonMachine"
_ENDS = "The machine has 0 recurrent states out of {}; every path leads to a dead end: estimate it from longer data."


class EpsilonMachine(Measures):
    """States, and for each symbol a state may emit its probability and the single state it leads to.

    Parameters
    ----------
    transitions : iterable of rows
        Each a source, a symbol, a target and a probability. States and symbols are any hashables. States are numbered
        in order of first appearance as a source; rows of probability 0 are dropped; the probabilities that leave a
        state sum to 1.
    alphabet : iterable of symbols, optional
        The symbols in column order; by default those of the rows in the order of `observe.series`: sorted, or by
        type and text where they cannot be compared.
    start : name of a state, optional
        For a machine of whole strings: the state in which each of them begins. Its rows tell of the end of a string as
        of the symbol `END`, "<end>", which leads from any state to this one and is the last of the alphabet.

    Attributes
    ----------
    alphabet, names : tuples
        The symbols, in column order, and the names of the states.
    targets, emission : read-only arrays of shape (n_states, n_symbols)
        Number of the next state (-1 = none) and probability of each symbol.
    weights : array of shape (n_states,) or None
        Observed probabilities of the states of an estimated machine.
    counts : array of shape (n_states, n_symbols) or None
        How often an estimated machine was seen to use each edge, expected numbers where its state was not known, so
        that decisions on it know their sampling error; None for an exact machine. `n_observed` is their sum.
    smoothed : bool
        Whether an estimated machine foretells by the `posterior` of its counts, so that nothing is impossible, as that
        of `decisional.epsilon_machine` does.
    levels : Levels or None
        What the symbols look like in the signal that the machine was found in: `mean` and `spread` of their values.
        Such a machine follows, judges and emits values instead of symbols.
    start : int or None
        Number of the state in which whole strings begin. Such a machine follows and judges whole strings, of which
        it knows the beginning and the end, and simulates them.

    Examples
    --------
    >>> even = EpsilonMachine([("A", 0, "A", 0.5), ("A", 1, "B", 0.5), ("B", 1, "A", 1)])
    >>> even
    EpsilonMachine(2 states, 2 symbols, C = 0.9183 bits, h = 0.6667 bits/symbol)
    >>> even.filter("0111").tolist()
    [0, 1, 0, 1]
    """

    alphabet: Names
    targets: Array
    emission: Array
    weights: Array | None
    counts: Array | None = None
    smoothed: bool = False
    levels: Levels | None = None
    start: int | None = None
    END = END
    _networkx = "MultiDiGraph"

    def __init__(
        self,
        transitions: Iterable[Sequence[Any]],
        alphabet: Iterable[Hashable] | None = None,
        *,
        start: Hashable | None = None,
    ) -> None:
        targets, emission, symbols, names = checks.read_rows(transitions, alphabet)
        if start is not None and END in symbols:
            order = sorted(range(len(symbols)), key=lambda a: symbols[a] == END)
            targets, emission, symbols = targets[:, order], emission[:, order], tuple(symbols[a] for a in order)
        self._fill(targets, emission, symbols, names, None)
        if start is not None:
            vars(self)["start"] = checks.checked_start(self.names.index(self._name(start)), self.targets, symbols)

    def _fill(self, targets: Array, emission: Array, alphabet: Names, names: Names, weights: Array | None) -> None:
        """Keep copies of what is known to be right."""
        p = checks.normalised(emission, 1e-15)
        ends = read_only(np.where(p > 0.0, targets, -1).astype(np.int32))
        mass = None if weights is None else checks.normalised(weights, 1e-12)
        vars(self).update(targets=ends, emission=p, alphabet=alphabet, names=names, weights=mass)

    @classmethod
    def from_arrays(
        cls,
        targets: ArrayLike,
        emission: ArrayLike,
        alphabet: Iterable[Hashable],
        names: Iterable[Hashable] | None = None,
        weights: ArrayLike | None = None,
        counts: ArrayLike | None = None,
        start: int | None = None,
    ) -> EpsilonMachine:
        """Build a machine from its arrays, as estimated from data.

        Parameters
        ----------
        targets, emission : arrays of shape (n_states, n_symbols)
            A row of zeros in `emission` is a dead end, a transient state seen only at the end of the data.
        alphabet : n_symbols symbols, in column order
        names : n_states names, optional
            0, 1, ... by default.
        weights : array of shape (n_states,), optional
            Observed probabilities of the states.
        counts : array of shape (n_states, n_symbols), optional
            Uses of each edge that the probabilities were estimated from; by default they are exact.
        start : int, optional
            The state in which whole strings begin, and to which the last symbol, "<end>", leads.

        Returns
        -------
        EpsilonMachine
            States in the order of the rows.
        """
        arrays = checks.checked_arrays(targets, emission, alphabet, names)
        machine = cls.__new__(cls)
        machine._fill(*arrays, checks.checked_weights(weights, len(arrays[0])))
        vars(machine)["counts"] = None if counts is None else checks.checked_counts(counts, machine.emission)
        if start is not None:
            vars(machine)["start"] = checks.checked_start(start, machine.targets, machine.alphabet)
        return machine

    @cached_property
    def graph(self) -> TransitionGraph:
        """The transitions between states without their symbols."""
        i, a = np.nonzero(self.targets >= 0)
        ends = (i, self.targets[i, a])
        graph = TransitionGraph.from_counts(*ends, self.emission[i, a], self.n_states, names=self.names)
        vars(graph)["weight"] = self.weights
        return graph

    @cached_property
    def matrix(self) -> Array:
        """Probabilities from state to state, shape (n_states, n_states)."""
        matrix = np.zeros((self.n_states, self.n_states))
        source, symbol = np.nonzero(self.targets >= 0)
        np.add.at(matrix, (source, self.targets[source, symbol]), self.emission[source, symbol])
        return read_only(matrix)

    @property
    def _chain(self) -> chains.Chain:
        return chains.Chain.of_table(self.targets, self.emission)

    @property
    def _observed(self) -> Array | None:
        return self.weights

    def _select(self, members: Array) -> EpsilonMachine:
        """Return the machine of states closed under transitions, in the given order."""
        weights = None if self.weights is None or not self.weights[members].any() else self.weights[members]
        names = tuple(self.names[i] for i in members)
        targets = chains.renumbered(self.targets, members)
        counts = None if self.counts is None else self.counts[members]
        begins = np.flatnonzero(members == self.start) if self.start is not None else np.zeros(0, np.int64)
        known = self.levels, counts, self.smoothed, int(begins[0]) if begins.size else None
        return trusted_machine(targets, self.emission[members], self.alphabet, weights, names, *known)

    @property
    def n_observed(self) -> float | None:
        """Symbols that an estimated machine was estimated from, the sum of its `counts`; None for an exact one."""
        return None if self.counts is None else float(self.counts.sum())

    @property
    def posterior(self) -> Array:
        """P(symbol | state), shape (n_states, n_symbols): the emission, or none of them 0 where that is `smoothed`."""
        return self._foretold[0]

    @property
    def unseen(self) -> Array:
        """Probability in each state of a symbol that is not in the alphabet, shape (n_states,); 0 if not `smoothed`."""
        return self._foretold[1]

    @cached_property
    def _foretold(self) -> tuple[Array, Array]:
        if self.counts is None or not self.smoothed:
            return self.emission, read_only(np.zeros(self.n_states))
        known, new = posterior(self.counts)
        return read_only(known), read_only(new)

    def recurrent_part(self) -> EpsilonMachine:
        """Return the closed class of largest stationary mass, states by decreasing stationary probability."""
        classes = chains.closed_classes(self._chain)
        if not classes:
            raise ValueError(_ENDS.format(self.n_states))
        mass = np.array([self.stationary[members].sum() for members in classes])
        members = classes[int(np.flatnonzero(mass >= mass.max() - 1e-12)[0])]
        # Rounding makes ties of equal probabilities, which keep their order.
        return self._select(members[np.argsort(-np.round(self.stationary[members], 12), kind="stable")])

    def _process(self) -> tuple[EpsilonMachine, Array]:
        """The causal states of the process, without transient ones, and their stationary probabilities."""
        if not self.recurrent.any():
            raise ValueError(_ENDS.format(self.n_states))
        members = np.flatnonzero(self.recurrent)
        minimal, label = self._select(members)._merged(1e-9)
        return minimal, np.bincount(label, weights=self.stationary[members])

    def _merged(self, atol: float) -> tuple[EpsilonMachine, Array]:
        """Return the machine with states of equal futures merged, and the label of each state."""
        label = isomorphism.refine(self.targets, self.emission, atol)
        if label.max() + 1 == self.n_states:
            return self, label
        first = np.unique(label, return_index=True)[1]
        size = np.bincount(label)
        # Merged rows are equal up to atol; states that matter more weigh more in their mean.
        share = self.stationary + 1e-12
        share = share / np.bincount(label, weights=share)[label]
        emission = np.zeros((size.size, len(self.alphabet)))
        np.add.at(emission, label, share[:, None] * self.emission)
        emission[size == 1] = self.emission[first[size == 1]]
        targets = np.where(self.targets >= 0, label[self.targets], -1)[first]
        weights = None if self.weights is None else np.bincount(label, weights=self.weights)
        names = tuple(self.names[i] for i in first)
        counts = None
        if self.counts is not None:
            counts = np.zeros(emission.shape)
            np.add.at(counts, label, self.counts)
        known = self.levels, counts, self.smoothed, None if self.start is None else int(label[self.start])
        return trusted_machine(targets, emission, self.alphabet, weights, names, *known), label

    def minimise(self, atol: float = 1e-9) -> EpsilonMachine:
        """Merge the states that have the same future; merged states keep the name of the first one.

        Parameters
        ----------
        atol : float
            Probabilities that differ by no more than this are taken as equal.

        Returns
        -------
        EpsilonMachine
            With as few states as the same process needs.
        """
        arguments.real(atol, "atol", least=0, remedy="try atol=1e-9")
        return self._merged(atol)[0]

    def _name(self, start: Any) -> Hashable:
        """Return the name of a state, or raise ValueError."""
        if isinstance(start, Hashable) and start in self.names:
            return start
        raise ValueError(arguments.refusal("start", start, f"one of {arguments.shown(self.names)}", "give such a name"))

    def _state(self, start: Any) -> int | None:
        """Return the number of a state given by number or by name, by default that in which strings begin, if any."""
        if start is None:
            return self.start
        if arguments.is_integer(start):
            if 0 <= start < self.n_states:
                return int(start)
        elif isinstance(start, Hashable) and start in self.names:
            return self.names.index(start)
        rule = f"a state number from 0 to {self.n_states - 1} or a state name"
        raise ValueError(arguments.refusal("start", start, rule, "see 'names'"))

    def simulate(self, n: int, rng: Any = None, start: Any = None) -> Any:
        """Emit n symbols, or n whole strings.

        Parameters
        ----------
        n : int
            Number of symbols; of strings, where the machine has a `start`.
        rng : None, int, or numpy Generator
            Given to ``numpy.random.default_rng``; the same seed gives the same symbols.
        start : int or name, optional
            First state, drawn from the stationary distribution by default. An integer is a state number. Whole strings
            begin in their start, whatever is given.

        Returns
        -------
        array of shape (n,)
            uint8 if the alphabet is of integers 0..255, else its natural type. Cost: O(n), whatever the
            number of symbols and states; memory: the result and small chunks. Where the machine has a `start`, a list
            of n such arrays, each a whole string without its end.
        """
        if self.start is not None:
            return walks.simulate_strings(self, n, rng)
        return walks.simulate(self, n, rng, self._state(start))

    def filter(
        self,
        symbols: Any,
        start: Any = None,
        impossible: Literal["reset", "stay", "raise"] = "reset",
        unsynchronised: Literal["unknown", "likely"] = "unknown",
    ) -> Array:
        """Follow the states that symbols drive the machine through.

        Parameters
        ----------
        symbols : str, bytes, sequence or array
            One sequence. A symbol that is not in the alphabet stands for the one that prints the same. One that is
            missing (None, NaN or masked) may have been any, but the end of a string: what is believed of the state
            moves on. Values of the signal where the machine has `levels`: a state is known then where its probability
            is at least 0.97.
        start : int or name, optional
            State before the first symbol. By default it is that in which whole strings begin, if there is one, and
            else not known: the stationary distribution is conditioned on the symbols until a single state is left,
            or all others are less probable than 2**-50.
        impossible : {"reset", "stay", "raise"}
            For a symbol that no possible state emits: start again from the stationary distribution
            conditioned on it, ignore it, or raise ValueError.
        unsynchronised : {"unknown", "likely"}
            While several states are possible, give -1 or the most probable one (the first among equals).

        Returns
        -------
        int32 array of shape (n,)
            State number after each symbol; -1 also where an impossible symbol is one that no state emits.
        """
        return walks.drive(self, symbols, self._state(start), impossible, unsynchronised).states

    def predict_proba(
        self, symbols: Any, start: Any = None, impossible: Literal["reset", "stay", "raise"] = "reset"
    ) -> Array:
        """Return P(next symbol | symbols up to each position), shape (n, n_symbols).

        The `posterior` of the current state, which for an exact machine is its emission, or the mixture over possible
        states when it is not known; zeros in a dead end of an exact machine. Parameters are those of `filter`. The last
        column of a machine of whole strings is the end of the string; before the first symbol that machine foretells
        ``machine.posterior[machine.start]``.

        Returns
        -------
        array of float
            One row for each symbol that is given, columns as in `alphabet`.
        """
        return walks.drive(self, symbols, self._state(start), impossible, "unknown", mixing=True).mixture

    def log_likelihood(self, symbols: Any, start: Any = None) -> float:
        """Return the log-probability of one sequence in bits, -inf if an exact machine cannot emit it.

        Without `start` the first state is drawn from the stationary distribution. Missing symbols (None, NaN or masked)
        cost nothing: that they may have been any is in what is believed of the state. An estimated machine, which has
        `counts`, holds nothing impossible: after a symbol that it has not seen where it comes, what it believes of its
        state begins anew. Where the machine has a `start`, it is the probability of the whole string, with its end,
        which is not among the symbols given: over all strings they sum to 1. Cost: O(n), constant memory.
        """
        return walks.drive(self, symbols, self._state(start), "raise", "unknown", scoring=True).log2p

    def is_isomorphic(self, other: EpsilonMachine, atol: float = 1e-6) -> bool:
        """Tell whether two machines are the same up to the numbering and names of states.

        Symbols are compared as they print (0 and "0" are the same), edges exactly, probabilities within
        `atol`; transient states count, unused symbols do not.
        """
        arguments.require(
            other, "_columns", "other", "an EpsilonMachine", "compare two machines, such as causal.machine_"
        )
        arguments.real(atol, "atol", least=0, remedy="try atol=1e-9")
        mine, theirs = self._columns(), other._columns()
        if self.n_states != other.n_states or mine.keys() != theirs.keys():
            return False
        a, b = list(mine.values()), [theirs[symbol] for symbol in mine]
        return isomorphism.isomorphic(
            self.targets[:, a], self.emission[:, a], other.targets[:, b], other.emission[:, b], atol
        )

    def _columns(self) -> dict[str, int]:
        """Return the columns of the symbols in use, by the symbols as they print."""
        used = np.flatnonzero((self.targets >= 0).any(axis=0)).tolist()
        clash = len({str(self.alphabet[a]) for a in used}) < len(used)
        return {repr(self.alphabet[a]) if clash else str(self.alphabet[a]): a for a in used}

    def _edges(self) -> list[tuple[int, int, float, Hashable]]:
        used = np.argwhere(self.targets >= 0).tolist()
        return [(i, int(self.targets[i, a]), float(self.emission[i, a]), self.alphabet[a]) for i, a in used]

    def _dot_ends(self) -> list[str]:
        if self.start is None:
            return []
        end = "end [label=end, shape=doublecircle, width=0.6];"
        return ["  start [label=start, shape=plaintext];", f"  start -> {self.start};", f"  {end}"]

    def _dot_target(self, target: int, symbol: Sequence[Any]) -> str:
        return "end" if self.start is not None and symbol[0] == END else str(target)

    def transitions(self) -> list[tuple[Hashable, Hashable, Hashable, float]]:
        """Return the rows (source, symbol, target, probability) that make this machine."""
        return [(self.names[i], symbol, self.names[j], p) for i, j, p, symbol in self._edges()]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the machine as a JSON file, whole or not at all, without loss of precision.

        Symbols and names must be strings, integers, finite floats or booleans.
        """
        for parameter, values in (("alphabet", self.alphabet), ("names", self.names)):
            checks.check_storable(parameter, values)
        weights = None if self.weights is None else self.weights.tolist()
        content = {"format": _JSON, "version": 1, "alphabet": list(self.alphabet), "names": list(self.names)}
        arrays = {"targets": self.targets.tolist(), "emission": self.emission.tolist(), "weights": weights}
        more: dict[str, Any] = {} if self.levels is None else {"levels": self.levels.as_json()}
        more |= {} if self.counts is None else {"counts": self.counts.tolist(), "smoothed": self.smoothed}
        more |= {} if self.start is None else {"start": self.start}
        write_json(path, {**content, **arrays, **more})

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> EpsilonMachine:
        """Read a machine written by `save`; anything else is refused with a ValueError."""
        keys = ("targets", "emission", "alphabet", "names", "weights")
        content = read_json(path, _JSON, 1, keys)
        try:
            arrays = {key: content[key] for key in keys}
            arrays |= {key: content.get(key) for key in ("counts", "start")}
            machine = cls.from_arrays(**arrays)
            if machine.counts is None and content.get("n_observed") is not None:
                vars(machine)["counts"] = _shared_out(machine, content["n_observed"])
            # Earlier files have counts where machines were smoothed, and a number of symbols elsewhere.
            smoothed = content.get("smoothed", content.get("counts") is not None)
            vars(machine)["smoothed"] = arguments.flag(smoothed, "smoothed")
            if content.get("levels") is not None:
                vars(machine)["levels"] = Levels.from_json(content["levels"], len(machine.alphabet))
            return machine
        except (TypeError, ValueError) as error:
            raise ValueError(f"The file '{path}' is corrupt, save the machine again: {error}") from None

    def to_sofic(self) -> Any:
        """Return the recurrent part as a ``sofic.EpsilonMachine`` (extra ``decisional[bench]``).

        Returns
        -------
        sofic.EpsilonMachine
            With the names of states and symbols.
        """
        return exchange.to_sofic(self.recurrent_part())

    @classmethod
    def from_sofic(cls, other: Any) -> EpsilonMachine:
        """Return the machine of a ``sofic.EpsilonMachine``, with its names of states and its symbols."""
        return cls(exchange.rows_of_sofic(other))

    def to_hmmlearn(self) -> Any:
        """Return the recurrent part as an ``hmmlearn.hmm.CategoricalHMM`` (extra ``decisional[bench]``).

        Its hidden states are the edges, in the order of states and symbols, each of which emits its symbol; its symbols
        are the places in `alphabet`. Its ``score`` is `log_likelihood` in nats, from the stationary distribution.

        Returns
        -------
        hmmlearn.hmm.CategoricalHMM
            Which forecasts and samples as it is, without being fitted.
        """
        return exchange.to_hmmlearn(self.recurrent_part())

    def __repr__(self) -> str:
        size = f"{plural(self.n_states, 'state')}, {plural(len(self.alphabet), 'symbol')}"
        size += "" if self.start is None else f", whole strings from {self.names[self.start]}"
        rates = f"C = {self.statistical_complexity():.4g} bits, h = {self.entropy_rate():.4g} bits/symbol"
        return f"EpsilonMachine({size}, {rates})"

    def _repr_html_(self) -> str:
        try:
            return html_of("machine", self)
        except ImportError:
            rows = [("state", "symbol", "next", "p"), *((*row, f"{p:.4g}") for *row, p in self.transitions())]
            lines = [repr(self), *("  ".join(f"{cell!s:>8}" for cell in row) for row in rows)]
            return "<pre>" + escape("\n".join(lines)) + "</pre>"


def trusted_machine(
    targets: Array,
    emission: Array,
    alphabet: Names,
    weights: Array | None,
    names: Names | None = None,
    levels: Levels | None = None,
    counts: Array | None = None,
    smoothed: bool = False,
    start: int | None = None,
) -> EpsilonMachine:
    """The machine of arrays that the library made itself: as by `EpsilonMachine.from_arrays`, without its checks.

    The arrays have a row for each state and a column for each symbol, and are copied; names are A, B, ... by default.
    """
    machine = EpsilonMachine.__new__(EpsilonMachine)
    machine._fill(targets, emission, alphabet, state_names(len(targets)) if names is None else names, weights)
    own = None if counts is None else read_only(np.array(counts, np.float64))
    vars(machine).update(levels=levels, counts=own, smoothed=smoothed, start=start)
    return machine


def _shared_out(machine: EpsilonMachine, n: Any) -> Array:
    """The uses of edges of a machine of which only the number of symbols is known."""
    n = arguments.real(n, "n_observed", above=0, remedy="give the number of symbols")
    share = machine.stationary if machine.weights is None else machine.weights
    return read_only(n * share[:, None] * machine.emission)
