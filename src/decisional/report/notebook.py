"""Machines, causal states and decisions in a notebook: a picture and a short table."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..plot.diagrams import MAX_STATES
from ..plot.wording import number, outcome_text, prediction_text, share, typeset
from ..states.causal_model import CausalModel, step_machine
from ..support.arguments import require
from ..support.plurals import plural
from .content import TableContent, render, svg
from .findings import Findings
from .sections import decisions_figure, decisions_table, machine_figure

if TYPE_CHECKING:
    from ..decisions.decisional_model import DecisionalModel
    from ..machines import EpsilonMachine

ROWS, COLUMNS = 12, 8


def machine_html(machine: EpsilonMachine) -> str:
    """Show an epsilon-machine: its picture and a table of its states.

    Parameters
    ----------
    machine : EpsilonMachine
        Beyond 30 states there is no picture, and the table is cut.

    Returns
    -------
    str
        HTML. Without matplotlib it is the table alone.
    """
    require(machine, "recurrent_part", "machine", "an EpsilonMachine", "give a machine, such as causal.machine_")
    found, shown = Findings(machine=machine), min(machine.n_states, MAX_STATES)
    caption = f"{plural(found.n_states, 'state')}, C = {machine.statistical_complexity():.4f} bits, "
    caption += f"h = {machine.entropy_rate():.4f} bits per symbol"
    head = ["state", "probability", *(f"P({outcome_text(symbol)})" for symbol in found.outcomes[:COLUMNS])]
    rows = [
        [_name(found, k), *(f"{p:.4f}" for p in (found.probability[k], *found.distributions[k, :COLUMNS]))]
        for k in range(shown)
    ]
    table = TableContent(head, rows, _listed(found, shown), range(1, len(head)))
    return _html(machine_figure(machine), caption, "machine", table)


def causal_html(causal: CausalModel) -> str:
    """Show fitted causal states: their machine if they have one, and the most probable states.

    Parameters
    ----------
    causal : CausalStates
        Fitted.

    Returns
    -------
    str
        HTML. Without matplotlib it is the table alone.
    """
    require(causal, "merge", "causal", "fitted CausalStates", "fit it first, and give the estimator")
    found = Findings(causal=causal)
    caption = f"{plural(found.n_states, 'causal state')} of {plural(found.n, 'observation')}"
    caption += f", C = {causal.complexity_:.4f} bits"
    machine = step_machine(causal)
    if machine is not None:
        caption += f", {int(machine.recurrent.sum())} recurrent"
    return _html(machine_figure(machine), caption, "causal", _states(found))


def decisions_html(choice: DecisionalModel) -> str:
    """Show fitted decisional states: the picture of their boxes where they are few, and what to predict.

    Parameters
    ----------
    choice : DecisionalStates
        Fitted.

    Returns
    -------
    str
        HTML. Without matplotlib it is the table alone.
    """
    require(choice, "expected_utility_", "choice", "fitted DecisionalStates", "fit it first, and give the estimator")
    sizes = f"{plural(choice.n_states_, 'decisional state')} of {plural(len(choice.utility_), 'causal state')}"
    caption = f"{sizes}, E[U] = {number(choice.expected_utility_)}, D = {choice.complexity_:.4f} bits"
    return _html(decisions_figure(choice), caption, "choice", decisions_table(choice, ROWS))


def _html(draw: Callable[[], Any] | None, caption: str, prefix: str, table: TableContent) -> str:
    return render("notebook.html", picture=svg(draw, caption, prefix), caption=caption, content=table)


def _states(found: Findings) -> TableContent:
    shown, values = [found.distribution(k) for k in range(min(ROWS, found.n_states))], found.values
    if values is not None:
        what, told = ["mean"], [[number(float(p @ values))] for p in shown]
    elif len(found.outcomes) <= COLUMNS:
        what, told = [f"P({outcome_text(z)})" for z in found.outcomes], [list(map(share, p.tolist())) for p in shown]
    else:
        likeliest = [frozenset([found.outcomes[int(p.argmax())]]) for p in shown]
        what, told = ["likeliest"], [[typeset(prediction_text(z))] for z in likeliest]
    rows = [[_name(found, k), share(float(found.probability[k])), *cells] for k, cells in enumerate(told)]
    return TableContent(["state", "probability", *what], rows, _listed(found, ROWS), range(1, 2 + len(what)))


def _name(found: Findings, k: int) -> str:
    return found.names[k] if found.recurrent is None or found.recurrent[k] else f"{found.names[k]} (transient)"


def _listed(found: Findings, shown: int) -> str:
    return "States" if found.n_states <= shown else f"The first {shown} states"
