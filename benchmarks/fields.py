"""Speed and memory of fields: from cells to the four kinds of states, and their fields.

Prints tables and writes them to benchmarks/fields.md. A run goes from a field of cells through light cones, causal
and decisional states to six fields on the grid, all kept: labels, local complexities C, P, D and V, and the expected
utility. Each row is measured in a process of its own: the best of several runs after warm-up, the peak resident memory
of the whole process, and the ratio to one bare pass over memory (one field of float64 written), which is what to
compare between machines. One-dimensional automata are deterministic and matched exactly, and once by evidence; the
pasts of two-dimensional ones do not hold all that matters, and are matched by evidence, the default.
"""

import subprocess
import sys
import textwrap
from math import prod
from pathlib import Path

# Whole-program seconds of the paper's program (C++, -O3), which uses the oldest row only, on a two-core machine.
REFERENCE = {(300, 400): 0.05, (2000, 2000): 1.6, (4000, 4000): 8.6}
# Rows and cells: 1e5, 1e6, 4e6 and 1.6e7 in all.
SIZES = ((250, 400), (1000, 1000), (2000, 2000), (4000, 4000))
KINDS = {"oldest row": "past_row_only=True", "whole cone": ""}
LIFE = "ds.processes.game_of_life(({side}, {side}), {steps}, rng=1)"
CYCLIC = "ds.processes.cyclic_automaton(({side}, {side}), {steps}, colours=4, rng=1)"
# Steps and side, what runs there, and how deep the past is; the future has one row.
PLANES = (
    ((100, 100), "cyclic, 4 colours", CYCLIC, 2),
    ((100, 100), "cyclic, 4 colours", CYCLIC, 3),
    ((200, 512), "game of life", LIFE, 3),
    ((200, 512), "cyclic, 4 colours", CYCLIC, 2),
    ((200, 512), "cyclic, 4 colours", CYCLIC, 3),
)
LIMIT = 300  # seconds of one process
ROOM = 12  # gigabytes of its address space


def measure(field: str, cones: str, match: str, repeats: int) -> tuple[float, float, float, list[int]] | str:
    """Seconds, peak megabytes, seconds of a bare pass, and numbers of states; or why there are none."""
    code = f"""
        import gc, resource, time, numpy as np, decisional as ds
        resource.setrlimit(resource.RLIMIT_AS, ({ROOM} << 30,) * 2)
        def run(field):
            obs = ds.observe.light_cones(field, {cones})
            causal = ds.CausalStates(match={match}).fit(obs)
            choice = ds.DecisionalStates(ds.utility.matching_cells()).fit(causal)
            values = causal.labels_, causal.local_complexity_, choice.local_utility_
            values += choice.local_prediction_complexity_, choice.local_complexity_, choice.local_utility_complexity_
            laid = [obs.field(v) for v in values]
            kinds = choice.iso_prediction_.n_states, choice.iso_utility_.n_states, choice.n_states_
            return causal.n_states_, *kinds
        def best(work, repeats):
            times = []
            for _ in range(repeats):
                gc.collect()
                start = time.perf_counter()
                result = work()
                times.append(time.perf_counter() - start)
            return min(times), result
        field = {field}
        run(field[:16, :64])
        seconds, states = best(lambda: run(field), {repeats})
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        bare, _ = best(lambda: np.full(field.size, 1.0), 5)
        print(seconds, peak, bare, *states)
    """
    try:
        command = [sys.executable, "-c", textwrap.dedent(code)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=LIMIT)
    except subprocess.TimeoutExpired:
        return f"more than {LIMIT} s"
    if done.returncode:
        return "out of memory" if "MemoryError" in done.stderr else "failed"
    seconds, peak, bare, *states = done.stdout.split()
    return float(seconds), float(peak), float(bare), [int(k) for k in states]


def row(name: str, shape: tuple[int, ...], kind: str, found: tuple | str, peer: float | None = None) -> str:
    size = " × ".join(map(str, shape))
    cells = prod(shape)
    if isinstance(found, str):
        return f"| {name} | {size} | {kind} | {found} | | | | | |"
    seconds, peak, bare, states = found
    beside = "" if peer is None else f"{peer} s, {peer / seconds:.1f} x"
    numbers = f"{seconds:.4f} | {1e9 * seconds / cells:.1f} | {seconds / bare:.1f} | {peak:.0f}"
    return f"| {name} | {size} | {kind} | {numbers} | {', '.join(map(str, states))} | {beside} |"


def main() -> None:
    lines = [
        "| automaton | steps × space | past | seconds | ns per cell | x bare pass | peak MB | states: causal, "
        "iso-prediction, iso-utility, decisional | reference program |",
        "|---|---|---|---|---|---|---|---|---|",
    ]

    def add(line: str) -> None:
        lines.append(line)
        print(line, flush=True)

    rule = "ds.processes.elementary_ca(110, {}, {}, 1)"
    reference = "4, 3, include_present=True, past_row_only=True"
    # The reference's 300 present rows, after 100 steps, with the rows its cones reach.
    shape = (300, 400)
    found = measure(rule.format(400, 405) + "[100:]", reference, "'exact'", 30)
    add(row("rule 110, reference's cones", shape, "oldest row", found, REFERENCE[shape]))
    for kind, option in KINDS.items():
        for shape in SIZES:
            found = measure(rule.format(shape[1], shape[0]), f"4, 3, {option}", "'exact'", 5)
            peer = REFERENCE.get(shape) if kind == "oldest row" else None
            add(row("rule 110", shape, kind, found, peer))
    found = measure(rule.format(*SIZES[-1]), "4, 3", "None", 2)
    add(row("rule 110", SIZES[-1], "by evidence", found))
    for (steps, side), name, make, past in PLANES:
        found = measure(make.format(steps=steps, side=side), f"{past}, 2", "None", 2)
        add(row(name, (steps, side, side), f"by evidence, past {past}", found))
    head = "# Fields\n\nWritten by `make bench`; see `fields.py` for what is measured.\n\n"
    Path(__file__).with_suffix(".md").write_text(head + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
