"""Files that are written slice by slice beside `path`, and take its place when they are whole; a journal says how far
they came, to go on after the process was killed.

Memory maps are not used: a full disk would end the process without a word.
"""

import errno
import hashlib
import json
import math
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import __version__
from ..support.arguments import package
from ..support.files import beside, remove, sync
from .observations import Observations
from .slices import Part, Sliced
from .stores import Stored
from .vocabularies import Vectors

# Chunks of a zarr array whose borders are not those of the slices are so many times smaller than these.
FINER = 8
FULL = {errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC)}
UNSUPPORTED = {errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL}
# The paths that threads of this process write to.
_WRITING: dict[str, Lock] = {}


@dataclass(frozen=True)
class Output:
    """An array, which slices cut along its first axis; `part` is its path while it is written."""

    part: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    @property
    def nbytes(self) -> int:
        return math.prod(self.shape) * self.dtype.itemsize


class Npy(Output):
    """A ``.npy`` file."""

    @property
    def start(self) -> bytes:
        """The bytes before the values."""
        head = BytesIO()
        about = {"descr": self.dtype.str, "fortran_order": False, "shape": self.shape}
        np.lib.format.write_array_header_1_0(head, about)
        return head.getvalue()

    @property
    def nbytes(self) -> int:
        return len(self.start) + super().nbytes

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
            with open(self.part, "xb") as file:
                _reserve(file.fileno(), self.part, self.nbytes)
            _put(self.part, self.start, 0)
        except BaseException:
            remove(self.part)
            raise

    def write(self, begin: int, rows: NDArray[Any]) -> None:
        """Rows from `begin` on; they are on disk when this returns. Cost: one write and one fsync."""
        _write_rows(self.part, len(self.start), begin, rows)

    def finish(self, begins: list[int]) -> None:
        """Nothing is left to do when all slices are written."""


