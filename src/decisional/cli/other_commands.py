"""decisional simulate, demo and cssr: symbols of a known process, a tour, and the program CSSR."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from typing import Any

from . import summary
from .parser import LEVEL, add_command, integer, option
from .results import announce, check_folder, check_path, check_paths, machine_writers

SIMULATE = """\
Processes: coin, biased_coin, golden_mean, even, odd, noisy_period_2, perturbed_coin, periodic, z1r, rrxor, rip, nemo,
nrps, butterfly, restricted_golden_mean, alternating_biased_coins, rk_golden_mean, noisy_copy, multiples, irreversible,
ehrenfest, ising, tent_map.

example:
  decisional simulate even -n 20000 --seed 1 --out even.txt
  decisional simulate golden_mean --param p=0.3 | decisional symbols -
"""
DEMO = """\
Simulates 100,000 symbols of the Even process, where ones come in even numbers, and recovers its two states; bets on the
next symbol; and filters a cellular automaton, rule 110. Open report.html afterwards.

example:
  decisional demo --out demo
"""
CSSR = """\
ALPHABET is a file with all symbols, one character each. The results are those of `decisional.baselines.cssr`, in CSSR's
files: DATA_results, DATA_inf.dot, DATA_info and DATA_state_series.

example:
  decisional cssr alphabet.txt even.txt 5 -s 0.001
