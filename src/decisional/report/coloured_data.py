"""The data coloured by state: a stretch of a series or a signal, or maps of a field or an image."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..plot.field_pictures import one_moment
from ..plot.figures import grey, state_colours
from ..plot.wording import symbol_text
from ..support.arrays import Bools
from .content import Legend, Section, png
from .findings import Findings
from .sections import Content, state_chip, state_colour

STRETCH, CURVE = 240, 200  # symbols, values of a signal
MOST_CHIPS = 12
SIDE = 360  # cells along each side of a map
DATA, UTILITY = "The data", "Expected utility (U)"
UNKNOWN_COLOUR = np.array([255, 224, 178])
# From dark blue to yellow, evenly in lightness; .ramp of page.css shows it.
RAMP = np.array([[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]], float)


def along(found: Findings) -> Section:
    """Return the time line of a series or a signal, or the maps of a field or an image."""
    if found.kind in ("field", "image"):
        return Section("along", "Maps", _maps(found), "maps")
    if found.kind == "signal":
        return Section("along", "Along the data", _signal(found), "signal")
    return Section("along", "Along the data", _symbols(found) if found.kind == "series" else None, "symbols")


def _first_known(labels: NDArray[Any], length: int) -> slice:
    known = np.flatnonzero(labels >= 0)
    start = max(int(known[0]) - 5, 0) if known.size else 0
    return slice(start, start + length)


def _symbols(found: Findings) -> Content:
    labels, source = found.labels, found.source
    if not found.has_states or labels is None or source is None:
        return None
    stretch = _first_known(labels, STRETCH)
    codes, labels = source.lut[source.raw[stretch]], labels[stretch]
    cells = [
        (
            place,
            symbol_text(source.letters[code]) if code >= 0 else "·",
            found.names[k] if k >= 0 else None,
            state_colour(k) if k >= 0 else None,
        )
        for place, (code, k) in enumerate(zip(codes.tolist(), labels.tolist(), strict=True), stretch.start)
    ]
    return {
        "first": stretch.start,
        "last": stretch.start + codes.size - 1,
        "legend": _legend(found, np.unique(labels[labels >= 0])),
        "cells": cells,
        "starts": source.bounds[1:-1].tolist(),
    }


def _legend(found: Findings, shown: NDArray[Any]) -> Legend:
    few = found.n_states <= MOST_CHIPS
    return Legend(shown.size, [state_chip(found, k) for k in shown.tolist()] if few else [])


def _signal(found: Findings) -> Content:
    labels = found.labels
    if found.series is None or labels is None:
        return None
    several = isinstance(found.series, (list, tuple)) and len(found.series) > 0 and np.ndim(found.series[0]) > 0
    values = np.asarray(found.series[0] if several else found.series, float)
    values = values[:, 0] if values.ndim == 2 else values
    stretch = _first_known(labels[: values.size], CURVE)
    values = values[stretch]
    known = values[np.isfinite(values)]
    if not known.size:
        return None
    colours, legend = _signal_colours(found, labels[stretch][: values.size])
    low, high = float(known.min()), float(known.max())
    path, dots = _curve(values, low, high, colours)
    return {
        "first": stretch.start,
        "last": stretch.start + values.size - 1,
        "low": low,
        "high": high,
        "legend": legend,
        "path": path,
        "dots": dots,
    }


def _curve(
    values: NDArray[Any], low: float, high: float, colours: list[str | None]
) -> tuple[str, list[tuple[str, str, str | None]]]:
    """A line through the values, interrupted where one is missing, and a dot on each."""
    x = np.arange(values.size) * (960 / max(values.size - 1, 1)) + 20
    y = 210 - 190 * (values - low) / ((high - low) or 1.0)
    path, pen, dots = "", "M", []
    for place, known in enumerate(np.isfinite(values).tolist()):
        if known:
            at = f"{x[place]:.1f}", f"{y[place]:.1f}"
            path += pen + " ".join(at)
            dots.append((*at, colours[place]))
        pen = "L" if known else "M"
    return path, dots


def _signal_colours(found: Findings, labels: NDArray[Any]) -> tuple[list[str | None], Legend]:
    """Return the colour of each position and what it means: the state, or what many states expect next."""
    shown = np.unique(labels[labels >= 0])
    if shown.size <= MOST_CHIPS or found.values is None:
        return [state_colour(k) if k >= 0 else None for k in labels.tolist()], _legend(found, shown)
    expected = found.distributions @ found.values
    low, high = float(expected.min()), float(expected.max())
    place = (np.append(expected, low)[labels] - low) / ((high - low) or 1.0) * (len(RAMP) - 1)
    rgb = np.column_stack([np.interp(place, np.arange(len(RAMP)), column) for column in RAMP.T]).round().astype(int)
    known = zip(rgb.tolist(), labels.tolist(), strict=True)
    colours = [f"rgb({r} {g} {b})" if k >= 0 else None for (r, g, b), k in known]
    return colours, Legend(found.n_states, scale=(low, high))


def _maps(found: Findings) -> Content:
    causal = found.causal
    if causal is None or len(causal.observations_.shape) < 2:
        return None
    known = np.isfinite(causal.observations_.field(causal.local_complexity_))
    # The first and last moments of a field have no states; an image is shown whole.
    times = np.flatnonzero(known.reshape(len(known), -1).any(axis=1) | (found.kind == "image"))
    images = []
    try:
        for name, meaning, picture in _panels(found):
            whole = one_moment(picture if name == DATA else _marked(picture, known), known.ndim, times)
            pixels = _cut(whole, found.kind)
            images.append((name, meaning, png(pixels), pixels.shape[1], pixels.shape[0]))
    except ImportError:
        return {"images": []}
    return {
        "images": images,
        "in_time": found.kind == "field" and known.ndim == 2,
        "has_unknown": not one_moment(known, known.ndim, times)[:SIDE, :SIDE].all(),
        "constant_utility": found.choice is not None and UTILITY not in [name for name, *_ in images],
        "shape": known.shape[-2:],
        "cut": max(known.shape[-2:]) > SIDE,
    }


def _panels(found: Findings) -> list[tuple[str, str, NDArray[Any]]]:
    """Return name, meaning and picture of each map, on the whole grid."""
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
            panels.append((UTILITY, "dark = worth more", grey(on_grid(worth))))
        panels.append(("Prediction complexity (P)", "dark = rarely predicted", grey(on_grid(rarity))))
    return panels


def _marked(picture: NDArray[Any], known: Bools) -> NDArray[Any]:
    """The picture in colours, with places without a state in one that nothing else has."""
    colours = picture if picture.ndim > known.ndim else np.repeat(picture[..., None], 3, axis=-1)
    return np.where(known[..., None], colours, UNKNOWN_COLOUR).astype(np.uint8)


def _cut(pixels: NDArray[Any], kind: str) -> NDArray[Any]:
    """What fits a page: cells of a field are kept whole; an image stays whole, more coarsely."""
    step = -(-max(pixels.shape[:2]) // SIDE) if kind == "image" else 1
    return pixels[::step, ::step][:SIDE, :SIDE]
