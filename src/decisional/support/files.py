"""Reading whole files, and the one way in which the library writes them: never half.

New content goes to a file beside the path, which takes its place when it is on disk: links are followed, the mode of
an earlier file is kept, and a pipe or a device is written to.
"""

import codecs
import errno
import hashlib
import io
import json
import os
import secrets
import shutil
import stat
import sys
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from importlib import import_module
from pathlib import Path
from typing import Any

# How compressed files begin, and the modules that know them.
COMPRESSED = {b"\x1f\x8b": "gzip", b"BZh": "bz2", b"\xfd7zXZ\0": "lzma"}
# Bytes in the name of a file, in most file systems.
LONGEST_NAME = 255
# What pipes and standard input have said, while it is kept.
_SAID: ContextVar[dict[str, bytes] | None] = ContextVar("said", default=None)


def file_name(path: str | os.PathLike[str]) -> str:
    """What a path is called in a message: "file 'a.txt'", or "standard input" for ``"-"``."""
    name = checked_path(path)
    return "standard input" if name == "-" else f"file {name!r}"


def checked_path(path: str | os.PathLike[str]) -> str:
    """The name of a file, or a refusal."""
    # Commands that only say how they are called need no NumPy.
    from .arguments import refusal

    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(refusal("path", path, "a string or a Path", "name the file"))
    name = str(os.fspath(path))
    if "\0" in name or not name:
        raise ValueError(refusal("path", name, "a name without NUL, and not empty", "name the file"))
    try:
        os.fsencode(name)
    except UnicodeEncodeError:
        raise ValueError(refusal("path", name, "a name of characters", "name the file")) from None
    return name


def read_text(path: str | os.PathLike[str]) -> str:
    """Read text, ``"-"`` = standard input; lines end with a line feed, whatever they ended with.

    It is UTF-8, or UTF-16 with its mark, and may be compressed by gzip, bzip2 or xz, whatever its name says.
    """
    text = _decode(_unpacked(read_bytes(path), file_name(path)), file_name(path))
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def read_bytes(path: str | os.PathLike[str]) -> bytes:
    """Read a file, or standard input for ``"-"``; what cannot be read is refused with a sentence."""
    name, said = checked_path(path), _SAID.get()
    if said is None or not is_channel(name):
        return _content(name)
    if name not in said:
        said[name] = _content(name)
    return said[name]


def _content(name: str) -> bytes:
    if name == "-":
        return bytes(_standard_input().read())
    with _opening(name):
        return Path(name).read_bytes()


@contextmanager
def _opening(name: str) -> Iterator[None]:
    """Say in one sentence why a file cannot be read."""
    try:
        yield
    except FileNotFoundError:
        message = f"The 'path' {name!r} does not exist: check it, or give '-' for standard input."
        raise FileNotFoundError(message) from None
    except IsADirectoryError:
        raise IsADirectoryError(f"The 'path' {name!r} is a folder: give the path of a file inside it.") from None
    except PermissionError:
        raise PermissionError(f"The 'path' {name!r} may not be read by this user: change its permissions.") from None


def _standard_input() -> Any:
    if sys.stdin is None:
        raise OSError("The standard input is closed: give the path of a file, or let something be read from it.")
    # A program may have put text in its place.
    source: Any = getattr(sys.stdin, "buffer", None)
    return source if source is not None else io.BytesIO(sys.stdin.read().encode())


def text_stream(path: str, size: int) -> Iterator[str]:
    """Text as it comes, of at most `size` bytes at once; what it may be is as for `read_text`.

    A file that is cut while it is read is refused, as nobody knows what follows; that it was replaced is told.
    """
    name = file_name(path)
    if checked_path(path) == "-":
        yield from _decoded(_standard_input(), name, size)
        return
    with _opening(path), open(path, "rb") as file:
        yield from _decoded(file, name, size)
        if not is_channel(path) and not _is_still(path, file.fileno()):
            warnings.warn(
                f"The {name} was replaced or removed while it was read: run the command again for the new one.",
                stacklevel=2,
            )


def _is_still(path: str, number: int) -> bool:
    """Whether a path leads to a file that is open."""
    return os.path.exists(path) and os.path.samestat(os.stat(path), os.fstat(number))


def _decoded(source: Any, name: str, size: int) -> Iterator[str]:
    packed: Any = source if hasattr(source, "peek") else io.BufferedReader(source)
    head = packed.peek(8)
    kind = next((kind for mark, kind in COMPRESSED.items() if head.startswith(mark)), None)
    plain = packed if kind is None else import_module(kind).open(packed)
    head = head if kind is None else b""
    wide = head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    decoder = codecs.getincrementaldecoder("utf-16" if wide else "utf-8-sig")()
    lines = io.IncrementalNewlineDecoder(decoder, translate=True)
    data = b" "
    while data:
        data = plain.read1(size) if kind is None else _read_packed(plain, size, name, kind)
        _refuse_cut(packed, name)
        try:
            text = lines.decode(data, final=not data)
        except UnicodeDecodeError:
            raise ValueError(f"The {name} is not UTF-8 text: convert it to UTF-8 first.") from None
        if "\0" in text:
            raise ValueError(f"The {name} is not text (NUL byte): give UTF-8 text.")
        yield text


