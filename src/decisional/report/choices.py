"""What to do in each state, what it is worth, and the picture of both."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..plot.wording import mean_utility, set_texts
from .findings import Findings
from .markup import Html, element, join, number, numbers, plural, section, share, table, typeset
from .pictures import drawn, zoomable

if TYPE_CHECKING:
    from ..states.partition import Partition

__all__ = ["decisions_section", "decisions_table"]

MOST_ROWS, MOST_BOXES, MOST_CIRCLES = 12, 10, 24


def decisions_section(found: Findings) -> Html:
    """Return the table of decisions and their picture."""
    choice = found.choice
    if choice is None:
        return Html()
    text = (
        "A utility says what a prediction is worth when something happens. States in which the same predictions are "
        "best, and worth the same, are one decisional state (ω): there is no reason to tell them apart."
    )
    parts = [element("p", text), _worth(found), _picture(found), _listed(found)]
    return section("decisions", "Decisions and utilities", *parts)


def _listed(found: Findings) -> Html:
    choice = found.choice
    assert choice is not None
    if choice.iso_prediction_.n_states > max(MOST_ROWS, 0.9 * len(choice.utility_)):
        return element("p", "Almost every state has a best prediction of its own: they are in the table of states.")
    return decisions_table(choice)


def decisions_table(choice: Any, most: int = MOST_ROWS) -> Html:
    """Return the decisional states, or where these are many the iso-prediction states, as a table."""
    states, letter = choice.states_, "ω"
    what = plural(states.n_states, "decisional state")
    if states.n_states > most:
        # Values that all differ a little make many decisions of few predictions.
        states, letter = choice.iso_prediction_, "ψ"
        what += f"; here by what to predict: {plural(states.n_states, 'iso-prediction state')} (ψ)"
    return _table(choice, states, letter, what, most)


def _table(choice: Any, states: Partition, letter: str, caption: str, most: int) -> Html:
    size, sets = np.bincount(states.labels, minlength=states.n_states), set_texts(choice, states)
    values = mean_utility(choice, states)
    shown = min(states.n_states, most)
    if shown < states.n_states:
        caption += f"; the {shown} most probable ones are listed"
    worth = numbers([float(value) for value in values[:shown]])
    rows = [
        [f"{letter}{k}", typeset(sets[k]), worth[k], share(float(states.probability[k])), f"{int(size[k]):,}"]
        for k in range(shown)
    ]
    return table(["", "Best prediction", "Worth", "Probability", "States in it"], rows, caption, (2, 3, 4))


def _worth(found: Findings) -> Html:
    choice, unit, regret = found.choice, found.unit, found.regret
    assert choice is not None
    worth = choice.expected_utility_
    bold = element("strong", number(worth))
    sentence: list[object] = [
        "Following these decisions is worth ",
        bold,
        f" per {unit} on average, as expected from the states",
    ]
    if regret is None:
        return element("p", *sentence, ".")
    sentence += [
        f". On these very data it brought {number(regret.obtained)}; the best prediction that never changes would "
        f"have brought {number(regret.best_fixed)}, a perfect forecast {number(regret.perfect)}. New data are the "
        "honest test."
    ]
    return element("p", *sentence)


def _picture(found: Findings) -> Html:
    from .. import plot as plotting

    choice = found.choice
    assert choice is not None
    if choice.n_states_ > MOST_BOXES or len(choice.utility_) > MOST_CIRCLES:
        return Html()
    texts = set_texts(choice, choice.states_)
    label = "States inside their decisions: " + "; ".join(f"ω{k}: predict {text}" for k, text in enumerate(texts))
    if choice.machine_ is not None:
        svg = drawn(lambda: plotting.decisions(choice), label, "decisions")
        caption = "Each box is a decision, with what to predict and what it is worth; the circles in it are its states."
    else:
        svg = drawn(lambda: plotting.relations(choice), label, "decisions")
        caption = "Rows share the best prediction, columns its worth; each box is a decision with its states."
    return join([zoomable(svg, caption)])
