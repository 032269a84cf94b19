"""Hidden states: whether their number is right, what is lost, decisions on beliefs, the choice of the kind, and speed.

    python benchmarks/beliefs.py --first 1 --seeds 1 --size 20000 --parts found decided kinds speed

`found`: Mess3, the Even process misread by 5 %, the simple non-unifilar source and random hidden models of 2 to 4
states; excess bits on 100,000 fresh symbols above the true model, how much of the true beliefs is a linear function of
ours (R²), and by how many bits the description by the true model is longer than the one found: above 0, the data say
more for the one found. `decided`: three utilities on five sources; realised utility on fresh symbols by the true model,
and how much less it is by beliefs and by the finite machine of the same data, with standard errors, and which kind is
to be preferred by `is_finite`. `kinds`: known processes and random unifilar machines, for which the finite kind is to
be chosen. `speed`: a pass of EM over a million symbols with 10 hidden states, beside one of hmmlearn. Seeds begin at
`--first`.
"""

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import decisional as ds
from decisional.decisions.regret import block_error
from decisional.states.hidden_search import drawn, judged
from decisional.states.hidden_series import Hidden, HiddenSeries, known_symbols

FRESH = 100_000
# Unifilar machines that are drawn for each seed.
DRAWN = 10
PARTS = ("found", "decided", "kinds", "speed")
HEAD = """# Hidden states and decisions on beliefs

Written by `python benchmarks/beliefs.py`; see `beliefs.py` for what is measured.

"""
Machine = ds.BeliefMachine


def sources(seed: int) -> Iterator[tuple[str, Machine]]:
    """Hidden models, by name: three known ones, and five that are drawn."""
    yield "Mess3", ds.processes.mess3()
    yield "Even, misread", ds.processes.misread(ds.processes.even(), 0.05)
    yield "non-unifilar", ds.processes.simple_nonunifilar()
    rng = np.random.default_rng(seed)
    for k, n_states in enumerate((2, 2, 3, 3, 4)):
        yield f"random {k}, {n_states} states", ds.processes.random_hidden(n_states, 3, rng=rng)


def learnt(symbols: Any) -> tuple[ds.selection.BeliefSelection, float]:
    """What is found, and CPU seconds."""
    begin = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return ds.selection.select_beliefs(symbols), time.process_time() - begin


def linear(ours: np.ndarray, true: np.ndarray) -> float:
    """R² of the true beliefs, as a linear function of ours."""
    ours = np.column_stack([ours, np.ones(len(ours))])
    left = true - ours @ np.linalg.lstsq(ours, true, rcond=None)[0]
    return float(1.0 - left.var(axis=0).sum() / true.var(axis=0).sum())


def series_of(symbols: np.ndarray, n_symbols: int) -> HiddenSeries:
    return known_symbols(symbols.astype(np.int64), np.array([0, symbols.size]), n_symbols)


def found_rows(first: int, seeds: int, size: int) -> Iterator[str]:
    """A row for each source and seed."""
    yield "| source | seed | states | found | excess bits | R² | truth longer by | CPU s |"
    yield "|---|---|---|---|---|---|---|---|"
    for seed in range(first, first + seeds):
        for name, true in sources(seed):
            symbols, fresh = true.simulate(size, rng=seed), true.simulate(FRESH, rng=seed + 1_000_000)
            found, seconds = learnt(symbols)
            machine = found.machine
            excess = (true.log_likelihood(fresh) - machine.log_likelihood(fresh)) / FRESH
            shared = linear(machine.filter(fresh)[100:], true.filter(fresh)[100:])
            exact = Hidden(np.array(true.steps), np.array(true.stationary))
            longer = judged(exact, series_of(symbols, len(true.steps))).description_length
            longer -= found.candidates[0].description_length
            row = [name, seed, true.n_states, machine.n_states, f"{excess:.6f}", f"{shared:.5f}", f"{longer:.1f}"]
            yield f"| {' | '.join(map(str, [*row, f'{seconds:.0f}']))} |"


def decided_sources(seed: int) -> Iterator[tuple[str, Machine]]:
    """Five of them: the known ones, a sensor of something that hardly ever changes, and one that is drawn."""
    known = dict(sources(seed))
    yield from list(known.items())[:3]
    rows = [("well", 0, "well", 0.99), ("well", 1, "worn", 0.01), ("worn", 1, "worn", 0.99), ("worn", 0, "well", 0.01)]
    yield "pump, misread", ds.processes.misread(ds.EpsilonMachine(rows), 0.3)
    yield "random 2, 3 states", known["random 2, 3 states"]


def tables(true: Machine) -> dict[str, Any]:
    """Three utilities: to be right, to bet at odds that are fair without knowledge, and to bet for a fee or not."""
    odds = 1.0 / (true.stationary @ true.emission)
    fair = np.diag(odds) - 1.0
    fee = np.vstack([np.zeros(odds.size), fair - 0.1])
    return {"right": ds.utility.zero_one(), "odds": fair, "fee": fee}


def realised(utility: Any, model: Any, fresh: np.ndarray) -> np.ndarray:
    """(n,) what the decisions of a model bring along fresh symbols, each of which is decided on before it comes."""
    worth = ds.utility.as_utility(utility).bound(model.alphabet)
    candidates = list(worth.candidates(model.alphabet))
    table = worth.matrix(candidates, model.alphabet)
    ahead = model.predict_proba(fresh)[:-1]
    code = {symbol: k for k, symbol in enumerate(model.alphabet)}
    happened = np.array([code[symbol] for symbol in fresh[1:].tolist()])
    return table[(ahead @ table.T).argmax(axis=1), happened]


