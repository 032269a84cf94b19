"""The artists of diagrams."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..support.arrays import Floats
from .diagrams import FONT, LEADING, Diagram, extent, within
from .figures import INK, LINE, figure_of, fill, legend, new_figure, tint

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Canvas:
    """Axes that show a page of a diagram, and nothing else.

    Parameters
    ----------
    page : (2, 2) lower left and upper right corners
    ax : where to draw; by default axes that fill a new figure in the proportions of the page
    title : of the axes

    Attributes
    ----------
    points : size of one unit of layout in points: all is laid out in it, and scaled once to the axes
    """

    def __init__(self, page: Floats, ax: Axes | None, title: str | None = None) -> None:
        if ax is None:
            inches = 0.82 * (page[1] - page[0])
            width, height = (inches * min(1.0, 9.0 / inches.max())).tolist()
            ax = new_figure(width, height, None).add_axes((0.0, 0.0, 1.0, 1.0))
        ax.set_xlim(page[0, 0], page[1, 0])
        ax.set_ylim(page[0, 1], page[1, 1])
        ax.set_aspect("equal")
        ax.set_axis_off()
        if title is not None:
            ax.set_title(title)
        size = 72 * figure_of(ax).get_size_inches() * ax.get_position(original=True).size
        self.ax, self.page, self.points = ax, page, float((size / (page[1] - page[0])).min())
        self._boxes: Floats = np.zeros((0, 2, 2))
        self._papers: list[str] = []

    def boxes(self, corners: Floats) -> None:
        """Draw rounded boxes (n_boxes, 2, 2), in pale shades of their colours with a dark border."""
        from matplotlib.colors import to_rgb
        from matplotlib.patches import FancyBboxPatch

        colours = [fill(k)[0] for k in range(len(corners))]
        self._boxes, self._papers = corners, [tint(colour) for colour in colours]
        style: dict[str, Any] = {"boxstyle": "round,pad=0,rounding_size=0.16", "lw": 0.02 * self.points}
        style |= {"gid": "box", "clip_on": False, "zorder": 0.5}
        for (low, high), colour, paper in zip(corners, colours, self._papers, strict=True):
            border = tuple(0.6 * np.array(to_rgb(colour)))
            self.ax.add_patch(FancyBboxPatch(tuple(low), *(high - low).tolist(), fc=paper, ec=border, **style))

    def edges(self, diagram: Diagram) -> None:
        """Draw curves, arrow heads and those labels that have a place."""
        from matplotlib.patches import PathPatch, Polygon
        from matplotlib.path import Path

        for edge in diagram.edges:
            line = Path(np.concatenate([edge.curve[:-1:4], edge.curve[-1:]]))
            style: dict[str, Any] = {"gid": "loop" if edge.is_loop else "edge", "clip_on": False}
            self.ax.add_patch(PathPatch(line, fill=False, ec=LINE, lw=0.02 * self.points, zorder=1, **style))
            self.ax.add_patch(Polygon(edge.head, fc=LINE, ec="none", clip_on=False, zorder=2))
        for edge in diagram.edges:
            if edge.place is not None:
                self.label(edge.place, edge.label)

    def states(self, diagram: Diagram, fills: Sequence[tuple[str, str]]) -> None:
        """Draw the states with their names, each with its colour and hatching."""
        from matplotlib.colors import to_rgb
        from matplotlib.patches import Circle

        usual: dict[str, Any] = {"ec": INK, "lw": 0.026 * self.points, "ls": "-", "gid": "recurrent"}
        faint: dict[str, Any] = {"ec": "#666666", "lw": 0.02 * self.points, "ls": (0, (3, 2)), "gid": "transient"}
        found = zip(diagram.names, diagram.xy.tolist(), diagram.radius.tolist(), diagram.recurrent, fills, strict=True)
        for name, (x, y), radius, recurrent, (colour, hatch) in found:
            outline = usual if recurrent else faint
            self.ax.add_patch(Circle((x, y), radius, fc=colour, hatch=hatch, **outline, clip_on=False, zorder=3))
            size = FONT * min(1.1, 1.6 * radius / max(extent(name)[0], 1e-9))
            luminance = np.array([0.2126, 0.7152, 0.0722]) @ np.array(to_rgb(colour)) ** 2.2
            style = {"size": size * self.points, "color": "white" if luminance < 0.3 else INK}
            # Only hatching runs through a name; a halo would cover the outline of the circle.
            halo = self._halo(colour, 0.1) if hatch else {}
            self.write(x, y, name, **style, **halo, va="center_baseline", zorder=5)

    def label(self, place: Floats, text: str, align: str = "center") -> None:
        """Write lines of text around a place, with a halo of the paper there, which keeps lines away from them."""
        inside = np.flatnonzero(within(place, self._boxes))
        halo = self._halo(self._papers[inside[-1]] if len(inside) else "white", 0.09)
        x, y = place.tolist()
        self.write(x, y, text, linespacing=LEADING, multialignment=align, **halo, zorder=4)

    def write(self, x: float, y: float, text: str, **style: Any) -> None:
        """Write text around a place, or as the style says."""
        usual: dict[str, Any] = {"ha": "center", "va": "center", "size": FONT * self.points, "color": INK}
        self.ax.text(x, y, text, **usual | style, parse_math=False)

    def _halo(self, colour: str, width: float) -> dict[str, Any]:
        from matplotlib.patheffects import withStroke

        return {"path_effects": [withStroke(linewidth=width * self.points, foreground=colour)]}

    def legend(self, fills: Mapping[str, tuple[str, str]], columns: int) -> None:
        """Draw the legend of groups at the bottom of the page."""
        at = self.page[:, 0].mean(), self.page[0, 1]
        style: dict[str, Any] = {"loc": "lower center", "bbox_to_anchor": at, "bbox_transform": self.ax.transData}
        style |= {"ncols": columns, "fontsize": FONT * self.points, "borderaxespad": 0.3}
        legend(self.ax, fills, INK, 0.015 * self.points, **style)
