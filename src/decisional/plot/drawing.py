"""What all pictures of states and edges share: positions, curves, labels, and at last the artists."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from . import artists
from .diagrams import Edge
from .geometry import Floats, join
from .labels import extent, place_labels
from .layout import layout
from .routing import route
from .states import States

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["bounds", "draw"]

MARGIN = 0.08  # free space around the picture


def draw(
    states: States,
    edges: Sequence[Edge],
    ax: Axes | None,
    groups: Sequence[str] | None = None,
    edge_labels: bool = True,
    title: str | None = None,
) -> Axes:
    """Draw states and edges on axes, or on a new figure; groups have a colour and an entry of the legend each."""
    xy = layout(states, edges)
    route(edges, xy, states.radius)
    if edge_labels:
        place_labels(edges, xy, states.radius)
    box = bounds(edges, xy, states.radius)
    if groups is not None:
        box[0, 1] -= artists.legend_height(groups, box)
    if ax is None:
        ax = artists.new_axes(box)
    points = artists.fit(ax, box)
    artists.draw_edges(ax, edges, points)
    artists.draw_states(ax, states, xy, artists.state_fills(states, groups), points)
    if groups is not None:
        artists.draw_legend(ax, groups, box, points)
    if title is not None:
        ax.set_title(title)
    return ax


def bounds(edges: Sequence[Edge], xy: Floats, radius: Floats) -> Floats:
    """Return the lower left and upper right corners of states, edges and labels, with a margin."""
    parts = [xy - radius[:, None], xy + radius[:, None]]
    for edge in edges:
        parts += [edge.curve, edge.head]
        if edge.place is not None:
            half = extent(edge.label) / 2
            parts.append(np.array([edge.place - half, edge.place + half]))
    points = join(parts)
    return np.array([points.min(0) - MARGIN, points.max(0) + MARGIN])
