"""Continuous series: x is made of the last values, z of the next ones."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .vectors import Vectors

__all__ = ["delays"]


def delays(
    signal: Any,
    past: int | None = None,
    future: int = 1,
    step: int = 1,
    lags: Sequence[int] | None = None,
    difference: bool = False,
    target: int | None = None,
) -> Vectors:
    """Observe a continuous series through delay vectors: x = values up to now, z = the values that follow.

    Parameters
    ----------
    signal : (T,) numbers, or an array (T, m) for m variables, or a list of several such series; NaN = gap: no
        observation needs a missing value, and none crosses from one series to the next
    past : number of values in x: those at t, t - step, ..., t - (past - 1) step
    future : number of values in z: those at t + step, ..., t + future step
    step : distance between the values, in samples
    lags : which values make x instead: those at t - lag for each lag >= 0
    difference : observe the differences between neighbours rather than the values
    target : column of a multivariate signal that z has; by default all

    Returns
    -------
    Vectors : x is (past m,), the most recent values first. The site of an observation is its time t, and its
        successor the observation at t + 1.

    Examples
    --------
    >>> obs = delays([0.0, 0.5, 1.5, 3.0], past=2)
    >>> obs.points.tolist(), obs.outcomes
    ([[0.5, 0.0], [1.5, 0.5]], [1.5, 3.0])
    """
    at = _lags(past, step, lags)
    _check_count("future", future)
    series, shape = _read(signal)
    width = series[0].shape[1]
    index = isinstance(target, (int, np.integer)) and not isinstance(target, bool)
    if target is not None and not (index and -width <= target < width):
        raise ValueError(
            f"The 'target' is {target!r} and the signal has {width} columns; it must be one of them: give a column "
            f"from 0 to {width - 1}."
        )
    after = step * np.arange(1, future + 1)
    needed = int(at.max() + after[-1]) + 1 + bool(difference)
    parts, offset = [], 0
    for values in series:
        parts.append(_windows(values, at, after, offset, difference, target))
        offset += len(values)
    x, z, site = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    if not site.size:
        raise ValueError(
            f"The 'signal' has no {needed} values in a row without a gap among {offset}; an observation with "
            f"past={past if lags is None else len(at)}, future={future} and step={step} needs that many: give a longer "
            "signal or a shorter past."
        )
    follows = np.append(np.diff(site) == 1, False)
    # Series that touch end to end must not be linked.
    ends = np.cumsum([len(values) for values in series])
    follows &= ~np.isin(site + 1, ends)
    successor = np.where(follows, np.arange(1, site.size + 1), -1)
    single = z.shape[1] == 1
    return Vectors(x, z[:, 0] if single else z, site, shape, successor)


def _windows(
    values: NDArray[Any], at: NDArray[Any], after: NDArray[Any], offset: int, difference: bool, target: int | None
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """x, z and site of one series whose first value has site `offset`."""
    shift = offset
    if difference:
        values, shift = np.diff(values, axis=0), offset + 1
    t = np.arange(int(at.max()), len(values) - int(after[-1]))
    x = values[t[:, None] - at].reshape(t.size, -1) if t.size else np.empty((0, at.size * values.shape[1]))
    goal = values if target is None else values[:, [target]]
    z = goal[t[:, None] + after].reshape(t.size, -1) if t.size else np.empty((0, after.size * goal.shape[1]))
    whole = ~(np.isnan(x).any(axis=1) | np.isnan(z).any(axis=1))
    return x[whole], z[whole], t[whole] + shift


def _lags(past: Any, step: Any, lags: Any) -> NDArray[Any]:
    _check_count("step", step)
    if (past is None) == (lags is None):
        raise ValueError(f"The 'past' is {past!r} and 'lags' {lags!r}; exactly one must be given: choose one.")
    if lags is None:
        _check_count("past", past)
        return int(step) * np.arange(int(past))
    at = np.asarray(lags)
    if at.ndim != 1 or not at.size or at.dtype.kind not in "iu" or at.min() < 0 or np.unique(at).size != at.size:
        raise ValueError(f"The 'lags' are {lags!r}; they must be different integers of at least 0: try [0, 1, 2].")
    return at


def _check_count(name: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
        raise ValueError(f"The '{name}' is {value!r}; it must be an integer of at least 1: try {name}=1.")


def _read(signal: Any) -> tuple[list[NDArray[Any]], tuple[int, ...]]:
    """The series as (T, m) floats, and the shape of the data in time."""
    several = isinstance(signal, (list, tuple)) and len(signal) > 0 and np.ndim(signal[0]) > 0
    series = []
    for part in signal if several else [signal]:
        values = np.ma.filled(np.ma.asarray(part).astype(float), np.nan) if np.ma.isMA(part) else _floats(part)
        if values.ndim not in (1, 2):
            raise ValueError(
                f"The 'signal' has shape {values.shape}; it must have one value or one row of values for each time: "
                "reshape it to (T,) or (T, m)."
            )
        if np.isinf(values).any():
            raise ValueError("The 'signal' has infinite values; values must be finite, or NaN for a gap: replace them.")
        series.append(values[:, None] if values.ndim == 1 else values)
    if len({values.shape[1] for values in series}) != 1:
        widths = sorted({values.shape[1] for values in series})
        raise ValueError(f"The 'signal' has series of {widths} columns; all must have the same: select columns.")
    return series, (sum(map(len, series)),)


def _floats(values: Any) -> NDArray[Any]:
    try:
        if np.iscomplexobj(values):
            raise TypeError
        return np.asarray(values, float)
    except (TypeError, ValueError):
        raise ValueError(
            f"The 'signal' is {type(values).__name__} of values that are not numbers; a continuous series needs "
            "numbers: use ds.observe.series for symbols."
        ) from None