@dataclass(frozen=True)
class Zarr(Output):
    """A zarr array of chunks of `chunk` rows, with `missing` where there is no value.

    A chunk is a file that is written as a whole. Those that several slices share wait in a sparse file until all are
    there: no chunk is written twice, nor by two workers.
    """

    missing: Any
    chunk: int

    @property
    def _raw(self) -> str:
        return os.path.join(self.part, "borders")

    def is_whole(self) -> bool:
        return is_zarr_array(self.part)

    def create(self) -> None:
        remove(self.part)
        chunks = (self.chunk, *self.shape[1:])
        about = {"shape": self.shape, "chunks": chunks, "dtype": self.dtype, "fill_value": self.missing}
        _zarr().create_array(store=self.part, **about)
        with open(self._raw, "wb") as file:
            file.truncate(self.nbytes)
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
            row = math.prod(self.shape[1:])
            for k in sorted({begin // self.chunk for begin in begins if begin % self.chunk}):
                a, b = k * self.chunk, min((k + 1) * self.chunk, self.shape[0])
                rows = np.fromfile(self._raw, self.dtype, (b - a) * row, offset=a * row * self.dtype.itemsize)
                self._write_chunks(a, rows.reshape(b - a, *self.shape[1:]))
        # What zarr had begun to write when it was killed.
        for path in [*Path(self.part).rglob("*.partial"), Path(self._raw)]:
            path.unlink(missing_ok=True)
        sync(self.part)


def output(target: str, shape: tuple[int, ...], dtype: np.dtype[Any], missing: Any, begins: list[int]) -> Npy | Zarr:
    """How to write an array at `target`, in slices that begin at these rows."""
    about = beside(target, ".part"), tuple(map(int, shape)), dtype
    if target.endswith(".npy"):
        return Npy(*about)
    _zarr()
    longest = int(np.diff([*begins, shape[0]]).max())
    common = math.gcd(*begins[1:]) if len(begins) > 1 else longest
    # Slices of fields and images begin at rows that have nothing in common, for the first one has their border.
    return Zarr(*about, missing, common if common * FINER >= longest else max(longest // FINER, 1))


def _zarr() -> Any:
    missing = "To write a '.zarr' zarr is needed, which is not installed"
    return package("zarr", missing, "scale", ", or give a path that ends in .npy")


def is_zarr_array(folder: str) -> bool:
    """Whether a folder holds one array, and not a group of them or something else."""
    try:
        return bool(json.loads(Path(folder, "zarr.json").read_text()).get("node_type") == "array")
    except (OSError, ValueError, AttributeError):
        return os.path.isfile(os.path.join(folder, ".zarray"))


def _put(path: str, data: bytes | memoryview, offset: int | None = None, flags: int = 0) -> None:
    """Have bytes on disk, at the end of a file without offset; it must be there unless the flags say otherwise."""
    view, done = memoryview(data), 0
    file = os.open(path, os.O_WRONLY | (os.O_APPEND if offset is None else 0) | flags, 0o666)
    try:
        # A system may write less than it was asked to.
        while done < len(view):
            rest = view[done:]
            done += os.write(file, rest) if offset is None else os.pwrite(file, rest, offset + done)
        os.fsync(file)
    finally:
        os.close(file)


def _write_rows(path: str, start: int, begin: int, rows: NDArray[Any]) -> None:
    rows = np.ascontiguousarray(rows)
    _put(path, rows.reshape(-1).view(np.uint8).data, start + begin * (rows.nbytes // len(rows)))


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


def one_at_a_time(target: str) -> Lock:
    """One thread at a time writes to a path; other processes are told by the journal."""
    return _WRITING.setdefault(target, Lock())


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


def header(obs: Observations, vector: NDArray[Any], parts: list[Part], values: str, target: str) -> str:
    """One line of JSON that is the same for what would be written byte for byte.

    Cost: data in memory are read once; of those on disk, path, size and time count.
    """
    digest = hashlib.blake2b(digest_size=16)
    _add(digest, vector)
    if isinstance(obs, Sliced):
        tally = obs.tally()
        distinct = [v.rows if isinstance(v, Vectors) else v.keys for v in (tally.x, tally.z)]
        _add(digest, [tally.x.letters, tally.z.letters, *distinct, repr(tally.made), tally.pairs, tally.counts])
    files: dict[int, list[Any]] = {}
    for part in parts:
        _add(digest, [part.begin, part.end])
        for data in part.data:
            if isinstance(data, Stored):
                if id(data.opens) not in files:
                    files[id(data.opens)] = _file(data.opens())
                _add(digest, [data.first, data.last, str(data.dtype)])
            else:
                _add(digest, data)
    if any(os.path.realpath(file[0]) == target for file in files.values()):
        raise ValueError(f"The 'path' {target!r} is that of the data, which would be lost: give another path.")
    about = {
        "decisional": __version__,
        "values": values,
        "dtype": vector.dtype.str,
        "shape": obs.shape,
        "slices": len(parts),
        "files": list(files.values()),
        "content": digest.hexdigest(),
    }
    return json.dumps(about, default=int) + "\n"


def _add(digest: Any, data: Any) -> None:
    """Digest data that are in memory, and arrays of Dask by their name."""
    if isinstance(data, (list, tuple)) and any(isinstance(item, (list, tuple, np.ndarray)) for item in data):
        digest.update(b"%d" % len(data))
        for item in data:
            _add(digest, item)
    elif isinstance(data, (str, list, tuple, type(None))):
        digest.update(repr(data).encode())
    elif isinstance(data, (bytes, bytearray, memoryview)):
        digest.update(data)
    elif hasattr(data, "__dask_graph__"):
        digest.update(str(getattr(data, "name", data)).encode())
    else:
        array = np.asarray(data)
        digest.update(f"{array.dtype} {array.shape}".encode())
        digest.update(repr(array.tolist()).encode() if array.dtype.hasobject else array.tobytes())
        if np.ma.isMA(data):
            digest.update(np.ma.getmaskarray(data).tobytes())


def _file(source: Any) -> list[Any]:
    """Path, size and time of what an array is read from, as far as known; of a folder, all sizes and the last time."""
    inside = ""
    if hasattr(source, "filename"):
        path = str(source.filename)
    elif hasattr(source, "file"):
        path, inside = str(source.file.filename), str(source.name)
    else:
        path, inside = str(getattr(source.store, "root", source.store)), str(source.path)
        path = os.path.join(path, inside) if inside and os.path.isdir(path) else path
    found = [os.stat(path)] if os.path.isfile(path) else []
    for folder, _, names in os.walk(path):
        found += [os.stat(os.path.join(folder, name)) for name in names]
    return [path, inside, sum(s.st_size for s in found), max((s.st_mtime_ns for s in found), default=0)]


@dataclass
class Journal:
    """Lines of JSON: the header, which says what is written, then one for each finished slice.

    `finished` is the file that an earlier run of the same work made, when all of its slices were there.
    """

    path: str
    header: str
    finished: int | None = None

    def done(self, n: int) -> set[int]:
        """The slices, of n, that an earlier run of the same work has finished."""
        try:
            text = Path(self.path).read_bytes().decode()
        except (OSError, ValueError):
            return set()
        whole = text[: text.rfind("\n") + 1]
        first, *lines = whole.splitlines(keepends=True) or [""]
        if first != self.header:
            return set()
        # A line that was cut is that of a slice which does not count; the next line must not join it.
        os.truncate(self.path, len(whole.encode()))
        found: set[int] = set()
        for line in lines:
            with suppress(ValueError, AttributeError):
                entry = json.loads(line)
                self.finished = entry.get("finished")
                found.add(entry.get("slice", -1))
        return found & set(range(n))

    def begin(self) -> None:
        """A new journal with its first line."""
        _put(self.path, self.header.encode(), flags=os.O_CREAT | os.O_EXCL)
        sync(os.path.dirname(self.path))

    def add(self, entry: dict[str, Any]) -> None:
        """One more line."""
        _put(self.path, (json.dumps(entry) + "\n").encode())

    def check(self) -> None:
        """Whether this work still is the one that is being written."""
        with suppress(OSError), open(self.path, encoding="utf-8") as file:
            if file.readline() == self.header:
                return
        raise RuntimeError(f"The {self.path!r} is not of this run any more: write to one path once at a time.")

    def remove(self) -> None:
        Path(self.path).unlink(missing_ok=True)