def _read_packed(source: Any, size: int, name: str, kind: str) -> bytes:
    try:
        return bytes(source.read1(size))
    except Exception as error:  # each of the three has its own
        raise ValueError(f"The {name} is compressed by {kind} and damaged ({error}): copy it again.") from None


def _refuse_cut(source: Any, name: str) -> None:
    """Refuse a file that is shorter than what was read of it."""
    try:
        number = source.fileno()
    except OSError:
        return
    now = os.fstat(number)
    if stat.S_ISREG(now.st_mode) and now.st_size < os.lseek(number, 0, os.SEEK_CUR):
        raise ValueError(
            f"The {name} was cut to {now.st_size} bytes while it was read: run the command again with what is new."
        )


@contextmanager
def channels_kept() -> Iterator[None]:
    """Inside, what a pipe or standard input says is kept, so that it can be looked at again, as a file can."""
    token = _SAID.set({}) if _SAID.get() is None else None
    try:
        yield
    finally:
        if token is not None:
            _SAID.reset(token)


def is_channel(path: str) -> bool:
    """Whether a path is a pipe, a device or standard input, which can be read only once and not in places."""
    try:
        return path == "-" or _is_channel(os.stat(path).st_mode)
    except (OSError, ValueError):
        return False


def _unpacked(data: bytes, name: str) -> bytes:
    """The content of what is compressed."""
    kind = next((kind for mark, kind in COMPRESSED.items() if data.startswith(mark)), None)
    if kind is None:
        return data
    try:
        plain: bytes = import_module(kind).decompress(data)
    except Exception as error:  # each of the three has its own
        raise ValueError(f"The {name} is compressed by {kind} and damaged ({error}): copy it again.") from None
    return plain


def _decode(data: bytes, name: str) -> str:
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        try:
            return data.decode("utf-16")
        except UnicodeDecodeError as error:
            raise ValueError(f"The {name} is no complete UTF-16 text ({error.reason}): save it again.") from None
    if b"\0" in data:
        at = data.index(b"\0")
        raise ValueError(f"The {name} is not text (NUL byte at offset {at}): give a UTF-8 text file.")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        byte = f"byte 0x{error.object[error.start]:02x} at offset {error.start}"
        raise ValueError(f"The {name} is not UTF-8 text ({byte}): convert it to UTF-8 first.") from None


def saved_format(path: str | os.PathLike[str]) -> Any:
    """The format that a JSON file says it has, None where it says none; what is not JSON is refused."""
    content = _json(path)
    return content.get("format") if isinstance(content, dict) else None


