"""Along a stretch of data: the decisions with their expected utility and events, and a signal with its predictions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..data.observations import Observations
from ..support.arguments import as_table, integer
from ..support.arrays import Floats, Ints
from . import figures
from .wording import decision_texts, worth

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike

    from ..decisions.decisional_model import DecisionalModel

STRETCH = 200  # positions that are still told apart on a page
STRIP = 0.16  # share of the axes for the bands
UNKNOWN = "#ffffff", "////"


def events(
    choice: DecisionalModel, X: Any = None, start: int | None = None, stop: int | None = None, ax: Axes | None = None
) -> Axes:
    """Draw the decision along a stretch of a series.

    Coloured bands are the decisional states, whose sets Y are in the legend; the line is the expected utility at
    each position; ticks at the top are the events, where the decision changes.

    Parameters
    ----------
    choice : DecisionalStates
        Fitted.
    X : Observations or sequence of symbols, optional
        New data, as for ``choice.events``; by default the data of `fit`.
    start, stop : int, optional
        First position, and the one after the last; by default the first 200 positions that are there.
    ax : matplotlib Axes, optional
        Where to draw; by default on a new figure, which is not registered with pyplot.

    Returns
    -------
    matplotlib Axes
        The axes; its figure is ``axes.figure``, and `save` writes it to a file.
    """
    figures.require_fitted(choice)
    cause = _causes(choice, X)
    first, last = _stretch(cause, start, stop)
    changes = choice.events(X).position
    changes = changes[(changes >= first) & (changes < last)]
    cause = cause[first:last]
    label = np.append(choice.states_.labels, -1)[cause]
    utility = np.append(choice.utility_, np.nan)[cause]
    ax = figures.axes_or_new(ax, 9.0, 2.8)
    _scales(ax, utility, first, last)
    _bands(ax, label, first, decision_texts(choice))
    ax.stairs(utility, np.arange(first, last + 1) - 0.5, baseline=None, color=figures.INK, lw=1.4, zorder=3)
    ax.vlines(changes - 0.5, 0.955, 1.0, figures.INK, transform=ax.get_xaxis_transform(), lw=0.8, zorder=3, gid="event")
    return ax


def signal(choice: DecisionalModel, signal: ArrayLike, name: str = "value", ax: Axes | None = None) -> Figure:
    """Draw the last 200 values of a signal, each in the colour of the state it leads to, and what was predicted.

    Parameters
    ----------
    choice : DecisionalStates
        Fitted to causal states of the signal, whose predictions are numbers.
    signal : (T,) numbers
        The signal that was observed, NaN where there is a gap; several of them one after the other.
    name : str
        What the values are, beside their axis.
    ax : matplotlib Axes, optional
        Where to draw; by default on a new figure, which is not registered with pyplot.

    Returns
    -------
    matplotlib Figure
        The figure; `save` writes it to a file.
    """
    causal = figures.require_data(choice, "signal")
    obs = causal.observations_
    rule = "it must be the signal that was observed, one number for each time: give it as signal=values."
    values = figures.observed(signal, "signal", obs.shape, rule, ndim=1)
    rule = "a signal is drawn with predictions that are numbers: choose a utility such as ds.utility.squared_error()."
    best = as_table(choice.predictions_.choice(), "predictions", rule, float)[causal.states_.labels[obs.x]]
    first = max(len(values) - STRETCH, 0)
    shown = obs.site >= first
    site, colours = obs.site[shown], _colours(causal.labels_[shown], causal.n_states_)
    ax = figures.axes_or_new(ax, 9.6, 3.2)
    ax.plot(np.arange(first, len(values)), values[first:], color="0.75", lw=0.8, zorder=1)
    ax.scatter(site + 1, best[shown], s=14, marker="_", color="#b04020", label="predicted", zorder=2)
    edge: dict[str, Any] = {"edgecolors": "0.4", "linewidths": 0.3}
    ax.scatter(site, values[site], s=16, c=colours, label="value, by state", **edge)
    ax.set_xlabel("row")
    ax.set_ylabel(name)
    ax.legend(fontsize=8, frameon=False, ncols=2, loc="lower left", bbox_to_anchor=(0, 1))
    return figures.figure_of(ax)


def _colours(labels: Ints, n_states: int) -> Any:
    """The colour of each state: few have those that they have on pages."""
    if n_states > len(figures.STATE_COLOURS):
        return figures.state_colours(labels) / 255.0
    return [figures.STATE_COLOURS[k] if k >= 0 else "#ffffff" for k in labels.tolist()]


def _causes(choice: DecisionalModel, X: Any) -> Ints:
    """Return the causal state at each position of a series, -1 where there is none."""
    causal = choice.causal_
    if X is None and causal is None:
        raise ValueError("The 'X' of events is missing; a machine has no data of its own: give a sequence.")
    obs: Any = causal.observations_ if X is None and causal is not None else X
    states = choice.causes(obs)
    if not isinstance(obs, Observations):
        return states
    if len(obs.shape) != 1:
        raise ValueError(
            f"The data have shape {obs.shape}; a timeline has one dimension: draw choice.labels_ with obs.field(...)."
        )
    found = np.full(obs.shape[0], -1, np.int64)
    found[obs.site] = states
    return found


def _stretch(cause: Ints, start: int | None, stop: int | None) -> tuple[int, int]:
    start, stop = (
        value if value is None else integer(value, name, 0, of="events")
        for name, value in (("start", start), ("stop", stop))
    )
    known = np.flatnonzero(cause >= 0)
    first = start if start is not None else int(known[0]) if known.size else 0
    last = min(first + STRETCH if stop is None else stop, len(cause))
    if first >= last:
        raise ValueError(
            f"There is nothing between positions {first} and {last}; the data have {len(cause)} positions: "
            "choose 'start' before 'stop', inside the data."
        )
    return first, last


def _scales(ax: Axes, utility: Floats, first: int, last: int) -> None:
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    known = utility[~np.isnan(utility)] if not np.isnan(utility).all() else np.array([0.0, 1.0])
    low, high = float(known.min()), float(known.max())
    room = high - low
    if room <= 1e-9 * max(abs(high), 1.0):
        low = high = (low + high) / 2
        room = max(abs(high), 1.0)
    # The strip of bands lies below the line, the ticks above it.
    bottom, top = low - 0.1 * room, high + 0.15 * room
    ax.set_ylim(bottom - STRIP / (1 - STRIP) * (top - bottom), top)
    ax.set_xlim(first - 0.5, last - 0.5)
    shown = MaxNLocator(5).tick_values(low, high) if high > low else [high]
    ax.set_yticks([y for y in shown if bottom <= y <= top])
    ax.yaxis.set_major_formatter(FuncFormatter(lambda y, _: worth(y)))
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    figures.plain_axes(ax, "position", "expected utility")


def _bands(ax: Axes, label: Ints, first: int, texts: list[str]) -> None:
    """Draw runs of one state each: in full colour below, as pale paper behind the line."""
    from matplotlib.collections import PolyCollection

    edges = np.flatnonzero(np.diff(label, prepend=label[0] - 1, append=label[-1] - 1))
    begin, end, state = edges[:-1] + first - 0.5, edges[1:] + first - 0.5, label[edges[:-1]]
    fills = {}
    for k in np.unique(state).tolist():
        colour, hatch = fills[texts[k] if k >= 0 else "not known"] = figures.fill(k) if k >= 0 else UNKNOWN
        spans = list(zip(begin[state == k].tolist(), end[state == k].tolist(), strict=True))
        strip: dict[str, Any] = {"fc": colour, "hatch": hatch, "ec": figures.LINE if hatch else "none"}
        paper: dict[str, Any] = {"fc": figures.tint(colour, 0.2), "ec": "none"}
        for low, high, gid, style in ((0.0, STRIP, f"band {k}", strip), (STRIP, 1.0, "paper", paper)):
            corners = [[(a, low), (a, high), (b, high), (b, low)] for a, b in spans]
            bands = PolyCollection(corners, transform=ax.get_xaxis_transform(), lw=0.0, zorder=1, gid=gid, **style)
            ax.add_collection(bands, autolim=False)
    # About so many letters fit above the axes.
    columns = max(1, min(115 // (max(map(len, fills)) + 7), len(fills)))
    where: dict[str, Any] = {"loc": "lower center", "bbox_to_anchor": (0.5, 1.0)}
    figures.legend(ax, fills, figures.LINE, 0.5, **where, ncols=columns, fontsize=figures.FONT)
