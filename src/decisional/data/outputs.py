"""Files that are written slice by slice beside `path`, and take its place when they are whole.

Memory maps are not used: a full disk would end the process without a word.
"""

import errno
import json
import math
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from io import BytesIO
from pathlib import Path
from threading import Lock
from typing import Any
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from ..support.files import beside, remove, sync

# Chunks of a zarr array whose borders are not those of the slices are so many times smaller than these.
FINER = 8
FULL = {errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC)}
UNSUPPORTED = {errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL}
RAW = "borders"
# The paths that threads of this process write to.
_WRITING: WeakValueDictionary[str, Any] = WeakValueDictionary()
_GUARD = Lock()


@dataclass(frozen=True)
class Npy:
    """A ``.npy`` file.

    Attributes
    ----------
    part : where it is while it is written
    shape, dtype : of the whole array, which slices cut along its first axis
    missing : the value where there is none
    """

    part: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    missing: Any

    @property
    def start(self) -> bytes:
        """The bytes before the values."""
        head = BytesIO()
        about = {"descr": self.dtype.str, "fortran_order": False, "shape": self.shape}
        np.lib.format.write_array_header_1_0(head, about)
        return head.getvalue()

    @property
    def nbytes(self) -> int:
        return len(self.start) + math.prod(self.shape) * self.dtype.itemsize

    def is_whole(self) -> bool:
        """Whether there is a file to go on with."""
        try:
            with open(self.part, "rb") as file:
                return file.read(len(self.start)) == self.start and os.path.getsize(self.part) == self.nbytes
        except OSError:
            return False

    def create(self) -> None:
        """A new file with room for all values: none is left where there is not enough."""
        remove(self.part)
        try:
            with opened(self.part, os.O_CREAT | os.O_EXCL) as file:
                _reserve(file, self.part, self.nbytes)
                put(file, self.start, 0)
                os.fsync(file)
        except BaseException:
            remove(self.part)
            raise

    def write(self, begin: int, rows: NDArray[Any]) -> None:
        """Rows from `begin` on; they are on disk when this returns. Cost: one write and one fsync."""
        _write_rows(self.part, len(self.start), begin, rows)

    def finish(self, begins: list[int]) -> None:
        """Nothing is left to do when all slices are written."""


