"""Grey levels of picture files: netpbm and PNG."""

import re
from io import BytesIO
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..support.arguments import package

NETPBM = (b"P1", b"P2", b"P4", b"P5")
COLOUR = (b"P3", b"P6")
PNG = b"\x89PNG"


def read_pixels(path: str, data: bytes) -> NDArray[Any] | None:
    """(height, width) grey levels in the content of a file, 1 = black in a bitmap; None where it is no picture."""
    if data.startswith(NETPBM):
        return _netpbm(path, data)
    if data.startswith(COLOUR):
        raise _coloured(path)
    return _png(path, data) if data.startswith(PNG) else None


def _coloured(path: str) -> ValueError:
    return ValueError(
        f"The image {path!r} is in colour and one number per pixel is needed: make it grey first, for example with "
        f"python -c \"from PIL import Image; Image.open({path!r}).convert('L').save('grey.png')\"."
    )


def _png(path: str, data: bytes) -> NDArray[Any]:
    image = package("PIL.Image", f"To read {path!r} Pillow is needed", "plot")
    try:
        with image.open(BytesIO(data)) as picture:
            mode = picture.mode
            pixels: NDArray[Any] = np.array(picture if mode[0] in "1LIF" else picture.convert("RGBA"))
    except Exception:  # whatever a damaged file makes of the reader
        raise ValueError(f"The file {path!r} is no complete image: save it again.") from None
    if pixels.ndim == 3 and mode == "LA":
        pixels = pixels[..., [0, 0, 0, 1]]
    if pixels.ndim == 3:
        # Programs that draw save grey pictures with all channels, too.
        if (pixels[..., :3] != pixels[..., :1]).any() or (pixels[..., 3] != 255).any():
            raise _coloured(path)
        pixels = pixels[..., 0]
    return pixels


def _netpbm(path: str, data: bytes) -> NDArray[Any]:
    bitmap, raw = data[:2] in (b"P1", b"P4"), data[:2] in (b"P4", b"P5")
    space = rb"(?:\s|#[^\n]*\n)+"
    header = re.match(rb"P\d" + (space + rb"(\d+)") * (2 if bitmap else 3) + (rb"\s" if raw else rb""), data)
    broken = ValueError(f"The file {path!r} is no complete {'PBM' if bitmap else 'PGM'} image: save it again.")
    if header is None:
        raise broken
    width, height, *levels = map(int, header.groups())
    most = 1 if bitmap else levels[0]
    try:
        values = (_raw if raw else _plain)(data[header.end() :], width, height, bitmap, most)
    except (ValueError, OverflowError):
        raise broken from None
    if values.size != width * height or not values.size or values.min() < 0 or values.max() > most:
        raise broken
    return values.reshape(height, width).astype(np.uint8 if most < 256 else np.int64)


def _raw(body: bytes, width: int, height: int, bitmap: bool, most: int) -> NDArray[Any]:
    if bitmap:
        rows = np.frombuffer(body, np.uint8)[: height * -(-width // 8)].reshape(height, -1)
        return np.unpackbits(rows, axis=1)[:, :width].ravel()
    kind: Any = np.dtype(np.uint8) if most < 256 else np.dtype(">u2")
    return np.frombuffer(body[: width * height * kind.itemsize], kind).astype(np.int64)


def _plain(body: bytes, width: int, height: int, bitmap: bool, most: int) -> NDArray[Any]:
    text = re.sub(rb"#[^\n]*", b" ", body)
    # The digits of a plain bitmap need no space between them.
    if bitmap:
        return np.array(list(text.translate(None, b" \t\r\n")), np.int64) - ord("0")
    return np.array(text.split(), np.int64)
