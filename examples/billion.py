"""
A billion symbols
=================

Data that do not fit into memory are read slice by slice, with the result of the whole. Here are a few million symbols
in a file of bytes, simulated by the Even process; what changes with a billion is the number in the first line, and the
time in proportion: memory is that of a slice and of the table of distinct windows, not of the data.
"""

import time
from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib.pyplot as plt
import numpy as np

import decisional as ds

N = 8_000_000

even = ds.processes.even()
sizes = [N // 8, N // 4, N // 2, N]
seconds, rates = [], []
with TemporaryDirectory() as folder:
    path = Path(folder) / "symbols.bin"
    even.simulate(N, rng=1).astype(np.uint8).tofile(path)
    stored = np.memmap(path, np.uint8, "r")
    ds.CausalStates().fit(ds.observe.series(stored[:100_000], past=10, chunks=50_000))  # compiles
    for size in sizes:
        start = time.perf_counter()
        causal = ds.CausalStates().fit(ds.observe.series(stored[:size], past=10, chunks=1_000_000))
        seconds.append(time.perf_counter() - start)
    whole = ds.CausalStates().fit(ds.observe.series(np.asarray(stored), past=10))
    same = np.array_equal(causal.distributions_, whole.distributions_)
    del stored
print(f"{causal.n_states_} causal states; the same as in memory, bit for bit: {same}")

# %%
# Time grows with the data, and with nothing else.

figure, ax = plt.subplots(figsize=(7, 2.8), layout="constrained")
ax.plot(np.array(sizes) / 1e6, seconds, "o-", color="#225588")
ax.set(xlabel="million symbols, in slices of one million", ylabel="seconds", ylim=(0, None), xlim=(0, None))
plt.show()

# %%
# What was learnt, and what it was worth
# --------------------------------------
# More data tell the probabilities better, and the states no better: this machine has two that come again, and a
# few thousand symbols tell them. Ask whether a sample would do before you count a billion. Held out are symbols of the
# same process, judged by bits above its entropy rate; the simplest alternative is a machine of the first thousandth.

fresh = even.simulate(200_000, rng=2)
few = ds.epsilon_machine(even.simulate(N, rng=1)[: N // 1000])
all_of_it = causal.machine_.recurrent_part()
worth = {"same": same}
for name, machine in (("all symbols", all_of_it), ("a thousandth", few)):
    worth[name] = float((even.log_likelihood(fresh) - machine.log_likelihood(fresh)) / fresh.size)
    print(f"{name:14} {machine.n_states} states, {worth[name]:+.6f} bits a symbol above those of the process")
