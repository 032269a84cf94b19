"""Tables in text or parquet files: cells in rows, whose columns are series of symbols or numbers, by group and in time.

Cells are text until a column is asked for: nothing is guessed of the others. What was moved or cut is told by warnings.
"""

import csv
import os
import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from io import BytesIO
from itertools import islice, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..support.arguments import shown
from ..support.files import file_name, is_channel, read_bytes, read_text

# What stands for a number that is missing; symbols are missing where the cell is empty.
NO_NUMBER = ("", "na", "n/a", "nan", "null", "none", "?", "-")
PARQUET = (".parquet", ".pq")
# Tried in this order; white space only where no other mark is in every row.
DELIMITERS = ("\t", ";", "|", ",")
# Rows that tell the delimiter, and the names from the first values.
LOOKED_AT = 200
# A jump in time is a gap where it is longer than so many steps, unless more than this share of all steps are.
JUMP, IRREGULAR = 1.5, 0.1
# Rows of a table that are too few to say that its symbols do not repeat.
SHORT = 20

Column = int | str
Columns = Column | Sequence[Column]


@dataclass(frozen=True, eq=False)
class CellTable:
    """The cells of a table, as text.

    Attributes
    ----------
    file : what it is called in messages
    names : of the columns, () where the first row has none
    columns : the cells of each column
    lines : (n_rows,) the line, or row, of the file that each row comes from, from 1
    parts : (n_rows,) how many empty lines are above each row: they end a series
    doubtful : whether what was taken for names may be data
    """

    file: str
    names: tuple[str, ...]
    columns: list[Any]
    lines: NDArray[np.int64]
    parts: NDArray[np.int64]
    doubtful: bool = False

    def __len__(self) -> int:
        return self.lines.size

    def place(self, column: Column, parameter: str = "column") -> int:
        """The place of a column, by name or by number from 0; names come first."""
        if isinstance(column, str) and self.names.count(column) == 1:
            return self.names.index(column)
        if isinstance(column, str) and column in self.names:
            raise ValueError(
                f"The {parameter!r} {column!r} is the name of {self.names.count(column)} columns of the {self.file}; a "
                f"name must be that of one: give its number, the first is {self.names.index(column)}."
            )
        number = int(column) if isinstance(column, str) and re.fullmatch(r"-?\d+", column) else column
        n = len(self.columns)
        if isinstance(number, (int, np.integer)) and not isinstance(number, bool) and -n <= number < n:
            return int(number) % n
        wanted = "" if parameter == "column" else f" for {parameter!r}"
        raise ValueError(f"The {self.file} has no column {column!r}{wanted}: {self._remedy(column)}.")

    def _remedy(self, column: Any) -> str:
        # Small and capital letters are easily exchanged.
        folded = {name.casefold(): name for name in reversed(self.names)}
        near = get_close_matches(str(column).casefold(), folded, 1)
        if near:
            return f"did you mean {folded[near[0]]!r}"
        listed = ", ".join(map(repr, self.names[:20])) + (", ..." if len(self.names) > 20 else "")
        last = len(self.columns) - 1
        return f"choose one of {listed}, or a number from 0 to {last}" if listed else f"give a number from 0 to {last}"

    def name(self, place: int) -> str:
        """What a column is called."""
        return self.names[place] if self.names else str(place)

    def symbols(self, place: int, missing: Iterable[str] = ()) -> NDArray[Any]:
        """(n_rows,) the cells of a column, None where they are empty or `missing`."""
        gaps = {"", *missing}
        return np.array([None if is_gap(cell, gaps) else cell for cell in self.columns[place]], object)

    def numbers(self, place: int, missing: Iterable[str] = (), decimal: str = ".") -> NDArray[Any]:
        """(n_rows,) the numbers of a column, NaN where they are missing."""
        cells = self.columns[place]
        if isinstance(cells, np.ndarray) and cells.dtype.kind in "biuf":
            return np.where(
                np.isin(cells, [float(m) for m in missing if _number(m, decimal) is not None]), np.nan, cells
            )
        gaps = {*NO_NUMBER, *(mark.lower() for mark in missing)}
        values = [np.nan if is_gap(cell, gaps) else _number(cell, decimal) for cell in cells]
        if None in values:
            row = values.index(None)
            comma = "" if decimal == "," or not re.fullmatch(r"-?\d+,\d+", str(cells[row])) else ", say decimal=','"
            raise ValueError(
                f"Line {self.lines[row]} of the {self.file} has {cells[row]!r} in the column {self.name(place)!r}, "
                f"which is no number: correct it, leave it empty, name it in 'missing'{comma}, or choose another "
                "column."
            )
        return np.array(values, float)

    def is_numeric(self, place: int, missing: Iterable[str] = (), decimal: str = ".") -> bool:
        """Whether all cells of a column are numbers or missing, and one is there."""
        try:
            return not bool(np.isnan(self.numbers(place, missing, decimal)).all())
        except ValueError:
            return False

    def times(self, place: int) -> Any:
        """(n_rows,) the times of a column: numbers, or dates as a DatetimeIndex, in UTC where they carry time zones."""
        import pandas as pd

        cells = self.columns[place]
        empty = next((row for row, cell in enumerate(cells) if cell is None or cell != cell or cell == ""), None)
        if empty is not None:
            raise ValueError(
                f"Line {self.lines[empty]} of the {self.file} has no time in the column {self.name(place)!r}; rows "
                "are put in the order of their times: complete it, or leave the row out."
            )
        found = pd.Series(self.numbers(place)) if self.is_numeric(place) else self._dates(place)
        if found.isna().any():
            row = int(found.isna().to_numpy().argmax())
            raise ValueError(
                f"Line {self.lines[row]} of the {self.file} has {cells[row]!r} in the column {self.name(place)!r}, "
                "which is no time: write times as 2024-01-31 23:59:59 or as numbers."
            )
        return pd.Index(found)

    def _dates(self, place: int) -> Any:
        """(n_rows,) the dates of a column as a Series, NaT where a cell is none."""
        import pandas as pd

        cells, how = self.columns[place], self._date_format(place)
        zoned = self._zoned(place, cells)
        try:
            return pd.to_datetime(pd.Series(cells), utc=zoned, errors="coerce", **how)
        except ValueError:
            # Zones in other forms, such as 23-05 for 23:00-05:00, in some of the rows.
            found = [pd.to_datetime(cell, errors="coerce", **how).tzinfo is not None for cell in cells]
            raise self._mixed(place, found) from None

    def _zoned(self, place: int, cells: Any) -> bool:
        """Whether times have zones, which all of them have or none."""
        zones = [_ZONE.search(str(cell)) is not None for cell in cells]
        if any(zones) and not all(zones):
            raise self._mixed(place, zones)
        return any(zones)

    def _mixed(self, place: int, zones: list[bool]) -> ValueError:
        """What is said where some times have zones."""
        row = zones.index(False) if False in zones else 0
        return ValueError(
            f"Line {self.lines[row]} of the {self.file} has {self.columns[place][row]!r} in the column "
            f"{self.name(place)!r}, a time without a zone, and others have one; all or none must: complete it."
        )

    def _date_format(self, place: int) -> dict[str, Any]:
        """How dates are written; those of which day and month could be exchanged throughout are refused."""
        days = [match.groups() for cell in self.columns[place] if (match := _DAY_OR_MONTH.match(str(cell)))]
        if not days:
            return {"format": "ISO8601" if isinstance(self.columns[place][0], str) else None}
        if any(mark == "." or int(first) > 12 for first, mark, _ in days):
            return {"dayfirst": True, "format": "mixed"}
        if any(int(second) > 12 for _, _, second in days):
            return {"dayfirst": False, "format": "mixed"}
        raise ValueError(
            f"The column {self.name(place)!r} of the {self.file} has dates such as {self.columns[place][0]!r}, which "
            "may have the day or the month first; dates must have one meaning: write them as 2024-01-31."
        )


