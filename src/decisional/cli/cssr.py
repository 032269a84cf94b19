"""decisional cssr: the command line and the result files of CSSR, by Klinkner and Shalizi."""

from __future__ import annotations

import argparse
import os
from typing import Any

from .outputs import announce, check_folder, check_path, check_paths
from .parser import LEVEL, add_command, integer
from .symbols import machine_writers

__all__ = ["add"]

EPILOG = """\
ALPHABET is a file with all symbols, one character each. The results are those of `decisional.baselines.cssr`, in CSSR's
files: DATA_results, DATA_inf.dot, DATA_info and DATA_state_series.

example:
  decisional cssr alphabet.txt even.txt 5 -s 0.001
"""
# Cells of histories × states that are followed at once.
BLOCK = 1 << 20


def add(commands: Any) -> None:
    """Add the command to the parser."""
    about = "Reconstruct the states of a file by CSSR, with the options and the result files of that program."
    command = add_command(commands, "cssr", run, "as CSSR, with the same result files", about, EPILOG)
    command.add_argument("alphabet", metavar="ALPHABET", help="file with the symbols, one character each")
    command.add_argument("data", metavar="DATA", help="file with the data")
    command.add_argument("length", metavar="L", type=integer(1), help="length of the longest histories")
    command.add_argument("-m", dest="multi", action="store_true", help="each line of DATA is a series of its own")
    command.add_argument("-s", dest="alpha", type=LEVEL, default=0.001, metavar="ALPHA", help="level (default: 0.001)")
    command.add_argument("-ch", dest="chi", action="store_true", help="chi-square instead of Kolmogorov-Smirnov")
    command.add_argument("--out", metavar="DIR", help="folder for the result files (default: that of DATA)")
    command.add_argument("--json", metavar="FILE", help="save the machine: .json, for decide and watch")
    command.add_argument("--quiet", action="store_true", help="print no summary")


def run(arguments: argparse.Namespace) -> int:
    """Reconstruct, and write the four files."""
    import numpy as np

    from ..support import files as io

    base = arguments.data
    if base == "-":
        raise ValueError("The DATA '-' gives no name to the result files: give the path of a file.")
    if arguments.out is not None:
        check_folder(arguments.out)
        base = os.path.join(arguments.out, os.path.basename(arguments.data))
    else:
        check_path(f"{base}_results", "DATA")
    check_paths(arguments, "json")
    alphabet = "".join(_parts(io.read_text(arguments.alphabet), together=True))
    if not alphabet or len(set(alphabet)) < len(alphabet):
        raise ValueError(
            f"The alphabet {arguments.alphabet!r} must have each symbol once. Got {_shortened(alphabet)} instead."
        )
    lines = _parts(io.read_text(arguments.data), together=not arguments.multi)
    code = {symbol: place for place, symbol in enumerate(alphabet)}
    strange = next((symbol for line in lines for symbol in line if symbol not in code), None)
    if strange is not None:
        raise ValueError(
            f"The data {arguments.data!r} have the symbol {strange!r}, which is not in the alphabet "
            f"{_shortened(alphabet)}: add it."
        )
    longest = max(map(len, lines), default=0)
    if arguments.length >= longest:
        raise ValueError(
            f"The L is {arguments.length} and the longest series of {arguments.data!r} has {longest} symbols: L must "
            "be smaller."
        )
    # Symbols as numbers keep the order of the alphabet, on which the Kolmogorov-Smirnov test depends.
    data = [np.array([code[symbol] for symbol in line], np.int64) for line in lines]
    result = Result(arguments, alphabet, data)
    texts = {"results": result.states(), "inf.dot": result.dot(), "info": result.info()}
    texts["state_series"] = result.series()
    if arguments.out is not None:
        os.makedirs(arguments.out, exist_ok=True)
    for suffix, text in texts.items():
        io.write_text(f"{base}_{suffix}", text)
    written = [f"{base}_{suffix}" for suffix in texts]
    if arguments.json is not None:
        machine_writers(result.named())["json"](arguments.json)
        written.append(arguments.json)
    if not arguments.quiet:
        print(result.info(), end="")
        announce(written)
    return 0


def _shortened(text: str, most: int = 20) -> str:
    """A text in quotes, the first characters of a long one."""
    return repr(text if len(text) <= most else text[:most] + "...")


def _parts(text: str, together: bool) -> list[str]:
    """Lines without white space and commas, as one where they belong together."""
    lines = ["".join(line.replace(",", " ").split()) for line in text.split("\n")]
    return ["".join(lines)] if together else [line for line in lines if line]


