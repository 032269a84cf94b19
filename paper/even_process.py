"""Section 6.1 of the paper: reconstruction of the Even process.

Writes to paper/out:

- even_machine.png, .dot, .json: the machine with its transient state, from 1e5 symbols and a past of 10;
- even_states.csv, .png: recurrent states found over N and L, by `CausalStates` as it is and by our CSSR; in the picture
  ours beside CSSR in C++ and the paper's program, as measured (data/even_grid.csv);
- even_timings.csv, .md, .png: seconds per reconstruction, beside the paper's own table (data/even_timings.csv).

With --letter also by section 6.1 read to the letter ("paper"): one reading of the text, which is not what the paper's
own program does, as that never splits, and which is not in the picture. With it, N = 1e6:
at L = 3 and 6 there are L + 1 states at any level of the test, because the unsynchronised 1...1 are too many for theta;
at L = 10 the machine is right at a level of 0.001, and has 137 states at 0.05: false rejections, spread by splitting.

A run that was interrupted goes on where it was: cells in even_states.csv with the same options are kept.
"""

import argparse
import csv
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

import decisional as ds

HERE = Path(__file__).parent
TRUTH = ds.processes.even()
SIZES = [10**3, 10**4, 10**5, 10**6, 10**7]
PASTS = range(3, 21)
COLUMNS = [
    "method",
    "N",
    "L",
    "trials",
    "states",
    "share_right",
    "seconds",
    "best_seconds",
    "status",
    "asked",
    "budget",
]
# From light to dark: more data.
COLOURS = dict(zip(SIZES, ("#e6a817", "#e0662b", "#b8336a", "#6a2c91", "#1b2a6b"), strict=True))
MARKERS = dict(zip(SIZES, "os^Dv", strict=True))

Row = dict[str, Any]


def ours(symbols: Any, past: int) -> ds.EpsilonMachine:
    """`CausalStates` as it is."""
    return ds.CausalStates().fit(ds.observe.series(symbols, past=past)).machine_


def literal(symbols: Any, past: int) -> ds.EpsilonMachine:
    """Section 6.1 to the letter, as we read it: a textbook test at 5 % for each x, splits and merges by symbols."""
    settings = {"density": ds.Counts(min_count=1), "match": ds.ChiSquare(0.05, family_wise=False)}
    causal = ds.CausalStates(**settings, constraints="paper", theta=0.95, passes=1)
    return causal.fit(ds.observe.series(symbols, past=past)).machine_


METHODS: dict[str, Callable[[Any, int], ds.EpsilonMachine]] = {
    "ours": ours,
    "paper": literal,
    "cssr": ds.baselines.cssr,
}


def machine(n: int = 100_000, past: int = 10, seed: int = 1) -> ds.CausalStates:
    """The paper's figure "Reconstruction of the Even process": 1e5 points, a past window of 10."""
    symbols = TRUTH.simulate(n, rng=seed)
    return ds.CausalStates().fit(ds.observe.series(symbols, past=past))


def draw_machine(out: Path) -> None:
    causal = machine()
    causal.machine_.save(out / "even_machine.json")
    (out / "even_machine.dot").write_text(causal.machine_.to_dot())
    ds.plot.save(ds.plot.machine(causal.machine_), out / "even_machine.png")
    print(causal.machine_, causal.states_.probability.round(4))


def cell(method: str, past: int, series: Iterable[Any], budget: float) -> Row:
    """One method on independent series, until `budget` seconds are spent: the means of what it finds."""
    states, right, seconds, status = [], [], [], "complete"
    for symbols in series:
        if sum(seconds) > budget:
            status = "cut"
            break
        start = time.perf_counter()
        found = METHODS[method](symbols, past)
        seconds.append(time.perf_counter() - start)
        states.append(int(found.recurrent.sum()))
        right.append(states[-1] == TRUTH.n_states and found.recurrent_part().is_isomorphic(TRUTH, atol=0.2))
    n = len(seconds)
    means = {"states": sum(states) / n, "share_right": sum(right) / n, "seconds": round(sum(seconds) / n, 6)}
    return {"trials": n, **means, "best_seconds": round(min(seconds), 6), "status": status}


def experiment(
    path: Path, sizes: Sequence[int], pasts: Sequence[int], trials: int, budget: float, methods: Sequence[str]
) -> list[Row]:
    """All cells, written to a file as they come.

    A cell ends after `budget` seconds ("cut"). Where one trial takes longer than that, longer pasts of the same method
    and N are not tried ("skipped").
    """
    options = {"asked": trials, "budget": budget}
    rows = {key(row): row for row in (read(path) if path.exists() else []) if options.items() <= row.items()}
    for method in methods:
        # Kernels are compiled, or found on disk, outside the times.
        METHODS[method](TRUTH.simulate(1000, rng=0), 3)
    for n in sizes:
        series = [TRUTH.simulate(n, rng=[n, trial]) for trial in range(trials)]
        for method in methods:
            too_slow = False
            for past in sorted(pasts):
                new = {"method": method, "N": n, "L": past}
                if key(new) not in rows:
                    skipped = {"trials": 0, "status": "skipped"}
                    found = skipped if too_slow else cell(method, past, series, budget)
                    rows[key(new)] = {**new, **found, **options}
                    write(path, COLUMNS, sorted(rows.values(), key=key))
                too_slow = too_slow or rows[key(new)].get("best_seconds", 0) > budget
            print(f"{method}, N = {n:.0e}: done", flush=True)
    write(path, COLUMNS, sorted(rows.values(), key=key))
    return [row for row in sorted(rows.values(), key=key) if row["N"] in sizes and row["L"] in pasts]


