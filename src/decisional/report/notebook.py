"""Causal states and decisions in a notebook: a picture and a short table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..plot.diagrams import MAX_STATES
from ..plot.wording import prediction_text
from .choices import MOST_BOXES, MOST_CIRCLES, decisions_table
from .findings import Findings, gather, outcome_text
from .markup import Html, element, number, plural, share, table, typeset
from .pictures import inline_svg

if TYPE_CHECKING:
    from ..estimators import CausalStates, DecisionalStates

__all__ = ["causal_html", "decisions_html"]

ROWS, COLUMNS = 12, 8


def causal_html(causal: CausalStates) -> str:
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
    found = gather(None, None, None, causal, None, None)
    caption = f"{plural(found.n_states, 'causal state')} of {plural(found.n, 'observation')}"
    caption += f", C = {causal.complexity_:.4f} bits"
    machine = causal.machine_
    if machine is not None:
        caption += f", {int(machine.recurrent.sum())} recurrent"
    picture = Html()
    if machine is not None and machine.n_states <= MAX_STATES:
        from .. import plot as plotting

        picture = _picture(lambda: plotting.machine(machine), caption, "causal")
    return element("div", picture, element("p", caption), _states(found))


def decisions_html(choice: DecisionalStates) -> str:
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
    from .. import plot as plotting

    sizes = f"{plural(choice.n_states_, 'decisional state')} of {plural(len(choice.utility_), 'causal state')}"
    caption = f"{sizes}, E[U] = {number(choice.expected_utility_)}, D = {choice.complexity_:.4f} bits"
    picture = Html()
    if choice.n_states_ <= MOST_BOXES and len(choice.utility_) <= MOST_CIRCLES:
        draw = plotting.relations if choice.machine_ is None else plotting.decisions
        picture = _picture(lambda: draw(choice), caption, "choice")
    return element("div", picture, element("p", caption), decisions_table(choice, ROWS))


def _picture(draw: Any, label: str, prefix: str) -> Html:
    try:
        # A notebook may be dark, and has no style of ours.
        return element("div", inline_svg(draw, label, prefix), style="max-width:40em;background:white")
    except ImportError:
        return Html()


def _states(found: Findings) -> Html:
    head: list[object] = ["state", "probability"]
    few = found.values is None and len(found.outcomes) <= COLUMNS
    head += (
        [f"P({outcome_text(z)})" for z in found.outcomes]
        if few
        else ["mean" if found.values is not None else "likeliest"]
    )
    rows = []
    for k in range(min(found.n_states, ROWS)):
        p, kinds = found.distributions[k], found.recurrent
        name = found.names[k] if kinds is None or kinds[k] else f"{found.names[k]} (transient)"
        row: list[object] = [name, share(float(found.probability[k]))]
        if few:
            row += map(share, p.tolist())
        elif found.values is not None:
            row.append(number(float(p @ found.values)))
        else:
            row.append(typeset(prediction_text(frozenset([found.outcomes[int(p.argmax())]]))))
        rows.append(row)
    caption = "States" if found.n_states <= ROWS else f"The first {ROWS} states"
    return table(head, rows, caption, range(1, len(head)))
