"""Along a stretch of data: the decisions with their expected utility and events, and a signal with its predictions."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..data.calendars import read_dates
from ..data.frames import dates_along
from ..data.observations import Observations
from ..decisions.decisional_model import DecisionalModel, worth_along
from ..decisions.utilities import squared_error
from ..states.causal_model import CausalModel
from ..support.arguments import as_table, integer
from ..support.arrays import Bools, Floats, Ints
from . import figures
from .wording import decision_texts, numbers, worth

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike

STRETCH = 200  # positions that are still told apart on a page
STRIP = 0.16  # share of the axes for the bands
UNKNOWN = "#ffffff", "////"
SINGLE = 400  # values of a signal that are drawn one by one
COLUMNS = 900  # into which more of them are gathered
ROW, ROWS = 0.07, 0.42  # share of the axes for the row of a state, and for all rows at most
PREDICTED = "#b04020"


class Ruler(NamedTuple):
    """Where some positions are along an axis.

    Attributes
    ----------
    first : the first position
    at : (n,) the middle of each
    edges : (n + 1,) where they begin and end
    dated : whether these are dates, in the numbers of matplotlib
    """

    first: int
    at: Floats
    edges: Floats
    dated: bool

    @classmethod
    def along(cls, first: int, last: int, dates: NDArray[Any] | None) -> Ruler:
        """Positions from the first on, before the last, at their dates where these are known."""
        if dates is None:
            return cls(first, np.arange(first, last, dtype=float), np.arange(first, last + 1) - 0.5, False)
        from matplotlib.dates import date2num

        every = np.asarray(date2num(dates), float)
        middle = (every[1:] + every[:-1]) / 2
        edges = np.concatenate([[1.5 * every[0] - 0.5 * every[1]], middle, [1.5 * every[-1] - 0.5 * every[-2]]])
        return cls(first, every[first:last], edges[first : last + 1], True)

    def name(self, ax: Axes, what: str) -> None:
        """Set limits, ticks and name of the axis."""
        ax.set_xlim(self.edges[0], self.edges[-1])
        if not self.dated:
            from matplotlib.ticker import MaxNLocator

            ax.xaxis.set_major_locator(MaxNLocator(integer=True))
            return figures.plain_axes(ax, what, ax.get_ylabel())
        from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

        # So that dates can be drawn beside.
        ax.xaxis_date()
        locator = AutoDateLocator(minticks=3, maxticks=9)
        ax.xaxis.set_major_locator(locator)
        ax.xaxis.set_major_formatter(ConciseDateFormatter(locator))
        ax.xaxis.get_offset_text().set_fontsize(figures.FONT)
        figures.plain_axes(ax, "date", ax.get_ylabel())


def events(
    choice: DecisionalModel,
    X: Any = None,
    start: int | None = None,
    stop: int | None = None,
    ax: Axes | None = None,
    *,
    dates: Any = None,
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
    dates : (T,) dates, optional
        Of all positions of the data, in order; by default those of the index of the data, where it has them.

    Returns
    -------
    matplotlib Axes
        The axes; its figure is ``axes.figure``, and `save` writes it to a file. With dates its x are days, as
        matplotlib counts them.
    """
    figures.require_fitted(choice)
    cause = _causes(choice, X)
    first, last = _stretch(cause, start, stop, "events")
    ruler = Ruler.along(first, last, _dates(choice, X, len(cause), dates))
    changes = choice.events(X).position
    changes = changes[(changes >= first) & (changes < last)]
    utility = worth_along(choice, X, cause)[first:last]
    label = np.append(choice.states_.labels, -1)[cause[first:last]]
    ax = figures.axes_or_new(ax, 9.0, 2.8)
    _scales(ax, utility)
    _bands(ax, label, ruler, decision_texts(choice))
    ruler.name(ax, "position")
    ax.stairs(utility, ruler.edges, baseline=None, color=figures.INK, lw=1.4, zorder=3)
    style: dict[str, Any] = {"transform": ax.get_xaxis_transform(), "lw": 0.8, "zorder": 3, "gid": "event"}
    ax.vlines(ruler.edges[changes - first], 0.955, 1.0, figures.INK, **style)
    return ax