def _json(path: str | os.PathLike[str]) -> Any:
    data = read_bytes(path)
    try:
        return json.loads(data, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        name = file_name(path)
        raise ValueError(f"The {name} is not JSON, and no model, which save() writes: check the path.") from None


def read_json(path: str | os.PathLike[str], format: str, version: int, keys: Iterable[str]) -> dict[str, Any]:
    """Read a JSON file, refusing with one sentence what is not JSON, of another format, newer or cut.

    Raises
    ------
    ValueError
        When the file is not what `format` and `version` announce, or lacks one of `keys`.
    """
    name, content = file_name(path), _json(path)
    found = content.get("format") if isinstance(content, dict) else None
    if found != format:
        raise ValueError(
            f"The {name} has format {found!r}; it must be {format!r}: check the path, or load it as what it is."
        )
    written = content.get("version")
    if type(written) is not int or written < 1:
        raise ValueError(f"The {name} has version {written!r}; it must be a positive integer: save it again.")
    if written > version:
        raise ValueError(
            f"The {name} has version {written}, newer than {version}, the last that this release reads: upgrade "
            "decisional."
        )
    missing = [key for key in keys if key not in content]
    if missing:
        raise ValueError(f"The {name} has no {missing[0]!r}; it is corrupt: save it again.")
    return dict(content)


def _refuse_constant(name: str) -> None:
    """JSON has no NaN and no infinity, although Python reads them."""
    raise ValueError(name)


def write_json(path: str | os.PathLike[str], content: dict[str, Any]) -> None:
    """Write content as JSON, as `write_bytes` does."""
    write_text(path, json.dumps(content, ensure_ascii=False, allow_nan=False, indent=1) + "\n")


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write UTF-8 text, as `write_bytes` does; line ends are written as they are."""
    try:
        data = text.encode("utf-8")
    except UnicodeEncodeError as error:
        odd = f"a character that is none ({error.object[error.start]!a})"
        raise ValueError(f"The text for the {file_name(path)} has {odd}: leave it out.") from None
    write_bytes(path, data)


def write_bytes(path: str | os.PathLike[str], data: bytes) -> None:
    """Write bytes all at once: on any failure an earlier file stays as it was.

    Permissions of an earlier file are kept, a link is followed, and a pipe or device is written to. Several threads
    may write to one path: one of their contents stays. Cost: one fsync of the file and one of its folder.

    Parameters
    ----------
    path : str or path
        Where to write.
    data : bytes
        The whole content.
    """
    name = checked_path(path)
    mode = _mode(name)
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(f"The 'path' {name!r} is a folder: give the path of a file.")
    number = descriptor(name)
    if number is not None or _is_channel(mode):
        _write_channel(name, number, data)
        return
    target = os.path.realpath(name)
    if os.path.isdir(target):
        raise IsADirectoryError(f"The 'path' {name!r} is a folder: give the path of a file.")
    if not os.path.isdir(os.path.dirname(target)):
        raise FileNotFoundError(f"The 'path' {name!r} has no folder to be written in: create the folder first.")
    folder, last = os.path.split(target)
    # Characters have up to four bytes.
    part = os.path.join(folder, f".{last[:50]}.{secrets.token_hex(6)}.tmp")
    try:
        # Not tempfile: it makes private files, whereas results follow the user's umask, or an earlier file's mode.
        with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, stat.S_IMODE(mode) or 0o666), "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        replace(part, target)
    except PermissionError:
        message = f"The 'path' {name!r} may not be written by this user: choose another folder."
        raise PermissionError(message) from None
    except OSError as error:
        raise _named(error, name) from None
    finally:
        with suppress(OSError):
            os.unlink(part)


def descriptor(path: str) -> int | None:
    """The number of the open file that a path such as /dev/stdout or /dev/fd/63 stands for, or None.

    It is written to as it is: opened again by its path, it would begin anew, or be replaced.
    """
    # Links that lead in a circle end somewhere.
    for _ in range(40):
        folder, last = os.path.split(os.path.abspath(path))
        if last.isdecimal() and os.path.realpath(folder) in ("/dev/fd", f"/proc/{os.getpid()}/fd"):
            return int(last)
        if not os.path.islink(path):
            break
        path = os.path.join(folder, os.readlink(path))
    return None


def _write_channel(name: str, number: int | None, data: bytes) -> None:
    try:
        with open(name if number is None else os.dup(number), "wb") as file:
            file.write(data)
    except BrokenPipeError:
        # Of standard output the program knows what to do.
        if number == 1:
            raise
        raise OSError(f"The 'path' {name!r} is a pipe that is no longer read: let its reader go on.") from None
    except OSError as error:
        raise _named(error, name) from None


def _named(error: OSError, name: str) -> OSError:
    """An error of the system that names the path which was given, not the file beside it."""
    if error.strerror:
        error.filename = name
    return error


def _mode(target: str) -> int:
    try:
        return os.stat(target).st_mode
    except FileNotFoundError:
        return 0


def _is_channel(mode: int) -> bool:
    """Whether something is a pipe or a device, such as /dev/stdout, which cannot be replaced."""
    return bool(mode) and not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def replace(part: str, target: str) -> None:
    """Let a file or folder that is whole, and on disk, take the place of `target`, whose links were followed.

    The mode of an earlier file is kept; a pipe or device gets the content instead. No call exchanges folders: an
    earlier one steps aside, and is put back if something fails.
    """
    mode = _mode(target)
    if _is_channel(mode):
        with open(part, "rb") as source, open(target, "wb") as channel:
            shutil.copyfileobj(source, channel)
        remove(part)
        return
    if stat.S_ISDIR(mode) and not os.path.isdir(part):
        # A folder, and all that is in it, never makes room for a file.
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), target)
    if stat.S_ISDIR(mode):
        earlier = beside(target, ".earlier")
        os.rename(target, earlier)
        try:
            os.rename(part, target)
        except BaseException:
            os.rename(earlier, target)
            raise
        remove(earlier)
    else:
        if mode:
            os.chmod(part, stat.S_IMODE(mode))
        os.replace(part, target)
    sync(os.path.dirname(target))


def beside(path: str, suffix: str) -> str:
    """The path of what accompanies a file: its name with a suffix, or what can be had of a name that is too long."""
    folder, name = os.path.split(path)
    if len(os.fsencode(name + suffix)) > LONGEST_NAME:
        name = f"{name[:50]}.{hashlib.blake2b(os.fsencode(name), digest_size=8).hexdigest()}"
    return os.path.join(folder, name + suffix)


def sync(path: str) -> None:
    """Have a file, or the names in a folder, on disk; nothing where there is none."""
    try:
        file = os.open(path, os.O_RDONLY)
    except (FileNotFoundError, PermissionError):
        # Some systems do not open folders.
        return
    try:
        os.fsync(file)
    except OSError as error:
        # Nor do all file systems have a folder written on request.
        if error.errno != errno.EINVAL:
            raise
    finally:
        os.close(file)


def remove(path: str) -> None:
    """Remove a file or a folder, if it is there."""
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    else:
        Path(path).unlink(missing_ok=True)