_ZONE = re.compile(r"(?:[zZ]|[+-]\d\d:?\d\d)$")
_DAY_OR_MONTH = re.compile(r"(\d{1,2})([./-])(\d{1,2})[./-]\d{2,4}")


def is_day_or_month(cell: str) -> bool:
    """Whether a date begins with its day or with its month, which only other dates can tell."""
    match = _DAY_OR_MONTH.match(cell)
    return match is not None and match[2] != "."


def is_gap(cell: Any, gaps: set[str]) -> bool:
    """Whether a cell is missing: empty, None or NaN, or one of some marks."""
    return cell is None or cell != cell or (isinstance(cell, str) and (cell in gaps or cell.strip().lower() in gaps))


def _number(cell: Any, decimal: str) -> float | None:
    """The finite number in a cell, or None."""
    text = str(cell).strip()
    if decimal != "." and "." not in text:
        text = text.replace(decimal, ".")
    try:
        value = float(text)
    except ValueError:
        return None
    return value if abs(value) < float("inf") and "_" not in text else None


def read_table(
    path: str | os.PathLike[str],
    delimiter: str | None = None,
    header: bool | None = None,
    named: Iterable[Column | None] = (),
    decimal: str = ".",
) -> CellTable:
    """Read a table: text (gzip and other compressions too), or parquet.

    Parameters
    ----------
    path : the file, "-" = standard input
    delimiter : between cells; by default a tab, semicolon, bar or comma that is in every row, else white space
    header : whether the first row has the names; by default it does if one of `named` is there, or if none of its cells
        is empty, a number, a time or occurs again in its column
    named : columns that are asked for
    decimal : mark in numbers, which is not between cells

    Cost: a pass over the text; all cells are kept.
    """
    file = file_name(path)
    if str(path).lower().endswith(PARQUET):
        return _read_parquet(str(path), file)
    text = read_text(path)
    written = list(enumerate(text.split("\n"), start=1))
    lines = [(k, line) for k, line in written if not line.startswith("#")]
    if not any(line.strip() for _, line in lines):
        raise ValueError(f"The {file} has no rows: give a table with a row for each observation.")
    mark = found_delimiter(lines, decimal) if delimiter is None else checked_delimiter(delimiter, decimal)
    _refuse_doubtful_comments(written, mark, file)
    rows, numbers, parts = _rows(lines, mark, file)
    return _with_names(file, rows, numbers, parts, header, [name for name in named if isinstance(name, str)])


