"""The matplotlib artists of a picture. One unit of layout measures `points` points on the page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .edges import Edge
from .geometry import Floats
from .labels import FONT, LEADING, extent

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..graphs import EpsilonMachine

__all__ = ["draw_edges", "draw_legend", "draw_states", "fit", "legend_height", "new_axes"]

# From light to dark, so that groups stay apart in grey print and for every kind of colour vision.
PALETTE = ("#fbe9a6", "#7cc8ee", "#e08b1a", "#009e73", "#bb5590", "#005a94", "#7a3300", "#222255")
HATCHES = ("", "////", "....", "xxxx")
RECURRENT, TRANSIENT, INK, LINE = "#cfe2f3", "#f6f6f6", "#1b1b1b", "#444444"


def new_axes(box: Floats) -> Axes:
    """Return axes that fill a new figure, unknown to pyplot, in the proportions of a box."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    inches = 0.82 * (box[1] - box[0])
    figure = Figure(figsize=tuple(inches * min(1.0, 9.0 / inches.max())))
    FigureCanvasAgg(figure)
    return figure.add_axes((0.0, 0.0, 1.0, 1.0))


def fit(ax: Axes, box: Floats) -> float:
    """Set the limits to a box, given by its corners, and return the size of one unit in points."""
    ax.set_xlim(box[0, 0], box[1, 0])
    ax.set_ylim(box[0, 1], box[1, 1])
    ax.set_aspect("equal")
    ax.set_axis_off()
    # The figure of a figure is the outermost one.
    size = 72 * ax.figure.figure.get_size_inches() * ax.get_position(original=True).size
    return float((size / (box[1] - box[0])).min())


def draw_edges(ax: Axes, edges: Sequence[Edge], points: float) -> None:
    """Draw curves, arrow heads and those labels that have a place."""
    from matplotlib.patches import PathPatch, Polygon
    from matplotlib.path import Path

    for edge in edges:
        line = Path(np.concatenate([edge.curve[:-1:4], edge.curve[-1:]]))
        gid = "loop" if edge.is_loop else "edge"
        ax.add_patch(PathPatch(line, fill=False, ec=LINE, lw=0.02 * points, gid=gid, clip_on=False, zorder=1))
        ax.add_patch(Polygon(edge.head, fc=LINE, ec="none", clip_on=False, zorder=2))
    for edge in edges:
        if edge.place is not None:
            style = {"size": FONT * points, "color": INK, "va": "center", "linespacing": LEADING, "zorder": 4}
            _write(ax, edge.place, edge.label, 0.09 * points, "white", **style)


def draw_states(
    ax: Axes, machine: EpsilonMachine, xy: Floats, radius: Floats, groups: Sequence[str] | None, points: float
) -> None:
    """Draw the states with their names, coloured by group, or by kind without groups."""
    from matplotlib.patches import Circle

    if groups is None:
        fills = [(RECURRENT if recurrent else TRANSIENT, "") for recurrent in machine.recurrent]
    else:
        fills = [_fills(groups)[group] for group in groups]
    for state, (colour, hatch) in enumerate(fills):
        recurrent = machine.recurrent[state]
        circle = Circle(
            tuple(xy[state]),
            radius[state],
            fc=colour,
            ec=INK if recurrent else "#666666",
            hatch=hatch,
            lw=(0.026 if recurrent else 0.02) * points,
            ls="-" if recurrent else (0, (3, 2)),
            gid="recurrent" if recurrent else "transient",
            clip_on=False,
            zorder=3,
        )
        ax.add_patch(circle)
        name = str(machine.names[state])
        size = FONT * min(1.1, 1.6 * radius[state] / max(extent(name)[0], 1e-9))
        ink = "white" if _luminance(colour) < 0.3 else INK
        style = {"size": size * points, "color": ink, "va": "center_baseline", "zorder": 5}
        _write(ax, xy[state], name, 0.1 * points, colour, **style)


def _write(ax: Axes, place: Floats, text: str, halo: float, halo_colour: str, **style: Any) -> None:
    """Write centred text, as it is, with a halo that keeps lines away from it."""
    from matplotlib.patheffects import withStroke

    effects = [withStroke(linewidth=halo, foreground=halo_colour)]
    x, y = place.tolist()
    ax.text(x, y, text, ha="center", parse_math=False, path_effects=effects, **style)


def _luminance(colour: str) -> float:
    from matplotlib.colors import to_rgb

    return float(np.array([0.2126, 0.7152, 0.0722]) @ np.array(to_rgb(colour)) ** 2.2)


def _fills(groups: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Return the colour and hatching of each group, in order of appearance."""
    k, names = len(PALETTE), dict.fromkeys(groups)
    return {name: (PALETTE[i % k], HATCHES[i // k % len(HATCHES)]) for i, name in enumerate(names)}


def _legend_columns(groups: Sequence[str], box: Floats) -> int:
    widest = max(float(extent(group)[0]) for group in groups) + 4.5 * FONT
    return max(1, min(len(set(groups)), int((box[1, 0] - box[0, 0]) / widest)))


def legend_height(groups: Sequence[str], box: Floats) -> float:
    """Return the height of the legend of a picture as wide as a box."""
    rows = -(-len(set(groups)) // _legend_columns(groups, box))
    return 1.5 * FONT * rows + 2 * FONT


def draw_legend(ax: Axes, groups: Sequence[str], box: Floats, points: float) -> None:
    """Draw the legend of the groups at the bottom of a box."""
    from matplotlib.patches import Patch

    entries = []
    for group, (colour, hatch) in _fills(groups).items():
        # Matplotlib leaves out labels that begin with an underscore.
        label = f" {group}" if group.startswith("_") else group
        entries.append(Patch(fc=colour, ec=INK, hatch=hatch, lw=0.015 * points, label=label))
    legend = ax.legend(
        handles=entries,
        loc="lower center",
        bbox_to_anchor=((box[0, 0] + box[1, 0]) / 2, box[0, 1]),
        bbox_transform=ax.transData,
        ncols=_legend_columns(groups, box),
        fontsize=FONT * points,
        frameon=False,
        borderaxespad=0.3,
    )
    for text in legend.get_texts():
        text.set_parse_math(False)
