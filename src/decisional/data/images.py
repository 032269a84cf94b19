"""Images: x is the neighbourhood of a pixel, z the pixel itself."""

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..support import arguments
from .observations import Observations, Way
from .pairs import Pairs, stacked, vector_pairs
from .slices import Part, Sliced, cut_parts, in_slices

NEIGHBOURHOODS = {
    "rounded5x5": ["01110", "11111", "11.11", "11111", "01110"],
    "5x5": ["11111", "11111", "11.11", "11111", "11111"],
    "3x3": ["111", "1.1", "111"],
    "cross": ["010", "1.1", "010"],
}
BORDERS = ("interior", "mirror")
# Neighbours, block, how far they reach, and whether the minimum is subtracted.
How = tuple[NDArray[Any], NDArray[Any], int, bool]
# What the work on each neighbour of a pixel takes.
PIXEL_BYTES = 32
# What pixels must be.
RULE = "an image is a table of numbers: give (height, width), or a list of images."


def image(
    pixels: Any,
    neighbourhood: str | ArrayLike = "rounded5x5",
    subtract_min: bool = True,
    border: str = "interior",
    block: int = 1,
    chunks: int | None = None,
) -> Observations:
    """Observe a grey image: x = the neighbourhood of each pixel, z = the pixel.

    Parameters
    ----------
    pixels : (height, width) of any integer or float type, or a list of several images of any sizes. Large memory maps,
        and arrays of zarr, HDF5 and Dask, are read slice by slice
    neighbourhood : "rounded5x5" (two pixels each way without the corners, as in the paper), "5x5", "3x3", "cross", or a
        table of 0 and 1 with odd sides, its centre being the pixel
    subtract_min : subtract the smallest value of the neighbourhood from x and z; z may become negative
    border : "interior" (only pixels whose neighbourhood lies inside) or "mirror" (the image continues mirrored, its
        outermost pixels not repeated)
    block : z is a square of block × block pixels around the centre (odd), which are not in x
    chunks : rows of pixels in each slice, to read slice by slice; by default as many as take a quarter of a gigabyte,
        where the image is not in memory

    Returns
    -------
    Observations : in the order of the pixels; `field` puts values back on the image (on all images one below
        the other, where they have the same width)

    Examples
    --------
    >>> obs = image(np.arange(9).reshape(3, 3), neighbourhood="cross")
    >>> obs.points.tolist(), obs.outcomes, obs.site.tolist()
    ([[0, 2, 4, 6]], [3], [4])
    """
    arguments.choice(border, "border", BORDERS)
    several = isinstance(pixels, (list, tuple)) and not (len(pixels) and np.ndim(pixels[0]) == 1)
    given = list(pixels) if several else [pixels]
    if not given:
        raise ValueError("The 'pixels' are an empty list; there must be an image to observe: give one.")
    sliced = in_slices(chunks, *given)
    images = [part if sliced and hasattr(part, "shape") else _read(part) for part in given]
    for grey in images:
        if len(grey.shape) != 2:
            raise ValueError(f"The 'pixels' have shape {tuple(grey.shape)}; {RULE}")
    smallest = min(min(grey.shape) for grey in images)
    if arguments.is_integer(block) and block > smallest:
        raise ValueError(
            f"The 'block' is {block} and the smallest side of the images {smallest}; a block must be inside an image: "
            "use a smaller one."
        )
    around, centre = _offsets(neighbourhood, block), _block(block)
    subtract_min = arguments.flag(subtract_min, "subtract_min")
    how = around, centre, int(np.abs(np.concatenate([around, centre])).max()), subtract_min
    for grey in images:
        _check_size(grey.shape, how[2], border)
    table = neighbourhood if isinstance(neighbourhood, str) else np.asarray(neighbourhood).astype(int).tolist()
    made = {"neighbourhood": table, "subtract_min": subtract_min, "border": border, "block": int(block)}
    if not sliced:
        found: Observations = _observe(images, how, (how[2],) * 3 if border == "mirror" else (0,) * 3)
        found.way = Way("image", made)
        return found
    if len(widths := {grey.shape[1] for grey in images}) > 1:
        raise ValueError(
            f"The 'pixels' are images of widths {sorted(widths)}; images that are read slice by slice must have one "
            "width: observe them apart, and merge the causal states."
        )
    found = _sliced(images, how, border, chunks)
    found.way = Way("image", made)
    return found


def _observe(images: list[NDArray[Any]], how: How, pads: tuple[int, int, int]) -> Pairs:
    """Neighbourhoods in images that are mirrored above, below and beside them."""
    sizes = [grey.size for grey in images]
    x, z, site = stacked((_windows(grey, pads, *how) for grey in images), sizes)
    one_width = len({grey.shape[1] for grey in images}) == 1
    shape = (sum(map(len, images)), images[0].shape[1]) if one_width else (sum(sizes),)
    return vector_pairs("image", x, z, site, shape)


