"""Measures of a machine: entropies of words by their length, and what past, present and future tell of each other."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any

from ..machines.epsilon_machine import EpsilonMachine
from ..support.arguments import integer, shown
from .figures import FONT, INK, LINE, PALETTE, axes_or_new, figure_of, plain_axes, require_matplotlib, tint

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WORDS, STATES = "#005a94", "#e08b1a"
# Part of the axes that a name with its bits takes.
NAMED = 0.13


def _axes(machine: Any, ax: Axes | None, width: float, height: float) -> Axes:
    """Where to draw a machine, or refuse it."""
    require_matplotlib()
    if not isinstance(machine, EpsilonMachine):
        raise TypeError(f"The 'machine' must be an EpsilonMachine. Got {shown(machine)} instead: give causal.machine_.")
    return axes_or_new(ax, width, height)


def block_entropies(machine: EpsilonMachine, n: int = 10, ax: Axes | None = None) -> Figure:
    """Draw the block-entropy diagram: H(L) and the line E + h L that it comes to, from below, at the Markov order; and
    H(L, S), of words with the state after them, which comes to it from above at the cryptic order.

    Parameters
    ----------
    machine : EpsilonMachine
    n : int
        Length of the longest words.
    ax : matplotlib Axes, optional
        Where to draw; by default on a new figure, which is not registered with pyplot.

    Returns
    -------
    matplotlib Figure
        The figure; `save` writes it to a file.
    """
    drawn = _axes(machine, ax, 6.4, 4.4)
    curves = machine.block_entropies(integer(n, "n", remedy="try n=10"))
    rate, shared = machine.entropy_rate(), machine.excess_entropy()
    line = shared + rate * curves.length
    style: dict[str, Any] = {"ms": 4, "lw": 1.2}
    drawn.fill_between(curves.length, curves.entropy, line, color="0.93")
    drawn.plot(curves.length, curves.with_state, "^-", color=STATES, label="H(L, S)", **style)
    drawn.plot(curves.length, curves.entropy, "o-", color=WORDS, label="H(L)", **style)
    drawn.plot(curves.length, line, "--", color=INK, lw=1, label="E + h L")
    orders = []
    for order, word, colour in (
        (machine.cryptic_order(), "cryptic order", STATES),
        (machine.markov_order(), "Markov order", WORDS),
    ):
        orders.append(f"{word} {order:g}" if isfinite(order) else f"{word} ∞")
        if order <= n:
            # Where both are the same, dots of one stand between those of the other.
            drawn.axvline(order, color=colour, lw=1.2, ls=(3 * len(orders), (1.5, 4.5)), zorder=1)
    plain_axes(drawn, "length of words L", "bits")
    title = f"h = {rate:.4f} bits per symbol, E = {shared:.4f} bits, {', '.join(orders)}"
    drawn.set_title(title, fontsize=FONT, color=INK, loc="left")
    drawn.legend(fontsize=FONT - 1, frameon=False)
    return figure_of(drawn)


def information(machine: EpsilonMachine, ax: Axes | None = None) -> Figure:
    """Draw the information diagram, bits as lengths: what forward and reverse causal states share and do not, and what
    past and future tell of a symbol.

    Parameters
    ----------
    machine : EpsilonMachine
        With finitely many reverse causal states; others are drawn to a tolerance of 1e-6.
    ax : matplotlib Axes, optional
        Where to draw; by default on a new figure, which is not registered with pyplot.

    Returns
    -------
    matplotlib Figure
        The figure; `save` writes it to a file.
    """
    drawn = _axes(machine, ax, 6.4, 2.8)
    both = machine.bidirectional(atol=None if machine.reverse_is_finite() else 1e-6)
    cryptic, shared, oracular = both.forward_crypticity, both.excess_entropy, both.reverse_crypticity
    parts = both.predicted_information, both.bound_information, both.ephemeral_information
    rows = (
        (f"C⁺ = {both.forward_complexity:.3f}", 0.0, (("χ⁺", cryptic, 0), ("E", shared, 3))),
        (f"C⁻ = {both.reverse_complexity:.3f}", cryptic, (("E", shared, 3), ("χ⁻", oracular, 2))),
        (f"H(1) = {sum(parts):.3f}", 0.0, tuple(zip(("ρ", "b", "r"), parts, (1, 4, 5), strict=True))),
    )
    most = 1.03 * max(start + sum(bits for _, bits, _ in pieces) for _, start, pieces in rows)
    for place, (_, start, pieces) in enumerate(rows):
        for name, bits, colour in pieces:
            shade = tint(PALETTE[colour], 0.5)
            drawn.barh(-place, bits, left=start, color=shade, edgecolor=LINE, lw=0.8, height=0.5)
            if bits > 0.0005:
                # Narrow pieces have their names above.
                wide = bits > NAMED * most
                where, aligned = (start + bits / 2, "center") if wide else (start, "left")
                height, words = -place if wide else -place + 0.37, f"{name} = {bits:.3f}"
                drawn.text(where, height, words, ha=aligned, va="center", fontsize=FONT - 1, color=INK)
            start += bits
    plain_axes(drawn, "bits", "")
    drawn.set_xlim(0.0, most or 1.0)
    drawn.set_ylim(-2.4, 0.6)
    drawn.set_yticks([0, -1, -2], [name for name, _, _ in rows])
    return figure_of(drawn)
