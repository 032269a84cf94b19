"""All of the data on one page: what a browser needs to draw them whole, to zoom in and to tell each value.

Figures are those of Bokeh, whose script is part of the page; overview.js fills them with what is to be seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..plot.figures import STATE_COLOURS
from ..plot.wording import prediction_text, symbol_text, typeset
from ..support.arrays import Floats, Ints
from .blocks import Sets, deflated, extremes, fitting, label_sets, packed, rarest_cells
from .findings import Findings

MOST_LETTERS = 16  # symbols that have a row each
MOST_EVENTS = 100_000  # that are listed
NAME = 9  # letters of a name beside an axis
WIDTH, ROW, CURVE = 800, 15, 190  # pixels: of a figure before it is stretched, height of a row and of a curve
PIXELS = 480  # along each side of a map
MARGIN = 78
OTHERS = "others"


class Overview(NamedTuple):
    """All of the data, in text that a page holds.

    Attributes
    ----------
    data : the data, packed
    library : the script that draws, deflated
    kind : "line" or "map"
    label : what is seen, for those who do not see it
    """

    data: str
    library: str
    kind: str
    label: str


class Track(NamedTuple):
    """The events along the data.

    Attributes
    ----------
    position : (m,) where each is, increasing
    before, after : (m,) causal states
    total : how many there are, of which so many are listed
    """

    position: Ints
    before: Ints
    after: Ints
    total: int


class Scene(NamedTuple):
    """What a picture needs: words, arrays that do not depend on blocks, and figures."""

    header: dict[str, Any]
    arrays: dict[str, NDArray[Any]]
    figures: Any


def is_there() -> bool:
    """Whether the library that draws is installed."""
    try:
        import bokeh  # noqa: F401
    except ImportError:
        return False
    return True


def along(found: Findings, codes: Ints | None, values: Floats | None, track: Track | None) -> Overview:
    """Return the overview of a series of symbols or of a signal.

    Parameters
    ----------
    found : findings with labels
    codes : (n,) symbols by number, -1 = missing, or None
    values : (n,) numbers, or None
    track : events, or None where there are no decisions
    """
    labels = found.labels
    assert labels is not None
    n = labels.size
    dates = found.dates
    letters = [] if found.source is None or codes is None else [symbol_text(symbol) for symbol in found.source.letters]
    rows, row_names = _rows(codes, letters)
    header = {
        **_words(found),
        "kind": "line",
        "n": n,
        "letters": letters,
        # Milliseconds since 1970, as browsers count.
        "begin": None if dates is None else int(dates[0].astype("M8[ms]").astype(np.int64)),
        "events": None if track is None else track.total,
    }
    arrays = _state_arrays(found) | {"row": rows, "start": found.starts, **_event_arrays(track)}
    figures = _line_figures(found, row_names if codes is not None else None, values, dates)
    return _packed_line(Scene(header, arrays, figures), labels, codes, values, dates)


def _packed_line(
    scene: Scene, labels: Ints, codes: Ints | None, values: Floats | None, dates: NDArray[Any] | None
) -> Overview:
    def pack(size: int) -> str:
        arrays = dict(scene.arrays) | _set_arrays("state", label_sets(labels, size))
        if codes is not None:
            arrays |= _set_arrays("letter", label_sets(codes, size))
        if values is not None:
            low, high = extremes(values, size)
            arrays |= {"low": low} | ({} if size == 1 else {"high": high})
        if dates is not None:
            # Steps are alike, and take no space.
            begin = dates[::size].astype("M8[ms]").astype(np.int64)
            arrays["date"] = np.diff(begin)
        return packed({**scene.header, "size": size, "item": scene.figures}, arrays)

    what = "The whole of the data, with the states as coloured rows; more is told where the pointer is"
    return Overview(fitting(pack, labels.size), library(), "line", what)


def across(
    found: Findings,
    labels: Ints,
    values: Any,
    maps: Sequence[tuple[str, str, NDArray[Any] | None]],
) -> Overview:
    """Return the overview of a field or an image.

    Parameters
    ----------
    found : findings on a grid of two axes or more
    labels : the state of each cell of the grid, -1 where none is known
    values : the data on the grid, or None
    maps : name, meaning and (n_states + 1, 3) colours of the states, and where none is known; None: of the data
    """
    cells = _moments(labels)
    times = len(cells)
    given = None if values is None else _moments(np.asarray(values, float))
    header = {
        **_words(found),
        "kind": "map",
        "shape": cells.shape,
        "axes": _axes(found),
        "maps": [[name, meaning, colours is None] for name, meaning, colours in maps],
    }
    arrays = _state_arrays(found)
    for k, (_, _, colours) in enumerate(maps):
        if colours is not None:
            arrays[f"colour{k}"] = np.ravel(colours)
    item = _map_figure(cells.shape, found)

    def pack(size: int) -> str:
        sides = (size if times > 1 else 1, size, size)
        chosen = rarest_cells(cells, sides)
        more = {"label": cells.ravel()[chosen].ravel() + 1, **arrays}
        if given is not None:
            more["value"] = given.ravel()[chosen].ravel()
        return packed({**header, "item": item, "sides": sides, "blocks": chosen.shape}, more)

    what = "A map of the data that can be zoomed; more is told where the pointer is"
    return Overview(fitting(pack, cells.size, 2 if times == 1 else 3), library(), "map", what)


def _moments(values: NDArray[Any]) -> NDArray[Any]:
    """Data as (moments, height, width): those of two axes are one moment; of a third axis of space the middle."""
    if values.ndim == 4:
        values = values[:, values.shape[1] // 2]
    return values[None] if values.ndim == 2 else values


def _words(found: Findings) -> dict[str, Any]:
    """What is told of each state, and of the groups that it is shown in."""
    choice, lanes = found.choice, found.lanes
    told = [] if choice is None else [typeset(prediction_text(y)) for y in choice.predictions_]
    # Many states have few predictions.
    different = {text: k for k, text in enumerate(dict.fromkeys(told))}
    return {
        "unit": found.unit,
        # Numbers need no names.
        "names": [] if found.names == [*map(str, range(found.n_states))] else found.names,
        "lanes": lanes.names,
        "grouped": lanes.grouped,
        "colours": [STATE_COLOURS[k % len(STATE_COLOURS)] for k in range(len(lanes.names))],
        "decisions": list(different),
        "relative": found.relative,
        "decision": [different[text] for text in told],
    }


def _state_arrays(found: Findings) -> dict[str, NDArray[Any]]:
    """Numbers of each state: its group, its probability, what the decision is worth."""
    arrays: dict[str, NDArray[Any]] = {"lane": found.lanes.of_state, "probability": found.probability.astype(float)}
    return arrays if found.choice is None else arrays | {"worth": np.asarray(found.choice.utility_, float)}


def _set_arrays(name: str, sets: Sets) -> dict[str, NDArray[Any]]:
    return {f"{name}_count": sets.size, f"{name}_label": sets.label}


def _event_arrays(track: Track | None) -> dict[str, NDArray[Any]]:
    """The events by their steps; states from 1 on, 0 = none."""
    if track is None:
        return {}
    step = np.diff(track.position, prepend=0)
    return {"event_step": step, "event_before": track.before + 1, "event_after": track.after + 1}


def listed(position: Ints, before: Ints, after: Ints, most: int = MOST_EVENTS) -> Track:
    """All events where they are few, else those of the rarest kinds first: none of these is lost among the others."""
    total = position.size
    if total > most:
        _, kind, count = np.unique(np.stack([before, after]), axis=1, return_inverse=True, return_counts=True)
        kept = np.sort(np.argsort(count[kind.ravel()], kind="stable")[:most])
        position, before, after = position[kept], before[kept], after[kept]
    return Track(position, before, after, total)


def _rows(codes: Ints | None, letters: list[str]) -> tuple[Ints, list[str]]:
    """The row of each symbol, and the names of the rows: the rarer ones of many symbols share one."""
    if codes is None or len(letters) <= MOST_LETTERS:
        return np.arange(len(letters)), letters
    count = np.bincount(codes[codes >= 0], minlength=len(letters))
    top = np.sort(np.argsort(-count, kind="stable")[: MOST_LETTERS - 1])
    rows = np.full(len(letters), MOST_LETTERS - 1)
    rows[top] = np.arange(top.size)
    return rows, [*(letters[k] for k in top.tolist()), OTHERS]


@cache
def library() -> str:
    """The script of Bokeh, deflated."""
    from bokeh.resources import Resources

    (path,) = Resources(mode="inline", components=["bokeh"], minified=True)._file_paths("js")
    with open(path, "rb") as file:
        return deflated(file.read(), 9)


def _line_figures(found: Findings, letters: list[str] | None, values: Floats | None, dates: NDArray[Any] | None) -> Any:
    """Figures one below the other: values or symbols, states, what the decision is worth."""
    from bokeh.layouts import column
    from bokeh.models import Range1d

    assert found.labels is not None
    n = found.labels.size
    low, high, least = -0.5, n - 0.5, 4.0
    if dates is not None:
        place = dates.astype("M8[ms]").astype(float)
        step = (place[-1] - place[0]) / max(n - 1, 1) or 1.0
        low, high, least = place[0] - step / 2, place[-1] + step / 2, 4 * step
    x = Range1d(low, high, bounds=(low, high), min_interval=min(least, high - low), name="x")
    kind = "linear" if dates is None else "datetime"
    parts = []
    if values is not None:
        parts.append(_curve_figure("values", "value", x, kind))
    elif letters is not None:
        parts.append(_row_figure("letters", letters, x, kind))
    parts.append(_row_figure("states", found.lanes.names, x, kind))
    if found.choice is not None:
        parts.append(_curve_figure("worths", "worth", x, kind))
    for part in parts[:-1]:
        part.xaxis.visible = False
    parts[-1].xaxis.axis_label = "date" if dates is not None else "position"
    parts[-1].height += 40
    return _item(column(parts, sizing_mode="stretch_width"))


def _figure(name: str, height: int, x: Any, y: Any, kind: str = "linear", **more: Any) -> Any:
    from bokeh.models import PanTool, WheelZoomTool
    from bokeh.plotting import figure

    across = "width" if name != "map" else "both"
    tools = [PanTool(dimensions=across), WheelZoomTool(dimensions=across, modifiers="ctrl")]
    made = figure(
        name=name,
        width=WIDTH,
        height=height,
        x_range=x,
        y_range=y,
        x_axis_type=kind,
        tools=tools,
        toolbar_location=None,
        sizing_mode="stretch_width",
        min_border_left=MARGIN,
        min_border_right=12,
        min_border_top=6,
        output_backend="canvas",
        **more,
    )
    made.toolbar.active_drag, made.toolbar.active_scroll = tools
    made.outline_line_color = None
    made.background_fill_color = made.border_fill_color = None
    made.grid.grid_line_alpha = 0.25
    if kind == "linear":
        made.xaxis.formatter.use_scientific = False
    return made


def _source(name: str, *columns: str) -> Any:
    from bokeh.models import ColumnDataSource

    return ColumnDataSource({column: [] for column in columns}, name=name)


def _row_figure(name: str, rows: Sequence[str], x: Any, kind: str) -> Any:
    """A row for each name, the first on top, in which what occurs is marked."""
    from bokeh.models import FixedTicker, PlainText, Range1d

    n = len(rows)
    y = Range1d(n - 0.5, -0.5)
    made = _figure(name, max(ROW, 60 // n) * n + 14, x, y, kind)
    made.yaxis.ticker = FixedTicker(ticks=list(range(n)))
    # Text between dollars would be taken for a formula, which another script is asked for.
    made.yaxis.major_label_overrides = {k: PlainText(text=_short(text)) for k, text in enumerate(rows)}
    made.yaxis.axis_label = "symbol" if name == "letters" else "state"
    made.ygrid.visible = False
    source = _source(name, "left", "right", "bottom", "top", "colour", "alpha")
    sides = {"left": "left", "right": "right", "bottom": "bottom", "top": "top"}
    made.quad(**sides, fill_color="colour", fill_alpha="alpha", line_color=None, source=source)
    return made


def _short(text: str) -> str:
    return text if len(text) <= NAME else text[: NAME - 1] + "…"


def _curve_figure(name: str, label: str, x: Any, kind: str) -> Any:
    """What lies between the smallest and the largest value, a line through single ones, dots on them, and marks."""
    from bokeh.models import Range1d

    made = _figure(name, CURVE if name == "values" else 110, x, Range1d(0, 1, name=f"{name}-range"), kind)
    made.yaxis.axis_label = label
    made.yaxis.ticker.desired_num_ticks = 4
    sides = {"left": "left", "right": "right", "bottom": "bottom", "top": "top"}
    made.quad(**sides, fill_color="colour", line_color=None, source=_source(name, *sides, "colour"))
    made.line(
        "x",
        "y",
        line_color="#8a929b" if name == "values" else "#2f7fb8",
        line_width=1.2,
        source=_source(f"{name}-line", "x", "y"),
    )
    dots = _source(f"{name}-dots", "x", "y", "colour")
    made.scatter("x", "y", size=7, fill_color="colour", line_color="#555", line_width=0.5, source=dots)
    if name == "worths":
        made.segment(
            "x", "low", "x", "high", line_color="#b3471d", line_width=1.5, source=_source("events", "x", "low", "high")
        )
    return made


def _map_figure(shape: tuple[int, ...], found: Findings) -> Any:
    """A map whose pixels are those of the window that is shown."""
    from bokeh.models import ColumnDataSource, Range1d

    _, height, width = shape
    least = min(8.0, height, width)
    x = Range1d(0, width, bounds=(0, width), min_interval=least, name="x")
    y = Range1d(height, 0, bounds=(0, height), min_interval=least, name="y")
    made = _figure("map", WIDTH, x, y, match_aspect=False)
    made.aspect_ratio = min(max(width / height, 0.5), 4.0)
    made.yaxis.axis_label, made.xaxis.axis_label = map(str.lower, _axes(found))
    made.grid.visible = False
    pixels = np.zeros((min(height, PIXELS), min(width, PIXELS)), np.uint32)
    source = ColumnDataSource({"image": [pixels], "x": [0], "y": [0], "dw": [width], "dh": [height]}, name="map")
    made.image_rgba("image", x="x", y="y", dw="dw", dh="dh", source=source)
    return _item(made)


def _axes(found: Findings) -> tuple[str, str]:
    """What the axes of a map are called."""
    in_time = found.kind == "field" and found.causal is not None and len(found.causal.observations_.shape) == 2
    return ("Time", "Place") if in_time else ("Row", "Column")


def _item(model: Any) -> Any:
    """A figure as JSON whose parts are numbered from 0 on, so that the same page is made each time."""
    from bokeh.embed import json_item

    item = json_item(model, "overview-figure")
    numbers: dict[str, str] = {}

    def renumbered(part: Any, key: str = "") -> Any:
        if isinstance(part, dict):
            return {name: renumbered(value, name) for name, value in part.items()}
        if isinstance(part, (list, tuple)):
            return [renumbered(value) for value in part]
        if key in ("id", "root_id"):
            return numbers.setdefault(part, f"d{len(numbers)}")
        return part

    return renumbered(item)
