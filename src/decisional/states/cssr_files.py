"""CSSR's result files: what the program of Klinkner and Shalizi writes of the states that it finds."""

from __future__ import annotations

import os
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..data.series import series
from ..machines import EpsilonMachine
from ..machines.chains import entropy
from ..support.arrays import Floats, Ints
from ..support.files import write_text
from .cssr import cssr_histories

# Cells of histories × states that are followed at once.
BLOCK = 1 << 20


def cssr_result(
    lines: Sequence[str], past: int, alpha: float = 0.001, test: str = "ks", alphabet: str | None = None
) -> CssrResult:
    """The states of `cssr` with all that its program writes: along the data, and how far the machine is from them.

    Parameters
    ----------
    lines : series of characters
    past, alpha, test : as for `cssr`
    alphabet : all symbols, in the order on which the Kolmogorov-Smirnov test depends; by default those of the data,
        sorted

    Examples
    --------
    >>> found = cssr_result(["01" * 50], past=2)
    >>> found.machine.n_states, found.relative_entropy < 1e-3, found.state_series()[:8]
    (2, True, '0;1;0;1;')
    """
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
    return CssrResult(symbols, data, past, *cssr_histories(data, past, alpha, test, sequences=True))


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
        letters = [self.alphabet[code] for code in self._columns]
        return found.from_arrays(found.targets, found.emission, letters, found.names, found.weights)

    @property
    def _columns(self) -> list[int]:
        return [int(str(letter)) for letter in self.numbered.alphabet]

    @cached_property
    def targets(self) -> Ints:
        """(n_states, n_symbols) the next state for each symbol of the alphabet, -1 = none."""
        found: Ints = np.full((self.numbered.n_states, len(self.alphabet)), -1)
        found[:, self._columns] = self.numbered.targets
        return found

    @cached_property
    def emission(self) -> Floats:
        """(n_states, n_symbols) the probability of each symbol of the alphabet."""
        found: Floats = np.zeros((self.numbered.n_states, len(self.alphabet)))
        found[:, self._columns] = self.numbered.emission
        return found

    @cached_property
    def _followed(self) -> tuple[list[list[int]], bool]:
        walks = [self._walk(line.tolist()) for line in self.data]
        return [walk for walk, _ in walks], any(lost for _, lost in walks)

    @property
    def walks(self) -> list[list[int]]:
        """The state after each symbol of each series, -1 until a history of a state was seen whole."""
        return self._followed[0]

    @property
    def was_lost(self) -> bool:
        """Whether a symbol came that is impossible in its state, so that the state had to be found again."""
        return self._followed[1]

    def _walk(self, line: list[int]) -> tuple[list[int], bool]:
        known = {history: state for state, part in enumerate(self.histories) for history in part}
        targets = self.targets.tolist()
        walk, state, since, lost = [], -1, 0, False
        for place, symbol in enumerate(line):
            if state >= 0:
                state = targets[state][symbol]
                if state < 0:
                    lost, since = True, place
            if state < 0:
                state = known.get(tuple(line[max(since, place + 1 - self.past) : place + 1]), -1)
            walk.append(state)
        return walk, lost

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
        size = sum(max(line.size - self.past + 1, 0) for line in self.data)
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
        paths = {f"{os.fspath(base)}_{suffix}": text for suffix, text in texts.items()}
        for path, text in paths.items():
            write_text(path, text)
        return list(paths)
