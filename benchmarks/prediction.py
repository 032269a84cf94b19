"""Held-out bits: one machine, and the mixture, against context-tree weighting.

The first three quarters of each series are learnt from, the rest is foretold symbol by symbol: by
`ds.epsilon_machine`, by `selection.predictor()`, and by a literal context-tree weighting (F. Willems, Y. Shtarkov and
T. Tjalkens, IEEE Trans. Inf. Theory 41 (1995) 653-664) that is written here in dictionaries, with imagined counts of
1/2 or of 1 / (number of symbols), whichever is better on the symbols to be foretold, which favours it. What was learnt
stays as it is along these symbols (frozen), or grows with them (updating). Texts are those that come with Python and
scikit-learn, the contig of a bacterium is in pyhmmer, the others are in statsmodels and vega_datasets. Prints bits for
each symbol and ratios to context-tree weighting and, when all of it was run, writes them to benchmarks/prediction.md.
`--scale 0.1` takes a part of each series.
"""

import argparse
import re
import time
import warnings
from importlib.resources import files
from math import log
from pathlib import Path

import numpy as np

import decisional as ds

LEARNT = 0.75
# Longest contexts of the reference, for few symbols and for many.
DEPTHS = (12, 7)
FEW = 5


class ContextTree:
    """Context-tree weighting over any alphabet, in logarithms of the probabilities of all that was seen."""

    def __init__(self, symbols: int, depth: int, imagined: float) -> None:
        self.symbols, self.depth, self.imagined = symbols, depth, imagined
        # Of each context: counts, their number, log-probability by its own counts, of its extensions, and weighted.
        self.nodes: dict[tuple[int, ...], list] = {}

    def step(self, past: list[int], symbol: int, learns: bool) -> float:
        """log2-probability of a symbol after a past; it is then learnt or not."""
        below, old, found = 0.0, 0.0, {}
        length = min(self.depth, len(past))
        for n in range(length, -1, -1):
            context = tuple(past[len(past) - n :])
            counts, total, own, inner, weighted = self.nodes.get(context, ({}, 0, 0.0, 0.0, 0.0))
            p = (counts.get(symbol, 0) + self.imagined) / (total + self.imagined * self.symbols)
            # Where the past is too short to tell the extension, it foretells as the context itself.
            own, inner = own + log(p), inner + (below if n < length else log(p))
            new = own if n == self.depth else float(np.logaddexp(own, inner)) - log(2)
            found[context] = (counts, total, own, inner, new)
            below, old = new - weighted, weighted
        if learns:
            for context, (counts, total, *values) in found.items():
                counts[symbol] = counts.get(symbol, 0) + 1
                self.nodes[context] = [counts, total + 1, *values]
        return (found[()][4] - old) / log(2)


def reference(learnt: np.ndarray, rest: np.ndarray, symbols: int, updating: bool) -> float:
    """Bits for each symbol of the rest, the better of two kinds of imagined counts."""
    results = []
    for imagined in {0.5, 1.0 / symbols}:
        tree = ContextTree(symbols, DEPTHS[symbols > FEW], imagined)
        past: list[int] = []
        for symbol in learnt.tolist():
            tree.step(past, symbol, learns=True)
            past = [*past[-tree.depth :], symbol]
        past = past if updating else []
        bits = 0.0
        for symbol in rest.tolist():
            bits -= tree.step(past, symbol, updating)
            past = [*past[-tree.depth :], symbol]
        results.append(bits / rest.size)
    return min(results)


def genome() -> np.ndarray:
    """The letters of a contig, one after the other."""
    path = files("pyhmmer") / "tests" / "data" / "seqs" / "1390.SAMEA104415756.OFHT01000022.fna"
    lines = path.read_text().splitlines()
    return np.array(list("".join(line for line in lines if not line.startswith(">")).upper()))


def ups(values: np.ndarray) -> np.ndarray:
    known = np.asarray(values, float)
    known = known[np.isfinite(known)]
    return (np.diff(known) > 0).astype(int)


def series() -> dict[str, np.ndarray]:
    """Symbols by name."""
    from pydoc_data.topics import topics

    import statsmodels.api as sm
    from vega_datasets import data

    english = re.sub(r"\s+", " ", " ".join(topics[name] for name in sorted(topics)))[:20_000]
    notes = " ".join(
        part.read_text()
        for part in sorted(files("sklearn.datasets.descr").iterdir(), key=str)
        if part.name.endswith(".rst")
    )
    notes = re.sub(r"\s+", " ", notes).lower()[:20_000]
    seattle, angeles = data.seattle_weather(), data.seattle_temps()
    found = {
        "text, Python's help": np.array(list(english)),
        "text, scikit-learn's notes": np.array(list(notes)),
        "DNA of a bacterium": genome()[:20_000],
        "weather in Seattle, 5 kinds": np.asarray(seattle["weather"], str),
        "rain in Seattle or not": (np.asarray(seattle["precipitation"]) > 0).astype(int),
        "temperature, up or down": ups(angeles["temp"]),
        "CO2, up or down": ups(sm.datasets.co2.load_pandas().data["co2"]),
        "sunspots, up or down": ups(sm.datasets.sunspots.load_pandas().data["SUNACTIVITY"]),
    }
    return {name: np.unique(symbols, return_inverse=True)[1] for name, symbols in found.items()}


def measured(codes: np.ndarray) -> dict[str, float]:
    """Bits for each symbol by all predictors, and the CPU seconds of the mixture."""
    cut = int(LEARNT * codes.size)
    learnt, rest, symbols = codes[:cut], codes[cut:], int(codes.max()) + 1
    selection = ds.selection.select(learnt)
    bits = {"machine": -selection.machine.log_likelihood(rest) / rest.size, "states": selection.machine.n_states}
    begin = time.process_time()
    mixture = selection.predictor()
    bits["mixture"] = -mixture.log_likelihood(rest) / rest.size
    bits["mixture, updating"] = -mixture.update(rest) / rest.size
    bits["seconds"] = time.process_time() - begin
    bits["tree"] = reference(learnt, rest, symbols, updating=False)
    bits["tree, updating"] = reference(learnt, rest, symbols, updating=True)
    return {"symbols": symbols, "n": codes.size, **bits}


HEAD = (
    "| series | letters | N | context tree, bits | one machine | states | mixture | context tree, updating | "
    "mixture, updating | CPU s |\n|---|---|---|---|---|---|---|---|---|---|"
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scale", type=float, default=1.0)
    scale = parser.parse_args().scale
    warnings.simplefilter("ignore", UserWarning)
    lines = [HEAD]
    print(HEAD)
    for name, codes in series().items():
        row = measured(np.unique(codes[: max(int(scale * codes.size), 200)], return_inverse=True)[1])
        machine, mixture = row["machine"] / row["tree"], row["mixture"] / row["tree"]
        updating = row["mixture, updating"] / row["tree, updating"]
        first = f"| {name} | {row['symbols']} | {row['n']:,} | {row['tree']:.4f} | {machine:.3f} | {row['states']} "
        lines.append(f"{first}| {mixture:.3f} | {row['tree, updating']:.4f} | {updating:.3f} | {row['seconds']:.1f} |")
        print(lines[-1], flush=True)
    if scale == 1.0:
        title = (
            "# Held-out bits\n\nBits for each symbol by the context tree, and ratios to them; see prediction.py.\n\n"
        )
        Path(__file__).with_suffix(".md").write_text(title + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
