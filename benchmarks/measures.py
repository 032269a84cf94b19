"""Measures of known machines against those of sofic, an independent program: the largest differences.

Prints a table and writes it to benchmarks/measures.md. Needs sofic: pip install 'decisional[bench]'. Orders and lengths
of words must be the same, bits agree to 1e-9. The cryptic order is compared with that of sofic, and with the length at
which its curve of words with states meets the line E + h L, which is its definition.
"""

import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import decisional as ds

LONGEST = 6
ORDERS = ("R", "k", "k by H(L, S)", "shortest word")
PROCESSES: dict[str, Callable[[], ds.EpsilonMachine]] = {
    name: make for name, make in ds.processes.catalogue.items() if name != "biased_coin"
} | {
    "rip, p = 0.3, q = 0.8": lambda: ds.processes.rip(0.3, 0.8),
    "rrxor, p = 0.3, q = 0.8": lambda: ds.processes.rrxor(0.3, 0.8),
    "nemo, p = 0.3, q = 0.8": lambda: ds.processes.nemo(0.3, 0.8),
    "nrps, p = 0.3, q = 0.8": lambda: ds.processes.nrps(0.3, 0.8),
    "restricted_golden_mean, k = 5": lambda: ds.processes.restricted_golden_mean(5),
    "multiples, n = 5": lambda: ds.processes.multiples(5),
}


NOTE = """\
Every order agrees but the cryptic order k, the smallest k with H[S_k | X_0 X_1 ...] = 0. Where sofic's own
`cryptic_order()` differs, its own curve H(L, S) meets E + h L at our k ("k by H(L, S)" agrees), and
where ours is 0 its own crypticity is 0: the future tells the state before the first symbol."""


def ours(machine: ds.EpsilonMachine) -> dict[str, Any]:
    """The measures by this library."""
    both = machine.bidirectional()
    return {
        "C": machine.statistical_complexity(),
        "h": machine.entropy_rate(),
        "E": machine.excess_entropy(),
        "χ": machine.crypticity(),
        "C⁻": machine.reverse().statistical_complexity(),
        "C±": both.complexity,
        "χ±": both.crypticity,
        "ρ": both.predicted_information,
        "b": both.bound_information,
        "r": both.ephemeral_information,
        "H(L)": machine.block_entropies(LONGEST).entropy,
        "H(L, S)": machine.block_entropies(LONGEST).with_state,
        "R": machine.markov_order(),
        "k": machine.cryptic_order(),
        "k by H(L, S)": machine.cryptic_order(),
        "shortest word": machine.synchronisation().length,
    }


def theirs(machine: Any) -> dict[str, Any]:
    """The same by sofic."""
    both = machine.to_bidirectional()
    diagram = machine.block_entropy_diagram(LONGEST)
    return {
        "C": machine.statistical_complexity(),
        "h": machine.entropy_rate(),
        "E": machine.excess_entropy(),
        "χ": machine.crypticity(),
        "C⁻": machine.from_time_reversed(machine).statistical_complexity(),
        "C±": both.statistical_complexity(),
        "χ±": both.crypticity(),
        "ρ": both.predicted_information(),
        "b": both.bound_information(),
        "r": both.ephemeral_information(),
        "H(L)": diagram.block_entropy,
        "H(L, S)": diagram.block_state_entropy,
        "R": machine.markov_order(),
        "k": machine.cryptic_order(),
        "k by H(L, S)": met(diagram),
        "shortest word": machine.reset_threshold(),
    }


def met(diagram: Any) -> float:
    """Where sofic's H(L, S) meets E + h L, infinite if it does not within the words that were looked at."""
    line = diagram.excess_entropy + diagram.entropy_rate * np.asarray(diagram.lengths)
    return next((k for k, gap in enumerate(line - diagram.block_state_entropy) if abs(gap) < 1e-9), math.inf)


def compared(name: str, machine: ds.EpsilonMachine) -> str:
    """A row: the largest difference in bits, what differs, and seconds."""
    start = time.perf_counter()
    mine = ours(machine)
    middle = time.perf_counter()
    try:
        other = theirs(machine.to_sofic())
    except Exception as error:
        return f"| {name} | – | sofic: {type(error).__name__}: {error} | {middle - start:.3f} | – |"
    last = time.perf_counter()
    gap, differs = 0.0, []
    for measure, value in mine.items():
        if measure in ORDERS:
            if value != other[measure]:
                differs.append(f"{measure} = {value}, sofic {other[measure]}")
            continue
        apart = float(np.abs(np.asarray(value, float) - np.asarray(other[measure], float)).max())
        if not apart <= 1e-9:
            differs.append(f"{measure} by {apart:.2g}")
        elif math.isfinite(apart):
            gap = max(gap, apart)
    return f"| {name} | {gap:.1e} | {'; '.join(differs) or 'nothing'} | {middle - start:.3f} | {last - middle:.3f} |"


def main() -> None:
    lines = ["| process | largest difference, bits | differs | seconds | sofic |", "|---|--:|---|--:|--:|"]
    for name, make in PROCESSES.items():
        lines.append(compared(name, make()))
        print(lines[-1], flush=True)
    lines += ["", NOTE]
    Path(__file__).with_suffix(".md").write_text("\n".join(["# Measures of machines against sofic", "", *lines, ""]))


if __name__ == "__main__":
    main()
