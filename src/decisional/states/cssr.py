"""CSSR, causal-state splitting reconstruction, of Shalizi and Shalizi (2004), and the files that its program writes.

Written from the article ("Blind construction of optimal nonlinear recursive predictors for discrete
sequences", UAI 2004), with the choices it leaves open made as in the authors' program, version 0.1, where
they make sense; `cssr` lists where they differ.
"""

import os
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._kernels import splitting as kernels
from ..data import sequences as reading
from ..data.series import series, windows
from ..data.tally import Table
from ..machines import EpsilonMachine, chains
from ..machines.chains import entropy
from ..machines.epsilon_machine import trusted_machine
from ..support.arguments import choice, integer, real, refusal
from ..support.arrays import Bools, Floats, Ints
from ..support.files import checked_path, write_text

TESTS = ("ks", "chi2")
# Closed classes with a smaller share of the windows are where the data happen to end, not where the process stays.
LEAST = 0.05
# Cells of histories × states that are followed at once.
BLOCK = 1 << 20


def cssr(
    symbols: Any,
    past: int,
    alpha: float = 0.001,
    test: str = "ks",
    *,
    missing: Hashable = None,
    sequences: bool | None = None,
) -> EpsilonMachine:
    """Reconstruct an epsilon-machine by splitting the states of longer and longer histories.

    All histories start in one state. By increasing length, each is tested against the state of its parent, the
    history without its oldest symbol: it stays there, or joins the state that matches it best, or opens a new
    one. Transient states are then removed, and states are split until each symbol leads to a single state.

    Parameters
    ----------
    symbols : str, bytes, list of hashables, integer array, or a list of several sequences
        As for `decisional.observe.series`.
    past : int
        Length L of the longest histories, at least 1. There must be data for all of them: with 2^(L h) above
        about N alpha, h being the entropy rate, spurious states appear by the hundred.
    alpha : float
        Significance level of each test, in (0, 1).
    test : {"ks", "chi2"}
        Two-sample test of next-symbol counts: Kolmogorov-Smirnov over the symbols in the order in which they first
        appear, with the asymptotic p-value for continuous samples, or Pearson's chi-square.
    missing, sequences
        As for `decisional.observe.series`.

    Returns
    -------
    EpsilonMachine
        The recurrent states (closed classes, once states that lead nowhere but to the end of the data are
        left aside), by decreasing probability, named A, B, ...; `weights` are the shares of the windows in
        them. If they hold less than 5 % of the windows (histories so long that few are seen twice), all the
        states that are left, transient ones and dead ends included.

    Notes
    -----
    As in the program, a history that opens a state takes its ancestors out of theirs, and only histories of
    `past` and `past` - 1 symbols count for transitions, the longer ones only in states without shorter ones.
    A symbol whose target was removed as transient is dropped, and the others scaled to 1.

    Histories of one length are visited in the order in which symbols first appear, by the last symbol first, then by
    the one before it, and so on, so that the names of symbols change nothing; the program has an order of its own. As
    the counts of a state grow with each history that joins it, that order, and with Kolmogorov and Smirnov's test the
    order of the symbols too, can decide where a history goes: in the order of the alphabet (`cssr_result`) the
    histories were the same in 320 of 372 runs of both.

    Unlike the program: a rejected history joins the best match, not the first (as in the article); transient
    states are those outside closed classes, not those without a parent; where a window's successor is not
    known, it stays with the majority of its state when this is split, not with the first window; emissions
    count each window once; an edge of probability 0 is none; chi-square has one degree of freedom less than
    symbols, not as many. The program ends with an error where the number of symbols is 8 modulo 16, a buffer of its
    reader being one byte short, whatever their number otherwise.

    Cost: one pass over the symbols, then O(H (S + L)) for H distinct histories and S states.

    References
    ----------
    C. R. Shalizi and K. L. Shalizi, Blind construction of optimal nonlinear recursive predictors for discrete
    sequences, in Uncertainty in Artificial Intelligence 20 (2004), pp. 504-511.

    Examples
    --------
    >>> from decisional import processes
    >>> cssr(processes.golden_mean().simulate(10_000, rng=0), past=4).n_states
    2
    """
    return cssr_histories(symbols, past, alpha, test, missing=missing, sequences=sequences)[0]


