"""Images: x is the neighbourhood of a pixel, z the pixel itself."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .vectors import Vectors

__all__ = ["NEIGHBOURHOODS", "image"]

NEIGHBOURHOODS = {
    "rounded5x5": ["01110", "11111", "11.11", "11111", "01110"],
    "5x5": ["11111", "11111", "11.11", "11111", "11111"],
    "3x3": ["111", "1.1", "111"],
    "cross": ["010", "1.1", "010"],
}
BORDERS = ("interior", "mirror")


def image(
    pixels: Any,
    neighbourhood: str | ArrayLike = "rounded5x5",
    subtract_min: bool = True,
    border: str = "interior",
    block: int = 1,
) -> Vectors:
    """Observe a grey image: x = the neighbourhood of each pixel, z = the pixel.

    Parameters
    ----------
    pixels : (height, width) of any integer or float type, or a list of several images of any sizes
    neighbourhood : "rounded5x5" (two pixels each way without the corners, as in the paper), "5x5", "3x3", "cross", or a
        table of 0 and 1 with odd sides, its centre being the pixel
    subtract_min : subtract the smallest value of the neighbourhood from x and z; z may become negative
    border : "interior" (only pixels whose neighbourhood lies inside) or "mirror" (the image continues mirrored, its
        outermost pixels not repeated)
    block : z is a square of block × block pixels around the centre (odd), which are not in x

    Returns
    -------
    Vectors : in the order of the pixels; `field` puts values back on the image (on all images one below the other,
        where they have the same width)

    Examples
    --------
    >>> obs = image(np.arange(9).reshape(3, 3), neighbourhood="cross")
    >>> obs.points.tolist(), obs.outcomes, obs.site.tolist()
    ([[0, 2, 4, 6]], [3], [4])
    """
    around = _offsets(neighbourhood, block)
    centre = _block(block)
    if border not in BORDERS:
        raise ValueError(f"The 'border' is {border!r}; it must be one of {', '.join(BORDERS)}: choose one.")
    several = isinstance(pixels, (list, tuple)) and not (len(pixels) and np.ndim(pixels[0]) == 1)
    images = [_read(part) for part in (pixels if several else [pixels])]
    if not images:
        raise ValueError("The 'pixels' are an empty list; there must be an image to observe: give one.")
    reach = int(np.abs(np.concatenate([around, centre])).max())
    parts, offset = [], 0
    for grey in images:
        parts.append(_windows(grey, around, centre, reach, border, subtract_min, offset))
        offset += grey.size
    x, z, site = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    same_width = len({grey.shape[1] for grey in images}) == 1
    shape = (sum(len(grey) for grey in images), images[0].shape[1]) if same_width else (offset,)
    return Vectors(x, z[:, 0] if z.shape[1] == 1 else z, site, shape)


def _windows(
    grey: NDArray[Any],
    around: NDArray[Any],
    centre: NDArray[Any],
    reach: int,
    border: str,
    subtract_min: bool,
    offset: int,
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """x, z and site of one image whose first pixel has site `offset`."""
    height, width = grey.shape
    smallest = 2 * reach + 1 if border == "interior" else reach + 1
    if min(height, width) < smallest:
        raise ValueError(
            f"The 'pixels' are {height} × {width} and the neighbourhood reaches {reach} pixels each way; with "
            f"border={border!r} an image needs at least {smallest} × {smallest}: use a smaller neighbourhood."
        )
    inner = 0 if border == "mirror" else reach
    padded = np.pad(grey, reach, mode="reflect") if border == "mirror" else grey
    rows, columns = height - 2 * inner, width - 2 * inner

    def shifted(offsets: NDArray[Any]) -> NDArray[Any]:
        views = [padded[reach + i : reach + i + rows, reach + j : reach + j + columns] for i, j in offsets.tolist()]
        return np.stack([view.ravel() for view in views], axis=1)

    x, z = shifted(around), shifted(centre)
    if subtract_min:
        low = x.min(axis=1, keepdims=True)
        # Small integers would wrap around where the range is large or the pixel darker than all its neighbours.
        wide = np.int64 if grey.dtype.kind in "iu" else float
        x, z = _narrow(x.astype(wide) - low.astype(wide)), _narrow(z.astype(wide) - low.astype(wide))
    place = np.arange(grey.size).reshape(height, width)
    place = place[inner : height - inner, inner : width - inner]
    return x, z, place.ravel() + offset


def _narrow(values: NDArray[Any]) -> NDArray[Any]:
    """The same integers in 16 bits where they fit."""
    small = values.dtype.kind == "i" and values.min() >= -(1 << 15) and values.max() < 1 << 15
    return values.astype(np.int16) if small else values


def _block(block: Any) -> NDArray[Any]:
    if isinstance(block, bool) or not isinstance(block, (int, np.integer)) or block < 1 or block % 2 == 0:
        raise ValueError(f"The 'block' is {block!r}; it must be an odd integer of at least 1: use 1 for one pixel.")
    half = int(block) // 2
    return np.array([(i, j) for i in range(-half, half + 1) for j in range(-half, half + 1)])


def _offsets(neighbourhood: str | ArrayLike, block: Any) -> NDArray[Any]:
    """(d, 2) places of the neighbours relative to the pixel, without those of the block."""
    if isinstance(neighbourhood, str):
        if neighbourhood not in NEIGHBOURHOODS:
            names = ", ".join(map(repr, NEIGHBOURHOODS))
            raise ValueError(
                f"The 'neighbourhood' is {neighbourhood!r}; it must be one of {names}, or a table of 0 "
                "and 1: choose one."
            )
        table = np.array([[c == "1" for c in row] for row in NEIGHBOURHOODS[neighbourhood]])
    else:
        table = np.asarray(neighbourhood)
        if table.ndim != 2 or table.shape[0] % 2 == 0 or table.shape[1] % 2 == 0 or not np.isin(table, (0, 1)).all():
            raise ValueError(
                f"The 'neighbourhood' has shape {table.shape}; it must be a table of 0 and 1 with odd sides: its "
                "centre is the pixel."
            )
    offsets: NDArray[Any] = np.argwhere(table) - np.array(table.shape) // 2
    offsets = offsets[(np.abs(offsets) > np.abs(_block(block)).max()).any(axis=1)]
    if not offsets.size:
        raise ValueError(
            f"The 'block' of {block} leaves no pixel of the neighbourhood; x must have one: use a larger neighbourhood."
        )
    return offsets


def _read(pixels: Any) -> NDArray[Any]:
    grey = np.asarray(pixels)
    if grey.ndim == 3 and grey.shape[2] in (3, 4):
        raise ValueError(
            f"The 'pixels' have shape {grey.shape}, a colour image; a grey one is needed: use skimage.color.rgb2gray, "
            "or one channel, pixels[..., 0]."
        )
    if grey.ndim != 2 or grey.dtype.kind not in "biuf":
        raise ValueError(
            f"The 'pixels' have shape {grey.shape} and type {grey.dtype}; an image is a table of numbers: give "
            "(height, width), or a list of images."
        )
    if grey.dtype.kind == "f" and not np.isfinite(grey).all():
        raise ValueError("The 'pixels' have values that are not finite; every pixel must be a number: fill them first.")
    if grey.dtype == np.uint64 and grey.max(initial=0) >= 1 << 62:
        grey = grey.astype(float)
    return grey.astype(np.uint8) if grey.dtype.kind == "b" else grey
