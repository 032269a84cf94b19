"""Data in blocks of neighbouring places that lose no state, and arrays packed into the text of a page."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..support.arrays import Floats, Ints

# Characters that data may take on a page.
ROOM = 4_000_000
# Places, or blocks, above which they would not fit, whatever they are.
MOST = 1 << 21
# Share of the range of values that rounding may move them by.
ROUNDING = 1e-7
# Browsers know no whole numbers of eight bytes.
DTYPES: dict[str, type[np.generic]] = {
    "u1": np.uint8,
    "u2": np.uint16,
    "u4": np.uint32,
    "f4": np.float32,
    "f8": np.float64,
}


class Sets(NamedTuple):
    """The different labels in each block.

    Attributes
    ----------
    size : (n_blocks,) how many
    label : (size.sum(),) all of them, block after block, increasing in each
    """

    size: Ints
    label: Ints


def label_sets(labels: Ints, size: int) -> Sets:
    """The different labels in blocks of `size` places, the last of which may be shorter; -1 is no label.

    Cost: O(n) for blocks of one place, else O(n log n).
    """
    place = np.flatnonzero(labels >= 0)
    given = labels[place]
    n, n_blocks = int(given.max(initial=0)) + 1, -(-labels.size // size)
    keys = place // size * n + given
    keys = keys if size == 1 else np.unique(keys)
    return Sets(np.bincount(keys // n, minlength=n_blocks), keys % n)


def extremes(values: Floats, size: int) -> tuple[Floats, Floats]:
    """(n_blocks,) the smallest and the largest value in blocks of `size` places, NaN where none is known."""
    known = np.where(np.isfinite(values), values, np.nan)
    begin = np.arange(0, values.size, size)
    return np.fmin.reduceat(known, begin), np.fmax.reduceat(known, begin)


def rarest_cells(labels: Ints, sides: tuple[int, int, int]) -> Ints:
    """Which cell stands for each block of a field: the first of those whose label is the rarest in the field.

    Parameters
    ----------
    labels : (steps, height, width), -1 = not known, which stands for a block only where nothing else is in it
    sides : of a block along each axis

    Returns
    -------
    (steps / side, height / side, width / side), rounded up: the number of the cell, as in `labels.ravel()`
    """
    sides = tuple(min(side, n) for side, n in zip(sides, labels.shape, strict=True))
    count = np.bincount(labels[labels >= 0], minlength=1)
    frequency = np.append(count, labels.size)[labels]
    pad = [(0, -n % side) for n, side in zip(labels.shape, sides, strict=True)]
    outside = labels.size + 1
    frequency = np.pad(frequency, pad, constant_values=outside)
    number = np.pad(np.arange(labels.size).reshape(labels.shape), pad)
    parts = [part for n, side in zip(frequency.shape, sides, strict=True) for part in (n // side, side)]
    order = 0, 2, 4, 1, 3, 5
    blocks, numbers = (array.reshape(parts).transpose(order) for array in (frequency, number))
    shape = blocks.shape[:3]
    blocks, numbers = blocks.reshape(*shape, -1), numbers.reshape(*shape, -1)
    best = blocks.argmin(axis=-1)[..., None]
    found: Ints = np.take_along_axis(numbers, best, axis=-1)[..., 0]
    return found


def compact(values: NDArray[Any]) -> NDArray[Any]:
    """The same numbers in as few bytes as a browser can read them in; values are rounded by less than can be seen."""
    if values.dtype.kind in "biu":
        top = int(values.max(initial=0))
        return values.astype(np.min_scalar_type(top) if top < 1 << 32 else np.float64)
    known = values[np.isfinite(values)]
    if not known.size or np.abs(known).max() > np.finfo(np.float32).max:
        return values.astype(np.float64)
    small = known.astype(np.float32)
    near = np.abs(small - known).max() <= ROUNDING * np.ptp(known)
    return values.astype(np.float32 if near else np.float64)


def packed(header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> str:
    """Words and arrays as text of letters and digits, which `unpack` of overview.js reads.

    The bytes, before they are deflated: the length of the header in four bytes, the header as JSON, which has the name,
    the type, the beginning and the length of each array, and the arrays, each from a multiple of eight bytes on.
    """
    places, parts, end = [], [], 0
    for name, array in arrays.items():
        given = compact(array)
        kind = next(key for key, dtype in DTYPES.items() if given.dtype == dtype)
        places.append([name, kind, end, given.size])
        data = given.astype(f"<{kind}").tobytes()
        parts.append(data + bytes(-len(data) % 8))
        end += len(parts[-1])
    words = json.dumps({**header, "arrays": places}, ensure_ascii=True).encode("ascii")
    words += b" " * (-(len(words) + 4) % 8)
    return deflated(len(words).to_bytes(4, "little") + words + b"".join(parts))


def deflated(data: bytes, level: int = 6) -> str:
    """Bytes as text of letters and digits."""
    return base64.b64encode(zlib.compress(data, level)).decode("ascii")


def fitting(pack: Callable[[int], str], n: int, axes: int = 1, room: int = ROOM) -> str:
    """What `pack` makes of n places in blocks with sides of 1, 2, 4, ...: the first that fits into so many characters.

    Along `axes` axes a block has as many places.
    """
    size = 1
    while n > size**axes * MOST:
        size *= 2
    text = pack(size)
    while len(text) > room and size < n:
        length = len(text)
        size *= 2
        # Blocks of twice the side take no less space than this.
        while (length := length >> axes) > room:
            size *= 2
        text = pack(size)
    return text