def key(row: Row) -> tuple[int, int, int]:
    return list(METHODS).index(row["method"]), row["N"], row["L"]


def read(path: Path) -> list[Row]:
    """Rows of a CSV file: numbers where they are numbers, empty fields left out."""

    def value(name: str, text: str) -> Any:
        try:
            number = float(text)
        except ValueError:
            return text
        return int(number) if name in ("N", "L", "trials", "asked") else number

    with path.open(newline="") as file:
        return [{name: value(name, text) for name, text in row.items() if text} for row in csv.DictReader(file)]


def write(path: Path, columns: Sequence[str], rows: Iterable[Row]) -> None:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def reference(program: str, cells: Iterable[Row]) -> list[Row]:
    """What a C++ program, "reference" or "cssr", found in the cells of ours, as rows of the experiment."""
    states = {"reference": "reference_mean_recurrent_states", "cssr": "cssr_mean_states"}[program]
    wanted = {(row["N"], row["L"]) for row in cells}
    rows = [row for row in read(HERE / "data" / "even_grid.csv") if (row["N"], row["L"]) in wanted]
    # Where the program failed, there is an error message instead of a number.
    kept = [row for row in rows if isinstance(row[states], float)]
    return [{**row, "states": row[states], "share_right": row[f"{program}_share_right"]} for row in kept]


def draw_states(rows: list[Row], out: Path) -> None:
    """The paper's figure "Number of recurrent states reconstructed from the Even process"."""
    sizes = sorted({row["N"] for row in rows})
    found = [row for row in rows if row["method"] == "ours" and row["trials"]]
    panels = {
        "decisional: CausalStates()": (found, "machine"),
        "CSSR (C++, measured)": (reference("cssr", rows), "number of states"),
        "the paper's program (C++)": (reference("reference", rows), "number of states"),
    }
    figure = Figure(figsize=(9.4, 3.8), layout="constrained")
    axes = figure.subplots(1, 3, sharex=True, sharey=True)
    for ax, (title, (shown, what)) in zip(axes, panels.items(), strict=True):
        panel(ax, shown, sizes)
        # The programs were not measured on more: the same cells for all.
        shares = [row["share_right"] for row in shown if row["N"] <= 10**6]
        text = f"right {what}: {sum(shares) / len(shares):.1%}\nof those with N ≤ $10^6$"
        ax.set_title(title, fontsize=10.5, pad=32)
        ax.text(0.5, 1.02, text, size=9, ha="center", transform=ax.transAxes)
    axes[0].legend(loc="upper left", frameon=False, fontsize=9, ncols=2, title="symbols", title_fontsize=9)
    figure.supxlabel("L, length of the past", fontsize=10)
    figure.supylabel("recurrent states, mean over trials (true: 2)", fontsize=10)
    ds.plot.save(figure, out / "even_states.png")


def panel(ax: Axes, rows: list[Row], sizes: Sequence[int]) -> None:
    """Recurrent states over L, a line for each N; rings inside each other where lines meet."""
    ax.axhspan(1.8, 2.2, color="#cfe2f3", zorder=0, lw=0)
    for i, n in enumerate(sizes):
        line = sorted((row["L"], row["states"]) for row in rows if row["N"] == n)
        style = {"color": COLOURS[n], "marker": MARKERS[n], "ms": 9 - 1.5 * i, "mfc": "none", "mew": 1.1, "lw": 1.1}
        if line:
            ax.plot(*zip(*line, strict=True), **style, label=f"N = $10^{len(str(n)) - 1}$", zorder=3 + i)
    ax.set_yscale("symlog", linthresh=2, linscale=0.5)
    ax.set_yticks([0, 1, 2, 10, 100, 1000, 10_000], ["0", "1", "2", "10", "100", "1,000", "10,000"])
    ax.set_yticks([], minor=True)
    ax.set_ylim(-0.3, 50_000)
    ax.set_xticks(range(4, 21, 4))
    tidy(ax)


def tidy(ax: Axes) -> None:
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(color="#e8e8e8", lw=0.6)
    ax.set_axisbelow(True)
    ax.tick_params(labelsize=9)


