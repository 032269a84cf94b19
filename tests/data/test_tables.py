"""Tables: delimiters, names, gaps, groups and times; what is doubtful is told or refused."""

import bz2
import gzip
import lzma
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import decisional as ds
from decisional.data.tables import read_table, series_of


def written(folder: Path, text: str, name: str = "table.csv") -> Path:
    path = folder / name
    path.write_bytes(text.encode())
    return path


def column(path: Path, name: Any = None, numbers: bool = False, **how: Any) -> list[Any]:
    reading = {key: how.pop(key) for key in ("delimiter", "header") if key in how}
    table = read_table(path, named=[name, how.get("by"), how.get("time")], **reading)
    return series_of(table, name, "signal" if numbers else "symbols", **how)


def values(series: Any) -> list[Any]:
    return [None if value is None or value != value else value for value in series.tolist()]


@pytest.mark.parametrize("mark", [",", ";", "\t", "|", ", "])
def test_any_delimiter(tmp_path: Path, mark: str) -> None:
    rows = ["time,sky,degrees", "2024-01-01 00:00:00,light rain,3.5", "2024-01-02 00:00:00,dry,", "x,dry,1"]
    path = written(tmp_path, "\n".join(row.replace(",", mark) for row in rows) + "\n")
    assert values(column(path, "sky")[0]) == ["light rain", "dry", "dry"]
    assert values(column(path, "degrees", True)[0]) == [3.5, None, 1.0]


def test_white_space(tmp_path: Path) -> None:
    path = written(tmp_path, "a   b\n1  2\n3 4\n")
    assert values(column(path, "b", True)[0]) == [2, 4]


def test_quotes(tmp_path: Path) -> None:
    path = written(tmp_path, 'place,sky\n"a, b",dry\n"say ""hi""",wet\n"two\nlines",dry\n')
    assert values(column(path, "place")[0]) == ["a, b", 'say "hi"', "two\nlines"]
    assert values(column(path, "sky")[0]) == ["dry", "wet", "dry"]


def test_the_clock_is_not_the_sky(tmp_path: Path) -> None:
    path = written(tmp_path, "2024-01-01 00:00:00,dry\n2024-01-02 00:00:00,wet\n")
    assert values(column(path, 1)[0]) == ["dry", "wet"]
    with pytest.raises(ValueError, match=r"no column 'sky': give a number from 0 to 1"):
        column(path, "sky")


def test_names_are_no_values(tmp_path: Path) -> None:
    path = written(tmp_path, "n,sky\n1,dry\n2,wet\n")
    assert values(column(path, 1)[0]) == ["dry", "wet"]
    assert values(column(path, "1")[0]) == ["dry", "wet"]
    assert values(column(path, -1, header=False)[0]) == ["sky", "dry", "wet"]


