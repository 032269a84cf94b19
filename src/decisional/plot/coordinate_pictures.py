"""The map of a continuum of causal states: where each observation is, coloured by what is known there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..states.causal_model import CausalModel
from ..states.scales import evenly
from ..support.arguments import choice, integer
from . import figures

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Points that are drawn, at most: more of them hide each other.
SHOWN = 10_000
COLOURS = ("next", "state")


def coordinates(causal: CausalModel, n: int = 2, colour: str = "next", ax: Axes | None = None) -> Figure:
    """Draw each observation at the coordinates of its causal state.

    Parameters
    ----------
    causal : CausalStates
        Fitted to numbers.
    n : 2 or 3
        How many coordinates: in the plane, or in space.
    colour : "next" or "state"
        What colours tell: the expected next value, or the causal state.
    ax : matplotlib Axes, optional
        Where to draw, with ``projection="3d"`` for 3 coordinates; by default on a new figure, which is not registered
        with pyplot.

    Returns
    -------
    matplotlib Figure
        The figure; `save` writes it to a file.
    """
    figures.require_matplotlib()
    if not isinstance(causal, CausalModel) or not causal.is_fitted():
        raise ValueError(
            f"The 'causal' parameter must be a fitted CausalStates. Got {type(causal).__name__} instead: fit "
            "CausalStates() first."
        )
    n = integer(n, "n", least=2, most=3, remedy="draw two or three", of="coordinates")
    choice(colour, "colour", COLOURS, of="coordinates")
    found = causal.coordinates(n)
    some = evenly(len(found.values), SHOWN)
    drawn: Any = ax
    if drawn is None:
        drawn = figures.new_figure(6.4, 5.2).add_subplot(projection="3d" if n == 3 else None)
    figures.require_axes(drawn)
    if (drawn.name == "3d") != (n == 3):
        raise ValueError(
            f"The 'ax' is {'in space' if drawn.name == '3d' else 'in the plane'} and 'n' is {n}; three coordinates are "
            "drawn in space: give axes with projection='3d' for n=3 only."
        )
    at = found.values[some].T
    if colour == "state":
        colours = figures.state_colours(causal.labels_[some]) / 255.0
        drawn.scatter(*at, c=colours, s=12, edgecolors="0.4", linewidths=0.3)
    else:
        dots = drawn.scatter(*at, c=found.forecast()[some].mean, cmap="viridis", s=7, linewidths=0)
        bar = figures.figure_of(drawn).colorbar(dots, ax=drawn, shrink=0.8, pad=0.1 if n == 3 else 0.02)
        bar.set_label("expected next value", fontsize=figures.FONT)
        bar.ax.tick_params(labelsize=figures.FONT)
    _name(drawn, [f"coordinate {k + 1} ({share:.0%})" for k, share in enumerate(found.share)])
    return figures.figure_of(drawn)


def _name(ax: Any, names: list[str]) -> None:
    """Name the axes, in the plane or in space."""
    if len(names) == 2:
        figures.plain_axes(ax, *names)
        return
    for axis, name in zip("xyz", names, strict=True):
        getattr(ax, f"set_{axis}label")(name, fontsize=figures.FONT, color=figures.INK)
    ax.tick_params(labelsize=figures.FONT - 2, colors=figures.INK)
