"""Continuous series: x is made of the last values, z of the next ones."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..support import arguments
from .calendars import are_names, calendar, names_of
from .frames import Index, aligned, dates_of, unwrapped, variables_of
from .observations import Delays, Observations, Way
from .pairs import Pairs, floats, stacked, vector_pairs
from .slices import Part, Sliced, cut_parts, in_slices

# Values of a delay vector, and samples between them, at most.
MOST = 10**7
# Lags of x and of z, whether values are differenced, and the column of z.
How = tuple[NDArray[Any], NDArray[Any], bool, int | None]
# How often each value of a vector is in memory while it is observed.
VALUE_COPIES = 4


@dataclass(frozen=True, eq=False)
class Signal:
    """Continuous series as they were given, read.

    Attributes
    ----------
    series : (T, m) values of each, or what is to be read slice by slice
    known : (T, k) inputs of each that are known in advance, or None
    width : m
    target : the column of z, None = all
    index : of the data, or None
    """

    series: list[Any]
    known: list[Any] | None
    width: int
    target: int | None
    index: Index | None

    @property
    def n_known(self) -> int:
        """k, 0 where nothing is known."""
        return 0 if self.known is None else int(np.prod(self.known[0].shape[1:]))


def delays(
    signal: Any,
    past: int | str | None = None,
    future: int = 1,
    step: int = 1,
    lags: Sequence[int] | None = None,
    difference: bool = False,
    target: int | str | None = None,
    chunks: int | None = None,
    inputs: Any = None,
) -> Observations:
    """Observe a continuous series through delay vectors: x = values up to now, z = the values that follow.

    Parameters
    ----------
    signal : (T,) numbers, or an array or frame (T, m) for m variables, or several such series in a list, a dict or the
        groups of a `groupby`; NaN = gap: no
        observation needs a missing value, and none crosses from one series to the next. Large memory maps, and arrays
        of zarr, HDF5 and Dask, are read slice by slice
    past : number of values in x: those at t, t - step, ..., t - (past - 1) step; "auto": see `selection.best_past`
    future : number of values in z: those at t + step, ..., t + future step
    step : distance between the values, in samples
    lags : which values make x instead: those at t - lag for each lag >= 0
    difference : observe the differences between neighbours rather than the values
    target : column of a multivariate signal that z has, by number or, of a frame, by name; by default all
    chunks : times in each slice, to read slice by slice; by default as many as take a quarter of a gigabyte, where
        the signal is not in memory
    inputs : what is known in advance of the time of the outcome, as further columns of x: numbers (T,) or (T, k) on the
        times of the signal, for several series several of them; or names of calendar parts ("minute", "hour",
        "weekday", "month", "yearday") of the dates in the signal's index, or in the only column of dates of a frame:
        see `calendar`. Those at t + step, where z begins, enter x; NaN there = gap

    Returns
    -------
    Observations : x is (past m + k,), the most recent values first, then the inputs. The site of an observation is its
        time t, and its successor the observation at t + 1.

    Examples
    --------
    >>> obs = delays([0.0, 0.5, 1.5, 3.0], past=2)
    >>> obs.points.tolist(), obs.outcomes
    ([[0.5, 0.0], [1.5, 0.5]], [1.5, 3.0])
    >>> delays([0.0, 0.5, 1.5, 3.0], past=2, inputs=[7.0, 7.5, 8.0, 8.5]).points.tolist()
    [[0.5, 0.0, 8.0], [1.5, 0.5, 8.5]]
    """
    step = arguments.integer(step, "step", most=MOST)
    at = _lags(past, step, lags)
    future = arguments.integer(future, "future", most=MOST)
    given = read_signal(signal, inputs, target, chunks)
    difference = arguments.flag(difference, "difference")
    how = at, step * np.arange(1, future + 1), difference, given.target
    found: Observations | None
    if in_slices(chunks, *given.series, *(given.known or ())):
        found = _sliced(given, how, chunks)
    else:
        found = _observe(given.series, given.known, how)
    if found is None:
        needed = int(at.max() + how[1][-1]) + 1 + difference
        total = sum(map(len, given.series))
        complete = "" if given.known is None else ", with inputs where z begins,"
        raise ValueError(
            f"The 'signal' has no {needed} values in a row without a gap{complete} among {total}; an observation with "
            f"past={past if lags is None else len(at)}, future={future} and step={step} needs that many: give a longer "
            "signal or a shorter past."
        )
    found.known, found.index = given.n_known, given.index
    lags, ahead = (tuple(map(int, part)) for part in how[:2])
    found.delays = Delays(lags, ahead, difference, given.width, given.target)
    # Inputs that are numbers belong to the data.
    known = list(names_of(inputs, "inputs")) if are_names(inputs) else None
    made = {"lags": list(lags), "future": future, "step": step, "difference": difference, "target": given.target}
    found.way = Way("delays", {**made, "inputs": known})
    return found


def read_signal(
    signal: Any, inputs: Any = None, target: Any = None, chunks: int | None = None, parameter: str = "signal"
) -> Signal:
    """Series, inputs and target of `delays`, checked; what is stored stays where it is."""
    dated = are_names(inputs)
    names = variables_of(signal, parameter, dated)
    values, index = unwrapped(signal, parameter, aligned(dated=dated))
    several = isinstance(values, (list, tuple)) and len(values) > 0 and np.ndim(values[0]) > 0
    parts = list(values) if several else [values]
    known = None if inputs is None else _known(signal, inputs, several, index)
    sliced = in_slices(chunks, *parts, *(known or ()))
    series = [part if sliced and hasattr(part, "shape") else _read(part, parameter) for part in parts]
    width = _width(series, parameter)
    place: Any = names.index(target) if isinstance(target, Hashable) and target in names else target
    if place is not None and not (arguments.is_integer(place) and -width <= place < width):
        listed = f" ({', '.join(map(repr, names))})" if names else ""
        raise ValueError(
            f"The 'target' is {arguments.shown(target)} and the signal has {width} columns{listed}; it must be one of "
            f"them: give a column from 0 to {width - 1}{', or its name' if names else ''}."
        )
    if known is not None:
        known = [part if sliced and hasattr(part, "shape") else _read(part, "inputs") for part in known]
        _check_known(series, known)
    return Signal(series, known, width, place, index)


def _known(signal: Any, inputs: Any, several: bool, index: Index | None) -> list[Any]:
    """The inputs of each series: of the calendar, or as they are given."""
    if are_names(inputs):
        return [calendar(dates, inputs) for dates in dates_of_series(signal, inputs)]
    if isinstance(signal, Mapping) and isinstance(inputs, Mapping) and set(signal) == set(inputs):
        inputs = {key: inputs[key] for key in signal}
    columns, labels = unwrapped(inputs, "inputs", aligned())
    if index is not None and labels is not None and not _same_labels(index.labels, labels.labels):
        raise ValueError(
            "The 'inputs' have another index than the 'signal'; both must be on the same times: align them, for "
            "example with inputs.reindex(signal.index), or give the numbers without an index."
        )
    if several and not (isinstance(columns, (list, tuple)) and all(np.ndim(part) > 0 for part in columns)):
        raise ValueError(
            f"The 'inputs' are {type(inputs).__name__} and the 'signal' has several series; each must have inputs of "
            "its own: give a list of as many arrays."
        )
    return list(columns) if several else [columns]


def dates_of_series(signal: Any, inputs: Any) -> list[NDArray[Any]]:
    """The dates of each of some series, which calendar parts are asked for of."""
    names_of(inputs, "inputs")
    found, dated = unwrapped(signal, "signal", lambda part, _: dates_of(part))
    dates = found if isinstance(found, list) else [found]
    if dated is None or any(part is None for part in dates):
        raise ValueError(
            f"The 'inputs' are {arguments.shown(inputs)} and the 'signal' is {type(signal).__name__} without dates; "
            "calendar parts are those of a date for each value: give a series of pandas whose index has them (in a "
            "table, name their column as 'time'), or inputs=ds.observe.calendar(times, parts)."
        )
    return dates


def _same_labels(a: Any, b: Any) -> bool:
    return a is None or b is None or bool(a.equals(b))


def _check_known(series: list[Any], known: list[Any]) -> None:
    """Refuse inputs that have not a row for each time, or not the same columns."""
    sizes, rows = ([int(part.shape[0]) for part in parts] for parts in (series, known))
    if sizes != rows:
        wrong = next((k for k, (a, b) in enumerate(zip(sizes, rows, strict=False)) if a != b), None)
        what = f"{len(rows)} series and the 'signal' {len(sizes)}"
        if wrong is not None:
            which = f" of series {wrong}" if len(sizes) > 1 else ""
            what = f"{rows[wrong]} rows{which} and the 'signal' {sizes[wrong]}"
        raise ValueError(f"The 'inputs' have {what}; there must be a row for each time: give inputs of that shape.")
    _width(known, "inputs")


def _observe(
    series: list[NDArray[Any]], known: list[NDArray[Any]] | None, how: How, end: int | None = None
) -> Pairs | None:
    """Delay vectors of several series; those at `end` or later are only there to be led to. None: there are none."""
    sizes = [len(values) for values in series]
    inputs = [None] * len(series) if known is None else known
    windows = (_windows(values, own, *how) for values, own in zip(series, inputs, strict=True))
    x, z, site = stacked(windows, sizes)
    beyond = 0 if end is None else int(np.count_nonzero(site >= end))
    if site.size == beyond:
        return None
    follows = np.append(np.diff(site) == 1, False)
    # Series that touch end to end must not be linked.
    follows &= ~np.isin(site + 1, np.cumsum(sizes))
    successor = np.where(follows, np.arange(1, site.size + 1), -1)
    return vector_pairs("signal", x, z, site, (sum(sizes),), successor=successor, beyond=beyond)


def _sliced(signal: Signal, how: How, chunks: int | None) -> Sliced:
    at, after, difference, _ = how
    back, ahead = int(at.max()) + difference, int(after[-1])
    known: list[Any] = [None] * len(signal.series) if signal.known is None else signal.known
    row_bytes = 8 * VALUE_COPIES * (signal.width * (at.size + after.size) + signal.n_known)
    # The observation after the slice is where its last one leads to.
    found = cut_parts(zip(signal.series, known, strict=True), chunks, row_bytes, back, ahead + 1)
    return Sliced("signal", partial(_observe_part, how), found, (sum(values.shape[0] for values in signal.series),))


def _observe_part(how: How, part: Part) -> Pairs | None:
    values, known = part.data
    return _observe([_read(values)], None if known is None else [_read(known, "inputs")], how, part.own.stop)


def _windows(
    values: NDArray[Any],
    known: NDArray[Any] | None,
    at: NDArray[Any],
    after: NDArray[Any],
    difference: bool,
    target: int | None,
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """x, z and site of one series."""
    values = np.diff(values, axis=0) if difference else values
    t = np.arange(int(at.max()), len(values) - int(after[-1]))
    x = values[t[:, None] - at].reshape(t.size, -1) if t.size else np.empty((0, at.size * values.shape[1]))
    if known is not None:
        x = np.column_stack([x, known[t + (difference + after[0])]])
    goal = values if target is None else values[:, [target]]
    z = goal[t[:, None] + after].reshape(t.size, -1) if t.size else np.empty((0, after.size * goal.shape[1]))
    whole = ~(np.isnan(x).any(axis=1) | np.isnan(z).any(axis=1))
    return x[whole], z[whole], t[whole] + difference


def _lags(past: Any, step: int, lags: Any) -> NDArray[Any]:
    if (past is None) == (lags is None):
        raise ValueError(
            f"The 'past' is {arguments.shown(past)} and 'lags' {arguments.shown(lags)}; exactly one must be given: "
            "choose one."
        )
    if lags is None:
        return step * np.arange(arguments.integer(past, "past", most=MOST))
    rule = "they must be different integers of at least 0: try [0, 1, 2]."
    at = arguments.as_table(lags, "lags", rule)
    if at.ndim != 1 or not at.size or at.dtype.kind not in "iu" or at.min() < 0 or np.unique(at).size != at.size:
        raise ValueError(f"The 'lags' are {arguments.shown(lags)}; {rule}")
    return at


def _read(signal: Any, name: str = "signal") -> NDArray[Any]:
    """A series as (T, m) floats."""
    what = "a continuous series needs numbers: use ds.observe.series for symbols"
    if name == "inputs":
        what = "known inputs are numbers or names of calendar parts: code others as numbers"
    refused = f"The {name!r} is {type(signal).__name__} of values that are not numbers; {what}."
    values = floats(signal, name, refused)
    if values.ndim not in (1, 2):
        raise ValueError(
            f"The {name!r} has shape {values.shape}; it must have one value or one row of values for each time: "
            "reshape it to (T,) or (T, m)."
        )
    return values[:, None] if values.ndim == 1 else values


def _width(series: list[Any], name: str = "signal") -> int:
    """Number of variables, the same in all series."""
    widths = {int(np.prod(values.shape[1:])) for values in series}
    if len(widths) != 1:
        raise ValueError(
            f"The {name!r} has series of {sorted(widths)} columns; all must have the same: select columns."
        )
    return widths.pop()
