"""Series of symbols, and tables, in text files."""

import csv
import mmap
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..support.files import file_name, read_text
from . import stores

_EMPTY_FIELD = re.compile(r"^\s*,|,\s*,")
# White space within a line; what else is no symbol of one byte; bytes that are counted at once.
_BLANKS = b"\t\v\f\r\x1c\x1d\x1e\x1f "
_REFUSED = [0, ord(","), *range(128, 256)]
_BLOCK = 1 << 22
# Lines, and comments, that are noted one by one.
_MOST_LINES = 1000
# Cells of a table of numbers where one is missing.
_MISSING = {"", "na", "n/a", "nan", "null", "none", "?"}


def read_symbols(path: str | os.PathLike[str], column: int | str | None = None) -> list[str] | list[list[str]]:
    """Series of symbols in a text file: its lines, or a column of a table down its rows, as `reading.read` tells.

    A series is a ``str`` of characters, which costs no more memory than the file, or a list of words; a file has lines
    of one kind.
    """
    name, lines = file_name(path), read_text(path).split("\n")
    series = _by_line(lines, name) if column is None else _by_column(lines, column, name)
    if not series:
        raise ValueError(f"The {name} has no symbols: give at least one line that is not a comment.")
    return series


@dataclass
class MappedText:
    """Series of one-byte symbols in a text file, which are read where and when they are needed.

    Attributes
    ----------
    parts : what `decisional.observe.series` takes, with ``missing=mapped.missing``
    missing : what stands between the series inside a part, or None: each part is one series
    n_symbols, n_series, longest : sizes, without what stands between the series
    """

    parts: list[Any] = field(default_factory=list)
    missing: str | None = None
    n_symbols: int = 0
    n_series: int = 0
    longest: int = 0


def map_symbols(path: str | os.PathLike[str]) -> MappedText | None:
    """Find the series in a text file of any size without keeping them, for observations that are read in slices.

    Lines are as for `read_symbols`: one series each, without the white space around them, and none where they are
    comments. The parts are the lines, or, where there are more than 1000, what lies between comments. None where
    symbols are not characters of one byte: `read_symbols` reads or refuses such a file. Cost: two passes over the file.
    """
    if os.fspath(path) == "-" or not Path(path).is_file() or not Path(path).stat().st_size:
        return None
    found, lines, comments, blanks, size = MappedText(), [], [], 0, Path(path).stat().st_size
    with Path(path).open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        begin = first = 3 if data[:3] == b"\xef\xbb\xbf" else 0
        while begin < size:
            end = data.find(b"\n", begin)
            end = size if end < 0 else end
            if data[begin] == ord("#"):
                comments.append((begin, end))
            else:
                a, b = _stripped(data, begin, end)
                blanks += end - begin - (b - a)
                found.n_series, found.n_symbols = found.n_series + (a < b), found.n_symbols + b - a
                found.longest = max(found.longest, b - a)
                if a < b and found.n_series <= _MOST_LINES:
                    lines.append((a, b))
            begin = end + 1
    source = stores.text(path)
    if not lines or len(comments) > _MOST_LINES or _has_others(source, first, comments, blanks):
        return None
    if found.n_series > _MOST_LINES:
        found.missing = "\n"
        edges = [first, *(place for comment in comments for place in comment), size]
        lines = list(zip(edges[::2], edges[1::2], strict=True))
    found.parts = [source[a:b] for a, b in lines if a < b]
    return found


def _stripped(data: mmap.mmap, begin: int, end: int) -> tuple[int, int]:
    while begin < end and data[begin] in _BLANKS:
        begin += 1
    while begin < end and data[end - 1] in _BLANKS:
        end -= 1
    return begin, end


def _has_others(source: Any, first: int, comments: list[tuple[int, int]], blanks: int) -> bool:
    """Whether there are words, or characters that are no single byte, outside comments."""
    count = np.zeros(256, np.int64)
    for sign, begin, end in [(1, first, len(source)), *((-1, *comment) for comment in comments)]:
        for place in range(begin, end, _BLOCK):
            part = np.asarray(source[place : min(place + _BLOCK, end)])
            count += sign * np.bincount(part, minlength=256)
    # White space that is not around a line is inside it.
    return bool(count[_REFUSED].any() or count[list(_BLANKS)].sum() > blanks)


def _words(line: str, number: int, name: str) -> list[str]:
    """Words of one line; a gap between two commas is refused, for dropping it would join its neighbours."""
    if "," in line:
        if _EMPTY_FIELD.search(line):
            raise ValueError(
                f"Line {number} of the {name} has an empty field before a comma: "
                "write a symbol there, or start a new line where data are missing."
            )
        line = line.replace(",", " ")
    return line.split()


