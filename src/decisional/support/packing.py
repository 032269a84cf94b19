"""Arrays as JSON, exactly, and back; and the seal by which a damaged file is known."""

import base64
import json
import zlib
from hashlib import blake2b
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


def unpack_any(content: dict[str, Any], kinds: str = "if") -> NDArray[Any]:
    """Undo `pack` where numbers of any shape may come; one that the file cannot hold is refused before it is made.

    `kinds` are the kinds of numbers that are meant, as NumPy calls them.
    """
    kind, shape = np.dtype(content["type"]), tuple(content["shape"])
    size = int(np.prod(shape, dtype=object)) * kind.itemsize
    if (
        kind.kind not in kinds
        or not all(type(n) is int and n >= 0 for n in shape)
        or size > RATIO * len(content["data"])
    ):
        raise ValueError(f"an array of {content['type']} has shape {content['shape']}.")
    return unpack(content, np.empty(shape, kind))


def sealed(content: dict[str, Any]) -> dict[str, Any]:
    """Content with its digest."""
    return {**content, "check": _digest(content)}


def is_whole(content: dict[str, Any]) -> bool:
    """Whether content is as it was sealed; the digest is taken out of it."""
    digest = content.pop("check", None)
    try:
        return bool(_digest(content) == digest)
    except ValueError:  # a number that no float holds, which was not written
        return False


def _digest(content: dict[str, Any]) -> str:
    text = json.dumps(content, sort_keys=True, ensure_ascii=False, allow_nan=False)
    return blake2b(text.encode(errors="surrogatepass"), digest_size=16).hexdigest()
