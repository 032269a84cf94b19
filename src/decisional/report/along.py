"""The data coloured by state: a stretch of a series, or maps of a field."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..plot.wording import symbol_text
from .findings import Findings
from .markup import Html, element, join, number, section
from .pictures import png, state_colour
from .states import state_chip

__all__ = ["along_section", "labels_along"]

STRETCH, CURVE = 240, 200  # symbols, values of a signal
MOST_CHIPS = 12
SIDE = 360  # cells along each side of a map
DATA = "The data"
UNKNOWN = "no state is known"
UNKNOWN_COLOUR = np.array([255, 224, 178])
# From dark blue to yellow, evenly in lightness.
RAMP = np.array([[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]], float)


def along_section(found: Findings) -> Html:
    """Return the time line of a series or a signal, or the maps of a field or an image."""
    if found.kind in ("field", "image"):
        return _maps(found)
    if found.kind == "signal":
        return _signal(found)
    return _symbols(found) if found.kind == "series" and found.has_states else Html()


def labels_along(found: Findings) -> NDArray[Any] | None:
    """(n,) state at each position of data with one dimension, -1 where none is known."""
    if found.causal is not None:
        obs = found.causal.observations_
        labels = np.full(int(np.prod(obs.shape)), -1, np.int64)
        labels[obs.site] = found.causal.states_.labels[obs.x]
        return labels
    if found.source is None or found.machine is None:
        return None
    parts = [found.machine.filter(found.symbols(k)) for k in range(found.source.bounds.size - 1)]
    return np.concatenate(parts).astype(np.int64)


def _first_known(labels: NDArray[Any], length: int) -> slice:
    known = np.flatnonzero(labels >= 0)
    start = max(int(known[0]) - 5, 0) if known.size else 0
    return slice(start, start + length)


def _symbols(found: Findings) -> Html:
    labels, source = labels_along(found), found.source
    if labels is None or source is None:
        return Html()
    stretch = _first_known(labels, STRETCH)
    codes = source.lut[source.raw[stretch]]
    starts = set(source.bounds[1:-1].tolist())
    cells = []
    for place, (code, k) in enumerate(zip(codes.tolist(), labels[stretch].tolist(), strict=True), stretch.start):
        text = symbol_text(source.letters[code]) if code >= 0 else "·"
        title = f"position {place}: " + (f"state {found.names[k]}" if k >= 0 else UNKNOWN)
        style = f"background:{state_colour(k)}" if k >= 0 else None
        if place in starts:
            cells.append(element("br"))
        cells.append(element("span", text, title=title, style=style, class_=None if k >= 0 else "unknown"))
    # An empty element has no end in HTML.
    line = Html(element("div", *cells, class_="symbols").replace("<br></br>", "<br>"))
    shown = np.unique(labels[stretch])
    text = (
        f"Positions {stretch.start:,} to {stretch.start + codes.size - 1:,}: each symbol on the colour of the state "
        "that it leads to. No colour and a dashed border: the state is not known there."
    )
    return section("along", "Along the data", element("p", text), _legend(found, shown[shown >= 0]), line)


def _legend(found: Findings, shown: NDArray[Any]) -> Html:
    if found.n_states > MOST_CHIPS:
        text = f"{shown.size:,} states occur here, too many for colours to name: hold the pointer over a symbol."
        return element("p", text, class_="legend")
    chips: list[object] = [state_chip(found, k) for k in shown.tolist()[:MOST_CHIPS]]
    if shown.size > MOST_CHIPS:
        chips.append(f"and {shown.size - MOST_CHIPS} more")
    return element("p", join(["States: ", *chips], " "), class_="legend")


def _signal(found: Findings) -> Html:
    labels = labels_along(found)
    if found.series is None or labels is None:
        return Html()
    several = isinstance(found.series, (list, tuple)) and len(found.series) > 0 and np.ndim(found.series[0]) > 0
    values = np.asarray(found.series[0] if several else found.series, float)
    values = values[:, 0] if values.ndim == 2 else values
    stretch = _first_known(labels[: values.size], CURVE)
    values, labels = values[stretch], labels[: found.n + stretch.stop][stretch][: values.size]
    colours, legend = _signal_colours(found, labels)
    known = np.isfinite(values)
    if not known.any():
        return Html()
    low, high = float(values[known].min()), float(values[known].max())
    x = np.arange(values.size) * (960 / max(values.size - 1, 1)) + 20
    y = 210 - 190 * (values - low) / ((high - low) or 1.0)
    path, pen = "", "M"
    for place in range(values.size):
        path += f"{pen}{x[place]:.1f} {y[place]:.1f}" if known[place] else ""
        pen = "L" if known[place] else "M"
    dots = [
        element(
            "circle",
            cx=f"{x[i]:.1f}",
            cy=f"{y[i]:.1f}",
            r="4",
            fill=colours[i],
            class_=None if labels[i] >= 0 else "unknown",
        )
        for i in np.flatnonzero(known).tolist()
    ]
    label = f"The signal from position {stretch.start} on, between {low:.3g} and {high:.3g}, coloured by state"
    picture = element(
        "svg",
        element("path", d=path, class_="trace"),
        *dots,
        viewBox="0 0 1000 230",
        role="img",
        aria_label=label,
        class_="signal",
    )
    last = stretch.start + values.size - 1
    caption = f"Positions {stretch.start:,} to {last:,}, from {number(low)} at the bottom to {number(high)} at the top."
    figure = element(
        "figure", element("div", picture, class_="wide"), element("figcaption", caption), class_="picture plain"
    )
    return section("along", "Along the data", legend, figure)


def _signal_colours(found: Findings, labels: NDArray[Any]) -> tuple[list[str], Html]:
    """Return the colour of each position and what it means: the state, or what many states expect next."""
    shown = np.unique(labels[labels >= 0])
    if shown.size <= MOST_CHIPS or found.values is None:
        return [state_colour(k) if k >= 0 else "none" for k in labels.tolist()], _legend(found, shown)
    expected = found.distributions @ found.values
    low, high = float(expected.min()), float(expected.max())
    share = (np.append(expected, low)[labels] - low) / ((high - low) or 1.0)
    place = share * (len(RAMP) - 1)
    rgb = np.column_stack([np.interp(place, np.arange(len(RAMP)), column) for column in RAMP.T]).round().astype(int)
    colours = [
        f"rgb({r} {g} {b})" if k >= 0 else "none" for (r, g, b), k in zip(rgb.tolist(), labels.tolist(), strict=True)
    ]
    ramp = element("span", class_="ramp", role="img", aria_label="scale from dark blue to yellow")
    words = join(
        [
            f"{found.n_states:,} states, coloured by the value they expect next: ",
            number(low),
            " ",
            ramp,
            " ",
            number(high),
        ]
    )
    return colours, element("p", words, class_="legend")


def _maps(found: Findings) -> Html:
    if found.causal is None or len(found.causal.observations_.shape) < 2:
        return Html()
    try:
        panels = _panels(found)
    except ImportError:
        note = element("p", "Maps need matplotlib: pip install 'decisional[plot]'.", class_="note")
        return section("along", "Maps", note)
    known = np.isfinite(found.causal.observations_.field(found.causal.local_complexity_))
    # The first and last moments of a field have no states; an image is shown whole.
    times = np.flatnonzero(known.reshape(len(known), -1).any(axis=1) | (found.kind == "image"))
    figures = [
        _map(name, meaning, _flat(picture if name == DATA else _marked(picture, known), times, known.ndim), found.kind)
        for name, meaning, picture in panels
    ]
    has_unknown = not _flat(known, times, known.ndim)[:SIDE, :SIDE].all()
    text = "Time runs downwards. " if found.kind == "field" and known.ndim == 2 else ""
    if has_unknown:
        text += "Pale orange: no state is known there, as at borders where the surroundings are incomplete."
    if found.choice is not None and not any(name.startswith("Expected utility") for name, _, _ in panels):
        text += f" The expected utility is {number(found.choice.expected_utility_)} everywhere, and has no map."
    height, width = known.shape[-2:]
    if max(height, width) > SIDE:
        text += f" Of {height:,} × {width:,} places a part is shown, to keep this page small."
    return section("along", "Maps", element("p", text), element("div", *figures, class_="maps"))


def _marked(picture: NDArray[Any], known: NDArray[np.bool_]) -> NDArray[Any]:
    """The picture in colours, with places without a state in one that nothing else has."""
    colours = picture if picture.ndim > known.ndim else np.repeat(picture[..., None], 3, axis=-1)
    return np.where(known[..., None], colours, UNKNOWN_COLOUR).astype(np.uint8)


def _panels(found: Findings) -> list[tuple[str, str, NDArray[Any]]]:
    """Return name, meaning and picture of each map, on the whole grid."""
    from ..plot import grey, state_colours

    causal, choice = found.causal, found.choice
    assert causal is not None
    on_grid = causal.observations_.field
    panels = [
        ("Local complexity (C)", "dark = rare, unusual", grey(on_grid(causal.local_complexity_))),
        ("States", "pale = common, strong = rare", state_colours(on_grid(causal.labels_))),
    ]
    if found.field is not None and np.shape(found.field) == causal.observations_.shape:
        panels.insert(0, (DATA, "light = large", 255 - grey(found.field)))
    if choice is not None:
        # Differences that are nothing but rounding must not be seen.
        worth, rarity = choice.local_utility_.round(6), choice.local_prediction_complexity_
        if np.nanmin(worth) < np.nanmax(worth):
            panels.append(("Expected utility (U)", "dark = worth more", grey(on_grid(worth))))
        panels.append(("Prediction complexity (P)", "dark = rarely predicted", grey(on_grid(rarity))))
    return panels


def _flat(picture: NDArray[Any], times: NDArray[Any], axes: int) -> NDArray[Any]:
    """Two axes to show: the times with states against space; with more space axes, the middle moment."""
    if axes == 2:
        return picture[times[0] : times[-1] + 1]
    picture = picture[times[times.size // 2]]
    return picture if axes == 3 else picture[len(picture) // 2]


def _map(name: str, meaning: str, pixels: NDArray[Any], kind: str) -> Html:
    # Cells of a field are kept whole; an image stays whole, more coarsely.
    if kind == "image":
        step = -(-max(pixels.shape[:2]) // SIDE)
        pixels = pixels[::step, ::step]
    pixels = pixels[:SIDE, :SIDE]
    height, width = pixels.shape[:2]
    address = png(pixels)
    image = Html(f'<img src="{address}" width="{width}" height="{height}" alt="Map: {name}, {meaning}">')
    caption = join([element("strong", name), ", ", meaning])
    return element("figure", image, element("figcaption", caption))