def _by_line(lines: Iterable[str], name: str) -> list[str] | list[list[str]]:
    bare: dict[int, str] = {}
    split: dict[int, list[str]] = {}
    for number, line in enumerate(lines, start=1):
        # One split at most: a long line of characters is never cut into a list.
        head = [] if line.startswith("#") else line.split(None, 1)
        if len(head) == 1 and "," not in head[0]:
            bare[number] = head[0]
        elif head:
            split[number] = _words(line, number, name)
    if not split:
        return list(bare.values())
    for number, line in bare.items():
        # One word or several characters? Guessing wrong would invent symbols.
        if len(line) > 1:
            raise ValueError(
                f"Line {number} of the {name} has no space or comma but line {min(split)} has: "
                "separate its symbols too, or end it with a comma if it is a single one."
            )
        split[number] = [line]
    return [split[number] for number in sorted(split) if split[number]]


def _by_column(lines: Iterable[str], column: int | str, name: str) -> list[list[str]]:
    series: list[list[str]] = [[]]
    index = column if isinstance(column, int) else None
    for number, line in enumerate(lines, start=1):
        if line.startswith("#"):
            continue
        words = _words(line, number, name)
        if not words:
            series.append([])
        elif index is None:
            if column not in words:
                found = ", ".join(words[:20])
                raise ValueError(f"The {name} has no column {column!r}: choose one of {found}.")
            index = words.index(str(column))
        elif not -len(words) <= index < len(words):
            raise ValueError(
                f"Line {number} of the {name} has {len(words)} columns, so column {column!r} is missing: "
                "complete the line, or choose another column (they count from 0)."
            )
        else:
            series[-1].append(words[index])
    return [item for item in series if item]


def read_rows(path: str | os.PathLike[str]) -> list[list[str]]:
    """The cells of a table: between commas, semicolons or tabs, else between white space; without comments."""
    lines = [line for line in read_text(path).split("\n") if line.strip() and not line.startswith("#")]
    mark = next((mark for mark in ",;\t" if lines and mark in lines[0]), None)
    if mark is None:
        return [line.split() for line in lines]
    return [[cell.strip() for cell in row] for row in csv.reader(lines, delimiter=mark)]


def read_column(path: str | os.PathLike[str], column: int | str | None) -> tuple[NDArray[Any], str]:
    """A column of numbers, NaN where they are missing, and its name; by default the only numeric one."""
    rows = read_rows(path)
    if not rows:
        raise ValueError(f"The file {path!r} has no rows: give a table of numbers.")
    width = len(rows[0])
    for number, row in enumerate(rows, start=1):
        if len(row) != width:
            raise ValueError(
                f"Row {number} of {path!r} has {len(row)} columns and the first one {width}: complete the row."
            )
    headed = all(_number(cell) is None for cell in rows[0])
    names = rows[0] if headed else [str(place) for place in range(width)]
    columns = list(zip(*rows[headed:], strict=True)) or [()] * width
    place = _place(path, column, names, columns)
    values = list(map(_number, columns[place]))
    if None in values:
        at = values.index(None)
        raise ValueError(
            f"Row {at + 1 + headed} of {path!r} has {columns[place][at]!r} in column {names[place]!r}, which is no "
            "number: correct it, leave it empty where a value is missing, or choose another 'column'."
        )
    array = np.array(values, float)
    if not np.isfinite(array).any():
        raise ValueError(f"The column {names[place]!r} of {path!r} has no number: choose another 'column'.")
    return array, names[place]


def _place(path: Any, column: int | str | None, names: list[str], columns: list[tuple[str, ...]]) -> int:
    """Where a column is; by default the only one of numbers."""
    if isinstance(column, str) and column in names:
        return names.index(column)
    if isinstance(column, int) and -len(names) <= column < len(names):
        return column
    if column is not None:
        listed = ", ".join(names[:20])
        raise ValueError(f"The file {path!r} has no column {column!r}: choose one of {listed} (numbers count from 0).")
    numeric = [k for k, cells in enumerate(columns) if _are_numbers(cells)]
    if len(numeric) == 1 or len(names) == 1:
        return numeric[0] if numeric else 0
    found = ", ".join(names[k] for k in numeric) or "none"
    raise ValueError(f"The file {path!r} has {len(numeric)} columns of numbers ({found}): choose one with 'column'.")


def _are_numbers(cells: tuple[str, ...]) -> bool:
    """Whether all cells are numbers or missing, and one is there."""
    values = list(map(_number, cells))
    return None not in values and any(value == value for value in values)


def _number(cell: str) -> float | None:
    """The number in a cell, NaN = missing, None = something else."""
    if cell.lower() in _MISSING:
        return float("nan")
    try:
        value = float(cell)
    except ValueError:
        return None
    return value if abs(value) < float("inf") else None
