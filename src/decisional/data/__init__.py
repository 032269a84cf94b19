"""Data -> observations (x, z) -> counts: symbols, series, fields, images, signals, pairs, and files of them."""

from typing import TYPE_CHECKING

from ..support.rooms import modules_of

if not TYPE_CHECKING:
    __getattr__ = modules_of(__name__)
