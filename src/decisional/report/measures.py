"""Complexities in bits with a line each on what they mean, and why the machine was chosen."""

from __future__ import annotations

from .findings import Findings
from .markup import Html, element, section, table
from .pictures import drawn, zoomable

__all__ = ["complexities", "complexities_section", "selection_section"]


def complexities(found: Findings) -> list[tuple[str, str, str, str]]:
    """Return letter, name, value and meaning of each measure that there is."""
    rows: list[tuple[str, str, str, str]] = []
    causal, choice, machine = found.causal, found.choice, found.machine
    recurrent = machine is not None and bool(machine.recurrent.any())
    if recurrent and machine is not None:
        meaning = "Memory: what must be remembered of the past to predict as well as possible. 0 = none."
        rows.append(("C", "Statistical complexity", f"{machine.statistical_complexity():.3f} bits", meaning))
    if causal is not None and (not recurrent or abs(causal.complexity_ - causal.recurrent_complexity_) > 5e-4):
        name = "Statistical complexity" + (" with transient states" if recurrent else "")
        meaning = "How varied the states are: 0 = all alike; one bit more for each doubling of equally frequent states."
        rows.append(("C", name, f"{causal.complexity_:.3f} bits", meaning))
    if choice is not None:
        rows += [
            (
                "D",
                "Decisional complexity",
                f"{choice.complexity_:.3f} bits",
                "What must be remembered to decide as well as possible; never more than C.",
            ),
            (
                "P",
                "Prediction complexity",
                f"{choice.prediction_complexity_:.3f} bits",
                "What must be remembered to know what to predict.",
            ),
            (
                "V",
                "Utility complexity",
                f"{choice.utility_complexity_:.3f} bits",
                "What must be remembered to know what a prediction is worth.",
            ),
        ]
    if recurrent and machine is not None:
        rows.append(
            (
                "h",
                "Entropy rate",
                f"{machine.entropy_rate():.3f} bits per symbol",
                "Surprise that remains in each symbol however much of the past is known.",
            )
        )
        rows.append(
            (
                "E",
                "Excess entropy",
                f"{machine.excess_entropy():.3f} bits",
                "What the past as a whole tells about the future as a whole.",
            )
        )
    return rows


def complexities_section(found: Findings) -> Html:
    """Return the table of complexities."""
    rows = complexities(found)
    if not rows:
        return Html()
    text = "One bit is one question answered by yes or no."
    shown = table(["", "Measure", "Value", "Meaning"], rows, "What it takes to predict and to decide", (2,))
    return section("complexities", "Complexities", element("p", text), shown)


def selection_section(found: Findings) -> Html:
    """Return the picture of the candidates, with the reason for the choice."""
    chosen = found.selection
    if chosen is None:
        return Html()
    from .. import plot as plotting

    text = (
        "Machines from pasts of many lengths were compared by how many bits they need to describe the data and "
        "themselves: too few states describe the data badly, too many cost more than they save. Where many lengths "
        "of past agree on the same machine there is a plateau, a good sign."
    )
    label = "Bits above the shortest description, and number of states, against the length of the past. " + chosen.why
    svg = drawn(lambda: plotting.selection(chosen, title=False), label, "selection")
    caption = (
        "Above, lower is better, and the star is the choice. Below, the number of states: the same across the plateau."
    )
    sentences = [element("p", element("strong", chosen.why))]
    if chosen.warning is not None:
        sentences.append(element("p", chosen.warning, class_="caution"))
    return section("selection", "Why this number of states", element("p", text), *sentences, zoomable(svg, caption))
