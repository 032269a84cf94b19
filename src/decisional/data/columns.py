"""Columns of numbers and of cells in text: tables with or without names in their first row."""

from __future__ import annotations

import csv
import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..support.files import read_text

MISSING = {"", "na", "n/a", "nan", "null", "none", "?"}


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
    first = rows[0]
    headed = all(_number(cell) is None for cell in first) and any(cell.lower() not in MISSING for cell in first)
    names = first if headed else [str(place) for place in range(width)]
    columns = list(zip(*rows[headed:], strict=True)) or [()] * width
    place = _place(path, column, names, columns)
    values = [_number(cell) for cell in columns[place]]
    for number, (cell, value) in enumerate(zip(columns[place], values, strict=True), start=1 + headed):
        if value is None:
            raise ValueError(
                f"Row {number} of {path!r} has {cell!r} in column {names[place]!r}, which is no number: correct it, "
                "leave it empty where a value is missing, or choose another 'column'."
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
    values = [_number(cell) for cell in cells]
    return None not in values and any(value == value for value in values)


def _number(cell: str) -> float | None:
    """The number in a cell, NaN = missing, None = something else."""
    if cell.lower() in MISSING:
        return float("nan")
    try:
        value = float(cell)
    except ValueError:
        return None
    return value if abs(value) < float("inf") else None