def signal(
    choice: DecisionalModel | CausalModel,
    signal: ArrayLike,
    name: str = "value",
    ax: Axes | None = None,
    *,
    start: int | None = None,
    stop: int | None = None,
    dates: Any = None,
) -> Figure:
    """Draw a signal, what was predicted, and below them when it was in which state.

    More than 400 values are drawn as the range of those at the same place of the page; the rows of the states still
    show each visit. More than 12 states share one row, whose colour is the value that is predicted in the rarest of
    those at the same place.

    Parameters
    ----------
    choice : DecisionalStates or CausalStates
        Fitted to causal states of the signal, with predictions that are numbers; of causal states alone it is the mean
        of what follows.
    signal : (T,) numbers
        The signal that was observed, NaN where there is a gap; several of them one after the other.
    name : str
        What the values are, beside their axis.
    ax : matplotlib Axes, optional
        Where to draw; by default on a new figure, which is not registered with pyplot.
    start, stop : int, optional
        First row, and the one after the last; by default all.
    dates : (T,) dates, optional
        Of all values, in order; by default those of the index of the data, where it has them.

    Returns
    -------
    matplotlib Figure
        The figure; `save` writes it to a file.
    """
    if isinstance(choice, CausalModel):
        choice = DecisionalModel(squared_error()).fit(choice)
    causal = figures.require_data(choice, "signal")
    obs = causal.observations_
    rule = "it must be the signal that was observed, one number for each time: give it as signal=values."
    values = figures.observed(signal, "signal", obs.shape, rule, ndim=1)
    rule = "a signal is drawn with predictions that are numbers: choose a utility such as ds.utility.squared_error()."
    best = as_table(choice.predictions_.choice(), "predictions", rule, float)
    cause = np.append(_causes(choice, None), -1)
    first, last = _stretch(cause[:-1], 0 if start is None else start, len(values) if stop is None else stop, "signal")
    known = signal if dates is None and obs.index is None else None
    ruler = Ruler.along(first, last, _dates(choice, known, len(values), dates))
    # What is predicted of a value is known one before.
    predicted = np.append(best, np.nan)[cause[np.arange(first, last) - 1]]
    ax = figures.axes_or_new(ax, 9.0, 3.8)
    borders = _rows(ax, ruler, cause[first:last], best)
    _values(ax, ruler, values[first:last], predicted)
    _heights(ax, np.append(values[first:last], predicted), borders)
    ruler.name(ax, "row")
    ax.set_ylabel(name, fontsize=figures.FONT, color=figures.INK)
    ax.legend(fontsize=figures.FONT, frameon=False, ncols=2, loc="lower left", bbox_to_anchor=(0, 1))
    return figures.figure_of(ax)


def _values(ax: Axes, ruler: Ruler, values: Floats, predicted: Floats) -> None:
    """Draw values and predictions one by one, or the ranges of those of each column."""
    if len(values) <= SINGLE:
        ax.plot(ruler.at, values, ".-", color="0.5", lw=0.9, ms=4, label="value", zorder=1)
        ax.scatter(ruler.at, predicted, s=20, marker="_", color=PREDICTED, label="predicted", zorder=2)
        return
    begin = _columns(len(values))
    where = ruler.edges[np.append(begin, len(values))]
    for drawn, colour, label in ((values, "0.55", "values"), (predicted, PREDICTED, "predicted")):
        low, high = (np.append(f, f[-1]) for f in (np.fmin.reduceat(drawn, begin), np.fmax.reduceat(drawn, begin)))
        style: dict[str, Any] = {"color": colour, "lw": 0.7, "alpha": 0.7, "label": label}
        ax.fill_between(where, low, high, step="post", **style, zorder=1 + (label == "predicted"))


def _columns(n: int) -> Ints:
    """The first of so many positions in each column: each its own where there are few."""
    return np.arange(n) if n <= SINGLE else np.unique(np.linspace(0, n, COLUMNS, endpoint=False).astype(np.int64))


def _rows(ax: Axes, ruler: Ruler, cause: Ints, best: Floats) -> list[float]:
    """Draw when there was which state, in rows from the top down; return the heights of their borders.

    A row holds one state, or, where there are too many, the rarest one of each column.
    """
    from matplotlib.collections import PolyCollection

    edges = ruler.edges[np.append(_columns(len(cause)), len(cause))]
    there, colours = _one_row(cause, best) if len(best) > len(figures.STATE_COLOURS) else _each_row(cause, len(best))
    height = min(ROW, ROWS / len(there))
    borders = [height * (len(there) - k) for k in range(len(there) + 1)]
    for k, (row, colour) in enumerate(zip(there, colours, strict=True)):
        low, high = borders[k + 1] + 0.12 * height, borders[k]
        spans = zip(edges[:-1][row].tolist(), edges[1:][row].tolist(), strict=True)
        corners = [[(a, low), (a, high), (b, high), (b, low)] for a, b in spans]
        style: dict[str, Any] = {"facecolors": colour, "edgecolors": "face", "lw": 0.5, "gid": f"row {k}"}
        ax.add_collection(PolyCollection(corners, transform=ax.get_xaxis_transform(), **style), autolim=False)
    return borders