def decided_rows(first: int, seeds: int, size: int) -> Iterator[str]:
    """A row for each source, utility and seed."""
    yield "| source | seed | utility | true model | by beliefs, less | by the finite machine, less | regions | chosen |"
    yield "|---|---|---|---|---|---|---|---|"
    for seed in range(first, first + seeds):
        for name, true in decided_sources(seed):
            symbols, fresh = true.simulate(size, rng=seed), true.simulate(FRESH, rng=seed + 1_000_000)
            found = learnt(symbols)[0]
            for what, utility in tables(true).items():
                choice = ds.DecisionalStates(utility).fit(found.machine)
                best = realised(utility, true, fresh)
                less = [best - realised(utility, one, fresh) for one in (found.machine, found.unifilar.machine)]
                assert abs(choice.score(fresh) - (best - less[0]).mean()) < 1e-9
                cells = [f"{part.mean():.5f} ± {block_error(part):.5f}" for part in less]
                kind = "finite" if found.is_finite else "beliefs"
                row = [name, seed, what, f"{best.mean():.4f}", *cells, choice.regions_.n_regions, kind]
                yield f"| {' | '.join(map(str, row))} |"


def kind_rows(first: int, seeds: int, size: int) -> Iterator[str]:
    """How often the finite kind is chosen for finite machines."""
    yield "| machines | runs | finite chosen | others |"
    yield "|---|---|---|---|"
    kinds: dict[str, Callable[[int], list[tuple[str, Any]]]] = {
        "known processes": lambda seed: [(name, make()) for name, make in ds.processes.catalogue.items()],
        "random unifilar": lambda seed: [
            (f"random {k}", unifilar(k)) for k in range(DRAWN * seed, DRAWN * seed + DRAWN)
        ],
    }
    for kind, make in kinds.items():
        runs, others = 0, list[str]()
        for seed in range(first, first + seeds):
            for name, machine in make(seed):
                runs += 1
                found = learnt(machine.simulate(size, rng=seed))[0]
                others += [] if found.is_finite else [f"{name} ({found.gain:.0f} bits)"]
        yield f"| {kind} | {runs} | {runs - len(others)} | {', '.join(others)} |"


def unifilar(seed: int) -> ds.EpsilonMachine:
    """A machine of 2 to 6 states over 2 or 3 symbols, which may forbid some."""
    rng = np.random.default_rng(seed)
    n, n_symbols = int(rng.integers(2, 7)), int(rng.integers(2, 4))
    emission = rng.dirichlet(np.ones(n_symbols), n)
    targets = rng.integers(0, n, (n, n_symbols))
    rows = [(i, a, int(targets[i, a]), emission[i, a]) for i in range(n) for a in range(n_symbols)]
    return ds.EpsilonMachine(rows).recurrent_part().minimise()


def speed_rows(size: int, n_states: int = 10, repeats: int = 3) -> Iterator[str]:
    """A pass of ours and one of hmmlearn on the same symbols."""
    from hmmlearn.hmm import CategoricalHMM

    symbols = ds.processes.random_hidden(n_states, 4, rng=1).simulate(size, rng=1)
    series, machine = series_of(symbols, 4), drawn(4, n_states, np.random.default_rng(3))
    other = CategoricalHMM(n_states, n_iter=1, random_state=0)
    other.fit(symbols[:1_000, None])
    other.init_params = ""
    series.expected(machine)
    times: dict[str, list[tuple[float, float]]] = {"ours": [], "hmmlearn": []}
    for _ in range(repeats):
        for name, run in (
            ("ours", lambda: series.expected(machine)),
            ("hmmlearn", lambda: other.fit(symbols[:, None])),
        ):
            wall, cpu = time.perf_counter(), time.process_time()
            run()
            times[name].append((time.perf_counter() - wall, time.process_time() - cpu))
    best = {name: np.min(times[name], axis=0) for name in times}
    yield f"| a pass over {size:,} symbols, {n_states} states | seconds | CPU seconds |"
    yield "|---|---|---|"
    for name, (wall, cpu) in best.items():
        yield f"| {name} | {wall:.3f} | {cpu:.3f} |"
    yield f"| ratio | {best['hmmlearn'][0] / best['ours'][0]:.1f} | {best['hmmlearn'][1] / best['ours'][1]:.1f} |"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--size", type=int, default=20_000)
    parser.add_argument("--symbols", type=int, default=1_000_000, help="of the pass whose speed is measured")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    given = parser.parse_args()
    how = given.first, given.seeds, given.size
    parts = {
        "found": lambda: found_rows(*how),
        "decided": lambda: decided_rows(*how),
        "kinds": lambda: kind_rows(*how),
        "speed": lambda: speed_rows(given.symbols),
    }
    told = [HEAD + f"{given.size:,} symbols, seeds from {given.first}.\n"]
    for part in given.parts:
        told.append("")
        for line in parts[part]():
            print(line, flush=True)
            told.append(line)
    Path(__file__).with_suffix(".md").write_text("\n".join(told) + "\n")


if __name__ == "__main__":
    main()
