"""
Words: strings that begin and end
=================================

Words are whole strings: a letter first, an end. A machine of all words knows where a word begins, how it may go on, and
whether it has ended. The words are those of the notes on data sets in scikit-learn, each once; every third is held out.
"""

import re
import warnings
from importlib.resources import files

import matplotlib.pyplot as plt
import numpy as np

import decisional as ds

WORDS = 1200

notes = " ".join(
    part.read_text()
    for part in sorted(files("sklearn.datasets.descr").iterdir(), key=str)
    if part.name.endswith(".rst")
)
words = list(dict.fromkeys(re.findall(r"[a-z]{3,}", notes.lower())))[:WORDS]
held_out = words[::3]
learnt = [word for k, word in enumerate(words) if k % 3]
print(len(learnt), "words to learn from:", " ".join(learnt[:8]), "...")

# %%
# A machine of whole strings
# --------------------------

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # that the machine does not tell all
    selection = ds.selection.select([list(word) for word in learnt], whole=True)
    mixture = selection.predictor()
machine = selection.machine
print(machine)
print("made up:", " ".join("".join(map(str, word)) for word in machine.simulate(8, rng=1)))

# %%
# What was learnt, and what it was worth
# --------------------------------------
# All letters of a word and its end are paid for, in bits. The simplest alternative counts which letter follows which,
# the beginning and the end among them. The machine, which must be sure of each of its states, is about as good as that
# table of pairs; the mixture is better, as it looks further back where that helps.


def pairs(strings: list[str], new: list[str]) -> float:
    """Bits a word by what follows each letter, each possibility seen a tenth of a time more."""
    code = {letter: k for k, letter in enumerate("^" + "".join(sorted(set("".join(strings + new)))) + "$")}
    counts = np.full((len(code), len(code)), 0.1)
    for word in strings:
        for a, b in zip("^" + word, word + "$", strict=True):
            counts[code[a], code[b]] += 1
    p = np.log2(counts / counts.sum(axis=1, keepdims=True))
    return -sum(p[code[a], code[b]] for word in new for a, b in zip("^" + word, word + "$", strict=True)) / len(new)


def bits(model: ds.EpsilonMachine | ds.Mixture) -> float:
    return float(-sum(model.log_likelihood(list(word)) for word in held_out) / len(held_out))


worth = {"mixture": bits(mixture), "machine": bits(machine), "pairs of letters": float(pairs(learnt, held_out))}
for name, value in worth.items():
    print(f"{name:18} {value:.2f} bits a word")

# %%
# Which end is likely, letter by letter: what the machine believes of a word that goes on.

word = "classification"
chances = machine.predict_proba(list(word))[:, -1]
figure, ax = plt.subplots(figsize=(8, 2.6), layout="constrained")
ax.bar(range(len(word)), chances, color="#7cc8ee")
ax.set_xticks(range(len(word)), list(word))
ax.set(ylabel="P(the word ends here)")
plt.show()
