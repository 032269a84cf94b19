"""
A genome, letter by letter
==========================

How much of DNA can be foretold? A contig of a bacterium (in pyhmmer, among its test data): letters A, C, G and T. There
is no small machine behind it; what forecasts best is an average of many machines and contexts.
"""

import warnings
from importlib.util import find_spec
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import decisional as ds

N = 20_000

folder = Path(find_spec("pyhmmer").origin).parent / "tests" / "data" / "seqs"
lines = (folder / "1390.SAMEA104415756.OFHT01000022.fna").read_text().splitlines()
genome = "".join(line for line in lines if not line.startswith(">")).upper()
learnt, held_out = genome[:N], genome[N : N + N // 2]
print(f"{len(genome):,} letters: {genome[:50]}...")

# %%
# One machine, and the mixture
# ----------------------------

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # that a machine does not tell all
    selection = ds.selection.select(learnt)
machine, mixture = selection.machine, selection.predictor()
print(machine)
print(mixture)


def markov(order: int) -> float:
    """Bits a letter by what followed the last letters where it was learnt, each possibility seen half a time more."""
    counts: dict[str, dict[str, float]] = {}
    for k in range(order, len(learnt)):
        row = counts.setdefault(learnt[k - order : k], dict.fromkeys("ACGT", 0.5))
        row[learnt[k]] += 1
    bits = []
    for k in range(order, len(held_out)):
        row = counts.get(held_out[k - order : k], dict.fromkeys("ACGT", 0.5))
        bits.append(-np.log2(row[held_out[k]] / sum(row.values())))
    return float(np.mean(bits))


# %%
# What was learnt, and what it was worth
# --------------------------------------
# Two bits a letter would be pure chance, and hardly less can be had: of what looks like chance, little is saved by any
# model. The machine finds which letters follow which, the mixture a little more. The simplest alternative, counts of
# what follows the last few letters, does as well when their number is chosen well, and badly when it is not: here it
# was chosen by looking at what was held out, which nobody can. The mixture did not have to be told.

worth = {
    "mixture": float(-mixture.log_likelihood(held_out) / len(held_out)),
    "machine": float(-machine.log_likelihood(held_out) / len(held_out)),
    "letters alone": markov(0),
} | {f"last {order}": markov(order) for order in (1, 2, 3, 4, 6)}
for name, bits in worth.items():
    print(f"{name:14} {bits:.4f} bits a letter")

figure, ax = plt.subplots(figsize=(7, 3), layout="constrained")
ordered = sorted(worth, key=worth.get, reverse=True)
ax.barh(ordered, [2 - worth[name] for name in ordered], color="#7cc8ee")
ax.set(xlabel="bits saved of 2, for each letter that was held out")
ax.axvline(0, color="0.3", linewidth=0.8)
plt.show()
