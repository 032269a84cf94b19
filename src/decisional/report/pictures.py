"""Pictures inside a page: SVG of matplotlib, PNG images as text, and the colours of states."""

from __future__ import annotations

import base64
import io
import re
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..plot.saving import render
from .content import Svg

# Dark letters can be read on all of them.
STATE_COLOURS = ("#f7dc7f", "#7cc8ee", "#f0a860", "#6fcfab", "#de9fc6", "#a9b8f0", "#cfab8f", "#c3c9cf")
MOST_WIDTH = 800  # pixels


def state_colour(k: int) -> str:
    """Return the colour of state number k, on which dark letters can be read."""
    if k < len(STATE_COLOURS):
        return STATE_COLOURS[k]
    return f"hsl({(k * 137.508) % 360:.0f} 60% 76%)"


def svg(draw: Callable[[], Any], label: str, prefix: str) -> Svg:
    """Return a matplotlib figure as SVG that can stand in an HTML page beside others, or that it is missing.

    Parameters
    ----------
    draw : makes the matplotlib Figure or Axes
    label : what is seen, for those who do not see it
    prefix : of all identifiers, different for each picture of a page
    """
    from markupsafe import Markup

    try:
        text = _transparent(draw)
    except ImportError:
        return Svg(None, "", 0.0, label)
    text = re.sub(r"<metadata>.*?</metadata>|<style.*?</style>|<!--.*?-->", "", text, flags=re.DOTALL)
    head, inside = text[text.index("<svg") : text.rindex("</svg>")].split(">", 1)
    box = head.split('viewBox="')[1].split('"')[0]
    # Names of artists repeat; only what is referred to needs one, and the picture itself.
    used = {"figure_1", *re.findall(r'(?:xlink:href="#|url\(#)([^")]+)', inside)}
    inside = re.sub(r' id="([^"]*)"', lambda name: f' id="{prefix}-{name[1]}"' if name[1] in used else "", inside)
    inside = inside.replace('xlink:href="#', f'href="#{prefix}-').replace("url(#", f"url(#{prefix}-")
    return Svg(Markup(inside.replace("\n", " ")), box, min(1.8 * float(box.split()[2]), MOST_WIDTH), label)


def _transparent(draw: Callable[[], Any]) -> str:
    with warnings.catch_warnings():
        # Letters that the font lacks are boxes here, and letters in the tables.
        warnings.filterwarnings("ignore", message="Glyph")
        drawn = draw()
        # The paper is that of the page.
        whole = drawn.figure.figure
        for patch in (whole.patch, *(ax.patch for ax in whole.axes)):
            patch.set_alpha(0.0)
        return render(drawn, "svg").decode("utf-8")


def png(pixels: NDArray[Any]) -> str:
    """Return grey levels (height, width) or colours (height, width, 3) in 0..255 as the address of a PNG image."""
    from PIL import Image

    height, width = pixels.shape[:2]
    colours = np.broadcast_to(pixels.reshape(height * width, -1), (height * width, 3)).astype(np.uint8)
    image = Image.fromarray(colours.reshape(height, width, 3))
    used, place = np.unique(colours @ np.array([1 << 16, 1 << 8, 1]), return_inverse=True)
    if used.size <= 256:
        # Numbers of colours take less than half the space of colours.
        image = Image.fromarray(place.reshape(height, width).astype(np.uint8))
        image.putpalette(np.column_stack([used >> 16, used >> 8 & 255, used & 255]).astype(np.uint8).tobytes())
    data = io.BytesIO()
    image.save(data, "png", optimize=True)
    return "data:image/png;base64," + base64.b64encode(data.getvalue()).decode("ascii")
