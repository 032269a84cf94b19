"""The machine, and the table of its states: how often they occur, what follows them, what to do in them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..plot.diagrams import MAX_STATES
from ..plot.wording import prediction_text
from .findings import Findings, outcome_text
from .markup import Html, bar, bars, element, join, number, numbers, plural, section, share, table, typeset
from .pictures import drawn, state_colour, zoomable

__all__ = ["distribution", "machine_section", "state_chip", "states_section"]

MOST_ROWS, FIRST_ROWS = 30, 12  # up to 30 states are all listed, of more only the first
MOST_COLOURS = 12  # states that colours can tell apart
FEW_OUTCOMES = 5  # all of which are shown, in one order for all states
BINS = 40


def machine_section(found: Findings) -> Html:
    """Return the picture of the machine, with words for how to read it."""
    machine = found.machine
    if machine is None:
        return Html()
    if machine.n_states > MAX_STATES:
        text = f"The machine has {plural(machine.n_states, 'state')}: too many to be drawn so that it can be read."
        return section("machine", "The machine", element("p", text))
    from .. import plot as plotting

    edges = "; ".join(
        f"{source} to {target} with {outcome_text(symbol)}: {p:.2f}"
        for source, symbol, target, p in machine.transitions()[:40]
    )
    label = f"Diagram of {plural(machine.n_states, 'state')} and their transitions. {edges}"
    svg = drawn(lambda: plotting.machine(machine), label, "machine")
    how = (
        "Circles are states, larger where they are more frequent; dashed ones are transient. An arrow labelled "
        "“1\u00a0|\u00a00.50” says: from here the next symbol is 1 with probability 0.50, and the arrow leads to the "
        "state after it."
    )
    return section("machine", "The machine", zoomable(svg, how))


def state_chip(found: Findings, k: int) -> Html:
    """Return the name of a state on its colour."""
    style = f"background:{state_colour(k)}" if found.n_states <= MOST_COLOURS else None
    return element("span", found.names[k], class_="chip" if style else None, style=style)


def distribution(found: Findings, k: int) -> Html:
    """Return P(Z|state) of one state as bars, or as a curve where the outcomes are many numbers."""
    p = found.distributions[k]
    if found.values is not None:
        return _curve(p, found.values)
    outcomes = [outcome_text(outcome) for outcome in found.outcomes]
    if len(outcomes) <= FEW_OUTCOMES:
        return bars(bar(outcome, value) for outcome, value in zip(outcomes, p.tolist(), strict=True))
    top = np.argsort(-p, kind="stable")[: FEW_OUTCOMES - 2].tolist()
    top = [z for z in top if p[z] > 0]
    rest = np.count_nonzero(p) - len(top)
    shown = [bar(outcomes[z], float(p[z])) for z in top]
    return bars([*shown, bar(f"{rest} more", max(0.0, 1 - float(p[top].sum())))] if rest else shown)


def _curve(p: NDArray[np.float64], values: NDArray[np.float64]) -> Html:
    low, high = float(values[0]), float(values[-1])
    place = np.minimum((BINS * (values - low) / (high - low)).astype(np.int64), BINS - 1)
    mass = np.bincount(place, p, BINS)
    mean, top = float(p @ values), float(mass.max())
    heights = (20 * mass / top if top > 0 else mass).round(1)
    steps = "".join(f"M{k} 20V{20 - height:g}h1V20z" for k, height in enumerate(heights.tolist()) if height > 0)
    label = f"Distribution from {low:.3g} to {high:.3g}, mean {mean:.3g}"
    curve = element("path", d=steps)
    svg = element(
        "svg", curve, viewBox="0 0 40 20", preserveAspectRatio="none", role="img", aria_label=label, class_="spark"
    )
    return join([svg, element("span", f"mean {number(mean)}", class_="mean")])


def states_section(found: Findings) -> Html:
    """Return the table of the states, the most probable ones first."""
    if not found.has_states:
        return Html()
    rows_shown = found.n_states if found.n_states <= MOST_ROWS else FIRST_ROWS
    order = np.argsort(-found.probability, kind="stable")[:rows_shown].tolist()
    symbols = found.kind == "series"
    head: list[object] = [
        "State",
        "Probability",
        "What comes next" if symbols or found.kind == "signal" else "Odds of the outcome",
    ]
    kinds, choice = found.recurrent, found.choice
    if kinds is not None:
        head.append("Kind")
    if choice is not None:
        head += ["Best prediction", "Worth"]
    worth = [] if choice is None else numbers([float(choice.utility_[k]) for k in order])
    rows = []
    for place, k in enumerate(order):
        row: list[object] = [state_chip(found, k), share(float(found.probability[k])), distribution(found, k)]
        if kinds is not None:
            row.append("recurrent" if kinds[k] else "transient")
        if choice is not None:
            row += [typeset(prediction_text(choice.predictions_[k])), worth[place]]
        rows.append(row)
    caption = plural(found.n_states, "state")
    if found.n_states > MOST_ROWS:
        covered = float(found.probability[order].sum())
        caption += f"; the {FIRST_ROWS} most probable ones are listed, which are {covered:.0%} of the data"
    text = f"Situations in the same state give the same odds for what comes next; each {found.unit} belongs to one."
    if found.values is not None:
        low, high = outcome_text(found.values[0]), outcome_text(found.values[-1])
        text += typeset(f" The small curves run from {low} to {high}.")
    if kinds is not None and not kinds.all():
        text += (
            " A recurrent state comes back for ever; a transient one is only met at the beginning, or while the last "
            "symbols do not tell the state yet."
        )
    aligned = [1, *([len(head) - 1] if choice is not None else [])]
    return section("states", "The states", element("p", text), table(head, rows, caption, aligned))