def _refuse_doubtful_comments(written: list[tuple[int, str]], mark: str, file: str) -> None:
    """Refuse lines that begin with # and may be rows: those without a blank after the mark."""
    first = next(k for k, line in written if line.strip() and not line.startswith("#"))
    width = _width(written[first - 1][1], mark)
    for k, line in written:
        # Above the first row comments may have any form, but that of a row.
        if may_be_row(line) and (k > first or (width > 1 and _width(line, mark) == width)):
            raise _doubt(k, file)


def may_be_row(line: str) -> bool:
    """Whether a line that begins with # may be no comment."""
    return re.match(r"#[^\s#!]", line) is not None


def _doubt(line: int, file: str) -> ValueError:
    return ValueError(
        f"Line {line} of the {file} begins with '#' and may be a comment or a row; it must be clear which: put a blank "
        "after the '#' of a comment, and quotes around a cell that begins with one."
    )


def _width(line: str, mark: str) -> int:
    """How many cells a line has."""
    cells = next(csv.reader([line], delimiter=mark, skipinitialspace=True))
    return sum(map(bool, cells)) if mark == " " else len(cells)


def read_rows(path: str | os.PathLike[str], delimiter: str | None = None) -> list[list[str]]:
    """All rows of a table, with the names of its columns if it has them."""
    table = read_table(path, delimiter, header=False)
    return [list(row) for row in zip(*table.columns, strict=True)]


def looks_like_table(path: str) -> bool:
    """Whether a file is called a table, and is one of several rows of one length, rather than lines of symbols."""
    name = path.lower().removesuffix(".gz").removesuffix(".bz2").removesuffix(".xz")
    if name.endswith(PARQUET):
        return True
    if not name.endswith((".csv", ".tsv", ".tab")):
        return False
    try:
        return len(read_table(path, header=False)) > 1
    except ValueError:
        return False


