"""Rows that come one after the other mean what they mean in a whole table, however the text is cut."""

import csv
import io
import json
import warnings
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from decisional.data.row_stream import CUT, RowStream, StreamRows
from decisional.data.tables import read_table, series_of

CELL = st.text(st.sampled_from('ab ,;"\n#é'), max_size=4)


def taken(rows: RowStream, pieces: list[str], complete: bool = True) -> StreamRows:
    found = StreamRows.of([])
    for part in (*map(rows.take, pieces), rows.end(complete)):
        for mine, new in zip(found, part, strict=True):
            mine.extend(new)
    return found


def series(symbols: list[Any]) -> list[list[Any]]:
    """What is between cuts."""
    found: list[list[Any]] = [[]]
    for symbol in symbols:
        if symbol is CUT:
            found.append([])
        else:
            found[-1].append(symbol)
    return [part for part in found if part]


@settings(deadline=None, max_examples=150)
@given(st.lists(st.tuples(CELL, CELL), min_size=1, max_size=6), st.data())
def test_rows_are_those_of_the_table(tmp_path_factory: Any, cells: list[tuple[str, str]], data: st.DataObject) -> None:
    text = io.StringIO()
    writer = csv.writer(text, quoting=data.draw(st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL])))
    for row in [("first", "second"), *cells]:
        writer.writerow(row)
        text.write(data.draw(st.sampled_from(["", "", "\n", "\n\n", "# said\n"])))
    path = tmp_path_factory.mktemp("tables") / "table.csv"
    path.write_bytes(text.getvalue().encode())
    content = text.getvalue().replace("\r\n", "\n")
    try:
        table = read_table(path, ",", True)
    except ValueError as error:
        with pytest.raises(ValueError, match=r"no rows|check its quotes|cells and the first row|a comment or a row"):
            raise error
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = [
            [None if v != v else v for v in part] for part in series_of(table, "second", "symbols", missing="a")
        ]
        places = sorted(data.draw(st.lists(st.integers(0, len(content)), max_size=5)))
        pieces = [content[a:b] for a, b in zip([0, *places], [*places, None], strict=True)]
        found = taken(RowStream("table", "second", missing="a", delimiter=",", header=True), pieces)
    assert series(found.symbols) == expected


WEATHER = "time,sky\n1,dry\n2,wet\n5,dry\n4,\n4,wet\n"


def test_times_in_the_order_in_which_they_come() -> None:
    rows = RowStream("table", "sky", "time", 1)
    with pytest.warns(UserWarning, match="The times") as told:
        found = taken(rows, [WEATHER + "9,wet\n"])
    assert series(found.symbols) == [["dry", "wet"], ["dry", None, "wet"], ["wet"]]
    assert found.times == ["1", "2", "5", "5", "4", "4", "9", "9"]
    assert [str(item.message).split(" in line")[0] for item in told] == [
        "The times of the table jump at '5'",
        "The times of the table go back at '4'",
        "The times of the table repeat at '4'",
    ]
    with pytest.warns(UserWarning, match="go back"):
        assert CUT not in taken(RowStream("table", "sky", "time"), [WEATHER.replace("4,wet", "6,wet")]).symbols
    with pytest.warns(UserWarning, match="jump"):
        # Back by more than a step is a jump, too.
        assert len(series(taken(RowStream("table", 1, 0, 1, header=False), ["9,a\n1,b\n"]).symbols)) == 2


def test_dates_with_and_without_time_zones() -> None:
    text = "2024-01-01T00:00Z,a\n2024-01-01T02:00+01:00,b\n2024-01-01T04:00Z,c\n"
    for pieces in ([text], list(text)):
        with pytest.warns(UserWarning, match="jump"):
            found = taken(RowStream("table", 1, 0, "1h"), pieces)
        assert series(found.symbols) == [["a", "b"], ["c"]]
    found = taken(RowStream("table", 1, 0, "1d"), ["01.02.2024;a\n02.02.2024;b\n"])
    assert found.clocks[1] - found.clocks[0] == 86_400 * 10**9


