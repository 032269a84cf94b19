"""CPU seconds of `ds.epsilon_machine` on inputs that are hard on it: no structure, too much of it, or none that ends.

Prints a table and, when all of it was run, writes it to benchmarks/hard_inputs.md. `--size 100000` shortens all of
them, `--only text` runs those whose name has the word, `--known` asks how long known processes take.
"""

import argparse
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from structures import lagged, many_letters, markov, noisy_period, of_machine, permutation

import decisional as ds
from decisional.states import machine_selection as selection

FIRST = 50000
MISSING = -9


def independent(seed: int, n: int, letters: int) -> Any:
    return np.random.default_rng([31, letters, seed]).integers(0, letters, n)


def text(seed: int, n: int) -> str:
    """The documentation of this project, again and again."""
    pages = sorted((Path(__file__).parent.parent / "docs").rglob("*.md"))
    words = "".join(page.read_text() for page in pages)
    return (words * (n // len(words) + 1))[:n]


def dna(seed: int, n: int) -> Any:
    """Four letters with weak memory, and copies of earlier stretches with mutations."""
    rng = np.random.default_rng([32, seed])
    chances = np.cumsum(rng.dirichlet(np.full(4, 20.0), 64), axis=1)
    symbols, uniform = np.zeros(n, int), rng.random(n)
    i, before = 0, 0
    while i < n:
        if i > 2_000 and uniform[i] < 0.001:
            length = min(int(rng.integers(50, 1_000)), n - i)
            begin = int(rng.integers(0, i - length)) if i > length else 0
            copied = symbols[begin : begin + length].copy()
            changed = rng.random(length) < 0.1
            copied[changed] = rng.integers(0, 4, int(changed.sum()))
            symbols[i : i + length] = copied
            i += length
            before = int(symbols[i - 3] * 16 + symbols[i - 2] * 4 + symbols[i - 1])
            continue
        symbols[i] = int(np.searchsorted(chances[before, :3], uniform[i], "right"))
        before = before * 4 % 64 + int(symbols[i])
        i += 1
    return symbols


def runs(seed: int, n: int) -> Any:
    """Two letters in turn, in runs of heavy-tailed lengths."""
    rng = np.random.default_rng([33, seed])
    lengths = np.minimum((rng.pareto(1.2, n) + 1).astype(int), n)
    lengths = lengths[: int(np.searchsorted(np.cumsum(lengths), n)) + 1]
    return np.repeat(np.arange(lengths.size) % 2, lengths)[:n]


def random_machine(seed: int, n: int, states: int, letters: int) -> Any:
    rng = np.random.default_rng([34, states, letters, seed])
    return of_machine(ds.processes.random_machine(states, letters, rng), n, rng)[0]


def champernowne(seed: int, n: int) -> str:
    """The natural numbers, digit by digit."""
    return "".join(map(str, range(1, n)))[:n]


def thue_morse(seed: int, n: int) -> Any:
    return np.array([k.bit_count() & 1 for k in range(n)])


def fibonacci(seed: int, n: int) -> str:
    word, longer = "a", "ab"
    while len(longer) < n:
        word, longer = longer, longer + word
    return longer[:n]


def de_bruijn(seed: int, n: int) -> Any:
    """Bits of a shift register in which no word of 20 comes twice."""
    state, bits = 1, np.empty(n, int)
    for i in range(n):
        bits[i] = state & 1
        state = state >> 1 | ((state ^ state >> 3) & 1) << 19
    return bits


def sorted_blocks(seed: int, n: int) -> Any:
    rng = np.random.default_rng([35, seed])
    return np.sort(rng.integers(0, 26, (n // 100, 100)), axis=1).ravel()


def rare_letter(seed: int, n: int) -> Any:
    rng = np.random.default_rng([36, seed])
    symbols = rng.integers(0, 2, n)
    symbols[rng.integers(0, n, 20)] = 2
    return symbols


def strings(seed: int, n: int) -> list[str]:
    """Strings of ten letters that hardly come twice."""
    letters = np.random.default_rng([37, seed]).integers(97, 107, (n // 10, 10)).astype(np.uint8)
    return [bytes(row).decode() for row in letters]


def walk(seed: int, n: int) -> Any:
    """A walk at random between 0 and 199."""
    steps = np.random.default_rng([38, seed]).integers(0, 2, n) * 2 - 1
    return np.abs((np.cumsum(steps) + 200) % 400 - 200) // 2


def hidden(seed: int, n: int) -> Any:
    """The Even process, one symbol in ten flipped: no finite machine."""
    return np.asarray(ds.processes.misread(ds.processes.even(), 0.1).simulate(n, rng=seed)).astype(int)


def mess3(seed: int, n: int) -> Any:
    """Three hidden states that three symbols tell of badly: no finite machine."""
    return np.asarray(ds.processes.mess3().simulate(n, rng=seed)).astype(int)


def holes(seed: int, n: int, symbols: Any) -> Any:
    symbols = np.asarray(symbols).copy()
    symbols[np.random.default_rng([41, seed]).random(n) < 0.1] = MISSING
    return symbols


INPUTS: dict[str, Callable[[int, int], Any]] = {
    "independent, 2 letters": lambda seed, n: independent(seed, n, 2),
    "independent, 26 letters": lambda seed, n: independent(seed, n, 26),
    "independent, 300 letters": lambda seed, n: independent(seed, n, 300),
    "noisy period 40, 2 letters": lambda seed, n: noisy_period(seed, n, 40, 2)[0],
    "noisy period 40, 26 letters": lambda seed, n: noisy_period(seed, n, 40, 26)[0],
    "noisy period 40, 300 letters": lambda seed, n: noisy_period(seed, n, 40, 300)[0],
    "noisy period 1000, 2 letters": lambda seed, n: noisy_period(seed, n, 1000, 2)[0],
    "noisy period 1000, 26 letters": lambda seed, n: noisy_period(seed, n, 1000, 26)[0],
    "Markov, order 8": lambda seed, n: markov(seed, n, 8)[0],
    "Markov, order 12": lambda seed, n: markov(seed, n, 12)[0],
    "lag 8": lambda seed, n: lagged(seed, n, 8)[0],
    "lag 12": lambda seed, n: lagged(seed, n, 12)[0],
    "text": text,
    "like DNA": dna,
    "runs of heavy-tailed lengths": runs,
    "random machine, 20 states, 2 letters": lambda seed, n: random_machine(seed, n, 20, 2),
    "random machine, 20 states, 4 letters": lambda seed, n: random_machine(seed, n, 20, 4),
    "random machine, 30 states, 26 letters": lambda seed, n: many_letters(seed, n, 30, 26)[0],
    "random machine, 30 states, 300 letters": lambda seed, n: many_letters(seed, n, 30, 300)[0],
    "permutations": lambda seed, n: permutation(seed, n)[0],
    "natural numbers": champernowne,
    "Thue-Morse": thue_morse,
    "Fibonacci": fibonacci,
    "shift register": de_bruijn,
    "sorted blocks": sorted_blocks,
    "a rare letter": rare_letter,
    "strings": strings,
    "a walk on 200 letters": walk,
    "noisy Even": hidden,
    "Mess3": mess3,
    "noisy period 40, gaps": lambda seed, n: holes(seed, n, noisy_period(seed, n, 40, 2)[0]),
    "lag 8, gaps": lambda seed, n: holes(seed, n, lagged(seed, n, 8)[0]),
    "random machine, 20 states, gaps": lambda seed, n: holes(seed, n, random_machine(seed, n, 20, 3)),
}


def measured(symbols: Any, whole: bool) -> tuple[selection.Selection, float]:
    """What is selected, and the CPU seconds of it."""
    begin = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = selection.select(symbols, missing=MISSING, whole=whole)
        found.warning  # noqa: B018
    return found, time.process_time() - begin


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=1_000_000, help="symbols of each")
    parser.add_argument("--first", type=int, default=FIRST, help="seed")
    parser.add_argument("--only", default="", help="a part of the name")
    given = parser.parse_args()
    measured(ds.processes.even().simulate(3_000, rng=0), False)
    lines = ["| what | states | CPU s | ended by | explained |", "|---|--:|--:|---|--:|"]
    cases = [(name, make, False) for name, make in INPUTS.items()]
    cases += [("whole strings", strings, True), ("whole strings of text", lambda s, n: text(s, n).split(), True)]
    for name, make, whole in cases:
        if given.only not in name:
            continue
        found, seconds = measured(make(given.first, given.size), whole)
        end = "time" if found.cut else "work" if found.bounded else "itself"
        lines.append(f"| {name} | {found.chosen.n_states} | {seconds:.1f} | {end} | {100 * found.explained:.1f} % |")
        print(lines[-1], flush=True)
    if given.only or given.size < 1_000_000:
        return
    head = (
        f"# Hard inputs\n\nWritten by `benchmarks/hard_inputs.py`: CPU seconds for {given.size:,} symbols, seed "
        f"{given.first}.\n\n"
    )
    Path(__file__).with_suffix(".md").write_text(head + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
