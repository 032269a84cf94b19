"""Accuracy against peers: how often the true epsilon-machine comes back, and how well new symbols are predicted.

Fifteen processes of `decisional.processes.catalogue`, the same series for all; a machine is right if its recurrent
part is isomorphic to the truth, probabilities within 0.1 (0.2 below 10,000 symbols). The loss is that of 10,000 new
symbols, in bits per symbol above the exact entropy rate. Prints tables and writes them to benchmarks/accuracy.md. The
peers emic, sofic and hmmlearn are left out unless installed: pip install emic sofic hmmlearn.
"""

import argparse
import logging
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

import decisional as ds

HEAD = """\
Written by `benchmarks/accuracy.py`: how many machines come back right, on the same series for all methods. A machine is
right if its recurrent part is isomorphic to the truth, probabilities within 0.1 (0.2 below 10,000 symbols). To be read
with it: few series; the processes are among those that `decisional` was developed on; `decisional` chooses its windows,
and so does sofic with its defaults; the others are given one length for all processes, and the level 0.001 for their
tests; the times are those of whatever else the machine was doing.

hmmlearn fits hidden Markov models whose states emit symbols: 1 to 6 states, 3 random starts and at most 100 iterations
each, the number of states by BIC. It is right if the model, with negligible probabilities (below 0.02) left out, is
unifilar and minimises to the true machine; it does not set out to be. The loss is the fair measure for it: bits per
symbol of 10,000 new symbols above the exact entropy rate, the median over the series. A model that holds impossible
what happened has an infinite loss; `no loss` counts these and the failures. hmmlearn has one series of each process
from 10,000 symbols on and none above 20,000, for time."""

HELD_OUT = 10_000
STATES, STARTS, ITERATIONS = range(1, 7), 3, 100  # of hmmlearn
HMM_LARGEST = 20_000


@dataclass(frozen=True)
class Found:
    """What a method found: its machine (None where there is no unifilar one), states, and bits of new symbols."""

    machine: ds.EpsilonMachine | None
    n_states: int
    bits: Callable[[np.ndarray], float]


Method = Callable[[np.ndarray], Found]


def found(machine: ds.EpsilonMachine) -> Found:
    """A machine without its transient states."""
    part = machine.recurrent_part()
    return Found(part, part.n_states, lambda new: -part.log_likelihood(new))


def literal(symbols: np.ndarray) -> ds.EpsilonMachine:
    """The settings of the paper's section 6.1 to the letter, with a past of 5."""
    settings = {"density": ds.Counts(min_count=1), "match": ds.ChiSquare(0.05, family_wise=False)}
    causal = ds.CausalStates(**settings, constraints="paper", theta=0.95, passes=1)
    return causal.fit(ds.observe.series(symbols, past=5)).machine_


def emic_cssr(symbols: np.ndarray) -> ds.EpsilonMachine:
    """CSSR of emic with a past of 5 and the level of CSSR's authors, as an EpsilonMachine."""
    from emic.inference import CSSR, CSSRConfig

    found = CSSR(CSSRConfig(max_history=5, significance=0.001)).infer(symbols.tolist()).machine
    rows = [(s.id, t.symbol, t.target, float(t.probability)) for s in found.states for t in s.transitions]
    return ds.EpsilonMachine(rows)


def sofic_cssr(symbols: np.ndarray, **settings: Any) -> ds.EpsilonMachine:
    """CSSR of sofic, as an EpsilonMachine; without settings its own choice of length and level."""
    from sofic.generators.epsilon_inference import cssr

    rows = cssr(symbols.tolist(), **settings).transitions()
    return ds.EpsilonMachine([(t.source, t.data["emission"], t.target, float(t.data["prob"])) for t in rows])


def hmm(symbols: np.ndarray) -> Found:
    """The hidden Markov model of hmmlearn with the best BIC."""
    from hmmlearn.hmm import CategoricalHMM

    logging.getLogger("hmmlearn").setLevel(logging.ERROR)
    column = symbols[:, None]
    n_symbols = int(symbols.max()) + 1
    fits = []
    for n_states in STATES:
        for seed in range(STARTS):
            settings = {"n_features": n_symbols, "implementation": "scaling", "n_iter": ITERATIONS}
            model = CategoricalHMM(n_states, random_state=seed, **settings).fit(column)
            score = model.bic(column)
            if np.isfinite(score):
                fits.append((score, n_states, seed, model))
    model = min(fits, key=lambda fit: fit[:3])[3]
    # Scaling underflows where new symbols are impossible; logarithms give them an infinite loss.
    model.implementation = "log"
    machine = unifilar(model.transmat_, model.emissionprob_, 0.2 if symbols.size < 10_000 else 0.1)
    return Found(machine, model.n_components, lambda new: -float(model.score(new[:, None])) / np.log(2))


def unifilar(move: np.ndarray, emit: np.ndarray, atol: float) -> ds.EpsilonMachine | None:
    """The recurrent minimal machine of a model whose states emit, if each symbol leads to one state; else None."""
    # p[s, a, t]: from state s to t, whose symbol is a.
    p = move[:, None, :] * emit.T[None]
    p[p < 0.02] = 0.0
    if ((p > 0).sum(axis=2) > 1).any():
        return None
    p /= p.sum(axis=(1, 2), keepdims=True)
    return (
        ds.EpsilonMachine.from_arrays(p.argmax(axis=2), p.sum(axis=2), range(p.shape[1]))
        .recurrent_part()
        .minimise(atol)
    )


