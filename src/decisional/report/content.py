"""What a page is made of, as plain data, and how it becomes HTML: the templates write the words around it.

Strings are text, never HTML: the templates escape them. Only the inside of a picture is `Markup`.
"""

from __future__ import annotations

import base64
import io
import re
import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..plot import figures, wording
from ..support.plurals import plural

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

MOST_WIDTH = 800  # pixels
DARK = 120  # of 255: letters on darker colours are white
# What no HTML page may hold, and lone surrogates, which file names may have and UTF-8 cannot write.
FORBIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


class Section(NamedTuple):
    """A part of a page.

    Attributes
    ----------
    name : what links lead to
    title : the heading
    content : what its template shows, besides the findings that all templates know; None: there is no such part
    form : name of its template, by default that of the section
    """

    name: str
    title: str
    content: Mapping[str, Any] | None
    form: str = ""


class Chip(NamedTuple):
    """The name of a state on its colour, plain without one; its number, by which a script finds where it occurs."""

    text: str
    colour: str | None
    state: int | None = None

    @property
    def ink(self) -> str:
        """The colour of letters that can be read on that of the state."""
        if self.colour is None or not self.colour.startswith("#"):
            return "#111"
        red, green, blue = (int(self.colour[k : k + 2], 16) for k in (1, 3, 5))
        return "#111" if 0.3 * red + 0.6 * green + 0.1 * blue > DARK else "#fff"


class Bars(NamedTuple):
    """Probabilities as small bars between their labels and their numbers, and a note below."""

    rows: Sequence[tuple[str, float]]
    note: str = ""


class Curve(NamedTuple):
    """A small curve of a distribution: the path of an SVG of 40 by 20, what is seen on it, and the mean."""

    path: str
    label: str
    mean: float


Cell = str | Chip | Bars | Curve


class TableContent(NamedTuple):
    """A table whose first column heads the rows; the columns `numbers` are aligned to the right."""

    head: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    caption: str
    numbers: Collection[int] = ()


class Legend(NamedTuple):
    """What colours mean: states by name, or where these are many the ends of a scale of expected values."""

    n_states: int
    chips: Sequence[Chip] = ()
    scale: tuple[float, float] | None = None


class Svg(NamedTuple):
    """A picture inside a page: its inside (None: matplotlib is missing), what it shows of the plane, and its words."""

    inside: Markup | None
    view: str
    width: float
    label: str


def svg(draw: Callable[[], Any] | None, label: str, prefix: str) -> Svg | None:
    """Return a matplotlib figure as SVG that can stand in an HTML page beside others, or that it is missing.

    Parameters
    ----------
    draw : makes the matplotlib Figure or Axes; None: there is no picture
    label : what is seen, for those who do not see it
    prefix : of all identifiers, different for each picture of a page
    """
    from markupsafe import Markup

    if draw is None:
        return None
    with warnings.catch_warnings():
        # Letters that the font lacks are boxes here, and letters in the tables.
        warnings.filterwarnings("ignore", message="Glyph")
        try:
            whole = figures.figure_of(draw())
        except ImportError:
            return Svg(None, "", 0.0, label)
        # The paper is that of the page.
        for patch in (whole.patch, *(ax.patch for ax in whole.axes)):
            patch.set_alpha(0.0)
        text = figures.render(whole, "svg").decode("utf-8")
    text = re.sub(r"<metadata>.*?</metadata>|<style.*?</style>|<!--.*?-->", "", text, flags=re.DOTALL)
    head, inside = text[text.index("<svg") : text.rindex("</svg>")].split(">", 1)
    box = head.split('viewBox="')[1].split('"')[0]
    # Names of artists repeat; only what is referred to needs one, and the picture itself.
    used = {"figure_1", *re.findall(r'(?:xlink:href="#|url\(#)([^")]+)', inside)}
    inside = re.sub(r' id="([^"]*)"', lambda name: f' id="{prefix}-{name[1]}"' if name[1] in used else "", inside)
    inside = inside.replace('xlink:href="#', f'href="#{prefix}-').replace("url(#", f"url(#{prefix}-")
    return Svg(Markup(inside.replace("\n", " ")), box, min(1.8 * float(box.split()[2]), MOST_WIDTH), label)


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


def render(template: str, **content: Any) -> str:
    """Fill in one of the templates; all text is escaped, and characters that HTML may not hold are replaced."""
    return FORBIDDEN.sub("\ufffd", _environment().get_template(template).render(content))


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    made = Environment(
        loader=PackageLoader(__package__ or "", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters |= {name: getattr(wording, name) for name in ("number", "share", "bits", "there_are")}
    made.filters |= {"plural": plural, "percent": "{:.0%}".format, "whole": "{:,}".format}
    made.filters["outcome"] = lambda z: wording.typeset(wording.outcome_text(z))
    made.filters["prediction"] = lambda y: wording.typeset(wording.prediction_text(y))
    return made
