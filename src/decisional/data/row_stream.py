"""A column of a table whose rows come one after the other: symbols, gaps and times, before the table has an end.

Cells mean what they mean in `tables`. Only what needs the whole table differs: the first row alone tells the delimiter
and whether it has names, rows stay in the order in which they come, and only with `step` a jump in time is a gap.
"""

from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from .tables import (
    JUMP,
    CellTable,
    Column,
    check_width,
    checked_delimiter,
    checked_step,
    found_delimiter,
    is_day_or_month,
    is_gap,
    is_value,
    may_be_row,
    refuse_step,
    split_rows,
    tell,
    tell_names,
    value_column,
)

# In place of a symbol where a series ends and another begins.
CUT = object()

NumberedCells = tuple[int, list[str]]


class StreamRows(NamedTuple):
    """Rows that came together.

    Attributes
    ----------
    symbols : of each row, None where it is missing; CUT between two series
    times : as they are written; none where they were not asked for
    clocks : the same as numbers
    """

    symbols: list[Any]
    times: list[str]
    clocks: list[float]

    @classmethod
    def of(cls, symbols: list[Any]) -> "StreamRows":
        """Symbols without times."""
        return cls(symbols, [], [])

    def part(self, begin: int, end: int | None = None) -> "StreamRows":
        """The rows from `begin` on."""
        return StreamRows(self.symbols[begin:end], self.times[begin:end], self.clocks[begin:end])

    def add(self, symbol: Any, time: str, clock: float) -> None:
        """Add a row."""
        self.symbols.append(symbol)
        self.times.append(time)
        self.clocks.append(clock)