def checked_delimiter(delimiter: str, decimal: str = "") -> str:
    """What is between cells, by its name or as it is."""
    names = {"tab": "\t", "\\t": "\t", "space": " ", "comma": ",", "semicolon": ";"}
    mark = names.get(delimiter, delimiter) if isinstance(delimiter, str) else delimiter
    if not isinstance(mark, str) or len(mark) != 1 or mark in '"\n\r':
        raise ValueError(
            f"The 'delimiter' is {shown(delimiter)}; it must be one character: give ',', ';', 'tab' or 'space'."
        )
    if mark == decimal:
        raise ValueError(f"The 'delimiter' and the 'decimal' mark are both {mark!r}; they must differ: give another.")
    return mark


def found_delimiter(lines: list[tuple[int, str]], decimal: str = "") -> str:
    """The mark that cuts the first rows into as many cells each, more than one; else white space."""
    first = [line for _, line in islice(((k, line) for k, line in lines if line.strip()), LOOKED_AT)]
    marks = [mark for mark in DELIMITERS if mark != decimal]
    for mark in marks:
        widths = {len(row) for row in csv.reader(first, delimiter=mark, skipinitialspace=True)}
        if len(widths) == 1 and widths.pop() > 1:
            return mark
    # A row may be broken: it is refused by name, where the rows that are right are cut by the same mark.
    counts = {mark: sum(mark in line for line in first) for mark in marks}
    best = max(counts, key=lambda mark: counts[mark])
    return best if 2 * counts[best] >= len(first) else " "


def split_rows(
    lines: Iterable[tuple[int, str]], mark: str, file: str, whole: bool = True
) -> Iterator[tuple[int, list[str]]]:
    """The last line, and the cells, of each row; no cells where a line is empty.

    Parameters
    ----------
    lines : with their numbers, without comments; one that may be a row is refused
    mark : between cells
    file : what it is called in messages
    whole : whether nothing follows; otherwise a row whose quotes are open at the end is left out
    """
    place, line = 0, ""

    def given() -> Iterator[str]:
        nonlocal place, line
        for place, line in lines:
            if may_be_row(line):
                raise _doubt(place, file)
            yield line + "\n"

    try:
        for row in csv.reader(given(), delimiter=mark, skipinitialspace=True, strict=True):
            cells = [cell.strip() for cell in row]
            if mark == " ":
                cells = [cell for cell in cells if cell] or cells[:1]
            # An empty cell in quotes is one; an empty line ends a series.
            yield place, cells if any(cells) or len(cells) > 1 or '"' in line else []
    except csv.Error as error:
        if whole or str(error) != "unexpected end of data":
            raise ValueError(f"Line {place} of the {file} is no row of a table ({error}): check its quotes.") from None


def check_width(cells: list[str], width: int, line: int, file: str) -> None:
    """Refuse a row that is not as wide as the first."""
    if len(cells) != width:
        raise ValueError(
            f"Line {line} of the {file} has {len(cells)} cells and the first row {width}; rows must be as long as each "
            "other: complete the row, put cells that have the delimiter in quotes, or give another 'delimiter'."
        )


def _rows(lines: list[tuple[int, str]], mark: str, file: str) -> tuple[list[list[str]], list[int], list[int]]:
    """Cells of each row, and its line and part; all rows must be as wide as the first."""
    rows: list[list[str]] = []
    numbers: list[int] = []
    parts: list[int] = []
    part = 0
    for place, cells in split_rows(lines, mark, file):
        if not cells:
            part += bool(rows)
            continue
        check_width(cells, len(rows[0]) if rows else len(cells), place, file)
        rows.append(cells)
        numbers.append(place)
        parts.append(part)
    return rows, numbers, parts


