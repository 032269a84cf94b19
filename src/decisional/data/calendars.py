"""Calendar parts of times as columns of numbers, on circles: the end of a day is near its beginning."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..support.arguments import shown, some_of
from ..support.arrays import Floats
from .frames import dates_of, is_native

MINUTE, HOUR, DAY, WEEK = (np.timedelta64(n, "s") for n in (60, 3600, 86_400, 604_800))
# A Monday.
MONDAY = np.datetime64("1970-01-05", "s")


def _within(length: np.timedelta64) -> Callable[[NDArray[Any]], Floats]:
    """Which share of a length of time has passed, since a Monday."""
    return lambda times: ((times - MONDAY) % length) / length


def _of_year(times: NDArray[Any]) -> Floats:
    """Which share of the days of its year are before the day of a time."""
    day, year = times.astype("M8[D]"), times.astype("M8[Y]")
    begin, end = year.astype("M8[D]"), (year + 1).astype("M8[D]")
    share: Floats = (day - begin) / (end - begin)
    return share


# The share of its circle that each part has gone: an hour is the time of day, minutes included; the others are whole.
PARTS: dict[str, Callable[[NDArray[Any]], Floats]] = {
    "minute": _within(HOUR),
    "hour": _within(DAY),
    "weekday": lambda times: _within(WEEK)(times.astype("M8[D]")),
    "month": lambda times: (times.astype("M8[M]") - times.astype("M8[Y]")) / np.timedelta64(12, "M"),
    "yearday": _of_year,
}


def calendar(times: Any, parts: Sequence[str] | str) -> Floats:
    """Parts of the calendar as known inputs: two columns for each, the place on a circle that it goes round.

    Parameters
    ----------
    times : (T,) dates: a series or index of pandas, polars or pyarrow, or what has them; numpy's dates, datetimes or
        text such as "2024-01-31 23:59". Those with a time zone count in it; where one is missing all columns are NaN
    parts : names among "minute" (of the hour, seconds included), "hour" (of the day, minutes included), "weekday",
        "month" and "yearday" (of the year)

    Returns
    -------
    (T, 2 len(parts)) cos and sin of each part: 23 h and 0 h are as near as 0 h and 1 h. See `inputs` of
    `decisional.observe.delays`.

    Examples
    --------
    >>> calendar(["2024-01-01 00:00", "2024-01-01 06:00", "2024-01-01 12:00"], "hour").round(2).tolist()
    [[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]]
    """
    names = names_of(parts)
    dates = read_dates(times)
    lost = np.isnat(dates)
    known = np.where(lost, MONDAY, dates)
    angles = [2.0 * np.pi * PARTS[name](known) for name in names]
    columns: Floats = np.stack([f(angle) for angle in angles for f in (np.cos, np.sin)], axis=1)
    columns[lost] = np.nan
    return columns


def are_names(inputs: Any) -> bool:
    """Whether known inputs are given by name."""
    listed = isinstance(inputs, (list, tuple)) and len(inputs) > 0
    return isinstance(inputs, str) or (listed and all(isinstance(name, str) for name in inputs))


def names_of(parts: Any, parameter: str = "parts") -> list[str]:
    """Names of parts of the calendar, each of them checked."""
    return some_of(parts, parameter, PARTS, least=1)


def read_dates(times: Any, parameter: str = "times") -> NDArray[Any]:
    """(T,) dates, in seconds; what is none is refused by the name of its parameter."""
    try:
        array = dates_of(times) if is_native(times) else np.asarray(times)
        if array is None or array.dtype.kind in "biufc" or array.ndim != 1:
            raise ValueError
        # Among objects numpy would take them for seconds.
        if array.dtype.kind == "O" and any(isinstance(time, (int, np.integer)) for time in array.tolist()):
            raise ValueError
        return array.astype("M8[s]")
    except (ValueError, TypeError):
        raise ValueError(
            f"The {parameter!r} are {shown(times)}; they must be a date for each value: write them as "
            "2024-01-31 23:59:59."
        ) from None
