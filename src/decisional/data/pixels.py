"""Grey levels of picture files, and films: netpbm by hand, which keeps its levels; all others by Pillow or imageio."""

import re
import warnings
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..support.arguments import integer, package
from ..support.files import read_bytes

NETPBM = (b"P1", b"P2", b"P4", b"P5")
# How pictures that Pillow reads begin, and the endings of films that imageio reads.
PILLOW = (b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"II*\0", b"MM\0*", b"BM", b"RIFF", b"P3", b"P6")
FILMS = (".mp4", ".avi", ".mov", ".mkv", ".webm", ".mpg", ".mpeg")
PICTURES = (".png", ".pgm", ".pbm", ".ppm", ".jpg", ".jpeg", ".tif", ".tiff", ".gif", ".bmp", ".webp", *FILMS)
# Shares of red, green and blue in the luminance (ITU-R 601).
LUMINANCE = np.array([0.299, 0.587, 0.114])


def read_pixels(path: str, data: bytes) -> NDArray[Any] | None:
    """(height, width) grey levels in the content of a file, 1 = black in a bitmap; with time first where it has frames.

    None where it is no picture. Colours become their luminance, which is told.
    """
    if data.startswith(NETPBM):
        return _netpbm(path, data)
    if path.lower().endswith(FILMS):
        return _film(path)
    if not data.startswith(PILLOW):
        return None
    image = package("PIL.Image", f"To read {path!r} Pillow is needed", "plot")
    sequence = package("PIL.ImageSequence", f"To read {path!r} Pillow is needed", "plot")
    try:
        with warnings.catch_warnings():
            # What Pillow doubts of a file that it cannot read in the end.
            warnings.simplefilter("ignore")
            with image.open(BytesIO(data)) as picture:
                frames = [_channels(frame) for frame in sequence.Iterator(picture)]
    except Exception:  # whatever a damaged file makes of the reader
        raise ValueError(f"The file {path!r} is no complete image: save it again.") from None
    return _grey(path, frames)


def _channels(picture: Any) -> NDArray[Any]:
    """Grey levels as they are, or red, green, blue and opacity."""
    return np.array(picture if picture.mode[0] in "1LIF" and picture.mode != "LA" else picture.convert("RGBA"))


def _film(path: str) -> NDArray[Any]:
    imageio = package("imageio.v3", f"To read {path!r} imageio is needed", "image")
    try:
        frames = list(imageio.imiter(path))
    except ImportError:
        raise ImportError(f"To read {path!r} imageio-ffmpeg is needed: pip install 'decisional[image]'.") from None
    except Exception:  # whatever a damaged file makes of the reader
        raise ValueError(f"The file {path!r} is no complete film: save it again.") from None
    return _grey(path, frames)


def _grey(path: str, frames: list[NDArray[Any]]) -> NDArray[Any]:
    """One number per pixel of each frame; what is lost of colours and opacity is told."""
    if len({frame.shape[:2] for frame in frames}) != 1:
        raise ValueError(f"The film {path!r} has frames of several sizes; all must be alike: give them one by one.")
    found, coloured, clear = [], False, False
    for frame in frames:
        if frame.ndim == 3:
            colours = frame[..., :3].astype(float)
            if frame.shape[2] == 4 and (frame[..., 3] != 255).any():
                clear, opaque = True, frame[..., 3:] / 255
                colours = colours * opaque + 255 * (1 - opaque)
            alike = bool((colours == colours[..., :1]).all())
            coloured |= not alike
            # Programs that draw save grey pictures with all channels, too.
            frame = colours[..., 0] if alike else colours @ LUMINANCE
            frame = np.rint(frame).astype(np.uint8)
        found.append(frame)
    lost = " and ".join(name for name, there in (("in colour", coloured), ("transparent", clear)) if there)
    if lost:
        how = "its luminance is taken" + (", on white" if clear else "")
        warnings.warn(f"The image {path!r} is {lost}: {how}.", stacklevel=2)
    return found[0] if len(found) == 1 else np.stack(found)


def is_picture(path: str) -> bool:
    """Whether a file is called a picture that is no film."""
    return path.lower().endswith(PICTURES) and not path.lower().endswith((*FILMS, ".gif"))


def is_film_folder(path: str) -> bool:
    """Whether a path is a folder of pictures."""
    return Path(path).is_dir() and any(file.suffix.lower() in PICTURES for file in Path(path).iterdir())


def read_film(paths: Sequence[Any]) -> NDArray[Any]:
    """(time, height, width) pictures as one film, in the order given; by number where a folder or shell lists them."""
    files = [str(path) for path in paths]
    if len(files) == 1 and Path(files[0]).is_dir():
        inside = [file for file in Path(files[0]).iterdir() if file.suffix.lower() in PICTURES]
        files = sorted(map(str, inside), key=_natural)
    elif files == sorted(files) != sorted(files, key=_natural):
        # As a shell, or a glob, puts them.
        files = sorted(files, key=_natural)
        warnings.warn(
            "The frames come in the order of letters, where 10 is before 2: they were put in the order of the numbers "
            f"in their names, from {files[0]!r} to {files[-1]!r}.",
            stacklevel=2,
        )
    if not files:
        raise ValueError("The 'path' is an empty list; a film has one frame or more: give the paths of pictures.")
    frames = [read_pixels(file, read_bytes(file)) for file in files]
    for file, frame in zip(files, frames, strict=True):
        if frame is None or frame.shape != getattr(frames[0], "shape", None) or frame.ndim != 2:
            shape = "no picture" if frame is None else f"of shape {frame.shape}"
            raise ValueError(
                f"The frame {file!r} is {shape}; the frames of a film must be pictures of one size: give such files."
            )
    return np.stack([frame for frame in frames if frame is not None])


def _natural(path: str) -> list[Any]:
    """What sorts frame9 before frame10."""
    return [(0, int(part), "") if part.isdigit() else (1, 0, part) for part in re.split(r"(\d+)", path)]


def quantised(pixels: NDArray[Any], levels: int) -> NDArray[Any]:
    """Grey levels as numbers from 0 to levels - 1, of equal ranges between the darkest and the brightest."""
    levels = integer(levels, "levels", 2, 65536)
    low, high = float(pixels.min()), float(pixels.max())
    found = (pixels - low) * (levels / (high - low if high > low else 1.0))
    return np.minimum(found, levels - 1).astype(np.uint8 if levels <= 256 else np.uint16)


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
