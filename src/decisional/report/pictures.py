"""Pictures inside a page: SVG that can be zoomed, and small PNG files as text."""

from __future__ import annotations

import base64
import re
import struct
import warnings
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..plot.saving import render
from .markup import Html, element

__all__ = ["STATE_COLOURS", "drawn", "inline_svg", "png", "state_colour", "zoomable"]

# Dark letters can be read on all of them.
STATE_COLOURS = ("#f7dc7f", "#7cc8ee", "#f0a860", "#6fcfab", "#de9fc6", "#a9b8f0", "#cfab8f", "#c3c9cf")


def state_colour(k: int) -> str:
    """Return the colour of state number k, on which dark letters can be read."""
    if k < len(STATE_COLOURS):
        return STATE_COLOURS[k]
    return f"hsl({(k * 137.508) % 360:.0f} 60% 76%)"


def inline_svg(draw: Callable[[], Any], label: str, prefix: str) -> Html:
    """Return a matplotlib figure as SVG that can stand in an HTML page beside others.

    Parameters
    ----------
    draw : makes the matplotlib Figure or Axes
    label : what is seen, for those who do not see it
    prefix : of all identifiers, different for each picture of a page
    """
    with warnings.catch_warnings():
        # Letters that the font lacks are boxes here, and letters in the tables.
        warnings.filterwarnings("ignore", message="Glyph")
        figure = draw()
        # The paper is that of the page.
        whole = figure.figure.figure
        for patch in (whole.patch, *(ax.patch for ax in whole.axes)):
            patch.set_alpha(0.0)
        svg = render(figure, "svg").decode("utf-8")
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>|<style.*?</style>|<!--.*?-->", "", svg, flags=re.DOTALL)
    box = re.search(r'viewBox="([^"]*)"', svg)
    assert box is not None
    # Names of artists repeat; only what is referred to needs one, and the picture itself.
    used = {"figure_1", *re.findall(r'(?:xlink:href="#|url\(#)([^")]+)', svg)}
    svg = re.sub(r' id="([^"]*)"', lambda found: f' id="{prefix}-{found[1]}"' if found[1] in used else "", svg)
    svg = re.sub(r'xlink:href="#', f'href="#{prefix}-', svg).replace("url(#", f"url(#{prefix}-")
    inside = svg[svg.index(">") + 1 : svg.rindex("</svg>")].replace("\n", " ")
    width = float(box.group(1).split()[2])
    attributes = {
        "viewBox": box.group(1),
        "role": "img",
        "aria_label": label,
        "style": f"max-width:{min(1.8 * width, 800):.0f}px",
    }
    return element("svg", Html(inside), **attributes)


def drawn(draw: Callable[[], Any], label: str, prefix: str) -> Html:
    """Draw a figure as SVG; without matplotlib, say what is missing."""
    try:
        return inline_svg(draw, label, prefix)
    except ImportError:
        return element("p", "The picture needs matplotlib: pip install 'decisional[plot]'.", class_="note")


def zoomable(svg: Html, caption: str) -> Html:
    """Return a figure whose picture can be zoomed and moved; without scripts it is simply there."""
    if not svg.startswith("<svg"):
        return svg
    keys = "plus and minus zoom, arrows move, 0 shows all"
    stage = element("div", svg, class_="stage", tabindex="0", role="group", aria_label=f"Picture: {keys}")
    buttons = [
        element("button", text, type="button", data_zoom=action, aria_label=name, title=name)
        for text, action, name in (("+", "in", "Zoom in"), ("−", "out", "Zoom out"), ("Reset", "reset", "Show all"))
    ]
    hint = element("span", "Drag to move, or use the keys + − 0 and the arrows.", class_="hint")
    controls = Html(element("div", *buttons, hint, class_="controls").replace("<div", "<div hidden", 1))
    return element("figure", stage, controls, element("figcaption", caption), class_="picture zoom")


def png(pixels: NDArray[Any]) -> str:
    """Return grey levels (height, width) or colours (height, width, 3) in 0..255 as the address of a PNG image."""
    pixels = np.ascontiguousarray(pixels, np.uint8)
    height, width = pixels.shape[:2]
    rows = np.zeros((height, 1 + pixels[0].size), np.uint8)  # each begins with its filter: none
    rows[:, 1:] = pixels.reshape(height, -1)

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 2 if pixels.ndim == 3 else 0, 0, 0, 0)
    parts = chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows.tobytes(), 9)) + chunk(b"IEND", b"")
    return "data:image/png;base64," + base64.b64encode(b"\x89PNG\r\n\x1a\n" + parts).decode("ascii")
