"""Reading symbols from text, and writing files that are never half written."""

import os
import re
import secrets
import stat
import sys
from collections.abc import Iterable
from pathlib import Path

__all__ = ["read_bytes", "read_symbols", "read_text", "write_bytes", "write_text"]

_EMPTY_FIELD = re.compile(r"^\s*,|,\s*,")


def read_symbols(path: str | os.PathLike[str], column: int | str | None = None) -> list[str] | list[list[str]]:
    """Read series of symbols from a text file.

    Each line that is neither empty nor a comment (first character ``#``) is one series. In lines without
    white space or comma the symbols are the characters, otherwise the words between white space or commas;
    a file has lines of one kind.

    Parameters
    ----------
    path : str or path
        A UTF-8 text file, or ``"-"`` for standard input.
    column : int or str, optional
        Read the file as a table instead, one row per line, and take this column down the rows: a number
        counts from 0 (from the right when negative), a name is looked up in the first row. Empty lines
        separate series.

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
    name, lines = _name(path), read_text(path).split("\n")
    series = _by_line(lines, name) if column is None else _by_column(lines, column, name)
    if not series:
        raise ValueError(f"The {name} has no symbols: give at least one line that is not a comment.")
    return series


def _name(path: str | os.PathLike[str]) -> str:
    return "standard input" if os.fspath(path) == "-" else f"file {os.fspath(path)!r}"


def read_text(path: str | os.PathLike[str]) -> str:
    """Read UTF-8 text, ``"-"`` = standard input; lines end with a line feed, whatever they ended with."""
    text = _decode(read_bytes(path), _name(path))
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def read_bytes(path: str | os.PathLike[str]) -> bytes:
    """Read a file, or standard input for ``"-"``; what cannot be read is refused with a sentence."""
    if os.fspath(path) == "-":
        buffer = getattr(sys.stdin, "buffer", None)
        return buffer.read() if buffer is not None else sys.stdin.read().encode()
    try:
        return Path(path).read_bytes()
    except FileNotFoundError:
        message = f"The file {os.fspath(path)!r} does not exist: check it, or give '-' for standard input."
        raise FileNotFoundError(message) from None
    except IsADirectoryError:
        message = f"The path {os.fspath(path)!r} is a folder: give the path of a file inside it."
        raise IsADirectoryError(message) from None
    except PermissionError:
        message = f"The file {os.fspath(path)!r} may not be read by this user: change its permissions."
        raise PermissionError(message) from None


def _decode(data: bytes, name: str) -> str:
    if b"\0" in data:
        at = data.index(b"\0")
        raise ValueError(f"The {name} is not text (NUL byte at offset {at}): give a UTF-8 text file.")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        byte = f"byte 0x{error.object[error.start]:02x} at offset {error.start}"
        raise ValueError(f"The {name} is not UTF-8 text ({byte}): convert it to UTF-8 first.") from None


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


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write UTF-8 text all at once: on any failure an earlier file stays as it was.

    Parameters
    ----------
    path : str or path
        Where to write.
    text : str
        The whole content; line ends are written as they are.
    """
    write_bytes(path, text.encode("utf-8"))


def write_bytes(path: str | os.PathLike[str], data: bytes) -> None:
    """Write bytes all at once: on any failure an earlier file stays as it was.

    The bytes go to a temporary file in the same folder, which then takes the place of `path`; permissions
    of an earlier file are kept, and a link is followed.

    Parameters
    ----------
    path : str or path
        Where to write.
    data : bytes
        The whole content.
    """
    target = Path(os.path.realpath(path))
    try:
        mode = target.stat().st_mode
    except FileNotFoundError:
        mode = 0
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(f"The path {os.fspath(path)!r} is a folder: give the path of a file.")
    if not target.parent.is_dir():
        raise FileNotFoundError(
            f"The path {os.fspath(path)!r} has no folder to be written in: create the folder first."
        )
    if mode and not stat.S_ISREG(mode):
        # A pipe or a terminal, such as /dev/stdout, cannot be replaced.
        with Path(path).open("wb") as file:
            file.write(data)
        return
    try:
        _replace(target, data, stat.S_IMODE(mode))
    except PermissionError:
        message = f"The path {os.fspath(path)!r} may not be written by this user: choose another folder."
        raise PermissionError(message) from None


def _replace(target: Path, data: bytes, mode: int) -> None:
    temporary = target.with_name(f".{target.name[:80]}.{secrets.token_hex(6)}.tmp")
    try:
        # Not tempfile: it makes private files, whereas results follow the user's umask.
        with temporary.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if mode:
            temporary.chmod(mode)
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)