def cssr_histories(
    symbols: Any,
    past: int,
    alpha: float = 0.001,
    test: str = "ks",
    *,
    missing: Hashable = None,
    sequences: bool | None = None,
) -> tuple[EpsilonMachine, list[list[tuple[Hashable, ...]]]]:
    """The machine of `cssr`, and the histories in each of its states.

    Parameters are those of `cssr`.

    Returns
    -------
    EpsilonMachine
    list of lists of tuples
        For each state its histories of `past` - 1 symbols, then those of `past` symbols, the oldest symbol first.

    Examples
    --------
    >>> machine, histories = cssr_histories("01" * 50, past=2)
    >>> histories
    [[('0',), ('1', '0')], [('1',), ('0', '1')]]
    """
    past, alpha, how = _checked(past, alpha, test)
    source = reading.read(symbols, missing, sequences)
    return _found(source, source.appearance, past, alpha, how)


def _checked(past: Any, alpha: Any, test: Any) -> tuple[int, float, int]:
    past = integer(past, "past", of="cssr")
    alpha = real(alpha, "alpha", above=0, below=1, remedy="try alpha=0.001", of="cssr")
    choice(test, "test", TESTS, of="cssr")
    return past, alpha, TESTS.index(test)


def _found(
    source: reading.Symbols, place: Ints, past: int, alpha: float, test: int
) -> tuple[EpsilonMachine, list[list[tuple[Hashable, ...]]]]:
    """The machine and its histories; place (n_letters,) is the order in which symbols are visited."""
    observed = windows(replace(source, lut=np.append(place, -1)[source.lut]), past, 1)
    histories = _Histories(observed.table(), past, len(source.letters), alpha, test)
    histories.keep_recurrent()
    histories.determinise()
    histories.keep_recurrent()
    machine, number = histories.machine(source.letters, place)
    words = np.argsort(place)[observed.words(np.arange(histories.table.n_x))[:, ::-1]]
    return machine, histories.listed(number, words, source.letters)


class _Histories:
    """Histories of past - 1 symbols (m of them), then those of past symbols: the rows of the table.

    Attributes
    ----------
    label : (m + n_x,) state of each, -1 = removed; at first states that each have one next-symbol distribution
    word : (m + n_x,) number of its ending of past - 1 symbols
    weight : (m + n_x,) how often it was seen
    target : (m, n_symbols) the history that follows an ending on a symbol, -1 = none
    table : what followed the rows
    """

    def __init__(self, table: Table, past: int, n_symbols: int, alpha: float, test: int) -> None:
        new = table.shared < past - 1
        ending = np.cumsum(new) - int(new[0])
        self.table, self.m = table, int(ending[-1]) + 1
        self.label: Ints = np.empty(self.m + table.n_x, np.int64)
        seen = table.start, table.outcome, table.count, table.shared
        kernels.homogenise(*seen, past, n_symbols, alpha, test, self.label[self.m :], self.label[: self.m])
        if past == 1:
            # The empty history leads nowhere in particular.
            self.label[0] = -1
        # The successor of a window is that of its last past - 1 symbols: all windows with these share it.
        self.target = np.full((self.m, n_symbols), -1, np.int32)
        assert table.steps is not None
        self.target[ending[table.steps.source], table.steps.symbol] = self.m + table.steps.target
        self.weight = np.append(np.bincount(ending, weights=table.weight).astype(np.int64), table.weight)
        self.word = np.append(np.arange(self.m), ending)

    def keep_recurrent(self) -> None:
        """Keep the states in closed classes of the graph of states, as their histories lead from one to another."""
        label, m = self.label, self.m
        states = np.unique(label[label >= 0])
        if states.size > 1:
            # Windows forget their oldest symbol at each step, so that an unsynchronised one can follow a synchronised
            # one: only the shorter histories, which keep all their symbols, tell where a state leads.
            has_short = np.zeros(int(states[-1]) + 2, bool)
            has_short[label[:m]] = True
            leads = label >= 0
            leads[m:] &= ~has_short[label[m:]]
            source, _, target = self._edges(leads)
            mass = np.bincount(label[label >= 0], weights=self.weight[label >= 0]).astype(float)
            states = _closed(source, target, states, mass)
        number = np.full(int(label.max()) + 2, -1, np.int64)
        number[states] = np.arange(states.size)
        self.label = number[label]

    def determinise(self) -> None:
        """Split the states by their successors."""
        kernels.determinise(self.label, self.word, self.target, self.weight, int(self.label.max()) + 1)

    def _edges(self, chosen: Bools) -> tuple[Ints, Ints, Ints]:
        """State, symbol and next state of each step from the chosen histories."""
        item = np.flatnonzero(chosen)
        row, symbol = np.nonzero(self.target[self.word[item]] >= 0)
        target = self.label[self.target[self.word[item[row]], symbol]]
        known = target >= 0
        return self.label[item[row[known]]], symbol[known], target[known]

    def _counts(self, n_states: int, n_symbols: int) -> tuple[Floats, Floats]:
        """Next-symbol counts of the windows in each state, of the shorter histories where it has no window; and
        how many windows each state has."""
        table = self.table
        row = np.repeat(np.arange(table.n_x), np.diff(table.start))

        def tally(state: Ints) -> Floats:
            seen = state >= 0
            key = state[seen] * n_symbols + table.outcome[seen]
            counts = np.bincount(key, weights=table.count[seen], minlength=n_states * n_symbols)
            return counts.astype(float).reshape(n_states, n_symbols)

        counts = tally(self.label[self.m :][row])
        mass = counts.sum(axis=1)
        if not mass.all():
            counts[mass == 0.0] = tally(self.label[self.word[self.m :]][row])[mass == 0.0]
        return counts, mass

    def machine(self, letters: tuple[Hashable, ...], place: Ints) -> tuple[EpsilonMachine, Ints]:
        """The machine of states that are unifilar, its closed classes alone if there are any; and the number in it of
        each state, -1 = left out. place (n_letters,) is the number here of each letter."""
        n = int(self.label.max()) + 1
        targets = np.full((n, len(letters)), -1, np.int64)
        source, symbol, target = self._edges(self.label >= 0)
        targets[source, symbol] = target
        counts, mass = self._counts(n, len(letters))
        counts[targets < 0] = 0.0
        source, symbol = np.nonzero(counts)
        kept = _closed(source, targets[source, symbol], np.arange(n), mass)
        kept = kept[np.argsort(-mass[kept], kind="stable")]
        number = np.full(n + 1, -1, np.int64)
        number[kept] = np.arange(kept.size)
        targets, counts, mass = number[targets[kept]][:, place], counts[kept][:, place], mass[kept]
        counts[targets < 0] = 0.0
        emission = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1.0)
        if not mass.any():
            return trusted_machine(targets, emission, letters, None), number
        return trusted_machine(targets, emission, letters, mass, counts=mass[:, None] * emission), number

    def listed(self, number: Ints, words: Ints, letters: tuple[Hashable, ...]) -> list[list[tuple[Hashable, ...]]]:
        """The histories of each state as symbols, shorter ones first, each length in the order of the alphabet."""
        first = np.unique(self.word[self.m :], return_index=True)[1]
        whole = [*map(tuple, words[first, 1:].tolist()), *map(tuple, words.tolist())]
        found: list[list[tuple[int, ...]]] = [[] for _ in range(int(number.max(initial=-1)) + 1)]
        for state, word in zip(number[self.label].tolist(), whole, strict=True):
            if state >= 0:
                found[state].append(word)
        ordered = (sorted(state, key=lambda word: (len(word), word)) for state in found)
        return [[tuple(letters[code] for code in word) for word in state] for state in ordered]