def _with_names(
    file: str, rows: list[list[str]], lines: list[int], parts: list[int], header: bool | None, asked: list[str]
) -> CellTable:
    first = rows[0]
    doubtful = False
    numbered = list(map(str, range(len(first))))
    if header is None and first == numbered and any(name in first for name in asked):
        raise ValueError(
            f"The first row of the {file} is {', '.join(first[:5])}, which may be names or data, and a column is asked "
            "for by such a number; it must be clear which: say header=True or header=False."
        )
    # Other numbers are cells that happen to be like the number of a column.
    if header is None and not (header := any(name in first and name not in numbered for name in asked)):
        header = _are_names(first, rows[1:LOOKED_AT])
        doubtful = header and not any(map(_are_values, zip(*rows[1:LOOKED_AT], strict=True)))
    # Files that were joined have their names again, where one ends and the next begins.
    again = np.array([header and row == first for row in rows])
    if not len(rows) > again.sum():
        raise ValueError(f"The {file} has names and no rows: give a table with a row for each observation.")
    if again.sum() > 1:
        tell(
            f"The names of the columns of the {file} come again, first in line {lines[np.flatnonzero(again)[1]]}: they "
            "are no data."
        )
    columns: list[Any] = list(zip(*(row for row, name in zip(rows, again, strict=True) if not name), strict=True))
    names, place = tuple(first) if header else (), np.array(parts) + again.cumsum()
    return CellTable(file, names, columns, np.array(lines)[~again], place[~again], doubtful)


def _are_names(first: list[str], rows: list[list[str]]) -> bool:
    below = [set(column) for column in zip(*rows, strict=True)] or [set()] * len(first)
    return bool(rows) and all(
        cell and not is_value(cell) and cell not in column for cell, column in zip(first, below, strict=True)
    )


def _are_values(column: Sequence[str]) -> bool:
    """Whether all cells of a column that are not missing are numbers or times, so that a word above them is a name."""
    known = [cell for cell in column if not is_gap(cell, set(NO_NUMBER))]
    return bool(known) and all(map(is_value, known))


def is_value(cell: str) -> bool:
    """Whether a cell is a number or a time, which no name is."""
    return _number(cell, ",") is not None or _TIME.match(cell) is not None


_TIME = re.compile(r"\d{1,4}[./-]\d{1,2}[./-]\d{1,4}|\d{1,2}:\d\d")


def _read_parquet(path: str, file: str) -> CellTable:
    import pandas as pd

    try:
        frame = pd.read_parquet(BytesIO(read_bytes(path)) if is_channel(path) else path)
    except ImportError:
        raise ImportError(f"To read {path!r} pyarrow must be installed: pip install 'decisional[parquet]'.") from None
    except FileNotFoundError:
        raise FileNotFoundError(f"The 'path' {path!r} does not exist: check it.") from None
    except Exception as error:  # whatever a damaged file makes of the reader
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise ValueError(f"The {file} is no parquet table ({reason}): check it.") from None
    if frame.index.name is not None or frame.index.nlevels > 1:
        frame = frame.reset_index()
    columns = [_cells(frame.iloc[:, k]) for k in range(frame.shape[1])]
    n = len(frame)
    if not frame.size:
        raise ValueError(f"The {file} has no rows: give a table with a row for each observation.")
    return CellTable(file, tuple(map(str, frame.columns)), columns, np.arange(1, n + 1), np.zeros(n, np.int64))


def _cells(column: Any) -> Any:
    """Numbers as an array, all else as text or None."""
    if column.dtype.kind in "biuf" and not column.isna().any():
        return np.asarray(column)
    return [None if cell is None or cell != cell else str(cell) for cell in column.tolist()]


