"""Series of symbols in text files."""

import mmap
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ..support.files import file_name, read_text
from . import stores

_EMPTY_FIELD = re.compile(r"^\s*,|,\s*,")
# White space within a line; what else is no symbol of one byte; bytes that are counted at once.
_BLANKS = b"\t\v\f\r\x1c\x1d\x1e\x1f "
_REFUSED = [0, ord(","), *range(128, 256)]
_BLOCK = 1 << 22
# Lines, and comments, that are noted one by one.
_MOST_LINES = 1000


def read_symbols(path: str | os.PathLike[str], whole: bool = False) -> list[str] | list[list[str]]:
    """Read series of symbols from a text file.

    Each line that is neither empty nor a comment (first character ``#``) is one series. In lines without
    white space or comma the symbols are the characters, otherwise the words between white space or commas;
    a file has lines of one kind.

    Parameters
    ----------
    path : str or path
        A text file, or ``"-"`` for standard input.
    whole : bool
        Whether lines are whole strings, so that an empty line is an empty string.

    Returns
    -------
    list of str, or list of lists of str
        One item per series: a ``str`` of characters, which costs no more memory than the file, or a list of
        words. `decisional.observe.series` takes the whole list, with ``sequences=True``.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> folder = tempfile.TemporaryDirectory()
    >>> file = pathlib.Path(folder.name) / "symbols.txt"
    >>> file.write_text("# two series\\n0110\\n10111\\n")
    24
    >>> read_symbols(file)
    ['0110', '10111']
    >>> file.write_text("up, down, up\\n")
    13
    >>> read_symbols(file)
    [['up', 'down', 'up']]
    >>> folder.cleanup()
    """
    name, lines = file_name(path), read_text(path).split("\n")
    # What is after the last line end is no line if nothing is there.
    series = _by_line(lines if lines[-1] else lines[:-1], name, whole)
    if not any(series):
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
    comments. The parts are the lines, or, where there are more than 1000, what lies between comments.

    Parameters
    ----------
    path : a text file whose symbols are characters of one byte

    Returns
    -------
    MappedText, or None for any other file, which `read_symbols` reads or refuses. Cost: two passes over the file.
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


def _by_line(lines: Iterable[str], name: str, whole: bool) -> list[str] | list[list[str]]:
    bare: dict[int, str] = {}
    split: dict[int, list[str]] = {}
    for number, line in enumerate(lines, start=1):
        if line.startswith("#"):
            continue
        # One split at most: a long line of characters is never cut into a list.
        head = line.split(None, 1) or [""] * whole
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
        split[number] = [line] if line else []
    return [split[number] for number in sorted(split) if split[number] or whole]
