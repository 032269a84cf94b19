"""Each picture of a page has a twin for the dark theme, which is made when pages are built.

Dark and light change places and hues stay; what a picture says by greys (cells, complexities, pixels) stays as it is.
"""

import os
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import numpy as np
from docutils import nodes
from PIL import Image
from scipy import ndimage
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform
from sphinx_gallery.directives import imgsgnode

# Pixels and pages that have their own colours stay whole; of fields, all around the panels changes.
WHOLE = ("image_*", "live_*", "report_*", "landing_*", "gallery_*", "edges*")
FIELDS = ("rule*", "filters*", "particles*", "spirals*", "turbulence*", "vortices*", "ocean*", "coupled_maps*")
FIELDS += ("film*",)
# Where pictures are that have a twin: those of the guides, and those that the gallery makes.
FOLDERS = ("images", "gallery/images", "gallery/images/thumb")
# White becomes the ground of the dark theme, and black nearly white.
GROUND, INK = 19, 228
# Panels are at least this share of the picture.
PANEL = 0.02


def has_name(path: Path, patterns: tuple[str, ...]) -> bool:
    return any(fnmatch(path.stem.removeprefix("sphx_glr_"), pattern) for pattern in patterns)


def panels(pixels: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Mask of the rectangles around the large connected parts of a picture."""
    parts, _ = ndimage.label(pixels.min(axis=2) < 250, structure=np.ones((3, 3)))
    mask = np.zeros(parts.shape, dtype=bool)
    for box in ndimage.find_objects(parts):
        inside = mask[box]
        if inside.size > PANEL * mask.size:
            inside[...] = True
    return mask


def dark(path: Path) -> Image.Image:
    """A picture with its lightness turned over: hues and chroma are those of before."""
    with Image.open(path) as picture:
        white = Image.new("RGBA", picture.size, "white")
        white.alpha_composite(picture.convert("RGBA"))
    pixels = np.asarray(white.convert("RGB")).astype(int)
    turned = pixels + 255 - pixels.max(axis=2, keepdims=True) - pixels.min(axis=2, keepdims=True)
    turned = GROUND + turned * (INK - GROUND) // 255
    if has_name(path, FIELDS):
        turned = np.where(panels(pixels)[:, :, None], pixels, turned)
    return Image.fromarray(turned.astype(np.uint8))


def twin(path: Path, folder: Path) -> Path:
    """The twin of a picture, made anew if the picture is newer."""
    found = folder / f"{path.stem}_dark.png"  # pages keep pictures by their names
    if not found.exists() or found.stat().st_mtime < path.stat().st_mtime:
        folder.mkdir(parents=True, exist_ok=True)
        dark(path).save(found, optimize=True)
    return found


def classes(node: nodes.Element) -> list[str]:
    """The classes of a picture; the gallery has those of its own in another place."""
    own = node.get("class") or [] if isinstance(node, imgsgnode) else []
    return [*node["classes"], *own]


def add_class(node: nodes.Element, name: str) -> None:
    """Give a picture one more class."""
    if isinstance(node, imgsgnode):
        node["class"] = [" ".join([*classes(node), name])]
    else:
        node["classes"].append(name)


class Twins(SphinxTransform):
    """Follow each picture by its twin, of which one is shown."""

    default_priority = 100

    def apply(self, **_: Any) -> None:
        source = Path(self.app.srcdir)
        for node in [*self.document.findall(nodes.image), *self.document.findall(imgsgnode)]:
            path = self._path(node["uri"])
            if path.parent not in [source / folder for folder in FOLDERS] or path.suffix != ".png":
                continue
            if has_name(path, WHOLE):
                add_class(node, "whole")
                continue
            uri = "/" + os.path.relpath(twin(path, source / "_build" / "dark"), source)
            other = nodes.image(**{**node.attributes, "uri": uri, "classes": classes(node)})
            add_class(node, "only-light")
            add_class(other, "only-dark")
            node.parent.insert(node.parent.index(node) + 1, other)

    def _path(self, uri: str) -> Path:
        """Where a picture is."""
        if uri.startswith("/"):
            return Path(self.app.srcdir) / uri.removeprefix("/")
        return (Path(self.env.doc2path(self.env.docname)).parent / uri).resolve()


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_transform(Twins)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