TIMES = {
    "ours": "decisional, today",
    "cssr": "our CSSR, today",
    "paper_remapf": "REMAPF, 2011",
    "paper_cssr": "CSSR, 2011",
}


def timings(rows: list[Row], out: Path) -> None:
    """The paper's table of timings, with ours beside it: numbers, Markdown and a picture."""
    table: dict[tuple[int, int], Row] = {}
    for row in rows:
        if row["method"] in TIMES and row["trials"]:
            table.setdefault((row["N"], row["L"]), {})[row["method"]] = row["seconds"]
    for row in read(HERE / "data" / "even_timings.csv"):
        if (row["N"], row["L"]) in table:
            table[row["N"], row["L"]] |= {"paper_remapf": row["remapf"], "paper_cssr": row["cssr"]}
    cells = [{"N": n, "L": past, **table[n, past]} for n, past in sorted(table)]
    write(out / "even_timings.csv", ["N", "L", *TIMES], cells)
    (out / "even_timings.md").write_text(markdown(table))
    draw_timings(cells, out)


def markdown(table: dict[tuple[int, int], Row]) -> str:
    """One row for each N and method, one column for each L, as in the paper."""
    pasts = sorted({past for _, past in table})
    lines = [
        "# Even process: seconds per reconstruction",
        "",
        "Means over independent series. The rows of 2011 are the paper's own, on a 2.2 GHz machine.",
        "",
        "| N | method | " + " | ".join(f"L={past}" for past in pasts) + " |",
        "|---|---|" + "--:|" * len(pasts),
    ]
    for n in sorted({n for n, _ in table}):
        for name, title in TIMES.items():
            times = [table.get((n, past), {}).get(name) for past in pasts]
            texts = ["–" if t is None else f"{t:.3f}" if t < 1 else f"{t:.3g}" for t in times]
            lines.append(f"| {n:.0e} | {title} | ".replace("e+0", "e") + " | ".join(texts) + " |")
    return "\n".join(lines) + "\n"


def draw_timings(cells: list[Row], out: Path) -> None:
    """Seconds over L, a panel for each N."""
    sizes = sorted({row["N"] for row in cells})
    styles = {
        "ours": {"color": "#005a94", "lw": 2.2},
        "cssr": {"color": "#e08b1a", "lw": 2.2},
        "paper_remapf": {"color": "#005a94", "lw": 1.1, "ls": "--"},
        "paper_cssr": {"color": "#e08b1a", "lw": 1.1, "ls": "--"},
    }
    figure = Figure(figsize=(max(2.3 * len(sizes), 5), 3.6), layout="constrained")
    axes = figure.subplots(1, len(sizes), sharex=True, sharey=True, squeeze=False)[0]
    for ax, n in zip(axes, sizes, strict=True):
        for name, title in TIMES.items():
            line = [(row["L"], row[name]) for row in cells if row["N"] == n and name in row]
            if line:
                ax.plot(*zip(*line, strict=True), **styles[name], label=title, marker=".", ms=4)
        ax.set_yscale("log")
        ax.set_yticks([0.001, 0.01, 0.1, 1, 10, 100], ["0.001", "0.01", "0.1", "1", "10", "100"])
        ax.set_title(f"N = $10^{len(str(n)) - 1}$", fontsize=11)
        ax.set_xticks(range(4, 21, 4))
        tidy(ax)
    axes[0].set_ylabel("seconds per reconstruction", fontsize=10)
    figure.supxlabel("L, length of the past", fontsize=10)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=4, frameon=False, fontsize=9)
    ds.plot.save(figure, out / "even_timings.png")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    number = {"type": lambda text: int(float(text)), "nargs": "+"}
    parser.add_argument("--trials", type=int, default=50, help="series for each N (default 50)")
    parser.add_argument("--sizes", **number, default=SIZES, choices=SIZES, help="N, such as 1e3 1e4")
    parser.add_argument("--pasts", **number, default=list(PASTS), help="L, such as 3 5 10")
    parser.add_argument("--budget", type=float, default=10.0, help="seconds for each method, N and L (default 10)")
    parser.add_argument("--out", type=Path, default=HERE / "out", help="folder for the results")
    parser.add_argument("--letter", action="store_true", help="section 6.1 to the letter too, in the table of states")
    parser.add_argument("--quick", action="store_true", help="a small version: N = 1e3, 1e4; L = 3, 5; two trials")
    options = parser.parse_args(arguments)
    if options.quick:
        options.trials, options.sizes, options.pasts = 2, [10**3, 10**4], [3, 5]
    options.out.mkdir(parents=True, exist_ok=True)
    draw_machine(options.out)
    path = options.out / "even_states.csv"
    methods = [name for name in METHODS if name != "paper" or options.letter]
    rows = experiment(path, options.sizes, options.pasts, options.trials, options.budget, methods)
    draw_states(rows, options.out)
    timings(rows, options.out)
    print(f"Written to {options.out}.")


if __name__ == "__main__":
    main()