@dataclass(frozen=True)
class Zarr:
    """A zarr array of chunks of `chunk` rows; attributes as for `Npy`.

    A chunk is a file that is written as a whole. Those that several slices share wait in a sparse file until all are
    there: no chunk is written twice, nor by two workers.
    """

    part: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    missing: Any
    chunk: int

    @property
    def nbytes(self) -> int:
        return math.prod(self.shape) * self.dtype.itemsize

    @property
    def _raw(self) -> str:
        return os.path.join(self.part, RAW)

    def is_whole(self) -> bool:
        return is_zarr_array(self.part)

    def create(self) -> None:
        remove(self.part)
        chunks = (self.chunk, *self.shape[1:])
        about = {"shape": self.shape, "chunks": chunks, "dtype": self.dtype, "fill_value": self.missing}
        _zarr().create_array(store=self.part, **about)
        with opened(self._raw, os.O_CREAT) as file:
            os.ftruncate(file, self.nbytes)
            os.fsync(file)
        sync(os.path.join(self.part, "zarr.json"))
        sync(self.part)

    def write(self, begin: int, rows: NDArray[Any]) -> None:
        """Rows from `begin` on, in chunks where these are whole."""
        end = begin + len(rows)
        first = -(-begin // self.chunk) * self.chunk
        last = end if end == self.shape[0] else end // self.chunk * self.chunk
        if first >= last:
            first = last = end
        else:
            self._write_chunks(first, rows[first - begin : last - begin])
        for a, b in ((begin, first), (last, end)):
            if b > a:
                _write_rows(self._raw, 0, a, rows[a - begin : b - begin])

    def _write_chunks(self, begin: int, rows: NDArray[Any]) -> None:
        end = begin + len(rows)
        _zarr().open_array(store=self.part, mode="r+")[begin:end] = rows
        for k in range(begin // self.chunk, -(-end // self.chunk)):
            # The rows of all other axes are in one chunk; one of missing values only has no file.
            names = ["c", *map(str, (k, *[0] * (len(self.shape) - 1)))]
            for depth in range(len(names), -1, -1):
                sync(os.path.join(self.part, *names[:depth]))

    def finish(self, begins: list[int]) -> None:
        """Write the chunks that slices share, and remove all that is no part of the array."""
        if os.path.exists(self._raw):
            size = math.prod(self.shape[1:]) * self.dtype.itemsize
            with open(self._raw, "rb") as file:
                for k in sorted({begin // self.chunk for begin in begins if begin % self.chunk}):
                    a, b = k * self.chunk, min((k + 1) * self.chunk, self.shape[0])
                    file.seek(a * size)
                    rows = np.frombuffer(file.read((b - a) * size), self.dtype)
                    self._write_chunks(a, rows.reshape(b - a, *self.shape[1:]))
        # What zarr had begun to write when it was killed.
        for path in [*Path(self.part).rglob("*.partial"), Path(self._raw)]:
            path.unlink(missing_ok=True)
        sync(self.part)


Output = Npy | Zarr


def output(target: str, shape: tuple[int, ...], dtype: np.dtype[Any], missing: Any, begins: list[int]) -> Output:
    """How to write an array at `target`, in slices that begin at these rows."""
    about = beside(target, ".part"), tuple(map(int, shape)), dtype, missing
    if target.endswith(".npy"):
        return Npy(*about)
    _zarr()
    longest = int(np.diff([*begins, shape[0]]).max())
    common = math.gcd(*begins[1:]) if len(begins) > 1 else longest
    # Slices of fields and images begin at rows that have nothing in common, for the first one has their border.
    return Zarr(*about, common if common * FINER >= longest else max(longest // FINER, 1))


def _zarr() -> Any:
    try:
        return import_module("zarr")
    except ImportError:
        raise ImportError(
            "To write a '.zarr' zarr is needed, which is not installed: pip install 'decisional[scale]', or give a "
            "path that ends in .npy."
        ) from None


def is_zarr_array(folder: str) -> bool:
    """Whether a folder holds one array, and not a group of them or something else."""
    try:
        return bool(json.loads(Path(folder, "zarr.json").read_text()).get("node_type") == "array")
    except (OSError, ValueError, AttributeError):
        return os.path.isfile(os.path.join(folder, ".zarray"))


@contextmanager
def opened(path: str, flags: int = 0) -> Iterator[int]:
    """A file to be written; it must be there unless the flags say otherwise."""
    file = os.open(path, os.O_RDWR | flags, 0o666)
    try:
        yield file
    finally:
        os.close(file)


def put(file: int, data: bytes | memoryview, offset: int | None) -> None:
    """Write all bytes, which may take several calls; at the end of the file without offset."""
    view, done = memoryview(data), 0
    write: Callable[..., int] = os.write if offset is None else os.pwrite
    while done < len(view):
        done += write(file, view[done:], *(() if offset is None else (offset + done,)))


def _write_rows(path: str, start: int, begin: int, rows: NDArray[Any]) -> None:
    rows = np.ascontiguousarray(rows)
    with opened(path) as file:
        put(file, rows.reshape(-1).view(np.uint8).data, start + begin * (rows.nbytes // len(rows)))
        os.fsync(file)


def _reserve(file: int, path: str, size: int) -> None:
    try:
        os.posix_fallocate(file, 0, size)
    except (AttributeError, OSError) as error:
        if isinstance(error, OSError) and error.errno not in UNSUPPORTED:
            raise
        if shutil.disk_usage(os.path.dirname(path)).free < size:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)) from None
        os.ftruncate(file, size)


@contextmanager
def room(target: str, size: int) -> Iterator[None]:
    """A disk that is full is told in one sentence."""
    try:
        yield
    except OSError as error:
        if error.errno not in FULL:
            raise
        free = shutil.disk_usage(os.path.dirname(target)).free
        journal = os.path.exists(beside(target, ".journal"))
        kept = "the slices written so far are kept" if journal else "nothing was written"
        message = (
            f"The disk has no room for {target!r}, which takes {size:,} bytes where {free:,} are free; {kept} and an "
            "earlier output is intact: free some space and call again, or give another path."
        )
        raise OSError(error.errno, message) from error


@contextmanager
def one_at_a_time(target: str) -> Iterator[None]:
    """One thread at a time writes to a path; other processes are told by the journal."""
    with _GUARD:
        lock = _WRITING.setdefault(target, Lock())
    with lock:
        yield


def inode(path: str) -> int | None:
    """What stays the same when a file is renamed."""
    return os.stat(path).st_ino if os.path.exists(path) else None


def recover(target: str) -> None:
    """Undo, or complete, a `replace` of folders that was killed."""
    earlier = beside(target, ".earlier")
    if target.endswith(".zarr") and is_zarr_array(earlier):
        if os.path.lexists(target):
            remove(earlier)
        else:
            os.rename(earlier, target)
