"""Data -> Observations: pairs (x, z) of series, fields, images, signals, or of anything."""

from .data.fields import light_cones
from .data.images import image
from .data.pairs import pairs
from .data.series import series
from .data.signals import delays

__all__ = ["delays", "image", "light_cones", "pairs", "series"]
