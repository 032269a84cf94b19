"""The decisional states on top of the epsilon-machine: causal states inside boxes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from . import artists
from .boxes import Boxes, nest, separate, within
from .diagrams import Edge, read_edges
from .drawing import MARGIN, bounds
from .geometry import Floats, join, outlines
from .labels import place_labels
from .routing import Toll, route
from .states import machine_states
from .wording import decision_texts, require_fitted

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..decisions.decisional_model import DecisionalModel

__all__ = ["decisions"]


def decisions(
    choice: DecisionalModel, ax: Axes | None = None, self_loops: bool = True, title: str | None = None
) -> Axes:
    """Draw an epsilon-machine with its causal states inside their decisional states.

    Each decisional state is a box that says what to predict in it and what this is worth on average; circles and
    edges are those of `machine`. It is the paper's figure "Decisional states transition graph on top of the
    ε-machine".

    Parameters
    ----------
    choice : DecisionalStates
        Fitted to a machine, or to causal states that have one; it stays readable up to about 20 causal states.
    ax : matplotlib Axes, optional
        Where to draw; by default on a new figure, which is not registered with pyplot.
    self_loops : bool, default True
        Whether to draw the edges from a causal state to itself.
    title : str, optional
        Title of the axes.

    Returns
    -------
    matplotlib Axes
        The axes; its figure is ``axes.figure``, and `save` writes it to a file.
    """
    artists.require_matplotlib()
    require_fitted(choice)
    if choice.machine_ is None:
        raise ValueError(
            "The 'choice' has no machine, as its data have no symbols; decisions are drawn on top of one: "
            "draw them with relations instead."
        )
    states = machine_states(choice.machine_)
    edges = [edge for edge in read_edges(choice.machine_) if self_loops or not edge.is_loop]
    group = choice.states_.labels
    boxes = Boxes(group, _titles(choice), states.radius)
    xy = nest(boxes, edges)
    _connect(boxes, edges, xy)
    corners = boxes.corners(xy)
    box = bounds(edges, xy, states.radius)
    box[0] = np.minimum(box[0], corners[:, 0].min(0) - MARGIN)
    box[1] = np.maximum(box[1], corners[:, 1].max(0) + MARGIN)
    if ax is None:
        ax = artists.new_axes(box)
    points = artists.fit(ax, box)
    _set_halos(edges, corners)
    colours = [artists.fill(k)[0] for k in range(len(boxes))]
    artists.draw_boxes(ax, corners, colours, points)
    artists.draw_titles(ax, boxes.titles, boxes.titles_at(corners).mean(axis=1), colours, points)
    artists.draw_edges(ax, edges, points)
    artists.draw_states(ax, states, xy, [artists.fill(k) for k in group.tolist()], points)
    if title is not None:
        ax.set_title(title)
    return ax


def _titles(choice: DecisionalModel) -> list[str]:
    """Return the titles of the boxes, on two lines where there are too few states for a long one."""
    size = np.bincount(choice.states_.labels)
    texts = zip(decision_texts(choice), size.tolist(), strict=True)
    return [",\n".join(text.rsplit(", ", 1)) if n <= 2 else text for text, n in texts]


def _connect(boxes: Boxes, edges: Sequence[Edge], xy: Floats) -> None:
    """Draw the curves and place their labels; boxes grow around those inside, and move apart for this."""
    for last in (False, False, False, True):
        corners = boxes.corners(xy)
        titles = boxes.titles_at(corners)
        route(edges, xy, boxes.radius, _toll(boxes, corners), join([outlines(corners, 0.05), outlines(titles, 0.05)]))
        texts = list(zip(titles.mean(axis=1), boxes.size / 2, strict=True))
        place_labels(edges, xy, boxes.radius, texts, outlines(corners, 0.1))
        if last or not boxes.make_room(xy, edges):
            break
        boxes.place_titles(xy, edges)
        separate(xy, boxes)


def _toll(boxes: Boxes, corners: Floats) -> Toll:
    """Return the cost of a curve for the titles, and for the boxes of other states, that it passes through."""
    margin = np.array([[-0.06], [0.06]])
    titles, walls = boxes.titles_at(corners) + margin, corners + margin

    def toll(edge: Edge, curve: Floats) -> float:
        points = curve[::4]
        inside = np.count_nonzero(within(points, walls), axis=1)
        inside[boxes.group[[edge.source, edge.target]]] = 0
        return float(0.4 * np.count_nonzero(within(points, titles)) + 0.15 * inside.sum())

    return toll


def _set_halos(edges: Sequence[Edge], corners: Floats) -> None:
    for edge in edges:
        for k, (low, high) in enumerate(corners):
            if edge.place is not None and ((edge.place > low) & (edge.place < high)).all():
                edge.halo = artists.tint(artists.fill(k)[0])
