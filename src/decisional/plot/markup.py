"""Epsilon-machines as markup: SVG pictures, and HTML for notebooks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from ..support.arguments import require
from .diagrams import MAX_STATES
from .machines import machine as draw
from .saving import render
from .states import probabilities
from .wording import symbol_text

if TYPE_CHECKING:
    from ..machines import EpsilonMachine

__all__ = ["machine_html", "machine_svg"]

MAX_SYMBOLS = 8  # columns of the table


def machine_svg(machine: EpsilonMachine, groups: Sequence[object] | Any | None = None) -> str:
    """Draw an epsilon-machine as SVG text.

    Parameters
    ----------
    machine : EpsilonMachine
        The machine to draw.
    groups : sequence of hashables, or object with ``state_groups_``, optional
        As in `decisional.plot.machine`.

    Returns
    -------
    str
        A complete SVG document.
    """
    return render(draw(machine, groups=groups), "svg").decode("utf-8")


def machine_html(machine: EpsilonMachine) -> str:
    """Show an epsilon-machine in a notebook: its picture and a table of its states.

    Parameters
    ----------
    machine : EpsilonMachine
        The machine to show; beyond 30 states there is no picture, and the table is cut.

    Returns
    -------
    str
        HTML. Without matplotlib it is the table alone.
    """
    require(machine, "recurrent_part", "machine", "an EpsilonMachine", "give a machine, such as causal.machine_")
    picture = ""
    if machine.n_states <= MAX_STATES:
        try:
            svg = machine_svg(machine)
            # In a page of others, its style would be that of all of them.
            svg = re.sub(r"<metadata>.*?</metadata>|<style.*?</style>", "", svg[svg.index("<svg") :], flags=re.DOTALL)
            picture = f'<div style="max-width: 40em">{svg}</div>'
        except ImportError:
            pass
    note = f"{machine.n_states} states, C = {machine.statistical_complexity():.4f} bits, "
    note += f"h = {machine.entropy_rate():.4f} bits per symbol"
    if machine.n_states > MAX_STATES:
        note += f"; the first {MAX_STATES} are listed"
    return f"<div>{picture}{_table(*_cells(machine), note)}</div>"


def _cells(machine: EpsilonMachine) -> tuple[list[str], list[list[str]]]:
    """Return the heading and the rows of the table of states."""
    symbols = machine.alphabet[:MAX_SYMBOLS]
    head = ["state", "probability", *(f"P({symbol_text(symbol)})" for symbol in symbols)]
    rows = []
    for name, recurrent, p, emission in zip(
        machine.names[:MAX_STATES], machine.recurrent, probabilities(machine), machine.emission, strict=False
    ):
        numbers = [f"{value:.4f}" for value in (p, *emission[:MAX_SYMBOLS])]
        rows.append([str(name) if recurrent else f"{name} (transient)", *numbers])
    return head, rows


def _table(head: list[str], rows: list[list[str]], caption: str) -> str:
    def row(tag: str, cells: list[str]) -> str:
        return "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells) + "</tr>"

    body = "".join(row("td", cells) for cells in rows)
    heading = f"<caption>{escape(caption)}</caption><thead>{row('th', head)}</thead>"
    return f"<table>{heading}<tbody>{body}</tbody></table>"