def _sliced(images: list[Any], how: How, border: str, chunks: int | None) -> Sliced:
    """Slices of the rows of images, each with the rows that its neighbourhoods reach."""
    around, centre, reach, _ = how
    width = images[0].shape[1]
    row_bytes = PIXEL_BYTES * width * (len(around) + len(centre))
    inner = 0 if border == "mirror" else reach
    found = cut_parts(((grey,) for grey in images), chunks, row_bytes, reach, reach, (inner, inner))
    shape = sum(grey.shape[0] for grey in images), width
    return Sliced("image", partial(_observe_part, how, border), found, shape, 2 * inner)


def _observe_part(how: How, border: str, part: Part) -> Pairs:
    grey, reach, pads = _read(part.data[0]), how[2], (0, 0, 0)
    if border == "mirror":
        # Inside, the rows that are reached are there.
        pads = reach - part.own.start, reach - (len(grey) - part.own.stop), reach
    return _observe([grey], how, pads)


def _check_size(shape: tuple[int, ...], reach: int, border: str) -> None:
    smallest = 2 * reach + 1 if border == "interior" else reach + 1
    if min(shape) < smallest:
        raise ValueError(
            f"The 'pixels' are {shape[0]} × {shape[1]} and the neighbourhood reaches {reach} pixels each way; with "
            f"border={border!r} an image needs at least {smallest} × {smallest}: use a smaller neighbourhood."
        )


def _windows(
    grey: NDArray[Any],
    pads: tuple[int, int, int],
    around: NDArray[Any],
    centre: NDArray[Any],
    reach: int,
    subtract_min: bool,
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """x, z and site of one image, mirrored above, below and beside it."""
    height, width = grey.shape
    top, bottom, side = pads
    padded = np.pad(grey, [(top, bottom), (side, side)], mode="reflect") if any(pads) else grey
    rows, columns = padded.shape[0] - 2 * reach, padded.shape[1] - 2 * reach

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
    place = place[reach - top : height - reach + bottom, reach - side : width - reach + side]
    return x, z, place.ravel()


def _narrow(values: NDArray[Any]) -> NDArray[Any]:
    """The same integers in 16 bits where they fit."""
    small = values.dtype.kind == "i" and values.min() >= -(1 << 15) and values.max() < 1 << 15
    return values.astype(np.int16) if small else values


def _block(block: Any) -> NDArray[Any]:
    if not arguments.is_integer(block) or block < 1 or block % 2 == 0:
        rule = "an odd integer of at least 1"
        raise ValueError(arguments.refusal("block", block, rule, "use 1 for one pixel"))
    half = int(block) // 2
    return np.array([(i, j) for i in range(-half, half + 1) for j in range(-half, half + 1)])


def _offsets(neighbourhood: str | ArrayLike, block: Any) -> NDArray[Any]:
    """(d, 2) places of the neighbours relative to the pixel, without those of the block."""
    if isinstance(neighbourhood, str):
        if neighbourhood not in NEIGHBOURHOODS:
            names = ", ".join(map(repr, NEIGHBOURHOODS))
            rule = f"one of {names}, or a table of 0 and 1"
            raise ValueError(arguments.refusal("neighbourhood", neighbourhood, rule, "choose one"))
        table = np.array([[c == "1" for c in row] for row in NEIGHBOURHOODS[neighbourhood]])
    else:
        rule = "it must be a table of 0 and 1 with odd sides: its centre is the pixel."
        table = arguments.as_table(neighbourhood, "neighbourhood", rule)
        if table.ndim != 2 or table.shape[0] % 2 == 0 or table.shape[1] % 2 == 0 or not np.isin(table, (0, 1)).all():
            raise ValueError(f"The 'neighbourhood' has shape {table.shape}; {rule}")
    offsets: NDArray[Any] = np.argwhere(table) - np.array(table.shape) // 2
    offsets = offsets[(np.abs(offsets) > np.abs(_block(block)).max()).any(axis=1)]
    if not offsets.size:
        raise ValueError(
            f"The 'block' of {block} leaves no pixel of the neighbourhood; x must have one: use a larger neighbourhood."
        )
    return offsets


def _read(pixels: Any) -> NDArray[Any]:
    grey = arguments.as_table(pixels, "pixels", RULE)
    if grey.ndim == 3 and grey.shape[2] in (3, 4):
        raise ValueError(
            f"The 'pixels' have shape {grey.shape}, a colour image; a grey one is needed: use skimage.color.rgb2gray, "
            "or one channel, pixels[..., 0]."
        )
    if grey.ndim != 2 or grey.dtype.kind not in "biuf":
        raise ValueError(f"The 'pixels' have shape {grey.shape} and type {grey.dtype}; {RULE}")
    if grey.dtype.kind == "f" and not np.isfinite(grey).all():
        raise ValueError("The 'pixels' have values that are not finite; every pixel must be a number: fill them first.")
    if grey.dtype == np.uint64 and grey.max(initial=0) >= 1 << 62:
        grey = grey.astype(float)
    return grey.astype(np.uint8) if grey.dtype.kind == "b" else grey
