"""Arrays as JSON, exactly, and back."""

import base64
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Bytes of an array that a character of a file can stand for at most: deflate packs about a thousand bytes into one.
RATIO = 1200


def pack(array: NDArray[Any]) -> dict[str, Any]:
    """An array as JSON, exactly: tables of numbers as text would be long."""
    data = base64.b64encode(zlib.compress(np.ascontiguousarray(array).tobytes(), 1)).decode("ascii")
    return {"type": array.dtype.str, "shape": list(array.shape), "data": data}


def unpack(content: dict[str, Any], like: NDArray[Any]) -> NDArray[Any]:
    """Undo `pack`; an array that is not like the one whose place it takes is refused before it is unpacked whole."""
    if (content["type"], content["shape"]) != (like.dtype.str, list(like.shape)):
        raise ValueError(f"an array has shape {content['shape']} in place of {list(like.shape)}.")
    data = zlib.decompressobj().decompress(base64.b64decode(content["data"], validate=True), like.nbytes + 1)
    return np.frombuffer(data, like.dtype).reshape(like.shape).copy()


def unpack_any(content: dict[str, Any]) -> NDArray[Any]:
    """Undo `pack` where numbers of any shape may come; one that the file cannot hold is refused before it is made."""
    kind, shape = np.dtype(content["type"]), tuple(content["shape"])
    size = int(np.prod(shape, dtype=object)) * kind.itemsize
    if (
        kind.kind not in "if"
        or not all(type(n) is int and n >= 0 for n in shape)
        or size > RATIO * len(content["data"])
    ):
        raise ValueError(f"an array of {content['type']} has shape {content['shape']}.")
    return unpack(content, np.empty(shape, kind))
