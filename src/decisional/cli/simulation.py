"""decisional simulate: symbols of a known process."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from typing import Any

from .outputs import check_paths
from .parser import add_command, integer

__all__ = ["add"]

EPILOG = """\
Processes: coin, biased_coin, golden_mean, even, odd, noisy_period_2, perturbed_coin, periodic, z1r, rrxor, rip, nemo,
nrps, butterfly, restricted_golden_mean.

example:
  decisional simulate even -n 20000 --seed 1 --out even.txt
  decisional simulate golden_mean --param p=0.3 | decisional symbols -
"""


def add(commands: Any) -> None:
    """Add the command to the parser."""
    about = "Emit symbols of a known process, on one line."
    command = add_command(commands, "simulate", run, "symbols of a known process", about, EPILOG)
    command.add_argument("process", metavar="PROCESS", help="name of the process")
    command.add_argument("-n", type=integer(1), default=10_000, metavar="N", help="number of symbols (default: 10000)")
    command.add_argument("--seed", type=integer(0), metavar="S", help="seed of the random numbers")
    command.add_argument("--param", action="append", default=[], metavar="K=V", help="parameter of the process")
    command.add_argument("--out", metavar="FILE", help="write the symbols to a file instead of standard output")
    command.add_argument("--json", metavar="FILE", help="save the exact machine: .json")


def run(arguments: argparse.Namespace) -> int:
    """Simulate."""
    from ..machines import processes
    from ..support import files as io

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
        io.write_text(arguments.out, text)
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
