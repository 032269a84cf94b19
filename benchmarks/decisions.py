"""Speed and memory of steps 5 to 8: causal states × outcomes × predictions to decisional states.

Prints a table and writes it to benchmarks/decisions.md. Each row is measured in a process of its own: seconds of
one call after a small one, and the peak resident memory of the whole process. "exact" compares expected utilities
up to rounding, "data" up to their sampling error (1,000 observations per state).

A second table has the decisional states of real series: their first three quarters are learnt, with the past that
`ds.selection.best_past` chooses there, and the last one is decided. The indifference is a share of what always doing
the same would cost, by the data that were learnt. "lost" is the utility that the merged decisions lose on the last
quarter against those without indifference, as a share of what the latter cost there. Shares from 1 to 10 % were looked
at on simulated series and on these, so that they are no test of the shares. Without statsmodels and vega_datasets the
table is left out.
"""

import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

# What does not matter, as a share of the cost of always doing the same.
INDIFFERENCE = 0.02
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


def real_series() -> dict[str, Any]:
    """Eight series that people have: yearly, monthly, quarterly, weekly, daily and hourly."""
    import numpy as np
    from statsmodels import datasets
    from vega_datasets import data

    def column(name: str, of: str) -> Any:
        return getattr(datasets, name).load_pandas().data[of].to_numpy(float)

    weather = data.seattle_weather()
    carbon = datasets.co2.load_pandas().data["co2"].interpolate().to_numpy(float)
    return {
        "sunspots": column("sunspots", "SUNACTIVITY"),
        "nile": column("nile", "volume"),
        "elnino": datasets.elnino.load_pandas().data.iloc[:, 1:].to_numpy(float).ravel(),
        "inflation": column("macrodata", "infl"),
        "co2": np.diff(carbon)[-1200:],
        "temp_max": weather["temp_max"].to_numpy(float),
        "wind": weather["wind"].to_numpy(float),
        "hourly": data.seattle_temps()["temp"].to_numpy(float)[:2000],
    }


def merged(signal: Any) -> list[str]:
    """Past, causal states, and for each utility: decisional states without and with indifference, and what is lost."""
    import numpy as np

    import decisional as ds

    cut = signal.size * 3 // 4
    learnt = signal[:cut]
    past = ds.selection.best_past(learnt)
    causal = ds.CausalStates().fit(ds.observe.delays(learnt, past=past))
    new = ds.observe.delays(signal[cut - past :], past=past)
    cells = [str(past), str(causal.n_states_)]
    tolerant = ds.utility.tolerant(0.5 * float(learnt.std()))
    alarm = ds.utility.alarm(float(np.quantile(learnt, 0.8)), missed=3, false=1)
    for utility in (tolerant, alarm):
        exact = ds.DecisionalStates(utility).fit(causal)
        fixed = abs(exact.regret(causal.observations_, against=()).best_fixed)
        easy = ds.DecisionalStates(utility, indifference=INDIFFERENCE * fixed).fit(causal)
        before, result = exact.score(new), easy.regret(new)
        lost = (before - result.obtained) / max(abs(before), 1e-12)
        rivals = " / ".join(f"{-rival.utility:.3g}" for rival in result.rivals().values())
        cells += [f"{exact.n_states_} → {easy.n_states_}", f"{lost:.1%}", f"{-result.obtained:.3g}", rivals]
    return cells


def series_table() -> list[str]:
    """The second table, or none where the series are not at hand."""
    try:
        series = real_series()
    except ImportError:
        return []
    kinds = [f"{name} {what}" for name in ("tolerant", "alarm") for what in ("states", "lost", "cost", "others")]
    lines = ["| " + " | ".join(["series", "past", "causal states", *kinds]) + " |", "|---" * (3 + len(kinds)) + "|"]
    for name, signal in series.items():
        lines.append("| " + " | ".join([name, *merged(signal)]) + " |")
        print(lines[-1], flush=True)
    head = f"""
Real series, the last quarter decided. The indifference is {INDIFFERENCE:.0%} of what always doing the same costs;
tolerant: of half a standard deviation; alarm: above the 80 % quantile, missed 3, false 1. States are decisional,
without and with indifference; costs are per value; the others are always the same / as if the last value came again /
autoregression / by P(Z|x) of each x.
"""
    return [*head.split("\n"), *lines]


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
    lines += series_table()
    Path(__file__).with_suffix(".md").write_text(head + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
