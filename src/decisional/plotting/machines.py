"""Drawing an epsilon-machine: sizes, positions, curves, labels, and at last the artists."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from . import artists
from .edges import Edge, read_edges
from .geometry import Floats, join
from .labels import extent, place_labels
from .layout import layout
from .routing import route

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..graphs import EpsilonMachine

__all__ = ["machine", "probabilities", "require_matplotlib"]

LARGEST, SMALLEST, FAINT = 0.36, 0.2, 0.17  # radii: most probable, least probable, transient
MARGIN = 0.08  # free space around the picture


def machine(
    machine: EpsilonMachine,
    ax: Axes | None = None,
    groups: Sequence[object] | Any | None = None,
    *,
    edge_labels: bool = True,
    title: str | None = None,
) -> Axes:
    """Draw an epsilon-machine.

    States are circles whose area is their probability, down to a size that still holds a name; recurrent
    states are filled, transient ones small, pale and dashed.
    An edge labelled ``1 | 0.50`` emits the symbol 1 with probability 0.50.

    Parameters
    ----------
    machine : EpsilonMachine
        The machine to draw; it stays readable up to about 20 states.
    ax : matplotlib Axes, optional
        Where to draw; by default on a new figure, which is not registered with pyplot.
    groups : sequence of hashables, or object with ``state_groups_``, optional
        One group per state: states of the same group share a colour and an entry of the legend.
    edge_labels : bool, default True
        Whether to write the symbols and probabilities on the edges.
    title : str, optional
        Title of the axes.

    Returns
    -------
    matplotlib Axes
        The axes; its figure is ``axes.figure``, and `save` writes it to a file.
    """
    require_matplotlib()
    names = _group_names(groups, machine.n_states)
    radius = _radii(machine)
    edges = read_edges(machine)
    xy = layout(machine, edges)
    route(edges, xy, radius)
    if edge_labels:
        place_labels(edges, xy, radius)
    box = _bounds(edges, xy, radius)
    if names is not None:
        box[0, 1] -= artists.legend_height(names, box)
    if ax is None:
        ax = artists.new_axes(box)
    points = artists.fit(ax, box)
    artists.draw_edges(ax, edges, points)
    artists.draw_states(ax, machine, xy, radius, names, points)
    if names is not None:
        artists.draw_legend(ax, names, box, points)
    if title is not None:
        ax.set_title(title)
    return ax


def require_matplotlib() -> None:
    """Raise ImportError with the remedy if matplotlib is missing."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise ImportError("Plotting needs matplotlib: pip install 'decisional[plot]'.") from None


def probabilities(machine: EpsilonMachine) -> Floats:
    """Return the observed probabilities of the states, or the stationary ones of an exact machine."""
    return machine.stationary if machine.weights is None else machine.weights


def _group_names(groups: Any, n_states: int) -> list[str] | None:
    if groups is None:
        return None
    names = [str(group) for group in getattr(groups, "state_groups_", groups)]
    if len(names) != n_states:
        raise ValueError(
            f"The 'groups' parameter must have one group for each of the {n_states} states of the machine. "
            f"Got {len(names)} groups instead."
        )
    return names


def _radii(machine: EpsilonMachine) -> Floats:
    p = probabilities(machine)
    top = p[machine.recurrent].max(initial=0.0) or 1.0
    return np.where(machine.recurrent, np.clip(LARGEST * np.sqrt(p / top), SMALLEST, LARGEST), FAINT)


def _bounds(edges: Sequence[Edge], xy: Floats, radius: Floats) -> Floats:
    """Return the lower left and upper right corners of all there is to draw."""
    parts = [xy - radius[:, None], xy + radius[:, None]]
    for edge in edges:
        parts += [edge.curve, edge.head]
        if edge.place is not None:
            half = extent(edge.label) / 2
            parts.append(np.array([edge.place - half, edge.place + half]))
    points = join(parts)
    return np.array([points.min(0) - MARGIN, points.max(0) + MARGIN])
