"""decisional demo: a process, a decision and a field, with pictures and a report."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from . import summary
from .outputs import announce, check_folder
from .parser import add_command
from .symbols import machine_writers

__all__ = ["add"]

EPILOG = """\
Simulates 100,000 symbols of the Even process, where ones come in even numbers, and recovers its two states; bets on the
next symbol; and filters a cellular automaton, rule 110. Open report.html afterwards.

example:
  decisional demo --out demo
"""
SEED, SYMBOLS, PAST = 1, 100_000, 10


def add(commands: Any) -> None:
    """Add the command to the parser."""
    about = "Reconstruct a known process, decide, and filter a field, with pictures and a report."
    command = add_command(commands, "demo", run, "a tour: a process, a decision and a field", about, EPILOG)
    command.add_argument("--out", default="demo", metavar="DIR", help="folder for the files (default: demo)")


def run(arguments: argparse.Namespace) -> int:
    """Run the tour."""
    from .. import plot as plotting

    plotting.require_matplotlib()
    check_folder(arguments.out)
    out = Path(arguments.out)
    out.mkdir(parents=True, exist_ok=True)
    print("The Even process: its two states A and B have probabilities 2/3 and 1/3,")
    print("C = 0.9183 bits and h = 0.6667 bits per symbol. From a simulation we get:\n")
    causal, choice, written = _even(out, arguments)
    machine = causal.machine_
    recurrent = int(machine.recurrent.sum())
    print("\n".join(["", *summary.machine_tables(machine), "", *summary.measures(machine, causal.complexity_)]))
    print(f"\n{recurrent} recurrent states; C is the window of {PAST} ones, which does not tell the state.")
    print("\nA bet on 1 that wins 1 or loses 3: bet in B only.\n")
    print("\n".join(summary.decisions(choice, causal.complexity_)))
    path, n_states = _field(out)
    print(f"\nRule 110, a cellular automaton, through light cones: {n_states} causal states; its particles stand out.")
    announce([*written, path])
    return 0


def _even(out: Path, arguments: argparse.Namespace) -> tuple[Any, Any, list[str]]:
    from .. import observe, report, utility
    from .. import plot as plotting
    from ..decisions.decisional_model import DecisionalModel
    from ..machines import processes
    from ..states import selection
    from ..states.causal_model import CausalModel

    symbols = processes.even().simulate(SYMBOLS, rng=SEED)
    chosen = selection.select(symbols)
    print(chosen.why)
    causal: Any = CausalModel().fit(observe.series(symbols, past=PAST))
    choice: Any = DecisionalModel(utility.table([[0, 0], [-3, 1]], y=["stay out", "bet on 1"])).fit(causal)
    paths = {option: str(out / f"even.{suffix}") for option, suffix in (("json",) * 2, ("dot",) * 2, ("plot", "png"))}
    for option, write in machine_writers(causal.machine_).items():
        write(paths[option])
    decisions, page = str(out / "decisions.png"), str(out / "report.html")
    plotting.save(plotting.decisions(choice), decisions)
    asked = {"Command": "demo", "Process": f"{SYMBOLS:,} symbols of the Even process", "Past": PAST}
    asked |= {"Utility": "bet on 1: win 1 or lose 3; stay out: 0"}
    found = {"series": symbols, "causal": causal, "choice": choice, "selection": chosen}
    title = "The Even process: its states and a bet"
    report.write(page, title=title, asked=asked, command=arguments.command, seed=SEED, **found)
    return causal, choice, [*paths.values(), decisions, page]


def _field(out: Path) -> tuple[str, int]:
    from .. import observe, utility
    from .. import plot as plotting
    from ..decisions.decisional_model import DecisionalModel
    from ..machines import processes
    from ..states.causal_model import CausalModel

    field = processes.elementary_ca(110, 400, 404, SEED)[100:]
    causal: Any = CausalModel(match="exact").fit(observe.light_cones(field, past=4, future=3))
    choice: Any = DecisionalModel(utility.matching_cells()).fit(causal)
    path = str(out / "rule110.png")
    plotting.save(plotting.fields(choice, raw=field), path)
    return path, causal.n_states_
