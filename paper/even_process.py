"""Section 6.1 of the paper: reconstruction of the Even process, with its transient state.

Writes paper/out/even_machine.png, .dot and .json.
"""

from pathlib import Path

import decisional as ds

OUT = Path(__file__).parent / "out"


def machine(n: int = 100_000, past: int = 10, seed: int = 1) -> ds.CausalStates:
    """The paper's figure "Reconstruction of the Even process": 1e5 points, a past window of 10."""
    symbols = ds.processes.even().simulate(n, rng=seed)
    return ds.CausalStates().fit(ds.observe.series(symbols, past=past))


def main() -> None:
    OUT.mkdir(exist_ok=True)
    causal = machine()
    causal.machine_.save(OUT / "even_machine.json")
    (OUT / "even_machine.dot").write_text(causal.machine_.to_dot())
    ds.plot.save(ds.plot.machine(causal.machine_), OUT / "even_machine.png")
    print(causal.machine_, causal.states_.probability.round(4))


if __name__ == "__main__":
    main()
