"""Figures, and the artists of diagrams on them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ..decisions.decisional_model import DecisionalModel
from ..support.arrays import Floats
from .diagrams import FONT, LEADING, Edge, States, extent, join

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.patheffects import AbstractPathEffect

    from ..states.causal_model import CausalModel

# From light to dark, so that groups stay apart in grey print and for every kind of colour vision.
PALETTE = ("#fbe9a6", "#7cc8ee", "#e08b1a", "#009e73", "#bb5590", "#005a94", "#7a3300", "#222255")
HATCHES = ("", "////", "....", "xxxx")
RECURRENT, TRANSIENT, INK, LINE = "#cfe2f3", "#f6f6f6", "#1b1b1b", "#444444"
MARGIN = 0.08  # free space around the picture


def require_matplotlib() -> None:
    """Raise ImportError with the remedy if matplotlib is missing."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise ImportError("Plotting needs matplotlib: pip install 'decisional[plot]'.") from None


def require_fitted(choice: Any) -> None:
    """Refuse what is not a fitted DecisionalStates, or cannot be drawn as matplotlib is missing."""
    require_matplotlib()
    if not isinstance(choice, DecisionalModel) or not choice.is_fitted():
        raise ValueError(
            "The 'choice' parameter must be a fitted DecisionalStates. "
            f"Got {type(choice).__name__} instead: fit DecisionalStates(utility) first."
        )


def require_data(choice: Any, picture: str) -> CausalModel:
    """Return the causal states that were fitted to data, or refuse what has none."""
    require_fitted(choice)
    causal: CausalModel | None = choice.causal_
    if causal is None:
        raise ValueError(
            f"The 'choice' of {picture} was fitted to a machine, which has no data of its own: fit it to causal states."
        )
    return causal


def new_figure(width: float, height: float, layout: Literal["constrained"] | None = "constrained") -> Figure:
    """Return an empty figure of so many inches, unknown to pyplot."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout=layout)
    FigureCanvasAgg(figure)
    return figure


def figure_of(drawn: Figure | Axes) -> Figure:
    """Return the outermost figure of axes, or of a figure."""
    return drawn.figure.figure


def bounds(edges: Sequence[Edge], xy: Floats, radius: Floats) -> Floats:
    """Return the lower left and upper right corners of states, edges and labels, with a margin."""
    points = join([xy - radius[:, None], xy + radius[:, None], *(edge.points for edge in edges)])
    return np.array([points.min(0) - MARGIN, points.max(0) + MARGIN])


def fill(k: int) -> tuple[str, str]:
    """Return the colour and hatching of group number k."""
    return PALETTE[k % len(PALETTE)], HATCHES[k // len(PALETTE) % len(HATCHES)]


def fills(groups: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Return the colour and hatching of each group, in order of appearance."""
    return {name: fill(i) for i, name in enumerate(dict.fromkeys(groups))}


def tint(colour: str, share: float = 0.28) -> str:
    """Return a pale shade of a colour, as paper behind other things."""
    from matplotlib.colors import to_hex, to_rgb

    red, green, blue = (share * part + 1 - share for part in to_rgb(colour))
    return str(to_hex((red, green, blue)))


