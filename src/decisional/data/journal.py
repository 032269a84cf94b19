"""What a run writes, and how far it came: enough to go on after it was killed."""

import hashlib
import json
import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import __version__
from ..support.files import sync
from .observations import Observations
from .outputs import opened, put
from .slices import Part, Sliced
from .stores import Decoded, Stored
from .vocabularies import Vectors


def header(obs: Observations, vector: NDArray[Any], parts: list[Part], values: str, target: str) -> str:
    """One line of JSON that is the same for what would be written byte for byte.

    Cost: data in memory are read once; of those on disk, path, size and time count.
    """
    model, content = (hashlib.blake2b(digest_size=16) for _ in range(2))
    _add(model, vector)
    if isinstance(obs, Sliced):
        tally = obs.tally()
        for vocabulary in (tally.x, tally.z):
            _add(model, list(vocabulary.letters))
            _add(model, vocabulary.rows if isinstance(vocabulary, Vectors) else vocabulary.keys)
        _add(model, [repr(tally.made), tally.pairs, tally.counts])
    files: dict[int, list[Any]] = {}
    for part in parts:
        _add(content, [part.begin, part.end])
        for data in part.data:
            if isinstance(data, Stored):
                if id(data.opens) not in files:
                    files[id(data.opens)] = _file(data._source())
                _add(content, [data.first, data.last, str(data.dtype)])
            else:
                _add(content, data)
    if any(os.path.realpath(file[0]) == target for file in files.values()):
        raise ValueError(f"The 'path' {target!r} is that of the data, which would be lost: give another path.")
    about = {
        "decisional": __version__,
        "values": values,
        "dtype": vector.dtype.str,
        "shape": obs.shape,
        "slices": len(parts),
        "model": model.hexdigest(),
        "files": list(files.values()),
        "content": content.hexdigest(),
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
    source = source.source if isinstance(source, Decoded) else source
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
    """Lines of JSON: the header, then one for each finished slice.

    Attributes
    ----------
    path : of the file
    header : its first line, which says what is written
    finished : the file that an earlier run of the same work made, when all of its slices were there
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
        self._append(self.header, os.O_CREAT | os.O_EXCL)
        sync(os.path.dirname(self.path))

    def add(self, entry: dict[str, Any]) -> None:
        """One more line, which is on disk when this returns."""
        self._append(json.dumps(entry) + "\n")

    def _append(self, line: str, flags: int = 0) -> None:
        with opened(self.path, os.O_APPEND | flags) as file:
            put(file, line.encode(), None)
            os.fsync(file)

    def check(self) -> None:
        """Whether this work still is the one that is being written."""
        with suppress(OSError), open(self.path, encoding="utf-8") as file:
            if file.readline() == self.header:
                return
        raise RuntimeError(f"The {self.path!r} is not of this run any more: write to one path once at a time.")

    def remove(self) -> None:
        Path(self.path).unlink(missing_ok=True)
