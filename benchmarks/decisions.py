"""Speed and memory of steps 5 to 8: causal states × outcomes × predictions to decisional states.

Prints a table and writes it to benchmarks/decisions.md. Each row is measured in a process of its own: seconds of
one call after a small one, and the peak resident memory of the whole process. "exact" compares expected utilities
up to rounding, "data" up to their sampling error (1,000 observations per state).
"""

import subprocess
import sys
import textwrap
from pathlib import Path

# Causal states, outcomes, predictions.
SIZES = ((1_000, 100, 100), (10_000, 1_000, 1_000))
UTILITIES = {
    "table": "ds.utility.table(rng.random((n_y, n_z)), y=range(n_y), z=range(n_z))",
    "zero_one(y)": "ds.utility.zero_one(range(n_y))",
    "squared_error(y)": "ds.utility.squared_error(range(n_y))",
    "squared_error": "ds.utility.squared_error()",
}


def measure(states: int, outcomes: int, predictions: int, utility: str, sampled: bool) -> tuple[float, float, int]:
    """Seconds, peak megabytes and number of decisional states."""
    code = f"""
        import resource, time, numpy as np, decisional as ds
        from decisional.decisions.decide import decide
        rng = np.random.default_rng(0)
        def run(K, n_z, n_y):
            p, weight = rng.dirichlet(np.ones(n_z), K), np.full(K, 1 / K)
            utility = {utility}
            n = np.full(K, 1000.0) if {sampled} else None
            start = time.perf_counter()
            found = decide(p, list(range(n_z)), weight, utility, n=n)
            return time.perf_counter() - start, found.states.n_states
        run(10, 5, 4)
        seconds, states = run({states}, {outcomes}, {predictions})
        print(seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, states)
    """
    out = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True)
    seconds, peak, found = out.stdout.split()
    return float(seconds), float(peak), int(found)


def main() -> None:
    lines = [
        "| causal states × outcomes × predictions | utility | distributions | seconds | peak MB | decisional states |",
        "|---|---|---|---|---|---|",
    ]
    for size in SIZES:
        for name, utility in UTILITIES.items():
            for sampled in (False, True):
                seconds, peak, found = measure(*size, utility, sampled)
                kind = "data" if sampled else "exact"
                row = " × ".join(f"{k:,}" for k in size), name, kind, f"{seconds:.2f}", f"{peak:.0f}", f"{found:,}"
                lines.append("| " + " | ".join(row) + " |")
                print(lines[-1], flush=True)
    head = "# Decisions\n\nWritten by `make bench`; see `decisions.py` for what is measured.\n\n"
    Path(__file__).with_suffix(".md").write_text(head + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