def series_of(
    table: CellTable,
    column: Column | None,
    kind: str | None,
    by: Columns | None = None,
    time: Column | None = None,
    step: Any = None,
    missing: Iterable[str] = (),
    decimal: str = ".",
) -> list[Any]:
    """A column as pandas Series: one for each group, each stretch without a jump in time, each part of the file.

    Parameters
    ----------
    column : name or number; by default the only one (of numbers, for a signal)
    kind : "signal" for numbers, "symbols" for text, None for numbers where there is nothing else
    by : columns whose values tell the groups, each of which is a series of its own
    time : column of times, which order the rows
    step : between rows; times further apart than 1.5 steps are a gap. By default the median, where that is regular
    missing : cells that stand for a missing value, besides empty ones
    decimal : mark in numbers

    Returns
    -------
    list of pandas.Series : their index has the group, and the time or the row, from 0, of the table
    """
    import pandas as pd

    refuse_step(step, time)
    missing = [missing] if isinstance(missing, str) else list(missing)
    keys = [by] if isinstance(by, (int, str)) else list(by or ())
    places = [table.place(key, "by") for key in keys]
    at = None if time is None else table.place(time, "time")
    place = value_column(table, column, kind == "signal", {*places, at}, missing, decimal)
    numbers = kind == "signal" or (kind is None and table.is_numeric(place, missing, decimal))
    values = table.numbers(place, missing, decimal) if numbers else table.symbols(place, missing)
    if kind is not None:
        _check_repeats(table, place, values, numbers)
    if table.doubtful:
        tell_names(table)
    frame = pd.DataFrame({"value": values, "part": table.parts, "row": np.arange(len(table))})
    for k, key in enumerate(places):
        cells = table.symbols(key)
        empty = next((row for row, cell in enumerate(cells) if cell is None), None)
        if empty is not None:
            raise ValueError(
                f"Line {table.lines[empty]} of the {table.file} is empty in the column {table.name(key)!r}, which "
                "tells the group of a row: complete it, or leave the row out."
            )
        frame[f"by{k}"] = cells
    frame["time"] = frame["row"] if at is None else table.times(at)
    groups = [f"by{k}" for k in range(len(places))]
    if at is not None:
        frame = _in_order(table, at, frame, groups)
    elif groups:
        frame = frame.sort_values([*groups, "row"], kind="stable")
    same = frame[[*groups, "part"]]
    cut = same.ne(same.shift()).any(axis=1).to_numpy(copy=True)
    if at is not None:
        cut |= _jumps(table, at, frame["time"], cut, step)
    names = [*(table.name(key) for key in places), None if at is None else table.name(at)]
    index = pd.Index(frame["time"]).rename(names[-1])
    if groups:
        index = pd.MultiIndex.from_arrays([*(frame[group] for group in groups), frame["time"]], names=names)
    whole = pd.Series(frame["value"].to_numpy(), index=index, name=table.name(place))
    starts = [*np.flatnonzero(cut).tolist(), len(whole)]
    return [whole.iloc[a:b] for a, b in pairwise(starts)]


def tell_names(table: CellTable) -> None:
    """Tell that the first row was taken for names."""
    tell(
        f"The first row of the {table.file} is taken for the names of its columns ({', '.join(table.names[:5])}): say "
        "header=False if it is data."
    )


def value_column(
    table: CellTable, column: Column | None, numbers: bool, others: set[int | None], missing: list[str], decimal: str
) -> int:
    """Where the values are: by default in the only column (of numbers) that is left."""
    if column is not None:
        return table.place(column)
    left = [place for place in range(len(table.columns)) if place not in others]
    found = [place for place in left if table.is_numeric(place, missing, decimal)] if numbers else left
    if len(found) == 1 or len(left) == 1:
        return found[0] if found else left[0]
    listed = ", ".join(repr(table.name(place)) for place in found[:20]) or "none"
    what = " of numbers" if numbers else ""
    raise ValueError(
        f"The {table.file} has {len(found)} columns{what} ({listed}); a series is one of them: choose it with 'column'."
    )


