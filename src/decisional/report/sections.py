"""The sections of a page, as data: the templates of the same names write the words around them.

Each is what its template shows, or None where there is nothing to show.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .. import plot
from ..data.fields import Cones
from ..decisions.utilities import Utility
from ..estimators.first_part import FirstPart
from ..plot import wording
from ..plot.diagrams import MAX_STATES
from ..plot.field_pictures import one_moment
from ..plot.figures import state_colour
from ..plot.wording import number, outcome_text, prediction_text, share, symbol_text, typeset
from ..support.arrays import Floats, Ints
from ..support.plurals import plural
from . import overview
from .blocks import rarest_cells
from .content import Bars, Cell, Chip, Curve, Legend, Section, TableContent, png, svg
from .findings import Findings
from .overview import Overview, Track

if TYPE_CHECKING:
    from ..data.sequences import Symbols
    from ..decisions.decisional_model import DecisionalModel
    from ..machines import EpsilonMachine

MOST_SYMBOLS = 12  # whose frequencies are listed
MOST_EDGES = 40  # of a machine that are told to those who do not see it
MOST_STATES, FIRST_STATES = 30, 12  # up to 30 states are all listed, of more only the first
# Commands that can be told how many states to keep.
MERGING = ("decisional field ", "decisional image ", "decisional signal ")
FEWER = (100, 30, 12, 6, 3, 2)  # states whose information is told, where there are more
MOST_COLOURS = 12  # states that colours can tell apart
FEW_OUTCOMES = 5  # all of which are shown, in one order for all states
BINS = 40  # of a small curve
MOST_DECISIONS, MOST_BOXES, MOST_CIRCLES = 12, 10, 24
FIRST_EVENTS = 20
STRETCH, CURVE = 240, 200  # symbols, values of a signal
SIDE = 360  # cells along each side of a map
DATA, UTILITY = "The data", "Expected utility (U)"
UNKNOWN_COLOUR = np.array([255, 224, 178])
# From dark blue to yellow, evenly in lightness; .ramp of page.css shows it.
RAMP = np.array([[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]], float)
PARTS = "Kernels|Counts|GTest|ChiSquare|Evidence|Bhattacharyya|Variational|HarmonicMean|JensenShannon"

Content = dict[str, Any] | None


def data(found: Findings, given: Mapping[str, object]) -> Content:
    """The data at a glance: what is given, and what the objects tell of them."""
    entries: dict[str, Cell] = {label: str(value) for label, value in given.items()}
    for label, value in _known(found):
        entries.setdefault(label, value)
    return {"entries": list(entries.items())} if entries else None


def _known(found: Findings) -> Iterator[tuple[str, Cell]]:
    if found.source is not None:
        yield from _known_symbols(found.source)
    elif found.kind == "signal" and found.series is not None:
        yield from _known_numbers(np.concatenate([np.ravel(part) for part in found.signals]))
    elif found.field is not None:
        values = np.asarray(found.field)
        yield "Size", " × ".join(f"{n:,}" for n in values.shape)
        if values.dtype.kind in "biuf":
            yield "Values", f"from {number(float(np.nanmin(values)))} to {number(float(np.nanmax(values)))}"
    if found.causal is not None:
        yield "Observations", f"{found.n:,}"
    if found.shown is not None:
        why = "as the data were read slice by slice; the states come from all of them"
        yield "Shown on this page", f"the first {found.shown:,}, {why}"


def _known_symbols(source: Symbols) -> Iterator[tuple[str, Cell]]:
    lengths, letters = np.diff(source.bounds), source.letters
    several = f" in {lengths.size:,} series" if lengths.size > 1 else ""
    yield "Length", plural(int(lengths.sum()), "symbol") + several
    codes = source.lut[source.raw]
    count = np.bincount(codes[codes >= 0], minlength=len(letters))
    top = sorted(np.argsort(-count, kind="stable")[:MOST_SYMBOLS].tolist())
    rest = len(letters) - len(top)
    shown = [(symbol_text(letters[k]), float(count[k] / count.sum())) for k in top]
    yield plural(len(letters), "symbol"), Bars(shown, f"and {plural(rest, 'rarer symbol')}" if rest else "")
    if source.has_gaps:
        yield "Missing", plural(int(np.count_nonzero(codes < 0)), "symbol")


def _known_numbers(values: Floats) -> Iterator[tuple[str, Cell]]:
    known = values[np.isfinite(values)]
    yield "Length", plural(values.size, "value")
    if known.size:
        yield "Range", f"from {number(float(known.min()))} to {number(float(known.max()))}"
        yield "Mean", f"{number(float(known.mean()))}, standard deviation {number(float(known.std()))}"
    if known.size < values.size:
        yield "Missing", plural(values.size - known.size, "value")


def _kind(found: Findings, k: int) -> str:
    """What a state is: recurrent or transient, and whether whole strings begin in it."""
    kind = "recurrent" if found.recurrent is not None and found.recurrent[k] else "transient"
    begins = found.states_machine is not None and found.states_machine.start == k
    return f"{kind}, start of the strings" if begins else kind


def machine(found: Findings) -> Content:
    """The picture of the machine, where it is not too large."""
    if found.machine is None:
        return None
    edges = found.machine.transitions()[:MOST_EDGES]
    words = [f"{source} to {target} with {outcome_text(symbol)}: {p:.2f}" for source, symbol, target, p in edges]
    label = f"Diagram of {plural(found.machine.n_states, 'state')} and their transitions. {'; '.join(words)}"
    return {"picture": svg(machine_figure(found.machine), label, "machine")}


def states(found: Findings, command: str) -> Content:
    """The table of the states, the most probable ones first; of many also groups, and the command for fewer."""
    if not found.has_states:
        return None
    n, choice, kinds = found.n_states, found.choice, found.recurrent
    order = np.argsort(-found.probability, kind="stable")[: n if n <= MOST_STATES else FIRST_STATES].tolist()
    columns: dict[str, list[Cell]] = {
        "State": [state_chip(found, k) for k in order],
        "Probability": [share(float(found.probability[k])) for k in order],
    }
    what = "What comes next" if found.kind in ("series", "signal") else "Odds of the outcome"
    columns[what] = [_distribution(found, k) for k in order]
    if kinds is not None:
        columns["Kind"] = [_kind(found, k) for k in order]
    if choice is not None:
        columns["Best prediction"] = [typeset(prediction_text(choice.predictions_[k])) for k in order]
        columns["Worth"] = [*wording.numbers([float(choice.utility_[k]) for k in order])]
    caption = plural(n, "state")
    if len(order) < n:
        covered = float(found.probability[order].sum())
        caption += f"; the {len(order)} most probable ones are listed, which are {covered:.0%} of the data"
    right = [k for k, name in enumerate(columns) if name in ("Probability", "Worth")]
    table = TableContent(list(columns), list(zip(*columns.values(), strict=True)), caption, right)
    can_merge = command.startswith(MERGING) and " --states " not in command
    again = f"{command} --states {len(found.lanes.names)}" if can_merge else ""
    return {"table": table, "groups": _groups(found, what), "fewer": _fewer(found), "command": again}


def _groups(found: Findings, what: str) -> TableContent | None:
    """Many states in groups of similar ones, which are the rows along the data."""
    lanes = found.lanes
    if not lanes.grouped:
        return None
    member = np.arange(len(lanes.names))[:, None] == lanes.of_state
    weight = member @ found.probability
    share_of = member * found.probability / np.maximum(weight, 1e-300)[:, None]
    mean = np.asarray(share_of @ found.distributions)
    chips = [Chip(name, state_colour(k)) for k, name in enumerate(lanes.names)]
    size = [f"{n:,}" for n in member.sum(axis=1).tolist()]
    odds = [_odds(found, row) for row in mean]
    rows = list(zip(chips, size, [share(p) for p in weight.tolist()], odds, strict=True))
    caption = f"{plural(found.n_states, 'state')} in {len(rows)} groups of similar ones"
    return TableContent(["Group", "States", "Probability", what], rows, caption, (1, 2))


def _fewer(found: Findings) -> Bars | None:
    """How much of the information about the future fewer states would keep."""
    path = found.path
    if path is None or path.bits[0] <= 0:
        return None
    kept = path.bits / path.bits[0]
    at = [n for n in FEWER if n < found.n_states]
    return Bars([(plural(n, "state"), float(kept[found.n_states - n])) for n in (found.n_states, *at)])


def state_chip(found: Findings, k: int) -> Chip:
    """The name of a state, on its colour where states are few."""
    return Chip(found.names[k], _colours(found)[k] if found.n_states <= MOST_COLOURS else None, k)


def _colours(found: Findings) -> list[str]:
    """The colour of each state: on maps rare states are strong."""
    causal = found.causal
    if causal is None or found.kind not in ("field", "image"):
        return [state_colour(k) for k in range(found.n_states)]
    try:
        table = _state_table(found)
    except ImportError:
        return [state_colour(k) for k in range(found.n_states)]
    return ["#{:02x}{:02x}{:02x}".format(*rgb) for rgb in table.tolist()]


def _state_table(found: Findings) -> NDArray[Any]:
    """(n_states, 3) the colours of states on a map, 0..255; white where one does not occur."""
    assert found.causal is not None
    labels = found.causal.labels_
    table = np.full((found.n_states, 3), 255, np.uint8)
    table[labels[labels >= 0]] = plot.state_colours(labels[labels >= 0])
    return table


def _distribution(found: Findings, k: int) -> Bars | Curve:
    """P(Z|state) of one state."""
    return _odds(found, found.distribution(k))


def _odds(found: Findings, p: Floats) -> Bars | Curve:
    """A distribution as bars, or as a curve where the outcomes are many numbers."""
    if found.values is not None:
        return _curve(p, found.values)
    numbers = [isinstance(outcome, (int, float)) for outcome in found.outcomes]
    texts = map(outcome_text, found.outcomes)
    outcomes = [typeset(text) if is_number else text for text, is_number in zip(texts, numbers, strict=True)]
    if len(outcomes) <= FEW_OUTCOMES:
        return Bars(list(zip(outcomes, p.tolist(), strict=True)))
    top = [z for z in np.argsort(-p, kind="stable")[: FEW_OUTCOMES - 2].tolist() if p[z] > 0]
    shown = [(outcomes[z], float(p[z])) for z in top]
    rest = np.count_nonzero(p) - len(top)
    return Bars([*shown, (f"{rest} more", max(0.0, 1 - float(p[top].sum())))] if rest else shown)


def _curve(p: Floats, values: Floats) -> Curve:
    low, high, mean = float(values[0]), float(values[-1]), float(p @ values)
    place = np.minimum((BINS * (values - low) / (high - low)).astype(np.int64), BINS - 1)
    mass = np.bincount(place, p, BINS)
    top = float(mass.max())
    heights = (20 * mass / top if top > 0 else mass).round(1)
    steps = "".join(f"M{k} 20V{20 - height:g}h1V20z" for k, height in enumerate(heights.tolist()) if height > 0)
    return Curve(steps, f"Distribution from {low:.3g} to {high:.3g}, mean {mean:.3g}", mean)


def along(found: Findings) -> Section:
    """Return the time line of a series or a signal, or the maps of a field or an image."""
    if found.kind in ("field", "image"):
        return Section("along", "Maps", _maps(found), "maps")
    if found.kind == "signal":
        return Section("along", "Along the data", _signal(found), "signal")
    return Section("along", "Along the data", _symbols(found) if found.kind == "series" else None, "symbols")


def _live(found: Findings, codes: Ints | None, values: Floats | None) -> Overview | None:
    """All of the data, where the library that draws them is installed."""
    return overview.along(found, codes, values, _track(found)) if overview.is_there() else None


def _track(found: Findings) -> Track | None:
    """The events along all series, one after the other."""
    if found.changes is None:
        return None
    begin = [0] if len(found.changes) == 1 else [0, *found.starts.tolist()]
    parts = [
        (part.position + at, part.cause_before, part.cause_after) for at, part in zip(begin, found.changes, strict=True)
    ]
    position, before, after = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.argsort(position, kind="stable")
    return overview.listed(position[order], before[order], after[order])


def _first_known(labels: Ints, length: int) -> slice:
    known = np.flatnonzero(labels >= 0)
    start = max(int(known[0]) - 5, 0) if known.size else 0
    return slice(start, start + length)


def _symbols(found: Findings) -> Content:
    labels, source = found.labels, found.source
    if not found.has_states or labels is None or source is None:
        return None
    live = _live(found, source.lut[source.raw][: labels.size].astype(np.int64), None)
    stretch = _first_known(labels, STRETCH)
    codes, labels = source.lut[source.raw[stretch]], labels[stretch]
    # What is missing is numbered -1.
    letters = [*map(symbol_text, source.letters), "·"]
    states: list[tuple[Any, Any]] = [*((name, state_colour(k)) for k, name in enumerate(found.names)), (None, None)]
    first, last = stretch.start, stretch.start + codes.size - 1
    pairs = enumerate(zip(codes.tolist(), labels.tolist(), strict=True), first)
    cells = [(place, letters[code], *states[k]) for place, (code, k) in pairs]
    legend, starts = _legend(found, np.unique(labels[labels >= 0])), source.bounds[1:-1].tolist()
    return {"first": first, "last": last, "legend": legend, "cells": cells, "starts": starts, "live": live}


def _legend(found: Findings, shown: Ints) -> Legend:
    few = found.n_states <= MOST_COLOURS
    return Legend(shown.size, [state_chip(found, k) for k in shown.tolist()] if few else [])


def _signal(found: Findings) -> Content:
    labels = found.labels
    if found.series is None or labels is None:
        return None
    # Of data that were read slice by slice the first have labels.
    values = np.concatenate([part[:, 0] if part.ndim == 2 else part for part in found.signals])[: labels.size]
    if not np.isfinite(values).any():
        return None
    live = _live(found, None, values)
    stretch = _first_known(labels[: values.size], CURVE)
    values = values[stretch]
    known = values[np.isfinite(values)]
    if not known.size:
        return None
    colours, legend = _signal_colours(found, labels[stretch][: values.size])
    low, high = float(known.min()), float(known.max())
    path, dots = _line(values, low, high, colours)
    content = {"first": stretch.start, "last": stretch.start + values.size - 1, "low": low, "high": high}
    return content | {"legend": legend, "path": path, "dots": dots, "live": live}


def _line(values: Floats, low: float, high: float, colours: list[str | None]) -> tuple[str, list[tuple[Any, ...]]]:
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


def _signal_colours(found: Findings, labels: Ints) -> tuple[list[str | None], Legend]:
    """Return the colour of each position and what it means: the state, or what many states expect next."""
    shown = np.unique(labels[labels >= 0])
    if shown.size <= MOST_COLOURS or found.values is None:
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
    obs = causal.observations_
    grid = obs.field(causal.labels_)
    labels = np.where(np.isnan(grid), -1, grid).astype(np.int64)
    try:
        panels = _panels(found)
    except ImportError:
        return {"images": []}
    # The first and last moments of a field have no states; an image is shown whole.
    times = np.flatnonzero((labels.reshape(len(labels), -1) >= 0).any(axis=1) | (found.kind == "image"))
    shown = one_moment(labels, labels.ndim, times)
    step = -(-max(shown.shape) // SIDE)
    # A pixel that stands for several cells is that of the rarest state.
    cells = rarest_cells(shown[None], (1, step, step))[0]
    values = found.field if found.field is not None and np.shape(found.field) == obs.shape else None
    images = []
    for name, meaning, colours in panels:
        if colours is None:
            pixels = 255 - one_moment(plot.grey(values), labels.ndim, times).ravel()[cells]  # type: ignore[arg-type]
        else:
            pixels = colours[shown.ravel()[cells]]
        images.append((name, meaning, png(pixels), cells.shape[1], cells.shape[0]))
    return {
        "images": images,
        "in_time": found.kind == "field" and labels.ndim == 2,
        "has_unknown": bool((shown < 0).any()),
        "constant_utility": found.choice is not None and UTILITY not in [name for name, *_ in images],
        "shape": labels.shape[-2:],
        "step": step,
        "several": labels.ndim > 2,
        "live": overview.across(found, labels, values, panels) if overview.is_there() else None,
    }


def _panels(found: Findings) -> list[tuple[str, str, NDArray[Any] | None]]:
    """Return name and meaning of each map, and (n_states + 1, 3) the colours of states; None for that of the data."""
    causal, choice = found.causal, found.choice
    assert causal is not None
    seen = np.zeros(found.n_states, bool)
    seen[causal.labels_[causal.labels_ >= 0]] = True
    rarity = -np.log2(np.maximum(found.probability, 1e-300))
    panels: list[tuple[str, str, NDArray[Any] | None]] = [
        ("Local complexity (C)", "dark = rare, unusual", _greys(rarity, seen)),
        ("States", "pale = common, strong = rare", _with_unknown(_state_table(found))),
    ]
    if found.field is not None and np.shape(found.field) == causal.observations_.shape:
        panels.insert(0, (DATA, "light = large", None))
    if choice is not None:
        # Differences that are nothing but rounding must not be seen.
        worth = np.asarray(choice.utility_, float).round(6)
        if np.ptp(worth[seen]) > 0:
            panels.append((UTILITY, "dark = worth more", _greys(worth, seen)))
        panels.append(
            ("Prediction complexity (P)", "dark = rarely predicted", _greys(choice.iso_prediction_.local(), seen))
        )
    return panels


def _greys(values: Floats, seen: NDArray[np.bool_]) -> NDArray[Any]:
    """Grey colours of states by their values, scaled to those that occur."""
    return _with_unknown(np.repeat(plot.grey(np.where(seen, values, np.nan))[:, None], 3, axis=1))


def _with_unknown(table: NDArray[Any]) -> NDArray[Any]:
    """Places without a state have a colour that nothing else has."""
    return np.vstack([table, UNKNOWN_COLOUR]).astype(np.uint8)


def decisions(found: Findings) -> Content:
    """What to do in each state, what it is worth, and the picture of both."""
    choice = found.choice
    if choice is None:
        return None
    sets = enumerate(wording.set_texts(choice, choice.states_))
    label = "States inside their decisions: " + "; ".join(f"ω{k}: predict {y}" for k, y in sets)
    picture = svg(decisions_figure(choice), label, "decisions")
    # Where almost every state has a best prediction of its own, these are in the table of states.
    own = choice.iso_prediction_.n_states > max(MOST_DECISIONS, 0.9 * len(choice.utility_))
    return {"picture": picture, "table": None if own else decisions_table(choice)}


def machine_figure(machine: EpsilonMachine | None) -> Callable[[], Any] | None:
    """What draws a machine; None where there is none, or it is too large."""
    return None if machine is None or machine.n_states > MAX_STATES else lambda: plot.machine(machine)


def decisions_figure(choice: DecisionalModel) -> Callable[[], Any] | None:
    """What draws the decisions with their states; None where these are too many."""
    if choice.n_states_ > MOST_BOXES or len(choice.utility_) > MOST_CIRCLES:
        return None
    if choice.machine_ is None and choice.iso_utility_.n_states == 1 and choice.n_states_ == len(choice.utility_):
        # One column of boxes with a circle each says less than the table.
        return None
    return lambda: plot.relations(choice) if choice.machine_ is None else plot.decisions(choice)


def decisions_table(choice: DecisionalModel, most: int = MOST_DECISIONS) -> TableContent:
    """The decisional states, or where these are many the iso-prediction states."""
    kinds, letter = choice.states_, "ω"
    caption = plural(kinds.n_states, "decisional state")
    if kinds.n_states > most:
        # Values that all differ a little make many decisions of few predictions.
        kinds, letter = choice.iso_prediction_, "ψ"
        caption += f"; here by what to predict: {plural(kinds.n_states, 'iso-prediction state')} (ψ)"
    shown = min(kinds.n_states, most)
    if shown < kinds.n_states:
        caption += f"; the {shown} most probable ones are listed"
    size, sets = np.bincount(kinds.labels, minlength=kinds.n_states), wording.set_texts(choice, kinds)
    worth = wording.numbers(wording.mean_utility(choice, kinds)[:shown].tolist())
    rows = [
        [f"{letter}{k}", typeset(sets[k]), worth[k], share(float(kinds.probability[k])), f"{int(size[k]):,}"]
        for k in range(shown)
    ]
    return TableContent(["", "Best prediction", "Worth", "Probability", "States in it"], rows, caption, (2, 3, 4))


def events(found: Findings, live: Overview | None) -> Content:
    """The number of events, and the first of them; None where the data have no order in time."""
    along = found.changes
    if along is None:
        return None
    every = ((k, change) for k, changes in enumerate(along, 1) for change in changes)
    first = list(islice(every, FIRST_EVENTS))
    several, most = len(along) > 1, overview.MOST_EVENTS
    return {"total": sum(map(len, along)), "events": first, "several": several, "most": most, "live": live is not None}


def complexities(found: Findings) -> Content:
    """What complexities can be told of: a machine that goes on for ever, causal states, decisions."""
    exact = found.machine if found.machine is not None and found.machine.recurrent.any() else None
    return {"exact": exact} if any(part is not None for part in (exact, found.causal, found.choice)) else None


def selection(found: Findings) -> Content:
    """The picture of the candidates."""
    chosen = found.selection
    if chosen is None:
        return None
    label = "Bits above the shortest description, and number of states, against the length of the past. " + chosen.why
    return {"picture": svg(lambda: plot.selection(chosen, title=False), label, "selection")}


def python_code(found: Findings, command: str) -> str:
    """Python code that does what was done, up to the reading of the data."""
    if not found.has_states:
        return ""
    source, lines = "machine", ["import decisional as ds", ""]
    if found.causal is not None:
        source = "causal"
        text = " ".join(repr(found.causal).split()).replace("CausalModel(", "CausalStates(")
        fitted = re.sub(rf"\b({PARTS}|CausalStates|DecisionalStates)\(", r"ds.\1(", text)
        merged = re.search(r" --states (\d+)", command) if command.startswith(MERGING) else None
        fewer = "" if merged is None else f".coarsen(n_states={merged[1]})"
        lines += [f"obs = {_observe(found.kind, found.causal.observations_)}", f"causal = {fitted}.fit(obs){fewer}"]
    elif found.selection is not None:
        whole = ", whole=True" if found.selection.whole else ""
        lines.append(f"machine = ds.epsilon_machine(symbols{whole})  # the symbols of the file")
    else:
        lines.append('machine = ds.EpsilonMachine.load("machine.json")')
    if found.choice is not None:
        utility, given = found.choice.utility, found.choice.get_params(deep=False)
        known = isinstance(utility, Utility) and utility.maker is not None
        lines.append(f"utility = {f'ds.utility.{utility!r}' if known else '...  # U(y, z), as above'}")
        options = [name for name in ("integrate", "optimise", "delta", "atol") if given[name] is not None]
        options += ["indifference"] if given["indifference"] else []
        more = "".join(f", {name}={given[name]!r}" for name in options)
        lines.append(f"choice = ds.DecisionalStates(utility{more}).fit({source})")
    return "\n".join(lines)


def _observe(kind: str, obs: Any) -> str:
    obs = obs.inner if isinstance(obs, FirstPart) else obs
    if kind == "series":
        future = f", future={obs.future}" if obs.future != 1 else ""
        return f"ds.observe.series(symbols, past={obs.past}{future})"
    if isinstance(obs, Cones):
        # Depths count the present row too.
        depths = f"past={obs.cone.before + 1}, future={obs.cone.after + 1}"
        return f"ds.observe.light_cones(field, {depths})  # and the options above"
    if kind == "image":
        return "ds.observe.image(pixels)  # with the options above"
    if kind == "signal":
        inputs = ", inputs=..." if obs.known else ""
        return f"ds.observe.delays(signal, past={obs.past - obs.known}{inputs})  # with the options above"
    return "ds.observe.pairs(x, z)"