def legend_height(groups: Sequence[str], box: Floats) -> float:
    """Return the height of the legend of a picture as wide as a box."""
    rows = -(-len(set(groups)) // _legend_columns(groups, box))
    return 1.5 * FONT * rows + 2 * FONT


def _legend_columns(groups: Sequence[str], box: Floats) -> int:
    widest = max(float(extent(group)[0]) for group in groups) + 4.5 * FONT
    return max(1, min(len(set(groups)), int((box[1, 0] - box[0, 0]) / widest)))


class Canvas:
    """Axes that show a page of a diagram, and nothing else.

    Parameters
    ----------
    page : (2, 2) lower left and upper right corners
    ax : where to draw; by default axes that fill a new figure in the proportions of the page

    Attributes
    ----------
    points : size of one unit of layout in points: all is laid out in it, and scaled once to the axes
    """

    def __init__(self, page: Floats, ax: Axes | None) -> None:
        if ax is None:
            inches = 0.82 * (page[1] - page[0])
            width, height = (inches * min(1.0, 9.0 / inches.max())).tolist()
            ax = new_figure(width, height, None).add_axes((0.0, 0.0, 1.0, 1.0))
        ax.set_xlim(page[0, 0], page[1, 0])
        ax.set_ylim(page[0, 1], page[1, 1])
        ax.set_aspect("equal")
        ax.set_axis_off()
        size = 72 * figure_of(ax).get_size_inches() * ax.get_position(original=True).size
        self.ax, self.page, self.points = ax, page, float((size / (page[1] - page[0])).min())

    def boxes(self, corners: Floats, colours: Sequence[str]) -> None:
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
                lw=0.02 * self.points,
                gid="box",
                clip_on=False,
                zorder=0.5,
            )
            self.ax.add_patch(box)

    def edges(self, edges: Sequence[Edge]) -> None:
        """Draw curves, arrow heads and those labels that have a place."""
        from matplotlib.patches import PathPatch, Polygon
        from matplotlib.path import Path

        for edge in edges:
            line = Path(np.concatenate([edge.curve[:-1:4], edge.curve[-1:]]))
            style: dict[str, Any] = {"gid": "loop" if edge.is_loop else "edge", "clip_on": False}
            self.ax.add_patch(PathPatch(line, fill=False, ec=LINE, lw=0.02 * self.points, zorder=1, **style))
            self.ax.add_patch(Polygon(edge.head, fc=LINE, ec="none", clip_on=False, zorder=2))
        for edge in edges:
            if edge.place is not None:
                self.label(edge.place, edge.label, edge.halo)

    def states(self, states: States, xy: Floats, fills: Sequence[tuple[str, str]]) -> None:
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
                lw=(0.026 if recurrent else 0.02) * self.points,
                ls="-" if recurrent else (0, (3, 2)),
                gid="recurrent" if recurrent else "transient",
                clip_on=False,
                zorder=3,
            )
            self.ax.add_patch(circle)
            name = states.names[state]
            size = FONT * min(1.1, 1.6 * radius / max(extent(name)[0], 1e-9))
            ink = "white" if _luminance(colour) < 0.3 else INK
            # Only hatching runs through a name; a halo would cover the outline of the circle.
            halo = self._halo(colour, 0.1) if hatch else []
            style: dict[str, Any] = {"size": size * self.points, "color": ink, "ha": "center", "va": "center_baseline"}
            x, y = xy[state].tolist()
            self.ax.text(x, y, name, **style, path_effects=halo, parse_math=False, zorder=5)

    def label(self, place: Floats, text: str, halo: str, align: str = "center") -> None:
        """Write lines of text around a place, with a halo of the given colour, which keeps lines away from them."""
        style: dict[str, Any] = {"size": FONT * self.points, "color": INK, "ha": "center", "va": "center", "zorder": 4}
        style |= {"linespacing": LEADING, "multialignment": align, "path_effects": self._halo(halo, 0.09)}
        x, y = place.tolist()
        self.ax.text(x, y, text, **style, parse_math=False)

    def write(self, x: float, y: float, text: str, align: str = "center") -> None:
        """Write a line of text."""
        self.ax.text(x, y, text, ha=align, va="center", size=FONT * self.points, color=INK, parse_math=False)

    def _halo(self, colour: str, width: float) -> list[AbstractPathEffect]:
        from matplotlib.patheffects import withStroke

        return [withStroke(linewidth=width * self.points, foreground=colour)]

    def legend(self, groups: Sequence[str]) -> None:
        """Draw the legend of the groups at the bottom of the page."""
        from matplotlib.patches import Patch

        entries = []
        for group, (colour, hatch) in fills(groups).items():
            # Matplotlib leaves out labels that begin with an underscore.
            label = f" {group}" if group.startswith("_") else group
            entries.append(Patch(fc=colour, ec=INK, hatch=hatch, lw=0.015 * self.points, label=label))
        legend = self.ax.legend(
            handles=entries,
            loc="lower center",
            bbox_to_anchor=(self.page[:, 0].mean(), self.page[0, 1]),
            bbox_transform=self.ax.transData,
            ncols=_legend_columns(groups, self.page),
            fontsize=FONT * self.points,
            frameon=False,
            borderaxespad=0.3,
        )
        for text in legend.get_texts():
            text.set_parse_math(False)


def _luminance(colour: str) -> float:
    from matplotlib.colors import to_rgb

    return float(np.array([0.2126, 0.7152, 0.0722]) @ np.array(to_rgb(colour)) ** 2.2)