def methods() -> dict[str, Method]:
    """The methods that are installed, by name."""
    runs: dict[str, Method] = {
        "decisional, no parameters": lambda symbols: found(ds.epsilon_machine(symbols)),
        "our CSSR, L = 5": lambda symbols: found(ds.baselines.cssr(symbols, 5)),
        "our CSSR, L = 8": lambda symbols: found(ds.baselines.cssr(symbols, 8)),
        "paper to the letter, L = 5": lambda symbols: found(literal(symbols)),
    }
    peers: dict[str, dict[str, Method]] = {
        "emic": {"CSSR, L = 5": lambda symbols: found(emic_cssr(symbols))},
        "sofic": {
            "CSSR, L = 5": lambda symbols: found(sofic_cssr(symbols, Lmax=5, alpha=0.001)),
            "CSSR, defaults": lambda symbols: found(sofic_cssr(symbols)),
        },
        "hmmlearn": {"by BIC": hmm},
    }
    for package, its in peers.items():
        try:
            version = metadata.version(package)
        except metadata.PackageNotFoundError:
            print(f"{package} is not installed and left out: pip install {package}.")
        else:
            runs |= {f"{package} {version} {name}": run for name, run in its.items()}
    return runs


def is_right(machine: ds.EpsilonMachine | None, truth: ds.EpsilonMachine, n: int) -> bool:
    return machine is not None and machine.is_isomorphic(truth, atol=0.2 if n < 10_000 else 0.1)


@dataclass(frozen=True)
class Score:
    """Of one series: whether the machine and its number of states are right, bits per symbol too many, and seconds."""

    right: bool
    same_size: bool
    loss: float
    seconds: float


def measure(run: Method, truth: ds.EpsilonMachine, symbols: np.ndarray, new: np.ndarray) -> Score:
    """A method that fails with an error is wrong, and has no loss."""
    start = time.perf_counter()
    try:
        result = run(symbols)
    except Exception as error:
        print(f"  failed: {type(error).__name__}: {error}")
        return Score(False, False, np.inf, time.perf_counter() - start)
    seconds = time.perf_counter() - start
    loss = result.bits(new) / new.size - truth.entropy_rate()
    return Score(is_right(result.machine, truth, symbols.size), result.n_states == truth.n_states, loss, seconds)


def series_of(name: str, n: int, seeds: int) -> int:
    """How many of the series a method is given: hmmlearn takes minutes for some."""
    if not name.startswith("hmmlearn") or n < 10_000:
        return seeds
    return min(seeds, 1) if n <= HMM_LARGEST else 0


def table(runs: dict[str, Method], n: int, seeds: int) -> list[str]:
    """One row for each process: how many machines are right; then one for each method."""
    runs = {name: run for name, run in runs.items() if series_of(name, n, seeds)}
    lines = [f"## N = {n:,}, {seeds} series of each process", ""]
    lines += ["| process | states | " + " | ".join(runs) + " |", "|---|--:|" + "--:|" * len(runs)]
    scores: dict[str, list[Score]] = {name: [] for name in runs}
    for process, make in list(ds.processes.catalogue.items())[:15]:
        truth = make()
        series = [truth.simulate(n, rng=[seed, n]) for seed in range(seeds)]
        new = [truth.simulate(HELD_OUT, rng=[seed, n, 1]) for seed in range(seeds)]
        cells = []
        for name, run in runs.items():
            k = series_of(name, n, seeds)
            scored = [measure(run, truth, *given) for given in zip(series[:k], new[:k], strict=True)]
            scores[name] += scored
            cells.append(f"{sum(s.right for s in scored)}/{k}")
        lines.append(f"| {process} | {truth.n_states} | " + " | ".join(cells) + " |")
        print(lines[-1], flush=True)
    summary = ["", "| method | right | right number of states | median loss | no loss | mean seconds |"]
    summary += ["|---|--:|--:|--:|--:|--:|"]
    for name, of in scores.items():
        share = [f"{np.mean([getattr(s, key) for s in of]):.0%}" for key in ("right", "same_size")]
        lost = sum(not np.isfinite(s.loss) for s in of)
        typical, seconds = np.median([s.loss for s in of]), np.mean([s.seconds for s in of])
        summary.append(f"| {name} | {share[0]} | {share[1]} | {typical:.4f} | {lost} of {len(of)} | {seconds:.3f} |")
    print("\n".join(summary) + "\n", flush=True)
    return [*lines, *summary, ""]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=lambda text: int(float(text)), nargs="+", default=[10**3, 10**4, 10**5])
    parser.add_argument("--seeds", type=int, nargs="+", default=[3, 3, 1], help="series for each size, or one for all")
    options = parser.parse_args()
    seeds = options.seeds * len(options.sizes) if len(options.seeds) == 1 else options.seeds
    if len(seeds) < len(options.sizes):
        parser.error("--seeds takes one number, or one for each size")
    # Uncertainty is told by warnings: here it is measured.
    warnings.simplefilter("ignore", UserWarning)
    runs = methods()
    for run in runs.values():
        # Kernels are compiled, or found on disk, outside the times.
        run(ds.processes.even().simulate(1000, rng=0))
    lines = ["# Accuracy", "", HEAD, ""]
    for n, k in zip(options.sizes, seeds, strict=False):
        print(f"N = {n:,}: {', '.join(runs)}")
        lines += table(runs, n, k)
    Path(__file__).with_suffix(".md").write_text("\n".join(lines))


if __name__ == "__main__":
    main()