def test_going_on_after_any_row() -> None:
    text = "time,sky\n1,dry\n2,wet\n\n3,dry\n7,wet\n8,dry\n"
    for time, step in ((None, None), ("time", 1)):
        lines = text.splitlines(keepends=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            whole = taken(RowStream("table", "sky", time, step), [text]).symbols
            for k in range(2, len(lines)):
                for again in ("", lines[0]):
                    first = RowStream("table", "sky", time, step)
                    before = taken(first, lines[:k])
                    place = json.loads(json.dumps(first.place(before)))
                    rest = taken(RowStream("table", "sky", time, step, place=place), [again, *lines[k:]])
                    assert before.symbols + rest.symbols == whole
    with pytest.raises(ValueError, match="not those that were followed before"):
        RowStream("table", "time", place=place)


@pytest.mark.parametrize(
    ("text", "column", "header", "symbols", "told"),
    [
        ("n,sky\n1,dry\n", "sky", None, ["dry"], False),
        ("n,sky\n1,dry\n", 1, None, ["dry"], True),
        ("n,sky\n1,dry\n", 1, False, ["sky", "dry"], False),
        ("here,dry\nthere,wet\n", 1, None, ["dry", "wet"], False),
        ("here,dry\nthere,wet\n", 1, True, ["wet"], False),
        ("1,new\n2,wet\n", 1, None, ["new", "wet"], False),
        ("dry\nwet\n", None, None, ["dry", "wet"], False),
        ("sky\nwet\n", None, None, ["wet"], True),
        ("n,sky\n1,dry\nn,sky\n1,wet\n", "sky", None, ["dry", CUT, "wet"], True),
    ],
)
def test_names(text: str, column: Any, header: Any, symbols: list[Any], told: bool) -> None:
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        rows = RowStream("table", column, header=header, known=["dry", "wet"])
        assert taken(rows, list(text)).symbols == symbols
    assert bool(found) is told


def test_names_that_come_again_are_no_data_of_a_table(tmp_path: Path) -> None:
    path = tmp_path / "joined.csv"
    path.write_text("n,sky\n1,dry\n2,wet\nn,sky\n1,dry\n")
    with pytest.warns(UserWarning, match="come again, first in line 4: they are no data"):
        table = read_table(path, named=["sky"])
    assert [part.tolist() for part in series_of(table, "sky", "symbols")] == [["dry", "wet"], ["dry"]]
    assert table.lines.tolist() == [2, 3, 5]


@pytest.mark.parametrize(
    ("text", "how", "good", "said"),
    [
        ("n,s\n1,a\n2,b\n3\n4,c\n", {"column": "s"}, 2, "Line 4 of the table has 1 cells and the first row 2"),
        ('n,s\n1,a\n2,"b\n', {"column": "s"}, 1, "Line 3 .* check its quotes"),
        ('n,s\n1,a\n2,"b"c\n3,d\n', {"column": "s"}, 1, "Line 3 .* check its quotes"),
        ("n,s\n1,a\n2,b\nx,c\n4,d\n", {"column": "s", "time": "n"}, 2, "Line 4 .* 'x' .* is no time"),
        ("n,s\n1,a\nNA,c\n4,d\n", {"column": "s", "time": "n"}, 1, "Line 3 .* 'NA' .* is no time"),
        ("n,s\n1,a\n,c\n4,d\n", {"column": "s", "time": "n"}, 1, "Line 3 .* has no time"),
        ("n,s\n1,a\n2024-01-01,b\n", {"column": "s", "time": "n"}, 1, "all must be of one kind"),
        ("n,s\n13/02/2024,a\n", {"column": "s", "time": "n"}, 0, "the day or the month first"),
        ("n,s\n1,a\n", {"column": "s", "time": "n", "step": "often"}, 0, "The 'step' is 'often'"),
        ("status,n\na,1\n", {"column": "Statsu"}, 0, "no column 'Statsu': did you mean 'status'"),
        ("s,n\na,1\n", {"column": "s", "time": "m"}, 0, "no column 'm' for 'time'"),
        ("s,n\na,1\n", {}, 0, "2 columns .* choose it with 'column'"),
    ],
)
def test_what_precedes_a_refusal_is_read(text: str, how: dict[str, Any], good: int, said: str) -> None:
    for pieces in ([text], list(text)):
        found = []
        with pytest.raises(ValueError, match=said):
            gather(RowStream("table", **how), pieces, found)
        assert found == ["a", "b"][:good]


def gather(rows: RowStream, pieces: list[str], found: list[Any]) -> None:
    for piece in pieces:
        found += rows.take(piece).symbols
    found += rows.end().symbols


def test_an_incomplete_line_may_be_left() -> None:
    for text in ("n,s\n1,a\n2,b", 'n,s\n1,a\n2,"b\n'):
        with pytest.warns(UserWarning, match="The last line of the table has no line end"):
            assert taken(RowStream("table", "s"), [text], complete=False).symbols == ["a"]
    assert taken(RowStream("table", "s"), ["n,s\n1,a\n2,b"]).symbols == ["a", "b"]
    with pytest.raises(ValueError, match="The 'step' is for 'time'"):
        RowStream("table", "s", step=1)
