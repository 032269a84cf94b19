"""Continuous series: x is made of the last values, z of the next ones."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..support import arguments
from .frames import array_of, columns_of, is_frame, numbers_of, unwrapped
from .observations import Observations
from .pairs import Pairs, floats, stacked, vector_pairs
from .slices import Part, Sliced, cut_parts, in_slices

# Values of a delay vector, and samples between them, at most.
MOST = 10**7
# Lags of x and of z, whether values are differenced, and the column of z.
How = tuple[NDArray[Any], NDArray[Any], bool, int | None]
# How often each value of a vector is in memory while it is observed.
VALUE_COPIES = 4


def delays(
    signal: Any,
    past: int | None = None,
    future: int = 1,
    step: int = 1,
    lags: Sequence[int] | None = None,
    difference: bool = False,
    target: int | str | None = None,
    chunks: int | None = None,
) -> Observations:
    """Observe a continuous series through delay vectors: x = values up to now, z = the values that follow.

    Parameters
    ----------
    signal : (T,) numbers, or an array or frame (T, m) for m variables, or several such series in a list, a dict or the
        groups of a `groupby`; NaN = gap: no
        observation needs a missing value, and none crosses from one series to the next. Large memory maps, and arrays
        of zarr, HDF5 and Dask, are read slice by slice
    past : number of values in x: those at t, t - step, ..., t - (past - 1) step
    future : number of values in z: those at t + step, ..., t + future step
    step : distance between the values, in samples
    lags : which values make x instead: those at t - lag for each lag >= 0
    difference : observe the differences between neighbours rather than the values
    target : column of a multivariate signal that z has, by number or, of a frame, by name; by default all
    chunks : times in each slice, to read slice by slice; by default as many as take a quarter of a gigabyte, where
        the signal is not in memory

    Returns
    -------
    Observations : x is (past m,), the most recent values first. The site of an observation is its time t, and
        its successor the observation at t + 1.

    Examples
    --------
    >>> obs = delays([0.0, 0.5, 1.5, 3.0], past=2)
    >>> obs.points.tolist(), obs.outcomes
    ([[0.5, 0.0], [1.5, 0.5]], [1.5, 3.0])
    """
    step = arguments.integer(step, "step", most=MOST)
    at = _lags(past, step, lags)
    future = arguments.integer(future, "future", most=MOST)
    names = _column_names(signal)
    signal, index = unwrapped(signal, "signal", _numbers)
    several = isinstance(signal, (list, tuple)) and len(signal) > 0 and np.ndim(signal[0]) > 0
    parts = list(signal) if several else [signal]
    sliced = in_slices(chunks, *parts)
    series = [part if sliced and hasattr(part, "shape") else _read(part) for part in parts]
    width = _width(series)
    place: Any = names.index(target) if target in names else target
    if place is not None and not (arguments.is_integer(place) and -width <= place < width):
        listed = f" ({', '.join(map(repr, names))})" if names else ""
        raise ValueError(
            f"The 'target' is {target!r} and the signal has {width} columns{listed}; it must be one of them: give a "
            f"column from 0 to {width - 1}{', or its name' if names else ''}."
        )
    how = at, step * np.arange(1, future + 1), bool(difference), place
    if sliced:
        return _sliced(series, width, how, chunks)
    found = _observe(series, how)
    if found is None:
        needed = int(at.max() + how[1][-1]) + 1 + bool(difference)
        raise ValueError(
            f"The 'signal' has no {needed} values in a row without a gap among {sum(map(len, series))}; an observation "
            f"with past={past if lags is None else len(at)}, future={future} and step={step} needs that many: give a "
            "longer signal or a shorter past."
        )
    found.index = index
    return found


def _column_names(signal: Any) -> list[Any]:
    """Names of the variables of a frame, or of the first of several."""
    parts = list(signal.values()) if isinstance(signal, Mapping) else signal
    first = parts[0] if isinstance(parts, (list, tuple)) and parts else parts
    first = first[1] if isinstance(first, tuple) and len(first) == 2 else first
    return columns_of(first) if is_frame(first) else []


def _numbers(data: Any, parameter: str) -> NDArray[Any]:
    return (numbers_of if is_frame(data) else array_of)(data, parameter)


def _observe(series: list[NDArray[Any]], how: How, end: int | None = None) -> Pairs | None:
    """Delay vectors of several series; those at `end` or later are only there to be led to. None: there are none."""
    sizes = [len(values) for values in series]
    x, z, site = stacked((_windows(values, *how) for values in series), sizes)
    beyond = 0 if end is None else int(np.count_nonzero(site >= end))
    if site.size == beyond:
        return None
    follows = np.append(np.diff(site) == 1, False)
    # Series that touch end to end must not be linked.
    follows &= ~np.isin(site + 1, np.cumsum(sizes))
    successor = np.where(follows, np.arange(1, site.size + 1), -1)
    return vector_pairs("signal", x, z, site, (sum(sizes),), successor=successor, beyond=beyond)


def _sliced(series: list[Any], width: int, how: How, chunks: int | None) -> Sliced:
    at, after, difference, _ = how
    back, ahead = int(at.max()) + difference, int(after[-1])
    row_bytes = 8 * VALUE_COPIES * width * (at.size + after.size)
    # The observation after the slice is where its last one leads to.
    found = cut_parts(((values,) for values in series), chunks, row_bytes, back, ahead + 1)
    return Sliced("signal", partial(_observe_part, how), found, (sum(values.shape[0] for values in series),))


def _observe_part(how: How, part: Part) -> Pairs | None:
    return _observe([_read(part.data[0])], how, part.own.stop)


def _windows(
    values: NDArray[Any], at: NDArray[Any], after: NDArray[Any], difference: bool, target: int | None
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """x, z and site of one series."""
    values = np.diff(values, axis=0) if difference else values
    t = np.arange(int(at.max()), len(values) - int(after[-1]))
    x = values[t[:, None] - at].reshape(t.size, -1) if t.size else np.empty((0, at.size * values.shape[1]))
    goal = values if target is None else values[:, [target]]
    z = goal[t[:, None] + after].reshape(t.size, -1) if t.size else np.empty((0, after.size * goal.shape[1]))
    whole = ~(np.isnan(x).any(axis=1) | np.isnan(z).any(axis=1))
    return x[whole], z[whole], t[whole] + difference


def _lags(past: Any, step: int, lags: Any) -> NDArray[Any]:
    if (past is None) == (lags is None):
        raise ValueError(f"The 'past' is {past!r} and 'lags' {lags!r}; exactly one must be given: choose one.")
    if lags is None:
        return step * np.arange(arguments.integer(past, "past", most=MOST))
    at = np.asarray(lags)
    if at.ndim != 1 or not at.size or at.dtype.kind not in "iu" or at.min() < 0 or np.unique(at).size != at.size:
        raise ValueError(f"The 'lags' are {lags!r}; they must be different integers of at least 0: try [0, 1, 2].")
    return at


def _read(signal: Any) -> NDArray[Any]:
    """A series as (T, m) floats."""
    refused = (
        f"The 'signal' is {type(signal).__name__} of values that are not numbers; a continuous series needs "
        "numbers: use ds.observe.series for symbols."
    )
    values = floats(signal, "signal", refused)
    if values.ndim not in (1, 2):
        raise ValueError(
            f"The 'signal' has shape {values.shape}; it must have one value or one row of values for each time: "
            "reshape it to (T,) or (T, m)."
        )
    return values[:, None] if values.ndim == 1 else values


def _width(series: list[Any]) -> int:
    """Number of variables, the same in all series."""
    widths = {int(np.prod(values.shape[1:])) for values in series}
    if len(widths) != 1:
        raise ValueError(
            f"The 'signal' has series of {sorted(widths)} columns; all must have the same: select columns."
        )
    return widths.pop()