"""
# Of the tour.
SEED, SYMBOLS, PAST = 1, 100_000, 10


def add(commands: Any) -> None:
    """Add the commands to the parser."""
    about = "Emit symbols of a known process, on one line."
    command = add_command(commands, "simulate", simulate, "symbols of a known process", about, SIMULATE)
    option(command, "process", "PROCESS", "name of the process")
    option(command, "-n", "N", "number of symbols (default: 10000)", integer(1), default=10_000)
    option(command, "--seed", "S", "seed of the random numbers", integer(0))
    option(command, "--param", "K=V", "parameter of the process", action="append", default=[])
    option(command, "--out", "FILE", "write the symbols to a file instead of standard output")
    option(command, "--json", "FILE", "save the exact machine: .json")
    about = "Reconstruct a known process, decide, and filter a field, with pictures and a report."
    command = add_command(commands, "demo", demo, "a tour: a process, a decision and a field", about, DEMO)
    option(command, "--out", "DIR", "folder for the files (default: demo)", default="demo")
    about = "Reconstruct the states of a file by CSSR, with the options and the result files of that program."
    command = add_command(commands, "cssr", cssr, "as CSSR, with the same result files", about, CSSR)
    option(command, "alphabet", "ALPHABET", "file with the symbols, one character each")
    option(command, "data", "DATA", "file with the data")
    option(command, "length", "L", "length of the longest histories", integer(1))
    command.add_argument("-m", dest="multi", action="store_true", help="each line of DATA is a series of its own")
    option(command, "-s", "ALPHA", "level (default: 0.001)", LEVEL, dest="alpha", default=0.001)
    command.add_argument("-ch", dest="chi", action="store_true", help="chi-square instead of Kolmogorov-Smirnov")
    option(command, "--out", "DIR", "folder for the result files (default: that of DATA)")
    option(command, "--json", "FILE", "save the machine: .json, for decide and watch")
    command.add_argument("--quiet", action="store_true", help="print no summary")


def simulate(arguments: argparse.Namespace) -> int:
    """Simulate a process."""
    from .. import processes
    from ..support.files import write_text

    arguments.out = None if arguments.out == "-" else arguments.out
    check_paths(arguments, "out", "json")
    process = processes.catalogue.get(arguments.process)
    if process is None:
        known = ", ".join(processes.catalogue)
        raise ValueError(f"There is no process {arguments.process!r}: choose one of {known}.")
    machine = process(**_parameters(arguments.process, process, arguments.param))
    symbols = list(map(str, machine.simulate(arguments.n, rng=arguments.seed).tolist()))
    text = ("" if all(len(symbol) == 1 for symbol in symbols) else " ").join(symbols) + "\n"
    if arguments.json is not None:
        machine.save(arguments.json)
    if arguments.out is not None:
        write_text(arguments.out, text)
    else:
        sys.stdout.write(text)
    return 0


def _parameters(name: str, process: Callable[..., Any], given: list[str]) -> dict[str, Any]:
    """Values for the parameters of a process, of the types that it has them in."""
    from inspect import signature

    known = signature(process).parameters
    kinds: dict[str, Any] = {"float": float, "int": int}
    found: dict[str, Any] = {}
    for text in given:
        key, equals, value = text.partition("=")
        if not equals or key not in known:
            listed = ", ".join(f"{key}={parameter.default}" for key, parameter in known.items())
            raise ValueError(f"The --param {text!r} is no parameter of {name}: choose among {listed}.")
        try:
            found[key] = kinds.get(str(known[key].annotation), str)(value)
        except ValueError:
            raise ValueError(
                f"The --param {text!r} has no number after '=': write {key}={known[key].default}."
            ) from None
    return found


def demo(arguments: argparse.Namespace) -> int:
    """Run the tour."""
    from .. import plot

    plot.require_matplotlib()
    check_folder(arguments.out)
    names = ("even.json", "even.dot", "even.png", "decisions.png", "report.html", "rule110.png")
    *machine_files, picture, page, automaton = written = [os.path.join(arguments.out, name) for name in names]
    print("The Even process: its two states A and B have probabilities 2/3 and 1/3,")
    print("C = 0.9183 bits and h = 0.6667 bits per symbol. From a simulation we get:\n")
    os.makedirs(arguments.out, exist_ok=True)
    from .. import observe, processes, report, selection, utility
    from ..decisions.decisional_model import DecisionalModel
    from ..states.causal_model import CausalModel

    symbols = processes.even().simulate(SYMBOLS, rng=SEED)
    chosen = selection.select(symbols)
    print(chosen.why)
    causal: Any = CausalModel().fit(observe.series(symbols, past=PAST))
    choice: Any = DecisionalModel(utility.table([[0, 0], [-3, 1]], y=["stay out", "bet on 1"])).fit(causal)
    machine = causal.machine_
    for write, path in zip(machine_writers(machine).values(), machine_files, strict=True):
        write(path)
    plot.save(plot.decisions(choice), picture)
    asked = {"Command": "demo", "Process": f"{SYMBOLS:,} symbols of the Even process", "Past": PAST}
    asked |= {"Utility": "bet on 1: win 1 or lose 3; stay out: 0"}
    found = {"series": symbols, "causal": causal, "choice": choice, "selection": chosen}
    title = "The Even process: its states and a bet"
    report.write(page, title=title, asked=asked, command=arguments.command, seed=SEED, **found)
    print("\n".join(["", *summary.machine_tables(machine), "", *summary.measures(machine, causal.complexity_)]))
    recurrent = int(machine.recurrent.sum())
    print(f"\n{recurrent} recurrent states; C is the window of {PAST} ones, which does not tell the state.")
    print("\nA bet on 1 that wins 1 or loses 3: bet in B only.\n")
    print("\n".join(summary.decisions(choice, causal.complexity_)))
    field = processes.elementary_ca(110, 400, 404, SEED)[100:]
    causal = CausalModel(match="exact").fit(observe.light_cones(field, past=4, future=3))
    choice = DecisionalModel(utility.matching_cells()).fit(causal)
    plot.save(plot.fields(choice, raw=field), automaton)
    states = f"{causal.n_states_} causal states"
    print(f"\nRule 110, a cellular automaton, through light cones: {states}; its particles stand out.")
    announce(written)
    return 0


def cssr(arguments: argparse.Namespace) -> int:
    """Reconstruct as CSSR does, and write its four files."""
    from ..states.cssr import cssr_result
    from ..support.files import is_channel, read_text

    if arguments.data == "-" or (is_channel(arguments.data) and arguments.out is None):
        raise ValueError(
            f"The DATA {arguments.data!r} gives no name to the result files: give the path of a file, or --out."
        )
    if arguments.out is None:
        base = arguments.data
        check_path(f"{base}_results", "DATA")
    else:
        base = os.path.join(arguments.out, os.path.basename(arguments.data))
        check_folder(arguments.out)
    check_paths(arguments, "json")
    alphabet = "".join(_lines(read_text(arguments.alphabet), together=True))
    lines = _lines(read_text(arguments.data), together=not arguments.multi)
    longest = max(map(len, lines), default=0)
    if alphabet and arguments.length >= longest:
        raise ValueError(
            f"The L is {arguments.length} and the longest series of {arguments.data!r} has {longest} symbols: L must "
            "be smaller."
        )
    test = "chi2" if arguments.chi else "ks"
    result = cssr_result(lines, arguments.length, arguments.alpha, test, alphabet)
    settings = {
        "Alphabet File": arguments.alphabet,
        "Data File": arguments.data,
        "History Length": arguments.length,
        "Significance Level": f"{arguments.alpha:g}",
        "Multiline Mode": "true" if arguments.multi else "false",
        "Chi-squared test used": "true" if arguments.chi else "false",
    }
    if arguments.out is not None:
        os.makedirs(arguments.out, exist_ok=True)
    written = result.write(base, settings, name=arguments.data)
    if arguments.json is not None:
        result.machine.save(arguments.json)
        written.append(arguments.json)
    if not arguments.quiet:
        print(result.info(settings), end="")
        announce(written)
    return 0


def _lines(text: str, together: bool) -> list[str]:
    """Lines without white space and commas, as one where they belong together."""
    lines = ["".join(line.replace(",", " ").split()) for line in text.split("\n")]
    return ["".join(lines)] if together else [line for line in lines if line]