def _each_row(cause: Ints, n_states: int) -> tuple[Bools, list[Any]]:
    """In which columns (n_states, n_columns) each state is, and its colour."""
    begin = _columns(len(cause))
    there = np.stack([np.logical_or.reduceat(cause == k, begin) for k in range(n_states)])
    return there, list(figures.STATE_COLOURS[:n_states])


def _one_row(cause: Ints, best: Floats) -> tuple[Bools, list[Any]]:
    """In which columns (1, n_columns) any state is, and the colours of what is predicted in the rarest one there."""
    from matplotlib import colormaps

    order = np.argsort(np.bincount(cause[cause >= 0], minlength=len(best)), kind="stable")
    # What is not known comes last.
    rank = np.append(np.argsort(order, kind="stable"), len(best))
    rarest = np.minimum.reduceat(rank[cause], _columns(len(cause)))
    there = rarest < len(best)
    value, low, high = best[order[rarest[there]]], float(best.min()), float(best.max())
    return there[None], [colormaps["viridis"]((value - low) / ((high - low) or 1.0))]


def _heights(ax: Axes, values: Floats, borders: list[float]) -> None:
    """Put values above the rows of states, and name rows and values on the axis."""
    from matplotlib.ticker import MaxNLocator

    known = values[np.isfinite(values)]
    low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 1.0)
    room = (high - low) or max(abs(high), 1.0)
    bottom, top = low - 0.08 * room, high + 0.06 * room
    whole = (top - bottom) / (1 - borders[0])
    base = top - whole
    ax.set_ylim(base, top)
    shown = [float(y) for y in MaxNLocator(5).tick_values(low, high) if bottom <= y <= top]
    ax.set_yticks(shown, numbers(shown))
    middle = [base + whole * (a + b) / 2 for a, b in pairwise(borders)]
    names = [f"state {k}" for k in range(len(middle))] if len(middle) > 1 else ["states, by\nprediction"]
    ax.set_yticks(middle, names, minor=True)
    ax.tick_params(axis="y", which="minor", length=0, labelsize=figures.FONT - 2, labelcolor=figures.INK)


def _dates(choice: DecisionalModel, X: Any, n: int, dates: Any) -> NDArray[Any] | None:
    """(n,) the dates that are given, or those of new data, or those of the data of `fit`; None where there are none."""
    if dates is None:
        causal = choice.causal_
        data = causal.observations_ if X is None and causal is not None else X
        index = data.index if isinstance(data, Observations) else None
        return dates_along(None if isinstance(data, Observations) else data, n, index)
    found = read_dates(dates, "dates")
    if len(found) != n or np.isnat(found).any() or (np.diff(found) <= np.timedelta64(0)).any():
        raise ValueError(
            f"The 'dates' are {len(found)} for {n} positions, or not in order; each position needs its own: give "
            "them one after the other."
        )
    return found if n > 1 else None


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


def _stretch(cause: Ints, start: int | None, stop: int | None, of: str) -> tuple[int, int]:
    """The first position to draw and the one after the last: those that are given, or the first that are known."""
    start, stop = (
        value if value is None else integer(value, name, 0, of=of) for name, value in (("start", start), ("stop", stop))
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


def _scales(ax: Axes, utility: Floats) -> None:
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
    shown = MaxNLocator(5).tick_values(low, high) if high > low else [high]
    ax.set_yticks([y for y in shown if bottom <= y <= top])
    ax.yaxis.set_major_formatter(FuncFormatter(lambda y, _: worth(y)))
    ax.set_ylabel("expected utility")


def _bands(ax: Axes, label: Ints, ruler: Ruler, texts: list[str]) -> None:
    """Draw runs of one state each: in full colour below, as pale paper behind the line."""
    from matplotlib.collections import PolyCollection

    edges = np.flatnonzero(np.diff(label, prepend=label[0] - 1, append=label[-1] - 1))
    begin, end, state = ruler.edges[edges[:-1]], ruler.edges[edges[1:]], label[edges[:-1]]
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
