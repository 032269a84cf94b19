"""Causal states and decisions in a notebook: a picture and a short table."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..plot.diagrams import MAX_STATES
from ..plot.wording import prediction_text
from .content import Table
from .findings import Findings, gather
from .formatting import number, outcome_text, plural, share, typeset
from .page import render
from .pictures import svg
from .sections import decisions_figure, decisions_table

if TYPE_CHECKING:
    from ..decisions.decisional_model import DecisionalModel
    from ..states.causal_model import CausalModel

__all__ = ["causal_html", "decisions_html"]

ROWS, COLUMNS = 12, 8


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
    from .. import plot

    found, machine = gather(causal=causal), causal.machine_
    caption = f"{plural(found.n_states, 'causal state')} of {plural(found.n, 'observation')}"
    caption += f", C = {causal.complexity_:.4f} bits"
    if machine is None:
        return _html(None, caption, "causal", _states(found))
    caption += f", {int(machine.recurrent.sum())} recurrent"
    draw = (lambda: plot.machine(machine)) if machine.n_states <= MAX_STATES else None
    return _html(draw, caption, "causal", _states(found))


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
    sizes = f"{plural(choice.n_states_, 'decisional state')} of {plural(len(choice.utility_), 'causal state')}"
    caption = f"{sizes}, E[U] = {number(choice.expected_utility_)}, D = {choice.complexity_:.4f} bits"
    return _html(decisions_figure(choice), caption, "choice", decisions_table(choice, ROWS))


def _html(draw: Callable[[], Any] | None, caption: str, prefix: str, table: Table) -> str:
    picture = None if draw is None else svg(draw, caption, prefix)
    return render("notebook.html", picture=picture, caption=caption, content=table)


def _states(found: Findings) -> Table:
    few = found.values is None and len(found.outcomes) <= COLUMNS
    if few:
        what = [f"P({outcome_text(z)})" for z in found.outcomes]
    else:
        what = ["likeliest" if found.values is None else "mean"]
    rows = []
    for k in range(min(found.n_states, ROWS)):
        p, kinds = found.distributions[k], found.recurrent
        name = found.names[k] if kinds is None or kinds[k] else f"{found.names[k]} (transient)"
        if few:
            told = [share(value) for value in p.tolist()]
        elif found.values is not None:
            told = [number(float(p @ found.values))]
        else:
            told = [typeset(prediction_text(frozenset([found.outcomes[int(p.argmax())]])))]
        rows.append([name, share(float(found.probability[k])), *told])
    caption = "States" if found.n_states <= ROWS else f"The first {ROWS} states"
    return Table(["state", "probability", *what], rows, caption, range(1, 2 + len(what)))
