"""Reading files, and writing files that are never half written."""

import os
import secrets
import stat
import sys
from pathlib import Path

__all__ = ["read_bytes", "read_text", "write_bytes", "write_text"]


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