def test_doubtful_names_are_told(tmp_path: Path) -> None:
    path = written(tmp_path, "place,sky\nhere,dry\nthere,wet\n")
    with pytest.warns(UserWarning, match="first row .* is taken for the names"):
        assert values(column(path, 1)[0]) == ["dry", "wet"]
    assert values(column(path, "sky")[0]) == ["dry", "wet"]
    # Words among values are no reason to take another for a name; marks of what is missing are no words.
    mixed = written(tmp_path, "north\n2024-01-01\nsouth\nsouth\n2024-01-01\n")
    with pytest.warns(UserWarning, match="first row .* is taken for the names"):
        column(mixed, 0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert values(column(written(tmp_path, "north\n1\nNA\n2\n"), 0)[0]) == ["1", "NA", "2"]
    # A word that comes again below is no name.
    again = written(tmp_path, "here,dry\nthere,wet\nhere,dry\n")
    assert values(column(again, 1)[0]) == ["dry", "wet", "dry"]


def test_gaps(tmp_path: Path) -> None:
    path = written(tmp_path, "v,s\n1,a\n,\nNA,NA\n-9999,none\n2,b\n")
    assert values(column(path, "v", True, missing=["-9999"])[0]) == [1, None, None, None, 2]
    # NA and none are words like others among symbols.
    assert values(column(path, "s")[0]) == ["a", None, "NA", "none", "b"]
    assert values(column(path, "s", missing="none")[0]) == ["a", None, "NA", None, "b"]


def test_decimal_commas(tmp_path: Path) -> None:
    path = written(tmp_path, "a;b\n1,5;x\n-2,25;y\n")
    assert values(column(path, "a", True, decimal=",")[0]) == [1.5, -2.25]
    with pytest.raises(ValueError, match=r"Line 2 .* '1,5' .* decimal=','"):
        column(path, "a", True)


def test_comments_and_line_ends(tmp_path: Path) -> None:
    path = written(tmp_path, "# made by hand\r\nv\r\n1\r\n# later\r\n2#\r\n".replace("2#", "2"))
    assert values(column(path, "v", True)[0]) == [1, 2]
    marked = written(tmp_path, "v,s\n1,a#b\n2,c\n")
    assert values(column(marked, "s")[0]) == ["a#b", "c"]


def test_rows_that_may_be_comments_are_refused(tmp_path: Path) -> None:
    for text in ("v,s\n#1,a\n2,c\n", "v\n#1\n2\n", "#1,a\n2,c\n", '"a b"\n#1\n"c d"\n', "v,s\n1,a\n#but\n2,c\n"):
        with pytest.raises(ValueError, match="begins with '#' and may be a comment or a row"):
            column(written(tmp_path, text), 0)
    # Comments have a blank, or are above the first row and unlike it.
    for text in ('v,s\n# 1,a\n"#2",c\n', '#made by hand\nv,s\n"#2",c\n', '#why\nv\n"#2"\n'):
        assert values(column(written(tmp_path, text), "v")[0]) == ["#2"]


def test_numbers_of_columns_are_no_names(tmp_path: Path) -> None:
    """A cell of the first row may be like the number of the column that is asked for."""
    path = written(tmp_path, "5,1,a\n6,0,b\n7,1,c\n")
    assert values(column(path, "1")[0]) == ["1", "0", "1"]
    with pytest.raises(ValueError, match=r"may be names or data.* say header=True or header=False"):
        column(written(tmp_path, "0,1\n1,1\n"), "1")
    assert values(column(written(tmp_path, "0,1\n1,1\n"), "1", header=False)[0]) == ["1", "1"]
    assert values(column(written(tmp_path, "0,1\n1,1\n"), "1", header=True)[0]) == ["1"]


def test_quotes_around_nothing_are_a_cell(tmp_path: Path) -> None:
    found = column(written(tmp_path, 'v\na\n""\nb\n\nc\n'), "v")
    assert [values(series) for series in found] == [["a", None, "b"], ["c"]]


def test_decimal_commas_are_not_between_cells(tmp_path: Path) -> None:
    path = written(tmp_path, "1,5\n2,25\n")
    assert ds.read(path, "signal", decimal=",").tolist() == [1.5, 2.25]
    with pytest.raises(ValueError, match="'delimiter' and the 'decimal' mark are both ','"):
        ds.read(path, "signal", decimal=",", delimiter=",")


def test_rows_without_times_have_no_name_of_times(tmp_path: Path) -> None:
    assert ds.read(written(tmp_path, "v,s\n1,a\n2,b\n"), column="v").index.name is None


def test_empty_lines_end_a_series(tmp_path: Path) -> None:
    path = written(tmp_path, "v\n1\n2\n\n\n5\n6\n\n")
    assert [values(part) for part in column(path, 0, True)] == [[1, 2], [5, 6]]


@pytest.mark.parametrize(
    ("content", "place", "expected"),
    [
        ("0\n1\n1\n", 0, [["0", "1", "1"]]),
        ("1 a\n2 b\n\n3 c\n", 1, [["a", "b"], ["c"]]),
        ("1 a\n2 b\n", -1, [["a", "b"]]),
        ("time,state\n1,a\n2,b\n", "state", [["a", "b"]]),
    ],
)
def test_columns_of_any_text(tmp_path: Path, content: str, place: Any, expected: list[Any]) -> None:
    assert [values(part) for part in column(written(tmp_path, content, "file.txt"), place)] == expected


@pytest.mark.parametrize("packed", [gzip.compress, bz2.compress, lzma.compress])
def test_compressed(tmp_path: Path, packed: Any) -> None:
    path = tmp_path / "table.csv.gz"
    path.write_bytes(packed(b"v,s\n1,a\n2,b\n"))
    assert values(column(path, "s")[0]) == ["a", "b"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
def test_encodings(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "table.csv"
    mark = "\ufeff" if encoding in ("utf-16-le", "utf-16-be") else ""
    path.write_bytes((mark + "v,ciel\n1,été\n2,gris\n").encode(encoding))
    assert values(column(path, "ciel")[0]) == ["été", "gris"]


def test_parquet(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    path = tmp_path / "table.parquet"
    frame = pd.DataFrame({"t": pd.date_range("2024-01-01", periods=4), "s": ["a", None, "b", "a"], "v": [1.0, 2, 3, 4]})
    frame.to_parquet(path)
    assert values(column(path, "s")[0]) == ["a", None, "b", "a"]
    found = column(path, "v", True, time="t")[0]
    assert values(found) == [1, 2, 3, 4]
    assert list(found.index) == list(frame["t"])
    path.write_bytes(b"PAR1 nothing")
    with pytest.raises(ValueError, match="is no parquet table"):
        column(path, "s")


@pytest.mark.parametrize(
    ("text", "how", "said"),
    [
        ("a,b\n1,2\n3\n", {"name": "a"}, "Line 3 .* has 1 cells and the first row 2"),
        ("a,b\n1,2\n3,4,5\n", {"name": "a"}, "Line 3 .* has 3 cells and the first row 2"),
        ("temp,status\n1,ok\n", {"name": "statsu"}, "no column 'statsu': did you mean 'status'"),
        ("temp,status\n1,ok\n", {"name": 2}, "no column 2: choose one of 'temp', 'status', or a number from 0 to 1"),
        ("a,a\n1,2\n", {"name": "a"}, "is the name of 2 columns"),
        ("a,b\n1,x\n2,y\n", {"name": "b", "numbers": True}, "Line 2 .* has 'x' in the column 'b'"),
        ("a,b\n1,2\n2,3\n", {"numbers": True}, "2 columns of numbers"),
        ("", {"name": 0}, "has no rows"),
        ("# only words\n", {"name": 0}, "has no rows"),
        ("a,b\n", {"name": "a"}, "has names and no rows"),
        ('a,b\n"1,2\n', {"name": 0}, "check its quotes"),
        ("a,b\n1,2\n", {"name": 0, "delimiter": ",,"}, "The 'delimiter' is ',,'"),
        ("u,v\n1,2\n,3\n", {"name": "v", "by": "u"}, "Line 3 .* is empty in the column 'u'"),
        ("t,v\n1,2\n,3\n", {"name": "v", "time": "t"}, "Line 3 .* has no time"),
        ("t,v\n1,2\n2024-01-01x,3\n", {"name": "v", "time": "t"}, "which is no time"),
        ("t,v\n01/02/2024,2\n03/04/2024,3\n", {"name": "v", "time": "t"}, "the day or the month first"),
        ("t,v\n1,2\n2,3\n", {"name": "v", "time": "t", "step": "often"}, "The 'step' is 'often'"),
        ("t,v\n1,2\n2,3\n", {"name": "v", "time": "t", "step": 0}, "The 'step' is 0"),
        ("t,v\n1,2\n2,3\n", {"name": "v", "time": "tt"}, "no column 'tt' for 'time': did you mean 't'"),
        ("t,v\n2024-01-01T01:00Z,2\n2024-01-01T02:00,3\n", {"name": "v", "time": "t"}, "Line 3 .* without a zone"),
        ("t,v\n2024-01-01 00:00,2\n2024-01-01 02-05,3\n", {"name": "v", "time": "t"}, "Line 2 .* without a zone"),
        ("t,v\n1,2\n2,3\n", {"name": "v", "step": 1}, "The 'step' is for 'time', which is not given"),
        ("t,v\n1,2\nNA,3\n", {"name": "v", "time": "t"}, "Line 3 .* 'NA' .* is no time"),
        ("temp,status\n1,ok\n", {"name": "STATUS"}, "no column 'STATUS': did you mean 'status'"),
    ],
)
def test_refusals(tmp_path: Path, text: str, how: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        column(written(tmp_path, text), **how)


def test_groups(tmp_path: Path) -> None:
    path = written(tmp_path, "user,day,act\nu2,1,b\nu1,1,a\nu2,1,d\nu1,2,c\nu1,2,e\n")
    one, two = column(path, "act", by="user")
    assert (values(one), values(two)) == (["a", "c", "e"], ["b", "d"])
    assert one.index.tolist() == [("u1", 1), ("u1", 3), ("u1", 4)]
    assert [values(part) for part in column(path, "act", by=["user", "day"])] == [["a"], ["c", "e"], ["b", "d"]]


def test_times_are_put_in_order(tmp_path: Path) -> None:
    path = written(tmp_path, "t,v\n2024-01-03,3\n2024-01-01,1\n2024-01-02,2\n")
    with pytest.warns(UserWarning, match="'t' .* go back 1 times"):
        (found,) = column(path, "v", True, time="t")
    assert values(found) == [1, 2, 3]
    assert found.index.tolist() == list(pd.date_range("2024-01-01", periods=3))


def test_times_that_repeat_are_told(tmp_path: Path) -> None:
    path = written(tmp_path, "t,v\n1,3\n1,1\n2,2\n")
    with pytest.warns(UserWarning, match="repeat in 1 rows"):
        assert values(column(path, "v", True, time="t")[0]) == [3, 1, 2]


def test_jumps_are_gaps(tmp_path: Path) -> None:
    hours = [0, 1, 2, 3, 4, 5, 9, 10, 11, 12, 13, 14, 15, 16, 17]
    path = written(tmp_path, "t,v\n" + "".join(f"2024-01-01 {h:02}:00:00,{h}\n" for h in hours))
    with pytest.warns(UserWarning, match="jump once by more than 1.5 steps of 01:00:00"):
        assert [values(part) for part in column(path, "v", True, time="t")] == [hours[:6], hours[6:]]
    assert [values(part) for part in column(path, "v", True, time="t", step="5h")] == [hours]
    assert [values(part) for part in column(path, "v", True, time="t", step="1d")] == [hours]


def test_irregular_times_are_told(tmp_path: Path) -> None:
    path = written(tmp_path, "t,v\n" + "".join(f"{k * k},{k}\n" for k in range(10)))
    with pytest.warns(UserWarning, match="are irregular"):
        assert len(column(path, "v", True, time="t")) == 1
    with pytest.warns(UserWarning, match="jump"):
        assert len(column(path, "v", True, time="t", step=5)) == 6


def test_time_zones(tmp_path: Path) -> None:
    path = written(tmp_path, "t,v\n2024-01-01T01:00:00+01:00,1\n2024-01-01T01:00:00Z,2\n")
    (found,) = column(path, "v", True, time="t")
    assert found.index.tolist() == list(pd.to_datetime(["2024-01-01 00:00Z", "2024-01-01 01:00Z"]))


def test_days_first(tmp_path: Path) -> None:
    for text in ("01/02/2024,1\n13/02/2024,2\n", "01.02.2024,1\n02.02.2024,2\n"):
        found = column(written(tmp_path, "t,v\n" + text), "v", True, time="t")[0]
        assert found.index[0] == pd.Timestamp(2024, 2, 1)
    found = column(written(tmp_path, "t,v\n01/02/2024,1\n01/13/2024,2\n"), "v", True, time="t")[0]
    assert found.index[0] == pd.Timestamp(2024, 1, 2)


CELLS = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp", "Zs"]), max_size=6)


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(CELLS, CELLS, CELLS), min_size=1, max_size=8), st.sampled_from([",", ";", "\t", "|"]))
def test_what_is_written_is_read(tmp_path_factory: Any, rows: list[tuple[str, ...]], mark: str) -> None:
    import csv

    path = tmp_path_factory.mktemp("tables") / "table.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, delimiter=mark, quoting=csv.QUOTE_ALL)
        writer.writerows([("first", "second", "third"), *rows])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for k, name in enumerate(("first", "second", "third")):
            found = np.concatenate([part.to_numpy() for part in column(path, name, delimiter=mark, header=True)])
            assert [None if cell != cell else cell for cell in found.tolist()] == [row[k] or None for row in rows]


def test_columns_that_are_no_symbols(tmp_path: Path) -> None:
    rows = "".join(f"2024-01-01 00:00:{k:02},{k / 7:.2f},C,{k % 2}\n" for k in range(40))
    path = written(tmp_path, "time,degrees,unit,on\n" + rows)
    for name in ("time", "degrees"):
        with pytest.raises(ValueError, match=f"The column '{name}' .* has 40 different values in 40 rows"):
            column(path, name)
    assert len(column(path, "degrees", True)[0]) == 40
    with pytest.warns(UserWarning, match="The column 'unit' .* has 'C' in all of its 40 rows"):
        column(path, "unit")
    assert values(column(path, "on")[0]) == [str(k % 2) for k in range(40)]
