"""Data -> Observations. One module per kind of data: add yours here."""

from .delays import delays
from .image import image
from .light_cones import light_cones
from .pairs import pairs
from .series import series

__all__ = ["delays", "image", "light_cones", "pairs", "series"]
