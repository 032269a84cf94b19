"""Series and frames of pandas, polars, pyarrow and their like: what they hold, and results on their index."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..support.arguments import shown

# Libraries whose series and frames narwhals reads; it is imported only where one is met.
LIBRARIES = ("pandas", "polars", "pyarrow", "modin", "cudf", "narwhals")
# Columns that are named in a message.
NAMED = 8


@dataclass(frozen=True, eq=False)
class Index:
    """Where the rows of data came from: the library of the frame, and the labels of its rows, if it has them.

    Attributes
    ----------
    library : the name of the library that the data came with
    labels : a pandas index, or None
    n : number of rows
    """

    library: str
    labels: Any
    n: int

    def frame(self, columns: Mapping[str, NDArray[Any]], rows: NDArray[Any] | None = None) -> Any:
        """A frame of the same library, of columns on all rows, or on some of them."""
        import narwhals as nw

        if self.library != "pandas":
            place = np.arange(self.n) if rows is None else rows
            library: Any = self.library
            return nw.from_dict({"row": place, **columns}, backend=library).to_native()
        import pandas as pd

        labels = pd.RangeIndex(self.n) if self.labels is None else self.labels
        return pd.DataFrame(dict(columns), index=labels if rows is None else labels[rows])


def is_native(data: Any) -> bool:
    """Whether data are a series, an index or a frame of one of the libraries."""
    return type(data).__module__.partition(".")[0] in LIBRARIES and hasattr(data, "__len__")


def is_frame(data: Any) -> bool:
    """Whether data have named columns."""
    return is_native(data) and hasattr(data, "columns")


def columns_of(frame: Any) -> list[Any]:
    """The names of the columns of a frame, each of which must be there once."""
    found = list(frame.column_names if hasattr(frame, "column_names") else frame.columns)
    twice = next((name for k, name in enumerate(found) if name in found[:k]), None)
    if twice is not None:
        raise ValueError(
            f"The frame has {found.count(twice)} columns {twice!r}; columns are told apart by their names: rename them."
        )
    return found


def variables_of(data: Any, parameter: str, dated: bool = False) -> list[Any]:
    """The names of the columns of a frame, or of the first of several in a list, a dict or groups; [] of other data.

    Where they are `dated` the only column of dates is none of them: see `without_dates`.
    """
    parts = _named_series(data, parameter)[0] or data
    first = parts[0] if isinstance(parts, (list, tuple)) and parts else parts
    return columns_of(without_dates(first) if dated else first) if is_frame(first) else []


def aligned(names: Iterable[Any] = (), dated: bool = False) -> Callable[[Any, str], NDArray[Any]]:
    """What reads several frames as numbers: columns in the order of `names`, or of the first frame; one is a series.

    Where they are `dated` their only column of dates is left out.
    """
    wanted = list(names)

    def read(data: Any, parameter: str) -> NDArray[Any]:
        data = without_dates(data) if dated else data
        found = columns_of(data) if is_frame(data) else []
        if len(found) < 2 and len(wanted) < 2:
            return array_of(data, parameter)
        wanted.extend([] if wanted else found)
        return reordered(data, wanted, parameter) if found else array_of(data, parameter)

    return read


def array_of(data: Any, parameter: str) -> NDArray[Any]:
    """(n,) the values of a series, or of the only column of a frame; what is missing is None or NaN."""
    import narwhals as nw

    if is_frame(data):
        names = columns_of(data)
        if len(names) != 1:
            listed = ", ".join(map(repr, names[:NAMED])) + (", ..." if len(names) > NAMED else "")
            such = f", such as frame[{names[-1]!r}]" if names else ""
            raise ValueError(
                f"The {parameter!r} is a frame of {len(names)} columns ({listed}); one series is meant: give one "
                f"column{such}."
            )
        data = nw.from_native(data, eager_only=True).get_column(names[0])
    try:
        return np.asarray(nw.from_native(data, series_only=True).to_numpy())
    except TypeError:
        # An index of pandas, an array of pyarrow.
        return np.asarray(data.to_pylist() if hasattr(data, "to_pylist") else data)


def numbers_of(frame: Any, parameter: str) -> NDArray[Any]:
    """(n, m) the numbers of a frame, NaN where they are missing."""
    import narwhals as nw

    columns_of(frame)
    inner = nw.from_native(frame, eager_only=True)
    # By name: in brackets, numbers are those of rows.
    found = {name: inner.get_column(name) for name in inner.columns}
    wrong = [name for name, column in found.items() if not (column.dtype.is_numeric() or column.dtype == nw.Boolean)]
    if wrong:
        raise ValueError(
            f"The {parameter!r} is a frame whose column {wrong[0]!r} is of type {found[wrong[0]].dtype}; all columns "
            "must be numbers: choose some, or give those of the others as numbers."
        )
    columns = [np.asarray(column.to_numpy()) for column in found.values()]
    columns = [column.astype(float) if column.dtype.kind == "O" else column for column in columns]
    return np.column_stack(columns) if columns else np.empty((len(inner), 0))


def dates_of(data: Any) -> NDArray[Any] | None:
    """(n,) the dates, in seconds, of a series or an index of dates, of the index of other series, or of a frame.

    A frame without dates in its index has them in its only column of dates. Those with a time zone count in it. None
    where there are no dates, or several.
    """
    import narwhals as nw

    labels, column = _dated_labels(data), _dated_column(data)
    if labels is not None and (column is None or is_frame(data)):
        labels = labels.to_timestamp() if hasattr(labels, "to_timestamp") else labels
        return np.asarray(labels.tz_localize(None).to_numpy()).astype("M8[s]")
    if column is None:
        return None
    dates = nw.from_native(column, series_only=True)
    if dates.dtype == nw.Datetime and getattr(dates.dtype, "time_zone", None) is not None:
        dates = dates.dt.replace_time_zone(None)
    return np.asarray(dates.to_numpy()).astype("M8[s]")


def dates_along(data: Any, n: int, index: Index | None = None) -> NDArray[Any] | None:
    """(n,) the dates of the first n places of data, of their index or their own; None where not all are in order.

    Parameters
    ----------
    data : series or frames as they were given, or None
    n : number of places
    index : of the data, where that is known already
    """
    index = unwrapped(data, "data", lambda part, _: part)[1] if index is None else index
    source = data if index is None or index.labels is None else index.labels
    dates = dates_of(source) if is_native(source) else None
    if dates is None or not 1 < n <= dates.size:
        return None
    dates = dates[:n]
    return dates if not np.isnat(dates).any() and (np.diff(dates) > np.timedelta64(0)).all() else None


def without_dates(frame: Any) -> Any:
    """The other columns of a frame whose dates are in one of them; anything else as it is."""
    import narwhals as nw

    if not is_frame(frame) or _dated_labels(frame) is not None or _dated_column(frame) is None:
        return frame
    inner = nw.from_native(frame, eager_only=True)
    return inner.select([name for name in inner.columns if not _is_date(inner.schema[name])]).to_native()


def _dated_labels(data: Any) -> Any:
    """The labels of pandas that are dates: data themselves, their index, or the only level of it; or None."""
    index: Any = getattr(data, "index", None) if not hasattr(data, "nlevels") else data
    if not hasattr(index, "nlevels"):
        return None
    levels = [index] if index.nlevels == 1 else [index.get_level_values(k) for k in range(index.nlevels)]
    found = [level for level in levels if type(level).__name__ in ("DatetimeIndex", "PeriodIndex")]
    return found[0] if len(found) == 1 else None


def _dated_column(data: Any) -> Any:
    """A series of dates: data themselves, or the only such column of a frame; or None."""
    import narwhals as nw

    if hasattr(data, "nlevels"):
        return None
    if is_frame(data):
        columns_of(data)
    else:
        column = nw.from_native(data, series_only=True, pass_through=True)
        return data if isinstance(column, nw.Series) and _is_date(column.dtype) else None
    inner = nw.from_native(data, eager_only=True)
    found = [name for name in inner.columns if _is_date(inner.schema[name])]
    return inner.get_column(found[0]).to_native() if len(found) == 1 else None


def _is_date(dtype: Any) -> bool:
    import narwhals as nw

    return dtype in (nw.Datetime, nw.Date)


def labelled(frame: Any) -> tuple[NDArray[Any], list[Any] | None, list[Any] | None]:
    """The numbers of a frame, and the labels of its rows and columns, None where these are only counted."""
    import narwhals as nw

    if hasattr(frame, "index"):
        rows, columns = (None if _is_range(labels) else labels.tolist() for labels in (frame.index, frame.columns))
        # A table that was read without saying that its first column has the names.
        if rows is None and columns is not None and frame.dtypes.iloc[0].kind not in "biuf":
            frame, rows, columns = frame.iloc[:, 1:], frame.iloc[:, 0].tolist(), columns[1:]
        return np.asarray(frame.to_numpy()), rows, columns
    inner = nw.from_native(frame, eager_only=True)
    first, *others = inner.columns
    if inner[first].dtype.is_numeric():
        return np.asarray(inner.to_numpy()), None, list(inner.columns)
    return np.asarray(inner.select(others).to_numpy()), inner[first].to_list(), others


def _is_range(labels: Any) -> bool:
    return type(labels).__name__ == "RangeIndex" and (labels.start, labels.step) == (0, 1)


def index_of(data: Any) -> Index | None:
    """The index of a series or frame; None for other data."""
    if not is_native(data):
        return None
    library = type(data).__module__.partition(".")[0]
    labels = data.index if library in ("pandas", "modin", "cudf") and hasattr(data, "index") else None
    return Index(library, labels, len(data))


def joint_index(parts: Sequence[Any], keys: Sequence[Hashable] | None) -> Index | None:
    """The index of several series one after the other; with keys, these come first."""
    found = [index_of(part) for part in parts]
    if not found or any(index is None for index in found):
        return None
    first, n = found[0], sum(index.n for index in found if index is not None)
    assert first is not None
    if first.labels is None:
        return Index(first.library, None, n)
    import pandas as pd

    frames = [pd.DataFrame(index=index.labels) for index in found if index is not None]
    return Index(first.library, pd.concat(frames, keys=keys).index, n)


def unwrapped(data: Any, parameter: str, read: Callable[[Any, str], Any] = array_of) -> tuple[Any, Index | None]:
    """Series of other libraries as arrays, with their index; dicts and groups of series as lists; other data as such.

    Parameters
    ----------
    data : anything
    parameter : its name in messages
    read : makes an array of a series or a frame
    """
    parts, keys = _named_series(data, parameter)
    if parts is None and is_native(data):
        return read(data, parameter), index_of(data)
    if parts is None and isinstance(data, (list, tuple)) and data and all(map(is_native, data)):
        parts = list(data)
    if parts is None:
        return data, None
    return [read(part, parameter) if is_native(part) else part for part in parts], joint_index(parts, keys)


def _named_series(data: Any, parameter: str) -> tuple[list[Any] | None, list[Hashable] | None]:
    """The series, and their keys, of a dict of series or of what `groupby` gives."""
    if isinstance(data, Mapping):
        wrong = [key for key, part in data.items() if not isinstance(part, Sequence) and not hasattr(part, "__array__")]
        if wrong or not data:
            what = f"has {shown(data[wrong[0]])} for {shown(wrong[0])}" if wrong else "is empty"
            raise TypeError(
                f"The {parameter!r} is a dict that {what}; a dict must have a series for each name: give the series "
                "themselves."
            )
        return list(data.values()), list(data)
    if isinstance(data, Set):
        raise TypeError(f"The {parameter!r} is a {type(data).__name__}, which has no order: give a list of its values.")
    if type(data).__name__ in ("SeriesGroupBy", "DataFrameGroupBy", "GroupBy"):
        data = list(data)
    if isinstance(data, (list, tuple)) and data and all(map(_is_keyed, data)):
        return [part for _, part in data], [_plain(key) for key, _ in data]
    return None, None


def _is_keyed(item: Any) -> bool:
    return isinstance(item, tuple) and len(item) == 2 and isinstance(item[0], Hashable) and is_native(item[1])


def _plain(key: Hashable) -> Hashable:
    """The key of a group of one column, which pandas gives as a tuple of one."""
    return key[0] if isinstance(key, tuple) and len(key) == 1 else key


def reordered(frame: Any, names: Iterable[Any], parameter: str) -> NDArray[Any]:
    """The numbers of a frame in the order of the columns that were fitted; columns that are not there are refused."""
    values, found, wanted = numbers_of(frame, parameter), columns_of(frame), list(names)
    missing = [name for name in wanted if name not in found]
    if missing or len(found) != len(wanted):
        more = [name for name in found if name not in wanted]
        what = f"no column {missing[0]!r}" if missing else f"the column {more[0]!r}, which fit has not seen"
        listed = ", ".join(map(repr, wanted))
        raise ValueError(f"The {parameter!r} is a frame with {what}; its columns must be those of fit: give {listed}.")
    return values[:, [found.index(name) for name in wanted]]
