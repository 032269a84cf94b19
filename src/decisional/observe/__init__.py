"""Data -> Observations. One module per kind of data: add yours here."""

from .pairs import pairs
from .series import series

__all__ = ["pairs", "series"]