class RowStream:
    """Reads a column from text that comes in pieces, however it is cut.

    Parameters
    ----------
    file : what it is called in messages
    column, time, step, missing, delimiter, header : as for `decisional.read`
    known : symbols of the column; a first row that has one of them there has no names
    place : dict, optional
        What `place` said when the rows before these were read: these go on, with or without the names again.

    Examples
    --------
    >>> rows = RowStream("table", "sky", known=["dry", "wet"])
    >>> rows.take('place,sky\\n"a, b",dry\\nc,').symbols, rows.take("\\nd,we").symbols, rows.end().symbols
    (['dry'], [None], ['we'])
    """

    def __init__(
        self,
        file: str,
        column: Column | None = None,
        time: Column | None = None,
        step: Any = None,
        missing: str | Iterable[str] = (),
        delimiter: str | None = None,
        header: bool | None = None,
        known: Collection[Any] = (),
        place: dict[str, Any] | None = None,
    ) -> None:
        refuse_step(step, time)
        self.file, self._time, self._step, self._header = file, time, step, header
        self._column, self._known = column, frozenset(map(str, known))
        self._gaps = {"", *([missing] if isinstance(missing, str) else missing)}
        self._mark = None if delimiter is None else checked_delimiter(delimiter)
        self._table: CellTable | None = None
        self._value = self._at = -1
        self._text, self._line, self._lines = "", 0, list[tuple[int, str]]()
        self._any = False
        # Whether the next row follows one, at which time, and what the times are.
        self._follows, self._clock = False, 0.0
        self._dates: bool | None = None
        self._usual: float | None = None
        self._error: ValueError | None = None
        self._told = set[str]()
        if place is not None:
            self._go_on(place, delimiter)

    def _go_on(self, place: dict[str, Any], delimiter: str | None) -> None:
        self._mark = place["delimiter"] if delimiter is None else self._mark
        self._set(place["names"], place["width"])
        if (self._value, self._at) != (place["column"], place["time"]):
            raise ValueError(
                f"The 'column' {self._column!r} and 'time' {self._time!r} are not those that were followed before: "
                "give the same columns, or start anew."
            )
        self._follows, self._clock, self._dates = place["follows"], place["clock"], place["dates"]

    def place(self, rows: StreamRows) -> dict[str, Any]:
        """What is to be known, as JSON, to go on after some rows that were read; none where there was no row yet."""
        if self._table is None or not rows.symbols:
            return {}
        return {
            "delimiter": self._mark,
            "names": list(self._table.names),
            "width": len(self._table.columns),
            "column": self._value,
            "time": self._at,
            "follows": rows.symbols[-1] is not CUT,
            "clock": rows.clocks[-1] if rows.clocks else 0.0,
            "dates": self._dates,
        }

    def take(self, text: str) -> StreamRows:
        """The rows that a piece of text completes."""
        *lines, self._text = (self._text + text).split("\n")
        return self._rows(lines, False)

    def end(self, complete: bool = True) -> StreamRows:
        """What is left at the end; where that may not be `complete`, a line without line end is told and not taken."""
        rest, self._text = self._text, ""
        if not complete and (rest or self._lines):
            tell(f"The last line of the {self.file} has no line end: it is left until it is complete.")
            rest = ""
        return self._rows([rest] if rest else [], complete)

    def _rows(self, lines: list[str], whole: bool) -> StreamRows:
        self._refuse()
        for line in lines:
            self._line += 1
            begun = self._mark is not None or any(earlier.strip() for _, earlier in self._lines)
            if not line.startswith("#") or (begun and may_be_row(line)):
                self._lines.append((self._line, line))
        if self._mark is None:
            first = next((line for line in self._lines if line[1].strip()), None)
            if first is None:
                return StreamRows.of([])
            self._mark = found_delimiter([first])
        rows = self._timed(self._found(whole))
        # What comes before a row that is refused is read first, wherever the text is cut.
        if not rows.symbols:
            self._refuse()
        return rows

    def _refuse(self) -> None:
        if self._error is not None:
            raise self._error

    def _found(self, whole: bool) -> list[NumberedCells]:
        """Lines and cells of the rows that are complete; no cells where a series ends."""
        assert self._mark is not None
        found: list[NumberedCells] = []
        done = 0
        try:
            for done, cells in split_rows(self._lines, self._mark, self.file, whole):
                if cells and self._table is None and self._begin(cells):
                    continue
                if self._is_data(cells, done):
                    self._any = True
                    self._follows |= self._at < 0
                    found.append((done, cells))
                elif self._follows and self._at < 0 and (self._any or not cells):
                    # Names at the beginning are those of a stream that goes on.
                    self._follows = False
                    found.append((done, []))
        except ValueError as error:
            self._error = error
        self._lines = [line for line in self._lines if line[0] > done]
        return found

    def _begin(self, cells: list[str]) -> bool:
        """Look at the first row; return whether it has the names."""
        asked = [name for name in (self._column, self._time) if isinstance(name, str)]
        header = self._header
        if header is None:
            header = any(name in cells for name in asked)
            doubtful = not header and all(cell and not is_value(cell) for cell in cells)
            if doubtful:
                self._set(cells, len(cells))
                header = cells[self._value] not in self._known
                if header and self._table is not None:
                    tell_names(self._table)
        self._set(cells if header else [], len(cells))
        return header

    def _set(self, names: list[str], width: int) -> None:
        """Note the columns, and find those that were asked for."""
        none = np.zeros(0, np.int64)
        self._table = table = CellTable(self.file, tuple(names), [()] * width, none, none)
        self._at = -1 if self._time is None else table.place(self._time, "time")
        self._value = value_column(table, self._column, False, {self._at}, [], ".")

    def _is_data(self, cells: list[str], line: int) -> bool:
        if not cells:
            return False
        assert self._table is not None
        check_width(cells, len(self._table.columns), line, self.file)
        again = tuple(cells) == self._table.names
        if again and self._any:
            self._tell(f"The names of the columns of the {self.file} come again in line {line}: they are no data.")
        return not again

    def _timed(self, found: list[NumberedCells]) -> StreamRows:
        """The symbols, with their times; a jump in time is a cut."""
        symbols = [self._symbol(cells) for _, cells in found]
        if self._at < 0 or not found:
            return StreamRows.of(symbols)
        rows = StreamRows([], [], [])
        for (line, cells), symbol, clock in zip(found, symbols, self._clocks(found), strict=False):
            time = cells[self._at]
            if self._follows and self._jumps(clock - self._clock, line, time):
                rows.add(CUT, time, clock)
            rows.add(symbol, time, clock)
            self._follows, self._clock = True, clock
        return rows

    def _symbol(self, cells: list[str]) -> Any:
        if not cells:
            return CUT
        return None if is_gap(cells[self._value], self._gaps) else cells[self._value]

    def _jumps(self, ahead: float, line: int, time: str) -> bool:
        """Whether a time is far from the one before; what is not in order is told."""
        where = f"of the {self.file} {{}} at {time!r} in line {line}"
        far = self._usual is not None and abs(ahead) > JUMP * self._usual
        if far:
            self._tell(
                f"The times {where.format('jump')}: what is before and after such a jump are series of their own."
            )
        elif ahead < 0:
            self._tell(f"The times {where.format('go back')}: rows are followed in the order in which they come.")
        elif ahead == 0:
            self._tell(f"The times {where.format('repeat')}: rows are followed in the order in which they come.")
        return far

    def _clocks(self, found: list[NumberedCells]) -> list[float]:
        """The times of rows as numbers, up to the first that has none."""
        try:
            return self._numbers(found)
        except ValueError as error:
            if len(found) == 1:
                self._error = error
                return []
        half = len(found) // 2
        first = self._clocks(found[:half])
        return first if len(first) < half else first + self._clocks(found[half:])

    def _numbers(self, found: list[NumberedCells]) -> list[float]:
        """Times as numbers: those of dates in nanoseconds."""
        assert self._table is not None
        cells = [row[self._at] for _, row in found]
        columns = [cells if place == self._at else () for place in range(len(self._table.columns))]
        times = replace(self._table, columns=columns, lines=np.array([line for line, _ in found])).times(self._at)
        dates = times.dtype.kind == "M"
        if dates and any(map(is_day_or_month, cells)):
            raise ValueError(
                f"Line {found[0][0]} of the {self.file} has the time {cells[0]!r}, which may have the day or the month "
                "first; dates must have one meaning: write them as 2024-01-31."
            )
        if self._dates is None:
            self._dates = dates
        if dates is not self._dates:
            raise ValueError(
                f"Line {found[0][0]} of the {self.file} has the time {cells[0]!r}, and times before it were "
                f"{'dates' if self._dates else 'numbers'}; all must be of one kind: correct it."
            )
        if self._step is not None and self._usual is None:
            step = checked_step(self._step, dates)
            self._usual = step.value if dates else step
        return list((times.as_unit("ns").asi8 if dates else times.to_numpy()).tolist())

    def _tell(self, sentence: str) -> None:
        """Tell each kind of thing once."""
        kind = sentence.partition(" at ")[0].partition(" in line ")[0]
        if kind not in self._told:
            self._told.add(kind)
            tell(sentence)
