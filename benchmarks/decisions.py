"""Speed and memory of steps 5 to 8: causal states × outcomes × predictions to decisional states.

Prints a table and writes it to benchmarks/decisions.md. Each row is measured in a process of its own: seconds of
one call after a small one, and the peak resident memory of the whole process. "exact" compares expected utilities
up to rounding, "data" up to their sampling error (1,000 observations per state).

Two more tables have the decisional states of numbers. Of real series the first three quarters are learnt, with the past
that `ds.selection.best_past` chooses there, and the last one is decided; of the simulated systems of systems.py, 1,500
values are learnt and the next 1,500 decided. "States" are the causal ones, and the decisional ones as they are by
default and with an indifference, a share of what always doing the same costs by the data that were learnt. "Lost" is
the utility that these lose on data that were not learnt, against what is best in each causal state: as a share of what
the latter costs there, with its standard error, paired and by blocks, and in brackets as a share of what always doing
the same costs there. The rule was tuned on seeds 0 to 9. Without statsmodels and vega_datasets the real series are left
out.
"""

import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any, NamedTuple

from systems import CONTINUA, split

# What does not matter, as a share of the cost of always doing the same.
INDIFFERENCE = 0.02
# Errors that cost nothing, in standard deviations of the values that were learnt.
TOLERANCES = (0.5, 1.0, 2.0)
# Lost utility that is little, as a share.
LITTLE = 0.01
SEEDS, LEARNT = (7000, 7001, 7002, 7003), 1500
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
    """Eight series that people have: yearly, monthly, quarterly, weekly, daily and hourly; and four others, starred."""
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
        "temp_min*": weather["temp_min"].to_numpy(float),
        "precipitation*": weather["precipitation"].to_numpy(float),
        "unemployment*": column("macrodata", "unemp"),
        "growth*": np.diff(np.log(column("macrodata", "realgdp"))),
    }


class Merged(NamedTuple):
    """Numbers of causal and decisional states; what the latter lose and its error; what that is a share of."""

    causal: int
    decisional: int
    lost: float
    error: float
    cost: float
    always: float

    @property
    def well(self) -> bool:
        return self.decisional < self.causal and self.lost <= LITTLE * self.cost

    def __str__(self) -> str:
        share = f"{self.lost / self.cost:.1%} ± {self.error / self.cost:.1%}" if self.cost else f"{self.lost:.2g} of 0"
        return f"{share} ({self.lost / self.always:.2%})" if self.always else share


def utilities(learnt: Any) -> dict[str, Any]:
    import numpy as np

    import decisional as ds

    found = {f"tolerant, {k:g} sd": ds.utility.tolerant(k * float(learnt.std())) for k in TOLERANCES}
    return found | {"alarm": ds.utility.alarm(float(np.quantile(learnt, 0.8)), missed=3, false=1)}


def obtained(choice: Any, utility: Any, new: Any) -> Any:
    """What the decisions are worth, in each observation."""
    import numpy as np

    made, z = choice.decide(new), np.array(new.outcomes, float)[new.z]
    found = np.empty(z.size)
    for y in set(made):
        found[made == y] = utility.matrix([y], z[made == y].tolist())[0]
    return found


def merged(causal: Any, new: Any, utility: Any) -> tuple[list[Merged], list[float]]:
    """Decisional states by default and with indifference; and what others cost: see `series_table`."""
    import decisional as ds
    from decisional.decisions.regret import block_error

    apart = ds.DecisionalStates(utility, delta=1e-9, atol=1e-9).fit(causal)
    same = abs(apart.regret(causal.observations_, against=()).best_fixed)
    rivals = [abs(rival.utility) for rival in apart.regret(new).rivals().values()]
    own, found = obtained(apart, utility, new), []
    for indifference in (0.0, INDIFFERENCE * same):
        choice = ds.DecisionalStates(utility, indifference=indifference).fit(causal)
        lost = own - obtained(choice, utility, new)
        mean = float(lost.mean())
        found.append(
            Merged(causal.n_states_, choice.n_states_, mean, block_error(lost), abs(float(own.mean())), rivals[0])
        )
    return found, rivals


def series_table() -> list[str]:
    """The table of real series, or none where they are not at hand."""
    import decisional as ds

    try:
        series = real_series()
    except ImportError:
        return []
    names = ["series", "past", "utility", "states", "lost", f"lost at {INDIFFERENCE:.0%}", "cost", "others"]
    lines, well = ["| " + " | ".join(names) + " |", "|---" * len(names) + "|"], {}
    for name, signal in series.items():
        cut = signal.size * 3 // 4
        past = ds.selection.best_past(signal[:cut])
        causal = ds.CausalStates().fit(ds.observe.delays(signal[:cut], past=past))
        new = ds.observe.delays(signal[cut - past :], past=past)
        for kind, utility in utilities(signal[:cut]).items():
            found, rivals = merged(causal, new, utility)
            states = f"{causal.n_states_} → " + " / ".join(str(one.decisional) for one in found)
            cells = name, str(past), kind, states, *map(str, found), f"{found[0].cost:.3g}"
            lines.append("| " + " | ".join([*cells, " / ".join(f"{cost:.3g}" for cost in rivals)]) + " |")
            print(lines[-1], flush=True)
            well.setdefault(kind, []).append((name.endswith("*"), *(one.well for one in found)))
    head = f"""
Real series, the last quarter decided; those with a star are not among the eight that are counted below. States:
causal → decisional by default / with an indifference of {INDIFFERENCE:.0%} of what always doing the same costs.
Tolerant: of so many standard deviations; alarm: above the 80 % quantile, missed 3, false 1. Costs are per value, where
each causal state does what is best there; the others are always the same / as if the last value came again /
autoregression / by P(Z|x) of each x.
"""
    lines.append(
        f"\nFewer decisional than causal states, with at most {LITTLE:.0%} lost, by default / with indifference:\n"
    )
    for kind, rows in well.items():
        named = [row[1:] for row in rows if not row[0]]
        counts = [f"{sum(one[k] for one in named)} / " for k in (0, 1)]
        lines.append(f"- {kind}: {''.join(counts).rstrip(' /')} of {len(named)} series.")
    return [*head.split("\n"), *lines]


def system_table() -> list[str]:
    """The table of simulated systems: means over seeds."""
    import numpy as np

    import decisional as ds

    runs: dict[tuple[str, str], list[list[Merged]]] = {}
    for name, system in CONTINUA.items():
        for seed in SEEDS:
            first, second, _ = split(name, LEARNT, LEARNT, seed)
            causal = ds.CausalStates().fit(ds.observe.delays(first, past=system.past))
            new = ds.observe.delays(np.concatenate([first[-system.past :], second]), past=system.past)
            for kind, utility in utilities(first).items():
                runs.setdefault((name, kind), []).append(merged(causal, new, utility)[0])
    names = ["system", "utility", "states", "lost", f"lost at {INDIFFERENCE:.0%}"]
    lines = ["", f"Simulated systems, means over seeds {SEEDS[0]} to {SEEDS[-1]}.", ""]
    lines += ["| " + " | ".join(names) + " |", "|---" * len(names) + "|"]
    for (name, kind), found in runs.items():
        mean = [Merged(*np.mean([run[k] for run in found], axis=0)) for k in (0, 1)]
        states = f"{mean[0].causal:.1f} → " + " / ".join(f"{one.decisional:.1f}" for one in mean)
        lines.append("| " + " | ".join([name, kind, states, *map(str, mean)]) + " |")
        print(lines[-1], flush=True)
    return lines


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
    lines += [*series_table(), *system_table()]
    Path(__file__).with_suffix(".md").write_text(head + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
