"""
Coming from CSSR or hmmlearn
============================

The same data in all three: vowels and consonants of English text, which Markov counted first. The text is Python's own
help, which every Python has. CSSR is given a longest history, hmmlearn a number of states; here both are found.
"""

import re
import warnings
from pydoc_data.topics import topics

import matplotlib.pyplot as plt
import numpy as np
from hmmlearn.hmm import CategoricalHMM

import decisional as ds

N = 10_000
STARTS = 4  # of hmmlearn, of which the best is taken

text = re.sub("[^a-z]", "", " ".join(topics[name] for name in sorted(topics)).lower())
vowel = np.isin(list(text), list("aeiou")).astype(int)
learnt, held_out = vowel[:N], vowel[N : 2 * N]
print(text[:40], "".join(".V"[k] for k in vowel[:40]), sep="\n")

# %%
# Three ways
# ----------
# ``ds.baselines.cssr`` is the algorithm of Shalizi and Klinkner, with its two parameters.

models = {f"CSSR, history of {past}": ds.baselines.cssr(learnt, past) for past in (3, 5)}
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # that text has more states than symbols can show
    selection = ds.selection.select(learnt)
    models["epsilon_machine"] = selection.machine
models["mixture"] = selection.predictor()

hidden = {}
for n in (2, 4):
    starts = [CategoricalHMM(n, n_iter=50, random_state=seed).fit(learnt[:, None]) for seed in range(STARTS)]
    hidden[n] = max(starts, key=lambda model: model.score(learnt[:, None]))

figure, ax = plt.subplots(figsize=(9, 9), layout="constrained")
ds.plot.machine(selection.machine, ax=ax)
plt.show()

# %%
# What was learnt, and what it was worth
# --------------------------------------
# The machine is read as: a state, the symbol, the next state. Nothing had to be chosen for it. Its forecasts of letters
# that were held out are about as good as those of CSSR, whose longest history was chosen well here: whoever has tuned
# it on such data loses nothing by staying. Hidden states by hmmlearn depend on their number and on the start. The
# mixture, which is for forecasts only, is the best of all, and all are well below the simplest alternative, how often
# vowels are. What is to be had here is that nothing is tuned, and what comes after: decisions, monitors, reports.

share = learnt.mean()
frequencies = -np.log2(np.where(held_out == 1, share, 1 - share)).mean()
worth = {name: float(-model.log_likelihood(held_out) / held_out.size) for name, model in models.items()}
for n, model in hidden.items():
    worth[f"hmmlearn, {n} states"] = float(-model.score(held_out[:, None]) / np.log(2) / held_out.size)
worth["frequencies alone"] = float(frequencies)
for name, bits in worth.items():
    states = getattr(models.get(name), "n_states", "")
    print(f"{name:20} {bits:.4f} bits a letter {f'({states} states)' if states else ''}")
