"""The matplotlib artists of a picture. One unit of layout measures `points` points on the page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from .diagrams import Edge
from .geometry import Floats
from .labels import FONT, LEADING, extent
from .states import States

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw_edges", "draw_legend", "draw_states", "fit", "legend_height", "new_axes", "new_figure"]

# From light to dark, so that groups stay apart in grey print and for every kind of colour vision.
PALETTE = ("#fbe9a6", "#7cc8ee", "#e08b1a", "#009e73", "#bb5590", "#005a94", "#7a3300", "#222255")
HATCHES = ("", "////", "....", "xxxx")
RECURRENT, TRANSIENT, INK, LINE = "#cfe2f3", "#f6f6f6", "#1b1b1b", "#444444"


def require_matplotlib() -> None:
    """Raise ImportError with the remedy if matplotlib is missing."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise ImportError("Plotting needs matplotlib: pip install 'decisional[plot]'.") from None


def new_figure(width: float, height: float, layout: Literal["constrained"] | None = "constrained") -> Figure:
    """Return an empty figure of so many inches, unknown to pyplot."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout=layout)
    FigureCanvasAgg(figure)
    return figure


def new_axes(box: Floats) -> Axes:
    """Return axes that fill a new figure in the proportions of a box."""
    inches = 0.82 * (box[1] - box[0])
    width, height = (inches * min(1.0, 9.0 / inches.max())).tolist()
    return new_figure(width, height, None).add_axes((0.0, 0.0, 1.0, 1.0))


def fit(ax: Axes, box: Floats) -> float:
    """Set the limits to a box, given by its corners, and return the size of one unit in points."""
    ax.set_xlim(box[0, 0], box[1, 0])
    ax.set_ylim(box[0, 1], box[1, 1])
    ax.set_aspect("equal")
    ax.set_axis_off()
    # The figure of a figure is the outermost one.
    size = 72 * ax.figure.figure.get_size_inches() * ax.get_position(original=True).size
    return float((size / (box[1] - box[0])).min())


def tint(colour: str, share: float = 0.28) -> str:
    """Return a pale shade of a colour, as paper behind other things."""
    from matplotlib.colors import to_hex, to_rgb

    red, green, blue = (share * part + 1 - share for part in to_rgb(colour))
    return str(to_hex((red, green, blue)))


def draw_boxes(ax: Axes, corners: Floats, colours: Sequence[str], points: float) -> None:
    """Draw rounded boxes (n_boxes, 2, 2), in pale shades of the colours with a dark border."""
    from matplotlib.colors import to_rgb
    from matplotlib.patches import FancyBboxPatch

    for (low, high), colour in zip(corners, colours, strict=True):
        width, height = (high - low).tolist()
        box = FancyBboxPatch(
            tuple(low),
            width,
            height,
            boxstyle="round,pad=0,rounding_size=0.16",
            fc=tint(colour),
            ec=tuple(0.6 * np.array(to_rgb(colour))),
            lw=0.02 * points,
            gid="box",
            clip_on=False,
            zorder=0.5,
        )
        ax.add_patch(box)


def draw_titles(ax: Axes, titles: Sequence[str], places: Floats, colours: Sequence[str], points: float) -> None:
    """Write the titles of boxes, each centred at its place as a whole, its lines aligned to the left."""
    style = {"size": FONT * points, "color": INK, "va": "center", "linespacing": LEADING, "multialignment": "left"}
    for title, place, colour in zip(titles, places, colours, strict=True):
        write(ax, place, title, 0.09 * points, tint(colour), **style, zorder=4)


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
            write(ax, edge.place, edge.label, 0.09 * points, edge.halo, **style)


def draw_states(ax: Axes, states: States, xy: Floats, fills: Sequence[tuple[str, str]], points: float) -> None:
    """Draw the states with their names, each with its colour and hatching."""
    from matplotlib.patches import Circle

    for state, (colour, hatch) in enumerate(fills):
        recurrent, radius = states.recurrent[state], float(states.radius[state])
        circle = Circle(
            tuple(xy[state]),
            radius,
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
        name = states.names[state]
        size = FONT * min(1.1, 1.6 * radius / max(extent(name)[0], 1e-9))
        ink = "white" if _luminance(colour) < 0.3 else INK
        style = {"size": size * points, "color": ink, "va": "center_baseline", "zorder": 5}
        # Only hatching runs through a name; a halo would cover the outline of the circle.
        write(ax, xy[state], name, 0.1 * points if hatch else 0.0, colour, **style)


def write(ax: Axes, place: Floats, text: str, halo: float, halo_colour: str, **style: Any) -> None:
    """Write centred text, as it is, with a halo that keeps lines away from it."""
    from matplotlib.patheffects import withStroke

    effects = [withStroke(linewidth=halo, foreground=halo_colour)] if halo else []
    x, y = place.tolist()
    ax.text(x, y, text, ha="center", parse_math=False, path_effects=effects, **style)


def _luminance(colour: str) -> float:
    from matplotlib.colors import to_rgb

    return float(np.array([0.2126, 0.7152, 0.0722]) @ np.array(to_rgb(colour)) ** 2.2)


def fill(k: int) -> tuple[str, str]:
    """Return the colour and hatching of group number k."""
    return PALETTE[k % len(PALETTE)], HATCHES[k // len(PALETTE) % len(HATCHES)]


def state_fills(states: States, groups: Sequence[str] | None) -> list[tuple[str, str]]:
    """Return the colour and hatching of each state: by group, or by kind without groups."""
    if groups is None:
        return [(RECURRENT if recurrent else TRANSIENT, "") for recurrent in states.recurrent]
    found = _fills(groups)
    return [found[group] for group in groups]


def _fills(groups: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Return the colour and hatching of each group, in order of appearance."""
    return {name: fill(i) for i, name in enumerate(dict.fromkeys(groups))}


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
