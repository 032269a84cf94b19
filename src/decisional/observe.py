"""Data -> Observations: pairs (x, z) of series, fields, images, signals, or of anything."""

from .data.calendars import calendar
from .data.fields import light_cones
from .data.images import image
from .data.pairs import pairs
from .states.auto_past import delays, series

__all__ = ["calendar", "delays", "image", "light_cones", "pairs", "series"]
