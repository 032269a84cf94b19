"""The sections of a page, as data: the templates of the same names write the words around them.

Each is what its template shows, or None where there is nothing to show.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import plot
from ..data.fields import Cones
from ..decisions.utilities import Utility
from ..estimators.first_part import FirstPart
from ..plot import wording
from ..plot.diagrams import MAX_STATES
from ..plot.wording import number, outcome_text, plural, prediction_text, share, symbol_text, typeset
from ..support.arrays import Floats
from .content import Bars, Cell, Chip, Curve, TableContent, svg
from .findings import Findings

if TYPE_CHECKING:
    from ..data.sequences import Symbols
    from ..decisions.decisional_model import DecisionalModel
    from ..decisions.events import Event

MOST_SYMBOLS = 12  # whose frequencies are listed
MOST_EDGES = 40  # of a machine that are told to those who do not see it
MOST_STATES, FIRST_STATES = 30, 12  # up to 30 states are all listed, of more only the first
MOST_COLOURS = 12  # states that colours can tell apart
FEW_OUTCOMES = 5  # all of which are shown, in one order for all states
BINS = 40  # of a small curve
MOST_DECISIONS, MOST_BOXES, MOST_CIRCLES = 12, 10, 24
FIRST_EVENTS = 20
# Dark letters can be read on all of them.
STATE_COLOURS = ("#f7dc7f", "#7cc8ee", "#f0a860", "#6fcfab", "#de9fc6", "#a9b8f0", "#cfab8f", "#c3c9cf")
PARTS = "Kernels|Counts|GTest|ChiSquare|Bhattacharyya|Variational|HarmonicMean|JensenShannon"

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
        yield from _known_numbers(found.series)
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
    yield "Length", f"{int(lengths.sum()):,} symbols{several}"
    codes = source.lut[source.raw]
    count = np.bincount(codes[codes >= 0], minlength=len(letters))
    top = sorted(np.argsort(-count, kind="stable")[:MOST_SYMBOLS].tolist())
    rest = len(letters) - len(top)
    shown = [(symbol_text(letters[k]), float(count[k] / count.sum())) for k in top]
    yield plural(len(letters), "symbol"), Bars(shown, f"and {rest} rarer symbols" if rest else "")
    if source.has_gaps:
        yield "Missing", f"{int(np.count_nonzero(codes < 0)):,} symbols"


def _known_numbers(series: Any) -> Iterator[tuple[str, Cell]]:
    parts = series if isinstance(series, (list, tuple)) and len(series) > 0 and np.ndim(series[0]) > 0 else [series]
    values = np.concatenate([np.ravel(np.asarray(part, float)) for part in parts])
    known = values[np.isfinite(values)]
    yield "Length", f"{values.size:,} values"
    if known.size:
        yield "Range", f"from {number(float(known.min()))} to {number(float(known.max()))}"
        yield "Mean", f"{number(float(known.mean()))}, standard deviation {number(float(known.std()))}"
    if known.size < values.size:
        yield "Missing", f"{values.size - known.size:,} values"


def machine(found: Findings) -> Content:
    """The picture of the machine, where it is not too large."""
    drawn = found.machine
    if drawn is None or drawn.n_states > MAX_STATES:
        return None if drawn is None else {"picture": None}
    edges = "; ".join(
        f"{source} to {target} with {outcome_text(symbol)}: {p:.2f}"
        for source, symbol, target, p in drawn.transitions()[:MOST_EDGES]
    )
    label = f"Diagram of {plural(drawn.n_states, 'state')} and their transitions. {edges}"
    return {"picture": svg(lambda: plot.machine(drawn), label, "machine")}


def states(found: Findings) -> Content:
    """The table of the states, the most probable ones first."""
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
        columns["Kind"] = ["recurrent" if kinds[k] else "transient" for k in order]
    if choice is not None:
        columns["Best prediction"] = [typeset(prediction_text(choice.predictions_[k])) for k in order]
        columns["Worth"] = [*wording.numbers([float(choice.utility_[k]) for k in order])]
    caption = plural(n, "state")
    if len(order) < n:
        covered = float(found.probability[order].sum())
        caption += f"; the {len(order)} most probable ones are listed, which are {covered:.0%} of the data"
    right = [k for k, name in enumerate(columns) if name in ("Probability", "Worth")]
    return {"table": TableContent(list(columns), list(zip(*columns.values(), strict=True)), caption, right)}


def state_colour(k: int) -> str:
    """Return the colour of state number k, on which dark letters can be read."""
    return STATE_COLOURS[k] if k < len(STATE_COLOURS) else f"hsl({(k * 137.508) % 360:.0f} 60% 76%)"


def state_chip(found: Findings, k: int) -> Chip:
    """The name of a state, on its colour where states are few."""
    return Chip(found.names[k], state_colour(k) if found.n_states <= MOST_COLOURS else None)


def _distribution(found: Findings, k: int) -> Bars | Curve:
    """P(Z|state) of one state as bars, or as a curve where the outcomes are many numbers."""
    p = found.distributions[k]
    if found.values is not None:
        return _curve(p, found.values)
    outcomes = [outcome_text(outcome) for outcome in found.outcomes]
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


def decisions(found: Findings) -> Content:
    """What to do in each state, what it is worth, and the picture of both."""
    choice = found.choice
    if choice is None:
        return None
    draw, picture = decisions_figure(choice), None
    if draw is not None:
        sets = enumerate(wording.set_texts(choice, choice.states_))
        label = "States inside their decisions: " + "; ".join(f"ω{k}: predict {y}" for k, y in sets)
        picture = svg(draw, label, "decisions")
    # Where almost every state has a best prediction of its own, these are in the table of states.
    own = choice.iso_prediction_.n_states > max(MOST_DECISIONS, 0.9 * len(choice.utility_))
    return {"picture": picture, "table": None if own else decisions_table(choice)}


def decisions_figure(choice: DecisionalModel) -> Callable[[], Any] | None:
    """What draws the decisions with their states; None where these are too many."""
    if choice.n_states_ > MOST_BOXES or len(choice.utility_) > MOST_CIRCLES:
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


def events(found: Findings) -> Content:
    """The number of events, and the first of them; None where the data have no order in time."""
    choice = found.choice
    if choice is None:
        return None
    if choice.causal_ is not None:
        along = [] if choice.causal_.observations_.successor is None else [choice.events()]
    else:
        along = [] if found.source is None else [choice.events(symbols) for symbols in found.sequences()]
    several = len(along) > 1
    every = ((f"Series {k}, " if several else "", change) for k, part in enumerate(along, 1) for change in part)
    first = [_sentence(where, change) for where, change in islice(every, FIRST_EVENTS)]
    return {"total": sum(map(len, along)), "events": first} if along else None


def _sentence(where: str, change: Event) -> tuple[str, str]:
    place = f"{where}position {change.position:,}"
    new = typeset(prediction_text(change.predictions_after))
    text = f"best prediction: {new}, worth {number(change.utility_after)}"
    if change.before >= 0:
        old = typeset(prediction_text(change.predictions_before))
        text += f" (before: {'' if old == new else old + ', '}worth {number(change.utility_before)})"
    return place[0].upper() + place[1:], text


def complexities(found: Findings) -> Content:
    """Complexities in bits, with a line each on what they mean."""
    rows = list(_measures(found))
    table = TableContent(["", "Measure", "Value", "Meaning"], rows, "What it takes to predict and to decide", (2,))
    return {"table": table} if rows else None


def _measures(found: Findings) -> Iterator[tuple[str, str, str, str]]:
    """Letter, name, value and meaning of each measure that there is."""
    causal, choice = found.causal, found.choice
    exact = found.machine if found.machine is not None and found.machine.recurrent.any() else None
    name = "Statistical complexity"
    if exact is not None:
        meaning = "Memory: what must be remembered of the past to predict as well as possible. 0 = none."
        yield "C", name, f"{exact.statistical_complexity():.3f} bits", meaning
    if causal is not None and (exact is None or abs(causal.complexity_ - causal.recurrent_complexity_) > 5e-4):
        name += "" if exact is None else " with transient states"
        meaning = "How varied the states are: 0 = all alike; one bit more for each doubling of equally frequent states."
        yield "C", name, f"{causal.complexity_:.3f} bits", meaning
    if choice is not None:
        meaning = "What must be remembered to decide as well as possible; never more than C."
        yield "D", "Decisional complexity", f"{choice.complexity_:.3f} bits", meaning
        meaning = "What must be remembered to know what to predict."
        yield "P", "Prediction complexity", f"{choice.prediction_complexity_:.3f} bits", meaning
        meaning = "What must be remembered to know what a prediction is worth."
        yield "V", "Utility complexity", f"{choice.utility_complexity_:.3f} bits", meaning
    if exact is not None:
        meaning = "Surprise that remains in each symbol however much of the past is known."
        yield "h", "Entropy rate", f"{exact.entropy_rate():.3f} bits per symbol", meaning
        meaning = "What the past as a whole tells about the future as a whole."
        yield "E", "Excess entropy", f"{exact.excess_entropy():.3f} bits", meaning


def selection(found: Findings) -> Content:
    """The picture of the candidates."""
    chosen = found.selection
    if chosen is None:
        return None
    label = "Bits above the shortest description, and number of states, against the length of the past. " + chosen.why
    return {"picture": svg(lambda: plot.selection(chosen, title=False), label, "selection")}


def python_code(found: Findings) -> str:
    """Python code that does what was done, up to the reading of the data."""
    if not found.has_states:
        return ""
    source, lines = "machine", ["import decisional as ds", ""]
    if found.causal is not None:
        source = "causal"
        text = " ".join(repr(found.causal).split()).replace("CausalModel(", "CausalStates(")
        fitted = re.sub(rf"\b({PARTS}|CausalStates|DecisionalStates)\(", r"ds.\1(", text)
        lines += [f"obs = {_observe(found.kind, found.causal.observations_)}", f"causal = {fitted}.fit(obs)"]
    elif found.selection is not None:
        lines.append("machine = ds.epsilon_machine(symbols)  # the symbols of the file")
    else:
        lines.append('machine = ds.EpsilonMachine.load("machine.json")')
    if found.choice is not None:
        utility, given = found.choice.utility, found.choice.get_params(deep=False)
        known = isinstance(utility, Utility) and utility.maker is not None
        lines.append(f"utility = {f'ds.utility.{utility!r}' if known else '...  # U(y, z), as above'}")
        options = [name for name in ("integrate", "optimise", "delta", "atol") if given[name] is not None]
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
        return f"ds.observe.delays(signal, past={obs.past})  # with the options above"
    return "ds.observe.pairs(x, z)"
