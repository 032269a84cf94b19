"""Events as a person would read them."""

from __future__ import annotations

from typing import Any

from ..plot.wording import prediction_text
from .findings import Findings
from .markup import Html, element, number, plural, section, typeset

__all__ = ["events_section"]

FIRST = 20


def events_section(found: Findings) -> Html:
    """Return the first events and their number; none where the data have no order in time."""
    choice = found.choice
    if choice is None:
        return Html()
    listed: list[tuple[str, Any]] = []
    total = 0
    if choice.causal_ is not None:
        if choice.causal_.observations_.successor is None:
            return Html()
        changes = choice.events()
        total, listed = len(changes), [("", change) for change in changes[:FIRST]]
    elif found.source is not None:
        sequences = found.source.bounds.size - 1
        for k in range(sequences):
            changes = choice.events(found.symbols(k))
            where = f"Series {k + 1}, " if sequences > 1 else ""
            listed += [(where, change) for change in changes[: FIRST - len(listed)]]
            total += len(changes)
    else:
        return Html()
    if not total:
        text = "The decision never changes along these data."
        return section("events", "Events", element("p", text))
    text = f"An event is a change of the decision. There are {plural(total, 'event')} along the data"
    n = found.n if found.shown is None else found.shown
    text += "" if found.shown is None else f" that are shown, the first {n:,} {found.unit}s"
    often = n / total
    if often >= 1.05:
        text += f", about one every {number(often)} {found.unit}s"
    elif n:
        text += f": almost every {found.unit} changes it"
    text += f"; the first {FIRST} are:" if total > FIRST else ":"
    items = [element("li", _sentence(where, change)) for where, change in listed]
    return section("events", "Events", element("p", text), element("ol", *items, class_="events"))


def _sentence(where: str, change: Any) -> Html:
    place = f"{where}position {change.position:,}"
    new = f"best prediction: {typeset(prediction_text(change.predictions_after))}, worth {number(change.utility_after)}"
    old = ""
    if change.before >= 0:
        was = typeset(prediction_text(change.predictions_before))
        same = was == typeset(prediction_text(change.predictions_after))
        old = (
            f" (before: worth {number(change.utility_before)})"
            if same
            else f" (before: {was}, worth {number(change.utility_before)})"
        )
    return Html(element("span", place[0].upper() + place[1:], class_="place") + element("span", new + old))