def _check_repeats(table: CellTable, place: int, values: NDArray[Any], numbers: bool) -> None:
    """Refuse symbols that never come again, such as times and measurements; tell where there is one value only."""
    known = [value for value in values.tolist() if value is not None and value == value]
    n, different = len(known), len(set(known))
    if n < SHORT:
        return
    measured = 2 * different > n and any("." in cell for cell in map(str, known)) and table.is_numeric(place)
    if not numbers and (different == n or measured):
        raise ValueError(
            f"The column {table.name(place)!r} of the {table.file} has {different:,} different values in {n:,} rows; a "
            "symbol must come again to be counted: choose another column, read numbers as a signal, or bin them first."
        )
    if not numbers and different > SHORT and any("." in cell for cell in known) and table.is_numeric(place):
        tell(
            f"The column {table.name(place)!r} of the {table.file} is of numbers, whose {different:,} different values "
            "are symbols here: read them as a signal, or bin them first, if their size matters."
        )
    if different == 1:
        tell(
            f"The column {table.name(place)!r} of the {table.file} has {known[0]!r} in all of its {n:,} rows with a "
            "value: there is nothing to tell apart; check that this column is meant."
        )


def _in_order(table: CellTable, at: int, frame: Any, groups: list[str]) -> Any:
    """Rows in the order of groups and times; what was moved, or is twice there, is told."""
    frame["part"] = 0
    ordered = frame.sort_values([*groups, "time"], kind="stable")
    by_group = frame.groupby(groups, sort=False)["time"] if groups else frame["time"]
    moved = int((by_group.diff() < by_group.diff().mul(0)).sum()) if len(frame) > 1 else 0
    name = table.name(at)
    if moved:
        tell(f"The times {name!r} of the {table.file} go back {moved:,} times: the rows were put in their order.")
    twice = int(ordered.duplicated([*groups, "time"]).sum())
    if twice:
        tell(
            f"The times {name!r} of the {table.file} repeat in {twice:,} rows: these stay in the order of the file; "
            "give 'by' if they belong to different series."
        )
    return ordered


def _jumps(table: CellTable, at: int, times: Any, cut: NDArray[Any], step: Any) -> NDArray[Any]:
    """Before which rows time jumps: by more than 1.5 steps."""
    ahead = times.diff().mask(cut)
    steps = ahead[ahead > ahead * 0]
    if step is None:
        if not len(steps):
            return np.zeros(len(times), bool)
        usual = steps.median()
        far = (ahead > usual * JUMP).to_numpy()
        if far.sum() > IRREGULAR * len(steps):
            tell(
                f"The times {table.name(at)!r} of the {table.file} are irregular (steps from {_said(steps.min())} to "
                f"{_said(steps.max())}): no jump is taken for a gap; give 'step' to say how long a step is."
            )
            return np.zeros(len(times), bool)
    else:
        usual = checked_step(step, ahead.dtype.kind == "m")
        far = (ahead > usual * JUMP).to_numpy()
    if far.any():
        n = int(far.sum())
        jumps, what = ("once", "this is a gap") if n == 1 else (f"{n:,} times", "these are gaps")
        tell(
            f"The times {table.name(at)!r} of the {table.file} jump {jumps} by more than {JUMP} steps of "
            f"{_said(usual)}: {what}, and what is before and after are series of their own."
        )
    return np.asarray(far)


def refuse_step(step: Any, time: Column | None) -> None:
    """Refuse a step where there are no times: it would have no effect."""
    if step is not None and time is None:
        raise ValueError("The 'step' is for 'time', which is not given: give both, or none.")


def checked_step(step: Any, dates: bool) -> Any:
    """The time between two rows: a Timedelta between dates, else a number."""
    import pandas as pd

    # pandas gives up the small letter for days.
    step = re.sub(r"(?<=\d)(\s*)d\b", r"\1D", step) if isinstance(step, str) else step
    try:
        usual = pd.Timedelta(step) if dates else float(step)
    except (ValueError, TypeError):
        usual = None
    if usual is None or not usual > usual * 0:
        raise ValueError(
            f"The 'step' is {shown(step)}; it must be the time between two rows, above 0: give such as '1h' or '1d' "
            "for dates and a number for numbers."
        )
    return usual


def _said(length: Any) -> str:
    return f"{length:g}" if isinstance(length, (int, float)) else str(length).removeprefix("0 days ")


def tell(sentence: str) -> None:
    """Tell what is doubtful, or was moved or cut."""
    warnings.warn(sentence, stacklevel=2)