def _closed(source: Ints, target: Ints, states: Ints, mass: Floats) -> Ints:
    """States in closed classes, dead ends left aside; all the states if these classes have next to no mass."""
    # The last windows of the data may lead nowhere: otherwise every state that leads to them would be transient.
    chain = chains.Chain.of_edges(int(states[-1]) + 1, source, target, np.ones(source.size))
    classes = chains.closed_classes(chain, aside=True)
    closed: Ints = np.sort(np.concatenate(classes)) if classes else states[:0]
    return closed if mass[closed].sum() >= LEAST * mass.sum() else states


def cssr_result(
    lines: Sequence[str], past: int, alpha: float = 0.001, test: str = "ks", alphabet: str | None = None
) -> "CssrResult":
    """The states of `cssr` with all that its program writes: along the data, and how far the machine is from them.

    Parameters
    ----------
    lines : series of characters
    past, alpha, test : as for `cssr`
    alphabet : all symbols, in the order on which the Kolmogorov-Smirnov test depends; by default those of the data,
        sorted

    Returns
    -------
    CssrResult
        The machine, the states along the data, and the files.

    Examples
    --------
    >>> found = cssr_result(["01" * 50], past=2)
    >>> found.machine.n_states, found.relative_entropy < 1e-3, found.state_series()[:8]
    (2, True, '0;1;0;1;')
    """
    if isinstance(lines, str) or not isinstance(lines, Sequence) or not all(isinstance(line, str) for line in lines):
        raise TypeError(refusal("lines", lines, "a list of strings, one for each series", "try lines=[text]"))
    if not isinstance(alphabet, str | None):
        raise TypeError(refusal("alphabet", alphabet, "a string of all symbols, or None", "leave it out"))
    symbols = "".join(sorted(set().union(*lines))) if alphabet is None else alphabet
    code = {symbol: place for place, symbol in enumerate(symbols)}
    if not symbols or len(code) < len(symbols):
        raise ValueError(f"The 'alphabet' must have each symbol once. Got {_shortened(symbols)} instead.")
    strange = next((symbol for line in lines for symbol in line if symbol not in code), None)
    if strange is not None:
        raise ValueError(
            f"The 'lines' have the symbol {strange!r}, which is not in the alphabet {_shortened(symbols)}: add it."
        )
    # Symbols as numbers keep the order of the alphabet.
    data: list[Ints] = [np.array([code[symbol] for symbol in line], np.int64) for line in lines]
    past, alpha, how = _checked(past, alpha, test)
    source = reading.read(data, None, True)
    return CssrResult(symbols, data, past, *_found(source, np.arange(len(source.letters)), past, alpha, how))