class Result:
    """States of the data and what CSSR writes of them."""

    def __init__(self, arguments: argparse.Namespace, alphabet: str, data: list[Any]) -> None:
        import numpy as np

        from ..baselines import cssr_histories

        self.arguments, self.alphabet, self.data = arguments, alphabet, data
        how = arguments.length, arguments.alpha, "chi2" if arguments.chi else "ks"
        self.machine, self.histories = cssr_histories(data, *how, sequences=True)
        # Symbols of the alphabet that the data have not.
        shape = self.machine.n_states, len(alphabet)
        self.targets, self.emission = np.full(shape, -1), np.zeros(shape)
        columns = [int(str(letter)) for letter in self.machine.alphabet]
        self.targets[:, columns], self.emission[:, columns] = self.machine.targets, self.machine.emission
        self.again = False
        self.walks = [self._walk(line.tolist()) for line in data]
        count = np.bincount([state for walk in self.walks for state in walk if state >= 0], minlength=shape[0])
        weights = self.machine.weights if self.machine.weights is not None else self.machine.stationary
        self.probability = count / count.sum() if count.any() else weights

    def _walk(self, line: list[int]) -> list[int]:
        """State after each symbol, -1 until a history of a state was seen whole."""
        known = {history: state for state, part in enumerate(self.histories) for history in part}
        targets, length = self.targets.tolist(), self.arguments.length
        walk, state, since = [], -1, 0
        for place, symbol in enumerate(line):
            if state >= 0:
                state = targets[state][symbol]
                if state < 0:
                    self.again, since = True, place
            if state < 0:
                state = known.get(tuple(line[max(since, place + 1 - length) : place + 1]), -1)
            walk.append(state)
        return walk

    def named(self) -> Any:
        """The machine over the symbols of the alphabet."""
        machine = self.machine
        letters = [self.alphabet[int(str(letter))] for letter in machine.alphabet]
        return machine.from_arrays(machine.targets, machine.emission, letters, machine.names, machine.weights)

    def states(self) -> str:
        """_results: for each state its histories, distribution, transitions and probability."""
        blocks = []
        for state, histories in enumerate(self.histories):
            words = ["".join(self.alphabet[code] for code in history) for history in histories]  # type: ignore[index]
            chances = "".join(f"P({s}) = {p:g}\t" for s, p in zip(self.alphabet, self.emission[state], strict=True))
            ends = ["NULL" if end < 0 else str(end) for end in self.targets[state].tolist()]
            leads = "".join(f"T({s}) = {end}\t" for s, end in zip(self.alphabet, ends, strict=True))
            lines = [f"State number: {state}", *words, f"distribution: {chances}", f"transitions: {leads}"]
            blocks.append("\n".join([*lines, f"P(state): {self.probability[state]:g}", "", ""]))
        return "".join(blocks)

    def dot(self) -> str:
        """_inf.dot: the machine for Graphviz."""
        name = self.arguments.data
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

    def series(self) -> str:
        """_state_series: the state after each symbol, ? where it is not known."""
        return "\n".join("".join("?;" if state < 0 else f"{state};" for state in walk) for walk in self.walks)

    def info(self) -> str:
        """_info: the settings and the measures."""
        import numpy as np

        from ..machines.chains import entropy

        given = self.arguments
        divergence, rate, variation = self._distances()
        rows: list[tuple[str, Any]] = [
            ("Alphabet File", given.alphabet),
            ("Data File", given.data),
            ("History Length", given.length),
            ("Significance Level", f"{given.alpha:g}"),
            ("Multiline Mode", "true" if given.multi else "false"),
            ("Chi-squared test used", "true" if given.chi else "false"),
            ("Alphabet Size", len(self.alphabet)),
            ("Relative Entropy", f"{divergence:g}"),
            ("Relative Entropy Rate", f"{rate:g}"),
            ("Statistical Complexity", f"{float(entropy(self.probability)):g}"),
            ("Entropy Rate", f"{float(np.dot(self.probability, entropy(self.emission))):g}"),
            ("Variation", f"{variation:g}"),
            ("Number of Inferred States", self.machine.n_states),
        ]
        text = "".join(f"{name}: {value}\n" for name, value in rows)
        if self.again:
            text += "The states were lost along the data and had to be found again: try a longer history length.\n"
        return text

    def _distances(self) -> tuple[float, float, float]:
        """Relative entropy, its rate, and variation between the words of the data and those of the machine, in bits."""
        import numpy as np

        from .. import observe

        length = self.arguments.length
        obs = observe.series(self.data, past=length, sequences=True)
        table = obs.table()
        columns = np.array([int(str(letter)) for letter in obs.letters])
        words = columns[obs.words(np.arange(table.n_x))[:, ::-1]]
        size = sum(max(line.size - length + 1, 0) for line in self.data)
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

    def _chance(self, words: Any) -> Any:
        """Probability of each word, from the machine and the probabilities of its states."""
        import numpy as np

        found: list[Any] = []
        step = max(BLOCK // self.machine.n_states, 1)
        for begin in range(0, len(words), step):
            part = words[begin : begin + step]
            state = np.tile(np.arange(self.machine.n_states), (len(part), 1))
            p = np.tile(self.probability, (len(part), 1))
            for column in part.T:
                p = p * self.emission[state, column[:, None]]
                state = self.targets[state, column[:, None]]
                # Where there is no edge the probability is 0 already.
                state = np.maximum(state, 0)
            found.append(p.sum(axis=1))
        return np.concatenate(found)
