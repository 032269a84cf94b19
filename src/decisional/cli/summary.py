"""Results as text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import inf, log2
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..machines import EpsilonMachine


def facts(rows: Iterable[tuple[str, str]]) -> list[str]:
    """Lines of a name and what is to be said of it, over several lines where that is long."""
    from textwrap import wrap

    lines = []
    for name, text in rows:
        first, *others = wrap(text, 100, break_on_hyphens=False) or [""]
        lines += [f"{name:<12} {first}".rstrip(), *(" " * 13 + line for line in others)]
    return lines


def shown_symbols(alphabet: Sequence[object]) -> str:
    """The symbols, the first ones of many; in quotes if they have commas, which stand between them."""
    texts = [symbol_text(symbol) for symbol in alphabet[:16]]
    shown = ", ".join(repr(text) if "," in text else text for text in texts)
    more = "" if len(alphabet) <= 16 else f", ... ({len(alphabet)} symbols)"
    return f"{{{shown}{more}}}"


def symbol_text(symbol: object) -> str:
    """A symbol as it prints, quoted if it would not be seen."""
    text = str(symbol)
    return text if text.strip() and text.isprintable() else repr(symbol)


def machine_tables(machine: EpsilonMachine, most: int = 40) -> list[str]:
    """States, and the transitions of the recurrent part."""
    probability = machine.stationary if machine.weights is None else machine.weights
    symbols = machine.alphabet[:8]
    rows = [["state", "probability", "", *(f"P({symbol_text(symbol)})" for symbol in symbols)]]
    for state in range(min(machine.n_states, most)):
        kind = "recurrent" if machine.recurrent[state] else "transient"
        chances = (f"{p:.4f}" for p in machine.emission[state, : len(symbols)])
        rows.append([symbol_text(machine.names[state]), f"{probability[state]:.4f}", kind, *chances])
    edges = [["from", "symbol", "to", "probability"]]
    # Little data may end before any state recurs; then there is nothing better to show than all states.
    for i in machine.recurrent.nonzero()[0] if machine.recurrent.any() else range(machine.n_states):
        for j in (machine.targets[i] >= 0).nonzero()[0]:
            names = machine.names[i], machine.alphabet[j], machine.names[machine.targets[i, j]]
            edges.append([*map(symbol_text, names), f"{machine.emission[i, j]:.4f}"])
    transitions = align(edges[: most + 1], len(edges) - 1 - most, "transitions")
    return [*align(rows, machine.n_states - most, "states"), "", *transitions]


def measures(machine: EpsilonMachine, complexity: float | None) -> list[str]:
    """C, h, E, χ and the orders; `complexity` is that of all states, transient ones included."""
    orders = [] if not machine.recurrent.any() else [machine.markov_order(), machine.cryptic_order()]
    symbols = ["infinite" if order == inf else f"{order:.0f}" for order in orders]
    words = ["symbol" if order == 1 else "symbols" for order in orders]
    names = ("R  Markov order ", "k  cryptic order")
    return [
        *([] if complexity is None else [f"C  statistical complexity, all states  {complexity:z8.4f} bits"]),
        f"C  recurrent states only               {machine.statistical_complexity():z8.4f} bits",
        f"h  entropy rate                        {machine.entropy_rate():z8.4f} bits per symbol",
        f"E  excess entropy                      {machine.excess_entropy():z8.4f} bits",
        f"χ  crypticity                          {machine.crypticity():z8.4f} bits",
        *(f"{name}                     {n:>8} {word}" for name, n, word in zip(names, symbols, words, strict=False)),
    ]


def decisions_json(choice: Any, complexity: float) -> dict[str, float]:
    """The complexities and E[U] of fitted decisional states; `complexity` is that of the causal states."""
    bits = {"D": choice.complexity_, "P": choice.prediction_complexity_, "V": choice.utility_complexity_}
    return {"C": complexity, **bits, "expected_utility": choice.expected_utility_}


def decisions(choice: Any, complexity: float) -> list[str]:
    """The same in words."""
    *bits, (_, utility) = decisions_json(choice, complexity).items()
    kinds = ("causal states", "decisional states", "iso-prediction states", "iso-utility states")
    lines = [f"{letter}  {what:<37}{value:z8.4f} bits" for (letter, value), what in zip(bits, kinds, strict=True)]
    return [f"E[U]  expected utility                  {utility:z8.4f}", *lines]


def states(choice: Any, rows: Sequence[tuple[str, str]], most: int = 10) -> list[str]:
    """Causal and decisional states of observations, the most common of them in a table; `rows` are said first."""
    causal = choice.causal_
    probability = causal.states_.probability
    table = [["state", "probability", "local C"]]
    for state, p in enumerate(probability[:most].tolist()):
        table.append([str(state), f"{p:.4f}", f"{-log2(p) + 0.0:.2f} bits"])
    sizes = ("States", f"{causal.n_states_} causal, {choice.n_states_} decisional")
    common = align(table, len(probability) - most, "states")
    return [*facts([*rows, sizes]), "", *common, "", *decisions(choice, causal.complexity_)]


def align(rows: Sequence[Sequence[str]], left_out: int = 0, what: str = "") -> list[str]:
    """Rows of cells in columns, and how many were left out."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return [*lines, f"... and {left_out} more {what}"] if left_out > 0 else lines