def _shortened(text: str, most: int = 20) -> str:
    """A text in quotes, the first characters of a long one."""
    return repr(text if len(text) <= most else text[:most] + "...")


@dataclass(frozen=True)
class CssrResult:
    """States that CSSR found in data.

    Attributes
    ----------
    alphabet : the symbols
    data : the series, as numbers of symbols
    past : length of the longest histories
    numbered : the machine over the numbers of the symbols
    histories : of each state
    """

    alphabet: str
    data: list[Ints]
    past: int
    numbered: EpsilonMachine
    histories: list[list[tuple[Hashable, ...]]]

    @cached_property
    def machine(self) -> EpsilonMachine:
        """The machine over the symbols."""
        found = self.numbered
        letters = [self.alphabet[int(str(code))] for code in found.alphabet]
        return found.from_arrays(found.targets, found.emission, letters, found.names, found.weights, found.counts)

    @cached_property
    def targets(self) -> Ints:
        """(n_states, n_symbols) the next state for each symbol of the alphabet, -1 = none."""
        return self._over_alphabet(self.numbered.targets, -1)

    @cached_property
    def emission(self) -> Floats:
        """(n_states, n_symbols) the probability of each symbol of the alphabet."""
        return self._over_alphabet(self.numbered.emission, 0.0)

    def _over_alphabet(self, values: NDArray[Any], missing: float) -> NDArray[Any]:
        found = np.full((len(values), len(self.alphabet)), missing)
        found[:, [int(str(code)) for code in self.numbered.alphabet]] = values
        return found

    @cached_property
    def _followed(self) -> tuple[list[list[int]], bool]:
        known = {history: state for state, part in enumerate(self.histories) for history in part}
        targets = self.targets.tolist()
        walks: list[list[int]] = []
        lost = False
        for line in map(np.ndarray.tolist, self.data):
            state, since = -1, 0
            walks.append([])
            for place, symbol in enumerate(line):
                if state >= 0:
                    state = targets[state][symbol]
                    if state < 0:
                        lost, since = True, place
                if state < 0:
                    state = known.get(tuple(line[max(since, place + 1 - self.past) : place + 1]), -1)
                walks[-1].append(state)
        return walks, lost

    @property
    def walks(self) -> list[list[int]]:
        """The state after each symbol of each series, -1 until a history of a state was seen whole."""
        return self._followed[0]

    @property
    def was_lost(self) -> bool:
        """Whether a symbol came that is impossible in its state, so that the state had to be found again."""
        return self._followed[1]

    @cached_property
    def probability(self) -> Floats:
        """(n_states,) how often each state was met along the data."""
        met = [state for walk in self.walks for state in walk if state >= 0]
        count = np.bincount(met, minlength=self.numbered.n_states)
        weights = self.numbered.weights if self.numbered.weights is not None else self.numbered.stationary
        found: Floats = count / count.sum() if count.any() else weights
        return found

    @cached_property
    def _distances(self) -> tuple[float, float, float]:
        obs = series(self.data, past=self.past, sequences=True)
        table = obs.table()
        columns = np.array([int(str(letter)) for letter in obs.letters])
        words = columns[obs.words(np.arange(table.n_x))[:, ::-1]]
        # The last window of each series, which nothing follows, is not in the table.
        size = table.weight.sum()
        seen, given = table.weight / size, self._chance(words)
        with np.errstate(divide="ignore", invalid="ignore"):
            divergence = max(float((seen * (np.log2(seen) - np.log2(given))).sum()), 0.0)
            # The last symbol of each word, given the others.
            first, group = np.unique(words[:, :-1], axis=0, return_inverse=True)
            total = np.bincount(group.ravel(), weights=table.weight)
            ratio = given / self._chance(first)[group.ravel()]
            share = table.weight / total[group.ravel()]
            terms = np.bincount(group.ravel(), weights=share * (np.log2(share) - np.log2(ratio)))
            rate = float((np.maximum(terms, 0.0) * total / size).sum())
        return divergence, rate, float(np.abs(seen - given).sum())

    @property
    def relative_entropy(self) -> float:
        """Of the words of `past` symbols in the data with respect to those of the machine, in bits."""
        return self._distances[0]

    @property
    def relative_entropy_rate(self) -> float:
        """Of the last symbol of these words given the others, in bits."""
        return self._distances[1]

    @property
    def variation(self) -> float:
        """Sum of the differences between the probabilities of these words in the data and from the machine."""
        return self._distances[2]

    def _chance(self, words: Ints) -> Floats:
        """Probability of each word, from the machine and the probabilities of its states."""
        found: list[Floats] = []
        states = self.numbered.n_states
        step = max(BLOCK // states, 1)
        for begin in range(0, len(words), step):
            part = words[begin : begin + step]
            state = np.tile(np.arange(states), (len(part), 1))
            p = np.tile(self.probability, (len(part), 1))
            for column in part.T:
                p = p * self.emission[state, column[:, None]]
                # Where there is no edge the probability is 0 already.
                state = np.maximum(self.targets[state, column[:, None]], 0)
            found.append(p.sum(axis=1))
        return np.concatenate(found)

    def results(self) -> str:
        """The file "_results": for each state its histories, distribution, transitions and probability."""
        blocks = []
        for state, histories in enumerate(self.histories):
            words = ["".join(self.alphabet[int(str(code))] for code in history) for history in histories]
            chances = "".join(f"P({s}) = {p:g}\t" for s, p in zip(self.alphabet, self.emission[state], strict=True))
            ends = ["NULL" if end < 0 else str(end) for end in self.targets[state].tolist()]
            leads = "".join(f"T({s}) = {end}\t" for s, end in zip(self.alphabet, ends, strict=True))
            lines = [f"State number: {state}", *words, f"distribution: {chances}", f"transitions: {leads}"]
            blocks.append("\n".join([*lines, f"P(state): {self.probability[state]:g}", "", ""]))
        return "".join(blocks)

    def dot(self, name: str) -> str:
        """The file "_inf.dot": the machine for Graphviz."""
        # A name that is no identifier needs quotes to be read.
        if not isinstance(name, str):
            raise TypeError(refusal("name", name, "a string", "try name='cssr'"))
        name = name if name.isidentifier() else '"' + name.replace('"', '\\"') + '"'
        lines = [f"digraph {name} {{", 'size = "6,8.5";', 'ratio = "fill";', "node [shape = circle];"]
        lines += ["node [fontsize = 24];", "edge [fontsize = 24];"]
        for state, ends in enumerate(self.targets.tolist()):
            for column, end in enumerate(ends):
                if end >= 0:
                    label = f"{self.alphabet[column]}: {self.emission[state, column]:<7.4g}  "
                    lines.append(f'{state} -> {end} [label = "{label}"];')
        return "\n".join([*lines, "}"])

    def state_series(self) -> str:
        """The file "_state_series": the state after each symbol, ? where it is not known."""
        return "\n".join("".join("?;" if state < 0 else f"{state};" for state in walk) for walk in self.walks)

    def info(self, settings: Mapping[str, Any]) -> str:
        """The file "_info": the settings, which are those of the call, and the measures."""
        if not isinstance(settings, Mapping):
            raise TypeError(refusal("settings", settings, "a dict of names and values", "try settings={}"))
        rows: dict[str, Any] = {
            **settings,
            "Alphabet Size": len(self.alphabet),
            "Relative Entropy": f"{self.relative_entropy:g}",
            "Relative Entropy Rate": f"{self.relative_entropy_rate:g}",
            "Statistical Complexity": f"{float(entropy(self.probability)):g}",
            "Entropy Rate": f"{float(np.dot(self.probability, entropy(self.emission))):g}",
            "Variation": f"{self.variation:g}",
            "Number of Inferred States": self.numbered.n_states,
        }
        text = "".join(f"{name}: {value}\n" for name, value in rows.items())
        if self.was_lost:
            text += "The states were lost along the data and had to be found again: try a longer history length.\n"
        return text

    def write(self, base: str | os.PathLike[str], settings: Mapping[str, Any], name: str = "cssr") -> list[str]:
        """Write the four files, each to `base` with its ending; return their paths."""
        texts = {"results": self.results(), "inf.dot": self.dot(name), "info": self.info(settings)}
        texts["state_series"] = self.state_series()
        paths = {f"{checked_path(base)}_{suffix}": text for suffix, text in texts.items()}
        for path, text in paths.items():
            write_text(path, text)
        return list(paths)
