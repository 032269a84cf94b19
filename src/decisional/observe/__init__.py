"""Data -> Observations. One module per kind of data: add yours here."""

from .light_cones import light_cones
from .pairs import pairs
from .series import series

__all__ = ["light_cones", "pairs", "series"]
